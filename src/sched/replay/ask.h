/* ask: the two halves of a replay's answer, for who reads a trace once and plays it several times.
 */
#pragma once

#include "myriad/sched/replay_answer.h"

/* The cluster, the trace without jobs that fit nowhere, and whose they are. */
MYR_MUST_USE int replay_ask_read(const struct myr_replay_question *question,
                                 struct myr_replay_answer *ret, struct myr_tenant **ret_tenants,
                                 struct myr_err *err);
/* What was read, played by the question's policy; what it found before is gone. */
MYR_MUST_USE int replay_ask_play(const struct myr_replay_question *question,
                                 const struct myr_tenant *tenants, struct myr_arena *arena,
                                 struct myr_replay_answer *ret, struct myr_err *err);
