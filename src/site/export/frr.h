/*
 * frr: FRR's configuration of one device, for whoever writes files for boxes that run FRR.
 */
#pragma once

#include "export/vrf.h"
#include "export/writers.h"
#include "myriad/site/addresses.h"

struct frr {
    const struct myr_export *job;
    const struct myr_addresses *addresses;
    const struct vrfs *vrfs; /* not in use without tenants */
    bool split;              /* several fabrics that do not meet */
    export_port_name *name;  /* of switches' ports; hosts have those of Linux */
    const void *context;
    struct myr_buf text; /* of the file being made */
};

void frr_init(struct frr *frr, const struct myr_export *job, const struct myr_addresses *addresses,
              const struct vrfs *vrfs);
void frr_done(struct frr *frr);
/* Appends the whole frr.conf of a device. */
void frr_put_device(struct frr *frr, uint32_t device);
