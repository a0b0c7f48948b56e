/*
 * What the process that watches the driver says, and what is kept of it until somebody hears it.
 * The watcher is this program itself, called as the agent calls it.
 */
#include "symptoms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "disk/files.h"

enum { PATIENCE = 20000 };

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static bool no_poll; /* the loop takes no more */

__attribute__((visibility("default"))) int uv_poll_init(uv_loop_t *loop, uv_poll_t *poll, int fd)
{
    static int (*own)(uv_loop_t *, uv_poll_t *, int);
    own = own ? own : (int (*)(uv_loop_t *, uv_poll_t *, int))dlsym(RTLD_NEXT, "uv_poll_init");
    return no_poll ? UV_ENOMEM : own(loop, poll, fd);
}

static uint32_t open_files(void)
{
    uint32_t count = 0;
    for (int fd = 0; fd < 64; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static int watch(void)
{
    static const char text[] = "xid 3 79\nxid 3 79\nnothing\nxid 4 79\nxid 1024 4294967295\n"
                               "xid 1025 1\nxid 1 4294967296\nxid x 1\nxid 1 x\nxid 1\n"
                               "xid 0 13 \nxid 0 13\n";
    char line[400];
    if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) {
        return 3;
    }
    memset(line, 'x', sizeof(line)); /* longer than any that is meant */
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < 3; i++) {
        if (write(STDOUT_FILENO, line, sizeof(line)) < 0) {
            return 3;
        }
    }
    /* Whose beginning would be understood, with other digits behind it. */
    memset(line, '0', sizeof(line));
    memcpy(line, "xid 9 ", 6);
    line[62] = '7';
    line[sizeof(line) - 1] = '\n';
    if (write(STDOUT_FILENO, line, sizeof(line)) < 0) {
        return 3;
    }
    for (int gpu = 0; gpu < 2 * SYMPTOMS_MAX; gpu++) {
        int len = snprintf(line, sizeof(line), "xid %d 48\n", gpu);
        if (write(STDOUT_FILENO, line, (size_t)len) < 0) {
            return 3;
        }
    }
    /* A line without its end counts for nothing. */
    return write(STDOUT_FILENO, "xid 3 79", 8) < 0 ? 3 : 0;
}

static void until_ended(struct symptoms *symptoms, uv_loop_t *loop)
{
    for (int i = 0; i < PATIENCE && symptoms->watcher; i++) {
        (void)uv_run(loop, UV_RUN_NOWAIT);
        usleep(200);
    }
    assert_null(symptoms->watcher);
}

static void is_kept(const struct symptoms *symptoms, uint32_t at, uint32_t gpu, uint32_t xid,
                    uint64_t count)
{
    assert_int_equal(symptoms->waiting[at].gpu, gpu);
    assert_int_equal(symptoms->waiting[at].xid, xid);
    assert_int_equal(symptoms->waiting[at].count, count);
}

static void what_the_driver_says(void **state)
{
    (void)state;
    struct session deaf = {};
    uv_loop_t loop;
    struct symptoms symptoms = {.session = &deaf, .loop = &loop};
    assert_int_equal(uv_loop_init(&loop), 0);
    uint32_t files = open_files();
    no_poll = true;
    symptoms_look(&symptoms);
    assert_null(symptoms.watcher);
    assert_int_equal(open_files(), files);
    no_poll = false;
    symptoms_look(&symptoms); /* none runs: one is started */
    assert_non_null(symptoms.watcher);
    symptoms_look(&symptoms); /* one runs */
    until_ended(&symptoms, &loop);
    assert_int_equal(symptoms.count, SYMPTOMS_MAX);
    is_kept(&symptoms, 0, 3, 79, 2);
    is_kept(&symptoms, 1, 4, 79, 1);
    is_kept(&symptoms, 2, 1024, UINT32_MAX, 1);
    is_kept(&symptoms, 3, 0, 13, 1);
    for (uint32_t i = 4; i < SYMPTOMS_MAX; i++) {
        is_kept(&symptoms, i, i - 4, 48, 1);
    }
    symptoms_tell(&symptoms); /* nobody hears it: all are kept */
    assert_int_equal(symptoms.count, SYMPTOMS_MAX);
    is_kept(&symptoms, 0, 3, 79, 2);
    /* Not at once again. */
    clock_ns += 60LL * 1000000000 - 1;
    symptoms_look(&symptoms);
    assert_null(symptoms.watcher);
    clock_ns += 1;
    symptoms_look(&symptoms);
    assert_non_null(symptoms.watcher);
    until_ended(&symptoms, &loop);
    is_kept(&symptoms, 0, 3, 79, 4); /* counted on */
    is_kept(&symptoms, 4, 0, 48, 2);
    assert_int_equal(symptoms.count, SYMPTOMS_MAX);
    symptoms.loop = NULL; /* where nobody is to watch */
    clock_ns += 61LL * 1000000000;
    symptoms_look(&symptoms);
    assert_null(symptoms.watcher);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "watch") == 0) {
        _exit(watch()); /* what it leaves is not counted */
    }
    signal(SIGCHLD, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_driver_says),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
