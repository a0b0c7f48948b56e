#include <stdio.h>

#include "drawing/drawing.h"

/*
 * What the shapes and lines mean: only those that this drawing has. It is drawn last, since it must
 * know what was drawn; the findings of the plan follow below it in the same card.
 */

#define PADDING      PX(20)
#define ENTRY        PX(22)
#define FINDINGS_MAX 5

/* 'count' entries so far; it gives both pages the place of the next. */
struct legend {
    struct drawing *drawing;
    struct draw_area area;
    int32_t column_width; /* of the wide page */
    uint32_t columns, count;
};

/* Entries go row by row through the columns. */
static struct draw_area next_entry(struct legend *legend)
{
    uint32_t at = legend->count++;
    return (struct draw_area){
        legend->area.x + (int32_t)(at % legend->columns) * legend->column_width,
        legend->area.y + (int32_t)(at / legend->columns) * ENTRY, legend->column_width, ENTRY};
}

/*
 * On a narrow page in two columns. 'width' is that of what was drawn, not of the column: else a
 * short entry would be scaled down.
 */
static void end_entry(struct legend *legend, struct draw_area at, int32_t width)
{
    uint32_t number = legend->count - 1;
    struct draw_area to = {DRAW_NARROW_X + (int32_t)(number % 2) * (DRAW_NARROW_INNER / 2),
                           legend->drawing->narrow.y + (int32_t)(number / 2) * ENTRY,
                           DRAW_NARROW_INNER / 2 - PX(4), 0};
    at.width = width;
    (void)plan_draw_piece_end(legend->drawing, at, to);
}

static void put_label(struct legend *legend, struct draw_area at, const char *text)
{
    plan_draw_text_in(legend->drawing, at.x + PX(36), at.y + PX(14), at.width - PX(40),
                      MYR_SVG_START, "small", "%s", text);
}

/* Nothing, and no place taken, where it is not wanted; so put_line(). */
static void put_box(struct legend *legend, bool wanted, const char *css, const char *text)
{
    if (wanted) {
        struct draw_area at = next_entry(legend);
        plan_draw_piece(legend->drawing);
        myr_svg_rect(&legend->drawing->svg, at.x, at.y + PX(3), PX(26), PX(14), css, NULL);
        put_label(legend, at, text);
        end_entry(legend, at, PX(46) + plan_draw_width(text, 11));
    }
}

static void put_line(struct legend *legend, bool wanted, const char *css, const char *text)
{
    if (wanted) {
        struct draw_area at = next_entry(legend);
        plan_draw_piece(legend->drawing);
        myr_svg_line(&legend->drawing->svg, at.x, at.y + PX(10), at.x + PX(26), at.y + PX(10), css,
                     NULL);
        put_label(legend, at, text);
        end_entry(legend, at, PX(46) + plan_draw_width(text, 11));
    }
}

/* What the networks have between them. */
struct found {
    bool leaf, spine, core, ethernet, rails, planes, tight, pods, torus, groups;
};

static struct found find_all(const struct myr_design *design)
{
    struct found found = {};
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        if (!net->topology) {
            continue;
        }
        found.leaf |= net->leaf > 0;
        found.spine |= net->spine > 0;
        found.core |= net->core > 0;
        found.ethernet |= net->access > 0;
        found.rails |= net->rails > 1;
        found.planes |= net->planes > 1;
        found.torus |= net->topology == MYR_TOPOLOGY_TORUS;
        found.groups |=
            net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
        for (uint32_t i = 0; i + 1 < net->tiers && i < MYR_SPEC_TIERS_MAX; i++) {
            found.tight |= net->oversubscription_milli[i] > 1000;
        }
    }
    return found;
}

/* As the NICs of the drawing: hue and number. */
static void put_rails(struct legend *legend, uint32_t rails)
{
    struct draw_area at = next_entry(legend);
    plan_draw_piece(legend->drawing);
    uint32_t shown = rails < DRAW_RAIL_HUES ? rails : DRAW_RAIL_HUES;
    for (uint32_t i = 0; i < shown; i++) {
        int32_t x = at.x + (int32_t)i * PX(18);
        char css[DRAW_WORDS_BYTES];
        snprintf(css, sizeof(css), "r%u", i);
        myr_svg_rect(&legend->drawing->svg, x, at.y + PX(2), PX(16), PX(16), css, NULL);
        snprintf(css, sizeof(css), "tiny on r%u", i);
        plan_draw_text(legend->drawing, x + PX(8), at.y + PX(13), MYR_SVG_MIDDLE, css, "%u", i);
    }
    plan_draw_text_in(legend->drawing, at.x + (int32_t)shown * PX(18) + PX(8), at.y + PX(14),
                      at.width - (int32_t)shown * PX(18) - PX(10), MYR_SVG_START, "small", "%s",
                      rails > shown ? "rails; hues repeat" : "rail of a NIC");
    end_entry(legend, at, (int32_t)shown * PX(18) + PX(120));
}

/*
 * What the plan found to be wrong or doubtful; notes are left to the report. 'ret_width' grows. The
 * first five; the remedy is in the tooltip.
 */
static int32_t draw_findings(struct drawing *drawing, struct draw_area card, int32_t y,
                             int32_t *ret_width)
{
    static const char *const words[] = {"note", "warning", "error"};
    const struct myr_design *design = drawing->design;
    int32_t x = card.x + PADDING, width = card.width - 2 * PADDING;
    uint32_t found = 0;
    plan_draw_text(drawing, x, y + PX(20), MYR_SVG_START, "h2", "Findings");
    y += PX(30);
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        MYR_ASSERT(finding->severity < MYR_ARRAY_COUNT(words));
        /* All are counted, the first ones drawn. */
        if (finding->severity == MYR_SEVERITY_INFO || ++found > FINDINGS_MAX) {
            continue;
        }
        const char *word = finding->accepted ? "accepted" : words[finding->severity];
        myr_svg_rect(&drawing->svg, x, y + PX(3), PX(62), PX(16),
                     finding->accepted ? "chip" : "chip warn",
                     myr_design_str(design, finding->remedy));
        plan_draw_text(drawing, x + PX(31), y + PX(14), MYR_SVG_MIDDLE, "tiny", "%s", word);
        plan_draw_text_in(drawing, x + PX(72), y + PX(15), width - PX(72), MYR_SVG_START, "small",
                          "%s: %s", myr_design_str(design, finding->where),
                          myr_design_str(design, finding->message));
        /* What the longest line needs: on a narrow page the piece is scaled by it. */
        int32_t own = PX(84) + plan_draw_width(myr_design_str(design, finding->where), 11) +
                      plan_draw_width(myr_design_str(design, finding->message), 11);
        own = own < width ? own : width;
        *ret_width = own > *ret_width ? own : *ret_width;
        y += ENTRY;
    }
    if (found == 0 || found > FINDINGS_MAX) {
        char more[DRAW_WORDS_BYTES] = "none of weight";
        if (found) {
            snprintf(more, sizeof(more), "and %u more", found - FINDINGS_MAX);
        }
        plan_draw_text(drawing, x, y + PX(15), MYR_SVG_START, "small muted", "%s", more);
        y += ENTRY;
    }
    return y;
}

int32_t plan_draw_legend(struct drawing *drawing, struct draw_area card)
{
    const struct myr_design *design = drawing->design;
    const struct myr_design_head *head = design->head;
    struct found found = find_all(design);
    struct legend legend = {.drawing = drawing};
    int32_t x = card.x + PADDING;
    plan_draw_piece(drawing);
    myr_svg_text(&drawing->svg, x, card.y + PX(28), MYR_SVG_START, "h2", "Legend");
    plan_draw_text_in(drawing, x, card.y + PX(52), card.width - 2 * PADDING, MYR_SVG_START,
                      "label muted", "Point at a shape for its name, its ports and its rule.");
    /* The widths of pieces are those of their text; a wider frame would make it smaller there. */
    plan_draw_piece_below(drawing, (struct draw_area){x, card.y + PX(8), PX(400), PX(56)});
    legend.area = (struct draw_area){x, card.y + PX(70), card.width - 2 * PADDING, 0};
    legend.columns = card.width > PX(900) ? 4 : 2;
    legend.column_width = legend.area.width / (int32_t)legend.columns;
    put_box(&legend, found.core, "core", "core switches");
    put_box(&legend, found.spine, "spine", "spine switch");
    put_box(&legend, found.leaf, "leaf",
            found.torus || found.groups ? "switch with hosts" : "leaf switch");
    put_box(&legend, found.ethernet, "ethernet", "access, aggregation switch");
    put_box(&legend, true, "host", "GPU nodes; count below");
    put_box(&legend, head->storage_servers > 0, "storage", "storage servers");
    put_box(&legend, head->management_nodes + head->fabric_managers > 0, "mgmt",
            "management nodes");
    put_box(&legend, true, "ghost", "+n: more, built alike");
    put_line(&legend, true, "mesh w1", "1 link of a pair");
    put_line(&legend, true, "mesh w4", "thicker: 2, 4, 8 or more");
    /* Known by now: the legend is the last card. */
    put_box(&legend, drawing->thinned, "band", "all linked; not all lines drawn");
    put_line(&legend, found.planes, "other-plane", "links to the other plane");
    put_line(&legend, found.torus, "wrap r0", "ends of a dimension joined");
    put_line(&legend, found.groups, "mesh up w4", "links between groups");
    put_box(&legend, found.tight, "chip warn", "oversubscribed tier");
    if (found.rails) {
        put_rails(&legend, design->networks[MYR_NET_COMPUTE].rails);
    }
    uint32_t rows = (legend.count + legend.columns - 1) / legend.columns;
    int32_t top = legend.area.y + (int32_t)rows * ENTRY + PX(8), width = PX(100);
    drawing->narrow.y += (int32_t)((legend.count + 1) / 2) * ENTRY;
    plan_draw_piece(drawing);
    int32_t bottom = draw_findings(drawing, card, top, &width);
    plan_draw_piece_below(drawing, (struct draw_area){x, top, width, bottom - top});
    return bottom + PADDING;
}
