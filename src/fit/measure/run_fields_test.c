/*
 * Rows of published runs, each with one field changed: what is read in its place, or why the row
 * is refused (tests/kept/fit-run-fields.txt). Only what the change moves is written down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "measure/row.h"
#include "myriad/fit/runs.h"
#include "test_world.h"

static const char *const columns[] = {
#define COLUMN_NAME(name) #name,
    COLUMNS(COLUMN_NAME)
#undef COLUMN_NAME
};

struct base {
    const char *id;
    const char *fields[COLUMN_COUNT];
};

#define COMMON                                                                             \
    [COLUMN_hw] = "h100", [COLUMN_gpus] = "64", [COLUMN_gbs] = "128", [COLUMN_mbs] = "1",  \
    [COLUMN_precision] = "bf16", [COLUMN_sharding] = "zero1", [COLUMN_recompute] = "none", \
    [COLUMN_seq_par] = "1"

static const struct base bases[] = {
    {"known",
     {[COLUMN_software] = "NeMo 25.05",
      [COLUMN_model] = "llama3-8b",
      [COLUMN_tp] = "2",
      [COLUMN_pp] = "2",
      [COLUMN_cp] = "1",
      [COLUMN_vp] = "1",
      [COLUMN_iter_s] = "3.5",
      COMMON}},
    {"latent",
     {[COLUMN_software] = "Megatron-Bridge 25.11",
      [COLUMN_model] = "deepseek-v3",
      [COLUMN_tp] = "2",
      [COLUMN_pp] = "4",
      [COLUMN_cp] = "1",
      [COLUMN_ep] = "8",
      [COLUMN_vp] = "1",
      [COLUMN_tokens_per_s_per_gpu] = "900",
      COMMON}},
    {"own",
     {[COLUMN_software] = "own trainer",
      [COLUMN_source] = "x-2022",
      [COLUMN_model] = "mine",
      [COLUMN_layers] = "24",
      [COLUMN_hidden] = "2048",
      [COLUMN_heads] = "16",
      [COLUMN_experts] = "8",
      [COLUMN_topk] = "2",
      [COLUMN_tp] = "2",
      [COLUMN_pp] = "2",
      [COLUMN_cp] = "1",
      [COLUMN_ep] = "4",
      [COLUMN_vp] = "2",
      [COLUMN_tflops_per_gpu] = "300",
      [COLUMN_flops_kind] = "model",
      COMMON}},
};

static const char *const counts[] = {"",     "0", "1",     "2",   "3",       "8",       "12", "64",
                                     "none", "x", "2,048", "4e3", "2000000", "2000001", NULL};
static const char *const rates[] = {"", "0", "12.5", "-1", "1e12", "1.1e12", "x", NULL};
static const char *const flags[] = {"", "1", "0", "yes", "off", "?", "maybe", NULL};

/* Words that a column is made for; all others have counts. */
static const struct {
    enum fit_column column;
    const char *words[16];
} made[] = {
    {COLUMN_id, {"", "y-1999", "y-2021-03", "20231"}},
    {COLUMN_source, {"", "y-1999", "y-2021-03", "20231"}},
    {COLUMN_software,
     {"", "NeMo", "NeMo 25.02", "own fsdp", "own 2023", "own 2025", "HAI-LLM", "torchtitan",
      "MegaScale", "Megatron-LM", "GPT-NeoX 1.0"}},
    {COLUMN_model, {"", "llama3.1-405b", "grok1-314b", "LLAMA3-8B", "nope"}},
    {COLUMN_hw,
     {"NVIDIA H100 80GB HBM3", "A100-SXM4-80GB", "A100 40GB", "a100", "GB200 NVL72", "H200", "xyz",
      ""}},
    {COLUMN_sharding,
     {"", "zero3", "stage-2", "fsdp zero2", "3", "2", "dist", "ddp", "no", "hsdp", "hybrid_shard",
      "fsdp", "x", "none", "zero 1"}},
    {COLUMN_recompute,
     {"", "full", "selective", "1", "no", "full none", "some full", "core_attn", "x"}},
    {COLUMN_precision,
     {"", "fp8", "mxfp8", "NVFP4", "fp16", "half", "tf32", "e4m3", "x", "bf16 amp"}},
    {COLUMN_flops_kind, {"", "hardware", "Model"}},
    {COLUMN_recompute_modules,
     {"", "full", "full:2", "full:x", "core_attn", "mlp+layernorm", "none", "x"}},
    {COLUMN_dispatcher, {"", "DeepEP", "all-to-all", "hybridep", "none", "allgather", "x"}},
    {COLUMN_cuda_graphs, {"", "full_iteration", "attn, moe_router", "none", "moe_router", "x"}},
    {COLUMN_fp8_recipe, {"", "tensorwise", "none", "blockwise", "x"}},
    {COLUMN_grouped_gemm, {"", "loop", "fused", "x"}},
    {COLUMN_cpu_offload, {"", "layers:4", "7", "fine:moe_act", "none", "x", "layers:0", "5000"}},
    {COLUMN_recipe_source,
     {"", "2025-05", "seen 202506.", "2025.07 x", "2025-13", "12025-05", "202505x", "2025-051"}},
    {COLUMN_note,
     {"", "w/o mtp", "rowwise", "tokendrop", "token drop", "dropless", "asynctp", "plain tp",
      "no torch.compile", "torch.compile", "with ROWWISE and more"}},
};

static const char *const *words_of(enum fit_column column)
{
    static const enum fit_column flagged[] = {COLUMN_gated,      COLUMN_seq_par,
                                              COLUMN_compile,    COLUMN_tp_overlap,
                                              COLUMN_token_drop, COLUMN_moe_a2a_overlap};
    static const enum fit_column rated[] = {COLUMN_nic_gbps_per_gpu, COLUMN_iter_s,
                                            COLUMN_tokens_per_s_per_gpu, COLUMN_tflops_per_gpu,
                                            COLUMN_peak_mem_gib};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(made); i++) {
        if (made[i].column == column) {
            return made[i].words;
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(flagged); i++) {
        if (flagged[i] == column) {
            return flags;
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rated); i++) {
        if (rated[i] == column) {
            return rates;
        }
    }
    return counts;
}

/* All that is known of a run, as words "name=value". */
static void put_run(struct myr_buf *out, const struct myr_run *run)
{
    const struct myr_model *m = &run->model;
    const struct myr_layout *l = &run->layout;
    struct myr_fit_cost cost;
    if (run->refused) {
        myr_buf_printf(out, "refused: %s ", run->refused);
        return;
    }
    myr_run_cost(run, &cost);
    myr_buf_printf(out,
                   "layers=%u hidden=%u heads=%u/%u/%u ffn=%u gated=%d vocab=%u seq=%u mtp=%u "
                   "moe=%u,%u,%u shared=%u,%u dense=%u/%u ",
                   m->layer_count, m->hidden, m->head_count, m->kv_head_count, m->head_dim,
                   m->ffn_hidden, m->gated, m->vocab, m->seq_tokens, m->mtp_count,
                   m->moe.expert_count, m->moe.experts_per_token, m->moe.expert_hidden,
                   m->moe.shared_count, m->moe.shared_hidden, m->moe.first_dense, m->moe.interval);
    myr_buf_printf(out,
                   "device=%s domain=%u nic=%g stack=%s%s grid=%u,%u,%u,%u,%u,%u/%u batch=%u/%u "
                   "tokens=%u zero=%u/%u again=%s,%u,%x out=%u sp=%d flash=%d counts=%d ",
                   run->it.device->name, run->it.domain_gpus, run->it.nic_gbps, run->it.stack->name,
                   run->stack_exact ? "" : "?", l->tp, l->pp, l->vp, l->cp, l->dp, l->ep, l->etp,
                   l->micro_batch, l->global_batch, l->seq_tokens, l->zero, l->shard,
                   myr_recompute_name(l->recompute), l->recompute_layers, l->recompute_parts,
                   l->offload_layers, l->sequence_parallel, l->flash_attention, l->output_counts);
    myr_buf_printf(out, "schedule=%s precision=%s grad=%u kernels=%d weights=%d set=%x recipe=",
                   myr_schedule_name(l->schedule), myr_precision_name(l->precision),
                   l->gradient_bytes, (int)l->kernels, (int)l->weights, run->stated.set);
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        myr_buf_printf(out, "%u", run->recipes[l->precision].of[i]);
    }
    myr_buf_printf(out, " gpus=%u/%u etp=%u open=%x guessed=%x fits=%d share=%.4g measured=%.6g ",
                   run->gpus, run->dp, run->etp, run->open, run->guessed, run->fits,
                   run->recompute_share, run->measured_s);
    myr_buf_printf(out, "peak=%.6g cost=%.6g ", run->peak_bytes, cost.step_s);
}

static void put_row(struct myr_buf *text, const struct base *base, uint32_t changed,
                    const char *value)
{
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        const char *is = i == changed ? value : base->fields[i] ? base->fields[i] : "";
        myr_buf_printf(text, "%s\"%s\"", i ? "," : "", is);
    }
    myr_buf_putc(text, '\n');
}

static void put_changed(struct myr_buf *out, const char *before, char *now)
{
    for (char *rest = now; rest && *rest;) {
        char *word = strsep(&rest, " ");
        const char *at = *word ? strstr(before, word) : before;
        bool known = !*word;
        for (; at && !known; at = strstr(at + 1, word)) {
            known = (at == before || at[-1] == ' ') && at[strlen(word)] == ' ';
        }
        if (!known) {
            myr_buf_printf(out, " %s", word);
        }
    }
}

static void put_base(struct myr_buf *out, const struct base *base)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    struct myr_runs runs;
    struct myr_arena own;
    uint32_t at = 1;
    myr_arena_init(&own);
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        myr_buf_printf(&text, "%s%s", i ? "," : "", columns[i]);
    }
    myr_buf_putc(&text, '\n');
    put_row(&text, base, COLUMN_COUNT, NULL);
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        for (const char *const *word = words_of((enum fit_column)c); *word; word++) {
            put_row(&text, base, c, *word);
        }
    }
    assert_int_equal(
        myr_runs_parse(&runs, &own, &profiles, "f", (struct myr_str){text.data, text.len}, NULL),
        MYR_OK);
    assert_true(runs.has_times);
    put_run(&before, &runs.items[0]);
    myr_buf_printf(out, "== %s, %s: %s\n", base->id, runs.items[0].id, before.data);
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        for (const char *const *word = words_of((enum fit_column)c); *word; word++, at++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
            put_run(&now, &runs.items[at]);
            myr_buf_printf(out, "%s %s:", columns[c], *word);
            put_changed(out, before.data, now.data);
            myr_buf_putc(out, '\n');
        }
    }
    assert_int_equal(at, runs.count);
    myr_arena_done(&own);
}

static void every_field_is_read_as_it_was_meant(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bases); i++) {
        put_base(&out, &bases[i]);
    }
    assert_kept("fit-run-fields.txt", &out);
}

static void numbers_are_found_in_words(void **state)
{
    static const struct {
        const char *text;
        bool is;
        uint64_t value;
    } wholes[] = {
        {"12", true, 12},
        {"12.0", true, 12},
        {"1e3", true, 1000},
        {"12.5", false, 0},
        {"-3", false, 0},
        {"1,000", true, 1000},
        {"1 000", true, 1000},
        {"1_000_000", true, 1000000},
        {"12,34", false, 0},
        {"1,0000", false, 0},
        {",000", false, 0},
        {"1000,000", false, 0},
        {"1,000,", false, 0},
        {"1,00,000", false, 0},
        {"123,456", true, 123456},
        {"1,a00", false, 0},
        {"", false, 0},
        {"9e15", false, 0},
        {"8999999999999999", true, 8999999999999999},
        {"8.9e15", true, 8900000000000000},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wholes); i++) {
        uint64_t value = 0;
        bool is = fit_word_whole(myr_str_from(wholes[i].text), &value);
        if (is != wholes[i].is || (is && value != wholes[i].value)) {
            fail_msg("'%s': %d, %llu", wholes[i].text, is, (unsigned long long)value);
        }
    }
    assert_int_equal(fit_word_behind(MYR_STR("layers:40"), "layers:"), 40);
    assert_int_equal(fit_word_behind(MYR_STR("layers:"), "layers:"), 0);
    assert_int_equal(fit_word_behind(MYR_STR("layer:40"), "layers:"), 0);
    assert_int_equal(fit_word_behind(MYR_STR("full:4096"), "full:"), 4096);
    assert_int_equal(fit_word_behind(MYR_STR("full:4097"), "full:"), 0);
    struct myr_str trimmed = fit_word_trim(MYR_STR(" \t a b\t "));
    assert_true(myr_str_eq(trimmed, MYR_STR("a b")));
    assert_int_equal(fit_word_trim(MYR_STR(" \t")).len, 0);
}

static void dates_are_found_in_words(void **state)
{
    static const struct {
        const char *text;
        uint32_t year, month;
    } dates[] = {
        {"", 0, 0},
        {"2024", 2024, 0},
        {"x2024y", 2024, 0},
        {"1999", 0, 0},
        {"2000", 2000, 0},
        {"2099", 2099, 0},
        {"2100", 0, 0},
        {"12024", 0, 0},
        {"20245", 2024, 0},
        {"2024-01", 2024, 202401},
        {"2024.12", 2024, 202412},
        {"202407", 2024, 202407},
        {"2024-00", 2024, 0},
        {"2024-13", 2024, 0},
        {"2024-1", 2024, 0},
        {"2024-011", 2024, 0},
        {"2024/05", 2024, 0},
        {"a 2023, b 2025-02", 2023, 202502},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(dates); i++) {
        struct myr_str text = myr_str_from(dates[i].text);
        if (fit_word_year(text) != dates[i].year || fit_word_month(text) != dates[i].month) {
            fail_msg("'%s': %u, %u", dates[i].text, fit_word_year(text), fit_word_month(text));
        }
    }
}

static void a_table_needs_its_columns(void **state)
{
    static const char *const texts[] = {
        "",
        "software,hw,gpus,gbs,model\n",
        "software,hw,gpus,gbs\n",
        "software,hw,gpus,gbs,layers\n",
        "hw,gpus,gbs,model\n",
        "software,gpus,gbs,model\n",
        "software,hw,gbs,model\n",
        "software,hw,gpus,model\n",
        " Software , HW,GPUs,gbs,model,iter_s\n",
        "software,hw,gpus,gbs,model,tokens_per_s_per_gpu\n",
        "software,hw,gpus,gbs,model\nNeMo,h100,8\n",
        "software,hw,gpus,gbs,model\nNeMo,h100,8,8,llama3-8b,more\n",
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_runs runs = {};
        struct myr_err err = {};
        int rc = myr_runs_parse(&runs, &arena, &profiles, "f", myr_str_from(texts[i]), &err);
        myr_buf_printf(&out, "%d %s, %u runs, times %d%s%s\n", rc, err.message, runs.count,
                       runs.has_times, runs.count && runs.items[0].refused ? ", " : "",
                       runs.count && runs.items[0].refused ? runs.items[0].refused : "");
    }
    assert_kept("fit-run-tables.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read_as_it_was_meant),
        cmocka_unit_test(numbers_are_found_in_words),
        cmocka_unit_test(dates_are_found_in_words),
        cmocka_unit_test(a_table_needs_its_columns),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
