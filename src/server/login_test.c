/* Who asks, and how often: tokens, visits, and those who guess. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api.h"
#include "given_back_test.h"
#include "leaks.h"

long myr_leaks_allowed = 0;

static struct server *server;

static int begin(void **state)
{
    (void)state;
    server = myr_xcalloc(1, sizeof(*server));
    server->http = myr_xcalloc(1, sizeof(*server->http));
    return 0;
}

static int end(void **state)
{
    (void)state;
    myr_vec_done(&server->http->visits);
    myr_vec_done(&server->rows.tokens);
    free(server->http);
    free(server);
    return 0;
}

static struct request of(const char *from, enum role role)
{
    struct request request = {.server = server, .who = {.role = role}};
    snprintf(request.from, sizeof(request.from), "%s", from);
    snprintf(request.who.digest, sizeof(request.who.digest), "digest of %s", from);
    return request;
}

/* How many of 1,000 in one breath are let in; and how many more the time that went by gives. */
static uint32_t let_in(struct request *request, bool guess, uint32_t *ret_more)
{
    int64_t since_ms = steady_ms();
    uint32_t count = 0;
    for (int i = 0; i < 1000; i++) {
        count += login_allowed(request, guess);
    }
    *ret_more = (uint32_t)(steady_ms() - since_ms + 1) * 200 / 1000 + 1;
    return count;
}

static void so_many_at_once(void **state)
{
    (void)state;
    uint32_t more;
    for (int role = ROLE_NONE; role <= ROLE_ADMIN; role += ROLE_ADMIN) {
        struct request request = of(role ? "a" : "b", (enum role)role);
        uint32_t count = let_in(&request, false, &more);
        assert_true(count >= 400 && count <= 400 + more);
    }
    /* A person is counted by the token, wherever the requests come from. */
    struct request elsewhere = of("a", ROLE_ADMIN);
    snprintf(elsewhere.from, sizeof(elsewhere.from), "10.9.9.9");
    assert_true(let_in(&elsewhere, false, &more) <= more + 1);
    struct request other = of("c", ROLE_NONE);
    assert_true(login_allowed(&other, true));
}

static void who_guesses_is_stopped(void **state)
{
    (void)state;
    for (int try = 0; try < 50; try++) {
        char from[32];
        snprintf(from, sizeof(from), "10.0.0.%d", try);
        struct request request = of(from, ROLE_NONE);
        int64_t since_ms = steady_ms();
        for (int i = 0; i < 19; i++) {
            login_failed(&request);
        }
        bool before = login_allowed(&request, true);
        login_failed(&request);
        bool guess = login_allowed(&request, true), other = login_allowed(&request, false);
        struct request known = of(from, ROLE_USER);
        if (steady_ms() - since_ms > 800) {
            continue; /* a second gives one more: so long nobody may look away */
        }
        assert_true(before);
        assert_false(guess);
        assert_true(other);                       /* what needs no token is answered */
        assert_true(login_allowed(&known, true)); /* and who has one */
        return;
    }
    fail_msg("this machine is too slow to tell");
}

static int login(const char *body, struct request *request, struct myr_buf *ret,
                 struct myr_err *err)
{
    *request = of("10.0.0.1", ROLE_NONE);
    myr_buf_puts(&request->body, body);
    int rc = login_call(request, ret, err);
    myr_buf_done(&request->body);
    return rc;
}

/* A request that came by no connection has no header. */
static const char *no_header(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                             const char *key)
{
    (void)connection, (void)kind, (void)key;
    return NULL;
}

static void a_visit(void **state)
{
    (void)state;
    struct myr_err err = {};
    mhd.lookup_connection_value = no_header;
    struct request request;
    struct token_row token = {.user = "olga", .role = ROLE_OPERATOR};
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    myr_io_digest(MYR_STR("secret"), token.digest);
    myr_vec_push(&server->rows.tokens, token);
    assert_int_equal(login("{\"token\":\"Secret\"}", &request, &said, &err), MYR_EUNKNOWN);
    assert_string_equal(err.message, "this token is not known here");
    /* A wrong guess costs one of the twenty that its address has. */
    uint64_t key = myr_hash_bytes("10.0.0.1", 8);
    const struct bucket *bucket = &server->http->failures[key % BUCKETS];
    assert_true(bucket->key == key && bucket->tokens == 19);
    assert_true(login("{}", &request, &said, &err) < 0);
    assert_true(login("", &request, &said, &err) < 0);
    assert_int_equal(server->http->visits.count, 0);
    int64_t now_ms = steady_ms();
    assert_int_equal(login("{\"token\":\"secret\"}", &request, &said, &err), MYR_OK);
    assert_string_equal(said.data, "{\"user\":\"olga\",\"role\":\"operator\"}");
    assert_int_equal(server->http->visits.count, 1);
    const struct visit *visit = &server->http->visits.items[0];
    assert_true(visit->until_ms >= now_ms + 43200000 && visit->until_ms < now_ms + 43260000);
    assert_string_equal(visit->who.user, "olga");
    char cookie[160];
    snprintf(cookie, sizeof(cookie), "%s", request.cookie);
    assert_memory_equal(cookie, "myriad=", 7);
    char *secret = cookie + 7, *tail = strchr(secret, ';');
    assert_int_equal(tail - secret, 48); /* 24 bytes of the system's randomness */
    /* The server of this test listens nowhere, so not on loopback: over TLS. */
    assert_string_equal(tail, "; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200; Secure");
    char digest[65];
    myr_io_digest((struct myr_str){secret, 48}, digest);
    assert_string_equal(visit->digest, digest);
    /* One that is over makes room for the next. */
    server->http->visits.items[0].until_ms = steady_ms() - 1;
    assert_int_equal(login("{\"token\":\"secret\"}", &request, &said, &err), MYR_OK);
    assert_int_equal(server->http->visits.count, 1);
    assert_true(server->http->visits.items[0].until_ms > now_ms);
    while (server->http->visits.count < 9999) {
        myr_vec_push(&server->http->visits, server->http->visits.items[0]);
    }
    assert_int_equal(login("{\"token\":\"secret\"}", &request, &said, &err), MYR_OK);
    assert_int_equal(login("{\"token\":\"secret\"}", &request, &said, &err), MYR_EOFTEN);
    assert_string_equal(err.message, "too many pages are open");
    request = of("10.0.0.1", ROLE_VIEWER);
    myr_buf_clear(&said);
    assert_int_equal(logout_call(&request, &said, &err), MYR_OK);
    assert_string_equal(request.cookie,
                        "myriad=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure");
    assert_string_equal(said.data, "{\"user\":\"\",\"role\":\"none\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(so_many_at_once, begin, end),
        cmocka_unit_test_setup_teardown(who_guesses_is_stopped, begin, end),
        cmocka_unit_test_setup_teardown(a_visit, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
