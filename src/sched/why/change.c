/* change: what a trial says, made in a queue through the same functions that events use. */
#include "myriad/sched/trial.h"
#include "queue/state.h"

/* In a copy: whoever still leaves is gone at once. */
static void end_job(struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(id < q->job_count);
    if (job->state == MYR_JOB_STOPPING) {
        for (uint32_t at = 0; at < q->stakes.count && job->leaving > 0; at++) {
            const struct stake *stake = &q->stakes.items[at];
            if (stake->node != MYR_NONE && stake->job == id && stake->epoch) {
                queue_stake_gone(q, stake->node, at);
            }
        }
        MYR_ASSERT(job->leaving == 0);
        queue_settle(q, id);
        return;
    }
    /* Who decides meanwhile may claim what its ranks still have: it is ended as people end it. */
    if (q->policy.confirm) {
        int rc = myr_queue_cancel(q, q->now_s, id);
        MYR_ASSERT(rc == MYR_OK || rc == MYR_ESTALE);
        return;
    }
    /* A job with a claim cannot end: it gives the claim up first. */
    if (job->state == MYR_JOB_CLAIMS) {
        queue_claim_drop(q, id);
        queue_settle(q, id);
    }
    queue_end_job(q, id, MYR_RESULT_OK, MYR_STOP_NONE);
}

/* Whatever was wrong with it is over. */
static void open_node(struct myr_queue *q, uint32_t node)
{
    /* Only what makes a node bad: a hold or a spare is no fault of the node. */
    for (uint32_t bit = 1; bit <= CLOSED_AVOID; bit <<= 1) {
        if (q->closed[node] & bit & CLOSED_BAD) {
            queue_close_node(q, node, (uint8_t)bit, false);
        }
    }
    queue_cells_node(q, node);
}

/* Out of its line, changed, and back: what it may do has changed. */
static void change_request(struct myr_queue *q, uint32_t id, enum myr_trial_kind kind)
{
    struct qrequest *r = &q->requests.items[queue_job(q, id)->request];
    /* What was found not to fit may fit without the constraint. */
    r->failed = 0;
    if (kind == MYR_TRIAL_DROP_LIMIT) {
        r->limited = 0;
    } else if (kind == MYR_TRIAL_DROP_SPREAD) {
        r->leaf_max = 0;
        memset(r->zone_max, 0, sizeof(r->zone_max));
    } else if (kind == MYR_TRIAL_DROP_KIND) {
        r->kind_given = 0;
    } else if (r->exclude) {
        memset(r->exclude, 0, r->exclude_words * sizeof(uint64_t));
    }
}

/* As myr_queue_set_weight() does, for one tenant alone. */
static void set_weight(struct myr_queue *q, uint32_t tenant, uint32_t weight)
{
    struct brothers *b =
        &q->brothers[q->tenants[tenant].parent == MYR_NONE ? 0 : q->tenants[tenant].parent + 1];
    uint32_t was = q->tenants[tenant].weight ? q->tenants[tenant].weight : 1;
    /* Brothers share by the weight of those that have jobs. */
    MYR_ASSERT(weight > 0);
    MYR_ASSERT((!q->tenant_jobs[tenant] || b->weight >= was));
    b->weight += q->tenant_jobs[tenant] ? (uint64_t)weight - was : 0;
    q->tenants[tenant].weight = weight;
    q->shares++;
}

/* What may come with any kind: nodes in use again, no spares, another priority. */
static int make_rest(struct myr_queue *q, uint32_t id, const struct myr_trial *t)
{
    for (uint32_t node = t->node; t->nodes > 0 && node <= t->last && node < q->shape.nodes;
         node++) {
        open_node(q, node);
    }
    if (t->spareless) {
        myr_queue_keep_spares(q, 0);
    }
    return t->raised ? myr_queue_reprioritise(q, q->now_s, id, t->priority) : MYR_OK;
}

/* What the change says, made in a copy; refused changes change nothing. */
static void make_change(struct myr_queue *q, uint32_t id, const struct myr_trial *t)
{
    int rc = make_rest(q, id, t);
    switch (t->kind) {
    case MYR_TRIAL_RELEASE:
        rc = myr_queue_hold(q, q->now_s, id, false);
        break;
    case MYR_TRIAL_ANY_LEAVES:
        q->policy.locality_s = 0;
        break;
    case MYR_TRIAL_DROP_LIMIT:
    case MYR_TRIAL_DROP_SPREAD:
    case MYR_TRIAL_DROP_KIND:
    case MYR_TRIAL_DROP_EXCLUDE:
        change_request(q, id, t->kind);
        break;
    case MYR_TRIAL_FEWER_GPUS:
        rc = myr_queue_resize(q, q->now_s, id, t->gpus);
        break;
    case MYR_TRIAL_PRIORITY:
        rc = myr_queue_reprioritise(q, q->now_s, id, t->priority);
        break;
    case MYR_TRIAL_WEIGHT:
        set_weight(q, queue_job(q, id)->spec.tenant, t->weight);
        break;
    case MYR_TRIAL_NO_SPARES:
        myr_queue_keep_spares(q, 0);
        break;
    case MYR_TRIAL_MOVE:
        for (uint32_t i = 0; i < t->move_count; i++) {
            queue_move_share(q, t->moves[i].job, &t->moves[i].from, &t->moves[i].to);
        }
        break;
    default:
        MYR_ASSERT(t->job_count <= MYR_TRIAL_ENDS_MAX);
        for (uint32_t i = 0; i < t->job_count; i++) {
            end_job(q, t->jobs[i]);
        }
    }
    (void)rc; /* what the queue refuses does not start the job */
}

void myr_queue_apply_trial(struct myr_queue *q, int64_t now_s, uint32_t id,
                           const struct myr_trial *trial)
{
    /* An older time is the queue's own: its clock never goes back. */
    if (id < q->job_count && queue_advance(q, now_s > q->now_s ? now_s : q->now_s) == MYR_OK) {
        make_change(q, id, trial);
    }
}
