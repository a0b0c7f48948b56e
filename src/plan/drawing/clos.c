#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Fabrics in tiers. One pod is drawn over the whole width, of several pods the first two, and a
 * pile for the others. Planes are sheets behind each other that share the hosts below.
 */

#define SWITCH_HEIGHT PX(24)
#define CORE_HEIGHT   PX(46)
#define CORE_GROUPS   8 /* drawn at most; a pod shows as many of its spines */
#define PODS_DRAWN    2
/* Planes behind the first one are shifted up and to the right by this. */
#define SHEET_STEP PX(13)
#define SHEETS_MAX 3

/*
 * A fabric as it is drawn, of any of the topologies in tiers. Heights are those of the tops of
 * rows.
 */
struct clos {
    const struct draw_net *view;
    const struct myr_network *net;
    uint32_t first_leaf, first_spine;
    uint32_t unit_leaves, unit_spines; /* of one plane */
    uint32_t pods, pod_leaves, pod_spines;
    uint32_t sheets;                  /* planes that are drawn */
    const char *leaf_css, *spine_css; /* classes of the stylesheet */
    int32_t core_y, spine_y, leaf_y, host_y, host_height, bottom;
    int32_t x, width; /* of what is drawn: the canvas without the sheets behind */
};

static bool is_access(const struct clos *clos)
{
    return clos->net->topology == MYR_TOPOLOGY_ACCESS;
}

/* With one rail there is nothing to tell apart. */
static bool is_railed(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_RAIL && net->rails > 1;
}

/* Access networks of two tiers are read as one pod whose leaves come in pairs (or homes of a host).
 */
static struct clos clos_of(const struct draw_net *view)
{
    const struct myr_network *net = view->net;
    bool access = net->topology == MYR_TOPOLOGY_ACCESS;
    struct clos clos = {.view = view,
                        .net = net,
                        .first_leaf = access ? net->first_access : net->first_leaf,
                        .first_spine = access ? net->first_aggregation : net->first_spine,
                        .unit_leaves = access ? net->access : net->leaf / net->planes,
                        .unit_spines = access ? net->aggregation : net->spine / net->planes,
                        /* With two tiers all is one pod, however the network counts them. */
                        .pods = net->tiers < 3 ? 1 : net->pods,
                        .sheets = net->planes < SHEETS_MAX ? net->planes : SHEETS_MAX,
                        .leaf_css = access ? "ethernet" : "leaf",
                        .spine_css = access ? "ethernet" : "spine"};
    clos.pod_leaves = clos.pods > 1 ? net->pod_leaves : clos.unit_leaves;
    clos.pod_spines = clos.pods > 1 ? net->pod_spines : clos.unit_spines;
    return clos;
}

/*
 * The heights of the rows, from the top. The space between leaves and spines is generous, for it
 * is there that the eye follows a line; half-page cards have fewer lines and get less.
 */
static void set_rows(struct clos *clos)
{
    const struct draw_net *view = clos->view;
    bool racked = clos->net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
    bool railed = is_railed(clos->net);
    int32_t y = view->canvas.y;
    /* Sheets behind take room at the top and at the right. */
    int32_t behind = (int32_t)(clos->sheets - 1) * SHEET_STEP;
    clos->x = view->canvas.x;
    clos->width = view->canvas.width;
    if (clos->sheets > 1) {
        clos->x += PX(8);
        clos->width -= behind + PX(16);
        y += behind + PX(24);
    }
    clos->core_y = y;
    if (clos->net->tiers == 3) {
        y += CORE_HEIGHT + PX(104);
    }
    clos->spine_y = y;
    if (clos->net->tiers >= 2) {
        y += SWITCH_HEIGHT + (view->half ? PX(84) : PX(108)) + (racked ? PX(36) : 0);
    }
    clos->leaf_y = y;
    y += SWITCH_HEIGHT + (racked ? PX(36) : PX(62));
    clos->host_y = y;
    /* Railed hosts have two lines: their NICs and their number. */
    clos->host_height = racked ? 0 : railed ? PX(48) : PX(36);
    y += clos->host_height + (railed ? PX(8) : PX(20));
    /* Captions of pods stand below their hosts. */
    clos->bottom = y + (clos->pods > 1 ? PX(22) : 0);
}

/*
 * A pod of plane 0 between two edges; the last pod may have fewer leaves. The drawn number of
 * spines is bounded with cores, which stand above them one by one.
 */
static struct draw_pod pod_at(const struct clos *clos, uint32_t index, int32_t x, int32_t width)
{
    const struct myr_network *net = clos->net;
    uint32_t first = index * clos->pod_leaves;
    uint32_t leaves =
        clos->unit_leaves - first < clos->pod_leaves ? clos->unit_leaves - first : clos->pod_leaves;
    struct draw_pod pod = {.railed = is_railed(net),
                           .racked = net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK,
                           .group_leaves = 1,
                           .host_y = clos->host_y,
                           .host_height = clos->host_height};
    if (pod.railed) {
        pod.group_leaves = net->rails;
    } else if (is_access(clos)) {
        pod.group_leaves = plan_draw_homes(net);
    }
    pod.leaves = (struct draw_row){.first_device = clos->first_leaf + first,
                                   .y = clos->leaf_y,
                                   .height = SWITCH_HEIGHT,
                                   .css = clos->leaf_css};
    pod.spines = (struct draw_row){.first_device = clos->first_spine + index * clos->pod_spines,
                                   .y = clos->spine_y,
                                   .height = SWITCH_HEIGHT,
                                   .css = clos->spine_css};
    struct draw_area area = {.x = x, .width = width};
    plan_draw_pod_place(&pod, area, leaves, clos->pod_spines, net->tiers == 3 ? CORE_GROUPS : 0);
    return pod;
}

/* The sheets of the other planes, the links that go to them, and the front sheet over both. */
static void draw_sheets(struct drawing *drawing, const struct clos *clos,
                        const struct draw_pod *pods, uint32_t pod_count)
{
    struct myr_svg *svg = &drawing->svg;
    if (clos->sheets < 2) {
        return;
    }
    struct draw_area front = {clos->x - PX(8), clos->core_y - PX(22), clos->width + PX(16), 0};
    /* Hosts are below the sheet: they belong to all planes. */
    front.height = clos->leaf_y + SWITCH_HEIGHT + PX(10) - front.y;
    for (uint32_t sheet = clos->sheets; sheet-- > 1;) {
        int32_t shift = (int32_t)sheet * SHEET_STEP;
        myr_svg_rect(svg, front.x + shift, front.y - shift, front.width, front.height, "sheet back",
                     plan_draw_tip(drawing, "plane %u is built like plane 0", sheet));
        /* The backmost sheet stands for all planes that have none of their own. */
        bool last = sheet + 1 == clos->sheets && clos->net->planes > clos->sheets;
        plan_draw_text(drawing, front.x + front.width + shift - PX(8), front.y - shift + PX(10),
                       MYR_SVG_END, "tiny", last ? "planes %u\xE2\x80\x93%u" : "plane %u", sheet,
                       clos->net->planes - 1);
    }
    /* These lines go on behind the front sheet, which is drawn over them. */
    for (uint32_t p = 0; p < pod_count; p++) {
        const struct draw_row *row = &pods[p].leaves;
        myr_svg_path_begin(svg);
        for (uint32_t i = 0; i < row->count; i++) {
            myr_svg_path_move(svg, row->marks[i].x + PX(2), clos->host_y + PX(8));
            myr_svg_path_line(svg, row->marks[i].x + PX(2) + SHEET_STEP, front.y + front.height);
        }
        myr_svg_path_end(svg, "other-plane", "the same NICs, second port: to the other plane");
    }
    myr_svg_rect(svg, front.x, front.y, front.width, front.height, "sheet", NULL);
    plan_draw_text(drawing, front.x + PX(10), front.y + PX(14), MYR_SVG_START, "small", "plane 0");
}

/* Access switches that each host hangs on: the ports of the first that is met. */
static uint32_t homes_of(const struct myr_design *design, const struct clos *clos)
{
    uint32_t first = design->first_port[clos->net->first_access];
    uint32_t peer = myr_design_peer(design, first);
    if (peer == MYR_NONE) {
        return 1;
    }
    uint32_t type = design->device_type[design->port_device[peer]];
    uint32_t net = (uint32_t)(clos->net - design->networks);
    for (uint32_t g = 0; g < design->devtypes[type].group_count; g++) {
        const struct myr_port_group *group = &design->devtypes[type].groups[g];
        if (group->net == net && group->role == MYR_PORT_NIC && group->count > 0) {
            return group->count;
        }
    }
    return 1;
}

/* Nodes that hang on a pod; pods fill up in order. */
static uint32_t pod_nodes(const struct myr_design *design, const struct clos *clos, uint32_t pod)
{
    const struct myr_network *net = clos->net;
    uint32_t shared = net->topology == MYR_TOPOLOGY_RAIL ? net->rails
                      : is_access(clos)                  ? homes_of(design, clos)
                                                         : 1;
    /* With rails every node of a group hangs on all its leaves, so leaves are counted by groups. */
    uint64_t full = (uint64_t)clos->pod_leaves / shared * net->group_nodes;
    uint64_t before = full * pod;
    uint64_t left = net->nodes_on_it > before ? net->nodes_on_it - before : 0;
    return (uint32_t)(left < full ? left : full);
}

/*
 * Frames around the pods that are drawn, and a pile for the others. Captions stand below the
 * hosts: no line passes there.
 */
static void draw_pod_frames(struct drawing *drawing, const struct clos *clos, int32_t pod_width,
                            uint32_t drawn)
{
    struct myr_svg *svg = &drawing->svg;
    int32_t top = clos->spine_y - PX(12);
    /* Hosts belong to a pod, but not to a plane. */
    int32_t bottom = clos->sheets > 1 ? clos->leaf_y + SWITCH_HEIGHT + PX(6) : clos->bottom;
    for (uint32_t p = 0; p < drawn; p++) {
        int32_t x = clos->x + (int32_t)p * (pod_width + PX(12));
        char leaves[DRAW_WORDS_BYTES], spines[DRAW_WORDS_BYTES], nodes[DRAW_WORDS_BYTES];
        /* The last pod may be smaller; spines are always complete. */
        uint32_t left = clos->unit_leaves - p * clos->pod_leaves;
        plan_draw_plural(pod_nodes(drawing->design, clos, p), "node", nodes);
        plan_draw_plural(left < clos->pod_leaves ? left : clos->pod_leaves, "leaf", leaves);
        plan_draw_plural(clos->pod_spines, "spine", spines);
        myr_svg_rect(svg, x, top, pod_width, bottom - top, "pod",
                     plan_draw_tip(drawing, "pod %u: %s, %s", p, spines, leaves));
        plan_draw_text(drawing, x + pod_width / 2, clos->bottom - PX(8), MYR_SVG_MIDDLE, "th",
                       "pod %u: %s", p, nodes);
    }
    uint32_t rest = clos->pods - drawn;
    if (rest == 0) {
        return;
    }
    int32_t x = clos->x + (int32_t)drawn * (pod_width + PX(12));
    struct draw_area pile = {x, top, clos->x + clos->width - x - PX(6), bottom - top};
    plan_draw_rest(
        drawing, pile, NULL,
        plan_draw_tip(drawing, "pods %u to %u are built like the first", drawn, clos->pods - 1));
    int32_t middle = pile.x + pile.width / 2, y = (top + bottom) / 2;
    char number[DRAW_WORDS_BYTES];
    plan_draw_text(drawing, middle, y - PX(6), MYR_SVG_MIDDLE, "big id", "\xC3\x97 %s",
                   myr_u64_grouped(rest, number));
    plan_draw_text(drawing, middle, y + PX(12), MYR_SVG_MIDDLE, "small", "more pod%s",
                   rest == 1 ? "" : "s");
    uint32_t last = clos->unit_leaves - (clos->pods - 1) * clos->pod_leaves;
    if (last < clos->pod_leaves) {
        plan_draw_text(drawing, middle, y + PX(30), MYR_SVG_MIDDLE, "tiny muted", "last pod:");
        plan_draw_text(drawing, middle, y + PX(42), MYR_SVG_MIDDLE, "tiny muted", "%u of %u leaves",
                       last, clos->pod_leaves);
    }
    plan_draw_text(drawing, middle, clos->bottom - PX(8), MYR_SVG_MIDDLE, "th",
                   rest == 1 ? "pod %u" : "pods %u\xE2\x80\x93%u", drawn, clos->pods - 1);
}

/*
 * Core group j takes spine j of every pod: as many groups as spines are drawn, so that each line
 * has both its ends. One shape a group lights up all of its links under the pointer. Thin lines
 * where pods share less than what is below them.
 */
static void draw_core_links(struct drawing *drawing, const struct clos *clos,
                            const struct draw_row *cores, const struct draw_pod *pods,
                            uint32_t pod_count, struct draw_area pile)
{
    struct myr_svg *svg = &drawing->svg;
    int32_t from = clos->core_y + CORE_HEIGHT;
    for (uint32_t j = 0; j < cores->count; j++) {
        bool rest = cores->marks[j].index == MYR_NONE;
        myr_svg_path_begin(svg);
        for (uint32_t p = 0; p < pod_count; p++) {
            MYR_ASSERT(pods[p].spines.count == cores->count);
            myr_svg_path_move(svg, cores->marks[j].x, from);
            myr_svg_path_line(svg, pods[p].spines.marks[j].x, clos->spine_y - (rest ? PX(6) : 0));
        }
        if (pile.width > 0) {
            myr_svg_path_move(svg, cores->marks[j].x, from);
            /* Evenly over the top edge of the pile, in the order of the groups. */
            myr_svg_path_line(
                svg, pile.x + pile.width * (int32_t)(2 * j + 1) / (int32_t)(2 * cores->count),
                pile.y);
        }
        bool thin = clos->net->oversubscription_milli[1] > 1000;
        myr_svg_path_end(svg,
                         rest   ? "faint"
                         : thin ? "mesh up w1"
                                : "mesh up w2",
                         plan_draw_tip(drawing, "core group %u takes spine %u of every pod",
                                       cores->marks[j].index, cores->marks[j].index));
    }
}

/* Small squares for the switches of a core group: as many as fit, the number is in words. */
static void draw_core_group(struct drawing *drawing, const struct clos *clos, int32_t x,
                            int32_t width, uint32_t index)
{
    struct myr_svg *svg = &drawing->svg;
    uint32_t cores = clos->net->group_cores;
    /* A square of 8 pixels every 11. */
    int32_t fit = (width - PX(12)) / PX(11), side = PX(8);
    int32_t drawn = (int32_t)cores < fit ? (int32_t)cores : fit;
    uint32_t first = clos->net->first_core + index * cores;
    char names[DRAW_WORDS_BYTES];
    snprintf(names, sizeof(names), "%s", plan_draw_name(drawing, first));
    myr_svg_rect(svg, x - width / 2, clos->core_y, width, CORE_HEIGHT, "core",
                 plan_draw_tip(drawing, "core group %u: %u switches, %s to %s", index, cores, names,
                               plan_draw_name(drawing, first + cores - 1)));
    myr_svg_path_begin(svg);
    for (int32_t i = 0; i < drawn; i++) {
        int32_t left = x + PX(11) * (2 * i - drawn) / 2 + PX(1), top = clos->core_y + PX(30);
        myr_svg_path_move(svg, left, top);
        myr_svg_path_line(svg, left + side, top);
        myr_svg_path_line(svg, left + side, top + side);
        myr_svg_path_line(svg, left, top + side);
        myr_svg_path_close(svg);
    }
    myr_svg_path_end(svg, "core", NULL);
    char text[DRAW_WORDS_BYTES], plural[DRAW_WORDS_BYTES];
    snprintf(text, sizeof(text), "g%u: %s", index, plan_draw_plural(cores, "core", plural));
    if (plan_draw_width(text, 11) > width) {
        snprintf(text, sizeof(text), "g%u: %u", index, cores);
    }
    plan_draw_text_in(drawing, x, clos->core_y + PX(18), width, MYR_SVG_MIDDLE, "small", "%s",
                      text);
}

/* The links first, so that the boxes cover their ends. */
static void draw_cores(struct drawing *drawing, const struct clos *clos,
                       const struct draw_pod *pods, uint32_t pod_count, struct draw_area pile)
{
    struct draw_row cores = {.y = clos->core_y, .height = CORE_HEIGHT};
    MYR_ASSERT(pod_count > 0);
    /* As many as spines found room in a pod, which in half-page cards are fewer. */
    plan_draw_place(&cores, clos->x, clos->width, clos->net->core_groups, pods[0].spines.count);
    draw_core_links(drawing, clos, &cores, pods, pod_count, pile);
    int32_t pitch = cores.count > 1 ? cores.marks[1].x - cores.marks[0].x : clos->width;
    /* Narrow boxes have narrow gaps, so that words still fit. */
    int32_t width = pitch - (pitch < PX(96) ? PX(6) : PX(12));
    width = width < PX(150) ? width : PX(150);
    for (uint32_t j = 0; j < cores.count; j++) {
        if (cores.marks[j].index != MYR_NONE) {
            draw_core_group(drawing, clos, cores.marks[j].x, width, cores.marks[j].index);
            continue;
        }
        char label[DRAW_WORDS_BYTES];
        snprintf(label, sizeof(label), "+%u groups", cores.rest);
        struct draw_area at = {cores.marks[j].x - width / 2, clos->core_y, width, CORE_HEIGHT};
        plan_draw_rest(drawing, at, label, "core groups like the ones drawn");
    }
}

/* The gutter: names and numbers of the tiers, and of what runs between them. */

/* Racks have their hosts around the leaf, so the label stands beside the rack. */
static void label_hosts(struct drawing *drawing, const struct clos *clos)
{
    const struct myr_network *net = clos->net;
    char number[DRAW_WORDS_BYTES], each[DRAW_WORDS_BYTES];
    uint32_t ports = net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0;
    /* Kinds of hosts may have different numbers of ports; then only the speed is said. */
    bool even = ports * net->nodes_on_it == net->host_ports;
    snprintf(each, sizeof(each), even ? "%u \xC3\x97 %uG each" : "%uG a port",
             even ? ports : net->host_gbps, net->host_gbps);
    bool racked = net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
    if (racked && net->copper_cables) {
        size_t len = strlen(each);
        snprintf(each + len, sizeof(each) - len, ", copper");
    }
    int32_t y =
        racked ? clos->leaf_y + SWITCH_HEIGHT + PX(40) : clos->host_y + clos->host_height / 2;
    plan_draw_tier(drawing, clos->view, y, racked ? "Hosts, in the same rack" : "Hosts",
                   plan_draw_plural(net->nodes_on_it, "node", number), each);
    if (!racked) {
        plan_draw_layer(drawing, clos->view, (clos->leaf_y + SWITCH_HEIGHT + clos->host_y) / 2,
                        MYR_LAYER_HOST, NULL, 0);
    }
}

/* "128 leaves", and how many of them each plane has. */
static void say_count(const struct myr_network *net, uint32_t count, const char *word, char *ret)
{
    char number[DRAW_WORDS_BYTES];
    plan_draw_plural(count, word, ret);
    if (net->planes > 1) {
        size_t len = strlen(ret);
        snprintf(ret + len, DRAW_WORDS_BYTES - len, ", %s a plane",
                 myr_u64_grouped(count / net->planes, number));
    }
}

static void label_leaves(struct drawing *drawing, const struct clos *clos)
{
    const struct myr_network *net = clos->net;
    char count[DRAW_WORDS_BYTES], ports[DRAW_WORDS_BYTES];
    uint32_t leaves = is_access(clos) ? net->access : net->leaf;
    snprintf(ports, sizeof(ports), net->leaf_up ? "%u down \xC2\xB7 %u up" : "%u down",
             net->leaf_down, net->leaf_up);
    say_count(net, leaves, is_access(clos) ? "switch" : "leaf", count);
    plan_draw_tier(drawing, clos->view, clos->leaf_y + SWITCH_HEIGHT / 2,
                   is_access(clos) ? "Access" : "Leaf", count, ports);
}

/* One leaf of the first pod speaks for all pairs. */
static void label_spines(struct drawing *drawing, const struct clos *clos)
{
    const struct myr_network *net = clos->net;
    char count[DRAW_WORDS_BYTES], ports[DRAW_WORDS_BYTES], pairs[DRAW_WORDS_BYTES];
    if (net->tiers < 2) {
        return;
    }
    uint32_t spines = is_access(clos) ? net->aggregation : net->spine;
    snprintf(ports, sizeof(ports), net->spine_up ? "%u down \xC2\xB7 %u up" : "%u ports down",
             net->spine_down, net->spine_up);
    say_count(net, spines, is_access(clos) ? "switch" : "spine", count);
    plan_draw_tier(drawing, clos->view, clos->spine_y + SWITCH_HEIGHT / 2,
                   is_access(clos) ? "Aggregation" : "Spine", count, ports);
    plan_draw_pairs(drawing->design, clos->first_leaf, clos->first_spine, clos->pod_spines, pairs);
    /* Racks reach above their leaf, so the middle of what is free lies higher. */
    int32_t arm = net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK ? PX(18) : 0;
    plan_draw_layer(drawing, clos->view, (clos->spine_y + SWITCH_HEIGHT + clos->leaf_y) / 2 - arm,
                    MYR_LAYER_FABRIC, pairs, net->oversubscription_milli[0]);
}

/* As the spines, one tier up. */
static void label_cores(struct drawing *drawing, const struct clos *clos)
{
    const struct myr_network *net = clos->net;
    char count[DRAW_WORDS_BYTES], shape[DRAW_WORDS_BYTES], pairs[DRAW_WORDS_BYTES];
    if (net->tiers < 3) {
        return;
    }
    snprintf(shape, sizeof(shape), "%u groups of %u", net->core_groups, net->group_cores);
    say_count(net, net->core, "core", count);
    plan_draw_tier(drawing, clos->view, clos->core_y + CORE_HEIGHT / 2, "Core", count, shape);
    plan_draw_pairs(drawing->design, clos->first_spine, net->first_core, net->group_cores, pairs);
    plan_draw_layer(drawing, clos->view, (clos->core_y + CORE_HEIGHT + clos->spine_y) / 2,
                    MYR_LAYER_CORE, pairs, net->oversubscription_milli[1]);
}

/* Order matters: what lies behind comes first, lines before the boxes that cover their ends. */
int32_t plan_draw_clos(struct drawing *drawing, const struct draw_net *view)
{
    struct clos clos = clos_of(view);
    set_rows(&clos);
    uint32_t drawn = clos.pods < PODS_DRAWN ? clos.pods : PODS_DRAWN;
    struct draw_pod pods[PODS_DRAWN];
    struct draw_area pile = {};
    int32_t pod_width = clos.width;
    if (clos.pods > 1) {
        /* The pile takes 130 pixels at the right; without it the last gap is not needed. */
        int32_t room = clos.pods > drawn ? clos.width - PX(130) : clos.width + PX(12);
        pod_width = room / (int32_t)drawn - PX(12);
        pile.x = clos.x + (int32_t)drawn * (pod_width + PX(12));
        pile.y = clos.spine_y - PX(18);
        /* 0: no pile, and no lines to it. */
        pile.width = clos.pods > drawn ? clos.x + clos.width - pile.x : 0;
    }
    /* What stands in a frame keeps off its edges. */
    int32_t inset = clos.pods > 1 ? PX(8) : 0;
    for (uint32_t p = 0; p < drawn; p++) {
        pods[p] = pod_at(&clos, p, clos.x + (int32_t)p * (pod_width + PX(12)) + inset,
                         pod_width - 2 * inset);
    }
    draw_sheets(drawing, &clos, pods, drawn);
    if (clos.pods > 1) {
        draw_pod_frames(drawing, &clos, pod_width, drawn);
    }
    if (view->net->tiers == 3) {
        draw_cores(drawing, &clos, pods, drawn, pile);
    }
    for (uint32_t p = 0; p < drawn; p++) {
        plan_draw_pod(drawing, &pods[p]);
    }
    label_cores(drawing, &clos);
    label_spines(drawing, &clos);
    label_leaves(drawing, &clos);
    label_hosts(drawing, &clos);
    return clos.bottom;
}
