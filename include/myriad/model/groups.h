/*
 * groups: servers of several kinds in one cluster. A spec names them, a design keeps them.
 *
 * Nodes are counted through all groups in the order of the spec, so that ids and names do not
 * depend on how many groups there are. Groups that hang on the compute network come first: paths
 * over it follow from a node's number.
 */
#pragma once

#include <stdint.h>

#define MYR_GROUPS_MAX 16

struct myr_doc;

struct myr_spec_group {
    const char *name;
    uint32_t servers, server_part;
    uint32_t networks; /* bit n: on network n of those that the spec has */
    const struct myr_doc *node;
};

/* As it lies in a design file. */
struct myr_server_group {
    uint32_t name, server_part, gpu_part; /* strings */
    uint32_t servers, first_node, nodes;  /* first_node counts from the first of all nodes */
    uint32_t nodes_per_server, gpus_per_node, scale_up_gpus, scale_up_gbps;
    uint32_t networks;
    uint32_t pad;
};
