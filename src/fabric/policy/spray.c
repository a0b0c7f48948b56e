#include <stdlib.h>

#include "policy/policy.h"

/*
 * Spraying is linear: what goes to one switch can be spread together, wherever it came from. In a
 * regular Clos without dead links it is even simpler: every uplink of a switch carries the same,
 * and so does every link down to it. There the loads are sums over leaves and pods. Dead links
 * change that for the flows whose leaf or pod they belong to, and for no others: only those are
 * followed hop by hop.
 */

/* Fractions of sprayed flows are kept finer than loads: they are divided again at every hop. */
#define SPRAY_FINE (UINT64_C(1) << 20)

static uint64_t fine_load(const struct myr_graph *graph, uint32_t channel, uint64_t part)
{
    unsigned __int128 load = (unsigned __int128)MYR_LOAD_ONE * part * graph->net->host_gbps;
    uint64_t rate = SPRAY_FINE * MYR_SHARE_ONE * myr_channel_gbps(graph->design, channel);
    return (uint64_t)(load / rate);
}

static bool ports_alive(const struct myr_graph *graph, const struct myr_flow *flow)
{
    const uint32_t *links = graph->design->port_link;
    uint32_t up = links[flow->from_port], down = links[flow->to_port];
    return flow->from_port != flow->to_port && up != MYR_NONE && down != MYR_NONE &&
           !myr_graph_link_dead(graph, up) && !myr_graph_link_dead(graph, down);
}

static void load_hosts(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t *load)
{
    uint32_t up = graph->design->port_link[flow->from_port] * 2;
    uint32_t down = graph->design->port_link[flow->to_port] * 2 + 1;
    load[up] += policy_load_part(graph, up, flow->share);
    load[down] += policy_load_part(graph, down, flow->share);
}

/* --- a whole Clos: sums */

struct sums {
    const struct myr_graph *graph;
    uint32_t pods;             /* of one fabric */
    uint64_t *leaf[2];         /* shares that leave and enter each leaf, up and down */
    uint64_t *pod[2];          /* the same for pods */
    uint64_t *leaf_highest[2]; /* load of the fullest link of each */
    uint64_t *pod_highest[2];
    uint8_t *dead_leaf, *dead_pod; /* that dead links belong to */
};

/* Uplink k of every leaf must lead to the same position, and as many to each. */
static bool alike(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    const struct myr_rung *first = graph->rungs;
    for (uint32_t i = 0; i < net->leaf; i++) {
        const struct myr_rung *rung = &graph->rungs[i];
        if (rung->up_count != first->up_count) {
            return false;
        }
        for (uint32_t k = 0; k < rung->up_count; k++) {
            const struct myr_rung *a =
                &graph->rungs[graph->peers[rung->up + k] - graph->first_switch];
            const struct myr_rung *b =
                &graph->rungs[graph->peers[first->up + k] - graph->first_switch];
            if (a->index != b->index) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < net->spine; i++) {
        if (graph->rungs[net->leaf + i].up_count != graph->rungs[net->leaf].up_count) {
            return false;
        }
    }
    return first->up_count > 0;
}

static uint32_t pod_of(const struct sums *sums, const struct myr_rung *rung)
{
    return rung->unit * sums->pods + rung->pod;
}

/* Where a flow enters and leaves the fabric; false when it has no way through it. */
static bool rungs_of(const struct myr_graph *graph, const struct myr_flow *flow,
                     const struct myr_rung *ret[2])
{
    if (!ports_alive(graph, flow)) {
        return false;
    }
    ret[0] = &graph->rungs[myr_graph_host_switch(graph, flow->from_port) - graph->first_switch];
    ret[1] = &graph->rungs[myr_graph_host_switch(graph, flow->to_port) - graph->first_switch];
    return ret[0]->unit == ret[1]->unit;
}

static void add_sums(struct sums *sums, const struct myr_rung *ends[2], uint64_t share)
{
    bool crosses = ends[0]->pod != ends[1]->pod;
    for (uint32_t side = 0; side < 2 && ends[0] != ends[1]; side++) {
        sums->leaf[side][ends[side] - sums->graph->rungs] += share;
        if (crosses) {
            sums->pod[side][pod_of(sums, ends[side])] += share;
        }
    }
}

/* The same on every uplink, and back down; 'total' by direction. */
static void load_uplinks(const struct myr_graph *graph, const struct myr_rung *rung,
                         const uint64_t total[2], uint64_t *load, uint64_t ret_highest[2])
{
    for (uint32_t k = 0; k < rung->up_count; k++) {
        uint32_t up = graph->channels[rung->up + k];
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t channel = side ? myr_channel_back(up) : up;
            load[channel] += fine_load(graph, channel, total[side] / rung->up_count);
            ret_highest[side] =
                load[channel] > ret_highest[side] ? load[channel] : ret_highest[side];
        }
    }
}

static void load_sums(struct sums *sums, uint64_t *load)
{
    const struct myr_graph *graph = sums->graph;
    const struct myr_network *net = graph->net;
    const struct myr_rung *first = graph->rungs;
    MYR_CLEANUP(myr_free_at)
    uint32_t *width = myr_xcalloc((size_t)net->pod_spines + 1, sizeof(*width));
    for (uint32_t k = 0; k < first->up_count; k++) {
        width[graph->rungs[graph->peers[first->up + k] - graph->first_switch].index]++;
    }
    for (uint32_t i = 0; i < net->leaf; i++) {
        uint64_t total[2] = {sums->leaf[0][i] * SPRAY_FINE, sums->leaf[1][i] * SPRAY_FINE};
        uint64_t highest[2] = {0};
        load_uplinks(graph, &graph->rungs[i], total, load, highest);
        sums->leaf_highest[0][i] = highest[0];
        sums->leaf_highest[1][i] = highest[1];
    }
    for (uint32_t i = 0; i < net->spine && net->core; i++) {
        const struct myr_rung *rung = &graph->rungs[net->leaf + i];
        uint32_t pod = pod_of(sums, rung);
        uint64_t total[2], highest[2] = {sums->pod_highest[0][pod], sums->pod_highest[1][pod]};
        for (uint32_t side = 0; side < 2; side++) {
            total[side] = sums->pod[side][pod] * SPRAY_FINE / first->up_count * width[rung->index];
        }
        load_uplinks(graph, rung, total, load, highest);
        sums->pod_highest[0][pod] = highest[0];
        sums->pod_highest[1][pod] = highest[1];
    }
}

static uint64_t sums_limit(const struct sums *sums, const struct myr_rung *ends[2])
{
    uint64_t limit = 0;
    for (uint32_t side = 0; side < 2 && ends[0] != ends[1]; side++) {
        uint64_t leaf = sums->leaf_highest[side][ends[side] - sums->graph->rungs];
        uint64_t pod =
            ends[0]->pod != ends[1]->pod ? sums->pod_highest[side][pod_of(sums, ends[side])] : 0;
        limit = leaf > limit ? leaf : limit;
        limit = pod > limit ? pod : limit;
    }
    return limit;
}

static void sums_done(struct sums *sums)
{
    for (uint32_t side = 0; side < 2; side++) {
        free(sums->leaf[side]);
        free(sums->pod[side]);
        free(sums->leaf_highest[side]);
        free(sums->pod_highest[side]);
    }
    free(sums->dead_leaf);
    free(sums->dead_pod);
}

static void sums_init(struct sums *sums, const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    *sums = (struct sums){.graph = graph, .pods = net->pods ? net->pods : 1};
    size_t pods = (size_t)(net->leaf / graph->unit_leaves) * sums->pods;
    for (uint32_t side = 0; side < 2; side++) {
        sums->leaf[side] = myr_xcalloc((size_t)net->leaf, sizeof(uint64_t));
        sums->leaf_highest[side] = myr_xcalloc((size_t)net->leaf, sizeof(uint64_t));
        sums->pod[side] = myr_xcalloc(pods, sizeof(uint64_t));
        sums->pod_highest[side] = myr_xcalloc(pods, sizeof(uint64_t));
    }
    sums->dead_leaf = myr_xcalloc((size_t)net->leaf, 1);
    sums->dead_pod = myr_xcalloc(pods, 1);
}

/* Leaves that lost an uplink, and pods whose spines did. */
static void note_dead(struct sums *sums)
{
    const struct myr_graph *graph = sums->graph;
    const struct myr_network *net = graph->net;
    for (uint32_t i = 0; i < net->leaf + net->spine && graph->dead_count; i++) {
        const struct myr_rung *rung = &graph->rungs[i];
        for (uint32_t k = 0; k < rung->up_count; k++) {
            if (!myr_graph_link_dead(graph, graph->channels[rung->up + k] / 2)) {
                continue;
            }
            if (i < net->leaf) {
                sums->dead_leaf[i] = 1;
            } else {
                sums->dead_pod[pod_of(sums, rung)] = 1;
            }
        }
    }
}

/* Whether a flow that is alive meets the same number of links everywhere. */
static bool is_whole(const struct sums *sums, const struct myr_rung *ends[2])
{
    bool crosses = ends[0]->pod != ends[1]->pod, whole = true;
    for (uint32_t side = 0; side < 2 && ends[0] != ends[1]; side++) {
        whole = whole && !sums->dead_leaf[ends[side] - sums->graph->rungs] &&
                !(crosses && sums->dead_pod[pod_of(sums, ends[side])]);
    }
    return whole;
}

static void add_whole(struct sums *sums, const struct myr_flow *flows, size_t count, uint64_t *load)
{
    const struct myr_rung *ends[2];
    for (size_t i = 0; i < count; i++) {
        if (rungs_of(sums->graph, &flows[i], ends) && is_whole(sums, ends)) {
            add_sums(sums, ends, flows[i].share);
            load_hosts(sums->graph, &flows[i], load);
        }
    }
    load_sums(sums, load);
}

static void limit_whole(const struct sums *sums, const struct myr_flow *flows, size_t count,
                        uint64_t *ret)
{
    const struct myr_rung *ends[2];
    for (size_t i = 0; i < count; i++) {
        if (rungs_of(sums->graph, &flows[i], ends) && is_whole(sums, ends)) {
            ret[i] = sums_limit(sums, ends);
        }
    }
}

/* --- any fabric: all flows to one switch together, hop by hop */

struct spray {
    const struct myr_graph *graph;
    uint64_t *load;
    uint64_t *fraction;           /* by switch: what has come there */
    uint64_t *highest;            /* by switch: the fullest link on its ways to the target ... */
    uint32_t *known;              /* ... valid where this is the target's number + 1 */
    MYR_VEC(uint32_t) now, later; /* switches that something has reached */
};

static void spray_done(struct spray *spray)
{
    myr_vec_done(&spray->now);
    myr_vec_done(&spray->later);
    free(spray->fraction);
    free(spray->highest);
    free(spray->known);
}

static void spray_from(struct spray *spray, uint32_t at, uint32_t to)
{
    const struct myr_graph *graph = spray->graph;
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t ways = myr_path_candidates(graph, graph->first_switch + at, to, candidates);
    uint64_t part = ways ? spray->fraction[at] / ways : 0;
    spray->fraction[at] = 0;
    for (uint32_t k = 0; k < ways && part > 0; k++) {
        uint32_t other = myr_channel_to_device(graph->design, candidates[k]) - graph->first_switch;
        spray->load[candidates[k]] += fine_load(graph, candidates[k], part);
        if (spray->fraction[other] == 0) {
            myr_vec_push(&spray->later, other);
        }
        spray->fraction[other] += part;
    }
}

/* One wave after the other: a switch that is reached by ways of several lengths comes again. */
static void spray_to(struct spray *spray, uint32_t to)
{
    while (spray->now.count > 0) {
        spray->later.count = 0;
        for (size_t i = 0; i < spray->now.count; i++) {
            spray_from(spray, spray->now.items[i], to);
        }
        spray->now.count = 0;
        for (size_t i = 0; i < spray->later.count; i++) {
            myr_vec_push(&spray->now, spray->later.items[i]);
        }
    }
}

/* The fullest link on any way from a switch to the target; every hop comes nearer to it. */
static uint64_t highest_from(struct spray *spray, uint32_t at, uint32_t to)
{
    const struct myr_graph *graph = spray->graph;
    uint32_t candidates[MYR_CANDIDATES_MAX];
    if (spray->known[at] == to + 1) {
        return spray->highest[at];
    }
    uint32_t ways = myr_path_candidates(graph, graph->first_switch + at, to, candidates);
    uint64_t highest = 0;
    for (uint32_t k = 0; k < ways; k++) {
        uint32_t other = myr_channel_to_device(graph->design, candidates[k]) - graph->first_switch;
        uint64_t rest = highest_from(spray, other, to);
        highest = spray->load[candidates[k]] > highest ? spray->load[candidates[k]] : highest;
        highest = rest > highest ? rest : highest;
    }
    spray->known[at] = to + 1;
    spray->highest[at] = highest;
    return highest;
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
            *load += policy_load_part(spray->graph, path.channels[i], flow->share);
        }
    }
    return true;
}

/* A switch that has a candidate at all leads there. */
static bool has_way(const struct spray *spray, uint32_t from, uint32_t to)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    return from == to || myr_path_candidates(spray->graph, from, to, candidates) > 0;
}

/*
 * Flows by the switch where they end: 'order' from start[switch]. With sums only those that are in
 * none of them.
 */
static bool is_followed(const struct myr_graph *graph, const struct sums *sums,
                        const struct myr_flow *flow)
{
    const struct myr_rung *ends[2];
    return sums ? rungs_of(graph, flow, ends) && !is_whole(sums, ends) : ports_alive(graph, flow);
}

static void by_target(const struct myr_graph *graph, const struct sums *sums,
                      const struct myr_flow *flows, size_t count, uint32_t *order, uint32_t *start)
{
    for (size_t i = 0; i < count; i++) {
        if (is_followed(graph, sums, &flows[i])) {
            start[myr_graph_host_switch(graph, flows[i].to_port) - graph->first_switch + 2]++;
        }
    }
    for (uint32_t s = 2; s < graph->switch_count + 2; s++) {
        start[s] += start[s - 1];
    }
    for (size_t i = 0; i < count; i++) {
        if (is_followed(graph, sums, &flows[i])) {
            uint32_t to = myr_graph_host_switch(graph, flows[i].to_port) - graph->first_switch;
            order[start[to + 1]++] = (uint32_t)i;
        }
    }
}

/* Spreads the flows to one switch, or, with 'ret_limit', asks what the fullest link on the way is.
 */
static void spray_group(struct spray *spray, const struct myr_flow *flows, const uint32_t *order,
                        uint32_t count, uint32_t to, uint64_t *ret_limit)
{
    const struct myr_graph *graph = spray->graph;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_flow *flow = &flows[order[i]];
        uint32_t from = myr_graph_host_switch(graph, flow->from_port);
        uint32_t at = from - graph->first_switch;
        uint64_t limit = 0;
        if (!has_way(spray, from, to)) {
            bool sent = spray_detour(spray, flow, ret_limit ? &limit : NULL);
            if (ret_limit) {
                ret_limit[order[i]] = sent ? limit : UINT64_MAX;
            } else if (sent) {
                load_hosts(graph, flow, spray->load);
            }
        } else if (ret_limit) {
            ret_limit[order[i]] = highest_from(spray, at, to);
        } else {
            load_hosts(graph, flow, spray->load);
            if (spray->fraction[at] == 0) {
                myr_vec_push(&spray->now, at);
            }
            spray->fraction[at] += flow->share * SPRAY_FINE;
        }
    }
    if (!ret_limit) {
        spray_to(spray, to);
    }
}

/* 'sums' are of a regular Clos, whose other flows are added up; or NULL. */
static void spray_flows(const struct myr_graph *graph, struct sums *sums,
                        const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                        uint64_t *load)
{
    MYR_CLEANUP(spray_done) struct spray spray = {.graph = graph, .load = load};
    size_t switches = (size_t)graph->switch_count + 2;
    spray.fraction = myr_xcalloc(switches, sizeof(uint64_t));
    spray.highest = myr_xcalloc(switches, sizeof(uint64_t));
    spray.known = myr_xcalloc(switches, sizeof(uint32_t));
    MYR_CLEANUP(myr_free_at) uint32_t *order = myr_xcalloc(count + 1, sizeof(*order));
    MYR_CLEANUP(myr_free_at) uint32_t *start = myr_xcalloc(switches, sizeof(*start));
    by_target(graph, sums, flows, count, order, start);
    for (size_t i = 0; i < count; i++) {
        myr_vec_push(&ret->limit, UINT64_MAX);
    }
    /* All loads first: what limits a flow is the fullest link when all of them are there. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t s = 0; s < graph->switch_count; s++) {
            spray_group(&spray, flows, order + start[s], start[s + 1] - start[s],
                        graph->first_switch + s, pass ? ret->limit.items : NULL);
        }
        if (sums && pass == 0) {
            add_whole(sums, flows, count, load);
        } else if (sums) {
            limit_whole(sums, flows, count, ret->limit.items);
        }
    }
    for (size_t i = 0; i < count; i++) {
        ret->unroutable += ret->limit.items[i] == UINT64_MAX;
    }
}

void policy_spray(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                  struct myr_routes *ret, uint64_t *load)
{
    ret->sprayed = true;
    if (graph->regular && graph->net->spine && alike(graph)) {
        MYR_CLEANUP(sums_done) struct sums sums;
        sums_init(&sums, graph);
        note_dead(&sums);
        spray_flows(graph, &sums, flows, count, ret, load);
    } else {
        spray_flows(graph, NULL, flows, count, ret, load);
    }
}
