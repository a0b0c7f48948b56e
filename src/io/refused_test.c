/*
 * Streams whose calls of libuv are refused one after the other, and whose peers do nothing, as one
 * text (tests/kept/io-refused.txt). Clocks are the test's own: time passes at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"
#include "myriad/io.h"

/* The resolver and OpenSSL keep their tables for the whole process. */
long myr_leaks_allowed = 10000;

enum { TURNS = 400, PATIENCE = 20000 };

#define FOR_ALL __attribute__((visibility("default")))

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

FOR_ALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

/* --- calls that are refused */

static struct {
    const char *name; /* of the call that is refused; NULL: none */
    uint32_t number;  /* of the times that it is called: this one */
    uint32_t calls;
    int with;
} refused;

/* What stands behind a call; nothing of it is told by name to the compiler. */
static void *behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    assert_non_null(found);
    return found;
}

static bool is_refused(const char *name)
{
    return refused.name && strcmp(refused.name, name) == 0 && ++refused.calls == refused.number;
}

#define REFUSABLE(name, parameters, ...)                             \
    FOR_ALL int name parameters                                      \
    {                                                                \
        int(*call) parameters;                                       \
        *(void **)&call = behind(#name);                             \
        return is_refused(#name) ? refused.with : call(__VA_ARGS__); \
    }

REFUSABLE(uv_tcp_connect,
          (uv_connect_t * request, uv_tcp_t *tcp, const struct sockaddr *at, uv_connect_cb then),
          request, tcp, at, then)
REFUSABLE(uv_accept, (uv_stream_t * server, uv_stream_t *client), server, client)
REFUSABLE(uv_listen, (uv_stream_t * stream, int backlog, uv_connection_cb then), stream, backlog,
          then)
REFUSABLE(uv_tcp_getsockname, (const uv_tcp_t *tcp, struct sockaddr *ret, int *size), tcp, ret,
          size)
REFUSABLE(uv_read_start, (uv_stream_t * stream, uv_alloc_cb alloc, uv_read_cb then), stream, alloc,
          then)
REFUSABLE(uv_try_write, (uv_stream_t * stream, const uv_buf_t bufs[], unsigned count), stream, bufs,
          count)
REFUSABLE(uv_write,
          (uv_write_t * request, uv_stream_t *stream, const uv_buf_t bufs[], unsigned count,
           uv_write_cb then),
          request, stream, bufs, count, then)
/* Addresses that were found are given back, whatever became of who looked for them. */
static uint32_t found_count, freed_count;
static uv_getaddrinfo_cb looked_up;
static struct myr_io_stream *given_up; /* at the moment when its name is found; or NULL */

FOR_ALL void uv_freeaddrinfo(struct addrinfo *found)
{
    void (*call)(struct addrinfo *);
    *(void **)&call = behind("uv_freeaddrinfo");
    freed_count += found != NULL;
    call(found);
}

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    found_count += found != NULL;
    if (given_up) {
        assert_non_null(found);
        myr_io_abort(given_up);
    }
    looked_up(request, status, found);
}

/* Refused with 1: it begins, and finds nothing. */
FOR_ALL int uv_getaddrinfo(uv_loop_t *at, uv_getaddrinfo_t *request, uv_getaddrinfo_cb then,
                           const char *node, const char *service, const struct addrinfo *hints)
{
    int (*call)(uv_loop_t *, uv_getaddrinfo_t *, uv_getaddrinfo_cb, const char *, const char *,
                const struct addrinfo *);
    const struct addrinfo numbers = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    *(void **)&call = behind("uv_getaddrinfo");
    if (!is_refused("uv_getaddrinfo")) {
        looked_up = then;
        return call(at, request, on_looked_up, node, service, hints);
    }
    return refused.with < 0 ? refused.with : call(at, request, then, NULL, "no number", &numbers);
}

/* --- what is asked of the system for each connection */

static int no_delay, kept_alive;
static unsigned alive_s;

FOR_ALL int uv_tcp_nodelay(uv_tcp_t *tcp, int enable)
{
    int (*call)(uv_tcp_t *, int);
    *(void **)&call = behind("uv_tcp_nodelay");
    no_delay = enable;
    return call(tcp, enable);
}

FOR_ALL int uv_tcp_keepalive(uv_tcp_t *tcp, int enable, unsigned delay_s)
{
    int (*call)(uv_tcp_t *, int, unsigned);
    *(void **)&call = behind("uv_tcp_keepalive");
    kept_alive = enable;
    alive_s = delay_s;
    return call(tcp, enable, delay_s);
}

/* --- both sides */

struct side {
    const char *name;
    struct myr_io_stream *stream;
    size_t got;
    uint32_t opened, closed;
    bool echo;
    struct myr_buf told; /* of each side apart: which of two hears of something first is chance */
};

static uv_loop_t loop;
static struct side client = {.name = "client"}, server = {.name = "server"};
static struct myr_io_listener *listener;
static struct myr_buf story;

/* Ports of a run are no part of the story, nor what OpenSSL calls its errors. */
static void put(struct side *side, const char *text)
{
    struct myr_buf *told = &side->told;
    const char *code = strstr(text, ": error:");
    const char *end = code ? code : text + strlen(text);
    while (text < end) {
        bool port = told->len && told->data[told->len - 1] == ':' && isdigit(*text);
        if (port) {
            text += strspn(text, "0123456789");
            myr_buf_puts(told, "PORT");
        } else {
            myr_buf_putc(told, *text++);
        }
    }
}

static void flush(struct side *side)
{
    if (side->told.len) {
        myr_buf_put(&story, side->told.data, side->told.len);
    }
    myr_buf_done(&side->told);
    *side = (struct side){.name = side->name};
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct side *side = context;
    side->opened++;
    side->stream = stream;
    put(side, side->name);
    put(side, " is open to ");
    put(side, myr_io_address(stream));
    put(side, "\n");
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct side *side = context;
    side->got += bytes.len;
    if (side->echo) {
        myr_io_write(stream, bytes);
    }
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct side *side = context;
    side->closed++;
    if (stream == side->stream) {
        side->stream = NULL;
    }
    put(side, side->name);
    put(side, " is closed");
    put(side, why->code ? ": " : "");
    put(side, why->code ? why->message : "");
    put(side, "\n");
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    server.stream = stream;
    return context;
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

static void turn(void)
{
    for (uint32_t i = 0; i < 20; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static void pass(int64_t ms)
{
    clock_ns += ms * 1000000;
    turn();
}

static void until(const uint32_t *number, uint32_t wanted)
{
    for (int i = 0; i < PATIENCE && *number < wanted; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        if (*number < wanted) {
            usleep(100);
        }
    }
    assert_int_equal(*number, wanted);
}

static void what(const char *text, uint32_t number)
{
    myr_buf_printf(&story, "%s", text);
    if (number) {
        myr_buf_printf(&story, ", the call number %u is refused", number);
    }
    myr_buf_putc(&story, '\n');
}

static void listens(uint32_t most)
{
    struct myr_err err = {};
    const struct myr_io_service service = {
        .calls = calls, .accept = on_accept, .context = &server, .streams_max = most};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &listener, &err), MYR_OK);
    assert_true(myr_io_port(listener) > 0);
}

static void connects(const char *host, struct side *side)
{
    struct myr_err err = {};
    assert_int_equal(
        myr_io_connect(&loop, host, myr_io_port(listener), NULL, &calls, side, &side->stream, &err),
        MYR_OK);
}

/* Everything is closed, and nothing is left in the loop. */
static void ends(void)
{
    if (client.stream) {
        myr_io_abort(client.stream);
    }
    if (server.stream) {
        myr_io_abort(server.stream);
    }
    myr_io_listener_close(listener);
    for (int i = 0; i < PATIENCE && uv_loop_alive(&loop); i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(uv_loop_alive(&loop) ? 100 : 0);
    }
    assert_false(uv_loop_alive(&loop));
    flush(&client);
    flush(&server);
    refused.name = NULL;
    refused.calls = 0;
}

/* A hundred bytes there and back; written before it is open. */
static void there_and_back(const char *host)
{
    static const char bytes[100] = "bytes";
    server.echo = true;
    listens(4);
    connects(host, &client);
    myr_io_write(client.stream, (struct myr_str){bytes, sizeof(bytes)});
    myr_buf_printf(&story, "  waits: %zu\n", myr_io_pending(client.stream));
    for (uint32_t i = 0; i < TURNS && client.got < sizeof(bytes) && !client.closed; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    turn();
    if (client.stream) {
        myr_io_close(client.stream);
        myr_io_close(client.stream);
        myr_io_write(client.stream, MYR_STR("too late"));
    }
    turn();
    myr_buf_printf(&story, "  client got %zu, server %zu\n", client.got, server.got);
    ends();
}

static void each_call_is_refused(void)
{
    static const struct {
        const char *name;
        uint32_t numbers;
        int with;
    } all[] = {{"uv_tcp_connect", 1, UV_ENETUNREACH},
               {"uv_accept", 1, UV_EMFILE},
               {"uv_read_start", 2, UV_ENOMEM},
               {"uv_try_write", 2, UV_EPIPE},
               {"uv_try_write", 2, UV_EAGAIN}};
    what("there and back", 0);
    there_and_back("127.0.0.1");
    myr_buf_printf(&story, "without delay: %d; kept alive: %d, after %u s\n", no_delay, kept_alive,
                   alive_s);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        for (uint32_t number = 1; number <= all[i].numbers; number++) {
            refused.name = all[i].name;
            refused.number = number;
            refused.with = all[i].with;
            what(all[i].name, number);
            there_and_back("127.0.0.1");
        }
    }
    what("by name, whose look-up cannot begin", 1);
    refused.name = "uv_getaddrinfo";
    refused.number = 1;
    refused.with = UV_ENOMEM;
    there_and_back("localhost");
    what("by name, which nobody has", 1);
    refused.name = "uv_getaddrinfo";
    refused.number = 1;
    refused.with = 1;
    there_and_back("localhost");
}

static char bulk[16 << 20];

static void who_does_not_read(void)
{
    what("a peer that does not read: a second, and no more", 0);
    listens(4);
    connects("127.0.0.1", &client);
    until(&server.opened, 1);
    until(&client.opened, 1);
    myr_io_pause(server.stream, true);
    myr_io_pause(server.stream, true);
    myr_io_write(client.stream, (struct myr_str){bulk, sizeof(bulk)});
    turn();
    size_t waits = myr_io_pending(client.stream);
    assert_true(waits > 0 && waits < sizeof(bulk));
    myr_io_close(client.stream);
    pass(500);
    myr_io_close(client.stream); /* no second more */
    myr_io_pause(client.stream, true);
    refused.name = "uv_read_start"; /* which is not even asked for: it reads no more */
    refused.number = 1;
    refused.calls = 0;
    refused.with = UV_ENOMEM;
    myr_io_pause(client.stream, false);
    refused.name = NULL;
    pass(499);
    assert_int_equal(client.closed, 0);
    pass(1);
    assert_int_equal(client.closed, 1);
    ends();
    what("one that reads in time", 0);
    listens(4);
    connects("127.0.0.1", &client);
    until(&server.opened, 1);
    until(&client.opened, 1);
    myr_io_pause(server.stream, true);
    myr_io_write(client.stream, (struct myr_str){bulk, sizeof(bulk)});
    myr_io_close(client.stream);
    pass(500);
    myr_io_pause(server.stream, false);
    until(&client.closed, 1);
    until(&server.closed, 1);
    assert_int_equal(server.got, sizeof(bulk));
    ends();
    what("one that cannot go on reading", 0);
    listens(4);
    connects("127.0.0.1", &client);
    until(&server.opened, 1);
    until(&client.opened, 1);
    myr_io_pause(server.stream, true);
    refused.name = "uv_read_start";
    refused.number = 1;
    refused.with = UV_ENOMEM;
    myr_io_pause(server.stream, false);
    until(&server.closed, 1);
    ends();
    what("a write that cannot wait", 0);
    listens(4);
    connects("127.0.0.1", &client);
    until(&client.opened, 1);
    refused.name = "uv_write";
    refused.number = 1;
    refused.with = UV_EPIPE;
    myr_io_write(client.stream, (struct myr_str){bulk, sizeof(bulk)});
    until(&client.closed, 1);
    ends();
}

/* A connection that is reset is no end: what is lost is told. */
static void who_is_cut_off(void)
{
    const struct linger at_once = {.l_onoff = 1};
    what("a peer that is cut off", 0);
    listens(4);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(myr_io_port(listener)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    until(&server.opened, 1);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
    assert_int_equal(close(fd), 0);
    until(&server.closed, 1);
    ends();
    what("one that is given up while its name is looked up", 0);
    listens(4);
    connects("localhost", &client);
    myr_io_abort(client.stream);
    until(&client.closed, 1);
    ends();
    what("one that is closed while its name is looked up", 0);
    listens(4);
    connects("localhost", &client);
    myr_io_write(client.stream, MYR_STR("never sent"));
    myr_io_close(client.stream);
    until(&client.closed, 1);
    ends();
    what("one that is given up when its name is found", 0);
    listens(4);
    connects("localhost", &client);
    given_up = client.stream;
    until(&client.closed, 1);
    given_up = NULL;
    ends();
    assert_true(found_count > 0);
    assert_int_equal(freed_count, found_count);
}

static void limits_and_late_ones(void)
{
    struct side others[3] = {{.name = "second"}, {.name = "third"}, {.name = "fourth"}};
    what("two are enough, and then three", 0);
    listens(2);
    connects("127.0.0.1", &client);
    until(&server.opened, 1);
    connects("127.0.0.1", &others[0]);
    until(&server.opened, 2);
    connects("127.0.0.1", &others[1]);
    until(&others[1].closed, 1);
    myr_io_listener_limit(listener, 3);
    connects("127.0.0.1", &others[2]);
    until(&server.opened, 3);
    for (uint32_t i = 0; i < 3; i += 2) {
        until(&others[i].opened, 1);
        myr_io_close(others[i].stream);
        until(&others[i].closed, 1);
    }
    for (uint32_t i = 0; i < 3; i++) {
        flush(&others[i]);
    }
    ends();
    what("TLS with somebody who says nothing: ten seconds", 0);
    struct myr_io_tls *tls;
    struct myr_err err = {};
    struct myr_io_tls_names names = {
        .fingerprint = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
    assert_int_equal(myr_io_tls_create(&names, &tls, &err), MYR_OK);
    listens(4);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), tls, &calls, &client,
                                    &client.stream, &err),
                     MYR_OK);
    until(&server.opened, 1);
    pass(9999);
    assert_int_equal(client.closed, 0);
    pass(1);
    assert_int_equal(client.closed, 1);
    ends();
    what("with somebody who says something else", 0);
    listens(4);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), tls, &calls, &client,
                                    &client.stream, &err),
                     MYR_OK);
    until(&server.opened, 1);
    myr_io_write(server.stream, MYR_STR("what is this?\n"));
    until(&client.closed, 1);
    ends();
    what("with somebody who leaves", 0);
    listens(4);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), tls, &calls, &client,
                                    &client.stream, &err),
                     MYR_OK);
    until(&server.opened, 1);
    turn();
    myr_io_close(server.stream);
    until(&client.closed, 1);
    ends();
    myr_io_tls_free(tls);
}

static void listening(void)
{
    static const struct {
        const char *call;
        const char *address;
    } all[] = {{"uv_listen", "127.0.0.1"},
               {"uv_tcp_getsockname", "::1"},
               {NULL, "nowhere"},
               {NULL, "192.0.2.1"}};
    what("listening", 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct myr_err err = {};
        const struct myr_io_service service = {.calls = calls, .accept = on_accept};
        refused.name = all[i].call;
        refused.number = 1;
        refused.calls = 0;
        refused.with = UV_EADDRINUSE;
        int rc = myr_io_listen(&loop, all[i].address, 0, NULL, &service, &listener, &err);
        myr_buf_printf(&story, "%s: %s\n", myr_err_name(rc), err.message);
        turn();
    }
    refused.name = NULL;
}

static void calls_that_are_refused(void **state)
{
    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    each_call_is_refused();
    who_does_not_read();
    who_is_cut_off();
    limits_and_late_ones();
    listening();
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_kept("io-refused.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
