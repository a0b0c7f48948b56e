#include "queue/state.h"

/* Time goes on: what it earns and costs, and what is forgotten by then. */

/* GPUs that nobody uses on nodes that are held. */
static int64_t idle_held(const struct myr_queue *q)
{
    int64_t idle = 0;
    for (size_t h = 0; h < q->holds.count; h++) {
        const struct hold *hold = &q->holds.items[h];
        for (size_t i = 0; i < hold->nodes.count; i++) {
            MYR_SLOW_ASSERT(hold->nodes.items[i] < q->shape.nodes);
            idle += gpu_count(myr_placer_free_mask(q->placer, hold->nodes.items[i]));
        }
    }
    return idle;
}

/* A clock that leaps by ages ends at the limit of what is counted, not beyond it. */
static int64_t bounded(__int128 value)
{
    const int64_t most = INT64_C(1) << 60;
    return value > most ? most : value < -most ? -most : (int64_t)value;
}

/* Time passes: what it earns of idle and of lost GPU time, and what nodes that are held cost. */
static void pass(struct myr_queue *q, int64_t passed_s)
{
    int64_t all = (int64_t)q->shape.nodes * q->shape.gpus_per_node;
    MYR_ASSERT(passed_s > 0);
    MYR_ASSERT(q->busy_gpus <= (uint64_t)all);
    /* Nodes may stand idle for a part of all GPU time, and that is saved up only for so long. */
    int64_t most = all * q->policy.drain_ppm * q->policy.drain_save_s;
    int64_t earned_s = passed_s < q->policy.drain_save_s ? passed_s : q->policy.drain_save_s;
    int64_t left = bounded((__int128)q->drain_left + all * q->policy.drain_ppm * earned_s);
    __int128 idle_s = (__int128)idle_held(q) * passed_s;
    q->drained_gpu_s = bounded(q->drained_gpu_s + idle_s);
    MYR_ASSERT(idle_s >= 0);
    q->drain_left = bounded((left < most ? left : most) - idle_s * 1000000);
    /* Only GPUs at work earn what stopping them may cost: an idle cluster saves up nothing. */
    if (q->policy.preempt) {
        __int128 busy_s = (__int128)q->busy_gpus * passed_s;
        q->loss_left = bounded(q->loss_left + busy_s * q->policy.loss_permille);
    }
}

int queue_advance(struct myr_queue *q, int64_t now_s)
{
    if (now_s < q->now_s) {
        return MYR_EINVAL;
    }
    /* The first event: no time has passed, and nothing is known of gangs before it. */
    if (q->now_s == INT64_MIN) {
        q->big_last_min = queue_minute_of(now_s);
    } else if (now_s > q->now_s) {
        pass(q, now_s - q->now_s);
    }
    q->now_s = now_s;
    if (q->over.count) {
        queue_forget_jobs(q);
    }
    MYR_SLOW_ASSERT(q->over.count == 0 || q->over.items[0].until_s > now_s);
    return MYR_OK;
}
