/*
 * The script of a gang, read and run: a shell runs it here with an srun that starts its ranks one
 * after the other, so that what a rank gets is seen and not guessed from the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/job.h"
#include "slurm/slurm.h"

enum { NODES = 8, GPUS = 2 };

static char lab[64], spool[96];
static struct node_row nodes[NODES];
static char names[NODES][16];
static struct server server;

static void put_file(const char *name, const char *text, unsigned mode)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", lab, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static char *get_file(const char *name)
{
    static char text[8192];
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", lab, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return NULL;
    }
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    fclose(file);
    return text;
}

static const char fake_srun[] =
    "#!/bin/sh\n"
    "echo \"$*\" >> \"$LAB/calls\"\n"
    "[ -e \"$LAB/away\" ] && { rm \"$LAB/away\"; exit 1; }\n" /* no controller */
    "[ -n \"$SLURM_HOSTFILE\" ] && cp \"$SLURM_HOSTFILE\" \"$LAB/hosts\" &&\n"
    "  : > \"${SLURM_HOSTFILE%/*}/rank-0.log\"\n"
    "for word in \"$@\"; do\n"
    "  case $word in --ntasks=*) tasks=${word#*=} ;; -c) words=1 ;; esac; last=$word; done\n"
    "i=0; while [ $i -lt $tasks ]; do\n"
    "  if [ \"$words\" ]; then SLURM_PROCID=$i /bin/sh -c \"$last\" >> \"$LAB/step\" || exit 1\n"
    "  else SLURM_PROCID=$i /bin/sh \"$last\" > \"$LAB/rank.$i\" || exit $?; fi\n"
    "  i=$((i + 1)); done\n";

static int begin(void **state)
{
    (void)state;
    snprintf(lab, sizeof(lab), "/tmp/myriad-script-XXXXXX");
    assert_non_null(mkdtemp(lab));
    snprintf(spool, sizeof(spool), "%s/spool", lab);
    assert_int_equal(mkdir(spool, 0700), 0);
    char path[128];
    snprintf(path, sizeof(path), "%s/bin", lab);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file("bin/srun", fake_srun, 0700);
    put_file("bin/scontrol",
             "#!/bin/sh\n"
             "echo \"NodeName=$4 Arch=x86_64 NodeAddr=10.1.2.3 NodeHostName=$4\"\n",
             0700);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "n%03u", i + 7);
        nodes[i].name = names[i];
    }
    server = (struct server){.rows = {.nodes = nodes, .node_count = NODES},
                             .config = {.gpus_per_node = GPUS}};
    return 0;
}

static void remove_folder(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/rm", "rm", "-r", path, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

static int end(void **state)
{
    (void)state;
    remove_folder(lab);
    return 0;
}

/* 'order' gives the nodes by number, in rank order; each gives 'mask'. */
struct asked {
    const char *file;
    const uint32_t *order;
    uint32_t count, epoch;
    uint64_t mask;
    bool as_root;
    const char *account;
    int64_t limit_s;
};

static int make(const struct asked *asked, struct script *ret, struct myr_err *err)
{
    struct myr_control_rank shares[NODES] = {};
    struct job_row row = {.name = "train",
                          .unix_user = "someone",
                          .file = (char *)asked->file,
                          .time_limit_s = asked->limit_s};
    uint32_t each = (uint32_t)__builtin_popcountll(asked->mask);
    for (uint32_t i = 0; i < asked->count; i++) {
        shares[i] = (struct myr_control_rank){
            .node = asked->order[i], .gpus = asked->mask, .first = i * each};
    }
    return script_make(&server,
                       &(struct engine_gang){.job = 5,
                                             .epoch = asked->epoch ? asked->epoch : 1,
                                             .world = asked->count * each,
                                             .row = &row,
                                             .shares = shares,
                                             .count = asked->count,
                                             .port = 29500},
                       &(struct script_place){.spool = spool,
                                              .comment = "myriad:x:5.1",
                                              .account = asked->account,
                                              .node_cpus = 96,
                                              .node_memory_mb = 2000000,
                                              .gpus_known = true,
                                              .as_root = asked->as_root},
                       ret, err);
}

static struct script made(const struct asked *asked)
{
    struct script script;
    struct myr_err err = {};
    if (make(asked, &script, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return script;
}

static bool has_word(const struct script *script, const char *word)
{
    for (uint32_t i = 0; script->argv[i]; i++) {
        if (strcmp(script->argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static void the_words_name_nodes_size_and_owner(void **state)
{
    (void)state;
    static const uint32_t order[] = {3, 4, 5, 1, 0};
    struct script script = made(&(struct asked){.file = "name: train\ncommand: 'true'\n",
                                                .order = order,
                                                .count = 5,
                                                .mask = 3,
                                                .as_root = true,
                                                .account = "research",
                                                .limit_s = 61});
    static const char *const wanted[] = {"--parsable",
                                         "--no-requeue",
                                         "--export=PATH",
                                         "--job-name=train",
                                         "--comment=myriad:x:5.1",
                                         "--nodelist=n[010-012],n008,n007",
                                         "--nodes=5",
                                         "--ntasks=10",
                                         "--exclusive",
                                         "--mem=0",
                                         "--gres=gpu:2",
                                         "--chdir=/",
                                         "--account=research",
                                         "--uid=someone",
                                         "--time=4"};
    assert_string_equal(script.argv[0], "sbatch");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wanted); i++) {
        if (!has_word(&script, wanted[i])) {
            fail_msg("'%s' is not among the words", wanted[i]);
        }
    }
    script_done(&script);
}

static void a_part_of_a_node_comes_with_its_share(void **state)
{
    (void)state;
    static const uint32_t order[] = {2};
    struct script script =
        made(&(struct asked){.file = "command: 'true'\n", .order = order, .count = 1, .mask = 2});
    assert_true(has_word(&script, "--gres=gpu:1") && has_word(&script, "--cpus-per-task=48"));
    assert_true(has_word(&script, "--mem-per-cpu=20833") && has_word(&script, "--nodes=1"));
    assert_false(has_word(&script, "--exclusive") || has_word(&script, "--uid=someone"));
    script_done(&script);
}

static void uneven_gangs_and_bad_names_are_told(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct script script;
    struct job_row row = {.name = "t", .file = (char *)"command: x\n"};
    for (uint32_t odd = 0; odd < 4; odd++) { /* whichever of them has fewer */
        struct myr_control_rank shares[4] = {
            {.node = 0, .gpus = 3}, {.node = 1, .gpus = 3}, {.node = 2, .gpus = 3}, {.gpus = 3}};
        shares[odd].gpus = 1;
        err = (struct myr_err){};
        const struct engine_gang gang = {.row = &row, .shares = shares, .count = 4};
        assert_int_equal(
            script_make(&server, &gang, &(struct script_place){.spool = spool}, &script, &err),
            MYR_ERANGE);
        assert_non_null(strstr(err.message, "as many GPUs"));
    }
    static const uint32_t order[] = {0};
    assert_true(make(&(struct asked){.file = "command: x\nenv:\n  A-B: 1\n",
                                     .order = order,
                                     .count = 1,
                                     .mask = 3},
                     &script, &err) < 0);
    assert_non_null(strstr(err.message, "job:3:8: 'A-B' is no name of a variable"));
}

/* Exit status of the script, run as Slurm's job 'id'. */
static int run(const struct script *script, const char *id)
{
    char folder[256], path[1200];
    put_file("script", script->text.data, 0700);
    script_folder(spool, 5, 1, folder, sizeof(folder));
    (void)mkdir(folder, 0700);
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", lab);
        setenv("PATH", path, 1);
        setenv("LAB", lab, 1);
        setenv("SLURM_JOB_ID", id, 1);
        snprintf(path, sizeof(path), "%s/script", lab);
        execl("/bin/sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ranks_get_their_place_and_exactly_their_words(void **state)
{
    (void)state;
    static const uint32_t order[] = {3, 0};
    struct script script = made(
        &(struct asked){.file = "env:\n"
                                "  ODD: \"it's $(touch $LAB/bad) `id` \\\\ \\\"q\\\" * ~\"\n"
                                "prolog: 'echo before'\n"
                                "command: [printf, '%s|', $RANK, \"a b\", \"it's\", '$(exit 1)']\n",
                        .order = order,
                        .count = 2,
                        .mask = 3});
    assert_int_equal(run(&script, "77"), 0);
    assert_string_equal(get_file("hosts"), "n010\nn010\nn007\nn007\n");
    /* A list is words, not text for a shell. */
    assert_string_equal(get_file("rank.3"), "$RANK|a b|it's|$(exit 1)|");
    assert_string_equal(get_file("step"), "before\nbefore\n");
    assert_string_equal(get_file("spool/5.1/exit"), "0\n");
    script_done(&script);
    remove_folder(spool);
    assert_int_equal(mkdir(spool, 0700), 0);
    script = made(&(struct asked){
        .file = "env:\n"
                "  ODD: \"it's $(touch $LAB/bad) `id` \\\\ \\\"q\\\" * ~\"\n"
                "command: 'echo $RANK $NODE_RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE "
                "$MASTER_ADDR:$MASTER_PORT $MYRIAD_JOB $MYRIAD_EPOCH \"$ODD\"; "
                "exit $((RANK / 3))'\n",
        .order = order,
        .count = 2,
        .mask = 3});
    assert_int_equal(run(&script, "78"), 1);
    assert_string_equal(get_file("rank.2"),
                        "2 1 0 2 4 10.1.2.3:29500 5 1 it's $(touch $LAB/bad) `id` \\ \"q\" * ~\n");
    assert_null(get_file("bad"));
    assert_string_equal(get_file("spool/5.1/exit"), "1\n");
    script_done(&script);
}

/* Empty words, lines, and even the script's own mark come through as they are. */
static void words_are_the_programs_own(void **state)
{
    (void)state;
    static const uint32_t order[] = {0};
    remove_folder(spool);
    assert_int_equal(mkdir(spool, 0700), 0);
    struct script script =
        made(&(struct asked){.file = "command: [printf, '%s|', '', \"a\\nb\", "
                                     "\"x\\nEND_OF_RANK_OF_MYRIAD\\ny\"]\n"
                                     "env: {LINES: \"1\\n2\"}\n"
                                     "prolog: |\n  echo one\n  echo \"$LINES\"\n",
                             .order = order,
                             .count = 1,
                             .mask = 1});
    assert_int_equal(run(&script, "79"), 0);
    assert_string_equal(get_file("rank.0"), "|a\nb|x\nEND_OF_RANK_OF_MYRIAD\ny|");
    assert_non_null(strstr(get_file("step"), "one\n1\n2\n"));
    script_done(&script);
}

static void a_start_is_single(void **state)
{
    (void)state;
    static const uint32_t order[] = {0};
    struct script script = made(
        &(struct asked){.file = "command: echo once\n", .order = order, .count = 1, .mask = 3});
    char path[256];
    snprintf(path, sizeof(path), "%s/calls", lab);
    remove_folder(spool);
    assert_int_equal(mkdir(spool, 0700), 0);
    (void)unlink(path);
    assert_int_equal(run(&script, "81"), 0);
    assert_non_null(get_file("calls"));
    (void)unlink(path);
    /* The same submission once more, by an answer that was lost: another job of Slurm's. */
    assert_int_equal(run(&script, "82"), 0);
    assert_null(get_file("calls"));
    /* The same job of Slurm's, started by it again after a crash of its own. */
    assert_int_equal(run(&script, "81"), 0);
    assert_non_null(get_file("calls"));
    (void)unlink(path);
    put_file("spool/5.1/stopped", "", 0600);
    assert_int_equal(run(&script, "81"), 0);
    assert_null(get_file("calls"));
    script_done(&script);
}

static void begin_anew(void)
{
    remove_folder(spool);
    assert_int_equal(mkdir(spool, 0700), 0);
}

/* The script's own names and its commands are not for a user's variables to change. */
static void variables_of_the_user_are_the_ranks(void **state)
{
    (void)state;
    static const uint32_t order[] = {0};
    struct script script =
        made(&(struct asked){.file = "env: {PATH: /nowhere, dir: /tmp, code: 9, told: 1}\n"
                                     "prolog: 'echo $PATH'\n"
                                     "command: 'echo $PATH $dir $code $told'\n",
                             .order = order,
                             .count = 1,
                             .mask = 3});
    char path[256];
    snprintf(path, sizeof(path), "%s/step", lab);
    (void)unlink(path);
    begin_anew();
    assert_int_equal(run(&script, "90"), 0);
    assert_string_equal(get_file("rank.1"), "/nowhere /tmp 9 1\n");
    assert_string_equal(get_file("step"), "/nowhere\n");
    assert_string_equal(get_file("spool/5.1/exit"), "0\n");
    script_done(&script);
}

/* Ranks that save and leave when a job is given up have not done their work. */
static void who_was_told_to_end_has_no_end_of_its_own(void **state)
{
    (void)state;
    static const uint32_t order[] = {0};
    struct script script =
        made(&(struct asked){.file = "command: 'kill -TERM $(cut -d\" \" -f4 /proc/$PPID/stat)'\n"
                                     "epilog: 'echo after'\n",
                             .order = order,
                             .count = 1,
                             .mask = 3});
    begin_anew();
    assert_int_equal(run(&script, "91"), 143);
    assert_null(get_file("spool/5.1/exit"));
    script_done(&script);
}

/* Nothing has begun: a step that a controller was not there to make is no failure of the job's. */
static void a_controller_that_is_away_is_waited_for(void **state)
{
    (void)state;
    static const uint32_t order[] = {0};
    struct script script = made(
        &(struct asked){.file = "command: echo once\n", .order = order, .count = 1, .mask = 3});
    begin_anew();
    put_file("away", "", 0600);
    assert_int_equal(run(&script, "92"), 0);
    assert_null(get_file("away"));
    assert_string_equal(get_file("rank.0"), "once\n");
    assert_string_equal(get_file("spool/5.1/exit"), "0\n");
    script_done(&script);
}

static struct myr_arena jobs; /* what was read of the files below */

static int read_text(const char *text, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_jobfile_how how = {.file = "job", .gpus_per_node = GPUS};
    return myr_jobfile_read(&jobs, &how, myr_str_from(text), ret, err);
}

static bool is_named(const struct myr_jobfile *job, const char *key)
{
    const char *keys[MYR_RECORD_ROWS_MAX];
    uint32_t count = myr_jobfile_unheeded(job, MYR_JOB_SLURM, keys);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t deaf_keys(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < myr_job_record.count; i++) {
        count += (myr_job_record.rows[i].facts & MYR_JOB_DEAF(SLURM)) != 0;
    }
    return count;
}

static bool same_jobs(const struct myr_jobfile *a, const struct myr_jobfile *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->tenant, b->tenant) == 0 &&
           a->gpus == b->gpus && a->priority == b->priority && a->restart == b->restart &&
           a->service == b->service && a->retries == b->retries && a->lease_s == b->lease_s &&
           a->time_limit == b->time_limit && a->array.first == b->array.first &&
           a->array.count == b->array.count && a->after.count == b->after.count &&
           a->twin.hours == b->twin.hours && a->twin.step_s == b->twin.step_s &&
           a->gpus_min == b->gpus_min && a->hold == b->hold && a->ordered == b->ordered &&
           a->within == b->within && a->leaf_max == b->leaf_max;
}

/* Each key of a job file changes what is queued or what is run, or it is named as not heeded. */
static void every_key_is_heeded_or_named(void **state)
{
    static const char *const values[][2] = {
        {"name", "other"},
        {"tenant", "research"},
        {"priority", "7"},
        {"gpus", "6"},
        {"nodes", "3"},
        {"gpus_per_node", "4"},
        {"layout", "tp=2"},
        {"command", "'false'"},
        {"image", "lab/x:1"},
        {"env", "{A: b}"},
        {"directory", "/data"},
        {"checkpoint", "/saved"},
        {"retries", "9"},
        {"time_limit", "2h"},
        {"restart", "epoch"},
        {"lease_s", "60"},
        {"prolog", "echo before"},
        {"epilog", "echo after"},
        {"after", "0"},
        {"array", "0-3"},
        {"progress", "{pattern: 'batch ([0-9]+)'}"},
        {"twin", "{hours: 2}"},
        {"service", "true"},
        {"gpus_min", "2"},
        {"within", "leaf"},
        {"leaf_max", "1"},
        {"hold", "true"},
    };
    static const uint32_t order[] = {0, 1};
    static const char plain[] = "gpus: 4\ncommand: 'true'\n";
    struct myr_jobfile base, job;
    struct myr_err err = {};
    (void)state;
    assert_int_equal(MYR_ARRAY_COUNT(values), myr_job_record.count);
    assert_int_equal(read_text(plain, &base, &err), MYR_OK);
    struct script first =
        made(&(struct asked){.file = plain, .order = order, .count = 2, .mask = 3});
    uint32_t named = 0;
    for (uint32_t i = 0; i < myr_job_record.count; i++) {
        const char *key = values[i][0];
        char text[200];
        assert_string_equal(key, myr_job_record.rows[i].key); /* none is left out here */
        snprintf(text, sizeof(text), "%s%s%s: %s\n",
                 strcmp(key, "gpus") == 0 || strcmp(key, "nodes") == 0 ? "" : "gpus: 4\n",
                 strcmp(key, "command") == 0 ? "" : "command: 'true'\n", key, values[i][1]);
        if (strcmp(key, "gpus_per_node") == 0) { /* it must be the cluster's */
            snprintf(text, sizeof(text), "nodes: 2\ncommand: 'true'\ngpus_per_node: 4\n");
            assert_int_equal(read_text(text, &job, &err), MYR_EINVAL);
            continue;
        }
        if (read_text(text, &job, &err) < 0) {
            fail_msg("%s", err.message);
        }
        struct script script =
            made(&(struct asked){.file = text, .order = order, .count = 2, .mask = 3});
        bool heeded = !same_jobs(&base, &job) || strcmp(first.text.data, script.text.data) != 0;
        bool told = is_named(&job, key);
        if (strcmp(key, "lease_s") != 0 && strcmp(key, "twin") != 0 && heeded == told) {
            fail_msg("%s is %s", key, told ? "heeded, and named as not" : "neither");
        }
        named += told;
        script_done(&script);
    }
    assert_int_equal(named, deaf_keys()); /* also those that are read and of no use to Slurm */
    script_done(&first);
    myr_arena_done(&jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_heeded_or_named),
        cmocka_unit_test(the_words_name_nodes_size_and_owner),
        cmocka_unit_test(a_part_of_a_node_comes_with_its_share),
        cmocka_unit_test(uneven_gangs_and_bad_names_are_told),
        cmocka_unit_test(ranks_get_their_place_and_exactly_their_words),
        cmocka_unit_test(words_are_the_programs_own),
        cmocka_unit_test(a_start_is_single),
        cmocka_unit_test(variables_of_the_user_are_the_ranks),
        cmocka_unit_test(a_controller_that_is_away_is_waited_for),
        cmocka_unit_test(who_was_told_to_end_has_no_end_of_its_own),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
