/*
 * whatif: a question to a state that is not changed by it: lose these nodes, add so many GPUs,
 * submit this job. The state is copied, the copy takes the events, and what it decides is the
 * answer. Agents of the copy answer at once: every order to stop is carried out. Where nodes are
 * lost by silence it is the answer of the moment at which they count as lost and their power was
 * cut.
 */
#pragma once

#include "myriad/control/core.h"
#include "myriad/sched/why.h"

enum { MYR_WHATIF_JOBS = 64 };

struct myr_whatif_question {
    const char *lose;     /* nodes: "12", "0-15", "node/00012", or several: "3,8-11"; NULL: none */
    int64_t lose_leaf;    /* all nodes under it; -1: none */
    bool silent;          /* they are not heard any more; else they report that they have failed */
    uint32_t add_gpus;    /* in whole nodes, behind the others; 0: none */
    uint32_t submit_gpus; /* 0: nothing is submitted */
    int32_t priority;
    uint32_t restart;          /* enum myr_restart */
    bool no_reason;            /* why a submitted job waits is not asked: that takes longest */
    int64_t (*clock_ns)(void); /* to time it; NULL: it is not timed */
    uint32_t rounds;           /* asked so often, of which the fastest counts; 0: once */
};

/* What becomes of a job that runs, or waits, now. */
enum myr_whatif_fate {
    MYR_WHATIF_MOVES, /* stops and starts again with other nodes */
    MYR_WHATIF_WAITS, /* stops and finds no room */
    MYR_WHATIF_STARTS /* waits now, and would start */
};

const char *myr_whatif_fate_name(enum myr_whatif_fate fate);

struct myr_whatif_job {
    uint32_t job, gpus;
    enum myr_whatif_fate fate;
};

struct myr_whatif_answer {
    uint32_t nodes, nodes_added, nodes_lost;
    uint32_t moves, waits, starts; /* of all jobs; the list holds the first of them */
    struct myr_whatif_job jobs[MYR_WHATIF_JOBS];
    uint32_t job_count;
    bool submitted, placed; /* placed: the submitted job starts at once */
    uint32_t submit_nodes, submit_groups;
    struct myr_why why; /* of the submitted job, where it waits */
    uint32_t free_gpus_before, free_gpus_after;
    int64_t fork_ns, took_ns;
};

MYR_MUST_USE int myr_whatif(const struct myr_control *control,
                            const struct myr_whatif_question *question,
                            struct myr_whatif_answer *ret, struct myr_err *err);
