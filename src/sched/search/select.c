#include <stdlib.h>

#include "search/search.h"

/*
 * Chooses nodes, as numbers of nodes by leaf (s->take). Whole blocks come first, where leaves have
 * room for most of them; the last part goes where it just fits, so that large free leaves stay
 * whole. Which nodes of a leaf they are is decided at the end.
 */

/* Only what was touched is cleared: clusters have many leaves and gangs touch few. */
void select_clear(struct search *q)
{
    MYR_ASSERT(q->touched_count <= q->p->groups);
    for (uint32_t i = 0; i < q->touched_count; i++) {
        q->s->take[q->s->touched[i]] = 0;
    }
    q->touched_count = 0;
}

/* It has so many free; touched leaves are listed once. */
static void take_from(struct search *q, uint32_t leaf, uint32_t nodes)
{
    MYR_ASSERT(nodes > 0);
    MYR_ASSERT(leaf < q->p->groups);
    if (q->s->take[leaf] == 0) {
        MYR_ASSERT(q->touched_count < q->p->groups); /* each is listed once */
        q->s->touched[q->touched_count++] = leaf;
    }
    q->s->take[leaf] += nodes;
    MYR_ASSERT(q->s->take[leaf] <= q->s->leaf_free[leaf]);
}

/* What speaks against one more node of a leaf: room lost for gangs, and penalties. */
static int64_t leaf_price(const struct search *q, uint32_t leaf, uint32_t nodes)
{
    const struct myr_placer *p = q->p;
    uint32_t in_pod = leaf * p->shape.group_nodes / p->shape.pod_nodes;
    /* As the whole cluster sees it, also nodes that the request may not use. */
    int64_t f = p->by_group.count[leaf], pod = p->by_pod.count[in_pod];
    int64_t room = q->leaf_room * (2 * f - nodes) + q->pod_room * (2 * pod - nodes);
    room = q->gpus == p->shape.gpus_per_node ? room : 0;
    return nodes * (room + search_penalty(q, p->group_penalty[leaf]));
}

/* Penalties of the nodes that would be taken: the least of the leaf. */
static int64_t node_penalties(const struct search *q, uint32_t leaf)
{
    const struct myr_placer *p = q->p;
    uint32_t end = index_group_end(p, leaf), have = 0;
    uint32_t *least = q->s->sequence; /* free at this time */
    uint64_t milli = 0;
    for (uint32_t node = leaf * p->shape.group_nodes; node < end && p->penalised; node++) {
        if (!search_may_use(q, node)) {
            continue;
        }
        /* The least so far in order; a leaf may have more nodes than the gang wants. */
        uint32_t at = have < q->nodes ? have++ : q->nodes;
        while (at > 0 && least[at - 1] > p->node_penalty[node]) {
            if (at < q->nodes) {
                least[at] = least[at - 1];
            }
            at--;
        }
        if (at < q->nodes) {
            least[at] = p->node_penalty[node];
        }
    }
    for (uint32_t i = 0; i < have; i++) {
        milli += least[i];
    }
    return search_penalty(q, milli);
}

/* The leaf that holds the whole gang and is missed least; MYR_NONE when none holds it. */
uint32_t select_leaf(struct search *q)
{
    const struct myr_placer *p = q->p;
    uint32_t best = MYR_NONE;
    int64_t best_price = 0;
    for (uint32_t leaf = 0; leaf < p->groups; leaf++) {
        if (q->s->leaf_free[leaf] < q->nodes) {
            continue;
        }
        /* Equal prices: the lowest leaf, so that equal states have equal answers. */
        int64_t price = leaf_price(q, leaf, q->nodes) + node_penalties(q, leaf);
        if (best == MYR_NONE || price < best_price) {
            best = leaf;
            best_price = price;
        }
    }
    if (best != MYR_NONE) {
        take_from(q, best, q->nodes);
    }
    return best;
}

/* Leaves first..end-1 by free nodes not yet taken: s->sorted, runs of equal ones by s->start. */
static uint32_t sort_leaves(struct search *q, uint32_t first, uint32_t end)
{
    struct search_scratch *s = q->s;
    uint32_t most = 0;
    for (uint32_t leaf = first; leaf < end; leaf++) {
        /* Blocks may have been taken from it already. */
        uint32_t left = s->leaf_free[leaf] - s->take[leaf];
        most = left > most ? left : most;
    }
    /* Counting sort: there are few different numbers of free nodes. */
    memset(s->start, 0, ((size_t)most + 2) * sizeof(uint32_t));
    for (uint32_t leaf = first; leaf < end; leaf++) {
        s->start[s->leaf_free[leaf] - s->take[leaf] + 1]++;
    }
    for (uint32_t k = 1; k <= most + 1; k++) {
        s->start[k] += s->start[k - 1];
    }
    for (uint32_t leaf = first; leaf < end; leaf++) {
        s->sorted[s->start[s->leaf_free[leaf] - s->take[leaf]]++] = leaf;
    }
    /* Filling moved every start to its end: move them back. */
    for (uint32_t k = most + 1; k > 0; k--) {
        s->start[k] = s->start[k - 1];
    }
    s->start[0] = 0;
    return most;
}

/* The smallest leaf with at least 'wanted' left, or MYR_NONE; only sorted ones are seen. */
static uint32_t smallest_with(const struct search *q, uint32_t wanted, uint32_t most)
{
    const struct search_scratch *s = q->s;
    for (uint32_t k = wanted; k <= most; k++) {
        if (s->start[k] < s->start[k + 1]) {
            return s->sorted[s->start[k]];
        }
    }
    return MYR_NONE;
}

/* Whole blocks: the leaves with most of them first, the last few into the leaf they just fit. */
static uint32_t take_blocks(struct search *q, uint32_t most, uint32_t blocks, uint32_t block)
{
    struct search_scratch *s = q->s;
    /* From the leaves with most blocks down; within them those with the least left over first. */
    for (uint32_t each = most / block; each > 0 && blocks > 0; each--) {
        uint32_t high = each * block + block - 1;
        high = high < most ? high : most;
        for (uint32_t k = each * block; k <= high && blocks > 0; k++) {
            for (uint32_t i = s->start[k]; i < s->start[k + 1] && blocks > 0; i++) {
                uint32_t leaf = s->sorted[i], count = each;
                if (blocks <= each) {
                    /* Leaves with fewer blocks are all untouched yet. */
                    uint32_t last = smallest_with(q, blocks * block, each * block - 1);
                    leaf = last == MYR_NONE ? leaf : last;
                    count = blocks;
                }
                take_from(q, leaf, count * block);
                blocks -= count;
            }
        }
    }
    return blocks;
}

void select_pod(struct search *q, uint32_t pod, uint32_t nodes, uint32_t block)
{
    const struct myr_placer *p = q->p;
    uint32_t per = p->shape.pod_nodes / p->shape.group_nodes, first = pod * per;
    MYR_ASSERT(pod < p->pods);
    MYR_ASSERT(nodes <= q->s->pod_free[pod]);
    select_range(q, first, first + per < p->groups ? first + per : p->groups, nodes, block);
}

void select_range(struct search *q, uint32_t first, uint32_t end, uint32_t nodes, uint32_t block)
{
    MYR_ASSERT(first < end);
    MYR_ASSERT(end <= q->p->groups);
    MYR_ASSERT(block > 0);
    MYR_ASSERT(nodes > 0);
    uint32_t most = sort_leaves(q, first, end);
    uint32_t left = take_blocks(q, most, nodes / block, block) * block + nodes % block;
    if (left == 0) {
        return;
    }
    most = sort_leaves(q, first, end);
    for (uint32_t k = most; left > 0; k--) {
        MYR_ASSERT(k > 0);
        for (uint32_t i = q->s->start[k]; i < q->s->start[k + 1] && left > 0; i++) {
            uint32_t leaf = q->s->sorted[i];
            /*
             * The rest fits into one leaf: the fullest that holds it, among those not touched in
             * this round.
             */
            if (left <= k) {
                uint32_t last = smallest_with(q, left, k - 1);
                take_from(q, last == MYR_NONE ? leaf : last, left);
                left = 0;
            } else {
                take_from(q, leaf, k);
                left -= k;
            }
        }
    }
}

/* What a pod still has for the gang, and what it gave already. */
struct pod_room {
    uint32_t pod, room, taken;
};

static int by_room(const void *a, const void *b)
{
    const struct pod_room *x = a, *y = b;
    return x->room != y->room ? (x->room > y->room ? -1 : 1) : (x->pod < y->pod ? -1 : 1);
}

/* As few pods as possible: the freest first, the last where it just fits. What did not fit. */
static uint32_t take_pods(struct search *q, struct pod_room *pods, uint32_t left, uint32_t block)
{
    qsort(pods, q->p->pods, sizeof(*pods), by_room);
    for (uint32_t i = 0; i < q->p->pods && pods[i].room > 0 && left > 0; i++) {
        /* The rest fits into this pod: the last of those that hold it is the smallest of them. */
        uint32_t at = i;
        while (left <= pods[i].room && at + 1 < q->p->pods && pods[at + 1].room >= left) {
            at++;
        }
        uint32_t count = pods[at].room < left ? pods[at].room : left;
        MYR_ASSERT(pods[at].taken + count <= q->s->pod_free[pods[at].pod]);
        select_pod(q, pods[at].pod, count, block);
        pods[at].taken += count;
        left -= count;
    }
    return left;
}

/* How much of a pod the whole blocks of each leaf are. */
static uint32_t room_in_leaves(const struct search *q, uint32_t pod, uint32_t block)
{
    const struct myr_placer *p = q->p;
    uint32_t per = p->shape.pod_nodes / p->shape.group_nodes, room = 0;
    uint32_t end = (pod + 1) * per < p->groups ? (pod + 1) * per : p->groups;
    for (uint32_t leaf = pod * per; leaf < end; leaf++) {
        room += q->s->leaf_free[leaf] / block * block;
    }
    return room;
}

void select_pods(struct search *q, uint32_t block, enum align align)
{
    struct pod_room *pods = myr_xcalloc(q->p->pods, sizeof(*pods));
    uint32_t left = q->nodes;
    for (uint32_t i = 0; i < q->p->pods; i++) {
        pods[i].pod = i;
    }
    /* From the strictest alignment to none, each for what is left by the one before. */
    for (int wanted = (int)align; wanted >= ALIGN_NONE && left > 0; wanted--) {
        for (uint32_t i = 0; i < q->p->pods; i++) {
            uint32_t pod = pods[i].pod, free_nodes = q->s->pod_free[pod];
            uint32_t room = wanted == ALIGN_LEAF  ? room_in_leaves(q, pod, block)
                            : wanted == ALIGN_POD ? free_nodes / block * block
                                                  : free_nodes;
            pods[i].room = room > pods[i].taken ? room - pods[i].taken : 0;
        }
        left = take_pods(q, pods, left, block);
    }
    MYR_ASSERT(left == 0);
    free(pods);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The nodes with the least against them; 'count' is small where there are penalties at all. */
static void keep_unpenalised(struct search *q, uint32_t *nodes, uint32_t have, uint32_t wanted)
{
    const uint32_t *penalty = q->p->node_penalty;
    /* By insertion, which keeps the order of equal ones: the lowest numbers stay. */
    for (uint32_t i = 1; i < have; i++) {
        uint32_t node = nodes[i], at = i;
        while (at > 0 && penalty[nodes[at - 1]] > penalty[node]) {
            nodes[at] = nodes[at - 1];
            at--;
        }
        nodes[at] = node;
    }
    qsort(nodes, wanted, sizeof(*nodes), by_number);
}

/* Whole blocks of each domain in its order: as many as the leaf was said to have of them. */
static uint32_t take_domain_blocks(const struct search *q, uint32_t *count, uint32_t domains,
                                   uint32_t left, uint32_t *take)
{
    uint32_t block = q->domain_block;
    MYR_ASSERT(block <= q->p->domain_nodes);
    for (uint32_t d = 0; block > 0 && d < domains && left > 0; d++) {
        uint32_t whole = count[d] / block * block;
        take[d] = whole < left ? whole : left;
        count[d] -= take[d];
        left -= take[d];
    }
    return left;
}

/* Whole scale-up domains of a leaf before parts of others. */
static uint32_t gather_domains(struct search *q, uint32_t leaf, uint32_t wanted, uint32_t *ret)
{
    const struct myr_placer *p = q->p;
    uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf), have = 0;
    uint32_t lowest = p->domain_of[first], domains = p->domain_of[end - 1] - lowest + 1;
    uint32_t *count = q->s->sequence, *take = q->s->firsts; /* free at this time */
    MYR_ASSERT(wanted > 0);
    MYR_ASSERT(wanted <= q->s->leaf_free[leaf]);
    memset(count, 0, domains * sizeof(*count));
    memset(take, 0, domains * sizeof(*take));
    for (uint32_t node = first; node < end; node++) {
        count[p->domain_of[node] - lowest] += search_may_use(q, node);
    }
    for (uint32_t left = take_domain_blocks(q, count, domains, wanted, take); left > 0;) {
        uint32_t best = MYR_NONE, most = 0;
        for (uint32_t d = 0; d < domains; d++) {
            /* The fullest domain that holds the rest, else the freest. */
            best = count[d] >= left && (best == MYR_NONE || count[d] < count[best]) ? d : best;
            most = count[d] > count[most] ? d : most;
        }
        uint32_t domain = best == MYR_NONE ? most : best;
        uint32_t part = count[domain] < left ? count[domain] : left;
        MYR_ASSERT(part > 0);
        take[domain] += part;
        left -= part;
        count[domain] = 0;
    }
    for (uint32_t node = first; node < end && have < wanted; node++) {
        uint32_t *of = &take[p->domain_of[node] - lowest];
        if (*of > 0 && search_may_use(q, node)) {
            ret[have++] = node;
            (*of)--;
        }
    }
    return have;
}

bool select_align(struct search *q, uint32_t block)
{
    const struct myr_placer *p = q->p;
    struct search_scratch *s = q->s;
    uint32_t per = p->shape.pod_nodes / p->shape.group_nodes, sum = 0;
    MYR_ASSERT(q->domain_block == 0 && block > 0);
    memcpy(s->leaf_all, s->leaf_free, p->groups * sizeof(uint32_t));
    memcpy(s->pod_all, s->pod_free, p->pods * sizeof(uint32_t));
    memset(s->leaf_free, 0, p->groups * sizeof(uint32_t));
    memset(s->pod_free, 0, p->pods * sizeof(uint32_t));
    /* Domains are runs of numbers, and each lies in one leaf. */
    for (uint32_t node = 0, count = 0; node < p->shape.nodes; node++) {
        count += search_may_use(q, node);
        if (node + 1 == p->shape.nodes || p->domain_of[node + 1] != p->domain_of[node]) {
            s->leaf_free[p->group_of[node]] += count / block * block;
            count = 0;
        }
    }
    for (uint32_t leaf = 0; leaf < p->groups; leaf++) {
        /* No more than it may give at all: constraints of the request. */
        uint32_t most = s->leaf_all[leaf] / block * block;
        s->leaf_free[leaf] = s->leaf_free[leaf] < most ? s->leaf_free[leaf] : most;
        s->pod_free[leaf / per] += s->leaf_free[leaf];
        sum += s->leaf_free[leaf];
    }
    q->domain_block = block;
    if (sum < q->nodes) {
        select_align_end(q);
        return false;
    }
    return true;
}

void select_align_end(struct search *q)
{
    MYR_ASSERT(q->domain_block > 0);
    MYR_ASSERT(q->touched_count == 0);
    memcpy(q->s->leaf_free, q->s->leaf_all, q->p->groups * sizeof(uint32_t));
    memcpy(q->s->pod_free, q->s->pod_all, q->p->pods * sizeof(uint32_t));
    q->domain_block = 0;
}

void select_sort(struct search *q)
{
    struct search_scratch *s = q->s;
    /* Few of many are sorted by themselves. */
    if (q->touched_count < q->p->groups / 16) {
        qsort(s->touched, q->touched_count, sizeof(*s->touched), by_number);
        return;
    }
    /* Of many leaves it is faster to look at all. */
    uint32_t count = 0;
    for (uint32_t leaf = 0; leaf < q->p->groups; leaf++) {
        if (s->take[leaf] > 0) {
            s->touched[count++] = leaf;
        }
    }
    MYR_ASSERT(count == q->touched_count);
}

void select_nodes(struct search *q)
{
    const struct myr_placer *p = q->p;
    struct search_scratch *s = q->s;
    uint32_t total = 0;
    for (uint32_t i = 0; i < q->touched_count; i++) {
        uint32_t leaf = s->touched[i], wanted = s->take[leaf], have = 0;
        uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf);
        uint32_t *nodes = s->nodes + total;
        if (p->domain_nodes > 1) {
            have = gather_domains(q, leaf, wanted, nodes);
        } else {
            /* With penalties all of the leaf are gathered first, and the best of them kept. */
            uint32_t room = p->penalised ? s->leaf_free[leaf] : wanted;
            for (uint32_t node = first; node < end && have < room; node++) {
                nodes[have] = node;
                have += search_may_use(q, node);
            }
            if (p->penalised) {
                keep_unpenalised(q, nodes, have, wanted);
            }
        }
        MYR_ASSERT(have >= wanted);
        total += wanted;
    }
    MYR_ASSERT(total == q->nodes);
}

uint64_t select_hash(const struct search *q)
{
    uint64_t sum = q->domain_block * UINT64_C(0xd6e8feb86659fd93); /* other nodes of the leaves */
    for (uint32_t i = 0; i < q->touched_count; i++) {
        uint64_t leaf = q->s->touched[i];
        uint64_t x = (leaf << 32 | q->s->take[leaf]) * UINT64_C(0x9e3779b97f4a7c15);
        sum += (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9); /* whatever the order of leaves */
    }
    return sum;
}

/* Enough to tell which of several pods to look at closely. */
int64_t select_estimate(const struct search *q, uint32_t block)
{
    uint32_t whole = 0;
    int64_t price = 0;
    for (uint32_t i = 0; i < q->touched_count; i++) {
        uint32_t leaf = q->s->touched[i];
        whole += q->s->take[leaf] / block * block;
        price += leaf_price(q, leaf, q->s->take[leaf]);
    }
    /* A node outside of whole blocks counts as one unit of traffic, a leaf touched as a quarter. */
    return (4 * (int64_t)(q->nodes - whole) + q->touched_count) * (q->unit_cost / 4) + price;
}
