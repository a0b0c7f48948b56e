/* launch_pools: which of several kinds of GPUs a job is started on; private to the module. */
#pragma once

#include "myriad/study/launch_script.h"

/*
 * The pool that the job is best started on becomes the question's device and GPUs. Where pools
 * would have to share one job, 'why' of the answer says what no trainer can be told, and the case
 * stays the pools'.
 */
MYR_MUST_USE int launch_choose_pool(const struct myr_launch_question *question,
                                    struct myr_arena *arena, struct myr_case_question *of,
                                    struct myr_launch_answer *ret, struct myr_err *err);
