#include <stdlib.h>

#include "search.h"

enum {
    TRIES_TINY = 20000, /* of all starts together: bounds the time of a decision */
    TRIES_SMALL = 2500,
    TRIES_MEDIUM = 6000, /* narrower ones */
    TRIES_LARGE = 600,   /* in large clusters, where decisions are many and nodes alike */
    MEMBER_MAX = 24,
    GROUPS_MAX = SEARCH_SWAP_CELLS * MYR_TRAFFIC_FAMILIES_MAX,
    KICKS = 32,
};

struct cell_set {
    uint64_t words[(SEARCH_SWAP_CELLS + 63) / 64];
};

static void add_cell(struct cell_set *set, uint32_t cell)
{
    set->words[cell / 64] |= UINT64_C(1) << cell % 64;
}

static bool has_cell(const struct cell_set *set, uint32_t cell)
{
    return set->words[cell / 64] >> cell % 64 & 1;
}

/*
 * A group of cells. How many of its members lie in each unit, and in how many units they lie at
 * all, tells what a move would change in O(1), whatever its size; two members are just compared.
 */
struct group {
    struct cell_set members;
    uint32_t family, first, last; /* cells: the first and the last member */
    bool pair;
    uint32_t at;                   /* of its counts, when it is no pair */
    uint32_t distinct[UNIT_COUNT]; /* units that members lie in */
};

/* Groups that a cell is in. */
struct membership {
    uint32_t count;
    uint16_t groups[MEMBER_MAX];
};

struct swaps {
    struct search *q;
    uint32_t slots; /* cells, then nodes that could stand in for one */
    uint32_t *node; /* by slot */
    /* By slot: the unit of its node, numbered from 0 in the order they are met. */
    uint8_t unit[UNIT_COUNT][SEARCH_SLOTS_MAX];
    uint32_t units[UNIT_COUNT]; /* how many */
    uint32_t finest;            /* the lowest level that tells nodes apart */
    struct membership of[SEARCH_SWAP_CELLS];
    struct group groups[GROUPS_MAX];
    uint32_t group_count, counted;             /* of them no pairs */
    uint32_t broken[MYR_TRAFFIC_FAMILIES_MAX]; /* by family: over all levels */
    uint32_t leaves, pods;                     /* that the cells touch */
    double base, groups_cost;                  /* the two parts of the cost */
    bool narrow;                               /* look only where a broken group could be mended */
    uint32_t tries, tries_max;
};

static void find_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    for (uint32_t f = 0; t && f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            struct group *group = &w->groups[w->group_count];
            *group = (struct group){.family = f, .pair = family->group_size == 2};
            group->at = group->pair ? 0 : w->counted++;
            for (uint32_t m = 0; m < family->group_size; m++) {
                uint32_t cell = family->firsts[g] + family->offsets[m];
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

/* The other member of a pair. */
static uint32_t partner(const struct group *group, uint32_t cell)
{
    return group->first == cell ? group->last : group->first;
}

/* Member number m of a group. */
static uint32_t member_of(const struct swaps *w, const struct group *group, uint32_t m)
{
    return group->first + w->q->traffic->families[group->family].offsets[m];
}

static uint32_t size_of(const struct swaps *w, const struct group *group)
{
    return w->q->traffic->families[group->family].group_size;
}

static uint8_t *counts_of(const struct swaps *w, const struct group *group, uint32_t level)
{
    return w->q->s->counts + ((size_t)group->at * UNIT_COUNT + level) * SEARCH_SLOTS_MAX;
}

/* Levels that a group is broken at. */
static uint32_t broken_levels(const struct swaps *w, const struct group *group)
{
    /* Single nodes are domains of their own: every group is broken at that level. */
    uint32_t sum = w->finest;
    uint32_t a = group->first, b = group->last;
    for (uint32_t level = w->finest; level < UNIT_COUNT; level++) {
        sum += group->pair ? w->unit[level][a] != w->unit[level][b] : group->distinct[level] > 1;
    }
    return sum;
}

static void count_member(struct swaps *w, struct group *group, uint32_t slot, bool joins)
{
    for (uint32_t level = w->finest; level < UNIT_COUNT && !group->pair; level++) {
        uint8_t *count = &counts_of(w, group, level)[w->unit[level][slot]];
        group->distinct[level] += joins && *count == 0;
        *count = (uint8_t)(joins ? *count + 1 : *count - 1);
        group->distinct[level] -= !joins && *count == 0;
    }
}

/* Counts every member of every group anew. */
static void count_groups(struct swaps *w)
{
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
        if (w->slots == begin + each && !p->penalised) {
            return;
        }
    }
}

static void find_spares(struct swaps *w)
{
    const struct myr_placer *p = w->q->p;
    /* Free nodes of a leaf are all alike but for domains and penalties. */
    bool alike = p->domain_nodes == 1 && !p->penalised;
    uint32_t each = p->groups <= 24 ? 4 : 2;
    each = alike && w->narrow ? 1 : each;
    w->slots = w->q->nodes;
    for (uint32_t leaf = 0; leaf < p->groups && w->slots + each <= SEARCH_SLOTS_MAX; leaf++) {
        uint32_t pod = leaf * p->shape.group_nodes / p->shape.pod_nodes;
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

static double penalty_of(const struct myr_placer *p, uint32_t node)
{
    return 0.001 * ((double)p->node_penalty[node] + p->group_penalty[p->group_of[node]]);
}

/* A node joins the gang, or leaves it: room lost for other gangs, and penalties. */
static void count_node(struct swaps *w, uint32_t node, bool joins)
{
    const struct myr_placer *p = w->q->p;
    uint32_t leaf = p->group_of[node], pod = p->pod_of[node];
    uint32_t *take = &w->q->s->take[leaf], *pod_take = &w->q->s->pod_take[pod];
    uint32_t before = joins ? *take : *take - 1, pod_before = joins ? *pod_take : *pod_take - 1;
    double change = p->penalised ? penalty_of(p, node) : 0;
    if (w->q->gpus == p->shape.gpus_per_node) {
        /* f² - (f - 1)² */
        change +=
            MYR_FRAGMENT_LEAF * (2.0 * (p->by_group.count[leaf] - before) - 1) /
                p->shape.group_nodes +
            MYR_FRAGMENT_POD * (2.0 * (p->by_pod.count[pod] - pod_before) - 1) / p->shape.pod_nodes;
    }
    w->base += (joins ? change : -change) * w->q->unit_bytes;
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

static void move_members(struct swaps *w, uint32_t cell, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; cell < w->q->nodes && i < w->of[cell].count; i++) {
        struct group *group = &w->groups[w->of[cell].groups[i]];
        count_member(w, group, from, false);
        count_member(w, group, to, true);
    }
}

/* A group of both cells leaves and comes back twice at the same level: its members are the same. */
static void exchange(struct swaps *w, uint32_t i, uint32_t j)
{
    uint32_t node = w->node[i];
    if (j >= w->q->nodes) {
        count_node(w, node, false);
        count_node(w, w->node[j], true);
    }
    count_cell(w, i, false);
    count_cell(w, j, false);
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
static double ring_cost(const struct swaps *w)
{
    uint32_t pods = w->pods > 1 ? w->pods : 0, leaves = w->leaves > 1 ? w->leaves : 0;
    return w->q->nodes > 1 ? (double)w->q->nodes + leaves + pods : 0;
}

static void price_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    w->groups_cost = t ? 0 : ring_cost(w);
    for (uint32_t f = 0; t && f < t->family_count; f++) {
        w->groups_cost += t->families[f].bytes * w->broken[f];
    }
}

/* Keeps what was just tried when it is cheaper than it was before. */
static bool accept(struct swaps *w, double base, double groups)
{
    price_groups(w);
    double before = base + groups, after = w->base + w->groups_cost;
    if (after < before * (1 - 1e-12) - 1e-12) {
        return true;
    }
    w->groups_cost = groups;
    return false;
}

/* What the groups of a cell would cost more if it moved to where another slot is. */
static double change_of(const struct swaps *w, uint32_t cell, uint32_t to)
{
    double sum = 0;
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
            uint32_t after = group->distinct[level] - (counts[a] == 1) + (counts[b] == 0);
            change += (after > 1) - (group->distinct[level] > 1);
        }
        sum += change * w->q->traffic->families[group->family].bytes;
    }
    return sum;
}

/* Two cells trade places, or a cell moves to a spare node. */
static bool try_swap(struct swaps *w, uint32_t i, uint32_t j)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    bool spare = j >= q->nodes;
    bool alike = p->domain_nodes == 1 && w->unit[UNIT_LEAF][i] == w->unit[UNIT_LEAF][j];
    if ((alike && !(spare && p->penalised)) || (!q->traffic && !spare)) {
        return false;
    }
    w->tries++;
    double base = w->base, groups = w->groups_cost;
    if (q->traffic && !spare && change_of(w, i, j) + change_of(w, j, i) >= 0) {
        return false;
    }
    if (q->traffic && spare && !p->penalised && w->narrow && change_of(w, i, j) >= 0) {
        return false;
    }
    exchange(w, i, j);
    if (accept(w, base, groups)) {
        return true;
    }
    exchange(w, i, j);
    return false;
}

/* Two whole groups of a family trade places. */
static bool try_groups(struct swaps *w, const struct myr_traffic_family *f, uint32_t a, uint32_t b)
{
    for (uint32_t m = 0; m < f->group_size; m++) {
        for (uint32_t k = 0; k < f->group_size; k++) {
            if (f->firsts[a] + f->offsets[m] == f->firsts[b] + f->offsets[k]) {
                return false; /* they share a cell */
            }
        }
    }
    double groups = w->groups_cost;
    w->tries++;
    for (uint32_t m = 0; m < f->group_size; m++) {
        exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    if (accept(w, w->base, groups)) {
        return true;
    }
    for (uint32_t m = 0; m < f->group_size; m++) {
        exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    return false;
}

/* Leaves or pods: which one a node is in, and how much room each has. */
struct units {
    const uint32_t *of, *room;
};

/* Cells gather in one unit: on its spare nodes, and in the places of other cells there. */
static bool try_gather(struct swaps *w, const uint32_t *members, uint32_t count,
                       const struct units *units, uint32_t unit)
{
    uint32_t with[SEARCH_SWAP_CELLS], done = 0, from = w->slots;
    struct cell_set own_cells = {0};
    double base = w->base, groups = w->groups_cost;
    for (uint32_t m = 0; m < count; m++) {
        add_cell(&own_cells, members[m]);
    }
    bool whole = true;
    for (uint32_t m = 0; m < count && whole; m++) {
        with[m] = MYR_NONE;
        if (units->of[w->node[members[m]]] == unit) {
            continue;
        }
        /* Spares are at the end: they come first. */
        while (from > 0 && with[m] == MYR_NONE) {
            from--;
            bool own = from < w->q->nodes && has_cell(&own_cells, from);
            with[m] = !own && units->of[w->node[from]] == unit ? from : MYR_NONE;
        }
        whole = with[m] != MYR_NONE;
        if (whole) {
            exchange(w, members[m], with[m]);
            done = m + 1;
        }
    }
    w->tries++;
    if (whole && done && accept(w, base, groups)) {
        return true;
    }
    for (uint32_t m = done; m-- > 0;) {
        if (with[m] != MYR_NONE) {
            exchange(w, members[m], with[m]);
        }
    }
    return false;
}

static bool gather_everywhere(struct swaps *w, const uint32_t *members, uint32_t count,
                              const struct units *units)
{
    bool better = false;
    uint32_t seen[SEARCH_SLOTS_MAX], seen_count = 0;
    for (uint32_t i = 0; i < w->slots; i++) {
        uint32_t unit = units->of[w->node[i]], k = 0;
        while (k < seen_count && seen[k] != unit) {
            k++;
        }
        /* A unit with too little room is no try. */
        if (k == seen_count) {
            seen[seen_count++] = unit;
            better = (units->room[unit] >= count && try_gather(w, members, count, units, unit)) ||
                     better;
        }
    }
    return better;
}

static bool move_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    const struct units leaves = {w->q->p->group_of, w->q->s->leaf_free};
    uint32_t members[SEARCH_SWAP_CELLS] = {0}, at = 0;
    bool better = false;
    for (uint32_t f = 0; f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        uint32_t first = at;
        at += family->group_count;
        for (uint32_t g = 0; g < family->group_count && w->tries < w->tries_max; g++) {
            if (w->narrow &&
                (family->group_size == 2 || broken_levels(w, &w->groups[first + g]) <= UNIT_LEAF)) {
                continue; /* pairs are mended cell by cell */
            }
            for (uint32_t m = 0; m < family->group_size; m++) {
                members[m] = family->firsts[g] + family->offsets[m];
            }
            better = gather_everywhere(w, members, family->group_size, &leaves) || better;
            for (uint32_t h = g + 1; h < family->group_count && family->group_size > 1; h++) {
                better = try_groups(w, family, g, h) || better;
            }
        }
    }
    return better;
}

/* All cells of one unit move to another. */
static bool move_units(struct swaps *w, const struct units *units)
{
    uint32_t members[SEARCH_SWAP_CELLS] = {0};
    bool better = false;
    for (uint32_t i = 0; i < w->q->nodes && w->tries < w->tries_max; i++) {
        uint32_t count = 0, unit = units->of[w->node[i]];
        for (uint32_t k = 0; k < w->q->nodes; k++) {
            members[count] = k;
            count += units->of[w->node[k]] == unit;
        }
        /* Once for each unit: its first cell. */
        better = (members[0] == i && gather_everywhere(w, members, count, units)) || better;
    }
    return better;
}

/* Takes up a placement, counted into take and pod_take. */
static void take_up(struct swaps *w, const uint32_t *from)
{
    memcpy(w->node, from, w->q->nodes * sizeof(uint32_t));
    w->base = 0;
    w->leaves = w->pods = 0;
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        count_node(w, w->node[i], true);
        w->q->s->chosen[w->node[i] / 64] |= UINT64_C(1) << w->node[i] % 64;
    }
    find_spares(w);
    number_units(w);
    count_groups(w);
    price_groups(w);
}

static void set_down(struct swaps *w)
{
    for (uint32_t i = 0; i < w->slots; i++) {
        w->q->s->chosen[w->node[i] / 64] = 0;
    }
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        w->q->s->take[w->q->p->group_of[w->node[i]]] = 0;
        w->q->s->pod_take[w->q->p->pod_of[w->node[i]]] = 0;
    }
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A set of leaves or pods. */
struct unit_set {
    uint64_t words[(SEARCH_SLOTS_MAX + 63) / 64];
};

static bool in_set(const struct unit_set *set, uint32_t unit)
{
    return set->words[unit / 64] >> unit % 64 & 1;
}

/* Where the other members of a cell's broken groups lie; false when it has none. */
static bool find_targets(const struct swaps *w, uint32_t cell, struct unit_set *leaves,
                         struct unit_set *pods)
{
    bool found = false;
    *leaves = *pods = (struct unit_set){0};
    for (uint32_t i = 0; i < w->of[cell].count; i++) {
        const struct group *group = &w->groups[w->of[cell].groups[i]];
        uint32_t levels = broken_levels(w, group);
        if (levels <= UNIT_LEAF) {
            continue;
        }
        found = true;
        for (uint32_t m = 0; m < size_of(w, group); m++) {
            uint32_t other = member_of(w, group, m);
            uint8_t leaf = w->unit[UNIT_LEAF][other], pod = w->unit[UNIT_POD][other];
            leaves->words[leaf / 64] |= UINT64_C(1) << leaf % 64;
            if (levels > UNIT_POD && pod != w->unit[UNIT_POD][cell]) {
                pods->words[pod / 64] |= UINT64_C(1) << pod % 64;
            }
        }
    }
    return found;
}

/* A cell goes to where others of its groups are: of all trades those that can mend something. */
static bool mend_cell(struct swaps *w, uint32_t cell)
{
    struct unit_set leaves, pods;
    bool better = false, broken = find_targets(w, cell, &leaves, &pods);
    for (uint32_t j = 0; j < w->slots && broken; j++) {
        bool target = in_set(&leaves, w->unit[UNIT_LEAF][j]) || in_set(&pods, w->unit[UNIT_POD][j]);
        if (target && j != cell && try_swap(w, cell, j)) {
            better = true;
            broken = find_targets(w, cell, &leaves, &pods);
        }
    }
    return better;
}

static bool trade_cell(struct swaps *w, uint32_t cell)
{
    bool better = false;
    for (uint32_t j = cell + 1; j < w->slots; j++) {
        better = try_swap(w, cell, j) || better;
    }
    return better;
}

/* Downhill to where no move helps. */
static void descend(struct swaps *w)
{
    struct search *q = w->q;
    const struct units leaves = {q->p->group_of, q->s->leaf_free};
    const struct units pods = {q->p->pod_of, q->s->pod_free};
    bool better = true;
    while (better && w->tries < w->tries_max) {
        better = false;
        for (uint32_t i = 0; i < q->nodes && w->tries < w->tries_max; i++) {
            better = (w->narrow ? mend_cell(w, i) : trade_cell(w, i)) || better;
        }
        better = (q->traffic && move_groups(w)) || better;
        better = (!w->narrow && move_units(w, &leaves)) || better;
        better = (!w->narrow && move_units(w, &pods)) || better;
    }
    if (w->base + w->groups_cost < q->best_cost) {
        q->best_cost = w->base + w->groups_cost;
        q->improved = true;
        memcpy(q->s->best, w->node, q->nodes * sizeof(uint32_t));
        if (!q->traffic) {
            qsort(q->s->best, q->nodes, sizeof(uint32_t), by_node);
        }
    }
}

/* Kept with the placer's scratch: large, and mostly written anew by find_groups(). */
static struct swaps *swaps_of(struct search *q)
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
    w->narrow = q->traffic && (q->p->groups > SEARCH_FEW_LEAVES || q->nodes > SEARCH_SMALL_CELLS);
    w->tries_max = q->p->groups > SEARCH_FEW_LEAVES ? TRIES_LARGE
                   : q->nodes <= SEARCH_TINY_CELLS  ? TRIES_TINY
                   : q->nodes <= SEARCH_SMALL_CELLS ? TRIES_SMALL
                                                    : TRIES_MEDIUM;
    for (uint32_t cell = 0; cell < q->nodes; cell++) {
        w->of[cell].count = 0;
    }
    return w;
}

void improve_by_swaps(struct search *q)
{
    struct myr_rng rng;
    bool ring = !q->traffic && (q->p->domain_nodes > 1 || q->nodes > SEARCH_TINY_CELLS);
    uint32_t starts = q->start_count;
    if (q->nodes > SEARCH_SWAP_CELLS || q->nodes < 2 || ring || starts == 0) {
        return;
    }
    struct swaps *w = swaps_of(q);
    select_clear(q);
    find_groups(w);
    for (uint32_t i = 0; i < starts; i++) {
        take_up(w, q->s->starts[i]);
        descend(w);
        set_down(w);
    }
    /* A few random trades, then downhill again: tiny gangs are worth a second look. */
    myr_rng_init(&rng, q->nodes, 0);
    bool tiny = q->nodes <= SEARCH_TINY_CELLS;
    for (uint32_t i = 0; i < KICKS && tiny && w->tries < w->tries_max; i++) {
        take_up(w, i % 3 ? q->s->best : q->s->starts[i % starts]);
        for (uint32_t k = 2 + myr_rng_below(&rng, 5); k > 0; k--) {
            uint32_t cell = myr_rng_below(&rng, q->nodes), slot = myr_rng_below(&rng, w->slots);
            exchange(w, cell, slot);
        }
        price_groups(w);
        descend(w);
        set_down(w);
    }
}
