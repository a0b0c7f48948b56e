#include <stdlib.h>

#include "search.h"

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

double order_group_level(const struct search *q, const struct myr_traffic_family *family,
                         uint32_t first, const uint32_t *cells)
{
    uint32_t node = cells[first];
    enum myr_level level = MYR_LEVEL_DOMAIN;
    for (uint32_t m = 1; m < family->group_size && level < MYR_LEVEL_CORE; m++) {
        enum myr_level to = order_level(q->p, node, cells[first + family->offsets[m]]);
        level = to > level ? to : level;
    }
    return (double)level;
}

double order_groups_cost(const struct search *q, const uint32_t *cells, double limit)
{
    double sum = 0;
    if (!q->traffic) {
        for (uint32_t i = 0; i < q->nodes && q->nodes > 1; i++) {
            uint32_t next = i + 1 < q->nodes ? i + 1 : 0;
            sum += (double)order_level(q->p, cells[i], cells[next]);
        }
        return sum;
    }
    for (uint32_t f = 0; f < q->traffic->family_count; f++) {
        const struct myr_traffic_family *family = &q->traffic->families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            sum += family->bytes * order_group_level(q, family, family->firsts[g], cells);
        }
        if (limit >= 0 && sum >= limit) {
            return sum;
        }
    }
    return sum;
}

/* Sequence position to cell, for digits taken in the given order. */
static void number_cells(struct search *q, const uint8_t *digits)
{
    const struct myr_job_traffic *t = q->traffic;
    uint32_t stride[MYR_TRAFFIC_DIGITS_MAX], at[MYR_TRAFFIC_DIGITS_MAX] = {0}, cell = 0;
    uint32_t product = 1;
    for (uint32_t d = 0; d < t->digit_count; d++) {
        stride[d] = product;
        product *= t->digits[d];
    }
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->sequence[i] = cell;
        for (uint32_t k = 0; k < t->digit_count; k++) {
            uint32_t d = digits[k];
            cell += stride[d];
            if (++at[d] < t->digits[d]) {
                break;
            }
            cell -= stride[d] * t->digits[d];
            at[d] = 0;
        }
    }
}

/* The unit of a level that a node lies in. */
static uint32_t unit_of(const struct myr_placer *p, enum myr_level level, uint32_t node)
{
    switch (level) {
    case MYR_LEVEL_DOMAIN:
        return p->domain_of[node];
    case MYR_LEVEL_LEAF:
        return p->group_of[node];
    case MYR_LEVEL_POD:
        return p->pod_of[node];
    default:
        return 0;
    }
}

/*
 * Whole blocks from the nodes that each unit of a level still has; what is left of each goes to the
 * next level. Returns how many nodes are left.
 */
static uint32_t lay_level(struct search *q, enum myr_level level, uint32_t block, uint32_t have,
                          uint32_t *laid, uint32_t *batches)
{
    struct search_scratch *s = q->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < have;) {
        uint32_t end = i + 1, unit = unit_of(q->p, level, s->rest[i]);
        while (end < have && unit_of(q->p, level, s->rest[end]) == unit) {
            end++;
        }
        uint32_t units = (end - i) / block;
        if (units > 0) {
            s->batches[(*batches)++] =
                (struct batch){*laid, units, s->rest[i], level >= MYR_LEVEL_POD};
            memcpy(s->laid + *laid, s->rest + i, (size_t)units * block * sizeof(uint32_t));
            *laid += units * block;
        }
        uint32_t over = end - i - units * block;
        memmove(s->rest + kept, s->rest + end - over, over * sizeof(uint32_t));
        kept += over;
        i = end;
    }
    return kept;
}

static int by_topmost(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;
    return x->topmost < y->topmost ? -1 : x->topmost > y->topmost;
}

void order_cells(struct search *q, const uint8_t *digits, uint32_t depth, bool columns)
{
    struct search_scratch *s = q->s;
    uint32_t block = 1, laid = 0, batches = 0, have = q->nodes, position = 0;
    for (uint32_t k = 0; k < depth; k++) {
        block *= q->traffic->digits[digits[k]];
    }
    number_cells(q, digits);
    memcpy(s->rest, s->nodes, q->nodes * sizeof(uint32_t));
    enum myr_level level = q->p->domain_nodes > 1 ? MYR_LEVEL_DOMAIN : MYR_LEVEL_LEAF;
    for (; have > 0 && level <= MYR_LEVEL_CORE; level++) {
        have = lay_level(q, level, block, have, &laid, &batches);
    }
    MYR_ASSERT(have == 0 && laid == q->nodes);
    qsort(s->batches, batches, sizeof(*s->batches), by_topmost);
    for (uint32_t b = 0; b < batches; b++) {
        const struct batch *batch = &s->batches[b];
        uint32_t count = batch->units * block;
        for (uint32_t i = 0; i < count; i++) {
            /* By columns: what lies under one leaf are neighbours along the outer axes. */
            uint32_t in =
                columns && batch->across ? i % batch->units * block + i / batch->units : i;
            s->cells[s->sequence[position + in]] = s->laid[batch->at + i];
        }
        position += count;
    }
}

/* Fragmentation and penalties, in units of what a node sends. */
void order_other_cost(const struct search *q, struct myr_place_cost *ret)
{
    const struct myr_placer *p = q->p;
    const uint32_t *nodes = q->s->nodes;
    uint32_t in_leaf = 0, in_pod = 0;
    bool whole = q->gpus == p->shape.gpus_per_node;
    ret->leaves = 0;
    ret->pods = 0;
    ret->fragmentation = 0;
    ret->penalty = 0;
    for (uint32_t i = 0; i < q->nodes; i++) {
        uint32_t leaf = p->group_of[nodes[i]], pod = p->pod_of[nodes[i]];
        in_leaf++;
        in_pod++;
        ret->penalty += 0.001 * (p->node_penalty[nodes[i]] + p->group_penalty[leaf]);
        bool last = i + 1 == q->nodes;
        if (last || p->group_of[nodes[i + 1]] != leaf) {
            double f = p->by_group.count[leaf];
            ret->fragmentation +=
                !whole ? 0 : MYR_FRAGMENT_LEAF * in_leaf * (2 * f - in_leaf) / p->shape.group_nodes;
            ret->leaves++;
            in_leaf = 0;
        }
        if (last || p->pod_of[nodes[i + 1]] != pod) {
            double f = p->by_pod.count[pod];
            ret->fragmentation +=
                !whole ? 0 : MYR_FRAGMENT_POD * in_pod * (2 * f - in_pod) / p->shape.pod_nodes;
            ret->pods++;
            in_pod = 0;
        }
    }
    ret->fragmentation *= q->unit_bytes;
    ret->penalty *= q->unit_bytes;
}

/* s->nodes must hold the same nodes as 'cells', along the topology. */
void order_cost(const struct search *q, const uint32_t *cells, struct myr_place_cost *ret)
{
    *ret = (struct myr_place_cost){0};
    order_other_cost(q, ret);
    for (uint32_t f = 0; q->traffic && f < q->traffic->family_count; f++) {
        const struct myr_traffic_family *family = &q->traffic->families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            double level = order_group_level(q, family, family->firsts[g], cells);
            ret->bytes_by_level[(int)level] += family->bytes;
        }
    }
    for (uint32_t i = 0; i < q->nodes && !q->traffic && q->nodes > 1; i++) {
        uint32_t next = i + 1 < q->nodes ? i + 1 : 0;
        ret->bytes_by_level[order_level(q->p, cells[i], cells[next])] += 1;
    }
    for (int level = 1; level < MYR_LEVEL_COUNT; level++) {
        ret->groups += level * ret->bytes_by_level[level];
    }
    uint32_t first = q->s->nodes[0], last = q->s->nodes[q->nodes - 1];
    ret->level = order_level(q->p, first, last);
    ret->total = ret->groups + ret->fragmentation + ret->penalty;
}

/* Small gangs keep several different placements: swaps do better from some than from others. */
static void keep_start(struct search *q, double cost)
{
    struct search_scratch *s = q->s;
    uint32_t at = q->start_count;
    for (uint32_t i = 0; i < q->start_count; i++) {
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
        memcpy(s->starts[at], s->cells, q->nodes * sizeof(uint32_t));
        q->start_count += q->start_count < SEARCH_STARTS;
    }
}

void order_keep_best(struct search *q)
{
    bool small = q->nodes <= SEARCH_SWAP_CELLS;
    if (!small && q->best_cost >= 0 && q->base_cost >= q->best_cost) {
        return;
    }
    double limit = q->best_cost >= 0 && !small ? q->best_cost - q->base_cost : -1;
    double cost = q->base_cost + order_groups_cost(q, q->s->cells, limit);
    if (q->best_cost < 0 || cost < q->best_cost) {
        q->best_cost = cost;
        memcpy(q->s->best, q->s->cells, q->nodes * sizeof(uint32_t));
    }
    if (small) {
        keep_start(q, cost);
    }
}
