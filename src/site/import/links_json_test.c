#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/site.h"

/* One record or line at a time, and all that is kept of it. */

struct fixture {
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_buf text;
    struct myr_err err;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    *state = &fixture;
    return 0;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    myr_cabling_init(&f->cabling, &f->arena);
    myr_import_init(&f->import, &f->cabling);
}

static void finish(struct fixture *f)
{
    myr_buf_done(&f->text);
    myr_import_done(&f->import);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static void put_end(struct fixture *f, struct myr_cabling_end end)
{
    const struct myr_cabling_device *device = &f->cabling.devices.items[end.device];
    myr_buf_printf(&f->text, "%.*s(%llx%s%s) %.*s", (int)device->name.len, device->name.data,
                   (unsigned long long)device->guid, device->is_switch ? " switch" : "",
                   device->reported ? " whole" : "", (int)end.port.len, end.port.data);
}

/* The links, one a line, or what is the matter with the text. */
static const char *read_links(struct fixture *f, enum myr_import_format format, const char *text,
                              bool partial)
{
    begin(f);
    f->import.partial = partial;
    if (myr_import_text(&f->import, format, "links", myr_str_from(text), &f->err) < 0) {
        return f->err.message;
    }
    for (size_t i = 0; i < f->cabling.links.count; i++) {
        const struct myr_cabling_link *link = &f->cabling.links.items[i];
        put_end(f, link->a);
        myr_buf_puts(&f->text, link->one_sided ? " > " : " - ");
        put_end(f, link->b);
        myr_buf_printf(&f->text, " in line %u\n", link->line);
    }
    return f->text.data ? f->text.data : "";
}

/* What stands behind the last colon is a port only if it looks like one. */
static void names_of_ports_are_told_from_names_with_colons(void **state)
{
    struct fixture *f = *state;
    const struct {
        const char *name, *end;
    } rows[] = {
        {"leaf:1/19/2", "leaf(0 switch whole) 1/19/2"},
        {"leaf:38", "leaf(0 switch whole) 38"},
        {"leaf:sw37p1", "leaf(0 switch whole) sw37p1"},
        {"leaf:A2/58", "leaf(0 switch whole) A2/58"},
        {"leaf:zZ0", "leaf(0 switch whole) zZ0"},
        {"leaf:aA9", "leaf(0 switch whole) aA9"},
        {"leaf:uplink", "leaf:uplink(0 whole) 4"},
        {"leaf:", "leaf:(0 whole) 4"},
        {"leaf:1_2", "leaf:1_2(0 whole) 4"},
        {"leaf:1-2", "leaf:1-2(0 whole) 4"},
        {"hall:2:leaf:7", "hall:2:leaf(0 switch whole) 7"},
        {"leaf:1234567890123456", "leaf(0 switch whole) 1234567890123456"},
        {"leaf:12345678901234567", "leaf:12345678901234567(0 whole) 4"},
        {"gpu01 mlx5_0:1", "gpu01 mlx5_0(0 whole) 4"},
        {"gpu01 mlx5_0", "gpu01 mlx5_0(0 whole) 4"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[300], expected[200];
        snprintf(text, sizeof(text),
                 "[{\"source_port_node_description\": \"%s\", \"source_port\": 4,\n"
                 "\"destination_port_node_description\": \"spine\", \"destination_port\": 5}]",
                 rows[i].name);
        snprintf(expected, sizeof(expected), "%s - spine(0 switch whole) 5 in line 2\n",
                 rows[i].end);
        assert_string_equal(read_links(f, MYR_IMPORT_LINKS_JSON, text, false), expected);
        assert_true(f->cabling.numbered);
        finish(f);
    }
}

static void ends_are_known_by_name_or_by_guid(void **state)
{
    struct fixture *f = *state;
#define ENDS(a, b)                                                                     \
    "[{\"source_guid\": \"" a "\", \"source_port\": \"5\", \"destination_guid\": \"" b \
    "\", \"destination_port\": \"1\"}]"
    const struct {
        const char *text, *expected;
    } rows[] = {
        {ENDS("0x98a0", "9c"), "(98a0 switch) 5 - (9c) 1 in line 1\n"},
        {ENDS("98a0", "98a0"), "(98a0 switch) 5 - (98a0 switch) 1 in line 1\n"},
        {ENDS("0", "9c"), "links:1:92: a link without the name or the port of an end"},
        {ENDS("zz", "9c"), "links:1:93: a link without the name or the port of an end"},
        {ENDS("", "9c"), "links:1:93: no link of UFM or NetQ is in this text"},
        {"[{\"hostname\": \"a\", \"ifname\": \"1\", \"peerHostname\": \"b\",\n\"peerIfname\": "
         "\"2\"},\n{\"hostname\": \"a\", \"ifname\": \"3\", \"peerHostname\": \"b\"}]",
         "a(0) 1 > b(0) 2 in line 2\n"},
        {"[{\"hostname\": \"a\\u0001\", \"ifname\": \"1\", \"peerHostname\": \"b\", "
         "\"peerIfname\": \"2\"}]",
         "links:1:79: a name has control characters or is too long"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *said = read_links(f, MYR_IMPORT_LINKS_JSON, rows[i].text, true);
        assert_string_equal(said, rows[i].expected);
        finish(f);
    }
}

/* Rates are those on the wire, and what is carried is less. */
static void lanes_and_rates_of_iblinkinfo_make_a_speed(void **state)
{
    struct fixture *f = *state;
    const struct {
        const char *speed;
        uint32_t gbps, width;
    } rows[] = {
        {"1X 2.5 Gbps", 2, 1},       {"4X 2.5 Gbps", 10, 4},     {"4X 5.0 Gbps", 20, 4},
        {"4X 10.0 Gbps", 40, 4},     {"4X 14.0625 Gbps", 56, 4}, {"4X 25.78125 Gbps", 100, 4},
        {"4X 26.5625 Gbps", 100, 4}, {"2X 53.125 Gbps", 100, 2}, {"4X 106.25 Gbps", 400, 4},
        {"4x 212.5 Gbps", 800, 4},   {"4X 106.3 Gbps", 425, 4},  {"16X 106.25 Gbps", 1600, 16},
        {"17X 106.25 Gbps", 0, 0},   {"4Y 106.25 Gbps", 0, 0},   {"X 106.25 Gbps", 0, 0},
        {"4X 0 Gbps", 0, 0},         {"4X 10000 Gbps", 0, 0},    {"4X NDR", 400, 4},
        {"1X 9999 Gbps", 9999, 1},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "Switch: 0x98039b0300a1b2c4 leaf-1:\n"
                 "  1  40[  ] ==( %s Active/  LinkUp)==>  2  62[  ] \"spine-1\" ( )\n",
                 rows[i].speed);
        (void)read_links(f, MYR_IMPORT_IBLINKINFO, text, false);
        assert_int_equal(f->cabling.links.count, 1);
        if (f->cabling.links.items[0].gbps != rows[i].gbps ||
            f->cabling.links.items[0].width != rows[i].width) {
            fail_msg("%s: %u Gb/s, %u lanes", rows[i].speed, f->cabling.links.items[0].gbps,
                     f->cabling.links.items[0].width);
        }
        finish(f);
    }
}

static const struct myr_cabling_device *device_named(const struct fixture *f, const char *name)
{
    uint32_t found = myr_strmap_get(&f->cabling.names, myr_str_from(name));
    assert_true(found < f->cabling.devices.count);
    return &f->cabling.devices.items[found];
}

/* With -l nothing says what kind of thing a device is: no NIC has more than four ports. */
static void many_ports_make_a_switch(void **state)
{
    struct fixture *f = *state;
    for (uint32_t port = 3; port < 7; port++) {
        for (uint32_t far = 3; far < 7; far++) {
            char text[200];
            snprintf(text, sizeof(text),
                     "0x0002c902004b0ff0 \"one\" 1 %u[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>  "
                     "0x0002c903000f5aa1 5 %u[  ] \"other\" ( )\n",
                     port, far);
            (void)read_links(f, MYR_IMPORT_IBLINKINFO, text, false);
            assert_int_equal(f->cabling.links.count, 1);
            assert_int_equal(device_named(f, "one")->is_switch, port > 4);
            assert_int_equal(device_named(f, "other")->is_switch, far > 4);
            finish(f);
        }
    }
    /* A head says it, whatever the port. */
    (void)read_links(f, MYR_IMPORT_IBLINKINFO,
                     "Switch: 0x0002c902004b0ff0 one:\n"
                     " 1 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 5 1[  ] \"other\" ( )\n",
                     false);
    assert_true(device_named(f, "one")->is_switch);
    assert_false(device_named(f, "other")->is_switch);
    finish(f);
}

/* The whole fabric was walked through: neighbours were found as well, unless it is a part. */
static void a_topology_tells_all_of_its_devices(void **state)
{
    struct fixture *f = *state;
    for (uint32_t partial = 0; partial < 2; partial++) {
        begin(f);
        f->import.partial = partial;
        assert_int_equal(myr_import_text(&f->import, MYR_IMPORT_IBDIAGNET, "topo",
                                         MYR_STR("# topology\nMQM9700 leaf-1\n"
                                                 "    P2 -4x-100G-> HCA_mlx5_3 gpu01 mlx5_0/P1\n"
                                                 "    P40 -4x-100G-> MQM9700 spine-1 P62\n"),
                                         &f->err),
                         MYR_OK);
        myr_import_finish(&f->import);
        static const char *const names[] = {"leaf-1", "gpu01 mlx5_0", "spine-1"};
        assert_int_equal(f->cabling.devices.count, MYR_ARRAY_COUNT(names));
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
            assert_int_equal(device_named(f, names[i])->reported, !partial);
            assert_int_equal(device_named(f, names[i])->is_switch, i != 1);
        }
        finish(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_of_ports_are_told_from_names_with_colons, set_up),
        cmocka_unit_test_setup(ends_are_known_by_name_or_by_guid, set_up),
        cmocka_unit_test_setup(lanes_and_rates_of_iblinkinfo_make_a_speed, set_up),
        cmocka_unit_test_setup(many_ports_make_a_switch, set_up),
        cmocka_unit_test_setup(a_topology_tells_all_of_its_devices, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
