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

/*
 * What may stand idle on nodes that are held: a tenth of all GPU time; half of that where others
 * can be stopped instead. It is saved up, or owed, for as long as a gang waits at most for it.
 */
enum { IDLE_PERMILLE = 100, IDLE_SPAN_MAX_S = 1 << 20 };

static int64_t idle_permille(const struct myr_queue *q)
{
    return q->policy.preempt ? IDLE_PERMILLE / 2 : IDLE_PERMILLE;
}

static int64_t most_left(const struct myr_queue *q)
{
    int64_t span_s = q->policy.yield_s < IDLE_SPAN_MAX_S ? q->policy.yield_s : IDLE_SPAN_MAX_S;
    return span_s * idle_permille(q);
}

static void count_idle(struct myr_queue *q, int64_t idle, int64_t passed_s)
{
    int64_t all = (int64_t)q->shape.nodes * q->shape.gpus_per_node, most = most_left(q);
    MYR_ASSERT(idle >= 0 && idle <= all);
    __int128 left = q->idle_left + (__int128)(idle_permille(q) - idle * 1000 / all) * passed_s;
    q->idle_left = (int32_t)(left > most ? most : left < -most ? -most : left);
}

int64_t queue_may_drain_s(const struct myr_queue *q, int64_t since_s)
{
    MYR_ASSERT(since_s <= q->now_s);
    int64_t last_s = queue_after_s(since_s, q->policy.yield_s);
    if (q->idle_left >= 0 || last_s <= q->now_s) {
        return q->now_s;
    }
    int64_t rate = idle_permille(q), paid_s = q->now_s + (rate - 1 - q->idle_left) / rate;
    return paid_s < last_s ? paid_s : last_s;
}

/* Time passes: what it earns of GPU time that may be lost, and what nodes that are held cost. */
static void pass(struct myr_queue *q, int64_t passed_s)
{
    MYR_ASSERT(passed_s > 0);
    MYR_ASSERT(q->busy_gpus <= (uint64_t)q->shape.nodes * q->shape.gpus_per_node);
    int64_t all_idle = 0;
    for (size_t h = 0; h < q->holds.count; h++) {
        struct hold *hold = &q->holds.items[h];
        int64_t idle = idle_held(q, hold);
        __int128 idle_s = (__int128)idle * passed_s;
        all_idle += idle;
        q->drained_gpu_s = bounded(q->drained_gpu_s + idle_s);
        hold->idle_gpu_s = bounded(hold->idle_gpu_s + idle_s);
    }
    count_idle(q, all_idle, passed_s);
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
