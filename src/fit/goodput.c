#include "myriad/fit/goodput.h"

/*
 * exp by halving the argument until it is small, a Taylor polynomial, and squaring back. Plain
 * IEEE additions and multiplications only: the last bit may be off, but it is off everywhere alike.
 */
double myr_exp(double x)
{
    enum { TERMS = 14 };
    uint32_t halvings = 0;
    double size = x < 0 ? -x : x;
    if (size > 700) {
        return x < 0 ? 0 : 1e300;
    }
    while (size > 0.0625) {
        size /= 2;
        halvings++;
    }
    double small = x < 0 ? -size : size, sum = 1;
    for (uint32_t i = TERMS; i > 0; i--) {
        sum = 1 + sum * small / i;
    }
    for (uint32_t i = 0; i < halvings; i++) {
        sum *= sum;
    }
    return sum;
}

/* Expected time that a recovery takes when failures strike it too and it starts again. */
static double with_retries(double seconds, double rate)
{
    return rate > 0 ? (myr_exp(rate * seconds) - 1) / rate : seconds;
}

/*
 * Expected values over one durable period. In state i, i segments are done. A segment of length d
 * ends without failure with probability p = exp(-L d); the time spent in it is (1 - p) / L. With
 * E_i the expected time from state i to the end,
 *
 *     E_i = a_i + p_i E_{i+1} + (1 - p_i) (q (r1 + E_i) + (1 - q) (r2 + E_0)),   E_n = 0,
 *
 * where q is the share of failures that a quick copy heals. E_i is linear in E_0: carried back from
 * the end as u_i + v_i E_0, and E_0 = u_0 / (1 - v_0). All segments but the last are alike, so the
 * step from i + 1 to i is one affine map, applied n - 1 times by squaring: no sum is a difference,
 * nothing cancels, and long periods cost no more than short ones.
 */
struct carried {
    double constant, of_first;
};

struct map { /* x -> add + scale * x, for both parts of a carried value */
    struct carried add;
    double scale;
};

static struct carried apply(const struct map *map, struct carried x)
{
    return (struct carried){map->add.constant + map->scale * x.constant,
                            map->add.of_first + map->scale * x.of_first};
}

static struct carried repeat(struct map map, uint32_t times, struct carried x)
{
    for (; times; times /= 2) {
        if (times % 2) {
            x = apply(&map, x);
        }
        map.add = apply(&map, map.add);
        map.scale *= map.scale;
    }
    return x;
}

struct period {
    double total;      /* expected seconds */
    double recovering; /* of them */
};

/* What all segments share. */
struct failing {
    double rate, share; /* share: healed by a quick copy */
    double quick, durable;
};

/* The steps back over one segment: expected time, and the part of it spent recovering. */
static void segment(const struct failing *f, double length, struct map *time, struct map *lost)
{
    double survive = myr_exp(-f->rate * length), fail = 1 - survive;
    double spent = f->rate > 0 ? fail / f->rate : length;
    double stay = 1 - fail * f->share; /* E_i appears on both sides */
    double wait = fail * (f->share * f->quick + (1 - f->share) * f->durable);
    double of_first = fail * (1 - f->share) / stay;
    *time = (struct map){{(spent + wait) / stay, of_first}, survive / stay};
    *lost = (struct map){{wait / stay, of_first}, survive / stay};
}

static double closed(struct carried x)
{
    return x.of_first < 1 ? x.constant / (1 - x.of_first) : 1e300;
}

static struct period solve(const struct myr_renewal *renewal)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    struct failing f = {rate, rate > 0 ? renewal->quick.rate / rate : 0,
                        with_retries(renewal->quick.recovery, rate),
                        with_retries(renewal->durable.recovery, rate)};
    bool tiers = renewal->quick.rate > 0;
    double last = renewal->durable.stall + (tiers ? renewal->quick.stall : 0);
    struct map time, lost;
    segment(&f, renewal->interval + last, &time, &lost);
    struct carried total = time.add, waiting = lost.add;
    segment(&f, renewal->interval + renewal->quick.stall, &time, &lost);
    total = repeat(time, renewal->per_period - 1, total);
    waiting = repeat(lost, renewal->per_period - 1, waiting);
    return (struct period){closed(total), closed(waiting)};
}

struct myr_goodput myr_goodput_of(const struct myr_renewal *renewal)
{
    MYR_ASSERT(renewal->per_period > 0);
    MYR_ASSERT(renewal->interval > 0);
    struct period period = solve(renewal);
    double rate = renewal->quick.rate + renewal->durable.rate;
    double work = renewal->interval * renewal->per_period;
    bool tiers = renewal->quick.rate > 0;
    double stall = renewal->durable.stall +
                   renewal->quick.stall * (tiers ? renewal->per_period : renewal->per_period - 1);
    struct myr_goodput result = {
        .goodput = work / period.total,
        .stalled = stall / period.total,
        .recovering = period.recovering / period.total,
        .failures_per_day = rate * 86400,
        .mean_time_between_s = rate > 0 ? 1 / rate : 0,
    };
    result.repeated = 1 - result.goodput - result.stalled - result.recovering;
    result.repeated = result.repeated < 0 ? 0 : result.repeated;
    return result;
}

static double at_interval(struct myr_renewal renewal, double interval)
{
    renewal.interval = interval;
    return myr_goodput_of(&renewal).goodput;
}

/* Goodput has one maximum in the interval: golden section, on a logarithmic scale by factors. */
static double best_interval(const struct myr_renewal *renewal)
{
    double low = 0.1, high = 0.1, step = 1.5;
    double value = at_interval(*renewal, low);
    for (uint32_t i = 0; i < 60; i++) {
        double next = at_interval(*renewal, high * step);
        if (next < value) {
            break;
        }
        value = next;
        low = high;
        high *= step;
    }
    high *= step;
    for (uint32_t i = 0; i < 64; i++) {
        double width = high - low;
        double a = low + 0.381966 * width, b = low + 0.618034 * width;
        if (at_interval(*renewal, a) < at_interval(*renewal, b)) {
            low = a;
        } else {
            high = b;
        }
    }
    return (low + high) / 2;
}

struct myr_renewal myr_goodput_optimum(const struct myr_renewal *renewal)
{
    return myr_goodput_optimum_within(renewal, 0, 0);
}

struct myr_renewal myr_goodput_optimum_within(const struct myr_renewal *renewal,
                                              double interval_least, double period_least)
{
    struct myr_renewal best = *renewal, tried = *renewal;
    uint32_t most = renewal->quick.rate > 0 ? 4096 : 1;
    double best_value = -1;
    for (uint32_t n = 1; n <= most; n += n < 16 ? 1 : n / 8) {
        tried.per_period = n;
        tried.interval = best_interval(&tried);
        /* One maximum: where it is not allowed, the nearest allowed interval is the best. */
        double least = period_least / n > interval_least ? period_least / n : interval_least;
        tried.interval = tried.interval < least ? least : tried.interval;
        double value = myr_goodput_of(&tried).goodput;
        if (value > best_value) {
            best_value = value;
            best = tried;
        }
    }
    return best;
}

double myr_goodput_recovery_for(const struct myr_renewal *renewal, double goodput)
{
    struct myr_renewal tried = *renewal;
    double low = 0, high = 30 * 86400.0;
    for (uint32_t i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        tried.durable.recovery = middle;
        struct myr_renewal best = myr_goodput_optimum(&tried);
        if (myr_goodput_of(&best).goodput >= goodput) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
