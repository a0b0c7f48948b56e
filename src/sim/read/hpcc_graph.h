/* HPCC's topology as a graph: what is read of the file, and what a Clos is found in. */
#pragma once

#include "read/text.h"

/* Tiers from the bottom up, so that the next one is one more; NONE is a switch not reached yet. */
enum level { LEVEL_HOST, LEVEL_LEAF, LEVEL_SPINE, LEVEL_CORE, LEVEL_NONE };

struct wire {
    uint32_t a, b; /* after the levels are known: a is the lower */
    uint32_t gbps;
    myr_ps delay;
    struct scan_place place;
};

struct topology {
    struct scan *scan;
    struct myr_arena *scratch; /* all arrays below */
    uint32_t nodes, switches, wires;
    uint8_t *level;    /* by node */
    uint32_t *up;      /* by node: links to the level above */
    uint32_t *down;    /* and below */
    uint32_t *above;   /* a host's leaf; a leaf's first spine; a spine's first core */
    bool *first_leaf;  /* by node: the first of its pod */
    struct wire *list; /* sorted by ends, once the levels are known */
};

/* The ids of the switches, on a line; then the links, a line each. */
MYR_MUST_USE int hpcc_read_switches(struct topology *topology, struct myr_err *err);
MYR_MUST_USE int hpcc_read_wires(struct topology *topology, struct myr_err *err);
/* Arrays for what the counts promise; refused where the file is too short for it. */
MYR_MUST_USE int hpcc_open(struct topology *topology, struct myr_err *err);

/*
 * Hosts with two links, on two leaves: the second of them, its leaves and what only these lead to
 * are taken out, when they mirror the first. How many planes there are.
 */
MYR_MUST_USE int hpcc_fold(struct topology *topology, uint32_t *ret_planes, struct myr_err *err);

/* Whether the graph is a Clos whose parts are alike, and which; the graph is sorted on the way. */
MYR_MUST_USE int hpcc_find_shape(struct topology *topology, struct myr_clos_shape *ret,
                                 struct myr_err *err);
