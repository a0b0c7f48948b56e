#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/work/count.h"

/* Keys as in the files on the hub, those that do not matter left out; counts as published. */
static const struct {
    const char *name, *text;
    uint64_t total;
} configs[] = {
    {"Baichuan2-13B",
     "{\"model_type\":\"baichuan\",\"hidden_size\":5120,\"intermediate_size\":13696,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":40,\"vocab_size\":125696,"
     "\"model_max_length\":4096}",
     13896668160},
    {"BLOOM",
     "{\"model_type\":\"bloom\",\"n_layer\":70,\"n_embed\":14336,"
     "\"num_attention_heads\":112,\"vocab_size\":250880,\"seq_length\":2048}",
     176247271424},
    {"ChatGLM3-6B",
     "{\"model_type\":\"chatglm\",\"num_layers\":28,\"hidden_size\":4096,"
     "\"num_attention_heads\":32,\"multi_query_attention\":true,"
     "\"multi_query_group_num\":2,\"ffn_hidden_size\":13696,\"padded_vocab_size\":65024,"
     "\"kv_channels\":128,\"seq_length\":8192,\"add_qkv_bias\":true,"
     "\"add_bias_linear\":false}",
     6243584000},
    {"Command R",
     "{\"model_type\":\"cohere\",\"hidden_size\":8192,\"intermediate_size\":22528,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":64,\"num_key_value_heads\":64,"
     "\"vocab_size\":256000,\"max_position_embeddings\":8192}",
     34980831232},
    {"DBRX",
     "{\"model_type\":\"dbrx\",\"d_model\":6144,\"n_heads\":48,\"n_layers\":40,"
     "\"vocab_size\":100352,\"max_seq_len\":32768,\"attn_config\":{\"kv_n_heads\":8},"
     "\"ffn_config\":{\"ffn_hidden_size\":10752,\"moe_num_experts\":16,\"moe_top_k\":4},"
     "\"tie_word_embeddings\":false}",
     131596523520},
    {"DeepSeek-MoE-16B",
     "{\"model_type\":\"deepseek\",\"hidden_size\":2048,\"intermediate_size\":10944,"
     "\"moe_intermediate_size\":1408,\"num_hidden_layers\":28,\"num_attention_heads\":16,"
     "\"num_key_value_heads\":16,\"n_routed_experts\":64,\"n_shared_experts\":2,"
     "\"num_experts_per_tok\":6,\"first_k_dense_replace\":1,\"moe_layer_freq\":1,"
     "\"vocab_size\":102400,\"max_position_embeddings\":4096}",
     16375728128},
    {"EXAONE-3.0-7.8B",
     "{\"model_type\":\"exaone\",\"num_layers\":32,\"hidden_size\":4096,"
     "\"intermediate_size\":14336,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
     "\"vocab_size\":102400,\"max_position_embeddings\":4096}",
     7818448896},
    {"Falcon-7B",
     "{\"model_type\":\"falcon\",\"hidden_size\":4544,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":71,\"multi_query\":true,\"new_decoder_architecture\":false,"
     "\"parallel_attn\":true,\"bias\":false,\"vocab_size\":65024}",
     6921720704},
    {"Falcon-180B",
     "{\"model_type\":\"falcon\",\"hidden_size\":14848,\"num_hidden_layers\":80,"
     "\"num_attention_heads\":232,\"num_kv_heads\":8,\"multi_query\":true,"
     "\"new_decoder_architecture\":true,\"bias\":false,\"vocab_size\":65024,"
     "\"tie_word_embeddings\":false}",
     179522565120},
    {"Gemma-7B",
     "{\"model_type\":\"gemma\",\"hidden_size\":3072,\"intermediate_size\":24576,"
     "\"num_hidden_layers\":28,\"num_attention_heads\":16,\"num_key_value_heads\":16,"
     "\"head_dim\":256,\"vocab_size\":256000,\"max_position_embeddings\":8192}",
     8537680896},
    {"Gemma-2-27B",
     "{\"model_type\":\"gemma2\",\"hidden_size\":4608,\"intermediate_size\":36864,"
     "\"num_hidden_layers\":46,\"num_attention_heads\":32,\"num_key_value_heads\":16,"
     "\"head_dim\":128,\"vocab_size\":256000,\"max_position_embeddings\":8192,"
     "\"sliding_window\":4096}",
     27227128320},
    {"Gemma-3-27B, its language part",
     "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\","
     "\"hidden_size\":5376,\"intermediate_size\":21504,\"num_hidden_layers\":62,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":16,\"head_dim\":128,"
     "\"sliding_window\":1024},\"vision_config\":{\"hidden_size\":1152}}",
     27009346304},
    {"GLM-4-9B",
     "{\"model_type\":\"glm\",\"hidden_size\":4096,\"intermediate_size\":13696,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":32,\"num_key_value_heads\":2,"
     "\"head_dim\":128,\"attention_bias\":true,\"vocab_size\":151552,"
     "\"max_position_embeddings\":131072}",
     9399951360},
    {"GLM-4-9B-0414",
     "{\"model_type\":\"glm4\",\"hidden_size\":4096,\"intermediate_size\":13696,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":32,\"num_key_value_heads\":2,"
     "\"head_dim\":128,\"attention_bias\":true,\"vocab_size\":151552,"
     "\"max_position_embeddings\":32768}",
     9400279040},
    {"GLM-4.5-Air, without its prediction module",
     "{\"model_type\":\"glm4_moe\",\"hidden_size\":4096,\"intermediate_size\":10944,"
     "\"moe_intermediate_size\":1408,\"num_hidden_layers\":46,\"num_attention_heads\":96,"
     "\"num_key_value_heads\":8,\"head_dim\":128,\"n_routed_experts\":128,"
     "\"n_shared_experts\":1,\"num_experts_per_tok\":8,\"first_k_dense_replace\":1,"
     "\"attention_bias\":true,\"use_qk_norm\":false,\"num_nextn_predict_layers\":1,"
     "\"vocab_size\":151552,\"max_position_embeddings\":131072}",
     106852251264},
    {"StarCoder",
     "{\"model_type\":\"gpt_bigcode\",\"n_embd\":6144,\"n_layer\":40,\"n_head\":48,"
     "\"n_inner\":24576,\"n_positions\":8192,\"vocab_size\":49152,\"multi_query\":true}",
     15517456384},
    {"GPT-J-6B",
     "{\"model_type\":\"gptj\",\"n_embd\":4096,\"n_layer\":28,\"n_head\":16,"
     "\"n_inner\":null,\"n_positions\":2048,\"vocab_size\":50400,"
     "\"tie_word_embeddings\":false}",
     6050882784},
    {"Granite-3.0-8B",
     "{\"model_type\":\"granite\",\"hidden_size\":4096,\"intermediate_size\":12800,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
     "\"vocab_size\":49155,\"max_position_embeddings\":4096,\"tie_word_embeddings\":true}",
     8170848256},
    {"InternLM2-20B",
     "{\"model_type\":\"internlm2\",\"hidden_size\":6144,\"intermediate_size\":16384,"
     "\"num_hidden_layers\":48,\"num_attention_heads\":48,\"num_key_value_heads\":8,"
     "\"bias\":false,\"vocab_size\":92544,\"max_position_embeddings\":32768}",
     19861149696},
    {"Llama 4 Maverick, its language part",
     "{\"model_type\":\"llama4\",\"text_config\":{\"model_type\":\"llama4_text\","
     "\"hidden_size\":5120,\"intermediate_size\":8192,\"intermediate_size_mlp\":16384,"
     "\"num_hidden_layers\":48,\"num_attention_heads\":40,\"num_key_value_heads\":8,"
     "\"head_dim\":128,\"num_local_experts\":128,\"num_experts_per_tok\":1,"
     "\"interleave_moe_layer_step\":2,\"vocab_size\":202048,"
     "\"max_position_embeddings\":1048576}}",
     400711848960},
    {"MPT-7B",
     "{\"model_type\":\"mpt\",\"d_model\":4096,\"n_heads\":32,\"n_layers\":32,"
     "\"expansion_ratio\":4,\"vocab_size\":50432,\"max_seq_len\":2048,\"no_bias\":true,"
     "\"attn_config\":{\"alibi\":true,\"attn_type\":\"multihead_attention\"}}",
     6649286656},
    {"OLMo-7B",
     "{\"model_type\":\"olmo\",\"hidden_size\":4096,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"vocab_size\":50304,"
     "\"max_position_embeddings\":2048,\"tie_word_embeddings\":false}",
     6888095744},
    {"OLMo-2-7B",
     "{\"model_type\":\"olmo2\",\"hidden_size\":4096,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"vocab_size\":100352,"
     "\"max_position_embeddings\":4096,\"tie_word_embeddings\":false}",
     7298617344},
    {"OLMoE-1B-7B",
     "{\"model_type\":\"olmoe\",\"hidden_size\":2048,\"intermediate_size\":1024,"
     "\"num_hidden_layers\":16,\"num_attention_heads\":16,\"num_key_value_heads\":16,"
     "\"num_experts\":64,\"num_experts_per_tok\":8,\"vocab_size\":50304,"
     "\"max_position_embeddings\":4096,\"tie_word_embeddings\":false}",
     6919161856},
    {"OPT-125M",
     "{\"model_type\":\"opt\",\"hidden_size\":768,\"ffn_dim\":3072,"
     "\"num_hidden_layers\":12,\"num_attention_heads\":12,\"vocab_size\":50272,"
     "\"word_embed_proj_dim\":768,\"max_position_embeddings\":2048}",
     125239296},
    {"Phi-2",
     "{\"model_type\":\"phi\",\"hidden_size\":2560,\"intermediate_size\":10240,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"vocab_size\":51200,"
     "\"max_position_embeddings\":2048,\"tie_word_embeddings\":false}",
     2779683840},
    {"Phi-3-medium",
     "{\"model_type\":\"phi3\",\"hidden_size\":5120,\"intermediate_size\":17920,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":40,\"num_key_value_heads\":10,"
     "\"vocab_size\":32064,\"max_position_embeddings\":4096,\"sliding_window\":2047}",
     13960238080},
    {"Phi-3.5-MoE",
     "{\"model_type\":\"phimoe\",\"hidden_size\":4096,\"intermediate_size\":6400,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
     "\"num_local_experts\":16,\"num_experts_per_tok\":2,\"attention_bias\":true,"
     "\"lm_head_bias\":true,\"vocab_size\":32064,\"max_position_embeddings\":131072}",
     41873153344},
    {"Qwen-7B",
     "{\"model_type\":\"qwen\",\"hidden_size\":4096,\"intermediate_size\":22016,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"vocab_size\":151936,"
     "\"seq_length\":8192,\"tie_word_embeddings\":false}",
     7721324544},
    {"Seed-OSS-36B",
     "{\"model_type\":\"seed_oss\",\"hidden_size\":5120,\"intermediate_size\":27648,"
     "\"num_hidden_layers\":64,\"num_attention_heads\":80,\"num_key_value_heads\":8,"
     "\"head_dim\":128,\"attention_bias\":true,\"attention_out_bias\":false,"
     "\"mlp_bias\":false,\"vocab_size\":155136,\"max_position_embeddings\":524288}",
     36151104512},
    {"SmolLM3-3B",
     "{\"model_type\":\"smollm3\",\"hidden_size\":2048,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":36,\"num_attention_heads\":16,\"num_key_value_heads\":4,"
     "\"vocab_size\":128256,\"max_position_embeddings\":65536}",
     3075098624},
    {"StableLM-3B-4E1T",
     "{\"model_type\":\"stablelm\",\"hidden_size\":2560,\"intermediate_size\":6912,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,"
     "\"use_qkv_bias\":false,\"vocab_size\":50304,\"max_position_embeddings\":4096,"
     "\"tie_word_embeddings\":false}",
     2795443200},
    {"StarCoder2-15B",
     "{\"model_type\":\"starcoder2\",\"hidden_size\":6144,\"intermediate_size\":24576,"
     "\"num_hidden_layers\":40,\"num_attention_heads\":48,\"num_key_value_heads\":4,"
     "\"use_bias\":true,\"vocab_size\":49152,\"max_position_embeddings\":16384,"
     "\"sliding_window\":4096,\"tie_word_embeddings\":false}",
     15957889024},
    /* These four: the shape of the checkpoint, summed by hand; cards print 8.03, 32, 142 and
     * 0.36 billion. */
    {"Command R7B",
     "{\"model_type\":\"cohere2\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"head_dim\":128,"
     "\"intermediate_size\":14336,\"vocab_size\":256000,\"max_position_embeddings\":132096,"
     "\"sliding_window\":4096,\"sliding_window_pattern\":4}",
     8028033024},
    {"EXAONE 4.0 32B",
     "{\"model_type\":\"exaone4\",\"hidden_size\":5120,\"num_hidden_layers\":64,"
     "\"num_attention_heads\":40,\"num_key_value_heads\":8,\"head_dim\":128,"
     "\"intermediate_size\":27392,\"vocab_size\":102400,\"max_position_embeddings\":131072,"
     "\"sliding_window\":4096,\"sliding_window_pattern\":\"LLLG\",\"tie_word_embeddings\":false}",
     32003216384},
    {"dots.llm1",
     "{\"model_type\":\"dots1\",\"hidden_size\":4096,\"num_hidden_layers\":62,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":32,\"intermediate_size\":10944,"
     "\"moe_intermediate_size\":1408,\"n_routed_experts\":128,\"n_shared_experts\":2,"
     "\"num_experts_per_tok\":6,\"first_k_dense_replace\":1,\"moe_layer_freq\":1,"
     "\"vocab_size\":152064,\"max_position_embeddings\":32768,\"tie_word_embeddings\":false}",
     142774381696},
    {"ERNIE 4.5 0.3B",
     "{\"model_type\":\"ernie4_5\",\"hidden_size\":1024,\"num_hidden_layers\":18,"
     "\"num_attention_heads\":16,\"num_key_value_heads\":2,\"head_dim\":128,"
     "\"intermediate_size\":3072,\"vocab_size\":103424,\"max_position_embeddings\":131072,"
     "\"use_bias\":false,\"tie_word_embeddings\":true}",
     360748032},
};

static int read_config(struct myr_arena *arena, const char *text, struct myr_model *ret,
                       struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_json(arena, "config.json", myr_str_from(text), &doc, err));
    return myr_model_parse(arena, doc, ret, err);
}

static void families_give_the_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(configs); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_model model = {};
        if (read_config(&arena, configs[i].text, &model, &err) != MYR_OK) {
            fail_msg("%s: %s", configs[i].name, err.message);
        }
        uint64_t total = myr_model_params(&model).total;
        if (total != configs[i].total) {
            fail_msg("%s: %llu, published %llu", configs[i].name, (unsigned long long)total,
                     (unsigned long long)configs[i].total);
        }
        myr_arena_done(&arena);
    }
}

static struct myr_model model_named(struct myr_arena *arena, const char *name)
{
    struct myr_err err = {};
    struct myr_model model = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(configs); i++) {
        if (strcmp(configs[i].name, name) == 0) {
            assert_int_equal(read_config(arena, configs[i].text, &model, &err), MYR_OK);
            return model;
        }
    }
    fail_msg("no config is named %s", name);
    return model;
}

static void what_no_count_shows_is_read_too(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_model gemma = model_named(&arena, "Gemma-3-27B, its language part");
    assert_int_equal(gemma.window_tokens, 1024);
    assert_int_equal(gemma.full_every, 6);
    assert_int_equal(gemma.seq_tokens, 131072); /* by default of its class */
    assert_string_equal(gemma.source, "config.json of type gemma3_text, its language part");
    assert_int_equal(model_named(&arena, "Gemma-2-27B").full_every, 2);
    struct myr_model llama = model_named(&arena, "Llama 4 Maverick, its language part");
    assert_false(myr_model_layer_is_moe(&llama, 0));
    assert_true(myr_model_layer_is_moe(&llama, 1));
    assert_int_equal(model_named(&arena, "Falcon-7B").kv_head_count, 1);
    assert_int_equal(model_named(&arena, "StarCoder").kv_head_count, 1);
    assert_int_equal(model_named(&arena, "GLM-4.5-Air, without its prediction module").mtp_count,
                     1);
    assert_int_equal(model_named(&arena, "StarCoder2-15B").window_tokens, 4096);
    myr_arena_done(&arena);
}

static void assert_refused(const char *text, const char *message)
{
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model model = {};
    assert_int_equal(read_config(&arena, text, &model, &err), MYR_EINVAL);
    assert_string_equal(err.message, message);
    myr_arena_done(&arena);
}

static void the_language_part_has_several_names(void **state)
{
    (void)state;
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_model model = {};
        const char *text = myr_arena_printf(
            &arena,
            "{\"model_type\": \"sees_and_speaks\", \"%s\": {\"model_type\": \"qwen2\", "
            "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
            "\"intermediate_size\": 128, \"vocab_size\": 99, \"max_position_embeddings\": 32}}",
            keys[i]);
        if (read_config(&arena, text, &model, &err) != MYR_OK) {
            fail_msg("%s: %s", keys[i], err.message);
        }
        assert_true(model.qkv_bias && model.hidden == 64);
        myr_arena_done(&arena);
    }
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    assert_refused("{\"model_type\": \"bloom\", \"n_layer\": 2, \"vocab_size\": 9}",
                   "config.json:1:1: the hidden size is missing in a config of type 'bloom'");
    assert_refused("{\"model_type\": \"dbrx\", \"d_model\": 64, \"n_heads\": 8, \"n_layers\": 2,"
                   "\"vocab_size\": 9, \"attn_config\": 3}",
                   "config.json:1:99: 'attn_config' is '3', a map of keys is expected");
    assert_refused("{\"model_type\": \"opt\", \"hidden_size\": 64, \"ffn_dim\": 8,"
                   "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 9,"
                   "\n\"word_embed_proj_dim\": 32, \"max_position_embeddings\": 8}",
                   "config.json:2:24: embeddings narrower than the layers are not understood");
    assert_refused("{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64}",
                   "config.json:1:1: 'model_type' is missing in a config.json");
    /* Families that are known by name, and whose layers are not: one line each says so. */
    assert_refused("{\"model_type\": \"nemotron_h\"}",
                   "config.json:1:16: 'model_type' is 'nemotron_h': state space layers beside "
                   "attention are not priced");
    assert_refused("{\"model_type\": \"mamba2\"}",
                   "config.json:1:16: 'model_type' is 'mamba2': state space layers are not priced");
    assert_refused("{\"model_type\": \"kimi_linear\"}",
                   "config.json:1:16: 'model_type' is 'kimi_linear': layers of linear attention "
                   "are not priced");
    assert_refused("{\"model_type\": \"qwen3_5_moe\", \"text_config\": {\"model_type\": "
                   "\"qwen3_5_moe_text\"}}",
                   "config.json:1:61: 'model_type' is 'qwen3_5_moe_text': layers of linear "
                   "attention are not priced");
    assert_refused("{\"model_type\": \"longcat_flash\"}",
                   "config.json:1:16: 'model_type' is 'longcat_flash': two attentions a layer, and "
                   "experts that do nothing are not priced");
    assert_refused("{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"ssm\"}}",
                   "config.json:1:56: 'model_type' is 'ssm', none of the 80 known ones");
}

/* Each adds one key to a config that is otherwise a small Llama's. */
/* Both generations: a window counts only where its flag says so, in the layers that are named. */
static void qwens_window_is_switched_on_by_its_flag(void **state)
{
    (void)state;
    static const char *const types[] = {"qwen2", "qwen3"};
    static const char shape[] =
        "\"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 4, "
        "\"num_attention_heads\": 8, \"num_key_value_heads\": 8, \"vocab_size\": 99, "
        "\"max_position_embeddings\": 8192, \"sliding_window\": 1024";
    static const char layers[] = "\"layer_types\": [\"sliding_attention\", \"full_attention\", "
                                 "\"sliding_attention\", \"full_attention\"]";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(types); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_model model;
        const char *off = myr_arena_printf(
            &arena, "{\"model_type\": \"%s\", %s, \"use_sliding_window\": false, %s}", types[i],
            shape, layers);
        assert_int_equal(read_config(&arena, off, &model, &err), MYR_OK);
        assert_int_equal(model.window_tokens, 0);
        const char *on = myr_arena_printf(
            &arena, "{\"model_type\": \"%s\", %s, \"use_sliding_window\": true, %s}", types[i],
            shape, layers);
        assert_int_equal(read_config(&arena, on, &model, &err), MYR_OK);
        assert_int_equal(model.window_tokens, 1024);
        assert_int_equal(model.full_every, 2);
        const char *vague = myr_arena_printf(
            &arena, "{\"model_type\": \"%s\", %s, \"use_sliding_window\": true}", types[i], shape);
        assert_int_equal(read_config(&arena, vague, &model, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "'use_sliding_window' without 'layer_types'"));
        const char *odd = myr_arena_printf(
            &arena, "{\"model_type\": \"%s\", %s, \"use_sliding_window\": 7}", types[i], shape);
        assert_int_equal(read_config(&arena, odd, &model, &err), MYR_EINVAL);
        myr_arena_done(&arena);
    }
    /* The biases, which are read before the window, fail with their own words. */
    assert_refused("{\"model_type\": \"qwen3\", \"hidden_size\": 64, \"intermediate_size\": 128, "
                   "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, "
                   "\"num_key_value_heads\": 8, \"vocab_size\": 99, \"attention_bias\": 3}",
                   "config.json:1:182: 'attention_bias' is '3', true or false is expected");
}

static void keys_that_speak_of_other_layers_are_refused(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "\"num_local_experts\": 8",
        "\"n_routed_experts\": 64",
        "\"kv_lora_rank\": 512",
        "\"layer_types\": [\"linear_attention\", \"full_attention\"]",
        "\"hybrid_override_pattern\": \"M-M*\"",
        "\"linear_num_value_heads\": 32",
        "\"index_topk\": 2048",
        "\"is_encoder_decoder\": true",
    };
    static const char *const harmless[] = {
        "\"num_experts\": 1",
        "\"kv_lora_rank\": null",
        "\"is_encoder_decoder\": false",
        "\"index_topk\": 0",
        "\"layer_types\": [\"full_attention\", \"full_attention\"]",
        "\"num_nextn_predict_layers\": 1",
    };
    static const char start[] = "{\"model_type\": \"llama\", \"hidden_size\": 64, "
                                "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                                "\"intermediate_size\": 128, \"vocab_size\": 99, "
                                "\"max_position_embeddings\": 32, ";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys) + MYR_ARRAY_COUNT(harmless); i++) {
        bool bad = i < MYR_ARRAY_COUNT(keys);
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_model model = {};
        const char *key = bad ? keys[i] : harmless[i - MYR_ARRAY_COUNT(keys)];
        int rc = read_config(&arena, myr_arena_printf(&arena, "%s%s}", start, key), &model, &err);
        if (rc != (bad ? MYR_EINVAL : MYR_OK)) {
            fail_msg("%s: %d, %s", key, rc, err.message);
        }
        assert_int_equal(model.mtp_count,
                         i + 1 == MYR_ARRAY_COUNT(keys) + MYR_ARRAY_COUNT(harmless));
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_give_the_published_counts),
        cmocka_unit_test(what_no_count_shows_is_read_too),
        cmocka_unit_test(the_language_part_has_several_names),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(qwens_window_is_switched_on_by_its_flag),
        cmocka_unit_test(keys_that_speak_of_other_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
