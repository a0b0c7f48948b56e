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
    struct totals totals = {};
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
    struct myr_err err = {};
    struct myr_collective_shape shape = {collective, algorithm, ranks, local, bytes, 0, 0};
    if (myr_collective_plan(&shape, &plan, &err) < 0) {
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
        uint32_t hops = 0;
        for (size_t r = 0; r < plan.rounds.count; r++) {
            hops += plan.rounds.items[r].hops;
        }
        assert_int_equal(hops, 2 * (ranks - 1));
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
    uint32_t out[64] = {}, in[64] = {};
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
    assert_int_equal(plan.rounds.items[0].hops, 1);
    assert_int_equal(plan.rounds.items[1].bytes, 64000 / 8 * 2 * 7 / 8);
    for (uint32_t i = 0; i < plan.rounds.items[1].pair_count; i++) {
        const struct myr_pair *pair = &plan.pairs.items[plan.rounds.items[1].first_pair + i];
        assert_int_equal(pair->from % 8, pair->to % 8);
    }
    myr_schedule_plan_done(&plan);
}

static void refused(struct myr_collective_shape shape, const char *words)
{
    struct myr_schedule_plan plan;
    struct myr_sends sends;
    struct myr_err err = {};
    assert_true(myr_collective_plan(&shape, &plan, &err) < 0);
    assert_non_null(strstr(err.message, words));
    assert_true(myr_collective_sends(&shape, &sends, &err) < 0);
    assert_non_null(strstr(err.message, words));
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refused((struct myr_collective_shape){MYR_ALL_REDUCE, MYR_ALGORITHM_RING, 1, 1, 1, 0, 0},
            "at least 2 ranks");
    refused((struct myr_collective_shape){MYR_ALL_REDUCE, MYR_ALGORITHM_HALVING, 6, 1, 1, 0, 0},
            "a power of two");
    refused((struct myr_collective_shape){MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 12, 8, 1, 0, 0},
            "whole scale-up domains");
    refused((struct myr_collective_shape){MYR_ALL_TO_ALL, MYR_ALGORITHM_RING, 4, 1, 1, 0, 0},
            "pairwise is for");
    refused((struct myr_collective_shape){MYR_BROADCAST, MYR_ALGORITHM_HALVING, 4, 1, 1, 0, 0},
            "broadcast cannot run as 'halving'");
    refused((struct myr_collective_shape){MYR_BROADCAST, MYR_ALGORITHM_IN_NETWORK, 4, 1, 1, 0, 0},
            "broadcast cannot run as 'in-network'");
    refused((struct myr_collective_shape){MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE,
                                          MYR_PAIRWISE_RANKS_MAX + 1, 1, 1, 0, 0},
            "at most 4096");
}

/*
 * What a schedule means, without an engine: every send carries what its rank has by then, and in
 * the end everybody has what the collective promises. Pieces are bits of a set; a reduction is the
 * union, so a rank's own piece is its bit.
 */
static void run_broadcast(const struct myr_sends *sends, uint32_t ranks, uint32_t chunks)
{
    uint32_t *had = calloc((size_t)ranks * 2 * chunks, sizeof(*had));
    assert_non_null(had);
    for (size_t i = 0; i < sends->items.count; i++) {
        const struct myr_send *send = &sends->items.items[i];
        uint32_t piece = send->channel * chunks + send->chunk;
        /* In the order of the list, and each waits for the one that brought it what it sends. */
        assert_true(send->from == 0 || had[send->from * 2 * chunks + piece]);
        bool waits = send->from == 0;
        for (uint32_t k = 0; k < send->after_count; k++) {
            const struct myr_send *before =
                &sends->items.items[sends->after.items[send->first_after + k]];
            waits = waits || (before->to == send->from && before->chunk == send->chunk &&
                              before->channel == send->channel);
        }
        assert_true(waits);
        had[send->to * 2 * chunks + piece]++;
    }
    uint32_t channels = sends->items.items[sends->items.count - 1].channel + 1;
    for (uint32_t r = 1; r < ranks; r++) {
        for (uint32_t p = 0; p < channels * chunks; p++) {
            assert_int_equal(had[r * 2 * chunks + p], 1);
        }
    }
    free(had);
}

static struct myr_sends sends_of(struct myr_collective_shape shape)
{
    struct myr_sends sends;
    struct myr_err err = {};
    if (myr_collective_sends(&shape, &sends, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(sends.items.count, myr_collective_send_count(&shape));
    return sends;
}

static void broadcasts_bring_every_chunk_to_every_rank_once(void **state)
{
    (void)state;
    const enum myr_algorithm algorithms[] = {MYR_ALGORITHM_RING, MYR_ALGORITHM_TREE};
    for (uint32_t ranks = 2; ranks <= 33; ranks++) {
        for (uint32_t a = 0; a < 2; a++) {
            for (uint32_t chunks = 1; chunks <= 3; chunks++) {
                struct myr_sends sends = sends_of((struct myr_collective_shape){
                    MYR_BROADCAST, algorithms[a], ranks, 1, 6000, chunks, 0});
                run_broadcast(&sends, ranks, chunks);
                myr_sends_done(&sends);
            }
        }
    }
}

/* Who has contributed to what a rank holds, when every send carries all that its rank has then. */
static void run_reduction(const struct myr_sends *sends, uint32_t ranks, uint64_t *set)
{
    for (uint32_t r = 0; r < ranks; r++) {
        set[r] = UINT64_C(1) << r;
    }
    for (size_t i = 0; i < sends->items.count; i++) {
        const struct myr_send *send = &sends->items.items[i];
        for (uint32_t k = 0; k < send->after_count; k++) {
            assert_true(sends->after.items[send->first_after + k] < i);
        }
        set[send->to] |= set[send->from];
    }
}

static void every_rank_hears_of_every_other_in_all_schedules(void **state)
{
    (void)state;
    const struct myr_collective_shape shapes[] = {
        {MYR_ALL_REDUCE, MYR_ALGORITHM_RING, 24, 1, 24000, 0, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_RING, 24, 8, 24000, 0, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_TREE, 24, 1, 24000, 2, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_HALVING, 32, 1, 24000, 0, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 24, 8, 24000, 0, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 24, 8, 24000, 3, 0},
        {MYR_ALL_REDUCE, MYR_ALGORITHM_HIER, 8, 8, 24000, 0, 0},
        {MYR_ALL_GATHER, MYR_ALGORITHM_HIER, 24, 8, 24000, 0, 0},
        {MYR_ALL_GATHER, MYR_ALGORITHM_TREE, 23, 1, 23000, 0, 0},
        {MYR_REDUCE_SCATTER, MYR_ALGORITHM_TREE, 23, 1, 23000, 0, 0},
        {MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE, 24, 1, 24000, 0, 3},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shapes); i++) {
        uint64_t set[64];
        struct myr_sends sends = sends_of(shapes[i]);
        run_reduction(&sends, shapes[i].ranks, set);
        for (uint32_t r = 0; r < shapes[i].ranks; r++) {
            assert_int_equal(set[r], (UINT64_C(1) << shapes[i].ranks) - 1);
        }
        myr_sends_done(&sends);
    }
}

/*
 * Piece by piece: what a rank sends in a step it has, the other lacks it, and in the end everybody
 * has every piece, each of which came once. A reduce-scatter is the same run backwards.
 */
static void a_tree_of_every_rank_brings_each_piece_once(void **state)
{
    (void)state;
    enum { PIECE = 1000 };
    for (uint32_t ranks = 2; ranks <= 64; ranks++) {
        struct myr_collective_shape shape = {
            MYR_ALL_GATHER, MYR_ALGORITHM_TREE, ranks, 1, (uint64_t)ranks * PIECE, 0, 0};
        struct myr_sends sends = sends_of(shape);
        uint64_t has[64], got[64];
        for (uint32_t r = 0; r < ranks; r++) {
            has[r] = got[r] = UINT64_C(1) << r;
        }
        for (size_t i = 0; i < sends.items.count; i++) {
            const struct myr_send *send = &sends.items.items[i];
            uint32_t distance = (send->to + ranks - send->from) % ranks;
            if (i % ranks == 0) { /* a new step: what was sent in the last one is there */
                memcpy(has, got, sizeof(has));
            }
            assert_int_equal(send->bytes % PIECE, 0);
            for (uint32_t k = 0; k < send->bytes / PIECE; k++) {
                uint32_t piece = (send->from + 64 * ranks - 2 * distance * k) % ranks;
                assert_true(has[send->from] >> piece & 1);
                assert_false(got[send->to] >> piece & 1);
                got[send->to] |= UINT64_C(1) << piece;
            }
        }
        shape.collective = MYR_REDUCE_SCATTER;
        struct myr_sends back = sends_of(shape);
        assert_int_equal(back.items.count, sends.items.count);
        for (uint32_t r = 0; r < ranks; r++) {
            assert_int_equal(got[r], ranks == 64 ? UINT64_MAX : (UINT64_C(1) << ranks) - 1);
        }
        for (size_t i = 0; i < back.items.count; i += ranks) { /* step for step, from the end */
            size_t mirror = back.items.count - ranks - i;
            assert_int_equal(back.items.items[i].bytes, sends.items.items[mirror].bytes);
        }
        myr_sends_done(&sends);
        myr_sends_done(&back);
    }
}

/* Bytes out and in of every rank: the collapsed form moves what the full schedule does. */
static void both_forms_move_the_same_bytes(void **state)
{
    (void)state;
    const enum myr_collective kinds[] = {MYR_ALL_REDUCE, MYR_ALL_GATHER, MYR_REDUCE_SCATTER,
                                         MYR_ALL_TO_ALL, MYR_BROADCAST};
    uint32_t compared = 0;
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        for (uint32_t a = 0; a < MYR_ALGORITHM_AUTO; a++) {
            struct myr_collective_shape shape = {
                kinds[k], (enum myr_algorithm)a, 32, 8, 32 * 64 * 1000, 2, 0};
            struct myr_schedule_plan plan;
            if (myr_collective_plan(&shape, &plan, NULL) < 0) {
                continue;
            }
            struct totals rounds = total_of(&plan), own = {};
            struct myr_sends sends = sends_of(shape);
            for (size_t i = 0; i < sends.items.count; i++) {
                const struct myr_send *send = &sends.items.items[i];
                own.out[send->from] += send->bytes;
                own.in[send->to] += send->bytes;
            }
            for (uint32_t r = 0; r < 32; r++) {
                assert_int_equal(own.out[r], rounds.out[r]);
                assert_int_equal(own.in[r], rounds.in[r]);
            }
            compared++;
            myr_sends_done(&sends);
            myr_schedule_plan_done(&plan);
        }
    }
    assert_int_equal(compared, 5 + 5 + 5 + 1 + 2);
}

static void assert_least(enum myr_collective kind, enum myr_algorithm algorithm,
                         struct myr_collective_domains domains, double all_nics, double nic,
                         double gpu)
{
    struct myr_collective_shape shape = {
        .collective = kind, .algorithm = algorithm, .ranks = 12, .local = 1, .bytes = 1200};
    struct myr_collective_bound least = myr_collective_least(&shape, &domains);
    assert_true(least.all_nics_bytes == all_nics);
    assert_true(least.nic_bytes == nic);
    assert_true(least.gpu_bytes == gpu);
}

/* Twelve ranks: three domains of four, 8 and 4, or all in one. */
static void the_least_bytes_follow_from_the_domains_alone(void **state)
{
    (void)state;
    struct myr_collective_domains three = {3, 4, 48}, uneven = {2, 8, 80}, one = {1, 12, 144};
    assert_least(MYR_ALL_GATHER, MYR_ALGORITHM_RING, three, 2400, 0, 1100);
    assert_least(MYR_ALL_GATHER, MYR_ALGORITHM_RING, uneven, 1200, 0, 1100);
    assert_least(MYR_REDUCE_SCATTER, MYR_ALGORITHM_TREE, uneven, 1200, 0, 1100);
    assert_least(MYR_REDUCE_SCATTER, MYR_ALGORITHM_TREE, one, 0, 0, 1100);
    assert_least(MYR_ALL_REDUCE, MYR_ALGORITHM_RING, three, 4800, 0, 2200);
    assert_least(MYR_ALL_REDUCE, MYR_ALGORITHM_IN_NETWORK, three, 3600, 0, 1200);
    assert_least(MYR_ALL_REDUCE, MYR_ALGORITHM_IN_NETWORK, one, 0, 0, 1200);
    assert_least(MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE, three, 9600, 0, 1100);
    assert_least(MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE, uneven, 6400, 0, 1100);
    assert_least(MYR_ALL_TO_ALL, MYR_ALGORITHM_PAIRWISE, one, 0, 0, 1100);
    assert_least(MYR_BROADCAST, MYR_ALGORITHM_RING, three, 2400, 300, 1200);
    assert_least(MYR_BROADCAST, MYR_ALGORITHM_RING, uneven, 1200, 150, 1200);
    assert_least(MYR_BROADCAST, MYR_ALGORITHM_TREE, one, 0, 0, 1200);
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
        cmocka_unit_test(broadcasts_bring_every_chunk_to_every_rank_once),
        cmocka_unit_test(every_rank_hears_of_every_other_in_all_schedules),
        cmocka_unit_test(a_tree_of_every_rank_brings_each_piece_once),
        cmocka_unit_test(both_forms_move_the_same_bytes),
        cmocka_unit_test(the_least_bytes_follow_from_the_domains_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
