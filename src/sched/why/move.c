/* move: jobs that run elsewhere instead, so that another has room: as a plan, not yet tried. */
#include "why/move.h"

#include <stdlib.h>

#include "myriad/sched/defrag.h"

bool trial_of_moves(const struct myr_queue *q, uint32_t id, struct myr_trial *ret)
{
    const struct qjob *own = queue_job(q, id);
    if (myr_placer_free_gpus(q->placer) < own->spec.gpus) {
        return false; /* moves make room whole, and none more */
    }
    struct myr_running *jobs = myr_xcalloc(q->jobs.count + 1, sizeof(*jobs));
    uint32_t *ids = myr_xcalloc(q->jobs.count + 1, sizeof(*ids)), count = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && queue_is_on(job)) {
            /* What cannot be moved without breaking a promise counts as fixed to its nodes. */
            bool pinned = job->state != MYR_JOB_RUNS || job->owner != MYR_NONE || job->spec.fixed ||
                          job->request != MYR_NONE || job->leaving;
            jobs[count] = (struct myr_running){&job->gang, (uint32_t)q->policy.restart_s, pinned};
            ids[count++] = job->id;
        }
    }
    /* A small job needs some GPUs of one node. */
    struct myr_request request = {.nodes = queue_nodes_of(q, own)};
    if (own->request != MYR_NONE) {
        request = queue_request_of(q, own);
    } else if (!queue_is_gang(q, own->spec.gpus)) {
        request.gpus_per_node = own->spec.gpus;
    }
    bool whole = false;
    struct myr_defrag_plan plan = {};
    struct myr_trial t = {.kind = MYR_TRIAL_MOVE};
    if (myr_defrag(q->placer, &request, jobs, count, &plan, NULL) == MYR_OK) {
        for (size_t i = 0; i < plan.moves.count && i < MYR_TRIAL_JOBS_MAX; i++) {
            const struct myr_migration *m = &plan.moves.items[i];
            t.moves[t.move_count++] = (struct myr_trial_move){ids[m->job], m->from, m->to};
            t.gpus += gpu_count(m->from.gpus);
        }
        /* A plan that is cut off would not free what it promises. */
        whole = t.move_count && t.move_count == plan.moves.count;
        *ret = t;
        myr_defrag_done(&plan);
    }
    free(jobs);
    free(ids);
    return whole;
}
