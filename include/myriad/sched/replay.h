/*
 * replay: a trace of jobs through the queue, in virtual time.
 *
 * The replay knows how long jobs run; the queue does not. A job that is stopped goes on from its
 * last checkpoint when it runs again, after 'restart' of the policy: what it did since then is lost
 * and done again. Wait is all time without progress except that repeated work: waiting for GPUs and
 * restarting.
 */
#pragma once

#include "myriad/sched/joblog.h"
#include "myriad/sched/queue.h"
#include "myriad/sched/why.h"

/* A run begins, or ends: the job is over, or was stopped and waits again. */
enum myr_replay_event_kind { MYR_REPLAY_START, MYR_REPLAY_STOP, MYR_REPLAY_END };

struct myr_replay_event {
    enum myr_replay_event_kind kind;
    uint32_t job; /* in the order of submission */
    int64_t time_s;
    const struct myr_gang *gang;
};

struct myr_replay_options {
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    const struct myr_tenant *tenants; /* one for each of the trace; NULL: nobody owns anything */
    int64_t jitter_s;                 /* submit times move by up to this much either way */
    uint64_t seed;                    /* of the jitter */
    uint32_t samples;                 /* of the cluster's state over time, 0: none */
    uint32_t explain;     /* job to ask about, in the order of submission, or MYR_NONE */
    int64_t explain_at_s; /* when */
    /* Called now and then with the jobs that have ended; NULL: never. */
    void (*progress)(void *context, uint64_t done);
    void *context;
    /* Called with every run's begin and end, in their order; NULL: never. */
    void (*event)(void *context, const struct myr_replay_event *event);
    void *event_context;
};

struct myr_replay_options myr_replay_default(const struct myr_place_shape *shape);

/* What became of a job; the trace's row says the rest of it. */
struct myr_replay_job {
    int64_t wait_s, end_s;
    uint32_t stops;
    uint16_t groups, groups_min; /* touched at the first start, and how few would do */
};

/* A wait in one piece. */
struct myr_replay_wait {
    uint32_t job;
    int64_t length_s, end_s;
};

/* The cluster at one moment. */
struct myr_replay_sample {
    int64_t time_s;
    uint32_t busy_gpus, waiting_gpus, free_nodes;
    uint32_t free_nodes_in_whole_groups;
};

struct myr_replay_result {
    uint64_t jobs, multinode_jobs, decisions, preemptions;
    double wait_mean_h, wait_p50_h, wait_p99_h, wait_max_h;
    double multinode_wait_mean_h, multinode_wait_max_h;
    double jct_mean_h, leaf_span, gpu_utilisation, lost_gpu_hours_percent;
    double wait_gpu_hours_h;   /* mean, each job weighted by its GPU hours */
    double gang_half_max_h;    /* longest of a job that asks for half the cluster or more */
    double drain_idle_percent; /* of the GPU time: idle on nodes that were held for somebody */
    uint64_t hash;             /* of all starts and stops */
    /* In the order of submission: what was asked for, and what became of it. */
    const struct myr_job_row *submitted; /* the trace's rows, or 'moved' where they were jittered */
    MYR_VEC(struct myr_replay_job) job_rows;
    MYR_VEC(struct myr_job_row) moved;
    MYR_VEC(struct myr_replay_wait) longest; /* of jobs that were stopped, by job */
    MYR_VEC(struct myr_replay_sample) samples;
    struct myr_why why; /* of the job asked about */
};

/* 'trace' must live as long as the result. Takes about 60 bytes a job, and more while one is there.
 */
MYR_MUST_USE int myr_replay(const struct myr_joblog *trace,
                            const struct myr_replay_options *options, struct myr_replay_result *ret,
                            struct myr_err *err);
/* The longest wait in one piece of a job. */
struct myr_replay_wait myr_replay_longest(const struct myr_replay_result *result, uint32_t job);
void myr_replay_result_done(struct myr_replay_result *result);
