/*
 * parts: a step taken apart, in the two ways in which people write it down.
 *
 *   step = compute + waiting + communication - hidden communication + IO - hidden IO
 *
 * and as the timers that Megatron-LM logs, least and most over the pipeline's stages.
 */
#pragma once

#include "myriad/fit/cost.h"

struct myr_fit_parts {
    double compute_s;       /* products, attention, memory-bound operators, vocabulary, update */
    double waiting_s;       /* bubble, launch, the slowest of all */
    double communication_s; /* as if nothing were hidden */
    double hidden_communication_s;
    double io_s; /* reading tokens: 4 bytes each, 1 GB/s a GPU */
    double hidden_io_s;
    double step_s;
};

void myr_fit_parts_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      struct myr_fit_parts *ret);

/* Names as in a log of Megatron-LM; those that the model has nothing to say of are missing. */
#define MYR_FIT_TIMERS(X)                                       \
    X(FORWARD_BACKWARD, "forward-backward")                     \
    X(FORWARD_COMPUTE, "forward-compute")                       \
    X(BACKWARD_COMPUTE, "backward-compute")                     \
    X(BATCH_GENERATOR, "batch-generator")                       \
    X(FORWARD_RECV, "forward-recv")                             \
    X(FORWARD_SEND, "forward-send")                             \
    X(BACKWARD_RECV, "backward-recv")                           \
    X(BACKWARD_SEND, "backward-send")                           \
    X(FORWARD_SEND_BACKWARD_RECV, "forward-send-backward-recv") \
    X(BACKWARD_SEND_FORWARD_RECV, "backward-send-forward-recv") \
    X(LAYERNORM, "layernorm-grads-all-reduce")                  \
    X(EMBEDDING, "embedding-grads-all-reduce")                  \
    X(GRADS_SYNC, "all-grads-sync")                             \
    X(PARAMS_GATHER, "params-all-gather")                       \
    X(INNER_STEP, "optimizer-inner-step")                       \
    X(OPTIMIZER, "optimizer")

enum myr_fit_timer {
#define MYR_FIT_TIMER_ENUM(name, text) MYR_FIT_TIMER_##name,
    MYR_FIT_TIMERS(MYR_FIT_TIMER_ENUM)
#undef MYR_FIT_TIMER_ENUM
        MYR_FIT_TIMER_COUNT
};

struct myr_fit_timers {
    double least_s[MYR_FIT_TIMER_COUNT], most_s[MYR_FIT_TIMER_COUNT];
};

const char *myr_fit_timer_name(enum myr_fit_timer timer);
void myr_fit_timers_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_fit_timers *ret);
