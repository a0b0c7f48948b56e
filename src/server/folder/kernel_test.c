/*
 * What making, copying and finding a server's folder asks of the kernel, call by call, and what
 * becomes of it when each of the calls is refused (tests/kept/server-kernel.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "kept.h"
#include "kernel.h"
#include "leaks.h"
#include "myriad/server.h"
#include "myriad/server/folder.h"
#include "server.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static char paths[3][200];

static const char *at(uint32_t which, const char *name)
{
    snprintf(paths[which], sizeof(paths[which]), "%s/%s", kernel.root, name);
    return paths[which];
}

static void put_text(const char *name, const char *text)
{
    FILE *file = fopen(at(2, name), "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static struct myr_server_init wanted(const char *folder)
{
    return (struct myr_server_init){.folder = folder,
                                    .cluster = "test",
                                    .nodes = "gpu-[01-04]",
                                    .gpus_per_node = 8,
                                    .nodes_per_leaf = 2,
                                    .http = "127.0.0.1:4680",
                                    .agents = "127.0.0.1:4681"};
}

static void init(void)
{
    struct myr_err err = {};
    struct myr_server_init settings = wanted(at(0, "a/b"));
    kernel_note("init", myr_server_init(&settings, &err), &err);
}

static void inits_of_other_kinds(void)
{
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_server_init settings = wanted(at(0, "a"));
    settings.world = "twin";
    settings.pretend = true;
    settings.speed = 2.5;
    settings.hosts = "DNS:head,IP:10.0.0.1";
    settings.unix_user = "ulla";
    kernel.on = false;
    kernel_note("a twin", myr_server_init(&settings, &err), &err);
    assert_int_equal(myr_file_read(at(1, "a/myriad.yaml"), 1 << 16, &text, &err), MYR_OK);
    myr_buf_put(&kernel.told, text.data, text.len);
    assert_int_equal(myr_file_read(at(1, "a/server.pem"), 1 << 16, &text, &err), MYR_OK);
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    assert_int_equal(myr_io_alt_names((struct myr_str){text.data, text.len}, &names, &err), MYR_OK);
    myr_buf_printf(&kernel.told, "  names: %s\n", names.data);
    kernel_note("there again", myr_server_init(&settings, &err), &err);
    settings = wanted(at(0, "c"));
    settings.unix_user = "root";
    err = (struct myr_err){};
    kernel_note("as root", myr_server_init(&settings, &err), &err);
    settings.unix_user = NULL;
    settings.nodes = "gpu-[01-";
    err = (struct myr_err){};
    kernel_note("bad names", myr_server_init(&settings, &err), &err);
    settings = wanted(at(0, "c"));
    settings.http = "nowhere";
    err = (struct myr_err){};
    kernel_note("bad address", myr_server_init(&settings, &err), &err);
    settings = wanted(at(0, "c"));
    settings.speed = 1;
    err = (struct myr_err){};
    kernel_note("as fast as ours", myr_server_init(&settings, &err), &err);
    assert_int_equal(myr_file_read(at(1, "c/myriad.yaml"), 1 << 16, &text, &err), MYR_OK);
    myr_buf_put(&kernel.told, text.data, text.len);
    kernel.on = true;
}

static struct myr_buf made_config, made_store; /* of a folder that was made once */

/* Papers are copied as they are: any text will do. */
static void one_folder(void)
{
    static const char *const names[] = {"ca.pem", "ca-key.pem", "server.pem", "server-key.pem",
                                        "admin.token"};
    struct myr_err err = {};
    assert_int_equal(mkdir(at(0, "a"), 0700), 0);
    if (made_config.len == 0) {
        struct myr_server_init settings = wanted(at(0, "a"));
        assert_int_equal(myr_server_init(&settings, &err), MYR_OK);
        assert_int_equal(myr_file_read(at(0, "a/myriad.yaml"), 1 << 20, &made_config, &err),
                         MYR_OK);
        assert_int_equal(myr_file_read(at(0, "a/state.db"), 1 << 20, &made_store, &err), MYR_OK);
    }
    assert_int_equal(myr_file_write(at(0, "a/myriad.yaml"), &made_config, &err), MYR_OK);
    assert_int_equal(myr_file_write(at(0, "a/state.db"), &made_store, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        char name[40];
        snprintf(name, sizeof(name), "a/%s", names[i]);
        put_text(name, name);
    }
    put_text("a/audit.log", "{}\n");
    put_text("a/other", "not the server's\n");
    put_text("there", "a file\n");
    assert_int_equal(mkdir(at(0, "full"), 0700), 0);
    put_text("full/x", "");
    assert_int_equal(mkdir(at(0, "empty"), 0755), 0);
}

static void copy_to(const char *to)
{
    struct myr_err err = {};
    struct myr_server_copied copied;
    struct myr_server_copy copy = {.folder = at(0, "a"), .to = at(1, to)};
    int rc = myr_server_backup(&copy, &copied, &err);
    kernel_note("backup", rc, &err);
    if (rc == MYR_OK) {
        myr_buf_printf(&kernel.told, "  %u files, %llu keys, %s\n", copied.files,
                       (unsigned long long)copied.keys, copied.live ? "live" : "at rest");
    }
}

static void backup(void)
{
    copy_to("b");
}

static void backups_elsewhere(void)
{
    copy_to("empty");
    copy_to("full");
    copy_to("there");
    copy_to("a");
}

static void a_copy(void)
{
    struct myr_err err = {};
    struct myr_server_copied copied;
    one_folder();
    struct myr_server_copy copy = {.folder = at(0, "a"), .to = at(1, "b")};
    assert_int_equal(myr_server_backup(&copy, &copied, &err), MYR_OK);
}

static void restore(void)
{
    struct myr_err err = {};
    struct myr_server_copied copied;
    struct myr_server_copy copy = {.folder = at(0, "b"), .to = at(1, "c")};
    int rc = myr_server_restore(&copy, &copied, &err);
    kernel_note("restore", rc, &err);
    if (rc == MYR_OK) {
        myr_buf_printf(&kernel.told, "  %u files, %llu keys, %s\n", copied.files,
                       (unsigned long long)copied.keys, copied.live ? "live" : "at rest");
    }
}

/* Each file of a folder missing in its turn, and what a server leaves while it lives. */
static void what_is_missing(void)
{
    static const char *const names[] = {"myriad.yaml",    "ca.pem",   "ca-key.pem", "server.pem",
                                        "server-key.pem", "state.db", "admin.token"};
    kernel.on = false;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        char name[64];
        snprintf(name, sizeof(name), "b/%s", names[i]);
        assert_int_equal(rename(at(0, name), at(1, "away")), 0);
        myr_buf_printf(&kernel.told, "  without %s\n", name);
        restore();
        struct myr_err err = {};
        struct myr_server_copied copied;
        struct myr_server_copy copy = {.folder = at(0, "b"), .to = at(1, "d")};
        kernel_note("backup", myr_server_backup(&copy, &copied, &err), &err);
        MYR_CLEANUP(myr_buf_done) struct myr_buf made = {};
        kernel_list(at(0, "c"), true, &made);
        kernel_list(at(0, "d"), true, &made);
        kernel_note_lines("left", &made, &(struct myr_buf){});
        (void)rmdir(at(0, "c"));
        (void)rmdir(at(0, "d"));
        assert_int_equal(rename(at(1, "away"), at(0, name)), 0);
    }
    put_text("b/server.url", "http://127.0.0.1:1/\n");
    restore();
    assert_int_equal(unlink(at(0, "b/server.url")), 0);
    put_text("b/state.db-wal", "");
    restore();
    assert_int_equal(unlink(at(0, "b/state.db-wal")), 0);
    put_text("b/state.db", "no store at all, no store at all, no store at all");
    restore();
    kernel.on = true;
}

/* --- where a server is reached */

static void find(const char *url, const char *http)
{
    struct myr_err err = {};
    struct myr_server_place place;
    char config[400];
    kernel.on = false;
    if (url) {
        put_text("a/server.url", url);
    }
    snprintf(config, sizeof(config),
             "cluster: test\nworld: twin\nnodes: \"n[1-4]\"\ngpus_per_node: 8\nnodes_per_leaf: 2\n"
             "http: \"%s\"\nagents: \"127.0.0.1:0\"\npolicy: fair\n",
             http);
    put_text("a/myriad.yaml", config);
    int rc = myr_server_find(at(0, "a"), &place, &err);
    kernel_note(url ? "url" : http, rc, &err);
    if (rc == MYR_OK) {
        myr_buf_printf(&kernel.told, "  %s%s ", place.url, place.said ? ", it says" : "");
        kernel_put(place.ca);
        myr_buf_putc(&kernel.told, ' ');
        kernel_put(place.token);
        myr_buf_putc(&kernel.told, '\n');
    } else {
        kernel_put(err.hint);
        myr_buf_putc(&kernel.told, '\n');
    }
    (void)unlink(at(0, "a/server.url"));
    kernel.on = true;
}

static void places(void)
{
    static const char *const urls[] = {"http://127.0.0.1:4680\n", "https://0.0.0.0:99\r\n",
                                       "https://[::]:99",         "https://[::1]:5\n",
                                       "http://0.0.0.0:7\n",      "",
                                       "https://head:1\nmore"};
    static const char *const https[] = {"127.0.0.1:4680", "0.0.0.0:4680",  "[::]:4680",
                                        "[::1]:4680",     "127.9.0.1:1",   "10.0.0.1:65535",
                                        "127.0.0.1:0",    "[fe80::1]:4680"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(urls); i++) {
        find(urls[i], "10.0.0.1:1");
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(https); i++) {
        find(NULL, https[i]);
    }
    struct myr_err err = {};
    struct myr_server_place place;
    for (size_t len = 4079; len <= 4080; len++) { /* the longest name, and one more */
        MYR_CLEANUP(myr_free_at) char *name = myr_xcalloc(1, len + 1);
        memset(name, 'x', len);
        assert_true(myr_server_find(name, &place, &err) < 0);
        assert_int_equal(err.code == MYR_ERANGE, len == 4080);
    }
}

static void folder_a(void)
{
    assert_int_equal(mkdir(at(0, "a"), 0700), 0);
}

static void each_call_is_refused_once(void **state)
{
    (void)state;
    kernel.errno_changes = kernel.sizes_differ = true;
    kernel.ignored = "state.db-";
    kernel.follow = 12;
    kernel.spared[0] = "ca-key.pem";
    kernel.spared[1] = "server.pem";
    kernel.spared[2] = "server-key.pem";
    kernel_scenario("init", NULL, init);
    kernel.spared[3] = "admin.token";
    kernel_scenario_only("other inits", "none", NULL, inits_of_other_kinds);
    kernel_scenario("backup", one_folder, backup);
    kernel_scenario_only("backups into what is there", "none", one_folder, backups_elsewhere);
    kernel_scenario("restore", a_copy, restore);
    kernel_scenario_only("what is missing", "none", a_copy, what_is_missing);
    kernel_scenario_only("places", "none", folder_a, places);
    assert_kept("server-kernel.txt", &kernel.told);
    myr_buf_done(&kernel.told);
    myr_buf_done(&made_config);
    myr_buf_done(&made_store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
