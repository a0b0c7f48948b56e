/*
 * records: the records that a design is made of, as they lie in memory and in the file.
 *
 * Fixed sizes, no pointers, no hidden padding: sections of a design file are arrays of these.
 * 'String' fields are offsets into the design's strings; 0 is the empty string.
 */
#pragma once

#include <stdint.h>

#include "myriad/model/catalog.h"
#include "myriad/model/groups.h"
#include "myriad/model/spec.h"

#define MYR_NONE       UINT32_MAX
#define MYR_PLANE_NONE UINT8_MAX

enum myr_device_kind {
    MYR_DEVICE_NODE, /* GPU node: an operating-system instance */
    MYR_DEVICE_LEAF,
    MYR_DEVICE_SPINE,
    MYR_DEVICE_CORE,
    MYR_DEVICE_ROUTER,      /* dragonfly and torus: a switch with hosts and peers */
    MYR_DEVICE_ACCESS,      /* Ethernet access switch */
    MYR_DEVICE_AGGREGATION, /* Ethernet aggregation or core switch */
    MYR_DEVICE_STORAGE,
    MYR_DEVICE_MANAGEMENT,
    MYR_DEVICE_FABRIC_MANAGER,
    MYR_DEVICE_PDU, /* power strips of racks, then cooling units: the last devices of all, */
    MYR_DEVICE_CDU, /* and only where the room says that they are managed */
    MYR_DEVICE_KIND_COUNT,
};

enum myr_layer {
    MYR_LAYER_HOST,   /* host to leaf, router or access switch */
    MYR_LAYER_FABRIC, /* leaf to spine, access to aggregation */
    MYR_LAYER_CORE,   /* spine to core */
    MYR_LAYER_LOCAL,  /* router to router in a group; every torus link */
    MYR_LAYER_GLOBAL, /* between dragonfly groups */
    MYR_LAYER_COUNT,
};

/* How a name is made: leaf/p2-g1-r5 is pod 2, unit g1, ordinal r5. */
enum myr_name_style {
    MYR_NAME_PLAIN,       /* kind/00042 */
    MYR_NAME_POD,         /* kind/p2-3 */
    MYR_NAME_POD_GROUP,   /* kind/p2-g1-r5 */
    MYR_NAME_RAIL_POD,    /* kind/r5-p2-3 */
    MYR_NAME_GROUP,       /* kind/g4-17 */
    MYR_NAME_RAIL_GROUP,  /* kind/r5-g4-17 */
    MYR_NAME_COORDINATES, /* kind/1-2-3 */
    MYR_NAME_NET,         /* kind/service-3 */
    MYR_NAME_STYLE_COUNT,
};

struct myr_place {
    uint32_t pod, unit, ordinal;
    uint8_t kind;  /* enum myr_device_kind */
    uint8_t net;   /* enum myr_net_id, or MYR_NET_COUNT for devices of all networks */
    uint8_t plane; /* MYR_PLANE_NONE where there is one plane only */
    uint8_t style;
};

enum myr_port_role { MYR_PORT_NIC, MYR_PORT_DOWN, MYR_PORT_UP, MYR_PORT_LOCAL, MYR_PORT_GLOBAL };

/* Consecutive ports of a device that are alike. */
struct myr_port_group {
    uint32_t first, count; /* relative to the device's first port */
    uint32_t gbps;
    uint16_t per_cage;      /* ports in one cage */
    uint16_t per_connector; /* ports behind one connector: 2 with a splitter */
    uint16_t first_cage;
    uint8_t role, net;
};

#define MYR_PORT_GROUPS_MAX 5

struct myr_devtype {
    uint32_t part; /* string: catalogue id */
    uint32_t group_count;
    uint32_t port_count;
    uint32_t cages;
    struct myr_port_group groups[MYR_PORT_GROUPS_MAX];
};

/* Which cards the ports of a host's group are on. */
struct myr_card {
    uint32_t devtype, group;
    uint32_t part;  /* string: catalogue id */
    uint32_t count; /* in one device */
    uint32_t asked; /* 1: the spec asked for this number, whatever the server has */
};

/* What can flow at once, one direction, between two halves of a network's hosts. */
struct myr_bisection {
    uint64_t ports_gbps; /* the worst halving of host ports along rails or leaves */
    uint64_t nodes_gbps; /* the first half of the nodes against the others */
};

struct myr_cabletype {
    uint32_t part, optic_a, optic_b; /* strings; optics are 0 where the cable has fixed ends */
    uint32_t gbps;                   /* of one link */
    uint32_t length_mm;
    uint8_t net, layer, medium;
    uint8_t legs;                                   /* links in a full cable */
    uint8_t head_b;                                 /* the undivided end is at b */
    uint8_t optics_per_cable_a, optics_per_cable_b; /* in halves of a module; for people */
    uint8_t pad;
};

/* One network as it was built. Counts are over all planes. Absent networks have topology 0. */
struct myr_network {
    uint32_t topology, fill, tiers, planes, rails;
    uint32_t units; /* independent fabrics in one plane: the rails of rail-only, else 1 */
    uint32_t nodes_on_it, host_ports, host_gbps, fabric_gbps;
    uint32_t leaf, spine, core, access, aggregation; /* devices; routers count as leaf */
    uint32_t leaf_down, leaf_up, spine_down, spine_up, core_down; /* ports used at most */
    uint32_t pods, pod_leaves, pod_spines, core_groups, group_cores;
    uint32_t group_nodes; /* nodes of a full rail group */
    uint32_t first_leaf, first_spine, first_core, first_access, first_aggregation;
    uint32_t dims[MYR_SPEC_DIMS_MAX], dim_count;
    uint32_t groups, group_switches, hosts_per_switch; /* dragonfly, torus */
    uint32_t diameter_hops; /* between the two farthest switches that hosts hang on */
    uint32_t oversubscription_milli[MYR_SPEC_TIERS_MAX];
    uint32_t cables[MYR_LAYER_COUNT], links[MYR_LAYER_COUNT];
    uint32_t copper_cables;
    uint32_t fibres;          /* pieces that are pulled, of fibre or copper: a label each */
    uint64_t bisection_gbps;  /* one direction, between two halves of the hosts */
    uint64_t worst_pair_gbps; /* between the two worst-connected pods (or leaves): uneven fills */
    uint64_t full_pair_gbps;  /* what an even fill gives */
};

/* What is inside one node; the same for all GPU nodes of a design. */
enum myr_inside_kind {
    MYR_INSIDE_NUMA,
    MYR_INSIDE_PCIE_SWITCH,
    MYR_INSIDE_GPU,
    MYR_INSIDE_NIC,
    MYR_INSIDE_SCALE_UP_SWITCH,
    MYR_INSIDE_DPU,
    MYR_INSIDE_KIND_COUNT,
};

struct myr_inside {
    uint8_t kind, net; /* net: of a NIC */
    uint16_t index;    /* among its kind (and net) */
    uint16_t numa;
    uint16_t pad;
};

struct myr_inside_link {
    uint16_t a, b; /* positions in the list of insides */
    uint32_t gbps; /* one direction */
};

struct myr_bom_row {
    uint32_t system, name, part, rule, inputs; /* strings */
    uint32_t price_note;
    uint64_t quantity;
    int64_t unit_cents; /* -1: no price known */
    int64_t total_cents;
};

enum myr_severity { MYR_SEVERITY_INFO, MYR_SEVERITY_WARNING, MYR_SEVERITY_ERROR };

struct myr_finding {
    uint32_t rule, where, message, remedy; /* strings */
    uint8_t severity, accepted;
    uint16_t pad;
};
