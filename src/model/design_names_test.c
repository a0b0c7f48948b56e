/* Names of devices in every style, on networks and planes, and of ports; and the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/model.h"
#include "myriad/model/design_file.h"
#include "myriad/model/stretch.h"

static struct myr_design_head head;

static uint32_t find(const struct myr_design *design, const char *name)
{
    return myr_design_find(design, myr_str_from(name));
}

/* A leaf alone on its network, at this place. */
static void assert_named(struct myr_place place, const char *wanted)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    struct myr_network networks[MYR_NET_COUNT] = {};
    struct myr_design design = {
        .head = &head, .networks = networks, .place = &place, .device_count = 1};
    place.kind = MYR_DEVICE_LEAF;
    networks[place.net].leaf = 1;
    myr_design_name(&design, 0, &name);
    assert_string_equal(name.data, wanted);
    assert_int_equal(find(&design, wanted), 0);
    /* One letter more or fewer, or another one anywhere, is no name of it. */
    for (size_t i = 0; i < name.len; i++) {
        char was = name.data[i];
        name.data[i] = was == '7' ? '8' : '7';
        assert_int_equal(find(&design, name.data), MYR_NONE);
        name.data[i] = was;
    }
    myr_buf_putc(&name, '-');
    assert_int_equal(find(&design, name.data), MYR_NONE);
    myr_buf_puts(&name, "1");
    assert_int_equal(find(&design, name.data), MYR_NONE);
}

static void names_of_every_style_lead_back(void **state)
{
    static const struct {
        uint8_t style;
        const char *plain, *planes, *storage;
    } rows[] = {
        {MYR_NAME_POD, "leaf/p2-5", "leaf/x1-p2-5", "leaf/storage-x1-p2-5"},
        {MYR_NAME_POD_GROUP, "leaf/p2-g3-r5", "leaf/x1-p2-g3-r5", "leaf/storage-x1-p2-g3-r5"},
        {MYR_NAME_RAIL_POD, "leaf/r3-p2-5", "leaf/x1-r3-p2-5", "leaf/storage-x1-r3-p2-5"},
        {MYR_NAME_GROUP, "leaf/g2-5", "leaf/x1-g2-5", "leaf/storage-x1-g2-5"},
        {MYR_NAME_RAIL_GROUP, "leaf/r3-g2-5", "leaf/x1-r3-g2-5", "leaf/storage-x1-r3-g2-5"},
        {MYR_NAME_COORDINATES, "leaf/2-3-5", "leaf/x1-2-3-5", "leaf/storage-x1-2-3-5"},
        {MYR_NAME_NET, "leaf/5", "leaf/x1-5", "leaf/storage-x1-5"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        bool unit = rows[i].style != MYR_NAME_POD && rows[i].style != MYR_NAME_GROUP &&
                    rows[i].style != MYR_NAME_NET;
        struct myr_place place = {.style = rows[i].style,
                                  .net = MYR_NET_COMPUTE,
                                  .plane = MYR_PLANE_NONE,
                                  .pod = rows[i].style != MYR_NAME_NET ? 2 : 0,
                                  .unit = unit ? 3 : 0,
                                  .ordinal = 5};
        assert_named(place, rows[i].plain);
        place.plane = 1;
        assert_named(place, rows[i].planes);
        place.net = MYR_NET_STORAGE;
        assert_named(place, rows[i].storage);
    }
}

/* A plane is a byte: 257 is not 1. Numbers beyond 32 bits are none. */
static void numbers_in_names_have_limits(void **state)
{
    struct myr_network networks[MYR_NET_COUNT] = {};
    struct myr_place place = {.kind = MYR_DEVICE_LEAF,
                              .style = MYR_NAME_POD,
                              .net = MYR_NET_COMPUTE,
                              .plane = 1,
                              .pod = UINT32_MAX,
                              .ordinal = 0};
    struct myr_design design = {
        .head = &head, .networks = networks, .place = &place, .device_count = 1};
    (void)state;
    networks[MYR_NET_COMPUTE].leaf = 1;
    assert_int_equal(find(&design, "leaf/x1-p4294967295-0"), 0);
    assert_int_equal(find(&design, "leaf/x257-p4294967295-0"), MYR_NONE);
    assert_int_equal(find(&design, "leaf/x1-p8589934591-0"), MYR_NONE);
    assert_int_equal(find(&design, "leaf/x1-p-0"), MYR_NONE);
    assert_int_equal(find(&design, "leaf/x1-p4294967295"), MYR_NONE);
    assert_int_equal(find(&design, "leaf/"), MYR_NONE);
    assert_int_equal(find(&design, "leaf"), MYR_NONE);
    assert_int_equal(find(&design, ""), MYR_NONE);
    place.plane = MYR_PLANE_NONE - 1;
    place.pod = 0;
    assert_int_equal(find(&design, "leaf/x254-p0-0"), 0);
    place.style = MYR_NAME_PLAIN;
    assert_int_equal(find(&design, "leaf/00000"), 0);
    assert_int_equal(find(&design, "leaf/0"), 0);
    assert_int_equal(find(&design, "leaf/00000-"), MYR_NONE);
    assert_int_equal(find(&design, "leaf/00000-0"), MYR_NONE);
}

/* Cages from 1, connectors of a cage and legs of a connector where there are several. */
static void ports_are_named_as_on_the_box(void **state)
{
    static const struct {
        uint16_t per_cage, per_connector, first_cage;
        uint32_t port;
        const char *name;
        uint32_t cage;
    } rows[] = {
        {1, 1, 0, 0, "1", 0},     {1, 1, 0, 7, "8", 7},     {1, 1, 4, 7, "12", 11},
        {2, 1, 0, 0, "1/1", 0},   {2, 1, 0, 7, "4/2", 3},   {2, 2, 0, 0, "1/1", 0},
        {2, 2, 0, 7, "4/2", 3},   {4, 2, 0, 0, "1/1/1", 0}, {4, 2, 0, 1, "1/1/2", 0},
        {4, 2, 0, 2, "1/2/1", 0}, {4, 2, 0, 7, "2/2/2", 1}, {4, 2, 3, 6, "5/2/1", 4},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_network networks[MYR_NET_COUNT] = {};
        struct myr_place place = {.kind = MYR_DEVICE_LEAF, .net = MYR_NET_COMPUTE};
        struct myr_devtype type = {.group_count = 2, .port_count = 11};
        uint32_t device[11] = {}, first_port[] = {0, 11};
        uint16_t device_type = 0;
        struct myr_design design = {.head = &head,
                                    .networks = networks,
                                    .place = &place,
                                    .device_count = 1,
                                    .device_type = &device_type,
                                    .devtypes = &type,
                                    .devtype_count = 1,
                                    .first_port = first_port,
                                    .port_count = 11,
                                    .port_device = device};
        /* Three ports of a card stand before those of the box. */
        type.groups[0] = (struct myr_port_group){.first = 0,
                                                 .count = 3,
                                                 .per_cage = 1,
                                                 .per_connector = 1,
                                                 .role = MYR_PORT_NIC,
                                                 .net = MYR_NET_OOB};
        type.groups[1] = (struct myr_port_group){.first = 3,
                                                 .count = 8,
                                                 .per_cage = rows[i].per_cage,
                                                 .per_connector = rows[i].per_connector,
                                                 .first_cage = rows[i].first_cage,
                                                 .role = MYR_PORT_GLOBAL};
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_port_name(&design, 3 + rows[i].port, &name);
        assert_string_equal(name.data, rows[i].name);
        assert_int_equal(myr_design_port_cage(&design, 3 + rows[i].port), rows[i].cage);
        /* A switch has a management port; a host is of no network, and has NICs by planes. */
        networks[MYR_NET_OOB].planes = 1;
        myr_buf_clear(&name);
        myr_design_port_name(&design, 2, &name);
        assert_string_equal(name.data, "mgmt2");
        place.net = MYR_NET_COUNT;
        networks[MYR_NET_OOB].planes = 2;
        myr_buf_clear(&name);
        myr_design_port_name(&design, 1, &name);
        myr_buf_putc(&name, ' ');
        myr_design_port_name(&design, 2, &name);
        assert_string_equal(name.data, "bmc0p1 bmc1p0");
    }
}

/* What grows with the cabling: two words a port, three a link, six bytes a cable. */
static void bytes_are_counted_by_cable(void **state)
{
    struct myr_design design = {.port_count = 7, .link_count = 5, .cable_count = 0};
    (void)state;
    assert_true(myr_design_bytes_per_cable(&design) == 0);
    design.cable_count = 4;
    assert_true(myr_design_bytes_per_cable(&design) == (7 * 8 + 5 * 12 + 4 * 6) / 4.0);
}

/* A design that has grown keeps the names of what stood: numbers need not follow each other. */
static void all_nodes_are_named_in_their_order(void **state)
{
    static const uint32_t numbers[] = {0, 1, 2, 7, 8, 3, 100000};
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    struct myr_place place[MYR_ARRAY_COUNT(numbers)] = {};
    struct myr_design_head grown = {.nodes = MYR_ARRAY_COUNT(numbers)};
    struct myr_design design = {.head = &grown, .place = place, .device_count = grown.nodes};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        place[i] = (struct myr_place){.kind = MYR_DEVICE_NODE, .ordinal = numbers[i]};
    }
    myr_design_node_names(&design, &names);
    assert_string_equal(names.data, "node-[00000-00002],node-[00007-00008],node-[00003-00003],"
                                    "node-[100000-100000]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_every_style_lead_back),
        cmocka_unit_test(numbers_in_names_have_limits),
        cmocka_unit_test(ports_are_named_as_on_the_box),
        cmocka_unit_test(bytes_are_counted_by_cable),
        cmocka_unit_test(all_nodes_are_named_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
