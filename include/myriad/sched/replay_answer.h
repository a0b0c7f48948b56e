/*
 * replay_answer: a question about a trace of jobs on a cluster, and its answer, as values.
 *
 * The question holds names and numbers as people give them; myr_replay_ask() reads the files, plays
 * the trace once (twice where a job's wait is to be explained), and sums up: by tenant, by size of
 * the jobs, and the jobs that waited longest. The answer's memory is its own and the arena's.
 */
#pragma once

#include "myriad/sched/cluster.h"
#include "myriad/sched/replay.h"
#include "myriad/sched/tenant_tree.h"

/* 'preempt' is 'fair' with preemption; the others name the order. */
enum myr_replay_policy {
    MYR_REPLAY_FIFO,
    MYR_REPLAY_FIRST_FIT,
    MYR_REPLAY_FAIR,
    MYR_REPLAY_PREEMPT,
    MYR_REPLAY_POLICIES
};
extern const char *const myr_replay_policy_names[MYR_REPLAY_POLICIES];

struct myr_replay_question {
    const char *trace; /* a file, or "-" */
    struct myr_cluster_question cluster;
    enum myr_replay_policy policy;
    int64_t jitter_s;
    uint64_t seed;
    const char *tenants;    /* a file with their tree, or NULL */
    const char *const *own; /* "vc1=4n,2g", each */
    uint32_t own_count;
    /* A job's id in the log (without ids: its line), "line:N", or "longest"; NULL: nothing. */
    const char *explain;
    bool schedule;    /* every start and stop is wanted */
    uint32_t samples; /* of the cluster's state over time */
    /* Called now and then: 'what' is done, of how many (0: nobody knows); NULL: never. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
    void *context;
    int64_t (*clock_ns)(void); /* to time the replay; NULL: it is not timed */
};

/* Children stand behind their parent. */
struct myr_replay_tenant_row {
    const char *name, *parent; /* parent: NULL at the root */
    uint32_t depth, weight;
    uint64_t own_nodes, jobs;
    double gpu_hours, wait_mean_h, wait_max_h;
};

/* Jobs of up to so many GPUs, a power of two, and more than half of that. */
struct myr_replay_size_row {
    uint32_t gpus;
    uint64_t jobs;
    double wait_mean_h, wait_p99_h, wait_max_h;
    double span;            /* leaves used over the fewest possible */
    uint64_t recorded_jobs; /* of which the log says how long they waited */
    double recorded_mean_h;
};

/* The waits that the log recorded, and beside them the replay's mean over the same jobs. */
struct myr_replay_recorded {
    uint64_t jobs; /* 0: the log has none */
    double mean_h, p50_h, p99_h, max_h;
    double replayed_mean_h;
};

struct myr_replay_longest_row {
    uint32_t line, gpus, stops;
    const char *tenant, *id; /* id: as in the log, NULL where it has none */
    double wait_h;
};

enum { MYR_REPLAY_LONGEST_ROWS = 10, MYR_REPLAY_SIZES_MAX = 25 };

struct myr_replay_answer {
    struct myr_cluster cluster;
    struct myr_joblog trace;
    struct myr_replay_result result;
    struct myr_replay_recorded recorded;
    uint64_t too_large;      /* jobs that need more GPUs than there are: left out */
    uint32_t too_large_line; /* of the first of them */
    struct myr_buf schedule; /* CSV, where it was asked for */
    bool has_tenants;        /* the question gave a tree, or cells */
    struct myr_replay_tenant_row *tenants;
    uint32_t tenant_count;
    struct myr_replay_size_row sizes[MYR_REPLAY_SIZES_MAX];
    uint32_t size_count;
    struct myr_replay_longest_row longest[MYR_REPLAY_LONGEST_ROWS];
    uint32_t longest_count;
    /* Of the job asked about; jobs go by their line in the trace. */
    bool explained;
    struct myr_replay_longest_row explained_job;
    struct myr_why why;
    int64_t took_ns; /* the replay alone */
};

/* On failure there is nothing to be done with 'ret'. */
MYR_MUST_USE int myr_replay_ask(const struct myr_replay_question *question, struct myr_arena *arena,
                                struct myr_replay_answer *ret, struct myr_err *err);
void myr_replay_answer_done(struct myr_replay_answer *answer);
