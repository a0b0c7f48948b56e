#include "place/index.h"

#include <stdlib.h>

/*
 * The index of free GPUs. Units of a level lie in lists by how many whole nodes are free in them,
 * with a bit for each list that is not empty, so the unit that fits best is found in a few words. A
 * node is taken out of whatever lists it is in, changed, and put in again.
 */

/* By its count as it is now, so before the count changes it has to be taken out. */
static void bucket_put(struct buckets *b, uint32_t unit)
{
    uint32_t count = b->count[unit];
    MYR_SLOW_ASSERT(unit < b->units);
    MYR_SLOW_ASSERT(count <= b->most);
    MYR_SLOW_ASSERT(b->first[count] != unit);
    b->next[unit] = b->first[count];
    b->previous[unit] = MYR_NONE;
    if (b->first[count] != MYR_NONE) {
        b->previous[b->first[count]] = unit;
    }
    b->first[count] = unit;
    MYR_SLOW_ASSERT(b->next[unit] == MYR_NONE || b->count[b->next[unit]] == count);
    b->occupied[count / 64] |= UINT64_C(1) << count % 64;
}

/* Before its count changes: it is looked for in the list of that. */
static void bucket_take(struct buckets *b, uint32_t unit)
{
    uint32_t count = b->count[unit];
    MYR_SLOW_ASSERT(unit < b->units);
    MYR_SLOW_ASSERT(b->occupied[count / 64] >> count % 64 & 1);
    MYR_SLOW_ASSERT(unit ==
                    (b->previous[unit] == MYR_NONE ? b->first[count] : b->next[b->previous[unit]]));
    if (b->next[unit] != MYR_NONE) {
        b->previous[b->next[unit]] = b->previous[unit];
    }
    if (b->previous[unit] != MYR_NONE) {
        b->next[b->previous[unit]] = b->next[unit];
    } else {
        b->first[count] = b->next[unit];
    }
    MYR_SLOW_ASSERT(b->first[count] != unit);
    if (b->first[count] == MYR_NONE) {
        b->occupied[count / 64] &= ~(UINT64_C(1) << count % 64);
    }
}

/* All counts are 0 and no unit is in a list yet. */
static void buckets_init(struct buckets *b, uint32_t units, uint32_t most)
{
    MYR_ASSERT(units > 0);
    MYR_ASSERT(most > 0);
    *b = (struct buckets){.units = units, .most = most};
    b->count = myr_xcalloc(units, sizeof(uint32_t));
    b->next = myr_xcalloc(units, sizeof(uint32_t));
    b->previous = myr_xcalloc(units, sizeof(uint32_t));
    b->first = myr_xcalloc((size_t)most + 1, sizeof(uint32_t));
    b->occupied = myr_xcalloc(most / 64 + 1, sizeof(uint64_t));
    for (uint32_t i = 0; i <= most; i++) {
        b->first[i] = MYR_NONE;
    }
}

/* Units of 'size' nodes each, the last of what is left, all of them free. */
static void buckets_fill(struct buckets *b, uint32_t nodes, uint32_t size)
{
    MYR_ASSERT(size == b->most);
    MYR_ASSERT(nodes > (uint64_t)(b->units - 1) * size);
    for (uint32_t i = 0; i < b->units; i++, nodes -= size) {
        b->count[i] = nodes < size ? nodes : size;
        MYR_ASSERT(b->count[i] > 0);
        bucket_put(b, i);
    }
}

static void buckets_done(struct buckets *b)
{
    free(b->count);
    free(b->next);
    free(b->previous);
    free(b->first);
    free(b->occupied);
}

/* 'change' is added modulo 2^32. */
static void bucket_change(struct buckets *b, uint32_t unit, uint32_t change)
{
    MYR_SLOW_ASSERT(change != 0);
    bucket_take(b, unit);
    b->count[unit] += change;
    MYR_ASSERT(b->count[unit] <= b->most);
    bucket_put(b, unit);
}

uint32_t bucket_best(const struct buckets *b, uint32_t wanted)
{
    if (wanted > b->most) {
        return MYR_NONE;
    }
    /* In the first word only counts from 'wanted' on are of use. */
    for (uint32_t w = wanted / 64; w <= b->most / 64; w++) {
        uint64_t bits = b->occupied[w];
        bits &= w == wanted / 64 ? UINT64_MAX << wanted % 64 : UINT64_MAX;
        if (bits) {
            MYR_SLOW_ASSERT(w * 64 + (uint32_t)__builtin_ctzll(bits) <= b->most);
            return b->first[w * 64 + (uint32_t)__builtin_ctzll(bits)];
        }
    }
    return MYR_NONE;
}

uint32_t bucket_fullest(const struct buckets *b)
{
    for (uint32_t w = b->most / 64 + 1; w-- > 0;) {
        if (b->occupied[w]) {
            uint32_t count = w * 64 + 63 - (uint32_t)__builtin_clzll(b->occupied[w]);
            /* A unit of count 0 has nothing to give. */
            MYR_SLOW_ASSERT(count <= b->most && b->first[count] != MYR_NONE);
            return count ? b->first[count] : MYR_NONE;
        }
    }
    return MYR_NONE;
}

/* A whole node becomes free, or is free no more: one counter a level. */
static void count_node(struct myr_placer *p, uint32_t node, bool in)
{
    MYR_SLOW_ASSERT(p->free_mask[node] == p->whole && !p->closed[node]);
    /* UINT32_MAX is minus one. */
    uint32_t one = in ? 1U : UINT32_MAX;
    p->free_nodes += one;
    MYR_ASSERT(p->free_nodes <= p->shape.nodes);
    p->free_words[node / 64] ^= UINT64_C(1) << node % 64;
    MYR_ASSERT(index_is_free(p, node) == in);
    MYR_SLOW_ASSERT(in || p->domain_free[p->domain_of[node]] > 0);
    p->domain_free[p->domain_of[node]] += one;
    bucket_change(&p->by_group, p->group_of[node], one);
    bucket_change(&p->by_pod, p->pod_of[node], one);
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (p->zones[z].units) {
            p->zones[z].free[p->zones[z].unit_of[node]] += one;
        }
    }
}

/* All nodes are free: counted at once, which is a fifth of the work of one after the other. */
static void fill(struct myr_placer *p)
{
    /* Counters instead of divisions: this runs for every node. */
    uint32_t nodes = p->shape.nodes, in_group = 0, in_pod = 0, group = 0, pod = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        p->group_of[node] = group;
        p->pod_of[node] = pod;
        p->domain_of[node] = node;
        p->domain_free[node] = 1;
        p->free_mask[node] = p->whole;
        in_group = in_group + 1 == p->shape.group_nodes ? 0 : in_group + 1;
        in_pod = in_pod + 1 == p->shape.pod_nodes ? 0 : in_pod + 1;
        group += in_group == 0;
        pod += in_pod == 0;
    }
    MYR_ASSERT(group + (in_group > 0) == p->groups);
    MYR_ASSERT(pod + (in_pod > 0) == p->pods);
    memset(p->free_words, 0xff, (size_t)(nodes / 64) * sizeof(uint64_t));
    /* There is a word for the rest even where the nodes fill whole words: it is 0 then. */
    p->free_words[nodes / 64] = (UINT64_C(1) << nodes % 64) - 1;
    p->free_nodes = nodes;
    buckets_fill(&p->by_group, nodes, p->shape.group_nodes);
    buckets_fill(&p->by_pod, nodes, p->shape.pod_nodes);
}

struct myr_placer *myr_placer_create(const struct myr_place_shape *shape)
{
    struct myr_placer *p = myr_xcalloc(1, sizeof(*p));
    MYR_ASSERT(shape->gpus_per_node > 0);
    MYR_ASSERT(shape->gpus_per_node <= MYR_SCHED_GPUS_MAX);
    MYR_ASSERT(shape->group_nodes > 0);
    MYR_ASSERT(shape->nodes > 0);
    p->shape = *shape;
    /* Without pods a pod is one leaf. */
    if (p->shape.pod_nodes < p->shape.group_nodes) {
        p->shape.pod_nodes = p->shape.group_nodes;
    }
    /* Leaves do not lie in two pods: the only pod of a part-filled fabric has room for more. */
    uint32_t leaves = (p->shape.pod_nodes + p->shape.group_nodes - 1) / p->shape.group_nodes;
    p->shape.pod_nodes = leaves * p->shape.group_nodes;
    p->groups = (shape->nodes + shape->group_nodes - 1) / shape->group_nodes;
    p->pods = (shape->nodes + p->shape.pod_nodes - 1) / p->shape.pod_nodes;
    /* A shift by 64 is not defined. */
    p->whole = shape->gpus_per_node == 64 ? UINT64_MAX : (UINT64_C(1) << shape->gpus_per_node) - 1;
    p->free_mask = myr_xcalloc(shape->nodes, sizeof(uint64_t));
    p->closed = myr_xcalloc(shape->nodes, 1);
    p->kind = myr_xcalloc(shape->nodes, 1);
    /* One word more than needed where nodes fill whole words: walks need no special case. */
    p->free_words = myr_xcalloc((size_t)shape->nodes / 64 + 1, sizeof(uint64_t));
    p->group_of = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->pod_of = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->domain_of = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    /* By domain; at first each node is one, and never are there more. */
    p->domain_free = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->node_penalty = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->group_penalty = myr_xcalloc(p->groups, sizeof(uint32_t));
    p->partial_next = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->partial_previous = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    for (uint32_t k = 0; k <= MYR_SCHED_GPUS_MAX; k++) {
        p->partial_first[k] = MYR_NONE;
    }
    buckets_init(&p->by_group, p->groups, shape->group_nodes);
    buckets_init(&p->by_pod, p->pods, p->shape.pod_nodes);
    p->domain_nodes = 1;
    fill(p);
    p->domains = shape->nodes;
    p->free_gpus = shape->nodes * shape->gpus_per_node;
    return p;
}

void myr_placer_free(struct myr_placer *p)
{
    if (p) {
        buckets_done(&p->by_group);
        buckets_done(&p->by_pod);
        free(p->free_mask);
        free(p->free_words);
        free(p->closed);
        free(p->kind);
        free(p->group_of);
        free(p->pod_of);
        free(p->domain_of);
        free(p->domain_free);
        free(p->node_penalty);
        free(p->group_penalty);
        for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
            free(p->zones[z].unit_of);
            free(p->zones[z].free);
        }
        scratch_free(p->scratch);
        free(p->partial_next);
        free(p->partial_previous);
        free(p);
    }
}

/* Takes a node out of, or puts it into, whatever list its free GPUs put it in. */
static void list_node(struct myr_placer *p, uint32_t node, bool in)
{
    MYR_SLOW_ASSERT(node < p->shape.nodes);
    uint32_t count = index_free_on(p, node);
    /* Every change goes through here twice, or through index_take_whole(). */
    p->version++;
    /* What is closed or full is in no list and counts as nothing. */
    if (p->closed[node] || count == 0) {
        return;
    }
    p->free_gpus += in ? count : 0 - count;
    MYR_SLOW_ASSERT(p->free_gpus <= p->shape.nodes * p->shape.gpus_per_node);
    /* Whole nodes are counted by unit, others are listed by what is free on them. */
    if (count == p->shape.gpus_per_node) {
        count_node(p, node, in);
        return;
    }
    MYR_SLOW_ASSERT(count < p->shape.gpus_per_node);
    uint32_t *first = &p->partial_first[count];
    if (in) {
        p->partial_next[node] = *first;
        p->partial_previous[node] = MYR_NONE;
        if (*first != MYR_NONE) {
            p->partial_previous[*first] = node;
        }
        *first = node;
        p->partial_occupied[count / 64] |= UINT64_C(1) << count % 64;
        return;
    }
    MYR_SLOW_ASSERT(node == (p->partial_previous[node] == MYR_NONE
                                 ? *first
                                 : p->partial_next[p->partial_previous[node]]));
    if (p->partial_next[node] != MYR_NONE) {
        p->partial_previous[p->partial_next[node]] = p->partial_previous[node];
    }
    if (p->partial_previous[node] != MYR_NONE) {
        p->partial_next[p->partial_previous[node]] = p->partial_next[node];
    } else {
        *first = p->partial_next[node];
    }
    if (*first == MYR_NONE) {
        p->partial_occupied[count / 64] &= ~(UINT64_C(1) << count % 64);
    }
}

void index_set_mask(struct myr_placer *p, uint32_t node, uint64_t mask)
{
    MYR_ASSERT((mask & ~p->whole) == 0);
    MYR_ASSERT(node < p->shape.nodes);
    list_node(p, node, false);
    p->free_mask[node] = mask;
    list_node(p, node, true);
    MYR_SLOW_ASSERT(p->free_nodes <= p->shape.nodes);
}

void index_take_whole(struct myr_placer *p, const uint32_t *nodes, uint32_t count)
{
    /*
     * Nodes of a leaf and of a pod are neighbours here: their buckets
     * change once for all of them.
     */
    for (uint32_t i = 0, in_leaf = 0, in_pod = 0; i < count; i++) {
        uint32_t node = nodes[i], leaf = p->group_of[node], pod = p->pod_of[node];
        MYR_ASSERT(index_is_free(p, node));
        MYR_SLOW_ASSERT(node < p->shape.nodes && p->domain_free[p->domain_of[node]] > 0);
        MYR_SLOW_ASSERT(p->free_mask[node] == p->whole);
        p->free_mask[node] = 0;
        p->free_words[node / 64] ^= UINT64_C(1) << node % 64;
        p->domain_free[p->domain_of[node]]--;
        for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
            if (p->zones[z].units) {
                p->zones[z].free[p->zones[z].unit_of[node]]--;
            }
        }
        in_leaf++;
        in_pod++;
        bool last = i + 1 == count;
        if (last || p->group_of[nodes[i + 1]] != leaf) {
            bucket_change(&p->by_group, leaf, 0 - in_leaf);
            in_leaf = 0;
        }
        if (last || p->pod_of[nodes[i + 1]] != pod) {
            bucket_change(&p->by_pod, pod, 0 - in_pod);
            in_pod = 0;
        }
    }
    MYR_ASSERT(p->free_nodes >= count);
    MYR_ASSERT(p->free_gpus >= count * p->shape.gpus_per_node);
    p->free_nodes -= count;
    p->free_gpus -= count * p->shape.gpus_per_node;
    p->version++;
}

/* Open with the last reason gone; a node with several stays out of the lists. */
static void close_node(struct myr_placer *p, uint32_t node, uint8_t bit, bool closed)
{
    MYR_ASSERT(node < p->shape.nodes);
    MYR_ASSERT(bit == PLACER_SHUT || bit == PLACER_HELD);
    list_node(p, node, false);
    p->closed[node] = (uint8_t)(closed ? p->closed[node] | bit : p->closed[node] & ~bit);
    list_node(p, node, true);
}

void myr_placer_set_node(struct myr_placer *p, uint32_t node, bool usable)
{
    close_node(p, node, PLACER_SHUT, !usable);
}

void myr_placer_hold(struct myr_placer *p, uint32_t node, bool held)
{
    close_node(p, node, PLACER_HELD, held);
}

void myr_placer_set_domain(struct myr_placer *p, uint32_t nodes)
{
    MYR_ASSERT(nodes > 0);
    p->domain_nodes = nodes;
    /* Counted anew: nodes may be in use when domains are set. */
    memset(p->domain_free, 0, p->shape.nodes * sizeof(uint32_t));
    /* One before 0: the first node is an edge and makes it 0. */
    uint32_t domain = MYR_NONE;
    for (uint32_t node = 0; node < p->shape.nodes; node++) {
        /* A domain that reaches over a leaf's edge counts as two: levels nest. */
        bool edge = node % nodes == 0 || node % p->shape.group_nodes == 0;
        domain += edge;
        MYR_SLOW_ASSERT(domain <= node);
        p->domain_of[node] = domain;
        p->domain_free[domain] += index_is_free(p, node);
    }
    p->domains = domain + 1;
    /* Each lies in one leaf, and is as large as was said at the most. */
    MYR_ASSERT(p->domains >= p->groups);
    MYR_ASSERT(p->domains <= p->shape.nodes);
    p->version++;
}

void myr_placer_set_zone(struct myr_placer *p, enum myr_zone zone, const uint32_t *unit_of)
{
    struct zone *it = &p->zones[zone];
    free(it->unit_of);
    free(it->free);
    MYR_ASSERT((uint32_t)zone < MYR_ZONE_COUNT);
    it->unit_of = myr_xcalloc(p->shape.nodes, sizeof(uint32_t));
    it->units = 0;
    for (uint32_t node = 0; node < p->shape.nodes; node++) {
        MYR_ASSERT(unit_of[node] < p->shape.nodes);
        it->unit_of[node] = unit_of[node];
        /* Units are numbered from 0 by the caller; one that no node is in has none free. */
        it->units = unit_of[node] >= it->units ? unit_of[node] + 1 : it->units;
    }
    MYR_ASSERT(it->units > 0);
    MYR_ASSERT(it->units <= p->shape.nodes);
    p->version++;
    it->free = myr_xcalloc(it->units, sizeof(uint32_t));
    for (uint32_t node = 0; node < p->shape.nodes; node++) {
        it->free[unit_of[node]] += index_is_free(p, node);
    }
}

uint32_t myr_placer_zone_free(const struct myr_placer *p, enum myr_zone zone, uint32_t unit)
{
    MYR_ASSERT(unit < p->zones[zone].units);
    MYR_ASSERT(p->zones[zone].free[unit] <= p->free_nodes);
    return p->zones[zone].free[unit];
}

struct myr_placer *myr_placer_grow(struct myr_placer *old, const struct myr_place_shape *shape)
{
    /*
     * A new one is filled from the old one node by node; the caller's pointer is the new one's
     * then.
     */
    struct myr_placer *p = myr_placer_create(shape);
    MYR_ASSERT(shape->nodes >= old->shape.nodes);
    MYR_ASSERT(p->whole == old->whole);
    MYR_ASSERT(p->shape.group_nodes == old->shape.group_nodes);
    MYR_ASSERT(p->groups >= old->groups);
    p->plain = old->plain;
    /* Domains of one node are what a new placer has. */
    if (old->domain_nodes > 1) {
        myr_placer_set_domain(p, old->domain_nodes);
    }
    for (uint32_t node = 0; node < old->shape.nodes; node++) {
        list_node(p, node, false);
        p->free_mask[node] = old->free_mask[node];
        p->closed[node] = old->closed[node];
        list_node(p, node, true);
        p->kind[node] = old->kind[node];
        myr_placer_set_penalty(p, node, old->node_penalty[node]);
    }
    for (uint32_t g = 0; g < old->groups; g++) {
        myr_placer_set_leaf_penalty(p, g, old->group_penalty[g]);
    }
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (old->zones[z].units) {
            uint32_t *unit_of = myr_xcalloc(shape->nodes, sizeof(uint32_t));
            for (uint32_t node = 0; node < shape->nodes; node++) {
                /* New ones stand alone until somebody says where they stand. */
                unit_of[node] = node < old->shape.nodes ? old->zones[z].unit_of[node] : node;
            }
            myr_placer_set_zone(p, (enum myr_zone)z, unit_of);
            free(unit_of);
        }
    }
    p->version += old->version + 1; /* never one that was there before */
    MYR_ASSERT(p->free_nodes >= old->free_nodes);
    MYR_ASSERT(p->penalised == old->penalised);
    MYR_SLOW_ASSERT(placer_is_sound(p));
    myr_placer_free(old);
    return p;
}

void myr_placer_set_kind(struct myr_placer *p, uint32_t node, uint8_t kind)
{
    MYR_ASSERT(node < p->shape.nodes);
    p->kind[node] = kind;
    p->version++;
}

/* Counts those that are not zero. */
static void set_penalty(struct myr_placer *p, uint32_t *at, uint32_t milli)
{
    /* Bounded, so that costs stay far from overflow. */
    milli = milli < MYR_PENALTY_MAX ? milli : MYR_PENALTY_MAX;
    /* So that a search without penalties need not look at them. */
    p->penalised += (uint32_t)(milli != 0) - (uint32_t)(*at != 0);
    MYR_ASSERT(p->penalised <= p->shape.nodes + p->groups);
    MYR_ASSERT(milli <= MYR_PENALTY_MAX);
    *at = milli;
}

void myr_placer_set_penalty(struct myr_placer *p, uint32_t node, uint32_t milli)
{
    MYR_ASSERT(node < p->shape.nodes);
    set_penalty(p, &p->node_penalty[node], milli);
}

void myr_placer_set_leaf_penalty(struct myr_placer *p, uint32_t leaf, uint32_t milli)
{
    MYR_ASSERT(leaf < p->groups);
    set_penalty(p, &p->group_penalty[leaf], milli);
}

/* Bounded, so that one bad figure does not outweigh everything else. */
static double between(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

/* In thousandths; the formula is in docs/sched.md under the cost. */
uint32_t myr_condition_penalty(const struct myr_condition *condition)
{
    double load = between(condition->link_load, 0, 1);
    double flaps = between(condition->flaps_per_day / 20, 0, 1);
    double lacking = between(1 - condition->power_headroom / 0.1, 0, 1);
    return (uint32_t)(1000 * (load * load + flaps + 0.5 * lacking) + 0.5);
}

bool myr_placer_is_open(const struct myr_placer *p, uint32_t node)
{
    MYR_ASSERT(node < p->shape.nodes);
    return p->closed[node] == 0;
}

uint64_t myr_placer_free_mask(const struct myr_placer *p, uint32_t node)
{
    MYR_SLOW_ASSERT(node < p->shape.nodes);
    return p->free_mask[node];
}

uint32_t myr_placer_free_gpus(const struct myr_placer *p)
{
    return p->free_gpus;
}

uint32_t myr_placer_free_nodes(const struct myr_placer *p)
{
    return p->free_nodes;
}
