/* Commands of the test's own, run beside a loop: what they are given, and what is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/call.h"

static char folder[] = "/tmp/myriad-call-XXXXXX";
static struct server server;

/* What was told of one command. */
struct told {
    uint32_t times, at; /* how often, and as which of all */
    int code;
    bool late;
    struct myr_buf out, err;
};

static uint32_t told_count;

static void on_done(struct server *from, void *context, const struct call_result *result)
{
    struct told *told = context;
    assert_ptr_equal(from, &server);
    told->times++;
    told->at = told_count++;
    told->code = result->code;
    told->late = result->late;
    myr_buf_put(&told->out, result->out.data, result->out.len);
    myr_buf_put(&told->err, result->err.data, result->err.len);
}

static void told_done(struct told *told)
{
    myr_buf_done(&told->out);
    myr_buf_done(&told->err);
}

/* Runs a text of the shell. */
static void order(struct calls *calls, const char *text, const char *input, struct told *told)
{
    const char *const argv[] = {"sh", "-c", text, "sh", "two words", NULL};
    *told = (struct told){};
    call(calls, &(struct call_order){
                    .argv = argv, .input = myr_str_from(input), .done = on_done, .context = told});
}

static void run_all(void)
{
    uv_run(&server.loop, UV_RUN_DEFAULT);
}

static struct calls *calls_of(const char *bin, const char *conf, uint32_t timeout_s)
{
    told_count = 0;
    return calls_new(&server, &(struct call_how){bin, conf, timeout_s});
}

/* Open descriptors of this process; children that nobody waited for are none of them. */
static uint32_t open_files(void)
{
    uint32_t count = 0;
    DIR *list = opendir("/proc/self/fd");
    assert_non_null(list);
    while (readdir(list)) {
        count++;
    }
    closedir(list);
    return count;
}

static void expect_told(struct told *told, int code, bool late, const char *out, const char *err)
{
    assert_int_equal(told->times, 1);
    assert_int_equal(told->code, code);
    assert_int_equal(told->late, late);
    assert_string_equal(told->out.len ? told->out.data : "", out);
    assert_string_equal(told->err.len ? told->err.data : "", err);
    told_done(told);
}

static void what_a_command_says_is_told_once(void **state)
{
    (void)state;
    struct calls *calls = calls_of("", "", 60);
    struct told good, bad, killed, reads, words, closes, missing;
    uint32_t before = open_files();
    order(calls, "printf out; printf err >&2", "", &good);
    order(calls, "printf a; exit 7", "", &bad);
    order(calls, "printf b; kill -TERM $$", "", &killed);
    order(calls, "cat; cat", "what it reads\n", &reads);
    order(calls, "printf '%s,' \"$#\" \"$1\"", "", &words);
    order(calls, "exec >&- 2>&-; exec sleep 0.05", "", &closes); /* its pipes end before it does */
    const char *const nowhere[] = {"/nowhere/command", NULL};
    missing = (struct told){};
    call(calls, &(struct call_order){.argv = nowhere, .done = on_done, .context = &missing});
    run_all();
    assert_int_equal(calls_made(calls), 7);
    expect_told(&good, 0, false, "out", "err");
    expect_told(&bad, 7, false, "a", "");
    expect_told(&killed, -1, false, "b", "");
    expect_told(&reads, 0, false, "what it reads\n", "");
    expect_told(&words, 0, false, "1,two words,", "");
    expect_told(&closes, 0, false, "", "");
    expect_told(&missing, -1, false, "",
                "/nowhere/command cannot be run: No such file or directory");
    assert_int_equal(open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    calls_free(calls);
    run_all();
}

/* Megabytes come whole; what is more than anybody reads ends the reading, and the command. */
static void output_is_gathered_to_a_limit(void **state)
{
    (void)state;
    struct calls *calls = calls_of("", "", 60);
    struct told large, most;
    order(calls, "head -c 3000000 /dev/zero | tr '\\0' x; head -c 200000 /dev/zero >&2", "",
          &large);
    order(calls, "exec head -c 70000000 /dev/zero", "", &most);
    run_all();
    assert_int_equal(large.out.len, 3000000);
    assert_int_equal(strspn(large.out.data, "x"), 3000000);
    assert_int_equal(large.err.len, 200000);
    assert_true(most.times == 1 && most.code == -1 && !most.late);
    assert_true(most.out.len <= 64 << 20 && most.out.len > 63 << 20);
    told_done(&large);
    told_done(&most);
    calls_free(calls);
    run_all();
}

static void who_takes_too_long_is_ended(void **state)
{
    (void)state;
    struct calls *calls = calls_of("", "", 5);
    struct told sleeps, hands_on, quick;
    order(calls, "printf begun; trap '' TERM; exec sleep 600", "", &sleeps);
    order(calls, "sleep 600 & printf $!", "", &hands_on); /* over, but its pipe is held open */
    order(calls, "printf now", "", &quick);
    run_all();
    assert_true(sleeps.times == 1 && sleeps.code == -1 && sleeps.late);
    assert_string_equal(sleeps.out.data, "begun");
    assert_true(hands_on.times == 1 && hands_on.late && hands_on.code == -1);
    assert_int_equal(kill((pid_t)strtol(hands_on.out.data, NULL, 10), SIGKILL), 0);
    told_done(&sleeps);
    told_done(&hands_on);
    expect_told(&quick, 0, false, "now", "");
    calls_free(calls);
    run_all();
}

/* Eight at a time, in the order in which they were asked for. */
static void the_ninth_waits_for_its_turn(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    struct calls *calls = calls_of("", "", 60);
    struct told told[COUNT];
    char text[200];
    /* Each says how many are there when it begins, itself too, and stays for a moment. */
    snprintf(text, sizeof(text),
             "cd %s; mkdir here-$$; ls -d here-* | wc -l; sleep 0.05; rmdir here-$$", folder);
    for (uint32_t i = 0; i < COUNT; i++) {
        order(calls, text, "", &told[i]);
    }
    assert_int_equal(calls_made(calls), 8);
    run_all();
    assert_int_equal(calls_made(calls), COUNT);
    uint32_t most = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t there = (uint32_t)strtoul(told[i].out.data, NULL, 10);
        assert_true(told[i].times == 1 && told[i].code == 0);
        assert_in_range(there, 1, 8);
        most = there > most ? there : most;
        /* Those of the second turn are over only when one of the first is. */
        assert_true(i < 8 || told[i].at > 0);
        told_done(&told[i]);
    }
    assert_true(most > 1);
    calls_free(calls);
    run_all();
}

/* Settings of whoever started the server are not the commands'. */
static void the_environment_is_cleared_of_slurms_settings(void **state)
{
    (void)state;
    static char *set[] = {"SBATCH_ACCOUNT=x",
                          "SLURM_JOB_ID=x",
                          "SQUEUE_FORMAT=x",
                          "SINFO_FORMAT=x",
                          "SCANCEL_USER=x",
                          "SLURM_CONF=x",
                          "SLURM_JWT=x",
                          "LC_ALL=x",
                          "MYRIAD_TRIAL=x",
                          "PATH=/usr/bin:/bin",
                          NULL};
    static const char print[] =
        "env | grep -E '^(SBATCH|SLURM|SQUEUE|SINFO|SCANCEL|LC_ALL|MYRIAD_T)"
        "' | sort";
    struct told as_it_is, other;
    char **was = environ;
    environ = set;
    struct calls *calls = calls_of("", "", 60), *elsewhere = calls_of("", "/etc/other.conf", 60);
    environ = was;
    order(calls, print, "", &as_it_is);
    order(elsewhere, print, "", &other);
    run_all();
    expect_told(&as_it_is, 0, false, "LC_ALL=C\nMYRIAD_TRIAL=x\nSLURM_CONF=x\nSLURM_JWT=x\n", "");
    expect_told(&other, 0, false,
                "LC_ALL=C\nMYRIAD_TRIAL=x\nSLURM_CONF=/etc/other.conf\nSLURM_JWT=x\n", "");
    calls_free(calls);
    calls_free(elsewhere);
    run_all();
}

/* From the folder that is given, and no signal that the server has blocked or ignores. */
static void commands_are_those_of_a_folder(void **state)
{
    (void)state;
    char path[80];
    struct told told;
    sigset_t mask, was;
    snprintf(path, sizeof(path), "%s/squeue", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("#!/bin/sh\nprintf mine; kill -USR1 $$; printf alive\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, &was);
    (void)signal(SIGUSR1, SIG_IGN);
    struct calls *calls = calls_of(folder, "", 60);
    const char *const argv[] = {"squeue", NULL};
    told = (struct told){};
    call(calls, &(struct call_order){.argv = argv, .done = on_done, .context = &told});
    run_all();
    expect_told(&told, -1, false, "mine", ""); /* the signal has ended it */
    (void)signal(SIGUSR1, SIG_DFL);
    sigprocmask(SIG_SETMASK, &was, NULL);
    calls_free(calls);
    run_all();
    assert_int_equal(unlink(path), 0);
}

/* Whoever waits or works is ended, and nobody is told. */
static void nothing_is_left_when_they_are_given_up(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    uint32_t before = open_files();
    struct calls *calls = calls_of("", "", 60);
    struct told told[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        order(calls, "exec sleep 600", "", &told[i]);
    }
    calls_free(calls);
    run_all();
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(told[i].times, 0);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(open_files(), before);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || uv_loop_init(&server.loop) != 0) {
        return -1;
    }
    struct told first; /* the loop opens what it needs when it is run first */
    struct calls *calls = calls_of("", "", 60);
    order(calls, "true", "", &first);
    run_all();
    calls_free(calls);
    told_done(&first);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return uv_loop_close(&server.loop) == 0 ? rmdir(folder) : -1;
}

/* What the kernel refuses is told as the command's own failure, and nothing of it stays open. */
static enum { GRANTED, NO_PIPE, NO_SECOND_PIPE, NO_FILE } refusal;

__attribute__((visibility("default"))) int pipe2(int fds[2], int flags)
{
    bool refused = refusal == NO_PIPE;
    refusal = refusal == NO_SECOND_PIPE ? NO_PIPE : refusal == NO_PIPE ? GRANTED : refusal;
    if (refused) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_pipe2, fds, flags);
}

__attribute__((visibility("default"))) int memfd_create(const char *name, unsigned flags)
{
    if (refusal == NO_FILE) {
        refusal = GRANTED;
        errno = ENFILE;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, flags);
}

static uint32_t kills;

__attribute__((visibility("default"))) int kill(pid_t pid, int number)
{
    kills++;
    return (int)syscall(SYS_kill, pid, number);
}

/*
 * A child of it holds its output open beyond the limit. The command itself was waited for: its
 * number is another's by then, and nobody is to be hit by what was meant for it.
 */
static void who_was_waited_for_is_not_ended_again(void **state)
{
    (void)state;
    struct calls *calls = calls_of("", "", 5); /* a busy machine ends the shell before that */
    struct told told;
    kills = 0;
    order(calls, "sleep 7 & exit 0", "", &told);
    run_all();
    expect_told(&told, -1, true, "", "");
    assert_int_equal(kills, 0);
    order(calls, "sleep 4 & exit 0", "", &told);
    for (int i = 0; i < 1000; i++) { /* its end is seen, that of its output is not */
        uv_run(&server.loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    assert_int_equal(told.times, 0);
    calls_free(calls);
    run_all();
    assert_int_equal(told.times, 0);
    assert_int_equal(kills, 0);
}

static void what_the_kernel_refuses(void **state)
{
    (void)state;
    struct calls *calls = calls_of("", "", 60);
    uint32_t before = open_files();
    static const struct {
        int refusal;
        const char *words;
    } rows[] = {{NO_PIPE, "sh cannot be run: Too many open files"},
                {NO_SECOND_PIPE, "sh cannot be run: Too many open files"},
                {NO_FILE, "sh cannot be run: Too many open files in system"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct told told;
        refusal = (int)rows[i].refusal;
        order(calls, "exit 0", "", &told);
        assert_int_equal(refusal, GRANTED);
        expect_told(&told, -1, false, "", rows[i].words);
        assert_int_equal(open_files(), before);
    }
    struct told told;
    order(calls, "printf well", "", &told);
    run_all();
    expect_told(&told, 0, false, "well", "");
    assert_int_equal(calls_made(calls), 4);
    calls_free(calls);
    run_all();
    assert_int_equal(open_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_command_says_is_told_once),
        cmocka_unit_test(what_the_kernel_refuses),
        cmocka_unit_test(output_is_gathered_to_a_limit),
        cmocka_unit_test(who_takes_too_long_is_ended),
        cmocka_unit_test(who_was_waited_for_is_not_ended_again),
        cmocka_unit_test(the_ninth_waits_for_its_turn),
        cmocka_unit_test(the_environment_is_cleared_of_slurms_settings),
        cmocka_unit_test(commands_are_those_of_a_folder),
        cmocka_unit_test(nothing_is_left_when_they_are_given_up),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    uv_library_shutdown();
    return failed;
}
