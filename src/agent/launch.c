/*
 * launch: our own program again, as a launcher or as a helper whose output is read. The copy that
 * runs is executed, so that a package that is replaced meanwhile changes nothing until a restart.
 */
#include "launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Whom to call when the process behind a pidfd has ended. */
struct watch {
    void (*gone)(void *context);
    void *context;
    int fd;
};

/* Given back by the kernel with the last process that holds it, which makes it proof of life. */
int launch_lock(const char *folder)
{
    char path[AGENT_PATH_MAX];
    path_join(path, folder, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Between fork and exec. The program as it was when we were started, whatever lies there now. */
static MYR_NORETURN void become_self(const char *const *argv)
{
    sigset_t none;
    sigemptyset(&none);
    /* Handlers and what is ignored are the agent's; the new program begins as from a shell. */
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

/*
 * Takes the lock in any case. What the launcher says goes to a file of its folder: it outlives the
 * agent, and the agent's own output.
 */
int launch_shim(const char *folder, int lock, pid_t *ret, struct myr_err *err)
{
    char log[AGENT_PATH_MAX];
    const char *const argv[] = {"myriad-agent", "shim", folder, NULL};
    MYR_ASSERT(lock >= 0); /* a launcher without it would look dead */
    path_join(log, folder, "shim.log");
    deadly_point();
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY);
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        /* In a session of its own: signals of the agent's terminal do not reach it. */
        setsid();
        /* The lock goes on through exec: everything else is closed by it. */
        if (null < 0 || out < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
            fcntl(lock, F_SETFD, 0) < 0) {
            _exit(127);
        }
        become_self(argv);
    }
    int rc = pid < 0 ? myr_err_errno(err, "cannot start a launcher", folder) : MYR_OK;
    /* The launcher alone holds it now: its end is seen by everybody. */
    close(lock);
    MYR_TRY(rc);
    deadly_point();
    *ret = pid;
    return MYR_OK;
}

/* Its end is that of the pipe; the caller does not wait for it, on_child() of agent.c does. */
int launch_self(const char *const *argv, int *ret_pipe, struct myr_err *err)
{
    int pipes[2];
    MYR_ASSERT(argv[0] && argv[1]); /* the second word says what we are then */
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        return myr_err_errno(err, "no pipe", argv[1]);
    }
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY);
        if (null < 0 || dup2(null, 0) < 0 || dup2(pipes[1], 1) < 0) {
            _exit(127);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it is nothing without us */
        become_self(argv);
    }
    /* Said before close(), which has errors of its own. */
    int rc = pid < 0 ? myr_err_errno(err, "cannot start", argv[1]) : MYR_OK;
    close(pipes[1]);
    if (rc < 0) {
        close(pipes[0]);
        return rc;
    }
    *ret_pipe = pipes[0];
    return MYR_OK;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
    free(handle);
}

/* Twice is harmless; the memory goes when the loop has let go of the handle. */
void launch_unwatch(uv_poll_t **poll)
{
    if (*poll) {
        struct watch *watch = (*poll)->data;
        MYR_ASSERT(watch && watch->fd >= 0);
        uv_poll_stop(*poll);
        close(watch->fd);
        uv_close((uv_handle_t *)*poll, on_closed);
        *poll = NULL;
    }
}

static void on_gone(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    void (*gone)(void *context) = watch->gone;
    MYR_ASSERT(gone && watch->fd >= 0);
    (void)status;
    (void)events;
    uv_poll_stop(poll); /* it stays readable for ever */
    gone(watch->context);
}

/* Of any process, not only of children: a launcher of an agent before us is none. */
void launch_watch(uv_loop_t *loop, pid_t pid, void (*gone)(void *context), void *context,
                  uv_poll_t **ret)
{
    MYR_ASSERT(pid > 0 && gone);
    MYR_ASSERT(!*ret); /* nobody is watched twice: the older one would call for ever */
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        return; /* gone already: seen with the next look */
    }
    struct watch *watch = myr_xcalloc(1, sizeof(*watch));
    uv_poll_t *poll = myr_xcalloc(1, sizeof(*poll));
    *watch = (struct watch){gone, context, fd};
    poll->data = watch;
    if (uv_poll_init(loop, poll, fd) < 0) {
        close(fd);
        free(watch);
        free(poll);
        return;
    }
    uv_poll_start(poll, UV_READABLE, on_gone);
    *ret = poll;
}

/* The first of three names that fits: addresses of Unix sockets have about a hundred bytes. */
void launch_socket(const char *sockets, const char *folder, const char *tag,
                   char ret[AGENT_PATH_MAX])
{
    struct sockaddr_un limit;
    int len = snprintf(ret, AGENT_PATH_MAX, "%s/%s", sockets, tag);
    if (len < (int)sizeof(limit.sun_path)) {
        return;
    }
    len = snprintf(ret, AGENT_PATH_MAX, "%s/p", folder);
    if (len >= (int)sizeof(limit.sun_path)) {
        len = snprintf(ret, AGENT_PATH_MAX, "/tmp/myriad-%s", tag);
        MYR_ASSERT(len < (int)sizeof(limit.sun_path)); /* a tag is short */
    }
}
