/*
 * A placer through random changes: gangs come and go, nodes are closed, held and opened, domains,
 * racks and penalties are said again, the cluster grows, the placer is copied. After each of them
 * every number and list is what the free GPUs say (index_sound.c), and what is asked is answered as
 * a look at all nodes answers it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "place/index.h"

enum { WORLDS = 60, STEPS = 120, GANGS = 40, NODES_MAX = 160 };

struct world {
    struct myr_rng rng;
    struct myr_placer *p;
    struct myr_gang gangs[GANGS];
    uint8_t shut[NODES_MAX], held[NODES_MAX];
    uint32_t domain; /* nodes of one */
    uint64_t seed;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return myr_rng_below(&w->rng, bound);
}

/* --- the naive model */

static uint32_t free_on(const struct world *w, uint32_t node)
{
    bool open = !w->shut[node] && !w->held[node];
    return open ? (uint32_t)__builtin_popcountll(w->p->free_mask[node]) : 0;
}

static bool is_whole(const struct world *w, uint32_t node)
{
    return free_on(w, node) == w->p->shape.gpus_per_node;
}

static uint32_t whole_in_group(const struct world *w, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        count += node / w->p->shape.group_nodes == group && is_whole(w, node);
    }
    return count;
}

static uint32_t whole_nodes(const struct world *w)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        count += is_whole(w, node);
    }
    return count;
}

/* Some node has as many of its GPUs free and is not whole. */
static bool partly_free(const struct world *w, uint32_t gpus)
{
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        if (free_on(w, node) >= gpus && !is_whole(w, node)) {
            return true;
        }
    }
    return false;
}

static bool fits(const struct world *w, uint32_t gpus)
{
    uint32_t per = w->p->shape.gpus_per_node, nodes = whole_nodes(w);
    return nodes * per >= gpus - gpus % per &&
           (gpus % per == 0 || nodes > gpus / per || partly_free(w, gpus % per));
}

/* In as few groups as so many nodes can lie in: whole groups, and one more for the rest. */
static bool fits_group(const struct world *w, uint32_t gpus)
{
    uint32_t per = w->p->shape.group_nodes, nodes = myr_place_nodes(w->p, gpus);
    uint32_t full = 0, rest = 0;
    for (uint32_t g = 0; g < w->p->groups; g++) {
        uint32_t count = whole_in_group(w, g);
        full += count == per;
        rest += count < per && count >= nodes % per;
    }
    uint32_t spare = full > nodes / per ? full - nodes / per : 0;
    return full >= nodes / per && (nodes % per == 0 || spare + rest > 0);
}

/* Where part of a node goes: the fewest free GPUs, the fullest group, the lowest number. */
static uint32_t node_for(const struct world *w, uint32_t gpus)
{
    uint32_t best = MYR_NONE;
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        if (free_on(w, node) < gpus) {
            continue;
        }
        const uint32_t per = w->p->shape.group_nodes;
        uint32_t here = free_on(w, node), there = best == MYR_NONE ? 0 : free_on(w, best);
        uint32_t group = whole_in_group(w, node / per);
        uint32_t other = best == MYR_NONE ? 0 : whole_in_group(w, best / per);
        if (best == MYR_NONE || here < there || (here == there && group < other)) {
            best = node;
        }
    }
    return best;
}

/* The group for a gang that one can hold: the fullest, the lowest number. */
static uint32_t group_for(const struct world *w, uint32_t nodes)
{
    uint32_t best = MYR_NONE;
    for (uint32_t g = 0; g < w->p->groups; g++) {
        uint32_t count = whole_in_group(w, g);
        if (count >= nodes && (best == MYR_NONE || count < whole_in_group(w, best))) {
            best = g;
        }
    }
    return best;
}

static void assert_answers(struct world *w)
{
    uint32_t all = w->p->shape.nodes * w->p->shape.gpus_per_node, gpus = 1 + below(w, all);
    uint32_t node = below(w, w->p->shape.nodes), part = 1 + below(w, w->p->shape.gpus_per_node);
    uint32_t least = part, listed = 0, there = 0;
    assert_int_equal(myr_place_fits(w->p, gpus), fits(w, gpus));
    assert_int_equal(myr_place_fits_group(w->p, gpus), fits_group(w, gpus));
    assert_int_equal(myr_placer_free_beside(w->p, node),
                     whole_in_group(w, node / w->p->shape.group_nodes));
    while (least < w->p->shape.gpus_per_node && there == 0) {
        for (uint32_t n = 0; n < w->p->shape.nodes; n++) {
            there += free_on(w, n) == least;
        }
        least += there == 0;
    }
    for (uint32_t n = myr_place_partly(w->p, part, MYR_NONE); n != MYR_NONE;
         n = myr_place_partly(w->p, part, n)) {
        assert_int_equal(free_on(w, n), least);
        listed++;
    }
    assert_int_equal(listed, there);
}

/* --- changes */

static void place_gang(struct world *w, struct myr_gang *gang)
{
    uint32_t per = w->p->shape.gpus_per_node, nodes = w->p->shape.nodes;
    uint32_t gpus = below(w, 2) ? 1 + below(w, per) : 1 + below(w, per * nodes / 3 + 1);
    bool room = fits(w, gpus);
    uint32_t part = gpus < per ? node_for(w, gpus) : MYR_NONE;
    uint32_t group = gpus % per == 0 ? group_for(w, gpus / per) : MYR_NONE;
    gang->shares = myr_xrealloc(gang->shares, nodes, sizeof(*gang->shares));
    assert_int_equal(myr_place(w->p, gpus, gang), room);
    if (!room) {
        return;
    }
    assert_int_equal(gang->count, myr_place_nodes(w->p, gpus));
    uint32_t given = 0, groups = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        bool new_group = true;
        for (uint32_t k = 0; k < i; k++) {
            new_group = new_group && gang->shares[k].node / w->p->shape.group_nodes !=
                                         gang->shares[i].node / w->p->shape.group_nodes;
        }
        groups += new_group;
        given += (uint32_t)__builtin_popcountll(gang->shares[i].gpus);
        assert_true(!w->shut[gang->shares[i].node] && !w->held[gang->shares[i].node]);
        if (group != MYR_NONE) {
            assert_int_equal(gang->shares[i].node / w->p->shape.group_nodes, group);
        }
    }
    assert_int_equal(given, gpus);
    assert_int_equal(myr_gang_groups(w->p, gang), groups);
    if (part != MYR_NONE) {
        assert_int_equal(gang->shares[0].node, part);
    }
}

static void change_gang(struct world *w)
{
    struct myr_gang *gang = &w->gangs[below(w, GANGS)];
    if (gang->count > 0) {
        myr_release(w->p, gang);
        gang->count = 0;
    } else {
        place_gang(w, gang);
    }
}

static void say_zones(struct world *w)
{
    uint32_t unit_of[NODES_MAX], units = 1 + below(w, w->p->shape.nodes);
    enum myr_zone zone = (enum myr_zone)below(w, MYR_ZONE_COUNT);
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        unit_of[node] = below(w, units);
    }
    myr_placer_set_zone(w->p, zone, unit_of);
    uint32_t unit = unit_of[below(w, w->p->shape.nodes)], count = 0;
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        count += unit_of[node] == unit && is_whole(w, node);
    }
    assert_int_equal(myr_placer_zone_free(w->p, zone, unit), count);
}

static void grow(struct world *w)
{
    struct myr_place_shape shape = w->p->shape;
    struct myr_placer *old = placer_copy(w->p);
    shape.nodes += below(w, 20);
    if (shape.nodes > NODES_MAX) {
        myr_placer_free(old);
        return;
    }
    w->p = myr_placer_grow(w->p, &shape);
    assert_true(w->p->version > old->version);
    assert_int_equal(w->p->plain, old->plain);
    assert_int_equal(w->p->domain_nodes, old->domain_nodes);
    for (uint32_t node = 0; node < old->shape.nodes; node++) {
        assert_true(w->p->free_mask[node] == old->free_mask[node]);
        assert_int_equal(w->p->kind[node], old->kind[node]);
        assert_int_equal(w->p->node_penalty[node], old->node_penalty[node]);
        for (uint32_t z = 0; z < MYR_ZONE_COUNT && old->zones[z].units; z++) {
            assert_int_equal(w->p->zones[z].unit_of[node], old->zones[z].unit_of[node]);
        }
    }
    for (uint32_t g = 0; g < old->groups; g++) {
        assert_int_equal(w->p->group_penalty[g], old->group_penalty[g]);
    }
    myr_placer_free(old);
}

static void change(struct world *w)
{
    uint32_t node = below(w, w->p->shape.nodes);
    uint64_t version = w->p->version;
    uint32_t what = below(w, 20);
    if (what == 0) {
        w->shut[node] = (uint8_t)below(w, 2);
        myr_placer_set_node(w->p, node, !w->shut[node]);
    } else if (what == 1) {
        w->held[node] = (uint8_t)below(w, 2);
        myr_placer_hold(w->p, node, w->held[node]);
    } else if (what == 2) {
        w->domain = 1 + below(w, 6);
        myr_placer_set_domain(w->p, w->domain);
    } else if (what == 3) {
        say_zones(w);
    } else if (what == 4) {
        myr_placer_set_kind(w->p, node, (uint8_t)below(w, 3));
    } else if (what == 5) {
        grow(w);
    } else {
        change_gang(w);
    }
    assert_true(w->p->version >= version + (what < 5)); /* where nothing fits nothing changes */
    if (below(w, 4) == 0) {
        uint32_t milli = below(w, 2) ? 0 : below(w, 2 * MYR_PENALTY_MAX);
        uint32_t leaf = below(w, w->p->groups);
        myr_placer_set_penalty(w->p, node, milli);
        myr_placer_set_leaf_penalty(w->p, leaf, milli);
        assert_int_equal(w->p->node_penalty[node],
                         milli < MYR_PENALTY_MAX ? milli : MYR_PENALTY_MAX);
        assert_int_equal(w->p->group_penalty[leaf], w->p->node_penalty[node]);
    }
}

/* Domains end with their leaf. */
static void assert_domains(const struct world *w)
{
    uint32_t domain = 0;
    for (uint32_t node = 0; node < w->p->shape.nodes; node++) {
        domain += node && (node % w->domain == 0 || node % w->p->shape.group_nodes == 0);
        assert_int_equal(w->p->domain_of[node], domain);
    }
    assert_int_equal(w->p->domain_nodes, w->domain);
}

static void live(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .domain = 1};
    myr_rng_init(&w->rng, seed, 29);
    struct myr_place_shape shape = {1 + below(w, 130), below(w, 8) ? 1 + below(w, 9) : 64,
                                    1 + below(w, 9), 0};
    shape.pod_nodes =
        below(w, 4) ? below(w, 40) : 140; /* also less than a leaf, and a part of one */
    w->p = myr_placer_create(&shape);
    assert_int_equal(w->p->shape.pod_nodes % shape.group_nodes, 0);
    assert_true(w->p->shape.pod_nodes >= shape.pod_nodes);
    assert_true(w->p->shape.pod_nodes < shape.pod_nodes + shape.group_nodes ||
                w->p->shape.pod_nodes == shape.group_nodes);
    myr_placer_set_plain(w->p, below(w, 2));
    for (uint32_t i = 0; i < STEPS; i++) {
        change(w);
        if (!placer_is_sound(w->p)) {
            fail_msg("seed %llu, step %u", (unsigned long long)seed, i);
        }
        assert_int_equal(myr_placer_free_nodes(w->p), whole_nodes(w));
        assert_answers(w);
    }
    assert_domains(w);
    struct myr_placer *copy = placer_copy(w->p);
    assert_true(placer_is_sound(copy));
    myr_placer_free(copy);
    for (uint32_t i = 0; i < GANGS; i++) {
        free(w->gangs[i].shares);
    }
    myr_placer_free(w->p);
}

static void every_change_leaves_a_sound_placer(void **state)
{
    (void)state;
    struct world *w = malloc(sizeof(*w));
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        live(w, seed);
    }
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_change_leaves_a_sound_placer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
