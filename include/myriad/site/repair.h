/*
 * repair: what verify gives to the people who mend: steps in walking order, and mistakes by name.
 *
 * Vertices are ports, as in verify.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

enum myr_repair_op {
    MYR_REPAIR_SWAP,   /* exchange the plugs in ports 'at' and 'to' */
    MYR_REPAIR_MOVE,   /* move the plug from port 'at' to port 'to', which is free */
    MYR_REPAIR_ADD,    /* a new cable between 'at' and 'to' */
    MYR_REPAIR_REMOVE, /* take out the cable between 'at' and 'to' */
    MYR_REPAIR_OP_COUNT,
};

extern const char *const myr_repair_op_names[MYR_REPAIR_OP_COUNT];

/* Steps of one component stand together and are to be done in their order; components are free. */
struct myr_repair_step {
    uint32_t op;
    uint32_t at, to;         /* vertices */
    uint32_t far_at, far_to; /* the other ends of the cables there; MYR_NONE: no cable */
    uint32_t component;
    uint32_t legs; /* of a splitter's head that is moved as one plug; 0: a plug of one link */
    bool unseen;   /* 'to' was not looked at: check that it is free */
};

struct myr_repair {
    uint32_t moves; /* swaps count as one */
    uint32_t adds, removes;
    uint32_t lower_bound; /* on moves, with these adds and removes */
    bool exact;           /* nothing shorter exists */
    uint32_t components;
    uint32_t step_count;
    struct myr_repair_step *steps;
};

enum myr_pattern_kind {
    MYR_PATTERN_CAGE_HALVES_SWAPPED,
    MYR_PATTERN_BUNDLE_SHIFTED,
    MYR_PATTERN_LEAF_PAIR_EXCHANGED,
    MYR_PATTERN_DEVICES_EXCHANGED,
    MYR_PATTERN_RAILS_PERMUTED,
    MYR_PATTERN_RACK_ROTATED,
    MYR_PATTERN_SPLITTER_LEGS_CROSSED,
    MYR_PATTERN_BUNDLE_REVERSED,
    MYR_PATTERN_KIND_COUNT,
};

extern const char *const myr_pattern_kind_names[MYR_PATTERN_KIND_COUNT];

struct myr_pattern {
    uint32_t kind;
    uint32_t ports;       /* wrong ports that it explains, both ends of the cables */
    struct myr_str where; /* devices and ports, for people */
};
