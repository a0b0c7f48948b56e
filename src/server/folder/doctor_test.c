/*
 * What the doctor says of a machine and a folder, in whole (tests/kept/server-doctor.txt): the
 * clock, the disk, limits, users and control groups are the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "mhd.h"
#include "myriad/server.h"
#include "myriad/server/folder.h"
#include "server.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

#define FOR_ALL __attribute__((visibility("default")))
#define YEAR_S  31556952LL

static struct {
    int64_t later_s; /* than it is */
    uint64_t free_mib, files;
    bool has_disk, limited;
    long cgroup, devices;
} machine;

FOR_ALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    int rc = (int)syscall(SYS_clock_gettime, which, ret);
    ret->tv_sec += which == CLOCK_REALTIME ? machine.later_s : 0;
    return rc;
}

FOR_ALL time_t time(time_t *ret)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}

FOR_ALL int statvfs(const char *path, struct statvfs *ret)
{
    (void)path;
    *ret = (struct statvfs){.f_bavail = machine.free_mib << 8, .f_frsize = 4096};
    errno = ENODEV;
    return machine.has_disk ? 0 : -1;
}

FOR_ALL int statfs(const char *path, struct statfs *ret)
{
    long type = strcmp(path, "/sys/fs/cgroup") == 0           ? machine.cgroup
                : strcmp(path, "/sys/fs/cgroup/devices") == 0 ? machine.devices
                                                              : -1;
    *ret = (struct statfs){.f_type = type};
    return type == -1 ? -1 : 0;
}

FOR_ALL int getrlimit(__rlimit_resource_t which, struct rlimit *ret)
{
    if (which != RLIMIT_NOFILE || !machine.limited) {
        return (int)syscall(SYS_getrlimit, which, ret);
    }
    *ret = (struct rlimit){.rlim_cur = 16, .rlim_max = machine.files};
    return 0;
}

FOR_ALL struct passwd *getpwnam(const char *name)
{
    static struct passwd ulla;
    return strcmp(name, "ulla") == 0 ? &ulla : NULL;
}

/* --- */

static char folder[] = "/tmp/myr-doctor-XXXXXX", paths[2][200];
static struct myr_buf story;

static const char *at(uint32_t which, const char *name)
{
    snprintf(paths[which], sizeof(paths[which]), "%s/%s", folder, name);
    return paths[which];
}

/* The folder's name differs every time. */
static void put(const char *text)
{
    for (size_t len = strlen(folder); *text;) {
        bool here = strncmp(text, folder, len) == 0;
        myr_buf_putc(&story, here ? '~' : *text);
        text += here ? len : 1;
    }
}

/* All findings, or those that are not ok. */
static void look(const char *what, const char *where, bool all)
{
    static struct myr_server_findings found;
    myr_buf_printf(&story, "%s\n", what);
    myr_server_doctor(where, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct myr_server_finding *item = &found.items[i];
        if (strcmp(item->check, "libraries") == 0) {
            assert_non_null(strstr(item->says, "SQLite 3."));
            assert_non_null(strstr(item->says, "libmicrohttpd "));
            assert_non_null(strstr(item->says, "libuv 1."));
            assert_string_equal(item->hint, "");
        } else if (all || item->verdict != MYR_VERDICT_OK) {
            myr_buf_printf(&story, "  %s %s: ", myr_verdict_names[item->verdict], item->check);
            put(item->says);
            if (item->hint[0]) {
                put("; ");
                put(item->hint);
            }
            put("\n");
        }
    }
}

static void healthy(void)
{
    machine.later_s = 3600; /* no day of a certificate ends while we look */
    machine.free_mib = 1024;
    machine.files = 260;
    machine.has_disk = machine.limited = true;
    machine.cgroup = CGROUP2_SUPER_MAGIC;
    machine.devices = -1;
}

static void put_text(const char *name, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_err err = {};
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(at(1, name), &bytes, &err), MYR_OK);
}

static void the_machine(void)
{
    static const int64_t years[] = {2024, 2025, 2100, 2101};
    healthy();
    look("a machine", NULL, true);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(years); i++) {
        machine.later_s = 0;
        machine.later_s = (years[i] - 1970) * YEAR_S + YEAR_S / 2 - time(NULL);
        look("another year", NULL, false);
    }
    healthy();
    machine.cgroup = CGROUP_SUPER_MAGIC;
    look("no cgroups", NULL, false);
    machine.devices = CGROUP_SUPER_MAGIC;
    look("the first version of them", NULL, true);
    machine.devices = CGROUP2_SUPER_MAGIC;
    look("none again", NULL, false);
}

static void the_folder(void)
{
    static const uint64_t mib[] = {1023, 100, 99};
    healthy();
    look("a folder", folder, true);
    machine.files = 259;
    look("too few files", folder, false);
    healthy();
    for (size_t i = 0; i < MYR_ARRAY_COUNT(mib); i++) {
        machine.free_mib = mib[i];
        look("a disk", folder, false);
    }
    machine.has_disk = false;
    look("no disk", folder, false);
    healthy();
    static const char *const names[] = {"ca-key.pem", "server-key.pem", "admin.token", "state.db",
                                        "ca.pem",     "server.pem",     "myriad.yaml"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(chmod(at(0, names[i]), 0604), 0);
        look(names[i], folder, false);
        assert_int_equal(chmod(at(0, names[i]), 0600), 0);
        assert_int_equal(rename(at(0, names[i]), at(1, "away")), 0);
        look("it is away", folder, false);
        assert_int_equal(rename(at(1, "away"), at(0, names[i])), 0);
    }
    assert_int_equal(chmod(folder, 0701), 0);
    look("others may enter", folder, false);
    assert_int_equal(chmod(folder, 0700), 0);
}

/* The server's ends after 825 days, the authority's after 3650. */
static void certificates(void)
{
    static const int64_t days[] = {794, 796, 824, 826, 3619, 3621, 3651};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(days); i++) {
        char what[40];
        healthy();
        machine.later_s = days[i] * 86400 - 3600;
        snprintf(what, sizeof(what), "after %lld days", (long long)days[i]);
        look(what, folder, false);
    }
    healthy();
}

static void ports(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(here);
    char text[400];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&here, len) == 0 && listen(fd, 1) == 0 &&
                getsockname(fd, (struct sockaddr *)&here, &len) == 0);
    MYR_CLEANUP(myr_buf_done) struct myr_buf kept = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(at(0, "myriad.yaml"), 1 << 16, &kept, &err), MYR_OK);
    uint16_t port = ntohs(here.sin_port);
    for (uint32_t i = 0; i < 2; i++) { /* taken, and free again */
        snprintf(text, sizeof(text),
                 "cluster: test\nworld: agents\nnodes: \"n[1-4]\"\ngpus_per_node: 8\n"
                 "nodes_per_leaf: 2\nhttp: \"127.0.0.1:%u\"\nagents: \"[::1]:0\"\npolicy: fair\n",
                 port);
        put_text("myriad.yaml", text);
        size_t before = story.len;
        look(i ? "a port that is free" : "a port that is taken", folder, i);
        char number[16];
        snprintf(number, sizeof(number), ":%u", port);
        char *found = strstr(story.data + before, number);
        assert_non_null(found); /* another one each time */
        memset(found + 1, '#', strlen(number) - 1);
        memmove(found + 2, found + strlen(number), strlen(found + strlen(number)) + 1);
        story.len -= strlen(number) - 2;
        if (i == 0) {
            close(fd);
        }
    }
    put_text("myriad.yaml", kept.data);
}

static void servers_and_stores(void)
{
    put_text("server.url", "http://127.0.0.1:1/\n");
    look("a server that is gone", folder, false);
    assert_int_equal(unlink(at(0, "server.url")), 0);
    put_text("myriad.yaml", "nonsense: 1\n");
    look("no configuration", folder, true);
    put_text("myriad.yaml",
             "cluster: test\nworld: twin\nnodes: \"n[1-4]\"\ngpus_per_node: 8\nnodes_per_leaf: 2\n"
             "http: \"127.0.0.1:0\"\nagents: \"127.0.0.1:0\"\npolicy: fair\n"
             "etcd:\n  endpoints: [\"http://127.0.0.1:1\"]\n");
    look("no etcd", folder, false);
    put_text("myriad.yaml",
             "cluster: test\nworld: twin\nnodes: \"n[1-4]\"\ngpus_per_node: 8\nnodes_per_leaf: 2\n"
             "http: \"127.0.0.1:0\"\nagents: \"127.0.0.1:0\"\npolicy: fair\n");
    look("a twin", folder, true);
    struct myr_err err = {};
    struct server *server = myr_xcalloc(1, sizeof(*server));
    server->folder = folder;
    assert_int_equal(store_open(at(0, "state.db"), &server->store, &err), MYR_OK);
    for (uint32_t i = 0; i < 10; i++) { /* eight of them are named */
        struct token_row token = {.role = ROLE_USER};
        snprintf(token.user, sizeof(token.user), "u%u", i);
        snprintf(token.digest, sizeof(token.digest), "%064u", i);
        snprintf(token.unix_user, sizeof(token.unix_user), i ? "nobody%u" : "ulla", i);
        rows_put_token(server, &token, false);
    }
    assert_int_equal(store_commit(server->store, &err), MYR_OK);
    store_close(server->store);
    rows_done(&server->rows);
    free(server);
    look("users that are not known", folder, false);
    put_text("state.db", "no store at all, no store at all, no store at all");
    look("no store", folder, false);
}

static void what_the_doctor_says(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_non_null(mkdtemp(folder));
    struct myr_server_init settings = {.folder = folder,
                                       .cluster = "test",
                                       .nodes = "gpu-[1-4]",
                                       .gpus_per_node = 8,
                                       .nodes_per_leaf = 2,
                                       .http = "127.0.0.1:0",
                                       .agents = "127.0.0.1:0",
                                       .unix_user = "ulla"};
    assert_int_equal(myr_server_init(&settings, &err), MYR_OK);
    the_machine();
    the_folder();
    certificates();
    ports();
    servers_and_stores();
    assert_kept("server-doctor.txt", &story);
    myr_buf_done(&story);
    static const char *const names[] = {"ca-key.pem", "server-key.pem", "admin.token", "state.db",
                                        "ca.pem",     "server.pem",     "myriad.yaml"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(unlink(at(0, names[i])), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_doctor_says),
    };
    /* What a library keeps that is loaded, and is never let go. */
    struct myr_err err = {};
    long before = myr_leaks_now();
    int loaded = mhd_load(&err);
    myr_leaks_allowed += loaded == MYR_OK ? myr_leaks_now() - before : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
