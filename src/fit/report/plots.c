/*
 * plots: the charts of a report, each from its own answer: a step's terms, memory, linearity, time
 * against cost, goodput over the interval.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cost/block.h"
#include "myriad/fit/report.h"
#include "myriad/text/amount.h"
#include "myriad/text/chart.h"

/* Colours of the charts: arithmetic, transfers, update, memory-bound, waiting, others. */
enum { BLUE, ORANGE, GREEN, PINK, AMBER, SKY, GREY, OLIVE };

/* Terms of one kind share a colour; the chart's note says which. */
static uint32_t term_colour(enum myr_fit_term term)
{
    switch (term) {
    case MYR_FIT_TENSOR:
    case MYR_FIT_CONTEXT:
    case MYR_FIT_EXPERT_COMM:
    case MYR_FIT_PIPELINE:
    case MYR_FIT_DATA:
        return ORANGE;
    case MYR_FIT_BUBBLE:
    case MYR_FIT_STRAGGLER:
        return AMBER;
    case MYR_FIT_MEMORY:
    case MYR_FIT_LAUNCH:
        return SKY;
    case MYR_FIT_OPTIMISER:
        return GREEN;
    default:
        return BLUE;
    }
}

/* All times of a step in one unit and as exactly: 818.6 ms, 0.6 ms; 10.339 s, 0.020 s. */
const struct myr_plot_unit *myr_plot_unit_of(double step_s)
{
    static const struct myr_plot_unit units[] = {{"ms", 1e3, 3}, {"ms", 1e3, 1}, {"s", 1, 3}};
    return &units[(step_s >= 0.01) + (step_s >= 1)];
}

/* A waterfall: each term begins where the one before it ends. */
void myr_plot_step(const struct myr_fit_cost *cost, enum myr_chart_form form, struct myr_buf *buf)
{
    struct myr_bar_row rows[MYR_FIT_TERM_COUNT + 1];
    struct myr_piece pieces[MYR_FIT_TERM_COUNT + 1];
    char words[MYR_FIT_TERM_COUNT + 1][48];
    const struct myr_plot_unit *unit = myr_plot_unit_of(cost->step_s);
    uint32_t count = 0;
    double at = 0;
    for (int t = 0; t < MYR_FIT_TERM_COUNT; t++) {
        enum myr_fit_term term = (enum myr_fit_term)t;
        double seconds = cost->terms_s[t];
        /* Too thin to be seen; the next bar starts where it ends all the same. */
        if (seconds < 0.0005 * cost->step_s) {
            at += seconds;
            continue;
        }
        const char *name = myr_fit_term_name(term);
        pieces[count] = (struct myr_piece){name, seconds * unit->scale, term_colour(term)};
        snprintf(words[count], sizeof(words[count]), "%s %s, %.1f %%",
                 MYR_NUMBER(seconds * unit->scale, unit->digits), unit->name,
                 100 * seconds / cost->step_s);
        rows[count] = (struct myr_bar_row){name, words[count], at * unit->scale, &pieces[count], 1};
        at += seconds;
        count++;
    }
    /* The last bar is the whole, from the start again. */
    pieces[count] = (struct myr_piece){"step", cost->step_s * unit->scale, GREY};
    snprintf(words[count], sizeof(words[count]), "%s %s",
             MYR_NUMBER(cost->step_s * unit->scale, unit->digits), unit->name);
    rows[count] = (struct myr_bar_row){"step", words[count], 0, &pieces[count], 1};
    struct myr_bars bars = {
        .form = form,
        .title = "Where a step's time goes",
        .note = "blue: arithmetic; light blue: memory and launch; orange: transfers not hidden; "
                "amber: waiting; green: update",
        .unit = unit->name,
        .rows = rows,
        .count = count + 1};
    myr_chart_bars(&bars, buf);
}

enum { MEMORY_TERMS = 7, MEMORY_ROWS = 8 };

/* The same order and colours for every layout. */
static void memory_pieces(const struct myr_fit_memory *memory, struct myr_piece *ret)
{
    const struct myr_state *s = &memory->state;
    const double gib = 1073741824;
    const struct myr_piece pieces[MEMORY_TERMS] = {
        {"weights", (double)s->weight_bytes / gib, BLUE},
        {"gradients", (double)s->gradient_bytes / gib, ORANGE},
        {"optimiser", (double)s->optimiser_bytes / gib, GREEN},
        {"activations", (double)s->activation_bytes / gib, SKY},
        {"output", (double)s->output_bytes / gib, PINK},
        {"working", (double)s->working_bytes / gib, AMBER},
        {"reserve", memory->reserve_bytes / gib, GREY},
    };
    memcpy(ret, pieces, sizeof(pieces));
}

void myr_plot_memory(const struct myr_fit_case *it, const struct myr_fit_found *layouts,
                     uint32_t count, enum myr_chart_form form, struct myr_buf *buf)
{
    struct myr_bar_row rows[MEMORY_ROWS];
    struct myr_piece pieces[MEMORY_ROWS][MEMORY_TERMS];
    char names[MEMORY_ROWS][48], words[MEMORY_ROWS][48], limit[64], explained[128];
    /* The fastest ones: they come first. */
    count = count < MEMORY_ROWS ? count : MEMORY_ROWS;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_layout *l = &layouts[i].layout;
        struct myr_fit_memory memory;
        myr_fit_memory_of(it, l, &memory);
        memory_pieces(&memory, pieces[i]);
        snprintf(names[i], sizeof(names[i]), "tp%u pp%u dp%u cp%u", l->tp, l->pp, l->dp, l->cp);
        const struct myr_plot_unit *unit = myr_plot_unit_of(layouts[0].step_s);
        snprintf(words[i], sizeof(words[i]), "%.1f GiB, step %s %s",
                 memory.total_bytes / 1073741824,
                 MYR_NUMBER(layouts[i].step_s * unit->scale, unit->digits), unit->name);
        rows[i] = (struct myr_bar_row){names[i], words[i], 0, pieces[i], MEMORY_TERMS};
    }
    snprintf(limit, sizeof(limit), "%.0f GiB of a %s", it->device->memory_bytes / 1073741824,
             it->device->name);
    snprintf(explained, sizeof(explained), "the fastest layouts, best first; dashed: %s", limit);
    struct myr_bars bars = {.form = form,
                            .title = "Memory of the fullest rank",
                            .note = explained,
                            .unit = "GiB",
                            .rows = rows,
                            .count = count,
                            .legend = true,
                            .limit = it->device->memory_bytes / 1073741824,
                            .limit_name = limit};
    myr_chart_bars(&bars, buf);
}

/* 'points' is the caller's and must live until the chart is drawn. */
static struct myr_series growth_series(const struct myr_fit_scaling *trace, const char *name,
                                       uint32_t colour, struct myr_point *points)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        points[i] =
            (struct myr_point){trace->points[i].gpus, 100 * trace->points[i].linearity, NULL};
    }
    return (struct myr_series){
        .name = name, .points = points, .count = trace->count, .colour = colour, .dots = true};
}

void myr_plot_linearity(const struct myr_fit_scaling *weak, const struct myr_fit_scaling *strong,
                        enum myr_chart_form form, struct myr_buf *buf)
{
    /* The series point into these, so they must not go before the chart is drawn. */
    struct myr_point points[2][MYR_GROWTH_MAX];
    struct myr_series series[] = {
        growth_series(weak, "weak: batch in proportion", BLUE, points[0]),
        growth_series(strong, "strong: batch fixed", ORANGE, points[1]),
    };
    struct myr_curves curves = {.form = form,
                                .title = "Linearity",
                                .note = "throughput of a GPU against the best point; best layout "
                                        "at each size",
                                .x_name = "GPUs",
                                .y_name = "linearity, %",
                                .series = series,
                                .count = 2,
                                .log_x = true,
                                .y_max = 100};
    myr_chart_curves(&curves, buf);
}

/* For qsort(): of two as fast the cheaper one first. */
static int by_time(const void *a, const void *b)
{
    const struct myr_choice *x = a, *y = b;
    if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* Sorted by time, so what is cheaper than everything faster is worth having. */
void myr_plot_pareto(const struct myr_choice *choices, uint32_t count, const char *time_name,
                     const char *cost_name, enum myr_chart_form form, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_free_at) struct myr_choice *sorted = myr_xcalloc(count + 1, sizeof(*sorted));
    MYR_CLEANUP(myr_free_at) struct myr_point *all = myr_xcalloc(2 * count + 1, sizeof(*all));
    struct myr_point *best = all + count; /* the second half of the same memory */
    uint32_t kept = 0;
    if (count) {
        memcpy(sorted, choices, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), by_time);
    }
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct myr_point){sorted[i].time, sorted[i].cost, sorted[i].name};
        if (kept == 0 || sorted[i].cost < best[kept - 1].y) {
            best[kept++] = (struct myr_point){sorted[i].time, sorted[i].cost, NULL};
        }
    }
    struct myr_series series[] = {
        {.name = "worth having", .points = best, .count = kept, .colour = GREEN, .dashed = true},
        {.name = "choices",
         .points = all,
         .count = count,
         .colour = BLUE,
         .dots = true,
         .no_line = true},
    };
    struct myr_curves curves = {.form = form,
                                .title = "Time and cost",
                                .note = "nothing is both faster and cheaper than what the dashed "
                                        "line joins",
                                .x_name = time_name,
                                .y_name = cost_name,
                                .series = series,
                                .count = 2,
                                .log_x = true};
    myr_chart_curves(&curves, buf);
}

enum { CURVE_POINTS = 161, CURVES_MAX = 4 };

/* Goodput over the interval, from five seconds to five hours by equal factors; none below 'least':
 * there is nothing to choose where copies eat the time. */
static uint32_t trace_goodput(const struct myr_renewal *renewal, double least,
                              struct myr_point *points)
{
    /* Durable copies stay as far apart as they are: only the interval of quick ones moves. */
    double period = renewal->interval * renewal->per_period;
    uint32_t count = 0;
    for (uint32_t i = 0; i < CURVE_POINTS; i++) {
        struct myr_renewal tried = *renewal;
        tried.interval = 5 * fit_exp(8.188689 * i / (CURVE_POINTS - 1));
        double copies = period / tried.interval;
        bool tiers = tried.quick.rate > 0;
        /* With one tier every copy is a durable one. */
        tried.per_period = tiers && copies > 1 ? (uint32_t)(copies + 0.5) : 1;
        double share = 100 * myr_goodput_of(&tried).goodput;
        if (share >= least) {
            points[count++] = (struct myr_point){tried.interval, share, NULL};
        }
    }
    return count;
}

/* As far below the worst of the optima again as that is below everything kept. */
static double lowest_shown(const struct myr_goodput_curve *curves, uint32_t count)
{
    const double least_span = 5;
    double worst = 100;
    for (uint32_t c = 0; c < count; c++) {
        worst = fit_min(worst, 100 * myr_goodput_of(&curves[c].renewal).goodput);
    }
    return fit_max(0, worst - fit_max(least_span, 100 - worst));
}

void myr_plot_goodput(const struct myr_goodput_curve *curves, uint32_t count,
                      enum myr_chart_form form, struct myr_buf *buf)
{
    /* Told apart by colour and, rate by rate, by dashes. */
    static const uint32_t colours[CURVES_MAX] = {ORANGE, BLUE, AMBER, SKY};
    struct myr_point points[CURVES_MAX][CURVE_POINTS], optima[CURVES_MAX];
    struct myr_series series[2 * CURVES_MAX];
    char names[CURVES_MAX][96];
    count = count < CURVES_MAX ? count : CURVES_MAX;
    /* One scale for all curves, or they could not be compared. */
    double least = lowest_shown(curves, count);
    for (uint32_t c = 0; c < count; c++) {
        uint32_t shown = trace_goodput(&curves[c].renewal, least, points[c]);
        double best = 100 * myr_goodput_of(&curves[c].renewal).goodput;
        snprintf(names[c], sizeof(names[c]), "%s: %.1f %%", curves[c].name, best);
        optima[c] = (struct myr_point){curves[c].renewal.interval, best, NULL};
        series[c] = (struct myr_series){.name = names[c],
                                        .points = points[c],
                                        .count = shown,
                                        .colour = colours[c],
                                        .dashed = c >= 2};
        /*
         * The optimum of each curve as a dot of its own; no name, or the legend would have it
         * twice.
         */
        series[count + c] = (struct myr_series){.name = "",
                                                .points = &optima[c],
                                                .count = 1,
                                                .colour = colours[c],
                                                .dots = true,
                                                .no_line = true};
    }
    struct myr_curves drawn = {.form = form,
                               .title = "Goodput and the interval between copies",
                               .note = "dots: the intervals chosen",
                               .x_name = "work between two copies, s",
                               .y_name = "goodput, %",
                               .series = series,
                               .count = 2 * count,
                               .log_x = true,
                               .y_max = 100};
    myr_chart_curves(&drawn, buf);
}
