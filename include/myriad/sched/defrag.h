/*
 * defrag: which running jobs to move so that a gang fits, moving as few GPUs as possible.
 *
 * The gang's scope is one unit of the level that the request is limited to (a leaf, a pod), or the
 * whole cluster. Inside it the least busy nodes are emptied, one after the other; what runs there
 * goes to the fullest nodes that hold it, never to the gang's own. A node that took something in is
 * not emptied any more, so nothing moves twice. No plan moves fewer GPUs than 'gpus_least', the sum
 * of the least busy nodes; scopes are tried in the order of that bound.
 *
 * A job that loses one share restarts as a whole: its cost is all its GPUs for 'restart_s', the
 * time to save, start and read back, or what was computed since its last checkpoint.
 */
#pragma once

#include "myriad/sched/request.h"

struct myr_running {
    struct myr_gang *gang;
    uint32_t restart_s;
    bool pinned; /* must not be moved */
};

struct myr_migration {
    uint32_t job; /* index in the list of running jobs */
    struct myr_share from, to;
};

struct myr_defrag_plan {
    MYR_VEC(struct myr_migration) moves;
    uint32_t jobs_restarted;
    uint64_t gpus_moved, gpus_least;
    double gpu_seconds_lost;
    enum myr_level within; /* CORE: the whole cluster */
    uint32_t unit;
    uint32_t nodes_free; /* in the scope before */
};

/*
 * Plans, and changes nothing. MYR_EINFEASIBLE, with the reason, when no scope can be freed. An
 * empty plan: the gang fits as it is.
 */
MYR_MUST_USE int myr_defrag(const struct myr_placer *placer, const struct myr_request *request,
                            const struct myr_running *jobs, uint32_t job_count,
                            struct myr_defrag_plan *ret, struct myr_err *err);
void myr_defrag_done(struct myr_defrag_plan *plan);
/* Moves the shares, in the placer and in the gangs. */
void myr_defrag_apply(const struct myr_defrag_plan *plan, struct myr_placer *placer,
                      const struct myr_running *jobs);
