/* Pictures and pages, byte by byte: the same numbers are the same picture on every machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/text/chart.h"
#include "myriad/text/page.h"
#include "myriad/text/svg.h"

static void bars_are_the_kept_ones(void **state)
{
    (void)state;
    static const struct myr_piece step[] = {
        {"compute", 3.25, 0}, {"wait", 0, 1}, {"send & receive", 1.75, 2}, {"rest", 0.001, 7}};
    static const struct myr_piece memory[] = {{"weights", 31, 3}, {"state", 42.5, 4}};
    static const struct myr_bar_row rows[] = {
        {"one", "5.0 s", 0, step, 4}, {"two", NULL, 3.25, step + 2, 2}, {"three", "x", 0, step, 1}};
    static const struct myr_bar_row tall[] = {{"GPU 0", "73.5 GB", 0, memory, 2}};
    struct myr_bars bars = {.title = "A step",
                            .note = "where time goes",
                            .unit = "s",
                            .rows = rows,
                            .count = 3,
                            .legend = true};
    struct myr_buf buf = {};
    myr_chart_bars(&bars, &buf);
    bars = (struct myr_bars){.title = "Memory",
                             .unit = "GB",
                             .rows = tall,
                             .count = 1,
                             .limit = 80,
                             .limit_name = "what the GPU has"};
    myr_chart_bars(&bars, &buf);
    bars.form = MYR_CHART_NARROW; /* the line stands beside the bars, and through no words */
    myr_chart_bars(&bars, &buf);
    bars.form = MYR_CHART_WIDE;
    bars.legend = true;
    bars.limit = 0;
    myr_chart_bars(&bars, &buf);
    assert_kept("chart-bars.svg", &buf);
    myr_buf_done(&buf);
}

static void curves_are_the_kept_ones(void **state)
{
    (void)state;
    static const struct myr_point near[] = {
        {1024, 0.93, "1k"}, {2048, 0.91, NULL}, {16384, 0.854, NULL}, {98304, 0.61, "96k"}};
    static const struct myr_point far[] = {{1024, 0.5, NULL}, {98304, 0.25, NULL}};
    static const struct myr_series series[] = {
        {"ours", near, 4, 0, .dots = true},
        {"theirs", far, 2, 1, .dashed = true},
        {"", far, 2, 2, .dots = true, .no_line = true},
    };
    struct myr_curves curves = {.title = "Goodput",
                                .note = "by GPUs",
                                .x_name = "GPUs",
                                .y_name = "share",
                                .series = series,
                                .count = 3,
                                .log_x = true};
    struct myr_buf buf = {};
    myr_chart_curves(&curves, &buf);
    curves.log_x = false;
    curves.from_zero = true;
    curves.note = NULL;
    myr_chart_curves(&curves, &buf);
    curves.y_max = 2;
    curves.count = 1;
    myr_chart_curves(&curves, &buf);
    static const struct myr_point small[] = {{0.001, -3e-5, NULL}, {0.004, 7e-5, NULL}};
    static const struct myr_series one[] = {{"small", small, 2, 5, .dots = true}};
    curves = (struct myr_curves){
        .title = "Small", .x_name = "s", .y_name = "m", .series = one, .count = 1};
    myr_chart_curves(&curves, &buf);
    static const struct myr_point flat[] = {{5e9, 7e6, NULL}, {6e9, 7e6, NULL}};
    static const struct myr_series level[] = {{"flat", flat, 2, 6, .dots = false}};
    curves = (struct myr_curves){.title = "Flat",
                                 .x_name = "bytes",
                                 .y_name = "n",
                                 .series = level,
                                 .count = 1,
                                 .from_zero = true};
    myr_chart_curves(&curves, &buf);
    assert_kept("chart-curves.svg", &buf);
    myr_buf_done(&buf);
}

static void shapes_are_the_kept_ones(void **state)
{
    (void)state;
    struct myr_svg svg;
    struct myr_buf buf = {};
    myr_svg_begin(&svg, &buf, 320, 200, "Shapes <all>");
    myr_svg_style(&svg, ".own{fill:red}");
    myr_svg_group(&svg, "leaf");
    myr_svg_rect(&svg, 0, 15, 1234, 100, "host", "a \"tip\"");
    myr_svg_rect(&svg, -7, 0, 10, 10, NULL, NULL);
    myr_svg_line(&svg, 1, 2, 30, 45, "link", NULL);
    myr_svg_line(&svg, 1, 2, 30, 45, NULL, "tip");
    myr_svg_circle(&svg, 50, 60, 7, "spine", "c");
    myr_svg_circle(&svg, 50, 60, 7, NULL, NULL);
    myr_svg_group_end(&svg);
    myr_svg_path_begin(&svg);
    myr_svg_path_end(&svg, "link", NULL); /* nothing */
    myr_svg_path_begin(&svg);
    myr_svg_path_move(&svg, 10, 20);
    myr_svg_path_line(&svg, 105, -20);
    myr_svg_path_curve(&svg, 1, 2, 33, 44);
    myr_svg_path_close(&svg);
    myr_svg_path_move(&svg, 0, 0);
    myr_svg_path_line(&svg, 1, 1);
    myr_svg_path_end(&svg, "link-hot", "many");
    myr_svg_group(&svg, NULL);
    myr_svg_text(&svg, 10, 20, MYR_SVG_START, "title", "a & b");
    myr_svg_text(&svg, 10, 20, MYR_SVG_MIDDLE, "label", "middle");
    myr_svg_text(&svg, 10, 20, MYR_SVG_END, NULL, "\xE4\xB8\x87\xE5\x8D\xA1");
    myr_svg_group_end(&svg);
    myr_svg_end(&svg);
    assert_kept("shapes.svg", &buf);
    myr_buf_done(&buf);
}

static void a_page_is_the_kept_one(void **state)
{
    (void)state;
    static const char *const heads[] = {"name", "GPUs", "share"};
    struct myr_buf buf = {};
    myr_page_begin(&buf, "A <page>");
    myr_page_heading(&buf, "Figures & tables");
    myr_page_note(&buf, "steps \"back\"");
    myr_page_tiles_begin(&buf);
    myr_page_tile(&buf, "GPUs", "%d", 512);
    myr_page_tile(&buf, "cost", "%s", "1 < 2");
    myr_page_tiles_end(&buf);
    myr_page_table_begin(&buf, heads, 3);
    myr_page_row_begin(&buf);
    myr_page_cell(&buf, "a&b");
    myr_page_number(&buf, "%d", 8);
    myr_page_number(&buf, "%.2f", 0.5);
    myr_page_row_end(&buf);
    myr_page_table_end(&buf);
    myr_page_wide_begin(&buf);
    myr_page_text(&buf, "<svg>");
    myr_page_wide_end(&buf);
    myr_page_arguments(&buf, "train --tensor-parallel 8 --x 'a b' # note");
    myr_page_end(&buf);
    assert_kept("page.html", &buf);
    myr_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_are_the_kept_ones),
        cmocka_unit_test(curves_are_the_kept_ones),
        cmocka_unit_test(shapes_are_the_kept_ones),
        cmocka_unit_test(a_page_is_the_kept_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
