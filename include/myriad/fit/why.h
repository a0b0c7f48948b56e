/* why: two layouts of one question, and what makes the one faster than the other. */
#pragma once

#include "myriad/fit/case.h"

struct myr_fit_why {
    struct myr_layout layouts[2];
    struct myr_case_price prices[2];
    enum myr_fit_term largest; /* the term that differs most; MYR_FIT_TERM_COUNT: none does */
};

/*
 * Each layout is a file or words ("tp=8,pp=4,micro_batch=1"). Batch, sequence and number of GPUs
 * are the case's where a layout does not say, and must be the same where it does. MYR_EINVAL where
 * one is no layout of the model; one that does not fit in memory has a price all the same.
 */
MYR_MUST_USE int myr_fit_why_of(const struct myr_case *it, const char *const texts[2],
                                struct myr_arena *arena, struct myr_fit_why *ret,
                                struct myr_err *err);
