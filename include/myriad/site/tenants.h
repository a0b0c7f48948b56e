/*
 * tenants: which nodes belong to whom, for exports that keep tenants apart.
 *
 *     tenant,nodes
 *     research,0-31
 *     product,"32-40,44"
 *
 * Nodes are the numbers of the design's addresses (node/00042 is 42). A node has one tenant; nodes
 * of nobody are of none.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"

#define MYR_SITE_TENANTS_MAX 32000

struct myr_site_tenants {
    MYR_VEC(struct myr_str) names; /* in the order of the file */
    uint32_t *of_node;             /* by position of the node's device; MYR_NONE: nobody's */
};

/* The text of a list that a user names; what is none is refused. */
MYR_MUST_USE int myr_site_tenants_file(const char *path, struct myr_buf *ret, struct myr_err *err);
/* Texts live in the arena. 'file' is the name for messages. Release with myr_site_tenants_done() in
 * any case. */
MYR_MUST_USE int myr_site_tenants_read(struct myr_site_tenants *ret, struct myr_arena *arena,
                                       const struct myr_design *design, const char *file,
                                       struct myr_str text, struct myr_err *err);
void myr_site_tenants_done(struct myr_site_tenants *tenants);

/*
 * Whose host hangs on a port of the network: a tenant, the number of tenants for nobody's;
 * MYR_NONE: no host does.
 */
uint32_t myr_site_tenant_at(const struct myr_site_tenants *tenants, const struct myr_design *design,
                            enum myr_net_id net, uint32_t port);
