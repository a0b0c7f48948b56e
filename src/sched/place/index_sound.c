#include <stdlib.h>

#include "place/index.h"

/*
 * Whether a placer that was read can be worked with: every number is what the free GPUs say, and
 * every list is whole. Checked without the code that builds them.
 */

/* Sizes that everything else is counted by. */
static bool shape_sound(const struct myr_placer *p)
{
    const struct myr_place_shape *s = &p->shape;
    /* Limits are those of what can be created; without them the sums below could overflow. */
    if (s->nodes == 0 || s->nodes > 1U << 24 || s->gpus_per_node == 0 ||
        s->gpus_per_node > MYR_SCHED_GPUS_MAX || s->group_nodes == 0 || s->group_nodes > 1U << 24 ||
        s->pod_nodes < s->group_nodes || s->pod_nodes > 1U << 25 ||
        s->pod_nodes % s->group_nodes != 0) {
        return false;
    }
    uint64_t whole = UINT64_MAX >> (64 - s->gpus_per_node);
    /* Read as a byte: a bool with another value in it is not defined to read. */
    uint8_t plain;
    memcpy(&plain, &p->plain, 1);
    return p->groups == (s->nodes + s->group_nodes - 1) / s->group_nodes &&
           p->pods == (s->nodes + s->pod_nodes - 1) / s->pod_nodes && p->domains > 0 &&
           p->domains <= s->nodes && p->domain_nodes > 0 && p->whole == whole && plain <= 1 &&
           p->by_group.units == p->groups && p->by_group.most == s->group_nodes &&
           p->by_pod.units == p->pods && p->by_pod.most == s->pod_nodes;
}

/* As the index counts nodes: open, and all GPUs free. */
static bool is_whole(const struct myr_placer *p, uint32_t node)
{
    return !p->closed[node] && p->free_mask[node] == p->whole;
}

/* Node by node; returns false, or sums up what is free. */
static bool nodes_sound(const struct myr_placer *p, uint64_t *ret_gpus, uint64_t *ret_nodes)
{
    *ret_gpus = *ret_nodes = 0;
    for (uint32_t n = 0; n < p->shape.nodes; n++) {
        bool whole = is_whole(p, n);
        /* Domains are runs with numbers that go up by one; before the first node stands -1. */
        uint32_t domain = p->domain_of[n], before = n ? p->domain_of[n - 1] : MYR_NONE;
        if ((p->free_mask[n] & ~p->whole) || index_is_free(p, n) != whole || p->closed[n] > 3 ||
            p->group_of[n] != n / p->shape.group_nodes || p->pod_of[n] != n / p->shape.pod_nodes ||
            domain >= p->domains || (domain != before && domain != before + 1)) {
            return false;
        }
        *ret_gpus += p->closed[n] ? 0 : index_free_on(p, n);
        *ret_nodes += whole;
    }
    return p->domain_of[p->shape.nodes - 1] + 1 == p->domains;
}

/* The units of one partition have as many free nodes as is said. */
static bool counts_sound(const struct myr_placer *p, const uint32_t *unit_of, uint32_t units,
                         const uint32_t *free_nodes)
{
    uint32_t *count = myr_xcalloc(units, sizeof(uint32_t));
    bool inside = true;
    for (uint32_t n = 0; n < p->shape.nodes && inside; n++) {
        inside = unit_of[n] < units;
        if (inside) {
            count[unit_of[n]] += is_whole(p, n);
        }
    }
    bool sound = inside && memcmp(count, free_nodes, units * sizeof(uint32_t)) == 0;
    free(count);
    return sound;
}

/* Every unit is in the list of its count, once. */
static bool buckets_sound(const struct buckets *b)
{
    uint32_t seen = 0;
    /* A list that runs in a circle ends when it has more units than there are. */
    for (uint32_t c = 0; c <= b->most; c++) {
        uint32_t previous = MYR_NONE;
        bool occupied = b->occupied[c / 64] >> c % 64 & 1;
        if (occupied != (b->first[c] != MYR_NONE)) {
            return false;
        }
        for (uint32_t u = b->first[c]; u != MYR_NONE; u = b->next[u]) {
            if (u >= b->units || b->count[u] != c || b->previous[u] != previous ||
                ++seen > b->units) {
                return false;
            }
            previous = u;
        }
    }
    /* Bits beyond the last count would lead the search outside. */
    uint32_t last = b->most / 64;
    uint64_t beyond = b->most % 64 == 63 ? 0 : UINT64_MAX << (b->most % 64 + 1);
    return seen == b->units && !(b->occupied[last] & beyond);
}

/* The same for nodes that are partly free. */
static bool partials_sound(const struct myr_placer *p)
{
    uint32_t seen = 0, there = 0;
    /* Counted from the masks first, so that none is missing in the lists. */
    for (uint32_t n = 0; n < p->shape.nodes; n++) {
        uint32_t k = index_free_on(p, n);
        there += !p->closed[n] && k > 0 && k < p->shape.gpus_per_node;
    }
    for (uint32_t k = 0; k <= MYR_SCHED_GPUS_MAX; k++) {
        uint32_t previous = MYR_NONE;
        bool occupied = p->partial_occupied[k / 64] >> k % 64 & 1;
        if (occupied != (p->partial_first[k] != MYR_NONE)) {
            return false;
        }
        for (uint32_t n = p->partial_first[k]; n != MYR_NONE; n = p->partial_next[n]) {
            if (n >= p->shape.nodes || k == 0 || k >= p->shape.gpus_per_node || p->closed[n] ||
                index_free_on(p, n) != k || p->partial_previous[n] != previous || ++seen > there) {
                return false;
            }
            previous = n;
        }
    }
    return seen == there && p->partial_occupied[1] <= 1;
}

static bool zones_sound(const struct myr_placer *p)
{
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        const struct zone *zone = &p->zones[z];
        if (zone->units > p->shape.nodes ||
            (zone->units && !counts_sound(p, zone->unit_of, zone->units, zone->free))) {
            return false;
        }
    }
    return true;
}

static bool penalties_sound(const struct myr_placer *p)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < p->shape.nodes; n++) {
        count += p->node_penalty[n] != 0;
    }
    for (uint32_t g = 0; g < p->groups; g++) {
        count += p->group_penalty[g] != 0;
    }
    return count == p->penalised;
}

bool placer_is_sound(const struct myr_placer *p)
{
    uint64_t gpus, nodes;
    /* Bits of free words beyond the last node would be nodes that there are not. */
    if (!shape_sound(p) || !nodes_sound(p, &gpus, &nodes) || gpus != p->free_gpus ||
        nodes != p->free_nodes || (p->free_words[p->shape.nodes / 64] >> p->shape.nodes % 64)) {
        return false;
    }
    return counts_sound(p, p->group_of, p->groups, p->by_group.count) &&
           counts_sound(p, p->pod_of, p->pods, p->by_pod.count) &&
           counts_sound(p, p->domain_of, p->domains, p->domain_free) &&
           buckets_sound(&p->by_group) && buckets_sound(&p->by_pod) && partials_sound(p) &&
           zones_sound(p) && penalties_sound(p);
}
