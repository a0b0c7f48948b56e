#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/fit/goodput.h"

static double uniform(struct myr_rng *rng)
{
    return ((double)myr_rng_u32(rng) + 0.5) / 4294967296.0;
}

/* Uniform in its logarithm. */
static double between(struct myr_rng *rng, double low, double high)
{
    return low * exp(uniform(rng) * log(high / low));
}

static struct myr_renewal random_renewal(struct myr_rng *rng)
{
    struct myr_renewal r = {
        .durable = {between(rng, 1e-6, 1e-4), between(rng, 10, 2000), between(rng, 0.1, 60)},
        .interval = between(rng, 50, 4000),
        .per_period = 1};
    if (myr_rng_below(rng, 3) > 0) {
        r.quick = (struct myr_tier){between(rng, 1e-5, 1e-3), between(rng, 5, 300),
                                    between(rng, 0.05, 5)};
        r.interval = between(rng, 5, 300);
        r.per_period = 1 + myr_rng_below(rng, 20);
    }
    return r;
}

/* What failures add to one period, played out. */
static double play(const struct myr_renewal *r, struct myr_rng *rng)
{
    double rate = r->quick.rate + r->durable.rate, added = 0;
    double length = r->interval + r->quick.stall;
    for (uint32_t done = 0; done < r->per_period;) {
        bool last = done + 1 == r->per_period;
        double whole = length + (last ? r->durable.stall : 0), x = -log(uniform(rng)) / rate;
        if (x >= whole) {
            done++;
            continue;
        }
        bool quick = uniform(rng) < r->quick.rate / rate;
        double recovery = quick ? r->quick.recovery : r->durable.recovery;
        added += x + recovery + (quick ? 0 : done * length);
        for (double y; (y = -log(uniform(rng)) / rate) < recovery;) {
            added += y;
        }
        done = quick ? done : 0;
    }
    return added;
}

static double length_of(const struct myr_renewal *r)
{
    return r->per_period * (r->interval + r->quick.stall) + r->durable.stall;
}

static void the_mean_is_that_of_the_exact_model(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        struct myr_renewal r = random_renewal(&rng);
        double exact = r.interval * r.per_period / myr_goodput_of(&r).goodput;
        double mean = length_of(&r) + myr_goodput_scatter(&r).mean;
        if (fabs(mean / exact - 1) > 1e-9) {
            fail_msg("seed %u: %.12g s, exact %.12g s", seed, mean, exact);
        }
    }
}

static void moments_are_those_of_periods_played_out(void **state)
{
    (void)state;
    enum { CASES = 12, PERIODS = 60000 };
    for (uint32_t seed = 1; seed <= CASES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 2);
        struct myr_renewal r = random_renewal(&rng);
        r.durable.rate = between(&rng, 1e-4, 1e-3); /* enough failures to average over */
        struct myr_scatter s = myr_goodput_scatter(&r);
        double sums[5] = {};
        for (uint32_t i = 0; i < PERIODS; i++) {
            double off = play(&r, &rng) - s.mean, power = 1;
            for (uint32_t k = 1; k < 5; k++) {
                sums[k] += (power *= off) / PERIODS;
            }
        }
        double error = sqrt((sums[4] - sums[2] * sums[2]) / PERIODS); /* of the variance */
        if (fabs(sums[1]) > 5 * sqrt(s.variance / PERIODS) ||
            fabs(sums[2] - s.variance) > 5 * error || fabs(sums[3] / s.third - 1) > 0.5) {
            fail_msg("seed %u: mean off by %g, variance %g and %g, third %g and %g", seed, sums[1],
                     s.variance, sums[2], s.third, sums[3]);
        }
    }
}

/* Whole runs, from less than one failure to hundreds: nine of ten end inside. */
static void nine_runs_of_ten_end_within_the_range(void **state)
{
    (void)state;
    enum { CASES = 60, RUNS = 300 };
    double covered = 0;
    for (uint32_t seed = 1; seed <= CASES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 3);
        struct myr_renewal r = random_renewal(&rng);
        double rate = r.quick.rate + r.durable.rate, low, high;
        uint32_t periods = 1 + (uint32_t)(between(&rng, 0.2, 200) / rate / length_of(&r));
        uint32_t inside = 0;
        myr_goodput_range(&r, periods, &low, &high);
        for (uint32_t i = 0; i < RUNS; i++) {
            double added = 0;
            for (uint32_t p = 0; p < periods; p++) {
                added += play(&r, &rng);
            }
            inside += added >= low - 1e-6 && added <= high + 1e-6;
        }
        covered += (double)inside / RUNS / CASES;
        if (inside < RUNS * 85 / 100) {
            fail_msg("seed %u: %u of %u runs within %g to %g s", seed, inside, RUNS, low, high);
        }
    }
    assert_true(covered > 0.90 && covered < 0.97);
}

static void one_tier_has_no_quick_copies(void **state)
{
    (void)state;
    struct myr_renewal one = {.durable = {1e-4, 600, 30}, .interval = 900, .per_period = 1};
    struct myr_renewal same = one;
    double range[4];
    same.quick = (struct myr_tier){0, 50, 7};
    myr_goodput_range(&one, 40, &range[0], &range[1]);
    myr_goodput_range(&same, 40, &range[2], &range[3]);
    assert_true(range[0] == range[2] && range[1] == range[3]);
    assert_true(myr_goodput_of(&one).goodput == myr_goodput_of(&same).goodput);
}

static void without_failures_nothing_scatters(void **state)
{
    (void)state;
    struct myr_renewal r = {.durable = {1e-18, 600, 30}, .interval = 1e5, .per_period = 1};
    double low, high;
    myr_goodput_range(&r, 100, &low, &high);
    assert_true(low == 0 && high >= 0 && high < 1e-3);
    assert_true(fabs(myr_goodput_of(&r).goodput - 1e5 / (1e5 + 30)) < 1e-12);
}

/* Failures that quick copies heal, and none that they do not: as if those were too rare to see. */
static void quick_failures_alone_scatter_as_with_few_others(void **state)
{
    (void)state;
    struct myr_renewal never = {
        .quick = {1e-4, 60, 2}, .durable = {0, 600, 30}, .interval = 300, .per_period = 6};
    struct myr_renewal hardly = never;
    double range[4];
    hardly.durable.rate = 1e-15;
    myr_goodput_range(&never, 40, &range[0], &range[1]);
    myr_goodput_range(&hardly, 40, &range[2], &range[3]);
    assert_true(range[0] > 0 && range[1] > range[0] && range[1] < 1e5);
    assert_true(fabs(range[2] / range[0] - 1) < 1e-6 && fabs(range[3] / range[1] - 1) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_that_of_the_exact_model),
        cmocka_unit_test(moments_are_those_of_periods_played_out),
        cmocka_unit_test(nine_runs_of_ten_end_within_the_range),
        cmocka_unit_test(one_tier_has_no_quick_copies),
        cmocka_unit_test(without_failures_nothing_scatters),
        cmocka_unit_test(quick_failures_alone_scatter_as_with_few_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
