#include "export/vrf.h"

/*
 * Which table each port of a leaf is in follows from the host at its other end; numbers of tables
 * are those of tenants, and the one behind them is nobody's.
 */

enum { NAME_BYTES_MAX = 11 }; /* an interface has 15, "Vrf-" is four */

/* Without a list of tenants there are no tables but the main one. */
int vrfs_init(struct vrfs *vrfs, struct myr_arena *arena, const struct myr_export *job,
              struct myr_err *err)
{
    *vrfs = (struct vrfs){.job = job, .used = job->tenants != NULL};
    if (!vrfs->used) {
        return MYR_OK;
    }
    MYR_TRY(myr_site_tenants_file(job->tenants, &vrfs->list, err));
    struct myr_str list = {vrfs->list.len ? vrfs->list.data : "", vrfs->list.len};
    return myr_site_tenants_read(&vrfs->tenants, arena, job->design, job->tenants, list, err);
}

void vrfs_done(struct vrfs *vrfs)
{
    myr_site_tenants_done(&vrfs->tenants);
    myr_buf_done(&vrfs->list);
}

bool vrf_has_vni(const struct vrfs *vrfs, uint32_t vrf)
{
    return vrf < vrfs->tenants.names.count;
}

uint32_t vrf_at(const struct vrfs *vrfs, uint32_t port)
{
    const struct myr_design *design = vrfs->job->design;
    uint32_t kind = design->place[design->port_device[port]].kind;
    return vrfs->used && (kind == MYR_DEVICE_LEAF || kind == MYR_DEVICE_ROUTER)
               ? myr_site_tenant_at(&vrfs->tenants, design, vrfs->job->net, port)
               : MYR_NONE;
}

/* Looks at all ports each time: a leaf has few, and no list is kept. */
uint32_t vrf_next(const struct vrfs *vrfs, uint32_t device, uint32_t from)
{
    const struct myr_design *design = vrfs->job->design;
    uint32_t next = MYR_NONE;
    for (uint32_t p = design->first_port[device]; vrfs->used && p < design->first_port[device + 1];
         p++) {
        uint32_t vrf = vrf_at(vrfs, p);
        next = vrf != MYR_NONE && vrf >= from && vrf < next ? vrf : next;
    }
    return next;
}

void vrf_put_name(const struct vrfs *vrfs, uint32_t vrf, struct myr_buf *buf)
{
    if (!vrf_has_vni(vrfs, vrf)) {
        myr_buf_put_lit(buf, "Vrf_none"); /* those of short names go on with '-' */
        return;
    }
    struct myr_str name = vrfs->tenants.names.items[vrf];
    if (name.len > NAME_BYTES_MAX) {
        myr_buf_printf(buf, "Vrf_t%u", vrf + 1);
        return;
    }
    myr_buf_put_lit(buf, "Vrf-");
    myr_buf_put(buf, name.data, name.len);
}
