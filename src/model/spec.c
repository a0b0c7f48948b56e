/*
 * spec: the top level of a spec; sections have files of their own (spec_*.c). Sections that point
 * at others are read after them: groups after networks, what is to be optimised after groups.
 */
#include "myriad/model/spec.h"

#include <stdlib.h>

#include "catalog_find.h"
#include "fields.h"
#include "spec_parts.h"

/* Far more than there are rules; every name is looked for among all findings. */
enum { ACCEPT_MAX = 256 };

/* Names of findings. Whether there is such a rule only the plan can say. */
static int read_names(struct myr_arena *arena, const struct myr_doc *node, const char *what,
                      struct myr_spec *spec, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, what, err));
    if (node->count > ACCEPT_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %u entries, at most %d are expected",
                             what, node->count, ACCEPT_MAX);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        struct myr_str name;
        MYR_TRY(field_text(node->items[i], what, &name, err));
        myr_vec_push(&spec->accept, myr_arena_strndup(arena, name.data, name.len));
    }
    return MYR_OK;
}

/* The words in the order of the bits of 'supplied'. */
static int read_supplied(const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    static const char *const names[] = {"servers", "management_nodes", "ethernet_cabling",
                                        "fabric_managers"};
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "supplied", err));
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc *item = node->items[i];
        uint32_t choice;
        MYR_TRY(myr_doc_choice(item, "supplied", names, MYR_ARRAY_COUNT(names), &choice, err));
        spec->supplied |= 1U << choice; /* a bit each; who says it twice means it once */
    }
    return MYR_OK;
}

static int read_own_prices(struct myr_arena *arena, const struct myr_catalog *catalog,
                           const struct myr_doc *parts, struct myr_spec *spec, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(parts, MYR_DOC_MAP, "parts", err));
    uint32_t *priced = MYR_ARENA_NEW(arena, uint32_t, parts->count);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct myr_doc_entry *entry = &parts->entries[i];
        struct myr_price price = {.part = myr_catalog_find(catalog, entry->key)};
        if (price.part == MYR_PART_NONE) {
            struct myr_doc place = catalog_key_place(entry);
            return spec_unknown_part(catalog, &place, entry->key, "prices", err);
        }
        priced[i] = price.part;
        MYR_TRY(catalog_check_once(parts, priced, i, "a price", err));
        MYR_TRY(fields_price(entry->value, &price.cents, err));
        price.note = myr_arena_printf(arena, "the spec's own price");
        myr_vec_push(&spec->own_prices, price);
    }
    return MYR_OK;
}

/* A day as it stands, or nothing where the key is not there. */
static int read_day(struct myr_arena *arena, const struct myr_doc *node, const char *key,
                    const char **ret, struct myr_err *err)
{
    const struct myr_doc *day = myr_doc_get(node, key);
    struct myr_str text;
    if (!day) {
        return MYR_OK;
    }
    MYR_TRY(field_text(day, key, &text, err));
    if (!myr_str_is_date(text)) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(err, day, MYR_EINVAL,
                             "'%s' is '%s', a date like 2026-11-16 is expected", key,
                             myr_text_excerpt(text, shown));
    }
    *ret = myr_arena_strndup(arena, text.data, text.len);
    return MYR_OK;
}

/* A bill in another currency than its book's needs the rate, of the spec or of the book. */
static int check_bill_currency(const struct myr_catalog *catalog, const struct myr_doc *node,
                               const struct myr_spec *spec, struct myr_err *err)
{
    const struct myr_price_book *book = myr_price_book_find(catalog, spec->price_book);
    if (!book || !spec->bill_currency ||
        myr_exchange_rate(&spec->exchange, book->currency, spec->bill_currency) > 0 ||
        myr_exchange_rate(&book->exchange, book->currency, spec->bill_currency) > 0) {
        return MYR_OK;
    }
    int rc = myr_doc_error(err, myr_doc_get(node, "currency"), MYR_EINVAL,
                           "'currency' is '%s' and the book '%s' is in %s, a rate is expected",
                           spec->bill_currency, book->id, book->currency);
    myr_err_hint(err, "prices: {exchange: {CNY: 7.2}, exchange_date: 2026-09-01}: what a dollar is "
                      "in each");
    return rc;
}

/* In which currency, by which rates, and of which day the bill is. */
static int read_bill_terms(struct myr_arena *arena, const struct myr_doc *node,
                           struct myr_spec *spec, struct myr_err *err)
{
    const struct myr_doc *currency = myr_doc_get(node, "currency");
    const struct myr_doc *exchange = myr_doc_get(node, "exchange");
    struct myr_str text;
    MYR_TRY(fields_currency(node, err));
    if (currency) {
        MYR_TRY(field_text(currency, "currency", &text, err));
        spec->bill_currency = myr_arena_strndup(arena, text.data, text.len);
    }
    MYR_TRY(exchange ? myr_exchange_read(exchange, &spec->exchange, err) : MYR_OK);
    MYR_TRY(read_day(arena, node, "exchange_date", &spec->exchange.date, err));
    return read_day(arena, node, "date", &spec->price_date, err);
}

/* "prices: book" or "prices: {book: NAME, parts: {part: amount}}". */
static int read_prices(struct myr_arena *arena, const struct myr_catalog *catalog,
                       const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    /* A bare name is a book; a map may have a book, a list and single prices at once. */
    const struct myr_doc *book = node;
    const struct myr_doc *parts = NULL;
    spec->price_node = node;
    if (node->kind == MYR_DOC_MAP) {
        static const char *const keys[] = {"book", "parts",    "file",         "currency",
                                           "date", "exchange", "exchange_date"};
        const struct myr_doc *file = myr_doc_get(node, "file");
        MYR_TRY(myr_doc_check_keys(node, "prices", keys, MYR_ARRAY_COUNT(keys), err));
        MYR_TRY(read_bill_terms(arena, node, spec, err));
        book = myr_doc_get(node, "book");
        if (file) {
            struct myr_str name;
            MYR_TRY(field_text(file, "file", &name, err));
            spec->price_file = myr_arena_strndup(arena, name.data, name.len);
            spec->price_node = file;
        }
        parts = myr_doc_get(node, "parts");
    }
    if (book) {
        /* Books beyond the 64th cannot be chosen by a spec. */
        const char *names[64];
        uint32_t choice;
        size_t count = catalog->books.count < 64 ? catalog->books.count : 64;
        for (size_t i = 0; i < count; i++) {
            names[i] = catalog->books.items[i].id;
        }
        MYR_TRY(myr_doc_choice(book, "prices", names, count, &choice, err));
        spec->price_book = names[choice];
    }
    MYR_TRY(check_bill_currency(catalog, node, spec, err));
    return parts ? read_own_prices(arena, catalog, parts, spec, err) : MYR_OK;
}

/* The sections as they stand in the document; NULL: not given. */
struct root_nodes {
    const struct myr_doc *server, *networks, *storage, *room, *supplied, *prices, *items, *accept,
        *groups, *facility, *optimise;
};

static int read_networks(struct myr_arena *arena, const struct myr_catalog *catalog,
                         const struct myr_doc *networks, struct myr_spec *spec, struct myr_err *err)
{
    if (!networks) {
        /*
         * A spec that says nothing of networks gets the compute network; complaints point at the
         * spec.
         */
        spec->nets[MYR_NET_COMPUTE].node = spec->root;
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(networks, MYR_DOC_MAP, "networks", err));
    MYR_TRY(myr_doc_check_keys(networks, "networks", myr_net_names, MYR_NET_COUNT, err));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_doc *node = myr_doc_get(networks, myr_net_names[id]);
        if (node) {
            MYR_TRY(spec_read_net(arena, catalog, node, (enum myr_net_id)id, spec, err));
        }
    }
    return MYR_OK;
}

/* Each section into its part of the spec; what is absent keeps its default. */
static int read_sections(struct myr_arena *arena, const struct myr_catalog *catalog,
                         const struct root_nodes *nodes, struct myr_spec *spec, struct myr_err *err)
{
    MYR_TRY(spec_need_optional(catalog, nodes->server, "server", MYR_PART_SERVER,
                               &spec->server_part, err));
    /* Groups name networks, so networks come first. */
    MYR_TRY(read_networks(arena, catalog, nodes->networks, spec, err));
    if (nodes->groups) {
        MYR_TRY(spec_read_groups(arena, catalog, nodes->groups, spec, err));
    }
    if (nodes->storage) {
        MYR_TRY(spec_read_storage(arena, catalog, nodes->storage, &spec->storage, err));
    }
    if (nodes->room) {
        MYR_TRY(spec_read_room(arena, catalog, nodes->room, &spec->room, err));
    }
    if (nodes->facility) {
        MYR_TRY(spec_read_facility(arena, nodes->facility, &spec->facility, err));
    }
    if (nodes->optimise) {
        MYR_TRY(spec_read_optimise(arena, catalog, nodes->optimise, spec, err));
    }
    if (nodes->items) {
        MYR_TRY(spec_read_items(arena, catalog, nodes->items, "other", spec, err));
    }
    if (nodes->supplied) {
        MYR_TRY(read_supplied(nodes->supplied, spec, err));
    }
    if (nodes->prices) {
        MYR_TRY(read_prices(arena, catalog, nodes->prices, spec, err));
    }
    return nodes->accept ? read_names(arena, nodes->accept, "accept", spec, err) : MYR_OK;
}

/*
 * The spec is the caller's once it is right; its vectors are freed by myr_spec_done(), all else
 * lies in the arena and in the document, which must live as long.
 */
int myr_spec_read(struct myr_arena *arena, const struct myr_catalog *catalog,
                  const struct myr_doc *doc, struct myr_spec *ret, struct myr_err *err)
{
    static const struct field root_node_fields[] = {
        FIELD_ROW_NODE("server", struct root_nodes, server),
        FIELD_ROW_NODE("networks", struct root_nodes, networks),
        FIELD_ROW_NODE("storage", struct root_nodes, storage),
        FIELD_ROW_NODE("room", struct root_nodes, room),
        FIELD_ROW_NODE("supplied", struct root_nodes, supplied),
        FIELD_ROW_NODE("prices", struct root_nodes, prices),
        FIELD_ROW_NODE("items", struct root_nodes, items),
        FIELD_ROW_NODE("accept", struct root_nodes, accept),
        FIELD_ROW_NODE("groups", struct root_nodes, groups),
        FIELD_ROW_NODE("facility", struct root_nodes, facility),
        FIELD_ROW_NODE("optimise", struct root_nodes, optimise),
    };
    static const struct field root_fields[] = {
        FIELD_ROW_TEXT("name", struct myr_spec, name),
        FIELD_ROW_U32("servers", struct myr_spec, servers, 1, MYR_SPEC_SERVERS_MAX),
    };
    /* 0 is a part's index, so "no part" has to be set by hand. */
    struct root_nodes nodes = {};
    struct myr_spec spec = {.root = doc, .name = "cluster", .server_part = MYR_PART_NONE};
    spec.storage.server_part = MYR_PART_NONE;
    spec_room_defaults(&spec.room);
    spec_facility_defaults(&spec.facility);
    spec_optimise_defaults(&spec.optimise);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct myr_spec_net *net = &spec.nets[id];
        net->switch_part = net->spine_switch = net->core_switch = MYR_PART_NONE;
        net->access_switch = net->aggregation_switch = MYR_PART_NONE;
        for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
            net->pins[role] = MYR_PART_NONE;
        }
    }
    const struct field_table tables[] = {
        {root_node_fields, MYR_ARRAY_COUNT(root_node_fields), &nodes},
        {root_fields, MYR_ARRAY_COUNT(root_fields), &spec},
    };
    MYR_TRY(fields_read(arena, doc, "the spec", tables, 2, err));
    /* Two sources for one number would have to agree: one of them is enough. */
    if (nodes.groups && (spec.servers || nodes.server)) {
        return myr_doc_error(err, nodes.groups, MYR_EINVAL,
                             "give 'groups', or 'servers' and 'server', not both");
    }
    if (spec.servers == 0 && !nodes.groups) {
        return myr_doc_error(err, doc, MYR_EINVAL,
                             "the spec lacks 'servers', the number of GPU servers");
    }
    int rc = read_sections(arena, catalog, &nodes, &spec, err);
    if (rc < 0) { /* only the sections fill the spec's vectors */
        myr_spec_done(&spec);
        return rc;
    }
    *ret = spec;
    return MYR_OK;
}

void myr_spec_done(struct myr_spec *spec)
{
    myr_vec_done(&spec->own_prices);
    myr_vec_done(&spec->items);
    myr_vec_done(&spec->accept);
}
