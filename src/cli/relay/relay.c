/*
 * relay: carries many agents over one connection to the server. It runs until it is told to stop;
 * its counts are the answer then.
 */
#include "myriad/agent/relay.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"

struct relay_options {
    const char *name, *server, *listen, *token_file;
    uint64_t agents;
};

static const struct relay_options relay_defaults = {
    .server = "127.0.0.1:4681",
    .listen = "127.0.0.1:4682",
    .agents = 4096,
};

static const struct myr_option relay_rows[] = {
    CLI_TEXT("server", "HOST:PORT", struct relay_options, server,
             "where the server listens for agents; several, with commas, where several may lead"),
    CLI_TEXT("listen", "ADDRESS", struct relay_options, listen,
             "where agents connect; [::]:4682 is every address, port 0 any that is free"),
    CLI_TEXT("name", "NAME", struct relay_options, name,
             "the relay's name, as it was enrolled; the host's name by default"),
    CLI_PATH("token-file", "FILE", struct relay_options, token_file,
             "file with the token of the first start, of mode 0600"),
    CLI_COUNT("agents", struct relay_options, agents, 1, 60000, "how many it takes at most"),
};

static const struct myr_command relay_command = {
    .name = "relay",
    .operands = "DIR",
    .summary = "carry many agents over one connection to the server",
    .details = "Agents connect to it as they would to the server, with the certificates that they "
               "have or the token of their first start. It vouches for who they are, turns their "
               "beats into word of who falls silent and who is back, and passes on the rest. DIR "
               "holds its own key and certificate, which it gets for the token of 'myriad enrol "
               "--relay NAME'. SIGTERM ends it; ranks run on. It needs no root.",
    .example = "myriad relay rack-7 --server head:4681 --listen 0.0.0.0:4682 --token-file token",
    CLI_OPTIONS(relay_rows, relay_defaults),
    .young = true,
    .operand_min = 1,
    .operand_max = 1,
};

/* At once, since port 0 takes any that is free. Programs get one document, at the end. */
static void say_ready(void *context, uint16_t port)
{
    const struct cli *cli = context;
    if (cli->common.format == MYR_FORMAT_TABLE || cli->common.format == MYR_FORMAT_WIDE) {
        printf("agents on port %u\n", port);
        fflush(stdout);
    }
}

static int relay_run(struct cli *cli, struct myr_err *err)
{
    const struct relay_options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    const char *folder = cli->operands.items[0];
    char host[64] = "";
    struct myr_relay_report report = {};
    if (!options->name && gethostname(host, sizeof(host) - 1) < 0) {
        return myr_err_errno(err, "no host name", "--name");
    }
    /* The name that it was enrolled by. */
    const char *name = options->name ? options->name : host;
    MYR_TRY(myr_relay_run(&(struct myr_relay){.folder = folder,
                                              .name = name,
                                              .server = options->server,
                                              .listen = options->listen,
                                              .token_file = options->token_file,
                                              .agents_max = (uint32_t)options->agents,
                                              .ready = say_ready,
                                              .context = cli,
                                              .report = &report},
                          err));
    struct myr_value *list = myr_answer_list(answer, "relayed");
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", name);
    myr_answer_u64(answer, "agents_most", report.agents_most);
    myr_answer_u64(answer, "frames_up", report.frames_up);
    myr_answer_u64(answer, "frames_down", report.frames_down);
    myr_answer_u64(answer, "beats", report.beats);
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_fact(answer, "ended", "%s agents at most, %s frames up, %s down",
                    MYR_GROUPED(report.agents_most), MYR_GROUPED(report.frames_up),
                    MYR_GROUPED(report.frames_down));
    return MYR_OK;
}

const struct cli_verb cli_relay_verb = {&relay_command, relay_run, .group = CLI_RUN_GROUP};
