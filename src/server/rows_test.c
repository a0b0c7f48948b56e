/* What the core does not know comes back from the store as it was put there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "leaks.h"
#include "server.h"

long myr_leaks_allowed = 0;

static char folder[64], path[96];
static char *names[] = {"gpu-1", "gpu-2", "gpu-3"};

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/myriad-rows-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state.db", folder);
    return 0;
}

static int end(void **state)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    char name[128];
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tails); i++) {
        snprintf(name, sizeof(name), "%s%s", path, tails[i]);
        unlink(name);
    }
    return rmdir(folder);
}

/* Not loaded yet, so that a test can put rows of its own before. */
static struct server *opened(void)
{
    struct server *server = myr_xcalloc(1, sizeof(*server));
    struct myr_err err = {};
    server->config.names = names;
    server->config.node_count = MYR_ARRAY_COUNT(names);
    if (store_open(path, &server->store, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return server;
}

static void closed(struct server *server)
{
    store_close(server->store);
    rows_done(&server->rows);
    free(server);
}

static struct server *loaded(void)
{
    struct server *server = opened();
    struct myr_err err = {};
    if (rows_load(server, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return server;
}

static void commit(struct server *server)
{
    struct myr_err err = {};
    if (store_commit(server->store, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

/* Commits, and loads what is there now into another. */
static struct server *again(struct server *server)
{
    commit(server);
    closed(server);
    return loaded();
}

static int list(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "%s=%.*s\n", key, (int)value.len, value.data);
    return MYR_OK;
}

static void holds(struct server *server, const char *prefix, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(store_scan(server->store, prefix, list, &text, &err), MYR_OK);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void a_node(void **state)
{
    (void)state;
    struct server *server = loaded();
    assert_int_equal(server->rows.node_count, 3);
    assert_int_equal(rows_node(server, "gpu-1"), 0);
    assert_int_equal(rows_node(server, "gpu-3"), 2);
    assert_int_equal(rows_node(server, "gpu-4"), MYR_NONE);
    struct node_row *node = &server->rows.nodes[1];
    node->boot_hash = 0xFFFFFFFFFFFFFFFF;
    node->boot = 7;
    snprintf(node->serial, sizeof(node->serial), "0a");
    snprintf(node->serial_before, sizeof(node->serial_before), "0b");
    snprintf(node->address, sizeof(node->address), "10.0.0.1");
    snprintf(node->kind, sizeof(node->kind), "NVIDIA H100");
    snprintf(node->board, sizeof(node->board), "SN \"1\"");
    snprintf(node->reason, sizeof(node->reason), "olga: a fan");
    node->gpus = 8;
    node->cpus = 96;
    node->memory_bytes = 1ULL << 41;
    node->revoked = true;
    rows_put_node(server, 1);
    assert_int_equal(server->node_changes, 1);
    server = again(server);
    holds(server, "node/",
          "node/gpu-2={\"boot_hash\":18446744073709551615,\"boot\":7,\"serial\":\"0a\","
          "\"serial_before\":\"0b\",\"address\":\"10.0.0.1\",\"kind\":\"NVIDIA H100\","
          "\"board\":\"SN \\\"1\\\"\",\"gpus\":8,\"cpus\":96,\"memory_bytes\":2199023255552,"
          "\"reason\":\"olga: a fan\",\"revoked\":true}\n");
    node = &server->rows.nodes[1];
    assert_string_equal(node->name, "gpu-2");
    assert_true(node->boot_hash == 0xFFFFFFFFFFFFFFFF && node->memory_bytes == 1ULL << 41);
    assert_int_equal(node->boot, 7);
    assert_string_equal(node->serial, "0a");
    assert_string_equal(node->serial_before, "0b");
    assert_string_equal(node->address, "10.0.0.1");
    assert_string_equal(node->kind, "NVIDIA H100");
    assert_string_equal(node->board, "SN \"1\"");
    assert_string_equal(node->reason, "olga: a fan");
    assert_int_equal(node->gpus, 8);
    assert_int_equal(node->cpus, 96);
    assert_true(node->revoked && !server->rows.nodes[0].revoked && !server->rows.nodes[2].revoked);
    closed(server);
}

static struct job_row *new_job(struct server *server)
{
    struct job_row *job = myr_xcalloc(1, sizeof(*job));
    myr_vec_push(&server->rows.jobs, NULL);
    myr_vec_push(&server->rows.jobs, NULL);
    myr_vec_push(&server->rows.jobs, job);
    *job = (struct job_row){.token = 11,
                            .tenant = 3,
                            .submitted_ms = 100,
                            .first_start_ms = 200,
                            .ended_ms = 300,
                            .time_limit_s = 400,
                            .twin_hours = 2.123456,
                            .twin_step_s = 0.010001,
                            .array_index = 6};
    snprintf(job->name, sizeof(job->name), "train");
    snprintf(job->user, sizeof(job->user), "ulla");
    snprintf(job->unix_user, sizeof(job->unix_user), "nobody");
    snprintf(job->reason, sizeof(job->reason), "rank 3: killed");
    job->file = strdup("gpus: 1\n");
    job->where = myr_xcalloc(2, sizeof(*job->where));
    job->where_count = 2;
    job->where[0] = (struct myr_control_rank){.node = 2, .epoch = 5, .first = 0, .gpus = 0xFF};
    job->where[1] =
        (struct myr_control_rank){.node = 0, .epoch = 5, .first = 8, .gpus = 1ULL << 63};
    return job;
}

static void a_job(void **state)
{
    (void)state;
    struct server *server = loaded();
    struct job_row *job = new_job(server);
    rows_put_job(server, 2);
    server = again(server);
    holds(server, "job/",
          "job/0000000002={\"token\":11,\"name\":\"train\",\"user\":\"ulla\","
          "\"unix_user\":\"nobody\",\"tenant\":3,\"file\":\"gpus: 1\\n\",\"submitted_ms\":100,"
          "\"first_start_ms\":200,\"ended_ms\":300,\"time_limit_s\":400,\"twin_hours\":2.123456,"
          "\"twin_step_s\":0.010001,\"reason\":\"rank 3: killed\",\"array_index\":6,"
          "\"where\":[2,5,0,255,0,5,8,9223372036854775808]}\n");
    assert_int_equal(server->rows.jobs.count, 3);
    assert_null(rows_job(server, 0));
    assert_null(rows_job(server, 1));
    assert_null(rows_job(server, 3));
    job = rows_job(server, 2);
    assert_int_equal(job->token, 11);
    assert_int_equal(job->tenant, 3);
    assert_string_equal(job->name, "train");
    assert_string_equal(job->user, "ulla");
    assert_string_equal(job->unix_user, "nobody");
    assert_string_equal(job->reason, "rank 3: killed");
    assert_string_equal(job->file, "gpus: 1\n");
    assert_int_equal(job->submitted_ms, 100);
    assert_int_equal(job->first_start_ms, 200);
    assert_int_equal(job->ended_ms, 300);
    assert_int_equal(job->time_limit_s, 400);
    assert_true(job->twin_hours == 2.123456 && job->twin_step_s == 0.010001);
    assert_int_equal(job->array_index, 6);
    assert_int_equal(job->where_count, 2);
    assert_int_equal(job->where[0].node, 2);
    assert_int_equal(job->where[0].epoch, 5);
    assert_int_equal(job->where[1].first, 8);
    assert_true(job->where[1].gpus == 1ULL << 63 && job->where[0].gpus == 0xFF);
    assert_int_equal(job->past_count, 0);
    /* Moved on: what was is remembered beside. */
    job->past = job->where;
    job->past_count = 2;
    job->where = NULL;
    job->where_count = 0;
    rows_put_job(server, 2);
    server = again(server);
    job = rows_job(server, 2);
    assert_int_equal(job->where_count, 0);
    assert_int_equal(job->past_count, 2);
    assert_int_equal(job->past[1].node, 0);
    assert_int_equal(job->past[1].epoch, 5);
    rows_drop_job(server, 2);
    assert_null(rows_job(server, 2));
    server = again(server);
    holds(server, "job/", "");
    closed(server);
}

/* Rows of an older program lack what was added since; of a newer one they have more. */
static void rows_that_lack_something(void **state)
{
    (void)state;
    struct server *server = opened();
    store_put(server->store, "job/0000000000", MYR_STR("{\"file\":\"x\",\"new\":[1]}"));
    store_put(server->store, "job/0000000001",
              MYR_STR("{\"file\":\"y\",\"where\":[9,1,0,1, 1,2,3,4, 2,\"x\",0,1, 2,1,0]}"));
    store_put(server->store, "node/gpu-1", MYR_STR("{\"boot\":\"many\",\"reason\":[]}"));
    store_put(server->store, "node/gone", MYR_STR("{}"));
    store_put(server->store, "tenant/b", MYR_STR("{\"id\":1}"));
    store_put(server->store, "token/0d", MYR_STR("{\"user\":\"u\",\"role\":\"emperor\"}"));
    commit(server);
    closed(server);
    server = loaded();
    const struct job_row *job = rows_job(server, 0);
    assert_int_equal(job->token, 0);
    assert_int_equal(job->submitted_ms, -1);
    assert_int_equal(job->first_start_ms, -1);
    assert_int_equal(job->ended_ms, -1);
    assert_int_equal(job->time_limit_s, 0);
    assert_true(job->twin_hours == 1 && job->twin_step_s == 10);
    assert_int_equal(job->array_index, 0);
    assert_null(job->where);
    job = rows_job(server, 1); /* no node 9, no number, no whole entry: one is left */
    assert_int_equal(job->where_count, 1);
    assert_int_equal(job->where[0].node, 1);
    assert_int_equal(job->where[0].gpus, 4);
    assert_int_equal(server->rows.nodes[0].boot, 0);
    assert_string_equal(server->rows.nodes[0].reason, "");
    assert_int_equal(server->rows.tenants.count, 2);
    assert_int_equal(server->rows.tenants.items[0].weight, 1);
    assert_string_equal(server->rows.tenants.items[0].name, "");
    assert_int_equal(server->rows.tenants.items[1].weight, 1);
    assert_int_equal(server->rows.tenants.items[1].gpu_ms, 0);
    assert_int_equal(server->rows.tokens.items[0].role, ROLE_NONE);
    closed(server);
}

/* By a server of the version before these tables: a simulated cluster of four nodes, used by hand.
 */
static void a_store_of_before_is_read_and_written_the_same(void **state)
{
    (void)state;
    static char *four[] = {"gpu-01", "gpu-02", "gpu-03", "gpu-04"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, before = {}, after = {};
    struct server *server = opened();
    struct myr_err err = {};
    uint32_t count = 0;
    server->config.names = four;
    server->config.node_count = MYR_ARRAY_COUNT(four);
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/server-rows.tsv", 1 << 20, &text, &err), MYR_OK);
    for (char *line = text.data, *next; *line; line = next, count++) {
        char *tab = strchr(line, '\t'), *end_of_line = strchr(line, '\n');
        next = end_of_line + 1;
        *tab = '\0';
        store_put(server->store, line, (struct myr_str){tab + 1, end_of_line - tab - 1});
    }
    assert_int_equal(count, 13);
    commit(server);
    assert_int_equal(store_scan(server->store, "", list, &before, &err), MYR_OK);
    assert_int_equal(rows_load(server, &err), MYR_OK);
    assert_int_equal(server->rows.jobs.count, 5);
    assert_int_equal(server->rows.jobs.items[0]->last.state, MYR_CONTROL_DONE);
    assert_int_equal(server->rows.jobs.items[0]->last.step, 113);
    assert_int_equal(server->rows.enrols.count, 2);
    rows_put_node(server, 3);
    for (uint32_t i = 0; i < 5; i++) {
        rows_put_job(server, i);
    }
    for (uint32_t i = 0; i < server->rows.tenants.count; i++) {
        rows_put_tenant(server, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct token_row token = server->rows.tokens.items[i];
        const struct token_row enrol = server->rows.enrols.items[i];
        rows_put_token(server, &token, false);
        rows_put_token(server, &enrol, true);
    }
    commit(server);
    assert_int_equal(store_scan(server->store, "", list, &after, &err), MYR_OK);
    assert_string_equal(before.data, after.data);
    closed(server);
}

static void refuses(const char *key, const char *value, const char *words)
{
    struct server *server = opened();
    struct myr_err err = {};
    store_put(server->store, key, myr_str_from(value));
    commit(server);
    assert_int_equal(rows_load(server, &err), MYR_ECORRUPT);
    assert_string_equal(err.message, words);
    store_delete(server->store, key);
    commit(server);
    closed(server);
}

static void rows_that_make_no_sense(void **state)
{
    (void)state;
    refuses("job/x", "{\"file\":\"x\"}", "a job of the store has no number or no file");
    refuses("job/4294967295", "{\"file\":\"x\"}", "a job of the store has no number or no file");
    refuses("job/0000000000", "{}", "a job of the store has no number or no file");
    /* The list of jobs up to such a number would take 34 GB. */
    refuses(
        "job/4294967290", "{\"file\":\"x\"}",
        "job 4294967290 of the store is not ours: the jobs before it end at 0, and no more than "
        "1048576 numbers are left out");
    refuses("job/0001048577", "{\"file\":\"x\"}",
            "job 1048577 of the store is not ours: the jobs before it end at 0, and no more than "
            "1048576 numbers are left out");
    refuses("job/0000000001", "{\"file\":\"x\",\"tenant\":256}",
            "job/0000000001:1:22: 'tenant' is '256', a whole number from 0 to 255 is "
            "expected");
    refuses("job/0000000001", "{\"file\":\"x\",\"array_index\":4294967296}",
            "job/0000000001:1:27: 'array_index' is '4294967296', a whole number from 0 to "
            "4,294,967,295 is "
            "expected");
    refuses("node/gpu-1", "{\"boot\":4294967297}",
            "node/gpu-1:1:9: 'boot' is '4294967297', a whole number from 0 to 4,294,967,295 is "
            "expected");
    refuses("node/gpu-1", "{\"gpus\":4294967297}",
            "node/gpu-1:1:9: 'gpus' is '4294967297', a whole number from 0 to 4,294,967,295 is "
            "expected");
    refuses("node/gpu-1", "{\"cpus\":4294967297}",
            "node/gpu-1:1:9: 'cpus' is '4294967297', a whole number from 0 to 4,294,967,295 is "
            "expected");
    refuses("tenant/t", "{\"id\":0,\"weight\":4294967296}",
            "tenant/t:1:18: 'weight' is '4294967296', a whole number from 0 to 4,294,967,295 is "
            "expected");
    refuses("tenant/t", "{}", "tenant/t:1:1: 'id' is missing in a tenant of the store");
    refuses("tenant/t", "{\"id\":256}",
            "tenant/t:1:7: 'id' is '256', a whole number from 0 to 255 is expected");
    struct server *server = opened();
    struct myr_err err = {};
    store_put(server->store, "job/0000000003", MYR_STR("{\"file\":\"x\"}"));
    store_put(server->store, "job/3", MYR_STR("{\"file\":\"x\"}"));
    commit(server);
    assert_int_equal(rows_load(server, &err), MYR_ECORRUPT);
    assert_string_equal(err.message, "job 3 comes twice in the store");
    store_delete(server->store, "job/0000000003");
    store_delete(server->store, "job/3");
    commit(server);
    closed(server);
    server = opened();
    store_put(server->store, "relay/r", MYR_STR("{"));
    commit(server);
    assert_true(rows_load(server, &err) < 0);
    assert_non_null(strstr(err.message, "relay/r:1:"));
    closed(server);
}

static void tenants(void **state)
{
    (void)state;
    char name[32];
    struct server *server = loaded();
    for (uint32_t i = 0; i < SERVER_TENANTS; i++) {
        snprintf(name, sizeof(name), "t%u", i);
        assert_int_equal(rows_tenant(server, name), i);
    }
    assert_int_equal(rows_tenant(server, "one more"), MYR_NONE);
    assert_int_equal(rows_tenant(server, "t200"), 200);
    struct tenant_row *tenant = &server->rows.tenants.items[200];
    assert_int_equal(tenant->weight, 1);
    assert_true(tenant->since_ms > 0);
    tenant->weight = 9;
    tenant->gpu_ms = 1000;
    tenant->since_ms = 5000;
    tenant->running_gpus = 4;
    assert_int_equal(rows_gpu_ms(tenant, 5000), 1000);
    assert_int_equal(rows_gpu_ms(tenant, 5010), 1040);
    assert_int_equal(rows_gpu_ms(tenant, 4000), 1000); /* a clock that went back takes nothing */
    tenant->running_gpus = 0;
    rows_put_tenant(server, 200);
    server = again(server);
    holds(server, "tenant/t200", "tenant/t200={\"id\":200,\"weight\":9,\"gpu_ms\":1000}\n");
    assert_int_equal(server->rows.tenants.count, SERVER_TENANTS);
    assert_int_equal(rows_tenant(server, "t255"), 255);
    assert_int_equal(server->rows.tenants.items[200].weight, 9);
    assert_int_equal(server->rows.tenants.items[200].gpu_ms, 1000);
    assert_true(server->rows.tenants.items[200].since_ms > 0);
    closed(server);
}

static struct token_row token(const char *digest, enum role role, bool relay)
{
    struct token_row row = {.role = role, .relay = relay};
    snprintf(row.digest, sizeof(row.digest), "%s", digest);
    snprintf(row.user, sizeof(row.user), "user of %s", digest);
    snprintf(row.unix_user, sizeof(row.unix_user), "u%s", digest);
    return row;
}

static void tokens_and_papers_to_enrol(void **state)
{
    (void)state;
    struct server *server = loaded();
    struct token_row rows[] = {token("a1", ROLE_VIEWER, false),   token("b2", ROLE_USER, false),
                               token("c3", ROLE_OPERATOR, false), token("d4", ROLE_ADMIN, false),
                               token("e5", ROLE_NONE, true),      token("f6", ROLE_NONE, false)};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        rows_put_token(server, &rows[i], i >= 4);
    }
    server = again(server);
    holds(server, "token/b2",
          "token/b2={\"user\":\"user of b2\",\"unix_user\":\"ub2\",\"role\":\"user\"}\n");
    holds(server, "enrol/",
          "enrol/e5={\"user\":\"user of e5\",\"unix_user\":\"ue5\",\"role\":\"none\","
          "\"relay\":true}\n"
          "enrol/f6={\"user\":\"user of f6\",\"unix_user\":\"uf6\",\"role\":\"none\"}\n");
    assert_int_equal(server->rows.tokens.count, 4);
    assert_int_equal(server->rows.enrols.count, 2);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct token_row *row =
            i < 4 ? &server->rows.tokens.items[i] : &server->rows.enrols.items[i - 4];
        assert_string_equal(row->digest, rows[i].digest);
        assert_string_equal(row->user, rows[i].user);
        assert_string_equal(row->unix_user, rows[i].unix_user);
        assert_int_equal(row->role, rows[i].role);
        assert_int_equal(row->relay, rows[i].relay);
    }
    rows_drop_token(server, 1);
    rows_drop_enrol(server, 0);
    assert_int_equal(server->rows.tokens.count, 3);
    assert_string_equal(server->rows.tokens.items[1].digest, "d4");
    assert_string_equal(server->rows.enrols.items[0].digest, "f6");
    server = again(server);
    assert_int_equal(server->rows.tokens.count, 3);
    assert_int_equal(server->rows.enrols.count, 1);
    holds(server, "token/b2", "");
    holds(server, "enrol/e5", "");
    closed(server);
}

static void relays(void **state)
{
    (void)state;
    char name[32];
    struct server *server = loaded();
    assert_int_equal(rows_relay(server, "r0", false), MYR_NONE);
    for (uint32_t i = 0; i < SERVER_RELAYS; i++) {
        snprintf(name, sizeof(name), "r%u", i);
        assert_int_equal(rows_relay(server, name, true), i);
    }
    assert_int_equal(rows_relay(server, "one more", true), MYR_NONE);
    assert_int_equal(rows_relay(server, "r1", false), 1);
    struct relay_row *relay = &server->rows.relays.items[1];
    snprintf(relay->serial, sizeof(relay->serial), "0a");
    snprintf(relay->serial_before, sizeof(relay->serial_before), "0b");
    relay->revoked = true;
    rows_put_relay(server, 1);
    rows_put_relay(server, 2);
    server = again(server);
    holds(server, "relay/",
          "relay/r1={\"serial\":\"0a\",\"serial_before\":\"0b\",\"revoked\":true}\n"
          "relay/r2={\"serial\":\"\",\"serial_before\":\"\",\"revoked\":false}\n");
    assert_int_equal(server->rows.relays.count, 2);
    relay = &server->rows.relays.items[0];
    assert_string_equal(relay->name, "r1");
    assert_string_equal(relay->serial, "0a");
    assert_string_equal(relay->serial_before, "0b");
    assert_true(relay->revoked && !server->rows.relays.items[1].revoked);
    closed(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node, begin, end),
        cmocka_unit_test_setup_teardown(a_job, begin, end),
        cmocka_unit_test_setup_teardown(rows_that_lack_something, begin, end),
        cmocka_unit_test_setup_teardown(a_store_of_before_is_read_and_written_the_same, begin, end),
        cmocka_unit_test_setup_teardown(rows_that_make_no_sense, begin, end),
        cmocka_unit_test_setup_teardown(tenants, begin, end),
        cmocka_unit_test_setup_teardown(tokens_and_papers_to_enrol, begin, end),
        cmocka_unit_test_setup_teardown(relays, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
