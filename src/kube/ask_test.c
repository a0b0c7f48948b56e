/*
 * One question of a command and its answer, and requests that follow each other, against an API
 * server of the test's own, as one text (tests/kept/kube-ask.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <uv.h>

#include "api_test.h"
#include "client.h"
#include "kept.h"
#include "leaks.h"

/* libuv and OpenSSL keep tables for the whole process. */
long myr_leaks_allowed = 10000;

static void ask(const char *method, const char *path, const char *body, uint32_t timeout_s)
{
    char config[100];
    struct myr_kube_access access;
    struct myr_buf text = {}, answer = {};
    struct myr_err err = {};
    snprintf(config, sizeof(config), "%s/config", api.folder);
    const struct myr_kube_where where = {.kubeconfig = config, .lookup_env = api_env};
    assert_int_equal(myr_kube_access_find(&where, &access, NULL), MYR_OK);
    const struct myr_kube_question question = {
        .method = method, .path = path, .body = myr_str_from(body), .timeout_s = timeout_s};
    myr_buf_puts(&answer, ">");
    int rc = myr_kube_ask(&access, &question, &answer, &err);
    api_note("%s '%s' %s %s%s", rc == MYR_OK ? "well" : myr_err_name(err.code), answer.data,
             err.message, err.hint[0] ? "hint: " : "", err.hint);
    assert_int_equal(rc, err.code);
    assert_int_equal(myr_kube_ask(&access,
                                  &(struct myr_kube_question){.method = "GET", .path = "/"}, &text,
                                  NULL) == MYR_OK,
                     false); /* nothing is there; and nobody asks why */
    myr_buf_done(&text);
    myr_buf_done(&answer);
    myr_kube_access_done(&access);
}

static void a_question_is_answered_or_refused(void **state)
{
#define JOBS "/apis/batch/v1/namespaces/d/jobs"
    static char long_path[2100], long_message[500];
    static const struct {
        int way;
        const char *path, *text;
    } cases[] = {
        {200, JOBS, "{\"a\":1}"},
        {201, JOBS, "{\"a\":1}"},
        {299, JOBS, "{}"},
        {300, JOBS, "moved"},
        {199, JOBS, ""},
        {400, JOBS, "bad"},
        {401, JOBS, "who"},
        {403, JOBS, "you may not"},
        {403, JOBS, ""},
        {404, JOBS, ""},
        {404, JOBS, "the server could not find the requested resource"},
        {404, JOBS, "no such thing"},
        {404, "/apis/batch", ""},
        {404, "/apis/batch/v1?x=y", ""},
        {404, "/api/v1/pods?watch=1", ""},
        {404, "/apis/" JOBS JOBS JOBS JOBS, ""},
        {409, JOBS, "there\\nis\\tone"},
        {422, JOBS, "{no JSON"},
        {429, JOBS, "{\"message\":7}"},
        {499, JOBS, ""},
        {500, JOBS, "etcd"},
        {503, JOBS JOBS JOBS JOBS JOBS "?limit=5", "etcd"},
        {500, JOBS, long_message},
        {API_CLOSES, JOBS, ""},
        {API_DOES_IT, JOBS, ""},
        {API_IS_SILENT, JOBS, ""},
        {API_BABBLES, JOBS, ""},
        {API_BREAKS_OFF, JOBS, ""},
        {200, "/a b", NULL},
        {200, "/a\tb", NULL},
        {200,
         "/a\x7f"
         "b",
         NULL},
        {200, long_path, NULL},
    };
    (void)state;
    memset(long_path, 'x', sizeof(long_path) - 1);
    memset(long_message, 'm', sizeof(long_message) - 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        api_begin("a question");
        if (cases[i].text) {
            api_fault("POST", "/api", cases[i].way, cases[i].text, 1);
        }
        api_fault("GET", "", 404, "", 1);
        ask("POST", cases[i].path, i % 2 ? "{\"b\":2}" : "", i % 3 ? 0 : 7);
        api_end();
    }
}

static void paths_are_so_long_at_most(void **state)
{
    static char long_path[2100];
    (void)state;
    memset(long_path, 'x', sizeof(long_path) - 1);
    api_begin("nobody is there");
    api.refuses = true;
    ask("POST", JOBS, "", 0);
    api_end();
    for (size_t length = 1999; length < 2003; length++) {
        api_begin("a long path");
        memcpy(long_path, JOBS "/", sizeof(JOBS));
        long_path[length] = '\0';
        api.only = "nothing";
        api_fault("GET", "", 404, "", 1);
        if (length <= 2001) {
            api_fault("POST", "/api", 200, "{}", 1);
        }
        ask("POST", long_path, "", 0);
        long_path[length] = 'x';
        api_end();
    }
}

static void papers_that_are_none_are_refused(void **state)
{
    const struct myr_kube_access access = {.host = "127.0.0.1",
                                           .path = "",
                                           .url = "https://127.0.0.1:1",
                                           .port = 1,
                                           .ca = "no certificate"};
    const struct myr_kube_question question = {
        .method = "POST", .path = "/", .body = myr_str_from("{}")};
    struct myr_buf answer = {};
    struct myr_err err = {};
    (void)state;
    api_begin("a certificate that is none");
    int rc = myr_kube_ask(&access, &question, &answer, &err);
    assert_int_equal(rc, MYR_EINVAL);
    assert_non_null(strstr(err.message, "no certificate of an authority"));
    assert_int_equal(answer.len, 0);
    /* What OpenSSL keeps of a first time is there by now: a second one leaves nothing. */
    long before = myr_leaks_now();
    assert_int_equal(myr_kube_ask(&access, &question, &answer, &err), MYR_EINVAL);
    assert_int_equal(myr_leaks_now(), before);
    api_end();
}

/* --- requests that follow each other */

static struct client client;
static uv_loop_t loop;
static uint32_t answered;

static void on_done(void *context, const struct client_answer *answer)
{
    answered++;
    api_note("%s: %s %u '%.*s'", (const char *)context,
             answer->rc == MYR_OK ? "answered" : answer->err->message, answer->status,
             (int)answer->body.len, answer->body.data);
}

static void ask_many(uint32_t count, bool later)
{
    for (uint32_t i = 0; i < count; i++) {
        kube_ask(&client, &(struct client_request){.method = "GET",
                                                   .path = kube_path("/%s%u", later ? "l" : "u", i),
                                                   .later = later,
                                                   .done = on_done,
                                                   .context = later ? "later" : "urgent"});
    }
}

static void run(uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        api_note("turn %u: %u lines, %u unanswered, %llu asked", i, client.line_count,
                 kube_unanswered(&client), (unsigned long long)client.asked);
    }
}

/* So many at once, the rest when these are answered; those that may wait on a line of their own. */
static void requests_share_connections(void **state)
{
    static const struct myr_kube_access access = {
        .host = "::1", .path = "", .url = "http://[::1]:8001", .plain = true, .port = 8001};
    (void)state;
    api_begin("a hundred and forty requests");
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(kube_begin(&client, &loop, &access, 5, NULL), MYR_OK);
    api.answer_us = 1000000; /* not before they are waited for */
    ask_many(70, false);
    ask_many(70, true);
    run(3);
    api.answer_us = 0;
    api.last_ns = 0;
    for (uint32_t i = 0; i < api.piece_count; i++) {
        api.pieces[i].at_ns = 0;
    }
    run(4);
    assert_int_equal(answered, 140);
    kube_warm(&client);
    kube_warm(&client);
    api_fault("GET", "u1", API_IS_GONE, "", 1);
    api_fault("GET", "u3", API_IS_GONE, "", 1);
    ask_many(5, false);
    run(6);
    ask_many(3, false);
    ask_many(3, true);
    kube_flush(&client);
    kube_end(&client);
    ask_many(1, false); /* nobody hears of it */
    kube_flush(&client);
    assert_non_null(client.urgent.first);
    free(client.urgent.first->path);
    free(client.urgent.first);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    api_end();
}

/* The first answer breaks off: it failed, and those behind it may have been heard. */
static void what_a_broken_connection_left_is_asked_again(void **state)
{
    static const struct myr_kube_access access = {
        .host = "::1", .path = "/x", .url = "http://[::1]:8001", .plain = true, .port = 8001};
    static const int ways[] = {API_BREAKS_OFF, API_CLOSES, API_BABBLES};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
        api_begin("three requests of which the first is not answered");
        assert_int_equal(uv_loop_init(&loop), 0);
        assert_int_equal(kube_begin(&client, &loop, &access, 0, NULL), MYR_OK);
        api_fault("GET", "l0", ways[i], "", 1);
        ask_many(3, true);
        run(6);
        kube_end(&client);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
        api_end();
    }
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-ask.txt", &api.story);
    myr_buf_done(&api.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered_or_refused),
        cmocka_unit_test(paths_are_so_long_at_most),
        cmocka_unit_test(papers_that_are_none_are_refused),
        cmocka_unit_test(requests_share_connections),
        cmocka_unit_test(what_a_broken_connection_left_is_asked_again),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
