/*
 * vec: a typed growing array on the heap.
 *
 *     MYR_VEC(uint32_t) ids = {0};
 *     myr_vec_push(&ids, 7);
 *     for (size_t i = 0; i < ids.count; i++) { use(ids.items[i]); }
 *     myr_vec_done(&ids);
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

#define myr_vec_reserve(vec, wanted)                                                           \
    do {                                                                                       \
        if ((vec)->capacity < (wanted)) {                                                      \
            size_t myr_vec_cap = (vec)->capacity ? (vec)->capacity * 2 : 8;                    \
            (vec)->capacity = myr_vec_cap < (wanted) ? (wanted) : myr_vec_cap;                 \
            (vec)->items = myr_xrealloc((vec)->items, (vec)->capacity, sizeof(*(vec)->items)); \
        }                                                                                      \
    } while (0)

#define myr_vec_push(vec, ...)                      \
    do {                                            \
        myr_vec_reserve((vec), (vec)->count + 1);   \
        (vec)->items[(vec)->count++] = __VA_ARGS__; \
    } while (0)

#define myr_vec_done(vec)                   \
    do {                                    \
        free((vec)->items);                 \
        (vec)->items = NULL;                \
        (vec)->count = (vec)->capacity = 0; \
    } while (0)
