/* Durations for people: the unit changes where the number would be hard to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "goodput/goodput.h"

static void a_duration_has_the_unit_of_its_size(void **state)
{
    static const struct {
        double seconds;
        const char *words;
    } rows[] = {
        {0, "0.0 s"},
        {119.94, "119.9 s"},
        {120, "2.0 min"},
        {3000, "50.0 min"},
        {7196, "119.9 min"},
        {7200, "2.0 h"},
        {36000, "10.0 h"},
        {172618, "47.9 h"},
        {172800, "2.0 days"},
        {86400 * 500.0, "500.0 days"},
        {86400 * 729.9, "729.9 days"},
        {3600 * 47.0502, "47.1 h"}, /* a unit off by a second would round down */
        {3600 * 47.0498, "47.0 h"}, /* or up */
        {60 * 110.0498, "110.0 min"},
        {86400 * 600.0498, "600.0 days"},
        {86400 * 365 * 1234.4998, "1234 years"},
        {86400 * 600.0502, "600.1 days"},
        {86400 * 365 * 1234.5002, "1235 years"},
        {86400 * 730.0, "2 years"},
        {119.96, "2.0 min"}, /* what is written decides over the unit */
        {119.94, "119.9 s"},
        {7199, "2.0 h"},
        {7196.9, "119.9 min"},
        {3600 * 47.96, "2.0 days"},
        {86400 * 729.96, "2 years"},
        {86400 * 365 * 1234.0, "1234 years"},
    };
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    (void)state;
    myr_arena_init(&arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_string_equal(cli_goodput_time(&arena, rows[i].seconds), rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_duration_has_the_unit_of_its_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
