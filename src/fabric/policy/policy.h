/*
 * policy: what the policies of balance.h share. Private.
 */
#pragma once

#include "myriad/fabric/balance.h"

/* What a flow's share takes of a channel. */
uint64_t policy_load_part(const struct myr_graph *graph, uint32_t channel, uint64_t share);
/* Adds a path's share to the loads, or takes it away. */
void policy_add_load(const struct myr_graph *graph, uint64_t *load, const struct myr_path *path,
                     uint32_t share, bool remove);
void policy_put_route(struct myr_routes *routes, uint32_t flow, uint32_t weight,
                      const struct myr_path *path);

/* Paths of flows being planned; a path without channels: none was found. */
struct policy_plan {
    const struct myr_graph *graph;
    const struct myr_flow *flows;
    size_t count;
    struct myr_path *paths; /* by flow */
    uint64_t *load;         /* by channel, of all paths */
};

/*
 * Moves flows off links that are too full, to the best of some of their paths (search.c). Hot is
 * what is above line rate.
 */
void policy_improve(struct policy_plan *plan);
/*
 * Looks through the paths of flows on links above 'most' (in 1/MYR_LOAD_ONE), and takes those that
 * lower the fullest link.
 */
void policy_polish(struct policy_plan *plan, uint64_t most);

/* Spreads all flows evenly over their shortest paths (spray.c). */
void policy_spray(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                  struct myr_routes *ret, uint64_t *load);
