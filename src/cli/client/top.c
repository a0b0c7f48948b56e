/*
 * top: the cluster on one screen. An answer like any other, filled by four questions to the server;
 * on a terminal it is filled and drawn anew every second.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "client/client.h"

struct options {
    bool once;
};
static const struct options defaults = {};

static const struct myr_option rows[] = {
    CLI_FLAG("once", struct options, once, "print once and end, on a terminal too"),
};

/*
 * So that all of it fits on one screen; more events are asked for than shown, since some of them
 * are none for people.
 */
enum { BAR = 40, RUNNING_SHOWN = 12, QUEUE_SHOWN = 6, EVENTS_SHOWN = 6, EVENTS_ASKED = 24 };

static const struct myr_command command = {
    .name = "top",
    .operands = "",
    .summary = "watch a cluster on one screen: nodes, GPUs, jobs, queue, events",
    .details = "Drawn anew every second on a terminal, until q or Ctrl-C; elsewhere, and with "
               "--once or -o json, printed once. CSV output lists the jobs that run.",
    .example = "myriad top --once",
    CLI_CLIENT_OPTIONS(rows, defaults),
};

/* Counts that are not zero: "healthy 60, drained 4". */
static const char *counts(struct cli *cli, const struct myr_doc *map)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    for (uint32_t i = 0; map && map->kind == MYR_DOC_MAP && i < map->count; i++) {
        const struct myr_doc_entry *entry = &map->entries[i];
        if (!myr_str_eq(entry->value->text, MYR_STR("0"))) {
            myr_buf_printf(&buf, "%s%.*s %.*s", buf.len ? ", " : "", (int)entry->key.len,
                           entry->key.data, (int)entry->value->text.len, entry->value->text.data);
        }
    }
    return buf.len ? myr_arena_strndup(&cli->arena, buf.data, buf.len) : "none";
}

/* '-' are GPUs that are neither busy nor free: their nodes are out. */
static void put_bar(struct cli *cli, const struct myr_doc *cluster)
{
    int64_t all = client_i64(cluster, "gpus"), busy = client_i64(cluster, "gpus_busy");
    int64_t free_gpus = client_i64(cluster, "gpus_free");
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++) {
        int64_t at = all > 0 ? all * i / BAR : 0;
        bar[i] = at < busy ? '#' : at < busy + free_gpus ? '.' : '-';
    }
    bar[BAR] = '\0';
    myr_answer_fact(&cli->answer, "GPUs", "[%s]", bar);
    myr_answer_fact(&cli->answer, "", "%s busy (#), %s free (.) of %s", MYR_GROUPED((uint64_t)busy),
                    MYR_GROUPED((uint64_t)free_gpus), MYR_GROUPED((uint64_t)all));
}

/* Of a stream of events, so much as was there when we asked. */
struct feed {
    struct myr_buf text;
    int64_t until; /* the number of the last event that there was */
};

/* A stream of events has no end of its own: false, which ends it, when the last one is whole. */
static bool on_piece(void *context, struct myr_str bytes)
{
    struct feed *feed = context;
    myr_buf_put(&feed->text, bytes.data, bytes.len);
    char last[48];
    /* An event ends with an empty line: the last one is whole when that has come behind its id. */
    snprintf(last, sizeof(last), "id: %lld\n", (long long)feed->until);
    const char *at = strstr(feed->text.data, last);
    return feed->text.len < (1U << 20) && !(at && strstr(at, "\n\n"));
}

/* "id: 5\nevent: node\ndata: {...}\n\n" */
static void put_event(struct cli *cli, const char *kind, const char *data)
{
    const struct myr_doc *doc;
    size_t length = strcspn(data, "\n");
    if (myr_doc_read_json(&cli->arena, "event", (struct myr_str){data, length}, &doc, NULL) < 0) {
        return;
    }
    bool node = strncmp(kind, "node", 4) == 0, job = strncmp(kind, "job", 3) == 0;
    const char *name = client_text(cli, doc, "name"), *state = client_text(cli, doc, "state");
    const char *says = node  ? myr_arena_printf(&cli->arena, "node %s: %s", name, state)
                       : job ? myr_arena_printf(&cli->arena, "job %s, %s: %s",
                                                client_text(cli, doc, "id"), name, state)
                             : client_text(cli, doc, "text");
    myr_answer_object(&cli->answer, NULL);
    myr_answer_i64(&cli->answer, "seq", client_i64(doc, "seq"));
    myr_answer_text(&cli->answer, "time", client_time(cli, doc, "time_ms"));
    myr_answer_text(&cli->answer, "says", says);
    myr_answer_end(&cli->answer);
}

/* Those that are shown: "doorbell" and "lost" tell of no node and no job. */
static uint32_t count_events(const char *text)
{
    uint32_t count = 0;
    for (const char *at = text; at && (at = strstr(at, "\nevent: ")); at++) {
        count += strncmp(at + 8, "doorbell", 8) != 0 && strncmp(at + 8, "lost", 4) != 0;
    }
    return count;
}

/*
 * Oldest first, so that the newest stands at the bottom. A feed that was cut in the middle of an
 * event leaves that one out.
 */
static void put_events(struct cli *cli, const struct feed *feed)
{
    static const struct myr_answer_column columns[] = {{"time", "TIME", 0, 0},
                                                       {"says", "EVENT", 0, 0}};
    uint32_t count = feed->text.len ? count_events(feed->text.data) : 0;
    struct myr_value *list = myr_answer_list(&cli->answer, "events");
    for (const char *at = feed->text.len ? feed->text.data : NULL;
         at && (at = strstr(at, "\nevent: ")); at++) {
        const char *kind = at + 8, *data = strstr(at, "\ndata: ");
        bool told = strncmp(kind, "doorbell", 8) != 0 && strncmp(kind, "lost", 4) != 0;
        /* Only the last of them: 'count' is how many are left, this one included. */
        if (told && data && count-- <= EVENTS_SHOWN) {
            put_event(cli, kind, data + 7);
        }
    }
    myr_answer_end(&cli->answer);
    if (list->count > 0) {
        myr_answer_table(&cli->answer, list, columns, MYR_ARRAY_COUNT(columns));
    }
}

/* 'seq' of the cluster is the number that the next event will have. */
static int read_events(const struct client *client, const struct myr_doc *cluster, struct feed *ret,
                       struct myr_err *err)
{
    struct myr_http_answer answer = {};
    int64_t next = client_i64(cluster, "seq");
    ret->until = next - 1;
    struct myr_http_request request = {
        .method = "GET",
        .url = myr_arena_printf(&client->cli->arena, "%s/v1/events?after=%lld", client->url,
                                (long long)(next - EVENTS_ASKED)),
        .token = client->token,
        .ca = client->ca,
        .timeout_s = 1};
    int rc = myr_http_ask(&request, on_piece, ret, &answer, err);
    myr_http_answer_done(&answer);
    return rc == MYR_EAWAY ? MYR_OK : rc; /* nothing has happened yet: it waits for the first */
}

/* All that is not queued has nodes, or is about to: it is shown as running. */
static void put_jobs(struct cli *cli, const struct myr_doc *doc, struct myr_value **ret)
{
    const struct myr_doc *jobs = myr_doc_get(doc, "jobs");
    uint32_t shown = 0;
    *ret = myr_answer_list(&cli->answer, "running");
    for (uint32_t i = 0; jobs && jobs->kind == MYR_DOC_LIST && i < jobs->count; i++) {
        const struct myr_doc *job = jobs->items[i];
        bool runs =
            job->kind == MYR_DOC_MAP && strcmp(client_text(cli, job, "state"), "queued") != 0;
        if (runs && shown++ < RUNNING_SHOWN) {
            client_put(cli, NULL, job);
        }
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, *ret);
}

/* The first that wait, in the order of the queue. */
static void put_queue(struct cli *cli, const struct myr_doc *doc, struct myr_value **ret)
{
    const struct myr_doc *queue = myr_doc_get(doc, "queue");
    *ret = myr_answer_list(&cli->answer, "queue");
    for (uint32_t i = 0;
         queue && queue->kind == MYR_DOC_LIST && i < queue->count && i < QUEUE_SHOWN; i++) {
        if (queue->items[i]->kind == MYR_DOC_MAP) {
            client_put(cli, NULL, queue->items[i]);
        }
    }
    myr_answer_end(&cli->answer);
}

/* The whole screen, as an answer: what a program gets is what is drawn. */
static int fill(const struct client *client, struct myr_err *err)
{
    static const struct myr_answer_column running_columns[] = {
        {"id", "ID", MYR_COLUMN_NUMBER, 0},
        {"name", "NAME", 0, 0},
        {"state", "STATE", 0, 0},
        {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
        {"step", "STEP", MYR_COLUMN_NUMBER, 0},
        {"failures", "FAILURES", MYR_COLUMN_NUMBER, 0},
        {"tenant", "TENANT", 0, 0},
    };
    static const struct myr_answer_column queue_columns[] = {
        {"id", "ID", MYR_COLUMN_NUMBER, 0},
        {"name", "WAITING", 0, 0},
        {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
        {"reason", "FOR", 0, 0},
    };
    struct cli *cli = client->cli;
    const struct myr_doc *cluster, *jobs, *queue;
    struct myr_value *running, *waiting;
    struct feed feed = {};
    MYR_TRY(client_get(client, "/v1/cluster", &cluster, err));
    MYR_TRY(client_get(client, "/v1/jobs", &jobs, err));
    MYR_TRY(client_get(client, "/v1/queue", &queue, err));
    int rc = read_events(client, cluster, &feed, err);
    client_put(cli, "cluster", cluster);
    put_jobs(cli, jobs, &running);
    put_queue(cli, queue, &waiting);
    myr_answer_fact(&cli->answer, "cluster", "%s (%s), %s%s", client_text(cli, cluster, "name"),
                    client_text(cli, cluster, "world"), client_time(cli, cluster, "time_ms"),
                    strcmp(client_text(cli, cluster, "read_only"), "true") == 0 ? ", read-only"
                                                                                : "");
    myr_answer_fact(&cli->answer, "nodes", "%s", counts(cli, myr_doc_get(cluster, "node_states")));
    put_bar(cli, cluster);
    myr_answer_fact(&cli->answer, "jobs", "%s", counts(cli, myr_doc_get(cluster, "job_states")));
    myr_answer_table(&cli->answer, running, running_columns, MYR_ARRAY_COUNT(running_columns));
    if (waiting->count > 0) {
        myr_answer_table(&cli->answer, waiting, queue_columns, MYR_ARRAY_COUNT(queue_columns));
    }
    put_events(cli, &feed);
    myr_buf_done(&feed.text);
    return rc;
}

/* As many lines as the screen has: what is at the top is asked first. */
static void put_screen(struct myr_buf *screen, const struct myr_buf *text, uint32_t lines)
{
    /* To the corner, and all of it cleared: what is drawn may be shorter than before. */
    myr_buf_puts(screen, "\x1b[H\x1b[2J");
    const char *at = text->len ? text->data : "";
    for (uint32_t line = 1; *at && line < lines; line++) {
        size_t length = strcspn(at, "\n");
        myr_buf_put(screen, at, length);
        myr_buf_puts(screen, "\r\n");
        at += length + (at[length] == '\n');
    }
    myr_buf_puts(screen, "q ends");
}

/* A server that is away is a line on the screen and no end: the next second asks again. */
static int draw(const struct client *client, struct myr_err *err)
{
    MYR_CLEANUP(client_round_done) struct client_round round;
    /* Where the terminal does not say. Asked at every drawing: windows change. */
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf screen = {};
    client_round_begin(client, &round);
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    struct myr_answer_form form = {
        .format = MYR_FORMAT_TABLE, .width = size.ws_col, .colour = true};
    int rc = fill(&round.client, err);
    if (rc == MYR_EAWAY || rc == MYR_EIO || rc == MYR_EOFTEN) {
        myr_buf_printf(&text, "%s\n", err->message); /* it may come back */
        rc = MYR_OK;
    } else if (rc == MYR_OK) {
        rc = myr_answer_write(&round.cli.answer, &form, &text, err);
    }
    put_screen(&screen, &text, size.ws_row);
    if (rc == MYR_OK && cli_print(&screen) != CLI_DONE) {
        rc = myr_err_set(err, MYR_EIO, "the terminal is gone");
    }
    return rc;
}

/* Ctrl-C comes as a letter here, so that the terminal is always given back as it was. */
static bool key_ends(void)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    return poll(&keys, 1, 1000) > 0 &&
           (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 3 || key == 4);
}

/* Until a key ends it or the server refuses; the terminal is given back as it was in any case. */
static int watch(const struct client *client, struct myr_err *err)
{
    struct termios before, raw;
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    if (tcgetattr(STDIN_FILENO, &before) != 0) {
        return myr_err_errno(err, "reading the settings of", "the terminal");
    }
    raw = before;
    /* Keys come one by one and unseen; the other screen is drawn on, and given back at the end. */
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    myr_buf_puts(&words, "\x1b[?1049h\x1b[?25l");
    (void)cli_print(&words);
    int rc;
    do {
        rc = draw(client, err);
    } while (rc == MYR_OK && !key_ends());
    myr_buf_clear(&words);
    myr_buf_puts(&words, "\x1b[?25h\x1b[?1049l");
    (void)cli_print(&words);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return rc;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct client client;
    MYR_TRY(client_open(cli, &client, err));
    if (!options->once && cli->common.format == MYR_FORMAT_TABLE && isatty(STDIN_FILENO) &&
        isatty(STDOUT_FILENO)) {
        MYR_TRY(watch(&client, err));
    }
    return fill(&client, err); /* what was seen last stays on the screen */
}

const struct cli_verb cli_top_verb = {&command, run, .group = CLI_RUN_GROUP};
