/* Paths in fabrics whose switches are joined directly: dragonfly, dragonfly+, torus, access. */
#pragma once

#include "myriad/fabric/path.h"

uint32_t direct_candidates(const struct myr_graph *graph, uint32_t device, uint32_t to,
                           uint32_t ret[MYR_CANDIDATES_MAX]);
