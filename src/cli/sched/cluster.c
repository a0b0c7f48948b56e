/* The cluster that an answer is about, and how far a replay is. */
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

void sched_show_trace(struct myr_answer *answer, const struct myr_replay_answer *a,
                      uint64_t jobs_played)
{
    char jobs[32];
    myr_answer_fact(answer, "jobs", "%s", myr_u64_grouped(jobs_played, jobs));
    if (a->trace.left_out) {
        myr_answer_fact(answer, "left out", "%s row%s: steps, or no GPUs, never started, not ended",
                        myr_u64_grouped(a->trace.left_out, jobs),
                        a->trace.left_out == 1 ? "" : "s");
    }
    if (a->too_large) {
        myr_answer_fact(
            answer, "warning",
            "%s job%s left out: more GPUs needed than the cluster has, first on line %u",
            myr_u64_grouped(a->too_large, jobs), a->too_large == 1 ? "" : "s", a->too_large_line);
    }
}

void sched_show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    if (progress->what != what) {
        myr_progress_done(progress);
        cli_progress(progress, what, total);
    }
    cli_progress_step(progress, done);
}
