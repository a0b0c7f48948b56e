/* Orders for gangs that come too early, twice or too late, and one that cannot have a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "leaks.h"
#include "slurm/played_slurm_test.h"

/* SQLite keeps its tables for the whole process, and the C library those of users. */
long myr_leaks_allowed = 64;

static struct engine_gang gang_of(uint32_t id, struct myr_control_rank *share)
{
    assert_int_equal(myr_control_job_ranks(server->control, id, share, 1), 1);
    return (struct engine_gang){.job = id,
                                .epoch = myr_control_job(server->control, id).epoch,
                                .world = 8,
                                .row = rows_job(server, id),
                                .shares = share,
                                .count = 1};
}

static bool says(const char *words)
{
    bool there = story.len && strstr(story.data, words);
    myr_buf_clear(&story);
    return there;
}

static void orders_out_of_turn(void **state)
{
    (void)state;
    struct myr_control_rank share;
    life_begin();
    nodes_are("all are idle", UP LAST_UP);
    prints("sbatch", 0, "41\n");
    submitted(8);
    assert_true(says("  asks sbatch "));
    struct engine_gang gang = gang_of(0, &share);
    /* It is there and is not submitted again; that it runs is told as often as it is asked for. */
    slurm_start(server, &gang);
    settle();
    assert_false(says("asks"));
    job_is("41", "RUNNING", "None", 0);
    myr_buf_clear(&story);
    slurm_start(server, &gang);
    assert_int_equal(server->inbox.count, 1);
    assert_int_equal(server->inbox.items[0].kind, MYR_EVENT_STARTED);
    server->inbox.count = 0;
    slurm->gangs.items[0].stopping = true; /* not of one that is to end */
    slurm_start(server, &gang);
    assert_int_equal(server->inbox.count, 0);
    slurm->gangs.items[0].stopping = false;
    /* Nor one that has ended, by the mark that it was started. */
    char path[PATH_BYTES + 16];
    struct gang was = slurm->gangs.items[0];
    script_folder(slurm->spool, 0, gang.epoch, path, PATH_BYTES);
    snprintf(path + strlen(path), 16, "/started");
    assert_int_equal(symlink("41", path), 0);
    slurm_drop(slurm, &slurm->gangs.items[0]);
    slurm_start(server, &gang);
    settle();
    assert_false(says("asks"));
    assert_int_equal(slurm->gangs.count, 0);
    myr_vec_push(&slurm->gangs, was);
    /* Before the first look nothing is started: it may run already. */
    uint64_t looks = slurm->looks_done;
    slurm->looks_done = 0;
    slurm_start(server, &gang);
    assert_int_equal(slurm->early.count, 1);
    assert_int_equal(slurm->early.items[0], 0);
    slurm_stop(server, 3, 1, 0); /* nor is one called gone that nobody has looked for */
    assert_int_equal(server->inbox.count, 0);
    slurm->early.count = 0;
    slurm->looks_done = looks;
    closed();
    life_end();
}

static void stopped_while_it_is_submitted(void **state)
{
    (void)state;
    struct myr_err err = {};
    life_begin();
    nodes_are("all are idle", UP LAST_UP);
    prints("sbatch", 0, "42\n");
    uint32_t id = bench_submit(server, 8, MYR_RESTART_STRICT);
    free((char *)server->rows.jobs.items[id]->file);
    server->rows.jobs.items[id]->file = strdup("gpus: 1\ncommand: run\n");
    assert_int_equal(desk_run(server, &err), MYR_OK);
    assert_int_equal(slurm->gangs.count, 1);
    assert_int_equal(slurm->gangs.items[0].stage, STAGE_ASKED);
    slurm_stop(server, id, 1, 30);
    assert_true(slurm->gangs.items[0].stopping && !slurm->gangs.items[0].killed);
    myr_buf_clear(&story);
    settle();
    assert_true(slurm->gangs.items[0].killed);
    assert_int_equal(slurm->gangs.items[0].id, 42);
    assert_true(says("  asks scancel 42\n"));
    closed();
    life_end();
}

static void no_folder_can_be_made(void **state)
{
    (void)state;
    life_begin();
    nodes_are("all are idle", UP LAST_UP);
    myr_buf_clear(&story);
    snprintf(slurm->spool, sizeof(slurm->spool), "%s/none/spool", bench.folder);
    submitted(8);
    assert_non_null(strstr(story.data, "  log warning job 0 did not start: "
                                       "FOLDER/none/spool/0.1: making: No such file or directory"));
    assert_false(says("asks sbatch"));
    assert_int_equal(slurm->gangs.count, 0);
    closed();
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_out_of_turn),
        cmocka_unit_test(stopped_while_it_is_submitted),
        cmocka_unit_test(no_folder_can_be_made),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
