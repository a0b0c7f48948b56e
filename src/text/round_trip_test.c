/*
 * Random trees go out through the JSON writer and come back through both readers of doc. JSON is
 * nearly a part of YAML, and what this writer makes is wholly so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/doc.h"
#include "myriad/text/json.h"

enum { DEPTH_MAX = 6, CHILDREN_MAX = 6, TREES = 1500 };

/* The naive model: what was meant, before any text. */
enum model_kind {
    MODEL_NULL,
    MODEL_BOOL,
    MODEL_U64,
    MODEL_I64,
    MODEL_DOUBLE,
    MODEL_TEXT,
    MODEL_LIST,
    MODEL_MAP
};

struct model {
    enum model_kind kind;
    uint64_t number;
    double real;
    struct myr_str text;
    uint32_t count;
    const char *keys[CHILDREN_MAX];
    struct model *children[CHILDREN_MAX];
};

static struct myr_str random_text(struct myr_arena *arena, struct myr_rng *rng, bool may_hold_nul)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "7",
                                         " ",
                                         "\"",
                                         "\\",
                                         "/",
                                         ":",
                                         ", ",
                                         "#",
                                         "- ",
                                         "'",
                                         "\n",
                                         "\t",
                                         "{",
                                         "]",
                                         "null",
                                         "true",
                                         "\x7F",
                                         "\xC3\xA9",
                                         "&a",
                                         "*a",
                                         "\r\n",
                                         "%",
                                         "@",
                                         "!",
                                         "\xE4\xB8\x87",
                                         "\x1B",
                                         "~",
                                         "\xF0\x9F\x98\x80",
                                         "\xE2\x80\xA8",
                                         "\xEF\xBB\xBF"};
    struct myr_buf buf = {};
    uint32_t count = myr_rng_below(rng, 8);
    myr_buf_put(&buf, "", 0);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_puts(&buf, pieces[myr_rng_below(rng, MYR_ARRAY_COUNT(pieces))]);
    }
    if (may_hold_nul && myr_rng_below(rng, 20) == 0) {
        myr_buf_putc(&buf, '\0');
    }
    struct myr_str text = {myr_arena_strndup(arena, buf.data, buf.len), buf.len};
    myr_buf_done(&buf);
    return text;
}

static struct model *random_model(struct myr_arena *arena, struct myr_rng *rng, uint32_t depth)
{
    struct model *model = MYR_ARENA_ONE(arena, struct model);
    model->kind =
        (enum model_kind)myr_rng_below(rng, depth < DEPTH_MAX ? MODEL_MAP + 1 : MODEL_LIST);
    if (depth == 0 && model->kind < MODEL_LIST) {
        model->kind = MODEL_MAP;
    }
    model->number = myr_rng_u64(rng) >> myr_rng_below(rng, 64);
    model->real = (double)((int64_t)myr_rng_u64(rng) >> 20 >> myr_rng_below(rng, 40)) / 1024;
    if (model->kind == MODEL_TEXT) {
        model->text = random_text(arena, rng, true);
    }
    if (model->kind < MODEL_LIST) {
        return model;
    }
    model->count = myr_rng_below(rng, CHILDREN_MAX + 1);
    for (uint32_t i = 0; i < model->count; i++) {
        /* The index in front keeps keys apart. */
        model->keys[i] = myr_arena_printf(arena, "%u%s", i, random_text(arena, rng, false).data);
        model->children[i] = random_model(arena, rng, depth + 1);
    }
    return model;
}

static void write_model(struct myr_json *json, const char *key, const struct model *model)
{
    switch (model->kind) {
    case MODEL_NULL:
        myr_json_null(json, key);
        return;
    case MODEL_BOOL:
        myr_json_bool(json, key, model->number % 2);
        return;
    case MODEL_U64:
        myr_json_u64(json, key, model->number);
        return;
    case MODEL_I64:
        myr_json_i64(json, key, (int64_t)model->number);
        return;
    case MODEL_DOUBLE:
        myr_json_double(json, key, model->real, 17);
        return;
    case MODEL_TEXT:
        myr_json_str(json, key, model->text);
        return;
    case MODEL_LIST:
    case MODEL_MAP:
        break;
    }
    model->kind == MODEL_MAP ? myr_json_object(json, key) : myr_json_list(json, key);
    for (uint32_t i = 0; i < model->count; i++) {
        write_model(json, model->kind == MODEL_MAP ? model->keys[i] : NULL, model->children[i]);
    }
    myr_json_end(json);
}

static bool same_scalar(const struct model *model, const struct myr_doc *node)
{
    uint64_t number;
    double real;
    bool truth;
    char digits[32];
    switch (model->kind) {
    case MODEL_NULL:
        return node->kind == MYR_DOC_NULL;
    case MODEL_BOOL:
        return myr_doc_bool(node, "v", &truth, NULL) == MYR_OK && truth == model->number % 2;
    case MODEL_U64:
        return myr_doc_u64(node, "v", 0, UINT64_MAX, &number, NULL) == MYR_OK &&
               number == model->number;
    case MODEL_I64:
        snprintf(digits, sizeof(digits), "%lld", (long long)model->number);
        return myr_str_eq(node->text, myr_str_from(digits)) && !node->quoted;
    case MODEL_DOUBLE:
        return myr_doc_double(node, "v", -1e300, 1e300, &real, NULL) == MYR_OK &&
               real == model->real;
    default:
        return node->kind == MYR_DOC_SCALAR && node->quoted && myr_str_eq(node->text, model->text);
    }
}

static bool same_tree(const struct model *model, const struct myr_doc *node)
{
    if (model->kind < MODEL_LIST) {
        return same_scalar(model, node);
    }
    bool is_map = model->kind == MODEL_MAP;
    if (node->kind != (is_map ? MYR_DOC_MAP : MYR_DOC_LIST) || node->count != model->count) {
        return false;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        if (is_map && !myr_str_eq(node->entries[i].key, myr_str_from(model->keys[i]))) {
            return false;
        }
        if (!same_tree(model->children[i], is_map ? node->entries[i].value : node->items[i])) {
            return false;
        }
    }
    return true;
}

static void random_trees_come_back_through_both_readers(void **state)
{
    (void)state;
    const uint64_t seed = 20240609;
    for (uint32_t tree = 0; tree < TREES; tree++) {
        struct myr_arena arena;
        struct myr_rng rng;
        struct myr_buf buf = {};
        struct myr_json json;
        struct myr_err err = {};
        const struct myr_doc *from_json = NULL;
        const struct myr_doc *from_yaml = NULL;
        myr_arena_init(&arena);
        myr_rng_init(&rng, seed, tree);
        const struct model *model = random_model(&arena, &rng, 0);
        myr_json_init(&json, &buf, tree % 2 ? MYR_JSON_PRETTY : MYR_JSON_COMPACT);
        write_model(&json, NULL, model);
        struct myr_str text = {buf.data, buf.len};
        if (myr_doc_read_json(&arena, "json", text, &from_json, &err) < 0 ||
            myr_doc_read_yaml(&arena, "yaml", text, &from_yaml, &err) < 0 ||
            !same_tree(model, from_json) || !same_tree(model, from_yaml)) {
            fail_msg("seed %llu tree %u: %s\n%s", (unsigned long long)seed, tree,
                     err.code ? err.message : "the trees differ", buf.data);
        }
        myr_buf_done(&buf);
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_come_back_through_both_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
