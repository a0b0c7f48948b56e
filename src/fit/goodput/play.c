/*
 * play: the process itself, failure by failure, to hold the exact model against.
 *
 * Nothing here knows of expected values. Between failures whole segments and periods pass at once,
 * so that rare failures take no longer to play than frequent ones.
 */
#include <math.h>

#include "cost/numbers.h"
#include "myriad/fit/goodput.h"

/* Shares of as many stretches of the run are compared, for an error of the mean. */
enum { BATCHES = 25 };

/* One run as it goes on. */
struct player {
    const struct myr_renewal *renewal;
    struct myr_rng rng;
    double rate, segment, period; /* lengths, with stalls */
    double time;                  /* since the start, all of it */
    double periods;               /* kept */
    uint32_t done;                /* segments of the period at hand */
};

/* Never 0 and never 1: the logarithm of it is asked for. */
static double uniform(struct player *p)
{
    return ((double)myr_rng_u32(&p->rng) + 0.5) / 4294967296.0;
}

/* Exponential: a Poisson process has no memory, so it may be drawn anew at any time. */
static double until_failure(struct player *p)
{
    return -fit_log(uniform(p)) / p->rate;
}

/* Trains for x seconds, from a copy. */
static void train(struct player *p, double x)
{
    uint32_t n = p->renewal->per_period;
    double left = p->period - p->done * p->segment;
    p->time += x;
    if (x >= left) {
        double more = floor((x - left) / p->period);
        p->periods += 1 + more;
        p->done = 0;
        x -= left + more * p->period;
    }
    /* The last segment ends with the durable copy, and with it the period. */
    double whole = floor(x / p->segment);
    p->done = whole < n - 1 - p->done ? p->done + (uint32_t)whole : n - 1;
}

/* Which copy heals is drawn once; a recovery that is struck starts again from the same one. */
static void fail(struct player *p)
{
    bool quick = uniform(p) * p->rate < p->renewal->quick.rate;
    double recovery = quick ? p->renewal->quick.recovery : p->renewal->durable.recovery;
    double again = until_failure(p);
    while (again < recovery) {
        p->time += again;
        again = until_failure(p);
    }
    p->time += recovery;
    p->done = quick ? p->done : 0;
}

/* Seconds of work that a copy holds. */
static double kept(const struct player *p)
{
    return (p->periods * p->renewal->per_period + p->done) * p->renewal->interval;
}

/* The error is that of the mean over batches, which are nearly independent. */
double myr_goodput_play(const struct myr_renewal *renewal, uint64_t failures, uint64_t seed,
                        double *ret_error)
{
    struct player p = {.renewal = renewal, .rate = renewal->quick.rate + renewal->durable.rate};
    uint64_t each = failures / BATCHES > 1 ? failures / BATCHES : 1;
    double sum = 0, squares = 0;
    MYR_ASSERT(p.rate > 0);
    p.segment = renewal->interval + (renewal->quick.rate > 0 ? renewal->quick.stall : 0);
    p.period = renewal->per_period * p.segment + renewal->durable.stall;
    myr_rng_init(&p.rng, seed, 0);
    for (uint32_t b = 0; b < BATCHES; b++) {
        double time = p.time, work = kept(&p);
        for (uint64_t i = 0; i < each; i++) {
            train(&p, until_failure(&p));
            fail(&p);
        }
        double share = (kept(&p) - work) / (p.time - time);
        sum += share;
        squares += share * share;
    }
    double mean = sum / BATCHES, variance = squares / BATCHES - mean * mean;
    *ret_error = sqrt((variance > 0 ? variance : 0) / (BATCHES - 1));
    return p.time > 0 ? kept(&p) / p.time : 0;
}
