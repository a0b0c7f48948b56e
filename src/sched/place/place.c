#include "place/index.h"

/*
 * Placing by a number of GPUs alone: the quick way, for jobs of one node and for gangs without a
 * layout. Always where it fits most tightly, so that large free units stay whole.
 */

enum { LOOK_MAX = 256 }; /* nodes compared for one small job */

/* The switch that a node's first compute NIC is plugged into. */
static uint32_t leaf_of(const struct myr_design *design, uint32_t node)
{
    uint32_t device = design->head->first_node + node;
    for (uint32_t port = design->first_port[device]; port < design->first_port[device + 1];
         port++) {
        uint32_t peer = myr_design_peer(design, port);
        if (peer != MYR_NONE && myr_design_port_group(design, port)->net == MYR_NET_COMPUTE) {
            return design->port_device[peer];
        }
    }
    return MYR_NONE;
}

/* Nodes at the start of the numbering that share a leaf, or with 'pod' a pod. */
static uint32_t first_run(const struct myr_design *design, bool pod)
{
    /* Nodes are numbered along the fabric, so the first run stands for all others. */
    uint32_t first = leaf_of(design, 0), count = 1;
    while (count < design->head->nodes && first != MYR_NONE) {
        uint32_t leaf = leaf_of(design, count);
        bool same = leaf == first || (pod && leaf != MYR_NONE &&
                                      design->place[leaf].pod == design->place[first].pod);
        if (!same) {
            break;
        }
        count++;
    }
    /* A design without a compute network has one leaf with all nodes. */
    return first == MYR_NONE ? design->head->nodes : count;
}

struct myr_place_shape myr_place_shape_of(const struct myr_design *design)
{
    const struct myr_network *net = &design->networks[MYR_NET_COMPUTE];
    struct myr_place_shape shape = {.nodes = design->head->nodes,
                                    .gpus_per_node = design->head->gpus_per_node};
    shape.group_nodes = net->group_nodes ? net->group_nodes : first_run(design, false);
    /* A set of leaves has one for each rail. */
    uint32_t groups =
        net->rails && net->pod_leaves >= net->rails ? net->pod_leaves / net->rails : 1;
    /* A network that does not say its groups is read from its cables. */
    if (!net->group_nodes && net->tiers == 3) {
        groups = first_run(design, true) / shape.group_nodes;
    }
    /* Below three tiers there are no pods: all nodes are in one. */
    shape.pod_nodes = net->tiers == 3 ? shape.group_nodes * groups : shape.nodes;
    return shape;
}

/* The lowest 'gpus' free GPUs of a node. */
static uint64_t lowest(uint64_t mask, uint32_t gpus)
{
    MYR_SLOW_ASSERT(gpus <= (uint32_t)__builtin_popcountll(mask));
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
    MYR_SLOW_ASSERT(first < p->shape.nodes);
    uint32_t best = first, looked = 0;
    /* A list may be as long as the cluster: the best of so many is good enough. */
    for (uint32_t n = first; n != MYR_NONE && looked < LOOK_MAX; n = p->partial_next[n], looked++) {
        /* Where a group is nearly full anyway, one node more broken up costs least. */
        uint32_t count = p->by_group.count[n / p->shape.group_nodes];
        uint32_t least = p->by_group.count[best / p->shape.group_nodes];
        if (count < least || (count == least && n < best)) {
            best = n;
        }
    }
    MYR_SLOW_ASSERT(index_free_on(p, best) == index_free_on(p, first));
    return best;
}

/* The lowest of the units with as many free nodes, so that equal states have equal answers. */
static uint32_t lowest_alike(const struct buckets *b, uint32_t unit)
{
    uint32_t best = unit, looked = 0;
    for (uint32_t u = unit; u != MYR_NONE && looked < LOOK_MAX; u = b->next[u], looked++) {
        best = u < best ? u : best;
    }
    MYR_SLOW_ASSERT(best == MYR_NONE || b->count[best] == b->count[unit]);
    return best;
}

/* The node with the fewest free GPUs that suffice; a whole one only when no other does. */
static uint32_t best_node(const struct myr_placer *p, uint32_t gpus)
{
    MYR_ASSERT(gpus > 0 && gpus < p->shape.gpus_per_node);
    for (uint32_t k = gpus; k < p->shape.gpus_per_node; k++) {
        if (p->partial_occupied[k / 64] >> k % 64 & 1) {
            return in_fullest_group(p, p->partial_first[k]);
        }
    }
    /* No node in use has room: a whole one is broken up, in the fullest group that has one. */
    uint32_t group = lowest_alike(&p->by_group, bucket_best(&p->by_group, 1));
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

/* The fewest free GPUs that suffice on any node. */
static uint32_t least_free(const struct myr_placer *p, uint32_t gpus)
{
    MYR_SLOW_ASSERT(gpus > 0);
    while (gpus < p->shape.gpus_per_node && !(p->partial_occupied[gpus / 64] >> gpus % 64 & 1)) {
        gpus++;
    }
    return gpus;
}

/*
 * The remainder of a gang: of the nodes that are as full as any that hold it one in the same group.
 * An emptier one there would save a leaf, but break a whole node that the next gang needs.
 */
static uint32_t near_node(const struct myr_placer *p, uint32_t beside, uint32_t gpus)
{
    MYR_ASSERT(beside < p->shape.nodes && gpus > 0);
    uint32_t first = beside / p->shape.group_nodes * p->shape.group_nodes;
    uint32_t end = first + p->shape.group_nodes, least = least_free(p, gpus);
    end = end < p->shape.nodes ? end : p->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (!p->closed[node] && index_free_on(p, node) == least) {
            return node;
        }
    }
    return MYR_NONE;
}

/* The least number that suffices says which list it is, so 'after' must come from it. */
uint32_t myr_place_partly(const struct myr_placer *p, uint32_t gpus, uint32_t after)
{
    MYR_ASSERT(gpus > 0);
    MYR_ASSERT((after == MYR_NONE || after < p->shape.nodes));
    uint32_t least = least_free(p, gpus);
    if (least >= p->shape.gpus_per_node) {
        return MYR_NONE;
    }
    return after == MYR_NONE ? p->partial_first[least] : p->partial_next[after];
}

uint32_t myr_placer_free_beside(const struct myr_placer *p, uint32_t node)
{
    MYR_ASSERT(node < p->shape.nodes);
    return p->by_group.count[node / p->shape.group_nodes];
}

/* The GPUs are free; the gang has room for one share more. */
static void take(struct myr_placer *p, uint32_t node, uint64_t mask, struct myr_gang *gang)
{
    MYR_ASSERT(node < p->shape.nodes && mask != 0);
    MYR_ASSERT((p->free_mask[node] & mask) == mask);
    MYR_ASSERT(!p->closed[node]);
    index_set_mask(p, node, p->free_mask[node] & ~mask);
    gang->shares[gang->count++] = (struct myr_share){node, mask};
}

/* The unit has that many free nodes, so the walk ends before its edge. */
static void take_from_group(struct myr_placer *p, uint32_t group, uint32_t nodes,
                            struct myr_gang *gang)
{
    uint32_t node = group * p->shape.group_nodes;
    MYR_ASSERT(group < p->groups);
    MYR_ASSERT(nodes <= p->by_group.count[group]);
    while (nodes > 0) {
        MYR_SLOW_ASSERT(node < index_group_end(p, group));
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
    MYR_ASSERT(pod < p->pods);
    MYR_ASSERT(nodes <= p->by_pod.count[pod]);
    while (nodes > 0) {
        /* The rest in one group if any holds it, else all of the freest one. */
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
        MYR_ASSERT(group >= first && group < end);
        take_from_group(p, group, count, gang);
        nodes -= count;
    }
}

/* So many whole nodes are free, somewhere. */
static void take_nodes(struct myr_placer *p, uint32_t nodes, struct myr_gang *gang)
{
    MYR_ASSERT(nodes > 0);
    MYR_ASSERT(nodes <= p->free_nodes);
    /* One group that holds all of it, the fullest of those; else pod by pod. */
    uint32_t group = lowest_alike(&p->by_group, bucket_best(&p->by_group, nodes));
    if (group != MYR_NONE) {
        take_from_group(p, group, nodes, gang);
        return;
    }
    while (nodes > 0) {
        /* The fullest pod that holds all of it, else as much as the freest one has. */
        uint32_t pod = bucket_best(&p->by_pod, nodes);
        pod = pod == MYR_NONE ? bucket_fullest(&p->by_pod) : pod;
        MYR_ASSERT(pod != MYR_NONE);
        uint32_t count = p->by_pod.count[pod] < nodes ? p->by_pod.count[pod] : nodes;
        MYR_ASSERT(count > 0);
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
    MYR_SLOW_ASSERT(p->free_nodes <= p->shape.nodes);
    uint32_t whole = gpus / p->shape.gpus_per_node, rest = gpus % p->shape.gpus_per_node;
    if (p->free_nodes < whole) {
        return false;
    }
    /* One whole node beyond those that are filled holds any remainder. */
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
    /* As few groups as possible: so many whole ones, and one for the rest. */
    uint32_t full = nodes / per, rest = nodes % per, whole_groups = 0;
    if (full == 0) {
        return bucket_best(&p->by_group, rest) != MYR_NONE;
    }
    /* One more than needed is enough to know. */
    for (uint32_t g = p->by_group.first[per]; g != MYR_NONE && whole_groups <= full;
         g = p->by_group.next[g]) {
        whole_groups++;
    }
    if (whole_groups != full || rest == 0) {
        return whole_groups >= full;
    }
    /* The whole groups are all taken up: the rest needs another one. */
    uint32_t group = bucket_best(&p->by_group, rest);
    return group != MYR_NONE && p->by_group.count[group] < per;
}

bool myr_place(struct myr_placer *p, uint32_t gpus, struct myr_gang *ret)
{
    uint32_t whole = gpus / p->shape.gpus_per_node, rest = gpus % p->shape.gpus_per_node;
    MYR_ASSERT(gpus > 0);
    MYR_ASSERT(ret->shares);
    ret->count = 0;
    if (!myr_place_fits(p, gpus)) {
        return false;
    }
    if (whole) {
        take_nodes(p, whole, ret);
    }
    if (rest) {
        /* A plain placer puts remainders on the fullest node that holds them, wherever it is. */
        uint32_t node =
            whole && !p->plain ? near_node(p, ret->shares[ret->count - 1].node, rest) : MYR_NONE;
        node = node == MYR_NONE ? best_node(p, rest) : node;
        MYR_ASSERT(node != MYR_NONE);
        take(p, node, lowest(p->free_mask[node], rest), ret);
    }
    MYR_ASSERT(ret->count == whole + (rest > 0));
    return true;
}

void myr_placer_set_plain(struct myr_placer *p, bool plain)
{
    p->plain = plain;
}

void myr_place_take(struct myr_placer *p, uint32_t node, uint64_t gpus)
{
    MYR_ASSERT(node < p->shape.nodes);
    MYR_ASSERT((p->free_mask[node] & gpus) == gpus);
    index_set_mask(p, node, p->free_mask[node] & ~gpus);
}

void myr_release(struct myr_placer *p, const struct myr_gang *gang)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct myr_share *share = &gang->shares[i];
        MYR_ASSERT(share->node < p->shape.nodes);
        MYR_ASSERT(share->gpus != 0);
        MYR_ASSERT((p->free_mask[share->node] & share->gpus) == 0);
        MYR_ASSERT((share->gpus & ~p->whole) == 0);
        index_set_mask(p, share->node, p->free_mask[share->node] | share->gpus);
    }
}

uint32_t myr_gang_groups(const struct myr_placer *p, const struct myr_gang *gang)
{
    /* Shares of a group mostly follow each other, so the search through all is rare. */
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
    MYR_ASSERT(groups <= p->groups && (groups > 0) == (gang->count > 0));
    return groups;
}
