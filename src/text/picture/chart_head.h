/*
 * What bars and curves share: where things are, and what is said above a plot. Private to the
 * charts. Coordinates in pixels, unless they go straight into the drawing.
 */
#pragma once

#include "myriad/text/chart.h"
#include "myriad/text/svg.h"

enum { CHART_PX = 10, CHART_WIDTH = 960, CHART_KEYS_MAX = 32 };

/* Where things are, in pixels. A phone's page is 358 wide between its margins. */
struct chart_frame {
    bool narrow;
    int32_t width;
    int32_t left, right;  /* beside what is plotted */
    int32_t row, bar_top; /* of bars: from one to the next, and from a row's top to its bar */
    int32_t height;       /* of curves */
    uint32_t ticks;       /* about so many, at most */
};

/* What is said above a plot. */
struct chart_head {
    const char *title, *note;
    struct myr_piece keys[CHART_KEYS_MAX];
    uint32_t key_count;
};

void chart_add_key(struct chart_head *head, const char *name, uint32_t colour);
/* A square and a name; gives where the next one goes. Without a drawing only that. */
int32_t chart_key(struct myr_svg *svg, int32_t x, int32_t y, uint32_t colour, const char *name);
/* The y of the last line above a plot on a phone. */
int32_t chart_narrow_head(struct myr_svg *svg, const struct chart_frame *frame,
                          const struct chart_head *head);
/* Ground, style and what is said above; a legend of the wide form is the plot's own. */
void chart_begin(struct myr_svg *svg, struct myr_buf *buf, const struct chart_frame *frame,
                 uint32_t height, const struct chart_head *head);

typedef void chart_draw(const void *chart, enum myr_chart_form form, struct myr_buf *buf);
/* One form, or both as a page has them. */
void chart_forms(const void *chart, enum myr_chart_form form, chart_draw *draw,
                 struct myr_buf *buf);
