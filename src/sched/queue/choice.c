#include <stdlib.h>

#include "queue/state.h"

/*
 * Which nodes are held. More than are needed, HOLD_TIMES as many: the half of them that drains
 * first is enough. Were it only as many, a gang would wait for the one that drains last: with eight
 * jobs of equal mean length on each of 41 nodes four times as long, and more GPU time would stand
 * idle for it.
 */
enum { HOLD_TIMES = 2 };

void queue_set_held(struct myr_queue *q, const struct hold *hold, bool held)
{
    for (size_t i = 0; i < hold->nodes.count; i++) {
        MYR_SLOW_ASSERT(hold->nodes.items[i] < q->shape.nodes);
        if (!(q->closed[hold->nodes.items[i]] & CLOSED_HOLD) == held) {
            queue_close_node(q, hold->nodes.items[i], CLOSED_HOLD, held);
        }
    }
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
void queue_pick_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed)
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
bool queue_keep_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed)
{
    if (hold->nodes.count < needed) {
        return false;
    }
    for (size_t i = 0; i < hold->nodes.count; i++) {
        if (q->closed[hold->nodes.items[i]] & ~CLOSED_HOLD) {
            return false; /* lost, or about to be maintained */
        }
    }
    queue_set_held(q, hold, true);
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
uint32_t queue_wanted_nodes(const struct myr_queue *q, uint32_t id)
{
    uint32_t needed = queue_nodes_of(q, queue_job(q, id));
    MYR_ASSERT(needed > 0);
    if (q->policy.preempt) {
        return needed;
    }
    return needed < q->shape.nodes / HOLD_TIMES ? needed * HOLD_TIMES : q->shape.nodes;
}
