/*
 * Incarnations of jobs on a node, from their orders to what the controller is told, as one text
 * (tests/kept/agent-runs.txt). Launchers are this program itself, called as the agent calls them:
 * one says that it has started, and ends when the test or the agent has put down how.
 */
#include "runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "launch.h"

enum { PATIENCE = 60000 }; /* turns of a millisecond: what does not come by then never comes */

static char folder[] = "/tmp/myr-runs-XXXXXX", sockets[64];
static uv_loop_t loop;
static struct session deaf; /* no connection: reports wait */
static struct stops stops;
static struct reports reports;
static struct runs runs;
static struct myr_buf story;

/* --- a launcher, in a process of its own */

static void put_exit(const char *where, enum ending_kind kind, uint32_t code, const char *line)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending = {.kind = kind, .rank = 1, .code = code, .line = myr_str_from(line)};
    ending_write(&ending, &text);
    if (file_put(where, "exit", (struct myr_str){text.data, text.len}, NULL) < 0) {
        _exit(3);
    }
}

static int shim(const char *where)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    signal(SIGUSR1, SIG_IGN); /* it looks by itself */
    myr_buf_printf(&text, "pid %d\nbegan %llu\n", (int)getpid(),
                   (unsigned long long)process_began(getpid(), NULL, NULL));
    if (file_put(where, "shim", (struct myr_str){text.data, text.len}, NULL) < 0 ||
        file_put(where, "started", MYR_STR("started 1\n"), NULL) < 0) {
        return 3;
    }
    for (int i = 0; i < PATIENCE; i++) {
        if (file_is_there(where, "stop")) {
            put_exit(where, ENDING_STOPPED, 0, "by order");
            return 0;
        }
        if (file_is_there(where, "end")) { /* the test's: as it says there */
            put_exit(where, ENDING_EXIT, 7, "Error: it says");
            return 0;
        }
        if (file_is_there(where, "die")) {
            char path[AGENT_PATH_MAX];
            path_join(path, where, "die");
            (void)unlink(path);
            return 9; /* another one is to take its place */
        }
        usleep(1000);
    }
    return 4;
}

/* --- what the test looks at */

static int compare_reports(const void *a, const void *b)
{
    const struct report *left = a, *right = b;
    return left->job != right->job       ? (left->job < right->job ? -1 : 1)
           : left->epoch != right->epoch ? (int)left->epoch - (int)right->epoch
                                         : (int)left->type - (int)right->type;
}

/* Reports in the order of their numbers. */
static void put_all(const char *what)
{
    static const char *const states[] = {"waiting", "starting", "up", "ended", "acked"};
    myr_buf_printf(&story, "%s\n", what);
    if (reports.items.count > 1) {
        qsort(reports.items.items, reports.items.count, sizeof(struct report), compare_reports);
    }
    for (size_t i = 0; i < runs.items.count; i++) {
        const struct run *run = runs.items.items[i];
        myr_buf_printf(&story, "  run %llu.%u %s%s gpus %llx first %u of %u lease %u asked %u\n",
                       (unsigned long long)run->job, run->epoch, states[run->state],
                       run->stopping ? " stopping" : "", (unsigned long long)run->gpus,
                       run->first_rank, run->ranks, run->lease_s, run->asked);
    }
    for (size_t i = 0; i < reports.items.count; i++) {
        const struct report *report = &reports.items.items[i];
        myr_buf_printf(&story, "  report %s %llu.%u rank %u code %u signal %u '%s'\n",
                       myr_wire_type_name((uint8_t)report->type), (unsigned long long)report->job,
                       report->epoch, report->rank, report->code, report->signal, report->text);
    }
}

/* Turns until a run is so far; those before it are as far as they will come. */
static void until(uint64_t job, uint32_t epoch, enum run_state state)
{
    for (int i = 0; i < PATIENCE; i++) {
        runs_look(&runs);
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        const struct run *run = runs_find(&runs, job, epoch);
        if (run && run->state == state) {
            return;
        }
        usleep(1000);
    }
    put_all("stuck");
    fail_msg("%s", story.data);
}

static void acknowledge(void)
{
    for (size_t i = 0; i < reports.items.count; i++) {
        runs_acked(&runs, &reports.items.items[i]);
    }
    reports.items.count = 0;
}

static void start(uint64_t job, uint32_t epoch, uint64_t gpus, uint32_t first, uint32_t world)
{
    char what[80];
    struct myr_wire_start order = {.job = job,
                                   .gpus = gpus,
                                   .first_rank = first,
                                   .world = world,
                                   .lease_s = 60,
                                   .node_count = 1,
                                   .master = MYR_STR("127.0.0.1 20000"),
                                   .user = MYR_STR("nobody"),
                                   .spec = MYR_STR("command: x\n")};
    runs_start(&runs, epoch, &order);
    snprintf(what, sizeof(what), "start %llu.%u", (unsigned long long)job, epoch);
    myr_buf_printf(&story, "%s\n", what);
}

static void stop(uint64_t job, uint32_t epoch)
{
    myr_buf_printf(&story, "stop %llu.%u\n", (unsigned long long)job, epoch);
    runs_stop(&runs, epoch, &(struct myr_wire_stop){.job = job, .grace_s = 5});
}

static void put_into(uint64_t job, uint32_t epoch, const char *name, const char *text)
{
    const struct run *run = runs_find(&runs, job, epoch);
    assert_non_null(run);
    assert_int_equal(file_put(run->folder, name, myr_str_from(text), NULL), MYR_OK);
}

static void opened(void)
{
    struct myr_err err = {};
    reports = (struct reports){.session = &deaf};
    runs = (struct runs){.loop = &loop,
                         .state = folder,
                         .sockets = sockets,
                         .stops = &stops,
                         .reports = &reports,
                         .gpus = 8};
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_int_equal(runs_open(&runs, &err), MYR_OK);
}

static void closed(void)
{
    runs_done(&runs);
    reports_done(&reports);
    stops_done(&stops);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
}

/* --- lives */

static void one_after_another(void)
{
    start(1, 1, 0x3, 0, 2);
    until(1, 1, RUN_UP);
    put_all("it is up");
    start(1, 1, 0x3, 0, 2);
    put_all("and told again");
    start(2, 1, 0x6, 0, 2);
    put_all("another on one of its GPUs");
    acknowledge();
    start(1, 2, 0x3, 0, 2); /* a newer one takes its place when it is gone */
    until(1, 2, RUN_UP);
    put_all("a newer one");
    start(1, 1, 0x3, 0, 2);
    put_all("the older one again");
    acknowledge();
    stop(1, 1);
    put_all("the older one once more");
    acknowledge();
    put_into(1, 2, "end", "");
    until(1, 2, RUN_ENDED);
    put_all("it ends by itself");
    start(1, 2, 0x3, 0, 2);
    put_all("ordered again: how it ended was told");
    acknowledge();
    put_all("which is committed");
    start(1, 2, 0x3, 0, 2);
    put_all("ordered again after that");
    acknowledge();
}

static void stops_and_orders_without_sense(void)
{
    start(3, 1, 0x1, 0, 1);
    until(3, 1, RUN_UP);
    stop(3, 4); /* and nothing up to the fourth ever again */
    until(3, 1, RUN_ENDED);
    put_all("it is gone");
    acknowledge();
    start(3, 3, 0x1, 0, 1);
    put_all("the third comes late");
    acknowledge();
    stop(5, 1);
    put_all("of one that was never here");
    acknowledge();
    start(6, 1, 0, 0, 1);
    start(7, 1, 0x3, 7, 8);
    start(8, 1, 0x100, 0, 1);
    put_all("orders without sense");
    acknowledge();
    start(9, 1, 0x80, 7, 8);
    until(9, 1, RUN_UP);
    put_into(9, 1, "exit", "nobody can read that");
    until(9, 1, RUN_ENDED);
    put_all("nobody knows how it ended");
    put_into(9, 1, "end", "");
    acknowledge();
}

static void another_life(void)
{
    start(10, 1, 0xF0, 4, 8);
    until(10, 1, RUN_UP);
    start(11, 1, 0x0F, 0, 4);
    until(11, 1, RUN_UP);
    reports.items.count = 0;
    closed();
    opened(); /* the agent was killed, and what it started runs on */
    put_all("found again");
    runs_say_again(&runs);
    put_all("said again");
    acknowledge();
    put_into(10, 1, "die", "");
    const struct run *run = runs_find(&runs, 10, 0);
    pid_t before = run->shim;
    for (int i = 0; i < PATIENCE && (run->shim == before || run->shim == 0); i++) {
        runs_look(&runs);
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    put_all("its launcher died, another took its place");
    put_into(10, 1, "stuck", "count 3\n");
    stop(10, 1);
    until(10, 1, RUN_ENDED);
    put_into(11, 1, "end", "");
    until(11, 1, RUN_ENDED);
    put_all("both are over");
    closed();
    opened();
    put_all("found once more: their ends are told");
    acknowledge();
    closed();
    opened();
    put_all("and once more: they were committed");
}

/* Folders that somebody has copied, or written into: before, between and behind the others. */
static const struct {
    const char *name;
    uint64_t job; /* of the order in it; 0: nobody can read it */
} strangers[] = {{"1.9", 2}, {"20.4x", 20}, {"20.40", 20}, {"33.1", 34}, {"35.1", 0}};

static void put_strangers(const struct order *like)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(strangers); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        char path[AGENT_PATH_MAX];
        struct order order = *like;
        order.job = strangers[i].job;
        order.epoch = 4;
        order.boot = myr_str_from(runs.boot);
        order_write(&order, &text);
        snprintf(path, sizeof(path), "%s/run/%s", folder, strangers[i].name);
        assert_int_equal(folder_make(path, 0700, NULL), MYR_OK);
        struct myr_str said = {text.data, order.job ? text.len : text.len / 2};
        assert_int_equal(file_put(path, "order", said, NULL), MYR_OK);
    }
}

/* Nothing is made of them, and they are left as they are, for whoever wants to know. */
static void take_strangers(void)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(strangers); i++) {
        char path[AGENT_PATH_MAX];
        snprintf(path, sizeof(path), "%s/run/%s", folder, strangers[i].name);
        assert_true(file_is_there(path, "order"));
        for (size_t k = 0; k < runs.items.count; k++) {
            assert_string_not_equal(runs.items.items[k]->folder, path);
            assert_true(runs.items.items[k]->job != 34 && runs.items.items[k]->job != 2);
        }
        folder_remove(path);
    }
}

/* Eight are kept for their output; and those of another boot are nobody's. */
static void what_is_kept(void)
{
    for (uint32_t epoch = 1; epoch <= 10; epoch++) {
        start(20, epoch, 0x1, 0, 1);
        until(20, epoch, RUN_UP);
        put_into(20, epoch, "end", "");
        until(20, epoch, RUN_ENDED);
        acknowledge();
    }
    runs_look(&runs);
    put_all("the last eight are kept");
    closed();
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[AGENT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/run/30.1", folder);
    assert_int_equal(folder_make(path, 0700, NULL), MYR_OK);
    struct order order = {.job = 30,
                          .epoch = 1,
                          .gpus = 1,
                          .world = 1,
                          .boot = MYR_STR("another"),
                          .master = MYR_STR("m"),
                          .user = MYR_STR("u"),
                          .tag = MYR_STR("t"),
                          .socket = MYR_STR("s"),
                          .state = MYR_STR("s")};
    order_write(&order, &text);
    assert_int_equal(file_put(path, "order", (struct myr_str){text.data, text.len}, NULL), MYR_OK);
    put_strangers(&order);
    snprintf(path, sizeof(path), "%s/run/31.1", folder); /* an agent died before its order */
    assert_int_equal(folder_make(path, 0700, NULL), MYR_OK);
    opened();
    take_strangers();
    assert_null(runs_find(&runs, 30, 0));
    assert_true(stops_has(&stops, 30, 1));
    assert_true(folder_is_gone(path));
    snprintf(path, sizeof(path), "%s/run/30.1", folder);
    assert_true(folder_is_gone(path));
    put_all("those of another boot are gone");
    closed();
    opened();
    start(20, 11, 0x1, 0, 1);
    until(20, 11, RUN_UP);
    put_into(20, 11, "end", "");
    until(20, 11, RUN_ENDED);
    acknowledge();
    runs_look(&runs);
    put_all("one more: the oldest goes");
}

static void remove_runs(void)
{
    char path[AGENT_PATH_MAX];
    for (size_t i = 0; i < runs.items.count; i++) {
        folder_remove(runs.items.items[i]->folder);
    }
    snprintf(path, sizeof(path), "%s/run", folder);
    folder_remove(path);
    folder_remove(sockets);
}

static void orders_and_what_comes_of_them(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(sockets, sizeof(sockets), "%s/sockets", folder);
    assert_int_equal(uv_loop_init(&loop), 0);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for launchers: they outlive who started them */
    opened();
    one_after_another();
    stops_and_orders_without_sense();
    another_life();
    what_is_kept();
    assert_kept("agent-runs.txt", &story);
    remove_runs();
    closed();
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    myr_buf_done(&story);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "shim") == 0) {
        _exit(shim(argv[2])); /* what it leaves is not counted */
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_what_comes_of_them),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
