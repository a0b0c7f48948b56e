/*
 * How agents and relays come to their papers, keep them, and live by them, with a controller beside
 * them that shows papers too: as one text (tests/kept/agent-papers.txt). Time is the test's; each
 * line has the moment at which it happened, in seconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "agent.h"
#include "disk/files.h"
#include "kept.h"
#include "leaks.h"
#include "myriad/agent/relay.h"
#include "myriad/io.h"
#include "myriad/wire.h"

/* libuv and OpenSSL keep tables for the whole process. */
long myr_leaks_allowed = 10000;

#define NS    1000000LL
#define DAY_S 86400

enum answer { SIGNS, REFUSES, CLOSES, SAYS_NONSENSE, SIGNS_NOTHING, SIGNS_FOR_NO_TIME };

struct scene {
    const char *what;
    enum answer answer;
    int64_t days; /* since the first scene */
    int64_t end_ms;
    const char *token;  /* its secret, or NULL; "other": of another authority */
    const char *listen; /* a relay; NULL: an agent */
    const char *server; /* of a relay; "" stands for where the controller is */
    mode_t token_mode;
    rlim_t files, files_max; /* that a relay may open; 0: as many as there are */
    bool away;               /* the first server of the list is not there */
    bool held;               /* somebody has the lock */
};

static char root[] = "/tmp/myr-papers-XXXXXX";
static const struct scene *scene;
static struct myr_buf story, ca, ca_key, shown, shown_key;
static int64_t clock_ns = 1000 * 1000 * NS;
static bool in_agent, in_desk, told_to_end;
static int trace_fd = -1;
static char fingerprint[65];

static struct {
    uv_loop_t loop;
    struct myr_io_tls *tls;
    struct myr_io_listener *listener;
    uint16_t port;
    uint32_t beats;
    char serial[80];
} desk;

static void __attribute__((format(printf, 1, 2))) trace(const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    dprintf(trace_fd, "  %.3f %s\n", (double)(clock_ns - 1000 * 1000 * NS) / 1e9, text);
}

/* --- the controller */

struct visitor {
    struct myr_wire_receiver receiver;
    struct myr_wire_sender sender;
    uint64_t sequence;
};

static void tell(struct visitor *visitor, struct myr_io_stream *stream, enum myr_wire_type type,
                 const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    uint32_t node = scene->listen ? MYR_WIRE_NO_NODE : 7;
    myr_wire_send(&visitor->sender, &bytes, type, node, 0, ++visitor->sequence, message);
    myr_io_write(stream, (struct myr_str){bytes.data, bytes.len});
}

static void take_enrol(struct visitor *visitor, struct myr_io_stream *stream,
                       const struct myr_wire_head *head, const struct myr_wire_enrol *enrol)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {};
    struct myr_err err = {};
    trace("asks for papers with the token '%.*s', of %d in %u", (int)enrol->token.len,
          enrol->token.data, (int)head->node, head->epoch);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = scene->answer == SIGNS_FOR_NO_TIME ? 0 : 30};
    assert_int_equal(myr_io_ca_sign(&sign, enrol->csr, &cert, NULL, NULL, &err), MYR_OK);
    struct myr_wire_cert answer = {.certificate = {cert.data, cert.len}, .ca = {ca.data, ca.len}};
    switch (scene->answer) {
    case SIGNS_NOTHING:
        answer.certificate = MYR_STR("nothing");
        /* fall through */
    case SIGNS:
    case SIGNS_FOR_NO_TIME:
        tell(visitor, stream, MYR_WIRE_CERT, &answer);
        return;
    case REFUSES:
        tell(visitor, stream, MYR_WIRE_REFUSED,
             &(struct myr_wire_refused){.code = 3, .text = MYR_STR("nobody\nknows it")});
        return;
    case CLOSES:
        myr_io_close(stream);
        return;
    case SAYS_NONSENSE:
        myr_io_write(stream, MYR_STR("nonsense, nonsense, nonsense, nonsense\n"));
        return;
    }
}

static void on_message(struct visitor *visitor, struct myr_io_stream *stream,
                       const struct myr_wire_message *message)
{
    const void *body = message->body;
    const char *serial = myr_io_peer_serial(stream);
    switch (message->head.type) {
    case MYR_WIRE_BEAT:
        desk.beats++;
        return;
    case MYR_WIRE_HELLO:
        if (clock_ns % (1000 * NS)) { /* when it comes again is by its boot: at a half second */
            clock_ns = (clock_ns / (500 * NS) + 1) * 500 * NS;
        }
        trace("'%s' says hello %d %u %d%s after %u beats", myr_io_peer(stream),
              (int)message->head.node, message->head.epoch, (int)message->head.sequence,
              !*serial                           ? ""
              : strcmp(serial, desk.serial) == 0 ? " with the papers of before"
                                                 : " with new papers",
              desk.beats);
        if (*serial) {
            snprintf(desk.serial, sizeof(desk.serial), "%s", serial);
            tell(visitor, stream, MYR_WIRE_WELCOME,
                 &(struct myr_wire_welcome){.node = 7, .boot = 3, .beat_ms = 1000});
            tell(visitor, stream, MYR_WIRE_CERT, /* that nobody has asked for */
                 &(struct myr_wire_cert){.certificate = MYR_STR("x"), .ca = MYR_STR("y")});
        }
        return;
    case MYR_WIRE_ENROL:
        take_enrol(visitor, stream, &message->head, body);
        return;
    default:
        trace("says %s", myr_wire_table_of(message->head.type)->name);
    }
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct visitor *visitor = context;
    struct myr_wire_message message;
    struct myr_err err = {};
    myr_wire_feed(&visitor->receiver, bytes);
    while (myr_wire_next(&visitor->receiver, &message, &err) > 0) {
        on_message(visitor, stream, &message);
    }
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct visitor *visitor = context;
    (void)stream;
    (void)why;
    myr_wire_receiver_done(&visitor->receiver);
    free(visitor);
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    struct visitor *visitor = myr_xcalloc(1, sizeof(*visitor));
    (void)context;
    (void)stream;
    myr_wire_sender_init(&visitor->sender);
    myr_wire_receiver_init(&visitor->receiver);
    return visitor;
}

static void desk_open(void)
{
    struct myr_err err = {};
    const struct myr_io_service service = {
        .calls = {on_open, on_data, on_closed}, .accept = on_accept, .streams_max = 8};
    const struct myr_io_tls_names names = {.certificate_pem = shown.data,
                                           .key_pem = shown_key.data,
                                           .ca_pem = ca.data,
                                           .server = true,
                                           .strangers = true};
    uv_loop_init(&desk.loop);
    assert_int_equal(myr_io_tls_create(&names, &desk.tls, &err), MYR_OK);
    assert_int_equal(
        myr_io_listen(&desk.loop, "127.0.0.1", 0, desk.tls, &service, &desk.listener, &err),
        MYR_OK);
    desk.port = myr_io_port(desk.listener);
}

/* --- time, and what the system allows */

#define CALL __attribute__((visibility("default")))

CALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (!in_agent) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / (1000 * NS), clock_ns % (1000 * NS)};
    return 0;
}

/* Of certificates: by days, which are the scene's. */
CALL time_t time(time_t *ret)
{
    time_t now = 1800000000 + (scene ? scene->days * DAY_S : 0);
    return ret ? *ret = now : now;
}

/* Others are asked for by libraries, before anything else is ready. */
CALL int getrlimit(__rlimit_resource_t which, struct rlimit *ret)
{
    if (which != RLIMIT_NOFILE || !in_agent || !scene->files_max) {
        return (int)syscall(SYS_prlimit64, 0, which, NULL, ret);
    }
    *ret = (struct rlimit){scene->files, scene->files_max};
    return 0;
}

CALL int setrlimit(__rlimit_resource_t which, const struct rlimit *limit)
{
    if (which != RLIMIT_NOFILE || !in_agent) {
        return (int)syscall(SYS_prlimit64, 0, which, limit, NULL);
    }
    trace("wants %llu files, at most %llu", (unsigned long long)limit->rlim_cur,
          (unsigned long long)limit->rlim_max);
    return 0;
}

/* Both sides do what they have to; then time goes on. */
static int turn(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!in_agent || in_desk || timeout_ms == 0) {
        return (int)syscall(SYS_epoll_pwait, fd, events, most, 0, NULL, 8);
    }
    for (uint32_t calm = 0; calm < 4; calm++) {
        in_desk = true;
        (void)uv_run(&desk.loop, UV_RUN_NOWAIT);
        in_desk = false;
        int got = (int)syscall(SYS_epoll_pwait, fd, events, most, 0, NULL, 8);
        if (got != 0) {
            return got;
        }
        (void)syscall(SYS_ppoll, NULL, 0, &(struct timespec){0, NS / 10}, NULL, 8);
    }
    int64_t end_ns = (1000 * 1000 + scene->end_ms) * NS;
    int64_t until_ns = clock_ns + (timeout_ms > 0 ? timeout_ms : 1000) * NS;
    if (!told_to_end && until_ns >= end_ns) {
        clock_ns = end_ns;
        told_to_end = true;
        trace("is told to end");
        (void)raise(SIGTERM);
    } else {
        clock_ns = until_ns;
    }
    return 0;
}

CALL int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    return turn(fd, events, most, timeout_ms);
}

CALL int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms,
                     const sigset_t *mask)
{
    (void)mask;
    return turn(fd, events, most, timeout_ms);
}

/* --- the two that are looked at */

static void put_token(const char *path)
{
    char text[200];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool other = strcmp(scene->token, "other") == 0;
    int len = snprintf(text, sizeof(text), "%s@%s%s\n", scene->token, other ? "00" : "",
                       fingerprint + (other ? 2 : 0));
    assert_int_equal(write(fd, text, (size_t)len), len);
    assert_int_equal(fchmod(fd, scene->token_mode ? scene->token_mode : 0600), 0);
    close(fd);
}

static int run_agent(void)
{
    static struct settings settings;
    snprintf(settings.state, sizeof(settings.state), "%s/agent", root);
    snprintf(settings.sockets, sizeof(settings.sockets), "%s/sockets", root);
    snprintf(settings.host, sizeof(settings.host), "127.0.0.1");
    snprintf(settings.name, sizeof(settings.name), "gpu-07");
    settings.port = scene->away ? 1 : desk.port;
    if (scene->away) {
        settings.other_count = 1;
        snprintf(settings.others[0].host, sizeof(settings.others[0].host), "127.0.0.1");
        settings.others[0].port = desk.port;
    }
    if (scene->token) {
        bool other = strcmp(scene->token, "other") == 0;
        settings.has_token = true;
        snprintf(settings.token.secret, sizeof(settings.token.secret), "%s", scene->token);
        snprintf(settings.token.fingerprint, sizeof(settings.token.fingerprint), "%s%s",
                 other ? "00" : "", fingerprint + (other ? 2 : 0));
    }
    int status = agent_run(&settings);
    if (settings.token.secret[0]) {
        trace("its token is still in memory");
    }
    return status;
}

static void on_ready(void *context, uint16_t port)
{
    bool dies = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
    trace("is ready%s%s", port >= 1024 && context == &desk ? "" : ", at no free port",
          dies ? ", and would die with a peer" : "");
}

static int run_relay(void)
{
    char folder[200], server[100], token[200];
    struct myr_relay_report report = {99, 99, 99, 99};
    struct myr_err err = {};
    snprintf(folder, sizeof(folder), "%s/relay", root);
    snprintf(token, sizeof(token), "%s/token", root);
    snprintf(server, sizeof(server), "%s127.0.0.1:%u", scene->away ? "127.0.0.1:1," : "",
             desk.port);
    if (scene->token && scene->token[0]) {
        put_token(token);
    }
    struct myr_relay relay = {.folder = folder,
                              .name = "rack-1",
                              .server = scene->server ? scene->server : server,
                              .listen = scene->listen,
                              .token_file = scene->token ? token : NULL,
                              .agents_max = 100,
                              .ready = on_ready,
                              .context = &desk,
                              .report = &report};
    int rc = myr_relay_run(&relay, &err);
    if (rc < 0) {
        trace("%s: %s%s%s", myr_err_name(rc), err.message, err.hint[0] ? " -> " : "", err.hint);
    } else {
        trace("had %u agents, %llu frames up and %llu down, %llu beats", report.agents_most,
              (unsigned long long)report.frames_up, (unsigned long long)report.frames_down,
              (unsigned long long)report.beats);
    }
    (void)unlink(token);
    return myr_err_exit_code(rc);
}

/* --- scenes */

static int open_manager(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/manager", root);
    (void)unlink(at.sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    setenv("NOTIFY_SOCKET", at.sun_path, 1);
    return fd;
}

static void put_manager(int fd)
{
    char text[64];
    char last[64] = "";
    ssize_t got;
    uint32_t count = 0;
    while ((got = recv(fd, text, sizeof(text) - 1, 0)) > 0 || last[0]) {
        text[got > 0 ? got : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        if (strcmp(text, last) != 0 && last[0]) {
            myr_buf_printf(&story, "  its manager hears %s%s\n", last, count > 1 ? ", often" : "");
            count = 0;
        }
        snprintf(last, sizeof(last), "%s", text);
        count++;
    }
    close(fd);
}

static void put_trace(const char *text)
{
    char here[32];
    snprintf(here, sizeof(here), "127.0.0.1:%u", desk.port);
    for (const char *at = text; *at;) { /* ports and the folder are those of a run */
        if (strncmp(at, here, strlen(here)) == 0) {
            myr_buf_puts(&story, "HERE");
            at += strlen(here);
        } else if (strncmp(at, root, strlen(root)) == 0) {
            myr_buf_puts(&story, "~");
            at += strlen(root);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
}

static void play(const struct scene *which)
{
    char path[200];
    int lock = -1;
    scene = which;
    myr_buf_printf(&story, "%s\n", scene->what);
    snprintf(path, sizeof(path), "%s/trace", root);
    trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_TRUNC, 0600);
    assert_true(trace_fd >= 0);
    int manager = open_manager();
    if (scene->held) {
        char held[200];
        snprintf(held, sizeof(held), "%s/relay/lock", root);
        lock = open(held, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(flock(lock, LOCK_EX), 0);
    }
    desk_open();
    pid_t pid = fork();
    if (pid == 0) {
        assert_true(dup2(trace_fd, STDERR_FILENO) >= 0);
        in_agent = signal(SIGPIPE, SIG_DFL) != SIG_ERR;
        trace("ends with %d", scene->listen ? run_relay() : run_agent());
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (lock >= 0) {
        close(lock);
    }
    myr_io_listener_close(desk.listener);
    (void)uv_run(&desk.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&desk.loop), 0);
    myr_io_tls_free(desk.tls);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
    put_trace(text.data);
    put_manager(manager);
    close(trace_fd);
}

static const struct scene scenes[] = {
    {.what = "an agent without a token", .end_ms = 100},
    {.what = "an agent that is refused", .answer = REFUSES, .token = "abc"},
    {.what = "an agent that is not answered", .answer = CLOSES, .token = "abc"},
    {.what = "an agent that is told nonsense", .answer = SAYS_NONSENSE, .token = "abc"},
    {.what = "an agent that is given nothing", .answer = SIGNS_NOTHING, .token = "abc"},
    {.what = "an agent that is given no time", .answer = SIGNS_FOR_NO_TIME, .token = "abc"},
    {.what = "an agent with a token of somebody else", .token = "other"},
    {.what = "an agent at its first start", .token = "abc", .away = true, .end_ms = 5900},
    {.what = "the day before its papers are due", .days = 20, .end_ms = 5900},
    {.what = "when they are due", .days = 21, .end_ms = 5900},
    {.what = "and are not given", .answer = SIGNS_NOTHING, .days = 42, .end_ms = 5900},
    {.what = "when they are out", .days = 60, .end_ms = 90},
    {.what = "a relay without a token", .listen = "127.0.0.1:0"},
    {.what = "a relay whose token others may read",
     .listen = "127.0.0.1:0",
     .token = "abc",
     .token_mode = 0640},
    {.what = "a relay whose token is not there", .listen = "127.0.0.1:0", .token = ""},
    {.what = "a relay that is to listen nowhere", .listen = "nowhere", .token = "abc"},
    {.what = "a relay with half an address", .listen = ":0", .token = "abc"},
    {.what = "a relay without a server", .listen = "127.0.0.1:0", .server = "x", .token = "abc"},
    {.what = "a relay whose folder is another's",
     .listen = "127.0.0.1:0",
     .token = "abc",
     .held = true},
    {.what = "a relay that is refused",
     .answer = REFUSES,
     .listen = "127.0.0.1:0",
     .token = "abc",
     .away = true},
    {.what = "a relay that nobody answers",
     .answer = CLOSES,
     .listen = "127.0.0.1:0",
     .token = "abc",
     .away = true},
    {.what = "a relay at its first start",
     .listen = "127.0.0.1:0",
     .token = "abc",
     .away = true,
     .files = 163,
     .files_max = 1000,
     .end_ms = 6500},
    {.what = "the day before its papers are due",
     .listen = "127.0.0.1:0",
     .days = 20,
     .files = 164,
     .files_max = 164,
     .end_ms = 6500},
    {.what = "when they are due",
     .listen = "127.0.0.1:0",
     .days = 21,
     .files = 100,
     .files_max = 163,
     .end_ms = 6500},
    {.what = "and are not given",
     .answer = SIGNS_NOTHING,
     .listen = "127.0.0.1:0",
     .days = 42,
     .end_ms = 6500},
    {.what = "at an address that is not ours", .listen = "192.0.2.1:1", .end_ms = 100},
};

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void papers(void **state)
{
    (void)state;
    char path[200];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    assert_non_null(mkdtemp(root));
    assert_int_equal(myr_io_ca_create("a test", 100, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("server", &shown_key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 100,
                               .server = true,
                               .alt_names = "IP:127.0.0.1"};
    struct myr_str asked = {csr.data, csr.len};
    assert_int_equal(myr_io_ca_sign(&sign, asked, &shown, NULL, NULL, &err), MYR_OK);
    assert_int_equal(myr_io_fingerprint((struct myr_str){ca.data, ca.len}, fingerprint, &err),
                     MYR_OK);
    snprintf(path, sizeof(path), "%s/agent", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/relay", root);
    assert_int_equal(mkdir(path, 0755), 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(scenes); i++) {
        play(&scenes[i]);
    }
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700); /* it holds the relay's key */
    assert_kept("agent-papers.txt", &story);
    struct myr_buf *all[] = {&story, &ca, &ca_key, &shown, &shown_key};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
    assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Helpers of the agent are this program itself: they find nothing. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        /* No search for leaks: killed with the agent in its midst, it would say so. */
        _exit(0);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
