/*
 * cli: the myriad command. One file a verb; each verb is a row of the table in main.c: its option
 * table (help, man page and completion come from it) and the function that runs it.
 *
 * Data goes to stdout; hints, warnings and progress to stderr. A verb returns the exit code: 0
 * done, 1 the answer is no, 2 bad usage or input, 3 the environment failed.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/text.h"

/* Exit codes. */
enum { CLI_DONE = 0, CLI_NO = 1, CLI_BAD_INPUT = 2, CLI_FAILED = 3 };

/* -o FORMAT: every verb that prints a result has it. */
#define CLI_OUTPUT_OPTION(format)                                                            \
    {                                                                                        \
        .name = "output", .letter = 'o', .type = MYR_OPTION_CHOICE, .value = "FORMAT",       \
        .help = "how to print the result", .target = &(format), .choices = myr_format_names, \
        .choice_count = MYR_FORMAT_COUNT                                                     \
    }

struct cli_verb {
    /* Sets up the options (with their defaults) and the words about them. */
    const struct myr_command *(*command)(void);
    int (*run)(const struct myr_operands *operands);
    const char *group; /* heading in the overview */
};

const struct cli_verb *cli_verbs(uint32_t *ret_count);

/* Prints the error in the house's form and returns the exit code for it. */
int cli_error(const struct myr_err *err);
/* Writes a buffer to stdout; CLI_FAILED when that fails (a closed pipe is no failure). */
int cli_print(const struct myr_buf *buf);

/* The built-in catalogue plus the user's files. */
MYR_MUST_USE int cli_catalog(struct myr_catalog *catalog, struct myr_arena *arena,
                             const struct myr_option_list *files, struct myr_err *err);

const struct myr_command *cli_plan_command(void);
int cli_plan(const struct myr_operands *operands);
const struct myr_command *cli_design_command(void);
int cli_design(const struct myr_operands *operands);
const struct myr_command *cli_catalog_command(void);
int cli_catalog_run(const struct myr_operands *operands);
const struct myr_command *cli_route_command(void);
int cli_route(const struct myr_operands *operands);
const struct myr_command *cli_path_command(void);
int cli_path(const struct myr_operands *operands);
const struct myr_command *cli_sim_command(void);
int cli_sim(const struct myr_operands *operands);
const struct myr_command *cli_goodput_command(void);
int cli_goodput(const struct myr_operands *operands);
const struct myr_command *cli_bench_command(void);
int cli_bench(const struct myr_operands *operands);
const struct myr_command *cli_fit_command(void);
int cli_fit(const struct myr_operands *operands);
const struct myr_command *cli_export_command(void);
int cli_export(const struct myr_operands *operands);
const struct myr_command *cli_verify_command(void);
int cli_verify(const struct myr_operands *operands);
const struct myr_command *cli_bind_command(void);
int cli_bind(const struct myr_operands *operands);
const struct myr_command *cli_sched_command(void);
int cli_sched(const struct myr_operands *operands);
const struct myr_command *cli_completion_command(void);
int cli_completion(const struct myr_operands *operands);
const struct myr_command *cli_man_command(void);
int cli_man(const struct myr_operands *operands);
