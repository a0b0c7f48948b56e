#include <stdlib.h>

#include "kill.h"

/*
 * Remote switches are found by comparing candidate sets before and after. Which pairs of switch and
 * destination can differ at all follows from the fabric; in a Clos without other failures even the
 * number does, so that a plan for every link of a large fabric stays quick.
 */

struct watched {
    uint32_t device, target; /* a switch, and where its candidates lead */
    uint64_t before;         /* hash of the candidates */
};

struct watch {
    MYR_VEC(struct watched) pairs; /* those of one device in a row */
};

/* Lists keep their order while nothing changes, so that a hash compares them; no list is kept. */
static uint64_t candidates_hash(const struct myr_graph *graph, uint32_t device, uint32_t target)
{
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t count = myr_path_candidates(graph, device, target, candidates);
    return myr_hash_bytes(candidates, count * sizeof(*candidates)) + count;
}

static void watch_pair(const struct myr_graph *graph, struct watch *watch, uint32_t device,
                       uint32_t target)
{
    struct watched pair = {device, target, candidates_hash(graph, device, target)};
    myr_vec_push(&watch->pairs, pair);
}

/* Devices whose candidates for some target are others than before. */
static uint32_t watch_changed(const struct myr_graph *graph, const struct watch *watch)
{
    uint32_t changed = 0, last = MYR_NONE;
    for (size_t i = 0; i < watch->pairs.count; i++) {
        const struct watched *pair = &watch->pairs.items[i];
        if (pair->device != last &&
            pair->before != candidates_hash(graph, pair->device, pair->target)) {
            changed++;
            last = pair->device;
        }
    }
    MYR_ASSERT(changed <= watch->pairs.count);
    return changed;
}

/* --- which pairs can change */

static bool is_neighbour(const struct myr_graph *graph, uint32_t device, uint32_t other)
{
    return device == other || myr_graph_bundle(graph, device, other) != NULL;
}

/* Switches that hosts hang on: what paths lead to. */
static uint32_t target_count(const struct myr_graph *graph)
{
    return graph->net->leaf ? graph->net->leaf : graph->net->access;
}

/* What dies: a link by its ends, or a device as both of them. */
struct victim {
    uint32_t lower, upper;
};

/* Switches beside what died see it themselves: they are local, not remote. */
static bool at_its_ends(const struct myr_graph *graph, struct victim victim, uint32_t device)
{
    return victim.lower == victim.upper ? is_neighbour(graph, victim.lower, device)
                                        : device == victim.lower || device == victim.upper;
}

static bool in_pod(const struct myr_graph *graph, struct myr_spot pod, uint32_t leaf)
{
    struct myr_spot spot = myr_graph_leaf_spot(graph, leaf);
    return spot.unit == pod.unit && spot.pod == pod.pod;
}

/*
 * In a Clos a leaf's link matters to the ways towards that leaf only; a spine, or its link to a
 * core, to the ways into its pod, and to those of the pod's leaves out of it.
 */
static bool may_change(const struct myr_graph *graph, struct victim victim, uint32_t device,
                       uint32_t target)
{
    const struct myr_network *net = graph->net;
    bool is_device = victim.lower == victim.upper;
    if (target == victim.lower && is_device) {
        return false; /* dead, and no target any more */
    }
    if (!graph->clos) {
        return true;
    }
    if (victim.lower - net->first_leaf < net->leaf) {
        return !is_device && target == victim.lower;
    }
    /*
     * A core that dies takes a way from spines, which are beside it; leaves may lose the last one
     * over a spine.
     */
    if (net->core && victim.lower >= net->first_core) {
        return device - net->first_leaf < net->leaf;
    }
    struct myr_spot pod = myr_graph_spine_spot(graph, victim.lower);
    return in_pod(graph, pod, target) ||
           (device - net->first_leaf < net->leaf && in_pod(graph, pod, device));
}

/* Before anything dies: what the candidates are then is compared with what they become. */
static void watch_all(const struct myr_graph *graph, struct victim victim, struct watch *ret)
{
    uint32_t targets = target_count(graph);
    /* Device by device: watch_changed() counts each once. */
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        if (at_its_ends(graph, victim, device)) {
            continue;
        }
        for (uint32_t k = 0; k < targets; k++) {
            if (may_change(graph, victim, device, graph->first_switch + k)) {
                watch_pair(graph, ret, device, graph->first_switch + k);
            }
        }
    }
}

/* --- a Clos in which nothing else is dead */

/* The last pod of a fabric may have fewer leaves than the others. */
static uint32_t pod_leaf_count(const struct myr_graph *graph, uint32_t pod)
{
    uint32_t before = pod * graph->net->pod_leaves, left = graph->unit_leaves - before;
    return left < graph->net->pod_leaves ? left : graph->net->pod_leaves;
}

/*
 * The only link between two switches dies. Of a leaf: all other leaves, the spines of the same
 * position elsewhere and their cores lose this way to it. Of a spine: the spines of its position.
 */
static uint32_t remote_of_pair(const struct myr_graph *graph, uint32_t lower)
{
    const struct myr_network *net = graph->net;
    uint32_t pods = net->core ? net->pods : 1;
    if (lower - net->first_leaf < net->leaf) {
        /* The other leaves, the spines of the other pods, and the cores that join them. */
        return graph->unit_leaves - 1 + (pods - 1) + (net->core && pods > 1 ? net->group_cores : 0);
    }
    return pods - 1;
}

/* A spine dies: leaves of other pods, and spines of its position, cannot go over it any more. */
static uint32_t remote_of_device(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_network *net = graph->net;
    if (!net->core || device - net->first_spine >= net->spine) {
        return 0;
    }
    struct myr_spot spot = myr_graph_spine_spot(graph, device);
    return graph->unit_leaves - pod_leaf_count(graph, spot.pod) + net->pods - 1;
}

/* Where the closed forms hold: something else is left beside what dies. */
static bool is_plain_clos(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    return graph->regular && graph->dead_count == 0 && net->tiers > 1 && net->pod_spines > 1 &&
           (!net->core || net->group_cores > 1);
}

/* --- */

/* Hosts whose own links died are counted apart. */
static uint32_t hosts_on(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    uint32_t hosts = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        hosts +=
            link != MYR_NONE && is_host_link(graph, link) && !myr_bitset_has(&graph->dead, link);
    }
    return hosts;
}

/* Host links, and hosts on the switches that lose their last link. */
static uint32_t hosts_cut_by(const struct myr_graph *graph, const struct kill_list *killed)
{
    const struct myr_design *design = graph->design;
    /* A switch is met at each of its links that died, and counted once. */
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) seen = {};
    uint32_t cut = 0;
    for (size_t i = 0; i < killed->links.count; i++) {
        uint32_t link = killed->links.items[i];
        if (is_host_link(graph, link)) {
            cut++;
            continue;
        }
        /* A switch is cut when its last link is among those that died, at whichever end it is. */
        uint32_t ports[] = {design->link_a[link], design->link_b[link]};
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t device = design->port_device[ports[k]];
            bool fresh = switch_cut(graph, device);
            for (size_t n = 0; n < seen.count && fresh; n++) {
                fresh = seen.items[n] != device;
            }
            if (fresh) {
                cut += hosts_on(graph, device);
                myr_vec_push(&seen, device);
            }
        }
    }
    return cut;
}

static void watch_done(struct watch *watch)
{
    myr_vec_done(&watch->pairs);
}

/*
 * Kills the link for the time of the question. A host link has no repair: only who is cut
 * counts.
 */
struct myr_failover myr_failover_link(struct myr_graph *graph, uint32_t link,
                                      const struct myr_routes *routes)
{
    const struct myr_design *design = graph->design;
    struct myr_failover result = {.device = MYR_NONE, .link = link};
    uint32_t lower = design->port_device[design->link_a[link]];
    uint32_t upper = design->port_device[design->link_b[link]];
    struct kill_list killed = {};
    MYR_CLEANUP(watch_done) struct watch watch = {};
    bool host = is_host_link(graph, link), plain = is_plain_clos(graph);
    if (myr_bitset_has(&graph->dead, link)) {
        return result; /* it is dead already: nothing changes */
    }
    /* What the lower switch has upwards: that is what it may choose from. */
    uint32_t before = host ? 0 : alive_up(graph, lower);
    if (!host && !plain) {
        watch_all(graph, (struct victim){lower, upper}, &watch);
    }
    kill_link(&killed, graph, link);
    result.flows_affected = routes_hit(graph, routes);
    result.hosts_cut = hosts_cut_by(graph, &killed);
    if (!host) {
        const struct myr_bundle *bundle = myr_graph_bundle(graph, lower, upper);
        result.local_choices = alive_up(graph, lower);
        result.bandwidth_left = (double)result.local_choices / before;
        result.remote_switches = !plain               ? watch_changed(graph, &watch)
                                 : bundle->alive == 0 ? remote_of_pair(graph, lower)
                                                      : 0;
    }
    kill_undo(&killed, graph);
    return result;
}

/* The neighbour below (anywhere, where there is no below) that has least left of what it had. */
static void weakest_neighbour(struct myr_graph *graph, uint32_t device, const uint32_t *before,
                              struct myr_failover *ret)
{
    uint32_t at = device - graph->first_switch;
    ret->bandwidth_left = 1;
    ret->local_choices = UINT32_MAX;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        uint32_t neighbour = graph->bundles[i].neighbour;
        uint32_t had = before[i - graph->bundle_start[at]];
        /* Neighbours above do not lose ways up. */
        if ((graph->clos && neighbour > device) || had == 0) {
            continue;
        }
        uint32_t left = alive_up(graph, neighbour);
        double share = (double)left / had;
        ret->bandwidth_left = share < ret->bandwidth_left ? share : ret->bandwidth_left;
        ret->local_choices = left < ret->local_choices ? left : ret->local_choices;
    }
    /* No neighbour below: there is nobody to choose. */
    ret->local_choices = ret->local_choices == UINT32_MAX ? 0 : ret->local_choices;
}

/* A device that is no switch takes its own links along, and no one else's. */
struct myr_failover myr_failover_device(struct myr_graph *graph, uint32_t device,
                                        const struct myr_routes *routes)
{
    struct myr_failover result = {.device = device, .link = MYR_NONE};
    bool is_switch = device - graph->first_switch < graph->switch_count;
    struct kill_list killed = {};
    MYR_CLEANUP(watch_done) struct watch watch = {};
    MYR_CLEANUP(myr_free_at) uint32_t *before = NULL;
    bool plain = is_plain_clos(graph);
    if (is_switch) {
        /* What each neighbour had upwards, in the order of bundles. */
        uint32_t at = device - graph->first_switch, first = graph->bundle_start[at];
        uint32_t count = graph->bundle_start[at + 1] - first;
        before = myr_xcalloc(count, sizeof(*before));
        for (uint32_t i = 0; i < count; i++) {
            before[i] = alive_up(graph, graph->bundles[first + i].neighbour);
        }
        if (!plain) {
            watch_all(graph, (struct victim){device, device}, &watch);
        }
    }
    kill_device(&killed, graph, device);
    result.flows_affected = routes_hit(graph, routes);
    result.hosts_cut = hosts_cut_by(graph, &killed);
    if (is_switch) {
        weakest_neighbour(graph, device, before, &result);
        result.remote_switches =
            plain ? remote_of_device(graph, device) : watch_changed(graph, &watch);
        /* Its own hosts have nothing left. */
        bool has_hosts = device - graph->first_switch < target_count(graph);
        result.bandwidth_left = has_hosts ? 0 : result.bandwidth_left;
    }
    kill_undo(&killed, graph);
    return result;
}
