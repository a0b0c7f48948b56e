#include "cost/steady.h"

#include <stdlib.h>

/* Doubles of times near each other carry this much of them as noise; answers need 1e-9. */
#define NOISE 1e-11

/* What every mark gained since 'before'; differences below the noise are none. */
static void set_gains(struct fit_steady *steady, const double *before)
{
    double most = 0;
    for (uint32_t i = 0; i < steady->mark_count; i++) {
        steady->marks[i].gain = steady->marks[i].at - before[i];
        most = fit_max(most, steady->marks[i].gain);
    }
    steady->least_gain = most * NOISE;
    steady->tie_s = most * NOISE;
    steady->unchanged = INFINITY;
}

/* Nobody asks for gains: no difference is large enough, and meetings are plain maxima. */
static void clear_gains(struct fit_steady *steady)
{
    for (uint32_t i = 0; i < steady->mark_count; i++) {
        steady->marks[i].gain = 0;
    }
    steady->least_gain = INFINITY;
}

static void note(const struct fit_steady *steady, double *at)
{
    for (uint32_t i = 0; i < steady->mark_count; i++) {
        at[i] = steady->marks[i].at;
    }
}

/* Did every mark gain in these rounds what it gained in those before, and hands the same on? */
static bool is_steady(const struct fit_steady *steady, const double *first, const double *second)
{
    for (uint32_t i = 0; i < steady->mark_count; i++) {
        double gained = second[i] - first[i], again = steady->marks[i].at - second[i];
        if (fabs(again - gained) > steady->least_gain ||
            fabs(steady->marks[i].gain - gained) > steady->least_gain) {
            return false;
        }
    }
    return true;
}

static void play(struct fit_steady *steady, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        steady->round(steady->schedule);
    }
}

/* Plays twice 'stride' rounds; returns how many strides can be skipped from there, and does so. */
static uint64_t look(struct fit_steady *steady, uint64_t stride, uint64_t strides_left,
                     double *first, double *second)
{
    uint64_t skipped = 0;
    note(steady, first);
    play(steady, stride);
    note(steady, second);
    set_gains(steady, first);
    play(steady, stride);
    if (is_steady(steady, first, second)) {
        /*
         * A little less than the last good round: one too few costs a look, one too many an error.
         */
        double unchanged = steady->unchanged * (1 - NOISE);
        skipped = unchanged < (double)strides_left ? (uint64_t)unchanged : strides_left;
        MYR_ASSERT(skipped <= strides_left);
        for (uint32_t i = 0; i < steady->mark_count; i++) {
            steady->marks[i].at += (double)skipped * steady->marks[i].gain;
        }
    }
    clear_gains(steady);
    return skipped;
}

/*
 * Most schedules repeat after one round. With transfers that take time, or chunks that differ, the
 * slowest loop through the stages may close only after several; strides grow until one fits it.
 */
uint64_t fit_steady_skip(struct fit_steady *steady, uint64_t left)
{
    uint64_t skipped = 0, stride = 1, looks = 0;
    MYR_CLEANUP(myr_free_at)
    double *first = myr_xrealloc(NULL, 2 * (size_t)steady->mark_count, sizeof(*first));
    double *second = first + steady->mark_count;
    clear_gains(steady);
    /* A look takes two strides; what is left at the end is played. */
    while (left > 2 * stride) {
        left -= 2 * stride;
        uint64_t now = look(steady, stride, left / stride, first, second) * stride;
        MYR_ASSERT(now <= left);
        skipped += now;
        left -= now;
        looks++;
        if (now > 0) {
            stride = 1;
            looks = 0;
        } else if (looks >= (stride == 1 ? steady->patience : 2)) {
            stride++;
            looks = 0;
        }
    }
    play(steady, left);
    return skipped;
}
