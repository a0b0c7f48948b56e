/*
 * store: changes that wait, whatever keeps them. What is put or deleted is gathered here in its
 * order and handed to the kind of store as one list, which makes it permanent or leaves it all to
 * be tried again.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_ops.h"

/* What keeps it, and the changes since the last commit in their order. */
struct store {
    const struct store_ops *ops;
    void *own;
    MYR_VEC(struct change) changes;
};

/* A store of any kind; 'own' is closed with it. */
struct store *store_of(const struct store_ops *ops, void *own)
{
    MYR_ASSERT(ops->commit && ops->scan && ops->close);
    MYR_ASSERT(own);
    struct store *store = myr_xcalloc(1, sizeof(*store));
    store->ops = ops;
    store->own = own;
    return store;
}

/* NULL where it is kept by something else. */
void *store_own_if(const struct store *store, const struct store_ops *ops)
{
    MYR_ASSERT(store && ops);
    return store->ops == ops ? store->own : NULL;
}

static void forget_changes(struct store *store)
{
    MYR_ASSERT(store->changes.items || store->changes.count == 0);
    for (size_t i = 0; i < store->changes.count; i++) {
        free(store->changes.items[i].key);
        free(store->changes.items[i].to);
        free(store->changes.items[i].value);
    }
    store->changes.count = 0;
}

/* NULL is none. What waits is not committed. */
void store_close(struct store *store)
{
    if (store) {
        store->ops->close(store->own);
        forget_changes(store);
        myr_vec_done(&store->changes);
        free(store);
    }
}

/* Valid until the next change; keys and values are copies. */
static struct change *change_of(struct store *store, enum change_kind kind, const char *key)
{
    MYR_ASSERT(key && key[0]); /* a store finds nothing under no name */
    /* Not merged with earlier ones of the same key: the order is kept, and the last wins. */
    myr_vec_push(&store->changes, (struct change){.kind = kind, .key = strdup(key)});
    MYR_ASSERT(store->changes.items[store->changes.count - 1].key);
    return &store->changes.items[store->changes.count - 1];
}

/* Copied: rows are built in buffers that go at once. */
void store_put(struct store *store, const char *key, struct myr_str value)
{
    MYR_ASSERT(value.data || value.len == 0);
    struct change *change = change_of(store, CHANGE_PUT, key);
    MYR_ASSERT(!change->value && !change->to);
    change->value = myr_xcalloc(1, value.len + 1);
    myr_str_put(value, change->value);
    change->size = value.len;
}

void store_delete(struct store *store, const char *key)
{
    change_of(store, CHANGE_DELETE, key);
}

void store_delete_range(struct store *store, const char *from, const char *to)
{
    MYR_ASSERT(strcmp(from, to) < 0);
    change_of(store, CHANGE_RANGE, from)->to = strdup(to);
}

/* Nothing to do is no commit. What failed stays in the list, with what comes behind it. */
int store_commit(struct store *store, struct myr_err *err)
{
    MYR_ASSERT(store->ops->commit && store->own);
    if (store->changes.count > 0) {
        MYR_TRY(store->ops->commit(store->own, store->changes.items, store->changes.count, err));
        forget_changes(store);
        MYR_ASSERT(store->changes.count == 0);
    }
    return MYR_OK;
}

int store_scan(struct store *store, const char *prefix, store_each *each, void *context,
               struct myr_err *err)
{
    MYR_ASSERT(prefix && each);
    return store->ops->scan(store->own, prefix, each, context, err);
}
