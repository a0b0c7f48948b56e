/*
 * The way of a rank from fork() to its program, call by call, on both sides, and what becomes of it
 * when each of the calls is refused (tests/kept/agent-child.txt). Between the two ends of the way
 * nothing is done but written down: no user is become, and no program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"
#include "shim/state.h"

/* Streams of the C library. */
long myr_leaks_allowed = 200;

static enum { NOBODY, CHILD, PARENT } watched;
static struct myr_buf story;
static int trace_fd; /* a child's story goes through it */
static uint32_t calls, refused, forks;
static bool happened, interrupted;
static uint32_t last_read; /* the number of that call */
static char names[64][24]; /* of files that have one */

/* True: it is this one that is refused. */
static bool tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool tell(const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text) - 20, fmt, args);
    va_end(args);
    bool no = ++calls == refused;
    happened = happened || no;
    if (refused == 0 || happened) {
        len += snprintf(text + len, 20, "%s\n", no ? " FAILS" : "");
        if (watched == CHILD) {
            (void)syscall(SYS_write, trace_fd, text, (size_t)len);
        } else {
            myr_buf_printf(&story, "    %s", text);
        }
    }
    errno = no ? (interrupted ? EINTR : EPERM) : errno;
    return no;
}

static const char *name_of(int fd)
{
    return fd >= 0 && fd < 64 && names[fd][0] ? names[fd] : "a file";
}

/* --- the kernel */

#define CALL __attribute__((visibility("default")))

CALL pid_t fork(void)
{
    static pid_t (*own)(void);
    own = own ? own : (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    if (watched == PARENT) {
        return tell("fork") ? -1 : (pid_t)(4194305 + forks++); /* as nobody is called */
    }
    pid_t pid = own();
    watched = pid == 0 ? CHILD : watched;
    return pid;
}

CALL int setpgid(pid_t pid, pid_t group)
{
    return tell("setpgid %d %d", (int)pid, (int)group) ? -1 : 0;
}

/* Sixty-four of them are one line. */
CALL __sighandler_t signal(int number, __sighandler_t handler)
{
    static int last;
    static __sighandler_t (*own)(int, __sighandler_t);
    own = own ? own : (__sighandler_t(*)(int, __sighandler_t))dlsym(RTLD_NEXT, "signal");
    if (watched == NOBODY) {
        return own(number, handler);
    }
    if (number != last + 1 || number == NSIG - 1 || handler != SIG_DFL) {
        tell("signal %d %s", number, handler == SIG_DFL ? "as usual" : "otherwise");
    }
    last = number;
    return SIG_DFL;
}

CALL int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    static int (*own)(int, const sigset_t *, sigset_t *);
    int count = 0;
    own = own ? own : (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT, "sigprocmask");
    if (watched == NOBODY) {
        return own(how, set, old);
    }
    for (int i = 1; set && i < NSIG; i++) {
        count += sigismember(set, i) == 1;
    }
    tell("sigprocmask %d with %d, %s", how, count, old ? "and the old one" : "alone");
    return 0;
}

CALL int prctl(int what, ...)
{
    va_list args;
    va_start(args, what);
    long with = va_arg(args, long);
    va_end(args);
    if (watched == NOBODY) {
        return (int)syscall(SYS_prctl, what, with, 0, 0, 0);
    }
    return tell("prctl %d %d", what, (int)with) ? -1 : 0;
}

CALL pid_t getppid(void)
{
    pid_t parent = (pid_t)syscall(SYS_getppid);
    return watched == CHILD && tell("getppid") ? 1 : parent;
}

CALL ssize_t read(int fd, void *bytes, size_t len)
{
    bool shown = watched == CHILD || (watched == PARENT && strstr(name_of(fd), "trouble"));
    bool no = shown && tell("read %s at most %zu", name_of(fd), len);
    last_read = shown ? calls : last_read;
    if (no) {
        return interrupted ? -1 : 0;
    }
    return syscall(SYS_read, fd, bytes, len);
}

CALL ssize_t write(int fd, const void *bytes, size_t len)
{
    char path[300] = "";
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t got = watched == PARENT ? readlink(link, path, sizeof(path) - 1) : 0;
    bool group = got > 12 && strcmp(path + got - 12, "cgroup.procs") == 0;
    if (watched == CHILD || (watched == PARENT && (group || strcmp(name_of(fd), "a file") != 0))) {
        if (tell("write '%.*s' to %s", (int)len - (len > 1 && !group), (const char *)bytes,
                 group ? "the group" : name_of(fd))) {
            return -1;
        }
    }
    return syscall(SYS_write, fd, bytes, len);
}

CALL int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    if (watched == CHILD) {
        if (tell("open %s %s", path, flags & O_WRONLY ? "to write" : "to read")) {
            return -1;
        }
        path = "/dev/null";
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

CALL int close(int fd)
{
    if (watched == CHILD || (watched == PARENT && strcmp(name_of(fd), "a file") != 0)) {
        tell("close %s", name_of(fd));
    }
    if (fd >= 0 && fd < 64) {
        names[fd][0] = '\0';
    }
    int rc = (int)syscall(SYS_close, fd);
    errno = rc == 0 ? EXFULL : errno; /* who wants the error of before has to keep it */
    return rc;
}

CALL int dup2(int from, int to)
{
    return tell("dup2 %s %d", name_of(from), to) ? -1 : to;
}

CALL int setgroups(size_t count, const gid_t *groups)
{
    return tell("setgroups %zu from %u to %u", count, groups[0], groups[count - 1]) ? -1 : 0;
}

CALL int setgid(gid_t group)
{
    return tell("setgid %u", group) ? -1 : 0;
}

CALL int setuid(uid_t user)
{
    return tell("setuid %u", user) ? -1 : 0;
}

CALL mode_t umask(mode_t mask)
{
    static mode_t last = 022;
    mode_t before = last;
    last = mask;
    if (watched != NOBODY) {
        tell("umask %03o", mask);
    }
    return before;
}

CALL int chdir(const char *path)
{
    return tell("chdir %s", path) ? -1 : 0;
}

CALL int execvpe(const char *file, char *const *argv, char *const *env)
{
    if (tell("execvpe %s: %s %s, %s", file, argv[0], argv[1], env[0])) {
        return -1;
    }
    _exit(0);
}

CALL int pipe2(int pipes[2], int flags)
{
    static const char *const kinds[] = {"go", "trouble", "first output", "second output", "more"};
    if (watched == PARENT) {
        static uint32_t count;
        count = calls == 0 ? 0 : count;
        const char *kind = kinds[count < 4 ? count : 4];
        count++;
        if (tell("pipe2 %s%s", kind, flags & O_CLOEXEC ? "" : " inherited")) {
            return -1;
        }
        assert_int_equal(syscall(SYS_pipe2, pipes, flags), 0);
        snprintf(names[pipes[0]], sizeof(names[0]), "%s 0", kind);
        snprintf(names[pipes[1]], sizeof(names[0]), "%s 1", kind);
        return 0;
    }
    return (int)syscall(SYS_pipe2, pipes, flags);
}

CALL int fcntl(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    long with = va_arg(args, long);
    va_end(args);
    if (watched == PARENT && tell("fcntl %s %s %ld", name_of(fd),
                                  what == F_SETPIPE_SZ ? "size"
                                  : what == F_SETFL    ? "flags"
                                                       : "other",
                                  with)) {
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, what, with);
}

CALL int bind(int fd, const struct sockaddr *at, socklen_t len)
{
    const struct sockaddr_un *path = (const void *)at;
    assert_int_equal(len, sizeof(*path));
    return tell("bind %s %s", name_of(fd), path->sun_path + strlen("/tmp")) ? -1 : 0;
}

CALL int lchown(const char *path, uid_t user, gid_t group)
{
    return tell("lchown %s %u %u", path + strlen("/tmp"), user, group) ? -1 : 0;
}

CALL int unlink(const char *path)
{
    if (watched == PARENT) {
        tell("unlink %s", path + strlen("/tmp"));
        return 0;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* --- the child's side */

static const char *const argv_of[] = {"train", "--fast", NULL};
static const char *const env_of[] = {"A=1", NULL};
static const struct person changed = {.uid = 1007,
                                      .gid = 1008,
                                      .groups = {1008, 27, 44},
                                      .group_count = 3,
                                      .change = true,
                                      .home = "/h/ada"};
static const struct person same = {.uid = 1, .home = "/h/own"};

static void read_all(int fd, char *ret, size_t size)
{
    size_t len = 0;
    ssize_t got;
    while ((got = read(fd, ret + len, size - 1 - len)) > 0) {
        len += (size_t)got;
    }
    ret[len] = '\0';
    close(fd);
}

static uint32_t one_child(const struct person *person, const char *directory, uint32_t number,
                          bool gate)
{
    int go[2], trouble[2], trace[2], output;
    char text[4000], told[300];
    assert_int_equal(pipe2(go, 0) | pipe2(trouble, 0) | pipe2(trace, 0), 0);
    output = open("/dev/null", O_WRONLY);
    assert_true(output >= 0 && output < 64 && trace[1] < 64);
    snprintf(names[go[0]], sizeof(names[0]), "go");
    snprintf(names[trouble[1]], sizeof(names[0]), "trouble");
    snprintf(names[output], sizeof(names[0]), "output");
    trace_fd = trace[1];
    calls = 0;
    refused = number;
    happened = false;
    assert_int_equal(write(go[1], "g", gate ? 1 : 0), gate);
    (void)syscall(SYS_close, go[1]); /* the child must see the end of it */
    struct start start = {.person = person,
                          .argv = argv_of,
                          .env = env_of,
                          .directory = directory,
                          .go = go[0],
                          .output = output,
                          .trouble = trouble[1]};
    pid_t pid = start_process(&start);
    assert_true(pid > 0);
    close(trace[1]);
    close(trouble[1]);
    close(go[0]);
    close(output);
    int status;
    read_all(trace[0], text, sizeof(text));
    read_all(trouble[0], told, sizeof(told));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    told[strcspn(told, "\n")] = '\0';
    uint32_t count = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        myr_buf_printf(&story, "    %.*s\n", (int)strcspn(at, "\n"), at);
        count++;
    }
    myr_buf_printf(&story, "  ends with %d%s%s%s\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   told[0] ? ", '" : "", told, told[0] ? "'" : "");
    return count;
}

static void each_call_of_a_child(const char *what, const struct person *person,
                                 const char *directory)
{
    myr_buf_printf(&story, "%s\n", what);
    uint32_t count = one_child(person, directory, 0, true);
    for (uint32_t i = 1; i <= count; i++) {
        myr_buf_printf(&story, "%s, call %u\n", what, i);
        (void)one_child(person, directory, i, true);
    }
}

static void a_child_on_its_way(void **state)
{
    (void)state;
    each_call_of_a_child("becomes a user", &changed, "/work");
    each_call_of_a_child("stays who it is", &same, NULL);
    myr_buf_puts(&story, "the gate never opens\n");
    (void)one_child(&same, NULL, 0, false);
    interrupted = true;
    myr_buf_puts(&story, "it is woken at the gate\n");
    (void)one_child(&same, NULL, 6, true);
    interrupted = false;
}

/* --- the launcher's side */

static char folder[] = "/tmp/myr-child-XXXXXX";

static void note(struct shim *s, int rc, const struct myr_err *err)
{
    static const char *const phases[] = {"prolog", "ranks", "term", "kill", "epilog", "done"};
    myr_buf_printf(&story, "  %s %s; phase %s, %u alive;", rc < 0 ? myr_err_name(rc) : "done",
                   rc < 0 ? err->message : "", phases[s->phase], s->alive);
    struct process *all[] = {&s->ranks[0], &s->ranks[1], &s->script};
    for (uint32_t i = 0; i < 3; i++) {
        myr_buf_printf(&story, " %d by %s", (int)all[i]->pid,
                       all[i]->pipe < 0 ? "nothing" : name_of(all[i]->pipe));
        if (all[i]->pipe >= 0) {
            close(all[i]->pipe);
        }
    }
    myr_buf_printf(&story, "%s%s\n", file_is_there(folder, "ranks") ? ", ranks are known" : "",
                   file_is_there(folder, "started") ? ", started" : "");
    for (int fd = 0; fd < 64; fd++) {
        if (names[fd][0]) {
            myr_buf_printf(&story, "  still open: %s\n", names[fd]);
            close(fd);
        }
    }
}

static uint32_t one_launch(bool script, uint32_t number)
{
    static const char *const command[] = {"train", NULL};
    static const char *const none[] = {NULL};
    struct shim *s = myr_xcalloc(1, sizeof(*s));
    struct myr_err err = {};
    assert_non_null(mkdtemp(folder));
    s->folder = folder;
    s->bell = s->script.pipe = s->ranks[0].pipe = s->ranks[1].pipe = -1;
    s->count = 2;
    s->order = (struct order){.job = 5, .gpus = 3, .first_rank = 6, .world = 8, .node_count = 4};
    s->order.master = s->order.socket = s->order.tag = s->order.state = MYR_STR("x");
    s->job = (struct myr_jobfile){.command = {command, 1, false}, .env = {none, 0}};
    s->person = same;
    myr_arena_init(&s->arena);
    snprintf(s->cgroup.path, sizeof(s->cgroup.path), "%s", folder);
    assert_int_equal(file_put(folder, "cgroup.procs", MYR_STR(""), &err), MYR_OK);
    calls = forks = 0;
    refused = number;
    happened = false;
    watched = PARENT;
    int rc = script ? shim_start_script(s, "exit 3", &err) : shim_start_ranks(s, &err);
    watched = NOBODY;
    uint32_t count = calls;
    note(s, rc, &err);
    if (number == 0 && !script) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        assert_int_equal(file_get(folder, "ranks", &text, &err), MYR_OK);
        myr_buf_printf(&story, "%s", text.data);
        assert_int_equal(file_get(folder, "started", &text, &err), MYR_OK);
        assert_string_equal(text.data, "started 1\n");
    }
    myr_arena_done(&s->arena);
    free(s);
    folder_remove(folder);
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 7);
    return count;
}

/* By which ranks tell of their progress: it is their user's. */
static void one_socket(const struct person *person, uint32_t number, size_t len)
{
    char path[200];
    struct shim *s = myr_xcalloc(1, sizeof(*s));
    struct myr_err err = {};
    int front = snprintf(path, sizeof(path), "/tmp/");
    memset(path + front, 's', sizeof(path) - (size_t)front);
    myr_buf_printf(&story, "a socket with a name of %zu, call %u\n", len, number);
    s->order.socket = (struct myr_str){path, len};
    s->person = *person;
    s->socket = 63;
    snprintf(names[63], sizeof(names[63]), "it");
    calls = 0;
    refused = number;
    happened = false;
    watched = PARENT;
    int rc = shim_make_socket(s, &err);
    watched = NOBODY;
    names[63][0] = '\0';
    myr_buf_printf(&story, "  %s %s\n", rc < 0 ? myr_err_name(rc) : "done", err.message);
    free(s);
}

static void a_launcher_at_the_gate(void **state)
{
    (void)state;
    for (uint32_t script = 0; script < 2; script++) {
        const char *what = script ? "starts a script" : "starts two ranks";
        myr_buf_printf(&story, "%s\n", what);
        uint32_t count = one_launch(script, 0), waits = last_read;
        for (uint32_t i = 1; i <= count; i++) {
            myr_buf_printf(&story, "%s, call %u\n", what, i);
            (void)one_launch(script, i);
        }
        interrupted = true;
        myr_buf_printf(&story, "%s, and is woken while it waits for them\n", what);
        (void)one_launch(script, waits);
        interrupted = false;
    }
    for (uint32_t i = 0; i < 6; i++) {
        one_socket(&changed, i, 12);
    }
    for (uint32_t len = 107; len <= 108; len++) { /* the longest that there is room for */
        one_socket(&same, 0, len);
    }
    assert_kept("agent-child.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_on_its_way),
        cmocka_unit_test(a_launcher_at_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
