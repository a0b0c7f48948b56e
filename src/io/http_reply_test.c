/* Answers without a socket: each is read whole, byte by byte and cut in two anywhere. */
#include "myriad/io/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define OK      "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"

/* What became of an answer whose first piece has 'first' bytes, and the others 'step'. */
static void read_so(struct myr_str text, size_t first, size_t step, struct myr_buf *ret)
{
    struct myr_http_reply reply;
    struct myr_err err = {};
    struct myr_str rest = {text.data, 0};
    int rc = MYR_OK;
    myr_http_reply_init(&reply, NULL, NULL);
    for (size_t at = 0; rc == MYR_OK && at < text.len && reply.at != MYR_HTTP_AT_DONE;) {
        size_t length = at ? step : first;
        length = length < text.len - at ? length : text.len - at;
        rest = (struct myr_str){text.data + at, length};
        rc = myr_http_reply_take(&reply, &rest, &err);
        at += length - (rc == MYR_OK ? rest.len : 0);
        rest.len = text.len - at;
    }
    rc = rc == MYR_OK ? myr_http_reply_end(&reply, &err) : rc;
    myr_buf_clear(ret);
    if (rc < 0) {
        assert_int_equal(rc, MYR_EIO);
        myr_buf_puts(ret, err.message);
    } else {
        myr_buf_printf(ret, "%u '%.*s' left %zu", reply.status, (int)reply.body.len,
                       reply.body.data ? reply.body.data : "", rest.len);
    }
    myr_http_reply_done(&reply);
}

static void expect(struct myr_str text, const char *outcome)
{
    struct myr_buf found = {};
    for (size_t cut = 1; cut <= text.len + 1; cut++) {
        bool single = cut > text.len; /* at last byte by byte */
        read_so(text, single ? 1 : cut, single ? 1 : text.len, &found);
        if (strcmp(found.data, outcome) != 0) {
            fail_msg("%.200s\ncut at %zu: %s\nexpected: %s", text.data, cut, found.data, outcome);
        }
    }
    myr_buf_done(&found);
}

#define NO_HTTP "what answers does not speak HTTP: "
#define STATUS  NO_HTTP "its first line is no status"
#define LENGTH  NO_HTTP "a chunk has no length"

static void answers_are_the_same_however_they_are_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text, *outcome;
    } cases[] = {
        {OK "Content-Length: 5\r\n\r\nhello", "200 'hello' left 0"},
        {OK "Content-Length: 5\r\n\r\nhelloHTTP", "200 'hello' left 4"},
        {OK "Content-Length: 0\r\n\r\nx", "200 '' left 1"},
        {OK "CONTENT-length :5\r\n\r\nhello", "200 'hello' left 0"}, /* another field's name */
        {OK "content-LENGTH:\t5 \t\r\ncontent-length: 5\r\n\r\nhello", "200 'hello' left 0"},
        {OK "\r\nuntil the end", "200 'until the end' left 0"},
        {"HTTP/1.0 200\n\nuntil", "200 'until' left 0"},
        {"HTTP/1.1 204 X\r\nContent-Length: 3\r\n\r\nabc", "204 '' left 3"},
        {"HTTP/1.1 304 X\r\n\r\nabc", "304 '' left 3"},
        {"HTTP/1.1 205 X\r\nContent-Length: 1\r\n\r\nabc", "205 'a' left 2"},
        {"HTTP/1.1 303 X\r\nContent-Length: 1\r\n\r\nabc", "303 'a' left 2"},
        {"HTTP/1.1 100 X\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "200 'a' left 0"},
        {"HTTP/1.1 199 X\r\nA: b\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "200 'a' left 0"},
        {"HTTP/1.1 100 X\r\n\r\n", "the connection was closed without an answer"},
        {"HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n", "599 '' left 0"},
        {"HTTP/1.1 600 X\r\n\r\n", STATUS},
        {"HTTP/1.1 099 X\r\n\r\n", STATUS},
        {"HTTP/1.1 20\r\n\r\n", STATUS},
        {"HTTP/1.1 2000\r\n\r\n", STATUS},
        {"HTTP/1.1_200\r\n\r\n", STATUS},
        {"HTTP/1.1 2x0 \r\n\r\n", STATUS},
        {"HTTP/1.2 200\r\n\r\n", STATUS},
        {"HTTP/2.1 200\r\n\r\n", STATUS},
        {CHUNKED "5\r\nhello\r\n0\r\n\r\nx", "200 'hello' left 1"},
        {CHUNKED "5 \nhello\n00000\n\nx", "200 'hello' left 1"},
        {CHUNKED "2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\nMore: y\r\n\r\n",
         "200 'hello' left 0"},
        {CHUNKED "00000000000000a\r\n0123456789\r\n0\r\n\r\n", "200 '0123456789' left 0"},
        {CHUNKED "000000000000000a\r\n0123456789\r\n0\r\n\r\n", LENGTH},
        {CHUNKED "aA\r\n", "the answer broke off after 0 bytes"},
        {CHUNKED "fF\r\n1", "the answer broke off after 1 bytes"},
        {CHUNKED "/\r\n", LENGTH},
        {CHUNKED ":\r\n", LENGTH},
        {CHUNKED "@\r\n", LENGTH},
        {CHUNKED "G\r\n", LENGTH},
        {CHUNKED "`\r\n", LENGTH},
        {CHUNKED "g\r\n", LENGTH},
        {CHUNKED "1g\r\na\r\n", LENGTH},
        {CHUNKED "\r\n", LENGTH},
        {CHUNKED "1\r\nab\r\n", NO_HTTP "a chunk is longer than it says"},
        {CHUNKED "1\r\na\rb\r\n", NO_HTTP "a chunk is longer than it says"},
        {CHUNKED "5\r\nhello\r\n", "the answer broke off after 5 bytes"},
        {CHUNKED "5\r\nhello\r\n0\r\n", "the answer broke off after 5 bytes"},
        {OK "Content-Length: 7\r\n\r\nhello", "the answer broke off after 5 bytes"},
        {OK "Content-Length: -1\r\n\r\n", NO_HTTP "its length is no number"},
        {OK "Content-Length:\r\n\r\n", NO_HTTP "its length is no number"},
        {OK " : x\r\n\r\n", "200 '' left 0"}, /* a name, though an odd one */
        {OK ":x\r\n\r\n", NO_HTTP "a line of its head has no name"},
        {OK "x\r\n\r\n", NO_HTTP "a line of its head has no name"},
        {OK "Transfer-Encoding: gzip\r\n\r\nx", NO_HTTP "its body has a coding that is not known"},
        {OK "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx",
         NO_HTTP "its body has two lengths"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        expect(myr_str_from(cases[i].text), cases[i].outcome);
    }
}

/* Whole, without looking at every cut: n - 1, n and n + 1 of what may be in a head or a line. */
static void heads_and_lines_have_an_end(void **state)
{
    (void)state;
    struct myr_buf text = {}, found = {};
    for (size_t more = 0; more < 3; more++) {
        myr_buf_clear(&text);
        myr_buf_puts(&text, OK "Content-Length: 0\r\nX: ");
        while (text.len < MYR_HTTP_HEAD_MAX - 5 + more) {
            myr_buf_putc(&text, 'x');
        }
        myr_buf_puts(&text, "\r\n\r\n");
        assert_int_equal(text.len, MYR_HTTP_HEAD_MAX - 1 + more);
        for (size_t step = 1; step <= text.len; step += text.len - 1) {
            read_so((struct myr_str){text.data, text.len}, step, step, &found);
            assert_string_equal(found.data,
                                more < 2 ? "200 '' left 0" : NO_HTTP "its head does not end");
        }
    }
    for (size_t more = 0; more < 3; more++) { /* the line of a chunk has 1024 bytes with its end */
        myr_buf_clear(&text);
        myr_buf_puts(&text, CHUNKED "1;");
        size_t head = text.len - 2;
        while (text.len < head + 1021 + more) {
            myr_buf_putc(&text, 'x');
        }
        myr_buf_puts(&text, "\r\na\r\n0\r\n\r\n");
        for (size_t step = 1; step <= text.len; step += text.len - 1) {
            read_so((struct myr_str){text.data, text.len}, step, step, &found);
            assert_string_equal(found.data, more < 2 ? "200 'a' left 0"
                                                     : NO_HTTP
                                                "a line between chunks does not end");
        }
    }
    myr_buf_done(&text);
    myr_buf_done(&found);
}

static bool count_bytes(void *context, struct myr_str piece)
{
    *(size_t *)context += piece.len;
    return true;
}

/* A body that is kept has an end; one that is passed on may be of any length. */
static void only_kept_bodies_are_limited(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        for (uint32_t kept = 0; kept < 2; kept++) {
            char text[128];
            size_t sum = 0;
            struct myr_err err = {};
            struct myr_http_reply reply;
            (void)snprintf(text, sizeof(text), OK "Content-Length: %u\r\n\r\nabc",
                           MYR_HTTP_BODY_MAX + more);
            myr_http_reply_init(&reply, kept ? NULL : count_bytes, &sum);
            int rc = myr_http_reply_feed(&reply, myr_str_from(text), &err);
            bool refused = kept && more;
            assert_int_equal(rc, refused ? MYR_EIO : MYR_OK);
            assert_string_equal(err.message, refused ? "the answer has more than 256 MiB" : "");
            assert_int_equal(reply.got, refused ? 0 : 3);
            assert_int_equal(sum, kept ? 0 : 3);
            myr_http_reply_done(&reply);
        }
    }
}

static bool has_enough(void *context, struct myr_str piece)
{
    *(size_t *)context += piece.len;
    return false;
}

/* Nothing more is taken, though more was announced: the answer counts as whole. */
static void who_has_enough_is_given_no_more(void **state)
{
    (void)state;
    struct myr_http_reply reply;
    struct myr_str text = MYR_STR(CHUNKED "2\r\nab\r\n1\r\nc\r\n");
    size_t sum = 0;
    myr_http_reply_init(&reply, has_enough, &sum);
    assert_int_equal(myr_http_reply_take(&reply, &text, NULL), MYR_OK);
    assert_int_equal(reply.at, MYR_HTTP_AT_DONE);
    assert_int_equal(sum, 2);
    assert_int_equal(text.len, strlen("\r\n1\r\nc\r\n"));
    assert_int_equal(myr_http_reply_end(&reply, NULL), MYR_OK);
    myr_http_reply_done(&reply);
}

/* Small bodies leave their memory to the next answer; 64 KiB is the most that stays. */
static void the_next_answer_begins_anew(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        struct myr_http_reply reply;
        struct myr_buf text = {};
        size_t size = (64U << 10) + more, sum = 0;
        myr_http_reply_init(&reply, NULL, NULL);
        myr_buf_printf(&text, OK "Content-Type: a/b\r\nContent-Length: %zu\r\n\r\n%*s", size,
                       (int)size, "x");
        assert_int_equal(myr_http_reply_feed(&reply, (struct myr_str){text.data, text.len}, NULL),
                         MYR_OK);
        assert_int_equal(reply.body.len, size);
        assert_int_equal(reply.at, MYR_HTTP_AT_DONE);
        myr_http_reply_clear(&reply, count_bytes, &sum);
        assert_int_equal(reply.body.capacity > 0, !more);
        assert_int_equal(reply.body.len + reply.got + reply.left + reply.status, 0);
        assert_int_equal(reply.at, MYR_HTTP_AT_HEAD);
        assert_string_equal(reply.type, "");
        assert_int_equal(myr_http_reply_feed(&reply, MYR_STR(CHUNKED "1\r\na\r\n"), NULL), MYR_OK);
        assert_int_equal(sum, 1);
        myr_http_reply_done(&reply);
        myr_buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same_however_they_are_cut),
        cmocka_unit_test(heads_and_lines_have_an_end),
        cmocka_unit_test(only_kept_bodies_are_limited),
        cmocka_unit_test(who_has_enough_is_given_no_more),
        cmocka_unit_test(the_next_answer_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
