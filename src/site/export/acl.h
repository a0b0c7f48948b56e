/*
 * acl: tenants kept apart by filters on the leaves' host ports, as SONiC's ACL_TABLE and ACL_RULE.
 *
 * What a tenant's host sends into the fabric may go to the links and loopbacks of that tenant's
 * nodes, and to nothing else of the fabric's addresses. Nodes of nobody reach their leaf alone, so
 * that their routing stays up. A filter is a table a tenant on each leaf that has some of its
 * nodes; addresses that follow each other are one rule.
 */
#pragma once

#include "export/writers.h"
#include "myriad/site/addresses.h"
#include "myriad/site/tenants.h"
#include "myriad/text.h"

/* What the tables of a box hold at least, as assumed: beyond it nothing is written. */
#define ACL_RULES_MAX 1000

/* Addresses with equal upper bits. */
struct acl_prefix {
    uint32_t address, bits; /* bits that count, from the top */
};

struct acl_tenant {
    struct acl_prefix *prefixes; /* what its hosts may reach */
    uint32_t count;
};

struct acl {
    const struct myr_export *job;
    const struct myr_addresses *addresses;
    struct myr_buf list; /* of tenants: their names are parts of it */
    struct myr_site_tenants tenants;
    struct acl_tenant *items; /* by tenant */
    bool used;                /* there is a list of tenants */
};

/* Without a list of tenants, or with VRFs for them, there are no filters. Release with acl_done()
 * in any case. */
MYR_MUST_USE int acl_init(struct acl *acl, struct myr_arena *arena, const struct myr_export *job,
                          const struct myr_addresses *addresses, struct myr_err *err);
void acl_done(struct acl *acl);

/* The two tables of a switch; of one without hosts none. */
MYR_MUST_USE int acl_put(const struct acl *acl, struct myr_json *json, uint32_t device,
                         export_port_name *name, const void *context, struct myr_err *err);
