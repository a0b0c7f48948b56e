#include <stdio.h>
#include <stdlib.h>

#include "myriad/sched/place_answer.h"
#include "myriad/text/amount.h"
#include "myriad/text/svg.h"

/*
 * The leaves that a gang touches with all their nodes, those of the gang coloured by pipeline stage
 * and numbered within it.
 */

enum {
    PX = 10, /* tenths of a pixel, svg.h */
    WIDTH = 960 * PX,
    EDGE = 16 * PX,    /* around everything */
    NODE = 17 * PX,    /* side of a square */
    STEP = 20 * PX,    /* from node to node */
    ACROSS = 8,        /* nodes side by side */
    GAP = 22 * PX,     /* between leaves */
    HEAD = 20 * PX,    /* name of a leaf or a pod above it */
    TOP = 78 * PX,     /* title and legend */
    COLOURS = 8,       /* then they repeat, with frames */
    LEAVES_MAX = 1024, /* that are drawn */
    WORDS_BYTES = 160
};

static const char style[] =
    ".s0{fill:#0072b2}.s1{fill:#d55e00}.s2{fill:#009e73}.s3{fill:#cc79a7}.s4{fill:#b97f00}"
    ".s5{fill:#3d9fd8}.s6{fill:#6e7681}.s7{fill:#8f8400}"
    ".busy{fill:#d0d7de}.part{fill:#eaeef2;stroke:#d0d7de}.spot{fill:none;stroke:#d0d7de}"
    ".shut{fill:none;stroke:#d55e00;stroke-dasharray:2 2}"
    ".framed{stroke:#1f2328;stroke-width:2}text.tag{fill:#ffffff;font-size:8.5px}"
    "@media (prefers-color-scheme:dark){.busy{fill:#30363d}.part{fill:#21262d;stroke:#30363d}"
    ".spot{stroke:#30363d}.framed{stroke:#e6edf3}}";

/* What is being drawn. */
struct picture {
    const struct myr_place_answer *it;
    struct myr_svg svg;
    uint32_t *cell_of;          /* by node: cell of the gang, or MYR_NONE */
    uint32_t per_stage, stages; /* stages: 0 without a layout */
    int32_t x, y;               /* where the next leaf goes */
};

static int32_t leaf_width(const struct picture *p)
{
    uint32_t across = p->it->shape.group_nodes < ACROSS ? p->it->shape.group_nodes : ACROSS;
    int32_t nodes = (int32_t)across * STEP;
    return nodes > 7 * HEAD / 2 ? nodes : 7 * HEAD / 2; /* its name needs room too */
}

static int32_t leaf_height(const struct picture *p)
{
    return HEAD + (int32_t)((p->it->shape.group_nodes + ACROSS - 1) / ACROSS) * STEP;
}

/* A node of the gang by stage and number, any other by what is free on it. */
static void draw_node(struct picture *p, uint32_t node, int32_t x, int32_t y)
{
    const struct myr_place_answer *it = p->it;
    struct myr_buf tip = {};
    uint32_t cell = p->cell_of[node];
    myr_design_name(&it->design, it->design.head->first_node + node, &tip);
    if (cell == MYR_NONE) {
        uint64_t free_mask = myr_placer_free_mask(it->placer, node);
        uint32_t free_gpus = (uint32_t)__builtin_popcountll(free_mask);
        /* Busy first: whether a full node is also closed makes no difference to the gang. */
        const char *css = free_gpus == 0                          ? "busy"
                          : !myr_placer_is_open(it->placer, node) ? "shut"
                          : free_gpus < it->shape.gpus_per_node   ? "part"
                                                                  : "spot";
        myr_buf_printf(&tip, ": %u of %s free%s", free_gpus,
                       MYR_COUNT(it->shape.gpus_per_node, "GPU"),
                       myr_placer_is_open(it->placer, node) ? "" : ", down or held");
        myr_svg_rect(&p->svg, x, y, NODE, NODE, css, tip.data);
        myr_buf_done(&tip);
        return;
    }
    char css[16], tag[16];
    uint32_t stage = cell / p->per_stage, at = cell % p->per_stage;
    uint64_t rank = (uint64_t)cell * it->request.gpus_per_node;
    myr_buf_printf(&tip, ": ranks %llu-%llu", (unsigned long long)rank,
                   (unsigned long long)rank + it->request.gpus_per_node - 1);
    if (p->stages > 1) {
        myr_buf_printf(&tip, ", stage %u, number %u in it", stage, at);
    }
    /* Colours repeat after eight stages, and every second round has frames. */
    snprintf(css, sizeof(css), "s%u%s", stage % COLOURS, stage / COLOURS % 2 ? " framed" : "");
    snprintf(tag, sizeof(tag), "%u", at);
    myr_svg_rect(&p->svg, x, y, NODE, NODE, css, tip.data);
    myr_svg_text(&p->svg, x + NODE / 2, y + NODE / 2 + 3 * PX, MYR_SVG_MIDDLE, "tag", tag);
    myr_buf_done(&tip);
}

/* Its nodes row by row, and how many of them are the gang's. */
static void draw_leaf(struct picture *p, uint32_t leaf)
{
    const struct myr_place_shape *shape = &p->it->shape;
    uint32_t first = leaf * shape->group_nodes, end = first + shape->group_nodes, ours = 0;
    char words[WORDS_BYTES];
    end = end < shape->nodes ? end : shape->nodes;
    for (uint32_t node = first; node < end; node++) {
        int32_t at = (int32_t)(node - first);
        draw_node(p, node, p->x + at % ACROSS * STEP, p->y + HEAD + at / ACROSS * STEP);
        ours += p->cell_of[node] != MYR_NONE;
    }
    bool pods = shape->pod_nodes > 0 && shape->pod_nodes > shape->group_nodes &&
                shape->pod_nodes < shape->nodes;
    int used = pods ? snprintf(words, sizeof(words), "pod %u, ", first / shape->pod_nodes) : 0;
    snprintf(words + used, sizeof(words) - (size_t)used, "leaf %u: %u", leaf, ours);
    myr_svg_text(&p->svg, p->x, p->y + HEAD - 6 * PX, MYR_SVG_START, "label", words);
}

/* Leaves without a node of the gang are not drawn. */
static bool is_touched(const struct picture *p, uint32_t leaf)
{
    uint32_t first = leaf * p->it->shape.group_nodes, end = first + p->it->shape.group_nodes;
    for (uint32_t node = first; node < end && node < p->it->shape.nodes; node++) {
        if (p->cell_of[node] != MYR_NONE) {
            return true;
        }
    }
    return false;
}

/* Leaves one after the other; 'draw' false only finds the height. */
static int32_t draw_leaves(struct picture *p, bool draw)
{
    uint32_t per = p->it->shape.group_nodes, drawn = 0;
    p->x = EDGE;
    p->y = TOP;
    for (uint32_t leaf = 0; (uint64_t)leaf * per < p->it->shape.nodes; leaf++) {
        if (!is_touched(p, leaf) || ++drawn > LEAVES_MAX) {
            continue;
        }
        /* A new row where the next leaf would not fit. */
        if (p->x > EDGE && p->x + leaf_width(p) > WIDTH - EDGE) {
            p->x = EDGE;
            p->y += leaf_height(p) + GAP;
        }
        if (draw) {
            draw_leaf(p, leaf);
        }
        p->x += leaf_width(p) + GAP;
    }
    return p->y + leaf_height(p) + GAP;
}

/* One sign of the legend; returns where the next one goes. */
static int32_t draw_sign(struct picture *p, int32_t x, const char *css, const char *words,
                         uint32_t width_px)
{
    /* Below the title, above the leaves. */
    int32_t y = 50 * PX;
    myr_svg_rect(&p->svg, x, y, 12 * PX, 12 * PX, css, NULL);
    myr_svg_text(&p->svg, x + 17 * PX, y + 10 * PX, MYR_SVG_START, "label", words);
    return x + (int32_t)width_px * PX;
}

/* As many stages as there are colours, then the states of other nodes. */
static void draw_legend(struct picture *p)
{
    uint32_t stages = p->stages;
    int32_t x = EDGE;
    char words[WORDS_BYTES], css[8];
    for (uint32_t stage = 0; stage < stages && stage < COLOURS && stages > 1; stage++) {
        snprintf(css, sizeof(css), "s%u", stage);
        int used = snprintf(words, sizeof(words), "stage %u", stage);
        if (stage + COLOURS < stages) {
            snprintf(words + used, sizeof(words) - (size_t)used, ", %u", stage + COLOURS);
        }
        x = draw_sign(p, x, css, words, stages > COLOURS ? 92 : 72);
    }
    if (stages > COLOURS) {
        x = draw_sign(p, x, "part framed", "8 and on", 76);
    }
    x = draw_sign(p, x, "spot", "free", 52);
    /* With many stages there is no room for these two. */
    if (stages <= COLOURS) {
        x = draw_sign(p, x, "part", "partly busy", 92);
    }
    x = draw_sign(p, x, "busy", "busy", 52);
    if (stages <= COLOURS) {
        (void)draw_sign(p, x, "shut", "down or held", 96);
    }
}

void myr_place_draw(const struct myr_place_answer *answer, struct myr_buf *buf)
{
    const struct myr_gang *gang = &answer->placement.gang;
    const struct myr_place_cost *cost = &answer->placement.cost;
    char title[WORDS_BYTES];
    MYR_ASSERT(answer->placed);
    struct picture p = {.it = answer, .stages = answer->has_layout ? answer->layout.pp : 0};
    p.cell_of = myr_xcalloc(answer->shape.nodes, sizeof(*p.cell_of));
    /* Cells go stage by stage, because pipeline is the outermost axis. */
    p.per_stage = gang->count / (p.stages ? p.stages : 1);
    /* Several stages may share a node: then each cell is drawn as a stage. */
    p.per_stage = p.per_stage ? p.per_stage : 1;
    for (uint32_t node = 0; node < answer->shape.nodes; node++) {
        p.cell_of[node] = MYR_NONE;
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        p.cell_of[gang->shares[i].node] = i;
    }
    snprintf(title, sizeof(title), "%s under %s of leaves in %s", MYR_COUNT(gang->count, "node"),
             MYR_COUNT(cost->leaves, "set"), MYR_COUNT(cost->pods, "pod"));
    /* The height stands at the head of the file, so it is found before anything is drawn. */
    int32_t height = draw_leaves(&p, false);
    myr_svg_begin(&p.svg, buf, WIDTH / PX, (uint32_t)(height / PX), title);
    myr_svg_style(&p.svg, style);
    myr_svg_text(&p.svg, EDGE, 30 * PX, MYR_SVG_START, "title", title);
    draw_legend(&p);
    (void)draw_leaves(&p, true);
    myr_svg_end(&p.svg);
    free(p.cell_of);
}
