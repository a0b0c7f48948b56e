#include "queue/state.h"

/* It fits on open nodes, and near enough or it has waited for that long enough. */
static bool fits_near(const struct myr_queue *q, uint32_t id)
{
    uint32_t gpus = queue_job(q, id)->spec.gpus;
    if (!myr_place_fits(q->placer, gpus)) {
        return false;
    }
    return !queue_is_gang(q, gpus) ||
           queue_waited_s(q, id) >= queue_locality_s(q, gpus, q->policy.locality_s) ||
           myr_place_fits_group(q->placer, gpus);
}

bool queue_may_start(const struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    uint32_t gpus = job->spec.gpus;
    if (job->blocked_pass != q->pass && queue_fits_own(q, job->spec.tenant, gpus)) {
        return true;
    }
    return fits_near(q, id);
}

/* The tenants from the root down to 't'; returns how many. */
static uint32_t path_of(const struct myr_queue *q, uint32_t t, uint32_t ret[MYR_TENANT_DEPTH_MAX])
{
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

static uint64_t weight_of(const struct myr_queue *q, uint32_t t)
{
    return q->tenants[t].weight ? q->tenants[t].weight : 1;
}

/*
 * Below 0 when a's tenant would run less for its weight with the job than b's: compared where their
 * families part, so that a large organisation with many teams gets no more than one with few.
 */
static int compare_share(const struct myr_queue *q, const struct line *a, const struct line *b)
{
    uint64_t x = a->gpus, y = b->gpus;
    if (a->tenant != b->tenant) {
        uint32_t path_a[MYR_TENANT_DEPTH_MAX], path_b[MYR_TENANT_DEPTH_MAX];
        uint32_t depth_a = path_of(q, a->tenant, path_a), depth_b = path_of(q, b->tenant, path_b);
        uint32_t d = 0;
        while (d < depth_a && d < depth_b && path_a[d] == path_b[d]) {
            d++;
        }
        if (d == depth_a || d == depth_b) {
            return d == depth_a ? -1 : 1; /* the parent's own job before the child's */
        }
        x = (q->tenant_gpus[path_a[d]] + x) * weight_of(q, path_b[d]);
        y = (q->tenant_gpus[path_b[d]] + y) * weight_of(q, path_a[d]);
    }
    return x < y ? -1 : x > y;
}

bool queue_line_before(const struct myr_queue *q, const struct line *a, const struct line *b)
{
    bool fair = q->policy.order == MYR_ORDER_FAIR;
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (fair && a->tenant != b->tenant) {
        uint32_t excess_a = queue_excess(q, a->tenant), excess_b = queue_excess(q, b->tenant);
        if (excess_a != excess_b) {
            return excess_a < excess_b;
        }
    }
    int64_t since_a = queue_job(q, a->first)->since_s, since_b = queue_job(q, b->first)->since_s;
    if (since_a != since_b) {
        return since_a < since_b;
    }
    int share = fair ? compare_share(q, a, b) : 0;
    return share != 0 ? share < 0 : a->first < b->first;
}

bool queue_outranks(const struct myr_queue *q, uint32_t id, uint32_t other)
{
    const struct myr_queue_job *a = &queue_job(q, id)->spec, *b = &queue_job(q, other)->spec;
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return q->policy.order == MYR_ORDER_FAIR && a->tenant != b->tenant &&
           queue_excess(q, a->tenant) < queue_excess(q, b->tenant);
}

static bool fits_own(const struct myr_queue *q, const struct line *line)
{
    return queue_job(q, line->first)->blocked_pass != q->pass &&
           queue_fits_own(q, line->tenant, line->gpus);
}

/* The first line in order, whether or not it fits; those with room of their own are apart. */
static const struct line *next_blocking(const struct myr_queue *q)
{
    const struct line *best = NULL, *best_own = NULL;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        if (fits_own(q, line) && (!best_own || queue_line_before(q, line, best_own))) {
            best_own = line;
        }
        if (!best || queue_line_before(q, line, best)) {
            best = line;
        }
    }
    return best && queue_may_start(q, best->first) ? best : best_own;
}

/*
 * The line whose first job is next among those that may start, and outrank 'above' unless that is
 * MYR_NONE; NULL when none may. Sizes are looked at from the smallest on: where one does not fit
 * no larger one does, so a long queue for a full cluster costs one question. Cells of their own
 * are beside that order.
 */
static const struct line *next_line(const struct myr_queue *q, uint32_t above)
{
    const struct line *best = NULL;
    for (size_t s = 0; s < q->sizes.count; s++) {
        if (!q->cells && !myr_place_fits(q->placer, q->sizes.items[s].gpus)) {
            break;
        }
        for (uint32_t i = q->sizes.items[s].first; i != MYR_NONE;
             i = q->lines.items[i].next_alike) {
            const struct line *line = &q->lines.items[i];
            if ((!best || queue_line_before(q, line, best)) && queue_may_start(q, line->first) &&
                (above == MYR_NONE || queue_outranks(q, line->first, above))) {
                best = line;
            }
        }
    }
    return best;
}

bool queue_start(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    if (queue_fits_own(q, job->spec.tenant, job->spec.gpus)) {
        if (queue_start_own(q, id, false)) {
            return true;
        }
        /* Borrowers are stopped only where there is no other room. */
        if (!fits_near(q, id)) {
            bool started = queue_start_own(q, id, true);
            job->blocked_pass = started ? job->blocked_pass : q->pass;
            return started;
        }
    }
    bool placed = myr_place(q->placer, job->spec.gpus, queue_gang_room(q, id));
    MYR_ASSERT(placed);
    queue_run_job(q, id);
    return true;
}

void queue_start_what_fits(struct myr_queue *q)
{
    bool blocks = q->policy.order == MYR_ORDER_FIFO;
    for (;;) {
        const struct line *line = blocks ? next_blocking(q) : next_line(q, MYR_NONE);
        if (!line) {
            return;
        }
        (void)queue_start(q, line->first); /* what cannot start does not count as fitting now */
    }
}

void queue_start_above(struct myr_queue *q, uint32_t id)
{
    for (const struct line *line = next_line(q, id); line; line = next_line(q, id)) {
        (void)queue_start(q, line->first);
    }
}
