#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>

#include "myriad/fit.h"

static struct myr_arena arena;
static struct myr_profiles profiles;

static int setup(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return myr_profiles_init(&profiles, &arena, NULL);
}

static int teardown(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static void published_runs_are_met_within_the_promised_error(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_validation result;
    const char *path = MYR_SOURCE_DIR "/tests/data/published-runs.csv";
    assert_int_equal(myr_runs_read(&runs, &arena, &profiles, path, NULL), MYR_OK);
    myr_runs_validate(&runs, &profiles, &arena, &result);
    assert_int_equal(runs.count, 428);
    assert_true(result.median <= 2.7);
    assert_true(result.mean <= 4.7);
    assert_true(result.p90 <= 11);
    assert_true(result.coverage >= 95);
    assert_true(result.interval_coverage >= 85 && result.interval_coverage <= 95);
    assert_true(result.family_count >= 6);
    for (uint32_t i = 0; i < result.family_count; i++) {
        assert_true(result.families[i].median <= 8);
    }
}

static void there_are_at_most_eighty_constants_each_named_and_inside_its_bounds(void **state)
{
    (void)state;
    assert_true(myr_fit_constant_count() <= 80);
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        const struct myr_constant *constant = myr_fit_constant(i);
        assert_true(strlen(constant->name) > 0 && strlen(constant->unit) > 0);
        /* A meaning stands alone: lists show one constant without its neighbours. */
        assert_true(strlen(constant->meaning) >= 20 && !strstr(constant->meaning, "the same"));
        for (uint32_t j = 0; j < i; j++) {
            assert_string_not_equal(constant->meaning, myr_fit_constant(j)->meaning);
        }
        assert_true(profiles.constants[i] >= constant->min);
        assert_true(profiles.constants[i] <= constant->max);
        assert_int_equal(myr_fit_constant_index(myr_str_from(constant->name)), i);
    }
}

static void an_unknown_release_takes_the_nearest_earlier_one_of_its_line(void **state)
{
    (void)state;
    const struct myr_stack *stack;
    bool exact;
    assert_int_equal(
        myr_profiles_stack(&profiles, MYR_STR("Megatron-Bridge 26.05"), &stack, &exact, NULL),
        MYR_OK);
    assert_false(exact);
    assert_string_equal(stack->name, "Megatron-Bridge 26.04.01");
    assert_int_equal(myr_profiles_stack(&profiles, MYR_STR("NeMo 23.01"), &stack, &exact, NULL),
                     MYR_OK);
    assert_string_equal(stack->name, "NeMo 24.07"); /* nothing is earlier */
    assert_int_equal(myr_profiles_stack(&profiles, MYR_STR("NeMo"), &stack, &exact, NULL), MYR_OK);
    assert_false(exact);
    assert_string_equal(stack->name, "NeMo 25.05"); /* no release named */
    assert_int_equal(myr_profiles_stack(&profiles, MYR_STR("Caffe"), &stack, &exact, NULL),
                     MYR_ENOENT);
}

static void an_unknown_device_names_the_nearest(void **state)
{
    (void)state;
    const struct myr_device *device;
    struct myr_err err = {};
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("h10"), &device, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "h100"));
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("A100"), &device, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "'a100-40' or 'a100-80'"));
}

static void terms_sum_to_the_step_and_accumulation_costs_its_share(void **state)
{
    (void)state;
    struct myr_model model;
    struct myr_layout layout = myr_layout_default();
    struct myr_fit_cost once, twice;
    struct myr_fit_case it = {.model = &model, .constants = profiles.constants};
    bool exact;
    assert_int_equal(myr_model_find(&arena, "gpt3-175b", &model, NULL), MYR_OK);
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("h100"), &it.device, NULL), MYR_OK);
    assert_int_equal(myr_profiles_stack(&profiles, MYR_STR("NeMo 25.05"), &it.stack, &exact, NULL),
                     MYR_OK);
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = 16;
    layout.sequence_parallel = true;
    layout.global_batch = 1024;
    myr_fit_cost_of(&it, &layout, &once);
    double sum = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        assert_true(once.terms_s[i] >= 0);
        sum += once.terms_s[i];
    }
    assert_true(sum / once.step_s > 1 - 1e-12 && sum / once.step_s < 1 + 1e-12);
    layout.global_batch = 2048;
    myr_fit_cost_of(&it, &layout, &twice);
    assert_true(twice.step_s > 1.8 * once.step_s && twice.step_s < 2 * once.step_s);
}

static void a_row_that_cannot_be_read_says_where(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_err err = {};
    assert_true(myr_runs_read(&runs, &arena, &profiles, "no/such/file.csv", &err) < 0);
    assert_non_null(strstr(err.message, "no/such/file.csv"));
}

static void parse(struct myr_runs *runs, const char *text)
{
    struct myr_err err = {};
    if (myr_runs_parse(runs, &arena, &profiles, "runs.csv", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void odd_rows_are_refused_with_a_reason_and_the_others_stand(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "id,software,hw,model,gpus,gbs,tp,pp,mbs,iter_s,note\n"
                 "a,NeMo 25.02,H100-SXM,llama3-8b,8,128,1,1,1,9.4,\"quoted, \"\"twice\"\"\"\n"
                 "b,NeMo 25.02,H100-SXM,llama3-8b,8,128,two,1,1,9.4,\n"
                 "c,NeMo 25.02,H100-SXM,llama3-8b,8,128,0,1,1,9.4,\n"
                 "d,NeMo 25.02,TPU-v5,llama3-8b,8,128,1,1,1,9.4,\n"
                 "e,NeMo 25.02,H100-SXM,llama3-8b,,128,1,1,1,9.4,\n");
    assert_int_equal(runs.count, 5);
    assert_null(runs.items[0].refused);
    assert_non_null(strstr(runs.items[1].refused, "tp 'two'"));
    assert_non_null(strstr(runs.items[2].refused, "0"));
    assert_non_null(strstr(runs.items[3].refused, "TPU-v5"));
    assert_non_null(strstr(runs.items[4].refused, "gpus"));
}

static void a_missing_column_is_named(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_err err = {};
    assert_true(myr_runs_parse(&runs, &arena, &profiles, "runs.csv",
                               MYR_STR("id,software,model,gpus,gbs\n"), &err) < 0);
    assert_non_null(strstr(err.message, "'hw'"));
}

static void what_a_row_leaves_open_is_chosen_and_widens_its_interval(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_fit_cost cost;
    parse(&runs, "id,software,hw,model,gpus,gbs,tp,pp,cp,mbs,vp\n"
                 "a,NeMo 25.02,NVIDIA H100 80GB HBM3,gpt3-175b,64,128,8,8,1,1,12\n"
                 "b,NeMo 25.02,H100,gpt3-175b,64,128,?,,,?,\n"
                 "c,somebody's trainer,h100,gpt3-175b,64,128,8,8,1,1,12\n");
    double told[3], wide[3];
    for (uint32_t i = 0; i < 3; i++) {
        assert_null(runs.items[i].refused);
        assert_int_equal(myr_layout_gpus(&runs.items[i].layout), 64);
        myr_run_cost(&runs.items[i], &cost);
        told[i] = cost.step_s;
        wide[i] = myr_run_spread(&runs.items[i], &profiles, &cost).share;
    }
    assert_true(runs.items[1].open & MYR_RUN_OPEN_TP);
    assert_true(told[1] <= told[0] * 1.0000001);
    assert_true(wide[1] > wide[0] && wide[2] > wide[0]);
}

/* One row in each of two spellings: both must come out as the same run. */
static void what_table_tools_make_of_a_field_is_read_as_it_was_meant(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs,
          "id, software ,hw,model,gpus,gbs,tp,pp,cp,dp,vp,mbs,sharding,recompute,precision,"
          "seq_par,iter_s\r\n"
          "a,NeMo 25.02,H100-SXM,gpt3-175b,1024,2048,8,8,1,16,12,1,zero3,none,bf16,1,9\r\n"
          "\r\n"
          "b, NeMo 25.02 ,\"NVIDIA H100\",gpt3-175b,\"1,024\",2048.0,8.0, 8 ,1,nan,12.0,1,"
          "ZeRO-3,None,BF16-mixed,True,9.0\r\n"
          "c,NeMo 25.02,H100-SXM,gpt3-175b,1024,2048,8,8,1,16,12,1,FULL_SHARD,no,bfloat16,"
          "yes,9\r\n"
          "d,NeMo 25.02,H100-SXM,gpt3-175b,1024,2048,8,8,1,16,12,1,FULL_SHARD,no,int4,,9\r\n");
    assert_int_equal(runs.count, 4);
    for (uint32_t i = 0; i < runs.count; i++) {
        const struct myr_run *run = &runs.items[i];
        assert_null(run->refused);
        assert_int_equal(run->open, 0);
        assert_memory_equal(&run->layout, &runs.items[0].layout, sizeof(run->layout));
        assert_true(run->measured_s == 9);
    }
    assert_int_equal(runs.items[1].guessed, MYR_RUN_GUESSED_DEVICE);
    assert_int_equal(runs.items[3].guessed, MYR_RUN_GUESSED_PRECISION);
}

/* Columns with gaps come back from table tools as 0.0 and 1.0, lists with blanks and commas. */
static void a_recipe_is_read_in_whatever_spelling(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "software,hw,model,gpus,gbs,tp,pp,ep,mbs,precision,dispatcher,cuda_graphs,"
                 "tp_overlap,moe_a2a_overlap,token_drop,fp8_recipe,recompute_modules,cpu_offload\n"
                 "Megatron-Bridge 26.02,GB200-NVL72,deepseek-v3,256,4096,1,4,64,1,fp8,flex-deepep,"
                 "attn;moe_router,0,1,0,current,layernorm;moe_act,layers:4\n"
                 "Megatron-Bridge 26.02,GB200-NVL72,deepseek-v3,256,4096,1,4,64,1,fp8,DeepEP,"
                 "\"attn, moe_router\",0.0,1.0,no,tensorwise,Layernorm; moe_act ,4.0\n"
                 "Megatron-Bridge 26.02,GB200-NVL72,deepseek-v3,256,4096,1,4,64,1,fp8,flex-deepep,"
                 "moe_router+attn,False,True,off,current,moe_act|layernorm,LAYERS:4\n");
    for (uint32_t i = 0; i < 3; i++) {
        const struct myr_run *run = &runs.items[i];
        assert_null(run->refused);
        assert_memory_equal(&run->stated, &runs.items[0].stated, sizeof(run->stated));
        assert_memory_equal(&run->layout, &runs.items[0].layout, sizeof(run->layout));
    }
    assert_int_equal(runs.items[0].layout.offload_layers, 4);
    assert_int_equal(runs.items[0].stated.recipe.of[MYR_CAPABILITY_GRAPHS], MYR_GRAPHS_PARTS);
}

static void a_word_of_a_recipe_that_means_nothing_refuses_its_row(void **state)
{
    static const char *const odd[][2] = {
        {"tp_overlap", "half"},     {"token_drop", "2"},      {"cuda_graphs", "many"},
        {"dispatcher", "pigeon"},   {"fp8_recipe", "int4"},   {"recompute_modules", "full:x"},
        {"cpu_offload", "layers:"}, {"cpu_offload", "some"},  {"recompute_modules", "mlp;soul"},
        {"gated", "perhaps"},       {"seq_par", "sometimes"}, {"etp", "two"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(odd); i++) {
        struct myr_runs runs;
        char text[256];
        (void)snprintf(text, sizeof(text),
                       "software,hw,model,gpus,gbs,%s\nNeMo 25.05,h100,llama3-8b,8,128,%s\n",
                       odd[i][0], odd[i][1]);
        parse(&runs, text);
        if (!runs.items[0].refused || !strstr(runs.items[0].refused, odd[i][0])) {
            fail_msg("%s '%s': %s", odd[i][0], odd[i][1], runs.items[0].refused);
        }
    }
}

/* What there is no term for is said, and makes the answer less sure. */
static void modules_that_are_kept_on_the_host_are_told_as_not_counted(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_fit_cost cost;
    double wide[2];
    parse(&runs, "software,hw,model,gpus,gbs,tp,pp,cp,vp,mbs,precision,cpu_offload\n"
                 "NeMo 25.05,h100,llama3-8b,8,128,1,1,1,1,1,bf16,none\n"
                 "NeMo 25.05,h100,llama3-8b,8,128,1,1,1,1,1,bf16,fine:core_attn\n");
    for (uint32_t i = 0; i < 2; i++) {
        assert_null(runs.items[i].refused);
        assert_int_equal(runs.items[i].guessed, i ? MYR_RUN_GUESSED_OFFLOAD : 0);
        myr_run_cost(&runs.items[i], &cost);
        wide[i] = myr_run_spread(&runs.items[i], &profiles, &cost).share;
    }
    assert_true(wide[1] > wide[0]);
}

static void a_note_says_what_no_column_does_and_a_column_counts_more(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "software,hw,model,gpus,gbs,token_drop,tp_overlap,note\n"
                 "Megatron-Bridge 25.09,B200-SXM,qwen3-30b-a3b,8,512,,,dropless\n"
                 "Megatron-Bridge 25.09,B200-SXM,qwen3-30b-a3b,8,512,,,nothing\n"
                 "Megatron-Bridge 26.06,H100-SXM,qwen3-30b-a3b,8,512,,,tokendrop; MoE\n"
                 "Megatron-Bridge 26.06,H100-SXM,qwen3-30b-a3b,8,512,0,,tokendrop\n"
                 "torchtitan,H100-96GB-500W,llama3-70b,64,64,,,\"torch.compile; AsyncTP\"\n"
                 "torchtitan,H100-96GB-500W,llama3-70b,64,64,,,\"eager, no torch.compile\"\n");
    static const uint8_t drops[] = {0, 1, 1, 0};
    for (uint32_t i = 0; i < runs.count; i++) {
        const struct myr_recipe *recipe = &runs.items[i].recipes[MYR_PRECISION_BF16];
        assert_null(runs.items[i].refused);
        if (i < 4) {
            assert_int_equal(recipe->of[MYR_CAPABILITY_TOKEN_DROP], drops[i]);
        } else {
            assert_int_equal(recipe->of[MYR_CAPABILITY_TENSOR_OVERLAP], i == 4);
            assert_int_equal(recipe->of[MYR_CAPABILITY_COMPILE], i == 4);
        }
    }
}

/* HAI-LLM runs DualPipe, which has no chunks: a row that states some ran something else. */
static void chunks_that_are_stated_are_no_dualpipe(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "software,hw,model,gpus,gbs,tp,pp,cp,vp,mbs\n"
                 "HAI-LLM,h800,llama3-70b,256,256,4,4,1,5,1\n"
                 "HAI-LLM,h800,llama3-70b,256,256,4,4,1,1,1\n");
    assert_null(runs.items[0].refused);
    assert_int_equal(runs.items[0].layout.schedule, MYR_SCHEDULE_INTERLEAVED);
    assert_null(runs.items[1].refused);
    assert_int_equal(runs.items[1].layout.schedule, MYR_SCHEDULE_DUALPIPE);
}

/* A slice of a known model, or one with other experts: the row ran, not the catalogue's. */
static void experts_are_those_of_the_row(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "software,hw,model,gpus,gbs,layers,experts,topk,moe_ffn,shared_experts,moe_layers,"
                 "ffn,tp,ep,etp\n"
                 "NeMo 25.05,h100,deepseek-v3,64,512,16,128,4,1024,2,15,9216,4,8,4\n"
                 "NeMo 25.05,h100,deepseek-v3,64,512,,,,,,,,4,8,1\n");
    const struct myr_model *slice = &runs.items[0].model, *whole = &runs.items[1].model;
    assert_null(runs.items[0].refused);
    assert_int_equal(slice->moe.expert_count, 128);
    assert_int_equal(slice->moe.experts_per_token, 4);
    assert_int_equal(slice->moe.expert_hidden, 1024);
    assert_int_equal(slice->moe.shared_count, 2);
    assert_int_equal(slice->ffn_hidden, 9216);
    assert_int_equal(myr_model_moe_layers(slice, 0, 16), 15);
    assert_int_equal(myr_layout_etp(&runs.items[0].layout), 4);
    assert_int_equal(myr_layout_etp(&runs.items[1].layout), 1);
    assert_int_equal(myr_model_moe_layers(whole, 0, 61), 58);
    assert_int_equal(whole->ffn_hidden, 18432);
}

/*
 * The rules of stacks.yaml are what a run takes that states nothing: they have to say what the runs
 * that do state it say. Left to whoever starts a run are the overlap of torchtitan and MindSpeed;
 * one rank has nothing to overlap, and bf16 no scales. How many were compared.
 */
static uint32_t hold_rules_against_run(const struct myr_run *run)
{
    enum myr_precision precision = run->layout.precision;
    bool low = precision != MYR_PRECISION_BF16 && precision != MYR_PRECISION_FP16;
    bool left = strcmp(run->it.stack->line, "torchtitan") == 0 ||
                strcmp(run->it.stack->line, "MindSpeed-LLM") == 0;
    struct myr_recipe by_rule[MYR_PRECISION_COUNT];
    uint32_t compared = 0;
    (void)myr_profiles_recipes(&profiles, run->it.stack, run->it.device, &run->model, NULL,
                               by_rule);
    for (uint32_t c = 0; c < MYR_CAPABILITY_COUNT; c++) {
        bool idle = (c == MYR_CAPABILITY_TENSOR_OVERLAP && (run->layout.tp == 1 || left)) ||
                    (c == MYR_CAPABILITY_SCALES && (!low || left)) ||
                    (c == MYR_CAPABILITY_COMPILE && left);
        bool counts = run->stated.set >> c & 1 && !idle;
        compared += counts;
        if (counts && by_rule[precision].of[c] != run->stated.recipe.of[c]) {
            fail_msg("%s: %s is %u by the rules, %u in the run", run->id,
                     myr_capability_name((enum myr_capability)c), by_rule[precision].of[c],
                     run->stated.recipe.of[c]);
        }
    }
    return compared;
}

/* Against every run of a file; how many were compared. */
static uint32_t hold_rules_against(const char *path)
{
    struct myr_runs runs;
    uint32_t compared = 0;
    assert_int_equal(myr_runs_read(&runs, &arena, &profiles, path, NULL), MYR_OK);
    for (uint32_t i = 0; i < runs.count; i++) {
        compared += hold_rules_against_run(&runs.items[i]);
    }
    return compared;
}

static void rules_say_what_runs_with_a_recipe_say(void **state)
{
    (void)state;
    assert_true(hold_rules_against(MYR_SOURCE_DIR "/tests/data/published-runs.csv") > 600);
}

/* Release x device x precision x model, runs or none: what each release ships for it. */
static void rules_say_what_releases_ship(void **state)
{
    (void)state;
    assert_true(hold_rules_against(MYR_SOURCE_DIR "/tests/data/release-recipes.csv") == 2400);
}

static void sizes_that_contradict_each_other_are_told_apart(void **state)
{
    (void)state;
    struct myr_runs runs;
    parse(&runs, "id,software,hw,model,gpus,gbs,cp,tp,pp,dp,mbs,layers,hidden,iter_s\n"
                 "a,NeMo 25.02,h100,llama3-8b,8,128,1,2,1,8,1,,,1\n"
                 "b,NeMo 25.02,h100,llama3-8b,8,128,1,3,1,,1,,,1\n"
                 "c,NeMo 25.02,h100,no-such-model,8,128,1,1,1,,1,,,1\n"
                 "d,NeMo 25.02,h100,llama3-8b,8,128,1,1,1,,1,,,fast\n"
                 "e,NeMo 25.02,h100,llama3-8b,8,100,1,1,1,,?,,,1\n"
                 "f,NeMo 25.02,h100,llama3-8b,8,128,1,?,?,4,1,,,1\n"
                 "g,NeMo 25.02,h100,llama3-8b,8,128,1,1,1,,1,16,4096,1\n");
    static const char *const why[] = {"tp 2 x pp 1 x cp 1 x dp 8 is not 8 GPUs",
                                      "does not divide 8 GPUs", "'no-such-model'", "iter_s 'fast'",
                                      "open axes"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(why); i++) {
        assert_non_null(runs.items[i].refused);
        assert_non_null(strstr(runs.items[i].refused, why[i]));
    }
    assert_null(runs.items[5].refused); /* what is open agrees with what is not */
    assert_int_equal(runs.items[5].layout.dp, 4);
    assert_null(runs.items[6].refused); /* half of the layers, all else as the catalogue says */
    assert_int_equal(runs.items[6].model.layer_count, 16);
    assert_int_equal(runs.items[6].model.kv_head_count, 8);
}

static void open_sharding_takes_the_stage_that_is_fastest(void **state)
{
    (void)state;
    struct myr_runs runs;
    struct myr_fit_cost open, told;
    parse(&runs, "id,software,hw,model,gpus,gbs,cp,tp,pp,mbs,recompute,sharding\n"
                 "a,llm-foundry FSDP,h100,llama3-70b,64,64,1,1,1,1,full,?\n"
                 "b,llm-foundry FSDP,h100,llama3-70b,64,64,1,1,1,1,full,zero3\n");
    assert_int_equal(runs.items[0].open, MYR_RUN_OPEN_ZERO);
    assert_int_equal(runs.items[0].layout.zero, 3); /* nothing less fits */
    myr_run_cost(&runs.items[0], &open);
    myr_run_cost(&runs.items[1], &told);
    assert_true(open.step_s == told.step_s);
}

static void assert_stack(const char *software, const char *expected)
{
    struct myr_runs runs;
    char text[256];
    (void)snprintf(text, sizeof(text),
                   "software,hw,model,gpus,gbs,source\n%s,a100-80,gpt3-175b,64,128,OPT-175B-2022\n",
                   software);
    parse(&runs, text);
    assert_null(runs.items[0].refused);
    assert_string_equal(runs.items[0].it.stack->name, expected);
}

static void a_trainer_is_found_by_its_own_word_and_an_unknown_one_by_its_year(void **state)
{
    (void)state;
    assert_stack("metaseq", "Megatron-LM 2022"); /* not Meta's of 2024 */
    assert_stack("NVIDIA NeMo 24.12", "NeMo 24.07");
    assert_stack("Megatron-LM 2023-06", "Megatron-LM 2023");
    assert_stack("Megatron-Core 0.12", "Megatron-Core 0.8");
    assert_stack("PyTorch FSDP 2.1", "llm-foundry FSDP");
    assert_stack("Megatron-DeepSpeed 2023", "Megatron-DeepSpeed");
    assert_stack("DeepSpeed 2021", "DeepSpeed ZeRO-3 2021");
    assert_stack("DeepSpeed 0.19.2", "DeepSpeed 0.19");
    /* The repository counts anew since; a year is no such number, nor the other way round. */
    assert_stack("Megatron-LM 0.20", "Megatron-LM 0.20");
    assert_stack("Megatron-LM 0.15", "Megatron-LM 0.8");
    assert_stack("Megatron-LM v0.12.1", "Megatron-LM 0.8");
    assert_stack("Megatron-LM core_v0.5.0", "Megatron-LM 0.8");
    assert_stack("Megatron-LM 2019", "Megatron-LM sc21");
    assert_stack("Megatron-LM 2026", "Megatron-LM 2024");
    assert_stack("Megatron-LM", "Megatron-LM 2024");
    assert_stack("NeMo 2026", "NeMo 25.05");
    assert_stack("torchtitan", "torchtitan");
    assert_stack("torchtitan main", "torchtitan");
    assert_stack("torchtitan v0.0.2", "torchtitan 2024");
    assert_stack("torchtitan v0.2.0", "torchtitan 2025");
    assert_stack("torchtitan 2025-05", "torchtitan 2024");
    assert_stack("torchtitan 2025-06", "torchtitan 2025");
    assert_stack("Megatron-Bridge 26.01", "Megatron-Bridge 25.11");
    assert_stack("Megatron-Bridge 27.01", "Megatron-Bridge 26.08");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_runs_are_met_within_the_promised_error),
        cmocka_unit_test(there_are_at_most_eighty_constants_each_named_and_inside_its_bounds),
        cmocka_unit_test(an_unknown_release_takes_the_nearest_earlier_one_of_its_line),
        cmocka_unit_test(an_unknown_device_names_the_nearest),
        cmocka_unit_test(terms_sum_to_the_step_and_accumulation_costs_its_share),
        cmocka_unit_test(a_row_that_cannot_be_read_says_where),
        cmocka_unit_test(odd_rows_are_refused_with_a_reason_and_the_others_stand),
        cmocka_unit_test(a_missing_column_is_named),
        cmocka_unit_test(what_a_row_leaves_open_is_chosen_and_widens_its_interval),
        cmocka_unit_test(what_table_tools_make_of_a_field_is_read_as_it_was_meant),
        cmocka_unit_test(a_recipe_is_read_in_whatever_spelling),
        cmocka_unit_test(a_word_of_a_recipe_that_means_nothing_refuses_its_row),
        cmocka_unit_test(modules_that_are_kept_on_the_host_are_told_as_not_counted),
        cmocka_unit_test(a_note_says_what_no_column_does_and_a_column_counts_more),
        cmocka_unit_test(chunks_that_are_stated_are_no_dualpipe),
        cmocka_unit_test(experts_are_those_of_the_row),
        cmocka_unit_test(rules_say_what_runs_with_a_recipe_say),
        cmocka_unit_test(rules_say_what_releases_ship),
        cmocka_unit_test(sizes_that_contradict_each_other_are_told_apart),
        cmocka_unit_test(open_sharding_takes_the_stage_that_is_fastest),
        cmocka_unit_test(a_trainer_is_found_by_its_own_word_and_an_unknown_one_by_its_year),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
