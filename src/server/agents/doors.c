/*
 * doors: where agents and relays come in. Beats become edges here: the core hears of a node that
 * fell silent, or is back, and of nothing between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum {
    HELLO_MS = 10000, /* to say who it is */
    LEASE_TURNS = 5,  /* seconds between leases */
};

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct session *session = context;
    struct server *server = session->server;
    int64_t begun_ns = myr_clock_ns();
    MYR_ASSERT(session->stream == stream && !session->via);
    relay_take(session, bytes);
    /* For the histogram of /metrics: class k holds times below 2^k microseconds. */
    int64_t us = (myr_clock_ns() - begun_ns) / 1000;
    MYR_ASSERT(session->server == server);
    uint32_t class = us <= 0 ? 0 : 64U - (uint32_t)__builtin_clzll((uint64_t)us);
    server->handled[class < 31 ? class : 31]++;
}

/* Nothing is said before its hello. */
static void on_open(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

/* Those whom it carried go before it, since they point to it. */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct session *session = context;
    MYR_ASSERT(session->stream == stream && !session->via); /* those behind a relay have none */
    /* An end without a reason is an agent's own, and not worth a line. */
    if (why->code < 0) {
        log_say("info", "agent: %s", why->message);
    }
    if (session->carrier) {
        relay_gone(session);
    }
    session_gone(session);
}

/* Nobody yet: who it is says its certificate, and what it is its hello. */
static void *on_accept(void *context, struct myr_io_stream *stream)
{
    struct session *session = session_new(context);
    MYR_ASSERT(stream && session->node == MYR_NONE && !session->via);
    session->stream = stream;
    return session;
}

/* Of one behind a relay the relay knows: it is heard while that is, and does not call it silent. */
static int64_t heard_ms(struct node_row *node)
{
    MYR_ASSERT(node->boot > 0); /* of others nobody asks */
    const struct session *session = node->session;
    MYR_ASSERT(!session || !session->via || session->via->carrier); /* it goes after them */
    if (session && session->via && !session->silent && !session->over &&
        session->via->carrier->heard_ms > node->heard_ms) {
        node->heard_ms = session->via->carrier->heard_ms;
    }
    return node->heard_ms;
}

/*
 * Once a second. A silence is told once, with the boot it is about; session_heard() takes it back.
 */
static void look_at_nodes(struct server *server, int64_t now_ms)
{
    static uint32_t turn;
    /* Three beats may be late or lost; a relay counts the same way. */
    int64_t limit_ms = 3 * (int64_t)server->config.beat_ms + 250;
    MYR_ASSERT(limit_ms > 0);
    struct myr_wire_beat lease = {.time_ns = now_ms * 1000000};
    turn++;
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        struct node_row *node = &server->rows.nodes[id];
        struct session *session = node->session;
        MYR_ASSERT(!session || session->node == id); /* the two point to each other */
        if (node->boot > 0 && !node->told_silent && now_ms - heard_ms(node) > limit_ms) {
            node->told_silent = desk_post(
                server,
                &(struct myr_event){.kind = MYR_EVENT_SILENT, .node = id, .boot = node->boot});
        }
        if (session && !session->over && !session->via && (id + turn) % LEASE_TURNS == 0) {
            session_say(session, MYR_WIRE_LEASE, node->boot, &lease);
        }
    }
    /* A relay says it to all of its own. */
    for (size_t i = 0; i < server->rows.relays.count; i++) {
        struct session *session = server->rows.relays.items[i].session;
        MYR_ASSERT(!session || (session->carrier && session->carrier->row == i));
        if (session && !session->over) {
            session_say(session, MYR_WIRE_LEASE, 0, &lease);
        }
    }
}

/* What agents do not say, told by the clock. */
void sessions_second(struct server *server)
{
    int64_t now_ms = steady_ms();
    look_at_nodes(server, now_ms);
    for (struct session *session = server->sessions, *next; session; session = next) {
        next = session->next;
        MYR_ASSERT(!next || next->before == session);
        MYR_ASSERT(session->node == MYR_NONE || !session->carrier); /* no relay is a node */
        /* It asked for a certificate while nothing could be kept: now it may ask again. */
        if (session->unanswered && !session->over && !server->stuck) {
            session_close(session, true); /* it asks again when it is back */
        }
        /* Nor is one without a certificate waited for that says hello and then does not enrol. */
        if (!session->over && session->node == MYR_NONE && !session->carrier &&
            now_ms - session->since_ms > HELLO_MS) {
            log_say("warning", "agent %s: %s", session_address(session),
                    session->greeted ? "no certificate, and it does not enrol" : "said nothing");
            session_close(session, true);
        }
    }
}

/*
 * Port 0 is any that is free, but agents come back to where they found the server: the one of the
 * last time is taken again if it can be had.
 */
static int open_door(struct server *server, const struct myr_io_service *service,
                     struct myr_err *err)
{
    const struct config *config = &server->config;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[SERVER_PATH];
    uint64_t port = config->agents_port;
    snprintf(path, sizeof(path), "%s/agents.port", server->folder);
    /* A server that only shows that it starts leaves no file behind. */
    bool any = port == 0 && !server->once;
    if (any && myr_file_read(path, 64, &text, NULL) == MYR_OK &&
        (!myr_str_to_u64((struct myr_str){text.data, strcspn(text.data, "\n")}, &port) ||
         port > UINT16_MAX)) {
        port = 0;
    }
    int rc = myr_io_listen(&server->loop, config->agents_address, (uint16_t)port, server->tls,
                           service, &server->listener, any && port ? NULL : err);
    /* Somebody else has that port meanwhile: another one will do. */
    if (rc < 0 && any && port) {
        rc = myr_io_listen(&server->loop, config->agents_address, 0, server->tls, service,
                           &server->listener, err);
    }
    if (rc == MYR_OK && any) {
        struct myr_err why = {};
        myr_buf_clear(&text);
        myr_buf_printf(&text, "%u\n", myr_io_port(server->listener));
        if (myr_file_write(path, &text, &why) < 0) {
            log_say("warning", "%s", why.message);
        }
    }
    return rc;
}

/* Each node twice, since one that comes again may be here before its old connection is gone. */
static uint32_t streams_max(const struct server *server)
{
    MYR_ASSERT(server->config.node_count > 0);
    return 2 * server->config.node_count + 256;
}

void sessions_grow(struct server *server)
{
    MYR_ASSERT(server->listener);
    myr_io_listener_limit(server->listener, streams_max(server));
}

/* Strangers come in, because a node that has no certificate gets its first one here. */
int sessions_begin(struct server *server, struct myr_err *err)
{
    MYR_ASSERT(!server->listener && !server->sessions && server->session_count == 0);
    char cert[SERVER_PATH], key[SERVER_PATH], ca[SERVER_PATH];
    struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                     .accept = on_accept,
                                     .context = server,
                                     .streams_max = streams_max(server)};
    snprintf(cert, sizeof(cert), "%s/server.pem", server->folder);
    snprintf(key, sizeof(key), "%s/server-key.pem", server->folder);
    snprintf(ca, sizeof(ca), "%s/ca.pem", server->folder);
    struct myr_io_tls_names names = {
        .certificate = cert, .key = key, .ca = ca, .server = true, .strangers = true};
    MYR_TRY(myr_io_tls_create(&names, &server->tls, err));
    /* No 'submit': the core's effects say all that an agent needs. No 'drain' either. */
    server->world = (struct world){sessions_committed, orders_effect, NULL,           orders_fetch,
                                   orders_inject,      NULL,          sessions_forget};
    MYR_TRY(open_door(server, &service, err));
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    /* Nobody has been heard by this controller yet; the core gives them time to come. */
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        struct node_row *node = &server->rows.nodes[id];
        if (node->boot > 0) {
            node->told_silent = true;
            desk_post(server, &(struct myr_event){
                                  .kind = MYR_EVENT_SILENT, .node = id, .boot = node->boot});
        }
    }
    return MYR_OK;
}

/* What was said before still goes out; the sessions free themselves when they are closed. */
void sessions_end(struct server *server)
{
    MYR_ASSERT((server->session_count == 0) == !server->sessions);
    myr_io_listener_close(server->listener);
    for (struct session *session = server->sessions; session; session = session->next) {
        if (!session->over && session->stream) {
            session->over = true;
            myr_io_close(session->stream);
        }
    }
    myr_io_tls_free(server->tls);
}
