/* share: integer shares of a batch and of layers. Private; exact, and tested against all shares. */
#pragma once

#include "myriad/base.h"

/* A pool's time for 'k' units of the batch: base + k * unit seconds, k from 1 in steps of 'step'.
 */
struct fit_pace {
    uint32_t sequences; /* of one unit */
    uint32_t step;
    double base_s, unit_s;
    uint32_t tag;
};

/* Ways that one pool may take its part. */
struct fit_paces {
    const struct fit_pace *items;
    uint32_t count;
};

struct fit_dealt {
    uint32_t way, units; /* index into the pool's paces; how many units */
};

/* Deals the batch so that the last pool ends first; every pool takes part. False: it cannot be. */
bool fit_deal_batch(const struct fit_paces *pools, uint32_t pool_count, uint32_t batch,
                    struct myr_arena *arena, struct fit_dealt *ret, double *ret_s);

/* A stage's time for n layers: ends + n * layer seconds, and how many fit in its memory. */
struct fit_bench {
    double ends_s, layer_s;
    uint32_t most;
};

/*
 * Deals layers to stages, each at least one: least m * slowest + share * (all - slowest). False
 * when they do not fit.
 */
bool fit_deal_layers(const struct fit_bench *stages, uint32_t stage_count, uint32_t layers,
                     double micro_batches, double share, uint32_t *ret, double *ret_s);
