/*
 * ends: the ends of found links, by the device that they are at.
 */
#pragma once

#include "verify/identify.h"

struct found_ends {
    const struct myr_cabling *cabling;
    uint32_t *first; /* by found device: its ends in 'ends', device_count + 1 */
    uint32_t *ends;  /* link * 2 + side */
};

void found_ends_fill(struct found_ends *ends, const struct myr_cabling *cabling,
                     struct myr_arena *arena);

static inline struct myr_cabling_end found_end(const struct found_ends *ends, uint32_t end)
{
    const struct myr_cabling_link *link = &ends->cabling->links.items[end / 2];
    return end & 1 ? link->b : link->a;
}

/* What the plan has where the other end of this cable is: a port, or MYR_NONE. */
static inline uint32_t found_planned(const struct found_ends *ends, const struct identify *identify,
                                     uint32_t end)
{
    uint32_t far = identify_port(identify, found_end(ends, end ^ 1));
    return far == MYR_NONE ? MYR_NONE : myr_design_peer(identify->design, far);
}
