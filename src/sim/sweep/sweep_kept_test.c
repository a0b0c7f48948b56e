#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim/sweep.h"

/* A sweep in one go, gone on with, and in parts: the same rows each time, and what is said of it.
 */

static const char file[] = "topology: fat-tree:k=4\n"
                           "workload: '{kind}{size}'\n"
                           "knobs: {kind: ['permutation:', 'incast:16:1,', 'allreduce:halving,'], "
                           "size: [100KB, 1MB]}\n"
                           "lb: [ecmp, spray]\n"
                           "queue_pairs: 2\n"
                           "seed: 3-4\n";

/* Two jobs a point, with what befalls them; every second point cannot be. */
static const char several[] = "topology: fat-tree:k=4\n"
                              "workload: 'allgather:ring,{size},ranks=4'\n"
                              "jobs: ['permutation:{size},ranks=4,first=8']\n"
                              "fault: 'spine/p0-0:down@20us,reroute=local'\n"
                              "slow: ['node/00001:0.5', 'node/00002:0.25']\n"
                              "knobs: {size: [100KB, none]}\n"
                              "pause: [0, 500]\n";

static char folder[] = "/tmp/myriad-sweep-XXXXXX";

static void count_points(void *context, uint64_t done, uint64_t total)
{
    uint64_t *most = context;
    assert_true(done <= total);
    *most = done > *most ? done : *most;
}

static void put_run_of(struct myr_buf *text, const char *what, const char *question,
                       struct myr_sweep_run run)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_sweep sweep;
    struct myr_sweep_result result;
    struct myr_err err = {};
    uint64_t most = 0;
    myr_arena_init(&arena);
    assert_int_equal(myr_sweep_parse(&sweep, &arena, "s.yaml", myr_str_from(question), &err),
                     MYR_OK);
    run.progress = count_points;
    run.progress_context = &most;
    if (myr_sweep_run(&sweep, &run, &arena, &result, &err) < 0) {
        myr_buf_printf(text, "%s: %s: %s\n", what, myr_err_name(err.code), err.message);
        return;
    }
    myr_buf_printf(text, "%s: %u rows of %u points, %u done, %u resumed, %u failed%s\n", what,
                   result.row_count, result.points, result.done, result.resumed, result.failed,
                   result.written ? ", written" : "");
    for (uint32_t i = 0; i < result.row_count; i++) {
        const struct myr_sweep_row *row = &result.rows[i];
        myr_buf_printf(text, "  %u %u/%u:", row->point, row->job, row->jobs);
        for (uint32_t c = 0; c < MYR_SWEEP_COLUMNS; c++) {
            myr_buf_printf(text, " %.*s", (int)row->cells[c].len,
                           row->cells[c].data ? row->cells[c].data : "");
        }
        myr_buf_puts(text, "\n");
    }
    myr_buf_printf(text, "  told up to %llu\n", (unsigned long long)most);
}

static void put_run(struct myr_buf *text, const char *what, const char *out, uint32_t shard,
                    uint32_t shards)
{
    put_run_of(
        text, what, file,
        (struct myr_sweep_run){
            .out = out, .version = "1", .shard = shard, .shard_count = shards, .workers = 1});
}

static void put_file(struct myr_buf *text, const char *path)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf got = {};
    struct myr_err err = {};
    if (myr_file_read(path, 1 << 20, &got, &err) < 0) {
        myr_buf_printf(text, "%s is not there\n", path);
        return;
    }
    myr_buf_printf(text, "%s\n", path);
    myr_buf_put(text, got.data, got.len);
}

static void sweeps_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    put_run(&text, "not kept", NULL, 0, 1);
    put_run(&text, "whole", "all.csv", 0, 1);
    put_file(&text, "all.csv");
    put_run(&text, "once more", "all.csv", 0, 1);
    put_run(&text, "first part", "part.csv", 0, 2);
    put_file(&text, "part.csv");
    put_run(&text, "first part again", "part.csv", 0, 2);
    put_run(&text, "second part", "part.csv", 1, 2);
    put_file(&text, "part.csv");
    put_run(&text, "where there is no folder", "none/all.csv", 0, 1);
    put_run(&text, "a third", "rest.csv", 1, 3);
    put_run(&text, "and the rest", "rest.csv", 0, 1);
    put_file(&text, "rest.csv.part-1-of-1");
    assert_kept("sim-sweep.txt", &text);
}

static void several_jobs_and_workers(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sweep_run run = {
        .out = "./several.csv", .version = "a, b", .shard_count = 1, .workers = 3};
    put_run_of(&text, "three workers", several, run);
    put_file(&text, "several.csv");
    run.out = "several.csv";
    put_run_of(&text, "once more", several, run);
    run.version = "c";
    put_run_of(&text, "another version", several, run);
    run.version = "a, b";
    put_run_of(&text, "another sweep", file, run);
    run.out = "several"; /* the journals of a longer name are another's */
    run.workers = 0;
    put_run_of(&text, "a name that begins so", several, run);
    char far[4097];
    memset(far, 'x', sizeof(far));
    far[4096 - strlen(".part-1-of-1")] = '\0';
    run.out = far;
    put_run_of(&text, "a name too long by one", several, run);
    assert_kept("sim-sweep-jobs.txt", &text);
}

/* The disk is full behind the first line: workers say so, or are ended by the system. */
static void a_worker_that_cannot_write_is_told(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct rlimit before, small, core, none = {};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before) | getrlimit(RLIMIT_CORE, &core), 0);
    struct myr_sweep_run run = {.out = "full.csv", .version = "1", .shard_count = 1, .workers = 1};
    small = (struct rlimit){100, before.rlim_max};
    none.rlim_max = core.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small) | setrlimit(RLIMIT_CORE, &none), 0);
    put_run_of(&text, "ended", several, run);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    run.out = NULL;
    put_run_of(&text, "refused", several, run);
    small.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &small);
    put_run_of(&text, "not even the first line", several, run);
    signal(SIGXFSZ, handler);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before) | setrlimit(RLIMIT_CORE, &core), 0);
    run.out = "full.csv";
    put_run_of(&text, "with room again", several, run);
    /* With what was begun, and no line twice. */
    put_file(&text, "full.csv.part-1-of-1");
    assert_kept("sim-sweep-full.txt", &text);
}

/* It is waited for, as one that was just killed, and then left alone. */
static void another_run_keeps_its_journal(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_sweep_run run = {.out = "held.csv", .version = "1", .shard_count = 1, .workers = 1};
    int held = open("held.csv.part-1-of-1", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0);
    put_run_of(&text, "held", several, run);
    assert_string_equal(text.data,
                        "held: EAWAY: held.csv.part-1-of-1: another run is writing it\n");
    close(held);
    assert_int_equal(unlink("held.csv.part-1-of-1"), 0);
}

static int open_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int close_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"rest.csv",
                                        "rest.csv.part-2-of-3",
                                        "rest.csv.part-1-of-1",
                                        "all.csv",
                                        "all.csv.part-1-of-1",
                                        "part.csv",
                                        "part.csv.part-1-of-2",
                                        "part.csv.part-2-of-2",
                                        "several.csv",
                                        "several.csv.part-1-of-1",
                                        "several",
                                        "several.part-1-of-1",
                                        "full.csv",
                                        "full.csv.part-1-of-1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        unlink(names[i]);
    }
    return chdir("/") | rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_are_what_they_were),
        cmocka_unit_test(several_jobs_and_workers),
        cmocka_unit_test(a_worker_that_cannot_write_is_told),
        cmocka_unit_test(another_run_keeps_its_journal),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
