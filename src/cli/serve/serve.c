/*
 * init and serve: a server's folder, and the server in it. Both are the library's
 * (myriad/server.h); here options become its questions. A server runs until it is told to stop, and
 * its answer comes then.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "myriad/model/stretch.h"
#include "myriad/sched/cluster.h"
#include "myriad/server.h"

struct init_options {
    const char *cluster, *nodes, *design, *http, *agents, *hosts, *user, *etcd;
    const char *etcd_ca, *etcd_certificate, *etcd_key;
    uint64_t gpus_per_node, nodes_per_leaf, speed;
    uint32_t world;
    bool pretend;
};

static const char *const worlds[] = {"agents", "twin", "slurm"};

static const struct init_options init_defaults = {
    .cluster = "myriad",
    .nodes = "node-[1-8]",
    .http = "127.0.0.1:4680",
    .agents = "127.0.0.1:4681",
    .gpus_per_node = 8,
    .nodes_per_leaf = 16,
    .speed = 1,
};

static const struct myr_option init_rows[] = {
    CLI_TEXT("cluster", "NAME", struct init_options, cluster, "what it is called"),
    CLI_TEXT("nodes", "LIST", struct init_options, nodes,
             "host names: gpu-[0001-1250]; of a design all of them, in its order"),
    CLI_PATH("design", "FILE", struct init_options, design,
             "GPUs and leaves of this design, and its nodes' names where --nodes has no others"),
    CLI_COUNT("gpus-per-node", struct init_options, gpus_per_node, 1, 64, "of every node"),
    CLI_COUNT("nodes-per-leaf", struct init_options, nodes_per_leaf, 1, 1024,
              "nodes under one set of leaves, in the order of the list"),
    CLI_CHOICE("world", "WORLD", struct init_options, world, worlds,
               "agents on real nodes, the twin's simulated ones, or a Slurm that is there"),
    CLI_TEXT("http", "ADDRESS", struct init_options, http,
             "where people and pages ask; beyond loopback TLS is used"),
    CLI_TEXT("agents", "ADDRESS", struct init_options, agents, "where agents connect"),
    CLI_TEXT("etcd", "URLS", struct init_options, etcd,
             "keep the state in etcd, for several servers: http://127.0.0.1:2379,..."),
    {CLI_ROW("etcd-ca", MYR_OPTION_PATH, "FILE", struct init_options, etcd_ca,
             "by which https members are known"),
     .needs = "etcd"},
    {CLI_ROW("etcd-certificate", MYR_OPTION_PATH, "FILE", struct init_options, etcd_certificate,
             "by which the server is known to them"),
     .needs = "etcd"},
    {CLI_ROW("etcd-key", MYR_OPTION_PATH, "FILE", struct init_options, etcd_key,
             "of that certificate"),
     .needs = "etcd"},
    CLI_TEXT("hosts", "NAMES", struct init_options, hosts,
             "further names of this machine for its certificate: DNS:head,IP:10.0.0.1"),
    CLI_TEXT(
        "user", "NAME", struct init_options, user,
        "Unix user whose ranks the first token's jobs are; default: who calls this, unless root"),
    CLI_COUNT("speed", struct init_options, speed, 1, 10000, "of the twin's time"),
    CLI_FLAG("pretend", struct init_options, pretend, "agents may make up GPUs; for tests"),
};

/* A design says these itself; its nodes may have names of their own. */
static const struct myr_option_rule init_rules[] = {
    {"gpus-per-node nodes-per-leaf", .against = "design"},
};

static const struct myr_command *const init_subcommands[] = {&cli_init_spec_command};

static const struct myr_command init_command = {
    .name = "init",
    .operands = "DIR",
    .summary = "make a folder for a server: configuration, certificates, first token",
    .details = "Writes DIR/myriad.yaml, a certificate authority of the cluster's own, and "
               "DIR/admin.token, which the other verbs take by --token-file. Nothing is "
               "overwritten. See docs/server.md.",
    .example = "myriad init lab --nodes gpu-[01-64]",
    CLI_OPTIONS(init_rows, init_defaults),
    CLI_RULES(init_rules),
    .operand_min = 1,
    .operand_max = 1,
    .subcommands = init_subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(init_subcommands),
};

/* What only another world heeds is a mistake of the one who typed it. */
static int check_world(const struct cli *cli, struct myr_err *err)
{
    static const struct {
        const char *option, *world;
    } only[] = {{"speed", "twin"}, {"agents", "agents"}, {"pretend", "agents"}};
    const struct init_options *options = cli->options;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(only); i++) {
        if (cli_given(cli, only[i].option) && strcmp(worlds[options->world], only[i].world) != 0) {
            return myr_err_set(err, MYR_EINVAL, "--%s says nothing without --world %s",
                               only[i].option, only[i].world);
        }
    }
    return MYR_OK;
}

/* GPUs and leaves are the design's, and names too, by its numbers: 'design apply' finds the same
 * nodes under them later. */
static int take_design(struct cli *cli, struct myr_server_init *init, struct myr_err *err)
{
    const struct init_options *options = cli->options;
    MYR_CLEANUP(myr_design_close) struct myr_design design = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    struct myr_cluster cluster;
    MYR_TRY(myr_design_open(&design, options->design, err));
    MYR_TRY(
        myr_cluster_of(&(struct myr_cluster_question){.design = options->design}, &cluster, err));
    init->gpus_per_node = cluster.shape.gpus_per_node;
    init->nodes_per_leaf = cluster.shape.group_nodes;
    init->design_nodes = cluster.shape.nodes;
    if (!cli_given(cli, "nodes")) {
        myr_design_node_names(&design, &names);
        init->nodes = myr_arena_strndup(&cli->arena, names.data, names.len);
    }
    return MYR_OK;
}

static int init_run(struct cli *cli, struct myr_err *err)
{
    const struct init_options *options = cli->options;
    const char *folder = cli->operands.items[0], *user = options->user;
    char own[64] = "";
    MYR_TRY(check_world(cli, err));
    /* Ranks never run as root: who calls this as root has to name somebody. */
    if (!user && geteuid() != 0) {
        user = getlogin_r(own, sizeof(own)) == 0 ? own : NULL;
    }
    struct myr_server_init init = {.folder = folder,
                                   .cluster = options->cluster,
                                   .nodes = options->nodes,
                                   .gpus_per_node = (uint32_t)options->gpus_per_node,
                                   .nodes_per_leaf = (uint32_t)options->nodes_per_leaf,
                                   .http = options->http,
                                   .agents = options->agents,
                                   .hosts = options->hosts,
                                   .etcd = options->etcd,
                                   .etcd_ca = options->etcd_ca,
                                   .etcd_certificate = options->etcd_certificate,
                                   .etcd_key = options->etcd_key,
                                   .unix_user = user,
                                   .world = worlds[options->world],
                                   .pretend = options->pretend,
                                   .speed = (double)options->speed};
    if (options->design) {
        MYR_TRY(take_design(cli, &init, err));
    }
    MYR_TRY(myr_server_init(&init, err));
    static const char *const made[] = {"myriad.yaml",    "ca.pem",      "ca-key.pem", "server.pem",
                                       "server-key.pem", "admin.token", "state.db"};
    myr_answer_text(&cli->answer, "folder", folder);
    struct myr_value *files = myr_answer_list(&cli->answer, "files");
    /* With etcd the state lies there: state.db, the last one, is not made. */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(made) - (options->etcd ? 1 : 0); i++) {
        myr_answer_object(&cli->answer, NULL);
        myr_answer_text(&cli->answer, "name", made[i]);
        myr_answer_end(&cli->answer);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, files);
    myr_answer_fact(&cli->answer, "made", "%s: myriad.yaml, ca.pem, server.pem, admin.token",
                    folder);
    if (user) {
        myr_answer_text(&cli->answer, "unix_user", user);
        myr_answer_fact(&cli->answer, "ranks", "of the first token's jobs run as %s", user);
    } else {
        myr_answer_null(&cli->answer, "unix_user");
        myr_answer_fact(&cli->answer, "ranks",
                        "the first token submits no jobs: ranks never run as root, and --user "
                        "names nobody else");
    }
    myr_answer_next(&cli->answer, NULL, "myriad serve %s", myr_answer_word(&cli->answer, folder));
    return MYR_OK;
}

const struct cli_verb cli_init_verb = {&init_command, init_run, .group = CLI_RUN_GROUP};

struct serve_options {
    uint64_t stop_after;
    bool log_json, once; /* once: ends when every node is well */
};

static const struct serve_options serve_defaults = {};

static const struct myr_option serve_rows[] = {
    CLI_FLAG("log-json", struct serve_options, log_json, "log lines as JSON"),
    CLI_FLAG("once", struct serve_options, once,
             "end as soon as every node is well, and say so; for scripts"),
    CLI_COUNT("stop-after", struct serve_options, stop_after, 1, 1 << 24,
              "end by itself after so many seconds; for scripts"),
};

static const struct myr_command serve_command = {
    .name = "serve",
    .operands = "DIR",
    .summary = "run the cluster: agents, jobs, an API and a page",
    .details = "DIR is what myriad init has made. The server answers on loopback unless its "
               "configuration says otherwise; beyond that it speaks TLS alone. SIGTERM ends it "
               "with everything kept, SIGHUP reads the configuration again. It needs no root.",
    .example = "myriad serve lab",
    CLI_OPTIONS(serve_rows, serve_defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* What the server says when it is ready, kept for the answer at its end. */
struct serving {
    const struct cli *cli;
    char url[160];
    uint16_t agents_port;
};

/* People hear at once; a program gets one document, at the end. */
static void say_ready(void *context, const char *url, uint16_t agents_port)
{
    struct serving *serving = context;
    const char *folder = serving->cli->operands.items[0];
    uint32_t format = serving->cli->common.format;
    snprintf(serving->url, sizeof(serving->url), "%s", url);
    serving->agents_port = agents_port;
    /* With --once the answer at the end says all of it. */
    const struct serve_options *options = serving->cli->options;
    if (options->once || (format != MYR_FORMAT_TABLE && format != MYR_FORMAT_WIDE)) {
        return;
    }
    printf("serving %s\n", url);
    if (agents_port) {
        printf("agents on port %u\n", agents_port);
    }
    printf("token in %s/admin.token\n", folder);
    fflush(stdout);
}

/* Returns when it was told to stop, or with --once when all nodes are well. */
static int serve_run(struct cli *cli, struct myr_err *err)
{
    const struct serve_options *options = cli->options;
    const char *folder = cli->operands.items[0];
    struct serving serving = {.cli = cli};
    struct myr_serve_report report = {};
    MYR_TRY(myr_serve(&(struct myr_serve){.folder = folder,
                                          .version = cli_version,
                                          .log_json = options->log_json,
                                          .ready = say_ready,
                                          .context = &serving,
                                          .once = options->once,
                                          .report = &report,
                                          .stop_after_s = (uint32_t)options->stop_after},
                      err));
    struct myr_value *served = myr_answer_list(&cli->answer, "served");
    myr_answer_object(&cli->answer, NULL);
    myr_answer_text(&cli->answer, "folder", folder);
    myr_answer_text(&cli->answer, "url", serving.url);
    myr_answer_u64(&cli->answer, "agents_port", serving.agents_port);
    myr_answer_u64(&cli->answer, "nodes", report.nodes);
    myr_answer_u64(&cli->answer, "healthy", report.healthy);
    myr_answer_end(&cli->answer);
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, served);
    /* Only then is it asked how many came up: else the server ran as long as it was wanted. */
    if (options->once) {
        uint64_t healthy_gpus = (uint64_t)report.healthy * report.gpus_per_node;
        cli->no = report.healthy < report.nodes; /* it was told to end before all were well */
        myr_answer_fact(&cli->answer, "came up", "%s of %s healthy, %s",
                        MYR_GROUPED(report.healthy), MYR_COUNT(report.nodes, "node"),
                        MYR_COUNT(healthy_gpus, "GPU"));
    }
    myr_answer_fact(&cli->answer, "ended", "everything is kept in %s", folder);
    return MYR_OK;
}

const struct cli_verb cli_serve_verb = {&serve_command, serve_run, .group = CLI_RUN_GROUP};
