/* What the fuzzers of fit share: the shipped profiles, read once. */
#pragma once

#include "fuzz.h"
#include "myriad/fit.h"

static inline const struct myr_profiles *fuzz_profiles(void)
{
    static struct myr_arena arena;
    static struct myr_profiles profiles;
    static bool ready;
    struct myr_err err;
    if (!ready) {
        myr_arena_init(&arena);
        int rc = myr_profiles_init(&profiles, &arena, &err);
        MYR_ASSERT(rc == MYR_OK);
        ready = true;
    }
    return &profiles;
}
