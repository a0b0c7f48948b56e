/*
 * This program again: as a launcher, which goes on without who started it, and as a helper, which
 * does not. What such a process finds about itself is what is looked at.
 */
#include "launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_test.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

static bool no_fork, no_pipe, no_poll;

#define CALL __attribute__((visibility("default")))

CALL pid_t fork(void)
{
    static pid_t (*own)(void);
    own = own ? own : (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    errno = EAGAIN;
    return no_fork ? -1 : own();
}

CALL int pipe2(int pipes[2], int flags)
{
    errno = EMFILE;
    return no_pipe ? -1 : (int)syscall(SYS_pipe2, pipes, flags);
}

/* Who wants the error of before has to keep it. */
CALL int close(int fd)
{
    int rc = (int)syscall(SYS_close, fd);
    errno = rc == 0 ? EXFULL : errno;
    return rc;
}

CALL int uv_poll_init(uv_loop_t *loop, uv_poll_t *poll, int fd)
{
    static int (*own)(uv_loop_t *, uv_poll_t *, int);
    own = own ? own : (int (*)(uv_loop_t *, uv_poll_t *, int))dlsym(RTLD_NEXT, "uv_poll_init");
    return no_poll ? UV_ENOMEM : own(loop, poll, fd);
}

/* --- what was started */

static uint32_t open_files(void)
{
    uint32_t count = 0;
    for (int fd = 0; fd < 64; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

/* One line about the process that it is in. */
static void describe(int fd)
{
    sigset_t blocked;
    char input[64] = "";
    int dies = 0;
    uint32_t ignored = 0;
    struct sigaction action;
    for (int i = 1; i < NSIG; i++) {
        ignored += sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    prctl(PR_GET_PDEATHSIG, &dies);
    ssize_t got = readlink("/proc/self/fd/0", input, sizeof(input) - 1);
    dprintf(fd, "input %.*s, %s session, %u signals ignored, %sblocked, dies by %d\n",
            (int)(got > 0 ? got : 0), input, getsid(0) == getpid() ? "its own" : "another's",
            ignored, sigisemptyset(&blocked) ? "none " : "some ", dies);
}

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

/* As an agent is when it starts somebody: with handlers, a mask, and what it ignores. */
static void make_odd(bool odd)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigaddset(&mask, SIGRTMAX);
    sigprocmask(odd ? SIG_BLOCK : SIG_UNBLOCK, &mask, NULL);
    (void)signal(SIGHUP, odd ? SIG_IGN : SIG_DFL);
    (void)signal(SIGPIPE, odd ? SIG_IGN : SIG_DFL);
    (void)signal(SIGRTMAX, odd ? SIG_IGN : SIG_DFL);
}

static void a_helper_is_nothing_without_us(void **state)
{
    (void)state;
    static const char *const argv[] = {"myriad-agent", "describe", NULL};
    struct myr_err err = {};
    char text[300];
    int fd = -1;
    uint32_t files = open_files();
    make_odd(true);
    assert_int_equal(launch_self(argv, &fd, &err), MYR_OK);
    make_odd(false);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    read_all(fd, text, sizeof(text));
    assert_string_equal(text, "input /dev/null, another's session, 0 signals ignored, none "
                              "blocked, dies by 9\n");
    assert_true(wait(NULL) > 0);
    fd = -7;
    no_pipe = true;
    assert_int_equal(launch_self(argv, &fd, &err), MYR_EIO);
    assert_string_equal(err.message, "describe: no pipe: Too many open files");
    no_pipe = false;
    no_fork = true;
    assert_int_equal(launch_self(argv, &fd, &err), MYR_EIO);
    assert_string_equal(err.message, "describe: cannot start: Resource temporarily unavailable");
    no_fork = false;
    assert_int_equal(fd, -7);
    assert_int_equal(open_files(), files);
}

static void a_launcher_goes_on_alone(void **state)
{
    (void)state;
    struct myr_err err = {};
    pid_t pid = 0;
    uint32_t files = open_files();
    assert_int_equal(file_put(folder, "shim.log", MYR_STR("before\n"), &err), MYR_OK);
    int lock = launch_lock(folder);
    assert_true(lock >= 0);
    assert_int_equal(launch_lock(folder), -1);
    make_odd(true);
    assert_int_equal(launch_shim(folder, lock, &pid, &err), MYR_OK);
    make_odd(false);
    assert_int_equal(open_files(), files); /* the lock is the launcher's alone */
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(file_get(folder, "shim.log", &text, &err), MYR_OK);
    assert_string_equal(text.data, "before\nthe lock is held\ninput /dev/null, its own session, 0 "
                                   "signals ignored, none blocked, dies by 0\n");
    char path[AGENT_PATH_MAX];
    struct stat st;
    path_join(path, folder, "lock");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    no_fork = true;
    pid = -7;
    lock = launch_lock(folder);
    assert_true(lock >= 0);
    assert_int_equal(launch_shim(folder, lock, &pid, &err), MYR_EIO);
    assert_non_null(strstr(err.message, ": cannot start a launcher: Resource temporarily un"));
    no_fork = false;
    assert_int_equal(pid, -7);
    assert_int_equal(open_files(), files); /* and nobody has it now */
    assert_int_equal(launch_lock("/no/such/folder"), -1);
}

static void on_gone(void *context)
{
    ++*(uint32_t *)context;
}

static void the_end_of_a_process_is_heard_once(void **state)
{
    (void)state;
    uv_loop_t loop;
    uv_poll_t *poll = NULL;
    uint32_t count = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    uint32_t files = open_files();
    no_poll = true;
    launch_watch(&loop, pid, on_gone, &count, &poll);
    assert_null(poll);
    assert_int_equal(open_files(), files);
    no_poll = false;
    launch_watch(&loop, pid, on_gone, &count, &poll);
    assert_non_null(poll);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(count, 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    for (uint32_t i = 0; i < 20000 && count == 0; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(count, 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    launch_unwatch(&poll);
    assert_null(poll);
    launch_unwatch(&poll);
    assert_int_equal(open_files(), files);
    launch_watch(&loop, pid, on_gone, &count, &poll); /* it is gone */
    assert_null(poll);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* 107 bytes are the most that an address has room for. */
static void sockets_have_the_first_name_that_fits(void **state)
{
    (void)state;
    static const struct {
        uint32_t sockets, folder; /* lengths */
        char which;
    } all[] = {{5, 5, 's'},     {103, 5, 's'},   {104, 5, 'f'},  {200, 105, 'f'},
               {200, 106, 't'}, {900, 900, 't'}, {103, 900, 's'}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        char sockets[AGENT_PATH_MAX] = "", place[AGENT_PATH_MAX] = "", got[AGENT_PATH_MAX];
        char wanted[AGENT_PATH_MAX + 8];
        memset(sockets, 's', all[i].sockets);
        memset(place, 'f', all[i].folder);
        launch_socket(sockets, place, "tag", got);
        if (all[i].which == 't') {
            snprintf(wanted, sizeof(wanted), "/tmp/myriad-tag");
        } else {
            snprintf(wanted, sizeof(wanted), "%s/%s", all[i].which == 's' ? sockets : place,
                     all[i].which == 's' ? "tag" : "p");
        }
        assert_string_equal(got, wanted);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "describe") == 0) {
        describe(STDOUT_FILENO);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "shim") == 0) {
        dprintf(STDOUT_FILENO, "the lock is %s\n", launch_lock(argv[2]) < 0 ? "held" : "free");
        describe(STDERR_FILENO);
        _exit(5);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helper_is_nothing_without_us),
        cmocka_unit_test_setup_teardown(a_launcher_goes_on_alone, make_folder, remove_folder),
        cmocka_unit_test(the_end_of_a_process_is_heard_once),
        cmocka_unit_test(sockets_have_the_first_name_that_fits),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
