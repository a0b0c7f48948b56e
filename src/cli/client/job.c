/*
 * job: what was submitted, how it does, and its end. All of it is the server's word: a job is shown
 * with the server's keys, and logs come piece by piece from where the last one ended.
 */
#include "client/job.h"

#include <stdio.h>
#include <unistd.h>

#include "client/client.h"

static const struct myr_answer_column columns[] = {
    {"id", "ID", MYR_COLUMN_NUMBER, 0},
    {"name", "NAME", 0, 0},
    {"state", "STATE", 0, 0},
    {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
    {"nodes", "NODES", MYR_COLUMN_NUMBER, 0},
    {"step", "STEP", MYR_COLUMN_NUMBER, 0},
    {"failures", "FAILURES", MYR_COLUMN_NUMBER, 0},
    {"tenant", "TENANT", 0, 0},
    {"user", "USER", 0, 0},
    {"priority", "PRIORITY", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 0},
    {"epoch", "EPOCH", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 0},
    {"reason", "REASON", MYR_COLUMN_WIDE, 0},
};

void job_put_table(struct cli *cli, const struct myr_value *jobs)
{
    myr_answer_table(&cli->answer, jobs, columns, MYR_ARRAY_COUNT(columns));
}

struct list_options {
    const char *state;
    uint64_t before, limit;
    bool all;
};
/* 'before' is above every number; the server lists no more than 2,000 at once. */
static const struct list_options list_defaults = {.before = UINT32_MAX, .limit = 2000};

/* For completion; the server knows what a state is, and refuses others. */
static void put_states(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "queued placing starting running saving recovering finishing done "
                         "failed cancelled");
}

static const struct myr_option list_rows[] = {
    CLI_FLAG("all", struct list_options, all, "those that have ended too"),
    CLI_NAME("state", "STATE", struct list_options, state, put_states, "only those in this state"),
    CLI_COUNT("limit", struct list_options, limit, 1, 2000, "at most so many"),
    CLI_COUNT("before", struct list_options, before, 0, UINT32_MAX,
              "only those with a smaller number: the page behind one that was full"),
};

static const struct myr_command list_command = {
    .name = "job list",
    .operands = "",
    .summary = "list jobs, newest first",
    .details = "Those that have ended are left out unless --all or --state asks for them. Where "
               "there are more than are listed, 'next' is what --before takes for the others. CSV "
               "output lists the jobs.",
    .example = "myriad job list --state running",
    CLI_CLIENT_OPTIONS(list_rows, list_defaults),
};

static int list_run(struct cli *cli, struct myr_err *err)
{
    const struct list_options *options = cli->options;
    const struct myr_doc *doc;
    struct myr_value *jobs;
    const char *path = options->state ? myr_arena_printf(&cli->arena, "/v1/jobs?state=%s",
                                                         client_word(cli, options->state))
                       : options->all ? "/v1/jobs?all=1"
                                      : "/v1/jobs";
    /* Not asked for where nobody has: a plain list is the server's own first page. */
    if (cli_given(cli, "limit") || cli_given(cli, "before")) {
        path = myr_arena_printf(&cli->arena, "%s%climit=%llu&before=%llu", path,
                                strchr(path, '?') ? '&' : '?', (unsigned long long)options->limit,
                                (unsigned long long)options->before);
    }
    MYR_TRY(client_ask(cli, "GET", path, (struct myr_str){}, &doc, err));
    MYR_TRY(client_put_list(cli, doc, "jobs", &jobs, err));
    job_put_table(cli, jobs);
    /* There only where there are more. */
    const char *next = client_text(cli, doc, "next");
    if (next[0]) {
        myr_answer_u64(&cli->answer, "next", (uint64_t)client_i64(doc, "next"));
        myr_answer_fact(&cli->answer, "more", "older ones than these: --before %s", next);
    } else {
        myr_answer_null(&cli->answer, "next");
    }
    return MYR_OK;
}

const struct cli_verb cli_job_list_verb = {.row = &list_command, .run = list_run};

/* Of the job that the operand names. */
static const char *job_path(struct cli *cli, const char *tail)
{
    return myr_arena_printf(&cli->arena, "/v1/jobs/%s%s", client_word(cli, cli->operands.items[0]),
                            tail);
}

/* The three states that a job does not leave. */
bool job_has_ended(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

/* Behind a word that is counted by a number as the server writes it. */
static const char *plural(const char *number)
{
    return strcmp(number, "1") == 0 ? "" : "s";
}

/* Texts and numbers are the server's own: they are shown as it writes them. */
void job_show(struct cli *cli, const struct myr_doc *doc)
{
    struct myr_answer *answer = &cli->answer;
    client_put_one(cli, doc, "jobs");
    myr_answer_fact(answer, "job", "%s, %s", client_text(cli, doc, "id"),
                    client_text(cli, doc, "name"));
    bool held = strcmp(client_text(cli, doc, "held"), "true") == 0;
    myr_answer_fact(answer, "state", "%s%s", client_text(cli, doc, "state"),
                    held ? ", held: myriad job release lets it go" : "");
    const char *reason = client_text(cli, doc, "reason");
    if (reason[0]) {
        myr_answer_fact(answer, "because", "%s", reason);
    }
    const char *gpus = client_text(cli, doc, "gpus"), *nodes = client_text(cli, doc, "nodes");
    if (strcmp(nodes, "0") == 0) { /* it waits, or it never came to anything else */
        myr_answer_fact(answer, "size", "%s GPU%s, %s", gpus, plural(gpus),
                        job_has_ended(client_text(cli, doc, "state")) ? "never placed"
                                                                      : "not placed yet");
    } else {
        myr_answer_fact(answer, "size", "%s GPU%s on %s node%s", gpus, plural(gpus), nodes,
                        plural(nodes));
    }
    myr_answer_fact(answer, "of", "%s, tenant %s, priority %s", client_text(cli, doc, "user"),
                    client_text(cli, doc, "tenant"), client_text(cli, doc, "priority"));
    myr_answer_fact(answer, "step", "%s, saved at %s", client_text(cli, doc, "step"),
                    client_text(cli, doc, "saved_step"));
    const char *starts = client_text(cli, doc, "epoch"), *fails = client_text(cli, doc, "failures");
    myr_answer_fact(answer, "started", "%s time%s, %s failure%s", starts, plural(starts), fails,
                    plural(fails));
    myr_answer_fact(answer, "submitted", "%s", client_time(cli, doc, "submitted_ms"));
    myr_answer_fact(answer, "first start", "%s", client_time(cli, doc, "started_ms"));
    myr_answer_fact(answer, "end", "%s", client_time(cli, doc, "ended_ms"));
}

static const struct myr_command show_command = {
    .name = "job show",
    .operands = "ID",
    .summary = "show one job: state, size, steps, nodes and its file",
    .details = "CSV output has one row.",
    .example = "myriad job show 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int show_run(struct cli *cli, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    MYR_TRY(client_ask(cli, "GET", job_path(cli, ""), (struct myr_str){}, &doc, err));
    job_show(cli, doc);
    /* Of a job that waits there are none. */
    const struct myr_doc *list = myr_doc_get(doc, "node_names");
    for (uint32_t i = 0; list && list->kind == MYR_DOC_LIST && i < list->count; i++) {
        myr_buf_puts(&names, i ? " " : "");
        myr_buf_put(&names, list->items[i]->text.data, list->items[i]->text.len);
    }
    if (names.len) {
        myr_answer_fact(&cli->answer, "nodes", "%s", names.data);
    }
    myr_answer_more(&cli->answer, "the job file");
    myr_answer_verbatim(&cli->answer, myr_str_from(client_text(cli, doc, "file")));
    return MYR_OK;
}

const struct cli_verb cli_job_show_verb = {.row = &show_command, .run = show_run};

/* What is said of one job, and answered by the job as it is then. */
static int change_run(struct cli *cli, const char *tail, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(client_ask(cli, "POST", job_path(cli, tail), (struct myr_str){}, &doc, err));
    job_show(cli, doc);
    return MYR_OK;
}

static const struct myr_command cancel_command = {
    .name = "job cancel",
    .operands = "ID",
    .summary = "end a job, wherever it is on its way",
    .details = "One's own jobs; an operator may end everybody's. CSV output has one row.",
    .example = "myriad job cancel 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int cancel_run(struct cli *cli, struct myr_err *err)
{
    return change_run(cli, "/cancel", err);
}

const struct cli_verb cli_job_cancel_verb = {.row = &cancel_command, .run = cancel_run};

static const struct myr_command hold_command = {
    .name = "job hold",
    .operands = "ID",
    .summary = "keep a job from starting until it is released",
    .details = "One's own jobs; an operator may hold everybody's. What runs goes on, and is held "
               "when it comes back to the queue. The time on hold does not count as waiting. CSV "
               "output has one row.",
    .example = "myriad job hold 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int hold_run(struct cli *cli, struct myr_err *err)
{
    return change_run(cli, "/hold", err);
}

const struct cli_verb cli_job_hold_verb = {.row = &hold_command, .run = hold_run};

static const struct myr_command release_command = {
    .name = "job release",
    .operands = "ID",
    .summary = "let a job start that was held",
    .details = "It keeps the age that it had when it was held. CSV output has one row.",
    .example = "myriad job release 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int release_run(struct cli *cli, struct myr_err *err)
{
    return change_run(cli, "/release", err);
}

const struct cli_verb cli_job_release_verb = {.row = &release_command, .run = release_run};

static const struct myr_command top_command = {
    .name = "job top",
    .operands = "ID",
    .summary = "put a job before all that wait",
    .details = "For operators: its priority becomes one more than the highest among those that "
               "wait, 100 at most. CSV output has one row.",
    .example = "myriad job top 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int top_run(struct cli *cli, struct myr_err *err)
{
    return change_run(cli, "/top", err);
}

const struct cli_verb cli_job_top_verb = {.row = &top_command, .run = top_run};

static const struct myr_command explain_command = {
    .name = "job explain",
    .operands = "ID",
    .summary = "say why a job waits, or what holds it",
    .details = "CSV output lists the lines.",
    .example = "myriad job explain 42",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int explain_run(struct cli *cli, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(client_ask(cli, "GET", job_path(cli, "/explain"), (struct myr_str){}, &doc, err));
    const struct myr_doc *why = myr_doc_get(doc, "why");
    myr_answer_i64(&cli->answer, "id", client_i64(doc, "id"));
    struct myr_value *lines = myr_answer_list(&cli->answer, "why");
    for (uint32_t i = 0; why && why->kind == MYR_DOC_LIST && i < why->count; i++) {
        myr_answer_object(&cli->answer, NULL);
        myr_answer_str(&cli->answer, "says", why->items[i]->text);
        myr_answer_end(&cli->answer);
        myr_answer_para(&cli->answer, "%.*s", (int)why->items[i]->text.len,
                        why->items[i]->text.data);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, lines);
    myr_answer_header(&cli->answer, "says");
    return MYR_OK;
}

const struct cli_verb cli_job_explain_verb = {.row = &explain_command, .run = explain_run};

struct logs_options {
    uint64_t rank, epoch;
    bool follow;
};
static const struct logs_options logs_defaults = {};

static const struct myr_option logs_rows[] = {
    CLI_COUNT("rank", struct logs_options, rank, 0, 1 << 24, "whose output"),
    CLI_COUNT("epoch", struct logs_options, epoch, 0, UINT32_MAX,
              "of which start, counted from 1; 0: the last one"),
    CLI_FLAG("follow", struct logs_options, follow, "go on as it writes, until it ends"),
};

static const struct myr_command logs_command = {
    .name = "job logs",
    .operands = "ID",
    .summary = "print what a rank of a job has written",
    .details = "Printed as it is. With -o json, yaml or csv: its lines. --follow asks again every "
               "second, and goes on over restarts of the job. Nodes keep what earlier starts wrote "
               "for a while: --epoch.",
    .example = "myriad job logs 42 --rank 3 --follow",
    CLI_CLIENT_OPTIONS(logs_rows, logs_defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* One piece; 'ret_end': the job is over and nothing follows. */
static int logs_piece(const struct client *client, const struct logs_options *options,
                      int64_t *offset, struct myr_str *ret, bool *ret_end, struct myr_err *err)
{
    struct cli *cli = client->cli;
    const struct myr_doc *doc;
    const char *path = myr_arena_printf(&cli->arena, "%s?rank=%llu&offset=%lld&epoch=%llu",
                                        job_path(cli, "/logs"), (unsigned long long)options->rank,
                                        (long long)*offset, (unsigned long long)options->epoch);
    MYR_TRY(client_get(client, path, &doc, err));
    const struct myr_doc *text = myr_doc_get(doc, "text");
    int64_t next = client_i64(doc, "next");
    *ret = text && text->kind == MYR_DOC_SCALAR ? text->text : (struct myr_str){"", 0};
    *ret_end = strcmp(client_text(cli, doc, "end"), "true") == 0;
    /* What the server has of it may begin later than asked, and is shorter after a new start. */
    int64_t from = client_i64(doc, "offset");
    /* Shorter than what was read already: it is the output of another start. */
    if (next < *offset) {
        fprintf(stderr, "myriad: the job was started anew\n");
        *ret = (struct myr_str){"", 0};
        *ret_end = false;
        *offset = 0;
        return MYR_OK;
    }
    if (from > *offset) {
        fprintf(stderr, "myriad: %lld bytes are left out here\n", (long long)(from - *offset));
    }
    *offset = next;
    return MYR_OK;
}

/* Nothing will be written any more. */
static bool is_over(const struct client *client)
{
    const struct myr_doc *doc;
    return client_get(client, job_path(client->cli, ""), &doc, NULL) == MYR_OK &&
           job_has_ended(client_text(client->cli, doc, "state"));
}

/* A node that is away for a moment is asked again; 'ret_rest': nothing has come this time. */
static int follow_once(const struct client *client, const struct logs_options *options,
                       int64_t *offset, bool *ret_rest, bool *ret_end, struct myr_err *err)
{
    MYR_CLEANUP(client_round_done) struct client_round round;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_str piece = {"", 0};
    struct myr_err why = {};
    client_round_begin(client, &round);
    int rc = logs_piece(&round.client, options, offset, &piece, ret_end, &why);
    bool over = rc == MYR_EAWAY && is_over(&round.client);
    /* Of a job that is over and was never read nothing can be missing: the error is the answer. */
    if (rc < 0 && (rc != MYR_EAWAY || (over && *offset == 0))) {
        *err = why;
        return rc;
    }
    if (over) {
        fprintf(stderr, "myriad: the job has ended; what it wrote last may be missing\n");
        *ret_end = true;
    }
    myr_buf_put(&buf, piece.data, piece.len);
    *ret_rest = piece.len == 0;
    return cli_print(&buf) == CLI_DONE ? MYR_OK
                                       : myr_err_set(err, MYR_EIO, "standard output is closed");
}

/* Each piece is printed as it comes. */
static int follow(const struct client *client, const struct logs_options *options,
                  struct myr_err *err)
{
    int64_t offset = 0;
    for (bool rest = false, end = false; !end;) {
        MYR_TRY(follow_once(client, options, &offset, &rest, &end, err));
        if (rest && !end) {
            sleep(1);
        }
    }
    return MYR_OK;
}

/* The last line may lack its end: what a rank has begun to write counts. */
static void put_lines(struct cli *cli, struct myr_str text)
{
    struct myr_value *lines = myr_answer_list(&cli->answer, "lines");
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t length = end ? (size_t)(end - text.data) : text.len;
        myr_answer_object(&cli->answer, NULL);
        myr_answer_str(&cli->answer, "text", (struct myr_str){text.data, length});
        myr_answer_end(&cli->answer);
        length += end ? 1 : 0;
        text.data += length;
        text.len -= length;
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, lines);
    myr_answer_header(&cli->answer, "text");
}

static int logs_run(struct cli *cli, struct myr_err *err)
{
    const struct logs_options *options = cli->options;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    /* People get what was written, byte by byte; programs its lines as a list. */
    bool people = cli->common.format == MYR_FORMAT_TABLE || cli->common.format == MYR_FORMAT_WIDE;
    struct client client;
    struct myr_str piece;
    int64_t offset = 0;
    bool end;
    MYR_TRY(client_open(cli, &client, err));
    if (options->follow && people) {
        return follow(&client, options, err);
    }
    /* A document for programs: all that is there, or with --follow all until the end, at once. */
    do {
        MYR_TRY(logs_piece(&client, options, &offset, &piece, &end, err));
        myr_buf_put(&text, piece.data, piece.len);
        if (options->follow && piece.len == 0 && !end) {
            sleep(1);
        }
    } while (!end && (piece.len > 0 || options->follow));
    myr_answer_u64(&cli->answer, "rank", options->rank);
    myr_answer_i64(&cli->answer, "bytes", offset);
    myr_answer_bool(&cli->answer, "end", end);
    put_lines(cli, (struct myr_str){text.len ? text.data : "", text.len});
    if (people) {
        myr_buf_put(&cli->document, text.len ? text.data : "", text.len);
    }
    return MYR_OK;
}

const struct cli_verb cli_job_logs_verb = {.row = &logs_command, .run = logs_run};

static const struct myr_command *const subcommands[] = {
    &list_command, &show_command,    &logs_command, &cancel_command,
    &hold_command, &release_command, &top_command,  &explain_command,
};

static const struct myr_command command = {
    .name = "job",
    .operands = "",
    .summary = "list, show, follow, explain and cancel jobs of a server",
    .example = "myriad job list",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_job_verb = {&command, NULL, .group = CLI_RUN_GROUP};
