/*
 * load: thousands of agents in one process, speaking the real protocol over real TLS connections.
 *
 *     bench_load HOST PORT,... FINGERPRINT TOKENS FOLDER SECONDS [AWAY]
 *
 * TOKENS has a line for each node: its name and its one-time token. Each node makes a key, enrols,
 * connects with its certificate, says what it has, and beats when it was told to; orders are
 * answered at once. With several ports, those of relays, nodes go to them in turn. AWAY nodes a
 * minute are cut off without a word and come again a second later. Papers are kept in FOLDER, so
 * that a second run does not enrol again. A line of JSON on stdout every second says how many are
 * connected and what was lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "myriad/io.h"
#include "myriad/wire.h"

enum { AT_ONCE = 64 };

struct node {
    char name[64], token[160];
    struct myr_io_stream *stream;
    struct myr_io_tls *tls;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    uint32_t id, boot, beat_ms;
    uint64_t sent;
    bool enrolling, busy, welcome, leaves;
    struct myr_buf key;
    uint64_t next_ms; /* beat, or attempt */
};

static struct {
    uv_loop_t loop;
    const char *host, *fingerprint, *folder;
    uint16_t ports[64];
    uint32_t port_count;
    struct node *nodes;
    uint32_t count, under_way, next;
    struct myr_io_tls *stranger;
    uint32_t connected;
    uint64_t beats, dropped, refused, orders, ends_at_ms, away, away_a_minute;
    uv_timer_t tick;
} load;

static void path_of(const struct node *node, const char *what, char ret[512])
{
    snprintf(ret, 512, "%s/%s.%s", load.folder, node->name, what);
}

static void say(struct node *node, enum myr_wire_type type, uint32_t epoch, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_wire_send(&node->sender, &bytes, type, node->welcome ? node->id : MYR_WIRE_NO_NODE, epoch,
                  ++node->sent, message);
    myr_io_write(node->stream, (struct myr_str){bytes.data, bytes.len});
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct node *node = context;
    node->stream = stream;
    say(node, MYR_WIRE_HELLO, 0,
        &(struct myr_wire_hello){.name = myr_str_from(node->name), .version_min = 1, .boot = 7});
    if (!node->enrolling) {
        return;
    }
    struct myr_buf csr = {};
    struct myr_err err = {};
    myr_buf_clear(&node->key);
    if (myr_io_csr_create(node->name, &node->key, &csr, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        exit(1);
    }
    say(node, MYR_WIRE_ENROL, 0,
        &(struct myr_wire_enrol){.token = myr_str_from(node->token), .csr = {csr.data, csr.len}});
    myr_buf_done(&csr);
}

static void save(const struct node *node, const char *what, struct myr_str text)
{
    char path[512];
    struct myr_err err = {};
    struct myr_buf buf = {};
    path_of(node, what, path);
    myr_buf_put(&buf, text.data, text.len);
    if (myr_file_write(path, &buf, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        exit(1);
    }
    myr_buf_done(&buf);
}

static void on_message(struct node *node, const struct myr_wire_message *message)
{
    const void *body = message->body;
    uint32_t epoch = message->head.epoch;
    switch (message->head.type) {
    case MYR_WIRE_CERT: {
        const struct myr_wire_cert *cert = body;
        save(node, "pem", cert->certificate);
        save(node, "key", (struct myr_str){node->key.data, node->key.len});
        save(node, "ca", cert->ca);
        myr_io_close(node->stream);
        return;
    }
    case MYR_WIRE_WELCOME: {
        const struct myr_wire_welcome *welcome = body;
        node->id = welcome->node;
        node->boot = welcome->boot;
        node->beat_ms = welcome->beat_ms;
        node->welcome = true;
        node->busy = false;
        load.under_way--;
        load.connected++;
        /* Spread over the second, as ten thousand that booted at different times are. */
        node->next_ms = uv_now(&load.loop) + myr_hash_u64(node->id) % node->beat_ms;
        say(node, MYR_WIRE_INVENTORY, node->boot,
            &(struct myr_wire_inventory){.host = myr_str_from(node->name),
                                         .gpu_kind = MYR_STR("H100"),
                                         .serial = myr_str_from(node->name),
                                         .gpus = 8,
                                         .cpus = 192,
                                         .memory_bytes = 2ULL << 40});
        return;
    }
    case MYR_WIRE_TEST: {
        const struct myr_wire_test *test = body;
        load.orders++;
        say(node, MYR_WIRE_TESTED, node->boot, &(struct myr_wire_result){.job = test->id});
        return;
    }
    case MYR_WIRE_START: {
        const struct myr_wire_start *start = body;
        load.orders++;
        say(node, MYR_WIRE_STARTED, epoch, &(struct myr_wire_result){.job = start->job});
        return;
    }
    case MYR_WIRE_STOP: {
        const struct myr_wire_stop *stop = body;
        load.orders++;
        say(node, MYR_WIRE_STOPPED, epoch, &(struct myr_wire_result){.job = stop->job});
        return;
    }
    case MYR_WIRE_REFUSED: {
        const struct myr_wire_refused *refused = body;
        load.refused++;
        fprintf(stderr, "load: %s refused: %.*s\n", node->name, (int)refused->text.len,
                refused->text.data);
        return;
    }
    default:
        return;
    }
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct node *node = context;
    struct myr_err err = {};
    (void)stream;
    myr_wire_feed(&node->receiver, bytes);
    for (;;) {
        struct myr_wire_message message;
        int rc = myr_wire_next(&node->receiver, &message, &err);
        if (rc < 0) {
            fprintf(stderr, "load: %s: %s\n", node->name, err.message);
            exit(1);
        }
        if (rc == 0) {
            return;
        }
        on_message(node, &message);
    }
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct node *node = context;
    (void)stream;
    if (node->leaves) {
        load.connected -= node->welcome;
        load.away++;
    } else if (node->welcome) {
        load.connected--;
        load.dropped++;
        fprintf(stderr, "load: %s lost: %s\n", node->name, why->message);
    }
    if (node->busy) {
        load.under_way--;
    }
    node->busy = node->welcome = node->leaves = false;
    node->stream = NULL;
    node->sent = 0;
    myr_wire_receiver_done(&node->receiver);
    if (node->tls) {
        myr_io_tls_free(node->tls);
        node->tls = NULL;
    }
    /* An enrolled one comes again at once; one that failed waits a little. */
    node->next_ms = uv_now(&load.loop) + (node->enrolling && why->code == MYR_OK ? 0 : 1000);
}

static void go(struct node *node)
{
    static const struct myr_io_calls calls = {on_open, on_data, on_closed};
    struct myr_err err = {};
    struct stat status;
    char cert[512], key[512], ca[512];
    path_of(node, "pem", cert);
    path_of(node, "key", key);
    path_of(node, "ca", ca);
    node->enrolling = stat(ca, &status) != 0;
    node->busy = true;
    load.under_way++;
    myr_wire_sender_init(&node->sender);
    myr_wire_receiver_init(&node->receiver);
    struct myr_io_tls_names names = {.certificate = cert, .key = key, .ca = ca};
    if (!node->enrolling && myr_io_tls_create(&names, &node->tls, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        exit(1);
    }
    uint16_t port = load.ports[(uint32_t)(node - load.nodes) % load.port_count];
    if (myr_io_connect(&load.loop, load.host, port, node->enrolling ? load.stranger : node->tls,
                       &calls, node, &node->stream, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        exit(1);
    }
}

/* One after the other, spread over the nodes and over the minute. */
static void send_away(uint64_t now)
{
    static uint64_t gone, since;
    since = since ? since : now;
    while (gone < (now - since) * load.away_a_minute / 60000) {
        struct node *node = &load.nodes[myr_hash_u64(gone++) % load.count];
        if (node->welcome && !node->leaves) {
            node->leaves = true;
            myr_io_abort(node->stream);
        }
    }
}

static void on_tick(uv_timer_t *timer)
{
    static uint64_t told;
    uint64_t now = uv_now(timer->loop);
    for (uint32_t i = 0; i < load.count; i++) {
        struct node *node = &load.nodes[i];
        if (node->welcome && !node->leaves && now >= node->next_ms) {
            node->next_ms += node->beat_ms;
            load.beats++;
            say(node, MYR_WIRE_BEAT, node->boot,
                &(struct myr_wire_beat){.time_ns = myr_clock_ns()});
        } else if (!node->stream && !node->busy && now >= node->next_ms &&
                   load.under_way < AT_ONCE) {
            go(node);
        }
    }
    send_away(now);
    if (now - told >= 1000) {
        told = now;
        printf("{\"connected\":%u,\"beats\":%llu,\"dropped\":%llu,\"refused\":%llu,\"orders\":%llu,"
               "\"away\":%llu}"
               "\n",
               load.connected, (unsigned long long)load.beats, (unsigned long long)load.dropped,
               (unsigned long long)load.refused, (unsigned long long)load.orders,
               (unsigned long long)load.away);
        fflush(stdout);
    }
    if (now >= load.ends_at_ms) {
        exit(0); /* as a power cut would: nothing is said */
    }
}

static void read_nodes(const char *path)
{
    struct myr_buf text = {};
    struct myr_err err = {};
    if (myr_file_read(path, 64 << 20, &text, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        exit(2);
    }
    for (const char *at = text.data; at && *at;) {
        size_t line = strcspn(at, "\n"), name = strcspn(at, " ");
        load.nodes = myr_xrealloc(load.nodes, load.count + 1, sizeof(*load.nodes));
        struct node *node = &load.nodes[load.count++];
        *node = (struct node){};
        snprintf(node->name, sizeof(node->name), "%.*s", (int)name, at);
        if (line > name) {
            snprintf(node->token, sizeof(node->token), "%.*s", (int)(line - name - 1),
                     at + name + 1);
            node->token[strcspn(node->token, "@")] = '\0';
        }
        at += line + (at[line] == '\n');
    }
    myr_buf_done(&text);
}

static bool read_ports(const char *text)
{
    for (const char *at = text; *at && load.port_count < MYR_ARRAY_COUNT(load.ports);) {
        size_t length = strcspn(at, ",");
        uint64_t port;
        if (!myr_str_to_u64((struct myr_str){at, length}, &port) || port > UINT16_MAX) {
            return false;
        }
        load.ports[load.port_count++] = (uint16_t)port;
        at += length + (at[length] == ',');
    }
    return load.port_count > 0;
}

int main(int argc, char **argv)
{
    struct myr_err err = {};
    uint64_t seconds;
    if (argc < 7 || argc > 8 || !read_ports(argv[2]) ||
        !myr_str_to_u64(myr_str_from(argv[6]), &seconds) ||
        (argc == 8 && !myr_str_to_u64(myr_str_from(argv[7]), &load.away_a_minute))) {
        fprintf(stderr,
                "usage: bench_load HOST PORT,... FINGERPRINT TOKENS FOLDER SECONDS [AWAY]\n");
        return 2;
    }
    load.host = argv[1];
    load.folder = argv[5];
    read_nodes(argv[4]);
    uv_loop_init(&load.loop);
    struct myr_io_tls_names names = {.fingerprint = argv[3]};
    if (myr_io_tls_create(&names, &load.stranger, &err) < 0) {
        fprintf(stderr, "load: %s\n", err.message);
        return 2;
    }
    load.ends_at_ms = uv_now(&load.loop) + seconds * 1000;
    uv_timer_init(&load.loop, &load.tick);
    uv_timer_start(&load.tick, on_tick, 0, 10);
    uv_run(&load.loop, UV_RUN_DEFAULT);
    return 0;
}
