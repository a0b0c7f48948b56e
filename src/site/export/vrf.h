/*
 * vrf: tenants kept apart by routing tables of their own, one a tenant on each leaf that has some
 * of its nodes, joined over the fabric as EVPN does it: a VXLAN network identifier (VNI) a tenant,
 * routes between leaves as type 5, spines that only pass them on. A leaf's link to a host is in
 * the table of the host's tenant; nodes of nobody share a table that leads nowhere.
 */
#pragma once

#include "export/writers.h"
#include "myriad/site/addresses.h"
#include "myriad/site/tenants.h"

/* Of the first tenant; above what people give by hand. */
#define VRF_FIRST_VNI 10001
/* The same route target for a tenant on every leaf, whatever the leaf's AS number. */
#define VRF_TARGET_AS 65000

struct vrfs {
    const struct myr_export *job;
    struct myr_buf list; /* of tenants: their names are parts of it */
    struct myr_site_tenants tenants;
    bool used; /* there is a list of tenants */
};

/* Reads the list of tenants if there is one. Release with vrfs_done() in any case. */
MYR_MUST_USE int vrfs_init(struct vrfs *vrfs, struct myr_arena *arena, const struct myr_export *job,
                           struct myr_err *err);
void vrfs_done(struct vrfs *vrfs);

/* The table of a leaf's port: a tenant, the number of tenants for nobody's; MYR_NONE: none. */
uint32_t vrf_at(const struct vrfs *vrfs, uint32_t port);
/* The lowest table from that one on that has ports of a leaf; nobody's is the last; MYR_NONE. */
uint32_t vrf_next(const struct vrfs *vrfs, uint32_t device, uint32_t from);
/* False for nobody's: it has no network of its own between leaves. */
bool vrf_has_vni(const struct vrfs *vrfs, uint32_t vrf);
/* "Vrf-research"; interfaces have 15 letters, so a long name becomes "Vrf_t12", its number. */
void vrf_put_name(const struct vrfs *vrfs, uint32_t vrf, struct myr_buf *buf);

#define EACH_VRF(vrfs, device, v)                                 \
    for (uint32_t v = vrf_next(vrfs, device, 0); (v) != MYR_NONE; \
         (v) = vrf_next(vrfs, device, (v) + 1))
