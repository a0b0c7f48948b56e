#include "myriad/work/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/work/count.h"

static struct myr_model find(struct myr_arena *arena, const char *name)
{
    struct myr_model model = {};
    struct myr_err err = {};
    if (myr_model_find(arena, name, &model, &err) != MYR_OK) {
        fail_msg("%s: %s", name, err.message);
    }
    return model;
}

/* The strings of the result are gone with the arena; tests of numbers do not need them. */
static struct myr_model numbers_of(const char *name)
{
    struct myr_arena arena = {};
    struct myr_model model = find(&arena, name);
    myr_arena_done(&arena);
    model.name = NULL;
    model.source = NULL;
    return model;
}

static struct myr_params params_of(const char *name)
{
    struct myr_model model = numbers_of(name);
    return myr_model_params(&model);
}

static void every_built_in_model_reads_and_is_named_as_its_file(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    assert_true(myr_model_builtin_count() > 40);
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str name = myr_model_builtin_name(i);
        const char *text = myr_arena_strndup(&arena, name.data, name.len);
        struct myr_model model = find(&arena, text);
        assert_string_equal(model.name, text);
        assert_non_null(model.source);
        if (i > 0) {
            assert_true(myr_str_cmp(myr_model_builtin_name(i - 1), name) < 0);
        }
    }
    myr_arena_done(&arena);
}

static void parameter_counts_equal_the_published_ones_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t total;
    } published[] = {
        {"bloom-176b", 176247271424},   {"deepseek-v2", 235741434880},
        {"deepseek-v3", 671026419200},  {"gpt-neox-20b", 20554567680},
        {"gpt-oss-120b", 116829156672}, {"gpt-oss-20b", 20914757184},
        {"llama-65b", 65285660672},     {"llama2-13b", 13015864320},
        {"llama2-70b", 68976648192},    {"llama2-7b", 6738415616},
        {"llama3-405b", 405853388800},  {"llama3-70b", 70553706496},
        {"llama3-8b", 8030261248},      {"mixtral-8x22b", 140620634112},
        {"mixtral-8x7b", 46702792704},  {"qwen3-235b-a22b", 235093634560},
        {"qwen3-30b-a3b", 30532122624}, {"qwen3-32b", 32762123264},
        {"qwen3-8b", 8190735360},       {"gpt3-175b", 174604259328},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(published); i++) {
        uint64_t total = params_of(published[i].name).total;
        if (total != published[i].total) {
            fail_msg("%s: %llu, published %llu", published[i].name, (unsigned long long)total,
                     (unsigned long long)published[i].total);
        }
    }
}

/* 'rounding': how far the true value may be from the published one, which is rounded. */
static void assert_near(const char *what, uint64_t value, uint64_t published, uint64_t rounding)
{
    uint64_t distance = value > published ? value - published : published - value;
    if (distance > rounding) {
        fail_msg("%s: %llu is not within %llu of %llu", what, (unsigned long long)value,
                 (unsigned long long)rounding, (unsigned long long)published);
    }
}

#define MILLION UINT64_C(1000000)

static void rounded_parameter_counts_agree_with_their_papers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t millions;
        uint64_t rounding_millions;
    } published[] = {
        /* Narayanan et al. 2021, table 1 */
        {"megatron-1.7b", 1700, 50},
        {"megatron-3.6b", 3600, 50},
        {"megatron-7.5b", 7500, 50},
        {"megatron-18.4b", 18400, 50},
        {"megatron-39.1b", 39100, 50},
        {"megatron-76.1b", 76100, 50},
        {"megatron-145.6b", 145600, 50},
        {"megatron-310.1b", 310100, 50},
        {"megatron-529.6b", 529600, 50},
        {"megatron-1008b", 1008000, 500},
        /* Brown et al. 2020, table 2.1 */
        {"gpt3-125m", 125, 1},
        {"gpt3-350m", 350, 10},
        {"gpt3-760m", 760, 5},
        {"gpt3-1.3b", 1300, 50},
        {"gpt3-2.7b", 2700, 50},
        {"gpt3-6.7b", 6700, 50},
        {"gpt3-13b", 13000, 500},
        {"grok-1", 314000, 2000},
        {"kimi-k2", 1026000, 1000},
        {"llama4-maverick", 400000, 2500},
        {"nemotron4-15b", 12500 + 3100, 100},
        {"nemotron4-340b", 331600 + 9400, 100},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(published); i++) {
        assert_near(published[i].name, params_of(published[i].name).total,
                    published[i].millions * MILLION, published[i].rounding_millions * MILLION);
    }
}

static void active_parameters_agree_with_model_cards(void **state)
{
    (void)state;
    assert_int_equal(params_of("mixtral-8x7b").active, 12879925248);
    assert_near("mixtral-8x22b", params_of("mixtral-8x22b").active, 39000 * MILLION, 500 * MILLION);
    assert_near("deepseek-v3", params_of("deepseek-v3").active, 37000 * MILLION, 600 * MILLION);
    assert_near("qwen3-30b-a3b", params_of("qwen3-30b-a3b").active, 3300 * MILLION, 60 * MILLION);
    assert_near("qwen3-235b-a22b", params_of("qwen3-235b-a22b").active, 22000 * MILLION,
                500 * MILLION);
    assert_near("kimi-k2", params_of("kimi-k2").active, 32000 * MILLION, 1000 * MILLION);
    assert_near("llama4-maverick", params_of("llama4-maverick").active, 17000 * MILLION,
                500 * MILLION);
    /* This card leaves the embedding table out. */
    struct myr_params oss = params_of("gpt-oss-120b");
    assert_near("gpt-oss-120b", oss.active - oss.embedding, 5130 * MILLION, 5 * MILLION);
    oss = params_of("gpt-oss-20b");
    assert_near("gpt-oss-20b", oss.active - oss.embedding, 3610 * MILLION, 5 * MILLION);
    /* A dense model is all active. */
    struct myr_params llama = params_of("llama3-70b");
    assert_int_equal(llama.active, llama.total);
}

static void prediction_modules_are_counted_apart(void **state)
{
    (void)state;
    struct myr_params params = params_of("deepseek-v3");
    /* DeepSeek's README: 11.5B unique weights in the module. */
    assert_near("module", params.mtp, 11500 * MILLION, 120 * MILLION);
    assert_int_equal(params.mtp, params.moe_layer + UINT64_C(2) * 7168 * 7168 + 3 * 7168);
    assert_int_equal(params_of("deepseek-v2").mtp, 0);
}

static void parts_add_up_to_the_total(void **state)
{
    (void)state;
    struct myr_params p = params_of("deepseek-v3");
    assert_int_equal(p.embedding + p.head + p.final_norm + 3 * p.dense_layer + 58 * p.moe_layer,
                     p.total);
    assert_int_equal(p.dense_layer, p.attention + p.ffn + p.norms);
    assert_int_equal(p.moe_layer, p.attention + p.moe + p.norms);
    assert_int_equal(p.expert, UINT64_C(3) * 7168 * 2048);
    /* Experts, shared expert, router and its score bias. */
    assert_int_equal(p.moe, 257 * p.expert + UINT64_C(7168) * 256 + 256);
    /* No layer without experts: no dense layer to report. */
    assert_int_equal(params_of("mixtral-8x7b").dense_layer, 0);
    /* A tied output matrix is not counted twice. */
    assert_int_equal(params_of("gpt3-175b").head, 0);
}

static void moe_layers_in_a_range_equal_a_count_one_by_one(void **state)
{
    (void)state;
    struct myr_model model = numbers_of("deepseek-v3");
    for (uint32_t rule = 0; rule < 25; rule++) {
        model.moe.first_dense = rule / 5;
        model.moe.interval = 1 + rule % 5;
        for (uint32_t range = 0; range < 144; range++) {
            uint32_t first = range / 12;
            uint32_t expected = 0;
            for (uint32_t layer = first; layer < first + range % 12; layer++) {
                expected += myr_model_layer_is_moe(&model, layer) ? 1 : 0;
            }
            assert_int_equal(myr_model_moe_layers(&model, first, range % 12), expected);
        }
    }
}

static void a_model_out_of_range_is_refused_by_field(void **state)
{
    (void)state;
    const struct myr_model good = numbers_of("deepseek-v3");
    struct myr_err err = {};
    assert_int_equal(myr_model_check(&good, &err), MYR_OK);

    struct myr_model bad = good;
    bad.layer_count = 0;
    assert_int_equal(myr_model_check(&bad, &err), MYR_ERANGE);
    assert_string_equal(err.message, "'layers' is 0, from 1 to 4096 is expected");
    bad = good;
    bad.moe.experts_per_token = 257;
    assert_int_equal(myr_model_check(&bad, &err), MYR_ERANGE);
    assert_string_equal(err.message, "'moe.top_k' is 257, from 1 to 256 is expected");
    bad = good;
    bad.kv_head_count = 8;
    assert_int_equal(myr_model_check(&bad, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "latent attention has as many key/value heads as heads, 128, not 8");
    bad = good;
    bad.ffn_hidden = 0;
    assert_int_equal(myr_model_check(&bad, &err), MYR_EINVAL);
    assert_string_equal(err.message, "3 of 61 layers have no experts, and 'ffn' is 0");
    bad = good;
    bad.moe.expert_count = MYR_MODEL_EXPERTS_MAX;
    bad.moe.expert_hidden = MYR_MODEL_FFN_MAX;
    assert_int_equal(myr_model_check(&bad, &err), MYR_ERANGE);
    assert_string_equal(err.message, "the model has more than 10^15 parameters");
    /* NULL is fine where only the code matters. */
    assert_int_equal(myr_model_check(&bad, NULL), MYR_ERANGE);
}

static void longer_sequences_lengthen_learned_positions_only(void **state)
{
    (void)state;
    struct myr_model learned = numbers_of("gpt3-175b"), rotary = numbers_of("llama3-8b");
    assert_false(myr_model_stretch(&learned, 2048));
    assert_true(myr_model_stretch(&learned, 4096));
    assert_int_equal(learned.position_max, 4096);
    uint32_t before = rotary.position_max;
    assert_false(myr_model_stretch(&rotary, UINT32_C(1) << 20));
    assert_int_equal(rotary.position_max, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_model_reads_and_is_named_as_its_file),
        cmocka_unit_test(parameter_counts_equal_the_published_ones_exactly),
        cmocka_unit_test(rounded_parameter_counts_agree_with_their_papers),
        cmocka_unit_test(active_parameters_agree_with_model_cards),
        cmocka_unit_test(prediction_modules_are_counted_apart),
        cmocka_unit_test(parts_add_up_to_the_total),
        cmocka_unit_test(moe_layers_in_a_range_equal_a_count_one_by_one),
        cmocka_unit_test(longer_sequences_lengthen_learned_positions_only),
        cmocka_unit_test(a_model_out_of_range_is_refused_by_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
