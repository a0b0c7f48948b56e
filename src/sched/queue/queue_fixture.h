/* queue_fixture: a small cluster, and the calls of the queue that cannot fail in its tests. */
#pragma once

#include "myriad/sched/queue.h"

/* Four nodes of eight GPUs, two a group. */
static const struct myr_place_shape four = {4, 8, 2, 4};
static const struct myr_tenant plain[] = {{.parent = MYR_NONE}, {.parent = MYR_NONE}};

static inline struct myr_queue_policy policy_of(bool preempt)
{
    struct myr_queue_policy policy = myr_queue_policy_default();
    policy.preempt = preempt;
    policy.stop_after_s = 0; /* at once, so that a test shows who is stopped and not when */
    return policy;
}

static inline struct myr_queue *queue_with(const struct myr_place_shape *shape,
                                           const struct myr_queue_policy *policy,
                                           const struct myr_tenant *tenants, uint32_t count)
{
    struct myr_queue *queue = NULL;
    struct myr_err err = {};
    int rc = myr_queue_create(shape, policy, tenants, count, &queue, &err);
    MYR_ASSERT(rc == MYR_OK);
    return queue;
}

static inline uint32_t submit(struct myr_queue *queue, int64_t now_s, struct myr_queue_job job)
{
    uint32_t id;
    struct myr_err err = {};
    int rc = myr_queue_submit(queue, now_s, &job, &id, &err);
    MYR_ASSERT(rc == MYR_OK);
    return id;
}

static inline const struct myr_decision *decide(struct myr_queue *queue, int64_t now_s,
                                                uint32_t *count)
{
    uint32_t ignored;
    return myr_queue_decide(queue, now_s, count ? count : &ignored);
}

static inline bool runs(const struct myr_queue *queue, uint32_t id)
{
    return myr_queue_state(queue, id) == MYR_JOB_RUNS;
}

static inline void finish(struct myr_queue *queue, int64_t now_s, uint32_t id)
{
    int rc = myr_queue_finish(queue, now_s, id);
    MYR_ASSERT(rc == MYR_OK);
}

static inline void set_node(struct myr_queue *queue, int64_t now_s, uint32_t node, bool usable)
{
    int rc = myr_queue_node(queue, now_s, node, usable);
    MYR_ASSERT(rc == MYR_OK);
}
