/*
 * recipe: what a training run switches on beside its layout.
 *
 * A release can do many things; what a run does is decided by release, device, precision and
 * model together. stacks.yaml holds rules for that: what a rule names has to match, what it sets
 * counts, later rules win over earlier ones. A run or a question may state any capability itself,
 * by the column or the word of the same name; what it does not state is chosen by the rules.
 */
#pragma once

#include "myriad/work.h"

/* A name, as columns, options and rules call it, and its words; none: bits of MYR_AGAIN(). */
#define MYR_CAPABILITIES(X)                                                     \
    X(DISPATCHER, "dispatcher", "alltoall,flex-deepep,flex-hybridep,allgather") \
    X(GRAPHS, "cuda_graphs", "none,router,parts,layer,full")                    \
    X(GROUPED, "grouped_gemm", "loop,grouped,fused")                            \
    X(TENSOR_OVERLAP, "tp_overlap", "0,1")                                      \
    X(EXPERT_OVERLAP, "moe_a2a_overlap", "0,1")                                 \
    X(TOKEN_DROP, "token_drop", "0,1")                                          \
    X(SCALES, "fp8_recipe", "delayed,current,mxfp8,blockwise,nvfp4,rowwise")    \
    X(COMPILE, "compile", "0,1")                                                \
    X(PARTS, "recompute_modules", "")

enum myr_capability {
#define MYR_CAPABILITY_ENUM(name, text, words) MYR_CAPABILITY_##name,
    MYR_CAPABILITIES(MYR_CAPABILITY_ENUM)
#undef MYR_CAPABILITY_ENUM
        MYR_CAPABILITY_COUNT
};

enum { MYR_DISPATCH_ALL_TO_ALL, MYR_DISPATCH_DEEPEP, MYR_DISPATCH_HYBRIDEP, MYR_DISPATCH_GATHER };
enum { MYR_GRAPHS_NONE, MYR_GRAPHS_ROUTER, MYR_GRAPHS_PARTS, MYR_GRAPHS_LAYER, MYR_GRAPHS_FULL };
enum { MYR_GROUPED_LOOP, MYR_GROUPED_KERNEL, MYR_GROUPED_FUSED };
enum {
    MYR_SCALES_DELAYED,
    MYR_SCALES_CURRENT,
    MYR_SCALES_MX,
    MYR_SCALES_BLOCKS,
    MYR_SCALES_NVFP4,
    MYR_SCALES_ROWS
};

#define MYR_PRECISION_COUNT 6

struct myr_recipe {
    uint8_t of[MYR_CAPABILITY_COUNT];
};

/* Those that somebody stated, and their values. */
struct myr_stated {
    uint32_t set; /* a bit for each */
    bool any;     /* what releases ship for a model does not count: what is not set is open */
    struct myr_recipe recipe;
};

const char *myr_capability_name(enum myr_capability capability);
/* The word of a value; bits as "core_attn;mlp", "none". */
const char *myr_capability_word(enum myr_capability capability, uint32_t value, char ret[64]);
/* False: no value of that name. Lists of captured parts are "parts". */
bool myr_capability_read(enum myr_capability capability, struct myr_str word, uint8_t *ret);
/* "dispatcher=flex-hybridep,cuda_graphs=full"; 'name' is the option's. */
MYR_MUST_USE int myr_recipe_words(const char *name, const char *text, struct myr_stated *ret,
                                  struct myr_err *err);

/* Conditions and what they bring; NULL, 0 and all bits: any. */
struct myr_recipe_rule {
    const char *line;
    double from, to; /* releases: the first, and the first that is no more */
    uint32_t devices, precisions;
    int experts;                  /* 1: with them; 0: without; -1: either */
    int latent;                   /* attention; likewise */
    int named;                    /* 0: models that no other rule of the line names */
    const struct myr_doc *models; /* by the shape of their layers, not by what they are called */
    struct myr_stated sets;
};
