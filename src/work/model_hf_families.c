/*
 * The families: which key goes into which field, what the family's code fixes without a key
 * (biases, norms), and a function for what no table can say.
 */
#include "model_hf.h"
#include "model_hf_finish.h"

/* What most configs call alike. The sequence may be given otherwise, so it is not required here. */
#define SHAPE_ROWS                                                                \
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),        \
        ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),               \
        ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),    \
        ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL), \
        ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),                   \
        ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),                  \
        ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL)

/* Dense, grouped attention, one width: what most families have. */
static const struct key_number llama_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

/* All layers have experts: the only width is theirs. */
static const struct key_number mixtral_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_local_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
};

/* As Mixtral, but for the key of the number of experts. */
static const struct key_number grok_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
};

/* Experts in every n-th layer; the plain width matters only where n is above 1. */
static const struct key_number qwen_moe_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("shared_expert_intermediate_size", moe.shared_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("decoder_sparse_step", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* Latent attention. Experts are optional: the same type has dense models too. */
#define DEEPSEEK_ROWS                                                                       \
    SHAPE_ROWS, ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),          \
        ROW("q_lora_rank", mla.q_rank, MYR_MODEL_DIM_MAX, OPTIONAL),                        \
        ROW("kv_lora_rank", mla.kv_rank, MYR_MODEL_DIM_MAX, REQUIRED),                      \
        ROW("qk_nope_head_dim", mla.nope_dim, MYR_MODEL_DIM_MAX, REQUIRED),                 \
        ROW("qk_rope_head_dim", mla.rope_dim, MYR_MODEL_DIM_MAX, REQUIRED),                 \
        ROW("v_head_dim", mla.v_dim, MYR_MODEL_DIM_MAX, REQUIRED),                          \
        ROW("n_routed_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, OPTIONAL),         \
        ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, OPTIONAL), \
        ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),       \
        ROW("moe_layer_freq", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),                \
        ROW_OR_ZERO("n_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),           \
        ROW_OR_ZERO("first_k_dense_replace", moe.first_dense, MYR_MODEL_LAYERS_MAX)

static const struct key_number deepseek_rows[] = {
    DEEPSEEK_ROWS,
};

/* The length of the table of positions is the sequence: hf_finish_gpt2() copies it. */
static const struct key_number gpt2_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("n_embd", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("n_inner", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("n_positions", position_max, MYR_MODEL_SEQ_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
};

/* Configs that leave out what their class has by default. */
#define OPEN_SHAPE_ROWS                                                           \
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),        \
        ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),               \
        ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),    \
        ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL), \
        ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),                   \
        ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, OPTIONAL),                  \
        ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL)

/* What is left out stands in the family's defaults below. */
static const struct key_number gemma3_rows[] = {
    OPEN_SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("sliding_window_pattern", full_every, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* Every n-th layer sees all, where no list of layers says it. */
static const struct key_number pattern_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("sliding_window_pattern", full_every, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* The sequence may have another name. */
static const struct key_number baichuan_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("model_max_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* Either name of each: the class knows both. */
static const struct key_number bloom_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW("n_embed", hidden, MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* Own names for all of it; the vocabulary is the padded one, as it is in the weights. */
static const struct key_number chatglm_rows[] = {
    ROW("num_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("multi_query_group_num", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("kv_channels", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),
    ROW("ffn_hidden_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("padded_vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* Attention and experts stand in maps of their own: hf_finish_dbrx() reads them. */
static const struct key_number dbrx_rows[] = {
    ROW("n_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("d_model", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_seq_len", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number exaone_rows[] = {
    ROW("num_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* Key/value heads by either name; the width only where it is not four times the model's. */
static const struct key_number falcon_rows[] = {
    SHAPE_ROWS,
    ROW("num_kv_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("ffn_hidden_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
};

/* Experts as DeepSeek has them, attention as Llama: also DeepSeek's first. */
static const struct key_number glm_moe_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("n_routed_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("moe_layer_freq", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW_OR_ZERO("n_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
    ROW_OR_ZERO("first_k_dense_replace", moe.first_dense, MYR_MODEL_LAYERS_MAX),
};

static const struct key_number gptj_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("n_embd", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("n_inner", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("n_positions", seq_tokens, MYR_MODEL_SEQ_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
};

/* 'intermediate_size' is that of the experts here; plain layers have a key of their own. */
static const struct key_number llama4_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("intermediate_size_mlp", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_local_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("interleave_moe_layer_step", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* The ratio is read into the width, which finish_mpt() makes of it. */
static const struct key_number mpt_rows[] = {
    ROW("n_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("d_model", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("expansion_ratio", ffn_hidden, MYR_MODEL_FFN_MAX / MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_seq_len", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number opt_rows[] = {
    SHAPE_ROWS,
    ROW("ffn_dim", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

static const struct key_number phi_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
};

/* The width is that of both halves: hf_finish_qwen() divides it. */
static const struct key_number qwen_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* As DeepSeek-V3, and an indexer. */
static const struct key_number indexed_rows[] = {
    DEEPSEEK_ROWS,
    ROW("index_n_heads", indexer.head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("index_head_dim", indexer.head_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("index_topk", indexer.kept_tokens, MYR_MODEL_SEQ_MAX, REQUIRED),
};

/* Routed and shared experts of one width. */
static const struct key_number bailing_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW_OR_ZERO("num_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
    ROW_OR_ZERO("first_k_dense_replace", moe.first_dense, MYR_MODEL_LAYERS_MAX),
};

/* Experts' number and width may be lists: hf_finish_ernie_moe() reads them. */
static const struct key_number ernie_moe_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("moe_k", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW_OR_ZERO("moe_num_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
    ROW_OR_ZERO("moe_layer_start_index", moe.first_dense, MYR_MODEL_LAYERS_MAX),
    ROW("moe_layer_interval", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* A shared expert has a width of its own, or is not there. */
static const struct key_number granitemoe_shared_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_local_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW_OR_ZERO("shared_intermediate_size", moe.shared_hidden, MYR_MODEL_FFN_MAX),
};

/* What may be a list is read by hf_finish_hunyuan() and hf_finish_hunyuan_moe(). */
#define HUNYUAN_ROWS                                                              \
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),        \
        ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),               \
        ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),    \
        ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL), \
        ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),                  \
        ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL)

static const struct key_number hunyuan_rows[] = {
    HUNYUAN_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

static const struct key_number hunyuan_moe_rows[] = {
    HUNYUAN_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

/* Experts as Qwen's, and linear layers between the full ones. */
static const struct key_number qwen3_next_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW_OR_ZERO("shared_expert_intermediate_size", moe.shared_hidden, MYR_MODEL_FFN_MAX),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("decoder_sparse_step", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW("linear_num_key_heads", delta.key_heads, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("linear_key_head_dim", delta.key_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("linear_num_value_heads", delta.value_heads, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("linear_value_head_dim", delta.value_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("linear_conv_kernel_dim", delta.taps, MYR_MODEL_DIM_MAX, OPTIONAL),
};

/* All layers have experts. */
static const struct key_number solar_rows[] = {
    SHAPE_ROWS,
    ROW("n_routed_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW_OR_ZERO("n_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
};

/*
 * Words for what families have in common: two norms and a gated FFN without biases is the usual
 * layer, LayerNorm with biases everywhere the one of the first GPTs.
 */
#define ROWS(table)    table, MYR_ARRAY_COUNT(table)
#define DECODER(norms) .causal = true, .norms_per_layer = (norms), .moe.interval = 1
#define USUAL          DECODER(2), .gated = true
#define BIASED         .qkv_bias = true, .out_bias = true, .ffn_bias = true
#define OLD_GPT        DECODER(2), .norm = MYR_NORM_LAYER, BIASED
/* Attention and feed-forward side by side, behind one norm. */
#define PARALLEL DECODER(1), .norm = MYR_NORM_LAYER, .ffn_bias = true, .head_bias = true
#define LEARNED  .tied = true, .positions = MYR_POSITIONS_LEARNED, .dropout = true

/*
 * What stands in the braces is not in the configs but in the families' modelling code; the counts
 * of tests/data/model-configs.jsonl hold it to the last parameter.
 */
const struct hf_family myr_work_hf_families[] = {
    {"apertus", ROWS(llama_rows), hf_finish_apertus, {DECODER(2), .qk_norm = true}},
    {"arcee", ROWS(llama_rows), hf_finish_llama, {DECODER(2)}},
    {"baichuan", ROWS(baichuan_rows), hf_finish_mistral, {USUAL}},
    {"bailing_moe", ROWS(bailing_rows), hf_finish_bailing, {USUAL, .out_bias = true}},
    {"bailing_moe_v2",
     ROWS(bailing_rows),
     hf_finish_bailing_v2,
     {USUAL, .qk_norm = true, .moe.score_bias = true}},
    /* No table of positions and no rotation. */
    {"bloom",
     ROWS(bloom_rows),
     hf_finish_plain,
     {OLD_GPT, .tied = true, .positions = MYR_POSITIONS_NONE, .embedding_norm = true,
      .seq_tokens = 2048}},
    {"chatglm", ROWS(chatglm_rows), hf_finish_chatglm, {USUAL}},
    {"codegen", ROWS(gptj_rows), hf_finish_plain, {PARALLEL}},
    /* Attention and FFN side by side behind one norm. */
    {"cohere", ROWS(llama_rows), hf_finish_cohere, {DECODER(1), .gated = true, .tied = true}},
    {"cohere2",
     ROWS(pattern_rows),
     hf_finish_cohere2,
     {DECODER(1), .gated = true, .tied = true, .full_every = 4}},
    {"dbrx", ROWS(dbrx_rows), hf_finish_dbrx, {USUAL, .seq_tokens = 2048}},
    /* The first of the line has experts but no latent attention. */
    {"deepseek", ROWS(glm_moe_rows), hf_finish_dots, {USUAL}},
    {"deepseek_v2", ROWS(deepseek_rows), hf_finish_deepseek_v2, {USUAL}},
    {"deepseek_v3", ROWS(deepseek_rows), hf_finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"deepseek_v32", ROWS(indexed_rows), hf_finish_indexed, {USUAL, .moe.score_bias = true}},
    {"dots1", ROWS(glm_moe_rows), hf_finish_dots, {USUAL, .qk_norm = true, .moe.score_bias = true}},
    {"ernie4_5", ROWS(llama_rows), hf_finish_ernie, {USUAL, .tied = true}},
    {"ernie4_5_moe",
     ROWS(ernie_moe_rows),
     hf_finish_ernie_moe,
     {USUAL, .tied = true, .moe.score_bias = true, .moe.first_dense = 1}},
    {"exaone", ROWS(exaone_rows), hf_finish_mistral, {USUAL}},
    {"exaone4", ROWS(llama_rows), hf_finish_gemma2, {USUAL, .qk_norm = true, .full_every = 4}},
    {"falcon",
     ROWS(falcon_rows),
     hf_finish_falcon,
     {DECODER(1), .norm = MYR_NORM_LAYER, .tied = true, .seq_tokens = 2048}},
    {"gemma", ROWS(llama_rows), hf_finish_llama, {USUAL, .tied = true, .head_dim = 256}},
    /* Norms before and behind both parts of a layer: four. */
    {"gemma2",
     ROWS(llama_rows),
     hf_finish_gemma2,
     {DECODER(4), .gated = true, .tied = true, .head_dim = 256, .full_every = 2}},
    {"gemma3_text",
     ROWS(gemma3_rows),
     hf_finish_gemma2,
     {DECODER(4), .gated = true, .tied = true, .qk_norm = true, .full_every = 6, .head_dim = 256,
      .head_count = 8, .kv_head_count = 4, .vocab = 262208, .seq_tokens = 131072}},
    {"glm", ROWS(llama_rows), hf_finish_glm, {USUAL}},
    {"glm4", ROWS(llama_rows), hf_finish_glm, {DECODER(4), .gated = true}},
    {"glm4_moe", ROWS(glm_moe_rows), hf_finish_glm_moe, {USUAL, .moe.score_bias = true}},
    {"glm4_moe_lite",
     ROWS(deepseek_rows),
     hf_finish_deepseek,
     {USUAL, .moe.score_bias = true, .moe.first_dense = 1}},
    {"glm_moe_dsa",
     ROWS(indexed_rows),
     hf_finish_indexed,
     {USUAL, .moe.score_bias = true, .moe.first_dense = 3}},
    {"gpt2", ROWS(gpt2_rows), hf_finish_gpt2, {OLD_GPT, LEARNED}},
    {"gpt_bigcode", ROWS(gpt2_rows), hf_finish_bigcode, {OLD_GPT, LEARNED}},
    {"gpt_neox", ROWS(llama_rows), hf_finish_neox, {OLD_GPT}},
    /* Experts have biases here, and so has the router; every head has a learned sink. */
    {"gpt_oss",
     ROWS(mixtral_rows),
     hf_finish_gpt_oss,
     {USUAL, BIASED, .attention_sink = true, .moe.router_bias = true}},
    {"gptj", ROWS(gptj_rows), hf_finish_plain, {PARALLEL}},
    {"granite", ROWS(llama_rows), hf_finish_llama, {USUAL, .tied = true}},
    {"granitemoe", ROWS(mixtral_rows), hf_finish_granitemoe, {USUAL}},
    {"granitemoeshared", ROWS(granitemoe_shared_rows), hf_finish_granitemoe_shared, {USUAL}},
    {"grok-1", ROWS(grok_rows), hf_finish_mistral, {DECODER(4), .gated = true, .tied = true}},
    {"helium", ROWS(llama_rows), hf_finish_seed, {USUAL}},
    {"hunyuan_v1_dense", ROWS(hunyuan_rows), hf_finish_hunyuan, {USUAL, .qk_norm = true}},
    {"hunyuan_v1_moe", ROWS(hunyuan_moe_rows), hf_finish_hunyuan_moe, {USUAL, .qk_norm = true}},
    {"internlm", ROWS(llama_rows), hf_finish_bias, {USUAL}},
    {"internlm2", ROWS(llama_rows), hf_finish_bias, {USUAL}},
    {"jais2", ROWS(llama_rows), hf_finish_llama, {DECODER(2), .norm = MYR_NORM_LAYER, BIASED}},
    {"kimi_k2", ROWS(deepseek_rows), hf_finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"llama", ROWS(llama_rows), hf_finish_llama, {USUAL}},
    {"llama4_text", ROWS(llama4_rows), hf_finish_llama4, {USUAL}},
    /* Norms of queries and keys that span all heads. */
    {"minimax_m2",
     ROWS(mixtral_rows),
     hf_finish_minimax,
     {USUAL, .qk_norm = true, .qk_norm_wide = true, .moe.score_bias = true}},
    {"ministral", ROWS(llama_rows), hf_finish_mistral, {USUAL}},
    {"ministral3", ROWS(llama_rows), hf_finish_mistral, {USUAL}},
    {"mistral", ROWS(llama_rows), hf_finish_mistral, {USUAL}},
    {"mixtral", ROWS(mixtral_rows), hf_finish_mistral, {USUAL}},
    {"mpt", ROWS(mpt_rows), hf_finish_mpt, {DECODER(2), .tied = true, .seq_tokens = 2048}},
    {"nemotron", ROWS(llama_rows), hf_finish_llama, {DECODER(2), .norm = MYR_NORM_LAYER}},
    /* Norms without weights. */
    {"olmo", ROWS(llama_rows), hf_finish_llama, {USUAL, .norm = MYR_NORM_BARE}},
    {"olmo2", ROWS(llama_rows), hf_finish_llama, {USUAL, .qk_norm = true, .qk_norm_wide = true}},
    {"olmo3",
     ROWS(llama_rows),
     hf_finish_gemma2,
     {USUAL, .qk_norm = true, .qk_norm_wide = true, .full_every = 4}},
    {"olmoe", ROWS(grok_rows), hf_finish_neox, {USUAL, .qk_norm = true, .qk_norm_wide = true}},
    {"opt", ROWS(opt_rows), hf_finish_opt, {OLD_GPT, LEARNED}},
    {"phi", ROWS(phi_rows), hf_finish_plain, {PARALLEL, .qkv_bias = true, .out_bias = true}},
    {"phi3", ROWS(llama_rows), hf_finish_mistral, {USUAL}},
    {"phimoe", ROWS(mixtral_rows), hf_finish_phimoe, {USUAL, .norm = MYR_NORM_LAYER}},
    {"qwen", ROWS(qwen_rows), hf_finish_qwen, {USUAL, .qkv_bias = true}},
    /*
     * Biases of queries, keys and values are in the code of the second generation, a norm instead
     * of them in that of the third.
     */
    {"qwen2", ROWS(llama_rows), hf_finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_5_vl", ROWS(llama_rows), hf_finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_5_vl_text", ROWS(llama_rows), hf_finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_moe", ROWS(qwen_moe_rows), hf_finish_qwen2_moe, {USUAL, .qkv_bias = true}},
    {"qwen2_vl", ROWS(llama_rows), hf_finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_vl_text", ROWS(llama_rows), hf_finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen3", ROWS(llama_rows), hf_finish_qwen3, {USUAL, .qk_norm = true}},
    {"qwen3_moe", ROWS(qwen_moe_rows), hf_finish_qwen3_moe, {USUAL, .qk_norm = true}},
    {"qwen3_next",
     ROWS(qwen3_next_rows),
     hf_finish_qwen3_next,
     {USUAL, .qk_norm = true, .query_gate = true, .delta.taps = 4}},
    {"qwen3_vl_moe_text", ROWS(qwen_moe_rows), hf_finish_qwen3_moe, {USUAL, .qk_norm = true}},
    {"qwen3_vl_text", ROWS(llama_rows), hf_finish_qwen3, {USUAL, .qk_norm = true}},
    {"seed_oss", ROWS(llama_rows), hf_finish_seed, {USUAL, .qkv_bias = true}},
    {"smollm3", ROWS(llama_rows), hf_finish_llama, {USUAL, .tied = true}},
    {"solar_open", ROWS(solar_rows), hf_finish_glm_moe, {USUAL, .moe.score_bias = true}},
    {"stablelm", ROWS(llama_rows), hf_finish_stablelm, {USUAL, .norm = MYR_NORM_LAYER}},
    {"starcoder2",
     ROWS(llama_rows),
     hf_finish_starcoder2,
     {DECODER(2), .norm = MYR_NORM_LAYER, .tied = true}},
    {"youtu", ROWS(deepseek_rows), hf_finish_deepseek, {USUAL, .tied = true}},
};

const size_t myr_work_hf_family_count = MYR_ARRAY_COUNT(myr_work_hf_families);
