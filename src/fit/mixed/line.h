/*
 * line: a pipeline whose stages stand on several pools, and what one stage of it costs. Private.
 *
 * Tables of sums over the model's layers are made once for a width; a stage with some layers is
 * then a difference of two of their rows, and the least recomputation that fits a halving search.
 */
#pragma once

#include "mixed/mix.h"

#define FIT_MODES 2U

/* Sums over the first layers of the model, one micro-batch on one pool: what a span has. */
struct fit_layer_sums {
    double *forward_s;
    double *backward_s[FIT_MODES];               /* nothing recomputed; 'selective' */
    double *recompute_s;                         /* added by making a layer again */
    double *kept_bytes[FIT_MODES], *saved_bytes; /* saved: by making a layer again */
};

/* Beside layers. */
struct fit_end_costs {
    double first_forward_s, first_backward_s, last_forward_s, last_backward_s[FIT_MODES];
    double last_recompute_s; /* added by making prediction modules again */
    double first_kept_bytes, last_kept_bytes[FIT_MODES], last_saved_bytes, output_bytes;
};

/* One pool's stages. */
struct fit_pool_costs {
    struct myr_fit_case it;
    struct myr_layout layout;
    struct fit_layer_sums sums;
    struct fit_end_costs ends;
    struct fit_exchanges exchanges;
    double working_bytes[2], gathered_bytes[2]; /* of a dense and of an expert layer */
    double usable_bytes, limit_bytes, beside_s; /* of the device, less what is kept back */
    struct fit_near near;                       /* stages in a block */
    struct myr_rank_params *before;             /* of the embedding and so many layers */
    struct myr_rank_params *after;              /* of the layers from here on, and the output */
};

/* Stages in a row, and what they are asked with. */
struct fit_line_up {
    const struct fit_mixer *x;
    struct myr_arena *arena;
    struct fit_pool_costs *costs;      /* by pool */
    uint32_t order[MYR_FIT_POOLS_MAX]; /* of pools along the pipeline */
    uint32_t pool_of[MYR_FIT_STAGES_MAX],
        group[MYR_FIT_STAGES_MAX];       /* by stage; group: kind of GPU */
    double beside_s[MYR_FIT_STAGES_MAX]; /* launch, and what is seen of transfers */
    double hop_s[MYR_FIT_STAGES_MAX];    /* transfers to the slower neighbour */
    uint32_t *moe;                       /* layers with experts among the first so many */
    bool selective, counts, all;         /* recomputation that may be used; 'all': must */
};

/* How a stage does with its layers: the least recomputation that fits. */
struct fit_stage_choice {
    double forward_s, backward_s, bytes; /* one micro-batch; of the fullest rank */
    struct myr_rank_params params;
    uint32_t mode, recomputed; /* layers recomputed; more than there are: prediction modules too */
    bool fits;
};

/* Tables of one pool for a width; before anything else is asked of it. */
void fit_line_price_layers(const struct fit_line_up *line, uint32_t pool,
                           const struct myr_layout *layout);
/* What depends on the ZeRO stage and the order of ranks, not on times of layers. */
void fit_line_price_exchange(struct fit_pool_costs *b, uint32_t zero, const enum myr_axis *order);
/* A stage with so many layers from 'from' on. */
struct fit_stage_choice fit_line_choose(const struct fit_line_up *line, uint32_t stage,
                                        uint32_t from, uint32_t layers);
