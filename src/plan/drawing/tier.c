#include "drawing/drawing.h"

/*
 * The gutter: what each tier is, and what runs between two of them. It stands at the left of a
 * drawing, row by row beside what it names, and below the drawing on a narrow page.
 */

/*
 * Back from the counts: access switches are homes times ceil(nodes / ports). 1 where that does not
 * divide evenly.
 */
uint32_t plan_draw_homes(const struct myr_network *net)
{
    MYR_ASSERT(net->leaf_down > 0);
    uint32_t rows = (net->nodes_on_it + net->leaf_down - 1) / net->leaf_down;
    return rows && net->access % rows == 0 ? net->access / rows : 1;
}

/* Three lines around the middle of a row of boxes. */
void plan_draw_tier(struct drawing *drawing, const struct draw_net *view, int32_t y,
                    const char *name, const char *line, const char *second)
{
    const struct draw_area *at = &view->gutter;
    struct myr_buf *page = drawing->svg.buf;
    /*
     * Labels gather in a buffer of their own: they become a piece by themselves on a narrow page.
     */
    drawing->svg.buf = &drawing->gutter;
    plan_draw_text_in(drawing, at->x, y - PX(9), at->width, MYR_SVG_START, "th", "%s", name);
    plan_draw_text_in(drawing, at->x, y + PX(6), at->width, MYR_SVG_START, "small", "%s", line);
    plan_draw_text_in(drawing, at->x, y + PX(20), at->width, MYR_SVG_START, "small muted", "%s",
                      second);
    drawing->svg.buf = page;
}

/* Into the page, and the buffer is empty for the next network. */
void plan_draw_gutter(struct drawing *drawing)
{
    myr_buf_put(drawing->svg.buf, drawing->gutter.data, drawing->gutter.len);
    myr_buf_clear(&drawing->gutter);
}

/* The first cable type of a layer: that of the GPU nodes, where hosts differ. */
static const struct myr_cabletype *cable_of(const struct myr_design *design, enum myr_net_id id,
                                            enum myr_layer layer)
{
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        if (design->cabletypes[i].net == id && design->cabletypes[i].layer == layer) {
            return &design->cabletypes[i];
        }
    }
    return NULL;
}

/*
 * Indented, so that it reads as lying between two tiers: links and their speed, how a pair is
 * joined, the cable; the oversubscription at the right, marked where it is above 1:1.
 */
void plan_draw_layer(struct drawing *drawing, const struct draw_net *view, int32_t y,
                     enum myr_layer layer, const char *line, uint32_t ratio_milli)
{
    const struct myr_network *net = view->net;
    const struct draw_area *at = &view->gutter;
    uint32_t gbps = layer == MYR_LAYER_HOST ? net->host_gbps : net->fabric_gbps;
    char number[DRAW_WORDS_BYTES];
    int32_t x = at->x + PX(10), width = at->width - PX(10);
    /* Two or three lines, centred on y. */
    int32_t step = PX(13), top = y - (line ? step : step / 2) + PX(4);
    struct myr_buf *page = drawing->svg.buf;
    drawing->svg.buf = &drawing->gutter;
    plan_draw_text(drawing, x, top, MYR_SVG_START, "small", "%s \xC3\x97 %uG",
                   myr_u64_grouped(net->links[layer], number), gbps);
    if (line) {
        top += step;
        plan_draw_text_in(drawing, x, top, width, MYR_SVG_START, "small", "%s", line);
    }
    const struct myr_cabletype *cable = cable_of(drawing->design, view->id, layer);
    if (cable && cable->part) {
        plan_draw_text_in(drawing, x, top + step, width, MYR_SVG_START, "tiny muted", "%s",
                          myr_design_str(drawing->design, cable->part));
    }
    if (ratio_milli) {
        plan_draw_ratio(ratio_milli, number);
        int32_t chip = plan_draw_width(number, 11) + PX(10), first = top - (line ? step : 0);
        myr_svg_rect(&drawing->svg, at->x + at->width - chip - PX(12), first - PX(12), chip, PX(16),
                     ratio_milli > 1000 ? "chip warn" : "chip",
                     plan_draw_tip(drawing, "oversubscription %s", number));
        myr_svg_text(&drawing->svg, at->x + at->width - chip / 2 - PX(12), first, MYR_SVG_MIDDLE,
                     "small", number);
    }
    drawing->svg.buf = page;
}
