#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "test_world.h"

static struct myr_case it;

static struct myr_study *study_of(const char *model, uint64_t gpus, uint64_t batch)
{
    struct myr_case_question q = myr_case_question_default();
    struct myr_study *study = MYR_ARENA_ONE(&arena, struct myr_study);
    struct myr_err err = {};
    q.model = model;
    q.device = "h100";
    q.gpus = gpus;
    q.batch = batch;
    q.top = 4;
    if (myr_case_init(&it, &arena, &q, &err) < 0 ||
        myr_study_answer(&it, &arena, study, &err) < 0 ||
        myr_study_around(&it, &arena, study, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return study;
}

static void a_study_prices_every_layout_that_it_names(void **state)
{
    struct myr_study *study = study_of("llama3-70b", 64, 64);
    (void)state;
    assert_true(study->found && study->reason[0] == '\0');
    assert_int_equal(study->answer.top_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(study->prices[i].cost.step_s == study->answer.top[i].step_s);
        assert_true(study->prices[i].memory.fits);
        double low = study->prices[i].low_s, high = study->prices[i].high_s;
        assert_true(low < study->answer.top[i].step_s && study->answer.top[i].step_s < high);
        assert_true(study->prices[i].spread.share > 0);
    }
    for (uint32_t i = 0; i < study->refused_count; i++) {
        assert_true(study->refused[i].found.step_s < study->answer.top[0].step_s);
        assert_false(study->refused[i].memory.fits);
    }
    assert_true(study->choices.count > 5 && study->refused_count > 0);
    for (uint32_t i = 0; i < study->choices.count; i++) {
        const struct myr_fit_choice *c = &study->choices.items[i];
        double more = c->best.step_s / study->answer.top[0].step_s - 1;
        assert_true(study->costs[i] == (c->found ? more : 0));
    }
}

static void better_hardware_never_slows_a_step(void **state)
{
    struct myr_study *study = study_of("llama3-70b", 64, 64);
    double step_s = study->answer.top[0].step_s;
    (void)state;
    for (int k = 0; k < MYR_FIT_KNOB_COUNT; k++) {
        bool more_is_worse = k == MYR_FIT_KNOB_LATENCY;
        double better = more_is_worse ? study->knobs[k].less_s : study->knobs[k].more_s;
        double worse = more_is_worse ? study->knobs[k].more_s : study->knobs[k].less_s;
        assert_true(better <= step_s && step_s <= worse);
        assert_true(study->knobs[k].more == study->knobs[k].more_s / step_s - 1);
        assert_true(study->knobs[k].less == study->knobs[k].less_s / step_s - 1);
    }
    assert_true(study->knobs[MYR_FIT_KNOB_PEAK].more_s < step_s);
}

static void nothing_fits_is_an_answer_with_its_reason(void **state)
{
    struct myr_study *study = study_of("llama3-405b", 8, 8);
    (void)state;
    assert_false(study->found);
    assert_non_null(strstr(study->reason, "llama3-405b does not fit on 8 x h100"));
    assert_true(study->hint[0] != '\0' && study->answer.has_nearest);
    assert_false(study->nearest.fits);
    assert_true(study->nearest.total_bytes == study->answer.nearest_bytes);
    assert_true(study->refused_count > 0 && study->choices.count == 0);
}

static void what_cannot_be_asked_is_an_error(void **state)
{
    struct myr_case_question q = myr_case_question_default();
    struct myr_study *study = MYR_ARENA_ONE(&arena, struct myr_study);
    struct myr_err err = {};
    (void)state;
    q.model = "llama3-8b";
    q.device = "h100";
    q.gpus = 64;
    q.batch = 64;
    q.tp = 7;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(myr_study_answer(&it, &arena, study, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "tp 7"));
}

static void without_a_design_only_the_domain_has_a_name(void **state)
{
    struct myr_layout l = myr_layout_default();
    (void)state;
    (void)study_of("llama3-8b", 64, 64);
    l.tp = 8;
    l.dp = 8;
    l.global_batch = 64;
    assert_string_equal(myr_study_reach(&it, &l, MYR_AXIS_TP), "scale-up");
    assert_string_equal(myr_study_reach(&it, &l, MYR_AXIS_DP), "fabric");
    assert_non_null(strstr(myr_study_slowdowns(&it), "generic"));
    it.query.it.topology = &it.topology; /* as if it had a design, which may be closed by now */
    assert_non_null(strstr(myr_study_slowdowns(&it), "oversubscription only"));
    it.topology.measured = true;
    assert_string_equal(myr_study_slowdowns(&it), "contention.json beside the design");
    it.query.it.topology = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_study_prices_every_layout_that_it_names),
        cmocka_unit_test(better_hardware_never_slows_a_step),
        cmocka_unit_test(nothing_fits_is_an_answer_with_its_reason),
        cmocka_unit_test(what_cannot_be_asked_is_an_error),
        cmocka_unit_test(without_a_design_only_the_domain_has_a_name),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
