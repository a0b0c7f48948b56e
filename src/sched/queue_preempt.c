#include <stdlib.h>

#include "queue_impl.h"

enum { RETRY_S = 60 };

int64_t queue_stop_cost(const struct myr_queue *q, const struct qjob *job)
{
    return (int64_t)job->spec.gpus * (queue_unsaved_s(q, job) + q->policy.restart_s);
}

/* Whether 'victim' may be stopped for 'job'. */
static bool may_stop(const struct myr_queue *q, uint32_t id, const struct qjob *victim)
{
    const struct qjob *job = &q->jobs.items[id];
    if (victim->spec.fixed || victim->owner != MYR_NONE ||
        q->now_s - victim->start_s < q->policy.run_min_s) {
        return false;
    }
    if (victim->spec.priority != job->spec.priority) {
        return victim->spec.priority < job->spec.priority;
    }
    if (q->policy.patience_s > 0 && victim->since_s >= q->policy.patience_s) {
        return false; /* it has given way long enough */
    }
    return queue_level_of(q, victim->saved_s + queue_worked_s(q, victim)) >
           queue_level_of(q, job->saved_s);
}

/* Jobs of one node, cheapest to stop first. */
struct victim {
    uint32_t job, gpus;
    int64_t cost;
};

/*
 * The cheapest jobs of a node whose end frees 'wanted' GPUs there. Returns their number, or
 * MYR_NONE when there are not enough; 'ret' has room for the jobs of a node.
 */
static uint32_t victims_on(const struct myr_queue *q, uint32_t id, uint32_t node, uint32_t wanted,
                           struct victim *ret, int64_t *ret_cost)
{
    uint32_t count = 0, have = gpu_count(myr_placer_free_mask(q->placer, node)), needed = 0;
    *ret_cost = 0;
    for (uint32_t i = 0; i < q->node_job_count[node] && have < wanted; i++) {
        uint32_t other = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
        const struct qjob *victim = &q->jobs.items[other];
        if (!may_stop(q, id, victim)) {
            continue;
        }
        struct victim v = {other, 0, queue_stop_cost(q, victim)};
        for (uint32_t s = 0; s < victim->gang.count; s++) {
            v.gpus +=
                victim->gang.shares[s].node == node ? gpu_count(victim->gang.shares[s].gpus) : 0;
        }
        uint32_t at = count++;
        /* by cost for each GPU that it frees here */
        for (; at > 0 && ret[at - 1].cost * v.gpus > v.cost * ret[at - 1].gpus; at--) {
            ret[at] = ret[at - 1];
        }
        ret[at] = v;
    }
    while (needed < count && have < wanted) {
        have += ret[needed].gpus;
        *ret_cost += ret[needed].cost;
        needed++;
    }
    return have >= wanted ? needed : MYR_NONE;
}

static void stop_all(struct myr_queue *q, uint32_t by)
{
    for (size_t i = 0; i < q->victims.count; i++) {
        struct qjob *victim = &q->jobs.items[q->victims.items[i]];
        if (victim->state == MYR_JOB_RUNS) { /* a gang may be met on several nodes */
            bool level = victim->spec.priority == q->jobs.items[by].spec.priority;
            queue_stop_job(q, q->victims.items[i], level ? MYR_STOP_LEVEL : MYR_STOP_PRIORITY, by);
        }
    }
}

static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        taken |= mask & (0 - mask);
        mask &= mask - 1;
    }
    return taken;
}

/* Starts the job on the nodes in q->nodes, whole ones and the remainder on the last. */
static void start_on_nodes(struct myr_queue *q, uint32_t id)
{
    struct myr_gang *gang = queue_gang_room(q, id);
    uint32_t left = q->jobs.items[id].spec.gpus;
    gang->count = 0;
    for (size_t i = 0; i < q->nodes.count; i++) {
        uint32_t node = q->nodes.items[i];
        uint32_t here = left < q->shape.gpus_per_node ? left : q->shape.gpus_per_node;
        uint64_t gpus = lowest_bits(myr_placer_free_mask(q->placer, node), here);
        MYR_ASSERT(gpu_count(gpus) == here && here > 0);
        myr_place_take(q->placer, node, gpus);
        gang->shares[gang->count++] = (struct myr_share){node, gpus};
        left -= here;
    }
    MYR_ASSERT(left == 0);
    queue_run_job(q, id);
}

/* A job of one node: the node where making room costs least. */
static bool preempt_node(struct myr_queue *q, uint32_t id)
{
    struct victim victims[MYR_SCHED_GPUS_MAX];
    uint32_t best = MYR_NONE, gpus = q->jobs.items[id].spec.gpus;
    int64_t best_cost = INT64_MAX, cost;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (!q->closed[node] && victims_on(q, id, node, gpus, victims, &cost) != MYR_NONE &&
            cost < best_cost) {
            best_cost = cost;
            best = node;
        }
    }
    if (best == MYR_NONE) {
        return false;
    }
    uint32_t count = victims_on(q, id, best, gpus, victims, &cost);
    q->victims.count = q->nodes.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&q->victims, victims[i].job);
    }
    myr_vec_push(&q->nodes, best);
    stop_all(q, id);
    start_on_nodes(q, id);
    return true;
}

struct priced {
    uint32_t node;
    int64_t cost;
};

/* The cheapest 'wanted' nodes of a group to empty; returns how many can be. */
static uint32_t cheapest_in_group(const struct myr_queue *q, uint32_t id, uint32_t group,
                                  uint32_t wanted, struct priced *ret, int64_t *ret_cost)
{
    struct victim victims[MYR_SCHED_GPUS_MAX];
    uint32_t first = group * q->shape.group_nodes, end = first + q->shape.group_nodes, count = 0;
    end = end < q->shape.nodes ? end : q->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        struct priced p = {node, 0};
        if (q->closed[node] ||
            victims_on(q, id, node, q->shape.gpus_per_node, victims, &p.cost) == MYR_NONE) {
            continue;
        }
        uint32_t at = count;
        for (; at > 0 && ret[at - 1].cost > p.cost; at--) {
            if (at < wanted) {
                ret[at] = ret[at - 1];
            }
        }
        if (at < wanted) {
            ret[at] = p;
            count += count < wanted;
        }
    }
    *ret_cost = 0;
    for (uint32_t i = 0; i < count; i++) {
        *ret_cost += ret[i].cost;
    }
    return count;
}

/* A gang: group by group, those that are cheapest to empty. */
static bool preempt_groups(struct myr_queue *q, uint32_t id)
{
    uint32_t per = q->shape.group_nodes, groups = (q->shape.nodes + per - 1) / per;
    uint32_t needed = myr_place_nodes(q->placer, q->jobs.items[id].spec.gpus);
    struct priced *picked = myr_xcalloc(per, sizeof(*picked));
    struct priced *best = myr_xcalloc(per, sizeof(*best));
    uint8_t *used = myr_xcalloc(groups, 1);
    q->nodes.count = 0;
    while (needed > 0) {
        uint32_t wanted = needed < per ? needed : per, best_count = 0, best_group = 0;
        int64_t best_cost = INT64_MAX, cost;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t count = used[g] ? 0 : cheapest_in_group(q, id, g, wanted, picked, &cost);
            if (count > best_count || (count && count == best_count && cost < best_cost)) {
                memcpy(best, picked, count * sizeof(*best));
                best_count = count;
                best_cost = cost;
                best_group = g;
            }
        }
        if (best_count == 0 ||
            (best_count < wanted && queue_waited_s(q, id) < q->policy.locality_s)) {
            break;
        }
        used[best_group] = 1;
        for (uint32_t i = 0; i < best_count; i++) {
            myr_vec_push(&q->nodes, best[i].node);
        }
        needed -= best_count;
    }
    free(picked);
    free(best);
    free(used);
    if (needed > 0) {
        return false;
    }
    struct victim victims[MYR_SCHED_GPUS_MAX];
    q->victims.count = 0;
    for (size_t i = 0; i < q->nodes.count; i++) {
        int64_t cost;
        uint32_t count =
            victims_on(q, id, q->nodes.items[i], q->shape.gpus_per_node, victims, &cost);
        for (uint32_t v = 0; v < count; v++) {
            myr_vec_push(&q->victims, victims[v].job);
        }
    }
    stop_all(q, id);
    start_on_nodes(q, id);
    return true;
}

/* The first line in order whose first job has not been tried lately. */
static struct line *next_to_try(struct myr_queue *q)
{
    struct line *best = NULL;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        struct line *line = &q->lines.items[i];
        if (q->jobs.items[line->first].retry_s <= q->now_s &&
            (!best || queue_line_before(q, line, best))) {
            best = line;
        }
    }
    return best;
}

void queue_preempt_for_waiting(struct myr_queue *q)
{
    for (struct line *line = next_to_try(q); line; line = next_to_try(q)) {
        uint32_t id = line->first;
        bool gang = queue_is_gang(q, line->gpus);
        q->jobs.items[id].retry_s = q->now_s + RETRY_S;
        if (gang ? preempt_groups(q, id) : preempt_node(q, id)) {
            queue_start_what_fits(q); /* those who made room may fit elsewhere */
        } else {
            queue_wake_at(q, q->now_s + RETRY_S);
        }
    }
}
