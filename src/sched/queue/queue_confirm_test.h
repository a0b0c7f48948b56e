/* queue_confirm: jobs of a queue whose starts take effect when they are confirmed. */
#pragma once

#include "myriad/sched/events.h"
#include "queue/queue_fixture.h"

static inline void expect(struct myr_queue *queue, uint32_t id, enum myr_job_state state)
{
    assert_int_equal(myr_queue_state(queue, id), state);
}

static inline uint32_t running(struct myr_queue *queue, int64_t now_s, struct myr_queue_job job)
{
    uint32_t id = submit(queue, now_s, job);
    (void)decide(queue, now_s, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_started(queue, now_s, id, 1), MYR_OK);
    expect(queue, id, MYR_JOB_RUNS);
    return id;
}
