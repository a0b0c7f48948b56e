/*
 * svg: drawing by shapes into a buffer. Coordinates are integers in tenths of a pixel, so that the
 * same picture is the same bytes everywhere. Text is escaped. Colours come from the classes of a
 * built-in stylesheet, which switches to light-on-dark where the viewer asks for it:
 *
 *   host leaf spine core ethernet storage    shapes
 *   link link-hot                            cables
 *   title label label-small                  text by size
 *   muted                                    steps back; goes with others: "label muted"
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"

struct myr_svg {
    struct myr_buf *buf;
    uint32_t group_depth;
};

/* Starts a document of the given size in pixels, with a title for readers that speak. */
void myr_svg_begin(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px, uint32_t height_px,
                   const char *title);
void myr_svg_end(struct myr_svg *svg);

/* 'css' is one or more classes, or NULL; 'tip' a tooltip, or NULL. */
void myr_svg_rect(struct myr_svg *svg, int32_t x, int32_t y, int32_t width, int32_t height,
                  const char *css, const char *tip);
void myr_svg_line(struct myr_svg *svg, int32_t x1, int32_t y1, int32_t x2, int32_t y2,
                  const char *css, const char *tip);

enum myr_svg_anchor { MYR_SVG_START, MYR_SVG_MIDDLE, MYR_SVG_END };

void myr_svg_text(struct myr_svg *svg, int32_t x, int32_t y, enum myr_svg_anchor anchor,
                  const char *css, const char *text);
void myr_svg_group(struct myr_svg *svg, const char *css);
void myr_svg_group_end(struct myr_svg *svg);
