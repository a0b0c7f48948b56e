/*
 * design apply: a grown design for a cluster that runs. The design is read here and asked for
 * there: the server takes nodes behind those that it has, and refuses all else.
 */
#include <sys/stat.h>

#include "client/client.h"
#include "myriad/model/stretch.h"
#include "myriad/sched.h"
#include "myriad/text/json.h"

struct options {
    const char *nodes;
    bool dry_run;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_TEXT("nodes", "LIST", struct options, nodes,
             "what the design's nodes are called there, in their order, as gpu-[001-128]; "
             "node-[00000-...] when absent, as init --design calls them"),
    CLI_FLAG("dry-run", struct options, dry_run, "say what would change, and change nothing"),
};

const struct myr_command cli_design_apply_command = {
    .name = "design apply",
    .operands = "DESIGN",
    .summary = "let a running server take a grown design",
    .details = "DESIGN is a design.myr or the folder that it lies in, as myriad plan grow writes "
               "it. Nodes are added behind those that the server has, and jobs run on. Whatever "
               "would remove, rename or renumber a node is said and refused: exit status 1.",
    .example = "myriad design apply out/grown --dir lab",
    CLI_CLIENT_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* A folder stands for the design in it, as 'plan grow --out' leaves it. */
static const char *file_of(struct cli *cli, const char *path)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? myr_arena_printf(&cli->arena, "%s/design.myr", path) : path;
}

/*
 * The server gets names and shape, not the design: it decides whether what it has is a part of it.
 */
static int ask(struct cli *cli, const char *path, struct myr_buf *ret, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_design_close) struct myr_design design = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    struct myr_cluster cluster;
    struct myr_json json;
    MYR_TRY(myr_design_open(&design, path, err));
    MYR_TRY(myr_cluster_of(&(struct myr_cluster_question){.design = path}, &cluster, err));
    myr_design_node_names(&design, &names);
    myr_json_init(&json, ret, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "nodes", options->nodes ? options->nodes : names.data);
    myr_json_text(&json, "gpus_per_node",
                  myr_arena_printf(&cli->arena, "%u", cluster.shape.gpus_per_node));
    myr_json_text(&json, "nodes_per_leaf",
                  myr_arena_printf(&cli->arena, "%u", cluster.shape.group_nodes));
    myr_json_text(&json, "design_nodes", myr_arena_printf(&cli->arena, "%u", cluster.shape.nodes));
    myr_json_text(&json, "dry_run", options->dry_run ? "true" : "false");
    myr_json_end(&json);
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *path = file_of(cli, cli->operands.items[0]);
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    const struct myr_doc *doc;
    /* A design that cannot be read is told before a server is asked. */
    MYR_TRY(ask(cli, path, &body, err));
    MYR_TRY(
        client_ask(cli, "POST", "/v1/design", (struct myr_str){body.data, body.len}, &doc, err));
    struct myr_answer *answer = &cli->answer;
    int64_t before = client_i64(doc, "nodes_before"), now = client_i64(doc, "nodes");
    myr_answer_text(answer, "design", path);
    myr_answer_i64(answer, "nodes_before", before);
    myr_answer_i64(answer, "nodes", now);
    myr_answer_i64(answer, "added", now - before);
    myr_answer_bool(answer, "applied", !options->dry_run);
    struct myr_value *changes = myr_answer_list(answer, "changes");
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "what", "nodes");
    myr_answer_i64(answer, "before", before);
    myr_answer_i64(answer, "now", now);
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, changes);
    myr_answer_fact(answer, "nodes", "%s, %s of them %s", MYR_GROUPED((uint64_t)now),
                    MYR_GROUPED((uint64_t)(now - before)),
                    options->dry_run ? "would be new" : "new");
    /* New nodes are unknown until their agents come. */
    myr_answer_next(answer, NULL, "myriad node list --state unknown%s", client_where(cli));
    return MYR_OK;
}

const struct cli_verb cli_design_apply_verb = {&cli_design_apply_command, run, .group = NULL};
