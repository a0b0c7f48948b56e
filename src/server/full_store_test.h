/* A store that can be full: it takes nothing then, and all of it later. Include it after cmocka. */
#pragma once

#include "store/store_ops.h"

static bool full; /* for all of them; the test sets it */

/* The other store gets the same changes in the same order, and commits them itself. */
static inline int full_commit(void *own, const struct change *changes, size_t count,
                              struct myr_err *err)
{
    struct store *store = own;
    if (full) {
        return myr_err_set(err, MYR_EIO, "the disk is full");
    }
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        if (change->kind == CHANGE_PUT) {
            store_put(store, change->key, (struct myr_str){change->value, change->size});
        } else if (change->kind == CHANGE_DELETE) {
            store_delete(store, change->key);
        } else {
            store_delete_range(store, change->key, change->to);
        }
    }
    return store_commit(store, err);
}

static inline int full_scan(void *own, const char *prefix, store_each *each, void *context,
                            struct myr_err *err)
{
    return store_scan(own, prefix, each, context, err);
}

static inline void full_close(void *own)
{
    store_close(own);
}

static const struct store_ops full_ops = {full_commit, full_scan, full_close};

/* The other one is its own from now on. */
static inline struct store *full_store(struct store *store)
{
    return store_of(&full_ops, store);
}
