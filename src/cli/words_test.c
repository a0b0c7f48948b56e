/*
 * From the words of a command line to what is said, for verbs, sub-verbs, mistakes and every row of
 * every verb, as one text (tests/kept/cli-words.txt).
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "kept.h"
#include "leaks.h"

enum { LINES = 6, WORDS = 70 };

#define TEN         " 1 2 3 4 5 6 7 8 9 0"
#define AGENT_WORDS "agent" TEN TEN TEN TEN TEN TEN " 1 2 3 4 5"

static struct myr_buf story;
static const char *columns, *no_color, *terminal;

static const char *lookup(const char *name)
{
    return strcmp(name, "COLUMNS") == 0    ? columns
           : strcmp(name, "NO_COLOR") == 0 ? no_color
           : strcmp(name, "TERM") == 0     ? terminal
                                           : NULL;
}

static int divert(int fd, int *ret_saved)
{
    char path[] = "/tmp/myriad-words-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    *ret_saved = dup(fd);
    assert_true(dup2(file, fd) >= 0);
    return file;
}

/* Its first lines, and how many there are. */
static void put_lines(int fd, const char *mark)
{
    static char text[1 << 20];
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    uint32_t lines = 0;
    assert_true(len >= 0);
    text[len] = '\0';
    for (char *at = text; *at; lines++) {
        size_t length = strcspn(at, "\n");
        if (lines < LINES) {
            myr_buf_printf(&story, "  %s%.*s\n", mark, (int)length, at);
        }
        at += length + (at[length] == '\n');
    }
    if (lines > LINES) {
        myr_buf_printf(&story, "  %s... %u lines\n", mark, lines);
    }
    close(fd);
}

static void say(const char *line)
{
    char words[2000];
    const char *argv[WORDS] = {"myriad"};
    int argc = 1, saved_out, saved_err;
    snprintf(words, sizeof(words), "%s", line);
    for (char *at = words; *at;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at) {
            *at++ = '\0';
        }
        assert_true(argc < WORDS);
    }
    fflush(stdout);
    fflush(stderr);
    int out = divert(STDOUT_FILENO, &saved_out), err = divert(STDERR_FILENO, &saved_err);
    int code = cli_main(argc, argv, lookup);
    fflush(stderr);
    dup2(saved_out, STDOUT_FILENO);
    dup2(saved_err, STDERR_FILENO);
    close(saved_out);
    close(saved_err);
    myr_buf_printf(&story, "$ %.120s: %d\n", line, code);
    put_lines(out, "");
    put_lines(err, "! ");
}

static void words_lead_to_verbs(void **state)
{
    static const char *const lines[] = {
        "",
        "-h",
        "--help",
        "help",
        "help fit",
        "help fit curve",
        "help sched",
        "help nothing",
        "help sched nothing",
        "fit --help",
        "fit -h",
        "fit curve --help",
        "fit curve -h --gpus x",
        "sched",
        "sched --help",
        "sched -h",
        "sched -x",
        "sched plaec",
        "sched zzzzzzzz",
        "token",
        "token mew",
        "job",
        "plan grow --help",
        "route aply",
        "catalog catalog catalog",
        "nothing",
        "paln",
        "plna examples",
        "fitt curve",
        "--versoin",
        "-o json",
        "completion",
        "completion bash",
        "completion zsh",
        "completion fish",
        "completion tcsh",
        "completion bash zsh",
        "man",
        "man --list",
        "man plan",
        "man sched",
        "man fit curve",
        "man nothing",
        "man --list nothing",
        "commands -o csv",
        "commands -o wide",
        "commands x",
        "commands --excel",
        "commands -o csv --excel",
        "agent --help",
        "agent -h",
        AGENT_WORDS,
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        say(lines[i]);
    }
}

/* Widths from 20 to 10,000 are heeded; colours where they are asked for. */
static void screens_are_as_wide_as_they_say(void **state)
{
    static const char *const widths[] = {"", "19", "20", "60", "10000", "10001", "x", "-1"};
    static const char *const colours[] = {"auto", "always", "never", "some"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(widths); i++) {
        columns = widths[i];
        myr_buf_printf(&story, "COLUMNS=%s\n", columns);
        say("goodput classes");
    }
    columns = NULL;
    terminal = "xterm";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(colours); i++) {
        char line[60];
        snprintf(line, sizeof(line), "goodput classes --color %s", colours[i]);
        say(line);
    }
}

/* --- rows */

static void put_default(const struct myr_command *row, const struct myr_option *option)
{
    const char *at = (const char *)row->defaults + option->at;
    switch (option->type) {
    case MYR_OPTION_U64:
        myr_buf_printf(&story, " %llu of %llu to %llu", (unsigned long long)*(const uint64_t *)at,
                       (unsigned long long)option->min, (unsigned long long)option->max);
        break;
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH:
        myr_buf_printf(&story, " %s", *(const char *const *)at ? *(const char *const *)at : "-");
        break;
    case MYR_OPTION_FLAG:
        myr_buf_printf(&story, " %s", *(const bool *)at ? "on" : "off");
        break;
    case MYR_OPTION_CHOICE:
        myr_buf_printf(&story, " %s of", option->choices[*(const uint32_t *)at]);
        for (uint32_t i = 0; i < option->choice_count; i++) {
            myr_buf_printf(&story, " %s", option->choices[i]);
        }
        break;
    case MYR_OPTION_LIST:
        myr_buf_printf(&story, " list of %u", ((const struct myr_option_list *)at)->count);
        break;
    }
}

static void every_row_is_as_it_was(void **state)
{
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *row = verbs[i]->row;
        myr_buf_printf(&story, "%s %s: %u to %u operands, %u sub-verbs%s%s%s%s\n", row->name,
                       row->operands ? row->operands : "-", row->operand_min, row->operand_max,
                       row->subcommand_count, verbs[i]->run ? "" : ", does nothing",
                       verbs[i]->group ? ", " : "", verbs[i]->group ? verbs[i]->group : "",
                       row->young ? ", young" : "");
        for (uint32_t k = 0; k < row->option_count; k++) {
            const struct myr_option *option = &row->options[k];
            myr_buf_printf(&story, "  --%s %s%s%s%s%s:", option->name,
                           option->value ? option->value : "", option->letter ? " -" : "",
                           option->letter ? (const char[]){option->letter, '\0'} : "",
                           option->writes ? " writes" : "", option->words ? " named" : "");
            put_default(row, option);
            myr_buf_puts(&story, "\n");
        }
    }
}

/* What cannot be printed is told; that nobody reads on is not. */
static void a_closed_output_is_a_failure(void **state)
{
    int pipes[2], saved = dup(STDOUT_FILENO);
    struct myr_buf text = {};
    (void)state;
    myr_buf_puts(&text, "words\n");
    assert_int_equal(pipe(pipes), 0);
    close(pipes[0]);
    fflush(stdout);
    dup2(pipes[1], STDOUT_FILENO);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int code = cli_print(&text);
    signal(SIGPIPE, before);
    dup2(saved, STDOUT_FILENO);
    assert_int_equal(code, CLI_FAILED);
    int full = open("/dev/full", O_WRONLY), saved_err;
    dup2(full, STDOUT_FILENO);
    int err = divert(STDERR_FILENO, &saved_err);
    code = cli_print(&text);
    fflush(stderr);
    dup2(saved, STDOUT_FILENO);
    dup2(saved_err, STDERR_FILENO);
    assert_int_equal(code, CLI_FAILED);
    put_lines(err, "full: ");
    myr_buf_clear(&text);
    assert_int_equal(cli_print(&text), CLI_DONE);
    close(full);
    close(saved);
    close(saved_err);
    close(pipes[1]);
    myr_buf_done(&text);
}

static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("cli-words.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_lead_to_verbs),    cmocka_unit_test(screens_are_as_wide_as_they_say),
        cmocka_unit_test(every_row_is_as_it_was), cmocka_unit_test(a_closed_output_is_a_failure),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
