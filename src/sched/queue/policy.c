#include "queue/state.h"

/*
 * What the policy says of one job at this moment: its level, how long it may wait for what, what it
 * costs to stop it. Everything else in this folder asks here, so nothing here changes anything.
 */

/* Gangs of up to one part of the cluster in so many have nodes held for them early. */
enum { SMALL_SHARE = 32 };

struct myr_queue_policy myr_queue_policy_default(void)
{
    return (struct myr_queue_policy){.order = MYR_ORDER_FAIR,
                                     .patience_s = 24 * 3600,
                                     .hold_s = 900,
                                     .locality_s = 10 * 3600,
                                     .spread_s = 20 * 3600,
                                     .holds_max = 4,
                                     .checkpoint_s = 1800,
                                     .restart_s = 120,
                                     .level_s = 3600,
                                     .run_min_s = 1800,
                                     .loss_permille = 8};
}

uint32_t queue_level_of(const struct myr_queue *q, int64_t work_s)
{
    uint32_t level = 0;
    int64_t most = q->policy.level_s;
    if (!q->policy.preempt || most <= 0) {
        return 0; /* nobody is stopped for it, so what it has done does not count against it */
    }
    while (level + 1 < MYR_QUEUE_LEVELS && work_s >= most) {
        level++;
        most *= 4;
    }
    return level;
}

int64_t queue_worked_s(const struct myr_queue *q, const struct qjob *job)
{
    int64_t ran = q->now_s - job->start_s - (job->stops ? q->policy.restart_s : 0);
    return ran > 0 ? ran : 0;
}

int64_t queue_unsaved_s(const struct myr_queue *q, const struct qjob *job)
{
    int64_t ran = queue_worked_s(q, job);
    return q->policy.checkpoint_s > 0 ? ran % q->policy.checkpoint_s : ran + job->saved_s;
}

int64_t queue_stop_cost(const struct myr_queue *q, const struct qjob *job)
{
    return (int64_t)job->spec.gpus * (queue_unsaved_s(q, job) + q->policy.restart_s);
}

bool queue_overdue(const struct myr_queue *q, uint32_t id)
{
    return q->policy.patience_s > 0 && queue_waited_s(q, id) >= q->policy.patience_s;
}

int64_t queue_locality_s(const struct myr_queue *q, uint32_t gpus, int64_t most_s)
{
    uint32_t nodes = myr_place_nodes(q->placer, gpus), per = q->shape.group_nodes;
    return most_s / ((nodes + per - 1) / per);
}

int64_t queue_hold_s(const struct myr_queue *q, uint32_t gpus)
{
    int64_t parts = (int64_t)myr_place_nodes(q->placer, gpus) * SMALL_SHARE, all = q->shape.nodes;
    int64_t hold_s = q->policy.hold_s;
    if (parts > all) {
        hold_s = hold_s * parts / all * parts / all;
    }
    return q->policy.patience_s > 0 && hold_s > q->policy.patience_s ? q->policy.patience_s
                                                                     : hold_s;
}
