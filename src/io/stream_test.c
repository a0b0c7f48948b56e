/* Streams on loopback: plain and with TLS, peers that are wrong, peers that do nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/crypto.h>

#include "leaks.h"
#include "myriad/io.h"
#include "tls_test.h"

/* The resolver keeps its tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 23;

struct side {
    struct myr_buf got;
    struct myr_io_stream *stream;
    struct myr_err why;
    bool open, closed, echo;
    char peer[72];
};

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct side *side = context;
    side->open = true;
    side->stream = stream;
    snprintf(side->peer, sizeof(side->peer), "%s", myr_io_peer(stream));
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct side *side = context;
    myr_buf_put(&side->got, bytes.data, bytes.len);
    if (side->echo) {
        myr_io_write(stream, bytes);
    }
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct side *side = context;
    (void)stream;
    side->closed = true;
    side->stream = NULL;
    side->why = *why;
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    (void)stream;
    return context;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

/* Files of an authority, a server and a node, in a folder of their own. */
struct papers {
    char folder[64], ca[96], cert[96], key[96], node_cert[96], node_key[96];
    char fingerprint[65];
};

static void save(const char *path, const struct myr_buf *text)
{
    struct myr_err err = {};
    assert_int_equal(myr_file_write(path, text, &err), MYR_OK);
}

static void issue(const struct myr_buf *ca, const struct myr_buf *ca_key, const char *name,
                  bool server, uint32_t days, const char *cert_path, const char *key_path)
{
    struct myr_err err = {};
    struct myr_buf key = {}, csr = {}, cert = {}, asked = {};
    struct myr_io_sign sign = {
        .ca_certificate = {ca->data, ca->len},
        .ca_key = {ca_key->data, ca_key->len},
        .days = days,
        .server = server,
        .alt_names = server ? "DNS:localhost,IP:127.0.0.1" : NULL,
    };
    assert_int_equal(myr_io_csr_create(name, &key, &csr, &err), MYR_OK);
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, &asked, NULL, &err),
        MYR_OK);
    assert_string_equal(asked.data, name);
    myr_buf_put(&cert, ca->data, ca->len);
    save(cert_path, &cert);
    save(key_path, &key);
    myr_buf_done(&key);
    myr_buf_done(&csr);
    myr_buf_done(&cert);
    myr_buf_done(&asked);
}

static struct papers papers_of(uint32_t node_days)
{
    struct papers p = {.folder = "/tmp/myriad-io-XXXXXX"};
    struct myr_err err = {};
    struct myr_buf ca = {}, ca_key = {};
    assert_non_null(mkdtemp(p.folder));
    snprintf(p.ca, sizeof(p.ca), "%s/ca.pem", p.folder);
    snprintf(p.cert, sizeof(p.cert), "%s/cert.pem", p.folder);
    snprintf(p.key, sizeof(p.key), "%s/key.pem", p.folder);
    snprintf(p.node_cert, sizeof(p.node_cert), "%s/node.pem", p.folder);
    snprintf(p.node_key, sizeof(p.node_key), "%s/node-key.pem", p.folder);
    assert_int_equal(myr_io_ca_create("test", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_fingerprint((struct myr_str){ca.data, ca.len}, p.fingerprint, &err),
                     MYR_OK);
    save(p.ca, &ca);
    issue(&ca, &ca_key, "head", true, 5, p.cert, p.key);
    issue(&ca, &ca_key, "gpu-07", false, node_days, p.node_cert, p.node_key);
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
    return p;
}

static void papers_done(struct papers *p)
{
    const char *files[] = {p->ca, p->cert, p->key, p->node_cert, p->node_key};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        unlink(files[i]);
    }
    rmdir(p->folder);
}

struct pair {
    uv_loop_t loop;
    struct myr_io_listener *listener;
    struct side server, client;
};

static void pair_begin(struct pair *pair, struct myr_io_tls *ours, struct myr_io_tls *theirs)
{
    struct myr_err err = {};
    struct myr_io_service service = {calls, on_accept, &pair->server, 4};
    uv_loop_init(&pair->loop);
    assert_int_equal(
        myr_io_listen(&pair->loop, "127.0.0.1", 0, ours, &service, &pair->listener, &err), MYR_OK);
    assert_int_equal(myr_io_connect(&pair->loop, "127.0.0.1", myr_io_port(pair->listener), theirs,
                                    &calls, &pair->client, &pair->client.stream, &err),
                     MYR_OK);
}

static void pair_end(struct pair *pair)
{
    myr_io_listener_close(pair->listener);
    myr_io_listener_close(pair->listener); /* once is enough */
    uv_run(&pair->loop, UV_RUN_DEFAULT);   /* returns when every handle is closed */
    assert_true(pair->client.closed);
    assert_int_equal(uv_loop_close(&pair->loop), 0);
    myr_buf_done(&pair->server.got);
    myr_buf_done(&pair->client.got);
    myr_io_tls_free(NULL);
}

/* A megabyte there and back; what was written before the connection stood is not lost. */
static void echo(struct myr_io_tls *ours, struct myr_io_tls *theirs, const char *peer)
{
    enum { SIZE = 1 << 20 };
    struct pair pair = {.server = {.echo = true}};
    char *bytes = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) {
        bytes[i] = (char)(i * 7 + i / 251);
    }
    pair_begin(&pair, ours, theirs);
    myr_io_write(pair.client.stream, (struct myr_str){bytes, SIZE / 2});
    bool more = false;
    while (pair.client.got.len < SIZE) {
        assert_false(pair.client.closed);
        uv_run(&pair.loop, UV_RUN_ONCE);
        if (pair.client.open && !more) {
            more = true;
            myr_io_write(pair.client.stream, (struct myr_str){bytes + SIZE / 2, SIZE / 2});
        }
    }
    assert_memory_equal(pair.client.got.data, bytes, SIZE);
    assert_string_equal(pair.server.peer, peer);
    myr_io_close(pair.client.stream);
    pair_end(&pair);
    assert_true(pair.server.closed);
    assert_int_equal(pair.client.why.code, MYR_OK);
    free(bytes);
}

static void bytes_come_back_plain_and_by_tls(void **state)
{
    (void)state;
    echo(NULL, NULL, "");
    struct papers p = papers_of(5);
    struct myr_io_tls *ours = tls_of(&(struct myr_io_tls_names){
        .certificate = p.cert, .key = p.key, .ca = p.ca, .server = true});
    struct myr_io_tls *theirs = tls_of(
        &(struct myr_io_tls_names){.certificate = p.node_cert, .key = p.node_key, .ca = p.ca});
    echo(ours, theirs, "gpu-07");
    myr_io_tls_free(ours);
    myr_io_tls_free(theirs);
    papers_done(&p);
}

/* Until something holds; what does not come within many rounds never will. */
#define RUN_UNTIL(pair, condition)                                     \
    do {                                                               \
        for (int round = 0; round < 100000 && !(condition); round++) { \
            uv_run(&(pair)->loop, UV_RUN_NOWAIT);                      \
            usleep(round < 100 ? 0 : 100);                             \
        }                                                              \
        assert_true(condition);                                        \
    } while (0)

/*
 * A peer that does not read: what is written waits and is counted, and comes whole and in order
 * when it reads again. What was written before a close is sent first; what comes after is not.
 */
static void flow(struct myr_io_tls *ours, struct myr_io_tls *theirs)
{
    enum { SIZE = 24 << 20 }; /* more than the system takes for a peer that does not read */
    struct pair pair = {};
    char *bytes = myr_xcalloc(SIZE, 1);
    for (int i = 0; i < SIZE; i++) {
        bytes[i] = (char)(i * 11 + i / 241);
    }
    pair_begin(&pair, ours, theirs);
    myr_io_write(pair.client.stream, MYR_STR("first")); /* before the connection stands */
    assert_int_equal(myr_io_pending(pair.client.stream), 5);
    RUN_UNTIL(&pair, pair.server.open && pair.server.got.len == 5);
    RUN_UNTIL(&pair, myr_io_pending(pair.client.stream) == 0);
    assert_memory_equal(pair.server.got.data, "first", 5);
    myr_buf_clear(&pair.server.got);

    myr_io_pause(pair.server.stream, true);
    myr_io_pause(pair.server.stream, true); /* once more does no harm */
    myr_io_write(pair.client.stream, (struct myr_str){bytes, SIZE});
    for (int i = 0; i < 200; i++) {
        uv_run(&pair.loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(pair.server.got.len, 0);
    assert_true(myr_io_pending(pair.client.stream) > 0);
    myr_io_pause(pair.server.stream, false);
    RUN_UNTIL(&pair, pair.server.got.len == SIZE);
    assert_memory_equal(pair.server.got.data, bytes, SIZE);
    RUN_UNTIL(&pair, myr_io_pending(pair.client.stream) == 0);

    myr_buf_clear(&pair.server.got);
    myr_io_write(pair.client.stream, (struct myr_str){bytes, SIZE / 8});
    myr_io_close(pair.client.stream);
    assert_false(pair.client.closed); /* from the loop alone */
    myr_io_write(pair.client.stream, MYR_STR("too late"));
    myr_io_close(pair.client.stream); /* once more does no harm */
    RUN_UNTIL(&pair, pair.server.closed && pair.client.closed);
    assert_int_equal(pair.server.got.len, SIZE / 8);
    assert_memory_equal(pair.server.got.data, bytes, SIZE / 8);
    assert_int_equal(pair.client.why.code, MYR_OK);
    pair_end(&pair);
    free(bytes);
}

static void who_does_not_read_is_waited_for(void **state)
{
    (void)state;
    flow(NULL, NULL);
    struct papers p = papers_of(5);
    struct myr_io_tls *ours = tls_of(&(struct myr_io_tls_names){
        .certificate = p.cert, .key = p.key, .ca = p.ca, .server = true});
    struct myr_io_tls *theirs = tls_of(
        &(struct myr_io_tls_names){.certificate = p.node_cert, .key = p.node_key, .ca = p.ca});
    flow(ours, theirs);
    myr_io_tls_free(ours);
    myr_io_tls_free(theirs);
    papers_done(&p);
}

/* At once, though much waits; both sides hear of it once. */
static void who_is_cut_off_hears_of_it(void **state)
{
    (void)state;
    enum { SIZE = 16 << 20 };
    struct pair pair = {};
    char *bytes = myr_xcalloc(SIZE, 1);
    pair_begin(&pair, NULL, NULL);
    RUN_UNTIL(&pair, pair.server.open && pair.client.open);
    myr_io_pause(pair.server.stream, true);
    myr_io_write(pair.client.stream, (struct myr_str){bytes, SIZE});
    myr_io_abort(pair.client.stream);
    assert_false(pair.client.closed);
    RUN_UNTIL(&pair, pair.client.closed);
    myr_io_pause(pair.server.stream, false);
    RUN_UNTIL(&pair, pair.server.closed);
    assert_true(pair.server.got.len < SIZE);
    pair_end(&pair);
    free(bytes);
}

/* A stranger comes in only where strangers may, and believes the authority by its fingerprint. */
static void strangers_enrol_by_fingerprint(void **state)
{
    (void)state;
    struct papers p = papers_of(5);
    struct myr_io_tls *ours = tls_of(&(struct myr_io_tls_names){
        .certificate = p.cert, .key = p.key, .ca = p.ca, .server = true, .strangers = true});
    struct myr_io_tls *theirs = tls_of(&(struct myr_io_tls_names){.fingerprint = p.fingerprint});
    echo(ours, theirs, "");
    myr_io_tls_free(ours);
    myr_io_tls_free(theirs);
    papers_done(&p);
}

/* The client's end and the server's say who was refused. */
static void refused(struct myr_io_tls_names server, struct myr_io_tls_names client,
                    const char *who_says, bool client_says)
{
    struct pair pair = {};
    struct myr_io_tls *ours = tls_of(&server), *theirs = tls_of(&client);
    pair_begin(&pair, ours, theirs);
    while (!pair.client.closed || !pair.server.closed) {
        uv_run(&pair.loop, UV_RUN_ONCE);
        /* In TLS 1.3 a client is done before the server has judged it. */
        assert_false(pair.server.open && pair.client.open);
    }
    const struct side *side = client_says ? &pair.client : &pair.server;
    if (!strstr(side->why.message, who_says)) {
        fail_msg("'%s' has no '%s'", side->why.message, who_says);
    }
    pair_end(&pair);
    myr_io_tls_free(ours);
    myr_io_tls_free(theirs);
}

static void wrong_papers_are_refused(void **state)
{
    (void)state;
    struct papers p = papers_of(5), other = papers_of(5), old = papers_of(0);
    struct myr_io_tls_names server = {
        .certificate = p.cert, .key = p.key, .ca = p.ca, .server = true, .strangers = true};
    /* an authority that is not ours */
    refused(server,
            (struct myr_io_tls_names){
                .certificate = other.node_cert, .key = other.node_key, .ca = p.ca},
            "certificate", false);
    /* a server that is not the one of the token */
    refused(server, (struct myr_io_tls_names){.fingerprint = other.fingerprint}, "fingerprint",
            true);
    /* a node that plays the server */
    refused((struct myr_io_tls_names){.certificate = p.node_cert,
                                      .key = p.node_key,
                                      .ca = p.ca,
                                      .server = true,
                                      .strangers = true},
            (struct myr_io_tls_names){.ca = p.ca}, "purpose", true);
    /* nobody at all, where strangers may not come */
    server.strangers = false;
    refused(server, (struct myr_io_tls_names){.ca = p.ca}, "did not return a certificate", false);
    /* a certificate that has run out */
    refused(
        (struct myr_io_tls_names){
            .certificate = old.cert, .key = old.key, .ca = old.ca, .server = true},
        (struct myr_io_tls_names){.certificate = old.node_cert, .key = old.node_key, .ca = old.ca},
        "expired", false);
    papers_done(&p);
    papers_done(&other);
    papers_done(&old);
}

/*
 * Who has seen the authority's certificate can show it, and has a leaf that bears its name; but not
 * one that it has signed.
 */
static void a_forged_chain_is_refused(void **state)
{
    (void)state;
    struct papers p = papers_of(5), forger = papers_of(5); /* authorities of the same name */
    struct myr_buf leaf = {}, ca = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(forger.cert, 1 << 20, &leaf, &err), MYR_OK);
    assert_int_equal(myr_file_read(p.ca, 1 << 20, &ca, &err), MYR_OK);
    const char *end = strstr(leaf.data, "-----END CERTIFICATE-----\n");
    assert_non_null(end);
    leaf.len = (size_t)(end - leaf.data) + strlen("-----END CERTIFICATE-----\n");
    myr_buf_put(&leaf, ca.data, ca.len);
    save(forger.cert, &leaf);
    refused((struct myr_io_tls_names){.certificate = forger.cert,
                                      .key = forger.key,
                                      .ca = forger.ca,
                                      .server = true,
                                      .strangers = true},
            (struct myr_io_tls_names){.fingerprint = p.fingerprint}, "fingerprint", true);
    myr_buf_done(&leaf);
    myr_buf_done(&ca);
    papers_done(&p);
    papers_done(&forger);
}

/* Papers as text, and a certificate that must be for the name or address that was asked for. */
static void others_servers_are_known_by_their_name(void **state)
{
    (void)state;
    struct papers p = papers_of(5);
    struct myr_err err = {};
    struct myr_buf ca = {}, cert = {}, key = {};
    assert_int_equal(myr_file_read(p.ca, 1 << 20, &ca, &err), MYR_OK);
    assert_int_equal(myr_file_read(p.node_cert, 1 << 20, &cert, &err), MYR_OK);
    assert_int_equal(myr_file_read(p.node_key, 1 << 20, &key, &err), MYR_OK);
    struct myr_io_tls_names server = {
        .certificate = p.cert, .key = p.key, .ca = p.ca, .server = true};
    struct myr_io_tls_names client = {
        .certificate_pem = cert.data, .key_pem = key.data, .ca_pem = ca.data};
    static const char *const good[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        client.host = good[i];
        struct myr_io_tls *ours = tls_of(&server), *theirs = tls_of(&client);
        echo(ours, theirs, "gpu-07");
        myr_io_tls_free(ours);
        myr_io_tls_free(theirs);
    }
    client.host = "127.0.0.2";
    refused(server, client, "IP address mismatch", true);
    client.host = "elsewhere";
    refused(server, client, "hostname mismatch", true);
    /* Text that is none of it. */
    struct myr_io_tls *tls = NULL;
    client.ca_pem = "-----BEGIN NOTHING-----";
    assert_int_equal(myr_io_tls_create(&client, &tls, &err), MYR_EINVAL);
    client.ca_pem = ca.data;
    client.key_pem = cert.data;
    assert_int_equal(myr_io_tls_create(&client, &tls, &err), MYR_EINVAL);
    assert_null(tls);
    myr_buf_done(&ca);
    myr_buf_done(&cert);
    myr_buf_done(&key);
    papers_done(&p);
}

static void nobody_there_is_told(void **state)
{
    (void)state;
    struct myr_err err = {};
    uv_loop_t loop;
    struct side side = {};
    uv_loop_init(&loop);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", 1, NULL, &calls, &side, &side.stream, &err),
                     MYR_OK);
    myr_io_write(side.stream, MYR_STR("never sent"));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(side.closed && !side.open);
    assert_non_null(strstr(side.why.message, "127.0.0.1:1: connection refused"));
    assert_int_equal(uv_loop_close(&loop), 0);
    /* and a name that is none */
    side = (struct side){};
    uv_loop_init(&loop);
    assert_int_equal(
        myr_io_connect(&loop, "no.such.host.invalid", 1, NULL, &calls, &side, &side.stream, &err),
        MYR_OK);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(side.closed && side.why.code == MYR_EIO);
    assert_int_equal(strncmp(side.why.message, "no.such.host.invalid:1: ", 24), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* By name and by either kind of address; and given up in the midst of looking it up. */
static void peers_are_found_by_name_and_by_address(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "::1"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        struct pair pair = {};
        struct side named = {};
        struct myr_err err = {};
        struct myr_io_service service = {calls, on_accept, &pair.server, 4};
        uv_loop_init(&pair.loop);
        if (myr_io_listen(&pair.loop, hosts[i], 0, NULL, &service, &pair.listener, &err) < 0) {
            uv_loop_close(&pair.loop); /* a machine without that kind */
            continue;
        }
        uint16_t port = myr_io_port(pair.listener);
        char expected[64];
        snprintf(expected, sizeof(expected), i ? "[%s]:%u" : "%s:%u", hosts[i], port);
        assert_int_equal(myr_io_connect(&pair.loop, hosts[i], port, NULL, &calls, &pair.client,
                                        &pair.client.stream, &err),
                         MYR_OK);
        RUN_UNTIL(&pair, pair.client.open && pair.server.open);
        assert_string_equal(myr_io_address(pair.client.stream), expected);
        if (i == 0) {
            assert_int_equal(myr_io_connect(&pair.loop, "ip4.localhost.invalid", port, NULL, &calls,
                                            &named, &named.stream, &err),
                             MYR_OK);
            myr_io_abort(named.stream); /* while it is being looked up */
            assert_false(named.closed);
            RUN_UNTIL(&pair, named.closed);
            assert_false(named.open);
        }
        myr_io_close(pair.client.stream);
        pair_end(&pair);
    }
}

static void requests_for_odd_names_are_refused(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_buf ca = {}, ca_key = {};
    assert_int_equal(myr_io_ca_create("test", 10, &ca, &ca_key, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 1,
                               .name = "gpu-1"};
    static const char *const names[] = {"gpu-2", "a b", "x/y", "<b>", "gpu-1\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        struct myr_buf key = {}, csr = {}, cert = {};
        assert_int_equal(myr_io_csr_create(names[i], &key, &csr, &err), MYR_OK);
        assert_int_equal(
            myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, &err),
            MYR_EINVAL);
        assert_int_equal(cert.len, 0);
        myr_buf_done(&key);
        myr_buf_done(&csr);
        myr_buf_done(&cert);
    }
    struct myr_buf cert = {};
    assert_int_equal(myr_io_ca_sign(&sign, MYR_STR("no PEM at all"), &cert, NULL, NULL, &err),
                     MYR_EINVAL);
    int64_t left_s;
    assert_int_equal(myr_io_valid_s((struct myr_str){ca.data, ca.len}, &left_s, &err), MYR_OK);
    assert_in_range(left_s, 9 * 86400, 10 * 86400);
    myr_buf_done(&cert);
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
}

static void secrets_differ_and_digests_are_known(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_buf a = {}, b = {};
    char digest[65];
    assert_int_equal(myr_io_secret(16, &a, &err), MYR_OK);
    assert_int_equal(myr_io_secret(16, &b, &err), MYR_OK);
    assert_int_equal(a.len, 32);
    assert_string_not_equal(a.data, b.data);
    myr_io_digest(MYR_STR("abc"), digest); /* FIPS 180-2, appendix B.1 */
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    myr_buf_done(&a);
    myr_buf_done(&b);
}

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        bytes_come_back_plain_and_by_tls,   who_does_not_read_is_waited_for,
        who_is_cut_off_hears_of_it,         strangers_enrol_by_fingerprint,
        wrong_papers_are_refused,           nobody_there_is_told,
        requests_for_odd_names_are_refused, secrets_differ_and_digests_are_known,
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tests); i++) {
        tests[i](state);
        long before = myr_leaks_now();
        tests[i](state);
        if (myr_leaks_now() != before) {
            fail_msg("test %zu keeps %ld pieces more", i, myr_leaks_now() - before);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_plain_and_by_tls),
        cmocka_unit_test(who_does_not_read_is_waited_for),
        cmocka_unit_test(who_is_cut_off_hears_of_it),
        cmocka_unit_test(strangers_enrol_by_fingerprint),
        cmocka_unit_test(wrong_papers_are_refused),
        cmocka_unit_test(a_forged_chain_is_refused),
        cmocka_unit_test(others_servers_are_known_by_their_name),
        cmocka_unit_test(nobody_there_is_told),
        cmocka_unit_test(peers_are_found_by_name_and_by_address),
        cmocka_unit_test(requests_for_odd_names_are_refused),
        cmocka_unit_test(secrets_differ_and_digests_are_known),
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    /* Each thread of the pool keeps a resolver of its own: one, so that what is kept is known. */
    assert_int_equal(setenv("UV_THREADPOOL_SIZE", "1", 1), 0);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    /* What the libraries keep for the whole process. */
    uv_library_shutdown();
    OPENSSL_cleanup();
    return failures;
}
