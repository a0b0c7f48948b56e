#include "left.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDS       10
#define LEFT_ROUNDS 8    /* from the constants of all rows: steps settle in as many */
#define MANY_GPUS   1024 /* more of them are left out at once, as are */
#define LONG_TOKENS 8192 /* sequences longer than these */

bool left_same_family(const struct myr_run *a, const struct myr_run *b)
{
    size_t n = myr_run_family_len(a);
    return n == myr_run_family_len(b) && strncmp(a->source, b->source, n) == 0;
}

/* Rows of one layout on one device stay together: FNV-1a of what names them. */
static uint32_t fold_of(const struct myr_run *run)
{
    char text[160];
    uint32_t hash = 2166136261U;
    const struct myr_layout *l = &run->layout;
    snprintf(text, sizeof(text), "%s %s %u %u %u %u %u %u %u", run->model.name,
             run->it.device->name, l->tp, l->pp, l->cp, l->ep, l->dp, l->global_batch,
             (unsigned)l->precision);
    for (const char *c = text; *c; c++) {
        hash = (hash ^ (uint8_t)*c) * 16777619U;
    }
    return (hash >> 8) % FOLDS;
}

/* Whether the grouping leaves this row out at all. */
static bool concerns(const struct myr_run *run, enum grouping grouping)
{
    return grouping == BY_GPUS     ? run->gpus > MANY_GPUS
           : grouping == BY_TOKENS ? myr_layout_seq(&run->layout, &run->model) > LONG_TOKENS
                                   : true;
}

static bool together(const struct myr_run *a, const struct myr_run *b, enum grouping grouping)
{
    if (a->refused || b->refused) {
        return false;
    }
    switch (grouping) {
    case BY_FAMILY:
        return left_same_family(a, b);
    case BY_DEVICE:
        return a->it.device == b->it.device;
    case BY_RELEASE:
        return a->it.stack == b->it.stack;
    case BY_GPUS:
    case BY_TOKENS:
        return concerns(a, grouping) && concerns(b, grouping);
    case BY_LAYOUT:
    case GROUPINGS:
        break;
    }
    return fold_of(a) == fold_of(b);
}

void left_init(struct left *left, uint32_t rows)
{
    left->errors = calloc(rows, sizeof(double));
    left->counts = calloc(rows, sizeof(bool));
    left->group = calloc(rows, sizeof(uint32_t));
}

void left_done(struct left *left)
{
    free(left->errors);
    free(left->counts);
    free(left->group);
}

/* Fits without the rows beside 'first' and predicts them. */
static void one_group(struct fit *fit, uint32_t first, enum grouping grouping, int rounds,
                      bool *done, struct left *ret)
{
    uint32_t n = fit->runs.count;
    const struct myr_run *items = fit->runs.items;
    for (uint32_t i = 0; i < n; i++) {
        fit->used[i] = i != first && !together(&items[first], &items[i], grouping);
        done[i] = done[i] || !fit->used[i];
    }
    (void)fit_solve(fit, rounds < LEFT_ROUNDS ? rounds : LEFT_ROUNDS, false);
    for (uint32_t i = 0; i < n; i++) {
        if (fit->used[i] || !fit_row_counts(fit, i)) {
            continue;
        }
        ret->errors[i] = fit_row_error(&items[i]);
        ret->counts[i] = true;
        ret->group[i] = first;
    }
}

void left_measure(struct fit *fit, enum grouping grouping, int rounds, struct left *ret)
{
    uint32_t n = fit->runs.count;
    double fitted[MYR_FIT_CONSTANTS_MAX];
    bool *done = calloc(n, sizeof(bool));
    memcpy(fitted, fit->profiles.constants, sizeof(fitted));
    for (uint32_t i = 0; i < n; i++) {
        if (!done[i] && fit_row_counts(fit, i) && concerns(&fit->runs.items[i], grouping)) {
            /* Every fit starts from the constants of all rows, whatever was left out before. */
            memcpy(fit->profiles.constants, fitted, sizeof(fitted));
            one_group(fit, i, grouping, rounds, done, ret);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        fit->used[i] = true;
    }
    memcpy(fit->profiles.constants, fitted, sizeof(fitted));
    fit_resolve(fit);
    free(done);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double left_ninth(double *errors, uint32_t count, double otherwise)
{
    if (count < 8) {
        return otherwise;
    }
    qsort(errors, count, sizeof(*errors), by_value);
    double at = 0.9 * (count - 1);
    uint32_t low = (uint32_t)at;
    return errors[low] + (errors[low + 1] - errors[low]) * (at - low);
}

double left_open_width(struct fit *fit)
{
    double *moves = calloc(fit->runs.count, sizeof(double));
    uint32_t count = 0;
    for (uint32_t i = 0; i < fit->runs.count; i++) {
        struct myr_run guessed = fit->runs.items[i];
        if (!fit_row_counts(fit, i) || guessed.open & MYR_RUN_OPEN_MICRO_BATCH) {
            continue;
        }
        guessed.open |= MYR_RUN_OPEN_MICRO_BATCH | (guessed.layout.pp > 1 ? MYR_RUN_OPEN_VP : 0);
        guessed.it.model = &guessed.model;
        myr_run_resolve(&guessed);
        moves[count++] = fabs(fit_row_error(&guessed) - fit_row_error(&fit->runs.items[i]));
    }
    double width = left_ninth(moves, count, 0.1);
    free(moves);
    return width;
}
