/*
 * Those who wait for an answer, those who watch, pages that are open, and what is asked while
 * nothing can be kept, as one text (tests/kept/server-waits.txt). Library and clocks are the
 * test's own. Lines at the margin are what the test does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "full_store_test.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "library_test.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* --- what is on the disk */

static int count_one(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(uint32_t *)context;
    return MYR_OK;
}

/* How many keys of each kind are on the disk. */
static void put_kept(void)
{
    static const char *const kinds[] = {"token/", "enrol/", "node/", "job/", "tenant/", "relay/"};
    myr_buf_puts(&story, "  on the disk:");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        uint32_t found = 0;
        struct myr_err err = {};
        assert_int_equal(store_scan(server->store, kinds[i], count_one, &found, &err), MYR_OK);
        myr_buf_printf(&story, " %s%u", kinds[i], found);
    }
    myr_buf_printf(&story, "; known: %zu tokens, %zu to enrol%s\n",
                   (size_t)server->rows.tokens.count, (size_t)server->rows.enrols.count,
                   server->stuck ? "; read-only" : "");
}

/* --- those who wait */

static void answers(uint32_t node, uint32_t rank, uint64_t offset, const char *text, bool ended)
{
    say(&agents[node], MYR_WIRE_OUTPUT, 0,
        &(struct myr_wire_output){.job = 0,
                                  .rank = rank,
                                  .offset = offset,
                                  .size = 20,
                                  .ended = ended,
                                  .data = myr_str_from(text)});
}

static struct MHD_Connection *asks_for_output(const char *rank)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    with(connection, "arank", rank);
    myr_buf_printf(&story, "what has rank %s written?\n", rank);
    put(connection, "GET", "/v1/jobs/0/logs", MYR_STR(""));
    put_answer(connection);
    return connection;
}

static void put_waiting(void)
{
    uint32_t count = 0;
    for (const struct request *request = server->http->waiting, *before = NULL; request;
         before = request, request = request->next) {
        assert_ptr_equal(request->before, before);
        assert_true(request->waiting);
        count++;
    }
    myr_buf_printf(&story, "  %u wait\n", count);
}

static void a_job_runs(void)
{
    join(0, 100);
    sound(0);
    join(1, 100);
    sound(1);
    ask("Bearer u", "POST", "/v1/jobs", "name: a\ngpus: 16\ncommand: x\n");
    result(0, MYR_WIRE_STARTED, 0, 1, 0, "");
    result(1, MYR_WIRE_STARTED, 0, 1, 0, "");
}

static void output_is_waited_for(void)
{
    static const char *const bad[][2] = {
        {"arank", "16"}, {"arank", "x"}, {"aoffset", "-1"}, {"aepoch", "2"}, {"aepoch", ""}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        with(connection, "hAuthorization", "Bearer v");
        with(connection, bad[i][0], bad[i][1]);
        myr_buf_printf(&story, "logs with %s=%s\n", bad[i][0] + 1, bad[i][1]);
        put(connection, "GET", "/v1/jobs/0/logs", MYR_STR(""));
        put_answer(connection);
        goes(connection);
    }
    struct MHD_Connection *all[5];
    static const char *const ranks[] = {"0", "3", "9", "15", "3"};
    for (size_t i = 0; i < 5; i++) {
        all[i] = asks_for_output(ranks[i]);
    }
    put_waiting();
    uint32_t runs = lib.runs;
    answers(0, 3, 4, "abcd", true); /* the middle, then the first and the last */
    assert_true(server->http->again);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    assert_true(lib.runs > runs);
    put_answer(all[1]);
    put_waiting();
    answers(0, 0, 16, "wxyz", true);
    put_answer(all[0]);
    answers(0, 3, 16, "wxyz", false);
    put_answer(all[4]);
    put_waiting();
    myr_buf_puts(&story, "ten seconds, and a little\n");
    pass_ms(10000);
    http_second(server);
    put_waiting();
    pass_ms(1);
    http_second(server);
    put_waiting();
    put_answer(all[2]);
    put_answer(all[3]);
    answers(1, 9, 0, "late", true); /* nobody waits for it any more */
    for (size_t i = 0; i < 5; i++) {
        goes(all[i]);
    }
    struct MHD_Connection *dropped = asks_for_output("2");
    myr_buf_puts(&story, "its node has dropped it\n");
    say(&agents[0], MYR_WIRE_OUTPUT, 0, &(struct myr_wire_output){.rank = 2, .ended = true});
    put_answer(dropped);
    goes(dropped);
    dropped = asks_for_output("2");
    myr_buf_puts(&story, "it has, and it is empty\n");
    say(&agents[0], MYR_WIRE_OUTPUT, 1, &(struct myr_wire_output){.rank = 2, .ended = true});
    put_answer(dropped);
    goes(dropped);
    struct MHD_Connection *one = asks_for_output("8");
    myr_buf_puts(&story, "its agent goes\n");
    gone(&agents[1]);
    put_answer(one);
    goes(one);
    goes(asks_for_output("8"));
}

/* Whoever brings no whole request in twenty seconds is let go; one that is answered is not. */
static void slow_ones(void)
{
    int fds[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    struct MHD_Connection *slow = comes_from("10.0.0.5");
    struct MHD_Connection *asking = asks_for_output("1");
    struct MHD_Connection *third = comes_from("10.0.0.6");
    slow->fd = fds[0];
    answers(0, 1, 0, "x", true);
    put_answer(asking);
    assert_int_equal(((struct peer *)asking->own)->since_ms, -1);
    goes(third); /* the newest, the oldest and the one between can go */
    myr_buf_puts(&story, "twenty seconds, and a little\n");
    pass_ms(20000);
    http_second(server);
    put_told();
    assert_int_equal(read(fds[1], &byte, 1), -1);
    pass_ms(1);
    http_second(server);
    put_told();
    assert_int_equal(read(fds[1], &byte, 1), 0);
    pass_ms(30000);
    http_second(server); /* once */
    put_told();
    lib.completed(lib.context, asking, &asking->request, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    assert_int_equal(((struct peer *)asking->own)->since_ms, steady_ms());
    goes(slow);
    goes(asking);
    assert_null(server->http->peers);
    close(fds[0]);
    close(fds[1]);
}

/* --- those who watch */

static void reads(struct MHD_Connection *connection, size_t max)
{
    char piece[4096];
    struct MHD_Response *response = connection->response;
    while (!connection->suspended) {
        ssize_t got = response->read(response->context, 0, piece, max);
        if (got <= 0) {
            myr_buf_printf(&story, "  %s\n", got == 0 ? "sleeps" : "the end");
            return;
        }
        myr_buf_puts(&story, "  ");
        myr_json_quote(&story, (struct myr_str){piece, (size_t)got});
        myr_buf_puts(&story, "\n");
    }
}

static struct MHD_Connection *watches(const char *name, const char *value)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    if (name) {
        with(connection, name, value);
    }
    myr_buf_printf(&story, "watches, %s %s\n", name ? name + 1 : "from", name ? value : "now");
    put(connection, "GET", "/v1/events", MYR_STR(""));
    put_answer(connection);
    return connection;
}

static void watchers(void)
{
    struct MHD_Connection *all[4];
    char last[32];
    server->feed.rang = watch_rang;
    server->feed.context = server;
    snprintf(last, sizeof(last), "%llu", (unsigned long long)server->feed.next - 2);
    all[0] = watches(NULL, NULL);
    reads(all[0], 4096);
    assert_true(all[0]->suspended);
    all[1] = watches("aafter", last);
    reads(all[1], 100);
    all[2] = watches("hLast-Event-ID", "999999999999");
    all[3] = watches("hLast-Event-ID", "x");
    reads(all[2], 4096);
    reads(all[3], 4096);
    uint32_t runs = lib.runs;
    feed_notice(server, "something");
    for (size_t i = 0; i < 4; i++) {
        assert_false(all[i]->suspended);
    }
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    assert_true(lib.runs > runs);
    for (size_t i = 0; i < 4; i++) {
        reads(all[i], 4096);
    }
    myr_buf_puts(&story, "five seconds in which nothing happens\n");
    for (uint32_t i = 0; i < 5; i++) {
        watch_second(server);
        myr_buf_printf(&story, "  %s\n", all[0]->suspended ? "sleeps" : "is woken");
    }
    reads(all[0], 4096);
    myr_buf_puts(&story, "two leave\n");
    goes(all[3]);
    goes(all[1]);
    assert_int_equal(server->http->watcher_count, 2);
    myr_buf_puts(&story, "more happens than is remembered\n");
    for (uint32_t i = 0; i < FEED_ITEMS + 3; i++) {
        feed_put(server, "doorbell", MYR_NONE, MYR_STR(""));
    }
    struct watcher *watcher = server->http->watchers;
    char piece[100];
    assert_ptr_equal(watcher->connection, all[2]);
    assert_int_equal(all[2]->response->read(watcher, 0, piece, 20), 20);
    const char *unread = watcher->text.data + watcher->at - 20;
    assert_int_equal(strncmp(unread, ": alive\n\nevent: lost\ndata: {\"seq\":", 34), 0);
    assert_int_equal(watcher->next, server->feed.next);
    size_t len = watcher->text.len;
    assert_int_equal(all[2]->response->read(watcher, 0, piece, 100), 100);
    assert_int_equal(watcher->text.len, len); /* nothing twice */
    told = server->feed.next;
    server->stopping = true;
    reads(all[0], 4096);
    server->stopping = false;
    goes(all[0]);
    goes(all[2]);
    assert_null(server->http->watchers);
    server->http->watcher_count = 1000;
    goes(watches(NULL, NULL));
    server->http->watcher_count = 999;
    goes(watches(NULL, NULL));
    server->http->watcher_count = 0;
    server->feed.rang = NULL;
}

/* A watcher that does not read is left behind: a mebibyte waits for it, and then no more. */
static void one_that_does_not_read(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct MHD_Connection *one = watches(NULL, NULL);
    struct watcher *watcher = server->http->watchers;
    char piece[8];
    for (uint32_t i = 0; i < 1000; i++) {
        myr_buf_putc(&text, 'x');
    }
    for (uint32_t i = 0; i < 2000; i++) {
        feed_notice(server, text.data);
    }
    told = server->feed.next;
    assert_int_equal(one->response->read(watcher, 0, piece, 8), 8);
    assert_in_range(watcher->text.len, 1 << 20, (1 << 20) + 2000);
    assert_in_range(server->feed.next - watcher->next, 900, 1100);
    goes(one);
}

/* --- pages */

static char cookie[64];

static void log_in(const char *body)
{
    struct MHD_Connection *connection = comes_from("10.0.0.3");
    myr_buf_printf(&story, "login %s\n", body);
    put(connection, "POST", "/v1/login", myr_str_from(body));
    const char *set = ((struct request *)connection->request)->cookie;
    if (set[0]) {
        snprintf(cookie, sizeof(cookie), "%.*s", (int)strcspn(set + 7, ";"), set + 7);
    }
    put_answer(connection);
    goes(connection);
}

static void page_asks(const char *method, const char *url)
{
    struct MHD_Connection *connection = comes_from("10.0.0.3");
    with(connection, "cmyriad", cookie);
    myr_buf_printf(&story, "the page: %s %s\n", method, url);
    put(connection, method, url, MYR_STR(""));
    put_answer(connection);
    goes(connection);
}

static void pages(void)
{
    log_in("");
    log_in("{\"token\":\"none\"}");
    log_in("{\"token\":\"a\"}");
    page_asks("GET", "/v1/queue");
    page_asks("GET", "/v1/tokens"); /* an administrator's page reads, as everybody's */
    page_asks("POST", "/v1/nodes/n0/drain");
    myr_buf_puts(&story, "twelve hours, all but a little\n");
    pass_ms(12 * 3600 * 1000 - 1);
    page_asks("GET", "/v1/queue");
    pass_ms(1);
    page_asks("GET", "/v1/queue");
    assert_int_equal(server->http->visits.count, 1);
    log_in("{\"token\":\"o\"}");
    assert_int_equal(server->http->visits.count, 1); /* the old one is forgotten */
    log_in("{\"token\":\"v\"}");
    char other[64];
    memcpy(other, cookie, sizeof(other));
    log_in("{\"token\":\"o\"}");
    page_asks("POST", "/v1/logout");
    page_asks("GET", "/v1/queue");
    assert_int_equal(server->http->visits.count, 2);
    memcpy(cookie, other, sizeof(other));
    page_asks("GET", "/v1/queue");
    myr_buf_puts(&story, "the token of the page is revoked\n");
    for (uint32_t i = 0; i < server->rows.tokens.count; i++) {
        if (strcmp(server->rows.tokens.items[i].user, "vera") == 0) {
            rows_drop_token(server, i);
        }
    }
    page_asks("GET", "/v1/queue");
    give("v", "vera", "", ROLE_VIEWER);
    while (server->http->visits.count < 9999) {
        myr_vec_push(&server->http->visits, (struct visit){.until_ms = INT64_MAX});
    }
    log_in("{\"token\":\"v\"}");
    log_in("{\"token\":\"v\"}");
    server->http->visits.count = 0;
    page_asks("POST", "/v1/logout");
}

/* --- nothing can be kept */

static void a_full_disk(void)
{
    server->store = full_store(server->store);
    join(1, 100);
    taken();
    put_kept();
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"una\",\"role\":\"user\"}");
    put_kept(); /* it is there before it was told */
    myr_buf_puts(&story, "the disk is full\n");
    full = true;
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"ulf\",\"role\":\"user\"}");
    put_kept();
    ask(NULL, "GET", "/healthz", "");
    ask("Bearer a", "POST", "/v1/tokens", "{\"user\":\"ulf\",\"role\":\"user\"}");
    ask("Bearer u", "POST", "/v1/jobs", "gpus: 1\ncommand: x\n");
    ask("Bearer u", "POST", "/v1/jobs/0/cancel", "");
    ask("Bearer a", "POST", "/v1/nodes/n0/drain", "");
    ask("Bearer a", "POST", "/v1/nodes/n0/revoke", "");
    ask("Bearer a", "POST", "/v1/tenants/new", "{\"weight\":2}");
    put_kept();
    myr_buf_puts(&story, "and a turn later still\n");
    desk_turn(server);
    put_told();
    myr_buf_puts(&story, "there is room again\n");
    full = false;
    desk_turn(server);
    put_told();
    put_kept();
    ask("Bearer u", "POST", "/v1/jobs", "gpus: 1\ncommand: x\n");
    ask("Bearer u", "POST", "/v1/jobs/0/cancel", "");
    put_kept();
}

static void put_authority(void)
{
    char path[128];
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, key = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/ca.pem", bench.folder);
    assert_int_equal(myr_io_ca_create("trial", 10, &ca, &key, &err), MYR_OK);
    assert_int_equal(myr_file_write(path, &ca, &err), MYR_OK);
}

static void drop_authority(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/ca.pem", bench.folder);
    assert_int_equal(unlink(path), 0);
}

/* The same, where it is full from the very request on. */
static void full_at_each(void)
{
    static const char *const all[][2] = {
        {"/v1/jobs", "gpus: 1\ncommand: x\n"}, {"/v1/nodes/n2/drain", ""},
        {"/v1/nodes/n2/revoke", ""},           {"/v1/tenants/t2", "{\"weight\":2}"},
        {"/v1/tokens/ID/revoke", ""},          {"/v1/enrol", ""},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        char url[64];
        snprintf(url, sizeof(url), "%s", all[i][0]);
        char *id = strstr(url, "ID");
        if (id) {
            snprintf(id, 20, "%.12s/revoke", server->rows.tokens.items[0].digest);
        }
        full = true;
        ask("Bearer b", "POST", url, all[i][1]);
        put_kept();
        full = false;
        desk_turn(server);
        put_told();
        put_kept();
    }
    for (size_t i = 0; i < server->rows.tokens.count; i++) {
        myr_buf_printf(&story, "  a token of %s\n", server->rows.tokens.items[i].user);
    }
    ask("Bearer a", "GET", "/v1/nodes/n2", "");
}

static void backups(void)
{
    struct store *whole = server->store;
    server->store = store_own_if(whole, &full_ops); /* the file itself is what is copied */
    struct MHD_Connection *first = begins("Bearer a", "POST", "/v1/backup", "");
    ask("Bearer a", "POST", "/v1/backup", "");
    myr_buf_puts(&story, "the machine stands still for an hour\n");
    pass_ms(3600000);
    http_second(server);
    assert_true(first->suspended);
    while (server->backup) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    }
    put_answer(first);
    char head[16] = "";
    assert_int_equal(pread(first->response->fd, head, 15, 0), 15);
    assert_string_equal(head, "SQLite format 3");
    goes(first);
    struct MHD_Connection *second = begins("Bearer a", "POST", "/v1/backup", "");
    backup_stop(server);
    put_answer(second);
    goes(second);
    server->store = whole;
}

static void those_who_wait(void **state)
{
    (void)state;
    serving_begin();
    assert_int_equal(begin_at("127.0.0.1", 4680), MYR_OK);
    a_job_runs();
    output_is_waited_for();
    slow_ones();
    watchers();
    one_that_does_not_read();
    pages();
    a_full_disk();
    give("b", "bea", "bea", ROLE_ADMIN);
    put_authority();
    full_at_each();
    drop_authority();
    backups();
    struct MHD_Connection *last = asks_for_output("0"), *watcher = watches(NULL, NULL);
    reads(watcher, 4096);
    server->stopping = true;
    struct http *http = server->http;
    http_end(server);
    put_answer(last);
    assert_false(watcher->suspended);
    goes(asks_for_output("3")); /* behind the other, on the same connection */
    goes(last);
    goes(watcher);
    (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    free(http);
    server->http = NULL;
    cover_folder();
    assert_kept("server-waits.txt", &story);
    serving_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
