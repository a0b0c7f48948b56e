#include "myriad/fabric/repair.h"

#include <stdlib.h>

static uint32_t flows_over(const struct myr_graph *graph, const struct myr_routes *routes)
{
    uint32_t affected = 0;
    for (uint32_t r = 0; routes && r < routes->flow.count; r++) {
        for (uint32_t i = routes->start.items[r]; i < routes->start.items[r + 1]; i++) {
            if (myr_graph_link_dead(graph, myr_channel_link(routes->channels.items[i]))) {
                affected++;
                break;
            }
        }
    }
    return affected;
}

static bool is_host_link(const struct myr_graph *graph, uint32_t link)
{
    const struct myr_design *design = graph->design;
    uint32_t type = design->cable_type[design->link_cable[link]];
    return design->cabletypes[type].layer == MYR_LAYER_HOST;
}

static uint32_t alive_up(const struct myr_graph *graph, uint32_t device)
{
    uint32_t at = device - graph->first_switch, alive = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        alive += graph->bundles[i].neighbour > device ? graph->bundles[i].alive : 0;
    }
    return alive;
}

/* Neighbours below that would send into a dead end: those whose bundle's other side is empty. */
static uint32_t remote_count(const struct myr_graph *graph, uint32_t lower, uint32_t upper)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, upper, lower);
    if (!bundle || bundle->alive > 0) {
        return 0; /* parallel links remain: nobody else needs to know */
    }
    uint32_t at = upper - graph->first_switch, count = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        count += graph->bundles[i].neighbour != lower && graph->bundles[i].alive > 0;
    }
    return count;
}

struct myr_failover myr_failover_link(struct myr_graph *graph, uint32_t link,
                                      const struct myr_routes *routes)
{
    const struct myr_design *design = graph->design;
    struct myr_failover result = {.device = MYR_NONE, .link = link, .bandwidth_left = 1};
    uint32_t lower = design->port_device[design->link_a[link]];
    uint32_t upper = design->port_device[design->link_b[link]];
    bool was_dead = myr_bitset_has(&graph->dead, link);
    myr_graph_set_link(graph, link, true);
    result.flows_affected = flows_over(graph, routes);
    if (is_host_link(graph, link)) {
        result.hosts_cut = 1;
        result.bandwidth_left = 0;
    } else {
        const struct myr_bundle *bundle = myr_graph_bundle(graph, lower, upper);
        result.local_choices = alive_up(graph, lower);
        result.remote_switches = remote_count(graph, lower, upper);
        result.bandwidth_left = (double)bundle->alive / bundle->count;
        result.hosts_cut = 0;
        if (graph->clos && result.local_choices == 0 &&
            lower - graph->net->first_leaf < graph->net->leaf) {
            result.hosts_cut = graph->net->leaf_down;
        }
    }
    if (!was_dead) {
        myr_graph_set_link(graph, link, false);
    }
    return result;
}

static uint32_t hosts_on(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    uint32_t hosts = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        hosts += design->port_link[p] != MYR_NONE && is_host_link(graph, design->port_link[p]);
    }
    return hosts;
}

struct myr_failover myr_failover_device(struct myr_graph *graph, uint32_t device,
                                        const struct myr_routes *routes)
{
    const struct myr_design *design = graph->design;
    const struct myr_network *net = graph->net;
    struct myr_failover result = {.device = device, .link = MYR_NONE, .bandwidth_left = 1};
    MYR_VEC(uint32_t) killed = {0};
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && !myr_bitset_has(&graph->dead, link)) {
            myr_graph_set_link(graph, link, true);
            myr_vec_push(&killed, link);
        }
    }
    result.flows_affected = flows_over(graph, routes);
    result.hosts_cut = hosts_on(graph, device);
    uint32_t at = device - graph->first_switch;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        uint32_t neighbour = graph->bundles[i].neighbour;
        if (neighbour < device) {
            uint32_t left = alive_up(graph, neighbour);
            least = left < least ? left : least;
            result.remote_switches++;
        }
    }
    result.local_choices = least == UINT32_MAX ? 0 : least;
    uint32_t peers = device - net->first_leaf < net->leaf     ? net->leaf
                     : device - net->first_spine < net->spine ? net->pod_spines
                                                              : net->group_cores * net->core_groups;
    result.bandwidth_left = peers ? 1 - 1.0 / peers : 0;
    for (size_t i = 0; i < killed.count; i++) {
        myr_graph_set_link(graph, killed.items[i], false);
    }
    myr_vec_done(&killed);
    return result;
}

/* What one leaf can send to another: the least of its own way up and the other's way down. */
static uint64_t pair_gbps(const struct myr_graph *graph, uint32_t a, uint32_t b)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint64_t there = myr_path_candidates(graph, a, b, candidates);
    uint64_t back = myr_path_candidates(graph, b, a, candidates);
    return (there < back ? there : back) * graph->net->fabric_gbps;
}

static void weakest_rail(const struct myr_graph *graph, struct myr_degraded *ret)
{
    const struct myr_network *net = graph->net;
    uint64_t *rails = myr_xcalloc(net->rails ? net->rails : 1, sizeof(*rails));
    for (uint32_t i = 0; i < net->leaf; i++) {
        const struct myr_place *place = &graph->design->place[net->first_leaf + i];
        uint32_t rail = net->topology == MYR_TOPOLOGY_RAIL        ? place->ordinal
                        : net->topology == MYR_TOPOLOGY_RAIL_ONLY ? place->unit
                                                                  : 0;
        rails[rail] += (uint64_t)alive_up(graph, net->first_leaf + i) * net->fabric_gbps;
    }
    for (uint32_t rail = 0; rail < net->rails; rail++) {
        if (rail == 0 || rails[rail] < ret->rail_gbps_least) {
            ret->rail_gbps_least = rails[rail];
            ret->rail_least = rail;
        }
    }
    free(rails);
}

/*
 * The worst pair lies among the leaves with the fewest uplinks left and those that share their
 * losses: every leaf with a loss is compared with every other leaf of its fabric.
 */
static void worst_pair(const struct myr_graph *graph, struct myr_degraded *ret)
{
    const struct myr_network *net = graph->net;
    ret->worst_pair_gbps = UINT64_MAX;
    for (uint32_t i = 0; i < net->leaf; i++) {
        uint32_t a = net->first_leaf + i;
        bool hurt = alive_up(graph, a) < net->leaf_up;
        if (i > 0 && !hurt) {
            continue;
        }
        for (uint32_t k = 0; k < net->leaf; k++) {
            uint32_t b = net->first_leaf + k;
            if (a == b || i / graph->unit_leaves != k / graph->unit_leaves) {
                continue;
            }
            uint64_t gbps = pair_gbps(graph, a, b);
            if (gbps < ret->worst_pair_gbps) {
                ret->worst_pair_gbps = gbps;
                ret->worst_a = a;
                ret->worst_b = b;
            }
        }
    }
    if (ret->worst_pair_gbps == UINT64_MAX) {
        ret->worst_pair_gbps = 0;
        ret->worst_a = ret->worst_b = MYR_NONE;
    }
}

void myr_degraded_report(const struct myr_graph *graph, struct myr_degraded *ret)
{
    const struct myr_design *design = graph->design;
    const struct myr_network *net = graph->net;
    uint64_t layers[MYR_LAYER_COUNT] = {0};
    *ret = (struct myr_degraded){.bisection_full_gbps = net->bisection_gbps};
    for (uint32_t link = 0; link < design->link_count; link++) {
        const struct myr_cabletype *type =
            &design->cabletypes[design->cable_type[design->link_cable[link]]];
        if (type->net != graph->net_id) {
            continue;
        }
        if (!myr_graph_link_dead(graph, link)) {
            layers[type->layer] += type->gbps;
        } else if (type->layer == MYR_LAYER_HOST) {
            ret->hosts_cut++;
        }
    }
    ret->bisection_gbps = net->bisection_gbps;
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        uint64_t half = layers[layer] / 2;
        bool used = net->links[layer] > 0 && (graph->clos || layer == MYR_LAYER_HOST);
        if (used && half < ret->bisection_gbps) {
            ret->bisection_gbps = half;
        }
    }
    if (graph->clos && net->tiers >= 2) {
        for (uint32_t i = 0; i < net->leaf; i++) {
            bool cut = alive_up(graph, net->first_leaf + i) == 0;
            ret->hosts_cut += cut ? hosts_on(graph, net->first_leaf + i) : 0;
        }
        worst_pair(graph, ret);
        weakest_rail(graph, ret);
    }
}
