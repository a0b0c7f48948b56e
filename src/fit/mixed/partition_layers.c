/*
 * partition_layers: layers over the stages of one pipeline, stages of different speed.
 *
 * A partition is measured by playing it (schedule.h). Which one is best is found without playing
 * all. With t both passes of one micro-batch on a stage, f and b each of them, m micro-batches,
 * 'all' the sum of t over all stages, and for one stage n stages behind it and 'after' their sum of
 * t, no 1F1B pipeline is faster than all + U, where U is the largest, over all stages, of
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
 * The tail belongs to the slowest stage of each group. Ranges of these stages' times are bounded by
 * the least tail inside of them and the best pipeline that keeps to them (some stage of the group
 * at the lower end or above, none past the upper), and cut where that pipeline's own slowest stage
 * is.
 *
 * The rule of thumb, m times the slowest stage and once all others, is no bound: a pipeline whose
 * slowest stage is its first hides others' passes behind that stage's forwards, and is faster.
 */
#include <stdlib.h>

#include "cost/schedule.h"
#include "mixed/partition.h"

#define EXACT      (1 - 1e-12) /* sums of the same numbers in another order differ by less */
#define PLAYED_MAX 3000U       /* pipelines of one question; past that the answer has a gap */
#define NODES_MAX  300000U
#define PATHS_MAX  20000U
#define RANGES_MAX 500U
#define GROUPS     4U
#define NEVER      1e30

struct entry {
    double t, g;
    bool fits;
};

struct update_from {
    double t, update; /* of a stage with some layers */
};

struct partitioner {
    const struct fit_partition *it;
    uint32_t spare;         /* layers beyond one for each stage; positions are counted in them */
    struct entry *entries;  /* [stage][position, or one][extra layers] */
    double *least;          /* [stage][position][needs] sum from here on, below a cap */
    double *widest;         /* the same: their least possible U */
    uint32_t *take;         /* extra layers that 'least' gives the stage */
    double *passes;         /* forward and backward by stage, to play */
    uint32_t *given, *best; /* extra layers by stage */
    uint32_t *lowest;       /* the same, of the path with the lowest floor */
    struct update_from *updates;
    uint32_t update_end[GROUPS + 1]; /* where the tails of a group begin, and the next one's */
    double least_s[GROUPS], most_s[GROUPS]; /* of the slowest stage of a group */
    uint32_t needs;  /* a bit for each group of which some stage has to take that long */
    double update_s; /* no tail is less */
    uint32_t nodes, paths, ranges; /* looked at */
    double floor_s;                /* of all partitions that the paths stand for */
    struct fit_partitioned answer;
    bool found, gave_up;
};

static struct entry *entry_of(const struct partitioner *d, uint32_t stage, uint32_t position,
                              uint32_t extra)
{
    size_t width = d->spare + (size_t)1, from = d->it->alike ? 0 : position;
    return &d->entries[((d->it->alike ? stage : stage * width + from)) * width + extra];
}

/* A cell of the tables for groups that still need a stage, a subset of 'needs'. */
static size_t cell(const struct partitioner *d, uint32_t stage, uint32_t position, uint32_t needs)
{
    return (stage * (d->spare + (size_t)1) + position) * (1U << GROUPS) + needs;
}

/* Extra layers that a stage may take from a position: the last one takes all that are left. */
static uint32_t least_extra(const struct partitioner *d, uint32_t stage, uint32_t position)
{
    return stage + 1 == d->it->stages ? d->spare - position : 0;
}

static double bound_now(const struct partitioner *d)
{
    return d->found ? d->answer.step_s : d->it->limit_s;
}

/* Measure */

static bool measure(const struct fit_partition *it, const uint32_t *layers, double *passes,
                    double *ret_pipe_s, double *ret_step_s)
{
    double slowest[GROUPS] = {}, update = 0;
    uint32_t first = 0, stages[GROUPS] = {}, firsts[GROUPS] = {};
    for (uint32_t i = 0; i < it->stages; i++) {
        struct fit_stage_price price = it->price_of(it->context, i, first, layers[i]);
        double time = price.forward_s + price.backward_s;
        uint32_t group = it->group[i];
        MYR_ASSERT(group < GROUPS);
        if (!price.fits) {
            return false;
        }
        if (time > slowest[group]) {
            slowest[group] = time;
            stages[group] = i;
            firsts[group] = first;
        }
        passes[i] = price.forward_s;
        passes[it->stages + i] = price.backward_s;
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
            update = fit_max(update, it->update_of(it->context, stage, firsts[i], layers[stage]));
        }
    }
    *ret_pipe_s = fit_schedule_s(&schedule);
    *ret_step_s = *ret_pipe_s + update;
    return true;
}

bool fit_layers_s(const struct fit_partition *it, const uint32_t *layers, double *ret_pipe_s,
                  double *ret_step_s)
{
    MYR_CLEANUP(myr_free_at)
    double *passes = myr_xcalloc(3 * (size_t)it->stages, sizeof(*passes));
    return measure(it, layers, passes, ret_pipe_s, ret_step_s);
}

/* Plays what stands in 'dealt' and keeps it where it is the best. */
static void play(struct partitioner *d)
{
    uint32_t count = d->it->stages;
    uint32_t *whole = d->best + count;
    double pipe_s, step_s;
    for (uint32_t i = 0; i < count; i++) {
        whole[i] = d->given[i] + 1;
    }
    d->answer.played++;
    if (measure(d->it, whole, d->passes, &pipe_s, &step_s) && step_s < bound_now(d)) {
        d->answer.step_s = step_s;
        d->answer.pipe_s = pipe_s;
        d->found = true;
        memcpy(d->best, d->given, count * sizeof(*d->best));
    }
}

/* Bounds */

/* May the stage have these layers? If not, then no more of them either. */
static bool allowed(const struct partitioner *d, uint32_t stage, const struct entry *entry)
{
    return entry->fits && entry->t <= d->most_s[d->it->group[stage]];
}

/* What is needed behind a stage that has these layers. */
static uint32_t needed_after(const struct partitioner *d, uint32_t stage, const struct entry *entry,
                             uint32_t needs)
{
    uint32_t group = d->it->group[stage];
    return entry->t >= d->least_s[group] ? needs & ~(1U << group) : needs;
}

/* What a stage adds to U, with this much behind it. */
static double u_of(const struct partitioner *d, uint32_t stage, const struct entry *entry,
                   double after)
{
    double m = d->it->micro_batches, behind = d->it->stages - 1 - stage;
    return m > behind + 1 ? fit_max(entry->g, (m - 1 - behind) * entry->t + after) : entry->g;
}

/* One cell of 'least' and 'take', below the cap. */
static void find_least(struct partitioner *d, uint32_t s, uint32_t x, uint32_t needs, double cap)
{
    size_t here = cell(d, s, x, needs);
    d->least[here] = NEVER;
    for (uint32_t e = least_extra(d, s, x); e <= d->spare - x; e++) {
        const struct entry *entry = entry_of(d, s, x, e);
        if (!allowed(d, s, entry)) {
            break;
        }
        double after = d->least[cell(d, s + 1, x + e, needed_after(d, s, entry, needs))];
        if (entry->t + after < d->least[here] && u_of(d, s, entry, after) <= cap) {
            d->least[here] = entry->t + after;
            d->take[here] = e;
        }
    }
}

/* One cell of 'widest'; 'least' bounds what is behind. */
static void find_widest(struct partitioner *d, uint32_t s, uint32_t x, uint32_t needs)
{
    double least = NEVER;
    for (uint32_t e = least_extra(d, s, x); e <= d->spare - x; e++) {
        const struct entry *entry = entry_of(d, s, x, e);
        if (!allowed(d, s, entry)) {
            break;
        }
        size_t next = cell(d, s + 1, x + e, needed_after(d, s, entry, needs));
        least = fit_min(least, fit_max(u_of(d, s, entry, d->least[next]), d->widest[next]));
    }
    d->widest[cell(d, s, x, needs)] = least;
}

/* All cells from the last stage back, for every subset of what is needed. */
static void fill(struct partitioner *d, bool widest, double cap)
{
    uint32_t stages = d->it->stages;
    for (uint32_t needs = 0;; needs = (needs - d->needs) & d->needs) {
        for (uint32_t x = 0; x <= d->spare; x++) {
            bool done = x == d->spare && needs == 0;
            (widest ? d->widest : d->least)[cell(d, stages, x, needs)] = done ? 0 : NEVER;
        }
        if (needs == d->needs) {
            break;
        }
    }
    for (uint32_t s = stages; s-- > 0;) {
        for (uint32_t x = 0; x <= (s ? d->spare : 0); x++) {
            for (uint32_t needs = 0;; needs = (needs - d->needs) & d->needs) {
                if (widest) {
                    find_widest(d, s, x, needs);
                } else {
                    find_least(d, s, x, needs, cap);
                }
                if (needs == d->needs) {
                    break;
                }
            }
        }
    }
}

/* The least sum of all stages with U below the cap. */
static double least_sum(struct partitioner *d, double cap)
{
    fill(d, false, cap);
    return d->least[cell(d, 0, 0, d->needs)];
}

/* The least possible U, with what 'least' says of sums. */
static double least_widest(struct partitioner *d)
{
    fill(d, true, 0);
    return d->widest[cell(d, 0, 0, d->needs)];
}

/* The partition of the shortest path, to 'dealt'; returns its U. */
static double follow(struct partitioner *d)
{
    double u = 0;
    uint32_t x = 0, needs = d->needs;
    for (uint32_t s = 0; s < d->it->stages; s++) {
        uint32_t extra = d->take[cell(d, s, x, needs)];
        const struct entry *entry = entry_of(d, s, x, extra);
        d->given[s] = extra;
        x += extra;
        needs = needed_after(d, s, entry, needs);
        u = fit_max(u, u_of(d, s, entry, d->least[cell(d, s + 1, x, needs)]));
    }
    MYR_ASSERT(x == d->spare && needs == 0);
    return u;
}

/* Tables */

/* Where it does not matter which layers a stage has, any will do. */
static uint32_t first_layer(const struct partitioner *d, uint32_t stage, uint32_t position,
                            uint32_t extra)
{
    bool last = stage + 1 == d->it->stages;
    return d->it->alike && last ? d->it->layers - extra - 1 : stage + position;
}

static void fill_entries(struct partitioner *d)
{
    const struct fit_partition *it = d->it;
    double m = it->micro_batches;
    for (uint32_t s = 0; s < it->stages; s++) {
        double hidden = fit_min(m - 1, it->stages - 1 - s);
        uint32_t positions = it->alike || s == 0 ? 1 : d->spare + 1;
        for (uint32_t x = 0; x < positions; x++) {
            for (uint32_t e = it->alike ? 0 : least_extra(d, s, x); e <= d->spare - x; e++) {
                struct fit_stage_price price =
                    it->price_of(it->context, s, first_layer(d, s, x, e), e + 1);
                double t = price.forward_s + price.backward_s;
                if (!price.fits || m * t * EXACT >= it->limit_s) {
                    break; /* entries are empty from here on; so they are with more layers */
                }
                *entry_of(d, s, x, e) =
                    (struct entry){t, (m - 1) * t - hidden * price.forward_s, true};
            }
        }
    }
}

static int by_time(const void *a, const void *b)
{
    double left = ((const struct update_from *)a)->t, right = ((const struct update_from *)b)->t;
    return (left > right) - (left < right);
}

static size_t entry_count(const struct partitioner *d)
{
    size_t width = d->spare + (size_t)1;
    return d->it->stages * width * (d->it->alike ? 1 : width);
}

/* Those of one stage, whatever it is given. */
static uint32_t add_updates(struct partitioner *d, uint32_t stage, uint32_t count)
{
    uint32_t positions = d->it->alike || stage == 0 ? 1 : d->spare + 1;
    for (uint32_t x = 0; x < positions; x++) {
        for (uint32_t e = 0; e <= d->spare - x; e++) {
            const struct entry *entry = entry_of(d, stage, x, e);
            if (entry->fits) {
                uint32_t first = first_layer(d, stage, x, e);
                double update = d->it->update_of(d->it->context, stage, first, e + 1);
                d->updates[count++] = (struct update_from){entry->t, update};
            }
        }
    }
    return count;
}

/* Updates of all stages that could be part of something better, group by group. */
static void fill_updates(struct partitioner *d)
{
    uint32_t count = 0;
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t s = 0; s < d->it->stages; s++) {
            count = d->it->group[s] == group ? add_updates(d, s, count) : count;
        }
        uint32_t from = d->update_end[group];
        d->update_end[group + 1] = count;
        qsort(d->updates + from, count - from, sizeof(*d->updates), by_time);
    }
}

/* Search */

/*
 * All partitions with U above 'low' and up to 'high', whose sum is no less than 'sum'. The shortest
 * path below 'high' has some U of its own: with a larger one nothing is better than it.
 */
static void look_between(struct partitioner *d, double low, double high, double sum)
{
    double below = low + sum + d->update_s;
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
    if (u + sum + d->update_s < d->floor_s) {
        d->floor_s = u + sum + d->update_s;
        memcpy(d->lowest, d->given, d->it->stages * sizeof(*d->lowest));
    }
    double next = u * EXACT, middle = low + (next - low) / 2;
    look_between(d, middle, next, sum);
    look_between(d, low, middle, sum);
}

/* Stages before the one that is dealt to. */
struct prefix {
    double sum; /* of t */
    double g;   /* the largest */
    double h;   /* the largest (m - 1 - n) t less the sum up to that stage: 'after' is to come */
    uint32_t needs;
};

/* All that the bound lets pass, stage by stage. */
static void enumerate(struct partitioner *d, uint32_t stage, uint32_t position,
                      struct prefix before)
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
        struct prefix now = {before.sum + entry->t, fit_max(before.g, entry->g), before.h,
                             needed_after(d, stage, entry, before.needs)};
        size_t next = cell(d, stage + 1, position + e, now.needs);
        if (m > behind + 1) {
            now.h = fit_max(now.h, (m - 1 - behind) * entry->t - now.sum);
        }
        double all = now.sum + d->least[next];
        double u = fit_max(fit_max(now.g, now.h + all), d->widest[next]);
        if (all < NEVER && u < NEVER && (all + u + d->update_s) * EXACT < bound_now(d)) {
            d->given[stage] = e;
            enumerate(d, stage + 1, position + e, now);
        }
    }
}

/* The slowest stage of each group takes this long. */
struct range {
    double low[GROUPS], high[GROUPS];
};

/* The largest of the groups' least tails in their ranges; NEVER where one has no stage there. */
static double range_update(const struct partitioner *d, const struct range *range)
{
    double largest = 0;
    for (uint32_t i = 0; i < GROUPS; i++) {
        double least = d->update_end[i] == d->update_end[i + 1] ? 0 : NEVER;
        for (uint32_t k = d->update_end[i]; k < d->update_end[i + 1]; k++) {
            if (d->updates[k].t >= range->low[i] && d->updates[k].t <= range->high[i]) {
                least = fit_min(least, d->updates[k].update);
            }
        }
        largest = fit_max(largest, least);
    }
    return largest;
}

static void set_range(struct partitioner *d, const struct range *range)
{
    d->needs = 0;
    d->update_s = range_update(d, range);
    for (uint32_t i = 0; i < GROUPS; i++) {
        d->least_s[i] = range->low[i];
        d->most_s[i] = range->high[i];
        d->needs |= range->low[i] > 0 ? 1U << i : 0;
    }
}

/* The group whose tail is the longest in the partition with the lowest floor; its slowest stage. */
static uint32_t longest_update(const struct partitioner *d, double *ret_slowest_s)
{
    double slowest[GROUPS] = {}, updates[GROUPS] = {};
    uint32_t x = 0, longest = 0;
    for (uint32_t s = 0; s < d->it->stages; s++) {
        uint32_t extra = d->lowest[s], group = d->it->group[s];
        double t = entry_of(d, s, x, extra)->t;
        if (t > slowest[group]) {
            slowest[group] = t;
            updates[group] = d->it->update_of(d->it->context, s, s + x, extra + 1);
        }
        x += extra;
    }
    for (uint32_t i = 1; i < GROUPS; i++) {
        longest = updates[i] > updates[longest] ? i : longest;
    }
    *ret_slowest_s = slowest[longest];
    return longest;
}

static void enumerate_below(struct partitioner *d)
{
    /* Better ones have no U above this; sums below the cap bound what is left of them. */
    double left = bound_now(d) - d->update_s, cap = left - least_sum(d, NEVER);
    for (int i = 0; i < 3; i++) {
        cap = left - least_sum(d, cap);
    }
    (void)least_sum(d, cap);
    (void)least_widest(d);
    enumerate(d, 0, 0, (struct prefix){0, 0, -NEVER, d->needs});
}

/* The best pipelines of a range, played; returns what none of its partitions beats. */
static double bound_range(struct partitioner *d, const struct range *range)
{
    set_range(d, range);
    double sum = d->update_s < NEVER ? least_sum(d, NEVER) : NEVER;
    double low = sum < NEVER ? least_widest(d) : NEVER;
    if (low >= NEVER || (low + sum + d->update_s) * EXACT >= bound_now(d)) {
        return NEVER;
    }
    d->floor_s = NEVER;
    if (least_sum(d, low * (1 + 1e-12)) < NEVER) { /* a good one, and a limit for what follows */
        (void)follow(d);
        play(d);
    }
    look_between(d, low * EXACT, fit_min(bound_now(d), NEVER / 2), sum);
    return d->floor_s * (1 + 1e-12) >= bound_now(d) ? NEVER : d->floor_s;
}

/* All partitions of a range: bounded, or cut at the best pipeline's own slowest stage. */
static void look_into(struct partitioner *d, const struct range *range)
{
    double slowest, floor_s = bound_range(d, range);
    if (floor_s >= NEVER) {
        return;
    }
    uint32_t group = longest_update(d, &slowest);
    struct range below = *range, here = *range, above = *range;
    below.high[group] = slowest * EXACT;
    here.low[group] = slowest * EXACT;
    here.high[group] = slowest * (1 + 1e-12);
    above.low[group] = slowest * (1 + 1e-12);
    bool cut = range->low[group] >= here.low[group] && range->high[group] <= here.high[group];
    if (cut || d->ranges++ >= RANGES_MAX) {
        enumerate_below(d); /* the bound on the pipeline is too low */
        d->answer.floor_s = d->gave_up ? fit_min(d->answer.floor_s, floor_s) : d->answer.floor_s;
        return;
    }
    look_into(d, &here);
    look_into(d, &above);
    look_into(d, &below);
}

static void search(struct partitioner *d)
{
    struct range all = {{}, {NEVER, NEVER, NEVER, NEVER}};
    d->answer.floor_s = NEVER;
    set_range(d, &all); /* no tails yet */
    double sum = least_sum(d, NEVER), low = sum < NEVER ? least_widest(d) : NEVER;
    if (low < NEVER && (low + sum) * EXACT < d->it->limit_s) {
        fill_updates(d);
        look_into(d, &all);
    }
}

bool fit_partition_layers(const struct fit_partition *it, struct myr_arena *arena,
                          uint32_t *ret_layers, struct fit_partitioned *ret)
{
    struct partitioner d = {.it = it};
    *ret = (struct fit_partitioned){.proven = true};
    if (it->stages == 0 || it->layers < it->stages) {
        return false;
    }
    d.spare = it->layers - it->stages;
    size_t cells = ((it->stages + (size_t)1) * (d.spare + (size_t)1)) << GROUPS,
           entries = entry_count(&d);
    d.entries = MYR_ARENA_NEW(arena, struct entry, entries);
    d.least = MYR_ARENA_NEW(arena, double, cells);
    d.widest = MYR_ARENA_NEW(arena, double, cells);
    d.take = MYR_ARENA_NEW(arena, uint32_t, cells);
    d.passes = MYR_ARENA_NEW(arena, double, 3 * (size_t)it->stages);
    d.given = MYR_ARENA_NEW(arena, uint32_t, it->stages);
    d.lowest = MYR_ARENA_NEW(arena, uint32_t, it->stages);
    d.best = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)it->stages);
    d.updates = MYR_ARENA_NEW(arena, struct update_from, entries);
    fill_entries(&d);
    search(&d);
    d.answer.proven = !d.gave_up;
    if (!d.gave_up || d.answer.floor_s > bound_now(&d)) {
        d.answer.floor_s = bound_now(&d);
    }
    uint32_t dealt = 0;
    for (uint32_t i = 0; d.found && i < it->stages; i++) {
        ret_layers[i] = d.best[i] + 1;
        dealt += ret_layers[i];
    }
    MYR_ASSERT(!d.found || (dealt == it->layers && d.answer.floor_s <= d.answer.step_s &&
                            d.answer.pipe_s <= d.answer.step_s && d.answer.step_s < it->limit_s));
    *ret = d.answer;
    return d.found;
}
