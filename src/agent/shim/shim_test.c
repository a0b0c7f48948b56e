/*
 * Launchers from their first file to their last, in time that the test makes, as one text
 * (tests/kept/agent-shim.txt). The ranks are real processes; the clock stands still while they do
 * what they were started for, and jumps on when a launcher only waits. Each line has the moment at
 * which it happened, in seconds of that clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"
#include "shim/state.h"

/* What the C library keeps once it has looked up a user: its list of services, by file. */
long myr_leaks_allowed = 200;

int shim_run(const char *folder);

struct action {
    int64_t at_ms;
    const char *name, *text; /* a file of the folder, or what else is done */
};

struct scene {
    const char *what, *spec;
    uint32_t ranks, lease_s;
    bool immortal; /* signals do not come through, until an action says so */
    struct action actions[6];
};

static const struct scene *scene;
static char root[] = "/tmp/myr-shim-XXXXXX", folder[64];
static struct myr_buf story;
static int trace_fd = -1;
static int64_t clock_ns = 1000 * S;
static uint32_t next_action, told_signals;
static bool immortal, in_shim, old_kernel;
/* Processes of the whole host are looked for by it: that of another run must not be found. */
static char tag[40];

/* --- the kernel, as far as time is concerned */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    static int (*own)(clockid_t, struct timespec *);
    if (!in_shim) {
        own = own ? own : (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        return own(which, ret);
    }
    *ret = (struct timespec){clock_ns / S, clock_ns % S};
    return 0;
}

static void __attribute__((format(printf, 1, 2))) trace(const char *fmt, ...)
{
    va_list args;
    char text[200];
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    text[strcspn(text, "\n")] = '\0';
    dprintf(trace_fd, "  %.3f %s\n", (double)(clock_ns - 1000 * S) / 1e9, text);
}

static int real_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    return ppoll(fds, count, timeout_ms < 0 ? NULL : &limit, NULL);
}

/* A signal is written down, and comes through or not. */
__attribute__((visibility("default"))) long syscall(long number, ...)
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
    if (!in_shim || number != SYS_pidfd_send_signal) {
        return own(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    /* Who has failed to start may be gone before it is told to go. */
    if (told_signals++ < 40 && (a[1] == SIGKILL || file_is_there(folder, "started"))) {
        trace("signal %ld", a[1]);
    }
    long rc = immortal ? 0 : own(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!immortal && a[1] == SIGKILL) { /* it is dead before the clock goes on */
        struct pollfd fd = {.fd = (int)a[0], .events = POLLIN};
        (void)real_poll(&fd, 1, 10000);
    }
    return rc;
}

/* Groups are the host's, and not every host gives one: here none does. */
__attribute__((visibility("default"))) int mkdir(const char *path, mode_t mode)
{
    static int (*own)(const char *, mode_t);
    own = own ? own : (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    if (in_shim && strstr(path, "/myriad-")) {
        errno = EACCES;
        return -1;
    }
    return own(path, mode);
}

/* An old kernel keeps no list of a process's children: all processes are looked at. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    static int (*own)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    own = own ? own : (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    size_t len = strlen(path);
    if (old_kernel && len > 9 && strcmp(path + len - 9, "/children") == 0) {
        errno = ENOENT;
        return -1;
    }
    return own(path, flags, mode);
}

/* Steps are written down once a second at most. */
__attribute__((visibility("default"))) int rename(const char *from, const char *to)
{
    const char *name = strrchr(to, '/');
    if (in_shim && name && strcmp(name, "/progress") == 0) {
        trace("progress is written");
    }
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* Everybody below sleeps or is dead: nothing happens before the clock goes on. */
static bool is_quiet(pid_t pid)
{
    char path[64];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)pid);
    if (file_get(path, "children", &text, NULL) < 0) {
        return true;
    }
    for (const char *at = text.data; at && *at;) {
        size_t len = strcspn(at, " \n");
        uint64_t child;
        char state = 'X';
        if (myr_str_to_u64((struct myr_str){at, len}, &child)) {
            (void)process_began((pid_t)child, NULL, &state);
            if (!strchr("SZXT", state) || !is_quiet((pid_t)child)) {
                return false;
            }
        }
        at += len + (at[len] != '\0');
    }
    return true;
}

static void send_progress(const char *text)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/s", root);
    (void)sendto(fd, text, strlen(text), 0, (const struct sockaddr *)&at, sizeof(at));
    close(fd);
}

static void put_file(const char *where, const char *name, const char *text)
{
    if (file_put(where, name, myr_str_from(text), NULL) < 0) {
        trace("%s cannot be written", name);
    }
}

/* What the driver says of three, in a folder beside the others. */
static void each_gpu(void (*call)(const char *path))
{
    char path[80];
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/gpus/%u", root, i);
        call(path);
    }
    snprintf(path, sizeof(path), "%s/gpus", root);
    setenv("MYRIAD_AGENT_NVIDIA_PROC", path, 1);
}

static void put_gpu(const char *path)
{
    assert_int_equal(folder_make(path, 0700, NULL), MYR_OK);
    put_file(path, "information", "Device Minor: 5\n");
}

static void act(const struct action *action)
{
    trace("%s %s", action->name, action->text);
    if (strcmp(action->name, "says") == 0) {
        send_progress(action->text);
    } else if (strcmp(action->name, "orphan") == 0) {
        int pipes[2];
        char byte;
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        if (fork() == 0) {
            char *argv[] = {"sleep", "1000000", NULL};
            char sign[80];
            snprintf(sign, sizeof(sign), "MYRIAD_INCARNATION=%s%s",
                     strcmp(action->text, "its own") == 0 ? "" : "x", tag);
            char *env[] = {"A=1", sign, NULL};
            execve("/bin/sleep", argv, env);
            _exit(98);
        }
        close(pipes[1]);
        assert_int_equal(read(pipes[0], &byte, 1), 0); /* it has become another program */
        close(pipes[0]);
    } else if (strcmp(action->name, "mortal") == 0) {
        immortal = false;
    } else if (strcmp(action->name, "gpus") == 0) {
        each_gpu(put_gpu);
    } else if (strcmp(action->name, "gone") == 0) {
        folder_remove(folder);
    } else if (strcmp(action->name, "wakes") == 0) {
        (void)kill(getpid(), SIGUSR1);
    } else if (strcmp(action->name, "heard") == 0) {
        char text[64];
        snprintf(text, sizeof(text), "at_ns %lld\n", (long long)clock_ns);
        put_file(root, "heard", text);
    } else {
        put_file(folder, action->name, action->text);
    }
}

/* When it was first seen that a file is there. */
static void trace_files(void)
{
    static const char *const names[] = {"started", "stuck", "progress"};
    static bool seen[3];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (!seen[i] && file_is_there(folder, names[i])) {
            seen[i] = true;
            trace("there is '%s'", names[i]);
        }
    }
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!in_shim) {
        return real_poll(fds, count, timeout_ms);
    }
    trace_files();
    if (count == 0) { /* behind a launcher that was killed: who does not die takes seconds */
        (void)real_poll(NULL, 0, 5);
        clock_ns += immortal ? 3 * S : timeout_ms * MS;
        const struct action *due = &scene->actions[next_action];
        if (due->name && 1000 * S + due->at_ms * MS <= clock_ns) {
            next_action++;
            act(due);
        }
        return 0;
    }
    bool old = old_kernel;
    old_kernel = false; /* the test may look all the same */
    for (uint32_t i = 0, calm = 0; i < 5000 && calm < 2; i++) {
        calm = is_quiet(getpid()) ? calm + 1 : 0;
        (void)real_poll(NULL, 0, 1);
    }
    old_kernel = old;
    int got = real_poll(fds, count, 0);
    if (got != 0) {
        return got;
    }
    int64_t until_ns = clock_ns + timeout_ms * MS;
    const struct action *action = &scene->actions[next_action];
    if (next_action < 6 && action->name && 1000 * S + action->at_ms * MS <= until_ns) {
        clock_ns = 1000 * S + action->at_ms * MS;
        next_action++;
        act(action);
    } else {
        clock_ns = until_ns;
    }
    return 0;
}

/* --- a launcher in a process of its own */

static const char *user(void)
{
    const struct passwd *own = getpwuid(geteuid());
    return geteuid() == 0 || !own ? "nobody" : own->pw_name;
}

static void put_order(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char socket[80];
    snprintf(socket, sizeof(socket), "%s/s", root);
    struct order order = {.job = 5,
                          .epoch = 2,
                          .gpus = (1U << scene->ranks) - 1,
                          .first_rank = 8,
                          .world = 16,
                          .node_count = 1,
                          .lease_s = scene->lease_s,
                          .master = MYR_STR("127.0.0.1 20000"),
                          .user = myr_str_from(user()),
                          .boot = MYR_STR("b"),
                          .tag = myr_str_from(tag),
                          .socket = myr_str_from(socket),
                          .state = myr_str_from(root),
                          .spec = myr_str_from(scene->spec)};
    order_write(&order, &text);
    assert_int_equal(file_put(folder, "order", (struct myr_str){text.data, text.len}, NULL),
                     MYR_OK);
}

static void put_text(const char *where, const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file_is_there(where, name) && file_get(where, name, &text, NULL) == MYR_OK) {
        for (const char *at = text.data; at && *at;) {
            size_t len = strcspn(at, "\n");
            myr_buf_printf(&story, "  %s: %.*s\n", name, (int)len, at);
            at += len + (at[len] == '\n');
        }
    }
}

static uint32_t rings(int bell)
{
    char byte[4];
    uint32_t count = 0;
    while (recv(bell, byte, sizeof(byte), MSG_DONTWAIT) > 0) {
        count++;
    }
    return count;
}

static int open_bell(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int bell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/" SHIM_BELL, root);
    assert_int_equal(bind(bell, (const struct sockaddr *)&at, sizeof(at)), 0);
    return bell;
}

static void play(const struct scene *which)
{
    static const char *const files[] = {"launched", "started", "exit", "stuck", "progress"};
    scene = which;
    snprintf(tag, sizeof(tag), "5-2-%d", (int)getpid());
    myr_buf_printf(&story, "%s\n", scene->what);
    memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof(folder), "%s/5.2", root);
    assert_int_equal(mkdir(folder, 0700) | chmod(root, 0755), 0);
    put_order();
    int bell = open_bell();
    char path[80];
    snprintf(path, sizeof(path), "%s/trace", root);
    trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(trace_fd, STDERR_FILENO) < 0) {
            _exit(99);
        }
        immortal = scene->immortal;
        old_kernel = strstr(scene->what, "old kernel") != NULL;
        in_shim = true;
        for (; scene->actions[next_action].name && scene->actions[next_action].at_ms < 0;) {
            act(&scene->actions[next_action++]);
        }
        int rc = shim_run(folder);
        trace("returns %d", rc);
        in_shim = old_kernel = false;
        uint32_t left = 0, stuck;
        struct told nobody = {};
        left = kill_descendants(SIGKILL, &nobody, &stuck);
        if (left) {
            trace("%u are left", left);
        }
        _exit(rc);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
    const char *own = strstr(text.data, folder); /* which is another every time */
    while (own) {
        size_t before = (size_t)(own - text.data);
        memset(text.data + before, '~', 1);
        memmove(text.data + before + 1, own + strlen(folder), strlen(own + strlen(folder)) + 1);
        own = strstr(text.data, folder);
    }
    myr_buf_puts(&story, text.data);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        put_text(folder, files[i]);
    }
    snprintf(path, sizeof(path), "%s/s", root);
    myr_buf_printf(&story, "  the bell rang %u times%s\n", rings(bell),
                   access(path, F_OK) == 0 ? "; its socket lies about" : "");
    close(bell);
    close(trace_fd);
    folder_remove(folder);
    each_gpu(folder_remove);
    folder_remove(getenv("MYRIAD_AGENT_NVIDIA_PROC"));
    folder_remove(root);
    assert_true(folder_is_gone(root));
}

/* --- scenes */

#define SLEEPS "command: [sleep, '1000000']\ndirectory: /\n"
/* Those of one node: the first does this, the others that. */
#define EACH(first, others) \
    "command: [sh, -c, '[ $LOCAL_RANK != 0 ] || " first "; " others "']\ndirectory: /\n"
#define DEAF "trap : TERM; while :; do read x < /dev/zero; sleep 1000000; done"

static const struct scene scenes[] = {
    {"all end well", "command: ['true']\ndirectory: /\n", 2, 0, false, {}},
    {"what they wrote", EACH("echo iteration 7/9 \\|", "echo x"), 2, 0, false, {}},
    {"one fails, the others take the signal",
     EACH("exit 3", "exec sleep 1000000"),
     3,
     0,
     false,
     {}},
    {"one is killed, and has said why",
     EACH("{ echo Error: no memory; kill -9 $$; }", "exec sleep 1000000"),
     2,
     0,
     false,
     {}},
    {"one fails, another does not hear",
     EACH("exit 4", "trap \"\" TERM; while :; do sleep 1000000; done"),
     2,
     0,
     false,
     {}},
    {"the same in an old kernel",
     EACH("exit 4", "trap \"\" TERM; while :; do sleep 1000000; done"),
     2,
     0,
     false,
     {}},
    {"no such program", "command: [/no/such/program]\ndirectory: /\n", 2, 0, false, {}},
    {"no such folder", "command: ['true']\ndirectory: /no/such\n", 1, 0, false, {}},
    {"no job file", "command: 7: 8\n", 1, 0, false, {}},
    {"a prolog and an epilog",
     "command: ['true']\ndirectory: /\nprolog: 'exit 0'\nepilog: 'exit 0'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that fails",
     "command: ['true']\ndirectory: /\nprolog: 'echo no disk; exit 9'\n"
     "epilog: 'exit 0'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that is killed, and wrote nothing",
     "command: ['true']\ndirectory: /\nprolog: 'kill -9 $$'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that takes long, and writes",
     "command: ['true']\ndirectory: /\n"
     "prolog: 'echo iteration 3/9 \\|; exec sleep 1000000'\n",
     1,
     0,
     false,
     {{2500, "stop", "grace_s 3\n"}}},
    {"an epilog that fails",
     "command: ['true']\ndirectory: /\nepilog: 'exit 9'\n",
     1,
     0,
     false,
     {}},
    {"an epilog that does not end",
     "command: ['true']\ndirectory: /\nepilog: 'exec sleep 1000000'\n",
     1,
     0,
     false,
     {}},
    {"stopped before it began", SLEEPS, 2, 0, false, {{-1, "stop", "grace_s 3\n"}}},
    {"stopped, with a grace", SLEEPS, 2, 0, false, {{5500, "stop", "grace_s 3\n"}}},
    {"stopped, with a grace that nobody takes, and then with a shorter one",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{2000, "stop", "grace_s 300\n"}, {9000, "stop", "grace_s 20\n"}, {9001, "wakes", ""}}},
    {"its lease runs out", SLEEPS, 1, 60, false, {}},
    {"its lease is long, for the server was heard",
     SLEEPS,
     1,
     60,
     false,
     {{30000, "heard", ""}, {100500, "heard", ""}}},
    {"its lease is long, for it makes steps",
     SLEEPS,
     1,
     10,
     false,
     {{8000, "says", "step 3 saved 2"}, {8400, "says", "nonsense"}, {15000, "says", "step 4"}}},
    {"several steps in a second",
     SLEEPS,
     1,
     0,
     false,
     {{2000, "says", "step 3"},
      {2300, "says", "step 4"},
      {2600, "says", "step 5"},
      {3700, "says", "step 6"},
      {5000, "stop", "grace_s 3\n"}}},
    {"its folder goes", SLEEPS, 2, 0, false, {{3000, "gone", ""}}},
    {"what does not die is told",
     SLEEPS,
     2,
     0,
     true,
     {{1000, "stop", "grace_s 2\n"}, {20000, "mortal", ""}}},
    {"a launcher was killed before", SLEEPS, 2, 0, false, {{-1, "launched", "launched 1\n"}}},
    {"and after it was to stop",
     SLEEPS,
     2,
     0,
     false,
     {{-1, "launched", "launched 1\n"}, {-1, "stop", "grace_s 3\n"}}},
    {"and who has its sign is still there",
     SLEEPS,
     2,
     0,
     false,
     {{-1, "launched", "launched 1\n"}, {-1, "orphan", "its own"}, {-1, "orphan", "another's"}}},
    {"and does not die",
     SLEEPS,
     2,
     0,
     true,
     {{-1, "launched", "launched 1\n"}, {-1, "orphan", "its own"}, {15000, "mortal", ""}}},
    {"an order that is none", SLEEPS, 2, 0, false, {{-1, "order", "nonsense\n"}}},
    {"a stop that cannot be read",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{1500, "stop", "grace_s never\n"}}},
    {"a grace that is too long",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{1500, "stop", "grace_s 86401\n"}}},
    {"GPUs of others", "command: ['true']\ndirectory: /\n", 2, 0, false, {{-1, "gpus", ""}}},
    {"all was over already", SLEEPS, 2, 0, false, {{-1, "exit", "kind exit\n"}}},
};

static void launchers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(scenes); i++) {
        play(&scenes[i]);
    }
    assert_kept("agent-shim.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launchers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
