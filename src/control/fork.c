/* fork: a state as a value: copied whole, or made larger. */
#include <stdlib.h>

#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "myriad/text/amount.h"
#include "state.h"

struct myr_control *myr_control_fork(const struct myr_control *c)
{
    struct myr_control *copy = myr_xcalloc(1, sizeof(*copy));
    copy->shape = c->shape;
    copy->policy = c->policy;
    copy->tenants = c->tenants;
    copy->head = c->head;
    /* The rest of what is no state is empty between events, and stays so in the copy. */
    copy->bad_nodes = c->bad_nodes;
    copy->nodes = myr_xcalloc(c->shape.nodes, sizeof(*copy->nodes));
    memcpy(copy->nodes, c->nodes, c->shape.nodes * sizeof(*copy->nodes));
/* Exactly as many: what room the original has is no part of it. */
#define COPY(vec)                                                                        \
    do {                                                                                 \
        myr_vec_reserve(&copy->vec, c->vec.count);                                       \
        if (c->vec.count > 0) {                                                          \
            memcpy(copy->vec.items, c->vec.items, c->vec.count * sizeof(*c->vec.items)); \
        }                                                                                \
        copy->vec.count = c->vec.count;                                                  \
    } while (0)
    COPY(jobs);
    COPY(ranks);
    COPY(timers);
#undef COPY
    for (size_t j = 0; j < copy->jobs.count; j++) {
        /* Built again: a map's memory depends on its history. */
        const struct job *job = &copy->jobs.items[j];
        (void)myr_u64map_add(&copy->tokens, job->spec.token, job->id);
    }
    myr_queue_copy(c->queue, &copy->queue);
    MYR_ASSERT(copy->queue && c->lost.count == 0 && c->decisions.count == 0);
    MYR_ASSERT(c->left.count == 0 && !c->dirty);
    MYR_ASSERT(copy->tokens.count == copy->jobs.count);
    MYR_SLOW_ASSERT(myr_control_hash(copy) == myr_control_hash(c));
    return copy;
}

int myr_control_grow(struct myr_control *c, uint32_t nodes, struct myr_err *err)
{
    struct myr_place_shape shape = c->shape;
    if (nodes < shape.nodes) {
        return myr_err_set(err, MYR_EINVAL, "%s, at least the present %u are expected",
                           MYR_COUNT(nodes, "node"), shape.nodes);
    }
    /* A cluster of one pod stays one. */
    shape.pod_nodes = shape.pod_nodes == shape.nodes ? nodes : shape.pod_nodes;
    shape.nodes = nodes;
    /* The queue first: it says whether the shape may become this. */
    MYR_TRY(myr_queue_grow(c->queue, c->head.steady_ms / 1000, &shape, err));
    uint32_t first = c->shape.nodes;
    MYR_ASSERT(first <= nodes && c->decisions.count == 0);
    c->nodes = myr_xrealloc(c->nodes, nodes, sizeof(*c->nodes));
    memset(&c->nodes[first], 0, (nodes - first) * sizeof(*c->nodes));
    c->shape = shape;
    for (uint32_t id = first; id < nodes; id++) {
        c->nodes[id].first_rank = MYR_NONE;
        c->nodes[id].deadline_ms = -1;
        node_settle(c, id); /* the queue may not use what nobody has heard of */
        MYR_ASSERT(c->nodes[id].gone && c->nodes[id].state == MYR_NODE_UNKNOWN);
    }
    placing_grown(c);
    MYR_ASSERT(c->lost.count == 0 && !c->dirty); /* as between any two events */
    return MYR_OK;
}
