/* attention: kinds of it beside heads that see all tokens before; a zeroed kind is not used. */
#pragma once

#include <stdint.h>

/* Latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). Used where kv_rank > 0. */
struct myr_mla {
    uint32_t q_rank; /* 0: queries are projected from h directly */
    uint32_t kv_rank;
    uint32_t nope_dim; /* part of a query/key head without rotation */
    uint32_t rope_dim; /* rotated part; its key is shared by all heads */
    uint32_t v_dim;
};

/*
 * Sparse attention (DeepSeek-V3.2): small heads of its own score all tokens before, and attention
 * sees the best of them. Used where head_count > 0.
 */
struct myr_indexer {
    uint32_t head_count;
    uint32_t head_dim;
    uint32_t kept_tokens;
};

/*
 * Linear attention by the gated delta rule (Qwen3-Next), in all layers but every 'full_every'-th.
 * Used where value_heads > 0.
 */
struct myr_delta {
    uint32_t key_heads, key_dim;
    uint32_t value_heads, value_dim;
    uint32_t taps; /* of the convolution over time in front of it */
};
