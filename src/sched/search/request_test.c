#include "myriad/sched/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rounds.h"

enum { NODES = 96, GPUS = 8, LEAF = 8, POD = 32, GANGS = 24 };

static const struct myr_place_shape shape = {NODES, GPUS, LEAF, POD};

static void the_cost_is_bytes_by_level(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_layout layout = myr_layout_default();
    struct myr_share shares[4] = {{0, 0xff}, {1, 0xff}, {LEAF, 0xff}, {POD, 0xff}};
    struct myr_gang gang = {4, shares};
    struct myr_place_cost cost;
    struct myr_placer *placer = myr_placer_create(&shape);
    myr_arena_init(&arena);
    layout.tp = 8;
    layout.dp = 2;
    layout.pp = 2;
    assert_int_equal(myr_job_traffic_of(&layout, NULL, GPUS, &arena, &traffic, NULL), MYR_OK);
    struct myr_request request = {.nodes = 4, .traffic = &traffic};
    myr_place_cost_of(placer, &request, &gang, &cost);
    /* Data: 4 bytes a rank, 16 ranks a group; (0, 1) under a leaf, (8, 32) over the core. */
    /* Pipeline: 1 byte a rank, 32 ranks, two pairs; (0, 8) in a pod, (1, 32) over the core. */
    assert_true(cost.bytes_by_level[MYR_LEVEL_LEAF] == 64);
    assert_true(cost.bytes_by_level[MYR_LEVEL_POD] == 16);
    assert_true(cost.bytes_by_level[MYR_LEVEL_CORE] == 64 + 16);
    assert_true(cost.groups == 64 + 2 * 16 + 3 * 80);
    assert_int_equal(cost.level, MYR_LEVEL_CORE);
    assert_int_equal(cost.leaves, 3);
    assert_int_equal(cost.pods, 2);
    myr_arena_done(&arena);
    myr_placer_free(placer);
}

/* Stages of one leaf each: data groups stay under their leaf. */
static void heavy_groups_lie_under_one_leaf(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_layout layout = myr_layout_default();
    struct myr_share shares[NODES];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_placer *placer = myr_placer_create(&shape);
    myr_arena_init(&arena);
    /* Every leaf has six free nodes: groups of three fit twice, in node order they would not. */
    for (uint32_t node = 0; node < NODES; node++) {
        if (node % LEAF >= 5 + node / LEAF % 2) {
            myr_place_take(placer, node, 0xff);
        }
    }
    layout.tp = 8;
    layout.dp = 3;
    layout.pp = 4;
    assert_int_equal(myr_job_traffic_of(&layout, NULL, GPUS, &arena, &traffic, NULL), MYR_OK);
    struct myr_request request = {.nodes = 12, .traffic = &traffic};
    assert_true(myr_place_gang(placer, &request, &found));
    for (uint32_t stage = 0; stage < 4; stage++) {
        for (uint32_t k = 1; k < 3; k++) {
            assert_int_equal(shares[3 * stage + k].node / LEAF, shares[3 * stage].node / LEAF);
        }
    }
    myr_arena_done(&arena);
    myr_placer_free(placer);
}

static void constraints_hold(void **state)
{
    (void)state;
    struct myr_share shares[NODES];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_placer *placer = myr_placer_create(&shape);
    uint32_t rack[NODES];
    uint64_t exclude[NODES / 64 + 1] = {0x0f};
    for (uint32_t node = 0; node < NODES; node++) {
        rack[node] = node / 4;
        myr_placer_set_kind(placer, node, node >= POD);
    }
    myr_placer_set_zone(placer, MYR_ZONE_RACK, rack);
    assert_int_equal(myr_placer_zone_free(placer, MYR_ZONE_RACK, 3), 4);
    struct myr_request request = {.nodes = LEAF + 1, .limited = true, .within = MYR_LEVEL_LEAF};
    assert_false(myr_place_gang(placer, &request, &found));
    assert_int_equal(myr_request_size(placer, &request), LEAF);
    request.within = MYR_LEVEL_POD;
    assert_true(myr_place_gang(placer, &request, &found));
    assert_int_equal(found.cost.pods, 1);
    myr_release(placer, &found.gang);
    request = (struct myr_request){.nodes = 12, .zone_max[MYR_ZONE_RACK] = 1};
    assert_true(myr_place_gang(placer, &request, &found));
    uint32_t used[NODES] = {};
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(used[rack[shares[i].node]]++, 0);
    }
    myr_release(placer, &found.gang);
    request = (struct myr_request){.nodes = 12, .leaf_max = 2};
    assert_true(myr_place_gang(placer, &request, &found));
    assert_int_equal(found.cost.leaves, 6);
    myr_release(placer, &found.gang);
    request = (struct myr_request){.nodes = NODES - 4, .exclude = exclude};
    assert_true(myr_place_gang(placer, &request, &found));
    for (uint32_t i = 0; i < found.gang.count; i++) {
        assert_true(shares[i].node >= 4);
    }
    myr_release(placer, &found.gang);
    request = (struct myr_request){.nodes = POD + 1, .kind_given = true, .kind = 0};
    assert_false(myr_place_gang(placer, &request, &found));
    request.nodes = POD;
    assert_true(myr_place_gang(placer, &request, &found));
    myr_placer_free(placer);
}

static void penalties_push_gangs_away(void **state)
{
    (void)state;
    struct myr_share shares[NODES];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_placer *placer = myr_placer_create(&shape);
    for (uint32_t leaf = 0; leaf < NODES / LEAF; leaf++) {
        myr_placer_set_leaf_penalty(placer, leaf, leaf == 5 ? 0 : 300);
    }
    struct myr_request request = {.nodes = 4};
    assert_true(myr_place_gang(placer, &request, &found));
    assert_int_equal(shares[0].node / LEAF, 5);
    assert_true(found.cost.penalty == 0);
    myr_release(placer, &found.gang);
    struct myr_condition flapping = {.flaps_per_day = 18, .power_headroom = 0.5};
    assert_int_equal(myr_condition_penalty(&flapping), 900);
    myr_placer_set_penalty(placer, 5 * LEAF, myr_condition_penalty(&flapping));
    assert_true(myr_place_gang(placer, &request, &found));
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(shares[i].node / LEAF, 5);
        assert_true(shares[i].node != 5 * LEAF);
    }
    myr_placer_free(placer);
}

static void scale_up_domains_of_several_nodes_are_kept_whole(void **state)
{
    (void)state;
    struct myr_share shares[NODES];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_placer *placer = myr_placer_create(&shape);
    myr_placer_set_domain(placer, 4);
    myr_place_take(placer, 0, 0xff);
    struct myr_request request = {.nodes = 4};
    assert_true(myr_place_gang(placer, &request, &found));
    assert_int_equal(found.cost.level, MYR_LEVEL_DOMAIN);
    assert_true(found.cost.groups == 0);
    myr_placer_free(placer);
}

/* Nodes of whole blocks, domain by domain in their order; how many. A leaf's edge cuts a domain. */
static uint32_t first_blocks(const struct myr_place_shape *of, uint32_t domain, uint32_t block,
                             uint32_t wanted, struct myr_share *ret)
{
    uint32_t have = 0;
    for (uint32_t node = 0, run = 0; node < of->nodes && have < wanted; node++) {
        bool edge = node % domain == 0 || node % of->group_nodes == 0;
        run = edge ? 1 : run + 1;
        for (uint32_t i = 0; run == block && i < block; i++) {
            ret[have++] = (struct myr_share){node + 1 - block + i, 0xf};
        }
        run = run == block ? 0 : run;
    }
    return have;
}

/* Racks of 18 nodes over leaves of 32: what shares a domain all the time is not cut in two. */
static void blocks_that_domains_hold_stay_whole_in_them(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct myr_arena arena;
    uint32_t held = 0;
    myr_rng_init(&rng, 72, 0);
    myr_arena_init(&arena);
    for (uint32_t round = 0; round < TEST_ROUNDS(200); round++) {
        struct myr_place_shape of = {.gpus_per_node = 4,
                                     .group_nodes = 8 + myr_rng_below(&rng, 40)};
        uint32_t domain = 2 + myr_rng_below(&rng, of.group_nodes - 1);
        uint32_t block = 2 + myr_rng_below(&rng, domain - 1);
        of.pod_nodes = of.group_nodes * (1 + myr_rng_below(&rng, 9));
        of.nodes = of.pod_nodes * (1 + myr_rng_below(&rng, 4));
        struct myr_layout layout = myr_layout_default();
        layout.tp = of.gpus_per_node;
        layout.cp = block;
        layout.dp = 1 + myr_rng_below(&rng, 4);
        layout.pp = 1 + myr_rng_below(&rng, 4);
        uint32_t nodes = layout.cp * layout.dp * layout.pp;
        struct myr_share plain[48 * 9 * 4], shares[48 * 9 * 4];
        if (nodes > of.nodes || first_blocks(&of, domain, block, nodes, plain) < nodes) {
            continue;
        }
        struct myr_job_traffic traffic;
        struct myr_gang gang = {nodes, plain};
        struct myr_place_cost cost;
        struct myr_placement found = {.gang.shares = shares};
        struct myr_placer *placer = myr_placer_create(&of);
        myr_placer_set_domain(placer, domain);
        assert_int_equal(myr_job_traffic_of(&layout, NULL, 4, &arena, &traffic, NULL), MYR_OK);
        struct myr_request request = {.nodes = nodes, .traffic = &traffic};
        myr_place_cost_of(placer, &request, &gang, &cost);
        assert_true(myr_place_gang(placer, &request, &found));
        if (found.cost.total > cost.total * 1.02) {
            fail_msg("round %u: %u nodes in blocks of %u, domains of %u, leaves of %u, pods of %u: "
                     "%g, and %g in their order",
                     round, nodes, block, domain, of.group_nodes, of.pod_nodes, found.cost.total,
                     cost.total);
        }
        held++;
        myr_placer_free(placer);
    }
    assert_true(held > TEST_ROUNDS(200) / 4);
    myr_arena_done(&arena);
}

/* Random gangs come and go, with and without layouts and constraints, against plain arrays. */
static void random_requests_agree_with_a_naive_model(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_gang gangs[GANGS] = {};
    struct myr_arena arena;
    uint64_t taken[NODES] = {};
    myr_rng_init(&rng, 17, 0);
    myr_arena_init(&arena);
    for (uint32_t step = 0; step < TEST_ROUNDS(4000); step++) {
        uint32_t at = myr_rng_below(&rng, GANGS);
        if (gangs[at].count) {
            for (uint32_t i = 0; i < gangs[at].count; i++) {
                taken[gangs[at].shares[i].node] &= ~gangs[at].shares[i].gpus;
            }
            myr_release(placer, &gangs[at]);
            free(gangs[at].shares);
            gangs[at] = (struct myr_gang){};
            continue;
        }
        struct myr_job_traffic traffic;
        struct myr_layout layout = myr_layout_default();
        uint32_t gpus = myr_rng_below(&rng, 4) ? GPUS : 4;
        layout.tp = gpus;
        layout.dp = 1 + myr_rng_below(&rng, 6);
        layout.pp = 1 + myr_rng_below(&rng, 6);
        struct myr_request request = {.nodes = layout.dp * layout.pp, .gpus_per_node = gpus};
        if (myr_rng_below(&rng, 2)) {
            assert_int_equal(myr_job_traffic_of(&layout, NULL, gpus, &arena, &traffic, NULL),
                             MYR_OK);
            request.traffic = &traffic;
        }
        request.limited = myr_rng_below(&rng, 4) == 0;
        request.within = myr_rng_below(&rng, 2) ? MYR_LEVEL_LEAF : MYR_LEVEL_POD;
        uint32_t room[NODES] = {}, most = 0;
        uint32_t per = !request.limited ? NODES : request.within == MYR_LEVEL_LEAF ? LEAF : POD;
        for (uint32_t node = 0; node < NODES; node++) {
            room[node / per] += GPUS - (uint32_t)__builtin_popcountll(taken[node]) >= gpus;
            most = room[node / per] > most ? room[node / per] : most;
        }
        struct myr_placement found = {.gang.shares =
                                          myr_xcalloc(request.nodes, sizeof(struct myr_share))};
        bool fits = most >= request.nodes;
        assert_int_equal(myr_request_size(placer, &request), fits ? request.nodes : most);
        assert_int_equal(myr_place_gang(placer, &request, &found), fits);
        assert_int_equal(found.gang.count, fits ? request.nodes : 0);
        for (uint32_t i = 0; i < found.gang.count; i++) {
            struct myr_share share = found.gang.shares[i];
            assert_int_equal(taken[share.node] & share.gpus, 0);
            assert_int_equal(__builtin_popcountll(share.gpus), gpus);
            assert_int_equal(share.node / per, found.gang.shares[0].node / per);
            taken[share.node] |= share.gpus;
        }
        gangs[at] = found.gang;
        if (!fits) {
            free(found.gang.shares);
            gangs[at] = (struct myr_gang){};
        }
    }
    for (uint32_t i = 0; i < GANGS; i++) {
        free(gangs[i].shares);
    }
    myr_arena_done(&arena);
    myr_placer_free(placer);
}

/* 40 nodes under leaves of 32 without pods: the last leaf is part filled, and in the same pod. */
static void a_part_filled_fabric_has_one_pod(void **state)
{
    (void)state;
    static const struct myr_place_shape odd = {40, GPUS, 32, 40};
    struct myr_arena arena;
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    for (uint32_t nodes = 1; nodes <= 40; nodes++) {
        struct myr_share shares[40];
        struct myr_placement found = {.gang.shares = shares};
        struct myr_job_traffic traffic;
        struct myr_placer *placer = myr_placer_create(&odd);
        myr_arena_init(&arena);
        layout.dp = nodes;
        assert_int_equal(myr_job_traffic_of(&layout, NULL, GPUS, &arena, &traffic, NULL), MYR_OK);
        struct myr_request request = {.nodes = nodes, .gpus_per_node = GPUS, .traffic = &traffic};
        assert_true(myr_place_gang(placer, &request, &found));
        assert_int_equal(found.gang.count, nodes);
        assert_int_equal(found.cost.pods, 1);
        assert_int_equal(found.cost.leaves, nodes <= 32 ? 1 : 2);
        myr_placer_free(placer);
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_filled_fabric_has_one_pod),
        cmocka_unit_test(the_cost_is_bytes_by_level),
        cmocka_unit_test(heavy_groups_lie_under_one_leaf),
        cmocka_unit_test(constraints_hold),
        cmocka_unit_test(penalties_push_gangs_away),
        cmocka_unit_test(scale_up_domains_of_several_nodes_are_kept_whole),
        cmocka_unit_test(blocks_that_domains_hold_stay_whole_in_them),
        cmocka_unit_test(random_requests_agree_with_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
