/* deadlines: what a job does when the time it was given is over: it is hung, or orders are said
 * again. */
#include "state.h"

/* An agent that hears nothing ends ranks that make no progress; a tenth for its clock. */
static bool lease_is_over(const struct myr_control *c, const struct job *job,
                          const struct rank *rank)
{
    const struct node *node = node_of(c, rank->node);
    MYR_ASSERT(rank->state == RANK_STOPPING); /* no other is ended by its lease alone */
    if (!node->silent || job->stopped_ms < 0) {
        return false;
    }
    int64_t from_ms = job->stopped_ms > node->since_ms ? job->stopped_ms : node->since_ms;
    MYR_ASSERT(from_ms <= c->head.steady_ms); /* both were set to what was now then */
    /* In milliseconds, with a tenth and a minute more than the agent itself counts. */
    return c->head.steady_ms - from_ms > (int64_t)job->spec.lease_s * 1100 + 60000;
}

/* A rank that is to stop, on a silent node, and must have ended by now. */
static uint32_t find_ended(const struct myr_control *c, const struct job *job)
{
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(!rank->old);
        if (rank->state == RANK_STOPPING && lease_is_over(c, job, rank)) {
            return at;
        }
    }
    return MYR_NONE;
}

/* Orders that have no answer yet, and ranks whose agents must have ended them by themselves. */
static void resend(struct myr_control *c, uint32_t id)
{
    const struct job *job = job_of(c, id);
    MYR_ASSERT(!job_is_over(job) && job->ranks > 0);
    MYR_ASSERT(job->deadline_ms >= 0); /* whatever has no answer now is looked at again */
    /* Said again, an order does not cut short what the first one has granted. */
    int64_t left_ms = job->grace_ms - c->head.steady_ms;
    /* Rounded up; nothing is left where it is over, or was never set. */
    uint32_t left_s = left_ms > 0 && left_ms < 1000 * (int64_t)MYR_LEASE_S_MAX
                          ? (uint32_t)((left_ms + 999) / 1000)
                          : 0;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        if (slot_of(c, at)->state == RANK_STARTING) {
            order_start(c, at);
        } else if (slot_of(c, at)->state == RANK_STOPPING) {
            order_stop(c, at, left_s);
        }
    }
    /* Looked for anew each time: with one gone the job may settle, and leave the others behind. */
    for (uint32_t at; (at = find_ended(c, job)) != MYR_NONE;) {
        MYR_PROBE("ranks are over since their lease is");
        job_rank_gone(c, at);
    }
}

/* Orders to stop what the job has left behind; false: there was nobody to order. */
static bool resend_old(struct myr_control *c, uint32_t id)
{
    bool sent = false;
    for (uint32_t at = job_of(c, id)->first_old; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        /* Who is silent gets the order when it is heard. */
        sent = sent || !node_of(c, slot_of(c, at)->node)->silent;
        MYR_ASSERT(slot_of(c, at)->old);
        order_stop(c, at, 0);
    }
    MYR_ASSERT(!sent || job_of(c, id)->old_open > 0);
    return sent;
}

/* Whether a running gang has made no step for too long; else its next deadline is set. */
static bool is_hung(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(job->after == AFTER_NONE && job->ranks > 0);
    MYR_ASSERT(job->progress_ms <= c->head.steady_ms);
    bool moved = job->steps || job->state == MYR_CONTROL_FINISHING;
    int64_t hung_ms = job->progress_ms + (moved ? c->policy.hang_ms : c->policy.first_step_ms);
    int64_t next_ms = c->head.steady_ms + c->policy.retry_ms;
    if (job->spec.service && !moved) { /* it answers others, and need not tell of steps */
        hung_ms = c->head.steady_ms + c->policy.hang_ms;
    }
    if (c->head.steady_ms >= hung_ms) {
        MYR_PROBE("a job hangs");
        return true;
    }
    bool again = job->old_open > 0 && resend_old(c, id);
    timer_set(c, TIMER_JOB, id, again && next_ms < hung_ms ? next_ms : hung_ms);
    return false;
}

enum job_due job_deadline(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    int64_t now_ms = c->head.steady_ms;
    MYR_ASSERT(job->deadline_ms == -1); /* what has come is no longer awaited */
    /* Nothing of the job itself is due: only what it has left behind. */
    if (job_is_over(job) || job->state == MYR_CONTROL_QUEUED) {
        if (resend_old(c, id)) {
            timer_set(c, TIMER_JOB, id, now_ms + c->policy.retry_ms);
        }
        return DUE_NOTHING;
    }
    if (job->after == AFTER_NONE && job->state != MYR_CONTROL_STARTING) {
        if (!is_hung(c, id)) {
            return DUE_NOTHING;
        }
        /* Some ranks have finished: the others have nothing left to do, and count as done too. */
        if (job->state == MYR_CONTROL_FINISHING) {
            MYR_PROBE("some ranks have ended, and the others hang");
            job_halt(c, id, AFTER_DONE, 0);
            return DUE_NOTHING;
        }
        job_failed(c, id, true);
        return DUE_HUNG;
    }
    MYR_ASSERT(job->ranks > 0 && job->started_ms <= now_ms);
    /* Set first: what follows may set another, or end the job. */
    timer_set(c, TIMER_JOB, id, now_ms + c->policy.retry_ms);
    if (job->after == AFTER_NONE && now_ms >= job->started_ms + c->policy.start_window_ms) {
        MYR_PROBE("a gang is not up within its window");
        return DUE_LATE;
    }
    (void)resend_old(c, id);
    resend(c, id);
    if (!job_is_over(job_of(c, id))) {
        job_settle(c, id); /* it may be time to start again */
    }
    return DUE_NOTHING;
}
