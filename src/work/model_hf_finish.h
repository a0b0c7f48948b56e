/*
 * model_hf_finish: reads what the tables of keys leave over, one function a family or several that
 * write it alike. Called with the fields of the tables filled; the checks come after.
 */
#pragma once

#include "model_hf.h"

/* A flag that may be absent; the window and the layers that have it. */
int hf_flag(const struct myr_doc *doc, const char *key, bool *value, struct myr_err *err);
int hf_no_bias(const struct myr_doc *doc, const char *key, struct myr_err *err);
int hf_window(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err);

/* In alphabetical order; each is named by the families' table, model_hf_families.c. */
#define HF_FINISH(name) \
    int name(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)

HF_FINISH(hf_finish_apertus);
HF_FINISH(hf_finish_bailing);
HF_FINISH(hf_finish_bailing_v2);
HF_FINISH(hf_finish_bias);
HF_FINISH(hf_finish_bigcode);
HF_FINISH(hf_finish_chatglm);
HF_FINISH(hf_finish_cohere);
HF_FINISH(hf_finish_cohere2);
HF_FINISH(hf_finish_dbrx);
HF_FINISH(hf_finish_deepseek);
HF_FINISH(hf_finish_deepseek_v2);
HF_FINISH(hf_finish_dots);
HF_FINISH(hf_finish_ernie);
HF_FINISH(hf_finish_ernie_moe);
HF_FINISH(hf_finish_falcon);
HF_FINISH(hf_finish_gemma2);
HF_FINISH(hf_finish_glm);
HF_FINISH(hf_finish_glm_moe);
HF_FINISH(hf_finish_gpt2);
HF_FINISH(hf_finish_gpt_oss);
HF_FINISH(hf_finish_granitemoe);
HF_FINISH(hf_finish_granitemoe_shared);
HF_FINISH(hf_finish_hunyuan);
HF_FINISH(hf_finish_hunyuan_moe);
HF_FINISH(hf_finish_indexed);
HF_FINISH(hf_finish_llama);
HF_FINISH(hf_finish_llama4);
HF_FINISH(hf_finish_minimax);
HF_FINISH(hf_finish_mistral);
HF_FINISH(hf_finish_mpt);
HF_FINISH(hf_finish_neox);
HF_FINISH(hf_finish_opt);
HF_FINISH(hf_finish_phimoe);
HF_FINISH(hf_finish_plain);
HF_FINISH(hf_finish_qwen);
HF_FINISH(hf_finish_qwen2);
HF_FINISH(hf_finish_qwen2_moe);
HF_FINISH(hf_finish_qwen3);
HF_FINISH(hf_finish_qwen3_moe);
HF_FINISH(hf_finish_qwen3_next);
HF_FINISH(hf_finish_seed);
HF_FINISH(hf_finish_stablelm);
HF_FINISH(hf_finish_starcoder2);

/* Checks that several share: which layers have experts, by lists of layers. */
HF_FINISH(hf_sparse_layers);
HF_FINISH(hf_dense_layers);

#undef HF_FINISH
