/*
 * sonic_net: addresses, BGP and tenants of a switch, as tables of SONiC's config_db.
 */
#pragma once

#include "export/vrf.h"
#include "export/writers.h"
#include "myriad/site/addresses.h"
#include "myriad/text.h"

struct sonic_net {
    const struct myr_export *job;
    const struct myr_addresses *addresses;
    const struct vrfs *vrfs; /* not in use: the main table alone, and BGP as SONiC's templates do */
    export_port_name *name;
    const void *context; /* for 'name' */
    struct myr_json *json;
};

void sonic_net_put(struct sonic_net *net, uint32_t device);
