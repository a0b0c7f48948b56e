/* people: what a person asks of a job that is there. */
#include "state.h"

/* The queue was told that it is over: nothing of it can be changed any more. */
static bool is_ending(const struct job *job)
{
    return job_is_over(job) || job->ending;
}

/*
 * While it runs only the queue remembers: it is held when it comes back to a line. One that waits
 * for its date gives that up: let go it starts when it can, held when it is let go.
 */
static void hold(struct myr_control *c, uint32_t id, bool hold)
{
    struct job *job = job_of(c, id);
    bool dated = job->spec.date_min > 0 && placing_is_dated(c, id);
    if (!is_ending(job) && (job->spec.held != hold || dated)) {
        job->spec.held = hold;
        job->spec.date_min = dated ? 0 : job->spec.date_min;
        placing_hold(c, id, hold);
    }
}

static void reprioritise(struct myr_control *c, uint32_t id, int32_t priority)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(priority >= -MYR_PRIORITY_MAX && priority <= MYR_PRIORITY_MAX);
    if (!is_ending(job) && job->spec.priority != priority) {
        job->spec.priority = priority;
        placing_reprioritise(c, id, priority);
    }
}

void job_ask(struct myr_control *c, const struct myr_event *event)
{
    if (event->kind == MYR_EVENT_CANCEL) {
        job_cancel(c, event->job);
    } else if (event->kind == MYR_EVENT_HOLD_JOB) {
        hold(c, event->job, event->code != 0);
    } else {
        MYR_ASSERT(event->kind == MYR_EVENT_PRIORITY);
        reprioritise(c, event->job, (int32_t)event->value);
    }
}
