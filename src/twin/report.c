/* report: a run as a page, drawn from its samples and sorted lists. */
#include "myriad/twin/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/amount.h"
#include "myriad/text/chart.h"
#include "myriad/text/page.h"

enum { BLUE = 0, ORANGE = 1, LINES_MAX = 2 };

/* One curve: what it is called, and how it is read off a sample. */
struct line {
    const char *name;
    uint32_t colour;
    double (*pick)(const struct myr_twin_sample *sample);
};

/* At most LINES_MAX lines over one time axis. */
static void draw_lines(const struct myr_twin_result *r, const char *title, const char *unit,
                       const struct line *lines, uint32_t count, struct myr_buf *buf)
{
    size_t points = r->samples.count;
    /* From three days on the axis counts in days. */
    bool days = r->end_ms >= 3 * INT64_C(86400000);
    struct myr_point *all = myr_xcalloc(LINES_MAX * points, sizeof(*all));
    struct myr_series series[LINES_MAX];
    for (uint32_t l = 0; l < count; l++) {
        /* Each line has its part of one array. */
        struct myr_point *own = all + l * points;
        for (size_t i = 0; i < points; i++) {
            double hours = (double)r->samples.items[i].now_ms / 3600e3;
            own[i] = (struct myr_point){.x = days ? hours / 24 : hours,
                                        .y = lines[l].pick(&r->samples.items[i])};
        }
        series[l] = (struct myr_series){.name = lines[l].name,
                                        .points = own,
                                        .count = (uint32_t)points,
                                        .colour = lines[l].colour};
    }
    struct myr_curves chart = {.form = MYR_CHART_PAGE,
                               .title = title,
                               .x_name = days ? "days" : "hours",
                               .y_name = unit,
                               .series = series,
                               .count = count,
                               .from_zero = true};
    myr_page_wide_begin(buf);
    myr_chart_curves(&chart, buf);
    myr_page_wide_end(buf);
    free(all);
}

/* How many of a hundred are at or below. */
static void draw_shares(const double *sorted, size_t count, const char *title, const char *unit,
                        struct myr_buf *buf)
{
    /* From the least to the greatest, both included. */
    struct myr_point points[101];
    /* By rank in the sorted list, without values in between. */
    for (uint32_t p = 0; p <= 100 && count > 0; p++) {
        points[p] = (struct myr_point){.x = p, .y = sorted[(count - 1) * p / 100]};
    }
    struct myr_series series = {
        .name = "", .points = points, .count = count > 0 ? 101 : 0, .colour = BLUE};
    struct myr_curves chart = {.form = MYR_CHART_PAGE,
                               .title = title,
                               .note = count > 0 ? "so many of a hundred take no longer" : "none",
                               .x_name = "of a hundred",
                               .y_name = unit,
                               .series = &series,
                               .count = 1,
                               .from_zero = true};
    myr_page_wide_begin(buf);
    myr_chart_curves(&chart, buf);
    myr_page_wide_end(buf);
}

static double busy(const struct myr_twin_sample *s)
{
    return s->busy_gpus;
}

static double held(const struct myr_twin_sample *s)
{
    return s->held_gpus;
}

static double waiting(const struct myr_twin_sample *s)
{
    return s->waiting;
}

static double failures(const struct myr_twin_sample *s)
{
    return (double)s->failures;
}

static double nodes_out(const struct myr_twin_sample *s)
{
    return s->nodes_out;
}

static void put_tiles(const struct myr_twin_result *r, struct myr_buf *buf)
{
    myr_page_tiles_begin(buf);
    myr_page_tile(buf, "jobs done", "%u of %u", r->done, r->submitted);
    myr_page_tile(buf, "GPU time in use", "%.1f %%", 100 * r->gpu_utilisation);
    myr_page_tile(buf, "GPU time kept", "%.1f %%", 100 * r->goodput);
    myr_page_tile(buf, "mean wait", "%.2f h", r->wait_mean_h);
    myr_page_tile(buf, "failures", "%llu", (unsigned long long)r->failures);
    myr_page_tile(buf, "recovery, median", "%.0f s", r->recovery_p50_s);
    myr_page_tile(buf, "invariants broken", "%llu", (unsigned long long)r->violations);
    myr_page_tiles_end(buf);
}

/* By GPU hours, with the part of their time that was of use. */
static void put_long_jobs(const struct myr_twin_result *r, struct myr_buf *buf)
{
    static const char *const heads[] = {"job", "GPUs", "hours", "failures", "useful time %"};
    myr_page_heading(buf, "The largest jobs");
    myr_page_table_begin(buf, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < r->long_count; i++) {
        myr_page_row_begin(buf);
        myr_page_number(buf, "%u", r->longest[i].job);
        myr_page_number(buf, "%u", r->longest[i].gpus);
        myr_page_number(buf, "%.1f", r->longest[i].hours);
        myr_page_number(buf, "%u", r->longest[i].failures);
        myr_page_number(buf, "%.2f", 100 * r->longest[i].ettr);
        myr_page_row_end(buf);
    }
    myr_page_table_end(buf);
}

void myr_twin_page(const struct myr_scenario *scenario, const struct myr_twin_result *r,
                   struct myr_buf *buf)
{
    /* The difference between the two is time spent on starts and recoveries. */
    static const struct line gpus[] = {{"belong to a job", ORANGE, held},
                                       {"make progress", BLUE, busy}};
    static const struct line queue[] = {{"jobs that wait", BLUE, waiting}};
    /* One only grows, the other comes and goes. */
    static const struct line faults[] = {{"failures so far", ORANGE, failures},
                                         {"nodes down or cut off", BLUE, nodes_out}};
    /* Names of scenarios may be long: they are cut. */
    char words[300];
    myr_page_begin(buf, "A run of the twin");
    snprintf(words, sizeof(words),
             "%.80s: %s of %s, %.2f days, seed %llu. Simulated nodes under the real "
             "controller; times and rates of failures from the recovery data.",
             scenario->name, MYR_COUNT(scenario->shape.nodes, "node"),
             MYR_COUNT(scenario->shape.gpus_per_node, "GPU"), (double)r->end_ms / 86400e3,
             (unsigned long long)r->seed);
    myr_page_note(buf, words);
    put_tiles(r, buf);
    draw_lines(r, "GPUs", "GPUs", gpus, 2, buf);
    draw_lines(r, "Jobs in the queue", "jobs", queue, 1, buf);
    draw_lines(r, "Failures, and nodes that are out", "", faults, 2, buf);
    draw_shares(r->wait_h.items, r->wait_h.count, "Wait until the first start", "h", buf);
    draw_shares(r->recovery_s.items, r->recovery_s.count, "From a failure to the next step", "s",
                buf);
    put_long_jobs(r, buf);
    /* The first one in words; the others are in the count above. */
    if (r->violations) {
        myr_page_heading(buf, "Broken");
        snprintf(words, sizeof(words), "%s: %.200s", r->first_rule, r->first_violation);
        myr_page_note(buf, words);
    }
    myr_page_end(buf);
}
