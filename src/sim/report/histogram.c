#include <stdio.h>

#include "report/internal.h"

/*
 * How many flows took how long: bars, and the part that has ended by then as a curve. The axis
 * spans the times that there are: most runs have none near 0, and a distribution drawn from 0 is
 * one bar at the right end. Coordinates are tenths of a pixel.
 */

enum {
    PX = 10,
    WIDTH = 960 * PX,
    HEIGHT = 320,
    LEFT = 80 * PX,
    RIGHT = 70 * PX,
    TOP = 62 * PX,
    PLOT_HEIGHT = 190 * PX,
    BOTTOM = TOP + PLOT_HEIGHT,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    BINS = 48,
    Y_TICKS = 4,
};

static const char style[] = ".bar{fill:#0072b2;stroke:none}.curve{fill:none;stroke:#d55e00;"
                            "stroke-width:2}.axis{stroke:#57606a;stroke-width:1}"
                            ".grid{stroke:#57606a;stroke-width:.5;stroke-opacity:.3}"
                            "@media (prefers-color-scheme:dark){.bar{fill:#56b4e9}"
                            ".curve{stroke:#ff8c42}.axis,.grid{stroke:#8b949e}}";

void report_put_time(struct myr_buf *buf, myr_ps ps)
{
    struct myr_time_unit unit = myr_times_unit(ps);
    myr_buf_printf(buf, "%.3f %s", (double)ps / (double)unit.ps, unit.name);
}

/* The smallest of 1, 2, 5 times a power of ten that is not below 'least'. */
static uint64_t round_step(uint64_t least)
{
    uint64_t power = 1;
    while (power * 10 <= least) {
        power *= 10;
    }
    return least <= power       ? power
           : least <= 2 * power ? 2 * power
           : least <= 5 * power ? 5 * power
                                : 10 * power;
}

/* Ticks are at whole steps; 'low' and 'high' are two of them. */
struct axis {
    myr_ps low, high, step;
};

/* Round numbers around the shortest and the longest; one time alone gets room on both sides. */
static struct axis axis_of(const struct myr_times *times)
{
    myr_ps least = myr_times_percentile(times, 0), most = myr_times_percentile(times, 100);
    myr_ps span = most > least ? most - least : most / 5 + 5;
    myr_ps step = (myr_ps)round_step((uint64_t)(span + 4) / 5);
    struct axis axis = {.step = step};
    /* Down and up to whole steps. */
    axis.low = (most > least ? least : least - span / 2) / step * step;
    axis.low = axis.low > 0 ? axis.low : 0;
    axis.high = (most > least ? most : most + span / 2) / step * step;
    axis.high += axis.high < most || axis.high == axis.low ? step : 0;
    MYR_ASSERT(axis.low <= least && axis.high >= most && axis.high > axis.low);
    return axis;
}

/* In 128 bits: picoseconds of an hour times a width do not fit in 64. */
static int32_t x_of(const struct axis *axis, myr_ps time)
{
    return LEFT + (int32_t)((__int128)(time - axis->low) * PLOT_WIDTH / (axis->high - axis->low));
}

/* As many digits as tell two ticks apart. */
static int tick_digits(myr_ps step, myr_ps unit)
{
    int digits = 0;
    for (; step % unit && digits < 6; digits++) {
        unit /= 10;
        unit = unit ? unit : 1;
    }
    return digits;
}

/* Flows on the left, parts of them on the right: both scales have the same lines. */
static void draw_axes(struct myr_svg *svg, const struct axis *axis, uint64_t tallest)
{
    struct myr_time_unit unit = myr_times_unit(axis->high);
    int digits = tick_digits(axis->step, unit.ps);
    char label[64];
    for (uint32_t i = 0; i <= Y_TICKS; i++) {
        int32_t y = BOTTOM - PLOT_HEIGHT * (int32_t)i / Y_TICKS;
        myr_svg_line(svg, LEFT, y, LEFT + PLOT_WIDTH, y, i ? "grid" : "axis", NULL);
        myr_u64_grouped(tallest * i / Y_TICKS, label);
        myr_svg_text(svg, LEFT - 6 * PX, y + 4 * PX, MYR_SVG_END, "label muted", label);
        snprintf(label, sizeof(label), "%u %%", i * 100 / Y_TICKS);
        myr_svg_text(svg, LEFT + PLOT_WIDTH + 6 * PX, y + 4 * PX, MYR_SVG_START, "label muted",
                     label);
    }
    for (myr_ps at = axis->low; at <= axis->high; at += axis->step) {
        snprintf(label, sizeof(label), "%.*f", digits, (double)at / (double)unit.ps);
        myr_svg_line(svg, x_of(axis, at), BOTTOM, x_of(axis, at), BOTTOM + 4 * PX, "axis", NULL);
        myr_svg_text(svg, x_of(axis, at), BOTTOM + 18 * PX, MYR_SVG_MIDDLE, "label muted", label);
    }
    snprintf(label, sizeof(label), "completion time, %s", unit.name);
    myr_svg_text(svg, LEFT + PLOT_WIDTH / 2, BOTTOM + 40 * PX, MYR_SVG_MIDDLE, "label", label);
    myr_svg_text(svg, LEFT - 6 * PX, TOP - 12 * PX, MYR_SVG_END, "label", "flows");
    myr_svg_text(svg, LEFT + PLOT_WIDTH + 6 * PX, TOP - 12 * PX, MYR_SVG_START, "label", "ended");
}

/* How many of the flows lie in each part of the axis; the fullest is returned. */
static uint64_t fill_bins(const struct myr_times *times, const struct axis *axis,
                          uint64_t bins[BINS])
{
    uint64_t tallest = 0;
    for (size_t i = 0; i < times->count; i++) {
        myr_ps from = times->items[i].time - axis->low;
        uint32_t bin = (uint32_t)((__int128)from * BINS / (axis->high - axis->low));
        /* The longest time lies on the upper edge: it belongs to the last. */
        bin = bin < BINS ? bin : BINS - 1;
        bins[bin] += times->items[i].flows;
        tallest = bins[bin] > tallest ? bins[bin] : tallest;
    }
    return tallest;
}

/* From the whole width each time: rounding does not add up. */
static int32_t bin_x(int32_t bin)
{
    return LEFT + PLOT_WIDTH * bin / BINS;
}

/* 'tallest' is the upper end of the scale, not the highest bar. */
static void draw_bars(struct myr_svg *svg, const struct axis *axis, const uint64_t bins[BINS],
                      uint64_t tallest)
{
    for (int32_t i = 0; i < BINS; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
        int32_t high = (int32_t)((__int128)PLOT_HEIGHT * bins[i] / tallest);
        if (bins[i] == 0) {
            continue;
        }
        high = high > 8 ? high : 8; /* few are not none */
        myr_buf_printf(&tip, "%llu flow%s from ", (unsigned long long)bins[i],
                       bins[i] == 1 ? "" : "s");
        report_put_time(&tip, axis->low + (axis->high - axis->low) / BINS * i);
        myr_buf_put_lit(&tip, " to ");
        report_put_time(&tip, axis->low + (axis->high - axis->low) / BINS * (i + 1));
        myr_svg_rect(svg, bin_x(i), BOTTOM - high, bin_x(i + 1) - bin_x(i) - 15, high, "bar",
                     tip.data);
    }
}

/* The curve reaches 100 % at the right end: it adds up the same bins. */
void report_draw_times(const struct myr_times *times, struct myr_buf *buf)
{
    struct myr_svg svg;
    uint64_t bins[BINS] = {}, below = 0;
    myr_svg_begin(&svg, buf, WIDTH / PX, HEIGHT, "Completion times");
    myr_svg_style(&svg, style);
    myr_svg_text(&svg, 10 * PX, 24 * PX, MYR_SVG_START, "title", "Completion times");
    if (times->flows) {
        struct axis axis = axis_of(times);
        /* Round numbers at the ticks. */
        uint64_t step = round_step((fill_bins(times, &axis, bins) + Y_TICKS - 1) / Y_TICKS);
        uint64_t tallest = step * Y_TICKS;
        draw_axes(&svg, &axis, tallest);
        draw_bars(&svg, &axis, bins, tallest);
        myr_svg_path_begin(&svg);
        myr_svg_path_move(&svg, LEFT, BOTTOM);
        for (int32_t i = 0; i < BINS; i++) {
            below += bins[i];
            myr_svg_path_line(&svg, bin_x(i + 1),
                              BOTTOM - (int32_t)((__int128)PLOT_HEIGHT * below / times->flows));
        }
        MYR_ASSERT(below == times->flows);
        myr_svg_path_end(&svg, "curve", "part that has ended by then");
    } else {
        myr_svg_text(&svg, 10 * PX, 60 * PX, MYR_SVG_START, "label muted", "no flow");
    }
    myr_svg_end(&svg);
}
