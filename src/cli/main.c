#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

static const struct cli_verb verbs[] = {
    {cli_plan_command, cli_plan, "Design a cluster"},
    {cli_design_command, cli_design, "Design a cluster"},
    {cli_catalog_command, cli_catalog_run, "Design a cluster"},
    {cli_route_command, cli_route, "Prove it"},
    {cli_path_command, cli_path, "Prove it"},
    {cli_sim_command, cli_sim, "Prove it"},
    {cli_fit_command, cli_fit, "Prove it"},
    {cli_goodput_command, cli_goodput, "Prove it"},
    {cli_bench_command, cli_bench, "Prove it"},
    {cli_export_command, cli_export, "Build it"},
    {cli_verify_command, cli_verify, "Build it"},
    {cli_bind_command, cli_bind, "Build it"},
    {cli_sched_command, cli_sched, "Run it"},
    {cli_completion_command, cli_completion, "This program"},
    {cli_man_command, cli_man, "This program"},
};

const struct cli_verb *cli_verbs(uint32_t *ret_count)
{
    *ret_count = MYR_ARRAY_COUNT(verbs);
    return verbs;
}

int cli_error(const struct myr_err *err)
{
    fprintf(stderr, "myriad: %s\n", err->message);
    if (err->hint[0]) {
        fprintf(stderr, "hint: %s\n", err->hint);
    }
    return myr_err_exit_code(err->code);
}

int cli_print(const struct myr_buf *buf)
{
    size_t at = 0;
    while (at < buf->len) {
        ssize_t put = write(STDOUT_FILENO, buf->data + at, buf->len - at);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            /* 'myriad ... | head' is not an error worth a word. */
            if (errno != EPIPE) {
                perror("myriad: cannot write to standard output");
            }
            return CLI_FAILED;
        }
        at += (size_t)put;
    }
    return CLI_DONE;
}

int cli_catalog(struct myr_catalog *catalog, struct myr_arena *arena,
                const struct myr_option_list *files, struct myr_err *err)
{
    int r = myr_catalog_init(catalog, arena, err);
    for (uint32_t i = 0; r == MYR_OK && i < files->count; i++) {
        r = myr_catalog_add_file(catalog, files->items[i], err);
    }
    return r;
}

static int overview(void)
{
    struct myr_buf buf = {0};
    const char *group = "";
    myr_buf_put_lit(&buf,
                    "Myriad takes a training cluster from a one-page spec to a running machine "
                    "that heals itself.\n\nusage: myriad <verb> [options]\n");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(verbs); i++) {
        const struct myr_command *command = verbs[i].command();
        if (strcmp(group, verbs[i].group) != 0) {
            group = verbs[i].group;
            myr_buf_printf(&buf, "\n%s\n", group);
        }
        myr_buf_printf(&buf, "  %-12s %s\n", command->name, command->summary);
    }
    myr_buf_put_lit(&buf, "\nmyriad <verb> --help shows options and an example.\n"
                          "First steps: myriad plan examples/h100-64.yaml\n");
    int code = cli_print(&buf);
    myr_buf_done(&buf);
    return code;
}

static int unknown_verb(const char *word)
{
    const char *names[MYR_ARRAY_COUNT(verbs)];
    char near[128];
    struct myr_err err = {0};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(verbs); i++) {
        names[i] = verbs[i].command()->name;
    }
    myr_str_nearest(myr_str_from(word), names, MYR_ARRAY_COUNT(names), near, sizeof(near));
    (void)myr_err_set(&err, MYR_EINVAL, "unknown verb '%.40s'%s%s%s", word,
                      near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    myr_err_hint(&err, "myriad --help");
    return cli_error(&err);
}

static const char *environment(const char *name)
{
    return getenv(name); /* read only, before anything else runs */
}

static int run_verb(const struct cli_verb *verb, int argc, const char *const *argv)
{
    struct myr_err err = {0};
    struct myr_operands operands = {0};
    const struct myr_command *command = verb->command();
    if (myr_option_parse(command, argc, argv, environment, &operands, &err) < 0) {
        return cli_error(&err);
    }
    if (operands.help) {
        struct myr_buf buf = {0};
        myr_option_help(command, &buf);
        int code = cli_print(&buf);
        myr_buf_done(&buf);
        return code;
    }
    return verb->run(&operands);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        printf("myriad %s\n", MYRIAD_VERSION);
        return CLI_DONE;
    }
    bool help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc < 3)) {
        return overview();
    }
    const char *const help_args[] = {"--help"};
    if (help) {
        word = argv[2];
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(verbs); i++) {
        if (strcmp(word, verbs[i].command()->name) == 0) {
            return help ? run_verb(&verbs[i], 1, help_args)
                        : run_verb(&verbs[i], argc - 2, (const char *const *)argv + 2);
        }
    }
    return unknown_verb(word);
}
