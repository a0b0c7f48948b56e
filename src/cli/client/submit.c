/*
 * submit: a job file to a server, and where asked the wait for its end. The file goes to the server
 * as it is, after a look at what kind of file it is, and with the layout's words in it where one is
 * given; what is wrong with it the server says. With --kubeconfig the same file becomes a Job of a
 * Kubernetes cluster.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "client/job.h"
#include "jobfile/jobfile.h"
#include "kubernetes/kubernetes.h"
#include "myriad/io/ca.h"
#include "myriad/job.h"
#include "myriad/work/layout_file.h"

/* 'kubernetes' says where the job goes instead of a server; it counts only with a kubeconfig. */
struct options {
    const char *layout, *at;
    bool wait;
    struct kubernetes_job kubernetes;
};
static const struct options defaults = {
    .kubernetes = {.scheduler = "myriad", .resource = "nvidia.com/gpu", .gpus_per_node = 8}};

/* Of sending the job, where nobody knows whether it arrived. */
enum { TRIES = 3 };

static const struct myr_option rows[] = {
    CLI_PATH("layout", "FILE", struct options, layout,
             "a layout that myriad fit --layout-out wrote: sets gpus, layout and MYRIAD_LAYOUT"),
    CLI_TEXT("at", "TIME", struct options, at,
             "starts at this minute, 2026-11-23 09:00 of this machine's time; its GPUs are kept "
             "free of whoever would not end before, and the file has a time_limit"),
    CLI_FLAG("wait", struct options, wait, "until it ends; exit status 1 when it fails"),
    CLI_PATH("kubeconfig", "FILE", struct options, kubernetes.kubeconfig,
             "makes a Kubernetes Job there instead of asking a server"),
    CLI_TEXT("context", "NAME", struct options, kubernetes.context, "of that file"),
    CLI_TEXT("namespace", "NAME", struct options, kubernetes.space, "of that Job"),
    CLI_TEXT("image", "IMAGE", struct options, kubernetes.image,
             "of that Job, where the file names none"),
    CLI_COUNT("gpus-per-node", struct options, kubernetes.gpus_per_node, 1, 64, "of that cluster"),
};

/* A job goes to a server, or becomes a Job of Kubernetes: what is said of the other is not heard.
 */
static const struct myr_option_rule rules[] = {
    {"context namespace image gpus-per-node", .needs = "kubeconfig"},
    {"server token-file ca dir at", .against = "kubeconfig"},
};

static const struct myr_command command = {
    .name = "submit",
    .operands = "FILE",
    .summary = "queue a job on a server",
    .details = "FILE is a job file, YAML or JSON ('-': standard input); docs/server.md lists its "
               "keys. An answer that is lost on the way is asked for again, and the job is one all "
               "the same. With --layout the ranks find the layout's words in MYRIAD_LAYOUT "
               "(tp=8,pp=4,...), and the job has as many GPUs as it takes. With --wait: exit "
               "status 0 when it is done, 1 when it failed or was cancelled; of an array, when all "
               "of it is done. With --kubeconfig the job becomes a Job of that Kubernetes cluster, "
               "which 'myriad kubernetes schedule' binds. Keys of the file that nobody reads there "
               "are named. CSV output has one row, of an array one for each job.",
    .example = "myriad submit examples/jobs/hello.yaml --wait",
    CLI_CLIENT_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .operand_min = 1,
    .operand_max = 1,
};

/* With the place of 'at': a complaint about it then names a line of the user's file. */
static struct myr_doc *new_text(struct cli *cli, const struct myr_doc *at, const char *text)
{
    struct myr_doc *node = myr_arena_alloc(&cli->arena, 1, sizeof(*node));
    *node = (struct myr_doc){.kind = MYR_DOC_SCALAR,
                             .file = at->file,
                             .line = at->line,
                             .column = at->column,
                             .text = myr_str_from(text)};
    return node;
}

/* A copy of the map with 'key' set: replaced where it was, else at the end. */
static struct myr_doc *with_key(struct cli *cli, const struct myr_doc *map, const char *key,
                                const struct myr_doc *value)
{
    struct myr_doc *copy = myr_arena_alloc(&cli->arena, 1, sizeof(*copy));
    *copy = *map;
    copy->entries = myr_arena_alloc(&cli->arena, map->count + 1, sizeof(*copy->entries));
    copy->count = 0;
    bool done = false;
    for (uint32_t i = 0; i < map->count; i++) {
        copy->entries[copy->count] = map->entries[i];
        if (myr_str_eq(map->entries[i].key, myr_str_from(key))) {
            copy->entries[copy->count].value = value;
            done = true;
        }
        copy->count++;
    }
    if (!done) {
        copy->entries[copy->count++] =
            (struct myr_doc_entry){.key = myr_str_from(key), .value = value};
    }
    return copy;
}

/* The layout's lines "tp: 8" as words, which every verb takes by --layout: "tp=8,pp=4". */
static void put_words(const struct myr_layout *layout, struct myr_buf *words)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf lines = {};
    myr_layout_write(&lines, layout);
    for (const char *at = lines.data; at && *at;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "\n"), name = strcspn(at, ":\n");
        if (name + 2 < length) {
            myr_buf_printf(words, "%s%.*s=%.*s", words->len ? "," : "", (int)name, at,
                           (int)(length - name - 2), at + name + 2);
        }
        at += length + (at[length] == '\n');
    }
}

/* The job file with what the layout says; where both say how large, they must say the same. */
static int add_layout(struct cli *cli, const char *file, const char *path, struct myr_buf *text,
                      struct myr_err *err)
{
    const struct myr_doc *top;
    struct myr_layout layout;
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    struct myr_str body = {text->len ? text->data : "", text->len};
    MYR_TRY(myr_layout_file_read(&cli->arena, path, NULL, &layout, err));
    MYR_TRY(myr_jobfile_tree(&cli->arena, file, body, &top, err));
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "a job file", err));
    /* A size by nodes is refused beside a layout, whatever it comes to. */
    uint64_t gpus = myr_layout_gpus(&layout), given;
    const struct myr_doc *said = myr_doc_get(top, "gpus"), *nodes = myr_doc_get(top, "nodes");
    if (said) {
        MYR_TRY(myr_doc_u64(said, "gpus", 1, MYR_LAYOUT_GPUS_MAX, &given, err));
    }
    if (nodes || (said && given != gpus)) {
        return myr_doc_error(err, nodes ? nodes : said, MYR_EINVAL,
                             "the layout takes %llu GPU%s: 'gpus: %llu', or no size at all, is "
                             "expected beside --layout",
                             (unsigned long long)gpus, cli_s(gpus), (unsigned long long)gpus);
    }
    put_words(&layout, &words);
    const char *kept = myr_arena_strndup(&cli->arena, words.data, words.len);
    const struct myr_doc *env = myr_doc_get(top, "env"), *word = new_text(cli, top, kept);
    struct myr_doc empty = {.kind = MYR_DOC_MAP, .file = top->file};
    if (env) {
        MYR_TRY(myr_doc_expect(env, MYR_DOC_MAP, "env", err));
    }
    const char *number = myr_arena_printf(&cli->arena, "%llu", (unsigned long long)gpus);
    top = with_key(cli, top, "gpus", new_text(cli, top, number));
    top = with_key(cli, top, "layout", word);
    top = with_key(cli, top, "env", with_key(cli, env ? env : &empty, "MYRIAD_LAYOUT", word));
    myr_buf_clear(text);
    myr_doc_write_yaml(top, text);
    return MYR_OK;
}

/* The server knows no file names: its places are in 'file'. */
static int name_file(const char *file, struct myr_err *err)
{
    if (err->code == MYR_EINVAL && strncmp(err->message, "job:", 4) == 0) {
        char rest[MYR_ERR_MESSAGE_MAX];
        snprintf(rest, sizeof(rest), "%s", err->message + 4);
        snprintf(err->message, sizeof(err->message), "%.200s:%.300s", file, rest);
    }
    return err->code;
}

/* "2026-11-23 09:00", by the clock on this machine's wall, as the path that asks for it. */
static int path_at(struct cli *cli, const char *at, const char **ret, struct myr_err *err)
{
    struct tm parts = {.tm_isdst = -1}, given;
    const char *rest = at ? strptime(at, "%Y-%m-%d %H:%M", &parts) : NULL;
    *ret = "/v1/jobs";
    if (!at) {
        return MYR_OK;
    }
    given = parts;
    time_t moment = rest && *rest == '\0' ? mktime(&parts) : -1;
    /* The 31st of a short month is the first of the next to mktime(), and to nobody else. */
    if (moment < 0 || parts.tm_mday != given.tm_mday) {
        return myr_err_set(err, MYR_EINVAL, "--at '%.40s' is no time such as 2026-11-23 09:00", at);
    }
    *ret = myr_arena_printf(&cli->arena, "/v1/jobs?at=%lld", (long long)moment / 60);
    return MYR_OK;
}

/* All tries carry one key, drawn here: the server takes a job of the same key once. */
static int send_job(const struct client *client, const char *file, struct myr_str body,
                    const struct myr_doc **ret, struct myr_err *err)
{
    const struct options *options = client->cli->options;
    const char *path;
    MYR_TRY(path_at(client->cli, options->at, &path, err));
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    int rc = MYR_OK;
    MYR_TRY(myr_io_secret(16, &key, err));
    for (int tries = 0; tries < TRIES; tries++) {
        struct myr_err why = {};
        if (tries > 0) {
            sleep(1);
        }
        rc = client_call(client,
                         &(struct client_call){.method = "POST",
                                               .path = path,
                                               .body = body,
                                               .type = "application/yaml",
                                               .key = key.data},
                         ret, &why);
        if (rc == MYR_OK) {
            return MYR_OK;
        }
        *err = why;
        if (rc != MYR_EIO) {
            break; /* it is known what happened */
        }
    }
    return name_file(file, err);
}

/* One look; true: it is over. What a server that is away says is no end of the job. */
static int look(const struct client *client, const char *path, char told[32], bool *ret_over,
                struct myr_err *err)
{
    MYR_CLEANUP(client_round_done) struct client_round round;
    const struct myr_doc *doc;
    struct myr_err why = {};
    client_round_begin(client, &round);
    int rc = client_get(&round.client, path, &doc, &why);
    if (rc == MYR_EAWAY || rc == MYR_EIO || rc == MYR_EOFTEN) {
        return MYR_OK;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    const char *state = client_text(&round.cli, doc, "state");
    *ret_over = job_has_ended(state);
    /* Each change of state once, for whoever watches. */
    if (strcmp(state, told) != 0 && isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s\n", state);
    }
    snprintf(told, 32, "%s", state);
    return MYR_OK;
}

/* Asked once a second. A server that is away for a while is waited for: the job does not notice. */
static int wait_for_end(const struct client *client, const char *path, struct myr_err *err)
{
    char told[32] = "";
    for (bool over = false; !over;) {
        MYR_TRY(look(client, path, told, &over, err));
        if (!over) {
            sleep(1);
        }
    }
    return MYR_OK;
}

/* An older server does not say. */
static void show_unheeded(struct cli *cli, const struct myr_doc *made)
{
    const struct myr_doc *list = myr_doc_get(made, "unheeded");
    const char *keys[MYR_RECORD_ROWS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; list && list->kind == MYR_DOC_LIST && i < list->count; i++) {
        if (list->items[i]->kind == MYR_DOC_SCALAR && count < MYR_RECORD_ROWS_MAX) {
            keys[count++] =
                myr_arena_strndup(&cli->arena, list->items[i]->text.data, list->items[i]->text.len);
        }
    }
    bool slurm = strcmp(client_text(cli, made, "world"), "slurm") == 0;
    jobfile_put_unheeded(cli, keys, count,
                         slurm ? myr_job_world_names[MYR_JOB_SLURM] : "a cluster of agents");
}

/* One job, by its own page; 'ret_bad': it is not done. */
static int show_one(const struct client *client, uint32_t id, bool wait, uint32_t *ret_bad,
                    struct myr_err *err)
{
    struct cli *cli = client->cli;
    const struct myr_doc *doc;
    const char *path = myr_arena_printf(&cli->arena, "/v1/jobs/%u", id);
    if (wait) {
        MYR_TRY(wait_for_end(client, path, err));
    }
    /* Shown as it is now: what the POST answered may be old after a wait. */
    MYR_TRY(client_get(client, path, &doc, err));
    job_show(cli, doc);
    *ret_bad = strcmp(client_text(cli, doc, "state"), "done") == 0 ? MYR_NONE : id;
    return MYR_OK;
}

/* All that was submitted, after its end where that is asked for, and what comes next. */
static int show(const struct client *client, const struct myr_doc *made, struct myr_err *err)
{
    struct cli *cli = client->cli;
    const struct options *options = cli->options;
    struct job_array array;
    uint32_t bad;
    MYR_TRY(job_array_of(cli, made, &array, err));
    if (array.count == 1) {
        MYR_TRY(show_one(client, array.ids[0], options->wait, &bad, err));
    } else {
        MYR_TRY(options->wait ? job_array_wait(client, &array, err) : MYR_OK);
        MYR_TRY(job_array_show(client, &array, &bad, err));
    }
    myr_answer_list(&cli->answer, "kubernetes"); /* none was made there */
    myr_answer_end(&cli->answer);
    show_unheeded(cli, made);
    cli->no = options->wait && bad != MYR_NONE;
    /* Of several whoever waited wants to read of the one that went wrong. */
    myr_answer_next(&cli->answer, NULL, "myriad job %s %u%s", options->wait ? "logs" : "show",
                    options->wait && bad != MYR_NONE ? bad : array.ids[0], client_where(cli));
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *file = cli->operands.items[0];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct myr_doc *made;
    struct client client;
    MYR_TRY(jobfile_read(file, &text, err));
    file = myr_file_name(file);
    if (options->layout) {
        MYR_TRY(add_layout(cli, file, options->layout, &text, err));
    }
    struct myr_str body = {text.len ? text.data : "", text.len};
    /* There the cluster is asked and no server: nobody of ours would know when the Job ends. */
    if (options->kubernetes.kubeconfig) {
        if (options->wait) {
            return myr_err_set(err, MYR_EINVAL,
                               "--wait is for a server; 'kubectl wait job' waits for a Job");
        }
        return kubernetes_submit(cli, &options->kubernetes, body, err);
    }
    MYR_TRY(client_open(cli, &client, err));
    MYR_TRY(send_job(&client, file, body, &made, err));
    return show(&client, made, err);
}

const struct cli_verb cli_submit_verb = {&command, run, .group = CLI_RUN_GROUP};
