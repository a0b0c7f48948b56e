/* The client against a server of a few lines: good answers, broken ones, slow ones, none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <openssl/crypto.h>

#include "leaks.h"
#include "myriad/io/http.h"

/* The resolver keeps its tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 23;

/* A process that answers one connection with a text, in pieces of 'step' bytes. */
struct server {
    pid_t pid;
    char url[64];
};

struct script {
    struct myr_str text;
    size_t step;  /* 0: at once */
    bool lingers; /* keeps the connection open, silent */
    size_t takes; /* reads so much before it says anything, after a while */
};

/* All of a short request, whose head and body may come apart; of a long one the beginning. */
static ssize_t hear(int fd, char *request, size_t size)
{
    size_t got = 0;
    ssize_t next;
    while (got < size - 1 && (next = recv(fd, request + got, size - 1 - got, 0)) > 0) {
        got += (size_t)next;
        request[got] = '\0';
        const char *end = strstr(request, "\r\n\r\n"), *told = strstr(request, "Content-Length: ");
        size_t body = told && told < end ? strtoul(told + strlen("Content-Length: "), NULL, 10) : 0;
        if (end && got >= (size_t)(end - request) + 4 + body) {
            break;
        }
    }
    return (ssize_t)got;
}

static void answer_one(int listener, int heard, const struct script *script)
{
    char request[4096];
    int fd = accept(listener, NULL, NULL);
    ssize_t got = hear(fd, request, sizeof(request));
    ssize_t told = got > 0 ? write(heard, request, (size_t)got) : 0;
    usleep(script->takes ? 100000 : 0); /* what is sent meanwhile fills every buffer */
    for (size_t taken = 0; taken + (size_t)got < script->takes;) {
        static char more[1 << 16];
        ssize_t next = recv(fd, more, sizeof(more), 0);
        if (next <= 0) {
            _exit(1);
        }
        taken += (size_t)next;
    }
    size_t step = script->step ? script->step : script->text.len;
    for (size_t at = 0; at < script->text.len && told >= 0; at += step) {
        size_t left = script->text.len - at;
        if (send(fd, script->text.data + at, left < step ? left : step, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    if (script->lingers) {
        (void)recv(fd, request, 1, 0); /* until the client goes */
    }
    close(fd);
}

static struct server begin(const struct script *script, int *ret_heard)
{
    struct server server = {};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), pipes[2];
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pipe(pipes), 0);
    snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u/v1/x", ntohs(at.sin_port));
    server.pid = fork();
    if (server.pid == 0) {
        close(pipes[0]);
        answer_one(listener, pipes[1], script);
        _exit(0);
    }
    close(listener);
    close(pipes[1]);
    *ret_heard = pipes[0];
    return server;
}

struct outcome {
    int rc;
    struct myr_http_answer answer;
    struct myr_err err;
    char heard[4096];
};

static void ask(const struct script *script, struct myr_http_request request, myr_http_piece *piece,
                void *context, struct outcome *ret)
{
    int heard, status;
    struct server server = begin(script, &heard);
    *ret = (struct outcome){};
    request.method = request.method ? request.method : "GET";
    request.url = server.url;
    ret->rc = myr_http_ask(&request, piece, context, &ret->answer, &ret->err);
    ssize_t got = read(heard, ret->heard, sizeof(ret->heard) - 1);
    assert_true(got >= 0);
    close(heard);
    assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
    assert_int_equal(status, 0);
}

static struct script says(const char *text)
{
    return (struct script){.text = myr_str_from(text)};
}

static void expect_body(const char *text, size_t step, const char *body)
{
    struct outcome outcome;
    struct script script = says(text);
    script.step = step;
    ask(&script, (struct myr_http_request){}, NULL, NULL, &outcome);
    assert_string_equal(outcome.err.message, "");
    assert_int_equal(outcome.rc, MYR_OK);
    assert_int_equal(outcome.answer.status, 200);
    assert_int_equal(outcome.answer.body.len, strlen(body));
    assert_memory_equal(outcome.answer.body.len ? outcome.answer.body.data : "", body,
                        strlen(body));
    myr_http_answer_done(&outcome.answer);
}

static void bodies_come_by_length_in_chunks_or_to_the_end(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
        "HTTP/1.1 200 OK\r\nTRANSFER-encoding: Chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\r\nServer: x\r\n\r\nhello",
        "HTTP/1.1 200 OK\nContent-Length:5\n\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length:\t 5 \t \r\nX:\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0005 \r\nhello\r\n0\r\nX: y\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        expect_body(texts[i], 0, "hello");
        expect_body(texts[i], 1, "hello");
        expect_body(texts[i], 7, "hello");
    }
    expect_body("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, "");
}

/* A body in chunks of drawn lengths, in hex digits of either case and with what nobody reads. */
static void put_chunks(struct myr_buf *to, struct myr_rng *rng, const char *body, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = 1 + myr_rng_below(rng, myr_rng_below(rng, 4) ? 40 : 5000);
        size = size < length - at ? size : length - at;
        myr_buf_printf(to, myr_rng_below(rng, 2) ? "%s%zx%s" : "%s%zX%s",
                       myr_rng_below(rng, 4) ? "" : "00", size,
                       myr_rng_below(rng, 3) ? "\r\n" : ";name=\"a b\"\r\n");
        myr_buf_put(to, body + at, size);
        myr_buf_puts(to, "\r\n");
    }
    myr_buf_puts(to, myr_rng_below(rng, 2) ? "0\r\n\r\n" : "000;x\r\nTrailer: 1\r\nB: 2\r\n\r\n");
}

/* Answers drawn at random, in pieces drawn at random; one behind the other in one reader. */
static void every_length_comes_whole_however_it_is_cut(void **state)
{
    (void)state;
    static char body[9000];
    struct myr_rng rng;
    struct myr_http_reply reply;
    myr_http_reply_init(&reply, NULL, NULL);
    for (uint32_t round = 0; round < 300; round++) {
        struct myr_buf text = {};
        struct myr_err err = {};
        myr_rng_init(&rng, 77, round);
        size_t length = round < 40 ? round : myr_rng_below(&rng, sizeof(body));
        for (size_t i = 0; i < length; i++) {
            body[i] = (char)myr_rng_below(&rng, 256);
        }
        uint32_t status = 200 + myr_rng_below(&rng, 300), how = myr_rng_below(&rng, 3);
        status += status == 204 || status == 304;
        myr_buf_printf(&text, "HTTP/1.%u %u drawn\r\nContent-Type: text/x; a=b\r\n", round % 2,
                       status);
        if (how == 0) {
            myr_buf_printf(&text, "Content-Length: %zu\r\n\r\n", length);
            myr_buf_put(&text, body, length);
        } else if (how == 1) {
            myr_buf_puts(&text, "Transfer-Encoding: chunked\r\n\r\n");
            put_chunks(&text, &rng, body, length);
        } else {
            myr_buf_puts(&text, "\r\n");
            myr_buf_put(&text, body, length);
        }
        size_t most = 1 + myr_rng_below(&rng, myr_rng_below(&rng, 2) ? 4 : 3000);
        for (size_t at = 0, size; at < text.len; at += size) {
            /* It is over with its last byte, and not before. */
            assert_true(reply.at != MYR_HTTP_AT_DONE);
            size = 1 + myr_rng_below(&rng, (uint32_t)most);
            size = size < text.len - at ? size : text.len - at;
            struct myr_str piece = {text.data + at, size};
            assert_int_equal(myr_http_reply_feed(&reply, piece, &err), MYR_OK);
        }
        assert_int_equal(myr_http_reply_end(&reply, &err), MYR_OK);
        assert_int_equal(reply.at, how < 2 ? MYR_HTTP_AT_DONE : MYR_HTTP_AT_CLOSE);
        assert_int_equal(reply.status, status);
        assert_string_equal(reply.type, "text/x");
        assert_int_equal(reply.got, length);
        assert_int_equal(reply.body.len, length);
        assert_memory_equal(length ? reply.body.data : "", body, length);
        myr_http_reply_clear(&reply, NULL, NULL);
        myr_buf_done(&text);
    }
    myr_http_reply_done(&reply);
}

/* The status alone says that there is no body, whatever the head says of its length. */
static void some_answers_have_no_body(void **state)
{
    static const struct {
        const char *text;
        uint32_t status;
    } cases[] = {
        {"HTTP/1.1 204 No Content\r\n\r\n", 204},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200},
        {"HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n", 599},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct outcome outcome;
        struct script script = says(cases[i].text);
        script.lingers = true; /* it is known at once, not only at the end of the connection */
        ask(&script, (struct myr_http_request){.timeout_s = 60}, NULL, NULL, &outcome);
        assert_int_equal(outcome.rc, MYR_OK);
        assert_int_equal(outcome.answer.status, cases[i].status);
        assert_int_equal(outcome.answer.body.len, 0);
        myr_http_answer_done(&outcome.answer);
    }
}

/* What is sent, to the byte: what a server takes it for must not depend on its kindness. */
static void a_request_has_these_bytes(void **state)
{
    struct outcome outcome;
    struct script script = says("HTTP/1.1 204 No Content\r\n\r\n");
    struct myr_http_request requests[] = {
        {.method = "GET"},
        {.method = "DELETE", .token = "t"},
        {.method = "POST", .type = "a/b", .key = "k", .token = "t", .body = MYR_STR("x=1")},
    };
    static const char *const behind[] = {
        "\r\n\r\n",
        "\r\nAuthorization: Bearer t\r\nContent-Length: 0\r\n\r\n",
        ("\r\nAuthorization: Bearer t\r\nIdempotency-Key: k\r\nContent-Type: a/b\r\n"
         "Content-Length: 3\r\n\r\nx=1"),
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(requests); i++) {
        ask(&script, requests[i], NULL, NULL, &outcome);
        size_t len = strlen(outcome.heard), tail = strlen(behind[i]);
        assert_true(len > tail);
        assert_string_equal(outcome.heard + len - tail, behind[i]);
        assert_int_equal(strncmp(outcome.heard, requests[i].method, strlen(requests[i].method)), 0);
        const char *host = strstr(outcome.heard, " /v1/x HTTP/1.1\r\nHost: 127.0.0.1:");
        assert_non_null(host);
        myr_http_answer_done(&outcome.answer);
    }
}

/* More than the system takes at once: the rest waits for the server, and all of it comes. */
static void a_long_request_waits_for_its_server(void **state)
{
    (void)state;
    enum { SIZE = 24 << 20 };
    struct outcome outcome;
    struct script script = says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    char *body = myr_xcalloc(SIZE, 1);
    script.takes = SIZE + 64; /* of a head that is longer than that */
    ask(&script, (struct myr_http_request){.method = "POST", .body = {body, SIZE}, .timeout_s = 60},
        NULL, NULL, &outcome);
    assert_int_equal(outcome.rc, MYR_OK);
    assert_int_equal(outcome.answer.body.len, 2);
    myr_http_answer_done(&outcome.answer);
    free(body);
}

static void a_request_carries_its_token_key_and_body(void **state)
{
    struct outcome outcome;
    struct script script = says("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}");
    (void)state;
    ask(&script,
        (struct myr_http_request){.method = "POST",
                                  .token = "secret",
                                  .key = "k1",
                                  .type = "text/yaml",
                                  .body = MYR_STR("a: 1\n")},
        NULL, NULL, &outcome);
    assert_int_equal(outcome.rc, MYR_OK);
    assert_int_equal(outcome.answer.status, 409);
    assert_non_null(strstr(outcome.heard, "POST /v1/x HTTP/1.1\r\n"));
    assert_non_null(strstr(outcome.heard, "\r\nAuthorization: Bearer secret\r\n"));
    assert_non_null(strstr(outcome.heard, "\r\nIdempotency-Key: k1\r\n"));
    assert_non_null(strstr(outcome.heard, "\r\nContent-Length: 5\r\n"));
    myr_http_answer_done(&outcome.answer);
}

static void expect_refused(const char *text, const char *words)
{
    struct outcome outcome;
    struct script script = says(text);
    ask(&script, (struct myr_http_request){}, NULL, NULL, &outcome);
    assert_int_equal(outcome.rc, MYR_EIO);
    assert_int_equal(outcome.err.code, MYR_EIO);
    assert_true(strncmp(outcome.err.message, "http://127.0.0.1:", 17) == 0);
    if (!strstr(outcome.err.message, words)) {
        fail_msg("'%s' is not in '%s'", words, outcome.err.message);
    }
}

static void broken_answers_are_one_line_and_no_answer(void **state)
{
    (void)state;
    expect_refused("", "without an answer");
    expect_refused("SSH-2.0-OpenSSH_9\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 999 X\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 600 X\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 099 X\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 2000\r\n\r\n", "no status");
    expect_refused("HTTP/1.2 200 OK\r\n\r\n", "no status");
    expect_refused("\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 200 OK\r\n: x\r\n\r\n", "no name");
    expect_refused("HTTP/2 200\r\n\r\n", "no status");
    expect_refused("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "no name");
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n", "no number");
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                   "no number");
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                   "two lengths");
    expect_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "not known");
    expect_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "no length");
    expect_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "longer");
    expect_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "fffffffffffffffff\r\n",
                   "no length");
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", "broke off after 5");
    expect_refused("HTTP/1.1 200 OK\r\nContent-Le", "broke off after 0");
    expect_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "broke off");
}

static void answers_beyond_the_limits_are_not_kept(void **state)
{
    char text[128];
    struct myr_buf head = {};
    (void)state;
    snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n",
             MYR_HTTP_BODY_MAX + 1);
    expect_refused(text, "more than 256 MiB");
    myr_buf_puts(&head, "HTTP/1.1 200 OK\r\nX: ");
    while (head.len <= MYR_HTTP_HEAD_MAX) {
        myr_buf_puts(&head, "0123456789abcdef");
    }
    expect_refused(head.data, "does not end");
    myr_buf_clear(&head);
    myr_buf_puts(&head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;");
    for (int i = 0; i < 100; i++) {
        myr_buf_puts(&head, "0123456789abcdef");
    }
    expect_refused(head.data, "between chunks");
    myr_buf_done(&head);
}

static void who_stays_silent_is_not_waited_for(void **state)
{
    struct outcome outcome;
    struct script script = says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    (void)state;
    script.lingers = true;
    ask(&script, (struct myr_http_request){.timeout_s = 1}, NULL, NULL, &outcome);
    assert_int_equal(outcome.rc, MYR_EAWAY);
    assert_non_null(strstr(outcome.err.message, "no answer within 1 s"));
}

static bool two_pieces(void *context, struct myr_str bytes)
{
    size_t *sum = context;
    *sum += bytes.len;
    return *sum < 4;
}

static void a_stream_ends_when_its_reader_has_enough(void **state)
{
    struct outcome outcome;
    struct script script = says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "2\r\nab\r\n2\r\ncd\r\n2\r\nef\r\n");
    size_t sum = 0;
    (void)state;
    script.lingers = true;
    ask(&script, (struct myr_http_request){.timeout_s = 5}, two_pieces, &sum, &outcome);
    assert_int_equal(outcome.rc, MYR_OK);
    assert_int_equal(sum, 4);
    assert_int_equal(outcome.answer.body.len, 0);
}

static void what_a_body_is_is_told_without_more(void **state)
{
    static const struct {
        const char *field, *type;
    } cases[] = {
        {"", ""},
        {"Content-Type: text/plain\r\n", "text/plain"},
        {"content-type:\ta/b ; charset=x;y\r\n", "a/b"},
        {"Content-Type:\r\n", ""},
        {"Content-Type: ;\r\n", ""},
        {"Content-Type: 345678901234567890123456789012345678901234567890123456789012345\r\n",
         "345678901234567890123456789012345678901234567890123456789012345"},
        {"Content-Type: 3456789012345678901234567890123456789012345678901234567890123456\r\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_http_reply reply;
        char text[200];
        snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n%sContent-Length: 1\r\n\r\nx",
                 cases[i].field);
        myr_http_reply_init(&reply, NULL, NULL);
        assert_int_equal(myr_http_reply_feed(&reply, myr_str_from(text), NULL), MYR_OK);
        assert_string_equal(reply.type, cases[i].type);
        myr_http_reply_clear(&reply, NULL, NULL);
        assert_string_equal(reply.type, "");
        myr_http_reply_done(&reply);
    }
}

static int fails(const char *url, const char *token, struct myr_err *err)
{
    struct myr_http_answer answer;
    struct myr_http_request request = {.method = "GET", .url = url, .token = token};
    *err = (struct myr_err){};
    return myr_http_ask(&request, NULL, NULL, &answer, err);
}

static void bad_addresses_are_refused_before_anything_is_sent(void **state)
{
    static const char *const bad[] = {"",
                                      "ftp://x/",
                                      "http://",
                                      "http://:80",
                                      "http://127.0.0.1:0/",
                                      "http://127.0.0.1:99999/",
                                      "http://127.0.0.1:8o/",
                                      "http://[::1",
                                      "http://[::1]x/",
                                      "http://a@127.0.0.1/",
                                      "http://127.0.0.1/a b",
                                      "http://127.0.0.1/\r\nX: y"};
    struct myr_err err;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_int_equal(fails(bad[i], NULL, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "is no address"));
    }
    assert_int_equal(fails("http://127.0.0.1:1/", "a\r\nX: y", &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "one word"));
}

static void plain_http_stays_on_this_machine(void **state)
{
    struct myr_err err;
    (void)state;
    assert_int_equal(fails("http://192.0.2.1:4680/", NULL, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "this machine alone"));
    assert_string_equal(err.hint, "https://192.0.2.1:4680");
}

static void nobody_there_says_how_to_start_one(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    struct myr_err err;
    char url[64];
    (void)state;
    /* A port that is bound and not listened to is nobody else's meanwhile. */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(fails(url, NULL, &err), MYR_EAWAY);
    assert_true(strncmp(err.message, url, strlen(url)) == 0);
    assert_non_null(strstr(err.message, ": nobody answers there"));
    assert_string_equal(err.hint, "myriad serve DIR");
    close(fd);
    /* Where no way leads is known before anything is sent. */
    assert_int_equal(fails("https://[ff02::1]:9", NULL, &err), MYR_EAWAY);
    assert_string_equal(err.hint, "myriad serve DIR");
    assert_int_equal(fails("https://no..host:9", NULL, &err), MYR_EAWAY);
    assert_non_null(strstr(err.message, "https://no..host:9: no such host: "));
    assert_string_equal(err.hint, "");
}

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        bodies_come_by_length_in_chunks_or_to_the_end,
        some_answers_have_no_body,
        a_request_has_these_bytes,
        a_request_carries_its_token_key_and_body,
        broken_answers_are_one_line_and_no_answer,
        answers_beyond_the_limits_are_not_kept,
        a_stream_ends_when_its_reader_has_enough,
        bad_addresses_are_refused_before_anything_is_sent,
        plain_http_stays_on_this_machine,
        nobody_there_says_how_to_start_one,
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
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_come_by_length_in_chunks_or_to_the_end),
        cmocka_unit_test(every_length_comes_whole_however_it_is_cut),
        cmocka_unit_test(some_answers_have_no_body),
        cmocka_unit_test(a_request_has_these_bytes),
        cmocka_unit_test(a_long_request_waits_for_its_server),
        cmocka_unit_test(a_request_carries_its_token_key_and_body),
        cmocka_unit_test(broken_answers_are_one_line_and_no_answer),
        cmocka_unit_test(answers_beyond_the_limits_are_not_kept),
        cmocka_unit_test(who_stays_silent_is_not_waited_for),
        cmocka_unit_test(a_stream_ends_when_its_reader_has_enough),
        cmocka_unit_test(what_a_body_is_is_told_without_more),
        cmocka_unit_test(bad_addresses_are_refused_before_anything_is_sent),
        cmocka_unit_test(plain_http_stays_on_this_machine),
        cmocka_unit_test(nobody_there_says_how_to_start_one),
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
