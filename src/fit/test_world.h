/* What tests of fit start from: the shipped profiles, and an arena for models. */
#pragma once

#include "myriad/fit.h"

static struct myr_arena arena;
static struct myr_profiles profiles;

static inline int open_world(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return myr_profiles_init(&profiles, &arena, NULL);
}

static inline int close_world(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}
