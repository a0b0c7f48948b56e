#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "work_test.h"

/* cmocka compares 64 bits. */
static void assert_u128_equal(myr_u128 a, myr_u128 b)
{
    assert_int_equal((uint64_t)(a >> 64), (uint64_t)(b >> 64));
    assert_int_equal((uint64_t)a, (uint64_t)b);
}

/* Narayanan et al. 2021, section 5.1: 96*B*s*l*h^2 * (1 + s/(6h) + V/(16*l*h)), with every layer
 * computed twice and attention counted as a full square. */
static void full_recomputation_equals_the_closed_form_of_megatron(void **state)
{
    (void)state;
    static const char *const names[] = {"megatron-1.7b",   "megatron-7.5b",   "megatron-39.1b",
                                        "megatron-145.6b", "megatron-310.1b", "megatron-1008b"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        struct myr_model model = test_model(names[i]);
        model.causal = false;
        myr_u128 s = 2048;
        myr_u128 l = model.layer_count;
        myr_u128 h = model.hidden;
        struct myr_flops flops = myr_model_flops(&model, 2048);
        assert_u128_equal(myr_flops_train(&flops, MYR_RECOMPUTE_FULL),
                          96 * s * l * h * h + 16 * s * s * l * h + 6 * s * h * model.vocab);
    }
}

static void a_weight_costs_two_flops_a_token_and_the_backward_pass_twice_that(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-8b");
    struct myr_params params = myr_model_params(&model);
    struct myr_flops flops = myr_model_flops(&model, 8192);
    /* Everything but the looked-up table and the norms multiplies. */
    uint64_t norms = 32 * params.norms + params.final_norm;
    uint64_t products = params.total - params.embedding - norms;
    assert_u128_equal(flops.forward - flops.scores, 2 * (myr_u128)8192 * products);
    assert_u128_equal(myr_flops_train(&flops, MYR_RECOMPUTE_NONE), 3 * flops.forward);
    assert_u128_equal(myr_flops_train(&flops, MYR_RECOMPUTE_SELECTIVE),
                      3 * flops.forward + flops.scores);
}

static void expert_models_pay_for_the_experts_a_token_uses(void **state)
{
    (void)state;
    struct myr_model model = test_model("mixtral-8x7b");
    struct myr_params params = myr_model_params(&model);
    struct myr_flops flops = myr_model_flops(&model, 4096);
    uint64_t norms = 32 * params.norms + params.final_norm;
    uint64_t products = params.active - params.embedding - norms;
    assert_u128_equal(flops.forward - flops.scores, 2 * (myr_u128)4096 * products);
    assert_u128_equal(flops.ffn, 0);

    model = test_model("deepseek-v3");
    params = myr_model_params(&model);
    flops = myr_model_flops(&model, 4096);
    /* Norms of layers, of the latents, and the score bias do not multiply. */
    uint64_t idle = 61 * (params.norms + 1536 + 512) + params.final_norm + UINT64_C(58) * 256;
    products = params.active - params.embedding - idle;
    myr_u128 main_model = flops.forward - flops.scores - flops.mtp - flops.logits / 2;
    assert_u128_equal(main_model, 2 * (myr_u128)4096 * products);
}

static uint64_t pairs_one_by_one(bool causal, uint32_t window, uint32_t seq)
{
    uint64_t pairs = 0;
    for (uint32_t query = 0; query < seq; query++) {
        for (uint32_t key = 0; key < seq; key++) {
            bool seen = !causal || (key <= query && (window == 0 || query - key < window));
            pairs += seen ? 1 : 0;
        }
    }
    return pairs;
}

static void attended_pairs_equal_a_count_one_by_one(void **state)
{
    (void)state;
    struct myr_model model = {.causal = true};
    for (uint32_t seq = 1; seq < 40; seq++) {
        for (uint32_t window = 0; window < 45; window++) {
            model.window_tokens = window;
            assert_int_equal(myr_model_pairs(&model, false, seq),
                             pairs_one_by_one(true, window, seq));
            assert_int_equal(myr_model_pairs(&model, true, seq), pairs_one_by_one(true, 0, seq));
        }
    }
    model = (struct myr_model){.causal = false};
    assert_int_equal(myr_model_pairs(&model, true, 17), 17 * 17);
}

static void windows_alternate_as_the_model_says(void **state)
{
    (void)state;
    struct myr_model model = test_model("gpt-oss-120b");
    assert_false(myr_model_layer_is_full(&model, 0));
    assert_true(myr_model_layer_is_full(&model, 1));
    struct myr_flops narrow = myr_model_layer_flops(&model, 0, 4096);
    struct myr_flops wide = myr_model_layer_flops(&model, 1, 4096);
    assert_u128_equal(narrow.scores, (myr_u128)2 * (128 * 129 / 2 + (4096 - 128) * 128) * 64 * 128);
    assert_u128_equal(wide.scores, (myr_u128)2 * (4096 * 4097 / 2) * 64 * 128);
    struct myr_flops sum = myr_model_flops(&model, 4096);
    assert_u128_equal(sum.scores, 18 * (narrow.scores + wide.scores));
}

/* Attention that is not made of pairs: as many as cost the same products, rounded down. */
static void linear_layers_and_indexers_count_as_pairs_of_the_same_cost(void **state)
{
    (void)state;
    struct myr_model model = {.causal = true, .head_count = 4, .head_dim = 16, .hidden = 64};
    model.kv_head_count = 2;
    model.delta = (struct myr_delta){2, 8, 6, 10, 4};
    for (uint32_t seq = 1; seq < 40; seq++) {
        uint64_t pairs = 0; /* every token reads, corrects and asks six states of 8 x 10 */
        for (uint32_t token = 0; token < seq; token++) {
            pairs += UINT64_C(3) * 6 * 8 * 10;
        }
        assert_int_equal(myr_model_pairs(&model, false, seq), pairs / (4 * (16 + 16)));
        assert_int_equal(myr_model_pairs(&model, true, seq), pairs_one_by_one(true, 0, seq));
    }
    model.layer_count = 2;
    model.full_every = 2;
    model.ffn_hidden = 128;
    struct myr_flops linear = myr_model_layer_flops(&model, 0, 10);
    /* Queries and keys 2 x 8 each, values, gates and outputs 6 x 10, two numbers a value head; four
     * taps over all that goes into the states. */
    uint64_t weights = UINT64_C(64) * (2 * 16 + 3 * 60 + 2 * 6) + (2 * 16 + 60) * 4;
    assert_u128_equal(linear.attention, 2 * (myr_u128)10 * weights);
    assert_u128_equal(myr_model_layer_flops(&model, 1, 10).attention,
                      2 * (myr_u128)10 * 2 * 64 * 16 * (4 + 2));
    model.query_gate = true;
    assert_u128_equal(myr_model_layer_flops(&model, 1, 10).attention,
                      2 * (myr_u128)10 * (2 * 64 * 16 * (4 + 2) + 64 * 16 * 4));

    struct myr_model latent = {.causal = true, .head_count = 4, .hidden = 64, .layer_count = 1};
    latent.ffn_hidden = 128;
    latent.mla = (struct myr_mla){24, 32, 12, 4, 20};
    latent.indexer = (struct myr_indexer){2, 6, 7};
    for (uint32_t seq = 1; seq < 40; seq++) {
        uint64_t kept = pairs_one_by_one(true, 7, seq), all = pairs_one_by_one(true, 0, seq);
        assert_int_equal(myr_model_pairs(&latent, false, seq), kept + all * 12 / (4 * (16 + 20)));
        assert_int_equal(myr_model_pairs(&latent, true, seq), kept + all * 12 / (4 * (16 + 20)));
    }
    uint64_t query = (64 + 4 * 16) * 24, index = 24 * 2 * 6 + 64 * (6 + 2);
    uint64_t rest = 64 * (32 + 4) + 32 * 4 * (12 + 20) + 4 * 20 * 64;
    assert_u128_equal(myr_model_layer_flops(&latent, 0, 10).attention,
                      2 * (myr_u128)10 * (query + index + rest));
    latent.mla.q_rank = 0;
    assert_u128_equal(myr_model_layer_flops(&latent, 0, 10).attention,
                      2 * (myr_u128)10 * (64 * 4 * 16 + 64 * 2 * 6 + 64 * (6 + 2) + rest));
    /* Sums that no sequence reaches stay where products of them fit. */
    model.delta = (struct myr_delta){1, 1U << 14, 1U << 12, 1U << 14, 0};
    model.head_count = model.head_dim = 1;
    assert_int_equal(myr_model_pairs(&model, false, MYR_MODEL_SEQ_MAX), UINT64_C(1) << 60);
    assert_int_equal(myr_model_pairs(&model, false, 1), UINT64_C(3) << 39);
}

static void known_training_budgets_come_out(void **state)
{
    (void)state;
    /* Llama 3: 3.8e25 FLOPs for 405B on 15.6T tokens (the report's figure is 6*N*D). */
    struct myr_model model = test_model("llama3-405b");
    struct myr_flops flops = myr_model_flops(&model, 8192);
    double budget = (double)myr_flops_train(&flops, MYR_RECOMPUTE_NONE) / 8192 * 15.6e12;
    assert_true(budget > 3.8e25 && budget < 4.1e25);
    /* The seed's logs: 3.176e15 a sample, attention counted in full. */
    model = test_model("seed-130b");
    model.causal = false;
    flops = myr_model_flops(&model, 4096);
    double sample = (double)myr_flops_train(&flops, MYR_RECOMPUTE_NONE);
    assert_true(sample > 3.176e15 * 0.998 && sample < 3.176e15 * 1.002);
}

static void the_longest_sequence_through_the_largest_model_does_not_overflow(void **state)
{
    (void)state;
    struct myr_model model = test_model("kimi-k2");
    struct myr_flops once = myr_model_flops(&model, 4096);
    struct myr_flops flops = myr_model_flops(&model, MYR_MODEL_SEQ_MAX);
    assert_true(flops.forward > (myr_u128)UINT64_MAX);
    assert_u128_equal(flops.logits, once.logits * (MYR_MODEL_SEQ_MAX / 4096));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_recomputation_equals_the_closed_form_of_megatron),
        cmocka_unit_test(a_weight_costs_two_flops_a_token_and_the_backward_pass_twice_that),
        cmocka_unit_test(expert_models_pay_for_the_experts_a_token_uses),
        cmocka_unit_test(attended_pairs_equal_a_count_one_by_one),
        cmocka_unit_test(windows_alternate_as_the_model_says),
        cmocka_unit_test(linear_layers_and_indexers_count_as_pairs_of_the_same_cost),
        cmocka_unit_test(known_training_budgets_come_out),
        cmocka_unit_test(the_longest_sequence_through_the_largest_model_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
