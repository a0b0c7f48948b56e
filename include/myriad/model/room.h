/*
 * room: where devices stand and what they hang on: racks, power and cooling chains, trays, and the
 * sets of devices that fail together. Records of a design, like those of records.h.
 *
 * A design with a room has a rack for every position of it, also where nothing stands: building by
 * building, column by column, in a column from the highest row to the lowest. Sections that came
 * after the first files (those of struct myr_room, _rack_more and _rack_item, and the arrays beside
 * devices, cables and chains) are absent in a design without a room, and their pointers NULL.
 */
#pragma once

#include <stdint.h>

struct myr_rack {
    uint32_t row, column; /* from 0; the rack's name is made of them and the building */
    uint32_t part;        /* string */
    uint32_t power_feed, cooling_loop; /* positions in the chains, or MYR_NONE */
    uint32_t watts_max, units;
};

/* What else is known of the rack at the same position. */
struct myr_rack_more {
    uint32_t building;
    uint32_t x_mm, y_mm;         /* in its building, from rack A1 */
    uint32_t power_b, cooling_b; /* the second feed, or MYR_NONE */
    uint32_t watts, units, kg;   /* of what stands in it */
    uint32_t kg_max, devices;
};

/* What stands in a rack without being a device of a network: security, for one. */
struct myr_rack_item {
    uint32_t part; /* string */
    uint32_t rack, unit, units, watts;
};

/* What one device of the type at the same position needs. */
struct myr_type_load {
    uint32_t watts, units, grams;
};

/* One: the room as a whole. */
struct myr_room {
    uint32_t place;                    /* enum myr_room_place */
    uint32_t buildings, rows, columns; /* of the largest building */
    uint32_t racks_used, racks_mixed;  /* mixed: their power was dealt out anew */
    uint32_t drop_mm, slack_mm, slack_permille;
    uint32_t tray_fill_permille; /* of the fullest tray */
    uint32_t trunks, panels;
    uint32_t longest_mm, managed;
    uint32_t building_names[2]; /* strings: of the first, and of all joined by commas */
    uint64_t watts, watts_max;
    uint64_t cable_mm, fibre_mm; /* along the routes, before stock lengths */
    uint64_t unused;             /* files of older programs have a lower bound here */
};

struct myr_chain_link { /* power and cooling: what stands behind what */
    uint32_t kind, name, parent;
    uint32_t watts_max;
};

/* What the entry of a chain at the same position has besides. */
struct myr_chain_more {
    uint32_t parent_b; /* or MYR_NONE */
    uint32_t kw_used;  /* all that hangs on it, when what stands beside it has failed */
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
