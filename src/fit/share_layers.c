/*
 * share_layers: layers over the stages of one pipeline, stages of different speed.
 *
 * A dealing is measured by playing it (schedule.h). Which one is best is found without playing all.
 * With t both passes of one micro-batch on a stage, f and b each of them, m micro-batches, 'all'
 * the sum of t over all stages, and for one stage n stages behind it and 'after' their sum of t, no
 * 1F1B pipeline is faster than all + U, where U is the largest, over all stages, of
 *
 *   (m - 1) t - min(m - 1, n) f    the first micro-batch goes to the end and back to the stage;
 *                                  what it has to do from there on; and the last one to the front
 *   (m - 1 - n) t + after          the same, and the last micro-batch to the end and back; m > n +
 * 1
 *
 * For each cap on U the least sum is a shortest path over (stage, layers dealt), from the last
 * stage back: a smaller sum behind a stage is better for the sum and for U. So the least of all + U
 * is found exactly, by halving what is left between caps, and mostly the pipeline played takes just
 * that. Where it takes longer, what lies between is enumerated stage by stage under the same bound.
 * The tail is that of the slowest stage of some group. If it is to be no longer than some value,
 * then no stage of a group may be slower than all those of it whose tails are not; so ranges of the
 * tail are bounded by the best pipeline below their upper end, and halved while that is too low.
 *
 * The rule of thumb, m times the slowest stage and once all others, is no bound: a pipeline whose
 * slowest stage is its first hides others' passes behind that stage's forwards, and is faster.
 */
#include <stdlib.h>

#include "schedule.h"
#include "share.h"

#define EXACT      (1 - 1e-12) /* sums of the same numbers in another order differ by less */
#define PLAYED_MAX 3000U       /* pipelines of one question; past that the answer has a gap */
#define NODES_MAX  300000U
#define PATHS_MAX  20000U
#define GROUPS     4U
#define NEVER      1e30

struct entry {
    double t, g;
    bool fits;
};

struct tail_from {
    double t, tail; /* of a stage with some layers */
};

struct dealer {
    const struct fit_dealing *it;
    uint32_t spare;         /* layers beyond one for each stage; positions are counted in them */
    struct entry *entries;  /* [stage][position, or one][extra layers] */
    double *least;          /* [stage][position] sum of the stages from here on, below a cap */
    double *widest;         /* the same: their least possible U */
    uint32_t *take;         /* extra layers that 'least' gives the stage */
    double *passes;         /* forward and backward by stage, to play */
    uint32_t *dealt, *best; /* extra layers by stage */
    struct tail_from *tails;
    uint32_t tail_end[GROUPS + 1]; /* where the tails of a group begin, and the next one's */
    double most_s[GROUPS];         /* stages of a group may take no more, for now */
    double tail_s;                 /* and no tail is less */
    double *values;                /* of tails, ascending */
    uint32_t nodes, paths;         /* looked at */
    double floor_s;                /* of all dealings that the paths stand for */
    struct fit_layers_dealt answer;
    bool found, gave_up;
};

static struct entry *entry_of(const struct dealer *d, uint32_t stage, uint32_t position,
                              uint32_t extra)
{
    size_t width = d->spare + (size_t)1, from = d->it->alike ? 0 : position;
    return &d->entries[((d->it->alike ? stage : stage * width + from)) * width + extra];
}

static double *at(const struct dealer *d, double *table, uint32_t stage, uint32_t position)
{
    return &table[stage * (d->spare + (size_t)1) + position];
}

/* Extra layers that a stage may take from a position: the last one takes all that are left. */
static uint32_t least_extra(const struct dealer *d, uint32_t stage, uint32_t position)
{
    return stage + 1 == d->it->stages ? d->spare - position : 0;
}

static double bound_now(const struct dealer *d)
{
    return d->found ? d->answer.step_s : d->it->limit_s;
}

/* Measure */

static bool measure(const struct fit_dealing *it, const uint32_t *layers, double *passes,
                    double *ret_pipe_s, double *ret_step_s)
{
    double slowest[GROUPS] = {0}, tail = 0;
    uint32_t first = 0, stages[GROUPS] = {0}, firsts[GROUPS] = {0};
    for (uint32_t i = 0; i < it->stages; i++) {
        struct fit_desk desk = it->desk_of(it->context, i, first, layers[i]);
        double time = desk.forward_s + desk.backward_s;
        uint32_t group = it->group[i];
        MYR_ASSERT(group < GROUPS);
        if (!desk.fits) {
            return false;
        }
        if (time > slowest[group]) {
            slowest[group] = time;
            stages[group] = i;
            firsts[group] = first;
        }
        passes[i] = desk.forward_s;
        passes[it->stages + i] = desk.backward_s;
        first += layers[i];
    }
    struct fit_schedule schedule = {.kind = MYR_SCHEDULE_1F1B,
                                    .pp = it->stages,
                                    .vp = 1,
                                    .micro_batches = it->micro_batches,
                                    .forward_s = passes,
                                    .backward_s = passes + it->stages,
                                    .weight_s = passes + 2 * (size_t)it->stages};
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (slowest[i] > 0) {
            uint32_t stage = stages[i];
            tail = fit_max(tail, it->tail_of(it->context, stage, firsts[i], layers[stage]));
        }
    }
    *ret_pipe_s = fit_schedule_s(&schedule);
    *ret_step_s = *ret_pipe_s + tail;
    return true;
}

bool fit_layers_s(const struct fit_dealing *it, const uint32_t *layers, double *ret_pipe_s,
                  double *ret_step_s)
{
    double *passes = myr_xcalloc(3 * (size_t)it->stages, sizeof(*passes));
    bool fits = measure(it, layers, passes, ret_pipe_s, ret_step_s);
    free(passes);
    return fits;
}

/* Plays what stands in 'dealt' and keeps it where it is the best. */
static void play(struct dealer *d)
{
    uint32_t count = d->it->stages;
    uint32_t *whole = d->best + count;
    double pipe_s, step_s;
    for (uint32_t i = 0; i < count; i++) {
        whole[i] = d->dealt[i] + 1;
    }
    d->answer.played++;
    if (measure(d->it, whole, d->passes, &pipe_s, &step_s) && step_s < bound_now(d)) {
        d->answer.step_s = step_s;
        d->answer.pipe_s = pipe_s;
        d->found = true;
        memcpy(d->best, d->dealt, count * sizeof(*d->best));
    }
}

/* Bounds */

/* May the stage have these layers? If not, then no more of them either. */
static bool allowed(const struct dealer *d, uint32_t stage, const struct entry *entry)
{
    return entry->fits && entry->t <= d->most_s[d->it->group[stage]];
}

/* What a stage adds to U, with this much behind it. */
static double u_of(const struct dealer *d, uint32_t stage, const struct entry *entry, double after)
{
    double m = d->it->micro_batches, behind = d->it->stages - 1 - stage;
    return m > behind + 1 ? fit_max(entry->g, (m - 1 - behind) * entry->t + after) : entry->g;
}

/* Fills 'least' and 'take' for stages that keep below the cap, from the last one back. */
static double least_sum(struct dealer *d, double cap)
{
    uint32_t stages = d->it->stages;
    for (uint32_t x = 0; x <= d->spare; x++) {
        *at(d, d->least, stages, x) = x == d->spare ? 0 : NEVER;
    }
    for (uint32_t s = stages; s-- > 0;) {
        for (uint32_t x = 0; x <= (s ? d->spare : 0); x++) {
            double least = NEVER;
            for (uint32_t e = least_extra(d, s, x); e <= d->spare - x; e++) {
                const struct entry *entry = entry_of(d, s, x, e);
                if (!allowed(d, s, entry)) {
                    break;
                }
                double after = *at(d, d->least, s + 1, x + e), sum = entry->t + after;
                if (u_of(d, s, entry, after) <= cap && sum < least) {
                    least = sum;
                    d->take[s * (d->spare + (size_t)1) + x] = e;
                }
            }
            *at(d, d->least, s, x) = least;
        }
    }
    return d->least[0];
}

/* The dealing of the shortest path, to 'dealt'; returns its U. */
static double follow(struct dealer *d)
{
    double u = 0;
    uint32_t x = 0;
    for (uint32_t s = 0; s < d->it->stages; s++) {
        uint32_t extra = d->take[s * (d->spare + (size_t)1) + x];
        const struct entry *entry = entry_of(d, s, x, extra);
        d->dealt[s] = extra;
        x += extra;
        u = fit_max(u, u_of(d, s, entry, *at(d, d->least, s + 1, x)));
    }
    MYR_ASSERT(x == d->spare);
    return u;
}

/* The least possible U from every stage and position on; 'least' bounds what is behind. */
static double least_widest(struct dealer *d)
{
    uint32_t stages = d->it->stages;
    for (uint32_t x = 0; x <= d->spare; x++) {
        *at(d, d->widest, stages, x) = x == d->spare ? 0 : NEVER;
    }
    for (uint32_t s = stages; s-- > 0;) {
        for (uint32_t x = 0; x <= (s ? d->spare : 0); x++) {
            double least = NEVER;
            for (uint32_t e = least_extra(d, s, x); e <= d->spare - x; e++) {
                const struct entry *entry = entry_of(d, s, x, e);
                if (!allowed(d, s, entry)) {
                    break;
                }
                double u = u_of(d, s, entry, *at(d, d->least, s + 1, x + e));
                least = fit_min(least, fit_max(u, *at(d, d->widest, s + 1, x + e)));
            }
            *at(d, d->widest, s, x) = least;
        }
    }
    return d->widest[0];
}

/* Tables */

/* Where it does not matter which layers a stage has, any will do. */
static uint32_t first_layer(const struct dealer *d, uint32_t stage, uint32_t position,
                            uint32_t extra)
{
    bool last = stage + 1 == d->it->stages;
    return d->it->alike && last ? d->it->layers - extra - 1 : stage + position;
}

static void fill_entries(struct dealer *d)
{
    const struct fit_dealing *it = d->it;
    double m = it->micro_batches;
    for (uint32_t s = 0; s < it->stages; s++) {
        double hidden = fit_min(m - 1, it->stages - 1 - s);
        uint32_t positions = it->alike || s == 0 ? 1 : d->spare + 1;
        for (uint32_t x = 0; x < positions; x++) {
            for (uint32_t e = it->alike ? 0 : least_extra(d, s, x); e <= d->spare - x; e++) {
                struct fit_desk desk = it->desk_of(it->context, s, first_layer(d, s, x, e), e + 1);
                double t = desk.forward_s + desk.backward_s;
                if (!desk.fits || m * t * EXACT >= it->limit_s) {
                    break; /* entries are empty from here on; so they are with more layers */
                }
                *entry_of(d, s, x, e) =
                    (struct entry){t, (m - 1) * t - hidden * desk.forward_s, true};
            }
        }
    }
}

static int by_time(const void *a, const void *b)
{
    double left = ((const struct tail_from *)a)->t, right = ((const struct tail_from *)b)->t;
    return (left > right) - (left < right);
}

static size_t entry_count(const struct dealer *d)
{
    size_t width = d->spare + (size_t)1;
    return d->it->stages * width * (d->it->alike ? 1 : width);
}

/* Tails of all stages that could be part of something better, group by group. */
static void fill_tails(struct dealer *d)
{
    uint32_t count = 0;
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t s = 0; s < d->it->stages; s++) {
            uint32_t positions = d->it->alike || s == 0 ? 1 : d->spare + 1;
            for (uint32_t x = 0; x < positions && d->it->group[s] == group; x++) {
                for (uint32_t e = 0; e <= d->spare - x; e++) {
                    const struct entry *entry = entry_of(d, s, x, e);
                    if (entry->fits) {
                        uint32_t first = first_layer(d, s, x, e);
                        double tail = d->it->tail_of(d->it->context, s, first, e + 1);
                        d->tails[count++] = (struct tail_from){entry->t, tail};
                    }
                }
            }
        }
        uint32_t from = d->tail_end[group];
        d->tail_end[group + 1] = count;
        qsort(d->tails + from, count - from, sizeof(*d->tails), by_time);
    }
}

/* Search */

/*
 * All dealings with U above 'low' and up to 'high', whose sum is no less than 'sum'. The shortest
 * path below 'high' has some U of its own: with a larger one nothing is better than it.
 */
static void look_between(struct dealer *d, double low, double high, double sum)
{
    double below = low + sum + d->tail_s;
    if (high <= low || below * EXACT >= bound_now(d)) {
        return;
    }
    if (high - low <= high * 1e-12 || d->paths >= PATHS_MAX) {
        d->floor_s = fit_min(d->floor_s, below);
        return;
    }
    d->paths++;
    sum = least_sum(d, high);
    if (sum >= NEVER) {
        return;
    }
    double u = follow(d);
    play(d);
    d->floor_s = fit_min(d->floor_s, u + sum + d->tail_s);
    double next = u * EXACT, middle = low + (next - low) / 2;
    look_between(d, middle, next, sum);
    look_between(d, low, middle, sum);
}

/* Stages before the one that is dealt to. */
struct prefix {
    double sum; /* of t */
    double g;   /* the largest */
    double h;   /* the largest (m - 1 - n) t less the sum up to that stage: 'after' is to come */
};

/* All that the bound lets pass, stage by stage. */
static void enumerate(struct dealer *d, uint32_t stage, uint32_t position, struct prefix before)
{
    double m = d->it->micro_batches, behind = d->it->stages - 1 - stage;
    if (stage == d->it->stages) {
        play(d);
        return;
    }
    for (uint32_t e = least_extra(d, stage, position); e <= d->spare - position; e++) {
        const struct entry *entry = entry_of(d, stage, position, e);
        d->gave_up = d->gave_up || d->nodes >= NODES_MAX || d->answer.played >= PLAYED_MAX;
        if (!allowed(d, stage, entry) || d->gave_up) {
            return;
        }
        d->nodes++;
        struct prefix now = {before.sum + entry->t, fit_max(before.g, entry->g), before.h};
        if (m > behind + 1) {
            now.h = fit_max(now.h, (m - 1 - behind) * entry->t - now.sum);
        }
        double all = now.sum + *at(d, d->least, stage + 1, position + e);
        double u = fit_max(fit_max(now.g, now.h + all), *at(d, d->widest, stage + 1, position + e));
        if (all < NEVER && u < NEVER && (all + u + d->tail_s) * EXACT < bound_now(d)) {
            d->dealt[stage] = e;
            enumerate(d, stage + 1, position + e, now);
        }
    }
}

/* With no tail above this: no stage of a group is slower than the slowest one that keeps to it. */
static void cap_tail(struct dealer *d, double tail)
{
    for (uint32_t i = 0; i < GROUPS; i++) {
        d->most_s[i] = 0;
        for (uint32_t k = d->tail_end[i]; k < d->tail_end[i + 1]; k++) {
            if (d->tails[k].tail <= tail) {
                d->most_s[i] = fit_max(d->most_s[i], d->tails[k].t);
            }
        }
    }
}

static void enumerate_below(struct dealer *d)
{
    /* Better ones have no U above this; sums below the cap bound what is left of them. */
    double left = bound_now(d) - d->tail_s, cap = left - least_sum(d, NEVER);
    for (int i = 0; i < 3; i++) {
        cap = left - least_sum(d, cap);
    }
    (void)least_sum(d, cap);
    (void)least_widest(d);
    enumerate(d, 0, 0, (struct prefix){0, 0, -NEVER});
}

/* Dealings with a tail among these values, the first to the last; they are sorted. */
static void look_into(struct dealer *d, uint32_t first, uint32_t last)
{
    cap_tail(d, d->values[last]);
    d->tail_s = d->values[first];
    double sum = least_sum(d, NEVER), low = sum < NEVER ? least_widest(d) : NEVER;
    if (low >= NEVER || (low + sum + d->tail_s) * EXACT >= bound_now(d)) {
        return;
    }
    d->floor_s = NEVER;
    if (least_sum(d, low * (1 + 1e-12)) < NEVER) { /* a good one, and a limit for what follows */
        (void)follow(d);
        play(d);
    }
    look_between(d, low * EXACT, fit_min(bound_now(d), NEVER / 2), sum);
    double floor_s = d->floor_s;
    if (floor_s * (1 + 1e-12) >= bound_now(d)) {
        return;
    }
    if (first < last) {
        uint32_t middle = first + (last - first) / 2;
        look_into(d, middle + 1, last);
        look_into(d, first, middle);
        return;
    }
    enumerate_below(d); /* the bound on the pipeline is too low, or the tail's */
    if (d->gave_up) {
        d->answer.floor_s = fit_min(d->answer.floor_s, floor_s);
    }
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void search(struct dealer *d)
{
    d->answer.floor_s = NEVER;
    for (uint32_t i = 0; i < GROUPS; i++) {
        d->most_s[i] = NEVER;
    }
    double sum = least_sum(d, NEVER), low = sum < NEVER ? least_widest(d) : NEVER;
    if (low >= NEVER || (low + sum) * EXACT >= d->it->limit_s) {
        return;
    }
    fill_tails(d);
    uint32_t count = 0, all = d->tail_end[GROUPS];
    for (uint32_t i = 0; i < all; i++) {
        d->values[i] = d->tails[i].tail;
    }
    qsort(d->values, all, sizeof(*d->values), by_value);
    for (uint32_t i = 0; i < all; i++) {
        if (count == 0 || d->values[i] > d->values[count - 1]) {
            d->values[count++] = d->values[i];
        }
    }
    MYR_ASSERT(count > 0); /* some dealing is possible, so some stage is */
    look_into(d, 0, count - 1);
}

bool fit_deal_layers(const struct fit_dealing *it, struct myr_arena *arena, uint32_t *ret_layers,
                     struct fit_layers_dealt *ret)
{
    struct dealer d = {.it = it};
    if (it->stages == 0 || it->layers < it->stages) {
        return false;
    }
    d.spare = it->layers - it->stages;
    size_t cells = (it->stages + (size_t)1) * (d.spare + (size_t)1), entries = entry_count(&d);
    d.entries = MYR_ARENA_NEW(arena, struct entry, entries);
    d.least = MYR_ARENA_NEW(arena, double, cells);
    d.widest = MYR_ARENA_NEW(arena, double, cells);
    d.take = MYR_ARENA_NEW(arena, uint32_t, cells);
    d.passes = MYR_ARENA_NEW(arena, double, 3 * (size_t)it->stages);
    d.dealt = MYR_ARENA_NEW(arena, uint32_t, it->stages);
    d.values = MYR_ARENA_NEW(arena, double, entries);
    d.best = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)it->stages);
    d.tails = MYR_ARENA_NEW(arena, struct tail_from, entries);
    fill_entries(&d);
    search(&d);
    d.answer.proven = !d.gave_up;
    if (!d.gave_up || d.answer.floor_s > bound_now(&d)) {
        d.answer.floor_s = bound_now(&d);
    }
    for (uint32_t i = 0; d.found && i < it->stages; i++) {
        ret_layers[i] = d.best[i] + 1;
    }
    *ret = d.answer;
    return d.found;
}
