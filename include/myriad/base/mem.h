/*
 * mem: arenas. Memory belongs to a lifetime (a plan, a simulation, a request) and is freed whole.
 *
 * Blocks double in size, so the cost of an allocation is a few instructions and the waste stays
 * below half; a request larger than a block gets a block of its own. Everything comes out zeroed
 * and aligned for any type. Sizes that come from a user are checked against a named limit by the
 * caller first; after that, running out of memory stops the program with a clear line.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/base/err.h"

struct myr_arena_block;

struct myr_arena {
    struct myr_arena_block *blocks; /* newest first */
    size_t next_block_bytes;
    size_t total_bytes; /* taken from the system */
};

void myr_arena_init(struct myr_arena *arena);

/* Frees everything; the arena is then as after init. Accepts a zeroed struct. */
void myr_arena_done(struct myr_arena *arena);

/* Empty again, but with its newest block at hand: for a loop that fills it anew each time. */
void myr_arena_clear(struct myr_arena *arena);

/* Zeroed memory that lives as long as the arena. Never NULL. 'count * size' must not overflow. */
void *myr_arena_alloc(struct myr_arena *arena, size_t count, size_t size);
char *myr_arena_strndup(struct myr_arena *arena, const char *text, size_t len);
MYR_PRINTF(2, 3)
const char *myr_arena_printf(struct myr_arena *arena, const char *fmt, ...);

#define MYR_ARENA_NEW(arena, type, count) ((type *)myr_arena_alloc((arena), (count), sizeof(type)))
#define MYR_ARENA_ONE(arena, type)        MYR_ARENA_NEW(arena, type, 1)

/* Heap memory for what grows; the new part is not zeroed. Stops the program when there is none. */
void *myr_xrealloc(void *memory, size_t count, size_t size);
/* The same, fresh and zeroed. */
void *myr_xcalloc(size_t count, size_t size);

/*
 * For MYR_CLEANUP on a pointer to such memory, of any type: 'pointer' is the variable's address.
 * Copied bytewise, because a uint32_t * may not be read as a void *.
 */
static inline void myr_free_at(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof(memory));
    free(memory);
}
