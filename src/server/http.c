#include "http.h"
#include "said/said.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BODY_MAX = 1 << 20, /* of a request */
    CONNECTIONS = 2000,
    CONNECTIONS_OF_ONE = 500,
    IDLE_S = 20,       /* a request that does not come is not waited for longer */
    SAID_MAX = 10,     /* lines a second about refused requests */
    MEMORY = 32 << 10, /* of one connection, heads included */
    WAIT_MS = 10000,   /* for an agent's answer */
    ACCESS_PATH = 200, /* of a path in a line of the log */
};

static void on_run(struct server *server);

/* Security headers of everything: the page loads nothing from elsewhere, and nobody frames it. */
static void add_headers(struct MHD_Response *response, const char *type, const char *cache)
{
    mhd.add_response_header(response, "Content-Type", type);
    mhd.add_response_header(response, "Cache-Control", cache ? cache : "no-store");
    mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    mhd.add_response_header(response, "X-Frame-Options", "DENY");
    mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
    mhd.add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; base-uri 'none'; form-action 'self'; "
                            "frame-ancestors 'none'");
}

void request_answer(struct request *request, unsigned status, const char *type, struct myr_str body)
{
    MYR_ASSERT(!request->answered && !request->waiting); /* once, and to one who hears it */
    MYR_ASSERT(type && (body.data || body.len == 0));
    /* It is only copied, though the library asks for a pointer through which it could write. */
    union {
        const char *given;
        void *asked;
    } bytes = {.given = body.data};
    struct MHD_Response *response =
        mhd.create_response_from_buffer(body.len, bytes.asked, MHD_RESPMEM_MUST_COPY);
    MYR_ASSERT(response);
    add_headers(response, type, request->cache);
    if (request->cookie[0]) {
        mhd.add_response_header(response, "Set-Cookie", request->cookie);
    }
    if (request->sequence) {
        char number[32];
        snprintf(number, sizeof(number), "%llu", (unsigned long long)request->sequence);
        mhd.add_response_header(response, "X-Myriad-Seq", number);
        snprintf(number, sizeof(number), "%u", request->server->config.gpus_per_node);
        mhd.add_response_header(response, "X-Myriad-Gpus-Per-Node", number);
    }
    if (status == 401) {
        mhd.add_response_header(response, "WWW-Authenticate", "Bearer");
    }
    mhd.queue_response(request->connection, status, response);
    mhd.destroy_response(response);
    request->answered = true;
}

void request_fail(struct request *request, const struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    const struct said_error said = {err->message, err->hint[0] ? err->hint : NULL};
    api_give(&said_error_record, &said, &body);
    myr_buf_putc(&body, '\n');
    request->server->http->refused++;
    request->cache = NULL; /* what is missing now may be there in a moment */
    request_answer(request, (unsigned)myr_err_http_status(err->code), "application/json",
                   (struct myr_str){body.data, body.len});
}

const char *request_arg(const struct request *request, const char *name)
{
    return mhd.lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

int request_job(const struct request *request, uint32_t *ret, struct myr_err *err)
{
    uint64_t id;
    const char *word = request->words[2];
    MYR_ASSERT(word); /* the route's path has three words, and so has what fits it */
    if (!myr_str_to_u64(myr_str_from(word), &id) || id >= UINT32_MAX ||
        id >= myr_control_jobs(request->server->control) ||
        !rows_job(request->server, (uint32_t)id)) {
        return myr_err_set(err, MYR_ENOENT, "no job '%.40s'", word);
    }
    *ret = (uint32_t)id;
    return MYR_OK;
}

int request_node(const struct request *request, uint32_t *ret, struct myr_err *err)
{
    MYR_ASSERT(request->words[2]);
    uint32_t id = rows_node(request->server, request->words[2]);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "no node '%.70s'", request->words[2]);
    }
    *ret = id;
    return MYR_OK;
}

void request_wait(struct request *request)
{
    struct http *http = request->server->http;
    MYR_ASSERT(!request->waiting && !request->answered && !request->before);
    MYR_ASSERT(!request->server->stopping); /* nobody would answer it any more */
    request->waiting = true;
    request->since_ms = steady_ms();
    request->next = http->waiting;
    if (request->next) {
        MYR_ASSERT(!request->next->before);
        request->next->before = request;
    }
    http->waiting = request;
    mhd.suspend_connection(request->connection);
}

/* It may be answered from here on; the library goes on with it in http_kick()'s turn. */
static void stop_waiting(struct request *request)
{
    struct http *http = request->server->http;
    MYR_ASSERT(request->waiting &&
               (request->before ? request->before->next : http->waiting) == request);
    request->waiting = false;
    MYR_ASSERT(!request->answered); /* who has his answer does not wait for it */
    *(request->before ? &request->before->next : &http->waiting) = request->next;
    if (request->next) {
        MYR_ASSERT(request->next->waiting && request->next->before == request);
        request->next->before = request->before;
    }
    mhd.resume_connection(request->connection);
    http_kick(request->server);
}

void request_send(struct request *request, struct myr_str body)
{
    MYR_ASSERT(body.data);
    stop_waiting(request);
    request_answer(request, 200, "application/json", body);
}

void request_send_file(struct request *request, int fd, uint64_t size)
{
    MYR_ASSERT(fd >= 0); /* taken over: the library closes it */
    stop_waiting(request);
    struct MHD_Response *response = mhd.create_response_from_fd64(size, fd);
    MYR_ASSERT(response);
    add_headers(response, "application/octet-stream", NULL);
    mhd.queue_response(request->connection, 200, response);
    mhd.destroy_response(response);
    request->answered = true;
}

/* 'whom' is a request that waits, or has ended otherwise; none where it has given up. */
void http_output(void *whom, const struct output *output)
{
    struct request *request = whom;
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {}, text = {};
    if (!request || !request->waiting) {
        return;
    }
    MYR_ASSERT(output->problem || output->data.data || output->data.len == 0);
    stop_waiting(request);
    if (output->problem) {
        struct myr_err err = {};
        (void)myr_err_set(&err, output->gone ? MYR_ESTALE : MYR_EAWAY, "%s", output->problem);
        request_fail(request, &err);
        return;
    }
    uint64_t next = output->offset + output->data.len;
    myr_json_quote(&text,
                   (struct myr_str){output->data.data ? output->data.data : "", output->data.len});
    const struct said_output said = {.offset = output->offset,
                                     .next = next,
                                     .size = output->size,
                                     .end = output->ended && next >= output->size,
                                     .text = {text.data, text.len}};
    api_give(&said_output_record, &said, &body);
    myr_buf_putc(&body, '\n');
    request_answer(request, 200, "application/json", (struct myr_str){body.data, body.len});
}

/* Words beyond the eighth are not looked at: no route has as many. */
static void split_path(struct request *request)
{
    MYR_ASSERT(!request->path && request->word_count == 0); /* once for each request */
    request->path = strdup(request->url);
    for (char *at = request->path; *at && request->word_count < MYR_ARRAY_COUNT(request->words);) {
        if (*at == '/') {
            *at++ = '\0';
            continue;
        }
        request->words[request->word_count++] = at;
        at += strcspn(at, "/");
    }
    MYR_ASSERT(request->word_count <= MYR_ARRAY_COUNT(request->words));
}

/* ":id" stands for any one word. */
static bool path_fits(const struct request *request, const char *pattern)
{
    uint32_t at = 0;
    MYR_ASSERT(request->path && pattern[0] == '/'); /* it was taken apart before */
    for (const char *p = pattern; *p;) {
        if (*p == '/') {
            p++;
            continue;
        }
        size_t length = strcspn(p, "/");
        if (at >= request->word_count) {
            return false;
        }
        const char *word = request->words[at++];
        if (*p != ':' && (strlen(word) != length || strncmp(word, p, length) != 0)) {
            return false;
        }
        p += length;
    }
    return at == request->word_count;
}

/* A path that is there for another method is told as such. */
static const struct route *find_route(const struct request *request, struct myr_err *err)
{
    const struct http *http = request->server->http;
    bool elsewhere = false;
    MYR_ASSERT(http->routes && http->route_count > 0);
    for (size_t i = 0; i < http->route_count; i++) {
        const struct route *route = &http->routes[i];
        MYR_ASSERT(route->call && route->role < ROLE_COUNT);
        if (path_fits(request, route->path)) {
            if (strcmp(route->method, request->method) == 0) {
                return route;
            }
            elsewhere = true;
        }
    }
    (void)myr_err_set(err, MYR_ENOENT,
                      elsewhere ? "%.20s is not answered at %.100s" : "%.20s %.100s: no such thing",
                      request->method, request->url);
    return NULL;
}

/* How often first, and for everybody: a flood must not reach what costs more than counting. */
static int judge(struct request *request, const struct route *route, struct myr_err *err)
{
    MYR_ASSERT(request->who.role < ROLE_COUNT && request->body.len <= BODY_MAX);
    /* The port ends when nobody waits any more: nobody begins to. */
    if (request->server->stopping) {
        return myr_err_set(err, MYR_EAWAY, "the server is ending");
    }
    if (!login_allowed(request, route->role != ROLE_NONE || route->call == login_call)) {
        return myr_err_set(err, MYR_EOFTEN, "too many requests; wait a second");
    }
    if (!login_is_meant(request)) {
        (void)myr_err_set(err, MYR_EDENIED, "the request names another host than this machine");
        if (err) {
            snprintf(err->hint, sizeof(err->hint),
                     "a proxy in front has to send 'Host: localhost'");
        }
        return MYR_EDENIED;
    }
    if (request->too_long) {
        return myr_err_set(err, MYR_ERANGE, "more than %d bytes", BODY_MAX);
    }
    if (route->role == ROLE_NONE || request->who.role >= route->role) {
        return MYR_OK;
    }
    if (request->who.role == ROLE_NONE) {
        login_failed(request);
        (void)myr_err_set(err, MYR_EUNKNOWN, "a token is needed, and none that is known here came");
        if (err) {
            snprintf(err->hint, sizeof(err->hint),
                     "Authorization: Bearer TOKEN; the command takes MYRIAD_TOKEN_FILE");
        }
        return MYR_EUNKNOWN;
    }
    return myr_err_set(err, MYR_EDENIED, "%s is %s; this takes a role of %s or above",
                       request->who.user, role_names[request->who.role], role_names[route->role]);
}

/* False: enough was said in this second; it is counted for http_second(). */
static bool may_say(struct http *http)
{
    MYR_ASSERT(http->unsaid <= http->said); /* both begin anew in the same moment */
    if (++http->said > SAID_MAX) {
        http->unsaid++;
        return false;
    }
    return true;
}

/* Refusals are told, and a flood of them does not become a flood of lines. */
static void say_refused(struct request *request, const struct myr_err *err)
{
    if (!may_say(request->server->http)) {
        return;
    }
    log_say("info", "http: %s %.20s %.*s refused: %s", request->from, request->method, ACCESS_PATH,
            request->url, err->message);
}

/*
 * Who asks, which route, may he; then the call. What changes something, or was refused for who it
 * was, is a line of the audit.
 */
static void dispatch(struct request *request)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    struct myr_err err = {};
    char what[ACCESS_PATH + 24];
    MYR_ASSERT(!request->answered && !request->waiting);
    split_path(request);
    login_find(request);
    const struct route *route = find_route(request, &err);
    int rc = route ? judge(request, route, &err) : err.code;
    if (rc == MYR_OK) {
        rc = route->call(request, &body, &err);
    }
    /* Every other method changes something; who asks only is not audited. */
    bool changes = strcmp(request->method, "GET") != 0;
    /* Who asks too often has done nothing: that fills no audit. */
    if (rc != MYR_EOFTEN && (changes || rc == MYR_EUNKNOWN || rc == MYR_EDENIED)) {
        snprintf(what, sizeof(what), "%.20s %.*s", request->method, ACCESS_PATH, request->url);
        audit(request->who.role ? request->who.user : request->from, what,
              rc < 0 ? err.message : "done");
    } else if (rc < 0) {
        say_refused(request, &err);
    }
    if (rc < 0) {
        request_fail(request, &err);
    } else if (rc == MYR_OK) {
        myr_buf_putc(&body, '\n');
        request_answer(request, 200, "application/json", (struct myr_str){body.data, body.len});
    }
    /* Nobody is forgotten: whoever says "later" has answered, or waits in the list. */
    MYR_ASSERT(request->answered != request->waiting);
}

/*
 * Called with the head, then for each piece of the body, then once with no data: that is the end.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_size, void **own)
{
    struct server *server = context;
    struct request *request = *own;
    (void)version;
    if (!request) {
        request = myr_xcalloc(1, sizeof(*request));
        request->server = server;
        request->connection = connection;
        request->since_ms = steady_ms();
        peer_address(connection, request->from, sizeof(request->from));
        *own = request;
        return MHD_YES;
    }
    MYR_ASSERT(request->connection == connection && request->body.len <= BODY_MAX);
    request->url = url;
    request->method = method;
    if (*data_size > 0) {
        request->too_long = request->too_long || request->body.len + *data_size > BODY_MAX;
        if (!request->too_long) {
            myr_buf_put(&request->body, data, *data_size);
        }
        *data_size = 0;
        return MHD_YES;
    }
    if (!request->answered && !request->waiting) {
        int64_t begun_ns = myr_clock_ns();
        struct peer *peer = peer_of(connection);
        if (peer) {
            peer->since_ms = -1;
        }
        server->http->requests++;
        dispatch(request);
        int64_t us = (myr_clock_ns() - begun_ns) / 1000;
        uint32_t class = us <= 0 ? 0 : 64U - (uint32_t)__builtin_clzll((uint64_t)us);
        server->http->took[class < 31 ? class : 31]++;
    }
    return MHD_YES;
}

/* The next request on the same connection has its full time again. */
static void on_completed(void *context, struct MHD_Connection *connection, void **own,
                         enum MHD_RequestTerminationCode how)
{
    struct request *request = *own;
    struct peer *peer = peer_of(connection);
    (void)context;
    (void)how;
    if (peer) {
        peer->since_ms = steady_ms();
    }
    if (request) {
        MYR_ASSERT(!request->waiting);
        myr_buf_done(&request->body);
        free(request->path);
        free(request);
        *own = NULL;
    }
}

void http_second(struct server *server)
{
    struct http *http = server->http;
    peers_drop_slow(http);
    if (http->unsaid) {
        log_say("warning", "http: %u more requests refused or broken", http->unsaid);
    }
    http->said = http->unsaid = 0;
    for (struct request *request = http->waiting, *next; request; request = next) {
        next = request->next;
        MYR_ASSERT(request->waiting && !request->answered && request->server == server);
        bool late = !request->patient && steady_ms() - request->since_ms > WAIT_MS;
        if (late || server->stopping) {
            struct myr_err err = {};
            stop_waiting(request);
            if (server->world.forget) {
                server->world.forget(server, request);
            }
            (void)myr_err_set(&err, MYR_EAWAY, "the node did not answer within %d s",
                              WAIT_MS / 1000);
            request_fail(request, &err);
        }
    }
}

static void on_timer(uv_timer_t *timer)
{
    on_run(timer->data);
}

/* Lets the library do what it can, and sets the timer for when it wants to be asked again. */
static void on_run(struct server *server)
{
    struct http *http = server->http;
    MHD_UNSIGNED_LONG_LONG wait_ms;
    MYR_ASSERT(http && http->daemon); /* its handles are closed before it goes */
    do {
        http->again = false;
        mhd.run(http->daemon);
    } while (http->again);
    if (mhd.get_timeout(http->daemon, &wait_ms) == MHD_YES) {
        uv_timer_start(&http->timer, on_timer, wait_ms, 0);
    } else {
        uv_timer_stop(&http->timer);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    on_run(poll->data);
}

/* From inside of a callback the daemon must not be run again: a timer of nothing does it. */
void http_kick(struct server *server)
{
    MYR_ASSERT(server->http);
    server->http->again = true;
    uv_timer_start(&server->http->timer, on_timer, 0, 0);
}

MYR_PRINTF(2, 0)
static void on_log(void *context, const char *fmt, va_list args)
{
    struct server *server = context;
    char text[400];
    /* Why it does not start is the error's to say. */
    if (server->http && (!server->http->daemon || !may_say(server->http))) {
        return;
    }
    vsnprintf(text, sizeof(text), fmt, args);
    text[strcspn(text, "\n")] = '\0';
    log_say("info", "http: %s", text);
}

static int read_pems(const struct server *server, struct myr_buf *cert, struct myr_buf *key,
                     struct myr_err *err)
{
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/server.pem", server->folder);
    MYR_TRY(myr_file_read(path, 1 << 20, cert, err));
    snprintf(path, sizeof(path), "%s/server-key.pem", server->folder);
    return myr_file_read(path, 1 << 20, key, err);
}

int http_begin(struct server *server, const struct route *routes, size_t count, struct myr_err *err)
{
    const struct config *config = &server->config;
    struct sockaddr_storage at = {};
    bool six = strchr(config->http_address, ':') != NULL;
    bool secure = !http_is_loopback(config->http_address);
    int bad = six ? uv_ip6_addr(config->http_address, config->http_port, (void *)&at)
                  : uv_ip4_addr(config->http_address, config->http_port, (void *)&at);
    MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {}, key = {};
    MYR_ASSERT(!server->http && routes && count > 0); /* one port for requests */
    if (bad) {
        return myr_err_set(err, MYR_EINVAL, "http: '%s' is no address", config->http_address);
    }
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (secure) {
        MYR_TRY(read_pems(server, &cert, &key, err));
        tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, cert.data};
        tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, key.data};
        flags |= MHD_USE_TLS;
    }
    MYR_TRY(mhd_load(err));
    struct http *http = server->http = myr_xcalloc(1, sizeof(*http));
    http->routes = routes;
    http->route_count = count;
    http->daemon = mhd.start_daemon(
        flags | (six ? MHD_USE_IPv6 : 0), config->http_port, NULL, NULL, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, server, MHD_OPTION_SOCK_ADDR, &at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_OF_ONE, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, peers_notify, server, MHD_OPTION_ARRAY,
        tls, MHD_OPTION_END);
    if (!http->daemon) {
        int why = errno;
        free(http);
        server->http = NULL;
        return myr_err_set(err, MYR_EIO, "http: listening on %s port %u failed: %s",
                           config->http_address, config->http_port, strerror(why));
    }
    const union MHD_DaemonInfo *info = mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    MYR_ASSERT(info);
    uv_poll_init(&server->loop, &http->poll, info->epoll_fd);
    uv_timer_init(&server->loop, &http->timer);
    http->poll.data = http->timer.data = server;
    uv_poll_start(&http->poll, UV_READABLE, on_poll);
    return MYR_OK;
}

uint16_t http_port(const struct server *server)
{
    const union MHD_DaemonInfo *info =
        mhd.get_daemon_info(server->http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

/*
 * Everybody who waits or watches is answered and resumed: the library stops only when none sleeps.
 */
void http_end(struct server *server)
{
    struct http *http = server->http;
    server->feed.rang = NULL;
    MYR_ASSERT(http && http->daemon); /* it is stopped once */
    http_second(server);              /* whoever waits is told */
    MYR_ASSERT(!http->waiting || !server->stopping);
    for (struct watcher *watcher = http->watchers; watcher; watcher = watcher->later) {
        if (watcher->asleep) {
            watcher->asleep = false;
            mhd.resume_connection(watcher->connection);
        }
    }
    on_run(server);
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    mhd.stop_daemon(http->daemon);
    myr_vec_done(&http->visits);
    myr_buf_done(&http->nodes);
}
