/*
 * world: what lies outside of the protocol: the clock, sleeping, and who is alive. The real one is
 * below; tests have one in which all members are in one process, time is a number, and a member can
 * die or be stopped at every access to shared memory.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ccl_world {
    void *context;
    int64_t (*now_ns)(void *context);
    /* Called before each access to shared memory that others can see. NULL in the real world. */
    void (*point)(void *context);
    /*
     * Nothing has come yet, and it is too early to sleep: the look of that number was in vain. The
     * one that is waited for may be on our core, so even where there are enough we step aside.
     */
    void (*relax)(void *context, uint32_t looks, bool crowded);
    /* Returns when woken, after 'timeout_ns', when '*word' is not 'seen', or for no reason. */
    void (*sleep)(void *context, _Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns);
    void (*wake)(void *context, _Atomic uint32_t *word);
    /*
     * Whether the process is gone for good. 'place' is an index below MYR_CCL_PLACES_MAX under
     * which the world may keep what it knows, 'owner' changes with who has the place.
     */
    bool (*gone)(void *context, uint32_t place, uint64_t owner, uint32_t pid, uint64_t start);
    uint32_t pid;
    uint64_t start; /* when this process began, in a unit of its own */
    uint32_t cores; /* that members on this machine can run on */
};

/* 'ret' is the caller's, and given back by ccl_world_done(). */
struct ccl_real;
struct ccl_real *ccl_real_create(struct ccl_world *ret);
void ccl_real_free(struct ccl_real *real);
