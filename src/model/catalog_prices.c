/* Price books of a catalogue. */
#include <stdio.h>

#include "catalog_find.h"
#include "fields.h"

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

/* {price: amount, per_servers: n, assumed: true, note: text} */
static int read_price_map(struct myr_catalog *catalog, const struct myr_doc *node,
                          struct myr_price *price, struct myr_err *err)
{
    /* The amount is read apart: a row of a table has no cents. */
    struct amount_node {
        const struct myr_doc *price;
    } amount = {};
    static const struct field amount_fields[] = {
        FIELD_ROW_NODE("price", struct amount_node, price),
    };
    static const struct field price_fields[] = {
        FIELD_ROW_U32("per_servers", struct myr_price, per_servers, 1, 1000000),
        FIELD_ROW_U32("warranty_months", struct myr_price, warranty_months, 1, 600),
        FIELD_ROW_BOOL("assumed", struct myr_price, assumed),
        FIELD_ROW_TEXT("note", struct myr_price, note),
    };
    const struct field_table tables[] = {
        {amount_fields, 1, &amount},
        {price_fields, MYR_ARRAY_COUNT(price_fields), price},
    };
    MYR_TRY(fields_read(catalog->arena, node, "a price", tables, 2, err));
    if (!amount.price) {
        return myr_doc_error(err, node, MYR_EINVAL, "the price lacks 'price'");
    }
    return fields_price(amount.price, &price->cents, err);
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

/* A quote may name its month alone. 'date' NULL: the book says none. */
static int check_date(const struct myr_doc *date, struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX], first[sizeof("2026-11-01")] = "";
    if (date && date->text.len == strlen("2026-11")) {
        snprintf(first, sizeof(first), "%.7s-01", date->text.data);
    }
    return !date || myr_str_is_date(first[0] ? myr_str_from(first) : date->text)
               ? MYR_OK
               : myr_doc_error(err, date, MYR_EINVAL,
                               "'date' is '%s', a date like 2026-11-16 or 2026-11 is expected",
                               myr_text_excerpt(date->text, shown));
}

/* Keys of the book override those that it had; entries are added one by one. */
int catalog_read_book(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                      struct myr_err *err)
{
    struct book_parts {
        const struct myr_doc *parts;
    } extra = {};
    static const struct field book_fields[] = {
        FIELD_ROW_TEXT("title", struct myr_price_book, title),
        FIELD_ROW_TEXT("currency", struct myr_price_book, currency),
        FIELD_ROW_TEXT("date", struct myr_price_book, date),
        FIELD_ROW_TEXT("source", struct myr_price_book, source),
        FIELD_ROW_U32("warranty_months", struct myr_price_book, warranty_months, 1, 600),
    };
    static const struct field parts_fields[] = {FIELD_ROW_NODE("parts", struct book_parts, parts)};
    struct myr_price_book *book = find_book(catalog, entry->key);
    const struct field_table tables[] = {
        {book_fields, MYR_ARRAY_COUNT(book_fields), book},
        {parts_fields, 1, &extra},
    };
    MYR_TRY(fields_read(catalog->arena, entry->value, "a price book", tables, 2, err));
    MYR_TRY(check_date(myr_doc_get(entry->value, "date"), err));
    MYR_TRY(fields_currency(entry->value, err));
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
