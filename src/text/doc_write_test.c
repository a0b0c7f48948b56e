#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

static void expect(const char *json, const char *yaml)
{
    struct myr_arena arena;
    struct myr_buf buf = {}, again = {};
    struct myr_err err = {};
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    assert_int_equal(myr_doc_read_json(&arena, "a", myr_str_from(json), &doc, &err), MYR_OK);
    myr_doc_write_yaml(doc, &buf);
    assert_string_equal(buf.data, yaml);
    /* What is written reads back as the same tree. */
    struct myr_str text = {myr_arena_strndup(&arena, buf.data, buf.len), buf.len};
    assert_int_equal(myr_doc_read_yaml(&arena, "b", text, &doc, &err), MYR_OK);
    myr_doc_write_yaml(doc, &again);
    assert_string_equal(again.data, yaml);
    myr_buf_done(&buf);
    myr_buf_done(&again);
    myr_arena_done(&arena);
}

static void maps_and_lists_are_blocks(void **state)
{
    (void)state;
    expect("{\"a\": 1, \"b\": {\"c\": [1, 2]}, \"d\": []}",
           "a: 1\nb:\n  c:\n    - 1\n    - 2\nd: []\n");
    expect("[{\"a\": 1, \"b\": null}, {}]", "- a: 1\n  b: null\n- {}\n");
}

static void text_that_looks_like_something_else_is_quoted(void **state)
{
    (void)state;
    expect("{\"a\": \"64\", \"b\": \"yes\", \"c\": \"plain words\", \"d\": \"x: y\"}",
           "a: \"64\"\nb: \"yes\"\nc: plain words\nd: \"x: y\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_and_lists_are_blocks),
        cmocka_unit_test(text_that_looks_like_something_else_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
