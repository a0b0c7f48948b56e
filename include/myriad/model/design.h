/*
 * design: a planned cluster, as arrays indexed by 32-bit ids.
 *
 * This is the one description that every stage works on: the planner writes it, everything else
 * maps it into memory and reads it. Ids are positions in the arrays and are never reused: a design
 * that grows keeps the old ids and adds new ones behind.
 *
 *   device   a node, switch or other box. Its ports are first_port[d] .. first_port[d + 1] - 1.
 *   port     belongs to one device; carries at most one link.
 *   link     joins port a (the end nearer to the hosts) to port b, at one speed.
 *   cable    what is pulled: usually one link, several when the cable splits. The links of cable c
 *            are first_link[c] .. first_link[c + 1] - 1.
 *   types    what many devices or cables have in common is said once, in a type.
 *
 * Names are not stored: they follow from a device's place by myr_design_name(). In a regular
 * fabric the devices of a tier are consecutive, so that paths can be found by arithmetic; struct
 * myr_network holds what is needed for it.
 *
 * On disk: one file of tagged sections, each with version, length and CRC; unknown sections are
 * skipped. myr_design_open() checks everything (CRCs, ranges, references) before use, so code
 * that reads a design may trust it. A design is immutable once written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model/catalog.h"
#include "myriad/model/spec.h"

#define MYR_NONE           UINT32_MAX
#define MYR_DESIGN_VERSION 1
#define MYR_PLANE_NONE     UINT8_MAX

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

extern const char *const myr_layer_names[MYR_LAYER_COUNT];
const char *myr_device_kind_name(enum myr_device_kind kind);

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
    uint32_t pad;
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

/* Filled when rooms are planned; the places are here so that files need not change. */
struct myr_rack {
    uint32_t row, column, part, power_feed, cooling_loop;
    uint32_t watts_max, units;
};

struct myr_chain_link { /* power and cooling: what stands behind what */
    uint32_t kind, name, parent;
    uint32_t watts_max;
};

struct myr_tray {
    uint32_t from_rack, to_rack, length_mm, fill_permille;
};

/* A set of devices that fail together; members are domain_devices[first..first + count). */
struct myr_domain {
    uint32_t kind, index, first, count;
};

enum myr_domain_kind {
    MYR_DOMAIN_SCALE_UP,
    MYR_DOMAIN_RAIL_GROUP,
    MYR_DOMAIN_POD,
    MYR_DOMAIN_RACK
};

struct myr_design_head {
    uint32_t name, currency, price_book; /* strings */
    uint32_t servers, nodes, gpus;
    uint32_t nodes_per_server, gpus_per_node, scale_up_gpus, scale_up_gbps;
    uint32_t server_part, gpu_part; /* strings */
    uint32_t storage_servers, management_nodes, fabric_managers;
    uint32_t first_node, first_storage, first_management, first_fabric_manager;
    uint32_t storage_raw_gb_high, storage_raw_gb_low, storage_usable_gb_high, storage_usable_gb_low;
    uint32_t pad;
    int64_t total_cents;
};

struct myr_design {
    struct myr_design_head *head; /* one */
    struct myr_network *networks; /* MYR_NET_COUNT */

    uint32_t device_count;
    struct myr_place *place;
    uint16_t *device_type;
    uint32_t *first_port; /* device_count + 1 */
    uint32_t *device_rack;

    uint32_t port_count;
    uint32_t *port_device;
    uint32_t *port_link; /* MYR_NONE where nothing is plugged */

    uint32_t link_count;
    uint32_t *link_a, *link_b; /* ports */
    uint32_t *link_cable;

    uint32_t cable_count;
    uint32_t *first_link; /* cable_count + 1 */
    uint16_t *cable_type;

    uint32_t devtype_count, cabletype_count, inside_count, inside_link_count;
    struct myr_devtype *devtypes;
    struct myr_cabletype *cabletypes;
    struct myr_inside *insides;
    struct myr_inside_link *inside_links;

    uint32_t bom_count, finding_count;
    struct myr_bom_row *bom;
    struct myr_finding *findings;

    uint32_t rack_count, power_count, cooling_count, tray_count, domain_count, member_count;
    struct myr_rack *racks;
    struct myr_chain_link *power, *cooling;
    struct myr_tray *trays;
    struct myr_domain *domains;
    uint32_t *domain_devices;

    uint32_t string_bytes;
    char *strings; /* offset 0 is "" */

    void *mapping; /* of the file, when it came from one */
    size_t mapping_bytes;
};

static inline const char *myr_design_str(const struct myr_design *design, uint32_t offset)
{
    return design->strings + offset;
}

/* Appends the device's address, such as "leaf/p2-g1-r5". */
void myr_design_name(const struct myr_design *design, uint32_t device, struct myr_buf *buf);
/* Appends the port's name on its device: "17/2" on a switch, "nic3" on a node. */
void myr_design_port_name(const struct myr_design *design, uint32_t port, struct myr_buf *buf);
/* MYR_NONE when there is no such device. O(1): names are arithmetic, not a table. */
uint32_t myr_design_find(const struct myr_design *design, struct myr_str name);

const struct myr_port_group *myr_design_port_group(const struct myr_design *design, uint32_t port);
/* Cage of the port on its device, from 0. */
uint32_t myr_design_port_cage(const struct myr_design *design, uint32_t port);

static inline uint32_t myr_design_peer(const struct myr_design *design, uint32_t port)
{
    uint32_t link = design->port_link[port];
    if (link == MYR_NONE) {
        return MYR_NONE;
    }
    return design->link_a[link] == port ? design->link_b[link] : design->link_a[link];
}

/* Bytes held for ports, links and cables, for one cable. */
double myr_design_bytes_per_cable(const struct myr_design *design);

/* Whole-file operations. */
MYR_MUST_USE int myr_design_write(const struct myr_design *design, const char *path,
                                  struct myr_err *err);
MYR_MUST_USE int myr_design_open(struct myr_design *ret, const char *path, struct myr_err *err);
void myr_design_close(struct myr_design *design);
/* Checks and uses a file image in memory, which must stay and be 16-byte aligned. */
MYR_MUST_USE int myr_design_parse(struct myr_design *ret, void *image, size_t bytes,
                                  const char *name, struct myr_err *err);
/* Every index in range, every reference mutual. 'name' is for the message. */
MYR_MUST_USE int myr_design_check(const struct myr_design *design, const char *name,
                                  struct myr_err *err);

/* The whole design as JSON, written piece by piece. */
MYR_MUST_USE int myr_design_write_json(const struct myr_design *design, const char *path,
                                       struct myr_err *err);
