/*
 * option: one row per setting, and everything else follows from the row.
 *
 * A command is a table of options plus a few words about itself. From it come: parsing of
 * "--name value", "--name=value", "-n value", "--flag", "--no-flag" and "--" ; the environment
 * variable (MYRIAD_ + upper-case name) as the value when the flag is absent; --help; the man
 * section; completion for bash, zsh and fish; "did you mean" for a wrong name.
 *
 * Precedence: flag, environment, default. Parsed values are written through 'target'; after a
 * failed parse the targets may hold some of the given values. Of an option given twice the last one
 * counts; a list collects them all. An empty variable counts as absent; for a list it is one item,
 * for a flag it is true, false, 1, 0, yes, no, on or off.
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
    void *target;               /* where the value goes; holds the default before parsing */
    uint64_t min, max;          /* U64; max 0: no limit */
    const char *const *choices; /* CHOICE */
    uint32_t choice_count;
};

struct myr_command {
    const char *name;     /* "plan" */
    const char *operands; /* "SPEC", "" for none */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for --help and man, or NULL */
    const char *example;  /* a command and what it does, shown by --help */
    const struct myr_option *options;
    uint32_t option_count;
    uint32_t operand_min, operand_max;
};

#define MYR_OPERANDS_MAX 64

struct myr_operands {
    const char *items[MYR_OPERANDS_MAX];
    uint32_t count;
    bool help; /* --help or -h was given: nothing else was checked */
};

/* 'argv' starts after the command's name. 'lookup_env' is getenv, or a test's own. */
MYR_MUST_USE int myr_option_parse(const struct myr_command *command, int argc,
                                  const char *const *argv,
                                  const char *(*lookup_env)(const char *name),
                                  struct myr_operands *ret, struct myr_err *err);

void myr_option_help(const struct myr_command *command, struct myr_buf *buf);
/* The command's section of the manual page, in scdoc's format. */
void myr_option_man(const struct myr_command *command, struct myr_buf *buf);

enum myr_shell { MYR_SHELL_BASH, MYR_SHELL_ZSH, MYR_SHELL_FISH };

/* A whole completion script for the program and its commands. */
void myr_option_completion(enum myr_shell shell, const char *program,
                           const struct myr_command *const *commands, uint32_t count,
                           struct myr_buf *buf);
