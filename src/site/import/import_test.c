#include "import/readers.h"
#include "import/reading_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

static void read_text(struct fixture *f, enum myr_import_format format, const char *file,
                      const char *text)
{
    if (myr_import_text(&f->import, format, file, myr_str_from(text), &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

/* The end as "device port". */
static void expect_end(const struct fixture *f, struct myr_cabling_end end, const char *expected)
{
    struct myr_str name = f->cabling.devices.items[end.device].name;
    char text[256];
    snprintf(text, sizeof(text), "%.*s %.*s", (int)name.len, name.data, (int)end.port.len,
             end.port.data);
    assert_string_equal(text, expected);
}

static void expect_link(const struct fixture *f, size_t index, const char *a, const char *b)
{
    assert_true(index < f->cabling.links.count);
    expect_end(f, f->cabling.links.items[index].a, a);
    expect_end(f, f->cabling.links.items[index].b, b);
}

static const char discovered[] =
    "#\n# Topology file: generated on Mon Jun 10 12:00:00 2024\n#\n"
    "# Initiated from node 98039b0300000001 port 98039b0300000002\n\n"
    "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x98039b03000000a0\n"
    "switchguid=0x98039b03000000a0(98039b03000000a0)\n"
    "Switch\t64 \"S-98039b03000000a0\"\t\t# \"leaf-p0-g0-r0\" enhanced port 0 lid 2 lmc 0\n"
    "[1]\t\"H-98039b0300000001\"[1](98039b0300000002) \t\t# \"node-00000-nic0\" lid 1 4xNDR\n"
    "[33][ext 5]\t\"S-98039b03000000b0\"[7]\t\t# \"spine-p0-0\" lid 3 2xHDR\n\n"
    "vendid=0x2c9\ndevid=0x1021\nsysimgguid=0x98039b0300000001\ncaguid=0x98039b0300000001\n"
    "Ca\t1 \"H-98039b0300000001\"\t\t# \"node-00000-nic0\"\n"
    "[1](98039b0300000002) \t\"S-98039b03000000a0\"[1]\t\t# lid 1 lmc 0 \"leaf-p0-g0-r0\" lid 2 "
    "4xNDR\n";

static void ibnetdiscover_tells_devices_links_and_speeds(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(&f, MYR_IMPORT_AUTO, "fabric.txt", discovered);
    assert_int_equal(f.cabling.devices.count, 3);
    assert_int_equal(f.cabling.links.count, 2);
    expect_link(&f, 0, "leaf-p0-g0-r0 1", "node-00000-nic0 1");
    expect_link(&f, 1, "leaf-p0-g0-r0 33", "spine-p0-0 7");
    const struct myr_cabling_link *links = f.cabling.links.items;
    assert_int_equal(links[0].gbps, 400);
    assert_int_equal(links[0].width, 4);
    assert_false(links[0].one_sided);
    assert_int_equal(links[1].gbps, 100);
    assert_true(links[1].one_sided);
    const struct myr_cabling_device *leaf = &f.cabling.devices.items[0];
    assert_true(leaf->is_switch && leaf->reported);
    assert_true(leaf->guid == UINT64_C(0x98039b03000000a0));
    assert_true(f.cabling.devices.items[1].port_guid == UINT64_C(0x98039b0300000002));
    assert_false(f.cabling.devices.items[2].reported);
    finish(&f);
}

static void a_speed_map_says_what_a_name_stands_for(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(myr_speed_map_set(&f.import.speeds, MYR_STR("HDR=400"), &f.err), MYR_OK);
    read_text(&f, MYR_IMPORT_IBNETDISCOVER, "fabric.txt", discovered);
    assert_int_equal(f.cabling.links.items[1].gbps, 200);
    const char *const wrong[] = {"HDR", "HDR=", "HDR=x", "=400", "WDR=400", "HDR=0", ""};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        assert_int_equal(myr_speed_map_set(&f.import.speeds, myr_str_from(wrong[i]), &f.err),
                         MYR_EINVAL);
    }
    finish(&f);
}

static void netlists_of_simulators_are_read_too(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(
        &f, MYR_IMPORT_AUTO, "net",
        "Hca 1 \"node-00000-nic0\"\n[1] \"leaf-p0-g0-r0\"[1] # lid 0 lmc 0 \"x\" lid 0 4xHDR\n"
        "Switch 64 \"leaf-p0-g0-r0\"\n[1] \"node-00000-nic0\"[1]\n"
        "[2] \"node-00001-nic0\"[1]\n");
    assert_int_equal(f.cabling.devices.count, 3);
    expect_link(&f, 0, "node-00000-nic0 1", "leaf-p0-g0-r0 1");
    expect_link(&f, 1, "leaf-p0-g0-r0 2", "node-00001-nic0 1");
    assert_int_equal(f.cabling.links.items[0].gbps, 200);
    finish(&f);
}

#define NEIGHBOUR(name, port)                                                                   \
    "{\"via\": \"LLDP\", \"chassis\": {\"" name "\": {\"id\": {\"type\": \"mac\", \"value\": "  \
    "\"3e:9c:2b:3d:21:25\"}, \"descr\": \"x\", \"mgmt-ip\": \"10.0.0.1\", \"capability\": "     \
    "[{\"type\": \"Bridge\", \"enabled\": true}]}}, \"port\": {\"id\": {\"type\": \"ifname\", " \
    "\"value\": \"" port "\"}, \"descr\": \"d\", \"ttl\": \"120\"}}"

static void lldp_is_read_in_all_its_shapes(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* a list of neighbours; one neighbour alone; two on one interface */
        "{\"lldp\": {\"interface\": [{\"swp1\": " NEIGHBOUR(
            "spine1", "swp7") "}, {\"swp2\": " NEIGHBOUR("spine2", "swp8") "}]}}",
        "{\"lldp\": {\"interface\": {\"swp1\": " NEIGHBOUR(
            "spine1", "swp7") ", \"swp2\": " NEIGHBOUR("spine2", "swp8") "}}}",
        "{\"lldp\": {\"interface\": {\"swp1\": [" NEIGHBOUR(
            "spine1", "swp7") "], \"swp2\": [" NEIGHBOUR("spine2", "swp8") "]}}}",
        /* json0 */
        "{\"lldp\": [{\"interface\": [{\"name\": \"swp1\", \"vlan\": [{\"name\": \"x\"}], "
        "\"chassis\": [{\"id\": [{\"type\": \"mac\", \"value\": \"3e:9c:2b:3d:21:25\"}], \"name\": "
        "[{\"value\": \"spine1\"}], \"descr\": [{\"value\": \"y\"}], \"mgmt-ip\": [{\"value\": "
        "\"10.0.0.1\"}]}], \"port\": [{\"id\": [{\"type\": \"ifname\", \"value\": \"swp7\"}]}]}, "
        "{\"name\": \"swp2\", \"chassis\": [{\"name\": [{\"value\": \"spine2\"}]}], \"port\": "
        "[{\"id\": [{\"type\": \"mac\", \"value\": \"aa:bb:cc:dd:ee:ff\"}], \"descr\": "
        "[{\"value\": "
        "\"swp8\"}]}]}]}]}",
        /* many devices in one text */
        "{\"leaf1\": {\"lldp\": {\"interface\": [{\"swp1\": " NEIGHBOUR(
            "spine1", "swp7") "}]}}}\n{\"local-chassis\": {\"chassis\": {\"leaf1\": {\"id\": "
                              "{\"type\": \"mac\", "
                              "\"value\": \"3e:9c:2b:3d:21:99\"}}}}}\n{\"lldp\": {\"interface\": "
                              "{\"swp2\": " NEIGHBOUR("spine2", "swp8") "}}}",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct fixture f;
        begin(&f);
        read_text(&f, MYR_IMPORT_AUTO, "folder/leaf1.lldp.json", texts[i]);
        assert_int_equal(f.cabling.links.count, 2);
        expect_link(&f, 0, "leaf1 swp1", "spine1 swp7");
        expect_link(&f, 1, "leaf1 swp2", "spine2 swp8");
        assert_true(f.cabling.links.items[0].one_sided);
        uint32_t spine = f.cabling.links.items[0].b.device;
        assert_true(myr_str_eq(f.cabling.devices.items[spine].mac, MYR_STR("3e:9c:2b:3d:21:25")));
        assert_true(myr_str_eq(f.cabling.devices.items[spine].address, MYR_STR("10.0.0.1")));
        assert_true(f.cabling.devices.items[0].reported);
        assert_false(f.cabling.devices.items[spine].reported);
        finish(&f);
    }
}

static void nameless_lldp_neighbours_go_by_their_address(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(&f, MYR_IMPORT_LLDP, "leaf1.json",
              "{\"lldp\": {\"interface\": {\"swp1\": {\"chassis\": {\"id\": {\"type\": \"mac\", "
              "\"value\": \"3e:9c:2b:3d:21:25\"}}, \"port\": {\"id\": {\"type\": \"mac\", "
              "\"value\": \"3e:9c:2b:3d:21:26\"}}}}}}");
    expect_link(&f, 0, "leaf1 swp1", "3e:9c:2b:3d:21:25 3e:9c:2b:3d:21:26");
    finish(&f);
}

static void lldp_that_ends_early_counts_as_far_as_it_goes(void **state)
{
    (void)state;
    static const char text[] = "{\"lldp\": {\"interface\": [{\"swp1\": " NEIGHBOUR(
        "s1", "swp7") "}, "
                      "{\"swp2\": " NEIGHBOUR("s2", "swp8") "}]}}";
    size_t whole = sizeof(text) - 1;
    for (size_t len = 1; len < whole; len++) {
        struct fixture f;
        begin(&f);
        int rc = myr_import_text(&f.import, MYR_IMPORT_LLDP, "leaf1.json",
                                 (struct myr_str){text, len}, &f.err);
        if (rc < 0) {
            /* Only while there is nothing yet. */
            assert_int_equal(f.cabling.devices.count, 0);
            assert_non_null(strstr(f.err.message, "leaf1.json:1:"));
        } else {
            assert_int_equal(f.import.truncated_count, 1);
            assert_true(f.cabling.links.count <= 2);
            assert_false(f.cabling.devices.items[0].reported && len + 1 < whole);
        }
        finish(&f);
    }
}

/* A source that gives a few bytes at a time. */
struct dripping {
    const char *at, *end;
    size_t most;
};

static size_t drip(void *context, char *to, size_t room)
{
    struct dripping *source = context;
    size_t left = (size_t)(source->end - source->at);
    size_t give = left < source->most ? left : source->most;
    give = give < room ? give : room;
    memcpy(to, source->at, give);
    source->at += give;
    return give;
}

static void lldp_reads_the_same_piece_by_piece(void **state)
{
    (void)state;
    static const char text[] =
        " {\"le\\u0061f\\n1\\ud83d\\ude00\": 12.5e3, \"leaf1\": {\"lldp\": {\"interface\": "
        "[{\"swp1\": " NEIGHBOUR("sp\\u00e9ine", "swp7") "}, {\"swp2\": true, \"swp3\": " NEIGHBOUR(
            "s\\\"2", "swp8") "}]}}}  ";
    for (size_t most = 1; most < 40; most++) {
        struct fixture f;
        struct dripping source = {text, text + sizeof(text) - 1, most};
        struct json_source pieces = {&source, drip};
        begin(&f);
        const char *file = "drip.json";
        myr_vec_push(&f.cabling.files, file);
        int rc = import_lldp_stream(&f.import, file, MYR_STR(""), &pieces, &f.err);
        if (rc < 0) {
            fail_msg("%zu bytes at a time: %s", most, f.err.message);
        }
        assert_int_equal(f.cabling.links.count, 2);
        expect_link(&f, 0, "leaf1 swp1", "sp\xc3\xa9ine swp7");
        expect_link(&f, 1, "leaf1 swp3", "s\"2 swp8");
        finish(&f);
    }
}

static void lists_of_cables_have_their_columns_in_any_order(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\n"
        "node-00000,Host,nic0,leaf-p0-g0-r0,Switch,1/1\n",
        "a_node,A Rack,A-U,a-port,Z NODE NAME,z-port,z rack\n"
        "node-00000,R1,7,nic0,leaf-p0-g0-r0,1/1,R2\n",
        "Z-Port,Z-Node,A-Port,A-Node\r\n1/1,leaf-p0-g0-r0,\"nic0\",node-00000\r\n",
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,"
        "label,color,length,length_unit\n"
        "node-00000,dcim.interface,nic0,leaf-p0-g0-r0,dcim.interface,1/1,smf,connected,L7,,50,m\n"
        "node-00000,dcim.powerport,PS1,pdu1,dcim.poweroutlet,3,power,connected,,,,\n"
        "node-00001,dcim.interface,nic0,leaf-p0-g0-r0,dcim.interface,1/2,,planned,,,,\n",
        "#,Cable ID,Source Device,Source Port,Destination Device,Destination Port\n"
        "1,C0001,node-00000,nic0,leaf-p0-g0-r0,1/1\n",
        "From Device,From Port,To Device,To Port\nnode-00000,nic0,leaf-p0-g0-r0,1/1\n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct fixture f;
        begin(&f);
        read_text(&f, MYR_IMPORT_AUTO, "list.csv", texts[i]);
        assert_int_equal(f.cabling.links.count, 1);
        expect_link(&f, 0, "node-00000 nic0", "leaf-p0-g0-r0 1/1");
        assert_false(f.cabling.links.items[0].one_sided);
        assert_int_equal(f.cabling.links.items[0].length_mm, i == 3 ? 50000 : 0);
        assert_int_equal(f.import.other_count, i == 3 ? 2 : 0);
        finish(&f);
    }
}

static void half_rows_are_empty_ports_and_marks_are_unknown_ones(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(&f, MYR_IMPORT_P2P, "list.csv",
              "A-Node Name,A-Port,Z-Node Name,Z-Port,Speed,Width,Errors\n"
              "a,1,,,,,\n,,b,2,,,\nc,3,?,,,,\n,,,,,,\nd,4,e,5,200,2,17\n");
    assert_int_equal(f.cabling.bare.count, 3);
    expect_end(&f, f.cabling.bare.items[0].end, "a 1");
    expect_end(&f, f.cabling.bare.items[1].end, "b 2");
    assert_false(f.cabling.bare.items[1].unknown);
    assert_true(f.cabling.bare.items[2].unknown);
    assert_int_equal(f.cabling.links.count, 1);
    assert_int_equal(f.cabling.links.items[0].gbps, 200);
    assert_int_equal(f.cabling.links.items[0].width, 2);
    assert_int_equal(f.cabling.links.items[0].errors, 17);
    finish(&f);
}

static void error_counters_of_the_cable_are_summed(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(
        &f, MYR_IMPORT_AUTO, "errors.txt",
        "Errors for \"node-00000-nic0\"\n"
        "   GUID 0x24d595200000001 port 1: [LinkDownedCounter == 7] [PortXmitWait == 99 (1KB)]\n"
        "Errors for 0x24d595300000062 \"leaf-p0-g0-r0\"\n"
        "   GUID 0x24d595300000062 port ALL: [SymbolErrorCounter == 9999]\n"
        "   GUID 0x24d595300000062 port 5: [SymbolErrorCounter == 9999] [PortRcvErrors == 1]\n"
        "   Link info:  1  5[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  0x1 1[  ] \"n\" ( )\n"
        "   GUID 0x24d595300000062 port 6: [PortXmitDiscards == 3]\n\n"
        "## Summary: 536 nodes checked, 2 bad nodes found\n");
    assert_int_equal(f.cabling.errors.count, 2);
    assert_true(f.cabling.errors.items[0].guid == UINT64_C(0x024d595200000001));
    assert_int_equal(f.cabling.errors.items[0].count, 7);
    assert_int_equal(f.cabling.errors.items[1].count, 10000);
    assert_true(myr_str_eq(f.cabling.errors.items[1].port, MYR_STR("5")));
    finish(&f);
}

static void broken_texts_are_refused_in_their_place(void **state)
{
    (void)state;
    static const struct {
        enum myr_import_format format;
        const char *text, *place;
    } cases[] = {
        {MYR_IMPORT_AUTO, "", "x:1:1: the file is empty"},
        {MYR_IMPORT_AUTO, " \n\t\n", "x:1:1: the file is empty"},
        {MYR_IMPORT_AUTO, "hello\n", "x:1:1: 'hello' begins nothing that is read here; output of"},
        {MYR_IMPORT_IBNETDISCOVER, "hello\n", "x:1:1: 'hello' begins no line of ibnetdiscover"},
        {MYR_IMPORT_AUTO, "Switch 8 \"S-1\"\nhello\n", "x:2:1: 'hello' begins no line of ibnet"},
        {MYR_IMPORT_P2P, "a,b\n", "x:1:1: a point-to-point list has a column 'A-Node Name'"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port\na,1,b\n", "x:2:5: the row has 3 fields"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port\na,,b,1\n", "x:2:3: a device without"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port\na,1,,1\n", "x:2:5: a port without"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port\na,1,a,1\n", "x:2:7: the cable ends where"},
        {MYR_IMPORT_P2P, "A-Node,A-Node,A-Port,Z-Node,Z-Port\n", "x:1:8: column 'A-Node' is"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port,width\na,1,b,1,fast\n", "x:2:9: 'fast' is"},
        {MYR_IMPORT_P2P, "A-Node,A-Port,Z-Node,Z-Port\na,1,\"b,1\n", "x:2:5: the quote opened"},
        {MYR_IMPORT_IBNETDISCOVER, "[1] \"a\"[1]\n", "x:1:1: a port before the first device"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch x \"a\"\n", "x:1:8: the number of ports"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 a\n", "x:1:10: an id in quotes"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\n", "x:1:11: the quote opened here"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"\"\n", "x:1:11: an id has"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\nSwitch 4 \"a\"\n",
         "x:2:10: device 'a' has two"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[0] \"b\"[1]\n", "x:2:2: a port's number"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"b\"\n", "x:2:8: a port in brackets"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1](zz) \"b\"[1]\n", "x:2:5: a GUID in"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"b\"[1] x\n", "x:2:12: '#' or the end"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"a\"[1]\n", "x:2:1: the port is linked"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"c\"[1]\n",
         "x:3:1: this port has another neighbour already: see x:2"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"b\"[1]\n[2] \"b\"[1]\n",
         "x:3:1: the far port has another neighbour already: see x:2"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[5] \"b\"[1]\n",
         "x:2:1: port 5 of a device with 4 ports (line 1)"},
        {MYR_IMPORT_IBNETDISCOVER, "Switch 4 \"a\"\n[1] \"b\"[9]\nSwitch 8 \"b\"\n",
         "x:3:10: device 'b' has 8 ports here, but a cable in port 9"},
        {MYR_IMPORT_IBNETDISCOVER, "switchguid=12\n", "x:1:12: a GUID such as"},
        {MYR_IMPORT_IBQUERYERRORS, "hello\n", "x:1:1: no line of ibqueryerrors"},
        {MYR_IMPORT_IBQUERYERRORS, "Errors for \"a\"\n GUID 12\n", "x:2:7: a GUID such as"},
        {MYR_IMPORT_IBQUERYERRORS, "Errors for \"a\"\n GUID 0x1 5\n", "x:2:11: 'port' is"},
        {MYR_IMPORT_IBQUERYERRORS, "Errors for \"a\"\n GUID 0x1 port 5\n", "x:2:16: a port and"},
        {MYR_IMPORT_IBQUERYERRORS, "Errors for \"a\"\n GUID 0x1 port 5: [A = 1]\n",
         "x:2:22: a counter such as"},
        {MYR_IMPORT_LLDP, "{\"lldp\": {]", "x:1:11: a key in quotes"},
        {MYR_IMPORT_LLDP, "{\"lldp\" 1}", "x:1:9: ':' is expected"},
        {MYR_IMPORT_LLDP, "{\"a\": 1}\n", "x:2:1: no 'lldp' in this text"},
        {MYR_IMPORT_LLDP, "{\"lldp\": {}} x", "x:1:14: a value is expected"},
        {MYR_IMPORT_LLDP, "{\"lldp\": \"\\q\"}", "x:1:10: an escape that JSON"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        int rc =
            myr_import_text(&f.import, cases[i].format, "x", myr_str_from(cases[i].text), &f.err);
        if (rc != MYR_EINVAL ||
            strncmp(f.err.message, cases[i].place, strlen(cases[i].place)) != 0) {
            fail_msg("case %zu: %d %s", i, rc, f.err.message);
        }
        finish(&f);
    }
}

/* People and hosts spell one machine in many ways; two machines keep their domains. */
static void devices_that_are_spelled_otherwise_are_one(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(&f, MYR_IMPORT_P2P, "p2p.csv",
              "A-Node Name,A-Port,Z-Node Name,Z-Port\n"
              "GPU01,nic0,leaf1,1\n"
              "gpu01.hall2.example,nic1,Leaf1.hall2.example,2\n"
              "web.a.example,nic0,leaf1,3\n"
              "web.b.example,nic0,leaf1,4\n"
              "web,nic0,leaf1,5\n"
              "10.0.0.1,nic0,leaf1,6\n"
              "10.0.0.2,nic0,leaf1,7\n"
              "leaf1,8,?,\n");
    assert_int_equal(f.cabling.devices.count, 9);
    myr_import_finish(&f.import);
    assert_int_equal(f.cabling.devices.count, 7); /* gpu01, leaf1, three webs, two addresses */
    for (size_t i = 0; i < f.cabling.links.count; i++) {
        assert_int_equal(f.cabling.links.items[i].b.device, f.cabling.links.items[0].b.device);
        assert_true(f.cabling.links.items[i].a.device < f.cabling.devices.count);
    }
    assert_int_equal(f.cabling.links.items[0].a.device, f.cabling.links.items[1].a.device);
    assert_int_equal(f.cabling.bare.items[0].end.device, f.cabling.links.items[0].b.device);
    struct myr_str name = f.cabling.devices.items[f.cabling.links.items[5].a.device].name;
    assert_true(myr_str_eq(name, MYR_STR("10.0.0.1")));
    assert_int_equal(myr_cabling_device(&f.cabling, MYR_STR("10.0.0.2")),
                     f.cabling.links.items[6].a.device);
    finish(&f);
}

/* SONiC's table has a host's address as its port, and the interface as the description. */
static void sonic_tables_tell_hosts_by_description(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    read_text(&f, MYR_IMPORT_SONIC_LLDP, "leaf1.txt",
              "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
              "LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n"
              "-----------  --------------  -----------------  ------------  ---------------\n"
              "Ethernet0    gpu01           b8:3f:d2:da:11:38  O             enp27s0f1np1\n"
              "Ethernet8    spine1          etp3               BR            Ethernet16\n"
              "Ethernet16   gpu02           b8:3f:d2:da:11:39  O\n");
    assert_int_equal(f.cabling.links.count, 3);
    assert_true(myr_str_eq(f.cabling.links.items[0].b.port, MYR_STR("enp27s0f1np1")));
    assert_true(myr_str_eq(f.cabling.links.items[1].b.port, MYR_STR("etp3")));
    assert_true(myr_str_eq(f.cabling.links.items[2].b.port, MYR_STR("b8:3f:d2:da:11:39")));
    finish(&f);
}

/* Cabling to text and back, twice; the second text must be the first. */
static void what_is_written_reads_back_the_same(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_design design;
    myr_arena_init(&arena);
    small_design(&design, &arena, (struct small_shape){6, 4, 2, 2});
    for (uint32_t format = MYR_IMPORT_IBNETDISCOVER; format < MYR_IMPORT_FORMAT_COUNT; format++) {
        if (format == MYR_IMPORT_LLDP || format == MYR_IMPORT_IBQUERYERRORS) {
            continue; /* read only */
        }
        struct fixture f;
        struct myr_buf texts[2] = {{}, {}};
        begin(&f);
        struct myr_cabling planned;
        myr_cabling_init(&planned, &arena);
        myr_cabling_from_design(&planned, &design, MYR_NET_COMPUTE,
                                format == MYR_IMPORT_IBNETDISCOVER ? MYR_NIC_AS_DEVICE
                                                                   : MYR_NIC_AS_PORT);
        const struct myr_cabling *written[] = {&planned, &f.cabling};
        for (uint32_t i = 0; i < 2; i++) {
            if (format == MYR_IMPORT_IBNETDISCOVER) {
                assert_int_equal(myr_write_ibnetdiscover(written[i], MYR_NETLIST_IBNETDISCOVER,
                                                         &texts[i], &f.err),
                                 MYR_OK);
            } else if (format == MYR_IMPORT_P2P) {
                myr_write_p2p(written[i], &texts[i]);
            } else {
                myr_write_netbox_cables(written[i], &texts[i]);
            }
            if (i == 0) {
                read_text(&f, MYR_IMPORT_AUTO, "written", texts[0].data);
            }
        }
        assert_true(texts[0].len > 1000);
        assert_string_equal(texts[0].data, texts[1].data);
        myr_buf_done(&texts[0]);
        myr_buf_done(&texts[1]);
        myr_cabling_done(&planned);
        finish(&f);
    }
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ibnetdiscover_tells_devices_links_and_speeds),
        cmocka_unit_test(a_speed_map_says_what_a_name_stands_for),
        cmocka_unit_test(netlists_of_simulators_are_read_too),
        cmocka_unit_test(lldp_is_read_in_all_its_shapes),
        cmocka_unit_test(nameless_lldp_neighbours_go_by_their_address),
        cmocka_unit_test(lldp_that_ends_early_counts_as_far_as_it_goes),
        cmocka_unit_test(lldp_reads_the_same_piece_by_piece),
        cmocka_unit_test(lists_of_cables_have_their_columns_in_any_order),
        cmocka_unit_test(half_rows_are_empty_ports_and_marks_are_unknown_ones),
        cmocka_unit_test(error_counters_of_the_cable_are_summed),
        cmocka_unit_test(broken_texts_are_refused_in_their_place),
        cmocka_unit_test(devices_that_are_spelled_otherwise_are_one),
        cmocka_unit_test(sonic_tables_tell_hosts_by_description),
        cmocka_unit_test(what_is_written_reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
