/*
 * cli: the myriad command. A folder a verb, a file a sub-verb; each is a row of the table in
 * verbs.c: its option rows (help, manual, completion and the echo of the question come from them)
 * and the function that runs it.
 *
 * A verb reads, asks a module, and fills the answer: it computes nothing and prints nothing. run.c
 * parses before it, owns its memory, and renders the answer behind it: data to stdout; hints,
 * warnings and progress to stderr. Exit status: 0 done, 1 the answer is no, 2 bad usage or input,
 * 3 the environment failed, 130 interrupted.
 */
#pragma once

#include <stddef.h>

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/text.h"

/* "0.2.0 (abcdef1)"; the build writes it (cmake/version.cmake). */
extern const char cli_version[];

/* Exit codes. */
enum { CLI_DONE = 0, CLI_NO = 1, CLI_BAD_INPUT = 2, CLI_FAILED = 3 };

/* The options that every verb with an answer has. */
struct cli_common {
    uint32_t format;    /* enum myr_format */
    uint32_t colour;    /* auto, always, never */
    bool timing, excel; /* print what it took; CSV with the mark that spreadsheets want */
    /* Of verbs that ask a server; NULL: not given. */
    const char *server, *token_file, *ca, *dir;
};
extern const struct myr_option_table cli_common_table, cli_client_table;

/* One run of one verb. */
struct cli {
    const struct myr_command *command;
    const void *options; /* the command's own values: cast to its struct */
    struct cli_common common;
    struct myr_operands operands;
    struct myr_arena arena;   /* lives until the answer is printed */
    struct myr_answer answer; /* opened with schema, version and question */
    struct myr_buf document;  /* printed as it is in place of an answer: scripts, exported files */
    bool no;                  /* the answer is no: exit status 1 */
};

/* A row of the table, and what runs it. */
struct cli_verb {
    const struct myr_command *row;
    /*
     * MYR_OK: there is an answer (or a document) to print; negative: there is none. NULL: the verb
     * is nothing by itself, only its sub-verbs are.
     */
    int (*run)(struct cli *cli, struct myr_err *err);
    const char *group; /* heading in the overview; NULL for a sub-verb */
    bool passes_on;    /* its words are for another program: none of them is an option of ours */
};

/* Headings of the overview. */
#define CLI_DESIGN_GROUP  "Design a cluster"
#define CLI_PROVE_GROUP   "Prove it"
#define CLI_BUILD_GROUP   "Build it"
#define CLI_RUN_GROUP     "Run it"
#define CLI_PROGRAM_GROUP "This program"

const struct cli_verb *const *cli_verbs(uint32_t *ret_count);

/* Runs the verb on the words behind its name, prints, and returns the exit code. */
int cli_run(const struct cli_verb *verb, int argc, const char *const *argv,
            const char *(*lookup_env)(const char *name));
/* Looks up the verb and runs it; overview, version and help are verbs here too. */
int cli_main(int argc, const char *const *argv, const char *(*lookup_env)(const char *name));

/*
 * Rows: CLI_COUNT("gpus", struct options, gpus, 1, 1 << 24, "how many") puts --gpus into the field
 * 'gpus' (a uint64_t) of the command's struct options.
 */
#define CLI_ROW(word, kind, placeholder, holder, field, says) \
    .name = word, .type = kind, .value = placeholder, .help = says, .at = offsetof(holder, field)
#define CLI_COUNT(word, holder, field, low, high, says)                                      \
    {                                                                                        \
        CLI_ROW(word, MYR_OPTION_U64, "N", holder, field, says), .min = (low), .max = (high) \
    }
#define CLI_TEXT(word, placeholder, holder, field, says)                 \
    {                                                                    \
        CLI_ROW(word, MYR_OPTION_TEXT, placeholder, holder, field, says) \
    }
/* 'names' lists the values for completion: void names(struct myr_buf *buf). */
#define CLI_NAME(word, placeholder, holder, field, names, says)                            \
    {                                                                                      \
        CLI_ROW(word, MYR_OPTION_TEXT, placeholder, holder, field, says), .words = (names) \
    }
#define CLI_PATH(word, placeholder, holder, field, says)                 \
    {                                                                    \
        CLI_ROW(word, MYR_OPTION_PATH, placeholder, holder, field, says) \
    }
/*
 * What is written: refused where it is one that is read, another that is written, or standard
 * output, where the answer goes.
 */
#define CLI_OUTPUT(word, placeholder, holder, field, says)                               \
    {                                                                                    \
        CLI_ROW(word, MYR_OPTION_PATH, placeholder, holder, field, says), .writes = true \
    }
#define CLI_OUTPUT_FOLDER(word, placeholder, holder, field, says)                         \
    {                                                                                     \
        CLI_ROW(word, MYR_OPTION_PATH, placeholder, holder, field, says), .writes = true, \
                                                                          .folder = true  \
    }
#define CLI_FLAG(word, holder, field, says)                       \
    {                                                             \
        CLI_ROW(word, MYR_OPTION_FLAG, NULL, holder, field, says) \
    }
#define CLI_LIST(word, placeholder, holder, field, says)                 \
    {                                                                    \
        CLI_ROW(word, MYR_OPTION_LIST, placeholder, holder, field, says) \
    }
#define CLI_CHOICE(word, placeholder, holder, field, names, says)           \
    {                                                                       \
        CLI_ROW(word, MYR_OPTION_CHOICE, placeholder, holder, field, says), \
            .choices = (names), .choice_count = MYR_ARRAY_COUNT(names)      \
    }
/* Who needs whom among its options, where rows alone cannot say it. */
#define CLI_RULES(list) .rules = (list), .rule_count = MYR_ARRAY_COUNT(list)
/* The end of a command's row: its options, their struct with the defaults, the common ones. */
#define CLI_OPTIONS(table, values)                                                     \
    .options = (table), .option_count = MYR_ARRAY_COUNT(table), .defaults = &(values), \
    .values_bytes = sizeof(values), .common = &cli_common_table
/* The same of a verb that asks a server. */
#define CLI_CLIENT_OPTIONS(table, values)                                              \
    .options = (table), .option_count = MYR_ARRAY_COUNT(table), .defaults = &(values), \
    .values_bytes = sizeof(values), .common = &cli_client_table

/* Whether writing one would change the other, however they are spelled; one may not be there. */
bool cli_same_file(const char *a, const char *b);
/* The path from the root on, as far as its folder is there; it may be relative otherwise. */
const char *cli_whole_path(struct myr_arena *arena, const char *path);
/* Of all that is written nothing is read, and nothing is written twice; 'err' names the two. */
MYR_MUST_USE int cli_check_outputs(const struct cli *cli, struct myr_err *err);

/* Behind a word that is counted. */
static inline const char *cli_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Progress on stderr for work that may take more than a second; done by cleanup. */
void cli_progress(struct myr_progress *progress, const char *what, uint64_t total);
void cli_progress_step(struct myr_progress *progress, uint64_t done);

/*
 * What was asked, as it would be typed, for a line "next:": nothing that decided the answer may be
 * missing there. 'to' is the command itself or another one that takes over what it has too.
 */
static inline const char *cli_again(struct cli *cli, const struct myr_command *to,
                                    const char *without)
{
    return myr_option_again(cli->command, cli->options, &cli->operands, to, without, &cli->answer);
}

/* The same with other operands: 'to' reads what was made, or nothing. */
static inline const char *cli_again_on(struct cli *cli, const struct myr_command *to,
                                       const struct myr_operands *operands, const char *without)
{
    return myr_option_again(cli->command, cli->options, operands, to, without, &cli->answer);
}

/* Whether the option says something else than its default. */
static inline bool cli_given(const struct cli *cli, const char *name)
{
    return myr_option_given(cli->command, cli->options, name);
}

/* Whether it was typed, and says something else than its default. */
static inline bool cli_typed(const struct cli *cli, const char *name)
{
    return myr_option_typed(cli->command, cli->options, &cli->operands, name);
}

/* Prints the error in the house's form and returns the exit code for it. */
int cli_error(const struct myr_err *err);
/* A line on stderr that nobody should overlook. */
MYR_PRINTF(1, 2)
void cli_warn(const char *fmt, ...);
/* Writes a buffer to stdout; CLI_FAILED when that fails (a closed pipe is no failure). */
int cli_print(const struct myr_buf *buf);

/*
 * The list 'inputs': files that other inputs named, such as the room of a spec. Operands and
 * options are echoed in the question, and these nowhere else.
 */
void cli_put_inputs(struct cli *cli, const struct myr_named_files *lists, uint32_t count);

/* The built-in catalogue plus the user's files. */
MYR_MUST_USE int cli_catalog(struct myr_catalog *catalog, struct myr_arena *arena,
                             const struct myr_option_list *files, struct myr_err *err);

extern const struct cli_verb cli_plan_audit_verb, cli_plan_diff_verb, cli_plan_optimise_verb,
    cli_init_spec_verb;
extern const struct cli_verb cli_explain_plan_verb;
extern const struct myr_command cli_init_spec_command, cli_plan_grow_command;
extern const struct cli_verb cli_plan_verb, cli_plan_grow_verb, cli_design_verb, cli_catalog_verb;
extern const struct cli_verb cli_design_apply_verb;
extern const struct myr_command cli_design_apply_command;
extern const struct cli_verb cli_export_verb, cli_verify_verb, cli_verify_orders_verb,
    cli_bind_verb;
extern const struct cli_verb cli_sched_verb, cli_sched_place_verb, cli_sched_replay_verb,
    cli_sched_rehearse_verb;
extern const struct cli_verb cli_twin_verb, cli_twin_run_verb, cli_twin_replay_verb,
    cli_twin_search_verb;
extern const struct cli_verb cli_whatif_verb, cli_explain_verb;
extern const struct cli_verb cli_init_verb, cli_serve_verb, cli_relay_verb;
extern const struct cli_verb cli_commands_verb, cli_completion_verb, cli_man_verb;

extern const struct cli_verb cli_route_verb, cli_route_failover_verb, cli_route_degraded_verb,
    cli_route_blast_verb, cli_route_tables_verb, cli_route_apply_verb, cli_route_found_verb,
    cli_path_verb;
extern const struct cli_verb cli_sim_verb, cli_sim_contention_verb, cli_sim_resume_verb,
    cli_sim_sweep_verb, cli_sim_compare_verb;
extern const struct cli_verb cli_compare_verb;
