#include "myriad/sched/place.h"

#include <stdlib.h>

enum { LOOK_MAX = 64 }; /* nodes compared for one small job */

/* Units (groups, pods) by how many whole nodes are free in them. */
struct buckets {
    uint32_t units, most; /* counts run from 0 to most */
    uint32_t *count;      /* by unit: free nodes */
    uint32_t *first;      /* by count: a unit, or MYR_NONE */
    uint32_t *next, *previous;
    uint64_t *occupied; /* bit by count */
};

struct myr_placer {
    struct myr_place_shape shape;
    uint32_t groups, pods;
    uint64_t whole;      /* mask of a free node */
    uint64_t *free_mask; /* by node */
    uint8_t *closed;     /* by node: not usable, or held */
    uint32_t free_gpus, free_nodes;
    struct buckets by_group, by_pod;
    /* Nodes with k free GPUs, 0 < k < all, as lists. */
    uint32_t partial_first[MYR_SCHED_GPUS_MAX + 1];
    uint32_t *partial_next, *partial_previous;
    uint64_t partial_occupied[2];
};

static void bucket_put(struct buckets *b, uint32_t unit)
{
    uint32_t count = b->count[unit];
    b->next[unit] = b->first[count];
    b->previous[unit] = MYR_NONE;
    if (b->first[count] != MYR_NONE) {
        b->previous[b->first[count]] = unit;
    }
    b->first[count] = unit;
    b->occupied[count / 64] |= UINT64_C(1) << count % 64;
}

static void bucket_take(struct buckets *b, uint32_t unit)
{
    uint32_t count = b->count[unit];
    if (b->next[unit] != MYR_NONE) {
        b->previous[b->next[unit]] = b->previous[unit];
    }
    if (b->previous[unit] != MYR_NONE) {
        b->next[b->previous[unit]] = b->next[unit];
    } else {
        b->first[count] = b->next[unit];
    }
    if (b->first[count] == MYR_NONE) {
        b->occupied[count / 64] &= ~(UINT64_C(1) << count % 64);
    }
}

static void buckets_init(struct buckets *b, uint32_t units, uint32_t most)
{
    *b = (struct buckets){.units = units, .most = most};
    b->count = myr_xcalloc(units, sizeof(uint32_t));
    b->next = myr_xcalloc(units, sizeof(uint32_t));
    b->previous = myr_xcalloc(units, sizeof(uint32_t));
    b->first = myr_xcalloc((size_t)most + 1, sizeof(uint32_t));
    b->occupied = myr_xcalloc(most / 64 + 1, sizeof(uint64_t));
    for (uint32_t i = 0; i <= most; i++) {
        b->first[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < units; i++) {
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

static void bucket_change(struct buckets *b, uint32_t unit, bool more)
{
    bucket_take(b, unit);
    b->count[unit] += more ? 1U : UINT32_MAX;
    MYR_ASSERT(b->count[unit] <= b->most);
    bucket_put(b, unit);
}

/* A unit with the least count that is at least 'wanted'; MYR_NONE when none has it. */
static uint32_t bucket_best(const struct buckets *b, uint32_t wanted)
{
    if (wanted > b->most) {
        return MYR_NONE;
    }
    for (uint32_t w = wanted / 64; w <= b->most / 64; w++) {
        uint64_t bits = b->occupied[w];
        bits &= w == wanted / 64 ? UINT64_MAX << wanted % 64 : UINT64_MAX;
        if (bits) {
            return b->first[w * 64 + (uint32_t)__builtin_ctzll(bits)];
        }
    }
    return MYR_NONE;
}

/* A unit with the greatest count. */
static uint32_t bucket_fullest(const struct buckets *b)
{
    for (uint32_t w = b->most / 64 + 1; w-- > 0;) {
        if (b->occupied[w]) {
            uint32_t count = w * 64 + 63 - (uint32_t)__builtin_clzll(b->occupied[w]);
            return count ? b->first[count] : MYR_NONE;
        }
    }
    return MYR_NONE;
}

struct myr_place_shape myr_place_shape_of(const struct myr_design *design)
{
    const struct myr_network *net = &design->networks[MYR_NET_COMPUTE];
    struct myr_place_shape shape = {.nodes = design->head->nodes,
                                    .gpus_per_node = design->head->gpus_per_node};
    shape.group_nodes = net->group_nodes ? net->group_nodes : shape.nodes;
    uint32_t groups =
        net->rails && net->pod_leaves >= net->rails ? net->pod_leaves / net->rails : 1;
    shape.pod_nodes = net->tiers == 3 ? shape.group_nodes * groups : shape.nodes;
    return shape;
}

struct myr_placer *myr_placer_create(const struct myr_place_shape *shape)
{
    struct myr_placer *p = myr_xcalloc(1, sizeof(*p));
    MYR_ASSERT(shape->gpus_per_node > 0 && shape->gpus_per_node <= MYR_SCHED_GPUS_MAX);
    MYR_ASSERT(shape->group_nodes > 0 && shape->nodes > 0);
    p->shape = *shape;
    if (p->shape.pod_nodes < p->shape.group_nodes) {
        p->shape.pod_nodes = p->shape.group_nodes;
    }
    p->groups = (shape->nodes + shape->group_nodes - 1) / shape->group_nodes;
    p->pods = (shape->nodes + p->shape.pod_nodes - 1) / p->shape.pod_nodes;
    p->whole = shape->gpus_per_node == 64 ? UINT64_MAX : (UINT64_C(1) << shape->gpus_per_node) - 1;
    p->free_mask = myr_xcalloc(shape->nodes, sizeof(uint64_t));
    p->closed = myr_xcalloc(shape->nodes, 1);
    p->partial_next = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    p->partial_previous = myr_xcalloc(shape->nodes, sizeof(uint32_t));
    for (uint32_t k = 0; k <= MYR_SCHED_GPUS_MAX; k++) {
        p->partial_first[k] = MYR_NONE;
    }
    buckets_init(&p->by_group, p->groups, shape->group_nodes);
    buckets_init(&p->by_pod, p->pods, p->shape.pod_nodes);
    for (uint32_t node = 0; node < shape->nodes; node++) {
        p->free_mask[node] = p->whole;
        bucket_change(&p->by_group, node / shape->group_nodes, true);
        bucket_change(&p->by_pod, node / p->shape.pod_nodes, true);
    }
    p->free_nodes = shape->nodes;
    p->free_gpus = shape->nodes * shape->gpus_per_node;
    return p;
}

void myr_placer_free(struct myr_placer *p)
{
    if (p) {
        buckets_done(&p->by_group);
        buckets_done(&p->by_pod);
        free(p->free_mask);
        free(p->closed);
        free(p->partial_next);
        free(p->partial_previous);
        free(p);
    }
}

static uint32_t free_on(const struct myr_placer *p, uint32_t node)
{
    return (uint32_t)__builtin_popcountll(p->free_mask[node]);
}

/* Takes a node out of, or puts it into, whatever list its free GPUs put it in. */
static void list_node(struct myr_placer *p, uint32_t node, bool in)
{
    uint32_t count = free_on(p, node);
    if (p->closed[node] || count == 0) {
        return;
    }
    p->free_gpus += in ? count : 0 - count;
    if (count == p->shape.gpus_per_node) {
        p->free_nodes += in ? 1U : UINT32_MAX;
        bucket_change(&p->by_group, node / p->shape.group_nodes, in);
        bucket_change(&p->by_pod, node / p->shape.pod_nodes, in);
        return;
    }
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

static void set_mask(struct myr_placer *p, uint32_t node, uint64_t mask)
{
    list_node(p, node, false);
    p->free_mask[node] = mask;
    list_node(p, node, true);
}

/* The lowest 'gpus' free GPUs of a node. */
static uint64_t lowest(uint64_t mask, uint32_t gpus)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < gpus; i++) {
        uint64_t bit = mask & (0 - mask);
        taken |= bit;
        mask ^= bit;
    }
    return taken;
}

/* Among nodes with the same free GPUs, one in the group with the fewest whole free nodes. */
static uint32_t in_fullest_group(const struct myr_placer *p, uint32_t first)
{
    uint32_t best = first, looked = 0;
    for (uint32_t n = first; n != MYR_NONE && looked < LOOK_MAX; n = p->partial_next[n], looked++) {
        uint32_t count = p->by_group.count[n / p->shape.group_nodes];
        uint32_t least = p->by_group.count[best / p->shape.group_nodes];
        if (count < least || (count == least && n < best)) {
            best = n;
        }
    }
    return best;
}

/* The node with the fewest free GPUs that suffice; a whole one only when no other does. */
static uint32_t best_node(const struct myr_placer *p, uint32_t gpus)
{
    for (uint32_t k = gpus; k < p->shape.gpus_per_node; k++) {
        if (p->partial_occupied[k / 64] >> k % 64 & 1) {
            return in_fullest_group(p, p->partial_first[k]);
        }
    }
    uint32_t group = bucket_best(&p->by_group, 1);
    if (group == MYR_NONE) {
        return MYR_NONE;
    }
    uint32_t first = group * p->shape.group_nodes, end = first + p->shape.group_nodes;
    end = end < p->shape.nodes ? end : p->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (p->free_mask[node] == p->whole && !p->closed[node]) {
            return node;
        }
    }
    return MYR_NONE;
}

/* The remainder of a gang: a node of the same group, the fullest that holds it. */
static uint32_t near_node(const struct myr_placer *p, uint32_t beside, uint32_t gpus)
{
    uint32_t first = beside / p->shape.group_nodes * p->shape.group_nodes;
    uint32_t end = first + p->shape.group_nodes, best = MYR_NONE;
    end = end < p->shape.nodes ? end : p->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (!p->closed[node] && free_on(p, node) >= gpus &&
            (best == MYR_NONE || free_on(p, node) < free_on(p, best))) {
            best = node;
        }
    }
    return best;
}

static void take(struct myr_placer *p, uint32_t node, uint64_t mask, struct myr_gang *gang)
{
    MYR_ASSERT((p->free_mask[node] & mask) == mask);
    set_mask(p, node, p->free_mask[node] & ~mask);
    gang->shares[gang->count++] = (struct myr_share){node, mask};
}

static void take_from_group(struct myr_placer *p, uint32_t group, uint32_t nodes,
                            struct myr_gang *gang)
{
    uint32_t node = group * p->shape.group_nodes;
    while (nodes > 0) {
        if (p->free_mask[node] == p->whole && !p->closed[node]) {
            take(p, node, p->whole, gang);
            nodes--;
        }
        node++;
    }
}

/* As few groups of a pod as possible: the freest first, the rest into the fullest that holds it. */
static void take_from_pod(struct myr_placer *p, uint32_t pod, uint32_t nodes, struct myr_gang *gang)
{
    uint32_t per_pod = p->shape.pod_nodes / p->shape.group_nodes;
    uint32_t first = pod * per_pod;
    uint32_t end = first + per_pod < p->groups ? first + per_pod : p->groups;
    while (nodes > 0) {
        uint32_t best = MYR_NONE, freest = first;
        for (uint32_t g = first; g < end; g++) {
            uint32_t count = p->by_group.count[g];
            if (count >= nodes && (best == MYR_NONE || count < p->by_group.count[best])) {
                best = g;
            }
            freest = count > p->by_group.count[freest] ? g : freest;
        }
        uint32_t group = best == MYR_NONE ? freest : best;
        uint32_t count = p->by_group.count[group] < nodes ? p->by_group.count[group] : nodes;
        MYR_ASSERT(count > 0);
        take_from_group(p, group, count, gang);
        nodes -= count;
    }
}

static void take_nodes(struct myr_placer *p, uint32_t nodes, struct myr_gang *gang)
{
    uint32_t group = bucket_best(&p->by_group, nodes);
    if (group != MYR_NONE) {
        take_from_group(p, group, nodes, gang);
        return;
    }
    while (nodes > 0) {
        uint32_t pod = bucket_best(&p->by_pod, nodes);
        pod = pod == MYR_NONE ? bucket_fullest(&p->by_pod) : pod;
        MYR_ASSERT(pod != MYR_NONE);
        uint32_t count = p->by_pod.count[pod] < nodes ? p->by_pod.count[pod] : nodes;
        take_from_pod(p, pod, count, gang);
        nodes -= count;
    }
}

uint32_t myr_place_nodes(const struct myr_placer *p, uint32_t gpus)
{
    return (gpus + p->shape.gpus_per_node - 1) / p->shape.gpus_per_node;
}

bool myr_place_fits(const struct myr_placer *p, uint32_t gpus)
{
    uint32_t whole = gpus / p->shape.gpus_per_node, rest = gpus % p->shape.gpus_per_node;
    if (p->free_nodes < whole) {
        return false;
    }
    if (rest == 0 || p->free_nodes > whole) {
        return true;
    }
    for (uint32_t k = rest; k < p->shape.gpus_per_node; k++) {
        if (p->partial_occupied[k / 64] >> k % 64 & 1) {
            return true;
        }
    }
    return false;
}

bool myr_place_fits_group(const struct myr_placer *p, uint32_t gpus)
{
    uint32_t nodes = myr_place_nodes(p, gpus), per = p->shape.group_nodes;
    uint32_t full = nodes / per, rest = nodes % per, whole_groups = 0;
    if (full == 0) {
        return bucket_best(&p->by_group, rest) != MYR_NONE;
    }
    for (uint32_t g = p->by_group.first[per]; g != MYR_NONE && whole_groups <= full;
         g = p->by_group.next[g]) {
        whole_groups++;
    }
    return whole_groups > full || (whole_groups == full && rest == 0) ||
           (whole_groups == full && bucket_best(&p->by_group, rest) != MYR_NONE);
}

bool myr_place(struct myr_placer *p, uint32_t gpus, struct myr_gang *ret)
{
    uint32_t whole = gpus / p->shape.gpus_per_node, rest = gpus % p->shape.gpus_per_node;
    MYR_ASSERT(gpus > 0);
    ret->count = 0;
    if (!myr_place_fits(p, gpus)) {
        return false;
    }
    if (whole) {
        take_nodes(p, whole, ret);
    }
    if (rest) {
        uint32_t node = whole ? near_node(p, ret->shares[ret->count - 1].node, rest) : MYR_NONE;
        node = node == MYR_NONE ? best_node(p, rest) : node;
        MYR_ASSERT(node != MYR_NONE);
        take(p, node, lowest(p->free_mask[node], rest), ret);
    }
    return true;
}

void myr_place_take(struct myr_placer *p, uint32_t node, uint64_t gpus)
{
    MYR_ASSERT(node < p->shape.nodes && (p->free_mask[node] & gpus) == gpus);
    set_mask(p, node, p->free_mask[node] & ~gpus);
}

void myr_release(struct myr_placer *p, const struct myr_gang *gang)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct myr_share *share = &gang->shares[i];
        MYR_ASSERT((p->free_mask[share->node] & share->gpus) == 0);
        set_mask(p, share->node, p->free_mask[share->node] | share->gpus);
    }
}

static void close_node(struct myr_placer *p, uint32_t node, uint8_t bit, bool closed)
{
    list_node(p, node, false);
    p->closed[node] = (uint8_t)(closed ? p->closed[node] | bit : p->closed[node] & ~bit);
    list_node(p, node, true);
}

void myr_placer_set_node(struct myr_placer *p, uint32_t node, bool usable)
{
    close_node(p, node, 1, !usable);
}

void myr_placer_hold(struct myr_placer *p, uint32_t node, bool held)
{
    close_node(p, node, 2, held);
}

uint64_t myr_placer_free_mask(const struct myr_placer *p, uint32_t node)
{
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

uint32_t myr_gang_groups(const struct myr_placer *p, const struct myr_gang *gang)
{
    uint32_t groups = 0, last = MYR_NONE;
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t group = gang->shares[i].node / p->shape.group_nodes;
        bool seen = group == last;
        for (uint32_t k = 0; !seen && k < i; k++) {
            seen = gang->shares[k].node / p->shape.group_nodes == group;
        }
        groups += !seen;
        last = group;
    }
    return groups;
}
