/*
 * training: a whole training run planned: which of the fastest layouts keeps most tokens, at the
 * failure rates and under the practices that are asked for; days, spares, energy, money.
 */
#pragma once

#include "myriad/fit/case.h"
#include "myriad/fit/facility.h"
#include "myriad/fit/failures.h"

#define MYR_TRAINING_LAYOUTS                                             \
    16 /* the fastest ones, among which the one that keeps most is taken \
        */
#define MYR_TRAINING_CASES     (2 * MYR_JOB_RATES_MAX)
#define MYR_TRAINING_RISK      0.001
#define MYR_TRAINING_NODE_GPUS 8 /* where neither a design nor the user says */

/* NULL and, for numbers, below 0: not given. */
struct myr_training_question {
    struct myr_case_question of;
    const char *data;       /* a file with rows of the user's own */
    const char *rate;       /* as myr_job_rates() */
    uint32_t gpus_per_node; /* without a design */
    enum myr_fault fault;
    struct myr_failure_times times;
    double tokens;     /* 0: days, energy and money are not asked for */
    double spare_risk; /* share of the time that nodes may be short */
    /* As in struct myr_run_facility_question: the design's, or assumed, where they are not given */
    double pue, kwh, years, gpu_hour;
    const char *currency;
    uint64_t play;
};

struct myr_training_question myr_training_question_default(void);

struct myr_training_case {
    enum myr_practice practice;
    struct myr_job_rate rate;
    struct myr_campaign campaign;
    struct myr_played played;
    double spread;           /* of the step of the layout that was chosen */
    double days[2];          /* nine runs of ten, with the step time's own error */
    uint64_t interval_steps; /* between copies of the quickest tier, at least 1 */
    bool priced;             /* machines have a price */
    double total_cost;       /* below 0: something is not priced */
};

struct myr_training {
    struct myr_case it;
    struct myr_recovery recovery;
    struct myr_fit_answer answer;
    struct myr_campaign_question question;
    struct myr_training_case cases[MYR_TRAINING_CASES];
    uint32_t case_count;
    struct myr_run_facility facility;
    uint32_t nodes_left; /* of the design, beside the job; 0 without one */
    struct myr_failure_share classes[MYR_FAILURE_CLASSES_MAX];
    uint32_t class_count;
};

/*
 * MYR_EINFEASIBLE when no layout fits: 'it' and the GPUs of a node still say what was asked about,
 * though the design is closed. done() takes a zeroed one too.
 */
MYR_MUST_USE int myr_training_plan(struct myr_training *ret, struct myr_arena *arena,
                                   const struct myr_training_question *question,
                                   struct myr_err *err);
void myr_training_done(struct myr_training *training);
