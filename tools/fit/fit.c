/*
 * fit-constants RUNS.csv [MORE.csv]: fits the constants of the cost model and prints
 * catalog/profiles/ fitted.yaml, with the width of the intervals that rows left out give.
 *
 *   --leave-out   prints the log error of each row with its family of sources left out, as CSV
 *   --folds       the same with a tenth of the layouts left out at a time
 *   --weights     the error left out by the weight of the priors
 *   --quick       leaves nothing out: the intervals stay as they are
 *   --rows        also prints each row with what it left open and its terms
 *   --weight W    of the priors; --rounds N at most
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "left.h"

#define OWN_WEIGHT 1.0 /* of a row of the second file */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *errors, uint32_t count)
{
    if (count == 0) {
        return;
    }
    qsort(errors, count, sizeof(*errors), by_value);
    double mean = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += errors[i] / count;
    }
    fprintf(stderr, "%-24s n %3u  median %6.2f  mean %6.2f  p90 %6.2f %%\n", what, count,
            100 * errors[count / 2], 100 * mean, 100 * errors[(uint32_t)(0.9 * (count - 1) + 0.5)]);
}

/* Errors by family and of all; 'logs' NULL: as fitted. */
static void report_all(const struct fit *fit, const char *before, const char *all,
                       const double *logs)
{
    uint32_t n = fit->runs.count;
    double *errors = calloc(n, sizeof(double)), *picked = calloc(n, sizeof(double));
    bool *done = calloc(n, sizeof(bool));
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (fit_row_counts(fit, i)) {
            double e = logs ? logs[i] : fit_row_error(&fit->runs.items[i]);
            errors[i] = fabs(exp(e) - 1);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        char name[64];
        count = 0;
        for (uint32_t j = i; !done[i] && j < n; j++) {
            if (left_same_family(run, &fit->runs.items[j])) {
                done[j] = j > i;
                if (fit_row_counts(fit, j)) {
                    picked[count++] = errors[j];
                }
            }
        }
        snprintf(name, sizeof(name), "%s%.*s", before, (int)myr_run_family_len(run), run->source);
        report(name, picked, count);
    }
    count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (fit_row_counts(fit, i)) {
            picked[count++] = errors[i];
        }
    }
    report(all, picked, count);
    free(errors);
    free(picked);
    free(done);
}

/* A row, what it left open, and the terms of its step in percent. */
static void report_row(const struct myr_run *run)
{
    struct myr_fit_cost cost;
    myr_run_cost(run, &cost);
    fprintf(stderr, "%s %+.1f%% mbs %u vp %u etp %u again %.2f fits %d", run->id,
            100 * (cost.step_s / run->measured_s - 1), run->layout.micro_batch, run->layout.vp,
            run->layout.etp, run->recompute_share, run->fits);
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        double share = 100 * cost.terms_s[i] / cost.step_s;
        if (share >= 0.5) {
            fprintf(stderr, " %s %.1f", myr_fit_term_name((enum myr_fit_term)i), share);
        }
    }
    fprintf(stderr, "\n");
}

struct lefts {
    struct left layouts, families, devices, releases;
};

static void measure_all(struct fit *fit, int rounds, struct lefts *ret)
{
    left_init(&ret->layouts, fit->runs.count);
    left_init(&ret->families, fit->runs.count);
    left_init(&ret->devices, fit->runs.count);
    left_init(&ret->releases, fit->runs.count);
    left_measure(fit, BY_LAYOUT, rounds, &ret->layouts);
    left_measure(fit, BY_FAMILY, rounds, &ret->families);
    left_measure(fit, BY_DEVICE, rounds, &ret->devices);
    left_measure(fit, BY_RELEASE, rounds, &ret->releases);
}

static void lefts_done(struct lefts *lefts)
{
    left_done(&lefts->layouts);
    left_done(&lefts->families);
    left_done(&lefts->devices);
    left_done(&lefts->releases);
}

static void report_lefts(const struct fit *fit, const struct lefts *lefts)
{
    report_all(fit, "without ", "left out", lefts->families.errors);
    report_all(fit, "layouts of ", "layouts left out", lefts->layouts.errors);
    report_all(fit, "devices of ", "devices left out", lefts->devices.errors);
    report_all(fit, "releases of ", "releases left out", lefts->releases.errors);
    fprintf(stderr, "interval coverage of left-out families %.1f %%\n",
            left_coverage(fit, &lefts->layouts, &lefts->families, &lefts->devices));
}

static void print_rows(const struct fit *fit, const struct left *left)
{
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        if (fit_row_counts(fit, i)) {
            printf("%s,%s,%.5f\n", fit->runs.items[i].id, fit->runs.items[i].source,
                   left->errors[i]);
        }
    }
}

/* The weight that predicts rows best which the fit did not see. */
static void compare_weights(struct fit *fit, int rounds)
{
    static const double weights[] = {0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(weights); k++) {
        struct lefts lefts;
        fit->weight = weights[k];
        measure_all(fit, rounds, &lefts);
        fprintf(stderr, "weight %.1f\n", weights[k]);
        double robust[2] = {0, 0};
        for (uint32_t i = 0; i < fit->runs.count; i++) {
            double a = lefts.layouts.errors[i] / 0.04, b = lefts.families.errors[i] / 0.04;
            robust[0] += sqrt(1 + a * a) - 1;
            robust[1] += sqrt(1 + b * b) - 1;
        }
        fprintf(stderr, "  loss of layouts %.1f, of families %.1f\n", robust[0], robust[1]);
        lefts_done(&lefts);
    }
}

static void print_yaml(const struct fit *fit, const double widths[MYR_INTERVAL_COUNT])
{
    printf("# Written by tools/fit from tests/data/published-runs.csv; do not edit by hand.\n");
    printf("constants:\n");
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        printf("  %s: %.6g\n", myr_fit_constant(i)->name, fit->profiles.constants[i]);
    }
    printf("# Nine of ten log errors of rows left out stay below.\ninterval:\n");
    for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
        printf("  %s: %.3f\n", myr_interval_name((enum myr_interval)i), widths[i]);
    }
}

struct options {
    const char *path, *more;
    bool families, layouts, weights, rows, quick;
    double weight;
    int rounds;
};

static double number(const char *text, double otherwise)
{
    double value;
    return myr_str_to_double(myr_str_from(text), &value) ? value : otherwise;
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.weight = 0.5, .rounds = 30};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool more = i + 1 < argc;
        o.families = o.families || strcmp(word, "--leave-out") == 0;
        o.layouts = o.layouts || strcmp(word, "--folds") == 0;
        o.weights = o.weights || strcmp(word, "--weights") == 0;
        o.rows = o.rows || strcmp(word, "--rows") == 0;
        o.quick = o.quick || strcmp(word, "--quick") == 0;
        if (strcmp(word, "--rounds") == 0 && more) {
            o.rounds = (int)number(argv[++i], o.rounds);
        } else if (strcmp(word, "--weight") == 0 && more) {
            o.weight = number(argv[++i], o.weight);
        } else if (word[0] != '-') {
            o.more = o.path ? word : NULL;
            o.path = o.path ? o.path : word;
        }
    }
    return o;
}

static void fit_and_print(struct fit *fit, const struct options *o)
{
    struct lefts lefts;
    double widths[MYR_INTERVAL_COUNT];
    clock_t start = clock();
    double best = fit_solve(fit, o->rounds, true);
    fprintf(stderr, "loss %.3f in %.1f s\n", best, (double)(clock() - start) / CLOCKS_PER_SEC);
    report_all(fit, "", "all", NULL);
    for (uint32_t i = 0; o->rows && i < fit->runs.count; i++) {
        if (fit_row_counts(fit, i)) {
            report_row(&fit->runs.items[i]);
        }
    }
    memcpy(widths, fit->profiles.intervals, sizeof(widths));
    if (!o->quick) {
        measure_all(fit, o->rounds, &lefts);
        report_lefts(fit, &lefts);
        left_widths(fit, &lefts.layouts, &lefts.families, &lefts.devices, NULL, widths);
        widths[MYR_INTERVAL_AXES_OPEN] = left_open_width(fit);
        lefts_done(&lefts);
    }
    print_yaml(fit, widths);
}

static void leave_out(struct fit *fit, const struct options *o)
{
    struct lefts lefts;
    measure_all(fit, o->rounds, &lefts);
    report_lefts(fit, &lefts);
    print_rows(fit, o->layouts ? &lefts.layouts : &lefts.families);
    lefts_done(&lefts);
}

/* Rows of a second file behind those of the first; they point into themselves. */
static void append(struct myr_runs *runs, const struct myr_runs *more, struct myr_arena *arena)
{
    uint32_t count = runs->count + more->count;
    struct myr_run *items = MYR_ARENA_NEW(arena, struct myr_run, count);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = i < runs->count ? runs->items[i] : more->items[i - runs->count];
        items[i].it.model = &items[i].model;
        items[i].it.recipes = items[i].recipes;
    }
    runs->items = items;
    runs->count = count;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    struct fit fit = {.weight = o.weight};
    struct myr_arena arena;
    struct myr_err err = {0};
    myr_arena_init(&arena);
    if (!o.path || myr_profiles_init(&fit.profiles, &arena, &err) < 0 ||
        myr_runs_read(&fit.runs, &arena, &fit.profiles, o.path, &err) < 0) {
        fprintf(stderr, "fit-constants: %s\n", o.path ? err.message : "give a CSV of runs");
        return 2;
    }
    struct myr_runs more = {0};
    if (o.more && myr_runs_read(&more, &arena, &fit.profiles, o.more, &err) < 0) {
        fprintf(stderr, "fit-constants: %s\n", err.message);
        return 2;
    }
    uint32_t first = fit.runs.count;
    append(&fit.runs, &more, &arena);
    fit.used = calloc(fit.runs.count, sizeof(bool));
    fit.weights = calloc(fit.runs.count, sizeof(double));
    for (uint32_t i = 0; i < fit.runs.count; i++) {
        fit.weights[i] = i < first ? 1 : OWN_WEIGHT;
    }
    for (uint32_t i = 0; i < fit.runs.count; i++) {
        fit.used[i] = true;
        if (fit.runs.items[i].refused) {
            fprintf(stderr, "refused %s: %s\n", fit.runs.items[i].id, fit.runs.items[i].refused);
        }
    }
    if (o.weights) {
        compare_weights(&fit, o.rounds);
    } else if (o.families || o.layouts) {
        leave_out(&fit, &o);
    } else {
        fit_and_print(&fit, &o);
    }
    myr_arena_done(&arena);
    free(fit.used);
    free(fit.weights);
    return 0;
}
