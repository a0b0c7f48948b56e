/*
 * widths: how wide intervals must be, from the errors of rows that a fit did not see.
 *
 * Each row left out is a sample: its error, and how far it lay from the rows that were left in. The
 * numbers of a profile's 'interval' are those whose widths hold nine of ten samples at the least
 * width (quantile regression), over all ways of leaving out, each with the same weight.
 */
#pragma once

#include "left.h"

struct widths_coverage {
    uint32_t count, inside;
};

/* 'ret' holds what open axes add already. */
void widths_fit(const struct fit *fit, const struct left lefts[GROUPINGS],
                double ret[MYR_INTERVAL_COUNT]);
/* The share inside of each way of leaving out, with widths that never saw the row's family. */
void widths_check(const struct fit *fit, const struct left lefts[GROUPINGS], double open,
                  struct widths_coverage ret[GROUPINGS]);
/* The middle half-width of dense rows or those with experts, layouts left out: exp(width) - 1. */
double widths_median(const struct fit *fit, const struct left lefts[GROUPINGS],
                     const double widths[MYR_INTERVAL_COUNT], bool experts);
