/*
 * What the files of the drawing share. Coordinates are tenths of a pixel, as in myriad/text/svg.h.
 *
 * The page is a column of cards. A card's contents are drawn into a buffer of their own first, so
 * that its frame, which must come before them, can have the height they turned out to need.
 *
 * Text is placed by an estimate of its width that errs on the wide side (fonts differ between
 * machines, the bytes of the drawing do not); what might not fit is shortened.
 */
#pragma once

#include "myriad/plan.h"

#define PX(pixels)     ((int32_t)(pixels)*10)
#define DRAW_ROW_MAX   48 /* marks in one row */
#define DRAW_RAIL_HUES 8  /* classes r0 to r7 of the stylesheet; more rails repeat them */

/* Corner at the top left. A height of 0 is not known yet, or follows from what is drawn. */
struct draw_area {
    int32_t x, y, width, height;
};

/*
 * A page as wide as a desk's screen, and one as wide as a phone's. The narrow one is filled from
 * the top, piece by piece (narrow.c).
 */
#define DRAW_PAGE_WIDTH   PX(1400)
#define DRAW_NARROW_WIDTH PX(390)
#define DRAW_NARROW_X     PX(16)
#define DRAW_NARROW_INNER (DRAW_NARROW_WIDTH - 2 * DRAW_NARROW_X)

/* Room for a few words: a class, a label, a number with its unit. */
#define DRAW_WORDS_BYTES 128

/* What is drawn into, and scratch that all pieces share. */
struct drawing {
    struct myr_svg svg;
    const struct myr_design *design;
    struct myr_buf tip, name; /* scratch */
    bool thinned;             /* a mesh has more lines than are drawn */
    struct myr_buf gutter;    /* of the network at hand */
    struct {
        struct myr_buf rules;
        int32_t y;              /* how far down the narrow page is filled */
        uint32_t count, frames; /* numbers of the next piece and frame */
    } narrow;
};

/* pieces that a narrow screen puts elsewhere (narrow.c) */

/* What is drawn until the end of the piece moves as one. */
void plan_draw_piece(struct drawing *drawing);
/* From its place on the page to its place on the narrow one; returns its height there. */
int32_t plan_draw_piece_end(struct drawing *drawing, struct draw_area from, struct draw_area to);
/* The same, to the end of the narrow page. */
void plan_draw_piece_below(struct drawing *drawing, struct draw_area from);
/* The frame of a card that begins at 'top' of the narrow page; returns the number of its class. */
uint32_t plan_draw_frame(struct drawing *drawing, int32_t top);
void plan_draw_narrow_style(struct drawing *drawing, struct myr_buf *ret);

/* text (text.c) */

/* Estimated width of a text in a font of that many pixels. */
int32_t plan_draw_width(const char *text, uint32_t font_px);
/* Shortens the text in place, with an ellipsis, until it fits. 'size' is that of the buffer. */
void plan_draw_fit(char *text, size_t size, uint32_t font_px, int32_t width);
MYR_PRINTF(6, 7)
void plan_draw_text(struct drawing *drawing, int32_t x, int32_t y, enum myr_svg_anchor anchor,
                    const char *css, const char *fmt, ...);
/* As above, but shortened to fit; the font's size follows from the class. */
MYR_PRINTF(7, 8)
void plan_draw_text_in(struct drawing *drawing, int32_t x, int32_t y, int32_t width,
                       enum myr_svg_anchor anchor, const char *css, const char *fmt, ...);
/* A word in a rounded frame; returns the x behind it. */
int32_t plan_draw_chip(struct drawing *drawing, int32_t x, int32_t y, const char *css,
                       const char *text);
/* A tooltip; valid until the next one. */
MYR_PRINTF(2, 3)
const char *plan_draw_tip(struct drawing *drawing, const char *fmt, ...);
/* The address of a device; valid until the next one. */
const char *plan_draw_name(struct drawing *drawing, uint32_t device);

/* "1:1", "6.4:1". These and the next return 'ret', of DRAW_WORDS_BYTES. */
const char *plan_draw_ratio(uint32_t milli, char *ret);
/* "400 Gb/s", "102.4 Tb/s". */
const char *plan_draw_rate(uint64_t gbps, char *ret);
/* "7 switches"; the word in the plural. */
const char *plan_draw_plural(uint64_t count, const char *word, char *ret);

/* rows of boxes (row.c) */

/* One box of a row. */
struct draw_mark {
    int32_t x;      /* middle */
    uint32_t index; /* in the row's tier; MYR_NONE: stands for all that are not drawn */
    uint32_t hue;   /* rail, or MYR_NONE */
};

/* One tier, or a part of it: as many boxes as there is room for, then one for the rest. */
struct draw_row {
    struct draw_mark marks[DRAW_ROW_MAX];
    /* Marks with the one for the rest; devices of the tier; those of them that are not drawn. */
    uint32_t count, total, rest;
    uint32_t first_device;
    int32_t y, height, box; /* of the boxes; 'box' is their width */
    const char *css;
    const char *rest_word; /* "more" when NULL */
};

/* Boxes for 'total' devices evenly over the width. */
void plan_draw_place(struct draw_row *row, int32_t x, int32_t width, uint32_t total, uint32_t max);
void plan_draw_boxes(struct drawing *drawing, const struct draw_row *row);
/* A frame that stands for what is not drawn. */
void plan_draw_rest(struct drawing *drawing, struct draw_area at, const char *label,
                    const char *tip);
/* The same for the last mark of a row, "+37", in a box that is wide enough for it. */
void plan_draw_rest_mark(struct drawing *drawing, const struct draw_row *row, const char *tip);

/* Lines from each lower box to the upper ones that it is cabled to. */
void plan_draw_mesh(struct drawing *drawing, const struct draw_row *lower,
                    const struct draw_row *upper);
/* "4 links a pair", from one device to all of a tier. Returns 'ret', of DRAW_WORDS_BYTES. */
const char *plan_draw_pairs(const struct myr_design *design, uint32_t device, uint32_t first,
                            uint32_t count, char *ret);

/* What hangs on a switch. */
struct draw_hosts {
    /* First and last node are ordinals; first_node is MYR_NONE where there is no node. */
    uint32_t ports, devices, first_node, last_node;
    uint32_t kinds[MYR_DEVICE_KIND_COUNT];
};

struct draw_hosts plan_draw_hosts_of(const struct myr_design *design, uint32_t device);
/* "32 GPU nodes, 4 storage servers". 'ret' holds DRAW_WORDS_BYTES; returns 'ret'. */
const char *plan_draw_hosts_text(const struct draw_hosts *hosts, char *ret);
/* A pile of hosts, tinted by kind. */
void plan_draw_pile(struct drawing *drawing, struct draw_area at, const struct draw_hosts *hosts,
                    const char *tip);

/* one network (net.c, clos.c, pod.c, rail.c, group.c, torus.c, tier.c) */

/* A network and where on the page it goes. */
struct draw_net {
    const struct myr_network *net;
    enum myr_net_id id;
    bool half; /* the card is half a page wide */
    struct draw_area gutter, canvas;
};

/* Each draws into gutter and canvas, which have no height yet, and returns the y below. */
/* Clos in a wide sense: access networks as well. */
int32_t plan_draw_clos(struct drawing *drawing, const struct draw_net *view);
int32_t plan_draw_rail_only(struct drawing *drawing, const struct draw_net *view);
int32_t plan_draw_dragonfly(struct drawing *drawing, const struct draw_net *view);
int32_t plan_draw_torus(struct drawing *drawing, const struct draw_net *view);

/* Leaves, spines and hosts that belong together: a pod, or a dragonfly+ group. */
struct draw_pod {
    struct draw_row leaves, spines;
    uint32_t group_leaves;       /* leaves that share their hosts: rails, or homes */
    bool railed;                 /* leaf k of a group takes NIC k of each host */
    bool racked;                 /* each leaf stands amid its hosts */
    int32_t host_y, host_height; /* of the hosts below the leaves */
    struct draw_area area;
};

/* Where things go; then the drawing itself. The rows' first devices and heights are set before. */
void plan_draw_pod_place(struct draw_pod *pod, struct draw_area area, uint32_t leaves,
                         uint32_t spines, uint32_t spines_max);
void plan_draw_pod(struct drawing *drawing, const struct draw_pod *pod);

/* Heading of a tier, and what runs between two tiers, in the gutter, which is written last. */
void plan_draw_gutter(struct drawing *drawing);
void plan_draw_tier(struct drawing *drawing, const struct draw_net *view, int32_t y,
                    const char *name, const char *line, const char *second);
void plan_draw_layer(struct drawing *drawing, const struct draw_net *view, int32_t y,
                     enum myr_layer layer, const char *line, uint32_t ratio_milli);

/* Card contents: network with its table, inside of a node, legend. Each returns the y below. */
int32_t plan_draw_network(struct drawing *drawing, struct draw_area card, enum myr_net_id id);
int32_t plan_draw_inside(struct drawing *drawing, struct draw_area card);
int32_t plan_draw_legend(struct drawing *drawing, struct draw_area card);
/* Access switches that a host hangs on. */
uint32_t plan_draw_homes(const struct myr_network *net);
/* Whether the network's card is half a page wide. */
bool plan_draw_is_half(const struct myr_design *design, enum myr_net_id id);
