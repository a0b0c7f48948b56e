/*
 * solve: the constants that explain measured runs best.
 *
 * Loss: a robust function of each run's log error, so that a few odd rows do not bend the rest,
 * plus the square of how far each constant lies from its prior. Gauss-Newton steps with damping
 * (Levenberg-Marquardt) on the logarithms of the constants; derivatives by small differences.
 */
#pragma once

#include "myriad/fit.h"

struct fit {
    struct myr_profiles profiles;
    struct myr_runs runs;
    bool *used;      /* rows that the fit may see */
    double *weights; /* of rows: many of one machine count less */
    double weight;   /* of the priors */
    double miss;     /* log error at which a row turns from square to linear */
    double priors[MYR_FIT_CONSTANTS_MAX], spreads[MYR_FIT_CONSTANTS_MAX];
    bool *touched; /* constant x row: a step of the first fit has moved the row; NULL: not known */
};

/* Log of predicted over measured. */
double fit_row_error(const struct myr_run *run);
bool fit_row_counts(const struct fit *fit, uint32_t row);
/* Chooses the open axes of all rows again, with the constants as they stand. */
void fit_resolve(struct fit *fit);
/* From the constants as they stand, or from the priors; returns the loss. */
double fit_solve(struct fit *fit, int rounds, bool from_priors);
