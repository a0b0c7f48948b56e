/* plan: its sub-verbs, for the table of the verb, and what it shares with 'init spec'. */
#pragma once

#include "cli.h"
#include "myriad/plan/grow.h"
#include "myriad/plan/start.h"
#include "myriad/study/acceptance.h"

/* Far more than a design may have nodes for. */
#define CLI_PLAN_GPUS_MAX 100000000

/* What a spec from a number of GPUs took for granted; NULL: nothing, the list is empty. */
const struct myr_value *cli_put_assumed(struct cli *cli, const struct myr_start_text *text);
void cli_show_assumed(struct cli *cli, const struct myr_value *list);

/* What plans and their files are made in, step by step; shown on a terminal alone. */
struct cli_plan_steps {
    struct myr_progress progress;
    uint64_t done;
};
/* 'total' may be too low: the steps of a plan that is made again come on top. */
struct myr_plan_listener cli_plan_steps_begin(struct cli_plan_steps *steps, uint64_t total);
void cli_plan_steps_end(struct cli_plan_steps *steps);

extern const struct myr_command cli_plan_audit_command, cli_plan_diff_command,
    cli_plan_optimise_command;

/* What a crew is taken to do where nobody says; both options change it. */
enum { CLI_CABLES_A_DAY = 100, CLI_DEVICES_A_DAY = 12 };

/* Who installs it; the fields are crews, cables_a_day and devices_a_day. */
/* Sheets without a place to put them are none. */
#define CLI_CREW_ROWS(holder)                                                                   \
    {CLI_ROW("crews", MYR_OPTION_U64, "N", holder, crews,                                       \
             "also write the order of installation, and what each crew pulls and tests a day"), \
     .max = 64, .needs = "out"},                                                                \
        {CLI_ROW("cables-a-day", MYR_OPTION_U64, "N", holder, cables_a_day,                     \
                 "cables that a crew plugs on a day"),                                          \
         .min = 1, .max = 28800, .needs = "crews"},                                             \
    {                                                                                           \
        CLI_ROW("devices-a-day", MYR_OPTION_U64, "N", holder, devices_a_day,                    \
                "devices that a crew stands up on a day"),                                      \
            .min = 1, .max = 28800, .needs = "crews"                                            \
    }

/* Targets of acceptance (study/acceptance.h): options of 'plan' and 'explain plan'. */
struct cli_acceptance {
    bool wanted;
    const char *model;
    uint64_t batch;
};
#define CLI_ACCEPTANCE_ROWS(holder, of)                                              \
    {CLI_ROW("acceptance", MYR_OPTION_FLAG, NULL, holder, of.wanted,                 \
             "targets of acceptance that are simulated and fitted, for the report"), \
     .young = true},                                                                 \
        {CLI_ROW("model", MYR_OPTION_TEXT, "NAME", holder, of.model,                 \
                 "with --acceptance: the model whose step is a target"),             \
         .young = true, .needs = "acceptance"},                                      \
    {                                                                                \
        CLI_ROW("batch", MYR_OPTION_U64, "N", holder, of.batch,                      \
                "with --model: sequences of a step"),                                \
            .min = 1, .max = 1 << 24, .young = true, .needs = "model"                \
    }
/* NULL in 'ret' where none are wanted. */
MYR_MUST_USE int cli_acceptance_targets(struct cli *cli, const struct myr_catalog *catalog,
                                        const struct cli_acceptance *of,
                                        const struct myr_design *design,
                                        const struct myr_plan_targets **ret, struct myr_err *err);
