/*
 * placing: everything that the core asks of the queue, or tells it, in one place.
 *
 * The queue decides who gets which GPUs; it learns from here what came true. Jobs have the same id
 * in both. What the queue answers with MYR_ESTALE has been overtaken by another decision of its
 * own, which is on its way.
 */
#include "state.h"

/* The queue counts seconds of the core's own time. */
static int64_t now_s(const struct myr_control *c)
{
    MYR_ASSERT(c->head.steady_ms >= 0);
    return c->head.steady_ms / 1000;
}

/*
 * Anything but "too late" is a bug of ours, or a state that somebody made up. The queue has changed
 * nothing then, and a controller lives on; the twin counts it as a broken invariant.
 */
static void told(struct myr_control *c, int rc)
{
    MYR_ASSERT(rc <= 0);
    c->refusals += rc != MYR_OK && rc != MYR_ESTALE && rc != MYR_ENOENT;
    c->dirty = true;
}

/* A minute of the clock in the core's own time, as far as that is known now; 0: it has no date. */
static int64_t placing_date_s(const struct myr_control *c, const struct myr_job_spec *spec)
{
    int64_t date_ms = (int64_t)spec->date_min * 60000;
    return spec->date_min == 0 ? 0 : (c->head.steady_ms + date_ms - c->head.wall_ms + 999) / 1000;
}

bool placing_submit(struct myr_control *c, const struct myr_job_spec *spec)
{
    struct myr_queue_job job = {.tenant = spec->tenant,
                                .gpus = spec->gpus,
                                .priority = spec->priority,
                                .fixed = spec->fixed,
                                .limit_s = spec->limit_s,
                                .restart_epoch = spec->restart == MYR_RESTART_EPOCH,
                                .after_kind = spec->after ? MYR_AFTER_OK : MYR_AFTER_NONE,
                                .after = spec->after ? spec->after - 1 : 0};
    uint32_t id;
    int64_t date_s = placing_date_s(c, spec);
    MYR_ASSERT(spec->restart < MYR_RESTARTS && spec->after <= c->jobs.count);
    /* Whose time was reserved is not stopped for others in it. */
    job.held = date_s > now_s(c);
    job.fixed |= job.held;
    if (job.held && (spec->limit_s == 0 || !myr_queue_may_reserve(c->queue, &job, date_s))) {
        return false;
    }
    if (spec->after && job_of(c, spec->after - 1)->state == MYR_CONTROL_DONE) {
        job.after_kind = MYR_AFTER_NONE; /* the queue may have forgotten it */
    }
    if (myr_queue_submit(c->queue, now_s(c), &job, &id, NULL) < 0) {
        return false;
    }
    MYR_ASSERT(id == c->jobs.count);
    if (job.held) {
        told(c, myr_queue_reserve(c->queue, now_s(c), id, date_s, NULL));
    }
    c->dirty = true;
    return true;
}

void placing_redate(struct myr_control *c)
{
    for (uint32_t id = 0; id < c->jobs.count; id++) {
        const struct job *job = job_of(c, id);
        if (job->spec.date_min > 0 && job->state == MYR_CONTROL_QUEUED) {
            /* One whose time has come has no reservation any more. */
            int rc = myr_queue_redate(c->queue, id, placing_date_s(c, &job->spec));
            MYR_ASSERT(rc == MYR_OK || rc == MYR_ENOENT);
            c->dirty |= rc == MYR_OK;
        }
    }
}

void placing_started(struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(job_of(c, id)->whole && job_of(c, id)->confirmed);
    MYR_ASSERT(!job_is_over(job_of(c, id)) && job_of(c, id)->ranks > 0);
    told(c, myr_queue_started(c->queue, now_s(c), id, job_of(c, id)->run));
}

void placing_start_failed(struct myr_control *c, uint32_t id, uint32_t node)
{
    MYR_ASSERT(node == MYR_NONE || node < c->shape.nodes);
    MYR_ASSERT(!job_of(c, id)->confirmed); /* of a run that came up the queue hears otherwise */
    told(c, myr_queue_start_failed(c->queue, now_s(c), id, job_of(c, id)->run, node));
}

void placing_gone(struct myr_control *c, uint32_t id)
{
    const struct rank *rank = slot_of(c, id);
    /* GPUs on which something may run are nobody else's. */
    MYR_ASSERT(!rank_is_open(rank) || c->head.planted == MYR_PLANTED_DOUBLE_GRANT);
    MYR_ASSERT(rank->state != RANK_FREE && rank->run <= job_of(c, rank->job)->run);
    /* The twin's planted fault: GPUs of a job that was cancelled never come back. */
    if (c->head.planted == MYR_PLANTED_LEAK && job_of(c, rank->job)->after == AFTER_CANCELLED) {
        return;
    }
    /* In place the job keeps its GPUs: the queue need not know. */
    if (rank->old || job_of(c, rank->job)->taken) {
        told(c, myr_queue_stopped(c->queue, now_s(c), rank->job, rank->run, rank->node));
        rank_release(c, id);
        MYR_ASSERT(rank->released);
    }
}

void placing_done(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(job->after == AFTER_DONE);
    if (!job->ending) {
        job->ending = 1;
        int rc = myr_queue_exited(c->queue, now_s(c), id, job->run, MYR_EXIT_OK);
        /* Where the queue was about to move it, there is nothing left to move; but it is done, and
         * jobs may wait for just that. */
        told(c, rc == MYR_ESTALE ? myr_queue_succeeded(c->queue, now_s(c), id) : rc);
    }
}

void placing_refuse(struct myr_control *c, const struct myr_decision *start, uint32_t node)
{
    MYR_ASSERT(start->kind == MYR_DECIDE_START && node < c->shape.nodes);
    MYR_ASSERT(start->job < c->jobs.count);
    MYR_ASSERT(node_of(c, node)->gone || node_of(c, node)->shut); /* only for that */
    told(c, myr_queue_start_failed(c->queue, now_s(c), start->job, start->epoch, node));
}

void placing_over(struct myr_control *c, uint32_t id, uint32_t run)
{
    MYR_ASSERT(id < c->jobs.count && run > 0);
    told(c, myr_queue_stopped(c->queue, now_s(c), id, run, MYR_NONE));
}

void placing_cancel(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    if (!job->ending) {
        job->ending = 1;
        told(c, myr_queue_cancel(c->queue, now_s(c), id));
    }
}

/* Whether the queue is still to hear that it is gone. */
static bool is_untold(const struct myr_control *c, uint32_t id)
{
    for (size_t i = 0; i < c->lost.count; i++) {
        if (c->lost.items[i] == id) {
            return true;
        }
    }
    return false;
}

void placing_node(struct myr_control *c, uint32_t id, bool gone, bool shut)
{
    struct node *node = node_of(c, id);
    if (shut != node->shut) {
        node->shut = shut;
        told(c, myr_queue_drain(c->queue, now_s(c), id, shut));
    }
    if (gone && !node->gone) {
        node->gone = 1;
        myr_vec_push(&c->lost, id); /* all of one moment together */
    } else if (!gone && node->gone) {
        MYR_ASSERT(!is_untold(c, id)); /* it would be called lost after it was back */
        node->gone = 0;
        told(c, myr_queue_back(c->queue, now_s(c), id));
    }
    MYR_ASSERT(node->gone == gone && node->shut == shut);
}

void placing_maintain(struct myr_control *c, const struct myr_event *event)
{
    struct myr_window window = {event->node, event->count, event->value, event->end_s,
                                event->saved};
    MYR_ASSERT(event->kind == MYR_EVENT_MAINTAIN && event->node < c->shape.nodes);
    if (myr_queue_maintain(c->queue, &window, NULL) == MYR_OK) {
        c->dirty = true;
    } else {
        emit(c, &(struct myr_effect){.kind = MYR_EFFECT_NOTIFY,
                                     .reason = MYR_NOTICE_WINDOW,
                                     .node = event->node,
                                     .job = MYR_NONE});
    }
}

/* What it is was checked before: the queue has no reason to refuse it. */
void placing_weight(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_WEIGHT);
    MYR_ASSERT(event->count < c->tenants && event->value > 0);
    told(c, myr_queue_set_weight(c->queue, now_s(c), event->count, (uint32_t)event->value, NULL));
    c->dirty = true;
}

/* Together, so that the queue does not replace one lost node by another. */
static void tell_lost(struct myr_control *c)
{
    MYR_ASSERT(c->decisions.count == 0); /* else they were made without knowing it */
    MYR_ASSERT(c->lost.count <= c->shape.nodes);
    if (c->lost.count > 0) {
        told(c, myr_queue_lost(c->queue, now_s(c), c->lost.items, (uint32_t)c->lost.count));
        c->lost.count = 0;
    }
}

/*
 * Told at once, and not with the next event: a snapshot may follow, in which the queue must know
 * as much as the core. What may be used is what it was, so there is nothing to decide.
 */
void placing_grown(struct myr_control *c)
{
    MYR_ASSERT(!c->dirty);
    tell_lost(c);
    c->dirty = false;
}

bool placing_next(struct myr_control *c, struct myr_decision *ret)
{
    /* Decisions of one round are carried out before the queue is asked again. */
    if (c->decisions.count == 0) {
        tell_lost(c);
        if (!c->dirty && myr_queue_wake_s(c->queue) > now_s(c)) {
            return false;
        }
        c->dirty = false;
        uint32_t count;
        const struct myr_decision *made = myr_queue_decide(c->queue, now_s(c), &count);
        MYR_ASSERT(made || count == 0);
        for (uint32_t i = count; i > 0; i--) { /* taken from the end */
            myr_vec_push(&c->decisions, made[i - 1]);
        }
        if (count == 0) {
            return false;
        }
    }
    *ret = c->decisions.items[--c->decisions.count];
    MYR_ASSERT(ret->job < c->jobs.count);
    MYR_ASSERT(c->lost.count == 0); /* what it decides it decides without them */
    return true;
}

int64_t placing_wake_ms(const struct myr_control *c)
{
    int64_t wake_s = myr_queue_wake_s(c->queue);
    return wake_s < INT64_MAX / 1000 ? wake_s * 1000 : INT64_MAX;
}
