/* combine: from blocks to a step. Private to the module. */
#pragma once

#include "block.h"

/* A step up to the exchange among replicas, which other axes decide. */
struct fit_pipe {
    double terms[MYR_FIT_TERM_COUNT];
    double forward_s, backward_s; /* one micro-batch through the slowest stage */
    double micro_batches;
    struct myr_rank_params params; /* of the slowest stage */
};

/* Both passes of one micro-batch through a stage. */
void fit_stage_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                  const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *ret);
/* Transfers between stages that a stage waits for, each micro-batch. */
double fit_hop_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                 struct fit_near near);
/* Idle share of warm-up and drain, against plain 1F1B. */
double fit_bubble_share(const struct myr_layout *layout);
void fit_pipe_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct fit_pipe *ret);

double fit_straggler_share(const struct myr_fit_case *it, const struct myr_layout *layout);
/* The step, without the rates that only people read. */
void fit_close(const struct myr_fit_case *it, const struct myr_layout *layout,
               const struct fit_pipe *pipe, struct myr_fit_cost *ret);
void fit_rates(const struct myr_fit_case *it, const struct myr_layout *layout,
               struct myr_fit_cost *cost);
