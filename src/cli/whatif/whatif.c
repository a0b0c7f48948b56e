/*
 * whatif: a question to a saved state of the controller. The state is a copy, from a file or from a
 * server: what is tried on it changes nothing.
 */
#include "myriad/control/whatif.h"
#include "client/client.h"

/* 'lose_leaf' counts from 0, so that "not given" is the largest number. */
struct options {
    const char *lose;
    bool silent;
    uint64_t lose_leaf, add_gpus, submit_gpus, priority;
};

enum { TIMED_ROUNDS = 9 }; /* with --timing: the first touches memory that is new */

static const struct options defaults = {.lose_leaf = UINT64_MAX};

static const struct myr_option rows[] = {
    CLI_TEXT("lose", "NODES", struct options, lose,
             "lose these nodes: 12, 0-15, node/00012; several with commas"),
    CLI_COUNT("lose-leaf", struct options, lose_leaf, 0, UINT32_MAX,
              "lose all nodes under this leaf, counted from 0"),
    CLI_FLAG("silent", struct options, silent,
             "those nodes fall silent; without it they report that they have failed"),
    CLI_COUNT("add-gpus", struct options, add_gpus, 1, 1 << 24, "add so many GPUs, in whole nodes"),
    CLI_COUNT("submit-gpus", struct options, submit_gpus, 1, 1 << 24,
              "submit a job of so many GPUs"),
    {CLI_ROW("priority", MYR_OPTION_U64, "N", struct options, priority, "of that job"),
     .max = MYR_PRIORITY_MAX, .needs = "submit-gpus"},
};

/* A saved state asks no server. */
static const struct myr_option_rule rules[] = {{"server token-file ca dir", .alone = true}};

static const struct myr_command command = {
    .name = "whatif",
    .operands = "[STATE]",
    .summary = "ask a saved state, or a server: lose nodes, add GPUs, submit a job",
    .details = "The state is what twin run --state has written; without one it is that of the "
               "server, as it is now. Neither is changed. Exit status 1: the submitted job would "
               "wait or never start, or jobs would find no room. CSV output lists the counts.",
    .example = "myriad whatif state.myr --lose-leaf 3 --submit-gpus 256",
    CLI_CLIENT_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .operand_max = 1,
};

static void put_count(struct myr_answer *answer, const char *what, uint64_t count)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "what", what);
    myr_answer_u64(answer, "count", count);
    myr_answer_end(answer);
}

/* Null: no job was asked about. */
static void put_submitted(struct myr_answer *answer, const struct myr_whatif_answer *a)
{
    if (!a->submitted) {
        myr_answer_null(answer, "submitted");
        return;
    }
    myr_answer_object(answer, "submitted");
    myr_answer_bool(answer, "starts", a->placed);
    myr_answer_u64(answer, "nodes", a->submit_nodes);
    myr_answer_u64(answer, "leaves", a->submit_groups);
    myr_answer_text(answer, "lacks", a->placed ? NULL : myr_why_name(a->why.kind));
    myr_answer_u64(answer, "end_or_move_jobs", a->why.stop_count);
    myr_answer_u64(answer, "end_or_move_gpus", a->why.stop_gpus);
    myr_answer_end(answer);
}

/* Times are of this machine and moment: they are kept apart from the answer. */
static void fill(struct cli *cli, const struct myr_whatif_answer *a)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("what", "WHAT", 0), MYR_COLUMN("count", "COUNT", MYR_COLUMN_NUMBER)};
    struct myr_answer *answer = &cli->answer;
    struct myr_value *counts = myr_answer_list(answer, "counts");
    put_count(answer, "nodes", a->nodes);
    put_count(answer, "nodes lost", a->nodes_lost);
    put_count(answer, "nodes added", a->nodes_added);
    put_count(answer, "free GPUs before", a->free_gpus_before);
    put_count(answer, "free GPUs after", a->free_gpus_after);
    put_count(answer, "jobs that move", a->moves);
    put_count(answer, "jobs that find no room", a->waits);
    put_count(answer, "waiting jobs that start", a->starts);
    myr_answer_end(answer);
    myr_answer_list(answer, "jobs");
    for (uint32_t i = 0; i < a->job_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "job", a->jobs[i].job);
        myr_answer_u64(answer, "gpus", a->jobs[i].gpus);
        myr_answer_text(answer, "fate", myr_whatif_fate_name(a->jobs[i].fate));
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    put_submitted(answer, a);
    myr_answer_rows(answer, counts);
    myr_answer_timing(answer, "fork_s", (double)a->fork_ns / 1e9, 6);
    myr_answer_timing(answer, "answer_s", (double)a->took_ns / 1e9, 6);
    myr_answer_table(answer, counts, columns, MYR_ARRAY_COUNT(columns));
    if (a->submitted) {
        if (a->placed) {
            myr_answer_fact(answer, "the job", "starts on %s under %s",
                            MYR_COUNT(a->submit_nodes, "node"),
                            MYR_COUNT(a->submit_groups, "leaf"));
        } else {
            myr_answer_fact(answer, "the job", "%s: %s",
                            a->why.kind == MYR_WHY_NEVER ? "never starts" : "waits",
                            myr_why_words(a->why.kind));
        }
    }
    cli->no = a->waits > 0 || (a->submitted && !a->placed);
}

/* The server's state as bytes, loaded here: the question costs the server nothing more. */
static int ask_server(struct cli *cli, struct myr_control **ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    MYR_TRY(client_bytes(cli, "/v1/state", &bytes, err));
    return myr_control_load((struct myr_str){bytes.len ? bytes.data : "", bytes.len}, ret, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *control = NULL;
    struct myr_whatif_answer answer;
    struct myr_whatif_question question = {
        .lose = options->lose,
        .lose_leaf = options->lose_leaf == UINT64_MAX ? -1 : (int64_t)options->lose_leaf,
        .silent = options->silent,
        .add_gpus = (uint32_t)options->add_gpus,
        .submit_gpus = (uint32_t)options->submit_gpus,
        .priority = (int32_t)options->priority,
        .clock_ns = myr_clock_ns,
        .rounds = cli->common.timing ? TIMED_ROUNDS : 1};
    /* One way or the other there is a controller of our own, to which it can be done. */
    int rc = cli->operands.count > 0 ? myr_control_read(cli->operands.items[0], &control, err)
                                     : ask_server(cli, &control, err);
    if (rc == MYR_OK) {
        rc = myr_whatif(control, &question, &answer, err);
    }
    if (rc == MYR_OK) {
        fill(cli, &answer);
    }
    return rc;
}

const struct cli_verb cli_whatif_verb = {&command, run, .group = CLI_RUN_GROUP};
