/*
 * chart: bars and curves as SVG. Scales, ticks and places are computed here with additions,
 * products and quotients alone, so that the same figures give the same bytes on every machine.
 */
#include "myriad/text/chart.h"

#include <stdio.h>

#include "myriad/text/amount.h"
#include "myriad/text/json.h"
#include "picture/chart_head.h"

/* Coordinates are tenths of a pixel. */
enum {
    PX = CHART_PX,
    WIDTH = CHART_WIDTH,
    BAR_LEFT = 150,
    BAR_RIGHT = 190, /* room for words behind the longest bar */
    BAR_ROW = 26,
    PLOT_LEFT = 76,
    PLOT_RIGHT = 24,
    PLOT_TOP = 84,
    PLOT_HEIGHT = 280,
    TICKS_MAX = 24,
};

static const struct chart_frame bar_frames[] = {
    [MYR_CHART_WIDE] = {false, WIDTH, BAR_LEFT, BAR_RIGHT, BAR_ROW, 0, 0, 6},
    [MYR_CHART_NARROW] = {true, 358, 20, 34, 42, 17, 0, 4},
};
static const struct chart_frame curve_frames[] = {
    [MYR_CHART_WIDE] = {false, WIDTH, PLOT_LEFT, PLOT_RIGHT, 0, 0, PLOT_HEIGHT, 6},
    [MYR_CHART_NARROW] = {true, 358, 44, 18, 0, 0, 230, 4},
};

/* About three digits: for axes and tips, where more would be noise. */
void myr_chart_number(struct myr_buf *buf, double value)
{
    /* Thousands only from ten of them on: "9500" is as short as "9.5k". */
    static const struct myr_unit units[] = {
        {1, 1e4, 0, MYR_UNIT_BEHIND, ""},
        {1e3, 1e3, 0, MYR_UNIT_BEHIND, "k"},
        {1e6, 1e3, 0, MYR_UNIT_BEHIND, "M"},
        {1e9, 0, 0, MYR_UNIT_BEHIND, "G"},
    };
    const struct myr_unit *unit = &units[myr_text_unit(value, units, MYR_ARRAY_COUNT(units))];
    double scaled = value / unit->size;
    double left = scaled < 0 ? -scaled : scaled;
    myr_json_number(buf, scaled, left >= 100 ? 0 : left >= 10 ? 1 : left >= 1 ? 2 : 3);
    myr_buf_puts(buf, unit->name);
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

double myr_chart_step(double span, uint32_t most)
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
static int32_t bar_x(const struct chart_frame *frame, double value, double span)
{
    return frame->left * PX +
           round_to(value / span * ((frame->width - frame->left - frame->right) * PX));
}

/* Before the bar; on a phone above it. */
static void draw_name(struct myr_svg *svg, const struct chart_frame *frame, const char *name,
                      int32_t y)
{
    if (frame->narrow) {
        myr_svg_text(svg, 10 * PX, y + 12 * PX, MYR_SVG_START, "label", name);
    } else {
        myr_svg_text(svg, (frame->left - 10) * PX, y + 15 * PX, MYR_SVG_END, "label", name);
    }
}

/* Behind the bar, which ends at 'end'; on a phone above it, at the right. */
static void draw_words(struct myr_svg *svg, const struct chart_frame *frame, const char *words,
                       int32_t y, int32_t end)
{
    if (frame->narrow) {
        myr_svg_text(svg, (frame->width - 10) * PX, y + 12 * PX, MYR_SVG_END, "label muted", words);
    } else {
        myr_svg_text(svg, end + 8 * PX, y + 15 * PX, MYR_SVG_START, "label muted", words);
    }
}

/* Pieces follow each other from the row's start; the words stand behind the last. */
static void draw_row(struct myr_svg *svg, const struct chart_frame *frame,
                     const struct myr_bars *bars, const struct myr_bar_row *row, int32_t y,
                     double span)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    char css[24];
    double at = row->start;
    draw_name(svg, frame, row->name, y);
    for (uint32_t p = 0; p < row->count; p++) {
        const struct myr_piece *piece = &row->pieces[p];
        int32_t from = bar_x(frame, at, span), to = bar_x(frame, at + piece->value, span);
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
            myr_svg_rect(svg, from, y + frame->bar_top * PX, to - from, (BAR_ROW - 7) * PX, css,
                         tip.data);
        }
    }
    if (row->words) {
        double clear = at > bars->limit ? at : bars->limit; /* not across the line */
        draw_words(svg, frame, row->words, y, bar_x(frame, clear, span));
    }
}

static void draw_bar_axis(struct myr_svg *svg, const struct chart_frame *frame,
                          const struct myr_bars *bars, int32_t top, double span)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf label = {};
    int32_t bottom = top + (int32_t)bars->count * frame->row;
    double step = myr_chart_step(span, frame->ticks);
    /* A little beyond the span: the last tick must not fall to rounding. */
    for (uint32_t i = 0; i <= 12 && i * step <= span * 1.0001; i++) {
        int32_t at = bar_x(frame, i * step, span);
        myr_buf_clear(&label);
        myr_chart_number(&label, i * step);
        myr_buf_printf(&label, " %s", bars->unit);
        myr_svg_line(svg, at, (top - 4) * PX, at, bottom * PX, i ? "grid" : "axis", NULL);
        myr_svg_text(svg, at, (bottom + 16) * PX, MYR_SVG_MIDDLE, "label muted", label.data);
    }
}

/* Beside the bars alone where words stand above them: a line through a number is a riddle. */
static void draw_limit(struct myr_svg *svg, const struct chart_frame *frame,
                       const struct myr_bars *bars, int32_t top, double span)
{
    int32_t at = bar_x(frame, bars->limit, span);
    int32_t bottom = top + (int32_t)bars->count * frame->row;
    if (!frame->narrow) {
        myr_svg_line(svg, at, (top - 8) * PX, at, bottom * PX, "limit", bars->limit_name);
        return;
    }
    for (int32_t y = top; y < bottom; y += frame->row) {
        int32_t from = y + frame->bar_top - 2;
        myr_svg_line(svg, at, from * PX, at, (from + BAR_ROW - 3) * PX, "limit", bars->limit_name);
    }
}

static void draw_bars(const void *chart, enum myr_chart_form form, struct myr_buf *buf)
{
    const struct myr_bars *bars = chart;
    struct myr_svg svg;
    const struct chart_frame *frame = &bar_frames[form];
    struct chart_head head = {.title = bars->title, .note = bars->note};
    for (uint32_t p = 0; bars->legend && bars->count && p < bars->rows[0].count; p++) {
        chart_add_key(&head, bars->rows[0].pieces[p].name, bars->rows[0].pieces[p].colour);
    }
    int32_t top = frame->narrow  ? chart_narrow_head(NULL, frame, &head) + 14
                  : bars->legend ? 84
                                 : 62;
    int32_t bottom = top + (int32_t)bars->count * frame->row, x = frame->left * PX;
    double span = bars_span(bars);
    chart_begin(&svg, buf, frame, (uint32_t)bottom + 30, &head);
    for (uint32_t i = 0; !frame->narrow && i < head.key_count; i++) {
        x = chart_key(&svg, x, 68 * PX, head.keys[i].colour, head.keys[i].name);
    }
    draw_bar_axis(&svg, frame, bars, top, span);
    for (uint32_t r = 0; r < bars->count; r++) {
        draw_row(&svg, frame, bars, &bars->rows[r], (top + (int32_t)r * frame->row) * PX, span);
    }
    if (bars->limit > 0) {
        draw_limit(&svg, frame, bars, top, span);
    }
    myr_svg_end(&svg);
}

void myr_chart_bars(const struct myr_bars *bars, struct myr_buf *buf)
{
    chart_forms(bars, bars->form, draw_bars, buf);
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
static void linear_ticks(struct axis *axis, uint32_t most, bool grow)
{
    double step = myr_chart_step(axis->high - axis->low, most);
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

/* Powers of ten, with 2 and 5 between them where there is room: on a phone for fewer of them. */
static void log_ticks(struct axis *axis, bool narrow)
{
    /* The divisor is log2(10). */
    double decades = (axis->high - axis->low) / 3.3219280948873623;
    double value = 1e-6;
    while (value < 1e15) {
        static const double parts[] = {1, 2, 5};
        for (int i = 0; i < (decades > (narrow ? 1.5 : 4) ? 1 : 3); i++) {
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
                        const struct axis *y, bool narrow)
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
            bool left = at_x > (narrow ? (x->from + x->to) / 2 : (x->from + 3 * x->to) / 4);
            myr_svg_text(svg, left ? at_x - 9 * PX : at_x + 9 * PX, at_y - 7 * PX,
                         left ? MYR_SVG_END : MYR_SVG_START, "label", p->name);
        }
    }
}

/* A series without a name belongs to another; one name alone needs no legend: the title says it. */
static void find_keys(const struct myr_curves *curves, struct chart_head *head)
{
    for (uint32_t i = 0; i < curves->count; i++) {
        if (curves->series[i].name[0]) {
            chart_add_key(head, curves->series[i].name, curves->series[i].colour);
        }
    }
    head->key_count = head->key_count > 1 ? head->key_count : 0;
}

/* The legend stands over the plot, at the right. */
static void draw_curve_keys(struct myr_svg *svg, const struct chart_head *head)
{
    int32_t x = (WIDTH - PLOT_RIGHT) * PX;
    for (uint32_t i = 0; i < head->key_count; i++) {
        x -= chart_key(NULL, 0, 0, 0, head->keys[i].name);
    }
    for (uint32_t i = 0; i < head->key_count; i++) {
        x = chart_key(svg, x, (PLOT_TOP - 12) * PX, head->keys[i].colour, head->keys[i].name);
    }
}

static void draw_curves(const void *chart, enum myr_chart_form form, struct myr_buf *buf)
{
    const struct myr_curves *curves = chart;
    struct myr_svg svg;
    const struct chart_frame *frame = &curve_frames[form];
    struct chart_head head = {.title = curves->title, .note = curves->note};
    find_keys(curves, &head);
    /* On a phone the axis has its name below the legend. */
    int32_t top = frame->narrow ? chart_narrow_head(NULL, frame, &head) + 38 : PLOT_TOP;
    struct axis x = {.from = frame->left * PX, .to = (frame->width - frame->right) * PX};
    struct axis y = {.from = (top + frame->height) * PX, .to = top * PX};
    span_of(curves, &x, &y);
    if (x.log) {
        log_ticks(&x, frame->narrow);
    } else {
        linear_ticks(&x, frame->ticks, true);
    }
    if (y.log) {
        log_ticks(&y, false);
    } else {
        linear_ticks(&y, 6, curves->y_max <= 0);
    }
    chart_begin(&svg, buf, frame, (uint32_t)(top + frame->height) + 46, &head);
    draw_axes(&svg, curves, &x, &y);
    for (uint32_t s = 0; s < curves->count; s++) {
        draw_series(&svg, &curves->series[s], &x, &y, frame->narrow);
    }
    if (!frame->narrow) {
        draw_curve_keys(&svg, &head);
    }
    myr_svg_end(&svg);
}

void myr_chart_curves(const struct myr_curves *curves, struct myr_buf *buf)
{
    chart_forms(curves, curves->form, draw_curves, buf);
}
