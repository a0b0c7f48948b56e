#include <stdlib.h>

#include "search/swaps.h"

/*
 * Improves the placements of a small gang by trades: single cells, whole groups, all cells of a
 * leaf or pod. Only what is cheaper is kept, until nothing is; the number of tries is bounded, not
 * the time, so every machine ends with the same placement.
 */

enum { KICKS = 32 }; /* disturbed placements that a tiny gang tries again from */

/* Keeps what was just tried when it is cheaper than it was before. */
static bool accept(struct swaps *w, int64_t base, int64_t groups)
{
    swaps_price(w);
    /* The cost before is passed in: the trade has changed w->base already. */
    if (w->base + w->groups_cost < base + groups) {
        return true;
    }
    w->groups_cost = groups;
    return false;
}

/* Two cells trade places, or a cell moves to a spare node. */
static bool try_swap(struct swaps *w, uint32_t i, uint32_t j)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    bool spare = j >= q->nodes;
    /* Without domains the nodes of a leaf differ in nothing but penalties. */
    bool alike = p->domain_nodes == 1 && w->unit[UNIT_LEAF][i] == w->unit[UNIT_LEAF][j];
    if ((alike && !(spare && p->penalised)) || (!q->traffic && !spare)) {
        return false;
    }
    w->tries++;
    int64_t base = w->base, groups = w->groups_cost;
    /* What a trade between cells changes is known before it is made. */
    if (q->traffic && !spare && swaps_change(w, i, j) + swaps_change(w, j, i) >= 0) {
        return false;
    }
    /* A spare also changes room; in a narrow search only mending counts. */
    if (q->traffic && spare && !p->penalised && w->narrow && swaps_change(w, i, j) >= 0) {
        return false;
    }
    swaps_exchange(w, i, j);
    if (accept(w, base, groups)) {
        return true;
    }
    swaps_exchange(w, i, j);
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
    int64_t groups = w->groups_cost;
    w->tries++;
    for (uint32_t m = 0; m < f->group_size; m++) {
        swaps_exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    if (accept(w, w->base, groups)) {
        return true;
    }
    for (uint32_t m = 0; m < f->group_size; m++) {
        swaps_exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
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
    struct cell_set own_cells = {};
    int64_t base = w->base, groups = w->groups_cost;
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
            swaps_exchange(w, members[m], with[m]);
            done = m + 1;
        }
    }
    /* A try that found no room counts too: it took its time. */
    w->tries++;
    if (whole && done && accept(w, base, groups)) {
        return true;
    }
    /* Backwards, as exchanges undo each other only in that order. */
    for (uint32_t m = done; m-- > 0;) {
        if (with[m] != MYR_NONE) {
            swaps_exchange(w, members[m], with[m]);
        }
    }
    return false;
}

/* In each unit that any slot lies in and that has room for all of them. */
static bool gather_everywhere(struct swaps *w, const uint32_t *members, uint32_t count,
                              const struct units *units)
{
    bool better = false;
    uint32_t seen[SEARCH_SLOTS_MAX], seen_count = 0;
    /* Each unit once, in the order of slots. */
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

/* Whole groups gather under a leaf, or trade places with others of their family. */
static bool move_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    const struct units leaves = {w->q->p->group_of, w->q->s->leaf_free};
    /* Groups are numbered family by family, as swaps.c lists them. */
    uint32_t members[SEARCH_SWAP_CELLS] = {}, at = 0;
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
    uint32_t members[SEARCH_SWAP_CELLS] = {};
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

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A set of leaves or pods. */
struct unit_set {
    uint64_t words[(SEARCH_SLOTS_MAX + 63) / 64];
};

/* Units are numbered as in w->unit. */
static bool in_set(const struct unit_set *set, uint32_t unit)
{
    return set->words[unit / 64] >> unit % 64 & 1;
}

/* Where the other members of a cell's broken groups lie; false when it has none. */
static bool find_targets(const struct swaps *w, uint32_t cell, struct unit_set *leaves,
                         struct unit_set *pods)
{
    bool found = false;
    *leaves = *pods = (struct unit_set){};
    for (uint32_t i = 0; i < w->of[cell].count; i++) {
        const struct group *group = &w->groups[w->of[cell].groups[i]];
        uint32_t levels = broken_levels(w, group);
        if (levels <= UNIT_LEAF) {
            continue;
        }
        found = true;
        for (uint32_t m = 0; m < size_of(w, group); m++) {
            uint32_t other = member_of(w, group, m);
            /*
             * Any leaf of a member mends the leaf level; another pod only helps where that is
             * broken.
             */
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
            /* Its groups lie elsewhere now. */
            broken = find_targets(w, cell, &leaves, &pods);
        }
    }
    return better;
}

/* With every slot behind it: pairs are tried once. */
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
        /* Larger moves after the single ones, which are cheaper to try. */
        better = (q->traffic && move_groups(w)) || better;
        better = (!w->narrow && move_units(w, &leaves)) || better;
        better = (!w->narrow && move_units(w, &pods)) || better;
    }
    if (w->base + w->groups_cost < q->best_cost) {
        MYR_ASSERT(w->base >= 0);
        MYR_ASSERT(w->groups_cost >= 0);
        q->best_cost = w->base + w->groups_cost;
        q->improved = true;
        memcpy(q->s->best, w->node, q->nodes * sizeof(uint32_t));
        if (!q->traffic) {
            /* A ring is laid along the topology, whichever cell stood where. */
            qsort(q->s->best, q->nodes, sizeof(uint32_t), by_node);
        }
    }
}

void local_search(struct search *q)
{
    struct myr_rng rng;
    /* A ring has nothing to trade but nodes: only tiny gangs without domains try that. */
    bool ring = !q->traffic && (q->p->domain_nodes > 1 || q->nodes > SEARCH_TINY_CELLS);
    uint32_t starts = q->start_count;
    if (q->nodes > SEARCH_SWAP_CELLS || q->nodes < 2 || ring || starts == 0) {
        return;
    }
    MYR_ASSERT(q->best_cost >= 0);
    MYR_ASSERT(starts <= SEARCH_STARTS);
    struct swaps *w = swaps_start(q);
    select_clear(q);
    for (uint32_t i = 0; i < starts; i++) {
        swaps_take_up(w, q->s->starts[i]);
        descend(w);
        swaps_set_down(w);
    }
    /* A few random trades, then downhill again: tiny gangs are worth a second look. */
    myr_rng_init(&rng, q->nodes, 0);
    /* The seed is fixed: the same gang in the same state is disturbed in the same way. */
    bool tiny = q->nodes <= SEARCH_TINY_CELLS;
    for (uint32_t i = 0; i < KICKS && tiny && w->tries < w->tries_max; i++) {
        /* Mostly from the best one so far, sometimes from the other starts. */
        swaps_take_up(w, i % 3 ? q->s->best : q->s->starts[i % starts]);
        for (uint32_t k = 2 + myr_rng_below(&rng, 5); k > 0; k--) {
            uint32_t cell = myr_rng_below(&rng, q->nodes), slot = myr_rng_below(&rng, w->slots);
            swaps_exchange(w, cell, slot);
        }
        swaps_price(w);
        descend(w);
        swaps_set_down(w);
    }
}
