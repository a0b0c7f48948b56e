#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Rail-only: columns that never meet, one for each rail, over one row of servers. What joins the
 * rails is inside the servers, so the servers are drawn once, across all columns.
 */

#define SWITCH_HEIGHT PX(22)
#define COLUMNS_MAX   8
/* A column is narrow: of a tier four at most, or three and a box for the rest. */
#define COLUMN_MARKS 4

/* All columns are alike, so one set of heights serves them. */
struct columns {
    const struct draw_net *view;
    struct draw_row rails;                         /* one mark a column */
    uint32_t unit_leaves, unit_spines, unit_cores; /* switches of one rail in one plane */
    int32_t width, core_y, spine_y, leaf_y, host_y, bottom;
};

/* Heights from the top: cores, spines and leaves where the fabric has such tiers, then hosts. */
static struct columns columns_of(const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    /* Of all planes; one plane is drawn, with net->units columns. */
    uint32_t units = net->units * net->planes;
    struct columns columns = {.view = view,
                              .unit_leaves = net->leaf / units,
                              .unit_spines = net->spine / units,
                              .unit_cores = net->core / units};
    plan_draw_place(&columns.rails, view->canvas.x, view->canvas.width, net->units, COLUMNS_MAX);
    columns.width = view->canvas.width / (int32_t)columns.rails.count - PX(10);
    int32_t y = view->canvas.y + PX(26);
    columns.core_y = y;
    y += net->tiers == 3 ? SWITCH_HEIGHT + PX(84) : 0;
    columns.spine_y = y;
    y += net->tiers >= 2 ? SWITCH_HEIGHT + PX(84) : 0;
    columns.leaf_y = y;
    columns.host_y = y + SWITCH_HEIGHT + PX(70);
    columns.bottom = columns.host_y + PX(70);
    return columns;
}

/*
 * A tier of one rail's fabric. Rails follow each other in the design, plane by plane. 'first' is
 * the tier's first device, 'unit_count' how many of it a rail has.
 */
static struct draw_row row_of(const struct columns *columns, uint32_t first, uint32_t unit_count,
                              uint32_t unit, int32_t y, const char *css)
{
    int32_t x = columns->rails.marks[unit].x - columns->width / 2;
    struct draw_row row = {
        .first_device = first + unit * unit_count, .y = y, .height = SWITCH_HEIGHT, .css = css};
    plan_draw_place(&row, x + PX(4), columns->width - PX(8), unit_count, COLUMN_MARKS);
    return row;
}

/*
 * The fabric of one rail, and the rail's NIC in the servers below. The frame has the rail's hue,
 * and so have its links and NICs.
 */
static void draw_column(struct drawing *drawing, const struct columns *columns, uint32_t unit)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_network *net = columns->view->net;
    int32_t x = columns->rails.marks[unit].x, top = columns->core_y - PX(24);
    char css[DRAW_WORDS_BYTES];
    snprintf(css, sizeof(css), "pod e%u", unit % DRAW_RAIL_HUES);
    myr_svg_rect(svg, x - columns->width / 2, top, columns->width,
                 columns->leaf_y + SWITCH_HEIGHT + PX(10) - top, css,
                 plan_draw_tip(drawing, "rail %u: a fabric of its own", unit));
    plan_draw_text(drawing, x, top + PX(15), MYR_SVG_MIDDLE, "th", "rail %u", unit);
    struct draw_row leaves =
        row_of(columns, net->first_leaf, columns->unit_leaves, unit, columns->leaf_y, "leaf");
    if (net->tiers >= 2) {
        struct draw_row spines = row_of(columns, net->first_spine, columns->unit_spines, unit,
                                        columns->spine_y, "spine");
        plan_draw_mesh(drawing, &leaves, &spines);
        if (net->tiers == 3) {
            struct draw_row cores = row_of(columns, net->first_core, columns->unit_cores, unit,
                                           columns->core_y, "core");
            plan_draw_mesh(drawing, &spines, &cores);
            plan_draw_boxes(drawing, &cores);
        }
        plan_draw_boxes(drawing, &spines);
    }
    plan_draw_boxes(drawing, &leaves);
    myr_svg_path_begin(svg);
    for (uint32_t i = 0; i < leaves.count; i++) {
        myr_svg_path_move(svg, x, columns->host_y + PX(8));
        myr_svg_path_line(svg, leaves.marks[i].x, columns->leaf_y + SWITCH_HEIGHT);
    }
    snprintf(css, sizeof(css), "rail r%u", unit % DRAW_RAIL_HUES);
    myr_svg_path_end(svg, css,
                     plan_draw_tip(drawing, "NIC %u of every server to rail %u", unit, unit));
    snprintf(css, sizeof(css), "r%u", unit % DRAW_RAIL_HUES);
    myr_svg_rect(svg, x - PX(9), columns->host_y + PX(6), PX(18), PX(18), css, NULL);
    snprintf(css, sizeof(css), "tiny on r%u", unit % DRAW_RAIL_HUES);
    plan_draw_text(drawing, x, columns->host_y + PX(18), MYR_SVG_MIDDLE, css, "%u", unit);
}

/*
 * All servers as one pile: each has a NIC on every rail. Only nodes on the compute network: groups
 * of servers may hang elsewhere.
 */
static void draw_servers(struct drawing *drawing, const struct columns *columns)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_design_head *head = drawing->design->head;
    const struct draw_area *canvas = &columns->view->canvas;
    uint32_t nodes = head->nodes;
    for (uint32_t i = 0; i < drawing->design->group_count; i++) { /* those that hang elsewhere */
        const struct myr_server_group *group = &drawing->design->groups[i];
        nodes -= group->networks & 1U << MYR_NET_COMPUTE ? 0 : group->nodes;
    }
    struct draw_hosts hosts = {.devices = nodes, .kinds = {[MYR_DEVICE_NODE] = nodes}};
    struct draw_area box = {canvas->x, columns->host_y, canvas->width - PX(4), PX(58)};
    plan_draw_pile(drawing, box, &hosts, "every server has a NIC on every rail");
    /* The scale-up links, as a bar that all NICs of a server stand on. */
    myr_svg_rect(svg, box.x + PX(10), box.y + PX(30), box.width - PX(20), PX(7), "core",
                 "the only way between rails");
    char count[DRAW_WORDS_BYTES], rate[DRAW_WORDS_BYTES];
    plan_draw_text_in(drawing, box.x + box.width / 2, box.y + PX(51), box.width, MYR_SVG_MIDDLE,
                      "small", "%s, each with scale-up links of %s a GPU between its rails",
                      plan_draw_plural(nodes, "node", count),
                      plan_draw_rate(head->scale_up_gbps, rate));
}

/* Numbers of all rails together, and of one. */
static void label_columns(struct drawing *drawing, const struct columns *columns)
{
    const struct draw_net *view = columns->view;
    const struct myr_network *net = view->net;
    const struct myr_design *design = drawing->design;
    char count[DRAW_WORDS_BYTES], text[DRAW_WORDS_BYTES], pairs[DRAW_WORDS_BYTES];
    if (net->tiers == 3) {
        snprintf(text, sizeof(text), "%u a rail", columns->unit_cores);
        plan_draw_tier(drawing, view, columns->core_y + SWITCH_HEIGHT / 2, "Core",
                       plan_draw_plural(net->core, "core", count), text);
        plan_draw_pairs(design, net->first_spine, net->first_core, net->group_cores, pairs);
        plan_draw_layer(drawing, view, (columns->core_y + SWITCH_HEIGHT + columns->spine_y) / 2,
                        MYR_LAYER_CORE, pairs, net->oversubscription_milli[1]);
    }
    if (net->tiers >= 2) {
        snprintf(text, sizeof(text), "%u a rail \xC2\xB7 %u down", columns->unit_spines,
                 net->spine_down);
        plan_draw_tier(drawing, view, columns->spine_y + SWITCH_HEIGHT / 2, "Spine",
                       plan_draw_plural(net->spine, "spine", count), text);
        plan_draw_pairs(design, net->first_leaf, net->first_spine, net->pod_spines, pairs);
        plan_draw_layer(drawing, view, (columns->spine_y + SWITCH_HEIGHT + columns->leaf_y) / 2,
                        MYR_LAYER_FABRIC, pairs, net->oversubscription_milli[0]);
    }
    snprintf(text, sizeof(text), "%u a rail \xC2\xB7 %u down", columns->unit_leaves,
             net->leaf_down);
    plan_draw_tier(drawing, view, columns->leaf_y + SWITCH_HEIGHT / 2, "Leaf",
                   plan_draw_plural(net->leaf, "leaf", count), text);
    plan_draw_layer(drawing, view, (columns->leaf_y + SWITCH_HEIGHT + columns->host_y) / 2,
                    MYR_LAYER_HOST, NULL, 0);
    snprintf(text, sizeof(text), "%u \xC3\x97 %uG each",
             net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0, net->host_gbps);
    plan_draw_tier(drawing, view, columns->host_y + PX(29), "Hosts",
                   plan_draw_plural(net->nodes_on_it, "node", count), text);
}

int32_t plan_draw_rail_only(struct drawing *drawing, const struct draw_net *view)
{
    struct columns columns = columns_of(view);
    /* Servers first: the NICs of the columns lie on them. */
    draw_servers(drawing, &columns);
    for (uint32_t i = 0; i < columns.rails.count; i++) {
        if (columns.rails.marks[i].index != MYR_NONE) {
            draw_column(drawing, &columns, i);
            continue;
        }
        char label[DRAW_WORDS_BYTES];
        snprintf(label, sizeof(label), "+%u rails", columns.rails.rest);
        struct draw_area at = {columns.rails.marks[i].x - columns.width / 2,
                               columns.core_y - PX(24), columns.width - PX(6), 0};
        at.height = columns.leaf_y + SWITCH_HEIGHT + PX(10) - at.y;
        plan_draw_rest(drawing, at, label, "rails like the ones drawn");
    }
    label_columns(drawing, &columns);
    return columns.bottom;
}
