/*
 * level: one tier of a Clos as an edge colouring.
 *
 * Nodes are the switches of the tier (twice: once sending up, once receiving from above), edges
 * the flows between them, and the colour of an edge is the switch above over which it goes: a
 * group of parallel uplinks, the same group at every node.
 *
 * A node with d edges and n uplinks makes floor(d / n) full rounds over them, and ceil(d / n) with
 * the one that is not full. In a group it may hold as many edges as there are uplinks alive in it,
 * times the rounds: 'tight' by the full ones, so that as few uplinks as possible carry one edge
 * more than others, 'loose' by all of them. What exceeds the tight capacity is an overflow.
 *
 * An edge takes one uplink where it leaves and one where it arrives; inside a group any uplink is
 * as good as another, so these two are chosen apart, the lighter one first.
 */
#pragma once

#include "myriad/base.h"

#define LEVEL_NONE       UINT32_MAX
#define LEVEL_IMPOSSIBLE UINT32_MAX /* as a bias: this group must not be used */

enum level_side { LEVEL_OUT, LEVEL_IN };

struct level_edge {
    uint32_t node[2];            /* of each side: enum level_side */
    uint32_t group;              /* LEVEL_NONE: not placed */
    uint32_t link[2];            /* uplink of the node */
    uint32_t next[2], before[2]; /* lists by side, node and group */
    uint32_t weight;             /* its share of a host port's rate */
    uint32_t stamp;              /* that of the level when it last turned: once a trail */
    bool far;                    /* goes on above the next tier */
};

struct level_half {
    uint32_t *first;  /* node * groups + group: head of the list of edges */
    uint32_t *count;  /* the same: edges */
    uint64_t *weight; /* node * base + uplink */
    uint32_t *degree; /* by node */
};

struct level_flip {
    uint32_t edge, group, link[2]; /* as it was */
};

struct level {
    uint32_t nodes, base, groups; /* uplinks a node, and groups of them */
    uint32_t *group_start;        /* first uplink of each group; groups + 1 */
    uint32_t *alive;              /* node * groups + group: uplinks */
    uint32_t *alive_total;        /* by node */
    bool *dead;                   /* node * base + uplink */
    bool *barred; /* node * groups + group: nothing is left above it, for far edges */
    struct level_half half[2];
    MYR_VEC(struct level_edge) edges;
    MYR_VEC(uint32_t) touched;        /* edges that moved since the caller last cleared it */
    MYR_VEC(struct level_flip) trail; /* what undo takes back */
    uint32_t stamp;                   /* of the trail at hand */
    bool loose;                       /* which capacity counts at the moment */
};

/* 'group_of' says to which group each uplink belongs; groups are consecutive. */
void level_init(struct level *level, uint32_t nodes, uint32_t base, const uint32_t *group_of);
void level_done(struct level *level);

/* Where the arrays by node and group keep a group of a node. */
static inline size_t level_spot(const struct level *level, uint32_t node, uint32_t group)
{
    MYR_ASSERT(node < level->nodes && group < level->groups);
    return (size_t)node * level->groups + group;
}

/* Whether an edge may go by a group at all. */
static inline bool level_usable(const struct level *level, const struct level_edge *edge,
                                uint32_t group)
{
    size_t out = level_spot(level, edge->node[LEVEL_OUT], group);
    size_t in = level_spot(level, edge->node[LEVEL_IN], group);
    return level->alive[out] && level->alive[in] &&
           !(edge->far && (level->barred[out] || level->barred[in]));
}

/* Appends an edge that is not placed; it counts as soon as it has nodes. */
void level_add_edge(struct level *level);
/* The nodes of an edge, before it is placed. Counts it in their degrees. */
void level_set_ends(struct level *level, uint32_t id, uint32_t from, uint32_t to, uint32_t weight);
/* Takes the edge away, out of its group and out of the degrees. */
void level_clear_ends(struct level *level, uint32_t id);

/* Edges at the node above what its groups can hold, which will have to share. */
uint32_t level_excess(const struct level *level, enum level_side side, uint32_t node);
uint32_t level_overflow(const struct level *level, enum level_side side, uint32_t node,
                        uint32_t group);

/* Puts the edge into a group, whatever is in it. */
void level_put(struct level *level, uint32_t id, uint32_t group);
void level_take(struct level *level, uint32_t id);
/*
 * Finds the edge a group: one that is free at both ends, if need be after others made room, else
 * the one with the least overflow. Among equals the lower 'bias' wins (NULL: no bias). False when
 * no group is alive at both ends.
 */
bool level_place(struct level *level, uint32_t edge, const uint32_t *bias);

/* Moves edges out of groups that overflow, where their node has room in another one. */
void level_relieve(struct level *level, uint32_t node);

/*
 * A trail of moves: turn puts an edge that is placed into another group and notes where it was;
 * settle ends the trail, spreads what then lies two to an uplink, and adds its edges to 'touched'.
 */
void level_turn(struct level *level, uint32_t id, uint32_t group);
void level_settle(struct level *level);

/*
 * Exchanges the groups of two edges that leave the same node. Others that may (by 'movable') turn
 * between the two groups so that no node holds more of either than before; false when there is no
 * such way.
 */
bool level_swap(struct level *level, uint32_t a, uint32_t b, const bool *movable);

void level_set_dead(struct level *level, uint32_t node, uint32_t uplink, bool dead);
/* Edges over an uplink, both directions, appended to 'ret'. */
struct level_list {
    MYR_VEC(uint32_t) items;
};
void level_over(const struct level *level, uint32_t node, uint32_t uplink, struct level_list *ret);
