/* schedule: how long a pipeline takes, operation by operation. Private to the module. */
#pragma once

#include "cost/block.h"

enum fit_work { FIT_FORWARD, FIT_BACKWARD, FIT_WEIGHT };

/* One operation, for whoever watches; backward is with weights' gradients where they are not apart.
 */
struct fit_seen {
    uint32_t stage, chunk;
    enum fit_work work; /* what it did */
    double from_s, to_s;
};

typedef void fit_watcher(void *context, const struct fit_seen *one);

/*
 * What the chunks of a model cost one micro-batch, and how stages take turns. Chunk c is on stage
 * c % pp. Every operation starts when its stage is free and what it needs has arrived.
 *
 *   1F1B         stage i starts with pp - 1 - i micro-batches, then one forward, one backward
 *   interleaved  groups of pp micro-batches go through the chunks of a stage in turn; stage i
 *                starts with 2 (pp - 1 - i) + (vp - 1) pp chunks (Megatron-LM)
 *   zero-bubble  as 1F1B; stage i makes the weights' gradients i micro-batches later (ZB-H1)
 *   DualPipe     half of the micro-batches from each end; see dualpipe.c
 */
struct fit_schedule {
    enum myr_schedule kind;
    uint32_t pp, vp, micro_batches;
    const double *forward_s;  /* by chunk */
    const double *backward_s; /* by chunk: gradients of what came in */
    const double *weight_s;   /* by chunk: gradients of weights */
    double hop_s;             /* from stage to stage; stages work meanwhile */
    fit_watcher *watcher;     /* told of every operation, none skipped; or NULL */
    void *context;            /* the watcher's own */
};

/* Until the last stage is done. The work does not grow with the number of micro-batches. */
double fit_schedule_s(const struct fit_schedule *it);
double fit_dualpipe_s(const struct fit_schedule *it);
