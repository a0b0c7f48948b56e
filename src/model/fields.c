#include "fields.h"

#include "myriad/model/catalog.h"

/* No name, title or note is longer; what a user writes is copied, compared and printed. */
enum { KEYS_MAX = 96, TEXT_BYTES_MAX = 1000 };

static int read_speeds(const struct myr_doc *node, const char *key, struct myr_speeds *ret,
                       struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, key, err));
    if (node->count > MYR_SPEEDS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %u entries, at most %d are expected",
                             key, node->count, MYR_SPEEDS_MAX);
    }
    ret->count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        uint64_t value;
        MYR_TRY(myr_doc_u64(node->items[i], key, 1, 100000, &value, err));
        ret->items[ret->count++] = (uint32_t)value;
    }
    return MYR_OK;
}

static int read_number(const struct field *field, const struct myr_doc *node, void *place,
                       struct myr_err *err)
{
    uint64_t whole;
    MYR_TRY(myr_doc_u64(node, field->key, (uint64_t)field->min, (uint64_t)field->max, &whole, err));
    if (field->type == FIELD_U64) {
        *(uint64_t *)place = whole;
    } else {
        *(uint32_t *)place = (uint32_t)whole;
    }
    return MYR_OK;
}

int field_text(const struct myr_doc *node, const char *key, struct myr_str *ret,
               struct myr_err *err)
{
    struct myr_str text;
    MYR_TRY(myr_doc_text(node, key, &text, err));
    if (text.len > TEXT_BYTES_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %zu bytes, at most %d are expected",
                             key, text.len, TEXT_BYTES_MAX);
    }
    *ret = text;
    return MYR_OK;
}

static int read_field(struct myr_arena *arena, const struct field *field,
                      const struct myr_doc *node, void *place, struct myr_err *err)
{
    struct myr_str text = {0};
    switch (field->type) {
    case FIELD_U32:
    case FIELD_U64:
        return read_number(field, node, place, err);
    case FIELD_DOUBLE:
        return myr_doc_double(node, field->key, field->min, field->max, place, err);
    case FIELD_TEXT:
        MYR_TRY(field_text(node, field->key, &text, err));
        *(const char **)place = myr_arena_strndup(arena, text.data, text.len);
        return MYR_OK;
    case FIELD_BOOL:
        return myr_doc_bool(node, field->key, place, err);
    case FIELD_CHOICE:
        return myr_doc_choice(node, field->key, field->choices, field->choice_count, place, err);
    case FIELD_SPEEDS:
        return read_speeds(node, field->key, place, err);
    case FIELD_NODE:
        *(const struct myr_doc **)place = node;
        return MYR_OK;
    }
    MYR_ASSERT(field->type <= FIELD_NODE); /* each of which has its case above */
    return MYR_EINVAL;
}

int fields_read(struct myr_arena *arena, const struct myr_doc *map, const char *what,
                const struct field_table *tables, uint32_t table_count, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, what, err));
    const char *keys[KEYS_MAX];
    size_t key_count = 0;
    for (uint32_t t = 0; t < table_count; t++) {
        for (uint32_t i = 0; i < tables[t].count; i++) {
            MYR_ASSERT(key_count < KEYS_MAX);
            keys[key_count++] = tables[t].fields[i].key;
        }
    }
    MYR_TRY(myr_doc_check_keys(map, what, keys, key_count, err));
    for (uint32_t t = 0; t < table_count; t++) {
        for (uint32_t i = 0; i < tables[t].count; i++) {
            const struct field *field = &tables[t].fields[i];
            const struct myr_doc *node = myr_doc_get(map, field->key);
            if (!node) {
                continue;
            }
            MYR_TRY(read_field(arena, field, node, (char *)tables[t].target + field->offset, err));
        }
    }
    return MYR_OK;
}
