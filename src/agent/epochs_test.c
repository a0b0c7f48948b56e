/*
 * Orders and stops of a few jobs on four GPUs, drawn at random: what holds whatever comes. There is
 * no launcher: its lock is always held by somebody, and the test puts down what it would.
 */
#include "runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "myriad/base/rng.h"

enum { JOBS = 4 };

static char folder[] = "/tmp/myr-epochs-XXXXXX", sockets[64];
static uv_loop_t loop; /* nothing is ever watched */
static struct session session;
static struct stops stops;
static struct reports reports;
static struct runs runs;
static struct myr_rng rng;
static uint32_t owed[JOBS], told[JOBS]; /* the last stop; the newest STOPPED */

#define CALL __attribute__((visibility("default")))

CALL int flock(int fd, int operation)
{
    errno = EWOULDBLOCK;
    return fd >= 0 && operation == LOCK_UN ? 0 : -1;
}

CALL int fsync(int fd)
{
    return fd < 0 ? -1 : 0;
}

CALL int fdatasync(int fd) __attribute__((alias("fsync")));

static bool any_lives(uint64_t job, uint32_t up_to)
{
    for (size_t i = 0; i < runs.items.count; i++) {
        const struct run *run = runs.items.items[i];
        if (run->job == job && run->epoch <= up_to && run->state < RUN_ENDED) {
            return true;
        }
    }
    return false;
}

static void put_into(const struct run *run, const char *name, const char *text)
{
    assert_int_equal(file_put(run->folder, name, myr_str_from(text), NULL), MYR_OK);
}

/* The oldest of a job alone has a launcher, and no two launchers have one GPU. */
static void assert_apart(void)
{
    uint64_t taken = 0;
    for (size_t i = 0; i < runs.items.count; i++) {
        const struct run *run = runs.items.items[i];
        if (run->state == RUN_STARTING || run->state == RUN_UP) {
            assert_int_equal(taken & run->gpus, 0);
            taken |= run->gpus;
            assert_false(any_lives(run->job, run->epoch - 1));
            if (!file_is_there(run->folder, "launched")) {
                put_into(run, "launched", "launched 1\n");
            }
        }
    }
}

/* STOPPED is told only when nothing up to its epoch is left, and then it is. */
static void assert_told(void)
{
    for (size_t i = 0; i < reports.items.count; i++) {
        const struct report *report = &reports.items.items[i];
        if (report->type == MYR_WIRE_STOPPED) {
            uint32_t newest = told[report->job];
            assert_false(any_lives(report->job, report->epoch));
            told[report->job] = report->epoch > newest ? report->epoch : newest;
        }
    }
    for (uint64_t job = 0; job < JOBS; job++) {
        assert_true(any_lives(job, owed[job]) || told[job] >= owed[job]);
    }
}

static void open_all(void)
{
    struct myr_err err = {};
    runs = (struct runs){.loop = &loop,
                         .state = folder,
                         .sockets = sockets,
                         .stops = &stops,
                         .reports = &reports,
                         .gpus = 4};
    assert_int_equal(runs_open(&runs, &err), MYR_OK);
}

/* What the folders tell an agent that is started anew is what the one before knew. */
static void start_anew(void)
{
    struct run before[64];
    size_t count = 0;
    for (size_t i = 0; i < runs.items.count; i++) {
        assert_true(count < MYR_ARRAY_COUNT(before));
        before[count++] = *runs.items.items[i];
    }
    runs_done(&runs);
    open_all();
    assert_int_equal(runs.items.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct run *again = runs_find(&runs, before[i].job, before[i].epoch);
        assert_non_null(again);
        assert_int_equal(again->state, before[i].state);
        assert_int_equal(again->gpus, before[i].gpus);
        assert_int_equal(again->lease_s, before[i].lease_s);
        assert_true(again->state >= RUN_ENDED || again->stopping == before[i].stopping);
        const struct run *const *next = (const struct run *const *)&runs.items.items[i];
        assert_true(i == 0 || next[-1]->job < next[0]->job ||
                    (next[-1]->job == next[0]->job && next[-1]->epoch < next[0]->epoch));
    }
    memset(owed, 0, sizeof(owed)); /* the controller asks again for what it waits for */
}

static void start(uint64_t job, uint32_t epoch)
{
    struct myr_wire_start order = {.job = job,
                                   .gpus = 1 + myr_rng_below(&rng, 15),
                                   .first_rank = myr_rng_below(&rng, 5),
                                   .world = 8,
                                   .lease_s = 1 + myr_rng_below(&rng, 99),
                                   .master = MYR_STR("m 1"),
                                   .user = MYR_STR("u"),
                                   .spec = MYR_STR("x\n")};
    bool known = runs_find(&runs, job, epoch) != NULL, stopped = stops_has(&stops, job, epoch);
    size_t count = runs.items.count;
    runs_start(&runs, epoch, &order);
    assert_int_equal(runs.items.count, count + (!known && !stopped));
    assert_true(epoch == 1 || known || stops_has(&stops, job, epoch - 1));
}

static void end_one(struct run *run)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    static const enum ending_kind kinds[] = {ENDING_EXIT, ENDING_STOPPED, ENDING_START};
    struct ending ending = {.kind = kinds[myr_rng_below(&rng, MYR_ARRAY_COUNT(kinds))],
                            .line = MYR_STR("so it was")};
    if (run->state == RUN_STARTING && myr_rng_below(&rng, 2)) {
        put_into(run, "started", "started 1\n");
    } else if (run->state == RUN_STARTING || run->state == RUN_UP) {
        ending_write(&ending, &text);
        put_into(run, "exit", text.data);
        runs_look(&runs);
        assert_int_equal(run->state, RUN_ENDED);
    }
    runs_look(&runs);
}

/* The last word alone, and of those that it is about. */
static void acknowledge(uint64_t job, uint32_t epoch)
{
    static const enum myr_wire_type types[] = {MYR_WIRE_EXIT, MYR_WIRE_STOPPED, MYR_WIRE_STARTED};
    struct report report = {.type = types[myr_rng_below(&rng, 3)],
                            .job = job,
                            .epoch = epoch,
                            .code = myr_rng_below(&rng, 2)};
    enum run_state before[64];
    for (size_t i = 0; i < runs.items.count; i++) {
        before[i] = runs.items.items[i]->state;
    }
    runs_acked(&runs, &report);
    for (size_t i = 0; i < runs.items.count; i++) {
        const struct run *run = runs.items.items[i];
        bool about = run->epoch == epoch || (report.type == MYR_WIRE_STOPPED && run->epoch < epoch);
        bool last = report.type != MYR_WIRE_STARTED || report.code == 1;
        bool acked = before[i] == RUN_ENDED && run->job == job && about && last;
        assert_int_equal(run->state, acked ? RUN_ACKED : before[i]);
    }
}

static void play(uint32_t turns)
{
    uint32_t newest[JOBS] = {};
    for (uint32_t i = 0; i < turns; i++) {
        uint64_t job = myr_rng_below(&rng, JOBS);
        uint32_t what = myr_rng_below(&rng, 16);
        reports.items.count = 0;
        if (what < 5) {
            newest[job] += newest[job] == 0 || myr_rng_below(&rng, 3) > 0;
            start(job, newest[job]);
        } else if (what < 7) {
            owed[job] = newest[job] + myr_rng_below(&rng, 3);
            newest[job] = owed[job];
            runs_stop(&runs, owed[job], &(struct myr_wire_stop){.job = job, .grace_s = 5});
        } else if (what < 12 && runs.items.count > 0) {
            end_one(runs.items.items[myr_rng_below(&rng, (uint32_t)runs.items.count)]);
        } else if (what < 15) {
            acknowledge(job, newest[job] - myr_rng_below(&rng, 2));
            runs_look(&runs);
        } else {
            start_anew();
        }
        assert_apart();
        assert_told();
    }
}

static void remove_all(void)
{
    char path[AGENT_PATH_MAX];
    for (size_t i = 0; i < runs.items.count; i++) {
        folder_remove(runs.items.items[i]->folder);
    }
    path_join(path, folder, "run");
    folder_remove(path);
    folder_remove(sockets);
    runs_done(&runs);
    reports_done(&reports);
    stops_done(&stops);
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
}

static void make_all(uint64_t seed)
{
    struct myr_err err = {};
    myr_rng_init(&rng, seed, 0);
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 7);
    assert_non_null(mkdtemp(folder));
    snprintf(sockets, sizeof(sockets), "%s/sockets", folder);
    memset(told, 0, sizeof(told));
    memset(owed, 0, sizeof(owed));
    reports = (struct reports){.session = &session};
    stops = (struct stops){};
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    open_all();
}

static void whatever_comes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        print_message("seed %d\n", (int)seed);
        make_all(seed);
        play(80);
        remove_all();
    }
}

/* The very first run here is one that the controller waits for, too. */
static void a_stop_is_told_when_the_oldest_is_gone(void **state)
{
    (void)state;
    make_all(9);
    start(1, 1);
    start(1, 2); /* waits for the first */
    owed[1] = 3;
    runs_stop(&runs, 3, &(struct myr_wire_stop){.job = 1, .grace_s = 5});
    assert_told();
    assert_true(told[1] < 3);
    put_into(runs_find(&runs, 1, 1), "exit", "kind stopped\nrank 0\ncode 0\nsignal 0\n");
    runs_look(&runs);
    assert_told();
    assert_int_equal(told[1], 3);
    remove_all();
}

/* Whether the stop names it, goes beyond it, or a newer order takes its place. */
static void one_that_waits_is_not_told_before_the_one_that_dies(void **state)
{
    (void)state;
    static const char *const ends[] = {"kind stopped\nrank 0\ncode 0\nsignal 0\n",
                                       "kind exit\nrank 0\ncode 1\nsignal 0\n",
                                       "kind start\nrank 0\ncode 1\nsignal 0\n"};
    for (uint32_t i = 0; i < 4 * MYR_ARRAY_COUNT(ends); i++) {
        bool anew = i % 2, beyond = i / 2 % 2;
        make_all(i);
        start(1, 1);
        put_into(runs_find(&runs, 1, 1), "launched", "launched 1\n");
        start(1, 2);
        assert_int_equal(runs_find(&runs, 1, 2)->state, RUN_WAITING);
        owed[1] = beyond ? 3 : 2;
        runs_stop(&runs, owed[1], &(struct myr_wire_stop){.job = 1, .grace_s = 5});
        assert_int_equal(runs_find(&runs, 1, 2)->state, RUN_ENDED);
        assert_int_equal(reports.items.count, 0);
        if (anew) { /* what the stop has named is forgotten, but not which runs there were */
            runs_done(&runs);
            open_all();
            owed[1] = 2;
            assert_int_equal(reports.items.count, 0);
        }
        put_into(runs_find(&runs, 1, 1), "exit", ends[i / 4]);
        runs_look(&runs);
        assert_told();
        assert_int_equal(told[1], owed[1]);
        runs_acked(&runs, &(struct report){.type = MYR_WIRE_STOPPED, .job = 1, .epoch = told[1]});
        assert_int_equal(runs_find(&runs, 1, 1)->state, RUN_ACKED);
        assert_int_equal(runs_find(&runs, 1, 2)->state, RUN_ACKED);
        remove_all();
    }
    make_all(99);
    start(1, 1);
    start(1, 2);
    start(1, 3); /* the second goes without having begun */
    assert_int_equal(runs_find(&runs, 1, 2)->state, RUN_ENDED);
    assert_int_equal(reports.items.count, 0);
    put_into(runs_find(&runs, 1, 1), "exit", ends[0]);
    runs_look(&runs);
    assert_int_equal(runs_find(&runs, 1, 3)->state, RUN_STARTING);
    assert_told();
    assert_int_equal(told[1], 2);
    remove_all();
}

static void order_gpu(uint64_t job)
{
    const struct myr_wire_start order = {.job = job,
                                         .gpus = 1,
                                         .world = 8,
                                         .master = MYR_STR("m 1"),
                                         .user = MYR_STR("u"),
                                         .spec = MYR_STR("x\n")};
    runs_start(&runs, 1, &order);
    const struct run *run = runs_find(&runs, job, 1);
    if (run->state == RUN_STARTING) {
        put_into(run, "launched", "launched 1\n");
    }
}

/* Job 2 has ended, and nobody has heard it; job 3 is being stopped, and job 1 waits for its GPU. */
static void who_waits_for_a_gpu_waits_after_a_restart_too(void **state)
{
    (void)state;
    make_all(1);
    order_gpu(2);
    put_into(runs_find(&runs, 2, 1), "exit", "kind exit\nrank 0\ncode 0\nsignal 0\n");
    runs_look(&runs);
    order_gpu(3);
    runs_stop(&runs, 1, &(struct myr_wire_stop){.job = 3, .grace_s = 5});
    order_gpu(1);
    assert_int_equal(runs_find(&runs, 1, 1)->state, RUN_WAITING);
    runs_done(&runs);
    open_all();
    assert_int_equal(runs_find(&runs, 1, 1)->state, RUN_WAITING);
    assert_int_equal(runs_find(&runs, 2, 1)->state, RUN_ENDED);
    remove_all();
}

/* Without a line it is an empty text, which may be printed as any other. */
static void an_ending_without_a_line_has_an_empty_one(void **state)
{
    (void)state;
    struct ending ending = {};
    struct myr_err err = {};
    struct myr_str text = MYR_STR("kind exit\nrank 1\ncode 2\nsignal 3\n");
    assert_int_equal(ending_read("f", text, &ending, &err), MYR_OK);
    assert_non_null(ending.line.data);
    assert_true(myr_str_eq(ending.line, MYR_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_comes),
        cmocka_unit_test(a_stop_is_told_when_the_oldest_is_gone),
        cmocka_unit_test(one_that_waits_is_not_told_before_the_one_that_dies),
        cmocka_unit_test(who_waits_for_a_gpu_waits_after_a_restart_too),
        cmocka_unit_test(an_ending_without_a_line_has_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
