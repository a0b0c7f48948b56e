/*
 * spares: how many nodes to keep warm.
 *
 * Nodes of a domain fail independently at a known rate and are away for the repair time, so the
 * number away at any moment follows Poisson(nodes x rate x repair time). So many spares as its
 * quantile, and a failed node finds a replacement with that probability.
 */
#pragma once

#include "myriad/base.h"

struct myr_failure_rate {
    double per_1000_node_days; /* Meta saw 6.5 on RSC-1, 3.8 while training Llama 3 */
    double repair_h;
};

/* Spares for 'nodes' such that they suffice with the probability given, in parts per thousand. */
uint32_t myr_spares_for(uint32_t nodes, const struct myr_failure_rate *rate, uint32_t permille);
/* The smallest n with P(Poisson(mean) <= n) >= permille / 1000. */
uint32_t myr_poisson_quantile(double mean, uint32_t permille);
