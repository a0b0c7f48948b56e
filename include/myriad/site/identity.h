/*
 * identity: which found device is which place of the design, as verify found it out: told by
 * cables, called as another place, another one than was bound, or one of several that look alike.
 */
#pragma once

#include <stdint.h>

/* Consecutive ports of the design: a whole device, or one port of a host; count 0: not known. */
struct myr_port_span {
    uint32_t first, count;
};

/* Found devices whose name says nothing, or says what the wiring denies. */
struct myr_identity {
    uint32_t found;      /* device of the cabling */
    uint32_t first_port; /* what it is: the first of its ports in the design */
    uint32_t votes, links;
};

/* A host that is called as another place than the one where its cables are: it needs its name. */
struct myr_renamed {
    uint32_t found; /* device of the cabling: it, or its first NIC */
    uint32_t
        called;  /* device of the design that has its name; MYR_NONE: a number beyond the plan's */
    uint32_t is; /* device of the design */
};

/* A place where another device stands than the one that was bound to it. */
struct myr_replaced {
    uint32_t found, device;
};

struct myr_ambiguity {
    uint32_t found_count, design_count; /* so many found devices are some of so many */
    uint32_t found, first_port;         /* one of each */
};
