#include "queue/state.h"

/*
 * Who is next. Under 'fifo' the first line blocks all others; otherwise those that do not fit are
 * passed over.
 */

/* It fits on open nodes, and near enough or it has waited for that long enough. */
static bool fits_near(const struct myr_queue *q, uint32_t id)
{
    MYR_SLOW_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    if (queue_job(q, id)->request != MYR_NONE) {
        return queue_request_fits((struct myr_queue *)q, id); /* it keeps what it counted */
    }
    uint32_t gpus = queue_job(q, id)->spec.gpus;
    if (!myr_place_fits(q->placer, gpus)) {
        return false;
    }
    /* A job on one node is always near; a gang waits for few groups, but only for some time. */
    return !queue_is_gang(q, gpus) ||
           queue_waited_s(q, id) >= queue_locality_s(q, gpus, q->policy.locality_s) ||
           myr_place_fits_group(q->placer, gpus);
}

bool queue_may_start(const struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    uint32_t gpus = job->spec.gpus;
    /* Cells that turned out to have no node that is well are not asked twice in one decision. */
    MYR_SLOW_ASSERT(job->id == id && gpus > 0);
    if (job->request == MYR_NONE && job->blocked_pass != q->pass &&
        queue_fits_own(q, job->spec.tenant, gpus)) {
        return true;
    }
    return fits_near(q, id);
}

/* The same for a line: whether its tenant's cells may have room for the first job. */
static bool fits_own(const struct myr_queue *q, const struct line *line)
{
    MYR_SLOW_ASSERT(line->first != MYR_NONE);
    return line->request == MYR_NONE && queue_job(q, line->first)->blocked_pass != q->pass &&
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
    /* Who blocks the nodes of all does not block the cells of others. */
    MYR_ASSERT((best == NULL) == (q->busy_first == MYR_NONE));
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
        if (queue_none_fits(q, q->sizes.items[s].gpus)) {
            break;
        }
        for (uint32_t i = q->sizes.items[s].first; i != MYR_NONE;
             i = q->lines.items[i].next_alike) {
            const struct line *line = &q->lines.items[i];
            MYR_SLOW_ASSERT(line->first != MYR_NONE && line->gpus == q->sizes.items[s].gpus);
            /* The order is cheaper to compare than room is to find. */
            if ((!best || queue_line_before(q, line, best)) && queue_may_start(q, line->first) &&
                (above == MYR_NONE || queue_outranks(q, line->first, above))) {
                best = line;
            }
        }
    }
    return best;
}

/* On the nodes of all, where it fits: that was asked before. */
static void place(struct myr_queue *q, uint32_t id)
{
    uint32_t gpus = queue_job(q, id)->spec.gpus;
    struct myr_gang *gang = queue_gang_room(q, id);
    bool placed = myr_place(q->placer, gpus, gang);
    MYR_ASSERT(placed);
    MYR_ASSERT(gang->count > 0);
    MYR_ASSERT(gang->count <= queue_nodes_of(q, queue_job(q, id)));
}

bool queue_start(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(job->pending == 0);
    if (job->request != MYR_NONE) {
        return queue_request_start(q, id, queue_nodes_of(q, job));
    }
    /* In cells of its own without harm to anybody, else on the nodes of all, else by force. */
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
    place(q, id);
    queue_run_job(q, id);
    MYR_ASSERT(queue_is_on(job));
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
        MYR_ASSERT(line->first != MYR_NONE);
        (void)queue_start(q, line->first); /* what cannot start does not count as fitting now */
    }
}

void queue_start_above(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(id < q->job_count);
    for (const struct line *line = next_line(q, id); line; line = next_line(q, id)) {
        (void)queue_start(q, line->first);
    }
}
