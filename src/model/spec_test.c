#include "myriad/model/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_test.h"
#include "myriad/model/spec_load.h"

static int read_text(struct fixture *f, const char *text, struct myr_spec *ret)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_yaml(&f->arena, "s.yaml", myr_str_from(text), &doc, &f->err));
    return myr_spec_read(&f->arena, &f->catalog, doc, ret, &f->err);
}

static struct myr_spec must_read(struct fixture *f, const char *text)
{
    struct myr_spec spec = {};
    if (read_text(f, text, &spec) < 0) {
        fail_msg("%s\n%s", f->err.message, text);
    }
    return spec;
}

static void assert_refused(struct fixture *f, const char *text, const char *message)
{
    struct myr_spec spec = {};
    if (read_text(f, text, &spec) >= 0) {
        fail_msg("read:\n%s", text);
    }
    if (!strstr(f->err.message, message)) {
        fail_msg("'%s' is not in '%s'", message, f->err.message);
    }
}

static void what_is_not_given_stays_open(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec = must_read(f, "servers: 3\n");
    assert_string_equal(spec.name, "cluster");
    assert_int_equal(spec.servers, 3);
    assert_int_equal(spec.server_part, MYR_PART_NONE);
    assert_non_null(spec.nets[MYR_NET_COMPUTE].node); /* nobody wants a cluster without one */
    assert_null(spec.nets[MYR_NET_STORAGE].node);
    assert_null(spec.storage.node);
    assert_null(spec.room.node);
    assert_null(spec.price_book);
    assert_int_equal(spec.storage.server_part, MYR_PART_NONE);
    assert_int_equal(spec.room.rack_part, MYR_PART_NONE);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_spec_net *net = &spec.nets[id];
        assert_int_equal(net->topology, MYR_TOPOLOGY_DEFAULT);
        assert_int_equal(net->switch_part, MYR_PART_NONE);
        assert_int_equal(net->spine_switch, MYR_PART_NONE);
        assert_int_equal(net->core_switch, MYR_PART_NONE);
        assert_int_equal(net->access_switch, MYR_PART_NONE);
        assert_int_equal(net->aggregation_switch, MYR_PART_NONE);
        for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
            assert_int_equal(net->pins[role], MYR_PART_NONE);
        }
        assert_int_equal(net->tiers + net->planes + net->nic_ports + net->quantity_count, 0);
    }
    myr_spec_done(&spec);
}

static const char every_key[] =
    "name: all\nservers: 7\nserver: h100-8gpu\nnetworks:\n  compute:\n"
    "    {topology: rail, fill: dense, switch: mqm9790-ns2f, spine_switch: q3400,\n"
    "     core_switch: sn5600, nic_ports: 2, nic_gbps: 3, uplink_gbps: 4, tiers: 1,\n"
    "     planes: 6, rails: 7, oversubscription: [1.5, 2, 4], extra_nodes: 8,\n"
    "     fabric_manager_ports: 9, leaf_down: 10, leaf_up: 11, pod_leaves: 12,\n"
    "     islands: 13, hosts_per_switch: 14, trunk: 15, group_switches: 16,\n"
    "     global_ports: 17, homes: 5, aggregation: 19,\n"
    "     length_m: {host_leaf: 1.5, leaf_spine: 20, spine_core: 300},\n"
    "     access_switch: eth-access-25g, aggregation_switch: eth-agg-10g,\n"
    "     pin: {switch_optic: mms4x00-ns, nic_optic: mms4x00-ns400,\n"
    "           host_cable: mfp7e30-n050, fabric_optic: mma4z00-ns,\n"
    "           fabric_cable: mfp7e20-n030, nic: cx7-400g,\n"
    "           quantities: {mms4x00-ns: 21, firewall: 22}},\n"
    "     items: [{part: iw-venus, per: gpu, quantity: 1.5, name: watch}]}\n";

static void a_network_is_read_key_by_key(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec = must_read(f, every_key);
    const struct myr_spec_net *net = &spec.nets[MYR_NET_COMPUTE];
    assert_string_equal(spec.name, "all");
    assert_int_equal(spec.servers, 7);
    assert_int_equal(spec.server_part, find_part(f, "h100-8gpu"));
    assert_int_equal(net->topology, MYR_TOPOLOGY_RAIL);
    assert_int_equal(net->fill, MYR_FILL_DENSE);
    assert_int_equal(net->switch_part, find_part(f, "mqm9790-ns2f"));
    assert_int_equal(net->spine_switch, find_part(f, "q3400"));
    assert_int_equal(net->core_switch, find_part(f, "sn5600"));
    const uint32_t numbers[] = {net->nic_ports,
                                net->nic_gbps,
                                net->uplink_gbps,
                                net->tiers,
                                net->planes,
                                net->rails,
                                net->extra_nodes,
                                net->fabric_manager_ports,
                                net->leaf_down,
                                net->leaf_up,
                                net->pod_leaves,
                                net->islands,
                                net->hosts_per_switch,
                                net->trunk,
                                net->group_switches,
                                net->global_ports,
                                net->homes,
                                net->aggregation_count};
    const uint32_t told[] = {2, 3, 4, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 5, 19};
    assert_memory_equal(numbers, told, sizeof(told));
    assert_int_equal(net->oversubscription_count, 3);
    assert_true(net->oversubscription[0] == 1.5 && net->oversubscription[1] == 2 &&
                net->oversubscription[2] == 4);
    assert_true(net->host_length_m == 1.5 && net->fabric_length_m == 20 &&
                net->core_length_m == 300);
    assert_int_equal(net->access_switch, find_part(f, "eth-access-25g"));
    assert_int_equal(net->aggregation_switch, find_part(f, "eth-agg-10g"));
    const char *const pins[MYR_PIN_ROLE_COUNT] = {"mms4x00-ns", "mms4x00-ns400", "mfp7e30-n050",
                                                  "mma4z00-ns", "mfp7e20-n030",  "cx7-400g"};
    for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
        assert_int_equal(net->pins[role], find_part(f, pins[role]));
    }
    assert_int_equal(net->quantity_count, 2);
    assert_int_equal(net->quantities[0].part, find_part(f, "mms4x00-ns"));
    assert_int_equal(net->quantities[0].quantity, 21);
    assert_int_equal(net->quantities[1].part, find_part(f, "firewall"));
    assert_int_equal(net->quantities[1].quantity, 22);
    assert_int_equal(spec.items.count, 1);
    assert_int_equal(spec.items.items[0].part, find_part(f, "iw-venus"));
    assert_int_equal(spec.items.items[0].per, MYR_PER_GPU);
    assert_true(spec.items.items[0].quantity == 1.5);
    assert_string_equal(spec.items.items[0].system, "compute");
    assert_string_equal(spec.items.items[0].name, "watch");
    myr_spec_done(&spec);
}

static void the_other_sections_are_read_key_by_key(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec = must_read(
        f, "servers: 1\n"
           "storage: {server: flash-22x15, capacity_pb: 3, erasure: {data: 8, parity: 2},\n"
           "          rate: better, servers: 5}\n"
           "room: {rows: 2, racks_per_row: 10, rack_kw: 40.5}\n"
           "supplied: [servers, ethernet_cabling, fabric_managers]\n"
           "prices: {book: cn-2024-05, parts: {firewall: 12.34, bastion: 0}}\n"
           "items: [{part: bastion}, {part: firewall, per: switch, system: safety}]\n"
           "accept: [cable-short, optic-form]\n"
           "networks: {compute: {length_m: 3}, storage: {oversubscription: 2}, oob: }\n");
    assert_int_equal(spec.storage.server_part, find_part(f, "flash-22x15"));
    assert_true(spec.storage.capacity_tb == 3000);
    assert_int_equal(spec.storage.erasure_data, 8);
    assert_int_equal(spec.storage.erasure_parity, 2);
    assert_int_equal(spec.storage.rate_class, MYR_RATE_BETTER);
    assert_int_equal(spec.storage.servers, 5);
    assert_int_equal(spec.room.rows, 2);
    assert_int_equal(spec.room.columns, 10);
    assert_true(spec.room.rack_kw == 40.5);
    assert_int_equal(spec.supplied, MYR_SUPPLIED_SERVERS | MYR_SUPPLIED_ETHERNET_CABLING |
                                        MYR_SUPPLIED_FABRIC_MANAGERS);
    assert_string_equal(spec.price_book, "cn-2024-05");
    assert_int_equal(spec.own_prices.count, 2);
    assert_int_equal(spec.own_prices.items[0].part, find_part(f, "firewall"));
    assert_int_equal(spec.own_prices.items[0].cents, 1234);
    assert_string_equal(spec.own_prices.items[0].note, "the spec's own price");
    assert_int_equal(spec.own_prices.items[1].cents, 0);
    assert_int_equal(spec.items.count, 2);
    assert_true(spec.items.items[0].quantity == 1);
    assert_int_equal(spec.items.items[0].per, MYR_PER_PIECE);
    assert_string_equal(spec.items.items[0].system, "other");
    assert_int_equal(spec.items.items[1].per, MYR_PER_SWITCH);
    assert_string_equal(spec.items.items[1].system, "safety");
    assert_int_equal(spec.accept.count, 2);
    assert_string_equal(spec.accept.items[1], "optic-form");
    /* One length is all three; one ratio is the lowest tier's; an empty network is wanted. */
    const struct myr_spec_net *net = &spec.nets[MYR_NET_COMPUTE];
    assert_true(net->host_length_m == 3 && net->fabric_length_m == 3 && net->core_length_m == 3);
    assert_int_equal(spec.nets[MYR_NET_STORAGE].oversubscription_count, 1);
    assert_true(spec.nets[MYR_NET_STORAGE].oversubscription[0] == 2);
    assert_non_null(spec.nets[MYR_NET_OOB].node);
    assert_null(spec.nets[MYR_NET_SERVICE].node);
    myr_spec_done(&spec);

    spec = must_read(f, "servers: 1\nstorage: {capacity_pb: 3, binary: true, copies: 3}\n"
                        "prices: cn-2024-05\nroom: {rack: rack-42u}\n");
    assert_true(spec.storage.capacity_tb == 3072);
    assert_int_equal(spec.storage.copies, 3);
    assert_string_equal(spec.price_book, "cn-2024-05");
    assert_int_equal(spec.own_prices.count, 0);
    assert_int_equal(f->catalog.parts.items[spec.room.rack_part].kind, MYR_PART_RACK);
    myr_spec_done(&spec);

    spec = must_read(f, "servers: 1\nstorage: {capacity_tb: 12.5, servers: 2}\n");
    assert_true(spec.storage.capacity_tb == 12.5);
    myr_spec_done(&spec);
}

static void words_for_a_topology_mean_what_they_say(void **state)
{
    static const struct {
        const char *word;
        enum myr_topology topology;
        uint32_t planes;
        bool twin;
    } rows[] = {
        {"rail", MYR_TOPOLOGY_RAIL, 0, false},
        {"rail-optimised", MYR_TOPOLOGY_RAIL, 0, false},
        {"rail-optimized", MYR_TOPOLOGY_RAIL, 0, false},
        {"islands", MYR_TOPOLOGY_RAIL, 0, false},
        {"dual-tor", MYR_TOPOLOGY_RAIL, 2, false},
        {"dual-plane", MYR_TOPOLOGY_RAIL, 2, false},
        {"twin-planar", MYR_TOPOLOGY_RAIL, 2, true},
        {"clos", MYR_TOPOLOGY_CLOS, 0, false},
        {"fat-tree", MYR_TOPOLOGY_CLOS, 0, false},
        {"leaf-spine", MYR_TOPOLOGY_CLOS, 0, false},
        {"rail-only", MYR_TOPOLOGY_RAIL_ONLY, 0, false},
        {"middle-of-rack", MYR_TOPOLOGY_MIDDLE_OF_RACK, 0, false},
        {"dragonfly", MYR_TOPOLOGY_DRAGONFLY, 0, false},
        {"dragonfly+", MYR_TOPOLOGY_DRAGONFLY_PLUS, 0, false},
        {"dragonfly-plus", MYR_TOPOLOGY_DRAGONFLY_PLUS, 0, false},
        {"torus", MYR_TOPOLOGY_TORUS, 0, false},
        {"torus-2d", MYR_TOPOLOGY_TORUS, 0, false},
        {"torus-3d", MYR_TOPOLOGY_TORUS, 0, false},
        {"access", MYR_TOPOLOGY_ACCESS, 0, false},
    };
    struct fixture *f = *state;
    char text[160];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        snprintf(text, sizeof(text), "servers: 1\nnetworks: {compute: {topology: %s}}\n",
                 rows[i].word);
        struct myr_spec spec = must_read(f, text);
        const struct myr_spec_net *net = &spec.nets[MYR_NET_COMPUTE];
        assert_int_equal(net->topology, rows[i].topology);
        assert_int_equal(net->planes, rows[i].planes);
        assert_int_equal(net->twin_planar, rows[i].twin);
        myr_spec_done(&spec);
    }
    /* Planes that are given stay; the number of dimensions must not contradict the word. */
    struct myr_spec spec =
        must_read(f, "servers: 1\nnetworks: {compute: {topology: dual-plane, planes: 4}}\n");
    assert_int_equal(spec.nets[MYR_NET_COMPUTE].planes, 4);
    myr_spec_done(&spec);
    spec = must_read(f, "servers: 1\nnetworks: {compute: {topology: torus-3d, dims: [2, 3, 4]}}\n");
    const uint32_t dims[] = {2, 3, 4};
    assert_int_equal(spec.nets[MYR_NET_COMPUTE].dim_count, 3);
    assert_memory_equal(spec.nets[MYR_NET_COMPUTE].dims, dims, sizeof(dims));
    myr_spec_done(&spec);
    spec = must_read(f, "servers: 1\nnetworks: {compute: {topology: torus-2d, dims: [2, 3]}}\n");
    assert_int_equal(spec.nets[MYR_NET_COMPUTE].dim_count, 2);
    myr_spec_done(&spec);
    assert_refused(f, "servers: 1\nnetworks: {compute: {topology: torus-3d, dims: [2, 3]}}\n",
                   "'topology' is 'torus-3d', but 'dims' has 2 entries");
    assert_refused(f, "servers: 1\nnetworks: {compute: {topology: torus-2d, dims: [2, 3, 4]}}\n",
                   "'topology' is 'torus-2d', but 'dims' has 3 entries");
    assert_string_equal(myr_topology_name(MYR_TOPOLOGY_CLOS), "clos");
    assert_string_equal(myr_topology_name(MYR_TOPOLOGY_TORUS), "torus");
    assert_string_equal(myr_topology_name(MYR_TOPOLOGY_DEFAULT), "default");
}

/* The limits of docs/spec.md: both ends are taken, what lies beyond is refused. */
static void numbers_have_the_limits_of_the_manual(void **state)
{
    static const struct {
        const char *text; /* with %s for the number */
        const char *below, *least, *most, *above;
    } rows[] = {
        {"servers: %s\n", "0", "1", "1000000", "1000001"},
        {"servers: 1\nnetworks: {compute: {nic_ports: %s}}\n", "0", "1", "64", "65"},
        {"servers: 1\nnetworks: {compute: {nic_gbps: %s}}\n", "0", "1", "100000", "100001"},
        {"servers: 1\nnetworks: {compute: {uplink_gbps: %s}}\n", "0", "1", "100000", "100001"},
        {"servers: 1\nnetworks: {compute: {tiers: %s}}\n", "0", "1", "3", "4"},
        {"servers: 1\nnetworks: {compute: {planes: %s}}\n", "0", "1", "8", "9"},
        {"servers: 1\nnetworks: {compute: {rails: %s}}\n", "0", "1", "64", "65"},
        {"servers: 1\nnetworks: {compute: {extra_nodes: %s}}\n", "-1", "0", "100000", "100001"},
        {"servers: 1\nnetworks: {compute: {fabric_manager_ports: %s}}\n", "-1", "0", "64", "65"},
        {"servers: 1\nnetworks: {compute: {leaf_down: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {leaf_up: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {pod_leaves: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {islands: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {hosts_per_switch: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {trunk: %s}}\n", "0", "1", "1024", "1025"},
        {"servers: 1\nnetworks: {compute: {group_switches: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {global_ports: %s}}\n", "0", "1", "4096", "4097"},
        {"servers: 1\nnetworks: {compute: {homes: %s}}\n", "0", "1", "8", "9"},
        {"servers: 1\nnetworks: {compute: {aggregation: %s}}\n", "0", "1", "1024", "1025"},
        {"servers: 1\nnetworks: {compute: {oversubscription: %s}}\n", "0.09", "0.1", "1000",
         "1001"},
        {"servers: 1\nnetworks: {compute: {oversubscription: [%s]}}\n", "0.09", "0.1", "1000",
         "1001"},
        {"servers: 1\nnetworks: {compute: {length_m: %s}}\n", "0.09", "0.1", "100000", "100001"},
        {"servers: 1\nnetworks: {compute: {length_m: {host_leaf: %s}}}\n", "0.09", "0.1", "100000",
         "100001"},
        {"servers: 1\nnetworks: {compute: {length_m: {spine_core: %s}}}\n", "0.09", "0.1", "100000",
         "100001"},
        {"servers: 1\nnetworks: {compute: {pin: {quantities: {firewall: %s}}}}\n", "-1", "0",
         "100000000", "100000001"},
        {"servers: 1\nstorage: {copies: %s}\n", "0", "1", "10", "11"},
        {"servers: 1\nstorage: {servers: %s}\n", "0", "1", "100000", "100001"},
        {"servers: 1\nstorage: {erasure: {data: %s}}\n", "0", "1", "255", "256"},
        {"servers: 1\nstorage: {erasure: {data: 1, parity: %s}}\n", "-1", "0", "255", "256"},
        {"servers: 1\nstorage: {capacity_tb: %s}\n", "-1", "0", "1e9", "1.1e9"},
        {"servers: 1\nstorage: {capacity_pb: %s}\n", "-1", "0", "1e6", "1.1e6"},
        {"servers: 1\nroom: {rows: %s}\n", "0", "1", "10000", "10001"},
        {"servers: 1\nroom: {racks_per_row: %s}\n", "0", "1", "10000", "10001"},
        {"servers: 1\nroom: {rack_kw: %s}\n", "0.05", "0.1", "10000", "10001"},
        {"servers: 1\nprices: {parts: {firewall: %s}}\n", "-1", "0", "1e12", "1.1e12"},
        {"servers: 1\nitems: [{part: firewall, quantity: %s}]\n", "-1", "0", "1e9", "1.1e9"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *const numbers[] = {rows[i].below, rows[i].least, rows[i].most, rows[i].above};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(numbers); k++) {
            const char *at = strstr(rows[i].text, "%s");
            const char *text = myr_arena_printf(&f->arena, "%.*s%s%s", (int)(at - rows[i].text),
                                                rows[i].text, numbers[k], at + 2);
            if (k == 1 || k == 2) {
                struct myr_spec spec = must_read(f, text);
                myr_spec_done(&spec);
            } else {
                assert_refused(f, text, "is expected");
            }
        }
    }
}

/* A list of 'count' entries between a head and a tail. */
static const char *list(struct fixture *f, const char *head, const char *entry, uint32_t count,
                        const char *tail)
{
    struct myr_buf buf = {};
    myr_buf_puts(&buf, head);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_puts(&buf, i ? ", " : "");
        myr_buf_puts(&buf, entry);
    }
    myr_buf_puts(&buf, tail);
    const char *text = myr_arena_strndup(&f->arena, buf.data, buf.len);
    myr_buf_done(&buf);
    return text;
}

static void lists_have_limits(void **state)
{
    static const struct {
        const char *head, *entry, *tail, *message;
        uint32_t most;
    } rows[] = {
        {"servers: 1\nitems: [", "{part: firewall}", "]\n", "more than 64 items", 64},
        {"servers: 1\naccept: [", "cable-short", "]\n", "at most 256", 256},
        {"servers: 1\nnetworks: {compute: {oversubscription: [", "1", "]}}\n", "at most 3", 3},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint32_t most = rows[i].most;
        struct myr_spec spec =
            must_read(f, list(f, rows[i].head, rows[i].entry, most, rows[i].tail));
        myr_spec_done(&spec);
        assert_refused(f, list(f, rows[i].head, rows[i].entry, most + 1, rows[i].tail),
                       rows[i].message);
    }
    assert_refused(f, "servers: 1\nnetworks: {compute: {oversubscription: []}}\n", "0 entries");
}

static void contradictions_and_unknown_parts_are_refused_with_a_place(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"name: x\n", "s.yaml:1:1: the spec lacks 'servers'"},
        {"servers: 1\nstorage: {copies: 2, erasure: {data: 4}}\n",
         "s.yaml:2:10: give 'copies' or 'erasure', not both"},
        {"servers: 1\nstorage: {erasure: {parity: 4}}\n", "s.yaml:2:20: 'erasure' lacks 'data'"},
        {"servers: 1\nitems: [{per: gpu}]\n", "s.yaml:2:9: the item lacks 'part'"},
        {"servers: 1\nitems: [{part: firewal}]\n",
         "s.yaml:2:16: unknown part 'firewal' in 'items'; did you mean 'firewall'"},
        {"servers: 1\nprices: {parts: {firewal: 1}}\n",
         "s.yaml:2:18: unknown part 'firewal' in 'prices'; did you mean 'firewall'"},
        {"servers: 1\nnetworks: {compute: {pin: {quantities: {firewal: 1}}}}\n",
         "s.yaml:2:41: unknown part 'firewal' in 'quantities'; did you mean 'firewall'"},
        {"servers: 1\nprices: cn-2042\n", "s.yaml:2:9: 'prices' is 'cn-2042'"},
        {"servers: 1\nprices: {parts: 3}\n", "s.yaml:2:17: 'parts' is '3', a map"},
        {"servers: 1\nprices: {part: {}}\n", "s.yaml:2:10: unknown key 'part' in prices"},
        {"servers: 1\nnetworks: {compude: {}}\n", "s.yaml:2:12: unknown key 'compude'"},
        {"servers: 1\nnetworks: {compute: {pin: {nick: cx7}}}\n",
         "s.yaml:2:28: unknown key 'nick' in pin"},
        {"servers: 1\nnetworks: {compute: {pin: {nic: firewall}}}\n",
         "s.yaml:2:33: 'nic' is 'firewall', of kind device; a NIC is expected"},
        {"servers: 1\nserver: cx7-400g\n",
         "s.yaml:2:9: 'server' is 'cx7-400g', of kind NIC; a server is expected"},
        {"servers: 1\nsupplied: [everything]\n", "s.yaml:2:12: 'supplied' is 'everything'"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_refused(f, rows[i].text, rows[i].message);
    }
}

/* One row of a price list: what it comes to in cents, or what is said of it. */
static void amounts_currencies_and_dates_of_a_price_list(void **state)
{
    static const struct {
        const char *row;
        int64_t cents; /* -1: refused */
        const char *said;
    } rows[] = {
        {"0,,", 0, "p.csv"},
        {"7,,", 700, "p.csv"},
        {"14500.5,CNY,", 1450050, "p.csv"},
        {"0.004,,", -1, "p.csv:2:10: "},
        {"0.005,,", -1, "p.csv:2:10: "},
        {"0.05,,", 5, "p.csv"},
        {"\"1,000\",,", 100000, "p.csv"},
        {"\"12,345,678.90\",USD,2024-12-31", 1234567890, "p.csv, 2024-12-31"},
        {"\"123,456\",,2024-01-01", 12345600, "p.csv, 2024-01-01"},
        {"1000000000000,,", INT64_C(100000000000000), "p.csv"},
        {"1000000000001,,", -1, "p.csv:2:10: "},
        {"\"1,00\",,", -1, "p.csv:2:10: "},
        {"\"1,0000\",,", -1, "p.csv:2:10: "},
        {"\"1234,567\",,", -1, "p.csv:2:10: "},
        {"\"1,000,00\",,", -1, "p.csv:2:10: "},
        {"\"1,00.5\",,", -1, "p.csv:2:10: "},
        {"\",100\",,", -1, "p.csv:2:10: "},
        {"\"1.5,000\",,", -1, "p.csv:2:10: "},
        {"1.2.3,,", -1, "p.csv:2:10: "},
        {"-1,,", -1, "p.csv:2:10: "},
        {"1e3,,", -1, "p.csv:2:10: "},
        {",,", -1, "p.csv:2:10: "},
        {"1234567890123456789012345678901,,", -1, "p.csv:2:10: "},
        {"1,cny,", -1, "p.csv:2:12: "},
        {"1,CN,", -1, "p.csv:2:12: "},
        {"1,CNYX,", -1, "p.csv:2:12: "},
        {"1,C1Y,", -1, "p.csv:2:12: "},
        {"1,,2024-00-10", -1, "p.csv:2:13: "},
        {"1,,2024-13-10", -1, "p.csv:2:13: "},
        {"1,,2024-12-00", -1, "p.csv:2:13: "},
        {"1,,2024-12-32", -1, "p.csv:2:13: "},
        {"1,,2024/12/01", -1, "p.csv:2:13: "},
        {"1,,24-12-01", -1, "p.csv:2:13: "},
        {"1,,2024-12-01x", -1, "p.csv:2:13: "},
        {"1,,2024-1a-01", -1, "p.csv:2:13: "},
        {"1,,x024-12-01", -1, "p.csv:2:13: "},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_spec spec = {};
        struct myr_err err = {};
        const char *text =
            myr_arena_printf(&f->arena, "part,price,currency,date\nfirewall,%s\n", rows[i].row);
        int rc =
            myr_spec_add_prices(&f->arena, &f->catalog, "p.csv", myr_str_from(text), &spec, &err);
        if ((rc < 0) != (rows[i].cents < 0) ||
            (rc < 0 && strncmp(err.message, rows[i].said, strlen(rows[i].said)) != 0)) {
            fail_msg("%s: %s", rows[i].row, rc < 0 ? err.message : "is taken");
        }
        if (rc == MYR_OK) {
            assert_int_equal(spec.own_prices.count, 1);
            assert_int_equal(spec.own_prices.items[0].cents, rows[i].cents);
            assert_string_equal(spec.own_prices.items[0].note, rows[i].said);
        }
        myr_spec_done(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_catalog, close_catalog)
        TEST(what_is_not_given_stays_open),
        TEST(a_network_is_read_key_by_key),
        TEST(the_other_sections_are_read_key_by_key),
        TEST(words_for_a_topology_mean_what_they_say),
        TEST(numbers_have_the_limits_of_the_manual),
        TEST(lists_have_limits),
        TEST(contradictions_and_unknown_parts_are_refused_with_a_place),
        TEST(amounts_currencies_and_dates_of_a_price_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
