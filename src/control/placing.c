/*
 * placing: everything that the core asks of the queue, or tells it, in one place.
 *
 * The queue decides who gets which GPUs; it learns from here what came true. Jobs have the same id
 * in both, and between two events both say the same of each: what has a run here has the same run
 * there, or the queue has taken that away and the core has been told so.
 */
#include "state.h"

/* The queue counts seconds of the core's own time. */
static int64_t now_s(const struct myr_control *c)
{
    MYR_ASSERT(c->head.steady_ms >= 0);
    return c->head.steady_ms / 1000;
}

/*
 * A refusal, "too late" as well, is a bug of ours, or a state that somebody made up. The queue has
 * changed nothing then, and a controller lives on; the twin counts it as a broken invariant.
 */
static void told(struct myr_control *c, int rc)
{
    MYR_ASSERT(rc <= 0);
    c->refusals += rc != MYR_OK;
    c->dirty = true;
}

/* The layout that a wish is of, whole enough for the order of ranks; false: there is none such. */
static bool wished_layout(const struct myr_job_wish *wish, uint32_t gpus, struct myr_layout *ret)
{
    *ret = myr_layout_default();
    ret->tp = wish->tp;
    ret->cp = wish->cp;
    ret->dp = wish->dp;
    ret->pp = wish->pp;
    ret->ep = wish->ep;
    ret->etp = wish->etp;
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        ret->order[i] = (enum myr_axis)wish->order[i];
    }
    /* How much it trains on is not asked here: as little as keeps every replica busy. */
    ret->global_batch = ret->dp;
    return myr_layout_broken(ret, NULL, gpus) == MYR_LAYOUT_OK;
}

/*
 * What a job wishes beside a number of GPUs, as the queue has it; false: nobody could grant it.
 * 'ret' is left alone where it wishes nothing; its parts lie in the arena.
 */
static bool wished_request(const struct myr_control *c, const struct myr_job_spec *spec,
                           struct myr_arena *arena, struct myr_request *ret,
                           const struct myr_request **ret_asked)
{
    static const struct myr_job_wish none;
    const struct myr_job_wish *wish = &spec->wish;
    uint32_t per = c->shape.gpus_per_node;
    if (memcmp(wish, &none, sizeof(none)) == 0) {
        return true;
    }
    bool whole = spec->gpus <= per || spec->gpus % per == 0;
    if (!whole || wish->unused || wish->unused2 || wish->within > MYR_LEVEL_COUNT) {
        return false;
    }
    *ret = (struct myr_request){.nodes = spec->gpus <= per ? 1 : spec->gpus / per,
                                .gpus_per_node = spec->gpus < per ? spec->gpus : per,
                                .limited = wish->within > 0,
                                .within = (enum myr_level)(wish->within ? wish->within - 1 : 0),
                                .leaf_max = wish->leaf_max,
                                .kind_given = wish->kind > 0,
                                .kind = (uint8_t)(wish->kind ? wish->kind - 1 : 0)};
    *ret_asked = ret;
    struct myr_layout layout;
    if (wish->tp > 0) {
        struct myr_job_traffic *traffic = MYR_ARENA_ONE(arena, struct myr_job_traffic);
        ret->traffic = traffic;
        return wished_layout(wish, spec->gpus, &layout) &&
               myr_job_traffic_of(&layout, NULL, ret->gpus_per_node, arena, traffic, NULL) ==
                   MYR_OK;
    }
    return true;
}

/* A minute of the clock in the core's own time, as far as that is known now; 0: it has no date. */
static int64_t placing_date_s(const struct myr_control *c, const struct myr_job_spec *spec)
{
    int64_t date_ms = (int64_t)spec->date_min * 60000;
    return spec->date_min == 0 ? 0 : (c->head.steady_ms + date_ms - c->head.wall_ms + 999) / 1000;
}

bool placing_submit(struct myr_control *c, const struct myr_job_spec *spec)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_request request;
    const struct myr_request *asked = NULL;
    if (!wished_request(c, spec, &arena, &request, &asked)) {
        return false;
    }
    struct myr_queue_job job = {.tenant = spec->tenant,
                                .gpus = spec->gpus,
                                .priority = spec->priority,
                                .fixed = spec->fixed,
                                .gpus_min = spec->gpus_min,
                                .held = spec->held,
                                .request = asked,
                                .limit_s = spec->limit_s,
                                .restart_epoch = spec->restart == MYR_RESTART_EPOCH,
                                .after_kind = spec->after ? MYR_AFTER_OK : MYR_AFTER_NONE,
                                .after = spec->after ? spec->after - 1 : 0};
    uint32_t id;
    int64_t date_s = placing_date_s(c, spec);
    MYR_ASSERT(spec->restart < MYR_RESTARTS && spec->after <= c->head.job_count);
    /* Whose time was reserved is not stopped for others in it. */
    bool dated = date_s > now_s(c);
    job.held |= dated;
    job.fixed |= dated;
    if (dated && (spec->limit_s == 0 || !myr_queue_may_reserve(c->queue, &job, date_s))) {
        return false;
    }
    if (spec->after && job_of(c, spec->after - 1)->state == MYR_CONTROL_DONE) {
        job.after_kind = MYR_AFTER_NONE; /* the queue may have forgotten it */
    }
    if (myr_queue_submit(c->queue, now_s(c), &job, &id, NULL) < 0) {
        return false;
    }
    MYR_ASSERT(id == c->head.job_count);
    if (dated) {
        told(c, myr_queue_reserve(c->queue, now_s(c), id, date_s, NULL));
    }
    c->dirty = true;
    return true;
}

void placing_redate(struct myr_control *c)
{
    for (size_t i = 0; i < c->jobs.count; i++) {
        const struct job *job = &c->jobs.items[i];
        if (job->spec.date_min > 0 && job->state == MYR_CONTROL_QUEUED) {
            /* One whose time has come has no reservation any more. */
            int rc = myr_queue_redate(c->queue, job->id, placing_date_s(c, &job->spec));
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

enum place_fit placing_fit(const struct myr_control *c, uint32_t id)
{
    const struct myr_gang *gang = myr_queue_gang(c->queue, id);
    /* Without a gang there the queue has stopped this run, and its decision is on the way. */
    bool unheard = gang->count == 0, unfit = false;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct node *node = node_of(c, gang->shares[i].node);
        unheard = unheard || node->silent || node->gone;
        unfit = unfit || node->shut;
    }
    return unheard ? PLACE_UNHEARD : unfit ? PLACE_UNFIT : PLACE_FIT;
}

void placing_mend(struct myr_control *c, uint32_t id, uint32_t run)
{
    const struct myr_gang *gang = myr_queue_gang(c->queue, id);
    MYR_CLEANUP(myr_free_at) uint32_t *bad = myr_xcalloc(gang->count, sizeof(*bad));
    uint32_t count = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct node *node = node_of(c, gang->shares[i].node);
        if (node->shut || node->gone) {
            bad[count++] = gang->shares[i].node;
        }
    }
    MYR_ASSERT(count > 0); /* only for that */
    told(c, myr_queue_mend(c->queue, now_s(c), id, run, bad, count));
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
        int rc = myr_queue_stopped(c->queue, now_s(c), rank->job, rank->run, rank->node);
        /* With the planted one it is told twice: that is for others to find. */
        told(c, c->head.planted == MYR_PLANTED_DOUBLE_GRANT ? MYR_OK : rc);
        rank_release(c, id);
        MYR_ASSERT(rank->released);
    }
}

/*
 * A job that may leave ranks behind ends, and some of them nobody has heard of: what is over is the
 * queue's at once, the rest when it is known to be gone. Else the queue would take all of it for
 * free with its own stop, which comes when the job is over.
 */
static void leave_lost(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    if (job->taken || job->open == 0) {
        return;
    }
    MYR_PROBE("a job ends with ranks on a node that was lost");
    job->taken = 1;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        if (!rank_is_open(slot_of(c, at))) {
            placing_gone(c, at);
        }
    }
}

void placing_done(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(job->after == AFTER_DONE);
    if (!job->ending) {
        job->ending = 1;
        /* Where the queue was about to move it, there is nothing left to move; but it is done, and
         * jobs may wait for just that. */
        bool whole = !job->taken && job->open == 0;
        told(c, whole ? myr_queue_exited(c->queue, now_s(c), id, job->run, MYR_EXIT_OK)
                      : myr_queue_succeeded(c->queue, now_s(c), id));
        leave_lost(c, id);
    }
}

void placing_end(struct myr_control *c, uint32_t id)
{
    placing_cancel(c, id);
    leave_lost(c, id);
}

void placing_over(struct myr_control *c, uint32_t id, uint32_t run)
{
    MYR_ASSERT(job_find(c, id) && run > 0);
    told(c, myr_queue_stopped(c->queue, now_s(c), id, run, MYR_NONE));
}

/* Whoever waits for a job that did not end well the queue has ended by itself. */
static void asked(struct myr_control *c, uint32_t id, int rc)
{
    told(c, rc == MYR_OK || job_of(c, id)->spec.after == 0 ? rc : MYR_OK);
}

void placing_cancel(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    if (!job->ending) {
        job->ending = 1;
        asked(c, id, myr_queue_cancel(c->queue, now_s(c), id));
    }
}

/* One that waits for a job that is being cancelled is over there before it is here. */
static bool goes_on(const struct myr_control *c, uint32_t id)
{
    struct myr_job_view view;
    MYR_ASSERT(!job_is_over(job_of(c, id)));
    return myr_queue_view(c->queue, id, &view) == MYR_OK && view.result == MYR_RESULT_NONE;
}

bool placing_is_dated(const struct myr_control *c, uint32_t id)
{
    return myr_queue_reserved_s(c->queue, id) >= 0;
}

void placing_hold(struct myr_control *c, uint32_t id, bool hold)
{
    /* Until its date the queue holds it anyway: without one it stays so. */
    if (hold && placing_is_dated(c, id)) {
        MYR_PROBE("a job with a date is held");
        told(c, myr_queue_undate(c->queue, now_s(c), id));
    } else if (goes_on(c, id)) {
        told(c, myr_queue_hold(c->queue, now_s(c), id, hold));
    }
}

void placing_reprioritise(struct myr_control *c, uint32_t id, int32_t priority)
{
    if (goes_on(c, id)) {
        told(c, myr_queue_reprioritise(c->queue, now_s(c), id, priority));
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
        if (!shut || !planted_hides_drain(c, id)) {
            told(c, myr_queue_drain(c->queue, now_s(c), id, shut));
        }
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
    MYR_ASSERT(job_find(c, ret->job));
    MYR_ASSERT(c->lost.count == 0); /* what it decides it decides without them */
    return true;
}

int64_t placing_wake_ms(const struct myr_control *c)
{
    int64_t wake_s = myr_queue_wake_s(c->queue);
    return wake_s < INT64_MAX / 1000 ? wake_s * 1000 : INT64_MAX;
}
