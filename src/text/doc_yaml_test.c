#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

struct fixture {
    struct myr_arena arena;
    struct myr_err err;
};

static int begin(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){};
    myr_arena_init(&fixture.arena);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    myr_arena_done(&fixture->arena);
    return 0;
}

static int read_text(struct fixture *fixture, struct myr_str text, const struct myr_doc **ret)
{
    fixture->err = (struct myr_err){};
    return myr_doc_read_yaml(&fixture->arena, "s.yaml", text, ret, &fixture->err);
}

static const struct myr_doc *read_good(struct fixture *fixture, const char *text)
{
    const struct myr_doc *root = NULL;
    if (read_text(fixture, myr_str_from(text), &root) < 0) {
        fail_msg("%s", fixture->err.message);
    }
    return root;
}

static void expect_error(struct fixture *fixture, struct myr_str text, const char *message)
{
    const struct myr_doc *root = NULL;
    int rc = read_text(fixture, text, &root);
    assert_string_equal(fixture->err.message, message);
    assert_true(rc == MYR_EINVAL || rc == MYR_ERANGE);
    assert_null(root);
}

static void expect_place(const struct myr_doc *node, uint32_t line, uint32_t column)
{
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

static void every_node_knows_its_place(void **state)
{
    const struct myr_doc *root = read_good(*state, "# comment\n"
                                                   "name: h100\n"
                                                   "networks:\n"
                                                   "  compute: {tiers: 2, \xE4\xB8\x87: [a, bb]}\n"
                                                   "list:\n"
                                                   "- one\n"
                                                   "-   two\n");
    assert_int_equal(root->kind, MYR_DOC_MAP);
    expect_place(root, 2, 1);
    expect_place(myr_doc_get(root, "name"), 2, 7);
    const struct myr_doc *compute = myr_doc_get(myr_doc_get(root, "networks"), "compute");
    expect_place(compute, 4, 12);
    assert_int_equal(compute->entries[1].key_line, 4);
    assert_int_equal(compute->entries[1].key_column, 23);
    const struct myr_doc *inner = myr_doc_get(compute, "\xE4\xB8\x87");
    expect_place(inner, 4, 26); /* columns count characters, not bytes */
    expect_place(inner->items[1], 4, 30);
    const struct myr_doc *list = myr_doc_get(root, "list");
    assert_int_equal(list->kind, MYR_DOC_LIST);
    expect_place(list->items[1], 7, 5);
    assert_int_equal(root->depth, 4);
    assert_int_equal(root->expanded, 11 - 1);
    assert_string_equal(root->file, "s.yaml");
}

static void scalars_keep_their_text_and_their_quotes(void **state)
{
    const struct myr_doc *root = read_good(*state, "a: 64\nb: \"64\"\nc: '64'\nd: |\n  64\ne: ~\n"
                                                   "f: null\ng:\nh: ''\ni: \"~\"\nj: Null\n");
    assert_int_equal(root->count, 10);
    static const struct {
        enum myr_doc_kind kind;
        bool quoted;
        const char *text;
    } expected[] = {
        {MYR_DOC_SCALAR, false, "64"}, {MYR_DOC_SCALAR, true, "64"},
        {MYR_DOC_SCALAR, true, "64"},  {MYR_DOC_SCALAR, true, "64\n"},
        {MYR_DOC_NULL, false, "~"},    {MYR_DOC_NULL, false, "null"},
        {MYR_DOC_NULL, false, ""},     {MYR_DOC_SCALAR, true, ""},
        {MYR_DOC_SCALAR, true, "~"},   {MYR_DOC_SCALAR, false, "Null"},
    };
    for (uint32_t i = 0; i < root->count; i++) {
        const struct myr_doc *value = root->entries[i].value;
        assert_int_equal(value->kind, expected[i].kind);
        assert_int_equal(value->quoted, expected[i].quoted);
        assert_true(myr_str_eq(value->text, myr_str_from(expected[i].text)));
    }
}

static void line_ends_and_byte_order_marks_do_not_matter(void **state)
{
    static const char *const texts[] = {"a: 1\nb: 2\n", "a: 1\r\nb: 2\r\n", "a: 1\rb: 2\r",
                                        "\xEF\xBB\xBFx: 1\nb: 2\n", "--- {a: 1,\nb: 2}\n...\n"};
    assert_int_equal(read_good(*state, "%YAML 1.2\n--- {a: \"100 %TAG\"}\n")->count, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        const struct myr_doc *root = read_good(*state, texts[i]);
        assert_int_equal(root->count, 2);
        assert_int_equal(root->entries[1].key_line, 2);
        assert_int_equal(root->entries[1].key_column, 1);
    }
}

static void aliases_share_the_anchored_node(void **state)
{
    const struct myr_doc *root = read_good(*state, "a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n"
                                                   "&k e: 4\nf: {*k : 5}\n");
    assert_ptr_equal(myr_doc_get(root, "a"), myr_doc_get(root, "b"));
    assert_ptr_equal(myr_doc_get(root, "c"), myr_doc_get(root, "d"));
    assert_non_null(myr_doc_get(myr_doc_get(root, "f"), "e"));
    assert_int_equal(root->expanded, 6 + 2 + 2 + 1);
}

static void broken_text_gets_one_plain_line(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "s.yaml:1:1: the file is empty, settings such as 'name: value' are expected"},
        {"# only a comment\n",
         "s.yaml:1:1: the file is empty, settings such as 'name: value' are expected"},
        {"---\n", "s.yaml:1:1: the file is empty, settings such as 'name: value' are expected"},
        {"a:\n\tb: 1\n", "s.yaml:2:1: a tab cannot indent YAML; use spaces"},
        {"a: \"x\nb: 1\n", "s.yaml:1:4: the quote opened here is never closed"},
        {"a: 'x", "s.yaml:1:4: the quote opened here is never closed"},
        {"a: \"x\n--- y\n",
         "s.yaml:1:4: the quote opened here is not closed before the document ends"},
        {"a: [1,\n2", "s.yaml:2:2: ',' or ']' is expected in the list opened on line 1"},
        {"a: {b: 1\nc: 2\n", "s.yaml:2:2: ',' or '}' is expected in the map opened on line 1"},
        {"a: 1\nfoo\n", "s.yaml:2:1: a key without ':' after it"},
        {"a: b: c\n",
         "s.yaml:1:5: a ':' cannot stand here; quote the text or check the indentation"},
        {"- a\nb: 1\n", "s.yaml:2:1: a '-' is expected here, for one more item of the list that "
                        "begins on line 1"},
        {"a: - b\n", "s.yaml:1:4: a list item ('-') cannot stand here; it needs a line of its own"},
        {"a: @x\n", "s.yaml:1:4: '@' cannot begin a value; put the text in quotes"},
        {"a: \"\\q\"\n", "s.yaml:1:5: unknown escape after '\\' in the quoted text; write '\\\\' "
                         "for a backslash"},
        {"a: *\n", "s.yaml:1:4: '*' needs a name after it; quote the text if no alias is meant"},
        {"a: &\n", "s.yaml:1:4: '&' needs a name after it; quote the text if no anchor is meant"},
        {"a: *y\n", "s.yaml:1:4: alias '*y' has no anchor '&y' before it"},
        {"a:\n  &x [1,\n  *x]\n", "s.yaml:3:3: alias '*x' lies inside its own anchor of line 2"},
        {"a: &x {b: *x}\n", "s.yaml:1:11: alias '*x' lies inside its own anchor of line 1"},
        {"a: 1\n---\nb: 2\n",
         "s.yaml:2:1: a second document begins here; one document a file is expected"},
        {"a: 1\n...\nb: 2\n", "s.yaml:3:1: nothing more is expected after the document"},
        {"? [a]\n: b\n", "s.yaml:1:3: a key must be plain text, not a list or map"},
        {"x: &l [1]\n? *l\n: b\n", "s.yaml:2:3: a key must be plain text, not a list or map"},
        {"? \n: 3\n", "s.yaml:1:2: a key is expected before ':'"},
        {"a: !!str 3\n",
         "s.yaml:1:4: tags such as '!!str' are not supported; put text in quotes instead"},
        {"%TAG ! tag:x\n--- 1\n",
         "s.yaml:1:1: tags are not supported, so a %TAG line has no meaning"},
        {"# a\xE2\x80\xA8%TAG ! tag:x\n--- 1\n",
         "s.yaml:1:5: tags are not supported, so a %TAG line has no meaning"},
        {"%NAME x\n--- 1\n", "s.yaml:1:1: '%' begins a directive, of which only %YAML is known; "
                             "put text in quotes"},
        {"a: \x01\n", "s.yaml:1:4: a control character is not allowed"},
        {"a: 1\nb: \xE4\xB8\x87\xFF\n",
         "s.yaml:2:5: byte 0xff is not UTF-8 text; save the file as UTF-8"},
        {"a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
         "s.yaml:5:3: key 'c' is given twice, on line 3 and on line 5"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        expect_error(*state, myr_str_from(cases[i].text), cases[i].message);
    }
}

static void utf16_is_refused_and_not_guessed(void **state)
{
    expect_error(*state,
                 (struct myr_str){"\xFF\xFE"
                                  "a\0:\0 \0001\0",
                                  10},
                 "s.yaml:1:1: byte 0xff is not UTF-8 text; save the file as UTF-8");
}

static void duplicate_keys_are_found_in_large_maps(void **state)
{
    struct myr_buf text = {};
    for (int i = 0; i < 1000; i++) {
        myr_buf_printf(&text, "k%d: %d\n", i, i);
    }
    assert_int_equal(read_good(*state, text.data)->count, 1000);
    myr_buf_puts(&text, "k17: x\n");
    expect_error(*state, (struct myr_str){text.data, text.len},
                 "s.yaml:1001:1: key 'k17' is given twice, on line 18 and on line 1001");
    myr_buf_done(&text);
}

static void repeat(struct myr_buf *buf, const char *text, int count)
{
    for (int i = 0; i < count; i++) {
        myr_buf_puts(buf, text);
    }
}

static void nesting_is_limited_in_every_form(void **state)
{
    struct myr_buf text = {};
    repeat(&text, "[", 64);
    repeat(&text, "]", 64);
    assert_int_equal(read_good(*state, text.data)->depth, 64);

    myr_buf_clear(&text);
    repeat(&text, "[", 5000);
    expect_error(*state, (struct myr_str){text.data, text.len},
                 "s.yaml:1:65: nested more than 64 levels deep, the most allowed");

    myr_buf_clear(&text);
    for (int i = 0; i < 5000; i++) {
        myr_buf_printf(&text, "%*sa:\n", i, "");
    }
    expect_error(*state, (struct myr_str){text.data, text.len},
                 "s.yaml:65:65: nested more than 64 levels deep, the most allowed");

    /* Two halves that are shallow each and deep together. */
    myr_buf_clear(&text);
    myr_buf_puts(&text, "a: &x ");
    repeat(&text, "[", 40);
    repeat(&text, "]", 40);
    myr_buf_puts(&text, "\nb: ");
    repeat(&text, "[", 30);
    myr_buf_puts(&text, "*x");
    repeat(&text, "]", 30);
    expect_error(*state, (struct myr_str){text.data, text.len},
                 "s.yaml:2:34: nested more than 64 levels deep, the most allowed");
    myr_buf_done(&text);
}

/* Nine levels of nine: a billion values from half a kilobyte. */
static void an_alias_bomb_costs_no_more_than_its_text(void **state)
{
    struct fixture *fixture = *state;
    struct myr_buf text = {};
    myr_buf_puts(&text, "l0: &l0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i <= 9; i++) {
        myr_buf_printf(&text, "l%d: &l%d [", i, i);
        for (int j = 0; j < 9; j++) {
            myr_buf_printf(&text, "%s*l%d", j > 0 ? ", " : "", i - 1);
        }
        myr_buf_puts(&text, "]\n");
    }
    size_t before = fixture->arena.total_bytes;
    const struct myr_doc *root = NULL;
    assert_int_equal(read_text(fixture, (struct myr_str){text.data, text.len}, &root), MYR_ERANGE);
    assert_non_null(strstr(fixture->err.message,
                           "aliases repeat so much that the whole has more than 8000000 values"));
    assert_memory_equal(fixture->err.message, "s.yaml:8:", 9);
    assert_true(fixture->arena.total_bytes - before < 256 * 1024);
    myr_buf_done(&text);
}

static void too_many_values_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct myr_buf text = {};
    myr_buf_puts(&text, "[");
    repeat(&text, "0,", MYR_DOC_NODES_MAX);
    myr_buf_puts(&text, "]");
    const struct myr_doc *root = NULL;
    struct myr_str str = {text.data, text.len};
    assert_int_equal(myr_doc_read_json(&fixture->arena, "s.json", str, &root, &fixture->err),
                     MYR_ERANGE);
    assert_string_equal(fixture->err.message, "s.json:1:8000000: more than 4000000 values, the "
                                              "most allowed in one file");
    str.len = MYR_DOC_BYTES_MAX + 1;
    expect_error(fixture, str,
                 ""
                 "s.yaml:1:1: the file has 67108865 bytes, more than 67108864 are not read");
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_node_knows_its_place, begin, end),
        cmocka_unit_test_setup_teardown(scalars_keep_their_text_and_their_quotes, begin, end),
        cmocka_unit_test_setup_teardown(line_ends_and_byte_order_marks_do_not_matter, begin, end),
        cmocka_unit_test_setup_teardown(aliases_share_the_anchored_node, begin, end),
        cmocka_unit_test_setup_teardown(broken_text_gets_one_plain_line, begin, end),
        cmocka_unit_test_setup_teardown(utf16_is_refused_and_not_guessed, begin, end),
        cmocka_unit_test_setup_teardown(duplicate_keys_are_found_in_large_maps, begin, end),
        cmocka_unit_test_setup_teardown(nesting_is_limited_in_every_form, begin, end),
        cmocka_unit_test_setup_teardown(an_alias_bomb_costs_no_more_than_its_text, begin, end),
        cmocka_unit_test_setup_teardown(too_many_values_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
