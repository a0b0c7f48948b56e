#include "myriad/fit/goodput.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define NODE_DAYS(per_1000, nodes) ((per_1000) / 1000.0 / 86400.0 * (nodes))

static struct myr_renewal one_tier(double rate, double recovery, double stall, double interval)
{
    return (struct myr_renewal){
        .durable = {rate, recovery, stall}, .interval = interval, .per_period = 1};
}

static void our_exponential_is_libm_s(void **state)
{
    (void)state;
    for (double x = -30; x < 30; x += 0.37) {
        assert_true(fabs(myr_exp(x) / exp(x) - 1) < 1e-12);
    }
}

static void one_tier_is_dalys_formula(void **state)
{
    (void)state;
    double rate = 1.0 / 11000, recovery = 600, stall = 10, interval = 471;
    struct myr_renewal renewal = one_tier(rate, recovery, stall, interval);
    double expected =
        interval / (exp(rate * recovery) / rate * (exp(rate * (interval + stall)) - 1));
    assert_true(fabs(myr_goodput_of(&renewal).goodput / expected - 1) < 1e-9);
}

/* Exponential times from the counter-based stream; libm is fine in a test. */
static double draw(struct myr_rng *rng, double rate)
{
    double u = ((double)myr_rng_u32(rng) + 0.5) / 4294967296.0;
    return -log(u) / rate;
}

/* The same process, played out: returns the share of time kept after many periods. */
static double play(const struct myr_renewal *r, uint64_t seed, uint32_t periods)
{
    struct myr_rng rng;
    double time = 0, rate = r->quick.rate + r->durable.rate;
    myr_rng_init(&rng, seed, 0);
    for (uint32_t p = 0; p < periods; p++) {
        uint32_t done = 0;
        while (done < r->per_period) {
            bool last = done + 1 == r->per_period, tiers = r->quick.rate > 0;
            double stall = last ? r->durable.stall + (tiers ? r->quick.stall : 0) : r->quick.stall;
            double length = r->interval + stall, failure = draw(&rng, rate);
            if (failure >= length) {
                time += length;
                done++;
                continue;
            }
            time += failure;
            bool lesser = draw(&rng, 1) < -log(1 - r->quick.rate / rate);
            double recovery = lesser ? r->quick.recovery : r->durable.recovery;
            for (double again = draw(&rng, rate); again < recovery; again = draw(&rng, rate)) {
                time += again;
            }
            time += recovery;
            done = lesser ? done : 0;
        }
    }
    return r->interval * r->per_period * periods / time;
}

static void agrees_with(const struct myr_renewal *renewal, uint32_t periods)
{
    enum { RUNS = 30 };
    double sum = 0, squares = 0, exact = myr_goodput_of(renewal).goodput;
    for (uint32_t i = 0; i < RUNS; i++) {
        double value = play(renewal, i + 1, periods);
        sum += value;
        squares += value * value;
    }
    double mean = sum / RUNS;
    double error = sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
    if (fabs(mean - exact) > 4 * error + 1e-4) {
        fail_msg("exact %.5f, played %.5f +- %.5f", exact, mean, error);
    }
}

static void the_exact_model_agrees_with_playing_it_out(void **state)
{
    (void)state;
    struct myr_renewal single = one_tier(1.0 / 1800, 600, 10, 190);
    agrees_with(&single, 2000);
    struct myr_renewal two = {.quick = {1.0 / 2500, 60, 0.5},
                              .durable = {1.0 / 20000, 900, 30},
                              .interval = 45,
                              .per_period = 40};
    agrees_with(&two, 300);
    two.quick.rate = 1.0 / 600;
    agrees_with(&two, 200);
}

static void the_best_interval_is_a_maximum(void **state)
{
    (void)state;
    struct myr_renewal renewal = one_tier(NODE_DAYS(3.8, 2048), 600, 10, 1);
    struct myr_renewal best = myr_goodput_optimum(&renewal);
    double top = myr_goodput_of(&best).goodput;
    for (double factor = 0.5; factor < 2; factor += 0.1) {
        struct myr_renewal other = best;
        other.interval *= factor;
        assert_true(myr_goodput_of(&other).goodput <= top + 1e-12);
    }
    /* Young's square root is near it where failures are rare against the stall. */
    assert_true(fabs(best.interval / 471 - 1) < 0.02);
}

/* First-order table: 16,384 GPUs at 3.8 per 1,000 node-days, C = 10 s, R = 600 s gives 90.4 %. */
static void first_order_is_near_where_failures_are_rare(void **state)
{
    (void)state;
    const struct {
        double gpus, first_order, within;
    } rows[] = {{1024, 0.986, 0.002}, {8192, 0.943, 0.005}, {16384, 0.904, 0.01}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_renewal renewal = one_tier(NODE_DAYS(3.8, rows[i].gpus / 8), 600, 10, 1);
        struct myr_renewal best = myr_goodput_optimum(&renewal);
        assert_true(fabs(myr_goodput_of(&best).goodput - rows[i].first_order) < rows[i].within);
    }
}

static void published_rates_give_published_times(void **state)
{
    (void)state;
    /* RSC: 6.5 per 1,000 node-days is 1.8 h at 16,384 and 0.23 h at 131,072 GPUs. */
    struct myr_renewal renewal = one_tier(NODE_DAYS(6.5, 2048), 600, 10, 600);
    assert_true(fabs(myr_goodput_of(&renewal).mean_time_between_s / 3600 - 1.8) < 0.05);
    renewal.durable.rate = NODE_DAYS(6.5, 16384);
    assert_true(fabs(myr_goodput_of(&renewal).mean_time_between_s / 3600 - 0.225) < 0.01);
    /* Llama 3: 16,384 GPUs, at least 90 % with a 10-minute recovery and a 10 s stall. */
    renewal = one_tier(NODE_DAYS(3.8, 2048), 600, 10, 600);
    struct myr_renewal best = myr_goodput_optimum(&renewal);
    assert_true(myr_goodput_of(&best).goodput > 0.90);
    /*
     * Meta at 100,000 GPUs and RSC-1's rate: a 10-minute stall with checkpoints 10 minutes apart
     * gives 44 % within 2 points; 3 minutes, and 2 minutes of work at risk, give 80 %.
     */
    renewal = one_tier(NODE_DAYS(6.5, 12500), 600, 0.001, 560);
    assert_true(fabs(myr_goodput_of(&renewal).goodput - 0.44) < 0.02);
    renewal = one_tier(NODE_DAYS(6.5, 12500), 180, 0.001, 120);
    assert_true(fabs(myr_goodput_of(&renewal).goodput - 0.80) < 0.02);
}

static void recovery_parts_sum_to_the_two_practices(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_recovery recovery;
    struct myr_err err = {0};
    const double gpus[] = {1024, 16384, 100000};
    const double common[] = {716, 794, 997}, best[] = {34, 46, 69};
    myr_arena_init(&arena);
    assert_int_equal(myr_recovery_init(&recovery, &arena, &err), MYR_OK);
    assert_int_equal(recovery.rows.count, 138);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(gpus); i++) {
        double seconds;
        assert_int_equal(
            myr_recovery_seconds(&recovery, MYR_PRACTICE_COMMON, gpus[i], &seconds, &err), MYR_OK);
        assert_true(fabs(seconds - common[i]) < 1.5);
        assert_int_equal(
            myr_recovery_seconds(&recovery, MYR_PRACTICE_BEST, gpus[i], &seconds, &err), MYR_OK);
        assert_true(fabs(seconds - best[i]) < 1.5);
    }
    myr_recovery_done(&recovery);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_exponential_is_libm_s),
        cmocka_unit_test(one_tier_is_dalys_formula),
        cmocka_unit_test(the_exact_model_agrees_with_playing_it_out),
        cmocka_unit_test(the_best_interval_is_a_maximum),
        cmocka_unit_test(first_order_is_near_where_failures_are_rare),
        cmocka_unit_test(published_rates_give_published_times),
        cmocka_unit_test(recovery_parts_sum_to_the_two_practices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
