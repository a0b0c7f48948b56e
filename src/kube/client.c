#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_MS = 500, TIMEOUT_S = 15, TOKEN_AGE_MS = 30000, REFUSAL_MAX = 64 << 10 };

struct client_line {
    struct client *client;
    struct myr_io_stream *stream;
    struct client_request *request; /* NULL: idle */
    struct myr_http_reply reply;
    int64_t heard_ms;
    uint32_t served;
    struct myr_buf refusal; /* what a stream was answered with instead */
    bool streams, stale, ended;
    struct client_line *next;
};

int64_t kube_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

char *kube_path(const char *fmt, ...)
{
    struct myr_buf buf = {0};
    char text[4096];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    MYR_ASSERT(length > 0 && length < (int)sizeof(text));
    myr_buf_put(&buf, text, (size_t)length);
    return buf.data;
}

void kube_put_word(struct myr_buf *buf, struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            myr_buf_putc(buf, (char)c);
        } else {
            myr_buf_printf(buf, "%%%02X", c);
        }
    }
}

static void request_free(struct client_request *request)
{
    free(request->path);
    myr_buf_done(&request->body);
    free(request);
}

/* --- the end of a request */

static void finish(struct client_request *request, int rc, const struct myr_err *why,
                   uint32_t status, const struct myr_buf *body)
{
    struct client_answer answer = {.rc = rc, .err = why, .status = status, .body = {"", 0}};
    if (body && body->len) {
        answer.body = (struct myr_str){body->data, body->len};
    }
    request->done(request->context, &answer);
    request_free(request);
}

static void pump(struct client *client);

/* The reply is whole: the line is free for the next one. */
static void answered(struct client_line *line)
{
    struct client_request *request = line->request;
    struct myr_http_reply reply = line->reply;
    line->request = NULL;
    line->served++;
    myr_http_reply_init(&line->reply, NULL, NULL);
    if (line->streams || line->stale) {
        myr_io_close(line->stream);
    }
    finish(request, MYR_OK, NULL, reply.status, request->piece ? &line->refusal : &reply.body);
    myr_http_reply_done(&reply);
    pump(line->client);
}

static void failed(struct client_line *line, const struct myr_err *why)
{
    struct client_request *request = line->request;
    struct client *client = line->client;
    struct myr_err err = *why;
    line->request = NULL;
    if (strncmp(err.message, client->access->url, strlen(client->access->url)) != 0) {
        /* The address of the socket is in the URL already. */
        const char *address = line->stream ? myr_io_address(line->stream) : "";
        size_t length = strlen(address);
        const char *rest = err.message;
        if (length && strncmp(rest, address, length) == 0 && rest[length] == ':') {
            rest += length + 2;
        }
        char text[400];
        snprintf(text, sizeof(text), "%.390s", rest);
        (void)myr_err_set(&err, err.code, "%s: %s", client->access->url, text);
    }
    /* Papers that are not believed are no silence: they are told apart from it. */
    if (strstr(err.message, "TLS is not agreed")) {
        err.code = MYR_EUNKNOWN;
    }
    finish(request, err.code, &err, 0, NULL);
}

/* --- the socket */

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct client_line *line = context;
    (void)stream;
    line->heard_ms = kube_now_ms();
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct client_line *line = context;
    struct myr_err err = {0};
    line->heard_ms = kube_now_ms();
    line->client->heard++;
    if (!line->request) {
        myr_io_abort(stream); /* nobody has asked */
        return;
    }
    if (myr_http_reply_feed(&line->reply, bytes, &err) < 0) {
        line->ended = true;
        failed(line, &err);
        myr_io_abort(stream);
    } else if (line->reply.at == MYR_HTTP_AT_DONE) {
        answered(line);
    }
}

static void put_back(struct client *client, struct client_request *request)
{
    struct client_queue *queue = &client->urgent;
    request->next = queue->first;
    queue->first = request;
    queue->last = queue->last ? queue->last : request;
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct client_line *line = context;
    struct client *client = line->client;
    struct myr_err err = *why;
    for (struct client_line **at = &client->lines; *at; at = &(*at)->next) {
        if (*at == line) {
            *at = line->next;
            break;
        }
    }
    client->line_count -= !line->streams;
    if (line->request && !client->closing) {
        bool nothing = line->reply.at == MYR_HTTP_AT_HEAD && line->reply.line.len == 0;
        if (nothing && line->served > 0 && !line->request->again) {
            /* An idle connection was closed just when it was used: once more. */
            line->request->again = true;
            put_back(client, line->request);
            line->request = NULL;
        } else if (err.code == MYR_OK && myr_http_reply_end(&line->reply, &err) == MYR_OK) {
            finish(line->request, MYR_OK, NULL, line->reply.status,
                   line->request->piece ? &line->refusal : &line->reply.body);
            line->request = NULL;
        } else {
            failed(line, &err);
        }
    } else if (line->request) {
        request_free(line->request);
    }
    (void)stream;
    myr_http_reply_done(&line->reply);
    myr_buf_done(&line->refusal);
    free(line);
    if (!client->closing) {
        pump(client);
    }
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

static void put_head(struct client *client, const struct client_request *request,
                     struct myr_buf *head)
{
    const struct myr_kube_access *access = client->access;
    bool six = strchr(access->host, ':') != NULL;
    myr_buf_printf(head, "%s %s%s HTTP/1.1\r\nHost: %s%s%s:%u\r\nAccept: application/json\r\n",
                   request->method, access->path, request->path, six ? "[" : "", access->host,
                   six ? "]" : "", access->port);
    myr_buf_puts(head, "User-Agent: myriad\r\n");
    if (client->token.len) {
        myr_buf_printf(head, "Authorization: Bearer %s\r\n", client->token.data);
    }
    if (request->type) {
        myr_buf_printf(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", request->type,
                       request->body.len);
    }
    myr_buf_puts(head, "\r\n");
}

/* Only what was asked for is a stream; a refusal is kept like any other answer. */
static bool on_piece(void *context, struct myr_str bytes)
{
    struct client_line *line = context;
    if (line->reply.status == 200) {
        return line->request->piece(line->request->context, bytes);
    }
    myr_buf_put(&line->refusal, bytes.data, bytes.len);
    return line->refusal.len < REFUSAL_MAX;
}

static void send_request(struct client_line *line, struct client_request *request)
{
    struct client *client = line->client;
    MYR_CLEANUP(myr_buf_done) struct myr_buf head = {0};
    MYR_ASSERT(!line->request);
    put_head(client, request, &head);
    myr_http_reply_done(&line->reply);
    myr_http_reply_init(&line->reply, request->piece ? on_piece : NULL, line);
    line->request = request;
    line->heard_ms = kube_now_ms();
    client->asked++;
    /* At once: a record and a call of the system for each half would cost more than the copy. */
    myr_buf_put(&head, request->body.data, request->body.len);
    myr_io_write(line->stream, (struct myr_str){head.data, head.len});
}

static struct client_line *open_line(struct client *client, bool streams)
{
    struct client_line *line = myr_xcalloc(1, sizeof(*line));
    *line = (struct client_line){.client = client, .streams = streams};
    myr_http_reply_init(&line->reply, NULL, NULL);
    line->next = client->lines;
    client->lines = line;
    client->line_count += !streams;
    int rc = myr_io_connect(client->loop, client->access->host, client->access->port, client->tls,
                            &calls, line, &line->stream, NULL);
    MYR_ASSERT(rc == MYR_OK); /* what fails is told by 'closed' */
    return line;
}

/* A token from a file is read anew now and then: it is changed there before it runs out. */
static void refresh_token(struct client *client)
{
    int64_t now_ms = kube_now_ms();
    MYR_CLEANUP(myr_buf_done) struct myr_buf token = {0};
    if (client->token_ms && now_ms - client->token_ms < TOKEN_AGE_MS) {
        return;
    }
    client->token_ms = now_ms;
    if (kube_token(client->access, &token, NULL) == MYR_OK) {
        myr_buf_clear(&client->token);
        myr_buf_put(&client->token, token.data, token.len);
    }
}

static struct client_line *idle_line(struct client *client)
{
    for (struct client_line *line = client->lines; line; line = line->next) {
        if (!line->streams && !line->request && !line->stale && !line->ended) {
            return line;
        }
    }
    return client->line_count < CLIENT_CONNECTIONS ? open_line(client, false) : NULL;
}

static void pump(struct client *client)
{
    while ((client->urgent.first || client->other.first) && !client->closing) {
        struct client_queue *queue = client->urgent.first ? &client->urgent : &client->other;
        struct client_request *request = queue->first;
        struct client_line *line = request->piece ? open_line(client, true) : idle_line(client);
        if (!line) {
            return;
        }
        queue->first = request->next;
        queue->last = queue->first ? queue->last : NULL;
        request->next = NULL;
        refresh_token(client);
        send_request(line, request);
    }
}

void kube_ask(struct client *client, const struct client_request *request)
{
    struct client_request *copy = myr_xcalloc(1, sizeof(*copy));
    *copy = *request;
    copy->next = NULL;
    struct client_queue *queue = copy->later ? &client->other : &client->urgent;
    if (queue->last) {
        queue->last->next = copy;
    } else {
        queue->first = copy;
    }
    queue->last = copy;
    pump(client);
}

void kube_drop(struct client *client, const void *context)
{
    for (struct client_line *line = client->lines; line; line = line->next) {
        if (line->streams && line->request && line->request->context == context) {
            myr_io_abort(line->stream);
        }
    }
}

/* Who has not said a byte for too long is given up. */
static void on_tick(uv_timer_t *timer)
{
    struct client *client = timer->data;
    int64_t now_ms = kube_now_ms();
    for (struct client_line *line = client->lines; line; line = line->next) {
        if (!line->request || line->ended) {
            continue;
        }
        uint32_t limit_s = line->request->timeout_s ? line->request->timeout_s : client->timeout_s;
        if (now_ms - line->heard_ms > (int64_t)limit_s * 1000) {
            struct myr_err err = {0};
            (void)myr_err_set(&err, MYR_EAWAY, "%s: no answer within %u s", client->access->url,
                              limit_s);
            line->ended = true;
            failed(line, &err);
            myr_io_abort(line->stream);
            return; /* the list may have changed; the others follow with the next tick */
        }
    }
}

static int make_tls(const struct myr_kube_access *access, struct myr_io_tls **ret,
                    struct myr_err *err)
{
    *ret = NULL;
    return access->plain ? MYR_OK
                         : myr_io_tls_create(
                               &(struct myr_io_tls_names){.certificate_pem = access->certificate,
                                                          .key_pem = access->key,
                                                          .ca_pem = access->ca,
                                                          .host = access->named ? access->named
                                                                                : access->host},
                               ret, err);
}

int kube_begin(struct client *client, uv_loop_t *loop, const struct myr_kube_access *access,
               uint32_t timeout_s, struct myr_err *err)
{
    *client = (struct client){
        .loop = loop, .access = access, .timeout_s = timeout_s ? timeout_s : TIMEOUT_S};
    MYR_TRY(make_tls(access, &client->tls, err));
    int rc = uv_timer_init(loop, &client->tick);
    MYR_ASSERT(rc == 0);
    client->tick.data = client;
    uv_timer_start(&client->tick, on_tick, TICK_MS, TICK_MS);
    return MYR_OK;
}

int kube_renew(struct client *client, const struct myr_kube_access *access, struct myr_err *err)
{
    struct myr_io_tls *tls;
    MYR_TRY(make_tls(access, &tls, err));
    myr_io_tls_free(client->tls);
    client->tls = tls;
    client->access = access;
    client->token_ms = 0;
    for (struct client_line *line = client->lines; line; line = line->next) {
        line->stale = true;
        if (!line->request && !line->ended) {
            line->ended = true;
            myr_io_close(line->stream);
        }
    }
    return MYR_OK;
}

static void on_tick_closed(uv_handle_t *handle)
{
    (void)handle;
}

static void free_queue(struct client_queue *queue)
{
    while (queue->first) {
        struct client_request *request = queue->first;
        queue->first = request->next;
        request_free(request);
    }
    queue->last = NULL;
}

void kube_end(struct client *client)
{
    client->closing = true;
    free_queue(&client->urgent);
    free_queue(&client->other);
    for (struct client_line *line = client->lines; line; line = line->next) {
        myr_io_abort(line->stream);
    }
    uv_close((uv_handle_t *)&client->tick, on_tick_closed);
    myr_io_tls_free(client->tls);
    client->tls = NULL;
    myr_buf_done(&client->token);
}
