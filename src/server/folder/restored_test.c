/*
 * A folder that was copied and put back is the folder that it was: every file byte by byte,
 * readable by the owner alone, every key of the store with its value, and counted as what it is. In
 * etcd too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>

#include "given_back_test.h"
#include "leaks.h"
#include "myriad/server.h"
#include "myriad/server/folder.h"
#include "server_test.h"
#include "store/played_etcd_test.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

enum { KEYS = 300, LARGE = (600 << 10) + 7 }; /* more than is read at a time */

static char folder[] = "/tmp/myriad-restored-XXXXXX", asked[64], paths[4][200];
static uint16_t port;
static pid_t process;
static const char *const names[] = {"myriad.yaml",    "ca.pem",      "ca-key.pem", "server.pem",
                                    "server-key.pem", "admin.token", "audit.log"};

static const char *at(uint32_t which, const char *name)
{
    snprintf(paths[which], sizeof(paths[which]), "%s/%s", folder, name);
    return paths[which];
}

static void get_file(const char *in, const char *name, struct myr_buf *ret)
{
    char path[80];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", in, name);
    assert_int_equal(myr_file_read(at(3, path), 8 << 20, ret, &err), MYR_OK);
}

/* Values of any bytes, some of them empty. */
static void put_keys(struct store *store)
{
    struct myr_rng rng;
    struct myr_err err = {};
    myr_rng_init(&rng, 61, 1);
    for (uint32_t i = 0; i < KEYS; i++) {
        char key[32], value[64];
        size_t len = myr_rng_below(&rng, 60);
        for (size_t k = 0; k < len; k++) {
            value[k] = (char)myr_rng_below(&rng, 256);
        }
        snprintf(key, sizeof(key), "x/%05u", i);
        store_put(store, key, (struct myr_str){value, len});
    }
    assert_int_equal(store_commit(store, &err), MYR_OK);
}

static int hash_key(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    uint64_t *hash = context;
    (void)err;
    *hash = myr_hash_u64(*hash ^ myr_hash_bytes(key, strlen(key)));
    *hash = myr_hash_u64(*hash ^ myr_hash_bytes(value.data, value.len) ^ value.len);
    return MYR_OK;
}

static uint64_t hash_of(struct store *store)
{
    uint64_t hash = 1;
    struct myr_err err = {};
    assert_int_equal(store_scan(store, "", hash_key, &hash, &err), MYR_OK);
    return hash;
}

/* 'etcd' NULL: the store is a file. */
static void makes(const char *name, const char *etcd)
{
    struct myr_err err = {};
    char path[80];
    const struct myr_server_init init = {.folder = at(0, name),
                                         .cluster = "trial",
                                         .nodes = "n[0-1]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:0",
                                         .agents = "127.0.0.1:0",
                                         .etcd = etcd};
    if (myr_server_init(&init, &err) < 0) {
        fail_msg("%s", err.message);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf audits = {};
    for (uint32_t i = 0; i < LARGE; i++) {
        myr_buf_putc(&audits, (char)(i * 7 + i / 251));
    }
    snprintf(path, sizeof(path), "%s/audit.log", name);
    assert_int_equal(myr_file_write(at(1, path), &audits, &err), MYR_OK);
}

/* All files but the store are alike; what is returned is how many bytes they have. */
static uint64_t same_files(const char *one, const char *other)
{
    uint64_t bytes = 0;
    struct stat status;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf a = {}, b = {};
        char path[80];
        get_file(one, names[i], &a);
        get_file(other, names[i], &b);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, a.len);
        snprintf(path, sizeof(path), "%s/%s", other, names[i]);
        assert_int_equal(stat(at(3, path), &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        bytes += a.len;
    }
    assert_int_equal(stat(at(3, other), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    return bytes;
}

static uint64_t size_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(at(3, name), &status), 0);
    return (uint64_t)status.st_size;
}

static void a_file_is_put_back_as_it_was(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_server_copied done;
    struct store *store;
    makes("one", NULL);
    assert_int_equal(store_open(at(0, "one/state.db"), &store, &err), MYR_OK);
    put_keys(store);
    uint64_t hash = hash_of(store);
    store_close(store);
    assert_int_equal(chmod(at(0, "one/ca.pem"), 0644), 0); /* the copy is stricter than that */
    assert_int_equal(mkdir(at(0, "two"), 0755), 0);        /* a folder that is there, and empty */
    struct myr_server_copy copy = {at(0, "one"), at(1, "two"), NULL};
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_OK);
    assert_false(done.live);
    assert_int_equal(done.files, 8);
    assert_int_equal(done.keys, KEYS + 1); /* and the administrator's token */
    assert_int_equal(done.bytes, same_files("one", "two") + size_of("two/state.db"));
    copy = (struct myr_server_copy){at(0, "two"), at(1, "three"), NULL};
    assert_int_equal(myr_server_restore(&copy, &done, &err), MYR_OK);
    assert_false(done.live);
    assert_int_equal(done.files, 8);
    assert_int_equal(done.keys, KEYS + 1);
    assert_int_equal(done.bytes, same_files("one", "three") + size_of("three/state.db"));
    assert_int_equal(store_open(at(0, "three/state.db"), &store, &err), MYR_OK);
    assert_true(hash_of(store) == hash);
    store_close(store);
}

static bool nobody_waits(void *context, const char *leader, const char *why)
{
    (void)context, (void)leader, (void)why;
    return false;
}

static struct store *leads(const char *prefix)
{
    struct myr_err err = {};
    struct store *store = NULL;
    struct etcd_config config = {.count = 1, .ttl_s = 3};
    snprintf(config.prefix, sizeof(config.prefix), "%s", prefix);
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u", port);
    if (store_stand_by(&config, "test", nobody_waits, NULL, &store, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return store;
}

/* The copy names another prefix before it is put back: both states stand side by side. */
static void a_state_in_etcd_is_put_back_as_it_was(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_server_copied done;
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
    makes("four", url);
    struct store *store = leads("/myriad/trial/");
    put_keys(store);
    uint64_t hash = hash_of(store);
    store_close(store);
    struct myr_server_copy copy = {at(0, "four"), at(1, "five"), NULL};
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_OK);
    assert_int_equal(done.files, 8);
    assert_int_equal(done.keys, KEYS + 1);
    assert_int_equal(done.bytes, same_files("four", "five") + size_of("five/state.db"));
    assert_int_equal(store_open(at(0, "five/state.db"), &store, &err), MYR_OK);
    assert_true(hash_of(store) == hash);
    store_close(store);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    get_file("five", "myriad.yaml", &text);
    myr_buf_puts(&text, "  prefix: /elsewhere\n"); /* 'etcd' is the last of its keys */
    assert_int_equal(myr_file_write(at(0, "five/myriad.yaml"), &text, &err), MYR_OK);
    copy = (struct myr_server_copy){at(0, "five"), at(1, "six"), NULL};
    if (myr_server_restore(&copy, &done, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(done.keys, KEYS + 1);
    (void)same_files("five", "six");
    store = leads("/elsewhere/");
    assert_true(hash_of(store) == hash);
    store_close(store);
    store = leads("/myriad/trial/");
    assert_true(hash_of(store) == hash);
    store_close(store);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    log_mute(true);
    assert_non_null(mkdtemp(folder));
    snprintf(asked, sizeof(asked), "%s/asked", folder);
    process = played_etcd_start(asked, &port);
    return 0;
}

static int end(void **state)
{
    int status;
    (void)state;
    assert_int_equal(kill(process, SIGTERM), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_put_back_as_it_was),
        cmocka_unit_test(a_state_in_etcd_is_put_back_as_it_was),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
