/*
 * workload: what runs on the fabric, as tasks of the engine.
 *
 * Each maker adds tasks that start when 'after' has ended (MYR_NONE: at time 0) and returns a task
 * that ends when all of them have.
 */
#pragma once

#include "myriad/sim/collective.h"
#include "myriad/sim/engine.h"

/* GPUs by rank of a job; the identity when 'gpus' is NULL. */
struct myr_ranks {
    const uint32_t *gpus;
    uint32_t count;
};

MYR_MUST_USE int myr_load_flow(struct myr_sim *sim, struct myr_message message, uint64_t bytes,
                               uint32_t after, uint32_t *ret, struct myr_err *err);

/* A collective over a group: the cheapest algorithm that fits with AUTO. */
MYR_MUST_USE int myr_load_collective(struct myr_sim *sim, struct myr_ranks ranks,
                                     enum myr_collective collective, enum myr_algorithm algorithm,
                                     uint32_t local, uint64_t bytes, uint32_t after, uint32_t *ret,
                                     struct myr_err *err);

struct myr_step {
    const struct myr_model *model;
    const struct myr_layout *layout;
    double flops_per_s;           /* of one GPU, what it reaches: computing gaps follow from it */
    enum myr_algorithm algorithm; /* of the gradient collectives */
};

struct myr_step_result {
    uint32_t end; /* task */
    uint32_t pipeline_end, gradients_end;
};

/* One training step: 1F1B pipeline with stage transfers, then gradients and parameters. */
MYR_MUST_USE int myr_load_step(struct myr_sim *sim, struct myr_ranks ranks,
                               const struct myr_step *step, uint32_t after,
                               struct myr_step_result *ret, struct myr_err *err);
