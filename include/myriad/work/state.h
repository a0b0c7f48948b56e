/*
 * state: what one rank holds, in bytes, and what a checkpoint is.
 *
 * All ranks of a pipeline stage hold the same amounts; stages differ (embedding, output, uneven
 * layers, micro-batches in flight), and the fullest one decides whether a layout fits. Sums that do
 * not fit 64 bits come out as UINT64_MAX, which fits nowhere either.
 *
 * Not counted, because it belongs to a software stack and not to the layout: allocator slack,
 * communication buffers, the device context.
 */
#pragma once

#include "myriad/work/ranks.h"

/* Bytes of one number of each kind, as mixed-precision trainers keep them by default. */
struct myr_numerics {
    uint32_t weight_bytes;
    uint32_t gradient_bytes;  /* as accumulated */
    uint32_t optimiser_bytes; /* fp32 master copy (unless the weight is one) and two moments */
    uint32_t activation_bytes;
    uint32_t gather_bytes;   /* a weight on its way */
    uint32_t reduce_bytes;   /* a gradient on its way */
    uint32_t dispatch_bytes; /* one element of a token on its way to an expert */
};

struct myr_numerics myr_numerics_of(enum myr_precision precision);
/* The same with the layout's own width of gradients, where it has one. */
struct myr_numerics myr_layout_numerics(const struct myr_layout *layout);

/* Parameters on one rank of a stage. Heads, columns and experts are cut; the rest is repeated. */
struct myr_rank_params {
    uint64_t sharded;    /* dense, cut over tp (a vocabulary is padded to divide) */
    uint64_t replicated; /* dense, the same on each rank of a tensor group */
    uint64_t expert;     /* routed experts, cut over ep and etp */
};

struct myr_rank_params myr_rank_params(const struct myr_layout *layout,
                                       const struct myr_model *model, uint32_t stage);
/* Those of one layer. */
struct myr_rank_params myr_layer_params(const struct myr_layout *layout,
                                        const struct myr_model *model, bool moe);

/*
 * Activations that one layer keeps of one micro-batch, on one rank (Korthikanti et al., "Reducing
 * Activation Recomputation in Large Transformer Models", arXiv 2205.05198, section 4; extended to
 * grouped and latent attention, gated FFN and experts). Bytes a token, with A bytes an element, on
 * a rank with s/cp tokens; "whole" terms are divided by tp only under sequence parallelism:
 *
 *   whole   A*h*(norms + 2) inputs of norms, attention, FFN; h dropout mask twice; latents of MLA
 *   cut     A*(q + k + v + attention output) heads; A*f*(3 gated, 2 plain)
 *   scores  (A + dropout*(1 + A))*heads*s where flash attention is off and recompute 'none';
 *           4*heads with flash attention
 *   experts K*(A*h + A*fe*(3 or 2)/etp) a token that arrives, 4*E router
 *   fp8     inputs of products 1 instead of A; attention's output 1 more, beside its own
 *
 * For GPT (h = a*d, f = 4h, dropout, A = 2) that is s*b*h*(10 + 24/t + 5*a*s/(h*t)), equation 2,
 * and s*b*h/t*(34 + 5*a*s/h) with sequence parallelism, equation 4; 'full' keeps A*h, the input.
 */
uint64_t myr_layer_activation_bytes(const struct myr_layout *layout, const struct myr_model *model,
                                    bool moe);

struct myr_state {
    uint64_t weight_bytes;     /* W*params; ZeRO-3: over the shard */
    uint64_t gradient_bytes;   /* G*params; ZeRO-2 and 3: over the shard */
    uint64_t optimiser_bytes;  /* O*params; ZeRO-1 to 3: over the shard */
    uint64_t activation_bytes; /* layers kept, times micro-batches in flight */
    uint64_t output_bytes;     /* last stage: A*2h, and 4 to 14*V/tp (the loss), a token */
    uint64_t working_bytes;    /* one layer's activations ('full'); two whole layers (ZeRO-3) */
    uint64_t total_bytes;
    uint64_t checkpoint_bytes; /* written by this rank when each byte is written once */
};

struct myr_state myr_state_of(const struct myr_layout *layout, const struct myr_model *model,
                              uint32_t stage);

/* The stage with the largest total; the lowest of equal ones. */
struct myr_state myr_state_fullest(const struct myr_layout *layout, const struct myr_model *model,
                                   uint32_t *ret_stage);

/* The whole checkpoint: (W + O) bytes for every trained parameter; 14 with bf16 and Adam. */
uint64_t myr_checkpoint_bytes(const struct myr_model *model, enum myr_precision precision);
