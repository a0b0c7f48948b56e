/*
 * What the doctor says of a relay's folder, finding by finding (tests/kept/agent-doctor.txt). The
 * clock and the limit of open files are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "disk/files.h"
#include "kept.h"
#include "leaks.h"
#include "myriad/agent/relay.h"
#include "myriad/io.h"

/* OpenSSL keeps its tables for the whole process. */
long myr_leaks_allowed = 10000;

enum { DAY_S = 86400 };

static char folder[] = "/tmp/myr-doctor-XXXXXX";
static time_t now_s = 1800000000; /* in January of 2027 */
static rlim_t files_max = 1048576;
static bool no_limit, no_folder;
static struct myr_buf story, certificate, key;

#define CALL __attribute__((visibility("default")))

CALL time_t time(time_t *ret)
{
    if (ret) {
        *ret = now_s;
    }
    return now_s;
}

CALL int getrlimit(__rlimit_resource_t which, struct rlimit *ret)
{
    if (which != RLIMIT_NOFILE) { /* a library's own question */
        return (int)syscall(SYS_prlimit64, 0, which, NULL, ret);
    }
    *ret = no_limit ? *ret : (struct rlimit){1024, files_max};
    return no_limit ? -1 : 0;
}

CALL int stat(const char *path, struct stat *ret)
{
    if (no_folder && strcmp(path, folder) == 0) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, 0);
}

static void put_file(const char *name, const char *text, mode_t mode)
{
    char path[200];
    struct myr_err err = {};
    assert_int_equal(file_put(folder, name, myr_str_from(text), &err), MYR_OK);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(chmod(path, mode), 0);
}

static void tell(const char *what)
{
    struct myr_relay_finding found[MYR_RELAY_FINDINGS_MAX];
    uint32_t count = myr_relay_doctor(folder, found);
    myr_buf_printf(&story, "%s: %u\n", what, count);
    for (uint32_t i = 0; i < count; i++) {
        static const char *const verdicts[] = {"well", "warning", "BAD"};
        const char *own = strstr(found[i].says, folder);
        myr_buf_printf(&story, "  %s %s: %.*s%s", verdicts[found[i].verdict], found[i].check,
                       own ? (int)(own - found[i].says) : 256, found[i].says, own ? "~" : "");
        myr_buf_printf(&story, "%s%s%s\n", own ? own + strlen(folder) : "",
                       found[i].hint[0] ? " -> " : "", found[i].hint);
    }
}

#define NOTE "name rack-1\nserver head:4681\nlisten 0.0.0.0:4682\n"

static void papers(void)
{
    static const struct {
        const char *what;
        int64_t left_s;
    } times[] = {
        {"thirty days", 30 * DAY_S},      {"a week", 7 * DAY_S},
        {"a second less", 7 * DAY_S - 1}, {"a day", DAY_S},
        {"less than a day", DAY_S - 1},   {"none", 0},
        {"out since a second", -1},       {"out since two days", -2 * DAY_S},
    };
    int64_t begin_s = now_s;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        now_s = begin_s + 30 * DAY_S - times[i].left_s;
        tell(times[i].what);
    }
    now_s = begin_s;
    put_file("ca.pem", "", 0600);
    tell("an authority that is empty");
    put_file("ca.pem", "no certificate\n", 0600);
    tell("an authority that is none");
    put_file("ca.pem", certificate.data, 0644); /* everybody may know it */
}

static void rights(void)
{
    static const mode_t modes[] = {0400, 0640, 0620, 0604, 0601};
    char path[200];
    char what[64];
    snprintf(path, sizeof(path), "%s/node.pem", folder);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(modes); i++) {
        snprintf(what, sizeof(what), "a key of mode %03o", modes[i]);
        assert_int_equal(chmod(path, modes[i]), 0);
        tell(what);
    }
    assert_int_equal(chmod(path, 0600), 0);
    static const mode_t folders[] = {0750, 0701};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(folders); i++) {
        snprintf(what, sizeof(what), "a folder of mode %03o", folders[i]);
        assert_int_equal(chmod(folder, folders[i]), 0);
        tell(what);
    }
    assert_int_equal(chmod(folder, 0700), 0);
    no_folder = true;
    tell("a folder that cannot be looked at");
    no_folder = false;
    assert_int_equal(unlink(path), 0);
    tell("no key");
    put_file("node.pem", certificate.data, 0600);
}

static void what_the_doctor_says(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(myr_io_ca_create("a test", 30, &certificate, &key, &err), MYR_OK);
    tell("nobody's folder");
    put_file("relay", NOTE, 0600);
    tell("only its note");
    put_file("ca.pem", certificate.data, 0644);
    put_file("node.pem", certificate.data, 0600);
    papers();
    rights();
    static const char *const notes[] = {"", "server a:1\nlisten b:2\n", "name n\nlisten b:2\n",
                                        "name n\nserver a:1\n", "name n\nserver a:1\nlisten b:2"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(notes); i++) {
        put_file("relay", notes[i], 0600);
        tell("a note that is cut");
    }
    put_file("relay", NOTE, 0600);
    static const rlim_t limits[] = {4096, 4095, 0};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(limits); i++) {
        files_max = limits[i];
        tell("open files");
    }
    no_limit = true;
    tell("a limit that is not told");
    assert_kept("agent-doctor.txt", &story);
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
    myr_buf_done(&story);
    myr_buf_done(&certificate);
    myr_buf_done(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_doctor_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
