#include "myriad/text/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/text/page.h"

static const char *number(struct myr_buf *buf, double value)
{
    myr_buf_clear(buf);
    myr_chart_number(buf, value);
    return buf->data;
}

static void numbers_have_few_digits(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    assert_string_equal(number(&buf, 0), "0");
    assert_string_equal(number(&buf, 0.125), "0.125");
    assert_string_equal(number(&buf, 1.256), "1.26");
    assert_string_equal(number(&buf, 2000), "2000");
    assert_string_equal(number(&buf, 16384), "16.4k");
    assert_string_equal(number(&buf, 20000), "20k");
    assert_string_equal(number(&buf, 1.5e6), "1.5M");
    assert_string_equal(number(&buf, -3), "-3");
    assert_string_equal(number(&buf, 9999.4), "9999");
    assert_string_equal(number(&buf, 9999.6), "10k");
    assert_string_equal(number(&buf, 999499), "999k");
    assert_string_equal(number(&buf, 999999), "1M");
    assert_string_equal(number(&buf, -999999), "-1M");
    assert_string_equal(number(&buf, 999.6e6), "1G");
    myr_buf_done(&buf);
}

static uint32_t times(const struct myr_buf *buf, const char *word)
{
    uint32_t count = 0;
    for (const char *at = buf->data; (at = strstr(at, word)); at++) {
        count++;
    }
    return count;
}

static void bars_have_a_shape_for_each_piece(void **state)
{
    (void)state;
    const struct myr_piece pieces[] = {{"a<b", 2, 0}, {"none", 0, 1}, {"c", 3, 2}};
    const struct myr_bar_row rows[] = {{"one", "5 s", 0, pieces, 3}, {"two", NULL, 1, pieces, 1}};
    struct myr_bars bars = {
        .title = "T & U", .unit = "s", .rows = rows, .count = 2, .limit = 6, .limit_name = "six"};
    struct myr_buf buf = {}, again = {};
    myr_chart_bars(&bars, &buf);
    assert_int_equal(times(&buf, "class=\"piece"), 3); /* nothing is drawn for nothing */
    assert_int_equal(times(&buf, "a&lt;b: 2 s"), 2);
    assert_non_null(strstr(buf.data, "T &amp; U"));
    assert_int_equal(times(&buf, "class=\"limit\""), 1);
    myr_chart_bars(&bars, &again);
    assert_int_equal(buf.len, again.len);
    assert_memory_equal(buf.data, again.data, buf.len);
    myr_buf_done(&buf);
    myr_buf_done(&again);
}

static void bars_of_every_span_have_a_scale(void **state)
{
    (void)state;
    for (double span = 0.0011; span < 1e4; span *= 1.17) {
        const struct myr_piece piece = {"a", span, 0};
        const struct myr_bar_row row = {"one", "", 0, &piece, 1};
        struct myr_bars bars = {.title = "t", .unit = "s", .rows = &row, .count = 1};
        struct myr_buf buf = {};
        myr_chart_bars(&bars, &buf);
        uint32_t lines = times(&buf, "class=\"grid\"");
        if (lines < 2 || lines > 6) {
            fail_msg("%u lines for a span of %g", lines, span);
        }
        myr_buf_done(&buf);
    }
}

static void arguments_break_before_their_names_only(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    myr_page_arguments(&buf, "--a-b 1 --c x<y # with --d");
    assert_string_equal(buf.data, "<code><span>--a-b 1</span> <span>--c x&lt;y # with</span> "
                                  "<span>--d</span></code>");
    myr_buf_done(&buf);
}

static void bars_of_nothing_are_drawn(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_bars bars = {.title = "empty", .unit = "s", .legend = true};
    myr_chart_bars(&bars, &buf);
    assert_non_null(strstr(buf.data, "</svg>"));
    myr_buf_done(&buf);
}

static void curves_are_drawn_over_every_span(void **state)
{
    (void)state;
    const double scales[] = {1e-5, 0.3, 1, 77, 1e9};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(scales); i++) {
        for (int log = 0; log < 2; log++) {
            double s = scales[i];
            const struct myr_point points[] = {
                {s, s, "p"}, {3 * s, 2 * s, NULL}, {9 * s, 0.5 * s, NULL}};
            struct myr_series series[] = {
                {.name = "first", .points = points, .count = 3, .dots = true},
                {.name = "", .points = points, .count = 1, .no_line = true, .dots = true},
                {.name = "second", .points = points, .count = 2, .dashed = true}};
            struct myr_curves curves = {.title = "t",
                                        .x_name = "x",
                                        .y_name = "y",
                                        .series = series,
                                        .count = 3,
                                        .log_x = log};
            struct myr_buf buf = {};
            myr_chart_curves(&curves, &buf);
            assert_int_equal(times(&buf, "<circle"), 4);
            assert_int_equal(times(&buf, "class=\"curve"), 1);
            assert_int_equal(times(&buf, "class=\"dashed"), 1);
            assert_true(times(&buf, "class=\"grid\"") >= 3);
            assert_true(times(&buf, "class=\"grid\"") <= 48);
            assert_int_equal(times(&buf, ">second</text>"), 1);
            assert_null(strstr(buf.data, "nan"));
            myr_buf_done(&buf);
        }
    }
}

static void one_point_and_no_point_are_plots_too(void **state)
{
    (void)state;
    const struct myr_point point = {5, 0, NULL};
    struct myr_series series = {.name = "s", .points = &point, .count = 1, .dots = true};
    struct myr_curves curves = {
        .title = "t", .x_name = "x", .y_name = "y", .series = &series, .count = 1};
    for (int i = 0; i < 4; i++) {
        struct myr_buf buf = {};
        curves.log_x = i % 2;
        series.count = i < 2;
        myr_chart_curves(&curves, &buf);
        assert_non_null(strstr(buf.data, "</svg>"));
        myr_buf_done(&buf);
    }
}

static void pages_escape_what_they_are_given(void **state)
{
    (void)state;
    static const char *const heads[] = {"name", ">value"};
    struct myr_buf buf = {};
    myr_page_begin(&buf, "a<script>");
    myr_page_tiles_begin(&buf);
    myr_page_tile(&buf, "\"quoted\"", "%d & 2", 1);
    myr_page_tiles_end(&buf);
    myr_page_table_begin(&buf, heads, 2);
    myr_page_row_begin(&buf);
    myr_page_cell(&buf, "<td>");
    myr_page_number(&buf, "%d", 7);
    myr_page_row_end(&buf);
    myr_page_table_end(&buf);
    myr_page_note(&buf, "x > y");
    myr_page_end(&buf);
    assert_null(strstr(buf.data, "<script"));
    assert_int_equal(times(&buf, "a&lt;script&gt;"), 2);
    assert_non_null(strstr(buf.data, "1 &amp; 2"));
    assert_non_null(strstr(buf.data, "&quot;quoted&quot;"));
    assert_non_null(strstr(buf.data, "<th class=\"n\">value</th>"));
    assert_non_null(strstr(buf.data, "<td class=\"n\">7</td>"));
    assert_non_null(strstr(buf.data, "x &gt; y"));
    myr_buf_done(&buf);
}

/* Whether every text lies between 0 and 'width', by an estimate of its letters. */
static void assert_texts_within(const struct myr_buf *buf, double width)
{
    for (const char *at = buf->data; (at = strstr(at, "<text x=\"")); at++) {
        double x = strtod(at + strlen("<text x=\""), NULL);
        const char *open = strchr(at, '>'), *close = strstr(at, "</text>");
        bool title = memmem(at, (size_t)(open - at), "class=\"title", 12) != NULL;
        double wide = (double)(close - open - 1) * (title ? 9.5 : 6.2);
        bool end = memmem(at, (size_t)(open - at), "\"end\"", 5) != NULL;
        bool middle = memmem(at, (size_t)(open - at), "\"middle\"", 8) != NULL;
        double left = end ? x - wide : middle ? x - wide / 2 : x;
        if (left < 0 || left + wide > width) {
            fail_msg("%.*s is outside of 0 to %g", (int)(close - at), at, width);
        }
    }
}

static void a_narrow_chart_keeps_its_words_on_a_phone(void **state)
{
    (void)state;
    enum { NARROW = 358 };
    const struct myr_point points[] = {{1, 0.5, "16,384"}, {100, 0.9, "65,536"}, {9000, 1, NULL}};
    const struct myr_series series[] = {{"common, llama3", points, 3, 0, true, false, false},
                                        {"best, llama3", points, 3, 1, true, false, false},
                                        {"common, rsc-1", points, 3, 2, true, false, false},
                                        {"best, rsc-1", points, 3, 3, true, false, false}};
    const struct myr_piece pieces[] = {
        {"weights", 2, 0}, {"gradients", 3, 1}, {"optimiser", 4, 2}, {"activations", 5, 3}};
    const struct myr_bar_row rows[] = {{"expert communication", "1.234 s, 45.6 %", 0, pieces, 4}};
    struct myr_bars bars = {.title = "Memory of the fullest rank, by what takes it",
                            .note = "a line at what the device has, less what is kept back for it",
                            .unit = "GiB",
                            .rows = rows,
                            .count = 1,
                            .legend = true,
                            .form = MYR_CHART_NARROW};
    struct myr_curves curves = {.title = "Goodput and the interval between copies",
                                .note = "seconds of work, a dot where the most is kept of it all",
                                .x_name = "days, best practice, by number of GPUs",
                                .y_name = "thousand GPU-hours for 10^12 tokens",
                                .series = series,
                                .count = 4,
                                .log_x = true,
                                .form = MYR_CHART_NARROW};
    struct myr_buf buf = {}, wide = {};
    myr_chart_bars(&bars, &buf);
    assert_texts_within(&buf, NARROW);
    assert_int_equal(times(&buf, "class=\"piece"), 8); /* with the legend */
    myr_buf_clear(&buf);
    myr_chart_curves(&curves, &buf);
    assert_texts_within(&buf, NARROW);
    /* Without blanks a line ends behind a whole character. */
    curves.title = "\xE5\x90\x84\xE6\x8C\x87\xE6\xA0\x87\xE7\x9B\xB8\xE5\xAF\xB9\xE7\xAC\xAC"
                   "\xE4\xB8\x80\xE4\xB8\xAA\xE6\x96\xB9\xE6\xA1\x88\xE7\x9A\x84\xE6\xAF\x94"
                   "\xE4\xBE\x8B\xE7\x9B\xB8\xE5\xAF\xB9\xE7\xAC\xAC\xE4\xB8\x80\xE4\xB8\xAA";
    myr_buf_clear(&buf);
    myr_chart_curves(&curves, &buf);
    assert_int_equal(times(&buf, "class=\"title\""), 2);
    assert_null(strstr(buf.data, "\xEF\xBF\xBD")); /* what a broken one would become */
    curves.title = "Goodput";
    /* On a page both are there, the wide one as it is in a file. */
    curves.form = MYR_CHART_WIDE;
    myr_chart_curves(&curves, &wide);
    assert_texts_within(&wide, 960);
    curves.form = MYR_CHART_PAGE;
    myr_buf_clear(&buf);
    myr_chart_curves(&curves, &buf);
    assert_int_equal(times(&buf, "<svg"), 2);
    assert_non_null(strstr(buf.data, wide.data));
    assert_int_equal(times(&buf, "<div class=\"desk\">"), 1);
    assert_int_equal(times(&buf, "<div class=\"phone\">"), 1);
    assert_int_equal(times(&buf, "</div>"), 2);
    myr_buf_done(&buf);
    myr_buf_done(&wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_few_digits),
        cmocka_unit_test(bars_have_a_shape_for_each_piece),
        cmocka_unit_test(bars_of_every_span_have_a_scale),
        cmocka_unit_test(arguments_break_before_their_names_only),
        cmocka_unit_test(bars_of_nothing_are_drawn),
        cmocka_unit_test(curves_are_drawn_over_every_span),
        cmocka_unit_test(one_point_and_no_point_are_plots_too),
        cmocka_unit_test(pages_escape_what_they_are_given),
        cmocka_unit_test(a_narrow_chart_keeps_its_words_on_a_phone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
