/*
 * room: where devices stand and what they hang on: racks, power and cooling chains, trays, and the
 * sets of devices that fail together. Records of a design, like those of records.h.
 */
#pragma once

#include <stdint.h>

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
