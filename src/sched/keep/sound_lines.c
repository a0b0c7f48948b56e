#include <stdlib.h>

#include "keep/sound.h"

/* What is counted over all jobs; held against what the queue says. */
struct counts {
    uint32_t waiting, reclaiming, limited, elastic, shaped, big_runs;
    uint64_t busy_gpus;
    uint32_t priority_runs[2 * MYR_PRIORITY_MAX + 1];
};

/* What a line's key is made of, but for the level. */
static bool fits_line(const struct qjob *job, const struct line *line)
{
    return job->state == MYR_JOB_WAITS && job->spec.tenant == line->tenant &&
           job->spec.gpus == line->gpus && job->spec.priority == line->priority &&
           job->spec.reclaims == (line->reclaims != 0) && job->request == line->request;
}

/* The jobs of a line, one behind the other, oldest first; counts them. */
static bool line_sound(const struct myr_queue *q, uint32_t at, uint64_t *waiting)
{
    const struct line *line = &q->lines.items[at];
    uint32_t before = MYR_NONE;
    if (line->tenant >= q->tenant_count || line->gpus == 0 ||
        line->gpus > (uint64_t)q->shape.nodes * q->shape.gpus_per_node ||
        line->priority < -MYR_PRIORITY_MAX || line->priority > MYR_PRIORITY_MAX ||
        line->level >= MYR_QUEUE_LEVELS || line->reclaims > 1 || line->due > 1) {
        return false;
    }
    /* A line that runs in a circle ends when more are met than wait. */
    for (uint32_t id = line->first; id != MYR_NONE;) {
        const struct qjob *job = sound_job(q, id);
        if (!job || !fits_line(job, line) || job->line != at || job->previous != before ||
            ++*waiting > q->waiting ||
            (before != MYR_NONE && queue_job(q, before)->since_s > job->since_s)) {
            return false;
        }
        before = id;
        id = job->next;
    }
    /* The first job's age is kept beside the line, and must be the same. */
    return line->last == before &&
           (before == MYR_NONE || line->since_s == queue_job(q, line->first)->since_s);
}

/* Busy lines are those with jobs, linked up. */
static bool busy_sound(const struct myr_queue *q, uint32_t *ret_busy)
{
    uint32_t before = MYR_NONE, busy = 0;
    /* Every index is looked at before it is followed. */
    for (uint32_t at = q->busy_first; at != MYR_NONE; at = q->lines.items[at].next_busy) {
        if (at >= q->lines.count || q->lines.items[at].previous_busy != before ||
            q->lines.items[at].first == MYR_NONE || ++busy > q->lines.count) {
            return false;
        }
        before = at;
    }
    *ret_busy = busy;
    return q->busy_last == before;
}

/* Sizes go up, and their lists hold all busy lines. */
static bool sizes_sound(const struct myr_queue *q, uint32_t busy)
{
    uint32_t seen = 0;
    for (size_t s = 0; s < q->sizes.count; s++) {
        uint32_t before = MYR_NONE;
        if ((s && q->sizes.items[s].gpus <= q->sizes.items[s - 1].gpus) ||
            q->sizes.items[s].first == MYR_NONE) {
            return false;
        }
        for (uint32_t at = q->sizes.items[s].first; at != MYR_NONE;
             at = q->lines.items[at].next_alike) {
            /* Each busy line is in one list of its size, and no other line is. */
            if (at >= q->lines.count || q->lines.items[at].gpus != q->sizes.items[s].gpus ||
                q->lines.items[at].first == MYR_NONE ||
                q->lines.items[at].previous_alike != before || ++seen > busy) {
                return false;
            }
            before = at;
        }
    }
    return seen == busy;
}

/* One job, as jobs.c counts it when it waits or runs. */
static void count_job(const struct myr_queue *q, const struct qjob *job, struct counts *ret)
{
    if (job->state == MYR_JOB_WAITS) {
        ret->waiting++;
        ret->reclaiming += job->spec.reclaims;
        ret->limited += job->spec.limit_s > 0;
        ret->elastic += job->spec.gpus_min > 0;
        ret->shaped += job->request != MYR_NONE;
    } else if (queue_is_on(job)) {
        ret->busy_gpus += job->spec.gpus;
        ret->priority_runs[job->spec.priority + MYR_PRIORITY_MAX]++;
        ret->big_runs += queue_is_large(q, job->spec.gpus, 4);
    }
}

static bool counts_sound(const struct myr_queue *q)
{
    struct counts counts = {};
    for (size_t i = 0; i < q->jobs.count; i++) {
        if (q->jobs.items[i].id != MYR_NONE) {
            count_job(q, &q->jobs.items[i], &counts);
        }
    }
    return counts.waiting == q->waiting && counts.reclaiming == q->reclaiming &&
           counts.limited == q->limited && counts.elastic == q->elastic &&
           counts.shaped == q->shaped && counts.big_runs == q->big_runs &&
           counts.busy_gpus == q->busy_gpus &&
           memcmp(counts.priority_runs, q->priority_runs, sizeof(counts.priority_runs)) == 0;
}

/* What tenants run and how many jobs they have, with those below them. */
static bool tenants_sound(const struct myr_queue *q)
{
    uint64_t *gpus = myr_xcalloc(q->tenant_count + UINT64_C(1), sizeof(*gpus));
    uint32_t *jobs = myr_xcalloc(q->tenant_count + UINT64_C(1), sizeof(*jobs));
    struct brothers *brothers = myr_xcalloc(q->tenant_count + UINT64_C(1), sizeof(*brothers));
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        for (uint32_t t = job->id == MYR_NONE ? MYR_NONE : job->spec.tenant; t != MYR_NONE;
             t = q->tenants[t].parent) {
            gpus[t] += queue_is_on(job) ? job->spec.gpus : 0;
            /* Blocked and held jobs do not count for their tenant. */
            jobs[t] += job->present;
        }
    }
    for (uint32_t t = 0; t < q->tenant_count; t++) {
        uint32_t parent = q->tenants[t].parent;
        struct brothers *b = &brothers[parent == MYR_NONE ? 0 : parent + 1];
        b->count += jobs[t] > 0;
        b->jobs += jobs[t];
        b->weight += jobs[t] == 0 ? 0 : q->tenants[t].weight ? q->tenants[t].weight : 1;
    }
    size_t count = q->tenant_count;
    bool sound = memcmp(gpus, q->tenant_gpus, count * sizeof(*gpus)) == 0 &&
                 memcmp(jobs, q->tenant_jobs, count * sizeof(*jobs)) == 0 &&
                 memcmp(brothers, q->brothers, (count + 1) * sizeof(*brothers)) == 0;
    free(gpus);
    free(jobs);
    free(brothers);
    return sound;
}

bool sound_lines(const struct myr_queue *q)
{
    uint64_t waiting = 0;
    uint32_t busy, with_jobs = 0;
    for (uint32_t at = 0; at < q->lines.count; at++) {
        if (!line_sound(q, at, &waiting)) {
            return false;
        }
        with_jobs += q->lines.items[at].first != MYR_NONE;
    }
    return waiting == q->waiting && busy_sound(q, &busy) && busy == with_jobs &&
           sizes_sound(q, busy) && counts_sound(q) && tenants_sound(q);
}
