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

/* A flow by itself; its task is returned. */
uint32_t myr_load_flow(struct myr_sim *sim, struct myr_message message, uint64_t bytes);

enum myr_schedule_form {
    MYR_SCHEDULE_AUTO, /* full where that is cheap */
    MYR_SCHEDULE_FULL,
    MYR_SCHEDULE_COLLAPSED,
    MYR_SCHEDULE_FORMS,
};
extern const char *const myr_schedule_names[MYR_SCHEDULE_FORMS];

struct myr_collective_load {
    uint32_t end;                 /* task */
    enum myr_algorithm algorithm; /* the one that was chosen */
    bool full;                    /* every send of the schedule is a task */
};

/* A collective over a group: the cheapest algorithm that fits with AUTO. */
MYR_MUST_USE int myr_load_collective(struct myr_sim *sim, struct myr_ranks ranks,
                                     const struct myr_collective_shape *shape,
                                     enum myr_schedule_form form, uint32_t after,
                                     struct myr_collective_load *ret, struct myr_err *err);

/* The largest number of consecutive ranks that always share a scale-up domain, or a node. */
uint32_t myr_local_ranks(const struct myr_graph *graph, struct myr_ranks ranks);
/* All of them, in whatever order and however many of each domain; at least one. */
struct myr_collective_domains myr_rank_domains(const struct myr_graph *graph,
                                               struct myr_ranks ranks);

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
