/*
 * facility: what a run is charged by: power, PUE, price of electricity, years, currency.
 *
 * A design says all of it, and there is one truth: what 'plan' and 'compare' tell of a design is
 * what a run on it is charged by (the figures power.* of the design). An option takes a figure's
 * place; what neither says is assumed, and every figure knows where it comes from, so that no
 * answer rests on a number that it does not name.
 */
#pragma once

#include "myriad/model.h"

#define MYR_RUN_PUE   1.25
#define MYR_RUN_KWH   0.65 /* CNY */
#define MYR_RUN_YEARS 4.0

enum myr_run_from {
    MYR_RUN_OPTION,
    MYR_RUN_DESIGN,
    MYR_RUN_DEFAULT, /* nobody has said it: a number of the program */
    MYR_RUN_FROM_COUNT,
};

extern const char *const myr_run_from_names[MYR_RUN_FROM_COUNT];

struct myr_run_figure {
    bool known; /* else nothing is charged by it */
    double value;
    enum myr_run_from from;
    enum myr_basis basis; /* of the design's figure: it may be assumed there, too */
};

struct myr_run_facility {
    struct myr_run_figure it_watts; /* of the job's part, without cooling */
    struct myr_run_figure pue;
    struct myr_run_figure kwh;          /* price, in 'currency' */
    struct myr_run_figure years;        /* over which the design's price is spread */
    struct myr_run_figure machine_hour; /* price of the job's part */
    const char *currency;
    enum myr_run_from currency_from;
    bool servers_unpriced;  /* the design's price lacks what costs most */
    uint32_t without_watts; /* devices of the design whose part states no power: not counted */
};

/* Numbers below 0 and NULL: not given. */
struct myr_run_facility_question {
    double pue, kwh, years, gpu_hour;
    const char *currency;
    const struct myr_design *design; /* or NULL */
    double gpus;                     /* of the job */
    double gpu_watts;                /* one GPU with its share of a server, where no design says */
};

/* MYR_EINVAL for a word that is no currency, and for one that the design is not priced in. */
MYR_MUST_USE int myr_run_facility_of(const struct myr_run_facility_question *question,
                                     struct myr_arena *arena, struct myr_run_facility *ret,
                                     struct myr_err *err);

/* For people: "given", "the design's", "the design's, assumed there", "assumed". */
const char *myr_run_from_words(const struct myr_run_figure *figure);
