#include "import/readers.h"

/*
 * Tables of NetBox beside its list of cables. They are known by columns that they have together,
 * of what NetBox imports and of what it exports, one of which few other lists have; a header with
 * ports and second ends is somebody's list of cables, whatever else it has.
 */

static const struct {
    const char *both[2];
    const char *one_of[6]; /* none: the two are enough */
} marks[] = {
    {{"name", "slug"}, {NULL}},
    {{"manufacturer", "model"}, {"slug", "uheight", "isfulldepth", "partnumber", "devices"}},
    {{"manufacturer", "devicetype"}, {"role", "site", "serial", "assettag", "status"}},
    {{"manufacturer", "type"}, {"role", "assettag", "serial", "status"}},
    {{"site", "name"}, {"status", "uheight", "facilityid", "tenant", "role"}},
    {{"device", "name"}, {"type", "enabled", "label", "mgmtonly", "macaddress", "position"}},
};

static bool has_column(const struct myr_csv *csv, const char *name)
{
    for (uint32_t f = 0; name && f < csv->count; f++) {
        if (import_is_called(csv->fields[f], name)) {
            return true;
        }
    }
    return false;
}

/* In capitals or not, anywhere in the field. */
static bool mentions(struct myr_str field, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= field.len; i++) {
        if (myr_str_eq_nocase((struct myr_str){field.data + i, len}, myr_str_from(word))) {
            return true;
        }
    }
    return false;
}

/* A port, and beside it a second one or another end. */
static bool is_of_cables(const struct myr_csv *csv)
{
    static const char *const far[] = {"remote", "peer",        "neighb", "far ",  "far_",
                                      "dest",   "other end",   "z-",     "z_",    "side_b",
                                      "side b", "termination", "uplink", "switch"};
    uint32_t ports = 0, ends = 0;
    for (uint32_t f = 0; f < csv->count; f++) {
        /* A patch panel's own: "rear_port", "rear_port_position". */
        bool panel = mentions(csv->fields[f], "rear") || mentions(csv->fields[f], "front");
        ports += mentions(csv->fields[f], "port") && !panel;
        bool end = import_is_called(csv->fields[f], "to");
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(far); i++) {
            end = end || mentions(csv->fields[f], far[i]);
        }
        ends += end;
    }
    return ports > 1 || (ports && ends);
}

bool import_is_netbox_table(struct myr_arena *arena, struct myr_str text)
{
    struct myr_csv csv;
    struct myr_err err = {};
    if (myr_kind_of(text) != MYR_KIND_CSV) {
        return false; /* a list of cables among them */
    }
    const char *end = memchr(text.data, '\n', text.len);
    myr_csv_init(&csv, arena, "", (struct myr_str){text.data, end ? (size_t)(end - text.data) : 0});
    if (!end || myr_csv_next(&csv, &err) <= 0 || is_of_cables(&csv)) {
        return false;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(marks); i++) {
        bool more = marks[i].one_of[0] == NULL;
        for (uint32_t w = 0; w < MYR_ARRAY_COUNT(marks[i].one_of); w++) {
            more = more || has_column(&csv, marks[i].one_of[w]);
        }
        if (more && has_column(&csv, marks[i].both[0]) && has_column(&csv, marks[i].both[1])) {
            return true;
        }
    }
    return false;
}
