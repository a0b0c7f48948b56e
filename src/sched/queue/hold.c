#include <stdlib.h>

#include "queue/state.h"

/*
 * Who has waited too long has nodes held: nothing new starts on them, so some day they are free.
 * Gangs and jobs of one node are served apart, each kind in the order in which its jobs are due:
 * else a flood of small ones that are due would stand before every gang, and the other way round.
 *
 * More nodes are held than are needed, HOLD_TIMES as many: the half of them that drains first is
 * enough. Were it only as many, the gang would wait for the one that drains last: with eight jobs
 * of equal mean length on each of 41 nodes four times as long, and more GPU time would stand idle
 * for it. Of each kind one job at a time has nodes held, and others beside it, HOLDS_MAX in all, as
 * long as one part of the cluster in HOLD_SHARE holds all of them.
 */
enum { HOLD_TIMES = 2, HOLD_SHARE = 8, HOLDS_MAX = 8, SCAN_S = 60 };

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

/* The nodes that are likely to be ready first, wherever they are. */
static void pick_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed)
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

/* How many nodes are held for a job: as many as needed where it may stop what does not drain. */
static uint32_t wanted_nodes(const struct myr_queue *q, uint32_t id)
{
    uint32_t needed = queue_nodes_of(q, queue_job(q, id));
    MYR_ASSERT(needed > 0);
    if (q->policy.preempt) {
        return needed;
    }
    return needed < q->shape.nodes / HOLD_TIMES ? needed * HOLD_TIMES : q->shape.nodes;
}

/*
 * Chosen once, by likely ends; then the nodes stay, or the likeliest ones might change for ever,
 * but for those that come free by luck, which count at once. The hold's nodes are open when this is
 * called.
 */
static void choose_nodes(struct myr_queue *q, struct hold *hold)
{
    MYR_ASSERT(queue_job(q, hold->job)->state == MYR_JOB_WAITS);
    uint32_t wanted = wanted_nodes(q, hold->job);
    /* Nothing has ended since, so the same nodes would be chosen again. */
    if (hold->chosen == q->ends && hold->nodes.count >= wanted) {
        queue_set_held(q, hold, true);
        return;
    }
    /* UINT64_MAX: never chosen so far. */
    hold->chosen = q->ends;
    if (!keep_nodes(q, hold, wanted)) {
        hold->nodes.count = 0;
        pick_nodes(q, hold, wanted);
    }
}

enum hold_kind { HOLD_GANGS, HOLD_SMALL, HOLD_KINDS };

static enum hold_kind kind_of(const struct myr_queue *q, uint32_t gpus)
{
    return queue_is_gang(q, gpus) ? HOLD_GANGS : HOLD_SMALL;
}

/* What decides who of two that are due has nodes held first; each beside the next. */
struct rank {
    int32_t priority;
    uint32_t excess;
    int64_t since_s;
    uint32_t job; /* MYR_NONE: nobody */
};

static bool ranks_before(const struct rank *a, const struct rank *b)
{
    if (b->job == MYR_NONE || a->priority != b->priority) {
        return b->job == MYR_NONE || a->priority > b->priority;
    }
    if (a->excess != b->excess) {
        return a->excess < b->excess;
    }
    return a->since_s != b->since_s ? a->since_s < b->since_s : a->job < b->job;
}

/* The first of a line that has no nodes held and has waited since 'until_s'; or MYR_NONE. */
static uint32_t first_without(const struct myr_queue *q, const struct line *line, int64_t until_s)
{
    uint32_t id = line->first;
    while (id != MYR_NONE && queue_job(q, id)->since_s <= until_s && queue_has_hold(q, id)) {
        id = queue_job(q, id)->next;
    }
    return id != MYR_NONE && queue_job(q, id)->since_s <= until_s ? id : MYR_NONE;
}

/*
 * Of each kind the job that is due before all others without nodes; or MYR_NONE. There may be ten
 * thousand lines: most are told by what stands in the line itself.
 */
static void next_to_hold(struct myr_queue *q, uint32_t ret[HOLD_KINDS])
{
    struct rank best[HOLD_KINDS] = {{.job = MYR_NONE}, {.job = MYR_NONE}};
    int64_t until_s = q->now_s - queue_hold_s(q), soonest_s = q->now_s + SCAN_S;
    bool fair = q->policy.order == MYR_ORDER_FAIR, none = true;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        if (line->since_s > until_s) {
            /* What is usual may change, but nobody is due before the policy's patience. */
            int64_t next_s = line->since_s + q->policy.patience_s;
            soonest_s = next_s > q->now_s && next_s < soonest_s ? next_s : soonest_s;
            none = false;
            continue;
        }
        none = false;
        struct rank *of = &best[kind_of(q, line->gpus)];
        struct rank rank = {line->priority, fair ? queue_excess(q, line->tenant) : 0, line->since_s,
                            line->first};
        if (!ranks_before(&rank, of)) {
            continue;
        }
        rank.job = first_without(q, line, until_s);
        rank.since_s = rank.job == MYR_NONE ? 0 : queue_job(q, rank.job)->since_s;
        if (rank.job != MYR_NONE && ranks_before(&rank, of)) {
            *of = rank;
        }
    }
    ret[HOLD_GANGS] = best[HOLD_GANGS].job;
    ret[HOLD_SMALL] = best[HOLD_SMALL].job;
    q->hold_scan_s = none ? INT64_MAX : soonest_s; /* whoever comes makes it sooner */
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
 * What is held for jobs that have to give way to this one anyway: they would hold it up for as long
 * as others go before them.
 */
static void drop_outranked(struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count;) {
        if (!queue_outranks(q, id, q->holds.items[i].job)) {
            i++;
            continue;
        }
        MYR_ASSERT(q->holds.items[i].job != id); /* nobody outranks itself */
        queue_set_held(q, &q->holds.items[i], false);
        remove_hold(q, i);
    }
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

/*
 * Whether there is room for one more hold of this kind beside what is held for others, but for
 * those who have to give way to it: their nodes are its own to take.
 */
static bool has_room(const struct myr_queue *q, uint32_t id)
{
    enum hold_kind kind = kind_of(q, queue_job(q, id)->spec.gpus);
    size_t nodes = wanted_nodes(q, id), count = 0;
    for (size_t i = 0; i < q->holds.count; i++) {
        const struct hold *hold = &q->holds.items[i];
        if (kind_of(q, queue_job(q, hold->job)->spec.gpus) == kind &&
            !queue_job(q, hold->job)->broken && !queue_outranks(q, id, hold->job)) {
            nodes += hold->nodes.count;
            count++;
        }
    }
    return count == 0 || (count < HOLDS_MAX && nodes <= q->shape.nodes / HOLD_SHARE);
}

static void open_hold(struct myr_queue *q, uint32_t id)
{
    struct hold hold = {.job = id, .chosen = UINT64_MAX, .since_s = q->now_s};
    MYR_ASSERT(!queue_has_hold(q, id));
    choose_nodes(q, &hold);
    myr_vec_push(&q->holds, hold);
    /* A gang may stop others from now on: it looks for them at once. */
    uint32_t line = queue_job(q, id)->line;
    bool gang = queue_is_gang(q, q->lines.items[line].gpus);
    queue_job(q, id)->retry_s = gang ? 0 : queue_job(q, id)->retry_s;
    if (gang && q->lines.items[line].first == id) {
        queue_first_changed(q, line);
    }
}

/* Nodes are held for who has waited long enough; what is held stands idle as it drains. */
static void open_holds(struct myr_queue *q)
{
    bool more = q->now_s >= q->hold_scan_s;
    while (more) {
        uint32_t next[HOLD_KINDS];
        next_to_hold(q, next);
        more = false;
        for (uint32_t k = 0; k < HOLD_KINDS; k++) {
            /* Who may start now does so without nodes held for it. */
            if (next[k] == MYR_NONE || queue_may_start(q, next[k])) {
                continue;
            }
            if (has_room(q, next[k])) {
                drop_outranked(q, next[k]);
                MYR_PROBE("nodes are to be held for a gang");
                open_hold(q, next[k]);
                more = true;
            }
        }
    }
}

/*
 * A hold is over: those that lack nodes choose before anybody who comes anew, or jobs of one node
 * would hand the same one on to each other for ever while a gang of the whole cluster waits for it.
 */
static void fill_holds(struct myr_queue *q)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        struct hold *hold = &q->holds.items[i];
        if (!queue_job(q, hold->job)->broken && hold->nodes.count < wanted_nodes(q, hold->job)) {
            queue_set_held(q, hold, false);
            choose_nodes(q, hold);
        }
    }
    q->hold_scan_s = q->now_s; /* the next one may have its nodes */
}

void queue_serve_holds(struct myr_queue *q)
{
    bool any_over = false;
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
            } else {
                choose_nodes(q, hold);
            }
        }
        if (over) {
            MYR_ASSERT(q->holds.items[i].job == id);
            remove_hold(q, i);
            any_over = true;
        } else {
            i++;
        }
    }
    if (any_over) {
        fill_holds(q);
    }
    if (q->policy.patience_s > 0) {
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

bool queue_may_use_held(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (gives_way(q, q->holds.items[i].job, id, queue_job(q, id)->spec.priority)) {
            return true;
        }
    }
    return false;
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
