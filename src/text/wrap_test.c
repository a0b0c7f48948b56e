#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "wrap.h"

static void words_are_broken_to_the_width_and_never_inside(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t column, indent, width;
        const char *shown;
        uint32_t end;
    } rows[] = {
        {"", 3, 2, 10, "", 3},
        {"one", 0, 0, 10, "one", 3},
        {"one two", 0, 0, 7, "one two", 7}, /* exactly as wide as there is room */
        {"one two", 0, 0, 6, "one\ntwo", 3},
        {"one two three four", 0, 2, 9, "one two\n  three\n  four", 6},
        {"one two three four", 4, 2, 9, "one\n  two\n  three\n  four", 6},
        {"aa bb cc dd ee ff", 0, 4, 9, "aa bb cc\n    dd ee\n    ff", 6},
        {"  many   blanks  ", 0, 0, 80, "many blanks", 11},
        {"line\nend here", 0, 3, 80, "line\n   end here", 11},
        {"two\n\nends", 0, 1, 80, "two\n \n ends", 5},
        {"unbreakable a b", 0, 1, 4, "unbreakable\n a b", 4},
        {"\xE4\xB8\x87\xE5\x8D\xA1 ab", 0, 0, 7, "\xE4\xB8\x87\xE5\x8D\xA1 ab", 7},
        {"\xE4\xB8\x87\xE5\x8D\xA1 ab", 0, 0, 6, "\xE4\xB8\x87\xE5\x8D\xA1\nab", 2},
        {"a\x1B[31mb", 0, 0, 80, "a?[31mb", 7}, /* nothing that a terminal would act on */
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_buf buf = {};
        myr_buf_puts(&buf, "");
        uint32_t end = wrap_put(&buf, myr_str_from(rows[i].text), rows[i].column, rows[i].indent,
                                rows[i].width);
        assert_string_equal(buf.data ? buf.data : "", rows[i].shown);
        assert_int_equal(end, rows[i].end);
        myr_buf_done(&buf);
    }
}

static void lines_are_taken_off_one_by_one(void **state)
{
    (void)state;
    struct myr_str rest = MYR_STR("one two three\nfour  five unbreakable");
    const char *const lines[] = {"one two", "three", "four", "five", "unbreakable"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        struct myr_str line = wrap_line(&rest, 8);
        assert_int_equal(line.len, strlen(lines[i]));
        assert_memory_equal(line.data, lines[i], line.len);
    }
    assert_int_equal(rest.len, 0);
    assert_int_equal(wrap_longest(MYR_STR("one three\nunbreakable a")), 11);
    assert_int_equal(wrap_longest(MYR_STR("")), 0);
    assert_int_equal(wrap_longest(MYR_STR("\xE4\xB8\x87\xE5\x8D\xA1 abc")), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_broken_to_the_width_and_never_inside),
        cmocka_unit_test(lines_are_taken_off_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
