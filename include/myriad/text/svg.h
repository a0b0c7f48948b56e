/*
 * svg: drawing by shapes into a buffer. Coordinates are integers in tenths of a pixel, so that the
 * same picture is the same bytes everywhere. Text is escaped. Colours come from the classes of a
 * built-in stylesheet, which switches to light-on-dark where the viewer asks for it:
 *
 *   host leaf spine core ethernet storage    shapes
 *   link link-hot                            cables
 *   title label label-small                  text by size
 *   muted                                    steps back; goes with others: "label muted"
 *
 * A drawing that needs more classes adds them with myr_svg_style().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

struct myr_svg {
    struct myr_buf *buf;
    uint32_t group_depth;
    bool in_path;
    size_t path_start; /* in the buffer */
};

/* Starts a document of the given size in pixels, with a title for readers that speak. */
void myr_svg_begin(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px, uint32_t height_px,
                   const char *title);
/* The same for a page that may become longer: it keeps to the top of its frame. */
void myr_svg_begin_column(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px,
                          uint32_t height_px, const char *title);
/* A description for them, right after begin. */
void myr_svg_desc(struct myr_svg *svg, const char *text);
void myr_svg_end(struct myr_svg *svg);
/* More rules, right after begin. 'rules' is trusted CSS: it is written as it stands. */
void myr_svg_style(struct myr_svg *svg, const char *rules);

/* 'css' is one or more classes, or NULL; 'tip' a tooltip, or NULL. */
void myr_svg_rect(struct myr_svg *svg, int32_t x, int32_t y, int32_t width, int32_t height,
                  const char *css, const char *tip);
void myr_svg_line(struct myr_svg *svg, int32_t x1, int32_t y1, int32_t x2, int32_t y2,
                  const char *css, const char *tip);
void myr_svg_circle(struct myr_svg *svg, int32_t x, int32_t y, int32_t radius, const char *css,
                    const char *tip);

/*
 * Many strokes as one shape: begin, then moves, lines and curves, then end with what is common to
 * all. A mesh of a thousand cables stays a few shapes this way. Pieces begin with a move; 'close'
 * joins the end of a piece to its beginning. A path without pieces is not written at all.
 */
void myr_svg_path_begin(struct myr_svg *svg);
void myr_svg_path_move(struct myr_svg *svg, int32_t x, int32_t y);
void myr_svg_path_line(struct myr_svg *svg, int32_t x, int32_t y);
/* A quadratic curve: it leaves towards the control point and arrives from there. */
void myr_svg_path_curve(struct myr_svg *svg, int32_t control_x, int32_t control_y, int32_t x,
                        int32_t y);
void myr_svg_path_close(struct myr_svg *svg);
void myr_svg_path_end(struct myr_svg *svg, const char *css, const char *tip);

enum myr_svg_anchor { MYR_SVG_START, MYR_SVG_MIDDLE, MYR_SVG_END };

void myr_svg_text(struct myr_svg *svg, int32_t x, int32_t y, enum myr_svg_anchor anchor,
                  const char *css, const char *text);
void myr_svg_group(struct myr_svg *svg, const char *css);
void myr_svg_group_end(struct myr_svg *svg);
