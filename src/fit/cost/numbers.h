/*
 * numbers: powers and logarithms of our own. Private to the module.
 *
 * libm's differ in the last bit from one machine to the next, and a layout may be chosen by that
 * bit. These use plain IEEE additions and multiplications: the same bits everywhere.
 */
#pragma once

#include "myriad/base.h"

/* By halving and a series; 'x' at least the smallest normal number. */
double fit_log2(double x);
/* Beyond 700 in size: 0, or 1e300. */
double fit_exp(double x);
/* x > 0. */
double fit_log(double x);
