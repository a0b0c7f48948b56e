/*
 * heap: a 4-ary minimum heap of (key, value) pairs.
 *
 * Pairs with equal keys come out in the order in which they went in: simulations depend on it.
 * Four children a node keep one node's children in one cache line and halve the depth.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct myr_heap_item {
    int64_t key;
    uint64_t order; /* set by push */
    uint64_t value;
};

struct myr_heap {
    struct myr_heap_item *items;
    uint32_t count;
    uint32_t capacity;
    uint64_t next_order;
};

void myr_heap_done(struct myr_heap *heap);
void myr_heap_push(struct myr_heap *heap, int64_t key, uint64_t value);
/* False when the heap is empty. */
bool myr_heap_pop(struct myr_heap *heap, struct myr_heap_item *ret);
