/*
 * tenant_tree: tenants by name, from a file or from the command line, and the jobs that are theirs.
 *
 * The file is YAML or JSON; everything in it may be left out:
 *
 *   tenants:
 *     research:
 *       weight: 3             # of its fair share among brothers
 *       cells: 1p,2g,4n       # pods, leaf groups, nodes; or {pods: 1, groups: 2, nodes: 4}
 *       tenants:
 *         vision: {weight: 2}
 *         language: {cells: 2n}
 *
 * A name stands once in the whole tree, because traces know tenants by one name. Tenants that a
 * trace has beside those of the tree are roots that own nothing.
 */
#pragma once

#include "myriad/sched/joblog.h"
#include "myriad/sched/tenant.h"

enum { MYR_TENANT_TREE_MAX = 100000, MYR_TENANT_WEIGHT_MAX = 1000000 };

struct myr_tenant_entry {
    const char *name;
    struct myr_tenant tenant; /* its parent is an index of an entry, in any order */
    bool wanted;              /* a trace without it is an error: it came from the command line */
};

struct myr_tenant_tree {
    MYR_VEC(struct myr_tenant_entry) entries;
    struct myr_strmap by_name;
    struct myr_arena arena;
};

void myr_tenant_tree_init(struct myr_tenant_tree *tree);
void myr_tenant_tree_done(struct myr_tenant_tree *tree);
MYR_MUST_USE int myr_tenant_tree_read(struct myr_tenant_tree *tree, const char *path,
                                      struct myr_err *err);
/* 'text' as YAML; 'file' is its name for messages. */
MYR_MUST_USE int myr_tenant_tree_parse(struct myr_tenant_tree *tree, const char *file,
                                       struct myr_str text, struct myr_err *err);
/*
 * "research/vision=2g,4n,3w": cells and weight of the last tenant of a path; parents that are new
 * are added. A name without a path may stand anywhere in the tree already.
 */
MYR_MUST_USE int myr_tenant_tree_own(struct myr_tenant_tree *tree, const char *text,
                                     struct myr_err *err);
/*
 * Tenants in the order that the queue wants, parents first, and the jobs of the trace with them:
 * its tenants, their names and its rows change. The result lives in the trace's arena.
 */
MYR_MUST_USE int myr_tenant_tree_join(const struct myr_tenant_tree *tree, struct myr_joblog *trace,
                                      struct myr_tenant **ret, struct myr_err *err);
