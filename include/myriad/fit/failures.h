/*
 * failures: goodput of a job of some size, without a model: how often it fails, how long it takes
 * to come back, and what that leaves.
 */
#pragma once

#include "myriad/fit/campaign.h"

#define MYR_JOB_RATES_MAX 2

struct myr_job_rate {
    const char *name; /* "llama3", "rsc-1", "classes"; "given" for a number */
    double per_1000_node_days;
};

/* The shipped recovery data, then the rows of a user's file ("-": standard input), or NULL. */
MYR_MUST_USE int myr_recovery_read(struct myr_recovery *recovery, struct myr_arena *arena,
                                   const char *path, struct myr_err *err);

/*
 * Rates by a word: a number of failures per 1,000 node-days; a published one (of nodes with 8 GPUs:
 * a larger node fails more often); "classes", the sum of all classes of parts. NULL: the two
 * published ones between which practice lies.
 */
MYR_MUST_USE int myr_job_rates(const struct myr_recovery *recovery, const char *word, double gpus,
                               double gpus_per_node, struct myr_job_rate ret[MYR_JOB_RATES_MAX],
                               uint32_t *ret_count, struct myr_err *err);

/* What the user says in place of the data. */
struct myr_failure_times {
    bool has_recovery, has_stall;
    double recovery_s, stall_s;
    double interval_s; /* between checkpoints; 0: the best */
};

struct myr_failure_question {
    double gpus, gpus_per_node;
    enum myr_fault fault;
    struct myr_failure_times times;
    double target; /* goodput to be reached; 0: not asked */
    uint64_t play; /* failures to play out; 0: not asked */
};

struct myr_played {
    bool known; /* false: not asked, or a recovery would be tried for ever */
    double goodput, error;
};

struct myr_failure_row {
    enum myr_practice practice;
    struct myr_job_rate rate;
    struct myr_renewal renewal;
    struct myr_goodput goodput;
    struct myr_played played;
    double needed_s; /* the longest recovery that reaches the target; below 0: none does */
};

const char *myr_practice_name(enum myr_practice practice);

MYR_MUST_USE int myr_failure_row(const struct myr_failure_question *question,
                                 const struct myr_recovery *recovery, enum myr_practice practice,
                                 struct myr_job_rate rate, struct myr_failure_row *ret,
                                 struct myr_err *err);
/* The process played out to hold the formula against. */
struct myr_played myr_failure_play(const struct myr_renewal *renewal, uint64_t failures);

/* Failures of one class of parts; the shares are of the sum. */
struct myr_failure_share {
    const struct myr_recovery_row *row;
    double per_day, share;
};

/*
 * All classes for a job of this size. 'per_1000_node_days' above 0 keeps their shares and sets
 * their sum: what another cluster's total would mean for each.
 */
uint32_t myr_failure_shares(const struct myr_recovery *recovery, double gpus, double gpus_per_node,
                            double per_1000_node_days,
                            struct myr_failure_share ret[MYR_FAILURE_CLASSES_MAX]);
