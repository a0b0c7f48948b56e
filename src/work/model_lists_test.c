/*
 * Keys that lists, numbers and flags may stand for, in configs of families that write them (the
 * first of each in tests/data/model-configs.jsonl, with some keys set): what is read, or what is
 * said (tests/kept/work-lists.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/work/model.h"

#define S         "\"sliding_attention\""
#define FOUR      "\"num_hidden_layers\":4,"
#define ONE(kind) FOUR "\"layer_types\":[\"" kind "\",\"" kind "\",\"" kind "\",\"" kind "\"]"

static const struct {
    const char *type, *keys;
} rows[] = {
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\",\"sparse\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"sparse\",\"sparse\",\"sparse\",\"sparse\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"dense\",\"dense\",\"sparse\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"dense\",\"dense\",\"dense\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"sparse\",\"dense\",\"sparse\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\",[]]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\"]"},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":\"dense\""},
    {"deepseek_v3", FOUR "\"mlp_layer_types\":null"},
    {"deepseek_v3", "\"first_k_dense_replace\":4,\"moe_layer_freq\":3"},
    {"deepseek_v3", "\"first_k_dense_replace\":6,\"moe_layer_freq\":3"},
    {"deepseek_v3", "\"first_k_dense_replace\":0,\"moe_layer_freq\":1"},
    {"deepseek_v3",
     FOUR "\"moe_layer_freq\":2,\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\","
          "\"sparse\"]"},
    {"deepseek_v3", "\"n_routed_experts\":null"},
    {"deepseek_v3", "\"n_shared_experts\":0"},
    {"deepseek_v3", "\"num_nextn_predict_layers\":2"},
    {"deepseek_v3", "\"attention_bias\":true"},
    {"deepseek_v32", FOUR "\"indexer_types\":[\"full\",\"full\",\"full\",\"full\"]"},
    {"deepseek_v32", FOUR "\"indexer_types\":[\"full\",\"full\",\"full\",\"shared\"]"},
    {"deepseek_v32", FOUR "\"indexer_types\":[\"shared\",\"full\",\"full\",\"full\"]"},
    {"deepseek_v32", "\"indexer_types\":\"full\""},
    {"deepseek_v32", "\"index_topk_freq\":1"},
    {"deepseek_v32", "\"index_topk_freq\":2"},
    {"deepseek_v32", "\"index_topk_pattern\":\"FFSS\""},
    {"deepseek_v32", "\"index_topk\":0"},
    {"minimax_m2", FOUR "\"attn_type_list\":[1,1,1,1]"},
    {"minimax_m2", FOUR "\"attn_type_list\":[1,0,1,1]"},
    {"minimax_m2", FOUR "\"attn_type_list\":[0,1,1,1]"},
    {"minimax_m2", FOUR "\"attn_type_list\":[1,1,1,0]"},
    {"minimax_m2", "\"use_mtp\":true,\"num_mtp_modules\":3"},
    {"minimax_m2", "\"use_mtp\":true"},
    {"minimax_m2", "\"use_mtp\":false,\"num_mtp_modules\":3"},
    {"minimax_m2", "\"use_mtp\":true,\"num_mtp_modules\":9999999"},
    {"hunyuan_v1_moe", "\"num_experts\":[16,16,16]"},
    {"hunyuan_v1_moe", "\"num_experts\":[16,16,8]"},
    {"hunyuan_v1_moe", "\"num_experts\":[8,16]"},
    {"hunyuan_v1_moe", "\"num_experts\":[0]"},
    {"hunyuan_v1_moe", "\"num_experts\":0"},
    {"hunyuan_v1_moe", "\"num_experts\":[]"},
    {"hunyuan_v1_moe", "\"moe_topk\":[2,2]"},
    {"hunyuan_v1_moe", "\"moe_topk\":3"},
    {"hunyuan_v1_moe", "\"num_shared_expert\":[1,1]"},
    {"hunyuan_v1_moe", "\"num_shared_expert\":2"},
    {"hunyuan_v1_moe", "\"moe_intermediate_size\":77"},
    {"hunyuan_v1_moe", "\"use_cla\":true"},
    {"hunyuan_v1_moe", "\"use_cla\":false"},
    {"hunyuan_v1_moe", "\"attention_head_dim\":64"},
    {"hunyuan_v1_moe", "\"attention_bias\":true"},
    {"ernie4_5_moe", "\"moe_num_experts\":[64,64]"},
    {"ernie4_5_moe", "\"moe_num_experts\":[64,32]"},
    {"ernie4_5_moe", "\"moe_intermediate_size\":[512,512]"},
    {"ernie4_5_moe", "\"moe_layer_end_index\":27"},
    {"ernie4_5_moe", "\"moe_layer_end_index\":26"},
    {"ernie4_5_moe", "\"moe_layer_interval\":2"},
    {"ernie4_5_moe", "\"moe_layer_interval\":2,\"moe_layer_start_index\":2"},
    {"ernie4_5_moe", "\"moe_layer_interval\":3,\"moe_layer_end_index\":26"},
    {"ernie4_5_moe", "\"moe_layer_interval\":3,\"moe_layer_end_index\":25"},
    {"ernie4_5_moe", "\"moe_num_shared_experts\":0"},
    {"ernie4_5_moe", "\"use_bias\":true"},
    {"gpt_oss", FOUR "\"layer_types\":[" S ",\"full_attention\"," S ",\"full_attention\"]"},
    {"gpt_oss", FOUR "\"layer_types\":[" S "," S "," S ",\"full_attention\"]"},
    {"gpt_oss", FOUR "\"layer_types\":[" S "," S "," S "," S "]"},
    {"gpt_oss", FOUR "\"layer_types\":[\"full_attention\",\"full_attention\",\"full_attention\","
                     "\"full_attention\"]"},
    {"gpt_oss", FOUR "\"layer_types\":[\"full_attention\"," S "," S "," S "]"},
    {"gpt_oss", FOUR "\"layer_types\":[" S ",\"full_attention\",\"full_attention\"," S "]"},
    {"gpt_oss", FOUR "\"layer_types\":[" S ",\"full_attention\"," S "]"},
    {"gpt_oss", FOUR "\"layer_types\":[" S ",[]," S ",\"full_attention\"]"},
    {"gpt_oss", "\"layer_types\":\"full_attention\""},
    {"gpt_oss", "\"sliding_window\":null"},
    {"qwen3_moe", "\"mlp_only_layers\":[]"},
    {"qwen3_moe", "\"mlp_only_layers\":[3]"},
    {"qwen3_moe", "\"mlp_only_layers\":3"},
    {"qwen3_moe", "\"decoder_sparse_step\":3"},
    {"qwen2_moe", "\"decoder_sparse_step\":2"},
    {"qwen2_moe", "\"shared_expert_intermediate_size\":0"},
    {"granitemoeshared", "\"shared_intermediate_size\":0"},
    {"granitemoe", "\"attention_bias\":true"},
    {"bailing_moe", "\"use_bias\":true"},
    {"bailing_moe", "\"use_qkv_bias\":true"},
    {"bailing_moe", "\"num_shared_experts\":0"},
    {"bailing_moe_v2", "\"use_qk_norm\":false"},
    {"apertus", "\"hidden_act\":\"silu\""},
    {"apertus", "\"attention_bias\":true"},
    {"deepseek_v2", "\"mlp_bias\":true"},
    {"llama", "\"kv_lora_rank\":8"},
    {"llama", "\"num_experts\":2"},
    {"llama", ONE("full_attention")},
    {"llama", ONE("chunked_attention")},
    {"llama", ONE("linear_attention")},
    {"llama", ONE("deepseek_sparse_attention")},
    {"deepseek_v32", ONE("full_attention")},
    {"deepseek_v32", ONE("deepseek_sparse_attention")},
    {"deepseek_v32", ONE("chunked_attention")},
    {"deepseek_v32", ONE("linear_attention")},
    {"mpt", "\"attn_config\":{}"},
    {"mpt", "\"attn_config\":{},\"learned_pos_emb\":null"},
    {"mpt", "\"attn_config\":null,\"learned_pos_emb\":null,\"no_bias\":null"},
    {"mpt", "\"attn_config\":{\"alibi\":false},\"learned_pos_emb\":false"},
    {"mpt", "\"attn_config\":{\"alibi\":false},\"max_seq_len\":77"},
    {"mpt", "\"attn_config\":{\"alibi\":true},\"no_bias\":false"},
    {"mpt", "\"attn_config\":{\"alibi\":3}"},
    {"mpt", "\"attn_config\":{\"kv_n_heads\":0}"},
    {"mpt", "\"attn_config\":{\"kv_n_heads\":1}"},
    {"mpt", "\"attn_config\":{\"kv_n_heads\":16}"},
    {"mpt", "\"attn_config\":{\"kv_n_heads\":4097}"},
    {"mpt", "\"attn_config\":[]"},
    {"mpt", "\"expansion_ratio\":null"},
    {"mpt", "\"expansion_ratio\":3"},
    {"opt", "\"word_embed_proj_dim\":null"},
    {"opt", "\"word_embed_proj_dim\":0"},
    {"opt", "\"word_embed_proj_dim\":1"},
    {"opt", "\"word_embed_proj_dim\":262144"},
    {"opt", "\"word_embed_proj_dim\":262145"},
    {"opt", "\"word_embed_proj_dim\":\"wide\""},
    {"falcon", "\"new_decoder_architecture\":true,\"num_kv_heads\":71"},
    {"falcon", "\"new_decoder_architecture\":true,\"num_ln_in_parallel_attn\":0"},
    {"falcon", "\"new_decoder_architecture\":true,\"num_ln_in_parallel_attn\":1"},
    {"falcon", "\"new_decoder_architecture\":true,\"num_ln_in_parallel_attn\":2"},
    {"falcon", "\"new_decoder_architecture\":true,\"num_ln_in_parallel_attn\":3"},
    {"falcon", "\"parallel_attn\":false"},
    {"falcon", "\"alibi\":true"},
    {"falcon", "\"alibi\":null,\"bias\":null,\"multi_query\":null,\"parallel_attn\":null"},
    {"dbrx", "\"attn_config\":{\"kv_n_heads\":0}"},
    {"dbrx", "\"attn_config\":{\"kv_n_heads\":8}"},
    {"dbrx", "\"attn_config\":null"},
    {"dbrx", "\"ffn_config\":null"},
    {"dbrx", "\"ffn_config\":{\"ffn_hidden_size\":8,\"moe_num_experts\":4,\"moe_top_k\":4}"},
    {"dbrx", "\"ffn_config\":{\"ffn_hidden_size\":8,\"moe_num_experts\":4,\"moe_top_k\":5}"},
    {"dbrx", "\"ffn_config\":{\"ffn_hidden_size\":8,\"moe_num_experts\":4,\"moe_top_k\":0}"},
    {"dbrx", "\"ffn_config\":{\"ffn_hidden_size\":0,\"moe_num_experts\":4,\"moe_top_k\":1}"},
    {"dbrx", "\"ffn_config\":{\"moe_num_experts\":4,\"moe_top_k\":1}"},
};

static void put_model(struct myr_buf *out, const struct myr_model *m)
{
    myr_buf_printf(
        out,
        "%u layers, %u heads of %u, window %u, full %u, ffn %u %u, mtp %u, biases %d%d%d, "
        "qk_norm %d, experts %u of %u x %u, shared %u x %u %d, dense %u, interval %u, "
        "indexer %u, %u kv, positions %d to %u, norm %d x %u\n",
        m->layer_count, m->head_count, m->head_dim, m->window_tokens, m->full_every, m->ffn_hidden,
        m->activation_weights, m->mtp_count, m->qkv_bias, m->out_bias, m->ffn_bias, m->qk_norm,
        m->moe.experts_per_token, m->moe.expert_count, m->moe.expert_hidden, m->moe.shared_count,
        m->moe.shared_hidden, m->moe.shared_gate, m->moe.first_dense, m->moe.interval,
        m->indexer.head_count, m->kv_head_count, (int)m->positions, m->position_max, (int)m->norm,
        m->norms_per_layer);
}

/* The config's entries, those of 'keys' in the place of its own or behind them. */
static struct myr_doc merged(struct myr_arena *arena, const struct myr_doc *config,
                             const struct myr_doc *keys)
{
    struct myr_doc ret = *config;
    ret.entries = MYR_ARENA_NEW(arena, struct myr_doc_entry, config->count + keys->count);
    memcpy(ret.entries, config->entries, config->count * sizeof(*ret.entries));
    for (uint32_t i = 0; i < keys->count; i++) {
        uint32_t at = 0;
        while (at < ret.count && !myr_str_eq(ret.entries[at].key, keys->entries[i].key)) {
            at++;
        }
        ret.entries[at] = keys->entries[i];
        ret.count += at == ret.count;
    }
    return ret;
}

/* The first config of a type. */
static const struct myr_doc *config_of(struct myr_arena *arena, const struct myr_buf *file,
                                       const char *type)
{
    const char *word = myr_arena_printf(arena, "\"model_type\":\"%s\"", type);
    const char *at = strstr(file->data, word), *from = at, *to = at;
    const struct myr_doc *root = NULL;
    assert_non_null(at);
    while (from > file->data && from[-1] != '\n') {
        from--;
    }
    to += strcspn(to, "\n");
    assert_int_equal(
        myr_doc_read_json(arena, "c", (struct myr_str){from, (size_t)(to - from)}, &root, NULL),
        MYR_OK);
    return myr_doc_get(root, "config");
}

static void lists_are_read_where_they_say_what_is_understood(void **state)
{
    struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    (void)state;
    myr_arena_init(&arena);
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/model-configs.jsonl", 1 << 22, &file, NULL),
        MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *text = myr_arena_printf(&arena, "{%s}", rows[i].keys);
        const struct myr_doc *keys = NULL;
        struct myr_model model;
        struct myr_err err = {};
        assert_int_equal(myr_doc_read_json(&arena, "k", myr_str_from(text), &keys, NULL), MYR_OK);
        struct myr_doc config = merged(&arena, config_of(&arena, &file, rows[i].type), keys);
        myr_buf_printf(&story, "%s, %s: ", rows[i].type, rows[i].keys);
        if (myr_model_parse(&arena, &config, &model, &err) < 0) {
            myr_buf_printf(&story, "%s\n", err.message);
        } else {
            put_model(&story, &model);
            assert_string_equal(model.name, "c"); /* a config has none: it is its file's */
        }
    }
    assert_kept("work-lists.txt", &story);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_where_they_say_what_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
