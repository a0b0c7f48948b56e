/*
 * Somebody else's scheduler, played by the test: everything that it is asked for, and everything
 * that the core is told of it, as one text (tests/kept/server-engine.txt). Lines at the margin are
 * what the test does; under each stand the events that were posted for the core, then what the
 * engine is asked for when they were taken.
 */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <time.h>

#include "engine/fence.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "server_test.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t base_s = which == CLOCK_REALTIME ? 1800000000 : 0;
    *ret = (struct timespec){base_s + clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

static struct myr_buf text;
static uint64_t told; /* of the feed, so far */
static bool refuses;

static int fake_begin(struct server *server, struct myr_err *err)
{
    static int own;
    (void)err;
    engine_set_own(server, &own);
    assert_ptr_equal(engine_own(server), &own);
    return MYR_OK;
}

static void fake_start(struct server *server, const struct engine_gang *gang)
{
    (void)server;
    myr_buf_printf(&text, "  ask start job %u.%u of %u, port %u, row %s:", gang->job, gang->epoch,
                   gang->world, gang->port, gang->row->name);
    for (uint32_t i = 0; i < gang->count; i++) {
        myr_buf_printf(&text, " n%u first %u gpus %" PRIx64, gang->shares[i].node,
                       gang->shares[i].first, gang->shares[i].gpus);
    }
    myr_buf_puts(&text, "\n");
}

static void fake_stop(struct server *server, uint32_t job, uint32_t epoch, uint32_t grace_s)
{
    (void)server;
    myr_buf_printf(&text, "  ask stop job %u.%u grace %u\n", job, epoch, grace_s);
}

static void fake_node(struct server *server, uint32_t node, bool drain, const char *reason)
{
    (void)server;
    myr_buf_printf(&text, "  ask %s n%u '%s'\n", drain ? "drain" : "resume", node, reason);
}

static bool fake_fetch(struct server *server, const struct question *question, void *whom)
{
    (void)server;
    (void)whom;
    return question->rank == 3;
}

static int fake_submit(struct server *server, const struct myr_job_spec *spec,
                       const struct job_row *row, struct myr_err *err)
{
    (void)server;
    (void)spec;
    (void)row;
    return refuses ? myr_err_set(err, MYR_ERANGE, "too large for them") : MYR_OK;
}

static void fake_second(struct server *server)
{
    (void)server;
    myr_buf_puts(&text, "  ask second\n");
}

static void fake_end(struct server *server)
{
    (void)server;
    myr_buf_puts(&text, "  ask end\n");
}

static const struct engine_ops ops = {.name = "Fake",
                                      .begin = fake_begin,
                                      .start = fake_start,
                                      .stop = fake_stop,
                                      .node = fake_node,
                                      .fetch = fake_fetch,
                                      .submit = fake_submit,
                                      .second = fake_second,
                                      .end = fake_end};

static void put_event(const struct myr_event *event)
{
    myr_buf_printf(&text, "  event %s", myr_event_kind_name((enum myr_event_kind)event->kind));
    switch ((enum myr_event_kind)event->kind) {
    case MYR_EVENT_SUBMIT:
        myr_buf_printf(&text, " %u GPUs\n", event->spec.gpus);
        return;
    case MYR_EVENT_CANCEL:
        myr_buf_printf(&text, " job %u\n", event->job);
        return;
    case MYR_EVENT_TAKEOVER:
        myr_buf_puts(&text, "\n");
        return;
    default:
        myr_buf_printf(&text, " n%u boot %u job %u.%u code %u", event->node, event->boot,
                       event->job, event->epoch, event->code);
        if (event->kind == MYR_EVENT_STEP) {
            myr_buf_printf(&text, " step %" PRId64 " saved %" PRId64, event->value, event->saved);
        }
        myr_buf_puts(&text, "\n");
    }
}

/* Prints what was posted, has it taken, and what that posts in turn. */
static void taken(struct server *server)
{
    struct myr_err err = {};
    while (server->inbox.count > 0) {
        for (size_t i = 0; i < server->inbox.count; i++) {
            put_event(&server->inbox.items[i]);
        }
        assert_int_equal(desk_run(server, &err), MYR_OK);
    }
    for (; told < server->feed.next; told++) {
        const char *data = feed_get(&server->feed, told)->data;
        myr_buf_printf(&text, "  told %s\n", strstr(data, "\"kind\""));
    }
    lines_put(&text);
    assert_int_equal(server->refused_events, 0);
}

static void node_is(struct server *server, uint32_t node, enum engine_node_is is,
                    const char *reason)
{
    static const char *const names[] = {"absent", "up", "held", "silent", "down"};
    myr_buf_printf(&text, "n%u is %s%s%s\n", node, names[is], reason ? ": " : "",
                   reason ? reason : "");
    engine_node(server, node, &(struct engine_node){is, reason});
    taken(server);
    myr_buf_printf(&text, "  reason '%s'%s\n", server->rows.nodes[node].reason,
                   server->rows.nodes[node].reason_theirs ? " of theirs" : "");
}

static void submitted(struct server *server, uint32_t gpus, enum myr_restart restart)
{
    uint32_t id = bench_submit(server, gpus, restart);
    myr_buf_printf(&text, "submit job %u\n", id);
    taken(server);
}

static void job_is(const struct server *server, uint32_t id)
{
    struct myr_control_job job = myr_control_job(server->control, id);
    myr_buf_printf(&text, "  job %u.%u is %s, '%s', wanted %d, whole %d\n", id, job.epoch,
                   myr_control_job_state_name(job.state), rows_job(server, id)->reason,
                   engine_wants(server, id, job.epoch), engine_whole(server, id));
}

static void did(struct server *server, const char *what, uint32_t job)
{
    myr_buf_printf(&text, "%s\n", what);
    taken(server);
    job_is(server, job);
}

/* The core starts a job again so long after a start that came to nothing. */
static void later(struct server *server, int64_t seconds, uint32_t job)
{
    clock_ns += seconds * 1000000000;
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_TICK});
    did(server, "later", job);
}

static void opened(struct bench *bench)
{
    struct myr_err err = {};
    bench_open(bench, 4);
    told = bench->server->feed.next;
    struct server *server = bench->server;
    assert_int_equal(desk_begin(server, &err), MYR_OK);
    fence_begin(server);
    assert_int_equal(engine_begin(server, &ops, &err), MYR_OK);
    myr_buf_puts(&text, "begin\n");
    taken(server);
}

static void closed(struct bench *bench)
{
    struct server *server = bench->server;
    struct engine *engine = server->engine;
    engine_second(server);
    engine_end(server);
    fence_end(server);
    bench_close(bench);
    engine_free(engine);
}

/* Nodes come, are held, go and come again. */
static void nodes(struct server *server)
{
    for (uint32_t node = 0; node < 4; node++) {
        node_is(server, node, ENGINE_NODE_UP, NULL);
    }
    node_is(server, 0, ENGINE_NODE_UP, "busy elsewhere"); /* nothing new but the words */
    node_is(server, 0, ENGINE_NODE_UP, NULL);
    node_is(server, 0, ENGINE_NODE_HELD, "Fake: drained: fan");
    node_is(server, 0, ENGINE_NODE_HELD, "Fake: drained: two fans");
    node_is(server, 0, ENGINE_NODE_UP, NULL);
    node_is(server, 1, ENGINE_NODE_SILENT, NULL);
    node_is(server, 1, ENGINE_NODE_SILENT, NULL);
    node_is(server, 1, ENGINE_NODE_UP, NULL);
    node_is(server, 2, ENGINE_NODE_DOWN, "Fake: down");
    node_is(server, 2, ENGINE_NODE_UP, NULL);
    node_is(server, 3, ENGINE_NODE_ABSENT, NULL);
    node_is(server, 3, ENGINE_NODE_UP, NULL);
    myr_buf_puts(&text, "a person drains n2, and resumes it\n");
    snprintf(server->rows.nodes[2].reason, sizeof(server->rows.nodes[2].reason), "olga: dust");
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 2});
    taken(server);
    server->world.drain(server, 2, true, "olga: dust");
    node_is(server, 2, ENGINE_NODE_UP, NULL); /* not yet carried out there */
    node_is(server, 2, ENGINE_NODE_HELD, "Fake: drained: olga: dust");
    server->rows.nodes[2].reason[0] = '\0';
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 2});
    taken(server);
    server->world.drain(server, 2, false, "");
    node_is(server, 2, ENGINE_NODE_UP, NULL);
}

static void gangs(struct server *server)
{
    submitted(server, 16, MYR_RESTART_STRICT);
    engine_waits(server, 0, "Fake: waits for licences");
    did(server, "it waits there", 0);
    engine_started(server, 0, 1, MYR_NONE, MYR_START_OK, NULL);
    did(server, "started everywhere", 0);
    engine_waits(server, 0, "");
    engine_runs(server, 0, 1);
    engine_runs(server, 0, 7);
    did(server, "it runs", 0);
    engine_exited(server, 0, 1, 0, true, "n0: exit code 3");
    did(server, "one part fails", 0);
    engine_gone(server, 0, 1, MYR_NONE);
    did(server, "all of it is gone", 0);
    engine_started(server, 0, 2, MYR_NONE, MYR_START_OWN_FAULT, "Fake: no such account");
    did(server, "it does not start again", 0);
    engine_gone(server, 0, 2, MYR_NONE);
    did(server, "nothing of that is left", 0);
    later(server, 1, 0);
    engine_again(server, 0);
    engine_again(server, 99);
    did(server, "asked for once more", 0);
    engine_started(server, 0, myr_control_job(server->control, 0).epoch, MYR_NONE, MYR_START_OK,
                   NULL);
    did(server, "started", 0);
    node_is(server, 0, ENGINE_NODE_SILENT, NULL);
    job_is(server, 0);
    engine_gone(server, 0, 3, MYR_NONE);
    did(server, "gone where it is heard", 0);
    node_is(server, 0, ENGINE_NODE_UP, NULL);
    job_is(server, 0);
    engine_cancelled(server, 0, "a person ended it there");
    did(server, "cancelled there", 0);
    engine_gone(server, 0, 9, MYR_NONE);
    did(server, "gone", 0);
    engine_cancelled(server, 0, "again");
    engine_waits(server, 0, "not any more");
    did(server, "cancelled again", 0);
}

/* A gang that is to start on a node that others have gets another. */
static void held_before_the_start(struct server *server)
{
    submitted(server, 8, MYR_RESTART_EPOCH);
    struct myr_control_rank rank = {.node = 0};
    assert_int_equal(myr_control_job_ranks(server->control, 1, &rank, 1), 1);
    node_is(server, rank.node, ENGINE_NODE_HELD, "Fake: reserved");
    job_is(server, 1);
    engine_started(server, 1, myr_control_job(server->control, 1).epoch, MYR_NONE, MYR_START_OK,
                   NULL);
    did(server, "started elsewhere", 1);
    engine_exited(server, 1, myr_control_job(server->control, 1).epoch, MYR_NONE, false, NULL);
    did(server, "it ends well", 1);
    node_is(server, rank.node, ENGINE_NODE_UP, NULL);
}

static void a_life_with_another_scheduler(void **state)
{
    (void)state;
    struct bench bench;
    struct myr_err err = {};
    refuses = false;
    bench_begin(&bench);
    lines_begin();
    opened(&bench);
    struct server *server = bench.server;
    log_mute(false); /* which opening has muted */
    nodes(server);
    gangs(server);
    held_before_the_start(server);
    engine_away(server, NULL);
    engine_away(server, "connection refused");
    engine_away(server, "connection refused");
    engine_away(server, NULL);
    did(server, "their controller is away, and back", 1);
    assert_false(engine_wants(server, 77, 1));
    assert_true(server->world.fetch(server, &(struct question){.rank = 3}, NULL));
    assert_false(server->world.fetch(server, &(struct question){.rank = 2}, NULL));
    assert_int_equal(server->world.submit(server, NULL, NULL, &err), MYR_OK);
    refuses = true;
    assert_int_equal(server->world.submit(server, NULL, NULL, &err), MYR_ERANGE);
    assert_int_equal(server->world.inject(server, 0, "crash", &err), MYR_EDENIED);
    assert_string_equal(err.message, "faults are put only into a simulated world (world: twin)");
    submitted(server, 8, MYR_RESTART_STRICT);
    closed(&bench);
    /* A server that comes later knows what the core knew; their cluster it sees anew. */
    opened(&bench);
    server = bench.server;
    log_mute(false);
    for (uint32_t node = 0; node < 4; node++) {
        node_is(server, node, node == 1 ? ENGINE_NODE_HELD : ENGINE_NODE_UP,
                node == 1 ? "Fake: drained" : NULL);
    }
    job_is(server, 2);
    node_is(server, 0, ENGINE_NODE_DOWN, "Fake: not responding");
    job_is(server, 2);
    closed(&bench);
    bench_end(&bench);
    lines_end();
    assert_kept("server-engine.txt", &text);
    myr_buf_done(&text);
}

static void effect(struct server *server, const char *what, const struct myr_effect *effect)
{
    myr_buf_printf(&text, "%s\n", what);
    server->world.effect(server, effect);
    for (size_t i = 0; i < server->inbox.count; i++) {
        put_event(&server->inbox.items[i]);
    }
    server->inbox.count = 0; /* of the test's making: the core has not asked for it */
    lines_put(&text);
}

static void two_at_once(struct server *server)
{
    struct myr_err err = {};
    node_is(server, 1, ENGINE_NODE_UP, NULL);
    (void)bench_submit(server, 4, MYR_RESTART_STRICT);
    assert_int_equal(desk_run(server, &err), MYR_OK);
    (void)bench_submit(server, 4, MYR_RESTART_STRICT);
    assert_int_equal(desk_run(server, &err), MYR_OK);
    myr_buf_puts(&text, "two are to start in one turn\n");
    for (uint32_t job = 1; job < 3; job++) {
        effect(server, "", &(struct myr_effect){.kind = MYR_EFFECT_START, .job = job, .epoch = 1});
    }
    server->world.committed(server);
    taken(server);
}

/* What seldom comes: power that nobody can take, a node that fails all, orders that come too late.
 */
static void rare_orders(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    lines_begin();
    opened(&bench);
    struct server *server = bench.server;
    log_mute(false);
    node_is(server, 3, ENGINE_NODE_SILENT, NULL); /* it was never there */
    node_is(server, 3, ENGINE_NODE_DOWN, NULL);
    for (uint32_t node = 0; node < 2; node++) {
        node_is(server, node, ENGINE_NODE_UP, NULL);
    }
    node_is(server, 2, ENGINE_NODE_HELD, "Fake: drained");
    effect(server, "n1 is to be fenced, and there is no program for it",
           &(struct myr_effect){.kind = MYR_EFFECT_FENCE, .node = 1, .boot = 1});
    effect(server, "a test of a node that is held is passed",
           &(struct myr_effect){.kind = MYR_EFFECT_TEST, .node = 2, .boot = 5, .epoch = 6});
    effect(server, "one of a node that is away is not",
           &(struct myr_effect){.kind = MYR_EFFECT_TEST, .node = 3, .boot = 5, .epoch = 6});
    effect(server, "n2 is to be repaired, and is held already",
           &(struct myr_effect){.kind = MYR_EFFECT_REPAIR, .node = 2});
    effect(server, "n1 is to be repaired",
           &(struct myr_effect){.kind = MYR_EFFECT_REPAIR, .node = 1});
    server->world.drain(server, 0, true, "olga: dust");
    submitted(server, 8, MYR_RESTART_STRICT); /* nothing is started where a drain is on its way */
    job_is(server, 0);
    node_is(server, 1, ENGINE_NODE_HELD, "Fake: drained: jobs failed there again and again");
    node_is(server, 0, ENGINE_NODE_HELD, "Fake: drained: olga: dust");
    job_is(server, 0);
    engine_cancelled(server, 0, "ended there");
    did(server, "it is cancelled", 0);
    effect(server, "it is to start all the same",
           &(struct myr_effect){.kind = MYR_EFFECT_START, .job = 0, .epoch = 1, .node = 0});
    effect(server, "twice", &(struct myr_effect){.kind = MYR_EFFECT_START, .job = 0, .node = 1});
    server->world.committed(server);
    lines_put(&text);
    effect(server, "and to stop, on two nodes and of two incarnations",
           &(struct myr_effect){.kind = MYR_EFFECT_STOP, .job = 0, .epoch = 1, .grace_s = 4});
    effect(server, "",
           &(struct myr_effect){.kind = MYR_EFFECT_STOP, .job = 0, .epoch = 1, .node = 1});
    effect(server, "", &(struct myr_effect){.kind = MYR_EFFECT_STOP, .job = 0, .epoch = 2});
    effect(server, "", &(struct myr_effect){.kind = MYR_EFFECT_STOP, .job = 1, .epoch = 2});
    effect(server, "what is for people is nobody's order",
           &(struct myr_effect){.kind = MYR_EFFECT_NOTIFY});
    server->world.committed(server);
    server->world.committed(server); /* each was given once */
    /* A person's word is kept, and carried out by the next server where nobody has. */
    snprintf(server->rows.nodes[0].reason, sizeof(server->rows.nodes[0].reason), "olga: dust");
    server->rows.nodes[0].reason_theirs = false;
    rows_put_node(server, 0);
    struct myr_err err = {};
    assert_int_equal(desk_run(server, &err), MYR_OK);
    closed(&bench);
    opened(&bench);
    server = bench.server;
    log_mute(false);
    node_is(server, 0, ENGINE_NODE_UP, NULL);
    node_is(server, 0, ENGINE_NODE_HELD, "Fake: drained: olga: dust");
    node_is(server, 0, ENGINE_NODE_UP, "a word of theirs"); /* does not put hers out */
    two_at_once(server);
    closed(&bench);
    bench_end(&bench);
    lines_end();
    assert_kept("server-engine-rare.txt", &text);
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_with_another_scheduler),
        cmocka_unit_test(rare_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
