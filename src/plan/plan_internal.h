/*
 * What the steps of the planner share. The steps run in the order of this file; each reads what
 * the earlier ones decided and adds its own.
 */
#pragma once

#include "myriad/plan.h"

#define PLAN_LINKS_MAX   200000000U
#define PLAN_DEVICES_MAX 20000000U
#define PLAN_HOSTS_MAX   (3 + MYR_GROUPS_MAX)

/* Devices of one kind that hang on a network, in the order of their endpoints. */
struct host_class {
    enum myr_device_kind kind;
    uint32_t group; /* of servers; 0 for other kinds */
    uint32_t first_device, count;
    uint32_t nic_part;
    uint32_t nic_ports; /* per device and plane */
    uint32_t port_base; /* first port for this network, relative to the device's ports */
};

struct net_plan {
    enum myr_net_id id;
    const struct myr_spec_net *spec;
    const struct myr_doc *node; /* for messages */
    bool present;
    struct myr_network out; /* what goes into the design */

    uint32_t leaf_part, spine_part, core_part, access_part, aggregation_part;
    const struct myr_part_switch *leaf_sw, *spine_sw, *core_sw;
    struct host_class hosts[PLAN_HOSTS_MAX];
    uint32_t host_class_count;
    uint32_t nodes;          /* devices on it, fabric managers left out */
    uint32_t managers;       /* fabric-manager ports per plane */
    uint32_t nic_ports;      /* of a GPU node, per plane */
    uint32_t ports_per_rail; /* of a node */
    uint32_t endpoints;      /* host ports in one plane, fabric managers included */
    double oversubscription[MYR_SPEC_TIERS_MAX];

    /* Clos, in one unit (a plane, or a rail of it): */
    uint32_t unit_leaves, unit_spines, unit_cores, unit_pods;
    uint32_t unit_endpoints;
    uint32_t pair_links;      /* leaf to spine, where regular */
    uint32_t core_pair_links; /* spine to core, where regular */
    uint32_t splitter_legs;   /* NICs behind one switch connector; 1: none */
    bool twin;                /* one NIC cage carries one port of each plane */
    uint32_t global_pair_links;

    uint16_t leaf_type, spine_type, core_type, access_type, aggregation_type;
    uint16_t host_cabletype[PLAN_HOSTS_MAX]; /* by host class */
    uint16_t layer_cabletype[MYR_LAYER_COUNT];
    uint64_t link_total;
    const char *rule[MYR_DEVICE_KIND_COUNT]; /* how each count came about */
    const char *inputs[MYR_DEVICE_KIND_COUNT];
};

/* Servers of one kind; a spec without groups has one that is called nothing. */
struct plan_group {
    const char *name;
    const struct myr_part *server;
    uint32_t server_part, servers;
    uint32_t first, nodes; /* counted from the first of all nodes */
    uint32_t networks;
    uint16_t type;
};

struct plan {
    struct myr_arena *arena;
    const struct myr_catalog *catalog;
    const struct myr_spec *spec;
    const struct myr_part *server; /* of the first group */
    uint32_t server_part;
    struct plan_group groups[MYR_GROUPS_MAX];
    uint32_t group_count;
    uint32_t gpus;
    struct net_plan nets[MYR_NET_COUNT];
    uint32_t nodes, management_nodes, managers;

    uint32_t storage_part, storage_servers;
    double storage_raw_tb, storage_usable_tb;
    const char *storage_rule, *storage_inputs;

    struct myr_design design;
    uint16_t storage_type, management_type, manager_type;

    struct myr_buf strings;
    struct myr_strmap string_index;
    MYR_VEC(struct myr_devtype) devtypes;
    MYR_VEC(struct myr_cabletype) cabletypes;
    MYR_VEC(struct myr_bom_row) bom;
    MYR_VEC(struct myr_finding) findings;
    uint32_t next_link, next_cable;
    uint32_t cable_links; /* links already in the cable being laid */
};

static inline uint32_t ceil_div(uint64_t a, uint64_t b)
{
    MYR_ASSERT(b > 0);
    return (uint32_t)((a + b - 1) / b);
}

static inline const struct myr_part *part_at(const struct plan *plan, uint32_t part)
{
    return &plan->catalog->parts.items[part];
}

extern const char *const plan_severity_names[];

/* strings and findings, which every step adds to */
uint32_t plan_string(struct plan *plan, const char *text);
MYR_PRINTF(6, 7)
void plan_finding(struct plan *plan, enum myr_severity severity, const char *rule,
                  const char *where, const char *remedy, const char *fmt, ...);

/* The last of them: what the spec accepts and nobody found. */
void plan_check_accepts(struct plan *plan);

/* 1. resolve: every default filled in */
MYR_MUST_USE int plan_resolve(struct plan *plan, struct myr_err *err);
MYR_MUST_USE int plan_storage(struct plan *plan, struct myr_err *err);

/* 2. size: counts by closed form */
MYR_MUST_USE int plan_size_clos(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_dragonfly(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_torus(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_access(struct plan *plan, struct net_plan *net, struct myr_err *err);

/* 3. place: devices, types, ports */
MYR_MUST_USE int plan_place(struct plan *plan, struct myr_err *err);

/* 4. cable kinds: optics and cables for each layer */
MYR_MUST_USE int plan_optics(struct plan *plan, struct myr_err *err);

/* 5. wire: links and cables */
void plan_wire(struct plan *plan);

/* 6. check: counted again from the finished arrays */
MYR_MUST_USE int plan_check(struct plan *plan, struct myr_err *err);

/* groups: what the kinds of servers have in common, and the bill's rows of them */
MYR_MUST_USE int plan_groups(struct plan *plan, struct myr_err *err);
void plan_keep_groups(struct plan *plan);

/* 7. insides of a node, sets of nodes that fail together */
void plan_insides(struct plan *plan);
void plan_domains(struct plan *plan);

/* 8. price */
void plan_price(struct plan *plan);

/* wiring helpers shared by place.c and wire.c */
uint32_t plan_leaf_hosts(const struct net_plan *net, uint32_t leaf);
uint32_t plan_leaf_uplinks(const struct net_plan *net, uint32_t leaf);
/* Device and NIC port of endpoint 'port' of leaf 'leaf' of a unit; false when the port is free. */
bool plan_endpoint(const struct plan *plan, const struct net_plan *net, uint32_t unit,
                   uint32_t leaf, uint32_t port, uint32_t *ret_device, uint32_t *ret_nic_port);
/* The cable type for a host link of this device. */
uint16_t plan_host_cabletype(const struct plan *plan, const struct net_plan *net, uint32_t device);
uint16_t plan_layer_cabletype(const struct plan *plan, const struct net_plan *net,
                              enum myr_layer layer);
