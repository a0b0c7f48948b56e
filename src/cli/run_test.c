/* The frame around the verbs: what is parsed, printed and returned for verbs of the test's own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"

struct options {
    uint64_t count;
    const char *name;
};

static const struct options defaults = {.count = 2};
static const struct myr_option rows[] = {
    CLI_COUNT("count", struct options, count, 1, 9, "how many"),
    CLI_TEXT("name", "NAME", struct options, name, "whose"),
};
static const struct myr_command command = {
    .name = "test verb", .operands = "[WORD]", CLI_OPTIONS(rows, defaults), .operand_max = 1};

static int answer(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {MYR_COLUMN("i", "I", MYR_COLUMN_NUMBER)};
    const struct options *options = cli->options;
    if (options->name && strcmp(options->name, "nobody") == 0) {
        int rc = myr_err_set(err, MYR_ENOENT, "nobody is not there");
        myr_err_hint(err, "ask for somebody");
        return rc;
    }
    if (options->name && strcmp(options->name, "short") == 0) {
        int rc = myr_err_set(err, MYR_EIO, "no");
        myr_err_hint(err, "?");
        return rc;
    }
    struct myr_value *list = myr_answer_list(&cli->answer, "items");
    for (uint64_t i = 0; i < options->count; i++) {
        myr_answer_object(&cli->answer, NULL);
        myr_answer_u64(&cli->answer, "i", i);
        myr_answer_end(&cli->answer);
    }
    myr_answer_end(&cli->answer);
    myr_answer_heading(&cli->answer, "Items");
    myr_answer_table(&cli->answer, list, columns, 1);
    if (!options->name) {
        myr_answer_rows(&cli->answer, list);
    }
    cli->no = cli->operands.count > 0;
    return MYR_OK;
}

static int document(struct cli *cli, struct myr_err *err)
{
    (void)err;
    myr_buf_put_lit(&cli->document, "as it is\n");
    return MYR_OK;
}

static const struct cli_verb verb = {&command, answer, .group = NULL};
static const struct cli_verb document_verb = {&command, document, .group = NULL};

static const char *no_env(const char *name)
{
    (void)name;
    return NULL;
}

static const char *json_env(const char *name)
{
    return strcmp(name, "MYRIAD_OUTPUT") == 0            ? "json"
           : strcmp(name, "MYRIAD_TEST_VERB_COUNT") == 0 ? "3"
                                                         : NULL;
}

/* What stood on standard output and standard error, and the exit code. */
struct said {
    char out[16384], err[2048];
    int code;
};

static void read_back(int fd, char *ret, size_t size)
{
    ssize_t len = pread(fd, ret, size - 1, 0);
    assert_true(len >= 0);
    ret[len] = '\0';
    close(fd);
}

static int divert(int fd, int *ret_saved)
{
    char path[] = "/tmp/myriad-cli-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    *ret_saved = dup(fd);
    assert_true(dup2(file, fd) >= 0);
    return file;
}

static struct said say(const struct cli_verb *which, const char *(*env)(const char *), int argc,
                       const char *const *argv)
{
    struct said said;
    int saved_out, saved_err;
    fflush(stdout);
    fflush(stderr);
    int out = divert(STDOUT_FILENO, &saved_out), err = divert(STDERR_FILENO, &saved_err);
    said.code = which ? cli_run(which, argc, argv, env) : cli_main(argc, argv, env);
    fflush(stdout);
    fflush(stderr);
    dup2(saved_out, STDOUT_FILENO);
    dup2(saved_err, STDERR_FILENO);
    close(saved_out);
    close(saved_err);
    read_back(out, said.out, sizeof(said.out));
    read_back(err, said.err, sizeof(said.err));
    return said;
}

#define SAY(which, env, ...)                                                    \
    say(which, env, (int)MYR_ARRAY_COUNT(((const char *const[]){__VA_ARGS__})), \
        (const char *const[]){__VA_ARGS__})

static void an_answer_is_printed_in_the_form_asked_for(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "--count=2");
    assert_int_equal(said.code, CLI_DONE);
    assert_string_equal(said.out, "Items\nI\n0\n1\n");
    assert_string_equal(said.err, "");
    said = SAY(&verb, no_env, "--count=1", "-o", "yaml");
    assert_string_equal(said.out,
                        "schema: myriad.test.verb\nversion: 1\nquestion:\n  verb: test verb\n"
                        "  operands: []\n  options:\n    count: 1\n    name: null\nitems:\n"
                        "  - i: 0\n");
    said = SAY(&verb, no_env, "-o", "csv", "--excel");
    assert_string_equal(said.out, "\xEF\xBB\xBFi\n0\n1\n");
    said = SAY(&verb, no_env, "--color", "always");
    assert_string_equal(said.out, "\x1b[1mItems\x1b[0m\n\x1b[1mI\n\x1b[0m0\n1\n");
}

static void variables_stand_in_for_options(void **state)
{
    (void)state;
    struct said said = SAY(&verb, json_env, "--name=x");
    assert_non_null(strstr(said.out, "\"count\": 3,"));
    assert_non_null(strstr(said.out, "\"i\": 2\n"));
}

static void csv_is_refused_where_there_is_no_list(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "--name=x", "-o", "csv");
    assert_int_equal(said.code, CLI_BAD_INPUT);
    assert_string_equal(said.out, "");
    assert_non_null(strstr(said.err, "myriad: this answer is no list"));
    assert_non_null(strstr(said.err, "\nhint: -o json"));
}

static void no_is_printed_and_exits_with_one(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "word");
    assert_int_equal(said.code, CLI_NO);
    assert_string_equal(said.out, "Items\nI\n0\n1\n");
}

static void errors_go_to_stderr_with_their_hint(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "--name=nobody");
    assert_int_equal(said.code, CLI_BAD_INPUT);
    assert_string_equal(said.out, "");
    assert_string_equal(said.err, "myriad: nobody is not there\nhint: ask for somebody\n");
    said = SAY(&verb, no_env, "--count=10");
    assert_int_equal(said.code, CLI_BAD_INPUT);
    assert_string_equal(said.out, "");
    said = SAY(&verb, no_env, "--name=short");
    assert_int_equal(said.code, CLI_FAILED);
    assert_string_equal(said.err, "myriad: no\nhint: ?\n");
}

/* Printed and not an error: the exit status stays that of the answer. */
static void warnings_go_to_stderr(void **state)
{
    char said[200];
    int saved;
    (void)state;
    fflush(stderr);
    int err = divert(STDERR_FILENO, &saved);
    cli_warn("%s has %d", "x", 3);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    read_back(err, said, sizeof(said));
    assert_string_equal(said, "myriad: WARNING: x has 3\n");
}

static const char *excel_env(const char *name)
{
    return strcmp(name, "MYRIAD_EXCEL") == 0 ? "true" : NULL;
}

/* A variable stands for all calls, of which some are no CSV; the option is meant for this one. */
static void a_mark_for_spreadsheets_is_for_csv(void **state)
{
    (void)state;
    struct said said = SAY(&verb, excel_env, "--count=1");
    assert_int_equal(said.code, CLI_DONE);
    assert_string_equal(said.out, "Items\nI\n0\n");
    said = SAY(&verb, excel_env, "--count=1", "-o", "csv");
    assert_string_equal(said.out, "\xEF\xBB\xBFi\n0\n");
    said = SAY(&verb, no_env, "--count=1", "--excel");
    assert_int_equal(said.code, CLI_BAD_INPUT);
    assert_string_equal(said.err, "myriad: --excel is for -o csv and changes nothing here\n");
}

static const struct myr_part *part_of(const struct myr_catalog *catalog, const char *name)
{
    uint32_t part = myr_catalog_find(catalog, myr_str_from(name));
    return part == MYR_PART_NONE ? NULL : &catalog->parts.items[part];
}

/* Of several files the later one overrides the earlier; the first that is wrong ends it. */
static void catalogues_are_added_in_their_order(void **state)
{
    char folder[] = "/tmp/myriad-cli-XXXXXX", paths[3][64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        snprintf(paths[i], sizeof(paths[i]), "%s/%d.yaml", folder, i);
        myr_buf_printf(&text,
                       "switches:\n  my-switch: {title: no %d, cages: 32, form: osfp, cage_gbps: "
                       "800, port_gbps: 400}\n  only-%d: {cages: 32, form: osfp, cage_gbps: 800, "
                       "port_gbps: 400}\n",
                       i, i);
        assert_int_equal(myr_file_write(paths[i], &text, NULL), MYR_OK);
    }
    for (uint32_t count = 0; count <= 4; count++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
        MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
        struct myr_option_list list = {{paths[0], paths[1], paths[2]}, count % 4};
        struct myr_err err = {};
        char title[20];
        if (count == 4) {
            unlink(paths[1]); /* then it is not there */
            list.count = 3;
        }
        myr_arena_init(&arena);
        int rc = cli_catalog(&catalog, &arena, &list, &err);
        assert_int_equal(rc < 0, count == 4);
        for (uint32_t i = 0; i < 3; i++) {
            snprintf(title, sizeof(title), "only-%u", i);
            bool there = count == 4 ? i == 0 : i < count;
            assert_true(!part_of(&catalog, title) == !there);
        }
        if (count > 0) {
            snprintf(title, sizeof(title), "no %u", count == 4 ? 0 : count - 1);
            assert_string_equal(part_of(&catalog, "my-switch")->title, title);
        }
    }
    unlink(paths[0]);
    unlink(paths[2]);
    rmdir(folder);
}

static void timing_is_added_when_asked_for(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "-o", "json", "--timing");
    assert_non_null(strstr(said.out, "\"timing\": {\n    \"wall_s\": "));
    assert_non_null(strstr(said.out, "\"cpu_s\": "));
    assert_non_null(strstr(said.out, "\"memory_mib\": "));
    said = SAY(&verb, no_env, "-o", "json");
    assert_null(strstr(said.out, "timing"));
}

static void a_document_is_printed_as_it_is(void **state)
{
    (void)state;
    struct said said = SAY(&document_verb, no_env, "-o", "json");
    assert_int_equal(said.code, CLI_DONE);
    assert_string_equal(said.out, "as it is\n");
}

static void help_needs_nothing_else_to_be_right(void **state)
{
    (void)state;
    struct said said = SAY(&verb, no_env, "--count=many", "--help");
    assert_int_equal(said.code, CLI_DONE);
    assert_non_null(strstr(said.out, "Usage: myriad test verb [OPTION]... [WORD]\n"));
}

static void the_program_knows_its_verbs(void **state)
{
    (void)state;
    struct said said = SAY(NULL, no_env, "myriad");
    assert_int_equal(said.code, CLI_DONE);
    assert_non_null(strstr(said.out, "\nDesign a cluster\n  plan "));
    assert_string_equal(said.out, SAY(NULL, no_env, "myriad", "help").out);
    said = SAY(NULL, no_env, "myriad", "catalgo");
    assert_int_equal(said.code, CLI_BAD_INPUT);
    assert_string_equal(said.err, "myriad: unknown verb 'catalgo'; did you mean 'catalog'?\n"
                                  "hint: myriad --help\n");
    said = SAY(NULL, no_env, "myriad", "help", "catalog");
    assert_non_null(strstr(said.out, "Usage: myriad catalog "));
    said = SAY(NULL, no_env, "myriad", "--version");
    assert_memory_equal(said.out, "myriad ", 7);
}

/* --- what is written */

struct files {
    const char *in, *out, *other, *folder, *print;
    struct myr_option_list more;
};

static const struct files no_files;
static const struct myr_option file_rows[] = {
    CLI_PATH("in", "FILE", struct files, in, "read"),
    CLI_OUTPUT("out", "FILE", struct files, out, "written"),
    CLI_LIST("more", "FILE", struct files, more, "read too"),
    CLI_OUTPUT("other", "FILE", struct files, other, "written too"),
    CLI_OUTPUT_FOLDER("folder", "DIR", struct files, folder, "what is written lies there"),
    {CLI_ROW("print", MYR_OPTION_PATH, "FILE", struct files, print, "written, or printed"),
     .writes = true, .prints = true},
};
static const struct myr_command file_command = {
    .name = "files", .operands = "[FILE]...", CLI_OPTIONS(file_rows, no_files), .operand_max = 3};
static const struct cli_verb file_verb = {&file_command, document, .group = NULL};

static const struct {
    const char *words[6], *says; /* says NULL: all is well */
} output_cases[] = {
    {{"--out", "a"}, NULL},
    {{"--out", "a", "b"}, NULL},
    {{"--out", "a", "a"}, "--out: 'a' is the input, another file is expected"},
    {{"--out", "./a", "b", "a"}, "--out: './a' is the input, another file is expected"},
    {{"--out", "link", "a"}, "--out: 'link' is the input, another file is expected"},
    {{"--out", "a", "--in", "b"}, NULL},
    {{"--out", "a", "--in", "a"}, "--out: 'a' is what --in reads, another file is expected"},
    {{"--other", "a", "--in", "a"}, "--other: 'a' is what --in reads, another file is expected"},
    {{"--out", "a", "--more", "b", "--more", "a"},
     "--out: 'a' is what --more reads, another file is expected"},
    {{"--out", "new", "--other", "sub/../new"},
     "--out and --other: both are 'sub/../new', two files are expected"},
    {{"--out", "new", "--other", "new2"}, NULL},
    {{"--out", "new", "--other", "sub/new"}, NULL},
    {{"--out", "new", "--other", "gone/new"}, "gone/new: cannot write: No such file or directory"},
    {{"--out", "a/new"}, "a/new: cannot write: Not a directory"},
    {{"--folder", "gone/new"}, NULL}, /* which is made */
    {{"--out", "a", "--other", "link"},
     "--out and --other: both are 'link', two files are expected"},
    {{"--out", "a", "--other", "new"}, NULL},
    {{"--out", "/dev/null", "--other", "/dev/null"}, NULL},
    {{"--in", "-"}, NULL},
    {{"--in", "-", "-"},
     "'-' is given more than once (operand, --in): standard input is read once"},
    {{"-", "b", "-"}, "'-' is given more than once (operand): standard input is read once"},
    {{"--in", "-", "--more", "-"},
     "'-' is given more than once (--in, --more): standard input is read once"},
    {{"--more", "-", "--more", "-"},
     "'-' is given more than once (--more): standard input is read once"},
    {{"--in", "-", "--out", "-"},
     "--out: '-' is standard output, where the answer goes; a file is expected"},
    {{"--other", "-"},
     "--other: '-' is standard output, where the answer goes; a file is expected"},
    {{"--out", "/dev/stdout"},
     "--out: '/dev/stdout' is standard output, where the answer goes; a file is expected"},
    {{"--folder", "-"},
     "--folder: '-' is standard output, where the answer goes; a folder is expected"},
    {{"--print", "-", "--in", "-"}, NULL},
    {{"--print", "/dev/stdout"}, NULL},
    {{"--out", "sub"}, "--out: 'sub' is a folder, a file is expected"},
    {{"--print", "sub"}, "--print: 'sub' is a folder, a file is expected"},
    {{"--folder", "sub"}, NULL},
    {{"--folder", "new", "--out", "new"},
     "--out and --folder: both are 'new', two files are expected"},
    {{"--in", "a", "a"}, NULL},
    {{"--in", "a", "--more", "a"}, NULL},
};

/* Looked at before the verb runs, however a file is spelled. */
static void nothing_that_is_read_is_written(void **state)
{
    char folder[] = "/tmp/myriad-cli-XXXXXX", here[200];
    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    close(open("a", O_CREAT | O_WRONLY, 0600));
    close(open("b", O_CREAT | O_WRONLY, 0600));
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(output_cases); i++) {
        int argc = 0;
        while (argc < 6 && output_cases[i].words[argc]) {
            argc++;
        }
        struct said said = say(&file_verb, no_env, argc, output_cases[i].words);
        char wanted[300] = "";
        if (output_cases[i].says) {
            snprintf(wanted, sizeof(wanted), "myriad: %s\n", output_cases[i].says);
        }
        assert_string_equal(said.err, wanted);
        assert_int_equal(said.code, output_cases[i].says ? CLI_BAD_INPUT : CLI_DONE);
        assert_string_equal(said.out, output_cases[i].says ? "" : "as it is\n");
    }
    assert_int_equal(SAY(&file_verb, no_env, "--out", "a", "a", "--help").code, CLI_DONE);
    unlink("a");
    unlink("b");
    unlink("link");
    rmdir("sub");
    assert_int_equal(chdir(here), 0);
    rmdir(folder);
}

/* By its name or its help: one that is not marked would be written over what is read, or printed.
 */
static bool says_that_it_writes(const struct myr_option *option)
{
    static const char *const names[] = {"out", "report", "plots", "schedule", "save"};
    static const char *const begins[] = {"write ", "also write ", "draw ", "also draw "};
    bool says = false;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        says = says || strcmp(option->name, names[i]) == 0;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(begins); i++) {
        says = says || strncmp(option->help, begins[i], strlen(begins[i])) == 0;
    }
    return says;
}

/* Without which a file of goodput's is not asked for at all; NULL: nothing is. */
static const char *needed_by(const struct myr_command *row, const char *name)
{
    bool model = false;
    for (uint32_t i = 0; i < row->rule_count; i++) {
        const struct myr_option_rule *rule = &row->rules[i];
        model = model ||
                (rule->needs && strcmp(rule->needs, "model") == 0 && strstr(rule->options, name));
    }
    return model ? "--model=x" : NULL;
}

/* No verb has to remember it: the mark in the row is enough, and none lacks it. */
static void no_file_of_any_verb_comes_before_its_answer(void **state)
{
    (void)state;
    uint32_t count, seen = 0;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *row = verbs[i]->row;
        for (uint32_t k = 0; k < row->option_count; k++) {
            const struct myr_option *option = &row->options[k];
            char word[64], wanted[200];
            if (option->type != MYR_OPTION_PATH) {
                continue;
            }
            if (option->writes != says_that_it_writes(option)) {
                fail_msg("%s --%s: %s", row->name, option->name, option->help);
            }
            if (!option->writes || option->prints) {
                continue;
            }
            snprintf(word, sizeof(word), "--%s=-", option->name);
            snprintf(wanted, sizeof(wanted),
                     "myriad: --%s: '-' is standard output, where the answer goes; a %s is "
                     "expected\n",
                     option->name, option->folder ? "folder" : "file");
            const char *words[MYR_OPERANDS_MAX + 2] = {word, needed_by(row, option->name)};
            uint32_t given = words[1] ? 2 : 1;
            for (uint32_t n = 0; n < row->operand_min; n++) {
                words[given++] = "x";
            }
            struct said said = say(verbs[i], no_env, (int)given, words);
            assert_string_equal(said.err, wanted);
            assert_string_equal(said.out, "");
            assert_int_equal(said.code, CLI_BAD_INPUT);
            seen++;
        }
    }
    assert_true(seen > 30);
}

/* Lines of at most 80 columns: what a terminal is wide where nobody made it wider. */
static void help_fits_a_terminal(void **state)
{
    (void)state;
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i <= count; i++) { /* the last is the overview */
        static const char *const words[] = {"myriad", "--help"};
        struct said said =
            i < count ? say(verbs[i], no_env, 1, &words[1]) : say(NULL, no_env, 2, words);
        assert_int_equal(said.code, CLI_DONE);
        for (const char *line = said.out; *line; line += line[0] == '\n') {
            size_t len = strcspn(line, "\n");
            if (len > 80) {
                fail_msg("%s: %.*s", i < count ? verbs[i]->row->name : "overview", (int)len, line);
            }
            line += len;
        }
    }
}

/* Rows are data: what every one must hold. */
static void every_row_of_every_verb_is_sound(void **state)
{
    (void)state;
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *row = verbs[i]->row;
        const char *blank = strchr(row->name, ' ');
        assert_non_null(row->summary);
        assert_true(row->operand_min <= row->operand_max);
        if (!blank) {
            assert_non_null(verbs[i]->group);
        }
        for (uint32_t k = 0; k < row->option_count; k++) {
            const struct myr_option *option = &row->options[k];
            assert_non_null(option->help);
            assert_true(option->at < row->values_bytes);
            for (uint32_t j = 0; j < k; j++) {
                assert_string_not_equal(row->options[j].name, option->name);
            }
        }
        if (verbs[i]->run) {
            assert_true(!row->example || strncmp(row->example, "myriad ", 7) == 0);
        }
        for (uint32_t k = 0; k < row->subcommand_count; k++) {
            size_t len = strlen(row->name);
            assert_memory_equal(row->subcommands[k]->name, row->name, len);
            assert_int_equal(row->subcommands[k]->name[len], ' ');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_printed_in_the_form_asked_for),
        cmocka_unit_test(variables_stand_in_for_options),
        cmocka_unit_test(csv_is_refused_where_there_is_no_list),
        cmocka_unit_test(no_is_printed_and_exits_with_one),
        cmocka_unit_test(errors_go_to_stderr_with_their_hint),
        cmocka_unit_test(warnings_go_to_stderr),
        cmocka_unit_test(a_mark_for_spreadsheets_is_for_csv),
        cmocka_unit_test(catalogues_are_added_in_their_order),
        cmocka_unit_test(timing_is_added_when_asked_for),
        cmocka_unit_test(a_document_is_printed_as_it_is),
        cmocka_unit_test(help_needs_nothing_else_to_be_right),
        cmocka_unit_test(the_program_knows_its_verbs),
        cmocka_unit_test(no_file_of_any_verb_comes_before_its_answer),
        cmocka_unit_test(help_fits_a_terminal),
        cmocka_unit_test(every_row_of_every_verb_is_sound),
        cmocka_unit_test(nothing_that_is_read_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
