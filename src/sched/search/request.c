#include "myriad/sched/request.h"

#include <stdlib.h>

#include "search/search.h"

/*
 * Pods looked at closely, for gangs up to SMALL_GANG; above LARGE_GANG one alignment of blocks is
 * tried; block sizes tried for tiny gangs, and for others.
 */
enum { CLOSE_LOOKS = 4, SMALL_GANG = 128, LARGE_GANG = 256, BLOCKS_MAX = 16, BLOCKS_FEW = 5 };

/*
 * The first nodes of each rack and row, as many as may be used of it: where racks stand in rows no
 * other choice would leave more.
 */
static bool take_from_zones(struct search *q, uint32_t node)
{
    uint32_t *const used[MYR_ZONE_COUNT] = {q->s->zone_used, q->s->zone_used + q->p->shape.nodes};
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        const struct zone *zone = &q->p->zones[z];
        uint32_t most = q->request->zone_max[z];
        if (most && zone->units && used[z][zone->unit_of[node]] >= most) {
            return false;
        }
    }
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (q->p->zones[z].units) {
            used[z][q->p->zones[z].unit_of[node]]++;
        }
    }
    return true;
}

static bool has_zone_max(const struct myr_request *r)
{
    return r->zone_max[MYR_ZONE_RACK] || r->zone_max[MYR_ZONE_ROW];
}

/* Every whole node will do, but for how many of a leaf and how far apart they are. */
static bool is_plain(const struct search *q)
{
    const struct myr_request *r = q->request;
    return q->gpus == q->p->shape.gpus_per_node && !r->exclude && !r->kind_given &&
           !has_zone_max(r);
}

/* Nodes with room for the request, 64 at a time: whole ones are known, of others each is asked. */
static uint64_t roomy_nodes(const struct search *q, uint32_t word)
{
    const struct myr_placer *p = q->p;
    uint64_t bits = 0;
    if (q->gpus == p->shape.gpus_per_node) {
        return p->free_words[word];
    }
    for (uint32_t i = 0, node = word * 64; i < 64 && node < p->shape.nodes; i++, node++) {
        bool may = !p->closed[node] && index_free_on(p, node) >= q->gpus;
        bits |= (uint64_t)may << i;
    }
    return bits;
}

/* Nodes that the request's constraints leave, by leaf: in a full cluster there are few to ask. */
static void filter_nodes(struct search *q)
{
    const struct myr_placer *p = q->p;
    const struct myr_request *r = q->request;
    bool zones = has_zone_max(r);
    if (zones) {
        memset(q->s->zone_used, 0, (size_t)p->shape.nodes * MYR_ZONE_COUNT * sizeof(uint32_t));
    }
    memset(q->s->leaf_free, 0, p->groups * sizeof(uint32_t));
    q->s->words[p->shape.nodes / 64] = 0; /* 'exclude' may end before */
    for (uint32_t w = 0; w * 64 < p->shape.nodes; w++) {
        uint64_t may = roomy_nodes(q, w) & (r->exclude ? ~r->exclude[w] : UINT64_MAX);
        for (uint64_t left = may; left; left &= left - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left), node = w * 64 + bit;
            if ((r->kind_given && p->kind[node] != r->kind) ||
                (zones && !take_from_zones(q, node))) {
                may &= ~(UINT64_C(1) << bit);
            } else {
                q->s->leaf_free[p->group_of[node]]++;
            }
        }
        q->s->words[w] = may;
    }
}

/* How many usable nodes each leaf and pod has. Returns their number in all. */
static uint32_t count_nodes(struct search *q)
{
    const struct myr_placer *p = q->p;
    const struct myr_request *r = q->request;
    struct search_scratch *s = q->s;
    uint32_t per = p->shape.pod_nodes / p->shape.group_nodes, sum = 0;
    if (is_plain(q)) {
        memcpy(s->words, p->free_words, ((size_t)p->shape.nodes / 64 + 1) * sizeof(uint64_t));
        memcpy(s->leaf_free, p->by_group.count, p->groups * sizeof(uint32_t));
    } else {
        filter_nodes(q);
    }
    memset(s->pod_free, 0, p->pods * sizeof(uint32_t));
    /* What a leaf may not give is not counted as free, so the search never takes it. */
    for (uint32_t leaf = 0; leaf < p->groups; leaf++) {
        if (r->leaf_max && s->leaf_free[leaf] > r->leaf_max) {
            s->leaf_free[leaf] = r->leaf_max;
        }
        s->pod_free[leaf / per] += s->leaf_free[leaf];
        sum += s->leaf_free[leaf];
    }
    return sum;
}

/* From bytes to integers: here and nowhere else. */
static void set_weights(struct search *q)
{
    const struct myr_place_shape *shape = &q->p->shape;
    /* A pod is whole leaves: this many parts are divided without a rest by all that follows. */
    int64_t whole = INT64_C(1000) * shape->pod_nodes;
    q->unit_cost = whole * (whole < SEARCH_COST_PARTS ? SEARCH_COST_PARTS / whole : 1);
    q->unit_bytes = q->traffic ? q->traffic->between_bytes / q->nodes : 1;
    for (uint32_t f = 0; q->traffic && f < q->traffic->family_count; f++) {
        double part = q->traffic->families[f].bytes / q->unit_bytes;
        int64_t weight = (int64_t)(part * (double)q->unit_cost + 0.5);
        q->weight[f] = weight > 0 ? weight : 1; /* little is more than nothing */
    }
    /* 0.05 and 0.02 of request.h */
    q->leaf_room = q->unit_cost / (INT64_C(20) * shape->group_nodes);
    q->pod_room = q->unit_cost / (INT64_C(50) * shape->pod_nodes);
    MYR_ASSERT(q->unit_cost > 0);
    MYR_ASSERT(q->leaf_room > 0);
    MYR_ASSERT(q->pod_room > 0);
}

/* The scratch is made with the first search and kept: searches come one after another. */
static struct search start(struct myr_placer *p, const struct myr_request *r)
{
    if (!p->scratch) {
        p->scratch = scratch_create(p);
    }
    struct search q = {.p = p, .request = r, .s = p->scratch, .nodes = r->nodes, .best_cost = -1};
    q.gpus = r->gpus_per_node ? r->gpus_per_node : p->shape.gpus_per_node;
    q.traffic = r->traffic && r->traffic->family_count ? r->traffic : NULL;
    set_weights(&q);
    MYR_ASSERT(q.gpus <= p->shape.gpus_per_node);
    MYR_ASSERT(!r->traffic ||
               (r->traffic->cells == r->nodes && r->traffic->gpus_per_cell == q.gpus));
    return q;
}

/* Assigns cells to the chosen nodes along the numbering: enough when all are equally near. */
static void order_plainly(struct search *q)
{
    struct digit_order order;
    if (!q->traffic) {
        order_consider_ring(q);
        return;
    }
    for (uint8_t d = 0; d < MYR_TRAFFIC_DIGITS_MAX; d++) {
        order.digits[d] = d;
    }
    assign_straight(q);
    order_consider(q, &order);
}

/* What the choice of nodes costs whatever runs on them; s->nodes is filled only if that matters. */
static void set_base(struct search *q)
{
    MYR_ASSERT(q->touched_count > 0);
    select_sort(q);
    /* Nodes of a leaf are all alike: which ones they are matters at the end only. */
    q->have_nodes = q->p->penalised || q->p->domain_nodes > 1 || !q->traffic;
    if (!q->have_nodes) {
        q->base_cost = order_room_cost(q);
        return;
    }
    select_nodes(q);
    q->base_cost = order_base_cost(q);
}

/* The same nodes assigned in the same blocks cost the same again. */
static bool is_new(struct search *q, uint32_t block)
{
    /* Of two choices with one hash the second is not tried, and nothing worse. */
    uint64_t hash = select_hash(q) + block * UINT64_C(0x94d049bb133111eb);
    for (uint32_t i = 0; i < q->tried_count; i++) {
        if (q->tried[i] == hash) {
            return false;
        }
    }
    /* A full table only means that something is priced twice. */
    if (q->tried_count < SEARCH_TRIED_MAX) {
        q->tried[q->tried_count++] = hash;
    }
    return true;
}

/* The candidates with this block, over one assignment; the least cost of them, as order_consider()
 * says. */
static int64_t order_candidates(struct search *q, uint32_t block)
{
    int64_t least = -1;
    for (uint32_t i = 0; i < q->candidate_count; i++) {
        if (q->s->candidates[i].block == block) {
            int64_t cost = order_consider(q, &q->s->candidates[i].order);
            least = least < 0 || cost < least ? cost : least;
        }
    }
    return least;
}

/* Every way of assigning cells to the chosen nodes in blocks of this size. */
static void order_blocks(struct search *q, uint32_t block)
{
    bool small = q->nodes <= SEARCH_SMALL_CELLS, straight = is_new(q, 1);
    /* Straight assignments of the same leaves are alike for all block sizes. */
    if (!straight && (block == 1 || !is_new(q, block))) {
        return;
    }
    set_base(q);
    if (!q->traffic) {
        order_consider_ring(q);
        return;
    }
    assign_straight(q);
    if (straight) {
        (void)order_candidates(q, 1);
    }
    if (block == 1) {
        return;
    }
    bool varies = assign_blocks(q, block, false);
    int64_t cost = order_candidates(q, block);
    /* Columns are another way to deal the same nodes: worth a look where rows came near. */
    if (varies && (small || cost < search_near(q->best_cost))) {
        assign_blocks(q, block, true);
        (void)order_candidates(q, block);
    }
}

/* The pods that hold the gang; a close look at the most promising ones. */
static bool try_pods(struct search *q, uint32_t block)
{
    struct {
        uint32_t pod;
        int64_t estimate;
    } looks[CLOSE_LOOKS];
    /* A close look costs much for a large gang, and gains little. */
    uint32_t count = 0, most = q->nodes <= SMALL_GANG ? CLOSE_LOOKS : 1;
    for (uint32_t pod = 0; pod < q->p->pods; pod++) {
        if (q->s->pod_free[pod] < q->nodes) {
            continue;
        }
        select_pod(q, pod, q->nodes, block);
        int64_t estimate = select_estimate(q, block);
        select_clear(q);
        uint32_t at = count;
        while (at > 0 && looks[at - 1].estimate > estimate) {
            if (at < most) {
                looks[at] = looks[at - 1];
            }
            at--;
        }
        if (at < most) {
            looks[at].pod = pod;
            looks[at].estimate = estimate;
            count += count < most;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        select_pod(q, looks[i].pod, q->nodes, block);
        order_blocks(q, block);
        select_clear(q);
    }
    return count > 0;
}

/* Nodes under one set of leaves that the request allows. */
static uint32_t leaf_max(const struct myr_request *r)
{
    return r->leaf_max ? r->leaf_max : UINT32_MAX;
}

/* A scale-up domain that holds the gang: the one with the fewest free nodes that suffice. */
static bool try_domain(struct search *q)
{
    const struct myr_placer *p = q->p;
    uint32_t best = MYR_NONE, best_count = 0, best_end = 0;
    if (q->nodes > p->domain_nodes || q->nodes > leaf_max(q->request)) {
        return false; /* a domain lies under one set of leaves */
    }
    /* Domains are runs of numbers: counted in one walk, judged at their ends. */
    for (uint32_t node = 0, count = 0; node < p->shape.nodes; node++) {
        count += search_may_use(q, node);
        if (node + 1 == p->shape.nodes || p->domain_of[node + 1] != p->domain_of[node]) {
            if (count >= q->nodes && (best == MYR_NONE || count < best_count)) {
                best = p->domain_of[node];
                best_count = count;
                best_end = node;
            }
            count = 0;
        }
    }
    /* Backwards from the end of the domain, so they stand along the topology. */
    for (uint32_t node = best_end, left = q->nodes; best != MYR_NONE && left > 0; node--) {
        if (search_may_use(q, node)) {
            q->s->nodes[--left] = node;
        }
    }
    if (best != MYR_NONE) {
        q->base_cost = order_base_cost(q);
        q->have_nodes = true;
        order_plainly(q);
    }
    return best != MYR_NONE;
}

/* Block sizes to try: those of the most promising candidates, each once. */
static uint32_t blocks_of(const struct search *q, uint32_t *ret)
{
    uint32_t count = 0, most = q->nodes <= SEARCH_TINY_CELLS ? BLOCKS_MAX - 1 : BLOCKS_FEW;
    for (uint32_t i = 0; i < q->candidate_count; i++) {
        uint32_t block = q->s->candidates[i].block;
        bool known = block == 1;
        for (uint32_t k = 0; k < count && !known; k++) {
            known = ret[k] == block;
        }
        if (!known && count < most) {
            ret[count++] = block;
        }
    }
    /* Single nodes: the freest leaves filled to the brim. */
    if (count == 0 || q->nodes <= SEARCH_SMALL_CELLS) {
        ret[count++] = 1;
    }
    MYR_ASSERT(count <= BLOCKS_MAX);
    return count;
}

/* Every node under one set of leaves; false when none has room. */
static bool try_leaf(struct search *q, const uint32_t *blocks, uint32_t block_count)
{
    if (select_leaf(q) == MYR_NONE) {
        return false;
    }
    if (q->p->domain_nodes == 1) {
        set_base(q);
        order_plainly(q); /* all nodes of a leaf are equally near */
    }
    for (uint32_t i = 0; i < block_count && q->p->domain_nodes > 1; i++) {
        order_blocks(q, blocks[i]);
    }
    select_clear(q);
    return true;
}

/* Over several pods, from the strictest alignment of blocks on. */
static void try_core(struct search *q, uint32_t block)
{
    int align = !q->traffic || block == 1         ? ALIGN_NONE
                : block > q->p->shape.group_nodes ? ALIGN_POD
                                                  : ALIGN_LEAF;
    /* Of large gangs most leaves are taken whole: one choice of them is much like another. */
    int last = q->nodes > LARGE_GANG ? align : ALIGN_NONE;
    for (; align >= last; align--) {
        select_pods(q, block, (enum align)align);
        order_blocks(q, block);
        select_clear(q);
    }
    if (q->nodes <= SEARCH_SMALL_CELLS) {
        select_range(q, 0, q->p->groups, q->nodes, block);
        order_blocks(q, block);
        select_clear(q);
    }
}

/* Tiny gangs of small clusters may do better in two leaves than break up a third. */
static bool may_split(const struct search *q)
{
    return q->traffic && q->nodes <= SEARCH_TINY_CELLS && q->p->groups <= SEARCH_FEW_LEAVES;
}

/*
 * Blocks that stay whole in a scale-up domain, leaf by leaf and pod by pod: what they send each
 * other never meets a NIC. A rack of 18 nodes holds one block of 16, so leaves give fewer nodes
 * then than they have, and a few more of them are touched; the price says what is better.
 */
static void try_domain_blocks(struct search *q, uint32_t block, enum myr_level within)
{
    if (block <= 1 || block > q->p->domain_nodes || !select_align(q, block)) {
        return;
    }
    if (within >= MYR_LEVEL_LEAF) {
        (void)try_leaf(q, &block, 1);
    }
    bool held = within >= MYR_LEVEL_POD && try_pods(q, block);
    if (within == MYR_LEVEL_CORE && (!held || q->nodes <= SEARCH_SMALL_CELLS)) {
        try_core(q, block);
    }
    select_align_end(q);
}

/* Scopes from near to far, until one settles it; false: nowhere is there room. */
static bool search(struct search *q)
{
    const struct myr_request *r = q->request;
    uint32_t blocks[BLOCKS_MAX], block_count;
    enum myr_level within = r->limited ? r->within : MYR_LEVEL_CORE;
    bool domains = q->p->domain_nodes > 1;
    /* With penalties, or where splitting may pay, the nearest place need not be the cheapest. */
    q->settled = !q->p->penalised && !may_split(q);
    /* Without domains every node is one: a single node lies in it. */
    bool domain = domains || within == MYR_LEVEL_DOMAIN;
    if (domain && try_domain(q) && q->settled) {
        return true;
    }
    if (q->traffic && domains) {
        candidates_find(q);
    }
    block_count = blocks_of(q, blocks);
    for (uint32_t i = 0; domains && i < block_count; i++) {
        try_domain_blocks(q, blocks[i], within);
        /* A whole block in each domain may be worth more than all under one leaf. */
        q->settled = q->settled && q->best_cost < 0;
    }
    if (within >= MYR_LEVEL_LEAF && try_leaf(q, blocks, block_count) && q->settled) {
        return true;
    }
    if (q->traffic && !domains) {
        candidates_find(q);
        block_count = blocks_of(q, blocks);
    }
    q->settled = q->nodes == 1;
    for (uint32_t i = 0; within >= MYR_LEVEL_POD && i < block_count; i++) {
        bool held = try_pods(q, blocks[i]);
        /* Small gangs look farther: light groups may well cross where heavy ones need not. */
        if (within == MYR_LEVEL_CORE && (!held || q->nodes <= SEARCH_SMALL_CELLS)) {
            try_core(q, blocks[i]);
        }
    }
    /* Negative: no scope held it. */
    return q->best_cost >= 0;
}

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

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Nodes that are equally near are given out in their own order: people read these lists. */
static void straighten(struct search *q)
{
    /* s->nodes is sorted, so the nodes of a unit follow each other there. */
    const struct myr_placer *p = q->p;
    const uint32_t *unit_of = p->domain_nodes > 1 ? p->domain_of : p->group_of;
    uint32_t *next = q->s->zone_used;
    for (uint32_t i = q->nodes; i-- > 0;) {
        next[unit_of[q->s->nodes[i]]] = i;
    }
    for (uint32_t i = 0; i < q->nodes; i++) {
        uint32_t unit = unit_of[q->s->best[i]];
        q->s->best[i] = q->s->nodes[next[unit]++];
    }
}

/* The gang's shares in rank order; the index is told along the topology. */
static void take_best(struct search *q, struct myr_gang *gang)
{
    struct myr_placer *p = q->p;
    bool whole = q->gpus == p->shape.gpus_per_node;
    for (uint32_t i = 0; i < q->nodes; i++) {
        uint32_t node = q->s->best[i];
        uint64_t gpus = whole ? p->whole : lowest(p->free_mask[node], q->gpus);
        MYR_ASSERT(gpus != 0);
        MYR_ASSERT(!p->closed[node]);
        gang->shares[gang->count++] = (struct myr_share){node, gpus};
        if (!whole) {
            index_set_mask(p, node, p->free_mask[node] & ~gpus);
        }
    }
    if (whole) {
        index_take_whole(p, q->s->nodes, q->nodes);
    }
    MYR_ASSERT(gang->count == q->nodes);
}

/*
 * Two ways of counting the same: by positions as searched, in integers, and by cells as returned,
 * in bytes. A millionth is for what rounding to integers loses.
 */
static bool agrees(const struct search *q, double total)
{
    double searched = (double)q->best_cost / (double)q->unit_cost * q->unit_bytes;
    double near = 1e-6 * (total + q->unit_bytes * q->nodes);
    return searched - total <= near && total - searched <= near;
}

bool myr_place_gang(struct myr_placer *p, const struct myr_request *r, struct myr_placement *ret)
{
    struct search q = start(p, r);
    ret->gang.count = 0;
    MYR_ASSERT(r->nodes > 0);
    if (count_nodes(&q) < r->nodes || !search(&q)) {
        return false;
    }
    /* A limit or a spread must not be traded away, and swaps do not know them. */
    if (!r->limited && !myr_request_spreads(r) && !q.settled) {
        local_search(&q);
    }
    /* Local search may have brought in other nodes than those chosen. */
    memcpy(q.s->nodes, q.improved ? q.s->best : q.s->best_nodes, r->nodes * sizeof(uint32_t));
    if (q.improved) {
        qsort(q.s->nodes, r->nodes, sizeof(uint32_t), by_node);
    }
    straighten(&q);
    order_cost(&q, q.s->best, &ret->cost);
    MYR_ASSERT(agrees(&q, ret->cost.total));
    take_best(&q, &ret->gang);
    return true;
}

uint32_t myr_request_size(struct myr_placer *p, const struct myr_request *r)
{
    struct search q = start(p, r);
    /* Nothing tells nodes apart, so the count is the answer. */
    if (is_plain(&q) && !r->leaf_max && (!r->limited || r->within == MYR_LEVEL_CORE)) {
        return p->free_nodes < r->nodes ? p->free_nodes : r->nodes; /* any nodes will do */
    }
    uint32_t size = count_nodes(&q), most = 0;
    if (r->limited && r->within < MYR_LEVEL_CORE) {
        uint32_t units = r->within == MYR_LEVEL_POD ? p->pods : p->groups;
        const uint32_t *room = r->within == MYR_LEVEL_POD ? q.s->pod_free : q.s->leaf_free;
        for (uint32_t i = 0; i < units && r->within >= MYR_LEVEL_LEAF; i++) {
            most = room[i] > most ? room[i] : most;
        }
        for (uint32_t node = 0, count = 0; node < p->shape.nodes && r->within == MYR_LEVEL_DOMAIN;
             node++) {
            count = node && p->domain_of[node] != p->domain_of[node - 1] ? 0 : count;
            count += search_may_use(&q, node);
            most = count > most && count <= leaf_max(r) ? count : most;
        }
        size = most;
    }
    return size < r->nodes ? size : r->nodes;
}

void myr_place_cost_of(struct myr_placer *p, const struct myr_request *r,
                       const struct myr_gang *gang, struct myr_place_cost *ret)
{
    struct search q = start(p, r);
    MYR_ASSERT(gang->count == r->nodes);
    MYR_ASSERT(r->nodes <= p->shape.nodes);
    for (uint32_t i = 0; i < gang->count; i++) {
        MYR_ASSERT(gang->shares[i].node < p->shape.nodes);
        q.s->cells[i] = gang->shares[i].node;
    }
    memcpy(q.s->nodes, q.s->cells, r->nodes * sizeof(uint32_t));
    qsort(q.s->nodes, r->nodes, sizeof(uint32_t), by_node);
    order_cost(&q, q.s->cells, ret);
}

/* On an empty cluster and without constraints; the search itself finds the best it can. */
double myr_place_cost_best(const struct myr_placer *p, const struct myr_request *r)
{
    struct myr_placer *empty = myr_placer_create(&p->shape);
    struct myr_request plain = {
        .nodes = r->nodes, .gpus_per_node = r->gpus_per_node, .traffic = r->traffic};
    struct myr_placement best = {.gang.shares = myr_xcalloc(r->nodes, sizeof(struct myr_share))};
    myr_placer_set_domain(empty, p->domain_nodes);
    bool placed = r->nodes <= p->shape.nodes && myr_place_gang(empty, &plain, &best);
    double cost = placed ? best.cost.groups : 0;
    free(best.gang.shares);
    myr_placer_free(empty);
    return cost;
}
