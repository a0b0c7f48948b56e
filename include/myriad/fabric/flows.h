/*
 * flows: who sends to whom. A flow goes from one NIC port to another; what stays inside a scale-up
 * domain never becomes a flow.
 *
 * From a layout: the ranks of a job fill the GPUs of its nodes in order, and what the groups of an
 * axis send follows from a pattern. GPU g of a node uses the NIC beside it (rail g).
 */
#pragma once

#include "myriad/base.h"
#include "myriad/fabric/graph.h"
#include "myriad/work.h"

#define MYR_SHARE_ONE 1000U

struct myr_flow {
    uint32_t from_port, to_port;
    uint32_t share;  /* of a host port's line rate that it asks for, in 1/MYR_SHARE_ONE */
    uint16_t source; /* UDP source port: what a hash can be steered by */
    uint16_t job;
};

struct myr_flows {
    MYR_VEC(struct myr_flow) items;
};

void myr_flows_done(struct myr_flows *flows);

/* The NIC port of a GPU on the network, plane 0; MYR_NONE when it has none. */
uint32_t myr_flow_port(const struct myr_graph *graph, uint32_t gpu);

/* NICs of a host on the network, each with a port in every plane; 0 when it has none. */
uint32_t myr_host_nics(const struct myr_graph *graph, uint32_t device);

/* Port of one of them, plane 0. */
uint32_t myr_host_port(const struct myr_graph *graph, uint32_t device, uint32_t nic);

/*
 * CSV with a header: from,to[,share[,source_port]]. Ends are gpu/NODE/GPU or node/NODE:nicK
 * addresses; share is a fraction of line rate, 1 when absent. On failure nothing was added.
 */
MYR_MUST_USE int myr_flows_read(struct myr_flows *flows, const struct myr_graph *graph,
                                const char *path, struct myr_err *err);
/* The same from memory; 'name' is for messages. */
MYR_MUST_USE int myr_flows_parse(struct myr_flows *flows, const struct myr_graph *graph,
                                 const char *name, struct myr_str text, struct myr_err *err);

/* What the members of a group send each other. */
enum myr_traffic {
    MYR_TRAFFIC_RING,       /* each to the next one, at line rate */
    MYR_TRAFFIC_TREE,       /* two binary trees, up and down, a quarter of line rate an edge */
    MYR_TRAFFIC_ALL_TO_ALL, /* each to every other one, line rate divided evenly */
    MYR_TRAFFIC_COUNT,
};

extern const char *const myr_traffic_names[MYR_TRAFFIC_COUNT];

/* Whose ranks run where: rank r on GPU r % gpus_per_node of nodes[r / gpus_per_node]. */
struct myr_ranks_on {
    const struct myr_layout *layout;
    const uint32_t *nodes; /* NULL: all nodes in order */
    uint32_t node_count;
};

/* Adds what every group of one axis sends, but for what stays inside a scale-up domain. */
MYR_MUST_USE int myr_flows_groups(struct myr_flows *flows, const struct myr_graph *graph,
                                  const struct myr_ranks_on *ranks, enum myr_axis axis,
                                  enum myr_traffic pattern, struct myr_err *err);

/*
 * Flows that leave or enter one port together share it: where they ask for more than line rate,
 * all shares at the port shrink until none does.
 */
void myr_flows_fit(struct myr_flows *flows, const struct myr_design *design);

/* Every GPU to the one that is 'step' further on: one step of an all-to-all. */
void myr_flows_shift(struct myr_flows *flows, const struct myr_graph *graph, uint32_t step);
/* A seeded random permutation of all GPUs that is nowhere the identity. */
void myr_flows_permutation(struct myr_flows *flows, const struct myr_graph *graph, uint64_t seed);
