/*
 * A life of gangs and nodes with Slurm, and what the core and people are told of them, as one text
 * (tests/kept/server-slurm.txt). Lines at the margin are what the test does.
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

/* --- lives */

static void nodes(void)
{
    nodes_are("all are idle", UP LAST_UP);
    nodes_are("one is drained, one reserved, one down",
              "n0|all*|64|1000|gpu:h100:8|idle|none\nn1|all*|64|1000|gpu:h100:8|drained|fan\n"
              "n2|all*|64|1000|gpu:h100:8|reserved|none\nn3|all*|64|1000|gpu:h100:8|down|dust\n");
    nodes_are("one has too few GPUs, one is silent, one is gone",
              "n0|all*|64|1000|gpu:h100:7|idle|none\nn1|all*|64|1000|gpu:h100:8|idle*|none\n"
              "n2|all*|64|1000|gpu:h100:8|idle|none\n");
    nodes_are("all are idle again; another partition counts for nothing",
              UP LAST_UP "n3|other|64|1000|gpu:h100:8|drained|no matter\n");
    prints("squeue", 0, "77|RUNNING|ada|n[1-2,9]|None|theirs\n78|PENDING|ada||None|x\n");
    nodes_are("others run there", UP LAST_UP);
    prints("squeue", 0, "");
    nodes_are("others are gone", UP LAST_UP);
    prints("sinfo", 0, "no line of sinfo's\n");
    look("sinfo prints what nobody understands", true);
    prints("sinfo", 1, "slurm_load_partitions: Unable to contact slurm controller\n");
    look("its controller is away", true);
    nodes_are("and back, with nodes that it has not heard yet",
              "n[0-2]|all*|64|1000|gpu:h100:8|idle*|none\n" LAST_UP);
    nodes_are("all are heard", UP LAST_UP);
    myr_buf_puts(&story, "people drain and resume\n");
    slurm_node(server, 0, true, "olga: dust");
    slurm_node(server, 1, true, "olga: dust");
    slurm_node(server, 3, false, "");
    slurm_node(server, 2, true, "another");
    settle();
}

/* Comments that are nearly ours are somebody else's, who has the node. */
static void nearly_ours(void)
{
    static const char *const tails[] = {
        "", ":", ":1", ":1.", ":.1", ":x.1", ":1.x", ":4294967295.1", ":1.4294967295", "x:1.1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tails); i++) {
        char line[200];
        snprintf(line, sizeof(line), "7%zu|RUNNING|ada|n1|None|myriad:%s%s\n", i, slurm->tag,
                 tails[i]);
        prints("squeue", 0, line);
        nodes_are(tails[i], UP LAST_UP);
    }
    prints("squeue", 0, "79|RUNNING|ada|n1|None|myriad:0000:1.1\n");
    nodes_are("of another cluster", UP LAST_UP);
    prints("squeue", 0, "");
    nodes_are("nobody is there", UP LAST_UP);
}

static void gangs(void)
{
    prints("sbatch", 0, "101\n");
    submitted(16);
    job_is("101", "PENDING", "Resources", 0);
    job_is("101", "CONFIGURING", "None", 0);
    job_is("101", "RUNNING", "None", 0);
    uint64_t events = server->events;
    job_is("101", "RUNNING", "None", 0);
    assert_int_equal(server->events, events);
    slurm->gangs.items[0].runs_ms = steady_ms() - DAY_MS; /* it has run for a day, and not longer */
    job_is("101", "RUNNING", "None", 0);
    assert_int_equal(server->events, events);
    slurm->gangs.items[0].runs_ms = steady_ms() - DAY_MS - 1;
    job_is("101", "RUNNING", "None", 0);
    assert_int_equal(server->events, events + 1); /* without a word for weeks it would be hung */
    job_is("102", "RUNNING", "None", 0); /* there twice; and the first is no more in the list */
    wrote_exit(0, 2, "3\n");
    job_is("101", "FAILED", "NonZeroExitCode", 0);
    job_is("101", "RUNNING", "None", 0);
    wrote_exit(0, 3, "0\n");
    job_is("101", "COMPLETED", "None", 0);
    job_is("101", "COMPLETED", "None", 0); /* an end is told once */
    prints("squeue", 0, "");
    prints("sbatch", 1, "sbatch: error: Unable to contact slurm controller (connect failure)\n");
    submitted(8);
    prints("sbatch", 0, "103\n");
    look("the list is newer than that: sbatch had not come through", true);
    job_is("103", "RUNNING", "None", 1);
    job_is("103", "CANCELLED", "None", 1); /* by a person, in Slurm */
    prints("squeue", 0, "");
    prints("sbatch", 1, "sbatch: error: Batch job submission failed: Invalid account\n");
    submitted(8);
    wait_for_start(2); /* again and again, until it is given up */
    assert_int_equal(myr_control_job(server->control, 2).state, MYR_CONTROL_FAILED);
}

static void ends(void)
{
    prints("squeue", 0, "");
    prints("sbatch", 0, "200\n");
    submitted(16);
    uint32_t id = myr_control_jobs(server->control) - 1;
    job_is("200", "RUNNING", "None", id);
    myr_buf_puts(&story, "it is to stop, with a grace\n");
    slurm_stop(server, id, 1, 30);
    settle();
    put_jobs();
    myr_buf_puts(&story, "the grace is over\n");
    slurm->gangs.items[0].kill_ms = 1;
    engine_second(server);
    engine_second(server);
    settle();
    job_is("200", "COMPLETING", "None", id);
    job_is("200", "CANCELLED", "None", id);
    job_is("200", "RUNNING", "None", id);
    prints("squeue", 0, "");
    look("it is not in the list any more", true);
    job_is("200", "RUNNING", "None", id);
    wrote_exit(id, 3, "5\n");
    prints("squeue", 0, "");
    look("nor is the next one, which has written how it ended", false);
    job_is("200", "RUNNING", "None", id);
    prints("squeue", 1, "squeue: error: Invalid user: x\n");
    look("squeue fails", true);
    prints("squeue", 0, "900|RUNNING|nobody|n0|None|myriad:other:7.1\nx\n");
    look("squeue prints what nobody understands", true);
    prints("squeue", 0, "");
    job_is("200", "RUNNING", "None", id);
    job_is("200", "TIMEOUT", "None", id);
    job_is("200", "RUNNING", "None", id);
    job_is("200", "PREEMPTED", "None", id);
    job_is("200", "RUNNING", "None", id);
    job_is("200", "NODE_FAIL", "None", id);
    job_is("200", "RUNNING", "None", id);
    wrote_exit(id, myr_control_job(server->control, id).epoch, "0\n");
    job_is("200", "NODE_FAIL", "None", id); /* its script has ended well all the same */
    myr_buf_puts(&story, "of one that nobody has\n");
    slurm_stop(server, id, 99, 0);
    settle();
    prints("squeue", 0, "");
}

static void accounts(void)
{
    struct myr_err err = {};
    struct job_row row = {.unix_user = "nobody"};
    prints("scontrol", 0, "x = 1\nAccountingStorageEnforce = associations,limits,qos\ny = 2\n");
    prints("sacctmgr", 0, "default||root|5|gres/gpu=24|||gres/gpu=16||\nroot|||1||||||\n");
    slurm->accounts_ms = 0;
    myr_buf_puts(&story, "accounts\n");
    engine_second(server);
    settle();
    myr_buf_printf(&story, "  weight %u, limits hold %d\n", server->rows.tenants.items[0].weight,
                   slurm->limits_hold);
    static const uint32_t sizes[] = {8, 16, 17, 32};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        err = (struct myr_err){};
        int rc = slurm_accounts_check(slurm, &row, sizes[i], &err);
        myr_buf_printf(&story, "  %u GPUs: %d %s\n", sizes[i], rc, err.message);
    }
    prints("sacctmgr", 1, "sacctmgr: error: Unable to contact slurmdbd\n");
    slurm->accounts_ms = 0;
    engine_second(server);
    settle();
}

static void submissions(void)
{
    struct myr_err err = {};
    struct job_row row = {.unix_user = "nobody"};
    struct myr_job_spec spec = {.gpus = 12};
    assert_int_equal(server->world.submit(server, &spec, &row, &err), MYR_ERANGE);
    assert_string_equal(err.message,
                        "12 GPUs: on Slurm a job has GPUs of one node or whole nodes of 8");
    snprintf(row.unix_user, sizeof(row.unix_user), "nobody-of-that-name");
    spec.gpus = 8;
    assert_int_equal(server->world.submit(server, &spec, &row, &err), MYR_EINVAL);
    assert_string_equal(err.message, "there is no Unix user 'nobody-of-that-name' here");
}

/* Output that is no plain file of the rank's is nobody's to read. */
static void outputs(void)
{
    static const char *const kinds[] = {"nothing", "a link", "a pipe", "a folder"};
    struct question question = {.job = 0, .epoch = 1, .rank = 5};
    char path[PATH_BYTES + 32];
    script_folder(slurm->spool, question.job, question.epoch, path, PATH_BYTES);
    snprintf(path + strlen(path), 32, "/rank-5.log");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        int made = i == 1   ? symlink("/etc/passwd", path)
                   : i == 2 ? mkfifo(path, 0600)
                   : i == 3 ? mkdir(path, 0700)
                            : 0;
        assert_int_equal(made, 0);
        if (server->world.fetch(server, &question, NULL)) {
            fail_msg("%s is read", kinds[i]);
        }
        assert_true(i == 0 || remove(path) == 0);
    }
}

static void a_life_with_slurm(void **state)
{
    (void)state;
    life_begin();
    nodes();
    nearly_ours();
    gangs();
    ends();
    accounts();
    submissions();
    outputs();
    closed();
    prints("squeue", 0, "");
    opened(); /* a server that comes later, and finds nothing of it any more */
    nodes_are("all are idle", UP LAST_UP);
    prints("sbatch", 0, "300\n");
    submitted(8);
    closed();
    opened(); /* and one that finds it running */
    char line[200];
    snprintf(line, sizeof(line), "300|RUNNING|nobody|n0|None|myriad:%s:4.1\n", slurm->tag);
    prints("squeue", 0, line);
    nodes_are("all are idle, and it runs", UP LAST_UP);
    wrote_exit(4, 1, "3\n");
    closed();
    prints("squeue", 0, "");
    opened(); /* and one that comes when Slurm has forgotten it */
    nodes_are("all are idle, and it is gone", UP LAST_UP);
    closed();
    assert_kept("server-slurm.txt", &story);
    life_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_with_slurm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
