#include "myriad/work/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "work_test.h"

/* DeepSeek-V3 on 2,048 GPUs: PP16, EP64, no tensor parallelism. */
static struct myr_layout good_layout(void)
{
    struct myr_layout layout = myr_layout_default();
    layout.pp = 16;
    layout.dp = 128;
    layout.ep = 64;
    layout.global_batch = 15360;
    return layout;
}

static void assert_broken(const struct myr_layout *layout, const struct myr_model *model,
                          uint64_t gpus, enum myr_layout_rule rule, const char *message)
{
    struct myr_err err = {};
    assert_int_equal(myr_layout_broken(layout, model, gpus), rule);
    assert_int_equal(myr_layout_check(layout, model, gpus, &err), MYR_EINVAL);
    assert_string_equal(err.message, message);
}

static void published_layouts_are_legal(void **state)
{
    (void)state;
    struct myr_model deepseek = test_model("deepseek-v3");
    struct myr_layout layout = good_layout();
    struct myr_err err = {};
    assert_int_equal(myr_layout_check(&layout, &deepseek, 2048, &err), MYR_OK);
    assert_int_equal(myr_layout_edp(&layout), 2);
    assert_int_equal(myr_layout_micro_batches(&layout), 120);

    /* Llama 3 405B, 16,384 GPUs: TP8 PP16 DP128; and CP16 at 131,072 tokens. */
    struct myr_model llama = test_model("llama3-405b");
    layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 16;
    layout.dp = 128;
    layout.global_batch = 2048;
    layout.sequence_parallel = true;
    assert_int_equal(myr_layout_check(&layout, &llama, 16384, &err), MYR_OK);
    layout.cp = 16;
    layout.dp = 8;
    layout.seq_tokens = 131072;
    layout.global_batch = 128;
    assert_int_equal(myr_layout_check(&layout, &llama, 16384, &err), MYR_OK);
    /* 576 H100: TP8 PP9 VP7 CP2. */
    layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 9;
    layout.vp = 7;
    layout.cp = 2;
    layout.dp = 4;
    layout.global_batch = 252;
    layout.schedule = MYR_SCHEDULE_INTERLEAVED;
    assert_int_equal(myr_layout_check(&layout, &llama, 576, &err), MYR_OK);
    /* 16 stages of 8 chunks for 126 layers, embedding and output. */
    layout.pp = 16;
    layout.vp = 8;
    layout.cp = 1;
    layout.global_batch = 64;
    assert_int_equal(myr_layout_check(&layout, &llama, 512, &err), MYR_OK);
}

static void rules_of_sizes_name_what_is_wrong(void **state)
{
    (void)state;
    struct myr_model model = test_model("deepseek-v3");
    struct myr_layout l = good_layout();
    assert_broken(&l, &model, 1024, MYR_LAYOUT_GPUS,
                  "layout rule 'gpus': tp 1 x cp 1 x dp 128 x pp 16 = 2048 GPUs, there are 1024");
    l.dp = 0;
    assert_broken(&l, &model, 0, MYR_LAYOUT_SIZES,
                  "layout rule 'sizes': tp 1, cp 1, dp 0, pp 16, vp 1, ep 64, etp 1, zero 1, "
                  "micro_batch 1, global_batch 15360, gradient_bytes 0: each size is at least 1, "
                  "zero at most 3, GPUs at most 16777216, gradient_bytes 2 or 4");
    l = good_layout();
    l.tp = l.cp = l.dp = l.pp = UINT32_MAX; /* no product overflows on the way */
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_SIZES);
    l.tp = l.cp = l.dp = l.pp = MYR_LAYOUT_GPUS_MAX;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_SIZES);
    l = good_layout();
    l.gradient_bytes = 3;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_SIZES);
    l = good_layout();
    l.order[0] = MYR_AXIS_PP;
    assert_broken(&l, &model, 0, MYR_LAYOUT_ORDER,
                  "layout rule 'order': the order must name tp, cp, ep, dp and pp once each");
    l = good_layout();
    l.ep = 256;
    assert_broken(&l, &model, 0, MYR_LAYOUT_EXPERT_GRID,
                  "layout rule 'expert-grid': etp 1 x ep 256 does not divide tp 1 x cp 1 x dp 128, "
                  "the ranks of a stage");
    l = good_layout();
    l.order[3] = MYR_AXIS_PP;
    l.order[4] = MYR_AXIS_DP;
    assert_broken(&l, &model, 0, MYR_LAYOUT_EXPERT_ORDER,
                  "layout rule 'expert-order': with this order the experts' grid cuts across "
                  "pipeline stages; put pp last");
    l = good_layout();
    l.shard = 96;
    assert_broken(&l, &model, 0, MYR_LAYOUT_SHARD,
                  "layout rule 'shard': shard 96 with ZeRO-1: it must be a piece of cp 1, or cp "
                  "times a divisor of dp 128, leave whole copies of 2 expert ranks, and need ZeRO");
    l.shard = 64;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_OK);
    l.zero = 0;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_SHARD);
}

static void rules_of_widths_name_what_is_wrong(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-8b");
    struct myr_layout l = myr_layout_default();
    l.tp = 3;
    assert_broken(&l, &model, 0, MYR_LAYOUT_HEADS,
                  "layout rule 'heads': 32 heads cannot be cut into tp 3");
    l.tp = 16; /* 8 key/value heads, each on two ranks */
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_OK);
    model.kv_head_count = 4;
    model.head_count = 36;
    l.tp = 6;
    assert_broken(&l, &model, 0, MYR_LAYOUT_KV_HEADS,
                  "layout rule 'kv-heads': 4 key/value heads can neither be cut into nor repeated "
                  "over tp 6");
    l.tp = 12;
    assert_broken(&l, &model, 0, MYR_LAYOUT_FFN,
                  "layout rule 'ffn': an FFN width of 14336 (shared experts 0) cannot be cut into "
                  "tp 12");
    l = myr_layout_default();
    l.dp = 2;
    l.ep = 2;
    assert_broken(&l, &model, 0, MYR_LAYOUT_NO_EXPERTS,
                  "layout rule 'no-experts': ep 2 and etp 1, but the model has no experts");

    model = test_model("mixtral-8x7b");
    l.dp = l.ep = 3;
    assert_broken(&l, &model, 0, MYR_LAYOUT_EXPERTS,
                  "layout rule 'experts': 8 experts cannot be dealt to ep 3");
    l = myr_layout_default();
    l.tp = l.ep = 2;
    l.dp = 6;
    l.etp = 3;
    l.global_batch = 6;
    assert_broken(&l, &model, 0, MYR_LAYOUT_EXPERT_FFN,
                  "layout rule 'expert-ffn': an expert width of 14336 cannot be cut into etp 3");
    l.etp = 1;
    assert_broken(&l, &model, 0, MYR_LAYOUT_EXPERT_TOKENS,
                  "layout rule 'expert-tokens': tp 2 with ep 2 and etp 1 needs sequence_parallel: "
                  "true");
    l.sequence_parallel = true;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_OK);
}

static void rules_of_the_run_name_what_is_wrong(void **state)
{
    (void)state;
    struct myr_model model = test_model("gpt3-175b");
    struct myr_layout l = myr_layout_default();
    l.pp = 99;
    assert_broken(&l, &model, 0, MYR_LAYOUT_LAYERS,
                  "layout rule 'layers': pp 99 x vp 1 chunks are more than 96 layers can fill");
    l.pp = 4;
    l.first_layers = 20;
    l.last_layers = 21;
    assert_broken(&l, &model, 0, MYR_LAYOUT_STAGE_LAYERS,
                  "layout rule 'stage-layers': first_layers 20 and last_layers 21 of 96 layers do "
                  "not leave equal chunks for pp 4 x vp 1");
    l.last_layers = 22;
    assert_int_equal(myr_layout_broken(&l, &model, 0), MYR_LAYOUT_OK);
    l = myr_layout_default();
    l.pp = 4;
    l.vp = 2;
    assert_broken(&l, &model, 0, MYR_LAYOUT_SCHEDULE,
                  "layout rule 'schedule': pp 4 x vp 2 does not suit the schedule: 'interleaved' "
                  "is for vp > 1 and pp > 1, all others for vp 1, 'dualpipe' for an even pp");
    l.schedule = MYR_SCHEDULE_INTERLEAVED;
    l.global_batch = 6;
    assert_broken(&l, &model, 0, MYR_LAYOUT_MICRO_BATCHES,
                  "layout rule 'micro-batches': 6 micro-batches a step do not suit the schedule: a "
                  "multiple of pp 4 for 'interleaved', even and at least 8 for 'dualpipe'");
    l.dp = 4;
    assert_broken(&l, &model, 0, MYR_LAYOUT_BATCH,
                  "layout rule 'batch': a global batch of 6 is no multiple of micro_batch 1 x dp "
                  "4");
    l = myr_layout_default();
    l.cp = 3;
    assert_broken(&l, &model, 0, MYR_LAYOUT_SEQUENCE,
                  "layout rule 'sequence': a sequence of 2048 tokens cannot be cut into 2 x cp 3 "
                  "pieces");
    l.cp = 1;
    l.tp = 12;
    l.sequence_parallel = true;
    assert_broken(&l, &model, 0, MYR_LAYOUT_SEQUENCE,
                  "layout rule 'sequence': a sequence of 2048 tokens cannot be cut into 12 parts "
                  "(cp 1 x tp 12, sequence parallel)");
    l = myr_layout_default();
    l.seq_tokens = 4096;
    assert_broken(&l, &model, 0, MYR_LAYOUT_POSITIONS,
                  "layout rule 'positions': a sequence of 4096 tokens is longer than the model's "
                  "2048 positions");
}

static int parse(const char *text, uint64_t gpus, struct myr_layout *ret, struct myr_err *err)
{
    struct myr_arena arena = {};
    const struct myr_doc *doc;
    int rc = myr_doc_read_yaml(&arena, "job.yaml", myr_str_from(text), &doc, err);
    const struct myr_doc *map = rc == MYR_OK ? myr_doc_get(doc, "layout") : NULL;
    if (rc == MYR_OK) {
        rc = myr_layout_parse(map ? map : doc, gpus, ret, err);
    }
    myr_arena_done(&arena);
    return rc;
}

static void a_layout_block_is_read_and_what_is_missing_follows(void **state)
{
    (void)state;
    struct myr_layout l = {};
    struct myr_err err = {};
    assert_int_equal(parse("{tp: 8, pp: 8, vp: 3, micro_batch: 2, zero: 2, recompute: selective}",
                           1024, &l, &err),
                     MYR_OK);
    assert_int_equal(l.dp, 16);
    assert_int_equal(l.global_batch, 32);
    assert_int_equal(l.zero, 2);
    assert_true(l.sequence_parallel);
    assert_int_equal(l.recompute, MYR_RECOMPUTE_SELECTIVE);
    assert_int_equal(l.schedule, MYR_SCHEDULE_INTERLEAVED);
    assert_int_equal(parse("{order: dp-tp-pp-cp}", 0, &l, &err), MYR_OK);
    const enum myr_axis order[] = {MYR_AXIS_EP, MYR_AXIS_DP, MYR_AXIS_TP, MYR_AXIS_PP, MYR_AXIS_CP};
    assert_memory_equal(l.order, order, sizeof(order));
}

static void assert_refused(const char *text, uint64_t gpus, const char *message)
{
    struct myr_layout l = {.tp = 77};
    struct myr_err err = {};
    assert_int_not_equal(parse(text, gpus, &l, &err), MYR_OK);
    assert_string_equal(err.message, message);
    assert_int_equal(l.tp, 77);
}

static void mistakes_in_a_layout_block_get_one_line_with_the_place(void **state)
{
    (void)state;
    assert_refused("{tp: 0}", 0,
                   "job.yaml:1:6: 'tp' is '0', a whole number from 1 to 16,777,216 is expected");
    assert_refused("layout:\n  tp: 8\n  pq: 2\n", 0,
                   "job.yaml:3:3: unknown key 'pq' in layout; did you mean 'pp'?");
    assert_refused("{zero: 4}", 0,
                   "job.yaml:1:8: 'zero' is '4', a whole number from 0 to 3 is expected");
    assert_refused("{tp: 3}", 1024, "job.yaml:1:1: tp 3 x cp 1 x pp 1 does not divide 1024 GPUs");
    assert_refused("{order: tp-cp-dp}", 0,
                   "job.yaml:1:9: 'order' must name tp, cp, ep, dp and pp once each, fastest "
                   "first, such as tp-cp-ep-dp-pp");
    assert_refused("{order: tp-cp-ep-dp-dp}", 0,
                   "job.yaml:1:9: 'order' must name tp, cp, ep, dp and pp once each, fastest "
                   "first, such as tp-cp-ep-dp-pp");
    assert_refused("{recompute: partly}", 0,
                   "job.yaml:1:13: 'recompute' is 'partly', one of none, selective, full is "
                   "expected");
    assert_refused("[8, 8]", 0, "job.yaml:1:1: 'layout' is a list, a map of keys is expected");
}

static void a_written_layout_reads_back_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 3);
        struct myr_layout layout = test_random_layout(&rng, true);
        layout.seq_tokens = myr_rng_below(&rng, 3) * 1024;
        layout.first_layers = myr_rng_below(&rng, 3);
        layout.gradient_bytes = 2 * myr_rng_below(&rng, 3);
        layout.precision = (enum myr_precision)myr_rng_below(&rng, 6);
        struct myr_buf buf = {};
        struct myr_layout back;
        struct myr_err err = {};
        memset(&back, 0, sizeof(back));
        myr_layout_write(&buf, &layout);
        if (parse(buf.data, 0, &back, &err) != MYR_OK) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        struct myr_buf again = {};
        myr_layout_write(&again, &back);
        assert_string_equal(buf.data, again.data);
        assert_int_equal(back.dp, layout.dp);
        assert_int_equal(back.shard, layout.shard);
        assert_int_equal(back.schedule, layout.schedule);
        assert_memory_equal(back.order, layout.order, sizeof(back.order));
        myr_buf_done(&buf);
        myr_buf_done(&again);
    }
}

/* What a file does not say is what the question says; what is no layout file is called so. */
static void a_layout_file_and_what_it_lacks(void **state)
{
    (void)state;
    static const struct myr_layout_rest rest = {.gpus = 16, .batch = 64, .seq = 2048};
    static const struct {
        const char *text;
        bool asked;                   /* beside a question */
        uint32_t dp, batch, sequence; /* or 0, and the words */
        const char *words;
    } files[] = {
        {"layout: {tp: 2, dp: 8, global_batch: 32, sequence: 128}\n", true, 8, 32, 128, NULL},
        {"layout: {tp: 2, dp: 8, sequence: 128}\n", true, 8, 64, 128, NULL},
        {"layout: {tp: 2, dp: 8, global_batch: 32}\n", true, 8, 32, 2048, NULL},
        {"layout: {tp: 2}\n", true, 8, 64, 2048, NULL},
        {"schema: myriad.layout\nversion: 1\nlayout: {tp: 2, dp: 1}\n", true, 1, 64, 2048, NULL},
        {"layout: {tp: 2, dp: 3, global_batch: 6, sequence: 8}\n", false, 3, 6, 8, NULL},
        {"schema: myriad.fit\nlayout: {tp: 2}\n", true, 0, 0, 0, "myriad.layout is expected"},
        {"schema: myriad.layout\nversion: 2\nlayout: {tp: 2}\n", true, 0, 0, 0, "from 1 to 1"},
        {"tp: 2\n", true, 0, 0, 0, "a map with the key 'layout' is expected"},
        {"schema: myriad.layout\n", true, 0, 0, 0, "layout"},
        {"layout: 2\n", true, 0, 0, 0, "layout"},
        {"layout: {tp: 2}\nmore: 1\n", true, 0, 0, 0, "more"},
        {"[]\n", true, 0, 0, 0, "a layout file"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        struct myr_layout layout = {};
        int rc = myr_layout_file_parse(&arena, "x.yaml", myr_str_from(files[i].text),
                                       files[i].asked ? &rest : NULL, &layout, &err);
        if ((rc == MYR_OK) != !files[i].words || (rc < 0 && !strstr(err.message, files[i].words))) {
            fail_msg("%s: %s", files[i].text, err.message);
        }
        assert_int_equal(layout.dp, files[i].dp);
        assert_int_equal(layout.global_batch, files[i].batch);
        assert_int_equal(layout.seq_tokens, files[i].sequence);
        myr_arena_done(&arena);
    }
}

static void words_are_a_layout_block_on_one_line(void **state)
{
    (void)state;
    struct myr_layout words, block;
    struct myr_err err = {};
    assert_int_equal(
        myr_layout_words("--layout", "tp=8,pp=4,zero=3,recompute=full", 256, &words, &err), MYR_OK);
    assert_int_equal(parse("{tp: 8, pp: 4, zero: 3, recompute: full}", 256, &block, &err), MYR_OK);
    assert_memory_equal(&words, &block, sizeof(words));
    assert_int_equal(words.dp, 8);
    static const char *const bad[] = {"tp", "tp=x", "tp=8,,pp=2", "sp=4", "tp=8}", "tp=8,tp=4"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(myr_layout_words("--layout", bad[i], 256, &words, &err) < 0);
        assert_int_equal(strncmp(err.message, "--layout:1:", 11), 0);
    }
}

/* What has '=' and no '/' is words; all else is a file, and is refused as one. */
static void what_an_option_gives_is_words_or_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"tp=2", NULL},         {"tp=2,pp=2", NULL},    {"tp=x", "--of:1:"},
        {"no-such", "no-such"}, {"no/such", "no/such"}, {"no/such=2", "no/such=2"},
        {"./tp=2", "./tp=2"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_arena arena = {};
        struct myr_layout layout;
        struct myr_err err = {};
        myr_arena_init(&arena);
        int rc = myr_layout_given(&arena, "--of", rows[i].text, 8, &layout, &err);
        if ((rc == MYR_OK) != !rows[i].says) {
            fail_msg("%s: %d, %s", rows[i].text, rc, err.message);
        }
        if (rc < 0) {
            assert_int_equal(strncmp(err.message, rows[i].says, strlen(rows[i].says)), 0);
        } else {
            assert_int_equal(layout.tp, 2);
        }
        myr_arena_done(&arena);
    }
}

/* As recipes write them: any of the parts, with ';' between them. */
static void parts_that_are_computed_again(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint32_t parts;
    } rows[] = {
        {"core_attn", MYR_AGAIN(CORE_ATTENTION)},
        {"mlp", MYR_AGAIN(FFN)},
        {"moe_act", MYR_AGAIN(EXPERT_ACTIVATION)},
        {"mla_up_proj", MYR_AGAIN(LATENT_UP)},
        {"layernorm", MYR_AGAIN(NORM)},
        {"act", MYR_AGAIN(ACTIVATION)},
        {"mla_up_proj;mlp", MYR_AGAIN(LATENT_UP) | MYR_AGAIN(FFN)},
        {"act;layernorm;act;", MYR_AGAIN(ACTIVATION) | MYR_AGAIN(NORM)},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[120];
        snprintf(text, sizeof(text), "{tp: 1, recompute_parts: %s}\n", rows[i].words);
        struct myr_layout layout = {};
        struct myr_err err = {};
        assert_int_equal(parse(text, 8, &layout, &err), MYR_OK);
        assert_int_equal(layout.recompute_parts, rows[i].parts);
    }
    static const char *const bad[] = {"mlps", "mlp;;act", "Mlp"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        char text[120];
        snprintf(text, sizeof(text), "{tp: 1, recompute_parts: %s}\n", bad[i]);
        assert_refused(text, 8,
                       "job.yaml:1:26: 'recompute_parts' takes core_attn, mlp, moe_act, "
                       "mla_up_proj, layernorm and act, with ';' between them");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_layouts_are_legal),
        cmocka_unit_test(rules_of_sizes_name_what_is_wrong),
        cmocka_unit_test(rules_of_widths_name_what_is_wrong),
        cmocka_unit_test(rules_of_the_run_name_what_is_wrong),
        cmocka_unit_test(a_layout_block_is_read_and_what_is_missing_follows),
        cmocka_unit_test(mistakes_in_a_layout_block_get_one_line_with_the_place),
        cmocka_unit_test(a_written_layout_reads_back_the_same),
        cmocka_unit_test(a_layout_file_and_what_it_lacks),
        cmocka_unit_test(words_are_a_layout_block_on_one_line),
        cmocka_unit_test(what_an_option_gives_is_words_or_a_file),
        cmocka_unit_test(parts_that_are_computed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
