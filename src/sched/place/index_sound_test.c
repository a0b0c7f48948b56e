#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "place/index.h"

/*
 * A placer that was read is worked with unless something in it contradicts the rest. So of one that
 * has something of everything, every word that follows from others is changed alone: each change
 * must be seen, and taken back it must be good again.
 */

/* Two words of nodes, a last group and a last pod that are not full. */
static const struct myr_place_shape shape = {70, 8, 4, 16};

static struct myr_placer *some_placer(void)
{
    struct myr_placer *p = myr_placer_create(&shape);
    uint32_t rack[70];
    for (uint32_t n = 0; n < shape.nodes; n++) {
        rack[n] = n * 7 % 5;
    }
    myr_placer_set_domain(p, 2);
    myr_placer_set_zone(p, MYR_ZONE_RACK, rack);
    for (uint32_t n = 0; n < shape.nodes; n += 3) { /* from none free to all */
        index_set_mask(p, n, (UINT64_C(1) << n / 3 % 9) - 1);
    }
    myr_placer_set_node(p, 1, false);
    myr_placer_hold(p, 2, true);
    myr_placer_set_node(p, 6, false); /* part of it is free, and does not count */
    myr_placer_set_penalty(p, 4, 250);
    myr_placer_set_leaf_penalty(p, 3, 100);
    return p;
}

static void check_word(const struct myr_placer *p, uint32_t *word, uint32_t bad, const char *what)
{
    uint32_t good = *word;
    *word = bad;
    bool sound = placer_is_sound(p);
    *word = good;
    if (sound) {
        fail_msg("%s: %u instead of %u is taken", what, bad, good);
    }
    assert_true(placer_is_sound(p));
}

/* One more and one less. */
static void check_near(const struct myr_placer *p, uint32_t *word, const char *what)
{
    check_word(p, word, *word + 1, what);
    check_word(p, word, *word - 1, what);
}

static void flip_bit(const struct myr_placer *p, uint64_t *word, uint32_t bit, const char *what)
{
    *word ^= UINT64_C(1) << bit;
    bool sound = placer_is_sound(p);
    *word ^= UINT64_C(1) << bit;
    if (sound) {
        fail_msg("%s: bit %u may be anything", what, bit);
    }
}

static void numbers_that_contradict_the_shape_are_refused(void **state)
{
    (void)state;
    struct myr_placer *p = some_placer();
    assert_true(placer_is_sound(p));
    check_word(p, &p->shape.nodes, 0, "nodes");
    check_word(p, &p->shape.nodes, (1U << 24) + 1, "nodes");
    check_word(p, &p->shape.gpus_per_node, 0, "GPUs a node");
    check_word(p, &p->shape.gpus_per_node, 7, "GPUs a node");
    check_word(p, &p->shape.gpus_per_node, MYR_SCHED_GPUS_MAX + 1, "GPUs a node");
    check_word(p, &p->shape.group_nodes, 0, "nodes a group");
    check_word(p, &p->shape.group_nodes, 8, "nodes a group");
    check_word(p, &p->shape.group_nodes, 3, "nodes a group");
    check_word(p, &p->shape.pod_nodes, 0, "nodes a pod");
    check_word(p, &p->shape.pod_nodes, 18, "nodes a pod");
    check_word(p, &p->shape.pod_nodes, 20, "nodes a pod");
    check_near(p, &p->groups, "groups");
    check_near(p, &p->pods, "pods");
    check_near(p, &p->domains, "domains");
    check_word(p, &p->domains, 0, "domains");
    check_word(p, &p->domain_nodes, 0, "nodes a domain");
    check_near(p, &p->by_group.units, "units of groups");
    check_near(p, &p->by_group.most, "most of groups");
    check_near(p, &p->by_pod.units, "units of pods");
    check_near(p, &p->by_pod.most, "most of pods");
    check_near(p, &p->free_gpus, "free GPUs");
    check_near(p, &p->free_nodes, "free nodes");
    check_near(p, &p->penalised, "penalties");
    flip_bit(p, &p->whole, 7, "mask of a node");
    flip_bit(p, &p->whole, 8, "mask of a node");
    myr_placer_free(p);
}

static void what_is_said_of_a_node_follows_from_its_free_gpus(void **state)
{
    (void)state;
    struct myr_placer *p = some_placer();
    for (uint32_t n = 0; n < shape.nodes; n++) {
        flip_bit(p, &p->free_words[n / 64], n % 64, "free words");
        flip_bit(p, &p->free_mask[n], 8, "a GPU too many");
        if (!p->closed[n]) {
            flip_bit(p, &p->free_mask[n], n % 8, "free GPUs of a node");
        }
        check_near(p, &p->group_of[n], "group of a node");
        check_near(p, &p->pod_of[n], "pod of a node");
        check_word(p, &p->domain_of[n], p->domain_of[n] + 2, "domain of a node");
        check_word(p, &p->domain_of[n], p->domains, "domain of a node");
        uint8_t closed = p->closed[n];
        p->closed[n] = 4;
        assert_false(placer_is_sound(p));
        p->closed[n] = closed;
    }
    for (uint32_t bit = shape.nodes % 64; bit < 64; bit++) {
        flip_bit(p, &p->free_words[1], bit, "nodes that there are not");
    }
    check_word(p, &p->node_penalty[4], 0, "penalty of a node");
    check_word(p, &p->node_penalty[5], 1, "penalty of a node");
    check_word(p, &p->group_penalty[3], 0, "penalty of a leaf");
    check_word(p, &p->group_penalty[2], 1, "penalty of a leaf");
    myr_placer_free(p);
}

static void check_buckets(const struct myr_placer *p, struct buckets *b)
{
    for (uint32_t u = 0; u < b->units; u++) {
        check_near(p, &b->count[u], "count of a unit");
        check_word(p, &b->next[u], u, "a list in a circle");
        check_word(p, &b->next[u], b->next[u] == MYR_NONE ? b->units : MYR_NONE, "next unit");
        check_word(p, &b->previous[u], b->previous[u] == MYR_NONE ? u : MYR_NONE, "unit before");
    }
    for (uint32_t c = 0; c <= b->most; c++) {
        check_word(p, &b->first[c], b->first[c] == MYR_NONE ? 0 : MYR_NONE, "first unit");
        check_word(p, &b->first[c], b->units, "first unit");
    }
    for (uint32_t bit = 0; bit < 64; bit++) {
        flip_bit(p, &b->occupied[0], bit, "occupied counts");
    }
}

static void lists_of_groups_pods_and_nodes_are_whole(void **state)
{
    (void)state;
    struct myr_placer *p = some_placer();
    check_buckets(p, &p->by_group);
    check_buckets(p, &p->by_pod);
    for (uint32_t d = 0; d < p->domains; d++) {
        check_near(p, &p->domain_free[d], "free nodes of a domain");
    }
    for (uint32_t k = 0; k <= MYR_SCHED_GPUS_MAX; k++) {
        bool none = p->partial_first[k] == MYR_NONE;
        assert_int_equal(none, k == 0 || k >= shape.gpus_per_node);
        check_word(p, &p->partial_first[k], none ? 0 : MYR_NONE, "first node");
        check_word(p, &p->partial_first[k], shape.nodes, "first node");
        flip_bit(p, &p->partial_occupied[k / 64], k % 64, "occupied numbers of GPUs");
        for (uint32_t n = p->partial_first[k]; n != MYR_NONE; n = p->partial_next[n]) {
            uint32_t *next = &p->partial_next[n], *before = &p->partial_previous[n];
            check_word(p, next, n, "a list in a circle");
            check_word(p, next, *next == MYR_NONE ? shape.nodes : MYR_NONE, "next node");
            check_word(p, before, *before == MYR_NONE ? n : MYR_NONE, "node before");
        }
    }
    flip_bit(p, &p->partial_occupied[1], 1, "more GPUs than a node can have");
    myr_placer_free(p);
}

static void zones_have_as_many_free_nodes_as_they_say(void **state)
{
    (void)state;
    struct myr_placer *p = some_placer();
    struct zone *zone = &p->zones[MYR_ZONE_RACK];
    assert_int_equal(zone->units, 5);
    for (uint32_t u = 0; u < zone->units; u++) {
        check_near(p, &zone->free[u], "free nodes of a rack");
    }
    check_word(p, &zone->units, shape.nodes + 1, "racks");
    for (uint32_t n = 0; n < shape.nodes; n++) {
        check_word(p, &zone->unit_of[n], zone->units, "rack of a node");
        if (index_is_free(p, n)) {
            check_word(p, &zone->unit_of[n], (zone->unit_of[n] + 1) % 5, "rack of a node");
        }
    }
    myr_placer_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_contradict_the_shape_are_refused),
        cmocka_unit_test(what_is_said_of_a_node_follows_from_its_free_gpus),
        cmocka_unit_test(lists_of_groups_pods_and_nodes_are_whole),
        cmocka_unit_test(zones_have_as_many_free_nodes_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
