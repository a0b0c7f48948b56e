/* The machine room of a spec: in its section 'room', or in a file that the section names. */
#include <errno.h>
#include <unistd.h>

#include "fields.h"
#include "myriad/text/kind.h"
#include "spec_parts.h"

/* Shorter than the name of any file that could be opened, and room for a folder before it. */
enum { PATH_MAX_BYTES = 4096 };

static const char *const place_names[] = {"aligned", "shortest"};

/* Nodes that need more than a table row. */
struct room_nodes {
    const struct myr_doc *rack, *leaf_rows, *spine_column, *zones, *pitch, *aisles, *slack, *trays;
    const struct myr_doc *trunks, *buildings, *distances, *power, *cooling;
    uint32_t racks_per_row; /* another word for columns */
    double distance_m;      /* between any two buildings; 0: not given */
};

/* Rows 1 and 2 are also the keys of 'zones': read_zones() counts on their place. */
static const struct field node_fields[] = {
    FIELD_ROW_NODE("rack", struct room_nodes, rack),
    FIELD_ROW_NODE("leaf_rows", struct room_nodes, leaf_rows),
    FIELD_ROW_NODE("spine_column", struct room_nodes, spine_column),
    FIELD_ROW_NODE("zones", struct room_nodes, zones),
    FIELD_ROW_NODE("pitch_m", struct room_nodes, pitch),
    FIELD_ROW_NODE("aisles", struct room_nodes, aisles),
    FIELD_ROW_NODE("slack", struct room_nodes, slack),
    FIELD_ROW_NODE("trays", struct room_nodes, trays),
    FIELD_ROW_NODE("trunks", struct room_nodes, trunks),
    FIELD_ROW_NODE("buildings", struct room_nodes, buildings),
    FIELD_ROW_NODE("distances", struct room_nodes, distances),
    FIELD_ROW_NODE("power", struct room_nodes, power),
    FIELD_ROW_NODE("cooling", struct room_nodes, cooling),
    FIELD_ROW_U32("racks_per_row", struct room_nodes, racks_per_row, 1, MYR_ROOM_SIDE_MAX),
    FIELD_ROW_DOUBLE("distance_m", struct room_nodes, distance_m, 1, 100000),
};

/* What one row says; positions count from 1, 0 is "not given". */
static const struct field room_fields[] = {
    FIELD_ROW_U32("rows", struct myr_spec_room, rows, 1, MYR_ROOM_SIDE_MAX),
    FIELD_ROW_U32("columns", struct myr_spec_room, columns, 1, MYR_ROOM_SIDE_MAX),
    FIELD_ROW_DOUBLE("rack_kw", struct myr_spec_room, rack_kw, 0.1, 10000),
    FIELD_ROW_DOUBLE("rack_u", struct myr_spec_room, rack_u, 1, 100),
    FIELD_ROW_DOUBLE("rack_kg", struct myr_spec_room, rack_kg, 1, 100000),
    FIELD_ROW_DOUBLE("server_kw", struct myr_spec_room, server_kw, 0.1, 10000),
    FIELD_ROW_CHOICE("place", struct myr_spec_room, place, place_names),
    FIELD_ROW_BOOL("managed", struct myr_spec_room, managed),
    FIELD_ROW_DOUBLE("drop_m", struct myr_spec_room, drop_m, 0, 20),
    FIELD_ROW_U32("lossless_classes", struct myr_spec_room, lossless_classes, 1, 8),
};

/* The figures of docs/spec.md, "room"; what is 0 here gets its default in the planner. */
void spec_room_defaults(struct myr_spec_room *room)
{
    *room = (struct myr_spec_room){
        .rack_part = MYR_PART_NONE,
        /*
         * Metres, millimetres and percent as the names say; the fill is a share of a tray's
         * section.
         */
        .row_pitch_m = 0.6,
        .column_pitch_m = 1.2,
        .aisle_every = 2,
        .aisle_m = 1.2,
        .drop_m = 2,
        .slack_percent = 5,
        .slack_m = 1,
        .tray_width_mm = 300,
        .tray_height_mm = 100,
        .tray_fill = 0.4,
        .fibre_mm = 3,
        .copper_mm = 8,
        .lossless_classes = 1,
        .building_count = 1,
    };
}

const char *myr_room_column_name(uint32_t column, char ret[MYR_ROOM_COLUMN_BYTES])
{
    char letters[MYR_ROOM_COLUMN_BYTES];
    uint32_t count = 0;
    /* Letters as spreadsheets count: Z is followed by AA, there is no zero. Lowest digit first. */
    for (; column > 0 && count + 1 < MYR_ROOM_COLUMN_BYTES; column = (column - 1) / 26) {
        letters[count++] = (char)('A' + (column - 1) % 26);
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[i] = letters[count - 1 - i];
    }
    ret[count] = '\0';
    return ret;
}

/* 0 when the text is no name of a column. */
static uint32_t column_number(struct myr_str text)
{
    uint32_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        uint32_t letter = c >= 'A' && c <= 'Z'   ? (uint32_t)(c - 'A' + 1)
                          : c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a' + 1)
                                                 : 0;
        number = number * 26 + letter;
        if (letter == 0 || number > MYR_ROOM_SIDE_MAX) {
            return 0;
        }
    }
    return number;
}

/* 0 when the text is no number of a row; the limit is asked digit by digit, so nothing wraps. */
static uint32_t row_number(struct myr_str text)
{
    uint32_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return 0;
        }
        number = number * 10 + (uint32_t)(text.data[i] - '0');
        if (number > MYR_ROOM_SIDE_MAX) {
            return 0;
        }
    }
    return number;
}

/* "7", "10-7", "C", "A-C": one position or a run of them, in the order in which they are meant. */
static int read_range(const struct myr_doc *node, const char *what, bool columns,
                      struct myr_room_range *ret, struct myr_err *err)
{
    struct myr_str text;
    char shown[MYR_EXCERPT_MAX];
    MYR_TRY(myr_doc_text(node, what, &text, err));
    size_t dash = 0;
    while (dash < text.len && text.data[dash] != '-') {
        dash++;
    }
    /* A run may go down: 10-7 means that row 10 is filled first. */
    struct myr_str from = {text.data, dash}, to = from;
    if (dash < text.len) {
        to = (struct myr_str){text.data + dash + 1, text.len - dash - 1};
    }
    ret->first = columns ? column_number(from) : row_number(from);
    ret->last = columns ? column_number(to) : row_number(to);
    if (!ret->first || !ret->last) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' is '%s', %s is expected", what,
                             myr_text_excerpt(text, shown),
                             columns ? "a column such as E, or a run such as A-C"
                                     : "a row such as 7, or a run such as 10-7");
    }
    return MYR_OK;
}

/* Metres from rack to rack, along a column and across. */
static int read_pitch(struct myr_arena *arena, const struct myr_doc *node,
                      struct myr_spec_room *room, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_DOUBLE("row", struct myr_spec_room, row_pitch_m, 0.1, 100),
        FIELD_ROW_DOUBLE("column", struct myr_spec_room, column_pitch_m, 0.1, 100),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), room};
    return fields_read(arena, node, "pitch_m", &table, 1, err);
}

static int read_aisles(struct myr_arena *arena, const struct myr_doc *node,
                       struct myr_spec_room *room, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_U32("every", struct myr_spec_room, aisle_every, 0, MYR_ROOM_SIDE_MAX),
        FIELD_ROW_DOUBLE("width_m", struct myr_spec_room, aisle_m, 0, 100),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), room};
    return fields_read(arena, node, "aisles", &table, 1, err);
}

/* Cable beyond the way itself: a share of it and a length. */
static int read_slack(struct myr_arena *arena, const struct myr_doc *node,
                      struct myr_spec_room *room, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_DOUBLE("percent", struct myr_spec_room, slack_percent, 0, 100),
        FIELD_ROW_DOUBLE("m", struct myr_spec_room, slack_m, 0, 20),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), room};
    return fields_read(arena, node, "slack", &table, 1, err);
}

/* Cross rows are where trays meet; none given is every row. */
static int read_trays(struct myr_arena *arena, const struct myr_doc *node,
                      struct myr_spec_room *room, struct myr_err *err)
{
    struct tray_nodes {
        const struct myr_doc *cross_rows;
    } nodes = {};
    static const struct field list_fields[] = {
        FIELD_ROW_NODE("cross_rows", struct tray_nodes, cross_rows)};
    static const struct field fields[] = {
        FIELD_ROW_DOUBLE("width_mm", struct myr_spec_room, tray_width_mm, 10, 10000),
        FIELD_ROW_DOUBLE("height_mm", struct myr_spec_room, tray_height_mm, 10, 10000),
        FIELD_ROW_DOUBLE("fill", struct myr_spec_room, tray_fill, 0.01, 1),
        FIELD_ROW_DOUBLE("fibre_mm", struct myr_spec_room, fibre_mm, 0.1, 100),
        FIELD_ROW_DOUBLE("copper_mm", struct myr_spec_room, copper_mm, 0.1, 100),
    };
    const struct field_table tables[] = {{list_fields, 1, &nodes},
                                         {fields, MYR_ARRAY_COUNT(fields), room}};
    MYR_TRY(fields_read(arena, node, "trays", tables, 2, err));
    if (!nodes.cross_rows) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(nodes.cross_rows, MYR_DOC_LIST, "cross_rows", err));
    if (nodes.cross_rows->count == 0 || nodes.cross_rows->count > MYR_ROOM_CROSS_MAX) {
        return myr_doc_error(err, nodes.cross_rows, MYR_ERANGE,
                             "'cross_rows' has %u entries, 1 to %d are expected",
                             nodes.cross_rows->count, MYR_ROOM_CROSS_MAX);
    }
    for (uint32_t i = 0; i < nodes.cross_rows->count; i++) {
        /* The room's rows may be left open: then only the largest room bounds these. */
        uint64_t row;
        MYR_TRY(myr_doc_u64(nodes.cross_rows->items[i], "cross_rows", 1,
                            room->rows ? room->rows : MYR_ROOM_SIDE_MAX, &row, err));
        room->cross_rows[room->cross_count++] = (uint32_t)row;
    }
    return MYR_OK;
}

static int read_trunks(struct myr_arena *arena, const struct myr_doc *node,
                       struct myr_spec_room *room, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_U32("cables", struct myr_spec_room, trunk_cables, 2, 1000),
        FIELD_ROW_U32("panel_ports", struct myr_spec_room, panel_ports, 1, 1000),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), room};
    room->trunk_cables = 12; /* twelve MPO-12 in a trunk of 144 fibres, six trunks on a panel */
    room->panel_ports = 72;
    return fields_read(arena, node, "trunks", &table, 1, err);
}

/* The two keys stand in 'zones' or in the room itself: rows 1 and 2 of the table read both. */
static int read_zones(struct myr_arena *arena, struct room_nodes *nodes, struct myr_spec_room *room,
                      struct myr_err *err)
{
    if (nodes->zones) {
        struct field_table table = {&node_fields[1], 2, nodes};
        MYR_TRY(fields_read(arena, nodes->zones, "zones", &table, 1, err));
    }
    if (nodes->leaf_rows) {
        MYR_TRY(read_range(nodes->leaf_rows, "leaf_rows", false, &room->leaf_rows, err));
        if (room->rows &&
            (room->leaf_rows.first > room->rows || room->leaf_rows.last > room->rows)) {
            return myr_doc_error(err, nodes->leaf_rows, MYR_ERANGE,
                                 "'leaf_rows' is %u-%u, rows 1 to %u are expected",
                                 room->leaf_rows.first, room->leaf_rows.last, room->rows);
        }
    }
    if (nodes->spine_column) {
        /* One column, so a run of columns is refused. */
        struct myr_room_range range;
        char last[MYR_ROOM_COLUMN_BYTES], shown[MYR_EXCERPT_MAX];
        uint32_t columns = room->columns ? room->columns : MYR_ROOM_SIDE_MAX;
        MYR_TRY(read_range(nodes->spine_column, "spine_column", true, &range, err));
        if (range.first != range.last || range.first > columns) {
            return myr_doc_error(err, nodes->spine_column, MYR_ERANGE,
                                 "'spine_column' is '%s', one column from A to %s is expected",
                                 myr_text_excerpt(nodes->spine_column->text, shown),
                                 myr_room_column_name(columns, last));
        }
        room->spine_column = range.first;
    }
    return MYR_OK;
}

/* The buildings must have been read: their names are the words. */
static int find_building(const struct myr_spec_room *room, const struct myr_doc *node,
                         const char *what, uint32_t *ret, struct myr_err *err)
{
    const char *names[MYR_ROOM_BUILDINGS_MAX];
    for (uint32_t i = 0; i < room->building_count; i++) {
        names[i] = room->buildings[i].name;
    }
    return myr_doc_choice(node, what, names, room->building_count, ret, err);
}

/* Into the next free place, which is counted when all is right. */
static int read_building(struct myr_arena *arena, const struct myr_doc *node,
                         struct myr_spec_room *room, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_TEXT("name", struct myr_spec_building, name),
        FIELD_ROW_U32("rows", struct myr_spec_building, rows, 1, MYR_ROOM_SIDE_MAX),
        FIELD_ROW_U32("columns", struct myr_spec_building, columns, 1, MYR_ROOM_SIDE_MAX),
    };
    struct myr_spec_building *building = &room->buildings[room->building_count];
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), building};
    MYR_TRY(fields_read(arena, node, "a building", &table, 1, err));
    building->node = node;
    if (!building->name) {
        return myr_doc_error(err, node, MYR_EINVAL, "the building lacks 'name'");
    }
    if (strpbrk(building->name, ",/")) { /* they divide names in lists and in front of racks */
        return myr_doc_error(err, node, MYR_EINVAL,
                             "the building's 'name' has a comma or a slash, a plain name is "
                             "expected");
    }
    for (uint32_t i = 0; i < room->building_count; i++) {
        if (strcmp(room->buildings[i].name, building->name) == 0) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "building '%s' comes twice, one name each "
                                 "is expected",
                                 building->name);
        }
    }
    room->building_count++;
    return MYR_OK;
}

/* Pairs of buildings that are not 'distance_m' apart. */
static int read_distances(struct myr_arena *arena, const struct myr_doc *list,
                          struct myr_spec_room *room, struct myr_err *err)
{
    struct distance {
        const struct myr_doc *from, *to;
        uint32_t m;
    };
    static const struct field fields[] = {
        FIELD_ROW_NODE("from", struct distance, from),
        FIELD_ROW_NODE("to", struct distance, to),
        FIELD_ROW_U32("m", struct distance, m, 1, 100000),
    };
    MYR_TRY(myr_doc_expect(list, MYR_DOC_LIST, "distances", err));
    for (uint32_t i = 0; i < list->count; i++) {
        struct distance row = {};
        struct field_table table = {fields, MYR_ARRAY_COUNT(fields), &row};
        uint32_t from, to;
        MYR_TRY(fields_read(arena, list->items[i], "a distance", &table, 1, err));
        if (!row.from || !row.to || !row.m) {
            return myr_doc_error(err, list->items[i], MYR_EINVAL,
                                 "the distance lacks '%s', {from: NAME, to: NAME, m: METRES} is "
                                 "expected",
                                 !row.from ? "from"
                                 : !row.to ? "to"
                                           : "m");
        }
        MYR_TRY(find_building(room, row.from, "from", &from, err));
        MYR_TRY(find_building(room, row.to, "to", &to, err));
        if (from == to) {
            return myr_doc_error(err, row.to, MYR_EINVAL,
                                 "'to' is '%s' like 'from', another building is expected",
                                 room->buildings[to].name);
        }
        /* As far there as back. */
        room->buildings[from].distance_m[to] = room->buildings[to].distance_m[from] = row.m;
    }
    return MYR_OK;
}

/* Every pair must have a distance in the end, from either key. */
static int read_buildings(struct myr_arena *arena, const struct room_nodes *nodes,
                          struct myr_spec_room *room, struct myr_err *err)
{
    if (!nodes->buildings) {
        if (nodes->distances) {
            return myr_doc_error(err, nodes->distances, MYR_EINVAL,
                                 "'distances' without 'buildings', a list of them is expected");
        }
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(nodes->buildings, MYR_DOC_LIST, "buildings", err));
    if (nodes->buildings->count == 0 || nodes->buildings->count > MYR_ROOM_BUILDINGS_MAX) {
        return myr_doc_error(err, nodes->buildings, MYR_ERANGE,
                             "'buildings' has %u entries, 1 to %d are expected",
                             nodes->buildings->count, MYR_ROOM_BUILDINGS_MAX);
    }
    /* The one of the defaults gives way to the list. */
    room->building_count = 0;
    for (uint32_t i = 0; i < nodes->buildings->count; i++) {
        MYR_TRY(read_building(arena, nodes->buildings->items[i], room, err));
    }
    for (uint32_t a = 0; a < room->building_count; a++) {
        for (uint32_t b = 0; b < room->building_count; b++) {
            room->buildings[a].distance_m[b] = a == b ? 0 : (uint32_t)(nodes->distance_m + 0.5);
        }
    }
    if (nodes->distances) {
        MYR_TRY(read_distances(arena, nodes->distances, room, err));
    }
    for (uint32_t a = 0; a < room->building_count; a++) {
        for (uint32_t b = a + 1; b < room->building_count; b++) {
            if (!room->buildings[a].distance_m[b]) {
                return myr_doc_error(err, nodes->buildings, MYR_EINVAL,
                                     "how far '%s' is from '%s' is not said, 'distance_m' or an "
                                     "entry of 'distances' is expected",
                                     room->buildings[b].name, room->buildings[a].name);
            }
        }
    }
    return MYR_OK;
}

/* UINT32_MAX in 'parents' stays where there is none: an entry without parents is a source. */
static int read_parents(const struct myr_doc *node, const struct myr_spec_chains *chains,
                        struct myr_spec_chain *link, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "parents", err));
    if (node->count < 1 || node->count > 2) {
        return myr_doc_error(err, node, MYR_ERANGE, "'parents' has %u entries, 1 or 2 are expected",
                             node->count);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        struct myr_str name;
        char shown[MYR_EXCERPT_MAX];
        uint32_t found = UINT32_MAX;
        MYR_TRY(field_text(node->items[i], "parents", &name, err));
        for (uint32_t k = 0; k < chains->count; k++) {
            if (myr_str_eq(name, myr_str_from(chains->items[k].name))) {
                found = k;
            }
        }
        if (found == UINT32_MAX) { /* only what stands above: so there is no ring */
            return myr_doc_error(err, node->items[i], MYR_ENOENT,
                                 "parent '%s' is not there, the name of an entry above is expected",
                                 myr_text_excerpt(name, shown));
        }
        link->parents[i] = found;
    }
    if (node->count == 2 && link->parents[0] == link->parents[1]) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "both parents of '%s' are '%s', two different ones are expected",
                             link->name, chains->items[link->parents[0]].name);
    }
    return MYR_OK;
}

/* An entry of 'power' or 'cooling'; parents stand above it in the list. */
static int read_chain(struct myr_arena *arena, const struct myr_doc *node, const char *what,
                      struct myr_spec_chains *chains, struct myr_err *err)
{
    struct chain_nodes {
        const struct myr_doc *parents, *rows, *columns;
    } nodes = {};
    static const struct field list_fields[] = {
        FIELD_ROW_NODE("parents", struct chain_nodes, parents),
        FIELD_ROW_NODE("rows", struct chain_nodes, rows),
        FIELD_ROW_NODE("columns", struct chain_nodes, columns),
    };
    static const struct field fields[] = {
        FIELD_ROW_TEXT("name", struct myr_spec_chain, name),
        FIELD_ROW_DOUBLE("kw", struct myr_spec_chain, kw, 0.1, 1e7),
    };
    /* UINT32_MAX: no parent. */
    struct myr_spec_chain link = {.node = node, .parents = {UINT32_MAX, UINT32_MAX}};
    const struct field_table tables[] = {{list_fields, MYR_ARRAY_COUNT(list_fields), &nodes},
                                         {fields, MYR_ARRAY_COUNT(fields), &link}};
    MYR_TRY(fields_read(arena, node, what, tables, 2, err));
    if (!link.name) {
        return myr_doc_error(err, node, MYR_EINVAL, "the entry of '%s' lacks 'name'", what);
    }
    for (uint32_t i = 0; i < chains->count; i++) {
        if (strcmp(chains->items[i].name, link.name) == 0) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "'%s' comes twice in '%s', one name each is expected", link.name,
                                 what);
        }
    }
    if (nodes.parents) {
        MYR_TRY(read_parents(nodes.parents, chains, &link, err));
    }
    if (nodes.rows) {
        MYR_TRY(read_range(nodes.rows, "rows", false, &link.rows, err));
    }
    if (nodes.columns) {
        MYR_TRY(read_range(nodes.columns, "columns", true, &link.columns, err));
    }
    /*
     * With one of them left out all rows or columns are meant; without both it feeds entries alone.
     */
    link.serves = nodes.rows || nodes.columns;
    chains->items[chains->count++] = link;
    return MYR_OK;
}

static int read_chains(struct myr_arena *arena, const struct myr_doc *node, const char *what,
                       struct myr_spec_chains *ret, struct myr_err *err)
{
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, what, err));
    if (node->count > MYR_ROOM_CHAIN_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %u entries, at most %d are expected",
                             what, node->count, MYR_ROOM_CHAIN_MAX);
    }
    /* Entries are added one by one, so that a parent can only be one of those before. */
    ret->items = MYR_ARENA_NEW(arena, struct myr_spec_chain, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        MYR_TRY(read_chain(arena, node->items[i], what, ret, err));
    }
    return MYR_OK;
}

/* A room in a file of its own is found from the folder of the spec. */
static int read_room_file(struct myr_arena *arena, const struct myr_doc *node,
                          const struct myr_doc **ret, struct myr_err *err)
{
    struct myr_str name;
    MYR_TRY(field_text(node, "room", &name, err));
    /* Up to and with the last slash; 0 where the spec lies in the working folder. */
    size_t folder = strlen(node->file);
    while (folder > 0 && node->file[folder - 1] != '/') {
        folder--;
    }
    if (folder + name.len >= PATH_MAX_BYTES) {
        return myr_doc_error(err, node, MYR_ERANGE, "'room' is too long for the name of a file");
    }
    /* A text of a document is never empty (field_text()). */
    bool absolute = name.data[0] == '/';
    const char *path = myr_arena_printf(arena, "%.*s%.*s", absolute ? 0 : (int)folder, node->file,
                                        (int)name.len, name.data);
    if (access(path, R_OK) != 0) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_ENOENT,
                             "'room' is '%s', a map or a file that can be read is expected (%s)",
                             myr_text_excerpt(name, shown), strerror(errno));
    }
    static const struct myr_doc_want want = {MYR_KINDS_DOC(ROOM), "a room"};
    return myr_doc_read_file_of(arena, path, &want, ret, err);
}

/* Zones and trays are held against rows and columns, so the plain fields are read first. */
int spec_read_room(struct myr_arena *arena, const struct myr_catalog *catalog,
                   const struct myr_doc *node, struct myr_spec_room *room, struct myr_err *err)
{
    struct room_nodes nodes = {};
    if (node->kind == MYR_DOC_SCALAR) {
        MYR_TRY(read_room_file(arena, node, &node, err));
    }
    const struct field_table tables[] = {
        {room_fields, MYR_ARRAY_COUNT(room_fields), room},
        {node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
    };
    room->node = node;
    MYR_TRY(fields_read(arena, node, "room", tables, 2, err));
    if (nodes.racks_per_row && room->columns) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'columns' and 'racks_per_row' say the same, one of them is expected");
    }
    /* Two words for the same number. */
    room->columns = nodes.racks_per_row ? nodes.racks_per_row : room->columns;
    MYR_TRY(spec_need_optional(catalog, nodes.rack, "rack", MYR_PART_RACK, &room->rack_part, err));
    MYR_TRY(read_zones(arena, &nodes, room, err));
    MYR_TRY(nodes.pitch ? read_pitch(arena, nodes.pitch, room, err) : MYR_OK);
    MYR_TRY(nodes.aisles ? read_aisles(arena, nodes.aisles, room, err) : MYR_OK);
    MYR_TRY(nodes.slack ? read_slack(arena, nodes.slack, room, err) : MYR_OK);
    MYR_TRY(nodes.trays ? read_trays(arena, nodes.trays, room, err) : MYR_OK);
    MYR_TRY(nodes.trunks ? read_trunks(arena, nodes.trunks, room, err) : MYR_OK);
    MYR_TRY(read_buildings(arena, &nodes, room, err));
    MYR_TRY(read_chains(arena, nodes.power, "power", &room->power, err));
    return read_chains(arena, nodes.cooling, "cooling", &room->cooling, err);
}
