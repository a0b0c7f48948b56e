/* told: what the controller hears of a run: that it is up, how far it is, how it has ended. */
#pragma once

#include "runs.h"

/* STARTED or STOPPED. */
void run_report(struct runs *runs, enum myr_wire_type type, uint64_t job, uint32_t epoch,
                uint32_t code, struct myr_str text);
/* It is over, and nobody watches it any more. */
void run_tell_ending(struct run *run, const struct ending *ending);
/* The step that its files tell of, if that is news. */
void run_tell_step(struct run *run);
/* Once, that processes of it do not die. */
void run_tell_stuck(struct run *run);
