/*
 * The other side of the agents' door: callers over TLS, in the server's own loop. The clocks are
 * the test's: minutes pass at once. Include it after cmocka.
 */
#pragma once

#include <time.h>

#include "agents_test.h"

enum { PATIENCE = 20000 }; /* turns: what does not come by then never comes */

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */
static int64_t tick_ns;                  /* or every look at it does */

/* In place of the C library's, for all of this program. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t base_s = which == CLOCK_REALTIME ? 1800000000 : 0;
    clock_ns += which == CLOCK_MONOTONIC ? tick_ns : 0;
    *ret = (struct timespec){base_s + clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

/* --- the other side */

struct caller {
    const char *name;
    struct myr_io_tls *tls;
    struct myr_io_stream *stream;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver; /* of one connection; freed when it closes */
    uint64_t sequence;
    uint32_t opened, closed;    /* how often; equal: it is not connected */
    uint64_t last;              /* the number of the message that it has heard last */
    uint32_t waiting;           /* lines of what it has heard that are not in the story yet */
    struct myr_buf heard;       /* those */
    struct myr_buf certificate; /* that it was given last */
};

static struct myr_buf ca, ca_key;

/*
 * By the table of the wire, so that no field of any message is left out. Certificates are drawn
 * anew each time: only how many there are is told.
 */
static inline void put_field(struct myr_buf *ret, const struct myr_wire_field *field,
                             const unsigned char *body)
{
    const void *at = body + field->offset;
    myr_buf_printf(ret, " %s=", field->name);
    if (field->kind == MYR_WIRE_TEXT) {
        const struct myr_str *text = at;
        bool paper = text->len > 20 && memcmp(text->data, "-----BEGIN", 10) == 0;
        uint32_t papers = 0;
        for (const char *p = text->data; paper && (p = strstr(p, "BEGIN CERT")); p++) {
            papers += p < text->data + text->len;
        }
        if (paper) {
            myr_buf_printf(ret, "%u papers", papers);
        } else {
            myr_json_quote(ret, *text);
        }
    } else if (field->kind == MYR_WIRE_U32) {
        myr_buf_printf(ret, "%" PRId32, *(const int32_t *)at);
    } else if (field->kind == MYR_WIRE_U32_LIST) {
        myr_buf_printf(ret, "%u items", ((const struct myr_wire_list *)at)->count);
    } else {
        myr_buf_printf(ret, "%" PRId64, *(const int64_t *)at);
    }
}

/* Kept apart from the story until the test asks for it: packets come when they like. */
static inline void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct caller *peer = context;
    struct myr_wire_message message;
    struct myr_err err = {};
    (void)stream;
    myr_wire_feed(&peer->receiver, bytes);
    while (myr_wire_next(&peer->receiver, &message, &err) > 0) {
        const struct myr_wire_table *table = myr_wire_table_of(message.head.type);
        peer->waiting++;
        peer->last = message.head.sequence;
        myr_buf_printf(&peer->heard, "  %s hears #%" PRIu64 " %s node %d epoch %u:", peer->name,
                       message.head.sequence, table->name, (int)message.head.node,
                       message.head.epoch);
        for (uint32_t i = 0; i < table->count; i++) {
            put_field(&peer->heard, &table->fields[i], message.body);
        }
        myr_buf_putc(&peer->heard, '\n');
        if (message.head.type == MYR_WIRE_CERT) {
            const struct myr_wire_cert *cert = (const void *)message.body;
            myr_buf_clear(&peer->certificate);
            myr_buf_put(&peer->certificate, cert->certificate.data, cert->certificate.len);
        }
    }
    assert_int_equal(err.code, MYR_OK);
}

static inline void on_open(void *context, struct myr_io_stream *stream)
{
    (void)stream;
    ((struct caller *)context)->opened++;
}

static inline void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct caller *peer = context;
    (void)stream;
    (void)why;
    peer->stream = NULL;
    peer->closed++;
    myr_wire_receiver_done(&peer->receiver);
}

/* Until a number is so high. */
static inline void until(const uint32_t *number, uint32_t wanted)
{
    for (int i = 0; i < PATIENCE && *number != wanted; i++) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        if (*number != wanted) {
            usleep(100);
        }
    }
    assert_int_equal(*number, wanted);
}

/* So many messages, in the order in which they came. */
static inline void hears(struct caller *peer, uint32_t count)
{
    for (int i = 0; i < PATIENCE && peer->waiting < count; i++) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    assert_true(peer->waiting >= count);
    put_told();
    size_t len = 0;
    for (uint32_t i = 0; i < count; i++) {
        len += strcspn(peer->heard.data + len, "\n") + 1;
    }
    myr_buf_put(&story, peer->heard.data, len);
    memmove(peer->heard.data, peer->heard.data + len, peer->heard.len - len + 1);
    peer->heard.len -= len;
    peer->waiting -= count;
}

/* All that a node was told, leases too. */
static inline void hears_all(struct caller *peer, uint32_t node)
{
    const struct session *session = server->rows.nodes[node].session;
    for (int i = 0; i < PATIENCE && peer->last < session->sent; i++) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    assert_int_equal(peer->last, session->sent);
    hears(peer, peer->waiting);
}

/* So many messages of agents, or of relays, have come. */
static inline void took(uint32_t more)
{
    uint64_t wanted = server->messages + more;
    for (int i = 0; i < PATIENCE && server->messages < wanted; i++) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    assert_int_equal(server->messages, wanted);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    put_told();
}

static inline void ends(struct caller *peer)
{
    until(&peer->closed, peer->opened);
    put_told();
}

/* The server has seen that all but so many are gone. */
static inline void left(uint32_t count)
{
    until(&server->session_count, count);
    put_told();
}

/* The loop turns once at the new time. */
static inline void pass(int64_t ms)
{
    clock_ns += ms * 1000000;
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
}

/* 'key' NULL: it shows nothing. */
static inline void connects(struct caller *peer, const char *name,
                            const struct myr_buf *certificate, const struct myr_buf *key)
{
    struct myr_err err = {};
    const struct myr_io_calls calls = {on_open, on_data, on_closed};
    struct myr_io_tls_names names = {.ca_pem = ca.data,
                                     .certificate_pem = key ? certificate->data : NULL,
                                     .key_pem = key ? key->data : NULL};
    myr_buf_printf(&story, "%s connects%s\n", name, key ? "" : " and shows nothing");
    peer->name = name;
    peer->sequence = peer->last = 0;
    myr_io_tls_free(peer->tls);
    peer->tls = NULL;
    assert_int_equal(myr_io_tls_create(&names, &peer->tls, &err), MYR_OK);
    myr_wire_sender_init(&peer->sender);
    myr_wire_receiver_init(&peer->receiver);
    assert_int_equal(myr_io_connect(&server->loop, "127.0.0.1", myr_io_port(server->listener),
                                    peer->tls, &calls, peer, &peer->stream, &err),
                     MYR_OK);
    until(&peer->opened, peer->opened + 1);
    put_told();
}

/* 'from' and a sender of its own: as a relay speaks for one behind it. */
static inline void says_from(struct caller *peer, uint32_t from, struct myr_wire_sender *sender,
                             enum myr_wire_type type, uint32_t epoch, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_wire_send(sender, &bytes, type, from, epoch, ++peer->sequence, message);
    myr_io_write(peer->stream, (struct myr_str){bytes.data, bytes.len});
}

static inline void says(struct caller *peer, enum myr_wire_type type, uint32_t epoch,
                        const void *message)
{
    says_from(peer, MYR_WIRE_NO_NODE, &peer->sender, type, epoch, message);
}

static inline void says_hello(struct caller *peer, uint64_t boot)
{
    says(peer, MYR_WIRE_HELLO, 0,
         &(struct myr_wire_hello){.name = MYR_STR(""), .version_min = 1, .boot = boot});
}

static inline void drops_peer(struct caller *peer)
{
    myr_io_abort(peer->stream);
    until(&peer->closed, peer->opened);
}

/* Nothing that it heard may be left untold. */
static inline void free_peer(struct caller *peer)
{
    myr_io_tls_free(peer->tls);
    assert_int_equal(peer->waiting, 0);
    myr_buf_done(&peer->certificate);
    myr_buf_done(&peer->heard);
    *peer = (struct caller){};
}

/* --- papers */

static inline void put_pem(const char *name, const struct myr_buf *text)
{
    char path[128];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", bench.folder, name);
    assert_int_equal(myr_file_write(path, text, &err), MYR_OK);
}

/* As init does, with days in place of years. */
static inline void make_papers(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {}, csr = {}, cert = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("trial", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("myriad-server", &key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 5,
                               .server = true,
                               .alt_names = "IP:127.0.0.1"};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, &err),
        MYR_OK);
    put_pem("ca.pem", &ca);
    put_pem("ca-key.pem", &ca_key);
    put_pem("server.pem", &cert);
    put_pem("server-key.pem", &key);
}

static inline void give_token(const char *secret, const char *name, bool relay)
{
    struct token_row token = {.relay = relay};
    snprintf(token.user, sizeof(token.user), "%s", name);
    myr_io_digest(myr_str_from(secret), token.digest);
    rows_put_token(server, &token, true);
}

/* A certificate by a token, and the connection that shows it. */
static inline void enrols(struct caller *peer, const char *name, const char *secret,
                          struct myr_buf *key)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    struct myr_err err = {};
    uint32_t before = server->session_count;
    connects(peer, name, NULL, NULL);
    says_hello(peer, 0);
    hears(peer, 1);
    assert_int_equal(myr_io_csr_create(name, key, &csr, &err), MYR_OK);
    says(peer, MYR_WIRE_ENROL, 0,
         &(struct myr_wire_enrol){.token = myr_str_from(secret), .csr = {csr.data, csr.len}});
    hears(peer, 1);
    drops_peer(peer);
    left(before);
    connects(peer, name, &peer->certificate, key);
}
