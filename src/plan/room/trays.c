#include "room/room.h"

#include <math.h>
#include <stdlib.h>

/*
 * How full the trays are. A tray runs over every column, others cross at the room's cross rows (at
 * every row, when it names none). A cable leaves its rack along the column, crosses, and goes along
 * the other column; where any row will do, cables take turns between the rows of their two ends.
 * Counts are kept as differences, so that a cable costs the same however far it goes.
 */

struct hall_trays {
    double *along;  /* by column and row: area between this row and the next, as differences */
    double *across; /* by row and column: the same between this column and the next */
};

struct trays {
    struct room *room;
    struct hall_trays halls[MYR_ROOM_BUILDINGS_MAX];
    double all_mm2;   /* of all cables together */
    double worst_mm2; /* of the fullest tray */
    uint32_t worst_from, worst_to;
};

/* By the order of filling: the highest row first. */
static uint32_t rack_at(const struct room *room, uint32_t hall, uint32_t column, uint32_t row)
{
    const struct hall *h = &room->halls[hall];
    return h->first_rack + column * h->rows + (h->rows - 1 - row);
}

/* Adds a cable between two rows of a column; the same row adds nothing. */
static void along(struct trays *trays, uint32_t hall, uint32_t column, uint32_t a, uint32_t b,
                  double area)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    MYR_ASSERT(trays->halls[hall].along); /* every hall of the room has them */
    double *line = trays->halls[hall].along + (size_t)column * trays->room->halls[hall].rows;
    line[low] += area;
    line[high] -= area;
}

/* The same between two columns of a row. */
static void across(struct trays *trays, uint32_t hall, uint32_t row, uint32_t a, uint32_t b,
                   double area)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    MYR_ASSERT(trays->halls[hall].across); /* every hall of the room has them */
    double *line = trays->halls[hall].across + (size_t)row * trays->room->halls[hall].columns;
    line[low] += area;
    line[high] -= area;
}

/* The row at which a cable crosses; 'turn' decides where both ends' rows are as good. */
static uint32_t crossing_row(const struct room *room, uint32_t a, uint32_t b, uint32_t turn,
                             uint32_t rows)
{
    const struct myr_spec_room *spec = room->spec;
    /* Without cross rows both ends' rows are as short: taking turns fills both trays alike. */
    uint32_t best = turn % 2 ? a : b;
    uint64_t least = UINT64_MAX;
    /* Rows beyond this hall do not count: buildings may have fewer. */
    for (uint32_t i = 0; i < spec->cross_count; i++) {
        uint32_t row = spec->cross_rows[i] - 1;
        uint64_t way = (uint64_t)llabs((int64_t)a - row) + (uint64_t)llabs((int64_t)b - row);
        if (row < rows && way < least) {
            least = way;
            best = row;
        }
    }
    return best;
}

/* Along its column, across, along the other column: three stretches of tray. */
static void run_cable(struct trays *trays, uint32_t from, uint32_t to, uint32_t turn, double area)
{
    const struct stand *a = &trays->room->racks[from], *b = &trays->room->racks[to];
    if (a->hall == b->hall && a->column == b->column) {
        along(trays, a->hall, a->column, a->row, b->row, area);
        return;
    }
    const struct hall *hall = &trays->room->halls[a->hall];
    /* To another building the way goes by the corner of column A and row 1. */
    uint32_t target_row = a->hall == b->hall ? b->row : 0;
    uint32_t target_column = a->hall == b->hall ? b->column : 0;
    uint32_t row = crossing_row(trays->room, a->row, target_row, turn, hall->rows);
    along(trays, a->hall, a->column, a->row, row, area);
    across(trays, a->hall, row, a->column, target_column, area);
    along(trays, a->hall, target_column, row, target_row, area);
    if (a->hall != b->hall) { /* from its corner on, as if it came from there */
        run_cable(trays, rack_at(trays->room, b->hall, 0, 0), to, turn, area);
    }
}

/* Empty trays are not listed. */
static void put_tray(struct trays *trays, uint32_t from, uint32_t to, double area)
{
    struct myr_design *design = &trays->room->plan->design;
    const struct stand *a = &trays->room->racks[from], *b = &trays->room->racks[to];
    const struct myr_spec_room *spec = trays->room->spec;
    double size = spec->tray_width_mm * spec->tray_height_mm;
    /* Less than half a square millimetre is what is left of sums. */
    if (area < 0.5) {
        return;
    }
    design->trays[design->tray_count++] = (struct myr_tray){
        .from_rack = from,
        .to_rack = to,
        .length_mm = (uint32_t)(llabs(a->x_mm - b->x_mm) + llabs(a->y_mm - b->y_mm)),
        .fill_permille = (uint32_t)(area / size * 1000 + 0.5)};
    if (area > trays->worst_mm2) {
        trays->worst_mm2 = area;
        trays->worst_from = from;
        trays->worst_to = to;
    }
}

/* What goes into a line comes out of it: its differences cancel, but for what sums leave. */
static bool comes_out(const struct trays *trays, double area, double last)
{
    return fabs(area + last) < 0.5 + trays->all_mm2 * 1e-6;
}

/* Differences become areas on the way along the line. */
static void sum_hall(struct trays *trays, uint32_t index)
{
    const struct hall *hall = &trays->room->halls[index];
    /* Between the last row and the one behind it there is no tray. */
    for (uint32_t column = 0; column < hall->columns; column++) {
        double area = 0;
        for (uint32_t row = 0; row + 1 < hall->rows; row++) {
            area += trays->halls[index].along[(size_t)column * hall->rows + row];
            put_tray(trays, rack_at(trays->room, index, column, row),
                     rack_at(trays->room, index, column, row + 1), area);
        }
        size_t end = (size_t)(column + 1) * hall->rows - 1;
        MYR_ASSERT(comes_out(trays, area, trays->halls[index].along[end]));
    }
    for (uint32_t row = 0; row < hall->rows; row++) {
        double area = 0;
        for (uint32_t column = 0; column + 1 < hall->columns; column++) {
            area += trays->halls[index].across[(size_t)row * hall->columns + column];
            put_tray(trays, rack_at(trays->room, index, column, row),
                     rack_at(trays->room, index, column + 1, row), area);
        }
        size_t end = (size_t)(row + 1) * hall->columns - 1;
        MYR_ASSERT(comes_out(trays, area, trays->halls[index].across[end]));
    }
}

/* Only the fullest tray is told: the others follow from the list. */
static void note_full(struct trays *trays)
{
    struct room *room = trays->room;
    const struct myr_spec_room *spec = room->spec;
    double size = spec->tray_width_mm * spec->tray_height_mm;
    room->out.tray_fill_permille = (uint32_t)(trays->worst_mm2 / size * 1000 + 0.5);
    if (trays->worst_mm2 <= size * spec->tray_fill) {
        return;
    }
    /* A tray wide enough for the same cables at the allowed fill. */
    double need = trays->worst_mm2 / spec->tray_fill;
    plan_finding(room->plan, MYR_SEVERITY_WARNING, "tray-full", "room",
                 myr_arena_printf(room->arena, "take trays of %.0f x %g mm there, or more of them",
                                  need / spec->tray_height_mm + 0.5, spec->tray_height_mm),
                 "the tray from %s to %s needs %.0f mm2 at a fill of %g, it has %.0f",
                 room_rack_name(room, trays->worst_from), room_rack_name(room, trays->worst_to),
                 need, spec->tray_fill, size);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Cables between switches of two columns go in trunks, from a patch panel in each. */
static void count_trunks(struct room *room)
{
    const struct myr_design *design = &room->plan->design;
    if (!room->spec->trunk_cables) {
        return;
    }
    /* Columns of all buildings, counted through. */
    uint64_t columns = (uint64_t)room->columns * room->hall_count;
    uint64_t *pairs = MYR_ARENA_NEW(room->arena, uint64_t, design->cable_count);
    uint32_t *ports = MYR_ARENA_NEW(room->arena, uint32_t, columns);
    uint32_t count = 0;
    /* Host cables are pulled one by one: only those between switches go in trunks. */
    for (uint32_t i = 0; i < design->cable_count; i++) {
        uint32_t link = design->first_link[i];
        if (room->plan->cabletypes.items[design->cable_type[i]].layer == MYR_LAYER_HOST) {
            continue;
        }
        const struct stand *a =
            &room->racks[room->device_rack[design->port_device[design->link_a[link]]]];
        const struct stand *b =
            &room->racks[room->device_rack[design->port_device[design->link_b[link]]]];
        uint64_t at = (uint64_t)a->hall * room->columns + a->column;
        uint64_t to = (uint64_t)b->hall * room->columns + b->column;
        MYR_ASSERT(at < columns && to < columns);
        if (at != to) {
            /* Either direction is the same pair. */
            pairs[count++] = at < to ? at * columns + to : to * columns + at;
        }
    }
    qsort(pairs, count, sizeof(*pairs), compare_u64);
    /* Pairs of columns that are alike stand together now. */
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && pairs[end] == pairs[i]) {
            end++;
        }
        uint32_t trunks = ceil_div(end - i, room->spec->trunk_cables);
        room->out.trunks += trunks;
        /* A trunk takes all its ports on the panels of both columns, used or not. */
        ports[pairs[i] / columns] += trunks * room->spec->trunk_cables;
        ports[pairs[i] % columns] += trunks * room->spec->trunk_cables;
        i = end;
    }
    for (uint64_t i = 0; i < columns; i++) {
        room->out.panels += ceil_div(ports[i], room->spec->panel_ports);
    }
    plan_finding(room->plan, MYR_SEVERITY_INFO, "patch-panels", "room",
                 "remove 'trunks' to pull every cable by itself",
                 "%u trunks of %u cables and %u patch panels of %u ports join switches of "
                 "different columns",
                 room->out.trunks, room->spec->trunk_cables, room->out.panels,
                 room->spec->panel_ports);
}

/* After lengths: copper and fibre are of different thickness. */
void room_trays(struct room *room)
{
    struct myr_design *design = &room->plan->design;
    const struct myr_spec_room *spec = room->spec;
    struct trays trays = {.room = room};
    size_t segments = 0;
    for (uint32_t i = 0; i < room->hall_count; i++) {
        const struct hall *hall = &room->halls[i];
        trays.halls[i].along = MYR_ARENA_NEW(room->arena, double, hall->racks);
        trays.halls[i].across = MYR_ARENA_NEW(room->arena, double, hall->racks);
        segments += 2 * (size_t)hall->racks;
    }
    /* A cable needs its round section, not the square around it; 'fill' has what stays between. */
    const double quarter_pi = 0.785398163397448;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        const struct myr_cabletype *type = &room->plan->cabletypes.items[design->cable_type[i]];
        double d = type->medium == MYR_MEDIUM_COPPER ? spec->copper_mm : spec->fibre_mm;
        uint32_t link = design->first_link[i];
        uint32_t a = room->device_rack[design->port_device[design->link_a[link]]];
        uint32_t b = room->device_rack[design->port_device[design->link_b[link]]];
        if (a != b) {
            trays.all_mm2 += quarter_pi * d * d;
            run_cable(&trays, a, b, i, quarter_pi * d * d);
        }
    }
    /* At most one along and one across for every rack. */
    design->trays = MYR_ARENA_NEW(room->arena, struct myr_tray, segments);
    for (uint32_t i = 0; i < room->hall_count; i++) {
        sum_hall(&trays, i);
    }
    note_full(&trays);
    count_trunks(room);
}
