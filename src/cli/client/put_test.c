/* From a server's JSON into an answer, and from a user's word into a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "client/job.h"
#include "leaks.h"

/* gmtime_r() keeps the time zone. */
long myr_leaks_allowed = 3;

static int open_cli(void **state)
{
    struct cli *cli = myr_xcalloc(1, sizeof(*cli));
    myr_arena_init(&cli->arena);
    myr_answer_init(&cli->answer, &cli->arena, "t", 1);
    *state = cli;
    return 0;
}

static int close_cli(void **state)
{
    struct cli *cli = *state;
    myr_arena_done(&cli->arena);
    free(cli);
    return 0;
}

static const struct myr_doc *doc_of(struct cli *cli, const char *json)
{
    const struct myr_doc *doc;
    assert_int_equal(myr_doc_read_json(&cli->arena, "s", myr_str_from(json), &doc, NULL), MYR_OK);
    return doc;
}

/* The answer as JSON or CSV, without blanks and lines. */
static const char *text_of(struct cli *cli, enum myr_format format)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_answer_form form = {.format = format};
    assert_int_equal(myr_answer_write(&cli->answer, &form, &buf, NULL), MYR_OK);
    size_t len = 0;
    for (size_t i = 0; i < buf.len; i++) {
        buf.data[len] = buf.data[i];
        len += buf.data[i] != ' ' && buf.data[i] != '\n';
    }
    return myr_arena_strndup(&cli->arena, buf.data, len);
}

/* Numbers stay numbers and texts texts, whatever they look like. */
static void what_a_server_says_keeps_its_kind(void **state)
{
    static const char json[] =
        "{\"t\":\"x\",\"q\":\"7\",\"qt\":\"true\",\"e\":\"\",\"u\":18446744073709551615,"
        "\"i\":-3,\"d\":2.5,\"f\":1.2345678,\"y\":true,\"n\":false,\"z\":null,\"l\":[1,\"2\",[],"
        "{}],\"m\":{\"a\":{\"b\":-0.5}}}";
    struct cli *cli = *state;
    client_put(cli, "all", doc_of(cli, json));
    assert_string_equal(text_of(cli, MYR_FORMAT_JSON),
                        "{\"schema\":\"t\",\"version\":1,\"all\":{\"t\":\"x\",\"q\":\"7\","
                        "\"qt\":\"true\",\"e\":\"\",\"u\":18446744073709551615,\"i\":-3,\"d\":2.5,"
                        "\"f\":1.234568,\"y\":true,\"n\":false,\"z\":null,\"l\":[1,\"2\",[],{}],"
                        "\"m\":{\"a\":{\"b\":-0.5}}}}");
}

/* Deeper than an answer may be: null in its place, and all around it is there. */
static void what_is_nested_too_deep_is_left_out(void **state)
{
    struct cli *cli = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf json = {};
    for (int i = 0; i < MYR_ANSWER_DEPTH_MAX + 3; i++) {
        myr_buf_puts(&json, i % 2 ? "[" : "{\"k\":");
    }
    myr_buf_puts(&json, "7");
    for (int i = MYR_ANSWER_DEPTH_MAX + 2; i >= 0; i--) {
        myr_buf_puts(&json, i % 2 ? "]" : ",\"s\":1}");
    }
    client_put(cli, "deep", doc_of(cli, json.data));
    const char *text = text_of(cli, MYR_FORMAT_JSON);
    assert_null(strchr(text, '7'));
    size_t nulls = 0, ones = 0, open = 0;
    for (const char *c = text; *c; c++) {
        nulls += strncmp(c, "null", 4) == 0;
        ones += strncmp(c, "\"s\":1", 5) == 0;
        open += *c == '{' || *c == '[';
    }
    assert_int_equal(nulls, 1);
    /* The last two are kept free; the root is one, and every second of the others has a 1. */
    assert_int_equal(open, MYR_ANSWER_DEPTH_MAX - 2);
    assert_int_equal(ones, (MYR_ANSWER_DEPTH_MAX - 2) / 2);
}

static void lists_are_lists_of_objects(void **state)
{
    static const struct {
        const char *json, *csv; /* csv NULL: it is refused */
    } rows[] = {
        {"{\"jobs\":[{\"a\":1},{\"a\":2}]}", "a12"},
        {"{\"jobs\":[]}", ""},
        {"{\"jobs\":[{\"a\":1},2]}", NULL},
        {"{\"jobs\":[1,{\"a\":2}]}", NULL},
        {"{\"jobs\":{}}", NULL},
        {"{\"job\":[]}", NULL},
        {"{\"jobs\":null}", NULL},
    };
    struct cli *cli = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_value *list = NULL;
        struct myr_err err = {};
        myr_answer_init(&cli->answer, &cli->arena, "t", 1);
        int rc = client_put_list(cli, doc_of(cli, rows[i].json), "jobs", &list, &err);
        assert_int_equal(rc, rows[i].csv ? MYR_OK : MYR_EIO);
        assert_string_equal(err.message,
                            rows[i].csv ? "" : "the server's answer has no list of 'jobs'");
        if (rows[i].csv) {
            assert_string_equal(text_of(cli, MYR_FORMAT_CSV), rows[i].csv);
        }
    }
    myr_answer_init(&cli->answer, &cli->arena, "t", 1);
    client_put_one(cli, doc_of(cli, "{\"a\":5}"), "jobs");
    assert_string_equal(text_of(cli, MYR_FORMAT_CSV), "a5");
    myr_answer_init(&cli->answer, &cli->arena, "t", 1);
    assert_int_equal(client_put_one(cli, doc_of(cli, "[1]"), "jobs")->count, 0);
}

static void words_of_users_are_one_part_of_a_path(void **state)
{
    struct cli *cli = *state;
    char longest[400];
    assert_string_equal(client_word(cli, ""), "");
    assert_string_equal(client_word(cli, "azAZ09-._~"), "azAZ09-._~");
    assert_string_equal(client_word(cli, "/?&=%# +@[`{:"),
                        "%2F%3F%26%3D%25%23%20%2B%40%5B%60%7B%3A");
    assert_string_equal(client_word(cli, "\xC3\xA9\x7F\x01"), "%C3%A9%7F%01");
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(strlen(client_word(cli, longest)), 300);
}

static void single_values_of_an_answer(void **state)
{
    struct cli *cli = *state;
    const struct myr_doc *doc =
        doc_of(cli, "{\"t\":\"x\",\"n\":-12,\"l\":[],\"z\":null,\"w\":\"7\","
                    "\"ms\":1767225661999,\"one\":1000,\"neg\":-5,"
                    "\"zero\":0}");
    assert_string_equal(client_text(cli, doc, "t"), "x");
    assert_string_equal(client_text(cli, doc, "n"), "-12");
    assert_string_equal(client_text(cli, doc, "l"), "");
    assert_string_equal(client_text(cli, doc, "z"), "");
    assert_string_equal(client_text(cli, doc, "none"), "");
    assert_string_equal(client_text(cli, NULL, "t"), "");
    assert_int_equal(client_i64(doc, "n"), -12);
    assert_int_equal(client_i64(doc, "w"), 7);
    assert_int_equal(client_i64(doc, "t"), 0);
    assert_int_equal(client_i64(doc, "l"), 0);
    assert_int_equal(client_i64(doc, "none"), 0);
    assert_string_equal(client_time(cli, doc, "ms"), "2026-01-01 00:01:01Z");
    assert_string_equal(client_time(cli, doc, "one"), "1970-01-01 00:00:01Z");
    assert_string_equal(client_time(cli, doc, "zero"), "-");
    assert_string_equal(client_time(cli, doc, "neg"), "-");
    assert_string_equal(client_time(cli, doc, "none"), "-");
}

static void three_states_are_ends(void **state)
{
    static const char *const others[] = {"queued", "placing",    "starting",  "running", "saving",
                                         "",       "recovering", "finishing", "donee",   "fail"};
    (void)state;
    assert_true(job_has_ended("done") && job_has_ended("failed") && job_has_ended("cancelled"));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        assert_false(job_has_ended(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_cli, close_cli)
        TEST(what_a_server_says_keeps_its_kind), TEST(what_is_nested_too_deep_is_left_out),
        TEST(lists_are_lists_of_objects),        TEST(words_of_users_are_one_part_of_a_path),
        TEST(single_values_of_an_answer),        TEST(three_states_are_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
