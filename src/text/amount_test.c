#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "myriad/text/amount.h"

static void one_is_one_and_all_others_are_many(void **state)
{
    (void)state;
    assert_string_equal(MYR_COUNT(0, "node"), "0 nodes");
    assert_string_equal(MYR_COUNT(1, "node"), "1 node");
    assert_string_equal(MYR_COUNT(2, "GPU"), "2 GPUs");
    assert_string_equal(MYR_COUNT(1280, "node"), "1,280 nodes");
    assert_string_equal(MYR_COUNT(1, "leaf"), "1 leaf");
    assert_string_equal(MYR_COUNT(11, "leaf"), "11 leaves");
    assert_string_equal(MYR_COUNT(3, "switch"), "3 switches");
    assert_string_equal(MYR_COUNT(1, "retry"), "1 retry");
    assert_string_equal(MYR_COUNT(2, "retry"), "2 retries");
    assert_string_equal(MYR_COUNT(2, "day"), "2 days");
    assert_string_equal(MYR_COUNT(2, "box"), "2 boxes");
    assert_string_equal(MYR_COUNT(2, "class"), "2 classes");
    assert_string_equal(MYR_COUNT(2, "mesh"), "2 meshes");
    assert_string_equal(MYR_COUNT(2, "path"), "2 paths");
    assert_string_equal(MYR_COUNT(UINT64_MAX, "a word of thirty-two bytes is it"),
                        "18,446,744,073,709,551,615 a word of thirty-two bytes is its");
}

static void durations_are_two_units_long(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {
        {0, "0 s"},
        {1, "1 s"},
        {59, "59 s"},
        {60, "1 min"},
        {61, "1 min 1 s"},
        {1478, "24 min 38 s"},
        {3599, "59 min 59 s"},
        {3600, "1 h"},
        {3659, "1 h"},
        {3660, "1 h 1 min"},
        {86399, "23 h 59 min"},
        {86400, "1 day"},
        {86400 + 3599, "1 day"},
        {2 * 86400 + 3600, "2 days 1 h"},
        {400LL * 86400, "400 days"},
        {-1, "0 s"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_string_equal(MYR_DURATION(cases[i].s), cases[i].text);
    }
    assert_string_equal(MYR_DURATION(INT64_MAX), "106751991167300 days 15 h");
    assert_string_equal(MYR_DURATION(INT64_MIN), "0 s");
}

static void numbers_have_groups_of_three_before_the_point(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint32_t digits;
        const char *text;
    } cases[] = {
        {0, 0, "0"},
        {999.4, 0, "999"},
        {999.96, 1, "1,000.0"},
        {1419.44, 1, "1,419.4"},
        {100217, 0, "100,217"},
        {1234567.891, 2, "1,234,567.89"},
        {-1234.5, 1, "-1,234.5"},
        {-0.4, 0, "-0"},
        {0.25, 3, "0.250"},
        {1e15, 1, "1e+15"},
        {-2e300, 0, "-2e+300"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_string_equal(MYR_NUMBER(cases[i].value, cases[i].digits), cases[i].text);
    }
}

/* Just below each border, on it, and what rounds to it. */
static void the_unit_follows_from_what_is_written(void **state)
{
    (void)state;
    static const struct myr_unit times[] = {{1e-3, 1000, 1, MYR_UNIT_BEHIND, "ms"},
                                            {1, 60, 1, MYR_UNIT_BEHIND, "s"},
                                            {60, 60, 0, MYR_UNIT_BEHIND, "min"},
                                            {3600, 100, 1, MYR_UNIT_BEHIND, "h"},
                                            {3600, 0, 0, MYR_UNIT_GROUPED, "h"}};
    static const struct myr_unit money[] = {{1, 1e6, 0, MYR_UNIT_GROUPED, "CNY"},
                                            {1e6, 1000, 2, MYR_UNIT_BEHIND, "M CNY"},
                                            {1e9, 0, 4, MYR_UNIT_SIGNIFICANT, "G CNY"}};
    static const struct {
        double amount;
        const struct myr_unit *units;
        size_t count;
        const char *text;
    } cases[] = {
        {0, times, 5, "0.0 ms"},
        {0.99994, times, 5, "999.9 ms"},
        {0.99996, times, 5, "1.0 s"},
        {-0.99996, times, 5, "-1.0 s"},
        {59.94, times, 5, "59.9 s"},
        {59.96, times, 5, "1 min"},
        {3569, times, 5, "59 min"},
        {3599, times, 5, "1.0 h"},
        {3600 * 99.94, times, 5, "99.9 h"},
        {3600 * 99.96, times, 5, "100 h"},
        {3600 * 1514.4, times, 5, "1,514 h"},
        {3599, times, 3, "60 min"}, /* the last one has no border */
        {999999.4, money, 3, "999,999 CNY"},
        {999999.6, money, 3, "1.00 M CNY"},
        {999.994e6, money, 3, "999.99 M CNY"},
        {999.996e6, money, 3, "1 G CNY"},
        {1e300, money, 3, "1e+291 G CNY"},
        {1e300, times, 5, "2.778e+296 h"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char text[MYR_AMOUNT_BYTES];
        assert_string_equal(myr_text_in_unit(cases[i].amount, cases[i].units, cases[i].count, text),
                            cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_one_and_all_others_are_many),
        cmocka_unit_test(numbers_have_groups_of_three_before_the_point),
        cmocka_unit_test(durations_are_two_units_long),
        cmocka_unit_test(the_unit_follows_from_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
