#include <stdlib.h>

#include "myriad/text/amount.h"
#include "myriad/text/chart.h"
#include "myriad/text/page.h"
#include "sweep/internal.h"

/*
 * Completion time over size: a chart for each collective, a curve for each combination of what
 * differs beside size and seed. Runs that differ in their seeds are one point, their mean.
 */

/* One row of the result that can be drawn. */
struct sample {
    const char *collective, *label; /* chart and curve that it belongs to */
    double bytes, end_us;
};

struct plot {
    const struct myr_sweep *sweep;
    struct myr_arena *arena;
    MYR_VEC(struct sample) samples;
};

/* 0 for an empty cell: such rows are left out. */
static double number_of(struct myr_str text)
{
    double value = 0;
    return myr_str_to_double(text, &value) ? value : 0;
}

/* A knob of sizes is the axis of the chart, as the workload's words are. */
static bool is_size(const struct myr_sweep_axis *axis)
{
    uint64_t bytes;
    for (uint32_t i = 0; i < axis->count; i++) {
        if (!axis->knob || !myr_sim_parse_bytes(myr_str_from(axis->values[i]), &bytes)) {
            return false;
        }
    }
    return true;
}

/* "ring, spray": the algorithm, then what differs between points. */
static const char *label_of(struct plot *plot, const struct myr_sweep_row *row)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    const struct myr_sweep *sweep = plot->sweep;
    struct myr_str algorithm = row->cells[MYR_SWEEP_ALGORITHM];
    myr_buf_put(&buf, algorithm.data, algorithm.len);
    for (uint32_t a = 0; a < sweep->axis_count; a++) {
        const struct myr_sweep_axis *axis = &sweep->axes[a];
        const char *value = myr_sweep_value(sweep, a, row->point);
        bool told = strcmp(axis->name, "workload") == 0 || strcmp(axis->name, "seed") == 0 ||
                    myr_str_eq(algorithm, myr_str_from(value));
        /* What is the same in all points tells no curve from another. */
        if (axis->count > 1 && !told && !is_size(axis)) {
            myr_buf_printf(&buf, ", %s", value);
        }
    }
    return myr_arena_strndup(plot->arena, buf.data, buf.len);
}

/* Charts, curves in them and points on these lie side by side, in the order of their names. */
static int by_curve(const void *a, const void *b)
{
    const struct sample *left = a, *right = b;
    int order = strcmp(left->collective, right->collective);
    order = order ? order : strcmp(left->label, right->label);
    if (order == 0 && left->bytes < right->bytes) {
        return -1;
    }
    return order ? order : left->bytes > right->bytes;
}

/* Texts stay those of the rows, which live longer than the plot. */
static void collect(struct plot *plot, const struct myr_sweep_result *result)
{
    for (uint32_t i = 0; i < result->row_count; i++) {
        const struct myr_sweep_row *row = &result->rows[i];
        struct myr_str collective = row->cells[MYR_SWEEP_COLLECTIVE];
        double end = number_of(row->cells[MYR_SWEEP_END_US]);
        double bytes = number_of(row->cells[MYR_SWEEP_BYTES]);
        if (collective.len == 0 || end <= 0 || bytes <= 0) {
            continue; /* no collective, or it could not be */
        }
        struct sample sample = {collective.data, label_of(plot, row), bytes, end};
        myr_vec_push(&plot->samples, sample);
    }
    if (plot->samples.count) {
        qsort(plot->samples.items, plot->samples.count, sizeof(*plot->samples.items), by_curve);
    }
}

/* The curve that begins at 'first'; where the next one begins. */
static size_t one_curve(struct plot *plot, size_t first, struct myr_series *ret)
{
    const struct sample *all = plot->samples.items;
    size_t end = first;
    while (end < plot->samples.count && strcmp(all[end].label, all[first].label) == 0 &&
           strcmp(all[end].collective, all[first].collective) == 0) {
        end++;
    }
    struct myr_point *points = MYR_ARENA_NEW(plot->arena, struct myr_point, end - first);
    uint32_t count = 0;
    for (size_t i = first; i < end;) {
        /* Sorted by size, so runs that differ in their seeds lie side by side. */
        double sum = 0;
        size_t same = i;
        while (same < end && all[same].bytes <= all[i].bytes) {
            sum += all[same++].end_us;
        }
        points[count++] = (struct myr_point){all[i].bytes, sum / (double)(same - i), NULL};
        i = same;
    }
    *ret = (struct myr_series){
        .name = all[first].label, .points = points, .count = count, .dots = true};
    return end;
}

/* The chart of the collective that begins at 'first'; where the next one begins. */
static size_t one_chart(struct plot *plot, size_t first, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct myr_series) series = {};
    const char *collective = plot->samples.items[first].collective;
    size_t at = first;
    while (at < plot->samples.count &&
           strcmp(plot->samples.items[at].collective, collective) == 0) {
        struct myr_series one;
        at = one_curve(plot, at, &one);
        one.colour = (uint32_t)series.count % MYR_CHART_COLOURS;
        /* Colours run out: the second round of them is dashed. */
        one.dashed = series.count >= MYR_CHART_COLOURS;
        myr_vec_push(&series, one);
    }
    myr_chart_curves(&(struct myr_curves){.title = collective,
                                          .note = "completion time; mean over seeds",
                                          .x_name = "bytes",
                                          .y_name = "us",
                                          .series = series.items,
                                          .count = (uint32_t)series.count,
                                          .log_x = true,
                                          .log_y = true},
                     buf);
    return at;
}

/* An SVG holds one of them. */
static uint32_t count_charts(const struct plot *plot)
{
    uint32_t count = 0;
    for (size_t i = 0; i < plot->samples.count; i++) {
        const struct sample *one = &plot->samples.items[i];
        count += i == 0 || strcmp(one[-1].collective, one->collective) != 0;
    }
    return count;
}

/* Every setting of the sweep: a picture says what it is a picture of. */
static void put_settings(const struct myr_sweep *sweep, struct myr_buf *buf)
{
    static const char *const heads[] = {"setting", "values"};
    myr_page_table_begin(buf, heads, 2);
    for (uint32_t a = 0; a < sweep->axis_count; a++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf values = {};
        const struct myr_sweep_axis *axis = &sweep->axes[a];
        for (uint32_t i = 0; i < axis->count; i++) {
            myr_buf_printf(&values, "%s%s", i ? " | " : "", axis->values[i]);
        }
        myr_page_row_begin(buf);
        myr_page_cell(buf, axis->name);
        myr_page_cell(buf, values.data);
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
}

/* The name says what it is: .svg is one chart, all else a page of them. */
int myr_sweep_plot(const struct myr_sweep *sweep, const struct myr_sweep_result *result,
                   const char *path, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct plot plot = {.sweep = sweep, .arena = &arena};
    size_t len = strlen(path);
    bool svg = len > 4 && strcmp(path + len - 4, ".svg") == 0;
    myr_arena_init(&arena);
    collect(&plot, result);
    MYR_CLEANUP(myr_free_at) struct sample *samples = plot.samples.items;
    uint32_t charts = count_charts(&plot);
    if (charts == 0 || (svg && charts > 1)) {
        return charts ? myr_err_set(err, MYR_EINVAL,
                                    "--plot: %u collectives are a page; give FILE.html", charts)
                      : myr_err_set(err, MYR_EINVAL, "--plot: no collective in a sweep of %s",
                                    MYR_COUNT(result->row_count, "row"));
    }
    MYR_ASSERT(samples);
    if (!svg) {
        myr_page_begin(ret, "Sweep");
        put_settings(sweep, ret);
    }
    for (size_t at = 0; at < plot.samples.count;) {
        at = one_chart(&plot, at, ret);
    }
    if (!svg) {
        myr_page_end(ret);
    }
    return MYR_OK;
}
