/* The order of installation: what is stood, unplugged and plugged when, and by whom. */
#pragma once

#include "grow/grow_internal.h"

enum install_action {
    INSTALL_STAND,  /* a device into its rack */
    INSTALL_REMOVE, /* a cable that is left over */
    INSTALL_MOVE,
    INSTALL_UNPLUG, /* a cable that waits for the port of another that waits for its own */
    INSTALL_PLUG,   /* and its end; or a leg that hung loose */
    INSTALL_PULL,   /* a new cable */
};

extern const char *const install_action_names[];

struct install_task {
    uint8_t action;
    uint32_t what;           /* a device of the grown design, or a cable; of a removal its move */
    uint32_t crew;           /* from 0 */
    uint64_t start_s, end_s; /* working time */
};

/* 'days' are counted up to the last in which something begins. */
struct install {
    struct install_task *tasks;
    uint32_t count; /* of tasks */
    uint32_t days;
};

/*
 * A day of eight hours; what a crew does in one is given by the caller (docs/planning.md, Growth).
 */
enum { INSTALL_DAY_S = 8 * 3600 };

/* The working day of a task, from 0. */
static inline uint32_t install_day(const struct install_task *task)
{
    return (uint32_t)(task->start_s / INSTALL_DAY_S);
}

/* 'growth' tells what stands already; the tasks lie in 'arena', in the order of their starts. */
void install_plan(const struct myr_growth *growth, struct myr_grow_crews crews,
                  struct myr_arena *arena, struct install *ret);
/* The move of a cable of the grown design; MYR_NONE: it is new. */
uint32_t *install_moves(const struct myr_growth *growth, struct myr_arena *arena);
