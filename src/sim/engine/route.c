#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/text/amount.h"

/*
 * Patterns to channels. Messages inside a scale-up domain use the GPUs' own channels. The others
 * go through the NIC beside the GPU, over all planes at once; where rails are not joined (rail
 * only) they first change to the GPU of the right rail inside the domain. With spraying, all
 * uplinks of a leaf (and of a pod) are one pool: that is what spraying evenly over them means.
 */

struct router {
    struct myr_sim *sim;
    MYR_VEC(myr_ps) hops; /* by message of the pattern at hand: its latency */
    const uint32_t *ids;  /* patterns */
    uint32_t id_count;
    struct myr_flows flows;
    MYR_VEC(uint32_t) flow_pattern; /* by flow */
    MYR_VEC(uint32_t) flow_message; /* by flow: place in its pattern */
    uint32_t *weight;               /* by channel, of the pattern at hand */
    uint64_t *load;                 /* by channel: what the policies see of each other */
    MYR_VEC(uint32_t) used;
    uint32_t pattern, message; /* at hand */
};

/*
 * A channel that several flows of the pattern use stands once, with the sum of their weights. A
 * part of less than a thousandth moves nothing there: of many queue pairs over many planes some
 * have no weight at all.
 */
static void add_use(struct router *router, uint32_t channel, uint32_t weight)
{
    MYR_ASSERT(channel < router->sim->channel_count);
    if (weight == 0) {
        return;
    }
    MYR_ASSERT(weight <= 1000); /* thousandths of one message */
    if (router->weight[channel] == 0) {
        myr_vec_push(&router->used, channel);
    }
    router->weight[channel] += weight;
}

/* A storage server is a domain by itself: its bit keeps it apart from all GPUs. */
static uint32_t domain_of(const struct myr_sim *sim, uint32_t gpu)
{
    uint32_t size = sim->graph->design->head->scale_up_gpus;
    return gpu & MYR_MESSAGE_STORAGE ? MYR_MESSAGE_STORAGE | myr_message_number(gpu)
                                     : gpu / (size ? size : 1);
}

/* The NIC port of a message's end: beside the GPU, or that of a storage server which it names. */
static uint32_t end_port(const struct myr_sim *sim, uint32_t end)
{
    const struct myr_graph *graph = sim->graph;
    if (!(end & MYR_MESSAGE_STORAGE)) {
        return myr_flow_port(graph, end);
    }
    uint32_t device = graph->design->head->first_storage + myr_message_number(end);
    uint32_t nics = myr_host_nics(graph, device);
    uint32_t nic = (end & ~MYR_MESSAGE_STORAGE) >> MYR_MESSAGE_NIC_SHIFT;
    return nics ? myr_host_port(graph, device, nic % nics) : MYR_NONE;
}

/* Whether any path leads from one port to the other: in a Clos, whether both are in one unit. */
static bool joined(const struct myr_sim *sim, uint32_t from_port, uint32_t to_port)
{
    const struct myr_graph *graph = sim->graph;
    uint32_t a = myr_graph_host_switch(graph, from_port);
    uint32_t b = myr_graph_host_switch(graph, to_port);
    return !graph->clos ||
           (a != MYR_NONE && b != MYR_NONE &&
            myr_graph_leaf_spot(graph, a).unit == myr_graph_leaf_spot(graph, b).unit);
}

/* The GPU whose NIC carries the message out: the sender, or its neighbour on the right rail. */
static uint32_t sending_gpu(const struct myr_sim *sim, struct myr_message message)
{
    uint32_t per_node = sim->graph->design->head->gpus_per_node;
    if ((message.from | message.to) & MYR_MESSAGE_STORAGE ||
        joined(sim, myr_flow_port(sim->graph, message.from),
               myr_flow_port(sim->graph, message.to))) {
        return message.from;
    }
    return message.from / per_node * per_node + message.to % per_node;
}

/* The flows of one message that leaves its domain, for the policy to route. */
static int add_flows(struct router *router, uint32_t pattern_id, uint32_t place,
                     struct myr_err *err)
{
    MYR_ASSERT(place < router->sim->patterns.items[pattern_id].message_count);
    const struct myr_sim *sim = router->sim;
    const struct sim_pattern *pattern = &sim->patterns.items[pattern_id];
    struct myr_message message = sim->messages.items[pattern->first_message + place];
    uint32_t planes = sim->graph->net->planes;
    uint32_t pairs = sim->options.queue_pairs ? sim->options.queue_pairs : 1;
    uint32_t gpu = sending_gpu(sim, message);
    uint32_t from = end_port(sim, gpu), to = end_port(sim, message.to);
    if (from == MYR_NONE || to == MYR_NONE || !joined(sim, from, to)) {
        return myr_err_set(err, MYR_EINVAL, "no path from %s %u to %s %u on the %s network",
                           message.from & MYR_MESSAGE_STORAGE ? "storage" : "GPU",
                           myr_message_number(message.from),
                           message.to & MYR_MESSAGE_STORAGE ? "storage" : "GPU",
                           myr_message_number(message.to), myr_net_names[sim->graph->net_id]);
    }
    /*
     * Parts of a message are flows of their own: a plane each, and within one a queue pair each
     * with its own source port, in the range that hosts draw from (0xC000 to 0xFFFF). The port is a
     * hash of the ends and the pair, so that the same message takes the same way in every run.
     * Shares are whole thousandths that add up to 1000, whatever the number of ways.
     */
    uint32_t ways = planes * pairs, shared = 0;
    for (uint32_t i = 0; i < ways; i++) {
        uint32_t plane = i % planes;
        uint64_t key = (((uint64_t)from + plane) << 32 | to) + ((uint64_t)(i / planes) << 56);
        struct myr_flow flow = {.from_port = from + plane,
                                .to_port = to + plane,
                                .share = 1000 * (i + 1) / ways - 1000 * i / ways,
                                .source = (uint16_t)(0xC000 | (myr_hash_u64(key) & 0x3FFF))};
        shared += flow.share;
        myr_vec_push(&router->flows.items, flow);
        myr_vec_push(&router->flow_pattern, pattern_id);
        myr_vec_push(&router->flow_message, place);
    }
    MYR_ASSERT(shared == 1000);
    return MYR_OK;
}

/* Those of a pattern's messages that leave their domain. */
static int collect_pattern(struct router *router, uint32_t id, struct myr_err *err)
{
    struct myr_sim *sim = router->sim;
    struct sim_pattern *pattern = &sim->patterns.items[id];
    MYR_ASSERT(id < sim->patterns.count);
    MYR_ASSERT(pattern->first_message + pattern->message_count <= sim->messages.count);
    pattern->network_flows = 0;
    for (uint32_t m = 0; m < pattern->message_count; m++) {
        struct myr_message message = sim->messages.items[pattern->first_message + m];
        if (domain_of(sim, message.from) != domain_of(sim, message.to)) {
            MYR_TRY(add_flows(router, id, m, err));
            pattern->network_flows++;
        }
    }
    return MYR_OK;
}

/* All flows of the batch in one list: what runs at the same time is balanced together. */
static int collect(struct router *router, struct myr_err *err)
{
    for (uint32_t k = 0; k < router->id_count; k++) {
        MYR_TRY(collect_pattern(router, router->ids[k], err));
    }
    return MYR_OK;
}

/* A switch between every two links; light in a fibre takes 5 ns a metre, which is 5 ps a mm. */
static myr_ps path_latency(const struct myr_sim *sim, const uint32_t *channels, uint32_t count)
{
    const struct myr_design *design = sim->graph->design;
    __int128 total = (__int128)(count > 0 ? count - 1 : 0) * sim->options.switch_ps;
    for (uint32_t i = 0; i < count; i++) {
        MYR_SLOW_ASSERT(channels[i] < sim->link_channels);
        uint32_t cable = design->link_cable[channels[i] / 2];
        myr_ps own = (myr_ps)design->cabletypes[design->cable_type[cable]].length_mm * 5;
        total += sim->options.link_ps < 0 ? own : sim->options.link_ps;
    }
    MYR_ASSERT(total >= 0);
    return total < SIM_TIME_MAX ? (myr_ps)total : SIM_TIME_MAX;
}

/* A way of a message, or of a part of it: from its first channel to its last. */
static void keep_path(struct router *router, uint32_t share, const uint32_t *channels,
                      uint32_t count)
{
    struct myr_sim *sim = router->sim;
    if (!sim->keep_paths) {
        return;
    }
    struct sim_path path = {.pattern = router->pattern,
                            .message = router->message,
                            .share = share,
                            .first = (uint32_t)sim->path_channels.count};
    const struct sim_pattern *pattern = &sim->patterns.items[router->pattern];
    MYR_ASSERT(router->message < pattern->message_count);
    struct myr_message message = sim->messages.items[pattern->first_message + router->message];
    uint32_t through = count ? sending_gpu(sim, message) : message.to;
    if (message.from != through) { /* inside the domain: to the end, or to another rail's GPU */
        myr_vec_push(&sim->path_channels, sim_scale_up_out(sim, message.from));
        myr_vec_push(&sim->path_channels, sim_scale_up_in(sim, through));
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&sim->path_channels, channels[i]);
    }
    path.count = (uint32_t)sim->path_channels.count - path.first;
    myr_vec_push(&sim->paths, path);
}

/* Inside the scale-up domain, and the hop to another rail's GPU. */
static void local_uses(struct router *router, const struct sim_pattern *pattern)
{
    struct myr_sim *sim = router->sim;
    router->hops.count = 0;
    for (uint32_t m = 0; m < pattern->message_count; m++) {
        struct myr_message message = sim->messages.items[pattern->first_message + m];
        bool inside = domain_of(sim, message.from) == domain_of(sim, message.to);
        uint32_t to = inside ? message.to : sending_gpu(sim, message);
        myr_ps latency = 0;
        /* To another GPU of the domain; a message to itself uses nothing. */
        if (message.from != to) {
            add_use(router, sim_scale_up_out(sim, message.from), 1000);
            add_use(router, sim_scale_up_in(sim, to), 1000);
            latency = sim->options.scale_up_ps;
        }
        if (inside) {
            router->message = m;
            keep_path(router, 1000, NULL, 0);
        }
        myr_vec_push(&router->hops, latency);
    }
}

/*
 * For packets, which take them in turn: all ways, or so many that are drawn; each with its part of
 * the share. The ends draw where they begin, so that not all begin with the same spine.
 */
static void keep_ways(struct router *router, const struct myr_flow *flow)
{
    enum { WAYS_MAX = 64 };
    const struct myr_graph *graph = router->sim->graph;
    struct myr_path path;
    uint64_t period = 1;
    uint64_t first = myr_hash_u64((uint64_t)flow->from_port << 32 | flow->to_port);
    (void)myr_path_with_period(graph, flow->from_port, flow->to_port, 0, &path, &period);
    uint32_t ways = period < WAYS_MAX ? (uint32_t)period : WAYS_MAX;
    for (uint32_t i = 0; i < ways; i++) {
        uint64_t value = period <= WAYS_MAX ? first % period + i : myr_hash_u64(first + i);
        if (myr_path_by_value(graph, flow->from_port, flow->to_port, value, &path)) {
            uint32_t share = flow->share * (i + 1) / ways - flow->share * i / ways;
            keep_path(router, share, path.channels, path.count);
        }
    }
}

/* Own links at both ends, pools between them; the latency is that of any one path, all alike. */
static myr_ps sprayed_uses(struct router *router, const struct myr_flow *flow)
{
    struct myr_sim *sim = router->sim;
    const struct myr_graph *graph = sim->graph;
    uint32_t a = myr_graph_host_switch(graph, flow->from_port);
    uint32_t b = myr_graph_host_switch(graph, flow->to_port);
    uint32_t channels[6], count = 0;
    struct myr_path path;
    /* Hosts are the lower end of their links: up is the even channel, down the odd one. */
    channels[count++] = graph->design->port_link[flow->from_port] * 2;
    if (a != b) {
        struct myr_spot from = myr_graph_leaf_spot(graph, a), to = myr_graph_leaf_spot(graph, b);
        uint32_t pods = graph->net->pods;
        channels[count++] = sim_pool(sim, false, a - graph->net->first_leaf, false);
        if (from.pod != to.pod) {
            channels[count++] = sim_pool(sim, true, from.unit * pods + from.pod, false);
            channels[count++] = sim_pool(sim, true, to.unit * pods + to.pod, true);
        }
        channels[count++] = sim_pool(sim, false, b - graph->net->first_leaf, true);
    }
    channels[count++] = graph->design->port_link[flow->to_port] * 2 + 1;
    MYR_ASSERT(count <= MYR_ARRAY_COUNT(channels));
    for (uint32_t i = 0; i < count; i++) {
        add_use(router, channels[i], flow->share);
    }
    if (sim->packets) {
        keep_ways(router, flow);
    } else {
        keep_path(router, flow->share, channels, count);
    }
    bool found = myr_path_by_value(graph, flow->from_port, flow->to_port, 0, &path);
    return found ? path_latency(sim, path.channels, path.count) : 0;
}

/* A pattern that is routed again gets new uses behind; the old ones are no longer looked at. */
static void flush_uses(struct router *router, struct sim_pattern *pattern)
{
    struct myr_sim *sim = router->sim;
    pattern->first_use = (uint32_t)sim->uses.count;
    pattern->use_count = (uint32_t)router->used.count;
    for (size_t i = 0; i < router->used.count; i++) {
        uint32_t channel = router->used.items[i];
        struct sim_use use = {channel, router->weight[channel]};
        MYR_ASSERT(use.weight > 0); /* once in the list, and it carries something */
        myr_vec_push(&sim->uses, use);
        router->weight[channel] = 0;
    }
    MYR_ASSERT(sim->uses.count - pattern->first_use == pattern->use_count);
    router->used.count = 0;
}

/* The latency of the longest of the flow's routes; adds their channels to the uses at hand. */
static myr_ps routed_uses(struct router *router, const struct myr_routes *routes, size_t flow,
                          size_t *route)
{
    myr_ps longest = 0;
    /* Routes come in the order of their flows: none is left behind. */
    MYR_ASSERT(*route >= routes->flow.count || routes->flow.items[*route] >= flow);
    for (; *route < routes->flow.count && routes->flow.items[*route] == flow; ++*route) {
        uint32_t start = routes->start.items[*route];
        uint32_t count = routes->start.items[*route + 1] - start;
        const uint32_t *channels = &routes->channels.items[start];
        for (uint32_t i = 0; i < count; i++) {
            add_use(router, channels[i], routes->weight.items[*route]);
        }
        keep_path(router, routes->weight.items[*route], channels, count);
        myr_ps latency = path_latency(router->sim, channels, count);
        longest = latency > longest ? latency : longest;
    }
    return longest;
}

/* Of the messages' latencies: the longest, or the mean of a cyclic pattern. */
static myr_ps pattern_latency(const struct router *router, bool cyclic)
{
    __int128 longest = 0, sum = 0;
    MYR_ASSERT(router->sim->options.message_ps >= 0);
    for (size_t m = 0; m < router->hops.count; m++) {
        myr_ps latency = router->hops.items[m];
        longest = latency > longest ? latency : longest;
        sum += latency;
    }
    __int128 count = (__int128)router->hops.count;
    __int128 all = (cyclic && count ? sum / count : longest) + router->sim->options.message_ps;
    MYR_ASSERT(all >= 0 && sum >= longest);
    return all < SIM_TIME_MAX ? (myr_ps)all : SIM_TIME_MAX;
}

/* Flows and routes come in the order of the patterns: one pass over all. */
static void make_uses(struct router *router, const struct myr_routes *routes)
{
    struct myr_sim *sim = router->sim;
    size_t flow = 0, route = 0;
    for (uint32_t k = 0; k < router->id_count; k++) {
        uint32_t id = router->ids[k];
        struct sim_pattern *pattern = &sim->patterns.items[id];
        router->pattern = id;
        local_uses(router, pattern);
        MYR_ASSERT(router->hops.count == pattern->message_count);
        uint32_t message = MYR_NONE;
        myr_ps local = 0;
        for (; flow < router->flow_pattern.count && router->flow_pattern.items[flow] == id;
             flow++) {
            /*
             * Flows of one message lie side by side: its hop inside the domain is waited for once.
             */
            if (router->flow_message.items[flow] != message) {
                message = router->message = router->flow_message.items[flow];
                local = router->hops.items[message]; /* the hop to another rail's GPU */
            }
            MYR_ASSERT(message < router->hops.count);
            myr_ps latency = local;
            latency += routes->sprayed ? sprayed_uses(router, &router->flows.items.items[flow])
                                       : routed_uses(router, routes, flow, &route);
            myr_ps *hop = &router->hops.items[message];
            *hop = latency > *hop ? latency : *hop;
        }
        pattern->latency = pattern_latency(router, pattern->cyclic);
        flush_uses(router, pattern);
    }
    MYR_ASSERT(flow == router->flow_pattern.count);
    MYR_ASSERT(router->used.count == 0);
}

/* MYR_ESTALLED, by which a caller can tell flows without a path from a question that is wrong. */
static int check_routes(const struct myr_sim *sim, const struct myr_routes *routes,
                        struct myr_err *err)
{
    if (routes->unroutable == 0) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_ESTALLED, "%s without a path on the %s network",
                       MYR_COUNT(routes->unroutable, "flow"), myr_net_names[sim->graph->net_id]);
}

static void router_done(struct router *router)
{
    free(router->weight);
    free(router->load);
    myr_vec_done(&router->used);
    myr_vec_done(&router->flow_pattern);
    myr_vec_done(&router->flow_message);
    myr_vec_done(&router->hops);
    myr_flows_done(&router->flows);
}

/* A way of a file, whatever it leads over. */
static void keep_given(struct router *router, uint32_t share, const uint32_t *channels,
                       uint32_t count)
{
    struct myr_sim *sim = router->sim;
    if (!sim->keep_paths) {
        return;
    }
    struct sim_path path = {.pattern = router->pattern,
                            .message = router->message,
                            .share = share,
                            .first = (uint32_t)sim->path_channels.count,
                            .count = count};
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&sim->path_channels, channels[i]);
    }
    myr_vec_push(&sim->paths, path);
}

/*
 * A message to itself needs no path. The file's latencies hold the software's part, which
 * pattern_latency() adds: it is taken off here.
 */
static int given_message(struct router *router, const struct sim_pattern *pattern, uint32_t message,
                         struct myr_err *err)
{
    MYR_ASSERT(message < pattern->message_count && router->hops.count == message);
    struct myr_sim *sim = router->sim;
    struct myr_message ends = sim->messages.items[pattern->first_message + message];
    uint32_t rows = 0;
    const struct sim_given *row = sim_given_find(sim, pattern->phase, ends, &rows);
    MYR_ASSERT((row != NULL) == (rows > 0));
    if (!row && ends.from != ends.to) {
        return myr_err_set(err, MYR_EINVAL, "no path is given from GPU %u to GPU %u in phase %u",
                           myr_message_number(ends.from), myr_message_number(ends.to),
                           pattern->phase);
    }
    router->message = message;
    if (!row) {
        keep_given(router, 1000, NULL, 0);
    }
    for (uint32_t r = 0; r < rows; r++) {
        keep_given(router, row[r].share, &sim->given_channels.items[row[r].first], row[r].count);
        for (uint32_t c = 0; c < row[r].count; c++) {
            add_use(router, sim->given_channels.items[row[r].first + c], row[r].share);
        }
    }
    myr_ps latency = row ? row->latency - sim->options.message_ps : 0;
    myr_vec_push(&router->hops, latency > 0 ? latency : 0);
    return MYR_OK;
}

/* By the paths of a file; the latencies are the file's too. */
static int route_given(struct router *router, struct myr_err *err)
{
    struct myr_sim *sim = router->sim;
    for (uint32_t k = 0; k < router->id_count; k++) {
        struct sim_pattern *pattern = &sim->patterns.items[router->ids[k]];
        MYR_ASSERT(router->ids[k] < sim->patterns.count);
        pattern->network_flows = pattern->message_count;
        router->pattern = router->ids[k];
        router->hops.count = 0;
        for (uint32_t m = 0; m < pattern->message_count; m++) {
            MYR_TRY(given_message(router, pattern, m, err));
        }
        pattern->latency = pattern_latency(router, pattern->cyclic);
        flush_uses(router, pattern);
    }
    return MYR_OK;
}

/* Paths from a file, pools, or the policy's; one batch is balanced as a whole. */
int sim_route_patterns(struct myr_sim *sim, const uint32_t *ids, uint32_t count,
                       struct myr_err *err)
{
    MYR_CLEANUP(router_done) struct router router = {.sim = sim, .ids = ids, .id_count = count};
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    struct myr_balance_options balance = sim->options.balance;
    /* Pools stand for even spraying only in a regular fabric; elsewhere the nearest thing. */
    if (balance.policy == MYR_POLICY_SPRAY && !sim->graph->regular) {
        balance.policy = MYR_POLICY_FLOWLET;
    }
    router.weight = myr_xcalloc(sim->channel_count, sizeof(uint32_t));
    if (sim->given.count) {
        return route_given(&router, err);
    }
    MYR_TRY(collect(&router, err));
    routes.sprayed = balance.policy == MYR_POLICY_SPRAY;
    /* Without flows there is nothing to balance, and a policy would still look at all links. */
    if (!routes.sprayed && router.flows.items.count) {
        router.load = myr_xcalloc(sim->link_channels, sizeof(*router.load));
        MYR_TRY(myr_balance(sim->graph, &balance, router.flows.items.items,
                            router.flows.items.count, &routes, router.load, err));
    }
    MYR_TRY(check_routes(sim, &routes, err));
    make_uses(&router, &routes);
    return MYR_OK;
}
