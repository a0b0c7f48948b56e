#include <stdlib.h>

#include "keep/sound.h"
#include "place/index.h"

/* GPUs by node: who runs on them, who leaves them, who claims them. */
struct use {
    uint64_t runs, leaves, claims;
};

/* Puts GPUs to a use; false when they are outside, or in that use already. */
static bool put(const struct myr_queue *q, uint32_t node, uint64_t gpus, uint64_t *use)
{
    if (node >= q->shape.nodes || gpus == 0 || (*use & gpus) ||
        (gpus & ~(UINT64_MAX >> (64 - q->shape.gpus_per_node)))) {
        return false;
    }
    *use |= gpus;
    return true;
}

/* What a gang was found in: entries of the lists of nodes, and claims; each stands for one share.
 */
struct found {
    uint8_t *listed, *stakes;
    uint64_t shares; /* in entries of nodes */
};

/* The gang is whole, and each of its nodes knows of it. */
static bool gang_sound(const struct myr_queue *q, const struct qjob *job, struct use *uses,
                       struct found *found)
{
    uint64_t gpus = 0;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        gpus += gpu_count(share->gpus);
        if (share->node >= q->shape.nodes) {
            return false;
        }
        struct use *use = &uses[share->node];
        /* A claim's GPUs are taken from its stakes, not counted twice. */
        if (!queue_is_on(job)) { /* a claim: the stakes say it too */
            uint32_t at = queue_stake_find(q, share->node, job->id, 0);
            if (at == MYR_NONE || q->stakes.items[at].gpus != share->gpus || found->stakes[at]) {
                return false;
            }
            found->stakes[at] = 1;
            continue;
        }
        uint32_t k = 0, count = q->node_job_count[share->node];
        size_t first = (size_t)share->node * q->shape.gpus_per_node;
        while (k < count && q->node_jobs[first + k] != job->id) {
            k++;
        }
        if (k == count || q->node_job_gpus[first + k] != gpu_count(share->gpus) ||
            found->listed[first + k] || !put(q, share->node, share->gpus, &use->runs)) {
            return false;
        }
        found->listed[first + k] = 1;
        found->shares++;
    }
    return gpus == (job->gang.count ? job->spec.gpus : 0);
}

/* Stakes are in their node's list or in that of unused ones, each once. */
static bool stakes_linked(const struct myr_queue *q, uint8_t *seen)
{
    uint32_t used = 0;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        /* Marks tell a list that runs in a circle, or two lists that meet. */
        for (uint32_t at = q->stake_first[node]; at != MYR_NONE; at = q->stakes.items[at].next) {
            if (at >= q->stakes.count || seen[at] || q->stakes.items[at].node != node) {
                return false;
            }
            seen[at] = 1;
            used++;
        }
    }
    for (uint32_t at = q->stake_free; at != MYR_NONE; at = q->stakes.items[at].next) {
        if (at >= q->stakes.count || seen[at] || q->stakes.items[at].node != MYR_NONE) {
            return false;
        }
        seen[at] = 1;
    }
    /* What is in no list would be lost for ever. */
    return used == q->stake_count && !memchr(seen, 0, q->stakes.count);
}

/* Each job has as many stakes as it says; none is there twice. */
static bool stakes_sound(const struct myr_queue *q, struct use *uses)
{
    uint8_t *seen = myr_xcalloc(q->stakes.count + 1, 1);
    uint32_t *leaving = myr_xcalloc(q->jobs.count + 1, sizeof(uint32_t));
    uint32_t *claims = myr_xcalloc(q->jobs.count + 1, sizeof(uint32_t));
    bool sound = stakes_linked(q, seen);
    for (uint32_t at = 0; at < q->stakes.count && sound; at++) {
        const struct stake *stake = &q->stakes.items[at];
        if (stake->node == MYR_NONE) {
            continue;
        }
        const struct qjob *job = sound_job(q, stake->job);
        /* A stake of a later epoch than the job's own cannot be. */
        sound = job && stake->epoch <= job->epoch &&
                (stake->epoch ? queue_stake_find(q, stake->node, stake->job, stake->epoch) == at
                              : job->state == MYR_JOB_CLAIMS);
        if (sound && stake->epoch) {
            /* Two incarnations of one job may lie over each other, other jobs may not. */
            uses[stake->node].leaves |= stake->gpus;
            leaving[job - q->jobs.items]++;
            sound = stake->gpus && !(stake->gpus & ~(UINT64_MAX >> (64 - q->shape.gpus_per_node)));
        } else if (sound) {
            claims[job - q->jobs.items]++;
            sound = put(q, stake->node, stake->gpus, &uses[stake->node].claims);
        }
    }
    for (size_t i = 0; i < q->jobs.count && sound; i++) {
        const struct qjob *job = &q->jobs.items[i];
        /* A job that is over may still be leaving nodes. */
        sound = leaving[i] == job->leaving &&
                claims[i] == (job->state == MYR_JOB_CLAIMS ? job->gang.count : 0);
    }
    free(seen);
    free(leaving);
    free(claims);
    return sound;
}

/* No two jobs leave the same GPU, and nobody but the same job runs over what is left. */
static bool leavers_sound(const struct myr_queue *q, uint32_t node)
{
    for (uint32_t a = q->stake_first[node]; a != MYR_NONE; a = q->stakes.items[a].next) {
        const struct stake *x = &q->stakes.items[a];
        for (uint32_t b = x->next; b != MYR_NONE; b = q->stakes.items[b].next) {
            const struct stake *y = &q->stakes.items[b];
            /* Two epochs of one job may lie over each other. */
            if (x->epoch && y->epoch && x->job != y->job && (x->gpus & y->gpus)) {
                return false;
            }
        }
        for (uint32_t i = 0; x->epoch && i < q->node_job_count[node]; i++) {
            uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
            const struct qjob *job = queue_job(q, id);
            for (uint32_t k = 0; id != x->job && k < job->gang.count; k++) {
                if (job->gang.shares[k].node == node && (job->gang.shares[k].gpus & x->gpus)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* GPUs of a claim that others are still leaving. */
static bool pending_sound(const struct myr_queue *q, const struct qjob *job, const struct use *uses)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        uint64_t gpus = share->gpus & uses[share->node].leaves;
        for (uint32_t at = q->stake_first[share->node]; at != MYR_NONE;
             at = q->stakes.items[at].next) {
            const struct stake *stake = &q->stakes.items[at];
            if (job->spec.restart_epoch && stake->epoch && stake->job == job->id) {
                gpus &= ~stake->gpus;
            }
        }
        pending += gpu_count(gpus);
    }
    return pending == job->pending;
}

/* The list of claims names each job that claims, or waits and is broken, once. */
static bool claims_sound(const struct myr_queue *q, const struct use *uses)
{
    size_t claims = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        bool claimed = job->id != MYR_NONE && job->state == MYR_JOB_CLAIMS;
        claims += claimed || (job->id != MYR_NONE && job->state == MYR_JOB_WAITS && job->broken);
        if (claimed && !pending_sound(q, job, uses)) {
            return false;
        }
    }
    for (size_t i = 0; i < q->claims.count; i++) {
        const struct qjob *job = sound_job(q, q->claims.items[i]);
        if (!job ||
            (job->state != MYR_JOB_CLAIMS && (job->state != MYR_JOB_WAITS || !job->broken))) {
            return false;
        }
        /* There are few claims at a time. */
        for (size_t k = 0; k < i; k++) {
            if (q->claims.items[k] == q->claims.items[i]) {
                return false;
            }
        }
    }
    return claims == q->claims.count;
}

/* What the placer calls free is what nobody uses, and the oldest job is the oldest. */
static bool node_sound(const struct myr_queue *q, uint32_t node, const struct use *use)
{
    uint64_t whole = UINT64_MAX >> (64 - q->shape.gpus_per_node);
    uint64_t free_gpus = myr_placer_free_mask(q->placer, node);
    uint64_t used = use->runs | use->leaves | use->claims;
    int64_t oldest_s = INT64_MAX;
    for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
        const struct qjob *job =
            queue_job(q, q->node_jobs[(size_t)node * q->shape.gpus_per_node + i]);
        int64_t start_s = job->start_s - job->saved_s;
        oldest_s = start_s < oldest_s ? start_s : oldest_s;
    }
    /* What nobody has is free, and nothing else is. */
    return free_gpus == (whole & ~used) && !(use->runs & use->claims) &&
           (q->node_job_count[node] == 0 || q->node_oldest_s[node] == oldest_s) &&
           q->placer->closed[node] == (q->closed[node] ? PLACER_HELD : 0) && leavers_sound(q, node);
}

bool sound_gpus(const struct myr_queue *q)
{
    MYR_CLEANUP(myr_free_at) struct use *uses = myr_xcalloc(q->shape.nodes, sizeof(*uses));
    MYR_CLEANUP(myr_free_at)
    uint8_t *entries = myr_xcalloc((size_t)q->shape.nodes * q->shape.gpus_per_node, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *stakes = myr_xcalloc(q->stakes.count + 1, 1);
    struct found found = {.listed = entries, .stakes = stakes};
    uint64_t listed = 0;
    bool sound = true;
    for (uint32_t node = 0; node < q->shape.nodes && sound; node++) {
        sound = q->node_job_count[node] <= q->shape.gpus_per_node;
        listed += q->node_job_count[node];
        for (uint32_t i = 0; sound && i < q->node_job_count[node]; i++) {
            const struct qjob *job =
                sound_job(q, q->node_jobs[(size_t)node * q->shape.gpus_per_node + i]);
            sound = job && queue_is_on(job);
        }
    }
    /* Lists are whole by now: whatever follows may walk them. */
    sound = sound && stakes_sound(q, uses);
    for (size_t i = 0; i < q->jobs.count && sound; i++) {
        sound = gang_sound(q, &q->jobs.items[i], uses, &found);
    }
    /* Each share was found on its node, and there are no others. */
    sound = sound && found.shares == listed && claims_sound(q, uses);
    for (uint32_t node = 0; node < q->shape.nodes && sound; node++) {
        sound = node_sound(q, node, &uses[node]);
    }
    return sound;
}
