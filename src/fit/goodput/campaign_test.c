#include "myriad/fit/campaign.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"

struct fixture {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_recovery recovery;
    struct myr_model model;
    struct myr_fit_query query;
    struct myr_fit_answer answer;
    struct myr_campaign_question question;
};

static void set_up(struct fixture *f, const char *model, uint32_t gpus, uint32_t batch)
{
    struct myr_err err = {};
    bool exact;
    myr_arena_init(&f->arena);
    assert_int_equal(myr_profiles_init(&f->profiles, &f->arena, &err), MYR_OK);
    assert_int_equal(myr_recovery_init(&f->recovery, &f->arena, &err), MYR_OK);
    assert_int_equal(myr_model_find(&f->arena, model, &f->model, &err), MYR_OK);
    f->query = myr_fit_query_default();
    assert_int_equal(myr_profiles_device(&f->profiles, MYR_STR("h100"), &f->query.it.device, &err),
                     MYR_OK);
    assert_int_equal(
        myr_profiles_stack(&f->profiles, MYR_STR("NeMo 25.05"), &f->query.it.stack, &exact, &err),
        MYR_OK);
    f->query.it.model = &f->model;
    f->query.it.constants = f->profiles.constants;
    f->query.gpus = gpus;
    f->query.batch = batch;
    f->query.seq_tokens = f->model.seq_tokens;
    f->query.top = 8;
    assert_int_equal(myr_fit_search(&f->query, &f->arena, &f->answer, &err), MYR_OK);
    f->question = (struct myr_campaign_question){.it = f->query.it,
                                                 .recovery = &f->recovery,
                                                 .gpus_per_node = 8,
                                                 .tokens = 1e12,
                                                 .rate_per_s = 3.8 / 1000 / 86400 * gpus / 8,
                                                 .spare_risk = 0.001,
                                                 .watts = 1e7,
                                                 .pue = 1.25,
                                                 .price_per_kwh = 0.5,
                                                 .price_per_hour = 1000};
}

static void tear_down(struct fixture *f)
{
    myr_recovery_done(&f->recovery);
    myr_arena_done(&f->arena);
}

static struct myr_campaign ask(struct fixture *f, enum myr_practice practice)
{
    struct myr_campaign c;
    struct myr_err err = {};
    assert_int_equal(
        myr_campaign_of(&f->question, practice, f->answer.top, f->answer.top_count, &c, &err),
        MYR_OK);
    return c;
}

static void spares_are_those_of_the_poisson_law(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 11, 0);
    for (uint32_t i = 0; i < 400; i++) {
        double mean = exp((double)myr_rng_below(&rng, 1300) / 100 - 4), out;
        double risk = exp(-(double)myr_rng_below(&rng, 1200) / 100 - 0.1);
        uint32_t spares = myr_spares_needed(mean / 3600, 3600, risk, &out);
        double inside = 0, before = 0;
        for (uint32_t k = 0; k <= spares; k++) {
            before = inside;
            inside += exp(k * log(mean) - mean - lgamma(k + 1.0));
        }
        if (fabs(1 - inside - out) > 1e-9 || 1 - inside > risk + 1e-9 ||
            (spares > 0 && 1 - before <= risk - 1e-9)) {
            fail_msg("mean %g, risk %g: %u spares, out %g (%g, one less %g)", mean, risk, spares,
                     out, 1 - inside, 1 - before);
        }
    }
    double out = 1;
    assert_int_equal(myr_spares_needed(0, 1e6, 0.001, &out), 0);
    assert_true(out == 0);
}

static void figures_follow_from_each_other(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-70b", 2048, 1024);
    for (int p = 0; p < 2; p++) {
        struct myr_campaign c = ask(f, (enum myr_practice)p);
        double step_tokens = 1024.0 * f->model.seq_tokens;
        double per_day = step_tokens / c.step_s * 86400 * c.goodput.goodput * (1 - c.spares_out);
        double spares = 1 + c.spares / 256.0;
        assert_true(fabs(c.tokens_per_day / per_day - 1) < 1e-12);
        assert_true(fabs(c.days - 1e12 / per_day) < 1e-9);
        assert_true(fabs(c.energy_mwh / (c.days * 24 * 12.5 * spares) - 1) < 1e-9);
        assert_true(fabs(c.energy_cost / (c.energy_mwh * 500) - 1) < 1e-9);
        assert_true(fabs(c.machine_cost / (c.days * 24000 * spares) - 1) < 1e-9);
        assert_true(c.spares_out <= 0.001);
        assert_true(c.layout_gap >= 0 && c.layout_gap < 0.001);
        assert_true(c.days_low < c.days && c.days < c.days_high);
        /* 14 bytes a parameter, and the ranks of one replica hold them all. */
        assert_true(c.checkpoint_bytes > 13.9 * 70e9 && c.checkpoint_bytes < 14.1 * 71e9);
        assert_true(c.rank_bytes * 2048 >= c.checkpoint_bytes);
    }
    tear_down(f);
    test_free(f);
}

static void best_practice_beats_common_practice(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-405b", 16384, 2048);
    struct myr_campaign common = ask(f, MYR_PRACTICE_COMMON), best = ask(f, MYR_PRACTICE_BEST);
    assert_true(common.goodput.goodput > 0.90); /* Llama 3 reports more than 90 % */
    assert_true(best.goodput.goodput > 0.97);
    assert_true(best.days < common.days && best.spares < common.spares);
    assert_true(best.renewal.per_period > 1);
    assert_true(best.renewal.interval * best.renewal.per_period >= 10 * best.write_s - 1e-6);
    tear_down(f);
    test_free(f);
}

static void the_layout_chosen_keeps_the_most_tokens(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-8b", 64, 128);
    f->question.rate_per_s = 1.0 / 600; /* so many failures that checkpoints matter */
    for (int p = 0; p < 2; p++) {
        struct myr_campaign chosen = ask(f, (enum myr_practice)p);
        double most = 0;
        for (uint32_t i = 0; i < f->answer.top_count; i++) {
            struct myr_campaign one;
            assert_int_equal(myr_campaign_of(&f->question, (enum myr_practice)p, &f->answer.top[i],
                                             1, &one, NULL),
                             MYR_OK);
            most = one.tokens_per_day > most ? one.tokens_per_day : most;
        }
        assert_true(chosen.tokens_per_day == most);
    }
    tear_down(f);
    test_free(f);
}

/* A stage with the vocabulary holds more than the others, and all wait until it has saved. */
static void a_layout_that_saves_faster_can_win(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-8b", 64, 128);
    struct myr_layout even = myr_layout_default(), uneven;
    even.dp = 64;
    even.global_batch = 128;
    uneven = even;
    uneven.dp = 4;
    uneven.pp = 16;
    struct myr_fit_found found[2] = {{uneven, 1.0}, {even, 1.0001}};
    f->question.rate_per_s = 1.0 / 300;
    struct myr_campaign c, alone;
    assert_int_equal(myr_campaign_of(&f->question, MYR_PRACTICE_COMMON, found, 2, &c, NULL),
                     MYR_OK);
    assert_int_equal(myr_campaign_of(&f->question, MYR_PRACTICE_COMMON, found, 1, &alone, NULL),
                     MYR_OK);
    assert_true(alone.rank_bytes > 1.2 * c.rank_bytes);
    assert_int_equal(c.choice, 1);
    assert_true(c.step_s > alone.step_s && c.tokens_per_day > alone.tokens_per_day);
    tear_down(f);
    test_free(f);
}

static void a_planned_store_bounds_the_rates(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-70b", 2048, 1024);
    struct myr_campaign open = ask(f, MYR_PRACTICE_BEST);
    f->question.store = (struct myr_store){50e9, 200e9, 4}; /* a small store */
    struct myr_campaign small = ask(f, MYR_PRACTICE_BEST);
    f->question.store = (struct myr_store){0.5e9, 1e15, 400}; /* thin node ports */
    struct myr_campaign thin = ask(f, MYR_PRACTICE_BEST);
    assert_true(fabs(small.write_bytes_per_s - 180e9) < 1);
    assert_true(fabs(thin.write_bytes_per_s - 256 * 0.45e9) < 1);
    assert_true(small.write_s > open.write_s);
    assert_true(small.goodput.goodput <= open.goodput.goodput);
    tear_down(f);
    test_free(f);
}

/* What the user knows better takes the place of the data, in both practices. */
static void given_times_replace_those_of_the_data(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-70b", 2048, 1024);
    double crash = ask(f, MYR_PRACTICE_COMMON).renewal.durable.recovery;
    f->question.fault = MYR_FAULT_HANG;
    assert_true(fabs(ask(f, MYR_PRACTICE_COMMON).renewal.durable.recovery - crash - 570) < 1e-9);
    f->question.has_recovery = f->question.has_stall = true;
    f->question.recovery_s = 77;
    f->question.stall_s = 3;
    struct myr_campaign common = ask(f, MYR_PRACTICE_COMMON), best = ask(f, MYR_PRACTICE_BEST);
    assert_true(common.renewal.durable.recovery == 77 && common.renewal.durable.stall == 3);
    assert_true(best.renewal.quick.recovery == 77 && best.renewal.quick.stall == 3);
    assert_true(best.renewal.durable.recovery == 77 && best.renewal.durable.stall == 3);
    f->question.interval_s = 50;
    assert_true(ask(f, MYR_PRACTICE_BEST).renewal.interval == 50);
    tear_down(f);
    test_free(f);
}

/* A run ends with a checkpoint: no interval is longer than it; one that gets nowhere says so. */
static void no_interval_outlasts_the_run(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-8b", 64, 128);
    f->question.tokens = 1e9;
    for (int p = 0; p < 2; p++) {
        f->question.rate_per_s = 1e-9;
        f->question.interval_s = p ? 0 : 1e8;
        struct myr_campaign c = ask(f, (enum myr_practice)p);
        double work = 1e9 / (128.0 * f->model.seq_tokens) * c.step_s;
        assert_true(c.renewal.interval * c.renewal.per_period <= work * (1 + 1e-12));
        assert_true(c.ends && c.days_low <= c.days && c.days <= c.days_high);
        f->question.rate_per_s = 10;
        c = ask(f, (enum myr_practice)p);
        assert_true(!c.ends && c.days == 0 && c.goodput.goodput < 1e-6);
    }
    tear_down(f);
    test_free(f);
}

/* 419 unplanned stops in 54 days on 16,384 GPUs: the classes sum to the whole. */
static void classes_sum_to_the_llama_3_count(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-8b", 64, 128);
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    uint32_t count = myr_failure_classes(&f->recovery, 16384, 2048, classes);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += classes[i].per_day;
    }
    assert_int_equal(count, 16);
    assert_true(fabs(sum * 54 / 419 - 1) < 0.02);
    tear_down(f);
    test_free(f);
}

/* Copies are taken between steps, however often failures come and whatever was asked for. */
static void no_interval_is_shorter_than_a_step(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    set_up(f, "llama3-8b", 64, 128);
    f->answer.top_count = 1;
    f->answer.top[0].step_s = 5000;
    f->question.rate_per_s = 1.0 / 600;
    for (int p = 0; p < 2; p++) {
        f->question.interval_s = 0;
        assert_true(ask(f, (enum myr_practice)p).renewal.interval == 5000);
        f->question.interval_s = 50;
        assert_true(ask(f, (enum myr_practice)p).renewal.interval == 5000);
    }
    tear_down(f);
    test_free(f);
}

static void put_campaign(struct myr_buf *text, const struct myr_campaign *c)
{
    const struct myr_renewal *r = &c->renewal;
    const struct myr_goodput *g = &c->goodput;
    myr_buf_printf(text, "  layout %u, %.6g s a step, each %.6g, %u\n", c->choice, c->step_s,
                   r->interval, r->per_period);
    myr_buf_printf(text, "  quick %.6g %.6g %.6g, durable %.6g %.6g %.6g\n", r->quick.rate,
                   r->quick.recovery, r->quick.stall, r->durable.rate, r->durable.recovery,
                   r->durable.stall);
    myr_buf_printf(text, "  goodput %.6g, %.6g %.6g %.6g, %.6g a day, %.6g s\n", g->goodput,
                   g->stalled, g->recovering, g->repeated, g->failures_per_day,
                   g->mean_time_between_s);
    myr_buf_printf(text, "  %.9g bytes, %.9g a rank, %.6g s at %.6g, %.6g s at %.6g\n",
                   c->checkpoint_bytes, c->rank_bytes, c->write_s, c->write_bytes_per_s, c->read_s,
                   c->read_bytes_per_s);
    myr_buf_printf(text, "  %u spares, short %.6g, %.6g in repair, %.6g tokens a day, gap %.4g\n",
                   c->spares, c->spares_out, c->repairs, c->tokens_per_day, c->layout_gap);
    myr_buf_printf(text, "  ends %d, %.6g days, %.6g to %.6g, %.6g MWh, %.6g + %.6g\n", c->ends,
                   c->days, c->days_low, c->days_high, c->energy_mwh, c->energy_cost,
                   c->machine_cost);
}

/* Every figure of a campaign, with each thing that a question can say changed on its own. */
static void campaigns_are_those_that_were_kept(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_buf text = {};
    set_up(f, "llama3-8b", 64, 128);
    const struct myr_campaign_question usual = f->question;
    for (int i = 0; i < 12; i++) {
        struct myr_campaign_question *q = &f->question;
        *q = usual;
        q->gpus_per_node = i == 1 ? 3 : q->gpus_per_node; /* does not divide: part of one is one */
        q->tokens = i == 2 ? 0 : q->tokens;
        q->rate_per_s *= i == 3 ? 1000 : 1;
        q->interval_s = i == 4 ? 900 : 0;
        q->fault = i == 5 ? MYR_FAULT_HANG : q->fault;
        q->has_recovery = i == 6;
        q->recovery_s = 77;
        q->has_stall = i == 7;
        q->stall_s = 3;
        q->spare_risk = i == 8 ? 0.2 : q->spare_risk;
        q->watts *= i == 9 ? 2 : 1;
        q->pue = i == 9 ? 1.5 : q->pue;
        q->price_per_kwh = i == 10 ? 0.9 : q->price_per_kwh;
        q->price_per_hour = i == 10 ? 10 : q->price_per_hour;
        q->store = i == 11 ? (struct myr_store){2.5e9, 1e10, 4} : q->store;
        for (int p = 0; p < 2; p++) {
            struct myr_campaign c = ask(f, (enum myr_practice)p);
            double range[2] = {};
            myr_buf_printf(&text, "%d, %s\n", i, p ? "best" : "common");
            put_campaign(&text, &c);
            if (c.days > 0) {
                myr_campaign_days(&c, 0.1, range);
                myr_buf_printf(&text, "  with the step's own %.6g to %.6g\n", range[0], range[1]);
            }
        }
    }
    assert_kept("fit-campaigns.txt", &text);
    myr_buf_done(&text);
    tear_down(f);
    test_free(f);
}

/* A step is whole or not done: the least that is trained on, kept and paid for is one. */
static void a_run_is_of_one_step_at_least(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "llama3-8b", 64, 128);
    struct myr_campaign_question *q = &f.question;
    double step = 128.0 * (double)f.model.seq_tokens;
    const double tokens[] = {1, step / 2, step, step + 1, 2 * step};
    struct myr_campaign all[MYR_ARRAY_COUNT(tokens)];
    for (int practice = 0; practice < 2; practice++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(tokens); i++) {
            q->tokens = tokens[i];
            assert_int_equal(
                myr_campaign_of(q, (enum myr_practice)practice, f.answer.top, 1, &all[i], NULL),
                MYR_OK);
            assert_true(all[i].ends);
            assert_true(all[i].renewal.interval >= all[i].step_s * (1 - 1e-9));
        }
        for (size_t i = 0; i < 2; i++) {
            assert_true(all[i].days == all[2].days && all[i].days_high == all[2].days_high);
            assert_true(all[i].energy_mwh == all[2].energy_mwh);
            assert_true(all[i].goodput.goodput == all[2].goodput.goodput);
        }
        assert_true(all[3].days > all[2].days && all[4].days > all[3].days);
        assert_true(all[4].days < 2.5 * all[2].days);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_of_one_step_at_least),
        cmocka_unit_test(spares_are_those_of_the_poisson_law),
        cmocka_unit_test(figures_follow_from_each_other),
        cmocka_unit_test(best_practice_beats_common_practice),
        cmocka_unit_test(the_layout_chosen_keeps_the_most_tokens),
        cmocka_unit_test(a_layout_that_saves_faster_can_win),
        cmocka_unit_test(a_planned_store_bounds_the_rates),
        cmocka_unit_test(given_times_replace_those_of_the_data),
        cmocka_unit_test(no_interval_outlasts_the_run),
        cmocka_unit_test(classes_sum_to_the_llama_3_count),
        cmocka_unit_test(no_interval_is_shorter_than_a_step),
        cmocka_unit_test(campaigns_are_those_that_were_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
