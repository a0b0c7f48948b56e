/* Lines for people, and who did what: whole lines, one each, and no more of them than are kept. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "leaks.h"
#include "server.h"

/* The C library keeps the time zone for the whole process. */
long myr_leaks_allowed = 3;

static char folder[64];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/myriad-log-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int end(void **state)
{
    static const char *const names[] = {"audit.log", "audit.log.1", "stderr"};
    char name[128];
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static void read_whole(const char *name, struct myr_buf *ret)
{
    char path[128];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (myr_file_read(path, 64 << 20, ret, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

/* "2026-11-17T02:30:00.123Z", and not long ago or in the future. */
static void is_now(const char *text)
{
    struct tm parts = {};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    assert_non_null(rest);
    assert_int_equal(rest - text, 19);
    assert_true(rest[0] == '.' && strspn(rest + 1, "0123456789") == 3 && rest[4] == 'Z');
    long long ms = timegm(&parts) * 1000LL + strtoll(rest + 1, NULL, 10);
    assert_true(ms <= wall_ms() && ms > wall_ms() - 60000);
}

/* What 'level' and 'text' put on stderr, behind the moment of 'at' bytes before it. */
static void says(const char *level, const char *text, size_t at, const char *expected)
{
    char path[128];
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    snprintf(path, sizeof(path), "%s/stderr", folder);
    int kept = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    log_say(level, "%s", text);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(fd);
    read_whole("stderr", &said);
    if (!expected) {
        assert_int_equal(said.len, 0);
        return;
    }
    assert_true(said.len > at + 24);
    is_now(said.data + at);
    assert_string_equal(said.data + at + 24, expected);
}

static void lines_are_whole(void **state)
{
    (void)state;
    char long_text[1100], expected[1100];
    log_open(folder, false);
    says("info", "ready", 0, " info ready\n");
    says("warning", "~ !", 0, " warning ~ !\n");
    /* What would steer a terminal, or look like a line of its own, is written as JSON writes it. */
    says("info", "a\nb", 0, " info \"a\\nb\"\n");
    says("info", "\x1f", 0, " info \"\\u001f\"\n");
    says("info", "\x7f", 0, " info \"\\u007f\"\n");
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    snprintf(expected, sizeof(expected), " info %.1023s\n", long_text);
    says("info", long_text, 0, expected);
    log_quiet(true);
    says("info", "ready", 0, NULL);
    says("error", "gone", 0, " error gone\n");
    log_quiet(false);
    log_close();
    log_open(folder, true);
    says("info", "a \"b\"", 9, "\",\"level\":\"info\",\"message\":\"a \\\"b\\\"\"}\n");
    log_close();
    log_open(folder, false);
    log_close();
}

static void who_did_what(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[128];
    struct stat status;
    audit("nobody", "before it is open", "nothing");
    log_open(folder, false);
    audit("ulla", "POST /v1/jobs", "a \"b\"");
    log_close();
    audit("nobody", "after it", "nothing");
    log_open(folder, false); /* goes on where it was */
    audit("olga", "x", "done");
    log_close();
    read_whole("audit.log", &text);
    snprintf(path, sizeof(path), "%s/audit.log", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char *second = strchr(text.data, '\n') + 1;
    assert_memory_equal(text.data, "{\"time\":\"", 9);
    is_now(text.data + 9);
    is_now(second + 9);
    assert_string_equal(second + 33, "\",\"who\":\"olga\",\"what\":\"x\",\"outcome\":\"done\"}\n");
    second[-1] = '\0';
    assert_string_equal(text.data + 33, "\",\"who\":\"ulla\",\"what\":\"POST /v1/jobs\","
                                        "\"outcome\":\"a \\\"b\\\"\"}");
}

/* 16 MiB are kept, and as many before them: no more, whatever comes. */
static void an_audit_that_is_full_begins_anew(void **state)
{
    (void)state;
    enum { FULL = 16 << 20 };
    char path[128];
    struct stat status;
    snprintf(path, sizeof(path), "%s/audit.log", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && ftruncate(fd, FULL) == 0 && close(fd) == 0);
    log_open(folder, false);
    audit("a", "b", "c"); /* full to the brim is not above it */
    assert_int_equal(stat(path, &status), 0);
    off_t line = status.st_size - FULL;
    assert_true(line > 0 && line < 100);
    audit("a", "b", "c");
    log_close();
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, line);
    snprintf(path, sizeof(path), "%s/audit.log.1", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, FULL + line);
}

static void clocks(void **state)
{
    (void)state;
    struct server *server = myr_xcalloc(1, sizeof(*server));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    assert_true(wall_ms() >= ms && wall_ms() < ms + 60000);
    assert_true(core_ms(server) >= ms && core_ms(server) < ms + 60000);
    server->config.twin = true;
    server->config.speed = 100;
    server->clock_base_ms = 5000;
    server->clock_since_ms = steady_ms() - 1000000; /* 1000 s of ours */
    server->clock_most_ms = INT64_MAX;
    int64_t there = core_ms(server);
    assert_true(there >= 5000 + 100000000 && there < 5000 + 100000000 + 6000000);
    server->clock_most_ms = 7000; /* its world has not been further */
    assert_int_equal(core_ms(server), 7000);
    assert_true(twin_wanted_ms(server) >= there);
    free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_whole, begin, end),
        cmocka_unit_test_setup_teardown(who_did_what, begin, end),
        cmocka_unit_test_setup_teardown(an_audit_that_is_full_begins_anew, begin, end),
        cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
