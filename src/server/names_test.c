#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server.h"

static void gives(const char *list, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    char **names;
    uint32_t count;
    if (names_expand(list, &names, &count, &err) < 0) {
        fail_msg("%s: %s", list, err.message);
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&text, "%s%s", i ? " " : "", names[i]);
    }
    assert_string_equal(text.data, expected);
    names_free(names, count);
}

static void fails(const char *list, const char *words)
{
    struct myr_err err = {};
    char **names = NULL;
    uint32_t count = 0;
    assert_true(names_expand(list, &names, &count, &err) < 0);
    if (!strstr(err.message, words) || strchr(err.message, '\n')) {
        fail_msg("%s: '%s' is expected in: %s", list, words, err.message);
    }
    assert_null(names);
}

static void names_and_ranges_in_order(void **state)
{
    (void)state;
    gives("a", "a");
    gives("b,a,c.d_e-f", "b a c.d_e-f");
    gives("gpu-[1-3]", "gpu-1 gpu-2 gpu-3");
    gives("gpu-[08-11]", "gpu-08 gpu-09 gpu-10 gpu-11");
    gives("n[7]", "n7");
    gives("n[007]", "n007");
    gives("a[1-2]b", "a1b a2b");
    gives("[1-2]", "1 2");
}

static void commas_inside_of_brackets_part_ranges(void **state)
{
    (void)state;
    gives("n[1-2,5,8-9],x,y[1,3]", "n1 n2 n5 n8 n9 x y1 y3");
    gives("r1-[01,03]-b,r2", "r1-01-b r1-03-b r2");
}

static void many(void **state)
{
    (void)state;
    struct myr_err err = {};
    char **names;
    uint32_t count;
    assert_int_equal(names_expand("gpu-[00001-12500]", &names, &count, &err), MYR_OK);
    assert_int_equal(count, 12500);
    assert_string_equal(names[12499], "gpu-12500");
    names_free(names, count);
    fails("a[1-200000],b", "more than 200000 nodes");
    fails("a[0-200000]", "'[0-200000]': more than 200000 nodes");
    fails("a[0-18446744073709551615]", "more than 200000 nodes");
}

static void bad_lists_are_one_line(void **state)
{
    (void)state;
    static const char *const empty[] = {"", ",", "a,", ",a", "a,,b"};
    static const char *const ranges[] = {"a[]",
                                         "a[1-]",
                                         "a[-1]",
                                         "a[x-y]",
                                         "a[1,]",
                                         "a[1--2]",
                                         "a[1-2-3]",
                                         "a[ 1-2]",
                                         "a[[1-2]]",
                                         "a[1,,2]",
                                         "a[99999999999999999999]"};
    char text[512];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(empty); i++) {
        fails(empty[i], "node name ''");
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ranges); i++) {
        fails(ranges[i], "is no range such as");
    }
    fails("a[5-1]", "'[5-1]' runs backwards: [1-5] is expected");
    fails("a[1-2", "a ']' is missing");
    fails("a[1-2,b", "a ']' is missing");
    fails("a1-2]", "node name 'a1-2]'");
    fails("a[1-2][3-4]", "letters, digits");
    fails("a b", "node name 'a b'");
    fails("a/../b", "letters, digits");
    fails("<b>", "letters, digits");
    fails("n\xc3\xa9", "letters, digits");
    fails("a,b,a", "node name 'a' twice");
    fails("n[1-3],n2", "node name 'n2' twice");
    fails("n[1,1]", "node name 'n1' twice");
    memset(text, 'a', sizeof(text));
    text[64] = '\0';
    fails(text, "at most 63");
    text[63] = '\0';
    gives(text, text);
    memset(text, 'a', sizeof(text));
    text[400] = '\0';
    fails(text, "a name of 400 bytes");
    memcpy(text, "n[18446744073709551615-18446744073709551615]", 45);
    gives(text, "n18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_ranges_in_order),
        cmocka_unit_test(commas_inside_of_brackets_part_ranges),
        cmocka_unit_test(many),
        cmocka_unit_test(bad_lists_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
