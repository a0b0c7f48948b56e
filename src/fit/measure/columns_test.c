/* Columns of a table of runs: they stand in any order, and some have to be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "myriad/fit/runs.h"
#include "rounds.h"
#include "test_world.h"

struct column {
    const char *name, *value;
};

static const struct column whole[] = {{"software", "NeMo 25.05"},
                                      {"hw", "h100"},
                                      {"gpus", "64"},
                                      {"gbs", "128"},
                                      {"model", "llama3-8b"},
                                      {"tp", "4"},
                                      {"pp", "2"},
                                      {"cp", "1"},
                                      {"vp", "1"},
                                      {"mbs", "2"},
                                      {"iter_s", "3.5"},
                                      {"precision", "bf16"},
                                      {"sharding", "zero1"},
                                      {"seq_par", "1"},
                                      {"recompute", "none"}};

enum { COUNT = MYR_ARRAY_COUNT(whole) };

static int parse(const struct column *columns, uint32_t count, struct myr_runs *ret,
                 struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&text, "%s%s", i ? "," : "", columns[i].name);
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&text, "%s%s", i ? "," : "\n", columns[i].value);
    }
    myr_buf_putc(&text, '\n');
    return myr_runs_parse(ret, &arena, &profiles, "f", (struct myr_str){text.data, text.len}, err);
}

static void assert_whole(const struct myr_runs *runs)
{
    assert_int_equal(runs->count, 1);
    const struct myr_run *run = &runs->items[0];
    const struct myr_layout *l = &run->layout;
    assert_null(run->refused);
    assert_true(runs->has_times);
    assert_string_equal(run->it.stack->name, "NeMo 25.05");
    assert_string_equal(run->it.device->name, "h100");
    assert_string_equal(run->model.name, "llama3-8b");
    assert_int_equal(run->gpus, 64);
    assert_int_equal(l->global_batch, 128);
    assert_int_equal(l->tp, 4);
    assert_int_equal(l->pp, 2);
    assert_int_equal(l->dp, 8);
    assert_int_equal(l->micro_batch, 2);
    assert_int_equal(l->zero, 1);
    assert_true(run->measured_s > 3.49 && run->measured_s < 3.51);
}

static void columns_stand_in_any_order_among_others(void **state)
{
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 5, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(64); round++) {
        struct column columns[COUNT + 1];
        struct myr_runs runs;
        memcpy(columns, whole, sizeof(whole));
        columns[COUNT] = (struct column){"weather", "7"}; /* nobody reads it */
        for (uint32_t i = COUNT; i > 0; i--) {
            uint32_t other = (uint32_t)myr_rng_below(&rng, i + 1);
            struct column swap = columns[i];
            columns[i] = columns[other];
            columns[other] = swap;
        }
        assert_int_equal(parse(columns, COUNT + 1, &runs, NULL), MYR_OK);
        assert_whole(&runs);
    }
}

/* The one that a row cannot do without stands first, second, third and last. */
static void needed_columns_are_found_at_every_place(void **state)
{
    (void)state;
    for (uint32_t which = 0; which < 5; which++) {
        for (uint32_t at = 0; at < COUNT; at++) {
            struct column columns[COUNT];
            struct myr_runs runs;
            memcpy(columns, whole, sizeof(whole));
            columns[which] = whole[at];
            columns[at] = whole[which];
            assert_int_equal(parse(columns, COUNT, &runs, NULL), MYR_OK);
            assert_whole(&runs);
        }
    }
}

static void a_needed_column_that_is_missing_is_named(void **state)
{
    (void)state;
    for (uint32_t which = 0; which < COUNT; which++) {
        struct column columns[COUNT];
        struct myr_runs runs;
        struct myr_err err = {};
        char words[96];
        memcpy(columns, whole, sizeof(whole));
        columns[which] = whole[COUNT - 1];
        int rc = parse(columns, COUNT - 1, &runs, &err);
        snprintf(words, sizeof(words),
                 which < 4 ? "f:1:1: column '%s' is missing"
                           : "f:1:1: column '%s' (a built-in name) or 'layers' "
                             "is missing",
                 whole[which].name);
        assert_int_equal(rc, which < 5 ? MYR_EINVAL : MYR_OK);
        assert_string_equal(err.message, which < 5 ? words : "");
    }
}

static void of_two_columns_with_one_name_the_last_counts(void **state)
{
    struct column columns[COUNT + 1];
    struct myr_runs runs;
    (void)state;
    memcpy(columns + 1, whole, sizeof(whole));
    columns[0] = (struct column){" GPUs ", "8"};
    assert_int_equal(parse(columns, COUNT + 1, &runs, NULL), MYR_OK);
    assert_whole(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_stand_in_any_order_among_others),
        cmocka_unit_test(needed_columns_are_found_at_every_place),
        cmocka_unit_test(a_needed_column_that_is_missing_is_named),
        cmocka_unit_test(of_two_columns_with_one_name_the_last_counts),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
