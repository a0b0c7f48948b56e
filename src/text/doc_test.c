#include "myriad/text/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct myr_arena arena;

static const struct myr_doc *read_yaml(const char *text)
{
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    if (myr_doc_read_yaml(&arena, "spec.yaml", myr_str_from(text), &root, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return root;
}

static const struct myr_doc *value_of(const char *text)
{
    const struct myr_doc *value = myr_doc_get(read_yaml(text), "v");
    assert_non_null(value);
    return value;
}

static void whole_numbers_are_checked_for_form_and_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {"v: 1", NULL},
        {"v: 200000", NULL},
        {"v: many", "spec.yaml:1:4: 'v' is 'many', a whole number from 1 to 200,000 is expected"},
        {"v: 0", "spec.yaml:1:4: 'v' is '0', a whole number from 1 to 200,000 is expected"},
        {"v: 200001",
         "spec.yaml:1:4: 'v' is '200001', a whole number from 1 to 200,000 is expected"},
        {"v: -1", "spec.yaml:1:4: 'v' is '-1', a whole number from 1 to 200,000 is expected"},
        {"v: 1e3", "spec.yaml:1:4: 'v' is '1e3', a whole number from 1 to 200,000 is expected"},
        {"v: 1_000", "spec.yaml:1:4: 'v' is '1_000', a whole number from 1 to 200,000 is expected"},
        {"v: 1.0", "spec.yaml:1:4: 'v' is '1.0', a whole number from 1 to 200,000 is expected"},
        {"v: 0x10", "spec.yaml:1:4: 'v' is '0x10', a whole number from 1 to 200,000 is expected"},
        {"v: 99999999999999999999999",
         "spec.yaml:1:4: 'v' is '99999999999999999999999', a whole number from 1 to 200,000 is "
         "expected"},
        {"v: \"64\"", "spec.yaml:1:4: 'v' is \"64\", text in quotes, a whole number from 1 to "
                      "200,000 is expected; remove the quotes"},
        {"v: \"x\"", "spec.yaml:1:4: 'v' is 'x', a whole number from 1 to 200,000 is expected"},
        {"v:", "spec.yaml:1:3: 'v' is empty, a whole number from 1 to 200,000 is expected"},
        {"v: [1]", "spec.yaml:1:4: 'v' is a list, a whole number from 1 to 200,000 is expected"},
        {"v: {a: 1}", "spec.yaml:1:4: 'v' is a map, a whole number from 1 to 200,000 is expected"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_err err = {};
        uint64_t number = 77;
        int rc = myr_doc_u64(value_of(cases[i].text), "v", 1, 200000, &number, &err);
        assert_int_equal(rc, cases[i].message ? MYR_EINVAL : MYR_OK);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
        assert_true((number == 77) == (cases[i].message != NULL));
    }
    struct myr_err err;
    uint64_t number;
    assert_int_equal(myr_doc_u64(value_of("v: x"), "v", 5, UINT64_MAX, &number, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:1:4: 'v' is 'x', a whole number of at least 5 is expected");
    assert_int_equal(myr_doc_u64(NULL, "v", 5, 6, &number, &err), MYR_EINVAL);
    assert_string_equal(err.message, "'v' is missing, a whole number from 5 to 6 is expected");
}

static void numbers_are_checked_for_form_and_range(void **state)
{
    (void)state;
    struct myr_err err = {};
    double number = 0;
    assert_int_equal(myr_doc_double(value_of("v: 2.5"), "v", 0, 100, &number, &err), MYR_OK);
    assert_true(number == 2.5);
    assert_int_equal(myr_doc_double(value_of("v: 1e2"), "v", 0, 100, &number, &err), MYR_OK);
    assert_true(number == 100);
    assert_int_equal(myr_doc_double(value_of("v: -1"), "v", 0, 0.5, &number, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:1:4: 'v' is '-1', a number from 0 to 0.5 is expected");
    assert_int_equal(myr_doc_double(value_of("v: .nan"), "v", 0, 1, &number, &err), MYR_EINVAL);
    assert_int_equal(myr_doc_double(value_of("v: 1e999"), "v", 0, 1, &number, &err), MYR_EINVAL);
    assert_int_equal(myr_doc_double(value_of("v: '1'"), "v", 0, 1, &number, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is \"1\", text in quotes, a number from "
                                     "0 to 1 is expected; remove the quotes");
    assert_true(number == 100);
}

static void truth_has_two_spellings(void **state)
{
    (void)state;
    struct myr_err err = {};
    bool truth = false;
    assert_int_equal(myr_doc_bool(value_of("v: true"), "v", &truth, &err), MYR_OK);
    assert_true(truth);
    assert_int_equal(myr_doc_bool(value_of("v: false"), "v", &truth, &err), MYR_OK);
    assert_false(truth);
    assert_int_equal(myr_doc_bool(value_of("v: yes"), "v", &truth, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is 'yes', true or false is expected");
    assert_int_equal(myr_doc_bool(value_of("v: 'true'"), "v", &truth, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is \"true\", text in quotes, true or "
                                     "false is expected; remove the quotes");
}

static void text_is_one_printable_line(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_str text;
    assert_int_equal(myr_doc_text(value_of("v: \xE4\xB8\x87 64"), "v", &text, &err), MYR_OK);
    assert_true(myr_str_eq(text, MYR_STR("\xE4\xB8\x87 64")));
    assert_int_equal(myr_doc_text(value_of("v: 64"), "v", &text, &err), MYR_OK);
    assert_int_equal(myr_doc_text(value_of("v: ''"), "v", &text, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is empty, text is expected");
    assert_int_equal(myr_doc_text(value_of("v: ~"), "v", &text, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is empty, text is expected");
    assert_int_equal(myr_doc_text(value_of("v: \"a\\nb\""), "v", &text, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' has a control character (U+000A) in it, "
                                     "text of one line is expected");
    assert_int_equal(myr_doc_text(value_of("v: []"), "v", &text, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is a list, text is expected");
}

static void a_wrong_choice_names_the_nearest_or_all(void **state)
{
    (void)state;
    static const char *const names[] = {"rail", "clos", "torus"};
    struct myr_err err = {};
    uint32_t index = 9;
    assert_int_equal(myr_doc_choice(value_of("v: torus"), "v", names, 3, &index, &err), MYR_OK);
    assert_int_equal(index, 2);
    assert_int_equal(myr_doc_choice(value_of("v: rial"), "v", names, 3, &index, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:4: 'v' is 'rial', which is no known choice; did "
                                     "you mean 'rail'?");
    assert_int_equal(myr_doc_choice(value_of("v: qqqq"), "v", names, 3, &index, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:1:4: 'v' is 'qqqq', one of rail, clos, torus is expected");
    assert_int_equal(myr_doc_choice(value_of("v: []"), "v", names, 3, &index, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:1:4: 'v' is a list, one of rail, clos, torus is expected");
    assert_int_equal(index, 2);
}

static void an_unknown_key_names_the_nearest_or_all(void **state)
{
    (void)state;
    static const char *const keys[] = {"switch", "tiers"};
    struct myr_err err = {};
    const struct myr_doc *map = read_yaml("tiers: 2\n  \nswich: q9700\n");
    assert_int_equal(myr_doc_check_keys(map, "networks.compute", keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:3:1: unknown key 'swich' in networks.compute; did "
                                     "you mean 'switch'?");
    map = read_yaml("tiers: 2\nprice: 1\n");
    assert_int_equal(myr_doc_check_keys(map, NULL, keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:2:1: unknown key 'price'; known keys: switch, tiers");
    map = read_yaml("<<: 1\n");
    assert_int_equal(myr_doc_check_keys(map, "", keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:1: unknown key '<<'; known keys: switch, tiers");
    map = read_yaml("tiers: 2\nswitch: 1\n");
    assert_int_equal(myr_doc_check_keys(map, NULL, keys, 2, &err), MYR_OK);
    assert_int_equal(myr_doc_check_keys(read_yaml("[1]"), NULL, keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "spec.yaml:1:1: 'the file' is a list, a map of keys is expected");
}

static void many_known_keys_are_listed_below(void **state)
{
    (void)state;
    char names[30][8];
    const char *keys[30];
    for (int i = 0; i < 30; i++) {
        snprintf(names[i], sizeof(names[i]), "key%02d", i);
        keys[i] = names[i];
    }
    struct myr_err err = {};
    assert_int_equal(myr_doc_check_keys(read_yaml("zzz: 1"), NULL, keys, 30, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:1: unknown key 'zzz'");
    assert_string_equal(err.hint,
                        "known keys: key00, key01, key02, key03, key04, key05, key06, key07, "
                        "key08, key09, key10, key11, key12, key13, key14, key15, key16, key17, "
                        "key18, key19, key20, key21, key22, key23, key24, key25, key26, key27, "
                        "key28, key29");
}

static void messages_stay_short_and_on_one_line(void **state)
{
    (void)state;
    static const char *const keys[] = {"switch"};
    struct myr_err err = {};
    const struct myr_doc *map = read_yaml("? \"a\\nb\\x1b[31m\\u202eabcdefghijklmnopqrstuvwxyz"
                                          "abcdefghijklmnopqrstuvwxyz\"\n: 1\n");
    assert_int_equal(myr_doc_check_keys(map, NULL, keys, 1, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:3: unknown key 'a?b?[31m?abcdefghijklmnopqrstuvw"
                                     "xyzabcde...'; known keys: switch");
    char *large = malloc(100001);
    assert_non_null(large);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    myr_doc_error(&err, map, MYR_EINVAL, "%s\r\n%s", "a\tb", large);
    assert_memory_equal(err.message, "spec.yaml:1:1: a?b??xxx", 23);
    assert_true(strlen(err.message) < sizeof(err.message));
    free(large);
}

static void an_excerpt_is_cut_by_characters(void **state)
{
    (void)state;
    char shown[MYR_EXCERPT_MAX];
    struct myr_buf text = {};
    for (int i = 0; i < 41; i++) {
        myr_buf_put_lit(&text, "\xF0\x9F\x98\x80");
    }
    myr_text_excerpt((struct myr_str){text.data, text.len}, shown);
    assert_int_equal(strlen(shown), 40 * 4 + 3);
    assert_string_equal(shown + 160, "...");
    myr_text_excerpt((struct myr_str){text.data, 160}, shown);
    assert_int_equal(strlen(shown), 160);
    assert_string_equal(myr_text_excerpt(MYR_STR("a\xFFz"), shown), "a?z");
    assert_string_equal(myr_text_excerpt((struct myr_str){NULL, 0}, shown), "");
    myr_buf_done(&text);
}

static void a_missing_key_is_told_at_its_map(void **state)
{
    (void)state;
    struct myr_err err = {};
    const struct myr_doc *value = NULL;
    const struct myr_doc *map = read_yaml("networks:\n  compute: {tiers: 2}\n");
    const struct myr_doc *inner = myr_doc_get(myr_doc_get(map, "networks"), "compute");
    assert_int_equal(myr_doc_need(inner, "networks.compute", "tiers", &value, &err), MYR_OK);
    assert_non_null(value);
    assert_int_equal(myr_doc_need(inner, "networks.compute", "switch", &value, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:2:12: 'switch' is missing in networks.compute");
    assert_int_equal(myr_doc_need(map, NULL, "name", &value, &err), MYR_EINVAL);
    assert_string_equal(err.message, "spec.yaml:1:1: 'name' is missing");
    assert_null(myr_doc_get(NULL, "x"));
    assert_null(myr_doc_get(value, "x"));
}

static void write_file(const char *path, const char *text)
{
    struct myr_outfile file = {};
    assert_int_equal(myr_outfile_open(&file, path, NULL), MYR_OK);
    myr_outfile_write(&file, text, strlen(text));
    assert_int_equal(myr_outfile_commit(&file, NULL), MYR_OK);
}

static void the_name_of_a_file_decides_its_language(void **state)
{
    (void)state;
    char folder[] = "/tmp/myriad-doc-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char yaml[64];
    char json[64];
    snprintf(yaml, sizeof(yaml), "%s/a.yaml", folder);
    snprintf(json, sizeof(json), "%s/a.json", folder);
    write_file(yaml, "a: 1\n");
    write_file(json, "{\"a\": 1}\n");
    const struct myr_doc *root = NULL;
    struct myr_err err = {};
    assert_int_equal(myr_doc_read_file(&arena, yaml, &root, &err), MYR_OK);
    assert_non_null(myr_doc_get(root, "a"));
    assert_int_equal(myr_doc_read_file(&arena, json, &root, &err), MYR_OK);
    assert_non_null(myr_doc_get(root, "a"));

    write_file(json, "a: 1\n");
    assert_int_equal(myr_doc_read_file(&arena, json, &root, &err), MYR_EINVAL);
    char expected[128];
    snprintf(expected, sizeof(expected), "%s:1:1: a value is expected, not 'a'", json);
    assert_string_equal(err.message, expected);
    unlink(yaml);
    unlink(json);
    assert_int_equal(myr_doc_read_file(&arena, yaml, &root, &err), MYR_ENOENT);
    rmdir(folder);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_checked_for_form_and_range),
        cmocka_unit_test(numbers_are_checked_for_form_and_range),
        cmocka_unit_test(truth_has_two_spellings),
        cmocka_unit_test(text_is_one_printable_line),
        cmocka_unit_test(a_wrong_choice_names_the_nearest_or_all),
        cmocka_unit_test(an_unknown_key_names_the_nearest_or_all),
        cmocka_unit_test(many_known_keys_are_listed_below),
        cmocka_unit_test(messages_stay_short_and_on_one_line),
        cmocka_unit_test(an_excerpt_is_cut_by_characters),
        cmocka_unit_test(a_missing_key_is_told_at_its_map),
        cmocka_unit_test(the_name_of_a_file_decides_its_language),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
