#include "queue/state.h"

/* Time goes on: what it earns and costs, and what is forgotten by then. */

/* A clock that leaps by ages ends at the limit of what is counted, not beyond it. */
static int64_t bounded(__int128 value)
{
    const int64_t most = INT64_C(1) << 60;
    return value > most ? most : value < -most ? -most : (int64_t)value;
}

/* GPUs that nobody uses on the nodes of a hold. */
static int64_t idle_held(const struct myr_queue *q, const struct hold *hold)
{
    int64_t idle = 0;
    for (size_t i = 0; i < hold->nodes.count; i++) {
        MYR_SLOW_ASSERT(hold->nodes.items[i] < q->shape.nodes);
        idle += gpu_count(myr_placer_free_mask(q->placer, hold->nodes.items[i]));
    }
    return idle;
}

/* Time passes: what it earns of GPU time that may be lost, and what nodes that are held cost. */
static void pass(struct myr_queue *q, int64_t passed_s)
{
    MYR_ASSERT(passed_s > 0);
    MYR_ASSERT(q->busy_gpus <= (uint64_t)q->shape.nodes * q->shape.gpus_per_node);
    for (size_t h = 0; h < q->holds.count; h++) {
        struct hold *hold = &q->holds.items[h];
        __int128 idle_s = (__int128)idle_held(q, hold) * passed_s;
        q->drained_gpu_s = bounded(q->drained_gpu_s + idle_s);
        hold->idle_gpu_s = bounded(hold->idle_gpu_s + idle_s);
    }
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
    /* With the first event no time has passed. */
    if (q->now_s != INT64_MIN && now_s > q->now_s) {
        pass(q, now_s - q->now_s);
    }
    q->now_s = now_s;
    if (q->over.count) {
        queue_forget_jobs(q);
    }
    MYR_SLOW_ASSERT(q->over.count == 0 || q->over.items[0].until_s > now_s);
    return MYR_OK;
}
