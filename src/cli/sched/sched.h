/* sched: what the sub-verbs of 'myriad sched' share. */
#pragma once

#include "cli.h"
#include "myriad/sched.h"

extern const struct myr_command sched_place_command, sched_replay_command, sched_rehearse_command;

/* Options that say which cluster a trace is played on: 'design', or four numbers of 'holder'. */
#define SCHED_CLUSTER_ROWS(holder)                                                           \
    CLI_PATH("design", "FILE", holder, design,                                               \
             "the cluster; or say it with --nodes and the next three"),                      \
        CLI_COUNT("nodes", holder, nodes, 1, MYR_CLUSTER_NODES_MAX, "nodes of the cluster"), \
        CLI_COUNT("gpus-per-node", holder, gpus_per_node, 1, MYR_SCHED_GPUS_MAX,             \
                  "GPUs of a node; 8 are assumed"),                                          \
        CLI_COUNT("leaf-nodes", holder, leaf_nodes, 1, MYR_CLUSTER_NODES_MAX,                \
                  "nodes under one set of leaves; 8 are assumed"),                           \
        CLI_COUNT("pod-nodes", holder, pod_nodes, 1, MYR_CLUSTER_NODES_MAX,                  \
                  "nodes of a pod, a multiple of the leaf's; without it there are no pods")

/* How many jobs were played, and what of the trace was left out. */
void sched_show_trace(struct myr_answer *answer, const struct myr_replay_answer *a,
                      uint64_t jobs_played);
/* For reading a trace and playing it: a new word is a new stage, with a bar of its own. */
void sched_show_progress(void *context, const char *what, uint64_t done, uint64_t total);
/* The object 'cluster': what the answer is about, and what of it was taken for granted. */
void sched_put_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);
/* The same for people, such as "96 nodes of 8 GPUs (assumed), 8 nodes a leaf". */
void sched_show_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);
