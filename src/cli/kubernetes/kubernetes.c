/* kubernetes: Myriad on a cluster that runs Kubernetes already. */
#include "kubernetes/kubernetes.h"

static const struct myr_command *const subcommands[] = {
    &kubernetes_schedule_command,
    &kubernetes_job_command,
};

static const struct myr_command command = {
    .name = "kubernetes",
    .operands = "",
    .summary = "run on a Kubernetes cluster: its pods bound as gangs",
    .details = "Beside the stock scheduler, for pods with 'schedulerName: myriad'. "
               "docs/kubernetes.md says how to begin.",
    .example = "myriad kubernetes schedule --kubeconfig ~/.kube/config",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_kubernetes_verb = {&command, NULL, .group = CLI_RUN_GROUP};
