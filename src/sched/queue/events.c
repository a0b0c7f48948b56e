#include "myriad/sched/events.h"

#include "queue/state.h"

/* Declared first, so that what drives them can be written; not served yet. */

int myr_queue_started(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t epoch)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)epoch;
    return MYR_EINVAL;
}

int myr_queue_start_failed(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t epoch,
                           uint32_t node)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)epoch;
    (void)node;
    return MYR_EINVAL;
}

int myr_queue_stopped(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t epoch,
                      uint32_t node)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)epoch;
    (void)node;
    return MYR_EINVAL;
}

int myr_queue_fenced(struct myr_queue *queue, int64_t now_s, uint32_t node)
{
    (void)queue;
    (void)now_s;
    (void)node;
    return MYR_EINVAL;
}

int myr_queue_exited(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t epoch,
                     enum myr_exit how)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)epoch;
    (void)how;
    return MYR_EINVAL;
}

int myr_queue_lost(struct myr_queue *queue, int64_t now_s, const uint32_t *nodes, uint32_t count)
{
    (void)queue;
    (void)now_s;
    (void)nodes;
    (void)count;
    return MYR_EINVAL;
}

int myr_queue_back(struct myr_queue *queue, int64_t now_s, uint32_t node)
{
    (void)queue;
    (void)now_s;
    (void)node;
    return MYR_EINVAL;
}

int myr_queue_drain(struct myr_queue *queue, int64_t now_s, uint32_t node, bool drain)
{
    (void)queue;
    (void)now_s;
    (void)node;
    (void)drain;
    return MYR_EINVAL;
}

int myr_queue_cancel(struct myr_queue *queue, int64_t now_s, uint32_t id)
{
    (void)queue;
    (void)now_s;
    (void)id;
    return MYR_EINVAL;
}

int myr_queue_hold(struct myr_queue *queue, int64_t now_s, uint32_t id, bool hold)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)hold;
    return MYR_EINVAL;
}

int myr_queue_reprioritise(struct myr_queue *queue, int64_t now_s, uint32_t id, int32_t priority)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)priority;
    return MYR_EINVAL;
}

int myr_queue_resize(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t gpus)
{
    (void)queue;
    (void)now_s;
    (void)id;
    (void)gpus;
    return MYR_EINVAL;
}

int myr_queue_submit_array(struct myr_queue *queue, int64_t now_s, const struct myr_queue_job *job,
                           uint32_t count, uint32_t limit, uint32_t *ret_first, struct myr_err *err)
{
    (void)queue;
    (void)now_s;
    (void)job;
    (void)count;
    (void)limit;
    (void)ret_first;
    (void)err;
    return MYR_EINVAL;
}

int myr_queue_cancel_window(struct myr_queue *queue, int64_t now_s, uint32_t window)
{
    (void)queue;
    (void)now_s;
    (void)window;
    return MYR_EINVAL;
}

int myr_queue_grow(struct myr_queue *queue, int64_t now_s, const struct myr_place_shape *shape,
                   struct myr_err *err)
{
    (void)queue;
    (void)now_s;
    (void)shape;
    (void)err;
    return MYR_EINVAL;
}

int myr_queue_set_tenants(struct myr_queue *queue, int64_t now_s, const struct myr_tenant *tenants,
                          uint32_t count, struct myr_err *err)
{
    (void)queue;
    (void)now_s;
    (void)tenants;
    (void)count;
    (void)err;
    return MYR_EINVAL;
}

int myr_queue_set_kind(struct myr_queue *queue, uint32_t node, uint8_t kind)
{
    (void)queue;
    (void)node;
    (void)kind;
    return MYR_EINVAL;
}

int myr_queue_set_penalty(struct myr_queue *queue, uint32_t node, uint32_t milli)
{
    (void)queue;
    (void)node;
    (void)milli;
    return MYR_EINVAL;
}

int myr_queue_view(const struct myr_queue *queue, uint32_t id, struct myr_job_view *ret)
{
    (void)queue;
    (void)id;
    (void)ret;
    return MYR_EINVAL;
}

uint32_t myr_queue_jobs(const struct myr_queue *q)
{
    return q->job_count;
}

bool myr_queue_closed(const struct myr_queue *q, uint32_t node)
{
    return node >= q->shape.nodes || q->closed[node];
}
