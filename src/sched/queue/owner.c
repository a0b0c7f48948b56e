#include <stdlib.h>

#include "queue/state.h"

/* Makes 'wanted' GPUs free on a node by stopping borrowers, the cheapest first. */
static uint64_t clear_borrowers(struct myr_queue *q, uint32_t node, uint32_t wanted, uint32_t by)
{
    while (gpu_count(myr_placer_free_mask(q->placer, node)) < wanted) {
        uint32_t best = MYR_NONE;
        for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
            uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
            const struct qjob *job = queue_job(q, id);
            if (job->owner == MYR_NONE &&
                (best == MYR_NONE ||
                 queue_stop_cost(q, job) < queue_stop_cost(q, queue_job(q, best)))) {
                best = id;
            }
        }
        MYR_ASSERT(best != MYR_NONE); /* owners never hold more than the private cluster has */
        queue_stop_job(q, best, MYR_STOP_OWNER, by);
    }
    uint64_t mask = myr_placer_free_mask(q->placer, node), taken = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        taken |= mask & (0 - mask);
        mask &= mask - 1;
    }
    return taken;
}

/* Whether the private placement can be had without stopping anybody. */
static bool is_clear(const struct myr_queue *q, uint32_t owner, const struct myr_gang *own)
{
    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t node = queue_cells_physical(q, owner, own->shares[i].node);
        if (gpu_count(myr_placer_free_mask(q->placer, node)) < gpu_count(own->shares[i].gpus)) {
            return false;
        }
    }
    return true;
}

bool queue_start_own(struct myr_queue *q, uint32_t id, bool force)
{
    uint32_t nodes = myr_place_nodes(q->placer, queue_job(q, id)->spec.gpus);
    struct myr_gang own = {0, myr_xcalloc(nodes, sizeof(struct myr_share))};
    uint32_t owner = queue_cells_reserve(q, id, &own);
    bool reserved = owner != MYR_NONE;
    if (!reserved || (!force && !is_clear(q, owner, &own))) {
        if (reserved) {
            queue_cells_cancel(q, owner, &own);
        }
        free(own.shares);
        return false;
    }
    queue_cells_enter(q, id, owner, own);
    struct myr_gang *gang = queue_gang_room(q, id);
    gang->count = 0;
    for (uint32_t i = 0; i < own.count; i++) {
        uint32_t node = queue_cells_physical(q, owner, own.shares[i].node);
        uint64_t mask = clear_borrowers(q, node, gpu_count(own.shares[i].gpus), id);
        myr_place_take(q->placer, node, mask);
        gang->shares[gang->count++] = (struct myr_share){node, mask};
    }
    queue_run_job(q, id);
    return true;
}
