#include "queue/state.h"

/* The most GPUs that fit now, at least what the job needs; 0: not even those. */
static uint32_t most_fitting(const struct myr_queue *q, const struct qjob *job)
{
    MYR_ASSERT(job->state == MYR_JOB_WAITS && job->spec.gpus_min > 0);
    const struct myr_queue_job *spec = &job->spec;
    uint32_t per = q->shape.gpus_per_node, gpus = spec->gpus;
    if (job->request != MYR_NONE) {
        gpus = job->blocked_pass == q->pass
                   ? 0
                   : queue_request_most(q, job->id) * queue_request_per_node(q, job);
        return gpus >= spec->gpus_min ? gpus : 0;
    }
    /* No gang has more whole nodes than are free, so larger ones need not be asked for. */
    if (gpus > per) {
        MYR_ASSERT(queue_is_gang(q, gpus));
        uint32_t nodes = myr_placer_free_nodes(q->placer);
        gpus = nodes * (uint64_t)per < gpus ? nodes * per : gpus;
    }
    while (gpus > 0 && gpus >= spec->gpus_min && !myr_place_fits(q->placer, gpus)) {
        /* A gang loses its remainder first, then node by node. */
        gpus = gpus > per ? gpus - gpus % per - (gpus % per ? 0 : per) : gpus - 1;
    }
    return gpus >= spec->gpus_min ? gpus : 0;
}

/* The first in order of those that can start with less; 'ret_gpus' is set if there is one. */
static uint32_t next_elastic(const struct myr_queue *q, uint32_t *ret_gpus)
{
    const struct line *best = NULL;
    /* Lines that go after the best one so far are not asked whether they fit. */
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        MYR_SLOW_ASSERT(line->first != MYR_NONE); /* it is busy */
        const struct qjob *job = queue_job(q, line->first);
        if (job->spec.gpus_min > 0 && (!best || queue_line_before(q, line, best))) {
            uint32_t gpus = most_fitting(q, job);
            if (gpus > 0) {
                MYR_ASSERT(gpus >= job->spec.gpus_min);
                best = line;
                *ret_gpus = gpus;
            }
        }
    }
    return best ? best->first : MYR_NONE;
}

/* What fits whole has started already; those left take what there is, in their order. */
void queue_start_elastic(struct myr_queue *q)
{
    uint32_t id, gpus = 0;
    while (q->elastic && (id = next_elastic(q, &gpus)) != MYR_NONE) {
        struct qjob *job = queue_job(q, id);
        MYR_ASSERT(gpus > 0);
        MYR_ASSERT(gpus >= job->spec.gpus_min);
        MYR_ASSERT(gpus <= job->wish);
        /*
         * It may fail: then the job is blocked for this decision, and the
         * next one is looked for.
         */
        if (job->request != MYR_NONE) {
            (void)queue_request_start(q, id, gpus / queue_request_per_node(q, job));
            MYR_ASSERT(queue_is_on(job) || job->blocked_pass == q->pass); /* so the round ends */
            continue;
        }
        struct myr_gang *gang = queue_gang_room(q, id);
        bool placed = myr_place(q->placer, gpus, gang);
        MYR_ASSERT(placed);
        MYR_ASSERT(gang->count > 0 && gang->count <= q->shape.nodes);
        queue_dequeue(q, id);
        job->spec.gpus = gpus; /* what it has; its wish is kept beside */
        queue_run_unqueued(q, id);
        MYR_ASSERT(queue_is_on(job));
    }
}
