/*
 * What the parts of the queue share: queue.c keeps jobs and lines, queue_order.c says who is next,
 * queue_hold.c gathers nodes for gangs, queue_preempt.c makes room, queue_quota.c knows whose cells
 * are whose.
 */
#pragma once

#include "myriad/sched/queue.h"

struct qjob {
    struct myr_queue_job spec;
    int64_t since_s; /* when it would have come had it waited in one piece */
    int64_t start_s; /* of this run */
    int64_t saved_s; /* work done, up to the last checkpoint of earlier runs */
    struct myr_gang gang;
    struct myr_gang own_gang; /* the same in the owner's private numbering */
    uint32_t owner;           /* tenant whose cells it runs in, or MYR_NONE */
    uint32_t line, next, previous;
    uint32_t stops;
    int64_t retry_s; /* no search for victims before this */
    enum myr_job_state state;
};

/* Jobs of one tenant, size, priority and level wait in one line: the first stands for all. */
struct line {
    uint32_t tenant, gpus;
    int32_t priority;
    uint32_t level;
    uint32_t first, last; /* jobs; MYR_NONE: empty */
    uint32_t next_busy, previous_busy;
};

/* Nodes kept free for one gang. */
struct hold {
    uint32_t job;
    MYR_VEC(uint32_t) nodes;
};

struct window {
    struct myr_window spec;
    uint32_t stage; /* 0: ahead, 1: draining, 2: open, 3: over */
};

struct cells; /* quota.c */

enum { CLOSED_HOLD = 1, CLOSED_WINDOW = 2, CLOSED_SPARE = 4, CLOSED_DOWN = 8 };

struct myr_queue {
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    struct myr_placer *placer;
    struct cells *cells; /* NULL: nobody owns anything */
    uint32_t tenant_count;
    struct myr_tenant *tenants;
    uint64_t *tenant_gpus; /* running, with those of the tenants below */
    MYR_VEC(struct qjob) jobs;
    MYR_VEC(struct line) lines;
    uint32_t busy_first, busy_last; /* lines with jobs */
    struct myr_u64map line_of;
    uint32_t *node_jobs; /* by node: up to gpus_per_node running jobs */
    uint8_t *node_job_count;
    int64_t *node_oldest_s; /* by node: when its oldest job would have started, run in one piece */
    uint8_t *closed;        /* by node: CLOSED_ bits */
    int64_t *node_until_s;  /* draining: its window's start; else INT64_MAX */
    MYR_VEC(struct hold) holds;
    MYR_VEC(struct window) windows;
    uint32_t held_nodes;
    uint32_t spares_wanted, spares_kept;
    struct myr_heap wakes;
    MYR_VEC(struct myr_decision) decisions;
    MYR_VEC(uint32_t) victims; /* scratch */
    MYR_VEC(uint32_t) nodes;   /* scratch */
    int64_t now_s;
    uint32_t waiting;
    uint64_t busy_gpus;
    int64_t loss_left; /* GPU seconds x 1000 that preemption may still cost */
};

static inline int64_t queue_waited_s(const struct myr_queue *q, uint32_t id)
{
    return q->now_s - q->jobs.items[id].since_s;
}

static inline bool queue_is_gang(const struct myr_queue *q, uint32_t gpus)
{
    return gpus > q->shape.gpus_per_node;
}

static inline uint32_t gpu_count(uint64_t mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

/* queue.c */
uint32_t queue_level_of(const struct myr_queue *q, int64_t work_s);
/* Work of a running job since it started, and the part of it that no checkpoint holds yet. */
int64_t queue_worked_s(const struct myr_queue *q, const struct qjob *job);
int64_t queue_unsaved_s(const struct myr_queue *q, const struct qjob *job);
struct myr_gang *queue_gang_room(struct myr_queue *q, uint32_t id);
/* The GPUs in its gang are taken already. */
void queue_run_job(struct myr_queue *q, uint32_t id);
void queue_stop_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by);
void queue_close_node(struct myr_queue *q, uint32_t node, uint8_t bit, bool closed);
void queue_wake_at(struct myr_queue *q, int64_t time_s);

/*
 * How long a gang waits for the fewest groups, and has nodes held in them. One group more matters
 * less to a gang that needs many, and whole free groups by the dozen hardly ever come.
 */
int64_t queue_locality_s(const struct myr_queue *q, uint32_t gpus, int64_t most_s);

/* order.c */
bool queue_overdue(const struct myr_queue *q, uint32_t id);
bool queue_may_start(const struct myr_queue *q, uint32_t id);
bool queue_line_before(const struct myr_queue *q, const struct line *a, const struct line *b);
void queue_start_what_fits(struct myr_queue *q);
bool queue_start_own(struct myr_queue *q, uint32_t id);

/* hold.c */
void queue_serve_holds(struct myr_queue *q);
/* Opens (or closes again) the nodes held for a job, if any are. */
void queue_lift_hold(struct myr_queue *q, uint32_t id, bool lifted);
bool queue_start_short(struct myr_queue *q, uint32_t id);

/* preempt.c */
void queue_preempt_for_waiting(struct myr_queue *q);
int64_t queue_stop_cost(const struct myr_queue *q, const struct qjob *job);

/* quota.c */
struct cells *cells_create(const struct myr_place_shape *shape, const struct myr_tenant *tenants,
                           uint32_t count);
void cells_free(struct cells *cells);
