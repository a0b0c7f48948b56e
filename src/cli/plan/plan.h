/* plan: its sub-verbs, for the table of the verb, and what it shares with 'init spec'. */
#pragma once

#include "cli.h"
#include "myriad/plan/grow.h"
#include "myriad/plan/start.h"

/* Far more than a design may have nodes for. */
#define CLI_PLAN_GPUS_MAX 100000000

/* What a spec from a number of GPUs took for granted; NULL: nothing, the list is empty. */
const struct myr_value *cli_put_assumed(struct cli *cli, const struct myr_start_text *text);
void cli_show_assumed(struct cli *cli, const struct myr_value *list);

extern const struct myr_command cli_plan_audit_command, cli_plan_optimise_command;

/* What a crew is taken to do where nobody says; both options change it. */
enum { CLI_CABLES_A_DAY = 100, CLI_DEVICES_A_DAY = 12 };

/* Who installs it; the fields are crews, cables_a_day and devices_a_day. */
#define CLI_CREW_ROWS(holder)                                                                    \
    CLI_COUNT("crews", holder, crews, 0, 64,                                                     \
              "also write the order of installation, and what each crew pulls and tests a day"), \
        CLI_COUNT("cables-a-day", holder, cables_a_day, 1, 28800,                                \
                  "cables that a crew plugs on a day"),                                          \
        CLI_COUNT("devices-a-day", holder, devices_a_day, 1, 28800,                              \
                  "devices that a crew stands up on a day")

MYR_MUST_USE int cli_check_crews(const struct cli *cli, const char *out, struct myr_err *err);
