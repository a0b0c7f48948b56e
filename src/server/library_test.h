/*
 * libmicrohttpd as a test plays it: no sockets, no library. What the server asks of it is written
 * into the story, and requests are put to the server's own calls. Include it after cmocka.
 */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "agents_test.h"
#include "api.h"
#include "http.h"

struct MHD_Response {
    struct myr_buf headers, body;
    MHD_ContentReaderCallback read;
    MHD_ContentReaderFreeCallback done;
    void *context;
    int fd;        /* -1: none */
    uint32_t refs; /* its maker and the connection that it was queued on */
};

struct MHD_Connection {
    const char *values[8][2]; /* headers, cookies and arguments, by name */
    uint32_t value_count;
    struct sockaddr_storage at;
    int fd;
    void *own, *request; /* the server's: of the connection, of the request */
    bool suspended;
    struct MHD_Response *response;
    unsigned status;
};

/* What the daemon was started with. */
static struct {
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback notify;
    void (*log)(void *context, const char *fmt, va_list args);
    void *context;
    bool refuses; /* it cannot be started */
    uint32_t runs, stops;
    bool has_timeout;
    MHD_UNSIGNED_LONG_LONG timeout_ms;
    int epoll_fd;
    struct myr_buf headers; /* of the answer before */
} lib;

/*
 * Every option is taken off the list by its type, and most go into the story: what the server asks
 * of the library is part of what is tested.
 */
static inline struct MHD_Daemon *play_start(unsigned flags, uint16_t port,
                                            MHD_AcceptPolicyCallback policy, void *policy_context,
                                            MHD_AccessHandlerCallback access, void *context, ...)
{
    va_list args;
    int option;
    assert_true(!policy && !policy_context);
    lib.access = access;
    lib.context = context;
    myr_buf_printf(
        &story, "  daemon flags%s%s%s%s%s port %u", flags & MHD_USE_EPOLL ? " epoll" : "",
        flags & MHD_ALLOW_SUSPEND_RESUME ? " suspend" : "", flags & MHD_USE_ERROR_LOG ? " log" : "",
        flags & MHD_USE_TLS ? " tls" : "", flags & MHD_USE_IPv6 ? " six" : "", port);
    va_start(args, context);
    while ((option = va_arg(args, int)) != MHD_OPTION_END) {
        switch (option) {
        case MHD_OPTION_EXTERNAL_LOGGER:
            lib.log = va_arg(args, void (*)(void *, const char *, va_list));
            assert_ptr_equal(va_arg(args, void *), context);
            break;
        case MHD_OPTION_NOTIFY_COMPLETED:
            lib.completed = va_arg(args, MHD_RequestCompletedCallback);
            assert_ptr_equal(va_arg(args, void *), context);
            break;
        case MHD_OPTION_NOTIFY_CONNECTION:
            lib.notify = va_arg(args, MHD_NotifyConnectionCallback);
            assert_ptr_equal(va_arg(args, void *), context);
            break;
        case MHD_OPTION_SOCK_ADDR: {
            char name[64];
            const struct sockaddr *at = va_arg(args, const struct sockaddr *);
            if (at->sa_family == AF_INET6) {
                uv_ip6_name((const struct sockaddr_in6 *)at, name, sizeof(name));
            } else {
                uv_ip4_name((const struct sockaddr_in *)at, name, sizeof(name));
            }
            myr_buf_printf(&story, " at %s:%u", name,
                           ntohs(((const struct sockaddr_in *)at)->sin_port));
            break;
        }
        case MHD_OPTION_CONNECTION_MEMORY_LIMIT:
            myr_buf_printf(&story, " memory %zu", va_arg(args, size_t));
            break;
        case MHD_OPTION_ARRAY: {
            const struct MHD_OptionItem *items = va_arg(args, const struct MHD_OptionItem *);
            for (; items->option != MHD_OPTION_END; items++) {
                myr_buf_printf(&story, " item %d '%s'", items->option,
                               (const char *)items->ptr_value);
            }
            break;
        }
        default:
            myr_buf_printf(&story, " option %d %u", option, va_arg(args, unsigned));
        }
    }
    va_end(args);
    myr_buf_puts(&story, "\n");
    errno = lib.refuses ? EADDRINUSE : 0;
    return lib.refuses ? NULL : (struct MHD_Daemon *)&lib;
}

static inline void play_stop(struct MHD_Daemon *daemon)
{
    assert_ptr_equal(daemon, &lib);
    lib.stops++;
}

/* What it was woken by is over then. */
static inline enum MHD_Result play_run(struct MHD_Daemon *daemon)
{
    struct epoll_event one;
    assert_ptr_equal(daemon, &lib);
    (void)syscall(SYS_epoll_pwait, lib.epoll_fd, &one, 1, 0, NULL, 8);
    lib.runs++;
    return MHD_YES;
}

static inline enum MHD_Result play_timeout(struct MHD_Daemon *daemon, MHD_UNSIGNED_LONG_LONG *ret)
{
    assert_ptr_equal(daemon, &lib);
    *ret = lib.timeout_ms;
    return lib.has_timeout ? MHD_YES : MHD_NO;
}

static inline const union MHD_DaemonInfo *play_daemon_info(struct MHD_Daemon *daemon,
                                                           enum MHD_DaemonInfoType type, ...)
{
    static union MHD_DaemonInfo info;
    assert_ptr_equal(daemon, &lib);
    if (type == MHD_DAEMON_INFO_BIND_PORT) {
        info.port = 4711;
    } else {
        info.epoll_fd = lib.epoll_fd;
    }
    return &info;
}

static inline const union MHD_ConnectionInfo *
play_connection_info(struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...)
{
    static union MHD_ConnectionInfo info;
    if (type == MHD_CONNECTION_INFO_SOCKET_CONTEXT) {
        info.socket_context = connection->own;
    } else if (type == MHD_CONNECTION_INFO_CLIENT_ADDRESS) {
        info.client_addr = (struct sockaddr *)&connection->at;
    } else {
        assert_int_equal(type, MHD_CONNECTION_INFO_CONNECTION_FD);
        info.connect_fd = connection->fd;
    }
    return &info;
}

static inline struct MHD_Response *response_new(void)
{
    struct MHD_Response *response = myr_xcalloc(1, sizeof(*response));
    response->refs = 1;
    response->fd = -1;
    return response;
}

static inline struct MHD_Response *play_from_buffer(size_t size, void *data,
                                                    enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = response_new();
    /* Bodies lie in buffers that go when the call returns. */
    assert_int_equal(mode, MHD_RESPMEM_MUST_COPY);
    myr_buf_put(&response->body, data, size);
    return response;
}

static inline struct MHD_Response *play_from_callback(uint64_t size, size_t block,
                                                      MHD_ContentReaderCallback read, void *context,
                                                      MHD_ContentReaderFreeCallback done)
{
    struct MHD_Response *response = response_new();
    assert_true(size == MHD_SIZE_UNKNOWN);
    myr_buf_printf(&story, "  answered in pieces of %zu\n", block);
    response->read = read;
    response->done = done;
    response->context = context;
    return response;
}

static inline struct MHD_Response *play_from_fd(uint64_t size, int fd)
{
    struct MHD_Response *response = response_new();
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal((uint64_t)status.st_size, size);
    response->fd = fd;
    return response;
}

/* With the last who has it; then what a callback needed is freed, as the library does. */
static inline void play_destroy(struct MHD_Response *response)
{
    if (--response->refs > 0) {
        return;
    }
    if (response->done) {
        response->done(response->context);
    }
    if (response->fd >= 0) {
        close(response->fd);
    }
    myr_buf_done(&response->headers);
    myr_buf_done(&response->body);
    free(response);
}

/* The secret of a cookie is drawn: only its length is told. */
static inline enum MHD_Result play_header(struct MHD_Response *response, const char *name,
                                          const char *value)
{
    const char *secret = strstr(value, "myriad=");
    size_t drawn = secret ? strcspn(secret + 7, ";") : 0;
    if (secret) {
        myr_buf_printf(&response->headers, " %s: myriad=(%zu)%s;", name, drawn, secret + 7 + drawn);
    } else {
        myr_buf_printf(&response->headers, " %s: %s;", name, value);
    }
    return MHD_YES;
}

/* One answer to a request, never two. */
static inline enum MHD_Result play_queue(struct MHD_Connection *connection, unsigned status,
                                         struct MHD_Response *response)
{
    assert_null(connection->response);
    connection->response = response;
    connection->status = status;
    response->refs++;
    return MHD_YES;
}

static inline const char *play_lookup(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                                      const char *key)
{
    for (uint32_t i = 0; i < connection->value_count; i++) {
        const char *name = connection->values[i][0];
        char first = kind == MHD_HEADER_KIND ? 'h' : kind == MHD_COOKIE_KIND ? 'c' : 'a';
        if (name[0] == first && strcmp(name + 1, key) == 0) {
            return connection->values[i][1];
        }
    }
    return NULL;
}

/* Twice would be a mistake of the server's, which the library does not forgive. */
static inline void play_suspend(struct MHD_Connection *connection)
{
    assert_false(connection->suspended);
    connection->suspended = true;
}

static inline void play_resume(struct MHD_Connection *connection)
{
    assert_true(connection->suspended);
    connection->suspended = false;
}

static inline enum MHD_Result play_option(struct MHD_Connection *connection,
                                          enum MHD_CONNECTION_OPTION option, ...)
{
    va_list args;
    (void)connection;
    va_start(args, option);
    myr_buf_printf(&story, "  option %d %u\n", option, va_arg(args, unsigned));
    va_end(args);
    return MHD_YES;
}

/* All calls but get_version, which nothing here asks for. */
static inline void library_plays(void)
{
    mhd = (struct mhd){.add_response_header = play_header,
                       .create_response_from_buffer = play_from_buffer,
                       .create_response_from_callback = play_from_callback,
                       .create_response_from_fd64 = play_from_fd,
                       .destroy_response = play_destroy,
                       .get_connection_info = play_connection_info,
                       .get_daemon_info = play_daemon_info,
                       .get_timeout = play_timeout,
                       .lookup_connection_value = play_lookup,
                       .queue_response = play_queue,
                       .resume_connection = play_resume,
                       .run = play_run,
                       .set_connection_option = play_option,
                       .start_daemon = play_start,
                       .stop_daemon = play_stop,
                       .suspend_connection = play_suspend};
}

/* --- requests */

/* The server is told of it as of any connection; goes() takes it back. */
static inline struct MHD_Connection *comes_from(const char *address)
{
    struct MHD_Connection *connection = myr_xcalloc(1, sizeof(*connection));
    connection->fd = -1;
    if (uv_ip4_addr(address, 1, (struct sockaddr_in *)&connection->at) != 0) {
        assert_int_equal(uv_ip6_addr(address, 1, (struct sockaddr_in6 *)&connection->at), 0);
    }
    lib.notify(lib.context, connection, &connection->own, MHD_CONNECTION_NOTIFY_STARTED);
    return connection;
}

/* "hName", "cName" or "aName": of a header, a cookie or an argument. */
static inline void with(struct MHD_Connection *connection, const char *name, const char *value)
{
    connection->values[connection->value_count][0] = name;
    connection->values[connection->value_count++][1] = value;
}

/* The request as it comes: its head, its body in two pieces, its end. */
static inline void put(struct MHD_Connection *connection, const char *method, const char *url,
                       struct myr_str body)
{
    size_t none = 0;
    connection->request = NULL;
    assert_int_equal(lib.access(lib.context, connection, url, method, "HTTP/1.1", NULL, &none,
                                &connection->request),
                     MHD_YES);
    for (size_t at = 0, size; at < body.len; at += size) {
        size_t left = size = at == 0 ? (body.len + 1) / 2 : body.len - at;
        assert_int_equal(lib.access(lib.context, connection, url, method, "HTTP/1.1",
                                    body.data + at, &left, &connection->request),
                         MHD_YES);
        assert_int_equal(left, 0);
    }
    assert_int_equal(lib.access(lib.context, connection, url, method, "HTTP/1.1", NULL, &none,
                                &connection->request),
                     MHD_YES);
}

/* Secrets are drawn: only how long they are is told. Bytes of a frame are small numbers. */
static inline void put_body(const char *body, size_t len)
{
    const char *token = strstr(body, "\"token\":\"");
    if (len > 3000 || strncmp(body, "<!doctype", 9) == 0) {
        myr_buf_printf(&story, " a long body: %.15s\n", body);
        return;
    }
    myr_buf_puts(&story, "\n  ");
    if (len > 0 && body[0] < ' ') {
        for (size_t i = 0; i < len; i++) {
            myr_buf_printf(&story, "%d%s", body[i], i % 8 == 7 ? " " : "");
        }
    } else if (token) {
        const char *at = token + 9, *end = strchr(at, '"');
        const char *ca = memchr(at, '@', (size_t)(end - at));
        myr_buf_put(&story, body, (size_t)(at - body));
        myr_buf_printf(&story, "(%zu)%s%s", (size_t)((ca ? ca : end) - at), ca ? "@CA" : "", end);
    } else {
        myr_buf_put(&story, body, len);
    }
    if (story.data[story.len - 1] != '\n') {
        myr_buf_puts(&story, "\n");
    }
}

/* What it was answered, with headers where they are others than those of the answer before. */
static inline void put_answer(struct MHD_Connection *connection)
{
    struct MHD_Response *response = connection->response;
    put_told();
    if (!response) {
        myr_buf_printf(&story, "  %s\n", connection->suspended ? "waits" : "NO ANSWER");
        return;
    }
    myr_buf_printf(&story, "  %u", connection->status);
    myr_buf_putc(&response->headers, '\0');
    if (lib.headers.len == 0 || strcmp(lib.headers.data, response->headers.data) != 0) {
        myr_buf_puts(&story, response->headers.data);
        myr_buf_clear(&lib.headers);
        myr_buf_puts(&lib.headers, response->headers.data);
    }
    put_body(response->body.len ? response->body.data : "", response->body.len);
}

/* The library has sent it, and the connection goes. */
static inline void goes(struct MHD_Connection *connection)
{
    if (connection->request) {
        lib.completed(lib.context, connection, &connection->request,
                      MHD_REQUEST_TERMINATED_COMPLETED_OK);
        assert_null(connection->request);
    }
    if (connection->response) {
        play_destroy(connection->response);
    }
    lib.notify(lib.context, connection, &connection->own, MHD_CONNECTION_NOTIFY_CLOSED);
    assert_null(connection->own);
    free(connection);
}

/* --- time */

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */
static int64_t tick_ns;                  /* or every look at it does */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t base_s = which == CLOCK_REALTIME ? 1800000000 : 0;
    clock_ns += which == CLOCK_MONOTONIC ? tick_ns : 0;
    *ret = (struct timespec){base_s + clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static inline void pass_ms(int64_t ms)
{
    clock_ns += ms * 1000000;
}

/* --- who asks */

static inline void give(const char *secret, const char *user, const char *unix_user, enum role role)
{
    struct token_row token = {.role = role};
    snprintf(token.user, sizeof(token.user), "%s", user);
    snprintf(token.unix_user, sizeof(token.unix_user), "%s", unix_user);
    myr_io_digest(myr_str_from(secret), token.digest);
    rows_put_token(server, &token, false);
}

/* 'whose' is the whole header, as "Bearer v"; NULL: without one. */
static inline struct MHD_Connection *begins(const char *whose, const char *method, const char *url,
                                            const char *body)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    if (whose) {
        with(connection, "hAuthorization", whose);
    }
    myr_buf_printf(&story, "%s: %s %s%s%s\n", whose ? whose : "nobody", method, url,
                   body[0] ? " " : "", body);
    put(connection, method, url, myr_str_from(body));
    put_answer(connection);
    return connection;
}

static inline void ask(const char *whose, const char *method, const char *url, const char *body)
{
    goes(begins(whose, method, url, body));
}

/* --- the daemon */

static inline int begin_at(const char *address, uint16_t port)
{
    struct myr_err err = {};
    snprintf(server->config.http_address, sizeof(server->config.http_address), "%s", address);
    server->config.http_port = port;
    myr_buf_printf(&story, "serves at %s port %u\n", address, port);
    int rc = http_begin(server, api_routes, api_route_count, &err);
    if (rc < 0) {
        myr_buf_printf(&story, "  %s: %s\n", myr_err_name(rc), err.message);
        assert_null(server->http);
    }
    return rc;
}

/* The library was run once more and stopped once: nobody is left suspended. */
static inline void end_http(void)
{
    uint32_t stops = lib.stops, runs = lib.runs;
    struct http *http = server->http;
    http_end(server);
    assert_true(lib.runs > runs);
    assert_int_equal(lib.stops, stops + 1);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    free(http);
    server->http = NULL;
}

/* A server that serves, with tokens "v", "u", "o" and "a" of each role. */
static inline void serving_begin(void)
{
    life_begin();
    uv_close((uv_handle_t *)&server->http->timer, NULL);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    free(server->http);
    server->http = NULL;
    lib.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    library_plays();
    give("v", "vera", "", ROLE_VIEWER);
    give("u", "ugo", "ugo", ROLE_USER);
    give("o", "olga", "", ROLE_OPERATOR);
    give("a", "ada", "", ROLE_ADMIN);
    taken();
}

static inline void serving_end(void)
{
    if (server->http) {
        end_http();
    }
    close(lib.epoll_fd);
    myr_buf_done(&lib.headers);
    server->http = myr_xcalloc(1, sizeof(*server->http)); /* as the life had it before */
    uv_timer_init(&server->loop, &server->http->timer);
    life_end();
}
