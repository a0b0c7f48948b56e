#include "queue/state.h"

/*
 * Which of two lines goes first: priority, level, excess of the tenant, age, and last what the
 * tenants run for their weight. The number of the job decides what is left, so the order is total
 * and the same everywhere.
 */

/* The tenants from the root down to 't'; returns how many. */
static uint32_t path_of(const struct myr_queue *q, uint32_t t, uint32_t ret[MYR_TENANT_DEPTH_MAX])
{
    MYR_ASSERT(t < q->tenant_count);
    uint32_t depth = 0;
    for (uint32_t a = t; a != MYR_NONE; a = q->tenants[a].parent) {
        depth++;
    }
    MYR_ASSERT(depth <= MYR_TENANT_DEPTH_MAX);
    uint32_t at = depth;
    for (uint32_t a = t; a != MYR_NONE; a = q->tenants[a].parent) {
        ret[--at] = a;
    }
    return depth;
}

/* A weight that was not given counts as 1. */
static uint64_t weight_of(const struct myr_queue *q, uint32_t t)
{
    MYR_SLOW_ASSERT(t < q->tenant_count);
    return q->tenants[t].weight ? q->tenants[t].weight : 1;
}

/*
 * Below 0 when a's tenant would run less for its weight with the job than b's: compared where their
 * families part, so that a large organisation with many teams gets no more than one with few. What
 * equals send at one moment goes as it came.
 */
static int compare_share(const struct myr_queue *q, const struct line *a, const struct line *b)
{
    uint64_t x = 0, y = 0;
    if (a->tenant != b->tenant) {
        uint32_t path_a[MYR_TENANT_DEPTH_MAX], path_b[MYR_TENANT_DEPTH_MAX];
        uint32_t depth_a = path_of(q, a->tenant, path_a), depth_b = path_of(q, b->tenant, path_b);
        MYR_ASSERT(depth_a > 0 && depth_b > 0);
        uint32_t d = 0;
        while (d < depth_a && d < depth_b && path_a[d] == path_b[d]) {
            d++;
        }
        if (d == depth_a || d == depth_b) {
            return d == depth_a ? -1 : 1; /* the parent's own job before the child's */
        }
        /* Equals of equal weight go as they came: who runs more at the moment is chance. */
        if (weight_of(q, path_a[d]) == weight_of(q, path_b[d])) {
            return 0;
        }
        x = (q->tenant_gpus[path_a[d]] + a->gpus) * weight_of(q, path_b[d]);
        y = (q->tenant_gpus[path_b[d]] + b->gpus) * weight_of(q, path_a[d]);
    }
    return x < y ? -1 : x > y;
}

/* Who has given way to others for long enough does so no more, and stands in the highest level. */
static uint32_t level_of(const struct myr_queue *q, const struct line *line)
{
    MYR_SLOW_ASSERT(line->level < MYR_QUEUE_LEVELS);
    bool yielded = q->policy.yield_s > 0 && q->now_s - line->since_s >= q->policy.yield_s;
    return yielded ? 0 : line->level;
}

bool queue_line_before(const struct myr_queue *q, const struct line *a, const struct line *b)
{
    MYR_SLOW_ASSERT(a->first != MYR_NONE && b->first != MYR_NONE);
    bool fair = q->policy.order == MYR_ORDER_FAIR;
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    uint32_t level_a = level_of(q, a), level_b = level_of(q, b);
    if (level_a != level_b) {
        return level_a < level_b;
    }
    if (fair && a->tenant != b->tenant) {
        uint32_t excess_a = queue_excess(q, a->tenant), excess_b = queue_excess(q, b->tenant);
        if (excess_a != excess_b) {
            return excess_a < excess_b;
        }
    }
    /* Age counts among equals alone: a flood must not win by coming early. */
    if (a->since_s != b->since_s) {
        return a->since_s < b->since_s;
    }
    int share = fair ? compare_share(q, a, b) : 0;
    return share != 0 ? share < 0 : a->first < b->first;
}

bool queue_outranks(const struct myr_queue *q, uint32_t id, uint32_t other)
{
    MYR_SLOW_ASSERT(id < q->job_count && other < q->job_count);
    const struct myr_queue_job *a = &queue_job(q, id)->spec, *b = &queue_job(q, other)->spec;
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    /* What a gang kept when it lost nodes is its own, whatever its tenant has used since. */
    bool broken = queue_job(q, id)->broken, other_broken = queue_job(q, other)->broken;
    if (broken != other_broken) {
        return broken;
    }
    return q->policy.order == MYR_ORDER_FAIR && a->tenant != b->tenant &&
           queue_excess(q, a->tenant) < queue_excess(q, b->tenant);
}
