/*
 * trial: which single change would start a waiting job now, found by trying.
 *
 * Each candidate is applied to a copy of the queue, the copy decides, and the change is told only
 * if the job then starts (or, where stops are confirmed, has its GPUs kept for it). So what is told
 * holds with everybody else in the queue, with holds, shares and private cells. Of each kind the
 * least change is told that was found to start it, and the first of them all is the one that costs
 * others least.
 */
#pragma once

#include "myriad/sched/queue.h"

/* Moves, and jobs named in words; jobs to end; changes. */
enum { MYR_TRIAL_JOBS_MAX = 8, MYR_TRIAL_ENDS_MAX = 256, MYR_TRIALS_MAX = 16 };

#define MYR_TRIALS(X)               \
    X(RELEASE, "release")           \
    X(ANY_LEAVES, "more-leaves")    \
    X(DROP_LIMIT, "drop-limit")     \
    X(DROP_SPREAD, "drop-spread")   \
    X(DROP_KIND, "drop-kind")       \
    X(DROP_EXCLUDE, "drop-exclude") \
    X(FEWER_GPUS, "fewer-gpus")     \
    X(PRIORITY, "priority")         \
    X(WEIGHT, "weight")             \
    X(NODE_BACK, "node-back")       \
    X(NODES_BACK, "nodes-back")     \
    X(NO_SPARES, "no-spares")       \
    X(MOVE, "defragment")           \
    X(END_JOB, "end-job")           \
    X(END_JOBS, "end-jobs")

enum myr_trial_kind {
#define MYR_TRIAL_ENUM(name, text) MYR_TRIAL_##name,
    MYR_TRIALS(MYR_TRIAL_ENUM)
#undef MYR_TRIAL_ENUM
        MYR_TRIAL_COUNT
};

/* A share of a running job goes to other GPUs. */
struct myr_trial_move {
    uint32_t job;
    struct myr_share from, to;
};

struct myr_trial {
    enum myr_trial_kind kind;
    uint32_t gpus;       /* fewer: instead of what it asks for; else of those concerned that run */
    int32_t priority;    /* instead of its own */
    uint32_t weight;     /* of its tenant */
    uint32_t node, last; /* back: those of these, both included, that are not in use */
    uint32_t nodes;      /* how many these are; 0: none come back */
    /* End: these, of which the last 'waiting' ones do not run but wait as well. */
    uint32_t job_count, waiting, jobs[MYR_TRIAL_ENDS_MAX];
    /* With nodes and ends, as well: 'priority' too, and no spares; an end has 'nodes' too. */
    bool raised, spareless;
    /* Move: these; a plan of more moves is not told. */
    uint32_t move_count;
    struct myr_trial_move moves[MYR_TRIAL_JOBS_MAX];
};

/*
 * Changes nothing. Returns how many were found, in the order of MYR_TRIALS; none for a job that
 * starts anyway, or does not wait. 'ret' has room for MYR_TRIALS_MAX.
 */
uint32_t myr_queue_trials(const struct myr_queue *queue, int64_t now_s, uint32_t id,
                          struct myr_trial *ret);
/* Makes the change in this queue, usually a copy; nothing is decided yet. */
void myr_queue_apply_trial(struct myr_queue *queue, int64_t now_s, uint32_t id,
                           const struct myr_trial *trial);
const char *myr_trial_name(enum myr_trial_kind kind);

/* What nodes are called where the words are read. Without a function: "node 12". */
struct myr_node_names {
    void (*put)(const void *context, uint32_t node, struct myr_buf *ret);
    const void *context;
};
/* As half a sentence: "priority 7 instead of 0". */
void myr_trial_text(const struct myr_trial *trial, const struct myr_node_names *names,
                    struct myr_buf *ret);
