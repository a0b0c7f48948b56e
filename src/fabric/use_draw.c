#include <stdio.h>

#include "myriad/fabric/use.h"
#include "myriad/text/amount.h"
#include "myriad/text/svg.h"

/*
 * Tiers from the hosts at the bottom to the cores on top. A tier with many devices in use shows
 * them in boxes of neighbours, so that the drawing stays below a few hundred shapes however large
 * the job is: what lies between two boxes is one line, as thick as its fullest link. Lines of one
 * thickness are one shape.
 */

enum {
    PX = 10,         /* tenths of a pixel, svg.h */
    BOXES_MAX = 40,  /* of a tier */
    LINES_MANY = 60, /* beyond, they are drawn finer */
    TIERS_MAX = 4,   /* hosts, leaves, spines, cores */
    WIDTH = 1200 * PX,
    LEFT = 110 * PX, /* for the titles of tiers */
    RIGHT = 20 * PX,
    TOP = 60 * PX,
    TIER_STEP = 150 * PX, /* from one tier to the next */
    BOX_HEIGHT = 26 * PX,
    BOX_WIDTH_MAX = 90 * PX,
    THICKNESSES = 4, /* of lines up to line rate */
};

static const char style[] = ".load-0{stroke-width:.6}.load-1{stroke-width:1.2}"
                            ".load-2{stroke-width:2}.load-3{stroke-width:3}";
/* Where lines lie close, thinner ones still show where they go. */
static const char fine_style[] = ".load-0{stroke-width:.2}.load-1{stroke-width:.4}"
                                 ".load-2{stroke-width:.7}.load-3{stroke-width:1}"
                                 ".link-hot{stroke-width:.8;stroke-opacity:.6}";
static const char *const thickness_css[THICKNESSES] = {"link load-0", "link load-1", "link load-2",
                                                       "link load-3"};

/* Devices in use, the boxes that show them and how many devices are in each but the last. */
struct tier {
    const char *title, *css;
    uint32_t devices, boxes, box_devices;
    int32_t y, box_width;
};

struct picture {
    const struct myr_use *use;
    const struct myr_design *design;
    struct myr_svg svg;
    struct tier tiers[TIERS_MAX]; /* from below */
    uint32_t tier_count;          /* up to the highest one in use */
    uint8_t *tier_of;             /* by device */
    uint32_t *box_of;             /* by device: MYR_NONE when not in use */
};

/* Tiers by kind: hosts of all sorts below, routers and access switches where leaves are. */
static uint32_t tier_of_kind(enum myr_device_kind kind)
{
    switch (kind) {
    case MYR_DEVICE_LEAF:
    case MYR_DEVICE_ROUTER:
    case MYR_DEVICE_ACCESS:
        return 1;
    case MYR_DEVICE_SPINE:
    case MYR_DEVICE_AGGREGATION:
        return 2;
    case MYR_DEVICE_CORE:
        return 3;
    default:
        return 0;
    }
}

/* Which tier each device belongs to, and how many of each are in use. */
static void count_tiers(struct picture *picture)
{
    static const struct tier empty[TIERS_MAX] = {{.title = "servers", .css = "host"},
                                                 {.title = "leaves", .css = "leaf"},
                                                 {.title = "spines", .css = "spine"},
                                                 {.title = "cores", .css = "core"}};
    const struct myr_design *design = picture->design;
    memcpy(picture->tiers, empty, sizeof(empty));
    for (uint32_t device = 0; device < design->device_count; device++) {
        enum myr_device_kind kind = (enum myr_device_kind)design->place[device].kind;
        uint32_t tier = tier_of_kind(kind);
        picture->tier_of[device] = (uint8_t)tier;
        picture->tiers[tier].devices += picture->use->links[device] > 0;
        /* A tier with routers in it is called by them. */
        if (kind == MYR_DEVICE_ROUTER && picture->use->links[device]) {
            picture->tiers[tier].title = "routers";
        }
    }
    /* Tiers are drawn up to the highest one in use, empty ones between included. */
    for (uint32_t i = 0; i < TIERS_MAX; i++) {
        picture->tier_count = picture->tiers[i].devices ? i + 1 : picture->tier_count;
    }
}

/*
 * Devices of a tier go into boxes in the order of their numbers, so that neighbours are
 * together.
 */
static void place_boxes(struct picture *picture)
{
    const struct myr_design *design = picture->design;
    uint32_t seen[TIERS_MAX] = {};
    for (uint32_t i = 0; i < picture->tier_count; i++) {
        struct tier *tier = &picture->tiers[i];
        /* As few devices a box as fit into the most boxes allowed. */
        tier->box_devices = (tier->devices + BOXES_MAX - 1) / BOXES_MAX;
        tier->boxes = tier->devices ? (tier->devices - 1) / tier->box_devices + 1 : 0;
        tier->y = TOP + (int32_t)(picture->tier_count - 1 - i) * TIER_STEP;
        int32_t room = tier->boxes ? (WIDTH - LEFT - RIGHT) / (int32_t)tier->boxes : 0;
        /* A fifth of the room stays free between boxes. */
        int32_t width = room * 8 / 10;
        tier->box_width = width < BOX_WIDTH_MAX ? width : BOX_WIDTH_MAX;
    }
    for (uint32_t device = 0; device < design->device_count; device++) {
        struct tier *tier = &picture->tiers[picture->tier_of[device]];
        picture->box_of[device] = MYR_NONE;
        if (picture->use->links[device]) {
            uint32_t at = seen[picture->tier_of[device]]++;
            picture->box_of[device] = at / tier->box_devices;
        }
    }
}

static int32_t box_middle(const struct tier *tier, uint32_t box)
{
    int32_t room = (WIDTH - LEFT - RIGHT) / (int32_t)tier->boxes;
    return LEFT + (int32_t)box * room + room / 2;
}

/* The fullest link between two boxes; within a tier both may be the same. */
struct line {
    uint32_t lower, upper;         /* tiers */
    uint32_t lower_box, upper_box; /* in them */
    uint64_t load;                 /* of the fullest link */
};

struct lines {
    struct myr_u64map index; /* tiers and boxes, to its place in 'items' */
    MYR_VEC(struct line) items;
};

/* One line for each pair of boxes. Box numbers are below BOXES_MAX and fit into 16 bits each. */
static void collect_lines(const struct picture *picture, struct lines *lines)
{
    const struct myr_design *design = picture->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint64_t up = picture->use->load[link * 2], down = picture->use->load[link * 2 + 1];
        uint64_t load = up > down ? up : down;
        uint32_t a = design->port_device[design->link_a[link]];
        uint32_t b = design->port_device[design->link_b[link]];
        if (load == 0) {
            continue;
        }
        struct line line = {picture->tier_of[a], picture->tier_of[b], picture->box_of[a],
                            picture->box_of[b], load};
        uint64_t key = (uint64_t)(line.lower * TIERS_MAX + line.upper) << 32 |
                       (uint64_t)line.lower_box << 16 | line.upper_box;
        uint32_t *at = myr_u64map_find(&lines->index, key);
        if (!at) {
            myr_u64map_add(&lines->index, key, (uint32_t)lines->items.count);
            myr_vec_push(&lines->items, line);
        } else {
            MYR_ASSERT(*at < lines->items.count);
            struct line *known = &lines->items.items[*at];
            known->load = known->load < load ? load : known->load;
        }
    }
}

/* 0 to 3 by load up to line rate; THICKNESSES: more than fits. */
static uint32_t thickness(uint64_t load)
{
    if (load > MYR_LOAD_ONE) {
        return THICKNESSES;
    }
    uint64_t step = load * THICKNESSES / MYR_LOAD_ONE;
    return step < THICKNESSES ? (uint32_t)step : THICKNESSES - 1;
}

/* Within a tier a curve above the boxes, higher the farther it goes; inside one box nothing. */
static void draw_line(struct picture *picture, const struct line *line)
{
    const struct tier *lower = &picture->tiers[line->lower], *upper = &picture->tiers[line->upper];
    int32_t x1 = box_middle(lower, line->lower_box), x2 = box_middle(upper, line->upper_box);
    if (line->lower != line->upper) {
        myr_svg_path_move(&picture->svg, x1, lower->y);
        myr_svg_path_line(&picture->svg, x2, upper->y + BOX_HEIGHT);
    } else if (x1 != x2) {
        int32_t far = x1 > x2 ? x1 - x2 : x2 - x1;
        myr_svg_path_move(&picture->svg, x1, lower->y);
        myr_svg_path_curve(&picture->svg, (x1 + x2) / 2, lower->y - far / 4, x2, lower->y);
    }
}

static void lines_done(struct lines *lines)
{
    myr_u64map_done(&lines->index);
    myr_vec_done(&lines->items);
}

/* One path for each thickness: fewer shapes, smaller files. */
static void draw_lines(struct picture *picture)
{
    MYR_CLEANUP(lines_done) struct lines lines = {};
    collect_lines(picture, &lines);
    myr_svg_style(&picture->svg, lines.items.count > LINES_MANY ? fine_style : style);
    /* Hot lines come last, and lie above the others. */
    for (uint32_t width = 0; width <= THICKNESSES; width++) {
        bool begun = false;
        for (size_t i = 0; i < lines.items.count; i++) {
            /* Lines are walked once a thickness: there are few of either. */
            if (thickness(lines.items.items[i].load) != width) {
                continue;
            }
            if (!begun) {
                myr_svg_path_begin(&picture->svg);
                begun = true;
            }
            draw_line(picture, &lines.items.items[i]);
        }
        if (begun) {
            bool hot = width == THICKNESSES;
            myr_svg_path_end(&picture->svg, hot ? "link-hot" : thickness_css[width],
                             hot ? "load above 1" : NULL);
        }
    }
}

/* First and last device in it, for the tip; 'highest' of all links at them. */
struct box {
    uint32_t first, last, count; /* devices */
    uint64_t highest;
};

/* A single device bears its name, several their number. */
static void draw_box(struct picture *picture, const struct tier *tier, uint32_t index,
                     const struct box *box)
{
    const struct myr_design *design = picture->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf label = {};
    int32_t middle = box_middle(tier, index);
    myr_design_name(design, box->first, &tip);
    /* The kind before the slash is the tier's title already. */
    const char *slash = strchr(tip.data, '/');
    myr_buf_puts(&label, box->count == 1 && slash ? slash + 1 : "");
    if (box->count > 1) {
        myr_buf_put_lit(&tip, " to ");
        myr_design_name(design, box->last, &tip);
        myr_buf_printf(&tip, ", %s", MYR_COUNT(box->count, "device"));
        myr_buf_printf(&label, "\xC3\x97%u", box->count);
    }
    myr_buf_printf(&tip, ", maximum load %.3f", (double)box->highest / (double)MYR_LOAD_ONE);
    myr_svg_rect(&picture->svg, middle - tier->box_width / 2, tier->y, tier->box_width, BOX_HEIGHT,
                 tier->css, tip.data);
    /* About six pixels a letter: a label that does not fit is left out, the tip still says it. */
    if ((int32_t)label.len * 6 * PX <= tier->box_width + 8 * PX) {
        myr_svg_text(&picture->svg, middle, tier->y + BOX_HEIGHT / 2 + 3 * PX, MYR_SVG_MIDDLE,
                     "label-small", label.data);
    }
}

/* First what is in each box, then the boxes. */
static void draw_tier(struct picture *picture, uint32_t which)
{
    const struct tier *tier = &picture->tiers[which];
    const struct myr_design *design = picture->design;
    char text[64];
    struct box boxes[BOXES_MAX] = {};
    for (uint32_t device = 0; device < design->device_count; device++) {
        if (picture->tier_of[device] != which || picture->box_of[device] == MYR_NONE) {
            continue;
        }
        struct box *box = &boxes[picture->box_of[device]];
        uint64_t load = picture->use->highest[device];
        box->first = box->count++ ? box->first : device;
        box->last = device;
        box->highest = load > box->highest ? load : box->highest;
    }
    snprintf(text, sizeof(text), "%u %s", tier->devices, tier->title);
    myr_svg_text(&picture->svg, 14 * PX, tier->y + BOX_HEIGHT / 2 + 4 * PX, MYR_SVG_START, "label",
                 text);
    for (uint32_t i = 0; i < tier->boxes; i++) {
        draw_box(picture, tier, i, &boxes[i]);
    }
}

/* The picture is written into 'buf'; all else lives in memory of its own. */
void myr_use_draw(const struct myr_use *use, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    const struct myr_design *design = use->graph->design;
    struct picture picture = {.use = use, .design = design};
    char title[128];
    myr_arena_init(&scratch);
    picture.tier_of = MYR_ARENA_NEW(&scratch, uint8_t, design->device_count);
    picture.box_of = MYR_ARENA_NEW(&scratch, uint32_t, design->device_count);
    count_tiers(&picture);
    place_boxes(&picture);
    /* One step less than tiers, and room for the last line. */
    uint32_t height = TOP + picture.tier_count * TIER_STEP - TIER_STEP + BOX_HEIGHT + 50 * PX;
    snprintf(title, sizeof(title), "%.60s: paths of %s", myr_design_str(design, design->head->name),
             MYR_COUNT(use->flow_count, "flow"));
    myr_svg_begin(&picture.svg, buf, WIDTH / PX, height / PX, title);
    /* Lines first: boxes cover their ends. */
    draw_lines(&picture);
    myr_svg_text(&picture.svg, 14 * PX, 30 * PX, MYR_SVG_START, "title", title);
    for (uint32_t i = 0; i < picture.tier_count; i++) {
        if (picture.tiers[i].devices) {
            draw_tier(&picture, i);
        }
    }
    myr_svg_text(&picture.svg, 14 * PX, (int32_t)height - 14 * PX, MYR_SVG_START, "label muted",
                 "The thicker a line, the higher the load of the fullest link behind it; orange: "
                 "above line rate.");
    myr_svg_end(&picture.svg);
}
