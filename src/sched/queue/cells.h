/* cells: how private clusters lie in memory; for cells.c and copies. */
#pragma once

#include "myriad/sched/tenant.h"

/*
 * The cells of a tenant make a private cluster with a placer of its own, in the tenant's own
 * numbering: pods first, then groups, then nodes. What runs there is placed twice: in the private
 * cluster, which says whether there is room, and on the nodes that its cells are bound to. Cells of
 * one level are bound to the places of that level's pool; there are as many places as cells, so a
 * cell always finds one.
 */
struct cell {
    uint32_t place;  /* in the pool of its level, or MYR_NONE: not bound */
    uint32_t in_use; /* shares of running jobs in it */
};

struct pool {
    uint32_t first_node, places, place_nodes, unused; /* places lie side by side from there on */
    uint8_t *bound;                                   /* by place */
};

struct estate {
    struct myr_placer *placer;               /* NULL: it owns nothing */
    uint32_t counts[MYR_CELL_LEVELS], nodes; /* cells by level; nodes of all of them */
    struct cell *cells;                      /* pods, groups, nodes */
};

struct cells {
    struct pool pools[MYR_CELL_LEVELS];
    struct estate *estates; /* by tenant */
    uint32_t count;         /* tenants */
};
