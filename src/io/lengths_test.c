/*
 * Bytes of every length through a stream, plain and by TLS: what the other side gets is what was
 * written, to the byte and no byte more. A record of TLS takes 16 KiB and a read 64 KiB, so that
 * the borders lie there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks.h"
#include "myriad/io.h"
#include "tls_test.h"

/* OpenSSL and libuv keep tables for the whole process. */
long myr_leaks_allowed = 10000;

enum { PATIENCE = 20000, MOST = 300 << 10, QUIET = 8 };

/* One end, and what it is expected to have heard by now. */
struct end {
    struct myr_io_stream *stream;
    struct myr_buf heard, wanted;
    bool open, closed;
};

static uv_loop_t loop;
static struct end near, far;
static char bytes[MOST + 1]; /* the last is never written */

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct end *end = context;
    end->open = true;
    end->stream = stream;
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str data)
{
    struct end *end = context;
    assert_ptr_equal(end->stream, stream);
    assert_true(data.len > 0);
    myr_buf_put(&end->heard, data.data, data.len);
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct end *end = context;
    (void)stream;
    assert_string_equal(why->message, "");
    assert_false(end->closed); /* once */
    end->closed = true;
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    (void)stream;
    return context;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

/* What is too much would come with the rest, or a few turns behind it. */
static void settle(void)
{
    uint32_t quiet = 0;
    for (uint32_t i = 0; i < PATIENCE && quiet < QUIET; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        bool all = near.heard.len >= near.wanted.len && far.heard.len >= far.wanted.len;
        quiet = all ? quiet + 1 : 0;
        usleep(all ? 0 : 50);
    }
    assert_int_equal(near.heard.len, near.wanted.len);
    assert_int_equal(far.heard.len, far.wanted.len);
    if (near.wanted.len) {
        assert_memory_equal(near.heard.data, near.wanted.data, near.wanted.len);
    }
    if (far.wanted.len) {
        assert_memory_equal(far.heard.data, far.wanted.data, far.wanted.len);
    }
    myr_buf_clear(&near.heard);
    myr_buf_clear(&near.wanted);
    myr_buf_clear(&far.heard);
    myr_buf_clear(&far.wanted);
}

static void say(struct end *from, struct end *to, size_t at, size_t length)
{
    myr_io_write(from->stream, (struct myr_str){bytes + at, length});
    myr_buf_put(&to->wanted, bytes + at, length);
}

static struct myr_io_listener *join(struct myr_io_tls *ours, struct myr_io_tls *theirs,
                                    size_t early)
{
    struct myr_err err = {};
    struct myr_io_listener *listener = NULL;
    const struct myr_io_service service = {calls, on_accept, &far, 1};
    near = far = (struct end){};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, ours, &service, &listener, &err), MYR_OK);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), theirs, &calls,
                                    &near, &near.stream, &err),
                     MYR_OK);
    say(&near, &far, 1, early); /* in two words, before anybody is there */
    say(&near, &far, 0, 1);
    assert_int_equal(myr_io_pending(near.stream), early + 1);
    for (uint32_t i = 0; i < PATIENCE && !(near.open && far.open); i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_true(near.open && far.open);
    settle();
    assert_int_equal(myr_io_pending(near.stream), 0);
    return listener;
}

static void leave(struct myr_io_listener *listener)
{
    say(&far, &near, 7, 20000); /* what was written before the end comes before it */
    myr_io_close(far.stream);
    for (uint32_t i = 0; i < PATIENCE && !(near.closed && far.closed); i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_true(near.closed && far.closed);
    settle();
    struct myr_buf *all[] = {&near.heard, &near.wanted, &far.heard, &far.wanted};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
    myr_io_listener_close(listener);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

/* Each border from both sides, one after the other and then all of them at once. */
static void borders(struct myr_io_tls *ours, struct myr_io_tls *theirs)
{
    static const size_t around[] = {1, 1024, 16384, 32768, 65536, 81920, 131072, 3 * 65536};
    struct myr_io_listener *listener = join(ours, theirs, 16384 + 5);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(around); i++) {
        for (size_t more = 0; more < 3; more++) {
            say(&near, &far, more, around[i] - 1 + more);
            settle();
            say(&far, &near, 3, around[i] - 1 + more);
            settle();
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(around); i++) {
        say(&near, &far, i, around[i] + 1);
        say(&far, &near, 2 * i, around[i] - 1);
    }
    settle();
    leave(listener);
}

/* Lengths and turns drawn at random, both sides at once; held against what was written. */
static void drawn(struct myr_io_tls *ours, struct myr_io_tls *theirs, uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 0);
    struct myr_io_listener *listener = join(ours, theirs, 0);
    for (uint32_t round = 0; round < 150; round++) {
        bool here = myr_rng_below(&rng, 2);
        size_t length = myr_rng_below(&rng, myr_rng_below(&rng, 8) ? 3000 : MOST);
        size_t at = myr_rng_below(&rng, (uint32_t)(MOST - length));
        say(here ? &near : &far, here ? &far : &near, at, length);
        if (myr_rng_below(&rng, 3) == 0) {
            (void)uv_run(&loop, UV_RUN_NOWAIT);
        }
        bool stops = myr_rng_below(&rng, 10) == 0;
        myr_io_pause(here ? far.stream : near.stream, stops);
        if (stops) { /* nothing is lost while nobody reads */
            (void)uv_run(&loop, UV_RUN_NOWAIT);
            myr_io_pause(here ? far.stream : near.stream, false);
        }
    }
    myr_io_pause(near.stream, false);
    myr_io_pause(far.stream, false);
    settle();
    leave(listener);
}

static void plain_bytes_come_as_they_were_written(void **state)
{
    (void)state;
    borders(NULL, NULL);
    drawn(NULL, NULL, 20261119);
}

static void bytes_of_tls_come_as_they_were_written(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, certificate = {};
    assert_int_equal(myr_io_ca_create("lab", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("head", &key, &csr, &err), MYR_OK);
    const struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                                     .ca_key = {ca_key.data, ca_key.len},
                                     .days = 3,
                                     .server = true};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &certificate, NULL, NULL, &err),
        MYR_OK);
    struct myr_io_tls *ours = tls_of(&(struct myr_io_tls_names){.certificate_pem = certificate.data,
                                                                .key_pem = key.data,
                                                                .ca_pem = ca.data,
                                                                .server = true,
                                                                .strangers = true});
    struct myr_io_tls *theirs = tls_of(&(struct myr_io_tls_names){.ca_pem = ca.data});
    borders(ours, theirs);
    drawn(ours, theirs, 20261120);
    myr_io_tls_free(ours);
    myr_io_tls_free(theirs);
    struct myr_buf *all[] = {&ca, &ca_key, &key, &csr, &certificate};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
}

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(i * 31 + i / 251 + i / 65521);
    }
    return uv_loop_init(&loop);
}

static int finish(void **state)
{
    (void)state;
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_bytes_come_as_they_were_written),
        cmocka_unit_test(bytes_of_tls_come_as_they_were_written),
    };
    int failed = cmocka_run_group_tests(tests, begin, finish);
    uv_library_shutdown();
    OPENSSL_cleanup();
    return failed;
}
