/*
 * case: a run as a file: the scenario as it was understood, the seed, and what came of it. Replay
 * runs it again and says whether the same came of it, byte for byte.
 */
#pragma once

#include "myriad/twin/run.h"

struct myr_twin_case {
    struct myr_scenario scenario;
    uint64_t seed, hash;
    bool stops;               /* the run ended where an invariant broke, as a search does it */
    enum myr_planted planted; /* tests only */
};

void myr_twin_case_write(const struct myr_scenario *scenario, const struct myr_twin_result *result,
                         struct myr_buf *ret);
MYR_MUST_USE int myr_twin_case_parse(struct myr_twin_case *ret, struct myr_arena *arena,
                                     const char *file, struct myr_str text, struct myr_err *err);
MYR_MUST_USE int myr_twin_case_read(struct myr_twin_case *ret, struct myr_arena *arena,
                                    const char *path, struct myr_err *err);
MYR_MUST_USE int myr_twin_replay(const struct myr_twin_case *it,
                                 void (*progress)(void *context, int64_t now_ms, int64_t length_ms),
                                 void *context, struct myr_twin_result *ret, struct myr_err *err);
void myr_twin_case_done(struct myr_twin_case *it);
