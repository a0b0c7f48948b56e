/*
 * coverage: how much of the plan was seen, by layer, pod and rack. What nobody looked at is not
 * right, and what could not be read neither. What is there but ill has a reason.
 */
#pragma once

#include <stdint.h>

/* Cables of the plan, as far as they are there: of a layer, a pod or a rack, or of all. */
struct myr_ready {
    uint32_t key; /* layer, pod or rack */
    uint32_t cables, right;
    uint32_t unseen, unread, bad; /* the others: not seen, not read, wrong or missing or degraded */
};

/* What is the matter with a degraded link. */
enum myr_degraded_why {
    MYR_WHY_SPEED,
    MYR_WHY_ERRORS,
    MYR_WHY_BER,
    MYR_WHY_FEC,
    MYR_WHY_MEDIUM,
    MYR_WHY_DIRTY, /* one lane gets much less light than the next */
    MYR_WHY_LIGHT, /* more or less light than such modules send or take */
    MYR_WHYS,
};

struct myr_coverage {
    struct myr_ready all;
    uint32_t layer_count, pod_count, rack_count;
    struct myr_ready *layers, *pods, *racks; /* of a rack: cables of which an end is in it */
    uint32_t absent_count;
    uint32_t *absent; /* devices of the plan that no source knows */
};
