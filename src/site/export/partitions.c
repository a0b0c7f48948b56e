#include "export/writers.h"
#include "guids.h"
#include "myriad/site/tenants.h"

/*
 * OpenSM's partitions.conf: a key for each tenant. In the default partition all hosts are limited
 * members, who reach the subnet manager and no other host; in its own one every port of a tenant is
 * a full member. Nodes of nobody are in the default one alone.
 */

/* Of the list of tenants; keys begin at 1 and are below the default's 0x7fff. */
enum { FIRST_KEY = 1 };

/* Host ports are at end a of their links. A tenant without a port here has an empty list. */
static void put_members(struct myr_buf *buf, const struct myr_export *job,
                        const struct myr_site_tenants *tenants, uint32_t tenant)
{
    const struct myr_design *design = job->design;
    bool any = false;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t port = design->link_a[link];
        const struct myr_port_group *group = myr_design_port_group(design, port);
        if (group->role == MYR_PORT_NIC && group->net == job->net &&
            tenants->of_node[design->port_device[port]] == tenant) {
            myr_buf_printf(buf, "%s    0x%016llx=full", any ? ",\n" : "",
                           (unsigned long long)guids_port(design, job->binding, port));
            any = true;
        }
    }
}

/* OpenSM's own name, in any case as it compares them, would be there twice. */
static int check_names(const char *file, const struct myr_site_tenants *tenants,
                       struct myr_err *err)
{
    for (uint32_t i = 0; i < tenants->names.count; i++) {
        struct myr_str name = tenants->names.items[i];
        if (myr_str_eq_nocase(name, MYR_STR("Default"))) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s: a tenant is called '%.*s', which is the partition of all "
                               "hosts",
                               myr_file_name(file), (int)name.len, name.data);
        }
    }
    return MYR_OK;
}

int export_partitions(const struct myr_export *job, const struct myr_export_sink *sink,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_site_tenants_done) struct myr_site_tenants tenants = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_arena_init(&arena);
    if (export_technology(job, job->net) == MYR_TECH_ETHERNET) {
        return myr_err_set(err, MYR_EINVAL,
                           "partitions are InfiniBand's, and the %s network is "
                           "Ethernet",
                           myr_net_names[job->net]);
    }
    if (!job->tenants) {
        int rc = myr_err_set(err, MYR_EINVAL, "partitions need a list of tenants");
        myr_err_hint(err, "--tenants FILE: a CSV list with the columns tenant and nodes");
        return rc;
    }
    MYR_TRY(myr_site_tenants_file(job->tenants, &list, err));
    struct myr_str words = {list.len ? list.data : "", list.len};
    MYR_TRY(myr_site_tenants_read(&tenants, &arena, job->design, job->tenants, words, err));
    MYR_TRY(check_names(job->tenants, &tenants, err));
    myr_buf_put_lit(&text, "# Everybody reaches the subnet manager, and nobody else by this key.\n"
                           "Default=0x7fff, ipoib : ALL=limited, ALL_SWITCHES=full, SELF=full;\n");
    for (uint32_t i = 0; i < tenants.names.count; i++) {
        /* A full member sees the key with the highest bit set. */
        myr_buf_printf(&text,
                       "\n# Jobs of this tenant: NCCL_IB_PKEY is the place of 0x%04x in the "
                       "port's table.\n%.*s=0x%04x :\n",
                       0x8000 | (FIRST_KEY + i), (int)tenants.names.items[i].len,
                       tenants.names.items[i].data, FIRST_KEY + i);
        put_members(&text, job, &tenants, i);
        myr_buf_put_lit(&text, ";\n");
    }
    return export_put(sink, "partitions.conf", &text, err);
}
