/* Listeners: which certificate they show, how many they let in, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "leaks.h"
#include "myriad/io.h"

/* OpenSSL and libuv keep tables for the whole process. */
long myr_leaks_allowed = 10000;

enum { PATIENCE = 20000 };

static uv_loop_t loop;
static struct myr_buf ca, ca_key;

/* One end of a connection. */
struct side {
    struct myr_io_stream *stream;
    bool open, closed;
    struct myr_str last_words; /* said to the first that comes; then it closes */
    uint32_t heard;
    char serial[80], peer[80], address[80], why[200];
    char got[16];
};

static struct side client, server;
static uint32_t accepted;

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct side *side = context;
    side->open = true;
    snprintf(side->serial, sizeof(side->serial), "%s", myr_io_peer_serial(stream));
    snprintf(side->peer, sizeof(side->peer), "%s", myr_io_peer(stream));
    snprintf(side->address, sizeof(side->address), "%s", myr_io_address(stream));
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct side *side = context;
    side->heard++;
    if (side->last_words.len > 0) {
        myr_io_write(stream, side->last_words);
        myr_io_close(stream);
    }
    snprintf(side->got, sizeof(side->got), "%.*s", (int)bytes.len, bytes.data);
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct side *side = context;
    (void)stream;
    side->closed = true;
    side->stream = NULL;
    snprintf(side->why, sizeof(side->why), "%.199s", why->code ? why->message : "");
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    assert_ptr_equal(context, &accepted);
    accepted++;
    server = (struct side){.stream = stream};
    return &server;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};
static const struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                              .accept = on_accept,
                                              .context = &accepted,
                                              .streams_max = 2};

static void until(const bool *what)
{
    for (int i = 0; i < PATIENCE && !*what; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_true(*what);
}

static void join(struct myr_io_listener *listener, struct myr_io_tls *tls)
{
    struct myr_err err = {};
    client = (struct side){};
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), tls, &calls, &client,
                                    &client.stream, &err),
                     MYR_OK);
}

/* What was written before the other side was there arrives all the same. */
static void leave(void)
{
    myr_io_close(client.stream);
    until(&client.closed);
    until(&server.closed);
}

static struct myr_io_tls *papers(const char *name, struct myr_buf *ret_serial)
{
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {};
    struct myr_io_tls *tls = NULL;
    assert_int_equal(myr_io_csr_create(name, &key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 3,
                               .server = true,
                               .alt_names = "IP:127.0.0.1"};
    struct myr_str asked = {csr.data, csr.len};
    assert_int_equal(myr_io_ca_sign(&sign, asked, &cert, NULL, ret_serial, &err), MYR_OK);
    const struct myr_io_tls_names names = {.certificate_pem = cert.data,
                                           .key_pem = key.data,
                                           .ca_pem = ca.data,
                                           .server = true,
                                           .strangers = true};
    assert_int_equal(myr_io_tls_create(&names, &tls, &err), MYR_OK);
    return tls;
}

static void new_streams_are_shown_the_new_certificate(void **state)
{
    (void)state;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf old_serial = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf new_serial = {};
    struct myr_io_tls *old = papers("old", &old_serial), *new = papers("new", &new_serial);
    struct myr_io_tls *own = NULL;
    struct myr_io_listener *listener;
    assert_int_equal(myr_io_tls_create(&(struct myr_io_tls_names){.ca_pem = ca.data}, &own, &err),
                     MYR_OK);
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, old, &service, &listener, &err), MYR_OK);
    myr_io_tls_free(old); /* the listener holds on to it */
    join(listener, own);
    until(&client.open);
    assert_string_equal(client.peer, "old");
    assert_string_equal(client.serial, old_serial.data);
    until(&server.open);
    assert_string_equal(server.peer, ""); /* a stranger */
    assert_string_equal(server.serial, "");
    myr_io_listener_show(listener, new);
    myr_io_tls_free(new);
    myr_io_write(client.stream, MYR_STR("still")); /* one that is there goes on */
    for (int i = 0; i < PATIENCE && !server.got[0]; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_string_equal(server.got, "still");
    leave();
    for (int i = 0; i < 2; i++) {
        join(listener, own);
        until(&client.open);
        assert_string_equal(client.peer, "new");
        assert_string_equal(client.serial, new_serial.data);
        until(&server.open);
        leave();
    }
    myr_io_tls_free(own);
    myr_io_listener_close(listener);
    myr_io_listener_close(listener); /* twice is harmless, and so is none */
    myr_io_listener_close(NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

/* Certificates are renewed for years: one that is shown no more is given back. */
static void what_is_shown_no_more_is_given_back(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_io_listener *listener;
    struct myr_io_tls *first = papers("first", NULL);
    long before = 0;
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, first, &service, &listener, &err),
                     MYR_OK);
    myr_io_tls_free(first);
    for (uint32_t round = 0; round < 5; round++) {
        struct myr_io_tls *next = papers("next", NULL);
        myr_io_listener_show(listener, next);
        myr_io_tls_free(next);
        if (round > 0) {
            assert_int_equal(myr_leaks_now(), before);
        }
        before = myr_leaks_now();
    }
    myr_io_listener_close(listener);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(myr_leaks_now() <= before);
}

/* Also where more of what the peer has said is there already, and much is still to go out. */
static void who_has_closed_hears_nothing_more(void **state)
{
    (void)state;
    enum { SIZE = 16 << 20 }; /* more than the system takes for a peer that does not read */
    struct myr_err err = {};
    MYR_CLEANUP(myr_free_at) char *bytes = myr_xcalloc(SIZE, 1);
    struct myr_io_tls *shown = papers("server", NULL), *own = NULL;
    struct myr_io_listener *listener;
    assert_int_equal(myr_io_tls_create(&(struct myr_io_tls_names){.ca_pem = ca.data}, &own, &err),
                     MYR_OK);
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, shown, &service, &listener, &err),
                     MYR_OK);
    server = (struct side){};
    join(listener, own);
    until(&server.open);
    server.last_words = (struct myr_str){bytes, SIZE};
    myr_io_pause(client.stream, true);
    myr_io_write(client.stream, (struct myr_str){bytes, 48 << 10}); /* three records in one piece */
    until(&server.closed);                                          /* after a second: it waits */
    assert_int_equal(server.heard, 1);
    assert_string_equal(server.why, "");
    myr_io_abort(client.stream);
    until(&client.closed);
    myr_io_tls_free(shown);
    myr_io_tls_free(own);
    myr_io_listener_close(listener);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

/* A listener that is closed lets nobody in; streams of it go on, and free it with the last. */
static void a_closed_listener_lets_nobody_in(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_io_listener *listener;
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &listener, &err), MYR_OK);
    accepted = 0;
    join(listener, NULL);
    until(&client.open);
    until(&server.open);
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "127.0.0.1:%u", myr_io_port(listener));
    assert_string_equal(client.address, wanted);
    assert_true(strncmp(server.address, "127.0.0.1:", 10) == 0);
    assert_string_not_equal(server.address, wanted);
    struct side first = client;
    client.stream = NULL;
    join(listener, NULL); /* it waits to be let in, and is not */
    struct side *late = &client;
    myr_io_listener_close(listener);
    until(&late->closed);
    assert_int_equal(accepted, 1);
    myr_io_write(first.stream, MYR_STR("goes on"));
    for (int i = 0; i < PATIENCE && !server.got[0]; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_string_equal(server.got, "goes on");
    client = first;
    myr_io_close(server.stream);
    until(&server.closed);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

static void more_than_enough_are_told_so(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_io_listener *listener;
    static const uint32_t limits[] = {2, 1, 0, 2};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &listener, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(limits); i++) {
        myr_io_listener_limit(listener, limits[i]);
        join(listener, NULL);
        until(&client.open);
        if (limits[i] > 0) {
            until(&server.open);
            leave();
            continue;
        }
        until(&client.closed);
        until(&server.closed);
        assert_false(server.open);
        assert_non_null(strstr(server.why, ": 0 connections are enough"));
    }
    myr_io_listener_close(listener);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

static void addresses_are_numbers(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_io_listener *listener = NULL;
    assert_int_equal(myr_io_listen(&loop, "localhost", 0, NULL, &service, &listener, &err),
                     MYR_EINVAL);
    assert_string_equal(err.message,
                        "'localhost' is no address; such as 127.0.0.1 or ::1 is expected");
    assert_int_equal(myr_io_listen(&loop, "192.0.2.1", 7, NULL, &service, &listener, &err),
                     MYR_EIO);
    assert_string_equal(err.message, "listening on 192.0.2.1 port 7: address not available");
    assert_null(listener);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    if (myr_io_listen(&loop, "::1", 0, NULL, &service, &listener, &err) == MYR_OK) {
        assert_true(myr_io_port(listener) > 0);
        client = (struct side){};
        assert_int_equal(myr_io_connect(&loop, "::1", myr_io_port(listener), NULL, &calls, &client,
                                        &client.stream, &err),
                         MYR_OK);
        until(&client.open);
        until(&server.open);
        char wanted[80];
        snprintf(wanted, sizeof(wanted), "[::1]:%u", myr_io_port(listener));
        assert_string_equal(client.address, wanted);
        leave();
        myr_io_listener_close(listener);
    }
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

static int begin(void **state)
{
    struct myr_err err = {};
    (void)state;
    return uv_loop_init(&loop) | myr_io_ca_create("a test", 9, &ca, &ca_key, &err);
}

static int end(void **state)
{
    (void)state;
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_streams_are_shown_the_new_certificate),
        cmocka_unit_test(what_is_shown_no_more_is_given_back),
        cmocka_unit_test(who_has_closed_hears_nothing_more),
        cmocka_unit_test(a_closed_listener_lets_nobody_in),
        cmocka_unit_test(more_than_enough_are_told_so),
        cmocka_unit_test(addresses_are_numbers),
    };
    int failed = cmocka_run_group_tests(tests, begin, end);
    uv_library_shutdown();
    return failed;
}
