/* What the option rows yield besides parsing and the manual: completion scripts. */
#include "cli.h"

enum { VERBS_MAX = 96 };

static uint32_t all_commands(const struct myr_command *ret[VERBS_MAX])
{
    uint32_t count, used = 0;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    MYR_ASSERT(count <= VERBS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        /* A verb that is nothing by itself shows in its sub-verbs. */
        if (verbs[i]->run) {
            ret[used++] = verbs[i]->row;
        }
    }
    return used;
}

static const char *const shells[] = {"bash", "zsh", "fish"};

static void put_shells(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "bash zsh fish");
}

static const struct myr_command completion_command = {
    .name = "completion",
    .operands = "SHELL",
    .summary = "print a completion script for bash, zsh or fish",
    .example = "myriad completion bash > ~/.local/share/bash-completion/completions/myriad",
    .operand_min = 1,
    .operand_max = 1,
    .words = put_shells,
};

static int run_completion(struct cli *cli, struct myr_err *err)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(shells); i++) {
        if (strcmp(cli->operands.items[0], shells[i]) == 0) {
            const struct myr_command *commands[VERBS_MAX];
            uint32_t count = all_commands(commands);
            myr_option_completion((enum myr_shell)i, "myriad", commands, count, &cli->document);
            return MYR_OK;
        }
    }
    return myr_err_set(err, MYR_EINVAL, "unknown shell '%.40s'; bash, zsh or fish is expected",
                       cli->operands.items[0]);
}

const struct cli_verb cli_completion_verb = {&completion_command, run_completion,
                                             .group = CLI_PROGRAM_GROUP};

static const struct commands_options {
    char none; /* it has no options of its own */
} commands_defaults;

static const struct myr_command commands_command = {
    .name = "commands",
    .operands = "",
    .summary = "list every verb with its options and variables, for programs",
    .example = "myriad commands -o json",
    .defaults = &commands_defaults,
    .values_bytes = sizeof(commands_defaults),
    .common = &cli_common_table,
};

static int run_commands(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {{"name", "COMMAND", 0, 0},
                                                       {"operands", "OPERANDS", 0, 0},
                                                       {"summary", "WHAT IT DOES", 0, 0}};
    (void)err;
    const struct myr_command *commands[VERBS_MAX];
    uint32_t count = all_commands(commands);
    struct myr_value *list = myr_answer_list(&cli->answer, "commands");
    for (uint32_t i = 0; i < count; i++) {
        myr_option_describe(commands[i], &cli->answer);
    }
    myr_answer_end(&cli->answer);
    myr_answer_table(&cli->answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(&cli->answer, list);
    return MYR_OK;
}

const struct cli_verb cli_commands_verb = {&commands_command, run_commands,
                                           .group = CLI_PROGRAM_GROUP};
