/* Server groups of a design. */
#include "myriad/model/design.h"

/*
 * In what job placement, routing and simulation count by: GPUs, their domain, the compute network.
 */
static bool alike(const struct myr_server_group *a, const struct myr_server_group *b)
{
    return a->gpus_per_node == b->gpus_per_node && a->gpu_part == b->gpu_part &&
           a->scale_up_gpus == b->scale_up_gpus && a->scale_up_gbps == b->scale_up_gbps &&
           a->nodes_per_server == b->nodes_per_server && (a->networks & 1) == (b->networks & 1);
}

/* For whoever counts GPUs by node: 'name' is what the message begins with. */
int myr_design_one_kind(const struct myr_design *design, const char *name, struct myr_err *err)
{
    for (uint32_t i = 1; i < design->group_count; i++) {
        const struct myr_server_group *a = &design->groups[0], *b = &design->groups[i];
        if (!alike(a, b)) {
            int rc = myr_err_set(
                err, MYR_EINVAL,
                "%s: nodes of different kinds: group '%.40s' has %u x %.40s a node%s, group "
                "'%.40s' %u x %.40s%s; one kind is expected here",
                name, myr_design_str(design, a->name), a->gpus_per_node,
                myr_design_str(design, a->gpu_part),
                a->networks & 1 ? "" : " off the compute network", myr_design_str(design, b->name),
                b->gpus_per_node, myr_design_str(design, b->gpu_part),
                b->networks & 1 ? "" : " off the compute network");
            myr_err_hint(err, "plan the groups one by one: a spec with that group alone");
            return rc;
        }
    }
    return MYR_OK;
}
