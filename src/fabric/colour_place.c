/* One flow at a time. */
#include "colouring.h"

/*
 * The lower level is asked for a spine with regard to what is left above it, and whoever makes room
 * there is followed in the upper level. A flow whose spine stays keeps its core.
 */

/* Two spines of one position meet only at cores to which both have a link left. */
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
const uint32_t *colouring_bias(struct myr_colouring *colouring, const struct colouring_ends *ends)
{
    const struct level *spine = &colouring->spine;
    if (spine->nodes == 0) {
        return NULL;
    }
    for (uint32_t g = 0; g < colouring->leaf.groups; g++) {
        uint32_t a = colouring_spine(colouring, g, ends->from),
                 b = colouring_spine(colouring, g, ends->to);
        uint32_t out = fullness(spine, LEVEL_OUT, a), in = fullness(spine, LEVEL_IN, b);
        /* The fuller end decides. */
        uint32_t more = out > in ? out : in;
        /* The other way round: full spines are as good as any for what stays below. */
        if (!colouring_crosses(ends)) {
            colouring->bias[g] = LEVEL_IMPOSSIBLE - 1 - more;
            continue;
        }
        /* With all uplinks alive they have a common core: no need to look. */
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
    struct colouring_ends ends = colouring_ends(colouring, flow);
    if (spine->nodes == 0 || !colouring_crosses(&ends)) {
        return;
    }
    level_clear_ends(spine, flow);
    if (group != LEVEL_NONE) {
        level_set_ends(spine, flow, colouring_spine(colouring, group, ends.from),
                       colouring_spine(colouring, group, ends.to),
                       colouring->flows.items[flow].share);
        (void)level_place(spine, flow, NULL); /* without a core it has no path */
    }
}

/* Flows that were moved to other spines follow above; those that stayed keep their cores. */
void colouring_follow(struct myr_colouring *colouring)
{
    struct level *leaf = &colouring->leaf, *spine = &colouring->spine;
    uint32_t pods = colouring->graph->net->pods;
    for (size_t i = 0; i < leaf->touched.count && spine->nodes; i++) {
        uint32_t flow = leaf->touched.items[i];
        /*
         * A node above is a position and a pod (colouring_spine()): whether the position is still
         * right says whether the flow must move.
         */
        uint32_t node = spine->edges.items[flow].node[LEVEL_OUT];
        uint32_t index = node / pods % colouring->graph->net->pod_spines;
        if (node == LEVEL_NONE || index != leaf->edges.items[flow].group) {
            place_above(colouring, flow);
        }
    }
    colouring->moved += (uint32_t)(leaf->touched.count + spine->touched.count);
    leaf->touched.count = spine->touched.count = 0;
}

/* Flows inside a leaf stay out of the levels. */
void colouring_enter(struct myr_colouring *colouring, uint32_t flow)
{
    struct colouring_ends ends = colouring_ends(colouring, flow);
    if (ends.reachable && !ends.local) {
        uint32_t first = colouring->graph->net->first_leaf;
        level_set_ends(&colouring->leaf, flow, ends.from_leaf - first, ends.to_leaf - first,
                       colouring->flows.items[flow].share);
        colouring->leaf.edges.items[flow].far = colouring_crosses(&ends);
    }
}

/*
 * Out of both levels first: its old places may be what it needs. Those who made room follow before
 * the flow itself goes up.
 */
void colouring_place(struct myr_colouring *colouring, uint32_t flow)
{
    struct colouring_ends ends = colouring_ends(colouring, flow);
    if (!ends.reachable || ends.local) {
        return;
    }
    level_take(&colouring->leaf, flow);
    if (colouring->spine.nodes) {
        level_clear_ends(&colouring->spine, flow);
    }
    (void)level_place(&colouring->leaf, flow, colouring_bias(colouring, &ends));
    colouring_follow(colouring);
    place_above(colouring, flow);
}
