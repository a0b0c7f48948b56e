#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <math.h>

#include "test_world.h"

static struct myr_training_question question(void)
{
    struct myr_training_question q = myr_training_question_default();
    q.of.model = "llama3-8b";
    q.of.device = "h100";
    q.of.gpus = 512;
    q.of.batch = 1024;
    q.tokens = 1e12;
    return q;
}

static struct myr_training *plan(const struct myr_training_question *q)
{
    struct myr_training *t = MYR_ARENA_ONE(&arena, struct myr_training);
    struct myr_err err = {};
    if (myr_training_plan(t, &arena, q, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return t;
}

static void assert_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-9 * fabs(expected)) {
        fail_msg("%.15g, %.15g expected", found, expected);
    }
}

static void a_run_is_planned_for_each_rate_and_practice(void **state)
{
    struct myr_training_question q = question();
    struct myr_training *t = plan(&q);
    (void)state;
    assert_int_equal(t->case_count, 4);
    assert_int_equal(t->answer.top_count, MYR_TRAINING_LAYOUTS);
    assert_string_equal(t->facility.currency, "CNY");
    assert_true(t->facility.kwh.known && !t->facility.servers_unpriced && t->nodes_left == 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct myr_training_case *c = &t->cases[i];
        assert_int_equal(c->practice, i % 2 ? MYR_PRACTICE_BEST : MYR_PRACTICE_COMMON);
        assert_string_equal(c->rate.name, i < 2 ? "llama3" : "rsc-1");
        assert_close(1 / c->campaign.goodput.mean_time_between_s,
                     c->rate.per_1000_node_days / 1000 / 86400 * 64);
        assert_true(c->days[0] < c->campaign.days && c->campaign.days < c->days[1]);
        assert_false(c->played.known || c->priced);
        assert_true(c->total_cost < 0); /* what machines cost is not known */
        double steps = c->campaign.renewal.interval / c->campaign.step_s;
        assert_true(c->interval_steps >= 1);
        assert_true(steps < 1 || fabs((double)c->interval_steps - steps) <= 0.5);
    }
    assert_true(t->class_count > 5);
    myr_training_done(t);
}

static void defaults_are_those_that_the_docs_name(void **state)
{
    struct myr_training_question q = question(), same = question();
    (void)state;
    same.pue = 1.25;
    same.kwh = 0.65;
    same.spare_risk = 0.001;
    same.of.software = "Megatron-Bridge 26.06"; /* the latest measured on H100 */
    struct myr_training *a = plan(&q), *b = plan(&same);
    assert_true(a->cases[0].campaign.energy_cost == b->cases[0].campaign.energy_cost);
    assert_true(a->cases[0].campaign.spares == b->cases[0].campaign.spares);
    assert_close(a->question.watts, 1.8 * 700 * 512);
    assert_close(a->cases[0].campaign.energy_cost, a->cases[0].campaign.energy_mwh * 1000 * 0.65);
    myr_training_done(a);
    myr_training_done(b);
}

static void money_is_a_total_only_where_everything_has_a_price(void **state)
{
    struct myr_training_question q = question();
    (void)state;
    q.gpu_hour = 14;
    q.rate = "llama3";
    struct myr_training *t = plan(&q);
    assert_int_equal(t->case_count, 2);
    assert_true(t->cases[0].priced);
    assert_close(t->cases[0].total_cost,
                 t->cases[0].campaign.energy_cost + t->cases[0].campaign.machine_cost);
    assert_close(t->question.price_per_hour, 14 * 512);
    myr_training_done(t);
    q.currency = "USD"; /* the price of electricity is one in CNY */
    t = plan(&q);
    assert_false(t->facility.kwh.known);
    assert_true(t->cases[0].total_cost < 0 && t->cases[0].campaign.energy_cost == 0);
    myr_training_done(t);
    q.kwh = 0.08;
    t = plan(&q);
    assert_true(t->facility.kwh.known && t->cases[0].total_cost > 0);
    myr_training_done(t);
    q.gpu_hour = 0; /* machines that are paid for: electricity is all of it */
    t = plan(&q);
    assert_true(t->cases[0].priced && t->cases[0].campaign.machine_cost == 0);
    assert_true(t->cases[0].total_cost == t->cases[0].campaign.energy_cost);
    myr_training_done(t);
    q.tokens = 0; /* not asked: no days, no money */
    t = plan(&q);
    assert_true(t->cases[0].total_cost < 0 && t->cases[0].days[1] == 0);
    myr_training_done(t);
}

static void a_run_that_never_ends_has_no_days(void **state)
{
    struct myr_training_question q = question();
    (void)state;
    q.rate = "1e6";
    struct myr_training *t = plan(&q);
    assert_false(t->cases[0].campaign.ends);
    assert_true(t->cases[0].days[0] == 0 && t->cases[0].total_cost < 0);
    myr_training_done(t);
}

static void assert_refused(const struct myr_training_question *q, int code, const char *words)
{
    struct myr_training *t = MYR_ARENA_ONE(&arena, struct myr_training);
    struct myr_err err = {};
    assert_int_equal(myr_training_plan(t, &arena, q, &err), code);
    if (!strstr(err.message, words)) {
        fail_msg("'%s' does not say '%s'", err.message, words);
    }
}

static void bad_questions_are_refused(void **state)
{
    struct myr_training_question q = question();
    (void)state;
    q.currency = "a long story";
    assert_refused(&q, MYR_EINVAL, "--currency is 'a long story'");
    q.currency = "";
    assert_refused(&q, MYR_EINVAL, "--currency is ''");
    q = question();
    q.rate = "often";
    assert_refused(&q, MYR_EINVAL, "--rate is 'often'");
    q = question();
    q.of.batch = 0;
    assert_refused(&q, MYR_EINVAL, "give --batch");
    q = question();
    q.of.model = "llama3-405b";
    q.of.gpus = 8;
    q.of.batch = 8;
    assert_refused(&q, MYR_EINFEASIBLE, "does not fit");
    q = question();
    q.data = "/nowhere/data.yaml";
    assert_refused(&q, MYR_ENOENT, "/nowhere/data.yaml");
}

static void given_times_reach_every_tier(void **state)
{
    struct myr_training_question q = question();
    (void)state;
    q.times = (struct myr_failure_times){true, true, 123, 4, 600};
    q.rate = "rsc-1";
    q.play = 500;
    struct myr_training *t = plan(&q);
    const struct myr_renewal *best = &t->cases[1].campaign.renewal;
    assert_true(best->durable.recovery == 123 && best->quick.recovery == 123);
    assert_true(best->durable.stall == 4 && best->quick.stall == 4);
    assert_close(best->interval, 600);
    assert_true(t->cases[1].played.known);
    myr_training_done(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_planned_for_each_rate_and_practice),
        cmocka_unit_test(defaults_are_those_that_the_docs_name),
        cmocka_unit_test(money_is_a_total_only_where_everything_has_a_price),
        cmocka_unit_test(a_run_that_never_ends_has_no_days),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(given_times_reach_every_tier),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
