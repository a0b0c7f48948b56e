/*
 * spec: the one page on which a user says what cluster is wanted (docs/spec.md).
 *
 * Reading checks types, ranges, keys and part names; everything that is absent stays at a "not
 * given" value (0, MYR_PART_NONE, NULL) and gets its default in the planner, which knows the rest
 * of the cluster. Each section keeps its document node, so that a later complaint ("this radix
 * cannot carry that many servers") still points at file, line and column.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model/catalog.h"
#include "myriad/model/groups.h"
#include "myriad/model/spec_facility.h"
#include "myriad/model/spec_optimise.h"
#include "myriad/model/spec_room.h"
#include "myriad/model/spec_storage.h"
#include "myriad/text/doc.h"

#define MYR_SPEC_SERVERS_MAX 1000000
#define MYR_SPEC_ITEMS_MAX   64
#define MYR_SPEC_PINS_MAX    32
#define MYR_SPEC_TIERS_MAX   3
#define MYR_SPEC_DIMS_MAX    3
#define MYR_SPEC_PLANES_MAX  8

enum myr_topology {
    MYR_TOPOLOGY_DEFAULT, /* rail for compute, clos for storage, access for the others */
    MYR_TOPOLOGY_RAIL,
    MYR_TOPOLOGY_CLOS,
    MYR_TOPOLOGY_RAIL_ONLY,
    MYR_TOPOLOGY_MIDDLE_OF_RACK,
    MYR_TOPOLOGY_DRAGONFLY,
    MYR_TOPOLOGY_DRAGONFLY_PLUS,
    MYR_TOPOLOGY_TORUS,
    MYR_TOPOLOGY_ACCESS,
    MYR_TOPOLOGY_COUNT,
};

const char *myr_topology_name(enum myr_topology topology);

/* What the hosts of a network speak. RoCE is Ethernet with RDMA: the same boxes and cards. */
enum myr_fabric {
    MYR_FABRIC_ANY,
    MYR_FABRIC_INFINIBAND,
    MYR_FABRIC_ROCE,
    MYR_FABRIC_ETHERNET,
    MYR_FABRIC_COUNT,
};

extern const char *const myr_fabric_names[MYR_FABRIC_COUNT];

enum myr_fill { MYR_FILL_DEFAULT, MYR_FILL_REGULAR, MYR_FILL_DENSE };

/* What an item is counted by. */
enum myr_per {
    MYR_PER_PIECE,
    MYR_PER_GPU,
    MYR_PER_SERVER,
    MYR_PER_NODE,
    MYR_PER_NIC_PORT,
    MYR_PER_SWITCH,
    MYR_PER_COUNT,
};

extern const char *const myr_per_names[MYR_PER_COUNT];

/* Something bought along: licences, support, security devices. */
struct myr_spec_item {
    uint32_t part;
    uint32_t per;
    double quantity; /* pieces, or pieces per what 'per' names */
    const char *system, *name;
    const struct myr_doc *node;
};

/* Roles of parts in a network that a user may fix. */
enum myr_pin_role {
    MYR_PIN_SWITCH_OPTIC, /* in the leaf's cages towards hosts */
    MYR_PIN_NIC_OPTIC,
    MYR_PIN_HOST_CABLE,
    MYR_PIN_FABRIC_OPTIC, /* between switches, both ends */
    MYR_PIN_FABRIC_CABLE,
    MYR_PIN_NIC, /* the card itself */
    MYR_PIN_ROLE_COUNT,
};

extern const char *const myr_pin_role_names[MYR_PIN_ROLE_COUNT];

struct myr_pin_quantity {
    uint32_t part;
    uint64_t quantity;
    const struct myr_doc *node;
};

struct myr_spec_net {
    const struct myr_doc *node; /* NULL: this network is not wanted */
    enum myr_topology topology;
    bool twin_planar; /* topology: twin-planar; two planes behind one NIC cage */
    uint32_t fill;
    uint32_t fabric;                                 /* enum myr_fabric */
    uint32_t switch_part, spine_switch, core_switch; /* the upper ones default to the first */
    uint32_t nic_ports, nic_gbps, uplink_gbps;
    uint32_t tiers, planes, rails;
    double oversubscription[MYR_SPEC_TIERS_MAX];
    uint32_t oversubscription_count;
    uint32_t extra_nodes, fabric_manager_ports;
    uint32_t leaf_down, leaf_up; /* ports of a leaf, where the rules should not decide */
    uint32_t pod_leaves, islands;
    uint32_t dims[MYR_SPEC_DIMS_MAX], dim_count; /* torus */
    uint32_t hosts_per_switch, trunk;            /* torus and dragonfly */
    uint32_t group_switches, global_ports;       /* dragonfly */
    double host_length_m, fabric_length_m, core_length_m;
    uint32_t homes, aggregation_count; /* access networks */
    uint32_t access_switch, aggregation_switch;
    uint32_t pins[MYR_PIN_ROLE_COUNT];
    struct myr_pin_quantity quantities[MYR_SPEC_PINS_MAX];
    uint32_t quantity_count;
};

/* What others supply: planned and cabled, but not in the bill of materials. */
enum myr_supplied {
    MYR_SUPPLIED_SERVERS = 1,
    MYR_SUPPLIED_MANAGEMENT_NODES = 2,
    MYR_SUPPLIED_ETHERNET_CABLING = 4,
    MYR_SUPPLIED_FABRIC_MANAGERS = 8,
};

struct myr_spec {
    const struct myr_doc *root;
    const char *name;
    uint32_t servers;
    uint32_t server_part;
    struct myr_spec_group groups[MYR_GROUPS_MAX]; /* servers is their sum; none: one kind */
    uint32_t group_count;
    struct myr_spec_net nets[MYR_NET_COUNT];
    struct myr_spec_storage storage;
    struct myr_spec_room room;
    struct myr_spec_facility facility;
    struct myr_spec_optimise optimise;
    uint32_t supplied;
    const char *price_book; /* NULL: nothing is priced */
    const struct myr_doc *price_node;
    const char *price_file;               /* a list in CSV, beside the spec; NULL: none */
    const char *price_path;               /* where it was read; NULL: it was not */
    const char *currency;                 /* of that list; NULL: the book's */
    const char *bill_currency;            /* as the spec says it; NULL: the book's, or the list's */
    const char *price_date;               /* the day of the bill; NULL: none is said */
    struct myr_exchanges exchange;        /* rates of the spec's own, before the book's */
    MYR_VEC(struct myr_price) own_prices; /* of this spec, before the book's */
    MYR_VEC(struct myr_spec_item) items;
    MYR_VEC(const char *) accept;
};

/* 'catalog' is for part names; it must outlive the spec. The texts live in the document's arena. */
MYR_MUST_USE int myr_spec_read(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const struct myr_doc *doc, struct myr_spec *ret,
                               struct myr_err *err);
void myr_spec_done(struct myr_spec *spec);
