#include "myriad/fit/validate.h"

#include <math.h>
#include <stdlib.h>

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

static bool same_family(const struct myr_run *a, const struct myr_run *b)
{
    size_t n = myr_run_family_len(a);
    return n == myr_run_family_len(b) && strncmp(a->source, b->source, n) == 0;
}

static double error_of(const struct myr_run *run, double predicted_s)
{
    return 100 * fabs(predicted_s / run->measured_s - 1);
}

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
        if (same_family(head, run) && run->measured_s > 0 && ret->predicted_s[i] > 0) {
            errors[count++] = error_of(run, ret->predicted_s[i]);
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

void myr_runs_validate(const struct myr_runs *runs, const struct myr_profiles *profiles,
                       struct myr_arena *arena, struct myr_validation *ret)
{
    double *errors = MYR_ARENA_NEW(arena, double, runs->count + 1);
    uint32_t covered = 0, inside = 0;
    *ret = (struct myr_validation){0};
    ret->predicted_s = MYR_ARENA_NEW(arena, double, runs->count + 1);
    ret->families = MYR_ARENA_NEW(arena, struct myr_family, runs->count + 1);
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct myr_run *run = &runs->items[i];
        struct myr_fit_cost cost;
        if (run->refused) {
            continue;
        }
        covered++;
        myr_run_cost(run, &cost);
        ret->predicted_s[i] = cost.step_s;
        if (run->measured_s > 0) {
            double error = error_of(run, cost.step_s), spread = myr_run_spread(run, profiles);
            double ratio = run->measured_s / cost.step_s;
            errors[ret->timed++] = error;
            ret->mean += error;
            inside += ratio <= 1 + spread && ratio >= 1 / (1 + spread);
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
