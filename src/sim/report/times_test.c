#include "myriad/sim/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"

/* Tasks made up, without a fabric: what was played does not matter here. */
struct made_up {
    struct myr_sim *sim;
    struct myr_arena arena;
};

static struct made_up make(void)
{
    struct made_up made = {.sim = myr_xcalloc(1, sizeof(struct myr_sim))};
    myr_arena_init(&made.arena);
    return made;
}

static void unmake(struct made_up *made)
{
    myr_vec_done(&made->sim->tasks);
    myr_vec_done(&made->sim->patterns);
    free(made->sim);
    myr_arena_done(&made->arena);
}

static void put_transfer(struct myr_sim *sim, uint32_t flows, myr_ps start, myr_ps time)
{
    struct sim_pattern pattern = {.message_count = flows};
    struct sim_task task = {.kind = SIM_TRANSFER,
                            .pattern = (uint32_t)sim->patterns.count,
                            .start = start,
                            .end = start + time};
    myr_vec_push(&sim->patterns, pattern);
    myr_vec_push(&sim->tasks, task);
}

static void put_compute(struct myr_sim *sim, myr_ps time)
{
    struct sim_task task = {.kind = SIM_COMPUTE, .end = time};
    myr_vec_push(&sim->tasks, task);
}

static int by_value(const void *a, const void *b)
{
    myr_ps left = *(const myr_ps *)a, right = *(const myr_ps *)b;
    return left < right ? -1 : left > right;
}

/* Every flow on its own, sorted; the percentile by its definition, counted. */
static myr_ps naive_percentile(const myr_ps *flows, size_t count, uint32_t percent)
{
    for (size_t i = 0; i < count; i++) {
        size_t ended = 0;
        for (size_t k = 0; k < count; k++) {
            ended += flows[k] <= flows[i];
        }
        if (ended * 100 >= (size_t)percent * count) {
            return flows[i];
        }
    }
    return 0;
}

static void percentiles_are_those_of_a_sort_of_every_flow(void **state)
{
    (void)state;
    enum { CASES = 200, TRANSFERS_MAX = 20, FLOWS_MAX = 9 };
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct made_up made = make();
        struct myr_rng rng;
        struct myr_times times;
        myr_ps flows[TRANSFERS_MAX * FLOWS_MAX];
        size_t count = 0;
        double sum = 0;
        myr_rng_init(&rng, seed, 0);
        uint32_t transfers = 1 + (uint32_t)myr_rng_below(&rng, TRANSFERS_MAX);
        for (uint32_t i = 0; i < transfers; i++) {
            uint32_t each = 1 + (uint32_t)myr_rng_below(&rng, FLOWS_MAX);
            myr_ps time = 1000 * (myr_ps)myr_rng_below(&rng, 12); /* ties are common */
            put_transfer(made.sim, each, (myr_ps)myr_rng_below(&rng, 1000), time);
            put_compute(made.sim, 999999);
            for (uint32_t k = 0; k < each; k++) {
                flows[count++] = time;
                sum += (double)time;
            }
        }
        qsort(flows, count, sizeof(*flows), by_value);
        myr_times_collect(&times, &made.arena, made.sim, 0, (uint32_t)made.sim->tasks.count);
        assert_int_equal(times.flows, count);
        for (uint32_t percent = 0; percent <= 100; percent++) {
            myr_ps want = naive_percentile(flows, count, percent);
            if (myr_times_percentile(&times, percent) != want) {
                fail_msg("seed %llu: p%u is %lld, not %lld", (unsigned long long)seed, percent,
                         (long long)myr_times_percentile(&times, percent), (long long)want);
            }
        }
        double mean = sum / (double)count / 1e6;
        assert_true(myr_times_mean_us(&times) >= mean * (1 - 1e-12) &&
                    myr_times_mean_us(&times) <= mean * (1 + 1e-12) + 1e-15);
        unmake(&made);
    }
}

static void a_round_of_many_flows_counts_as_many_times(void **state)
{
    (void)state;
    struct made_up made = make();
    struct myr_times times;
    /* A hierarchical all-reduce of 10,240 GPUs: two short rounds and a long one. */
    put_transfer(made.sim, 10240, 0, 1947 * MYR_PS_PER_US);
    put_transfer(made.sim, 10240, 0, 8121 * MYR_PS_PER_US);
    put_transfer(made.sim, 10240, 0, 1947 * MYR_PS_PER_US);
    myr_times_collect(&times, &made.arena, made.sim, 0, 3);
    assert_int_equal(times.flows, 30720);
    assert_int_equal(myr_times_percentile(&times, 50), 1947 * MYR_PS_PER_US);
    assert_int_equal(myr_times_percentile(&times, 66), 1947 * MYR_PS_PER_US);
    assert_int_equal(myr_times_percentile(&times, 67), 8121 * MYR_PS_PER_US);
    assert_int_equal(myr_times_percentile(&times, 99), 8121 * MYR_PS_PER_US);
    assert_int_equal(myr_times_percentile(&times, 100), 8121 * MYR_PS_PER_US);
    assert_true(myr_times_mean_us(&times) == 4005);
    unmake(&made);
}

static void only_the_tasks_named_are_counted(void **state)
{
    (void)state;
    struct made_up made = make();
    struct myr_times times;
    put_transfer(made.sim, 1, 0, 5);
    put_transfer(made.sim, 2, 0, 7);
    put_compute(made.sim, 100);
    put_transfer(made.sim, 4, 0, 9);
    myr_times_collect(&times, &made.arena, made.sim, 1, 2);
    assert_int_equal(times.flows, 2);
    assert_int_equal(myr_times_percentile(&times, 0), 7);
    assert_int_equal(myr_times_percentile(&times, 100), 7);
    unmake(&made);
}

static void without_flows_there_is_no_time(void **state)
{
    (void)state;
    struct made_up made = make();
    struct myr_times times;
    put_compute(made.sim, 100);
    myr_times_collect(&times, &made.arena, made.sim, 0, 1);
    assert_int_equal(times.flows, 0);
    assert_int_equal(myr_times_percentile(&times, 99), 0);
    assert_true(myr_times_mean_us(&times) == 0);
    unmake(&made);
}

static void times_are_shown_in_the_unit_of_their_size(void **state)
{
    (void)state;
    static const struct {
        myr_ps time;
        const char *text;
    } cases[] = {
        {0, "0.000 ns"},
        {999, "0.999 ns"},
        {1000, "1.000 ns"},
        {999999, "999.999 ns"},
        {1000000, "1.000 us"},
        {1947944000, "1.948 ms"},
        {999 * MYR_PS_PER_US, "999.000 us"},
        {999999400, "999.999 us"}, /* what is written decides over the unit */
        {999999600, "1.000 ms"},
        {999999400000, "999.999 ms"},
        {999999600000, "1.000 s"},
        {MYR_PS_PER_S, "1.000 s"},
        {61 * MYR_PS_PER_S, "61.000 s"},
    };
    struct myr_arena arena;
    myr_arena_init(&arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_string_equal(myr_times_text(&arena, cases[i].time), cases[i].text);
    }
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_those_of_a_sort_of_every_flow),
        cmocka_unit_test(a_round_of_many_flows_counts_as_many_times),
        cmocka_unit_test(only_the_tasks_named_are_counted),
        cmocka_unit_test(without_flows_there_is_no_time),
        cmocka_unit_test(times_are_shown_in_the_unit_of_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
