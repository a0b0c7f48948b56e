/*
 * Incarnations of jobs in time that the test makes, with launchers that are only names: when one is
 * started again, when one is killed, and what the controller is told of steps and of endings, as
 * one text (tests/kept/agent-runs-clock.txt).
 */
#include "runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

#define S 1000000000LL

static char folder[] = "/tmp/myr-clock-XXXXXX", sockets[64], said_path[64];
static int64_t clock_ns = 1000 * S;
static bool on, lock_is_free, no_fork;
static uint32_t forks, told; /* 'told': reports that the story has */
static int said_fd;
static uv_loop_t loop;
static struct session session = {.node = 7, .boot_number = 3};
static struct stops stops;
static struct reports reports;
static struct runs runs;
static struct myr_buf story;
static struct myr_io_stream *heard_by;
static struct myr_wire_receiver receiver;

static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    myr_buf_printf(&story, "  %g ", (double)(clock_ns - 1000 * S) / 1e9);
    for (const char *at = text; *at;) {
        if (strncmp(at, folder, strlen(folder)) == 0) {
            myr_buf_putc(&story, '~');
            at += strlen(folder);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
    myr_buf_putc(&story, '\n');
}

/* --- the kernel */

#define CALL __attribute__((visibility("default")))

CALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (!on || which != CLOCK_BOOTTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / S, clock_ns % S};
    return 0;
}

/* The folder that a new one lies in: without it an order could be lost that was answered. */
CALL int fsync(int fd)
{
    char link[40], path[200] = "";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) > 4 && strcmp(strrchr(path, '/'), "/run") == 0) {
        tell("%s is synced", path);
    }
    return 0;
}

CALL int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

CALL int flock(int fd, int operation)
{
    (void)fd;
    (void)operation;
    errno = EWOULDBLOCK;
    return lock_is_free ? 0 : -1;
}

/* A number that no process ever has; its lock is held from now on. */
CALL pid_t fork(void)
{
    if (no_fork) {
        errno = EAGAIN;
        return -1;
    }
    tell("a launcher is started");
    return (pid_t)(4194305 + forks++);
}

CALL long syscall(long number, ...)
{
    static long (*own)(long, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    own = own ? own : (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_pidfd_open && a[0] > 4194304) {
        return eventfd(0, EFD_CLOEXEC);
    }
    if (number == SYS_pidfd_send_signal) {
        tell("its launcher gets signal %ld", a[1]);
        return 0;
    }
    return own(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- what is said */

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct myr_wire_message message;
    struct myr_err err = {};
    (void)context;
    (void)stream;
    myr_wire_feed(&receiver, bytes);
    while (myr_wire_next(&receiver, &message, &err) > 0) {
        if (message.head.type == MYR_WIRE_STEP) {
            const struct myr_wire_step *step = (const void *)message.body;
            tell("step %" PRIu64 " of %" PRIu64 ".%u, in %" PRId64 " ns, saved %" PRIu64,
                 step->step, step->job, message.head.epoch, step->duration_ns, step->saved_step);
        } else if (message.head.type == MYR_WIRE_SYMPTOM) {
            const struct myr_wire_symptom *symptom = (const void *)message.body;
            tell("symptom of boot %u: %.*s %" PRIu64 " '%.*s'", message.head.epoch,
                 (int)symptom->id.len, symptom->id.data, symptom->count, (int)symptom->text.len,
                 symptom->text.data);
        }
    }
}

static void on_nothing(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    (void)context;
    (void)stream;
    (void)why;
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    heard_by = stream;
    return context;
}

static void settle(void)
{
    for (int i = 0; i < 20; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static struct myr_io_listener *connect_both(void)
{
    struct myr_err err = {};
    struct myr_io_listener *listener;
    const struct myr_io_calls calls = {on_nothing, on_data, on_closed};
    const struct myr_io_service service = {
        .calls = calls, .accept = on_accept, .context = &heard_by, .streams_max = 1};
    assert_int_equal(myr_io_listen(&loop, "127.0.0.1", 0, NULL, &service, &listener, &err), MYR_OK);
    assert_int_equal(myr_io_connect(&loop, "127.0.0.1", myr_io_port(listener), NULL, &calls, NULL,
                                    &session.stream, &err),
                     MYR_OK);
    for (int i = 0; i < 10000 && !heard_by; i++) {
        settle();
    }
    assert_non_null(heard_by);
    myr_wire_sender_init(&session.sender);
    myr_wire_receiver_init(&receiver);
    session.welcomed = true;
    session.sequence = 1; /* the hello's */
    return listener;
}

/* What was said to people, and new reports. */
static void put_told(void)
{
    char text[2000];
    ssize_t got = pread(said_fd, text, sizeof(text) - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    assert_int_equal(ftruncate(said_fd, 0), 0);
    for (char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        tell("%.*s", (int)len, at);
        at += len + (at[len] == '\n');
    }
    settle();
    for (size_t i = told; i < reports.items.count; i++) {
        const struct report *report = &reports.items.items[i];
        tell("report %s %" PRIu64 ".%u rank %u code %u signal %u '%.300s' of %zu",
             myr_wire_type_name((uint8_t)report->type), report->job, report->epoch, report->rank,
             report->code, report->signal, report->text, strlen(report->text));
    }
    reports.items.count = told = 0;
}

static const struct run *state_of(uint64_t job, uint32_t epoch)
{
    static const char *const states[] = {"waiting", "starting", "up", "ended", "acked"};
    const struct run *run = runs_find(&runs, job, epoch);
    put_told();
    if (run) {
        tell("%" PRIu64 ".%u is %s%s", job, epoch, states[run->state],
             run->stopping ? " and is to stop" : "");
    } else {
        tell("%" PRIu64 ".%u is not known", job, epoch);
    }
    return run;
}

static void start(uint64_t job, uint32_t epoch, uint64_t gpus, uint32_t first)
{
    struct myr_wire_start order = {.job = job,
                                   .gpus = gpus,
                                   .first_rank = first,
                                   .world = 8,
                                   .node_count = 1,
                                   .master = MYR_STR("m 1"),
                                   .user = MYR_STR("u"),
                                   .spec = MYR_STR("x\n")};
    tell("order for %" PRIu64 ".%u", job, epoch);
    lock_is_free = true;
    runs_start(&runs, epoch, &order);
    lock_is_free = false;
    (void)state_of(job, epoch);
}

static void put_into(uint64_t job, uint32_t epoch, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/run/%" PRIu64 ".%u", folder, job, epoch);
    assert_int_equal(file_put(path, name, myr_str_from(text), NULL), MYR_OK);
}

static void ends(uint64_t job, uint32_t epoch, const struct ending *ending)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    ending_write(ending, &text);
    put_into(job, epoch, "exit", text.data);
    runs_look(&runs);
    (void)state_of(job, epoch);
}

static void stop(uint64_t job, uint32_t epoch, uint32_t grace_s)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[200];
    tell("stop of %" PRIu64 " up to %u within %u s", job, epoch, grace_s);
    runs_stop(&runs, epoch, &(struct myr_wire_stop){.job = job, .grace_s = grace_s});
    snprintf(path, sizeof(path), "%s/run/%" PRIu64 ".%u", folder, job, epoch);
    put_told();
    if (file_get(path, "stop", &text, NULL) == MYR_OK) {
        tell("it reads '%.*s'", (int)strcspn(text.data, "\n"), text.data);
    }
}

static void pass(uint32_t seconds)
{
    for (uint32_t i = 0; i < seconds; i++) {
        clock_ns += S;
        runs_look(&runs);
    }
    put_told();
}

/* --- lives */

/* One that dies again and again is started at once, after one second, after two, up to thirty. */
static void launchers_that_die(void)
{
    start(1, 1, 1, 0);
    lock_is_free = true;
    pass(600);
    lock_is_free = false;
    no_fork = true;
    start(2, 1, 2, 0);
    no_fork = false;
    clock_ns += S;
    lock_is_free = true;
    runs_look(&runs);
    lock_is_free = false;
    put_told();
    ends(1, 1, &(struct ending){.kind = ENDING_START, .line = MYR_STR("no such program")});
    ends(2, 1, &(struct ending){.kind = ENDING_START, .code = 2, .line = MYR_STR("its user")});
}

/* Thirty seconds beyond the grace; what cannot die is not shot at. */
static void stops_that_take_long(void)
{
    char longer[400];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    start(3, 1, 1, 3);
    put_into(3, 1, "started", "started 1\n");
    runs_look(&runs);
    (void)state_of(3, 1);
    stop(3, 1, 10);
    pass(5);
    stop(3, 1, 86401); /* a second order does not put it off */
    pass(36);
    stop(3, 1, 86400);
    ends(3, 1,
         &(struct ending){.kind = ENDING_EXIT, .rank = 3, .code = 5, .line = myr_str_from(longer)});
    start(4, 1, 1, 0);
    stop(4, 1, 86401);
    stop(4, 1, 2);
    pass(30);
    put_into(4, 1, "stuck", "count 3\nwaiting 1\n");
    pass(9);
    ends(4, 1, &(struct ending){.kind = ENDING_STOPPED, .line = MYR_STR("by order")});
    start(5, 1, 1, 0);
    session.welcomed = false; /* told when there is somebody to tell */
    put_into(5, 1, "stuck", "nonsense\n");
    pass(1);
    session.welcomed = true;
    pass(2);
    ends(5, 1, &(struct ending){.kind = ENDING_EXIT, .rank = 1, .code = 137, .signal = 9});
}

static void step(uint64_t job, uint64_t number, uint64_t saved, int64_t at_ns, bool by_line)
{
    char text[120];
    snprintf(text, sizeof(text),
             "step %" PRIu64 "\nsaved %" PRIu64 "\nat_ns %" PRId64 "\nby_line %d\n", number, saved,
             at_ns, by_line);
    put_into(job, 1, "progress", text);
    runs_tell_steps(&runs);
    settle();
}

static void steps_that_are_told(void)
{
    start(6, 1, 1, 0);
    step(6, 1, 0, 1000, false); /* it is not up */
    put_into(6, 1, "started", "started 1\n");
    runs_look(&runs);
    (void)state_of(6, 1);
    step(6, 10, 4, 2000, false);
    step(6, 10, 4, 2000, false); /* nothing new */
    step(6, 14, 4, 2400, false);
    step(6, 12, 4, 2500, false); /* it went back to what it had saved */
    step(6, 12, 4, 2600, false);
    put_into(6, 1, "progress", "nonsense\n");
    runs_tell_steps(&runs);
    session.welcomed = false;
    step(6, 20, 8, 3000, true);
    session.welcomed = true;
    tell("a new connection");
    runs_say_again(&runs);
    put_told();
    start(7, 1, 2, 4); /* without the first rank only what is read in its output counts */
    put_into(7, 1, "started", "started 1\n");
    runs_look(&runs);
    (void)state_of(7, 1);
    step(7, 3, 0, 100, false);
    step(7, 3, 0, 100, true);
    put_into(7, 1, "progress", "step 9\nsaved 9\nat_ns 700\nby_line 1\n");
    ends(7, 1, &(struct ending){.kind = ENDING_EXIT});
    ends(6, 1, &(struct ending){.kind = ENDING_EXIT});
}

static void some_wait_for_others(void)
{
    start(8, 1, 3, 0);
    start(9, 1, 6, 0); /* in use, and not to stop: refused at once */
    stop(8, 1, 9);
    start(10, 1, 6, 0);
    start(11, 1, 4, 0); /* nobody is there who has this one: who waits has nothing yet */
    stop(10, 1, 5);
    start(12, 1, 2, 0);
    pass(1);
    lock_is_free = true;
    ends(8, 1, &(struct ending){.kind = ENDING_STOPPED, .line = MYR_STR("by order")});
    lock_is_free = false;
    (void)state_of(12, 1);
    start(12, 2, 2, 0); /* a newer one of itself: the older is told to stop */
    stop(12, 3, 7);
    ends(12, 1, &(struct ending){.kind = ENDING_STOPPED, .line = MYR_STR("by order")});
    start(12, 3, 2, 0);
    start(12, 4, 2, 0);
    ends(12, 4, &(struct ending){.kind = ENDING_STOPPED, .line = MYR_STR("lease")});
    assert_int_equal(runs_find(&runs, 12, 0)->epoch, 4); /* the newest */
    assert_int_equal(runs_find(&runs, 12, 2)->epoch, 2);
    assert_null(runs_find(&runs, 12, 3));
    ends(11, 1, &(struct ending){.kind = ENDING_EXIT});
}

/* A stop that cannot be remembered is not answered. */
static void a_full_disk(void)
{
    start(13, 1, 1, 0);
    int fd = stops.fd;
    stops.fd = -1;
    stops.folder = "/no/such/folder";
    stop(13, 1, 1);
    start(13, 2, 1, 0);
    stop(14, 1, 1);
    ends(13, 1, &(struct ending){.kind = ENDING_EXIT});
    stops.fd = fd;
    stops.folder = folder;
    stops.torn = false;
    runs_look(&runs);
    (void)state_of(13, 1);
    stop(13, 2, 1);
}

/* Orders whose folders cannot be made are answered so; a stop is said where it cannot be written.
 */
static void no_room(void)
{
    char path[200];
    runs.sockets = "/dev/null/sockets";
    start(15, 1, 1, 0);
    runs.sockets = sockets;
    runs.state = "/dev/null";
    start(15, 2, 1, 0);
    runs.state = folder;
    start(16, 1, 1, 0);
    snprintf(path, sizeof(path), "%s/run/16.1/stop", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    stop(16, 1, 1);
    assert_int_equal(rmdir(path), 0);
    ends(16, 1, &(struct ending){.kind = ENDING_STOPPED, .line = MYR_STR("x")});
}

static void acknowledged(void)
{
    static const struct report all[] = {
        {.type = MYR_WIRE_STARTED, .job = 13, .epoch = 1, .code = 0},
        {.type = MYR_WIRE_TESTED, .job = 13, .epoch = 1, .code = 1},
        {.type = MYR_WIRE_EXIT, .job = 13, .epoch = 2},
        {.type = MYR_WIRE_EXIT, .job = 14, .epoch = 1},
        {.type = MYR_WIRE_STOPPED, .job = 13, .epoch = 0},
        {.type = MYR_WIRE_STARTED, .job = 13, .epoch = 1, .code = 1},
        {.type = MYR_WIRE_STOPPED, .job = 12, .epoch = 1},
        {.type = MYR_WIRE_STOPPED, .job = 12, .epoch = 9},
        {.type = MYR_WIRE_EXIT, .job = 7, .epoch = 1},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        tell("%s %" PRIu64 ".%u code %u is kept", myr_wire_type_name((uint8_t)all[i].type),
             all[i].job, all[i].epoch, all[i].code);
        runs_acked(&runs, &all[i]);
        for (size_t k = 0; k < runs.items.count; k++) {
            const struct run *run = runs.items.items[k];
            if (run->state == RUN_ACKED) {
                tell("  %" PRIu64 ".%u", run->job, run->epoch);
            }
        }
    }
}

/* What an agent finds of launchers that an agent before it has started. */
static void found_again(void)
{
    struct myr_err err = {};
    unsigned long long began = process_began(getpid(), NULL, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        char path[200];
        char shim[80];
        struct order order = {.job = 40 + i,
                              .epoch = 1,
                              .gpus = 1,
                              .world = 1,
                              .lease_s = 9,
                              .boot = myr_str_from(runs.boot),
                              .master = MYR_STR("m"),
                              .user = MYR_STR("u"),
                              .tag = MYR_STR("t"),
                              .socket = MYR_STR("s"),
                              .state = MYR_STR("s")};
        snprintf(path, sizeof(path), "%s/run/%u.1", folder, 40 + i);
        assert_int_equal(folder_make(path, 0700, &err), MYR_OK);
        order_write(&order, &text);
        assert_int_equal(file_put(path, "order", (struct myr_str){text.data, text.len}, &err),
                         MYR_OK);
        /* Nothing; without one of the two; with another beginning; and as it should be. */
        snprintf(shim, sizeof(shim), "%s %d\n%s %llu\n", i == 1 ? "x" : "pid", (int)getpid(),
                 i == 2 ? "x" : "began", i == 3 ? 1ULL : began);
        put_into(40 + i, 1, i < 5 ? "shim" : "launched", i ? shim : "");
    }
    runs_done(&runs);
    settle();
    memset(&runs.items, 0, sizeof(runs.items));
    assert_int_equal(runs_open(&runs, &err), MYR_OK);
    for (uint32_t i = 0; i < 6; i++) {
        const struct run *run = state_of(40 + i, 1);
        tell("its launcher is %s", run->shim == getpid() ? "found" : "not found");
        assert_true(run->shim == 0 || run->shim == getpid());
    }
    stop(44, 1, 3);
}

static void remove_all(void)
{
    char path[AGENT_PATH_MAX];
    for (size_t i = 0; i < runs.items.count; i++) {
        folder_remove(runs.items.items[i]->folder);
    }
    snprintf(path, sizeof(path), "%s/run", folder);
    folder_remove(path);
    folder_remove(sockets);
    runs_done(&runs);
    reports_done(&reports);
    stops_done(&stops);
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
}

static void lives(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_non_null(mkdtemp(folder));
    snprintf(sockets, sizeof(sockets), "%s/sockets", folder);
    snprintf(said_path, sizeof(said_path), "%s/said", folder);
    said_fd = open(said_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int kept = dup(STDERR_FILENO);
    assert_true(said_fd >= 0 && kept >= 0 && dup2(said_fd, STDERR_FILENO) >= 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct myr_io_listener *listener = connect_both();
    reports.session = &session;
    runs = (struct runs){.loop = &loop,
                         .state = folder,
                         .sockets = sockets,
                         .stops = &stops,
                         .reports = &reports,
                         .gpus = 8};
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    on = true;
    assert_int_equal(runs_open(&runs, &err), MYR_OK);
    assert_int_equal(strlen(runs.boot), 36); /* the host's, as the kernel has it */
    launchers_that_die();
    stops_that_take_long();
    steps_that_are_told();
    some_wait_for_others();
    a_full_disk();
    no_room();
    acknowledged();
    found_again();
    on = false;
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(said_fd);
    remove_all();
    myr_io_listener_close(listener);
    myr_io_close(heard_by);
    myr_io_close(session.stream);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    myr_wire_receiver_done(&receiver);
    assert_kept("agent-runs-clock.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
