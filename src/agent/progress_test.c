#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "progress.h"
#include "shim/peers.h"

static void a_datagram_says_step_and_phase(void **state)
{
    (void)state;
    struct progress progress = {};
    assert_true(progress_parse(MYR_STR("step 12 saved 10 phase train\n"), &progress));
    assert_int_equal(progress.step, 12);
    assert_int_equal(progress.saved, 10);
    assert_string_equal(progress.phase, "train");
    assert_true(progress_parse(MYR_STR("step 13"), &progress));
    assert_int_equal(progress.step, 13);
    assert_int_equal(progress.saved, 10);                                /* stays */
    assert_true(progress_parse(MYR_STR("step 14 loss 0.5"), &progress)); /* a later word */
    assert_int_equal(progress.step, 14);
}

static void nothing_else_changes_anything(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "step",
                                      "step x",
                                      "step -1",
                                      "step 99999999999999999999",
                                      "step 9223372036854775808",
                                      "saved 5",
                                      "step 5 saved",
                                      "step 5 saved x",
                                      "step 5 phase a/b",
                                      "step 5 phase aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                      "\377\377"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct progress progress = {.step = 3, .saved = 2, .phase = "x"};
        assert_false(progress_parse(myr_str_from(bad[i]), &progress));
        assert_int_equal(progress.step, 3);
        assert_int_equal(progress.saved, 2);
        assert_string_equal(progress.phase, "x");
    }
}

static void lines_of_known_programs_are_steps(void **state)
{
    (void)state;
    struct progress_pattern pattern = {};
    struct myr_err err = {};
    uint64_t step = 0;
    assert_int_equal(progress_pattern_init(&pattern, NULL, &err), MYR_OK);
    assert_true(progress_match(&pattern,
                               " [2026-03-01 12:00:00] iteration      200/  500000 | consumed "
                               "samples:        51200 | elapsed time per iteration (ms): 512.3 |",
                               &step));
    assert_int_equal(step, 200);
    assert_true(progress_match(&pattern, " iteration        1/      10 | x", &step));
    assert_int_equal(step, 1);
    assert_false(progress_match(&pattern, "elapsed time per iteration (ms): 512.3 |", &step));
    assert_false(progress_match(&pattern, "iteration 99999999999999999999999/ 10 | x", &step));
    progress_pattern_done(&pattern);
    assert_false(progress_match(&pattern, " iteration        1/      10 | x", &step));
}

static void a_pattern_needs_its_group(void **state)
{
    (void)state;
    struct progress_pattern pattern = {};
    struct myr_err err = {};
    uint64_t step = 0;
    assert_int_equal(progress_pattern_init(&pattern, "batch [0-9]+", &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "group"));
    assert_int_equal(progress_pattern_init(&pattern, "batch ([0-9]+", &err), MYR_EINVAL);
    assert_int_equal(progress_pattern_init(&pattern, "(a)\\1 ([0-9]+)", &err), MYR_EINVAL);
    assert_int_equal(progress_pattern_init(&pattern, "batch ([0-9]+)", &err), MYR_OK);
    assert_true(progress_match(&pattern, "epoch 1 batch 77 loss", &step));
    assert_int_equal(step, 77);
    progress_pattern_done(&pattern);
}

/* The C library would take gigabytes for them, in the process that holds the node's ranks. */
static void a_pattern_does_not_grow_without_end(void **state)
{
    static const char *const large[] = {
        "([0-9]+)a++++++++++++++++++++++++++++++",
        "(((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)",
        "((a{200}){200}){200}",
        "([0-9]{1,99999999999999999999})",
        "((((((((((a+)+)+)+)+)+)+)+){9}){99}){99}",
    };
    static const char *const fair[] = {"step[: ]+([0-9]+)", "[]x[]{2,3}([0-9]{1,18})",
                                       "(a|b)+ ([0-9]+)( of [0-9]+)?", "x{0,255}([0-9]+)\\+"};
    struct myr_err err = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(large); i++) {
        struct progress_pattern pattern = {};
        assert_int_equal(progress_pattern_init(&pattern, large[i], &err), MYR_ERANGE);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fair); i++) {
        struct progress_pattern pattern = {};
        assert_int_equal(progress_pattern_init(&pattern, fair[i], &err), MYR_OK);
        progress_pattern_done(&pattern);
    }
}

static void a_peer_is_believed_for_its_own_incarnation(void **state)
{
    (void)state;
    int64_t age = 0;
    assert_true(peers_parse(MYR_STR("step-age 5 2 300\n"), 5, 2, &age));
    assert_int_equal(age, 300);
    assert_true(peers_parse(MYR_STR("step-age 5 2 -\n"), 5, 2, &age));
    assert_int_equal(age, -1);
    assert_false(peers_parse(MYR_STR("step-age 5 3 300\n"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 300"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 -7\n"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 99999999999999999\n"), 5, 2, &age));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_says_step_and_phase),
        cmocka_unit_test(nothing_else_changes_anything),
        cmocka_unit_test(lines_of_known_programs_are_steps),
        cmocka_unit_test(a_pattern_needs_its_group),
        cmocka_unit_test(a_pattern_does_not_grow_without_end),
        cmocka_unit_test(a_peer_is_believed_for_its_own_incarnation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
