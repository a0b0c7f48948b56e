#include "myriad/base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first suits a small request; doubling ends where a block's waste would begin to show. */
enum {
    FIRST_BLOCK_BYTES = 16 * 1024,
    LAST_BLOCK_BYTES = 4 * 1024 * 1024,
};

struct myr_arena_block {
    struct myr_arena_block *older;
    size_t used; /* bytes given out, from the front; 0 in the own block of a big piece */
    size_t size;
    max_align_t data[];
};

/* Sizes from outside were checked before (mem.h): what is left is a machine without memory. */
static MYR_NORETURN void out_of_memory(size_t bytes)
{
    fprintf(stderr, "myriad: out of memory (wanted %zu bytes)\n", bytes);
    exit(3);
}

void myr_arena_init(struct myr_arena *arena)
{
    *arena = (struct myr_arena){.next_block_bytes = FIRST_BLOCK_BYTES};
}

void myr_arena_done(struct myr_arena *arena)
{
    struct myr_arena_block *block = arena->blocks;
    while (block) {
        struct myr_arena_block *older = block->older;
        free(block);
        block = older;
    }
    myr_arena_init(arena);
}

/* The newest block is kept, which is the largest of those that were doubled. */
void myr_arena_clear(struct myr_arena *arena)
{
    struct myr_arena_block *newest = arena->blocks;
    if (!newest) {
        return;
    }
    while (newest->older) {
        struct myr_arena_block *older = newest->older;
        newest->older = older->older;
        arena->total_bytes -= older->size;
        free(older);
    }
    memset(newest->data, 0, newest->used); /* what is given out is zeroed */
    newest->used = 0;
    MYR_ASSERT(arena->total_bytes == newest->size);
}

static struct myr_arena_block *block_new(struct myr_arena *arena, size_t bytes)
{
    /* calloc: large blocks come zeroed from the system without being touched. */
    struct myr_arena_block *block = calloc(1, sizeof(*block) + bytes);
    if (!block) {
        out_of_memory(bytes);
    }
    block->size = bytes;
    arena->total_bytes += bytes;
    MYR_ASSERT(arena->total_bytes >= bytes);
    return block;
}

void *myr_arena_alloc(struct myr_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    MYR_ASSERT(!__builtin_mul_overflow(count, size, &bytes));
    MYR_ASSERT(bytes <= SIZE_MAX / 2);
    /* Rounded up, so that what comes next is aligned for any type too. */
    bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

    struct myr_arena_block *block = arena->blocks;
    MYR_ASSERT(!block || block->used <= block->size);
    if (block && bytes <= block->size - block->used) {
        void *memory = (unsigned char *)block->data + block->used;
        block->used += bytes;
        return memory;
    }
    if (arena->next_block_bytes == 0) {
        arena->next_block_bytes = FIRST_BLOCK_BYTES; /* a zeroed arena works too */
    }
    if (bytes > arena->next_block_bytes / 2 && block) {
        /* A big piece goes behind the newest block, which stays open for small ones. */
        struct myr_arena_block *own = block_new(arena, bytes); /* nothing is ever added to it */
        own->older = block->older;
        block->older = own;
        return own->data;
    }
    struct myr_arena_block *fresh =
        block_new(arena, bytes > arena->next_block_bytes ? bytes : arena->next_block_bytes);
    MYR_ASSERT(fresh->size >= bytes && fresh->used == 0);
    fresh->older = block;
    fresh->used = bytes;
    arena->blocks = fresh;
    if (arena->next_block_bytes < LAST_BLOCK_BYTES) {
        arena->next_block_bytes *= 2;
    }
    return fresh->data;
}

char *myr_arena_strndup(struct myr_arena *arena, const char *text, size_t len)
{
    char *copy = myr_arena_alloc(arena, len + 1, 1);
    if (len > 0) { /* borrowed empty text may be NULL */
        memcpy(copy, text, len);
    }
    return copy;
}

/* Of any length; it lives as long as the arena. */
const char *myr_arena_printf(struct myr_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    /* Printed twice, for the length and into its place; a va_list can be walked only once. */
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    MYR_ASSERT(len >= 0);
    char *text = myr_arena_alloc(arena, (size_t)len + 1, 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

void *myr_xrealloc(void *memory, size_t count, size_t size)
{
    size_t bytes;
    MYR_ASSERT(!__builtin_mul_overflow(count, size, &bytes));
    /* NULL for 0 bytes is no failure: the memory was freed. */
    void *grown = realloc(memory, bytes);
    if (!grown && bytes > 0) {
        out_of_memory(bytes);
    }
    return grown;
}

void *myr_xcalloc(size_t count, size_t size)
{
    size_t bytes;
    MYR_ASSERT(!__builtin_mul_overflow(count, size, &bytes));
    void *memory = calloc(1, bytes ? bytes : 1); /* a pointer, even to nothing */
    if (!memory) {
        out_of_memory(bytes);
    }
    return memory;
}
