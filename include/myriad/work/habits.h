/*
 * habits: what a trainer decides of a layout beside its axes: whose operators run, what the
 * optimiser works on, which parts of a layer are made again.
 */
#pragma once

/* Whose operators a layer is made of, which decides what it keeps for its backward pass. */
enum myr_operators {
    MYR_KERNELS_FUSED,   /* a training library's: what backward needs and no more */
    MYR_KERNELS_EAGER,   /* PyTorch's, one after the other: every operator keeps its inputs */
    MYR_KERNELS_COMPILED /* PyTorch's through its compiler */
};

/* Parts of a layer that trainers make again on their own, beside 'recompute'; bits. */
#define MYR_AGAIN_PARTS(X)          \
    X(CORE_ATTENTION, "core_attn")  \
    X(FFN, "mlp")                   \
    X(EXPERT_ACTIVATION, "moe_act") \
    X(LATENT_UP, "mla_up_proj")     \
    X(NORM, "layernorm")            \
    X(ACTIVATION, "act")

enum myr_again {
#define MYR_AGAIN_BIT(name, text) MYR_AGAIN_BIT_##name,
    MYR_AGAIN_PARTS(MYR_AGAIN_BIT)
#undef MYR_AGAIN_BIT
        MYR_AGAIN_COUNT
};

#define MYR_AGAIN(name) (1U << MYR_AGAIN_BIT_##name)

/* What the optimiser works on. */
enum myr_weights {
    MYR_WEIGHTS_MASTER, /* low-precision weights and an fp32 copy of them */
    MYR_WEIGHTS_BF16,   /* bf16 throughout, moments too */
    MYR_WEIGHTS_FP32,   /* fp32, products in low precision (autocast) */
    MYR_WEIGHTS_CAST    /* fp32, cast once when they are gathered (FSDP) */
};

const char *myr_again_name(enum myr_again part);
const char *myr_operators_name(enum myr_operators kernels);
const char *myr_weights_name(enum myr_weights weights);
