/*
 * queue: who runs next, on which GPUs, and who has to make room.
 *
 * A pure state machine: the caller tells it what happened and when (submit, finish, node, service),
 * calls myr_queue_decide(), and carries out the decisions in their order; a replay and a real
 * controller drive the same code. It has no clock and knows no durations. Job ids count from 0 in
 * the order of submission.
 *
 * Order: overdue jobs (waited for 'patience'), then priority, then level (jobs that have run least
 * stand in the highest), then the tenant that runs least for its weight, then first come. What does
 * not fit is passed over, so nothing blocks; instead nodes are held for gangs that have waited for
 * 'hold' (the larger the later), and for every overdue job, oldest first, as what runs there ends:
 * no size waits for ever. Jobs that are likely over in time run there meanwhile, by the lengths of
 * those of their size that have ended.
 *
 * Preemption, where the policy allows it: a job takes the GPUs of jobs of lower priority, or of the
 * same priority and a lower level, and of those the ones that lose the least work. Owners of cells
 * (tenant.h) take theirs back from borrowers under every policy.
 */
#pragma once

#include "myriad/sched/place.h"
#include "myriad/sched/tenant.h"

enum myr_order { MYR_ORDER_FIFO, MYR_ORDER_SKIP, MYR_ORDER_FAIR };

enum { MYR_QUEUE_LEVELS = 8, MYR_PRIORITY_MAX = 100 };

struct myr_queue_policy {
    enum myr_order order;
    int64_t patience_s; /* 0: nobody becomes overdue */
    int64_t hold_s;     /* a small gang that has waited so long has nodes held for it */
    int64_t locality_s; /* a gang waits so long for the fewest groups; then it takes any */
    int64_t spread_s;   /* nodes are held in few groups so long; then wherever they drain first */
    uint32_t holds_max; /* gangs for which nodes are held at the same time */
    bool preempt;
    int64_t checkpoint_s; /* running jobs save so often; 0: never */
    int64_t restart_s;    /* from a decision to preempt to work again, beside what was lost */
    int64_t level_s;      /* work done in the highest level; each next one is four times as long */
    uint32_t loss_permille; /* of the GPU time may be lost to preemption by level */
    int64_t run_min_s;      /* a job is left alone so long after each start */
};

struct myr_queue_policy myr_queue_policy_default(void);

struct myr_queue_job {
    uint32_t tenant, gpus;
    int32_t priority; /* -MYR_PRIORITY_MAX to MYR_PRIORITY_MAX; higher goes first */
    bool fixed;       /* never preempted, except by the owner of the cells it borrows */
    bool reclaims;    /* stops jobs of lower priority under every policy */
    int64_t limit_s;  /* it ends within this time of work, 0: unknown */
};

enum myr_decision_kind { MYR_DECIDE_START, MYR_DECIDE_STOP, MYR_DECIDE_REPLACE };

enum myr_stop_reason {
    MYR_STOP_NONE,
    MYR_STOP_LEVEL,       /* for a job that has run less */
    MYR_STOP_PRIORITY,    /* for a job of higher priority */
    MYR_STOP_OWNER,       /* the cells it borrowed are wanted by their owner */
    MYR_STOP_NODE,        /* a node of it was lost, and there was no spare */
    MYR_STOP_MAINTENANCE, /* a window opened */
    MYR_STOP_SERVICE,     /* fewer replicas are wanted; the job is over */
};

/* A job that was stopped waits again, with the work it saved. */
struct myr_decision {
    enum myr_decision_kind kind;
    enum myr_stop_reason reason;
    uint32_t job;
    uint32_t by;          /* stop: the job it makes room for, or MYR_NONE */
    uint32_t node, spare; /* replace: 'spare' took the place of 'node' in the gang */
};

enum myr_job_state { MYR_JOB_WAITS, MYR_JOB_RUNS, MYR_JOB_DONE };

struct myr_queue;

MYR_MUST_USE int myr_queue_create(const struct myr_place_shape *shape,
                                  const struct myr_queue_policy *policy,
                                  const struct myr_tenant *tenants, uint32_t tenant_count,
                                  struct myr_queue **ret, struct myr_err *err);
void myr_queue_free(struct myr_queue *queue);

/* Inputs. Time never goes back. 'submit' checks the job: a size nothing can hold is an error. */
MYR_MUST_USE int myr_queue_submit(struct myr_queue *queue, int64_t now_s,
                                  const struct myr_queue_job *job, uint32_t *ret_id,
                                  struct myr_err *err);
/* The job is over, or was cancelled, in whatever state. */
void myr_queue_finish(struct myr_queue *queue, int64_t now_s, uint32_t id);
void myr_queue_node(struct myr_queue *queue, int64_t now_s, uint32_t node, bool usable);

/* Nodes [first, first + count) are out of use from start to end. */
struct myr_window {
    uint32_t first, count;
    int64_t start_s, end_s;
    int64_t drain_s; /* so long before, only jobs whose limit ends in time are placed there */
};

MYR_MUST_USE int myr_queue_maintain(struct myr_queue *queue, const struct myr_window *window,
                                    struct myr_err *err);
/*
 * A service: between min and max replicas run, as many as are wanted now. The GPUs of the others
 * are lent to whoever needs them, and reclaimed from jobs of lower priority. A replica is a job; in
 * the place of one that ends by itself another comes.
 */
struct myr_service {
    uint32_t tenant, gpus; /* of a replica */
    uint32_t replicas_min, replicas_max;
    int32_t priority;
};

MYR_MUST_USE int myr_queue_serve(struct myr_queue *queue, int64_t now_s,
                                 const struct myr_service *service, uint32_t *ret_service,
                                 struct myr_err *err);
/* So many replicas are wanted from now on, within the service's bounds. */
void myr_queue_scale(struct myr_queue *queue, int64_t now_s, uint32_t service, uint32_t replicas);
/* The service is over, and all its replicas. */
void myr_queue_unserve(struct myr_queue *queue, int64_t now_s, uint32_t service);
/* Replicas that run. */
uint32_t myr_queue_serving(const struct myr_queue *queue, uint32_t service);

/* Keeps 'count' nodes free as warm spares, spread over the groups (spares.h says how many). */
void myr_queue_keep_spares(struct myr_queue *queue, uint32_t count);

/* Decides for this moment; the decisions are valid until the next call of any function. */
const struct myr_decision *myr_queue_decide(struct myr_queue *queue, int64_t now_s,
                                            uint32_t *ret_count);
/* When to call it again if nothing happens before; INT64_MAX: never. */
int64_t myr_queue_wake_s(const struct myr_queue *queue);

enum myr_job_state myr_queue_state(const struct myr_queue *queue, uint32_t id);
/* GPUs of a running job. */
const struct myr_gang *myr_queue_gang(const struct myr_queue *queue, uint32_t id);
/* Time spent not running so far, of a job that is not over: the queue forgets those that are. */
int64_t myr_queue_waited_s(const struct myr_queue *queue, int64_t now_s, uint32_t id);
const struct myr_placer *myr_queue_placer(const struct myr_queue *queue);
/* The tenant whose cells the job runs in, or MYR_NONE: common nodes or borrowed ones. */
uint32_t myr_queue_owner(const struct myr_queue *queue, uint32_t id);
uint32_t myr_queue_waiting(const struct myr_queue *queue);
