/*
 * rehearse: the same trace under several policies, before one switches from one to another.
 *
 * The trace is read once and played once by each policy; what is told of each is what decides: how
 * long jobs of each size wait in the mean, of a hundred the one but the longest, and at most (who
 * starves), how much of the GPU time is used, how much is lost to stops. The figures of one policy
 * are those of a replay of it alone.
 */
#pragma once

#include "myriad/sched/replay_answer.h"

struct myr_rehearsal_question {
    struct myr_replay_question
        replay;                  /* its policy, schedule, samples and explain are not heeded */
    const char *const *policies; /* two or more by name, no name twice; or none: all */
    uint32_t count;
};

struct myr_rehearsal_size {
    uint64_t jobs;
    double mean_h, p99_h, max_h;
};

/* What came of one policy. */
struct myr_rehearsal_run {
    enum myr_replay_policy policy;
    struct myr_replay_result result;       /* its figures; no rows */
    struct myr_replay_longest_row longest; /* who waited longest */
    struct myr_rehearsal_size sizes[MYR_REPLAY_SIZES_MAX];
    int64_t took_ns;
};

struct myr_rehearsal {
    struct myr_replay_answer read; /* the cluster and the trace */
    struct myr_rehearsal_run runs[MYR_REPLAY_POLICIES];
    uint32_t run_count;
    /* Classes of sizes that have jobs, the same for all: up to so many GPUs, and more than half. */
    uint32_t sizes[MYR_REPLAY_SIZES_MAX];
    uint32_t size_count;
};

/* On failure there is nothing to be done with 'ret'. */
MYR_MUST_USE int myr_rehearse(const struct myr_rehearsal_question *question,
                              struct myr_arena *arena, struct myr_rehearsal *ret,
                              struct myr_err *err);
void myr_rehearsal_done(struct myr_rehearsal *rehearsal);
