#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/base.h"

static void walk(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        MYR_PROBE("a step of the test");
        if (i == 1000) {
            MYR_PROBE("never in the test");
        }
    }
}

static uint64_t count_of(const char *what)
{
    struct myr_probe *const *all;
    uint32_t count = myr_probes(&all);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(all[i]->what, what) == 0) {
            assert_non_null(strstr(all[i]->file, "probe_test.c"));
            return all[i]->count;
        }
    }
    fail_msg("no mark '%s' among %u", what, count);
    return 0;
}

static void a_mark_counts_how_often_it_was_reached(void **state)
{
    (void)state;
    assert_int_equal(count_of("a step of the test"), 0);
    walk(3);
    assert_int_equal(count_of("a step of the test"), 3);
    walk(39);
    assert_int_equal(count_of("a step of the test"), 42);
    assert_int_equal(count_of("never in the test"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_mark_counts_how_often_it_was_reached)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
