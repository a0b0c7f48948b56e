/* left: rows predicted by constants that were fitted without them, and what that teaches. */
#pragma once

#include "solve.h"

/*
 * Which rows are left out together: a family of sources, layouts (a tenth of them at a time), a
 * device, a release; and the far ends of two axes at once, jobs of many GPUs and long sequences,
 * which say what it costs to reach beyond what was measured.
 */
enum grouping { BY_FAMILY, BY_LAYOUT, BY_DEVICE, BY_RELEASE, BY_GPUS, BY_TOKENS, GROUPINGS };

struct left {
    double *errors;  /* log errors; 0 for rows without a time */
    bool *counts;    /* the row was left out, and has a time */
    uint32_t *group; /* rows left out together have the same one */
};

void left_init(struct left *left, uint32_t rows);
void left_done(struct left *left);
/* Fits once for each group, without its rows; the constants are as before afterwards. */
void left_measure(struct fit *fit, enum grouping grouping, int rounds, struct left *ret);

bool left_same_family(const struct myr_run *a, const struct myr_run *b);
/* The ninth tenth, between neighbours; 'otherwise' where there are too few. Sorts. */
double left_ninth(double *errors, uint32_t count, double otherwise);
/* How far predictions move when micro-batch and chunks have to be guessed. */
double left_open_width(struct fit *fit);
