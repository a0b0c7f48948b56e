/*
 * What a placement is said to cost against a count by hand: every group of every family, member by
 * member, from where the nodes lie. The search itself never lists members.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/request.h"

enum { CASES = 3000, NODES_MAX = 512 };

struct drawn {
    struct myr_place_shape shape;
    uint32_t domain;
    struct myr_placer *placer;
    struct myr_arena arena;
    struct myr_layout layout;
    struct myr_job_traffic traffic;
};

static uint32_t one_of(struct myr_rng *rng, const uint32_t *list, uint32_t count)
{
    return list[myr_rng_below(rng, count)];
}

static void draw_cluster(struct drawn *d, struct myr_rng *rng)
{
    static const uint32_t leaves[] = {4, 8, 12, 32}, pods[] = {1, 2, 4, 9},
                          domains[] = {1, 1, 2, 4};
    d->shape = (struct myr_place_shape){.gpus_per_node = 8};
    d->shape.group_nodes = one_of(rng, leaves, 4);
    d->shape.pod_nodes = d->shape.group_nodes * one_of(rng, pods, 4);
    uint32_t most = NODES_MAX / d->shape.pod_nodes;
    d->shape.nodes = d->shape.pod_nodes * (1 + myr_rng_below(rng, most));
    d->domain = one_of(rng, domains, 4);
    d->placer = myr_placer_create(&d->shape);
    myr_placer_set_domain(d->placer, d->domain);
    uint32_t busy = myr_rng_below(rng, 90);
    bool penalties = myr_rng_below(rng, 4) == 0;
    for (uint32_t node = 0; node < d->shape.nodes; node++) {
        if (myr_rng_below(rng, 100) < busy) {
            myr_place_take(d->placer, node, 0xff);
        } else if (penalties && myr_rng_below(rng, 5) == 0) {
            myr_placer_set_penalty(d->placer, node, myr_rng_below(rng, 800));
        }
    }
}

/* False when the layout is none, or does not fit. */
static bool draw_layout(struct drawn *d, struct myr_rng *rng)
{
    static const uint32_t tp[] = {1, 4, 8, 8, 8, 16}, cp[] = {1, 1, 1, 2, 4};
    static const uint32_t ep[] = {1, 1, 2, 4, 8}, pp[] = {1, 2, 3, 4, 8, 12};
    struct myr_layout *l = &d->layout;
    *l = myr_layout_default();
    l->tp = one_of(rng, tp, 6);
    l->cp = one_of(rng, cp, 5);
    l->ep = one_of(rng, ep, 5);
    l->pp = one_of(rng, pp, 6);
    l->dp = 1 + myr_rng_below(rng, 24);
    l->vp = l->pp > 1 && myr_rng_below(rng, 3) == 0 ? 2 : 1;
    uint64_t gpus = myr_layout_gpus(l);
    return gpus % 8 == 0 && gpus / 8 <= myr_placer_free_nodes(d->placer) &&
           l->dp * l->cp % l->ep == 0 &&
           myr_job_traffic_of(l, NULL, 8, &d->arena, &d->traffic, NULL) == MYR_OK;
}

static uint32_t level_between(const struct drawn *d, uint32_t a, uint32_t b)
{
    uint32_t leaf = d->shape.group_nodes, in = a % leaf / d->domain;
    if (a / leaf == b / leaf && in == b % leaf / d->domain && leaf % d->domain == 0) {
        return MYR_LEVEL_DOMAIN;
    }
    return a / leaf == b / leaf                               ? MYR_LEVEL_LEAF
           : a / d->shape.pod_nodes == b / d->shape.pod_nodes ? MYR_LEVEL_POD
                                                              : MYR_LEVEL_CORE;
}

static void count_by_hand(const struct drawn *d, const struct myr_gang *gang, double *ret)
{
    for (uint32_t f = 0; f < d->traffic.family_count; f++) {
        const struct myr_traffic_family *family = &d->traffic.families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            uint32_t level = 0, first = gang->shares[family->firsts[g]].node;
            for (uint32_t m = 0; m < family->group_size; m++) {
                uint32_t to = gang->shares[family->firsts[g] + family->offsets[m]].node;
                uint32_t between = to == first ? 0 : level_between(d, first, to);
                level = between > level ? between : level;
            }
            ret[level] += family->bytes;
        }
    }
}

static void check(const struct drawn *d, uint32_t number, const struct myr_gang *gang,
                  const struct myr_place_cost *cost)
{
    double by_level[MYR_LEVEL_COUNT] = {};
    bool used[NODES_MAX] = {};
    for (uint32_t i = 0; i < gang->count; i++) {
        assert_false(used[gang->shares[i].node]);
        used[gang->shares[i].node] = true;
    }
    count_by_hand(d, gang, by_level);
    for (uint32_t level = 0; level < MYR_LEVEL_COUNT; level++) {
        double off = by_level[level] - cost->bytes_by_level[level];
        if (off > 1e-6 * d->traffic.between_bytes || off < -1e-6 * d->traffic.between_bytes) {
            fail_msg("case %u: %.1f bytes at level %u, counted %.1f", number,
                     cost->bytes_by_level[level], level, by_level[level]);
        }
    }
}

static void costs_are_what_a_count_by_hand_gives(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t placed = 0, digits[MYR_TRAFFIC_DIGITS_MAX + 1] = {};
    for (uint32_t number = 0; number < CASES; number++) {
        struct drawn d = {};
        struct myr_share shares[NODES_MAX];
        struct myr_placement found = {.gang.shares = shares};
        myr_rng_init(&rng, number, 11);
        myr_arena_init(&d.arena);
        draw_cluster(&d, &rng);
        if (draw_layout(&d, &rng)) {
            struct myr_request request = {.nodes = d.traffic.cells, .traffic = &d.traffic};
            assert_true(myr_place_gang(d.placer, &request, &found));
            assert_int_equal(found.gang.count, request.nodes);
            if (d.traffic.family_count) {
                check(&d, number, &found.gang, &found.cost);
                digits[d.traffic.digit_count]++;
                placed++;
            }
        }
        myr_placer_free(d.placer);
        myr_arena_done(&d.arena);
    }
    print_message("%u placed; with 1, 2, 3, 4 digits: %u, %u, %u, %u\n", placed, digits[1],
                  digits[2], digits[3], digits[4]);
    assert_true(placed > CASES / 8 && digits[2] > 20 && digits[3] > 20 && digits[4] > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_what_a_count_by_hand_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
