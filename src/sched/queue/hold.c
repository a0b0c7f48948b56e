#include <stdlib.h>

#include "queue/state.h"

/* One part of the cluster in so many is held for gangs beside the first. */
enum { HOLD_SHARE = 8 };

void queue_set_held(struct myr_queue *q, const struct hold *hold, bool held)
{
    for (size_t i = 0; i < hold->nodes.count; i++) {
        queue_close_node(q, hold->nodes.items[i], CLOSED_HOLD, held);
    }
}

bool queue_has_hold(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            return true;
        }
    }
    return false;
}

/* Its nodes are open already. */
static void remove_hold(struct myr_queue *q, size_t at)
{
    MYR_ASSERT(at < q->holds.count);
    struct hold *hold = &q->holds.items[at];
    myr_vec_done(&hold->nodes);
    memmove(hold, hold + 1, (q->holds.count - at - 1) * sizeof(*hold));
    q->holds.count--;
}

/*
 * Job lengths have heavy tails: what has run for long will run for about as long again, so the
 * oldest job on the node decides.
 */
int64_t queue_ready_s(const struct myr_queue *q, uint32_t node)
{
    return q->node_job_count[node] ? q->now_s - q->node_oldest_s[node] + 60 : 0;
}

struct choice {
    uint32_t node;
    int64_t ready_s;
};

/* The 'wanted' open nodes of a group that are free soonest, in that order; returns how many. */
static uint32_t pick_in_group(const struct myr_queue *q, uint32_t group, uint32_t wanted,
                              struct choice *ret)
{
    uint32_t first = group * q->shape.group_nodes, end = first + q->shape.group_nodes, count = 0;
    end = end < q->shape.nodes ? end : q->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (q->closed[node]) {
            continue;
        }
        struct choice choice = {node, queue_ready_s(q, node)};
        uint32_t at = count;
        for (; at > 0 && ret[at - 1].ready_s > choice.ready_s; at--) {
            if (at < wanted) {
                ret[at] = ret[at - 1];
            }
        }
        if (at < wanted) {
            ret[at] = choice;
            count += count < wanted;
        }
    }
    return count;
}

static int by_ready(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->ready_s != y->ready_s) {
        return x->ready_s < y->ready_s ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Wherever they are: the nodes that are likely to be ready first. */
static void pick_anywhere(struct myr_queue *q, struct hold *hold, uint32_t needed)
{
    struct choice *all = myr_xcalloc(q->shape.nodes, sizeof(*all));
    uint32_t count = 0;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (!q->closed[node]) {
            all[count++] = (struct choice){node, queue_ready_s(q, node)};
        }
    }
    qsort(all, count, sizeof(*all), by_ready);
    for (uint32_t i = 0; i < count && i < needed; i++) {
        myr_vec_push(&hold->nodes, all[i].node);
        queue_close_node(q, all[i].node, CLOSED_HOLD, true);
    }
    free(all);
}

/* Group by group: each time the one that is likely to be ready first. */
static void pick_groups(struct myr_queue *q, struct hold *hold, uint32_t needed)
{
    uint32_t per = q->shape.group_nodes, groups = (q->shape.nodes + per - 1) / per;
    struct choice *picked = myr_xcalloc(per, sizeof(*picked));
    struct choice *best = myr_xcalloc(per, sizeof(*best));
    while (needed > 0) {
        uint32_t wanted = needed < per ? needed : per, best_count = 0;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t count = pick_in_group(q, g, wanted, picked);
            if (count > best_count || (count && count == best_count &&
                                       picked[count - 1].ready_s < best[count - 1].ready_s)) {
                memcpy(best, picked, count * sizeof(*best));
                best_count = count;
            }
        }
        if (best_count == 0) {
            break;
        }
        for (uint32_t i = 0; i < best_count; i++) {
            queue_close_node(q, best[i].node, CLOSED_HOLD, true);
            myr_vec_push(&hold->nodes, best[i].node);
        }
        needed -= best_count;
    }
    free(picked);
    free(best);
}

static bool is_idle(const struct myr_queue *q, uint32_t node)
{
    return !q->closed[node] && q->node_job_count[node] == 0;
}

/* Nodes that still work are given up for free ones; false when the hold must be chosen anew. */
static bool keep_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed)
{
    if (hold->nodes.count < needed) {
        return false;
    }
    for (size_t i = 0; i < hold->nodes.count; i++) {
        if (q->closed[hold->nodes.items[i]]) {
            return false; /* lost, or about to be maintained */
        }
    }
    for (size_t i = 0; i < hold->nodes.count; i++) {
        queue_close_node(q, hold->nodes.items[i], CLOSED_HOLD, true);
    }
    uint32_t idle = 0;
    for (size_t i = 0; i < hold->nodes.count; i++) {
        uint32_t node = hold->nodes.items[i];
        if (q->node_job_count[node] == 0) {
            continue;
        }
        while (idle < q->shape.nodes && !is_idle(q, idle)) {
            idle++;
        }
        if (idle == q->shape.nodes) {
            break;
        }
        queue_close_node(q, node, CLOSED_HOLD, false);
        queue_close_node(q, idle, CLOSED_HOLD, true);
        hold->nodes.items[i] = idle;
    }
    return true;
}

/*
 * Chooses the nodes anew if anything has ended: what is free now counts at once. The nodes of an
 * overdue job stay: nothing new starts on them, so they are free some day, whereas the likeliest
 * ones may change for ever. The hold's nodes are open when this is called.
 */
static void choose_nodes(struct myr_queue *q, struct hold *hold)
{
    uint32_t gpus = queue_job(q, hold->job)->spec.gpus;
    uint32_t needed = myr_place_nodes(q->placer, gpus);
    bool anywhere = queue_waited_s(q, hold->job) >= queue_locality_s(q, gpus, q->policy.spread_s);
    if (hold->chosen == q->ends && hold->anywhere == anywhere) {
        queue_set_held(q, hold, true);
        return;
    }
    hold->chosen = q->ends;
    hold->anywhere = anywhere;
    if (queue_overdue(q, hold->job) && keep_nodes(q, hold, needed)) {
        return;
    }
    hold->nodes.count = 0;
    if (anywhere) {
        pick_anywhere(q, hold, needed);
    } else {
        pick_groups(q, hold, needed);
    }
}

/*
 * The job that has waited longest and has no nodes held for it: a gang beyond 'hold', one that fits
 * on a node only when overdue (a whole node may never come free by itself among small jobs).
 */
static uint32_t next_to_hold(const struct myr_queue *q)
{
    uint32_t best = MYR_NONE;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        int64_t after_s =
            queue_is_gang(q, line->gpus) ? queue_hold_s(q, line->gpus) : q->policy.patience_s;
        for (uint32_t id = line->first; id != MYR_NONE && after_s > 0;
             id = queue_job(q, id)->next) {
            if (queue_waited_s(q, id) < after_s) {
                break; /* those behind it have waited less */
            }
            if (queue_has_hold(q, id)) {
                continue;
            }
            if (best == MYR_NONE || queue_job(q, id)->since_s < queue_job(q, best)->since_s) {
                best = id;
            }
            break;
        }
    }
    return best;
}

bool queue_drop_holds(struct myr_queue *q)
{
    size_t before = q->holds.count;
    for (size_t i = 0; i < q->holds.count;) {
        if (queue_job(q, q->holds.items[i].job)->state == MYR_JOB_WAITS) {
            i++;
            continue;
        }
        queue_set_held(q, &q->holds.items[i], false);
        remove_hold(q, i);
    }
    return q->holds.count < before;
}

void queue_serve_holds(struct myr_queue *q)
{
    for (size_t i = 0; i < q->holds.count;) {
        struct hold *hold = &q->holds.items[i];
        uint32_t id = hold->job;
        bool over = queue_job(q, id)->state != MYR_JOB_WAITS;
        queue_set_held(q, hold, false);
        if (!over) {
            if (queue_may_start(q, id) && queue_start(q, id)) {
                over = true;
            } else {
                choose_nodes(q, hold);
            }
        }
        if (over) {
            remove_hold(q, i);
        } else {
            i++;
        }
    }
    uint32_t held = 0;
    for (size_t i = 0; i < q->holds.count; i++) {
        held += (uint32_t)q->holds.items[i].nodes.count;
    }
    while (q->policy.hold_s > 0 && q->holds.count < q->policy.holds_max) {
        uint32_t id = next_to_hold(q);
        if (id == MYR_NONE || queue_may_start(q, id)) {
            break;
        }
        uint32_t needed = myr_place_nodes(q->placer, queue_job(q, id)->spec.gpus);
        if (q->holds.count && needed + held > q->shape.nodes / HOLD_SHARE) {
            break; /* what is held stands idle as it drains; one gang at a time if it is large */
        }
        held += needed;
        struct hold hold = {.job = id, .chosen = UINT64_MAX};
        choose_nodes(q, &hold);
        myr_vec_push(&q->holds, hold);
    }
}

void queue_lift_holds(struct myr_queue *q, uint32_t id, int32_t priority, bool lifted)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        uint32_t job = q->holds.items[i].job;
        if (job == id || (queue_job(q, job)->spec.priority < priority && !queue_overdue(q, job))) {
            queue_set_held(q, &q->holds.items[i], !lifted);
        }
    }
}

void queue_drop_hold(struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            remove_hold(q, i);
            return;
        }
    }
}
