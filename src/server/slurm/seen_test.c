/*
 * What one look at Slurm's lists says: who has a node, how long texts may be, which numbers in a
 * comment are ours, and what becomes of accounts, shares and limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "leaks.h"
#include "slurm/played_slurm_test.h"

/* SQLite keeps its tables for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 64;

/*
 * The commands as one shell each, without helpers: what they print, on stderr where they fail, as
 * it stands in their files; the two lists of sacctmgr are two files.
 */
static void make_quick(void)
{
    char path[160];
    put_file("fake", "",
             "#!/bin/sh\nd=${0%/*} n=${0##*/}\n"
             "case $n in squeue|sinfo) ;; sacctmgr) n=$3 ;; *) echo \"$n $*\" >> $d/asked ;; esac\n"
             "[ $n != sbatch ] || while read -r l; do :; done\n"
             "c=0; [ ! -e $d/$n.code ] || read -r c < $d/$n.code\n"
             "f=$d/$n.out; [ $c = 0 ] || { f=$d/$n.err; exec >&2; }\n"
             "while read -r l; do printf '%s\\n' \"$l\"; done < $f; printf %s \"$l\"; exit $c\n");
    snprintf(path, sizeof(path), "%s/fake", bench.folder);
    assert_int_equal(chmod(path, 0755), 0);
    put_file("assoc", ".out", "");
    put_file("qos", ".out", "");
}

static void reason_is(uint32_t node, const char *expected)
{
    assert_string_equal(server->rows.nodes[node].reason, expected);
}

/* 'letter', so often. */
static const char *many(char letter, size_t count, char ret[200])
{
    memset(ret, letter, count);
    ret[count] = '\0';
    return ret;
}

/* From its start to its end; before and after it a list may still name the nodes. */
static void others_have_a_node_while_they_are_there(void **state)
{
    (void)state;
    char id[200], user[200], line[600];
    prints("squeue", 0,
           "1|PENDING|ada|n0|Priority|\n2|COMPLETED|ada|n0|None|\n3|FAILED|ada|n0|None|\n"
           "4|NODE_FAIL|ada|n0|None|\n5|PREEMPTED|ada|n0|None|\n6|CANCELLED|ada|n0|None|\n"
           "7|CONFIGURING|bob|n1|None|\n8|SUSPENDED|cyd|n2|None|\n9|COMPLETING|dan|n[3,7]|None|\n");
    nodes_are("each kind of job", UP LAST_UP);
    reason_is(0, "");
    reason_is(1, "Slurm: job 7 of bob runs there");
    reason_is(2, "Slurm: job 8 of cyd runs there");
    reason_is(3, "Slurm: job 9 of dan runs there");
    /* An array has a long number, a directory long names: the last one in the list is named. */
    snprintf(line, sizeof(line),
             "1|RUNNING|first|n[0-1]|None|\n%s|RUNNING|%s|n0|None|\n%.24s|RUNNING|%.32s|n1|None|\n",
             many('7', 30, id), many('u', 40, user), id, user);
    prints("squeue", 0, line);
    nodes_are("long names", UP LAST_UP);
    snprintf(line, sizeof(line), "Slurm: job %.24s of %.32s runs there", id, user);
    reason_is(0, line);
    reason_is(1, line);
    reason_is(2, "");
    prints("squeue", 0, "");
    nodes_are("nobody is there", UP LAST_UP);
    reason_is(0, "");
}

/* What a person wrote may be long: so much of it is shown. */
static void a_reason_is_cut(void **state)
{
    (void)state;
    char why[200], lines[600];
    snprintf(lines, sizeof(lines),
             "n0|all*|64|1000|gpu:8|drained$$$$$$$$$$$$$$$$$$$$$$|%s\n"
             "n1|all*|64|1000|gpu:8|drained$$$$$$$$$$$$$$$$$|%.100s\n"
             "n2|all*|64|1000|gpu:8|maint|none\nn3|all*|64|1000|gpu:7|idle|why\n",
             many('w', 130, why), why);
    nodes_are("reasons", lines);
    snprintf(lines, sizeof(lines), "Slurm: drained$$$$$$$$$$$$$$$$$: %.100s", why);
    reason_is(0, lines);
    reason_is(1, lines);
    reason_is(2, "Slurm: maint");
    reason_is(3, "Slurm: 7 GPUs, 8 are expected");
    nodes_are("all are idle", UP LAST_UP);
    reason_is(0, "");
    reason_is(3, "");
}

static bool was_asked(const char *words)
{
    return strstr(story.data, words) != NULL;
}

/* The largest number of a job and of its start that a comment can have. */
static void a_comment_of_ours_has_two_numbers(void **state)
{
    (void)state;
    char line[200];
    snprintf(line, sizeof(line), "77|RUNNING|ada|n1|None|myriad:%s:4294967294.4294967294\n",
             slurm->tag);
    prints("squeue", 0, line);
    nodes_are("one of ours that nobody wants", UP LAST_UP);
    reason_is(1, ""); /* it is none of somebody else */
    assert_true(was_asked("  asks scancel 77\n"));
    snprintf(line, sizeof(line), "78|RUNNING|ada|n1|None|myriad:%s:4294967295.1\n", slurm->tag);
    prints("squeue", 0, line);
    nodes_are("one that is not", UP LAST_UP);
    reason_is(1, "Slurm: job 78 of ada runs there");
    assert_false(was_asked("scancel 78"));
    prints("squeue", 0, "");
    nodes_are("nobody is there", UP LAST_UP);
}

static void a_wait_is_told_in_slurms_words(void **state)
{
    (void)state;
    char why[200], expected[200];
    prints("sbatch", 0, "300\n");
    submitted(8);
    uint32_t id = myr_control_jobs(server->control) - 1;
    for (size_t len = 79; len <= 81; len++) {
        job_is("300", "PENDING", many('r', len, why), id);
        snprintf(expected, sizeof(expected), "Slurm: job 300 waits: %.80s", why);
        assert_string_equal(rows_job(server, id)->reason, expected);
    }
    job_is("300", "RUNNING", "None", id);
    assert_string_equal(rows_job(server, id)->reason, "");
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    settle();
    job_is("300", "CANCELLED", "None", id);
    prints("squeue", 0, "");
    look("nothing is left", true);
    assert_int_equal(slurm->gangs.count, 0);
}

/* Users' ranks enter it, and see nothing of each other. */
static void the_spool_is_entered_and_not_listed(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat(slurm->spool, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0711);
    assert_int_equal(strlen(slurm->tag), 16);
    assert_int_equal(strspn(slurm->tag, "0123456789abcdef"), 16);
}

/* --- accounts */

/* The two lists of one command; each is asked for by its name. */
static void lists_are(const char *accounts, const char *qualities)
{
    put_file("assoc", ".out", accounts);
    put_file("qos", ".out", qualities);
    slurm->accounts_ms = 0;
    engine_second(server);
    settle();
}

static void accounts_are_looked_at_once_a_minute(void **state)
{
    (void)state;
    static const int64_t ages_ms[] = {59999, 60000};
    lists_are("a||root|1||||||\n", "normal|||||\n");
    assert_int_equal(slurm->accounts.count, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ages_ms); i++) {
        put_file("assoc", ".out", "a||root|1||||||\nb||root|1||||||\n");
        slurm->accounts_ms = steady_ms() - ages_ms[i];
        engine_second(server);
        settle();
        assert_int_equal(slurm->accounts.count, i == 0 ? 1 : 2);
        assert_int_equal(slurm->accounts_ms, steady_ms() - (i == 0 ? ages_ms[i] : 0));
    }
    server->config.slurm.accounts = false; /* tenants are no accounts here */
    lists_are("", "");
    assert_int_equal(slurm->accounts.count, 2);
    server->config.slurm.accounts = true;
}

/* All that is read of a line is kept; what has a longer name than a tenant is left out. */
static void accounts_are_kept_as_they_are(void **state)
{
    (void)state;
    char name[200], text[2000];
    many('n', 64, name);
    snprintf(text, sizeof(text),
             "a|u|p|7|gres/gpu=1,node=2|3|4|gres/gpu=5,node=6|8|q\nb||p|parent||||||\n"
             "%.63s|%.63s|%.63s|1||||||%.63s\n%s|||1||||||\nc|%s||1||||||\nc||%s|1||||||\n"
             "c|||1||||||%s\n",
             name, name, name, name, name, name, name, name);
    char qualities[400];
    snprintf(qualities, sizeof(qualities),
             "q|gres/gpu=1,node=2|3|gres/gpu=4,node=5|gres/gpu=6,node=7|8\n%.63s|||||\n%s|||||\n",
             name, name);
    lists_are(text, qualities);
    assert_int_equal(slurm->accounts.count, 3);
    const struct account *a = slurm->accounts.items;
    assert_string_equal(a[0].name, "a");
    assert_string_equal(a[0].user, "u");
    assert_string_equal(a[0].parent, "p");
    assert_string_equal(a[0].qos, "q");
    assert_true(a[0].share == 7 && a[0].group.gpus == 1 && a[0].group.nodes == 2);
    assert_true(a[0].group_jobs == 3 && a[0].most_jobs == 4);
    assert_true(a[0].each.gpus == 5 && a[0].each.nodes == 6);
    assert_true(a[1].share == 0 && a[1].group.gpus == UINT64_MAX && a[1].most_jobs == UINT64_MAX);
    assert_int_equal(strlen(a[2].name), 63);
    assert_int_equal(strlen(a[2].user), 63);
    assert_int_equal(strlen(a[2].parent), 63);
    assert_int_equal(strlen(a[2].qos), 63);
    assert_int_equal(slurm->qualities.count, 2);
    const struct qos *q = slurm->qualities.items;
    assert_string_equal(q[0].name, "q");
    assert_true(q[0].group.gpus == 1 && q[0].group.nodes == 2 && q[0].group_jobs == 3);
    assert_true(q[0].each.gpus == 4 && q[0].each.nodes == 5);
    assert_true(q[0].of_user.gpus == 6 && q[0].of_user.nodes == 7 && q[0].user_jobs == 8);
    assert_int_equal(strlen(q[1].name), 63);
    /* A list of qualities that cannot be read is none. */
    lists_are("a|||1||||||\n", "q|||||\nnonsense\n");
    assert_int_equal(slurm->qualities.count, 0);
}

/* A share becomes a weight where it is one; others keep the weight that they have. */
static void shares_are_weights(void **state)
{
    (void)state;
    static const char *const names[] = {"least", "most", "more", "none", "parent", "by-user"};
    static const uint32_t weights[] = {1, 1000000, 9, 9, 9, 9};
    uint32_t ids[MYR_ARRAY_COUNT(names)];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        ids[i] = rows_tenant(server, names[i]);
        server->rows.tenants.items[ids[i]].weight = 9;
    }
    uint64_t events = server->events;
    lists_are("least|||1||||||\nmost|||1000000||||||\nmore|||1000001||||||\nnone|||0||||||\n"
              "parent|||parent||||||\nby-user|u||5||||||\nlate|||4||||||\n",
              "");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(server->rows.tenants.items[ids[i]].weight, weights[i]);
    }
    assert_int_equal(server->events, events + 2); /* the core is told of the two that changed */
    assert_true(was_asked("  log info tenant least has weight 1, its fair share in Slurm\n"));
    assert_int_equal(slurm->tenants_seen, server->rows.tenants.count);
    lists_are("least|||1||||||\nlate|||4||||||\n", "");
    assert_int_equal(server->events, events + 2);
    /* Who comes later has it with the next second, without another look. */
    uint32_t late = rows_tenant(server, "late");
    int64_t asked_ms = slurm->accounts_ms;
    engine_second(server);
    settle();
    assert_int_equal(server->rows.tenants.items[late].weight, 4);
    assert_int_equal(slurm->accounts_ms, asked_ms);
}

/* By the line of the configuration alone; what cannot be asked leaves it as it was. */
static void limits_hold_where_slurm_enforces_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        bool before, after;
    } rows[] = {
        {"a = limits\nAccountingStorageEnforce = associations,limits\nb = 1\n", 0, false, true},
        {"AccountingStorageEnforce = limits", 0, false, true},
        {"AccountingStorageEnforce = associations\nb = limits\n", 0, true, false},
        {"AccountingStorageEnforce = none", 0, true, false},
        {"AccountingStorage = limits\n", 0, false, false},
        {"AccountingStorage = none\n", 0, true, true},
        {"AccountingStorageEnforce = none\n", 1, true, true},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        slurm->limits_hold = rows[i].before;
        prints("scontrol", rows[i].code, rows[i].text);
        lists_are("", "");
        assert_int_equal(slurm->limits_hold, rows[i].after);
    }
    assert_false(slurm->accounts_away);
}

static int begin(void **state)
{
    (void)state;
    life_begin();
    make_quick();
    nodes_are("all are idle", UP LAST_UP);
    return 0;
}

static int end(void **state)
{
    (void)state;
    closed();
    life_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_have_a_node_while_they_are_there),
        cmocka_unit_test(a_reason_is_cut),
        cmocka_unit_test(a_comment_of_ours_has_two_numbers),
        cmocka_unit_test(a_wait_is_told_in_slurms_words),
        cmocka_unit_test(the_spool_is_entered_and_not_listed),
        cmocka_unit_test(accounts_are_looked_at_once_a_minute),
        cmocka_unit_test(accounts_are_kept_as_they_are),
        cmocka_unit_test(shares_are_weights),
        cmocka_unit_test(limits_hold_where_slurm_enforces_them),
    };
    int failed = cmocka_run_group_tests(tests, begin, end);
    uv_library_shutdown();
    return failed;
}
