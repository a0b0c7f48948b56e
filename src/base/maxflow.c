#include "myriad/base/maxflow.h"

#define NO_ARC UINT32_MAX /* the end of a node's list of arcs */

void myr_maxflow_init(struct myr_maxflow *net, uint32_t nodes)
{
    *net = (struct myr_maxflow){.nodes = nodes};
    net->first = myr_xrealloc(NULL, nodes, sizeof(uint32_t));
    /* All bits set is NO_ARC: no node has an arc yet. */
    memset(net->first, 0xFF, nodes * sizeof(uint32_t));
    net->depth = myr_xcalloc(nodes, sizeof(uint32_t));
    net->at = myr_xcalloc(nodes, sizeof(uint32_t));
    net->queue = myr_xcalloc(nodes, sizeof(uint32_t));
}

void myr_maxflow_done(struct myr_maxflow *net)
{
    free(net->first);
    free(net->depth);
    free(net->at);
    free(net->queue);
    myr_vec_done(&net->arcs);
}

uint32_t myr_maxflow_arc(struct myr_maxflow *net, uint32_t from, uint32_t to, uint64_t capacity)
{
    MYR_ASSERT(from < net->nodes && to < net->nodes);
    uint32_t id = (uint32_t)net->arcs.count;
    /* Pushed in pairs: 'id' is even, and id ^ 1 is the way back, empty until flow goes there. */
    struct myr_maxflow_arc there = {to, net->first[from], capacity};
    net->first[from] = id;
    struct myr_maxflow_arc back = {from, net->first[to], 0};
    net->first[to] = id + 1;
    myr_vec_push(&net->arcs, there);
    myr_vec_push(&net->arcs, back);
    MYR_ASSERT(id % 2 == 0 && net->arcs.count == (size_t)id + 2);
    return id;
}

/* Depths from the source, 1 for itself; false when the sink cannot be reached. */
static bool layer(struct myr_maxflow *net, uint32_t source, uint32_t sink)
{
    uint32_t head = 0, tail = 0;
    memset(net->depth, 0, net->nodes * sizeof(uint32_t));
    net->depth[source] = 1;
    net->queue[tail++] = source;
    while (head < tail && net->depth[sink] == 0) {
        uint32_t node = net->queue[head++];
        for (uint32_t i = net->first[node]; i != NO_ARC; i = net->arcs.items[i].next) {
            const struct myr_maxflow_arc *arc = &net->arcs.items[i];
            if (arc->left && net->depth[arc->to] == 0) {
                net->depth[arc->to] = net->depth[node] + 1;
                net->queue[tail++] = arc->to;
            }
        }
    }
    return net->depth[sink] > 0;
}

/*
 * One augmenting path in the layered network. The path lies in 'queue' as arcs; a node that leads
 * nowhere loses its depth and is not entered again.
 */
static uint64_t augment(struct myr_maxflow *net, uint32_t source, uint32_t sink)
{
    uint32_t node = source, length = 0;
    while (node != sink) {
        uint32_t *at = &net->at[node];
        while (*at != NO_ARC && (net->arcs.items[*at].left == 0 ||
                                 net->depth[net->arcs.items[*at].to] != net->depth[node] + 1)) {
            *at = net->arcs.items[*at].next;
        }
        if (*at != NO_ARC) {
            net->queue[length++] = *at;
            node = net->arcs.items[*at].to;
        } else if (length == 0) {
            return 0;
        } else {
            /* The way back of the last arc on the path leads to the node before. */
            net->depth[node] = 0;
            node = net->arcs.items[net->queue[--length] ^ 1].to;
        }
    }
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t left = net->arcs.items[net->queue[i]].left;
        least = left < least ? left : least;
    }
    MYR_ASSERT(length > 0 && length < net->nodes && least > 0); /* a path meets no node twice */
    for (uint32_t i = 0; i < length; i++) {
        net->arcs.items[net->queue[i]].left -= least;
        net->arcs.items[net->queue[i] ^ 1].left += least;
    }
    return least;
}

uint64_t myr_maxflow_run(struct myr_maxflow *net, uint32_t source, uint32_t sink)
{
    uint64_t total = 0, more;
    MYR_ASSERT(source != sink);
    while (layer(net, source, sink)) {
        /* Arcs that were passed over stay so for the whole layering: each is looked at once. */
        memcpy(net->at, net->first, net->nodes * sizeof(uint32_t));
        while ((more = augment(net, source, sink)) > 0) {
            total += more;
        }
    }
    return total;
}
