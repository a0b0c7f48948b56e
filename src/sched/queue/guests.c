#include "queue/state.h"

/*
 * Who may run on nodes that are held for another: those that have a right to them, and those whose
 * limit ends before they are needed.
 */

/* Whether the job may run on nodes that are held for another. */
static bool may_share(const struct myr_queue *q, const struct hold *hold, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    MYR_SLOW_ASSERT(job->state == MYR_JOB_WAITS);
    if (id == hold->job || queue_outranks(q, id, hold->job)) {
        return id != hold->job;
    }
    /*
     * The nodes were the gang's own: whoever may be stopped runs there until it has the rest, but
     * for those who would leave nodes of their own for it.
     */
    return queue_job(q, hold->job)->broken && !job->spec.fixed && !job->broken;
}

/* The next that fits now and may; the hold's nodes are open. Sizes go as in next_line(). */
static uint32_t next_guest(const struct myr_queue *q, const struct hold *hold)
{
    const struct line *best = NULL;
    for (size_t s = 0; s < q->sizes.count; s++) {
        if (queue_none_fits(q, q->sizes.items[s].gpus)) {
            break;
        }
        for (uint32_t i = q->sizes.items[s].first; i != MYR_NONE;
             i = q->lines.items[i].next_alike) {
            const struct line *line = &q->lines.items[i];
            MYR_SLOW_ASSERT(line->first != MYR_NONE);
            MYR_SLOW_ASSERT(line->gpus == q->sizes.items[s].gpus);
            if (may_share(q, hold, line->first) && queue_may_start(q, line->first) &&
                (!best || queue_line_before(q, line, best))) {
                best = line;
            }
        }
    }
    return best ? best->first : MYR_NONE;
}

void queue_share_holds(struct myr_queue *q)
{
    /* Under 'fifo' nobody passes anybody. */
    for (size_t h = 0; h < q->holds.count && q->policy.order != MYR_ORDER_FIFO; h++) {
        const struct hold *hold = &q->holds.items[h];
        queue_set_held(q, hold, false);
        uint32_t id;
        while ((id = next_guest(q, hold)) != MYR_NONE) {
            MYR_ASSERT(id != hold->job);
            /* Who has a right to the nodes is no guest, and is not stopped as one. */
            bool by_right = queue_outranks(q, id, hold->job);
            if (queue_start(q, id) && !by_right) {
                MYR_PROBE("a guest starts on held nodes");
                MYR_ASSERT(queue_job(q, id)->state != MYR_JOB_WAITS);
                queue_job(q, id)->guest_of = hold->job;
            }
        }
        MYR_ASSERT(h < q->holds.count && hold == &q->holds.items[h]); /* starts drop no hold */
        queue_set_held(q, hold, true);
    }
    /* A guest may have been a job with a hold of its own. */
    if (queue_drop_holds(q)) {
        queue_start_what_fits(q);
    }
}

/*
 * Until when a short job may use a closed node without being in the way; INT64_MIN: not at all.
 * Under a hold, until the last job on the held nodes has reached its limit, if all have one; before
 * maintenance, until it begins.
 */
static int64_t usable_until_s(const struct myr_queue *q, uint32_t node, int64_t hold_until_s)
{
    MYR_ASSERT(node < q->shape.nodes);
    int64_t until_s = q->closed[node] & CLOSED_HOLD ? hold_until_s : INT64_MAX;
    /* Spares and nodes out of use are not lent. */
    if (q->closed[node] & (CLOSED_SPARE | (CLOSED_BAD & ~CLOSED_WINDOW))) {
        return INT64_MIN;
    }
    for (size_t w = 0; w < q->windows.count; w++) {
        const struct myr_window *window = &q->windows.items[w].spec;
        if (q->windows.items[w].cancelled) {
            continue; /* kept for whoever asks, but nothing happens then */
        }
        if (node >= window->first && node - window->first < window->count &&
            q->now_s < window->end_s && window->start_s < until_s) {
            until_s = window->start_s;
        }
    }
    return until_s;
}

/* When the last job on the held nodes has reached its limit; INT64_MIN: one has none. */
static int64_t hold_until_s(const struct myr_queue *q, const struct hold *hold)
{
    int64_t until_s = q->now_s;
    for (size_t i = 0; i < hold->nodes.count; i++) {
        uint32_t node = hold->nodes.items[i];
        for (uint32_t k = 0; k < q->node_job_count[node]; k++) {
            MYR_SLOW_ASSERT(node < q->shape.nodes);
            const struct qjob *job =
                queue_job(q, q->node_jobs[(size_t)node * q->shape.gpus_per_node + k]);
            MYR_ASSERT(queue_is_on(job));
            if (job->spec.limit_s == 0) {
                return INT64_MIN; /* nobody knows */
            }
            /* A limit is of work: what it has done already is behind it, a restart comes on top. */
            int64_t end_s = job->start_s + job->spec.limit_s - job->saved_s +
                            (job->stops ? q->policy.restart_s : 0);
            if (end_s <= q->now_s) {
                return INT64_MIN; /* it works longer than it said */
            }
            until_s = end_s > until_s ? end_s : until_s;
        }
    }
    return until_s;
}

/* Starts the job on this node if it ends in time there. */
static bool start_in_time(struct myr_queue *q, uint32_t id, uint32_t node, int64_t until_s)
{
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(job->request == MYR_NONE);
    MYR_ASSERT(!queue_is_gang(q, job->spec.gpus));
    MYR_ASSERT(node < q->shape.nodes);
    /* The restart counts in any case, though one that has never run needs none. */
    int64_t left_s = job->spec.limit_s - job->saved_s;
    uint64_t mask = myr_placer_free_mask(q->placer, node), taken = 0;
    /* Who has worked for longer than his limit ends nobody knows when, and not in the past. */
    if (left_s <= 0 || until_s < q->now_s + left_s + q->policy.restart_s ||
        gpu_count(mask) < job->spec.gpus) {
        return false;
    }
    struct myr_gang *gang = queue_gang_room(q, id);
    for (uint32_t i = 0; i < job->spec.gpus; i++) {
        taken |= mask & (0 - mask);
        mask &= mask - 1;
    }
    MYR_ASSERT(gpu_count(taken) == job->spec.gpus);
    myr_place_take(q->placer, node, taken);
    gang->count = 1;
    gang->shares[0] = (struct myr_share){node, taken};
    queue_run_job(q, id);
    MYR_ASSERT(queue_is_on(job) && job->gang.count == 1);
    return true;
}

/*
 * On the first node where it ends in time: nodes that are held, then those
 * about to be maintained.
 */
static bool backfill_job(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(queue_job(q, id)->spec.limit_s > 0);
    MYR_ASSERT(queue_job(q, id)->request == MYR_NONE);
    for (size_t h = 0; h < q->holds.count; h++) {
        const struct hold *hold = &q->holds.items[h];
        int64_t until_s = hold_until_s(q, hold);
        for (size_t i = 0; i < hold->nodes.count; i++) {
            uint32_t node = hold->nodes.items[i];
            if (start_in_time(q, id, node, usable_until_s(q, node, until_s))) {
                return true;
            }
        }
    }
    /* Nodes about to be maintained are of use until the window opens. */
    for (size_t w = 0; w < q->windows.count; w++) {
        const struct window *window = &q->windows.items[w];
        for (uint32_t i = 0; window->stage == 1 && i < window->spec.count; i++) {
            uint32_t node = window->spec.first + i;
            if (!(q->closed[node] & CLOSED_HOLD) &&
                start_in_time(q, id, node, usable_until_s(q, node, INT64_MAX))) {
                return true;
            }
        }
    }
    return false;
}

void queue_backfill(struct myr_queue *q)
{
    enum { LOOK_MAX = 16 }; /* jobs of a line */
    for (uint32_t i = q->busy_first; i != MYR_NONE;) {
        const struct line *line = &q->lines.items[i];
        /* Both are read before: a start takes the job out of its line, and may empty the line. */
        uint32_t next = line->next_busy, id = line->first;
        for (uint32_t looked = 0; id != MYR_NONE && looked < LOOK_MAX; looked++) {
            uint32_t behind = queue_job(q, id)->next;
            MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
            /* Only plain jobs of one node are looked for. */
            if (queue_job(q, id)->spec.limit_s > 0 && !queue_is_gang(q, line->gpus) &&
                line->request == MYR_NONE) {
                (void)backfill_job(q, id);
            }
            id = behind;
        }
        i = next;
    }
}

/*
 * Searches are repeated after QUEUE_RETRY_S, and less often the longer a job has waited in vain:
 * after one part of that in RETRY_SHARE, where nodes are held for it in four times as many.
 */
enum { RETRY_SHARE = 16, RETRY_HELD_SHARE = 64 };

/* How long until it searches again: longer the longer it has waited in vain. */
int64_t queue_retry_after_s(const struct myr_queue *q, uint32_t id)
{
    int64_t waited_s = queue_waited_s(q, id);
    MYR_ASSERT(waited_s >= 0);
    int64_t again_s = waited_s / (queue_has_hold(q, id) ? RETRY_HELD_SHARE : RETRY_SHARE);
    return again_s > QUEUE_RETRY_S ? again_s : QUEUE_RETRY_S;
}

/*
 * The first line in order of those of higher priority that ask for no more and wait to ask again;
 * who has asked in this very second does not.
 */
uint32_t queue_line_above(const struct myr_queue *q, uint32_t at)
{
    const struct line *line = &q->lines.items[at];
    uint32_t best = MYR_NONE;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *other = &q->lines.items[i];
        if (other->priority <= line->priority || other->gpus > line->gpus ||
            !(q->policy.preempt || other->reclaims)) {
            continue;
        }
        int64_t due_s = queue_job(q, other->first)->retry_s;
        if (due_s > q->now_s && due_s != q->now_s + queue_retry_after_s(q, other->first) &&
            (best == MYR_NONE || queue_line_before(q, other, &q->lines.items[best]))) {
            best = i;
        }
    }
    return best;
}
