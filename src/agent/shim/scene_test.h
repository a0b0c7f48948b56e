/*
 * scene: a launcher's process in time that the test makes: what is done at which moment, and the
 * calls of the kernel that know of time. For sources that include cmocka.h before.
 */
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "shim/state.h"

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
static int gang_fd = -1; /* the first node of a gang, by which the others ask */
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

/* An end says nothing in errno: what was there before may look like a pipe that is only empty. */
__attribute__((visibility("default"))) ssize_t read(int fd, void *bytes, size_t len)
{
    ssize_t got = syscall(SYS_read, fd, bytes, len);
    errno = in_shim && got == 0 ? EAGAIN : errno;
    return got;
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

/* What the launcher has asked by now is answered, each with the same. */
static void answer_peer(const char *text)
{
    struct sockaddr_in from;
    socklen_t size = sizeof(from);
    char asked[100];
    ssize_t got;
    while ((got = recvfrom(gang_fd, asked, sizeof(asked) - 1, MSG_DONTWAIT,
                           (struct sockaddr *)&from, &size)) > 0) {
        asked[got] = '\0';
        trace("asks %s", asked);
        (void)sendto(gang_fd, text, strlen(text), 0, (const struct sockaddr *)&from, size);
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

static int number_of(const char *text)
{
    uint64_t number = 0;
    assert_true(myr_str_to_u64(myr_str_from(text), &number));
    return (int)number;
}

/* Those below who have stopped themselves go on. */
static void wake_children(void)
{
    char path[64];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)getpid(), (int)getpid());
    assert_int_equal(file_get(path, "children", &text, NULL), MYR_OK);
    for (const char *at = text.data; at && *at;) {
        size_t len = strcspn(at, " \n");
        uint64_t child;
        if (myr_str_to_u64((struct myr_str){at, len}, &child)) {
            (void)kill((pid_t)child, SIGCONT);
        }
        at += len + (at[len] != '\0');
    }
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
            (void)kill(getpid(), SIGKILL); /* there is no such program */
        }
        close(pipes[1]);
        assert_int_equal(read(pipes[0], &byte, 1), 0); /* it has become another program */
        close(pipes[0]);
    } else if (strcmp(action->name, "mortal") == 0) {
        immortal = false;
    } else if (strcmp(action->name, "blocks") == 0 || strcmp(action->name, "frees") == 0) {
        char path[AGENT_PATH_MAX]; /* a folder in the place of that file */
        path_join(path, folder, action->text);
        assert_int_equal(action->name[0] == 'b' ? mkdir(path, 0700) : rmdir(path), 0);
    } else if (strcmp(action->name, "peer") == 0) {
        answer_peer(action->text);
    } else if (strcmp(action->name, "gpus") == 0) {
        each_gpu(put_gpu);
    } else if (strcmp(action->name, "gone") == 0) {
        folder_remove(folder);
    } else if (strcmp(action->name, "wakes") == 0) {
        (void)kill(getpid(), SIGUSR1);
    } else if (strcmp(action->name, "goes on") == 0) {
        wake_children();
    } else if (strcmp(action->name, "hears") == 0) {
        (void)kill(getpid(), number_of(action->text));
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
