#include "path/direct.h"

#include <stdlib.h>

/*
 * Every candidate set here follows one rule: a neighbour is offered only when the number of hops
 * left from it is known to be finite, and one less than from here. So a walk that has a candidate
 * at its first switch has one at every switch, and arrives.
 */

/* As a count of hops: there is no way. */
#define FAR UINT32_MAX

/* Switches without a link to each other count as dead to each other. */
static bool alive(const struct myr_graph *graph, uint32_t from, uint32_t to)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, from, to);
    return bundle && bundle->alive > 0;
}

/* Appends the living channels of a bundle, as far as there is room. */
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

/* Appends the channels to a neighbour, if it is one. */
static uint32_t put_neighbour(const struct myr_graph *graph, uint32_t device, uint32_t to,
                              uint32_t *ret, uint32_t count)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, device, to);
    return bundle ? put_alive(graph, bundle, ret, count) : count;
}

/* Places call a group of a dragonfly a pod. */
static uint32_t group_of(const struct myr_graph *graph, uint32_t device)
{
    return graph->design->place[device].pod;
}

/* Hops that a walk towards a switch has left from another one; FAR when it does not arrive. */
typedef uint32_t hops_fn(const struct myr_graph *graph, uint32_t device, uint32_t to);

/* All channels to the neighbours from which fewest hops are left, at most 'most'. */
static uint32_t put_nearest(const struct myr_graph *graph, uint32_t device, uint32_t to,
                            hops_fn *hops, uint32_t *ret)
{
    uint32_t at = device - graph->first_switch, best = FAR, count = 0;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        uint32_t left = bundle->alive ? hops(graph, bundle->neighbour, to) : FAR;
        /* A nearer neighbour makes all before it too far. */
        if (left < best) {
            best = left;
            count = 0;
        }
        if (left != FAR && left == best) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

/* --- dragonfly: in its group every switch has a link to every other one */

/* Inside the group of 'to': straight, or around a dead link over a third switch. */
static uint32_t local_hops(const struct myr_graph *graph, uint32_t device, uint32_t to)
{
    if (device == to || alive(graph, device, to)) {
        return device != to;
    }
    uint32_t at = device - graph->first_switch, group = group_of(graph, to);
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        if (bundle->alive && group_of(graph, bundle->neighbour) == group &&
            alive(graph, bundle->neighbour, to)) {
            return 2;
        }
    }
    return FAR;
}

/* In the other group: over a global link of this very switch. */
static uint32_t global_hops(const struct myr_graph *graph, uint32_t device, uint32_t to)
{
    uint32_t at = device - graph->first_switch, group = group_of(graph, to), best = FAR;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        if (bundle->alive && group_of(graph, bundle->neighbour) == group) {
            uint32_t left = local_hops(graph, bundle->neighbour, to);
            best = left != FAR && left + 1 < best ? left + 1 : best;
        }
    }
    return best;
}

/*
 * Minimal: at most a local hop, a global one and a local one. From a neighbour the walk must go on
 * into the group of 'to', or be there.
 */
static uint32_t dragonfly_hops(const struct myr_graph *graph, uint32_t device, uint32_t to)
{
    return group_of(graph, device) == group_of(graph, to) ? local_hops(graph, device, to)
                                                          : global_hops(graph, device, to);
}

/* Inside a group straight, or over one other switch; to another group by the fewest hops left. */
static uint32_t dragonfly(const struct myr_graph *graph, uint32_t device, uint32_t to,
                          uint32_t *ret)
{
    uint32_t here = group_of(graph, device), there = group_of(graph, to);
    uint32_t at = device - graph->first_switch, best = FAR, count = 0;
    if (here == there && alive(graph, device, to)) {
        return put_neighbour(graph, device, to, ret, 0);
    }
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        uint32_t group = group_of(graph, bundle->neighbour);
        if (!bundle->alive || (group != here && group != there)) {
            continue; /* other groups are for those who want a detour */
        }
        uint32_t left = here == there ? (alive(graph, bundle->neighbour, to) ? 1 : FAR)
                                      : dragonfly_hops(graph, bundle->neighbour, to);
        if (left < best) {
            best = left;
            count = 0;
        }
        if (left != FAR && left == best) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}

/* --- dragonfly+: leaf up to a spine with a link into the group, across, and down */

/* Hops left from a spine: down in its own group, or across to the goal's group and down. */
static uint32_t plus_spine_hops(const struct myr_graph *graph, uint32_t spine, uint32_t to)
{
    if (group_of(graph, spine) == group_of(graph, to)) {
        return alive(graph, spine, to) ? 1 : FAR;
    }
    uint32_t at = spine - graph->first_switch, group = group_of(graph, to);
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        if (bundle->alive && bundle->neighbour >= graph->net->first_spine &&
            group_of(graph, bundle->neighbour) == group && alive(graph, bundle->neighbour, to)) {
            return 2;
        }
    }
    return FAR;
}

/* Down once the walk is in the group; leaves below other spines lead nowhere. */
static uint32_t plus_hops(const struct myr_graph *graph, uint32_t device, uint32_t to)
{
    if (device < graph->net->first_spine) {
        return device == to ? 0 : FAR;
    }
    return group_of(graph, device) == group_of(graph, to) ? plus_spine_hops(graph, device, to)
                                                          : FAR;
}

static uint32_t dragonfly_plus(const struct myr_graph *graph, uint32_t device, uint32_t to,
                               uint32_t *ret)
{
    bool is_spine = device >= graph->net->first_spine;
    return put_nearest(graph, device, to, is_spine ? plus_hops : plus_spine_hops, ret);
}

/* --- torus: dimension order; in each dimension the shorter way, or the other one if that is dead
 */

/* One dimension: how far apart its neighbours are numbered, and how many there are. */
struct ring {
    uint32_t stride, size;
};

/* Steps along a ring, 1 forward or size - 1 back each; FAR when a link on the way is dead. */
static uint32_t ring_hops(const struct myr_graph *graph, uint32_t device, struct ring ring,
                          uint32_t target, uint32_t step)
{
    uint32_t first = graph->net->first_leaf, hops = 0;
    uint32_t at = (device - first) / ring.stride % ring.size;
    while (at != target) {
        uint32_t next = (at + step) % ring.size;
        uint32_t other = device - at * ring.stride + next * ring.stride;
        if (graph->dead_count && !alive(graph, device, other)) {
            return FAR;
        }
        device = other;
        at = next;
        hops++;
    }
    return hops;
}

/* The two ways round a ring, the one that is longer marked FAR unless the other one is dead. */
static void ring_ways(const struct myr_graph *graph, uint32_t device, struct ring ring,
                      uint32_t target, uint32_t ret[2])
{
    ret[0] = ring_hops(graph, device, ring, target, 1);
    ret[1] = ring.size > 2 ? ring_hops(graph, device, ring, target, ring.size - 1) : FAR;
    if (ret[0] < ret[1]) {
        ret[1] = FAR;
    } else if (ret[1] < ret[0]) {
        ret[0] = FAR;
    }
}

/*
 * Only the first ring that is left gives candidates; the others are walked to see that the rest of
 * the way is alive.
 */
static uint32_t torus(const struct myr_graph *graph, uint32_t device, uint32_t to, uint32_t *ret)
{
    const struct myr_network *net = graph->net;
    struct ring ring = {.stride = net->leaf};
    uint32_t count = 0, corner = device;
    bool first = true;
    for (uint32_t i = 0; i < net->dim_count; i++) {
        uint32_t ways[2];
        ring.size = net->dims[i];
        ring.stride /= ring.size;
        /* Where the walk is in this dimension when those before it are done. */
        uint32_t at = (corner - net->first_leaf) / ring.stride % ring.size;
        uint32_t target = (to - net->first_leaf) / ring.stride % ring.size;
        if (at == target) {
            continue;
        }
        /* Whichever way it goes, the walk leaves a ring at the same corner: look ahead from there.
         */
        ring_ways(graph, corner, ring, target, ways);
        /* Both ways round are dead: dimension order has no way left, though others may. */
        if (ways[0] == FAR && ways[1] == FAR) {
            return 0;
        }
        uint32_t base = corner - at * ring.stride;
        for (uint32_t way = 0; way < 2 && first; way++) {
            uint32_t next = (at + (way ? ring.size - 1 : 1)) % ring.size;
            if (ways[way] != FAR) {
                count = put_neighbour(graph, device, base + next * ring.stride, ret, count);
            }
        }
        first = false;
        corner = base + target * ring.stride;
    }
    return count;
}

/* --- access networks: up to an aggregation switch that has a link down */

/* Used of aggregation switches: they are one hop from the goal or no help. */
static uint32_t access_hops(const struct myr_graph *graph, uint32_t device, uint32_t to)
{
    return device == to ? 0 : alive(graph, device, to) ? 1 : FAR;
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
        return put_nearest(graph, device, to, access_hops, ret);
    }
}

/* --- detours */

/* From the goal backwards: links carry both ways, so that one search serves every start. */
void detour_init(struct detour *detour, const struct myr_graph *graph, uint32_t to)
{
    uint32_t head = 0, tail = 0;
    MYR_CLEANUP(myr_free_at) uint32_t *queue = myr_xcalloc(graph->switch_count, sizeof(*queue));
    detour->hops = myr_xrealloc(NULL, graph->switch_count, sizeof(uint32_t));
    /* FAR is all ones. */
    memset(detour->hops, 0xFF, graph->switch_count * sizeof(uint32_t));
    detour->hops[to - graph->first_switch] = 0;
    queue[tail++] = to - graph->first_switch;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
            uint32_t next = graph->bundles[i].neighbour - graph->first_switch;
            if (graph->bundles[i].alive && detour->hops[next] == FAR) {
                detour->hops[next] = detour->hops[at] + 1;
                queue[tail++] = next;
            }
        }
    }
}

void detour_done(struct detour *detour)
{
    free(detour->hops);
}

/* All neighbours that are one hop nearer, so that a walk never goes back. */
uint32_t detour_candidates(const struct detour *detour, const struct myr_graph *graph,
                           uint32_t device, uint32_t ret[MYR_CANDIDATES_MAX])
{
    uint32_t at = device - graph->first_switch, count = 0;
    if (detour->hops[at] == FAR) {
        return 0;
    }
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *bundle = &graph->bundles[i];
        uint32_t left = detour->hops[bundle->neighbour - graph->first_switch];
        if (bundle->alive && left != FAR && left + 1 == detour->hops[at]) {
            count = put_alive(graph, bundle, ret, count);
        }
    }
    return count;
}
