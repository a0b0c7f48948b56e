/*
 * replay: a trace of jobs through the queue, in virtual time.
 *
 * The policy knows no durations. Who goes next: the tenant that runs the least, then the job that
 * came first; jobs that do not fit are passed over. A job that has waited for 'patience' comes
 * before everybody else. A gang first waits for a place in as few groups as its size allows, for
 * 'locality'; once it has waited for 'hold', nodes are held for it as they drain, group by group:
 * the youngest jobs are expected to end soonest (job lengths have heavy tails), so groups whose
 * jobs are young are taken. So no job waits for ever, whatever its size.
 */
#pragma once

#include "myriad/sched/place.h"

struct myr_job_row {
    int64_t submit_s, duration_s;
    uint32_t gpus, tenant;
};

struct myr_joblog {
    MYR_VEC(struct myr_job_row) jobs;
    uint32_t tenants;
};

/* CSV with a header naming submit_s, duration_s, num_gpus and vc (any order, others ignored). */
MYR_MUST_USE int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err);
MYR_MUST_USE int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                                  struct myr_err *err);
void myr_joblog_done(struct myr_joblog *trace);

enum myr_order { MYR_ORDER_FIFO, MYR_ORDER_SKIP, MYR_ORDER_FAIR };

struct myr_replay_options {
    struct myr_place_shape shape;
    enum myr_order order;
    int64_t patience_s; /* 0: nobody is held for */
    int64_t hold_s;     /* a gang that has waited so long has nodes held for it */
    int64_t locality_s; /* a gang waits so long for the fewest leaves; then it takes any */
};

struct myr_replay_options myr_replay_default(const struct myr_place_shape *shape);

struct myr_replay_result {
    uint64_t jobs, multinode_jobs, decisions;
    double wait_mean_h, wait_p50_h, wait_p99_h, wait_max_h;
    double multinode_wait_mean_h, multinode_wait_max_h;
    double jct_mean_h, leaf_span, gpu_utilisation;
    uint64_t hash; /* of all start times */
};

MYR_MUST_USE int myr_replay(const struct myr_joblog *trace,
                            const struct myr_replay_options *options, struct myr_replay_result *ret,
                            struct myr_err *err);
