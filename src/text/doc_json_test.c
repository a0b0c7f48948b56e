#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <jansson.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

static struct myr_arena arena;

static int begin(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static const struct myr_doc *read_good(const char *text)
{
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    if (myr_doc_read_json(&arena, "s.json", myr_str_from(text), &root, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return root;
}

static void every_value_knows_its_place(void **state)
{
    (void)state;
    const struct myr_doc *root = read_good("\n {\"a\": [1,\r\n  true],\n\"\xE4\xB8\x87\": {\"b\" : "
                                           "null}}\n");
    assert_int_equal(root->line, 2);
    assert_int_equal(root->column, 2);
    const struct myr_doc *list = myr_doc_get(root, "a");
    assert_int_equal(list->line, 2);
    assert_int_equal(list->column, 8);
    assert_int_equal(list->items[1]->line, 3);
    assert_int_equal(list->items[1]->column, 3);
    assert_int_equal(root->entries[1].key_line, 4);
    assert_int_equal(root->entries[1].key_column, 1);
    const struct myr_doc *inner = myr_doc_get(myr_doc_get(root, "\xE4\xB8\x87"), "b");
    assert_int_equal(inner->kind, MYR_DOC_NULL);
    assert_int_equal(inner->column, 13); /* characters, not bytes */
    assert_int_equal(root->depth, 2);
    assert_int_equal(root->expanded, 5);
}

static void numbers_keep_their_text_and_strings_are_quoted(void **state)
{
    (void)state;
    const struct myr_doc *root =
        read_good("[0, -0.50, 12e+3, 99999999999999999999, \"12\", false, \"\"]");
    static const char *const texts[] = {"0",  "-0.50", "12e+3", "99999999999999999999",
                                        "12", "false", ""};
    assert_int_equal(root->count, 7);
    for (uint32_t i = 0; i < root->count; i++) {
        assert_true(myr_str_eq(root->items[i]->text, myr_str_from(texts[i])));
        assert_int_equal(root->items[i]->quoted, i == 4 || i == 6);
    }
}

static void escapes_become_characters(void **state)
{
    (void)state;
    const struct myr_doc *root =
        read_good("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u4E07\\ud83d\\ude00"
                  "\\u0000!\"");
    assert_int_equal(root->text.len, 8 + 2 + 3 + 4 + 2);
    assert_memory_equal(root->text.data, "\"\\/\b\f\n\r\t\xC3\xA9\xE4\xB8\x87\xF0\x9F\x98\x80\0!",
                        19);
}

static void broken_text_gets_one_plain_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "s.json:1:1: the file is empty, a JSON value is expected"},
        {" \n ", "s.json:1:1: the file is empty, a JSON value is expected"},
        {"{\"a\":1,}", "s.json:1:7: a ',' before '}' is not allowed"},
        {"[1,\n2,\n]", "s.json:2:2: a ',' before ']' is not allowed"},
        {"[1 2]", "s.json:1:4: ',' or ']' is expected, not '2'"},
        {"{\"a\":1 \"b\":2}", "s.json:1:8: ',' or '}' is expected, not '\"'"},
        {"{\"a\" 1}", "s.json:1:6: ':' after the key is expected, not '1'"},
        {"{a:1}", "s.json:1:2: a key in quotes is expected, not 'a'"},
        {"{\"a\":}", "s.json:1:6: a value is expected, not '}'"},
        {"[,1]", "s.json:1:2: a value is expected, not ','"},
        {"[1", "s.json:1:3: the text ends where ',' or ']' is expected"},
        {"{\"a\":", "s.json:1:6: the text ends where a value is expected"},
        {"[\"abc", "s.json:1:2: the quote opened here is never closed"},
        {"[\"a\\\"", "s.json:1:2: the quote opened here is never closed"},
        {"[\"a\nb\"]", "s.json:1:4: a control character in a string must be escaped"},
        {"[\"\\n\n\"]", "s.json:1:5: a control character in a string must be escaped"},
        {"[\"\\x\"]", "s.json:1:3: unknown escape after '\\'; write '\\\\' for a backslash"},
        {"[\"\\u12G4\"]", "s.json:1:3: '\\u' needs four hexadecimal digits"},
        {"[\"\\ud800\"]", "s.json:1:3: half of a surrogate pair stands alone"},
        {"[\"\\ud800\\u0041\"]", "s.json:1:3: half of a surrogate pair stands alone"},
        {"[\"\\udc00\"]", "s.json:1:3: half of a surrogate pair stands alone"},
        {"[01]", "s.json:1:2: a number cannot begin with 0"},
        {"[-]", "s.json:1:3: a digit is expected, not ']'"},
        {"[1.]", "s.json:1:4: a digit after the point is expected, not ']'"},
        {"[1e+]", "s.json:1:5: a digit of the exponent is expected, not ']'"},
        {"[+1]", "s.json:1:2: a value is expected, not '+'"},
        {"nul", "s.json:1:1: a value is expected, not 'n'"},
        {"[\x01]", "s.json:1:2: a value is expected, not the control character 0x01"},
        {"{} {}", "s.json:1:4: nothing more is expected after the value"},
        {"{\"a\":1,\n\"a\":2}", "s.json:2:1: key 'a' is given twice, on line 1 and on line 2"},
        {"[\"\xFF\"]", "s.json:1:3: byte 0xff is not UTF-8 text; save the file as UTF-8"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const struct myr_doc *root = NULL;
        struct myr_err err = {};
        int rc = myr_doc_read_json(&arena, "s.json", myr_str_from(cases[i].text), &root, &err);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(rc, MYR_EINVAL);
        assert_null(root);
    }
}

static void nesting_is_limited(void **state)
{
    (void)state;
    struct myr_buf text = {};
    for (int i = 0; i < 5000; i++) {
        myr_buf_puts(&text, i % 2 ? "{\"a\":" : "[");
    }
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    struct myr_str str = {text.data, text.len};
    assert_int_equal(myr_doc_read_json(&arena, "s.json", str, &root, &err), MYR_ERANGE);
    assert_string_equal(err.message,
                        "s.json:1:193: nested more than 64 levels deep, the most allowed");
    myr_buf_done(&text);
}

/* Changes a few bytes of a good text, so that some results are still JSON and most nearly are. */
static void mutate(struct myr_rng *rng, char *text, size_t len)
{
    static const char bytes[] = "{}[]\",:.-+eE0123456789\\utfnabrl \n\x01\xC3\xA9\xFF";
    uint32_t changes = myr_rng_below(rng, 4);
    for (uint32_t i = 0; i < changes; i++) {
        text[myr_rng_below(rng, (uint32_t)len)] = bytes[myr_rng_below(rng, sizeof(bytes) - 1)];
    }
}

static void accepts_what_another_reader_accepts(void **state)
{
    (void)state;
    const uint64_t seed = 20240608;
    static const char sample[] =
        "{\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": {}, \"d\": []}, \"e\": "
        "\"\\ud83d\\ude00\", \"f\": 0.125, \"g\": false}";
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    uint32_t accepted = 0;
    const uint32_t rounds = 40000;
    for (uint32_t round = 0; round < rounds; round++) {
        char text[sizeof(sample)];
        memcpy(text, sample, sizeof(sample));
        mutate(&rng, text, sizeof(sample) - 1);
        size_t len = sizeof(sample) - 1 - myr_rng_below(&rng, 2) * myr_rng_below(&rng, 3);
        const struct myr_doc *root = NULL;
        json_error_t error = {};
        size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
        json_t *theirs = json_loadb(text, len, flags, &error);
        int ours = myr_doc_read_json(&arena, "s.json", (struct myr_str){text, len}, &root, NULL);
        bool fair = json_error_code(&error) != json_error_numeric_overflow &&
                    json_error_code(&error) != json_error_null_byte_in_key;
        if (fair && (ours == MYR_OK) != (theirs != NULL)) {
            fail_msg("seed %llu round %u: %d, but jansson: %s\n%.*s", (unsigned long long)seed,
                     round, ours, error.text, (int)len, text);
        }
        accepted += ours == MYR_OK;
        json_decref(theirs);
        if (round % 1000 == 0) {
            myr_arena_done(&arena);
        }
    }
    /* The comparison means something only where both outcomes are common. */
    assert_in_range(accepted, rounds / 10, rounds - rounds / 10);
}

static const struct myr_doc_part below[] = {{"name", NULL}, {NULL, NULL}};
static const struct myr_doc_part parts[] = {{"type", NULL}, {"items", below}, {NULL, NULL}};

static void what_is_not_wanted_is_passed_over(void **state)
{
    (void)state;
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    const char *text = "{\"noise\":{\"a\":[1,{\"}\":\"]\\\"\\\\\"}],\"b\":-1e5},\"type\" : "
                       "\"x\", \"n\":null ,\"items\":[{\"name\":{\"all\":[1,2]},\"more\":[[]]},7,"
                       "{\"other\":\"\"}],\"last\":true}";
    assert_int_equal(
        myr_doc_read_json_parts(&arena, "s.json", myr_str_from(text), parts, &root, &err), MYR_OK);
    assert_int_equal(root->count, 2);
    assert_string_equal(myr_doc_get(root, "type")->text.data, "x");
    const struct myr_doc *items = myr_doc_get(root, "items");
    assert_int_equal(items->count, 3);
    assert_int_equal(items->items[0]->count, 1);
    assert_int_equal(myr_doc_get(myr_doc_get(items->items[0], "name"), "all")->count, 2);
    assert_string_equal(items->items[1]->text.data, "7");
    assert_int_equal(items->items[2]->count, 0);
    /* The place counts bytes of the one line. */
    assert_int_equal(root->entries[0].key_line, 1);
    assert_int_equal(root->entries[0].key_column, strstr(text, "\"type\"") - text + 1);
}

static void what_is_passed_over_still_has_an_end(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"a\":{\"b\":1}", "s.json:1:13: the text ends where ',' or '}' is expected"},
        {"{\"a\":{\"b\":1]}", "s.json:1:12: '}' is expected, not ']'"},
        {"{\"a\":[1}}", "s.json:1:8: ']' is expected, not '}'"},
        {"{\"a\":\"b}", "s.json:1:6: the quote opened here is never closed"},
        {"{\"a\":}", "s.json:1:6: a value is expected, not '}'"},
        {"{\"a\":]}", "s.json:1:6: a value is expected, not ']'"},
        {"{\"a\": ,\"type\":1}", "s.json:1:7: a value is expected, not ','"},
        {"{\"a\":[[1,2]", "s.json:1:12: the text ends where ']' is expected"},
        {"{\"a\":1 2}", "s.json:1:8: ',' or '}' is expected, not '2'"},
        {"{\"a\"", "s.json:1:5: the text ends where ':' after the key is expected"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const struct myr_doc *root = NULL;
        struct myr_err err = {};
        assert_true(myr_doc_read_json_parts(&arena, "s.json", myr_str_from(cases[i].text), parts,
                                            &root, &err) < 0);
        assert_string_equal(err.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_knows_its_place),
        cmocka_unit_test(numbers_keep_their_text_and_strings_are_quoted),
        cmocka_unit_test(escapes_become_characters),
        cmocka_unit_test(broken_text_gets_one_plain_line),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(accepts_what_another_reader_accepts),
        cmocka_unit_test(what_is_not_wanted_is_passed_over),
        cmocka_unit_test(what_is_passed_over_still_has_an_end),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
