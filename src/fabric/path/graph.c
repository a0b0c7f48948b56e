#include "myriad/fabric/graph.h"

#include <stdlib.h>

/*
 * Arrays beside the design, made once a network: the design knows ports and links, a router needs
 * neighbours and uplinks by number. A channel is one direction of a link: twice the link's id, plus
 * one from b to a. Switches of a network have consecutive ids, tier by tier, so the place of one in
 * its tier is a subtraction.
 */

/* Unsigned: an id below the first switch becomes a huge difference. */
static bool is_fabric_switch(const struct myr_graph *graph, uint32_t device)
{
    return device - graph->first_switch < graph->switch_count;
}

uint32_t myr_channel_from_port(const struct myr_design *design, uint32_t channel)
{
    uint32_t link = channel / 2;
    return channel % 2 ? design->link_b[link] : design->link_a[link];
}

uint32_t myr_channel_to_device(const struct myr_design *design, uint32_t channel)
{
    return design->port_device[myr_channel_from_port(design, channel ^ 1)];
}

uint32_t myr_channel_gbps(const struct myr_design *design, uint32_t channel)
{
    uint32_t cable = design->link_cable[channel / 2];
    return design->cabletypes[design->cable_type[cable]].gbps;
}

/* Outgoing channels of a switch to other switches of the network, in port order. */
static uint32_t outgoing(const struct myr_graph *graph, uint32_t device, uint32_t port,
                         uint32_t *ret_neighbour)
{
    const struct myr_design *design = graph->design;
    uint32_t link = design->port_link[port];
    if (link == MYR_NONE) {
        return MYR_NONE;
    }
    uint32_t peer = myr_design_peer(design, port);
    *ret_neighbour = design->port_device[peer];
    /* A host, or a switch of another network. */
    if (!is_fabric_switch(graph, *ret_neighbour)) {
        return MYR_NONE;
    }
    (void)device;
    return link * 2 + (design->link_a[link] != port);
}

struct neighbour_port {
    uint32_t neighbour, channel;
};

/* Sorted by neighbour; ports of one neighbour keep their order. Lists are short: insertion. */
static uint32_t sorted_channels(const struct myr_graph *graph, uint32_t device,
                                struct neighbour_port *list)
{
    const struct myr_design *design = graph->design;
    uint32_t count = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t neighbour;
        uint32_t channel = outgoing(graph, device, p, &neighbour);
        if (channel == MYR_NONE) {
            continue;
        }
        /* Ports come in order, so that equal neighbours stay so. */
        uint32_t at = count++;
        MYR_ASSERT(at < design->first_port[device + 1] - design->first_port[device]);
        while (at > 0 && list[at - 1].neighbour > neighbour) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = (struct neighbour_port){neighbour, channel};
    }
    return count;
}

/* Room for the list of any switch; at least one place. */
static uint32_t most_ports(const struct myr_graph *graph)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        uint32_t ports = graph->design->first_port[device + 1] - graph->design->first_port[device];
        most = ports > most ? ports : most;
    }
    return most;
}

/*
 * All links to one neighbour are a bundle, bundles of a switch are sorted by neighbour: a search
 * finds one, and links up are a range at the end.
 */
static void build_bundles(struct myr_graph *graph, struct myr_arena *arena)
{
    MYR_CLEANUP(myr_free_at)
    struct neighbour_port *list =
        myr_xrealloc(NULL, most_ports(graph), sizeof(struct neighbour_port));
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct myr_bundle) bundles = {};
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) channels = {};
    /* Gathered in lists that grow, then copied to where they stay. */
    graph->bundle_start = MYR_ARENA_NEW(arena, uint32_t, (size_t)graph->switch_count + 1);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t count = sorted_channels(graph, graph->first_switch + i, list);
        graph->bundle_start[i] = (uint32_t)bundles.count;
        for (uint32_t k = 0; k < count; k++) {
            /* Sorted: a new neighbour begins a new bundle. */
            if (k == 0 || list[k].neighbour != list[k - 1].neighbour) {
                struct myr_bundle bundle = {.neighbour = list[k].neighbour,
                                            .first = (uint32_t)channels.count};
                myr_vec_push(&bundles, bundle);
            }
            bundles.items[bundles.count - 1].count++;
            bundles.items[bundles.count - 1].alive++;
            myr_vec_push(&channels, list[k].channel);
        }
    }
    MYR_ASSERT(channels.count <= (size_t)graph->design->link_count * 2);
    graph->bundle_start[graph->switch_count] = (uint32_t)bundles.count;
    graph->bundles = MYR_ARENA_NEW(arena, struct myr_bundle, bundles.count);
    graph->channels = MYR_ARENA_NEW(arena, uint32_t, channels.count);
    if (bundles.count) {
        memcpy(graph->bundles, bundles.items, bundles.count * sizeof(*bundles.items));
        memcpy(graph->channels, channels.items, channels.count * sizeof(*channels.items));
    }
    /* The neighbour of each channel, beside it: the quickest walk needs no bundle. */
    graph->peers = MYR_ARENA_NEW(arena, uint32_t, channels.count);
    for (size_t i = 0; i < bundles.count; i++) {
        for (uint32_t k = 0; k < graph->bundles[i].count; k++) {
            graph->peers[graph->bundles[i].first + k] = graph->bundles[i].neighbour;
        }
    }
}

/* Uplink k of every leaf of a pod must lead to the same spine, and so on above. */
static bool uplinks_agree(const struct myr_graph *graph, uint32_t first, uint32_t second)
{
    uint32_t count = myr_graph_uplink_count(graph, first);
    if (count != myr_graph_uplink_count(graph, second)) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t a = myr_channel_to_device(graph->design, myr_graph_uplink(graph, first, k));
        uint32_t b = myr_channel_to_device(graph->design, myr_graph_uplink(graph, second, k));
        if (a != b) {
            return false;
        }
    }
    return true;
}

/* Asked of the plan, not of what is dead: colours and arithmetic rely on the order of uplinks. */
static bool is_regular(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    if (!graph->clos) {
        return false;
    }
    for (uint32_t i = 0; i < net->leaf; i++) {
        uint32_t leaf = net->first_leaf + i;
        uint32_t in_unit = i % graph->unit_leaves;
        /* The first leaf of the pod is what the others are compared with. */
        uint32_t in_pod = in_unit % net->pod_leaves;
        if (!uplinks_agree(graph, leaf - in_pod, leaf)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < net->spine && net->tiers == 3; i++) {
        uint32_t in_unit = i % graph->unit_spines;
        uint32_t same_position = net->first_spine + i - in_unit + in_unit % net->pod_spines;
        if (!uplinks_agree(graph, same_position, net->first_spine + i)) {
            return false;
        }
    }
    return true;
}

static uint32_t first_up_bundle(const struct myr_graph *graph, uint32_t device);

/* Hosts come before all switches in a design, so their ports are the first ones. */
static void build_entries(struct myr_graph *graph, struct myr_arena *arena)
{
    const struct myr_design *design = graph->design;
    graph->entry_count = design->first_port[graph->first_switch];
    graph->entries = MYR_ARENA_NEW(arena, struct myr_entry, graph->entry_count);
    for (uint32_t port = 0; port < graph->entry_count; port++) {
        uint32_t link = design->port_link[port];
        graph->entries[port] = (struct myr_entry){MYR_NONE, MYR_NONE};
        /* Hosts have ports of other networks too. */
        if (link == MYR_NONE || !myr_graph_has_link(graph, link)) {
            continue;
        }
        uint32_t channel = link * 2 + (design->link_a[link] != port);
        uint32_t leaf = myr_channel_to_device(design, channel);
        if (is_fabric_switch(graph, leaf)) {
            graph->entries[port] = (struct myr_entry){channel, leaf};
        }
    }
}

/* Leaves and spines only: cores have nothing above them. */
static void build_rungs(struct myr_graph *graph, struct myr_arena *arena)
{
    const struct myr_network *net = graph->net;
    graph->rungs = MYR_ARENA_NEW(arena, struct myr_rung, graph->switch_count);
    for (uint32_t i = 0; i < net->leaf + net->spine; i++) {
        uint32_t device = graph->first_switch + i;
        struct myr_spot spot = i < net->leaf ? myr_graph_leaf_spot(graph, device)
                                             : myr_graph_spine_spot(graph, device);
        /* Uplinks of a switch are one range of channels. */
        uint32_t count = myr_graph_uplink_count(graph, device);
        uint32_t up = count ? graph->bundles[first_up_bundle(graph, device)].first : 0;
        graph->rungs[i] = (struct myr_rung){spot.unit, spot.pod, spot.index, up, count};
    }
}

int myr_graph_init(struct myr_graph *graph, struct myr_arena *arena,
                   const struct myr_design *design, enum myr_net_id net_id, struct myr_err *err)
{
    const struct myr_network *net = &design->networks[net_id];
    if (!net->topology) {
        return myr_err_set(err, MYR_ENOENT, "the design has no %s network", myr_net_names[net_id]);
    }
    *graph = (struct myr_graph){.design = design, .net = net, .net_id = net_id};
    /* An access network has no leaves: there its access switches come first. */
    graph->first_switch = net->leaf ? net->first_leaf : net->first_access;
    graph->switch_count = net->leaf + net->spine + net->core + net->access + net->aggregation;
    /* Planes and units are fabrics of their own, all of the same size. */
    uint32_t fabrics = net->planes * (net->units ? net->units : 1);
    graph->unit_leaves = net->leaf / fabrics;
    graph->unit_spines = net->spine / fabrics;
    graph->unit_cores = net->core / fabrics;
    /* Everything with leaves that are joined by higher tiers alone. */
    graph->clos = net->leaf && net->topology != MYR_TOPOLOGY_DRAGONFLY &&
                  net->topology != MYR_TOPOLOGY_DRAGONFLY_PLUS &&
                  net->topology != MYR_TOPOLOGY_TORUS;
    myr_bitset_init(&graph->dead, arena, design->link_count);
    build_bundles(graph, arena);
    graph->regular = is_regular(graph);
    build_entries(graph, arena);
    if (graph->clos) {
        build_rungs(graph, arena);
    }
    return MYR_OK;
}

/* By halves: bundles of a switch are sorted. NULL where the two have no link. */
const struct myr_bundle *myr_graph_bundle(const struct myr_graph *graph, uint32_t from, uint32_t to)
{
    MYR_ASSERT(is_fabric_switch(graph, from));
    uint32_t low = graph->bundle_start[from - graph->first_switch];
    uint32_t high = graph->bundle_start[from - graph->first_switch + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->bundles[middle].neighbour == to) {
            return &graph->bundles[middle];
        }
        if (graph->bundles[middle].neighbour < to) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

void myr_graph_set_link(struct myr_graph *graph, uint32_t link, bool dead)
{
    const struct myr_design *design = graph->design;
    if (myr_bitset_has(&graph->dead, link) == dead) {
        return;
    }
    /* Told once: a link that is what it should be changes no count. */
    uint32_t a = design->port_device[design->link_a[link]];
    uint32_t b = design->port_device[design->link_b[link]];
    if (dead) {
        myr_bitset_add(&graph->dead, link);
    } else {
        myr_bitset_remove(&graph->dead, link);
    }
    MYR_ASSERT(dead || graph->dead_count > 0);
    graph->dead_count += dead ? 1U : UINT32_MAX; /* plus one, or minus one */
    if (!is_fabric_switch(graph, a) || !is_fabric_switch(graph, b)) {
        return; /* a host link: no bundle */
    }
    /* Both directions are kept in step: a dead link carries nothing either way. */
    struct myr_bundle *there = (struct myr_bundle *)myr_graph_bundle(graph, a, b);
    struct myr_bundle *back = (struct myr_bundle *)myr_graph_bundle(graph, b, a);
    MYR_ASSERT(there && back && there->alive == back->alive);
    MYR_ASSERT(dead ? there->alive > 0 : there->alive < there->count);
    there->alive = (uint16_t)(there->alive + (dead ? -1 : 1));
    back->alive = (uint16_t)(back->alive + (dead ? -1 : 1));
}

bool myr_graph_has_device(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && myr_graph_has_link(graph, link)) {
            return true;
        }
    }
    return false;
}

void myr_graph_set_device(struct myr_graph *graph, uint32_t device, bool dead)
{
    const struct myr_design *design = graph->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && myr_graph_has_link(graph, link)) {
            myr_graph_set_link(graph, link, dead);
        }
    }
}

uint32_t myr_graph_host_switch(const struct myr_graph *graph, uint32_t port)
{
    uint32_t peer = myr_design_peer(graph->design, port);
    return peer == MYR_NONE ? MYR_NONE : graph->design->port_device[peer];
}

/* Leaves are numbered fabric by fabric, in it pod by pod. */
struct myr_spot myr_graph_leaf_spot(const struct myr_graph *graph, uint32_t leaf)
{
    uint32_t at = leaf - graph->net->first_leaf;
    uint32_t in_unit = at % graph->unit_leaves;
    return (struct myr_spot){at / graph->unit_leaves, in_unit / graph->net->pod_leaves,
                             in_unit % graph->net->pod_leaves};
}

struct myr_spot myr_graph_spine_spot(const struct myr_graph *graph, uint32_t spine)
{
    uint32_t at = spine - graph->net->first_spine;
    uint32_t in_unit = at % graph->unit_spines;
    return (struct myr_spot){at / graph->unit_spines, in_unit / graph->net->pod_spines,
                             in_unit % graph->net->pod_spines};
}

uint32_t myr_graph_spine(const struct myr_graph *graph, struct myr_spot spot)
{
    return graph->net->first_spine + spot.unit * graph->unit_spines +
           spot.pod * graph->net->pod_spines + spot.index;
}

uint32_t myr_graph_core(const struct myr_graph *graph, struct myr_spot spot)
{
    return graph->net->first_core + spot.unit * graph->unit_cores +
           spot.pod * graph->net->group_cores + spot.index;
}

/* Switches above have higher ids, so their bundles come after those of the leaves below. */
static uint32_t first_up_bundle(const struct myr_graph *graph, uint32_t device)
{
    uint32_t first = graph->bundle_start[device - graph->first_switch];
    /* A leaf has nothing below it but hosts. */
    if (device < graph->net->first_spine) {
        return first;
    }
    struct myr_spot spot = myr_graph_spine_spot(graph, device);
    uint32_t before = spot.pod * graph->net->pod_leaves;
    uint32_t below = graph->unit_leaves - before;
    return first + (below < graph->net->pod_leaves ? below : graph->net->pod_leaves);
}

/* Bundles above are the last ones of a switch, and their channels are in a row. */
uint32_t myr_graph_uplink_count(const struct myr_graph *graph, uint32_t device)
{
    uint32_t first = first_up_bundle(graph, device);
    uint32_t end = graph->bundle_start[device - graph->first_switch + 1];
    if (first >= end) {
        return 0;
    }
    const struct myr_bundle *last = &graph->bundles[end - 1];
    return last->first + last->count - graph->bundles[first].first;
}

uint32_t myr_graph_uplink(const struct myr_graph *graph, uint32_t device, uint32_t k)
{
    uint32_t first = first_up_bundle(graph, device);
    MYR_ASSERT(first < graph->bundle_start[device - graph->first_switch + 1]);
    MYR_SLOW_ASSERT(k < myr_graph_uplink_count(graph, device));
    return graph->channels[graph->bundles[first].first + k];
}
