/*
 * A server above a Slurm whose commands are a small script, from its first look to its end, as one
 * text (tests/kept/server-above.txt): what is submitted and how, what is told of accounts, output
 * from the spool. Time is the test's, and stands while a command runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "slurm/state.h"

#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "served_test.h"

#include <ftw.h>
#include <pwd.h>

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* Everybody but one is whoever runs the test. */
__attribute__((visibility("default"))) struct passwd *getpwnam(const char *name)
{
    static struct passwd user;
    user = (struct passwd){.pw_uid = geteuid(), .pw_gid = getegid()};
    return strcmp(name, "nobody-here") == 0 ? NULL : &user;
}

static void prints(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "../bin/%s.out", name);
    put_file(path, text);
}

/* Looks are not worth a line each; two kinds of lists have one command. */
static void make_commands(void)
{
    static const char *const commands[] = {"squeue",  "sinfo",    "sbatch",
                                           "scancel", "scontrol", "sacctmgr"};
    char path[200];
    snprintf(path, sizeof(path), "%s/bin", bench.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file("../bin/fake",
             "#!/bin/sh\nd=${0%/*} n=${0##*/}\n"
             "case $n in squeue|sinfo) ;; sacctmgr) n=$3 ;; *)\n"
             "  for w in \"$@\"; do\n"
             "    case $w in --uid=*) ;; *) a=\"$a $w\" ;; esac\n"
             "    case $w in --comment=*) c=${w#*=} ;; esac\n"
             "  done\n"
             "  [ $n != sbatch ] || { echo; cat; } >> $d/asked\n"
             "  [ $n != sbatch ] || echo \"55|PENDING|ada||None|$c\" >> $d/squeue.out\n"
             "  echo \"$n$a\" >> $d/asked ;;\n"
             "esac\nwhile read -r l; do printf '%s\\n' \"$l\"; done < $d/$n.out\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(commands); i++) {
        snprintf(path, sizeof(path), "%s/bin/%s", bench.folder, commands[i]);
        assert_int_equal(symlink("fake", path), 0);
        prints(commands[i], "");
    }
    snprintf(path, sizeof(path), "%s/bin/fake", bench.folder);
    assert_int_equal(chmod(path, 0755), 0);
    prints("assoc", "");
    prints("qos", "");
}

static void put_asked(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[200];
    snprintf(path, sizeof(path), "%s/bin/asked", bench.folder);
    if (myr_file_read(path, 1 << 20, &text, NULL) == MYR_OK) {
        for (char *rest = text.data, *line; (line = strsep(&rest, "\n"));) {
            myr_buf_printf(&story, "%s%s\n", line[0] ? "  | " : "", line);
        }
        assert_int_equal(unlink(path), 0);
    }
}

static void sees(const char *what)
{
    put_told();
    put_asked();
    myr_buf_printf(&story, "%s\n", what);
}

#define IDLE "n[0-2]|long|64|1000|gpu:h100:8|idle|none\nn[0-2]|other*|1|1|gpu:2|down|x\n"

/* --- what is done meanwhile */

static void before_the_first_look(void)
{
    sees("a job before anything is known of the nodes");
    give("a", "ada", "ada", ROLE_ADMIN);
    give("n", "nora", "nobody-here", ROLE_USER);
    ask("Bearer a", "POST", "/v1/jobs",
        "{\"name\":\"first\",\"gpus\":16,\"command\":[\"run\",\"a b\"],\"time_limit\":\"61s\","
        "\"env\":{\"A\":\"it's\",\"Zz_09\":\"\",\"_\":\"1\",\"PATH\":\"/opt/"
        "bin\"},\"tenant\":\"t1\",\"twin\":{\"hours\":1}}");
    ask("Bearer n", "POST", "/v1/jobs", "gpus: 8\ncommand: x\n");
    prints("sinfo", IDLE);
    prints("sbatch", "55\n");
    prints("scontrol", "AccountingStorageEnforce = associations,limits\n");
    prints("assoc", "t1||root|7|gres/gpu=24||2|||\nroot|||1|node=3||||4|low\n"
                    "t1|ada|||||||9|\n"
                    "a-name-that-is-longer-than-any-that-a-tenant-may-have-which-is-sixty-three|||"
                    "1||||||\n");
    prints("qos", "low|gres/gpu=20|5|gres/gpu=18|node=2|1\nnormal|||||\n");
}

static void is_placed(void)
{
    sees("the nodes are there, and it was submitted");
    ask("Bearer a", "GET", "/v1/usage", "");
    ask("Bearer a", "GET", "/v1/jobs/0/explain", "");
    const char *tag = slurm_of(server)->tag;
    char line[300];
    snprintf(line, sizeof(line), "55|PENDING|ada||QOSGrpGRES|myriad:%s:0.1\n", tag);
    prints("squeue", line);
}

static void is_held_back(void)
{
    sees("squeue: it waits for a limit of its QOS");
    ask("Bearer a", "GET", "/v1/jobs/0/explain", "");
    char line[300];
    snprintf(line, sizeof(line), "55|PENDING|ada||AssocMaxJobsLimit|myriad:%s:0.1\n",
             slurm_of(server)->tag);
    prints("squeue", line);
}

static void is_held_back_again(void)
{
    sees("squeue: and for one of its account");
    ask("Bearer a", "GET", "/v1/jobs/0/explain", "");
    char line[300];
    snprintf(line, sizeof(line), "55|RUNNING|ada|n[0-1]|None|myriad:%s:0.1\n",
             slurm_of(server)->tag);
    prints("squeue", line);
}

static void writes(void)
{
    char path[PATH_BYTES + 40];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    sees("squeue: it runs; its rank 3 writes");
    script_folder(slurm_of(server)->spool, 0, 1, path, PATH_BYTES);
    snprintf(path + strlen(path), 40, "/rank-3.log");
    myr_buf_puts(&text, "step 1\nstep 2\n");
    assert_int_equal(myr_file_write(path, &text, &err), MYR_OK);
    ask("Bearer a", "GET", "/v1/jobs/0/logs", "");
    static const char *const offsets[] = {"0", "7", "14", "99"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(offsets); i++) {
        struct MHD_Connection *connection = comes_from("10.0.0.9");
        with(connection, "hAuthorization", "Bearer a");
        with(connection, "arank", "3");
        with(connection, "aoffset", offsets[i]);
        with(connection, "aepoch", "1");
        myr_buf_printf(&story, "from %s on\n", offsets[i]);
        put(connection, "GET", "/v1/jobs/0/logs", MYR_STR(""));
        put_answer(connection);
        goes(connection);
    }
}

#define LONG_JOB                                                                   \
    "gpus: 8\ncommand: x\narray: 4\nprolog: date\nepilog: 'true'\nimage: /i.sif\n" \
    "checkpoint: /c\ndirectory: /d\n"

/* Each by the limit that is the smallest: of its QOS, of its account, of one above that. */
static void too_large(void)
{
    sees("jobs that no limit lets start");
    static const char *const jobs[] = {
        "gpus: 24\ncommand: x\ntenant: t1\n", "gpus: 12\ncommand: x\n",
        "gpus: 8\ncommand: x\nretries: 0\nenv: {1A: x}\n",
        "gpus: 8\ncommand: x\nretries: 0\nenv: {A-B: x}\n", (LONG_JOB)};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        ask("Bearer a", "POST", "/v1/jobs", jobs[i]);
    }
}

static void is_cancelled(void)
{
    sees("and one is cancelled before the list has it");
    ask("Bearer a", "POST", "/v1/jobs/1/cancel", "");
    prints("squeue", "");
}

static void is_away(void)
{
    sees("squeue: the first is gone");
    ask("Bearer a", "GET", "/v1/jobs/0/explain", "");
    prints("assoc", "t1|no such line\n");
    slurm_of(server)->accounts_ms = 0; /* a minute later */
}

static void accounts_are_away(void)
{
    sees("accounts cannot be read");
    prints("assoc", "t1||root|8||||||\n");
    slurm_of(server)->accounts_ms = 0;
}

static void ends(void)
{
    sees("and can again");
    ask("Bearer a", "GET", "/v1/usage", "");
    ask("Bearer a", "POST", "/v1/design",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\","
        "\"design_nodes\":\"4\"}");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

/* The tag is a digest of the authority, which is drawn. */
static void cover_tags(void)
{
    for (char *at = strstr(story.data, "myriad:"); at; at = strstr(at + 1, "myriad:")) {
        size_t len = strspn(at + 7, "0123456789abcdef");
        if (len == 16) {
            memcpy(at + 7, "TAG", 4);
            memmove(at + 10, at + 23, strlen(at + 23) + 1);
            story.len -= 13;
        }
    }
}

static void a_server_above_slurm(void **state)
{
    (void)state;
    static const struct step steps[] = {{500, before_the_first_look},
                                        {3000, is_placed},
                                        {5500, is_held_back},
                                        {8000, is_held_back_again},
                                        {10500, writes},
                                        {11000, too_large},
                                        {11700, is_cancelled},
                                        {15000, is_away},
                                        {17500, accounts_are_away},
                                        {19500, ends},
                                        {0, NULL}};
    struct myr_err err = {};
    char text[600];
    bench_begin(&bench);
    snprintf(folder, sizeof(folder), "%s/server", bench.folder);
    const struct myr_server_init init = {.folder = folder,
                                         .cluster = "trial",
                                         .nodes = "n[0-2]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:4680",
                                         .agents = "127.0.0.1:0"};
    assert_int_equal(myr_server_init(&init, &err), MYR_OK);
    make_commands();
    snprintf(text, sizeof(text),
             "cluster: trial\nworld: slurm\nnodes: \"n[0-2]\"\ngpus_per_node: 8\n"
             "nodes_per_leaf: 2\nhttp: \"127.0.0.1:4680\"\npolicy: fair\n"
             "slurm: {bin: \"%s/bin\", poll_s: 2, timeout_s: 600, accounts: true, "
             "partition: long}\n",
             bench.folder);
    put_file("myriad.yaml", text);
    lines_begin();
    lib.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    library_plays();
    unsetenv("NOTIFY_SOCKET"); /* there is no manager here */
    knows_children = true;
    assert_int_equal(serve("above Slurm", steps, 20, false), MYR_OK);
    put_asked();
    lines_end();
    close(lib.epoll_fd);
    myr_buf_done(&lib.headers);
    cover_folder();
    cover_tags();
    assert_kept("server-above.txt", &story);
    myr_buf_done(&story);
    assert_int_equal(nftw(bench.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_above_slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
