#include <stdlib.h>

#include "queue/state.h"

/*
 * One part of the cluster in so many is held for gangs beside the first. Nodes are chosen anew
 * after CHOOSE_S: every time would cost a look at all nodes for each decision. A gang whose drain
 * cannot be afforded asks again after ASK_S. Large gangs are rare where none has run for RARE_S.
 */
enum { HOLD_SHARE = 8, CHOOSE_S = 60, ASK_S = 300, RARE_S = 24 * 3600 };

void queue_set_held(struct myr_queue *q, const struct hold *hold, bool held)
{
    for (size_t i = 0; i < hold->nodes.count; i++) {
        MYR_SLOW_ASSERT(hold->nodes.items[i] < q->shape.nodes);
        queue_close_node(q, hold->nodes.items[i], CLOSED_HOLD, held);
    }
}

bool queue_has_hold(const struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(id < q->job_count);
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
    MYR_ASSERT(hold->job < q->job_count);
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
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    MYR_SLOW_ASSERT(q->node_job_count[node] == 0 || q->node_oldest_s[node] <= q->now_s);
    return q->node_job_count[node] ? q->now_s - q->node_oldest_s[node] + 60 : 0;
}

/* A node and how long until it is likely to be free. */
struct choice {
    uint32_t node;
    int64_t ready_s;
};

/* The 'wanted' open nodes of a group that are free soonest, in that order; returns how many. */
static uint32_t pick_in_group(const struct myr_queue *q, uint32_t id, uint32_t group,
                              uint32_t wanted, struct choice *ret)
{
    uint32_t first = group * q->shape.group_nodes, end = first + q->shape.group_nodes, count = 0;
    MYR_ASSERT(wanted > 0);
    MYR_ASSERT(wanted <= q->shape.group_nodes);
    MYR_ASSERT(first < q->shape.nodes);
    end = end < q->shape.nodes ? end : q->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (q->closed[node] || !queue_suits(q, queue_job(q, id), node)) {
            continue;
        }
        struct choice choice = {node, queue_ready_s(q, node)};
        /* Inserted in order; what falls off the end is not among the wanted. */
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
    MYR_ASSERT(count <= wanted);
    MYR_SLOW_ASSERT(count < 2 || ret[count - 2].ready_s <= ret[count - 1].ready_s);
    return count;
}

/* The order by time and number is total, so the choice is the same on every machine. */
static bool ready_before(const struct choice *x, const struct choice *y)
{
    return x->ready_s != y->ready_s ? x->ready_s < y->ready_s : x->node < y->node;
}

/* Moves the 'wanted' first in order to the front, in any order among themselves. */
static void select_first(struct choice *all, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count;
    MYR_ASSERT(wanted > 0);
    while (high - low > 1 && wanted > low && wanted < high) {
        struct choice pivot = all[low + (high - low) / 2];
        uint32_t i = low, j = high - 1;
        for (;;) {
            while (ready_before(&all[i], &pivot)) {
                i++;
            }
            while (ready_before(&pivot, &all[j])) {
                j--;
            }
            if (i >= j) {
                break;
            }
            struct choice swap = all[i];
            all[i++] = all[j];
            all[j--] = swap;
        }
        /* No two are equal: they met on the pivot, or left of i all are before all from i on. */
        MYR_ASSERT(i >= low && i <= high);
        uint32_t right = i == j ? j + 1 : i;
        if (wanted >= j && wanted <= right && (i == j || wanted == i)) {
            return;
        }
        if (wanted < right) {
            high = i;
        } else {
            low = right;
        }
    }
}

/* Wherever they are: the nodes that are likely to be ready first. */
static void pick_anywhere(struct myr_queue *q, struct hold *hold, uint32_t needed)
{
    struct choice *all = myr_xcalloc(q->shape.nodes, sizeof(*all));
    uint32_t count = 0;
    MYR_ASSERT(hold->nodes.count == 0);
    MYR_ASSERT(needed > 0);
    MYR_ASSERT(needed <= q->shape.nodes);
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (!q->closed[node] && queue_suits(q, queue_job(q, hold->job), node)) {
            all[count++] = (struct choice){node, queue_ready_s(q, node)};
        }
    }
    select_first(all, count, needed);
    for (uint32_t i = 0; i < count && i < needed; i++) {
        MYR_ASSERT(!q->closed[all[i].node]);
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
    MYR_ASSERT(hold->nodes.count == 0);
    MYR_ASSERT(needed > 0);
    MYR_ASSERT(needed <= q->shape.nodes);
    while (needed > 0) {
        uint32_t wanted = needed < per ? needed : per, best_count = 0;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t count = pick_in_group(q, hold->job, g, wanted, picked);
            /*
             * The group with most of what is wanted, then the one whose last
             * node is ready first.
             */
            if (count > best_count || (count && count == best_count &&
                                       picked[count - 1].ready_s < best[count - 1].ready_s)) {
                memcpy(best, picked, count * sizeof(*best));
                best_count = count;
            }
        }
        if (best_count == 0) {
            break;
        }
        MYR_ASSERT(best_count <= wanted);
        for (uint32_t i = 0; i < best_count; i++) {
            MYR_ASSERT(!q->closed[best[i].node]);
            queue_close_node(q, best[i].node, CLOSED_HOLD, true);
            myr_vec_push(&hold->nodes, best[i].node);
        }
        MYR_ASSERT(best_count <= needed);
        needed -= best_count;
    }
    free(picked);
    free(best);
}

/* Open, empty and of use to the job. */
static bool is_idle(const struct myr_queue *q, uint32_t id, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return !q->closed[node] && q->node_job_count[node] == 0 &&
           queue_suits(q, queue_job(q, id), node);
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
    /* One walk over the nodes serves all: what was not idle before is not looked at again. */
    uint32_t idle = 0;
    for (size_t i = 0; i < hold->nodes.count; i++) {
        uint32_t node = hold->nodes.items[i];
        if (q->node_job_count[node] == 0) {
            continue;
        }
        while (idle < q->shape.nodes && !is_idle(q, hold->job, idle)) {
            idle++;
        }
        if (idle == q->shape.nodes) {
            break;
        }
        queue_close_node(q, node, CLOSED_HOLD, false);
        queue_close_node(q, idle, CLOSED_HOLD, true);
        MYR_ASSERT(idle != node && q->node_job_count[idle] == 0);
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
    MYR_ASSERT(queue_job(q, hold->job)->state == MYR_JOB_WAITS);
    uint32_t gpus = queue_job(q, hold->job)->spec.gpus;
    uint32_t needed = queue_nodes_of(q, queue_job(q, hold->job));
    bool anywhere = queue_waited_s(q, hold->job) >= queue_locality_s(q, gpus, q->policy.spread_s);
    /* Nothing has ended since, so the same nodes would be chosen again. */
    if (hold->chosen == q->ends && hold->anywhere == anywhere) {
        queue_set_held(q, hold, true);
        return;
    }
    /* UINT64_MAX: never chosen so far. */
    MYR_ASSERT(needed > 0 && needed <= q->shape.nodes);
    bool late = hold->chosen == UINT64_MAX || q->now_s - hold->chosen_s >= CHOOSE_S;
    MYR_ASSERT(hold->chosen == UINT64_MAX || hold->chosen_s <= q->now_s);
    hold->chosen = q->ends;
    hold->anywhere = anywhere;
    if ((!late || queue_overdue(q, hold->job)) && keep_nodes(q, hold, needed)) {
        return;
    }
    hold->chosen_s = q->now_s;
    hold->nodes.count = 0;
    if (anywhere) {
        pick_anywhere(q, hold, needed);
    } else {
        pick_groups(q, hold, needed);
    }
}

/*
 * Whether the nodes of a hold are likely to be free soon enough by themselves, and what stands idle
 * until then is left of the policy's share. To stop what would run for long is no cheap room: who
 * is stopped waits for as long as the gang runs.
 */
static bool can_afford(const struct myr_queue *q, const struct hold *hold)
{
    int64_t last_s = 0, longest_s = 0, sum_s = 0;
    for (size_t i = 0; i < hold->nodes.count; i++) {
        int64_t ready_s = queue_ready_s(q, hold->nodes.items[i]);
        longest_s = ready_s > longest_s ? ready_s : longest_s;
        if (q->policy.preempt && ready_s > q->policy.grace_s) {
            ready_s = q->policy.grace_s; /* then it is stopped */
        }
        last_s = ready_s > last_s ? ready_s : last_s;
        MYR_ASSERT(ready_s <= longest_s);
        sum_s += ready_s;
    }
    /* Each node stands idle from when it is ready until the last one is. */
    int64_t idle = (last_s * (int64_t)hold->nodes.count - sum_s) * q->shape.gpus_per_node;
    MYR_ASSERT(last_s >= 0 && idle >= 0);
    return longest_s <= q->policy.drain_s && idle <= q->drain_left / 1000000;
}

/* Large gangs that wait, up to two. */
static uint32_t large_waiting(const struct myr_queue *q)
{
    uint32_t count = 0;
    for (size_t s = q->sizes.count; s-- > 0 && count < 2;) {
        if (!queue_is_large(q, q->sizes.items[s].gpus, 2)) {
            break;
        }
        for (uint32_t i = q->sizes.items[s].first; i != MYR_NONE && count < 2;
             i = q->lines.items[i].next_alike) {
            /* A line of several jobs counts as two: more than one is all that is asked. */
            MYR_SLOW_ASSERT(q->lines.items[i].first != MYR_NONE);
            count += q->lines.items[i].first == q->lines.items[i].last ? 1 : 2;
        }
    }
    MYR_ASSERT(count <= 3);
    return count;
}

/* Of two that are due: who is further below its share, then who has waited longer. */
static bool held_before(const struct myr_queue *q, uint32_t id, uint32_t other)
{
    MYR_ASSERT(id != other);
    MYR_SLOW_ASSERT(!queue_outranks(q, id, other) || !queue_outranks(q, other, id));
    if (queue_outranks(q, id, other) || queue_outranks(q, other, id)) {
        return queue_outranks(q, id, other);
    }
    return queue_job(q, id)->since_s < queue_job(q, other)->since_s;
}

/*
 * The job that has waited longest and has no nodes held for it: an overdue one of any size (a whole
 * node may never come free by itself among small jobs), else a large gang beyond 'hold'. Where
 * another large one runs or waits, or did a while ago, the end of one makes room for the next at no
 * cost, and first-fit serves them well enough: then nothing is held for one before it is strict.
 */
static uint32_t next_to_hold(struct myr_queue *q)
{
    uint32_t best = MYR_NONE;
    int64_t soonest_s = INT64_MAX;
    bool best_due = false;
    /* Whether this gang would be the only large one for a day. */
    bool alone = q->big_runs == 0 && large_waiting(q) < 2 &&
                 q->now_s - (int64_t)q->big_last_min * 60 >= RARE_S;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        int64_t after_s = queue_hold_s(q, line->gpus);
        for (uint32_t id = line->first; id != MYR_NONE; id = queue_job(q, id)->next) {
            MYR_SLOW_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
            int64_t since_s = queue_job(q, id)->since_s;
            int64_t due_s = queue_after_s(since_s, after_s);
            if (due_s > q->now_s) {
                soonest_s = due_s < soonest_s ? due_s : soonest_s;
                break; /* those behind it have waited less */
            }
            bool due = queue_strict(q, id);
            if (!due &&
                (q->now_s < q->hold_retry_s || (!alone && queue_is_large(q, line->gpus, 2)))) {
                /* It is due and only has to wait for leave: the next scan must not pass it by. */
                soonest_s = q->now_s;
                break;
            }
            if (queue_has_hold(q, id)) {
                continue;
            }
            soonest_s = q->now_s;
            if (best == MYR_NONE || due > best_due ||
                (due == best_due && held_before(q, id, best))) {
                best = id;
                best_due = due;
            }
            break; /* those behind it have waited less */
        }
    }
    q->hold_scan_s = soonest_s;
    MYR_ASSERT(best == MYR_NONE || soonest_s == q->now_s);
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
    MYR_ASSERT(q->holds.count <= before);
    return q->holds.count < before;
}

/*
 * What is held for jobs that have to give way to this one anyway; returns the nodes. They would
 * hold it up for as long as others go before them.
 */
static size_t drop_outranked(struct myr_queue *q, uint32_t id)
{
    size_t nodes = 0;
    for (size_t i = 0; i < q->holds.count;) {
        if (!queue_outranks(q, id, q->holds.items[i].job)) {
            i++;
            continue;
        }
        MYR_ASSERT(q->holds.items[i].job != id); /* nobody outranks itself */
        nodes += q->holds.items[i].nodes.count;
        queue_set_held(q, &q->holds.items[i], false);
        remove_hold(q, i);
    }
    return nodes;
}

void queue_hold_place(struct myr_queue *q, uint32_t id, const struct myr_share *shares,
                      uint32_t count)
{
    struct hold hold = {.job = id, .chosen = q->ends, .chosen_s = q->now_s, .since_s = q->now_s};
    MYR_ASSERT(!queue_has_hold(q, id) && queue_job(q, id)->broken);
    for (uint32_t i = 0; i < count; i++) {
        /* Bad ones too, for when they are well; two holds never share a node. */
        if (!(q->closed[shares[i].node] & CLOSED_HOLD)) {
            myr_vec_push(&hold.nodes, shares[i].node);
        }
    }
    queue_set_held(q, &hold, true);
    myr_vec_push(&q->holds, hold);
}

const struct hold *queue_hold_of(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            return &q->holds.items[i];
        }
    }
    return NULL;
}

/* No nodes are to be had for a large gang now. */
static void ask_later(struct myr_queue *q)
{
    q->hold_retry_s = q->now_s + ASK_S;
    MYR_ASSERT(q->hold_retry_s > q->now_s);
    queue_wake_at(q, q->hold_retry_s);
}

/* Nodes are held for who has waited long enough; what is held stands idle as it drains. */
static void open_holds(struct myr_queue *q)
{
    size_t held = 0;
    if (q->now_s < q->hold_scan_s) {
        return;
    }
    for (size_t i = 0; i < q->holds.count; i++) {
        held += q->holds.items[i].nodes.count;
    }
    while (q->holds.count < q->policy.holds_max) {
        uint32_t id = next_to_hold(q);
        /* Who may start now does so without nodes held for it. */
        if (id == MYR_NONE || queue_may_start(q, id)) {
            return;
        }
        MYR_ASSERT(!queue_has_hold(q, id));
        size_t dropped = queue_strict(q, id) ? drop_outranked(q, id) : 0;
        MYR_PROBE("nodes are to be held for a gang");
        MYR_ASSERT(dropped <= held);
        held -= dropped;
        uint32_t needed = queue_nodes_of(q, queue_job(q, id));
        if (q->holds.count && needed + held > q->shape.nodes / HOLD_SHARE) {
            return; /* one gang at a time if it is large */
        }
        struct hold hold = {.job = id, .chosen = UINT64_MAX, .since_s = q->now_s};
        choose_nodes(q, &hold);
        MYR_ASSERT(hold.nodes.count <= needed);
        if (!queue_strict(q, id) && !can_afford(q, &hold)) {
            queue_set_held(q, &hold, false);
            myr_vec_done(&hold.nodes);
            ask_later(q);
            continue; /* a strict one needs no leave */
        }
        held += needed;
        myr_vec_push(&q->holds, hold);
        /* By then it may stop what is left on its nodes. */
        if (q->policy.preempt) {
            queue_wake_at(q, q->now_s + q->policy.grace_s);
        }
    }
}

void queue_serve_holds(struct myr_queue *q)
{
    for (size_t i = 0; i < q->holds.count;) {
        struct hold *hold = &q->holds.items[i];
        uint32_t id = hold->job;
        bool over = queue_job(q, id)->state != MYR_JOB_WAITS;
        /* Open while this is decided: the gang, and who goes before it, may use them. */
        queue_set_held(q, hold, false);
        if (!over) {
            queue_start_above(q, id); /* what is held gives way to those */
            MYR_ASSERT(i < q->holds.count && q->holds.items[i].job == id);
            if (queue_may_start(q, id) && queue_start(q, id)) {
                over = true;
            } else if (queue_job(q, id)->broken) {
                queue_set_held(q, hold, true); /* they were its own, and stay the same */
            } else if (q->drain_left < 0 && !queue_strict(q, id)) {
                MYR_PROBE("a hold has cost too much");
                over = true; /* all that was saved is spent: it would cost the others too much */
                ask_later(q);
            } else {
                choose_nodes(q, hold);
            }
        }
        if (over) {
            MYR_ASSERT(q->holds.items[i].job == id);
            remove_hold(q, i);
        } else {
            i++;
        }
    }
    if (q->policy.hold_s > 0 || q->policy.patience_s > 0) {
        open_holds(q);
    }
}

/* Whether what is held for a job is open to another that asks with this priority. */
static bool gives_way(const struct myr_queue *q, uint32_t held, uint32_t id, int32_t priority)
{
    const struct myr_queue_job *spec = &queue_job(q, id)->spec, *other = &queue_job(q, held)->spec;
    if (held == id || other->priority != priority) {
        return held == id || other->priority < priority;
    }
    /* With its own priority also by shares; with another one, a trial, by priority alone. */
    return spec->priority == priority && queue_outranks(q, id, held);
}

void queue_lift_holds(struct myr_queue *q, uint32_t id, int32_t priority, bool lifted)
{
    MYR_ASSERT(id < q->job_count);
    MYR_ASSERT(priority >= -MYR_PRIORITY_MAX);
    for (size_t i = 0; i < q->holds.count; i++) {
        /* All are closed again: who gives way to whom may have changed with what was started. */
        if (!lifted || gives_way(q, q->holds.items[i].job, id, priority)) {
            queue_set_held(q, &q->holds.items[i], !lifted);
        }
    }
}

int64_t queue_held_s(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            MYR_ASSERT(q->holds.items[i].since_s <= q->now_s);
            return q->now_s - q->holds.items[i].since_s;
        }
    }
    return -1;
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
