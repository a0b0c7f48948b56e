/* What an answer of etcd's means, word for word: errors, hints, keys and values, leases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "leaks.h"
#include "myriad/io.h"
#include "store/etcd.h"
#include "store/played_etcd_test.h"

long myr_leaks_allowed = 0;

static char folder[] = "/tmp/myriad-said-XXXXXX", asked[64];
static uint16_t port;
static pid_t process;
static struct etcd *etcd;
static char address[48];

/* The next request is answered so. */
static void says(unsigned status, const char *body)
{
    char url[80];
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    snprintf(url, sizeof(url), "%s/control/say-%u", address, status);
    assert_int_equal(
        myr_http_ask(
            &(struct myr_http_request){.method = "POST", .url = url, .body = myr_str_from(body)},
            NULL, NULL, &answer, &err),
        MYR_OK);
    myr_http_answer_done(&answer);
}

/* What is behind the address of the member. */
static const char *behind(const struct myr_err *err)
{
    assert_memory_equal(err->message, address, strlen(address));
    return err->message + strlen(address);
}

static void an_error_is_told_in_its_own_words(void **state)
{
    (void)state;
    static const char denied[] = "etcd's users and passwords are not used: etcdctl auth disable";
    static const char full[] = "etcdctl compact and defrag, then etcdctl alarm disarm";
    static const struct {
        unsigned status;
        const char *body;
        int code;
        const char *message, *hint;
    } rows[] = {
        {500, "{\"message\":\"m\",\"error\":\"e\"}", MYR_EAWAY, ": m", ""},
        {500, "{\"message\":\"\",\"error\":\"e\"}", MYR_EAWAY, ": e", ""},
        {500, "{\"error\":\"e\\n\\n\"}", MYR_EAWAY, ": e", ""},
        {500, "{}", MYR_EAWAY, ": an error without words", ""},
        {500, "{\"message\":[\"m\"]}", MYR_EAWAY, ": an error without words", ""},
        {503, "words and no JSON\n", MYR_EAWAY, ": words and no JSON", ""},
        {503, "", MYR_EAWAY, ": an error without words", ""},
        {400, "{\"message\":\"m\"}", MYR_EAWAY, ": m", ""},
        {402, "{\"message\":\"m\"}", MYR_EAWAY, ": m", ""},
        {201, "{\"message\":\"m\"}", MYR_EAWAY, ": m", ""},
        {401, "{\"message\":\"m\"}", MYR_EDENIED, ": not allowed: m", denied},
        {403, "", MYR_EDENIED, ": not allowed: an error without words", denied},
        {500, "{\"message\":\"x: permission denied\"}", MYR_EDENIED,
         ": not allowed: x: permission denied", denied},
        {500, "{\"message\":\"invalid auth token y\"}", MYR_EDENIED,
         ": not allowed: invalid auth token y", denied},
        {400, "{\"error\":\"user name is empty\"}", MYR_EDENIED,
         ": not allowed: user name is empty", denied},
        {500, "the CommonName of it", MYR_EDENIED, ": not allowed: the CommonName of it", denied},
        {500, "{\"message\":\"database space exceeded\"}", MYR_EIO,
         ": its quota is used up: database space exceeded", full},
        {500, "space exceede", MYR_EAWAY, ": space exceede", ""},
        {404, "", MYR_EVERSION, "/v3/lease/grant: no such call; etcd 3.4 or later is expected", ""},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_err err = {};
        int64_t lease = 7;
        says(rows[i].status, rows[i].body);
        assert_int_equal(etcd_lease(etcd, 5, &lease, &err), rows[i].code);
        assert_string_equal(behind(&err), rows[i].message);
        assert_string_equal(err.hint, rows[i].hint);
        assert_int_equal(lease, 7);
    }
    /* A good status with something else in it. */
    struct myr_err err = {};
    int64_t lease = 7;
    says(200, "[1]");
    assert_int_equal(etcd_lease(etcd, 5, &lease, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "the answer"));
    says(200, "no JSON");
    assert_int_equal(etcd_lease(etcd, 5, &lease, &err), MYR_EINVAL);
    says(200, "");
    assert_true(etcd_lease(etcd, 5, &lease, &err) < 0);
    assert_int_equal(lease, 7);
}

static void a_lease_has_a_number(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{}",
        "{\"ID\":\"0\"}",
        "{\"ID\":\"x\"}",
        "{\"ID\":[\"5\"]}",
        "{\"ID\":\"9223372036854775808\"}",
    };
    struct myr_err err = {};
    int64_t lease = 7;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bodies); i++) {
        says(200, bodies[i]);
        assert_int_equal(etcd_lease(etcd, 5, &lease, &err), MYR_EIO);
        assert_string_equal(behind(&err), ": a lease without a number");
        assert_int_equal(lease, 7);
    }
    says(200, "{\"ID\":\"9223372036854775807\"}");
    assert_int_equal(etcd_lease(etcd, 5, &lease, &err), MYR_OK);
    assert_true(lease == INT64_MAX);
    /* Alive is who has time left. */
    static const char *const over[] = {"{}", "{\"result\":{}}", "{\"result\":{\"TTL\":\"0\"}}",
                                       "{\"result\":{\"TTL\":\"-1\"}}", "{\"TTL\":\"3\"}"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(over); i++) {
        says(200, over[i]);
        assert_int_equal(etcd_keep_alive(etcd, 5, &err), MYR_ESTALE);
        assert_string_equal(err.message, "the lease has run out");
    }
    says(200, "{\"result\":{\"TTL\":\"1\"}}");
    assert_int_equal(etcd_keep_alive(etcd, 5, &err), MYR_OK);
}

static int list(void *context, const char *key, struct myr_str value, uint64_t created,
                struct myr_err *err)
{
    myr_buf_printf(context, "%s=%.*s@%" PRIu64 " ", key, (int)value.len, value.data, created);
    return strcmp(key, "stop") == 0 ? myr_err_set(err, MYR_ECORRUPT, "stopped") : MYR_OK;
}

/* "/m/a" is L20vYQ==, "/m/stop" L20vc3RvcA==, "abc" YWJj, "ab" YWI=, "a" YQ==. */
static void keys_and_values_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
        const char *told;
    } rows[] = {
        {"{}", MYR_OK, ""},
        {"{\"kvs\":\"none\"}", MYR_OK, ""},
        {"{\"kvs\":[],\"more\":true}", MYR_OK, ""}, /* asked again it would never end */
        {"{\"kvs\":[{\"key\":\"L20vYQ==\",\"value\":\"YWJj\",\"create_revision\":\"12\"},"
         "{\"key\":\"L20vYQ==\",\"value\":\"YWI=\"},{\"key\":\"L20vYQ==\",\"value\":\"YQ==\"},"
         "{\"key\":\"L20vYQ==\"}]}",
         MYR_OK, "a=abc@12 a=ab@0 a=a@0 a=@0 "},
        {"{\"kvs\":[{\"key\":\"L20v\",\"value\":\"YQ==\"}]}", MYR_OK, "=a@0 "},
        {"{\"kvs\":[{\"key\":\"L20=\",\"value\":\"YQ==\"}]}", MYR_ECORRUPT, ""},
        {"{\"kvs\":[{\"key\":\"L20vYQ=\\u00e4\",\"value\":\"YQ==\"}]}", MYR_ECORRUPT, ""},
        {"{\"kvs\":[{\"key\":\"L20vYQ==\",\"value\":\"Y!==\"}]}", MYR_ECORRUPT, ""},
        {"{\"kvs\":[{\"key\":\"L20vAGE=\",\"value\":\"YQ==\"}]}", MYR_ECORRUPT, ""},
        {"{\"kvs\":[{\"key\":\"L20vc3RvcA==\",\"value\":\"YQ==\"},{\"key\":\"L20vYQ==\"}]}",
         MYR_ECORRUPT, "stop=a@0 "},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        struct myr_err err = {};
        uint64_t before = etcd_requests(etcd);
        says(200, rows[i].body);
        assert_int_equal(etcd_range(etcd, "a", list, &told, &err), rows[i].code);
        assert_string_equal(told.data ? told.data : "", rows[i].told);
        assert_int_equal(etcd_requests(etcd), before + 1);
        if (rows[i].code < 0 && !rows[i].told[0]) {
            assert_string_equal(behind(&err), ": a key or value that cannot be read");
        }
    }
}

/*
 * Somebody else's key may be of any length. One that no request could name again is told as such,
 * where more is to come behind it.
 */
static void a_key_that_is_too_long_is_damage(void **state)
{
    (void)state;
    static const size_t most = 510 - 3; /* with the prefix */
    for (size_t len = most - 1; len <= most + 1; len++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf body = {}, told = {};
        struct myr_err err = {};
        myr_buf_puts(&body, "{\"more\":true,\"kvs\":[{\"value\":\"YQ==\",\"key\":\"L20v");
        for (size_t i = 0; i < len / 3; i++) {
            myr_buf_puts(&body, "YWFh");
        }
        myr_buf_printf(&body, "%s\"}]}", len % 3 == 1 ? "YQ==" : len % 3 == 2 ? "YWE=" : "");
        says(200, body.data);
        int rc = etcd_range(etcd, "a", list, &told, &err);
        assert_int_equal(rc, len > most ? MYR_ECORRUPT : MYR_OK);
        assert_int_equal(told.len, len > most ? 0 : len + strlen("=a@0 "));
    }
}

/* Every letter of the alphabet, and lengths that leave one, two and no bytes over. */
static void any_bytes_come_back(void **state)
{
    (void)state;
    struct myr_err err = {};
    char bytes[256];
    uint64_t revision = 0;
    for (int i = 0; i < 256; i++) {
        bytes[i] = (char)i;
    }
    for (size_t len = 250; len <= 256; len++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        const struct etcd_put put = {.key = "k", .value = {bytes + 256 - len, len}};
        const struct etcd_compare same = {.key = "k", .by_value = true, .value = put.value};
        struct etcd_txn txn = {.puts = &put, .put_count = 1};
        assert_int_equal(etcd_commit(etcd, &txn, &revision, &err), 1);
        assert_int_equal(revision, len - 249);
        assert_int_equal(etcd_range(etcd, "k", list, &told, &err), MYR_OK);
        /* "k=", the bytes, "@1 ": it was made by the first of them. */
        assert_int_equal(told.len, 2 + strnlen(bytes + 256 - len, len) + 3);
        assert_memory_equal(told.data, "k=", 2);
        txn = (struct etcd_txn){.compares = &same, .compare_count = 1};
        assert_int_equal(etcd_commit(etcd, &txn, NULL, &err), 1);
    }
}

/* Who is not there is told with a remedy for etcd, not for a server of ours. */
static void nobody_is_there(void **state)
{
    (void)state;
    struct etcd_config config = {.count = 1, .prefix = "/m/"};
    struct myr_err err = {};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    char hint[200];
    int64_t lease = 0;
    int silent = socket(AF_INET, SOCK_STREAM, 0); /* bound, and nobody listens */
    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &size), 0);
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u",
             ntohs(at.sin_port));
    struct etcd *other = etcd_new(&config);
    assert_int_equal(etcd_lease(other, 5, &lease, &err), MYR_EAWAY);
    snprintf(hint, sizeof(hint), "etcdctl --endpoints=%s endpoint health", config.endpoints[0]);
    assert_string_equal(err.hint, hint);
    assert_int_equal(etcd_requests(other), 1);
    etcd_free(other);
    close(silent);
}

static int begin(void **state)
{
    (void)state;
    struct etcd_config config = {.count = 1, .prefix = "/m/", .ttl_s = 3};
    assert_non_null(mkdtemp(folder));
    snprintf(asked, sizeof(asked), "%s/asked", folder);
    process = played_etcd_start(asked, &port);
    snprintf(address, sizeof(address), "http://127.0.0.1:%u", port);
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "%s", address);
    etcd = etcd_new(&config);
    return 0;
}

static int end(void **state)
{
    int status;
    (void)state;
    etcd_free(etcd);
    assert_int_equal(kill(process, SIGTERM), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(unlink(asked), 0);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_told_in_its_own_words),
        cmocka_unit_test(a_lease_has_a_number),
        cmocka_unit_test(keys_and_values_are_decoded),
        cmocka_unit_test(a_key_that_is_too_long_is_damage),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(nobody_is_there),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
