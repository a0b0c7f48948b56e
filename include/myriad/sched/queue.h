/*
 * queue: who runs next, on which GPUs, and who has to make room.
 *
 * A pure state machine: the caller tells it what happened and when (submit, finish, node, service),
 * calls myr_queue_decide(), and carries out the decisions in their order; a replay and a real
 * controller drive the same code. It has no clock and knows no durations. Job ids count from 0 in
 * the order of submission.
 *
 * Order: priority, then level (jobs that have run least stand in the highest), then tenants that
 * keep to their share before those that flood and run a multiple of it, then first come: age counts
 * inside a share, never above it or above priority. What does not fit is passed over, so nothing
 * blocks; instead nodes are held for any job that has waited for 'patience': no size waits for
 * ever.
 *
 * Two worlds: without policy.confirm a decision has happened when it is made (replays, questions);
 * with it starts and stops are wishes until the caller says that they came true (events.h).
 *
 * Preemption, where the policy allows it: a job takes the GPUs of jobs of lower priority, or of the
 * same priority and a lower level, and of those the ones that lose the least work. Owners of cells
 * (tenant.h) take theirs back from borrowers under every policy.
 */
#pragma once

#include "myriad/sched/policy.h"
#include "myriad/sched/request.h"
#include "myriad/sched/tenant.h"

enum { MYR_PRIORITY_MAX = 100 };

enum myr_after { MYR_AFTER_NONE, MYR_AFTER_OK, MYR_AFTER_ANY };

/* Zeroed but for tenant and gpus means: no more is asked. The order of its fields leaves no gaps:
 * jobs are compared and stored byte by byte. */
struct myr_queue_job {
    uint32_t tenant, gpus;
    int32_t priority;          /* -MYR_PRIORITY_MAX to MYR_PRIORITY_MAX; higher goes first */
    enum myr_after after_kind; /* it waits until job 'after' is over, well or in any way */
    int64_t limit_s;           /* it ends within this time of work, 0: unknown */
    uint32_t after;
    uint32_t gpus_min;     /* it also starts with fewer GPUs, not below this; 0: all or nothing */
    uint32_t attempts_max; /* it is over after so many failures of its own; 0: never */
    bool fixed;            /* never preempted, except by the owner of the cells it borrows */
    bool reclaims;         /* stops jobs of lower priority under every policy */
    /* Not strict: an old incarnation that still runs on a lost node does no harm. */
    bool restart_epoch;
    bool held; /* its user holds it from the start */
    /*
     * More than a number of GPUs: traffic, kind, spread, nodes to leave out; NULL: none. 'gpus' is
     * then nodes x gpus_per_node of it. Copied; served by myr_place_gang(), ranks in its order.
     */
    const struct myr_request *request;
};

enum myr_decision_kind { MYR_DECIDE_START, MYR_DECIDE_STOP, MYR_DECIDE_REPLACE };

enum myr_stop_reason {
    MYR_STOP_NONE,
    MYR_STOP_LEVEL,       /* for a job that has run less */
    MYR_STOP_PRIORITY,    /* for a job of higher priority */
    MYR_STOP_OWNER,       /* its cells, or the place of a broken gang, are wanted by their owner */
    MYR_STOP_NODE,        /* a node of it was lost, and there was no spare */
    MYR_STOP_MAINTENANCE, /* a window opened */
    MYR_STOP_SERVICE,     /* fewer replicas are wanted; the job is over */
    MYR_STOP_CANCEL,      /* the user asked; the job is over */
    MYR_STOP_RESIZE,      /* it starts again with another number of GPUs */
    MYR_STOP_FAILED,      /* a rank failed, or a node could not start its ranks */
};

/* A job that was stopped waits again, with the work it saved. */
struct myr_decision {
    enum myr_decision_kind kind;
    enum myr_stop_reason reason;
    uint32_t job, epoch;  /* of which incarnation: every start of a job counts one up from 1 */
    uint32_t by;          /* stop: the job it makes room for, or MYR_NONE */
    uint32_t node, spare; /* replace: 'spare' took the place of 'node' in the gang */
};

enum myr_job_state {
    MYR_JOB_WAITS,
    MYR_JOB_RUNS,
    MYR_JOB_DONE,
    MYR_JOB_STARTING, /* has its GPUs; its nodes have not all said that it runs */
    MYR_JOB_STOPPING, /* ranks of it may still run: not placed again until they are gone */
    MYR_JOB_CLAIMS,   /* its GPUs are chosen and kept for it; others are still leaving them */
    MYR_JOB_HELD,     /* by the user */
    MYR_JOB_BLOCKED,  /* waits for another job, or for its turn in its array */
};

struct myr_queue;

MYR_MUST_USE int myr_queue_create(const struct myr_place_shape *shape,
                                  const struct myr_queue_policy *policy,
                                  const struct myr_tenant *tenants, uint32_t tenant_count,
                                  struct myr_queue **ret, struct myr_err *err);
void myr_queue_free(struct myr_queue *queue);

/*
 * Inputs. Every wrong one is an error that changes nothing: a time before the last one, a job, node
 * or service that is not there, a size nothing can hold.
 */
MYR_MUST_USE int myr_queue_submit(struct myr_queue *queue, int64_t now_s,
                                  const struct myr_queue_job *job, uint32_t *ret_id,
                                  struct myr_err *err);
/*
 * The job is over, or was cancelled, in whatever state; once more does no harm. With policy.confirm
 * the same as myr_queue_cancel(): what runs is stopped first.
 */
MYR_MUST_USE int myr_queue_finish(struct myr_queue *queue, int64_t now_s, uint32_t id);
MYR_MUST_USE int myr_queue_node(struct myr_queue *queue, int64_t now_s, uint32_t node, bool usable);

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
MYR_MUST_USE int myr_queue_scale(struct myr_queue *queue, int64_t now_s, uint32_t service,
                                 uint32_t replicas);
/* The service is over, and all its replicas. */
MYR_MUST_USE int myr_queue_unserve(struct myr_queue *queue, int64_t now_s, uint32_t service);
/* Replicas that run; 0 for a service that is not there. */
uint32_t myr_queue_serving(const struct myr_queue *queue, uint32_t service);

/* Keeps 'count' nodes free as warm spares, spread over the groups (spares.h says how many). */
void myr_queue_keep_spares(struct myr_queue *queue, uint32_t count);

/*
 * Decides for this moment; the decisions are valid until the next call of any function. NULL, and
 * nothing decided, when the time is before the last one.
 */
const struct myr_decision *myr_queue_decide(struct myr_queue *queue, int64_t now_s,
                                            uint32_t *ret_count);
/* When to call it again if nothing happens before; INT64_MAX: never. */
int64_t myr_queue_wake_s(const struct myr_queue *queue);

enum myr_job_state myr_queue_state(const struct myr_queue *queue, uint32_t id);
/* GPUs of a running job; valid until the next call. Jobs that are not there are over. */
const struct myr_gang *myr_queue_gang(const struct myr_queue *queue, uint32_t id);
/* Time spent not running so far, of a job that is not over: the queue forgets those that are. */
int64_t myr_queue_waited_s(const struct myr_queue *queue, int64_t now_s, uint32_t id);
const struct myr_placer *myr_queue_placer(const struct myr_queue *queue);
/* The tenant whose cells the job runs in, or MYR_NONE: common nodes or borrowed ones. */
uint32_t myr_queue_owner(const struct myr_queue *queue, uint32_t id);
uint32_t myr_queue_waiting(const struct myr_queue *queue);
/* GPU time that has stood idle on nodes held for somebody. */
int64_t myr_queue_drained_gpu_s(const struct myr_queue *queue);
