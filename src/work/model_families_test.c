/*
 * Configs of every family (tests/data/model-configs.jsonl), each with one key missing, or with a
 * flag turned: what is read in its place, or what is said (tests/kept/work-families.txt). What a
 * family takes for granted stands in tables and in few lines; a config that says everything never
 * shows it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "model_hf.h"
#include "myriad/work/model.h"

/* All members as words "name=value". */
static void put_model(struct myr_buf *ret, const struct myr_model *m)
{
    const struct myr_model_details *d = &m->details;
    myr_buf_printf(ret,
                   "layers=%u hidden=%u heads=%u kv=%u head_dim=%u causal=%d window=%u "
                   "full_every=%u ffn=%u gated=%d activation_weights=%u vocab=%u tied=%d seq=%u "
                   "mtp=%u position_max=%u positions=%d norm=%d norms=%u embedding_norm=%d "
                   "qk_norm=%d qk_wide=%d sink=%d qkv_bias=%d out_bias=%d ffn_bias=%d "
                   "head_bias=%d dropout=%d query_gate=%d ",
                   m->layer_count, m->hidden, m->head_count, m->kv_head_count, m->head_dim,
                   m->causal, m->window_tokens, m->full_every, m->ffn_hidden, m->gated,
                   m->activation_weights, m->vocab, m->tied, m->seq_tokens, m->mtp_count,
                   m->position_max, (int)m->positions, (int)m->norm, m->norms_per_layer,
                   m->embedding_norm, m->qk_norm, m->qk_norm_wide, m->attention_sink, m->qkv_bias,
                   m->out_bias, m->ffn_bias, m->head_bias, m->dropout, m->query_gate);
    myr_buf_printf(ret,
                   "mla=%u,%u,%u,%u,%u indexer=%u,%u,%u delta=%u,%u,%u,%u,%u moe=%u,%u,%u,%u,%u,%u,"
                   "%u,%d,%d,%d ",
                   m->mla.q_rank, m->mla.kv_rank, m->mla.nope_dim, m->mla.rope_dim, m->mla.v_dim,
                   m->indexer.head_count, m->indexer.head_dim, m->indexer.kept_tokens,
                   m->delta.key_heads, m->delta.key_dim, m->delta.value_heads, m->delta.value_dim,
                   m->delta.taps, m->moe.expert_count, m->moe.experts_per_token,
                   m->moe.expert_hidden, m->moe.shared_count, m->moe.shared_hidden,
                   m->moe.first_dense, m->moe.interval, m->moe.score_bias, m->moe.router_bias,
                   m->moe.shared_gate);
    myr_buf_printf(ret,
                   "activation=%d base=%g share=%g epsilon=%g scale=%g groups=%u,%u sigmoid=%d "
                   "scaled=%d ",
                   (int)d->activation, d->rotary_base, d->rotary_share, d->norm_epsilon,
                   d->routed_scale, d->expert_groups, d->groups_per_token, d->sigmoid_scores,
                   d->scaled_rotation);
}

/* The words of 'now' that are not in 'before'. */
static void put_changed(struct myr_buf *ret, const char *before, char *now)
{
    for (char *rest = now; rest && *rest;) {
        char *word = strsep(&rest, " ");
        const char *at = *word ? strstr(before, word) : before;
        bool known = !*word;
        for (; at && !known; at = strstr(at + 1, word)) {
            known = (at == before || at[-1] == ' ') && at[strlen(word)] == ' ';
        }
        if (!known) {
            myr_buf_printf(ret, " %s", word);
        }
    }
}

static void try_one(struct myr_arena *arena, const struct myr_doc *config, const char *before,
                    struct myr_buf *story)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    struct myr_model model;
    struct myr_err err = {};
    if (myr_model_parse(arena, config, &model, &err) < 0) {
        const char *words = strchr(err.message, ' ');
        myr_buf_printf(story, "%s\n", words ? words : err.message);
        return;
    }
    put_model(&now, &model);
    if (before) {
        put_changed(story, before, now.data);
        myr_buf_puts(story, "\n");
    } else {
        myr_buf_printf(story, " %s\n", now.data);
    }
}

/* As it is, without each of its keys, and with each flag turned. */
static void family(struct myr_arena *arena, const struct myr_doc *config, struct myr_buf *story)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    struct myr_model model;
    struct myr_err err = {};
    if (myr_model_parse(arena, config, &model, &err) < 0) {
        fail_msg("%s", err.message);
    }
    put_model(&before, &model);
    try_one(arena, config, NULL, story);
    for (uint32_t i = 0; i < config->count; i++) {
        const struct myr_doc_entry entry = config->entries[i];
        struct myr_doc less = *config, flag = *entry.value;
        if (myr_str_eq(entry.key, MYR_STR("model_type"))) {
            continue;
        }
        less.entries = MYR_ARENA_NEW(arena, struct myr_doc_entry, config->count);
        memcpy(less.entries, config->entries, config->count * sizeof(entry));
        less.entries[i] = less.entries[--less.count];
        myr_buf_printf(story, "  -%.*s", (int)entry.key.len, entry.key.data);
        try_one(arena, &less, before.data, story);
        bool on = myr_str_eq(flag.text, MYR_STR("true"));
        if (flag.kind != MYR_DOC_SCALAR || (!on && !myr_str_eq(flag.text, MYR_STR("false")))) {
            continue;
        }
        memcpy(less.entries, config->entries, config->count * sizeof(entry));
        less.count = config->count;
        flag.text = on ? MYR_STR("false") : MYR_STR("true");
        less.entries[i].value = &flag;
        myr_buf_printf(story, "  !%.*s", (int)entry.key.len, entry.key.data);
        try_one(arena, &less, before.data, story);
    }
}

/* Layers of two kinds: one in so many has full attention, and no other order is understood. */
static void kinds_of_layers(void **state)
{
    (void)state;
    static const struct {
        const char *kinds;
        uint32_t every;
        const char *words;
    } rows[] = {
        {"'L','L','L','F'", 4, ""},
        {"'L','F','L','F'", 2, ""},
        {"'F','F','F','F'", 1, ""},
        {"'L','L','L','L'", 0, ""},
        {"'L','F','F','L'", 0, "layer 2 is not the 'linear_attention'"},
        {"'L','L','F'", 0, "'layer_types' names 3 layers of 4"},
        {"'L','L','F','x'", 0, "layer 3 is not the 'linear_attention'"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_arena arena = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        const struct myr_doc *doc = NULL;
        struct myr_model model;
        struct myr_err err = {};
        myr_arena_init(&arena);
        myr_buf_puts(&text, "{\"model_type\":\"qwen3_next\",\"hidden_size\":64,"
                            "\"num_hidden_layers\":4,\"num_attention_heads\":4,\"head_dim\":16,"
                            "\"num_key_value_heads\":2,\"intermediate_size\":128,"
                            "\"vocab_size\":99,\"max_position_embeddings\":32,"
                            "\"num_experts\":4,\"num_experts_per_tok\":2,"
                            "\"moe_intermediate_size\":32,\"shared_expert_intermediate_size\":32,"
                            "\"linear_num_key_heads\":2,\"linear_key_head_dim\":16,"
                            "\"linear_num_value_heads\":4,\"linear_value_head_dim\":16,"
                            "\"layer_types\":[");
        for (const char *c = rows[i].kinds; *c; c++) {
            if (*c == 'L' || *c == 'F') {
                myr_buf_puts(&text, *c == 'L' ? "linear_attention" : "full_attention");
            } else {
                myr_buf_putc(&text, *c == '\'' ? '"' : *c);
            }
        }
        myr_buf_puts(&text, "]}");
        assert_int_equal(
            myr_doc_read_json(&arena, "c", (struct myr_str){text.data, text.len}, &doc, &err),
            MYR_OK);
        int rc = myr_model_parse(&arena, doc, &model, &err);
        if ((rc == MYR_OK) != !*rows[i].words || !strstr(err.message, rows[i].words)) {
            fail_msg("%s: %s", rows[i].kinds, err.message);
        }
        if (rc == MYR_OK) {
            assert_int_equal(model.full_every, rows[i].every);
        }
        myr_arena_done(&arena);
    }
}

static void what_families_take_for_granted(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct myr_str last = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/model-configs.jsonl", 1 << 22, &file, &err),
        MYR_OK);
    for (const char *at = file.data, *end = file.data + file.len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct myr_doc *root = NULL;
        struct myr_str type;
        stop = stop ? stop : end;
        assert_int_equal(
            myr_doc_read_json(&arena, "c", (struct myr_str){at, (size_t)(stop - at)}, &root, &err),
            MYR_OK);
        const struct myr_doc *config = myr_doc_get(root, "config");
        assert_int_equal(myr_doc_text(myr_doc_get(config, "model_type"), "model_type", &type, &err),
                         MYR_OK);
        if (!myr_str_eq(type, last)) { /* the first of each family */
            myr_buf_printf(&story, "%.*s", (int)type.len, type.data);
            family(&arena, config, &story);
            last = type;
        }
        at = stop + 1;
    }
    assert_kept("work-families.txt", &story);
    myr_arena_done(&arena);
}

/* Tables say what a config need not; some families' configs are nobody's to keep. */
static void families_are_as_their_tables_say(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {}, none = {};
    put_model(&none, &(struct myr_model){});
    for (size_t i = 0; i < myr_work_hf_family_count; i++) {
        const struct hf_family *family = &myr_work_hf_families[i];
        MYR_CLEANUP(myr_buf_done) struct myr_buf fixed = {};
        put_model(&fixed, &family->fixed);
        myr_buf_printf(&story, "%s:", family->type);
        put_changed(&story, none.data, fixed.data);
        for (size_t k = 0; k < family->row_count; k++) {
            const struct key_number *row = &family->rows[k];
            myr_buf_printf(&story, "\n  %s%s %llu to %llu", row->required ? "!" : "", row->key,
                           (unsigned long long)row->min, (unsigned long long)row->max);
        }
        myr_buf_puts(&story, "\n");
    }
    assert_kept("work-family-tables.txt", &story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_families_take_for_granted),
        cmocka_unit_test(kinds_of_layers),
        cmocka_unit_test(families_are_as_their_tables_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
