#include "drawing/drawing.h"
#include "figures/figures.h"

#include <stdio.h>

/*
 * The page: heading, figures, then the cards. Everything is placed while it is drawn, from the top
 * down; only the heights of cards and of the page are known last, so both are drawn into buffers.
 * The same pass notes where each piece goes on a narrow screen.
 */

#define PAGE_WIDTH DRAW_PAGE_WIDTH
#define MARGIN     PX(32)
#define GAP        PX(20)

/*
 * Okabe-Ito hues, as in the stylesheet of text/svg: rails get one each (fill or line r0..r7, edge
 * e0..e7) and their number beside it, so that no colour carries a meaning alone.
 */
static const char style[] =
    ".card{fill:#fcfdfe;stroke:#d8dee4}"
    ".tile{fill:#f3f5f8;stroke:none}"
    ".chip{fill:#e8ecf0;stroke:none}"
    ".warn{fill:#fde8d7;stroke:#d55e00}"
    ".sheet{fill:#fff;stroke:#8c959f}"
    ".back{fill:#eef1f4}"
    ".pod{fill:#f3f6f9;fill-opacity:.75;stroke:#afb8c1}"
    ".ghost{fill:#f6f8fa;stroke:#8c959f;stroke-dasharray:3 2}"
    "path.ghost{fill:none}"
    ".edge{fill:none;stroke:#8c959f}"
    ".mgmt{fill:#ece6f5;stroke:#7b5ea7}"
    ".rule{stroke:#d8dee4}"
    ".hit{fill:transparent;stroke:none}"
    ".mesh{fill:none;stroke:#57606a;stroke-opacity:.38}"
    ".close{stroke-opacity:.3}.band{fill:#57606a;fill-opacity:.08;stroke:none}"
    ".up{stroke:#c98500}"
    ".rail{fill:none;stroke-width:1.6}"
    ".mesh:hover,.rail:hover{stroke-opacity:1;stroke-width:3}"
    ".faint{fill:none;stroke:#8c959f;stroke-opacity:.45;stroke-dasharray:2 3}"
    ".other-plane{fill:none;stroke:#57606a;stroke-dasharray:4 2}"
    ".wrap{fill:none;stroke-dasharray:4 3;stroke-opacity:.7}"
    ".w1{stroke-width:.8}.w2{stroke-width:1.1}.w3{stroke-width:1.5}.w4{stroke-width:2}"
    "rect.r0,circle.r0{fill:#0072b2}rect.r1,circle.r1{fill:#d55e00}"
    "rect.r2,circle.r2{fill:#009e73}rect.r3{fill:#cc79a7}rect.r4{fill:#e69f00}"
    "rect.r5{fill:#56b4e9}rect.r6{fill:#8a7d00}rect.r7{fill:#6e7781}"
    "path.r0,line.r0,.e0{stroke:#0072b2}path.r1,line.r1,.e1{stroke:#d55e00}"
    "path.r2,line.r2,.e2{stroke:#009e73}path.r3,line.r3,.e3{stroke:#cc79a7}"
    "path.r4,line.r4,.e4{stroke:#e69f00}path.r5,line.r5,.e5{stroke:#56b4e9}"
    "path.r6,line.r6,.e6{stroke:#8a7d00}path.r7,line.r7,.e7{stroke:#6e7781}"
    ".h1{font-size:26px;font-weight:600}.h2{font-size:16px;font-weight:600}"
    ".big{font-size:20px;font-weight:600}.th{font-size:12px;font-weight:600}"
    ".small{font-size:11px}.tiny{font-size:9px}"
    "text.on{fill:#fff}text.on.r3,text.on.r4,text.on.r5{fill:#1f2328}"
    "\n@media (prefers-color-scheme:dark){"
    ".card{fill:#11161d;stroke:#30363d}"
    ".tile{fill:#1a2028}"
    ".chip{fill:#262c36}"
    ".warn{fill:#4a2306;stroke:#ff8c42}"
    ".sheet{fill:#151b23;stroke:#6e7681}"
    ".back{fill:#1d242d}"
    ".pod{fill:#1a212a;stroke:#444c56}"
    ".ghost{fill:#161b22;stroke:#6e7681}"
    "path.ghost{fill:none}"
    ".edge{stroke:#6e7681}"
    ".mgmt{fill:#2a2140;stroke:#a98edb}"
    ".rule{stroke:#30363d}"
    ".mesh{stroke:#9aa4af}.band{fill:#9aa4af}"
    ".up{stroke:#e69f00}"
    ".faint{stroke:#6e7681}"
    ".other-plane{stroke:#9aa4af}"
    "rect.r0,circle.r0{fill:#3d9be0}rect.r1,circle.r1{fill:#ff8c42}"
    "rect.r2,circle.r2{fill:#2fc99a}rect.r3{fill:#dd93ba}rect.r4{fill:#f0b429}"
    "rect.r5{fill:#8fd0f7}rect.r6{fill:#d6c94a}rect.r7{fill:#a5afba}"
    "path.r0,line.r0,.e0{stroke:#3d9be0}path.r1,line.r1,.e1{stroke:#ff8c42}"
    "path.r2,line.r2,.e2{stroke:#2fc99a}path.r3,line.r3,.e3{stroke:#dd93ba}"
    "path.r4,line.r4,.e4{stroke:#f0b429}path.r5,line.r5,.e5{stroke:#8fd0f7}"
    "path.r6,line.r6,.e6{stroke:#d6c94a}path.r7,line.r7,.e7{stroke:#a5afba}"
    "text.on,text.on.r3,text.on.r4,text.on.r5{fill:#0d1117}"
    "}";

/* What heading and title both say. */
struct figures {
    uint64_t switches, cables;
    char cost[MYR_PLAN_MONEY_MAX];
};

/* Never cut off: a million or more is said in millions. */
static void say_cost(const struct myr_design *design, char ret[MYR_PLAN_MONEY_MAX])
{
    const struct myr_design_head *head = design->head;
    /* A sum of nothing is no price, nor is one without its main lines. */
    if (head->total_cents <= 0 || plan_figure_text(design, FIG_PRICED_LACK)[0]) {
        snprintf(ret, MYR_PLAN_MONEY_MAX, "not priced");
        return;
    }
    myr_plan_money(head->total_cents, myr_design_str(design, head->currency), ret);
}

/* Cables as they lie in the design, one for each piece that is pulled as one. */
static struct figures figures_of(const struct myr_design *design)
{
    struct figures figures = {.cables = design->cable_count};
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        if (net->topology) {
            figures.switches +=
                (uint64_t)net->leaf + net->spine + net->core + net->access + net->aggregation;
        }
    }
    say_cost(design, figures.cost);
    return figures;
}

/* The whole sum, and where the prices come from. The tile itself may round to millions. */
static const char *cost_tip(struct drawing *drawing)
{
    const struct myr_design_head *head = drawing->design->head;
    const char *book = myr_design_str(drawing->design, head->price_book);
    char number[DRAW_WORDS_BYTES];
    /* As the tile has it: a sum of nothing is no price. */
    if (head->total_cents <= 0) {
        return plan_draw_tip(drawing, "no line of the bill has a price");
    }
    const char *lacking = plan_figure_text(drawing->design, FIG_PRICED_LACK);
    if (lacking[0]) {
        return plan_draw_tip(drawing, "without a price: %s", lacking);
    }
    uint64_t whole = (uint64_t)head->total_cents / 100;
    return plan_draw_tip(drawing, "%s %s%s%s", myr_u64_grouped(whole, number),
                         myr_design_str(drawing->design, head->currency),
                         *book ? ", price book " : "", book);
}

/* Tiles stand side by side on the wide page, two in a row on the narrow one. */
static void draw_tile(struct drawing *drawing, uint32_t index, uint32_t count, const char *value,
                      const char *name, const char *tip)
{
    int32_t width = (PAGE_WIDTH - 2 * MARGIN - (int32_t)(count - 1) * PX(12)) / (int32_t)count;
    int32_t x = MARGIN + (int32_t)index * (width + PX(12)), y = PX(84);
    /* Two tiles side by side, with a gap of 8 pixels. */
    struct draw_area to = {DRAW_NARROW_X + (int32_t)(index % 2) * (DRAW_NARROW_INNER + PX(8)) / 2,
                           PX(66) + (int32_t)(index / 2) * PX(56), DRAW_NARROW_INNER / 2 - PX(4),
                           0};
    plan_draw_piece(drawing);
    myr_svg_rect(&drawing->svg, x, y, width, PX(58), "tile", tip);
    plan_draw_text_in(drawing, x + PX(14), y + PX(27), width - PX(20), MYR_SVG_START, "big", "%s",
                      value);
    plan_draw_text_in(drawing, x + PX(14), y + PX(46), width - PX(20), MYR_SVG_START, "small muted",
                      "%s", name);
    (void)plan_draw_piece_end(drawing, (struct draw_area){x, y, width, PX(58)}, to);
}

/* Servers of each group, in their order: "64 × h100-8gpu · 16 × a100-8gpu". */
static void put_kinds(struct drawing *drawing, const struct myr_design *design)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i < design->group_count; i++) {
        char number[DRAW_WORDS_BYTES];
        myr_buf_printf(&text, "%s%s \xC3\x97 %s", i ? " \xC2\xB7 " : "",
                       myr_u64_grouped(design->groups[i].servers, number),
                       myr_design_str(design, design->groups[i].server_part));
    }
    plan_draw_text_in(drawing, MARGIN, PX(67), PAGE_WIDTH - 2 * MARGIN, MYR_SVG_START,
                      "label muted", "%s", text.data);
}

/* Name, server, and a row of figures; returns the y below. */
static int32_t draw_heading(struct drawing *drawing, const struct figures *figures)
{
    const struct myr_design *design = drawing->design;
    const struct myr_design_head *head = design->head;
    const struct myr_network *compute = &design->networks[MYR_NET_COMPUTE];
    char text[DRAW_WORDS_BYTES], number[DRAW_WORDS_BYTES], scale[DRAW_WORDS_BYTES] = "";
    if (design->group_count == 0 && head->scale_up_gpus > 1) {
        snprintf(scale, sizeof(scale), " \xC2\xB7 %u GPUs in a scale-up domain, %s each",
                 head->scale_up_gpus, plan_draw_rate(head->scale_up_gbps, text));
    }
    plan_draw_piece(drawing);
    plan_draw_text_in(drawing, MARGIN, PX(44), PAGE_WIDTH - 2 * MARGIN, MYR_SVG_START, "h1", "%s",
                      myr_design_str(design, head->name));
    plan_draw_piece_below(drawing, (struct draw_area){MARGIN, PX(10), DRAW_NARROW_INNER, PX(42)});
    plan_draw_piece(drawing);
    /* Of groups the head has the first alone, which would be said of all. */
    if (design->group_count) {
        put_kinds(drawing, design);
    } else {
        plan_draw_text_in(drawing, MARGIN, PX(67), PAGE_WIDTH - 2 * MARGIN, MYR_SVG_START,
                          "label muted", "%s \xC2\xB7 %u \xC3\x97 %s a node%s",
                          myr_design_str(design, head->server_part), head->gpus_per_node,
                          myr_design_str(design, head->gpu_part), scale);
    }
    plan_draw_piece_below(drawing, (struct draw_area){MARGIN, PX(52), PX(520), PX(24)});
    /* One tile less without a compute network: it has the bisection. */
    uint32_t count = compute->topology ? 6 : 5, at = 0;
    bool racks = head->nodes_per_server > 1;
    snprintf(text, sizeof(text), racks ? "servers of %u nodes" : "servers", head->nodes_per_server);
    draw_tile(drawing, at++, count, myr_u64_grouped(head->servers, number), text, NULL);
    draw_tile(drawing, at++, count, myr_u64_grouped(head->gpus, number), "GPUs", NULL);
    draw_tile(drawing, at++, count, myr_u64_grouped(figures->switches, number), "switches", NULL);
    draw_tile(drawing, at++, count, myr_u64_grouped(figures->cables, number), "cables", NULL);
    if (compute->topology) {
        draw_tile(drawing, at++, count, plan_draw_rate(compute->bisection_gbps, text),
                  "compute bisection", "one direction, between two halves of the hosts");
    }
    uint32_t unpriced = 0;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        unpriced += design->bom[i].unit_cents < 0;
    }
    snprintf(text, sizeof(text), "cost");
    if (unpriced) {
        snprintf(text, sizeof(text), "cost, %u line%s unpriced", unpriced,
                 unpriced == 1 ? "" : "s");
    }
    draw_tile(drawing, at, count, figures->cost, text, cost_tip(drawing));
    /* The tiles place themselves on the narrow page; what comes next begins below them. */
    drawing->narrow.y = PX(66) + (int32_t)((count + 1) / 2) * PX(56);
    return PX(84 + 58) + GAP;
}

/* What a card holds: a network, or one of these. */
enum { CARD_INSIDE = MYR_NET_COUNT, CARD_LEGEND, CARD_COUNT };

static int32_t draw_contents(struct drawing *drawing, struct draw_area card, uint32_t what)
{
    return what == CARD_INSIDE   ? plan_draw_inside(drawing, card)
           : what == CARD_LEGEND ? plan_draw_legend(drawing, card)
                                 : plan_draw_network(drawing, card, (enum myr_net_id)what);
}

/* One or two cards side by side, of one height; returns the y of the next. */
static int32_t draw_cards(struct drawing *drawing, int32_t y, const uint32_t *what, uint32_t count)
{
    struct myr_buf *page = drawing->svg.buf;
    MYR_CLEANUP(myr_buf_done) struct myr_buf contents = {};
    int32_t width = (PAGE_WIDTH - 2 * MARGIN - (int32_t)(count - 1) * GAP) / (int32_t)count;
    int32_t bottom = y;
    /*
     * Frames lie behind their contents but have the height of the higher one, which is known after.
     */
    drawing->svg.buf = &contents;
    uint32_t first_frame = drawing->narrow.frames;
    for (uint32_t i = 0; i < count; i++) {
        /* On the narrow page even two cards of a row stand one below the other. */
        int32_t top = drawing->narrow.y + PX(6);
        drawing->narrow.y = top + PX(6);
        struct draw_area card = {MARGIN + (int32_t)i * (width + GAP), y, width, 0};
        int32_t below = draw_contents(drawing, card, what[i]);
        bottom = below > bottom ? below : bottom;
        drawing->narrow.y += PX(8);
        (void)plan_draw_frame(drawing, top);
    }
    drawing->svg.buf = page;
    for (uint32_t i = 0; i < count; i++) {
        char css[DRAW_WORDS_BYTES];
        snprintf(css, sizeof(css), "card f%u", first_frame + i);
        myr_svg_rect(&drawing->svg, MARGIN + (int32_t)i * (width + GAP), y, width, bottom - y, css,
                     NULL);
    }
    myr_buf_put(page, contents.data, contents.len);
    return bottom + GAP;
}

/*
 * Whole-page cards first, then the halves in pairs; a last one alone gets the whole width. Networks
 * that are absent, and the inside of nodes that differ, have none.
 */
static int32_t draw_all_cards(struct drawing *drawing, int32_t y)
{
    const struct myr_design *design = drawing->design;
    uint32_t halves[CARD_COUNT], half_count = 0;
    for (uint32_t what = 0; what < CARD_COUNT; what++) {
        bool network = what < MYR_NET_COUNT;
        if ((network && !design->networks[what].topology) ||
            (what == CARD_INSIDE && !design->inside_count)) {
            continue;
        }
        if (network && !plan_draw_is_half(design, (enum myr_net_id)what)) {
            y = draw_cards(drawing, y, &what, 1);
        } else {
            /* Kept for later: two of them share a row. */
            halves[half_count++] = what;
        }
    }
    for (uint32_t i = 0; i < half_count; i += 2) {
        y = draw_cards(drawing, y, halves + i, half_count - i < 2 ? 1 : 2);
    }
    return y;
}

/* What the drawing shows, for readers that speak. */
static void put_description(struct myr_svg *svg, const struct myr_design *design)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        if (!net->topology) {
            continue;
        }
        uint32_t low = net->access ? net->access : net->leaf;
        uint32_t high = net->access ? net->aggregation : net->spine;
        char rate[DRAW_WORDS_BYTES];
        myr_buf_printf(&text, "%s network, %s: %s, %s", myr_net_names[id],
                       myr_topology_name((enum myr_topology)net->topology),
                       MYR_COUNT(net->nodes_on_it, "host"),
                       MYR_COUNT(low, net->access ? "access switch" : "leaf switch"));
        if (high) {
            myr_buf_printf(&text, ", %s",
                           MYR_COUNT(high, net->access ? "aggregation switch" : "spine switch"));
        }
        if (net->core) {
            myr_buf_printf(&text, ", %s", MYR_COUNT(net->core, "core switch"));
        }
        myr_buf_printf(&text, ", bisection %s. ", plan_draw_rate(net->bisection_gbps, rate));
    }
    myr_buf_put_lit(&text, "Then the inside of a node and a legend.");
    myr_svg_desc(svg, text.data);
}

static void drawing_done(struct drawing *drawing)
{
    myr_buf_done(&drawing->tip);
    myr_buf_done(&drawing->name);
    myr_buf_done(&drawing->gutter);
    myr_buf_done(&drawing->narrow.rules);
}

/*
 * The body goes into a buffer first: the page's height, and the rules for a narrow screen, stand at
 * the head of the file.
 */
void myr_plan_svg(const struct myr_design *design, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    MYR_CLEANUP(drawing_done)
    struct drawing drawing = {.svg = {.buf = &page}, .design = design};
    struct figures figures = figures_of(design);
    int32_t y = draw_heading(&drawing, &figures);
    y = draw_all_cards(&drawing, y);

    char title[256];
    snprintf(title, sizeof(title), "%s: %s, %s, %s, %s, %s",
             myr_design_str(design, design->head->name), MYR_COUNT(design->head->servers, "server"),
             MYR_COUNT(design->head->gpus, "GPU"), MYR_COUNT(figures.switches, "switch"),
             MYR_COUNT(figures.cables, "cable"), figures.cost);
    struct myr_svg svg;
    myr_svg_begin_column(&svg, buf, (uint32_t)PAGE_WIDTH / 10, (uint32_t)(y + PX(12)) / 10, title);
    put_description(&svg, design);
    myr_svg_style(&svg, style);
    MYR_CLEANUP(myr_buf_done) struct myr_buf narrow = {};
    drawing.narrow.y += PX(12);
    plan_draw_narrow_style(&drawing, &narrow);
    myr_svg_style(&svg, narrow.data);
    myr_buf_put(buf, page.data, page.len);
    myr_svg_end(&svg);
}
