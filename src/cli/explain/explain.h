/* explain: its sub-verb, for the table of the verb. */
#pragma once

#include "cli.h"

extern const struct myr_command cli_explain_plan_command;
