#include <stdio.h>

#include "drawing/drawing.h"

/*
 * The inside of a node as a tree: memory domains, PCIe switches below them, GPUs and NICs below
 * those, each in a column of its own; the scale-up switches (or direct links) under the GPUs.
 */

#define PADDING     PX(20)
#define PARTS_MAX   256
#define COLUMNS_MAX 44
#define BOX_HEIGHT  PX(22)

/* Parts are named by their positions in the design's list. */
struct inside {
    const struct myr_design *design;
    uint32_t count; /* parts looked at */
    uint32_t parent[PARTS_MAX];
    uint32_t order[COLUMNS_MAX]; /* parts that have a column, from the left */
    uint32_t columns, hidden;    /* parts with a column; those that found none */
    int32_t x[PARTS_MAX], left[PARTS_MAX], right[PARTS_MAX]; /* 0: not drawn */
    struct draw_area area;
    int32_t numa_y, pcie_y, item_y, scale_y, box; /* tops of the rows; width of a part's box */
};

static enum myr_inside_kind kind_of(const struct inside *inside, uint32_t part)
{
    return (enum myr_inside_kind)inside->design->insides[part].kind;
}

/* What other parts hang below. */
static bool is_root(enum myr_inside_kind kind)
{
    return kind == MYR_INSIDE_NUMA || kind == MYR_INSIDE_PCIE_SWITCH;
}

/* PCIe hangs below a memory domain or a switch; links between equals are no part of the tree. */
static void find_parents(struct inside *inside)
{
    const struct myr_design *design = inside->design;
    for (uint32_t i = 0; i < inside->count; i++) {
        inside->parent[i] = MYR_NONE;
    }
    /* Parts come before what hangs below them (plan/inside.c), so 'a' is the root. */
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        uint32_t a = design->inside_links[i].a, b = design->inside_links[i].b;
        if (a < inside->count && b < inside->count && is_root(kind_of(inside, a)) &&
            kind_of(inside, b) != MYR_INSIDE_NUMA) {
            inside->parent[b] = a;
        }
    }
}

/* What finds no column is counted, and not drawn. */
static void add_column(struct inside *inside, uint32_t part)
{
    if (inside->columns == COLUMNS_MAX) {
        inside->hidden++;
        return;
    }
    inside->order[inside->columns++] = part;
}

static bool is_compute_nic(const struct inside *inside, uint32_t part)
{
    return kind_of(inside, part) == MYR_INSIDE_NIC &&
           inside->design->insides[part].net == MYR_NET_COMPUTE;
}

/*
 * The parts below a root: GPU and compute NIC in turn, then the others; PCIe switches first. So GPU
 * k stands beside NIC k, as they are built. Goes down one level at most: a PCIe switch has no other
 * below it.
 */
static void add_columns(struct inside *inside, uint32_t root)
{
    uint32_t gpus[PARTS_MAX], nics[PARTS_MAX], gpu_count = 0, nic_count = 0;
    for (uint32_t i = 0; i < inside->count; i++) {
        if (inside->parent[i] != root) {
            continue;
        }
        if (kind_of(inside, i) == MYR_INSIDE_PCIE_SWITCH) {
            add_columns(inside, i);
        } else if (kind_of(inside, i) == MYR_INSIDE_GPU) {
            gpus[gpu_count++] = i;
        } else if (is_compute_nic(inside, i)) {
            nics[nic_count++] = i;
        }
    }
    for (uint32_t i = 0; i < gpu_count || i < nic_count; i++) {
        if (i < gpu_count) {
            add_column(inside, gpus[i]);
        }
        if (i < nic_count) {
            add_column(inside, nics[i]);
        }
    }
    for (uint32_t i = 0; i < inside->count; i++) {
        bool other = kind_of(inside, i) == MYR_INSIDE_DPU ||
                     (kind_of(inside, i) == MYR_INSIDE_NIC && !is_compute_nic(inside, i));
        if (inside->parent[i] == root && other) {
            add_column(inside, i);
        }
    }
}

/* Columns give the parts their places; a root spans what is below it. */
static void place_parts(struct inside *inside)
{
    int32_t columns = (int32_t)(inside->columns ? inside->columns : 1);
    int32_t pitch = inside->area.width / columns;
    /* At most 46 pixels, so that a small node is not drawn large; it then stands in the middle. */
    pitch = pitch < PX(46) ? pitch : PX(46);
    /* Boxes leave a fifth of their column free. */
    inside->box = pitch * 80 / 100 < PX(28) ? pitch * 80 / 100 : PX(28);
    int32_t start = inside->area.x + (inside->area.width - pitch * columns) / 2;
    for (uint32_t i = 0; i < inside->columns; i++) {
        uint32_t part = inside->order[i];
        int32_t x = start + pitch * (int32_t)i + pitch / 2;
        inside->x[part] = x;
        for (uint32_t up = inside->parent[part]; up != MYR_NONE; up = inside->parent[up]) {
            /*
             * Columns go from the left, so the first one met is the left edge and the last one the
             * right. 0 is no place on a page with a margin.
             */
            if (inside->left[up] == 0) {
                inside->left[up] = x;
            }
            inside->right[up] = x;
            inside->x[up] = (inside->left[up] + inside->right[up]) / 2;
        }
    }
}

/* By the kind of the part. */
static int32_t row_of(const struct inside *inside, uint32_t part)
{
    switch (kind_of(inside, part)) {
    case MYR_INSIDE_NUMA:
        return inside->numa_y;
    case MYR_INSIDE_PCIE_SWITCH:
        return inside->pcie_y;
    case MYR_INSIDE_SCALE_UP_SWITCH:
        return inside->scale_y;
    default:
        return inside->item_y;
    }
}

/* Straight down from a root to its parts: roots are wide enough for that. */
static void draw_tree(struct drawing *drawing, const struct inside *inside)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_design *design = inside->design;
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        const struct myr_inside_link *link = &design->inside_links[i];
        if (link->a >= inside->count || link->b >= inside->count || !inside->x[link->a] ||
            !inside->x[link->b] || !is_root(kind_of(inside, link->a))) {
            continue;
        }
        /* Processors are joined side by side, all else hangs below. */
        bool beside = kind_of(inside, link->b) == MYR_INSIDE_NUMA;
        int32_t half = BOX_HEIGHT / 2;
        int32_t from = row_of(inside, link->a) + (beside ? half : BOX_HEIGHT);
        int32_t to = row_of(inside, link->b) + (beside ? half : 0);
        char rate[DRAW_WORDS_BYTES];
        myr_svg_line(svg, beside ? inside->x[link->a] : inside->x[link->b], from,
                     inside->x[link->b], to, "mesh w3",
                     plan_draw_tip(drawing, "%s", plan_draw_rate(link->gbps, rate)));
    }
}

/* Letter, tint and number of a small part. */
static void draw_item(struct drawing *drawing, const struct inside *inside, uint32_t part)
{
    /* As the line below the card's title explains them. */
    static const char letters[MYR_NET_COUNT] = {'N', 'S', 'E', 'B'};
    static const char *const words[MYR_NET_COUNT] = {"compute NIC", "storage NIC", "service NIC",
                                                     "out-of-band NIC"};
    const struct myr_inside *item = &inside->design->insides[part];
    uint32_t rails = inside->design->networks[MYR_NET_COMPUTE].rails;
    char css[DRAW_WORDS_BYTES], text_css[DRAW_WORDS_BYTES] = "tiny";
    const char *word = item->kind == MYR_INSIDE_GPU   ? "GPU"
                       : item->kind == MYR_INSIDE_DPU ? "DPU"
                                                      : words[item->net];
    char letter = item->kind == MYR_INSIDE_GPU   ? 'G'
                  : item->kind == MYR_INSIDE_DPU ? 'D'
                                                 : letters[item->net];
    snprintf(css, sizeof(css), "%s",
             item->kind == MYR_INSIDE_GPU   ? "spine"
             : item->net == MYR_NET_STORAGE ? "storage"
                                            : "ethernet");
    if (is_compute_nic(inside, part)) {
        /* NICs are dealt to rails in turn. */
        uint32_t rail = rails > 1 ? item->index % rails : 0;
        snprintf(css, sizeof(css), "r%u", rail % DRAW_RAIL_HUES);
        snprintf(text_css, sizeof(text_css), "tiny on r%u", rail % DRAW_RAIL_HUES);
    }
    myr_svg_rect(&drawing->svg, inside->x[part] - inside->box / 2, inside->item_y, inside->box,
                 BOX_HEIGHT, css,
                 plan_draw_tip(drawing, "%s %u, memory domain %u", word, item->index, item->numa));
    plan_draw_text_in(drawing, inside->x[part], inside->item_y + PX(14), inside->box,
                      MYR_SVG_MIDDLE, text_css, "%c%u", letter, item->index);
}

/* Roots are as wide as what is below them, which shows at a glance who shares what. */
static void draw_parts(struct drawing *drawing, const struct inside *inside)
{
    for (uint32_t i = 0; i < inside->count; i++) {
        enum myr_inside_kind kind = kind_of(inside, i);
        if (!inside->x[i] || kind == MYR_INSIDE_SCALE_UP_SWITCH) {
            continue;
        }
        if (!is_root(kind)) {
            draw_item(drawing, inside, i);
            continue;
        }
        bool numa = kind == MYR_INSIDE_NUMA;
        int32_t left = inside->left[i] - inside->box / 2,
                right = inside->right[i] + inside->box / 2;
        uint32_t index = inside->design->insides[i].index;
        myr_svg_rect(&drawing->svg, left, row_of(inside, i), right - left, BOX_HEIGHT,
                     numa ? "host" : "mgmt",
                     plan_draw_tip(drawing, numa ? "memory domain %u" : "PCIe switch %u", index));
        plan_draw_text_in(drawing, inside->x[i], row_of(inside, i) + PX(15), right - left,
                          MYR_SVG_MIDDLE, numa ? "small" : "tiny", numa ? "NUMA %u" : "PCIe %u",
                          index);
    }
}

/*
 * Scale-up switches under the GPUs, each joined to all of them. They are spread over the whole
 * width, whatever the columns above are. Returns how many there are.
 */
static uint32_t draw_scale_switches(struct drawing *drawing, struct inside *inside)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_design *design = inside->design;
    uint32_t switches = 0, seen = 0;
    for (uint32_t i = 0; i < inside->count; i++) {
        switches += kind_of(inside, i) == MYR_INSIDE_SCALE_UP_SWITCH;
    }
    for (uint32_t i = 0; i < inside->count; i++) {
        if (kind_of(inside, i) == MYR_INSIDE_SCALE_UP_SWITCH) {
            inside->x[i] = inside->area.x +
                           (int32_t)(inside->area.width * (2 * seen + 1) / (2 * (int64_t)switches));
            seen++;
        }
    }
    for (uint32_t part = 0; part < inside->count; part++) {
        if (kind_of(inside, part) != MYR_INSIDE_SCALE_UP_SWITCH) {
            continue;
        }
        myr_svg_path_begin(svg);
        for (uint32_t i = 0; i < design->inside_link_count; i++) {
            const struct myr_inside_link *link = &design->inside_links[i];
            if (link->a == part && link->b < inside->count && inside->x[link->b]) {
                myr_svg_path_move(svg, inside->x[part], inside->scale_y);
                myr_svg_path_line(svg, inside->x[link->b], inside->item_y + BOX_HEIGHT);
            }
        }
        myr_svg_path_end(svg, "mesh w2 r2", "every GPU to every scale-up switch");
        /* Many switches stand close: the gap shrinks with them, so that boxes stay boxes. */
        int32_t pitch = inside->area.width / (int32_t)switches;
        int32_t width = pitch - (pitch / 5 < PX(12) ? pitch / 5 : PX(12));
        width = width < PX(110) ? width : PX(110);
        myr_svg_rect(svg, inside->x[part] - width / 2, inside->scale_y, width, BOX_HEIGHT, "core",
                     NULL);
        plan_draw_text_in(drawing, inside->x[part], inside->scale_y + PX(15), width, MYR_SVG_MIDDLE,
                          "tiny id", width > PX(80) ? "scale-up %u" : "%u",
                          design->insides[part].index);
    }
    return switches;
}

/*
 * Without switches inside: GPUs joined to each other, or to switches outside the node. Arcs below
 * the row of GPUs, or straight lines to a bar.
 */
static void draw_scale_links(struct drawing *drawing, const struct inside *inside)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_design *design = inside->design;
    const struct myr_design_head *head = design->head;
    bool outside = head->nodes_per_server > 1;
    myr_svg_path_begin(svg);
    /* In a server of several nodes the switches are outside: a bar stands for them. */
    for (uint32_t i = 0; i < design->inside_link_count && !outside; i++) {
        const struct myr_inside_link *link = &design->inside_links[i];
        if (link->a < inside->count && link->b < inside->count && inside->x[link->a] &&
            inside->x[link->b] && kind_of(inside, link->a) == MYR_INSIDE_GPU) {
            int32_t from = inside->x[link->a], to = inside->x[link->b];
            int32_t y = inside->item_y + BOX_HEIGHT, drop = (to - from) / 3;
            myr_svg_path_move(svg, from, y);
            /* Long links would hang too far down. */
            myr_svg_path_curve(svg, (from + to) / 2, y + (drop < PX(120) ? drop : PX(120)), to, y);
        }
    }
    for (uint32_t i = 0; i < inside->count && outside; i++) {
        if (kind_of(inside, i) == MYR_INSIDE_GPU && inside->x[i]) {
            myr_svg_path_move(svg, inside->x[i], inside->item_y + BOX_HEIGHT);
            myr_svg_path_line(svg, inside->x[i], inside->scale_y);
        }
    }
    myr_svg_path_end(svg, "mesh w3 r2", "scale-up links");
    if (outside) {
        myr_svg_rect(svg, inside->area.x, inside->scale_y, inside->area.width, BOX_HEIGHT, "core",
                     NULL);
        plan_draw_text_in(drawing, inside->area.x + inside->area.width / 2,
                          inside->scale_y + PX(15), inside->area.width, MYR_SVG_MIDDLE, "small",
                          "scale-up switches: %u GPUs of %u nodes", head->scale_up_gpus,
                          head->nodes_per_server);
    }
}

/* All parts are counted, also those that are not drawn. */
static void label_rows(struct drawing *drawing, const struct inside *inside, int32_t x,
                       uint32_t switches)
{
    const struct myr_design *design = inside->design;
    uint32_t counts[MYR_INSIDE_KIND_COUNT] = {}, pcie_gbps = 0;
    for (uint32_t i = 0; i < inside->count; i++) {
        counts[kind_of(inside, i)]++;
    }
    /* The first link that ends at a GPU is its PCIe link: it comes before those of scale-up. */
    for (uint32_t i = 0; i < design->inside_link_count && !pcie_gbps; i++) {
        uint32_t b = design->inside_links[i].b;
        if (b < inside->count && kind_of(inside, b) == MYR_INSIDE_GPU) {
            pcie_gbps = design->inside_links[i].gbps;
        }
    }
    struct draw_net gutter = {.gutter = {.x = x, .width = PX(112)}};
    char text[DRAW_WORDS_BYTES], rate[DRAW_WORDS_BYTES];
    /* Only the gutter of this view is used. */
    plan_draw_tier(drawing, &gutter, inside->numa_y + PX(10), "Processors",
                   plan_draw_plural(counts[MYR_INSIDE_NUMA], "NUMA domain", text), "");
    if (counts[MYR_INSIDE_PCIE_SWITCH]) {
        plan_draw_tier(drawing, &gutter, inside->pcie_y + PX(10), "PCIe",
                       plan_draw_plural(counts[MYR_INSIDE_PCIE_SWITCH], "switch", text),
                       plan_draw_rate(pcie_gbps, rate));
    }
    plan_draw_plural(counts[MYR_INSIDE_NIC], "NIC", rate);
    plan_draw_tier(drawing, &gutter, inside->item_y + PX(10), "GPUs and NICs",
                   plan_draw_plural(counts[MYR_INSIDE_GPU], "GPU", text), rate);
    if (design->head->scale_up_gpus > 1) {
        char each[DRAW_WORDS_BYTES];
        snprintf(each, sizeof(each), "%s a GPU", plan_draw_rate(design->head->scale_up_gbps, rate));
        bool outside = design->head->nodes_per_server > 1;
        plan_draw_plural(switches, "switch", text);
        plan_draw_tier(drawing, &gutter, inside->scale_y + PX(6), "Scale-up",
                       switches  ? text
                       : outside ? "beyond the node"
                                 : "GPU to GPU",
                       each);
    }
}

int32_t plan_draw_inside(struct drawing *drawing, struct draw_area card)
{
    const struct myr_design *design = drawing->design;
    struct inside inside = {.design = design, .count = design->inside_count};
    /* More parts than there is room for are not looked at; links to them are skipped. */
    inside.count = inside.count > PARTS_MAX ? PARTS_MAX : inside.count;
    int32_t x = card.x + PADDING, top = card.y + PX(86);
    inside.area = (struct draw_area){x + PX(116), top, card.width - 2 * PADDING - PX(116), 0};
    plan_draw_piece(drawing);
    myr_svg_text(&drawing->svg, x, card.y + PX(28), MYR_SVG_START, "h2", "Inside a node");
    plan_draw_chip(drawing, x + plan_draw_width("Inside a node", 17) + PX(8), card.y + PX(13),
                   "chip", myr_design_str(design, design->head->server_part));
    plan_draw_text_in(drawing, x, card.y + PX(52), card.width - 2 * PADDING, MYR_SVG_START,
                      "label muted", "%s",
                      "G GPU \xC2\xB7 N compute \xC2\xB7 S storage \xC2\xB7 E service \xC2\xB7 "
                      "B out-of-band \xC2\xB7 D DPU");
    plan_draw_piece_below(drawing, (struct draw_area){x, card.y + PX(8), PX(400), PX(56)});
    inside.numa_y = top;
    inside.pcie_y = top + PX(62);
    inside.item_y = top + PX(124);
    inside.scale_y = top + PX(206);
    find_parents(&inside);
    for (uint32_t i = 0; i < inside.count; i++) {
        if (kind_of(&inside, i) == MYR_INSIDE_NUMA) {
            add_columns(&inside, i);
        }
    }
    place_parts(&inside);
    plan_draw_piece(drawing);
    /* Scale-up lines first: they lie behind the tree and its boxes. */
    uint32_t switches = draw_scale_switches(drawing, &inside);
    if (!switches && design->head->scale_up_gpus > 1) {
        draw_scale_links(drawing, &inside);
    }
    draw_tree(drawing, &inside);
    draw_parts(drawing, &inside);
    label_rows(drawing, &inside, x, switches);
    plan_draw_gutter(drawing);
    bool scale_up = design->head->scale_up_gpus > 1;
    int32_t bottom = (scale_up ? inside.scale_y : inside.item_y) + BOX_HEIGHT + PADDING;
    plan_draw_piece_below(drawing, (struct draw_area){x, top - PX(14), card.width - 2 * PADDING,
                                                      bottom - top + PX(14)});
    return bottom;
}
