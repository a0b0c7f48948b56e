/*
 * An agent as a whole, with a controller beside it, in time that the test makes: as one text
 * (tests/kept/agent-life.txt). Each line has the moment at which it happened, in seconds. What
 * collects the inventory, and launchers, are this program itself.
 */
#include "agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "files.h"
#include "kept.h"
#include "leaks.h"
#include "myriad/io.h"
#include "myriad/text/json.h"
#include "myriad/wire.h"
#include "order.h"
#include "shim/shim.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

#define NS 1000000LL

struct action {
    int64_t at_ms;
    void (*play)(void);
    const char *until; /* a file that is to be there before the clock goes on; or NULL */
};

static char root[] = "/tmp/myr-life-XXXXXX", program[128];
static struct myr_buf story;
static struct settings settings;
static const struct action *next_action;
static int trace_fd = -1;
static int64_t clock_ns = 1000 * 1000 * NS, began_ns;
static bool in_agent, in_desk;
static const char *held_until; /* the clock stands until this file is there */
static uint32_t welcome_pretend = 1;

/* The controller. */
static struct {
    uv_loop_t loop;
    struct myr_io_listener *listener;
    struct myr_io_stream *stream;
    struct myr_wire_receiver receiver;
    struct myr_wire_sender sender;
    uint64_t sequence, last; /* sent; the number of the last message but a beat */
    uint32_t beats;
    bool mute; /* it welcomes nobody */
} desk;

static void __attribute__((format(printf, 1, 2))) trace(const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    dprintf(trace_fd, "  %.3f %s\n", (double)(clock_ns - began_ns) / 1e9, text);
}

/* --- the controller's side */

static void put_field(struct myr_buf *ret, const struct myr_wire_field *field,
                      const unsigned char *body)
{
    const void *at = body + field->offset;
    myr_buf_printf(ret, " %s=", field->name);
    if (field->kind == MYR_WIRE_TEXT) {
        myr_json_quote(ret, *(const struct myr_str *)at);
    } else if (field->kind == MYR_WIRE_U32) {
        myr_buf_printf(ret, "%" PRId32, *(const int32_t *)at);
    } else if (field->kind != MYR_WIRE_U32_LIST) {
        myr_buf_printf(ret, "%" PRId64, *(const int64_t *)at);
    }
}

static void tell(enum myr_wire_type type, uint32_t epoch, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    if (desk.stream) {
        myr_wire_send(&desk.sender, &bytes, type, 7, epoch, ++desk.sequence, message);
        myr_io_write(desk.stream, (struct myr_str){bytes.data, bytes.len});
    }
}

static void on_message(const struct myr_wire_message *message)
{
    const struct myr_wire_table *table = myr_wire_table_of(message->head.type);
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (message->head.type == MYR_WIRE_BEAT) {
        desk.beats++;
        return;
    }
    myr_buf_printf(&line, "hears %s node %d epoch %u:", table->name, (int)message->head.node,
                   message->head.epoch);
    for (uint32_t i = 0; i < table->count; i++) {
        put_field(&line, &table->fields[i], message->body);
    }
    char *boot = strstr(line.data, " boot="); /* the host's own */
    if (message->head.type == MYR_WIRE_HELLO && boot) {
        boot[6] = '\0';
    }
    if (message->head.type == MYR_WIRE_HELLO) { /* when it comes again is by its boot, too */
        int64_t half_ns = 500 * NS, past_ns = clock_ns - began_ns;
        clock_ns = began_ns + (past_ns + half_ns - 1) / half_ns * half_ns;
    }
    trace("%s", line.data);
    desk.last = message->head.sequence;
    if (message->head.type == MYR_WIRE_HELLO && !desk.mute) {
        struct myr_wire_welcome welcome = {
            .node = 7, .boot = 3, .beat_ms = 1000, .pretend = welcome_pretend};
        tell(MYR_WIRE_WELCOME, 0, &welcome);
    }
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct myr_wire_message message;
    struct myr_err err = {};
    (void)context;
    if (stream == desk.stream) {
        myr_wire_feed(&desk.receiver, bytes);
        while (myr_wire_next(&desk.receiver, &message, &err) > 0) {
            on_message(&message);
        }
    }
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    (void)context;
    (void)why;
    if (stream == desk.stream) {
        trace("the connection is over after %u beats", desk.beats);
        desk.stream = NULL;
        myr_wire_receiver_done(&desk.receiver);
    }
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    desk.stream = stream;
    desk.sequence = desk.beats = 0;
    myr_wire_sender_init(&desk.sender);
    myr_wire_receiver_init(&desk.receiver);
    return context;
}

static void desk_open(void)
{
    struct myr_err err = {};
    const struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                           .accept = on_accept,
                                           .context = &desk,
                                           .streams_max = 8};
    uv_loop_init(&desk.loop);
    assert_int_equal(
        myr_io_listen(&desk.loop, "127.0.0.1", 0, NULL, &service, &desk.listener, &err), MYR_OK);
    settings.port = myr_io_port(desk.listener);
}

/* --- time */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (!in_agent) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / (1000 * NS), clock_ns % (1000 * NS)};
    return 0;
}

static void nap(void)
{
    (void)syscall(SYS_ppoll, NULL, 0, &(struct timespec){0, NS}, NULL, 8);
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * NS};
    if (in_agent && count == 0) {
        clock_ns += timeout_ms * NS;
        return 0;
    }
    return (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &limit, NULL, 8);
}

/* Who collects has said it all: a child that runs, or sleeps because it waits for its own. */
static bool is_quiet(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)getpid(), (int)getpid());
    if (file_get(path, "children", &text, NULL) < 0) {
        return true;
    }
    for (const char *at = text.data; at && *at;) {
        size_t len = strcspn(at, " \n");
        uint64_t child;
        char state = 'X';
        if (myr_str_to_u64((struct myr_str){at, len}, &child)) {
            (void)process_began((pid_t)child, NULL, &state);
            if (!strchr("SZXT", state)) {
                return false;
            }
        }
        at += len + (at[len] != '\0');
    }
    return true;
}

static int real_wait(int fd, struct epoll_event *events, int most)
{
    return (int)syscall(SYS_epoll_pwait, fd, events, most, 0, NULL, 8);
}

static bool is_held(void)
{
    static uint32_t patience;
    char path[256];
    struct stat status;
    if (!held_until) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/%s", root, held_until);
    if (stat(path, &status) == 0 || ++patience > 20000) {
        held_until = NULL;
    }
    return held_until != NULL;
}

/* Nobody sleeps: whatever both sides and their children have to do is done, then time goes on. */
static int turn(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!in_agent || in_desk || timeout_ms == 0) {
        return real_wait(fd, events, most);
    }
    for (uint32_t calm = 0; calm < 4;) {
        in_desk = true;
        (void)uv_run(&desk.loop, UV_RUN_NOWAIT);
        in_desk = false;
        int got = real_wait(fd, events, most);
        if (got != 0) {
            return got;
        }
        calm = is_quiet() ? calm + 1 : 0;
        nap();
    }
    if (is_held()) {
        return 0;
    }
    int64_t until_ns = clock_ns + (timeout_ms > 0 ? timeout_ms : 1000) * NS;
    if (next_action->play && began_ns + next_action->at_ms * NS <= until_ns) {
        const struct action *action = next_action++;
        clock_ns = began_ns + action->at_ms * NS;
        held_until = action->until;
        action->play();
    } else {
        clock_ns = until_ns;
    }
    return 0;
}

__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *events, int most,
                                                      int timeout_ms)
{
    return turn(fd, events, most, timeout_ms);
}

__attribute__((visibility("default"))) int epoll_pwait(int fd, struct epoll_event *events, int most,
                                                       int timeout_ms, const sigset_t *mask)
{
    (void)mask;
    return turn(fd, events, most, timeout_ms);
}

/* --- what is done */

#define HOST(gpus) \
    "{\"host\":\"n\",\"serial\":\"S\",\"cpus\":9,\"memory_bytes\":1000,\"gpus\":[" gpus "]}"
#define GPU "{\"name\":\"H100\"}"

static void put_in(const char *name, const char *text)
{
    char path[256];
    struct myr_buf bytes = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", root, name);
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(path, &bytes, &err), MYR_OK);
    myr_buf_done(&bytes);
}

static void starts(void)
{
    trace("a job is to start");
    tell(MYR_WIRE_START, 1,
         &(struct myr_wire_start){.job = 5,
                                  .world = 2,
                                  .gpus = 3,
                                  .spec = MYR_STR("command: [x]\n"),
                                  .master = MYR_STR("127.0.0.1 20000"),
                                  .user = MYR_STR("nobody"),
                                  .lease_s = 600,
                                  .node_count = 1});
}

static void tests(void)
{
    trace("a test");
    tell(MYR_WIRE_TEST, 3, &(struct myr_wire_test){.id = 11, .name = MYR_STR("quick")});
}

static void steps(void)
{
    trace("it makes a step");
    put_in("state/run/5.1/progress", "step 10\nsaved 4\nat_ns 5000\nby_line 0\n");
}

static void more_steps(void)
{
    trace("it makes five more");
    put_in("state/run/5.1/progress", "step 15\nsaved 14\nat_ns 10005000\nby_line 0\n");
}

static void fetches(void)
{
    static const struct myr_wire_fetch all[] = {
        {.job = 5, .offset = 0, .rank = 0, .bytes = 4},
        {.job = 5, .offset = 6, .rank = 0, .bytes = 0},
        {.job = 6, .offset = 3, .rank = 1, .bytes = 9},
    };
    put_in("state/run/5.1/log.0.0", "0123456789");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        trace("what has rank %u of job %" PRIu64 " written?", all[i].rank, all[i].job);
        tell(MYR_WIRE_FETCH, i == 1 ? 0 : 1, &all[i]);
    }
}

static void acknowledges(void)
{
    trace("all up to %" PRIu64 " is kept", desk.last);
    tell(MYR_WIRE_ACK, 0, &(struct myr_wire_ack){desk.last});
}

static void leases(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char state[128];
    snprintf(state, sizeof(state), "%s/state", root);
    if (file_get(state, "heard", &text, NULL) == MYR_OK) {
        trace("heard: %.*s", (int)strcspn(text.data, "\n"), text.data);
    }
    tell(MYR_WIRE_LEASE, 3, &(struct myr_wire_beat){1});
}

static void breaks_off(void)
{
    trace("the controller goes");
    myr_io_close(desk.stream);
}

static void loses_gpus(void)
{
    put_in("pretend", "gpus: 3\n");
    put_in("inventory", HOST(""));
    tests();
}

static void loses_a_gpu(void)
{
    put_in("inventory", HOST(GPU));
    tests();
}

static void collects_nothing(void)
{
    put_in("inventory", "");
    tests();
}

static void stops(void)
{
    trace("it is to stop");
    tell(MYR_WIRE_STOP, 1, &(struct myr_wire_stop){.job = 5, .grace_s = 3});
}

static void rings(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/state/" SHIM_BELL, root);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    trace("a launcher rings");
    assert_int_equal(sendto(fd, "!", 1, 0, (const struct sockaddr *)&at, sizeof(at)), 1);
    close(fd);
}

static void is_told_to_end(void)
{
    trace("it is told to end after %u beats", desk.beats);
    (void)raise(SIGTERM);
}

/* --- the program that the agent calls */

static int launcher(const char *folder)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending = {.kind = ENDING_STOPPED, .line = MYR_STR("by order")};
    (void)signal(SIGUSR1, SIG_IGN);
    if (file_put(folder, "started", MYR_STR("started 1\n"), NULL) < 0) {
        return 3;
    }
    for (uint32_t i = 0; i < 60000 && !file_is_there(folder, "stop"); i++) {
        nap();
    }
    ending_write(&ending, &text);
    return file_put(folder, "exit", (struct myr_str){text.data, text.len}, NULL) < 0 ? 3 : 0;
}

static int collector(void)
{
    const char *path = getenv("AGENT_TEST_INVENTORY");
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    if (!path || myr_file_read(path, 1 << 20, &text, &err) < 0) {
        return 1;
    }
    return write(STDOUT_FILENO, text.data, text.len) == (ssize_t)text.len ? 0 : 1;
}

/* --- lives */

static void run(const char *what, const struct action *actions, bool held)
{
    char path[128];
    myr_buf_printf(&story, "%s\n", what);
    snprintf(path, sizeof(path), "%s/trace", root);
    trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_TRUNC, 0600);
    assert_true(trace_fd >= 0);
    int lock = -1;
    if (held) {
        snprintf(path, sizeof(path), "%s/state/lock", root);
        lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(flock(lock, LOCK_EX), 0);
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(trace_fd, STDERR_FILENO) < 0) {
            _exit(99);
        }
        next_action = actions;
        desk_open();
        began_ns = clock_ns;
        in_agent = true;
        int status = agent_run(&settings);
        trace("ends with %d", status);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (lock >= 0) {
        close(lock);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/trace", root);
    assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
    for (const char *at = text.data; *at;) { /* ports and the folder are those of a run */
        size_t digits = strncmp(at, "127.0.0.1:", 10) == 0 ? strspn(at + 10, "0123456789") : 0;
        if (digits) {
            myr_buf_puts(&story, "HERE");
            at += 10 + digits;
        } else if (strncmp(at, root, strlen(root)) == 0) {
            myr_buf_puts(&story, "~");
            at += strlen(root);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
    close(trace_fd);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void an_agent(void **state)
{
    (void)state;
    static const struct action day[] = {
        {1500, tests, NULL},           {2500, starts, "state/run/5.1/started"},
        {3700, steps, NULL},           {4200, fetches, NULL},
        {5200, acknowledges, NULL},    {5600, leases, NULL},
        {6100, leases, NULL},          {7300, leases, NULL},
        {8000, leases, NULL},          {8300, leases, NULL},
        {8900, leases, NULL},          {12500, more_steps, NULL},
        {21500, loses_gpus, NULL},     {22500, collects_nothing, NULL},
        {23500, breaks_off, NULL},     {29500, stops, "state/run/5.1/exit"},
        {29600, rings, NULL},          {30500, acknowledges, NULL},
        {32500, is_told_to_end, NULL}, {0, NULL, NULL}};
    static const struct action real[] = {{1500, tests, NULL},
                                         {2500, loses_a_gpu, NULL},
                                         {4500, is_told_to_end, NULL},
                                         {0, NULL, NULL}};
    static const struct action short_one[] = {{4500, is_told_to_end, NULL}, {0, NULL, NULL}};
    char path[128];
    assert_non_null(mkdtemp(root));
    snprintf(settings.state, sizeof(settings.state), "%s/state", root);
    snprintf(settings.sockets, sizeof(settings.sockets), "%s/sockets", root);
    snprintf(settings.host, sizeof(settings.host), "127.0.0.1");
    snprintf(settings.name, sizeof(settings.name), "gpu-07");
    snprintf(path, sizeof(path), "%s/pretend", root);
    snprintf(program, sizeof(program), "%s/inventory", root);
    setenv("AGENT_TEST_INVENTORY", program, 1);
    settings.plain = true;
    settings.pretend = path;
    assert_int_equal(mkdir(settings.state, 0700), 0);
    put_in("pretend", "gpus: 4\ngpu_kind: H100\nserial: SN1\n");
    put_in("inventory", HOST(""));
    run("a day", day, false);
    put_in("pretend", "gpus: 4\n");
    run("and the next, of which little is known", short_one, false);
    welcome_pretend = 0;
    run("where nobody may pretend", short_one, false);
    settings.pretend = NULL;
    put_in("inventory", HOST(GPU "," GPU));
    run("without pretending", real, false);
    run("where another agent is", short_one, true);
    settings.plain = false;
    run("without a certificate", short_one, false);
    assert_kept("agent-life.txt", &story);
    myr_buf_done(&story);
    assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "shim") == 0) {
        return launcher(argv[2]);
    }
    if (argc > 1 && strcmp(argv[1], "inventory") == 0) {
        return collector();
    }
    if (argc > 1 && strcmp(argv[1], "watch") == 0) {
        return 0;
    }
    const struct CMUnitTest all[] = {
        cmocka_unit_test(an_agent),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
