#include <stdio.h>

#include "report/internal.h"

/*
 * Coordinates are tenths of a pixel. Loads are shown by eleven tints of one hue ramp that stays in
 * order for the colour-blind and in print; the number is in the tooltip.
 */

enum {
    PX = 10,
    WIDTH = 960 * PX,
    LEFT = 130 * PX, /* names of the rows */
    RIGHT = 20 * PX,
    COLUMNS_MAX = 64, /* cells in a row; more switches share them */
    ROW = 34 * PX,
    TINTS = 11,
};

/*
 * "None" steps back into the ground; from there to "full" the ramp runs away from it, light or
 * dark. In order for the colour-blind and in print.
 */
static const char tints[] =
    ".t0{fill:#f0f2f5}.t1{fill:#fde725}.t2{fill:#b5de2b}.t3{fill:#6ece58}.t4{fill:#35b779}"
    ".t5{fill:#1f9e89}.t6{fill:#26828e}.t7{fill:#31688e}.t8{fill:#3e4a89}.t9{fill:#482878}"
    ".t10{fill:#440154}.cell{stroke:#57606a;stroke-width:.4;stroke-opacity:.5}"
    "@media (prefers-color-scheme:dark){.t0{fill:#1c2128}.t1{fill:#440154}.t2{fill:#482878}"
    ".t3{fill:#3e4a89}.t4{fill:#31688e}.t5{fill:#26828e}.t6{fill:#1f9e89}.t7{fill:#35b779}"
    ".t8{fill:#6ece58}.t9{fill:#b5de2b}.t10{fill:#fde725}.cell{stroke:#8b949e}}";

/* The links of one switch in one layer and direction. */
struct cell {
    double sum, most;
    uint32_t links, hottest; /* hottest: the channel with 'most' */
};

struct row {
    const char *name;
    uint32_t layer, first, count; /* switches */
    bool upper, down;             /* the switch is at the far end of its links */
};

/* The class of a cell; more than full, as rounding may have it, is full. */
static const char *tint_of(double load, char ret[16])
{
    double scaled = load * (TINTS - 1) + 0.5;
    uint32_t tint = scaled >= TINTS - 1 ? TINTS - 1 : scaled > 0 ? (uint32_t)scaled : 0;
    tint = load > 0 && tint == 0 ? 1 : tint; /* some is not none */
    snprintf(ret, 16, "cell t%u", tint);
    return ret;
}

/* Rows from the hosts up; in other shapes than a Clos everything hangs on routers. */
static uint32_t list_rows(const struct myr_graph *graph, struct row *rows)
{
    static const struct {
        uint32_t layer;
        const char *up, *down;
    } kinds[] = {
        {MYR_LAYER_HOST, "hosts to leaf", "leaf to hosts"},
        {MYR_LAYER_FABRIC, "leaf up", "leaf down"},
        {MYR_LAYER_CORE, "spine up", "spine down"},
        {MYR_LAYER_LOCAL, "local", "local, back"},
        {MYR_LAYER_GLOBAL, "global", "global, back"},
    };
    const struct myr_network *net = graph->net;
    uint32_t count = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        for (uint32_t down = 0; down < 2 && net->links[kinds[i].layer]; down++) {
            struct row row = {down ? kinds[i].down : kinds[i].up,
                              kinds[i].layer,
                              graph->first_switch,
                              graph->switch_count,
                              kinds[i].layer == MYR_LAYER_HOST,
                              down != 0};
            if (kinds[i].layer == MYR_LAYER_CORE) {
                row.first = net->first_spine;
                row.count = net->spine;
            } else if (graph->clos) {
                row.count = net->leaf; /* they are the first of its switches */
            }
            rows[count++] = row;
        }
    }
    return count;
}

/* A cell is as full as its fullest link: a mean would hide the one that holds a run back. */
static void fill_cells(const struct myr_sim *sim, const struct row *row, uint32_t columns,
                       struct cell *cells)
{
    const struct myr_design *design = sim->graph->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        const struct myr_cabletype *type =
            &design->cabletypes[design->cable_type[design->link_cable[link]]];
        uint32_t port = row->upper ? design->link_b[link] : design->link_a[link];
        uint32_t device = design->port_device[port];
        if (type->net != sim->graph->net_id || type->layer != row->layer || device < row->first ||
            device >= row->first + row->count) {
            continue;
        }
        uint32_t channel = link * 2 + row->down;
        /* Where there are more switches than cells, neighbours share one. */
        uint64_t column = (uint64_t)(device - row->first) * columns / row->count;
        struct cell *cell = &cells[column];
        double load = myr_report_load(sim, channel);
        if (cell->links == 0 || load > cell->most) {
            cell->most = load;
            cell->hottest = channel;
        }
        cell->links++;
        cell->sum += load;
    }
}

/* Switches without links of this kind have no cell. */
static void draw_row(struct myr_svg *svg, const struct myr_sim *sim, const struct row *row,
                     int32_t y)
{
    struct cell cells[COLUMNS_MAX] = {};
    uint32_t columns = row->count < COLUMNS_MAX ? row->count : COLUMNS_MAX;
    int32_t width = (WIDTH - LEFT - RIGHT) / (int32_t)(columns ? columns : 1);
    MYR_CLEANUP(myr_buf_done) struct myr_buf tip = {};
    char tint[16];
    fill_cells(sim, row, columns, cells);
    myr_svg_text(svg, LEFT - 10 * PX, y + ROW / 2, MYR_SVG_END, "label", row->name);
    for (uint32_t c = 0; c < columns; c++) {
        const struct cell *cell = &cells[c];
        if (cell->links == 0) {
            continue;
        }
        myr_buf_clear(&tip);
        myr_buf_printf(&tip, "%u link%s, mean %.1f %%, highest %.1f %%: ", cell->links,
                       cell->links == 1 ? "" : "s", cell->sum / cell->links * 100,
                       cell->most * 100);
        myr_report_channel_name(sim, cell->hottest, &tip);
        myr_svg_rect(svg, LEFT + (int32_t)c * width, y, width - (columns > 32 ? 5 : 15),
                     ROW - 6 * PX, tint_of(cell->most, tint), tip.data);
    }
}

/* Each step with the tint that a load of it would have. */
static void draw_legend(struct myr_svg *svg, int32_t y)
{
    char tint[16];
    myr_svg_text(svg, LEFT - 10 * PX, y + 12 * PX, MYR_SVG_END, "label muted", "load");
    for (int32_t i = 0; i < TINTS; i++) {
        char label[16];
        double load = i / (double)(TINTS - 1);
        snprintf(label, sizeof(label), "%d %%", (int)(i * 100 / (TINTS - 1)));
        myr_svg_rect(svg, LEFT + i * 60 * PX, y, 58 * PX, 14 * PX, tint_of(load, tint), NULL);
        myr_svg_text(svg, LEFT + i * 60 * PX, y + 28 * PX, MYR_SVG_START, "label muted", label);
    }
}

/* As high as there are rows, whatever the fabric's shape. */
void myr_report_heatmap(const struct myr_report *report, struct myr_buf *buf)
{
    const struct myr_graph *graph = report->sim->graph;
    struct row rows[MYR_LAYER_COUNT * 2];
    struct myr_svg svg;
    uint32_t count = list_rows(graph, rows);
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = rows[i].count > most ? rows[i].count : most;
    }
    uint32_t height = 60 + count * (ROW / PX) + 70;
    char words[160];
    uint32_t each = (most + COLUMNS_MAX - 1) / COLUMNS_MAX;
    snprintf(words, sizeof(words),
             each > 1 ? "a cell is up to %u switches; its tint is their fullest link"
                      : "a cell is %u switch; its tint is its fullest link",
             each ? each : 1);
    myr_svg_begin(&svg, buf, WIDTH / PX, height, "Load of the links");
    myr_svg_style(&svg, tints);
    myr_svg_text(&svg, 10 * PX, 24 * PX, MYR_SVG_START, "title", "Load of the links");
    myr_svg_text(&svg, 10 * PX, 44 * PX, MYR_SVG_START, "label muted", words);
    for (uint32_t i = 0; i < count; i++) {
        draw_row(&svg, report->sim, &rows[i], (60 + (int32_t)i * (ROW / PX)) * PX);
    }
    draw_legend(&svg, (70 + (int32_t)count * (ROW / PX)) * PX);
    myr_svg_end(&svg);
}
