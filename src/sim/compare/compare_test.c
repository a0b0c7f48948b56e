#include "myriad/sim/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct myr_arena arena;

static int begin(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static void put(struct myr_results *results, enum myr_result_group group, const char *of,
                double value)
{
    struct myr_result_figure figure = {group, of, "end_us", value};
    myr_vec_push(&results->figures, figure);
}

/* Two runs: what is equal, a little off, far off, from nothing and to nothing, and one-sided. */
static void fill(struct myr_results *a, struct myr_results *b)
{
    put(a, MYR_RESULT_RUN, "", 100);
    put(b, MYR_RESULT_RUN, "", 110);
    put(a, MYR_RESULT_FLOW, "f0", 10);
    put(b, MYR_RESULT_FLOW, "f0", 10);
    put(a, MYR_RESULT_FLOW, "f1", 10);
    put(b, MYR_RESULT_FLOW, "f1", 11);
    put(a, MYR_RESULT_FLOW, "f2", 10);
    put(b, MYR_RESULT_FLOW, "f2", 5);
    put(a, MYR_RESULT_FLOW, "f3", 0);
    put(b, MYR_RESULT_FLOW, "f3", 1);
    put(a, MYR_RESULT_FLOW, "f4", -4);
    put(b, MYR_RESULT_FLOW, "f4", -3);
    put(a, MYR_RESULT_POINT, "gone", 7);
    put(b, MYR_RESULT_POINT, "new", 8);
    put(b, MYR_RESULT_JOB, "f0", 9); /* another group is another figure */
}

static void figures_of_one_name_are_compared(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_results_done) struct myr_results a = {}, b = {};
    struct myr_results_difference found;
    static const struct {
        const char *of;
        double part;
        bool only_a, only_b, beyond;
    } wanted[] = {
        {"", 0.1, false, false, true},   {"f0", 0, false, false, false},
        {"f1", 0.1, false, false, true}, {"f2", -0.5, false, false, true},
        {"f3", 1, false, false, true},   {"f4", 0.25, false, false, true},
        {"gone", 0, true, false, true},  {"new", 0, false, true, true},
        {"f0", 0, false, true, true},
    };
    fill(&a, &b);
    assert_int_equal(myr_results_compare(&found, &arena, &a, &b, 0, NULL), MYR_OK);
    assert_int_equal(found.count, MYR_ARRAY_COUNT(wanted));
    for (uint32_t i = 0; i < found.count; i++) {
        const struct myr_result_pair *pair = &found.pairs[i];
        assert_string_equal(pair->of, wanted[i].of);
        assert_true(pair->part == wanted[i].part && pair->beyond == wanted[i].beyond);
        assert_true(pair->only_a == wanted[i].only_a && pair->only_b == wanted[i].only_b);
    }
    assert_true(found.pairs[1].a == 10 && found.pairs[2].b == 11 && found.pairs[7].b == 8);
    assert_int_equal(found.beyond, 8);
    assert_int_equal(found.only_a, 1);
    assert_int_equal(found.only_b, 2);
    assert_true(found.worst == 1);
    /* Exactly as far as is allowed is within; from nothing, anything is beyond. */
    assert_int_equal(myr_results_compare(&found, &arena, &a, &b, 0.25, NULL), MYR_OK);
    assert_int_equal(found.beyond, 5);
    assert_false(found.pairs[5].beyond);
    assert_true(found.pairs[3].beyond && found.pairs[4].beyond);
}

static void two_kinds_are_not_compared(void **state)
{
    (void)state;
    struct myr_results a = {.kind = MYR_RESULTS_ANSWER}, b = {.kind = MYR_RESULTS_SWEEP};
    struct myr_results_difference found;
    struct myr_err err = {};
    assert_int_equal(myr_results_compare(&found, &arena, &a, &b, 0, &err), MYR_EINVAL);
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    myr_buf_printf(&said, "the first file is %s, the second %s; two of one kind are expected",
                   myr_results_kinds[MYR_RESULTS_ANSWER], myr_results_kinds[MYR_RESULTS_SWEEP]);
    assert_string_equal(err.message, said.data);
}

static void assert_listed(const struct myr_results_difference *found, bool all, uint64_t most,
                          uint32_t left_out, const char *names)
{
    const struct myr_result_pair **list;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t left;
    uint32_t count = myr_results_listed(found, &arena, all, most, &list, &left);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&text, "%s:%s ", myr_result_groups[list[i]->group], list[i]->of);
    }
    assert_string_equal(text.len ? text.data : "", names);
    assert_int_equal(left, left_out);
}

/* The run and its jobs always; of flows and points those that are farthest apart first. */
static void what_is_farthest_apart_is_listed_first(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_results_done) struct myr_results a = {}, b = {};
    struct myr_results_difference found;
    fill(&a, &b);
    assert_int_equal(myr_results_compare(&found, &arena, &a, &b, 0.1, NULL), MYR_OK);
    assert_listed(&found, false, 100, 0,
                  "run: job:f0 point:gone point:new flow:f3 flow:f2 flow:f4 ");
    assert_listed(&found, true, 100, 0,
                  "run: job:f0 point:gone point:new flow:f3 flow:f2 flow:f4 flow:f1 flow:f0 ");
    assert_listed(&found, false, 3, 2, "run: job:f0 point:gone point:new flow:f3 ");
    assert_listed(&found, false, 0, 5, "run: job:f0 ");
    assert_listed(&found, false, 5, 0, "run: job:f0 point:gone point:new flow:f3 flow:f2 flow:f4 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_one_name_are_compared),
        cmocka_unit_test(two_kinds_are_not_compared),
        cmocka_unit_test(what_is_farthest_apart_is_listed_first),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
