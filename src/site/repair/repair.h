/*
 * repair: the fewest moves from the found matching to the planned one.
 *
 * The difference of two matchings falls apart into alternating cycles and paths. With k found
 * cables in a component, a cycle takes k - 1 moves; a path takes k when it runs from an empty
 * planned port to a cable in an unplanned one; k and one new cable when it runs between empty
 * ports; k - 1 and one cable taken out when it runs between unplanned ones. docs/verify.md shows
 * that no other way is shorter.
 */
#pragma once

#include "myriad/site/verify.h"

struct repair_graph {
    const struct myr_design *design;
    uint32_t vertex_count;        /* ports of the design, then ends outside of it */
    const uint32_t *plan, *found; /* by vertex */
    const uint8_t *state;         /* by port of the design: empty ports are missing or unseen */
};

void repair_labelled(const struct repair_graph *graph, struct myr_arena *arena,
                     struct myr_repair *ret);

/* How far a crew walks between two devices: 0 the same, 1 one rack or rail group, 2 a pod, 3. */
uint32_t repair_distance(const struct myr_design *design, uint32_t device_a, uint32_t device_b);
/* Order of walking past devices: by rack when racks are known, else by pod and rail group. */
uint64_t repair_walk_key(const struct myr_design *design, uint32_t device);
/* The pod that a device stands in; cores stand in none, which is a number beyond all pods. */
uint32_t repair_pod(const struct myr_design *design, uint32_t device);
