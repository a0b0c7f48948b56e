#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "myriad/base/rng.h"
#include "myriad/nccl.h"

#define RANKS_MAX 64
#define SECOND    1000000000ll
#define LIMIT     (10 * SECOND)

/* Ranks that all have begun 'number' collectives and are in the last for 'open_ns'. */
static void all_in(struct myr_nccl_state *states, int32_t ranks, uint64_t number, int64_t now,
                   int64_t open_ns)
{
    for (int32_t i = 0; i < ranks; i++) {
        states[i] = (struct myr_nccl_state){
            .rank = i, .ranks = ranks, .nodes = 1, .begun = number, .ended = number - 1};
        states[i].oldest =
            (struct myr_nccl_op){.number = number, .count = 4096, .begun_ns = now - open_ns};
        snprintf(states[i].oldest.kind, MYR_NCCL_TEXT_MAX, "AllReduce");
        states[i].last = states[i].oldest;
        states[i].open_count = 1;
    }
}

static struct myr_nccl_verdict judge(const struct myr_nccl_state *states, int32_t count,
                                     int64_t now)
{
    struct myr_nccl_verdict verdict;
    myr_nccl_judge(states, (uint32_t)count, now, LIMIT, &verdict);
    return verdict;
}

/* A rank that is behind has ended what it began before, and sits in nothing. */
static void put_behind(struct myr_nccl_state *state, uint64_t by)
{
    state->begun -= by;
    state->ended = state->begun;
    state->oldest = (struct myr_nccl_op){0};
    state->open_count = 0;
}

static void the_rank_that_keeps_the_others_waiting_is_named(void **unused)
{
    (void)unused;
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 9);
    for (int round = 0; round < 1000; round++) {
        struct myr_nccl_state states[RANKS_MAX];
        int32_t ranks = 3 + (int32_t)myr_rng_below(&rng, RANKS_MAX - 2);
        int32_t one = (int32_t)myr_rng_below(&rng, (uint32_t)ranks);
        uint64_t number = 10 + myr_rng_below(&rng, 1000);
        int64_t now = 1000 * SECOND, open_ns = LIMIT + myr_rng_below(&rng, 1000) * SECOND / 10;
        all_in(states, ranks, number, now, open_ns);
        struct myr_nccl_verdict verdict = judge(states, ranks, now);
        assert_int_equal(verdict.blame, MYR_NCCL_STUCK);
        assert_int_equal(verdict.rank, -1);
        assert_int_equal(verdict.open_ns, open_ns);
        assert_int_equal(verdict.number, number);
        /* One is missing among the states: it may be the one, and none that is seen is named. */
        states[one] = states[ranks - 1];
        assert_int_equal(judge(states, ranks - 1, now).blame, MYR_NCCL_UNSEEN);
        all_in(states, ranks, number, now, open_ns);
        states[one].oldest.count = 4097;
        verdict = judge(states, ranks, now);
        assert_int_equal(verdict.blame, MYR_NCCL_DIFFERENT);
        assert_int_equal(verdict.rank, one);
        /* Not to have entered weighs more than to have entered another one. */
        int32_t other = (one + 1) % ranks;
        put_behind(&states[other], 1 + myr_rng_below(&rng, 9));
        verdict = judge(states, ranks, now);
        assert_int_equal(verdict.blame, MYR_NCCL_NOT_ENTERED);
        assert_int_equal(verdict.rank, other);
        /* Of two that are behind the last one keeps the other too. */
        put_behind(&states[one], 10);
        assert_int_equal(judge(states, ranks, now).rank, one);
    }
}

static void who_goes_on_is_well(void **unused)
{
    (void)unused;
    struct myr_nccl_state states[8];
    int64_t now = 1000 * SECOND;
    all_in(states, 8, 5, now, LIMIT - 1);
    assert_int_equal(judge(states, 8, now).blame, MYR_NCCL_WELL);
    put_behind(&states[3], 1);
    assert_int_equal(judge(states, 8, now).blame, MYR_NCCL_WELL);
    for (int i = 0; i < 8; i++) {
        put_behind(&states[i], 0);
    }
    assert_int_equal(judge(states, 8, now).blame, MYR_NCCL_WELL);
    assert_int_equal(judge(states, 0, now).blame, MYR_NCCL_WELL);
}

/* Sends have no number: nobody can be named for them, and a collective beside them still can. */
static void a_send_that_hangs_names_nobody(void **unused)
{
    (void)unused;
    struct myr_nccl_state states[4];
    int64_t now = 1000 * SECOND;
    all_in(states, 4, 7, now, LIMIT);
    for (int i = 0; i < 4; i++) {
        states[i].oldest.number = 0;
    }
    put_behind(&states[2], 1);
    assert_int_equal(judge(states, 4, now).blame, MYR_NCCL_STUCK);
    assert_int_equal(judge(states, 4, now).rank, -1);
    assert_int_equal(judge(states, 4, now).number, 0);
    states[1].oldest.number = 7;
    assert_int_equal(judge(states, 4, now).blame, MYR_NCCL_NOT_ENTERED);
    assert_int_equal(judge(states, 4, now).rank, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rank_that_keeps_the_others_waiting_is_named),
        cmocka_unit_test(who_goes_on_is_well),
        cmocka_unit_test(a_send_that_hangs_names_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
