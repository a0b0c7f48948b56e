/*
 * What the steps of the planner share. The steps run in the order of this file; each reads what
 * the earlier ones decided and adds its own.
 */
#pragma once

#include "myriad/plan.h"

#define PLAN_LINKS_MAX   200000000U
#define PLAN_DEVICES_MAX 20000000U
#define PLAN_HOSTS_MAX   (20 + MYR_GROUPS_MAX) /* kinds of hosts on one network */

/* Devices of one kind that hang on a network, in the order of their endpoints. */
struct host_class {
    enum myr_device_kind kind;
    bool managed;                 /* a box that is no host, on the out-of-band network */
    enum myr_net_id of_net;       /* of such a box: the network that it serves */
    uint32_t group;               /* of servers; 0 for other kinds */
    uint32_t first_device, count; /* first_device: known once it is placed */
    uint32_t nic_part;            /* part: its card on this network */
    uint32_t nic_ports;           /* per device and plane */
    uint32_t per_cage;            /* ports in one cage of its card */
    uint32_t start;               /* first endpoint of the class; with rails: first node */
    uint32_t port_base;           /* first port for this network, relative to the device's ports */
};

/* A server's own card, and the one of its family that all groups agree on; or MYR_PART_NONE. */
struct agreed_card {
    uint32_t own, taken;
};

/* One network while it is planned. resolve.c fills the parts and hosts, size*.c the counts, place.c
 * the types, optics the kinds of cables; 'present' is false where the spec does not have it. */
struct net_plan {
    enum myr_net_id id;
    const struct myr_spec_net *spec;
    const struct myr_doc *node; /* for messages */
    bool present;               /* else nothing below counts */
    struct myr_network out;     /* what goes into the design */

    uint32_t leaf_part, spine_part, core_part, access_part, aggregation_part; /* parts */
    /* The same as switches; access networks have none of these. */
    const struct myr_part_switch *leaf_sw, *spine_sw, *core_sw;
    struct host_class hosts[PLAN_HOSTS_MAX];
    uint32_t host_class_count;
    struct agreed_card agreed[MYR_GROUPS_MAX + 1]; /* parts/agree.c */
    uint32_t agreed_count;
    uint32_t nodes;          /* devices on it, fabric managers left out */
    uint32_t managed;        /* management ports of the other networks' switches */
    uint32_t managers;       /* fabric-manager ports per plane */
    uint32_t manager_nic;    /* part: their card */
    uint32_t managers_start; /* as struct host_class has it */
    uint32_t nic_ports;      /* of a GPU node, per plane */
    uint32_t ports_per_rail; /* of a node */
    uint32_t endpoints;      /* host ports in one plane, fabric managers included */
    uint32_t slots;          /* the same with the places that stay free between kinds of hosts */
    double oversubscription[MYR_SPEC_TIERS_MAX]; /* wanted, from the hosts upwards */

    /* Clos, in one unit (a plane, or a rail of it): */
    uint32_t unit_leaves, unit_spines, unit_cores, unit_pods;
    uint32_t unit_endpoints;    /* host ports */
    uint32_t pair_links;        /* leaf to spine, where regular */
    uint32_t core_gbps;         /* of an access network: aggregation to core */
    uint32_t core_pair_links;   /* spine to core, where regular */
    uint32_t splitter_legs;     /* NICs behind one switch connector; 1: none */
    bool twin;                  /* one NIC cage carries one port of each plane, and is one cable */
    bool several_cards;         /* kinds of hosts with different cards */
    uint32_t host_optic;        /* the leaf's module towards its first kind of hosts */
    uint32_t global_pair_links; /* between two groups of a dragonfly */

    uint16_t leaf_type, spine_type, core_type, access_type, aggregation_type; /* of devices */
    uint16_t host_cabletype[PLAN_HOSTS_MAX];                                  /* by host class */
    uint16_t layer_cabletype[MYR_LAYER_COUNT];
    uint64_t link_total; /* over all planes and units; wire.c lays just so many */
    const char *rule[MYR_DEVICE_KIND_COUNT];   /* how each count came about */
    const char *inputs[MYR_DEVICE_KIND_COUNT]; /* the numbers that went into it */
};

/* Consecutive devices of one type. */
struct type_run {
    uint16_t type;
    uint32_t count;
};

/* Servers of one kind; a spec without groups has one that is called nothing. */
struct plan_group {
    const char *name; /* NULL without groups */
    const struct myr_part *server;
    uint32_t server_part, servers;
    uint32_t first, nodes; /* counted from the first of all nodes */
    uint32_t networks;     /* bits, by network */
    uint16_t type;
};

/* All that the steps know. Vectors and strings live on the heap until plan_release(); the arrays of
 * the design lie in the arena, with their final length from the start. */
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
    enum myr_net_id at_net;                     /* being sized: what a refusal is about */
    uint32_t nodes, management_nodes, managers; /* of all networks together */

    const struct myr_plan_listener *listener; /* or NULL */

    bool unplugged;      /* nobody asks what the physical checker says */
    bool rough;          /* made only to count what is in the next line */
    uint32_t pdus, cdus; /* power strips and cooling units with a management port */
    uint32_t storage_part, storage_servers;
    double storage_raw_tb, storage_usable_tb;
    struct storage_needs *storage_needs; /* NULL without storage */
    const char *storage_rule, *storage_inputs;

    struct myr_design design; /* as far as it is built */
    uint16_t storage_type;
    struct type_run management_types[MYR_NET_COUNT];
    uint32_t management_type_count;

    struct myr_buf strings;         /* offsets are what records hold; 0 is "" */
    struct myr_strmap string_index; /* text to offset: each text is stored once */
    MYR_VEC(struct myr_devtype) devtypes;
    MYR_VEC(struct myr_cabletype) cabletypes;
    MYR_VEC(struct myr_card) cards;
    MYR_VEC(struct myr_bom_row) bom;
    MYR_VEC(struct myr_bom_more) bom_more;    /* as many */
    MYR_VEC(struct myr_bom_price) bom_prices; /* as many; and the part of each */
    MYR_VEC(uint32_t) bom_parts;
    MYR_VEC(struct myr_finding) findings;
    MYR_VEC(struct myr_figure) figures; /* storage, power, cooling: each with its rule */
    const struct myr_part *uncountable; /* the first part with which the price overflowed */
    uint32_t next_link, next_cable;     /* ids of what is laid next */
    uint32_t *managed_place; /* of management ports; NULL: each at its number (room/managed.c) */
    /* By port that a cable's head is in: copper where the layer is of fibre, else
     * MYR_CABLETYPE_NONE. NULL until a room knows how near things are (room/cages.c). */
    uint16_t *near_kind;
    uint32_t cable_links; /* links already in the cable being laid */
};

/* The quotient must fit 32 bits: counts do. */
static inline uint32_t ceil_div(uint64_t a, uint64_t b)
{
    MYR_ASSERT(b > 0);
    return (uint32_t)((a + b - 1) / b);
}

/* For parts that are known to be there: MYR_PART_NONE must not come here. */
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

/* Gives back what grew on the heap. */
void plan_release(struct plan *plan);

/* What a changed key of the spec would save. */
void plan_advice(struct plan *plan);

/* The last of them: what the spec accepts and nobody found. */
void plan_check_accepts(struct plan *plan);

/* Steps 1 to 5 and 8: a design with its bill that nothing was proved of yet; no room. */
MYR_MUST_USE int plan_unproved(struct plan *plan, struct myr_err *err);

/* 1. resolve: every default filled in */
MYR_MUST_USE int plan_resolve(struct plan *plan, struct myr_err *err);
MYR_MUST_USE int plan_storage(struct plan *plan, struct myr_err *err);

/* 2. size: counts by closed form; plan_size() does step 1 too */
MYR_MUST_USE int plan_size(struct plan *plan, struct myr_err *err);
/* After it failed: names in the hint what would not have. */
void plan_nearest(const struct plan *plan, struct myr_err *err);
MYR_MUST_USE int plan_size_clos(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_dragonfly(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_torus(struct plan *plan, struct net_plan *net, struct myr_err *err);
MYR_MUST_USE int plan_size_access_core(struct plan *plan, struct net_plan *net,
                                       struct myr_err *err);
MYR_MUST_USE int plan_size_access(struct plan *plan, struct net_plan *net, struct myr_err *err);

/*
 * Out of band: the management ports of all other networks' switches hang on it too, and those of
 * the power strips and cooling units of a room that says so. How many these are follows from the
 * racks that are used: false where the plan was made with another number, which it then says.
 */
void plan_managed(struct plan *plan, struct net_plan *oob);
uint32_t plan_rack_feeds(const struct plan *plan, uint32_t rack);
bool plan_units_right(const struct plan *plan, uint32_t *ret_pdus, uint32_t *ret_cdus);

/* 3. place: devices, types, ports */
MYR_MUST_USE int plan_place(struct plan *plan, struct myr_err *err);

/* 4. cable kinds: optics and cables for each layer */
MYR_MUST_USE int plan_optics(struct plan *plan, struct myr_err *err);

/* Whether a card can be cabled to a switch at the speed of the network's hosts. */
bool plan_card_joins(struct plan *plan, const struct net_plan *net, uint32_t card, uint32_t sw);

/*
 * The kind of cable for another length of a layer: 'like' keeps modules and links of that kind and
 * changes the fibre alone (MYR_CABLETYPE_NONE where none is long enough); without it all is chosen
 * anew, and what is wrong becomes a finding. The same question gets the same answer; a new kind is
 * added where there is none. For host links 'host_class' is the position in net->hosts.
 */
#define MYR_CABLETYPE_NONE UINT16_MAX

struct cable_ask {
    enum myr_layer layer;
    uint32_t host_class;
    double length_m;
    uint16_t like; /* or MYR_CABLETYPE_NONE */
};

uint16_t plan_cabletype_for(struct plan *plan, struct net_plan *net, const struct cable_ask *ask);
/* How many links one such cable would have; adds no kind, and says nothing. */
uint32_t plan_cable_links(struct plan *plan, const struct net_plan *net,
                          const struct cable_ask *ask);

/* The same between the switches of a sized fabric, at the lengths of the spec; whether in copper.
 */
uint32_t plan_layer_links(const struct plan *plan, const struct net_plan *net, enum myr_layer layer,
                          bool *ret_copper);

/*
 * How far it is, for who listens; also inside of steps that may take seconds by themselves, so that
 * whoever waits sees that it goes on.
 */
static inline void plan_tell(const struct plan *plan, const char *step)
{
    if (plan->listener) {
        plan->listener->hear(plan->listener->context, step);
    }
}

/* 5. wire: links and cables */
void plan_wire(struct plan *plan);

/* 5b. room: racks, lengths, and cables that have them; nothing without a room (room/) */
MYR_MUST_USE int plan_room(struct plan *plan, struct myr_err *err);

/* What the answer, the page and the files say of it. */
void plan_room_answer(const struct myr_design *design, struct myr_answer *answer);
void plan_room_page(const struct myr_design *design, struct myr_answer *answer);
void plan_racks_csv(const struct myr_design *design, struct myr_outfile *file);

/* 6. check: counted again from the finished arrays */
MYR_MUST_USE int plan_check(struct plan *plan, struct myr_err *err);

/* groups: what the kinds of servers have in common, and the bill's rows of them */
MYR_MUST_USE int plan_groups(struct plan *plan, struct myr_err *err);
void plan_keep_groups(struct plan *plan);

/* 7. insides of a node, sets of nodes that fail together */
void plan_insides(struct plan *plan);
void plan_domains(struct plan *plan);

/* 8. price */
MYR_MUST_USE int plan_price(struct plan *plan, struct myr_err *err);
/* One line more, at the price that is known for the part. */
void plan_bill_row(struct plan *plan, const char *system, const char *name, uint32_t part,
                   uint64_t quantity, const char *rule, const char *inputs);
/* Whether a line of the bill has a price; without one there is no sum. */
static inline bool plan_any_price(const struct myr_bom_row *rows, size_t count)
{
    bool priced = false;
    for (size_t i = 0; i < count; i++) {
        priced = priced || rows[i].unit_cents >= 0;
    }
    return priced;
}

static inline bool plan_priced(const struct plan *plan)
{
    return plan_any_price(plan->bom.items, plan->bom.count);
}

/* prices/totals.c: how far the total reaches; behind the last line of the bill. */
void plan_price_figures(struct plan *plan);

/* An error where a line made the total more than can be counted. */
MYR_MUST_USE int plan_countable(const struct plan *plan, struct myr_err *err);

/* Splitters, twin cages and the place of each kind of hosts: known once the switch is. */
void plan_host_slots(struct net_plan *net);
/* Where hosts have several kinds of cards, a switch takes them in whole splitters. */
MYR_MUST_USE int plan_whole_splitters(const struct net_plan *net, uint32_t down,
                                      struct myr_err *err);

/*
 * What stands in racks without being a device: servers of storage tiers, which are in no network,
 * and boxes of the bill. Begins as {}; false: no more kinds.
 */
struct plan_pieces {
    uint32_t part;
    uint64_t count;
    const char *what; /* for messages */
    size_t next;
};
/* A started piece is a whole one, but for what the product of two decimals is off by. */
uint64_t plan_started_pieces(double quantity);
bool plan_next_pieces(const struct plan *plan, struct plan_pieces *at);

/* What was asked of storage and what each wish needs (storage/); the bill's rows of its tiers. */
void plan_storage_figures(struct plan *plan);
/* The part of such a server; MYR_PART_NONE where the spec has no such tier. */
uint32_t plan_tier_part(const struct myr_catalog *catalog, const struct myr_spec *spec,
                        uint32_t tier);
uint32_t plan_tier_servers(const struct plan *plan, uint32_t tier, uint32_t *ret_part);

/* 8b. power: supply, cooling and energy of all that was planned (power/) */
void plan_power(struct plan *plan);

/* 9. plugged: held against the parts, by rules written apart */
void plan_plugged(struct plan *plan);

/* The files of a plan, into a set that is open. 'about' is for the report, or NULL. */
MYR_MUST_USE int plan_add_files(struct myr_file_set *set, const struct myr_design *design,
                                const struct myr_plan_about *about, struct myr_err *err);

/* wiring helpers shared by place.c and wire.c */
uint32_t plan_leaf_hosts(const struct net_plan *net, uint32_t leaf);
uint32_t plan_leaf_uplinks(const struct net_plan *net, uint32_t leaf);
uint64_t plan_unit_uplinks(const struct net_plan *net);
/* What is said about a fabric of tiers once it is sized. */
void plan_state_clos(struct plan *plan, struct net_plan *net);

/* Nodes of a group hang on the same leaves, one for each rail. */
static inline bool has_rail_groups(const struct net_plan *net)
{
    return net->out.topology == MYR_TOPOLOGY_RAIL;
}

/* Dense without rails: hosts are spread evenly over the leaves, in whole connectors. */
static inline bool spreads_hosts(const struct net_plan *net)
{
    return net->out.topology == MYR_TOPOLOGY_CLOS && net->out.fill == MYR_FILL_DENSE;
}
/* Device and NIC port of endpoint 'port' of leaf 'leaf' of a unit; false when the port is free. */
bool plan_endpoint(const struct plan *plan, const struct net_plan *net, uint32_t unit,
                   uint32_t leaf, uint32_t port, uint32_t *ret_device, uint32_t *ret_nic_port);
/* The cable type for a host link of this device. */
uint16_t plan_host_cabletype(const struct plan *plan, const struct net_plan *net, uint32_t device);
uint16_t plan_layer_cabletype(const struct plan *plan, const struct net_plan *net,
                              enum myr_layer layer);
