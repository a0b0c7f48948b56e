/*
 * Slurm as the test plays it: its commands are one small script that prints what the test has put
 * down, and keeps what it was asked. A life of gangs and nodes, and what the core and people are
 * told of them, as one text (tests/kept/server-slurm.txt). Lines at the margin are what the test
 * does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>

#include "engine/fence.h"
#include "kept.h"
#include "leaks.h"
#include "server_test.h"
#include "slurm/state.h"

/* SQLite keeps its tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 64;

static struct bench bench;
static struct server *server;
static struct slurm *slurm;
static struct myr_buf story;
static uint64_t told;
static const char *const commands[] = {"squeue",  "sinfo",    "sbatch",
                                       "scancel", "scontrol", "sacctmgr"};

static void put_file(const char *name, const char *tail, const char *text)
{
    char path[160];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    snprintf(path, sizeof(path), "%s/%s%s", bench.folder, name, tail);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
}

/* What a command prints from now on; a code other than 0 puts it on stderr. */
static void prints(const char *command, int code, const char *text)
{
    char number[12];
    snprintf(number, sizeof(number), "%d", code);
    put_file(command, ".code", number);
    put_file(command, ".out", code ? "" : text);
    put_file(command, ".err", code ? text : "");
}

static void make_commands(void)
{
    char path[160];
    /* Looks are asked side by side, and are not worth a line each. */
    put_file("fake", "",
             "#!/bin/sh\nd=$(dirname \"$0\"); n=$(basename \"$0\")\n"
             "case $n in squeue|sinfo) ;; *)\n"
             "  for w in \"$@\"; do case $w in --uid=*|--gid=*) ;; *) a=\"$a $w\" ;; esac; done\n"
             "  [ $n != sbatch ] || cat > $d/script\n"
             "  echo \"$n$a\" >> $d/asked ;;\n"
             "esac\ncat $d/$n.err >&2; cat $d/$n.out; exit $(cat $d/$n.code)\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(commands); i++) {
        snprintf(path, sizeof(path), "%s/%s", bench.folder, commands[i]);
        assert_int_equal(symlink("fake", path), 0);
        prints(commands[i], 0, "");
    }
    snprintf(path, sizeof(path), "%s/fake", bench.folder);
    assert_int_equal(chmod(path, 0755), 0);
}

/* --- what is looked at */

/* The folder has another name each time, and the tag another digest. */
static void put_covered(const char *line)
{
    for (const char *at = line; *at;) {
        if (strncmp(at, bench.folder, strlen(bench.folder)) == 0) {
            myr_buf_puts(&story, "FOLDER");
            at += strlen(bench.folder);
        } else if (slurm->tag[0] && strncmp(at, slurm->tag, strlen(slurm->tag)) == 0) {
            myr_buf_puts(&story, "TAG");
            at += strlen(slurm->tag);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted: several run at a time. */
static void put_asked(void)
{
    char path[160], *lines[64];
    size_t count = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(path, sizeof(path), "%s/asked", bench.folder);
    if (myr_file_read(path, 1 << 20, &text, NULL) < 0) {
        return;
    }
    for (char *rest = text.data, *line; (line = strsep(&rest, "\n")) && *line;) {
        assert_true(count < MYR_ARRAY_COUNT(lines));
        lines[count++] = line;
    }
    qsort(lines, count, sizeof(*lines), compare);
    for (size_t i = 0; i < count; i++) {
        myr_buf_puts(&story, "  asks ");
        put_covered(lines[i]);
        myr_buf_puts(&story, "\n");
    }
    assert_int_equal(unlink(path), 0);
}

/* Until nothing is under way: no command, no event, no order of this moment. */
static void settle(void)
{
    do {
        uv_run(&server->loop, UV_RUN_DEFAULT);
    } while (server->inbox.count > 0 || slurm->under_way);
    for (; told < server->feed.next; told++) {
        myr_buf_printf(&story, "  told %s\n",
                       strstr(feed_get(&server->feed, told)->data, "\"kind\""));
    }
    put_asked();
    assert_int_equal(server->refused_events, 0);
}

static void put_jobs(void)
{
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        struct myr_control_job job = myr_control_job(server->control, id);
        if (job.state < MYR_CONTROL_DONE || rows_job(server, id)->reason[0]) {
            myr_buf_printf(&story, "  job %u.%u %s '%s'\n", id, job.epoch,
                           myr_control_job_state_name(job.state), rows_job(server, id)->reason);
        }
    }
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        const struct gang *gang = &slurm->gangs.items[i];
        myr_buf_printf(&story, "  gang %u.%u as %llu, stage %d%s%s%s\n", gang->job, gang->epoch,
                       (unsigned long long)gang->id, (int)gang->stage, gang->up_told ? " up" : "",
                       gang->stopping ? " stopping" : "", gang->killed ? " killed" : "");
    }
}

static void no_timer(uv_timer_t *timer)
{
    (void)timer; /* looks are the test's */
}

static void look(const char *what, bool whole)
{
    myr_buf_printf(&story, "%s\n", what);
    uv_timer_stop(&slurm->timer);
    slurm->whole_ms = steady_ms() - (whole ? 1000000 : -1000000);
    slurm_look(slurm);
    settle();
    put_jobs();
}

static void nodes_are(const char *what, const char *lines)
{
    prints("sinfo", 0, lines);
    look(what, true);
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        if (server->rows.nodes[id].reason[0]) {
            myr_buf_printf(&story, "  %s: %s\n", server->rows.nodes[id].name,
                           server->rows.nodes[id].reason);
        }
    }
}

/* One line of squeue for the present incarnation of a job of ours. */
static void job_is(const char *id, const char *state, const char *reason, uint32_t job)
{
    char line[300], what[100];
    uint32_t epoch = myr_control_job(server->control, job).epoch;
    snprintf(line, sizeof(line), "%s|%s|nobody|n[0-1]|%s|myriad:%s:%u.%u\n", id, state, reason,
             slurm->tag, job, epoch);
    prints("squeue", 0, line);
    snprintf(what, sizeof(what), "squeue: %s %s %s of %u.%u", id, state, reason, job, epoch);
    look(what, true);
}

static void submitted(uint32_t gpus)
{
    uint32_t id = bench_submit(server, gpus, MYR_RESTART_STRICT);
    snprintf(server->rows.jobs.items[id]->unix_user, SERVER_NAME, "nobody");
    free(server->rows.jobs.items[id]->file);
    server->rows.jobs.items[id]->file = strdup("gpus: 1\ncommand: run\n");
    server->rows.jobs.items[id]->tenant = rows_tenant(server, gpus > 8 ? "research" : "default");
    myr_buf_printf(&story, "submit job %u of %u GPUs\n", id, gpus);
    settle();
    put_jobs();
}

static void wrote_exit(uint32_t job, uint32_t epoch, const char *text)
{
    char path[PATH_BYTES + 16];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    script_folder(slurm->spool, job, epoch, path, PATH_BYTES);
    snprintf(path + strlen(path), 16, "/exit");
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_printf(&story, "the script of %u.%u writes %s", job, epoch, text);
}

#define UP      "n[0-2]|all*|64|1000|gpu:h100:8|idle|none\n"
#define LAST_UP "n3|all*|64|1000|gpu:h100:8|idle|none\n"

static void opened(void)
{
    struct myr_err err = {};
    bench_open(&bench, 4);
    server = bench.server;
    told = server->feed.next;
    server->config.world = WORLD_SLURM;
    server->config.slurm = (struct slurm_config){.poll_s = 5, .timeout_s = 60, .accounts = true};
    snprintf(server->config.slurm.bin, sizeof(server->config.slurm.bin), "%s", bench.folder);
    snprintf(server->config.slurm.spool, sizeof(server->config.slurm.spool), "%s/spool",
             bench.folder);
    assert_int_equal(desk_begin(server, &err), MYR_OK);
    fence_begin(server);
    assert_int_equal(engine_begin(server, &slurm_ops, &err), MYR_OK);
    slurm = slurm_of(server);
    slurm->on_timer = no_timer;
    uv_timer_stop(&slurm->timer);
    uv_unref((uv_handle_t *)&slurm->timer);
    uv_unref((uv_handle_t *)&server->wake);
    uv_unref((uv_handle_t *)&server->check);
    myr_buf_puts(&story, "begin\n");
    settle();
}

static void closed(void)
{
    struct engine *engine = server->engine;
    engine_end(server);
    fence_end(server);
    bench_close(&bench);
    engine_free(engine);
}

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
    slurm->gangs.items[0].runs_ms -= DAY_MS + 60000; /* it has run for a day since it was told */
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

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void a_life_with_slurm(void **state)
{
    (void)state;
    bench_begin(&bench);
    make_commands();
    put_file("ca", ".pem", "an authority\n");
    opened();
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
    assert_int_equal(nftw(bench.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    myr_buf_done(&story);
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
