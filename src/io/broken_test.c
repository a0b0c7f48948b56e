/*
 * Connections by TLS that break underway: a byte that is changed, a session that fails, a peer who
 * cannot be let in. Who was hit is told why; what belongs to others goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "leaks.h"
#include "myriad/io.h"
#include "tls_test.h"

/* OpenSSL and libuv keep tables for the whole process. */
long myr_leaks_allowed = 10000;

enum { PATIENCE = 20000 };

#define CALL __attribute__((visibility("default")))

/* --- the system and OpenSSL, where they are told to fail */

static int accept_error; /* of the next call; 0: none */
static enum { NOTHING, A_READ, A_WRITE } fault;

CALL int accept4(int fd, struct sockaddr *at, socklen_t *size, int flags)
{
    int (*own)(int, struct sockaddr *, socklen_t *, int);
    *(void **)&own = dlsym(RTLD_NEXT, "accept4");
    if (accept_error) {
        errno = accept_error;
        accept_error = 0;
        return -1;
    }
    return own(fd, at, size, flags);
}

/* The next call of that kind; each function of OpenSSL puts down what it thinks of it. */
static bool is_next(int kind)
{
    if ((int)fault != kind) {
        return false;
    }
    fault = NOTHING;
    for (int i = 0; i < 3; i++) {
        ERR_raise(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR);
    }
    return true;
}

CALL int SSL_read(SSL *ssl, void *ret, int size)
{
    int (*own)(SSL *, void *, int);
    *(void **)&own = dlsym(RTLD_NEXT, "SSL_read");
    return is_next(A_READ) ? -1 : own(ssl, ret, size);
}

CALL int SSL_write(SSL *ssl, const void *data, int size)
{
    int (*own)(SSL *, const void *, int);
    *(void **)&own = dlsym(RTLD_NEXT, "SSL_write");
    return is_next(A_WRITE) ? -1 : own(ssl, data, size);
}

/* --- both sides, and a wire between them that can change what it carries */

struct end {
    struct myr_io_stream *stream;
    uint32_t opened, closed;
    char heard[64], why[300];
};

struct hop {
    struct myr_io_stream *stream;
    struct hop *other;
    bool spoils; /* the last byte of the next piece */
};

static uv_loop_t loop;
static struct myr_io_tls *shown, *believed;
static struct myr_io_listener *listener, *wire;
static struct end near, far;
static struct hop hops[2]; /* towards the one who called, and beyond */
static uint32_t accepted;
static bool wire_stays; /* one end of it does not follow the other */

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct end *end = context;
    end->opened++;
    end->stream = stream;
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct end *end = context;
    assert_ptr_equal(stream, end->stream);
    snprintf(end->heard, sizeof(end->heard), "%.*s", (int)bytes.len, bytes.data);
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct end *end = context;
    (void)stream;
    end->closed++;
    end->stream = NULL;
    snprintf(end->why, sizeof(end->why), "%.299s", why->code ? why->message : "by itself");
    assert_int_equal(ERR_peek_error(), 0); /* the next to look would take it for his own */
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    (void)stream;
    accepted++;
    return context;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

static void on_hop_open(void *context, struct myr_io_stream *stream)
{
    ((struct hop *)context)->stream = stream;
}

static void on_hop_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct hop *hop = context;
    MYR_CLEANUP(myr_buf_done) struct myr_buf copy = {};
    (void)stream;
    myr_buf_put(&copy, bytes.data, bytes.len);
    if (hop->spoils) {
        hop->spoils = false;
        copy.data[copy.len - 1] ^= 1;
    }
    if (hop->other->stream) {
        myr_io_write(hop->other->stream, (struct myr_str){copy.data, copy.len});
    }
}

static void on_hop_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct hop *hop = context;
    (void)stream;
    (void)why;
    hop->stream = NULL;
    if (hop->other->stream && !wire_stays) {
        myr_io_close(hop->other->stream);
    }
}

static const struct myr_io_calls hop_calls = {on_hop_open, on_hop_data, on_hop_closed};

static void *on_hop(void *context, struct myr_io_stream *stream)
{
    struct myr_err err = {};
    hops[0] = (struct hop){.stream = stream, .other = &hops[1]};
    hops[1] = (struct hop){.other = &hops[0]};
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), NULL, &hop_calls,
                                    &hops[1], &hops[1].stream, &err),
                     MYR_OK);
    assert_null(context);
    return &hops[0];
}

static void until(const uint32_t *number)
{
    for (uint32_t i = 0; i < PATIENCE && *number == 0; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_int_equal(*number, 1);
}

static void settle(void)
{
    for (uint32_t i = 0; i < 100; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(20);
    }
}

static void says(struct end *from, struct end *to, const char *text)
{
    myr_io_write(from->stream, myr_str_from(text));
    for (uint32_t i = 0; i < PATIENCE && strcmp(to->heard, text) != 0; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_string_equal(to->heard, text);
}

static void join(void)
{
    struct myr_err err = {};
    near = far = (struct end){};
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(wire), believed, &calls, &near,
                                    &near.stream, &err),
                     MYR_OK);
    until(&near.opened);
    until(&far.opened);
    says(&near, &far, "is it you?");
    says(&far, &near, "it is");
}

static void begin_all(void)
{
    struct myr_err err = {};
    const struct myr_io_service ours = {calls, on_accept, &far, 9};
    const struct myr_io_service between = {hop_calls, on_hop, NULL, 9};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, shown, &ours, &listener, &err), MYR_OK);
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &between, &wire, &err), MYR_OK);
}

static void end_all(void)
{
    myr_io_listener_close(listener);
    myr_io_listener_close(wire);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(ERR_peek_error(), 0);
}

static void expect_why(const struct end *end, const char *front, const char *words)
{
    const char *text = strstr(end->why, ": ");
    if (!text || strncmp(text + 2, front, strlen(front)) != 0 || !strstr(text, words)) {
        fail_msg("'%s' is no '...: %s...%s'", end->why, front, words);
    }
}

/* One changed byte is noticed by who gets it, who says so to the other; nothing of it is heard. */
static void a_byte_that_is_changed_underway_ends_both(void **state)
{
    (void)state;
    begin_all();
    for (uint32_t beyond = 0; beyond < 2; beyond++) {
        join();
        struct end *from = beyond ? &far : &near, *to = beyond ? &near : &far;
        hops[beyond].spoils = true;
        myr_io_write(from->stream, MYR_STR("what is changed"));
        until(&to->closed);
        until(&from->closed);
        expect_why(to, "TLS is broken: error:", "bad record mac");
        expect_why(from, "TLS is broken: error:", "alert bad record mac");
        assert_string_not_equal(to->heard, "what is changed");
        settle();
        assert_int_equal(near.closed + far.closed, 2); /* once each */
    }
    join(); /* and the next ones are as sound as ever */
    myr_io_close(near.stream);
    until(&near.closed);
    until(&far.closed);
    assert_string_equal(near.why, "by itself");
    assert_string_equal(far.why, "by itself");
    end_all();
}

/* Whoever reads or writes: whatever OpenSSL has put down, others find nothing of it. */
static void a_session_that_fails_is_alone(void **state)
{
    (void)state;
    begin_all();
    for (uint32_t reads = 0; reads < 2; reads++) {
        join();
        if (!reads) {
            fault = A_WRITE;
        }
        myr_io_write(near.stream, MYR_STR("to nobody"));
        if (reads) {
            fault = A_READ;
        }
        until(&near.closed);
        until(&far.closed);
        assert_int_equal(fault, NOTHING);
        expect_why(reads ? &far : &near, "TLS is broken: error:", "internal error");
        assert_string_equal(reads ? near.why : far.why, "by itself");
        assert_string_equal(far.heard, "is it you?");
        settle();
        assert_int_equal(near.closed + far.closed, 2);
    }
    join();
    myr_io_abort(near.stream);
    until(&near.closed);
    until(&far.closed);
    end_all();
}

/* Whoever says good-bye by TLS has ended: nobody waits for the end of his socket. */
static void a_good_bye_is_an_end_though_the_line_stays(void **state)
{
    (void)state;
    begin_all();
    for (uint32_t beyond = 0; beyond < 2; beyond++) {
        join();
        struct end *from = beyond ? &far : &near, *to = beyond ? &near : &far;
        wire_stays = true;
        myr_io_close(from->stream);
        until(&to->closed);
        until(&from->closed);
        assert_string_equal(to->why, "by itself");
        assert_string_equal(from->why, "by itself");
        wire_stays = false;
        settle();
        assert_int_equal(near.closed + far.closed, 2);
        for (uint32_t i = 0; i < 2; i++) {
            if (hops[i].stream) {
                myr_io_abort(hops[i].stream);
            }
        }
        settle();
    }
    end_all();
}

/* Nobody is told of a connection that there is not, and the next one comes in. */
static void who_cannot_be_accepted_is_nobody(void **state)
{
    static const int errors[] = {ENOBUFS, EPERM, EPROTO};
    (void)state;
    begin_all();
    for (size_t i = 0; i < MYR_ARRAY_COUNT(errors); i++) {
        struct myr_err err = {};
        accepted = 0;
        near = far = (struct end){};
        accept_error = errors[i];
        assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), believed, &calls,
                                        &near, &near.stream, &err),
                         MYR_OK);
        until(&near.opened);
        until(&far.opened);
        assert_int_equal(accept_error, 0);
        assert_int_equal(accepted, 1);
        assert_int_equal(near.closed + far.closed, 0);
        myr_io_close(near.stream);
        until(&near.closed);
        until(&far.closed);
    }
    end_all();
}

/* --- a server and its client */

static int begin(void **state)
{
    struct myr_err err = {};
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, certificate = {};
    (void)state;
    assert_int_equal(myr_io_ca_create("lab", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("head", &key, &csr, &err), MYR_OK);
    const struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                                     .ca_key = {ca_key.data, ca_key.len},
                                     .days = 3,
                                     .server = true};
    struct myr_str asked = {csr.data, csr.len};
    assert_int_equal(myr_io_ca_sign(&sign, asked, &certificate, NULL, NULL, &err), MYR_OK);
    shown = tls_of(&(struct myr_io_tls_names){.certificate_pem = certificate.data,
                                              .key_pem = key.data,
                                              .ca_pem = ca.data,
                                              .server = true,
                                              .strangers = true});
    believed = tls_of(&(struct myr_io_tls_names){.ca_pem = ca.data});
    struct myr_buf *all[] = {&ca, &ca_key, &key, &csr, &certificate};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
    return uv_loop_init(&loop);
}

static int finish(void **state)
{
    (void)state;
    myr_io_tls_free(shown);
    myr_io_tls_free(believed);
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_that_is_changed_underway_ends_both),
        cmocka_unit_test(a_session_that_fails_is_alone),
        cmocka_unit_test(a_good_bye_is_an_end_though_the_line_stays),
        cmocka_unit_test(who_cannot_be_accepted_is_nobody),
    };
    int failed = cmocka_run_group_tests(tests, begin, finish);
    uv_library_shutdown();
    return failed;
}
