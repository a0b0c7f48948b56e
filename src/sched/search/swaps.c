#include "search/swaps.h"

/* Trades that may be tried, by the size of the gang and of the cluster. */
enum {
    TRIES_TINY = 20000, /* of all starts together: bounds the time of a decision */
    TRIES_SMALL = 2500,
    TRIES_MEDIUM = 6000, /* narrower ones */
    TRIES_LARGE = 600,   /* in large clusters, where decisions are many and nodes alike */
};

/* Groups, and for each cell those that it is in; written once for a search. */
static void find_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    for (uint32_t f = 0; t && f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            struct group *group = &w->groups[w->group_count];
            MYR_ASSERT(w->group_count < GROUPS_MAX);
            *group = (struct group){.family = f, .pair = family->group_size == 2};
            /* Pairs need no counts: their two members are compared. */
            group->at = group->pair ? 0 : w->counted++;
            for (uint32_t m = 0; m < family->group_size; m++) {
                uint32_t cell = family->firsts[g] + family->offsets[m];
                MYR_ASSERT(cell < w->q->nodes);
                struct membership *of = &w->of[cell];
                add_cell(&group->members, cell);
                group->first = m ? group->first : cell;
                group->last = cell;
                MYR_ASSERT(of->count < MEMBER_MAX);
                of->groups[of->count++] = (uint16_t)w->group_count;
            }
            w->group_count++;
        }
    }
}

/* The first member in a unit makes it count, the last one to leave ends that. */
static void count_member(struct swaps *w, struct group *group, uint32_t slot, bool joins)
{
    for (uint32_t level = w->finest; level < UNIT_COUNT && !group->pair; level++) {
        uint8_t *count = &counts_of(w, group, level)[w->unit[level][slot]];
        MYR_SLOW_ASSERT(joins || (*count > 0 && group->distinct[level] > 0));
        group->distinct[level] += joins && *count == 0;
        *count = (uint8_t)(joins ? *count + 1 : *count - 1);
        group->distinct[level] -= !joins && *count == 0;
    }
}

/* Counts every member of every group anew. */
static void count_groups(struct swaps *w)
{
    MYR_ASSERT((size_t)w->counted * UNIT_COUNT * SEARCH_SLOTS_MAX <= SEARCH_COUNTS_MAX);
    memset(w->q->s->counts, 0, (size_t)w->counted * UNIT_COUNT * SEARCH_SLOTS_MAX);
    memset(w->broken, 0, sizeof(w->broken));
    for (uint32_t g = 0; g < w->group_count; g++) {
        struct group *group = &w->groups[g];
        memset(group->distinct, 0, sizeof(group->distinct));
        for (uint32_t m = 0; m < size_of(w, group) && !group->pair; m++) {
            count_member(w, group, member_of(w, group, m), true);
        }
        w->broken[group->family] += broken_levels(w, group);
    }
}

/* Some free nodes of a leaf: those with the least against them. */
static void find_spares_of(struct swaps *w, uint32_t leaf, uint32_t each)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf);
    uint32_t begin = w->slots;
    for (uint32_t node = first; node < end; node++) {
        if (node % 64 == 0 && !(q->s->words[node / 64] & ~q->s->chosen[node / 64])) {
            node += 63; /* none here */
            continue;
        }
        if (!search_may_use(q, node) || (q->s->chosen[node / 64] >> node % 64 & 1)) {
            continue;
        }
        uint32_t at = w->slots;
        while (at > begin && p->node_penalty[w->node[at - 1]] > p->node_penalty[node]) {
            if (at < begin + each) {
                w->node[at] = w->node[at - 1];
            }
            at--;
        }
        if (at < begin + each) {
            w->node[at] = node;
            w->slots += w->slots < begin + each;
        }
        /* Without penalties the first ones found are as good as any. */
        if (w->slots == begin + each && !p->penalised) {
            return;
        }
    }
}

/* Stand-ins leaf by leaf, as many as there are slots for. */
static void find_spares(struct swaps *w)
{
    const struct myr_placer *p = w->q->p;
    /* Free nodes of a leaf are all alike but for domains and penalties. */
    bool alike = p->domain_nodes == 1 && !p->penalised;
    /* Few leaves leave room for more stand-ins of each within the slots. */
    uint32_t each = p->groups <= 24 ? 4 : 2;
    each = alike && w->narrow ? 1 : each;
    w->slots = w->q->nodes;
    for (uint32_t leaf = 0; leaf < p->groups && w->slots + each <= SEARCH_SLOTS_MAX; leaf++) {
        uint32_t pod = leaf * p->shape.group_nodes / p->shape.pod_nodes;
        /* In large clusters other pods are not looked at: too many leaves for the slots. */
        if ((p->groups <= SEARCH_FEW_LEAVES || w->q->s->pod_take[pod] > 0) &&
            w->q->s->leaf_free[leaf] > w->q->s->take[leaf]) {
            find_spares_of(w, leaf, each);
        }
    }
}

/* Numbers the units that the slots lie in. */
static void number_units(struct swaps *w)
{
    const struct myr_placer *p = w->q->p;
    const uint32_t *const of[UNIT_COUNT] = {p->domain_of, p->group_of, p->pod_of};
    uint32_t *number = w->q->s->zone_used; /* free at this time */
    for (uint32_t level = w->finest; level < UNIT_COUNT; level++) {
        w->units[level] = 0;
        for (uint32_t i = 0; i < w->slots; i++) {
            number[of[level][w->node[i]]] = MYR_NONE;
        }
        for (uint32_t i = 0; i < w->slots; i++) {
            uint32_t *it = &number[of[level][w->node[i]]];
            *it = *it == MYR_NONE ? w->units[level]++ : *it;
            w->unit[level][i] = (uint8_t)*it;
        }
    }
}

/* A node joins the gang, or leaves it: room lost for other gangs, and penalties. */
static void count_node(struct swaps *w, uint32_t node, bool joins)
{
    const struct myr_placer *p = w->q->p;
    uint32_t leaf = p->group_of[node], pod = p->pod_of[node];
    uint32_t *take = &w->q->s->take[leaf], *pod_take = &w->q->s->pod_take[pod];
    /* Counts without the node itself, whichever way it goes. */
    uint32_t before = joins ? *take : *take - 1, pod_before = joins ? *pod_take : *pod_take - 1;
    MYR_SLOW_ASSERT(joins || (*take > 0 && *pod_take >= *take));
    int64_t change = 0;
    if (p->penalised) {
        change = search_penalty(w->q, (uint64_t)p->node_penalty[node] + p->group_penalty[leaf]);
    }
    if (w->q->gpus == p->shape.gpus_per_node) {
        /* f² - (f - 1)² */
        change += w->q->leaf_room * (2 * (int64_t)(p->by_group.count[leaf] - before) - 1) +
                  w->q->pod_room * (2 * (int64_t)(p->by_pod.count[pod] - pod_before) - 1);
    }
    w->base += joins ? change : -change;
    w->leaves += before ? 0 : joins ? 1U : UINT32_MAX;
    w->pods += pod_before ? 0 : joins ? 1U : UINT32_MAX;
    *take = joins ? before + 1 : before;
    *pod_take = joins ? pod_before + 1 : pod_before;
}

/* The groups of a slot's cell leave the sum of broken levels, or come back into it. */
static void count_cell(struct swaps *w, uint32_t cell, bool in)
{
    for (uint32_t i = 0; cell < w->q->nodes && i < w->of[cell].count; i++) {
        const struct group *group = &w->groups[w->of[cell].groups[i]];
        uint32_t levels = broken_levels(w, group);
        w->broken[group->family] += in ? levels : 0 - levels;
    }
}

/* In the counts of all groups that the cell is in. */
static void move_members(struct swaps *w, uint32_t cell, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; cell < w->q->nodes && i < w->of[cell].count; i++) {
        struct group *group = &w->groups[w->of[cell].groups[i]];
        count_member(w, group, from, false);
        count_member(w, group, to, true);
    }
}

/* A group of both cells leaves and comes back twice at the same level: its members are the same. */
void swaps_exchange(struct swaps *w, uint32_t i, uint32_t j)
{
    MYR_SLOW_ASSERT(i < w->q->nodes);
    MYR_SLOW_ASSERT(j < w->slots);
    uint32_t node = w->node[i];
    /* Between cells no node joins or leaves. */
    if (j >= w->q->nodes) {
        count_node(w, node, false);
        count_node(w, w->node[j], true);
    }
    count_cell(w, i, false);
    count_cell(w, j, false);
    /* Counts move before the slots do: units are still those of the slots as they were. */
    move_members(w, i, i, j);
    move_members(w, j, j, i);
    w->node[i] = w->node[j];
    w->node[j] = node;
    for (uint32_t level = w->finest; level < UNIT_COUNT; level++) {
        uint8_t unit = w->unit[level][i];
        w->unit[level][i] = w->unit[level][j];
        w->unit[level][j] = unit;
    }
    count_cell(w, i, true);
    count_cell(w, j, true);
}

/* A ring along the topology: one edge a node; those that leave a leaf or a pod are dearer. */
static int64_t ring_cost(const struct swaps *w)
{
    uint32_t pods = w->pods > 1 ? w->pods : 0, leaves = w->leaves > 1 ? w->leaves : 0;
    int64_t edges = (int64_t)w->q->nodes + leaves + pods;
    return w->q->nodes > 1 ? edges * w->q->unit_cost : 0;
}

void swaps_price(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    w->groups_cost = t ? 0 : ring_cost(w);
    for (uint32_t f = 0; t && f < t->family_count; f++) {
        w->groups_cost += w->q->weight[f] * w->broken[f];
    }
}

int64_t swaps_change(const struct swaps *w, uint32_t cell, uint32_t to)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->of[cell].count; i++) {
        const struct group *group = &w->groups[w->of[cell].groups[i]];
        int change = 0;
        if (to < w->q->nodes && has_cell(&group->members, to)) {
            continue; /* both are in it: they trade places, nothing changes */
        }
        uint32_t other = group->pair ? partner(group, cell) : 0;
        for (uint32_t level = w->finest; level < UNIT_COUNT; level++) {
            uint8_t a = w->unit[level][cell], b = w->unit[level][to];
            if (a == b) {
                continue;
            }
            if (group->pair) {
                change += (b != w->unit[level][other]) - (a != w->unit[level][other]);
                continue;
            }
            const uint8_t *counts = counts_of(w, group, level);
            /* It leaves a unit if it was the last there, and adds one if it is the first. */
            uint32_t after = group->distinct[level] - (counts[a] == 1) + (counts[b] == 0);
            change += (after > 1) - (group->distinct[level] > 1);
        }
        sum += change * w->q->weight[group->family];
    }
    return sum;
}

void swaps_take_up(struct swaps *w, const uint32_t *from)
{
    MYR_ASSERT(w->q->touched_count == 0);
    MYR_ASSERT(w->q->nodes <= SEARCH_SWAP_CELLS);
    memcpy(w->node, from, w->q->nodes * sizeof(uint32_t));
    /* Counted up node by node, as exchanges will. */
    w->base = 0;
    w->leaves = w->pods = 0;
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        count_node(w, w->node[i], true);
        w->q->s->chosen[w->node[i] / 64] |= UINT64_C(1) << w->node[i] % 64;
    }
    find_spares(w);
    MYR_ASSERT(w->slots >= w->q->nodes);
    MYR_ASSERT(w->slots <= SEARCH_SLOTS_MAX);
    number_units(w);
    count_groups(w);
    swaps_price(w);
}

void swaps_set_down(struct swaps *w)
{
    for (uint32_t i = 0; i < w->slots; i++) {
        /* Whole words: all bits in them are the gang's or a slot's. */
        w->q->s->chosen[w->node[i] / 64] = 0;
    }
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        w->q->s->take[w->q->p->group_of[w->node[i]]] = 0;
        w->q->s->pod_take[w->q->p->pod_of[w->node[i]]] = 0;
    }
}

/* Kept with the placer's scratch: large, and mostly written anew by find_groups(). */
struct swaps *swaps_start(struct search *q)
{
    if (!q->s->swaps) {
        q->s->swaps = myr_xcalloc(1, sizeof(struct swaps));
    }
    struct swaps *w = q->s->swaps;
    w->q = q;
    w->node = q->s->swapped;
    w->group_count = w->counted = 0;
    w->tries = 0;
    w->finest = q->p->domain_nodes > 1 ? UNIT_DOMAIN : UNIT_LEAF;
    /* In narrow searches only trades that can mend something are tried. */
    w->narrow = q->traffic && (q->p->groups > SEARCH_FEW_LEAVES || q->nodes > SEARCH_SMALL_CELLS);
    MYR_ASSERT(q->nodes > 1);
    MYR_ASSERT(q->nodes <= SEARCH_SWAP_CELLS);
    w->tries_max = q->p->groups > SEARCH_FEW_LEAVES ? TRIES_LARGE
                   : q->nodes <= SEARCH_TINY_CELLS  ? TRIES_TINY
                   : q->nodes <= SEARCH_SMALL_CELLS ? TRIES_SMALL
                                                    : TRIES_MEDIUM;
    for (uint32_t cell = 0; cell < q->nodes; cell++) {
        w->of[cell].count = 0;
    }
    find_groups(w);
    return w;
}
