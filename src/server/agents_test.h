/*
 * Agents that a test plays by hand, without sockets: what they say goes in, and everything that
 * comes of it is put into one text: events for the core, words for people, the audit. Include it
 * after cmocka.
 */
#pragma once

#include <inttypes.h>

#include "engine/fence.h"
#include "http.h"
#include "link.h"
#include "server_test.h"

enum { NODES = 6 };

/* Everything that a test looks at, line by line; compared as a whole in the end. */
static struct myr_buf story;
static struct bench bench;
static struct server *server;
static uint64_t told;  /* of the feed, so far */
static size_t audited; /* bytes of the audit, so far */

/* --- what is looked at */

/* Before the core takes it: what agents' words were made into. */
static inline void put_event(const struct myr_event *event)
{
    myr_buf_printf(&story,
                   "  event %s n%u boot %u job %d.%u code %u step %" PRId64 " saved %" PRId64 "\n",
                   myr_event_kind_name((enum myr_event_kind)event->kind), event->node, event->boot,
                   (int)event->job, event->epoch, event->code, event->value, event->saved);
}

/* What people hear of it, in three places: the log, those who watch, the audit. */
static inline void put_told(void)
{
    lines_put(&story);
    for (; told < server->feed.next; told++) {
        myr_buf_printf(&story, "  told %s\n",
                       strstr(feed_get(&server->feed, told)->data, "\"kind\""));
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf audits = {};
    char path[128];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/audit.log", server->folder);
    assert_int_equal(myr_file_read(path, 1 << 20, &audits, &err), MYR_OK);
    while (audited < audits.len) {
        const char *end = strchr(audits.data + audited, '\n');
        const char *who = strstr(audits.data + audited, "\"who\"");
        myr_buf_printf(&story, "  audit %.*s\n", (int)(end - who - 1), who);
        audited = (size_t)(end + 1 - audits.data);
    }
}

/* One turn of the desk, with what went in and what came of it. */
static inline void taken(void)
{
    struct myr_err err = {};
    for (size_t i = 0; i < server->inbox.count; i++) {
        put_event(&server->inbox.items[i]);
    }
    size_t acks = server->to_ack.count;
    assert_int_equal(desk_run(server, &err), MYR_OK);
    if (acks) {
        myr_buf_printf(&story, "  acknowledged %zu\n", acks);
        assert_int_equal(server->to_ack.count, 0);
    }
    put_told();
}

/* --- agents */

/* The far end of a session; it hears nothing of what the server says. */
struct agent {
    struct session *session;
    struct myr_wire_sender sender;
    uint64_t sequence;
};
static struct agent agents[NODES];

/* As bytes: the server's own reader takes them apart. */
static inline void say(struct agent *agent, enum myr_wire_type type, uint32_t epoch,
                       const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    uint32_t node = agent->session->node == MYR_NONE ? MYR_WIRE_NO_NODE : agent->session->node;
    myr_wire_send(&agent->sender, &bytes, type, node, epoch, ++agent->sequence, message);
    session_take(agent->session, (struct myr_str){bytes.data, bytes.len});
}

/* One with that name and certificate's number, as a relay would vouch for them. */
static inline void came(struct agent *agent, const char *name, const char *serial)
{
    *agent = (struct agent){.session = session_new(server)};
    snprintf(agent->session->peer, sizeof(agent->session->peer), "%s", name);
    snprintf(agent->session->serial, sizeof(agent->session->serial), "%s", serial);
    snprintf(agent->session->address, sizeof(agent->session->address), "10.0.0.%s:7", serial);
    myr_wire_sender_init(&agent->sender);
}

static inline void put_session(const struct agent *agent)
{
    const struct session *session = agent->session;
    myr_buf_printf(&story, "  session node %d%s%s\n", (int)session->node,
                   session->greeted ? " greeted" : "", session->over ? " over" : "");
}

static inline void hello(struct agent *agent, const char *name, uint64_t boot, uint32_t version)
{
    say(agent, MYR_WIRE_HELLO, 0,
        &(struct myr_wire_hello){.name = myr_str_from(name), .version_min = version, .boot = boot});
    put_session(agent);
    taken();
}

static inline void gone(struct agent *agent)
{
    session_gone(agent->session);
    agent->session = NULL;
}

/* With the certificate that life_begin() has put into its row. */
static inline void join(uint32_t node, uint64_t boot)
{
    char name[8], serial[8];
    snprintf(name, sizeof(name), "n%u", node);
    snprintf(serial, sizeof(serial), "%u", node + 1);
    myr_buf_printf(&story, "%s says hello, boot %" PRIu64 "\n", name, boot);
    came(&agents[node], name, serial);
    hello(&agents[node], name, boot, 1);
}

static inline void result(uint32_t node, enum myr_wire_type type, uint64_t job, uint32_t epoch,
                          uint32_t code, const char *words)
{
    myr_buf_printf(&story, "n%u: %s job %" PRIu64 ".%u code %u %s\n", node,
                   myr_wire_type_name((uint8_t)type), job, epoch, code, words);
    say(&agents[node], type, epoch,
        &(struct myr_wire_result){.job = job, .code = code, .text = myr_str_from(words)});
    taken();
}

/* A test of the node has the test's number where others have the job's. */
static inline void sound(uint32_t node)
{
    result(node, MYR_WIRE_TESTED, myr_control_node(server->control, node).boot, 0, 0, "");
}

/* A cluster whose nodes have certificates with numbers from 1 on, and 9N before them. */
static inline void life_begin(void)
{
    struct myr_err err = {};
    bench_begin(&bench);
    bench_open(&bench, NODES);
    server = bench.server;
    log_open(bench.folder, false);
    lines_begin();
    told = server->feed.next;
    audited = 0;
    snprintf(server->config.currency, sizeof(server->config.currency), "EUR");
    assert_int_equal(desk_begin(server, &err), MYR_OK);
    fence_begin(server);
    server->world = (struct world){sessions_committed, orders_effect, NULL,           orders_fetch,
                                   orders_inject,      NULL,          sessions_forget};
    server->http = myr_xcalloc(1, sizeof(*server->http));
    uv_timer_init(&server->loop, &server->http->timer);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    for (uint32_t node = 0; node < NODES; node++) {
        struct node_row *row = &server->rows.nodes[node];
        snprintf(row->serial, sizeof(row->serial), "%u", node + 1);
        snprintf(row->serial_before, sizeof(row->serial_before), "9%u", node);
    }
    taken();
}

static inline void life_end(void)
{
    lines_end();
    for (uint32_t node = 0; node < NODES; node++) {
        if (agents[node].session) {
            gone(&agents[node]);
        }
    }
    assert_int_equal(server->session_count, 0);
    assert_null(server->sessions);
    uv_close((uv_handle_t *)&server->http->timer, NULL);
    fence_end(server);
    myr_buf_done(&server->http->nodes);
    /* Its timer is closed by the loop in bench_close(), which needs it until then. */
    struct http *http = server->http;
    bench_close(&bench);
    free(http);
    log_close();
    char path[128];
    snprintf(path, sizeof(path), "%s/audit.log", bench.folder);
    assert_int_equal(unlink(path), 0);
    bench_end(&bench);
    myr_buf_done(&story);
}

/* The folder's name differs every time. */
static inline void cover_folder(void)
{
    size_t len = strlen(bench.folder);
    for (char *at = strstr(story.data, bench.folder); at; at = strstr(at, bench.folder)) {
        *at = '~';
        memmove(at + 1, at + len, strlen(at + len) + 1);
        story.len -= len - 1;
    }
}
