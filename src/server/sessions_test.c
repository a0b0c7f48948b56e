/*
 * What agents say, and what becomes of it: events for the core, rows, words for people, and what
 * every reading call of the API tells then, as one text (tests/kept/server-agents.txt). Lines at
 * the margin are what the test does. The agents have no sockets: nothing is said back to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "api.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* --- the API */

/* Moments and spans are the clock's. */
static void put_covered(const char *line)
{
    static const char *const keys[] = {
        "_ms\":", "heard_s\":", "waited_s\":", "gpu_hours\":", "kwh\":", "cost\":", "\"seq\":"};
    for (const char *at = line; *at;) {
        size_t key = 0;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
            key = strncmp(at, keys[i], strlen(keys[i])) == 0 ? strlen(keys[i]) : key;
        }
        myr_buf_put(&story, at, key ? key : 1);
        at += key ? key : 1;
        size_t digits = key ? strspn(at, "0123456789.") : 0;
        if (digits > 0) {
            myr_buf_puts(&story, "T");
            at += digits;
        }
    }
}

static void ask(const char *method, const char *path, const char *body)
{
    char words[100];
    MYR_CLEANUP(myr_buf_done) struct myr_buf ret = {};
    struct myr_err err = {};
    struct request request = {.server = server,
                              .method = method,
                              .url = path,
                              .who = {.user = "olga", .unix_user = "nobody", .role = ROLE_ADMIN},
                              .from = "127.0.0.1"};
    snprintf(words, sizeof(words), "%s", path + 1);
    char *rest = words;
    while (rest) {
        request.words[request.word_count++] = strsep(&rest, "/");
    }
    const struct route *route = NULL;
    for (size_t i = 0; i < api_route_count;
         i++) { /* the last word is named in all that are asked */
        const char *last = strrchr(api_routes[i].path, '/');
        bool named =
            last[1] == ':' &&
            strncmp(api_routes[i].path, path, (size_t)(last - api_routes[i].path) + 1) == 0 &&
            !strchr(path + (last - api_routes[i].path) + 1, '/');
        bool verb = request.word_count == 4 && strstr(api_routes[i].path, "/:") &&
                    strncmp(api_routes[i].path, path, 8) == 0 &&
                    strcmp(last + 1, request.words[3]) == 0;
        if (strcmp(api_routes[i].method, method) == 0 &&
            (strcmp(api_routes[i].path, path) == 0 || named || verb)) {
            route = &api_routes[i];
        }
    }
    assert_non_null(route);
    myr_buf_puts(&request.body, body);
    int rc = route->call(&request, &ret, &err);
    myr_buf_done(&request.body);
    myr_buf_printf(&story, "%s %s%s%s\n  ", method, path, body[0] ? " " : "", body);
    if (rc < 0) {
        myr_buf_printf(&story, "%d %s", myr_err_http_status(rc), err.message);
    } else if (strcmp(path, "/v1/frame") == 0) {
        for (size_t i = 0; i < ret.len; i++) {
            myr_buf_printf(&story, "%s%d", i % 8 == 0 ? " " : "", ret.data[i]);
        }
    } else {
        put_covered(ret.data);
    }
    myr_buf_puts(&story, "\n");
    put_told();
}

static void ask_all(void)
{
    static const char *const paths[] = {"/v1/cluster", "/v1/nodes", "/v1/jobs",  "/v1/queue",
                                        "/v1/usage",   "/v1/frame", "/v1/relays"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(paths); i++) {
        ask("GET", paths[i], "");
    }
}

/* --- a life */

static void strangers(void)
{
    static struct agent one;
    myr_buf_puts(&story, "who is no node, or has another's papers\n");
    came(&one, "x9", "1");
    hello(&one, "x9", 5, 1);
    gone(&one);
    came(&one, "n0", "1");
    hello(&one, "n1", 5, 1);
    gone(&one);
    came(&one, "n0", "77");
    hello(&one, "n0", 5, 1);
    gone(&one);
    came(&one, "n0", "");
    hello(&one, "n0", 5, 1);
    gone(&one);
    came(&one, "n0", "1");
    hello(&one, "n0", 5, MYR_WIRE_VERSION + 1);
    gone(&one);
    myr_buf_puts(&story, "who says something before hello, or has nothing to show\n");
    came(&one, "n0", "1");
    say(&one, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    put_session(&one);
    gone(&one);
    came(&one, "", "");
    hello(&one, "n0", 5, 1);
    say(&one, MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    put_session(&one);
    gone(&one);
    came(&one, "", "");
    hello(&one, "n0", 5, 1);
    say(&one, MYR_WIRE_ENROL, 0,
        &(struct myr_wire_enrol){.token = MYR_STR("none"), .csr = MYR_STR("x")});
    put_session(&one);
    gone(&one);
    taken();
}

static void nodes_come(void)
{
    for (uint32_t node = 0; node < NODES; node++) {
        join(node, 100 + node);
        if (node < 5) {
            sound(node);
        }
    }
    myr_buf_puts(&story, "n0 says hello twice\n");
    hello(&agents[0], "n0", 100, 1);
    gone(&agents[0]);
    join(0, 100); /* the same boot: it is back */
    myr_buf_puts(&story, "n0 comes again while it is there\n");
    struct agent before = agents[0];
    join(0, 100);
    put_session(&before);
    gone(&before);
    myr_buf_puts(&story, "inventories\n");
    struct myr_wire_inventory inventory = {.gpu_kind = MYR_STR("H100"),
                                           .serial = MYR_STR("SN0"),
                                           .gpus = 8,
                                           .cpus = 96,
                                           .memory_bytes = 1000};
    say(&agents[0], MYR_WIRE_INVENTORY, 0, &inventory);
    taken();
    inventory.gpus = 7;
    say(&agents[4], MYR_WIRE_INVENTORY, 0, &inventory);
    taken();
    myr_buf_puts(&story, "a symptom\n");
    say(&agents[3], MYR_WIRE_SYMPTOM, 1,
        &(struct myr_wire_symptom){.id = MYR_STR("gpu-xid-79"), .text = MYR_STR("fell off")});
    taken();
}

static void jobs_run(void)
{
    ask("POST", "/v1/jobs", "name: a\ngpus: 16\ncommand: x\ntenant: t\nretries: 1\n");
    ask("POST", "/v1/jobs", "name: b\ngpus: 3\ncommand: x\narray: 4-5\nlease_s: 9\n");
    result(0, MYR_WIRE_STARTED, 0, 1, 0, "");
    result(1, MYR_WIRE_STARTED, 0, 1, 0, "");
    myr_buf_puts(&story, "steps\n");
    say(&agents[0], MYR_WIRE_STEP, 1,
        &(struct myr_wire_step){.job = 0, .step = 12, .saved_step = 10});
    say(&agents[0], MYR_WIRE_STEP, 1,
        &(struct myr_wire_step){.job = UINT64_MAX, .step = UINT64_MAX});
    taken();
    ask_all();
    ask("GET", "/v1/jobs/0", "");
    ask("GET", "/v1/jobs/0/explain", "");
    ask("GET", "/v1/nodes/n0", "");
    ask("GET", "/v1/nodes/n4", "");
    myr_buf_puts(&story, "n5 speaks of a job that it has not\n");
    say(&agents[5], MYR_WIRE_EXIT, 1,
        &(struct myr_wire_exit){.job = 0, .rank = 1, .code = 3, .line = MYR_STR("a lie")});
    taken();
    myr_buf_puts(&story, "a rank of job 0 ends badly\n");
    say(&agents[1], MYR_WIRE_EXIT, 1,
        &(struct myr_wire_exit){.job = 0, .rank = 9, .signal = 11, .line = MYR_STR("Segfault")});
    taken();
    ask("GET", "/v1/jobs/0/explain", "");
    result(0, MYR_WIRE_STOPPED, 0, 1, 0, "");
    sound(1);
    result(1, MYR_WIRE_TESTED, 2, 0, 0, "");
    result(0, MYR_WIRE_STARTED, 0, 2, 1, "no such user");
    ask("GET", "/v1/jobs/0", "");
    result(0, MYR_WIRE_STOPPED, 0, 2, 0, "");
    result(1, MYR_WIRE_STOPPED, 0, 2, 0, "");
    ask("GET", "/v1/jobs/0/explain", "");
    ask("POST", "/v1/jobs/1/cancel", "");
    ask("POST", "/v1/jobs/7/cancel", "");
    ask_all();
}

static void people(void)
{
    ask("POST", "/v1/nodes/n2/drain", "{\"reason\":\"dust\"}");
    ask("POST", "/v1/nodes/n[3-4]/drain", "");
    ask("POST", "/v1/nodes/n3/resume", "");
    ask("POST", "/v1/nodes/n5/revoke", "");
    put_session(&agents[5]);
    ask("POST", "/v1/tenants/t", "{\"weight\":4}");
    ask("POST", "/v1/jobs", "name: big\nnodes: 6\ncommand: x\n");
    ask("GET", "/v1/jobs/3/explain", "");
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\nafter: 3\n");
    ask("GET", "/v1/jobs/4/explain", "");
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\nafter: 1\n");
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\nafter: 77\n");
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\nafter: [1, 2]\n");
    ask("POST", "/v1/jobs", "gpus: 49\ncommand: x\n");
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\ntwin: {hours: 1}\n");
    ask_all();
    myr_buf_puts(&story, "n1 is silent, and heard again\n");
    server->rows.nodes[1].told_silent = true;
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_SILENT, .node = 1});
    taken();
    ask("GET", "/v1/frame", "");
    say(&agents[1], MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
    taken();
    myr_buf_puts(&story, "n2 says what is no message of an agent\n");
    say(&agents[2], MYR_WIRE_ACK, 0, &(struct myr_wire_ack){1});
    put_session(&agents[2]);
    put_told();
}

/* Two and a half hours of a GPU of 1.5 kW at 0.2 each. */
static void usage(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ret = {};
    struct myr_err err = {};
    uint32_t tenant = rows_tenant(server, "old");
    server->rows.tenants.items[tenant].gpu_ms = 9000000;
    server->config.kw_per_gpu = 1.5;
    server->config.price_kwh = 0.2;
    struct request request = {.server = server};
    assert_int_equal(api_usage(&request, &ret, &err), MYR_OK);
    assert_non_null(
        strstr(ret.data, "{\"currency\":\"EUR\",\"kw_per_gpu\":1.5,\"price_kwh\":0.2,"));
    assert_non_null(strstr(ret.data, "{\"name\":\"old\",\"weight\":1,\"gpu_hours\":2.5,"
                                     "\"kwh\":3.75,\"cost\":0.75,\"running_gpus\":0,"
                                     "\"waiting_jobs\":0}"));
}

/* Prometheus reads each bucket with those below it. */
static void metrics(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ret = {};
    struct myr_err err = {};
    struct request request = {.server = server};
    server->http->took[0] = 1;
    server->http->took[3] = 2;
    server->http->took[31] = 4;
    server->http->requests = 5;
    server->http->refused = 6;
    assert_int_equal(api_metrics(&request, &ret, &err), HTTP_LATER);
    static const char *const lines[] = {
        "myriad_nodes{state=\"healthy\"} 2\n",
        "myriad_nodes{state=\"suspect\"} 1\n",
        "myriad_jobs{state=\"queued\"} 3\n",
        "myriad_jobs{state=\"starting\"} 2\n",
        "myriad_gpus_free 7\n",
        "myriad_agents_connected 6\n",
        "myriad_http_requests_total 5\n",
        "myriad_http_refused_total 6\n",
        "myriad_read_only 0\n",
        "myriad_http_handling_seconds_bucket{le=\"0.000001\"} 1\n",
        "myriad_http_handling_seconds_bucket{le=\"0.000002\"} 1\n",
        "myriad_http_handling_seconds_bucket{le=\"0.000004\"} 1\n",
        "myriad_http_handling_seconds_bucket{le=\"0.000008\"} 3\n",
        "myriad_http_handling_seconds_bucket{le=\"1073.741824\"} 3\n",
        "myriad_http_handling_seconds_bucket{le=\"+Inf\"} 7\n",
        "myriad_http_handling_seconds_sum 6442.450957\n",
        "myriad_http_handling_seconds_count 7\n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        if (!strstr(ret.data, lines[i])) {
            fail_msg("%s is not in:\n%s", lines[i], ret.data);
        }
    }
    assert_null(strstr(ret.data, "2147.483648"));
}

/* Each of an array is a job of its own, whatever numbers they are known by. */
static void arrays(void)
{
    uint32_t before = myr_control_jobs(server->control);
    ask("POST", "/v1/jobs", "gpus: 1\ncommand: x\narray: 0-4\n");
    assert_int_equal(myr_control_jobs(server->control), before + 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(rows_job(server, before + i)->array_index, i + 1);
    }
}

/* There is an end to what waits: what is not taken is not acknowledged, and comes again. */
static void too_much_waits(void)
{
    size_t count = server->inbox.count;
    server->inbox.count = 1 << 20;
    assert_false(agents[1].session->over);
    say(&agents[1], MYR_WIRE_STOPPED, 1, &(struct myr_wire_result){.job = 0});
    assert_true(agents[1].session->over);
    assert_int_equal(server->to_ack.count, 0);
    assert_int_equal(agents[1].session->ack, agents[1].session->acked);
    gone(&agents[1]);
    /* Nor is a node welcomed that the core would not hear of. */
    uint32_t boot = server->rows.nodes[1].boot;
    came(&agents[1], "n1", "2");
    say(&agents[1], MYR_WIRE_HELLO, 0,
        &(struct myr_wire_hello){.name = MYR_STR("n1"), .version_min = 1, .boot = 777});
    assert_true(agents[1].session->over && !agents[1].session->greeted);
    assert_int_equal(server->rows.nodes[1].boot, boot);
    /* A silence is told when there is room. */
    server->rows.nodes[1].heard_ms = steady_ms() - 3600000;
    sessions_second(server);
    assert_false(server->rows.nodes[1].told_silent);
    server->inbox.count = count;
    sessions_second(server);
    assert_true(server->rows.nodes[1].told_silent);
    taken();
}

static void flood(void)
{
    uint64_t refused = server->messages_refused;
    uint32_t count = 0;
    while (!agents[3].session->over && count < 5000) {
        agents[3].session->second_ms = steady_ms(); /* all in one second */
        say(&agents[3], MYR_WIRE_BEAT, 0, &(struct myr_wire_beat){1});
        count++;
    }
    assert_int_equal(agents[3].session->in_second, 2001);
    assert_int_equal(server->messages_refused, refused + 1);
}

/* What GnuTLS keeps for good is taken before anything is counted (leaks.c has no priority). */
__attribute__((constructor(101))) static void load(void)
{
    if (mhd_load(NULL) < 0) {
        abort();
    }
}

static void what_agents_say(void **state)
{
    (void)state;
    life_begin();
    ask("GET", "/v1/cluster", "");
    strangers();
    nodes_come();
    jobs_run();
    people();
    usage();
    metrics();
    arrays();
    flood();
    too_much_waits();
    assert_kept("server-agents.txt", &story);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_agents_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
