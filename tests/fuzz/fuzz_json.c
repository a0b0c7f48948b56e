/*
 * The JSON reader: accepts and rejects as jansson does, reads the same values, and what the JSON
 * writer makes of the tree reads back as the same tree. Read in parts, what is whole gives the same
 * tree with all else cut away.
 */
#include <jansson.h>

#include "fuzz.h"
#include "myriad/text/doc.h"
#include "myriad/text/json.h"

static const char file[] = "fuzz.json";

/*
 * Where the two may differ: limits of ours and a byte order mark, which we skip; ranges of numbers
 * and NUL in keys of jansson's, which also takes a NUL byte for the end of the text.
 */
static bool is_fair(const uint8_t *data, size_t size, int ours, const json_error_t *theirs)
{
    bool has_mark = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    bool has_nul = size > 0 && memchr(data, 0, size);
    enum json_error_code code = json_error_code(theirs);
    return !has_mark && !has_nul && ours != MYR_ERANGE && code != json_error_numeric_overflow &&
           code != json_error_null_byte_in_key && code != json_error_stack_overflow;
}

static void compare_scalar(const struct myr_doc *ours, const json_t *theirs)
{
    int64_t number;
    MYR_ASSERT(ours->quoted == json_is_string(theirs));
    if (json_is_string(theirs)) {
        struct myr_str text = {json_string_value(theirs), json_string_length(theirs)};
        MYR_ASSERT(myr_str_eq(ours->text, text));
    } else if (json_is_integer(theirs) && myr_str_to_i64(ours->text, &number)) {
        MYR_ASSERT(number == json_integer_value(theirs));
    } else if (json_is_boolean(theirs)) {
        bool truth;
        MYR_ASSERT(myr_doc_bool(ours, "what", &truth, NULL) == MYR_OK);
        MYR_ASSERT(truth == json_is_true(theirs));
    } else {
        MYR_ASSERT(json_is_number(theirs));
    }
}

static void compare(const struct myr_doc *ours, const json_t *theirs)
{
    switch (ours->kind) {
    case MYR_DOC_NULL:
        MYR_ASSERT(json_is_null(theirs));
        return;
    case MYR_DOC_SCALAR:
        compare_scalar(ours, theirs);
        return;
    case MYR_DOC_LIST:
        MYR_ASSERT(json_is_array(theirs) && json_array_size(theirs) == ours->count);
        for (uint32_t i = 0; i < ours->count; i++) {
            compare(ours->items[i], json_array_get(theirs, i));
        }
        return;
    case MYR_DOC_MAP:
        MYR_ASSERT(json_is_object(theirs) && json_object_size(theirs) == ours->count);
        for (uint32_t i = 0; i < ours->count; i++) {
            /* Keys end in NUL, as all text in the arena does. */
            const json_t *value = json_object_get(theirs, ours->entries[i].key.data);
            MYR_ASSERT(value);
            compare(ours->entries[i].value, value);
        }
        return;
    }
}

/* False where the tree holds something that the writer's calls cannot express. */
static bool write_tree(struct myr_json *json, const char *key, const struct myr_doc *node)
{
    bool is_map = node->kind == MYR_DOC_MAP;
    if (node->kind == MYR_DOC_NULL) {
        myr_json_null(json, key);
    } else if (node->kind == MYR_DOC_SCALAR && node->quoted) {
        myr_json_str(json, key, node->text);
    } else if (node->kind == MYR_DOC_SCALAR) {
        myr_json_raw(json, key, node->text);
    } else {
        is_map ? myr_json_object(json, key) : myr_json_list(json, key);
        for (uint32_t i = 0; i < node->count; i++) {
            const char *name = is_map ? node->entries[i].key.data : NULL;
            if (is_map && strlen(name) != node->entries[i].key.len) {
                return false;
            }
            if (!write_tree(json, name, is_map ? node->entries[i].value : node->items[i])) {
                return false;
            }
        }
        myr_json_end(json);
    }
    return true;
}

static void expect_equal(const struct myr_doc *a, const struct myr_doc *b)
{
    MYR_ASSERT(a->kind == b->kind && a->quoted == b->quoted && a->count == b->count);
    MYR_ASSERT(myr_str_eq(a->text, b->text));
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->kind == MYR_DOC_LIST) {
            expect_equal(a->items[i], b->items[i]);
            continue;
        }
        MYR_ASSERT(myr_str_eq(a->entries[i].key, b->entries[i].key));
        expect_equal(a->entries[i].value, b->entries[i].value);
    }
}

static void round_trip(struct myr_arena *arena, const struct myr_doc *root)
{
    struct myr_buf buf = {};
    struct myr_json json;
    myr_json_init(&json, &buf, root->count % 2 ? MYR_JSON_PRETTY : MYR_JSON_COMPACT);
    if (root->depth <= MYR_JSON_DEPTH_MAX && write_tree(&json, NULL, root)) {
        const struct myr_doc *again = NULL;
        struct myr_str text = {buf.data, buf.len};
        MYR_ASSERT(myr_doc_read_json(arena, file, text, &again, NULL) == MYR_OK);
        expect_equal(root, again);
    }
    myr_buf_done(&buf);
}

static const struct myr_doc_part inner[] = {{"b", NULL}, {"name", NULL}, {NULL, NULL}};
static const struct myr_doc_part wanted[] = {
    {"a", inner}, {"servers", NULL}, {"type", NULL}, {"object", inner}, {NULL, NULL}};

/* 'some' is 'all' without what 'parts' does not name; parts NULL: it is all of it. */
static void expect_part(const struct myr_doc *all, const struct myr_doc *some,
                        const struct myr_doc_part *parts)
{
    uint32_t at = 0;
    MYR_ASSERT(all->kind == some->kind && all->quoted == some->quoted);
    MYR_ASSERT(myr_str_eq(all->text, some->text));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_doc_part *below = parts;
        if (all->kind == MYR_DOC_LIST) {
            expect_part(all->items[i], some->items[at++], below);
            continue;
        }
        while (below && below->key && !myr_str_eq(all->entries[i].key, myr_str_from(below->key))) {
            below++;
        }
        if (parts && !below->key) {
            continue;
        }
        MYR_ASSERT(at < some->count && myr_str_eq(all->entries[i].key, some->entries[at].key));
        expect_part(all->entries[i].value, some->entries[at++].value, parts ? below->below : NULL);
    }
    MYR_ASSERT(at == some->count);
}

static void read_parts(struct myr_arena *arena, struct myr_str text, const struct myr_doc *whole)
{
    const struct myr_doc *some = NULL;
    struct myr_err err = {};
    int rc = myr_doc_read_json_parts(arena, file, text, wanted, &some, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    }
    if (whole) {
        MYR_ASSERT(rc == MYR_OK);
        expect_part(whole, some, wanted);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    const struct myr_doc *root = NULL;
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    int rc = myr_doc_read_json(&arena, file, text, &root, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    }
    json_error_t their_err = {};
    size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    json_t *theirs = json_loadb((const char *)data, size, flags, &their_err);
    if (is_fair(data, size, rc, &their_err)) {
        MYR_ASSERT((rc == MYR_OK) == (theirs != NULL));
    }
    if (rc == MYR_OK && theirs) {
        compare(root, theirs);
    }
    if (rc == MYR_OK) {
        round_trip(&arena, root);
    }
    read_parts(&arena, text, rc == MYR_OK ? root : NULL);
    json_decref(theirs);
    myr_arena_done(&arena);
    return 0;
}
