#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    TICK_MS = 500, /* between two looks for connections that are silent */
    TIMEOUT_S = 15,
    TOKEN_AGE_MS = 30000,   /* before its file is read again */
    REFUSAL_MAX = 64 << 10, /* kept of what a stream was refused with */
    AT_ONCE = 16,           /* requests of a connection that are not answered */
    LATER_AT_ONCE = 64,     /* the same of the one for what may wait */
};

/*
 * A connection. Requests follow each other on it without waiting for the answers, which come in the
 * same order; those of one turn of the loop go out as one record and one call of the system. That
 * is most of what a small request costs.
 */
struct client_line {
    struct client *client;
    struct myr_io_stream *stream;
    struct client_queue asked; /* not answered; empty: idle */
    uint32_t asked_count;
    struct myr_http_reply reply; /* to the first of them */
    struct myr_buf out;          /* of this turn */
    int64_t heard_ms; /* the last byte, or when it was first asked; silence counts from there */
    bool served;      /* an answer has come over it, or it was open before it was needed */
    struct myr_buf refusal; /* what a stream was answered with instead */
    /*
     * 'later': for what may wait. 'stale': opened with credentials that are no more in use, gets no
     * new request. 'ended': nothing more is read or written, 'closed' is on its way.
     */
    bool streams, later, stale, ended;
    bool begun; /* a stream was granted */
    struct client_line *next;
};

int64_t kube_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void request_free(struct client_request *request)
{
    MYR_ASSERT(!request->next); /* no queue has it any more */
    free(request->path);
    myr_buf_done(&request->body);
    free(request);
}

/* --- the end of a request */

/* Tells who has asked, and frees it. The body lives for the length of 'done' and no longer. */
static void finish(struct client_request *request, int rc, const struct myr_err *why,
                   uint32_t status, const struct myr_buf *body)
{
    MYR_ASSERT(request->done && (rc < 0) == (why != NULL)); /* an answer, or why there is none */
    struct client_answer answer = {.rc = rc, .err = why, .status = status, .body = {"", 0}};
    if (body && body->len) {
        answer.body = (struct myr_str){body->data, body->len};
    }
    request->done(request->context, &answer);
    request_free(request);
}

static void push(struct client_queue *queue, struct client_request *request)
{
    MYR_ASSERT(!queue->first == !queue->last);
    request->next = NULL;
    if (queue->last) {
        queue->last->next = request;
    } else {
        queue->first = request;
    }
    queue->last = request;
}

static struct client_request *pop(struct client_queue *queue)
{
    struct client_request *request = queue->first;
    MYR_ASSERT(request && queue->last && !queue->last->next);
    queue->first = request->next;
    queue->last = queue->first ? queue->last : NULL;
    request->next = NULL;
    return request;
}

static struct client_request *pop_asked(struct client_line *line)
{
    MYR_ASSERT(line->asked_count > 0);
    line->asked_count--;
    MYR_ASSERT((line->asked.first == line->asked.last) == (line->asked_count == 0));
    return pop(&line->asked);
}

/* The reply is whole: the next one is to the next request. */
static void answered(struct client_line *line)
{
    struct client_request *request = pop_asked(line);
    line->served = true;
    MYR_ASSERT(line->reply.at == MYR_HTTP_AT_DONE);
    /* Before 'done', which may ask again: that must not go onto a connection that is to end. */
    if (line->streams || (line->stale && line->asked_count == 0)) {
        line->ended = true;
        myr_io_close(line->stream);
    }
    finish(request, MYR_OK, NULL, line->reply.status,
           request->piece ? &line->refusal : &line->reply.body);
    myr_http_reply_clear(&line->reply, NULL, NULL);
}

/* Every message begins with the URL of the API server, and names it once. */
static void fail(struct client_line *line, struct client_request *request,
                 const struct myr_err *why)
{
    struct client *client = line->client;
    struct myr_err err = *why;
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

/* All that it was asked. */
static void fail_all(struct client_line *line, const struct myr_err *why)
{
    MYR_ASSERT(!line->asked.first == (line->asked_count == 0));
    struct client_queue asked = line->asked;
    line->asked = (struct client_queue){};
    line->asked_count = 0;
    while (asked.first) {
        fail(line, pop(&asked), why);
    }
}

/* --- the socket */

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct client_line *line = context;
    (void)stream;
    MYR_ASSERT(stream == line->stream && !line->ended);
    line->heard_ms = kube_now_ms();
    /* Opened in advance, it may be closed before it is used, like one that has served. */
    line->served = line->asked.first == NULL;
}

/* A stream may be silent for long after it was granted: that it was is told. */
static void look_at_head(struct client_line *line)
{
    const struct client_request *request = line->asked.first;
    if (line->streams && !line->begun && line->reply.at != MYR_HTTP_AT_HEAD &&
        line->reply.status == 200) {
        line->begun = true;
        if (request->begun) {
            request->begun(request->context, line->reply.type);
        }
    }
}

/* Only what was asked for is a stream; a refusal is kept like any other answer. */
static bool on_piece(void *context, struct myr_str bytes)
{
    struct client_line *line = context;
    const struct client_request *request = line->asked.first;
    MYR_ASSERT(line->streams && request && request->piece);
    if (line->reply.status == 200) {
        look_at_head(line);
        return request->piece(request->context, bytes);
    }
    myr_buf_put(&line->refusal, bytes.data, bytes.len);
    return line->refusal.len < REFUSAL_MAX;
}

/* One piece may hold the ends of several answers: they are taken until nothing is left of it. */
static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct client_line *line = context;
    struct myr_err err = {};
    MYR_ASSERT(stream == line->stream);
    line->heard_ms = kube_now_ms();
    line->client->heard++;
    while (bytes.len > 0 && !line->ended) {
        if (!line->asked.first) {
            line->ended = true;
            myr_io_abort(stream); /* nobody has asked */
        } else if (myr_http_reply_take(&line->reply, &bytes, &err) < 0) {
            line->ended = true;
            fail_all(line, &err);
            myr_io_abort(stream);
        } else if (line->reply.at == MYR_HTTP_AT_DONE) {
            answered(line);
        } else {
            look_at_head(line);
        }
    }
}

/*
 * What a connection has left behind that was closed: requests that are not answered with a byte are
 * asked once more, elsewhere. Each of them may have been heard, and is made to be said twice.
 */
static void leave(struct client_line *line, const struct myr_err *why)
{
    struct client *client = line->client;
    struct client_queue again = {};
    struct myr_err err = *why;
    bool begun = line->reply.at != MYR_HTTP_AT_HEAD || line->reply.line.len > 0;
    MYR_ASSERT(!line->asked.first == (line->asked_count == 0));
    if (line->asked.first && begun) {
        struct client_request *first = pop_asked(line);
        if (err.code == MYR_OK && myr_http_reply_end(&line->reply, &err) == MYR_OK) {
            finish(first, MYR_OK, NULL, line->reply.status,
                   first->piece ? &line->refusal : &line->reply.body);
        } else {
            fail(line, first, &err);
        }
        line->served = true;
    }
    /* A connection that was closed without an error is one for those that wait for an answer. */
    err = *why;
    if (err.code == MYR_OK) {
        (void)myr_err_set(&err, MYR_EIO, "the connection was closed without an answer");
    }
    while (line->asked.first) {
        struct client_request *request = pop_asked(line);
        if (line->served && !request->again) {
            request->again = true;
            push(&again, request);
        } else {
            fail(line, request, &err);
        }
    }
    if (again.first) { /* before those that came after them */
        MYR_ASSERT(line->asked_count == 0);
        again.last->next = client->urgent.first;
        client->urgent.last = client->urgent.last ? client->urgent.last : again.last;
        client->urgent.first = again.first;
    }
}

/*
 * The line is out of the list before anything is told, so that nobody picks it for a request. With
 * 'closing' nobody is told any more, and what is left is freed.
 */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct client_line *line = context;
    struct client *client = line->client;
    bool counted = !line->streams && !line->later, listed = false;
    for (struct client_line **at = &client->lines; *at; at = &(*at)->next) {
        if (*at == line) {
            *at = line->next;
            listed = true;
            break;
        }
    }
    MYR_ASSERT(listed && client->line_count >= counted); /* closed once */
    client->line_count -= counted;
    if (!client->closing) {
        leave(line, why);
    }
    while (line->asked.first) {
        request_free(pop_asked(line));
    }
    (void)stream;
    myr_http_reply_done(&line->reply);
    myr_buf_done(&line->refusal);
    myr_buf_done(&line->out);
    free(line);
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

/* What is the same in all requests, put together once for each token. */
static void make_head(struct client *client)
{
    const struct myr_kube_access *access = client->access;
    MYR_ASSERT(access && access->host && access->port > 0);
    bool six = strchr(access->host, ':') != NULL;
    myr_buf_clear(&client->head);
    myr_buf_printf(&client->head, " HTTP/1.1\r\nHost: %s%s%s:%u\r\n", six ? "[" : "", access->host,
                   six ? "]" : "", access->port);
    myr_buf_puts(&client->head, "User-Agent: myriad\r\n");
    if (client->token.len) {
        myr_buf_printf(&client->head, "Authorization: Bearer %s\r\n", client->token.data);
    }
}

/* 'access->path' is what the URL of the API server has behind its port, for one behind a proxy. */
static void put_head(struct client *client, const struct client_request *request,
                     struct myr_buf *head)
{
    MYR_ASSERT(client->head.len > 0);
    myr_buf_puts(head, request->method);
    myr_buf_putc(head, ' ');
    myr_buf_puts(head, client->access->path);
    myr_buf_puts(head, request->path);
    myr_buf_put(head, client->head.data, client->head.len);
    myr_buf_puts(head, "Accept: ");
    myr_buf_puts(head, request->accept ? request->accept : "application/json");
    myr_buf_puts(head, "\r\n");
    if (request->type) {
        myr_buf_printf(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", request->type,
                       request->body.len);
    }
    myr_buf_puts(head, "\r\n");
}

/* Goes out with the others of this turn. */
static void put_request(struct client_line *line, struct client_request *request)
{
    struct client *client = line->client;
    MYR_ASSERT(!line->ended && (line->streams == (request->piece != NULL)));
    if (!line->asked.first) {
        line->heard_ms = kube_now_ms();
        myr_http_reply_clear(&line->reply, request->piece ? on_piece : NULL, line);
    }
    push(&line->asked, request);
    line->asked_count++;
    MYR_ASSERT(line->asked_count <= (line->streams ? 1 : line->later ? LATER_AT_ONCE : AT_ONCE));
    client->asked++;
    put_head(client, request, &line->out);
    myr_buf_put(&line->out, request->body.data, request->body.len);
}

/* It need not be open yet: what is written before waits in the stream. */
static struct client_line *open_line(struct client *client, bool streams, bool later)
{
    struct client_line *line = myr_xcalloc(1, sizeof(*line));
    *line = (struct client_line){.client = client, .streams = streams, .later = later};
    line->next = client->lines;
    client->lines = line;
    client->line_count += !streams && !later;
    MYR_ASSERT(!client->closing && client->line_count <= CLIENT_CONNECTIONS);
    int rc = myr_io_connect(client->loop, client->access->host, client->access->port, client->tls,
                            &calls, line, &line->stream, NULL);
    MYR_ASSERT(rc == MYR_OK); /* what fails is told by 'closed' */
    return line;
}

/* A token from a file is read anew now and then: it is changed there before it runs out. */
static void refresh_token(struct client *client)
{
    int64_t now_ms = kube_now_ms();
    MYR_CLEANUP(myr_buf_done) struct myr_buf token = {};
    if (client->token_ms && now_ms - client->token_ms < TOKEN_AGE_MS) {
        return;
    }
    client->token_ms = now_ms;
    MYR_ASSERT(now_ms > 0);
    /*
     * Where it cannot be read the old one goes on: whether it still holds the API server will say.
     */
    if (kube_token(client->access, &token, NULL) == MYR_OK) {
        myr_buf_clear(&client->token);
        myr_buf_put(&client->token, token.data, token.len);
    }
    make_head(client);
}

/* The one with the fewest requests; NULL: all of them have enough. */
static struct client_line *line_for(struct client *client, const struct client_request *request)
{
    struct client_line *best = NULL;
    MYR_ASSERT(!client->closing && client->line_count <= CLIENT_CONNECTIONS);
    if (request->piece) {
        return open_line(client, true, false);
    }
    for (struct client_line *line = client->lines; line; line = line->next) {
        bool fit = !line->streams && !line->stale && !line->ended && line->later == request->later;
        if (fit && (!best || line->asked_count < best->asked_count)) {
            best = line;
        }
    }
    /* All connections are used before a second request goes onto one of them. */
    bool more = request->later
                    ? !best
                    : (!best || best->asked_count > 0) && client->line_count < CLIENT_CONNECTIONS;
    if (more) {
        return open_line(client, false, request->later);
    }
    uint32_t most = request->later ? LATER_AT_ONCE : AT_ONCE;
    return best && best->asked_count < most ? best : NULL;
}

void kube_warm(struct client *client)
{
    bool later = false;
    for (const struct client_line *line = client->lines; line; line = line->next) {
        later = later || (line->later && !line->ended);
    }
    while (client->line_count < CLIENT_CONNECTIONS && !client->closing) {
        (void)open_line(client, false, false);
    }
    if (!later && !client->closing) {
        (void)open_line(client, false, true);
    }
}

/*
 * What finds no connection stays in its queue and keeps its order there; what is urgent goes first.
 * All that a connection got in this turn is one write.
 */
void kube_flush(struct client *client)
{
    struct client_queue *const queues[] = {&client->urgent, &client->other};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(queues) && !client->closing; i++) {
        while (queues[i]->first) {
            struct client_line *line = line_for(client, queues[i]->first);
            if (!line) {
                break;
            }
            refresh_token(client);
            put_request(line, pop(queues[i]));
        }
    }
    for (struct client_line *line = client->lines; line; line = line->next) {
        if (line->out.len == 0) {
            continue;
        }
        if (!line->ended) {
            myr_io_write(line->stream, (struct myr_str){line->out.data, line->out.len});
        }
        myr_buf_clear(&line->out);
    }
}

static void on_flush(uv_prepare_t *prepare)
{
    kube_flush(prepare->data);
}

/* It goes out with the next kube_flush(), which every turn of the loop has. */
void kube_ask(struct client *client, const struct client_request *request)
{
    MYR_ASSERT(request->method && request->path && request->done);
    MYR_ASSERT(request->piece || !request->begun);
    struct client_request *copy = myr_xcalloc(1, sizeof(*copy));
    *copy = *request;
    push(copy->later ? &client->other : &client->urgent, copy);
}

uint32_t kube_unanswered(const struct client *client)
{
    uint32_t count = 0;
    for (const struct client_line *line = client->lines; line; line = line->next) {
        count += line->streams || line->later ? 0 : line->asked_count;
    }
    return count;
}

/* 'closed' follows from the loop, and with it 'done': not from inside of this call. */
void kube_drop(struct client *client, const void *context)
{
    for (struct client_line *line = client->lines; line; line = line->next) {
        if (line->streams && line->asked.first && line->asked.first->context == context) {
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
        const struct client_request *first = line->asked.first;
        if (!first || line->ended) {
            continue;
        }
        uint32_t limit_s = first->timeout_s ? first->timeout_s : client->timeout_s;
        if (now_ms - line->heard_ms > (int64_t)limit_s * 1000) {
            struct myr_err err = {};
            (void)myr_err_set(&err, MYR_EAWAY, "%s: no answer within %u s", client->access->url,
                              limit_s);
            line->ended = true;
            fail_all(line, &err);
            myr_io_abort(line->stream);
            return; /* the list may have changed; the others follow with the next tick */
        }
    }
}

/* NULL for plain http, which access.c takes for this machine alone. */
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
    rc = uv_prepare_init(loop, &client->turn);
    MYR_ASSERT(rc == 0);
    client->turn.data = client;
    uv_prepare_start(&client->turn, on_flush);
    return MYR_OK;
}

/* Requests under way are not cut off: a line that is stale closes behind its last answer. */
int kube_renew(struct client *client, const struct myr_kube_access *access, struct myr_err *err)
{
    struct myr_io_tls *tls;
    MYR_ASSERT(!client->closing);
    MYR_TRY(make_tls(access, &tls, err));
    myr_io_tls_free(client->tls);
    client->tls = tls;
    client->access = access;
    client->token_ms = 0;
    for (struct client_line *line = client->lines; line; line = line->next) {
        line->stale = true;
        if (!line->asked.first && !line->ended) {
            line->ended = true;
            myr_io_close(line->stream);
        }
    }
    return MYR_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
    (void)handle;
}

static void free_queue(struct client_queue *queue)
{
    while (queue->first) {
        request_free(pop(queue));
    }
}

void kube_end(struct client *client)
{
    MYR_ASSERT(!client->closing); /* its handles are closed once */
    /* First: from here on a connection that closes tells nobody. */
    client->closing = true;
    free_queue(&client->urgent);
    free_queue(&client->other);
    MYR_ASSERT(!client->urgent.first && !client->other.first);
    for (struct client_line *line = client->lines; line; line = line->next) {
        myr_io_abort(line->stream);
    }
    uv_close((uv_handle_t *)&client->tick, on_handle_closed);
    uv_close((uv_handle_t *)&client->turn, on_handle_closed);
    myr_io_tls_free(client->tls);
    client->tls = NULL;
    myr_buf_done(&client->token);
    myr_buf_done(&client->head);
}
