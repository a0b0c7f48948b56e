#include <stdlib.h>

#include "queue/state.h"

/*
 * The life of a job: onto its nodes, off them, back into its line and to its end. Every count and
 * list that says how many run, where, and for whom, is kept here. 'since_s' has two meanings:
 * for a job that waits, when it would have come had it waited in one piece; while it runs and when
 * it is over, how long it has waited.
 */

void queue_decide_add(struct myr_queue *q, const struct myr_decision *decision)
{
    /* What the caller was handed is read by now: the next decision begins a new list. */
    if (q->handed) {
        q->decisions.count = 0;
        q->handed = false;
    }
    /* What starts or stops is one incarnation of a job; those count from 1. */
    MYR_ASSERT(decision->job < q->job_count);
    MYR_ASSERT(decision->by != decision->job);
    MYR_ASSERT(decision->kind == MYR_DECIDE_REPLACE || decision->epoch > 0);
    myr_vec_push(&q->decisions, *decision);
}

void queue_count_running(struct myr_queue *q, const struct myr_queue_job *spec, bool more)
{
    bool large = queue_is_large(q, spec->gpus, 4);
    q->shares++;
    MYR_ASSERT(spec->gpus > 0);
    MYR_ASSERT(spec->tenant < q->tenant_count);
    MYR_SLOW_ASSERT(more || (q->priority_runs[spec->priority + MYR_PRIORITY_MAX] > 0 &&
                             q->big_runs >= large && q->busy_gpus >= spec->gpus));
    for (uint32_t t = spec->tenant; t != MYR_NONE; t = q->tenants[t].parent) {
        MYR_ASSERT(more || q->tenant_gpus[t] >= spec->gpus);
        q->tenant_gpus[t] += more ? spec->gpus : 0 - (uint64_t)spec->gpus;
    }
    q->busy_gpus += more ? spec->gpus : 0 - (uint64_t)spec->gpus;
    /* UINT32_MAX is minus one: these are counts of 32 bits. */
    q->priority_runs[spec->priority + MYR_PRIORITY_MAX] += more ? 1 : UINT32_MAX;
    q->big_runs += large ? (more ? 1 : UINT32_MAX) : 0;
    MYR_ASSERT(q->busy_gpus <= (uint64_t)q->shape.nodes * q->shape.gpus_per_node);
    MYR_ASSERT(q->tenant_gpus[spec->tenant] <= q->busy_gpus);
    MYR_ASSERT(q->big_runs <= q->jobs.count);
}

/* A job comes or is over: its tenants have one more to share for, or one less. */
static void count_present(struct myr_queue *q, uint32_t tenant, bool more)
{
    q->shares++;
    for (uint32_t t = tenant; t != MYR_NONE; t = q->tenants[t].parent) {
        uint32_t parent = q->tenants[t].parent;
        struct brothers *b = &q->brothers[parent == MYR_NONE ? 0 : parent + 1];
        uint64_t weight = q->tenants[t].weight ? q->tenants[t].weight : 1;
        MYR_ASSERT(more || q->tenant_jobs[t] > 0);
        q->tenant_jobs[t] += more ? 1 : UINT32_MAX;
        b->jobs += more ? 1 : UINT32_MAX;
        /* Its first job brings a tenant among its brothers, its last one takes it away. */
        if (q->tenant_jobs[t] == (more ? 1 : 0)) {
            b->count += more ? 1 : UINT32_MAX;
            b->weight += more ? weight : 0 - weight;
        }
        MYR_ASSERT(b->count <= b->jobs);
        MYR_ASSERT((b->count == 0) == (b->jobs == 0));
        MYR_ASSERT(b->weight >= b->count);
        MYR_ASSERT((b->count == 0) == (b->weight == 0));
    }
}

void queue_set_present(struct myr_queue *q, uint32_t id, bool present)
{
    MYR_SLOW_ASSERT(queue_job(q, id)->id == id); /* nothing is written to who is forgotten */
    struct qjob *job = queue_job(q, id);
    if (!job->present == present) {
        count_present(q, job->spec.tenant, present);
        job->present = present;
    }
}

/* Work saved counts as run: it tells how long a job of its kind lasts. */
static void find_oldest(struct myr_queue *q, uint32_t node)
{
    int64_t oldest_s = INT64_MAX;
    MYR_SLOW_ASSERT(q->node_job_count[node] <= q->shape.gpus_per_node);
    for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
        uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
        int64_t start_s = queue_job(q, id)->start_s - queue_job(q, id)->saved_s;
        oldest_s = start_s < oldest_s ? start_s : oldest_s;
    }
    MYR_ASSERT(q->node_job_count[node] == 0 || oldest_s <= q->now_s);
    q->node_oldest_s[node] = oldest_s;
}

/* Lists a job on its nodes or takes it off; the order of a node's jobs carries no meaning. */
static void list_on_nodes(struct myr_queue *q, uint32_t id, bool in)
{
    const struct myr_gang *gang = &queue_job(q, id)->gang;
    MYR_ASSERT(gang->count > 0);
    MYR_ASSERT(gang->count <= q->shape.nodes);
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t node = gang->shares[i].node;
        MYR_SLOW_ASSERT(node < q->shape.nodes);
        MYR_SLOW_ASSERT(gang->shares[i].gpus != 0);
        size_t first = (size_t)node * q->shape.gpus_per_node;
        uint32_t *jobs = &q->node_jobs[first];
        uint8_t *gpus = &q->node_job_gpus[first];
        uint32_t count = q->node_job_count[node], at = 0;
        if (in) {
            /* Each job has at least one GPU of the node. */
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
        MYR_SLOW_ASSERT(gpus[at] == gpu_count(gang->shares[i].gpus));
        jobs[at] = jobs[count - 1];
        gpus[at] = gpus[count - 1];
        q->node_job_count[node]--;
        find_oldest(q, node);
    }
}

/* Its gang with room for all its nodes, and none in it yet. */
struct myr_gang *queue_gang_room(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    uint32_t nodes = queue_nodes_of(q, job);
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(nodes > 0);
    MYR_ASSERT(nodes <= q->shape.nodes);
    job->gang.shares = myr_xrealloc(job->gang.shares, nodes, sizeof(struct myr_share));
    job->gang.count = 0;
    return &job->gang;
}

/*
 * Whether the gang has the GPUs that the job runs with, and the placer calls none of them free.
 * Only slow checks ask.
 */
__attribute__((unused)) static bool has_its_gpus(const struct myr_queue *q, const struct qjob *job)
{
    uint64_t gpus = 0;
    bool taken = true;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        gpus += gpu_count(share->gpus);
        taken = taken && !(myr_placer_free_mask(q->placer, share->node) & share->gpus);
    }
    return taken && gpus == job->spec.gpus;
}

/* It is in no line any more, and the GPUs in its gang are taken. */
static void begin(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(!queue_is_on(job));
    MYR_ASSERT(job->pending == 0);
    MYR_ASSERT(job->result == MYR_RESULT_NONE);
    MYR_ASSERT(job->spec.gpus <= job->wish);
    MYR_SLOW_ASSERT(has_its_gpus(q, job));
    MYR_ASSERT(job->gang.count > 0);
    MYR_ASSERT((job->leaving == 0 || job->spec.restart_epoch));
    job->state = q->policy.confirm ? MYR_JOB_STARTING : MYR_JOB_RUNS;
    job->since_s = q->now_s - job->since_s; /* while it runs: the time waited so far */
    MYR_ASSERT(job->since_s >= 0);
    /* Who floods waits for itself: that is no reason for others to wait. */
    queue_note_wait(q, queue_excess(q, job->spec.tenant) ? 0 : job->since_s);
    job->start_s = q->now_s;
    job->start_pass = q->pass;
    job->broken = 0;
    job->epoch++;
    MYR_ASSERT(job->epoch > 0);
    queue_count_running(q, &job->spec, true);
    list_on_nodes(q, id, true);
    struct myr_decision decision = {
        .kind = MYR_DECIDE_START, .job = id, .epoch = job->epoch, .by = MYR_NONE};
    queue_decide_add(q, &decision);
}

void queue_run_job(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    queue_dequeue(q, id);
    queue_job(q, id)->guest_of = MYR_NONE;
    begin(q, id);
    MYR_SLOW_ASSERT(queue_is_on(queue_job(q, id)));
}

void queue_run_unqueued(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(!queue_is_on(queue_job(q, id)));
    MYR_ASSERT(queue_job(q, id)->pending == 0);
    begin(q, id);
}

void queue_begin_work(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_STARTING);
    MYR_ASSERT(job->gang.count > 0);
    MYR_ASSERT(job->epoch > 0);
    job->state = MYR_JOB_RUNS;
    /* What passed until the last rank was there is no work. */
    MYR_ASSERT(job->start_s <= q->now_s);
    job->start_s = q->now_s;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        find_oldest(q, job->gang.shares[i].node);
    }
}

/* The ranks of the gang were told to stop; their GPUs are nobody's until they are gone. */
static void stake_out(struct myr_queue *q, const struct qjob *job)
{
    MYR_ASSERT(job->epoch > 0); /* a stake of epoch 0 is a claim */
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        MYR_SLOW_ASSERT(!(myr_placer_free_mask(q->placer, share->node) & share->gpus));
        struct stake stake = {
            .job = job->id, .epoch = job->epoch, .node = share->node, .gpus = share->gpus};
        queue_stake_add(q, &stake);
    }
}

/* 'gone': its ranks are over, so its GPUs are free; else they are left until nodes confirm. */
static void leave_nodes(struct myr_queue *q, uint32_t id, bool gone)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(queue_is_on(job));
    MYR_ASSERT(job->gang.count > 0);
    MYR_ASSERT(job->pending == 0);
    q->ends++;
    list_on_nodes(q, id, false);
    if (gone) {
        for (uint32_t i = 0; i < job->gang.count; i++) {
            queue_give_back(q, &job->gang.shares[i]);
        }
    } else {
        stake_out(q, job);
        job->leaving += job->gang.count;
        MYR_ASSERT(job->leaving >= job->gang.count);
    }
    queue_count_running(q, &job->spec, false);
    queue_leave_own(q, id);
    MYR_ASSERT(job->owner == MYR_NONE);
    MYR_ASSERT(job->spec.gpus <= job->wish);
    /* An elastic job asks for all it wishes again. */
    job->spec.gpus = job->wish;
}

/* The end itself: it is in no line, on no node and has no claim. */
static void finish_end(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->result != MYR_RESULT_NONE);
    MYR_ASSERT(job->pending == 0);
    MYR_SLOW_ASSERT(job->state != MYR_JOB_DONE);
    MYR_SLOW_ASSERT(job->owner == MYR_NONE);
    /* The end of a strict job is the end of its last rank. */
    MYR_ASSERT(job->leaving == 0 || job->spec.restart_epoch);
    queue_set_present(q, id, false);
    queue_request_leave(q, id);
    /* Members of an array that never came were not active. */
    bool admitted = job->state != MYR_JOB_BLOCKED;
    job->state = MYR_JOB_DONE;
    if (job->array != MYR_NONE && admitted) {
        MYR_ASSERT(q->arrays.items[job->array].active > 0);
        q->arrays.items[job->array].active--;
    }
    /* Kept only where somebody may wait for it: a dependant, or the next of its array. */
    if (q->dependants.count || job->array != MYR_NONE) {
        struct ended ended = {id, job->array, job->result == MYR_RESULT_OK};
        myr_vec_push(&q->ended, ended);
    }
    queue_bury_job(q, id);
}

void queue_settle(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_SLOW_ASSERT(job->id == id);
    MYR_SLOW_ASSERT(job->state != MYR_JOB_DONE);
    MYR_ASSERT(job->pending == 0);
    MYR_ASSERT(job->owner == MYR_NONE);
    job->gang.count = 0;
    /* A strict job never has two incarnations: it waits in no line before the last is gone. */
    if (job->leaving > 0 && !job->spec.restart_epoch) {
        job->state = MYR_JOB_STOPPING;
    } else if (job->result != MYR_RESULT_NONE) {
        /* As for jobs that run: from here on the time it has waited. */
        MYR_ASSERT(job->since_s <= q->now_s);
        job->since_s = q->now_s - job->since_s;
        finish_end(q, id);
    } else if (job->user_held) {
        job->state = MYR_JOB_HELD;
        job->held_s = q->now_s;
        queue_set_present(q, id, false);
    } else {
        queue_set_present(q, id, true);
        queue_enqueue(q, id);
    }
    MYR_ASSERT(!queue_is_on(job) && job->state != MYR_JOB_CLAIMS);
}

static void decide_stop(struct myr_queue *q, const struct qjob *job, enum myr_stop_reason reason,
                        uint32_t by)
{
    MYR_ASSERT(reason != MYR_STOP_NONE);
    MYR_ASSERT(by == MYR_NONE || by < q->job_count);
    struct myr_decision decision = {
        .kind = MYR_DECIDE_STOP, .reason = reason, .job = job->id, .epoch = job->epoch, .by = by};
    queue_decide_add(q, &decision);
}

/* Whether its start is one of the decisions that nobody has seen yet; then it never was. */
static bool retract_start(struct myr_queue *q, struct qjob *job)
{
    MYR_ASSERT(job->epoch > 0);
    /* The newest are last, and a start that is taken back is one of those. */
    for (size_t i = q->handed ? 0 : q->decisions.count; i-- > 0;) {
        struct myr_decision *d = &q->decisions.items[i];
        if (d->kind == MYR_DECIDE_START && d->job == job->id && d->epoch == job->epoch) {
            q->decisions.count--;
            memmove(d, d + 1, (q->decisions.count - i) * sizeof(*d));
            job->epoch--;
            return true;
        }
    }
    return false;
}

void queue_unload_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(queue_is_on(job));
    MYR_ASSERT(by != id);
    MYR_ASSERT(job->since_s >= 0); /* while it runs: how long it has waited */
    if (retract_start(q, job)) {
        /* Nobody was told to start, so nobody has to confirm that it stopped. */
        leave_nodes(q, id, true);
        job->since_s = q->now_s - job->since_s;
        return;
    }
    /* What only started has no work to save. */
    if (job->state == MYR_JOB_RUNS) {
        job->saved_s += queue_worked_s(q, job) - queue_unsaved_s(q, job);
        MYR_ASSERT(job->saved_s >= 0);
    }
    leave_nodes(q, id, !q->policy.confirm);
    job->since_s = q->now_s - job->since_s;
    MYR_ASSERT(job->since_s <= q->now_s);
    job->stops++;
    decide_stop(q, job, reason, by);
}

void queue_stop_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by)
{
    queue_unload_job(q, id, reason, by);
    queue_settle(q, id);
}

void queue_move_share(struct myr_queue *q, uint32_t id, const struct myr_share *from,
                      const struct myr_share *to)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_RUNS);
    MYR_ASSERT(job->owner == MYR_NONE);
    MYR_ASSERT(from->node != to->node);
    MYR_ASSERT(to->node < q->shape.nodes);
    MYR_ASSERT(gpu_count(from->gpus) == gpu_count(to->gpus));
    MYR_ASSERT(to->gpus != 0);
    uint32_t moved = 0;
    /* As with a stop: it goes on from its last checkpoint after a restart. */
    job->saved_s += queue_worked_s(q, job) - queue_unsaved_s(q, job);
    job->start_s = q->now_s;
    job->stops++;
    /* Its nodes and its age change, and both are in the lists. */
    list_on_nodes(q, id, false);
    for (uint32_t i = 0; i < job->gang.count; i++) {
        struct myr_share *share = &job->gang.shares[i];
        if (share->node == from->node) {
            myr_release(q->placer, &(struct myr_gang){1, share});
            myr_place_take(q->placer, to->node, to->gpus);
            *share = *to;
            moved++;
        }
        MYR_ASSERT(share->node != from->node);
    }
    MYR_ASSERT(moved == 1); /* a gang has one share of a node */
    list_on_nodes(q, id, true);
}

void queue_swap_node(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t spare)
{
    MYR_ASSERT(node != spare && spare < q->shape.nodes);
    const struct myr_gang *gang = &queue_job(q, id)->gang;
    for (uint32_t i = 0; i < gang->count; i++) {
        if (gang->shares[i].node == node) {
            struct myr_share from = gang->shares[i], to = {spare, from.gpus};
            queue_move_share(q, id, &from, &to);
            return;
        }
    }
    MYR_ASSERT(false); /* it was listed on the node */
}

void queue_close_node(struct myr_queue *q, uint32_t node, uint8_t bit, bool closed)
{
    MYR_ASSERT(node < q->shape.nodes);
    MYR_ASSERT(bit);
    MYR_ASSERT(!(bit & (bit - 1)));
    MYR_ASSERT(!(bit & ~(CLOSED_HOLD | CLOSED_SPARE | CLOSED_BAD)));
    uint8_t was = q->closed[node];
    /* A choice of nodes for a hold cannot get better by holding nodes. */
    q->ends += bit != CLOSED_HOLD;
    q->closed[node] = (uint8_t)(closed ? was | bit : was & ~bit);
    /* The placer knows open and closed; for which reasons is known here alone. */
    if (!was != !q->closed[node]) {
        myr_placer_hold(q->placer, node, closed);
    }
    MYR_SLOW_ASSERT(myr_placer_is_open(q->placer, node) == (q->closed[node] == 0));
}

void queue_end_job(struct myr_queue *q, uint32_t id, enum myr_job_result result,
                   enum myr_stop_reason reason)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state != MYR_JOB_CLAIMS);
    MYR_ASSERT(result != MYR_RESULT_NONE);
    MYR_ASSERT((uint32_t)result <= MYR_RESULT_CANCELLED);
    if (job->state == MYR_JOB_DONE) {
        return;
    }
    job->result = result;
    if (job->state == MYR_JOB_STOPPING) {
        return; /* when its ranks are gone */
    }
    if (queue_is_on(job) && reason != MYR_STOP_NONE && q->policy.confirm) {
        queue_stop_job(q, id, reason, MYR_NONE);
        return;
    }
    if (queue_is_on(job)) {
        /* Who cancels a job knows that it stops. */
        if (reason != MYR_STOP_NONE && reason != MYR_STOP_CANCEL) {
            decide_stop(q, job, reason, MYR_NONE);
        }
        /* How long it ran in all, whatever stopped it in between. */
        queue_lengths_add(q->lengths, job->spec.gpus, job->saved_s + queue_worked_s(q, job));
        leave_nodes(q, id, true);
    } else {
        if (job->state == MYR_JOB_WAITS) {
            queue_dequeue(q, id);
        }
        job->since_s = q->now_s - job->since_s;
    }
    MYR_ASSERT(job->since_s >= 0);
    finish_end(q, id);
}
