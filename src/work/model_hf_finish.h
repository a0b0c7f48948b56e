/*
 * model_hf_finish: reads what the tables of keys leave over, one function a family or several that
 * write it alike. Called with the fields of the tables filled; the checks come after.
 */
#pragma once

#include "model_hf.h"

#define HF_FINISH(name) \
    int name(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)

HF_FINISH(hf_finish_bias);
HF_FINISH(hf_finish_bigcode);
HF_FINISH(hf_finish_chatglm);
HF_FINISH(hf_finish_cohere);
HF_FINISH(hf_finish_cohere2);
HF_FINISH(hf_finish_dbrx);
HF_FINISH(hf_finish_deepseek);
HF_FINISH(hf_finish_ernie);
HF_FINISH(hf_finish_falcon);
HF_FINISH(hf_finish_gemma2);
HF_FINISH(hf_finish_glm);
HF_FINISH(hf_finish_glm_moe);
HF_FINISH(hf_finish_gpt2);
HF_FINISH(hf_finish_gpt_oss);
HF_FINISH(hf_finish_llama);
HF_FINISH(hf_finish_llama4);
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
HF_FINISH(hf_finish_seed);
HF_FINISH(hf_finish_stablelm);
HF_FINISH(hf_finish_starcoder2);

#undef HF_FINISH
