#include <stdio.h>

#include "cli.h"

/* What the option tables yield besides parsing: completion scripts and the manual page. */

enum { VERBS_MAX = 64 };

static uint32_t all_commands(const struct myr_command *ret[VERBS_MAX])
{
    uint32_t count;
    const struct cli_verb *verbs = cli_verbs(&count);
    MYR_ASSERT(count <= VERBS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        ret[i] = verbs[i].command();
    }
    return count;
}

const struct myr_command *cli_completion_command(void)
{
    static const struct myr_command command = {
        .name = "completion",
        .operands = "SHELL",
        .summary = "print a completion script for bash, zsh or fish",
        .example = "myriad completion bash > ~/.local/share/bash-completion/completions/myriad",
        .operand_min = 1,
        .operand_max = 1,
    };
    return &command;
}

int cli_completion(const struct myr_operands *operands)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(shells); i++) {
        if (strcmp(operands->items[0], shells[i]) == 0) {
            const struct myr_command *commands[VERBS_MAX];
            struct myr_buf buf = {0};
            uint32_t count = all_commands(commands);
            myr_option_completion((enum myr_shell)i, "myriad", commands, count, &buf);
            int code = cli_print(&buf);
            myr_buf_done(&buf);
            return code;
        }
    }
    struct myr_err err = {0};
    (void)myr_err_set(&err, MYR_EINVAL, "unknown shell '%.40s'; bash, zsh or fish is expected",
                      operands->items[0]);
    return cli_error(&err);
}

const struct myr_command *cli_man_command(void)
{
    static const struct myr_command command = {
        .name = "man",
        .operands = "",
        .summary = "print the manual page in scdoc's format",
        .example = "myriad man | scdoc | man -l -",
    };
    return &command;
}

int cli_man(const struct myr_operands *operands)
{
    (void)operands;
    const struct myr_command *commands[VERBS_MAX];
    uint32_t count = all_commands(commands);
    struct myr_buf buf = {0};
    myr_buf_put_lit(
        &buf, "myriad(1)\n\n# NAME\n\nmyriad - design, prove, run and heal training clusters\n"
              "\n# FIRST STEPS\n\n"
              "*myriad plan examples/h100-64.yaml*\n\n"
              "# EXIT STATUS\n\n"
              "*0* done; *1* the answer is no; *2* bad usage or input; *3* the environment "
              "failed.\n\n# VERBS\n\n");
    for (uint32_t i = 0; i < count; i++) {
        myr_option_man(commands[i], &buf);
    }
    int code = cli_print(&buf);
    myr_buf_done(&buf);
    return code;
}
