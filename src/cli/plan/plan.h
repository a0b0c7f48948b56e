/* plan: its sub-verbs, for the table of the verb. */
#pragma once

#include "cli.h"

extern const struct myr_command cli_plan_audit_command;
