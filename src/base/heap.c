#include "myriad/base/heap.h"

#include <stdlib.h>

#include "myriad/base/mem.h"

/* A total order: no two items have the same 'order', so equal keys come out as they went in. */
static bool before(const struct myr_heap_item *a, const struct myr_heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

void myr_heap_done(struct myr_heap *heap)
{
    free(heap->items);
    *heap = (struct myr_heap){};
}

void myr_heap_push(struct myr_heap *heap, int64_t key, uint64_t value)
{
    if (heap->count == heap->capacity) {
        /* Positions are 32 bits wide: doubling must not wrap around. */
        MYR_ASSERT(heap->capacity <= UINT32_MAX / 2);
        heap->capacity = heap->capacity ? heap->capacity * 2 : 64;
        heap->items = myr_xrealloc(heap->items, heap->capacity, sizeof(*heap->items));
    }
    struct myr_heap_item item = {.key = key, .order = heap->next_order++, .value = value};
    /* The hole moves up, parents move down; the item is written once, where it belongs. */
    uint32_t at = heap->count++;
    MYR_ASSERT(at < heap->capacity && heap->next_order > 0);
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!before(&item, &heap->items[parent])) {
            break;
        }
        heap->items[at] = heap->items[parent];
        at = parent;
    }
    heap->items[at] = item;
}

/* Moves the hole at the root down to where 'item' belongs. */
static void sift_down(struct myr_heap *heap, const struct myr_heap_item *item)
{
    uint32_t at = 0;
    for (;;) {
        uint64_t first = (uint64_t)at * 4 + 1; /* 64 bits: a leaf's children may be beyond 32 */
        if (first >= heap->count) {
            break;
        }
        uint32_t best = (uint32_t)first;
        for (uint32_t child = best + 1; child < heap->count && child < first + 4; child++) {
            if (before(&heap->items[child], &heap->items[best])) {
                best = child;
            }
        }
        if (!before(&heap->items[best], item)) {
            break;
        }
        heap->items[at] = heap->items[best];
        at = best;
    }
    heap->items[at] = *item;
}

bool myr_heap_pop(struct myr_heap *heap, struct myr_heap_item *ret)
{
    if (heap->count == 0) {
        return false;
    }
    *ret = heap->items[0];
    heap->count--;
    if (heap->count > 0) {
        /* The last leaf fills the hole at the root, so that the array stays without gaps. */
        struct myr_heap_item last = heap->items[heap->count];
        sift_down(heap, &last);
        MYR_ASSERT(!before(&heap->items[0], ret)); /* what comes next is never earlier */
    }
    return true;
}
