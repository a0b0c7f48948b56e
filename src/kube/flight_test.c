/*
 * Decisions that are carried out against an API server that errs, request by request, as one text
 * (tests/kept/kube-flight.txt): each way in which a binding or a deletion can go wrong, and what
 * becomes of the gang.
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

static const struct {
    int way;
    const char *text;
} ways[] = {
    {500, "etcd is away"}, {429, "too many"},    {401, "who?"},     {403, "not you"},
    {404, "no such pod"},  {409, "it is bound"}, {422, "no such"},  {400, "what?"},
    {302, "elsewhere"},    {API_CLOSES, ""},     {API_DOES_IT, ""}, {API_IS_SILENT, ""},
    {API_BABBLES, ""},     {API_BREAKS_OFF, ""}, {API_IS_GONE, ""}, {API_SAYS_TWICE, ""},
};

static void bindings_that_go_wrong(void **state)
{
    static const char *const paths[] = {"/pods/g-0/binding", "/pods/g-1/binding"};
    (void)state;
    for (size_t p = 0; p < MYR_ARRAY_COUNT(paths); p++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
            char title[80];
            snprintf(title, sizeof(title), "POST %s: %d", paths[p], ways[i].way);
            api_begin(title);
            api.only = "/pods/";
            api_nodes(4);
            api_gang("g", 3);
            api_fault("POST", paths[p], ways[i].way, ways[i].text, 1);
            api_schedule(24, 0);
            api_end();
        }
    }
}

/* Whose binding was it that was there already? */
static void bindings_that_are_looked_at(void **state)
{
#define POD(uid, placement, node)                                                           \
    "{\"metadata\":{\"uid\":\"" uid "\",\"annotations\":{\"myriad/placement\":\"" placement \
    "\"}},\"spec\":{\"nodeName\":\"" node "\"}}"
    static const struct {
        int status;
        const char *text;
    } found[] = {
        {200, POD("g-0.1", "1a1e395ae80-1", "n0")},
        {200, POD("g-0.2", "1a1e395ae80-1", "n0")},
        {200, POD("g-0.1", "1a1e395ae80-2", "n0")},
        {200, POD("g-0.1", "1a1e395ae80-1", "n1")},
        {200, "{}"},
        {200, "{no JSON"},
        {404, "no such pod"},
        {409, "what?"},
        {500, "etcd"},
        {403, "not you"},
        {API_CLOSES, ""},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(found); i++) {
        char title[200];
        snprintf(title, sizeof(title), "GET: %d %s", found[i].status, found[i].text);
        api_begin(title);
        api.only = "/pods/";
        api_nodes(2);
        api_gang("g", 1);
        api_fault("POST", "/binding", 409, "it is bound", 1);
        api_fault("GET", "/pods/g-0", found[i].status, found[i].text, 1);
        api_schedule(14, 0);
        api_end();
    }
}

static void a_node_is_lost(void)
{
    api_node("n1", "False");
}

static void deletions_that_go_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
        char title[80];
        snprintf(title, sizeof(title), "DELETE: %d", ways[i].way);
        api_begin(title);
        api.only = "/pods/";
        api.makes_again = true;
        api_nodes(4);
        api_gang("g", 2);
        api_at(1000, a_node_is_lost);
        api_fault("DELETE", "/pods/g-1", ways[i].way, ways[i].text, 1);
        api_schedule(26, 0);
        api_end();
    }
}

/* Somebody else goes on where one was stopped. */
static void what_was_begun_is_finished(void **state)
{
    static const char *const silent[] = {"/pods/g-0/", "/pods/g-1/", "/pods/g-3/"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(silent); i++) {
        char title[80];
        snprintf(title, sizeof(title), "one is stopped at %s, another one goes on", silent[i]);
        api_begin(title);
        api_nodes(5);
        api_gang("g", 4);
        api_fault("POST", silent[i], API_IS_SILENT, "", 1);
        api.only = "/pods/";
        api_schedule(2, 0);
        api.only = "/";
        api_schedule(5, 0);
        api_end();
    }
}

static void put_lease_away(void)
{
    api_fault("PUT", "/leases", 500, "etcd", 3);
}

static void a_gang_comes(void)
{
    api_gang("h", 2);
}

static void who_does_not_hold_the_lease_stops(void **state)
{
    static const int found[] = {API_IS_SILENT, 500, 201};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(found); i++) {
        char title[80];
        snprintf(title, sizeof(title), "the lease is lost in the middle, %d", found[i]);
        api_begin(title);
        api.only = "/binding";
        api_nodes(4);
        api_at(1000, put_lease_away);
        api_at(5800, a_gang_comes);
        api_fault("POST", "/pods/h-0/", found[i], "{}", 1);
        api_schedule(30, 6);
        api_end();
    }
}

static void owners(void)
{
    static const char *const alone[] = {"x-0", "y-0", "y-1"};
    api_gang("x", 1);
    api_gang("y", 2);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(alone); i++) {
        json_t *pod = api.objects[MYR_KUBE_PODS][api_find(MYR_KUBE_PODS, alone[i])];
        json_object_del(json_object_get(pod, "metadata"), "ownerReferences");
        api_keep(MYR_KUBE_PODS, pod);
    }
}

/* Pods without an owner, many pods, and words that are refused. */
static void what_is_told_of_it(void **state)
{
    (void)state;
    api_begin("pods of nobody");
    api.only = "/default/";
    api_nodes(4);
    owners();
    api_at(1000, a_node_is_lost);
    api_schedule(10, 0);
    api_end();
    api_begin("more pods than are told of");
    api.only = "/events";
    api_nodes(12);
    api_gang("g", 12);
    api_schedule(2, 0);
    api_end();
    api_begin("gangs of one, of which one waits");
    api.only = "/events";
    api_nodes(1);
    api_gang("g", 1);
    api_gang("h", 1);
    api_schedule(2, 0);
    api_end();
    api_begin("events that are refused");
    api.only = "/events";
    api_nodes(2);
    api_gang("g", 2);
    api_gang("h", 2);
    api_fault("POST", "/events", 403, "events is forbidden", 2);
    api_fault("POST", "/events", 500, "etcd", 1);
    api_fault("POST", "/events", API_CLOSES, "", 1);
    api_schedule(4, 0);
    api_end();
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-flight.txt", &api.story);
    myr_buf_done(&api.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings_that_go_wrong),
        cmocka_unit_test(bindings_that_are_looked_at),
        cmocka_unit_test(deletions_that_go_wrong),
        cmocka_unit_test(what_was_begun_is_finished),
        cmocka_unit_test(who_does_not_hold_the_lease_stops),
        cmocka_unit_test(what_is_told_of_it),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
