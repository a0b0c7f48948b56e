/* Requests that follow each other on a connection: each is answered once, whatever becomes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client.h"
#include "leaks.h"

enum { REQUESTS = 40 };

enum mode {
    ANSWERS,     /* each with its path */
    LEAVES_ONCE, /* the first connection is closed behind its first answer */
    BABBLES,     /* what is no HTTP */
    IS_SILENT,
    STREAMS, /* a head, and nothing behind it */
};

static struct {
    uv_loop_t loop;
    uv_tcp_t listener;
    struct client client;
    struct myr_kube_access access;
    enum mode mode;
    uint32_t connections, heard, most_at_once; /* requests; in one reading */
    uint32_t done[REQUESTS], failed, granted, pieces, over;
    char url[64], why[300];
} lab;

struct peer {
    uv_tcp_t tcp;
    struct myr_buf in;
    char bytes[4096];
    uint32_t number, answered;
};

static void on_peer_closed(uv_handle_t *handle)
{
    struct peer *peer = handle->data;
    myr_buf_done(&peer->in);
    free(peer);
}

static void close_peer(struct peer *peer)
{
    if (!uv_is_closing((uv_handle_t *)&peer->tcp)) {
        uv_close((uv_handle_t *)&peer->tcp, on_peer_closed);
    }
}

static void say(struct peer *peer, const char *text)
{
    uv_buf_t buf = uv_buf_init((char *)text, (unsigned)strlen(text));
    assert_int_equal(uv_try_write((uv_stream_t *)&peer->tcp, &buf, 1), (int)strlen(text));
}

static void answer(struct peer *peer, const char *path, size_t length)
{
    char text[300];
    if (lab.mode == BABBLES) {
        say(peer, "what?\r\n\r\n");
    } else if (lab.mode == STREAMS) {
        say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: a/b ;c=d\r\n"
                  "\r\n2\r\nhi\r\n");
    } else if (lab.mode != IS_SILENT) {
        snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%.*s", length,
                 (int)length, path);
        say(peer, text);
    }
    peer->answered++;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct peer *peer = handle->data;
    (void)suggested;
    *ret = uv_buf_init(peer->bytes, sizeof(peer->bytes));
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
    struct peer *peer = stream->data;
    uint32_t at_once = 0;
    if (got < 0) {
        close_peer(peer);
        return;
    }
    myr_buf_put(&peer->in, buf->base, (size_t)got);
    for (;;) {
        char *end = peer->in.len ? memmem(peer->in.data, peer->in.len, "\r\n\r\n", 4) : NULL;
        if (!end || (lab.mode == LEAVES_ONCE && peer->number == 1 && peer->answered == 1)) {
            break;
        }
        const char *path = strchr(peer->in.data, ' ') + 1;
        lab.heard++;
        at_once++;
        answer(peer, path, strcspn(path, " "));
        size_t length = (size_t)(end + 4 - peer->in.data);
        memmove(peer->in.data, peer->in.data + length, peer->in.len - length);
        peer->in.len -= length;
    }
    lab.most_at_once = at_once > lab.most_at_once ? at_once : lab.most_at_once;
    if (lab.mode == LEAVES_ONCE && peer->number == 1 && peer->answered == 1) {
        close_peer(peer);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct peer *peer = myr_xcalloc(1, sizeof(*peer));
    assert_int_equal(status, 0);
    uv_tcp_init(&lab.loop, &peer->tcp);
    peer->tcp.data = peer;
    peer->number = ++lab.connections;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&peer->tcp), 0);
    uv_read_start((uv_stream_t *)&peer->tcp, on_alloc, on_read);
}

static void on_done(void *context, const struct client_answer *answer)
{
    uint32_t *count = context;
    char path[32];
    ++*count;
    lab.over++;
    if (answer->rc < 0) {
        lab.failed++;
        snprintf(lab.why, sizeof(lab.why), "%.290s", answer->err->message);
        return;
    }
    snprintf(path, sizeof(path), "/%u", (unsigned)(count - lab.done));
    assert_int_equal(answer->status, 200);
    assert_true(myr_str_eq(answer->body, myr_str_from(path))); /* its own, and nobody else's */
}

static void begin(enum mode mode)
{
    struct sockaddr_in at;
    struct sockaddr_storage bound;
    int size = sizeof(bound);
    memset(&lab, 0, sizeof(lab));
    lab.mode = mode;
    assert_int_equal(uv_loop_init(&lab.loop), 0);
    uv_tcp_init(&lab.loop, &lab.listener);
    uv_ip4_addr("127.0.0.1", 0, &at);
    assert_int_equal(uv_tcp_bind(&lab.listener, (struct sockaddr *)&at, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&lab.listener, 16, on_connection), 0);
    uv_unref((uv_handle_t *)&lab.listener);
    uv_tcp_getsockname(&lab.listener, (struct sockaddr *)&bound, &size);
    lab.access = (struct myr_kube_access){.host = "127.0.0.1",
                                          .path = "",
                                          .url = lab.url,
                                          .plain = true,
                                          .port = ntohs(((struct sockaddr_in *)&bound)->sin_port)};
    snprintf(lab.url, sizeof(lab.url), "http://127.0.0.1:%u", lab.access.port);
    assert_int_equal(
        kube_begin(&lab.client, &lab.loop, &lab.access, mode == IS_SILENT ? 1 : 120, NULL), MYR_OK);
}

static void end(void)
{
    kube_end(&lab.client);
    uv_close((uv_handle_t *)&lab.listener, NULL);
    uv_run(&lab.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&lab.loop), 0);
}

static void ask_all(bool later)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        kube_ask(&lab.client, &(struct client_request){.method = "GET",
                                                       .path = kube_path("/%u", i),
                                                       .later = later,
                                                       .done = on_done,
                                                       .context = &lab.done[i]});
    }
    while (lab.over < REQUESTS) {
        uv_run(&lab.loop, UV_RUN_ONCE);
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(lab.done[i], 1);
    }
}

static void many_go_out_together_over_few_connections(void **state)
{
    (void)state;
    for (uint32_t later = 0; later < 2; later++) {
        begin(ANSWERS);
        ask_all(later);
        assert_int_equal(lab.failed, 0);
        assert_int_equal(lab.heard, REQUESTS);
        assert_int_equal(lab.connections, later ? 1 : CLIENT_CONNECTIONS);
        assert_true(lab.most_at_once > 1);
        end();
    }
}

static void what_a_closed_connection_left_is_asked_once_more(void **state)
{
    (void)state;
    begin(LEAVES_ONCE);
    ask_all(true);
    assert_int_equal(lab.failed, 0);
    assert_int_equal(lab.connections, 2);
    assert_int_equal(lab.heard, REQUESTS);
    end();
}

static void who_is_not_understood_or_silent_fails_all_of_it(void **state)
{
    static const struct {
        enum mode mode;
        const char *why;
    } cases[] = {{BABBLES, "does not speak HTTP"}, {IS_SILENT, "no answer within 1 s"}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        begin(cases[i].mode);
        ask_all(true);
        assert_int_equal(lab.failed, REQUESTS);
        assert_non_null(strstr(lab.why, cases[i].why));
        end();
    }
}

static void on_granted(void *context, const char *type)
{
    (void)context;
    assert_string_equal(type, "a/b");
    lab.granted++;
}

static bool on_piece(void *context, struct myr_str bytes)
{
    (void)context;
    assert_int_equal(lab.granted, 1); /* that it was granted, and as what, is told before */
    assert_true(myr_str_eq(bytes, MYR_STR("hi")));
    lab.pieces++;
    return true;
}

/* A watch on a quiet cluster: nobody would say for minutes that it is well. */
static void a_stream_is_told_when_it_is_granted(void **state)
{
    (void)state;
    begin(STREAMS);
    kube_ask(&lab.client, &(struct client_request){.method = "GET",
                                                   .path = kube_path("/0"),
                                                   .piece = on_piece,
                                                   .begun = on_granted,
                                                   .done = on_done,
                                                   .context = &lab.done[0]});
    while (lab.pieces == 0) {
        uv_run(&lab.loop, UV_RUN_ONCE);
    }
    assert_int_equal(lab.over, 0);
    kube_drop(&lab.client, &lab.done[0]);
    while (lab.over == 0) {
        uv_run(&lab.loop, UV_RUN_ONCE);
    }
    assert_int_equal(lab.granted, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_go_out_together_over_few_connections),
        cmocka_unit_test(what_a_closed_connection_left_is_asked_once_more),
        cmocka_unit_test(who_is_not_understood_or_silent_fails_all_of_it),
        cmocka_unit_test(a_stream_is_told_when_it_is_granted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
