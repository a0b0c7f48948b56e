#include "myriad/fabric/colour.h"

#include <stdlib.h>

#include "level.h"
#include "split.h"

/*
 * Two edge colourings, one above the other (level.h). Nodes of the lower one are the leaves,
 * colours the spines of a pod by position; nodes of the upper one are the spines, colours the cores
 * of their group. A flow between pods is an edge of both: its colour below says at which spine
 * position its edge above lies.
 */

struct myr_colouring {
    const struct myr_graph *graph;
    struct level leaf, spine; /* the upper one has no nodes where there are two tiers */
    MYR_VEC(struct myr_flow) flows;
    uint32_t *bias; /* by group of the lower level */
    uint32_t moved;
};

struct ends {
    uint32_t from_leaf, to_leaf;
    struct myr_spot from, to;
    bool local, reachable;
};

static struct ends ends_of(const struct myr_colouring *colouring, uint32_t flow)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    struct ends ends = {.from_leaf = myr_graph_host_switch(graph, f->from_port),
                        .to_leaf = myr_graph_host_switch(graph, f->to_port)};
    if (f->from_port == f->to_port || ends.from_leaf == MYR_NONE || ends.to_leaf == MYR_NONE) {
        return ends;
    }
    ends.from = myr_graph_leaf_spot(graph, ends.from_leaf);
    ends.to = myr_graph_leaf_spot(graph, ends.to_leaf);
    ends.reachable = ends.from.unit == ends.to.unit;
    ends.local = ends.from_leaf == ends.to_leaf;
    return ends;
}

static bool crosses_pods(const struct ends *ends)
{
    return ends->reachable && ends->from.pod != ends->to.pod;
}

static uint32_t spine_node(const struct myr_colouring *colouring, uint32_t index,
                           struct myr_spot leaf)
{
    const struct myr_network *net = colouring->graph->net;
    return (leaf.unit * net->pod_spines + index) * net->pods + leaf.pod;
}

/* --- building */

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

static bool tier_init(const struct myr_graph *graph, struct level *level, uint32_t first,
                      uint32_t count)
{
    uint32_t base = myr_graph_uplink_count(graph, first);
    if (base == 0) {
        return false;
    }
    uint32_t *groups = myr_xcalloc((size_t)base * 2, sizeof(*groups));
    bool good = read_groups(graph, first, base, groups) &&
                same_groups(graph, first, count, base, groups, groups + base);
    if (good) {
        level_init(level, count, base, groups);
    }
    free(groups);
    return good;
}

/* Where a link lies in the two levels; false for host links. */
static bool locate(struct myr_colouring *colouring, uint32_t link, struct level **ret_level,
                   uint32_t *ret_node, uint32_t *ret_uplink)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_network *net = graph->net;
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
    *ret_level = is_leaf ? &colouring->leaf : &colouring->spine;
    if (is_leaf) {
        *ret_node = lower - net->first_leaf;
    } else {
        struct myr_spot spot = myr_graph_spine_spot(graph, lower);
        *ret_node = spine_node(colouring, spot.index, spot);
    }
    return true;
}

struct myr_colouring *myr_colouring_create(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    if (!graph->regular || net->tiers < 2) {
        return NULL;
    }
    struct myr_colouring *colouring = myr_xcalloc(1, sizeof(*colouring));
    colouring->graph = graph;
    if (!tier_init(graph, &colouring->leaf, net->first_leaf, net->leaf) ||
        (net->core && !tier_init(graph, &colouring->spine, net->first_spine, net->spine))) {
        myr_colouring_free(colouring);
        return NULL;
    }
    colouring->bias = myr_xcalloc(colouring->leaf.groups, sizeof(uint32_t));
    if (graph->dead_count > 0) {
        myr_bitset_foreach (link, &graph->dead) {
            struct level *level;
            uint32_t node, uplink;
            if (locate(colouring, link, &level, &node, &uplink)) {
                level_set_dead(level, node, uplink, true);
            }
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

/* --- one flow at a time */

static bool common_core(const struct level *spine, uint32_t a, uint32_t b)
{
    for (uint32_t g = 0; g < spine->groups; g++) {
        if (spine->alive[(size_t)a * spine->groups + g] &&
            spine->alive[(size_t)b * spine->groups + g]) {
            return true;
        }
    }
    return false;
}

/* How full a spine is above, in 1/256. */
static uint32_t fullness(const struct level *spine, enum level_side side, uint32_t node)
{
    uint32_t alive = spine->alive_total[node];
    return alive ? (spine->half[side].degree[node] << 8) / alive : LEVEL_IMPOSSIBLE - 1;
}

/*
 * What the upper level thinks of each spine position: flows between pods like those with room
 * above, flows inside a pod like those that are full, for they need nothing above.
 */
static const uint32_t *bias_of(struct myr_colouring *colouring, const struct ends *ends)
{
    const struct level *spine = &colouring->spine;
    if (spine->nodes == 0) {
        return NULL;
    }
    for (uint32_t g = 0; g < colouring->leaf.groups; g++) {
        uint32_t a = spine_node(colouring, g, ends->from), b = spine_node(colouring, g, ends->to);
        uint32_t out = fullness(spine, LEVEL_OUT, a), in = fullness(spine, LEVEL_IN, b);
        uint32_t more = out > in ? out : in;
        if (!crosses_pods(ends)) {
            colouring->bias[g] = LEVEL_IMPOSSIBLE - 1 - more;
            continue;
        }
        bool whole = spine->alive_total[a] == spine->base && spine->alive_total[b] == spine->base;
        colouring->bias[g] = whole || common_core(spine, a, b) ? more : LEVEL_IMPOSSIBLE;
    }
    return colouring->bias;
}

/* Puts a flow between pods into the upper level, at the position that its spine has. */
static void place_above(struct myr_colouring *colouring, uint32_t flow)
{
    struct level *spine = &colouring->spine;
    uint32_t group = colouring->leaf.edges.items[flow].group;
    struct ends ends = ends_of(colouring, flow);
    if (spine->nodes == 0 || !crosses_pods(&ends)) {
        return;
    }
    level_clear_ends(spine, flow);
    if (group != LEVEL_NONE) {
        level_set_ends(spine, flow, spine_node(colouring, group, ends.from),
                       spine_node(colouring, group, ends.to), colouring->flows.items[flow].share);
        (void)level_place(spine, flow, NULL); /* without a core it has no path */
    }
}

/* Flows that were moved to other spines follow above; those that stayed keep their cores. */
static void follow_moves(struct myr_colouring *colouring)
{
    struct level *leaf = &colouring->leaf, *spine = &colouring->spine;
    uint32_t pods = colouring->graph->net->pods;
    for (size_t i = 0; i < leaf->touched.count && spine->nodes; i++) {
        uint32_t flow = leaf->touched.items[i];
        uint32_t node = spine->edges.items[flow].node[LEVEL_OUT];
        uint32_t index = node / pods % colouring->graph->net->pod_spines;
        if (node == LEVEL_NONE || index != leaf->edges.items[flow].group) {
            place_above(colouring, flow);
        }
    }
    colouring->moved += (uint32_t)(leaf->touched.count + spine->touched.count);
    leaf->touched.count = spine->touched.count = 0;
}

static void enter(struct myr_colouring *colouring, uint32_t flow)
{
    struct ends ends = ends_of(colouring, flow);
    if (ends.reachable && !ends.local) {
        uint32_t first = colouring->graph->net->first_leaf;
        level_set_ends(&colouring->leaf, flow, ends.from_leaf - first, ends.to_leaf - first,
                       colouring->flows.items[flow].share);
    }
}

static void place_flow(struct myr_colouring *colouring, uint32_t flow)
{
    struct ends ends = ends_of(colouring, flow);
    if (!ends.reachable || ends.local) {
        return;
    }
    level_take(&colouring->leaf, flow);
    if (colouring->spine.nodes) {
        level_clear_ends(&colouring->spine, flow);
    }
    (void)level_place(&colouring->leaf, flow, bias_of(colouring, &ends));
    follow_moves(colouring);
    place_above(colouring, flow);
}

/* --- many flows at once, into an empty colouring */

struct batch {
    struct level *level;
    uint32_t *order; /* flows that lie in the level, the heaviest first */
    uint32_t count;
    bool *late; /* by flow: to be placed last, for it will have to share */
};

static int heavier_first(const void *a, const void *b, void *edges)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct level_edge *list = edges;
    if (list[left].weight != list[right].weight) {
        return list[left].weight > list[right].weight ? -1 : 1;
    }
    return left < right ? -1 : 1;
}

/*
 * A node with too few uplinks will make some flow share. One that leaves such a node and arrives at
 * another one is the best choice: it is slow only once.
 */
static void choose_late(const struct batch *batch)
{
    const struct level *level = batch->level;
    uint32_t *excess[2];
    for (uint32_t side = 0; side < 2; side++) {
        excess[side] = myr_xcalloc(level->nodes, sizeof(uint32_t));
        for (uint32_t node = 0; node < level->nodes; node++) {
            excess[side][node] = level_excess(level, (enum level_side)side, node);
        }
    }
    /* First what is late already, then flows that are short at both ends, then at one. */
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < batch->count; i++) {
            const struct level_edge *edge = &level->edges.items[batch->order[i]];
            uint32_t *out = &excess[LEVEL_OUT][edge->node[LEVEL_OUT]];
            uint32_t *in = &excess[LEVEL_IN][edge->node[LEVEL_IN]];
            bool *late = &batch->late[batch->order[i]];
            bool wanted = pass == 0 ? *late : pass == 1 ? *out && *in : *out || *in;
            if (wanted && (pass == 0 || !*late)) {
                *late = true;
                *out -= *out > 0;
                *in -= *in > 0;
            }
        }
    }
    free(excess[LEVEL_OUT]);
    free(excess[LEVEL_IN]);
}

/* Groups of equal width are the colours; else every uplink is one. */
static bool equal_groups(const struct level *level)
{
    MYR_ASSERT(level->groups > 0);
    for (uint32_t g = 0; g < level->groups; g++) {
        if (level->group_start[g + 1] - level->group_start[g] != level->base / level->groups) {
            return false;
        }
    }
    return level->base % level->groups == 0;
}

static uint32_t group_of_colour(const struct level *level, uint32_t colour, bool equal)
{
    uint32_t group = equal ? colour : 0;
    while (!equal && level->group_start[group + 1] <= colour) {
        group++;
    }
    return group;
}

static struct split_edge split_edge_of(const struct myr_colouring *colouring,
                                       const struct batch *batch, uint32_t flow)
{
    const struct level_edge *edge = &batch->level->edges.items[flow];
    struct split_edge result = {{edge->node[LEVEL_OUT], edge->node[LEVEL_IN]},
                                {SPLIT_NO_OUTER, SPLIT_NO_OUTER}};
    struct ends ends = ends_of(colouring, flow);
    if (batch->level == &colouring->leaf && crosses_pods(&ends)) {
        result.outer[0] = ends.from.unit * colouring->graph->net->pods + ends.from.pod;
        result.outer[1] = ends.to.unit * colouring->graph->net->pods + ends.to.pod;
    }
    return result;
}

static bool both_alive(const struct level *level, uint32_t flow, uint32_t group)
{
    const struct level_edge *edge = &level->edges.items[flow];
    return level->alive[(size_t)edge->node[LEVEL_OUT] * level->groups + group] &&
           level->alive[(size_t)edge->node[LEVEL_IN] * level->groups + group];
}

/* Deals the flows that are not late out to the groups. */
static void split_batch(const struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *level = batch->level;
    const struct myr_graph *graph = colouring->graph;
    size_t some = batch->count ? batch->count : 1;
    struct split_shape shape = {.nodes = level->nodes, .outers = graph->net->leaf};
    struct split_edge *edges = myr_xcalloc(some, sizeof(*edges));
    uint32_t *colour = myr_xcalloc(some, sizeof(*colour)), count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->late[batch->order[i]]) {
            edges[count++] = split_edge_of(colouring, batch, batch->order[i]);
        }
    }
    bool equal = equal_groups(level);
    split_edges(&shape, edges, count, equal ? level->groups : level->base, colour);
    count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t flow = batch->order[i];
        if (batch->late[flow]) {
            continue;
        }
        uint32_t group = group_of_colour(level, colour[count++], equal);
        if (both_alive(level, flow, group)) {
            level_put(level, flow, group);
        }
    }
    free(colour);
    free(edges);
}

/* Deals out what need not share, and moves it off dead uplinks. */
static void deal_batch(struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *level = batch->level;
    bool hurt = colouring->graph->dead_count > 0;
    qsort_r(batch->order, batch->count, sizeof(*batch->order), heavier_first, level->edges.items);
    if (hurt) {
        choose_late(batch);
    }
    split_batch(colouring, batch);
    for (uint32_t node = 0; hurt && node < level->nodes; node++) {
        if (level->alive_total[node] < level->base) {
            level_relieve(level, node);
        }
    }
    level->touched.count = 0;
}

/* --- room for the flows between pods */

/*
 * Flows above what a spine can carry up (or down) when its pod's flows are spread over all spines
 * by the uplinks that each has left.
 */
static uint32_t surplus(const struct level *spine, uint32_t side, uint32_t node, uint32_t rounds,
                        int32_t change)
{
    int64_t degree = (int64_t)spine->half[side].degree[node] + change;
    int64_t over = degree - (int64_t)spine->alive_total[node] * rounds;
    return over > 0 ? (uint32_t)over : 0;
}

/* How often a pod's flows go round its uplinks; moving flows between spines does not change it. */
static void pod_rounds(const struct myr_colouring *colouring, struct myr_spot pod, uint32_t ret[2])
{
    const struct level *spine = &colouring->spine;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t flows = 0, links = 0;
        for (uint32_t g = 0; g < colouring->leaf.groups; g++) {
            uint32_t node = spine_node(colouring, g, pod);
            flows += spine->half[side].degree[node];
            links += spine->alive_total[node];
        }
        ret[side] = links && flows > links ? (flows + links - 1) / links : 1;
    }
}

/* Whether one flow less at one spine of a pod and one more at another, both ways, is better. */
static bool worth_moving(const struct level *spine, uint32_t from, uint32_t to,
                         const uint32_t rounds[2])
{
    uint32_t before = 0, after = 0;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t r = rounds[side];
        before += surplus(spine, side, from, r, 0) + surplus(spine, side, to, r, 0);
        after += surplus(spine, side, from, r, -1) + surplus(spine, side, to, r, 1);
    }
    return after < before;
}

/* An edge of a group that leaves the node, and crosses pods or not. */
static uint32_t edge_that(const struct level *leaf, uint32_t node, uint32_t group,
                          const bool *crosses, bool wanted)
{
    uint32_t id = leaf->half[LEVEL_OUT].first[(size_t)node * leaf->groups + group];
    while (id != LEVEL_NONE && crosses[id] != wanted) {
        id = leaf->edges.items[id].next[LEVEL_OUT];
    }
    return id;
}

static void set_spine_ends(struct myr_colouring *colouring, uint32_t flow)
{
    struct ends ends = ends_of(colouring, flow);
    uint32_t group = colouring->leaf.edges.items[flow].group;
    level_clear_ends(&colouring->spine, flow);
    if (group != LEVEL_NONE && crosses_pods(&ends)) {
        level_set_ends(&colouring->spine, flow, spine_node(colouring, group, ends.from),
                       spine_node(colouring, group, ends.to), colouring->flows.items[flow].share);
    }
}

/*
 * Two flows of a leaf exchange spines: one between pods, from a spine with too little above it, and
 * one that stays in the pod and needs nothing there.
 */
static bool move_off(struct myr_colouring *colouring, struct myr_spot pod, const uint32_t *rounds,
                     const bool *crosses)
{
    struct level *leaf = &colouring->leaf;
    const struct myr_graph *graph = colouring->graph;
    uint32_t index = pod.index, here = spine_node(colouring, index, pod);
    uint32_t first = pod.unit * graph->unit_leaves + pod.pod * graph->net->pod_leaves;
    uint32_t end = (pod.unit + 1) * graph->unit_leaves;
    end = first + graph->net->pod_leaves < end ? first + graph->net->pod_leaves : end;
    for (uint32_t other = 0; other < leaf->groups; other++) {
        uint32_t there = spine_node(colouring, other, pod);
        if (other == index || !worth_moving(&colouring->spine, here, there, rounds)) {
            continue;
        }
        for (uint32_t node = first; node < end; node++) {
            uint32_t away = edge_that(leaf, node, index, crosses, true);
            uint32_t inside = edge_that(leaf, node, other, crosses, false);
            if (away != LEVEL_NONE && inside != LEVEL_NONE &&
                level_swap(leaf, away, inside, crosses)) {
                for (size_t i = 0; i < leaf->touched.count; i++) {
                    set_spine_ends(colouring, leaf->touched.items[i]);
                }
                leaf->touched.count = 0;
                return true;
            }
        }
    }
    return false;
}

static void spare_weak_spines(struct myr_colouring *colouring)
{
    const struct myr_network *net = colouring->graph->net;
    const struct level *spine = &colouring->spine;
    bool *crosses = myr_xcalloc(colouring->flows.count + 1, sizeof(*crosses));
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        struct ends ends = ends_of(colouring, flow);
        crosses[flow] = crosses_pods(&ends);
    }
    for (uint32_t i = 0; i < net->spine; i++) {
        struct myr_spot spot = myr_graph_spine_spot(colouring->graph, net->first_spine + i);
        uint32_t node = spine_node(colouring, spot.index, spot);
        uint32_t rounds[2];
        bool moved = true;
        pod_rounds(colouring, spot, rounds);
        while (moved && (surplus(spine, LEVEL_OUT, node, rounds[LEVEL_OUT], 0) ||
                         surplus(spine, LEVEL_IN, node, rounds[LEVEL_IN], 0))) {
            moved = move_off(colouring, spot, rounds, crosses);
        }
    }
    free(crosses);
}

static void batch_collect(const struct level *level, struct batch *batch, uint32_t flows)
{
    batch->count = 0;
    for (uint32_t flow = 0; flow < flows; flow++) {
        if (level->edges.items[flow].node[LEVEL_OUT] != LEVEL_NONE) {
            batch->order[batch->count++] = flow;
        }
    }
}

/* What is left over of a batch: late flows, and those that the deal sent to dead uplinks. */
static void place_rest_below(struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *leaf = &colouring->leaf;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t flow = batch->order[i];
        struct ends ends = ends_of(colouring, flow);
        if (leaf->edges.items[flow].group != LEVEL_NONE ||
            !level_place(leaf, flow, bias_of(colouring, &ends))) {
            continue;
        }
        myr_vec_push(&leaf->touched, flow);
        for (size_t k = 0; k < leaf->touched.count && colouring->spine.nodes; k++) {
            set_spine_ends(colouring, leaf->touched.items[k]);
        }
        leaf->touched.count = 0;
    }
}

static void place_rest_above(struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *spine = &colouring->spine;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t flow = batch->order[i];
        if (spine->edges.items[flow].group == LEVEL_NONE && !level_place(spine, flow, NULL)) {
            place_flow(colouring, flow); /* no core left there: at another spine */
        }
    }
}

static void place_all(struct myr_colouring *colouring)
{
    uint32_t flows = (uint32_t)colouring->flows.count;
    struct batch batch = {.level = &colouring->leaf};
    batch.order = myr_xcalloc((size_t)flows + 1, sizeof(uint32_t));
    batch.late = myr_xcalloc((size_t)flows + 1, sizeof(bool));
    batch_collect(&colouring->leaf, &batch, flows);
    deal_batch(colouring, &batch);
    if (colouring->spine.nodes) {
        for (uint32_t flow = 0; flow < flows; flow++) {
            set_spine_ends(colouring, flow);
        }
        spare_weak_spines(colouring);
    }
    place_rest_below(colouring, &batch);
    if (colouring->spine.nodes) {
        batch.level = &colouring->spine;
        batch_collect(&colouring->spine, &batch, flows);
        deal_batch(colouring, &batch);
        place_rest_above(colouring, &batch);
    }
    colouring->leaf.touched.count = colouring->spine.touched.count = 0;
    colouring->moved = 0;
    free(batch.order);
    free(batch.late);
}

uint32_t myr_colouring_add(struct myr_colouring *colouring, const struct myr_flow *flows,
                           size_t count)
{
    uint32_t first = (uint32_t)colouring->flows.count;
    for (size_t i = 0; i < count; i++) {
        myr_vec_push(&colouring->flows, flows[i]);
        level_add_edge(&colouring->leaf);
        level_add_edge(&colouring->spine);
        enter(colouring, first + (uint32_t)i);
    }
    colouring->moved = 0;
    if (first == 0) {
        place_all(colouring);
    } else {
        for (size_t i = 0; i < count; i++) {
            place_flow(colouring, first + (uint32_t)i);
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
    colouring->flows.items[flow].from_port = colouring->flows.items[flow].to_port;
    follow_moves(colouring);
}

void myr_colouring_link_changed(struct myr_colouring *colouring, uint32_t link)
{
    struct level *level;
    uint32_t node, uplink;
    if (!locate(colouring, link, &level, &node, &uplink)) {
        return;
    }
    bool dead = myr_bitset_has(&colouring->graph->dead, link);
    struct level_list moving = {0};
    colouring->moved = 0;
    if (dead) {
        level_over(level, node, uplink, &moving);
        for (size_t i = 0; i < moving.items.count; i++) {
            level_take(level, moving.items.items[i]);
        }
    }
    level_set_dead(level, node, uplink, dead);
    for (size_t i = 0; i < moving.items.count; i++) {
        uint32_t flow = moving.items.items[i];
        if (level == &colouring->leaf || !level_place(level, flow, NULL)) {
            place_flow(colouring, flow);
        }
        colouring->moved++;
    }
    if (!dead) {
        /* Others gain as well: whoever shares a link may now have two ends with room. */
        for (uint32_t i = 0; i < level->nodes; i++) {
            level_relieve(level, i);
        }
        for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
            struct ends ends = ends_of(colouring, flow);
            bool lost =
                colouring->leaf.edges.items[flow].group == LEVEL_NONE ||
                (crosses_pods(&ends) && colouring->spine.edges.items[flow].group == LEVEL_NONE);
            if (ends.reachable && !ends.local && lost) {
                place_flow(colouring, flow);
            }
        }
    }
    follow_moves(colouring);
    myr_vec_done(&moving.items);
}

bool myr_colouring_path(const struct myr_colouring *colouring, uint32_t flow, struct myr_path *ret)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    struct ends ends = ends_of(colouring, flow);
    uint32_t up_link = graph->design->port_link[f->from_port];
    uint32_t down_link = graph->design->port_link[f->to_port];
    const struct level_edge *below = &colouring->leaf.edges.items[flow];
    const struct level_edge *above = &colouring->spine.edges.items[flow];
    bool placed = ends.local || (below->group != LEVEL_NONE &&
                                 (!crosses_pods(&ends) || above->group != LEVEL_NONE));
    if (!ends.reachable || !placed || myr_graph_link_dead(graph, up_link) ||
        myr_graph_link_dead(graph, down_link)) {
        return false;
    }
    ret->count = 0;
    ret->channels[ret->count++] = up_link * 2;
    if (!ends.local) {
        ret->channels[ret->count++] =
            myr_graph_uplink(graph, ends.from_leaf, below->link[LEVEL_OUT]);
        if (crosses_pods(&ends)) {
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
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        const struct myr_flow *f = &colouring->flows.items[flow];
        stats.flows += f->from_port != f->to_port;
    }
    level_stats(&colouring->leaf, &heaviest, &stats.shared);
    level_stats(&colouring->spine, &heaviest, &stats.shared);
    stats.max_load = (double)heaviest / MYR_SHARE_ONE * net->host_gbps / net->fabric_gbps;
    stats.bound =
        myr_load_bound(colouring->graph, colouring->flows.items, colouring->flows.count, false);
    return stats;
}
