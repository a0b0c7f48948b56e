/*
 * swaps: a placement of a small gang that is changed trade by trade, with its cost kept up to date.
 *
 * The nodes of the gang and some free ones that could stand in for them are slots; the first slots
 * are the cells of the gang. swaps.c keeps the counts that tell what a trade would change,
 * local_search.c decides which trades to try.
 */
#pragma once

#include "search/search.h"

enum {
    MEMBER_MAX = 24, /* groups that one cell may be in */
    GROUPS_MAX = SEARCH_SWAP_CELLS * MYR_TRAFFIC_FAMILIES_MAX,
};

struct cell_set {
    uint64_t words[(SEARCH_SWAP_CELLS + 63) / 64];
};

static inline void add_cell(struct cell_set *set, uint32_t cell)
{
    set->words[cell / 64] |= UINT64_C(1) << cell % 64;
}

static inline bool has_cell(const struct cell_set *set, uint32_t cell)
{
    return set->words[cell / 64] >> cell % 64 & 1;
}

/*
 * A group of cells. How many of its members lie in each unit, and in how many units they lie at
 * all, tells what a move would change in O(1), whatever its size; two members are just compared.
 */
struct group {
    struct cell_set members;
    uint32_t family, first, last;  /* cells: the first and the last member */
    bool pair;                     /* two members: no counts */
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
    int64_t base, groups_cost;                 /* the two parts of the cost */
    bool narrow;                               /* look only where a broken group could be mended */
    uint32_t tries, tries_max;                 /* so far; then it ends */
};

/* The other member of a pair. */
static inline uint32_t partner(const struct group *group, uint32_t cell)
{
    return group->first == cell ? group->last : group->first;
}

/* Member number m of a group. */
static inline uint32_t member_of(const struct swaps *w, const struct group *group, uint32_t m)
{
    return group->first + w->q->traffic->families[group->family].offsets[m];
}

static inline uint32_t size_of(const struct swaps *w, const struct group *group)
{
    return w->q->traffic->families[group->family].group_size;
}

static inline uint8_t *counts_of(const struct swaps *w, const struct group *group, uint32_t level)
{
    return w->q->s->counts + ((size_t)group->at * UNIT_COUNT + level) * SEARCH_SLOTS_MAX;
}

/* Levels that a group is broken at. */
static inline uint32_t broken_levels(const struct swaps *w, const struct group *group)
{
    /* Single nodes are domains of their own: every group is broken at that level. */
    uint32_t sum = w->finest;
    uint32_t a = group->first, b = group->last;
    for (uint32_t level = w->finest; level < UNIT_COUNT; level++) {
        sum += group->pair ? w->unit[level][a] != w->unit[level][b] : group->distinct[level] > 1;
    }
    return sum;
}

/* Makes ready for the search's gang: its groups, nothing taken up yet. */
struct swaps *swaps_start(struct search *q);
/* Takes up a placement, counted into take and pod_take, and finds free nodes that could stand in.
 */
void swaps_take_up(struct swaps *w, const uint32_t *from);
void swaps_set_down(struct swaps *w);
/* Two slots trade nodes; all counts follow, the price of the groups does not. */
void swaps_exchange(struct swaps *w, uint32_t i, uint32_t j);
/* What the groups of a cell would cost more if it moved to where another slot is. */
int64_t swaps_change(const struct swaps *w, uint32_t cell, uint32_t to);
/* groups_cost from the counts. */
void swaps_price(struct swaps *w);
