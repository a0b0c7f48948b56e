/* stage: what a pipeline stage consists of. Private. */
#pragma once

#include "myriad/work/state.h"
#include "weights.h"

/* Counts over all chunks of a stage; '..._again' are part of the count beside them. */
struct stage {
    uint32_t dense_layers;
    uint32_t moe_layers;  /* without prediction modules' */
    uint32_t dense_again; /* of those, computed again in the backward pass */
    uint32_t moe_again;
    uint32_t mtp_again; /* prediction modules, all or none */
    uint32_t mtp_count; /* the prediction modules, on the stage of the last chunk */
    bool has_first;     /* the embedding */
    bool has_last;      /* final norm, output matrix, loss */
    bool has_copy;      /* a second copy of the embedding table, for output or prediction */
};

struct stage myr_work_stage(const struct myr_layout *layout, const struct myr_model *model,
                            uint32_t stage);
/* Layers at the start of a span that 'full' recomputation makes again. */
uint32_t myr_work_again(const struct myr_layout *layout, struct myr_span span);
struct weights_share myr_work_share(const struct myr_layout *layout);
/* Embedding, final norm, output matrix and the projections of prediction modules. */
struct weights myr_work_stage_ends(const struct myr_layout *layout, const struct myr_model *model,
                                   const struct stage *stage);

/* Tokens of a micro-batch on a rank, and outside of the tensor-parallel parts. */
uint64_t myr_work_tokens(const struct myr_layout *layout, const struct myr_model *model);
uint64_t myr_work_tokens_between(const struct myr_layout *layout, const struct myr_model *model);

/* Layouts far beyond any memory may pass 64 bits: the most is as good as more. */
static inline uint64_t clamp_u64(myr_u128 value)
{
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static inline uint64_t divide_up(myr_u128 value, uint64_t by)
{
    return clamp_u64((value + by - 1) / by);
}
