#include "myriad/site/tables.h"

#include <stdlib.h>

#include "myriad/site/cabling.h"

/*
 * Linear forwarding tables: for every switch and destination one egress port. Hosts get static
 * entries first and planned ones over them; switches are reached up and down as hosts are.
 */

/* More hops than any way has: tables that send a packet in a circle are noticed by it. */
enum { HOPS_MAX = 64 };

static uint32_t switch_index(const struct myr_tables *tables, uint32_t device)
{
    MYR_ASSERT(device - tables->graph->first_switch < tables->graph->switch_count);
    return device - tables->graph->first_switch;
}

static uint8_t *entry(const struct myr_tables *tables, uint32_t at_switch, uint32_t column)
{
    MYR_ASSERT(column < tables->columns);
    return &tables->egress[(size_t)at_switch * tables->columns + column];
}

/* The egress port of a channel, as its switch numbers it. */
static uint8_t port_number(const struct myr_tables *tables, uint32_t channel)
{
    const struct myr_design *design = tables->graph->design;
    uint32_t port = myr_channel_from_port(design, channel);
    uint32_t number = myr_site_number(design, port);
    MYR_ASSERT(number <= UINT8_MAX);
    return (uint8_t)number;
}

/* Columns are host ports first, then switches. Entry 0 means that there is no way. */
int myr_tables_init(struct myr_tables *tables, struct myr_arena *arena,
                    const struct myr_graph *graph, struct myr_err *err)
{
    const struct myr_design *design = graph->design;
    *tables = (struct myr_tables){.graph = graph};
    tables->host_number = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    tables->hosts = MYR_ARENA_NEW(arena, uint32_t, graph->net->host_ports);
    /* Every cabled NIC of the network is a destination, in the order of ports. */
    for (uint32_t port = 0; port < design->port_count; port++) {
        const struct myr_port_group *group = myr_design_port_group(design, port);
        tables->host_number[port] = MYR_NONE;
        if (group->role == MYR_PORT_NIC && group->net == graph->net_id &&
            design->port_link[port] != MYR_NONE) {
            MYR_ASSERT(tables->host_count <= graph->net->host_ports);
            tables->host_number[port] = tables->host_count;
            tables->hosts[tables->host_count++] = port;
        }
    }
    tables->columns = tables->host_count + graph->switch_count;
    /* Every destination needs an address of its own. */
    if (tables->columns > MYR_LID_MAX) {
        return myr_err_set(err, MYR_ERANGE,
                           "%u host ports and %u switches need more than the %u addresses of an "
                           "InfiniBand subnet",
                           tables->host_count, graph->switch_count, MYR_LID_MAX);
    }
    /* 0 everywhere: no way yet. */
    tables->egress = MYR_ARENA_NEW(arena, uint8_t, (size_t)tables->columns * graph->switch_count);
    myr_bitset_init(&tables->planned, arena, tables->columns * graph->switch_count);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
        if (myr_site_counts_on(type) && type->port_count > UINT8_MAX - 1) {
            return myr_err_set(err, MYR_ERANGE, "InfiniBand switches have at most 254 ports");
        }
    }
    return MYR_OK;
}

/* One step of a breadth-first search from a switch: neighbours learn the way back. */
static void spread(struct myr_tables *tables, uint32_t target, uint32_t at, uint32_t *queue,
                   uint32_t *tail)
{
    const struct myr_graph *graph = tables->graph;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        uint32_t from = bundle->neighbour - graph->first_switch;
        uint8_t *way = entry(tables, from, tables->host_count + target);
        /* Who has a way already was reached by a shorter one. */
        if (bundle->alive == 0 || from == target || *way) {
            continue;
        }
        for (uint32_t k = 0; k < bundle->count && *way == 0; k++) {
            uint32_t channel = graph->channels[bundle->first + k];
            if (!myr_graph_link_dead(graph, myr_channel_link(channel))) {
                *way = port_number(tables, myr_channel_back(channel));
            }
        }
        queue[(*tail)++] = from;
    }
}

/* The first living link from one switch to a neighbour, as the egress port. */
static uint8_t port_towards(const struct myr_tables *tables, const struct myr_bundle *bundle)
{
    const struct myr_graph *graph = tables->graph;
    for (uint32_t k = 0; k < bundle->count; k++) {
        uint32_t channel = graph->channels[bundle->first + k];
        if (!myr_graph_link_dead(graph, myr_channel_link(channel))) {
            return port_number(tables, channel);
        }
    }
    return 0;
}

/*
 * The way of a tree's switch to another one: down where that leads there, else up to the nearest
 * that knows. 'hops' are those of the switches that have their way already; 0: none.
 */
static void point_at(struct myr_tables *tables, uint32_t target, uint32_t at, uint32_t *hops)
{
    const struct myr_graph *graph = tables->graph;
    for (uint32_t up = 0; up < 2 && hops[at] == 0; up++) {
        for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
            const struct myr_bundle *bundle = &graph->bundles[i];
            uint32_t next = bundle->neighbour - graph->first_switch;
            /* Ids grow with the tiers: a higher one is above. */
            bool leads = bundle->alive && (next > at) == up && hops[next];
            if (leads && (hops[at] == 0 || hops[next] + 1 < hops[at])) {
                hops[at] = hops[next] + 1;
                *entry(tables, at, tables->host_count + target) = port_towards(tables, bundle);
            }
        }
    }
}

/* Ids grow with the tiers, and no tier has links inside: down-only ways from below, then up. */
static void fill_tree(struct myr_tables *tables, uint32_t target, uint32_t *hops)
{
    const struct myr_graph *graph = tables->graph;
    uint32_t count = graph->switch_count;
    memset(hops, 0, count * sizeof(uint32_t));
    hops[target] = 1;
    for (uint32_t at = target + 1; at < count; at++) {
        point_at(tables, target, at, hops); /* nothing above it has a way yet: down, or none */
    }
    for (uint32_t at = count; at-- > 0;) {
        point_at(tables, target, at, hops);
    }
}

/* Above the leaves, for those whose only way leads down and up again: no host's way meets them. */
static void fill_rest(struct myr_tables *tables, uint32_t target, uint32_t *hops)
{
    const struct myr_graph *graph = tables->graph;
    for (uint32_t at = graph->net->leaf; at < graph->switch_count; at++) {
        for (uint32_t i = graph->bundle_start[at]; hops[at] == 0 && i < graph->bundle_start[at + 1];
             i++) {
            const struct myr_bundle *bundle = &graph->bundles[i];
            uint32_t next = bundle->neighbour - graph->first_switch;
            if (bundle->alive && hops[next]) {
                hops[at] = hops[next] + 1;
                *entry(tables, at, tables->host_count + target) = port_towards(tables, bundle);
            }
        }
    }
}

/*
 * Switches are reached by whoever manages them, from a host: up and down as hosts are. Where there
 * are no tiers any shortest way will do.
 */
static void fill_switches(struct myr_tables *tables)
{
    uint32_t count = tables->graph->switch_count;
    MYR_CLEANUP(myr_free_at)
    uint32_t *queue = myr_xrealloc(NULL, (size_t)count + 1, sizeof(uint32_t));
    for (uint32_t target = 0; target < count; target++) {
        uint32_t head = 0, tail = 0;
        if (tables->graph->clos) {
            fill_tree(tables, target, queue);
            fill_rest(tables, target, queue);
            continue;
        }
        /* Breadth first from the target: the queue has every switch once. */
        queue[tail++] = target;
        while (head < tail) {
            spread(tables, target, queue[head++], queue, &tail);
            MYR_ASSERT(tail <= count);
        }
    }
}

/* Static tables (d-mod-k) for hosts; switches by the way that suits the fabric. */
void myr_tables_fill(struct myr_tables *tables)
{
    const struct myr_graph *graph = tables->graph;
    for (uint32_t s = 0; s < graph->switch_count; s++) {
        for (uint32_t h = 0; h < tables->host_count; h++) {
            uint32_t channel = myr_path_static(graph, graph->first_switch + s, tables->hosts[h]);
            *entry(tables, s, h) = channel == MYR_NONE ? 0 : port_number(tables, channel);
        }
    }
    fill_switches(tables);
}

/* Whether a path's hops agree with what earlier flows to its destination have fixed. */
static bool agrees(const struct myr_tables *tables, uint32_t column, const uint32_t *channels,
                   uint32_t count)
{
    const struct myr_design *design = tables->graph->design;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t port = myr_channel_from_port(design, channels[i]);
        uint32_t at = switch_index(tables, design->port_device[port]);
        if (myr_bitset_has(&tables->planned, at * tables->columns + column) &&
            *entry(tables, at, column) != port_number(tables, channels[i])) {
            return false;
        }
    }
    return true;
}

/*
 * A table has one way to each destination: the first flow decides, and a later one that wants
 * another is refused, with all of its hops.
 */
uint32_t myr_tables_plan(struct myr_tables *tables, const struct myr_routes *routes,
                         const struct myr_flow *flows)
{
    const struct myr_design *design = tables->graph->design;
    uint32_t refused = 0;
    for (size_t r = 0; r < routes->flow.count; r++) {
        const uint32_t *channels = routes->channels.items + routes->start.items[r];
        uint32_t count = routes->start.items[r + 1] - routes->start.items[r];
        uint32_t column = tables->host_number[flows[routes->flow.items[r]].to_port];
        MYR_ASSERT(column != MYR_NONE);
        if (!agrees(tables, column, channels, count)) {
            refused++;
            continue;
        }
        for (uint32_t i = 1; i < count; i++) { /* the first channel leaves the host */
            uint32_t port = myr_channel_from_port(design, channels[i]);
            uint32_t at = switch_index(tables, design->port_device[port]);
            *entry(tables, at, column) = port_number(tables, channels[i]);
            myr_bitset_add(&tables->planned, at * tables->columns + column);
        }
    }
    return refused;
}

static uint32_t channel_of_port(const struct myr_design *design, uint32_t port)
{
    uint32_t link = design->port_link[port];
    return link == MYR_NONE ? MYR_NONE : 2 * link + (design->link_a[link] != port);
}

/* False when an entry is missing, leads to another host, or leads on for ever. */
bool myr_tables_path(const struct myr_tables *tables, uint32_t from_port, uint32_t to_port,
                     struct myr_path *ret)
{
    const struct myr_design *design = tables->graph->design;
    uint32_t column = tables->host_number[to_port];
    uint32_t channel = channel_of_port(design, from_port);
    MYR_ASSERT(column != MYR_NONE);
    ret->count = 0;
    while (channel != MYR_NONE && ret->count < HOPS_MAX) {
        ret->channels[ret->count++] = channel;
        uint32_t device = myr_channel_to_device(design, channel);
        if (device == design->port_device[to_port]) {
            return myr_channel_from_port(design, myr_channel_back(channel)) == to_port;
        }
        if (device - tables->graph->first_switch >= tables->graph->switch_count) {
            return false;
        }
        /* Entry 0 is no port, and ends the walk. */
        uint8_t number = *entry(tables, switch_index(tables, device), column);
        uint32_t port = myr_site_numbered(design, device, number);
        channel = port == MYR_NONE ? MYR_NONE : channel_of_port(design, port);
    }
    return false;
}

/* Shares are in thousandths of a host port's rate (MYR_SHARE_ONE). */
void myr_tables_routes(const struct myr_tables *tables, const struct myr_flow *flows, size_t count,
                       struct myr_routes *ret, uint64_t *ret_load)
{
    const struct myr_graph *graph = tables->graph;
    struct myr_path path;
    myr_vec_push(&ret->start, 0);
    for (size_t f = 0; f < count; f++) {
        if (!myr_tables_path(tables, flows[f].from_port, flows[f].to_port, &path)) {
            ret->unroutable++;
            continue;
        }
        for (uint32_t i = 0; i < path.count; i++) {
            uint32_t channel = path.channels[i];
            uint64_t gbps = myr_channel_gbps(graph->design, channel);
            ret_load[channel] +=
                MYR_LOAD_ONE * flows[f].share / 1000 * graph->net->host_gbps / gbps;
            myr_vec_push(&ret->channels, channel);
        }
        myr_vec_push(&ret->start, (uint32_t)ret->channels.count);
        myr_vec_push(&ret->flow, (uint32_t)f);
        myr_vec_push(&ret->weight, flows[f].share);
    }
}
