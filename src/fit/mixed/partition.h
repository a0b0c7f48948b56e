/* partition: integer shares of a batch and of layers. Private; exact, and tested against all
 * shares. */
#pragma once

#include "myriad/base.h"

/* Batch */

/* One way in which a pool may take its part: whole units, from 'step' on in steps of it. */
struct fit_way {
    uint32_t sequences;    /* of one unit */
    uint32_t step, most;   /* in units */
    double fill_s, unit_s; /* n units take no less than fill + n * unit */
    double update_s; /* after the last unit of the last pool; that of the slowest pool counts */
};

/* All ways of one pool. */
struct fit_ways {
    const struct fit_way *items;
    uint32_t count;
};

/* Seconds of so many units, all before the tail: one more unit never takes less. */
typedef double fit_units_s(void *context, uint32_t pool, uint32_t way, uint32_t units);

/* One question: the pools' ways, the batch, and how long a part takes. */
struct fit_batch {
    const struct fit_ways *pools;
    uint32_t pool_count, batch; /* sequences in all */
    fit_units_s *units_s;
    void *context;
    double limit_s; /* what takes as long is of no use */
};

/* What a pool got. */
struct fit_share {
    uint32_t way, units; /* index into the pool's ways; how many units */
};

/*
 * Shares the batch out, every pool at least one step: least of the last pool's end plus the longest
 * tail. False when it cannot be done below the limit; '*ret_s' is written only with true.
 */
bool fit_partition_batch(const struct fit_batch *it, struct fit_share *ret, double *ret_s);

/* Layers */

/* A stage with some layers, one micro-batch through it; times keep the stage busy. */
struct fit_stage_price {
    double forward_s, backward_s; /* the latter with gradients of weights */
    bool fits;                    /* in memory; then fewer layers do too */
};

typedef struct fit_stage_price fit_stage_price_of(const void *context, uint32_t stage,
                                                  uint32_t first_layer, uint32_t layers);
/* What follows the pipeline if this stage is its slowest. */
typedef double fit_update_of(const void *context, uint32_t stage, uint32_t first_layer,
                             uint32_t layers);

/* One way to ask; stages of a group share their tail: that of its slowest one counts. */
struct fit_partition {
    uint32_t stages, layers, micro_batches;
    bool alike; /* it does not matter which layers a stage has, only how many */
    fit_stage_price_of *price_of;
    fit_update_of *update_of;
    const void *context;
    const uint32_t *group; /* by stage, 0 to 3 */
    double limit_s;        /* what takes as long is of no use */
};

/* The best dealing that was found, and what is proven of it. */
struct fit_partitioned {
    double step_s;   /* the pipeline played as 1F1B, and the longest tail of a group */
    double pipe_s;   /* the pipeline alone */
    double floor_s;  /* no partition takes less; equal to 'step_s' where 'proven' */
    bool proven;     /* no partition is better */
    uint32_t played; /* pipelines */
};

/* Cuts layers into stages, each at least one. False when none fits or takes less than the limit. */
bool fit_partition_layers(const struct fit_partition *it, struct myr_arena *arena,
                          uint32_t *ret_layers, struct fit_partitioned *ret);
/* The same measure for one partition; false when it does not fit. */
bool fit_layers_s(const struct fit_partition *it, const uint32_t *layers, double *ret_pipe_s,
                  double *ret_step_s);
