#include "room/room.h"

#include <stdlib.h>

/*
 * Positions of racks and what lies between them; what racks carry, and what things need. Lengths
 * are whole millimetres, loads whole watts, units and grams: sums do not depend on their order, and
 * the same room comes out the same on every machine.
 */

/* Height of a rack unit: 44.45 mm, rounded down. */
enum { UNIT_MM = 44, MM = 1000 };

/* From column A; aisles come on top of the pitch. */
static int64_t column_x_mm(const struct myr_spec_room *spec, uint32_t column)
{
    double x = column * spec->column_pitch_m;
    if (spec->aisle_every) {
        uint32_t aisles = column / spec->aisle_every;
        x += aisles * spec->aisle_m;
    }
    return (int64_t)(x * MM + 0.5);
}

/* Racks of one building, empty, column by column from the highest row down. */
static void put_hall(struct room *room, uint32_t index)
{
    const struct myr_spec_room *spec = room->spec;
    struct hall *hall = &room->halls[index];
    for (uint32_t column = 0; column < hall->columns; column++) {
        for (uint32_t down = 0; down < hall->rows; down++) {
            /* A column is filled from its highest row: that one has the lowest number. */
            uint32_t row = hall->rows - 1 - down;
            room->racks[hall->first_rack + column * hall->rows + down] =
                (struct stand){.hall = index,
                               .row = row,
                               .column = column,
                               .x_mm = column_x_mm(spec, column),
                               .y_mm = (int64_t)(row * spec->row_pitch_m * MM + 0.5),
                               .left = room->rack,
                               .watts_max = room->rack.watts};
        }
    }
    /* Of a hall without racks there is none: its first number is harmless. */
    uint32_t middle = hall->columns / 2 * hall->rows + hall->rows / 2;
    hall->centre = hall->first_rack + (middle < hall->racks ? middle : 0);
}

/* Buildings may have rows and columns of their own; 'columns' is for those that do not say. */
void room_grid(struct room *room, uint32_t columns)
{
    room->hall_count = room->spec->building_count;
    room->rack_count = room->columns = room->rows = 0;
    for (uint32_t i = 0; i < room->hall_count; i++) {
        const struct myr_spec_building *building = &room->spec->buildings[i];
        struct hall *hall = &room->halls[i];
        hall->rows = building->rows     ? building->rows
                     : room->spec->rows ? room->spec->rows
                                        : ROOM_ROWS_DEFAULT;
        hall->columns = building->columns ? building->columns : columns;
        hall->racks = hall->rows * hall->columns;
        hall->first_rack = room->rack_count;
        /* Racks of a building follow those of the one before. */
        room->rack_count += hall->racks;
        room->columns = hall->columns > room->columns ? hall->columns : room->columns;
        room->rows = hall->rows > room->rows ? hall->rows : room->rows;
    }
    room->racks = MYR_ARENA_NEW(room->arena, struct stand, room->rack_count);
    for (uint32_t i = 0; i < room->hall_count; i++) {
        put_hall(room, i);
    }
}

/* From one row to another by way of a tray that crosses the columns. */
static int64_t crossing_mm(const struct room *room, int64_t y1, int64_t y2)
{
    const struct myr_spec_room *spec = room->spec;
    /* Without cross rows the trays cross at every row. */
    int64_t best = spec->cross_count ? INT64_MAX : llabs(y1 - y2);
    for (uint32_t i = 0; i < spec->cross_count; i++) {
        int64_t y = (int64_t)((spec->cross_rows[i] - 1) * spec->row_pitch_m * MM + 0.5);
        int64_t way = llabs(y1 - y) + llabs(y2 - y);
        best = way < best ? way : best;
    }
    return best;
}

/* Racks of one column share a tray and need no crossing. */
int64_t room_path_mm(const struct room *room, uint32_t a, uint32_t b)
{
    const struct stand *from = &room->racks[a], *to = &room->racks[b];
    if (from->hall != to->hall) {
        /* Both leave by the corner of column A and row 1. */
        int64_t between = (int64_t)room->spec->buildings[from->hall].distance_m[to->hall] * MM;
        return from->x_mm + crossing_mm(room, from->y_mm, 0) + between + to->x_mm +
               crossing_mm(room, to->y_mm, 0);
    }
    if (from->column == to->column) {
        return llabs(from->y_mm - to->y_mm);
    }
    return llabs(from->x_mm - to->x_mm) + crossing_mm(room, from->y_mm, to->y_mm);
}

/* Units of devices are needed for leaves in the middle of a rack alone; elsewhere racks are enough.
 */
int64_t room_route_mm(const struct room *room, uint32_t link)
{
    const struct plan *plan = room->plan;
    const struct myr_design *design = &plan->design;
    const struct myr_spec_room *spec = room->spec;
    uint32_t device_a = design->port_device[design->link_a[link]];
    uint32_t device_b = design->port_device[design->link_b[link]];
    uint32_t a = room->device_rack[device_a], b = room->device_rack[device_b];
    double way = (double)room_path_mm(room, a, b) + 2 * spec->drop_m * MM;
    /* Path and drops are right for all but the hosts of a leaf in the middle of their rack. */
    if (a == b) {
        const struct myr_cabletype *type =
            &plan->cabletypes.items[design->cable_type[design->link_cable[link]]];
        if (type->layer == MYR_LAYER_HOST &&
            plan->nets[type->net].out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK) {
            way = (double)abs(room->device_unit[device_a] - room->device_unit[device_b]) * UNIT_MM;
        }
    }
    return (int64_t)(way * (1 + spec->slack_percent / 100) + spec->slack_m * MM + 0.5);
}

/* How many of 'need' fit into what is left. What is not needed limits nothing; a rack that is
 * overdrawn takes nothing. */
uint32_t room_fits(const struct load *left, const struct load *need)
{
    int64_t most = INT32_MAX;
    const int64_t have[] = {left->watts, left->units, left->grams};
    const int64_t want[] = {need->watts, need->units, need->grams};
    for (uint32_t i = 0; i < 3; i++) {
        int64_t count = want[i] > 0 ? have[i] / want[i] : most;
        most = have[i] < 0 ? 0 : count < most ? count : most;
    }
    return (uint32_t)most;
}

/* Limits are asked before: what does not fit must not come here. */
void room_take(struct stand *rack, const struct load *need, uint32_t count)
{
    rack->left.watts -= need->watts * count;
    rack->left.units -= need->units * count;
    rack->left.grams -= need->grams * count;
    MYR_ASSERT(rack->left.watts >= 0 && rack->left.units >= 0 && rack->left.grams >= 0);
}

void room_give(struct stand *rack, const struct load *need)
{
    rack->left.watts += need->watts;
    rack->left.units += need->units;
    rack->left.grams += need->grams;
}

const char *room_part(const struct room *room, uint32_t type)
{
    return room->plan->strings.data + room->plan->devtypes.items[type].part;
}

/* Half units take a whole one. */
static struct load part_load(const struct myr_part *part)
{
    return (struct load){(int64_t)(part->watts + 0.5), (int64_t)(part->rack_units + 0.999),
                         (int64_t)(part->weight_kg * 1000 + 0.5)};
}

/* Unknown parts take a unit and nothing else, so that they have a place. */
struct load room_load(const struct room *room, uint32_t device)
{
    const struct plan *plan = room->plan;
    const struct myr_devtype *type = &plan->devtypes.items[plan->design.device_type[device]];
    uint32_t found = myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + type->part));
    if (type->part == 0 || found == MYR_PART_NONE) {
        return (struct load){0, 1, 0};
    }
    return part_load(part_at(plan, found));
}

bool room_next_pieces(const struct room *room, struct room_pieces *at)
{
    bool found = plan_next_pieces(room->plan, &at->of);
    at->need = found ? part_load(part_at(room->plan, at->of.part)) : (struct load){};
    return found;
}

/* "A14"; with several buildings "north/A14". */
const char *room_rack_name(const struct room *room, uint32_t rack)
{
    const struct stand *stand = &room->racks[rack];
    char letters[MYR_ROOM_COLUMN_BYTES];
    bool several = room->hall_count > 1;
    return myr_arena_printf(
        room->arena, "%s%s%s%u", several ? room->spec->buildings[stand->hall].name : "",
        several ? "/" : "", myr_room_column_name(stand->column + 1, letters), stand->row + 1);
}

/* Groups follow each other in the order of servers. */
uint32_t room_group(const struct room *room, uint32_t server)
{
    uint32_t group = 0, end = room->plan->groups[0].servers;
    while (server >= end) {
        end += room->plan->groups[++group].servers;
    }
    return group;
}

/* The racks as records; what stands in them was counted down from their limits. */
void room_put_racks(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    const struct myr_spec_room *spec = room->spec;
    /* It may be called more than once: sums begin anew. */
    room->out.racks_used = room->out.racks_mixed = 0;
    room->out.watts = room->out.watts_max = 0;
    design->rack_count = room->rack_count;
    design->racks = MYR_ARENA_NEW(room->arena, struct myr_rack, room->rack_count);
    design->rack_more = MYR_ARENA_NEW(room->arena, struct myr_rack_more, room->rack_count);
    /* The empty string where the rack is given by its limits. */
    uint32_t part = spec->rack_part == MYR_PART_NONE
                        ? 0
                        : plan_string(plan, part_at(plan, spec->rack_part)->id);
    for (uint32_t i = 0; i < room->rack_count; i++) {
        const struct stand *stand = &room->racks[i];
        design->racks[i] = (struct myr_rack){.row = stand->row,
                                             .column = stand->column,
                                             .part = part,
                                             .power_feed = MYR_NONE,
                                             .cooling_loop = MYR_NONE,
                                             .watts_max = (uint32_t)stand->watts_max,
                                             .units = (uint32_t)room->rack.units};
        design->rack_more[i] = (struct myr_rack_more){
            .building = stand->hall,
            .x_mm = (uint32_t)stand->x_mm,
            .y_mm = (uint32_t)stand->y_mm,
            .power_b = MYR_NONE,
            .cooling_b = MYR_NONE,
            .watts = (uint32_t)(stand->watts_max - stand->left.watts),
            .units = (uint32_t)(room->rack.units - stand->left.units),
            .kg = (uint32_t)((room->rack.grams - stand->left.grams + 999) / 1000),
            .kg_max = (uint32_t)(room->rack.grams / 1000)};
        room->out.racks_used += design->rack_more[i].units > 0;
        room->out.racks_mixed += stand->mixed;
        room->out.watts += design->rack_more[i].watts;
        room->out.watts_max += (uint64_t)stand->watts_max;
    }
    for (uint32_t i = 0; i < design->device_count; i++) {
        if (room->device_rack[i] != MYR_NONE) { /* strips come last */
            design->rack_more[room->device_rack[i]].devices++;
        }
    }
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The rack in the middle of all that hangs on the switch; the hall's centre when nothing does. */
uint32_t room_middle_of(struct room *room, uint32_t device)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t ports = design->first_port[device + 1] - design->first_port[device];
    int64_t *x = MYR_ARENA_NEW(room->arena, int64_t, ports);
    int64_t *y = MYR_ARENA_NEW(room->arena, int64_t, ports);
    uint32_t count = 0, hall = ROOM_NONE;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t peer = myr_design_peer(design, p);
        uint32_t rack = peer == MYR_NONE ? MYR_NONE : room->device_rack[design->port_device[peer]];
        /* Of several buildings the one of its first host counts. */
        if (rack == MYR_NONE || (hall != ROOM_NONE && room->racks[rack].hall != hall)) {
            continue;
        }
        hall = room->racks[rack].hall;
        x[count] = room->racks[rack].column;
        y[count++] = room->racks[rack].row;
    }
    if (count == 0) {
        return room->halls[0].centre;
    }
    /* Medians: along each direction no other position is nearer to all of them. */
    qsort(x, count, sizeof(*x), compare_i64);
    qsort(y, count, sizeof(*y), compare_i64);
    const struct hall *at = &room->halls[hall];
    return at->first_rack + (uint32_t)x[count / 2] * at->rows +
           (at->rows - 1 - (uint32_t)y[count / 2]);
}
