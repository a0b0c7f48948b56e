/* Paths in fabrics whose switches are joined directly: dragonfly, dragonfly+, torus, access. */
#pragma once

#include "myriad/fabric/path.h"

uint32_t direct_candidates(const struct myr_graph *graph, uint32_t device, uint32_t to,
                           uint32_t ret[MYR_CANDIDATES_MAX]);

/*
 * Where the fabric's own rule has no way left, any shortest way over living links serves: hop
 * counts to one switch, found breadth first. It costs a look at every switch, but is needed only
 * when something is dead (or an access network is not fully meshed).
 */
struct detour {
    uint32_t *hops; /* by switch */
};

void detour_init(struct detour *detour, const struct myr_graph *graph, uint32_t to);
void detour_done(struct detour *detour);
uint32_t detour_candidates(const struct detour *detour, const struct myr_graph *graph,
                           uint32_t device, uint32_t ret[MYR_CANDIDATES_MAX]);
