/*
 * tenant: who owns which part of the cluster.
 *
 * A tenant owns cells: so many nodes, groups (the nodes of one set of leaves) and pods, not a count
 * of GPUs. So a gang that fits into the tenant's own cells finds them whole, as in a cluster of its
 * own; quotas in GPUs give a right that fragmentation can make worthless (HiveD, OSDI 2020, calls
 * this the sharing anomaly). A cell is bound to a place only while its owner uses it: until then
 * others borrow it, and are stopped when the owner needs it.
 *
 * Tenants form trees. A job looks for room in the cells of its tenant, then of the tenant's parent,
 * and so on up, then in the common nodes and idle cells of others.
 */
#pragma once

#include "myriad/sched/place.h"

enum { MYR_TENANT_DEPTH_MAX = 4, MYR_TENANTS_MAX = 1 << 20 };

enum myr_cell_level { MYR_CELL_NODE, MYR_CELL_GROUP, MYR_CELL_POD, MYR_CELL_LEVELS };

struct myr_tenant {
    uint32_t parent;                 /* an earlier tenant, or MYR_NONE */
    uint32_t weight;                 /* in the fair share among brothers; 0 counts as 1 */
    uint32_t cells[MYR_CELL_LEVELS]; /* beside those of its children */
};

/* Nodes of one cell. */
uint32_t myr_cell_nodes(const struct myr_place_shape *shape, enum myr_cell_level level);
/* That it owns itself. */
uint64_t myr_tenant_nodes(const struct myr_tenant *tenant, const struct myr_place_shape *shape);
/* Whether the tenants make a tree, and the cluster holds all their cells. */
MYR_MUST_USE int myr_tenants_check(const struct myr_tenant *tenants, uint32_t count,
                                   const struct myr_place_shape *shape, struct myr_err *err);
