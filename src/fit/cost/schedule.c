/*
 * schedule: 1F1B, zero-bubble and interleaved pipelines, slot by slot.
 *
 * A slot is one forward and one backward of every stage. Stage i is i slots late, so whatever it
 * waits for was made in the slot before or in this one, and one value for each stage and direction
 * is all that has to be remembered. A round is the slots after which the chunks come in turn again.
 */
#include "cost/schedule.h"

#include <math.h>
#include <stdlib.h>

#include "cost/steady.h"

/* Where every stage stands, between two slots. */
struct slots {
    const struct fit_schedule *it;
    struct fit_steady steady;
    struct fit_mark *clock, *forward, *backward; /* by stage: now, and what it sent last */
    /* 'turns' are the chunk passes of a stage in a step; all of them are counted in slots. */
    int64_t pp, vp, turns, round, slot;
    int64_t ahead; /* slots until the first backward: of all stages, or of stage 0 */
};

/* When it arrives at the next stage. */
static struct fit_mark sent(const struct slots *s, struct fit_mark mark)
{
    return fit_after(mark, s->it->hop_s);
}

/* A stage does something from now on. */
static struct fit_mark work(const struct slots *s, int64_t chunk, enum fit_work what,
                            struct fit_mark now, double seconds)
{
    if (s->it->watcher) {
        struct fit_seen one = {(uint32_t)(chunk % s->pp), (uint32_t)chunk, what, now.at,
                               now.at + seconds};
        s->it->watcher(s->it->context, &one);
    }
    return fit_after(now, seconds);
}

/* 1F1B and zero-bubble: in one slot the gradients of a micro-batch pass through all stages. */
static void plain_slot(struct slots *s)
{
    const struct fit_schedule *it = s->it;
    bool split = it->kind == MYR_SCHEDULE_ZERO_BUBBLE;
    int64_t first = s->slot - s->turns + 1, last = s->slot < s->pp ? s->slot : s->pp - 1;
    for (int64_t i = last; i >= 0 && i >= first; i--) {
        struct fit_mark now = s->clock[i];
        if (i > 0) {
            now = fit_meet(&s->steady, now, sent(s, s->forward[i - 1]));
        }
        s->clock[i] = s->forward[i] = work(s, i, FIT_FORWARD, now, it->forward_s[i]);
    }
    int64_t back = s->slot - s->ahead;
    if (back < 0) {
        return;
    }
    for (int64_t i = s->pp - 1; i >= 0; i--) {
        struct fit_mark now = s->clock[i];
        if (back < s->turns) {
            if (i + 1 < s->pp) {
                now = fit_meet(&s->steady, now, sent(s, s->backward[i + 1]));
            }
            now = work(s, i, FIT_BACKWARD, now, it->backward_s[i] + (split ? 0 : it->weight_s[i]));
            s->backward[i] = now;
        }
        if (split && back >= i && back - i < s->turns) {
            now = work(s, i, FIT_WEIGHT, now, it->weight_s[i]);
        }
        s->clock[i] = now;
    }
}

/* Stage 0 takes up from the last one, chunk by chunk, and the other way round. */
static void interleaved_forward(struct slots *s)
{
    struct fit_mark from_last = s->forward[s->pp - 1];
    /* Which chunk is on turn follows from the place in the round; stage i is i slots behind. */
    int64_t phase = s->slot % s->round;
    for (int64_t i = s->pp - 1; i >= 0; i--) {
        int64_t turn = s->slot - i, at = phase - i + (phase < i ? s->round : 0);
        int64_t chunk = at / s->pp;
        if (turn < 0 || turn >= s->turns) {
            continue;
        }
        struct fit_mark now = s->clock[i];
        if (i > 0 || chunk > 0) {
            now = fit_meet(&s->steady, now, sent(s, i > 0 ? s->forward[i - 1] : from_last));
        }
        int64_t of = i + chunk * s->pp;
        s->clock[i] = s->forward[i] = work(s, of, FIT_FORWARD, now, s->it->forward_s[of]);
    }
}

static void interleaved_backward(struct slots *s)
{
    struct fit_mark from_first = s->backward[0];
    /* Stage i begins with gradients i slots before stage 0 does. */
    int64_t late = s->slot - s->ahead;
    if (late + s->pp <= 0) {
        return;
    }
    int64_t phase = (late + s->round) % s->round;
    for (int64_t i = 0; i < s->pp; i++) {
        int64_t turn = late + i, at = phase + i;
        at -= at >= s->round ? s->round : 0;
        int64_t chunk = s->vp - 1 - at / s->pp, last = i + 1 == s->pp;
        if (turn < 0 || turn >= s->turns) {
            continue;
        }
        struct fit_mark now = s->clock[i];
        if (!last || chunk + 1 < s->vp) {
            now = fit_meet(&s->steady, now, sent(s, last ? from_first : s->backward[i + 1]));
        }
        int64_t of = i + chunk * s->pp;
        s->clock[i] = s->backward[i] =
            work(s, of, FIT_BACKWARD, now, s->it->backward_s[of] + s->it->weight_s[of]);
    }
}

/* The same when nobody watches and nobody counts gains, as most slots are played: times alone. */

static double later(double a, double b)
{
    return a >= b ? a : b;
}

/* As plain_slot() of 1F1B, on times alone. */
static void quick_plain_slot(struct slots *s)
{
    const struct fit_schedule *it = s->it;
    double hop = it->hop_s;
    int64_t first = s->slot - s->turns + 1, last = s->slot < s->pp ? s->slot : s->pp - 1;
    for (int64_t i = last; i >= 0 && i >= first; i--) {
        double now = s->clock[i].at;
        now = i > 0 ? later(now, s->forward[i - 1].at + hop) : now;
        s->clock[i].at = s->forward[i].at = now + it->forward_s[i];
    }
    int64_t back = s->slot - s->ahead;
    if (back < 0 || back >= s->turns) {
        return;
    }
    double came = 0; /* no clock is earlier */
    for (int64_t i = s->pp - 1; i >= 0; i--) {
        double now = later(s->clock[i].at, came);
        now += it->backward_s[i] + it->weight_s[i];
        s->clock[i].at = s->backward[i].at = now;
        came = now + hop;
    }
}

/* Chunks come in turn: from stage to stage the turn moves by one, so nothing is divided. */
static void quick_interleaved_forward(struct slots *s)
{
    const double *each = s->it->forward_s;
    double hop = s->it->hop_s, from_last = s->forward[s->pp - 1].at;
    int64_t low = s->slot - s->turns + 1, high = s->slot < s->pp ? s->slot : s->pp - 1;
    int64_t at = s->slot % s->round - high;
    at += at < 0 ? s->round : 0;
    int64_t of = high + at / s->pp * s->pp, rest = at % s->pp, end = s->pp * s->vp;
    for (int64_t i = high; i >= 0 && i >= low; i--, of--) {
        double now = s->clock[i].at;
        if (i > 0) {
            now = later(now, s->forward[i - 1].at + hop);
        } else if (of > 0) {
            now = later(now, from_last + hop);
        }
        s->clock[i].at = s->forward[i].at = now + each[of];
        if (++rest == s->pp) {
            rest = 0;
            of += s->pp;
            of -= of - i >= end ? end : 0;
        }
    }
}

/* From the first stage that has begun with gradients to the last that has not ended. */
static void quick_interleaved_backward(struct slots *s)
{
    const double *back = s->it->backward_s, *weight = s->it->weight_s;
    double hop = s->it->hop_s, from_first = s->backward[0].at;
    int64_t late = s->slot - s->ahead, low = late < 0 ? -late : 0, high = s->turns - 1 - late;
    if (low >= s->pp) {
        return;
    }
    int64_t at = (late + low) % s->round, end = s->pp * s->vp;
    int64_t of = low + (s->vp - 1 - at / s->pp) * s->pp, rest = at % s->pp;
    high = high < s->pp ? high : s->pp - 1;
    for (int64_t i = low; i <= high; i++, of++) {
        double now = s->clock[i].at;
        if (i + 1 < s->pp) {
            now = later(now, s->backward[i + 1].at + hop);
        } else if (of + 1 < end) {
            now = later(now, from_first + hop);
        }
        s->clock[i].at = s->backward[i].at = now + (back[of] + weight[of]);
        if (++rest == s->pp) {
            rest = 0;
            of -= s->pp;
            of += of < i ? end : 0;
        }
    }
}

/* One slot by whichever way is quickest and still right. */
static void play_slot(struct slots *s)
{
    /* Gains are asked for only while rounds are looked at for skipping. */
    bool quick = !s->it->watcher && isinf(s->steady.least_gain);
    if (quick && s->vp > 1) {
        quick_interleaved_forward(s);
        quick_interleaved_backward(s);
    } else if (quick && s->it->kind != MYR_SCHEDULE_ZERO_BUBBLE) {
        quick_plain_slot(s);
    } else if (s->vp == 1) {
        plain_slot(s);
    } else {
        interleaved_forward(s);
        interleaved_backward(s);
    }
    s->slot++;
}

static void play_round(void *schedule)
{
    struct slots *s = schedule;
    for (int64_t i = 0; i < s->round; i++) {
        play_slot(s);
    }
}

/* Filling, whole rounds, and the end; what is between may be skipped. */
static double play_slots(struct slots *s)
{
    bool split = s->it->kind == MYR_SCHEDULE_ZERO_BUBBLE;
    /* Before that some stages only run forward: no two rounds are alike. */
    int64_t full =
        s->ahead + (split ? s->pp - 1 : 0); /* from here on every stage does all it can */
    while (s->slot < full && s->slot < s->turns) {
        play_slot(s);
    }
    /* Skipped rounds are taken off the end: clocks stand as if they had been played. */
    if (s->turns > s->slot && !s->it->watcher) {
        uint64_t rounds = (uint64_t)((s->turns - s->slot) / s->round);
        s->turns -= (int64_t)fit_steady_skip(&s->steady, rounds) * s->round;
    }
    /* The drain: no more forwards, gradients and what was put off of them. */
    while (s->slot < s->turns + full) {
        play_slot(s);
    }
    double end = 0;
    for (int64_t i = 0; i < s->pp; i++) {
        end = fit_max(end, s->clock[i].at);
    }
    return end;
}

double fit_schedule_s(const struct fit_schedule *it)
{
    int64_t pp = it->pp, vp = it->vp;
    MYR_ASSERT(pp > 0 && vp > 0 && it->micro_batches > 0);
    if (it->kind == MYR_SCHEDULE_DUALPIPE) {
        return fit_dualpipe_s(it);
    }
    /* All clocks start at 0. The three arrays are one: what a round hands to the next. */
    MYR_ASSERT(vp == 1 || it->micro_batches % it->pp == 0);
    MYR_CLEANUP(myr_free_at) struct fit_mark *marks = myr_xcalloc(3 * (size_t)pp, sizeof(*marks));
    struct slots s = {.it = it,
                      .clock = marks,
                      .forward = marks + pp,
                      .backward = marks + 2 * pp,
                      .pp = pp,
                      .vp = vp,
                      .turns = it->micro_batches * vp,
                      .round = vp == 1 ? 1 : pp * vp,
                      .ahead = vp == 1 ? pp - 1 : 2 * (pp - 1) + (vp - 1) * pp};
    s.steady = (struct fit_steady){.marks = marks,
                                   .mark_count = 3 * it->pp,
                                   .patience = vp == 1 ? it->pp + 2 : 3,
                                   .round = play_round,
                                   .schedule = &s,
                                   .least_gain = INFINITY};
    return play_slots(&s);
}
