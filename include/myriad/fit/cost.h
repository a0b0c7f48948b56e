/*
 * cost: the time of one training step and the memory of the fullest rank.
 *
 * Each operator costs the larger of arithmetic (peak, times what tiles and waves leave of it) and
 * memory traffic; a layer costs at least what it takes to launch it. Transfers are priced for each
 * axis with the place of its group (inside a scale-up domain, or over the NICs), and what the
 * stack hides is taken off. Stages are summed one by one, so uneven pipelines and the outer
 * stages' vocabulary are exact; the number of micro-batches does not change the cost of a question.
 */
#pragma once

#include "myriad/fit/place.h"
#include "myriad/fit/profile.h"

struct myr_fit_case {
    const struct myr_model *model;
    const struct myr_device *device;
    const struct myr_stack *stack;
    const double *constants;
    const struct myr_recipe *recipes; /* by precision; NULL: the stack's own */
    uint32_t
        open; /* capabilities, a bit each, that a layout may leave aside where that is faster */
    double nic_gbps;                         /* 0: the device's */
    uint32_t domain_gpus;                    /* 0: the device's */
    const struct myr_fit_topology *topology; /* NULL: NICs into a fabric that nobody described */
};

/* What the run is meant to switch on, whatever the layout. */
static inline const struct myr_recipe *myr_fit_recipe(const struct myr_fit_case *it,
                                                      enum myr_precision precision)
{
    return it->recipes ? &it->recipes[precision] : &it->stack->recipe;
}

/*
 * What of it the layout allows, which is what is priced and what a launch switches on: trainers
 * refuse, or leave undone, what does not go with it.
 */
struct myr_recipe myr_fit_taken(const struct myr_fit_case *it, const struct myr_layout *layout);

/* Named parts of a step; they sum to 'step_s'. */
#define MYR_FIT_TERMS(X)          \
    X(GEMM, "gemm")               \
    X(ATTENTION, "attention")     \
    X(EXPERTS, "experts")         \
    X(MEMORY, "memory-bound")     \
    X(VOCABULARY, "vocabulary")   \
    X(LAUNCH, "launch")           \
    X(TENSOR, "tensor-comm")      \
    X(CONTEXT, "context-comm")    \
    X(EXPERT_COMM, "expert-comm") \
    X(PIPELINE, "pipeline-comm")  \
    X(BUBBLE, "bubble")           \
    X(DATA, "data-comm")          \
    X(OPTIMISER, "optimiser")     \
    X(STRAGGLER, "straggler")

enum myr_fit_term {
#define MYR_FIT_TERM_ENUM(name, text) MYR_FIT_##name,
    MYR_FIT_TERMS(MYR_FIT_TERM_ENUM)
#undef MYR_FIT_TERM_ENUM
        MYR_FIT_TERM_COUNT
};

const char *myr_fit_term_name(enum myr_fit_term term);

struct myr_fit_cost {
    double step_s;
    double terms_s[MYR_FIT_TERM_COUNT];
    double mfu; /* model FLOPs (causal) over the peak of the precision */
    double tokens_per_s_per_gpu;
};

/* What the stack and its recipe decide of a layout, its precision given. */
void myr_fit_habits(const struct myr_fit_case *it, struct myr_layout *layout);

/* The layout must have passed myr_layout_check(). No allocation. */
void myr_fit_cost_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                     struct myr_fit_cost *ret);

/* The smallest level whose blocks hold whole groups of an axis (tp, cp, dp, pp, ep);
 * MYR_FIT_LEVELS: they span the fabric. */
uint32_t myr_fit_reach(const struct myr_fit_case *it, const struct myr_layout *layout,
                       enum myr_axis axis);

struct myr_fit_memory {
    struct myr_state state; /* of the fullest stage */
    uint32_t stage;
    double reserve_bytes; /* context, communication buffers, allocator slack */
    double total_bytes, limit_bytes;
    double peak_bytes; /* as the trainer's own counter says it: allocated, or reserved */
    double peak_low_bytes, peak_high_bytes; /* between them nine times of ten */
    bool fits;                              /* as counted */
    bool sure;                              /* 19 times of 20, by how far measured peaks lie off */
    double probability;                     /* that it fits */
};

/* Bytes of a rank's tensors up to which it is sure to fit, or fits as counted. */
double myr_fit_memory_most(const struct myr_fit_case *it, bool sure);

void myr_fit_memory_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_fit_memory *ret);
/* The largest term's name, for messages. */
const char *myr_fit_memory_term(const struct myr_fit_memory *memory);
