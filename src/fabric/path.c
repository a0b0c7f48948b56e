#include "myriad/fabric/path.h"

#include "direct.h"

/*
 * Clos paths. A spine can serve a destination when the rest of the way is alive: its own bundle to
 * the leaf, or a core that joins it to the spine of the same position in the destination's pod. In
 * a fabric without dead links that is always so, and nothing is looked up.
 */

static bool alive(const struct myr_graph *graph, uint32_t from, uint32_t to)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, from, to);
    return bundle && bundle->alive > 0;
}

static uint32_t put_bundle(const struct myr_graph *graph, const struct myr_bundle *bundle,
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

/* A core that still joins this spine to the far spine. */
static bool core_way(const struct myr_graph *graph, uint32_t spine, uint32_t far_spine)
{
    uint32_t at = spine - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *up = &graph->bundles[i];
        if (up->neighbour >= graph->net->first_core && up->alive > 0 &&
            alive(graph, up->neighbour, far_spine)) {
            return true;
        }
    }
    return false;
}

static uint32_t far_spine_of(const struct myr_graph *graph, uint32_t spine, struct myr_spot to)
{
    struct myr_spot spot = myr_graph_spine_spot(graph, spine);
    spot.pod = to.pod;
    return myr_graph_spine(graph, spot);
}

static bool spine_serves(const struct myr_graph *graph, uint32_t spine, uint32_t to_leaf,
                         struct myr_spot to)
{
    if (graph->dead_count == 0) {
        return true;
    }
    struct myr_spot spot = myr_graph_spine_spot(graph, spine);
    if (spot.pod == to.pod) {
        return alive(graph, spine, to_leaf);
    }
    uint32_t far = far_spine_of(graph, spine, to);
    return alive(graph, far, to_leaf) && core_way(graph, spine, far);
}

static uint32_t from_leaf(const struct myr_graph *graph, uint32_t leaf, uint32_t to_leaf,
                          struct myr_spot to, uint32_t *ret)
{
    uint32_t at = leaf - graph->first_switch, count = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *up = &graph->bundles[i];
        if (up->alive > 0 && spine_serves(graph, up->neighbour, to_leaf, to)) {
            count = put_bundle(graph, up, ret, count);
        }
    }
    return count;
}

static uint32_t from_spine(const struct myr_graph *graph, uint32_t spine, uint32_t to_leaf,
                           struct myr_spot to, uint32_t *ret)
{
    struct myr_spot spot = myr_graph_spine_spot(graph, spine);
    if (spot.pod == to.pod) {
        const struct myr_bundle *down = myr_graph_bundle(graph, spine, to_leaf);
        return down ? put_bundle(graph, down, ret, 0) : 0;
    }
    uint32_t far = far_spine_of(graph, spine, to), count = 0;
    uint32_t at = spine - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *up = &graph->bundles[i];
        if (up->neighbour >= graph->net->first_core && up->alive > 0 &&
            alive(graph, up->neighbour, far)) {
            count = put_bundle(graph, up, ret, count);
        }
    }
    return count;
}

static uint32_t from_core(const struct myr_graph *graph, uint32_t core, struct myr_spot to,
                          uint32_t *ret)
{
    uint32_t at = core - graph->net->first_core;
    struct myr_spot spot = {to.unit, to.pod, at % graph->unit_cores / graph->net->group_cores};
    const struct myr_bundle *down = myr_graph_bundle(graph, core, myr_graph_spine(graph, spot));
    return down ? put_bundle(graph, down, ret, 0) : 0;
}

uint32_t myr_path_candidates(const struct myr_graph *graph, uint32_t device, uint32_t to_leaf,
                             uint32_t ret[MYR_CANDIDATES_MAX])
{
    if (device == to_leaf) {
        return 0;
    }
    if (!graph->clos) {
        return direct_candidates(graph, device, to_leaf, ret);
    }
    struct myr_spot to = myr_graph_leaf_spot(graph, to_leaf);
    const struct myr_network *net = graph->net;
    if (net->core && device >= net->first_core) {
        return from_core(graph, device, to, ret);
    }
    if (net->spine && device >= net->first_spine) {
        return from_spine(graph, device, to_leaf, to, ret);
    }
    if (myr_graph_leaf_spot(graph, device).unit != to.unit) {
        return 0; /* another plane or rail: no way through the fabric */
    }
    return from_leaf(graph, device, to_leaf, to, ret);
}

/* The channel from a host port into the fabric; MYR_NONE when it is not cabled or dead. */
static uint32_t host_channel(const struct myr_graph *graph, uint32_t port)
{
    uint32_t link = graph->design->port_link[port];
    if (link == MYR_NONE || myr_graph_link_dead(graph, link)) {
        return MYR_NONE;
    }
    return link * 2 + (graph->design->link_a[link] != port);
}

bool myr_path_find(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                   myr_choose_fn *choose, void *context, struct myr_path *ret)
{
    uint32_t first = host_channel(graph, from_port), last = host_channel(graph, to_port);
    if (first == MYR_NONE || last == MYR_NONE || from_port == to_port) {
        return false;
    }
    uint32_t device = myr_channel_to_device(graph->design, first);
    uint32_t to_leaf = myr_channel_to_device(graph->design, last);
    ret->count = 0;
    ret->channels[ret->count++] = first;
    for (uint32_t depth = 0; device != to_leaf; depth++) {
        uint32_t candidates[MYR_CANDIDATES_MAX];
        uint32_t count = myr_path_candidates(graph, device, to_leaf, candidates);
        if (count == 0 || ret->count >= MYR_PATH_MAX - 1) {
            return false;
        }
        uint32_t pick = choose(context, device, count, depth, candidates);
        MYR_ASSERT(pick < count);
        ret->channels[ret->count++] = candidates[pick];
        device = myr_channel_to_device(graph->design, candidates[pick]);
    }
    ret->channels[ret->count++] = myr_channel_back(last);
    return true;
}

static uint32_t choose_by_value(void *context, uint32_t device, uint32_t count, uint32_t depth,
                                const uint32_t *candidates)
{
    (void)device;
    (void)candidates;
    (void)depth;
    uint64_t *value = context;
    uint32_t pick = (uint32_t)(*value % count);
    *value /= count;
    return pick;
}

/* Without dead links the candidates are whole ranges of channels: no list is made. */
static bool quick_clos(const struct myr_graph *graph, uint32_t first, uint32_t last, uint64_t value,
                       struct myr_path *ret)
{
    const struct myr_design *design = graph->design;
    uint32_t leaf = myr_channel_to_device(design, first);
    uint32_t to_leaf = myr_channel_to_device(design, last);
    struct myr_spot from = myr_graph_leaf_spot(graph, leaf);
    struct myr_spot to = myr_graph_leaf_spot(graph, to_leaf);
    if (from.unit != to.unit) {
        return false;
    }
    ret->count = 0;
    ret->channels[ret->count++] = first;
    if (leaf != to_leaf) {
        uint32_t ups = myr_graph_uplink_count(graph, leaf);
        uint32_t up = myr_graph_uplink(graph, leaf, (uint32_t)(value % ups));
        uint32_t spine = myr_channel_to_device(design, up);
        value /= ups;
        ret->channels[ret->count++] = up;
        if (from.pod != to.pod) {
            ups = myr_graph_uplink_count(graph, spine);
            up = myr_graph_uplink(graph, spine, (uint32_t)(value % ups));
            value /= ups;
            ret->channels[ret->count++] = up;
            uint32_t core = myr_channel_to_device(design, up);
            spine = far_spine_of(graph, spine, to);
            const struct myr_bundle *down = myr_graph_bundle(graph, core, spine);
            MYR_ASSERT(down);
            ret->channels[ret->count++] = graph->channels[down->first + value % down->count];
            value /= down->count;
        }
        const struct myr_bundle *down = myr_graph_bundle(graph, spine, to_leaf);
        MYR_ASSERT(down);
        ret->channels[ret->count++] = graph->channels[down->first + value % down->count];
    }
    ret->channels[ret->count++] = myr_channel_back(last);
    return true;
}

bool myr_path_by_value(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                       uint64_t value, struct myr_path *ret)
{
    uint32_t first = host_channel(graph, from_port), last = host_channel(graph, to_port);
    /* A dense fabric may lack a pair: only there the lists are needed. */
    if (graph->clos && graph->dead_count == 0 && graph->regular && first != MYR_NONE &&
        last != MYR_NONE && from_port != to_port) {
        return quick_clos(graph, first, last, value, ret);
    }
    return myr_path_find(graph, from_port, to_port, choose_by_value, &value, ret);
}

bool myr_path_valiant(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                      uint32_t via, uint64_t value, struct myr_path *ret)
{
    if (graph->net->topology != MYR_TOPOLOGY_DRAGONFLY || graph->net->groups < 3) {
        return myr_path_by_value(graph, from_port, to_port, value, ret);
    }
    uint32_t first = host_channel(graph, from_port), last = host_channel(graph, to_port);
    if (first == MYR_NONE || last == MYR_NONE || from_port == to_port) {
        return false;
    }
    uint32_t device = myr_channel_to_device(graph->design, first);
    uint32_t to_leaf = myr_channel_to_device(graph->design, last);
    uint32_t group_switches = graph->net->group_switches;
    uint32_t half = graph->net->first_leaf + via % graph->net->groups * group_switches +
                    (uint32_t)(value % group_switches);
    uint32_t targets[] = {half, to_leaf};
    ret->count = 0;
    ret->channels[ret->count++] = first;
    for (uint32_t leg = 0; leg < 2; leg++) {
        while (device != targets[leg]) {
            uint32_t candidates[MYR_CANDIDATES_MAX];
            uint32_t count = direct_candidates(graph, device, targets[leg], candidates);
            if (count == 0 || ret->count >= MYR_PATH_MAX - 1) {
                return false;
            }
            uint32_t pick = candidates[value % count];
            ret->channels[ret->count++] = pick;
            device = myr_channel_to_device(graph->design, pick);
        }
    }
    ret->channels[ret->count++] = myr_channel_back(last);
    return true;
}

/* The destination's position on its leaf, and the leaf's in its pod: what d-mod-k goes by. */
static uint32_t down_index(const struct myr_graph *graph, uint32_t to_port)
{
    uint32_t peer = myr_design_peer(graph->design, to_port);
    return peer - graph->design->first_port[graph->design->port_device[peer]];
}

uint32_t myr_path_static(const struct myr_graph *graph, uint32_t device, uint32_t to_port)
{
    uint32_t last = host_channel(graph, to_port);
    if (last == MYR_NONE) {
        return MYR_NONE;
    }
    uint32_t to_leaf = myr_channel_to_device(graph->design, last);
    if (device == to_leaf) {
        return myr_channel_back(last);
    }
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t count = myr_path_candidates(graph, device, to_leaf, candidates);
    if (count == 0) {
        return MYR_NONE;
    }
    uint32_t slot = down_index(graph, to_port);
    if (!graph->clos) {
        return candidates[slot % count];
    }
    uint32_t up = graph->net->leaf_up ? graph->net->leaf_up : 1;
    struct myr_spot to = myr_graph_leaf_spot(graph, to_leaf);
    bool is_leaf = device < graph->net->first_spine || graph->net->spine == 0;
    /* A leaf goes by the slot; above, ways that came together are spread by the leaf as well. */
    uint32_t per_pair = graph->net->pod_spines ? up / graph->net->pod_spines : 1;
    per_pair = per_pair ? per_pair : 1;
    uint32_t value = is_leaf ? slot : to.index * per_pair + slot % per_pair;
    if (!is_leaf && count == per_pair) {
        value = slot % per_pair; /* the last bundle down */
    }
    return candidates[value % count];
}
