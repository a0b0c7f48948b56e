/* left: rows predicted by constants that were fitted without them, and what that teaches. */
#pragma once

#include "solve.h"

struct left {
    double *errors; /* log errors; 0 for rows without a time */
    bool *known;    /* the release of the row was in the fit through other rows */
};

/* Which rows are left out together. */
enum grouping { BY_FAMILY, BY_LAYOUT, BY_DEVICE, BY_RELEASE };

void left_init(struct left *left, uint32_t rows);
void left_done(struct left *left);
/* Fits once for each group, without its rows; the constants are as before afterwards. */
void left_measure(struct fit *fit, enum grouping grouping, int rounds, struct left *ret);

/* How far predictions move when micro-batch and chunks have to be guessed. */
double left_open_width(struct fit *fit);
/* Nine of ten errors of each kind; rows of family 'but' do not count (NULL: all do). */
void left_widths(const struct fit *fit, const struct left *layouts, const struct left *families,
                 const struct left *devices, const struct myr_run *but,
                 double ret[MYR_INTERVAL_COUNT]);
/* Percent of rows of left-out families inside intervals that the other families gave. */
double left_coverage(const struct fit *fit, const struct left *layouts, const struct left *families,
                     const struct left *devices);
bool left_same_family(const struct myr_run *a, const struct myr_run *b);
