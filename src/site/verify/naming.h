/*
 * naming: which port of its device a name means that the design does not know ("mlx5_3", "ens1np0",
 * a MAC address).
 *
 * Names are those of hosts; switches have rules (spelling.h). The user may have told the map, or
 * the server's model be known by the set of its names. Else a cable to a known port says it for one
 * host, and what nine in ten hosts agree on is assumed for all: a host whose cable says otherwise
 * is miscabled. What fewer agree on, and names that only one host has, are not read.
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

/* Fills 'port', and what of it was assumed in the verify. */
void naming_settle(const struct identify *identify, struct myr_verify *verify,
                   struct unit_list *units);

/*
 * By device of the design: most of its cables to other switches are another device's. Two leaves
 * that changed places look from their hosts as if the hosts counted their NICs otherwise.
 */
uint8_t *naming_doubtful(const struct identify *identify);
