#include "direct.h"

static uint32_t put_alive(const struct myr_graph *graph, const struct myr_bundle *bundle,
                          uint32_t *ret, uint32_t count)
{
    for (uint32_t i = 0; i < bundle->count && count < MYR_CANDIDATES_MAX; i++) {
        uint32_t channel = graph->channels[bundle->first + i];
        if (!myr_graph_link_dead(graph, myr_channel_link(channel))) {
            ret[count++] = channel;
        }
    }
    return count;
}

static uint32_t put_neighbour(const struct myr_graph *graph, uint32_t device, uint32_t to,
                              uint32_t *ret, uint32_t count)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, device, to);
    return bundle ? put_alive(graph, bundle, ret, count) : count;
}

static uint32_t group_of(const struct myr_graph *graph, uint32_t device)
{
    return graph->design->place[device].pod;
}

/* Channels of a switch that lead straight into a group. */
static uint32_t put_group(const struct myr_graph *graph, uint32_t device, uint32_t group,
                          uint32_t *ret, uint32_t count)
{
    uint32_t at = device - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        if (bundle->alive && group_of(graph, bundle->neighbour) == group) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

static bool reaches_group(const struct myr_graph *graph, uint32_t device, uint32_t group)
{
    uint32_t scratch[MYR_CANDIDATES_MAX];
    return put_group(graph, device, group, scratch, 0) > 0;
}

/* Minimal: own global link, else a neighbour in the group that has one; at the end a local hop. */
static uint32_t dragonfly(const struct myr_graph *graph, uint32_t device, uint32_t to,
                          uint32_t *ret)
{
    uint32_t here = group_of(graph, device), there = group_of(graph, to);
    if (here == there) {
        return put_neighbour(graph, device, to, ret, 0);
    }
    uint32_t count = put_group(graph, device, there, ret, 0);
    if (count > 0) {
        return count;
    }
    uint32_t at = device - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        if (bundle->alive && group_of(graph, bundle->neighbour) == here &&
            reaches_group(graph, bundle->neighbour, there)) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

/* Leaf up to a spine with a link into the group, across, and down. */
static uint32_t dragonfly_plus(const struct myr_graph *graph, uint32_t device, uint32_t to,
                               uint32_t *ret)
{
    uint32_t here = group_of(graph, device), there = group_of(graph, to);
    bool is_spine = device >= graph->net->first_spine;
    if (is_spine) {
        return here == there ? put_neighbour(graph, device, to, ret, 0)
                             : put_group(graph, device, there, ret, 0);
    }
    uint32_t count = 0, at = device - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        const struct myr_bundle *down = myr_graph_bundle(graph, bundle->neighbour, to);
        bool leads =
            here == there ? down && down->alive : reaches_group(graph, bundle->neighbour, there);
        if (bundle->alive && leads) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

/* Dimension order; in each dimension the shorter way, both when they are equal. */
static uint32_t torus(const struct myr_graph *graph, uint32_t device, uint32_t to, uint32_t *ret)
{
    const struct myr_network *net = graph->net;
    uint32_t stride = net->leaf;
    for (uint32_t i = 0; i < net->dim_count; i++) {
        uint32_t size = net->dims[i];
        stride /= size;
        uint32_t at = (device - net->first_leaf) / stride % size;
        uint32_t target = (to - net->first_leaf) / stride % size;
        if (at == target) {
            continue;
        }
        uint32_t base = device - at * stride, count = 0;
        uint32_t ahead = (target + size - at) % size, behind = size - ahead;
        if (ahead <= behind) {
            count = put_neighbour(graph, device, base + (at + 1) % size * stride, ret, count);
        }
        if (behind <= ahead && size > 2) {
            count =
                put_neighbour(graph, device, base + (at + size - 1) % size * stride, ret, count);
        }
        return count;
    }
    return 0;
}

/* Access to aggregation to access; farther pairs of an unmeshed network by the shared windows. */
static uint32_t access_network(const struct myr_graph *graph, uint32_t device, uint32_t to,
                               uint32_t *ret)
{
    uint32_t at = device - graph->first_switch, count = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        bool leads = bundle->neighbour == to || (device < graph->net->first_aggregation &&
                                                 myr_graph_bundle(graph, bundle->neighbour, to));
        if (bundle->alive && leads) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

uint32_t direct_candidates(const struct myr_graph *graph, uint32_t device, uint32_t to,
                           uint32_t ret[MYR_CANDIDATES_MAX])
{
    if (device == to) {
        return 0;
    }
    switch (graph->net->topology) {
    case MYR_TOPOLOGY_DRAGONFLY:
        return dragonfly(graph, device, to, ret);
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        return dragonfly_plus(graph, device, to, ret);
    case MYR_TOPOLOGY_TORUS:
        return torus(graph, device, to, ret);
    default:
        return access_network(graph, device, to, ret);
    }
}
