/*
 * The room by a record that has one of each kind: what is written reads back the same, what is out
 * of bounds is refused at its place, and a schema says what is read and written.
 */
#include "myriad/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const char *const kinds_words[] = {"a", "b", "c"};
enum kinds_wide { KINDS_A, KINDS_B, KINDS_C };

struct inner {
    uint32_t low;
    const char *word;
};
static const struct myr_row inner_rows[] = {
    {.key = "low", .doc = "a number", .at = 0, .size = 4, .kind = MYR_FIELD_U32, .high = 5},
    {.key = "word",
     .doc = "a text",
     .at = offsetof(struct inner, word),
     .size = sizeof(const char *),
     .kind = MYR_FIELD_TEXT,
     .need = true},
};
static const struct myr_record inner_record =
    MYR_RECORD("inner", struct inner, inner_rows, "an inner one");

struct kinds {
#define MYR_FIELDS "kinds_test.rec"
#include "myriad/record/members.def"
};
static const struct myr_row kinds_rows[] = {
#define MYR_FIELDS "kinds_test.rec"
#define MYR_OF     struct kinds
#include "myriad/record/rows.def"
};
static const struct myr_record kinds = MYR_RECORD("kinds", struct kinds, kinds_rows, "all kinds");

enum { DRAWN = 400 };

static const struct myr_doc *parsed(struct myr_arena *arena, const char *text)
{
    const struct myr_doc *doc;
    struct myr_err err = {};
    if (myr_doc_read_json(arena, "t", myr_str_from(text), &doc, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return doc;
}

static int read_as(struct myr_arena *arena, const char *text, bool lenient, bool stored,
                   struct kinds *ret, struct myr_err *err)
{
    const struct myr_reading how = {.arena = arena, .lenient = lenient, .stored = stored};
    return myr_record_read(&kinds, parsed(arena, text), &how, ret, err);
}

static void written(const struct kinds *self, struct myr_buf *ret)
{
    struct myr_json json;
    myr_json_init(&json, ret, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_record_write(&kinds, self, &json);
    myr_json_end(&json);
}

/* Anything that its bounds allow. */
static struct kinds drawn(struct myr_rng *rng, struct myr_arena *arena)
{
    static const char *const texts[] = {"x", "two words", "\"quoted\" \\", "zwölf"};
    struct kinds k = {};
    myr_record_clear(&kinds, &k);
    k.flag = myr_rng_below(rng, 2);
    k.few = 1 + (uint32_t)myr_rng_below(rng, 9);
    k.later = (uint32_t)myr_rng_below(rng, 100);
    k.many = myr_rng_u64(rng);
    k.signed_few = (int32_t)myr_rng_below(rng, 11) - 5;
    k.signed_many = (int64_t)(myr_rng_u64(rng) % 2000000000001) - 1000000000000;
    k.moment = (int64_t)(myr_rng_u64(rng) >> 1);
    k.part = (double)(500 + myr_rng_below(rng, 1500)) / 1000;
    k.limit = 1 + (int64_t)myr_rng_below(rng, 3153600000);
    snprintf(k.name, sizeof(k.name), "n%u", (unsigned)myr_rng_below(rng, 1000000));
    k.text = texts[myr_rng_below(rng, MYR_ARRAY_COUNT(texts))];
    k.word = (uint8_t)myr_rng_below(rng, 3);
    k.wide = (enum kinds_wide)myr_rng_below(rng, 3);
    k.inner = (struct inner){(uint32_t)myr_rng_below(rng, 6), "w"};
    struct inner *inners = MYR_ARENA_NEW(arena, struct inner, 3);
    k.inners = (struct myr_items){inners, (uint32_t)myr_rng_below(rng, 4)};
    uint32_t *numbers = MYR_ARENA_NEW(arena, uint32_t, 4);
    k.numbers = (struct myr_items){numbers, (uint32_t)myr_rng_below(rng, 5)};
    const char **words = MYR_ARENA_NEW(arena, const char *, 4);
    k.texts = (struct myr_items){words, (uint32_t)myr_rng_below(rng, 5)};
    for (uint32_t i = 0; i < 4; i++) {
        inners[i % 3] = (struct inner){i, texts[i]};
        numbers[i] = (uint32_t)myr_rng_below(rng, 8);
        words[i] = texts[(i + k.few) % 4];
    }
    k.seldom = myr_rng_below(rng, 2);
    return k;
}

static void what_is_written_reads_back(void **state)
{
    const uint64_t seed = 20261119;
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, seed, 0);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < DRAWN; i++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf first = {}, second = {};
        struct kinds k = drawn(&rng, &arena), back;
        struct myr_err err = {};
        written(&k, &first);
        if (read_as(&arena, first.data, false, i % 2, &back, &err) < 0) {
            fail_msg("%s: %s", first.data, err.message);
        }
        written(&back, &second);
        assert_string_equal(first.data, second.data);
        assert_true(back.part == k.part && back.many == k.many && back.moment == k.moment);
        assert_true(back.wide == k.wide && back.seldom == k.seldom && back.later == k.later);
        assert_true(back.signed_many == k.signed_many && back.signed_few == k.signed_few);
    }
}

static void what_is_not_said(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct kinds k;
    assert_int_equal(read_as(&arena, "{}", false, false, &k, NULL), MYR_OK);
    written(&k, &text);
    assert_string_equal(
        text.data,
        "{\"flag\":true,\"few\":3,\"later\":null,\"many\":0,\"signed_few\":0,\"signed_many\":0,"
        "\"moment\":null,\"part\":1,\"limit\":0,\"name\":\"none\",\"text\":null,\"word\":\"a\","
        "\"wide\":\"c\",\"inner\":{\"low\":0,\"word\":null},\"inners\":[],\"numbers\":[],"
        "\"texts\":[]}");
}

static void refuses(const char *text, const char *words)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_err err = {};
    struct kinds k;
    assert_true(read_as(&arena, text, false, false, &k, &err) < 0);
    assert_string_equal(err.message, words);
}

static void what_does_not_fit_is_refused_at_its_place(void **state)
{
    (void)state;
    refuses("[]", "t:1:1: 'all kinds' is a list, a map of keys is expected");
    refuses("{\"fla\":true}", "t:1:2: unknown key 'fla'; did you mean 'flag'?");
    refuses("{\"few\":0}", "t:1:8: 'few' is '0', a whole number from 1 to 9 is expected");
    refuses("{\"few\":10}", "t:1:8: 'few' is '10', a whole number from 1 to 9 is expected");
    refuses("{\"signed_few\":-6}", "t:1:15: 'signed_few' is no whole number from -5 to 5");
    refuses("{\"signed_few\":6}", "t:1:15: 'signed_few' is no whole number from -5 to 5");
    refuses("{\"part\":0.4}", "t:1:9: 'part' is '0.4', a number from 0.5 to 2 is expected");
    refuses("{\"limit\":\"0s\"}",
            "t:1:10: 'limit' is no time; such as 90s, 30m, 12h or 2d is expected");
    refuses("{\"limit\":\"101y\"}",
            "t:1:10: 'limit' is no time; such as 90s, 30m, 12h or 2d is expected");
    refuses("{\"name\":\"123456789\"}", "t:1:9: 'name' has 9 bytes, at most 8 are expected");
    refuses("{\"word\":\"d\"}",
            "t:1:9: 'word' is 'd', which is no known choice; did you mean 'a' or 'b'?");
    refuses("{\"inner\":{}}", "t:1:10: 'word' is missing in inner");
    refuses("{\"inner\":{\"lo\":1}}", "t:1:11: unknown key 'lo' in inner; did you mean 'low'?");
    refuses("{\"inners\":[{\"low\":6,\"word\":\"x\"}]}",
            "t:1:19: 'inners.low' is '6', a whole number from 0 to 5 is expected");
    refuses("{\"numbers\":[1,2,3,4,5]}", "t:1:12: 5 items in 'numbers', at most 4 are expected");
    refuses("{\"numbers\":[8]}",
            "t:1:13: 'numbers' is '8', a whole number from 0 to 7 is expected");
    refuses("{\"texts\":\"x\"}", "t:1:10: 'texts' is 'x', a list is expected");
}

static void stores_and_newer_programs(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_err err = {};
    struct kinds k;
    assert_int_equal(read_as(&arena, "{\"new\":1,\"few\":4}", true, false, &k, &err), MYR_OK);
    assert_int_equal(k.few, 4);
    assert_int_equal(
        read_as(&arena,
                "{\"name\":\"123456789\",\"text\":\"\",\"word\":\"z\",\"few\":\"many\",\"new\":1}",
                false, true, &k, &err),
        MYR_OK);
    assert_string_equal(k.name, "12345678");
    assert_string_equal(k.text, "");
    assert_int_equal(k.word, 0);
    assert_int_equal(k.few, 3);
    assert_int_equal(read_as(&arena, "{\"few\":10}", false, true, &k, &err), MYR_ECORRUPT);
    assert_int_equal(err.code, MYR_ECORRUPT);
    assert_int_equal(read_as(&arena, "{\"numbers\":3}", false, false, &k, &err), MYR_OK);
    assert_int_equal(k.numbers.count, 1);
    assert_int_equal(*(const uint32_t *)k.numbers.at, 3);
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1: none */
    } rows[] = {{"90", 90},
                {"90s", 90},
                {"30m", 1800},
                {"2h", 7200},
                {"1d", 86400},
                {"", -1},
                {"h", -1},
                {"-1h", -1},
                {"1w", -1},
                {"1.5h", -1},
                {"3153600000d", 3153600000LL * 86400},
                {"3153600001", -1}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        int64_t seconds = -1;
        assert_int_equal(myr_duration_parse(myr_str_from(rows[i].text), &seconds),
                         rows[i].seconds >= 0);
        assert_int_equal(seconds, rows[i].seconds);
    }
}

static json_t *schema_of(const char *refs, bool written_too)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_json json;
    myr_json_init(&json, &text, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_record_schema(&kinds, refs, written_too, &json);
    myr_json_end(&json);
    json_t *schema = json_loads(text.data, 0, NULL);
    assert_non_null(schema);
    return schema;
}

static void schemas(void **state)
{
    (void)state;
    json_t *out = schema_of("#/s/", true), *in = schema_of(NULL, false);
    json_t *rows = json_object_get(out, "properties"), *asked = json_object_get(in, "properties");
    assert_int_equal(json_object_size(rows), MYR_ARRAY_COUNT(kinds_rows));
    /* All but the seldom one; of what is read, nothing is needed here. */
    assert_int_equal(json_array_size(json_object_get(out, "required")),
                     MYR_ARRAY_COUNT(kinds_rows) - 1);
    assert_int_equal(json_array_size(json_object_get(in, "required")), 0);
    assert_null(json_object_get(out, "additionalProperties")); /* more may be said */
    assert_true(json_is_false(json_object_get(in, "additionalProperties")));
    json_t *later = json_object_get(json_object_get(rows, "later"), "type");
    assert_string_equal(json_string_value(json_array_get(later, 1)), "null");
    assert_string_equal(json_string_value(json_object_get(json_object_get(rows, "inner"), "$ref")),
                        "#/s/inner");
    json_t *few = json_object_get(asked, "few");
    assert_int_equal(json_integer_value(json_object_get(few, "minimum")), 1);
    assert_int_equal(json_integer_value(json_object_get(few, "maximum")), 9);
    assert_int_equal(json_integer_value(json_object_get(few, "default")), 3);
    assert_int_equal(json_array_size(json_object_get(json_object_get(asked, "word"), "enum")), 3);
    json_t *part = json_object_get(asked, "part");
    assert_string_equal(json_string_value(json_object_get(part, "x-since")), "0.2.0");
    json_decref(out);
    json_decref(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_is_not_said),
        cmocka_unit_test(what_does_not_fit_is_refused_at_its_place),
        cmocka_unit_test(stores_and_newer_programs),
        cmocka_unit_test(durations),
        cmocka_unit_test(schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
