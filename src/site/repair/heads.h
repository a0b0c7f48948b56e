/*
 * heads: splitters move as one plug.
 *
 * Behind one connector of a switch sits the head of a splitter: its ports change places together or
 * not at all, and single legs can be moved at the hosts' end only. Exchanging two heads is one move
 * for as many links as they have legs. With 'heads exchanged' as a permutation of connectors and
 * 'legs exchanged' as one of the hosts' plugs, the two kinds of moves do not get in each other's
 * way: the fewest moves are the least sum over all places that the heads may have.
 *
 * Up to HEADS_EXACT heads that hang together are tried in all places. More are bettered while one
 * exchange saves more than it costs.
 */
#pragma once

#include "repair/repair.h"

enum { HEADS_EXACT = 6 };

struct head_step {
    uint32_t at, to;         /* first ports of two connectors; 'to' may be empty */
    uint32_t far_at, far_to; /* where a leg of each leads at that time; MYR_NONE: no head there */
    uint32_t legs;           /* that move together */
    bool move;               /* 'to' is empty */
};

struct head_steps {
    struct head_step *items;
    size_t count, capacity;
    bool exact; /* no other places of the heads would take fewer moves */
};

/* Changes 'found' to what it is after the steps. */
void repair_heads(const struct repair_graph *graph, struct myr_arena *arena, uint32_t *found,
                  struct head_steps *ret);

/* Whether the port shares its plug with others. */
bool repair_is_leg(const struct myr_design *design, uint32_t vertex);
