#include <stdlib.h>

#include "keep/sound.h"
#include "queue/state.h"

/*
 * One decision goes through the files of this folder in a fixed order: what time alone changes
 * comes first, then who has a right already (claims, holds), then the order of the lines, then the
 * use of what is held, and only last who has to make room.
 */

int myr_queue_finish(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    if (id >= q->job_count) {
        return MYR_ENOENT;
    }
    int rc = queue_advance(q, now_s);
    if (rc < 0) {
        return rc;
    }
    /* Ranks may still run: the end of a job is what its nodes say, so this only asks for it. */
    if (q->policy.confirm) {
        rc = myr_queue_cancel(q, now_s, id);
        return rc == MYR_ESTALE ? MYR_OK : rc;
    }
    uint32_t service = queue_job(q, id)->service;
    MYR_ASSERT(service == MYR_NONE || service < q->services.count);
    queue_end_job(q, id, MYR_RESULT_OK, MYR_STOP_NONE);
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_DONE);
    if (service != MYR_NONE) {
        queue_replace_replica(q, service, id);
    }
    return MYR_OK;
}

/* Wakes that are past, and those of jobs that neither wait nor are broken any more. */
static bool is_void(const struct myr_queue *q, const struct myr_heap_item *wake)
{
    if (wake->key <= q->now_s || wake->value == MYR_NONE) {
        return wake->key <= q->now_s;
    }
    const struct qjob *job = queue_job(q, (uint32_t)wake->value);
    return job->state != MYR_JOB_WAITS && !(job->state == MYR_JOB_CLAIMS && job->broken);
}

static void drop_wakes(struct myr_queue *q)
{
    struct myr_heap_item item;
    while (q->wakes.count && is_void(q, &q->wakes.items[0])) {
        (void)myr_heap_pop(&q->wakes, &item);
    }
    MYR_ASSERT(q->wakes.count == 0 || q->wakes.items[0].key > q->now_s);
}

/*
 * So often, where slow checks are on, all of it is held against what it is derived from; but in
 * clusters of any size that takes as long as there are nodes, for every decision.
 */
enum { SOUND_PASSES = 16, SOUND_NODES = 4096 };

/* Only slow checks ask. */
__attribute__((unused)) static bool is_whole(const struct myr_queue *q)
{
    return q->shape.nodes > SOUND_NODES ||
           (sound_table(q) && sound_lines(q) && sound_gpus(q) && sound_cells(q));
}

const struct myr_decision *myr_queue_decide(struct myr_queue *q, int64_t now_s, uint32_t *ret_count)
{
    *ret_count = 0;
    if (queue_advance(q, now_s) < 0) {
        return NULL;
    }
    /* The caller has read what it was handed. */
    if (q->handed) {
        q->decisions.count = 0;
        q->handed = false;
    }
    q->pass++;
    /* Before anybody keeps a number of a line in this pass. */
    queue_forget_lines(q);
    queue_turn_windows(q);
    /* Nodes come and go before anything is placed on them. */
    if (q->avoids.count) {
        queue_end_avoids(q);
    }
    /* Broken gangs before the spares: who serves whom is not to depend on which is filled first. */
    if (q->claims.count) {
        queue_mend_places(q);
    }
    queue_fill_spares(q);
    if (q->claims.count) {
        queue_claims_start(q);
    }
    if (q->ended.count) {
        queue_tell_dependants(q);
    }
    if (q->waiting || q->holds.count) {
        /* Those who have waited for nodes that are held go before all others. */
        queue_serve_holds(q);
        queue_start_what_fits(q);
        queue_start_on_spares(q);
        if (q->holds.count) {
            queue_share_holds(q);
        }
        if (q->limited && (q->holds.count || q->windows.count)) {
            queue_backfill(q);
        }
        if (q->waiting && (q->policy.preempt || q->reclaiming)) {
            queue_preempt_for_waiting(q);
        }
        /*
         * Who also takes less comes last, so that it does not shrink while
         * whole room can be made.
         */
        if (q->elastic) {
            queue_start_elastic(q);
        }
    }
    drop_wakes(q);
    /* Who waits stands in a line with others of its size. */
    MYR_ASSERT((q->waiting == 0) == (q->busy_first == MYR_NONE));
    MYR_SLOW_ASSERT((q->waiting == 0) == (q->sizes.count == 0));
    MYR_SLOW_ASSERT(q->ended.count == 0);
    MYR_SLOW_ASSERT(q->pass % SOUND_PASSES != 1 || is_whole(q));
    q->handed = true;
    *ret_count = (uint32_t)q->decisions.count;
    return q->decisions.items;
}

int64_t myr_queue_wake_s(const struct myr_queue *q)
{
    return q->wakes.count ? q->wakes.items[0].key : INT64_MAX;
}

/* Jobs that never came are over. */
static const struct qjob *known_job(const struct myr_queue *q, uint32_t id)
{
    return id < q->job_count ? queue_job(q, id) : &queue_over;
}

enum myr_job_state myr_queue_state(const struct myr_queue *q, uint32_t id)
{
    return known_job(q, id)->state;
}

const struct myr_gang *myr_queue_gang(const struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = known_job(q, id);
    MYR_ASSERT(!queue_is_on(job) || job->gang.count > 0);
    return queue_is_on(job) ? &job->gang : &queue_over.gang;
}

int64_t myr_queue_waited_s(const struct myr_queue *q, int64_t now_s, uint32_t id)
{
    const struct qjob *job = known_job(q, id);
    if (job->state == MYR_JOB_HELD) {
        /* Time on hold is not waiting. */
        return job->held_s - job->since_s;
    }
    /* While it runs or is over, 'since_s' is the time it has waited. */
    bool still = !queue_is_on(job) && job->state != MYR_JOB_DONE;
    return still ? (now_s > q->now_s ? now_s : q->now_s) - job->since_s : job->since_s;
}

const struct myr_placer *myr_queue_placer(const struct myr_queue *q)
{
    return q->placer;
}

uint32_t myr_queue_owner(const struct myr_queue *q, uint32_t id)
{
    return known_job(q, id)->owner;
}

uint32_t myr_queue_waiting(const struct myr_queue *q)
{
    return q->waiting;
}

int64_t myr_queue_drained_gpu_s(const struct myr_queue *q)
{
    return q->drained_gpu_s;
}

int myr_queue_create(const struct myr_place_shape *shape, const struct myr_queue_policy *policy,
                     const struct myr_tenant *tenants, uint32_t tenant_count,
                     struct myr_queue **ret, struct myr_err *err)
{
    struct myr_place_shape own = *shape;
    /* Without pods, or with smaller ones than groups, a pod is one group: cells are that large. */
    own.pod_nodes = own.pod_nodes < own.group_nodes ? own.group_nodes : own.pod_nodes;
    MYR_TRY(myr_tenants_check(tenants, tenant_count, &own, err));
    struct myr_queue *q = myr_xcalloc(1, sizeof(*q));
    q->shape = own;
    q->cells = queue_cells_create(&q->shape, tenants, tenant_count);
    q->policy = *policy;
    q->lengths = queue_lengths_create();
    q->placer = myr_placer_create(shape);
    myr_placer_set_plain(q->placer, policy->plain);
    q->tenant_count = tenant_count;
    q->tenants = myr_xcalloc(tenant_count, sizeof(*q->tenants));
    memcpy(q->tenants, tenants, tenant_count * sizeof(*tenants));
    q->tenant_gpus = myr_xcalloc(tenant_count, sizeof(*q->tenant_gpus));
    q->tenant_jobs = myr_xcalloc(tenant_count, sizeof(*q->tenant_jobs));
    q->excess = myr_xcalloc(tenant_count, sizeof(*q->excess));
    q->shares = 1; /* nothing is known yet */
    q->brothers = myr_xcalloc((size_t)tenant_count + 1, sizeof(*q->brothers));
    q->node_jobs = myr_xcalloc((size_t)shape->nodes * shape->gpus_per_node, sizeof(uint32_t));
    q->node_job_gpus = myr_xcalloc((size_t)shape->nodes * shape->gpus_per_node, 1);
    q->node_job_count = myr_xcalloc(shape->nodes, 1);
    q->closed = myr_xcalloc(shape->nodes, 1);
    q->node_oldest_s = myr_xcalloc(shape->nodes, sizeof(int64_t));
    q->stake_first = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    /* MYR_NONE in every entry: no node has stakes. */
    memset(q->stake_first, 0xff, shape->nodes * sizeof(uint32_t));
    q->page_free = q->job_free = q->stake_free = q->request_free = q->array_free = MYR_NONE;
    q->busy_first = q->busy_last = MYR_NONE;
    q->now_s = INT64_MIN;
    *ret = q;
    return MYR_OK;
}
