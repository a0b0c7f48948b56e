/*
 * parts: what the catalogue knows about one part, by its kind. Texts live in the catalogue's arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MYR_PART_NONE UINT32_MAX

enum myr_part_kind {
    MYR_PART_SWITCH, /* data-centre switch with cages for transceivers */
    MYR_PART_NIC,
    MYR_PART_GPU,
    MYR_PART_SERVER, /* what is ordered as one: a server, or a rack-scale supernode */
    MYR_PART_TRANSCEIVER,
    MYR_PART_CABLE,   /* one length of fibre or copper */
    MYR_PART_STORAGE, /* storage server */
    MYR_PART_RACK,
    MYR_PART_ETHERNET, /* access and aggregation switches with fixed ports */
    MYR_PART_DEVICE,   /* anything else with a power cord: security, management, appliance */
    MYR_PART_SERVICE,  /* licences, support, software */
    MYR_PART_KIND_COUNT,
};

enum myr_technology { MYR_TECH_INFINIBAND, MYR_TECH_ETHERNET, MYR_TECH_ANY };
enum myr_medium { MYR_MEDIUM_COPPER, MYR_MEDIUM_MULTI, MYR_MEDIUM_SINGLE };
/* How a port is divided: by a cable with legs, or by a module with one connector a port. */
enum myr_breakout { MYR_BREAKOUT_SPLITTER, MYR_BREAKOUT_MODULE };

#define MYR_SPEEDS_MAX 8

struct myr_speeds {
    uint32_t items[MYR_SPEEDS_MAX];
    uint32_t count;
};

struct myr_part_switch {
    uint32_t technology;
    uint32_t cages;
    const char *form; /* of a cage: "osfp" */
    uint32_t cage_gbps;
    uint32_t port_gbps;       /* a port as it comes: one straight cable */
    struct myr_speeds splits; /* lower speeds that a port can be divided into */
    uint32_t breakout;
    uint32_t uplink_gbps;        /* between switches; 0: as fast as the host links */
    uint32_t ports_max;          /* what the chip can address; 0: no limit of its own */
    const char *top;             /* "finned" or "flat": what its cages take; NULL: either */
    const char *takes;           /* further forms that its cages take, or NULL */
    uint32_t lanes, lane_gbps;   /* electrical lanes of a cage; 0: not known */
    struct myr_speeds lane_also; /* lower speeds of a lane */
    uint32_t mgmt_ports;         /* MYR_PART_NONE: not known */
    uint32_t chips, per_box;     /* chips that share every port; switches ordered as one box */
    double watts_copper, watts_multimode; /* with that kind of cable; part.watts is the most */
    double buffer_mb;
};

struct myr_part_nic {
    uint32_t technology;
    const char *form; /* of its cage */
    const char *top;  /* "flat" or "finned": what its cage accepts; NULL: either */
    uint32_t cages;
    uint32_t cage_ports; /* 2: a twin cage, one port to each of two planes */
    uint32_t port_gbps;
    struct myr_speeds also;    /* lower speeds that it can run at */
    const char *takes;         /* further forms that its cages take, or NULL */
    uint32_t lanes, lane_gbps; /* electrical lanes of a cage; 0: not known */
    struct myr_speeds lane_also;
    uint32_t cards;     /* chips behind it: 2 where a twin cage serves two cards */
    uint32_t card_gbps; /* what all of it carries; 0: the sum of its ports */
};

struct myr_part_gpu {
    double memory_gb, memory_gbytes_per_s, bf16_tflops, fp8_tflops, fp4_tflops; /* dense */
};

struct myr_server_nics { /* of one node on one network */
    const char *nic;     /* part; NULL: none */
    uint32_t count;
};

enum myr_net_id { MYR_NET_COMPUTE, MYR_NET_STORAGE, MYR_NET_SERVICE, MYR_NET_OOB, MYR_NET_COUNT };
extern const char *const myr_net_names[MYR_NET_COUNT];

struct myr_part_server {
    const char *gpu;
    uint32_t nodes; /* operating-system instances in it: 1, or 18 in an NVL72 rack */
    uint32_t gpus_per_node;
    uint32_t rails; /* 0: one for each compute NIC of a node */
    uint32_t numa, pcie_switches, pcie_gen;
    uint32_t scale_up_gpus;          /* GPUs that reach each other without the network */
    uint32_t scale_up_gbps;          /* per GPU, one direction */
    uint32_t scale_up_switches;      /* in one node when nodes is 1, else in the whole server */
    const char *scale_up_kind, *dpu; /* dpu: part, or NULL */
    struct myr_speeds node_trays, switch_trays, power_shelves; /* runs: first unit, count */
    struct myr_server_nics nics[MYR_NET_COUNT];
};

struct myr_part_transceiver {
    const char *form, *top;
    uint32_t cage_gbps; /* of the cage it fills */
    uint32_t connectors;
    uint32_t port_gbps;             /* through one connector */
    uint32_t lane_gbps;             /* one lane of light; both ends must agree; 0: not known */
    uint32_t lanes, cage_lane_gbps; /* electrical, all together; speed 0: as lane_gbps */
    uint32_t technology;
    bool built_in; /* part of the switch: never ordered */
    struct myr_speeds also;
    uint32_t medium, wavelength_nm;
    const char *grid;      /* "cwdm4": several wavelengths in one fibre; or NULL */
    const char *connector; /* "mpo12-apc" */
    const char *fits;      /* restricted to these hosts ("cx7 bluefield3"), or NULL */
    double reach_m;
};

struct myr_part_cable {
    uint32_t medium;
    uint32_t legs; /* 2: one end divides into two */
    double length_m;
    const char *connector;   /* of fibre; for copper with fixed ends the form of side A */
    const char *form_b;      /* copper: the form of the leg ends, default as side A */
    bool fixed_ends;         /* ends are part of the cable: no transceivers */
    uint32_t gbps;           /* fixed ends: speed of a whole cable end; 0: any */
    const char *top, *top_b; /* of fixed ends; top_b NULL: as top */
    uint32_t lanes;          /* fibre pairs of a connector; electrical lanes of a fixed side A */
    uint32_t lane_gbps;      /* fixed ends */
    uint32_t technology;
};

struct myr_part_storage {
    uint64_t disk_gb; /* decimal */
    const char *nic;
    uint32_t disks, nic_ports, system_disks, system_disk_gb, metadata_disks, metadata_disk_gb;
    const char *software; /* service part that comes with each cluster of it, or NULL */
    double disk_read_mbytes, disk_write_mbytes, iops, metadata_ops; /* 0: a class value */
    uint32_t processors, processor_cores, memory_gb;                /* 0: not known */
};

struct myr_part_ethernet {
    uint32_t access_ports, access_gbps;
    uint32_t uplink_ports, uplink_gbps;
    const char *access_form, *uplink_form; /* "sfp28"; NULL: not known */
    uint32_t mgmt_ports;                   /* MYR_PART_NONE: not known */
};

struct myr_part_device {
    const char *nic; /* its card on the fabrics; NULL: as in the servers */
};

struct myr_part {
    enum myr_part_kind kind;
    const char *id;    /* lower case, the name used in specs */
    const char *order; /* order number as the vendor prints it */
    const char *title;
    const char *vendor;
    const char *source; /* where the figures come from */
    double watts, rack_units, weight_kg;
    bool assumed; /* figures are class values, not from a data sheet */
    union {
        struct myr_part_switch sw;
        struct myr_part_nic nic;
        struct myr_part_gpu gpu;
        struct myr_part_server server;
        struct myr_part_transceiver optic;
        struct myr_part_cable cable;
        struct myr_part_storage storage;
        struct myr_part_ethernet eth;
        struct myr_part_device device;
    };
};
