#include "myriad/fabric/balance.h"

#include <stdlib.h>

#include "myriad/fabric/colour.h"

/* Improving stops when a pass moves nothing; the bounds end it where something always moves. */
enum { FLOWLETS = 8, IMPROVE_PASSES = 8, IMPROVE_TRIES = 32 };

/* Fractions of sprayed flows are kept finer than loads: they are divided again at every hop. */
#define SPRAY_FINE (UINT64_C(1) << 20)

const char *const myr_policy_names[MYR_POLICY_COUNT] = {
    "ecmp", "ecmp-xor", "port", "static", "flowlet", "spray", "adaptive", "planned"};

void myr_routes_done(struct myr_routes *routes)
{
    myr_vec_done(&routes->start);
    myr_vec_done(&routes->channels);
    myr_vec_done(&routes->flow);
    myr_vec_done(&routes->weight);
    myr_vec_done(&routes->limit);
}

/* What a switch needs to pick an egress. */
struct picker {
    const struct myr_graph *graph;
    const struct myr_balance_options *options;
    const struct myr_flow *flow;
    struct myr_tuple tuple;
    uint32_t came_by; /* channel into the present switch */
    const uint64_t *load;
};

static uint32_t switch_seed(const struct picker *picker, uint32_t device)
{
    uint64_t own = picker->options->polarised ? 0 : device;
    return (uint32_t)myr_hash_u64(picker->options->seed * UINT64_C(0x9E3779B97F4A7C15) + own);
}

/*
 * A CRC is linear: another start value only flips the same bits of every flow's hash, so two
 * switches in a row would make the same choice up to a constant, and each would leave most of its
 * uplinks empty. Chips therefore mix the CRC with their own seed before they take it modulo.
 */
static uint32_t crc_choice(const struct picker *picker, uint32_t device)
{
    uint64_t crc = myr_hash_crc(&picker->tuple, 0);
    return (uint32_t)(myr_hash_u64(crc | (uint64_t)switch_seed(picker, device) << 32) >> 32);
}

static uint32_t ingress_index(const struct picker *picker)
{
    const struct myr_design *design = picker->graph->design;
    uint32_t port = myr_channel_from_port(design, myr_channel_back(picker->came_by));
    return port - design->first_port[design->port_device[port]];
}

static uint32_t least_loaded(const struct picker *picker, uint32_t count,
                             const uint32_t *candidates)
{
    /* Among equals by hash, so that the first uplinks are not always the first to fill. */
    uint32_t start = myr_hash_crc(&picker->tuple, (uint32_t)picker->options->seed) % count;
    uint32_t best = start;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t at = (start + i) % count;
        if (picker->load[candidates[at]] < picker->load[candidates[best]]) {
            best = at;
        }
    }
    return best;
}

static uint32_t pick(void *context, uint32_t device, uint32_t count, uint32_t depth,
                     const uint32_t *candidates)
{
    struct picker *picker = context;
    uint32_t choice = 0;
    (void)depth;
    switch (picker->options->policy) {
    case MYR_POLICY_ECMP_CRC:
    case MYR_POLICY_FLOWLET:
        choice = crc_choice(picker, device) % count;
        break;
    case MYR_POLICY_ECMP_XOR:
        choice = myr_hash_xor(&picker->tuple, switch_seed(picker, device)) % count;
        break;
    case MYR_POLICY_PORT:
        choice = ingress_index(picker) % count;
        break;
    case MYR_POLICY_STATIC: {
        uint32_t channel = myr_path_static(picker->graph, device, picker->flow->to_port);
        while (choice + 1 < count && candidates[choice] != channel) {
            choice++;
        }
        break;
    }
    default:
        choice = least_loaded(picker, count, candidates);
        break;
    }
    picker->came_by = candidates[choice];
    return choice;
}

/* What a flow's share takes of a channel. */
static uint64_t load_part(const struct myr_graph *graph, uint32_t channel, uint64_t share)
{
    uint64_t gbps = myr_channel_gbps(graph->design, channel);
    return MYR_LOAD_ONE * share / MYR_SHARE_ONE * graph->net->host_gbps / gbps;
}

static void add_load(const struct myr_graph *graph, uint64_t *load, const struct myr_path *path,
                     uint32_t share, bool remove)
{
    for (uint32_t i = 0; i < path->count; i++) {
        uint64_t part = load_part(graph, path->channels[i], share);
        MYR_ASSERT(!remove || load[path->channels[i]] >= part);
        load[path->channels[i]] += remove ? 0 - part : part;
    }
}

/* Routes of a flow follow each other, and flows come in order: readers walk both side by side. */
static void put_route(struct myr_routes *routes, uint32_t flow, uint32_t weight,
                      const struct myr_path *path)
{
    MYR_ASSERT(path->count > 0);
    MYR_ASSERT(routes->flow.count == 0 || routes->flow.items[routes->flow.count - 1] <= flow);
    for (uint32_t i = 0; i < path->count; i++) {
        myr_vec_push(&routes->channels, path->channels[i]);
    }
    myr_vec_push(&routes->start, (uint32_t)routes->channels.count);
    myr_vec_push(&routes->flow, flow);
    myr_vec_push(&routes->weight, weight);
}

static struct picker picker_for(const struct myr_graph *graph,
                                const struct myr_balance_options *options,
                                const struct myr_flow *flow, const uint64_t *load)
{
    uint32_t link = graph->design->port_link[flow->from_port];
    return (struct picker){.graph = graph,
                           .options = options,
                           .flow = flow,
                           .tuple = myr_flow_tuple(flow),
                           .came_by = link == MYR_NONE ? 0 : link * 2,
                           .load = load};
}

/* Hash, port, static, adaptive, flowlet: hop by hop. */
static void route_by_hop(const struct myr_graph *graph, const struct myr_balance_options *options,
                         const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                         uint64_t *load)
{
    uint32_t pieces = options->policy == MYR_POLICY_FLOWLET ? FLOWLETS : 1;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t piece = 0; piece < pieces; piece++) {
            struct myr_path path;
            struct picker picker = picker_for(graph, options, &flows[i], load);
            /* Another source port stands for another flowlet; an odd factor spreads the bits. */
            picker.tuple.source = (uint16_t)(picker.tuple.source ^ piece * 0x1F35);
            if (!myr_path_find(graph, flows[i].from_port, flows[i].to_port, pick, &picker, &path)) {
                ret->unroutable++;
                break;
            }
            uint64_t share = flows[i].share;
            uint32_t weight = (uint32_t)(share * (piece + 1) / pieces - share * piece / pieces);
            if (weight > 0) {
                put_route(ret, (uint32_t)i, weight, &path);
                add_load(graph, load, &path, weight, false);
            }
        }
    }
}

/* --- planned, where no colouring is possible: move flows off the links that are too full */

struct path_cost {
    uint64_t highest, sum;
};

/* Host channels are the same for every path of a flow, and say nothing. */
static struct path_cost cost_of(const struct myr_graph *graph, const struct myr_path *path,
                                uint32_t share, const uint64_t *load)
{
    struct path_cost cost = {0};
    for (uint32_t i = 1; i + 1 < path->count; i++) {
        uint64_t value = load[path->channels[i]] + load_part(graph, path->channels[i], share);
        cost.highest = value > cost.highest ? value : cost.highest;
        cost.sum += value;
    }
    return cost;
}

static bool cheaper(struct path_cost a, struct path_cost b)
{
    return a.highest != b.highest ? a.highest < b.highest : a.sum < b.sum;
}

static bool other_path(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t value,
                       uint32_t attempt, struct myr_path *ret)
{
    bool detour = attempt % 2 && graph->net->topology == MYR_TOPOLOGY_DRAGONFLY;
    if (detour) {
        return myr_path_valiant(graph, flow->from_port, flow->to_port, (uint32_t)(value >> 40),
                                value, ret);
    }
    return myr_path_by_value(graph, flow->from_port, flow->to_port, value, ret);
}

/* Takes each flow out and puts it back on the best of some paths; true when anything changed. */
static bool improve(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                    uint32_t pass, struct myr_path *paths, uint64_t *load)
{
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t share = flows[i].share;
        if (paths[i].count < 3) {
            continue; /* without a path, or inside one switch */
        }
        add_load(graph, load, &paths[i], share, true);
        struct path_cost now = cost_of(graph, &paths[i], share, load);
        bool hot = now.highest > MYR_LOAD_ONE;
        for (uint32_t attempt = 0; hot && attempt < IMPROVE_TRIES; attempt++) {
            struct myr_path path;
            uint64_t value = myr_hash_u64(((uint64_t)i << 16 | pass << 8) + attempt);
            if (!other_path(graph, &flows[i], value, attempt, &path)) {
                continue;
            }
            struct path_cost cost = cost_of(graph, &path, share, load);
            if (cheaper(cost, now)) {
                now = cost;
                paths[i] = path;
                changed = true;
            }
        }
        add_load(graph, load, &paths[i], share, false);
    }
    return changed;
}

static void route_by_search(const struct myr_graph *graph,
                            const struct myr_balance_options *options, const struct myr_flow *flows,
                            size_t count, struct myr_routes *ret, uint64_t *load)
{
    struct myr_balance_options greedy = *options;
    MYR_CLEANUP(myr_free_at)
    struct myr_path *paths = myr_xcalloc(count ? count : 1, sizeof(*paths));
    greedy.policy = MYR_POLICY_ADAPTIVE;
    for (size_t i = 0; i < count; i++) {
        struct picker picker = picker_for(graph, &greedy, &flows[i], load);
        if (myr_path_find(graph, flows[i].from_port, flows[i].to_port, pick, &picker, &paths[i])) {
            add_load(graph, load, &paths[i], flows[i].share, false);
        } else {
            paths[i].count = 0;
            ret->unroutable++;
        }
    }
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < IMPROVE_PASSES; pass++) {
        changed = improve(graph, flows, count, pass, paths, load);
    }
    for (size_t i = 0; i < count; i++) {
        if (paths[i].count > 0) {
            put_route(ret, (uint32_t)i, flows[i].share, &paths[i]);
        }
    }
}

static void free_colouring(struct myr_colouring **colouring)
{
    myr_colouring_free(*colouring);
}

static void route_planned(const struct myr_graph *graph, const struct myr_balance_options *options,
                          const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                          uint64_t *load)
{
    MYR_CLEANUP(free_colouring) struct myr_colouring *colouring = myr_colouring_create(graph);
    if (!colouring) { /* no Clos, or one whose uplinks differ */
        route_by_search(graph, options, flows, count, ret, load);
        return;
    }
    uint32_t first = myr_colouring_add(colouring, flows, count);
    for (size_t i = 0; i < count; i++) {
        struct myr_path path;
        if (!myr_colouring_path(colouring, first + (uint32_t)i, &path)) {
            ret->unroutable++;
            continue;
        }
        put_route(ret, (uint32_t)i, flows[i].share, &path);
        add_load(graph, load, &path, flows[i].share, false);
    }
}

/* --- spraying */

struct spray {
    const struct myr_graph *graph;
    uint64_t *load;
    uint64_t *fraction;           /* by device: what has come there */
    MYR_VEC(uint32_t) now, later; /* devices that the flow has reached */
};

/*
 * Spreads a flow evenly over the candidates, hop by hop. Adds to the loads, or, with 'ret_limit',
 * only looks for the highest load on its way. False when the flow does not arrive.
 */
static bool spray_flow(struct spray *spray, const struct myr_flow *flow, uint64_t *ret_limit)
{
    const struct myr_graph *graph = spray->graph;
    uint32_t from = myr_graph_host_switch(graph, flow->from_port);
    uint32_t to = myr_graph_host_switch(graph, flow->to_port);
    bool arrived = false;
    spray->now.count = 0;
    myr_vec_push(&spray->now, from);
    spray->fraction[from] = flow->share * SPRAY_FINE;
    while (spray->now.count > 0) {
        spray->later.count = 0;
        for (size_t i = 0; i < spray->now.count; i++) {
            uint32_t candidates[MYR_CANDIDATES_MAX], device = spray->now.items[i];
            uint32_t ways = myr_path_candidates(graph, device, to, candidates);
            uint64_t part = ways ? spray->fraction[device] / ways : 0;
            arrived |= device == to;
            spray->fraction[device] = 0;
            for (uint32_t k = 0; k < ways; k++) {
                uint32_t other = myr_channel_to_device(graph->design, candidates[k]);
                uint64_t *load = &spray->load[candidates[k]];
                if (ret_limit) {
                    *ret_limit = *load > *ret_limit ? *load : *ret_limit;
                } else {
                    *load += load_part(graph, candidates[k], part) / SPRAY_FINE;
                }
                if (spray->fraction[other] == 0 && part > 0) {
                    myr_vec_push(&spray->later, other);
                }
                spray->fraction[other] += part;
            }
        }
        uint32_t *kept = spray->now.items;
        size_t capacity = spray->now.capacity;
        spray->now.items = spray->later.items;
        spray->now.count = spray->later.count;
        spray->now.capacity = spray->later.capacity;
        spray->later.items = kept;
        spray->later.capacity = capacity;
    }
    return arrived;
}

/* Without a way by candidates (direct fabrics with dead links) there may still be a detour. */
static bool spray_detour(struct spray *spray, const struct myr_flow *flow, uint64_t *ret_limit)
{
    struct myr_path path;
    if (!myr_path_by_value(spray->graph, flow->from_port, flow->to_port, 0, &path)) {
        return false;
    }
    for (uint32_t i = 1; i + 1 < path.count; i++) {
        uint64_t *load = &spray->load[path.channels[i]];
        if (ret_limit) {
            *ret_limit = *load > *ret_limit ? *load : *ret_limit;
        } else {
            *load += load_part(spray->graph, path.channels[i], flow->share);
        }
    }
    return true;
}

static bool spray_one(struct spray *spray, const struct myr_flow *flow, uint64_t *ret_limit)
{
    const uint32_t *links = spray->graph->design->port_link;
    uint32_t up = links[flow->from_port], down = links[flow->to_port];
    if (flow->from_port == flow->to_port || up == MYR_NONE || down == MYR_NONE ||
        myr_graph_link_dead(spray->graph, up) || myr_graph_link_dead(spray->graph, down)) {
        return false;
    }
    bool sent = spray_flow(spray, flow, ret_limit) || spray_detour(spray, flow, ret_limit);
    if (sent && !ret_limit) {
        spray->load[up * 2] += load_part(spray->graph, up * 2, flow->share);
        spray->load[down * 2 + 1] += load_part(spray->graph, down * 2 + 1, flow->share);
    }
    return sent;
}

static void spray_done(struct spray *spray)
{
    myr_vec_done(&spray->now);
    myr_vec_done(&spray->later);
    free(spray->fraction);
}

static void route_spray(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                        struct myr_routes *ret,
                        uint64_t *load) /* NOLINT(readability-non-const-parameter): written */
{
    MYR_CLEANUP(spray_done) struct spray spray = {.graph = graph, .load = load};
    spray.fraction = myr_xcalloc(graph->design->device_count, sizeof(uint64_t));
    ret->sprayed = true;
    for (size_t i = 0; i < count; i++) {
        ret->unroutable += !spray_one(&spray, &flows[i], NULL);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t limit = 0;
        bool sent = spray_one(&spray, &flows[i], &limit);
        myr_vec_push(&ret->limit, sent ? limit : UINT64_MAX);
    }
}

int myr_balance(const struct myr_graph *graph, const struct myr_balance_options *options,
                const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                uint64_t *ret_load, struct myr_err *err)
{
    if (count > UINT32_MAX / 64) {
        return myr_err_set(err, MYR_ERANGE, "%zu flows are too many", count);
    }
    *ret = (struct myr_routes){0};
    myr_vec_push(&ret->start, 0);
    if (options->policy == MYR_POLICY_PLANNED) {
        route_planned(graph, options, flows, count, ret, ret_load);
    } else if (options->policy == MYR_POLICY_SPRAY) {
        route_spray(graph, flows, count, ret, ret_load);
    } else {
        route_by_hop(graph, options, flows, count, ret, ret_load);
    }
    return MYR_OK;
}
