/* Packed and taken out again, a tree is the same in every field; drawn ones, and the program's. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

static void same(const struct myr_doc *a, const struct myr_doc *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->expanded, b->expanded);
    assert_string_equal(a->file, b->file);
    assert_true(myr_str_eq(a->text, b->text));
    if (a->kind == MYR_DOC_SCALAR) {
        assert_int_equal(b->text.data[b->text.len], '\0'); /* as the other readers leave it */
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->kind == MYR_DOC_LIST) {
            same(a->items[i], b->items[i]);
            continue;
        }
        assert_true(myr_str_eq(a->entries[i].key, b->entries[i].key));
        assert_int_equal(a->entries[i].key_line, b->entries[i].key_line);
        assert_int_equal(a->entries[i].key_column, b->entries[i].key_column);
        same(a->entries[i].value, b->entries[i].value);
    }
}

static void pack_and_take(struct myr_arena *arena, const struct myr_doc *doc, const char *file)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_doc_pack(doc, &buf);
    same(doc, myr_doc_unpack(arena, file, buf.data, buf.len));
}

static void read_and_compare(const char *text)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_err err = {};
    const struct myr_doc *doc;
    assert_int_equal(myr_doc_read_yaml(&arena, "a.yaml", myr_str_from(text), &doc, &err), MYR_OK);
    pack_and_take(&arena, doc, "a.yaml");
}

static void test_small(void **state)
{
    (void)state;
    read_and_compare("word");
    read_and_compare("~");
    read_and_compare("''");
    read_and_compare("[]");
    read_and_compare("{}");
    read_and_compare("a: 1\n'b c': [x, 'y', ~, {z: \"1\"}]\n");
    read_and_compare("a: &one {b: [1, 2]}\nc: *one\nd: [*one, *one]\n");
}

/* Lines, columns and lengths on both sides of what seven and fourteen bits hold. */
static void test_wide_numbers(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 126, 127, 128, 129, 16383, 16384, 16385};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(widths); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        for (size_t k = 0; k < widths[i]; k++) {
            myr_buf_putc(&text, '\n');
        }
        myr_buf_puts(&text, "key: [");
        for (size_t k = 0; k < widths[i]; k++) {
            myr_buf_puts(&text, k == 0 ? "x" : ",x");
        }
        myr_buf_puts(&text, ", \"");
        for (size_t k = 0; k < widths[i]; k++) {
            myr_buf_putc(&text, 'y');
        }
        myr_buf_puts(&text, "\"]");
        myr_buf_putc(&text, '\0');
        read_and_compare(text.data);
    }
}

static void test_files_of_the_program(void **state)
{
    (void)state;
    static const char *const patterns[] = {"/catalog/*.yaml", "/catalog/*/*.yaml",
                                           "/examples/*.yaml"};
    glob_t found = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(patterns); i++) {
        char pattern[4096];
        snprintf(pattern, sizeof(pattern), "%s%s", MYR_SOURCE_DIR, patterns[i]);
        assert_int_equal(glob(pattern, i == 0 ? 0 : GLOB_APPEND, NULL, &found), 0);
    }
    assert_true(found.gl_pathc > 60);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        struct myr_err err = {};
        const struct myr_doc *doc;
        assert_int_equal(myr_doc_read_file(&arena, found.gl_pathv[i], &doc, &err), MYR_OK);
        pack_and_take(&arena, doc, found.gl_pathv[i]);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_files_of_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
