#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "myriad/site.h"

/* Two switches, a NIC on the first, and links as told. */
struct fixture {
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_buf text;
    struct myr_err err;
};

static uint32_t add_device(struct fixture *f, const char *name, uint64_t guid, uint32_t ports,
                           bool is_switch)
{
    uint32_t device = myr_cabling_device(&f->cabling, myr_str_from(name));
    f->cabling.devices.items[device].guid = guid;
    f->cabling.devices.items[device].port_count = ports;
    f->cabling.devices.items[device].is_switch = is_switch;
    return device;
}

static struct myr_cabling_link *add_link(struct fixture *f, uint32_t a, const char *port_a,
                                         uint32_t b, const char *port_b)
{
    struct myr_cabling_link link = {.a = {a, myr_str_from(port_a)}, .b = {b, myr_str_from(port_b)}};
    myr_vec_push(&f->cabling.links, link);
    return &f->cabling.links.items[f->cabling.links.count - 1];
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){};
    myr_arena_init(&fixture.arena);
    myr_cabling_init(&fixture.cabling, &fixture.arena);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
    myr_buf_done(&f->text);
    return 0;
}

static void stanzas_come_in_order_of_guid_and_ports_in_theirs(void **state)
{
    struct fixture *f = *state;
    uint32_t nic = add_device(f, "node-00000-nic0", 0x10, 1, false);
    uint32_t spine = add_device(f, "spine-p0-0", 0x30, 4, true);
    uint32_t leaf = add_device(f, "leaf-p0-0", 0x20, 4, true);
    add_link(f, leaf, "3", spine, "2")->gbps = 400;
    struct myr_cabling_link *host = add_link(f, nic, "1", leaf, "1");
    host->gbps = 200;
    host->width = 2;
    assert_int_equal(
        myr_write_ibnetdiscover(&f->cabling, MYR_NETLIST_IBNETDISCOVER, &f->text, &f->err), MYR_OK);
    assert_string_equal(
        f->text.data,
        "#\n# Topology file\n#\n"
        "\nswitchguid=0x0000000000000020(0000000000000020)\n"
        "Switch\t4 \"S-0000000000000020\"\t\t# \"leaf-p0-0\" enhanced port 0 lid 0 lmc 0\n"
        "[1]\t\"H-0000000000000010\"[1](0000000000000011) \t\t# \"node-00000-nic0\" lid 0 2xNDR\n"
        "[3]\t\"S-0000000000000030\"[2]\t\t# \"spine-p0-0\" lid 0 4xNDR\n"
        "\nswitchguid=0x0000000000000030(0000000000000030)\n"
        "Switch\t4 \"S-0000000000000030\"\t\t# \"spine-p0-0\" enhanced port 0 lid 0 lmc 0\n"
        "[2]\t\"S-0000000000000020\"[3]\t\t# \"leaf-p0-0\" lid 0 4xNDR\n"
        "\ncaguid=0x0000000000000010\n"
        "Ca\t1 \"H-0000000000000010\"\t\t# \"node-00000-nic0\"\n"
        "[1](0000000000000011) \t\"S-0000000000000020\"[1]\t\t# lid 0 lmc 0 \"leaf-p0-0\" lid 0 "
        "2xNDR\n");
}

static void a_netlist_for_ibsim_has_nics_first_and_nothing_above_hdr(void **state)
{
    struct fixture *f = *state;
    uint32_t leaf = add_device(f, "leaf-p0-0", 0x20, 4, true);
    uint32_t nic = add_device(f, "node-00000-nic0", 0x10, 1, false);
    add_link(f, nic, "1", leaf, "1")->gbps = 400;
    add_link(f, leaf, "2", leaf, "3")->gbps = 100;
    assert_int_equal(myr_write_ibnetdiscover(&f->cabling, MYR_NETLIST_IBSIM, &f->text, &f->err),
                     MYR_OK);
    assert_true(strstr(f->text.data, "\nCa\t1") < strstr(f->text.data, "\nSwitch\t4"));
    assert_null(strstr(f->text.data, "NDR"));
    assert_non_null(strstr(f->text.data, "\"leaf-p0-0\" lid 0 4xHDR\n"));
    assert_non_null(strstr(f->text.data, "\"leaf-p0-0\" lid 0 4xEDR\n"));
}

static void what_one_side_told_is_written_at_that_side_only(void **state)
{
    struct fixture *f = *state;
    uint32_t a = add_device(f, "a", 1, 2, true), b = add_device(f, "b", 2, 2, true);
    add_link(f, a, "1", b, "2")->one_sided = true;
    assert_int_equal(
        myr_write_ibnetdiscover(&f->cabling, MYR_NETLIST_IBNETDISCOVER, &f->text, &f->err), MYR_OK);
    assert_non_null(strstr(f->text.data, "[1]\t\"S-0000000000000002\"[2]"));
    assert_null(strstr(f->text.data, "[2]\t\"S-0000000000000001\"[1]"));
}

static void infiniband_ports_are_numbers(void **state)
{
    struct fixture *f = *state;
    uint32_t a = add_device(f, "node-00000", 1, 2, false), b = add_device(f, "b", 2, 2, true);
    add_link(f, a, "nic0", b, "1");
    assert_int_equal(
        myr_write_ibnetdiscover(&f->cabling, MYR_NETLIST_IBNETDISCOVER, &f->text, &f->err),
        MYR_EINVAL);
    assert_string_equal(f->err.message,
                        "port 'nic0' of 'node-00000': InfiniBand ports are numbers up to 255");
}

static void tables_quote_what_needs_it_and_leave_out_what_is_not_known(void **state)
{
    struct fixture *f = *state;
    uint32_t node = add_device(f, "rack 1, node 2", 0, 0, false);
    uint32_t leaf = add_device(f, "leaf", 0, 0, true);
    struct myr_cabling_link *link = add_link(f, node, "nic0", leaf, "1/1");
    link->medium = MYR_STR("smf");
    link->label = MYR_STR("a \"b\"");
    link->length_mm = 2500;
    add_link(f, node, "nic1", leaf, "1/2");
    add_link(f, node, "nic2", leaf, "2/1")->length_mm = 50000;
    myr_write_p2p(&f->cabling, &f->text);
    assert_string_equal(f->text.data, "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\n"
                                      "\"rack 1, node 2\",Host,nic0,leaf,Switch,1/1\n"
                                      "\"rack 1, node 2\",Host,nic1,leaf,Switch,1/2\n"
                                      "\"rack 1, node 2\",Host,nic2,leaf,Switch,2/1\n");
    myr_buf_clear(&f->text);
    myr_write_netbox_cables(&f->cabling, &f->text);
    assert_string_equal(
        f->text.data,
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,"
        "label,color,length,length_unit\n"
        "\"rack 1, node 2\",dcim.interface,nic0,leaf,dcim.interface,1/1,smf,connected,"
        "\"a \"\"b\"\"\",,2.5,m\n"
        "\"rack 1, node 2\",dcim.interface,nic1,leaf,dcim.interface,1/2,,connected,,,,\n"
        "\"rack 1, node 2\",dcim.interface,nic2,leaf,dcim.interface,2/1,,connected,,,50,m\n");
}

static void formats_are_found_by_name_and_near_misses_are_named(void **state)
{
    struct fixture *f = *state;
    const struct myr_exporter *exporter;
    for (uint32_t i = 0; i < myr_exporter_count; i++) {
        assert_int_equal(myr_exporter_find(myr_exporters[i].name, &exporter, &f->err), MYR_OK);
        assert_ptr_equal(exporter, &myr_exporters[i]);
        assert_non_null(exporter->run);
        assert_true(exporter->title[0] && exporter->files[0] && exporter->read_by[0]);
    }
    assert_int_equal(myr_exporter_find("opensn", &exporter, &f->err), MYR_EINVAL);
    assert_string_equal(f->err.message, "unknown format 'opensn'; did you mean 'opensm'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stanzas_come_in_order_of_guid_and_ports_in_theirs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_netlist_for_ibsim_has_nics_first_and_nothing_above_hdr,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_one_side_told_is_written_at_that_side_only, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(infiniband_ports_are_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_quote_what_needs_it_and_leave_out_what_is_not_known,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(formats_are_found_by_name_and_near_misses_are_named, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
