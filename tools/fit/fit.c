/*
 * fit-constants RUNS.csv [--leave-out] [--rounds N] [--weight W]: fits the constants of the cost
 * model.
 *
 * Coordinate descent on logarithms with shrinking steps. The loss of a row is a Huber-like
 * function of its log error, so that a few odd rows do not bend the rest; each constant is drawn
 * to its physical prior. With --leave-out, each family of sources is predicted by constants fitted
 * without it. Prints YAML (the fit) or JSON (the errors left out).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "myriad/fit.h"

struct fit {
    struct myr_profiles profiles;
    struct myr_runs runs;
    bool *used;
    double weight; /* of the priors */
};

static double row_error(const struct myr_run *run)
{
    struct myr_fit_cost cost;
    myr_run_cost(run, &cost);
    return log(cost.step_s / run->measured_s);
}

static double loss(struct fit *fit)
{
    double sum = 0;
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        if (run->measured_s <= 0 || run->refused || !fit->used[i]) {
            continue;
        }
        double e = fabs(row_error(run)) / 0.04;
        sum += sqrt(1 + e * e) - 1;
    }
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        const struct myr_constant *c = myr_fit_constant(i);
        double e = log((fit->profiles.constants[i] + 1e-9) / (c->prior + 1e-9)) / c->spread;
        sum += fit->weight * e * e;
    }
    return sum;
}

static void resolve(struct fit *fit)
{
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        if (fit->runs.items[i].open) {
            myr_run_resolve(&fit->runs.items[i]);
        }
    }
}

static double descend(struct fit *fit, int rounds, double start_step)
{
    double steps[MYR_FIT_CONSTANTS_MAX], best = loss(fit);
    for (int i = 0; i < MYR_FIT_CONSTANTS_MAX; i++) {
        steps[i] = start_step;
    }
    for (int round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
            const struct myr_constant *c = myr_fit_constant(i);
            double *value = &fit->profiles.constants[i], before = *value, found = best;
            double kept = before;
            for (int side = -1; side <= 1; side += 2) {
                double next = before * exp(side * steps[i] * (c->spread > 0.3 ? 2 : 1));
                *value = fmin(fmax(next, c->min), c->max);
                double got = loss(fit);
                if (got < found) {
                    found = got;
                    kept = *value;
                }
            }
            *value = kept;
            steps[i] = kept != before ? fmin(steps[i] * 1.5, 0.4) : fmax(steps[i] * 0.5, 0.0005);
            best = found;
        }
        if (round % 5 == 4) {
            resolve(fit);
            best = loss(fit);
        }
    }
    return best;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool same_family(const struct myr_run *a, const struct myr_run *b)
{
    size_t n = myr_run_family_len(a);
    return n == myr_run_family_len(b) && strncmp(a->source, b->source, n) == 0;
}

static void report(const char *what, double *errors, uint32_t count)
{
    qsort(errors, count, sizeof(*errors), by_value);
    double mean = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += errors[i] / count;
    }
    fprintf(stderr, "%-18s n %3u  median %6.2f  mean %6.2f  p90 %6.2f %%\n", what, count,
            100 * errors[count / 2], 100 * mean, 100 * errors[(uint32_t)(0.9 * (count - 1) + 0.5)]);
}

static double percent(const struct myr_run *run)
{
    return fabs(exp(row_error(run)) - 1);
}

static void report_all(struct fit *fit)
{
    double *errors = calloc(fit->runs.count, sizeof(double));
    uint32_t count = 0;
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        bool first = true;
        uint32_t n = 0;
        for (uint32_t j = 0; j < i; j++) {
            first = first && !same_family(run, &fit->runs.items[j]);
        }
        for (uint32_t j = i; first && j < fit->runs.count; j++) {
            const struct myr_run *other = &fit->runs.items[j];
            if (same_family(run, other) && other->measured_s > 0 && !other->refused) {
                errors[n++] = percent(other);
            }
        }
        if (n) {
            char name[64];
            snprintf(name, sizeof(name), "%.*s", (int)myr_run_family_len(run), run->source);
            report(name, errors, n);
        }
    }
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        if (run->measured_s > 0 && !run->refused) {
            errors[count++] = percent(run);
        }
    }
    report("all", errors, count);
    free(errors);
}

static void leave_out(struct fit *fit, int rounds)
{
    uint32_t n = fit->runs.count, count = 0;
    double *errors = calloc(n, sizeof(double)), fitted[MYR_FIT_CONSTANTS_MAX];
    bool *done = calloc(n, sizeof(bool));
    memcpy(fitted, fit->profiles.constants, sizeof(fitted));
    for (uint32_t i = 0; i < n; i++) {
        if (done[i]) {
            continue;
        }
        for (uint32_t j = 0; j < n; j++) {
            fit->used[j] = !same_family(&fit->runs.items[i], &fit->runs.items[j]);
        }
        for (uint32_t j = 0; j < myr_fit_constant_count(); j++) {
            fit->profiles.constants[j] = myr_fit_constant(j)->prior;
        }
        resolve(fit);
        (void)descend(fit, rounds, 0.1);
        resolve(fit);
        uint32_t from = count;
        for (uint32_t j = i; j < n; j++) {
            const struct myr_run *run = &fit->runs.items[j];
            done[j] = done[j] || !fit->used[j];
            if (!fit->used[j] && run->measured_s > 0 && !run->refused) {
                errors[count++] = percent(run);
                printf("%s,%s,%.5f\n", run->id, run->source, row_error(run));
            }
        }
        char name[64];
        snprintf(name, sizeof(name), "without %.*s", (int)myr_run_family_len(&fit->runs.items[i]),
                 fit->runs.items[i].source);
        if (count > from) {
            report(name, errors + from, count - from);
        }
    }
    report("left out", errors, count);
    memcpy(fit->profiles.constants, fitted, sizeof(fitted));
    free(errors);
    free(done);
}

static void print_yaml(const struct fit *fit)
{
    printf("# Written by tools/fit from tests/data/published-runs.csv; do not edit by hand.\n");
    printf("constants:\n");
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        printf("  %s: %.6g\n", myr_fit_constant(i)->name, fit->profiles.constants[i]);
    }
    printf("interval: {near: %.4g, far: %.4g}\n", fit->profiles.interval_near,
           fit->profiles.interval_far);
}

static double number(const char *text, double otherwise)
{
    double value;
    return myr_str_to_double(myr_str_from(text), &value) ? value : otherwise;
}

int main(int argc, char **argv)
{
    struct fit fit = {.weight = 0.4};
    struct myr_arena arena;
    struct myr_err err = {0};
    bool out = false, rows = false;
    int rounds = 30;
    double step = 0.1;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--leave-out") == 0) {
            out = true;
        } else if (strcmp(argv[i], "--rows") == 0) {
            rows = true;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = (int)number(argv[++i], rounds);
        } else if (strcmp(argv[i], "--weight") == 0 && i + 1 < argc) {
            fit.weight = number(argv[++i], fit.weight);
        } else if (strcmp(argv[i], "--step") == 0 && i + 1 < argc) {
            step = number(argv[++i], step);
        } else {
            path = argv[i];
        }
    }
    myr_arena_init(&arena);
    if (!path || myr_profiles_init(&fit.profiles, &arena, &err) < 0 ||
        myr_runs_read(&fit.runs, &arena, &fit.profiles, path, &err) < 0) {
        fprintf(stderr, "fit-constants: %s\n", path ? err.message : "give a CSV of runs");
        return 2;
    }
    fit.used = calloc(fit.runs.count, sizeof(bool));
    for (uint32_t i = 0; i < fit.runs.count; i++) {
        fit.used[i] = true;
        if (fit.runs.items[i].refused) {
            fprintf(stderr, "refused %s: %s\n", fit.runs.items[i].id, fit.runs.items[i].refused);
        }
    }
    clock_t start = clock();
    if (out) {
        leave_out(&fit, rounds);
    } else {
        double best = descend(&fit, rounds, step);
        resolve(&fit);
        fprintf(stderr, "loss %.3f in %.1f s\n", best, (double)(clock() - start) / CLOCKS_PER_SEC);
        report_all(&fit);
        for (uint32_t i = 0; rows && i < fit.runs.count; i++) {
            const struct myr_run *run = &fit.runs.items[i];
            if (run->measured_s > 0 && !run->refused) {
                fprintf(stderr, "%s %+.1f%% mbs %u vp %u etp %u again %.2f fits %d\n", run->id,
                        100 * (exp(row_error(run)) - 1), run->layout.micro_batch, run->layout.vp,
                        run->layout.etp, run->again, run->fits);
            }
        }
        print_yaml(&fit);
    }
    myr_arena_done(&arena);
    free(fit.used);
    return 0;
}
