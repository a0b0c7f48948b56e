/*
 * A folder copied from a server that runs, and one whose state is in etcd: made, looked at, copied
 * and put back. Server and etcd are played; certificates near their end are renewed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "given_back_test.h"
#include "leaks.h"
#include "mhd.h"
#include "myriad/server.h"
#include "myriad/server/folder.h"
#include "server_test.h"
#include "store/played_etcd_test.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static char folder[] = "/tmp/myriad-copies-XXXXXX", asked[64], paths[4][200];
static uint16_t port;
static pid_t process;
static size_t seen;

static const char *at(uint32_t which, const char *name)
{
    snprintf(paths[which], sizeof(paths[which]), "%s/%s", folder, name);
    return paths[which];
}

static void put_text(const char *name, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_err err = {};
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(at(3, name), &bytes, &err), MYR_OK);
}

static void get_bytes(const char *name, struct myr_buf *ret)
{
    struct myr_err err = {};
    assert_int_equal(myr_file_read(at(3, name), 8 << 20, ret, &err), MYR_OK);
}

static void control(const char *word, struct myr_str body)
{
    char url[80];
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/control/%s", port, word);
    assert_int_equal(
        myr_http_ask(&(struct myr_http_request){.method = "POST", .url = url, .body = body}, NULL,
                     NULL, &answer, &err),
        MYR_OK);
    myr_http_answer_done(&answer);
}

/* What the other side was asked for since the last time. */
static void was_asked(const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(asked, 8 << 20, &text, &err), MYR_OK);
    assert_string_equal(text.data + seen, expected);
    seen = text.len;
}

static void forget_asked(void)
{
    struct stat status;
    assert_int_equal(stat(asked, &status), 0);
    seen = (size_t)status.st_size;
}

static void makes(const char *name, const char *etcd, const char *certificate)
{
    struct myr_err err = {};
    const struct myr_server_init init = {.folder = at(0, name),
                                         .cluster = "trial",
                                         .nodes = "n[0-1]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:0",
                                         .agents = "127.0.0.1:0",
                                         .hosts = "DNS:head.example",
                                         .etcd = etcd,
                                         .etcd_ca = certificate};
    if (myr_server_init(&init, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static bool is_there(const char *name)
{
    struct stat status;
    return stat(at(3, name), &status) == 0;
}

/* --- a server that runs */

static void a_running_server_gives_its_store(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf store = {}, copied = {};
    char url[64], text[80];
    struct myr_err err = {};
    struct myr_server_copied done;
    makes("one", NULL, NULL);
    get_bytes("one/state.db", &store);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
    put_text("token", "secret \t\nand a word behind it\n");
    for (int slash = 0; slash < 2; slash++) {
        snprintf(text, sizeof(text), "%s%s\n", url, slash ? "/" : "");
        put_text("one/server.url", text);
        struct myr_server_copy copy = {at(0, "one"), at(1, slash ? "two" : "three"),
                                       at(2, "token")};
        control("say-200", (struct myr_str){store.data, store.len});
        assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_OK);
        was_asked("(say-200)\nPOST /v1/backup HTTP/1.1 by Bearer secret\n");
        assert_true(done.live);
        assert_int_equal(done.files, 7); /* without an audit, which only a server begins */
        assert_int_equal(done.keys, 1);  /* the administrator's token */
    }
    get_bytes("two/state.db", &copied);
    assert_int_equal(copied.len, store.len);
    /* Refused: nothing is left, and the token is what is wrong. */
    static const struct {
        const char *word;
        int code;
        unsigned status;
    } rows[] = {{"say-401", MYR_EUNKNOWN, 401},
                {"say-403", MYR_EDENIED, 403},
                {"say-500", MYR_EDENIED, 500}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char words[200];
        struct myr_server_copy copy = {at(0, "one"), at(1, "four"), NULL};
        control(rows[i].word, MYR_STR("no"));
        assert_int_equal(myr_server_backup(&copy, &done, &err), rows[i].code);
        snprintf(words, sizeof(words),
                 "%s/: refused with status %u; the token of an administrator is needed", url,
                 rows[i].status);
        assert_string_equal(err.message, words);
        assert_false(is_there("four"));
    }
    /* What came is no store. */
    struct myr_server_copy copy = {at(0, "one"), at(1, "four"), NULL};
    control("say-200", MYR_STR("this is no store, whatever it says it is......................."));
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_ECORRUPT);
    assert_false(is_there("four"));
    /* A token that is not there is told before anything is asked. */
    forget_asked();
    copy.token_file = at(2, "none");
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_ENOENT);
    was_asked("");
    assert_false(is_there("four"));
    /* And where a server is said to run, a copy is no backup of it. */
    copy = (struct myr_server_copy){at(0, "one"), at(1, "four"), NULL};
    assert_int_equal(myr_server_restore(&copy, &done, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, ": a server lives there; a backup is expected"));
    assert_memory_equal(err.hint, "myriad backup ", 14);
}

static const struct myr_server_finding *finding(const char *name, const char *check)
{
    static struct myr_server_findings found;
    myr_server_doctor(at(3, name), &found);
    for (uint32_t i = 0; i < found.count; i++) {
        if (strcmp(found.items[i].check, check) == 0) {
            return &found.items[i];
        }
    }
    fail_msg("nothing is said of %s", check);
    return NULL;
}

static void says(const char *name, const char *check, enum myr_verdict verdict, const char *words,
                 const char *hint)
{
    const struct myr_server_finding *found = finding(name, check);
    assert_int_equal(found->verdict, verdict);
    assert_string_equal(found->says, words);
    assert_string_equal(found->hint, hint);
}

/* The folder of the test before: its server answers, or does not quite. */
static void the_doctor_asks_who_runs(void **state)
{
    (void)state;
    char words[120];
    static const struct {
        const char *word, *body;
        bool well;
    } rows[] = {{"say-200", "{\"ok\":true}", true},
                {"say-200", "{\"ok\":false}", false},
                {"say-200", "", false},
                {"say-503", "{\"ok\":true}", false}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        control(rows[i].word, myr_str_from(rows[i].body));
        snprintf(words, sizeof(words), "answers at http://127.0.0.1:%u/%s", port,
                 rows[i].well ? "" : ", and cannot write its store");
        forget_asked();
        says("one", "server", rows[i].well ? MYR_VERDICT_OK : MYR_VERDICT_BAD, words, "");
        was_asked("GET /healthz HTTP/1.1\n");
    }
    static const char *const checks[][2] = {{"http", "the server has it"},
                                            {"agents", "the server has it"},
                                            {"store", "the server has it open"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(checks); i++) {
        control("say-200", MYR_STR("{\"ok\":true}"));
        says("one", checks[i][0], MYR_VERDICT_OK, checks[i][1], "");
    }
    assert_int_equal(unlink(at(0, "one/server.url")), 0);
    says("one", "server", MYR_VERDICT_OK, "none runs", "");
    says("one", "http", MYR_VERDICT_OK, "any that is free", "");
    says("one", "store", MYR_VERDICT_OK, "version 1, which this program reads", "");
    /* A name is no address: nobody could listen there. */
    put_text("one/myriad.yaml", "nodes: n0\nhttp: \"localhost:4680\"\nagents: \"[::1:]:4681\"\n");
    says("one", "http", MYR_VERDICT_BAD, "localhost:4680: Invalid argument",
         "ss -ltnp shows who has it; myriad.yaml names another");
    says("one", "agents", MYR_VERDICT_BAD, "::1::4681: Invalid argument",
         "ss -ltnp shows who has it; myriad.yaml names another");
}

/* --- etcd */

/* Nothing is left there. */
static void wipe(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/v3/kv/txn", port);
    myr_buf_puts(&body, "{\"compare\":[],\"success\":[{\"request_delete_range\":{\"key\":\"");
    played_encode(&body, "/", 1);
    myr_buf_puts(&body, "\",\"range_end\":\"");
    played_encode(&body, "0", 1);
    myr_buf_puts(&body, "\"}}]}");
    assert_int_equal(
        myr_http_ask(
            &(struct myr_http_request){.method = "POST", .url = url, .body = {body.data, body.len}},
            NULL, NULL, &answer, &err),
        MYR_OK);
    myr_http_answer_done(&answer);
}

static bool nobody_waits(void *context, const char *leader, const char *why)
{
    (void)context, (void)leader, (void)why;
    return false;
}

static void leader_is(const char *name, struct store **ret)
{
    struct myr_err err = {};
    struct etcd_config config = {.count = 1, .prefix = "/myriad/trial/", .ttl_s = 3};
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u", port);
    assert_int_equal(store_stand_by(&config, name, nobody_waits, NULL, ret, &err), MYR_OK);
}

static void a_state_in_etcd_is_copied_and_put_back(void **state)
{
    (void)state;
    char urls[64], words[200];
    struct myr_err err = {};
    struct myr_server_copied done;
    struct store *store;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(urls, sizeof(urls), "http://127.0.0.1:%u/,http://127.0.0.1:%u", port, port);
    makes("five", urls, at(2, "no such.pem"));
    get_bytes("five/myriad.yaml", &text);
    snprintf(
        words, sizeof(words),
        "etcd:\n  endpoints: [\"http://127.0.0.1:%u/\", \"http://127.0.0.1:%u\"]\n  ca: \"%s\"\n",
        port, port, at(2, "no such.pem"));
    assert_non_null(strstr(text.data, words)); /* as it was given, where there is no such file */
    assert_false(is_there("five/state.db"));
    says("five", "store", MYR_VERDICT_OK, "etcd, 2 members, under /myriad/trial/", "");
    /* Somebody leads: nobody else opens it, and it is said who that is. */
    leader_is("first:1", &store);
    struct myr_server_copy copy = {at(0, "five"), at(1, "six"), NULL};
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_EAWAY);
    assert_memory_equal(err.message, "etcd: a server leads: first:1 ", 30);
    assert_false(is_there("six"));
    store_close(store);
    control("500", MYR_STR("x"));
    assert_int_equal(myr_server_backup(&copy, &done, &err), MYR_OK); /* the second member answers */
    assert_false(done.live);
    assert_int_equal(done.files, 7);
    assert_int_equal(done.keys, 1);
    struct stat status;
    assert_int_equal(stat(at(2, "six/state.db"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    /* Back: not over what is there, and else as it was. */
    copy = (struct myr_server_copy){at(0, "six"), at(1, "seven"), NULL};
    assert_int_equal(myr_server_restore(&copy, &done, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "etcd holds the state of a cluster under '/myriad/trial/' already");
    assert_string_equal(err.hint, "etcdctl del --prefix /myriad/trial/, if nobody needs it");
    assert_false(is_there("seven"));
    wipe();
    says("five", "store", MYR_VERDICT_BAD, "etcd holds no state under /myriad/trial/",
         "myriad init DIR --etcd URLS");
    assert_int_equal(myr_server_restore(&copy, &done, &err), MYR_OK);
    assert_int_equal(done.files, 7);
    assert_int_equal(done.keys, 1);
    assert_false(is_there("seven/state.db")); /* it would only look as if it were the state */
    assert_true(is_there("seven/admin.token"));
    leader_is("next:1", &store);
    assert_false(store_is_empty(store));
    store_close(store);
    /* A state that is there is not made anew; who leads keeps init away. */
    const struct myr_server_init init = {.folder = at(0, "eight"),
                                         .cluster = "trial",
                                         .nodes = "n[0-1]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:0",
                                         .agents = "127.0.0.1:0",
                                         .etcd = urls};
    leader_is("last:1", &store);
    assert_int_equal(myr_server_init(&init, &err), MYR_ESTALE);
    assert_memory_equal(err.message, "'last:1 ", 8);
    assert_false(is_there("eight"));
    store_close(store);
    wipe();
}

/* --- papers */

static void put_paper(const char *name, uint32_t days)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, cert = {};
    struct myr_err err = {};
    get_bytes("one/ca.pem", &ca);
    get_bytes("one/ca-key.pem", &ca_key);
    get_bytes("one/server-key.pem", &key);
    assert_int_equal(
        myr_io_csr_of("myriad-server", (struct myr_str){key.data, key.len}, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = days,
                               .server = true,
                               .alt_names = "DNS:head.example,IP:127.0.0.1"};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, &err),
        MYR_OK);
    assert_int_equal(myr_file_write(at(3, name), &cert, &err), MYR_OK);
}

static void lines(const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    lines_put(&text);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void a_certificate_near_its_end_is_renewed(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done)
    struct myr_buf before = {}, after = {}, names = {}, audits = {}, said = {};
    struct myr_err err = {};
    int64_t left_s = 0;
    uint32_t papers = 0;
    log_open(at(0, "one"), false);
    lines_begin();
    put_paper("one/server.pem", 91);
    get_bytes("one/server.pem", &before);
    papers_renew(at(0, "one"));
    lines("");
    get_bytes("one/server.pem", &after);
    assert_string_equal(before.data, after.data);
    /* A day less, and it is time; a second of its first day may be over by now. */
    put_paper("one/server.pem", 90);
    papers_renew(at(0, "one"));
    lines_put(&said);
    char *days = strstr(said.data, "89");
    if (days) {
        days[0] = '9';
        days[1] = '0';
    }
    assert_string_equal(
        said.data, "  log info the server's certificate was renewed, 90 days before its end\n");
    myr_buf_clear(&after);
    get_bytes("one/server.pem", &after);
    assert_int_equal(myr_io_valid_s((struct myr_str){after.data, after.len}, &left_s, &err),
                     MYR_OK);
    assert_int_equal((left_s + 3600) / 86400, 825);
    assert_int_equal(myr_io_alt_names((struct myr_str){after.data, after.len}, &names, &err),
                     MYR_OK);
    assert_string_equal(names.data, "DNS:head.example,IP:127.0.0.1");
    for (const char *p = after.data; (p = strstr(p, "BEGIN CERT")); p++) {
        papers++;
    }
    assert_int_equal(papers, 2); /* with the authority behind it */
    get_bytes("one/audit.log", &audits);
    assert_non_null(strstr(
        audits.data, "\"who\":\"myriad\",\"what\":\"renew server.pem\",\"outcome\":\"done\"}\n"));
    /* What cannot be renewed costs no start. */
    static const char *const needed[] = {"one/ca.pem", "one/ca-key.pem", "one/server-key.pem"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(needed); i++) {
        myr_buf_clear(&said);
        put_paper("one/server.pem", 2);
        assert_int_equal(rename(at(0, needed[i]), at(1, "away")), 0);
        papers_renew(at(2, "one"));
        assert_int_equal(rename(at(1, "away"), at(0, needed[i])), 0);
        lines_put(&said);
        assert_memory_equal(said.data,
                            "  log warning the server's certificate is not renewed: ", 53);
        assert_non_null(strstr(said.data, strchr(needed[i], '/')));
    }
    put_text("one/server.pem", "no certificate\n");
    papers_renew(at(0, "one"));
    lines("");
    assert_int_equal(unlink(at(0, "one/server.pem")), 0);
    papers_renew(at(0, "one"));
    lines("");
    lines_end();
    log_close();
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
        cmocka_unit_test(a_running_server_gives_its_store),
        cmocka_unit_test(the_doctor_asks_who_runs),
        cmocka_unit_test(a_state_in_etcd_is_copied_and_put_back),
        cmocka_unit_test(a_certificate_near_its_end_is_renewed),
    };
    /* What a library keeps that is loaded, and is never let go. */
    struct myr_err err = {};
    long before = myr_leaks_now();
    int loaded = mhd_load(&err);
    myr_leaks_allowed += loaded == MYR_OK ? myr_leaks_now() - before : 0;
    return cmocka_run_group_tests(tests, begin, end);
}
