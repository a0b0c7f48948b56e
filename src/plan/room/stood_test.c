/*
 * Halls as they are asked for: leaves in the middle of racks have copper, racks that are systems
 * keep their layout, columns that are left open are enough, zones lie in the room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "planned_test.h"

static void leaves_in_their_racks_have_copper(void **state)
{
    static const char *const places[] = {"aligned", "shortest"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(places); i++) {
        struct planned p;
        char text[300];
        snprintf(text, sizeof(text),
                 "servers: 64\nnetworks: {compute: {topology: middle-of-rack}}\n"
                 "room: {rows: 10, rack: rack-48u-60kw, rack_kw: 45, place: %s}\n",
                 places[i]);
        planned_begin(&p, text);
        /* 512 links, two in a cable of copper. */
        assert_true(planned_number(&p, "networks.compute.copper_cables") >= 256);
        for (uint32_t link = 0; link < 512; link++) {
            uint32_t ends[] = {p.design.port_device[p.design.link_a[link]],
                               p.design.port_device[p.design.link_b[link]]};
            assert_int_equal(p.design.device_rack[ends[0]], p.design.device_rack[ends[1]]);
        }
        planned_end(&p);
    }
}

/* Things in a rack do not overlap: counted by units. */
static void trays_of_a_rack_have_places_of_their_own(void **state)
{
    struct planned p;
    (void)state;
    planned_begin(&p, "servers: 4\nserver: gb200-nvl72\nnetworks: {compute: {switch: sn5600}}\n"
                      "room: {rows: 4, columns: 4, rack_kw: 145, rack_u: 52}\n");
    const struct myr_design *design = &p.design;
    uint8_t taken[16][64] = {};
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t rack = design->device_rack[i], unit = design->device_unit[i];
        const struct myr_type_load *load = &design->type_loads[design->device_type[i]];
        for (uint32_t k = 0; unit && k < load->units; k++) {
            assert_int_equal(taken[rack][unit + k]++, 0);
        }
    }
    for (uint32_t i = 0; i < design->rack_item_count; i++) {
        const struct myr_rack_item *item = &design->rack_items[i];
        assert_int_equal(taken[item->rack][item->unit]++, 0);
    }
    /* 9 switch trays and 6 shelves in each of the four. */
    assert_int_equal(design->rack_item_count, 4 * 15);
    planned_end(&p);
}

static void columns_left_open_are_enough(void **state)
{
    (void)state;
    for (uint32_t servers = 3; servers < 40; servers += 4) {
        struct planned p;
        char text[200];
        snprintf(text, sizeof(text),
                 "servers: %u\nnetworks: {compute: , oob: }\n"
                 "room: {rows: 4, rack_kw: 15, rack_u: 42}\n",
                 servers);
        planned_begin(&p, text);
        assert_null(planned_finding(&p, "room-mixed-power"));
        planned_end(&p);
    }
}

static void zones_lie_in_the_room(void **state)
{
    static const struct {
        const char *keys, *refused;
    } cases[] = {
        {"zones: {leaf_rows: 25-30}", "'leaf_rows' is 25-30, rows 1 to 20 are expected"},
        {"zones: {spine_column: Z}", NULL},
        {"columns: 9, zones: {leaf_rows: 2-3, spine_column: B}", NULL},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        char text[200];
        snprintf(text, sizeof(text), "servers: 8\nnetworks: {compute: }\nroom: {rack_kw: 45, %s}\n",
                 cases[i].keys);
        planned_read(&p, text);
        int rc = myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err);
        assert_int_equal(rc < 0, cases[i].refused != NULL);
        if (cases[i].refused) {
            assert_non_null(strstr(p.err.message, cases[i].refused));
        } else {
            assert_true(i != 1 || p.design.room->columns >= 26);
        }
        planned_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_in_their_racks_have_copper),
        cmocka_unit_test(trays_of_a_rack_have_places_of_their_own),
        cmocka_unit_test(columns_left_open_are_enough),
        cmocka_unit_test(zones_lie_in_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
