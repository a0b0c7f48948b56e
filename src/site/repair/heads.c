#include "repair/heads.h"

#include <stdlib.h>

/*
 * First heads all of whose legs belong into one other connector, each by one exchange. Then
 * connectors that hang together by wrong legs: small clusters are tried in every order, and each
 * order costs its own exchanges and what single plugs still have to do.
 */

/* What no pair of hands can do costs more than all that they can. */
enum { LEGS_MAX = 8, PORTS_MAX = 96, BARRED = 1000 };

/* Connectors whose heads hang together by the legs that are wrong. */
struct cluster {
    uint32_t count;              /* of connectors */
    uint32_t first[HEADS_EXACT]; /* ports */
    uint32_t legs;               /* of each */
};

struct heads {
    const struct repair_graph *graph;
    const struct myr_design *design;
    uint32_t *found;  /* as it is after the steps so far */
    uint32_t *parent; /* of connectors, by first port: a union of sets */
    struct head_steps *ret;
};

bool repair_is_leg(const struct myr_design *design, uint32_t vertex)
{
    return vertex < design->port_count && myr_design_port_group(design, vertex)->per_connector > 1;
}

/* The first port of the connector, and how many it has. */
static uint32_t connector_of(const struct myr_design *design, uint32_t port, uint32_t *ret_legs)
{
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t base = design->first_port[design->port_device[port]] + group->first;
    uint32_t at = (port - base) / group->per_connector * group->per_connector;
    uint32_t left = group->count - at;
    *ret_legs = left < group->per_connector ? left : group->per_connector;
    return base + at;
}

static uint32_t root(struct heads *h, uint32_t connector)
{
    while (h->parent[connector] != connector) {
        h->parent[connector] = h->parent[h->parent[connector]];
        connector = h->parent[connector];
    }
    return connector;
}

static bool differs(const struct heads *h, uint32_t vertex)
{
    return h->graph->plan[vertex] != h->found[vertex];
}

/* Where the leg in a port belongs by its other end; MYR_NONE when nowhere at a splitter. */
static uint32_t home_of(const struct heads *h, uint32_t port)
{
    uint32_t far = h->found[port];
    uint32_t home = far == MYR_NONE ? MYR_NONE : h->graph->plan[far];
    return home != MYR_NONE && repair_is_leg(h->design, home) ? home : MYR_NONE;
}

/* Whole heads: leg i of the one takes the place of leg i of the other. */
static void exchange(struct heads *h, uint32_t a, uint32_t b, uint32_t legs)
{
    for (uint32_t i = 0; i < legs; i++) {
        uint32_t far_a = h->found[a + i], far_b = h->found[b + i];
        h->found[a + i] = far_b;
        h->found[b + i] = far_a;
        if (far_a != MYR_NONE) {
            h->found[far_a] = b + i;
        }
        if (far_b != MYR_NONE) {
            h->found[far_b] = a + i;
        }
    }
}

/* Where the first leg that leads anywhere does. */
static uint32_t far_end(const struct heads *h, uint32_t connector, uint32_t legs)
{
    uint32_t far = MYR_NONE;
    for (uint32_t i = 0; i < legs && far == MYR_NONE; i++) {
        far = h->found[connector + i];
    }
    return far;
}

static void note_step(struct heads *h, uint32_t at, uint32_t to, uint32_t legs)
{
    struct head_step step = {.at = at, .to = to, .legs = legs};
    step.far_at = far_end(h, at, legs);
    step.far_to = far_end(h, to, legs);
    step.move = step.far_to == MYR_NONE;
    MYR_ASSERT(step.far_at != MYR_NONE); /* there is something to move */
    myr_vec_push(h->ret, step);
}

static bool is_empty(const struct heads *h, uint32_t connector, uint32_t legs)
{
    for (uint32_t i = 0; i < legs; i++) {
        if (h->found[connector + i] != MYR_NONE) {
            return false;
        }
    }
    return true;
}

/* Moves, new cables and cables to take out of the chain that a port is in; 'seen' by a mark. */
static uint32_t chain_cost(const struct heads *h, uint32_t start, uint32_t *seen, uint32_t *count)
{
    const uint32_t *plan = h->graph->plan;
    uint32_t at = start, cables = 0, ends_planned = 0, leg_ends = 0;
    bool cycle = false;
    for (uint32_t side = 0; side < 2 && !cycle; side++) {
        bool by_plan = side == 0;
        at = start;
        for (;;) {
            uint32_t next = by_plan ? plan[at] : h->found[at];
            /* The end of a path; the other side is walked as well. */
            if (next == MYR_NONE) {
                ends_planned += !by_plan; /* it has a planned cable and no found one */
                leg_ends += repair_is_leg(h->design, at);
                break;
            }
            cables += !by_plan;
            if (next == start) {
                cycle = true;
                break;
            }
            if (*count < PORTS_MAX) {
                seen[(*count)++] = next;
            }
            at = next;
            by_plan = !by_plan;
        }
    }
    /* From an empty port of one connector to a used one of another: no leg can go that way alone.
     */
    uint32_t barred = !cycle && ends_planned == 1 && leg_ends == 2 ? BARRED : 0;
    /* As in repair.h: a cycle saves a move, a path between empty ports needs a new cable. */
    return cycle ? cables - (cables > 0) : cables + (ends_planned == 2) + barred;
}

/* The cost of all chains that touch the connectors, without heads: single plugs only. */
static uint32_t cost_of(const struct heads *h, const struct cluster *cluster)
{
    uint32_t seen[PORTS_MAX + 1], count = 0, cost = 0;
    for (uint32_t c = 0; c < cluster->count; c++) {
        for (uint32_t i = 0; i < cluster->legs; i++) {
            uint32_t port = cluster->first[c] + i;
            /* Right already, or part of a chain that was counted. */
            bool known = !differs(h, port);
            for (uint32_t k = 0; k < count && !known; k++) {
                known = seen[k] == port;
            }
            if (!known && count < PORTS_MAX) {
                seen[count++] = port;
                cost += chain_cost(h, port, seen, &count);
            }
        }
    }
    return cost;
}

/* Puts the head of each connector i into connector order[i]; how many exchanges that takes. */
static uint32_t arrange(struct heads *h, const struct cluster *cluster, const uint32_t *order,
                        bool note)
{
    uint32_t wants[HEADS_EXACT], moves = 0;
    memcpy(wants, order, sizeof(wants));
    for (uint32_t i = 0; i < cluster->count; i++) {
        /*
         * Follows the cycles of the order: each exchange puts one head right for good. Two empty
         * connectors cost nothing.
         */
        while (wants[i] != i) {
            uint32_t to = wants[i], a = cluster->first[i], b = cluster->first[to];
            bool empty_a = is_empty(h, a, cluster->legs), empty_b = is_empty(h, b, cluster->legs);
            if (note && !(empty_a && empty_b)) {
                note_step(h, empty_a ? b : a, empty_a ? a : b, cluster->legs);
            }
            moves += !(empty_a && empty_b);
            exchange(h, a, b, cluster->legs);
            wants[i] = wants[to];
            wants[to] = to;
        }
    }
    return moves;
}

/* The reverse order takes everything back. */
static void undo(struct heads *h, const struct cluster *cluster, const uint32_t *order)
{
    uint32_t back[HEADS_EXACT] = {};
    for (uint32_t i = 0; i < cluster->count; i++) {
        back[order[i]] = i;
    }
    (void)arrange(h, cluster, back, false);
}

/* The next permutation by size; false after the last one. At most 6! are tried. */
static bool next_order(uint32_t *order, uint32_t count)
{
    uint32_t i = count;
    while (i > 1 && order[i - 2] >= order[i - 1]) {
        i--;
    }
    if (i <= 1) {
        return false;
    }
    uint32_t j = count - 1, kept;
    while (order[j] <= order[i - 2]) {
        j--;
    }
    kept = order[i - 2];
    order[i - 2] = order[j];
    order[j] = kept;
    for (uint32_t a = i - 1, b = count - 1; a < b; a++, b--) {
        kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
    return true;
}

/* All places that the heads of a cluster may have. */
static void try_all(struct heads *h, const struct cluster *cluster)
{
    uint32_t order[HEADS_EXACT] = {0, 1, 2, 3, 4, 5}, best[HEADS_EXACT] = {0, 1, 2, 3, 4, 5};
    /* Leaving all heads where they are is the first choice. */
    uint32_t least = cost_of(h, cluster);
    while (next_order(order, cluster->count)) {
        uint32_t moves = arrange(h, cluster, order, false), cost = moves + cost_of(h, cluster);
        undo(h, cluster, order);
        if (cost < least) {
            least = cost;
            memcpy(best, order, sizeof(best));
        }
    }
    (void)arrange(h, cluster, best, true);
}

/* A head all of whose legs belong into one other connector, in their order: MYR_NONE when not. */
static uint32_t home_connector(const struct heads *h, uint32_t connector, uint32_t legs)
{
    uint32_t home = MYR_NONE, there;
    for (uint32_t i = 0; i < legs; i++) {
        /* A leg that is not there does not mind. */
        if (h->found[connector + i] == MYR_NONE) {
            continue;
        }
        uint32_t port = home_of(h, connector + i);
        uint32_t first = port == MYR_NONE ? MYR_NONE : connector_of(h->design, port, &there);
        if (first == MYR_NONE || first + i != port || there != legs || first == connector ||
            (home != MYR_NONE && home != first)) {
            return MYR_NONE;
        }
        home = first;
    }
    return home;
}

/* One exchange puts all legs of a head right: never a loss, and as many links for one move. */
static void settle_whole(struct heads *h, uint32_t connector, uint32_t legs)
{
    /* The head that comes in exchange may belong elsewhere too: on until one fits nowhere. */
    for (uint32_t guard = 0; guard < h->design->port_count; guard++) {
        uint32_t home = home_connector(h, connector, legs);
        if (home == MYR_NONE) {
            return;
        }
        note_step(h, connector, home, legs);
        exchange(h, connector, home, legs);
    }
}

static void join(struct heads *h, uint32_t a, uint32_t b)
{
    uint32_t root_a = root(h, a), root_b = root(h, b);
    h->parent[root_a > root_b ? root_a : root_b] = root_a > root_b ? root_b : root_a;
}

/* Connectors that share a chain of wrong legs. */
static void join_chain(struct heads *h, uint32_t port)
{
    uint32_t legs, own = connector_of(h->design, port, &legs), at = port;
    for (uint32_t guard = 0; guard < h->design->port_count; guard++) {
        /* From a leg to where it belongs, and on to what is there. */
        uint32_t far = h->found[at];
        at = far == MYR_NONE ? MYR_NONE : h->graph->plan[far];
        if (at == MYR_NONE || at == port || !repair_is_leg(h->design, at)) {
            return;
        }
        join(h, own, connector_of(h->design, at, &legs));
    }
}

/* A connector, and the first one of those that it hangs together with. */
struct member {
    uint32_t root, connector;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->root != b->root) {
        return a->root < b->root ? -1 : 1;
    }
    return a->connector < b->connector ? -1 : a->connector > b->connector;
}

/* Only heads with as many legs can change places with each other. */
static void search_cluster(struct heads *h, const struct member *members, uint32_t total)
{
    struct cluster cluster = {.count = total};
    bool alike = total <= HEADS_EXACT;
    for (uint32_t i = 0; i < total && alike; i++) {
        uint32_t legs;
        cluster.first[i] = connector_of(h->design, members[i].connector, &legs);
        alike = i == 0 || legs == cluster.legs;
        cluster.legs = legs;
    }
    bool small = alike && cluster.legs <= LEGS_MAX;
    if (small && total > 1 && cluster.legs > 1) {
        try_all(h, &cluster);
    }
    h->ret->exact = h->ret->exact && (small || total == 1);
}

/* Clusters of a few heads are searched whole; of more than that it is not known what is best. */
static void search_clusters(struct heads *h)
{
    const struct myr_design *design = h->design;
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct member) members = {};
    for (uint32_t p = 0; p < design->port_count; p++) {
        uint32_t legs;
        if (repair_is_leg(design, p) && differs(h, p)) {
            join_chain(h, p);
            struct member one = {0, connector_of(design, p, &legs)};
            /* Ports of a connector are met in a row. */
            if (members.count == 0 || members.items[members.count - 1].connector != one.connector) {
                myr_vec_push(&members, one);
            }
        }
    }
    for (size_t i = 0; i < members.count; i++) {
        members.items[i].root = root(h, members.items[i].connector);
    }
    if (members.count > 1) {
        qsort(members.items, members.count, sizeof(*members.items), compare_members);
    }
    for (size_t i = 0, end; i < members.count; i = end) {
        end = i;
        while (end < members.count && members.items[end].root == members.items[i].root) {
            end++;
        }
        search_cluster(h, &members.items[i], (uint32_t)(end - i));
    }
}

/* Whole heads first, which is never wrong; then small clusters by trying. */
void repair_heads(const struct repair_graph *graph, struct myr_arena *arena, uint32_t *found,
                  struct head_steps *ret)
{
    const struct myr_design *design = graph->design;
    struct heads h = {.graph = graph, .design = design, .ret = ret};
    h.found = found;
    bool any = false;
    ret->exact = true;
    /* Most fabrics have no splitters, or none that is wrong. */
    for (uint32_t p = 0; p < design->port_count && !any; p++) {
        any = repair_is_leg(design, p) && differs(&h, p);
    }
    if (!any) {
        return;
    }
    h.parent = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    for (uint32_t p = 0; p < design->port_count; p++) {
        h.parent[p] = p;
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
        uint32_t legs;
        if (repair_is_leg(design, p) && differs(&h, p) && connector_of(design, p, &legs) == p) {
            /* Once a connector, at its first port. */
            settle_whole(&h, p, legs);
        }
    }
    search_clusters(&h);
}
