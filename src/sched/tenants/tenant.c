#include "myriad/sched/tenant.h"

#include "myriad/text/amount.h"

uint32_t myr_cell_nodes(const struct myr_place_shape *shape, enum myr_cell_level level)
{
    return level == MYR_CELL_POD     ? shape->pod_nodes
           : level == MYR_CELL_GROUP ? shape->group_nodes
                                     : 1;
}

uint64_t myr_tenant_nodes(const struct myr_tenant *tenant, const struct myr_place_shape *shape)
{
    uint64_t nodes = 0;
    for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
        nodes += (uint64_t)tenant->cells[level] * myr_cell_nodes(shape, (enum myr_cell_level)level);
    }
    return nodes;
}

/*
 * Limits of a tree of tenants; everything that uses one relies on parents coming before children,
 * so that no path runs in a circle.
 */

int myr_tenants_check(const struct myr_tenant *tenants, uint32_t count,
                      const struct myr_place_shape *shape, struct myr_err *err)
{
    uint64_t nodes = 0, whole = 0;
    uint32_t depth[MYR_TENANT_DEPTH_MAX + 1];
    if (count == 0 || count > MYR_TENANTS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%u tenants, expected 1 to %d", count, MYR_TENANTS_MAX);
    }
    /* Up to its root from each tenant: paths are short. */
    for (uint32_t t = 0; t < count; t++) {
        depth[0] = 0;
        for (uint32_t a = t; a != MYR_NONE; a = tenants[a].parent) {
            if (tenants[a].parent != MYR_NONE && tenants[a].parent >= a) {
                return myr_err_set(err, MYR_EINVAL, "tenant %u: its parent must come before it", a);
            }
            if (++depth[0] > MYR_TENANT_DEPTH_MAX) {
                return myr_err_set(err, MYR_EINVAL, "tenant %u: more than %d levels", t,
                                   MYR_TENANT_DEPTH_MAX);
            }
        }
        for (uint32_t level = 0; level < MYR_CELL_LEVELS; level++) {
            uint64_t owned = (uint64_t)tenants[t].cells[level] *
                             myr_cell_nodes(shape, (enum myr_cell_level)level);
            nodes += owned;
            whole += level != MYR_CELL_NODE ? owned : 0;
        }
    }
    /* Whole groups and pods are not found in a last group that is not full. */
    uint64_t full = shape->nodes / shape->group_nodes * shape->group_nodes;
    if (nodes > shape->nodes || whole > full) {
        return myr_err_set(err, MYR_EINVAL, "the tenants own %s, the cluster has %u",
                           MYR_COUNT(nodes, "node"), shape->nodes);
    }
    return MYR_OK;
}
