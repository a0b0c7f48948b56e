/*
 * The scheduler against an API server of the test's own, request by request, as one text
 * (tests/kept/kube-service.txt): what is asked, when, over which connection, and what is said; the
 * versions that are taken, who of several acts, and how long it waits for more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <uv.h>

#include "api_test.h"
#include "kept.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

static void a_gang_comes(void)
{
    api_gang("late", 3);
}

static void watches_end(void)
{
    api_tell(MYR_KUBE_NODES, "", 0);
    api_tell(MYR_KUBE_PODS, "", 0);
}

static void a_gang_is_bound(void **state)
{
    (void)state;
    api_begin("a gang is there, another one comes");
    api.page = 3;
    api_nodes(8);
    api_gang("g", 2);
    api_at(2000, a_gang_comes);
    api_at(8500, watches_end); /* in idle times */
    api_schedule(10, 15);
    api_end();
}

static void one_more_comes(void)
{
    char name[16];
    snprintf(name, sizeof(name), "g%u", api.made);
    api_gang(name, 1 + api.made % 2);
    if (api.made < 200) {
        api_at(api.clock_ns / 1000000 - 1000000 + 130, one_more_comes);
    }
}

static void work_is_summed_up(void **state)
{
    (void)state;
    api_begin("many gangs, one after the other");
    api.only = "g12";
    api_nodes(250);
    api.page = 1000;
    api_at(1000, one_more_comes);
    api_schedule(40, 0);
    api_end();
}

/* --- versions */

static void only_what_speaks_alike_is_worked_with(void **state)
{
    static const char *const releases[] = {
        "{\"major\":\"1\",\"minor\":\"15\"}",
        "{\"major\":\"1\",\"minor\":\"16\"}",
        "{\"major\":\"1\",\"minor\":\"16+\"}",
        "{\"major\":\"1\",\"minor\":\"+\"}",
        "{\"major\":\"2\",\"minor\":\"30\"}",
        "{\"major\":\"0\",\"minor\":\"30\"}",
        "{\"major\":\"1\",\"minor\":\"x\"}",
        "{\"major\":\"x\",\"minor\":\"30\"}",
        "{\"major\":\"\",\"minor\":\"\",\"gitVersion\":\"v0.0.0\"}",
        "{\"major\":\"\",\"minor\":\"\"}",
        "{\"major\":\"\",\"minor\":\"30\",\"gitVersion\":\"v0.0.0\"}",
        "{\"major\":\"1\",\"minor\":\"\",\"gitVersion\":\"v0.0.0\"}",
        "{\"major\":\"1234567890123456789012345\",\"minor\":\"1234567890123456789012345\"}",
        "{}",
        "[]",
        "hello",
        "",
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(releases); i++) {
        api_begin(releases[i]);
        api.only = "version";
        api.release = releases[i];
        api_schedule(4, 0);
        api_end();
    }
}

static void the_server_is_back(void)
{
    api.refuses = false;
}

static void other_papers(void)
{
    api_config("other");
}

static void no_papers(void)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/config", api.folder);
    unlink(path);
}

static void who_is_not_let_in_tries_again(void **state)
{
    static const int statuses[] = {401, 403, 404, 409, 429, 422, 500, 503, 302};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(statuses); i++) {
        char title[40];
        snprintf(title, sizeof(title), "status %d", statuses[i]);
        api_begin(title);
        api.only = "version";
        api_fault("GET", "/version", statuses[i], i % 2 ? "" : "no\\nnot now", 2);
        api_schedule(8, 0);
        api_end();
    }
    api_begin("nobody listens");
    api.refuses = true;
    api_at(7000, the_server_is_back);
    api_schedule(10, 0);
    api_end();
    api_begin("other papers");
    api_at(4000, other_papers);
    api_fault("GET", "/version", 401, "", 3);
    api_fault("GET", "/pods?limit", 401, "", 1);
    api_schedule(12, 0);
    api_end();
    api_begin("papers that are gone");
    api_at(1000, no_papers);
    api_fault("GET", "/version", 401, "", 2);
    api_schedule(8, 0);
    api_end();
}

static void put_token(const char *text)
{
    char path[100];
    struct myr_buf token = {};
    snprintf(path, sizeof(path), "%s/token", api.folder);
    myr_buf_puts(&token, text);
    assert_int_equal(myr_file_write(path, &token, NULL), MYR_OK);
    myr_buf_done(&token);
}

static void another_token(void)
{
    put_token("second\n");
}

static void no_token(void)
{
    put_token("");
}

/* Read anew every half minute; what is no token changes nothing. */
static void tokens_are_changed_in_their_file(void **state)
{
    char path[100];
    (void)state;
    api_begin("a token that is changed");
    api.only = "lease";
    api_config("x, tokenFile: token");
    put_token("first");
    api_at(2000, another_token);
    api_at(50000, no_token);
    api_schedule(95, 15);
    snprintf(path, sizeof(path), "%s/token", api.folder);
    unlink(path);
    api_end();
}

/* --- who acts */

static void put_lease(const char *holder, uint32_t version)
{
    char text[16];
    json_decref(api.lease);
    snprintf(text, sizeof(text), "%u", version);
    api.lease = json_pack("{s:{s:s},s:{s:s,s:i}}", "metadata", "resourceVersion", text, "spec",
                          "holderIdentity", holder, "leaseTransitions", 4);
}

static void somebody_renews(void)
{
    put_lease("somebody", ++api.version);
}

static void somebody_goes(void)
{
    put_lease("", ++api.version);
}

static void holders_act_and_others_wait(void **state)
{
    static const char *const holders[] = {"somebody", "", "me"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(holders); i++) {
        char title[60];
        snprintf(title, sizeof(title), "the lease is of '%s', who is silent", holders[i]);
        api_begin(title);
        api.only = "lease";
        api_nodes(2);
        api_gang("g", 1);
        put_lease(holders[i], 50);
        api_schedule(16, 6);
        api_end();
    }
    api_begin("somebody renews it, and leaves");
    api.only = "lease";
    put_lease("somebody", 50);
    api_at(3000, somebody_renews);
    api_at(8000, somebody_renews);
    api_at(13000, somebody_goes);
    api_schedule(18, 6);
    api_end();
    api_begin("somebody takes it");
    api.only = "lease";
    api_nodes(2);
    api_at(4500, somebody_renews);
    api_at(9500, a_gang_comes);
    api_schedule(22, 6);
    api_end();
}

static void leases_are_not_answered(void)
{
    api_fault("PUT", "/leases", API_IS_SILENT, "", 1);
}

static void leases_that_are_none(void **state)
{
    static const char *const bodies[] = {
        "{}", "{\"metadata\":{\"resourceVersion\":\"\"}}",
        "{\"metadata\":{\"resourceVersion\":\"123456789.123456789.123456789.123456789.123456789."
        "123456789.1234\"}}",
        "{\"metadata\":{\"resourceVersion\":\"123456789.123456789.123456789.123456789.123456789."
        "123456789.123\"}}",
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"me\","
        "\"leaseTransitions\":-1}}"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bodies); i++) {
        api_begin(bodies[i]);
        api.only = "lease";
        api_fault("GET", "/leases", 200, bodies[i], 1);
        api_schedule(5, 6);
        api_end();
    }
    api_begin("a lease that cannot be read or written");
    api.only = "lease";
    api_fault("GET", "/leases", 500, "etcd", 1);
    api_fault("GET", "/leases", 403, "", 1);
    api_fault("POST", "/leases", 403, "leases is forbidden", 1);
    api_fault("POST", "/leases", 409, "somebody was quicker", 1);
    api_fault("POST", "/leases", 201, "{}", 1);
    api_fault("POST", "/leases", 302, "", 1);
    api_schedule(20, 6);
    api_end();
    api_begin("a lease that is not renewed");
    api.only = "lease";
    api_nodes(2);
    api_at(3000, a_gang_comes);
    api_fault("PUT", "/leases", 500, "etcd", 4);
    api_fault("PUT", "/leases", 200, "{\"metadata\":{\"resourceVersion\":\"1\"}}", 1);
    api_schedule(22, 6);
    api_end();
    api_begin("nobody says that it was given back");
    api.only = "lease";
    api_at(4000, leases_are_not_answered);
    api_schedule(4, 15);
    api_schedule(4, 15);
    api_end();
    api_begin("it ends while it asks");
    api.only = "lease";
    api_fault("POST", "/leases", API_IS_SILENT, "", 1);
    api_schedule(4, 15);
    api_end();
}

static void stop_now(void)
{
    raise(SIGTERM);
}

static void interrupt(void)
{
    raise(SIGINT);
    raise(SIGTERM);
}

static void signals_end_it(void **state)
{
    (void)state;
    api_begin("SIGTERM");
    api.only = "lease";
    api_at(1234, stop_now);
    api_schedule(0, 15);
    api_end();
    api_begin("SIGINT, before anything is known");
    api.refuses = true;
    api_at(500, interrupt);
    api_schedule(0, 15);
    api_end();
}

/* --- how long it waits for more */

static void many_come(void)
{
    api_gang("many", 40);
}

static void one_comes(void)
{
    api_pod("slow", 3, (uint32_t)(api.clock_ns / 1000000) % 3);
}

static void somebody_elses_pods_change(void)
{
    char name[32];
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "many-%u", i);
        api_keep(MYR_KUBE_PODS, api.objects[MYR_KUBE_PODS][api_find(MYR_KUBE_PODS, name)]);
    }
}

static void it_waits_for_what_is_to_come(void **state)
{
    static const uint32_t paces[] = {0, 50, 900, 30000};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(paces); i++) {
        char title[60];
        snprintf(title, sizeof(title), "an answer every %u us", paces[i]);
        api_begin(title);
        api.only = "-39/binding";
        api.answer_us = paces[i];
        api.tells_sleep = true;
        api_nodes(50);
        api_at(3000, many_come);
        for (int64_t ms = 6000; ms < 6060; ms += 20) {
            api_at(ms, one_comes);
        }
        for (int64_t ms = 9000; ms < 9500; ms += 40) {
            api_at(ms, somebody_elses_pods_change);
        }
        api_at(9720, somebody_elses_pods_change);
        api_schedule(12, 0);
        api_end();
    }
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-service.txt", &api.story);
    myr_buf_done(&api.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_is_bound),
        cmocka_unit_test(work_is_summed_up),
        cmocka_unit_test(only_what_speaks_alike_is_worked_with),
        cmocka_unit_test(who_is_not_let_in_tries_again),
        cmocka_unit_test(tokens_are_changed_in_their_file),
        cmocka_unit_test(holders_act_and_others_wait),
        cmocka_unit_test(leases_that_are_none),
        cmocka_unit_test(signals_end_it),
        cmocka_unit_test(it_waits_for_what_is_to_come),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
