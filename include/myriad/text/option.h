/*
 * option: one row per setting, and everything else follows from the row.
 *
 * A command is a table of options plus a few words about itself. From it come: parsing of
 * "--name value", "--name=value", "-n value", "--flag", "--no-flag" and "--"; the environment
 * variable; --help; the man section; completion for bash, zsh and fish; "did you mean" for a wrong
 * name; and the echo of a question in its answer.
 *
 * A sub-verb is a command whose name has two words ("fit curve"): it has rows of its own, and an
 * option that is not among them is refused. Rows that many commands share (-o) are a table too,
 * 'common'.
 *
 * Values go into two structs of the caller, one for the command's own rows and one for the common
 * ones; a row says where ('at'). Both begin as copies of the defaults, so that nothing outlives a
 * call. Precedence: flag, environment, default. After a failed parse the structs may hold some of
 * the given values. Of an option given twice the last one counts; a list collects them all.
 *
 * The variable of "--gpus" of "fit curve" is MYRIAD_FIT_CURVE_GPUS; that of a common option is
 * MYRIAD_OUTPUT. An empty variable counts as absent; for a list it is one item, for a flag it is
 * true, false, 1, 0, yes, no, on or off. MYRIAD_GPUS, as variables were called once, is refused
 * with its new name: a setting that is ignored in silence gives a wrong answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

enum myr_option_type {
    MYR_OPTION_FLAG,   /* bool; --no-name unsets */
    MYR_OPTION_TEXT,   /* const char * */
    MYR_OPTION_PATH,   /* const char *, completes file names */
    MYR_OPTION_U64,    /* uint64_t within min..max */
    MYR_OPTION_CHOICE, /* uint32_t, index into choices */
    MYR_OPTION_LIST,   /* struct myr_option_list, may be given several times */
};

#define MYR_OPTION_LIST_MAX 64

struct myr_option_list {
    const char *items[MYR_OPTION_LIST_MAX];
    uint32_t count;
};

struct myr_option {
    const char *name; /* long name without dashes */
    char letter;      /* short name, or 0 */
    enum myr_option_type type;
    const char *value;          /* placeholder for help: "DIR" */
    const char *help;           /* one line */
    size_t at;                  /* offset in the struct of values */
    uint64_t min, max;          /* U64; max 0: no limit */
    const char *const *choices; /* CHOICE */
    uint32_t choice_count;
    bool writes; /* PATH: a file that is written, and so none that is read */
    bool folder; /* of one that is written: it may be a folder */
    bool prints; /* of one that is written: "-" has its text printed in place of the answer */
    bool young;  /* as of a command: its old name may be another program's variable */
    /* Of one that is written: the option whose file it may be all the same, brought up to date. */
    const char *renews;
    /*
     * Options without which it would be ignored (one is enough), and those beside which it would;
     * blanks between, or NULL. Refused where it was typed: a variable may stand for all calls.
     */
    const char *needs, *against;
    /* Names that the value may have (models, parts), blank between, for completion; or NULL. */
    void (*words)(struct myr_buf *buf);
};

/* The same of several options of a command, also of rows that it shares with others; 'options' are
 * their names, blanks between. 'alone': they say nothing beside an operand. */
struct myr_option_rule {
    const char *options, *needs, *against;
    bool alone;
};

/* Rows that many commands share. */
struct myr_option_table {
    const struct myr_option *rows;
    uint32_t count;
    const void *defaults; /* the struct that 'at' means */
};

struct myr_command {
    const char *name;     /* "plan", "fit curve" */
    const char *operands; /* "SPEC", "" for none */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for --help and man, or NULL */
    const char *example;  /* a command and what it does, shown by --help */
    const struct myr_option *options;
    uint32_t option_count;
    const struct myr_option_rule *rules; /* who needs whom, beside what the rows say */
    uint32_t rule_count;
    uint32_t operand_min, operand_max;
    bool young; /* came when variables had their new names: MYRIAD_SERVER means another program */
    const void *defaults; /* the struct that 'at' means, with the defaults */
    size_t values_bytes;  /* its size */
    const struct myr_option_table *common;
    /* Names that an operand may have, blank between, for completion; or NULL: file names. */
    void (*words)(struct myr_buf *buf);
    const struct myr_command *const *subcommands;
    uint32_t subcommand_count;
};

/* Where parsed values go. */
struct myr_option_values {
    void *own, *common;
};

#define MYR_OPERANDS_MAX 64

struct myr_operands {
    const char *items[MYR_OPERANDS_MAX];
    uint32_t count;
    bool help;      /* --help or -h was given: nothing else was checked */
    uint64_t typed; /* a bit for each of the command's own rows that the line itself gave */
};

/* 'argv' starts after the command's name. 'lookup_env' is getenv, or a test's own. */
MYR_MUST_USE int myr_option_parse(const struct myr_command *command, int argc,
                                  const char *const *argv,
                                  const char *(*lookup_env)(const char *name),
                                  const struct myr_option_values *values, struct myr_operands *ret,
                                  struct myr_err *err);

/* A line of a list of commands: its name and, from 'indent' on, its summary. */
void myr_option_overview(const struct myr_command *command, uint32_t indent, struct myr_buf *buf);
void myr_option_help(const struct myr_command *command, struct myr_buf *buf);
/* The command's section of the manual page, in scdoc's format. */
void myr_option_man(const struct myr_command *command, struct myr_buf *buf);
/* Text that scdoc takes literally. */
void myr_option_man_text(const char *text, struct myr_buf *buf);

enum myr_shell { MYR_SHELL_BASH, MYR_SHELL_ZSH, MYR_SHELL_FISH };

/* A whole completion script for the program and its commands. */
void myr_option_completion(enum myr_shell shell, const char *program,
                           const struct myr_command *const *commands, uint32_t count,
                           struct myr_buf *buf);
