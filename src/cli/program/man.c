/*
 * man: the manual, written from the option rows. One page for the program and one for each verb,
 * with its sub-verbs: what --help says, where people look for it. The build renders all of them.
 */
#include "cli.h"

struct options {
    bool list;
};
static const struct options defaults = {0};

static const struct myr_option rows[] = {
    CLI_FLAG("list", struct options, list, "print the names of all pages instead"),
};

static void put_verbs(struct myr_buf *buf)
{
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (verbs[i]->group) {
            myr_buf_printf(buf, "%s%s", i > 0 ? " " : "", verbs[i]->row->name);
        }
    }
}

static const struct myr_command man_command = {
    .name = "man",
    .operands = "[VERB]",
    .summary = "print a page of the manual in scdoc's format",
    .details = "Without a verb, the page of the program, myriad(1); with one, the page of that "
               "verb, such as myriad-plan(1). An installation has all of them rendered.",
    .example = "myriad man plan | scdoc | man -l -",
    .operand_max = 1,
    .options = rows,
    .option_count = MYR_ARRAY_COUNT(rows),
    .defaults = &defaults,
    .values_bytes = sizeof(defaults),
    .words = put_verbs,
};

/* The same on every page, and in docs/command.md. */
static void put_exit_status(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "# EXIT STATUS\n\n"
                         "*0*\n\tDone.\n\n"
                         "*1*\n\tThe answer is no: it does not fit, is not as planned, breaks a "
                         "rule.\n\n"
                         "*2*\n\tThe command line or a file is wrong; nothing was written.\n\n"
                         "*3*\n\tThe environment failed: a file could not be written, memory ran "
                         "out.\n\n"
                         "*130*\n\tInterrupted.\n\n");
}

static void put_program(struct myr_buf *buf)
{
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    myr_buf_put_lit(
        buf, "myriad(1)\n\n# NAME\n\nmyriad - design, prove and schedule training clusters\n\n"
             "# SYNOPSIS\n\n*myriad* _verb_ [options]\n\n"
             "# FIRST STEPS\n\n```\nmyriad plan examples/h100-64.yaml\n"
             "myriad plan examples/h100-64.yaml --out out/h100-64\n"
             "myriad design out/h100-64/design.myr\n```\n\n"
             "# VERBS\n\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *command = verbs[i]->row;
        if (verbs[i]->group) {
            myr_buf_printf(buf, "*myriad-%s*(1)\n\t", command->name);
            myr_option_man_text(command->summary, buf);
            myr_buf_put_lit(buf, "\n\n");
        }
    }
    put_exit_status(buf);
    myr_buf_put_lit(
        buf, "# ENVIRONMENT\n\n"
             "Each option has a variable, MYRIAD\\_VERB\\_OPTION (MYRIAD\\_FIT\\_CURVE\\_GPUS for "
             "*myriad fit curve --gpus*), used where the option is not given. For all verbs: "
             "*MYRIAD\\_OUTPUT*, *MYRIAD\\_COLOR*, *MYRIAD\\_TIMING*, *MYRIAD\\_EXCEL*. "
             "*NO\\_COLOR* and *COLUMNS* are heeded.\n");
}

/* The verb itself and its sub-verbs, each with its own options. */
static void put_verb(const struct myr_command *verb, bool runs, struct myr_buf *buf)
{
    myr_buf_printf(buf, "myriad-%s(1)\n\n# NAME\n\nmyriad-%s - ", verb->name, verb->name);
    myr_option_man_text(verb->summary, buf);
    myr_buf_put_lit(buf, "\n\n# COMMANDS\n\n");
    if (runs) {
        myr_option_man(verb, buf);
    }
    for (uint32_t i = 0; i < verb->subcommand_count; i++) {
        myr_option_man(verb->subcommands[i], buf);
    }
    put_exit_status(buf);
    myr_buf_put_lit(buf, "# SEE ALSO\n\n*myriad*(1)\n");
}

static int run_man(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    struct myr_buf *buf = &cli->document;
    const char *word = cli->operands.count > 0 ? cli->operands.items[0] : NULL;
    if (options->list) {
        myr_buf_put_lit(buf, "myriad\n");
    } else if (!word) {
        put_program(buf);
        return MYR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *command = verbs[i]->row;
        if (!verbs[i]->group) {
            continue;
        }
        if (options->list) {
            myr_buf_printf(buf, "myriad-%s\n", command->name);
        } else if (strcmp(word, command->name) == 0) {
            put_verb(command, verbs[i]->run, buf);
            return MYR_OK;
        }
    }
    if (options->list) {
        return MYR_OK;
    }
    myr_err_hint(err, "myriad --help");
    return myr_err_set(err, MYR_EINVAL, "no verb '%.40s', so no page about it", word);
}

const struct cli_verb cli_man_verb = {&man_command, run_man, .group = CLI_PROGRAM_GROUP};
