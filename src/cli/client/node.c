/*
 * node: what runs the jobs. All sub-verbs but the list are one question to a path of the node, and
 * show the node as it is afterwards.
 */
#include "client/client.h"
#include "myriad/text/json.h"

static const struct myr_answer_column columns[] = {
    {"name", "NAME", 0, 0},
    {"state", "STATE", 0, 0},
    {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
    {"busy", "BUSY", MYR_COLUMN_NUMBER, 0},
    {"jobs", "JOBS", 0, 0},
    {"kind", "KIND", 0, 0},
    {"leaf", "LEAF", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 0},
    {"silent", "SILENT", MYR_COLUMN_WIDE, 0},
    {"boot", "BOOT", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 0},
};

struct list_options {
    const char *state;
};
static const struct list_options list_defaults = {};

/* For completion; the server knows what a state is, and refuses others. */
static void put_states(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "unknown joining checking healthy suspect draining drained repair");
}

static const struct myr_option list_rows[] = {
    CLI_NAME("state", "STATE", struct list_options, state, put_states, "only those in this state"),
};

static const struct myr_command list_command = {
    .name = "node list",
    .operands = "",
    .summary = "list nodes with their state, GPUs and jobs",
    .details = "CSV output lists the nodes.",
    .example = "myriad node list --state drained",
    CLI_CLIENT_OPTIONS(list_rows, list_defaults),
};

static int list_run(struct cli *cli, struct myr_err *err)
{
    const struct list_options *options = cli->options;
    const struct myr_doc *doc;
    struct myr_value *nodes;
    const char *path = options->state ? myr_arena_printf(&cli->arena, "/v1/nodes?state=%s",
                                                         client_word(cli, options->state))
                                      : "/v1/nodes";
    MYR_TRY(client_ask(cli, "GET", path, (struct myr_str){}, &doc, err));
    MYR_TRY(client_put_list(cli, doc, "nodes", &nodes, err));
    myr_answer_table(&cli->answer, nodes, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_node_list_verb = {.row = &list_command, .run = list_run};

/* One node for people: what it is, how it does, and why. */
static void show(struct cli *cli, const struct myr_doc *doc)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_doc *inventory = myr_doc_get(doc, "inventory");
    client_put_one(cli, doc, "nodes");
    myr_answer_fact(answer, "node", "%s, number %s under leaf %s", client_text(cli, doc, "name"),
                    client_text(cli, doc, "id"), client_text(cli, doc, "leaf"));
    bool silent = strcmp(client_text(cli, doc, "silent"), "true") == 0;
    myr_answer_fact(answer, "state", "%s%s", client_text(cli, doc, "state"),
                    silent ? ", silent" : "");
    const char *reason = client_text(cli, doc, "reason");
    if (reason[0]) {
        myr_answer_fact(answer, "because", "%s", reason);
    }
    /* Worth a line only when it is so. */
    if (strcmp(client_text(cli, doc, "revoked"), "true") == 0) {
        myr_answer_fact(answer, "certificate", "revoked");
    }
    myr_answer_fact(answer, "GPUs", "%s, %s busy%s%s", client_text(cli, doc, "gpus"),
                    client_text(cli, doc, "busy"), client_text(cli, doc, "kind")[0] ? ", " : "",
                    client_text(cli, doc, "kind"));
    myr_answer_fact(answer, "machine", "%s CPUs, %s GiB of memory, serial %s",
                    client_text(cli, inventory, "cpus"),
                    MYR_GROUPED((uint64_t)client_i64(inventory, "memory_bytes") >> 30),
                    client_text(cli, inventory, "serial")[0] ? client_text(cli, inventory, "serial")
                                                             : "-");
    const char *address = client_text(cli, doc, "address");
    myr_answer_fact(answer, "address", "%s", address[0] ? address : "-");
}

/* Asks for a node, or for a list of them, which has another answer; both are told here. */
static int change(struct cli *cli, const char *method, const char *tail, struct myr_str body,
                  struct myr_err *err)
{
    const struct myr_doc *doc;
    const char *path = myr_arena_printf(&cli->arena, "/v1/nodes/%s%s",
                                        client_word(cli, cli->operands.items[0]), tail);
    MYR_TRY(client_ask(cli, method, path, body, &doc, err));
    if (myr_doc_get(doc, "nodes")) { /* of a list of names */
        struct myr_value *nodes;
        MYR_TRY(client_put_list(cli, doc, "nodes", &nodes, err));
        myr_answer_table(&cli->answer, nodes, columns, MYR_ARRAY_COUNT(columns));
        return MYR_OK;
    }
    show(cli, doc);
    return MYR_OK;
}

static const struct myr_command show_command = {
    .name = "node show",
    .operands = "NAME",
    .summary = "show one node: state, GPUs, machine, address",
    .details = "CSV output has one row.",
    .example = "myriad node show gpu-01",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int show_run(struct cli *cli, struct myr_err *err)
{
    return change(cli, "GET", "", (struct myr_str){}, err);
}

const struct cli_verb cli_node_show_verb = {.row = &show_command, .run = show_run};

struct drain_options {
    const char *reason;
};
static const struct drain_options drain_defaults = {};

static const struct myr_option drain_rows[] = {
    CLI_TEXT("reason", "WORDS", struct drain_options, reason, "why, for whoever looks at it later"),
};

static const struct myr_command drain_command = {
    .name = "node drain",
    .operands = "NAMES",
    .summary = "take nodes out: no more jobs on them",
    .details = "NAMES is one name or a list, 'gpu-[01-08,12]'; all of them are known, or nothing "
               "is done. What runs there is moved, or ends, as the controller decides; then the "
               "node is drained. One whose agent has not come yet is drained already, and still "
               "when it comes. CSV output lists the nodes.",
    .example = "myriad node drain gpu-01 --reason 'fan 3 is loud'",
    CLI_CLIENT_OPTIONS(drain_rows, drain_defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* Without a reason there is no body: the server takes both. */
static int drain_run(struct cli *cli, struct myr_err *err)
{
    const struct drain_options *options = cli->options;
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    struct myr_json json;
    if (options->reason) {
        myr_json_init(&json, &body, MYR_JSON_COMPACT);
        myr_json_object(&json, NULL);
        myr_json_text(&json, "reason", options->reason);
        myr_json_end(&json);
    }
    return change(cli, "POST", "/drain", (struct myr_str){body.data, body.len}, err);
}

const struct cli_verb cli_node_drain_verb = {.row = &drain_command, .run = drain_run};

static const struct myr_command resume_command = {
    .name = "node resume",
    .operands = "NAMES",
    .summary = "give nodes back to jobs, after their tests",
    .details = "NAMES is one name or a list, 'gpu-[01-08,12]'. CSV output lists the nodes.",
    .example = "myriad node resume gpu-01",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int resume_run(struct cli *cli, struct myr_err *err)
{
    return change(cli, "POST", "/resume", (struct myr_str){}, err);
}

const struct cli_verb cli_node_resume_verb = {.row = &resume_command, .run = resume_run};

static const struct myr_command revoke_command = {
    .name = "node revoke",
    .operands = "NAME",
    .summary = "make a node's certificate worth nothing",
    .details = "Its agent is not believed again until the node enrols anew (myriad enrol). CSV "
               "output has one row.",
    .example = "myriad node revoke gpu-01",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int revoke_run(struct cli *cli, struct myr_err *err)
{
    return change(cli, "POST", "/revoke", (struct myr_str){}, err);
}

const struct cli_verb cli_node_revoke_verb = {.row = &revoke_command, .run = revoke_run};

static const struct myr_command *const subcommands[] = {
    &list_command, &show_command, &drain_command, &resume_command, &revoke_command,
};

static const struct myr_command command = {
    .name = "node",
    .operands = "",
    .summary = "list, show, drain and resume nodes of a server",
    .example = "myriad node list",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_node_verb = {&command, NULL, .group = CLI_RUN_GROUP};
