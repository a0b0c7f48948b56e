#include <stdlib.h>

#include "policy/sums.h"

/*
 * Spraying is linear: what goes to one switch can be spread together, wherever it came from. In a
 * regular Clos most of it is sums (sums.h); what these leave out, and other fabrics, is followed
 * hop by hop.
 */

/* --- any fabric: all flows to one switch together, hop by hop */

struct spray {
    const struct myr_graph *graph;
    uint64_t *load;               /* by channel */
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

/*
 * Divides what has come to a switch evenly among its candidates; the rest of the division is
 * lost.
 */
static void spray_from(struct spray *spray, uint32_t at, uint32_t to)
{
    const struct myr_graph *graph = spray->graph;
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t ways = myr_path_candidates(graph, graph->first_switch + at, to, candidates);
    uint64_t part = ways ? spray->fraction[at] / ways : 0;
    spray->fraction[at] = 0;
    for (uint32_t k = 0; k < ways && part > 0; k++) {
        uint32_t other = myr_channel_to_device(graph->design, candidates[k]) - graph->first_switch;
        spray->load[candidates[k]] += sums_fine_load(graph, candidates[k], part);
        /* Listed once a wave, when the first part comes. */
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
    /* Asked often: each switch is worked out once for a target. */
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
    /* The same walk loads the channels and, when all are loaded, looks at them. */
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
static bool is_followed(const struct myr_graph *graph, struct sums *sums,
                        const struct myr_flow *flow)
{
    const struct myr_rung *ends[2];
    return sums ? sums_ends(graph, flow, ends) && sums_kind(sums, ends) == SUMS_NOT
                : sums_alive(graph, flow);
}

/* Counted twice the same way: what is followed is asked again, not kept. */
static void by_target(const struct myr_graph *graph, struct sums *sums,
                      const struct myr_flow *flows, size_t count, uint32_t *order, uint32_t *start)
{
    /*
     * Starts are counted two places ahead and filled one place ahead: they end where they
     * belong.
     */
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
        /* One path for such a flow: there is nothing to spread over. */
        if (!has_way(spray, from, to)) {
            bool sent = spray_detour(spray, flow, ret_limit ? &limit : NULL);
            if (ret_limit) {
                ret_limit[order[i]] = sent ? limit : UINT64_MAX;
            } else if (sent) {
                sums_load_hosts(graph, flow, spray->load);
            }
        } else if (ret_limit) {
            ret_limit[order[i]] = highest_from(spray, at, to);
        } else {
            sums_load_hosts(graph, flow, spray->load);
            /* Listed once, when its first share comes. */
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
    MYR_CLEANUP(myr_free_at) uint32_t *order = myr_xcalloc(count, sizeof(*order));
    MYR_CLEANUP(myr_free_at) uint32_t *start = myr_xcalloc(switches, sizeof(*start));
    /* Flows to one switch together, for they spread alike. */
    by_target(graph, sums, flows, count, order, start);
    /* Lost, unless one of the two passes below finds it a way. */
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
            sums_add(sums, flows, count, load);
        } else if (sums) {
            sums_limit(sums, flows, count, load, ret->limit.items);
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
    if (sums_fit(graph)) {
        MYR_CLEANUP(sums_done) struct sums sums;
        sums_init(&sums, graph);
        spray_flows(graph, &sums, flows, count, ret, load);
    } else {
        spray_flows(graph, NULL, flows, count, ret, load);
    }
}
