#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <math.h>

#include "test_world.h"

static struct myr_recovery recovery;
static struct myr_case it;
static struct myr_scale_curves *curves;

static int setup(void **state)
{
    struct myr_case_question q = myr_case_question_default();
    q.model = "llama3-70b";
    q.device = "h100";
    q.gpus = 200; /* no power of two: the last point is the number asked for */
    q.batch = 400;
    MYR_TRY(open_world(state));
    MYR_TRY(myr_recovery_read(&recovery, &arena, NULL, NULL));
    MYR_TRY(myr_case_init(&it, &arena, &q, NULL));
    curves = MYR_ARENA_ONE(&arena, struct myr_scale_curves);
    return myr_scale_trace(&it, &recovery, &arena, curves, NULL);
}

static int teardown(void **state)
{
    myr_recovery_done(&recovery);
    return close_world(state);
}

static void curves_double_from_eight_to_the_number_asked_for(void **state)
{
    const struct myr_scale_curve *weak = &curves->weak;
    (void)state;
    assert_true(weak->count >= 3);
    for (uint32_t i = 0; i + 2 < weak->count; i++) {
        assert_int_equal(weak->points[i + 1].gpus, 2 * weak->points[i].gpus);
    }
    assert_int_equal(weak->points[weak->count - 1].gpus, 200);
    assert_int_equal(weak->missing_gpus, 8); /* the model does not fit on so few */
    assert_int_equal(weak->points[0].gpus, 16);
}

static void the_batch_grows_with_the_gpus_or_stays(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < curves->weak.count; i++) {
        const struct myr_scale_point *p = &curves->weak.points[i];
        assert_int_equal(p->batch, 400 * p->gpus / 200);
    }
    for (uint32_t i = 0; i < curves->strong.count; i++) {
        assert_int_equal(curves->strong.points[i].batch, 400);
    }
}

static void each_point_is_the_best_layout_there(void **state)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    (void)state;
    for (uint32_t i = 0; i < curves->weak.count; i++) {
        const struct myr_scale_point *p = &curves->weak.points[i];
        struct myr_fit_query q = it.query;
        q.gpus = p->gpus;
        q.batch = p->batch;
        assert_int_equal(myr_fit_search(&q, &arena, answer, NULL), MYR_OK);
        assert_true(answer->top[0].step_s == p->cost.step_s);
        assert_true(fabs(p->parts.step_s / p->cost.step_s - 1) < 1e-9);
        assert_true(p->peak_flops == 989e12 || p->peak_flops > 9e14);
    }
}

static void efficiency_is_the_product_of_its_parts(void **state)
{
    const struct myr_scale_curve *both[] = {&curves->weak, &curves->strong};
    (void)state;
    for (int c = 0; c < 2; c++) {
        double best = 0;
        for (uint32_t i = 0; i < both[c]->count; i++) {
            const struct myr_scale_point *p = &both[c]->points[i];
            best = p->linearity > best ? p->linearity : best;
            double common = p->availability[MYR_PRACTICE_COMMON];
            double good = p->availability[MYR_PRACTICE_BEST];
            assert_true(p->linearity > 0 && common > 0 && common < good && good < 1);
            assert_true(fabs(p->single_efficiency * p->linearity / p->cost.mfu - 1) < 1e-12);
            assert_true(fabs(p->efficiency - p->cost.mfu * good) < 1e-12);
            assert_true(fabs(p->effective_flops / (p->peak_flops * p->gpus * p->efficiency) - 1) <
                        1e-12);
        }
        assert_true(best == 1);
    }
}

static void timers_are_those_of_the_last_point(void **state)
{
    struct myr_fit_timers timers;
    (void)state;
    myr_fit_timers_of(&it.query.it, &curves->weak.points[curves->weak.count - 1].layout, &timers);
    assert_memory_equal(&timers, &curves->timers, sizeof(timers));
    assert_true(timers.most_s[MYR_FIT_TIMER_FORWARD_COMPUTE] > 0);
}

/* 128 on 100 GPUs are 81.92 on 64; 81 has no even divisor, and was read as bad scaling. */
static void a_share_that_is_no_whole_number_is_rounded_to_one_that_divides(void **state)
{
    struct myr_case_question q = myr_case_question_default();
    struct myr_case odd;
    (void)state;
    q.model = "llama3-8b";
    q.device = "h100";
    q.gpus = 100;
    q.batch = 128;
    assert_int_equal(myr_case_init(&odd, &arena, &q, NULL), MYR_OK);
    struct myr_scale_curves *found = MYR_ARENA_ONE(&arena, struct myr_scale_curves);
    assert_int_equal(myr_scale_trace(&odd, &recovery, &arena, found, NULL), MYR_OK);
    static const uint32_t batches[] = {10, 20, 40, 80, 128};
    assert_int_equal(found->weak.count, MYR_ARRAY_COUNT(batches));
    for (uint32_t i = 0; i < found->weak.count; i++) {
        const struct myr_scale_point *p = &found->weak.points[i];
        assert_int_equal(p->batch, batches[i]);
        assert_true(fabs(p->batch_share - 1.28 * p->gpus) < 1e-9);
        assert_true(i + 1 == found->weak.count || p->linearity > 0.9);
        assert_true(found->strong.points[i].batch_share == 128);
    }
}

static void a_curve_without_an_end_says_why(void **state)
{
    struct myr_case_question q = myr_case_question_default();
    struct myr_case small;
    struct myr_err err = {};
    (void)state;
    q.model = "llama3-405b";
    q.device = "h100";
    q.gpus = 8;
    q.batch = 8;
    assert_int_equal(myr_case_init(&small, &arena, &q, NULL), MYR_OK);
    assert_int_equal(myr_scale_trace(&small, &recovery, &arena, curves, &err), MYR_EINFEASIBLE);
    assert_non_null(strstr(err.message, "does not fit on 8 x h100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_double_from_eight_to_the_number_asked_for),
        cmocka_unit_test(the_batch_grows_with_the_gpus_or_stays),
        cmocka_unit_test(each_point_is_the_best_layout_there),
        cmocka_unit_test(efficiency_is_the_product_of_its_parts),
        cmocka_unit_test(timers_are_those_of_the_last_point),
        cmocka_unit_test(a_share_that_is_no_whole_number_is_rounded_to_one_that_divides),
        cmocka_unit_test(a_curve_without_an_end_says_why), /* last: it takes the curves' place */
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
