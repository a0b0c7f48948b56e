#include "myriad/sched/node_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 130 };

static void lists_and_ranges_set_their_bits(void **state)
{
    (void)state;
    uint64_t bits[3] = {};
    struct myr_err err = {};
    assert_int_equal(myr_node_list_parse("l", MYR_STR("3,7-9,64,127-129"), NODES, bits, &err),
                     MYR_OK);
    for (uint64_t node = 0; node < NODES; node++) {
        bool listed =
            node == 3 || (node >= 7 && node <= 9) || node == 64 || (node >= 127 && node <= 129);
        assert_int_equal(bits[node / 64] >> node % 64 & 1, listed);
    }
}

static void what_is_no_list_is_told_with_its_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {{"", "l:1:1: ''"},
                 {"x", "l:1:1: 'x'"},
                 {"3,,4", "l:1:3: ''"},
                 {"3,9-7", "l:1:3: '9-7'"},
                 {"130", "l:1:1: '130'"},
                 {"1-130", "l:1:1: '1-130'"},
                 {"4-", "l:1:1: '4-'"},
                 {"-4", "l:1:1: '-4'"},
                 {"1-2-3", "l:1:1: '1-2-3'"},
                 {"1, 2", "l:1:3: ' 2'"},
                 {"99999999999999999999999", "l:1:1: '9999"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        uint64_t bits[3] = {};
        struct myr_err err = {};
        assert_int_equal(myr_node_list_parse("l", myr_str_from(cases[i].text), NODES, bits, &err),
                         MYR_EINVAL);
        assert_memory_equal(err.message, cases[i].place, strlen(cases[i].place));
        assert_non_null(strstr(err.message, "below 130"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges_set_their_bits),
        cmocka_unit_test(what_is_no_list_is_told_with_its_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
