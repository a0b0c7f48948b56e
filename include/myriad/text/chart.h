/*
 * chart: plots as SVG: bars that follow or stack on each other, and curves over axes.
 *
 * The same numbers give the same bytes on every machine. Series have colours that stay apart for
 * the colour-blind, a legend, and their values as tooltips.
 */
#pragma once

#include "myriad/base.h"

#define MYR_CHART_COLOURS 8 /* colour classes: 0 to 7 */

/*
 * A plot for a desk's screen or a file; one for a phone, where words stand above what they name;
 * or both, for a page (page.h) that shows the one it has room for.
 */
enum myr_chart_form { MYR_CHART_WIDE, MYR_CHART_NARROW, MYR_CHART_PAGE };

/* ---- bars: rows of one or more pieces ---- */

struct myr_piece {
    const char *name; /* for the legend and the tooltip */
    double value;
    uint32_t colour;
};

struct myr_bar_row {
    const char *name;  /* at the left */
    const char *words; /* at the right of the bar, or NULL */
    double start;      /* where its first piece begins: waterfalls step along */
    const struct myr_piece *pieces;
    uint32_t count;
};

struct myr_bars {
    const char *title, *note; /* note: below the title, or NULL */
    const char *unit;
    const struct myr_bar_row *rows;
    uint32_t count;
    bool legend;            /* of the first row's pieces */
    double limit;           /* a line across the bars, or 0 */
    const char *limit_name; /* its tooltip */
    enum myr_chart_form form;
};

void myr_chart_bars(const struct myr_bars *bars, struct myr_buf *buf);

/* ---- curves ---- */

struct myr_point {
    double x, y;
    const char *name; /* beside the point, or NULL */
};

struct myr_series {
    const char *name; /* empty: not in the legend */
    const struct myr_point *points;
    uint32_t count;
    uint32_t colour;
    bool dots; /* a dot at each point */
    bool no_line;
    bool dashed;
};

struct myr_curves {
    const char *title, *note;
    const char *x_name, *y_name;
    const struct myr_series *series;
    uint32_t count;
    bool log_x;     /* all x above 0 */
    bool log_y;     /* all y above 0; not from zero */
    bool from_zero; /* the y axis begins at 0 */
    double y_max;   /* 0: by the points */
    enum myr_chart_form form;
};

void myr_chart_curves(const struct myr_curves *curves, struct myr_buf *buf);

/* "1.25", "32k", "1.5M": few digits, for ticks. */
void myr_chart_number(struct myr_buf *buf, double value);
/*
 * From tick to tick: 1, 2 or 5 times a power of ten, such that at most about 'most' of them cover
 * the span, which is above 0.
 */
double myr_chart_step(double span, uint32_t most);
