#include <stdlib.h>

#include "myriad/fabric/balance.h"

/*
 * What a policy is judged by. Loads are of links between switches. The share of the ideal compares
 * rates over the policy's routes with those that host ports alone would allow, so that a fabric
 * that is not in the way gets 1.
 */

/* Links of hosts are as full under any policy, and would hide how well it balances. */
static bool between_switches(const struct myr_graph *graph, uint32_t channel)
{
    const struct myr_design *design = graph->design;
    uint32_t type = design->cable_type[design->link_cable[myr_channel_link(channel)]];
    return design->cabletypes[type].layer != MYR_LAYER_HOST;
}

/* The mean is over links that carry something: idle ones say nothing about balance. */
static void put_loads(const struct myr_graph *graph, const uint64_t *load,
                      struct myr_balance_report *ret)
{
    double sum = 0;
    for (uint32_t channel = 0; channel < graph->design->link_count * 2; channel++) {
        if (load[channel] && between_switches(graph, channel)) {
            double value = (double)load[channel] / (double)MYR_LOAD_ONE;
            ret->loaded++;
            sum += value;
            ret->max_load = value > ret->max_load ? value : ret->max_load;
        }
    }
    ret->mean_load = ret->loaded ? sum / ret->loaded : 0;
}

/*
 * Rates when only host ports limit, all of them alive: what is dead or not cabled is in the way of
 * flows as a full link is, so that those without a path count as flows that carry nothing.
 */
static void ideal_rates(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                        uint64_t *ret)
{
    const uint32_t *port_link = graph->design->port_link;
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    myr_vec_push(&routes.start, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t up = port_link[flows[i].from_port], down = port_link[flows[i].to_port];
        /* Both channels from the host's side: up to its switch, and down from the last one. */
        if (up != MYR_NONE) {
            myr_vec_push(&routes.channels, up * 2);
        }
        if (down != MYR_NONE) {
            myr_vec_push(&routes.channels, down * 2 + 1);
        }
        myr_vec_push(&routes.start, (uint32_t)routes.channels.count);
        myr_vec_push(&routes.flow, (uint32_t)i);
        myr_vec_push(&routes.weight, flows[i].share);
    }
    myr_max_min(graph, &routes, ret);
}

/* Of the ideal rates, what any routing could reach: none of flows whose own ports are cut off. */
static double reachable(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                        const uint64_t *ideal)
{
    const uint32_t *port_link = graph->design->port_link;
    MYR_CLEANUP(myr_free_at) uint64_t *most = myr_xcalloc(count, sizeof(*most));
    for (size_t i = 0; i < count; i++) {
        uint32_t up = port_link[flows[i].from_port], down = port_link[flows[i].to_port];
        bool alive = up != MYR_NONE && down != MYR_NONE && !myr_graph_link_dead(graph, up) &&
                     !myr_graph_link_dead(graph, down);
        most[i] = alive ? ideal[i] : 0;
    }
    return myr_throughput_bound(graph, flows, count, most);
}

/* Fair rates over the routes, summed by flow. */
static void routed_rates(const struct myr_graph *graph, const struct myr_routes *routes,
                         uint64_t *ret)
{
    uint32_t count = (uint32_t)routes->flow.count;
    MYR_CLEANUP(myr_free_at) uint64_t *rate = myr_xcalloc(count, sizeof(*rate));
    myr_max_min(graph, routes, rate);
    for (uint32_t r = 0; r < count; r++) {
        ret[routes->flow.items[r]] += rate[r];
    }
}

/* A sprayed flow is as slow as the fullest channel that it meets, when all send at ideal rates. */
static int sprayed_rates(const struct myr_graph *graph, const struct myr_balance_options *options,
                         const struct myr_flow *flows, size_t count, const uint64_t *ideal,
                         uint64_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) struct myr_flow *sent = myr_xcalloc(count, sizeof(*sent));
    MYR_CLEANUP(myr_free_at)
    uint64_t *load = myr_xcalloc((size_t)graph->design->link_count * 2, sizeof(*load));
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    for (size_t i = 0; i < count; i++) {
        /* Not what flows ask for, but what their ports let them send. */
        sent[i] = flows[i];
        /* Rounded up: loads may be judged too high, never too low. */
        sent[i].share = (uint32_t)((ideal[i] * MYR_SHARE_ONE + MYR_LOAD_ONE - 1) / MYR_LOAD_ONE);
    }
    int rc = myr_balance(graph, options, sent, count, &routes, load, err);
    for (size_t i = 0; rc == MYR_OK && i < count; i++) {
        uint64_t limit = routes.limit.items[i];
        /* UINT64_MAX: no way; below line rate nothing is held up. */
        ret[i] = limit == UINT64_MAX     ? 0
                 : limit <= MYR_LOAD_ONE ? ideal[i]
                                         : ideal[i] * MYR_LOAD_ONE / limit;
    }
    return rc;
}

/* Without any ideal rate there is nothing to lose: the share is 1. */
static int put_shares(const struct myr_graph *graph, const struct myr_balance_options *options,
                      const struct myr_flow *flows, size_t count, const struct myr_routes *routes,
                      struct myr_balance_report *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) uint64_t *ideal = myr_xcalloc(count, sizeof(*ideal));
    MYR_CLEANUP(myr_free_at) uint64_t *rate = myr_xcalloc(count, sizeof(*rate));
    double sum = 0, all = 0;
    int rc = MYR_OK;
    ideal_rates(graph, flows, count, ideal);
    /* Sprayed flows have no routes: what limits them is known by link. */
    if (routes->sprayed) {
        rc = sprayed_rates(graph, options, flows, count, ideal, rate, err);
    } else {
        routed_rates(graph, routes, rate);
    }
    for (size_t i = 0; i < count; i++) {
        /* A flow may gain from others that are held up; that makes up for nothing. */
        sum += (double)(rate[i] < ideal[i] ? rate[i] : ideal[i]);
        all += (double)ideal[i];
    }
    ret->share_of_ideal = all > 0 ? sum / all : 1;
    ret->throughput_bound = all > 0 ? reachable(graph, flows, count, ideal) / all : 1;
    return rc;
}

/* 'ret' is written only when all of it is known. */
int myr_balance_report(const struct myr_graph *graph, const struct myr_balance_options *options,
                       const struct myr_flow *flows, size_t count, struct myr_balance_report *ret,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at)
    uint64_t *load = myr_xcalloc((size_t)graph->design->link_count * 2, sizeof(*load));
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    struct myr_balance_report report = {};
    int rc = myr_balance(graph, options, flows, count, &routes, load, err);
    if (rc == MYR_OK) {
        /* These two divide flows among links, so that only the mean of a cut binds them. */
        bool split = options->policy == MYR_POLICY_SPRAY || options->policy == MYR_POLICY_FLOWLET;
        report.unroutable = routes.unroutable;
        report.bound = myr_load_bound(graph, flows, count, split);
        put_loads(graph, load, &report);
        rc = put_shares(graph, options, flows, count, &routes, &report, err);
    }
    if (rc == MYR_OK) {
        *ret = report;
    }
    return rc;
}
