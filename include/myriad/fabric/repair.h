/*
 * repair: what is left when something dies, computed before it does.
 *
 * Local repair: the switches at the dead link take another candidate at once. Remote repair: the
 * switches farther off stop offering ways that lead into the dead end. Both follow from the
 * candidate sets (path.h), which honour what is dead; here they are counted for a link or a device
 * that is alive now, together with the bandwidth that remains and the flows affected. The graph is
 * as before when the call returns.
 */
#pragma once

#include "myriad/fabric/balance.h"

struct myr_failover {
    uint32_t device, link;  /* what dies; the other is MYR_NONE */
    uint32_t local_choices; /* channels left to the switch below that must choose another one; of a
                               device: to the one of its neighbours below with the fewest */
    uint32_t remote_switches; /* not at its ends, but with other candidates for some destination */
    uint32_t hosts_cut;       /* host ports left without any other host to reach */
    uint32_t flows_affected;  /* of the routes given */
    double bandwidth_left;    /* of what that switch below had upwards; of a host port: 0 */
};

/* 'routes' may be NULL. */
struct myr_failover myr_failover_link(struct myr_graph *graph, uint32_t link,
                                      const struct myr_routes *routes);
struct myr_failover myr_failover_device(struct myr_graph *graph, uint32_t device,
                                        const struct myr_routes *routes);

struct myr_degraded {
    /*
     * Between two halves of the hosts, one direction. A Clos: the half of the leaves (and of the
     * pods) that has lost most upwards. Other fabrics: the least of the straight cuts through the
     * middle (torus), or of halves of the groups in a row (dragonfly).
     */
    uint64_t bisection_gbps, bisection_full_gbps;
    /*
     * Between the two host switches that are worst connected. A Clos: the most that shortest paths
     * carry. Other fabrics: the most that any paths carry; 'worst_exact' is false where the fabric
     * is too large for that and the switch with the fewest links stands for it.
     */
    uint64_t worst_pair_gbps;
    uint32_t worst_a, worst_b; /* MYR_NONE: there is no pair */
    bool worst_exact;
    uint64_t rail_gbps_least; /* weakest rail's leaf uplinks */
    uint32_t rail_least;
    uint32_t hosts_cut; /* host ports: their link is dead, or their switch reaches no other */
    uint32_t dead_links;
};

/* With the graph's dead links. */
void myr_degraded_report(const struct myr_graph *graph, struct myr_degraded *ret);

struct myr_rail_bandwidth {
    uint64_t gbps, full_gbps; /* leaf uplinks of the rail; host links where there is one tier */
};

/* Rails of the network: as many as it has, 1 where leaves do not belong to rails. */
uint32_t myr_degraded_rail_count(const struct myr_graph *graph);
struct myr_rail_bandwidth myr_degraded_rail(const struct myr_graph *graph, uint32_t rail);

/* What a set of devices takes along when it dies: one switch, or all members of a domain. */
struct myr_blast {
    uint32_t devices;
    uint32_t hosts_cut;      /* host ports, those of dead nodes included */
    uint32_t nodes_dead;     /* members themselves */
    uint32_t nodes_cut;      /* others without any port left on this network */
    uint32_t nodes_weakened; /* others that lost some of their ports */
    uint32_t gpus_lost;      /* of dead nodes and of nodes cut */
    uint32_t flows_affected;
    struct myr_degraded left;
};

void myr_blast_radius(struct myr_graph *graph, const uint32_t *devices, uint32_t count,
                      const struct myr_routes *routes, struct myr_blast *ret);
