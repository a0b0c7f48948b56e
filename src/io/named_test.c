/*
 * Streams to a name, with a resolver and a clock of the test's own: which address is taken, what
 * is told of a name that nobody has, and how long is waited for an answer that does not come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "leaks.h"
#include "myriad/io.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 1000;

enum { PATIENCE = 20000 };

#define CALL __attribute__((visibility("default")))

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

CALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

/* --- the resolver, which libuv calls in a thread of its own */

static const char *known[3]; /* addresses of the name, in the order in which they are told */
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER; /* held: it does not answer */
static char asked[80];
static uint32_t given, given_back;

CALL int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                     struct addrinfo **ret)
{
    struct addrinfo **at = ret;
    snprintf(asked, sizeof(asked), "%s %s %s", host, port,
             hints && hints->ai_socktype == SOCK_STREAM && hints->ai_family == AF_UNSPEC
                 ? "stream of any family"
                 : "something else");
    pthread_mutex_lock(&slow);
    pthread_mutex_unlock(&slow);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(known) && known[i]; i++) {
        struct sockaddr_storage *where = calloc(1, sizeof(*where));
        uint16_t number = (uint16_t)strtoul(port, NULL, 10);
        *at = calloc(1, sizeof(**at));
        assert_true(where && *at);
        bool six = strchr(known[i], ':') != NULL;
        assert_int_equal(six ? uv_ip6_addr(known[i], number, (struct sockaddr_in6 *)where)
                             : uv_ip4_addr(known[i], number, (struct sockaddr_in *)where),
                         0);
        (*at)->ai_family = six ? AF_INET6 : AF_INET;
        (*at)->ai_socktype = SOCK_STREAM;
        (*at)->ai_addr = (struct sockaddr *)where;
        (*at)->ai_addrlen = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
        at = &(*at)->ai_next;
    }
    given += known[0] != NULL;
    return known[0] ? 0 : EAI_NONAME;
}

CALL void freeaddrinfo(struct addrinfo *found)
{
    given_back += found != NULL;
    while (found) {
        struct addrinfo *behind = found->ai_next;
        free(found->ai_addr);
        free(found);
        found = behind;
    }
}

/* --- both sides */

struct end {
    struct myr_io_stream *stream;
    uint32_t opened, closed;
    char heard[16], address[64], why[200];
};

static uv_loop_t loop;
static struct end near, far;
static struct myr_io_listener *listener;

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct end *end = context;
    end->opened++;
    end->stream = stream;
    snprintf(end->address, sizeof(end->address), "%s", myr_io_address(stream));
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct end *end = context;
    (void)stream;
    snprintf(end->heard, sizeof(end->heard), "%.*s", (int)bytes.len, bytes.data);
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct end *end = context;
    (void)stream;
    end->closed++;
    snprintf(end->why, sizeof(end->why), "%.199s", why->code ? why->message : "by itself");
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    (void)stream;
    return context;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

static void until(const uint32_t *number)
{
    for (uint32_t i = 0; i < PATIENCE && *number == 0; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(50);
    }
    assert_int_equal(*number, 1);
}

static void pass(int64_t ms)
{
    clock_ns += ms * 1000000;
    for (uint32_t i = 0; i < 20; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static void listens(void)
{
    struct myr_err err = {};
    const struct myr_io_service service = {calls, on_accept, &far, 4};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &listener, &err), MYR_OK);
}

/* The error is untouched: what goes wrong is told by 'closed'. */
static void connects(const char *host, uint16_t port)
{
    struct myr_err err = {};
    near = far = (struct end){};
    assert_int_equal(myr_io_connect(&loop, host, port, NULL, &calls, &near, &near.stream, &err),
                     MYR_OK);
    assert_int_equal(err.code, MYR_OK);
    assert_int_equal(near.opened + near.closed, 0); /* from the loop alone */
}

static void ends(void)
{
    myr_io_listener_close(listener);
    listener = NULL;
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(given, given_back);
}

static void know(const char *first, const char *second)
{
    known[0] = first;
    known[1] = first ? second : NULL;
}

/* The first address of the name is taken, with the port that was asked for. */
static void a_name_leads_to_its_first_address(void **state)
{
    static const char *const seconds[] = {NULL, "::1", "127.0.0.2"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(seconds); i++) {
        char wanted[80];
        know("127.0.0.1", seconds[i]);
        listens();
        connects("head.lab", myr_io_port(listener));
        snprintf(wanted, sizeof(wanted), "head.lab:%u", myr_io_port(listener));
        assert_string_equal(myr_io_address(near.stream), wanted); /* as far as is known by now */
        myr_io_write(near.stream, MYR_STR("hello"));
        assert_int_equal(myr_io_pending(near.stream), 5);
        until(&near.opened);
        until(&far.opened);
        snprintf(wanted, sizeof(wanted), "head.lab %u stream of any family", myr_io_port(listener));
        assert_string_equal(asked, wanted);
        snprintf(wanted, sizeof(wanted), "127.0.0.1:%u", myr_io_port(listener));
        assert_string_equal(near.address, wanted);
        for (uint32_t k = 0; k < PATIENCE && !far.heard[0]; k++) {
            (void)uv_run(&loop, UV_RUN_NOWAIT);
        }
        assert_string_equal(far.heard, "hello");
        pass(10 * 1000 + 1); /* the time for the connection is over, and it goes on */
        assert_int_equal(near.closed + far.closed, 0);
        myr_io_close(near.stream);
        until(&near.closed);
        until(&far.closed);
        assert_string_equal(near.why, "by itself");
        ends();
    }
}

/* Who is looked for, and where, stands in front of what went wrong. */
static void what_goes_wrong_names_the_peer(void **state)
{
    static const struct {
        const char *host, *address;
        const char *why; /* with 1, a port at which nobody is */
    } all[] = {
        {"no.such.host", NULL, "no.such.host:1: unknown node or service"},
        {"head.lab", "127.0.0.1", "127.0.0.1:1: connection refused"},
        {"127.0.0.1", NULL, "127.0.0.1:1: connection refused"}, /* which is looked up nowhere */
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        know(all[i].address, NULL);
        asked[0] = '\0';
        connects(all[i].host, 1);
        myr_io_write(near.stream, MYR_STR("never sent"));
        until(&near.closed);
        assert_int_equal(near.opened, 0);
        assert_string_equal(near.why, all[i].why);
        assert_int_equal(asked[0] != '\0', i < 2);
        ends();
    }
}

/* The time for the look-up is part of that for the connection; its answer is awaited all the same,
 * since it has a pointer to the stream. */
static void a_resolver_that_is_silent_is_given_up(void **state)
{
    (void)state;
    for (uint32_t found = 0; found < 2; found++) {
        know(found ? "127.0.0.1" : NULL, NULL);
        asked[0] = '\0';
        pthread_mutex_lock(&slow);
        connects("head.lab", 1);
        for (uint32_t i = 0; i < PATIENCE && !asked[0]; i++) { /* it is at it, and not in a queue */
            (void)uv_run(&loop, UV_RUN_NOWAIT);
            usleep(50);
        }
        pass(MYR_IO_HANDSHAKE_MS - 1);
        myr_io_write(near.stream, MYR_STR("still early"));
        assert_int_equal(myr_io_pending(near.stream), 11);
        pass(1);
        myr_io_write(near.stream, MYR_STR("too late"));
        assert_int_equal(myr_io_pending(near.stream), 11);
        assert_int_equal(near.closed, 0);
        pthread_mutex_unlock(&slow);
        until(&near.closed);
        assert_string_equal(near.why, "head.lab:1: no connection within 10 s");
        assert_int_equal(near.opened, 0);
        ends();
    }
}

static int begin(void **state)
{
    (void)state;
    return setenv("UV_THREADPOOL_SIZE", "1", 1) | uv_loop_init(&loop);
}

static int finish(void **state)
{
    (void)state;
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_leads_to_its_first_address),
        cmocka_unit_test(what_goes_wrong_names_the_peer),
        cmocka_unit_test(a_resolver_that_is_silent_is_given_up),
    };
    int failed = cmocka_run_group_tests(tests, begin, finish);
    uv_library_shutdown();
    return failed;
}
