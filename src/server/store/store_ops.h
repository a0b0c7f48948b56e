/*
 * store_ops: what a kind of store has to do. The changes of a commit are gathered for it, and are
 * its own business until it says that they are permanent.
 */
#pragma once

#include "store.h"

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_RANGE };

struct change {
    enum change_kind kind;
    char *key, *to; /* 'to': the end of a range, which is not in it */
    char *value;
    size_t size;
};

struct store_ops {
    /* All or nothing. On failure the same changes, and perhaps more behind them, come again. */
    int (*commit)(void *own, const struct change *changes, size_t count, struct myr_err *err);
    int (*scan)(void *own, const char *prefix, store_each *each, void *context,
                struct myr_err *err);
    void (*close)(void *own);
};

/* The store takes 'own' over. */
struct store *store_of(const struct store_ops *ops, void *own);
/* NULL: it is of another kind. */
void *store_own_if(const struct store *store, const struct store_ops *ops);
