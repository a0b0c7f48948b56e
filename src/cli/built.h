/* built: what 'verify' and 'bind' have in common: a design beside what was found of it. */
#pragma once

#include "cli.h"
#include "myriad/site.h"

enum { CLI_BUILT_NETS = MYR_NET_COUNT + 1 }; /* the last one: all of them */
extern const char *const cli_built_nets[CLI_BUILT_NETS];

struct cli_built_question {
    uint32_t from, net;                   /* a format; one of cli_built_nets */
    const char *binding;                  /* a file, or NULL */
    const struct myr_option_list *speeds; /* --speed-map's, or NULL */
    bool partial;
    struct myr_verify_options judge; /* networks and binding are filled in */
};

struct cli_built {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_binding binding;
    struct myr_verify verify;
};

/* The first operand is the design, the others say what was found. Close it in any case. */
MYR_MUST_USE int cli_built_open(struct cli_built *built, const struct myr_operands *operands,
                                const struct cli_built_question *question, struct myr_err *err);
void cli_built_close(struct cli_built *built);
