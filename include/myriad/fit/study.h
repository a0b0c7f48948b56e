/*
 * study: a case answered, and what lies around the answer.
 *
 * "No layout fits" is an answer too: then 'found' is false, the reason stands in words, and the
 * nearest layout with its memory tells a program what is missing.
 */
#pragma once

#include "myriad/fit/advice.h"
#include "myriad/fit/case.h"

#define MYR_STUDY_REFUSED_MAX 5

/* What one number of the hardware, a tenth larger and smaller, adds to the best layout's step. */
struct myr_study_knob {
    double more_s, less_s; /* the step */
    double more, less;     /* as shares of the step as it is; below 0: shorter */
};

struct myr_study {
    bool found;
    struct myr_fit_answer answer;
    struct myr_case_price prices[MYR_FIT_TOP_MAX]; /* of 'answer.top' */
    struct myr_fit_choices choices;
    double costs[MYR_FIT_CHOICES_MAX]; /* share of the step that each choice adds; 0: not found */
    struct myr_study_knob knobs[MYR_FIT_KNOB_COUNT];
    struct myr_fit_refusal refused[MYR_STUDY_REFUSED_MAX]; /* faster, but too large */
    uint32_t refused_count;
    /* Where nothing was found: why, what to do, and what 'answer.nearest' would fill. */
    char reason[MYR_ERR_MESSAGE_MAX], hint[MYR_ERR_HINT_MAX];
    struct myr_fit_memory nearest;
};

/* The answer alone. Only what is not "nothing fits" is an error. */
MYR_MUST_USE int myr_study_answer(const struct myr_case *it, struct myr_arena *arena,
                                  struct myr_study *ret, struct myr_err *err);
/* All around an answer that stands in 'study'; with a given layout its other choices are not
 * looked for. */
MYR_MUST_USE int myr_study_around(const struct myr_case *it, struct myr_arena *arena,
                                  struct myr_study *study, struct myr_err *err);

/* The smallest level that holds whole groups of an axis, in words: "scale-up", "leaf", "fabric". */
const char *myr_study_reach(const struct myr_case *it, const struct myr_layout *layout,
                            enum myr_axis axis);
/* Where the slowdowns of the fabric come from, in words. */
const char *myr_study_slowdowns(const struct myr_case *it);
