#include <stdio.h>

#include "drawing/drawing.h"

/*
 * A pod: spines above leaves above hosts. What does not fit is shown by one box that stands for the
 * rest. Hosts are drawn by how they hang on the leaves: rails with one NIC on each, homes with
 * ports on all, racks around their leaf, or single ones around a single switch.
 */

#define MARK_PITCH PX(19) /* the least that still leaves room for two digits */
/* Hosts that are drawn one by one around a single switch. */
#define STAR_HOSTS 24
#define RACK_ARM   PX(36) /* hosts above and below a leaf in the middle of a rack */

/* Leaves side by side, with a gap behind each group; whole groups as far as there is room. */
static void place_groups(struct draw_pod *pod, struct draw_area area, uint32_t leaves, uint32_t max)
{
    struct draw_row *row = &pod->leaves;
    uint32_t size = pod->group_leaves < leaves ? pod->group_leaves : leaves;
    /* A group larger than a row shows as many as fit, and one box for the rest. */
    uint32_t drawn = size < max ? size : max - 1; /* of each group */
    uint32_t groups = (leaves + size - 1) / size;
    /* A gap counts as a mark, but none is needed behind the last group. */
    uint32_t fit = (max + 1) / (drawn + 1);
    uint32_t shown = groups <= fit ? groups : (max - 1) / (drawn + 1);
    shown = shown ? shown : 1;
    row->total = leaves;
    row->count = 0;
    /* In tenths of a leaf's pitch: leaves 10, a gap 7, what stands for the rest 14. */
    bool rest = shown < groups || drawn < size;
    /* The rest has its gap of 7 before it, 21 in all. */
    int32_t units = (int32_t)(shown * drawn * 10 + (shown - 1) * 7 + (rest ? 21 : 0));
    int32_t at = 0;
    for (uint32_t g = 0; g < shown; g++) {
        for (uint32_t k = 0; k < drawn && g * size + k < leaves; k++) {
            MYR_ASSERT(row->count < DRAW_ROW_MAX);
            row->marks[row->count++] =
                (struct draw_mark){.x = area.x + (int32_t)((int64_t)area.width * (at + 5) / units),
                                   .index = g * size + k,
                                   .hue = pod->railed ? k : MYR_NONE};
            at += 10;
        }
        at += 7;
    }
    row->rest = leaves - row->count;
    if (row->rest) {
        /* The middle of its 14. */
        row->marks[row->count++] =
            (struct draw_mark){.x = area.x + (int32_t)((int64_t)area.width * (units - 7) / units),
                               .index = MYR_NONE,
                               .hue = MYR_NONE};
    }
    /* Boxes take 78 of 100 parts of their pitch. */
    int32_t box = area.width * 78 / 10 / units;
    row->box = box < PX(34) ? box : PX(34);
}

/* Spines are spread over the same width as the leaves, so that the mesh between them is even. */
void plan_draw_pod_place(struct draw_pod *pod, struct draw_area area, uint32_t leaves,
                         uint32_t spines, uint32_t spines_max)
{
    uint32_t max = (uint32_t)(area.width / MARK_PITCH);
    /* Below DRAW_ROW_MAX, so that the mark for the rest always has a place. */
    max = max > 40 ? 40 : max;
    MYR_ASSERT(leaves > 0 && pod->group_leaves > 0);
    pod->area = area;
    if (pod->group_leaves > 1) {
        place_groups(pod, area, leaves, max);
    } else {
        plan_draw_place(&pod->leaves, area.x, area.width, leaves, max);
    }
    pod->spines.count = 0;
    if (spines) {
        plan_draw_place(&pod->spines, area.x, area.width, spines,
                        spines_max && spines_max < max ? spines_max : max);
    }
}

/*
 * The longest of the texts that fits: with the numbers of the nodes, without, or just a count.
 * Management nodes and whatever else hangs there are no servers: with them all are hosts.
 */
static void label_servers(struct drawing *drawing, struct draw_area box,
                          const struct draw_hosts *hosts)
{
    const char *one = drawing->design->head->nodes_per_server > 1 ? "node" : "server";
    uint32_t nodes = hosts->kinds[MYR_DEVICE_NODE], others = hosts->devices - nodes;
    char text[DRAW_WORDS_BYTES], more[DRAW_WORDS_BYTES] = "";
    if (others && nodes) {
        snprintf(more, sizeof(more), " + %u", others);
    }
    if (nodes == 0) {
        snprintf(text, sizeof(text), "%u host%s", others, others == 1 ? "" : "s");
    } else if (nodes == 1) {
        snprintf(text, sizeof(text), "%s %u%s", one, hosts->first_node, more);
    } else {
        snprintf(text, sizeof(text), "%u %ss, %u\xE2\x80\x93%u%s", nodes, one, hosts->first_node,
                 hosts->last_node, more);
        if (plan_draw_width(text, 11) > box.width - PX(4)) {
            snprintf(text, sizeof(text), "%u %ss%s", nodes, one, more);
        }
    }
    plan_draw_text_in(drawing, box.x + box.width / 2, box.y + box.height - PX(7), box.width,
                      MYR_SVG_MIDDLE, "small", "%s", text);
}

/* Servers of a rail group: one shape for all, its NICs under their leaves. */
static void draw_railed_hosts(struct drawing *drawing, const struct draw_pod *pod, uint32_t from,
                              uint32_t to)
{
    struct myr_svg *svg = &drawing->svg;
    const struct draw_row *row = &pod->leaves;
    uint32_t leaf = row->first_device + row->marks[from].index;
    struct draw_hosts hosts = plan_draw_hosts_of(drawing->design, leaf);
    int32_t left = row->marks[from].x - row->box / 2 - PX(3);
    struct draw_area box = {left, pod->host_y, row->marks[to - 1].x + row->box / 2 + PX(3) - left,
                            pod->host_height};
    char text[DRAW_WORDS_BYTES];
    plan_draw_pile(drawing, box, &hosts,
                   plan_draw_tip(drawing, "%s: NIC k of each goes to leaf k of this group",
                                 plan_draw_hosts_text(&hosts, text)));
    int32_t side = row->box < PX(18) ? row->box : PX(18);
    for (uint32_t i = from; i < to; i++) {
        const struct draw_mark *mark = &row->marks[i];
        char css[DRAW_WORDS_BYTES];
        snprintf(css, sizeof(css), "rail r%u", mark->hue % DRAW_RAIL_HUES);
        uint32_t ports = plan_draw_hosts_of(drawing->design, row->first_device + mark->index).ports;
        /* From the NIC's square up to its leaf, in the rail's hue. */
        myr_svg_line(svg, mark->x, pod->host_y + PX(6), mark->x, row->y + row->height, css,
                     plan_draw_tip(drawing, "rail %u: %u links", mark->hue, ports));
        snprintf(css, sizeof(css), "r%u", mark->hue % DRAW_RAIL_HUES);
        myr_svg_rect(svg, mark->x - side / 2, pod->host_y + PX(5), side, side, css, NULL);
        snprintf(css, sizeof(css), "tiny on r%u", mark->hue % DRAW_RAIL_HUES);
        plan_draw_text(drawing, mark->x, pod->host_y + PX(8) + side / 2, MYR_SVG_MIDDLE, css, "%u",
                       mark->hue);
    }
    label_servers(drawing, box, &hosts);
}

/* Hosts that hang on all leaves of a group with like ports. */
static void draw_plain_hosts(struct drawing *drawing, const struct draw_pod *pod, uint32_t from,
                             uint32_t to)
{
    const struct draw_row *row = &pod->leaves;
    uint32_t leaf = row->first_device + row->marks[from].index;
    struct draw_hosts hosts = plan_draw_hosts_of(drawing->design, leaf);
    int32_t left = row->marks[from].x - row->box / 2;
    struct draw_area box = {left, pod->host_y, row->marks[to - 1].x + row->box / 2 - left,
                            pod->host_height};
    char text[DRAW_WORDS_BYTES];
    for (uint32_t i = from; i < to; i++) {
        myr_svg_line(&drawing->svg, row->marks[i].x, pod->host_y, row->marks[i].x,
                     row->y + row->height, "mesh w3", NULL);
    }
    plan_draw_pile(drawing, box, &hosts,
                   plan_draw_tip(drawing, "%u ports of %s: %s", hosts.ports,
                                 plan_draw_name(drawing, leaf),
                                 plan_draw_hosts_text(&hosts, text)));
    plan_draw_text(drawing, box.x + box.width / 2, pod->host_y + pod->host_height + PX(14),
                   MYR_SVG_MIDDLE, "tiny", "%u", hosts.devices);
}

/* A rack with the leaf in its middle: half of the hosts above, half below. */
static void draw_rack(struct drawing *drawing, const struct draw_row *row,
                      const struct draw_mark *mark)
{
    struct myr_svg *svg = &drawing->svg;
    uint32_t leaf = row->first_device + mark->index;
    struct draw_hosts hosts = plan_draw_hosts_of(drawing->design, leaf);
    int32_t half = row->box / 2 + PX(2), top = row->y - RACK_ARM;
    int32_t bottom = row->y + row->height + RACK_ARM;
    char text[DRAW_WORDS_BYTES];
    myr_svg_rect(svg, mark->x - half, top, 2 * half, bottom - top, "host",
                 plan_draw_tip(drawing, "rack of %s: %s, %u ports", plan_draw_name(drawing, leaf),
                               plan_draw_hosts_text(&hosts, text), hosts.ports));
    int32_t slots = (int32_t)(hosts.devices + 1) / 2;
    /* At most five slots on each side, however many hosts there are: the number stands below. */
    slots = slots > 5 ? 5 : slots < 1 ? 1 : slots;
    myr_svg_path_begin(svg);
    for (int32_t i = 1; i < slots; i++) {
        int32_t step = RACK_ARM * i / slots;
        myr_svg_path_move(svg, mark->x - half, top + step);
        myr_svg_path_line(svg, mark->x + half, top + step);
        myr_svg_path_move(svg, mark->x - half, bottom - step);
        myr_svg_path_line(svg, mark->x + half, bottom - step);
    }
    myr_svg_path_end(svg, "edge", NULL);
    plan_draw_text(drawing, mark->x, bottom + PX(12), MYR_SVG_MIDDLE, "tiny", "%u", hosts.devices);
}

/*
 * The hosts of each group that is drawn, and a pile under the box that stands for the rest. Groups
 * are told apart by the indices of their leaves.
 */
static void draw_hosts(struct drawing *drawing, const struct draw_pod *pod)
{
    const struct draw_row *row = &pod->leaves;
    uint32_t from = 0;
    while (from < row->count && row->marks[from].index != MYR_NONE) {
        uint32_t group = row->marks[from].index / pod->group_leaves, to = from;
        while (to < row->count && row->marks[to].index != MYR_NONE &&
               row->marks[to].index / pod->group_leaves == group) {
            to++;
        }
        if (pod->racked) {
            for (; from < to; from++) {
                draw_rack(drawing, row, &row->marks[from]);
            }
        } else if (pod->railed) {
            draw_railed_hosts(drawing, pod, from, to);
        } else {
            draw_plain_hosts(drawing, pod, from, to);
        }
        from = to;
    }
    /* Racks have no row of hosts below them. */
    if (row->rest && !pod->racked) {
        const struct draw_mark *mark = &row->marks[row->count - 1];
        struct draw_area at = {mark->x - row->box / 2, pod->host_y, row->box, pod->host_height};
        plan_draw_rest(drawing, at, "\xE2\x80\xA6", NULL);
    }
}

/* The host behind a port; MYR_NONE where nothing is plugged, or the host was met before. */
static uint32_t next_host(const struct myr_design *design, uint32_t port, uint32_t last)
{
    uint32_t peer = myr_design_peer(design, port);
    uint32_t host = peer == MYR_NONE ? MYR_NONE : design->port_device[peer];
    return host == last ? MYR_NONE : host;
}

/* How many hosts of a switch have room side by side, each wide enough for the longest number. */
static uint32_t star_room(const struct myr_design *design, uint32_t leaf, int32_t width)
{
    uint32_t last = MYR_NONE, high = 0;
    char label[DRAW_WORDS_BYTES];
    for (uint32_t port = design->first_port[leaf]; port < design->first_port[leaf + 1]; port++) {
        uint32_t host = next_host(design, port, last);
        if (host != MYR_NONE) {
            last = host;
            high = design->place[host].ordinal > high ? design->place[host].ordinal : high;
        }
    }
    snprintf(label, sizeof(label), "%u", high);
    /* Boxes take 78 of 100 parts of their pitch. */
    int32_t pitch = (plan_draw_width(label, 9) + PX(2)) * 100 / 78;
    uint32_t room = (uint32_t)(width / (pitch > MARK_PITCH ? pitch : MARK_PITCH));
    return room < STAR_HOSTS ? room : STAR_HOSTS;
}

/* One host below its switch, with its number. */
static void draw_star_host(struct drawing *drawing, const struct draw_row *row, uint32_t host,
                           int32_t x)
{
    const struct myr_place *place = &drawing->design->place[host];
    struct draw_hosts one = {.devices = 1};
    struct draw_area box = {x - row->box / 2, row->y, row->box, row->height};
    one.kinds[place->kind] = 1;
    plan_draw_pile(drawing, box, &one, plan_draw_name(drawing, host));
    plan_draw_text(drawing, x, row->y + row->height / 2 + PX(3), MYR_SVG_MIDDLE, "tiny id", "%u",
                   place->ordinal);
}

/*
 * One switch for all: each host by itself. Hosts are met by their ports, which are neighbours on
 * the switch.
 */
static void draw_star(struct drawing *drawing, const struct draw_pod *pod)
{
    const struct myr_design *design = drawing->design;
    struct draw_row leaf = pod->leaves, row = {.y = pod->host_y, .height = pod->host_height};
    struct draw_hosts hosts = plan_draw_hosts_of(design, leaf.first_device);
    /* Wide, so that its many lines have room. */
    leaf.box = PX(160);
    if (hosts.devices > 0) {
        plan_draw_place(&row, pod->area.x, pod->area.width, hosts.devices,
                        star_room(design, leaf.first_device, pod->area.width));
    }
    uint32_t last = MYR_NONE, at = 0;
    for (uint32_t port = design->first_port[leaf.first_device];
         port < design->first_port[leaf.first_device + 1] && at < row.count; port++) {
        uint32_t host = next_host(design, port, last);
        if (host == MYR_NONE) {
            continue;
        }
        last = host;
        int32_t x = row.marks[at].x;
        /* The lines leave the switch over its whole width, in the order of the hosts. */
        int32_t from = leaf.marks[0].x +
                       (int32_t)((int64_t)(x - leaf.marks[0].x) * leaf.box / pod->area.width);
        myr_svg_line(&drawing->svg, x, row.y, from, leaf.y + leaf.height, "mesh w3", NULL);
        if (row.marks[at].index == MYR_NONE) {
            /* The line to the box for the rest stands for all that follow. */
            break;
        }
        draw_star_host(drawing, &row, host, x);
        at++;
    }
    if (row.rest) {
        plan_draw_rest_mark(drawing, &row, "hosts that are not drawn");
    }
    plan_draw_boxes(drawing, &leaf);
}

void plan_draw_pod(struct drawing *drawing, const struct draw_pod *pod)
{
    /* A fabric of one switch has room to show each of its hosts. */
    if (pod->leaves.total == 1 && pod->spines.count == 0 && !pod->racked) {
        draw_star(drawing, pod);
        return;
    }
    if (pod->spines.count) {
        struct draw_row lower = pod->leaves;
        /* Lines end at the top of the rack, not at the leaf within it. */
        lower.y -= pod->racked ? RACK_ARM : 0;
        plan_draw_mesh(drawing, &lower, &pod->spines);
        plan_draw_boxes(drawing, &pod->spines);
    }
    draw_hosts(drawing, pod); /* racks go under their leaves */
    plan_draw_boxes(drawing, &pod->leaves);
}
