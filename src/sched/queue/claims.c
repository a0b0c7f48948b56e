#include "queue/state.h"

/*
 * A claim keeps GPUs for a job while others leave them. What is free is taken from the placer at
 * once, the rest is marked by stakes and counted as pending; the job starts when nothing of it is
 * pending any more.
 */

/* The first 'count' GPUs of a mask; it has that many. */
static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
    uint64_t taken = 0;
    MYR_ASSERT(count <= gpu_count(mask));
    for (uint32_t i = 0; i < count; i++) {
        taken |= mask & (0 - mask);
        mask &= mask - 1;
    }
    return taken;
}

/* GPUs of a node that older incarnations of the job are leaving. */
static uint64_t own_left(const struct myr_queue *q, uint32_t id, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    uint64_t gpus = 0;
    for (uint32_t at = q->stake_first[node]; at != MYR_NONE; at = q->stakes.items[at].next) {
        const struct stake *stake = &q->stakes.items[at];
        gpus |= stake->epoch && stake->job == id ? stake->gpus : 0;
    }
    return gpus;
}

void queue_claim_begin(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    MYR_ASSERT(queue_job(q, id)->pending == 0);
    queue_job(q, id)->guest_of = MYR_NONE; /* one that is mended stays a guest where it was one */
    queue_gang_room(q, id)->count = 0;
}

void queue_claim_share(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t gpus)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(node < q->shape.nodes);
    /* What is free first: only the rest has to be waited for. */
    uint64_t here = myr_placer_free_mask(q->placer, node), may = queue_claimable_gpus(q, node);
    uint64_t now = lowest_bits(here, gpus < gpu_count(here) ? gpus : gpu_count(here));
    uint64_t later = lowest_bits(may & ~here, gpus - gpu_count(now));
    MYR_ASSERT(gpu_count(now | later) == gpus);
    MYR_ASSERT(gpus > 0);
    MYR_ASSERT(!(now & later));
    /* There is room for as many shares as the job needs nodes. */
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(job->gang.count < queue_nodes_of(q, job));
    if (now) {
        myr_place_take(q->placer, node, now);
    }
    job->gang.shares[job->gang.count++] = (struct myr_share){node, now | later};
    /* New ranks of a job that is not strict wait on the node for older ones of its own. */
    job->pending += gpu_count(job->spec.restart_epoch ? later & ~own_left(q, id, node) : later);
    MYR_ASSERT(job->pending <= job->spec.gpus);
}

void queue_claim_end(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_WAITS);
    MYR_ASSERT(job->gang.count > 0);
    if (job->pending == 0) {
        queue_run_job(q, id);
        return;
    }
    /* Without confirmation nobody is ever leaving, so nothing can be pending. */
    MYR_ASSERT(q->policy.confirm);
    queue_dequeue(q, id);
    queue_claim_gang(q, id);
}

void queue_claim_gang(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->gang.count > 0);
    MYR_ASSERT(job->pending <= job->spec.gpus);
    MYR_ASSERT(job->state != MYR_JOB_CLAIMS);
    MYR_ASSERT(job->result == MYR_RESULT_NONE);
    job->state = MYR_JOB_CLAIMS;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        struct stake stake = {.job = id, .node = share->node, .gpus = share->gpus};
        queue_stake_add(q, &stake);
    }
    myr_vec_push(&q->claims, id);
    MYR_ASSERT(q->claims.count <= q->jobs.count);
}

/* Its stakes go; the GPUs in its gang are its own, or somebody is still leaving them. */
static void unstake(struct myr_queue *q, uint32_t id)
{
    const struct myr_gang *gang = &queue_job(q, id)->gang;
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t node = gang->shares[i].node;
        uint32_t at = queue_stake_find(q, node, id, 0);
        MYR_ASSERT(at != MYR_NONE);
        queue_stake_remove(q, node, at);
    }
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_CLAIMS);
    queue_unlist_claim(q, id);
}

/* What others are still leaving was never its own to give back. */
static void give_back(struct myr_queue *q, struct myr_share own)
{
    MYR_ASSERT(own.node < q->shape.nodes && own.gpus != 0);
    own.gpus &= ~queue_left_gpus(q, own.node);
    if (own.gpus) {
        myr_release(q->placer, &(struct myr_gang){1, &own});
    }
}

void queue_claim_leave(struct myr_queue *q, uint32_t id, const struct myr_share *share)
{
    struct qjob *job = queue_job(q, id);
    uint32_t node = share->node, at = queue_stake_find(q, node, id, 0);
    MYR_ASSERT(job->state == MYR_JOB_CLAIMS && at != MYR_NONE);
    uint64_t left = queue_left_gpus(q, node) & share->gpus;
    uint32_t awaited = gpu_count(job->spec.restart_epoch ? left & ~own_left(q, id, node) : left);
    MYR_ASSERT(job->pending >= awaited);
    job->pending -= awaited;
    queue_stake_remove(q, node, at);
    give_back(q, *share);
    q->ends++;
}

void queue_claim_drop(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->state == MYR_JOB_CLAIMS);
    MYR_ASSERT(job->gang.count > 0);
    unstake(q, id);
    for (uint32_t i = 0; i < job->gang.count; i++) {
        give_back(q, job->gang.shares[i]);
    }
    job->gang.count = 0;
    job->pending = 0;
    q->ends++;
    queue_leave_own(q, id);
    MYR_ASSERT(job->owner == MYR_NONE);
    MYR_ASSERT(job->spec.gpus <= job->wish);
    /* An elastic job asks for all it wishes again. */
    job->spec.gpus = job->wish;
}

void queue_claims_drop_on(struct myr_queue *q, uint32_t node)
{
    MYR_ASSERT(node < q->shape.nodes);
    for (uint32_t at = q->stake_first[node]; at != MYR_NONE;) {
        const struct stake *stake = &q->stakes.items[at];
        uint32_t id = stake->job;
        at = stake->next;
        if (stake->epoch == 0 && queue_job(q, id)->owner == MYR_NONE) {
            MYR_PROBE("a claim is dropped for cells");
            MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_CLAIMS);
            queue_claim_drop(q, id);
            queue_settle(q, id);
            MYR_ASSERT(queue_job(q, id)->state != MYR_JOB_CLAIMS);
            at = q->stake_first[node]; /* others may have gone with it */
        }
    }
}

void queue_claims_start(struct myr_queue *q)
{
    for (size_t i = 0; i < q->claims.count;) {
        uint32_t id = q->claims.items[i];
        const struct qjob *job = queue_job(q, id);
        MYR_ASSERT(job->state == MYR_JOB_CLAIMS || job->broken);
        MYR_ASSERT(job->pending <= job->spec.gpus);
        /* A strict job starts when its older ranks are gone as well. */
        if (job->broken || job->pending > 0 || (job->leaving > 0 && !job->spec.restart_epoch)) {
            MYR_PROBE("a claim waits for ranks to leave");
            i++;
            continue;
        }
        unstake(q, id);
        queue_run_unqueued(q, id);
        MYR_ASSERT(queue_is_on(job));
    }
}
