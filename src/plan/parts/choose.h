/* choose: the modules and the cable of a link, out of the catalogue or as the spec pins them. */
#pragma once

#include "fits.h"

/* What may be chosen for a link. */
struct link_need {
    struct fit_link link;  /* a: the lower end, or host; b: the upper */
    struct fit_parts pins; /* MYR_PART_NONE where the choice is free */
    bool fixed_only;       /* access networks: ends are part of the cable */
    bool no_fixed;         /* other kinds of hosts share the cages */
    uint32_t same_b;       /* the module that other hosts of these cages have, or MYR_PART_NONE */
};

/* The shortest cable with fixed ends that fits, of equal ones copper; or MYR_PART_NONE. A pinned
 * module asks for fibre and so rules all of them out. */
uint32_t plan_choose_fixed(const struct plan *plan, const struct link_need *need);
/*
 * Fills 'ret'; false when nothing fits and nothing is pinned. What pinned parts break, and that
 * nothing fits, becomes findings at 'where'; NULL: only tries.
 */
bool plan_choose_parts(struct plan *plan, const char *where, const struct link_need *need,
                       struct fit_parts *ret);
