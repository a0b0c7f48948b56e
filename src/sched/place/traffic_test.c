#include "myriad/sched/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct myr_arena arena;

static int set_up(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static struct myr_job_traffic traffic_of(struct myr_layout layout)
{
    struct myr_job_traffic traffic;
    struct myr_err err = {0};
    assert_int_equal(myr_job_traffic_of(&layout, NULL, 8, &arena, &traffic, &err), MYR_OK);
    return traffic;
}

static struct myr_layout layout_of(uint32_t tp, uint32_t dp, uint32_t pp)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = tp;
    layout.dp = dp;
    layout.pp = pp;
    return layout;
}

static const struct myr_traffic_family *family_of(const struct myr_job_traffic *t,
                                                  enum myr_members members)
{
    for (uint32_t i = 0; i < t->family_count; i++) {
        if (t->families[i].members == members) {
            return &t->families[i];
        }
    }
    fail_msg("no family of that kind");
    return NULL;
}

static void digits_say_who_is_in_a_group(void **state)
{
    (void)state;
    struct myr_job_traffic t = traffic_of(layout_of(8, 4, 3));
    assert_int_equal(t.cells, 12);
    assert_int_equal(t.digit_count, 2);
    assert_int_equal(t.digits[0], 4);
    assert_int_equal(t.digits[1], 3);
    assert_int_equal(t.family_count, 2);
    const struct myr_traffic_family *data = family_of(&t, MYR_MEMBERS_ALL);
    assert_int_equal(data->digit_bits, 1);
    assert_int_equal(data->group_size, 4);
    assert_int_equal(data->group_count, 3);
    const struct myr_traffic_family *stages = family_of(&t, MYR_MEMBERS_NEIGHBOURS);
    assert_int_equal(stages->digit_bits, 2);
    assert_int_equal(stages->group_size, 2);
    assert_int_equal(stages->group_count, 8);
    assert_int_equal(stages->offsets[1], 4);
    /* 96 ranks: 64 bytes each stay in the node, 4 of data and 1 of the pipeline leave it. */
    assert_true(t.inside_bytes == 96 * 64);
    assert_true(t.between_bytes == 96 * 5);
    assert_true(data->bytes == 96 * 4 / 3.0 && stages->bytes == 96 / 8.0);
}

static void several_chunks_a_stage_close_the_ring(void **state)
{
    (void)state;
    struct myr_layout layout = layout_of(8, 2, 4);
    layout.vp = 2;
    struct myr_job_traffic t = traffic_of(layout);
    const struct myr_traffic_family *ends = family_of(&t, MYR_MEMBERS_ENDS);
    assert_int_equal(ends->group_count, 2);
    assert_int_equal(ends->offsets[1], 6);
    assert_int_equal(ends->digit_bits, 2);
    const struct myr_traffic_family *stages = family_of(&t, MYR_MEMBERS_NEIGHBOURS);
    assert_int_equal(stages->group_count, 6);
    assert_true(stages->bytes == ends->bytes); /* every pair sends the same */
}

static void groups_that_a_node_cuts_through_are_refused(void **state)
{
    (void)state;
    struct myr_job_traffic t;
    struct myr_err err = {0};
    struct myr_layout layout = layout_of(6, 4, 1);
    assert_true(myr_job_traffic_of(&layout, NULL, 8, &arena, &t, &err) < 0);
    assert_non_null(strstr(err.message, "groups do not line up with nodes of 8 GPUs"));
    layout = layout_of(3, 3, 1);
    assert_true(myr_job_traffic_of(&layout, NULL, 8, &arena, &t, &err) < 0);
    assert_string_equal(err.message, "9 ranks do not fill nodes of 8 GPUs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_say_who_is_in_a_group),
        cmocka_unit_test(several_chunks_a_stage_close_the_ring),
        cmocka_unit_test(groups_that_a_node_cuts_through_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
