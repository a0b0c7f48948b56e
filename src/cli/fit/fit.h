/* fit: the verbs that ask how a model trains. */
#pragma once

#include "case/case.h"

/* fit with --pool; 'pools' are its words. */
MYR_MUST_USE int cli_fit_pools(struct cli *cli, const struct myr_case_question *question,
                               const struct myr_option_list *pools, struct myr_err *err);

extern const struct cli_verb cli_fit_verb, cli_fit_curve_verb, cli_fit_validate_verb,
    cli_fit_calibrate_verb, cli_fit_compare_verb, cli_fit_constants_verb, cli_fit_models_verb,
    cli_fit_devices_verb, cli_fit_stacks_verb, cli_fit_why_verb, cli_fit_launch_verb;
/* The rows, for the verb above them. */
extern const struct myr_command cli_fit_curve_command, cli_fit_validate_command,
    cli_fit_calibrate_command, cli_fit_compare_command, cli_fit_constants_command,
    cli_fit_models_command, cli_fit_devices_command, cli_fit_stacks_command, cli_fit_why_command,
    cli_fit_launch_command;
