#include "myriad/fabric/path.h"

#include "path/direct.h"

/*
 * Clos paths. A spine can serve a destination when the rest of the way is alive: its own bundle to
 * the leaf, or a core that joins it to the spine of the same position in the destination's pod. In
 * a fabric without dead links that is always so, and nothing is looked up.
 */

/* No bundle at all counts as dead: a dense fabric may lack a pair. */
static bool alive(const struct myr_graph *graph, uint32_t from, uint32_t to)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, from, to);
    return bundle && bundle->alive > 0;
}

/*
 * Appends the channels of a bundle that are alive; 'count' are there already, and what does not fit
 * is left out.
 */
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

/* Cores join spines of one position: the spine above a leaf settles which one leads down again. */
static uint32_t far_spine_of(const struct myr_graph *graph, uint32_t spine, struct myr_spot to)
{
    struct myr_spot spot = myr_graph_spine_spot(graph, spine);
    spot.pod = to.pod;
    return myr_graph_spine(graph, spot);
}

/* Whether the rest of the way from this spine is alive. */
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

/* Upwards only by spines that lead to the goal: there is no way back from a wrong one. */
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

/* Down in the goal's pod, else up to cores that still join the far spine. */
static uint32_t from_spine(const struct myr_graph *graph, uint32_t spine, uint32_t to_leaf,
                           struct myr_spot to, uint32_t *ret)
{
    struct myr_spot spot = myr_graph_spine_spot(graph, spine);
    if (spot.unit != to.unit) {
        return 0;
    }
    if (spot.pod == to.pod) {
        const struct myr_bundle *down = myr_graph_bundle(graph, spine, to_leaf);
        return down ? put_bundle(graph, down, ret, 0) : 0;
    }
    uint32_t far = far_spine_of(graph, spine, to), count = 0;
    uint32_t at = spine - graph->first_switch;
    /* Up would lead to a spine that has lost the goal. */
    if (!alive(graph, far, to_leaf)) {
        return 0;
    }
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *up = &graph->bundles[i];
        if (up->neighbour >= graph->net->first_core && up->alive > 0 &&
            alive(graph, up->neighbour, far)) {
            count = put_bundle(graph, up, ret, count);
        }
    }
    return count;
}

/* A core has one bundle into each pod: the way down is settled, only its links can be chosen. */
static uint32_t from_core(const struct myr_graph *graph, uint32_t core, uint32_t to_leaf,
                          struct myr_spot to, uint32_t *ret)
{
    uint32_t at = core - graph->net->first_core;
    struct myr_spot spot = {to.unit, to.pod, at % graph->unit_cores / graph->net->group_cores};
    uint32_t far = myr_graph_spine(graph, spot);
    const struct myr_bundle *down = myr_graph_bundle(graph, core, far);
    bool leads = down && at / graph->unit_cores == to.unit && alive(graph, far, to_leaf);
    return leads ? put_bundle(graph, down, ret, 0) : 0;
}

/* By the tier of the switch: ids grow with the tiers. */
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
    /* From the highest tier down: ids tell. */
    if (net->core && device >= net->first_core) {
        return from_core(graph, device, to_leaf, to, ret);
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

/* A walk from one host port to another. */
struct walk {
    const struct myr_graph *graph;
    struct myr_path *path; /* grows by a channel at each hop */
    uint32_t first, last;  /* host channels, both away from the host */
    uint32_t device;       /* where it is */
};

/* False when there is nothing to walk: a host link is missing or dead, or both ends are one. */
static bool walk_start(struct walk *walk, const struct myr_graph *graph, uint32_t from_port,
                       uint32_t to_port, struct myr_path *path)
{
    *walk = (struct walk){.graph = graph,
                          .path = path,
                          .first = host_channel(graph, from_port),
                          .last = host_channel(graph, to_port)};
    if (walk->first == MYR_NONE || walk->last == MYR_NONE || from_port == to_port) {
        return false;
    }
    walk->device = myr_channel_to_device(graph->design, walk->first);
    path->count = 0;
    path->channels[path->count++] = walk->first;
    return true;
}

/* To a switch, by the fabric's rule or by a detour; a choice at every hop. */
static bool walk_to(struct walk *walk, uint32_t to, const struct detour *detour,
                    myr_choose_fn *choose, void *context)
{
    const struct myr_graph *graph = walk->graph;
    for (uint32_t depth = 0; walk->device != to; depth++) {
        uint32_t candidates[MYR_CANDIDATES_MAX];
        uint32_t count = detour ? detour_candidates(detour, graph, walk->device, candidates)
                                : myr_path_candidates(graph, walk->device, to, candidates);
        /* One place is kept for the channel down to the host. */
        if (count == 0 || walk->path->count >= MYR_PATH_MAX - 1) {
            return false;
        }
        uint32_t pick = choose(context, walk->device, count, depth, candidates);
        MYR_ASSERT(pick < count);
        walk->path->channels[walk->path->count++] = candidates[pick];
        walk->device = myr_channel_to_device(graph->design, candidates[pick]);
    }
    return true;
}

bool myr_path_find(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                   myr_choose_fn *choose, void *context, struct myr_path *ret)
{
    struct walk walk;
    if (!walk_start(&walk, graph, from_port, to_port, ret)) {
        return false;
    }
    uint32_t start = walk.device, to = myr_channel_to_device(graph->design, walk.last);
    bool arrived = walk_to(&walk, to, NULL, choose, context);
    /* Only the first switch can be without candidates; going down and up again is not for a Clos.
     */
    if (!arrived && !graph->clos && walk.device == start) {
        struct detour detour;
        detour_init(&detour, graph, to);
        arrived = walk_to(&walk, to, &detour, choose, context);
        detour_done(&detour);
    }
    if (arrived) {
        ret->channels[ret->count++] = myr_channel_back(walk.last);
    }
    return arrived;
}

/* What is left of a value that paths are picked by, and the product of all counts so far. */
struct picks {
    uint64_t value, period;
};

/* Saturates: beyond 32 bits it matters only that the period is large. */
static void count_in(struct picks *picks, uint32_t count)
{
    picks->period = picks->period > UINT32_MAX ? UINT64_MAX : picks->period * count;
}

/*
 * The value is read as digits of mixed base, one at every hop: values from 0 on give all paths in
 * turn.
 */
static uint32_t choose_by_value(void *context, uint32_t device, uint32_t count, uint32_t depth,
                                const uint32_t *candidates)
{
    (void)device;
    (void)candidates;
    (void)depth;
    struct picks *picks = context;
    uint32_t pick = (uint32_t)(picks->value % count);
    picks->value /= count;
    count_in(picks, count);
    return pick;
}

/* The bundle to a neighbour that usually is the nth of the switch. */
static const struct myr_bundle *bundle_to(const struct myr_graph *graph, uint32_t from, uint32_t to,
                                          uint32_t nth)
{
    uint32_t at = from - graph->first_switch;
    /* Bundles are sorted, and in a regular fabric the nth is the one. */
    uint32_t guess = graph->bundle_start[at] + nth;
    if (guess < graph->bundle_start[at + 1] && graph->bundles[guess].neighbour == to) {
        return &graph->bundles[guess];
    }
    const struct myr_bundle *found = myr_graph_bundle(graph, from, to);
    MYR_ASSERT(found);
    return found;
}

/* Takes as much of the value as a choice among 'count' needs; most switches are powers of two. */
static uint32_t take_choice(struct picks *picks, uint32_t count)
{
    uint32_t pick;
    if ((count & (count - 1)) == 0) {
        pick = (uint32_t)picks->value & (count - 1);
        picks->value >>= __builtin_ctz(count);
    } else {
        pick = (uint32_t)(picks->value % count);
        picks->value /= count;
    }
    count_in(picks, count);
    return pick;
}

static void take_bundle(const struct myr_graph *graph, const struct myr_bundle *bundle,
                        struct picks *picks, struct myr_path *path)
{
    uint32_t pick = take_choice(picks, bundle->count);
    path->channels[path->count++] = graph->channels[bundle->first + pick];
}

/* Returns the switch above. */
static uint32_t take_uplink(const struct myr_graph *graph, const struct myr_rung *rung,
                            struct picks *picks, struct myr_path *path)
{
    uint32_t at = rung->up + take_choice(picks, rung->up_count);
    path->channels[path->count++] = graph->channels[at];
    return graph->peers[at];
}

/* Without dead links the candidates are whole ranges of channels: no list is made. */
static bool quick_clos(const struct myr_graph *graph, struct myr_entry first, struct myr_entry last,
                       struct picks *picks, struct myr_path *ret)
{
    const struct myr_rung *from = &graph->rungs[first.leaf - graph->first_switch];
    const struct myr_rung *to = &graph->rungs[last.leaf - graph->first_switch];
    if (from->unit != to->unit) {
        return false;
    }
    /* Choices are taken in the order of hops, as the walk does. */
    ret->count = 0;
    ret->channels[ret->count++] = first.channel;
    if (first.leaf != last.leaf) {
        uint32_t spine = take_uplink(graph, from, picks, ret);
        if (from->pod != to->pod) {
            uint32_t core =
                take_uplink(graph, &graph->rungs[spine - graph->first_switch], picks, ret);
            /* Regular: the spine of the same position in the other pod. */
            spine = spine - from->pod * graph->net->pod_spines + to->pod * graph->net->pod_spines;
            take_bundle(graph, bundle_to(graph, core, spine, to->pod), picks, ret);
        }
        take_bundle(graph, bundle_to(graph, spine, last.leaf, to->index), picks, ret);
    }
    ret->channels[ret->count++] = myr_channel_back(last.channel);
    return true;
}

/* Both ways take the choices in the same order, so that a value means the same path. */
static bool path_by_picks(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                          struct picks *picks, struct myr_path *ret)
{
    /* A dense fabric may lack a pair: only there the lists are needed. */
    if (graph->dead_count == 0 && graph->regular && from_port != to_port &&
        from_port < graph->entry_count && to_port < graph->entry_count) {
        struct myr_entry first = graph->entries[from_port], last = graph->entries[to_port];
        return first.channel != MYR_NONE && last.channel != MYR_NONE &&
               quick_clos(graph, first, last, picks, ret);
    }
    return myr_path_find(graph, from_port, to_port, choose_by_value, picks, ret);
}

bool myr_path_by_value(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                       uint64_t value, struct myr_path *ret)
{
    return path_by_picks(graph, from_port, to_port, &(struct picks){value, 1}, ret);
}

bool myr_path_with_period(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                          uint64_t value, struct myr_path *ret, uint64_t *ret_period)
{
    struct picks picks = {value, 1};
    if (!path_by_picks(graph, from_port, to_port, &picks, ret)) {
        return false;
    }
    *ret_period = picks.period;
    return true;
}

/* With less than three groups there is no other one to go over. */
bool myr_path_valiant(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                      uint32_t via, uint64_t value, struct myr_path *ret)
{
    const struct myr_network *net = graph->net;
    bool grouped =
        net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    struct walk walk;
    if (!grouped || net->groups < 3) {
        return myr_path_by_value(graph, from_port, to_port, value, ret);
    }
    if (!walk_start(&walk, graph, from_port, to_port, ret)) {
        return false;
    }
    uint32_t group_leaves = net->leaf / net->groups;
    uint32_t half =
        /* The middle is any leaf of that group, picked by the first digit of the value. */
        net->first_leaf + via % net->groups * group_leaves + (uint32_t)(value % group_leaves);
    uint32_t to = myr_channel_to_device(graph->design, walk.last);
    /* What is left of the value picks the links, first to the middle and then on. */
    struct picks picks = {value / group_leaves, 1};
    if (!walk_to(&walk, half, NULL, choose_by_value, &picks) ||
        !walk_to(&walk, to, NULL, choose_by_value, &picks)) {
        return false;
    }
    ret->channels[ret->count++] = myr_channel_back(walk.last);
    return true;
}

/* The destination's position on its leaf, and the leaf's in its pod: what d-mod-k goes by. */
static uint32_t down_index(const struct myr_graph *graph, uint32_t to_port)
{
    /* The leaf's port that the host hangs on. */
    uint32_t peer = myr_design_peer(graph->design, to_port);
    return peer - graph->design->first_port[graph->design->port_device[peer]];
}

/* By the destination alone, as forwarding tables are; MYR_NONE where no way is left. */
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
    const struct myr_network *net = graph->net;
    if (device - net->first_leaf < net->leaf) {
        return candidates[slot % count]; /* up from a leaf: by the slot */
    }
    /*
     * Above, ways that came together are told apart by the destination's leaf, and by the slots
     * that go over one spine. Down to the leaf only the slots are left.
     */
    uint32_t per_pair = net->pod_spines ? net->leaf_up / net->pod_spines : 1;
    per_pair = per_pair ? per_pair : 1;
    struct myr_spot to = myr_graph_leaf_spot(graph, to_leaf);
    bool last_down = myr_channel_to_device(graph->design, candidates[0]) == to_leaf;
    uint32_t value = slot % per_pair + (last_down ? 0 : to.index * per_pair);
    return candidates[value % count];
}
