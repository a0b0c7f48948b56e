/*
 * design: a planned cluster, as arrays indexed by 32-bit ids.
 *
 * This is the one description that every stage works on: the planner writes it, everything else
 * maps it into memory and reads it. Its arrays are in a regular order, and code works with
 * positions in them. What outlives a design (labels, journals, names on boxes) are ids: the same as
 * positions in a design that was planned from nothing; one that has grown keeps the old ids, gives
 * new ones behind them, and holds which is which (docs/decisions/0010-ids-that-survive-growth.md).
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
#include "myriad/model/figures.h"
#include "myriad/model/named.h"
#include "myriad/model/records.h"
#include "myriad/model/room.h"

#define MYR_DESIGN_VERSION 1

extern const char *const myr_layer_names[MYR_LAYER_COUNT];
const char *myr_device_kind_name(enum myr_device_kind kind);

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
    uint16_t *device_unit; /* its lowest unit in the rack, from 1; NULL without a room */

    uint32_t port_count;
    uint32_t *port_device;
    uint32_t *port_link; /* MYR_NONE where nothing is plugged */

    uint32_t link_count;
    uint32_t *link_a, *link_b; /* ports */
    uint32_t *link_cable;

    uint32_t cable_count;
    uint32_t *first_link; /* cable_count + 1 */
    uint16_t *cable_type;
    uint32_t *cable_mm; /* along its route; NULL without a room */

    /* Of a design that has grown; NULL in all others, whose ids are positions. */
    uint32_t *device_id, *port_id, *link_id, *cable_id;
    struct myr_place *named; /* what a device is called, in place of where it is */
    uint32_t *by_name;       /* the devices of each kind and network, in the order of names */

    uint32_t devtype_count, cabletype_count, inside_count, inside_link_count;
    struct myr_devtype *devtypes;
    struct myr_cabletype *cabletypes;
    struct myr_inside *insides;
    struct myr_inside_link *inside_links;

    uint32_t group_count; /* 0: all servers are of the head's kind */
    struct myr_server_group *groups;

    uint32_t bom_count, finding_count;
    struct myr_bom_row *bom;
    struct myr_bom_more *bom_more; /* or NULL, as the next */
    struct myr_bom_price *bom_price;
    struct myr_finding *findings;

    uint32_t rack_count, power_count, cooling_count, tray_count, domain_count, member_count;
    struct myr_rack *racks;
    struct myr_chain_link *power, *cooling;
    struct myr_tray *trays;
    struct myr_domain *domains;
    uint32_t *domain_devices;
    uint32_t room_count, rack_item_count; /* room_count: 0 or 1 */
    struct myr_room *room;
    struct myr_rack_more *rack_more;
    struct myr_rack_item *rack_items;
    struct myr_type_load *type_loads; /* by device type */
    struct myr_chain_more *power_more, *cooling_more;

    uint32_t card_count, bisection_count; /* 0 in files of older programs */
    struct myr_card *cards;
    struct myr_bisection *bisections; /* by network */
    uint32_t figure_count;
    struct myr_figure *figures; /* NULL in files of older programs */

    uint32_t string_bytes;
    char *strings; /* offset 0 is "" */

    void *mapping; /* of the file, when it came from one */
    size_t mapping_bytes;

    /* Of a spec that was planned just now: of a design that was read, the file says all. */
    struct myr_named_files named_files;
};

static inline const char *myr_design_str(const struct myr_design *design, uint32_t offset)
{
    return design->strings + offset;
}

/* Appends the device's address, such as "leaf/p2-g1-r5". */
void myr_design_name(const struct myr_design *design, uint32_t device, struct myr_buf *buf);
/* Appends the port's name on its device: "17/2" on a switch, "nic3" on a node. */
void myr_design_port_name(const struct myr_design *design, uint32_t port, struct myr_buf *buf);
/* MYR_NONE when there is no such device. No table is needed: names are ordered. */
uint32_t myr_design_find(const struct myr_design *design, struct myr_str name);

/* The devices of one kind (on one network, where they are a network's) are neighbours. */
struct myr_device_range {
    uint32_t first, count;
};
struct myr_device_range myr_design_range(const struct myr_design *design, enum myr_device_kind kind,
                                         enum myr_net_id net);
/* The order of names of one kind and network: negative, zero or positive. */
int myr_place_compare(const struct myr_place *a, const struct myr_place *b);

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

/* Appends the rack's name: "A14", or "south/A14" where there are several buildings. */
void myr_design_rack_name(const struct myr_design *design, uint32_t rack, struct myr_buf *buf);

/* Bytes held for ports, links and cables, for one cable. */
double myr_design_bytes_per_cable(const struct myr_design *design);

/* MYR_OK when all nodes are alike in what head says of one: GPUs, scale-up, network. Who counts
 * GPUs by node asks this first; 'name' is for the message. */
MYR_MUST_USE int myr_design_one_kind(const struct myr_design *design, const char *name,
                                     struct myr_err *err);
