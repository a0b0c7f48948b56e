/*
 * naming: which port of its device a name means that the design does not know ("mlx5_3", "ens1np0",
 * a MAC address).
 *
 * A cable to a known port says it for one device. Devices of one type mostly call their ports
 * alike, so what a name means on most of them it means on all: a device whose cable says otherwise
 * is miscabled. Names that only one device has are taken as its cables say.
 */
#pragma once

#include "verify/ends.h"

/* One port of one found thing. */
struct unit {
    uint32_t device;     /* of the design: whose port it is */
    uint32_t found;      /* device of the cabling */
    uint32_t planned;    /* what its cable says: a port of any device; MYR_NONE: nothing */
    uint32_t port;       /* what it is; MYR_NONE: not told */
    struct myr_str name; /* may be empty */
    bool hearsay;        /* only the other end tells of it */
};

struct unit_list {
    struct unit *items;
    size_t count;
    size_t capacity;
};

/* The ports of known devices whose names the design does not know. */
void naming_collect(const struct identify *identify, const struct found_ends *ends,
                    struct unit_list *ret);

/* Fills 'port'. 'nets' are those that are judged, as bits. */
void naming_settle(const struct identify *identify, uint32_t nets, struct unit_list *units);
