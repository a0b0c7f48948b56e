/*
 * shop: a small design in which every kind of plug is there, and nothing is wrong.
 *
 *   compute  InfiniBand by rails: straight fibres to the cards, copper of two links between
 *            switches; one host more than nodes, a fabric manager
 *   storage  Ethernet: fibre splitters by their heads at the leaf, twin cages in the nodes, fibres
 *            with a grid of wavelengths between switches, two counted as one cable
 *   service  copper splitters of four legs
 *   oob      fixed ports: copper to everything that is managed, fibre to the aggregation
 *
 * Four nodes, a storage server, a management node that is on oob alone, strips in two racks.
 */
#pragma once

#include "bench_test.h"

enum { SHOP_NODES = 4, SHOP_ACCESS_PORTS = 7 };

static inline void shop_boxes(struct bench *b)
{
    bench_part(b, (struct myr_part){.kind = MYR_PART_SWITCH, .id = "ibsw", .order = "IB-100"})->sw =
        (struct myr_part_switch){.technology = MYR_TECH_INFINIBAND,
                                 .cages = 5,
                                 .form = "osfp",
                                 .top = "finned",
                                 .takes = "qsfp112 sfp56",
                                 .cage_gbps = 800,
                                 .port_gbps = 400,
                                 .splits = {{200}, 1},
                                 .lanes = 8,
                                 .lane_gbps = 100,
                                 .lane_also = {{50, 25}, 2},
                                 .mgmt_ports = 1,
                                 .per_box = 1,
                                 .ports_max = 9};
    bench_part(b, (struct myr_part){.kind = MYR_PART_SWITCH, .id = "ethsw", .order = "ETH-51"})
        ->sw = (struct myr_part_switch){.technology = MYR_TECH_ETHERNET,
                                        .cages = 3,
                                        .form = "osfp",
                                        .takes = "qsfp112 qsfp-dd",
                                        .cage_gbps = 800,
                                        .port_gbps = 400,
                                        .splits = {{200, 100}, 2},
                                        .lanes = 8,
                                        .lane_gbps = 100,
                                        .lane_also = {{50}, 1},
                                        .mgmt_ports = MYR_PART_NONE,
                                        .per_box = 2};
    bench_part(b, (struct myr_part){.kind = MYR_PART_ETHERNET, .id = "access", .order = "ACC-7"})
        ->eth = (struct myr_part_ethernet){.access_ports = 7,
                                           .access_gbps = 1,
                                           .uplink_ports = 2,
                                           .uplink_gbps = 25,
                                           .access_form = "rj45",
                                           .uplink_form = "sfp28",
                                           .mgmt_ports = 0};
    bench_part(b, (struct myr_part){.kind = MYR_PART_ETHERNET, .id = "agg", .order = "AGG-4"})
        ->eth = (struct myr_part_ethernet){.access_ports = 4,
                                           .access_gbps = 25,
                                           .uplink_ports = 1,
                                           .uplink_gbps = 100,
                                           .access_form = "sfp28",
                                           .uplink_form = "qsfp28",
                                           .mgmt_ports = MYR_PART_NONE};
    struct myr_part *server =
        bench_part(b, (struct myr_part){.kind = MYR_PART_SERVER, .id = "srv", .order = "SRV-8"});
    server->server.nics[MYR_NET_COMPUTE] = (struct myr_server_nics){"ibcard", 2};
    server->server.nics[MYR_NET_STORAGE] = (struct myr_server_nics){"twin", 1};
    bench_part(b, (struct myr_part){.kind = MYR_PART_DEVICE, .id = "box", .order = "BOX-1"});
}

static inline void shop_cards(struct bench *b)
{
    bench_part(b, (struct myr_part){.kind = MYR_PART_NIC, .id = "ibcard", .order = "CARD-4"})->nic =
        (struct myr_part_nic){.technology = MYR_TECH_INFINIBAND,
                              .form = "osfp",
                              .top = "flat",
                              .cages = 1,
                              .cage_ports = 1,
                              .port_gbps = 400,
                              .also = {{200}, 1},
                              .lanes = 4,
                              .lane_gbps = 100,
                              .lane_also = {{50}, 1},
                              .cards = 1,
                              .card_gbps = 400};
    bench_part(b, (struct myr_part){.kind = MYR_PART_NIC, .id = "twin", .order = "TWIN-2"})->nic =
        (struct myr_part_nic){.technology = MYR_TECH_ANY,
                              .form = "qsfp-dd",
                              .takes = "qsfp56 qsfp112",
                              .cages = 1,
                              .cage_ports = 2,
                              .port_gbps = 200,
                              .lanes = 4,
                              .lane_gbps = 100,
                              .cards = 2};
    bench_part(b, (struct myr_part){.kind = MYR_PART_NIC, .id = "small", .order = "SMALL-1"})->nic =
        (struct myr_part_nic){.technology = MYR_TECH_ETHERNET,
                              .form = "qsfp112",
                              .top = "flat",
                              .cages = 1,
                              .cage_ports = 1,
                              .port_gbps = 200,
                              .also = {{100}, 1},
                              .lanes = 4,
                              .lane_gbps = 100,
                              .lane_also = {{50}, 1},
                              .cards = 1};
    bench_part(b, (struct myr_part){.kind = MYR_PART_NIC, .id = "lom", .order = "LOM-1"})->nic =
        (struct myr_part_nic){.technology = MYR_TECH_ETHERNET,
                              .form = "rj45",
                              .cages = 1,
                              .cage_ports = 1,
                              .port_gbps = 1,
                              .cards = 1};
}

static inline void shop_optics(struct bench *b)
{
    struct myr_part optic = {.kind = MYR_PART_TRANSCEIVER};
    optic.id = "two-sr", optic.order = "OSFP-2SR";
    bench_part(b, optic)->optic = (struct myr_part_transceiver){.form = "osfp",
                                                                .top = "finned",
                                                                .cage_gbps = 800,
                                                                .connectors = 2,
                                                                .port_gbps = 400,
                                                                .lane_gbps = 100,
                                                                .lanes = 8,
                                                                .technology = MYR_TECH_ANY,
                                                                .also = {{200}, 1},
                                                                .medium = MYR_MEDIUM_MULTI,
                                                                .wavelength_nm = 850,
                                                                .connector = "mpo12-apc",
                                                                .reach_m = 50};
    optic.id = "one-sr", optic.order = "OSFP-1SR";
    bench_part(b, optic)->optic = (struct myr_part_transceiver){.form = "osfp",
                                                                .top = "flat",
                                                                .cage_gbps = 400,
                                                                .connectors = 1,
                                                                .port_gbps = 400,
                                                                .lane_gbps = 100,
                                                                .lanes = 4,
                                                                .technology = MYR_TECH_INFINIBAND,
                                                                .medium = MYR_MEDIUM_MULTI,
                                                                .wavelength_nm = 850,
                                                                .connector = "mpo12-apc",
                                                                .fits = "ibx ibc",
                                                                .reach_m = 30};
    optic.id = "half-sr", optic.order = "QSFP-2SR";
    bench_part(b, optic)->optic = (struct myr_part_transceiver){.form = "qsfp112",
                                                                .connectors = 2,
                                                                .port_gbps = 200,
                                                                .lane_gbps = 100,
                                                                .lanes = 4,
                                                                .technology = MYR_TECH_ETHERNET,
                                                                .medium = MYR_MEDIUM_MULTI,
                                                                .wavelength_nm = 850,
                                                                .connector = "mpo12-apc",
                                                                .reach_m = 50};
    optic.id = "two-fr", optic.order = "QDD-2FR";
    bench_part(b, optic)->optic = (struct myr_part_transceiver){.form = "qsfp-dd",
                                                                .top = "finned",
                                                                .connectors = 2,
                                                                .port_gbps = 400,
                                                                .lane_gbps = 200,
                                                                .cage_lane_gbps = 100,
                                                                .lanes = 8,
                                                                .technology = MYR_TECH_ETHERNET,
                                                                .medium = MYR_MEDIUM_SINGLE,
                                                                .wavelength_nm = 1310,
                                                                .grid = "cwdm4",
                                                                .connector = "lc",
                                                                .reach_m = 2000};
    optic.id = "sfp-sr", optic.order = "SFP-25SR";
    bench_part(b, optic)->optic = (struct myr_part_transceiver){.form = "sfp28",
                                                                .connectors = 1,
                                                                .port_gbps = 25,
                                                                .technology = MYR_TECH_ETHERNET,
                                                                .medium = MYR_MEDIUM_MULTI,
                                                                .wavelength_nm = 850,
                                                                .connector = "lc",
                                                                .reach_m = 70};
}

static inline void shop_cables(struct bench *b)
{
    struct myr_part cable = {.kind = MYR_PART_CABLE};
    cable.id = "mpo", cable.order = "FIBRE-10";
    bench_part(b, cable)->cable = (struct myr_part_cable){.medium = MYR_MEDIUM_MULTI,
                                                          .legs = 1,
                                                          .length_m = 10,
                                                          .connector = "mpo12-apc",
                                                          .lanes = 4,
                                                          .technology = MYR_TECH_ANY};
    cable.id = "mpo-split", cable.order = "FORK-10";
    bench_part(b, cable)->cable = (struct myr_part_cable){.medium = MYR_MEDIUM_MULTI,
                                                          .legs = 2,
                                                          .length_m = 10,
                                                          .connector = "mpo12-apc",
                                                          .lanes = 4,
                                                          .technology = MYR_TECH_ANY};
    cable.id = "smf", cable.order = "FIBRE-30";
    bench_part(b, cable)->cable = (struct myr_part_cable){.medium = MYR_MEDIUM_SINGLE,
                                                          .legs = 1,
                                                          .length_m = 30,
                                                          .connector = "lc",
                                                          .lanes = 1,
                                                          .technology = MYR_TECH_ANY};
    cable.id = "mmf", cable.order = "FIBRE-20";
    bench_part(b, cable)->cable = (struct myr_part_cable){.medium = MYR_MEDIUM_MULTI,
                                                          .legs = 1,
                                                          .length_m = 20,
                                                          .connector = "lc",
                                                          .lanes = 1,
                                                          .technology = MYR_TECH_ANY};
    cable.id = "dac", cable.order = "DAC-2";
    bench_part(b, cable)->cable = (struct myr_part_cable){.legs = 1,
                                                          .length_m = 2,
                                                          .connector = "osfp",
                                                          .fixed_ends = true,
                                                          .gbps = 800,
                                                          .top = "finned",
                                                          .lanes = 8,
                                                          .lane_gbps = 100,
                                                          .technology = MYR_TECH_INFINIBAND};
    cable.id = "dac-split", cable.order = "DAC-4X";
    bench_part(b, cable)->cable = (struct myr_part_cable){.legs = 4,
                                                          .length_m = 3,
                                                          .connector = "osfp",
                                                          .form_b = "qsfp112",
                                                          .fixed_ends = true,
                                                          .gbps = 400,
                                                          .top = "finned",
                                                          .top_b = "flat",
                                                          .lanes = 8,
                                                          .lane_gbps = 50,
                                                          .technology = MYR_TECH_ETHERNET};
    cable.id = "cat6", cable.order = "CAT6-5";
    bench_part(b, cable)->cable = (struct myr_part_cable){.legs = 1,
                                                          .length_m = 5,
                                                          .connector = "rj45",
                                                          .fixed_ends = true,
                                                          .technology = MYR_TECH_ANY};
}

#define SHOP_PORTS(net_, role_, count_, gbps_, cage_, connector_) \
    ((struct myr_port_group){.count = (count_),                   \
                             .gbps = (gbps_),                     \
                             .per_cage = (cage_),                 \
                             .per_connector = (connector_),       \
                             .role = (role_),                     \
                             .net = (net_)})

enum shop_type {
    SHOP_NODE,
    SHOP_LEAF,
    SHOP_SPINE,
    SHOP_STORAGE_LEAF,
    SHOP_STORAGE_SPINE,
    SHOP_SERVICE_LEAF,
    SHOP_ACCESS,
    SHOP_AGG,
    SHOP_STORAGE,
    SHOP_MANAGEMENT,
    SHOP_MANAGER,
    SHOP_STRIP,
    SHOP_TYPES,
};

static inline void shop_types(struct bench *b)
{
    enum { C = MYR_NET_COMPUTE, S = MYR_NET_STORAGE, V = MYR_NET_SERVICE, O = MYR_NET_OOB };
    enum { NIC = MYR_PORT_NIC, DOWN = MYR_PORT_DOWN, UP = MYR_PORT_UP };
    static const char *const parts[SHOP_TYPES] = {"srv",   "ibsw",  "ibsw",   "ethsw",
                                                  "ethsw", "ethsw", "access", "agg",
                                                  "box",   "box",   "box",    "box"};
    for (uint32_t type = 0; type < SHOP_TYPES; type++) {
        assert_int_equal(bench_type(b, parts[type]), type);
    }
    bench_group(b, SHOP_NODE, SHOP_PORTS(C, NIC, 2, 400, 1, 1), "ibcard", 2);
    bench_group(b, SHOP_NODE, SHOP_PORTS(S, NIC, 2, 200, 2, 1), "twin", 1);
    bench_group(b, SHOP_NODE, SHOP_PORTS(V, NIC, 1, 100, 1, 1), "small", 1);
    bench_group(b, SHOP_NODE, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
    bench_group(b, SHOP_LEAF, SHOP_PORTS(C, DOWN, 6, 400, 2, 1), NULL, 0);
    bench_group(b, SHOP_LEAF, SHOP_PORTS(C, UP, 4, 400, 2, 1), NULL, 0);
    bench_group(b, SHOP_LEAF, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
    bench_group(b, SHOP_SPINE, SHOP_PORTS(C, DOWN, 5, 400, 2, 1), NULL, 0);
    bench_group(b, SHOP_STORAGE_LEAF, SHOP_PORTS(S, DOWN, 8, 200, 4, 2), NULL, 0);
    bench_group(b, SHOP_STORAGE_LEAF, SHOP_PORTS(S, UP, 2, 400, 2, 1), NULL, 0);
    bench_group(b, SHOP_STORAGE_SPINE, SHOP_PORTS(S, DOWN, 4, 400, 2, 1), NULL, 0);
    bench_group(b, SHOP_SERVICE_LEAF, SHOP_PORTS(V, DOWN, 8, 100, 4, 4), NULL, 0);
    bench_group(b, SHOP_ACCESS, SHOP_PORTS(O, DOWN, SHOP_ACCESS_PORTS, 1, 1, 1), NULL, 0);
    bench_group(b, SHOP_ACCESS, SHOP_PORTS(O, UP, 2, 25, 1, 1), NULL, 0);
    bench_group(b, SHOP_AGG, SHOP_PORTS(O, DOWN, 4, 25, 1, 1), NULL, 0);
    bench_group(b, SHOP_STORAGE, SHOP_PORTS(S, NIC, 2, 200, 2, 1), "twin", 1);
    bench_group(b, SHOP_STORAGE, SHOP_PORTS(V, NIC, 1, 100, 1, 1), "small", 1);
    bench_group(b, SHOP_STORAGE, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
    bench_group(b, SHOP_MANAGEMENT, SHOP_PORTS(C, NIC, 1, 400, 1, 1), "ibcard", 1);
    bench_group(b, SHOP_MANAGEMENT, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
    bench_group(b, SHOP_MANAGER, SHOP_PORTS(C, NIC, 1, 400, 1, 1), "ibcard", 1);
    bench_group(b, SHOP_MANAGER, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
    bench_group(b, SHOP_STRIP, SHOP_PORTS(O, NIC, 1, 1, 1, 1), "lom", 1);
}

/* How many devices there are of a type; they lie in the order of types. */
static const uint32_t shop_counts[SHOP_TYPES] = {SHOP_NODES, 2, 2, 2, 1, 1, 2, 1, 1, 1, 1, 4};

static inline uint32_t shop_first(enum shop_type type)
{
    uint32_t first = 0;
    for (uint32_t t = 0; t < type; t++) {
        first += shop_counts[t];
    }
    return first;
}

static inline void shop_devices(struct bench *b)
{
    static const uint8_t kinds[SHOP_TYPES] = {
        MYR_DEVICE_NODE,       MYR_DEVICE_LEAF,           MYR_DEVICE_SPINE,
        MYR_DEVICE_LEAF,       MYR_DEVICE_SPINE,          MYR_DEVICE_LEAF,
        MYR_DEVICE_ACCESS,     MYR_DEVICE_AGGREGATION,    MYR_DEVICE_STORAGE,
        MYR_DEVICE_MANAGEMENT, MYR_DEVICE_FABRIC_MANAGER, MYR_DEVICE_PDU};
    static const uint8_t nets[SHOP_TYPES] = {MYR_NET_COUNT,   MYR_NET_COMPUTE, MYR_NET_COMPUTE,
                                             MYR_NET_STORAGE, MYR_NET_STORAGE, MYR_NET_SERVICE,
                                             MYR_NET_OOB,     MYR_NET_OOB,     MYR_NET_COUNT,
                                             MYR_NET_COUNT,   MYR_NET_COUNT,   MYR_NET_OOB};
    for (uint32_t type = 0; type < SHOP_TYPES; type++) {
        for (uint32_t i = 0; i < shop_counts[type]; i++) {
            struct myr_place place = {.ordinal = i, .kind = kinds[type], .net = nets[type]};
            bench_device(b, type, place);
        }
    }
}

static inline struct myr_cabletype shop_lay(struct bench *b, const char *part, const char *optic_a,
                                            const char *optic_b)
{
    return (struct myr_cabletype){.part = bench_text(b, part),
                                  .optic_a = bench_text(b, optic_a),
                                  .optic_b = bench_text(b, optic_b),
                                  .legs = 1};
}

/* A node's two cards go to the two leaves; the fabric manager hangs on the first. */
static inline void shop_compute(struct bench *b)
{
    struct myr_cabletype host = shop_lay(b, "mpo", "one-sr", "two-sr");
    struct myr_cabletype copper = shop_lay(b, "dac", "", "");
    host.gbps = copper.gbps = 400;
    host.length_mm = 10000, copper.length_mm = 2000;
    copper.legs = 2;
    copper.layer = MYR_LAYER_FABRIC;
    uint32_t hosts = bench_lay(b, host), fabric = bench_lay(b, copper);
    uint32_t leaf = shop_first(SHOP_LEAF), spine = shop_first(SHOP_SPINE);
    for (uint32_t i = 0; i < SHOP_NODES * 2; i++) {
        bench_cable(b, hosts);
        bench_link(b, bench_port(b, i / 2, 0, i % 2), bench_port(b, leaf + i % 2, 0, i / 2));
    }
    bench_cable(b, hosts);
    bench_link(b, bench_port(b, shop_first(SHOP_MANAGER), 0, 0), bench_port(b, leaf, 0, 4));
    for (uint32_t i = 0; i < 8; i++) {
        if (i % 2 == 0) {
            bench_cable(b, fabric);
        }
        bench_link(b, bench_port(b, leaf + i / 4, 1, i % 4),
                   bench_port(b, spine + i % 4 / 2, 0, i / 4 * 2 + i % 2));
    }
    b->networks[MYR_NET_COMPUTE] =
        (struct myr_network){.topology = MYR_TOPOLOGY_RAIL, .cables = {9, 8}};
}

/* Each leaf serves one port of every host: two nodes on a splitter, the storage server on half. */
static inline void shop_storage(struct bench *b)
{
    struct myr_cabletype fork = shop_lay(b, "mpo-split", "half-sr", "two-sr");
    struct myr_cabletype grid = shop_lay(b, "smf", "two-fr", "two-fr");
    fork.net = grid.net = MYR_NET_STORAGE;
    fork.gbps = 200, grid.gbps = 400;
    fork.length_mm = 9500, grid.length_mm = 30000;
    fork.legs = 2, fork.head_b = 1;
    grid.layer = MYR_LAYER_FABRIC;
    uint32_t hosts = bench_lay(b, fork), fabric = bench_lay(b, grid);
    uint32_t leaf = shop_first(SHOP_STORAGE_LEAF), spine = shop_first(SHOP_STORAGE_SPINE);
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < SHOP_NODES; i++) {
            if (i % 2 == 0) {
                bench_cable(b, hosts);
            }
            bench_link(b, bench_port(b, i, 1, side), bench_port(b, leaf + side, 0, i));
        }
        bench_cable(b, hosts);
        bench_link(b, bench_port(b, shop_first(SHOP_STORAGE), 0, side),
                   bench_port(b, leaf + side, 0, 4));
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (i % 2 == 0) {
            bench_cable(b, fabric);
        }
        bench_link(b, bench_port(b, leaf + i / 2, 1, i % 2), bench_port(b, spine, 0, i));
    }
    b->networks[MYR_NET_STORAGE] =
        (struct myr_network){.topology = MYR_TOPOLOGY_CLOS, .cables = {6, 2}};
}

static inline void shop_service(struct bench *b)
{
    struct myr_cabletype type = shop_lay(b, "dac-split", "", "");
    type.net = MYR_NET_SERVICE;
    type.gbps = 100;
    type.length_mm = 2500;
    type.legs = 4, type.head_b = 1;
    uint32_t hosts = bench_lay(b, type), leaf = shop_first(SHOP_SERVICE_LEAF);
    bench_cable(b, hosts);
    for (uint32_t i = 0; i < SHOP_NODES; i++) {
        bench_link(b, bench_port(b, i, 2, 0), bench_port(b, leaf, 0, i));
    }
    bench_cable(b, hosts);
    bench_link(b, bench_port(b, shop_first(SHOP_STORAGE), 1, 0), bench_port(b, leaf, 0, 4));
    b->networks[MYR_NET_SERVICE] =
        (struct myr_network){.topology = MYR_TOPOLOGY_CLOS, .cables = {5}};
}

/* Every device with a management port, in their order, fills one access switch, then the next. */
static inline void shop_oob(struct bench *b)
{
    struct myr_cabletype copper = shop_lay(b, "cat6", "", "");
    struct myr_cabletype fibre = shop_lay(b, "mmf", "sfp-sr", "sfp-sr");
    copper.net = fibre.net = MYR_NET_OOB;
    copper.gbps = 1, fibre.gbps = 25;
    copper.length_mm = 4000, fibre.length_mm = 15000;
    fibre.layer = MYR_LAYER_FABRIC;
    uint32_t hosts = bench_lay(b, copper), fabric = bench_lay(b, fibre), wired = 0;
    uint32_t access = shop_first(SHOP_ACCESS);
    for (uint32_t device = 0; device < b->design.device_count; device++) {
        const struct myr_devtype *type = &b->devtypes[b->device_type[device]];
        uint32_t last = type->group_count - 1;
        if (type->groups[last].role == MYR_PORT_NIC) {
            bench_cable(b, hosts);
            bench_link(
                b, bench_port(b, device, last, 0),
                bench_port(b, access + wired / SHOP_ACCESS_PORTS, 0, wired % SHOP_ACCESS_PORTS));
            wired++;
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        bench_cable(b, fabric);
        bench_link(b, bench_port(b, access + i / 2, 1, i % 2),
                   bench_port(b, shop_first(SHOP_AGG), 0, i));
    }
    b->networks[MYR_NET_OOB] =
        (struct myr_network){.topology = MYR_TOPOLOGY_ACCESS, .cables = {13, 4}};
}

/* Two racks in use, with two feeds and two strips each; a third one is empty. */
static inline void shop_room(struct bench *b)
{
    b->design.room = &b->room;
    b->design.room_count = 1;
    b->room.managed = 1;
    b->design.rack_count = 3;
    b->design.power_count = 2;
    for (uint32_t rack = 0; rack < 3; rack++) {
        b->racks[rack].power_feed = 0;
        b->rack_more[rack] = (struct myr_rack_more){.power_b = 1, .units = rack < 2 ? 10 : 0};
    }
    for (uint32_t i = 0; i < 4; i++) {
        b->device_rack[shop_first(SHOP_STRIP) + i] = i / 2;
    }
}

/* Counted by hand, from what the top of this file says. */
static inline void shop_bill(struct bench *b)
{
    bench_row(b, MYR_NET_COMPUTE, "IB-100", 4);
    bench_row(b, MYR_NET_COMPUTE, "OSFP-2SR", 3 + 2); /* half-full cages of the two leaves too */
    bench_row(b, MYR_NET_COMPUTE, "OSFP-1SR", SHOP_NODES * 2 + 1);
    bench_row(b, MYR_NET_COMPUTE, "FIBRE-10", SHOP_NODES * 2 + 1);
    bench_row(b, MYR_NET_COMPUTE, "DAC-2", 2 * 2);
    bench_row(b, MYR_NET_STORAGE, "ETH-51", 2); /* three switches, two in a box */
    bench_row(b, MYR_NET_STORAGE, "OSFP-2SR", 2 * 2);
    bench_row(b, MYR_NET_STORAGE, "QSFP-2SR", SHOP_NODES + 1);
    bench_row(b, MYR_NET_STORAGE, "FORK-10", 2 * 3);
    bench_row(b, MYR_NET_STORAGE, "QDD-2FR", 2 + 2);
    bench_row(b, MYR_NET_STORAGE, "FIBRE-30", 4);
    bench_row(b, MYR_NET_SERVICE, "ETH-51", 1);
    bench_row(b, MYR_NET_SERVICE, "DAC-4X", 2);
    bench_row(b, MYR_NET_OOB, "ACC-7", 2);
    bench_row(b, MYR_NET_OOB, "AGG-4", 1);
    bench_row(b, MYR_NET_OOB, "CAT6-5", 13);
    bench_row(b, MYR_NET_OOB, "SFP-25SR", 4 * 2);
    bench_row(b, MYR_NET_OOB, "FIBRE-20", 4);
    bench_row(b, MYR_NET_COMPUTE, "SRV-8", SHOP_NODES); /* of no interest here */
}

static inline void shop_init(struct bench *b)
{
    bench_init(b);
    shop_boxes(b);
    shop_cards(b);
    shop_optics(b);
    shop_cables(b);
    shop_types(b);
    shop_devices(b);
    shop_compute(b);
    shop_storage(b);
    shop_service(b);
    shop_oob(b);
    shop_room(b);
    shop_bill(b);
}
