#include "myriad/fit/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "cost/block.h"
#include "myriad/fit/goodput.h"

/*
 * What leaving the shipped value by a constant's spread costs, in missed runs. The weight is the
 * one under which left-out runs come out best: good runs earn freedom, noisy ones do not.
 */
static const double prior_weights[] = {0.5, 2, 8, 32};
/* Log error at which a run counts as missed. */
#define RUN_SCALE 0.04
/* All rows of a sweep together weigh as much as so many runs, whatever their number. */
#define KERNELS_WEIGHT 25.0
#define KERNEL_SCALE   0.10
#define FOLDS_MAX      12
#define CHANGE         0.05 /* of a logarithm, to see what a constant moves */

struct fit {
    const struct myr_profiles *profiles;
    struct myr_runs *runs;                             /* NULL: none */
    const struct myr_kernels *kernels;                 /* NULL: none */
    bool *used;                                        /* runs that count in the loss */
    double values[MYR_FIT_CONSTANTS_MAX];              /* of all constants, as tried */
    uint32_t free[MYR_CALIBRATE_FREE_MAX], free_count; /* indices of those that are fitted */
    double prior_weight;                               /* the one of prior_weights that is tried */
    struct start *starts;                              /* of each measurement, once it is known */
};

/*
 * A measurement at the shipped values, where every descent begins: some fifty of them, of other
 * runs or with another weight, need the same figures for their first step.
 */
struct start {
    double error, moves[MYR_CALIBRATE_FREE_MAX];
    bool known;
};

static double ln(double x)
{
    return 0.69314718055994531 * fit_log2(x);
}

static bool timed(const struct myr_run *run)
{
    return run->measured_s > 0 && !run->refused;
}

static double run_error(const struct myr_run *run)
{
    struct myr_fit_cost cost;
    myr_run_cost(run, &cost);
    return ln(cost.step_s / run->measured_s);
}

/*
 * Grouped rows stay out: the vendor's grouped call is not the kernel that trainers run (on Hopper
 * it reaches half of it). Copies below the size of a cache say nothing of the memory.
 */
static bool counts(const struct myr_kernel *kernel)
{
    return kernel->seconds > 0 &&
           (kernel->kind == MYR_KERNEL_GEMM ||
            (kernel->kind == MYR_KERNEL_COPY_DEVICE && kernel->bytes >= 1U << 28));
}

static double kernel_error(const struct fit *fit, const struct myr_kernel *kernel)
{
    return ln(myr_kernel_predict(kernel, fit->kernels->device, fit->values) / kernel->seconds);
}

/* Quadratic near zero, linear far out: an odd run does not bend the rest. */
static double robust(double error, double scale)
{
    double e = error / scale;
    return sqrt(1 + e * e) - 1;
}

static uint32_t kernel_rows(const struct fit *fit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; fit->kernels && i < fit->kernels->count; i++) {
        count += counts(&fit->kernels->items[i]);
    }
    return count;
}

static double loss(const struct fit *fit)
{
    double sum = 0, kernels = 0;
    uint32_t rows = kernel_rows(fit);
    for (uint32_t i = 0; fit->runs && i < fit->runs->count; i++) {
        if (fit->used[i]) {
            sum += robust(run_error(&fit->runs->items[i]), RUN_SCALE);
        }
    }
    for (uint32_t i = 0; fit->kernels && i < fit->kernels->count; i++) {
        if (counts(&fit->kernels->items[i])) {
            kernels += robust(kernel_error(fit, &fit->kernels->items[i]), KERNEL_SCALE);
        }
    }
    sum += rows ? kernels * KERNELS_WEIGHT / rows : 0;
    for (uint32_t f = 0; f < fit->free_count; f++) {
        uint32_t at = fit->free[f];
        double away = ln(fit->values[at] / fit->profiles->constants[at]);
        double e = away / myr_fit_constant(at)->spread;
        sum += fit->prior_weight * e * e;
    }
    return sum;
}

static double bounded(uint32_t at, double value)
{
    const struct myr_constant *constant = myr_fit_constant(at);
    return value < constant->min ? constant->min : value > constant->max ? constant->max : value;
}

/* ---- which constants to fit ---- */

/* What each measurement's logarithm does when a constant moves by its spread. */
static void sensitivity(struct fit *fit, uint32_t at, const double *base, double *ret)
{
    double kept = fit->values[at];
    double moved = bounded(at, kept * (1 + CHANGE));
    moved = moved > kept ? moved : bounded(at, kept * (1 - CHANGE));
    double by = ln(moved / kept), spread = myr_fit_constant(at)->spread;
    uint32_t n = 0, rows = kernel_rows(fit);
    double weight = rows ? sqrt(KERNELS_WEIGHT / rows) * RUN_SCALE / KERNEL_SCALE : 0;
    fit->values[at] = moved;
    for (uint32_t i = 0; fit->runs && i < fit->runs->count; i++) {
        if (timed(&fit->runs->items[i])) {
            ret[n] = (run_error(&fit->runs->items[i]) - base[n]) / by * spread;
            n++;
        }
    }
    for (uint32_t i = 0; fit->kernels && i < fit->kernels->count; i++) {
        if (counts(&fit->kernels->items[i])) {
            ret[n] = (kernel_error(fit, &fit->kernels->items[i]) - base[n]) / by * spread * weight;
            n++;
        }
    }
    fit->values[at] = kept;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/*
 * One after the other the constant that moves most of what is left, then what it moves is taken out
 * of the others: two constants that do the same are never both fitted.
 */
static void choose(struct fit *fit, uint32_t most, struct myr_arena *arena)
{
    uint32_t constants = myr_fit_constant_count(), n = 0, rows = kernel_rows(fit);
    uint32_t measured = rows + (fit->runs ? fit->runs->count : 0);
    double *base = MYR_ARENA_NEW(arena, double, measured);
    double *moves = MYR_ARENA_NEW(arena, double, (size_t)constants *(measured + 1));
    for (uint32_t i = 0; fit->runs && i < fit->runs->count; i++) {
        if (timed(&fit->runs->items[i])) {
            base[n++] = run_error(&fit->runs->items[i]);
        }
    }
    for (uint32_t i = 0; fit->kernels && i < fit->kernels->count; i++) {
        if (counts(&fit->kernels->items[i])) {
            base[n++] = kernel_error(fit, &fit->kernels->items[i]);
        }
    }
    for (uint32_t c = 0; c < constants; c++) {
        sensitivity(fit, c, base, moves + (size_t)c * n);
    }
    double first = 0;
    while (fit->free_count < most) {
        uint32_t best = 0;
        double size = 0;
        for (uint32_t c = 0; c < constants; c++) {
            double own = dot(moves + (size_t)c * n, moves + (size_t)c * n, n);
            best = own > size ? c : best;
            size = own > size ? own : size;
        }
        first = fit->free_count == 0 ? size : first;
        if (size <= 0.003 * first) {
            break;
        }
        double *chosen = moves + (size_t)best * n;
        fit->free[fit->free_count++] = best;
        for (uint32_t c = 0; c < constants; c++) {
            double *other = moves + (size_t)c * n, along = dot(other, chosen, n) / size;
            for (uint32_t i = 0; c != best && i < n; i++) {
                other[i] -= along * chosen[i];
            }
        }
        memset(chosen, 0, n * sizeof(*chosen));
    }
}

/* ---- the fit ---- */

/* The normal equations of one step: symmetric, positive because of the priors. */
struct step {
    double matrix[MYR_CALIBRATE_FREE_MAX][MYR_CALIBRATE_FREE_MAX];
    double gradient[MYR_CALIBRATE_FREE_MAX]; /* of the loss, in logarithms */
};

/* One measurement: its error, and what each free constant does to it. */
static void add_row(const struct fit *fit, struct step *step, double error, const double *moves,
                    double scale, double times)
{
    double e = error / scale, weight = times / (scale * scale * sqrt(1 + e * e));
    for (uint32_t i = 0; i < fit->free_count; i++) {
        step->gradient[i] += weight * error * moves[i];
        for (uint32_t j = 0; j < fit->free_count; j++) {
            step->matrix[i][j] += weight * moves[i] * moves[j];
        }
    }
}

/* Gauss elimination; no pivots are needed where every leading part is positive definite. */
static void solve(struct step *step, uint32_t n, double *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t r = i + 1; r < n; r++) {
            double times = step->matrix[r][i] / step->matrix[i][i];
            for (uint32_t c = i; c < n; c++) {
                step->matrix[r][c] -= times * step->matrix[i][c];
            }
            step->gradient[r] -= times * step->gradient[i];
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        double rest = -step->gradient[i];
        for (uint32_t c = i + 1; c < n; c++) {
            rest -= step->matrix[i][c] * ret[c];
        }
        ret[i] = rest / step->matrix[i][i];
    }
}

/* The error of measurement 'i', runs first; false where it does not count. */
static bool error_of(const struct fit *fit, uint32_t i, double *ret)
{
    uint32_t runs = fit->runs ? fit->runs->count : 0;
    if (i < runs) {
        *ret = fit->used[i] ? run_error(&fit->runs->items[i]) : 0;
        return fit->used[i];
    }
    const struct myr_kernel *kernel = &fit->kernels->items[i - runs];
    *ret = counts(kernel) ? kernel_error(fit, kernel) : 0;
    return counts(kernel);
}

static bool counted(const struct fit *fit, uint32_t i)
{
    uint32_t runs = fit->runs ? fit->runs->count : 0;
    return i < runs ? fit->used[i] : counts(&fit->kernels->items[i - runs]);
}

/* A measurement that counts: its error, and what each free constant does to it. */
static void look_at(struct fit *fit, uint32_t i, struct start *ret)
{
    (void)error_of(fit, i, &ret->error);
    for (uint32_t f = 0; f < fit->free_count; f++) {
        double moved, kept = fit->values[fit->free[f]];
        fit->values[fit->free[f]] = kept * 1.002;
        (void)error_of(fit, i, &moved);
        fit->values[fit->free[f]] = kept;
        ret->moves[f] = (moved - ret->error) / ln(1.002);
    }
    ret->known = true;
}

static void make_step(struct fit *fit, bool first, double *ret)
{
    struct step step = {};
    uint32_t runs = fit->runs ? fit->runs->count : 0, rows = kernel_rows(fit);
    uint32_t all = runs + (fit->kernels ? fit->kernels->count : 0);
    for (uint32_t i = 0; i < all; i++) {
        struct start now, *at = first ? &fit->starts[i] : &now;
        if (!counted(fit, i)) {
            continue;
        }
        if (!first || !at->known) {
            look_at(fit, i, at);
        }
        bool run = i < runs;
        add_row(fit, &step, at->error, at->moves, run ? RUN_SCALE : KERNEL_SCALE,
                run ? 1 : KERNELS_WEIGHT / rows);
    }
    for (uint32_t f = 0; f < fit->free_count; f++) {
        uint32_t at = fit->free[f];
        double spread = myr_fit_constant(at)->spread;
        double stiffness = 2 * fit->prior_weight / (spread * spread);
        step.matrix[f][f] += stiffness;
        step.gradient[f] += stiffness * ln(fit->values[at] / fit->profiles->constants[at]);
    }
    solve(&step, fit->free_count, ret);
}

/* Gauss-Newton on logarithms, from the shipped values; a step that does not help is halved. */
static void descend(struct fit *fit)
{
    double best = loss(fit);
    for (uint32_t round = 0; round < 25; round++) {
        double change[MYR_CALIBRATE_FREE_MAX] = {}, kept[MYR_FIT_CONSTANTS_MAX], before = best;
        make_step(fit, round == 0, change);
        memcpy(kept, fit->values, sizeof(kept));
        double part = 1;
        for (uint32_t halving = 0; halving < 7; halving++, part /= 2) {
            for (uint32_t f = 0; f < fit->free_count; f++) {
                uint32_t at = fit->free[f];
                fit->values[at] = bounded(at, kept[at] * fit_exp(part * change[f]));
            }
            double now = loss(fit);
            if (now < best) {
                best = now;
                break;
            }
            memcpy(fit->values, kept, sizeof(kept));
        }
        if (before - best < 1e-6 * before + 1e-12) {
            break;
        }
    }
}

static void restart(struct fit *fit)
{
    memcpy(fit->values, fit->profiles->constants, sizeof(fit->values));
}

/* Runs left out in turn; with many of them, several at once. */
static void leave_out(struct fit *fit, struct myr_calibration *ret)
{
    uint32_t n = 0, folds, at = 0;
    for (uint32_t i = 0; i < fit->runs->count; i++) {
        n += timed(&fit->runs->items[i]);
    }
    folds = n < FOLDS_MAX ? n : FOLDS_MAX;
    for (uint32_t fold = 0; n > 1 && fold < folds; fold++) {
        restart(fit);
        at = 0;
        for (uint32_t i = 0; i < fit->runs->count; i++) {
            bool is = timed(&fit->runs->items[i]);
            fit->used[i] = is && at % folds != fold;
            at += is;
        }
        descend(fit);
        at = 0;
        for (uint32_t i = 0; i < fit->runs->count; i++) {
            struct myr_fit_cost cost;
            if (timed(&fit->runs->items[i]) && at++ % folds == fold) {
                myr_run_cost(&fit->runs->items[i], &cost);
                ret->rows[i].left_out_s = cost.step_s;
            }
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct myr_errors errors_of(double *percent, uint32_t count)
{
    struct myr_errors errors = {.count = count};
    if (count == 0) {
        return errors;
    }
    qsort(percent, count, sizeof(*percent), by_value);
    for (uint32_t i = 0; i < count; i++) {
        errors.mean += percent[i] / count;
    }
    errors.median = (percent[(count - 1) / 2] + percent[count / 2]) / 2;
    errors.p90 = percent[(uint32_t)(0.9 * (count - 1) + 0.5)];
    return errors;
}

enum which { BEFORE, AFTER, LEFT_OUT };

static struct myr_errors run_errors(const struct myr_runs *runs,
                                    const struct myr_calibration *result, enum which which,
                                    double *scratch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct myr_calibration_row *row = &result->rows[i];
        double predicted = which == BEFORE  ? row->before_s
                           : which == AFTER ? row->after_s
                                            : row->left_out_s;
        if (timed(&runs->items[i]) && predicted > 0) {
            scratch[count++] = 100 * fabs(predicted / runs->items[i].measured_s - 1);
        }
    }
    return errors_of(scratch, count);
}

static struct myr_errors kernel_errors(const struct fit *fit, double *scratch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fit->kernels->count; i++) {
        const struct myr_kernel *kernel = &fit->kernels->items[i];
        if (counts(kernel)) {
            double predicted = myr_kernel_predict(kernel, fit->kernels->device, fit->values);
            scratch[count++] = 100 * fabs(predicted / kernel->seconds - 1);
        }
    }
    return errors_of(scratch, count);
}

static void predict_runs(const struct myr_runs *runs, struct myr_calibration *ret, bool after)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        struct myr_fit_cost cost;
        if (!runs->items[i].refused) {
            myr_run_cost(&runs->items[i], &cost);
            *(after ? &ret->rows[i].after_s : &ret->rows[i].before_s) = cost.step_s;
        }
    }
}

static void choose_weight(struct fit *fit, struct myr_calibration *ret, double *scratch,
                          struct myr_arena *arena)
{
    uint32_t count = fit->runs->count;
    double best = 0, least = 1e300;
    double *left_out_s = MYR_ARENA_NEW(arena, double, count); /* with the best of them */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(prior_weights); i++) {
        fit->prior_weight = prior_weights[i];
        leave_out(fit, ret);
        struct myr_errors errors = run_errors(fit->runs, ret, LEFT_OUT, scratch);
        if (errors.mean < least * 0.999) {
            least = errors.mean;
            best = prior_weights[i];
            ret->left_out = errors;
            for (uint32_t k = 0; k < count; k++) {
                left_out_s[k] = ret->rows[k].left_out_s;
            }
        }
    }
    fit->prior_weight = best;
    for (uint32_t k = 0; k < count; k++) {
        ret->rows[k].left_out_s = left_out_s[k];
    }
}

/* Nine of ten runs like these stay inside what the left-out ones did; ten of them say so. */
static void set_intervals(const struct myr_profiles *profiles, struct myr_calibration *ret)
{
    double near = profiles->intervals[MYR_INTERVAL_DENSE];
    double release = profiles->intervals[MYR_INTERVAL_RELEASE];
    ret->interval_near = near;
    ret->interval_far = sqrt(near * near + release * release);
    if (ret->left_out.count >= 10) {
        double seen = ret->left_out.p90 / 100;
        ret->interval_near = seen < 0.02 ? 0.02 : seen < 1 ? seen : 1;
        ret->interval_far =
            ret->interval_far < ret->interval_near ? ret->interval_near : ret->interval_far;
    }
}

static uint32_t measured_runs(const struct myr_runs *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; runs && i < runs->count; i++) {
        count += timed(&runs->items[i]);
    }
    return count;
}

int myr_calibrate(const struct myr_profiles *profiles, struct myr_runs *runs,
                  const struct myr_kernels *kernels, uint32_t free_max, struct myr_arena *arena,
                  struct myr_calibration *ret, struct myr_err *err)
{
    struct fit fit = {.profiles = profiles, .runs = runs, .kernels = kernels};
    uint32_t measured = measured_runs(runs), rows = kernel_rows(&fit);
    uint32_t count = runs ? runs->count : 0;
    *ret = (struct myr_calibration){};
    if (measured + rows == 0) {
        return myr_err_set(err, MYR_EINVAL, "no measurement: nothing to calibrate with");
    }
    double *scratch = MYR_ARENA_NEW(arena, double, measured + rows);
    fit.used = MYR_ARENA_NEW(arena, bool, count);
    fit.starts = MYR_ARENA_NEW(arena, struct start, count + (kernels ? kernels->count : 0));
    ret->rows = MYR_ARENA_NEW(arena, struct myr_calibration_row, count);
    restart(&fit);
    for (uint32_t i = 0; i < count; i++) {
        runs->items[i].it.constants = fit.values;
        fit.used[i] = timed(&runs->items[i]);
    }
    /* A constant for each two runs, and those that a sweep fixes. */
    uint32_t most = measured / 2 + (measured ? 1 : 0) + (rows ? 5 : 0);
    most = free_max && free_max < most ? free_max : most;
    most = most > MYR_CALIBRATE_FREE_MAX ? MYR_CALIBRATE_FREE_MAX : most;
    choose(&fit, most, arena);
    fit.prior_weight = prior_weights[0];
    if (runs) {
        predict_runs(runs, ret, false);
        ret->before = run_errors(runs, ret, BEFORE, scratch);
        choose_weight(&fit, ret, scratch, arena);
    }
    restart(&fit);
    if (kernels) {
        ret->kernels_before = kernel_errors(&fit, scratch);
    }
    for (uint32_t i = 0; i < count; i++) {
        fit.used[i] = timed(&runs->items[i]);
    }
    descend(&fit);
    if (runs) {
        predict_runs(runs, ret, true);
        ret->after = run_errors(runs, ret, AFTER, scratch);
    }
    if (kernels) {
        ret->kernels_after = kernel_errors(&fit, scratch);
    }
    memcpy(ret->constants, fit.values, sizeof(ret->constants));
    memcpy(ret->free, fit.free, sizeof(ret->free));
    ret->free_count = fit.free_count;
    ret->worth_it = measured ? ret->left_out.count && ret->left_out.mean < ret->before.mean
                             : ret->kernels_after.mean < ret->kernels_before.mean;
    set_intervals(profiles, ret);
    for (uint32_t i = 0; i < count; i++) {
        runs->items[i].it.constants = profiles->constants;
    }
    return MYR_OK;
}
