/*
 * pattern: an expression that finds the step in lines of programs that know nothing of us.
 *
 * It stands in a job file (progress.pattern). The server refuses by this rule what an agent would
 * refuse later by the same: a job that cannot start is told of when it is submitted.
 */
#pragma once

#include <regex.h>

#include "myriad/base.h"

struct myr_step_pattern {
    regex_t regex;
    bool ready;
};

/* Of POSIX's extended kind; its first group is the step. The message names no file. */
MYR_MUST_USE int myr_step_pattern_init(struct myr_step_pattern *pattern, const char *text,
                                       struct myr_err *err);
void myr_step_pattern_done(struct myr_step_pattern *pattern);
bool myr_step_pattern_match(const struct myr_step_pattern *pattern, const char *line,
                            uint64_t *ret_step);
