#include "myriad/text/option_echo.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/text/answer.h"
#include "myriad/text/table.h"

/* One command with an option of every type, and the values behind it. */
struct values {
    uint32_t output;
    const char *out;
    const char *name;
    bool explain;
    bool color;
    uint64_t seed;
    struct myr_option_list set;
};

static struct values values;
static const struct values defaults = {.color = true, .seed = 42};

static const struct myr_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = MYR_OPTION_CHOICE,
     .value = "FORMAT",
     .help = "How to print the result",
     .at = offsetof(struct values, output),
     .choices = myr_format_names,
     .choice_count = MYR_FORMAT_COUNT},
    {.name = "out",
     .type = MYR_OPTION_PATH,
     .value = "DIR",
     .help = "Write all files of the design into this directory, which is made if it is not there",
     .at = offsetof(struct values, out)},
    {.name = "name",
     .type = MYR_OPTION_TEXT,
     .help = "Call it so",
     .at = offsetof(struct values, name)},
    {.name = "explain",
     .letter = 'e',
     .type = MYR_OPTION_FLAG,
     .help = "Say which rule gave each line: it's [long]",
     .at = offsetof(struct values, explain)},
    {.name = "color",
     .type = MYR_OPTION_FLAG,
     .help = "Use colour",
     .at = offsetof(struct values, color)},
    {.name = "random-seed",
     .letter = 's',
     .type = MYR_OPTION_U64,
     .help = "Where chance begins",
     .at = offsetof(struct values, seed),
     .min = 1,
     .max = 1000000},
    {.name = "set",
     .type = MYR_OPTION_LIST,
     .value = "KEY=VALUE",
     .help = "Change a key of the spec",
     .at = offsetof(struct values, set)},
};

static const struct myr_command plan = {
    .name = "plan",
    .operands = "SPEC",
    .summary = "Design a cluster from a one-page spec",
    .details = "Reads SPEC and writes a design.\n\n*Stars* and _lines_ are plain text here.",
    .example = "myriad plan spec.yaml --out out   # all files into out/",
    .options = options,
    .option_count = MYR_ARRAY_COUNT(options),
    .operand_min = 1,
    .operand_max = 1,
    .defaults = &defaults,
    .values_bytes = sizeof(defaults),
};

static const char *no_env(const char *name)
{
    (void)name;
    return NULL;
}

static const char *some_env(const char *name)
{
    static const char *const pairs[][2] = {
        {"MYRIAD_PLAN_OUTPUT", "yaml"}, {"MYRIAD_PLAN_EXPLAIN", "Yes"},
        {"MYRIAD_PLAN_COLOR", "0"},     {"MYRIAD_PLAN_RANDOM_SEED", "7"},
        {"MYRIAD_PLAN_SET", "a=1,b=2"}, {"MYRIAD_PLAN_NAME", ""},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        if (strcmp(pairs[i][0], name) == 0) {
            return pairs[i][1];
        }
    }
    return NULL;
}

static const char *bad_env(const char *name)
{
    return strcmp(name, "MYRIAD_PLAN_RANDOM_SEED") == 0 ? "many" : NULL;
}

static const char *bad_flag_env(const char *name)
{
    return strcmp(name, "MYRIAD_PLAN_EXPLAIN") == 0 ? "perhaps" : NULL;
}

enum { WORDS_MAX = 200 };

/* Splits at blanks; a lone "''" is an empty word. */
static int parse(const char *line, const char *(*env)(const char *), struct myr_operands *ret,
                 struct myr_err *err)
{
    static char copy[4096];
    const char *words[WORDS_MAX];
    int count = 0;
    size_t put = 0;
    while (*line) {
        size_t len = strcspn(line, " ");
        assert_true(count < WORDS_MAX && put + len + 1 < sizeof(copy));
        memcpy(copy + put, line, len);
        copy[put + len] = '\0';
        words[count++] = strcmp(copy + put, "''") == 0 ? "" : copy + put;
        put += len + 1;
        line += len + strspn(line + len, " ");
    }
    struct myr_option_values places = {&values, NULL};
    return myr_option_parse(&plan, count, words, env, &places, ret, err);
}

static void accept_line(const char *line, const char *(*env)(const char *))
{
    struct myr_operands operands;
    struct myr_err err = {};
    if (parse(line, env, &operands, &err) < 0) {
        fail_msg("'%s': %s", line, err.message);
    }
    assert_int_equal(operands.count, 1);
    assert_string_equal(operands.items[0], "spec.yaml");
}

static void values_come_in_every_spelling(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "-o json spec.yaml",
        "spec.yaml -ojson",
        "--output json spec.yaml",
        "spec.yaml --output=json",
        "-o yaml -o json -- spec.yaml",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(spellings); i++) {
        accept_line(spellings[i], no_env);
        assert_int_equal(values.output, MYR_FORMAT_JSON);
    }
    accept_line("spec.yaml --out a=b --name=c=d -e --no-color -s 1000000", no_env);
    assert_string_equal(values.out, "a=b");
    assert_string_equal(values.name, "c=d");
    assert_true(values.explain);
    assert_false(values.color);
    assert_int_equal(values.seed, 1000000);
    accept_line("spec.yaml --explain --no-explain --color --out -", no_env);
    assert_false(values.explain);
    assert_true(values.color);
    assert_string_equal(values.out, "-");
    accept_line("spec.yaml --set a=1 --set=b=2", no_env);
    assert_int_equal(values.set.count, 2);
    assert_string_equal(values.set.items[1], "b=2");
}

static void the_environment_stands_between_flag_and_default(void **state)
{
    (void)state;
    accept_line("spec.yaml", some_env);
    assert_int_equal(values.output, MYR_FORMAT_YAML);
    assert_true(values.explain);
    assert_false(values.color);
    assert_int_equal(values.seed, 7);
    assert_int_equal(values.set.count, 1);
    assert_string_equal(values.set.items[0], "a=1,b=2");
    assert_null(values.name); /* empty counts as absent */
    assert_null(values.out);
    accept_line("spec.yaml -o csv --no-explain -s 9 --set c=3", some_env);
    assert_int_equal(values.output, MYR_FORMAT_CSV);
    assert_false(values.explain);
    assert_int_equal(values.seed, 9);
    assert_int_equal(values.set.count, 1);
    assert_string_equal(values.set.items[0], "c=3");
    accept_line("spec.yaml", no_env);
    assert_int_equal(values.seed, 42);
}

static void mistakes_get_one_clear_line(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *message;
        const char *(*env)(const char *);
    } cases[] = {
        {"s --exlain", "unknown option '--exlain' for 'myriad plan'; did you mean '--explain'?",
         no_env},
        {"s --no-exlain",
         "unknown option '--no-exlain' for 'myriad plan'; did you mean '--no-explain'?", no_env},
        {"s --hepl", "unknown option '--hepl' for 'myriad plan'; did you mean '--help'?", no_env},
        {"s --no-out", "unknown option '--no-out' for 'myriad plan'; did you mean '--out'?",
         no_env},
        {"s --zzzzzz=3", "unknown option '--zzzzzz' for 'myriad plan'", no_env},
        {"s -x", "unknown option '-x' for 'myriad plan'", no_env},
        {"s -out", "'-o' is 'ut', one of table, wide, json, yaml, csv is expected", no_env},
        {"s --output", "'--output' needs a value: FORMAT", no_env},
        {"s --out --explain", "'--out' needs a value: DIR", no_env},
        {"s --out=", "'--out' needs a value: DIR", no_env},
        {"s --out ''", "'--out' needs a value: DIR", no_env},
        {"s -s", "'-s' needs a value: NUMBER", no_env},
        {"s -o jsn", "'-o' is 'jsn', which is no known choice; did you mean 'json'?", no_env},
        {"s --output=xml", "'--output' is 'xml', one of table, wide, json, yaml, csv is expected",
         no_env},
        {"s -s 0", "'-s' is '0', a whole number from 1 to 1,000,000 is expected", no_env},
        {"s --random-seed=-1",
         "'--random-seed' is '-1', a whole number from 1 to 1,000,000 is expected", no_env},
        {"s --explain=yes", "'--explain' takes no value; leave out '=yes'", no_env},
        {"", "'myriad plan' needs SPEC", no_env},
        {"s t", "'myriad plan' takes SPEC, 't' is one too many", no_env},
        {"s", "'MYRIAD_PLAN_RANDOM_SEED' is 'many', a whole number from 1 to 1,000,000 is expected",
         bad_env},
        {"s", "'MYRIAD_PLAN_EXPLAIN' is 'perhaps', true or false is expected", bad_flag_env},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_operands operands;
        struct myr_err err = {};
        int rc = parse(cases[i].line, cases[i].env, &operands, &err);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.hint, "myriad plan --help");
        assert_int_equal(rc, MYR_EINVAL);
    }
}

static void a_command_without_operands_says_so(void **state)
{
    (void)state;
    const struct myr_command doctor = {.name = "doctor", .operands = "", .summary = "Check"};
    struct myr_operands operands;
    struct myr_err err = {};
    int rc = myr_option_parse(&doctor, 1, (const char *const[]){"a\nb"}, no_env,
                              &(struct myr_option_values){}, &operands, &err);
    assert_int_equal(rc, MYR_EINVAL);
    assert_string_equal(err.message, "'myriad doctor' takes no operand, 'a?b' is one too many");
}

static void a_list_has_a_limit(void **state)
{
    (void)state;
    struct myr_buf line = {};
    struct myr_operands operands;
    struct myr_err err = {};
    myr_buf_puts(&line, "spec.yaml");
    for (int i = 0; i < MYR_OPTION_LIST_MAX; i++) {
        myr_buf_printf(&line, " --set=k%d=1", i);
    }
    accept_line(line.data, no_env);
    assert_int_equal(values.set.count, MYR_OPTION_LIST_MAX);
    myr_buf_puts(&line, " --set=x=1");
    assert_int_equal(parse(line.data, no_env, &operands, &err), MYR_EINVAL);
    assert_string_equal(err.message, "'--set' is given more than 64 times, the most allowed");
    myr_buf_done(&line);
}

static void help_beats_every_mistake(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "--nonsense --help", "a b c -h"};
    struct myr_operands operands;
    struct myr_err err = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        assert_int_equal(parse(lines[i], bad_env, &operands, &err), MYR_OK);
        assert_true(operands.help);
    }
    assert_int_equal(parse("-- --help", no_env, &operands, &err), MYR_OK);
    assert_false(operands.help);
    assert_string_equal(operands.items[0], "--help");
}

static void a_value_that_nobody_could_give_is_no_default(void **state)
{
    (void)state;
    struct myr_buf help = {};
    static const struct values no_seed = {.seed = 0}; /* from 1 on */
    struct myr_command command = plan;
    command.defaults = &no_seed;
    myr_option_help(&command, &help);
    assert_non_null(strstr(help.data, "1 to 1,000,000"));
    assert_null(strstr(help.data, "default: 0"));
    myr_buf_done(&help);
}

static void help_shows_every_row(void **state)
{
    (void)state;
    struct myr_buf help = {};
    myr_option_help(&plan, &help);
    assert_string_equal(
        help.data,
        "Usage: myriad plan [OPTION]... SPEC\n"
        "\n"
        "Design a cluster from a one-page spec\n"
        "\n"
        "Options:\n"
        "  -o, --output FORMAT       How to print the result; one of table, wide, json,\n"
        "                            yaml, csv [default: table; MYRIAD_PLAN_OUTPUT]\n"
        "      --out DIR             Write all files of the design into this directory,\n"
        "                            which is made if it is not there [MYRIAD_PLAN_OUT]\n"
        "      --name TEXT           Call it so [MYRIAD_PLAN_NAME]\n"
        "  -e, --[no-]explain        Say which rule gave each line: it's [long]\n"
        "                            [MYRIAD_PLAN_EXPLAIN]\n"
        "      --[no-]color          Use colour [default: on; MYRIAD_PLAN_COLOR]\n"
        "  -s, --random-seed NUMBER  Where chance begins; 1 to 1,000,000 [default: 42;\n"
        "                            MYRIAD_PLAN_RANDOM_SEED]\n"
        "      --set KEY=VALUE       Change a key of the spec; may be given several times\n"
        "                            [MYRIAD_PLAN_SET]\n"
        "  -h, --help                Show this help\n"
        "\n"
        "Reads SPEC and writes a design.\n"
        "\n"
        "*Stars* and _lines_ are plain text here.\n"
        "\n"
        "Example:\n"
        "  myriad plan spec.yaml --out out   # all files into out/\n");
    myr_buf_done(&help);
}

/* Runs a program with a file as its input; its exit status, or -1 where it is not installed. */
static int run_on(const char *program, char *const *argv, const struct myr_buf *input)
{
    char path[] = "/tmp/myriad-option-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, input->data, input->len), input->len);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        lseek(fd, 0, SEEK_SET);
        dup2(fd, STDIN_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execvp(program, argv);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(fd);
    unlink(path);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

static void the_man_section_is_valid_scdoc(void **state)
{
    (void)state;
    struct myr_buf page = {};
    myr_buf_puts(&page, "myriad(1)\n\n# COMMANDS\n\n");
    myr_option_man(&plan, &page);
    assert_non_null(strstr(page.data, "## myriad plan SPEC\n\nDesign a cluster"));
    assert_non_null(strstr(page.data, "\\*Stars\\* and \\_lines\\_ are plain"));
    assert_non_null(strstr(page.data,
                           "*-o*, *--output* _FORMAT_\n\tHow to print the result; one of "
                           "table, wide, json, yaml, csv. Default: table. Environment: "
                           "*MYRIAD\\_PLAN\\_OUTPUT*.\n"));
    assert_non_null(strstr(page.data, "*-e*, *--explain*, *--no-explain*\n"));
    int status = run_on("scdoc", (char *const[]){"scdoc", NULL}, &page);
    myr_buf_done(&page);
    if (status < 0) {
        print_message("scdoc is not installed: its verdict is skipped\n");
        return;
    }
    assert_int_equal(status, 0);
}

static void completion_scripts_are_valid(void **state)
{
    (void)state;
    static const struct {
        enum myr_shell shell;
        const char *program;
        char *const argv[4];
    } shells[] = {
        {MYR_SHELL_BASH, "bash", {"bash", "-n", NULL}},
        {MYR_SHELL_ZSH, "zsh", {"zsh", "-f", "-n", NULL}},
        {MYR_SHELL_FISH, "fish", {"fish", "-n", "/dev/stdin", NULL}},
    };
    const struct myr_command show = {.name = "design show",
                                     .operands = "FILE",
                                     .summary = "Print: a design's parts",
                                     .options = options,
                                     .option_count = 2,
                                     .operand_max = 1};
    const struct myr_command list = {
        .name = "design list", .operands = "", .summary = "List designs"};
    const struct myr_command *const commands[] = {&plan, &show, &list};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shells); i++) {
        struct myr_buf script = {};
        myr_option_completion(shells[i].shell, "myriad", commands, 3, &script);
        assert_non_null(strstr(script.data, "plan"));
        assert_non_null(strstr(script.data, "random-seed"));
        int status = run_on(shells[i].program, shells[i].argv, &script);
        if (status < 0) {
            print_message("%s is not installed: its verdict is skipped\n", shells[i].program);
        } else {
            assert_int_equal(status, 0);
        }
        myr_buf_done(&script);
    }
}

/* The script at work: what bash offers for a line, '|' at the end of it. */
static void bash_offers_what_fits(void **state)
{
    (void)state;
    static const char checks[] = "\noffer() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                                 "_myriad; echo \"${COMPREPLY[*]}\"; }\n"
                                 "expect() { [[ $(offer \"${@:2}\") == \"$1\" ]] || { echo "
                                 "\"wrong: ${*:2}\" >&2; exit 1; }; }\n"
                                 "expect 'plan design' myriad ''\n"
                                 "expect plan myriad pl\n"
                                 "expect 'show list' myriad design ''\n"
                                 "expect json myriad plan -o j\n"
                                 "expect json myriad plan --output = j\n"
                                 "expect 'table wide json yaml csv' myriad plan --output =\n"
                                 "expect '--output --out' myriad plan --o\n"
                                 "expect '' myriad plan --out x\n"
                                 "expect '--no-explain --no-color' myriad plan --no-\n"
                                 "expect '--help --output --out' myriad design show spec --\n";
    const struct myr_command show = {
        .name = "design show", .options = options, .option_count = 2, .operand_max = 1};
    const struct myr_command list = {.name = "design list"};
    const struct myr_command *const commands[] = {&plan, &show, &list};
    struct myr_buf script = {};
    myr_option_completion(MYR_SHELL_BASH, "myriad", commands, 3, &script);
    myr_buf_puts(&script, checks);
    int status = run_on("bash", (char *const[]){"bash", "--norc", NULL}, &script);
    myr_buf_done(&script);
    assert_true(status <= 0); /* -1: there is no bash */
}

/* What is typed again gives the same values; another command gets what it knows. */
static void a_question_can_be_typed_again(void **state)
{
    (void)state;
    static const char *const argv[] = {"-o",         "csv",   "--out", "my dir", "--explain",
                                       "--no-color", "--set", "a=1",   "--set",  "b",
                                       "-s",         "7",     "it's"};
    const struct myr_command other = {
        .name = "fit curve", .options = &options[3], .option_count = 3};
    struct myr_answer answer;
    struct myr_arena arena MYR_CLEANUP(myr_arena_done);
    struct myr_operands operands;
    struct myr_option_values places = {&values, NULL};
    struct myr_err err = {};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "test", 1);
    assert_int_equal(
        myr_option_parse(&plan, (int)MYR_ARRAY_COUNT(argv), argv, no_env, &places, &operands, &err),
        MYR_OK);
    assert_string_equal(myr_option_again(&plan, &values, &operands, &plan, NULL, &answer),
                        "myriad plan 'it'\\''s' --output csv --out 'my dir' --explain --no-color "
                        "--random-seed 7 --set a=1 --set b");
    assert_string_equal(myr_option_again(&plan, &values, &operands, &plan, "out set", &answer),
                        "myriad plan 'it'\\''s' --output csv --explain --no-color --random-seed 7");
    assert_string_equal(myr_option_again(&plan, &values, &operands, &other, "explain", &answer),
                        "myriad fit curve 'it'\\''s' --no-color --random-seed 7");
    static const char *const all[] = {"output", "out", "explain", "color", "random-seed", "set"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        assert_true(myr_option_given(&plan, &values, all[i]));
        assert_false(myr_option_given(&plan, &defaults, all[i]));
    }
    assert_false(myr_option_given(&plan, &values, "name"));
    assert_false(myr_option_given(&plan, &values, "nonesuch"));
    assert_string_equal(myr_option_again(&plan, &defaults, &operands, &plan, NULL, &answer),
                        "myriad plan 'it'\\''s'");
}

/* Put again by a command with these operands; the row is a text, a list and a path in turn. */
static const char *again_as(struct myr_answer *answer, const char *operands, const char *operand,
                            const char *value)
{
    struct given {
        const char *text, *path;
        struct myr_option_list list;
    } given = {value, value, {{value}, 1}};
    static const struct given none;
    static const struct myr_option rows[] = {
        {.name = "text", .type = MYR_OPTION_TEXT, .at = offsetof(struct given, text)},
        {.name = "path", .type = MYR_OPTION_PATH, .at = offsetof(struct given, path)},
        {.name = "list", .type = MYR_OPTION_LIST, .at = offsetof(struct given, list)},
    };
    const struct myr_command command = {.name = "it",
                                        .operands = operands,
                                        .options = rows,
                                        .option_count = value ? MYR_ARRAY_COUNT(rows) : 0,
                                        .defaults = &none};
    struct myr_operands typed = {.items = {"d", operand}, .count = 2};
    return myr_option_again(&command, &given, &typed, &command, NULL, answer);
}

static void what_cannot_be_typed_again_is_marked(void **state)
{
    (void)state;
    static const char gone[] = MYR_ANSWER_GONE;
    struct myr_answer a;
    struct myr_arena arena MYR_CLEANUP(myr_arena_done);
    myr_arena_init(&arena);
    myr_answer_init(&a, &arena, "test", 1);
    assert_string_equal(again_as(&a, "DESIGN FILE...", "-x", NULL), "myriad it d ./-x");
    assert_string_equal(again_as(&a, "[PLAN] [PATH]", "x", NULL), "myriad it d x");
    static const char *const names[] = {"-x", "-"};
    static const char *const files[] = {"-", "/dev/stdin", "/dev/fd/63", "/proc/self/fd/3"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_non_null(strstr(again_as(&a, "STATE NAME", names[i], NULL), gone));
        assert_non_null(strstr(again_as(&a, "[PLAN] [PATH]", names[i], NULL), gone));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        char wanted[80];
        snprintf(wanted, sizeof(wanted), "myriad it d x --text %s --path %s --list %s", gone, gone,
                 gone);
        assert_string_equal(again_as(&a, "A B", "x", files[i]), wanted);
        assert_non_null(strstr(again_as(&a, "DESIGN FILE...", files[i], NULL), gone));
    }
    assert_string_equal(again_as(&a, "A B", "x", "-x.yaml"),
                        "myriad it d x --text=-x.yaml --path ./-x.yaml --list=-x.yaml");
    assert_string_equal(again_as(&a, "A B", "x", "/dev/fdx"),
                        "myriad it d x --text /dev/fdx --path /dev/fdx --list /dev/fdx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_every_spelling),
        cmocka_unit_test(the_environment_stands_between_flag_and_default),
        cmocka_unit_test(mistakes_get_one_clear_line),
        cmocka_unit_test(a_command_without_operands_says_so),
        cmocka_unit_test(a_list_has_a_limit),
        cmocka_unit_test(help_beats_every_mistake),
        cmocka_unit_test(a_value_that_nobody_could_give_is_no_default),
        cmocka_unit_test(help_shows_every_row),
        cmocka_unit_test(the_man_section_is_valid_scdoc),
        cmocka_unit_test(completion_scripts_are_valid),
        cmocka_unit_test(bash_offers_what_fits),
        cmocka_unit_test(a_question_can_be_typed_again),
        cmocka_unit_test(what_cannot_be_typed_again_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
