/* plan: its sub-verbs, for the table of the verb, and what it shares with 'init spec'. */
#pragma once

#include "cli.h"
#include "myriad/plan/start.h"

/* Far more than a design may have nodes for. */
#define CLI_PLAN_GPUS_MAX 100000000

/* What a spec from a number of GPUs took for granted; NULL: nothing, the list is empty. */
const struct myr_value *cli_put_assumed(struct cli *cli, const struct myr_start_text *text);
void cli_show_assumed(struct cli *cli, const struct myr_value *list);

extern const struct myr_command cli_plan_audit_command;
