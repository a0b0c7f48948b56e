#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/chart.h"
#include "myriad/text/page.h"
#include "sched.h"

enum { SIZES_MAX = 24, LABEL_BYTES = 64, BLUE = 0, ORANGE = 1 };

static int write_chart(const char *folder, const char *name, struct myr_buf *buf,
                       struct myr_err *err)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return myr_err_set(err, MYR_EINVAL, "--plots: the folder's name is too long");
    }
    int r = myr_file_write(path, buf, err);
    myr_buf_clear(buf);
    return r;
}

struct sized_job {
    uint32_t gpus;
    int64_t wait_s;
    double span;
};

/* Jobs of one size. */
struct size_row {
    uint32_t gpus, count;
    double mean_h, p99_h, span;
};

static int by_size_and_wait(const void *a, const void *b)
{
    const struct sized_job *x = a, *y = b;
    if (x->gpus != y->gpus) {
        return x->gpus < y->gpus ? -1 : 1;
    }
    return x->wait_s < y->wait_s ? -1 : x->wait_s > y->wait_s;
}

/* Sizes up to the next power of two stand together; returns how many there are. */
static uint32_t size_rows(const struct myr_replay_result *result, struct size_row *ret)
{
    size_t count = result->job_rows.count;
    struct sized_job *jobs = myr_xcalloc(count, sizeof(*jobs));
    for (size_t i = 0; i < count; i++) {
        uint32_t size = 1;
        while (size < result->submitted[i].gpus) {
            size *= 2;
        }
        const struct myr_replay_job *row = &result->job_rows.items[i];
        jobs[i] = (struct sized_job){size, row->wait_s, (double)row->groups / row->groups_min};
    }
    qsort(jobs, count, sizeof(*jobs), by_size_and_wait);
    uint32_t rows = 0;
    for (size_t first = 0; first < count && rows < SIZES_MAX;) {
        struct size_row row = {.gpus = jobs[first].gpus};
        size_t end = first;
        for (; end < count && jobs[end].gpus == row.gpus; end++) {
            row.mean_h += (double)jobs[end].wait_s / 3600;
            row.span += jobs[end].span;
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

/* What stands beside a bar, kept as long as the chart is drawn. */
struct size_words {
    char name[LABEL_BYTES], value[LABEL_BYTES];
    struct myr_piece pieces[2];
};

static void name_size(const struct size_row *row, struct size_words *ret)
{
    char jobs[32];
    snprintf(ret->name, sizeof(ret->name), "%u GPU%s, %s job%s", row->gpus,
             row->gpus == 1 ? "" : "s", myr_u64_grouped(row->count, jobs),
             row->count == 1 ? "" : "s");
}

static void draw_waits(const struct size_row *rows, uint32_t count, struct myr_buf *buf)
{
    struct size_words words[SIZES_MAX];
    struct myr_bar_row bars[SIZES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        double rest = rows[i].p99_h > rows[i].mean_h ? rows[i].p99_h - rows[i].mean_h : 0;
        name_size(&rows[i], &words[i]);
        snprintf(words[i].value, sizeof(words[i].value), "%.3g h, %.3g h", rows[i].mean_h,
                 rows[i].p99_h);
        words[i].pieces[0] = (struct myr_piece){"mean", rows[i].mean_h, BLUE};
        words[i].pieces[1] = (struct myr_piece){"99 of 100 wait less", rest, ORANGE};
        bars[i] = (struct myr_bar_row){words[i].name, words[i].value, 0, words[i].pieces, 2};
    }
    struct myr_bars chart = {.title = "Wait by size of the job",
                             .note = "mean, and what 99 of 100 wait at most",
                             .unit = "h",
                             .rows = bars,
                             .count = count,
                             .legend = true};
    myr_chart_bars(&chart, buf);
}

static void draw_spans(const struct myr_place_shape *shape, const struct size_row *rows,
                       uint32_t count, struct myr_buf *buf)
{
    struct size_words words[SIZES_MAX];
    struct myr_bar_row bars[SIZES_MAX];
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].gpus <= shape->gpus_per_node) {
            continue;
        }
        struct size_words *own = &words[drawn];
        name_size(&rows[i], own);
        snprintf(own->value, sizeof(own->value), "%.3g", rows[i].span);
        own->pieces[0] = (struct myr_piece){"mean", rows[i].span, BLUE};
        bars[drawn++] = (struct myr_bar_row){own->name, own->value, 0, own->pieces, 1};
    }
    struct myr_bars chart = {.title = "Leaves used over the fewest possible, by size of the job",
                             .note = drawn ? NULL : "no job needs more than one node",
                             .unit = "",
                             .rows = bars,
                             .count = drawn};
    myr_chart_bars(&chart, buf);
}

/* Two lines over time, the second on top; 'pick' gives the value at a sample, cut at 'most'. */
struct line {
    const char *name;
    uint32_t colour;
    double (*pick)(const struct myr_replay_sample *);
};

static void draw_lines(const struct myr_replay_result *result, const char *title,
                       const struct line lines[2], double most, struct myr_buf *buf)
{
    size_t count = result->samples.count;
    struct myr_series series[2];
    struct myr_point *points = myr_xcalloc(2 * count + 1, sizeof(*points));
    for (uint32_t l = 0; l < 2; l++) {
        struct myr_point *own = points + l * count;
        for (size_t i = 0; i < count; i++) {
            const struct myr_replay_sample *sample = &result->samples.items[i];
            double value = lines[l].pick(sample);
            own[i] = (struct myr_point){.x = (double)sample->time_s / 86400,
                                        .y = value < most ? value : most};
        }
        series[l] = (struct myr_series){.name = lines[l].name,
                                        .points = own,
                                        .count = (uint32_t)count,
                                        .colour = lines[l].colour};
    }
    struct myr_curves chart = {.title = title,
                               .x_name = "days",
                               .y_name = "",
                               .series = series,
                               .count = 2,
                               .from_zero = true,
                               .y_max = most};
    myr_chart_curves(&chart, buf);
    free(points);
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

enum { CHARTS = 4 };

static void draw_all(const struct myr_place_shape *shape, const struct myr_replay_result *result,
                     struct myr_buf bufs[CHARTS])
{
    static const struct line use[] = {
        {"with those waited for (cut at the top)", ORANGE, busy_and_waiting},
        {"in use", BLUE, busy}};
    static const struct line room[] = {
        {"all", BLUE, free_nodes}, {"in leaves that are free as a whole", ORANGE, free_together}};
    struct size_row rows[SIZES_MAX];
    uint32_t count = size_rows(result, rows);
    double gpus = (double)shape->nodes * shape->gpus_per_node;
    draw_waits(rows, count, &bufs[0]);
    draw_lines(result, "GPUs in use, and asked for", use, gpus * 1.5, &bufs[1]);
    draw_spans(shape, rows, count, &bufs[2]);
    draw_lines(result, "Whole free nodes", room, shape->nodes, &bufs[3]);
}

int cli_sched_plot(const char *folder, const struct myr_place_shape *shape,
                   const struct myr_replay_result *result, struct myr_err *err)
{
    static const char *const names[CHARTS] = {"wait-by-size.svg", "utilisation.svg", "span.svg",
                                              "fragmentation.svg"};
    struct myr_buf bufs[CHARTS] = {0};
    draw_all(shape, result, bufs);
    int r = myr_make_dirs(folder, err);
    for (uint32_t i = 0; i < CHARTS; i++) {
        r = r < 0 ? r : write_chart(folder, names[i], &bufs[i], err);
        myr_buf_done(&bufs[i]);
    }
    return r;
}

static void put_tiles(const struct myr_replay_result *result, struct myr_buf *buf)
{
    char jobs[32];
    myr_page_tiles_begin(buf);
    myr_page_tile(buf, "jobs", "%s", myr_u64_grouped(result->jobs, jobs));
    myr_page_tile(buf, "wait, mean", "%.3f h", result->wait_mean_h);
    myr_page_tile(buf, "99 of 100 wait less", "%.2f h", result->wait_p99_h);
    myr_page_tile(buf, "longest wait", "%.1f h", result->wait_max_h);
    myr_page_tile(buf, "wait of jobs of several nodes, mean", "%.2f h",
                  result->multinode_wait_mean_h);
    myr_page_tile(buf, "leaves over the fewest possible", "%.3f", result->leaf_span);
    myr_page_tile(buf, "of the GPU hours used", "%.1f %%", 100 * result->gpu_utilisation);
    myr_page_tile(buf, "stops", "%llu", (unsigned long long)result->preemptions);
    myr_page_tile(buf, "of the GPU hours lost", "%.2f %%", result->lost_gpu_hours_percent);
    myr_page_tiles_end(buf);
}

/* The jobs that waited longest, by their line in the trace. */
static void put_longest(const struct myr_joblog *trace, const struct myr_replay_result *result,
                        struct myr_buf *buf)
{
    enum { SHOWN = 10 };
    static const char *const heads[] = {">line", "tenant", ">GPUs", ">wait h", ">stops"};
    uint32_t longest[SHOWN];
    uint32_t count = 0;
    for (size_t i = 0; i < result->job_rows.count; i++) {
        const struct myr_replay_job *row = &result->job_rows.items[i];
        uint32_t at = count;
        for (; at > 0 && result->job_rows.items[longest[at - 1]].wait_s < row->wait_s; at--) {
            if (at < SHOWN) {
                longest[at] = longest[at - 1];
            }
        }
        if (at < SHOWN) {
            longest[at] = (uint32_t)i;
            count += count < SHOWN;
        }
    }
    myr_page_heading(buf, "The longest waits");
    myr_page_table_begin(buf, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < count; i++) {
        myr_page_row_begin(buf);
        myr_page_number(buf, "%u", result->submitted[longest[i]].line);
        myr_page_cell(buf, trace->tenant_names[result->submitted[longest[i]].tenant]);
        myr_page_number(buf, "%u", (uint32_t)result->submitted[longest[i]].gpus);
        myr_page_number(buf, "%.2f", (double)result->job_rows.items[longest[i]].wait_s / 3600);
        myr_page_number(buf, "%u", result->job_rows.items[longest[i]].stops);
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
}

int cli_sched_report(const char *path, const char *policy, const struct myr_joblog *trace,
                     const struct myr_place_shape *shape, const struct myr_replay_result *result,
                     struct myr_err *err)
{
    struct myr_buf page = {0}, bufs[CHARTS] = {0};
    char words[400];
    myr_page_begin(&page, "Replay of a trace of jobs");
    snprintf(words, sizeof(words),
             "%.200s on %u nodes of %u GPUs, %u nodes a leaf, policy %s. The policy knew no "
             "durations. Wait is all time a job did not run.",
             trace->file, shape->nodes, shape->gpus_per_node, shape->group_nodes, policy);
    myr_page_note(&page, words);
    put_tiles(result, &page);
    draw_all(shape, result, bufs);
    for (uint32_t i = 0; i < CHARTS; i++) {
        myr_buf_put(&page, bufs[i].data, bufs[i].len);
        myr_buf_done(&bufs[i]);
    }
    put_longest(trace, result, &page);
    myr_page_end(&page);
    int r = myr_file_write(path, &page, err);
    myr_buf_done(&page);
    return r;
}
