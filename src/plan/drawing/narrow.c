#include <stdio.h>

#include "drawing/drawing.h"

/*
 * The same page on a narrow screen. Nothing is drawn twice: what belongs together is a group, and a
 * rule of the stylesheet moves and scales each group to its place in a column as wide as a phone.
 * The page's coordinates stay those of the wide one, so a pixel of the column is WIDE / NARROW of
 * them.
 */

#define SCALE_ONE 1000

/* From tenths of a pixel of the column to those of the page's coordinates. */
static int32_t to_page(int64_t narrow)
{
    return (int32_t)(narrow * DRAW_PAGE_WIDTH / DRAW_NARROW_WIDTH);
}

static void put_px(struct myr_buf *buf, int32_t tenths)
{
    myr_buf_printf(buf, "%s%d.%dpx", tenths < 0 ? "-" : "", (tenths < 0 ? -tenths : tenths) / 10,
                   (tenths < 0 ? -tenths : tenths) % 10);
}

/* Pieces do not nest: the class is that of the rule which the end of this one writes. */
void plan_draw_piece(struct drawing *drawing)
{
    char css[DRAW_WORDS_BYTES];
    snprintf(css, sizeof(css), "p%u", drawing->narrow.count);
    myr_svg_group(&drawing->svg, css);
}

int32_t plan_draw_piece_end(struct drawing *drawing, struct draw_area from, struct draw_area to)
{
    struct myr_buf *rules = &drawing->narrow.rules;
    MYR_ASSERT(from.width > 0 && to.width > 0);
    int64_t scale = (int64_t)to.width * SCALE_ONE / from.width;
    /* Never enlarged: text that is short would come out larger than the rest. */
    scale = scale < SCALE_ONE ? scale : SCALE_ONE;
    int32_t page_scale = to_page(scale);
    myr_svg_group_end(&drawing->svg);
    myr_buf_printf(rules, ".p%u{transform:translate(", drawing->narrow.count++);
    put_px(rules, to_page(to.x) - (int32_t)((int64_t)from.x * page_scale / SCALE_ONE));
    myr_buf_putc(rules, ',');
    put_px(rules, to_page(to.y) - (int32_t)((int64_t)from.y * page_scale / SCALE_ONE));
    myr_buf_printf(rules, ") scale(%d.%03d)}", page_scale / SCALE_ONE, page_scale % SCALE_ONE);
    return (int32_t)((int64_t)from.height * scale / SCALE_ONE);
}

/* Over the whole width of the column, and the column grows by it. */
void plan_draw_piece_below(struct drawing *drawing, struct draw_area from)
{
    struct draw_area to = {DRAW_NARROW_X, drawing->narrow.y, DRAW_NARROW_INNER, 0};
    drawing->narrow.y += plan_draw_piece_end(drawing, from, to);
}

/* A frame is one rectangle, so its geometry is set; nothing in it has to be scaled. */
uint32_t plan_draw_frame(struct drawing *drawing, int32_t top)
{
    struct myr_buf *rules = &drawing->narrow.rules;
    myr_buf_printf(rules, ".f%u{x:", drawing->narrow.frames);
    put_px(rules, to_page(DRAW_NARROW_X / 2));
    myr_buf_put_lit(rules, ";y:");
    put_px(rules, to_page(top));
    myr_buf_put_lit(rules, ";width:");
    put_px(rules, to_page(DRAW_NARROW_WIDTH - DRAW_NARROW_X));
    myr_buf_put_lit(rules, ";height:");
    put_px(rules, to_page(drawing->narrow.y - top));
    myr_buf_putc(rules, '}');
    return drawing->narrow.frames++;
}

/* On paper, which is narrower than that, the wide one is meant: it fits a page. */
void plan_draw_narrow_style(struct drawing *drawing, struct myr_buf *ret)
{
    myr_buf_put_lit(ret, "svg{width:100%;height:auto}\n@media screen and (max-width:860px){svg{"
                         "width:100vw;height:calc(100vw*");
    myr_buf_printf(ret, "%d/%d)}.page{height:", drawing->narrow.y / 10, DRAW_NARROW_WIDTH / 10);
    put_px(ret, to_page(drawing->narrow.y));
    myr_buf_putc(ret, '}');
    myr_buf_put(ret, drawing->narrow.rules.data, drawing->narrow.rules.len);
    myr_buf_putc(ret, '}');
}
