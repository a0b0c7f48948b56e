/*
 * events: what a controller tells the queue, beside new jobs.
 *
 * With policy.confirm decisions are wishes, and the GPUs follow what really happens:
 *
 *   START  the job is STARTING with its GPUs taken, until every node has started its ranks
 *          (started) or one could not (mend)
 *   STOP   the job has lost its GPUs, but nobody gets them until their ranks are gone: the node
 *          says so (stopped), or cannot run anything any more (fenced)
 *
 * The job for which others are stopped CLAIMS their GPUs: nobody else gets them, and its START is
 * decided when the last of them is free. A strict job never has two incarnations: it starts again
 * only when the ranks of the last one are gone everywhere. One with restart_epoch does not wait for
 * nodes that are lost; what it writes to must refuse older epochs.
 *
 * Nodes of a gang that are lost, drained, maintained or named by myr_queue_mend() are replaced by
 * spares or free nodes, the nearest ones that keep the gang's constraints; its other nodes stay its
 * own meanwhile, and so does a bad one that is well again. Decisions: one STOP of the old epoch, a
 * REPLACE for each node, and START with the next epoch when the place is whole and the old ranks
 * are gone. What is not filled within policy.mend_s is given up: the job waits in its line.
 *
 * Every function returns MYR_OK or an error and then nothing has changed: MYR_ENOENT no such job,
 * array, window; MYR_ERANGE a node or number out of range; MYR_ESTALE an old epoch, or a state in
 * which this is no longer (or not yet) so; MYR_EINVAL the rest: time going back, an epoch that has
 * not been. No event, however wrong, late or repeated, ends the program. After any of them ask
 * myr_queue_decide().
 */
#pragma once

#include "myriad/sched/queue.h"

enum { MYR_ARRAY_MAX = 1 << 20 };

/* All nodes of the gang have started its ranks. */
MYR_MUST_USE int myr_queue_started(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                   uint32_t epoch);
/*
 * This run, up or not, cannot go on: it is stopped and its place is mended. The bad nodes, if any
 * are known, are nodes of its gang; they are avoided for policy.avoid_s.
 */
MYR_MUST_USE int myr_queue_mend(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t epoch,
                                const uint32_t *bad, uint32_t count);
/* No rank of this incarnation runs on the node any more; MYR_NONE: nor on any other. */
MYR_MUST_USE int myr_queue_stopped(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                   uint32_t epoch, uint32_t node);
/* Switched off, or its lease has run out: nothing that was to stop there runs any more. */
MYR_MUST_USE int myr_queue_fenced(struct myr_queue *queue, int64_t now_s, uint32_t node);

enum myr_exit {
    MYR_EXIT_OK,      /* all ranks have ended well: the job is over and its GPUs are free */
    MYR_EXIT_FAILED,  /* a rank failed: counts as an attempt; the others are stopped */
    MYR_EXIT_REQUEUE, /* the same, but not by a fault of its own */
};

/* The job's ranks end by themselves. */
MYR_MUST_USE int myr_queue_exited(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                  uint32_t epoch, enum myr_exit how);

/* Nodes: together if they were lost together, so that a gang is mended in one step. */
MYR_MUST_USE int myr_queue_lost(struct myr_queue *queue, int64_t now_s, const uint32_t *nodes,
                                uint32_t count);
/* It is well again. What has not been confirmed or fenced there keeps its GPUs. */
MYR_MUST_USE int myr_queue_back(struct myr_queue *queue, int64_t now_s, uint32_t node);
/* Nothing new is placed there; what runs stays. */
MYR_MUST_USE int myr_queue_drain(struct myr_queue *queue, int64_t now_s, uint32_t node, bool drain);

/*
 * The job has done its work, whatever was being decided about it meanwhile (a move, say): those who
 * wait for it may start. Else as myr_queue_cancel().
 */
MYR_MUST_USE int myr_queue_succeeded(struct myr_queue *queue, int64_t now_s, uint32_t id);

/* What users ask. */
MYR_MUST_USE int myr_queue_cancel(struct myr_queue *queue, int64_t now_s, uint32_t id);
/* A held job does not start, and holding does not count as waiting; what runs goes on. */
MYR_MUST_USE int myr_queue_hold(struct myr_queue *queue, int64_t now_s, uint32_t id, bool hold);
MYR_MUST_USE int myr_queue_reprioritise(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                        int32_t priority);
/* Another size; what runs is stopped and starts again from its last checkpoint. */
MYR_MUST_USE int myr_queue_resize(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                  uint32_t gpus);
/* 'count' alike jobs with ids from *ret_first on, of which 'limit' wait or run at a time (0: all).
 */
MYR_MUST_USE int myr_queue_submit_array(struct myr_queue *queue, int64_t now_s,
                                        const struct myr_queue_job *job, uint32_t count,
                                        uint32_t limit, uint32_t *ret_first, struct myr_err *err);
/* Windows count from 0 in the order of myr_queue_maintain(). */
MYR_MUST_USE int myr_queue_cancel_window(struct myr_queue *queue, int64_t now_s, uint32_t window);

/*
 * A held job with a limit starts at that moment: as many nodes as it needs are kept free of whoever
 * would not end in time, and who is still there three minutes before is stopped. Refused where too
 * much is reserved then. Where nodes are lost it stands in the order from that moment on. It is let
 * go with the hold, and ends with the job.
 */
MYR_MUST_USE int myr_queue_reserve(struct myr_queue *queue, int64_t now_s, uint32_t id,
                                   int64_t start_s, struct myr_err *err);
/* Whether it would be taken, before it is submitted. */
bool myr_queue_may_reserve(const struct myr_queue *queue, const struct myr_queue_job *job,
                           int64_t start_s);
/* The clock has stepped: the same reservation at another moment. */
MYR_MUST_USE int myr_queue_redate(struct myr_queue *queue, uint32_t id, int64_t start_s);
/* Its date is given up: it stays held, and nothing is reserved for it any more. */
MYR_MUST_USE int myr_queue_undate(struct myr_queue *queue, int64_t now_s, uint32_t id);
/* When it starts; -1: nothing is reserved for it. */
int64_t myr_queue_reserved_s(const struct myr_queue *queue, uint32_t id);

/*
 * The cluster and its tenants change. Old ids stay: nodes are added behind, tenants too; the cells
 * that tenants own cannot change.
 */
MYR_MUST_USE int myr_queue_grow(struct myr_queue *queue, int64_t now_s,
                                const struct myr_place_shape *shape, struct myr_err *err);
MYR_MUST_USE int myr_queue_set_tenants(struct myr_queue *queue, int64_t now_s,
                                       const struct myr_tenant *tenants, uint32_t count,
                                       struct myr_err *err);
/* One of them, in the fair share among its brothers. */
MYR_MUST_USE int myr_queue_set_weight(struct myr_queue *queue, int64_t now_s, uint32_t tenant,
                                      uint32_t weight, struct myr_err *err);
/* More about a node than its place; what is placed from now on heeds it. */
MYR_MUST_USE int myr_queue_set_kind(struct myr_queue *queue, uint32_t node, uint8_t kind);
MYR_MUST_USE int myr_queue_set_penalty(struct myr_queue *queue, uint32_t node, uint32_t milli);

enum myr_job_result {
    MYR_RESULT_NONE, /* it is not over, or forgotten */
    MYR_RESULT_OK,
    MYR_RESULT_FAILED,    /* too many attempts */
    MYR_RESULT_CANCELLED, /* by the user, or what it waited for did not end well */
};

struct myr_job_view {
    enum myr_job_state state;
    enum myr_job_result result;
    uint32_t tenant, gpus;
    int32_t priority;
    uint32_t epoch;    /* of the last start; 0: never */
    uint32_t attempts; /* that failed by themselves */
    uint32_t leaving;  /* nodes where ranks of it may still run after a stop */
    int64_t saved_s;   /* work that a checkpoint holds, of earlier runs */
    bool guest;        /* its nodes are held for another, which may take them back */
    /* While it claims: nodes of its place, those that are bad, and until when it is kept then. */
    uint32_t nodes, bad;
    int64_t kept_until_s;
};

/* MYR_ENOENT when it never came or is forgotten. */
MYR_MUST_USE int myr_queue_view(const struct myr_queue *queue, uint32_t id,
                                struct myr_job_view *ret);
/* Ids below this have been given. */
uint32_t myr_queue_jobs(const struct myr_queue *queue);
/* So many it has known at a time, at most. */
uint32_t myr_queue_jobs_most(const struct myr_queue *queue);
/* Whether nothing is placed on the node now: lost, drained, held, avoided, maintained, a spare. */
bool myr_queue_closed(const struct myr_queue *queue, uint32_t node);
