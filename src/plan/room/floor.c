#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/svg.h"
#include "plan_internal.h"

/*
 * The floor plan: every rack where it stands, shaded by its power, with a bar for the switches in
 * it. A room of a hundred racks names them; one of ten thousand is drawn in a few shapes. Letters
 * grow where the page is narrow, and what would not fit then is hidden.
 */

/* Drawings are in tenths of a pixel. */
#define PX(n) ((int32_t)((n)*10))

/* TIPS_MAX: beyond so many racks of a hall there are no tips, and one shape for all of a level. */
enum { PAGE_W = 960, MARGIN = 40, LEVELS = 5, TIPS_MAX = 3000, HEAD_H = 150, LEGEND_H = 170 };

/* What a bar stands for; also its bit in 'marks'. */
enum mark { MARK_LEAF, MARK_SPINE, MARK_STORAGE, MARK_OTHER, MARK_COUNT };

static const char *const mark_css[MARK_COUNT] = {"m-leaf", "m-spine", "m-store", "m-other"};
static const char *const mark_names[MARK_COUNT] = {"leaf or router", "spine or core", "storage",
                                                   "Ethernet, management, security"};
static const char *const level_css[LEVELS + 1] = {"p0", "p1", "p2", "p3", "p4", "p5"};

static const char style[] =
    ":root{max-width:100%;height:auto}"
    ".p0{fill:#fff;stroke:#d0d7de;stroke-dasharray:2 2}.p1{fill:#e3eef9;stroke:#8fa3b8}"
    ".p2{fill:#bcd7ef;stroke:#7790aa}.p3{fill:#8cbbe2;stroke:#5f7f9f}"
    ".p4{fill:#559ad0;stroke:#3f6d96}.p5{fill:#2f78b7;stroke:#1f5587}"
    ".m-leaf{fill:#009e73;stroke:none}.m-spine{fill:#d55e00;stroke:none}"
    ".m-store{fill:#cc79a7;stroke:none}.m-other{fill:#6e7781;stroke:none}"
    ".small-plan rect,.small-plan path{stroke-width:.3}"
    ".h1{font-size:24px;font-weight:600}.fig{font-size:15px}.key{font-size:14px}"
    ".axis{font-size:12px}.name{font-size:13px;font-weight:600}.kw{font-size:11px}"
    "text.on5{fill:#fff}"
    "\n@media (max-width:640px){.h1{font-size:38px}.fig{font-size:25px}.key{font-size:25px}"
    ".axis{font-size:22px}.name{font-size:23px}.kw{font-size:21px}.wide{display:none}}"
    "\n@media (prefers-color-scheme:dark){.p0{fill:#0d1117;stroke:#444c56}"
    ".p1{fill:#16283a;stroke:#4a6076}.p2{fill:#1c3d5c;stroke:#557492}"
    ".p3{fill:#235682;stroke:#6288ab}.p4{fill:#2c72ab;stroke:#74a3cc}"
    ".p5{fill:#3f93d8;stroke:#a3cdf0}"
    ".m-leaf{fill:#2fc79a}.m-spine{fill:#ff8c42}.m-store{fill:#e39cc4}.m-other{fill:#9aa4ae}"
    "text.on5{fill:#fff}}";

struct floor {
    const struct myr_design *design;
    struct myr_svg svg;
    uint8_t *marks; /* by rack: bits */
    int32_t cell_w, cell_h, gap, left, top;
    bool names, figures; /* whether cells are large enough for them */
};

/* Only the compute network has leaves and spines of its own colour. */
static enum mark mark_of(uint32_t kind, uint32_t net)
{
    switch (kind) {
    case MYR_DEVICE_LEAF:
    case MYR_DEVICE_ROUTER:
        return net == MYR_NET_COMPUTE ? MARK_LEAF : MARK_OTHER;
    case MYR_DEVICE_SPINE:
    case MYR_DEVICE_CORE:
        return net == MYR_NET_COMPUTE ? MARK_SPINE : MARK_OTHER;
    case MYR_DEVICE_STORAGE:
        return MARK_STORAGE;
    default:
        return MARK_OTHER;
    }
}

/* Bits of all that is no server, by rack. */
static void find_marks(struct floor *floor)
{
    const struct myr_design *design = floor->design;
    floor->marks = myr_xrealloc(NULL, design->rack_count + 1, 1);
    memset(floor->marks, 0, design->rack_count + 1);
    for (uint32_t i = 0; i < design->device_count; i++) {
        if (design->place[i].kind != MYR_DEVICE_NODE && design->device_rack[i] != MYR_NONE) {
            floor->marks[design->device_rack[i]] |=
                (uint8_t)(1U << mark_of(design->place[i].kind, design->place[i].net));
        }
    }
    /* Items of the bill stand in racks without being devices. */
    for (uint32_t i = 0; i < design->rack_item_count; i++) {
        floor->marks[design->rack_items[i].rack] |= 1U << MARK_OTHER;
    }
}

/* Fifths of what the rack may draw, a begun one counted; 0 is an empty rack. */
static uint32_t level_of(const struct myr_design *design, uint32_t rack)
{
    uint64_t most = design->racks[rack].watts_max, used = design->rack_more[rack].watts;
    if (used == 0 || most == 0) {
        return 0;
    }
    uint64_t level = (used * LEVELS + most - 1) / most;
    return level < LEVELS ? (uint32_t)level : LEVELS;
}

static int32_t column_x(const struct floor *floor, uint32_t rack)
{
    /* Aisles are drawn as they are, columns as wide as cells: by the pitch of the first two. */
    const struct myr_design *design = floor->design;
    uint32_t column = design->racks[rack].column;
    /* In mm; one column alone has no pitch to be read off. */
    double pitch = 1200;
    for (uint32_t i = 0; i < design->rack_count; i++) {
        if (design->racks[i].column == 1) {
            pitch = design->rack_more[i].x_mm;
            break;
        }
    }
    double wide = (double)design->rack_more[rack].x_mm - column * pitch;
    int32_t aisles = wide > 0 && pitch > 0 ? (int32_t)(wide / pitch * floor->gap + 0.5) : 0;
    return floor->left + (int32_t)column * floor->cell_w + aisles;
}

/* Side by side at the left edge of the rack. */
static void draw_bars(struct floor *floor, uint32_t rack, int32_t x, int32_t y)
{
    /* Narrow cells have narrow bars, so that four of them fit. */
    int32_t width = floor->cell_w > PX(40) ? PX(6) : floor->cell_w / 4;
    int32_t at = 0;
    for (uint32_t mark = 0; mark < MARK_COUNT; mark++) {
        if (floor->marks[rack] & 1U << mark) {
            myr_svg_rect(&floor->svg, x + at, y, width, floor->cell_h * 9 / 10, mark_css[mark],
                         NULL);
            at += width;
        }
    }
}

/* Names and figures turn white on the darkest racks ('on5'). */
static void draw_text(struct floor *floor, uint32_t rack, int32_t x, int32_t y)
{
    const struct myr_design *design = floor->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t level = level_of(design, rack);
    int32_t middle = x + floor->cell_w / 2;
    myr_design_rack_name(design, rack, &text);
    /* The building is in the title: a cell has no room for it. */
    const char *name = strrchr(text.data, '/');
    char css[32];
    snprintf(css, sizeof(css), "name on%u", level);
    myr_svg_text(&floor->svg, middle, y + floor->cell_h * (floor->figures ? 42 : 60) / 100,
                 MYR_SVG_MIDDLE, css, name ? name + 1 : text.data);
    if (floor->figures) {
        char kw[32];
        snprintf(kw, sizeof(kw), "%.1f", design->rack_more[rack].watts / 1000.0);
        snprintf(css, sizeof(css), "kw on%u", level);
        myr_svg_text(&floor->svg, middle, y + floor->cell_h * 80 / 100, MYR_SVG_MIDDLE, css, kw);
    }
}

/* The tip says all of the rack; report/drawn.c looks for its "NAME: ... kW". */
static void draw_rack(struct floor *floor, uint32_t rack, int32_t x, int32_t y)
{
    const struct myr_design *design = floor->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    myr_design_rack_name(design, rack, &tip);
    myr_buf_printf(&tip, ": %.1f of %.1f kW, %u of %u U, %u devices",
                   design->rack_more[rack].watts / 1000.0, design->racks[rack].watts_max / 1000.0,
                   design->rack_more[rack].units, design->racks[rack].units,
                   design->rack_more[rack].devices);
    myr_svg_rect(&floor->svg, x, y, floor->cell_w * 9 / 10, floor->cell_h * 9 / 10,
                 level_css[level_of(design, rack)], tip.data);
    draw_bars(floor, rack, x, y);
    if (floor->names) {
        draw_text(floor, rack, x, y);
    }
}

static void path_rect(struct myr_svg *svg, int32_t x, int32_t y, int32_t w, int32_t h)
{
    myr_svg_path_move(svg, x, y);
    myr_svg_path_line(svg, x + w, y);
    myr_svg_path_line(svg, x + w, y + h);
    myr_svg_path_line(svg, x, y + h);
    myr_svg_path_close(svg);
}

struct strip { /* racks of one building */
    uint32_t first, count, rows, columns;
};

/* Row 1 is at the bottom, as in the room. */
static int32_t row_y(const struct floor *floor, const struct strip *strip, uint32_t rack)
{
    return floor->top + (int32_t)(strip->rows - 1 - floor->design->racks[rack].row) * floor->cell_h;
}

/* One shape for all racks of a level, and one for all bars of a kind. */
static void draw_many(struct floor *floor, const struct strip *strip, const int32_t *column_at)
{
    const struct myr_design *design = floor->design;
    int32_t w = floor->cell_w * 9 / 10, h = floor->cell_h * 9 / 10;
    for (uint32_t level = 0; level <= LEVELS; level++) {
        myr_svg_path_begin(&floor->svg);
        for (uint32_t i = strip->first; i < strip->first + strip->count; i++) {
            if (level_of(design, i) == level) {
                path_rect(&floor->svg, column_at[design->racks[i].column], row_y(floor, strip, i),
                          w, h);
            }
        }
        myr_svg_path_end(&floor->svg, level_css[level], NULL);
    }
    /* Bars of all racks come above all racks: they are drawn later. */
    for (uint32_t mark = 0; mark < MARK_COUNT; mark++) {
        myr_svg_path_begin(&floor->svg);
        for (uint32_t i = strip->first; i < strip->first + strip->count; i++) {
            if (floor->marks[i] & 1U << mark) {
                path_rect(&floor->svg, column_at[design->racks[i].column] + (int32_t)mark * w / 4,
                          row_y(floor, strip, i), w / 3 + 1, h);
            }
        }
        myr_svg_path_end(&floor->svg, mark_css[mark], NULL);
    }
}

/* Not every row and column of a large room can be named. */
static uint32_t every_of(uint32_t count)
{
    return count <= 30 ? 1 : count <= 60 ? 5 : count <= 150 ? 10 : count / 10;
}

/* Letters of columns above, numbers of rows at the left. */
static void draw_axes(struct floor *floor, const struct strip *strip, const int32_t *column_at)
{
    char text[16];
    uint32_t every = every_of(strip->columns);
    for (uint32_t i = 0; i < strip->columns; i++) {
        if (i % every == 0) {
            myr_svg_text(&floor->svg, column_at[i] + floor->cell_w * 9 / 20, floor->top - PX(10),
                         MYR_SVG_MIDDLE, "axis muted", myr_room_column_name(i + 1, text));
        }
    }
    /* Rows are named by their own number, so that round ones are shown. */
    every = every_of(strip->rows);
    for (uint32_t i = 0; i < strip->rows; i++) {
        if ((i + 1) % every == 0 || every == 1) {
            snprintf(text, sizeof(text), "%u", i + 1);
            myr_svg_text(&floor->svg, floor->left - PX(8),
                         floor->top + (int32_t)(strip->rows - 1 - i) * floor->cell_h +
                             floor->cell_h * 6 / 10,
                         MYR_SVG_END, "axis muted", text);
        }
    }
}

/* Racks of a column follow each other, so that its first one tells where it is. */
static void draw_hall(struct floor *floor, const struct strip *strip)
{
    const struct myr_design *design = floor->design;
    /* Once for each column: a rack then only looks it up. */
    int32_t *column_at = myr_xrealloc(NULL, (size_t)strip->columns + 1, sizeof(int32_t));
    for (uint32_t i = 0; i < strip->columns; i++) {
        column_at[i] = column_x(floor, strip->first + i * strip->rows);
    }
    draw_axes(floor, strip, column_at);
    if (strip->count > TIPS_MAX) {
        myr_svg_group(&floor->svg, "small-plan");
        draw_many(floor, strip, column_at);
        myr_svg_group_end(&floor->svg);
    } else {
        for (uint32_t i = strip->first; i < strip->first + strip->count; i++) {
            draw_rack(floor, i, column_at[design->racks[i].column], row_y(floor, strip, i));
        }
    }
    free(column_at);
}

/* What the plan is, how full, and how good its cables are. */
static void draw_head(struct floor *floor)
{
    const struct myr_design *design = floor->design;
    const struct myr_room *room = design->room;
    char line[160], used[32], all[32];
    myr_svg_text(&floor->svg, PX(MARGIN), PX(48), MYR_SVG_START, "h1",
                 myr_design_str(design, design->head->name));
    snprintf(line, sizeof(line), "%s of %s racks in use, %.0f of %.0f kW",
             myr_u64_grouped(room->racks_used, used), myr_u64_grouped(design->rack_count, all),
             (double)room->watts / 1000, (double)room->watts_max / 1000);
    myr_svg_text(&floor->svg, PX(MARGIN), PX(88), MYR_SVG_START, "fig", line);
    snprintf(line, sizeof(line), "%.1f km of cable", (double)room->cable_mm / 1e6);
    myr_svg_text(&floor->svg, PX(MARGIN), PX(122), MYR_SVG_START, "fig", line);
}

/* Shades of power, then colours of bars. */
static void draw_legend(struct floor *floor, int32_t y)
{
    static const char *const shares[LEVELS + 1] = {"empty",   "to 20 %", "to 40 %",
                                                   "to 60 %", "to 80 %", "to 100 %"};
    myr_svg_text(&floor->svg, PX(MARGIN), y, MYR_SVG_START, "key",
                 "power, of what a rack may draw");
    /* Six fields beside each other just fill the page. */
    for (uint32_t i = 0; i <= LEVELS; i++) {
        int32_t x = PX(MARGIN) + (int32_t)i * PX(147);
        myr_svg_rect(&floor->svg, x, y + PX(14), PX(24), PX(24), level_css[i], NULL);
        myr_svg_text(&floor->svg, x + PX(30), y + PX(33), MYR_SVG_START, "key", shares[i]);
    }
    for (uint32_t i = 0; i < MARK_COUNT; i++) {
        int32_t x = PX(MARGIN) + (int32_t)(i % 2) * PX(420),
                at = y + PX(62) + (int32_t)(i / 2) * PX(38);
        myr_svg_rect(&floor->svg, x, at, PX(10), PX(24), mark_css[i], NULL);
        myr_svg_text(&floor->svg, x + PX(30), at + PX(19), MYR_SVG_START, "key", mark_names[i]);
    }
}

/* As wide as the page allows; names and figures only where they can be read. */
static void size_cells(struct floor *floor, uint32_t columns, double aisles)
{
    double room = PAGE_W - 2 * MARGIN - 20;
    /* An aisle of one pitch is drawn half a cell wide. */
    double width = room / (columns + aisles * 0.5);
    width = width > 96 ? 96 : width;
    floor->cell_w = (int32_t)(width * 10);
    /* However many columns there are, something is drawn. */
    floor->cell_w = floor->cell_w < 1 ? 1 : floor->cell_w;
    floor->cell_h = floor->cell_w > PX(58) ? PX(58) : floor->cell_w;
    floor->gap = floor->cell_w / 2;
    floor->names = floor->cell_w >= PX(44);
    floor->figures = floor->cell_w >= PX(60);
    floor->left = PX(MARGIN + 20);
}

/* Aisles as a number of pitches, beside the columns themselves. */
static double aisle_pitches(const struct myr_design *design, const struct strip *strip)
{
    if (strip->columns < 2) {
        return 0;
    }
    /* The first rack of the second column: the first column is at 0. */
    double pitch = design->rack_more[strip->first + strip->rows].x_mm;
    double last = design->rack_more[strip->first + (strip->columns - 1) * strip->rows].x_mm;
    return pitch > 0 ? last / pitch - (strip->columns - 1) : 0;
}

/* The first rack of a building is in its highest row: that tells the rows. */
static uint32_t find_strips(const struct myr_design *design, struct strip *ret)
{
    uint32_t count = 0;
    /* Racks of a building follow each other. */
    for (uint32_t i = 0; i < design->rack_count; i++) {
        uint32_t building = design->rack_more[i].building;
        if (i == 0 || building != design->rack_more[i - 1].building) {
            MYR_ASSERT(count < MYR_ROOM_BUILDINGS_MAX);
            ret[count++] = (struct strip){.first = i, .rows = design->racks[i].row + 1};
        }
        ret[count - 1].count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[i].columns = ret[i].count / ret[i].rows;
    }
    return count;
}

/* The name of a building above its racks. */
static void draw_title(struct floor *floor, uint32_t building)
{
    const struct myr_design *design = floor->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    /* All names of buildings in one text, with commas. */
    const char *names = myr_design_str(design, design->room->building_names[1]);
    for (uint32_t skip = building; skip > 0 && *names; names++) {
        skip -= *names == ',';
    }
    myr_buf_put(&line, names, strcspn(names, ","));
    myr_svg_text(&floor->svg, PX(MARGIN), floor->top - PX(36), MYR_SVG_START, "fig",
                 line.data ? line.data : "");
}

/* Buildings one below the other, all in cells of one size, so that they can be compared. Nothing
 * without a room. */
void myr_plan_racks_svg(const struct myr_design *design, struct myr_buf *buf)
{
    struct strip strips[MYR_ROOM_BUILDINGS_MAX];
    struct floor floor = {.design = design};
    if (!design->room) {
        return;
    }
    uint32_t count = find_strips(design, strips), widest = 1;
    double aisles = 0;
    /* The widest building decides the cells of all. */
    for (uint32_t i = 0; i < count; i++) {
        double here = aisle_pitches(design, &strips[i]);
        widest = strips[i].columns > widest ? strips[i].columns : widest;
        aisles = here > aisles ? here : aisles;
    }
    size_cells(&floor, widest, aisles);
    /* With several buildings each has its name above it. */
    uint32_t title = count > 1 ? 80 : 40;
    int32_t height = PX(HEAD_H + LEGEND_H);
    /* The height is needed before anything is drawn. */
    for (uint32_t i = 0; i < count; i++) {
        height += PX(title) + (int32_t)strips[i].rows * floor.cell_h;
    }
    find_marks(&floor);
    myr_svg_begin_column(&floor.svg, buf, PAGE_W, (uint32_t)height / 10, "floor plan");
    myr_svg_style(&floor.svg, style);
    draw_head(&floor);
    floor.top = PX(HEAD_H);
    for (uint32_t i = 0; i < count; i++) {
        floor.top += PX(title);
        if (count > 1) {
            draw_title(&floor, i);
        }
        draw_hall(&floor, &strips[i]);
        floor.top += (int32_t)strips[i].rows * floor.cell_h;
    }
    draw_legend(&floor, floor.top + PX(30));
    myr_svg_end(&floor.svg);
    free(floor.marks);
}
