#include "myriad/text/amount.h"
#include "queue/state.h"

/*
 * Jobs come, one by one and in arrays. Everything is checked before the time moves on, so that what
 * is refused has changed nothing. All jobs begin as blocked; they are let in at once, or when what
 * they wait for is over.
 */

static int check_time(struct myr_queue *q, int64_t now_s, struct myr_err *err)
{
    if (now_s < q->now_s) {
        return myr_err_set(err, MYR_EINVAL, "time %lld is before the last one, %lld",
                           (long long)now_s, (long long)q->now_s);
    }
    return MYR_OK;
}

/* The job to wait for must be known, and must still be able to end well where that counts. */
static int check_after(const struct myr_queue *q, const struct myr_queue_job *spec,
                       struct myr_err *err)
{
    if (spec->after_kind == MYR_AFTER_NONE) {
        return MYR_OK;
    }
    if (spec->after_kind > MYR_AFTER_ANY || spec->after >= q->job_count) {
        return myr_err_set(err, MYR_ENOENT, "it is to wait for job %u, which there is not",
                           spec->after);
    }
    const struct qjob *before = queue_job(q, spec->after);
    /* Of a job that is forgotten nobody knows any more whether it ended well. */
    if (spec->after_kind == MYR_AFTER_OK && before->state == MYR_JOB_DONE &&
        before->result != MYR_RESULT_OK) {
        return myr_err_set(err, MYR_ESTALE, "job %u, which it is to wait for, %s", spec->after,
                           before->result == MYR_RESULT_NONE ? "is over and forgotten"
                                                             : "did not end well");
    }
    return MYR_OK;
}

/* Everything that a job says of itself, before it is believed. */
static int check_spec(const struct myr_queue *q, const struct myr_queue_job *spec,
                      struct myr_err *err)
{
    uint64_t all = (uint64_t)q->shape.nodes * q->shape.gpus_per_node;
    if (spec->gpus == 0 || spec->gpus > all) {
        return myr_err_set(err, MYR_EINVAL, "the job needs %s, the cluster has %llu",
                           MYR_COUNT(spec->gpus, "GPU"), (unsigned long long)all);
    }
    if (spec->gpus_min > spec->gpus) {
        return myr_err_set(err, MYR_EINVAL, "at least %s, but at most %u",
                           MYR_COUNT(spec->gpus_min, "GPU"), spec->gpus);
    }
    /* Tenants are never made up: who is unknown has no share. */
    if (spec->tenant >= q->tenant_count) {
        return myr_err_set(err, MYR_EINVAL, "there is no tenant %u", spec->tenant);
    }
    if (spec->priority < -MYR_PRIORITY_MAX || spec->priority > MYR_PRIORITY_MAX) {
        return myr_err_set(err, MYR_ERANGE, "priority %d, expected %d to %d", spec->priority,
                           -MYR_PRIORITY_MAX, MYR_PRIORITY_MAX);
    }
    /* So that sums with a time never overflow. */
    if (spec->limit_s < 0 || spec->limit_s > INT64_MAX / 4) {
        return myr_err_set(err, MYR_ERANGE, "a limit of %lld s", (long long)spec->limit_s);
    }
    MYR_TRY(queue_request_check(q, spec, err));
    return check_after(q, spec, err);
}

/* Whether nothing that the job is to wait for is left. */
static bool may_come(const struct myr_queue *q, const struct myr_queue_job *spec)
{
    MYR_ASSERT(spec->after_kind == MYR_AFTER_NONE || spec->after < q->job_count);
    /* Whether it ended well was checked with the job. */
    return spec->after_kind == MYR_AFTER_NONE || queue_job(q, spec->after)->state == MYR_JOB_DONE;
}

/* It is blocked; its request, if any, counts it as a user already. */
static uint32_t add_job(struct myr_queue *q, const struct myr_queue_job *spec, uint32_t array,
                        uint32_t request)
{
    MYR_ASSERT(array == MYR_NONE || array < q->arrays.count);
    MYR_ASSERT((request != MYR_NONE) == (spec->request != NULL));
    struct qjob job;
    memset(&job, 0, sizeof(job)); /* the bytes between its fields are compared too */
    job.spec = *spec;
    /* The caller's memory; what it says is kept in q->requests. */
    job.spec.request = NULL;
    job.since_s = q->now_s;
    job.wish = spec->gpus;
    job.owner = job.service = job.guest_of = MYR_NONE;
    job.array = array;
    job.user_held = spec->held;
    job.request = request;
    job.state = MYR_JOB_BLOCKED;
    return queue_add_job(q, &job);
}

/* It waits from now on. */
static void let_in(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_BLOCKED);
    MYR_ASSERT(job->result == MYR_RESULT_NONE);
    /* Waiting for another job is no wait for GPUs: its age begins now. */
    job->since_s = q->now_s;
    MYR_ASSERT(job->gang.count == 0);
    queue_settle(q, id);
}

/* As many members as the limit allows, in their order. */
static void let_in_array(struct myr_queue *q, uint32_t at)
{
    for (;;) {
        struct array *array = &q->arrays.items[at];
        MYR_ASSERT(at < q->arrays.count);
        MYR_ASSERT(array->next <= array->count);
        if (!array->open || array->next == array->count || array->active >= array->limit) {
            return;
        }
        uint32_t id = array->first + array->next++;
        if (queue_job(q, id)->state == MYR_JOB_BLOCKED) { /* else it was cancelled before */
            MYR_ASSERT(queue_job(q, id)->array == at);
            MYR_ASSERT(array->active < array->known);
            array->active++;
            let_in(q, id);
        }
    }
}

int queue_submit(struct myr_queue *q, const struct myr_queue_job *spec, uint32_t *ret_id,
                 struct myr_err *err)
{
    MYR_TRY(check_spec(q, spec, err));
    bool may = may_come(q, spec);
    uint32_t request = spec->request ? queue_request_add(q, spec->request, 1) : MYR_NONE;
    uint32_t id = add_job(q, spec, MYR_NONE, request);
    if (may) {
        let_in(q, id);
    } else {
        struct dependant dependant = {id, MYR_NONE, spec->after, spec->after_kind};
        MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_BLOCKED);
        MYR_ASSERT(spec->after < id);
        myr_vec_push(&q->dependants, dependant);
    }
    *ret_id = id;
    return MYR_OK;
}

int myr_queue_submit(struct myr_queue *q, int64_t now_s, const struct myr_queue_job *spec,
                     uint32_t *ret_id, struct myr_err *err)
{
    MYR_TRY(check_time(q, now_s, err));
    MYR_TRY(check_spec(q, spec, err));
    MYR_TRY(queue_advance(q, now_s));
    return queue_submit(q, spec, ret_id, err);
}

int myr_queue_submit_array(struct myr_queue *q, int64_t now_s, const struct myr_queue_job *spec,
                           uint32_t count, uint32_t limit, uint32_t *ret_first, struct myr_err *err)
{
    if (count == 0 || count > MYR_ARRAY_MAX) {
        return myr_err_set(err, MYR_ERANGE, "an array of %u jobs, expected 1 to %d", count,
                           MYR_ARRAY_MAX);
    }
    MYR_TRY(check_time(q, now_s, err));
    MYR_TRY(check_spec(q, spec, err));
    MYR_TRY(queue_advance(q, now_s));
    /* A limit of 0 is none. */
    struct array array = {.first = q->job_count,
                          .count = count,
                          .limit = limit && limit < count ? limit : count,
                          .open = may_come(q, spec),
                          .known = count};
    /* A number that is free, with everything about its last user gone. */
    uint32_t at = q->array_free;
    if (at == MYR_NONE) {
        at = (uint32_t)q->arrays.count;
        myr_vec_push(&q->arrays, array);
    } else {
        MYR_ASSERT(at < q->arrays.count);
        MYR_ASSERT(q->arrays.items[at].known == 0);
        q->array_free = q->arrays.items[at].next_free;
        q->arrays.items[at] = array;
    }
    /* One request for all members; each of them counts as a user. */
    uint32_t request = spec->request ? queue_request_add(q, spec->request, count) : MYR_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = add_job(q, spec, at, request);
        MYR_ASSERT(id == array.first + i);
    }
    if (!array.open) {
        struct dependant dependant = {array.first, at, spec->after, spec->after_kind};
        myr_vec_push(&q->dependants, dependant);
    }
    let_in_array(q, at);
    *ret_first = array.first;
    return MYR_OK;
}

/* What it waited for is over: it may come, with its whole array, or never will. */
static void tell(struct myr_queue *q, const struct dependant *dependant, bool ok)
{
    uint32_t at = dependant->array, first = dependant->job, count = 1;
    /* Who waits for any end does not mind how. */
    bool may = ok || dependant->kind == MYR_AFTER_ANY;
    if (at != MYR_NONE) {
        MYR_ASSERT(at < q->arrays.count);
        MYR_ASSERT(q->arrays.items[at].known > 0);
        MYR_ASSERT(q->arrays.items[at].first == first);
        /* The members of an array are let in below, as far as its limit goes. */
        q->arrays.items[at].open = may;
        count = may ? 0 : q->arrays.items[at].count;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* Cancelled meanwhile. */
        if (queue_job(q, first + i)->state != MYR_JOB_BLOCKED) {
            continue;
        }
        if (may) {
            let_in(q, first + i);
        } else {
            queue_end_job(q, first + i, MYR_RESULT_CANCELLED, MYR_STOP_NONE);
        }
    }
    if (at != MYR_NONE) {
        let_in_array(q, at);
    }
}

/*
 * Those that waited for the job go from the list before the first of them is told: an array that
 * will never come may be forgotten with that, and takes what names it out of the same list.
 */
static void tell_all(struct myr_queue *q, const struct ended *ended)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct dependant) told = {};
    size_t kept = 0;
    for (size_t i = 0; i < q->dependants.count; i++) {
        struct dependant dependant = q->dependants.items[i];
        if (dependant.after == ended->job) {
            myr_vec_push(&told, dependant);
        } else {
            q->dependants.items[kept++] = dependant;
        }
    }
    MYR_ASSERT(kept + told.count == q->dependants.count);
    q->dependants.count = kept;
    for (size_t i = 0; i < told.count; i++) {
        tell(q, &told.items[i], ended->ok);
    }
}

void queue_tell_dependants(struct myr_queue *q)
{
    /* Those that never will come end here, and who waits for them is told in the same round. */
    for (size_t e = 0; e < q->ended.count; e++) {
        struct ended ended = q->ended.items[e];
        MYR_ASSERT(ended.array == MYR_NONE || ended.array < q->arrays.count);
        tell_all(q, &ended);
        /* As it is by now: an array that was forgotten meanwhile is not named any more. */
        ended.array = q->ended.items[e].array;
        if (ended.array != MYR_NONE) {
            let_in_array(q, ended.array);
        }
    }
    q->ended.count = 0;
}
