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

/* Starts of jobs with a request: the search of search/ says which rank goes to which node. */

/* Takes the GPUs for so many nodes of the request, ranks in order, outside of 'exclude'. */
static bool place(struct myr_queue *q, uint32_t id, uint32_t nodes, const uint64_t *exclude)
{
    struct qjob *job = queue_job(q, id);
    struct myr_request request = queue_request_of(q, job);
    /* The gang has room for all nodes of the request, and it may get fewer. */
    MYR_ASSERT(nodes > 0);
    MYR_ASSERT(nodes <= request.nodes);
    struct myr_placement placement = {.gang = *queue_gang_room(q, id)};
    request.nodes = nodes;
    request.exclude = exclude ? exclude : request.exclude;
    bool placed = myr_place_gang(q->placer, &request, &placement);
    MYR_ASSERT(!placed || placement.gang.count == nodes);
    job->gang.count = placed ? placement.gang.count : 0;
    return placed;
}

bool queue_request_start(struct myr_queue *q, uint32_t id, uint32_t nodes)
{
    struct qjob *job = queue_job(q, id);
    if (!place(q, id, nodes, NULL)) {
        job->blocked_pass = q->pass; /* not again in this decision */
        return false;
    }
    /* Before the size changes: the line is found by the size that it has. */
    queue_dequeue(q, id);
    job->spec.gpus = nodes * q->requests.items[job->request].gpus_per_node;
    queue_run_unqueued(q, id);
    MYR_ASSERT(queue_is_on(job) && job->spec.gpus <= job->wish);
    return true;
}

bool queue_request_start_on(struct myr_queue *q, uint32_t id, const uint32_t *nodes, uint32_t count)
{
    MYR_ASSERT(count > 0 && count <= q->shape.nodes);
    size_t words = q->shape.nodes / 64 + 1;
    uint64_t *others = myr_xcalloc(words, sizeof(uint64_t));
    /* Everything but these nodes is left out, whatever the request itself leaves out. */
    memset(others, 0xff, words * sizeof(uint64_t));
    bool open = true;
    /* The search takes no closed nodes, so it need not be asked. */
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(nodes[i] < q->shape.nodes);
        others[nodes[i] / 64] &= ~(UINT64_C(1) << nodes[i] % 64);
        open = open && q->closed[nodes[i]] == 0;
    }
    bool placed = open && place(q, id, count, others);
    free(others);
    if (placed) {
        MYR_ASSERT(queue_job(q, id)->gang.count == count);
        queue_run_job(q, id);
    }
    return placed;
}
