#include "policy/policy.h"

/* Shares are of a host port's rate, loads of the channel's own: a faster channel is less full. */
uint64_t policy_load_part(const struct myr_graph *graph, uint32_t channel, uint64_t share)
{
    uint64_t gbps = myr_channel_gbps(graph->design, channel);
    return MYR_LOAD_ONE * share / MYR_SHARE_ONE * graph->net->host_gbps / gbps;
}

/* Removing takes exactly what adding has put there: both round alike. */
void policy_add_load(const struct myr_graph *graph, uint64_t *load, const struct myr_path *path,
                     uint32_t share, bool remove)
{
    for (uint32_t i = 0; i < path->count; i++) {
        uint64_t part = policy_load_part(graph, path->channels[i], share);
        MYR_ASSERT(!remove || load[path->channels[i]] >= part);
        load[path->channels[i]] += remove ? 0 - part : part;
    }
}

/* Routes of a flow follow each other, and flows come in order: readers walk both side by side. */
void policy_put_route(struct myr_routes *routes, uint32_t flow, uint32_t weight,
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
