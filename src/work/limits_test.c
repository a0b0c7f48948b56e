#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/work.h"
#include "work_test.h"

/* One number of a file: both ends are taken, what lies beyond is refused with the range. */
struct limit {
    const char *text; /* with one %s for the number */
    uint64_t least, most;
};

typedef int read_fn(struct myr_arena *arena, const struct myr_doc *doc, struct myr_err *err);

static int read_model(struct myr_arena *arena, const struct myr_doc *doc, struct myr_err *err)
{
    struct myr_model model;
    return myr_model_parse(arena, doc, &model, err);
}

static int read_layout(struct myr_arena *arena, const struct myr_doc *doc, struct myr_err *err)
{
    (void)arena;
    struct myr_layout layout;
    return myr_layout_parse(doc, 0, &layout, err);
}

static void assert_limits(const struct limit *limit, read_fn *read)
{
    const char *at = strstr(limit->text, "%s");
    const int64_t numbers[] = {(int64_t)limit->least - 1, (int64_t)limit->least,
                               (int64_t)limit->most, (int64_t)limit->most + 1};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        struct myr_arena arena = {};
        struct myr_err err = {};
        const struct myr_doc *doc;
        const char *text = myr_arena_printf(&arena, "%.*s%lld%s", (int)(at - limit->text),
                                            limit->text, (long long)numbers[i], at + 2);
        assert_int_equal(myr_doc_read_yaml(&arena, "x.yaml", myr_str_from(text), &doc, &err), 0);
        bool good = i == 1 || i == 2;
        if ((read(&arena, doc, &err) == MYR_OK) != good) {
            fail_msg("%s: %s", text, good ? err.message : "was read");
        }
        /* Below it is the key's own bound, and not that of a rule that comes later. */
        const char *words = i == 0 ? "a whole number from" : "expected";
        if (!good && !strstr(err.message, words)) {
            fail_msg("%s: %s", text, err.message);
        }
        myr_arena_done(&arena);
    }
}

static void numbers_of_a_model_have_limits(void **state)
{
    (void)state;
#define REST(layers, hidden, heads, vocab, sequence)                          \
    "layers: " layers ", hidden: " hidden ", heads: " heads ", vocab: " vocab \
    ", sequence: " sequence
#define FFN ", head_dim: 1, ffn: 4}\n"
#define MLA ", mla: {kv_rank: 1, nope_dim: 1, rope_dim: 0, v_dim: 1"
#define MOE ", head_dim: 1, moe: {experts: 4, top_k: 1, ffn: 2"
#define DELTA(keys, key_dim, values, value_dim)                                \
    "{delta: {key_heads: " keys ", key_dim: " key_dim ", value_heads: " values \
    ", value_dim: " value_dim
    static const struct limit limits[] = {
        {"{" REST("%s", "8", "2", "10", "4") FFN, 1, 4096},
        {"{" REST("2", "%s", "2", "10", "4") FFN, 1, 1U << 18},
        {"{" REST("2", "8", "%s", "10", "4") FFN, 1, 1U << 12},
        {"{" REST("2", "8", "2", "%s", "4") FFN, 1, 1U << 26},
        {"{" REST("2", "8", "2", "10", "%s") FFN, 1, 1U << 24},
        {"{kv_heads: %s, " REST("2", "8", "4096", "10", "4") FFN, 1, 1U << 12},
        {"{head_dim: %s, " REST("2", "8", "2", "10", "4") ", ffn: 4}\n", 1, 1U << 14},
        {"{ffn: %s, " REST("2", "8", "2", "10", "4") "}\n", 1, 1U << 21},
        {"{mtp: %s, " REST("2", "8", "2", "10", "4") FFN, 0, 16},
        {"{norms_per_layer: %s, " REST("2", "8", "2", "10", "4") FFN, 0, 8},
        {"{positions: learned, max_positions: %s, " REST("2", "8", "2", "10", "4") FFN, 1,
         1U << 24},
        {"{window: {tokens: %s}, " REST("2", "8", "2", "10", "4") FFN, 1, 1U << 24},
        {"{window: {tokens: 1, full_every: %s}, " REST("2", "8", "2", "10", "4") FFN, 0, 4096},
        {"{" REST("2", "8", "2", "10", "4") MLA ", q_rank: %s}, ffn: 4}\n", 0, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", mla: {kv_rank: %s, nope_dim: 1, rope_dim: 0, v_dim: 1}, ffn: 4}\n",
         1, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", mla: {kv_rank: 1, nope_dim: %s, rope_dim: 0, v_dim: 1}, ffn: 4}\n",
         1, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", mla: {kv_rank: 1, nope_dim: 1, rope_dim: %s, v_dim: 1}, ffn: 4}\n",
         0, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", mla: {kv_rank: 1, nope_dim: 1, rope_dim: 0, v_dim: %s}, ffn: 4}\n",
         1, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", head_dim: 1, moe: {experts: %s, top_k: 1, ffn: 2}}\n",
         1, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", head_dim: 1, moe: {experts: 16384, top_k: %s, ffn: 2}}\n",
         1, 1U << 14},
        {"{" REST("2", "8", "2", "10",
                  "4") ", head_dim: 1, moe: {experts: 4, top_k: 1, ffn: %s}}\n",
         1, 1U << 21},
        {"{" REST("2", "8", "2", "10", "4") MOE ", shared: %s}}\n", 0, 1U << 14},
        {"{" REST("2", "8", "2", "10", "4") MOE ", shared: 1, shared_ffn: %s}}\n", 1, 1U << 21},
        {"{ffn: 2, " REST("4096", "8", "2", "10", "4") MOE ", first_dense: %s}}\n", 0, 4095},
        {"{ffn: 2, " REST("2", "8", "2", "10", "4") MOE ", interval: %s}}\n", 1, 4096},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(limits); i++) {
        assert_limits(&limits[i], read_model);
    }
}

static void numbers_of_indexers_and_linear_layers_have_limits(void **state)
{
    (void)state;
    static const struct limit limits[] = {
        {"{activation_weights: %s, " REST("2", "8", "2", "10", "4") FFN, 0, 1U << 14},
        {"{indexer: {heads: %s, dim: 1, tokens: 1}, " REST("2", "8", "2", "10", "4") MLA
         "}, ffn: 4}\n",
         1, 1U << 12},
        {"{indexer: {heads: 1, dim: %s, tokens: 1}, " REST("2", "8", "2", "10", "4") MLA
         "}, ffn: 4}\n",
         1, 1U << 14},
        {"{indexer: {heads: 1, dim: 1, tokens: %s}, " REST("2", "8", "2", "10", "4") MLA
         "}, ffn: 4}\n",
         1, 1U << 24},
        {DELTA("%s", "1", "4096", "1") "}, " REST("2", "8", "2", "10", "4") FFN, 1, 1U << 12},
        {DELTA("1", "%s", "1", "1") "}, " REST("2", "8", "2", "10", "4") FFN, 1, 1U << 14},
        {DELTA("1", "1", "%s", "1") "}, " REST("2", "8", "2", "10", "4") FFN, 1, 1U << 12},
        {DELTA("1", "1", "1", "%s") "}, " REST("2", "8", "2", "10", "4") FFN, 1, 1U << 14},
        {DELTA("1", "1", "1", "1") ", taps: %s}, " REST("2", "8", "2", "10", "4") FFN, 0, 1U << 14},
        {DELTA("1", "1", "1", "1") ", full_every: %s}, " REST("2", "8", "2", "10", "4") FFN, 0,
         4096},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(limits); i++) {
        assert_limits(&limits[i], read_model);
    }
}

static void numbers_of_a_layout_have_limits(void **state)
{
    (void)state;
    static const struct limit limits[] = {
        {"tp: %s\n", 1, 1U << 24},
        {"cp: %s\n", 1, 1U << 24},
        {"dp: %s\n", 1, 1U << 24},
        {"pp: %s\n", 1, 1U << 24},
        {"vp: %s\n", 1, 1024},
        {"ep: %s\n", 1, 1U << 24},
        {"etp: %s\n", 1, 1U << 24},
        {"zero: %s\n", 0, 3},
        {"shard: %s\n", 1, 1U << 24},
        {"micro_batch: %s\n", 1, 1U << 24},
        {"global_batch: %s\n", 1, 1U << 24},
        {"gradient_bytes: %s\n", 2, 4},
        {"sequence: %s\n", 1, 1U << 24},
        {"first_layers: %s\n", 1, 4096},
        {"last_layers: %s\n", 1, 4096},
        {"recompute_layers: %s\n", 1, 4096},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(limits); i++) {
        assert_limits(&limits[i], read_layout);
    }
}

/* The same limits hold for values that did not come from a file. */
static void a_layout_in_memory_has_the_same_limits(void **state)
{
    (void)state;
    struct myr_model model = test_model("gpt3-175b");
    struct myr_layout good = myr_layout_default();
    good.zero = 0;
    assert_int_equal(myr_layout_broken(&good, &model, 0), MYR_LAYOUT_OK);
#define BROKEN(member, value)                                                    \
    do {                                                                         \
        struct myr_layout bad_ = good;                                           \
        bad_.member = (value);                                                   \
        assert_int_equal(myr_layout_broken(&bad_, &model, 0), MYR_LAYOUT_SIZES); \
    } while (0)
    BROKEN(tp, 0);
    BROKEN(cp, 0);
    BROKEN(dp, 0);
    BROKEN(pp, 0);
    BROKEN(ep, 0);
    BROKEN(vp, 0);
    BROKEN(micro_batch, 0);
    BROKEN(global_batch, 0);
    BROKEN(tp, MYR_LAYOUT_GPUS_MAX + 1);
    BROKEN(etp, MYR_LAYOUT_GPUS_MAX + 1);
    BROKEN(ep, MYR_LAYOUT_GPUS_MAX + 1);
    BROKEN(vp, MYR_LAYOUT_VP_MAX + 1);
    BROKEN(zero, 4);
    BROKEN(micro_batch, MYR_LAYOUT_BATCH_MAX + 1);
    BROKEN(global_batch, MYR_LAYOUT_BATCH_MAX + 1);
    BROKEN(seq_tokens, MYR_MODEL_SEQ_MAX + 1);
    BROKEN(first_layers, MYR_MODEL_LAYERS_MAX + 1);
    BROKEN(last_layers, MYR_MODEL_LAYERS_MAX + 1);
    BROKEN(recompute_layers, MYR_MODEL_LAYERS_MAX + 1);
    BROKEN(gradient_bytes, 1);
    /* Together at most so many GPUs, the experts' own axis not counted. */
    struct myr_layout large = good;
    large.dp = MYR_LAYOUT_GPUS_MAX / 8;
    large.tp = 8;
    large.global_batch = large.dp;
    assert_int_not_equal(myr_layout_broken(&large, &model, 0), MYR_LAYOUT_SIZES);
    large.tp = 16;
    assert_int_equal(myr_layout_broken(&large, &model, 0), MYR_LAYOUT_SIZES);
}

static void a_model_in_memory_has_the_same_limits(void **state)
{
    (void)state;
    struct myr_model good = test_model("deepseek-v3");
    struct myr_err err = {};
    assert_int_equal(myr_model_check(&good, &err), MYR_OK);
#define REFUSED(member, value, what)                             \
    do {                                                         \
        struct myr_model bad_ = good;                            \
        bad_.member = (value);                                   \
        assert_true(myr_model_check(&bad_, &err) < 0);           \
        if (!strstr(err.message, what)) {                        \
            fail_msg("'%s' is not about %s", err.message, what); \
        }                                                        \
    } while (0)
    REFUSED(layer_count, MYR_MODEL_LAYERS_MAX + 1, "'layers'");
    REFUSED(hidden, 0, "'hidden'");
    REFUSED(hidden, MYR_MODEL_HIDDEN_MAX + 1, "'hidden'");
    REFUSED(head_count, 0, "'heads'");
    REFUSED(kv_head_count, 0, "'kv_heads'");
    REFUSED(kv_head_count, 3, "cannot share 3 key/value heads evenly");
    REFUSED(ffn_hidden, MYR_MODEL_FFN_MAX + 1, "'ffn'");
    REFUSED(vocab, 0, "'vocab'");
    REFUSED(seq_tokens, 0, "'sequence'");
    REFUSED(position_max, MYR_MODEL_SEQ_MAX + 1, "'max_positions'");
    REFUSED(positions, MYR_POSITIONS_LEARNED, "'max_positions'"); /* none are given */
    REFUSED(norms_per_layer, MYR_MODEL_NORMS_MAX + 1, "'norms_per_layer'");
    REFUSED(mtp_count, MYR_MODEL_MTP_MAX + 1, "'mtp'");
    REFUSED(window_tokens, MYR_MODEL_SEQ_MAX + 1, "'window'");
    REFUSED(full_every, MYR_MODEL_LAYERS_MAX + 1, "'full_every'");
    REFUSED(mla.q_rank, MYR_MODEL_DIM_MAX + 1, "'mla.q_rank'");
    REFUSED(mla.nope_dim, 0, "'mla.nope_dim'");
    REFUSED(mla.v_dim, 0, "'mla.v_dim'");
    REFUSED(moe.experts_per_token, 0, "'moe.top_k'");
    REFUSED(moe.expert_hidden, 0, "'moe.ffn'");
    REFUSED(moe.shared_hidden, 0, "'moe.shared_ffn'");
    REFUSED(moe.first_dense, good.layer_count, "'moe.first_dense'");
    REFUSED(moe.interval, 0, "'moe.interval'");
    struct myr_model dense = test_model("gpt3-175b");
    dense.ffn_hidden = 0;
    assert_true(myr_model_check(&dense, &err) < 0);
    assert_string_equal(err.message, "'ffn' is 0 and there are no experts");
    dense = test_model("gpt3-175b");
    dense.window_tokens = 1;
    dense.causal = false;
    assert_true(myr_model_check(&dense, &err) < 0);
    assert_string_equal(err.message, "a window needs causal attention");
}

/* A model that has everything of one kind, so small that any one number may be the largest. */
enum kind { PLAIN, LEARNED, LATENT, INDEXED, LINEAR, EXPERTS };

static struct myr_model tiny_model(enum kind kind)
{
    struct myr_model m = {.name = "tiny",
                          .layer_count = 2,
                          .hidden = 8,
                          .head_count = 1,
                          .kv_head_count = 1,
                          .head_dim = 1,
                          .ffn_hidden = 1,
                          .causal = true,
                          .vocab = 2,
                          .seq_tokens = 1,
                          .moe.interval = 1};
    m.positions = kind == LEARNED ? MYR_POSITIONS_LEARNED : m.positions;
    m.position_max = kind == LEARNED ? 1 : 0;
    if (kind == LATENT || kind == INDEXED) {
        m.mla = (struct myr_mla){.kv_rank = 1, .nope_dim = 1, .rope_dim = 1, .v_dim = 1};
    }
    m.indexer = kind == INDEXED ? (struct myr_indexer){1, 1, 1} : m.indexer;
    m.delta = kind == LINEAR ? (struct myr_delta){1, 1, 1, 1, 0} : m.delta;
    if (kind == EXPERTS) {
        m.moe = (struct myr_moe){.expert_count = 1,
                                 .experts_per_token = 1,
                                 .expert_hidden = 1,
                                 .shared_count = 1,
                                 .shared_hidden = 1,
                                 .interval = 1};
    }
    return m;
}

#define OF(member) offsetof(struct myr_model, member)
static const struct {
    enum kind kind;
    const char *name;
    size_t at;
    uint32_t min, max;
} ends[] = {
    {PLAIN, "layers", OF(layer_count), 1, 4096},
    {PLAIN, "hidden", OF(hidden), 1, 1U << 18},
    {PLAIN, "heads", OF(head_count), 1, 1U << 12},
    {PLAIN, "kv_heads", OF(kv_head_count), 1, 1U << 12},
    {PLAIN, "head_dim", OF(head_dim), 1, 1U << 15},
    {PLAIN, "ffn", OF(ffn_hidden), 0, 1U << 21},
    {PLAIN, "vocab", OF(vocab), 1, 1U << 26},
    {PLAIN, "sequence", OF(seq_tokens), 1, 1U << 24},
    {PLAIN, "max_positions", OF(position_max), 0, 1U << 24},
    {LEARNED, "max_positions", OF(position_max), 1, 1U << 24},
    {PLAIN, "norms_per_layer", OF(norms_per_layer), 0, 8},
    {PLAIN, "mtp", OF(mtp_count), 0, 16},
    {PLAIN, "window", OF(window_tokens), 0, 1U << 24},
    {PLAIN, "full_every", OF(full_every), 0, 4096},
    {PLAIN, "activation_weights", OF(activation_weights), 0, 1U << 14},
    {LATENT, "mla.q_rank", OF(mla.q_rank), 0, 1U << 14},
    {LATENT, "mla.kv_rank", OF(mla.kv_rank), 1, 1U << 14},
    {LATENT, "mla.nope_dim", OF(mla.nope_dim), 1, 1U << 14},
    {LATENT, "mla.rope_dim", OF(mla.rope_dim), 0, 1U << 14},
    {LATENT, "mla.v_dim", OF(mla.v_dim), 1, 1U << 14},
    {INDEXED, "indexer.heads", OF(indexer.head_count), 0, 1U << 12},
    {INDEXED, "indexer.dim", OF(indexer.head_dim), 1, 1U << 14},
    {INDEXED, "indexer.tokens", OF(indexer.kept_tokens), 1, 1U << 24},
    {PLAIN, "indexer.dim", OF(indexer.head_dim), 0, 1U << 14},
    {PLAIN, "indexer.tokens", OF(indexer.kept_tokens), 0, 1U << 24},
    {LINEAR, "delta.key_heads", OF(delta.key_heads), 1, 1U << 12},
    {LINEAR, "delta.key_dim", OF(delta.key_dim), 1, 1U << 14},
    {LINEAR, "delta.value_heads", OF(delta.value_heads), 0, 1U << 12},
    {LINEAR, "delta.value_dim", OF(delta.value_dim), 1, 1U << 14},
    {LINEAR, "delta.taps", OF(delta.taps), 0, 1U << 14},
    {PLAIN, "delta.key_heads", OF(delta.key_heads), 0, 1U << 12},
    {PLAIN, "delta.key_dim", OF(delta.key_dim), 0, 1U << 14},
    {PLAIN, "delta.value_dim", OF(delta.value_dim), 0, 1U << 14},
    {EXPERTS, "moe.experts", OF(moe.expert_count), 1, 1U << 14},
    {EXPERTS, "moe.top_k", OF(moe.experts_per_token), 1, 1},
    {EXPERTS, "moe.ffn", OF(moe.expert_hidden), 1, 1U << 21},
    {EXPERTS, "moe.shared", OF(moe.shared_count), 0, 1U << 14},
    {EXPERTS, "moe.shared_ffn", OF(moe.shared_hidden), 1, 1U << 21},
    {EXPERTS, "moe.first_dense", OF(moe.first_dense), 0, 1},
    {EXPERTS, "moe.interval", OF(moe.interval), 1, 4096},
};
#undef OF

/* Both ends of every range, for whoever makes a model without a file. */
static void every_number_of_a_model_in_memory_has_both_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        const uint32_t numbers[] = {ends[i].min, ends[i].max, ends[i].max + 1, ends[i].min - 1};
        size_t count = ends[i].min > 0 ? 4 : 3;
        char word[64];
        snprintf(word, sizeof(word), "'%s' is ", ends[i].name);
        for (size_t k = 0; k < count; k++) {
            struct myr_model model = tiny_model(ends[i].kind);
            struct myr_err err = {};
            memcpy((char *)&model + ends[i].at, &numbers[k], sizeof(numbers[k]));
            int rc = myr_model_check(&model, &err);
            /* Another rule may refuse an end (no kind of attention at all); not its range. */
            bool refused = rc == MYR_ERANGE && strncmp(err.message, word, strlen(word)) == 0;
            bool absent = ends[i].min == 1 && numbers[k] == 0 &&
                          (ends[i].at == offsetof(struct myr_model, mla.kv_rank) ||
                           ends[i].at == offsetof(struct myr_model, moe.expert_count));
            if (!absent && refused != (k >= 2)) {
                fail_msg("%s %u: %d, %s", ends[i].name, numbers[k], rc, err.message);
            }
        }
    }
}

/* Bytes of weight, gradient, optimiser state and what is kept, by precision. */
static void kinds_of_attention_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    static const struct {
        bool latent, indexed, linear, window, causal;
        const char *says; /* NULL: it may be */
    } rows[] = {
        {true, true, false, false, true, NULL},
        {true, true, false, false, false, "an indexer and linear layers need causal attention"},
        {false, true, false, false, true, "an indexer needs latent attention"},
        {false, false, true, false, true, NULL},
        {false, false, true, false, false, "an indexer and linear layers need causal attention"},
        {false, false, false, true, true, NULL},
        {false, false, false, false, false, NULL},
        {true, true, true, false, true, "exclude each other"},
        {true, true, false, true, true, "exclude each other"},
        {false, false, true, true, true, "exclude each other"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_model model = test_model(rows[i].latent ? "deepseek-v2" : "llama3-8b");
        struct myr_err err = {};
        model.causal = rows[i].causal;
        model.window_tokens = rows[i].window ? 64 : 0;
        model.indexer = rows[i].indexed ? (struct myr_indexer){1, 1, 1} : (struct myr_indexer){};
        model.delta = rows[i].linear ? (struct myr_delta){1, 1, 1, 1, 1} : (struct myr_delta){};
        int rc = myr_model_check(&model, &err);
        if ((rc == MYR_OK) != !rows[i].says ||
            (rows[i].says && !strstr(err.message, rows[i].says))) {
            fail_msg("row %zu: %d, %s", i, rc, err.message);
        }
    }
}

static void precisions_have_the_widths_of_their_recipes(void **state)
{
    (void)state;
    static const struct {
        enum myr_precision precision;
        struct myr_numerics bytes;
    } rows[] = {
        {MYR_PRECISION_BF16, {2, 4, 12, 2, 2, 4, 2}},
        {MYR_PRECISION_FP16, {2, 2, 12, 2, 2, 2, 2}},
        {MYR_PRECISION_FP8, {2, 4, 12, 2, 2, 4, 1}},
        {MYR_PRECISION_MXFP8, {2, 4, 12, 2, 2, 4, 1}},
        {MYR_PRECISION_NVFP4, {2, 4, 12, 2, 2, 4, 1}},
        {MYR_PRECISION_FP32, {4, 4, 8, 4, 4, 4, 4}},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_numerics found = myr_numerics_of(rows[i].precision);
        assert_memory_equal(&found, &rows[i].bytes, sizeof(found));
    }
}

static void things_are_called_by_their_names(void **state)
{
    (void)state;
    assert_string_equal(myr_phase_name(MYR_PHASE_FORWARD), "forward");
    assert_string_equal(myr_phase_name(MYR_PHASE_BACKWARD), "backward");
    assert_string_equal(myr_phase_name(MYR_PHASE_OPTIMISER), "optimiser");
    assert_string_equal(myr_axis_name(MYR_AXIS_TP), "tp");
    assert_string_equal(myr_axis_name(MYR_AXIS_EP), "ep");
    assert_string_equal(myr_recompute_name(MYR_RECOMPUTE_SELECTIVE), "selective");
    assert_string_equal(myr_schedule_name(MYR_SCHEDULE_DUALPIPE), "dualpipe");
    assert_string_equal(myr_precision_name(MYR_PRECISION_NVFP4), "nvfp4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_model_have_limits),
        cmocka_unit_test(numbers_of_indexers_and_linear_layers_have_limits),
        cmocka_unit_test(numbers_of_a_layout_have_limits),
        cmocka_unit_test(a_layout_in_memory_has_the_same_limits),
        cmocka_unit_test(a_model_in_memory_has_the_same_limits),
        cmocka_unit_test(every_number_of_a_model_in_memory_has_both_ends),
        cmocka_unit_test(kinds_of_attention_that_exclude_each_other_are_refused),
        cmocka_unit_test(precisions_have_the_widths_of_their_recipes),
        cmocka_unit_test(things_are_called_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
