/* node_list: nodes as people write them, 3,7-9. */
#pragma once

#include "myriad/base.h"

/*
 * Sets the bits of the nodes listed; 'ret' has room for all nodes of the cluster, 64 a word. An
 * empty list, a node that the cluster has not and a range that runs backwards are errors, told with
 * their column: "list:1:5: ...".
 */
MYR_MUST_USE int myr_node_list_parse(const char *name, struct myr_str text, uint32_t nodes,
                                     uint64_t *ret, struct myr_err *err);
