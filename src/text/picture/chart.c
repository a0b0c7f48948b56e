/*
 * chart: bars and curves as SVG. Scales, ticks and places are computed here with additions,
 * products and quotients alone, so that the same figures give the same bytes on every machine.
 */
#include "myriad/text/chart.h"

#include <stdio.h>

#include "myriad/text/json.h"
#include "myriad/text/svg.h"

/* Coordinates are tenths of a pixel. */
enum {
    PX = 10,
    WIDTH = 960,
    BAR_LEFT = 150,
    BAR_RIGHT = 190, /* room for words behind the longest bar */
    BAR_ROW = 26,
    PLOT_LEFT = 76,
    PLOT_RIGHT = 24,
    PLOT_TOP = 84,
    PLOT_HEIGHT = 280,
    TICKS_MAX = 24,
};

/* Okabe and Ito's colours, strong enough for lines; lighter where the ground is dark. */
static const char style[] =
    ".c0{fill:#0072b2;stroke:#0072b2}.c1{fill:#d55e00;stroke:#d55e00}.c2{fill:#009e73;stroke:"
    "#009e73}.c3{fill:#cc79a7;stroke:#cc79a7}.c4{fill:#e69f00;stroke:#e69f00}.c5{fill:#56b4e9;"
    "stroke:#56b4e9}.c6{fill:#8a8f98;stroke:#8a8f98}.c7{fill:#b8a900;stroke:#b8a900}"
    "rect.piece{stroke:none}path.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}"
    "path.dashed{fill:none;stroke-width:1.6;stroke-dasharray:6 4}circle.dot{stroke:#fff;"
    "stroke-width:1.2}.axis{stroke:#57606a;stroke-width:1}.grid{stroke:#57606a;stroke-width:.5;"
    "stroke-opacity:.28}.limit{stroke:#1f2328;stroke-width:1.4;stroke-dasharray:5 3}"
    "@media (prefers-color-scheme:dark){.c0{fill:#3d9fe0;stroke:#3d9fe0}.c1{fill:#ff8c42;stroke:"
    "#ff8c42}.c2{fill:#2fc99a;stroke:#2fc99a}.axis,.grid{stroke:#8b949e}.limit{stroke:#e6edf3}"
    "circle.dot{stroke:#0d1117}}";

/* About three digits: for axes and tips, where more would be noise. */
void myr_chart_number(struct myr_buf *buf, double value)
{
    double size = value < 0 ? -value : value;
    /* Thousands only from ten of them on: "9500" is as short as "9.5k". */
    const char *suffix = size >= 1e9 ? "G" : size >= 1e6 ? "M" : size >= 1e4 ? "k" : "";
    double scaled = size >= 1e9   ? value / 1e9
                    : size >= 1e6 ? value / 1e6
                    : size >= 1e4 ? value / 1e3
                                  : value;
    double left = scaled < 0 ? -scaled : scaled;
    myr_json_number(buf, scaled, left >= 100 ? 0 : left >= 10 ? 1 : left >= 1 ? 2 : 3);
    myr_buf_puts(buf, suffix);
}

/* log2 without libm, whose last bit differs between machines. */
static double log2_of(double x)
{
    double value = 0, step = 1;
    MYR_ASSERT(x > 0);
    while (x >= 2) {
        x /= 2;
        value += 1;
    }
    while (x < 1) {
        x *= 2;
        value -= 1;
    }
    /* One bit of the fraction each: squaring doubles the logarithm, and the carry is the bit. */
    for (int i = 0; i < 30; i++) {
        x *= x;
        step /= 2;
        if (x >= 2) {
            x /= 2;
            value += step;
        }
    }
    return value;
}

/* Halves go away from zero. */
static int32_t round_to(double value)
{
    return (int32_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* 1, 2 or 5 times a power of ten, such that at most about 'most' steps cover the span. */
static double nice_step(double span, uint32_t most)
{
    static const double parts[] = {1, 2, 5};
    double step = 1;
    MYR_ASSERT(span > 0);
    /* First the power of ten below, then the first of its multiples that is enough. */
    while (step * most > span) {
        step /= 10;
    }
    while (step * 10 * most < span) {
        step *= 10;
    }
    for (int i = 0; i < 6; i++) {
        double tried = step * parts[i % 3] * (i < 3 ? 1 : 10);
        if (tried * most >= span) {
            return tried;
        }
    }
    return step * 100;
}

/* Ground, style and title of both kinds of chart. */
static void begin(struct myr_svg *svg, struct myr_buf *buf, uint32_t height, const char *title,
                  const char *note)
{
    myr_svg_begin(svg, buf, WIDTH, height, title);
    myr_svg_style(svg, style);
    myr_svg_text(svg, 10 * PX, 24 * PX, MYR_SVG_START, "title", title);
    if (note) {
        myr_svg_text(svg, 10 * PX, 44 * PX, MYR_SVG_START, "label muted", note);
    }
}

/* A square and a name; gives where the next one goes. Names are about seven pixels a letter. */
static int32_t draw_key(struct myr_svg *svg, int32_t x, int32_t y, uint32_t colour,
                        const char *name)
{
    char css[24];
    snprintf(css, sizeof(css), "piece c%u", colour % MYR_CHART_COLOURS);
    myr_svg_rect(svg, x, y - 9 * PX, 11 * PX, 11 * PX, css, NULL);
    myr_svg_text(svg, x + 16 * PX, y, MYR_SVG_START, "label", name);
    return x + (34 + (int32_t)strlen(name) * 7) * PX;
}

/* ---- bars ---- */

/* The limit is always on the picture; without any value the span is 1, for it is divided by. */
static double bars_span(const struct myr_bars *bars)
{
    double most = bars->limit;
    for (uint32_t r = 0; r < bars->count; r++) {
        double end = bars->rows[r].start;
        for (uint32_t p = 0; p < bars->rows[r].count; p++) {
            end += bars->rows[r].pieces[p].value;
        }
        most = end > most ? end : most;
    }
    return most > 0 ? most : 1;
}

/* From the left edge of the bars; 'span' reaches to the right one. */
static int32_t bar_x(double value, double span)
{
    return BAR_LEFT * PX + round_to(value / span * ((WIDTH - BAR_LEFT - BAR_RIGHT) * PX));
}

/* Pieces follow each other from the row's start; the words stand behind the last. */
static void draw_row(struct myr_svg *svg, const struct myr_bars *bars,
                     const struct myr_bar_row *row, int32_t y, double span)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    char css[24];
    double at = row->start;
    myr_svg_text(svg, (BAR_LEFT - 10) * PX, y + 15 * PX, MYR_SVG_END, "label", row->name);
    for (uint32_t p = 0; p < row->count; p++) {
        const struct myr_piece *piece = &row->pieces[p];
        int32_t from = bar_x(at, span), to = bar_x(at + piece->value, span);
        at += piece->value;
        if (to <= from) {
            /* Half a pixel, so that a small piece is still seen; only nothing is not drawn. */
            to = piece->value > 0 ? from + 5 : from;
        }
        snprintf(css, sizeof(css), "piece c%u", piece->colour % MYR_CHART_COLOURS);
        myr_buf_clear(&tip);
        myr_buf_printf(&tip, "%s: ", piece->name);
        myr_chart_number(&tip, piece->value);
        myr_buf_printf(&tip, " %s", bars->unit);
        if (to > from) {
            myr_svg_rect(svg, from, y, to - from, (BAR_ROW - 7) * PX, css, tip.data);
        }
    }
    if (row->words) {
        double clear = at > bars->limit ? at : bars->limit; /* not across the line */
        myr_svg_text(svg, bar_x(clear, span) + 8 * PX, y + 15 * PX, MYR_SVG_START, "label muted",
                     row->words);
    }
}

void myr_chart_bars(const struct myr_bars *bars, struct myr_buf *buf)
{
    struct myr_svg svg;
    MYR_CLEANUP(myr_buf_done) struct myr_buf label = {};
    int32_t top = bars->legend ? 84 : 62, x = BAR_LEFT * PX;
    int32_t bottom = top + (int32_t)bars->count * BAR_ROW;
    double span = bars_span(bars), step = nice_step(span, 6);
    begin(&svg, buf, (uint32_t)bottom + 30, bars->title, bars->note);
    for (uint32_t p = 0; bars->legend && bars->count && p < bars->rows[0].count; p++) {
        x = draw_key(&svg, x, 68 * PX, bars->rows[0].pieces[p].colour,
                     bars->rows[0].pieces[p].name);
    }
    /* A little beyond the span: the last tick must not fall to rounding. */
    for (uint32_t i = 0; i <= 12 && i * step <= span * 1.0001; i++) {
        int32_t at = bar_x(i * step, span);
        myr_buf_clear(&label);
        myr_chart_number(&label, i * step);
        myr_buf_printf(&label, " %s", bars->unit);
        myr_svg_line(&svg, at, (top - 4) * PX, at, bottom * PX, i ? "grid" : "axis", NULL);
        myr_svg_text(&svg, at, (bottom + 16) * PX, MYR_SVG_MIDDLE, "label muted", label.data);
    }
    for (uint32_t r = 0; r < bars->count; r++) {
        draw_row(&svg, bars, &bars->rows[r], (top + (int32_t)r * BAR_ROW) * PX, span);
    }
    if (bars->limit > 0) {
        int32_t at = bar_x(bars->limit, span);
        myr_svg_line(&svg, at, (top - 8) * PX, at, bottom * PX, "limit", bars->limit_name);
    }
    myr_svg_end(&svg);
}

/* ---- curves ---- */

struct axis {
    double low, high; /* on a logarithmic axis, of the logarithms */
    bool log;
    double ticks[TICKS_MAX]; /* values */
    uint32_t tick_count;
    int32_t from, to; /* tenths of a pixel */
};

/* What lies beyond the axis is drawn at its end. */
static int32_t place(const struct axis *axis, double value)
{
    double at = axis->log ? log2_of(value) : value;
    double share = (at - axis->low) / (axis->high - axis->low);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return axis->from + round_to(share * (axis->to - axis->from));
}

/* More than fit are left out. */
static void add_tick(struct axis *axis, double value)
{
    if (axis->tick_count < TICKS_MAX) {
        axis->ticks[axis->tick_count++] = value;
    }
}

/* Linear ticks; the axis grows to whole steps, at its upper end where it may. */
static void linear_ticks(struct axis *axis, bool grow)
{
    double step = nice_step(axis->high - axis->low, 6);
    double below = (double)(int64_t)(axis->low / step) * step;
    /* Cut towards zero, which for a negative end is too high. */
    axis->low = axis->low < 0 ? below - step : below;
    if (grow) {
        double above = (double)(int64_t)(axis->high / step + 0.999999) * step;
        axis->high = above > axis->low ? above : axis->low + step;
    }
    /* The first tick that is not below the axis. */
    int64_t first = (int64_t)(axis->low / step + (axis->low > 0 ? 0.999999 : 0));
    for (int64_t i = first; (double)i * step <= axis->high + step * 1e-6; i++) {
        add_tick(axis, (double)i * step);
    }
}

/* Powers of ten, with 2 and 5 between them where there is room, or powers of two of a few. */
static void log_ticks(struct axis *axis)
{
    /* The divisor is log2(10). */
    double decades = (axis->high - axis->low) / 3.3219280948873623;
    double value = 1e-6;
    while (value < 1e15) {
        static const double parts[] = {1, 2, 5};
        for (int i = 0; i < (decades > 4 ? 1 : 3); i++) {
            double at = log2_of(value * parts[i]);
            if (at >= axis->low - 1e-9 && at <= axis->high + 1e-9) {
                add_tick(axis, value * parts[i]);
            }
        }
        value *= 10;
    }
}

/*
 * The extent of all points, as logarithms where the axis is one; never empty, for place() divides
 * by it.
 */
static void span_of(const struct myr_curves *curves, struct axis *x, struct axis *y)
{
    bool any = false;
    for (uint32_t s = 0; s < curves->count; s++) {
        for (uint32_t i = 0; i < curves->series[s].count; i++) {
            const struct myr_point *p = &curves->series[s].points[i];
            x->low = !any || p->x < x->low ? p->x : x->low;
            x->high = !any || p->x > x->high ? p->x : x->high;
            y->low = !any || p->y < y->low ? p->y : y->low;
            y->high = !any || p->y > y->high ? p->y : y->high;
            any = true;
        }
    }
    if (!any) {
        x->low = curves->log_x ? 1 : 0;
        x->high = 10;
        y->high = 1;
    }
    /* What the caller fixes goes before what the points say. */
    y->low = curves->from_zero ? 0 : y->low;
    y->high = curves->y_max > 0 ? curves->y_max : y->high;
    if (curves->log_x) {
        x->low = log2_of(x->low);
        x->high = log2_of(x->high);
    }
    /* Without points there is nothing to take the logarithm of. */
    if (curves->log_y && any) {
        y->log = true;
        y->low = log2_of(y->low);
        y->high = log2_of(y->high);
    }
    x->high = x->high > x->low ? x->high : x->low + 1;
    if (y->log && y->high <= y->low) {
        y->high = y->low + 1;
    } else if (y->high <= y->low) {
        y->high = y->low + (y->low > 0 ? y->low / 10 : 1);
    }
    x->log = curves->log_x;
}

/* On the y axis 'from' is the lower end, and the larger figure: SVG counts downwards. */
static void draw_axes(struct myr_svg *svg, const struct myr_curves *curves, const struct axis *x,
                      const struct axis *y)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf label = {};
    for (uint32_t i = 0; i < y->tick_count; i++) {
        int32_t at = place(y, y->ticks[i]);
        myr_buf_clear(&label);
        myr_chart_number(&label, y->ticks[i]);
        myr_svg_line(svg, x->from, at, x->to, at, "grid", NULL);
        myr_svg_text(svg, x->from - 8 * PX, at + 4 * PX, MYR_SVG_END, "label muted", label.data);
    }
    for (uint32_t i = 0; i < x->tick_count; i++) {
        int32_t at = place(x, x->ticks[i]);
        myr_buf_clear(&label);
        myr_chart_number(&label, x->ticks[i]);
        myr_svg_line(svg, at, y->from, at, y->to, "grid", NULL);
        myr_svg_text(svg, at, y->from + 17 * PX, MYR_SVG_MIDDLE, "label muted", label.data);
    }
    myr_svg_line(svg, x->from, y->from, x->to, y->from, "axis", NULL);
    myr_svg_line(svg, x->from, y->from, x->from, y->to, "axis", NULL);
    myr_svg_text(svg, x->to, y->from + 34 * PX, MYR_SVG_END, "label", curves->x_name);
    myr_svg_text(svg, 10 * PX, y->to - 8 * PX, MYR_SVG_START, "label", curves->y_name);
}

/* The line first, then the dots over it. */
static void draw_series(struct myr_svg *svg, const struct myr_series *series, const struct axis *x,
                        const struct axis *y)
{
    char css[32];
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    snprintf(css, sizeof(css), "%s c%u", series->dashed ? "dashed" : "curve",
             series->colour % MYR_CHART_COLOURS);
    if (!series->no_line) {
        myr_svg_path_begin(svg);
        for (uint32_t i = 0; i < series->count; i++) {
            int32_t at_x = place(x, series->points[i].x), at_y = place(y, series->points[i].y);
            if (i == 0) {
                myr_svg_path_move(svg, at_x, at_y);
            } else {
                myr_svg_path_line(svg, at_x, at_y);
            }
        }
        myr_svg_path_end(svg, css, series->name);
    }
    snprintf(css, sizeof(css), "dot c%u", series->colour % MYR_CHART_COLOURS);
    for (uint32_t i = 0; i < series->count; i++) {
        const struct myr_point *p = &series->points[i];
        int32_t at_x = place(x, p->x), at_y = place(y, p->y);
        myr_buf_clear(&tip);
        myr_buf_printf(&tip, "%s: ", series->name);
        myr_chart_number(&tip, p->x);
        myr_buf_put_lit(&tip, ", ");
        myr_chart_number(&tip, p->y);
        if (series->dots) {
            myr_svg_circle(svg, at_x, at_y, 45, css, tip.data);
        }
        if (p->name) {
            /* Beside the point, inside the plot. */
            bool left = at_x > (x->from + 3 * x->to) / 4;
            myr_svg_text(svg, left ? at_x - 9 * PX : at_x + 9 * PX, at_y - 7 * PX,
                         left ? MYR_SVG_END : MYR_SVG_START, "label", p->name);
        }
    }
}

void myr_chart_curves(const struct myr_curves *curves, struct myr_buf *buf)
{
    struct myr_svg svg;
    struct axis x = {.from = PLOT_LEFT * PX, .to = (WIDTH - PLOT_RIGHT) * PX};
    struct axis y = {.from = (PLOT_TOP + PLOT_HEIGHT) * PX, .to = PLOT_TOP * PX};
    int32_t key;
    span_of(curves, &x, &y);
    if (x.log) {
        log_ticks(&x);
    } else {
        linear_ticks(&x, true);
    }
    if (y.log) {
        log_ticks(&y);
    } else {
        linear_ticks(&y, curves->y_max <= 0);
    }
    begin(&svg, buf, PLOT_TOP + PLOT_HEIGHT + 46, curves->title, curves->note);
    draw_axes(&svg, curves, &x, &y);
    for (uint32_t s = 0; s < curves->count; s++) {
        draw_series(&svg, &curves->series[s], &x, &y);
    }
    /* The legend stands over the plot, at the right; a series without a name belongs to another. */
    key = (WIDTH - PLOT_RIGHT) * PX;
    /* One name alone needs no legend: the title says it. */
    uint32_t named = 0;
    for (uint32_t s = 0; s < curves->count; s++) {
        size_t len = strlen(curves->series[s].name);
        named += len > 0;
        key -= len ? (34 + (int32_t)len * 7) * PX : 0;
    }
    for (uint32_t s = 0; named > 1 && s < curves->count; s++) {
        if (curves->series[s].name[0]) {
            key = draw_key(&svg, key, (PLOT_TOP - 12) * PX, curves->series[s].colour,
                           curves->series[s].name);
        }
    }
    myr_svg_end(&svg);
}
