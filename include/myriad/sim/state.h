/*
 * state: a run that is stopped, kept and taken up again.
 *
 * What changes in a run is flat arrays that name each other by number; no pointer is in any of
 * them. One image holds them all: copied, written to a file, and loaded into an engine that was
 * prepared by the same question, it goes on as if it had never stopped, to the last bit. What does
 * not change (fabric, tasks, what they wait for) is not believed but compared by a digest.
 */
#pragma once

#include "myriad/sim/engine.h"

/*
 * Everything up to this moment, and nothing after it; then 'ret_over' says whether all is done.
 * Called again with a later moment, or myr_sim_run(), it goes on from there.
 */
MYR_MUST_USE int myr_sim_run_until(struct myr_sim *sim, myr_ps at, bool *ret_over,
                                   struct myr_err *err);
/* The time of the engine's clock. */
myr_ps myr_sim_now(const struct myr_sim *sim);

/* Appends the image of a run that was stopped. */
void myr_sim_save(const struct myr_sim *sim, struct myr_buf *ret);
/*
 * Before the run of an engine with the same fabric, tasks and faults. A damaged image, or one of
 * another question, is refused; the engine can then only be freed.
 */
MYR_MUST_USE int myr_sim_load(struct myr_sim *sim, struct myr_str image, struct myr_err *err);
