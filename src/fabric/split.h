/*
 * split: edges of a bipartite graph dealt out to k colours, evenly at every node.
 *
 * A node with d edges gets at most ceil(d / k) of each colour, which is the best there is. Two
 * colours: pair the edges at each node, two by two, on both sides; every edge then has at most one
 * partner a side, so that the partners form paths and even cycles, and colours that alternate along
 * them differ at each node by one at most (Euler, Petersen). An even k is halved; an odd one is
 * dealt out anyhow, and then two colours at a time are put together and split anew until no node
 * can be improved (de Werra's equitable colourings). Linear in the edges for each halving.
 *
 * Edges are paired in the order given: with the heaviest first, weights come out even as well, up
 * to one edge. Edges with an 'outer' set (the flows of a pod that leave it) are paired among
 * themselves first, so that these sets come out nearly even too.
 */
#pragma once

#include "myriad/base.h"

#define SPLIT_NO_OUTER UINT32_MAX

struct split_edge {
    uint32_t node[2];  /* where it leaves, where it arrives */
    uint32_t outer[2]; /* the larger sets that they belong to, or SPLIT_NO_OUTER */
};

struct split_shape {
    uint32_t nodes, outers; /* a side */
};

/* 'ret_colour' has one entry an edge: 0 to colours - 1. */
void split_edges(const struct split_shape *shape, const struct split_edge *edges, uint32_t count,
                 uint32_t colours, uint32_t *ret_colour);
