#include <stdio.h>
#include <stdlib.h>

#include "sched.h"

/* In tenths of a pixel, as svg.h has it. */
enum {
    WIDTH_PX = 860,
    HEIGHT_PX = 360,
    LEFT = 700,
    RIGHT = 8400,
    TOP = 640,
    BOTTOM = 2960,
    TICKS = 4,
    SIZES_MAX = 24,
};

static const char *const more_rules =
    ".a{fill:#0072b2;fill-opacity:.75;stroke:none}.b{fill:#d55e00;fill-opacity:.75;stroke:none}"
    ".line-a{fill:none;stroke:#0072b2;stroke-width:1.3}"
    ".line-b{fill:none;stroke:#d55e00;stroke-width:1.3}"
    "@media (prefers-color-scheme:dark){.a{fill:#56b4e9}.b{fill:#ff8c42}"
    ".line-a{stroke:#56b4e9}.line-b{stroke:#ff8c42}}";

struct chart {
    struct myr_buf buf;
    struct myr_svg svg;
    double most; /* top of the y axis */
};

/* The next number that divides well by TICKS. */
static double round_up(double value)
{
    static const double steps[] = {1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10};
    double unit = 1;
    while (unit * 10 < value) {
        unit *= 10;
    }
    while (unit > value && unit > 1e-6) {
        unit /= 10;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(steps); i++) {
        if (unit * steps[i] >= value) {
            return unit * steps[i];
        }
    }
    return unit * 10;
}

static int32_t y_of(const struct chart *chart, double value)
{
    double share = chart->most > 0 ? value / chart->most : 0;
    return BOTTOM - (int32_t)(share * (BOTTOM - TOP));
}

static void chart_begin(struct chart *chart, const char *title, const char *what_a,
                        const char *what_b, double most, const char *unit)
{
    chart->buf = (struct myr_buf){0};
    chart->most = round_up(most > 0 ? most : 1);
    myr_svg_begin(&chart->svg, &chart->buf, WIDTH_PX, HEIGHT_PX, title);
    myr_svg_style(&chart->svg, more_rules);
    myr_svg_text(&chart->svg, LEFT, 280, MYR_SVG_START, "title", title);
    myr_svg_rect(&chart->svg, LEFT, 420, 100, 100, "a", NULL);
    myr_svg_text(&chart->svg, LEFT + 150, 510, MYR_SVG_START, "label", what_a);
    if (what_b) {
        myr_svg_rect(&chart->svg, LEFT + 3000, 420, 100, 100, "b", NULL);
        myr_svg_text(&chart->svg, LEFT + 3150, 510, MYR_SVG_START, "label", what_b);
    }
    for (uint32_t i = 0; i <= TICKS; i++) {
        char text[32];
        double value = chart->most * i / TICKS;
        snprintf(text, sizeof(text), "%g%s", value, unit);
        myr_svg_line(&chart->svg, LEFT, y_of(chart, value), RIGHT, y_of(chart, value),
                     i ? "muted" : "link", NULL);
        myr_svg_text(&chart->svg, LEFT - 80, y_of(chart, value) + 40, MYR_SVG_END, "label muted",
                     text);
    }
}

static int chart_end(struct chart *chart, const char *folder, const char *name, struct myr_err *err)
{
    char path[4096];
    myr_svg_end(&chart->svg);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int r = myr_file_write(path, &chart->buf, err);
    myr_buf_done(&chart->buf);
    return r;
}

/* Jobs of one size. */
struct size_row {
    uint32_t gpus, count;
    double mean_h, p99_h, span;
};

static int by_size_and_wait(const void *a, const void *b)
{
    const struct myr_replay_job *x = a, *y = b;
    if (x->gpus != y->gpus) {
        return x->gpus < y->gpus ? -1 : 1;
    }
    return x->wait_s < y->wait_s ? -1 : x->wait_s > y->wait_s;
}

/* Sizes up to the next power of two stand together; returns how many there are. */
static uint32_t size_rows(const struct myr_replay_result *result, struct size_row *ret)
{
    size_t count = result->job_rows.count;
    struct myr_replay_job *jobs = myr_xcalloc(count, sizeof(*jobs));
    memcpy(jobs, result->job_rows.items, count * sizeof(*jobs));
    for (size_t i = 0; i < count; i++) {
        uint32_t size = 1;
        while (size < jobs[i].gpus) {
            size *= 2;
        }
        jobs[i].gpus = size;
    }
    qsort(jobs, count, sizeof(*jobs), by_size_and_wait);
    uint32_t rows = 0;
    for (size_t first = 0; first < count && rows < SIZES_MAX;) {
        struct size_row row = {.gpus = jobs[first].gpus};
        size_t end = first;
        for (; end < count && jobs[end].gpus == row.gpus; end++) {
            row.mean_h += (double)jobs[end].wait_s / 3600;
            row.span += (double)jobs[end].groups / jobs[end].groups_min;
        }
        row.count = (uint32_t)(end - first);
        row.mean_h /= row.count;
        row.span /= row.count;
        size_t late = first + (size_t)row.count * 99 / 100;
        row.p99_h = (double)jobs[late].wait_s / 3600;
        ret[rows++] = row;
        first = end;
    }
    free(jobs);
    return rows;
}

/* 'shift' is in halves of a bar from the middle of its place. */
static void put_bar(struct chart *chart, uint32_t at, uint32_t count, int32_t shift, double value,
                    const char *css)
{
    int32_t step = (RIGHT - LEFT) / (int32_t)count, width = step / 3;
    int32_t x = LEFT + (int32_t)at * step + step / 2 - width / 2 + shift * width / 2;
    char tip[32];
    snprintf(tip, sizeof(tip), "%.3g", value);
    myr_svg_rect(&chart->svg, x, y_of(chart, value), width, BOTTOM - y_of(chart, value), css, tip);
    myr_svg_text(&chart->svg, x + width / 2, y_of(chart, value) - 40, MYR_SVG_MIDDLE, "label-small",
                 tip);
}

static void put_size_label(struct chart *chart, uint32_t at, uint32_t count,
                           const struct size_row *row)
{
    int32_t step = (RIGHT - LEFT) / (int32_t)count, x = LEFT + (int32_t)at * step + step / 2;
    char text[48], jobs[32];
    snprintf(text, sizeof(text), "%u GPU%s", row->gpus, row->gpus == 1 ? "" : "s");
    myr_svg_text(&chart->svg, x, BOTTOM + 200, MYR_SVG_MIDDLE, "label", text);
    snprintf(text, sizeof(text), "%s jobs", myr_u64_grouped(row->count, jobs));
    myr_svg_text(&chart->svg, x, BOTTOM + 370, MYR_SVG_MIDDLE, "label-small muted", text);
}

static int plot_waits(const char *folder, const struct size_row *rows, uint32_t count,
                      struct myr_err *err)
{
    struct chart chart;
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = rows[i].p99_h > most ? rows[i].p99_h : most;
        most = rows[i].mean_h > most ? rows[i].mean_h : most;
    }
    chart_begin(&chart, "Wait by size of the job", "mean", "99 of 100 wait less", most, " h");
    for (uint32_t i = 0; i < count; i++) {
        put_bar(&chart, i, count, -1, rows[i].mean_h, "a");
        put_bar(&chart, i, count, 1, rows[i].p99_h, "b");
        put_size_label(&chart, i, count, &rows[i]);
    }
    return chart_end(&chart, folder, "wait-by-size.svg", err);
}

static int plot_span(const char *folder, const struct myr_place_shape *shape,
                     const struct size_row *rows, uint32_t count, struct myr_err *err)
{
    struct chart chart;
    uint32_t first = 0;
    double most = 1;
    while (first < count && rows[first].gpus <= shape->gpus_per_node) {
        first++;
    }
    for (uint32_t i = first; i < count; i++) {
        most = rows[i].span > most ? rows[i].span : most;
    }
    chart_begin(&chart, "Leaves used over the fewest possible, by size of the job", "mean", NULL,
                most, "");
    for (uint32_t i = first; i < count; i++) {
        put_bar(&chart, i - first, count - first, 0, rows[i].span, "a");
        put_size_label(&chart, i - first, count - first, &rows[i]);
    }
    if (first == count) {
        myr_svg_text(&chart.svg, LEFT + 200, TOP + 400, MYR_SVG_START, "label muted",
                     "no job needs more than one node");
    }
    return chart_end(&chart, folder, "span.svg", err);
}

/* A line over time; 'pick' gives its value at a sample. */
static void put_series(struct chart *chart, const struct myr_replay_result *result,
                       double (*pick)(const struct myr_replay_sample *), const char *css)
{
    size_t count = result->samples.count;
    myr_svg_path_begin(&chart->svg);
    for (size_t i = 0; i < count; i++) {
        double value = pick(&result->samples.items[i]);
        int32_t x = LEFT + (int32_t)((int64_t)(RIGHT - LEFT) * (int64_t)i / (int64_t)count);
        int32_t y = y_of(chart, value < chart->most ? value : chart->most);
        if (i == 0) {
            myr_svg_path_move(&chart->svg, x, y);
        } else {
            myr_svg_path_line(&chart->svg, x, y);
        }
    }
    myr_svg_path_end(&chart->svg, css, NULL);
}

static void put_days(struct chart *chart, const struct myr_replay_result *result)
{
    size_t count = result->samples.count;
    for (uint32_t i = 0; i <= TICKS && count > 0; i++) {
        size_t at = (count - 1) * i / TICKS;
        int32_t x = LEFT + (int32_t)((int64_t)(RIGHT - LEFT) * (int64_t)at / (int64_t)count);
        char text[32];
        snprintf(text, sizeof(text), "day %.1f", (double)result->samples.items[at].time_s / 86400);
        enum myr_svg_anchor anchor = i == 0       ? MYR_SVG_START
                                     : i == TICKS ? MYR_SVG_END
                                                  : MYR_SVG_MIDDLE;
        myr_svg_text(&chart->svg, x, BOTTOM + 200, anchor, "label", text);
    }
}

static double busy(const struct myr_replay_sample *s)
{
    return s->busy_gpus;
}

static double busy_and_waiting(const struct myr_replay_sample *s)
{
    return (double)s->busy_gpus + s->waiting_gpus;
}

static double free_nodes(const struct myr_replay_sample *s)
{
    return s->free_nodes;
}

static double free_together(const struct myr_replay_sample *s)
{
    return s->free_nodes_in_whole_groups;
}

int cli_sched_plot(const char *folder, const struct myr_place_shape *shape,
                   const struct myr_replay_result *result, struct myr_err *err)
{
    struct size_row rows[SIZES_MAX];
    uint32_t count = size_rows(result, rows);
    struct chart chart;
    int r = myr_make_dirs(folder, err);
    r = r < 0 ? r : plot_waits(folder, rows, count, err);
    r = r < 0 ? r : plot_span(folder, shape, rows, count, err);
    if (r < 0) {
        return r;
    }
    double all = (double)shape->nodes * shape->gpus_per_node;
    chart_begin(&chart, "GPUs in use, and asked for", "in use",
                "with those waited for (cut at the top)", all * 1.5, "");
    put_series(&chart, result, busy_and_waiting, "line-b");
    put_series(&chart, result, busy, "line-a");
    put_days(&chart, result);
    r = chart_end(&chart, folder, "utilisation.svg", err);
    if (r < 0) {
        return r;
    }
    chart_begin(&chart, "Whole free nodes", "all", "in leaves that are free as a whole",
                shape->nodes, "");
    put_series(&chart, result, free_nodes, "line-a");
    put_series(&chart, result, free_together, "line-b");
    put_days(&chart, result);
    return chart_end(&chart, folder, "fragmentation.svg", err);
}
