/*
 * colour: global path planning.
 *
 * In a regular Clos a flow between two leaves is an edge between "leaf sends" and "leaf receives",
 * and uplink k of every leaf meets the same spine. A set of flows can use the uplinks without
 * conflict exactly when the edges can be coloured with the uplinks' numbers so that no two edges
 * at a node share a colour, and by Koenig's theorem a bipartite graph needs only as many colours
 * as its largest degree. The same holds once more between spines and cores. So: colour the leaves'
 * edges, then the pods' edges of each spine position; an alternating path makes room where two
 * ends disagree. Where a degree exceeds the uplinks, colours wrap around, and the maximum load is
 * the ceiling that nothing can beat.
 *
 * Dead links are colours that one node lacks. Edges that then find no colour share the least
 * loaded uplink; the report says how far from the bound that is. Flows can be added and removed
 * and links can die at any time: only what is touched moves.
 */
#pragma once

#include "myriad/fabric/bound.h"
#include "myriad/fabric/flows.h"
#include "myriad/fabric/path.h"

struct myr_colouring;

struct myr_colouring_stats {
    uint32_t flows, shared; /* shared: flows that found no free colour */
    uint32_t moved;         /* by the last change */
    double max_load, bound;
};

/* NULL when the fabric is not a regular Clos; then policies fall back to least-loaded paths. */
struct myr_colouring *myr_colouring_create(const struct myr_graph *graph);
void myr_colouring_free(struct myr_colouring *colouring);

/* Adds flows; their ids are consecutive from the returned one. */
uint32_t myr_colouring_add(struct myr_colouring *colouring, const struct myr_flow *flows,
                           size_t count);
void myr_colouring_remove(struct myr_colouring *colouring, uint32_t flow);
/* After myr_graph_set_link(): moves the flows that used the link, and gives back what returned. */
void myr_colouring_link_changed(struct myr_colouring *colouring, uint32_t link);
/* False when the flow has no path any more. */
bool myr_colouring_path(const struct myr_colouring *colouring, uint32_t flow, struct myr_path *ret);
struct myr_colouring_stats myr_colouring_stats(const struct myr_colouring *colouring);
