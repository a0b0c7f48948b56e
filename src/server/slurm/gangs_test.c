/*
 * Gangs that are in doubt, that are to end, that ended unseen, and how often it is looked, as one
 * text (tests/kept/server-gangs.txt). Lines at the margin are what the test does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "leaks.h"
#include "slurm/played_slurm_test.h"

/* SQLite keeps its tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 64;

/* What sbatch has not told, the list tells; and a gang that is to end before it is there. */
static void unsure_ones(void)
{
    prints("sbatch", 1, "sbatch: error: Unable to contact slurm controller (connect failure)\n");
    submitted(8);
    uint32_t id = myr_control_jobs(server->control) - 1;
    slurm_look_in(slurm, 5);
    assert_int_equal(uv_timer_get_due_in(&slurm->timer), 5);
    slurm_look_in(slurm, 6); /* it is looked sooner than that */
    assert_int_equal(uv_timer_get_due_in(&slurm->timer), 5);
    job_is("150_1", "RUNNING", "None", id); /* part of an array: none of ours */
    job_is("151", "PENDING", "Priority", id);
    myr_buf_puts(&story, "it is to stop before it runs\n");
    slurm_stop(server, id, 1, 30);
    settle();
    put_jobs();
    job_is("151", "PENDING", "Resources", id);
    job_is("151", "CANCELLED", "None", id);
    wait_for_start(id);
    job_is("151", "COMPLETING", "None", id); /* an old one ends: nobody minds */
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    settle();
    prints("squeue", 0, "");
    prints("sbatch", 1, "sbatch: error: Unable to contact slurm controller (connect failure)\n");
    submitted(8);
    id++;
    slurm_stop(server, id, 1, 0);
    settle();
    put_jobs();
    prints("scancel", 1,
           "scancel: error: Kill job error on job id 152: Invalid job id specified\n");
    job_is("152", "RUNNING", "None", id);
    prints("scancel", 1, "scancel: error: Unable to contact slurm controller\n");
    slurm_stop(server, id, 1, 0);
    settle();
    prints("scancel", 0, "");
    prints("squeue", 0, "");
    look("it is gone", true);
    wait_for_start(id);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    settle();
}

/* What its script finds when it begins: a mark that it was stopped. */
static bool has_mark(uint32_t job, uint32_t epoch)
{
    char path[PATH_BYTES + 16];
    struct stat status;
    script_folder(slurm->spool, job, epoch, path, PATH_BYTES);
    snprintf(path + strlen(path), 16, "/stopped");
    return stat(path, &status) == 0 && (status.st_mode & 0777) == 0644;
}

/* The first grace counts, unless a later one is shorter; and who has had it is killed once. */
static void graces(void)
{
    prints("sbatch", 0, "160\n");
    snprintf(server->config.slurm.options, sizeof(server->config.slurm.options),
             "--qos=high -x n3");
    submitted(8);
    server->config.slurm.options[0] = '\0';
    uint32_t id = myr_control_jobs(server->control) - 1;
    job_is("160", "RUNNING", "None", id);
    assert_false(has_mark(id, 1));
    static const uint32_t graces_s[] = {20, 30, 10, 15};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(graces_s); i++) {
        myr_buf_printf(&story, "it is to stop within %u s\n", graces_s[i]);
        slurm_stop(server, id, 1, graces_s[i]);
        assert_true(has_mark(id, 1));
        settle();
        put_jobs();
    }
    clock_ns += 9999 * 1000000LL;
    slurm->accounts_ms = steady_ms();
    engine_second(server);
    settle();
    put_jobs();
    clock_ns += 1000000;
    engine_second(server);
    engine_second(server);
    settle();
    put_jobs();
    slurm_stop(server, id, 1, 30); /* it is too late for graces */
    settle();
    put_jobs();
    job_is("160", "CANCELLED", "None", id);
    wait_for_start(id);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    settle();
    prints("squeue", 0, "");
    look("nothing of it is left", true);
}

/* What a script writes when it ends is a number below 256, or counts for nothing. */
static void exits(void)
{
    static const char *const texts[] = {"0", "255\n", "256\n", "x\n", "-1\n", "\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        prints("sbatch", 0, "170\n");
        submitted(8);
        uint32_t id = myr_control_jobs(server->control) - 1;
        job_is("170", "RUNNING", "None", id);
        wrote_exit(id, 1, texts[i]);
        prints("squeue", 0, "");
        look("\nand it is gone", true);
        wait_for_start(id);
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
        settle();
        look("and ended", true);
    }
    prints("sbatch", 0, "180\n");
}

/* Where no whole look was taken it is first looked which node was lost. */
static void lost_between_two_looks(void)
{
    char line[200];
    submitted(8);
    uint32_t id = myr_control_jobs(server->control) - 1;
    job_is("180", "RUNNING", "None", id);
    snprintf(line, sizeof(line), "180|NODE_FAIL|nobody|n0|None|myriad:%s:%u.1\n", slurm->tag, id);
    prints("squeue", 0, line);
    look("a small look sees that a node has failed", false);
    assert_int_equal(slurm->whole_ms, 0);
    nodes_are("and a whole one which", "n0|all*|64|1000|gpu:h100:8|down|gone\nn[1-3]|all*|64|1000|"
                                       "gpu:h100:8|idle|none\n");
    prints("squeue", 0, "");
    nodes_are("all are idle", UP LAST_UP);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    settle();
    look("nothing is left", true);
}

/* A look is whole as often as the configuration says; one of jobs alone is between them. */
static void whole_looks(void)
{
    static const int64_t ages_ms[] = {4699, 4700};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ages_ms); i++) {
        slurm->whole_ms = steady_ms() - ages_ms[i];
        slurm_look(slurm);
        assert_int_equal(slurm->whole, i == 1);
        settle();
    }
    snprintf(server->config.slurm.partition, sizeof(server->config.slurm.partition), "other");
    snprintf(server->config.slurm.options, sizeof(server->config.slurm.options),
             "--reservation=ours");
    nodes_are("another partition, a reservation of ours, GPUs that nobody counts",
              UP "n0|other|64|1000|(null)|reserved|none\nn1|other|64|1000|(null)|idle|none\n"
                 "n2|other|64|1000|gpu:h100:9|idle|none\n");
    server->config.slurm.partition[0] = server->config.slurm.options[0] = '\0';
    nodes_are("all are idle", UP LAST_UP);
    nodes_are("and one that is none of ours", "x9|all*|64|1000|gpu:h100:8|idle|none\n" UP LAST_UP);
    prints("squeue", 1, "slurm_load_jobs error: Unable to contact slurm controller\n");
    look("its controller is away", true);
    prints("squeue", 0, "");
    nodes_are("and back, and has not heard a node yet",
              "n[0-2]|all*|64|1000|gpu:h100:8|idle*|none\n" LAST_UP);
    slurm->back_ms = steady_ms() - 59999;
    nodes_are("nor in the next minute", "n[0-2]|all*|64|1000|gpu:h100:8|idle*|none\n" LAST_UP);
    slurm->back_ms = steady_ms() - 60000;
    nodes_are("after it that is a sign", "n[0-2]|all*|64|1000|gpu:h100:8|idle*|none\n" LAST_UP);
    nodes_are("all are heard", UP LAST_UP);
}

static void gangs_in_doubt(void **state)
{
    (void)state;
    life_begin();
    nodes_are("all are idle", UP LAST_UP);
    unsure_ones();
    graces();
    exits();
    lost_between_two_looks();
    whole_looks();
    closed();
    assert_kept("server-gangs.txt", &story);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_in_doubt),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
