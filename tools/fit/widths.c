#include "widths.h"

#include <math.h>
#include <stdlib.h>

#define CANDIDATES 48   /* measured runs of which none is nearer on every axis */
#define GOAL       0.92 /* of samples inside; widths_check() says what is left of it on others */
#define ROUNDS     60

struct sample {
    double error, weight;
    const struct myr_run *run;
    struct myr_fit_distance near[CANDIDATES];
    uint32_t near_count;
    struct myr_fit_shares shares;
    enum grouping grouping;
    bool experts, open;
};

struct samples {
    struct sample *items;
    uint32_t count;
};

/* A doubling or another device never adds nothing, and never more than a factor. */
static const double least[MYR_INTERVAL_COUNT] = {
    [MYR_INTERVAL_DENSE] = 0.03,        [MYR_INTERVAL_EXPERTS] = 0.05,
    [MYR_INTERVAL_GPUS] = 0.02,         [MYR_INTERVAL_TOKENS] = 0.05,
    [MYR_INTERVAL_DEVICE] = 0.05,       [MYR_INTERVAL_PRECISION] = 0.03,
    [MYR_INTERVAL_EXPERT_COUNT] = 0.02, [MYR_INTERVAL_LINE] = 0.03,
    [MYR_INTERVAL_RELEASE] = 0.02,      [MYR_INTERVAL_GRID] = 0.005,
};
#define MOST 0.7

/* Told by other rows than those of a fit: what is open, and trainers that no fit has seen. */
static bool told_apart(int interval)
{
    return interval == MYR_INTERVAL_AXES_OPEN || interval == MYR_INTERVAL_FOREIGN;
}

static bool no_farther(const struct myr_fit_distance *a, const struct myr_fit_distance *b)
{
    for (int i = MYR_INTERVAL_FIRST_AXIS; i < MYR_INTERVAL_COUNT; i++) {
        if (a->axes[i] > b->axes[i]) {
            return false;
        }
    }
    return true;
}

/* Keeps those that no other beats on every axis. */
static void add_near(struct sample *sample, const struct myr_fit_distance *away)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sample->near_count; i++) {
        if (no_farther(&sample->near[i], away)) {
            return;
        }
    }
    for (uint32_t i = 0; i < sample->near_count; i++) {
        if (!no_farther(away, &sample->near[i])) {
            sample->near[kept++] = sample->near[i];
        }
    }
    sample->near_count = kept;
    if (kept < CANDIDATES) {
        sample->near[sample->near_count++] = *away;
    }
}

static struct sample sample_of(const struct fit *fit, const struct left *left, uint32_t row)
{
    const struct myr_run *items = fit->runs.items, *run = &items[row];
    uint32_t chosen = MYR_RUN_OPEN_RECOMPUTE | MYR_RUN_OPEN_ETP | MYR_RUN_OPEN_ZERO;
    struct sample s = {.error = fabs(left->errors[row]), .run = run};
    struct myr_fit_cost cost;
    struct myr_measured at = myr_measured_of(&fit->profiles, &run->it, &run->layout);
    myr_run_cost(run, &cost);
    s.shares = myr_fit_shares_of(&cost);
    s.experts = run->model.moe.expert_count > 0;
    s.open = run->open & ~chosen;
    for (uint32_t j = 0; j < fit->runs.count; j++) {
        bool out = left->counts[j] && left->group[j] == left->group[row];
        if (!out && fit_row_counts(fit, j)) {
            struct myr_measured other =
                myr_measured_of(&fit->profiles, &items[j].it, &items[j].layout);
            struct myr_fit_distance away = myr_fit_distance_of(&fit->profiles, &at, &other);
            add_near(&s, &away);
        }
    }
    return s;
}

static struct samples samples_of(const struct fit *fit, const struct left lefts[GROUPINGS])
{
    uint32_t n = fit->runs.count;
    struct samples ret = {calloc((size_t)n * GROUPINGS, sizeof(struct sample)), 0};
    for (int g = 0; g < GROUPINGS; g++) {
        uint32_t first = ret.count;
        for (uint32_t i = 0; i < n; i++) {
            if (lefts[g].counts[i]) {
                ret.items[ret.count] = sample_of(fit, &lefts[g], i);
                ret.items[ret.count++].grouping = (enum grouping)g;
            }
        }
        for (uint32_t i = first; i < ret.count; i++) {
            ret.items[i].weight = 1.0 / (ret.count - first);
        }
    }
    return ret;
}

static double width_of(const struct sample *s, const double widths[MYR_INTERVAL_COUNT])
{
    double best = -1, open = s->open ? widths[MYR_INTERVAL_AXES_OPEN] : 0;
    for (uint32_t i = 0; i < s->near_count; i++) {
        double width = myr_fit_width(widths, s->experts, &s->near[i], &s->shares);
        best = best < 0 || width < best ? width : best;
    }
    return sqrt(best * best + open * open);
}

static bool skipped(const struct sample *s, const struct myr_run *but)
{
    return but && left_same_family(s->run, but);
}

/* What quantile regression makes small: ten times what stands out, and what is too wide. */
static double loss_of(const struct samples *all, const double widths[MYR_INTERVAL_COUNT],
                      const struct myr_run *but)
{
    double sum = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct sample *s = &all->items[i];
        if (!skipped(s, but)) {
            double over = s->error - width_of(s, widths);
            sum += s->weight * (over > 0 ? 0.9 * over : -0.1 * over);
        }
    }
    return sum;
}

static double share_inside(const struct samples *all, const double widths[MYR_INTERVAL_COUNT],
                           const struct myr_run *but)
{
    double inside = 0, sum = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct sample *s = &all->items[i];
        bool usual =
            s->grouping == BY_FAMILY || s->grouping == BY_LAYOUT || s->grouping == BY_RELEASE;
        if (usual && !skipped(s, but)) {
            sum += s->weight;
            inside += s->error <= width_of(s, widths) ? s->weight : 0;
        }
    }
    return sum > 0 ? inside / sum : 0;
}

/* One number after the other, by steps that grow smaller. */
static void descend(const struct samples *all, const struct myr_run *but,
                    double widths[MYR_INTERVAL_COUNT])
{
    double best = loss_of(all, widths, but), step = 1.5;
    for (int round = 0; round < ROUNDS && step > 1.005; round++) {
        bool moved = false;
        for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
            for (int up = 0; !told_apart(i) && up < 2; up++) {
                double kept = widths[i], value = up ? kept * step : kept / step;
                widths[i] = fmin(fmax(value, least[i]), MOST);
                double got = loss_of(all, widths, but);
                moved = moved || got < best - 1e-9;
                widths[i] = got < best - 1e-9 ? widths[i] : kept;
                best = fmin(best, got);
            }
        }
        step = moved ? step : sqrt(step);
    }
}

static void solve(const struct samples *all, const struct myr_run *but,
                  double widths[MYR_INTERVAL_COUNT])
{
    for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
        widths[i] = told_apart(i) ? widths[i] : fmax(least[i], 0.08);
    }
    descend(all, but, widths);
    /* All of them by one factor, so that as many stay inside as are meant to. */
    double low = 0.3, high = 3, scaled[MYR_INTERVAL_COUNT];
    for (int round = 0; round < 30; round++) {
        double by = (low + high) / 2;
        for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
            scaled[i] = told_apart(i) ? widths[i] : widths[i] * by;
        }
        if (share_inside(all, scaled, but) >= GOAL) {
            high = by;
        } else {
            low = by;
        }
    }
    for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
        widths[i] = told_apart(i) ? widths[i] : widths[i] * high;
    }
}

void widths_fit(const struct fit *fit, const struct left lefts[GROUPINGS],
                double ret[MYR_INTERVAL_COUNT])
{
    struct samples all = samples_of(fit, lefts);
    solve(&all, NULL, ret);
    free(all.items);
}

void widths_check(const struct fit *fit, const struct left lefts[GROUPINGS], double open,
                  struct widths_coverage ret[GROUPINGS])
{
    struct samples all = samples_of(fit, lefts);
    bool *done = calloc(all.count, sizeof(bool));
    for (int g = 0; g < GROUPINGS; g++) {
        ret[g] = (struct widths_coverage){0, 0};
    }
    for (uint32_t i = 0; i < all.count; i++) {
        double widths[MYR_INTERVAL_COUNT] = {[MYR_INTERVAL_AXES_OPEN] = open};
        if (done[i]) {
            continue;
        }
        solve(&all, all.items[i].run, widths);
        for (uint32_t j = i; j < all.count; j++) {
            const struct sample *s = &all.items[j];
            if (!done[j] && left_same_family(s->run, all.items[i].run)) {
                done[j] = true;
                ret[s->grouping].count++;
                ret[s->grouping].inside += s->error <= width_of(s, widths);
            }
        }
    }
    free(done);
    free(all.items);
}

double widths_median(const struct fit *fit, const struct left lefts[GROUPINGS],
                     const double widths[MYR_INTERVAL_COUNT], bool experts)
{
    struct samples all = samples_of(fit, lefts);
    double *half = calloc(all.count + 1, sizeof(double));
    uint32_t count = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct sample *s = &all.items[i];
        if (s->grouping == BY_LAYOUT && s->experts == experts) {
            half[count++] = exp(width_of(s, widths)) - 1;
        }
    }
    /* The middle by counting: there are a few hundred. */
    double middle = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t below = 0, same = 0;
        for (uint32_t j = 0; j < count; j++) {
            below += half[j] < half[i];
            same += half[j] <= half[i];
        }
        middle = below <= count / 2 && same > count / 2 ? half[i] : middle;
    }
    free(half);
    free(all.items);
    return middle;
}
