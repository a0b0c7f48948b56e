/*
 * cluster: the cluster that a question is about, from a design or from a few numbers.
 *
 * What was not said and had to be taken for granted is marked: an answer that hides what it assumed
 * is an answer to another question.
 */
#pragma once

#include "myriad/sched/place.h"

#define MYR_CLUSTER_NODES_MAX 1000000U

/* NULL and 0: not given. */
struct myr_cluster_question {
    const char *design; /* a file; then none of the others */
    uint64_t nodes, gpus_per_node;
    uint64_t leaf_nodes; /* under one set of leaves */
    uint64_t pod_nodes;  /* a multiple of leaf_nodes; without it there are no pods */
};

struct myr_cluster {
    struct myr_place_shape shape;
    bool from_design;
    bool assumed_gpus_per_node, assumed_leaf_nodes;
};

enum { MYR_CLUSTER_GPUS_PER_NODE = 8, MYR_CLUSTER_LEAF_NODES = 8 }; /* where they are not given */

/* MYR_EINVAL when neither a design nor the number of nodes is given, or both are. */
MYR_MUST_USE int myr_cluster_of(const struct myr_cluster_question *question,
                                struct myr_cluster *ret, struct myr_err *err);
