/* The cluster that an answer is about. */
#include "sched/sched.h"

/* What was assumed is named: figures rest on it as much as on what was given. */
void sched_put_cluster(struct myr_answer *answer, const struct myr_cluster *cluster)
{
    myr_answer_object(answer, "cluster");
    myr_answer_text(answer, "source", cluster->from_design ? "design" : "options");
    myr_answer_u64(answer, "nodes", cluster->shape.nodes);
    myr_answer_u64(answer, "gpus_per_node", cluster->shape.gpus_per_node);
    myr_answer_u64(answer, "leaf_nodes", cluster->shape.group_nodes);
    myr_answer_u64(answer, "pod_nodes", cluster->shape.pod_nodes);
    myr_answer_list(answer, "assumed");
    if (cluster->assumed_gpus_per_node) {
        myr_answer_text(answer, NULL, "gpus_per_node");
    }
    if (cluster->assumed_leaf_nodes) {
        myr_answer_text(answer, NULL, "leaf_nodes");
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

void sched_show_cluster(struct myr_answer *answer, const struct myr_cluster *cluster)
{
    const struct myr_place_shape *shape = &cluster->shape;
    myr_answer_fact(
        answer, "cluster", "%s of %s%s, %s a leaf%s", MYR_COUNT(shape->nodes, "node"),
        MYR_COUNT(shape->gpus_per_node, "GPU"), cluster->assumed_gpus_per_node ? " (assumed)" : "",
        MYR_COUNT(shape->group_nodes, "node"), cluster->assumed_leaf_nodes ? " (assumed)" : "");
}
