#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "cost/block.h"
#include "test_world.h"

static struct myr_model model;

static int setup(void **state)
{
    MYR_TRY(open_world(state));
    return myr_model_find(&arena, "llama3-70b", &model, NULL);
}

/* 8 GPUs a node, 32 nodes a leaf, 4 leaves a pod; the slowdowns of what leaves each. */
static struct myr_fit_topology three_levels(double node, double leaf, double pod)
{
    const double slow[MYR_FIT_LEVELS] = {node, leaf, pod};
    struct myr_fit_topology topology = {.measured = true};
    uint32_t gpus[MYR_FIT_LEVELS] = {8, 256, 1024};
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        topology.levels[i].gpus = gpus[i];
        for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
            topology.levels[i].slow[p] = slow[i];
        }
    }
    return topology;
}

static struct myr_fit_case on(const struct myr_fit_topology *topology)
{
    struct myr_fit_case it = {.model = &model,
                              .constants = profiles.constants,
                              .stack = &profiles.stacks[0],
                              .topology = topology};
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("h100"), &it.device, NULL), MYR_OK);
    return it;
}

/* Seconds beyond latency: two sizes, the difference. */
static double moved_s(const struct myr_fit_case *it, enum myr_collective collective,
                      uint32_t members, uint64_t stride)
{
    struct fit_near near = fit_near_of(it, members, stride);
    return fit_collective_s(it, collective, members, near, 3e9) -
           fit_collective_s(it, collective, members, near, 2e9);
}

static void assert_near_to(double found, double expected)
{
    if (found < expected * (1 - 1e-9) || found > expected * (1 + 1e-9)) {
        fail_msg("%.12g s, %.12g s expected", found, expected);
    }
}

static void the_slowest_level_that_a_group_leaves_sets_its_pace(void **state)
{
    (void)state;
    struct myr_fit_topology even = three_levels(1, 1, 1), cut = three_levels(1, 4, 8);
    struct myr_fit_case it = on(&cut), plain = on(&even);
    double nic = it.device->nic_gbps / 8 * 1e9 * profiles.constants[FIT_NIC];
    double inside = it.device->domain_bytes_per_s * profiles.constants[FIT_NVLINK];
    /* Inside a node; one of each node under a leaf; one of each leaf; one of each pod. */
    assert_near_to(moved_s(&it, MYR_ALL_GATHER, 8, 1), 7.0 / 8 * 1e9 / inside);
    assert_near_to(moved_s(&it, MYR_ALL_GATHER, 32, 8), 31.0 / 32 * 1e9 / nic);
    assert_near_to(moved_s(&it, MYR_ALL_GATHER, 4, 256), 3.0 / 4 * 1e9 / nic * 4);
    assert_near_to(moved_s(&it, MYR_ALL_GATHER, 4, 1024), 3.0 / 4 * 1e9 / nic * 8);
    /* A ring through 32 nodes of each leaf crosses between leaves once in 32: nothing is lost. */
    assert_near_to(moved_s(&it, MYR_ALL_GATHER, 128, 8), moved_s(&plain, MYR_ALL_GATHER, 128, 8));
    /* All-to-all of 64 in two leaves: half of it leaves, at a quarter of the rate. */
    assert_near_to(moved_s(&it, MYR_ALL_TO_ALL, 64, 8), 1e9 / 2 * 4 / nic);
    assert_near_to(moved_s(&plain, MYR_ALL_TO_ALL, 64, 8), 63.0 / 64 * 1e9 / nic);
}

static void groups_reach_as_far_as_their_ranks_lie(void **state)
{
    (void)state;
    struct myr_fit_topology levels = three_levels(1, 1, 1);
    struct myr_fit_case it = on(&levels);
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.dp = 32;
    layout.pp = 4;
    assert_int_equal(myr_fit_reach(&it, &layout, MYR_AXIS_TP), 0);
    assert_int_equal(myr_fit_reach(&it, &layout, MYR_AXIS_DP), 1);
    assert_int_equal(myr_fit_reach(&it, &layout, MYR_AXIS_PP), 2);
    layout.dp = 128;
    assert_int_equal(myr_fit_reach(&it, &layout, MYR_AXIS_DP), 2);
    assert_int_equal(myr_fit_reach(&it, &layout, MYR_AXIS_PP), MYR_FIT_LEVELS);
}

static void a_fabric_that_slows_nothing_costs_what_no_design_costs(void **state)
{
    (void)state;
    struct myr_fit_topology even = three_levels(1, 1, 1);
    even.measured = false;
    struct myr_fit_case with = on(&even), without = on(NULL);
    struct myr_layout layout = myr_layout_default();
    layout.tp = 4;
    layout.pp = 4;
    layout.dp = 64;
    layout.cp = 2;
    layout.global_batch = 1024;
    layout.sequence_parallel = true;
    struct myr_fit_cost a, b;
    myr_fit_cost_of(&with, &layout, &a);
    myr_fit_cost_of(&without, &layout, &b);
    assert_near_to(a.step_s, b.step_s);
    even.measured = true;
    struct myr_fit_topology narrow = three_levels(1, 16, 64);
    struct myr_fit_case slower = on(&narrow);
    myr_fit_cost_of(&with, &layout, &a);
    myr_fit_cost_of(&slower, &layout, &b);
    assert_true(b.step_s > a.step_s);
}

/* Seconds of the NICs for a byte of a ring, against a ring of two servers with one member each. */
static double ring_slow(const struct myr_fit_case *it, uint32_t members, uint64_t stride)
{
    double wire = (members - 1.0) / members;
    return moved_s(it, MYR_ALL_GATHER, members, stride) / wire /
           (moved_s(it, MYR_ALL_GATHER, 2, 8) / 0.5);
}

static void early_groups_keep_to_their_rail_or_meet_between_rails(void **state)
{
    (void)state;
    double rails = profiles.constants[FIT_NIC_RAILS], crowd = profiles.constants[FIT_NIC_CROWD];
    struct myr_fit_case it = on(NULL);
    assert_int_equal(it.stack->era, MYR_ERA_EAGER);
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("a100-80"), &it.device, NULL), MYR_OK);
    /* One member in a server: nobody else is on its rail. Two, with a NIC each: as everywhere. */
    assert_near_to(ring_slow(&it, 32, 8), 1);
    assert_near_to(ring_slow(&it, 32, 4), 0.5 * (1 + 4 * crowd));
    /* A NIC for two GPUs: two servers lose nothing, eight do, more than that no more. */
    it.nic_gbps = it.device->nic_gbps / 2;
    assert_near_to(ring_slow(&it, 4, 8), 1 + crowd);
    assert_near_to(ring_slow(&it, 32, 8), 1 + 2 * crowd);
    assert_near_to(ring_slow(&it, 4, 4), 0.5);
    assert_near_to(ring_slow(&it, 8, 4), 0.5 * (1 + rails));
    assert_near_to(ring_slow(&it, 16, 4), 0.5 * (1 + 2 * rails));
    assert_near_to(ring_slow(&it, 64, 4), 0.5 * (1 + 2 * rails));
    /* With all GPUs of each server every NIC is in use both ways. */
    assert_near_to(ring_slow(&it, 64, 1), (1 + 3 * crowd) / 8);
    /* Neighbours of a chain send to one another only, however long it is. */
    assert_near_to(moved_s(&it, MYR_SEND_RECEIVE, 64, 8), moved_s(&it, MYR_SEND_RECEIVE, 2, 8));
}

/* The smallest part of any expert group in a domain, and the most domains of one: rank by rank. */
static void count_parts(uint32_t domain, const struct myr_layout *l, uint32_t *least,
                        uint32_t *most)
{
    uint32_t ranks = (uint32_t)myr_layout_gpus(l), stride = myr_layout_etp(l);
    *least = l->ep;
    *most = 0;
    for (uint32_t first = 0; first < ranks; first += l->ep * stride) {
        uint32_t part = 0, touched = 0;
        for (uint32_t i = 0; i < l->ep; i++) {
            uint32_t rank = first + i * stride, at = rank / domain;
            part++;
            if (i + 1 == l->ep || (rank + stride) / domain != at) {
                *least = part < *least ? part : *least;
                part = 0;
                touched++;
            }
        }
        *most = touched > *most ? touched : *most;
    }
}

static void expert_groups_that_straddle_domains_are_counted_as_they_lie(void **state)
{
    (void)state;
    static const uint32_t domains[] = {8, 16, 32, 36, 64, 72, 144, 576};
    struct myr_rng rng;
    uint32_t straddled = 0;
    myr_rng_init(&rng, 40, 0);
    for (int round = 0; round < 3000; round++) {
        struct myr_fit_topology racks = three_levels(1, 1, 1);
        racks.levels[0].gpus = domains[myr_rng_below(&rng, 8)];
        racks.levels[1].gpus = racks.levels[2].gpus = 0;
        struct myr_fit_case it = on(&racks), alone = on(NULL);
        it.domain_gpus = alone.domain_gpus = racks.levels[0].gpus;
        struct myr_layout layout = myr_layout_default();
        /* Ranks of a tensor group divide a domain; all else may lie anyhow. */
        layout.tp = layout.etp = 1U << myr_rng_below(&rng, 3);
        layout.ep = 2 + (uint32_t)myr_rng_below(&rng, 126);
        layout.dp = layout.ep * (1 + (uint32_t)myr_rng_below(&rng, 12));
        layout.pp = 1 + (uint32_t)myr_rng_below(&rng, 4);
        uint32_t least, most;
        count_parts(it.domain_gpus, &layout, &least, &most);
        struct fit_near found = fit_places_of(&it, &layout).ep_near;
        if (found.at[0] != least || found.domains != most) {
            fail_msg("seed 40, round %d: ep %u x %u in domains of %u: %u in %u, %u in %u expected",
                     round, layout.ep, layout.etp, it.domain_gpus, found.at[0], found.domains,
                     least, most);
        }
        bool fits = layout.ep * layout.etp <= it.domain_gpus;
        straddled += fits && most > 1;
        /* Without a design groups that fit are whole, and longer ones in equal parts. */
        found = fit_places_of(&alone, &layout).ep_near;
        assert_int_equal(found.at[0] * found.domains, layout.ep);
        assert_true(!fits || found.domains == 1);
    }
    assert_true(straddled > 300);
}

/* Of 64 in racks of 72 what leaves the rack is slower than what stays, whichever way it is sent. */
static void a_straddling_group_costs_what_its_smallest_part_sends(void **state)
{
    (void)state;
    struct myr_model experts;
    assert_int_equal(myr_model_find(&arena, "deepseek-v3", &experts, NULL), MYR_OK);
    struct myr_fit_topology racks = three_levels(1, 1, 1), wide = racks;
    racks.levels[0].gpus = 72;
    wide.levels[0].gpus = 64;
    struct myr_fit_case cut = on(&racks), whole = on(&wide);
    cut.model = whole.model = &experts;
    cut.domain_gpus = 72;
    whole.domain_gpus = 64;
    struct myr_layout layout = myr_layout_default();
    layout.dp = 256;
    layout.ep = 64;
    double nic = cut.device->nic_gbps / 8 * 1e9 * profiles.constants[FIT_NIC];
    for (uint8_t how = MYR_DISPATCH_ALL_TO_ALL; how <= MYR_DISPATCH_HYBRIDEP; how++) {
        double there =
            fit_dispatch_s(&cut, &layout, how, fit_places_of(&cut, &layout).ep_near, 1e9);
        double inside =
            fit_dispatch_s(&whole, &layout, how, fit_places_of(&whole, &layout).ep_near, 1e9);
        /* Eight copies, of which 56 of 64 leave; or one to the other rack, almost always. */
        double copies = how == MYR_DISPATCH_ALL_TO_ALL ? 8 * 56.0 / 64 : 1 - 1.0 / 256;
        assert_true(inside < there);
        assert_true(there > copies * 1e9 / nic && there < 1.3 * copies * 1e9 / nic + 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expert_groups_that_straddle_domains_are_counted_as_they_lie),
        cmocka_unit_test(a_straddling_group_costs_what_its_smallest_part_sends),
        cmocka_unit_test(the_slowest_level_that_a_group_leaves_sets_its_pace),
        cmocka_unit_test(groups_reach_as_far_as_their_ranks_lie),
        cmocka_unit_test(a_fabric_that_slows_nothing_costs_what_no_design_costs),
        cmocka_unit_test(early_groups_keep_to_their_rail_or_meet_between_rails),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
