#include "room/room.h"

/*
 * The room, once devices and cables are known: where everything stands, how long each cable is and
 * what it therefore must be, what hangs on which feed, how full the trays are.
 */

/* What the spec gives, else what the part says, else a common value. */
static double limit_or(double given, double part, double otherwise)
{
    return given > 0 ? given : part > 0 ? part : otherwise;
}

/* What a rack carries: the room's figures, else those of its rack part, else a common rack's. */
static void rack_limits(struct room *room)
{
    const struct plan *plan = room->plan;
    const struct myr_spec_room *spec = room->spec;
    /* A rack that is given by its limits alone needs no part. */
    struct myr_part none = {};
    /* A rack of 42 units and 15 kW where neither a part nor its power is given. */
    uint32_t found = spec->rack_part;
    if (found == MYR_PART_NONE && spec->rack_kw <= 0) {
        found = myr_catalog_find(plan->catalog, MYR_STR("rack-42u-15kw"));
    }
    const struct myr_part *part = found == MYR_PART_NONE ? &none : part_at(plan, found);
    room->rack =
        (struct load){(int64_t)(limit_or(spec->rack_kw * 1000, part->watts, 15000) + 0.5),
                      (int64_t)limit_or(spec->rack_u, part->rack_units, 42),
                      (int64_t)(limit_or(spec->rack_kg, part->weight_kg, 1500) * 1000 + 0.5)};
    /* 'server' is the most of all kinds in each measure: no single one need be so large. */
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct myr_part *server = plan->groups[i].server;
        struct load *one = &room->groups[i];
        *one = (struct load){(int64_t)(limit_or(spec->server_kw * 1000, server->watts, 0) + 0.5),
                             (int64_t)(server->rack_units + 0.999),
                             (int64_t)(server->weight_kg * 1000 + 0.5)};
        room->server.watts = one->watts > room->server.watts ? one->watts : room->server.watts;
        room->server.units = one->units > room->server.units ? one->units : room->server.units;
        room->server.grams = one->grams > room->server.grams ? one->grams : room->server.grams;
    }
}

/* 'what' is of this part. */
static int no_rack_holds(const struct room *room, const char *what, const char *part,
                         const struct load *need, struct myr_err *err)
{
    int rc = myr_doc_error(
        err, room->spec->node, MYR_ERANGE,
        "%s (%s: %g kW, %lld U, %g kg) does not fit a rack of %g kW, %lld U, %g kg; a rack that "
        "carries one is expected",
        what, part, (double)need->watts / 1000, (long long)need->units, (double)need->grams / 1000,
        (double)room->rack.watts / 1000, (long long)room->rack.units,
        (double)room->rack.grams / 1000);
    myr_err_hint(err, "name a 'rack' part with more power, or give rack_kw, rack_u or rack_kg");
    return rc;
}

/* Switches and other hosts, the first of each type: all of a type need the same. */
static int check_devices(const struct room *room, struct myr_err *err)
{
    const struct myr_design *design = &room->plan->design;
    bool *seen = MYR_ARENA_NEW(room->arena, bool, room->plan->devtypes.count);
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t type = design->device_type[i], kind = design->place[i].kind;
        /* Nodes stand as servers, strips at the back of a rack. */
        if (seen[type] || kind == MYR_DEVICE_NODE || kind >= MYR_DEVICE_PDU) {
            continue;
        }
        seen[type] = true;
        struct load need = room_load(room, i);
        if (room_fits(&room->rack, &need) == 0) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
            myr_design_name(design, i, &name);
            return no_rack_holds(room, name.data, room_part(room, type), &need, err);
        }
    }
    return MYR_OK;
}

/* Each kind by itself, then the most of all in each measure, which is what places are dealt by. */
static int check_servers(const struct room *room, struct myr_err *err)
{
    const struct plan *plan = room->plan;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct load *need = &room->groups[i];
        if (room_fits(&room->rack, need) == 0 || need->units == 0) {
            return no_rack_holds(room, "a server", plan->groups[i].server->id, need, err);
        }
    }
    return room_fits(&room->rack, &room->server) > 0
               ? MYR_OK
               : no_rack_holds(room, "a server", "the most of all kinds", &room->server, err);
}

/* Each thing by itself, before any is placed: a larger room does not help what no rack holds. */
static int check_single(const struct room *room, struct myr_err *err)
{
    struct room_pieces pieces = {};
    uint64_t count = 0;
    MYR_TRY(check_servers(room, err));
    MYR_TRY(check_devices(room, err));
    while (room_next_pieces(room, &pieces)) {
        if (room_fits(&room->rack, &pieces.need) == 0) {
            return no_rack_holds(room, pieces.of.what, part_at(room->plan, pieces.of.part)->id,
                                 &pieces.need, err);
        }
        count += pieces.of.count;
    }
    /* Each is a record of the design, and has to be carried to its place. */
    if (count > ROOM_PIECES_MAX) {
        char grouped[32], most[32];
        int rc =
            myr_doc_error(err, room->spec->node, MYR_ERANGE,
                          "%s servers of storage tiers and pieces of items stand in racks, "
                          "at most %s are expected",
                          myr_u64_grouped(count, grouped), myr_u64_grouped(ROOM_PIECES_MAX, most));
        myr_err_hint(err, "larger servers, or no 'room'");
        return rc;
    }
    return MYR_OK;
}

static uint32_t rows_of(const struct myr_spec_room *spec)
{
    return spec->rows ? spec->rows : ROOM_ROWS_DEFAULT;
}

/*
 * Racks between two that leave a place for access switches; 0 where a rack that is full of servers
 * takes a switch all the same. Without such places the switches of a hall stood at its end, farther
 * from the middle than twisted pair reaches.
 */
static uint32_t reserve_every(const struct room *room)
{
    const struct net_plan *oob = &room->plan->nets[MYR_NET_OOB];
    if (!oob->present) {
        return 0;
    }
    struct load need = room_load(room, oob->out.first_access), left = room->rack;
    left.watts -= room->server.watts * room->per_rack;
    left.units -= room->server.units * room->per_rack;
    left.grams -= room->server.grams * room->per_rack;
    uint32_t switches = room_fits(&room->server, &need);
    /* Access switches of a million nodes, of all networks that have some. */
    uint64_t share = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &room->plan->nets[id];
        share +=
            net->present && net->out.access ? 1000000ULL * net->nic_ports / net->out.leaf_down : 0;
    }
    /* As many of them as a server's place holds, half of their ports for what is no node. */
    uint32_t nodes = (uint32_t)(1000000ULL * switches / share / 2);
    uint32_t every = nodes / (room->per_rack * room->plan->server->server.nodes);
    return room_fits(&left, &need) > 0 || oob->out.access < 2 ? 0 : every < 2 ? 2 : every;
}

/* Limited before the racks are made: a wide room may be more than memory holds. */
static int place_in(struct room *room, uint32_t columns, struct myr_err *err)
{
    uint64_t racks = 0;
    for (uint32_t i = 0; i < room->spec->building_count; i++) {
        const struct myr_spec_building *building = &room->spec->buildings[i];
        uint64_t rows = building->rows ? building->rows : rows_of(room->spec);
        racks += rows * (building->columns ? building->columns : columns);
    }
    if (racks > MYR_ROOM_RACKS_MAX) {
        return myr_doc_error(err, room->spec->node, MYR_ERANGE,
                             "the room has %llu racks, at most %d are expected",
                             (unsigned long long)racks, MYR_ROOM_RACKS_MAX);
    }
    room_grid(room, columns);
    /* Nothing stands: places of a wider room would be none of this one. */
    for (uint32_t i = 0; i < room->plan->design.device_count; i++) {
        room->device_rack[i] = MYR_NONE;
    }
    room->reserve_every = reserve_every(room);
    int rc = room_place_all(room, err);
    /* A room that is as wide as it is may have no place to spare. */
    if (rc == MYR_ERANGE && room->reserve_every && !room->widens) {
        room_grid(room, columns);
        room->reserve_every = 0;
        rc = room_place_all(room, err);
    }
    return rc;
}

/* Whether a building is as wide as the room: not all of them say their own. */
static bool can_widen(const struct myr_spec_room *spec)
{
    for (uint32_t i = 0; i < spec->building_count; i++) {
        if (!spec->buildings[i].columns) {
            return true;
        }
    }
    return false;
}

/* Servers, other devices, tiers and pieces of items: all that could want a rack of its own. */
static uint64_t count_things(const struct room *room)
{
    const struct plan *plan = room->plan;
    uint64_t things = (uint64_t)plan->spec->servers + plan->design.device_count;
    struct room_pieces pieces = {};
    while (room_next_pieces(room, &pieces)) {
        things += pieces.of.count;
    }
    return things;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Rounded up; a rack without a limit holds any number. */
static uint64_t racks_by(int64_t all, int64_t each)
{
    return each > 0 ? ((uint64_t)all + (uint64_t)each - 1) / (uint64_t)each : 0;
}

static void add_load(struct load *sum, const struct load *need, uint64_t count)
{
    sum->watts += need->watts * (int64_t)count;
    sum->units += need->units * (int64_t)count;
    sum->grams += need->grams * (int64_t)count;
}

/*
 * No room with fewer racks holds the servers, and what stands in racks beside them: by all that
 * they need together, and by how many of a kind go into one rack. Switches are left out.
 */
static uint64_t least_racks(const struct room *room)
{
    struct load sum = {};
    struct room_pieces pieces = {};
    uint64_t least = 0;
    for (uint32_t i = 0; i < room->plan->group_count; i++) {
        add_load(&sum, &room->groups[i], room->plan->groups[i].servers);
    }
    while (room_next_pieces(room, &pieces)) {
        add_load(&sum, &pieces.need, pieces.of.count);
        least =
            most(least, racks_by((int64_t)pieces.of.count, room_fits(&room->rack, &pieces.need)));
    }
    /* Without such pieces the servers alone say where to begin. */
    if (least == 0) {
        return 0;
    }
    least = most(least, racks_by(sum.watts, room->rack.watts));
    least = most(least, racks_by(sum.units, room->rack.units));
    return most(least, racks_by(sum.grams, room->rack.grams));
}

/* The fewest columns with which the buildings have so many racks; one has its own rows, or width.
 */
static uint64_t columns_for(const struct myr_spec_room *spec, uint64_t racks)
{
    uint64_t fixed = 0, wide = 0;
    for (uint32_t i = 0; i < spec->building_count; i++) {
        const struct myr_spec_building *building = &spec->buildings[i];
        uint64_t rows = building->rows ? building->rows : rows_of(spec);
        fixed += rows * building->columns;
        wide += building->columns ? 0 : rows;
    }
    return racks > fixed && wide ? (racks - fixed + wide - 1) / wide : 0;
}

/*
 * The fewest columns that do, above a number that is too small: so far they were widened by a
 * sixteenth. Places are only tried until the last of them.
 */
static int narrow(struct room *room, uint32_t small, uint32_t columns, struct myr_err *err)
{
    bool rough = room->plan->rough;
    room->plan->rough = true;
    while (columns - small > 1) {
        uint32_t middle = small + (columns - small) / 2;
        if (place_in(room, middle, NULL) == MYR_OK) {
            columns = middle;
        } else {
            small = middle;
        }
    }
    room->plan->rough = rough;
    return place_in(room, columns, err);
}

/* A room that does not say how wide it is gets as wide as it must be. */
static int place(struct room *room, struct myr_err *err)
{
    uint32_t columns = room->spec->columns;
    if (columns || !can_widen(room->spec)) {
        return place_in(room, columns, err);
    }
    uint32_t rows = rows_of(room->spec);
    /* One more column is there for the asking: no rack is built with other power instead. */
    room->widens = true;
    /* Where every row has two racks for each thing, one more column would not help either. */
    uint64_t columns_most = 2 * count_things(room);
    /* The least that could hold the servers; then wider, step by step, until all has a place. */
    columns = ceil_div(ceil_div(room->plan->spec->servers, room->per_rack),
                       (uint64_t)rows * room->spec->building_count);
    columns = (uint32_t)most(columns, columns_for(room->spec, least_racks(room)));
    columns = (uint32_t)most(columns, room->spec->spine_column);
    uint32_t small = columns - 1; /* fewer hold not even the servers */
    int rc;
    /* Too small is the only error that more columns help against. */
    while ((rc = place_in(room, columns, err)) == MYR_ERANGE && columns < columns_most &&
           (uint64_t)columns * rows < MYR_ROOM_RACKS_MAX) {
        small = columns;
        columns += columns / 16 + 1;
    }
    return rc == MYR_OK && columns > small + 1 ? narrow(room, small, columns, err) : rc;
}

/* A zone that lies in no building is a mistake; one that some buildings lack is said. */
static int check_zones(const struct room *room, struct myr_err *err)
{
    const struct myr_spec_room *spec = room->spec;
    const struct myr_doc *zones = myr_doc_get(spec->node, "zones");
    const struct myr_room_range *leaf = &spec->leaf_rows;
    uint32_t near = leaf->first < leaf->last ? leaf->first : leaf->last, rows = 0, columns = 0;
    uint32_t far = leaf->first + leaf->last - near;
    for (uint32_t i = 0; i < spec->building_count; i++) {
        const struct myr_spec_building *building = &spec->buildings[i];
        uint32_t own = building->rows ? building->rows : rows_of(spec);
        uint32_t wide = building->columns ? building->columns : spec->columns;
        rows = own > rows ? own : rows;
        /* One that is open gets as wide as the zone needs. */
        columns = wide == 0 || wide > columns ? wide ? wide : UINT32_MAX : columns;
        if (own < far || (wide && wide < spec->spine_column)) {
            plan_finding(room->plan, MYR_SEVERITY_WARNING, "zone-outside", "room",
                         "zones that lie in all buildings, or larger buildings",
                         "of the 'zones' some lies outside of %s%s%s, which has %u rows%s",
                         building->name ? "building '" : "the room",
                         building->name ? building->name : "", building->name ? "'" : "", own,
                         wide ? myr_arena_printf(room->arena, " and %u columns", wide) : "");
        }
    }
    if (near > rows) {
        return myr_doc_error(err, zones ? zones : spec->node, MYR_ERANGE,
                             "'leaf_rows' is %u-%u, rows 1 to %u are expected", leaf->first,
                             leaf->last, rows);
    }
    if (spec->spine_column > columns) {
        char name[MYR_ROOM_COLUMN_BYTES], last[MYR_ROOM_COLUMN_BYTES];
        return myr_doc_error(err, zones ? zones : spec->node, MYR_ERANGE,
                             "'spine_column' is '%s', one column from A to %s is expected",
                             myr_room_column_name(spec->spine_column, name),
                             myr_room_column_name(columns, last));
    }
    return MYR_OK;
}

/* Racks of two kinds have to be ordered as such: it is said which. */
static void note_mixed(struct room *room)
{
    if (!room->pairs) {
        return;
    }
    double kw = (double)room->rack.watts / 1000;
    double give = 0;
    uint32_t first = ROOM_NONE;
    /* The first of the pair is the one that gives. */
    for (uint32_t i = 0; i < room->rack_count; i++) {
        if (room->racks[i].mixed && first == ROOM_NONE) {
            first = i;
            give = kw - (double)room->racks[i].watts_max / 1000;
        }
    }
    uint32_t servers = room->plan->spec->servers;
    plan_finding(room->plan, MYR_SEVERITY_WARNING, "room-mixed-power", "room",
                 myr_arena_printf(room->arena,
                                  "have %u pair%s of racks built for %g and %g kW, from %s on, or "
                                  "a larger room",
                                  room->pairs, room->pairs == 1 ? "" : "s", kw + give, kw - give,
                                  room_rack_name(room, first)),
                 "%u racks of %g kW hold %u of %u servers; %u pair%s of (%g, %g) kW made (%g, %g) "
                 "hold%s the rest at the same total power",
                 room->rack_count, kw, servers - room->pairs, servers, room->pairs,
                 room->pairs == 1 ? "" : "s", kw, kw, kw + give, kw - give,
                 room->pairs == 1 ? "s" : "");
}

/* One string for all buildings, with commas; records have no lists. */
static uint32_t join_names(struct room *room)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    for (uint32_t i = 0; i < room->hall_count; i++) {
        const char *name = room->spec->buildings[i].name;
        myr_buf_printf(&names, "%s%s", i ? "," : "", name ? name : "");
    }
    return plan_string(room->plan, names.data ? names.data : "");
}

/* Nodes of one server share what it needs. */
static void put_loads(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    uint32_t nodes = plan->server->server.nodes;
    design->type_loads = MYR_ARENA_NEW(room->arena, struct myr_type_load, plan->devtypes.count);
    /* One device of a type is enough: all of them need the same. */
    for (uint32_t i = design->device_count; i-- > 0;) {
        struct myr_type_load *load = &design->type_loads[design->device_type[i]];
        if (load->units) {
            continue;
        }
        struct load need = room_load(room, i);
        *load = (struct myr_type_load){(uint32_t)need.watts, (uint32_t)need.units,
                                       (uint32_t)need.grams};
        if (design->place[i].kind == MYR_DEVICE_NODE) {
            uint32_t server = (i - design->head->first_node) / nodes;
            uint32_t group = room_group(room, server);
            const struct load *own = &room->groups[group];
            /* Rounded down, or one node would reach into the next. */
            uint32_t units = (uint32_t)own->units / nodes;
            bool trays = plan->groups[group].server->server.node_trays.count;
            *load = (struct myr_type_load){(uint32_t)own->watts / nodes,
                                           trays || units == 0 ? 1 : units,
                                           (uint32_t)own->grams / nodes};
        }
    }
}

/* The room's record, and what the design has of it; lists are copied into the arena. */
static void finish(struct room *room)
{
    struct myr_design *design = &room->plan->design;
    const struct myr_spec_room *spec = room->spec;
    MYR_ASSERT(room->out.watts <= room->out.watts_max && room->out.fibre_mm <= room->out.cable_mm);
    room->out.place = spec->place;
    room->out.buildings = room->hall_count;
    room->out.rows = room->rows;
    room->out.columns = room->columns;
    /* Whole millimetres and permille: the record is the same on every machine. */
    room->out.drop_mm = (uint32_t)(spec->drop_m * 1000 + 0.5);
    room->out.slack_mm = (uint32_t)(spec->slack_m * 1000 + 0.5);
    room->out.slack_permille = (uint32_t)(spec->slack_percent * 10 + 0.5);
    room->out.managed = spec->managed;
    room->out.building_names[1] = join_names(room);
    put_loads(room);
    design->device_unit = room->device_unit;
    design->room_count = 1;
    design->room = MYR_ARENA_ONE(room->arena, struct myr_room);
    *design->room = room->out;
    design->rack_item_count = (uint32_t)room->items.count;
    design->rack_items = MYR_ARENA_NEW(room->arena, struct myr_rack_item, room->items.count);
    if (room->items.count) {
        memcpy(design->rack_items, room->items.items,
               room->items.count * sizeof(*design->rack_items));
    }
}

/* Feeds need the racks, strips the feeds, lengths all places; trays and headroom need the
 * lengths. */
static int run(struct room *room, struct myr_err *err)
{
    MYR_TRY(check_zones(room, err));
    MYR_TRY(check_single(room, err));
    room->per_rack = room_fits(&room->rack, &room->server);
    room_blocks(room);
    MYR_TRY(place(room, err));
    room_units(room);
    room_put_racks(room);
    note_mixed(room);
    MYR_TRY(room_feeds(room, err));
    room_strips(room);
    /* Cables are cut for the places they have now. */
    room_cut_cables(room);
    room_cut_cages(room);
    room_lengths(room);
    room_trays(room);
    room_headroom(room);
    finish(room);
    return MYR_OK;
}

/* Where devices stand is written into the design itself ('device_rack'). */
int plan_room(struct plan *plan, struct myr_err *err)
{
    if (!plan->spec->room.node) {
        return MYR_OK;
    }
    struct room *room = MYR_ARENA_ONE(plan->arena, struct room);
    uint32_t devices = plan->design.device_count;
    room->plan = plan;
    room->arena = plan->arena;
    room->spec = &plan->spec->room;
    room->device_rack = plan->design.device_rack;
    room->device_unit = MYR_ARENA_NEW(plan->arena, uint16_t, devices);
    room->server_rack = MYR_ARENA_NEW(plan->arena, uint32_t, plan->spec->servers);
    rack_limits(room);
    int rc = run(room, err);
    myr_vec_done(&room->items);
    return rc;
}
