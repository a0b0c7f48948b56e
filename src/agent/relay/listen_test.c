/* Where a relay is to listen: what is an address and what is none, before anything is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "leaks.h"
#include "myriad/agent/relay.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

/* The servers are looked at behind it: whoever comes to them has an address. */
static void is_taken(const char *listen, bool wanted)
{
    struct myr_err err = {};
    char says[300] = "--server 'nowhere': HOST:PORT is expected, or [ADDRESS]:PORT";
    struct myr_relay relay = {
        .folder = "/no/such/folder", .name = "r", .server = "nowhere", .listen = listen};
    if (!wanted) {
        snprintf(says, sizeof(says), "--listen '%.100s': HOST:PORT is expected, or [ADDRESS]:PORT",
                 listen);
    }
    assert_int_equal(myr_relay_run(&relay, &err), MYR_EINVAL);
    assert_string_equal(err.message, says);
    long before = myr_leaks_now(); /* what is done again takes no more memory */
    assert_int_equal(myr_relay_run(&relay, &err), MYR_EINVAL);
    assert_int_equal(myr_leaks_now(), before);
}

static void an_address_has_a_host_and_a_port(void **state)
{
    static const char *const good[] = {"127.0.0.1:0", "127.0.0.1:1", "h:65535",
                                       "[::1]:0",     "[::1]:4682",  "h:0",
                                       "h:10",        "a.b-c:80",    "[fe80::1]:80"};
    static const char *const bad[] = {
        "",       ":0",     "0",    ":",   "h",    "h:",  "h:-1",  "h:65536", "::1:0", "h:0x",
        "[::1]0", "[::1]:", "[]:0", "[:0", "h:00", ":00", "h:1:0", "h: 0",    "h:0 "};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        is_taken(good[i], true);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        is_taken(bad[i], false);
    }
}

static void hosts_have_an_end(void **state)
{
    static const size_t lengths[] = {255, 256, 286, 287, 288, 289, 400};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lengths); i++) {
        char text[420];
        memset(text, 'h', lengths[i]);
        snprintf(text + lengths[i], sizeof(text) - lengths[i], ":0");
        is_taken(text, i == 0);
        snprintf(text + lengths[i], sizeof(text) - lengths[i], ":12");
        is_taken(text, i == 0);
    }
    for (size_t len = 299; len <= 300; len++) { /* what is cut would be another port */
        char text[301];
        memset(text, '0', sizeof(text));
        memcpy(text, "h:", 2);
        text[len - 1] = '8';
        text[len] = '\0';
        is_taken(text, len == 299);
    }
}

/* Two with one folder would take each other's place: without a lock nothing is begun. */
static void what_lies_in_the_way_is_told(void **state)
{
    char folder[] = "/tmp/myr-listen-XXXXXX", lock[40], says[120];
    struct myr_relay relay = {
        .folder = folder, .name = "r", .server = "h:1", .listen = "127.0.0.1:0"};
    struct myr_err err = {};
    struct stat status;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(lock, sizeof(lock), "%s/lock", folder);
    assert_int_equal(mkdir(lock, 0700), 0);
    assert_int_equal(myr_relay_run(&relay, &err), MYR_ENOENT);
    snprintf(says, sizeof(says), "%s: cannot open: Is a directory", lock);
    assert_string_equal(err.message, says);
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(rmdir(lock), 0);
    assert_int_equal(symlink("other", lock), 0); /* nor is one followed */
    assert_int_equal(myr_relay_run(&relay, &err), MYR_EIO);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(rmdir(folder), 0);
    relay.folder = "/dev/null/folder";
    assert_int_equal(myr_relay_run(&relay, &err), MYR_ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_a_host_and_a_port),
        cmocka_unit_test(hosts_have_an_end),
        cmocka_unit_test(what_lies_in_the_way_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
