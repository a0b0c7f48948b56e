#include <stdlib.h>

#include "myriad/sched/events.h"
#include "myriad/text/amount.h"
#include "queue/state.h"

/*
 * What users ask and what changes about the cluster itself. Each function checks everything first
 * and then moves the time on: what is refused has changed nothing.
 */

/* The job is there and not over, and the time is right. */
static int check_job(const struct myr_queue *q, int64_t now_s, uint32_t id)
{
    if (id >= q->job_count) {
        return MYR_ENOENT;
    }
    /* A job that is stopping for its end cannot be changed any more. */
    if (queue_job(q, id)->state == MYR_JOB_DONE || queue_job(q, id)->result != MYR_RESULT_NONE) {
        return MYR_ESTALE;
    }
    MYR_ASSERT(queue_job(q, id)->id == id); /* who is forgotten is over */
    return now_s < q->now_s ? MYR_EINVAL : MYR_OK;
}

/* The checks come first: what is refused moves no clock. */
static int check_and_advance(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    MYR_TRY(check_job(q, now_s, id));
    return queue_advance(q, now_s);
}

/* It ends in whatever state it is; what runs is stopped first. */
static int end_as(struct myr_queue *q, int64_t now_s, uint32_t id, enum myr_job_result result)
{
    MYR_ASSERT(result == MYR_RESULT_OK || result == MYR_RESULT_CANCELLED);
    MYR_TRY(check_and_advance(q, now_s, id));
    struct qjob *job = queue_job(q, id);
    /* Read before: it is cut off from its service below. */
    uint32_t service = job->service;
    MYR_ASSERT(service == MYR_NONE || service < q->services.count);
    /* From here on it is no replica; another one takes its place below. */
    job->service = MYR_NONE;
    if (job->state == MYR_JOB_CLAIMS) {
        queue_claim_drop(q, id);
        MYR_ASSERT(job->result == MYR_RESULT_NONE);
        job->result = result;
        queue_settle(q, id);
    } else {
        queue_end_job(q, id, result, MYR_STOP_CANCEL);
    }
    /* Over, or as soon as its last rank is gone. */
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_DONE ||
               queue_job(q, id)->state == MYR_JOB_STOPPING);
    if (service != MYR_NONE) {
        queue_replace_replica(q, service, id);
    }
    return MYR_OK;
}

int myr_queue_cancel(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    return end_as(q, now_s, id, MYR_RESULT_CANCELLED);
}

int myr_queue_succeeded(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    return end_as(q, now_s, id, MYR_RESULT_OK);
}

/* A job that runs goes on: it is held when it comes back to a line. */
static void start_holding(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(!job->user_held);
    MYR_ASSERT(job->state != MYR_JOB_DONE);
    MYR_ASSERT(job->result == MYR_RESULT_NONE);
    job->user_held = true;
    if (job->state == MYR_JOB_WAITS) {
        queue_dequeue(q, id);
        queue_settle(q, id);
    } else if (job->state == MYR_JOB_CLAIMS) {
        queue_claim_drop(q, id);
        queue_settle(q, id);
    }
    /* In no line and without a claim; who has ranks keeps its GPUs. */
    MYR_ASSERT(job->state != MYR_JOB_WAITS && job->state != MYR_JOB_CLAIMS);
}

int myr_queue_hold(struct myr_queue *q, int64_t now_s, uint32_t id, bool hold)
{
    MYR_TRY(check_job(q, now_s, id));
    /* Held twice or released twice is late, not wrong. */
    if (!queue_job(q, id)->user_held == !hold) {
        return MYR_ESTALE;
    }
    MYR_TRY(queue_advance(q, now_s));
    struct qjob *job = queue_job(q, id);
    if (hold) {
        start_holding(q, id);
        return MYR_OK;
    }
    /* While it runs nothing else changes: it was never out of its place. */
    job->user_held = false;
    if (job->state == MYR_JOB_HELD) {
        /* The time on hold is taken out of its wait: it keeps the age it had. */
        MYR_ASSERT(job->held_s <= q->now_s);
        MYR_ASSERT(job->since_s <= job->held_s);
        job->since_s += q->now_s - job->held_s;
        queue_settle(q, id);
    }
    return MYR_OK;
}

int myr_queue_reprioritise(struct myr_queue *q, int64_t now_s, uint32_t id, int32_t priority)
{
    if (priority < -MYR_PRIORITY_MAX || priority > MYR_PRIORITY_MAX) {
        return MYR_ERANGE;
    }
    MYR_TRY(check_and_advance(q, now_s, id));
    struct qjob *job = queue_job(q, id);
    /* Lines and counts of running jobs go by priority: out with the old one, in with the new. */
    bool on = queue_is_on(job), waits = job->state == MYR_JOB_WAITS;
    if (waits) {
        queue_dequeue(q, id);
    } else if (on) {
        queue_count_running(q, &job->spec, false);
    }
    MYR_ASSERT(!on || !waits);
    job->spec.priority = priority;
    if (waits) {
        queue_enqueue(q, id);
    } else if (on) {
        MYR_ASSERT(queue_is_on(job));
        queue_count_running(q, &job->spec, true);
    }
    return MYR_OK;
}

int myr_queue_resize(struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t gpus)
{
    if (gpus == 0 || gpus > (uint64_t)q->shape.nodes * q->shape.gpus_per_node) {
        return MYR_ERANGE;
    }
    MYR_TRY(check_job(q, now_s, id));
    if (queue_job(q, id)->spec.gpus_min > gpus || !queue_may_resize(q, id, gpus)) {
        return MYR_ERANGE;
    }
    MYR_TRY(queue_advance(q, now_s));
    struct qjob *job = queue_job(q, id);
    /* It starts anew with the other size, from its last checkpoint. */
    if (queue_is_on(job)) {
        queue_unload_job(q, id, MYR_STOP_RESIZE, MYR_NONE);
    } else if (job->state == MYR_JOB_WAITS) {
        queue_dequeue(q, id);
    } else if (job->state == MYR_JOB_CLAIMS) {
        queue_claim_drop(q, id);
    }
    /* Both: an elastic job may have run with fewer than it wished for. */
    MYR_ASSERT(job->gang.count == 0 || job->state != MYR_JOB_CLAIMS);
    MYR_ASSERT(job->pending == 0 && job->owner == MYR_NONE);
    job->wish = job->spec.gpus = gpus;
    queue_request_resized(q, id);
    /* Those that are in no line stay where they are and come in with the new size. */
    MYR_ASSERT(queue_nodes_of(q, job) <= q->shape.nodes);
    if (job->state != MYR_JOB_BLOCKED && job->state != MYR_JOB_HELD) {
        queue_settle(q, id);
    }
    return MYR_OK;
}

/* An array by node grows; what is new is zero. */
static void *grown(void *old, uint64_t before, uint64_t now, size_t size)
{
    MYR_ASSERT(before <= now);
    MYR_ASSERT(size > 0);
    void *items = myr_xrealloc(old, now, size);
    MYR_ASSERT(now <= SIZE_MAX / size);
    memset((char *)items + before * size, 0, (now - before) * size);
    return items;
}

/* Nodes are only added, and nothing that stands may change its place. */
static int check_growth(const struct myr_queue *q, const struct myr_place_shape *shape,
                        struct myr_err *err)
{
    const struct myr_place_shape *old = &q->shape;
    /* A cluster of a single pod may get others beside it. */
    bool no_pods = old->pod_nodes >= old->nodes;
    if (shape->nodes < old->nodes || shape->nodes > 1U << 24) {
        return myr_err_set(err, MYR_ERANGE, "%s, the cluster has %u already",
                           MYR_COUNT(shape->nodes, "node"), old->nodes);
    }
    if (shape->gpus_per_node != old->gpus_per_node || shape->group_nodes != old->group_nodes ||
        (shape->pod_nodes != old->pod_nodes && !(no_pods && shape->pod_nodes >= old->nodes))) {
        return myr_err_set(err, MYR_EINVAL,
                           "nodes, leaves and pods that are there cannot change their size");
    }
    /* Places of pods lie at multiples of their size, and tenants run in them. */
    if (q->cells && shape->pod_nodes != old->pod_nodes) {
        return myr_err_set(err, MYR_EINVAL, "tenants own cells: pods cannot change their size");
    }
    return MYR_OK;
}

int myr_queue_grow(struct myr_queue *q, int64_t now_s, const struct myr_place_shape *shape,
                   struct myr_err *err)
{
    MYR_TRY(check_growth(q, shape, err));
    if (queue_advance(q, now_s) < 0) {
        return myr_err_set(err, MYR_EINVAL, "time %lld is before the last one, %lld",
                           (long long)now_s, (long long)q->now_s);
    }
    /*
     * Everything that is kept by node grows; what is new begins as a node
     * that is open and empty.
     */
    uint64_t before = q->shape.nodes, now = shape->nodes, per = shape->gpus_per_node;
    q->placer = myr_placer_grow(q->placer, shape);
    MYR_ASSERT(now >= before);
    q->node_jobs = grown(q->node_jobs, before * per, now * per, sizeof(uint32_t));
    q->node_job_gpus = grown(q->node_job_gpus, before * per, now * per, 1);
    q->node_job_count = grown(q->node_job_count, before, now, 1);
    q->closed = grown(q->closed, before, now, 1);
    q->node_oldest_s = grown(q->node_oldest_s, before, now, sizeof(int64_t));
    q->stake_first = grown(q->stake_first, before, now, sizeof(uint32_t));
    /* Zero would be the first stake. */
    for (uint64_t node = before; node < now; node++) {
        q->stake_first[node] = MYR_NONE;
    }
    q->shape.nodes = shape->nodes;
    q->shape.pod_nodes = shape->pod_nodes;
    /* More room: the choice of a hold may be better. */
    q->ends++;
    MYR_SLOW_ASSERT(myr_placer_is_open(q->placer, 0) == (q->closed[0] == 0));
    queue_requests_grow(q);
    q->big_runs = 0; /* what is a large part of the cluster has changed */
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        q->big_runs += queue_is_on(job) && queue_is_large(q, job->spec.gpus, 4);
    }
    MYR_ASSERT(q->busy_gpus <= now * per);
    MYR_ASSERT(q->spares_kept <= now);
    return MYR_OK;
}

/* New tenants own nothing: all places for cells lie at the start of the cluster. */
static int check_tenants(const struct myr_queue *q, const struct myr_tenant *tenants,
                         uint32_t count, struct myr_err *err)
{
    for (uint32_t t = 0; t < count; t++) {
        /* A new tenant may have any parent, but no cells. */
        const struct myr_tenant *now = &tenants[t], none = {.parent = now->parent};
        const struct myr_tenant *was = t < q->tenant_count ? &q->tenants[t] : &none;
        if (now->parent != was->parent || memcmp(now->cells, was->cells, sizeof(now->cells)) != 0) {
            return myr_err_set(err, MYR_EINVAL, "tenant %u: its parent and its cells cannot change",
                               t);
        }
    }
    return count < q->tenant_count ? myr_err_set(err, MYR_EINVAL, "%s, there are %u already",
                                                 MYR_COUNT(count, "tenant"), q->tenant_count)
                                   : MYR_OK;
}

int myr_queue_set_tenants(struct myr_queue *q, int64_t now_s, const struct myr_tenant *tenants,
                          uint32_t count, struct myr_err *err)
{
    MYR_TRY(myr_tenants_check(tenants, count, &q->shape, err));
    MYR_TRY(check_tenants(q, tenants, count, err));
    if (queue_advance(q, now_s) < 0) {
        return myr_err_set(err, MYR_EINVAL, "time %lld is before the last one, %lld",
                           (long long)now_s, (long long)q->now_s);
    }
    uint32_t before = q->tenant_count;
    MYR_ASSERT(count >= before);
    q->tenants = grown(q->tenants, before, count, sizeof(*q->tenants));
    q->tenant_gpus = grown(q->tenant_gpus, before, count, sizeof(*q->tenant_gpus));
    q->tenant_jobs = grown(q->tenant_jobs, before, count, sizeof(*q->tenant_jobs));
    q->excess = grown(q->excess, before, count, sizeof(*q->excess));
    /* One entry more than tenants: the first is of the roots. */
    q->brothers = grown(q->brothers, before + 1, (uint64_t)count + 1, sizeof(*q->brothers));
    queue_cells_add_tenants(q, count);
    memcpy(q->tenants, tenants, count * sizeof(*tenants));
    q->tenant_count = count;
    q->shares++;
    /* Weights may be others now; the numbers of jobs stay as they are. */
    for (uint32_t t = 0; t <= count; t++) {
        q->brothers[t].weight = 0;
    }
    for (uint32_t t = 0; t < count; t++) {
        uint32_t parent = tenants[t].parent;
        if (q->tenant_jobs[t]) {
            MYR_ASSERT(q->brothers[parent == MYR_NONE ? 0 : parent + 1].count > 0);
            q->brothers[parent == MYR_NONE ? 0 : parent + 1].weight +=
                tenants[t].weight ? tenants[t].weight : 1;
        }
    }
    return MYR_OK;
}

int myr_queue_set_weight(struct myr_queue *q, int64_t now_s, uint32_t tenant, uint32_t weight,
                         struct myr_err *err)
{
    if (tenant >= q->tenant_count) {
        return myr_err_set(err, MYR_ERANGE, "tenant %u, below %u is expected", tenant,
                           q->tenant_count);
    }
    /* A copy: the function replaces the tenants that it is given. */
    MYR_CLEANUP(myr_free_at)
    struct myr_tenant *tenants = myr_xcalloc(q->tenant_count, sizeof(*tenants));
    memcpy(tenants, q->tenants, q->tenant_count * sizeof(*tenants));
    tenants[tenant].weight = weight;
    return myr_queue_set_tenants(q, now_s, tenants, q->tenant_count, err);
}

int myr_queue_set_kind(struct myr_queue *q, uint32_t node, uint8_t kind)
{
    if (node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    myr_placer_set_kind(q->placer, node, kind);
    /* A node may suit a gang now that it did not before. */
    q->ends++;
    return MYR_OK;
}

int myr_queue_set_penalty(struct myr_queue *q, uint32_t node, uint32_t milli)
{
    if (node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    myr_placer_set_penalty(q->placer, node, milli);
    return MYR_OK;
}

int myr_queue_view(const struct myr_queue *q, uint32_t id, struct myr_job_view *ret)
{
    /* Never there, or forgotten since. */
    if (id >= q->job_count || queue_job(q, id)->id != id) {
        return MYR_ENOENT;
    }
    const struct qjob *job = queue_job(q, id);
    *ret =
        (struct myr_job_view){.state = job->state,
                              .result = job->state == MYR_JOB_DONE ? job->result : MYR_RESULT_NONE,
                              .tenant = job->spec.tenant,
                              .gpus = job->spec.gpus,
                              .priority = job->spec.priority,
                              .epoch = job->epoch,
                              .attempts = job->attempts,
                              .leaving = job->leaving,
                              .saved_s = job->saved_s,
                              .guest = queue_is_on(job) && job->guest_of != MYR_NONE};
    if (job->state == MYR_JOB_CLAIMS) {
        ret->nodes = job->gang.count;
        ret->bad = queue_count_bad(q, &job->gang);
        ret->kept_until_s = job->broken ? job->held_s + q->policy.mend_s : 0;
    }
    return MYR_OK;
}

uint32_t myr_queue_jobs(const struct myr_queue *q)
{
    return q->job_count;
}

/* Places of those that are forgotten are used again, and never given back. */
uint32_t myr_queue_jobs_most(const struct myr_queue *q)
{
    return (uint32_t)q->jobs.count;
}

bool myr_queue_closed(const struct myr_queue *q, uint32_t node)
{
    return node >= q->shape.nodes || q->closed[node];
}
