/* Maximum flow with integer capacities: Dinic's algorithm on adjacency lists. */
#pragma once

#include "myriad/base.h"

struct maxflow_arc {
    uint32_t to, next;
    uint64_t left; /* capacity not used; arc i ^ 1 is the way back */
};

struct maxflow {
    uint32_t nodes;
    uint32_t *first, *depth, *at, *queue; /* by node */
    MYR_VEC(struct maxflow_arc) arcs;
};

void maxflow_init(struct maxflow *net, uint32_t nodes);
void maxflow_done(struct maxflow *net);
/* Returns the arc's number. Parallel arcs are allowed; zero capacity is too. */
uint32_t maxflow_arc(struct maxflow *net, uint32_t from, uint32_t to, uint64_t capacity);
/* Runs on what is left of the capacities: call it once, or restore them. */
uint64_t maxflow_run(struct maxflow *net, uint32_t source, uint32_t sink);
