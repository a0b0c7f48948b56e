/* Price books of a catalogue. */
#include <stdio.h>

#include "catalog_find.h"
#include "fields.h"

const char *const myr_price_basis_names[] = {"none", "quoted", "assumed", "estimated"};

const struct myr_price_book *myr_price_book_find(const struct myr_catalog *catalog, const char *id)
{
    for (size_t i = 0; id && i < catalog->books.count; i++) {
        if (strcmp(catalog->books.items[i].id, id) == 0) {
            return &catalog->books.items[i];
        }
    }
    return NULL;
}

const struct myr_price_book *myr_price_book_reference(const struct myr_catalog *catalog)
{
    for (size_t i = 0; i < catalog->books.count; i++) {
        for (uint32_t k = 0; k < MYR_CLASS_COUNT; k++) {
            if (catalog->books.items[i].classes[k].given) {
                return &catalog->books.items[i];
            }
        }
    }
    return NULL;
}

/* Units for a dollar; 0: not known. */
static double per_dollar(const struct myr_exchanges *rates, const char *currency)
{
    for (uint32_t i = 0; i < rates->count; i++) {
        if (strcmp(rates->items[i].currency, currency) == 0) {
            return rates->items[i].per_dollar;
        }
    }
    return strcmp(currency, "USD") == 0 ? 1 : 0;
}

double myr_exchange_rate(const struct myr_exchanges *rates, const char *from, const char *to)
{
    double have = per_dollar(rates, from), want = per_dollar(rates, to);
    return strcmp(from, to) == 0 ? 1 : have > 0 ? want / have : 0;
}

int myr_exchange_read(const struct myr_doc *node, struct myr_exchanges *ret, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "exchange", err));
    if (node->count > MYR_EXCHANGES_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "at most %d currencies are expected",
                             MYR_EXCHANGES_MAX);
    }
    ret->count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        struct myr_exchange *one = &ret->items[ret->count++];
        struct myr_doc place = catalog_key_place(entry);
        if (!fields_is_currency(entry->key)) {
            return myr_doc_error(err, &place, MYR_EINVAL,
                                 "a code such as CNY is expected, and what a dollar is in it");
        }
        memcpy(one->currency, entry->key.data, 3);
        MYR_TRY(myr_doc_double(entry->value, "exchange", 1e-6, 1e6, &one->per_dollar, err));
    }
    return MYR_OK;
}

const struct myr_price *myr_price_find(const struct myr_price_book *book, uint32_t part)
{
    /* No book has no prices: a part without an entry is unpriced, never free. */
    for (size_t i = 0; book && i < book->prices.count; i++) {
        if (book->prices.items[i].part == part) {
            return &book->prices.items[i];
        }
    }
    return NULL;
}

/* A book may name its month alone, a price its year. 'date' NULL: none is said. */
static int check_date(const struct myr_doc *date, bool year, struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX], first[sizeof("2026-11-01")] = "";
    if (date && date->text.len == strlen("2026-11")) {
        snprintf(first, sizeof(first), "%.7s-01", date->text.data);
    } else if (date && year && date->text.len == strlen("2026")) {
        snprintf(first, sizeof(first), "%.4s-01-01", date->text.data);
    }
    return !date || myr_str_is_date(first[0] ? myr_str_from(first) : date->text)
               ? MYR_OK
               : myr_doc_error(err, date, MYR_EINVAL,
                               "'date' is '%s', a date like 2026-11-16 or 2026-11 is expected",
                               myr_text_excerpt(date->text, shown));
}

/* {price: amount, low, high, per_servers: n, assumed: true, note: text, ...} */
static int read_price_map(struct myr_catalog *catalog, const struct myr_doc *node,
                          struct myr_price *price, struct myr_err *err)
{
    /* The amount is read apart: a row of a table has no cents. */
    struct amount_node {
        const struct myr_doc *price, *low, *high;
    } amount = {};
    static const struct field amount_fields[] = {
        FIELD_ROW_NODE("price", struct amount_node, price),
        FIELD_ROW_NODE("low", struct amount_node, low),
        FIELD_ROW_NODE("high", struct amount_node, high),
    };
    static const struct field price_fields[] = {
        FIELD_ROW_U32("per_servers", struct myr_price, per_servers, 1, 1000000),
        FIELD_ROW_U32("warranty_months", struct myr_price, warranty_months, 1, 600),
        FIELD_ROW_BOOL("assumed", struct myr_price, assumed),
        FIELD_ROW_TEXT("note", struct myr_price, note),
        FIELD_ROW_TEXT("currency", struct myr_price, currency),
        FIELD_ROW_TEXT("date", struct myr_price, date),
        FIELD_ROW_U32("lead_weeks", struct myr_price, lead_weeks, 1, 1000),
    };
    const struct field_table tables[] = {
        {amount_fields, MYR_ARRAY_COUNT(amount_fields), &amount},
        {price_fields, MYR_ARRAY_COUNT(price_fields), price},
    };
    MYR_TRY(fields_read(catalog->arena, node, "a price", tables, 2, err));
    if (!amount.price) {
        return myr_doc_error(err, node, MYR_EINVAL, "the price lacks 'price'");
    }
    MYR_TRY(fields_currency(node, err));
    MYR_TRY(check_date(myr_doc_get(node, "date"), true, err));
    MYR_TRY(fields_price(amount.price, &price->cents, err));
    MYR_TRY(amount.low ? fields_price(amount.low, &price->low_cents, err) : MYR_OK);
    MYR_TRY(amount.high ? fields_price(amount.high, &price->high_cents, err) : MYR_OK);
    if ((amount.low && price->low_cents > price->cents) ||
        (amount.high && price->high_cents < price->cents)) {
        return myr_doc_error(err, amount.price, MYR_EINVAL,
                             "'price' is not between 'low' and 'high'");
    }
    return MYR_OK;
}

/* A plain number, or a map with more about it. */
static int read_price(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                      struct myr_price *ret, struct myr_err *err)
{
    struct myr_price price = {.part = myr_catalog_find(catalog, entry->key)};
    if (price.part == MYR_PART_NONE) {
        struct myr_doc place = catalog_key_place(entry);
        char near[CATALOG_NEAR_BYTES];
        catalog_nearest(catalog, entry->key, MYR_PART_KIND_COUNT, near);
        return myr_doc_error(err, &place, MYR_ENOENT, "a price for the unknown part '%.*s'%s",
                             catalog_shown(entry->key), entry->key.data, near);
    }
    MYR_TRY(entry->value->kind == MYR_DOC_MAP ? read_price_map(catalog, entry->value, &price, err)
                                              : fields_price(entry->value, &price.cents, err));
    *ret = price;
    return MYR_OK;
}

/*
 * A book that is known gets more entries; a new one is in CNY until its currency is read. The
 * pointer holds until the next book comes.
 */
static struct myr_price_book *find_book(struct myr_catalog *catalog, struct myr_str id)
{
    for (size_t i = 0; i < catalog->books.count; i++) {
        if (myr_str_eq_nocase(myr_str_from(catalog->books.items[i].id), id)) {
            return &catalog->books.items[i];
        }
    }
    struct myr_price_book book = {
        .id = myr_arena_strndup(catalog->arena, id.data, id.len),
        .currency = "CNY",
    };
    myr_vec_push(&catalog->books, book);
    return &catalog->books.items[catalog->books.count - 1];
}

static const char *const class_names[MYR_CLASS_COUNT] = {
    "switch", "ethernet", "transceiver", "fibre", "active", "copper", "server", "storage", "device",
};

/* {base: of a piece, each: Gb/s, metre, GPU or TB, low, high: shares, rule: how it was reached} */
static int read_classes(struct myr_catalog *catalog, const struct myr_doc *node,
                        struct myr_price_book *book, struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_DOUBLE("base", struct myr_class_price, base, 0, 1e9),
        FIELD_ROW_DOUBLE("each", struct myr_class_price, each, 0, 1e9),
        FIELD_ROW_DOUBLE("low", struct myr_class_price, low, 0.01, 1),
        FIELD_ROW_DOUBLE("high", struct myr_class_price, high, 1, 100),
        FIELD_ROW_TEXT("rule", struct myr_class_price, rule),
    };
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "classes", err));
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc_entry *entry = &node->entries[i];
        struct myr_doc key = catalog_key_place(entry);
        struct myr_class_price one = {.given = true, .low = 1, .high = 1};
        uint32_t class;
        key.kind = MYR_DOC_SCALAR;
        key.text = entry->key;
        MYR_TRY(myr_doc_choice(&key, "classes", class_names, MYR_CLASS_COUNT, &class, err));
        const struct field_table tables[] = {{fields, MYR_ARRAY_COUNT(fields), &one}};
        MYR_TRY(fields_read(catalog->arena, entry->value, "a class of prices", tables, 1, err));
        if (!one.rule) {
            return myr_doc_error(err, entry->value, MYR_EINVAL, "the class lacks 'rule'");
        }
        book->classes[class] = one;
    }
    return MYR_OK;
}

/* Keys of the book override those that it had; entries are added one by one. */
int catalog_read_book(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                      struct myr_err *err)
{
    struct book_parts {
        const struct myr_doc *parts, *classes, *exchange;
    } extra = {};
    static const struct field book_fields[] = {
        FIELD_ROW_TEXT("title", struct myr_price_book, title),
        FIELD_ROW_TEXT("currency", struct myr_price_book, currency),
        FIELD_ROW_TEXT("date", struct myr_price_book, date),
        FIELD_ROW_TEXT("source", struct myr_price_book, source),
        FIELD_ROW_U32("warranty_months", struct myr_price_book, warranty_months, 1, 600),
        FIELD_ROW_DOUBLE("spread", struct myr_price_book, spread, 0, 1),
        FIELD_ROW_TEXT("exchange_date", struct myr_price_book, exchange.date),
    };
    static const struct field parts_fields[] = {
        FIELD_ROW_NODE("parts", struct book_parts, parts),
        FIELD_ROW_NODE("classes", struct book_parts, classes),
        FIELD_ROW_NODE("exchange", struct book_parts, exchange),
    };
    struct myr_price_book *book = find_book(catalog, entry->key);
    const struct field_table tables[] = {
        {book_fields, MYR_ARRAY_COUNT(book_fields), book},
        {parts_fields, MYR_ARRAY_COUNT(parts_fields), &extra},
    };
    MYR_TRY(fields_read(catalog->arena, entry->value, "a price book", tables, 2, err));
    MYR_TRY(check_date(myr_doc_get(entry->value, "date"), false, err));
    MYR_TRY(check_date(myr_doc_get(entry->value, "exchange_date"), false, err));
    MYR_TRY(fields_currency(entry->value, err));
    MYR_TRY(extra.exchange ? myr_exchange_read(extra.exchange, &book->exchange, err) : MYR_OK);
    MYR_TRY(extra.classes ? read_classes(catalog, extra.classes, book, err) : MYR_OK);
    if (!extra.parts) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(extra.parts, MYR_DOC_MAP, "parts", err));
    uint32_t *priced = MYR_ARENA_NEW(catalog->arena, uint32_t, extra.parts->count);
    for (uint32_t i = 0; i < extra.parts->count; i++) {
        struct myr_price price = {};
        MYR_TRY(read_price(catalog, &extra.parts->entries[i], &price, err));
        priced[i] = price.part;
        MYR_TRY(catalog_check_once(extra.parts, priced, i, "a price", err));
        /* A later file wins: it is put in front of the search by overwriting. */
        struct myr_price *old = (struct myr_price *)myr_price_find(book, price.part);
        if (old) {
            *old = price;
        } else {
            myr_vec_push(&book->prices, price);
        }
    }
    return MYR_OK;
}
