/*
 * keys: one loop for all tables. A field is found by its offset, so the type of a row's member must
 * be that of its table: uint32_t for numbers, bool for flags.
 */
#include "keys.h"

enum { KEYS_MAX = 64 }; /* more than any map of ours may hold */

const struct myr_doc *myr_work_key(const struct myr_doc *map, enum key_style style, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_NULL && style == KEYS_FOREIGN ? NULL : node;
}

/* Row by row; a key that is absent and not required leaves its field as it was. */
int myr_work_read_numbers(const struct myr_doc *map, const char *what, enum key_style style,
                          const struct key_number *rows, size_t count, void *target,
                          struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct key_number *row = &rows[i];
        const struct myr_doc *node = myr_work_key(map, style, row->key);
        if (!node) {
            if (row->required) {
                return myr_doc_error(err, map, MYR_EINVAL, "'%s' is missing in %s", row->key, what);
            }
            continue;
        }
        /* The largest 'max' of a row fits 32 bits, so the cast loses nothing. */
        uint64_t value;
        MYR_TRY(myr_doc_u64(node, row->key, row->min, row->max, &value, err));
        *(uint32_t *)((char *)target + row->offset) = (uint32_t)value;
    }
    return MYR_OK;
}

int myr_work_read_flags(const struct myr_doc *map, enum key_style style,
                        const struct key_flag *rows, size_t count, void *target,
                        struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct myr_doc *node = myr_work_key(map, style, rows[i].key);
        int rc =
            node ? myr_doc_bool(node, rows[i].key, (bool *)((char *)target + rows[i].offset), err)
                 : MYR_OK;
        if (rc != MYR_OK) {
            return rc;
        }
    }
    return MYR_OK;
}

/* All names that the table knows, in one list: the nearest of them is the hint for a wrong key. */
static int check_keys(const struct myr_doc *map, const struct key_table *table, struct myr_err *err)
{
    const char *keys[KEYS_MAX];
    size_t count = 0;
    MYR_ASSERT(table->number_count + table->flag_count + table->other_count <= KEYS_MAX);
    for (size_t i = 0; i < table->number_count; i++) {
        keys[count++] = table->numbers[i].key;
    }
    for (size_t i = 0; i < table->flag_count; i++) {
        keys[count++] = table->flags[i].key;
    }
    for (size_t i = 0; i < table->other_count; i++) {
        keys[count++] = table->others[i];
    }
    return myr_doc_check_keys(map, table->what, keys, count, err);
}

int myr_work_read_map(const struct myr_doc *map, const struct key_table *table, void *target,
                      struct myr_err *err)
{
    /* Unknown keys first: a misspelt key would otherwise be told as a missing one. */
    MYR_TRY(check_keys(map, table, err));
    MYR_TRY(myr_work_read_numbers(map, table->what, KEYS_OURS, table->numbers, table->number_count,
                                  target, err));
    return myr_work_read_flags(map, KEYS_OURS, table->flags, table->flag_count, target, err);
}
