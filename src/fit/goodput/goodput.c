#include "myriad/fit/goodput.h"
#include "cost/numbers.h"

/*
 * exp(x) - 1 without the difference: small arguments keep all their digits, so that failures once
 * in a million years are still failures.
 */
static double exp_less_one(double x)
{
    enum { TERMS = 14 };
    uint32_t doublings = 0;
    double small = x;
    while (small > 0.0625 || small < -0.0625) {
        small /= 2;
        doublings++;
    }
    double sum = 1;
    for (uint32_t i = TERMS; i > 1; i--) {
        sum = 1 + sum * small / i;
    }
    double less = small * sum;
    for (uint32_t i = 0; i < doublings; i++) {
        less *= 2 + less;
    }
    return less;
}

/* Beyond these nothing ends; they keep every product finite. */
#define EXPONENT_MOST 500.0
#define PERIOD_MOST_S 1e300

/* Expected time that a recovery takes when failures strike it too and it starts again. */
static double with_retries(double seconds, double rate)
{
    double exponent = rate * seconds < EXPONENT_MOST ? rate * seconds : EXPONENT_MOST;
    return rate > 0 ? exp_less_one(exponent) / rate : seconds;
}

/*
 * Expected values over one durable period. In state i, i segments are done. A segment of length d
 * ends without failure with probability p = exp(-L d); the time spent in it is (1 - p) / L. With
 * E_i the expected time from state i to the end,
 *
 *     E_i = a_i + p_i E_{i+1} + (1 - p_i) (q (r1 + E_i) + (1 - q) (r2 + E_0)),   E_n = 0,
 *
 * where q is the share of failures that a quick copy heals. E_i is linear in E_0: carried back from
 * the end as u_i + (1 - w_i) E_0, so that E_0 = u_0 / w_0. w_i is the chance to reach the end from
 * state i without going back to the start, the product of p / (1 - (1 - p) q) over the segments
 * that are left. All segments but the last are alike: the step from i + 1 to i is one affine map,
 * applied n - 1 times by squaring. No sum is a difference, nothing cancels, and long periods cost
 * no more than short ones.
 */
struct map { /* x -> add + scale * x */
    double add, scale;
};

static double apply(const struct map *map, double x)
{
    return map->add + map->scale * x;
}

/* x after so many steps; the product of their scales goes into *reach. */
static double repeat(struct map map, uint32_t times, double x, double *reach)
{
    for (; times; times /= 2) {
        if (times % 2) {
            x = apply(&map, x);
            *reach *= map.scale;
        }
        map.add = apply(&map, map.add);
        map.scale *= map.scale;
    }
    return x;
}

/* From one durable copy to the next. */
struct period {
    double total;      /* expected seconds */
    double recovering; /* of them */
};

/* What all segments share. */
struct failing {
    double rate, share;    /* share: healed by a quick copy */
    double quick, durable; /* recoveries of either kind, with retries */
};

/* The steps back over one segment: expected time, and the part of it spent recovering. */
static void segment(const struct failing *f, double length, struct map *time, struct map *lost)
{
    double exponent = f->rate * length < EXPONENT_MOST ? f->rate * length : EXPONENT_MOST;
    double survive = fit_exp(-exponent), fail = -exp_less_one(-exponent);
    double spent = f->rate > 0 ? fail / f->rate : length;
    double stay = survive + fail * (1 - f->share); /* E_i appears on both sides */
    double wait = fail * (f->share * f->quick + (1 - f->share) * f->durable);
    *time = (struct map){(spent + wait) / stay, survive / stay};
    *lost = (struct map){wait / stay, survive / stay};
}

/* E_0 = u_0 / w_0, or as good as for ever. */
static double closed(double sum, double reach)
{
    return reach > 0 && sum / reach < PERIOD_MOST_S ? sum / reach : PERIOD_MOST_S;
}

/* The last segment is longer by the durable copy's stall; all others are alike. */
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
    double total = time.add, waiting = lost.add, reach = time.scale, lost_reach = lost.scale;
    segment(&f, renewal->interval + renewal->quick.stall, &time, &lost);
    total = repeat(time, renewal->per_period - 1, total, &reach);
    waiting = repeat(lost, renewal->per_period - 1, waiting, &lost_reach);
    return (struct period){closed(total, reach), closed(waiting, lost_reach)};
}

/* Shares of the expected period; what is neither kept, stalled nor recovering was done twice. */
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

/* Goodput as a function of the interval alone. */
static double at_interval(struct myr_renewal renewal, double interval)
{
    renewal.interval = interval;
    return myr_goodput_of(&renewal).goodput;
}

/*
 * Goodput has one maximum in the interval. With one tier it lies where L t = 1 - exp(-L (t + c)),
 * so t < 1 / L whatever the recovery; returning further than one segment only shortens it. From
 * there down by halves until it no longer rises, then golden section.
 */
static double best_interval(const struct myr_renewal *renewal)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    MYR_ASSERT(rate > 0);
    double low = 0.5 / rate, high = 1 / rate, value = at_interval(*renewal, high);
    for (uint32_t i = 0; i < 40; i++) {
        double next = at_interval(*renewal, low);
        if (next < value) {
            break;
        }
        value = next;
        high = low;
        low /= 2;
    }
    high = 2 * high < 1 / rate ? 2 * high : 1 / rate;
    for (uint32_t i = 0; i < 44; i++) {
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

/* One maximum: where it is not allowed, the nearest allowed interval is the best. */
static double allowed_interval(const struct myr_limits *limits, uint32_t per_period, double wanted)
{
    double interval = limits->interval > 0 ? limits->interval : wanted;
    double least = limits->interval > 0 ? 0 : limits->period_least / per_period;
    least = least > limits->interval_least ? least : limits->interval_least;
    interval = interval > least ? interval : least;
    bool over = limits->period_most > 0 && interval * per_period > limits->period_most;
    return over ? limits->period_most / per_period : interval;
}

/* The best interval and number of copies so far. */
struct search {
    struct myr_renewal best, shape; /* shape: as given, with what never ends cut short */
    const struct myr_limits *limits;
    double value; /* goodput of 'best' */
};

/* The goodput with so many quick copies in a period; the best of all is kept. */
static double try_copies(struct search *search, uint32_t per_period)
{
    struct myr_renewal tried = search->shape;
    tried.per_period = per_period;
    double wanted = search->limits->interval > 0 ? 0 : best_interval(&tried);
    tried.interval = allowed_interval(search->limits, per_period, wanted);
    double value = myr_goodput_of(&tried).goodput;
    if (value > search->value) {
        search->value = value;
        search->best = tried;
    }
    return value;
}

/* Quick copies of a period that are tried at most. */
enum { COPIES_MOST = 65536 };

static uint32_t whole(double number)
{
    return number < 1 ? 1 : number < COPIES_MOST ? (uint32_t)number : COPIES_MOST;
}

/* A hundred mean times between failures: exp(100) attempts, as good as never. */
static double cut(double seconds, double rate)
{
    return seconds * rate < 100 ? seconds : 100 / rate;
}

struct myr_renewal myr_goodput_optimum(const struct myr_renewal *renewal)
{
    return myr_goodput_optimum_within(renewal, &(struct myr_limits){});
}

struct myr_renewal myr_goodput_optimum_within(const struct myr_renewal *renewal,
                                              const struct myr_limits *limits)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    struct search search = {*renewal, *renewal, limits, -1};
    /* Where a recovery or a copy all but never ends goodput would be 0 for every interval. */
    search.shape.quick.recovery = cut(renewal->quick.recovery, rate);
    search.shape.durable.recovery = cut(renewal->durable.recovery, rate);
    search.shape.quick.stall = cut(renewal->quick.stall, rate);
    search.shape.durable.stall = cut(renewal->durable.stall, rate);
    uint32_t least = 1, most = renewal->quick.rate > 0 ? COPIES_MOST : 1;
    if (limits->interval > 0 && most > 1) {
        least = whole(limits->period_least / limits->interval + 1);
        most = limits->period_most > 0 ? whole(limits->period_most / limits->interval) : most;
        most = most > least ? most : least;
    }
    /* Coarse steps, then near the best of them by thirds: one maximum again. */
    for (uint32_t n = least; n <= most; n += n < 16 ? 1 : n / 8) {
        (void)try_copies(&search, n);
    }
    uint32_t near = search.best.per_period, span = near / 8 + 1;
    uint32_t low = near > least + span ? near - span : least;
    uint32_t high = near + span < most ? near + span : most;
    while (high - low > 2) {
        uint32_t third = (high - low) / 3, a = low + third, b = high - third;
        if (try_copies(&search, a) < try_copies(&search, b)) {
            low = a;
        } else {
            high = b;
        }
    }
    for (uint32_t n = low; n <= high; n++) {
        (void)try_copies(&search, n);
    }
    struct myr_renewal best = *renewal;
    best.interval = search.best.interval;
    best.per_period = search.best.per_period;
    return best;
}

/*
 * The longest recovery with which the goodput is still reached, by halving; -1: not even without
 * any.
 */
double myr_goodput_recovery_for(const struct myr_renewal *renewal, const struct myr_limits *limits,
                                double goodput)
{
    struct myr_renewal tried = *renewal;
    double rate = renewal->quick.rate + renewal->durable.rate;
    double low = 0, high = 100 / rate;
    tried.durable.recovery = 0;
    tried = myr_goodput_optimum_within(&tried, limits);
    if (myr_goodput_of(&tried).goodput < goodput) {
        return -1;
    }
    for (uint32_t i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        tried.durable.recovery = middle;
        tried = myr_goodput_optimum_within(&tried, limits);
        if (myr_goodput_of(&tried).goodput >= goodput) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
