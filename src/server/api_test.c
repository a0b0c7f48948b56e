/*
 * What is asked of jobs, tokens, tenants and nodes, with every bound of it, as one text
 * (tests/kept/server-api.txt). Library and clocks are the test's own.
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

/* With up to two headers or arguments. */
static void ask_so(const char *whose, const char *method, const char *url, const char *body,
                   const char *const *more)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", whose);
    myr_buf_printf(&story, "%s: %s %s", whose, method, url);
    for (uint32_t i = 0; more[i]; i += 2) {
        with(connection, more[i], more[i + 1]);
        myr_buf_printf(&story, " %s=%s", more[i] + 1, more[i + 1]);
    }
    myr_buf_printf(&story, "%s%s\n", body[0] ? " " : "", body);
    put(connection, method, url, myr_str_from(body));
    put_answer(connection);
    goes(connection);
    pass_ms(100);
}

#define ASK_WITH(url, ...) \
    ask_so("Bearer v", "GET", url, "", (const char *const[]){__VA_ARGS__, NULL})

static void said(const char *whose, const char *url, const char *body)
{
    ask(whose, "POST", url, body);
    pass_ms(100);
}

#define JOB "gpus: 1\ncommand: x\n"

static void what_is_missing(void)
{
    said("Bearer a", "/v1/tokens", "{\"user\":\"una\"}");
    said("Bearer a", "/v1/tokens", "{\"role\":\"user\"}");
    said("Bearer a", "/v1/tokens", "");
    said("Bearer a", "/v1/tenants/t", "");
    said("Bearer a", "/v1/tenants/t", "{}");
    said("Bearer a", "/v1/tenants/t", "{\"weight\":\"x\"}");
    said("Bearer a", "/v1/inject", "{\"fault\":\"x\"}");
    said("Bearer a", "/v1/design", "");
    said("Bearer a", "/v1/design", "{\"nodes\":\"n[0-5]\"}");
    said("Bearer a", "/v1/design", "{\"nodes\":\"n[0-5]\",\"gpus_per_node\":\"8\"}");
    said("Bearer a", "/v1/design",
         "{\"nodes\":\"n[0-5]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"4\"}");
    said("Bearer a", "/v1/nodes/n9/drain", "");
    said("Bearer a", "/v1/nodes/n[0-9]/drain", "");
    said("Bearer a", "/v1/nodes/n[/drain", "");
    said("Bearer a", "/v1/nodes/n9/revoke", "");
    said("Bearer a", "/v1/relays/r9/revoke", "");
    said("Bearer a", "/v1/jobs/0/cancel", "");
}

static void jobs(void)
{
    said("Bearer o", "/v1/jobs", JOB); /* whose ranks would they be? */
    said("Bearer u", "/v1/jobs", "");
    said("Bearer u", "/v1/jobs", "gpus: 49\ncommand: x\n");
    server->config.spares = 2;
    said("Bearer u", "/v1/jobs", "gpus: 33\ncommand: x\n");
    said("Bearer u", "/v1/jobs", "name: whole\ngpus: 32\ncommand: x\npriority: 7\n");
    server->config.spares = 0;
    static const char *const key[] = {"hIdempotency-Key", "k1", NULL};
    ask_so("Bearer u", "POST", "/v1/jobs", JOB, key);
    ask_so("Bearer u", "POST", "/v1/jobs", JOB, key);
    ask_so("Bearer u", "POST", "/v1/jobs", "gpus: 2\ncommand: x\n", key);
    ask_so("Bearer w", "POST", "/v1/jobs", JOB, key); /* another's key is another one */
    static const char *const keys[] = {"hIdempotency-Key", "k2", NULL};
    ask_so("Bearer u", "POST", "/v1/jobs", JOB "name: many\narray: 7-9\ntenant: t2\n", keys);
    ask_so("Bearer u", "POST", "/v1/jobs", JOB "name: many\narray: 7-9\ntenant: t2\n", keys);
    for (uint32_t i = 0; i < server->rows.jobs.count; i++) {
        const struct job_row *row = rows_job(server, i);
        myr_buf_printf(&story, "  job %u '%s' of %s as %s, tenant %u, index %u, at %lld\n", i,
                       row->name, row->user, row->unix_user, row->tenant, row->array_index,
                       (long long)row->submitted_ms);
    }
    said("Bearer w", "/v1/jobs/1/cancel", "");
    said("Bearer o", "/v1/jobs/1/cancel", "");
    said("Bearer u", "/v1/jobs/1/cancel", ""); /* said twice it is the same */
    said("Bearer w", "/v1/jobs/2/cancel", "");
    ask("Bearer v", "GET", "/v1/jobs/1", "");
    ask("Bearer v", "GET", "/v1/jobs/0/explain", "");
    said("Bearer u", "/v1/jobs", JOB "after: 1\n");
    said("Bearer u", "/v1/jobs", JOB "after: 0\n");
}

static void pages(void)
{
    ASK_WITH("/v1/jobs", "alimit", "0");
    ASK_WITH("/v1/jobs", "alimit", "2001");
    ASK_WITH("/v1/jobs", "alimit", "x");
    ASK_WITH("/v1/jobs", "abefore", "4294967296");
    ASK_WITH("/v1/jobs", "abefore", "-1");
    ASK_WITH("/v1/jobs", "alimit", "1");
    ASK_WITH("/v1/jobs", "alimit", "2", "abefore", "4");
    ASK_WITH("/v1/jobs", "alimit", "2", "abefore", "2");
    ASK_WITH("/v1/jobs", "abefore", "1");
    ASK_WITH("/v1/jobs", "abefore", "0");
    ASK_WITH("/v1/jobs", "abefore", "4294967295", "alimit", "1");
    ASK_WITH("/v1/jobs", "astate", "cancelled");
    ASK_WITH("/v1/jobs", "aall", "1", "alimit", "3");
    ASK_WITH("/v1/jobs", "aall", "1", "abefore", "3");
    ask("Bearer v", "GET", "/v1/queue", "");
}

static void tokens(void)
{
    char url[64];
    ask("Bearer a", "GET", "/v1/tokens", "");
    said("Bearer a", "/v1/tokens/ca978112ca1/revoke", "");
    said("Bearer a", "/v1/tokens/ca978112ca1bb/revoke", "");
    said("Bearer a", "/v1/tokens/000000000000/revoke", "");
    snprintf(url, sizeof(url), "/v1/tokens/%.12s/revoke", server->rows.tokens.items[0].digest);
    said("Bearer a", url, "");
    said("Bearer a", "/v1/tokens/ca978112ca1b/revoke", ""); /* her own, and the last */
    give("b", "bea", "", ROLE_ADMIN);
    said("Bearer a", "/v1/tokens/ca978112ca1b/revoke", "");
    ask("Bearer a", "GET", "/v1/tokens", "");
    ask("Bearer b", "GET", "/v1/tokens", "");
}

/* There is room for 256. */
static void tenants(void)
{
    char name[16];
    while (server->rows.tenants.count < 255) {
        snprintf(name, sizeof(name), "x%zu", (size_t)server->rows.tenants.count);
        assert_int_not_equal(rows_tenant(server, name), MYR_NONE);
    }
    said("Bearer b", "/v1/tenants/last", "{\"weight\":3}");
    said("Bearer b", "/v1/tenants/more", "{\"weight\":3}");
    said("Bearer u", "/v1/jobs", JOB "tenant: more\n");
    said("Bearer u", "/v1/jobs", JOB "tenant: last\n");
    char long_name[80];
    for (uint32_t len = 63; len < 65; len++) {
        snprintf(long_name, sizeof(long_name), "/v1/tenants/%0*d", (int)len, 0);
        said("Bearer b", long_name, "{\"weight\":3}");
    }
}

/* The reasons of the first fifty alone are looked for. */
static void a_long_queue(void)
{
    for (uint32_t i = 0; i < 60; i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        with(connection, "hAuthorization", "Bearer u");
        put(connection, "POST", "/v1/jobs", MYR_STR(JOB));
        assert_int_equal(connection->status, 200);
        goes(connection);
        pass_ms(100);
    }
    told = server->feed.next; /* so many words, and all alike */
    struct myr_buf aside = story;
    story = (struct myr_buf){};
    put_told();
    myr_buf_done(&story);
    story = aside;
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer w");
    put(connection, "GET", "/v1/queue", MYR_STR(""));
    uint32_t listed = 0, silent = 0;
    for (const char *at = connection->response->body.data; (at = strstr(at, "\"reason\":\""));
         at++) {
        listed++;
        silent += at[10] == '"';
    }
    myr_buf_printf(&story, "%u are in the queue, %u without a reason\n", listed, silent);
    goes(connection);
}

/* One is away, then it carries two of which one has said hello, then it is revoked. */
static void relays(void)
{
    uint32_t row = rows_relay(server, "r1", true);
    give("v", "vera", "", ROLE_VIEWER);
    ask("Bearer v", "GET", "/v1/relays", "");
    struct session *line = session_new(server), *behind[2];
    snprintf(line->address, sizeof(line->address), "10.0.0.50:7");
    session_carry(line, row);
    for (uint32_t i = 0; i < 2; i++) {
        behind[i] = session_new(server);
        behind[i]->via = line;
        behind[i]->channel = i;
        myr_vec_push(&line->carrier->sessions, behind[i]);
    }
    behind[1]->node = 3;
    server->rows.nodes[3].session = behind[1];
    myr_vec_push(&line->carrier->sessions, NULL);
    ask("Bearer v", "GET", "/v1/relays", "");
    said("Bearer b", "/v1/relays/r1/revoke", "");
    assert_true(line->over);
    behind[1]->over = true;
    ask("Bearer v", "GET", "/v1/relays", "");
    said("Bearer b", "/v1/relays/r1/revoke", ""); /* again, and nobody is there any more */
    relay_gone(line);
    session_gone(line);
    assert_null(server->rows.nodes[3].session);
    put_told();
}

static int never(struct server *unused, const struct myr_job_spec *spec, const struct job_row *row,
                 struct myr_err *err)
{
    (void)unused;
    return myr_err_set(err, MYR_ERANGE, "%s of %u GPUs is not wanted here", row->name, spec->gpus);
}

/* Refused by the world, taken while the disk is full, over already. */
static void jobs_at_their_ends(void)
{
    uint32_t before = myr_control_jobs(server->control);
    server->world.submit = never;
    said("Bearer u", "/v1/jobs", JOB "name: other\n");
    server->world.submit = NULL;
    assert_int_equal(myr_control_jobs(server->control), before);
    server->store = full_store(server->store);
    full = true;
    said("Bearer u", "/v1/jobs", JOB "name: later\n");
    said("Bearer u", "/v1/jobs", JOB "name: latest\n");
    said("Bearer b", "/v1/tokens/ca978112ca1b/revoke", "");
    full = false;
    taken();
    assert_int_equal(myr_control_jobs(server->control), before + 1);
    static const uint8_t ends[] = {MYR_CONTROL_DONE, MYR_CONTROL_FAILED};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        struct job_row *row = rows_job(server, before);
        uint8_t state = row->state;
        char url[40];
        snprintf(url, sizeof(url), "/v1/jobs/%u/cancel", before);
        row->state = ends[i];
        said("Bearer u", url, "");
        row->state = state;
    }
}

/* The copy has all keys, though the store is no file; and one that cannot be begun is told. */
static void backups(void)
{
    char path[160];
    struct stat status;
    snprintf(path, sizeof(path), "%s/backup.tmp", bench.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    said("Bearer b", "/v1/backup", "");
    assert_int_equal(rmdir(path), 0);
    struct MHD_Connection *connection = begins("Bearer b", "POST", "/v1/backup", "");
    said("Bearer b", "/v1/backup", "");
    for (int i = 0; i < 100 && connection->suspended; i++) {
        (void)uv_run(&server->loop, UV_RUN_NOWAIT);
    }
    assert_true(connection->response && connection->response->fd >= 0);
    assert_int_equal(fstat(connection->response->fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_nlink, 0); /* nothing of it stays */
    goes(connection);
}

static void told_of(struct server *unused, uint32_t node, bool drain, const char *reason)
{
    (void)unused;
    myr_buf_printf(&story, "  below: %s n%u '%s'\n", drain ? "drain" : "resume", node, reason);
}

/* A scheduler below is told of each; a picture shows what is drained. */
static void drained_nodes(void)
{
    join(0, 7);
    sound(0);
    join(1, 7);
    server->world.drain = told_of;
    said("Bearer o", "/v1/nodes/n[0-1]/drain", "");
    ask("Bearer v", "GET", "/v1/frame", "");
    ASK_WITH("/v1/nodes", "astate", "drained");
    ASK_WITH("/v1/nodes", "astate", "draind");
    ask("Bearer v", "GET", "/v1/nodes/n1", "");
    said("Bearer o", "/v1/nodes/n0/resume", "");
    server->world.drain = NULL;
    ask("Bearer v", "GET", "/v1/frame", "");
    pass_ms(1234);
    ask("Bearer v", "GET", "/v1/nodes/n0", "");
}

/* It shows at once, holds when the node comes, and is taken back in time. */
static void drained_before_they_came(void)
{
    said("Bearer o", "/v1/nodes/n[4-5]/drain", "{\"reason\":\"no cables yet\"}");
    ASK_WITH("/v1/nodes", "astate", "drained");
    ask("Bearer v", "GET", "/v1/jobs/0/explain", "");
    said("Bearer o", "/v1/nodes/n5/resume", "");
    join(4, 7);
    sound(4);
    ask("Bearer v", "GET", "/v1/nodes/n4", "");
    assert_false(myr_control_node(server->control, 4).usable);
    said("Bearer o", "/v1/nodes/n4/resume", "");
    assert_true(myr_control_node(server->control, 4).usable);
}

/* Nothing happens, and yet time passes: the queue and the explanation say the same. */
static void a_quiet_hour(void)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    pass_ms(3600000);
    ask("Bearer v", "GET", "/v1/jobs/0/explain", "");
    with(connection, "hAuthorization", "Bearer v");
    put(connection, "GET", "/v1/queue", MYR_STR(""));
    myr_buf_printf(&story, "the queue begins\n  %.100s\n", connection->response->body.data);
    goes(connection);
}

/* As many digits as are worth it, and a job in the list whose tenant the store has lost. */
static void amounts(void)
{
    struct tenant_row *tenant = &server->rows.tenants.items[0];
    server->config.kw_per_gpu = 1.23456;
    server->config.price_kwh = 0.123456;
    tenant->gpu_ms = 119876543;
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    put(connection, "GET", "/v1/usage", MYR_STR(""));
    const char *end = strchr(connection->response->body.data, '}'); /* of the first tenant */
    myr_buf_printf(&story, "usage begins\n  %.*s\n", (int)(end - connection->response->body.data),
                   connection->response->body.data);
    goes(connection);
    struct job_row *row = rows_job(server, 0);
    uint32_t whose = row->tenant;
    row->tenant = 300;
    ask("Bearer v", "GET", "/v1/jobs/0", "");
    connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    put(connection, "GET", "/v1/queue", MYR_STR(""));
    myr_buf_printf(&story, "the queue begins\n  %.120s\n", connection->response->body.data);
    goes(connection);
    row->tenant = whose;
}

/* What the page names, by kind; names have a number of their own in every build. */
static void assets(void)
{
    struct MHD_Connection *page = comes_from("10.0.0.9");
    put(page, "GET", "/", MYR_STR(""));
    for (const char *at = page->response->body.data; (at = strstr(at, "/assets/")); at++) {
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\""), at);
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        put(connection, "GET", name, MYR_STR(""));
        const char *headers = connection->response->headers.data;
        myr_buf_printf(&story, "an asset %s: %u%.*s\n", strrchr(name, '.'), connection->status,
                       (int)(strstr(headers, "; X-") - headers), headers);
        assert_true(connection->response->body.len > 100);
        goes(connection);
    }
    goes(page);
    ask(NULL, "GET", "/assets/none.js", "");
}

/* A line a path. */
static void this_list(void)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    put(connection, "GET", "/openapi.json", MYR_STR(""));
    const char *at = connection->response->body.data;
    for (size_t i = 0; i < connection->response->body.len; i++) {
        myr_buf_puts(&story, strncmp(&at[i], "\"/", 2) == 0 ? "\n  " : "");
        myr_buf_putc(&story, at[i]);
    }
    goes(connection);
}

/* With times in some of the classes: a request of a few ticks, and what agents took. */
static void numbers(void)
{
    tick_ns = 700000;
    ask("Bearer v", "GET", "/healthz", "");
    tick_ns = 0;
    server->handled[0] = 3;
    server->handled[5] = 7;
    server->handled[31] = 2;
    server->messages = 12;
    server->messages_refused = 4;
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer w");
    put(connection, "GET", "/metrics", MYR_STR(""));
    myr_buf_put(&story, connection->response->body.data, connection->response->body.len);
    goes(connection);
}

static void what_is_asked(void **state)
{
    (void)state;
    serving_begin();
    assert_int_equal(begin_at("127.0.0.1", 4680), MYR_OK);
    give("w", "wim", "wim", ROLE_USER);
    what_is_missing();
    jobs();
    pages();
    tokens();
    tenants();
    relays();
    jobs_at_their_ends();
    backups();
    drained_nodes();
    drained_before_they_came();
    a_long_queue();
    amounts();
    assets();
    this_list();
    numbers();
    a_quiet_hour();
    cover_folder();
    assert_kept("server-api.txt", &story);
    serving_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
