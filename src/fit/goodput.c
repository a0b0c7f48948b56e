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
 * the end as u_i + v_i E_0, and E_0 = u_0 / (1 - v_0).
 */
struct carried {
    double constant, of_first;
};

struct period {
    double total;      /* expected seconds */
    double recovering; /* of them */
};

static struct period solve(const struct myr_renewal *renewal)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    double share = rate > 0 ? renewal->quick.rate / rate : 0;
    double quick = with_retries(renewal->quick.recovery, rate);
    double durable = with_retries(renewal->durable.recovery, rate);
    struct carried time = {0}, lost = {0};
    bool tiers = renewal->quick.rate > 0;
    for (uint32_t i = renewal->per_period; i-- > 0;) {
        bool last = i + 1 == renewal->per_period;
        double stall = last ? renewal->durable.stall + (tiers ? renewal->quick.stall : 0)
                            : renewal->quick.stall;
        double length = renewal->interval + stall;
        double survive = myr_exp(-rate * length), fail = 1 - survive;
        double spent = rate > 0 ? fail / rate : length;
        double stay = 1 - fail * share; /* E_i appears on both sides */
        double wait = fail * (share * quick + (1 - share) * durable);
        time.constant = (spent + wait + survive * time.constant) / stay;
        time.of_first = (survive * time.of_first + fail * (1 - share)) / stay;
        lost.constant = (wait + survive * lost.constant) / stay;
        lost.of_first = (survive * lost.of_first + fail * (1 - share)) / stay;
    }
    double first = time.of_first < 1 ? time.constant / (1 - time.of_first) : 1e300;
    double waiting = lost.of_first < 1 ? lost.constant / (1 - lost.of_first) : 1e300;
    return (struct period){first, waiting};
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
    for (uint32_t i = 0; i < 100; i++) {
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
    struct myr_renewal best = *renewal, tried = *renewal;
    uint32_t most = renewal->quick.rate > 0 ? 4096 : 1;
    double best_value = -1;
    for (uint32_t n = 1; n <= most; n += n < 16 ? 1 : n / 8) {
        tried.per_period = n;
        tried.interval = best_interval(&tried);
        double value = myr_goodput_of(&tried).goodput;
        if (value > best_value) {
            best_value = value;
            best = tried;
        }
    }
    return best;
}
