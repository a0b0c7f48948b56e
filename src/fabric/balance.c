#include "myriad/fabric/balance.h"

#include <stdlib.h>

#include "myriad/fabric/colour.h"

enum { FLOWLETS = 8, IMPROVE_PASSES = 3 };

const char *const myr_policy_names[MYR_POLICY_COUNT] = {
    "ecmp", "ecmp-xor", "port", "static", "flowlet", "spray", "adaptive", "planned"};

void myr_routes_done(struct myr_routes *routes)
{
    myr_vec_done(&routes->start);
    myr_vec_done(&routes->channels);
    myr_vec_done(&routes->flow);
    myr_vec_done(&routes->weight);
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

static void add_load(const struct myr_graph *graph, uint64_t *load, const uint32_t *channels,
                     uint32_t count, uint32_t weight, bool remove)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t gbps = myr_channel_gbps(graph->design, channels[i]);
        uint64_t part = MYR_LOAD_ONE * weight / 1000 * graph->net->host_gbps / gbps;
        load[channels[i]] += remove ? 0 - part : part;
    }
}

static void put_route(struct myr_routes *routes, uint32_t flow, uint32_t weight,
                      const struct myr_path *path)
{
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
            picker.tuple.source = (uint16_t)(picker.tuple.source ^ piece * 0x1F35);
            if (!myr_path_find(graph, flows[i].from_port, flows[i].to_port, pick, &picker, &path)) {
                ret->unroutable += piece == 0;
                continue;
            }
            uint32_t weight = flows[i].share / pieces;
            put_route(ret, (uint32_t)i, weight ? weight : 1, &path);
            add_load(graph, load, path.channels, path.count, flows[i].share / pieces, false);
        }
    }
}

/* Takes each route out and puts it back where the load now is least. */
static void improve(const struct myr_graph *graph, const struct myr_balance_options *options,
                    const struct myr_flow *flows, struct myr_routes *routes, uint64_t *load)
{
    struct myr_balance_options greedy = *options;
    greedy.policy = MYR_POLICY_ADAPTIVE;
    for (uint32_t r = 0; r < routes->flow.count; r++) {
        uint32_t first = routes->start.items[r], count = routes->start.items[r + 1] - first;
        uint32_t *channels = &routes->channels.items[first];
        const struct myr_flow *flow = &flows[routes->flow.items[r]];
        struct myr_path path;
        add_load(graph, load, channels, count, routes->weight.items[r], true);
        struct picker picker = picker_for(graph, &greedy, flow, load);
        if (myr_path_find(graph, flow->from_port, flow->to_port, pick, &picker, &path) &&
            path.count == count) {
            memcpy(channels, path.channels, count * sizeof(*channels));
        }
        add_load(graph, load, channels, count, routes->weight.items[r], false);
    }
}

static void route_planned(const struct myr_graph *graph, const struct myr_balance_options *options,
                          const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                          uint64_t *load)
{
    struct myr_colouring *colouring = myr_colouring_create(graph);
    if (!colouring) {
        struct myr_balance_options greedy = *options;
        greedy.policy = MYR_POLICY_ADAPTIVE;
        route_by_hop(graph, &greedy, flows, count, ret, load);
        for (uint32_t pass = 0; pass < IMPROVE_PASSES; pass++) {
            improve(graph, options, flows, ret, load);
        }
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
        add_load(graph, load, path.channels, path.count, flows[i].share, false);
    }
    ret->bound = myr_colouring_stats(colouring).bound;
    myr_colouring_free(colouring);
}

/* Fractions at each device, hop by hop: for fabrics without a closed form. */
static bool spray_flow(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t *load,
                       uint64_t *fraction)
{
    uint32_t from = myr_graph_host_switch(graph, flow->from_port);
    uint32_t to = myr_graph_host_switch(graph, flow->to_port);
    uint32_t frontier[MYR_CANDIDATES_MAX], next[MYR_CANDIDATES_MAX];
    uint32_t count = 1;
    frontier[0] = from;
    fraction[from] = MYR_LOAD_ONE * flow->share / 1000;
    while (count > 0 && !(count == 1 && frontier[0] == to)) {
        uint32_t next_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t candidates[MYR_CANDIDATES_MAX];
            uint32_t device = frontier[i];
            uint32_t ways = myr_path_candidates(graph, device, to, candidates);
            uint64_t part = ways ? fraction[device] / ways : 0;
            fraction[device] = 0;
            for (uint32_t k = 0; k < ways; k++) {
                uint32_t other = myr_channel_to_device(graph->design, candidates[k]);
                uint64_t gbps = myr_channel_gbps(graph->design, candidates[k]);
                load[candidates[k]] += part * graph->net->host_gbps / gbps;
                if (fraction[other] == 0 && next_count < MYR_CANDIDATES_MAX) {
                    next[next_count++] = other;
                }
                fraction[other] += part;
            }
        }
        memcpy(frontier, next, next_count * sizeof(*next));
        count = next_count;
    }
    fraction[to] = 0;
    return count == 1;
}

static void spray_hosts(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t *load)
{
    uint32_t up = graph->design->port_link[flow->from_port];
    uint32_t down = graph->design->port_link[flow->to_port];
    load[up * 2] += MYR_LOAD_ONE * flow->share / 1000;
    load[down * 2 + 1] += MYR_LOAD_ONE * flow->share / 1000;
}

/* A regular Clos: what leaves a leaf spreads over its uplinks, what leaves a pod over its spines'.
 */
static void spray_clos(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                       uint64_t *load)
{
    const struct myr_network *net = graph->net;
    uint32_t pods = net->leaf / net->pod_leaves + net->leaf;
    uint64_t *leaf_out = myr_xcalloc(net->leaf, sizeof(*leaf_out));
    uint64_t *leaf_in = myr_xcalloc(net->leaf, sizeof(*leaf_in));
    uint64_t *pod_out = myr_xcalloc(pods, sizeof(*pod_out));
    uint64_t *pod_in = myr_xcalloc(pods, sizeof(*pod_in));
    uint32_t unit_pods = net->pods ? net->pods : 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = myr_graph_host_switch(graph, flows[i].from_port);
        uint32_t b = myr_graph_host_switch(graph, flows[i].to_port);
        struct myr_spot from = myr_graph_leaf_spot(graph, a), to = myr_graph_leaf_spot(graph, b);
        if (a == b) {
            continue;
        }
        leaf_out[a - net->first_leaf] += flows[i].share;
        leaf_in[b - net->first_leaf] += flows[i].share;
        if (from.pod != to.pod) {
            pod_out[from.unit * unit_pods + from.pod] += flows[i].share;
            pod_in[to.unit * unit_pods + to.pod] += flows[i].share;
        }
    }
    for (uint32_t leaf = 0; leaf < net->leaf; leaf++) {
        uint32_t ups = myr_graph_uplink_count(graph, net->first_leaf + leaf);
        for (uint32_t k = 0; k < ups; k++) {
            uint32_t channel = myr_graph_uplink(graph, net->first_leaf + leaf, k);
            uint64_t unit = MYR_LOAD_ONE * net->host_gbps / net->fabric_gbps;
            load[channel] += leaf_out[leaf] * unit / 1000 / ups;
            load[myr_channel_back(channel)] += leaf_in[leaf] * unit / 1000 / ups;
        }
    }
    for (uint32_t s = 0; s < net->spine && net->tiers == 3; s++) {
        struct myr_spot spot = myr_graph_spine_spot(graph, net->first_spine + s);
        uint32_t ups = myr_graph_uplink_count(graph, net->first_spine + s);
        uint32_t pod = spot.unit * unit_pods + spot.pod;
        uint64_t unit = MYR_LOAD_ONE * net->host_gbps / net->fabric_gbps;
        for (uint32_t k = 0; k < ups; k++) {
            uint32_t channel = myr_graph_uplink(graph, net->first_spine + s, k);
            load[channel] += pod_out[pod] * unit / 1000 / ups / net->pod_spines;
            load[myr_channel_back(channel)] += pod_in[pod] * unit / 1000 / ups / net->pod_spines;
        }
    }
    free(leaf_out);
    free(leaf_in);
    free(pod_out);
    free(pod_in);
}

static void route_spray(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                        struct myr_routes *ret, uint64_t *load)
{
    bool closed = graph->regular && graph->dead_count == 0;
    uint64_t *fraction = myr_xcalloc(graph->design->device_count, sizeof(*fraction));
    ret->sprayed = true;
    for (size_t i = 0; i < count; i++) {
        spray_hosts(graph, &flows[i], load);
        if (!closed && !spray_flow(graph, &flows[i], load, fraction)) {
            ret->unroutable++;
        }
    }
    if (closed) {
        spray_clos(graph, flows, count, load);
    }
    free(fraction);
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

static bool between_switches(const struct myr_graph *graph, uint32_t channel)
{
    uint32_t link = channel / 2;
    const struct myr_design *design = graph->design;
    uint32_t type = design->cable_type[design->link_cable[link]];
    return design->cabletypes[type].layer != MYR_LAYER_HOST;
}

/* The sum of fair rates, and the same with only the host ports as limits. */
static double fair_share(const struct myr_graph *graph, const struct myr_routes *routes)
{
    struct myr_routes hosts = {0};
    uint32_t count = (uint32_t)routes->flow.count;
    uint64_t *rate = myr_xrealloc(NULL, count ? count : 1, sizeof(*rate));
    double sum = 0, ideal = 0;
    myr_max_min(graph, routes, rate);
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)rate[i];
    }
    myr_vec_push(&hosts.start, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct myr_path ends = {.count = 2};
        ends.channels[0] = routes->channels.items[routes->start.items[i]];
        ends.channels[1] = routes->channels.items[routes->start.items[i + 1] - 1];
        put_route(&hosts, routes->flow.items[i], routes->weight.items[i], &ends);
    }
    myr_max_min(graph, &hosts, rate);
    for (uint32_t i = 0; i < count; i++) {
        ideal += (double)rate[i];
    }
    myr_routes_done(&hosts);
    free(rate);
    return ideal > 0 ? sum / ideal : 1;
}

struct leaf_cut {
    uint64_t out, in; /* flows' shares that cross */
};

/* Upper bound by the leaves' own uplinks: what a leaf cannot carry up or down never arrives. */
static double leaf_cut_bound(const struct myr_graph *graph, const struct myr_flow *flows,
                             size_t count, double *ret_load)
{
    const struct myr_network *net = graph->net;
    struct leaf_cut *cuts = myr_xcalloc(graph->switch_count, sizeof(*cuts));
    double total = 0, out_sum = 0, in_sum = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = myr_graph_host_switch(graph, flows[i].from_port);
        uint32_t b = myr_graph_host_switch(graph, flows[i].to_port);
        total += flows[i].share;
        if (a == b || a == MYR_NONE || b == MYR_NONE) {
            out_sum += flows[i].share;
            in_sum += flows[i].share;
            continue;
        }
        cuts[a - graph->first_switch].out += flows[i].share;
        cuts[b - graph->first_switch].in += flows[i].share;
    }
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint64_t alive = 0;
        for (uint32_t b = graph->bundle_start[i]; b < graph->bundle_start[i + 1]; b++) {
            alive += graph->bundles[b].alive;
        }
        double capacity = (double)alive * 1000 * net->fabric_gbps / net->host_gbps;
        double out = (double)cuts[i].out, in = (double)cuts[i].in;
        out_sum += out < capacity ? out : capacity;
        in_sum += in < capacity ? in : capacity;
        if (alive) {
            worst = out / capacity > worst ? out / capacity : worst;
            worst = in / capacity > worst ? in / capacity : worst;
        }
    }
    free(cuts);
    *ret_load = worst;
    double least = out_sum < in_sum ? out_sum : in_sum;
    return total > 0 ? least / total : 1;
}

int myr_balance_report(const struct myr_graph *graph, const struct myr_balance_options *options,
                       const struct myr_flow *flows, size_t count, struct myr_balance_report *ret,
                       struct myr_err *err)
{
    size_t channels = (size_t)graph->design->link_count * 2;
    uint64_t *load = myr_xcalloc(channels, sizeof(*load));
    struct myr_routes routes;
    int r = myr_balance(graph, options, flows, count, &routes, load, err);
    if (r < 0) {
        free(load);
        return r;
    }
    struct myr_balance_report report = {.unroutable = routes.unroutable};
    double sum = 0;
    for (uint32_t channel = 0; channel < channels; channel++) {
        if (load[channel] && between_switches(graph, channel)) {
            double value = (double)load[channel] / (double)MYR_LOAD_ONE;
            report.loaded++;
            sum += value;
            report.max_load = value > report.max_load ? value : report.max_load;
        }
    }
    report.mean_load = report.loaded ? sum / report.loaded : 0;
    double cut_load;
    report.throughput_bound = leaf_cut_bound(graph, flows, count, &cut_load);
    report.bound = routes.bound > cut_load ? routes.bound : cut_load;
    report.share_of_ideal = routes.sprayed ? (report.max_load > 1 ? 1 / report.max_load : 1)
                                           : fair_share(graph, &routes);
    *ret = report;
    myr_routes_done(&routes);
    free(load);
    return MYR_OK;
}
