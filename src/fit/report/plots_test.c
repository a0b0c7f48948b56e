/*
 * Drawings of pipelines of every schedule and of charts at their limits, held against what they
 * were when somebody last looked (tests/kept/fit-plots.txt). Shapes of many points are cut short
 * there: what is left of them is a length and a sum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>

#include "kept.h"
#include "myriad/fit/report.h"
#include "myriad/text/amount.h"
#include "test_world.h"

enum { SHOWN = 110 };

static struct myr_model model;
static struct myr_fit_case it;

static int setup(void **state)
{
    bool exact;
    MYR_TRY(open_world(state));
    MYR_TRY(myr_model_find(&arena, "llama3-8b", &model, NULL));
    model.layer_count = 128; /* so that any pipeline has layers */
    it = (struct myr_fit_case){.model = &model, .constants = profiles.constants};
    MYR_TRY(myr_profiles_device(&profiles, MYR_STR("h100"), &it.device, NULL));
    return myr_profiles_stack(&profiles, MYR_STR("NeMo 25.05"), &it.stack, &exact, NULL);
}

static void put_drawing(struct myr_buf *out, const char *name, const struct myr_buf *svg)
{
    myr_buf_printf(out, "== %s\n", name);
    for (size_t at = 0; at < svg->len;) {
        const char *end = memchr(svg->data + at, '\n', svg->len - at);
        size_t len = end ? (size_t)(end - svg->data) - at : svg->len - at;
        uint32_t sum = 2166136261U;
        for (size_t i = 0; i < len; i++) {
            sum = (sum ^ (uint8_t)svg->data[at + i]) * 16777619U;
        }
        myr_buf_put(out, svg->data + at, len < SHOWN ? len : SHOWN);
        if (len > SHOWN) {
            myr_buf_printf(out, "... %zu bytes, %08x", len, sum);
        }
        myr_buf_putc(out, '\n');
        at += len + 1;
    }
}

static void pipelines_are_drawn_as_they_were(void **state)
{
    static const struct {
        enum myr_schedule schedule;
        uint32_t pp, vp, micro_batches;
    } rows[] = {
        {MYR_SCHEDULE_1F1B, 1, 1, 3},          {MYR_SCHEDULE_1F1B, 2, 1, 7},
        {MYR_SCHEDULE_1F1B, 2, 1, 9},          {MYR_SCHEDULE_1F1B, 4, 1, 16},
        {MYR_SCHEDULE_1F1B, 4, 1, 2},          {MYR_SCHEDULE_1F1B, 16, 1, 64},
        {MYR_SCHEDULE_1F1B, 17, 1, 17},        {MYR_SCHEDULE_1F1B, 20, 1, 64},
        {MYR_SCHEDULE_INTERLEAVED, 4, 3, 16},  {MYR_SCHEDULE_INTERLEAVED, 8, 8, 32},
        {MYR_SCHEDULE_INTERLEAVED, 16, 4, 64}, {MYR_SCHEDULE_ZERO_BUBBLE, 3, 1, 12},
        {MYR_SCHEDULE_DUALPIPE, 4, 1, 40},     {MYR_SCHEDULE_DUALPIPE, 8, 1, 16},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
        struct myr_layout layout = myr_layout_default();
        char name[64];
        layout.pp = rows[i].pp;
        layout.vp = rows[i].vp;
        layout.schedule = rows[i].schedule;
        layout.dp = 2;
        layout.global_batch = 2 * rows[i].micro_batches;
        myr_plot_pipeline(&it, &layout, &svg);
        snprintf(name, sizeof(name), "%s, %u stages of %u, %u micro-batches",
                 myr_schedule_name(layout.schedule), layout.pp, layout.vp, rows[i].micro_batches);
        put_drawing(&out, name, &svg);
    }
    assert_kept("fit-pipelines.txt", &out);
}

static void put_choices(struct myr_buf *out, const struct myr_choice *choices, uint32_t count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    char name[32];
    myr_plot_pareto(choices, count, "days", "GWh", MYR_CHART_WIDE, &svg);
    snprintf(name, sizeof(name), "%u choices", count);
    put_drawing(out, name, &svg);
}

static void charts_are_drawn_as_they_were(void **state)
{
    static const struct myr_choice choices[] = {{9, 5, "a"},  {3, 8, "b"}, {3, 7, "c"},
                                                {3, 9, "d"},  {6, 7, "e"}, {12, 5, "f"},
                                                {14, 4, "g"}, {9, 6, "h"}};
    struct myr_goodput_curve curves[5];
    struct myr_fit_found found[9];
    struct myr_fit_cost cost;
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf memory = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf step = {};
    (void)state;
    for (uint32_t count = 0; count <= 8; count += count ? 7 : 1) {
        put_choices(&out, choices, count);
    }
    for (uint32_t i = 0; i < 9; i++) {
        found[i] = (struct myr_fit_found){myr_layout_default(), 1 + i};
        found[i].layout.tp = 1U << i % 4;
        found[i].layout.cp = 1 + i % 2;
        found[i].layout.pp = 1 + i;
        found[i].layout.global_batch = 4;
        found[i].layout.recompute = (enum myr_recompute)(i % 3);
    }
    myr_plot_memory(&it, found, 9, MYR_CHART_WIDE, &memory);
    put_drawing(&out, "memory", &memory);
    found[0].layout.pp = 4;
    found[0].layout.tp = 2;
    found[0].layout.dp = 4;
    found[0].layout.global_batch = 32;
    myr_fit_cost_of(&it, &found[0].layout, &cost);
    myr_plot_step(&cost, MYR_CHART_WIDE, &step);
    put_drawing(&out, "step", &step);
    for (uint32_t i = 0; i < 5; i++) {
        curves[i] = (struct myr_goodput_curve){
            "a practice",
            {.durable = {(1 + i) / 20000.0, 300 + 100 * i, 30}, .interval = 800, .per_period = 1}};
        if (i % 2) {
            curves[i].renewal.quick = (struct myr_tier){1 / 9000.0, 60, 1};
            curves[i].renewal.interval = 90;
            curves[i].renewal.per_period = 12;
        }
    }
    for (uint32_t count = 1; count <= 5; count += 2) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
        myr_plot_goodput(curves, count, MYR_CHART_WIDE, &svg);
        put_drawing(&out, "goodput", &svg);
    }
    assert_kept("fit-charts.txt", &out);
}

/* Where memory is short few GPUs make layers again, and more of them are better each. */
static void growth_is_told_against_the_best_point_wherever_it_is(void **state)
{
    struct myr_device tight = *it.device;
    struct myr_fit_query query = myr_fit_query_default();
    struct myr_fit_scaling weak, strong;
    double best = 0, most = 0;
    (void)state;
    model.layer_count = 32;
    tight.memory_bytes = 26e9;
    query.it = it;
    query.it.device = &tight;
    query.gpus = 24;
    query.batch = 48;
    query.seq_tokens = 8192;
    query.cp = query.pp = 1;
    query.dp = 3; /* of the number asked for, not of others */
    myr_fit_growth(&query, 8, 24, true, &arena, &weak);
    myr_fit_growth(&query, 8, 24, false, &arena, &strong);
    model.layer_count = 128;
    assert_int_equal(weak.count, 3);
    assert_true(strong.count >= 2);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(weak.points[i].gpus, 8 * (i + 1));
        assert_int_equal(weak.points[i].batch, 16 * (i + 1));
        best = weak.points[i].linearity > best ? weak.points[i].linearity : best;
        double rate = weak.points[i].cost.tokens_per_s_per_gpu;
        most = rate > most ? rate : most;
    }
    for (uint32_t i = 0; i < 3; i++) {
        double share = weak.points[i].cost.tokens_per_s_per_gpu / most;
        assert_true(weak.points[i].linearity >= share && weak.points[i].linearity <= share);
    }
    for (uint32_t i = 0; i < strong.count; i++) {
        assert_int_equal(strong.points[i].batch, 48);
    }
    assert_true(best >= 1 && best <= 1);
    assert_true(weak.points[0].linearity < 0.99); /* the first is not the best */
}

static void a_step_is_told_in_a_unit_that_shows_its_parts(void **state)
{
    (void)state;
    static const struct {
        double step_s;
        const char *told;
    } cases[] = {{0.00012, "0.120 ms"}, {0.00999, "9.990 ms"},    {0.01, "10.0 ms"},
                 {0.8186, "818.6 ms"},  {0.9999, "999.9 ms"},     {1, "1.000 s"},
                 {10.3391, "10.339 s"}, {12345.6, "12,345.600 s"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const struct myr_plot_unit *unit = myr_plot_unit_of(cases[i].step_s);
        char told[64];
        snprintf(told, sizeof(told), "%s %s",
                 MYR_NUMBER(cases[i].step_s * unit->scale, unit->digits), unit->name);
        assert_string_equal(told, cases[i].told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines_are_drawn_as_they_were),
        cmocka_unit_test(charts_are_drawn_as_they_were),
        cmocka_unit_test(a_step_is_told_in_a_unit_that_shows_its_parts),
        cmocka_unit_test(growth_is_told_against_the_best_point_wherever_it_is),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
