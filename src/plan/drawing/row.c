#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Rows of boxes, the meshes between two of them, and the hosts below. Lines and counts are read
 * from the links of the design: a drawing shows what is cabled, not what a formula says.
 */

#define BOX_MAX PX(34)

void plan_draw_place(struct draw_row *row, int32_t x, int32_t width, uint32_t total, uint32_t max)
{
    /* At least two: one box and one for the rest. */
    max = max > DRAW_ROW_MAX ? DRAW_ROW_MAX : max < 2 ? 2 : max;
    /* The box for the rest takes a place; so a rest is at least two devices. */
    uint32_t shown = total <= max ? total : max - 1;
    row->total = total;
    row->rest = total - shown;
    row->count = shown + (row->rest > 0);
    MYR_ASSERT(row->count > 0);
    /* In tenths of a box's pitch: boxes 10, a gap 4, what stands for the rest 14. */
    int32_t units = (int32_t)shown * 10 + (row->rest ? 18 : 0);
    int32_t box = width * 78 / 10 / units;
    row->box = box < BOX_MAX ? box : BOX_MAX;
    for (int32_t i = 0; i < (int32_t)row->count; i++) {
        bool rest = (uint32_t)i == shown;
        int32_t at = rest ? units - 7 : 10 * i + 5;
        row->marks[i] = (struct draw_mark){.x = x + (int32_t)((int64_t)width * at / units),
                                           .index = rest ? MYR_NONE : (uint32_t)i,
                                           .hue = MYR_NONE};
    }
}

/*
 * The ports of a switch by role, how many of them are cabled, and its part. One line for each group
 * of ports.
 */
static const char *switch_tip(struct drawing *drawing, uint32_t device)
{
    static const char *const roles[] = {"to the network", "down", "up", "to its group",
                                        "to other groups"};
    const struct myr_design *design = drawing->design;
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    char text[512];
    int at = snprintf(text, sizeof(text), "%s", myr_design_str(design, type->part));
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint32_t used = 0;
        for (uint32_t p = 0; p < group->count; p++) {
            uint32_t port = design->first_port[device] + group->first + p;
            used += design->port_link[port] != MYR_NONE;
        }
        MYR_ASSERT(group->role < MYR_ARRAY_COUNT(roles));
        at += snprintf(text + at, sizeof(text) - (size_t)at, "\n%u of %u ports %s, %uG", used,
                       group->count, roles[group->role], group->gbps);
    }
    return plan_draw_tip(drawing, "%s\n%s", plan_draw_name(drawing, device), text);
}

/* 'label' and 'tip' may be NULL. */
void plan_draw_rest(struct drawing *drawing, struct draw_area at, const char *label,
                    const char *tip)
{
    struct myr_svg *svg = &drawing->svg;
    int32_t step = PX(3);
    /* Two more edges behind the frame make it a pile. */
    myr_svg_path_begin(svg);
    for (int32_t i = 1; i <= 2; i++) {
        myr_svg_path_move(svg, at.x + i * step, at.y - i * step);
        myr_svg_path_line(svg, at.x + at.width + i * step, at.y - i * step);
        myr_svg_path_line(svg, at.x + at.width + i * step, at.y + at.height - i * step);
    }
    myr_svg_path_end(svg, "ghost", NULL);
    myr_svg_rect(svg, at.x, at.y, at.width, at.height, "ghost", tip);
    if (label) {
        myr_svg_text(svg, at.x + at.width / 2, at.y + at.height / 2 + PX(3), MYR_SVG_MIDDLE,
                     "tiny id", label);
    }
}

/* It may be wider than the boxes of the row: what stands for the rest has more room than they. */
void plan_draw_rest_mark(struct drawing *drawing, const struct draw_row *row, const char *tip)
{
    char label[DRAW_WORDS_BYTES], number[DRAW_WORDS_BYTES];
    MYR_ASSERT(row->rest > 0 && row->count > 0);
    int32_t x = row->marks[row->count - 1].x;
    snprintf(label, sizeof(label), "+%s", myr_u64_grouped(row->rest, number));
    int32_t wanted = plan_draw_width(label, 9) + PX(4);
    int32_t width = wanted > row->box ? wanted : row->box;
    struct draw_area at = {x - width / 2, row->y, width, row->height};
    plan_draw_rest(drawing, at, label, tip);
}

/* Boxes of a tier with rails bear the rail, others their place in the row. */
void plan_draw_boxes(struct drawing *drawing, const struct draw_row *row)
{
    struct myr_svg *svg = &drawing->svg;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct draw_mark *mark = &row->marks[i];
        if (mark->index == MYR_NONE) {
            plan_draw_rest_mark(drawing, row,
                                plan_draw_tip(drawing,
                                              "%u of %u are not drawn: they are cabled like these",
                                              row->rest, row->total));
            continue;
        }
        char css[DRAW_WORDS_BYTES], label[DRAW_WORDS_BYTES];
        uint32_t number = mark->hue == MYR_NONE ? mark->index : mark->hue;
        snprintf(css, sizeof(css), mark->hue == MYR_NONE ? "%s" : "%s e%u", row->css,
                 mark->hue % DRAW_RAIL_HUES);
        snprintf(label, sizeof(label), "%u", number);
        myr_svg_rect(svg, mark->x - row->box / 2, row->y, row->box, row->height, css,
                     switch_tip(drawing, row->first_device + mark->index));
        /* A number that does not fit is left to the tooltip. */
        if (plan_draw_width(label, 9) <= row->box) {
            myr_svg_text(svg, mark->x, row->y + row->height / 2 + PX(3), MYR_SVG_MIDDLE, "tiny id",
                         label);
        }
    }
}

/*
 * Links of one device to the first marks of a row; returns those to devices that are not drawn.
 * 'counts' is by drawn mark.
 */
static uint32_t count_links(const struct myr_design *design, uint32_t device,
                            const struct draw_row *upper, uint32_t counts[DRAW_ROW_MAX])
{
    uint32_t hidden = 0;
    memset(counts, 0, DRAW_ROW_MAX * sizeof(*counts));
    for (uint32_t port = design->first_port[device]; port < design->first_port[device + 1];
         port++) {
        uint32_t peer = myr_design_peer(design, port);
        if (peer == MYR_NONE) {
            continue;
        }
        uint32_t other = design->port_device[peer];
        /* Hosts and switches of other tiers. */
        if (other < upper->first_device || other - upper->first_device >= upper->total) {
            continue;
        }
        /* What is drawn of a row is always its first devices, in order. */
        uint32_t index = other - upper->first_device;
        if (index < upper->total - upper->rest) {
            counts[index]++;
        } else {
            hidden++;
        }
    }
    return hidden;
}

/* A mesh of more lines than this is thinned to about as many as are drawn then. */
enum { LINES_MAX = 320, LINES_DRAWN = 120 };

/* Width tells links apart roughly; the exact number is in the gutter and in the tooltip. */
static const char *line_weight(uint32_t links)
{
    return links >= 8 ? "w4" : links >= 4 ? "w3" : links >= 2 ? "w2" : "w1";
}

/* One switch's lines as one shape. Under the pointer all of them light up together. */
static void draw_fan(struct drawing *drawing, const struct draw_row *lower,
                     const struct draw_row *upper, const struct draw_mark *mark)
{
    struct myr_svg *svg = &drawing->svg;
    /* 'high' is of drawn switches only: the box for the rest stands for many. */
    uint32_t counts[DRAW_ROW_MAX], high = 0, links = 0;
    uint32_t device = lower->first_device + mark->index;
    uint32_t hidden = count_links(drawing->design, device, upper, counts);
    myr_svg_path_begin(svg);
    for (uint32_t k = 0; k < upper->count; k++) {
        bool rest = upper->marks[k].index == MYR_NONE;
        uint32_t count = rest ? hidden : counts[upper->marks[k].index];
        links += count;
        if (count) {
            myr_svg_path_move(svg, mark->x, lower->y);
            myr_svg_path_line(svg, upper->marks[k].x, upper->y + upper->height);
        }
        high = !rest && count > high ? count : high;
    }
    char css[DRAW_WORDS_BYTES];
    uint32_t lines = lower->count * upper->count;
    /* Close lines are drawn fainter; of a thinned mesh few are left, so these are not. */
    int at = snprintf(css, sizeof(css), "mesh %s%s", line_weight(high),
                      lines > 140 && lines <= LINES_MAX ? " close" : "");
    if (mark->hue != MYR_NONE) {
        snprintf(css + at, sizeof(css) - (size_t)at, " r%u", mark->hue % DRAW_RAIL_HUES);
    }
    myr_svg_path_end(svg, css,
                     plan_draw_tip(drawing, "%s: %u links up, at most %u to one switch",
                                   plan_draw_name(drawing, device), links, high));
}

/* Whether a switch is cabled to one of those of the row that are not drawn. */
static bool reaches_rest(const struct myr_design *design, uint32_t device,
                         const struct draw_row *row)
{
    uint32_t counts[DRAW_ROW_MAX];
    return count_links(design, device, row, counts) > 0;
}

/* The ground of a mesh whose lines are not all drawn: from the lower row's ends to the upper's. */
static void draw_band(struct drawing *drawing, const struct draw_row *lower,
                      const struct draw_row *upper)
{
    struct myr_svg *svg = &drawing->svg;
    int32_t bottom = upper->y + upper->height;
    myr_svg_path_begin(svg);
    myr_svg_path_move(svg, lower->marks[0].x, lower->y);
    myr_svg_path_line(svg, lower->marks[lower->count - 1].x, lower->y);
    myr_svg_path_line(svg, upper->marks[upper->count - 1].x, bottom);
    myr_svg_path_line(svg, upper->marks[0].x, bottom);
    myr_svg_path_close(svg);
    myr_svg_path_end(svg, "band", "all of these are linked; some of the links are drawn");
    drawing->thinned = true;
}

/*
 * From the lower row's tops to the upper row's bottoms; dashed lines stand for what is not drawn.
 */
void plan_draw_mesh(struct drawing *drawing, const struct draw_row *lower,
                    const struct draw_row *upper)
{
    struct myr_svg *svg = &drawing->svg;
    /* Hundreds of lines are a grey mass that shows nothing: those of every n-th switch show more.
     */
    uint32_t lines = lower->count * upper->count;
    /* Of 'lines' lines about LINES_DRAWN remain: each fan has as many as there are upper boxes. */
    uint32_t step = lines > LINES_MAX ? (lines + LINES_DRAWN - 1) / LINES_DRAWN : 1;
    if (step > 1) {
        draw_band(drawing, lower, upper);
    }
    for (uint32_t i = 0; i < lower->count; i++) {
        const struct draw_mark *mark = &lower->marks[i];
        if (mark->index != MYR_NONE) {
            /* From the middle of each step, so that the ends of the row are treated alike. */
            if (i % step == step / 2) {
                draw_fan(drawing, lower, upper, mark);
            }
            continue;
        }
        myr_svg_path_begin(svg);
        for (uint32_t k = 0; k < upper->count; k++) {
            /* Where both ends stand for many, the line does too. */
            if (upper->marks[k].index != MYR_NONE &&
                !reaches_rest(drawing->design, upper->first_device + upper->marks[k].index,
                              lower)) {
                continue;
            }
            /* From the top edge of the pile that stands for the rest. */
            myr_svg_path_move(svg, mark->x, lower->y - PX(6));
            myr_svg_path_line(svg, upper->marks[k].x, upper->y + upper->height);
        }
        myr_svg_path_end(svg, "faint", NULL);
    }
}

/*
 * One device speaks for its tier: regular fabrics give every pair the same, and where a dense fill
 * does not, each device has both of the numbers that occur.
 */
const char *plan_draw_pairs(const struct myr_design *design, uint32_t device, uint32_t first,
                            uint32_t count, char *ret)
{
    uint32_t low = UINT32_MAX, high = 0, reached = 0;
    for (uint32_t other = first; other < first + count; other++) {
        uint32_t links = 0;
        for (uint32_t port = design->first_port[device]; port < design->first_port[device + 1];
             port++) {
            uint32_t peer = myr_design_peer(design, port);
            links += peer != MYR_NONE && design->port_device[peer] == other;
        }
        low = links < low ? links : low;
        high = links > high ? links : high;
        reached += links > 0;
    }
    const char *ending = high == 1 ? "" : "s";
    if (reached < count) {
        snprintf(ret, DRAW_WORDS_BYTES, "%u link%s to %u of %u", high, ending, reached, count);
    } else if (low < high) {
        snprintf(ret, DRAW_WORDS_BYTES, "%u\xE2\x80\x93%u links a pair", low, high);
    } else {
        snprintf(ret, DRAW_WORDS_BYTES, "%u link%s a pair", high, ending);
    }
    return ret;
}

/* Counted from the cabled ports: what is drawn is what is planned, not what was meant. */
struct draw_hosts plan_draw_hosts_of(const struct myr_design *design, uint32_t device)
{
    struct draw_hosts hosts = {.first_node = MYR_NONE};
    uint32_t last = MYR_NONE;
    for (uint32_t port = design->first_port[device]; port < design->first_port[device + 1];
         port++) {
        uint32_t peer = myr_design_peer(design, port);
        uint32_t other = peer == MYR_NONE ? MYR_NONE : design->port_device[peer];
        if (other == MYR_NONE || other >= design->device_count) {
            continue;
        }
        uint8_t kind = design->place[other].kind;
        /*
         * Power strips and cooling units, which follow in the enum, hang on a switch as hosts do.
         */
        bool host = kind == MYR_DEVICE_NODE || kind == MYR_DEVICE_STORAGE ||
                    kind == MYR_DEVICE_MANAGEMENT || kind >= MYR_DEVICE_FABRIC_MANAGER;
        hosts.ports += host;
        /* The ports of one host on a switch are neighbours. */
        if (!host || other == last) {
            continue;
        }
        last = other;
        hosts.devices++;
        hosts.kinds[kind]++;
        if (kind == MYR_DEVICE_NODE) {
            uint32_t node = design->place[other].ordinal;
            hosts.first_node = hosts.first_node == MYR_NONE ? node : hosts.first_node;
            hosts.last_node = node;
        }
    }
    return hosts;
}

/* Kinds in a fixed order; those that are not there are left out. */
const char *plan_draw_hosts_text(const struct draw_hosts *hosts, char *ret)
{
    static const struct {
        enum myr_device_kind kind;
        const char *word;
    } kinds[] = {{MYR_DEVICE_NODE, "GPU node"},
                 {MYR_DEVICE_STORAGE, "storage server"},
                 {MYR_DEVICE_MANAGEMENT, "management node"},
                 {MYR_DEVICE_FABRIC_MANAGER, "fabric manager"},
                 {MYR_DEVICE_PDU, "PDU"},
                 {MYR_DEVICE_CDU, "CDU"}};
    int at = snprintf(ret, DRAW_WORDS_BYTES, hosts->devices ? "" : "nothing yet");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        char text[DRAW_WORDS_BYTES];
        uint32_t count = hosts->kinds[kinds[i].kind];
        if (count && at < DRAW_WORDS_BYTES - 1) {
            at += snprintf(ret + at, DRAW_WORDS_BYTES - (size_t)at, "%s%s", at ? ", " : "",
                           plan_draw_plural(count, kinds[i].word, text));
        }
    }
    return ret;
}

/* Two more edges below show that there are several; a dashed frame that there is none. */
void plan_draw_pile(struct drawing *drawing, struct draw_area at, const struct draw_hosts *hosts,
                    const char *tip)
{
    static const struct {
        enum myr_device_kind kind;
        const char *css;
    } tints[] = {{MYR_DEVICE_NODE, "host"},       {MYR_DEVICE_STORAGE, "storage"},
                 {MYR_DEVICE_MANAGEMENT, "mgmt"}, {MYR_DEVICE_FABRIC_MANAGER, "mgmt"},
                 {MYR_DEVICE_PDU, "mgmt"},        {MYR_DEVICE_CDU, "mgmt"}};
    struct myr_svg *svg = &drawing->svg;
    int32_t step = at.width < PX(24) ? PX(1) : PX(2);
    if (hosts->devices > 1) {
        myr_svg_path_begin(svg);
        for (int32_t i = 1; i <= 2; i++) {
            myr_svg_path_move(svg, at.x + i * step, at.y + at.height + i * step);
            myr_svg_path_line(svg, at.x + at.width + i * step, at.y + at.height + i * step);
            myr_svg_path_line(svg, at.x + at.width + i * step, at.y + i * step);
        }
        myr_svg_path_end(svg, "edge", NULL);
    }
    if (hosts->devices == 0) {
        myr_svg_rect(svg, at.x, at.y, at.width, at.height, "ghost", tip);
        return;
    }
    /* From the top down, each kind with its share of the height. */
    uint32_t before = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tints); i++) {
        uint32_t count = hosts->kinds[tints[i].kind];
        int32_t from = (int32_t)((int64_t)at.height * before / hosts->devices);
        before += count;
        int32_t to = (int32_t)((int64_t)at.height * before / hosts->devices);
        if (to > from) {
            myr_svg_rect(svg, at.x, at.y + from, at.width, to - from, tints[i].css, tip);
        }
    }
}
