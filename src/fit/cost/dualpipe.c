/*
 * dualpipe: micro-batches from both ends at once (DeepSeek-V3 report, section 3.2.1).
 *
 * Ranks p and pp - 1 - p hold the same two stages and do the same at the same time, each for its
 * own end; one of the two is played. Rank h of the first half, H = pp / 2; 0 is the direction of
 * the nearer end, where its stage is h; 1 the other one, where it is pp - 1 - h. In turn:
 *
 *   2 (H - h - 1) times  F0
 *   h + 1 times          F0, F1
 *   H - h - 1 times      B1 without weights, W, F1
 *   the main part        F0 with B1, F1 with B0: pairs take in and hand out together, but for the
 *                        first one of the two ranks in the middle
 *   H - h - 1 times      B1, F1 with B0
 *   h + 1 times          B1, B0; the later half without weights
 *   H - h - 1 times      W, B0 without weights
 *   h + 1 times          W
 *
 * Weights' gradients that were put off are made in the order in which they were.
 */
#include <stdlib.h>

#include "cost/schedule.h"
#include "cost/steady.h"

/* Forward and backward by direction. */
enum what { F0, F1, B1, B0, WHATS };

/* Ranks of the first half only: those of the other half do the same at the same time. */
struct dual {
    const struct fit_schedule *it;
    struct fit_steady steady;
    struct fit_mark *clock, *forward, *backward; /* by rank: now, F0 and B1 handed on last */
    struct fit_mark *ends;                       /* [what][rank][number], where 'done' says so */
    uint32_t *done;                              /* [what][rank] */
    uint32_t *put_off;                    /* [rank][2 H + 2] stages whose weights' gradients wait */
    uint32_t *put_off_count, *made_count; /* by rank */
    uint32_t *step, *repeat;              /* by rank: where it stands */
    uint32_t half, numbers; /* ranks that are played; room for operations of one kind */
};

/* When a rank's operation of that kind and number was done. */
static struct fit_mark *end_of(const struct dual *d, enum what what, uint32_t rank, uint32_t number)
{
    return &d->ends[((size_t)what * d->half + rank) * d->numbers + number];
}

static uint32_t *done_of(const struct dual *d, enum what what, uint32_t rank)
{
    return &d->done[what * d->half + rank];
}

/* Where a rank gets its next one of these from; false: not there yet. 'own': from nobody. */
static bool input_of(const struct dual *d, enum what what, uint32_t rank, struct fit_mark *ret,
                     bool *own)
{
    uint32_t number = *done_of(d, what, rank), from = rank, middle = d->half - 1;
    enum what made = what;
    *own = (what == F0 || what == B1) && rank == 0;
    if (*own) {
        return true; /* B1 of rank 0 follows F1 there, long done */
    }
    if (what == F0 || what == B1) {
        from = rank - 1;
    } else if (rank < middle) {
        from = rank + 1;
    } else {
        made = what == F1 ? F0 : B1; /* of the other rank in the middle: its own times */
    }
    if (*done_of(d, made, from) <= number) {
        return false;
    }
    *ret = fit_after(*end_of(d, made, from, number), d->it->hop_s);
    return true;
}

/* Gradients of direction 0 come back to the stage whose forwards they follow: the nearer one. */
static uint32_t stage_of(const struct dual *d, enum what what, uint32_t rank)
{
    return what == F0 || what == B0 ? rank : d->it->pp - 1 - rank;
}

/* Seconds of one operation, with the weights' gradients unless they are put off. */
static double cost_of(const struct dual *d, enum what what, uint32_t rank, bool put_off)
{
    const struct fit_schedule *it = d->it;
    uint32_t stage = stage_of(d, what, rank);
    if (what == F0 || what == F1) {
        return it->forward_s[stage];
    }
    return it->backward_s[stage] + (put_off ? 0 : it->weight_s[stage]);
}

/* Told for both ranks that do it. */
static void tell(const struct dual *d, uint32_t rank, uint32_t stage, enum fit_work work,
                 double from_s, double seconds)
{
    struct fit_seen one = {rank, stage, work, from_s, from_s + seconds};
    if (d->it->watcher) {
        d->it->watcher(d->it->context, &one);
        one.stage = d->it->pp - 1 - rank;
        d->it->watcher(d->it->context, &one);
    }
}

/* What it costs, told to whoever watches. */
static double tell_cost(const struct dual *d, uint32_t rank, enum what what, bool put_off,
                        double from_s)
{
    double cost = cost_of(d, what, rank, put_off);
    tell(d, rank, stage_of(d, what, rank), what == F0 || what == F1 ? FIT_FORWARD : FIT_BACKWARD,
         from_s, cost);
    return cost;
}

/* One or two operations that take in and hand out together. */
static bool try_pair(struct dual *d, uint32_t rank, enum what a, enum what b, bool put_off)
{
    struct fit_mark now = d->clock[rank], in;
    bool own;
    enum what both[2] = {a, b};
    double cost = 0;
    for (int i = 0; i < 1 + (a != b); i++) {
        if (!input_of(d, both[i], rank, &in, &own)) {
            return false;
        }
        now = own ? now : fit_meet(&d->steady, now, in);
    }
    for (int i = 0; i < 1 + (a != b); i++) {
        cost += tell_cost(d, rank, both[i], put_off, now.at + cost);
    }
    d->clock[rank] = fit_after(now, cost);
    for (int i = 0; i < 1 + (a != b); i++) {
        uint32_t *done = done_of(d, both[i], rank);
        MYR_ASSERT(*done < d->numbers);
        *end_of(d, both[i], rank, (*done)++) = d->clock[rank];
    }
    if (put_off) {
        d->put_off[rank * d->numbers + d->put_off_count[rank]++] = stage_of(d, a, rank);
    }
    return true;
}

static bool try_one(struct dual *d, uint32_t rank, enum what what, bool put_off)
{
    return try_pair(d, rank, what, what, put_off);
}

/* The oldest of those that were put off; it waits for nobody. */
static bool make_weight(struct dual *d, uint32_t rank)
{
    MYR_ASSERT(d->made_count[rank] < d->put_off_count[rank]);
    uint32_t stage = d->put_off[rank * d->numbers + d->made_count[rank]++];
    double cost = d->it->weight_s[stage];
    tell(d, rank, stage, FIT_WEIGHT, d->clock[rank].at, cost);
    d->clock[rank] = fit_after(d->clock[rank], cost);
    return true;
}

/* The parts of a schedule as lists of what is repeated; each entry is one try. */
enum { FILL, MEET, TURN, FIRST_MAIN, FILLED, MAIN, EBB, DRAIN, LAST, WEIGHTS, EMPTY };

/* Entries of each part on a rank: the table at the head of this file, written as single tries. */
static uint32_t repeats(const struct dual *d, uint32_t part, uint32_t rank)
{
    uint32_t far = d->half - 1 - rank;
    const uint32_t counts[] = {
        [FILL] = 2 * far, [MEET] = 2 * (rank + 1), [TURN] = 3 * far, [FIRST_MAIN] = 2 + (far == 0),
        [FILLED] = 0,     [MAIN] = 2 * rank,       [EBB] = 2 * far,  [DRAIN] = 2 * (rank + 1),
        [LAST] = 2 * far, [WEIGHTS] = rank + 1};
    return counts[part];
}

/* The n-th entry of a part; false: it has to wait. */
static bool try_entry(struct dual *d, uint32_t rank, uint32_t part, uint32_t n)
{
    switch (part) {
    case FILL:
        return try_one(d, rank, F0, false);
    case MEET:
        return try_one(d, rank, n % 2 ? F1 : F0, false);
    case TURN:
        return n % 3 == 1 ? make_weight(d, rank) : try_one(d, rank, n % 3 ? F1 : B1, n % 3 == 0);
    case FIRST_MAIN:
        if (rank + 1 == d->half && n < 2) {
            return try_one(d, rank, n ? B1 : F0, false);
        }
        return n == 0 ? try_pair(d, rank, F0, B1, false) : try_pair(d, rank, F1, B0, false);
    case MAIN:
        return n % 2 ? try_pair(d, rank, F1, B0, false) : try_pair(d, rank, F0, B1, false);
    case EBB:
        return n % 2 ? try_pair(d, rank, F1, B0, false) : try_one(d, rank, B1, false);
    case DRAIN:
        return try_one(d, rank, n % 2 ? B0 : B1, n >= rank + 1);
    case LAST:
        return n % 2 ? try_one(d, rank, B0, true) : make_weight(d, rank);
    default:
        return make_weight(d, rank);
    }
}

/* As far as a rank gets on its own; true: it did something. */
static bool advance(struct dual *d, uint32_t rank, uint32_t until)
{
    bool moved = false;
    while (d->step[rank] < until) {
        if (d->repeat[rank] == repeats(d, d->step[rank], rank)) {
            d->step[rank]++;
            d->repeat[rank] = 0;
        } else if (try_entry(d, rank, d->step[rank], d->repeat[rank])) {
            d->repeat[rank]++;
            moved = true;
        } else {
            break;
        }
    }
    return moved;
}

/* All ranks up to a part; waits run both ways, so ranks are asked both ways. */
static void play_until(struct dual *d, uint32_t until)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < 2 * d->half; i++) {
            uint32_t rank = i < d->half ? i : 2 * d->half - 1 - i;
            moved = advance(d, rank, until) || moved;
        }
    }
    for (uint32_t i = 0; i < d->half; i++) {
        MYR_ASSERT(d->step[i] == until); /* no schedule waits for itself */
    }
}

/* One of the main part on every rank. */
static void play_main(void *schedule)
{
    struct dual *d = schedule;
    double hop = d->it->hop_s;
    for (uint32_t i = d->half; i-- > 0;) {
        struct fit_mark now = d->clock[i];
        if (i > 0) {
            now = fit_meet(&d->steady, now, fit_after(d->forward[i - 1], hop));
            now = fit_meet(&d->steady, now, fit_after(d->backward[i - 1], hop));
        }
        double cost = tell_cost(d, i, F0, false, now.at);
        cost += tell_cost(d, i, B1, false, now.at + cost);
        now = fit_after(now, cost);
        d->clock[i] = d->forward[i] = d->backward[i] = now;
    }
    for (uint32_t i = d->half; i-- > 0;) {
        struct fit_mark from = d->clock[i + 1 < d->half ? i + 1 : i];
        struct fit_mark now = fit_meet(&d->steady, d->clock[i], fit_after(from, hop));
        double cost = tell_cost(d, i, F1, false, now.at);
        cost += tell_cost(d, i, B0, false, now.at + cost);
        d->clock[i] = fit_after(now, cost);
    }
}

/* What the main part has handed on last, as the numbers that the drain counts from. */
static void rebase(struct dual *d)
{
    for (uint32_t i = 0; i < d->half; i++) {
        uint32_t far = d->half - 1 - i;
        *done_of(d, F0, i) = d->half + far;
        *done_of(d, F1, i) = d->half;
        *done_of(d, B1, i) = far;
        *done_of(d, B0, i) = 0;
        *end_of(d, F0, i, d->half + far - 1) = d->forward[i];
        if (far > 0) {
            *end_of(d, B1, i, far - 1) = d->backward[i];
        }
        d->put_off_count[i] = 0;
        d->made_count[i] = 0;
    }
}

/* Warm-up, main part, drain. Only the main part repeats, so only of it rounds are skipped. */
static double play(struct dual *d)
{
    uint32_t passes = d->it->micro_batches / 2;
    play_until(d, FILLED);
    for (uint32_t i = 0; i < d->half; i++) {
        /* The main part needs the last of each alone: numbers are given up until the drain. */
        d->forward[i] = *end_of(d, F0, i, *done_of(d, F0, i) - 1);
        d->backward[i] = *end_of(d, B1, i, *done_of(d, B1, i) - 1);
    }
    for (uint32_t i = 0; d->it->watcher && i < passes - d->it->pp; i++) {
        play_main(d);
    }
    if (!d->it->watcher) {
        (void)fit_steady_skip(&d->steady, passes - d->it->pp);
    }
    rebase(d);
    play_until(d, EMPTY);
    double end = 0;
    for (uint32_t i = 0; i < d->half; i++) {
        end = fit_max(end, d->clock[i].at);
    }
    return end;
}

/* All arrays at once; clocks come first, for they are the marks that a round hands on. */
double fit_dualpipe_s(const struct fit_schedule *it)
{
    uint32_t half = it->pp / 2, numbers = it->pp + 2;
    MYR_ASSERT(it->pp % 2 == 0 && it->vp == 1);
    /* Numbers count up to those that warm-up or drain reach, never to all micro-batches. */
    MYR_ASSERT(it->micro_batches % 2 == 0 && it->micro_batches >= 2 * it->pp);
    MYR_CLEANUP(myr_free_at)
    struct fit_mark *marks = myr_xcalloc((3 + WHATS * (size_t)numbers) * half, sizeof(*marks));
    MYR_CLEANUP(myr_free_at)
    uint32_t *counts = myr_xcalloc((WHATS + 4) * (size_t)half, sizeof(*counts));
    MYR_CLEANUP(myr_free_at)
    uint32_t *put_off = myr_xcalloc((size_t)numbers * half, sizeof(*put_off));
    struct dual d = {.it = it,
                     .clock = marks,
                     .forward = marks + half,
                     .backward = marks + 2 * (size_t)half,
                     .ends = marks + 3 * (size_t)half,
                     .done = counts,
                     .put_off_count = counts + (size_t)WHATS * half,
                     .made_count = counts + (WHATS + 1) * (size_t)half,
                     .step = counts + (WHATS + 2) * (size_t)half,
                     .repeat = counts + (WHATS + 3) * (size_t)half,
                     .put_off = put_off,
                     .half = half,
                     .numbers = numbers};
    d.steady = (struct fit_steady){.marks = marks,
                                   .mark_count = 3 * half,
                                   .patience = half + 2,
                                   .round = play_main,
                                   .schedule = &d,
                                   .least_gain = INFINITY};
    return play(&d);
}
