/*
 * steady: time that goes on round by round, and rounds that need not be played. Private.
 *
 * A schedule is a set of clocks; in each operation a stage's clock meets what it waits for (the
 * later of the two) and moves on by a time of its own. Only maxima and sums: while every meeting is
 * won by the same side as in the round before, each clock gains the same in every round. So a mark
 * carries its gain beside its time. One round played with gains tells whether they come out as they
 * went in, and after how many rounds the first meeting would be won by the other side; up to there
 * rounds are skipped, exactly. Stages of nearly equal speed change sides late and rarely: that
 * costs one more look, not a round for each micro-batch.
 */
#pragma once

#include <math.h>

#include "cost/block.h"

/* A clock, or the time at which something was handed on. */
struct fit_mark {
    double at, gain; /* seconds; seconds in a round, 0 where nobody asked */
};

/* A schedule as this file sees it: marks, and a way to play one round. */
struct fit_steady {
    struct fit_mark *marks; /* all that one round hands to the next */
    uint32_t mark_count;
    uint32_t patience;                   /* looks at single rounds before longer ones are tried */
    void (*round)(void *schedule);       /* plays one */
    void *schedule;                      /* what 'round' is called with */
    double least_gain, tie_s, unchanged; /* while a round is played with gains */
};

/* Skips what can be skipped of 'left' rounds, plays what it has to; returns how many it skipped. */
uint64_t fit_steady_skip(struct fit_steady *steady, uint64_t left);

/* The later of two; 'room' shrinks to the rounds after which it would be the other one. */
static inline struct fit_mark fit_meet(struct fit_steady *steady, struct fit_mark a,
                                       struct fit_mark b)
{
    struct fit_mark later = a.at >= b.at ? a : b;
    double sooner = a.at >= b.at ? b.gain : a.gain;
    if (sooner - later.gain > steady->least_gain) {
        double lead = fabs(a.at - b.at);
        if (lead <= steady->tie_s) {
            later.gain = sooner;
        } else {
            steady->unchanged = fit_min(steady->unchanged, lead / (sooner - later.gain));
        }
    }
    return later;
}

static inline struct fit_mark fit_after(struct fit_mark mark, double seconds)
{
    mark.at += seconds;
    return mark;
}
