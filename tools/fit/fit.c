/*
 * fit-constants RUNS.csv [MORE.csv]: fits the constants of the cost model and prints
 * catalog/profiles/ fitted.yaml, with the width of the intervals that rows left out give.
 *
 *   --leave-out   prints the log error of each row with its family of sources left out, as CSV
 *   --folds       the same with a tenth of the layouts left out at a time
 *   --weights     the error left out by the weight of the priors
 *   --quick       leaves nothing out: the intervals stay as they are
 *   --brief       leaves out families, layouts and releases alone, and prints no profile
 *   --rows        also prints each row with what it left open and its terms
 *   --dump FILE   writes the log errors of all rows, as fitted and left out in each way
 *   --weight W    of the priors; --rounds N at most; --miss M: the log error from which a row
 * counts linearly
 *   --balance B   a row counts as its family's rows on its device to the power -B: those of one
 *                 machine are not as many witnesses
 *   --prior NAME=VALUE[:SPREAD]   in place of the constant's own; any number of them
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "widths.h"

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

/* Errors by family and of all; 'left' NULL: as fitted. */
static void report_all(const struct fit *fit, const char *before, const char *all,
                       const struct left *left)
{
    uint32_t n = fit->runs.count;
    double *errors = calloc(n, sizeof(double)), *picked = calloc(n, sizeof(double));
    bool *done = calloc(n, sizeof(bool)), *counts = calloc(n, sizeof(bool));
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = left ? left->counts[i] : fit_row_counts(fit, i);
        if (counts[i]) {
            double e = left ? left->errors[i] : fit_row_error(&fit->runs.items[i]);
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
                if (counts[j]) {
                    picked[count++] = errors[j];
                }
            }
        }
        snprintf(name, sizeof(name), "%s%.*s", before, (int)myr_run_family_len(run), run->source);
        report(name, picked, count);
    }
    count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (counts[i]) {
            picked[count++] = errors[i];
        }
    }
    report(all, picked, count);
    count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (counts[i] && fit->runs.items[i].model.moe.expert_count > 0) {
            picked[count++] = errors[i];
        }
    }
    report("  of them with experts", picked, count);
    free(counts);
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
    struct left by[GROUPINGS];
};

static const char *const grouping_names[GROUPINGS] = {"families", "layouts",   "devices",
                                                      "releases", "many GPUs", "long sequences"};

static void measure_all(struct fit *fit, int rounds, bool brief, struct lefts *ret)
{
    for (int g = 0; g < GROUPINGS; g++) {
        clock_t start = clock();
        left_init(&ret->by[g], fit->runs.count);
        if (brief && g != BY_FAMILY && g != BY_LAYOUT && g != BY_RELEASE) {
            continue;
        }
        left_measure(fit, (enum grouping)g, rounds, &ret->by[g]);
        fprintf(stderr, "%s left out in %.1f s\n", grouping_names[g],
                (double)(clock() - start) / CLOCKS_PER_SEC);
    }
}

static void lefts_done(struct lefts *lefts)
{
    for (int g = 0; g < GROUPINGS; g++) {
        left_done(&lefts->by[g]);
    }
}

static void report_errors(const struct fit *fit, const struct lefts *lefts)
{
    for (int g = 0; g < GROUPINGS; g++) {
        char before[48], all[48];
        snprintf(before, sizeof(before), "%s of ", grouping_names[g]);
        snprintf(all, sizeof(all), "%s left out", grouping_names[g]);
        report_all(fit, before, all, &lefts->by[g]);
    }
}

static void report_lefts(const struct fit *fit, const struct lefts *lefts, double open)
{
    struct widths_coverage covered[GROUPINGS];
    report_errors(fit, lefts);
    widths_check(fit, lefts->by, open, covered);
    for (int g = 0; g < GROUPINGS; g++) {
        fprintf(stderr, "intervals hold %.1f %% of %u rows, %s left out\n",
                covered[g].count ? 100.0 * covered[g].inside / covered[g].count : 0,
                covered[g].count, grouping_names[g]);
    }
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

/* The constants, and log errors of every row and way of leaving out, to look at. */
static void dump_lefts(const struct fit *fit, const struct lefts *lefts, const char *path)
{
    FILE *file = fopen(path, "w");
    for (uint32_t i = 0; file && i < myr_fit_constant_count(); i++) {
        fprintf(file, "# %s %.6g prior %.6g\n", myr_fit_constant(i)->name,
                fit->profiles.constants[i], fit->priors[i]);
    }
    for (uint32_t i = 0; file && i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        if (!fit_row_counts(fit, i)) {
            continue;
        }
        fprintf(file, "%s,%s,%s,%s,%.5f", run->id, run->source, run->software, run->model.name,
                fit_row_error(run));
        for (int g = 0; g < GROUPINGS; g++) {
            if (lefts->by[g].counts[i]) {
                fprintf(file, ",%.5f", lefts->by[g].errors[i]);
            } else {
                fprintf(file, ",");
            }
        }
        fprintf(file, "\n");
    }
    if (file) {
        (void)fclose(file);
    }
}

/* The weight that predicts rows best which the fit did not see. */
static void compare_weights(struct fit *fit, int rounds)
{
    static const double weights[] = {0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(weights); k++) {
        struct lefts lefts;
        fit->weight = weights[k];
        measure_all(fit, rounds, true, &lefts);
        fprintf(stderr, "weight %.1f\n", weights[k]);
        double robust[2] = {0, 0};
        for (uint32_t i = 0; i < fit->runs.count; i++) {
            double a = lefts.by[BY_LAYOUT].errors[i] / 0.04;
            double b = lefts.by[BY_FAMILY].errors[i] / 0.04;
            robust[0] += sqrt(1 + a * a) - 1;
            robust[1] += sqrt(1 + b * b) - 1;
        }
        fprintf(stderr, "  loss of layouts %.1f, of families %.1f\n", robust[0], robust[1]);
        lefts_done(&lefts);
    }
}

static bool same_place(const struct myr_measured *a, const struct myr_measured *b)
{
    return a->device == b->device && a->stack == b->stack && a->precision == b->precision &&
           a->gpus == b->gpus && a->tokens == b->tokens && a->experts == b->experts &&
           a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep;
}

/* Where runs were measured, each place once. */
static void print_measured(const struct fit *fit)
{
    const struct myr_profiles *p = &fit->profiles;
    struct myr_measured *places = calloc(fit->runs.count, sizeof(*places));
    uint32_t count = 0;
    printf("# Device, software, precision, GPUs, tokens, experts, tp, pp, cp, ep of the runs "
           "behind them.\n"
           "measured:\n");
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        uint32_t j = 0;
        if (!fit_row_counts(fit, i)) {
            continue;
        }
        places[count] = myr_measured_of(p, &run->it, &run->layout);
        while (!same_place(&places[j], &places[count])) {
            j++;
        }
        if (j == count) {
            const struct myr_measured *at = &places[count++];
            printf("  - [%s, %s, %s, %u, %u, %u, %u, %u, %u, %u]\n", p->devices[at->device].name,
                   p->stacks[at->stack].name, myr_precision_name(at->precision), at->gpus,
                   at->tokens, at->experts, at->tp, at->pp, at->cp, at->ep);
        }
    }
    free(places);
}

static void print_yaml(const struct fit *fit, const double widths[MYR_INTERVAL_COUNT])
{
    printf("# Written by tools/fit from tests/data/published-runs.csv; do not edit by hand.\n");
    printf("constants:\n");
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        printf("  %s: %.6g\n", myr_fit_constant(i)->name, fit->profiles.constants[i]);
    }
    printf(
        "# Of nine of ten log errors of rows left out: dense models and experts beside a measured\n"
        "# run, open axes, and what each unit of distance adds (myriad/fit/interval.h).\n"
        "interval:\n");
    for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
        printf("  %s: %.4f\n", myr_interval_name((enum myr_interval)i), widths[i]);
    }
    print_measured(fit);
}

struct options {
    const char *path, *more, *dump;
    bool families, layouts, weights, rows, quick, brief;
    double weight, miss, balance;
    int rounds;
    const char *priors[64];
    uint32_t prior_count;
};

static double number(const char *text, double otherwise)
{
    double value;
    return myr_str_to_double(myr_str_from(text), &value) ? value : otherwise;
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.weight = 0.6, .miss = 0.02, .rounds = 30};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool more = i + 1 < argc;
        o.families = o.families || strcmp(word, "--leave-out") == 0;
        o.layouts = o.layouts || strcmp(word, "--folds") == 0;
        o.weights = o.weights || strcmp(word, "--weights") == 0;
        o.rows = o.rows || strcmp(word, "--rows") == 0;
        o.brief = o.brief || strcmp(word, "--brief") == 0;
        o.quick = o.quick || strcmp(word, "--quick") == 0;
        if (strcmp(word, "--rounds") == 0 && more) {
            o.rounds = (int)number(argv[++i], o.rounds);
        } else if (strcmp(word, "--weight") == 0 && more) {
            o.weight = number(argv[++i], o.weight);
        } else if (strcmp(word, "--miss") == 0 && more) {
            o.miss = number(argv[++i], o.miss);
        } else if (strcmp(word, "--balance") == 0 && more) {
            o.balance = number(argv[++i], o.balance);
        } else if (strcmp(word, "--prior") == 0 && more && o.prior_count < 64) {
            o.priors[o.prior_count++] = argv[++i];
        } else if (strcmp(word, "--dump") == 0 && more) {
            o.dump = argv[++i];
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
        measure_all(fit, o->rounds, o->brief, &lefts);
        if (o->dump) {
            dump_lefts(fit, &lefts, o->dump);
        }
        if (o->brief) {
            report_errors(fit, &lefts);
            lefts_done(&lefts);
            return;
        }
        widths[MYR_INTERVAL_AXES_OPEN] = left_open_width(fit);
        report_lefts(fit, &lefts, widths[MYR_INTERVAL_AXES_OPEN]);
        widths_fit(fit, lefts.by, widths);
        for (int experts = 0; experts < 2; experts++) {
            fprintf(stderr, "median half-width %s, layouts left out: %.1f %%\n",
                    experts ? "with experts" : "dense",
                    100 * widths_median(fit, lefts.by, widths, experts));
        }
        lefts_done(&lefts);
    }
    print_yaml(fit, widths);
}

static void leave_out(struct fit *fit, const struct options *o)
{
    struct lefts lefts;
    measure_all(fit, o->rounds, false, &lefts);
    report_lefts(fit, &lefts, left_open_width(fit));
    print_rows(fit, &lefts.by[o->layouts ? BY_LAYOUT : BY_FAMILY]);
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

/* Those of the table, and what the options say instead. False: no such constant, or no number. */
static bool set_priors(struct fit *fit, const struct options *o)
{
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        fit->priors[i] = myr_fit_constant(i)->prior;
        fit->spreads[i] = myr_fit_constant(i)->spread;
    }
    for (uint32_t i = 0; i < o->prior_count; i++) {
        const char *word = o->priors[i], *equals = strchr(word, '=');
        size_t len = equals ? (size_t)(equals - word) : 0;
        int at = myr_fit_constant_index((struct myr_str){word, len});
        const char *colon = equals ? strchr(equals, ':') : NULL;
        size_t digits = equals ? (colon ? (size_t)(colon - equals) : strlen(equals)) - 1 : 0;
        if (at < 0 || !myr_str_to_double((struct myr_str){equals + 1, digits}, &fit->priors[at]) ||
            (colon && !myr_str_to_double(myr_str_from(colon + 1), &fit->spreads[at]))) {
            fprintf(stderr, "fit-constants: --prior %s: expected NAME=VALUE[:SPREAD]\n", word);
            return false;
        }
    }
    return true;
}

/* Rows of one family on one device are of one machine, more or less. */
static void balance(struct fit *fit, double power)
{
    double sum = 0;
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        const struct myr_run *run = &fit->runs.items[i];
        uint32_t alike = 0;
        for (uint32_t j = 0; j < fit->runs.count; j++) {
            const struct myr_run *other = &fit->runs.items[j];
            alike += left_same_family(run, other) && run->it.device == other->it.device;
        }
        fit->weights[i] = pow(alike, -power);
        sum += fit->weights[i];
    }
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        fit->weights[i] *= fit->runs.count / sum;
    }
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    struct fit fit = {.weight = o.weight, .miss = o.miss};
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
    if (!set_priors(&fit, &o)) {
        return 2;
    }
    append(&fit.runs, &more, &arena);
    fit.used = calloc(fit.runs.count, sizeof(bool));
    fit.weights = calloc(fit.runs.count, sizeof(double));
    fit.touched = calloc((size_t)fit.runs.count * MYR_FIT_CONSTANTS_MAX, sizeof(bool));
    balance(&fit, o.balance);
    for (uint32_t i = 0; i < fit.runs.count; i++) {
        fit.used[i] = true;
        if (fit.runs.items[i].refused) {
            fprintf(stderr, "refused %s: %s\n", fit.runs.items[i].id, fit.runs.items[i].refused);
        }
    }
    if (o.weights || o.families || o.layouts) {
        (void)fit_solve(&fit, o.rounds, true); /* what is left out starts from all rows' */
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
    free(fit.touched);
    return 0;
}
