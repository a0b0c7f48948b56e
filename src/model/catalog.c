/*
 * catalog: reads parts and price books into one table. Built-in files and a user's own take the
 * same way; a later file adds parts or overrides single fields. Names of all kinds lie in one map,
 * lower case, so one name means one part.
 */
#include "myriad/model/catalog.h"

#include "catalog_data.h"
#include "catalog_find.h"
#include "myriad/text/kind.h"
#include "parts.h"

/* Names are compared without regard to case: the map knows them in lower case only. */
static struct myr_str lower_copy(struct myr_arena *arena, struct myr_str text)
{
    char *copy = myr_arena_strndup(arena, text.data, text.len);
    for (size_t i = 0; i < text.len; i++) {
        if (copy[i] >= 'A' && copy[i] <= 'Z') {
            copy[i] = (char)(copy[i] - 'A' + 'a');
        }
    }
    return (struct myr_str){copy, text.len};
}

/* The cards of a server by network. A network that is not named keeps what the part had. */
static int read_nics(struct myr_catalog *catalog, const struct myr_doc *node, struct myr_part *part,
                     struct myr_err *err)
{
    static const struct field nics_fields[] = {
        FIELD_ROW_TEXT("nic", struct myr_server_nics, nic),
        FIELD_ROW_U32("count", struct myr_server_nics, count, 0, 64),
    };
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "nics", err));
    MYR_TRY(myr_doc_check_keys(node, "nics", myr_net_names, MYR_NET_COUNT, err));
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        const struct myr_doc *row = myr_doc_get(node, myr_net_names[net]);
        if (row) {
            struct field_table table = {nics_fields, MYR_ARRAY_COUNT(nics_fields),
                                        &part->server.nics[net]};
            MYR_TRY(fields_read(catalog->arena, row, myr_net_names[net], &table, 1, err));
        }
    }
    return MYR_OK;
}

/*
 * Names stand in specs, in lists for other programs and on labels: they hold nothing that needs
 * quoting anywhere. Letters of other alphabets are welcome.
 */
static bool name_ok(struct myr_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
        if (!letter && !(c >= '0' && c <= '9') && !(c && strchr(".-_+/", c))) {
            return false;
        }
    }
    return name.len > 0;
}

/*
 * One more name of a part, an id or an alias. A name that another part has is refused: a spec that
 * uses it would get either of them.
 */
static int add_name(struct myr_catalog *catalog, const struct myr_doc *node, struct myr_str name,
                    uint32_t part, struct myr_err *err)
{
    /* The same name for the same part again is fine: an override may repeat its aliases. */
    struct myr_str key = lower_copy(catalog->arena, name);
    uint32_t known = myr_strmap_get(&catalog->names, key);
    if (known == part) {
        return MYR_OK;
    }
    if (known != MYR_MAP_NONE) {
        return myr_doc_error(err, node, MYR_EINVAL, "the name '%.*s' is taken by the %s '%s'",
                             (int)name.len, name.data,
                             myr_part_kind_name(catalog->parts.items[known].kind),
                             catalog->parts.items[known].id);
    }
    if (name.len > CATALOG_NAME_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "a name of %zu bytes, at most %d are expected",
                             name.len, CATALOG_NAME_MAX);
    }
    if (!name_ok(name)) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%.*s' is no name for a part: letters, digits and . - _ + / are "
                             "expected",
                             (int)name.len, name.data);
    }
    myr_strmap_add(&catalog->names, key, part);
    return MYR_OK;
}

/* 'aliases' is NULL where a file gives none. */
static int add_aliases(struct myr_catalog *catalog, const struct myr_doc *aliases, uint32_t part,
                       struct myr_err *err)
{
    if (!aliases) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(aliases, MYR_DOC_LIST, "aliases", err));
    for (uint32_t i = 0; i < aliases->count; i++) {
        struct myr_str name;
        MYR_TRY(myr_doc_text(aliases->items[i], "aliases", &name, err));
        MYR_TRY(add_name(catalog, aliases->items[i], name, part, err));
    }
    return MYR_OK;
}

/* The index, which stays: parts are never removed, and what points at them holds an index. */
static uint32_t add_part(struct myr_catalog *catalog, const struct myr_part *part)
{
    myr_vec_push(&catalog->parts, *part);
    return (uint32_t)catalog->parts.count - 1;
}

/* Cables come in stock lengths; each is a part of its own: id-n050, id-n01a for 1.5 m. */
static struct myr_part cable_of_length(struct myr_arena *arena, const struct myr_part *family,
                                       double length_m)
{
    struct myr_part part = *family;
    /* Lengths come in half metres; the order number spells them as vendors do. */
    uint32_t halves = (uint32_t)(length_m * 2 + 0.5);
    const char *suffix = halves % 2 ? myr_arena_printf(arena, "N%02uA", halves / 2)
                                    : myr_arena_printf(arena, "N%03u", halves / 2);
    const char *id = myr_arena_printf(arena, "%s-%s", family->id, suffix);
    part.cable.length_m = halves / 2.0;
    part.id = lower_copy(arena, myr_str_from(id)).data;
    part.order = myr_arena_printf(arena, "%s-%s", family->order, suffix);
    part.title =
        myr_arena_printf(arena, "%s, %u%s m", family->title, halves / 2, halves % 2 ? ".5" : "");
    return part;
}

/*
 * One part for each stock length. The family itself is no part: nobody can order a cable without a
 * length.
 */
static int add_lengths(struct myr_catalog *catalog, const struct myr_doc *lengths,
                       const struct myr_part *family, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(lengths, MYR_DOC_LIST, "lengths_m", err));
    for (uint32_t i = 0; i < lengths->count; i++) {
        const struct myr_doc *node = lengths->items[i];
        double length_m;
        MYR_TRY(myr_doc_double(node, "lengths_m", 0.5, 99999, &length_m, err));
        struct myr_part part = cable_of_length(catalog->arena, family, length_m);
        const char *missing = part_missing(&part);
        if (missing) {
            return myr_doc_error(err, lengths, MYR_EINVAL, "cable '%s' lacks '%s'", family->id,
                                 missing);
        }
        /* A family is given whole: a length that is there already becomes the new one. */
        uint32_t known = myr_strmap_get(&catalog->names, myr_str_from(part.id));
        if (known != MYR_MAP_NONE && catalog->parts.items[known].kind == MYR_PART_CABLE) {
            catalog->parts.items[known] = part;
            continue;
        }
        MYR_TRY(add_name(catalog, node, myr_str_from(part.id), add_part(catalog, &part), err));
    }
    return MYR_OK;
}

/*
 * A known id or alias of the same kind is an override: it begins with what the part was, and keeps
 * id, order number and title unless they are given. Another kind's name ends in add_name().
 */
static int read_part(struct myr_catalog *catalog, enum myr_part_kind kind,
                     const struct myr_doc_entry *entry, struct myr_err *err)
{
    struct myr_str id = lower_copy(catalog->arena, entry->key);
    uint32_t known = myr_strmap_get(&catalog->names, id);
    bool overrides = known != MYR_MAP_NONE && catalog->parts.items[known].kind == kind;
    struct myr_part part = overrides ? catalog->parts.items[known] : part_defaults(kind);
    struct part_extra extra = {};
    const struct field_table tables[] = {
        part_common_table(&part),
        part_extra_table(kind, &extra),
        {part_kinds[kind].fields, part_kinds[kind].field_count, &part},
    };
    MYR_TRY(fields_read(catalog->arena, entry->value, id.data, tables, 3, err));
    MYR_TRY(extra.nics ? read_nics(catalog, extra.nics, &part, err) : MYR_OK);
    if (!overrides) {
        part.id = id.data;
        part.order = part.order
                         ? part.order
                         : myr_arena_strndup(catalog->arena, entry->key.data, entry->key.len);
        part.title = part.title ? part.title : part.order;
    }
    /* What a part lacks is told at its name, for there is no value to point at. */
    struct myr_doc place = catalog_key_place(entry);
    if (extra.lengths && extra.aliases) {
        return myr_doc_error(err, extra.aliases, MYR_EINVAL,
                             "a family of cables has no aliases: each length is a part");
    }
    if (extra.lengths) {
        return add_lengths(catalog, extra.lengths, &part, err);
    }
    const char *missing = part_missing(&part);
    if (missing) {
        return myr_doc_error(err, &place, MYR_EINVAL, "%s '%s' lacks '%s'", part_kinds[kind].name,
                             id.data, missing);
    }
    if (overrides) {
        catalog->parts.items[known] = part;
    } else {
        known = add_part(catalog, &part);
        MYR_TRY(add_name(catalog, &place, id, known, err));
    }
    MYR_ASSERT(known < catalog->parts.count);
    return add_aliases(catalog, extra.aliases, known, err);
}

/* A part that another part names must exist, and be of the right kind. */
static int check_reference(const struct myr_catalog *catalog, const struct myr_doc *map,
                           const char *key, enum myr_part_kind kind, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    uint32_t part;
    return node ? myr_catalog_need(catalog, node, key, kind, &part, err) : MYR_OK;
}

/*
 * The references are looked up in the document and not in the parts, so that the complaint can
 * point at the line; and after all of it was read, so that files and parts may stand in any order.
 */
static int check_references(const struct myr_catalog *catalog, const struct myr_doc *doc,
                            struct myr_err *err)
{
    const struct myr_doc *servers = myr_doc_get(doc, part_kinds[MYR_PART_SERVER].section);
    for (uint32_t i = 0; servers && i < servers->count; i++) {
        const struct myr_doc *server = servers->entries[i].value;
        const struct myr_doc *nics = myr_doc_get(server, "nics");
        MYR_TRY(check_reference(catalog, server, "gpu", MYR_PART_GPU, err));
        MYR_TRY(check_reference(catalog, server, "dpu", MYR_PART_NIC, err));
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            const struct myr_doc *of_net = myr_doc_get(nics, myr_net_names[net]);
            MYR_TRY(check_reference(catalog, of_net, "nic", MYR_PART_NIC, err));
        }
    }
    const struct myr_doc *storage = myr_doc_get(doc, part_kinds[MYR_PART_STORAGE].section);
    for (uint32_t i = 0; storage && i < storage->count; i++) {
        const struct myr_doc *server = storage->entries[i].value;
        MYR_TRY(check_reference(catalog, server, "nic", MYR_PART_NIC, err));
        MYR_TRY(check_reference(catalog, server, "software", MYR_PART_SERVICE, err));
    }
    const struct myr_doc *devices = myr_doc_get(doc, part_kinds[MYR_PART_DEVICE].section);
    for (uint32_t i = 0; devices && i < devices->count; i++) {
        MYR_TRY(check_reference(catalog, devices->entries[i].value, "nic", MYR_PART_NIC, err));
    }
    return MYR_OK;
}

/* Of the kind that the section is of; a section of another module's is passed over. */
static int read_entry(struct myr_catalog *catalog, struct myr_str section,
                      const struct myr_doc_entry *entry, struct myr_err *err)
{
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        if (myr_str_eq(section, myr_str_from(part_kinds[kind].section))) {
            MYR_TRY(read_part(catalog, (enum myr_part_kind)kind, entry, err));
        }
    }
    return MYR_OK;
}

/* Parts or prices of one file, as 'prices' asks: prices name parts that may come later in it. */
static int add_sections(struct myr_catalog *catalog, const struct myr_doc *doc, bool prices,
                        struct myr_err *err)
{
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct myr_doc_entry *section = &doc->entries[i];
        if ((myr_str_eq(section->key, MYR_STR("prices"))) != prices) {
            continue;
        }
        MYR_TRY(myr_doc_expect(section->value, MYR_DOC_MAP, "a catalogue section", err));
        for (uint32_t k = 0; k < section->value->count; k++) {
            const struct myr_doc_entry *entry = &section->value->entries[k];
            MYR_TRY(prices ? catalog_read_book(catalog, entry, err)
                           : read_entry(catalog, section->key, entry, err));
        }
    }
    return MYR_OK;
}

/* A section that is misspelt would otherwise be passed over with all its parts. */
static int check_sections(const struct myr_doc *doc, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "a catalogue", err));
    const char *keys[MYR_PART_KIND_COUNT + 2];
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        keys[kind] = part_kinds[kind].section;
    }
    keys[MYR_PART_KIND_COUNT] = "prices";
    keys[MYR_PART_KIND_COUNT + 1] = "recovery"; /* read by fit, in the same files */
    return myr_doc_check_keys(doc, "a catalogue", keys, MYR_ARRAY_COUNT(keys), err);
}

/* Parts first: prices and other parts point at them, whatever their order in the files. */
static int add_docs(struct myr_catalog *catalog, const struct myr_doc *const *docs, size_t count,
                    struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        MYR_TRY(check_sections(docs[i], err));
        MYR_TRY(add_sections(catalog, docs[i], false, err));
    }
    for (size_t i = 0; i < count; i++) {
        MYR_TRY(check_references(catalog, docs[i], err));
        MYR_TRY(add_sections(catalog, docs[i], true, err));
    }
    return MYR_OK;
}

/* What was read before a mistake stays in the catalogue. */
int myr_catalog_add(struct myr_catalog *catalog, const struct myr_doc *doc, struct myr_err *err)
{
    return add_docs(catalog, &doc, 1, err);
}

int myr_catalog_add_file(struct myr_catalog *catalog, const char *path, struct myr_err *err)
{
    const struct myr_doc *doc;
    /* A design or a log given by mistake is called by its kind, not by its first odd key. */
    static const struct myr_doc_want want = {MYR_KINDS_DOC(CATALOG) | MYR_KIND_BIT(RECOVERY),
                                             "a catalogue"};
    MYR_TRY(myr_doc_read_file_of(catalog->arena, path, &want, &doc, err));
    return myr_catalog_add(catalog, doc, err);
}

int myr_catalog_init(struct myr_catalog *catalog, struct myr_arena *arena, struct myr_err *err)
{
    *catalog = (struct myr_catalog){.arena = arena};
    /* All files at once, so that a part of one may name a part of another. */
    const struct myr_doc **docs = MYR_ARENA_NEW(arena, const struct myr_doc *, catalog_data_count);
    for (size_t i = 0; i < catalog_data_count; i++) {
        const struct myr_embedded *file = &catalog_data[i];
        docs[i] = myr_doc_unpack(arena, file->name, file->data, file->size);
    }
    return add_docs(catalog, docs, catalog_data_count, err);
}

void myr_catalog_done(struct myr_catalog *catalog)
{
    /* Strings lie in the arena; only vectors and the map have memory of their own. */
    for (size_t i = 0; i < catalog->books.count; i++) {
        myr_vec_done(&catalog->books.items[i].prices);
    }
    myr_vec_done(&catalog->books);
    myr_vec_done(&catalog->parts);
    myr_strmap_done(&catalog->names);
}
