#include <stdlib.h>

#include "queue_impl.h"

struct myr_queue_policy myr_queue_policy_default(void)
{
    return (struct myr_queue_policy){.order = MYR_ORDER_FAIR,
                                     .patience_s = 24 * 3600,
                                     .hold_s = 900,
                                     .locality_s = 10 * 3600,
                                     .spread_s = 20 * 3600,
                                     .holds_max = 4,
                                     .checkpoint_s = 1800,
                                     .restart_s = 120,
                                     .level_s = 3600,
                                     .run_min_s = 1800,
                                     .loss_permille = 8};
}

uint32_t queue_level_of(const struct myr_queue *q, int64_t work_s)
{
    uint32_t level = 0;
    int64_t most = q->policy.level_s;
    if (!q->policy.preempt || most <= 0) {
        return 0; /* nobody is stopped for it, so what it has done does not count against it */
    }
    while (level + 1 < MYR_QUEUE_LEVELS && work_s >= most) {
        level++;
        most *= 4;
    }
    return level;
}

int64_t queue_worked_s(const struct myr_queue *q, const struct qjob *job)
{
    int64_t ran = q->now_s - job->start_s - (job->stops ? q->policy.restart_s : 0);
    return ran > 0 ? ran : 0;
}

int64_t queue_unsaved_s(const struct myr_queue *q, const struct qjob *job)
{
    int64_t ran = queue_worked_s(q, job);
    return q->policy.checkpoint_s > 0 ? ran % q->policy.checkpoint_s : ran + job->saved_s;
}

/* Lines. */

static uint64_t line_key(const struct myr_queue_job *spec, uint32_t level)
{
    uint64_t priority = (uint64_t)((int64_t)spec->priority + MYR_PRIORITY_MAX);
    return (uint64_t)spec->tenant << 40 | (uint64_t)spec->gpus << 12 | priority << 4 |
           (uint64_t)spec->reclaims << 3 | level;
}

static uint32_t line_for(struct myr_queue *q, const struct myr_queue_job *spec, uint32_t level)
{
    uint64_t key = line_key(spec, level);
    const uint32_t *known = myr_u64map_find(&q->line_of, key);
    if (known) {
        return *known;
    }
    struct line line = {.tenant = spec->tenant,
                        .gpus = spec->gpus,
                        .priority = spec->priority,
                        .level = level,
                        .reclaims = spec->reclaims,
                        .first = MYR_NONE,
                        .last = MYR_NONE};
    myr_vec_push(&q->lines, line);
    myr_u64map_add(&q->line_of, key, (uint32_t)q->lines.count - 1);
    return (uint32_t)q->lines.count - 1;
}

static void set_busy(struct myr_queue *q, uint32_t at, bool busy)
{
    struct line *line = &q->lines.items[at];
    if (busy) {
        line->previous_busy = q->busy_last;
        line->next_busy = MYR_NONE;
        *(q->busy_last == MYR_NONE ? &q->busy_first : &q->lines.items[q->busy_last].next_busy) = at;
        q->busy_last = at;
        return;
    }
    *(line->previous_busy == MYR_NONE ? &q->busy_first
                                      : &q->lines.items[line->previous_busy].next_busy) =
        line->next_busy;
    *(line->next_busy == MYR_NONE ? &q->busy_last
                                  : &q->lines.items[line->next_busy].previous_busy) =
        line->previous_busy;
}

/* Into its line, behind those that have waited longer. */
static void enqueue(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    job->line = line_for(q, &job->spec, queue_level_of(q, job->saved_s));
    struct line *line = &q->lines.items[job->line];
    if (line->first == MYR_NONE) {
        set_busy(q, job->line, true);
    }
    uint32_t before = line->last;
    while (before != MYR_NONE && q->jobs.items[before].since_s > job->since_s) {
        before = q->jobs.items[before].previous;
    }
    job->previous = before;
    job->next = before == MYR_NONE ? line->first : q->jobs.items[before].next;
    *(before == MYR_NONE ? &line->first : &q->jobs.items[before].next) = id;
    *(job->next == MYR_NONE ? &line->last : &q->jobs.items[job->next].previous) = id;
    job->state = MYR_JOB_WAITS;
    job->retry_s = 0;
    q->waiting++;
    q->reclaiming += job->spec.reclaims;
}

static void dequeue(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    struct line *line = &q->lines.items[job->line];
    *(job->previous == MYR_NONE ? &line->first : &q->jobs.items[job->previous].next) = job->next;
    *(job->next == MYR_NONE ? &line->last : &q->jobs.items[job->next].previous) = job->previous;
    if (line->first == MYR_NONE) {
        set_busy(q, job->line, false);
    }
    q->waiting--;
    q->reclaiming -= job->spec.reclaims;
}

void queue_wake_at(struct myr_queue *q, int64_t time_s)
{
    if (time_s > q->now_s) {
        myr_heap_push(&q->wakes, time_s, MYR_NONE);
    }
}

/* The moments at which a waiting job gets more rights. */
static void wake_for(struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = &q->jobs.items[id];
    const int64_t after[] = {q->policy.patience_s, queue_hold_s(q, job->spec.gpus),
                             q->policy.locality_s, q->policy.spread_s};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(after); i++) {
        int64_t time_s = job->since_s + after[i];
        if (after[i] > 0 && time_s > q->now_s && (i == 0 || queue_is_gang(q, job->spec.gpus))) {
            myr_heap_push(&q->wakes, time_s, id);
        }
    }
}

void queue_decide_add(struct myr_queue *q, const struct myr_decision *decision)
{
    if (q->handed) {
        q->decisions.count = 0;
        q->handed = false;
    }
    myr_vec_push(&q->decisions, *decision);
}

/* Running jobs. */

static void count_tenant(struct myr_queue *q, const struct myr_queue_job *spec, bool more)
{
    for (uint32_t t = spec->tenant; t != MYR_NONE; t = q->tenants[t].parent) {
        MYR_ASSERT(more || q->tenant_gpus[t] >= spec->gpus);
        q->tenant_gpus[t] += more ? spec->gpus : 0 - (uint64_t)spec->gpus;
    }
    q->busy_gpus += more ? spec->gpus : 0 - (uint64_t)spec->gpus;
}

static void find_oldest(struct myr_queue *q, uint32_t node)
{
    int64_t oldest_s = INT64_MAX;
    for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
        uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
        int64_t start_s = q->jobs.items[id].start_s - q->jobs.items[id].saved_s;
        oldest_s = start_s < oldest_s ? start_s : oldest_s;
    }
    q->node_oldest_s[node] = oldest_s;
}

static void list_on_nodes(struct myr_queue *q, uint32_t id, bool in)
{
    const struct myr_gang *gang = &q->jobs.items[id].gang;
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t node = gang->shares[i].node;
        size_t first = (size_t)node * q->shape.gpus_per_node;
        uint32_t *jobs = &q->node_jobs[first];
        uint8_t *gpus = &q->node_job_gpus[first];
        uint32_t count = q->node_job_count[node], at = 0;
        if (in) {
            MYR_ASSERT(count < q->shape.gpus_per_node);
            jobs[count] = id;
            gpus[count] = (uint8_t)gpu_count(gang->shares[i].gpus);
            q->node_job_count[node]++;
            find_oldest(q, node);
            continue;
        }
        while (at < count && jobs[at] != id) {
            at++;
        }
        MYR_ASSERT(at < count);
        jobs[at] = jobs[count - 1];
        gpus[at] = gpus[count - 1];
        q->node_job_count[node]--;
        find_oldest(q, node);
    }
}

struct myr_gang *queue_gang_room(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    if (!job->gang.shares) {
        uint32_t nodes = myr_place_nodes(q->placer, job->spec.gpus);
        job->gang.shares = myr_xcalloc(nodes, sizeof(struct myr_share));
    }
    return &job->gang;
}

void queue_run_job(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    MYR_ASSERT(job->state == MYR_JOB_WAITS && job->gang.count > 0);
    dequeue(q, id);
    job->state = MYR_JOB_RUNS;
    job->since_s = q->now_s - job->since_s; /* while it runs: the time waited so far */
    job->start_s = q->now_s;
    job->guest_of = MYR_NONE;
    count_tenant(q, &job->spec, true);
    list_on_nodes(q, id, true);
    queue_decide_add(q,
                     &(struct myr_decision){.kind = MYR_DECIDE_START, .job = id, .by = MYR_NONE});
}

static void leave_nodes(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    MYR_ASSERT(job->state == MYR_JOB_RUNS);
    q->ends++;
    list_on_nodes(q, id, false);
    myr_release(q->placer, &job->gang);
    count_tenant(q, &job->spec, false);
    queue_leave_own(q, id);
}

void queue_stop_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by)
{
    struct qjob *job = &q->jobs.items[id];
    job->saved_s += queue_worked_s(q, job) - queue_unsaved_s(q, job);
    leave_nodes(q, id);
    job->since_s = q->now_s - job->since_s;
    job->stops++;
    enqueue(q, id);
    wake_for(q, id);
    struct myr_decision decision = {.kind = MYR_DECIDE_STOP, .reason = reason, .job = id, .by = by};
    queue_decide_add(q, &decision);
}

void queue_swap_node(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t spare)
{
    struct qjob *job = &q->jobs.items[id];
    MYR_ASSERT(job->state == MYR_JOB_RUNS && job->owner == MYR_NONE);
    job->saved_s += queue_worked_s(q, job) - queue_unsaved_s(q, job);
    job->start_s = q->now_s;
    job->stops++;
    list_on_nodes(q, id, false);
    for (uint32_t i = 0; i < job->gang.count; i++) {
        struct myr_share *share = &job->gang.shares[i];
        if (share->node == node) {
            myr_release(q->placer, &(struct myr_gang){1, share});
            myr_place_take(q->placer, spare, share->gpus);
            share->node = spare;
        }
    }
    list_on_nodes(q, id, true);
}

void queue_close_node(struct myr_queue *q, uint32_t node, uint8_t bit, bool closed)
{
    uint8_t was = q->closed[node];
    q->ends += bit != CLOSED_HOLD;
    q->closed[node] = (uint8_t)(closed ? was | bit : was & ~bit);
    if (!was != !q->closed[node]) {
        myr_placer_hold(q->placer, node, closed);
    }
}

/* Inputs. */

void queue_advance(struct myr_queue *q, int64_t now_s)
{
    MYR_ASSERT(now_s >= q->now_s);
    if (q->policy.preempt && q->now_s != INT64_MIN) {
        int64_t work = (int64_t)q->busy_gpus * (now_s - q->now_s);
        q->loss_left += work * q->policy.loss_permille;
    }
    q->now_s = now_s;
}

int myr_queue_submit(struct myr_queue *q, int64_t now_s, const struct myr_queue_job *spec,
                     uint32_t *ret_id, struct myr_err *err)
{
    uint64_t all = (uint64_t)q->shape.nodes * q->shape.gpus_per_node;
    if (spec->gpus == 0 || spec->gpus > all) {
        return myr_err_set(err, MYR_EINVAL, "the job needs %u GPUs, the cluster has %llu",
                           spec->gpus, (unsigned long long)all);
    }
    if (spec->tenant >= q->tenant_count) {
        return myr_err_set(err, MYR_EINVAL, "there is no tenant %u", spec->tenant);
    }
    if (spec->priority < -MYR_PRIORITY_MAX || spec->priority > MYR_PRIORITY_MAX) {
        return myr_err_set(err, MYR_ERANGE, "priority %d, expected %d to %d", spec->priority,
                           -MYR_PRIORITY_MAX, MYR_PRIORITY_MAX);
    }
    queue_advance(q, now_s);
    struct qjob job = {.spec = *spec, .since_s = now_s, .owner = MYR_NONE, .service = MYR_NONE};
    myr_vec_push(&q->jobs, job);
    *ret_id = (uint32_t)q->jobs.count - 1;
    enqueue(q, *ret_id);
    wake_for(q, *ret_id);
    return MYR_OK;
}

void myr_queue_finish(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    struct qjob *job = &q->jobs.items[id];
    queue_advance(q, now_s);
    if (job->state == MYR_JOB_RUNS) {
        queue_lengths_add(q->lengths, job->spec.gpus, job->saved_s + queue_worked_s(q, job));
        leave_nodes(q, id);
    } else if (job->state == MYR_JOB_WAITS) {
        job->since_s = now_s - job->since_s;
        dequeue(q, id);
    }
    job->state = MYR_JOB_DONE;
    free(job->gang.shares);
    job->gang = (struct myr_gang){0};
    if (job->service != MYR_NONE) {
        queue_replace_replica(q, id);
    }
}

/* Wakes that are past, and those of jobs that no longer wait. */
static void drop_wakes(struct myr_queue *q)
{
    struct myr_heap_item item;
    while (q->wakes.count && (q->wakes.items[0].key <= q->now_s ||
                              (q->wakes.items[0].value != MYR_NONE &&
                               q->jobs.items[q->wakes.items[0].value].state != MYR_JOB_WAITS))) {
        (void)myr_heap_pop(&q->wakes, &item);
    }
}

const struct myr_decision *myr_queue_decide(struct myr_queue *q, int64_t now_s, uint32_t *ret_count)
{
    queue_advance(q, now_s);
    if (q->handed) {
        q->decisions.count = 0;
        q->handed = false;
    }
    q->pass++;
    queue_turn_windows(q);
    queue_fill_spares(q);
    if (q->waiting || q->holds.count) {
        queue_serve_holds(q);
        queue_start_what_fits(q);
        if (q->holds.count) {
            queue_share_holds(q);
        }
        if (q->holds.count || q->windows.count) {
            queue_backfill(q);
        }
        if (q->waiting && (q->policy.preempt || q->reclaiming)) {
            queue_preempt_for_waiting(q);
        }
    }
    drop_wakes(q);
    q->handed = true;
    *ret_count = (uint32_t)q->decisions.count;
    return q->decisions.items;
}

int64_t myr_queue_wake_s(const struct myr_queue *q)
{
    return q->wakes.count ? q->wakes.items[0].key : INT64_MAX;
}

enum myr_job_state myr_queue_state(const struct myr_queue *q, uint32_t id)
{
    return q->jobs.items[id].state;
}

const struct myr_gang *myr_queue_gang(const struct myr_queue *q, uint32_t id)
{
    return &q->jobs.items[id].gang;
}

int64_t myr_queue_waited_s(const struct myr_queue *q, int64_t now_s, uint32_t id)
{
    const struct qjob *job = &q->jobs.items[id];
    return job->state == MYR_JOB_WAITS ? now_s - job->since_s : job->since_s;
}

const struct myr_placer *myr_queue_placer(const struct myr_queue *q)
{
    return q->placer;
}

uint32_t myr_queue_owner(const struct myr_queue *q, uint32_t id)
{
    return q->jobs.items[id].owner;
}

uint32_t myr_queue_waiting(const struct myr_queue *q)
{
    return q->waiting;
}

int myr_queue_create(const struct myr_place_shape *shape, const struct myr_queue_policy *policy,
                     const struct myr_tenant *tenants, uint32_t tenant_count,
                     struct myr_queue **ret, struct myr_err *err)
{
    int r = myr_tenants_check(tenants, tenant_count, shape, err);
    if (r < 0) {
        return r;
    }
    struct myr_queue *q = myr_xcalloc(1, sizeof(*q));
    q->shape = *shape;
    q->shape.pod_nodes =
        q->shape.pod_nodes < q->shape.group_nodes ? q->shape.group_nodes : q->shape.pod_nodes;
    q->cells = queue_cells_create(&q->shape, tenants, tenant_count);
    q->policy = *policy;
    q->lengths = queue_lengths_create();
    q->placer = myr_placer_create(shape);
    q->tenant_count = tenant_count;
    q->tenants = myr_xcalloc(tenant_count, sizeof(*q->tenants));
    memcpy(q->tenants, tenants, tenant_count * sizeof(*tenants));
    q->tenant_gpus = myr_xcalloc(tenant_count, sizeof(*q->tenant_gpus));
    q->node_jobs = myr_xcalloc((size_t)shape->nodes * shape->gpus_per_node, sizeof(uint32_t));
    q->node_job_gpus = myr_xcalloc((size_t)shape->nodes * shape->gpus_per_node, 1);
    q->node_job_count = myr_xcalloc(shape->nodes, 1);
    q->closed = myr_xcalloc(shape->nodes, 1);
    q->node_oldest_s = myr_xcalloc(shape->nodes, sizeof(int64_t));
    q->busy_first = q->busy_last = MYR_NONE;
    q->now_s = INT64_MIN;
    *ret = q;
    return MYR_OK;
}

void myr_queue_free(struct myr_queue *q)
{
    if (!q) {
        return;
    }
    for (size_t i = 0; i < q->jobs.count; i++) {
        free(q->jobs.items[i].gang.shares);
        free(q->jobs.items[i].own_gang.shares);
    }
    for (size_t i = 0; i < q->services.count; i++) {
        myr_vec_done(&q->services.items[i].jobs);
    }
    for (size_t i = 0; i < q->holds.count; i++) {
        myr_vec_done(&q->holds.items[i].nodes);
    }
    myr_vec_done(&q->jobs);
    myr_vec_done(&q->lines);
    myr_vec_done(&q->holds);
    myr_vec_done(&q->windows);
    myr_vec_done(&q->services);
    myr_vec_done(&q->decisions);
    myr_vec_done(&q->victims);
    myr_vec_done(&q->nodes);
    myr_u64map_done(&q->line_of);
    myr_heap_done(&q->wakes);
    myr_placer_free(q->placer);
    queue_cells_free(q->cells);
    free(q->lengths);
    free(q->tenants);
    free(q->tenant_gpus);
    free(q->node_jobs);
    free(q->node_job_gpus);
    free(q->node_job_count);
    free(q->closed);
    free(q->node_oldest_s);
    free(q);
}
