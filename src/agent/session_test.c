/*
 * The life of a connection to the controller, both sides in one loop, as one text
 * (tests/kept/agent-session.txt): what is said on it and about it, and when it is tried again.
 * Clocks are the test's own: hours pass at once.
 */
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "disk/files.h"
#include "kept.h"
#include "leaks.h"
#include "reports.h"
#include "symptoms.h"

enum { PATIENCE = 20000 }; /* turns: what does not come by then never comes */

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

/* What beats say. */
__attribute__((visibility("default"))) int uv_gettimeofday(uv_timeval64_t *ret)
{
    *ret = (uv_timeval64_t){.tv_sec = 1700000000, .tv_usec = 123456};
    return 0;
}

static uv_loop_t loop;
static struct session session;
static struct reports reports = {.session = &session};
static struct symptoms symptoms = {.session = &session};
static struct myr_buf story;
static char said_path[] = "/tmp/myr-session-XXXXXX";
static int said_fd;
static off_t said_at;

/* The controller's side. */
static struct {
    struct myr_io_listener *listener;
    struct myr_io_stream *stream;
    struct myr_wire_receiver receiver;
    struct myr_wire_sender sender;
    uint64_t sequence;
    uint16_t port;
    uint32_t heard, closed, beats; /* messages but beats, connections that ended, beats */
    bool receiving;
} server;

static uint32_t welcomes, refusals, messages, nexts;

/* --- what is put down */

/* Ports and addresses of a run are no part of the story. */
static void put_line(const char *text)
{
    char port[16];
    int len = snprintf(port, sizeof(port), ":%u", server.port);
    while (*text) {
        bool here = strncmp(text, port, (size_t)len) == 0;
        if (here) {
            myr_buf_puts(&story, ":PORT");
        } else {
            myr_buf_putc(&story, *text);
        }
        text += here ? len : 1;
    }
}

static void put_said(void)
{
    char text[4096];
    ssize_t got;
    while ((got = pread(said_fd, text, sizeof(text) - 1, said_at)) > 0) {
        text[got] = '\0';
        said_at += got;
        put_line(text);
    }
}

static void what(const char *text)
{
    put_said();
    myr_buf_printf(&story, "%s\n", text);
}

/* When it is tried again; by the node's name and the try, and by nothing else. */
static void put_state(void)
{
    put_said();
    myr_buf_printf(&story, "  %s%s, node %u boot %u, %u failures, beat %u",
                   session.stream ? "connected" : "alone", session.welcomed ? " and welcome" : "",
                   session.node, session.boot_number, session.failures, session.beat_ms);
    if (uv_is_active((uv_handle_t *)&session.retry)) {
        myr_buf_printf(&story, ", again after %llu ms",
                       (unsigned long long)(session.retry.timeout - uv_now(&loop)));
    }
    myr_buf_putc(&story, '\n');
}

/* --- the controller */

static void on_open(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct myr_wire_message message;
    struct myr_err err = {};
    (void)context;
    if (stream != server.stream) {
        return;
    }
    myr_wire_feed(&server.receiver, bytes);
    while (myr_wire_next(&server.receiver, &message, &err) > 0) {
        if (message.head.type == MYR_WIRE_BEAT) {
            assert_int_equal(((const struct myr_wire_beat *)(const void *)message.body)->time_ns,
                             1700000000123456000);
            server.beats++;
            continue;
        }
        server.heard++;
        MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
        myr_buf_printf(&line, "  agent: %s node %d epoch %u number %llu",
                       myr_wire_type_name(message.head.type), (int)message.head.node,
                       message.head.epoch, (unsigned long long)message.head.sequence);
        if (message.head.type == MYR_WIRE_HELLO) {
            const struct myr_wire_hello *hello = (const void *)message.body;
            myr_buf_printf(&line, " '%.*s' version %u boot %llu", (int)hello->name.len,
                           hello->name.data, hello->version_min, (unsigned long long)hello->boot);
        } else if (message.head.type == MYR_WIRE_SYMPTOM) {
            const struct myr_wire_symptom *symptom = (const void *)message.body;
            myr_buf_printf(&line, " '%.*s' GPU %u, %llu times: %.*s", (int)symptom->id.len,
                           symptom->id.data, symptom->gpu, (unsigned long long)symptom->count,
                           (int)symptom->text.len, symptom->text.data);
        } else if (message.head.type == MYR_WIRE_EXIT) {
            const struct myr_wire_exit *ended = (const void *)message.body;
            myr_buf_printf(&line, " job %llu rank %u code %u signal %u '%.*s'",
                           (unsigned long long)ended->job, ended->rank, ended->code, ended->signal,
                           (int)ended->line.len, ended->line.data);
        } else {
            const struct myr_wire_result *result = (const void *)message.body;
            myr_buf_printf(&line, " job %llu code %u '%.*s'", (unsigned long long)result->job,
                           result->code, (int)result->text.len, result->text.data);
        }
        put_said();
        myr_buf_printf(&story, "%s\n", line.data);
    }
}

static void forget_stream(void)
{
    server.stream = NULL;
    if (server.receiving) {
        myr_wire_receiver_done(&server.receiver);
        server.receiving = false;
    }
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    (void)context;
    (void)why;
    server.closed++;
    if (stream == server.stream) { /* an older one may end after a newer one has come */
        forget_stream();
    }
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    forget_stream();
    server.stream = stream;
    server.sequence = server.beats = 0;
    myr_wire_sender_init(&server.sender);
    myr_wire_receiver_init(&server.receiver);
    server.receiving = true;
    return context;
}

static void say_to_agent(enum myr_wire_type type, uint32_t epoch, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_wire_send(&server.sender, &bytes, type, 7, epoch, ++server.sequence, message);
    myr_io_write(server.stream, (struct myr_str){bytes.data, bytes.len});
}

/* --- the agent */

static void on_welcome(void *context, const struct myr_wire_welcome *welcome)
{
    (void)context;
    (void)welcome;
    welcomes++;
    what("  told: welcome");
}

static void on_message(void *context, const struct myr_wire_message *message)
{
    (void)context;
    messages++;
    put_said();
    myr_buf_printf(&story, "  told: %s epoch %u\n", myr_wire_type_name(message->head.type),
                   message->head.epoch);
}

static void on_refused(void *context, uint32_t code, struct myr_str text)
{
    (void)context;
    refusals++;
    put_said();
    myr_buf_printf(&story, "  told: refused %u, %zu bytes\n", code, text.len);
}

static void on_next(struct session *of)
{
    (void)of;
    nexts++;
    what("  another server is tried");
}

/* --- time */

/* Until a number is so high; what is then still under way is nobody's business. */
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

static void until_alone(void)
{
    for (int i = 0; i < PATIENCE && session.stream; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    assert_null(session.stream);
}

static void pass(int64_t ms)
{
    clock_ns += ms * 1000000;
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
}

/* Until the wait before the next try is over. */
static void pass_retry(void)
{
    assert_true(uv_is_active((uv_handle_t *)&session.retry));
    uv_update_time(&loop);
    uint64_t now = uv_now(&loop), due = session.retry.timeout;
    clock_ns += (int64_t)(due > now ? due - now : 0) * 1000000;
}

static void connected(void)
{
    uint32_t before = server.heard;
    pass_retry();
    until(&server.heard, before + 1);
}

static void welcome(uint32_t beat_ms)
{
    struct myr_wire_welcome message = {.node = 7, .boot = 3, .beat_ms = beat_ms};
    say_to_agent(MYR_WIRE_WELCOME, 0, &message);
    until(&welcomes, welcomes + 1);
}

/* --- lives */

static void nobody_is_there(void)
{
    what("nobody is there");
    struct myr_err err = {};
    const struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                           .accept = on_accept,
                                           .context = &server,
                                           .streams_max = 8};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &server.listener, &err),
                     MYR_OK);
    server.port = myr_io_port(server.listener);
    myr_io_listener_close(server.listener);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    session.port = server.port;
    session_start(&session);
    for (uint32_t i = 0; i < 19; i++) {
        until(&nexts, i + 1);
        put_state();
        pass_retry();
    }
    until(&nexts, 20);
    what("somebody comes");
    assert_int_equal(
        myr_io_listen(&loop, "127.0.0.1", server.port, NULL, &service, &server.listener, &err),
        MYR_OK);
}

static void hello_and_welcome(void)
{
    connected();
    put_state();
    assert_int_equal(session_send(&session, MYR_WIRE_STARTED, 1, &(struct myr_wire_result){}), 0);
    struct report report = {.type = MYR_WIRE_STARTED, .job = 5, .epoch = 2, .text = "waits"};
    reports_add(&reports, &report);
    struct myr_wire_ack ack = {};
    say_to_agent(MYR_WIRE_ACK, 9, &ack); /* before the welcome nobody hears it */
    welcome(0);
    put_state();
    assert_int_equal(messages, 0);
    say_to_agent(MYR_WIRE_ACK, 9, &ack);
    until(&messages, 1);
    uint32_t before = server.heard;
    reports_resend(&reports);
    report = (struct report){.type = MYR_WIRE_EXIT,
                             .job = 5,
                             .epoch = 2,
                             .rank = 4,
                             .code = 9,
                             .signal = 11,
                             .text = "Error: x"};
    reports_add(&reports, &report);
    symptoms.waiting[0] = (struct symptom){.gpu = 3, .xid = 79, .count = 2};
    symptoms.count = 1;
    symptoms_tell(&symptoms);
    assert_int_equal(symptoms.count, 0);
    until(&server.heard, before + 3);
    put_state();
}

static void beats(void)
{
    static const uint32_t every_ms[] = {250, 5, 10, 11};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(every_ms); i++) {
        what("another welcome");
        welcome(every_ms[i]);
        until(&server.beats, server.beats + 1); /* at once */
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t before = server.beats;
            pass(session.beat_ms - 1);
            assert_int_equal(server.beats, before);
            pass(1);
            until(&server.beats, before + 1);
        }
        put_state();
        myr_buf_printf(&story, "  beats %u\n", server.beats);
    }
}

static void a_server_that_says_nothing(void)
{
    what("nothing for 22 s, then a word, then nothing");
    struct myr_wire_ack ack = {};
    for (uint32_t i = 0; i < 3; i++) { /* looked at every 7.5 s */
        pass(7500);
    }
    assert_non_null(session.stream);
    say_to_agent(MYR_WIRE_ACK, 9, &ack);
    until(&messages, messages + 1);
    for (uint32_t i = 0; i < 4; i++) { /* 30 s are not more than 30 s */
        pass(7500);
        put_state();
    }
    pass(7500);
    until_alone();
    put_state();
    connected();
    welcome(1000);
    put_state();
}

static void one_that_refuses(void)
{
    char text[300];
    what("refused");
    memset(text, 'x', sizeof(text));
    static const size_t lengths[] = {7, 199, 200, 201};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lengths); i++) {
        struct myr_wire_refused refused = {.code = (uint32_t)i + 1, .text = {text, lengths[i]}};
        say_to_agent(MYR_WIRE_REFUSED, 0, &refused);
        until(&refusals, (uint32_t)i + 1);
    }
    what("closed by the server");
    myr_io_close(server.stream);
    until_alone();
    put_state();
    connected();
    what("closed again, before a welcome: it was said");
    myr_io_close(server.stream);
    until_alone();
    put_state();
    connected();
    welcome(1000);
}

static void one_that_says_nonsense(void)
{
    what("nonsense");
    myr_io_write(server.stream, MYR_STR("nonsense, nonsense, nonsense, nonsense, nonsense\n"));
    until_alone();
    put_state();
    connected();
    welcome(1000);
    put_state();
}

static void one_that_does_not_read(void)
{
    what("a server that does not read");
    static char bulk[40000];
    memset(bulk, 'y', sizeof(bulk));
    struct myr_wire_output out = {.job = 1, .data = {bulk, sizeof(bulk)}};
    myr_io_pause(server.stream, true);
    uint32_t sent = 0;
    while (session_pending(&session) <= 4 << 20) {
        assert_true(session_send(&session, MYR_WIRE_OUTPUT, 1, &out) > 0);
        sent++;
        assert_true(sent < 2000);
    }
    assert_int_equal(session_send(&session, MYR_WIRE_OUTPUT, 1, &out), 0);
    until_alone();
    myr_io_abort(server.stream); /* it would never see the end */
    put_state();
    connected();
    welcome(1000);
}

static void new_papers_and_the_end(void)
{
    what("new papers");
    session_renew(&session, NULL);
    until_alone();
    put_state();
    connected();
    welcome(1000);
    what("the end");
    session_end(&session);
    uint32_t before = server.closed;
    until(&server.closed, before + 1);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    put_said();
    assert_null(session.stream);
    session_renew(&session, NULL);
}

static void a_connection(void **state)
{
    (void)state;
    said_fd = mkstemp(said_path);
    int kept = dup(STDERR_FILENO);
    assert_true(said_fd >= 0 && kept >= 0 && dup2(said_fd, STDERR_FILENO) >= 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    session = (struct session){.loop = &loop,
                               .host = "127.0.0.1",
                               .name = "gpu-07",
                               .next = on_next,
                               .boot = 4711,
                               .calls = {on_welcome, on_message, on_refused}};
    nobody_is_there();
    hello_and_welcome();
    beats();
    a_server_that_says_nothing();
    one_that_refuses();
    one_that_says_nonsense();
    one_that_does_not_read();
    new_papers_and_the_end();
    myr_io_listener_close(server.listener);
    pass(2000);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(said_fd);
    (void)unlink(said_path);
    reports_done(&reports);
    assert_kept("agent-session.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
