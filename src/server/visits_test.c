/*
 * Rates and visits by a clock that the test moves: how many requests and guesses go through to the
 * millisecond, who a cookie stands for and what it may, and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "api.h"
#include "given_back_test.h"
#include "leaks.h"

long myr_leaks_allowed = 0;

static struct server *server;
static int64_t now_ms = 1000000;
static const char *header, *cookie; /* of the request; NULL: none */

/* In place of the C library's, for all of this program. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    (void)which;
    *ret = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
    return 0;
}

static const char *lookup(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                          const char *key)
{
    (void)connection;
    return kind == MHD_HEADER_KIND && strcmp(key, "Authorization") == 0 ? header
           : kind == MHD_COOKIE_KIND && strcmp(key, "myriad") == 0      ? cookie
                                                                        : NULL;
}

static int begin(void **state)
{
    (void)state;
    server = myr_xcalloc(1, sizeof(*server));
    server->http = myr_xcalloc(1, sizeof(*server->http));
    mhd.lookup_connection_value = lookup;
    header = cookie = NULL;
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

static void add_token(const char *secret, const char *user, enum role role)
{
    struct token_row token = {.role = role};
    snprintf(token.user, sizeof(token.user), "%s", user);
    myr_io_digest(myr_str_from(secret), token.digest);
    myr_vec_push(&server->rows.tokens, token);
}

/* --- rates */

/*
 * 200 a second, 400 at once. In steps of an eighth of a second, which is a whole number of requests
 * and no rounding.
 */
static void requests_flow_at_their_rate(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct request request = {.server = server, .from = "10.0.0.1"};
    uint32_t left = 400, refused = 0;
    myr_rng_init(&rng, 52, 1);
    for (uint32_t i = 0; i < 300; i++) {
        for (uint32_t asks = myr_rng_below(&rng, 90); asks > 0; asks--) {
            bool expected = left > 0;
            left -= expected;
            refused += !expected;
            assert_int_equal(login_allowed(&request, false), expected);
        }
        uint32_t steps = myr_rng_below(&rng, 50) == 0 ? 40 : myr_rng_below(&rng, 3);
        now_ms += 125 * steps;
        left = left + 25 * steps < 400 ? left + 25 * steps : 400;
    }
    assert_true(refused > 100); /* else nothing was looked at */
}

/* Twenty at once, then one a second; who has a token is not asked. */
static void guesses_flow_at_a_lower_rate(void **state)
{
    (void)state;
    struct request request = {.server = server, .from = "10.0.0.2"};
    struct request other = {.server = server, .from = "10.0.0.3"};
    for (uint32_t i = 0; i < 20; i++) {
        assert_true(login_allowed(&request, true));
        login_failed(&request);
    }
    assert_false(login_allowed(&request, true));
    assert_true(login_allowed(&request, false));
    assert_true(login_allowed(&other, true));
    now_ms += 999;
    assert_false(login_allowed(&request, true));
    now_ms += 1;
    assert_true(login_allowed(&request, true));
    assert_true(login_allowed(&request, true)); /* asking costs nothing, a wrong guess does */
    login_failed(&request);
    assert_false(login_allowed(&request, true));
    request.who = (struct token_row){.role = ROLE_VIEWER, .digest = "d"};
    assert_true(login_allowed(&request, true));
    request.who = (struct token_row){};
    now_ms += 3600000; /* after an hour it has twenty again, and no more */
    for (uint32_t i = 0; i < 20; i++) {
        assert_true(login_allowed(&request, true));
        login_failed(&request);
    }
    assert_false(login_allowed(&request, true));
}

/* --- visits */

/* The secret of the cookie, as a browser would send it. */
static void logs_in(const char *token, char secret[64])
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    struct request request = {.server = server, .from = "10.0.0.4"};
    struct myr_err err = {};
    myr_buf_printf(&request.body, "{\"token\":\"%s\"}", token);
    assert_int_equal(login_call(&request, &said, &err), MYR_OK);
    myr_buf_done(&request.body);
    assert_memory_equal(request.cookie, "myriad=", 7);
    snprintf(secret, 64, "%.*s", (int)strcspn(request.cookie + 7, ";"), request.cookie + 7);
}

static void logs_out(const char *secret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    struct request request = {.server = server};
    struct myr_err err = {};
    cookie = secret;
    assert_int_equal(logout_call(&request, &said, &err), MYR_OK);
    cookie = NULL;
}

/* Who it is for a header and a cookie: "user role". */
static void is_known(const char *with_header, const char *with_cookie, const char *method,
                     const char *url, const char *expected)
{
    char who[120];
    struct request request = {
        .server = server, .method = method, .url = url, .who = {.role = ROLE_ADMIN}};
    header = with_header;
    cookie = with_cookie;
    login_find(&request);
    header = cookie = NULL;
    snprintf(who, sizeof(who), "%s %s", request.who.user, role_names[request.who.role]);
    assert_string_equal(who, expected);
}

static void a_header_is_who_it_says(void **state)
{
    (void)state;
    char secret[64];
    add_token("one", "ada", ROLE_ADMIN);
    add_token("two", "uwe", ROLE_USER);
    logs_in("two", secret);
    is_known("Bearer one", NULL, "POST", "/v1/jobs", "ada admin");
    is_known("Bearer two", NULL, "GET", "/v1/jobs", "uwe user");
    is_known("Bearer two", "nonsense", "GET", "/v1/jobs", "uwe user");
    is_known("Bearer three", NULL, "GET", "/v1/jobs", " none");
    is_known("Bearer ", NULL, "GET", "/v1/jobs", " none");
    is_known("Bearer", NULL, "GET", "/v1/jobs", " none");
    is_known("bearer one", NULL, "GET", "/v1/jobs", " none");
    is_known(NULL, NULL, "GET", "/v1/jobs", " none");
    /* A wrong token is not made good by a cookie; another kind of header is no token. */
    is_known("Bearer three", secret, "GET", "/v1/jobs", " none");
    is_known("Basic x", secret, "GET", "/v1/jobs", "uwe viewer");
}

static void a_cookie_only_looks(void **state)
{
    (void)state;
    char first[64], second[64], third[64];
    add_token("one", "ada", ROLE_ADMIN);
    add_token("two", "uwe", ROLE_USER);
    logs_in("one", first);
    logs_in("two", second);
    logs_in("two", third);
    assert_int_equal(server->http->visits.count, 3);
    is_known(NULL, first, "GET", "/v1/tokens", "ada viewer");
    is_known(NULL, second, "GET", "/v1/jobs", "uwe viewer");
    is_known(NULL, first, "POST", "/v1/jobs", " none");
    is_known(NULL, first, "POST", "/v1/logout", "ada viewer");
    is_known(NULL, "nonsense", "GET", "/v1/jobs", " none");
    /* Who goes is gone, and nobody with him. */
    logs_out(first);
    is_known(NULL, first, "GET", "/v1/jobs", " none");
    is_known(NULL, second, "GET", "/v1/jobs", "uwe viewer");
    is_known(NULL, third, "GET", "/v1/jobs", "uwe viewer");
    logs_out(first);
    logs_out("nonsense");
    assert_int_equal(server->http->visits.count, 2);
    /* A token that is revoked takes its visits with it. */
    server->rows.tokens.count = 1;
    is_known(NULL, second, "GET", "/v1/jobs", " none");
}

static void a_visit_lasts_half_a_day(void **state)
{
    (void)state;
    char first[64], second[64];
    add_token("one", "ada", ROLE_ADMIN);
    logs_in("one", first);
    now_ms += 12 * 3600 * 1000 - 1;
    is_known(NULL, first, "GET", "/v1/jobs", "ada viewer");
    logs_in("one", second);
    assert_int_equal(server->http->visits.count, 2);
    now_ms += 1;
    is_known(NULL, first, "GET", "/v1/jobs", " none");
    is_known(NULL, second, "GET", "/v1/jobs", "ada viewer");
    logs_in("one", first); /* the one that is over goes when the next one comes */
    assert_int_equal(server->http->visits.count, 2);
    is_known(NULL, second, "GET", "/v1/jobs", "ada viewer");
    is_known(NULL, first, "GET", "/v1/jobs", "ada viewer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_flow_at_their_rate, begin, end),
        cmocka_unit_test_setup_teardown(guesses_flow_at_a_lower_rate, begin, end),
        cmocka_unit_test_setup_teardown(a_header_is_who_it_says, begin, end),
        cmocka_unit_test_setup_teardown(a_cookie_only_looks, begin, end),
        cmocka_unit_test_setup_teardown(a_visit_lasts_half_a_day, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
