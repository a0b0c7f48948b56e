/* timeline: what every stage of a pipeline does when, as a drawing. */
#include <stdio.h>
#include <stdlib.h>

#include "cost/combine.h"
#include "cost/schedule.h"
#include "myriad/fit/report.h"
#include "myriad/text/amount.h"
#include "myriad/text/chart.h"
#include "myriad/text/svg.h"

/* Coordinates are tenths of a pixel. */
enum {
    PX = 10,
    WIDTH = 960, /* of the drawing, in pixels like what follows */
    LEFT = 84,
    RIGHT = 24,
    TOP = 96,
    ROW = 20,
    ROWS_MAX = 16,  /* of more stages the outer ones are drawn */
    OPS_MAX = 4000, /* boxes that a page bears */
    TICKS = 6,      /* of the time axis, about */
    TICK_WIDTH = 40 /* what its text takes */
};

static const char style[] =
    ".fw{fill:#0072b2}.bw{fill:#d55e00}.ww{fill:#009e73}.odd{fill-opacity:.6}"
    ".idle{fill:#8a8f98;fill-opacity:.18}.when{stroke:#57606a;stroke-width:1;"
    "stroke-dasharray:4 3}@media (prefers-color-scheme:dark){.fw{fill:#3d9fe0}.bw{fill:#ff8c42}"
    ".ww{fill:#2fc99a}.when{stroke:#8b949e}}";

/* All operations of the part that is drawn, as they were played. */
struct timeline {
    struct fit_seen *items; /* owned, freed by timeline_done() */
    size_t count, capacity;
    double end_s;     /* of everything */
    double back_s;    /* the first stage's first gradient */
    double forward_s; /* the end of its last forward */
    uint32_t pp;
};

/* A fit_watcher: notes every operation, and what the phases are told by. */
static void add_seen(void *context, const struct fit_seen *one)
{
    struct timeline *t = context;
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 1024;
        t->items = myr_xrealloc(t->items, t->capacity, sizeof(*t->items));
    }
    t->items[t->count++] = *one;
    t->end_s = fit_max(t->end_s, one->to_s);
    if (one->stage == 0 && one->work == FIT_FORWARD) {
        t->forward_s = fit_max(t->forward_s, one->to_s);
    }
    if (one->stage == 0 && one->work == FIT_BACKWARD) {
        t->back_s = fit_min(t->back_s, one->from_s);
    }
}

/* Micro-batches that show how it begins, goes on and ends; no more than can be seen. */
static uint32_t shown_batches(const struct myr_layout *l)
{
    uint32_t all = myr_layout_micro_batches(l), rows = l->pp < ROWS_MAX ? l->pp : ROWS_MAX;
    uint32_t some = 2 * l->pp;
    if (l->schedule == MYR_SCHEDULE_DUALPIPE) {
        some = 2 * l->pp + 4;
    } else if (l->schedule == MYR_SCHEDULE_INTERLEAVED) {
        some = rows * 4 * l->vp * l->pp > OPS_MAX ? l->pp : 2 * l->pp;
    } else if (some < 8) {
        some = 8;
    }
    return some < all ? some : all;
}

/* Seconds to the place on the drawing. */
static int32_t x_of(const struct timeline *t, double seconds)
{
    return LEFT * PX + (int32_t)(seconds / t->end_s * ((WIDTH - LEFT - RIGHT) * PX) + 0.5);
}

/* The row of a stage, or -1. */
static int32_t row_of(const struct timeline *t, uint32_t stage)
{
    if (t->pp <= ROWS_MAX || stage < ROWS_MAX / 2) {
        return (int32_t)stage;
    }
    return stage >= t->pp - ROWS_MAX / 2 ? (int32_t)(stage - (t->pp - ROWS_MAX)) : -1;
}

static void draw_rows(struct myr_svg *svg, const struct timeline *t)
{
    for (uint32_t i = 0; i < t->pp; i++) {
        int32_t row = row_of(t, i), y = (TOP + row * ROW) * PX;
        char name[32];
        /* A stage between the outer ones that are drawn. */
        if (row < 0) {
            continue;
        }
        snprintf(name, sizeof(name), "stage %u", i);
        myr_svg_text(svg, (LEFT - 8) * PX, y + 13 * PX, MYR_SVG_END, "label", name);
        myr_svg_rect(svg, LEFT * PX, y, (WIDTH - LEFT - RIGHT) * PX, (ROW - 3) * PX, "idle", NULL);
    }
}

/* A rectangle as part of a path. */
static void add_box(struct myr_svg *svg, int32_t x, int32_t y, int32_t width)
{
    int32_t height = (ROW - 3) * PX;
    myr_svg_path_move(svg, x, y);
    myr_svg_path_line(svg, x + width, y);
    myr_svg_path_line(svg, x + width, y + height);
    myr_svg_path_line(svg, x, y + height);
    myr_svg_path_close(svg);
}

/* All of one kind on one stage as one shape: thousands of them would make a heavy page. */
static void draw_kind(struct myr_svg *svg, const struct timeline *t, uint32_t stage,
                      enum fit_work work, uint32_t odd)
{
    static const char *const css[][2] = {{"fw", "fw odd"}, {"bw", "bw odd"}, {"ww", "ww odd"}};
    static const char *const words[] = {"forward", "backward", "weights' gradients"};
    int32_t y = (TOP + row_of(t, stage) * ROW) * PX;
    double sum = 0, count = 0;
    char tip[96];
    myr_svg_path_begin(svg);
    for (size_t i = 0; i < t->count; i++) {
        const struct fit_seen *one = &t->items[i];
        if (one->stage == stage && one->work == work && one->chunk / t->pp % 2 == odd) {
            int32_t x = x_of(t, one->from_s), width = x_of(t, one->to_s) - x;
            /* A hair of ground between neighbours, where there is room for it. */
            add_box(svg, x, y, width > 15 ? width - 5 : width);
            sum += one->to_s - one->from_s;
            count += 1;
        }
    }
    snprintf(tip, sizeof(tip), "stage %u: %s, %.4g ms each", stage, words[work],
             count > 0 ? sum / count * 1e3 : 0);
    myr_svg_path_end(svg, css[work][odd], tip);
}

/* Three kinds of work, each in two shades: chunks of a stage in turn. */
static void draw_ops(struct myr_svg *svg, const struct timeline *t)
{
    for (uint32_t stage = 0; stage < t->pp; stage++) {
        for (uint32_t kind = 0; row_of(t, stage) >= 0 && kind < 6; kind++) {
            draw_kind(svg, t, stage, (enum fit_work)(kind / 2), kind % 2);
        }
    }
}

/* Round numbers in the unit that they are read in; the last one ends where the drawing does. */
static void draw_axis(struct myr_svg *svg, const struct timeline *t, int32_t bottom)
{
    static const struct {
        double size_s;
        const char *name;
    } units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}};
    uint32_t unit = t->end_s >= units[0].size_s ? 0 : t->end_s >= units[1].size_s ? 1 : 2;
    double end = t->end_s / units[unit].size_s, step = myr_chart_step(end, TICKS);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i * step <= end; i++) {
        int32_t x = x_of(t, i * step * units[unit].size_s);
        bool last = x > (WIDTH - RIGHT - TICK_WIDTH / 2) * PX;
        myr_buf_clear(&text);
        myr_chart_number(&text, i * step);
        myr_buf_puts(&text, units[unit].name);
        myr_svg_text(svg, x, (bottom + 16) * PX,
                     last ? MYR_SVG_END
                     : i  ? MYR_SVG_MIDDLE
                          : MYR_SVG_START,
                     "label-small muted", text.data);
    }
}

/* Until the first gradient is back at the first stage, until that has sent its last forward. */
static void draw_phases(struct myr_svg *svg, const struct timeline *t, int32_t bottom)
{
    static const char *const names[] = {"warm-up", "steady", "drain"};
    double marks[] = {0, t->back_s, t->forward_s, t->end_s};
    if (t->forward_s <= t->back_s) { /* all forwards come first */
        marks[1] = marks[2] = t->forward_s;
    }
    for (int i = 0; i < 3; i++) {
        if (i > 0) {
            int32_t x = x_of(t, marks[i]);
            myr_svg_line(svg, x, (TOP - 14) * PX, x, bottom * PX, "when", NULL);
        }
        /* A phase too short for its name goes without. */
        if (x_of(t, marks[i + 1]) - x_of(t, marks[i]) > 60 * PX) {
            myr_svg_text(svg, (x_of(t, marks[i]) + x_of(t, marks[i + 1])) / 2, (TOP - 6) * PX,
                         MYR_SVG_MIDDLE, "label-small muted", names[i]);
        }
    }
}

static void draw_keys(struct myr_svg *svg, bool weights)
{
    static const char *const css[] = {"fw", "bw", "ww", "idle"};
    static const char *const names[] = {"forward", "backward", "weights' gradients", "waiting"};
    int32_t x = LEFT * PX;
    for (int i = 0; i < 4; i++) {
        if (i == 2 && !weights) {
            continue;
        }
        myr_svg_rect(svg, x, 55 * PX, 11 * PX, 11 * PX, css[i], NULL);
        myr_svg_text(svg, x + 16 * PX, 64 * PX, MYR_SVG_START, "label", names[i]);
        x += (34 + (int32_t)strlen(names[i]) * 7) * PX;
    }
}

static void timeline_done(struct timeline *t)
{
    free(t->items);
}

/* The pipeline is played for the drawing, none of it skipped, with few enough micro-batches. */
void myr_plot_pipeline(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_buf *buf)
{
    MYR_CLEANUP(timeline_done) struct timeline t = {.back_s = 1e30, .pp = layout->pp};
    struct myr_layout some = *layout;
    struct myr_svg svg;
    char note[160], parts[32];
    uint32_t batches = shown_batches(layout);
    bool weights =
        layout->schedule == MYR_SCHEDULE_ZERO_BUBBLE || layout->schedule == MYR_SCHEDULE_DUALPIPE;
    /* Times do not depend on the batch: fewer micro-batches are the same pipeline, shorter. */
    some.global_batch = batches * layout->micro_batch * layout->dp;
    fit_watch_pipe(it, &some, add_seen, &t);
    int32_t rows = (int32_t)(t.pp < ROWS_MAX ? t.pp : ROWS_MAX), bottom = TOP + rows * ROW;
    uint32_t chunks = myr_layout_stage_chunk_count(layout);
    snprintf(parts, sizeof(parts), " of %u chunks", chunks);
    snprintf(note, sizeof(note), "%s, %s%s; %u of %s%s", myr_schedule_name(layout->schedule),
             MYR_COUNT(layout->pp, "stage"), chunks > 1 ? parts : "", batches,
             MYR_COUNT(myr_layout_micro_batches(layout), "micro-batch"),
             t.pp > ROWS_MAX ? "; outer stages only" : "");
    myr_svg_begin(&svg, buf, WIDTH, (uint32_t)bottom + 28, "What each stage does when");
    myr_svg_style(&svg, style);
    myr_svg_text(&svg, 10 * PX, 24 * PX, MYR_SVG_START, "title", "What each stage does when");
    myr_svg_text(&svg, 10 * PX, 44 * PX, MYR_SVG_START, "label muted", note);
    draw_keys(&svg, weights);
    draw_rows(&svg, &t);
    draw_ops(&svg, &t);
    draw_phases(&svg, &t, bottom);
    draw_axis(&svg, &t, bottom);
    myr_svg_end(&svg);
}
