#include "search/search.h"

/*
 * What a placement costs. The search compares integers (order_consider() and what it calls);
 * order_cost() says the same in bytes, for people. Both count room from the placer as it is before
 * the gang takes its nodes.
 */

/* The lowest level at which two nodes meet. */
enum myr_level order_level(const struct myr_placer *p, uint32_t a, uint32_t b)
{
    if (p->domain_of[a] == p->domain_of[b]) {
        return MYR_LEVEL_DOMAIN;
    }
    if (p->group_of[a] == p->group_of[b]) {
        return MYR_LEVEL_LEAF;
    }
    return p->pod_of[a] == p->pod_of[b] ? MYR_LEVEL_POD : MYR_LEVEL_CORE;
}

/* One byte from each node to the next and around, along the topology. */
static int64_t ring_cost(const struct search *q, const uint32_t *cells)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < q->nodes && q->nodes > 1; i++) {
        uint32_t next = i + 1 < q->nodes ? i + 1 : 0;
        sum += order_level(q->p, cells[i], cells[next]);
    }
    return sum * q->unit_cost;
}

/* Room lost for gangs when so many of the free nodes of a unit are taken: f² - f'². */
static uint64_t room_lost(uint32_t free, uint32_t taken)
{
    return (uint64_t)taken * (2 * (uint64_t)free - taken);
}

/* What a choice of nodes costs whatever runs where, before it is priced. */
struct taken {
    uint64_t leaf_lost, pod_lost; /* room */
    uint64_t milli;               /* penalties */
    uint32_t leaves, pods;        /* touched */
};

/* Counts what s->nodes take from each leaf and pod. */
static struct taken look_at_nodes(const struct search *q)
{
    const struct myr_placer *p = q->p;
    const uint32_t *nodes = q->s->nodes;
    bool whole = q->gpus == p->shape.gpus_per_node;
    struct taken t = {};
    /* s->nodes goes along the topology, so the nodes of a leaf and of a pod follow each other. */
    for (uint32_t i = 0, end; i < q->nodes; i = end) {
        uint32_t leaf = p->group_of[nodes[i]];
        for (end = i + 1; end < q->nodes && p->group_of[nodes[end]] == leaf; end++) {
        }
        t.leaves++;
        /* Parts of nodes leave no whole node less. */
        t.leaf_lost += whole ? room_lost(p->by_group.count[leaf], end - i) : 0;
        for (uint32_t k = i; k < end && p->penalised; k++) {
            t.milli += (uint64_t)p->node_penalty[nodes[k]] + p->group_penalty[leaf];
        }
    }
    for (uint32_t i = 0, end; i < q->nodes; i = end) {
        uint32_t pod = p->pod_of[nodes[i]];
        for (end = i + 1; end < q->nodes && p->pod_of[nodes[end]] == pod; end++) {
        }
        t.pods++;
        t.pod_lost += whole ? room_lost(p->by_pod.count[pod], end - i) : 0;
    }
    return t;
}

int64_t order_base_cost(const struct search *q)
{
    struct taken t = look_at_nodes(q);
    return (int64_t)t.leaf_lost * q->leaf_room + (int64_t)t.pod_lost * q->pod_room +
           search_penalty(q, t.milli);
}

int64_t order_room_cost(const struct search *q)
{
    const struct myr_placer *p = q->p;
    const struct search_scratch *s = q->s;
    uint32_t per = p->shape.pod_nodes / p->shape.group_nodes, in_pod = 0;
    uint64_t leaf_lost = 0, pod_lost = 0;
    for (uint32_t i = 0; i < q->touched_count && q->gpus == p->shape.gpus_per_node; i++) {
        uint32_t leaf = s->touched[i], take = s->take[leaf];
        leaf_lost += room_lost(p->by_group.count[leaf], take);
        in_pod += take;
        uint32_t pod = leaf / per;
        if (i + 1 == q->touched_count || s->touched[i + 1] / per != pod) {
            pod_lost += room_lost(p->by_pod.count[pod], in_pod);
            in_pod = 0;
        }
    }
    return (int64_t)leaf_lost * q->leaf_room + (int64_t)pod_lost * q->pod_room;
}

/* Bytes by level: in the order of cells no digit is moved. */
static void count_levels(struct search *q, const uint32_t *cells, double *ret)
{
    const struct myr_placer *p = q->p;
    struct search_scratch *s = q->s;
    struct digit_order plain;
    for (uint8_t d = 0; d < MYR_TRAFFIC_DIGITS_MAX; d++) {
        plain.digits[d] = d;
    }
    for (uint32_t i = 0; i < q->nodes; i++) {
        s->unit[UNIT_DOMAIN][i] = p->domain_of[cells[i]];
        s->unit[UNIT_LEAF][i] = p->group_of[cells[i]];
        s->unit[UNIT_POD][i] = p->pod_of[cells[i]];
    }
    /* Nothing is known of the order of cells: everything is looked at. */
    q->assigned = true;
    q->sorted_run = 1;
    q->split[UNIT_DOMAIN] = q->split[UNIT_LEAF] = q->split[UNIT_POD] = true;
    for (uint32_t f = 0; f < q->traffic->family_count; f++) {
        const struct myr_traffic_family *family = &q->traffic->families[f];
        /* Units nest: a group broken at a level is broken at all below it. */
        uint32_t above = family->group_count;
        for (uint32_t level = 0; level < UNIT_COUNT; level++) {
            uint32_t broken = assign_broken(q, &plain, f, (enum unit)level);
            ret[level] += family->bytes * (above - broken);
            above = broken;
        }
        ret[MYR_LEVEL_CORE] += family->bytes * above;
    }
}

/*
 * What people and programs are told, in bytes; nothing is decided by it. s->nodes must hold the
 * same nodes as 'cells', along the topology.
 */
void order_cost(struct search *q, const uint32_t *cells, struct myr_place_cost *ret)
{
    const struct myr_place_shape *shape = &q->p->shape;
    struct taken t = look_at_nodes(q);
    *ret = (struct myr_place_cost){.leaves = t.leaves, .pods = t.pods};
    ret->fragmentation =
        q->unit_bytes * (MYR_FRAGMENT_LEAF * (double)t.leaf_lost / shape->group_nodes +
                         MYR_FRAGMENT_POD * (double)t.pod_lost / shape->pod_nodes);
    ret->penalty = q->unit_bytes * 0.001 * (double)t.milli;
    if (q->traffic) {
        count_levels(q, cells, ret->bytes_by_level);
    }
    for (uint32_t i = 0; i < q->nodes && !q->traffic && q->nodes > 1; i++) {
        uint32_t next = i + 1 < q->nodes ? i + 1 : 0;
        ret->bytes_by_level[order_level(q->p, cells[i], cells[next])] += 1;
    }
    for (int level = 1; level < MYR_LEVEL_COUNT; level++) {
        ret->groups += level * ret->bytes_by_level[level];
    }
    /* They are sorted: no two are farther apart than the first and the last. */
    uint32_t first = q->s->nodes[0], last = q->s->nodes[q->nodes - 1];
    ret->level = order_level(q->p, first, last);
    ret->total = ret->groups + ret->fragmentation + ret->penalty;
}

/* Most choices are given up before their nodes are wanted. */
static void find_nodes(struct search *q)
{
    if (!q->have_nodes) {
        select_nodes(q);
        q->have_nodes = true;
    }
}

/* Small gangs keep several different placements: swaps do better from some than from others. */
static void remember_start(struct search *q, const struct digit_order *order, int64_t cost)
{
    struct search_scratch *s = q->s;
    uint32_t at = q->start_count;
    MYR_ASSERT(q->nodes <= SEARCH_SWAP_CELLS);
    MYR_ASSERT(q->start_count <= SEARCH_STARTS);
    MYR_ASSERT(cost >= 0);
    for (uint32_t i = 0; i < q->start_count; i++) {
        /* The same cost is mostly the same placement in other words. */
        if (s->start_cost[i] == cost) {
            return;
        }
    }
    while (at > 0 && s->start_cost[at - 1] > cost) {
        if (at < SEARCH_STARTS) {
            s->start_cost[at] = s->start_cost[at - 1];
            memcpy(s->starts[at], s->starts[at - 1], q->nodes * sizeof(uint32_t));
        }
        at--;
    }
    if (at < SEARCH_STARTS) {
        s->start_cost[at] = cost;
        find_nodes(q);
        if (order) {
            assign_cells(q, order, s->starts[at]);
        } else {
            memcpy(s->starts[at], s->nodes, q->nodes * sizeof(uint32_t));
        }
        q->start_count += q->start_count < SEARCH_STARTS;
    }
}

/* Then it is the best from now on, and its nodes are kept; the caller keeps the cells. */
static bool is_best(struct search *q, int64_t cost)
{
    /* Equal ones stay: the first found wins, and that is the same everywhere. */
    if (q->best_cost >= 0 && cost >= q->best_cost) {
        return false;
    }
    MYR_ASSERT(cost >= q->base_cost); /* groups cost something, or nothing */
    q->best_cost = cost;
    find_nodes(q);
    memcpy(q->s->best_nodes, q->s->nodes, q->nodes * sizeof(uint32_t));
    return true;
}

int64_t order_consider(struct search *q, const struct digit_order *order)
{
    bool swaps = q->nodes <= SEARCH_SWAP_CELLS;
    /*
     * Swaps want the true cost of each start; without them one that is clearly worse may stop
     * early.
     */
    int64_t limit = q->best_cost >= 0 && !swaps ? search_near(q->best_cost) - q->base_cost : -1;
    int64_t cost = q->base_cost + assign_price(q, order, limit);
    MYR_ASSERT(q->base_cost >= 0);
    if (is_best(q, cost)) {
        assign_cells(q, order, q->s->best);
    }
    if (swaps) {
        remember_start(q, order, cost);
    }
    return cost;
}

void order_consider_ring(struct search *q)
{
    int64_t cost = q->base_cost + ring_cost(q, q->s->nodes);
    if (is_best(q, cost)) {
        memcpy(q->s->best, q->s->nodes, q->nodes * sizeof(uint32_t));
    }
    if (q->nodes <= SEARCH_SWAP_CELLS) {
        remember_start(q, NULL, cost);
    }
}
