#include <stdio.h>
#include <stdlib.h>

#include "report_internal.h"

/*
 * Coordinates are tenths of a pixel. Loads are shown by eleven tints of one hue ramp that stays in
 * order for the colour-blind and in print; the number is in the tooltip.
 */

enum {
    PX = 10,
    WIDTH = 960 * PX,
    LEFT = 130 * PX, /* names of the rows */
    RIGHT = 20 * PX,
    COLUMNS_MAX = 64,
    ROW = 34 * PX,
    TINTS = 11,
};

static const char tints[] = ".t0{fill:#eef0f4}.t1{fill:#d7dbe6}.t2{fill:#b9c1d6}.t3{fill:#97a6c6}"
                            ".t4{fill:#7a8cb0}.t5{fill:#8a8a86}.t6{fill:#a59c74}.t7{fill:#c2ae5f}"
                            ".t8{fill:#dfc14a}.t9{fill:#f2d33a}.t10{fill:#fde725}"
                            ".cell{stroke:none}.bar{fill:#0072b2}.curve{fill:none;stroke:#d55e00;"
                            "stroke-width:2}.axis{stroke:#57606a;stroke-width:1}"
                            ".grid{stroke:#57606a;stroke-width:.5;stroke-opacity:.3}"
                            "@media (prefers-color-scheme:dark){.t0{fill:#1c2128}.t1{fill:#243049}"
                            ".t2{fill:#2c3e63}.t3{fill:#3a4f7a}.bar{fill:#56b4e9}"
                            ".curve{stroke:#ff8c42}.axis,.grid{stroke:#8b949e}}";

/* The links of one switch in one layer and direction. */
struct cell {
    double sum, most;
    uint32_t links, hottest;
};

struct row {
    const char *name;
    uint32_t layer, first, count; /* switches */
    bool upper, down;             /* the switch is at the far end of its links */
};

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
                row.first = net->first_leaf;
                row.count = net->leaf;
            }
            rows[count++] = row;
        }
    }
    return count;
}

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

static void draw_row(struct myr_svg *svg, const struct myr_sim *sim, const struct row *row,
                     int32_t y)
{
    struct cell cells[COLUMNS_MAX] = {{0}};
    uint32_t columns = row->count < COLUMNS_MAX ? row->count : COLUMNS_MAX;
    int32_t width = (WIDTH - LEFT - RIGHT) / (int32_t)(columns ? columns : 1);
    struct myr_buf tip = {0};
    char tint[16];
    fill_cells(sim, row, columns, cells);
    myr_svg_text(svg, LEFT - 10 * PX, y + ROW / 2, MYR_SVG_END, "label", row->name);
    for (uint32_t c = 0; c < columns; c++) {
        const struct cell *cell = &cells[c];
        if (cell->links == 0) {
            continue;
        }
        myr_buf_clear(&tip);
        myr_buf_printf(&tip, "%u links, mean %.1f %%, highest %.1f %%: ", cell->links,
                       cell->sum / cell->links * 100, cell->most * 100);
        myr_report_channel_name(sim, cell->hottest, &tip);
        myr_svg_rect(svg, LEFT + (int32_t)c * width, y, width - (columns > 32 ? 5 : 15),
                     ROW - 6 * PX, tint_of(cell->most, tint), tip.data);
    }
    myr_buf_done(&tip);
}

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

void report_draw_heatmap(const struct myr_report *report, struct myr_buf *buf)
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

void myr_report_heatmap(const struct myr_report *report, struct myr_buf *buf)
{
    report_draw_heatmap(report, buf);
}

static int by_time(const void *a, const void *b)
{
    myr_ps left = *(const myr_ps *)a, right = *(const myr_ps *)b;
    return left < right ? -1 : left > right;
}

uint32_t report_times(const struct myr_report *report, uint32_t job, myr_ps **ret)
{
    const struct myr_report_job *of = &report->jobs[job];
    const struct myr_sim *sim = report->sim;
    uint32_t first = of->flow_count ? of->first_flow : of->first_task;
    uint32_t count = of->flow_count ? of->flow_count : of->task_count, found = 0;
    myr_ps *times = myr_xcalloc(count + 1, sizeof(*times));
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_task *task = &sim->tasks.items[first + i];
        if (task->kind == SIM_TRANSFER) {
            times[found++] = task->end - task->start;
        }
    }
    qsort(times, found, sizeof(*times), by_time);
    *ret = times;
    return found;
}

enum { BINS = 48, PLOT_TOP = 50 * PX, PLOT_HEIGHT = 190 * PX, PLOT_LEFT = 60 * PX };

static void draw_axes(struct myr_svg *svg, myr_ps most, uint32_t tallest)
{
    const int32_t bottom = PLOT_TOP + PLOT_HEIGHT, right = WIDTH - PLOT_LEFT;
    char label[32];
    for (int32_t i = 0; i <= 4; i++) {
        int32_t y = bottom - PLOT_HEIGHT * i / 4;
        int32_t x = PLOT_LEFT + (right - PLOT_LEFT) * i / 4;
        myr_svg_line(svg, PLOT_LEFT, y, right, y, i ? "grid" : "axis", NULL);
        snprintf(label, sizeof(label), "%u", (uint32_t)((uint64_t)tallest * (uint32_t)i / 4));
        myr_svg_text(svg, PLOT_LEFT - 6 * PX, y + 4 * PX, MYR_SVG_END, "label muted", label);
        snprintf(label, sizeof(label), "%d %%", i * 25);
        myr_svg_text(svg, right + 6 * PX, y + 4 * PX, MYR_SVG_START, "label muted", label);
        snprintf(label, sizeof(label), "%.1f us", report_us(most) * i / 4);
        myr_svg_text(svg, x, bottom + 18 * PX, i == 4 ? MYR_SVG_END : MYR_SVG_MIDDLE, "label muted",
                     label);
    }
}

/* How many of the times lie in each part of 0 to the longest. */
static uint32_t fill_bins(const myr_ps *times, uint32_t count, uint32_t *bins)
{
    uint32_t tallest = 0;
    myr_ps most = times[count - 1] > 0 ? times[count - 1] : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bin = (uint32_t)((__int128)times[i] * BINS / most);
        bin = bin < BINS ? bin : BINS - 1;
        bins[bin]++;
        tallest = bins[bin] > tallest ? bins[bin] : tallest;
    }
    return tallest;
}

void report_draw_times(const struct myr_report *report, uint32_t job, struct myr_buf *buf)
{
    struct myr_svg svg;
    myr_ps *times;
    uint32_t count = report_times(report, job, &times), bins[BINS] = {0}, below = 0;
    const int32_t bottom = PLOT_TOP + PLOT_HEIGHT, wide = (WIDTH - 2 * PLOT_LEFT) / BINS;
    char tip[128];
    myr_svg_begin(&svg, buf, WIDTH / PX, 280, "Completion times");
    myr_svg_style(&svg, tints);
    myr_svg_text(&svg, 10 * PX, 24 * PX, MYR_SVG_START, "title", "Completion times");
    if (count) {
        uint32_t tallest = (fill_bins(times, count, bins) + 3) / 4 * 4; /* whole numbers at ticks */
        myr_ps most = times[count - 1];
        MYR_ASSERT(tallest > 0);
        draw_axes(&svg, most, tallest);
        for (int32_t i = 0; i < BINS; i++) {
            int32_t high = (int32_t)((int64_t)PLOT_HEIGHT * bins[i] / tallest);
            snprintf(tip, sizeof(tip), "%u from %.3f to %.3f us", bins[i],
                     report_us(most) * i / BINS, report_us(most) * (i + 1) / BINS);
            if (bins[i]) {
                myr_svg_rect(&svg, PLOT_LEFT + i * wide, bottom - high, wide - 15, high, "bar",
                             tip);
            }
        }
        myr_svg_path_begin(&svg);
        myr_svg_path_move(&svg, PLOT_LEFT, bottom);
        for (int32_t i = 0; i < BINS; i++) {
            below += bins[i];
            myr_svg_path_line(&svg, PLOT_LEFT + (i + 1) * wide,
                              bottom - (int32_t)((int64_t)PLOT_HEIGHT * below / count));
        }
        myr_svg_path_end(&svg, "curve", "part that has ended by then");
    }
    myr_svg_end(&svg);
    free(times);
}
