/*
 * repair: what is left when something dies, computed before it does.
 *
 * Local repair: the switch at the dead link takes another candidate at once. Remote repair: the
 * switches before it stop offering ways that lead into the dead end. Both follow from the
 * candidate sets; here they are counted, with the bandwidth that remains and the flows affected.
 */
#pragma once

#include "myriad/fabric/balance.h"

struct myr_failover {
    uint32_t device, link;    /* what dies; the other is MYR_NONE */
    uint32_t local_choices;   /* candidates left at the switch above the traffic */
    uint32_t remote_switches; /* switches that must stop offering this way */
    uint32_t hosts_cut;       /* host ports without any path to the rest */
    uint32_t flows_affected;  /* of the flows given */
    double bandwidth_left;    /* of the bundle (link) or of the tier (switch), 0 to 1 */
};

struct myr_failover myr_failover_link(struct myr_graph *graph, uint32_t link,
                                      const struct myr_routes *routes);
struct myr_failover myr_failover_device(struct myr_graph *graph, uint32_t device,
                                        const struct myr_routes *routes);

struct myr_degraded {
    uint64_t bisection_gbps, bisection_full_gbps;
    uint64_t worst_pair_gbps; /* between two host switches of one fabric */
    uint32_t worst_a, worst_b;
    uint64_t rail_gbps_least; /* weakest rail's leaf uplink capacity */
    uint32_t rail_least;
    uint32_t hosts_cut;
};

/* With the graph's dead links. */
void myr_degraded_report(const struct myr_graph *graph, struct myr_degraded *ret);
