#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim.h"

/*
 * Both forms of every schedule of a few ranks, to the last send: other tests say that a schedule
 * is right, this one that it stays the one that it is.
 */

static void put_plan(struct myr_buf *text, const struct myr_collective_shape *shape)
{
    MYR_CLEANUP(myr_schedule_plan_done) struct myr_schedule_plan plan = {};
    struct myr_err err = {};
    if (myr_collective_plan(shape, &plan, &err) < 0) {
        myr_buf_printf(text, "  %s: %s\n", myr_err_name(err.code), err.message);
        return;
    }
    for (size_t i = 0; i < plan.rounds.count; i++) {
        const struct myr_round *round = &plan.rounds.items[i];
        myr_buf_printf(text, "  round %zu: %llu bytes, %u hops%s", i,
                       (unsigned long long)round->bytes, round->hops,
                       round->cyclic ? ", cyclic" : "");
        for (uint32_t k = 0; k < 2; k++) {
            if (round->after[k] != MYR_NONE) {
                myr_buf_printf(text, ", after %u", round->after[k]);
            }
        }
        myr_buf_printf(text, ", pairs from %u:", round->first_pair);
        for (uint32_t k = 0; k < round->pair_count; k++) {
            struct myr_pair pair = plan.pairs.items[round->first_pair + k];
            myr_buf_printf(text, " %u>%u", pair.from, pair.to);
        }
        myr_buf_putc(text, '\n');
    }
}

/* "0>1 500 s2 c1.0 h2 <3,4 ~5": bytes, step, channel and chunk, hops, after whom, whom it follows.
 */
static void put_sends(struct myr_buf *text, const struct myr_collective_shape *shape)
{
    MYR_CLEANUP(myr_sends_done) struct myr_sends sends = {};
    struct myr_err err = {};
    if (myr_collective_sends(shape, &sends, &err) < 0) {
        myr_buf_printf(text, "  %s: %s\n", myr_err_name(err.code), err.message);
        return;
    }
    assert_int_equal(sends.items.count, myr_collective_send_count(shape));
    myr_buf_printf(text, "  %zu sends:", sends.items.count);
    for (size_t i = 0; i < sends.items.count; i++) {
        const struct myr_send *send = &sends.items.items[i];
        myr_buf_printf(text, "%s %u>%u %llu s%u c%u.%u h%u", i % 4 ? ";" : "\n   ", send->from,
                       send->to, (unsigned long long)send->bytes, send->step, send->channel,
                       send->chunk, send->hops);
        for (uint32_t k = 0; k < send->after_count; k++) {
            myr_buf_printf(text, "%c%u", k ? ',' : '<', sends.after.items[send->first_after + k]);
        }
        if (send->follows != MYR_NONE) {
            myr_buf_printf(text, " ~%u", send->follows);
        }
    }
    myr_buf_putc(text, '\n');
}

/* Ranks, ranks of a domain, chunks, window. */
static const uint32_t sizes[][4] = {{4, 2, 1, 0}, {6, 3, 2, 2}, {5, 1, 3, 0}, {4, 4, 2, 1}};

static void schedules_are_what_they_were(void **state)
{
    (void)state;
    static const enum myr_collective kinds[] = {MYR_ALL_REDUCE, MYR_ALL_GATHER, MYR_REDUCE_SCATTER,
                                                MYR_ALL_TO_ALL, MYR_BROADCAST};
    MYR_CLEANUP(myr_buf_done) struct myr_buf plans = {}, sends = {};
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        for (uint32_t a = 0; a < MYR_ALGORITHM_AUTO; a++) {
            for (uint32_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
                struct myr_collective_shape shape = {
                    kinds[k], (enum myr_algorithm)a, sizes[i][0], sizes[i][1],
                    1003,     sizes[i][2],           sizes[i][3]};
                struct myr_buf *texts[] = {&plans, &sends};
                for (uint32_t t = 0; t < 2; t++) {
                    myr_buf_printf(texts[t],
                                   "%s, %s, %u ranks, %u a domain, %u chunks, window %u\n",
                                   myr_collective_name(kinds[k]), myr_algorithm_names[a],
                                   shape.ranks, shape.local, shape.chunks, shape.window);
                }
                put_plan(&plans, &shape);
                put_sends(&sends, &shape);
            }
        }
    }
    assert_kept("sim-plans.txt", &plans);
    assert_kept("sim-sends.txt", &sends);
}

/* Ranks of a domain and chunks that nobody has said: 0, which is as 1. */
static void what_is_not_said_of_a_schedule_is_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5 * MYR_ALGORITHM_AUTO * 6; i++) {
        struct myr_collective_shape shape = {.collective = (enum myr_collective)(i % 5),
                                             .algorithm = i / 5 % MYR_ALGORITHM_AUTO,
                                             .ranks = 2 + i / (5 * MYR_ALGORITHM_AUTO),
                                             .local = 1,
                                             .bytes = 4096,
                                             .chunks = 1};
        MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
        put_plan(&said, &shape);
        put_sends(&said, &shape);
        for (uint32_t zero = 1; zero < 4; zero++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf unsaid = {};
            shape.local = zero & 1 ? 0 : 1;
            shape.chunks = zero & 2 ? 0 : 1;
            put_plan(&unsaid, &shape);
            put_sends(&unsaid, &shape);
            assert_string_equal(unsaid.data, said.data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_are_what_they_were),
        cmocka_unit_test(what_is_not_said_of_a_schedule_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
