/* twin: what its sub-verbs share. */
#pragma once

#include "cli.h"
#include "myriad/twin.h"

extern const struct myr_command twin_run_command, twin_replay_command, twin_search_command;

/* The figures of one run, for programs (returns the list of what happened) and for people. */
struct myr_value *twin_put_result(struct myr_answer *answer, const struct myr_twin_result *result);
void twin_show_result(struct myr_answer *answer, const struct myr_twin_result *result);

/* Progress by simulated time; the context is a struct myr_progress. */
void twin_progress(void *context, int64_t now_ms, int64_t length_ms);
