#include "myriad/sched/replay_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/amount.h"
#include "myriad/text/chart.h"
#include "myriad/text/page.h"

/*
 * The figures of a replay as pictures and on a page. Everything drawn is in the answer: nothing is
 * computed here but units and limits of axes.
 */

enum { LABEL_BYTES = 64, BLUE = 0, ORANGE = 1 };
#define HEADROOM 1.05 /* above the highest point of a curve, so that it is told from the frame */
enum { WAITS, IN_USE, SPANS, FREE_NODES };

const char *const myr_replay_chart_names[MYR_REPLAY_CHARTS] = {[WAITS] = "wait-by-size.svg",
                                                               [IN_USE] = "utilisation.svg",
                                                               [SPANS] = "span.svg",
                                                               [FREE_NODES] = "fragmentation.svg"};

/* What stands beside a bar, kept as long as the chart is drawn. */
struct size_words {
    char name[LABEL_BYTES], value[LABEL_BYTES];
    struct myr_piece pieces[2];
};

/* What stands at the left of a bar. */
static void name_size(const struct myr_replay_size_row *row, struct size_words *ret)
{
    snprintf(ret->name, sizeof(ret->name), "%s, %s", MYR_COUNT(row->gpus, "GPU"),
             MYR_COUNT(row->jobs, "job"));
}

/* A time as people say it: "40 s", "12 min", "2.6 h", "1,514 h". */
static const char *say_hours(double hours, char ret[LABEL_BYTES])
{
    static const struct myr_unit units[] = {
        {1, 60, 0, MYR_UNIT_BEHIND, "s"},
        {60, 60, 0, MYR_UNIT_BEHIND, "min"},
        {3600, 100, 1, MYR_UNIT_BEHIND, "h"},
        {3600, 0, 0, MYR_UNIT_GROUPED, "h"},
    };
    char text[MYR_AMOUNT_BYTES] = "0";
    if (hours > 0) {
        (void)myr_text_in_unit(hours * 3600, units, MYR_ARRAY_COUNT(units), text);
    }
    snprintf(ret, LABEL_BYTES, "%.*s", LABEL_BYTES - 1, text);
    return ret;
}

/* Two pieces a bar: the mean, and from there to what 99 of 100 wait. */
static void draw_waits(const struct myr_replay_answer *answer, enum myr_chart_form form,
                       struct myr_buf *buf)
{
    /* The words stay where they are until the chart is drawn: bars point at them. */
    struct size_words words[MYR_REPLAY_SIZES_MAX];
    struct myr_bar_row bars[MYR_REPLAY_SIZES_MAX];
    for (uint32_t i = 0; i < answer->size_count; i++) {
        const struct myr_replay_size_row *row = &answer->sizes[i];
        /* The bar's second piece begins where the first one ends. */
        double rest = row->wait_p99_h > row->wait_mean_h ? row->wait_p99_h - row->wait_mean_h : 0;
        name_size(row, &words[i]);
        char mean[LABEL_BYTES], late[LABEL_BYTES];
        snprintf(words[i].value, sizeof(words[i].value), "%.30s, %.30s",
                 say_hours(row->wait_mean_h, mean), say_hours(row->wait_p99_h, late));
        words[i].pieces[0] = (struct myr_piece){"mean", row->wait_mean_h, BLUE};
        words[i].pieces[1] = (struct myr_piece){"99 of 100 wait less", rest, ORANGE};
        bars[i] = (struct myr_bar_row){words[i].name, words[i].value, 0, words[i].pieces, 2};
    }
    struct myr_bars chart = {.form = form,
                             .title = "Wait by size of the job",
                             .note = "mean, and what 99 of 100 wait at most",
                             .unit = "h",
                             .rows = bars,
                             .count = answer->size_count,
                             .legend = true};
    myr_chart_bars(&chart, buf);
}

/* Only sizes that need several nodes: one node lies under one leaf. */
static void draw_spans(const struct myr_replay_answer *answer, enum myr_chart_form form,
                       struct myr_buf *buf)
{
    struct size_words words[MYR_REPLAY_SIZES_MAX];
    struct myr_bar_row bars[MYR_REPLAY_SIZES_MAX];
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < answer->size_count; i++) {
        const struct myr_replay_size_row *row = &answer->sizes[i];
        if (row->gpus <= answer->cluster.shape.gpus_per_node) {
            continue; /* one node lies under one leaf */
        }
        struct size_words *own = &words[drawn];
        name_size(row, own);
        /* As near as can be is 0, not 100. */
        double more = row->span > 1 ? 100 * (row->span - 1) : 0;
        snprintf(own->value, sizeof(own->value), "%.1f %%", more);
        own->pieces[0] = (struct myr_piece){"mean", more, BLUE};
        bars[drawn++] = (struct myr_bar_row){own->name, own->value, 0, own->pieces, 1};
    }
    struct myr_bars chart = {.form = form,
                             .title = "Leaves above the fewest possible",
                             .note = drawn ? "by size of the job; 0 is as near as the size allows"
                                           : "no job needs more than one node",
                             .unit = "%",
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

/* A chart of two lines with its limits. */
struct lines {
    const char *title, *unit;
    struct line lines[2];
    double most; /* of the axis; more is cut */
};

/* Over the time of the samples, in hours or days. */
static void draw_lines(const struct myr_replay_result *result, const struct lines *it,
                       enum myr_chart_form form, struct myr_buf *buf)
{
    /* From so many days on the axis counts in days. */
    enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S, DAYS_FROM = 3 };
    size_t count = result->samples.count;
    int64_t span_s =
        count ? result->samples.items[count - 1].time_s - result->samples.items[0].time_s : 0;
    bool days = span_s >= DAYS_FROM * DAY_S;
    struct myr_series series[2];
    /* One more, so that a replay without samples has an array. */
    struct myr_point *points = myr_xcalloc(2 * count + 1, sizeof(*points));
    for (uint32_t l = 0; l < 2; l++) {
        struct myr_point *own = points + l * count;
        for (size_t i = 0; i < count; i++) {
            const struct myr_replay_sample *sample = &result->samples.items[i];
            double value = it->lines[l].pick(sample);
            own[i] = (struct myr_point){.x = (double)sample->time_s / (days ? DAY_S : HOUR_S),
                                        .y = value < it->most ? value : it->most};
        }
        series[l] = (struct myr_series){.name = it->lines[l].name,
                                        .points = own,
                                        .count = (uint32_t)count,
                                        .colour = it->lines[l].colour};
    }
    struct myr_curves chart = {.form = form,
                               .title = it->title,
                               .x_name = days ? "days" : "hours",
                               .y_name = it->unit,
                               .series = series,
                               .count = 2,
                               .from_zero = true,
                               .y_max = HEADROOM * it->most};
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

/* The highest value that was met, so that the axis shows the data; 1 when nothing ever was. */
static double most_of(const struct myr_replay_result *result,
                      double (*pick)(const struct myr_replay_sample *), double limit)
{
    /* An axis needs some length. */
    double most = 1;
    for (size_t i = 0; i < result->samples.count; i++) {
        double value = pick(&result->samples.items[i]);
        most = value > most ? value : most;
    }
    return most < limit ? most : limit;
}

/* Cut at one and a half times the cluster: a long queue must not flatten the rest. */
static void draw_in_use(const struct myr_replay_answer *answer, enum myr_chart_form form,
                        struct myr_buf *buf)
{
    const struct myr_place_shape *shape = &answer->cluster.shape;
    double gpus = (double)shape->nodes * shape->gpus_per_node;
    struct lines lines = {.title = "GPUs in use, and asked for",
                          .unit = "GPUs",
                          .lines = {{"with those waited for (cut at 1.5 times the cluster)", ORANGE,
                                     busy_and_waiting},
                                    {"in use", BLUE, busy}},
                          .most = most_of(&answer->result, busy_and_waiting, gpus * 1.5)};
    draw_lines(&answer->result, &lines, form, buf);
}

/* All free nodes, and those of leaves that are free as a whole: the difference is fragmentation. */
static void draw_free_nodes(const struct myr_replay_answer *answer, enum myr_chart_form form,
                            struct myr_buf *buf)
{
    struct lines lines = {.title = "Whole free nodes",
                          .unit = "nodes",
                          .lines = {{"all", BLUE, free_nodes},
                                    {"in leaves that are free as a whole", ORANGE, free_together}},
                          .most =
                              most_of(&answer->result, free_nodes, answer->cluster.shape.nodes)};
    draw_lines(&answer->result, &lines, form, buf);
}

void myr_replay_chart(const struct myr_replay_answer *answer, uint32_t chart,
                      enum myr_chart_form form, struct myr_buf *buf)
{
    MYR_ASSERT(chart < MYR_REPLAY_CHARTS);
    /* By the order of the names, which are those of the files. */
    static void (*const draw[MYR_REPLAY_CHARTS])(const struct myr_replay_answer *,
                                                 enum myr_chart_form, struct myr_buf *) = {
        [WAITS] = draw_waits,
        [IN_USE] = draw_in_use,
        [SPANS] = draw_spans,
        [FREE_NODES] = draw_free_nodes};
    draw[chart](answer, form, buf);
}

static void put_tiles(const struct myr_replay_result *result, struct myr_buf *buf)
{
    char count[32], time[LABEL_BYTES];
    myr_page_tiles_begin(buf);
    myr_page_tile(buf, "jobs", "%s", myr_u64_grouped(result->jobs, count));
    myr_page_tile(buf, "wait, mean", "%s", say_hours(result->wait_mean_h, time));
    myr_page_tile(buf, "99 of 100 wait less", "%s", say_hours(result->wait_p99_h, time));
    myr_page_tile(buf, "longest wait", "%s", say_hours(result->wait_max_h, time));
    myr_page_tile(buf, "wait of jobs of several nodes, mean", "%s",
                  say_hours(result->multinode_wait_mean_h, time));
    myr_page_tile(buf, "leaves over the fewest possible", "%.3f", result->leaf_span);
    myr_page_tile(buf, "of the GPU hours used", "%.1f %%", 100 * result->gpu_utilisation);
    myr_page_tile(buf, "stops", "%s", myr_u64_grouped(result->preemptions, count));
    myr_page_tile(buf, "of the GPU hours lost", "%.2f %%", result->lost_gpu_hours_percent);
    myr_page_tiles_end(buf);
}

/* The jobs that waited longest, by their line in the trace. */
static void put_longest(const struct myr_replay_answer *answer, struct myr_buf *buf)
{
    static const char *const heads[] = {">line", "tenant", ">GPUs", ">wait h", ">stops"};
    myr_page_heading(buf, "The longest waits");
    myr_page_table_begin(buf, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < answer->longest_count; i++) {
        const struct myr_replay_longest_row *row = &answer->longest[i];
        myr_page_row_begin(buf);
        myr_page_number(buf, "%u", row->line);
        myr_page_cell(buf, row->tenant);
        myr_page_number(buf, "%u", row->gpus);
        myr_page_number(buf, "%.2f", row->wait_h);
        myr_page_number(buf, "%u", row->stops);
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
}

void myr_replay_page(const struct myr_replay_question *question,
                     const struct myr_replay_answer *answer, struct myr_buf *buf)
{
    const struct myr_place_shape *shape = &answer->cluster.shape;
    char words[400];
    myr_page_begin(buf, "Replay of a trace of jobs");
    snprintf(words, sizeof(words),
             "%.200s on %s of %s%s, %s a leaf%s, policy %s. The policy knew no durations. Wait is "
             "all time a job did not run.",
             answer->trace.file, MYR_COUNT(shape->nodes, "node"),
             MYR_COUNT(shape->gpus_per_node, "GPU"),
             answer->cluster.assumed_gpus_per_node ? " (assumed)" : "",
             MYR_COUNT(shape->group_nodes, "node"),
             answer->cluster.assumed_leaf_nodes ? " (assumed)" : "",
             myr_replay_policy_names[question->policy]);
    myr_page_note(buf, words);
    put_tiles(&answer->result, buf);
    for (uint32_t i = 0; i < MYR_REPLAY_CHARTS; i++) {
        myr_page_wide_begin(buf);
        myr_replay_chart(answer, i, MYR_CHART_PAGE, buf);
        myr_page_wide_end(buf);
    }
    put_longest(answer, buf);
    myr_page_end(buf);
}
