#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Dragonfly and dragonfly+: a ring of groups, all joined, and the first group under a lens. The
 * ring shows that every two groups are joined and by how many links; the lens shows the inside of a
 * group, which all groups share.
 */

/* More groups than this would touch each other: the last circle then stands for the rest. */
#define RING_MAX      16
#define RING_RADIUS   PX(138)
#define CIRCLE_RADIUS PX(19)
#define SWITCH_HEIGHT PX(24)

/* Sine in thousandths by the formula of Bhaskara I: good to 2 of 1000, and the same everywhere. */
static int32_t sine_milli(int32_t degrees)
{
    int32_t turn = degrees % 360;
    int32_t half = turn % 180;
    int32_t product = half * (180 - half);
    int32_t value = 4000 * product / (40500 - product);
    return turn < 180 ? value : -value;
}

/* Only the marks' indices are used; the places are x and y. */
struct ring {
    struct draw_row groups; /* marks without their x */
    int32_t x[RING_MAX], y[RING_MAX];
};

/* Group 0 is at the right, where the lens is; the others follow clockwise, as y grows downwards. */
static struct ring ring_of(const struct myr_network *net, int32_t middle_x, int32_t middle_y)
{
    struct ring ring = {};
    plan_draw_place(&ring.groups, 0, PX(100), net->groups, RING_MAX);
    for (uint32_t i = 0; i < ring.groups.count; i++) {
        int32_t degrees = (int32_t)(360 * i / ring.groups.count);
        ring.x[i] = middle_x + RING_RADIUS * sine_milli(degrees + 90) / 1000;
        ring.y[i] = middle_y + RING_RADIUS * sine_milli(degrees) / 1000;
    }
    return ring;
}

/*
 * Links between every two groups; the wiring deals the same number to each pair. 0 with a single
 * group.
 */
static uint32_t links_between(const struct myr_network *net)
{
    uint64_t pairs = (uint64_t)net->groups * (net->groups - 1) / 2;
    return pairs ? (uint32_t)(net->links[MYR_LAYER_GLOBAL] / pairs) : 0;
}

/* Chords first, circles over them. */
static void draw_ring(struct drawing *drawing, const struct myr_network *net,
                      const struct ring *ring)
{
    struct myr_svg *svg = &drawing->svg;
    uint32_t links = links_between(net);
    /* From the last to the first, so that the chords of group 0 lie on top. */
    for (uint32_t i = ring->groups.count; i-- > 0;) {
        myr_svg_path_begin(svg);
        for (uint32_t k = i + 1; k < ring->groups.count; k++) {
            myr_svg_path_move(svg, ring->x[i], ring->y[i]);
            myr_svg_path_line(svg, ring->x[k], ring->y[k]);
        }
        myr_svg_path_end(
            svg, i == 0 ? "mesh up w4" : "mesh w1",
            plan_draw_tip(drawing, "group %u: %u links to each other group", i, links));
    }
    for (uint32_t i = 0; i < ring->groups.count; i++) {
        bool rest = ring->groups.marks[i].index == MYR_NONE;
        char label[DRAW_WORDS_BYTES];
        snprintf(label, sizeof(label), rest ? "+%u" : "g%u", rest ? ring->groups.rest : i);
        myr_svg_circle(svg, ring->x[i], ring->y[i], CIRCLE_RADIUS,
                       rest     ? "ghost"
                       : i == 0 ? "core"
                                : "leaf",
                       plan_draw_tip(drawing, "%s: %u switches, %u hosts a switch", label,
                                     net->group_switches, net->hosts_per_switch));
        myr_svg_text(svg, ring->x[i], ring->y[i] + PX(4), MYR_SVG_MIDDLE, "small", label);
    }
}

/* All switches of the group are joined: arcs over the row. */
static void draw_arcs(struct drawing *drawing, const struct draw_row *row)
{
    struct myr_svg *svg = &drawing->svg;
    for (uint32_t i = 0; i + 1 < row->count; i++) {
        myr_svg_path_begin(svg);
        for (uint32_t k = i + 1; k < row->count; k++) {
            int32_t from = row->marks[i].x, to = row->marks[k].x;
            /* A curve rises half as high as its control point. */
            int32_t rise = (to - from) * 3 / 4;
            rise = rise > PX(260) ? PX(260) : rise;
            myr_svg_path_move(svg, from, row->y);
            myr_svg_path_curve(svg, (from + to) / 2, row->y - rise, to, row->y);
        }
        myr_svg_path_end(svg, row->count > 10 ? "mesh w1 close" : "mesh w2",
                         "every two switches of a group are joined");
    }
}

/* Where the links to other groups leave. */
static void draw_stubs(struct drawing *drawing, const struct draw_row *row, int32_t top)
{
    struct myr_svg *svg = &drawing->svg;
    myr_svg_path_begin(svg);
    for (uint32_t i = 0; i < row->count; i++) {
        myr_svg_path_move(svg, row->marks[i].x, row->y);
        myr_svg_path_line(svg, row->marks[i].x, top);
    }
    myr_svg_path_end(svg, "mesh up w4", "to the other groups");
}

/* The first group, large. */
struct lens {
    struct draw_area frame;
    struct draw_pod pod;
};

/*
 * A dragonfly group is a pod without spines; its switches are joined by arcs instead. In dragonfly+
 * it is one with as many spines as leaves.
 */
static struct lens lens_of(const struct draw_net *view, struct draw_area frame)
{
    const struct myr_network *net = view->net;
    bool plus = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    struct lens lens = {.frame = frame};
    lens.pod = (struct draw_pod){
        .group_leaves = 1, .host_y = frame.y + frame.height - PX(68), .host_height = PX(34)};
    lens.pod.leaves = (struct draw_row){.first_device = net->first_leaf,
                                        .y = lens.pod.host_y - PX(44) - SWITCH_HEIGHT,
                                        .height = SWITCH_HEIGHT,
                                        .css = "leaf"};
    lens.pod.spines = (struct draw_row){.first_device = net->first_spine,
                                        .y = frame.y + PX(70),
                                        .height = SWITCH_HEIGHT,
                                        .css = "spine"};
    struct draw_area inner = {.x = frame.x + PX(10), .width = frame.width - PX(20)};
    plan_draw_pod_place(&lens.pod, inner, net->group_switches, plus ? net->group_switches : 0, 0);
    return lens;
}

/* The frame, tied to its circle in the ring by two lines, as if the group were magnified. */
static void draw_lens(struct drawing *drawing, const struct draw_net *view, const struct lens *lens,
                      const struct ring *ring)
{
    struct myr_svg *svg = &drawing->svg;
    const struct draw_area *frame = &lens->frame;
    bool plus = view->net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    myr_svg_path_begin(svg);
    myr_svg_path_move(svg, ring->x[0], ring->y[0] - CIRCLE_RADIUS);
    myr_svg_path_line(svg, frame->x, frame->y);
    myr_svg_path_move(svg, ring->x[0], ring->y[0] + CIRCLE_RADIUS);
    myr_svg_path_line(svg, frame->x, frame->y + frame->height);
    myr_svg_path_end(svg, "faint", NULL);
    myr_svg_rect(svg, frame->x, frame->y, frame->width, frame->height, "pod", NULL);
    uint32_t ports = plus ? view->net->spine_up : view->net->leaf_up;
    plan_draw_text_in(drawing, frame->x + PX(12), frame->y + PX(20), frame->width - PX(20),
                      MYR_SVG_START, "th", "group 0: %u global port%s a switch", ports,
                      ports == 1 ? "" : "s");
    if (view->net->groups > 1) {
        draw_stubs(drawing, plus ? &lens->pod.spines : &lens->pod.leaves, frame->y + PX(30));
    }
    if (!plus) {
        draw_arcs(drawing, &lens->pod.leaves);
    }
    plan_draw_pod(drawing, &lens->pod);
}

int32_t plan_draw_dragonfly(struct drawing *drawing, const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    bool plus = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    const struct draw_area *canvas = &view->canvas;
    int32_t height = PX(340), across = 2 * (RING_RADIUS + CIRCLE_RADIUS) + PX(10);
    struct ring ring = ring_of(net, canvas->x + across / 2, canvas->y + height / 2 - PX(4));
    struct draw_area frame = {canvas->x + across + PX(40), canvas->y - PX(6),
                              canvas->width - across - PX(40), height};
    struct lens lens = lens_of(view, frame);
    /* The lens first: its two lines end behind the circle. */
    draw_lens(drawing, view, &lens, &ring);
    draw_ring(drawing, net, &ring);

    char count[DRAW_WORDS_BYTES], text[DRAW_WORDS_BYTES];
    snprintf(text, sizeof(text), plus ? "%u leaves, as many spines" : "%u switches each",
             net->group_switches);
    plan_draw_tier(drawing, view, canvas->y + PX(20), "Groups",
                   plan_draw_plural(net->groups, "group", count), text);
    uint32_t links = links_between(net);
    snprintf(text, sizeof(text), "%u link%s a pair of groups", links, links == 1 ? "" : "s");
    if (links) {
        plan_draw_layer(drawing, view, canvas->y + PX(70), MYR_LAYER_GLOBAL, text, 0);
    }
    snprintf(text, sizeof(text), "%u hosts \xC2\xB7 %u global", net->hosts_per_switch,
             plus ? net->spine_up : net->leaf_up);
    plan_draw_tier(drawing, view, canvas->y + PX(130), "Switches",
                   plan_draw_plural((uint64_t)net->leaf + net->spine, "switch", count), text);
    plan_draw_layer(drawing, view, canvas->y + PX(182), plus ? MYR_LAYER_FABRIC : MYR_LAYER_LOCAL,
                    plus ? "every leaf to every spine" : "every two in a group", 0);
    plan_draw_layer(drawing, view, canvas->y + PX(240), MYR_LAYER_HOST, NULL, 0);
    snprintf(text, sizeof(text), "%u \xC3\x97 %uG each",
             net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0, net->host_gbps);
    plan_draw_tier(drawing, view, canvas->y + PX(292), "Hosts",
                   plan_draw_plural(net->nodes_on_it, "node", count), text);
    return canvas->y + height;
}
