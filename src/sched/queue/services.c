#include <stdlib.h>

#include "myriad/text/amount.h"
#include "queue/state.h"

/*
 * A service is a number of replicas, each of them a job that is never stopped for others and may
 * stop jobs of lower priority. Services are never forgotten: their numbers are positions.
 */

int myr_queue_serve(struct myr_queue *q, int64_t now_s, const struct myr_service *spec,
                    uint32_t *ret_service, struct myr_err *err)
{
    uint64_t all = (uint64_t)q->shape.nodes * q->shape.gpus_per_node;
    if (spec->gpus == 0 || spec->replicas_max == 0 ||
        (uint64_t)spec->gpus * spec->replicas_max > all) {
        return myr_err_set(err, MYR_ERANGE, "%s of %s, the cluster has %llu",
                           MYR_COUNT(spec->replicas_max, "replica"), MYR_COUNT(spec->gpus, "GPU"),
                           (unsigned long long)all);
    }
    if (spec->replicas_min > spec->replicas_max) {
        return myr_err_set(err, MYR_EINVAL, "at least %s, but at most %u",
                           MYR_COUNT(spec->replicas_min, "replica"), spec->replicas_max);
    }
    if (spec->tenant >= q->tenant_count || spec->priority < -MYR_PRIORITY_MAX ||
        spec->priority > MYR_PRIORITY_MAX) {
        return myr_err_set(err, MYR_ERANGE,
                           "tenant %u with priority %d: no such tenant or priority", spec->tenant,
                           spec->priority);
    }
    if (queue_advance(q, now_s) < 0) {
        return myr_err_set(err, MYR_EINVAL, "time %lld is before the last one, %lld",
                           (long long)now_s, (long long)q->now_s);
    }
    /* Without replicas yet: the call below brings the least of them. */
    struct service service = {.spec = *spec};
    myr_vec_push(&q->services, service);
    MYR_ASSERT(q->services.count < MYR_NONE);
    *ret_service = (uint32_t)q->services.count - 1;
    return myr_queue_scale(q, now_s, *ret_service, spec->replicas_min);
}

/* Pointers to jobs are invalid after it. */
static uint32_t add_replica(struct myr_queue *q, uint32_t service)
{
    const struct myr_service *s = &q->services.items[service].spec;
    MYR_ASSERT(service < q->services.count);
    struct myr_queue_job spec = {.tenant = s->tenant,
                                 .gpus = s->gpus,
                                 .priority = s->priority,
                                 .fixed = true,
                                 .reclaims = true};
    uint32_t job;
    int rc = queue_submit(q, &spec, &job, NULL);
    MYR_ASSERT(rc == MYR_OK); /* all of it was checked when the service came */
    MYR_ASSERT(queue_job(q, job)->service == MYR_NONE);
    queue_job(q, job)->service = service;
    return job;
}

/* In the same place of the list, so the order of the others stays. */
void queue_replace_replica(struct myr_queue *q, uint32_t service, uint32_t id)
{
    struct service *s = &q->services.items[service];
    MYR_ASSERT(service < q->services.count);
    for (size_t i = 0; i < s->jobs.count; i++) {
        /* One that was scaled away stands in no list, and is not replaced. */
        if (s->jobs.items[i] == id) {
            s->jobs.items[i] = add_replica(q, service);
            MYR_ASSERT(s->jobs.items[i] != id);
        }
    }
}

/* Starts or ends as many as the difference is. */
static void set_replicas(struct myr_queue *q, uint32_t service, uint32_t replicas)
{
    MYR_ASSERT(service < q->services.count);
    struct service *s = &q->services.items[service];
    while (s->jobs.count > replicas) {
        uint32_t job = s->jobs.items[--s->jobs.count];
        MYR_ASSERT(queue_job(q, job)->service == service);
        /* It is no replica any more, so its end brings no other one in its place. */
        queue_job(q, job)->service = MYR_NONE;
        /* A job with a claim cannot end: it gives the claim up first. */
        if (queue_job(q, job)->state == MYR_JOB_CLAIMS) {
            queue_claim_drop(q, job);
            queue_settle(q, job);
        }
        queue_end_job(q, job, MYR_RESULT_OK, MYR_STOP_SERVICE);
    }
    while (s->jobs.count < replicas) {
        myr_vec_push(&s->jobs, add_replica(q, service));
    }
    MYR_ASSERT(s->jobs.count == replicas);
}

int myr_queue_scale(struct myr_queue *q, int64_t now_s, uint32_t service, uint32_t replicas)
{
    if (service >= q->services.count) {
        return MYR_ENOENT;
    }
    int rc = queue_advance(q, now_s);
    if (rc < 0) {
        return rc;
    }
    const struct myr_service *spec = &q->services.items[service].spec;
    /* What is wanted beyond the limits is no error: who scales need not know them. */
    replicas = replicas < spec->replicas_min ? spec->replicas_min : replicas;
    replicas = replicas > spec->replicas_max ? spec->replicas_max : replicas;
    MYR_ASSERT(replicas >= spec->replicas_min && replicas <= spec->replicas_max);
    set_replicas(q, service, replicas);
    return MYR_OK;
}

int myr_queue_unserve(struct myr_queue *q, int64_t now_s, uint32_t service)
{
    if (service >= q->services.count) {
        return MYR_ENOENT;
    }
    int rc = queue_advance(q, now_s);
    if (rc < 0) {
        return rc;
    }
    struct myr_service *spec = &q->services.items[service].spec;
    /* From now on nothing scales it up again. */
    spec->replicas_min = spec->replicas_max = 0;
    set_replicas(q, service, 0);
    return MYR_OK;
}

uint32_t myr_queue_serving(const struct myr_queue *q, uint32_t service)
{
    /* Those that only wait or start serve nobody. */
    uint32_t running = 0;
    for (size_t i = 0; service < q->services.count && i < q->services.items[service].jobs.count;
         i++) {
        running += queue_job(q, q->services.items[service].jobs.items[i])->state == MYR_JOB_RUNS;
    }
    return running;
}
