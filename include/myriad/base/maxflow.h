/* Maximum flow with integer capacities: Dinic's algorithm on adjacency lists. */
#pragma once

#include "myriad/base.h"

struct myr_maxflow_arc {
    uint32_t to, next;
    uint64_t left; /* capacity not used; arc i ^ 1 is the way back */
};

struct myr_maxflow {
    uint32_t nodes;
    uint32_t *first, *depth, *at, *queue; /* by node */
    MYR_VEC(struct myr_maxflow_arc) arcs;
};

void myr_maxflow_init(struct myr_maxflow *net, uint32_t nodes);
void myr_maxflow_done(struct myr_maxflow *net);
/* Returns the arc's number. Parallel arcs are allowed; zero capacity is too. */
uint32_t myr_maxflow_arc(struct myr_maxflow *net, uint32_t from, uint32_t to, uint64_t capacity);
/* Runs on what is left of the capacities: call it once, or restore them. */
uint64_t myr_maxflow_run(struct myr_maxflow *net, uint32_t source, uint32_t sink);
