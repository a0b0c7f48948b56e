/*
 * scatter: how far the length of a run strays from its mean, because failures do.
 *
 * Z_i is what failures add to the rest of a period once i segments are done. The segment at hand
 * either ends (Z_{i+1}) or fails after x: then Z_i is x, a recovery and Z_i anew, or x, a recovery,
 * the i segments that are lost and Z_0. The same recurrence as that of the mean, one order after
 * the other: order j needs the orders below it, and is linear in its own value at the start. What
 * is counted is never negative, so that nothing cancels where failures are rare.
 */
#include <math.h>

#include "cost/numbers.h"
#include "myriad/fit/goodput.h"

enum { ORDERS = 4 }; /* moments 0 to 3 */

static const double choose[ORDERS][ORDERS] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};

/* Expected powers of a time, from 0 on. */
struct moments {
    double m[ORDERS];
};

/* Of x to the j over failures that come within 'length'; order 0 is their probability. */
static struct moments struck(double rate, double length)
{
    struct moments ret;
    double a = rate * length, survive = fit_exp(-a), power = 1;
    for (uint32_t j = 0; j < ORDERS; j++) {
        if (a < 1) { /* by parts below, digits would cancel */
            double sum = 0, term = 1;
            for (uint32_t k = 0; k < 20; k++) {
                sum += term / (j + k + 1);
                term *= -a / (k + 1);
            }
            ret.m[j] = power * a * sum;
        } else {
            ret.m[j] = j == 0 ? 1 - survive : j / rate * ret.m[j - 1] - power * survive;
        }
        power *= length;
    }
    return ret;
}

/* Of a sum of two independent times. */
static struct moments sum_of(const struct moments *a, const struct moments *b)
{
    struct moments ret = {};
    for (uint32_t j = 0; j < ORDERS; j++) {
        for (uint32_t i = 0; i <= j; i++) {
            ret.m[j] += choose[j][i] * a->m[i] * b->m[j - i];
        }
    }
    return ret;
}

static struct moments fixed(double seconds)
{
    return (struct moments){{1, seconds, seconds * seconds, seconds * seconds * seconds}};
}

/* Of a recovery that starts again whenever it is struck. */
static struct moments retried(double rate, double seconds)
{
    struct moments ret = {{1}}, hit = struck(rate, seconds), whole = fixed(seconds);
    double survive = fit_exp(-rate * seconds);
    for (uint32_t j = 1; j < ORDERS; j++) {
        double sum = survive * whole.m[j];
        for (uint32_t i = 1; i <= j; i++) {
            sum += choose[j][i] * hit.m[i] * ret.m[j - i];
        }
        ret.m[j] = sum / survive;
    }
    return ret;
}

/* A segment: what a failure in it costs until training goes on, by the copy that heals it. */
struct piece {
    double survive, share;         /* share: healed by a quick copy */
    struct moments quick, durable; /* from the start of the segment until training goes on */
};

static struct piece piece_of(const struct myr_renewal *renewal, double length)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    struct moments hit = struck(rate, length);
    struct moments quick = retried(rate, renewal->quick.recovery);
    struct moments durable = retried(rate, renewal->durable.recovery);
    return (struct piece){fit_exp(-rate * length), renewal->quick.rate / rate, sum_of(&hit, &quick),
                          sum_of(&hit, &durable)};
}

/*
 * One step back over a segment with 'lost' seconds of segments before it. Orders below 'order' are
 * known at the start; of 'order' itself z carries what does not depend on its value there.
 */
static void step_back(const struct piece *piece, double lost, uint32_t order,
                      const struct moments *start, struct moments *z)
{
    struct moments redone = fixed(lost), back = sum_of(&piece->durable, &redone);
    double stay = 1 - piece->share * piece->quick.m[0];
    for (uint32_t j = 1; j <= order; j++) {
        double sum = piece->survive * z->m[j];
        for (uint32_t i = 0; i <= j; i++) {
            bool known = i > 0 || j < order;
            sum += i > 0 ? choose[j][i] * piece->share * piece->quick.m[i] * z->m[j - i] : 0;
            sum += known ? choose[j][i] * (1 - piece->share) * back.m[i] * start->m[j - i] : 0;
        }
        z->m[j] = sum / stay;
    }
}

/* Mean, variance and third central moment of what failures add to one period. */
struct myr_scatter myr_goodput_scatter(const struct myr_renewal *renewal)
{
    bool tiers = renewal->quick.rate > 0;
    double length = renewal->interval + (tiers ? renewal->quick.stall : 0);
    double stall = renewal->durable.stall + (tiers ? renewal->quick.stall : 0);
    struct piece last = piece_of(renewal, renewal->interval + stall);
    struct piece other = piece_of(renewal, length);
    struct moments start = {{1}};
    MYR_ASSERT(renewal->quick.rate + renewal->durable.rate > 0);
    for (uint32_t order = 1; order < ORDERS; order++) {
        struct moments z = {{1}};
        double reach = 1; /* chance to end without going back to the start */
        for (uint32_t i = renewal->per_period; i-- > 0;) {
            const struct piece *piece = i + 1 == renewal->per_period ? &last : &other;
            step_back(piece, i * length, order, &start, &z);
            reach *= piece->survive / (1 - piece->share * piece->quick.m[0]);
        }
        start.m[order] = z.m[order] / reach;
    }
    double mean = start.m[1], variance = start.m[2] - mean * mean;
    double third = start.m[3] - 3 * mean * start.m[2] + 2 * mean * mean * mean;
    return (struct myr_scatter){mean, variance > 0 ? variance : 0, third};
}

/* ---- quantiles ---- */

/* The normal distribution (Abramowitz and Stegun 26.2.17, to seven digits). */
static double normal_below(double z)
{
    double size = z < 0 ? -z : z, t = 1 / (1 + 0.2316419 * size);
    double sum = 1.330274429;
    sum = sum * t - 1.821255978;
    sum = sum * t + 1.781477937;
    sum = sum * t - 0.356563782;
    sum = sum * t + 0.319381530;
    double beyond = 0.3989422804 * fit_exp(-size * size / 2) * sum * t;
    return z < 0 ? beyond : 1 - beyond;
}

static double cube_root(double x)
{
    double root = x > 1 ? x : 1; /* from above: Newton's steps only fall */
    for (uint32_t i = 0; i < 60; i++) {
        root = (2 * root + x / (root * root)) / 3;
    }
    return root;
}

/*
 * How likely a sum of losses is at most x: a gamma distribution of the same three moments, by
 * Wilson and Hilferty's cube. A sum of few losses is skewed.
 */
static double below(const struct myr_scatter *of, double x)
{
    double deviation = sqrt(of->variance);
    if (deviation <= 1e-9 * of->mean) {
        return x >= of->mean;
    }
    double y = (x - of->mean) / deviation;
    double skew = of->third / (deviation * deviation * deviation);
    if (skew < 1e-4) {
        return normal_below(y);
    }
    double base = 1 + skew * y / 2, h = skew * skew / 36;
    return base <= 0 ? 0 : normal_below((cube_root(base) - 1 + h) / sqrt(h));
}

/*
 * A run: what failures healed by quick copies add, and the losses of the others, which are few and
 * may each be as large as all the rest: they are counted, not summed up in moments.
 */
struct mixture {
    struct myr_scatter quick, loss, total; /* healed by quick copies; one loss; all of a run */
    double without;                        /* chance of no failure of the quick kind */
    double losses;                         /* expected number */
};

enum { COUNTED = 40 }; /* more losses than these are as good as a sum */

static double mixture_below(const struct mixture *mix, double x)
{
    if (mix->losses > COUNTED) {
        return below(&mix->total, x);
    }
    double weight = fit_exp(-mix->losses), sum = 0;
    for (uint32_t k = 0; k < 4 * COUNTED && (weight > 1e-12 || k < mix->losses); k++) {
        struct myr_scatter of = {mix->quick.mean + k * mix->loss.mean,
                                 mix->quick.variance + k * mix->loss.variance,
                                 mix->quick.third + k * mix->loss.third};
        double one = below(&of, x);
        sum += weight * (k == 0 && one < mix->without ? mix->without : one);
        weight *= mix->losses / (k + 1);
    }
    return sum;
}

/* By halving; the upper end is found by doubling, for tails may be long. */
static double quantile(const struct mixture *mix, double share)
{
    double low = 0, high = mix->total.mean + 10 * sqrt(mix->total.variance);
    if (mixture_below(mix, 0) >= share) {
        return 0; /* so many runs see no failure */
    }
    while (mixture_below(mix, high) < share && high < 1e200) {
        high *= 2;
    }
    for (uint32_t i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(mixture_below(mix, middle) < share ? &low : &high) = middle;
    }
    return high;
}

/* Periods are independent of each other: all three moments add up. */
static struct myr_scatter times(struct myr_scatter of, double number)
{
    return (struct myr_scatter){of.mean * number, of.variance * number, of.third * number};
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* A loss from what so many of them add to the moments of a run (those of a Poisson sum). */
static struct myr_scatter loss_of(const struct mixture *mix)
{
    if (mix->losses <= 0) {
        return (struct myr_scatter){0, 0, 0};
    }
    double one = positive(mix->total.mean - mix->quick.mean) / mix->losses;
    double two = positive(mix->total.variance - mix->quick.variance) / mix->losses;
    double three = positive(mix->total.third - mix->quick.third) / mix->losses;
    return (struct myr_scatter){one, positive(two - one * one),
                                positive(three - 3 * one * two + 2 * one * one * one)};
}

/* Seconds that failures add to so many periods: nine runs of ten lie between the two. */
void myr_goodput_range(const struct myr_renewal *renewal, double periods, double *ret_low,
                       double *ret_high)
{
    double copy = renewal->quick.rate > 0 ? renewal->quick.stall : 0;
    double length =
        periods * (renewal->per_period * (renewal->interval + copy) + renewal->durable.stall);
    struct mixture mix = {.total = times(myr_goodput_scatter(renewal), periods), .without = 1};
    double time = (length + mix.total.mean) * (1 - myr_goodput_of(renewal).recovering);
    double step = 0;
    mix.losses = renewal->durable.rate * time;
    if (renewal->quick.rate > 0) {
        struct myr_renewal quick = *renewal;
        quick.durable.rate = 0;
        mix.quick = times(myr_goodput_scatter(&quick), periods);
        mix.without = fit_exp(-renewal->quick.rate * length);
        /* These come whole too: half of one more on either side covers the steps between. */
        step = 0.5 * mix.quick.mean / (renewal->quick.rate * time);
    }
    mix.loss = loss_of(&mix);
    double low = quantile(&mix, 0.045), high = quantile(&mix, 0.955); /* a gamma is not quite it */
    *ret_low = positive(low - step);
    *ret_high = high > 0 ? high + step : 0;
    *ret_high = *ret_high > mix.total.mean ? *ret_high : mix.total.mean;
}
