/* Many flows at once, into an empty colouring. */
#include <stdlib.h>

#include "colouring.h"
#include "split.h"

/*
 * All flows are dealt out evenly to the colours of the lower level (split.h), which is exact and
 * quick. Dead links spoil that: flows that will have to share are chosen before, and placed last;
 * flows between pods are shifted away from spines with too few cores. Then the same is done above.
 */

struct batch {
    struct level *level;
    uint32_t *order; /* flows that lie in the level, the heaviest first */
    uint32_t count;
    bool *late; /* by flow: to be placed last, for it will have to share */
};

/* Equal weights by number: a sort that is not stable must still give one order. */
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
    MYR_CLEANUP(myr_free_at)
    uint32_t *both = myr_xcalloc(2 * (size_t)level->nodes, sizeof(*both));
    /* How many flows of each node will have to share, by side. */
    uint32_t *excess[2] = {both, both + level->nodes};
    for (uint32_t side = 0; side < 2; side++) {
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

/* Colours that are uplinks belong to the group around them. */
static uint32_t group_of_colour(const struct level *level, uint32_t colour, bool equal)
{
    uint32_t group = equal ? colour : 0;
    while (!equal && level->group_start[group + 1] <= colour) {
        group++;
    }
    return group;
}

/*
 * Only below, and only for flows between pods, there are outer sets: even shares of these keep the
 * upper level even.
 */
static struct split_edge split_edge_of(const struct myr_colouring *colouring,
                                       const struct batch *batch, uint32_t flow)
{
    const struct level_edge *edge = &batch->level->edges.items[flow];
    struct split_edge result = {{edge->node[LEVEL_OUT], edge->node[LEVEL_IN]},
                                {SPLIT_NO_OUTER, SPLIT_NO_OUTER}};
    struct colouring_ends ends = colouring_ends(colouring, flow);
    if (batch->level == &colouring->leaf && colouring_crosses(&ends)) {
        result.outer[0] = ends.from.unit * colouring->graph->net->pods + ends.from.pod;
        result.outer[1] = ends.to.unit * colouring->graph->net->pods + ends.to.pod;
    }
    return result;
}

/* Deals the flows that are not late out to the groups. */
static void split_batch(const struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *level = batch->level;
    const struct myr_graph *graph = colouring->graph;
    struct split_shape shape = {.nodes = level->nodes, .outers = graph->net->leaf};
    MYR_CLEANUP(myr_free_at) struct split_edge *edges = myr_xcalloc(batch->count, sizeof(*edges));
    MYR_CLEANUP(myr_free_at) uint32_t *colour = myr_xcalloc(batch->count, sizeof(*colour));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->late[batch->order[i]]) {
            edges[count++] = split_edge_of(colouring, batch, batch->order[i]);
        }
    }
    bool equal = equal_groups(level);
    split_edges(&shape, edges, count, equal ? level->groups : level->base, colour);
    /* The same order again: colours were given to those that are not late. */
    count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t flow = batch->order[i];
        if (batch->late[flow]) {
            continue;
        }
        MYR_ASSERT(colour[count] < (equal ? level->groups : level->base));
        uint32_t group = group_of_colour(level, colour[count++], equal);
        /* Dealing knows nothing of dead links: what it sent there is placed later. */
        if (level_usable(level, &level->edges.items[flow], group)) {
            level_put(level, flow, group);
        }
    }
}

/* Deals out what need not share, and moves it off dead uplinks. */
static void deal_batch(struct myr_colouring *colouring, const struct batch *batch)
{
    struct level *level = batch->level;
    bool hurt = colouring->graph->dead_count > 0;
    qsort_r(batch->order, batch->count, sizeof(*batch->order), heavier_first, level->edges.items);
    /* In a whole fabric the deal is even at every node, and nobody is late. */
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
            uint32_t node = colouring_spine(colouring, g, pod);
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

/* A flow's place above follows from its group below; it is not placed there yet. */
static void set_spine_ends(struct myr_colouring *colouring, uint32_t flow)
{
    struct colouring_ends ends = colouring_ends(colouring, flow);
    uint32_t group = colouring->leaf.edges.items[flow].group;
    level_clear_ends(&colouring->spine, flow);
    if (group != LEVEL_NONE && colouring_crosses(&ends)) {
        level_set_ends(&colouring->spine, flow, colouring_spine(colouring, group, ends.from),
                       colouring_spine(colouring, group, ends.to),
                       colouring->flows.items[flow].share);
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
    uint32_t index = pod.index, here = colouring_spine(colouring, index, pod);
    /* The leaves of the pod; the last one of a fabric may have fewer. */
    uint32_t first = pod.unit * graph->unit_leaves + pod.pod * graph->net->pod_leaves;
    uint32_t end = (pod.unit + 1) * graph->unit_leaves;
    end = first + graph->net->pod_leaves < end ? first + graph->net->pod_leaves : end;
    for (uint32_t other = 0; other < leaf->groups; other++) {
        uint32_t there = colouring_spine(colouring, other, pod);
        if (other == index || !worth_moving(&colouring->spine, here, there, rounds)) {
            continue;
        }
        /* Any leaf of the pod will do, as long as it has a flow of each sort. */
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

/* Each move lowers the surplus of the pod, so that this ends. */
static void spare_weak_spines(struct myr_colouring *colouring)
{
    const struct myr_network *net = colouring->graph->net;
    const struct level *spine = &colouring->spine;
    MYR_CLEANUP(myr_free_at)
    bool *crosses = myr_xcalloc(colouring->flows.count, sizeof(*crosses));
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        struct colouring_ends ends = colouring_ends(colouring, flow);
        crosses[flow] = colouring_crosses(&ends);
    }
    for (uint32_t i = 0; i < net->spine; i++) {
        struct myr_spot spot = myr_graph_spine_spot(colouring->graph, net->first_spine + i);
        uint32_t node = colouring_spine(colouring, spot.index, spot);
        uint32_t rounds[2];
        bool moved = true;
        /* What a spine should carry at most when its pod's flows are spread by links. */
        pod_rounds(colouring, spot, rounds);
        while (moved && (surplus(spine, LEVEL_OUT, node, rounds[LEVEL_OUT], 0) ||
                         surplus(spine, LEVEL_IN, node, rounds[LEVEL_IN], 0))) {
            moved = move_off(colouring, spot, rounds, crosses);
        }
    }
}

/* Flows inside a leaf, or without a way, are in no level. */
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
        struct colouring_ends ends = colouring_ends(colouring, flow);
        if (leaf->edges.items[flow].group != LEVEL_NONE ||
            !level_place(leaf, flow, colouring_bias(colouring, &ends))) {
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
            colouring_place(colouring, flow); /* no core left there: at another spine */
        }
    }
}

static void batch_done(struct batch *batch)
{
    free(batch->order);
    free(batch->late);
}

/*
 * The order matters: all of the lower level first, then its flows between pods are shifted between
 * spines, what must share comes next, and the upper level follows when nothing below moves any
 * more.
 */
void colouring_place_all(struct myr_colouring *colouring)
{
    uint32_t flows = (uint32_t)colouring->flows.count;
    MYR_CLEANUP(batch_done) struct batch batch = {.level = &colouring->leaf};
    batch.order = myr_xcalloc(flows, sizeof(uint32_t));
    batch.late = myr_xcalloc(flows, sizeof(bool));
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
    /* A first placement is no move of anybody. */
    colouring->leaf.touched.count = colouring->spine.touched.count = 0;
    colouring->moved = 0;
}
