#include "import/readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/*
 * Which lists beside cables are NetBox's tables: its own columns, in any order and spelling, and no
 * ports of two ends.
 */

static bool is_table(const char *header)
{
    struct myr_arena arena;
    char text[400];
    myr_arena_init(&arena);
    snprintf(text, sizeof(text), "%s\nx,y\n", header);
    bool found = import_is_netbox_table(&arena, myr_str_from(text));
    myr_arena_done(&arena);
    return found;
}

static void expect(const char *header, bool table)
{
    if (is_table(header) != table) {
        fail_msg("'%s' is %sa table of NetBox", header, table ? "no longer " : "taken for ");
    }
}

/* What NetBox imports and exports of what is no cable: two columns, and words of which one is
 * there. */
static const struct {
    const char *one, *other;
    const char *words[6];
} tables[] = {
    {"name", "slug", {NULL}},
    {"manufacturer", "model", {"slug", "u_height", "is_full_depth", "part_number", "devices"}},
    {"manufacturer", "device_type", {"role", "site", "serial", "asset_tag", "status"}},
    {"manufacturer", "type", {"role", "asset_tag", "serial", "status"}},
    {"site", "name", {"status", "u_height", "facility_id", "tenant", "role"}},
    {"device", "name", {"type", "enabled", "label", "mgmt_only", "mac_address", "position"}},
};

static void every_table_is_known_by_its_columns(void **state)
{
    (void)state;
    char header[300];
    for (uint32_t t = 0; t < MYR_ARRAY_COUNT(tables); t++) {
        const char *one = tables[t].one, *other = tables[t].other;
        snprintf(header, sizeof(header), "%s,%s,comments", one, other);
        expect(header, tables[t].words[0] == NULL);
        for (uint32_t w = 0; w < 6 && tables[t].words[w]; w++) {
            const char *word = tables[t].words[w];
            snprintf(header, sizeof(header), "%s,%s,%s", one, other, word);
            expect(header, true);
            snprintf(header, sizeof(header), "%s,comments,%s,%s,colour", word, other, one);
            expect(header, true);
            /* Half of it is somebody's own list. */
            snprintf(header, sizeof(header), "%s,%s,comments", one, word);
            expect(header, false);
            snprintf(header, sizeof(header), "%s,%s,comments", other, word);
            expect(header, strcmp(other, "name") == 0 && strcmp(word, "slug") == 0);
        }
    }
    expect("Name,Slug,Colour", true);
    expect("Device Type,Manufacturer,Asset tag", true);
    expect("Site,NAME,U-Height", true);
    expect("names,slug,colour", false);
    expect("name,slugs,colour", false);
}

/* Ports with a second end are cables, whatever else is beside them; a panel's own are not. */
static void lists_with_ports_of_two_ends_are_no_tables(void **state)
{
    (void)state;
    static const char *const far[] = {"remote device", "peer",      "neighbour", "far end",
                                      "far_device",    "dest",      "Other end", "Z-Node",
                                      "z_device",      "side_b_x",  "Side B",    "termination_b",
                                      "uplink",        "to switch", "to"};
    char header[300];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(far); i++) {
        snprintf(header, sizeof(header), "device,name,type,%s", far[i]);
        expect(header, true); /* an end without a port */
        snprintf(header, sizeof(header), "device,name,type,port,%s", far[i]);
        expect(header, false);
        snprintf(header, sizeof(header), "%s,device,name,PORT,type", far[i]);
        expect(header, false);
        snprintf(header, sizeof(header), "device,name,type,rear_port,%s", far[i]);
        expect(header, true);
        snprintf(header, sizeof(header), "device,name,type,Front Port,%s", far[i]);
        expect(header, true);
    }
    expect("device,name,type,port", true);
    expect("device,name,type,port,my port", false);
    expect("device,name,type,port,rear_port", true);
    expect("device,name,type,rear_port,rear_port_position", true);
    expect("device,name,type,port,together", true); /* "to" is a word of its own */
}

static void what_is_no_list_is_no_table(void **state)
{
    (void)state;
    struct myr_arena arena;
    static const char *const texts[] = {
        "", "\n", "name,slug", "{\"name\": \"slug\"}\n", "hello\nname,slug\n", "name;slug\n"};
    myr_arena_init(&arena);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        assert_false(import_is_netbox_table(&arena, myr_str_from(texts[i])));
    }
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_known_by_its_columns),
        cmocka_unit_test(lists_with_ports_of_two_ends_are_no_tables),
        cmocka_unit_test(what_is_no_list_is_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
