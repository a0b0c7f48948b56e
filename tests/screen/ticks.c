/*
 * Loaded in front of the whole program (LD_PRELOAD): a clock that goes on by TICK_MS at each look
 * at it, whichever clock is asked for. So what the program says of time is the same in every run,
 * and a question of milliseconds passes through all that one of hours would show.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The build hides what is not marked. */
#define FOR_ALL __attribute__((visibility("default")))

static const int64_t SECOND_NS = 1000000000;
static _Atomic int64_t looks;

FOR_ALL int clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t tick_ms = 0;
    for (const char *digit = getenv("TICK_MS"); *digit; digit++) {
        tick_ms = 10 * tick_ms + *digit - '0';
    }
    int64_t ns = (++looks) * tick_ms * 1000000;
    (void)clock;
    *now = (struct timespec){.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
    return 0;
}
