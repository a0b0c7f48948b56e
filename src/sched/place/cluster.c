#include "myriad/sched/cluster.h"

/*
 * The cluster of a question: from a design, or from numbers with usual values for what is not
 * given; which of them were assumed is told, so that an answer can say so.
 */

/* The design is closed again: only its shape is kept. */
static int of_design(const char *path, struct myr_cluster *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_design_close) struct myr_design design = {};
    MYR_TRY(myr_design_open(&design, path, err));
    MYR_TRY(myr_design_one_kind(&design, path, err));
    /* A design says everything: nothing is assumed. */
    *ret = (struct myr_cluster){.shape = myr_place_shape_of(&design), .from_design = true};
    if (ret->shape.gpus_per_node > MYR_SCHED_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: nodes of %u GPUs, expected at most %d", path,
                           ret->shape.gpus_per_node, MYR_SCHED_GPUS_MAX);
    }
    return MYR_OK;
}

/* A number of the question, or what is taken where it is not given. */
static int count_of(const char *word, uint64_t given, uint32_t usual, uint32_t most, uint32_t *ret,
                    struct myr_err *err)
{
    if (given > most) {
        return myr_err_set(err, MYR_ERANGE, "--%s %llu, expected at most %u", word,
                           (unsigned long long)given, most);
    }
    *ret = given ? (uint32_t)given : usual;
    return MYR_OK;
}

/* Groups and pods that do not fit each other are refused. */
static int of_numbers(const struct myr_cluster_question *question, struct myr_cluster *ret,
                      struct myr_err *err)
{
    struct myr_place_shape shape = {};
    MYR_TRY(count_of("nodes", question->nodes, 0, MYR_CLUSTER_NODES_MAX, &shape.nodes, err));
    MYR_TRY(count_of("gpus-per-node", question->gpus_per_node, MYR_CLUSTER_GPUS_PER_NODE,
                     MYR_SCHED_GPUS_MAX, &shape.gpus_per_node, err));
    MYR_TRY(count_of("leaf-nodes", question->leaf_nodes, MYR_CLUSTER_LEAF_NODES,
                     MYR_CLUSTER_NODES_MAX, &shape.group_nodes, err));
    MYR_ASSERT(shape.nodes > 0 && shape.gpus_per_node > 0 && shape.group_nodes > 0);
    /* Without pods there is one that holds all nodes, in whole groups. */
    uint32_t groups = (shape.nodes + shape.group_nodes - 1) / shape.group_nodes;
    /* A pod in whole groups may be a little larger than the most nodes there are. */
    MYR_TRY(count_of("pod-nodes", question->pod_nodes, groups * shape.group_nodes,
                     2 * MYR_CLUSTER_NODES_MAX, &shape.pod_nodes, err));
    if (shape.pod_nodes % shape.group_nodes != 0) {
        return myr_err_set(err, MYR_EINVAL, "--pod-nodes %u is not a multiple of --leaf-nodes %u",
                           shape.pod_nodes, shape.group_nodes);
    }
    *ret = (struct myr_cluster){.shape = shape,
                                .assumed_gpus_per_node = question->gpus_per_node == 0,
                                .assumed_leaf_nodes = question->leaf_nodes == 0};
    return MYR_OK;
}

int myr_cluster_of(const struct myr_cluster_question *question, struct myr_cluster *ret,
                   struct myr_err *err)
{
    bool numbers =
        question->nodes || question->gpus_per_node || question->leaf_nodes || question->pod_nodes;
    /* One of both: it is never guessed which was meant. */
    if (question->design && numbers) {
        int rc = myr_err_set(err, MYR_EINVAL, "the cluster is given twice");
        myr_err_hint(err, "--design FILE, or --nodes and its kin, not both");
        return rc;
    }
    if (question->design) {
        return of_design(question->design, ret, err);
    }
    if (!question->nodes) {
        int rc = myr_err_set(err, MYR_EINVAL, "no cluster is given");
        myr_err_hint(err, "--design FILE, or --nodes N with --gpus-per-node and --leaf-nodes");
        return rc;
    }
    return of_numbers(question, ret, err);
}
