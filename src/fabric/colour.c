#include "myriad/fabric/colour.h"

#include <stdlib.h>

#include "colouring.h"

/*
 * The colouring from outside: made of a graph, kept in step with flows that come and go and links
 * that die and return, and asked for paths. How a flow gets its place is in colour_place.c and, for
 * many at once, in colour_batch.c; what a level does with its edges is in level.c.
 */

/* The group of each uplink: the position of the switch that it leads to. */
static bool read_groups(const struct myr_graph *graph, uint32_t device, uint32_t base,
                        uint32_t *ret)
{
    uint32_t last = MYR_NONE, group = 0;
    if (myr_graph_uplink_count(graph, device) != base) {
        return false;
    }
    for (uint32_t k = 0; k < base; k++) {
        uint32_t up = myr_channel_to_device(graph->design, myr_graph_uplink(graph, device, k));
        group += k > 0 && up != last;
        ret[k] = group;
        last = up;
    }
    return true;
}

/* Groups are colours, and a colour must mean the same switch above at every node of the tier. */
static bool same_groups(const struct myr_graph *graph, uint32_t first, uint32_t count,
                        uint32_t base, const uint32_t *groups, uint32_t *scratch)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!read_groups(graph, first + i, base, scratch) ||
            memcmp(groups, scratch, base * sizeof(*scratch)) != 0) {
            return false;
        }
    }
    return true;
}

/* False when switches of the tier differ, or have no uplinks: then nothing was made. */
static bool tier_init(const struct myr_graph *graph, struct level *level, uint32_t first,
                      uint32_t count)
{
    uint32_t base = myr_graph_uplink_count(graph, first);
    if (base == 0) {
        return false;
    }
    MYR_CLEANUP(myr_free_at) uint32_t *groups = myr_xcalloc((size_t)base * 2, sizeof(*groups));
    bool good = read_groups(graph, first, base, groups) &&
                same_groups(graph, first, count, base, groups, groups + base);
    if (good) {
        level_init(level, count, base, groups);
    }
    return good;
}

/* Where a link lies in the two levels; false for host links. */
static bool locate(struct myr_colouring *colouring, uint32_t link, struct level **ret_level,
                   uint32_t *ret_node, uint32_t *ret_uplink)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_network *net = graph->net;
    /* End a of a link is the lower one. */
    uint32_t lower = graph->design->port_device[graph->design->link_a[link]];
    bool is_leaf = lower - net->first_leaf < net->leaf;
    bool is_spine = net->core && lower - net->first_spine < net->spine;
    if (!is_leaf && !is_spine) {
        return false;
    }
    uint32_t count = myr_graph_uplink_count(graph, lower), uplink = MYR_NONE;
    for (uint32_t k = 0; k < count; k++) {
        if (myr_channel_link(myr_graph_uplink(graph, lower, k)) == link) {
            uplink = k;
        }
    }
    MYR_ASSERT(uplink != MYR_NONE);
    *ret_uplink = uplink;
    /* The lower end's level has the link as an uplink of that end. */
    *ret_level = is_leaf ? &colouring->leaf : &colouring->spine;
    if (is_leaf) {
        *ret_node = lower - net->first_leaf;
    } else {
        struct myr_spot spot = myr_graph_spine_spot(graph, lower);
        *ret_node = colouring_spine(colouring, spot.index, spot);
    }
    return true;
}

/* A spine without a core serves its own pod only. True when it serves others again. */
static bool bar_group(struct myr_colouring *colouring, struct myr_spot spot)
{
    const struct myr_graph *graph = colouring->graph;
    bool barred = colouring->spine.alive_total[colouring_spine(colouring, spot.index, spot)] == 0;
    uint32_t first = spot.unit * graph->unit_leaves + spot.pod * graph->net->pod_leaves;
    uint32_t end = (spot.unit + 1) * graph->unit_leaves;
    /* The last pod may be shorter than the others. */
    bool was = false;
    for (uint32_t i = first; i < first + graph->net->pod_leaves && i < end; i++) {
        bool *mark = &colouring->leaf.barred[level_spot(&colouring->leaf, i, spot.index)];
        was = *mark;
        *mark = barred;
    }
    return was && !barred;
}

/* A link that came back may give room to trails that begin anywhere. */
static void relieve_all(struct level *level)
{
    for (uint32_t i = 0; i < level->nodes; i++) {
        level_relieve(level, i);
    }
}

/* NULL where the fabric has no colours: the caller then searches path by path. */
struct myr_colouring *myr_colouring_create(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    /*
     * With one tier there is nothing to choose; without the same order of uplinks there are no
     * colours.
     */
    if (!graph->regular || net->tiers < 2) {
        return NULL;
    }
    struct myr_colouring *colouring = myr_xcalloc(1, sizeof(*colouring));
    colouring->graph = graph;
    if (!tier_init(graph, &colouring->leaf, net->first_leaf, net->leaf) ||
        (net->core && !tier_init(graph, &colouring->spine, net->first_spine, net->spine))) {
        myr_colouring_free(colouring);
        return NULL; /* uplinks that differ from switch to switch: the caller searches instead */
    }
    colouring->bias = myr_xcalloc(colouring->leaf.groups, sizeof(uint32_t));
    if (graph->dead_count > 0) {
        /* Links that are dead already, then spines that have lost all cores by that. */
        myr_bitset_foreach (link, &graph->dead) {
            struct level *level;
            uint32_t node, uplink;
            if (locate(colouring, link, &level, &node, &uplink)) {
                level_set_dead(level, node, uplink, true);
            }
        }
        for (uint32_t i = 0; i < net->spine && net->core; i++) {
            (void)bar_group(colouring, myr_graph_spine_spot(graph, net->first_spine + i));
        }
    }
    return colouring;
}

void myr_colouring_free(struct myr_colouring *colouring)
{
    if (!colouring) {
        return;
    }
    level_done(&colouring->leaf);
    level_done(&colouring->spine);
    myr_vec_done(&colouring->flows);
    free(colouring->bias);
    free(colouring);
}

/* One edge a flow in both levels, placed or not: a flow's number is its edge's in each. */
uint32_t myr_colouring_add(struct myr_colouring *colouring, const struct myr_flow *flows,
                           size_t count)
{
    uint32_t first = (uint32_t)colouring->flows.count;
    for (size_t i = 0; i < count; i++) {
        myr_vec_push(&colouring->flows, flows[i]);
        level_add_edge(&colouring->leaf);
        level_add_edge(&colouring->spine);
        MYR_ASSERT(colouring->leaf.edges.count == colouring->flows.count);
        MYR_ASSERT(colouring->spine.edges.count == colouring->flows.count);
        colouring_enter(colouring, first + (uint32_t)i);
    }
    colouring->moved = 0;
    /* All at once where nothing is placed yet: dealing them out is exact, and far faster. */
    if (first == 0) {
        colouring_place_all(colouring);
    } else {
        for (size_t i = 0; i < count; i++) {
            colouring_place(colouring, first + (uint32_t)i);
        }
    }
    return first;
}

void myr_colouring_remove(struct myr_colouring *colouring, uint32_t flow)
{
    MYR_ASSERT(flow < colouring->flows.count);
    colouring->moved = 0;
    level_clear_ends(&colouring->leaf, flow);
    if (colouring->spine.nodes) {
        level_clear_ends(&colouring->spine, flow);
    }
    /* A flow to itself stands for none: numbers of the others must not change. */
    colouring->flows.items[flow].from_port = colouring->flows.items[flow].to_port;
    colouring_follow(colouring);
}

static void level_list_done(struct level_list *moving)
{
    myr_vec_done(&moving->items);
}

void myr_colouring_link_changed(struct myr_colouring *colouring, uint32_t link)
{
    struct level *level;
    uint32_t node, uplink;
    if (!locate(colouring, link, &level, &node, &uplink)) {
        return;
    }
    /* The graph has been told already; the colouring follows it. */
    bool dead = myr_bitset_has(&colouring->graph->dead, link);
    MYR_CLEANUP(level_list_done) struct level_list moving = {};
    colouring->moved = 0;
    if (dead) {
        level_over(level, node, uplink, &moving);
        for (size_t i = 0; i < moving.items.count; i++) {
            level_take(level, moving.items.items[i]); /* while the uplink still counts as alive */
        }
    }
    level_set_dead(level, node, uplink, dead);
    const struct myr_design *design = colouring->graph->design;
    uint32_t lower = design->port_device[design->link_a[link]];
    /* A spine that has a core again may serve other pods again. */
    bool opened = level == &colouring->spine &&
                  bar_group(colouring, myr_graph_spine_spot(colouring->graph, lower));
    for (size_t i = 0; i < moving.items.count; i++) {
        uint32_t flow = moving.items.items[i];
        /*
         * A new core will do where only the link above died; otherwise another spine is looked
         * for.
         */
        if (level == &colouring->leaf || !level_place(level, flow, NULL)) {
            colouring_place(colouring, flow);
        }
        colouring->moved++;
    }
    if (!dead) {
        /* Others gain as well: whoever shares a link may now have two ends with room. */
        relieve_all(level);
        if (opened) {
            relieve_all(&colouring->leaf);
        }
        for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
            struct colouring_ends ends = colouring_ends(colouring, flow);
            bool lost = colouring->leaf.edges.items[flow].group == LEVEL_NONE ||
                        (colouring_crosses(&ends) &&
                         colouring->spine.edges.items[flow].group == LEVEL_NONE);
            if (ends.reachable && !ends.local && lost) {
                colouring_place(colouring, flow);
            }
        }
    }
    colouring_follow(colouring);
}

/* False while the flow has no place, or its own links are dead. */
bool myr_colouring_path(const struct myr_colouring *colouring, uint32_t flow, struct myr_path *ret)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    MYR_ASSERT(flow < colouring->flows.count);
    struct colouring_ends ends = colouring_ends(colouring, flow);
    uint32_t up_link = graph->design->port_link[f->from_port];
    uint32_t down_link = graph->design->port_link[f->to_port];
    const struct level_edge *below = &colouring->leaf.edges.items[flow];
    const struct level_edge *above = &colouring->spine.edges.items[flow];
    bool placed = ends.local || (below->group != LEVEL_NONE &&
                                 (!colouring_crosses(&ends) || above->group != LEVEL_NONE));
    /* Host links are no part of the colouring: they are looked at when the path is asked for. */
    if (!ends.reachable || !placed || myr_graph_link_dead(graph, up_link) ||
        myr_graph_link_dead(graph, down_link)) {
        return false;
    }
    ret->count = 0;
    /* Hosts are at end a of their links: even channels lead up, odd ones down. */
    ret->channels[ret->count++] = up_link * 2;
    if (!ends.local) {
        ret->channels[ret->count++] =
            myr_graph_uplink(graph, ends.from_leaf, below->link[LEVEL_OUT]);
        if (colouring_crosses(&ends)) {
            /* The colour below is the spine's position in both pods. */
            struct myr_spot near = {ends.from.unit, ends.from.pod, below->group};
            struct myr_spot far = {ends.to.unit, ends.to.pod, below->group};
            ret->channels[ret->count++] =
                myr_graph_uplink(graph, myr_graph_spine(graph, near), above->link[LEVEL_OUT]);
            ret->channels[ret->count++] = myr_channel_back(
                myr_graph_uplink(graph, myr_graph_spine(graph, far), above->link[LEVEL_IN]));
        }
        ret->channels[ret->count++] =
            myr_channel_back(myr_graph_uplink(graph, ends.to_leaf, below->link[LEVEL_IN]));
    }
    ret->channels[ret->count++] = down_link * 2 + 1;
    return true;
}

/* The heaviest uplink of a level, and the edges that had to share. */
static void level_stats(const struct level *level, uint64_t *ret_heaviest, uint32_t *ret_shared)
{
    for (uint32_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < (size_t)level->nodes * level->base; i++) {
            uint64_t weight = level->half[side].weight[i];
            *ret_heaviest = weight > *ret_heaviest ? weight : *ret_heaviest;
        }
        for (uint32_t node = 0; node < level->nodes; node++) {
            for (uint32_t g = 0; g < level->groups; g++) {
                *ret_shared += level_overflow(level, (enum level_side)side, node, g);
            }
        }
    }
}

struct myr_colouring_stats myr_colouring_stats(const struct myr_colouring *colouring)
{
    const struct myr_network *net = colouring->graph->net;
    struct myr_colouring_stats stats = {.moved = colouring->moved};
    uint64_t heaviest = 0;
    /* Those that were removed are flows to themselves. */
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        const struct myr_flow *f = &colouring->flows.items[flow];
        stats.flows += f->from_port != f->to_port;
    }
    level_stats(&colouring->leaf, &heaviest, &stats.shared);
    level_stats(&colouring->spine, &heaviest, &stats.shared);
    /* From shares of a host port to parts of a fabric link. */
    stats.max_load = (double)heaviest / MYR_SHARE_ONE * net->host_gbps / net->fabric_gbps;
    stats.bound =
        myr_load_bound(colouring->graph, colouring->flows.items, colouring->flows.count, false);
    return stats;
}
