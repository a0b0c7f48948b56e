/* kubernetes: the verbs of a cluster that somebody else's scheduler runs already. */
#pragma once

#include "cli.h"

extern const struct cli_verb cli_kubernetes_verb, cli_kubernetes_schedule_verb,
    cli_kubernetes_job_verb;

extern const struct myr_command kubernetes_schedule_command, kubernetes_job_command;

/* How a job file becomes a Job; options of 'submit' and of 'kubernetes job'. */
struct kubernetes_job {
    const char *kubeconfig, *context, *space, *image, *scheduler, *resource; /* NULL: not given */
    uint64_t gpus_per_node;
};

/* Makes the Job in the cluster, and tells of it in the answer. */
MYR_MUST_USE int kubernetes_submit(struct cli *cli, const struct kubernetes_job *how,
                                   struct myr_str text, struct myr_err *err);
