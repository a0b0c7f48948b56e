/*
 * nic_names: what hosts call the ports that the design calls nic0, nic1 and so on: as the user told
 * it, as it was taken for granted, and where nothing but a cable says it.
 */
#pragma once

#include "myriad/site/cabling.h"

/* "mlx5_3" is the port that the design calls "nic1", on all hosts. */
struct myr_hca_name {
    struct myr_str name, port;
};

/* The same, taken for granted because so many of the hosts that can tell agree on it. */
struct myr_assumed {
    uint32_t type, index; /* type of device, and the port's index on it */
    struct myr_str name;
    uint32_t votes, voters;
    bool against_order; /* ports do not rise as the names of these hosts do */
};

/* A port of a host of which its own cable alone says which it is: no proof, and unread. */
struct myr_wired {
    struct myr_cabling_end end; /* as found; InfiniBand's NICs are devices of their own */
    uint32_t port;              /* of the design */
};
