#include "myriad/work/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "work_test.h"

enum { LAYOUTS = 400 };

/* Korthikanti et al., 22B: 48 layers, h 6144, 64 heads, s 2048, micro-batch 4, tp 8. */
static void activations_of_a_gpt_layer_equal_the_papers_equations(void **state)
{
    (void)state;
    struct myr_model model = test_model("megatron-22b");
    struct myr_layout l = myr_layout_default();
    l.tp = 8;
    l.micro_batch = 4;
    l.global_batch = 4;
    l.flash_attention = false;
    uint64_t s = 2048;
    uint64_t b = 4;
    uint64_t h = 6144;
    uint64_t a = 64;
    uint64_t t = 8;
    uint64_t sbh = s * b * h;
    /* Equation 1: no tensor parallelism. */
    l.tp = 1;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), sbh * 34 + 5 * a * s * s * b);
    /* Equation 2: tensor parallelism. */
    l.tp = 8;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false),
                     sbh * 10 + sbh * 24 / t + 5 * a * s * s * b / t);
    /* Equation 4: and sequence parallelism. */
    l.sequence_parallel = true;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false),
                     sbh * 34 / t + 5 * a * s * s * b / t);
    /* Table 2: selective recomputation 34*sbh/t; full 2*sbh, cut by sequence parallelism. */
    l.recompute = MYR_RECOMPUTE_SELECTIVE;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), sbh * 34 / t);
    l.recompute = MYR_RECOMPUTE_FULL;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), sbh * 2 / t);
    l.sequence_parallel = false;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), sbh * 2);
}

static void recomputing_some_layers_keeps_the_others_whole(void **state)
{
    (void)state;
    struct myr_model model = test_model("gpt3-175b");
    struct myr_layout l = myr_layout_default();
    l.tp = 8;
    l.pp = 8;
    l.sequence_parallel = true;
    l.global_batch = 64;
    uint64_t whole = myr_layer_activation_bytes(&l, &model, false);
    uint64_t none = myr_state_of(&l, &model, 3).activation_bytes;
    l.recompute = MYR_RECOMPUTE_FULL;
    uint64_t input = myr_layer_activation_bytes(&l, &model, false);
    uint64_t all = myr_state_of(&l, &model, 3).activation_bytes;
    for (uint32_t count = 1; count <= 12; count++) {
        l.recompute_layers = count;
        uint64_t some = myr_state_of(&l, &model, 3).activation_bytes;
        assert_int_equal(none - some, count * 5 * (whole - input)); /* 5 are in flight there */
    }
    l.recompute_layers = 12;
    assert_int_equal(myr_state_of(&l, &model, 3).activation_bytes, all);
    l.recompute_layers = 13; /* more than there are */
    assert_int_equal(myr_state_of(&l, &model, 3).activation_bytes, all);
}

static void modern_layers_keep_what_their_parts_need(void **state)
{
    (void)state;
    /* Llama 3 8B: grouped heads, gated FFN, flash attention, no dropout. */
    struct myr_model model = test_model("llama3-8b");
    struct myr_layout l = myr_layout_default();
    uint64_t token = 2 * 4096 * (2 + 2)                        /* norms, inputs of both parts */
                     + 2 * (32 * 128 + 2 * 8 * 128 + 32 * 128) /* q, k, v, output of attention */
                     + 4 * 32                                  /* softmax statistics */
                     + 2 * 3 * 14336;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), 8192 * token);
    /* Context parallelism cuts tokens; 16 tensor ranks repeat the 8 key/value heads. */
    l.cp = 2;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false), 4096 * token);
    l.cp = 1;
    l.tp = 16;
    l.sequence_parallel = true;
    uint64_t cut = 2 * (2 * 128 + 2 * 128 + 2 * 128) + 4 * 2 + 2 * 3 * 14336 / 16;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, false),
                     8192 * cut + 8192 / 16 * 2 * 4096 * 4);

    /* DeepSeek-V3: latents are kept whole, eight experts a token and a shared one. */
    model = test_model("deepseek-v3");
    l = myr_layout_default();
    l.dp = l.ep = 8;
    token = 2 * 7168 * 4 + 2 * (2 * 1536 + 2 * 512 + 64) + 2 * 128 * (192 + 192 + 128 + 128) +
            4 * 128 + 4 * 256 + 8 * (2 * 7168 + 2 * 3 * 2048) + 2 * 3 * 2048;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, true), 4096 * token);
    /* FP8: a byte for each input of a product; outputs of attention are kept beside it. */
    l.precision = MYR_PRECISION_FP8;
    token = 7168 * (2 * 2 + 2 * 1) + 2 * (2 * 1536 + 2 * 512 + 64) +
            128 * (2 * (192 + 192 + 128) + 3 * 128) + 4 * 128 + 4 * 256 +
            8 * (7168 + (2 * 2 + 1) * 2048) + (2 * 2 + 1) * 2048;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, true), 4096 * token);
    /* And as DeepSeek keeps it: all of it low, norms, latents' products and activations again. */
    l.low_kept = true;
    l.recompute_parts = MYR_AGAIN(NORM) | MYR_AGAIN(LATENT_UP) | MYR_AGAIN(EXPERT_ACTIVATION);
    token = 7168 * 2 * 2 + 2 * (2 * 1536 + 2 * 512 + 64) + 128 * 128 + 4 * 128 + 4 * 256 +
            8 * (7168 + 2 * 2048) + 3 * 2048;
    assert_int_equal(myr_layer_activation_bytes(&l, &model, true), 4096 * token);
}

static void ranks_together_hold_the_whole_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 4);
        struct myr_model model = test_divisible_model(seed % 2);
        model.tied = myr_rng_below(&rng, 2);
        struct myr_layout l = test_legal_layout(&rng, &model);
        struct myr_params params = myr_model_params(&model);
        uint64_t sum = 0;
        for (uint32_t stage = 0; stage < l.pp; stage++) {
            struct myr_rank_params p = myr_rank_params(&l, &model, stage);
            sum += p.sharded * l.tp + p.replicated + p.expert * l.ep * myr_layout_etp(&l);
        }
        uint64_t expected = params.total + params.mtp;
        bool doubled = l.schedule == MYR_SCHEDULE_DUALPIPE;
        if (doubled) {
            expected *= 2;
        } else if (l.pp > 1 && (model.tied || model.mtp_count > 0)) {
            expected += (uint64_t)model.vocab * model.hidden; /* the last stage's own table */
        }
        if (sum != expected) {
            fail_msg("seed %llu: %llu, expected %llu", (unsigned long long)seed,
                     (unsigned long long)sum, (unsigned long long)expected);
        }
    }
}

/* Rajbhandari et al. 2020, figure 1: 16 bytes a parameter, 4 + 12/N, 2 + 14/N, 16/N. */
static void zero_cuts_state_as_its_paper_says(void **state)
{
    (void)state;
    struct myr_model model = test_model("megatron-7.5b");
    uint64_t params = myr_model_params(&model).total;
    struct myr_layout l = myr_layout_default();
    l.dp = 64;
    l.global_batch = 64;
    l.precision = MYR_PRECISION_FP16;
    const uint64_t expected[] = {16 * params, 4 * params + 12 * params / 64,
                                 2 * params + 14 * params / 64, 16 * params / 64};
    for (l.zero = 0; l.zero < 4; l.zero++) {
        struct myr_state s = myr_state_of(&l, &model, 0);
        uint64_t held = s.weight_bytes + s.gradient_bytes + s.optimiser_bytes;
        assert_in_range(held, expected[l.zero], expected[l.zero] + 3);
    }
    /* Megatron with bf16 and fp32 gradients: 18, and 6 + 12/d with its distributed optimiser. */
    l.precision = MYR_PRECISION_BF16;
    l.zero = 0;
    struct myr_state s = myr_state_of(&l, &model, 0);
    assert_int_equal(s.weight_bytes + s.gradient_bytes + s.optimiser_bytes, 18 * params);
    l.gradient_bytes = 2;
    s = myr_state_of(&l, &model, 0);
    assert_int_equal(s.gradient_bytes, 2 * params);
    l.gradient_bytes = 0;
    l.zero = 1;
    s = myr_state_of(&l, &model, 0);
    assert_in_range(s.weight_bytes + s.gradient_bytes + s.optimiser_bytes,
                    6 * params + 12 * params / 64, 6 * params + 12 * params / 64 + 1);
    /* Hybrid: cut over 8, in 8 copies. */
    l.zero = 3;
    l.shard = 8;
    s = myr_state_of(&l, &model, 0);
    assert_in_range(s.weight_bytes, params * 2 / 8, params * 2 / 8 + 1);
}

static void expert_state_is_cut_over_the_ranks_that_share_experts(void **state)
{
    (void)state;
    struct myr_model model = test_model("deepseek-v3");
    struct myr_layout l = myr_layout_default();
    l.pp = 16;
    l.dp = 128;
    l.ep = 64;
    l.global_batch = 15360;
    struct myr_rank_params p = myr_rank_params(&l, &model, 5);
    struct myr_params whole = myr_model_params(&model);
    /* Stage 5 has four MoE layers; 4 of 256 experts of each. */
    assert_int_equal(p.expert, 4 * 4 * whole.expert);
    assert_int_equal(p.sharded + p.replicated, 4 * (whole.moe_layer - 256 * whole.expert));
    struct myr_state s = myr_state_of(&l, &model, 5);
    assert_int_equal(s.optimiser_bytes,
                     12 * p.expert / 2 + ((p.sharded + p.replicated) * 12 + 127) / 128);
    /* 1F1B keeps pp - stage micro-batches. */
    assert_int_equal(s.activation_bytes, 11 * 4 * myr_layer_activation_bytes(&l, &model, true));
}

static void the_fullest_stage_is_the_largest_of_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 5);
        struct myr_model model = test_divisible_model(seed % 2);
        struct myr_layout l = test_legal_layout(&rng, &model);
        uint32_t fullest;
        struct myr_state most = myr_state_fullest(&l, &model, &fullest);
        for (uint32_t stage = 0; stage < l.pp; stage++) {
            struct myr_state s = myr_state_of(&l, &model, stage);
            assert_true(stage < fullest ? s.total_bytes < most.total_bytes
                                        : s.total_bytes <= most.total_bytes);
            assert_int_equal(s.total_bytes, s.weight_bytes + s.gradient_bytes + s.optimiser_bytes +
                                                s.activation_bytes + s.output_bytes +
                                                s.working_bytes);
        }
    }
    /* With one micro-batch nothing piles up, and the logits decide; with many, the first stage. */
    struct myr_model llama = test_model("llama3-8b");
    struct myr_layout l = myr_layout_default();
    uint32_t stage;
    l.pp = 4;
    struct myr_state last = myr_state_fullest(&l, &llama, &stage);
    assert_int_equal(stage, 3);
    assert_int_equal(last.output_bytes, UINT64_C(8192) * (2 * 2 * 4096 + 6 * 128256));
    l.fused_loss = true;
    last = myr_state_fullest(&l, &llama, &stage);
    assert_int_equal(last.output_bytes, UINT64_C(8192) * (2 * 2 * 4096 + 4 * 128256));
    l.global_batch = 64;
    myr_state_fullest(&l, &llama, &stage);
    assert_int_equal(stage, 0);
}

/* Two layers on four stages: the outer ones have the vocabulary alone. */
static void a_stage_without_layers_gathers_none(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-8b");
    struct myr_layout l = myr_layout_default();
    model.layer_count = 2;
    l.pp = 4;
    l.dp = 2;
    l.zero = 3;
    l.recompute = MYR_RECOMPUTE_FULL;
    l.global_batch = 8;
    for (uint32_t stage = 0; stage < 4; stage++) {
        bool outer = stage == 0 || stage == 3;
        struct myr_state s = myr_state_of(&l, &model, stage);
        assert_int_equal(myr_layout_chunk_layers(&l, &model, stage).count, outer ? 0 : 1);
        assert_true(outer ? s.working_bytes == 0 : s.working_bytes > 0);
    }
}

static void a_checkpoint_holds_fourteen_bytes_a_parameter(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-405b");
    uint64_t total = myr_checkpoint_bytes(&model, MYR_PRECISION_BF16);
    assert_int_equal(total, UINT64_C(405853388800) * 14); /* 5.7 TB */
    struct myr_layout l = myr_layout_default();
    l.tp = 8;
    l.pp = 16;
    l.dp = 128;
    l.sequence_parallel = true;
    l.global_batch = 2048;
    /* 347 MB a GPU on average; the stages between carry a little more. */
    struct myr_state s = myr_state_of(&l, &model, 7);
    assert_in_range(s.checkpoint_bytes, total / 16384, total / 16384 * 103 / 100);
}

static void ranks_together_write_every_byte_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 6);
        struct myr_model model = test_divisible_model(seed % 2);
        struct myr_layout l = test_legal_layout(&rng, &model);
        uint64_t ranks = l.tp * l.cp * l.dp;
        uint64_t written = 0;
        for (uint32_t stage = 0; stage < l.pp; stage++) {
            written += myr_state_of(&l, &model, stage).checkpoint_bytes * ranks;
        }
        uint64_t total = myr_checkpoint_bytes(&model, l.precision);
        /* Three shares a rank are rounded up. */
        if (written < total || written - total > 3 * myr_layout_gpus(&l)) {
            fail_msg("seed %llu: %llu of %llu", (unsigned long long)seed,
                     (unsigned long long)written, (unsigned long long)total);
        }
    }
}

static void what_does_not_fit_64_bits_fits_nowhere(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-405b");
    struct myr_layout l = myr_layout_default();
    l.micro_batch = l.global_batch = MYR_LAYOUT_BATCH_MAX;
    l.seq_tokens = MYR_MODEL_SEQ_MAX;
    l.flash_attention = false;
    uint32_t stage;
    struct myr_state s = myr_state_fullest(&l, &model, &stage);
    assert_true(s.activation_bytes == UINT64_MAX);
    assert_true(s.total_bytes == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_of_a_gpt_layer_equal_the_papers_equations),
        cmocka_unit_test(recomputing_some_layers_keeps_the_others_whole),
        cmocka_unit_test(modern_layers_keep_what_their_parts_need),
        cmocka_unit_test(ranks_together_hold_the_whole_model),
        cmocka_unit_test(zero_cuts_state_as_its_paper_says),
        cmocka_unit_test(expert_state_is_cut_over_the_ranks_that_share_experts),
        cmocka_unit_test(the_fullest_stage_is_the_largest_of_all),
        cmocka_unit_test(a_stage_without_layers_gathers_none),
        cmocka_unit_test(a_checkpoint_holds_fourteen_bytes_a_parameter),
        cmocka_unit_test(ranks_together_write_every_byte_once),
        cmocka_unit_test(what_does_not_fit_64_bits_fits_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
