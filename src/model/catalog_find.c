/* Looking parts up, and saying which one was meant. */
#include <stdio.h>

#include "catalog_find.h"

/* What a user typed may be a whole file: messages show its beginning. */
int catalog_shown(struct myr_str name)
{
    return name.len > 40 ? 40 : (int)name.len;
}

void catalog_nearest(const struct myr_catalog *catalog, struct myr_str name,
                     enum myr_part_kind kind, char ret[CATALOG_NEAR_BYTES])
{
    /* Aliases too: what is offered is what can be typed. */
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(const char *) names = {};
    ret[0] = '\0';
    for (uint32_t i = 0; i < catalog->names.count; i++) {
        enum myr_part_kind known = catalog->parts.items[catalog->names.values[i]].kind;
        if (kind == MYR_PART_KIND_COUNT || kind == known) {
            myr_vec_push(&names, catalog->names.keys[i].data);
        }
    }
    char near[2 * CATALOG_NAME_MAX + 12];
    myr_str_nearest(name, names.items, names.count, near, sizeof(near));
    if (near[0]) {
        snprintf(ret, CATALOG_NEAR_BYTES, "; did you mean %s?", near);
    }
}

/* A copy of the value's node with the place of the key: only its file, line and column are used. */
struct myr_doc catalog_key_place(const struct myr_doc_entry *entry)
{
    struct myr_doc place = *entry->value;
    place.line = entry->key_line;
    place.column = entry->key_column;
    return place;
}

int catalog_check_once(const struct myr_doc *map, const uint32_t *parts, uint32_t at,
                       const char *what, struct myr_err *err)
{
    const struct myr_doc_entry *entry = &map->entries[at];
    for (uint32_t i = 0; i < at; i++) {
        if (parts[i] == parts[at]) {
            struct myr_doc place = catalog_key_place(entry);
            return myr_doc_error(err, &place, MYR_EINVAL, "'%.*s' has %s in line %u already",
                                 catalog_shown(entry->key), entry->key.data, what,
                                 map->entries[i].key_line);
        }
    }
    return MYR_OK;
}

uint32_t myr_catalog_find(const struct myr_catalog *catalog, struct myr_str name)
{
    /* No longer name was let in, so a longer one cannot be there. */
    char key[CATALOG_NAME_MAX];
    if (name.len > sizeof(key)) {
        return MYR_PART_NONE;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        key[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return myr_strmap_get(&catalog->names, (struct myr_str){key, name.len});
}

/* 'what' is the key that named the part; 'ret' is written only when the part is of the kind. */
int myr_catalog_need(const struct myr_catalog *catalog, const struct myr_doc *node,
                     const char *what, enum myr_part_kind kind, uint32_t *ret, struct myr_err *err)
{
    struct myr_str name;
    MYR_TRY(myr_doc_text(node, what, &name, err));
    uint32_t part = myr_catalog_find(catalog, name);
    if (part != MYR_PART_NONE && catalog->parts.items[part].kind == kind) {
        *ret = part;
        return MYR_OK;
    }
    char near[CATALOG_NEAR_BYTES];
    catalog_nearest(catalog, name, kind, near);
    /* The name is known but means something else: say what, not that it is unknown. */
    if (part != MYR_PART_NONE) {
        return myr_doc_error(
            err, node, MYR_EINVAL, "'%s' is '%.*s', of kind %s; %s %s is expected%s", what,
            catalog_shown(name), name.data, myr_part_kind_name(catalog->parts.items[part].kind),
            kind == MYR_PART_ETHERNET ? "an" : "a", myr_part_kind_name(kind), near);
    }
    int rc = myr_doc_error(err, node, MYR_ENOENT, "unknown %s '%.*s'%s", myr_part_kind_name(kind),
                           catalog_shown(name), name.data, near);
    myr_err_hint(err, "myriad catalog --kind '%s' lists them", myr_part_kind_name(kind));
    return rc;
}
