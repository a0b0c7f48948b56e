/*
 * blame: whom the others wait for.
 *
 * Members show when they began a call, on the clock that they share. The last one stands out when
 * it came later than the one before it by a thirtieth of the time since the call before: then the
 * others have lost that much to it alone. Who stands out in three calls one after another is named,
 * and is no longer when it does not in one. A member that is slow by a tenth is so in each call; by
 * chance the same one hardly is three times. Two that are equally slow hide each other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CCL_BLAME_SHARE 30 /* of the time between two calls */
#define CCL_BLAME_CALLS 3

struct ccl_arrivals {
    uint32_t count, last; /* the rank that came last */
    int64_t last_ns, before_ns;
};

struct ccl_blame {
    int64_t call_ns; /* when the call before began at its last member */
    uint32_t rank;   /* who stood out last, in so many calls */
    uint32_t calls;
};

void ccl_arrivals_add(struct ccl_arrivals *arrivals, uint32_t rank, int64_t at_ns);
void ccl_blame_note(struct ccl_blame *blame, const struct ccl_arrivals *arrivals);
bool ccl_blame_named(const struct ccl_blame *blame, uint32_t *ret_rank);
