#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/plan.h"

static void money_is_said_in_millions_from_one_on(void **state)
{
    (void)state;
    static const struct {
        int64_t cents;
        const char *text;
    } cases[] = {
        {0, "0 CNY"},
        {149, "1 CNY"},
        {150, "2 CNY"},
        {99999949, "999,999 CNY"},
        {99999950, "1.00 M CNY"},
        {4868110000, "48.68 M CNY"},
        {4868500000, "48.69 M CNY"},
        {123456789000, "1,234.57 M CNY"},
        {99999999000000, "999,999.99 M CNY"},
        {99999999999900, "1.00 T CNY"},
        {1200000000000000, "12.00 T CNY"},
        {INT64_MAX, "92,233.72 T CNY"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char text[MYR_PLAN_MONEY_MAX];
        assert_ptr_equal(myr_plan_money(cases[i].cents, "CNY", text), text);
        assert_string_equal(text, cases[i].text);
    }
}

static void storage_counts_beyond_32_bits(void **state)
{
    (void)state;
    struct myr_design_head head = {.storage_raw_gb_high = 1,
                                   .storage_raw_gb_low = 500,
                                   .storage_usable_gb_high = 0,
                                   .storage_usable_gb_low = 2500};
    assert_true(myr_plan_raw_tb(&head) == 4294967.796);
    assert_true(myr_plan_usable_tb(&head) == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(money_is_said_in_millions_from_one_on),
        cmocka_unit_test(storage_counts_beyond_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
