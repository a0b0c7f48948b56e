/*
 * naming: which port of its host a name means that the design does not know ("mlx5_3", "ens1np0").
 *
 * Names are those of hosts; switches have rules (spelling.h). Hosts that call their ports alike
 * have one habit, and one map of names. The user may have told it, or the server's model be known
 * by the set of its names. Else it is the one that explains the most cables: of each name, where
 * more than half of those cables lead that lead to a place of their host at all. A host whose cable
 * says otherwise is miscabled. What less agree on is not read.
 */
#pragma once

#include "verify/ends.h"

/* One port of one host. */
struct unit {
    uint32_t host;       /* whose it is, of the hosts */
    uint32_t device;     /* of the design: the place of its host; MYR_NONE: none */
    uint32_t found;      /* device of the cabling */
    uint32_t planned;    /* what its cable says: a port of any device; MYR_NONE: nothing */
    uint32_t known;      /* index of the port that the design, or the binding, calls so */
    uint32_t said;       /* index of the port that its name means; MYR_NONE: it says nothing */
    uint32_t port;       /* what it is; MYR_NONE: not told */
    struct myr_str name; /* may be empty */
    bool hearsay;        /* only the other end tells of it */
    bool address;        /* the name is a MAC address: it says nothing about other hosts */
};

struct unit_list {
    struct unit *items;
    size_t count;
    size_t capacity;
};

/* Fills 'port', and what of it was assumed in the verify; 'said' is kept for whoever asks again. */
void naming_settle(const struct identify *identify, struct myr_verify *verify,
                   struct unit_list *units);

/*
 * By device of the design: most of its cables to other switches are another device's. Two leaves
 * that changed places look from their hosts as if the hosts counted their NICs otherwise.
 */
uint8_t *naming_doubtful(const struct identify *identify);
