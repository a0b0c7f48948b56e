/*
 * validate: predictions held against measured runs: each row, the mean and quantiles of their
 * errors, families of sources, and how many lie inside their interval.
 */
#include "myriad/fit/validate.h"

#include <math.h>
#include <stdlib.h>

/* For qsort(). */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between neighbours. */
static double quantile(const double *sorted, uint32_t count, double share)
{
    if (count == 0) {
        return 0;
    }
    double at = share * (count - 1);
    uint32_t low = (uint32_t)at;
    double rest = at - low;
    return low + 1 < count ? sorted[low] * (1 - rest) + sorted[low + 1] * rest : sorted[low];
}

/* A source's name up to the first dash: tables of one publisher. */
static bool same_family(const struct myr_run *a, const struct myr_run *b)
{
    size_t n = myr_run_family_len(a);
    return n == myr_run_family_len(b) && strncmp(a->source, b->source, n) == 0;
}

/* Errors in percent, above 0 where the step is told too slow. */
static struct myr_validation_row row_of(const struct myr_run *run,
                                        const struct myr_profiles *profiles)
{
    struct myr_validation_row row = {};
    struct myr_fit_cost cost;
    /* A row that was refused has nothing but its reason. */
    if (run->refused) {
        return row;
    }
    myr_run_cost(run, &cost);
    double spread = myr_run_spread(run, profiles, &cost).share;
    row.peak_bytes = myr_run_peak_bytes(run);
    row.peak_error = run->peak_bytes > 0 ? 100 * (row.peak_bytes / run->peak_bytes - 1) : 0;
    row.predicted_s = cost.step_s;
    row.low_s = cost.step_s / (1 + spread);
    row.high_s = cost.step_s * (1 + spread);
    row.compared = run->measured_s > 0;
    if (row.compared) {
        row.signed_error = 100 * (cost.step_s / run->measured_s - 1);
        row.error = fabs(row.signed_error);
    }
    return row;
}

/* Once for each, at its first run. A median of fewer than five says little and is left out. */
static void add_family(const struct myr_runs *runs, uint32_t first, struct myr_arena *arena,
                       double *errors, struct myr_validation *ret)
{
    const struct myr_run *head = &runs->items[first];
    uint32_t count = 0;
    for (uint32_t i = 0; i < first; i++) {
        if (same_family(head, &runs->items[i])) {
            return;
        }
    }
    for (uint32_t i = first; i < runs->count; i++) {
        const struct myr_run *run = &runs->items[i];
        if (same_family(head, run) && ret->rows[i].compared) {
            errors[count++] = ret->rows[i].error;
        }
    }
    if (count < 5) {
        return;
    }
    qsort(errors, count, sizeof(*errors), by_value);
    ret->families[ret->family_count++] =
        (struct myr_family){myr_arena_strndup(arena, head->source, myr_run_family_len(head)), count,
                            quantile(errors, count, 0.5)};
}

/* Quantiles are over rows with a time; coverage is over all rows. */
void myr_runs_validate(const struct myr_runs *runs, const struct myr_profiles *profiles,
                       struct myr_arena *arena, struct myr_validation *ret)
{
    double *errors = MYR_ARENA_NEW(arena, double, runs->count);
    uint32_t covered = 0, inside = 0;
    *ret = (struct myr_validation){};
    ret->rows = MYR_ARENA_NEW(arena, struct myr_validation_row, runs->count);
    ret->families = MYR_ARENA_NEW(arena, struct myr_family, runs->count);
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct myr_run *run = &runs->items[i];
        struct myr_validation_row *row = &ret->rows[i];
        *row = row_of(run, profiles);
        /* Rows without a time count as expressible; errors need one. */
        covered += !run->refused;
        if (row->compared) {
            errors[ret->timed++] = row->error;
            ret->mean += row->error;
            inside += run->measured_s >= row->low_s && run->measured_s <= row->high_s;
        }
    }
    if (runs->count) {
        ret->coverage = 100.0 * covered / runs->count;
    }
    if (ret->timed) {
        ret->mean /= ret->timed;
        ret->interval_coverage = 100.0 * inside / ret->timed;
    }
    qsort(errors, ret->timed, sizeof(*errors), by_value);
    ret->median = quantile(errors, ret->timed, 0.5);
    ret->p90 = quantile(errors, ret->timed, 0.9);
    for (uint32_t i = 0; i < runs->count; i++) {
        add_family(runs, i, arena, errors, ret);
    }
}
