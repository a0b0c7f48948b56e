/*
 * catalog: the parts that a design is made of, as data.
 *
 * The program carries the files of catalog/ inside it; a user's own files are read after them and
 * may add parts or override single fields of parts that exist. Parts are found by id or by alias,
 * without regard to case; an unknown name is an error that names the nearest ones.
 *
 * Prices live apart from parts, in price books with a currency and a date: a part without an entry
 * is unpriced, never free. Amounts are integers in hundredths of the currency unit.
 *
 * Everything belongs to the arena given to init.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model/parts.h"
#include "myriad/text/doc.h"

struct myr_price {
    uint32_t part;
    int64_t cents, low_cents, high_cents; /* low, high: how far it may be off; 0: not stated */
    uint32_t warranty_months;             /* of this part; 0: the book's */
    uint32_t per_servers; /* the price is for each started so many servers; 0: per piece */
    uint32_t lead_weeks;  /* from order to delivery; 0: not stated */
    bool assumed;
    const char *currency, *date, *note; /* currency, date: NULL: the book's */
    const char *valid_until;            /* of a quotation; NULL: not stated */
    const char *tax;                    /* what it says of taxes; NULL: nothing */
};

/* What parts cost of which nobody has said: by what they carry. Always assumed. */
enum myr_price_class {
    MYR_CLASS_SWITCH,
    MYR_CLASS_ETHERNET,
    MYR_CLASS_TRANSCEIVER,
    MYR_CLASS_FIBRE,
    MYR_CLASS_ACTIVE, /* cables with modules at their ends */
    MYR_CLASS_COPPER,
    MYR_CLASS_SERVER,
    MYR_CLASS_STORAGE,
    MYR_CLASS_DEVICE,
    MYR_CLASS_COUNT,
};

struct myr_class_price {
    bool given;
    double base, each; /* of a piece; for each Gb/s, metre, GPU or raw TB of it */
    double low, high;  /* shares of it between which it may be */
    const char *rule;  /* how it was reached */
};

/* Units of a currency for one dollar. */
struct myr_exchange {
    char currency[4];
    double per_dollar;
};
enum { MYR_EXCHANGES_MAX = 16 };

struct myr_exchanges {
    struct myr_exchange items[MYR_EXCHANGES_MAX];
    uint32_t count;
    const char *date; /* of all of them; NULL: not stated */
};

struct myr_price_book {
    const char *id, *title, *currency, *date, *source;
    uint32_t warranty_months; /* of what it quotes; 0: not stated */
    double spread;            /* of assumed prices that state no range, as a share of them */
    MYR_VEC(struct myr_price) prices;
    struct myr_class_price classes[MYR_CLASS_COUNT];
    struct myr_exchanges exchange;
};

struct myr_catalog {
    struct myr_arena *arena;
    MYR_VEC(struct myr_part) parts;
    MYR_VEC(struct myr_price_book) books;
    struct myr_strmap names; /* ids and aliases, lower case */
};

/* Reads the built-in catalogue. */
MYR_MUST_USE int myr_catalog_init(struct myr_catalog *catalog, struct myr_arena *arena,
                                  struct myr_err *err);
/* Adds or overrides parts and price books from a user's file. */
MYR_MUST_USE int myr_catalog_add_file(struct myr_catalog *catalog, const char *path,
                                      struct myr_err *err);
MYR_MUST_USE int myr_catalog_add(struct myr_catalog *catalog, const struct myr_doc *doc,
                                 struct myr_err *err);
void myr_catalog_done(struct myr_catalog *catalog);

uint32_t myr_catalog_find(const struct myr_catalog *catalog, struct myr_str name);
/* The part that 'node' names, of the wanted kind; the error points at the node. */
MYR_MUST_USE int myr_catalog_need(const struct myr_catalog *catalog, const struct myr_doc *node,
                                  const char *what, enum myr_part_kind kind, uint32_t *ret,
                                  struct myr_err *err);
/* NULL: there is no such book. */
const struct myr_price_book *myr_price_book_find(const struct myr_catalog *catalog, const char *id);
/* The book that says what others lack: the first with prices by class; NULL: none. */
const struct myr_price_book *myr_price_book_reference(const struct myr_catalog *catalog);
/* What one unit of 'from' is in 'to' by these rates; 0: not known. */
double myr_exchange_rate(const struct myr_exchanges *rates, const char *from, const char *to);
/* "exchange: {CNY: 7.2}": units for one dollar. */
MYR_MUST_USE int myr_exchange_read(const struct myr_doc *node, struct myr_exchanges *ret,
                                   struct myr_err *err);
/* NULL when the book has no price for it. */
const struct myr_price *myr_price_find(const struct myr_price_book *book, uint32_t part);
const char *myr_part_kind_name(enum myr_part_kind kind);
/* The kinds whose name contains the word, as bits; an error that names the nearest when none. */
MYR_MUST_USE int myr_part_kinds(const char *word, uint32_t *ret, struct myr_err *err);
/* Whether name, order number or title contains the word, without regard to case. */
bool myr_part_matches(const struct myr_part *part, const char *word);

/* Ports of a switch when all its cages run at 'gbps'; 0 when it cannot. */
uint32_t myr_switch_ports_per_cage(const struct myr_part_switch *sw, uint32_t gbps);
uint32_t myr_switch_radix(const struct myr_part_switch *sw, uint32_t gbps);
