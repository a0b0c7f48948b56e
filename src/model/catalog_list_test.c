#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/model/catalog.h"

static uint32_t kinds_of(const char *word)
{
    uint32_t kinds = 0;
    struct myr_err err = {};
    if (myr_part_kinds(word, &kinds, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return kinds;
}

static void a_kind_is_named_by_a_part_of_its_name_or_by_its_section(void **state)
{
    (void)state;
    assert_int_equal(kinds_of("transceiver"), 1U << MYR_PART_TRANSCEIVER);
    assert_int_equal(kinds_of("switch"), 1U << MYR_PART_SWITCH | 1U << MYR_PART_ETHERNET);
    assert_int_equal(kinds_of("SWITCHES"), 1U << MYR_PART_SWITCH);
    assert_int_equal(kinds_of("ethernet"), 1U << MYR_PART_ETHERNET);
    assert_int_equal(kinds_of("server"), 1U << MYR_PART_SERVER | 1U << MYR_PART_STORAGE);
    assert_int_equal(kinds_of("licence"), 1U << MYR_PART_SERVICE);
}

static void an_unknown_kind_names_the_nearest(void **state)
{
    (void)state;
    uint32_t kinds = 77;
    struct myr_err err = {};
    assert_int_equal(myr_part_kinds("swithc", &kinds, &err), MYR_EINVAL);
    assert_string_equal(err.message, "no kind of part is called 'swithc'; did you mean 'switch'?");
    assert_string_equal(err.hint, "myriad catalog lists the kinds");
    assert_int_equal(myr_part_kinds("zzzzzzzzzz", &kinds, &err), MYR_EINVAL);
    assert_string_equal(err.message, "no kind of part is called 'zzzzzzzzzz'");
    assert_int_equal(myr_part_kinds("", &kinds, &err), MYR_EINVAL);
    assert_int_equal(kinds, 77);
}

static void a_word_is_looked_for_in_name_order_number_and_title(void **state)
{
    (void)state;
    struct myr_part part = {.id = "mqm9790-ns2f", .order = "MQM9790", .title = "Quantum-2 switch"};
    assert_true(myr_part_matches(&part, "NS2F"));
    assert_true(myr_part_matches(&part, "mqm9790"));
    assert_true(myr_part_matches(&part, "quantum"));
    assert_true(myr_part_matches(&part, "h")); /* at the very end of the title */
    assert_false(myr_part_matches(&part, "switches"));
    struct myr_part bare = {.id = "x"};
    assert_true(myr_part_matches(&bare, "x"));
    assert_false(myr_part_matches(&bare, "y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_is_named_by_a_part_of_its_name_or_by_its_section),
        cmocka_unit_test(an_unknown_kind_names_the_nearest),
        cmocka_unit_test(a_word_is_looked_for_in_name_order_number_and_title),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
