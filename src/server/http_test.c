/*
 * Requests from their first byte to the answer's last, as one text (tests/kept/server-http.txt):
 * who may ask, how often and how much, who waits and for how long, and who watches. The library
 * below is the test's own, and so are the clocks. Lines at the margin are what the test does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "library_test.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* With one argument. */
static void ask_with(const char *name, const char *value, const char *url)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    with(connection, name, value);
    myr_buf_printf(&story, "GET %s with %s=%s\n", url, name + 1, value);
    put(connection, "GET", url, MYR_STR(""));
    put_answer(connection);
    goes(connection);
}

/* --- the daemon */

static void put_file(const char *name, const char *text)
{
    char path[128];
    struct myr_buf bytes = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", bench.folder, name);
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(path, &bytes, &err), MYR_OK);
    myr_buf_done(&bytes);
}

static void drop_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", bench.folder, name);
    assert_int_equal(unlink(path), 0);
}

/* Loopback alone is spoken to without TLS. */
static void daemons(void)
{
    assert_int_equal(begin_at("nowhere", 1), MYR_EINVAL);
    assert_int_equal(begin_at("::g", 1), MYR_EINVAL);
    assert_int_equal(begin_at("10.0.0.1", 80), MYR_ENOENT);
    put_file("server.pem", "the certificate");
    assert_int_equal(begin_at("10.0.0.1", 80), MYR_ENOENT);
    put_file("server-key.pem", "the key");
    lib.refuses = true;
    assert_int_equal(begin_at("10.0.0.1", 80), MYR_EIO);
    lib.refuses = false;
    static const char *const addresses[] = {"10.0.0.1", "127.9.9.9", "::1", "::2", "128.0.0.1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(addresses); i++) {
        assert_int_equal(begin_at(addresses[i], (uint16_t)(4000 + i)), MYR_OK);
        assert_int_equal(http_port(server), 4711);
        end_http();
    }
    drop_file("server.pem");
    drop_file("server-key.pem");
    assert_int_equal(begin_at("127.0.0.1", 4680), MYR_OK);
}

/* The daemon runs until nothing was resumed, and again when it has to. */
static void turns(void)
{
    struct http *http = server->http;
    lib.has_timeout = true;
    lib.timeout_ms = 7000;
    uint32_t runs = lib.runs;
    http_kick(server);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    assert_int_equal(lib.runs, runs + 1);
    assert_false(http->again);
    assert_int_equal(http->timer.timeout - uv_now(&server->loop), 7000);
    lib.has_timeout = false;
    http_kick(server);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    assert_int_equal(lib.runs, runs + 2);
    assert_false(uv_is_active((uv_handle_t *)&http->timer));
}

static void __attribute__((format(printf, 1, 2))) library_says(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lib.log(lib.context, fmt, args);
    va_end(args);
}

/* --- what is asked */

static void paths(void)
{
    ask(NULL, "GET", "/healthz", "");
    ask(NULL, "GET", "/", "");
    ask(NULL, "GET", "/assets/none.js", "");
    ask(NULL, "GET", "/assets", "");
    ask(NULL, "GET", "/nothing", "");
    ask(NULL, "DELETE", "/healthz", "");
    ask(NULL, "GET", "//healthz/", "");
    ask(NULL, "GET", "/healthzz", "");
    ask(NULL, "GET", "/v1/jobs/1/logs/more/than/there/are/words/here", "");
    ask(NULL, "GET", "/v1/cluster", "");
    ask("Bearer x", "GET", "/v1/cluster", "");
    ask("bearer v", "GET", "/v1/cluster", "");
    ask("Bearer v", "GET", "/v1/tokens", "");
    ask("Bearer v", "POST", "/v1/nodes/n0/drain", "");
    ask("Bearer u", "POST", "/v1/nodes/n0/drain", "");
    ask("Bearer o", "POST", "/v1/nodes/n0/revoke", "");
    ask("Bearer v", "GET", "/v1/cluster", "");
    ask("Bearer v", "GET", "/v1/frame", "");
    ask("Bearer v", "GET", "/v1/state", "");
    ask("Bearer v", "GET", "/v1/nodes/n9", "");
    ask("Bearer v", "GET", "/v1/jobs/0", "");
    ask("Bearer v", "GET", "/v1/jobs/4294967295", "");
    ask("Bearer v", "GET", "/v1/jobs/x", "");
    ask_with("astate", "healty", "/v1/nodes");
    ask_with("astate", "zzzzzzzzzzzzz", "/v1/nodes");
    ask_with("astate", "drained", "/v1/nodes");
    ask_with("astate", "running!", "/v1/jobs");
    struct MHD_Connection *six = comes_from("fe80::7");
    myr_buf_puts(&story, "from elsewhere\n");
    put(six, "POST", "/v1/backup", MYR_STR(""));
    put_answer(six);
    goes(six);
}

/* A mebibyte, and not a byte more. */
static void lengths(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    for (uint32_t i = 0; i < (1U << 20); i++) {
        myr_buf_putc(&body, ' ');
    }
    for (uint32_t more = 0; more < 2; more++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        with(connection, "hAuthorization", "Bearer o");
        myr_buf_printf(&story, "a body of %zu bytes\n", body.len);
        put(connection, "POST", "/v1/inject", (struct myr_str){body.data, body.len});
        put_answer(connection);
        goes(connection);
        myr_buf_putc(&body, ' ');
    }
}

static void administration(void)
{
    ask("Bearer a", "POST", "/v1/inject", "");
    ask("Bearer a", "POST", "/v1/inject", "[]");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":7}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n9\",\"fault\":\"x\"}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n1\"}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n1\",\"fault\":\"x\"}");
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"una\",\"role\":\"none\"}");
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"una\",\"role\":\"viewers\"}");
    ask("Bearer a", "POST", "/v1/tokens",
        "{\"user\":\"una\",\"role\":\"user\",\"unix_user\":\"root\"}");
    ask("Bearer a", "POST", "/v1/tokens",
        "{\"user\":\"una\",\"role\":\"operator\",\"unix_user\":\"una\"}");
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"ulf\",\"role\":\"viewer\"}");
    char long_name[160];
    for (uint32_t len = 63; len < 65; len++) {
        snprintf(long_name, sizeof(long_name), "{\"user\":\"%0*d\",\"role\":\"user\"}", (int)len,
                 0);
        ask("Bearer a", "POST", "/v1/tokens", long_name);
    }
    ask("Bearer a", "POST", "/v1/enrol", "{\"node\":\"n1\"}"); /* no authority yet */
    put_file("ca.pem", "no certificate");
    ask("Bearer a", "POST", "/v1/enrol", "{\"node\":\"n1\"}");
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, key = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("trial", 10, &ca, &key, &err), MYR_OK);
    put_file("ca.pem", ca.data);
    ask("Bearer a", "POST", "/v1/enrol", "{\"node\":\"n1\"}");
    ask("Bearer a", "POST", "/v1/enrol", "{\"node\":\"n9\"}");
    ask("Bearer a", "POST", "/v1/enrol", "");
    ask("Bearer a", "POST", "/v1/enrol", "{\"relay\":\"n1\"}");
    ask("Bearer a", "POST", "/v1/enrol", "{\"relay\":\"r1\",\"node\":\"n1\"}");
    ask("Bearer a", "POST", "/v1/enrol", "{\"relay\":\"r1\"}");
    drop_file("ca.pem");
    for (size_t i = 0; i < server->rows.enrols.count; i++) {
        const struct token_row *row = &server->rows.enrols.items[i];
        myr_buf_printf(&story, "  enrols '%s'%s\n", row->user, row->relay ? " as a relay" : "");
    }
    ask("Bearer a", "POST", "/v1/tenants/t", "{\"weight\":0}");
    ask("Bearer a", "POST", "/v1/tenants/t", "{\"weight\":1000001}");
    ask("Bearer a", "POST", "/v1/tenants/t", "{\"weight\":1000000}");
    ask("Bearer a", "POST", "/v1/tenants/a b", "{\"weight\":1}");
    ask("Bearer a", "POST", "/v1/tenants/a\x7f", "{\"weight\":1}");
    ask("Bearer a", "GET", "/v1/usage", "");
}

/* Four hundred at once of one who is known, two hundred a second after. */
static void rates(void)
{
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t allowed = 0;
        for (uint32_t i = 0; i < 500; i++) {
            struct MHD_Connection *connection = comes_from("10.0.0.8");
            with(connection, "hAuthorization", "Bearer v2");
            put(connection, "GET", "/v1/queue", MYR_STR(""));
            allowed += connection->status == 200;
            assert_true(connection->status == 200 || connection->status == 429);
            goes(connection);
        }
        myr_buf_printf(&story, "%u of 500 were answered\n", allowed);
        put_told();
        myr_buf_puts(&story, "a second passes\n");
        pass_ms(1000);
        http_second(server);
        put_told();
    }
    myr_buf_puts(&story, "one who guesses:");
    for (uint32_t i = 0; i < 22; i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        with(connection, "hAuthorization", "Bearer wrong");
        put(connection, "GET", "/v1/queue", MYR_STR(""));
        myr_buf_printf(&story, " %u", connection->status);
        goes(connection);
    }
    myr_buf_puts(&story, "\n");
    put_told();
    ask(NULL, "GET", "/healthz", "");
    ask("Bearer v", "GET", "/v1/relays", ""); /* who is known is not taken for who guesses */
    pass_ms(1000);
    http_second(server);
}

static void lines_about_refusals(void)
{
    for (uint32_t i = 0; i < 9; i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        put(connection, "GET", "/nothing", MYR_STR(""));
        goes(connection);
    }
    library_says("a broken\nrequest of %d", 7);
    library_says("and another");
    put_told();
    ask("Bearer v", "GET", "/v1/nodes/none", "");
    http_second(server);
    put_told();
    http_second(server);
    library_says("again");
    put_told();
}

/* By powers of two: the last class is all that is longer. */
static void handling_is_measured(void)
{
    static const int64_t ticks_ns[] = {0, 400, 1000, 2000, 1LL << 50};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 32; i++) {
        sum += server->http->took[i];
    }
    assert_int_equal(sum, server->http->requests);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ticks_ns); i++) {
        uint64_t before[32];
        struct MHD_Connection *connection = comes_from("10.0.0.7");
        memcpy(before, server->http->took, sizeof(before));
        tick_ns = ticks_ns[i];
        put(connection, "GET", "/healthz", MYR_STR(""));
        tick_ns = 0;
        for (uint32_t k = 0; k < 32; k++) {
            if (server->http->took[k] != before[k]) {
                myr_buf_printf(&story, "a tick of %lld ns is of class %u\n", (long long)ticks_ns[i],
                               k);
            }
        }
        goes(connection);
    }
    clock_ns = 2000000000000;
}

/* Whatever comes of a request, nothing of it stays. */
static void nothing_is_left(void)
{
    long before = 0;
    for (uint32_t i = 0; i < 40; i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.7");
        with(connection, "hAuthorization", i % 2 ? "Bearer o" : "Bearer none");
        put(connection, "POST", "/v1/inject", MYR_STR("{\"node\":\"n9\",\"fault\":\"x\"}"));
        goes(connection);
        pass_ms(1000);
        before = i == 19 ? myr_leaks_now() : before; /* what libraries keep is kept by then */
    }
    assert_int_equal(myr_leaks_now(), before);
}

static void what_is_asked(void **state)
{
    (void)state;
    serving_begin();
    daemons();
    turns();
    paths();
    lengths();
    administration();
    give("v2", "vito", "", ROLE_VIEWER);
    rates();
    lines_about_refusals();
    handling_is_measured();
    nothing_is_left();
    cover_folder();
    assert_kept("server-http.txt", &story);
    serving_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
