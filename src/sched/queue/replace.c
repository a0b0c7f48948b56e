#include <stdlib.h>

#include "queue/state.h"

/*
 * Other nodes in the place of lost ones. Whole gangs are planned on a copy first: either every lost
 * node has another, or the gang is left as it is and waits again.
 */

/* Nodes of a gang that are still well, where they lie. */
struct place {
    bool same_group, near_group, same_pod;
};

/* Lost, or closed to what is placed anew: the gang starts anew in any case. */
static bool is_bad(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return q->closed[node] & CLOSED_BAD;
}

/* How far a node lies from a lost one and from the nodes that stay, nearest first. */
static uint32_t distance(const struct myr_queue *q, const struct myr_gang *gang, uint32_t lost,
                         uint32_t node)
{
    MYR_ASSERT(lost != node);
    /* Groups and pods are runs of node numbers. */
    struct place at = {.same_group = node / q->shape.group_nodes == lost / q->shape.group_nodes,
                       .same_pod = node / q->shape.pod_nodes == lost / q->shape.pod_nodes};
    for (uint32_t i = 0; i < gang->count && !at.near_group; i++) {
        uint32_t other = gang->shares[i].node;
        at.near_group =
            !is_bad(q, other) && other / q->shape.group_nodes == node / q->shape.group_nodes;
    }
    return at.same_group ? 0 : at.near_group ? 1 : at.same_pod ? 2 : 3;
}

static bool in_gang(const struct myr_gang *gang, uint32_t node)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        if (gang->shares[i].node == node) {
            return true;
        }
    }
    return false;
}

/* The nearest spare or open node with as many free GPUs as the share has; spares first. */
static uint32_t nearest(const struct myr_queue *q, const struct qjob *job,
                        const struct myr_gang *gang, const struct myr_share *share)
{
    uint32_t best = MYR_NONE, best_far = UINT32_MAX;
    /* Nothing is nearer than a spare of the same group, so the search ends there. */
    for (uint32_t node = 0; node < q->shape.nodes && best_far > 0; node++) {
        if ((q->closed[node] & ~CLOSED_SPARE) || in_gang(gang, node) || queue_in_pool(q, node) ||
            gpu_count(myr_placer_free_mask(q->placer, node)) < gpu_count(share->gpus)) {
            continue;
        }
        /* Spares are kept for this: at the same distance one goes before an open node. */
        uint32_t far = 2 * distance(q, gang, share->node, node) + !(q->closed[node] & CLOSED_SPARE);
        if (far < best_far && queue_may_join(q, job, gang, node)) {
            best_far = far;
            best = node;
        }
    }
    return best;
}

/* The gang with another node for each that is down; false: there are not enough. */
static bool choose(const struct myr_queue *q, const struct qjob *job, struct myr_gang *ret)
{
    MYR_ASSERT(ret->count == job->gang.count);
    for (uint32_t i = 0; i < ret->count; i++) {
        struct myr_share *share = &ret->shares[i];
        if (!is_bad(q, share->node)) {
            continue;
        }
        uint32_t node = nearest(q, job, ret, share), wanted = gpu_count(share->gpus);
        if (node == MYR_NONE) {
            return false;
        }
        /* Which GPUs of the new node does not matter, only how many. */
        uint64_t mask = myr_placer_free_mask(q->placer, node), taken = 0;
        MYR_ASSERT(wanted > 0);
        MYR_ASSERT(gpu_count(mask) >= wanted);
        MYR_ASSERT(!is_bad(q, node));
        for (uint32_t g = 0; g < wanted; g++) {
            taken |= mask & (0 - mask);
            mask &= mask - 1;
        }
        MYR_ASSERT(gpu_count(taken) == wanted && node != share->node);
        *share = (struct myr_share){node, taken};
    }
    return true;
}

/* A spare that is used is no spare any more. */
static void take_node(struct myr_queue *q, const struct myr_share *share)
{
    MYR_ASSERT(share->gpus != 0);
    MYR_ASSERT(!is_bad(q, share->node));
    if (q->closed[share->node] & CLOSED_SPARE) {
        MYR_ASSERT(q->spares_kept > 0);
        queue_close_node(q, share->node, CLOSED_SPARE, false);
        q->spares_kept--;
    }
    MYR_ASSERT(!q->closed[share->node]);
    myr_place_take(q->placer, share->node, share->gpus);
}

/* Share by share: what was lost is replaced, what is well is claimed until its ranks are gone. */
static void claim_mended(struct myr_queue *q, uint32_t id, const struct myr_gang *mended)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(mended->count == job->gang.count);
    MYR_ASSERT(job->owner == MYR_NONE);
    job->pending = 0;
    for (uint32_t i = 0; i < mended->count; i++) {
        struct myr_share *share = &job->gang.shares[i];
        const struct myr_share *now = &mended->shares[i];
        /* Shares stay in the order of ranks: each new node stands where the lost one stood. */
        if (share->node != now->node) {
            take_node(q, now);
            queue_decide_add(q, &(struct myr_decision){.kind = MYR_DECIDE_REPLACE,
                                                       .reason = MYR_STOP_NODE,
                                                       .job = id,
                                                       .epoch = job->epoch,
                                                       .by = MYR_NONE,
                                                       .node = share->node,
                                                       .spare = now->node});
            *share = *now;
        } else if (!job->spec.restart_epoch) { /* else the new ranks wait for the old there */
            job->pending += gpu_count(share->gpus);
            MYR_ASSERT(job->pending <= job->spec.gpus);
        }
    }
}

bool queue_replace_lost(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    struct myr_gang mended = {job->gang.count,
                              myr_xcalloc(job->gang.count, sizeof(struct myr_share))};
    MYR_ASSERT(queue_is_on(job));
    MYR_ASSERT(q->policy.confirm);
    memcpy(mended.shares, job->gang.shares, mended.count * sizeof(struct myr_share));
    /* Who runs in cells of its own finds room in them again. */
    bool found = job->owner == MYR_NONE && choose(q, job, &mended);
    if (found) {
        uint32_t gpus = job->spec.gpus;
        queue_unload_job(q, id, MYR_STOP_NODE, MYR_NONE);
        job->spec.gpus = gpus; /* as many as it had, if fewer than it wished for */
        claim_mended(q, id, &mended);
        MYR_ASSERT(job->gang.count == mended.count);
        queue_claim_gang(q, id);
    }
    free(mended.shares);
    return found;
}
