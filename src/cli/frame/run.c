/*
 * run: one verb, from the words behind its name to what is printed. Options and variables fill a
 * struct of the verb's, outputs are looked at before anything runs, the verb fills an answer, and
 * that is rendered and printed last: of a verb that fails no part of an answer is seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static const char *const colours[] = {"auto", "always", "never"};
enum { COLOUR_AUTO, COLOUR_ALWAYS };

static const struct cli_common common_defaults = {.format = MYR_FORMAT_TABLE};

/* What every verb has comes last: those that ask a server have all rows, the others the tail. */
static const struct myr_option common_rows[] = {
    CLI_TEXT("server", "URL", struct cli_common, server,
             "which server to ask; else http://127.0.0.1:4680"),
    CLI_PATH("token-file", "FILE", struct cli_common, token_file,
             "the file that holds your token, never the token itself"),
    CLI_PATH("ca", "FILE", struct cli_common, ca, "certificate of the server's authority"),
    CLI_PATH("dir", "DIR", struct cli_common, dir,
             "a server's folder on this machine: gives URL, authority and the first token"),
    {CLI_ROW("output", MYR_OPTION_CHOICE, "FORMAT", struct cli_common, format,
             "how to print the result"),
     .letter = 'o', .choices = myr_format_names, .choice_count = MYR_FORMAT_COUNT},
    CLI_CHOICE("color", "WHEN", struct cli_common, colour, colours,
               "headings in bold; auto: on a terminal, without NO_COLOR"),
    CLI_FLAG("timing", struct cli_common, timing, "add time and memory used to the result"),
    CLI_FLAG("excel", struct cli_common, excel, "CSV with the mark that spreadsheets want"),
};
enum { CLIENT_ROWS = 4 };

const struct myr_option_table cli_common_table = {
    common_rows + CLIENT_ROWS, MYR_ARRAY_COUNT(common_rows) - CLIENT_ROWS, &common_defaults};
const struct myr_option_table cli_client_table = {common_rows, MYR_ARRAY_COUNT(common_rows),
                                                  &common_defaults};

/* A variable that is there but empty counts as not set. */
static bool is_set(const char *value)
{
    return value && *value;
}

/*
 * COLUMNS, which is how scripts and tests ask for a width, else what the terminal says; 0: none, as
 * in a pipe, where nothing is wrapped. Below 20 a table is unreadable: such a value is a mistake.
 */
static uint32_t screen_width(const char *(*lookup_env)(const char *name))
{
    struct winsize size = {};
    uint64_t columns;
    const char *given = lookup_env("COLUMNS");
    if (is_set(given) && myr_str_to_u64(myr_str_from(given), &columns) && columns >= 20 &&
        columns <= 10000) {
        return (uint32_t)columns;
    }
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The option decides; "auto" needs a terminal that can, and nobody who has asked for none. */
static bool wants_colour(const struct cli_common *common,
                         const char *(*lookup_env)(const char *name))
{
    const char *terminal = lookup_env("TERM");
    if (common->colour != COLOUR_AUTO) {
        return common->colour == COLOUR_ALWAYS;
    }
    return isatty(STDOUT_FILENO) && !is_set(lookup_env("NO_COLOR")) && is_set(terminal) &&
           strcmp(terminal, "dumb") != 0;
}

/* The only clock of the command. Modules that decide get their time as an argument. */
static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Always taken, printed only with --timing: the same question gives the same bytes without it. */
static void add_timing(struct cli *cli, double start_s)
{
    struct rusage used = {};
    getrusage(RUSAGE_SELF, &used); /* ru_maxrss is in KiB on Linux */
    myr_answer_timing(&cli->answer, "wall_s", seconds(CLOCK_MONOTONIC) - start_s, 6);
    myr_answer_timing(&cli->answer, "cpu_s", seconds(CLOCK_PROCESS_CPUTIME_ID), 6);
    myr_answer_timing(&cli->answer, "memory_mib", (double)used.ru_maxrss / 1024, 1);
}

/* "myriad.fit.curve" */
static const char *schema_name(struct cli *cli)
{
    char *name = myr_arena_strndup(&cli->arena, cli->command->name, strlen(cli->command->name));
    for (char *c = name; *c; c++) {
        *c = *c == ' ' ? '.' : *c;
    }
    return myr_arena_printf(&cli->arena, "myriad.%s", name);
}

/*
 * Rendered whole before a byte goes out: what cannot be rendered prints an error and nothing else.
 */
static int print_answer(struct cli *cli, const char *(*lookup_env)(const char *name))
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_err err = {};
    struct myr_answer_form form = {
        .format = (enum myr_format)cli->common.format,
        .width = screen_width(lookup_env),
        .colour = wants_colour(&cli->common, lookup_env),
        .timing = cli->common.timing,
        .excel = cli->common.excel,
    };
    if (myr_answer_write(&cli->answer, &form, &buf, &err) < 0) {
        return cli_error(&err);
    }
    return cli_print(&buf);
}

static int help(const struct myr_command *command)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_option_help(command, &buf);
    return cli_print(&buf);
}

/*
 * The answer begins with schema, version and the question as it was understood; then the verb fills
 * it. "No" is an exit status of its own, but only where it could be printed.
 */
static int ask_and_print(struct cli *cli, const struct cli_verb *verb,
                         const char *(*lookup_env)(const char *name))
{
    struct myr_err err = {};
    double start_s = seconds(CLOCK_MONOTONIC);
    myr_answer_init(&cli->answer, &cli->arena, schema_name(cli), 1);
    myr_option_echo(cli->command, cli->options, &cli->operands, &cli->answer);
    MYR_ASSERT(verb->run && cli->document.len == 0 && !cli->no);
    if (verb->run(cli, &err) < 0) {
        MYR_ASSERT(err.code < 0 && err.message[0]); /* a failure without a word helps nobody */
        return cli_error(&err);
    }
    add_timing(cli, start_s);
    /* All of the answer is there before the first byte is printed: a failure prints none of it. */
    int code = cli->document.len > 0 ? cli_print(&cli->document) : print_answer(cli, lookup_env);
    return code == CLI_DONE && cli->no ? CLI_NO : code;
}

static void cli_done(struct cli *cli)
{
    myr_buf_done(&cli->document);
    myr_arena_done(&cli->arena);
}

/* The variable may stand for all calls; the option is typed for this one. */
static int check_excel(const struct cli *cli, int argc, const char *const *argv,
                       struct myr_err *err)
{
    for (int i = 0; i < argc && cli->common.format != MYR_FORMAT_CSV; i++) {
        if (strcmp(argv[i], "--excel") == 0 && cli->common.excel) {
            return myr_err_set(err, MYR_EINVAL, "--excel is for -o csv and changes nothing here");
        }
    }
    return MYR_OK;
}

/* The words go on as they are; the run returns only when it could not start the other program. */
static int pass_on(struct cli *cli, const struct cli_verb *verb, int argc, const char *const *argv)
{
    struct myr_err err = {};
    if (argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        return help(cli->command);
    }
    if (argc > MYR_OPERANDS_MAX) {
        (void)myr_err_set(&err, MYR_ERANGE, "%d words, at most %d are passed on", argc,
                          MYR_OPERANDS_MAX);
        return cli_error(&err);
    }
    for (int i = 0; i < argc; i++) {
        cli->operands.items[cli->operands.count++] = argv[i];
    }
    return verb->run(cli, &err) < 0 ? cli_error(&err) : CLI_DONE;
}

/* Help needs no outputs that can be written, nor operands that are there. */
int cli_run(const struct cli_verb *verb, int argc, const char *const *argv,
            const char *(*lookup_env)(const char *name))
{
    MYR_CLEANUP(cli_done) struct cli cli = {.command = verb->row, .common = common_defaults};
    struct myr_err err = {};
    myr_arena_init(&cli.arena);
    if (verb->passes_on) {
        return pass_on(&cli, verb, argc, argv);
    }
    /* One byte more: a command without options of its own still has a place. */
    void *values = myr_arena_alloc(&cli.arena, 1, verb->row->values_bytes + 1);
    struct myr_option_values places = {values, &cli.common};
    cli.options = values;
    if (myr_option_parse(cli.command, argc, argv, lookup_env, &places, &cli.operands, &err) < 0) {
        return cli_error(&err);
    }
    if (!cli.operands.help &&
        (check_excel(&cli, argc, argv, &err) < 0 || cli_check_outputs(&cli, &err) < 0)) {
        return cli_error(&err);
    }
    return cli.operands.help ? help(cli.command) : ask_and_print(&cli, verb, lookup_env);
}
