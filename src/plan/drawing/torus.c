#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Torus: a grid, or layers of grids drawn at a slant. Long dimensions show their first switches
 * and the last, with a dashed gap between; dashed arcs join the ends, in a slanted drawing at the
 * edges only.
 */

/* All drawings are of three axes; of a grid the outermost has one place. */
#define DIMS         3
#define AXIS_MAX     8
#define NODE_RADIUS  PX(8)
#define GRID_COLUMNS 8
#define GRID_ROWS    6
#define CUBE_MAX     4
#define SWITCH_FRAME PX(240)

/* The coordinates that are drawn along it, of 'size' that there are. */
struct axis {
    uint32_t index[AXIS_MAX]; /* coordinate of each drawn place */
    uint32_t count, size;
};

struct torus {
    const struct draw_net *view;
    struct axis axes[DIMS]; /* outermost first; of a grid, the first has one place */
    int32_t x, y, column, row, slant, layer; /* origin and steps */
};

/* The first places and the last: without the last there would be no wrap to draw. */
static struct axis axis_of(uint32_t size, uint32_t max)
{
    struct axis axis = {.size = size, .count = size < max ? size : max};
    for (uint32_t i = 0; i < axis.count; i++) {
        axis.index[i] = i;
    }
    /* Changes nothing where all are drawn. */
    axis.index[axis.count - 1] = size - 1;
    return axis;
}

/* On the page. */
struct point {
    int32_t x, y;
};

/* 'at' counts drawn places, not coordinates; router_at() translates. */
static struct point point_at(const struct torus *torus, const uint32_t at[DIMS])
{
    return (struct point){torus->x + (int32_t)at[2] * torus->column + (int32_t)at[1] * torus->slant,
                          torus->y + (int32_t)at[1] * torus->row + (int32_t)at[0] * torus->layer};
}

/*
 * Rows are slanted when there are layers, so that the switches of all layers stay visible. Columns
 * take what room the frame of the one switch leaves.
 */
static struct torus torus_of(const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    struct torus torus = {.view = view, .x = view->canvas.x + PX(40), .y = view->canvas.y + PX(30)};
    if (net->dim_count == 2) {
        torus.axes[0] = axis_of(1, 1);
        torus.axes[1] = axis_of(net->dims[0], GRID_ROWS);
        torus.axes[2] = axis_of(net->dims[1], GRID_COLUMNS);
        torus.row = PX(58);
    } else {
        for (uint32_t i = 0; i < DIMS; i++) {
            torus.axes[i] = axis_of(net->dims[i], CUBE_MAX);
        }
        /* Flat rows, shifted to the right, and layers far enough apart to hold them. */
        torus.row = PX(20);
        torus.slant = PX(38);
        torus.layer = PX(100);
    }
    int32_t width = view->canvas.width - SWITCH_FRAME - PX(100);
    width -= (int32_t)(torus.axes[1].count - 1) * torus.slant;
    int32_t steps = (int32_t)torus.axes[2].count - 1;
    /* At most 120 pixels a step, less where the canvas is too narrow for that. */
    torus.column = steps && width / steps < PX(120) ? width / steps : PX(120);
    return torus;
}

/* Routers are numbered with the last dimension running fastest. */
static uint32_t router_at(const struct torus *torus, const uint32_t at[DIMS])
{
    uint32_t router = 0;
    for (uint32_t i = 0; i < DIMS; i++) {
        router = router * torus->axes[i].size + torus->axes[i].index[at[i]];
    }
    return torus->view->net->first_leaf + router;
}

/* Steps through all drawn places; false behind the last. */
static bool next_place(const struct torus *torus, uint32_t at[DIMS])
{
    for (uint32_t i = DIMS; i-- > 0;) {
        if (++at[i] < torus->axes[i].count) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

/* Links along one dimension: whole ones, or those over a gap. One shape for a whole dimension. */
static void draw_links(struct drawing *drawing, const struct torus *torus, uint32_t dim, bool gaps)
{
    struct myr_svg *svg = &drawing->svg;
    const struct axis *axis = &torus->axes[dim];
    uint32_t at[DIMS] = {};
    myr_svg_path_begin(svg);
    do {
        if (at[dim] + 1 >= axis->count) {
            continue;
        }
        bool gap = axis->index[at[dim]] + 1 != axis->index[at[dim] + 1];
        if (gap != gaps) {
            continue;
        }
        struct point from = point_at(torus, at);
        at[dim]++;
        struct point to = point_at(torus, at);
        at[dim]--;
        myr_svg_path_move(svg, from.x, from.y);
        myr_svg_path_line(svg, to.x, to.y);
    } while (next_place(torus, at));
    char css[DRAW_WORDS_BYTES];
    snprintf(css, sizeof(css), gaps ? "faint r%u" : "mesh w4 r%u", dim);
    myr_svg_path_end(svg, css, gaps ? "switches that are not drawn" : NULL);
}

/* Arcs from the last place of a dimension back to the first. */
static void draw_wraps(struct drawing *drawing, const struct torus *torus, uint32_t dim)
{
    struct myr_svg *svg = &drawing->svg;
    bool slanted = torus->layer > 0;
    uint32_t last = torus->axes[dim].count - 1;
    if (torus->axes[dim].size < 3) {
        return; /* two switches are neighbours both ways */
    }
    uint32_t at[DIMS] = {};
    myr_svg_path_begin(svg);
    do {
        /* In a slanted drawing only the nearest edge: the last row, the first column. */
        bool inner = slanted &&
                     ((dim != 1 && at[1] + 1 != torus->axes[1].count) || (dim != 2 && at[2] != 0));
        if (at[dim] != 0 || inner) {
            continue;
        }
        struct point from = point_at(torus, at);
        at[dim] = last;
        struct point to = point_at(torus, at);
        at[dim] = 0;
        struct point control = {(from.x + to.x) / 2, (from.y + to.y) / 2};
        if (dim == 2) {
            control.y += slanted ? PX(44) : -PX(44);
        } else {
            control.x -= slanted ? PX(70) : PX(56);
        }
        myr_svg_path_move(svg, from.x, from.y);
        myr_svg_path_curve(svg, control.x, control.y, to.x, to.y);
    } while (next_place(torus, at));
    char css[DRAW_WORDS_BYTES];
    snprintf(css, sizeof(css), "wrap r%u", dim);
    myr_svg_path_end(svg, css, "the ends of a dimension are joined");
}

/* Circles, so that links of all directions meet them alike. */
static void draw_nodes(struct drawing *drawing, const struct torus *torus)
{
    uint32_t at[DIMS] = {};
    do {
        struct point point = point_at(torus, at);
        uint32_t router = router_at(torus, at);
        struct draw_hosts hosts = plan_draw_hosts_of(drawing->design, router);
        char text[DRAW_WORDS_BYTES];
        myr_svg_circle(&drawing->svg, point.x, point.y, NODE_RADIUS, "leaf",
                       plan_draw_tip(drawing, "%s: %u ports to %s", plan_draw_name(drawing, router),
                                     hosts.ports, plan_draw_hosts_text(&hosts, text)));
    } while (next_place(torus, at));
}

/* The neighbours of a switch in one dimension: two stubs. */
static void draw_neighbours(struct drawing *drawing, const struct myr_network *net, uint32_t dim,
                            struct point at)
{
    static const int32_t reach[DIMS][2] = {{0, -66}, {-60, -40}, {-86, 0}};
    /* A switch has the same number of links in both directions of each dimension. */
    uint32_t trunk = net->leaf_up / (2 * net->dim_count), number = dim + net->dim_count - DIMS;
    /* A grid's rows run straight down; only layers need the slanted direction. */
    uint32_t way = net->dim_count == 2 && dim == 1 ? 0 : dim;
    int32_t x = PX(reach[way][0]), y = PX(reach[way][1]);
    char css[DRAW_WORDS_BYTES];
    snprintf(css, sizeof(css), "mesh w4 r%u", dim);
    myr_svg_line(&drawing->svg, at.x - x, at.y - y, at.x + x, at.y + y, css,
                 plan_draw_tip(drawing, "dimension %u: %u link%s to each neighbour", number, trunk,
                               trunk == 1 ? "" : "s"));
    bool flat = reach[way][1] == 0;
    plan_draw_text(drawing, at.x + x + (flat ? PX(2) : 0), at.y + y - PX(5),
                   flat ? MYR_SVG_START : MYR_SVG_MIDDLE, "tiny", "dim %u", number);
}

/* One switch with its neighbours and hosts. */
static void draw_switch(struct drawing *drawing, const struct torus *torus, struct draw_area frame)
{
    struct myr_svg *svg = &drawing->svg;
    const struct myr_network *net = torus->view->net;
    struct point at = {frame.x + frame.width / 2, frame.y + PX(116)};
    myr_svg_rect(svg, frame.x, frame.y, frame.width, frame.height, "pod", NULL);
    plan_draw_text(drawing, frame.x + PX(12), frame.y + PX(20), MYR_SVG_START, "th", "one switch");
    /* A grid leaves the outermost axis out. */
    for (uint32_t dim = DIMS - net->dim_count; dim < DIMS; dim++) {
        draw_neighbours(drawing, net, dim, at);
    }
    /* To the left below, where no dimension runs. */
    struct draw_hosts hosts = plan_draw_hosts_of(drawing->design, net->first_leaf);
    struct draw_area pile = {frame.x + PX(30), at.y + PX(86), PX(60), PX(34)};
    myr_svg_line(svg, at.x - PX(16), at.y, pile.x + pile.width / 2, pile.y, "mesh w3", NULL);
    myr_svg_rect(svg, at.x - PX(24), at.y - PX(13), PX(48), PX(26), "leaf",
                 plan_draw_name(drawing, net->first_leaf));
    plan_draw_text(drawing, at.x, at.y + PX(4), MYR_SVG_MIDDLE, "small", "switch");
    char text[DRAW_WORDS_BYTES];
    plan_draw_hosts_text(&hosts, text);
    plan_draw_pile(drawing, pile, &hosts, text);
    plan_draw_text_in(drawing, pile.x, pile.y + pile.height + PX(20), frame.width - PX(40),
                      MYR_SVG_START, "small", "%s", text);
    plan_draw_text_in(drawing, pile.x, pile.y + pile.height + PX(34), frame.width - PX(40),
                      MYR_SVG_START, "small muted", "%u ports of %uG", hosts.ports, net->host_gbps);
}

/* The dimensions are listed in their hues, from the outermost. */
static void label_torus(struct drawing *drawing, const struct torus *torus)
{
    const struct draw_net *view = torus->view;
    const struct myr_network *net = view->net;
    char count[DRAW_WORDS_BYTES], text[DRAW_WORDS_BYTES];
    int32_t y = view->canvas.y + PX(10);
    snprintf(text, sizeof(text), "%u ports to hosts \xC2\xB7 %u on", net->hosts_per_switch,
             net->leaf_up);
    plan_draw_tier(drawing, view, y, "Switches", plan_draw_plural(net->leaf, "switch", count),
                   text);
    y += PX(50);
    uint32_t trunk = net->leaf_up / (2 * net->dim_count);
    snprintf(text, sizeof(text), "%u link%s a pair", trunk, trunk == 1 ? "" : "s");
    plan_draw_layer(drawing, view, y, MYR_LAYER_LOCAL, text, 0);
    y += PX(48);
    /* Into the gutter, as plan_draw_tier() does. */
    struct myr_buf *page = drawing->svg.buf;
    drawing->svg.buf = &drawing->gutter;
    for (uint32_t i = 0; i < net->dim_count; i++) {
        char css[DRAW_WORDS_BYTES];
        snprintf(css, sizeof(css), "rail r%u", i + DIMS - net->dim_count);
        myr_svg_line(&drawing->svg, view->gutter.x, y - PX(4), view->gutter.x + PX(28), y - PX(4),
                     css, NULL);
        plan_draw_text(drawing, view->gutter.x + PX(36), y, MYR_SVG_START, "small",
                       "dimension %u: %u long", i, net->dims[i]);
        y += PX(18);
    }
    drawing->svg.buf = page;
    y += PX(20);
    plan_draw_layer(drawing, view, y, MYR_LAYER_HOST, NULL, 0);
    snprintf(text, sizeof(text), "%u \xC3\x97 %uG each",
             net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0, net->host_gbps);
    plan_draw_tier(drawing, view, y + PX(50), "Hosts",
                   plan_draw_plural(net->nodes_on_it, "node", count), text);
}

int32_t plan_draw_torus(struct drawing *drawing, const struct draw_net *view)
{
    struct torus torus = torus_of(view);
    MYR_ASSERT(view->net->dim_count >= 2 && view->net->dim_count <= DIMS);
    for (uint32_t dim = 0; dim < DIMS; dim++) {
        draw_links(drawing, &torus, dim, false);
        draw_links(drawing, &torus, dim, true);
        draw_wraps(drawing, &torus, dim);
    }
    draw_nodes(drawing, &torus);
    const struct draw_area *canvas = &view->canvas;
    struct draw_area frame = {canvas->x + canvas->width - SWITCH_FRAME, canvas->y - PX(6),
                              SWITCH_FRAME, PX(290)};
    draw_switch(drawing, &torus, frame);
    label_torus(drawing, &torus);
    uint32_t end[DIMS] = {torus.axes[0].count - 1, torus.axes[1].count - 1, 0};
    int32_t bottom = point_at(&torus, end).y + PX(40);
    /* The frame of the one switch may be higher than the grid. */
    int32_t least = canvas->y + PX(290);
    return bottom > least ? bottom : least;
}
