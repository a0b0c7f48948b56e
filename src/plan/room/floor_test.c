/*
 * The floor plan of designs made by hand: two buildings with all that is drawn in them to the last
 * byte (tests/kept/plan-floor.svg), what is named in how large a cell, and a hall that is too large
 * for a shape for each rack. And the list of racks, row by row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "plan_internal.h"
#include "planned_test.h"

enum { RACKS_MAX = 10000, DEVICES_MAX = 32 };

struct drawn {
    struct myr_design design;
    struct myr_design_head head;
    struct myr_room room;
    struct myr_rack racks[RACKS_MAX];
    struct myr_rack_more more[RACKS_MAX];
    struct myr_place place[DEVICES_MAX];
    uint32_t device_rack[DEVICES_MAX];
    struct myr_rack_item items[2];
    struct myr_buf picture;
};

static char strings[] = "\0floor & plan\0east,west-wing";
enum { NAME = 1, BUILDINGS = 14 };

static void begin(struct drawn *d)
{
    myr_buf_done(&d->picture);
    *d = (struct drawn){.head = {.name = NAME},
                        .room = {.building_names = {0, BUILDINGS},
                                 .racks_used = 1234,
                                 .watts = 1234567,
                                 .watts_max = 7654321,
                                 .cable_mm = 3210000}};
    d->design = (struct myr_design){.head = &d->head,
                                    .room = &d->room,
                                    .racks = d->racks,
                                    .rack_more = d->more,
                                    .place = d->place,
                                    .device_rack = d->device_rack,
                                    .rack_items = d->items,
                                    .strings = strings,
                                    .string_bytes = sizeof(strings)};
}

/* Racks of a building, empty, in the order of filling; an aisle behind every second column. */
static void add_hall(struct drawn *d, uint32_t rows, uint32_t columns, uint32_t aisle_mm)
{
    uint32_t building = d->room.buildings++;
    for (uint32_t column = 0; column < columns; column++) {
        for (uint32_t down = 0; down < rows; down++) {
            uint32_t at = d->design.rack_count++, row = rows - 1 - down;
            assert_true(at < RACKS_MAX);
            d->racks[at] =
                (struct myr_rack){.row = row, .column = column, .watts_max = 10000, .units = 42};
            d->more[at] = (struct myr_rack_more){.building = building,
                                                 .x_mm = column * 1000 + column / 2 * aisle_mm,
                                                 .y_mm = row * 600};
        }
    }
}

static void add_device(struct drawn *d, uint32_t kind, uint32_t net, uint32_t rack)
{
    uint32_t at = d->design.device_count++;
    d->place[at] = (struct myr_place){.kind = (uint8_t)kind, .net = (uint8_t)net};
    d->device_rack[at] = rack;
    if (rack != MYR_NONE) {
        d->more[rack].devices++;
        d->more[rack].units += 2;
    }
}

static const char *draw(struct drawn *d)
{
    myr_buf_clear(&d->picture);
    myr_plan_racks_svg(&d->design, &d->picture);
    return d->picture.data;
}

static uint32_t count_of(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct drawn));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct drawn *d = *state;
    myr_buf_done(&d->picture);
    free(d);
    return 0;
}

/* Every level of power and every bar, in two buildings of which one has an aisle. */
static void two_buildings_are_drawn_to_the_last_byte(void **state)
{
    struct drawn *d = *state;
    begin(d);
    add_hall(d, 2, 5, 500);
    add_hall(d, 3, 2, 0);
    static const uint32_t watts[] = {0, 1, 2000, 2001, 4000, 4001, 6000, 6001, 8000, 8001, 10000};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(watts); i++) {
        d->more[i].watts = watts[i];
    }
    d->racks[11].watts_max = 0;
    d->more[11].watts = 5;
    d->more[12].watts = 30000;
    add_device(d, MYR_DEVICE_NODE, MYR_NET_COMPUTE, 0);
    add_device(d, MYR_DEVICE_LEAF, MYR_NET_COMPUTE, 1);
    add_device(d, MYR_DEVICE_ROUTER, MYR_NET_COMPUTE, 2);
    add_device(d, MYR_DEVICE_LEAF, MYR_NET_STORAGE, 3);
    add_device(d, MYR_DEVICE_SPINE, MYR_NET_COMPUTE, 4);
    add_device(d, MYR_DEVICE_CORE, MYR_NET_COMPUTE, 5);
    add_device(d, MYR_DEVICE_CORE, MYR_NET_STORAGE, 6);
    add_device(d, MYR_DEVICE_STORAGE, MYR_NET_STORAGE, 7);
    add_device(d, MYR_DEVICE_ACCESS, MYR_NET_OOB, 8);
    add_device(d, MYR_DEVICE_LEAF, MYR_NET_COMPUTE, 15);
    add_device(d, MYR_DEVICE_SPINE, MYR_NET_COMPUTE, 15);
    add_device(d, MYR_DEVICE_STORAGE, MYR_NET_STORAGE, 15);
    add_device(d, MYR_DEVICE_PDU, MYR_NET_OOB, MYR_NONE);
    d->items[0].rack = 15;
    d->items[1].rack = 13;
    d->design.rack_item_count = 2;
    draw(d);
    assert_kept("plan-floor.svg", &d->picture);
    /* Without a room, nothing. */
    d->design.room = NULL;
    myr_buf_clear(&d->picture);
    myr_plan_racks_svg(&d->design, &d->picture);
    assert_int_equal(d->picture.len, 0);
}

/* However long it is: letters of several bytes are never cut in two. */
static void names_of_buildings_stay_whole(void **state)
{
    struct drawn *d = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf all = {}, title = {};
    begin(d);
    myr_buf_put(&all, strings, BUILDINGS);
    myr_buf_puts(&title, ">a");
    for (uint32_t i = 0; i < 60; i++) {
        myr_buf_puts(&title, "\303\244");
    }
    myr_buf_printf(&all, "%s,b", title.data + 1);
    myr_buf_puts(&title, "</text>");
    d->design.strings = all.data;
    d->design.string_bytes = (uint32_t)all.len + 1;
    add_hall(d, 1, 1, 0);
    add_hall(d, 1, 1, 0);
    assert_non_null(strstr(draw(d), title.data));
    assert_non_null(strstr(draw(d), ">b</text>"));
}

/* One row of so many columns: what is named in it, and how wide a cell is, in tenths. */
static void cells_name_what_has_room(void **state)
{
    struct drawn *d = *state;
    static const struct {
        uint32_t columns, names, figures, width, bar, axis;
    } rows[] = {
        {1, 1, 1, 864, 60, 1},     {8, 8, 8, 864, 60, 8},    {9, 9, 9, 859, 60, 9},
        {14, 14, 14, 552, 60, 14}, {15, 15, 0, 515, 60, 15}, {19, 19, 0, 406, 60, 19},
        {20, 0, 0, 387, 60, 20},   {21, 0, 0, 368, 60, 21},  {22, 0, 0, 351, 97, 22},
        {30, 0, 0, 257, 71, 30},   {31, 0, 0, 249, 69, 7},   {60, 0, 0, 128, 35, 12},
        {61, 0, 0, 126, 35, 7},    {150, 0, 0, 51, 14, 15},  {151, 0, 0, 50, 14, 11},
        {3000, 0, 0, 1, 0, 10},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[64];
        begin(d);
        add_hall(d, 1, rows[i].columns, 0);
        add_device(d, MYR_DEVICE_LEAF, MYR_NET_COMPUTE, 0);
        const char *picture = draw(d);
        assert_int_equal(count_of(picture, "class=\"name on"), rows[i].names);
        assert_int_equal(count_of(picture, "class=\"kw on"), rows[i].figures);
        /* The rows have one name more beside them. */
        assert_int_equal(count_of(picture, "class=\"axis muted\""), rows[i].axis + 1);
        assert_int_equal(count_of(picture, "<title>"), rows[i].columns + 1);
        snprintf(text, sizeof(text), "width=\"%g\"", rows[i].width / 10.0);
        if (!strstr(picture, text)) {
            fail_msg("%u columns: no %s in %.3000s", rows[i].columns, text, picture + 3000);
        }
        snprintf(text, sizeof(text), "width=\"%g\"", rows[i].bar / 10.0);
        if (!strstr(picture, text)) {
            fail_msg("%u columns: no %s", rows[i].columns, text);
        }
    }
}

/* One shape for all racks of a level and one for all bars of a kind, and no tips. */
static void a_large_hall_is_a_few_shapes(void **state)
{
    struct drawn *d = *state;
    begin(d);
    add_hall(d, 60, 51, 0);
    for (uint32_t i = 0; i < 9; i++) {
        d->more[i * 301].watts = 1200 * (i + 1);
    }
    add_device(d, MYR_DEVICE_LEAF, MYR_NET_COMPUTE, 0);
    add_device(d, MYR_DEVICE_SPINE, MYR_NET_COMPUTE, 0);
    add_device(d, MYR_DEVICE_STORAGE, MYR_NET_STORAGE, 61);
    add_device(d, MYR_DEVICE_ACCESS, MYR_NET_OOB, 61);
    const char *picture = draw(d);
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (const char *at = strstr(picture, "<path"); at; at = strstr(at + 1, "<path")) {
        const char *end = strstr(at, "/>");
        assert_non_null(end);
        uint32_t pieces = 0;
        for (const char *c = at; c < end; c++) {
            pieces += *c == 'M';
        }
        const char *css = strstr(at, "class=");
        int len = (int)(end - at);
        myr_buf_printf(&told, "%u pieces %.15s: %.*s\n", pieces, css && css < end ? css : "",
                       len < 400 ? len : 400, at);
    }
    myr_buf_printf(&told, "%u tips, %u axes, %u small\n", count_of(picture, "<title>"),
                   count_of(picture, "axis muted"), count_of(picture, "small-plan\""));
    assert_kept("plan-floor-large.txt", &told);
}

/* Every row of the list, with items of the bill behind all devices and feeds where there are. */
static void the_list_of_racks_has_all_that_stands(void **state)
{
    (void)state;
    struct planned p;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    MYR_CLEANUP(myr_outfile_abandon) struct myr_outfile file = {};
    char path[] = "/tmp/myriad-racks-XXXXXX";
    planned_begin(&p, "servers: 3\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, "
                      "oob: }\nitems: [{part: bastion, quantity: 2}]\nroom: {rows: 2, columns: 2, "
                      "rack: rack-48u-30kw, managed: true, power: [{name: \"a,1\", rows: 1-2}, "
                      "{name: b, rows: 2}]}\n");
    close(mkstemp(path));
    assert_int_equal(myr_outfile_open(&file, path, &p.err), MYR_OK);
    plan_racks_csv(&p.design, &file);
    assert_int_equal(myr_outfile_commit(&file, &p.err), MYR_OK);
    assert_int_equal(myr_file_read(path, 1U << 20, &told, &p.err), MYR_OK);
    unlink(path);
    planned_end(&p);
    assert_kept("plan-racks.csv", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_buildings_are_drawn_to_the_last_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_buildings_stay_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_name_what_has_room, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_hall_is_a_few_shapes, setup, teardown),
        cmocka_unit_test(the_list_of_racks_has_all_that_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
