/*
 * graph: the switches of one network of a design, ready for path finding.
 *
 * A channel is one direction of a link: 2 * link goes from port a to port b (away from the hosts),
 * 2 * link + 1 comes back. Capacities and loads are per channel. Parallel channels between two
 * switches form a bundle; the bundles of a switch are ordered by neighbour, so that in a Clos the
 * neighbour's position follows by arithmetic.
 *
 * Dead links are marked in the graph; everything that finds paths honours them. The design itself
 * never changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model.h"

struct myr_bundle {
    uint32_t neighbour; /* device */
    uint32_t first;     /* of its channels, in myr_graph.channels */
    uint16_t count;
    uint16_t alive;
};

/* Where a host port enters the fabric: one look instead of three into the whole design. */
struct myr_entry {
    uint32_t channel; /* away from the host; MYR_NONE when the port has no cable of this network */
    uint32_t leaf;
};

/* What a path needs to know of a switch of a Clos, kept together. */
struct myr_rung {
    uint32_t unit, pod, index; /* its spot */
    uint32_t up;               /* first uplink, in myr_graph.channels */
    uint32_t up_count;
};

struct myr_graph {
    const struct myr_design *design;
    const struct myr_network *net;
    enum myr_net_id net_id;
    uint32_t first_switch, switch_count; /* devices; consecutive */
    uint32_t *bundle_start;              /* by switch - first_switch; switch_count + 1 */
    struct myr_bundle *bundles;
    uint32_t *channels;        /* outgoing, bundle by bundle, in port order */
    uint32_t *peers;           /* beside 'channels': the device that each leads to */
    struct myr_entry *entries; /* by port, for all ports of hosts */
    uint32_t entry_count;
    struct myr_rung *rungs; /* by switch - first_switch; NULL where the fabric is no Clos */
    struct myr_bitset dead; /* links */
    uint32_t dead_count;
    /* Clos shape, per unit (a plane, or a rail of one). */
    uint32_t unit_leaves, unit_spines, unit_cores;
    bool clos;    /* leaf, spine, core: arithmetic paths */
    bool regular; /* and equal bundles everywhere: uplink k of every leaf meets the same spine */
};

/* Keeps pointers into the design. Fails when the design has no such network. */
MYR_MUST_USE int myr_graph_init(struct myr_graph *graph, struct myr_arena *arena,
                                const struct myr_design *design, enum myr_net_id net,
                                struct myr_err *err);

/* Links of other networks are none of a graph's business. */
static inline bool myr_graph_has_link(const struct myr_graph *graph, uint32_t link)
{
    const struct myr_design *design = graph->design;
    return design->cabletypes[design->cable_type[design->link_cable[link]]].net == graph->net_id;
}

/* Whether a device has a link on this network: one without is none of its business either. */
bool myr_graph_has_device(const struct myr_graph *graph, uint32_t device);

/* Marks a link, or every link that a device has on this network, dead or alive again. */
void myr_graph_set_link(struct myr_graph *graph, uint32_t link, bool dead);
void myr_graph_set_device(struct myr_graph *graph, uint32_t device, bool dead);

static inline bool myr_graph_link_dead(const struct myr_graph *graph, uint32_t link)
{
    return graph->dead_count && myr_bitset_has(&graph->dead, link);
}

/* The bundle from one switch to a neighbour, or NULL. */
const struct myr_bundle *myr_graph_bundle(const struct myr_graph *graph, uint32_t from,
                                          uint32_t to);

/* The switch that a host port hangs on; MYR_NONE when it is not cabled. */
uint32_t myr_graph_host_switch(const struct myr_graph *graph, uint32_t port);

static inline uint32_t myr_channel_link(uint32_t channel)
{
    return channel / 2;
}

static inline uint32_t myr_channel_back(uint32_t channel)
{
    return channel ^ 1;
}

/* The port that a channel leaves, and the device that it leads to. */
uint32_t myr_channel_from_port(const struct myr_design *design, uint32_t channel);
uint32_t myr_channel_to_device(const struct myr_design *design, uint32_t channel);
uint32_t myr_channel_gbps(const struct myr_design *design, uint32_t channel);

/* Places in a Clos. */
struct myr_spot {
    uint32_t unit;  /* plane * units + rail */
    uint32_t pod;   /* of leaves and spines; group of cores */
    uint32_t index; /* leaf or spine in its pod; core in its group */
};

struct myr_spot myr_graph_leaf_spot(const struct myr_graph *graph, uint32_t leaf);
struct myr_spot myr_graph_spine_spot(const struct myr_graph *graph, uint32_t spine);
uint32_t myr_graph_spine(const struct myr_graph *graph, struct myr_spot spot);
uint32_t myr_graph_core(const struct myr_graph *graph, struct myr_spot spot);
/* Uplink k of a leaf or spine, as an outgoing channel; ordered by the switch above. */
uint32_t myr_graph_uplink(const struct myr_graph *graph, uint32_t device, uint32_t k);
uint32_t myr_graph_uplink_count(const struct myr_graph *graph, uint32_t device);
