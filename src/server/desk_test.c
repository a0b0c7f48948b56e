/*
 * The order of things: what the core decides is on the disk before anybody acts on it, and a server
 * that comes later goes on from there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "leaks.h"
#include "server_test.h"

long myr_leaks_allowed = 0;

static uint32_t committed;
static struct {
    uint32_t starts, stops;
    uint64_t commits; /* when the last was carried out */
    bool answers;     /* starts succeed at once, in the same turn */
} asked;

static void on_committed(struct server *server)
{
    (void)server;
    committed++;
}

static void on_effect(struct server *server, const struct myr_effect *effect)
{
    asked.commits = server->commits;
    asked.stops += effect->kind == MYR_EFFECT_STOP;
    if (effect->kind == MYR_EFFECT_START) {
        asked.starts++;
        if (asked.answers) {
            desk_post(server, &(struct myr_event){.kind = MYR_EVENT_STARTED,
                                                  .node = effect->node,
                                                  .job = effect->job,
                                                  .epoch = effect->epoch,
                                                  .boot = effect->boot});
        }
    } else if (effect->kind == MYR_EFFECT_TEST) {
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TESTED,
                                              .node = effect->node,
                                              .boot = effect->boot,
                                              .epoch = effect->epoch});
    }
}

static void run(struct server *server)
{
    struct myr_err err = {};
    if (desk_run(server, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void opened(struct bench *bench, uint32_t nodes)
{
    struct myr_err err = {};
    bench_open(bench, nodes);
    if (desk_begin(bench->server, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench->server->world = (struct world){.committed = on_committed, .effect = on_effect};
}

static void join(struct server *server, uint32_t node, uint32_t boot)
{
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_JOIN, .node = node, .boot = boot});
    run(server);
    run(server);
    assert_int_equal(myr_control_node(server->control, node).state, MYR_NODE_HEALTHY);
}

static struct server *sound(struct bench *bench, uint32_t nodes)
{
    memset(&asked, 0, sizeof(asked));
    asked.answers = true;
    bench_begin(bench);
    opened(bench, nodes);
    for (uint32_t node = 0; node < nodes; node++) {
        join(bench->server, node, 1);
    }
    return bench->server;
}

static void exited(struct server *server, uint32_t node, uint32_t job, uint8_t code)
{
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_EXIT,
                                          .node = node,
                                          .job = job,
                                          .epoch = myr_control_job(server->control, job).epoch,
                                          .boot = myr_control_node(server->control, node).boot,
                                          .code = code});
    run(server);
}

static int count(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(uint32_t *)context;
    return MYR_OK;
}

static uint32_t kept(struct server *server, const char *prefix)
{
    uint32_t found = 0;
    struct myr_err err = {};
    assert_int_equal(store_scan(server->store, prefix, count, &found, &err), MYR_OK);
    return found;
}

static void a_job_from_its_start_to_its_end(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 4);
    uint64_t events = server->events;
    committed = 0;
    uint32_t id = bench_submit(server, 16, MYR_RESTART_STRICT);
    assert_int_equal(server->inbox.count, 1);
    assert_int_equal(asked.starts, 0); /* nothing before its turn */
    run(server);
    assert_int_equal(committed, 1);
    assert_int_equal(asked.starts, 2);
    assert_true(asked.commits == server->commits && server->commits > 0);
    assert_int_equal(server->inbox.count, 2); /* what was answered at once is the next turn's */
    assert_int_equal(server->events, events + 1);
    const struct job_row *row = rows_job(server, id);
    assert_int_equal(row->state, MYR_CONTROL_STARTING);
    assert_int_equal(row->where_count, 2);
    assert_true(row->first_start_ms > 0 && row->first_start_ms <= wall_ms());
    assert_int_equal(row->ended_ms, -1);
    int64_t first_ms = row->first_start_ms;
    run(server);
    assert_int_equal(row->state, MYR_CONTROL_RUNNING);
    struct tenant_row *tenant = &server->rows.tenants.items[0];
    assert_int_equal(tenant->running_gpus, 16);
    assert_true(tenant->since_ms >= first_ms);
    tenant->since_ms -= 1000; /* as if it had run a second */
    exited(server, row->where[0].node, id, 0);
    exited(server, row->where[1].node, id, 0);
    assert_int_equal(row->state, MYR_CONTROL_DONE);
    assert_int_equal(row->first_start_ms, first_ms);
    assert_true(row->ended_ms >= first_ms);
    assert_int_equal(tenant->running_gpus, 0);
    assert_true(tenant->gpu_ms >= 16000 && tenant->gpu_ms < 16 * 60000);
    assert_int_equal(server->refused_events, 0);
    bench_close(&bench);
    /* And told again by one that comes later. */
    opened(&bench, 4);
    server = bench.server;
    row = rows_job(server, id);
    assert_int_equal(row->state, MYR_CONTROL_DONE);
    assert_int_equal(row->first_start_ms, first_ms);
    assert_int_equal(row->where_count, 2);
    assert_true(row->ended_ms >= first_ms);
    assert_true(server->rows.tenants.items[0].gpu_ms >= 16000);
    assert_int_equal(server->rows.tenants.items[0].running_gpus, 0);
    bench_close(&bench);
    bench_end(&bench);
}

static void what_runs_is_counted_after_a_restart(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 4);
    bench_submit(server, 16, MYR_RESTART_STRICT);
    run(server);
    bench_submit(server, 3, MYR_RESTART_STRICT);
    run(server);
    run(server);
    assert_int_equal(server->rows.tenants.items[0].running_gpus, 19);
    /* Rows of a job that the core never took: its server died between the two. */
    struct job_row *lost = myr_xcalloc(1, sizeof(*lost));
    lost->file = strdup("gpus: 1\n");
    myr_vec_push(&server->rows.jobs, lost);
    rows_put_job(server, 2);
    run(server);
    assert_int_equal(kept(server, "job/"), 3);
    bench_close(&bench);
    opened(&bench, 4);
    server = bench.server;
    assert_int_equal(server->rows.tenants.items[0].running_gpus, 19);
    assert_int_equal(rows_job(server, 0)->state, MYR_CONTROL_RUNNING);
    assert_int_equal(rows_job(server, 1)->state, MYR_CONTROL_RUNNING);
    assert_null(rows_job(server, 2));
    run(server);
    assert_int_equal(kept(server, "job/"), 2);
    bench_close(&bench);
    bench_end(&bench);
}

static void refuses(struct bench *bench, uint32_t nodes, uint32_t gpus, const char *words)
{
    struct myr_err err = {};
    bench_open(bench, nodes);
    struct server *server = bench->server;
    server->config.gpus_per_node = gpus;
    assert_int_equal(desk_begin(server, &err), MYR_EINVAL);
    assert_string_equal(err.message, words);
    bench_close(bench);
}

static void a_cluster_only_grows(void **state)
{
    (void)state;
    struct bench bench;
    sound(&bench, 3);
    bench_close(&bench);
    refuses(&bench, 2, 8,
            "the store holds 3 nodes of 8 GPUs, the configuration 2 of 8; a cluster only grows, by "
            "names added behind the others");
    refuses(&bench, 3, 4,
            "the store holds 3 nodes of 8 GPUs, the configuration 3 of 4; a cluster only grows, by "
            "names added behind the others");
    opened(&bench, 5);
    struct server *server = bench.server;
    assert_int_equal(myr_control_nodes(server->control), 5);
    assert_int_equal(myr_control_node(server->control, 2).state, MYR_NODE_HEALTHY);
    assert_int_equal(myr_control_node(server->control, 3).state, MYR_NODE_UNKNOWN);
    join(server, 4, 1);
    bench_close(&bench);
    opened(&bench, 5);
    assert_int_equal(myr_control_node(bench.server->control, 4).state, MYR_NODE_HEALTHY);
    bench_close(&bench);
    bench_end(&bench);
}

/* The journal does not grow for ever: every 20,000 events the state is written whole. */
static void snapshots(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 1);
    uint64_t before = server->since_snapshot;
    assert_true(before > 0 && before < 10);
    uint32_t parts = kept(server, "journal/");
    assert_true(parts > 1);
    run(server); /* nothing to take: nothing is written */
    assert_int_equal(kept(server, "journal/"), parts);
    for (uint64_t i = before; i < 19999; i++) {
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
    }
    run(server);
    assert_int_equal(server->since_snapshot, 19999);
    assert_int_equal(kept(server, "journal/"), parts + 1);
    assert_int_equal(kept(server, "snapshot"), 1);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
    run(server);
    assert_int_equal(server->since_snapshot, 0);
    assert_int_equal(kept(server, "journal/"), 1);
    join(server, 0, 2);
    bench_close(&bench);
    opened(&bench, 1);
    assert_int_equal(myr_control_node(bench.server->control, 0).boot, 2);
    assert_int_equal(kept(bench.server, "journal/"), 1); /* replayed, and written whole again */
    bench_close(&bench);
    bench_end(&bench);
}

/* Where its ranks were is known for what was, too: whole incarnations, at most 1,024 nodes. */
static void earlier_incarnations_are_remembered(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 4);
    uint32_t id = bench_submit(server, 32, MYR_RESTART_EPOCH);
    run(server);
    run(server);
    struct job_row *row = rows_job(server, id);
    assert_int_equal(row->where_count, 4);
    assert_int_equal(row->past_count, 0);
    free(row->past);
    row->past = myr_xcalloc(1022, sizeof(*row->past));
    row->past_count = 1022;
    for (uint32_t i = 0; i < 1022; i++) { /* of 3 nodes, then all others of 2 */
        row->past[i] = (struct myr_control_rank){.node = i, .epoch = i < 3 ? 900 : 901 + i / 2};
    }
    struct myr_event event = {.kind = MYR_EVENT_STEP, /* after one it starts again at once */
                              .node = row->where[0].node,
                              .job = id,
                              .epoch = 1,
                              .boot = 1,
                              .value = 1};
    desk_post(server, &event);
    event.kind = MYR_EVENT_EXIT;
    event.code = 1;
    desk_post(server, &event);
    for (int i = 0; i < 4 && myr_control_job(server->control, id).epoch == 1; i++) {
        run(server);
        for (uint32_t node = 0; node < 4; node++) {
            desk_post(
                server,
                &(struct myr_event){
                    .kind = MYR_EVENT_STOPPED, .node = node, .job = id, .epoch = 1, .boot = 1});
        }
    }
    assert_int_equal(myr_control_job(server->control, id).epoch, 2);
    assert_true(asked.stops > 0);
    /* 1,022 and 4 are two too many: the first incarnation of three goes whole. */
    assert_int_equal(row->past_count, 1023);
    assert_int_equal(row->past[0].node, 3);
    assert_int_equal(row->past[1018].node, 1021);
    assert_int_equal(row->past[1019].epoch, 1);
    assert_int_equal(row->past[1022].epoch, 1);
    assert_int_equal(row->where[0].epoch, 2);
    assert_int_equal(row->where_count, 4);
    bench_close(&bench);
    bench_end(&bench);
}

static void what_the_core_refuses_is_counted(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 1);
    uint64_t events = server->events;
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_KINDS});
    run(server);
    assert_int_equal(server->refused_events, 1);
    assert_int_equal(server->events, events);
    assert_int_equal(server->inbox.count, 0);
    bench_close(&bench);
    bench_end(&bench);
}

/* Slurm tells no steps: a job is not hung there because it is silent. */
static void policies(void **state)
{
    (void)state;
    for (int world = WORLD_AGENTS; world < WORLD_COUNT; world++) {
        struct bench bench;
        struct myr_err err = {};
        bench_begin(&bench);
        bench_open(&bench, 4);
        struct server *server = bench.server;
        server->config.world = (enum world_kind)world;
        server->config.spares = 1;
        assert_int_equal(desk_begin(server, &err), MYR_OK);
        server->world = (struct world){.effect = on_effect};
        memset(&asked, 0, sizeof(asked));
        asked.answers = true;
        for (uint32_t node = 0; node < 4; node++) {
            join(server, node, 1);
        }
        uint32_t id = bench_submit(server, 8, MYR_RESTART_STRICT);
        run(server);
        run(server);
        assert_int_equal(rows_job(server, id)->state, MYR_CONTROL_RUNNING);
        int64_t wake_ms = myr_control_wake_ms(server->control);
        /* By tomorrow somebody looks after it, or nobody ever. */
        bool looked_after = wake_ms < wall_ms() + 86400000;
        assert_int_equal(looked_after, world != WORLD_SLURM);
        uint32_t large = bench_submit(server, 24, MYR_RESTART_STRICT);
        run(server);
        run(server);
        assert_int_equal(myr_control_free_gpus(server->control), 24);
        assert_int_equal(rows_job(server, large)->state, MYR_CONTROL_QUEUED); /* a node is spared */
        bench_close(&bench);
        bench_end(&bench);
    }
}

/* A store that was mended by hand: the job goes its way, and nobody is charged for it. */
static void a_tenant_that_is_not_there(void **state)
{
    (void)state;
    struct bench bench;
    struct server *server = sound(&bench, 2);
    uint32_t id = bench_submit(server, 8, MYR_RESTART_STRICT);
    run(server);
    struct job_row *row = rows_job(server, id);
    assert_int_equal(server->rows.tenants.count, 1);
    assert_int_equal(server->rows.tenants.items[0].running_gpus, 8);
    row->tenant = 1;
    run(server);
    exited(server, row->where[0].node, id, 0);
    assert_int_equal(row->state, MYR_CONTROL_DONE);
    assert_true(row->ended_ms > 0);
    assert_int_equal(server->rows.tenants.items[0].running_gpus, 8);
    bench_close(&bench);
    bench_end(&bench);
}

/* What people are told of what the core wants: once, in the order of what was decided. */
static void notices(void **state)
{
    (void)state;
    static const struct {
        struct myr_effect effect;
        const char *told;
    } rows[] = {
        {{.kind = MYR_EFFECT_NOTIFY, .reason = MYR_NOTICE_DRAIN_LIMIT},
         "\"kind\":\"notice\",\"text\":\"more nodes have failed than may be drained without a "
         "person: approve, or look\"}"},
        {{.kind = MYR_EFFECT_NOTIFY, .reason = MYR_NOTICE_DRAIN_LIMIT + 1},
         "\"kind\":\"notice\",\"text\":\"a maintenance window was refused\"}"},
        {{.kind = MYR_EFFECT_REPAIR, .node = 1},
         "\"kind\":\"notice\",\"text\":\"n1 is empty: to be repaired\"}"},
        {{.kind = MYR_EFFECT_ACCEPT, .job = MYR_NONE}, NULL},
        {{.kind = MYR_EFFECT_ACCEPT, .job = 7},
         "\"kind\":\"job\",\"id\":7,\"name\":\"\",\"state\":\"queued\",\"epoch\":0}"},
        {{.kind = MYR_EFFECT_GRANT, .job = 7}, NULL},
    };
    struct bench bench;
    struct server *server = sound(&bench, 2);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_err err = {};
        server->stuck = true; /* as after a commit that failed: what was decided waits */
        myr_vec_push(&server->outbox, rows[i].effect);
        uint64_t from = server->feed.next;
        assert_int_equal(desk_run(server, &err), MYR_OK);
        assert_false(server->stuck);
        assert_int_equal(server->outbox.count, 0);
        /* That it takes writes again is told first. */
        assert_int_equal(server->feed.next, from + 1 + (rows[i].told != NULL));
        assert_non_null(strstr(feed_get(&server->feed, from)->data,
                               "\"text\":\"the store takes writes again\"}"));
        if (rows[i].told) {
            assert_string_equal(strstr(feed_get(&server->feed, from + 1)->data, "\"kind\""),
                                rows[i].told);
        }
    }
    /* There is an end to what waits: agents say it again. */
    size_t count = server->inbox.count;
    uint64_t refused = server->refused_events;
    server->inbox.count = 1 << 20;
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
    assert_int_equal(server->inbox.count, 1 << 20);
    assert_int_equal(server->refused_events, refused + 1);
    server->inbox.count = count;
    bench_close(&bench);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_from_its_start_to_its_end),
        cmocka_unit_test(what_runs_is_counted_after_a_restart),
        cmocka_unit_test(a_cluster_only_grows),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(earlier_incarnations_are_remembered),
        cmocka_unit_test(what_the_core_refuses_is_counted),
        cmocka_unit_test(policies),
        cmocka_unit_test(a_tenant_that_is_not_there),
        cmocka_unit_test(notices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
