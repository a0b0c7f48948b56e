#include "queue/state.h"

/*
 * GPUs that are neither free nor run on. The placer counts all of them as taken; whose they are is
 * in a list of stakes at each node. A GPU becomes free when the last stake on it is gone.
 */

void queue_stake_add(struct myr_queue *q, const struct stake *stake)
{
    uint32_t at = q->stake_free;
    MYR_ASSERT(stake->node < q->shape.nodes);
    MYR_ASSERT(stake->gpus != 0);
    MYR_ASSERT(stake->job < q->job_count);
    /* One incarnation has one stake on a node, and so has one claim. */
    MYR_SLOW_ASSERT(queue_stake_find(q, stake->node, stake->job, stake->epoch) == MYR_NONE);
    if (at == MYR_NONE) {
        myr_vec_push(&q->stakes, *stake);
        at = (uint32_t)q->stakes.count - 1;
    } else {
        MYR_ASSERT(at < q->stakes.count);
        MYR_ASSERT(q->stakes.items[at].node == MYR_NONE);
        q->stake_free = q->stakes.items[at].next;
        q->stakes.items[at] = *stake;
    }
    q->stakes.items[at].next = q->stake_first[stake->node];
    q->stake_first[stake->node] = at;
    q->stake_count++;
    MYR_ASSERT(q->stake_count <= q->stakes.count);
}

/* 'at' must be in the node's list. */
void queue_stake_remove(struct myr_queue *q, uint32_t node, uint32_t at)
{
    MYR_ASSERT(node < q->shape.nodes);
    uint32_t *link = &q->stake_first[node];
    MYR_ASSERT(at < q->stakes.count);
    MYR_ASSERT(q->stakes.items[at].node == node);
    while (*link != at) {
        MYR_ASSERT(*link != MYR_NONE);
        link = &q->stakes.items[*link].next;
    }
    *link = q->stakes.items[at].next;
    q->stakes.items[at] = (struct stake){.job = MYR_NONE, .node = MYR_NONE, .next = q->stake_free};
    q->stake_free = at;
    MYR_ASSERT(q->stake_count > 0);
    q->stake_count--;
}

uint32_t queue_stake_find(const struct myr_queue *q, uint32_t node, uint32_t id, uint32_t epoch)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    uint32_t at = q->stake_first[node];
    while (at != MYR_NONE &&
           (q->stakes.items[at].job != id || q->stakes.items[at].epoch != epoch)) {
        at = q->stakes.items[at].next;
    }
    return at;
}

/*
 * All GPUs of the node with a stake of one kind; those that are both left
 * and claimed are in both.
 */
static uint64_t gpus_of(const struct myr_queue *q, uint32_t node, bool claimed)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    uint64_t gpus = 0;
    for (uint32_t at = q->stake_first[node]; at != MYR_NONE; at = q->stakes.items[at].next) {
        const struct stake *stake = &q->stakes.items[at];
        MYR_SLOW_ASSERT(stake->node == node && stake->gpus != 0);
        gpus |= (stake->epoch == 0) == claimed ? stake->gpus : 0;
    }
    return gpus;
}

uint64_t queue_left_gpus(const struct myr_queue *q, uint32_t node)
{
    return gpus_of(q, node, false);
}

uint64_t queue_claimed_gpus(const struct myr_queue *q, uint32_t node)
{
    return gpus_of(q, node, true);
}

/* GPUs of a node on which a job runs over what is left of its own older incarnation. */
static uint64_t run_over(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    uint64_t gpus = 0;
    for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
        const struct qjob *job =
            queue_job(q, q->node_jobs[(size_t)node * q->shape.gpus_per_node + i]);
        MYR_SLOW_ASSERT(queue_is_on(job));
        for (uint32_t k = 0; job->leaving > 0 && k < job->gang.count; k++) {
            gpus |= job->gang.shares[k].node == node ? job->gang.shares[k].gpus : 0;
        }
    }
    return gpus;
}

uint64_t queue_claimable_gpus(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    uint64_t free_gpus = myr_placer_free_mask(q->placer, node);
    if (q->stake_first[node] == MYR_NONE) {
        return free_gpus;
    }
    uint64_t left = gpus_of(q, node, false), claimed = gpus_of(q, node, true);
    MYR_ASSERT(!(free_gpus & (left | claimed))); /* what has a stake on it is not free */
    /*
     * What is being left may be claimed by one job: not where one has, or
     * a job runs there again.
     */
    return free_gpus | (left & ~claimed & ~run_over(q, node));
}

void queue_give_back(struct myr_queue *q, const struct myr_share *share)
{
    struct myr_share left = *share;
    MYR_ASSERT(share->node < q->shape.nodes);
    MYR_ASSERT(share->gpus != 0);
    /* The placer may not call them free: older ranks are still on them. */
    if (q->stake_first[share->node] != MYR_NONE) {
        left.gpus &= ~gpus_of(q, share->node, false);
    }
    if (left.gpus) {
        myr_release(q->placer, &(struct myr_gang){1, &left});
    }
}

/* GPUs that are gone for good come to who claimed them; returns those that nobody did. */
static uint64_t serve_claims(struct myr_queue *q, uint32_t node, const struct stake *gone,
                             uint64_t gpus)
{
    for (uint32_t s = q->stake_first[node]; s != MYR_NONE; s = q->stakes.items[s].next) {
        const struct stake *claim = &q->stakes.items[s];
        struct qjob *by = queue_job(q, claim->job);
        if (claim->epoch != 0 || !(claim->gpus & gpus)) {
            continue;
        }
        /*
         * A job with epochs does not wait for its own older ranks, so they never counted as
         * pending.
         */
        if (claim->job != gone->job || !by->spec.restart_epoch) {
            uint32_t count = gpu_count(claim->gpus & gpus);
            MYR_ASSERT(by->pending >= count);
            by->pending -= count;
        }
        MYR_ASSERT(by->state == MYR_JOB_CLAIMS);
        gpus &= ~claim->gpus;
    }
    return gpus;
}

void queue_stake_gone(struct myr_queue *q, uint32_t node, uint32_t at)
{
    MYR_ASSERT(at < q->stakes.count);
    struct stake gone = q->stakes.items[at];
    struct qjob *job = queue_job(q, gone.job);
    MYR_ASSERT(gone.epoch != 0);
    MYR_ASSERT(gone.node == node);
    MYR_ASSERT(job->leaving > 0);
    MYR_ASSERT(gone.epoch <= job->epoch); /* nothing leaves that was not started */
    /* Found before the stake goes: it depends on ranks that are still leaving. */
    uint64_t over = run_over(q, node);
    queue_stake_remove(q, node, at);
    /* Where others are still leaving the same GPUs, theirs is the stake that frees them. */
    uint64_t gpus = gone.gpus & ~gpus_of(q, node, false) & ~over;
    gpus = serve_claims(q, node, &gone, gpus);
    if (gpus) {
        struct myr_share share = {node, gpus};
        myr_release(q->placer, &(struct myr_gang){1, &share});
    }
    job->leaving--;
    MYR_ASSERT(job->leaving <= q->stake_count);
    /* GPUs came free: the choice of a hold may be better now. */
    q->ends++;
}
