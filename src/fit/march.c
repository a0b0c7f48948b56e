#include "march.h"

#include <stdlib.h>

/* Doubles of times near each other carry this much of them as noise; answers need 1e-9. */
#define NOISE 1e-11

static void set_gains(struct fit_march *march, const double *before)
{
    double most = 0;
    for (uint32_t i = 0; i < march->mark_count; i++) {
        march->marks[i].gain = march->marks[i].at - before[i];
        most = fit_max(most, march->marks[i].gain);
    }
    march->least_gain = most * NOISE;
    march->tie_s = most * NOISE;
    march->room = INFINITY;
}

static void clear_gains(struct fit_march *march)
{
    for (uint32_t i = 0; i < march->mark_count; i++) {
        march->marks[i].gain = 0;
    }
    march->least_gain = INFINITY;
}

static void note(const struct fit_march *march, double *at)
{
    for (uint32_t i = 0; i < march->mark_count; i++) {
        at[i] = march->marks[i].at;
    }
}

/* Did every mark gain in these rounds what it gained in those before, and hands the same on? */
static bool steady(const struct fit_march *march, const double *first, const double *second)
{
    for (uint32_t i = 0; i < march->mark_count; i++) {
        double gained = second[i] - first[i], again = march->marks[i].at - second[i];
        if (fabs(again - gained) > march->least_gain ||
            fabs(march->marks[i].gain - gained) > march->least_gain) {
            return false;
        }
    }
    return true;
}

static void play(struct fit_march *march, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        march->round(march->schedule);
    }
}

/* Plays twice 'stride' rounds; returns how many strides can be skipped from there, and does so. */
static uint64_t look(struct fit_march *march, uint64_t stride, uint64_t strides_left, double *first,
                     double *second)
{
    uint64_t skipped = 0;
    note(march, first);
    play(march, stride);
    note(march, second);
    set_gains(march, first);
    play(march, stride);
    if (steady(march, first, second)) {
        double room = march->room * (1 - NOISE);
        skipped = room < (double)strides_left ? (uint64_t)room : strides_left;
        for (uint32_t i = 0; i < march->mark_count; i++) {
            march->marks[i].at += (double)skipped * march->marks[i].gain;
        }
    }
    clear_gains(march);
    return skipped;
}

/*
 * Most schedules repeat after one round. With transfers that take time, or chunks that differ, the
 * slowest loop through the stages may close only after several; strides grow until one fits it.
 */
uint64_t fit_march_on(struct fit_march *march, uint64_t left)
{
    uint64_t skipped = 0, stride = 1, looks = 0;
    double *first = myr_xrealloc(NULL, 2 * (size_t)march->mark_count, sizeof(*first));
    double *second = first + march->mark_count;
    clear_gains(march);
    while (left > 2 * stride) {
        left -= 2 * stride;
        uint64_t now = look(march, stride, left / stride, first, second) * stride;
        skipped += now;
        left -= now;
        looks++;
        if (now > 0) {
            stride = 1;
            looks = 0;
        } else if (looks >= (stride == 1 ? march->patience : 2)) {
            stride++;
            looks = 0;
        }
    }
    play(march, left);
    free(first);
    return skipped;
}
