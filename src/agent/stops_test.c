#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "folder_test.h"
#include "stops.h"

static void a_stop_counts_for_its_epoch_and_all_before(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_false(stops_has(&stops, 5, 1));
    assert_int_equal(stops_add(&stops, 5, 3, &err), MYR_OK);
    assert_int_equal(stops_add(&stops, 5, 2, &err), MYR_OK); /* says nothing new */
    assert_true(stops_has(&stops, 5, 1) && stops_has(&stops, 5, 3));
    assert_false(stops_has(&stops, 5, 4));
    assert_false(stops_has(&stops, 6, 1));
    stops_done(&stops);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK); /* another life */
    assert_true(stops_has(&stops, 5, 3));
    assert_false(stops_has(&stops, 5, 4));
    stops_done(&stops);
}

static void a_line_without_its_end_was_never_answered(void **state)
{
    (void)state;
    struct stops stops = {.fd = -1};
    stops_read(&stops, MYR_STR("1 2 .\n3 4 .\n5 6\n7 8 \nx 1 .\n9 99999999999 .\n10 11 ."));
    assert_int_equal(stops.items.count, 2);
    assert_true(stops_has(&stops, 1, 2) && stops_has(&stops, 3, 4));
    stops_done(&stops);
}

static void what_was_not_needed_for_longest_is_forgotten(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint64_t job = 1; job <= STOPS_MAX; job++) {
        myr_buf_printf(&text, "%llu 1 .\n", (unsigned long long)job + 100000);
    }
    assert_int_equal(file_put(folder, "stops", (struct myr_str){text.data, text.len}, &err),
                     MYR_OK);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_true(stops_has(&stops, 100001, 1)); /* asked for: the next one is older now */
    assert_int_equal(stops_add(&stops, 7, 1, &err), MYR_OK);
    assert_int_equal(stops.items.count, STOPS_MAX);
    assert_true(stops_has(&stops, 7, 1) && stops_has(&stops, 100001, 1));
    assert_false(stops_has(&stops, 100002, 1));
    stops_done(&stops);
}

static void the_file_does_not_grow_for_ever(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(file_put(folder, "stops", MYR_STR("1 1 .\n"), &err), MYR_OK);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    stops.lines = 2 * STOPS_MAX; /* as after so many stops */
    for (uint32_t epoch = 2; epoch < 6; epoch++) {
        assert_int_equal(stops_add(&stops, 1, epoch, &err), MYR_OK);
    }
    assert_true(stops.lines < 10);
    assert_int_equal(file_get(folder, "stops", &text, &err), MYR_OK);
    assert_true(text.len < 100);
    stops_done(&stops);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_true(stops_has(&stops, 1, 5));
    stops_done(&stops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_counts_for_its_epoch_and_all_before),
        cmocka_unit_test(a_line_without_its_end_was_never_answered),
        cmocka_unit_test(what_was_not_needed_for_longest_is_forgotten),
        cmocka_unit_test(the_file_does_not_grow_for_ever),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
