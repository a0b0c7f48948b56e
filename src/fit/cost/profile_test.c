/*
 * Profiles of one's own, each key left out, of a wrong kind, at its bounds and past them; names
 * that people give devices and releases; words of recipes. What is said and what is read is held
 * against tests/kept: whole rows, so that a field that goes to a wrong place shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>

#include "kept.h"
#include "test_world.h"

struct pair {
    const char *key, *value;
};

static const struct pair device_keys[] = {
    {"name", "mine"},         {"alias", "Mine-SXM"},    {"software", "NeMo 25.05"},
    {"generation", "hopper"}, {"bf16", "1000"},         {"fp8", "2001"},
    {"fp4", "4002"},          {"memory", "80"},         {"memory_gbps", "3350"},
    {"domain_gbps", "450"},   {"nic_gbps", "400"},      {"host_gbps", "64"},
    {"power", "600"},         {"domain", "8"},          {"sm", "132"},
    {"tile", "[128, 256]"},   {"extrapolated", "true"},
};

static const struct pair stack_keys[] = {
    {"name", "own 3"},
    {"line", "own"},
    {"order", "3"},
    {"since", "202507"},
    {"era", "nemo"},
    {"flash", "true"},
    {"weights", "fp32"},
    {"overlap_data", "true"},
    {"shared_scales", "true"},
    {"low_dispatch", "true"},
    {"fused_loss", "true"},
    {"schedules", "[dualpipe]"},
    {"kernel", "gemm.hopper"},
    {"grouped_gemm", "loop"},
    {"tp_overlap", "1"},
    {"recompute_modules", "mlp;layernorm"},
};

static const struct pair rule_keys[] = {
    {"line", "own"},
    {"from", "2"},
    {"before", "4"},
    {"devices", "[h100, mi300x]"},
    {"precisions", "[fp8, nvfp4]"},
    {"experts", "false"},
    {"models", "[llama3-8b]"},
    {"cuda_graphs", "full"},
    {"token_drop", "1"},
};

/* A list of one entry, with one value changed; NULL: left out. */
static void put_entry(struct myr_buf *text, const char *list, const struct pair *keys, size_t count,
                      size_t changed, const char *value)
{
    myr_buf_printf(text, "%s:\n- {", list);
    for (size_t i = 0; i < count; i++) {
        const char *is = i == changed ? value : keys[i].value;
        if (is) {
            myr_buf_printf(text, "%s: %s%s", keys[i].key, is, i + 1 < count ? ", " : "");
        }
    }
    myr_buf_puts(text, "}\n");
}

static void put_device(struct myr_buf *out, const struct myr_device *d)
{
    myr_buf_printf(
        out, "%s, %s, gen %d, %.9g %.9g %.9g flops, %.12g at %.9g, %u at %.9g, nic %.9g,", d->name,
        d->alias, (int)d->generation, d->bf16_flops, d->fp8_flops, d->fp4_flops, d->memory_bytes,
        d->memory_bytes_per_s, d->domain_gpus, d->domain_bytes_per_s, d->nic_gbps);
    myr_buf_printf(out, " host %.9g, %.9g of %.9g W, %u sm, %u x %u, %s%s\n", d->host_bytes_per_s,
                   d->power_w, d->usual_power_w, d->sm_count, d->tile_m, d->tile_n, d->software,
                   d->extrapolated ? ", extrapolated" : "");
}

static void put_recipe(struct myr_buf *out, const struct myr_recipe *recipe)
{
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        char word[64];
        myr_buf_printf(out, " %s",
                       myr_capability_word((enum myr_capability)i, recipe->of[i], word));
    }
    myr_buf_putc(out, '\n');
}

static void put_stack(struct myr_buf *out, const struct myr_stack *s)
{
    myr_buf_printf(out, "%s, %s %.9g since %u, era %d, weights %d, schedules %x, kernel %s,",
                   s->name, s->line, s->order, s->since, (int)s->era, (int)s->weights, s->schedules,
                   s->kernel_constant < 0 ? "-"
                                          : myr_fit_constant((uint32_t)s->kernel_constant)->name);
    myr_buf_printf(out, " %d%d%d%d%d:", s->flash, s->overlap_data, s->shared_scales,
                   s->low_dispatch, s->fused_loss);
    put_recipe(out, &s->recipe);
}

static void put_rule(struct myr_buf *out, const struct myr_recipe_rule *r)
{
    myr_buf_printf(
        out, "%s from %.9g before %.9g, devices %x, precisions %x, experts %d, %u models,", r->line,
        r->from, r->to, r->devices, r->precisions, r->experts, r->models ? r->models->count : 0);
    myr_buf_printf(out, " sets %x:", r->sets.set);
    put_recipe(out, &r->sets.recipe);
}

/* What the shipped profiles and this text are together; the newest entry is the one to look at. */
static void extend(struct myr_buf *out, const char *text, size_t len)
{
    struct myr_profiles own = profiles;
    struct myr_err err = {};
    struct myr_arena scratch;
    const struct myr_doc *doc;
    myr_arena_init(&scratch);
    int rc = myr_doc_read_yaml(&scratch, "own.yaml", (struct myr_str){text, len}, &doc, &err);
    assert_int_equal(rc, MYR_OK);
    rc = myr_profiles_extend(&own, &scratch, doc, &err);
    if (rc < 0) {
        myr_buf_printf(out, "%d %s%s%s\n", rc, err.message, err.hint[0] ? " | " : "", err.hint);
    } else if (own.device_count > profiles.device_count) {
        put_device(out, &own.devices[own.device_count - 1]);
    } else if (own.stack_count > profiles.stack_count) {
        put_stack(out, &own.stacks[own.stack_count - 1]);
    } else if (own.rule_count > profiles.rule_count) {
        put_rule(out, &own.rules[own.rule_count - 1]);
    } else {
        myr_buf_puts(out, "nothing new\n");
    }
    myr_arena_done(&scratch);
}

/* What a value of each kind brings: the row is shown where it is not that of the line before. */
static void put_changes(struct myr_buf *out, const char *list, const struct pair *keys,
                        size_t count)
{
    static const char *const values[] = {
        NULL,   "x",      "-1",   "0",    "1e-3",       "1",        "1000000",    "1000001",
        "1e15", "1.1e15", "true", "[16]", "[16, 1024]", "[15, 16]", "[16, 1025]", "[16, 16, 16]"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < MYR_ARRAY_COUNT(values); k++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
            put_entry(&text, list, keys, count, i, values[k]);
            extend(&now, text.data, text.len);
            bool same = now.len == before.len && memcmp(now.data, before.data, now.len) == 0;
            myr_buf_printf(out, "%s %s: %s", keys[i].key, values[k] ? values[k] : "left out",
                           same ? "the same\n" : now.data);
            myr_buf_done(&before);
            before = now;
            now = (struct myr_buf){};
        }
    }
}

static void every_key_is_read_within_its_bounds(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    put_changes(&out, "devices", device_keys, MYR_ARRAY_COUNT(device_keys));
    put_changes(&out, "stacks", stack_keys, MYR_ARRAY_COUNT(stack_keys));
    put_changes(&out, "recipes", rule_keys, MYR_ARRAY_COUNT(rule_keys));
    assert_kept("fit-profile-keys.txt", &out);
}

/* Words that a key knows, one after the other. */
static void every_word_of_a_key_is_known(void **state)
{
    static const struct {
        const char *list;
        size_t key;
        const char *words[6];
    } rows[] = {
        {"devices", 3, {"ampere", "hopper", "blackwell", "volta"}},
        {"stacks", 4, {"eager", "flash", "nemo", "fsdp", "torch", "jax"}},
        {"stacks", 6, {"master", "bf16", "fp32", "cast", "fp8"}},
        {"stacks",
         11,
         {"[1f1b]", "[interleaved]", "[zero-bubble]", "[zero-bubble, dualpipe]", "[gpipe]", "[]"}},
        {"stacks", 13, {"loop", "grouped", "fused", "none"}},
        {"stacks", 15, {"none", "act", "mlp;act", "mlp;nothing", "core_attn;mla_up_proj"}},
        {"recipes", 3, {"[a100-40]", "[gb300, h100]", "[]", "[h101]"}},
        {"recipes", 4, {"[bf16]", "[fp16, fp32]", "[mxfp8]", "[fp64]"}},
        {"recipes", 6, {"[]", "[a, b, c]", "llama3-8b"}},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct pair *keys = rows[i].list[0] == 'd'   ? device_keys
                                  : rows[i].list[0] == 's' ? stack_keys
                                                           : rule_keys;
        size_t count = rows[i].list[0] == 'd'   ? MYR_ARRAY_COUNT(device_keys)
                       : rows[i].list[0] == 's' ? MYR_ARRAY_COUNT(stack_keys)
                                                : MYR_ARRAY_COUNT(rule_keys);
        for (size_t k = 0; k < MYR_ARRAY_COUNT(rows[i].words) && rows[i].words[k]; k++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            put_entry(&text, rows[i].list, keys, count, rows[i].key, rows[i].words[k]);
            myr_buf_printf(&out, "%s %s: ", keys[rows[i].key].key, rows[i].words[k]);
            extend(&out, text.data, text.len);
        }
    }
    static const char *const texts[] = {"{}", "devices: 3", "stacks: x", "recipes: {}",
                                        "devices: []\nstacks: []\nrecipes: []"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        myr_buf_printf(&out, "%.20s: ", texts[i]);
        extend(&out, texts[i], strlen(texts[i]));
    }
    assert_kept("fit-profile-words.txt", &out);
}

static void a_name_that_is_there_is_replaced_in_its_place(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_profiles own = profiles;
    const struct myr_doc *doc;
    (void)state;
    uint32_t last = profiles.device_count - 1, at = profiles.stack_count - 1;
    put_entry(&text, "devices", device_keys, MYR_ARRAY_COUNT(device_keys), 0,
              profiles.devices[last].name);
    put_entry(&text, "stacks", stack_keys, MYR_ARRAY_COUNT(stack_keys), 0,
              profiles.stacks[at].name);
    assert_int_equal(
        myr_doc_read_yaml(&arena, "own.yaml", (struct myr_str){text.data, text.len}, &doc, NULL),
        MYR_OK);
    assert_int_equal(myr_profiles_extend(&own, &arena, doc, NULL), MYR_OK);
    assert_int_equal(own.device_count, profiles.device_count);
    assert_int_equal(own.stack_count, profiles.stack_count);
    assert_string_equal(own.devices[last].alias, "Mine-SXM");
    assert_string_equal(own.stacks[at].line, "own");
    for (uint32_t i = 0; i < last; i++) {
        assert_memory_equal(&own.devices[i], &profiles.devices[i], sizeof(own.devices[i]));
    }
    for (uint32_t i = 0; i < at; i++) {
        assert_memory_equal(&own.stacks[i], &profiles.stacks[i], sizeof(own.stacks[i]));
    }
    assert_memory_equal(own.constants, profiles.constants, sizeof(own.constants));
}

static void devices_and_releases_are_found_by_the_names_that_people_give(void **state)
{
    static const char *const devices[] = {
        "h100", "H100", "H100-SXM", "h100-sxm", "a100",   "a100-8", "a100-80",     "a",  "",
        "b3",   "h10",  "h1000",    "gb200",    "mi300x", "tpu",    "ascend-910b", "asc"};
    static const char *const stacks[] = {"NeMo 25.05",
                                         "nemo 25.05",
                                         "NeMo 25.04",
                                         "NeMo 25.02.01",
                                         "NeMo 24",
                                         "NeMo 23.01",
                                         "NeMo",
                                         "NeMo 25.5",
                                         "nemotron 25.02",
                                         "Megatron-DeepSpeed 3",
                                         "DeepSpeed 2020",
                                         "DeepSpeed 0.12",
                                         "Megatron-LM 2022-06",
                                         "Megatron-LM 2023.11",
                                         "Megatron-LM v2021",
                                         "Megatron-LM core_r0.8",
                                         "Megatron-Core 0.8",
                                         "Megatron-Core 0.12",
                                         "Megatron-Core 0.7",
                                         "Megatron-Bridge 26.02",
                                         "Megatron-Bridge 26.02.1",
                                         "Megatron-Bridge 26.02.02",
                                         "Megatron-Bridge 26.03.99",
                                         "Megatron-Bridge 26-05",
                                         "Megatron-Bridge 26.123",
                                         "Megatron-Bridge 9999999999999",
                                         "with Megatron-Bridge, release 25.11",
                                         "torch compile 2.9",
                                         "torch eager",
                                         "torch 1",
                                         "torchtitan",
                                         "torchtitan 0.2",
                                         "Meta",
                                         "Metaphor",
                                         "jax",
                                         ""};
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(devices); i++) {
        const struct myr_device *found = NULL;
        struct myr_err err = {};
        int rc = myr_profiles_device(&profiles, myr_str_from(devices[i]), &found, &err);
        myr_buf_printf(&out, "%s: %s | %s\n", devices[i], rc < 0 ? err.message : found->name,
                       err.hint);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(stacks); i++) {
        const struct myr_stack *found = NULL;
        struct myr_err err = {};
        bool exact = false;
        int rc = myr_profiles_stack(&profiles, myr_str_from(stacks[i]), &found, &exact, &err);
        myr_buf_printf(&out, "%s: %s%s | %s\n", stacks[i], rc < 0 ? err.message : found->name,
                       exact ? ", exactly" : "", err.hint);
    }
    assert_kept("fit-profile-names.txt", &out);
}

/* torchtitan's loss is compiled with the model since June 2025: nothing else may say so. */
static void a_month_decides_what_a_release_without_number_has(void **state)
{
    static const char *const undated[] = {"torchtitan", "TorchTitan", "torchtitan (ours)",
                                          "our torchtitan, nightly"};
    const struct myr_stack *found;
    struct myr_err err;
    bool exact;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(undated); i++) {
        struct myr_str name = myr_str_from(undated[i]);
        assert_int_equal(myr_profiles_stack(&profiles, name, &found, &exact, &err), MYR_OK);
        assert_true(!found->fused_loss && myr_stack_undated(&profiles, found));
    }
    for (uint32_t year = 2023; year <= 2027; year++) {
        for (uint32_t month = 1; month <= 12; month++) {
            char names[3][64];
            snprintf(names[0], sizeof(names[0]), "torchtitan %u-%02u", year, month);
            snprintf(names[1], sizeof(names[1]), "torchtitan, main of %u%02u", year, month);
            /* Read as a year: too early is careful, too late is not. */
            snprintf(names[2], sizeof(names[2]), "torchtitan %02u/%u", month, year);
            for (int i = 0; i < 3; i++) {
                struct myr_str name = myr_str_from(names[i]);
                assert_int_equal(myr_profiles_stack(&profiles, name, &found, &exact, &err), MYR_OK);
                bool fused = 100 * year + (i < 2 ? month : 1) >= 202506;
                if (found->fused_loss != fused || myr_stack_undated(&profiles, found)) {
                    fail_msg("'%s' is %s", names[i], found->name);
                }
            }
        }
    }
}

static void recipes_are_stated_in_words(void **state)
{
    static const char *const texts[] = {
        "",
        "dispatcher=allgather",
        "DISPATCHER=Flex-DeepEP,cuda_graphs=full",
        "cuda_graphs=attn",
        "cuda_graphs=moe_router;moe_preprocess",
        "cuda_graphs=moe_router;attn",
        "cuda_graphs=mlp;mamba",
        "cuda_graphs=mlp;other",
        "cuda_graphs=",
        "grouped_gemm=attn",
        "tp_overlap=1,tp_overlap=0",
        "tp_overlap=2",
        "moe_a2a_overlap=1,token_drop=1,compile=1",
        "fp8_recipe=rowwise",
        "fp8_recipe=row",
        "recompute_modules=none",
        "recompute_modules=core_attn;mlp;moe_act;mla_up_proj;layernorm;act",
        "recompute_modules=mlp;none",
        "recompute_modules=mlp;attn",
        "recompute_modules",
        "dispatch=1",
        "compile=1,",
        ",compile=1",
        "compile",
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_stated stated = {.set = 77};
        struct myr_err err = {};
        int rc = myr_recipe_words("--recipe", texts[i], &stated, &err);
        myr_buf_printf(&out, "%s: ", texts[i]);
        if (rc < 0) {
            assert_int_equal(stated.set, 77); /* untouched */
            myr_buf_printf(&out, "%d %s | %s\n", rc, err.message, err.hint);
        } else {
            myr_buf_printf(&out, "sets %x:", stated.set);
            put_recipe(&out, &stated.recipe);
        }
    }
    assert_kept("fit-recipe-words.txt", &out);
}

/* Rules of every stack and device, for models with and without experts. */
static void rules_say_what_a_run_switches_on(void **state)
{
    static const char *const names[] = {"llama3-8b",    "llama3-70b",    "deepseek-v3",
                                        "gpt-oss-120b", "qwen3-30b-a3b", "grok-1"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    struct myr_stated stated;
    (void)state;
    assert_int_equal(myr_recipe_words("--recipe", "compile=1,cuda_graphs=layer", &stated, NULL),
                     MYR_OK);
    for (size_t m = 0; m < MYR_ARRAY_COUNT(names); m++) {
        struct myr_model model;
        assert_int_equal(myr_model_find(&arena, names[m], &model, NULL), MYR_OK);
        for (uint32_t s = 0; s < profiles.stack_count; s += 1 + s % 2) {
            uint32_t d = (s * 5 + (uint32_t)m) % profiles.device_count;
            struct myr_recipe recipes[MYR_PRECISION_COUNT];
            (void)myr_profiles_recipes(&profiles, &profiles.stacks[s], &profiles.devices[d], &model,
                                       m == 1 ? &stated : NULL, recipes);
            for (uint32_t p = 0; p < MYR_PRECISION_COUNT; p++) {
                bool repeats = p > 0 && memcmp(&recipes[p], &recipes[p - 1], sizeof(*recipes)) == 0;
                if (!repeats) {
                    myr_buf_printf(&out, "%s, %s, %s, %s:", names[m], profiles.stacks[s].name,
                                   profiles.devices[d].name,
                                   myr_precision_name((enum myr_precision)p));
                    put_recipe(&out, &recipes[p]);
                }
            }
        }
    }
    assert_kept("fit-recipes.txt", &out);
}

static void peaks_and_constants_are_found_by_name(void **state)
{
    const struct myr_device device = {.bf16_flops = 8, .fp8_flops = 16, .fp4_flops = 32};
    static const double peaks[] = {
        [MYR_PRECISION_BF16] = 8,   [MYR_PRECISION_FP16] = 8,   [MYR_PRECISION_FP8] = 16,
        [MYR_PRECISION_MXFP8] = 16, [MYR_PRECISION_NVFP4] = 32, [MYR_PRECISION_FP32] = 4};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(peaks); i++) {
        double peak = myr_device_peak(&device, (enum myr_precision)i);
        assert_true(peak >= peaks[i] && peak <= peaks[i]);
    }
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        const struct myr_constant *c = myr_fit_constant(i);
        assert_int_equal(myr_fit_constant_index(myr_str_from(c->name)), (int)i);
        assert_true(c->min <= c->prior && c->prior <= c->max && c->spread > 0);
        assert_true(profiles.constants[i] >= c->min && profiles.constants[i] <= c->max);
    }
    assert_int_equal(profiles.constant_count, myr_fit_constant_count());
    assert_int_equal(myr_fit_constant_index(MYR_STR("no.such")), -1);
    assert_int_equal(myr_fit_constant_index(MYR_STR("")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read_within_its_bounds),
        cmocka_unit_test(every_word_of_a_key_is_known),
        cmocka_unit_test(a_name_that_is_there_is_replaced_in_its_place),
        cmocka_unit_test(devices_and_releases_are_found_by_the_names_that_people_give),
        cmocka_unit_test(a_month_decides_what_a_release_without_number_has),
        cmocka_unit_test(recipes_are_stated_in_words),
        cmocka_unit_test(rules_say_what_a_run_switches_on),
        cmocka_unit_test(peaks_and_constants_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
