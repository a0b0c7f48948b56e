#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/work/count.h"

static int parse(struct myr_arena *arena, bool json, const char *text, struct myr_model *ret,
                 struct myr_err *err)
{
    const struct myr_doc *doc;
    struct myr_str content = myr_str_from(text);
    int rc = json ? myr_doc_read_json(arena, "config.json", content, &doc, err)
                  : myr_doc_read_yaml(arena, "model.yaml", content, &doc, err);
    return rc == MYR_OK ? myr_model_parse(arena, doc, ret, err) : rc;
}

/* The text must be refused with exactly this message, and the model left alone. */
static void assert_refused(bool json, const char *text, const char *message)
{
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model model = {.layer_count = 12345};
    assert_int_not_equal(parse(&arena, json, text, &model, &err), MYR_OK);
    assert_string_equal(err.message, message);
    assert_int_equal(model.layer_count, 12345);
    myr_arena_done(&arena);
}

#define SMALL "layers: 2\nhidden: 8\nheads: 2\nvocab: 10\nsequence: 4\n"

static void our_own_description_is_read_with_its_defaults(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model model = {};
    assert_int_equal(parse(&arena, false, SMALL "ffn: 16\n", &model, &err), MYR_OK);
    assert_string_equal(model.name, "model.yaml");
    assert_null(model.source);
    assert_int_equal(model.kv_head_count, 2);
    assert_int_equal(model.head_dim, 4);
    assert_true(model.causal);
    assert_false(model.gated);
    assert_int_equal(model.norms_per_layer, 2);
    /* 2 * (4*8*8 + 2*8*16 + 2*8) + 8 + 2*10*8 */
    assert_int_equal(myr_model_params(&model).total, 2 * (256 + 256 + 16) + 8 + 160);
    /* The same as JSON. */
    assert_int_equal(parse(&arena, true,
                           "{\"layers\": 2, \"hidden\": 8, \"heads\": 2, \"vocab\": 10, "
                           "\"sequence\": 4, \"ffn\": 16, \"name\": \"tiny\"}",
                           &model, &err),
                     MYR_OK);
    assert_string_equal(model.name, "tiny");
    assert_int_equal(myr_model_params(&model).total, 1224);
    myr_arena_done(&arena);
}

static void every_key_of_our_description_has_its_effect(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model m = {};
    const char *text = SMALL
        "name: all\nsource: a test\nkv_heads: 1\nhead_dim: 6\nffn: 16\ngated: true\ntied: true\n"
        "causal: true\nwindow: {tokens: 3, full_every: 2}\nmtp: 1\npositions: learned\n"
        "max_positions: 7\nnorm: layer\nnorms_per_layer: 3\nembedding_norm: true\nqk_norm: true\n"
        "qk_norm_wide: true\nattention_sink: true\nbias: [qkv, out, ffn, head]\ndropout: true\n"
        "moe: {experts: 4, top_k: 2, ffn: 5, shared: 1, shared_ffn: 3, first_dense: 1,\n"
        "      interval: 1, router_bias: true, score_bias: true, shared_gate: true}\n";
    assert_int_equal(parse(&arena, false, text, &m, &err), MYR_OK);
    uint64_t n = 16;
    uint64_t attention = 8 * 12 + 2 * 8 * 6 + 12 * 8 + 12 + 12 + 8 + 12 + 6 + 2;
    uint64_t moe = 4 * (3 * 8 * 5 + 10 + 8) + 8 * 4 + (3 * 8 * 3 + 6 + 8) + 4 + 4 + 8;
    uint64_t dense_layer = attention + 3 * 8 * 16 + 32 + 8 + 3 * n;
    uint64_t moe_layer = attention + moe + 3 * n;
    struct myr_params p = myr_model_params(&m);
    assert_int_equal(p.dense_layer, dense_layer);
    assert_int_equal(p.moe_layer, moe_layer);
    /* A tied output matrix has its bias all the same. */
    assert_int_equal(p.total, 10 * 8 + 10 + 7 * 8 + n + dense_layer + moe_layer + n);
    assert_int_equal(p.mtp, moe_layer + 2 * 8 * 8 + 3 * n);
    assert_int_equal(m.window_tokens, 3);
    assert_true(m.dropout);
    m.tied = false;
    assert_int_equal(myr_model_params(&m).head, 10 * 8 + 10);
    assert_string_equal(m.source, "a test");
    myr_arena_done(&arena);
}

static void mistakes_in_our_description_get_one_line_with_the_place(void **state)
{
    (void)state;
    assert_refused(false, "layers: 2\n", "model.yaml:1:1: 'hidden' is missing in the model");
    assert_refused(false, "- 1\n",
                   "model.yaml:1:1: 'the model' is a list, a map of keys is "
                   "expected");
    assert_refused(false, SMALL "ffn: 16\nlayerz: 3\n",
                   "model.yaml:7:1: unknown key 'layerz' in the model; did you mean 'layers'?");
    assert_refused(
        false, SMALL "ffn: big\n",
        "model.yaml:6:6: 'ffn' is 'big', a whole number from 1 to 2,097,152 is expected");
    assert_refused(false, SMALL "ffn: -4\n",
                   "model.yaml:6:6: 'ffn' is '-4', a whole number from 1 to 2,097,152 is expected");
    assert_refused(false, SMALL "ffn:\n",
                   "model.yaml:6:5: 'ffn' is empty, a whole number from 1 to 2,097,152 is "
                   "expected");
    assert_refused(false, SMALL, "model.yaml:1:1: 'ffn' is 0 and there are no experts");
    assert_refused(false, SMALL "ffn: 16\nnorm: rsm\n",
                   "model.yaml:7:7: 'norm' is 'rsm', one of rms, layer, bare is expected");
    assert_refused(false, SMALL "ffn: 16\nbias: qkv\n",
                   "model.yaml:7:7: 'bias' is 'qkv', a list is expected");
    assert_refused(false, SMALL "ffn: 16\nmoe: {experts: 4, top_k: 8, ffn: 4}\n",
                   "model.yaml:1:1: 'moe.top_k' is 8, from 1 to 4 is expected");
    assert_refused(false, SMALL "ffn: 16\nmla: {kv_rank: 4}\n",
                   "model.yaml:7:6: 'nope_dim' is missing in mla");
    assert_refused(false, "layers: 2\nhidden: 9\nheads: 2\nvocab: 10\nsequence: 4\nffn: 8\n",
                   "model.yaml:1:1: the head width is not given, and 9 hidden do not divide by 2 "
                   "heads");
    assert_refused(false, SMALL "ffn: 16\nkv_heads: 3\n",
                   "model.yaml:1:1: 2 heads cannot share 3 key/value heads evenly");
    assert_refused(false, SMALL "ffn: 16\ncausal: false\nwindow: {tokens: 2}\n",
                   "model.yaml:1:1: a window needs causal attention");
}

struct config {
    const char *text;
    uint64_t total;
};

/* Keys as in the files on the hub, those that do not matter left out. */
static const struct config configs[] = {
    {"{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"num_hidden_layers\": 32,"
     "\"vocab_size\": 128256, \"max_position_embeddings\": 8192, \"rope_scaling\": null,"
     "\"attention_bias\": false, \"tie_word_embeddings\": false, \"rms_norm_eps\": 1e-05}",
     8030261248},
    {"{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"num_hidden_layers\": 32,"
     "\"vocab_size\": 32000, \"max_position_embeddings\": 32768, \"sliding_window\": 4096}",
     7241732096},
    {"{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"num_hidden_layers\": 32,"
     "\"vocab_size\": 32000, \"max_position_embeddings\": 32768, \"sliding_window\": null,"
     "\"num_local_experts\": 8, \"num_experts_per_tok\": 2}",
     46702792704},
    {"{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"intermediate_size\": 18944,"
     "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"num_hidden_layers\": 28,"
     "\"vocab_size\": 152064, \"max_position_embeddings\": 32768, \"sliding_window\": 131072,"
     "\"use_sliding_window\": false, \"max_window_layers\": 28}",
     7615616512},
    {"{\"model_type\": \"qwen2_moe\", \"hidden_size\": 2048, \"intermediate_size\": 5632,"
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"num_hidden_layers\": 24,"
     "\"vocab_size\": 151936, \"max_position_embeddings\": 8192, \"decoder_sparse_step\": 1,"
     "\"moe_intermediate_size\": 1408, \"shared_expert_intermediate_size\": 5632,"
     "\"num_experts\": 60, \"num_experts_per_tok\": 4, \"mlp_only_layers\": []}",
     14315784192},
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 5120, \"intermediate_size\": 25600,"
     "\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"num_hidden_layers\": 64,"
     "\"head_dim\": 128, \"vocab_size\": 151936, \"max_position_embeddings\": 40960,"
     "\"attention_bias\": false, \"use_sliding_window\": false}",
     32762123264},
    {"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048, \"intermediate_size\": 6144,"
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 4, \"num_hidden_layers\": 48,"
     "\"head_dim\": 128, \"vocab_size\": 151936, \"max_position_embeddings\": 40960,"
     "\"decoder_sparse_step\": 1, \"moe_intermediate_size\": 768, \"num_experts\": 128,"
     "\"num_experts_per_tok\": 8, \"mlp_only_layers\": []}",
     30532122624},
    {"{\"model_type\": \"deepseek_v2\", \"hidden_size\": 2048, \"intermediate_size\": 10944,"
     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"num_hidden_layers\": 27,"
     "\"vocab_size\": 102400, \"max_position_embeddings\": 163840, \"q_lora_rank\": null,"
     "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64,"
     "\"v_head_dim\": 128, \"n_routed_experts\": 64, \"n_shared_experts\": 2,"
     "\"num_experts_per_tok\": 6, \"moe_intermediate_size\": 1408, \"moe_layer_freq\": 1,"
     "\"first_k_dense_replace\": 1}",
     15706484224},
    {"{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"intermediate_size\": 18432,"
     "\"num_attention_heads\": 128, \"num_key_value_heads\": 128, \"num_hidden_layers\": 61,"
     "\"vocab_size\": 129280, \"max_position_embeddings\": 163840, \"q_lora_rank\": 1536,"
     "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64,"
     "\"v_head_dim\": 128, \"n_routed_experts\": 256, \"n_shared_experts\": 1,"
     "\"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, \"moe_layer_freq\": 1,"
     "\"first_k_dense_replace\": 3, \"num_nextn_predict_layers\": 1}",
     671026419200},
    {"{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12,"
     "\"n_positions\": 1024, \"vocab_size\": 50257, \"n_inner\": null}",
     124439808},
    {"{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144, \"intermediate_size\": 24576,"
     "\"num_attention_heads\": 64, \"num_hidden_layers\": 44, \"vocab_size\": 50432,"
     "\"max_position_embeddings\": 2048, \"tie_word_embeddings\": false}",
     20554567680},
    {"{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"intermediate_size\": 2880,"
     "\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"num_hidden_layers\": 4,"
     "\"head_dim\": 64, \"vocab_size\": 201088, \"max_position_embeddings\": 131072,"
     "\"num_local_experts\": 32, \"num_experts_per_tok\": 4, \"sliding_window\": 128,"
     "\"attention_bias\": true, \"layer_types\": [\"sliding_attention\", \"full_attention\","
     "\"sliding_attention\", \"full_attention\"]}",
     /* the 24 layers of gpt-oss-20b, 20 of them taken away */
     20914757184 - 20 * ((20914757184 - 2 * 201088ULL * 2880 - 2880) / 24)},
    {"{\"model_type\": \"grok-1\", \"hidden_size\": 6144, \"intermediate_size\": 32768,"
     "\"num_attention_heads\": 48, \"num_key_value_heads\": 8, \"num_hidden_layers\": 64,"
     "\"vocab_size\": 131072, \"max_position_embeddings\": 8192, \"num_experts\": 8,"
     "\"num_experts_per_tok\": 2}",
     315684820992},
    {"{\"model_type\": \"nemotron\", \"hidden_size\": 6144, \"intermediate_size\": 24576,"
     "\"num_attention_heads\": 48, \"num_key_value_heads\": 8, \"num_hidden_layers\": 32,"
     "\"vocab_size\": 256000, \"max_position_embeddings\": 4096}",
     15628775424},
};

static void configs_of_the_hub_give_their_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(configs); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_model model = {};
        if (parse(&arena, true, configs[i].text, &model, &err) != MYR_OK) {
            fail_msg("config %zu: %s", i, err.message);
        }
        uint64_t total = myr_model_params(&model).total;
        if (total != configs[i].total) {
            fail_msg("config %zu: %llu, published %llu", i, (unsigned long long)total,
                     (unsigned long long)configs[i].total);
        }
        myr_arena_done(&arena);
    }
}

static void configs_say_more_than_counts(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model model = {};
    assert_int_equal(parse(&arena, true, configs[1].text, &model, &err), MYR_OK);
    assert_int_equal(model.window_tokens, 4096); /* Mistral, all layers */
    assert_int_equal(model.full_every, 0);
    assert_int_equal(parse(&arena, true, configs[3].text, &model, &err), MYR_OK);
    assert_int_equal(model.window_tokens, 0); /* Qwen2 names one and does not use it */
    assert_int_equal(parse(&arena, true, configs[8].text, &model, &err), MYR_OK);
    assert_int_equal(model.mtp_count, 1); /* DeepSeek-V3 */
    assert_int_equal(model.moe.first_dense, 3);
    assert_string_equal(model.source, "config.json of type deepseek_v3");
    assert_int_equal(parse(&arena, true, configs[11].text, &model, &err), MYR_OK);
    assert_int_equal(model.window_tokens, 128); /* gpt-oss */
    assert_int_equal(model.full_every, 2);
    myr_arena_done(&arena);
}

static void an_unknown_type_is_refused(void **state)
{
    (void)state;
    assert_refused(true, "{\n  \"model_type\": \"bert\"\n}",
                   "config.json:2:17: 'model_type' is 'bert', none of the 80 known ones");
}

#define LLAMA                                                                      \
    "\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128, " \
    "\"num_attention_heads\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 100"

static void mistakes_in_a_config_get_one_line_with_the_place(void **state)
{
    (void)state;
    assert_refused(true, "{\"model_type\": \"llama\", \"hidden_size\": 64}",
                   "config.json:1:1: 'num_hidden_layers' is missing in a config of type 'llama'");
    assert_refused(true, "{" LLAMA "}",
                   "config.json:1:1: 'max_position_embeddings' is missing in a config of type "
                   "'llama'");
    assert_refused(true, "{" LLAMA ",\n\"max_position_embeddings\": 99999999999}",
                   "config.json:2:28: 'max_position_embeddings' is '99999999999', a whole number "
                   "from 1 to 16,777,216 is expected");
    assert_refused(true, "{" LLAMA ",\n\"max_position_embeddings\": 64, \"attention_bias\": 1}",
                   "config.json:2:50: 'attention_bias' is '1', true or false is expected");
    assert_refused(true, "{\"model_type\": 7.5, \"hidden_size\": 64}",
                   "config.json:1:16: 'model_type' is '7.5', none of the 80 known ones");
    assert_refused(true,
                   "{\"model_type\": \"gpt_oss\", \"hidden_size\": 64, \"intermediate_size\": 64,"
                   "\"num_attention_heads\": 8, \"num_hidden_layers\": 3, \"vocab_size\": 100,"
                   "\"max_position_embeddings\": 64, \"num_local_experts\": 4,"
                   "\"num_experts_per_tok\": 2, \"sliding_window\": 8,\n\"layer_types\": "
                   "[\"sliding_attention\", \"full_attention\", \"full_attention\"]}",
                   "config.json:2:56: layer 2 breaks the rule 'one layer in 2 has full "
                   "attention'; other patterns are not understood");
}

static void a_name_is_a_built_in_model_or_a_path(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model model = {};
    assert_int_equal(myr_model_find(&arena, "LLAMA3-8B", &model, &err), MYR_OK);
    assert_string_equal(model.name, "llama3-8b");
    assert_int_equal(
        myr_model_find(&arena, MYR_SOURCE_DIR "/catalog/models/grok-1.yaml", &model, &err), MYR_OK);
    assert_string_equal(model.name, "grok-1");

    assert_int_equal(myr_model_find(&arena, "llama3-8", &model, &err), MYR_ENOENT);
    assert_string_equal(err.message, "no built-in model and no file is named 'llama3-8'; did you "
                                     "mean 'llama3-8b' or 'llama2-7b'?");
    /* Sizes are near as numbers, not as letters. */
    assert_int_equal(myr_model_find(&arena, "Megatron-530b", &model, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "did you mean 'megatron-529.6b' or 'megatron-310.1b'?"));
    assert_int_equal(myr_model_find(&arena, "qwen3-31b", &model, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "did you mean 'qwen3-30b-a3b' or 'qwen3-32b'?"));
    assert_int_equal(myr_model_find(&arena, "bloom-1760b", &model, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "did you mean 'bloom-176b'?"));
    assert_int_equal(myr_model_find(&arena, "lama3-70b", &model, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "did you mean 'llama3-70b'"));
    assert_int_equal(myr_model_find(&arena, "./nowhere.yaml", &model, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "./nowhere.yaml"));
    assert_int_equal(myr_model_find(&arena, "Qwen3-235B", &model, &err), MYR_OK);
    assert_string_equal(model.name, "qwen3-235b-a22b");
    assert_int_equal(myr_model_find(&arena, "qwen3", &model, &err), MYR_EINVAL);
    assert_string_equal(err.message, "'qwen3' begins the names of several models: "
                                     "qwen3-235b-a22b, qwen3-30b-a3b, qwen3-32b, qwen3-8b");
    assert_int_equal(myr_model_find(&arena, "", &model, &err), MYR_ENOENT);
    assert_int_equal(myr_model_read(&arena, "llama3-8b", &model, &err), MYR_ENOENT);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_description_is_read_with_its_defaults),
        cmocka_unit_test(every_key_of_our_description_has_its_effect),
        cmocka_unit_test(mistakes_in_our_description_get_one_line_with_the_place),
        cmocka_unit_test(configs_of_the_hub_give_their_published_counts),
        cmocka_unit_test(configs_say_more_than_counts),
        cmocka_unit_test(an_unknown_type_is_refused),
        cmocka_unit_test(mistakes_in_a_config_get_one_line_with_the_place),
        cmocka_unit_test(a_name_is_a_built_in_model_or_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
