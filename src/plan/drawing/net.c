#include <stdio.h>

#include "drawing/drawing.h"

/*
 * The card of one network: heading, drawing, table. Which of the drawings is made follows from the
 * topology; heading and table are the same for all. Numbers are those of the finished design.
 */

#define PADDING   PX(20)
#define TABLE_ROW PX(18)

static const char *const titles[MYR_NET_COUNT] = {"Compute network", "Storage network",
                                                  "Service network", "Out-of-band network"};

/* So many leaves, or spines, half a page shows one by one. */
#define HALF_LEAVES 10

/* Small enough for half a page: an access network, or a small fabric besides the main one. */
bool plan_draw_is_half(const struct myr_design *design, enum myr_net_id id)
{
    const struct myr_network *net = &design->networks[id];
    bool tiers = net->topology == MYR_TOPOLOGY_CLOS || net->topology == MYR_TOPOLOGY_RAIL;
    return net->topology == MYR_TOPOLOGY_ACCESS ||
           (id != MYR_NET_COMPUTE && tiers && net->tiers < 3 && net->planes == 1 &&
            net->leaf <= HALF_LEAVES && net->spine <= HALF_LEAVES);
}

/* Whether one cage of a node carries ports of several planes. Told by the first node. */
static bool is_twin(const struct myr_design *design, enum myr_net_id id)
{
    const struct myr_devtype *type =
        &design->devtypes[design->device_type[design->head->first_node]];
    for (uint32_t i = 0; i < type->group_count; i++) {
        if (type->groups[i].net == id && type->groups[i].per_cage > 1) {
            return true;
        }
    }
    return false;
}

/* Pods that share less than they have inside: a job wants to stay in one. */
static bool is_islands(const struct myr_network *net)
{
    return net->tiers == 3 && net->oversubscription_milli[1] > 1000;
}

/* One sentence on how this topology is wired. Long ones are shortened by whoever draws them. */
static void say_rule(const struct myr_design *design, const struct draw_net *view, char *ret,
                     size_t size)
{
    const struct myr_network *net = view->net;
    char ratio[DRAW_WORDS_BYTES];
    switch (net->topology) {
    case MYR_TOPOLOGY_RAIL:
        if (is_islands(net)) {
            snprintf(ret, size,
                     "NIC k of a server goes to leaf k of its rail group. Full speed inside a pod, "
                     "%s between pods: keep a job in one pod.",
                     plan_draw_ratio(net->oversubscription_milli[1], ratio));
            return;
        }
        snprintf(ret, size,
                 "NIC k of a server goes to leaf k of its rail group, so GPUs of one rail are one "
                 "switch apart.%s",
                 net->planes == 1            ? ""
                 : is_twin(design, view->id) ? " One cage of a NIC feeds all planes."
                                             : " Each NIC has a port in every plane.");
        return;
    case MYR_TOPOLOGY_RAIL_ONLY:
        snprintf(ret, size,
                 "Each rail is a fabric of its own; traffic between rails crosses the scale-up "
                 "links inside a server.");
        return;
    case MYR_TOPOLOGY_MIDDLE_OF_RACK:
        snprintf(ret, size,
                 "A leaf in the middle of each rack takes all NICs of its servers%s; every leaf "
                 "reaches every spine.",
                 net->copper_cables ? ", by short copper" : "");
        return;
    case MYR_TOPOLOGY_DRAGONFLY:
        snprintf(ret, size,
                 "The switches of a group are all joined; every two groups share links. Switches "
                 "are at most %s apart.",
                 plan_draw_plural(net->diameter_hops, "hop", ratio));
        return;
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        snprintf(ret, size,
                 "A group is leaves and spines, fully meshed; the spines join every two groups.");
        return;
    case MYR_TOPOLOGY_TORUS:
        snprintf(
            ret, size,
            "Every switch is joined to two neighbours in each dimension; the ends wrap round.");
        return;
    case MYR_TOPOLOGY_ACCESS:
        snprintf(ret, size,
                 plan_draw_homes(net) == 2 ? "Each host has a port on both switches of its pair."
                                           : "Hosts fill the access switches in order.");
        return;
    default:
        snprintf(ret, size,
                 net->tiers > 1 ? "Hosts fill the leaves in order; every leaf reaches every spine%s"
                                : "One switch takes all hosts%s",
                 net->tiers == 3 ? " of its pod." : ".");
        return;
    }
}

/* Its part is the one that the card names. */
static uint32_t first_switch(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_ACCESS ? net->first_access : net->first_leaf;
}

/* Title, what sets this network apart in a few words, and the sentence. */
static void draw_heading(struct drawing *drawing, struct draw_area card,
                         const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    const struct myr_design *design = drawing->design;
    char text[256];
    int32_t left = card.x + PADDING, x = left;
    plan_draw_piece(drawing);
    myr_svg_text(&drawing->svg, x, card.y + PX(28), MYR_SVG_START, "h2", titles[view->id]);
    /* Titles are bold, so they are measured as a larger font. */
    x += plan_draw_width(titles[view->id], 19) + PX(4);
    x = plan_draw_chip(drawing, x, card.y + PX(13), "chip",
                       net->topology == MYR_TOPOLOGY_RAIL
                           ? "rail-optimised"
                           : myr_topology_name((enum myr_topology)net->topology));
    if (!view->half && net->tiers > 1) {
        snprintf(text, sizeof(text), "%u tiers", net->tiers);
        x = plan_draw_chip(drawing, x, card.y + PX(13), "chip", text);
    }
    if (net->planes > 1) {
        snprintf(text, sizeof(text), "%u planes", net->planes);
        x = plan_draw_chip(drawing, x, card.y + PX(13), "chip", text);
    }
    if (is_islands(net)) {
        x = plan_draw_chip(drawing, x, card.y + PX(13), "chip warn", "islands");
    }
    if (net->fill == MYR_FILL_DENSE) {
        x = plan_draw_chip(drawing, x, card.y + PX(13), "chip", "dense fill");
    }
    const struct myr_devtype *type = &design->devtypes[design->device_type[first_switch(net)]];
    snprintf(text, sizeof(text), "%s", myr_design_str(design, type->part));
    /* The part is last in the row and takes what room is left. */
    plan_draw_fit(text, sizeof(text), 11, card.x + card.width - PADDING - x - PX(14));
    x = plan_draw_chip(drawing, x, card.y + PX(13), "chip", text);
    plan_draw_piece_below(drawing, (struct draw_area){left, card.y + PX(8), x - left, PX(32)});
    /*
     * A piece of its own: scaled by its own width, the sentence stays readable beside the short
     * title.
     */
    say_rule(design, view, text, sizeof(text));
    int32_t width = plan_draw_width(text, 12) + PX(4), most = card.width - 2 * PADDING;
    plan_draw_piece(drawing);
    plan_draw_text_in(drawing, left, card.y + PX(52), most, MYR_SVG_START, "label muted", "%s",
                      text);
    plan_draw_piece_below(
        drawing, (struct draw_area){left, card.y + PX(40), width < most ? width : most, PX(24)});
}

/* The table beside the drawing, filled from the top. */
struct table {
    struct drawing *drawing;
    struct draw_area at;
    int32_t y;
};

/* A gap above it, but for the first. */
static void put_head(struct table *table, const char *text)
{
    table->y += table->y > table->at.y ? PX(8) : 0;
    plan_draw_text(table->drawing, table->at.x, table->y + PX(13), MYR_SVG_START, "th", "%s", text);
    table->y += TABLE_ROW;
    myr_svg_line(&table->drawing->svg, table->at.x, table->y, table->at.x + table->at.width,
                 table->y, "rule", NULL);
}

static void put_row(struct table *table, const char *name, const char *value)
{
    int32_t right = table->at.x + table->at.width;
    plan_draw_text(table->drawing, table->at.x, table->y + PX(14), MYR_SVG_START, "small", "%s",
                   name);
    plan_draw_text(table->drawing, right, table->y + PX(14), MYR_SVG_END, "small", "%s", value);
    table->y += TABLE_ROW;
}

/* A number that is zero says nothing: no row. */
static void put_count(struct table *table, const char *name, uint64_t count)
{
    char number[DRAW_WORDS_BYTES];
    if (count) {
        put_row(table, name, myr_u64_grouped(count, number));
    }
}

/*
 * How the number of switches came about: the rule and the numbers behind it, as a tooltip. An
 * invisible shape over the rows carries it.
 */
static void put_switch_rule(struct table *table, enum myr_net_id id, int32_t from)
{
    const struct myr_design *design = table->drawing->design;
    const struct myr_network *net = &design->networks[id];
    uint32_t first = first_switch(net);
    uint32_t part = design->devtypes[design->device_type[first]].part;
    const struct myr_bom_row *found = NULL;
    for (uint32_t i = 0; i < design->bom_count && !found; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        bool here = strcmp(myr_design_str(design, row->system), myr_net_names[id]) == 0;
        /* The bill names parts by their order numbers; the first row with switches is the one. */
        if (here && strstr(myr_design_str(design, row->name), "switch")) {
            found = row;
        }
    }
    myr_svg_rect(&table->drawing->svg, table->at.x, from, table->at.width, table->y - from, "hit",
                 plan_draw_tip(table->drawing, "%s: %s\n%s", myr_design_str(design, part),
                               found ? myr_design_str(design, found->rule) : "",
                               found ? myr_design_str(design, found->inputs) : ""));
}

/* Tiers from the top, as they are drawn. */
static void put_switches(struct table *table, enum myr_net_id id)
{
    const struct myr_network *net = &table->drawing->design->networks[id];
    bool routers = net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_TORUS;
    int32_t from = table->y;
    put_head(table, "Switches");
    put_count(table, "core", net->core);
    put_count(table, "spine", net->spine);
    put_count(table, routers ? "router" : "leaf", net->leaf);
    put_count(table, "aggregation", net->aggregation);
    put_count(table, "access", net->access);
    /* With one kind of switch the sum would repeat the row above. */
    if (net->spine + net->aggregation > 0) {
        put_count(table, "all",
                  (uint64_t)net->core + net->spine + net->leaf + net->aggregation + net->access);
    }
    put_switch_rule(table, id, from);
}

/* Names of layers as the topology calls them; a layer that it has not counts 0 and gets no row. */
static void put_cables(struct table *table, const struct myr_network *net)
{
    static const char *const clos[] = {"host to leaf", "leaf to spine", "spine to core", "", ""};
    static const char *const access[] = {"host to access", "access to aggr.", "aggr. to core", "",
                                         ""};
    static const char *const flat[] = {"host to switch", "leaf to spine", "", "inside a group",
                                       "between groups"};
    static const char *const torus[] = {"host to switch", "", "", "between switches", ""};
    /* Dragonflies have groups of switches, which fabrics in tiers have not. */
    const char *const *names = net->topology == MYR_TOPOLOGY_ACCESS  ? access
                               : net->topology == MYR_TOPOLOGY_TORUS ? torus
                               : net->groups && net->group_switches  ? flat
                                                                     : clos;
    uint64_t total = 0;
    put_head(table, "Cables");
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        put_count(table, names[layer], net->cables[layer]);
        total += net->cables[layer];
    }
    put_count(table, "all", total);
    put_count(table, "of them copper", net->copper_cables);
}

/* Returns the y below. */
static int32_t draw_table(struct drawing *drawing, struct draw_area at, const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    struct table table = {drawing, at, at.y};
    char text[DRAW_WORDS_BYTES];
    put_switches(&table, view->id);
    put_cables(&table, net);
    put_head(&table, "Figures");
    put_row(&table, "bisection", plan_draw_rate(net->bisection_gbps, text));
    put_row(&table, "diameter", plan_draw_plural(net->diameter_hops, "hop", text));
    put_count(&table, "host ports", net->host_ports);
    /* Only uneven fills have such pairs. */
    if (net->worst_pair_gbps < net->full_pair_gbps) {
        put_row(&table, "worst pair", plan_draw_rate(net->worst_pair_gbps, text));
        put_row(&table, "even pair", plan_draw_rate(net->full_pair_gbps, text));
    }
    return table.y;
}

/* Gutter and table: at the sides of the drawing, or below it side by side. */
static int32_t draw_sides(struct drawing *drawing, const struct draw_net *view,
                          struct draw_area table, int32_t bottom)
{
    struct draw_area gutter = {view->gutter.x, table.y, view->gutter.width, bottom - table.y};
    struct draw_area left = {DRAW_NARROW_X, drawing->narrow.y, DRAW_NARROW_INNER * 48 / 100, 0};
    struct draw_area right = {DRAW_NARROW_X + DRAW_NARROW_INNER / 2, drawing->narrow.y,
                              DRAW_NARROW_INNER / 2, 0};
    plan_draw_piece(drawing);
    plan_draw_gutter(drawing);
    int32_t high = plan_draw_piece_end(drawing, gutter, left);
    plan_draw_piece(drawing);
    int32_t table_bottom = draw_table(drawing, table, view);
    table.height = table_bottom - table.y;
    int32_t other = plan_draw_piece_end(drawing, table, right);
    drawing->narrow.y += (high > other ? high : other) + PX(6);
    return table_bottom;
}

/* From the left: gutter with labels, drawing, table. The higher of the two sides decides. */
int32_t plan_draw_network(struct drawing *drawing, struct draw_area card, enum myr_net_id id)
{
    struct draw_net view = {.net = &drawing->design->networks[id], .id = id};
    /* By the card, not by the network: one half that is left over has the whole width. */
    view.half = card.width < PX(900);
    draw_heading(drawing, card, &view);
    int32_t top = card.y + PX(80), table_width = view.half ? PX(170) : PX(230);
    int32_t left = card.x + PADDING, gutter = view.half ? PX(150) : PX(190);
    int32_t right = card.x + card.width - PADDING - table_width;
    view.gutter = (struct draw_area){left, top, gutter, 0};
    view.canvas = (struct draw_area){left + gutter, top, right - left - gutter - PX(28), 0};
    int32_t bottom;
    plan_draw_piece(drawing);
    switch (view.net->topology) {
    case MYR_TOPOLOGY_RAIL_ONLY:
        bottom = plan_draw_rail_only(drawing, &view);
        break;
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        bottom = plan_draw_dragonfly(drawing, &view);
        break;
    case MYR_TOPOLOGY_TORUS:
        bottom = plan_draw_torus(drawing, &view);
        break;
    default:
        bottom = plan_draw_clos(drawing, &view);
        break;
    }
    plan_draw_piece_below(drawing,
                          (struct draw_area){view.canvas.x - PX(8), top - PX(16),
                                             view.canvas.width + PX(24), bottom - top + PX(26)});
    struct draw_area table = {right, top - PX(14), table_width, 0};
    int32_t table_bottom = draw_sides(drawing, &view, table, bottom);
    return (bottom > table_bottom ? bottom : table_bottom) + PADDING;
}
