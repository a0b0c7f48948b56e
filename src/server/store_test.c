/* Keys and values that are not lost: on real files, full and damaged ones too. */
#include "given_back_test.h"
#include "leaks.h"
#include "store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

long myr_leaks_allowed = 0;

static char folder[64], path[96];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/myriad-store-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state.db", folder);
    return 0;
}

static int end(void **state)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal", ".copy"};
    char name[128];
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tails); i++) {
        snprintf(name, sizeof(name), "%s%s", path, tails[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static struct store *opened(void)
{
    struct store *store = NULL;
    struct myr_err err = {};
    if (store_open(path, &store, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return store;
}

static void commit(struct store *store)
{
    struct myr_err err = {};
    if (store_commit(store, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static int list(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "%s=%.*s ", key, (int)value.len, value.data);
    return MYR_OK;
}

static void holds(struct store *store, const char *prefix, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(store_scan(store, prefix, list, &text, &err), MYR_OK);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void what_is_committed_is_there_after_a_restart(void **state)
{
    (void)state;
    struct store *store = opened();
    store_put(store, "b/2", MYR_STR("two"));
    store_put(store, "b/1", MYR_STR("one"));
    store_put(store, "c", MYR_STR(""));
    holds(store, "", ""); /* what waits is not seen */
    commit(store);
    holds(store, "b/", "b/1=one b/2=two ");
    holds(store, "", "b/1=one b/2=two c= ");
    store_put(store, "b/1", MYR_STR("other"));
    store_put(store, "lost", MYR_STR("never committed"));
    store_delete(store, "c");
    store_delete(store, "never there");
    store_close(store);
    store = opened();
    holds(store, "", "b/1=one b/2=two c= ");
    store_close(store);
}

static void changes_are_made_in_their_order(void **state)
{
    (void)state;
    struct store *store = opened();
    store_put(store, "j/1", MYR_STR("a"));
    store_put(store, "j/2", MYR_STR("b"));
    store_delete_range(store, "j/", "j0");
    store_put(store, "j/3", MYR_STR("c"));
    store_put(store, "j0", MYR_STR("kept"));
    commit(store);
    holds(store, "j", "j/3=c j0=kept ");
    store_delete_range(store, "j/3", "j/4");
    store_delete(store, "j0");
    commit(store);
    commit(store); /* of nothing */
    holds(store, "", "");
    store_close(store);
}

static void a_value_is_any_bytes(void **state)
{
    (void)state;
    static char large[300000];
    struct myr_err err = {};
    memset(large, '\xff', sizeof(large));
    struct store *store = opened();
    store_put(store, "zero", (struct myr_str){"a\0b", 3});
    store_put(store, "large", (struct myr_str){large, sizeof(large)});
    commit(store);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(store_scan(store, "large", list, &text, &err), MYR_OK);
    assert_int_equal(text.len, strlen("large= ") + sizeof(large));
    store_close(store);
}

static int refuse(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)value;
    ++*(int *)context;
    return myr_err_set(err, MYR_ECORRUPT, "%s is not liked", key);
}

static void a_scan_ends_at_what_is_refused(void **state)
{
    (void)state;
    struct myr_err err = {};
    int seen = 0;
    struct store *store = opened();
    store_put(store, "a", MYR_STR("1"));
    store_put(store, "b", MYR_STR("2"));
    commit(store);
    assert_int_equal(store_scan(store, "", refuse, &seen, &err), MYR_ECORRUPT);
    assert_int_equal(seen, 1);
    assert_string_equal(err.message, "a is not liked");
    holds(store, "", "a=1 b=2 "); /* and the next one begins anew */
    store_close(store);
}

/* Files that may not grow are a full disk without one. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_commit_that_fails_keeps_everything_for_the_next(void **state)
{
    (void)state;
    static char large[1 << 20];
    struct myr_err err = {};
    struct store *store = opened();
    store_put(store, "before", MYR_STR("1"));
    commit(store);
    signal(SIGXFSZ, SIG_IGN);
    memset(large, 'x', sizeof(large));
    store_put(store, "large", (struct myr_str){large, sizeof(large)});
    store_delete(store, "before");
    limit_files(64 << 10);
    for (int i = 0; i < 3; i++) {
        assert_true(store_commit(store, &err) < 0);
        assert_non_null(strstr(err.message, "writing"));
        holds(store, "", "before=1 "); /* reading goes on, and nothing was half done */
        store_put(store, i == 1 ? "later/1" : "later/0", MYR_STR("more"));
    }
    limit_files(RLIM_INFINITY);
    commit(store);
    holds(store, "later", "later/0=more later/1=more ");
    holds(store, "before", "");
    store_close(store);
    store = opened();
    holds(store, "later", "later/0=more later/1=more ");
    store_close(store);
}

static void run_sql(const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refused(int code, const char *words)
{
    struct store *store = NULL;
    struct myr_err err = {};
    assert_int_equal(store_open(path, &store, &err), code);
    if (!strstr(err.message, words) && !strstr(err.hint, words)) {
        fail_msg("'%s' is not in: %s", words, err.message);
    }
    assert_non_null(strstr(err.message, path));
}

static void a_store_of_another_version_is_left_alone(void **state)
{
    (void)state;
    struct store *store = opened();
    store_put(store, "kept", MYR_STR("1"));
    commit(store);
    store_close(store);
    run_sql("PRAGMA user_version=7");
    refused(MYR_EVERSION, "version 7; this program reads version 1");
    run_sql("PRAGMA user_version=1");
    store = opened();
    holds(store, "", "kept=1 ");
    store_close(store);
}

static void two_servers_do_not_share_one(void **state)
{
    (void)state;
    struct store *store = opened();
    store_put(store, "a", MYR_STR("1"));
    commit(store);
    refused(MYR_EIO, "another server has it open");
    store_put(store, "b", MYR_STR("2"));
    commit(store);
    holds(store, "", "a=1 b=2 ");
    store_close(store);
}

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void a_damaged_file_is_told_in_one_line(void **state)
{
    (void)state;
    static char zeros[20000];
    write_file("this is no store, whatever its name says it is.................", 63);
    refused(MYR_ECORRUPT, "not a database");
    unlink(path);
    struct store *store = opened();
    for (char key[] = "a"; key[0] <= 'z'; key[0]++) {
        store_put(store, key, (struct myr_str){zeros, 2000});
    }
    commit(store);
    store_close(store);
    /* Its first page is whole, those behind it are not. */
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    memset(zeros, '\xa5', sizeof(zeros));
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 4096), sizeof(zeros));
    close(fd);
    struct myr_err err = {};
    int rc = store_open(path, &store, &err);
    if (rc == MYR_OK) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        rc = store_scan(store, "", list, &text, &err);
        store_close(store);
    }
    assert_int_equal(rc, MYR_ECORRUPT);
    assert_null(strchr(err.message, '\n'));
}

static void a_copy_has_what_was_committed(void **state)
{
    (void)state;
    char to[112];
    struct myr_err err = {};
    struct store_copy *copy;
    snprintf(to, sizeof(to), "%s.copy", path);
    struct store *store = opened();
    store_put(store, "a", MYR_STR("1"));
    commit(store);
    store_put(store, "b", MYR_STR("waits"));
    assert_int_equal(store_copy_begin(store, to, &copy, &err), MYR_OK);
    int rc;
    while ((rc = store_copy_step(copy, 1, &err)) == 1) {
    }
    assert_int_equal(rc, 0);
    store_copy_end(copy);
    store_close(store);
    assert_int_equal(rename(to, path), 0);
    store = opened();
    holds(store, "", "a=1 ");
    store_close(store);
}

static void a_copy_that_cannot_be_made(void **state)
{
    (void)state;
    char to[112], words[200];
    struct myr_err err = {};
    struct store_copy *copy = NULL;
    snprintf(to, sizeof(to), "%s/none/copy", folder);
    struct store *store = opened();
    assert_int_equal(store_copy_begin(store, to, &copy, &err), MYR_EIO);
    assert_null(copy);
    snprintf(words, sizeof(words), "%s: copying the store: unable to open database file", to);
    assert_string_equal(err.message, words);
    /* A file is led by nobody, and is never called empty. */
    assert_int_equal(store_keep(store, &err), MYR_OK);
    assert_false(store_is_empty(store));
    store_close(store);
    store_close(NULL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(what_is_committed_is_there_after_a_restart),
        TEST(changes_are_made_in_their_order),
        TEST(a_value_is_any_bytes),
        TEST(a_scan_ends_at_what_is_refused),
        TEST(a_commit_that_fails_keeps_everything_for_the_next),
        TEST(a_store_of_another_version_is_left_alone),
        TEST(two_servers_do_not_share_one),
        TEST(a_damaged_file_is_told_in_one_line),
        TEST(a_copy_has_what_was_committed),
        TEST(a_copy_that_cannot_be_made),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
