#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test_world.h"

static struct myr_case it;
static struct myr_fit_answer *answer;

static int setup(void **state)
{
    struct myr_case_question q = myr_case_question_default();
    q.model = "llama3-70b";
    q.device = "h100";
    q.gpus = 64;
    q.batch = 64;
    q.pp = 4;
    q.top = 2;
    MYR_TRY(open_world(state));
    MYR_TRY(myr_case_init(&it, &arena, &q, NULL));
    answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    return myr_case_answer(&it, &arena, answer, NULL);
}

static int put_plots(const struct myr_fit_report *report, const char *folder, struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    MYR_TRY(myr_fit_report_plots(report, &set, folder, &arena, err));
    return myr_file_set_commit(&set, err);
}

static void plots_are_files_of_a_folder(void **state)
{
    static const char *const names[] = {"step.svg", "pipeline.svg", "memory.svg", "linearity.svg"};
    struct myr_fit_report report = {.query = &it.query, .answer = answer, .spread = 0.1};
    char folder[] = "/tmp/myriad-plots-XXXXXX", path[96], missing[128];
    struct myr_err err = {};
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(put_plots(&report, folder, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
        assert_int_equal(strncmp(text.data, "<svg", 4), 0);
        assert_non_null(strstr(text.data, "</svg>"));
        snprintf(missing, sizeof(missing), "%s/x", path);
        assert_true(put_plots(&report, missing, &err) < 0);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void the_axis_of_a_plot_shows_its_data(void **state)
{
    struct myr_fit_scaling growth = {.count = 3};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        growth.points[i].gpus = 8U << i;
        growth.points[i].linearity = 1 - 0.02 * i;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_plot_linearity(&growth, &growth, MYR_CHART_WIDE, &buf);
    assert_non_null(strstr(buf.data, ">100<"));
    assert_non_null(strstr(buf.data, ">96<"));
    assert_null(strstr(buf.data, ">0<"));
    assert_non_null(strstr(buf.data, "linearity, %"));
}

/* The table is wider than a phone, which is given the same layouts in words. */
static void a_phone_is_told_every_layout_without_a_table(void **state)
{
    struct myr_fit_report report = {.query = &it.query, .answer = answer, .spread = 0.1};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    char words[96];
    (void)state;
    myr_fit_report_html(&report, &arena, &page);
    const char *heading = strstr(page.data, ">Layouts<");
    assert_non_null(heading);
    const char *desk = strstr(heading, "<div class=\"desk\">\n<table>");
    assert_non_null(desk);
    const char *phone = strstr(desk, "<div class=\"phone\">");
    assert_non_null(phone);
    const char *end = strstr(phone, "</div>"), *table = strstr(phone, "<table");
    assert_true(end && (!table || table > end));
    assert_int_equal(answer->top_count, 2);
    for (uint32_t i = 0; i < answer->top_count; i++) {
        const struct myr_layout *l = &answer->top[i].layout;
        snprintf(words, sizeof(words), "<b>%u. %.4f s</b><br>tp&nbsp;%u, pp&nbsp;%u, vp&nbsp;%u, ",
                 i + 1, answer->top[i].step_s, l->tp, l->pp, l->vp);
        const char *at = strstr(phone, words);
        assert_true(at && at < end);
    }
}

static void goodput_is_drawn_around_its_best_interval(void **state)
{
    struct myr_goodput_curve curve = {
        "a practice", {.durable = {1.0 / 10000, 300, 30}, .interval = 800, .per_period = 1}};
    double best = 100 * myr_goodput_of(&curve.renewal).goodput;
    char words[64];
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_plot_goodput(&curve, 1, MYR_CHART_WIDE, &buf);
    snprintf(words, sizeof(words), "a practice: %.1f %%", best);
    assert_non_null(strstr(buf.data, words));
    assert_non_null(strstr(buf.data, "work between two copies, s"));
    assert_null(strstr(buf.data, ">20<")); /* per cent of the time, which nobody would choose */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plots_are_files_of_a_folder),
        cmocka_unit_test(the_axis_of_a_plot_shows_its_data),
        cmocka_unit_test(a_phone_is_told_every_layout_without_a_table),
        cmocka_unit_test(goodput_is_drawn_around_its_best_interval),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
