#include <stdlib.h>

#include "queue/state.h"

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
