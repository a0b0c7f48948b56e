/*
 * vec: a typed growing array on the heap.
 *
 *     MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) ids = {0};
 *     myr_vec_push(&ids, 7);
 *     for (size_t i = 0; i < ids.count; i++) { use(ids.items[i]); }
 *
 * A vector that lives in a struct is released by myr_vec_done() in that struct's own 'done'. A push
 * may move the items: no pointer to one is kept across it.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "myriad/base/mem.h"

#define MYR_VEC(type)    \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }

/* At least 'wanted' places; at least doubled when it grows. Used through the macros below. */
static inline void *myr_vec_fit(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    if (wanted <= *capacity) {
        return items;
    }
    size_t doubled = *capacity ? *capacity * 2 : 8;
    *capacity = doubled < wanted ? wanted : doubled;
    return myr_xrealloc(items, *capacity, item_size);
}

#define myr_vec_reserve(vec, wanted) \
    ((void)((vec)->items =           \
                myr_vec_fit((vec)->items, &(vec)->capacity, (wanted), sizeof(*(vec)->items))))

#define myr_vec_push(vec, ...) \
    (myr_vec_reserve((vec), (vec)->count + 1), (void)((vec)->items[(vec)->count++] = (__VA_ARGS__)))

#define myr_vec_done(vec) \
    (free((vec)->items), (vec)->items = NULL, (void)((vec)->count = (vec)->capacity = 0))

/*
 * For MYR_CLEANUP on a vector of any type. 'items' comes first in all of them, so the vector's
 * address is that of the pointer to be freed.
 */
static inline void myr_vec_free_at(void *vec)
{
    myr_free_at(vec);
}
