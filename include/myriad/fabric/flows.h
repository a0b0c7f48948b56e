/*
 * flows: who sends to whom. A flow goes from one NIC port to another; what stays inside a scale-up
 * domain never becomes a flow.
 *
 * From a layout: rank r runs on GPU order[r] (rank order of the nodes given); the ring of a group
 * goes from each member to the next. GPU g of a node uses the NIC beside it (rail g).
 */
#pragma once

#include "myriad/base.h"
#include "myriad/fabric/graph.h"
#include "myriad/work.h"

struct myr_flow {
    uint32_t from_port, to_port;
    uint32_t share;  /* of line rate that it asks for, in 1/1000 */
    uint16_t source; /* UDP source port: what a hash can be steered by */
    uint16_t job;
};

struct myr_flows {
    MYR_VEC(struct myr_flow) items;
};

void myr_flows_done(struct myr_flows *flows);

/* The NIC port of a GPU on the network, plane 0; MYR_NONE when it has none. */
uint32_t myr_flow_port(const struct myr_graph *graph, uint32_t gpu);

/*
 * CSV with a header: from,to[,share[,source_port]]. Ends are gpu/NODE/GPU or node/NODE:nicK
 * addresses; share is a fraction of line rate, 1 when absent.
 */
MYR_MUST_USE int myr_flows_read(struct myr_flows *flows, const struct myr_graph *graph,
                                const char *path, struct myr_err *err);

/* Rings of every group of one axis, over the GPUs of 'nodes' in order (NULL: all nodes). */
MYR_MUST_USE int myr_flows_rings(struct myr_flows *flows, const struct myr_graph *graph,
                                 const struct myr_layout *layout, enum myr_axis axis,
                                 const uint32_t *nodes, uint32_t node_count, struct myr_err *err);

/* Every pair of hosts of one rail once, as one step of an all-to-all: host i to host i + step. */
void myr_flows_shift(struct myr_flows *flows, const struct myr_graph *graph, uint32_t step);
/* A seeded random permutation of all host ports that is nowhere the identity. */
void myr_flows_permutation(struct myr_flows *flows, const struct myr_graph *graph, uint64_t seed);
