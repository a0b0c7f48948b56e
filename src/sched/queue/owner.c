#include <stdlib.h>

#include "queue/state.h"

/*
 * An owner takes cells of its own. What stands there belongs to borrowers: they are stopped, under
 * every policy, where the owner finds no other room.
 */

/* Makes 'wanted' GPUs of a node claimable by stopping borrowers, the cheapest first. */
static void clear_borrowers(struct myr_queue *q, uint32_t node, uint32_t wanted, uint32_t by)
{
    MYR_PROBE("borrowers leave cells for their owner");
    MYR_ASSERT(node < q->shape.nodes && wanted > 0);
    MYR_ASSERT(wanted <= q->shape.gpus_per_node && by < q->job_count);
    while (gpu_count(queue_claimable_gpus(q, node)) < wanted) {
        uint32_t best = MYR_NONE;
        for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
            uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
            const struct qjob *job = queue_job(q, id);
            /* Who runs in cells of its own is no borrower. */
            if (job->owner == MYR_NONE &&
                (best == MYR_NONE ||
                 queue_stop_cost(q, job) < queue_stop_cost(q, queue_job(q, best)))) {
                best = id;
            }
        }
        if (best != MYR_NONE) {
            MYR_ASSERT(best != by);
            queue_stop_job(q, best, MYR_STOP_OWNER, by);
            continue;
        }
        queue_claims_drop_on(q, node); /* nobody runs there, but some were about to */
        /* owners never hold more than the private cluster has */
        MYR_ASSERT(gpu_count(queue_claimable_gpus(q, node)) >= wanted);
    }
}

/* Whether the private placement can be had without stopping anybody. */
static bool is_clear(const struct myr_queue *q, uint32_t owner, const struct myr_gang *own)
{
    MYR_ASSERT(owner < q->tenant_count && own->count > 0);
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
    MYR_ASSERT(q->cells);
    MYR_ASSERT(queue_job(q, id)->state == MYR_JOB_WAITS);
    uint32_t nodes = myr_place_nodes(q->placer, queue_job(q, id)->spec.gpus);
    struct myr_gang own = {0, myr_xcalloc(nodes, sizeof(struct myr_share))};
    /* Cells are bound to places first: only then it is known which nodes have to be cleared. */
    uint32_t owner = queue_cells_reserve(q, id, &own);
    bool reserved = owner != MYR_NONE;
    MYR_ASSERT(!reserved || (own.count > 0 && own.count <= nodes));
    if (!reserved || (!force && !is_clear(q, owner, &own))) {
        /* Nothing may stay reserved after a try in vain. */
        if (reserved) {
            queue_cells_cancel(q, owner, &own);
        }
        free(own.shares);
        return false;
    }
    queue_cells_enter(q, id, owner, own);
    MYR_ASSERT(queue_job(q, id)->owner == owner);
    queue_claim_begin(q, id);
    for (uint32_t i = 0; i < own.count; i++) {
        uint32_t node = queue_cells_physical(q, owner, own.shares[i].node);
        uint32_t gpus = gpu_count(own.shares[i].gpus);
        clear_borrowers(q, node, gpus, id);
        queue_claim_share(q, id, node, gpus);
    }
    queue_claim_end(q, id);
    MYR_ASSERT(queue_job(q, id)->state != MYR_JOB_WAITS);
    return true;
}
