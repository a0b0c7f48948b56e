/*
 * A server as a whole, in time that the test makes: whoever waits moves the clock on, and hours
 * pass at once. What it writes, tells its service manager and answers goes into the story. Include
 * it after cmocka.
 */
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "agents_test.h"
#include "library_test.h"
#include "myriad/server.h"

/* --- the service manager */

static int manager_fd = -1;
static uint32_t dogs;
static struct myr_buf manager_heard;

/* It takes what it is told at once: else who tells it would wait. */
static inline void manager_hears(void)
{
    char text[64];
    ssize_t got;
    while ((got = recv(manager_fd, text, sizeof(text) - 1, MSG_DONTWAIT)) >= 0) {
        text[got] = '\0';
        if (strcmp(text, "WATCHDOG=1") == 0) {
            dogs++;
        } else {
            myr_buf_printf(&manager_heard, "  manager %s\n", text);
        }
    }
}

static inline void put_manager(void)
{
    manager_hears();
    myr_buf_put(&story, manager_heard.data, manager_heard.len);
    myr_buf_clear(&manager_heard);
    if (dogs) {
        myr_buf_printf(&story, "  manager WATCHDOG=1, %u times\n", dogs);
        dogs = 0;
    }
}

static inline void manager_begin(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/manager", bench.folder);
    manager_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(manager_fd >= 0);
    assert_int_equal(bind(manager_fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    setenv("NOTIFY_SOCKET", at.sun_path, 1);
}

/* --- time */

struct step {
    int64_t at_ms; /* after it was ready */
    void (*play)(void);
};

static const struct step *next_step;
static int64_t ready_ns;
static bool knows_children; /* the clock stands while a command runs */

/* Nobody sleeps: the clock is there at once, or when the test wants something. */
static inline int turn(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    int got = (int)syscall(SYS_epoll_pwait, fd, events, most, 0, NULL, 8);
    if (got != 0 || timeout_ms == 0) {
        return got;
    }
    siginfo_t child;
    if (knows_children && waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
        return (int)syscall(SYS_epoll_pwait, fd, events, most, 20, NULL, 8);
    }
    assert_true(timeout_ms > 0);
    manager_hears();
    int64_t until_ns = clock_ns + timeout_ms * 1000000LL;
    if (next_step && next_step->play && ready_ns + next_step->at_ms * 1000000 <= until_ns) {
        const struct step *step = next_step++;
        clock_ns = ready_ns + step->at_ms * 1000000;
        step->play();
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
    assert_null(mask);
    return turn(fd, events, most, timeout_ms);
}

/* --- the folder */

static char folder[128];
static bool blocked; /* nobody can write where it is */

static inline void path_of(const char *name, char ret[256])
{
    snprintf(ret, 256, "%s/%s", folder, name);
}

static inline void put_file(const char *name, const char *text)
{
    char path[256];
    struct myr_buf bytes = {};
    struct myr_err err = {};
    path_of(name, path);
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(path, &bytes, &err), MYR_OK);
    myr_buf_done(&bytes);
}

static inline void put_config(const char *nodes, const char *more)
{
    char text[600];
    snprintf(text, sizeof(text),
             "cluster: trial\nworld: twin\nnodes: \"%s\"\ngpus_per_node: 8\nnodes_per_leaf: 2\n"
             "http: \"127.0.0.1:4680\"\nagents: \"127.0.0.1:4681\"\npolicy: fair\nspeed: 10\n"
             "faults: none\n%s",
             nodes, more);
    put_file("myriad.yaml", text);
}

static inline void on_ready(void *context, const char *url, uint16_t port)
{
    char path[256];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    (void)context;
    ready_ns = clock_ns;
    server = lib.context;
    told = server->feed.next;
    path_of("server.url", path);
    assert_int_equal(myr_file_read(path, 100, &text, &err) < 0, blocked);
    myr_buf_printf(&story, "  ready: %s, agents on %u; its folder says %s", url, port,
                   blocked ? "nothing\n" : text.data);
    put_manager();
}

static inline int serve(const char *what, const struct step *steps, uint32_t stop_after_s,
                        bool once)
{
    struct myr_err err = {};
    struct myr_serve_report report = {};
    struct myr_serve order = {.folder = folder,
                              .version = "trial",
                              .ready = on_ready,
                              .stop_after_s = stop_after_s,
                              .once = once,
                              .report = &report};
    char path[256];
    struct stat status;
    myr_buf_printf(&story, "serves: %s\n", what);
    next_step = steps;
    audited = 0;
    int rc = myr_serve(&order, &err);
    lines_put(&story);
    put_manager();
    myr_buf_printf(&story, "  ends: %s %s\n", rc < 0 ? myr_err_name(rc) : "done", err.message);
    if (err.hint[0]) {
        myr_buf_printf(&story, "  hint: %s\n", err.hint);
    }
    myr_buf_printf(&story, "  of %u nodes of %u GPUs %u are well\n", report.nodes,
                   report.gpus_per_node, report.healthy);
    path_of("server.url", path);
    assert_int_equal(stat(path, &status), blocked ? 0 : -1);
    path_of("audit.log", path);
    (void)unlink(path);
    server = NULL;
    return rc;
}

/* --- what is done meanwhile */

static inline void look(void)
{
    put_told();
    put_manager();
    ask("Bearer a", "GET", "/v1/cluster", "");
}
