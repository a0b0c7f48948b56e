#include "export/writers.h"

int export_put(const struct myr_export_sink *sink, const char *name, struct myr_buf *text,
               struct myr_err *err)
{
    int rc = sink->put(sink->context, name, text, err);
    myr_buf_clear(text);
    return rc;
}

/* By name: a design keeps names of parts, not rows of the catalogue it was made with. */
const struct myr_part *export_part(const struct myr_export *job, uint32_t device)
{
    const struct myr_design *design = job->design;
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    if (!job->catalog || type->part == 0) {
        return NULL;
    }
    uint32_t part =
        myr_catalog_find(job->catalog, myr_str_from(myr_design_str(design, type->part)));
    return part == MYR_PART_NONE ? NULL : &job->catalog->parts.items[part];
}

enum myr_technology export_technology(const struct myr_export *job, enum myr_net_id net)
{
    const struct myr_network *network = &job->design->networks[net];
    /* Access networks are Ethernet whatever the parts are. */
    if (network->access) {
        return MYR_TECH_ETHERNET;
    }
    const struct myr_part *part = network->leaf ? export_part(job, network->first_leaf) : NULL;
    return part && part->kind == MYR_PART_SWITCH ? (enum myr_technology)part->sw.technology
                                                 : MYR_TECH_ANY;
}
