/* agent: the node's own program, which is small and lies beside this one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"

static const struct myr_command command = {
    .name = "agent",
    .operands = "...",
    .summary = "start this node's agent, myriad-agent, with the words that follow",
    .details = "The agent is a program of its own, without the server's libraries; it is looked "
               "for beside this one, and then in PATH. myriad-agent --help lists its options.",
    .example = "myriad agent --help",
    .operand_max = MYR_OPERANDS_MAX,
};

/* Beside this program first, then in PATH. Returns only where neither could be started. */
static int run(struct cli *cli, struct myr_err *err)
{
    const char *argv[MYR_OPERANDS_MAX + 2] = {"myriad-agent"};
    char path[4096];
    for (uint32_t i = 0; i < cli->operands.count; i++) {
        argv[i + 1] = cli->operands.items[i];
    }
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    char *name = strrchr(path, '/');
    if (name && (size_t)(name - path) + sizeof("/myriad-agent") < sizeof(path)) {
        snprintf(name + 1, sizeof(path) - (size_t)(name + 1 - path), "myriad-agent");
        execv(path, (char *const *)argv);
    }
    execvp("myriad-agent", (char *const *)argv);
    int rc = myr_err_set(err, MYR_EIO, "myriad-agent: %s", strerror(errno));
    myr_err_hint(err, "it lies beside this program, or in PATH");
    return rc;
}

const struct cli_verb cli_agent_verb = {&command, run, .group = CLI_RUN_GROUP, .passes_on = true};
