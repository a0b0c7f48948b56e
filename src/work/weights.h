/*
 * weights: the parameters one rank holds of each part of a model. The whole model's counts are
 * the same sums with every share equal to one, so there is a single place for each formula.
 */
#pragma once

#include "myriad/work/count.h"

/* Into how many parts a rank's groups cut weights; all 1: the whole model. */
struct weights_share {
    uint32_t tp;
    uint32_t ep;  /* groups of experts */
    uint32_t etp; /* parts of each expert */
};

#define WEIGHTS_WHOLE ((struct weights_share){1, 1, 1})

/* Classes differ in which group averages their gradients and in what a tensor group repeats. */
struct weights {
    uint64_t sharded;    /* cut along the tensor axis */
    uint64_t replicated; /* the same on every rank of a tensor group */
    uint64_t expert;     /* of routed experts */
};

static inline uint64_t weights_sum(struct weights w)
{
    return w.sharded + w.replicated + w.expert;
}

static inline struct weights weights_add(struct weights a, struct weights b)
{
    return (struct weights){a.sharded + b.sharded, a.replicated + b.replicated,
                            a.expert + b.expert};
}

static inline struct weights weights_times(struct weights a, uint64_t n)
{
    return (struct weights){a.sharded * n, a.replicated * n, a.expert * n};
}

/* Key/value heads on one rank: a head that cannot be cut is repeated. */
uint32_t myr_work_kv_heads(const struct myr_model *model, uint32_t tp);
uint64_t myr_work_norm(const struct myr_model *model);

struct weights myr_work_attention(const struct myr_model *model, uint32_t tp);
struct weights myr_work_dense_ffn(const struct myr_model *model, uint32_t tp);
struct weights myr_work_moe(const struct myr_model *model, struct weights_share share);
struct weights myr_work_layer(const struct myr_model *model, bool moe, struct weights_share share);
struct weights myr_work_embedding(const struct myr_model *model, uint32_t tp);
struct weights myr_work_head(const struct myr_model *model, uint32_t tp); /* as if untied */
/* One multi-token-prediction module. */
struct weights myr_work_mtp(const struct myr_model *model, struct weights_share share);
/* Is the layer inside a multi-token-prediction module an MoE layer? */
bool myr_work_mtp_is_moe(const struct myr_model *model);
