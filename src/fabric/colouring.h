/*
 * colouring: what the files of a colouring share. Private.
 *
 * Two edge colourings, one above the other (level.h). Nodes of the lower one are the leaves,
 * colours the spines of a pod by position; nodes of the upper one are the spines, colours the cores
 * of their group. A flow between pods is an edge of both: its colour below says at which spine
 * position its edge above lies.
 */
#pragma once

#include "level.h"
#include "myriad/fabric/colour.h"

struct myr_colouring {
    const struct myr_graph *graph;
    struct level leaf, spine;       /* the upper one has no nodes where there are two tiers */
    MYR_VEC(struct myr_flow) flows; /* by number: those of edges in both levels */
    uint32_t *bias;                 /* by group of the lower level */
    uint32_t moved;                 /* edges that changed place since the last call */
};

struct colouring_ends {
    uint32_t from_leaf, to_leaf; /* MYR_NONE: not cabled */
    struct myr_spot from, to;
    bool local, reachable; /* inside one leaf; in one fabric at all */
};

static inline struct colouring_ends colouring_ends(const struct myr_colouring *colouring,
                                                   uint32_t flow)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    struct colouring_ends ends = {.from_leaf = myr_graph_host_switch(graph, f->from_port),
                                  .to_leaf = myr_graph_host_switch(graph, f->to_port)};
    if (f->from_port == f->to_port || ends.from_leaf == MYR_NONE || ends.to_leaf == MYR_NONE) {
        return ends;
    }
    ends.from = myr_graph_leaf_spot(graph, ends.from_leaf);
    ends.to = myr_graph_leaf_spot(graph, ends.to_leaf);
    ends.reachable = ends.from.unit == ends.to.unit;
    ends.local = ends.from_leaf == ends.to_leaf;
    return ends;
}

static inline bool colouring_crosses(const struct colouring_ends *ends)
{
    return ends->reachable && ends->from.pod != ends->to.pod;
}

static inline uint32_t colouring_spine(const struct myr_colouring *colouring, uint32_t index,
                                       struct myr_spot leaf)
{
    const struct myr_network *net = colouring->graph->net;
    return (leaf.unit * net->pod_spines + index) * net->pods + leaf.pod;
}

/* One flow at a time (colour_place.c). Enter gives a new flow its ends in the lower level. */
void colouring_enter(struct myr_colouring *colouring, uint32_t flow);
void colouring_place(struct myr_colouring *colouring, uint32_t flow);
/* Which spine positions suit a flow, for level_place(); valid until the next call. */
const uint32_t *colouring_bias(struct myr_colouring *colouring, const struct colouring_ends *ends);
/* Brings the upper level in step with what moved in the lower one. */
void colouring_follow(struct myr_colouring *colouring);

/* All flows at once, into an empty colouring (colour_batch.c). */
void colouring_place_all(struct myr_colouring *colouring);
