#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/model.h"
#include "myriad/sim/collective.h"

/* Bytes that each rank sends and receives over the whole schedule. */
struct totals {
    uint64_t out[64], in[64];
};

static struct totals total_of(const struct myr_schedule_plan *plan)
{
    struct totals totals = {0};
    for (size_t r = 0; r < plan->rounds.count; r++) {
        const struct myr_round *round = &plan->rounds.items[r];
        for (uint32_t i = 0; i < round->pair_count; i++) {
            const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
            totals.out[pair->from] += round->bytes;
            totals.in[pair->to] += round->bytes;
        }
    }
    return totals;
}

static struct myr_schedule_plan plan_of(enum myr_collective collective,
                                        enum myr_algorithm algorithm, uint32_t ranks,
                                        uint32_t local, uint64_t bytes)
{
    struct myr_schedule_plan plan;
    struct myr_err err = {0};
    if (myr_collective_plan(collective, algorithm, ranks, local, bytes, &plan, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return plan;
}

static void every_rank_of_a_ring_moves_its_bound(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 64; ranks++) {
        uint64_t bytes = UINT64_C(1000) * ranks;
        struct myr_schedule_plan plan =
            plan_of(MYR_ALL_REDUCE, MYR_ALGORITHM_RING, ranks, 1, bytes);
        struct totals totals = total_of(&plan);
        for (uint32_t i = 0; i < ranks; i++) {
            assert_int_equal(totals.out[i], 2000 * (ranks - 1));
            assert_int_equal(totals.in[i], 2000 * (ranks - 1));
        }
        assert_int_equal(plan.rounds.items[0].hops, 2 * (ranks - 1));
        myr_schedule_plan_done(&plan);
    }
}

/* Each channel is one cycle through all ranks, and leaves nodes by the rail that it enters by. */
static void channels_of_a_ring_are_cycles_that_stay_on_rails(void **state)
{
    (void)state;
    const uint32_t local = 8, ranks = 64;
    struct myr_schedule_plan plan =
        plan_of(MYR_REDUCE_SCATTER, MYR_ALGORITHM_RING, ranks, local, 1 << 20);
    assert_int_equal(plan.pairs.count, ranks * local);
    uint32_t out[64] = {0}, in[64] = {0};
    for (uint32_t c = 0; c < local; c++) {
        bool seen[64] = {false};
        uint32_t at = plan.pairs.items[c * ranks].from;
        for (uint32_t i = 0; i < ranks; i++) {
            const struct myr_pair *pair = &plan.pairs.items[c * ranks + i];
            assert_int_equal(pair->from, at);
            assert_false(seen[at]);
            seen[at] = true;
            if (pair->from / local != pair->to / local) {
                assert_int_equal(pair->from % local, pair->to % local);
                out[pair->from]++;
                in[pair->to]++;
            }
            at = pair->to;
        }
        assert_int_equal(at, plan.pairs.items[c * ranks].from);
    }
    for (uint32_t i = 0; i < ranks; i++) { /* every NIC carries one channel each way */
        assert_int_equal(out[i], 1);
        assert_int_equal(in[i], 1);
    }
    myr_schedule_plan_done(&plan);
}

static void trees_reach_their_root_and_share_the_work(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 64; ranks++) {
        struct myr_schedule_plan plan = plan_of(MYR_ALL_REDUCE, MYR_ALGORITHM_TREE, ranks, 1, 1000);
        assert_int_equal(plan.rounds.count, 2);
        for (uint32_t tree = 0; tree < 2; tree++) {
            uint32_t parent[64];
            memset(parent, 0xFF, sizeof(parent));
            for (uint32_t i = 0; i < ranks - 1; i++) { /* the way up: child to parent */
                const struct myr_pair *pair = &plan.pairs.items[tree * (ranks - 1) + i];
                assert_int_equal(parent[pair->from], MYR_NONE);
                parent[pair->from] = pair->to;
            }
            for (uint32_t i = 0; i < ranks; i++) {
                uint32_t steps = 0, at = i;
                while (parent[at] != MYR_NONE) {
                    at = parent[at];
                    assert_true(++steps <= 7);
                }
            }
        }
        struct totals totals = total_of(&plan);
        for (uint32_t i = 0; i < ranks; i++) { /* nobody moves more than the buffer twice */
            assert_true(totals.out[i] <= 2500 && totals.in[i] <= 2500);
        }
        myr_schedule_plan_done(&plan);
    }
}

static void halving_meets_every_distance_and_moves_the_bound(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 64; ranks *= 2) {
        uint64_t bytes = UINT64_C(64) * ranks;
        struct myr_schedule_plan plan =
            plan_of(MYR_ALL_REDUCE, MYR_ALGORITHM_HALVING, ranks, 1, bytes);
        struct totals totals = total_of(&plan);
        for (uint32_t i = 0; i < ranks; i++) {
            assert_int_equal(totals.out[i], 2 * 64 * (ranks - 1));
        }
        myr_schedule_plan_done(&plan);
    }
}

static void all_to_all_meets_every_pair_once(void **state)
{
    (void)state;
    struct myr_schedule_plan plan = plan_of(MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE, 17, 1, 17000);
    bool met[17][17] = {{false}};
    for (size_t i = 0; i < plan.pairs.count; i++) {
        const struct myr_pair *pair = &plan.pairs.items[i];
        assert_false(met[pair->from][pair->to]);
        met[pair->from][pair->to] = true;
    }
    assert_int_equal(plan.pairs.count, 17 * 16);
    assert_int_equal(plan.rounds.items[0].bytes, 1000);
    myr_schedule_plan_done(&plan);
}

static void hierarchies_use_the_network_for_a_share_only(void **state)
{
    (void)state;
    struct myr_schedule_plan plan = plan_of(MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 64, 8, 64000);
    assert_int_equal(plan.rounds.count, 3);
    assert_int_equal(plan.rounds.items[0].bytes, 64000 * 7 / 8);
    assert_int_equal(plan.rounds.items[1].bytes, 64000 / 8 * 2 * 7 / 8);
    for (uint32_t i = 0; i < plan.rounds.items[1].pair_count; i++) {
        const struct myr_pair *pair = &plan.pairs.items[plan.rounds.items[1].first_pair + i];
        assert_int_equal(pair->from % 8, pair->to % 8);
    }
    myr_schedule_plan_done(&plan);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct myr_schedule_plan plan;
    assert_true(myr_collective_plan(MYR_ALL_REDUCE, MYR_ALGORITHM_RING, 1, 1, 1, &plan, NULL) < 0);
    assert_true(myr_collective_plan(MYR_ALL_REDUCE, MYR_ALGORITHM_HALVING, 6, 1, 1, &plan, NULL) <
                0);
    assert_true(myr_collective_plan(MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 12, 8, 1, &plan, NULL) < 0);
    assert_true(myr_collective_plan(MYR_ALL_TO_ALL, MYR_ALGORITHM_RING, 4, 1, 1, &plan, NULL) < 0);
    assert_true(myr_collective_plan(MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE,
                                    MYR_PAIRWISE_RANKS_MAX + 1, 1, 1, &plan, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_of_a_ring_moves_its_bound),
        cmocka_unit_test(channels_of_a_ring_are_cycles_that_stay_on_rails),
        cmocka_unit_test(trees_reach_their_root_and_share_the_work),
        cmocka_unit_test(halving_meets_every_distance_and_moves_the_bound),
        cmocka_unit_test(all_to_all_meets_every_pair_once),
        cmocka_unit_test(hierarchies_use_the_network_for_a_share_only),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
