/* catalog_find: what the readers of a catalogue share when they complain. Private. */
#pragma once

#include "myriad/model/catalog.h"

/* The second holds two names with quotes, "or" and the question around them. */
enum {
    /* Longer names are refused, so that a look-up can lower them on the stack. */
    CATALOG_NAME_MAX = 96,
    CATALOG_NEAR_BYTES = 2 * CATALOG_NAME_MAX + 32,
};

/* How much of a name that may be anything a message shows. */
int catalog_shown(struct myr_str name);
/*
 * "; did you mean 'a' or 'b'?" or nothing. Names of one kind only, unless 'kind' is
 * MYR_PART_KIND_COUNT: nobody who mistypes a switch means a cable.
 */
void catalog_nearest(const struct myr_catalog *catalog, struct myr_str name,
                     enum myr_part_kind kind, char ret[CATALOG_NEAR_BYTES]);
/* A node to complain at, where the key and not the value is meant. */
struct myr_doc catalog_key_place(const struct myr_doc_entry *entry);
/*
 * Keys of a document differ, but a part has several names: entry 'at' of the map must not mean a
 * part of those before it, which are 'parts'. 'what' is what it would get twice, as "a price".
 */
MYR_MUST_USE int catalog_check_once(const struct myr_doc *map, const uint32_t *parts, uint32_t at,
                                    const char *what, struct myr_err *err);

/* A price book; all parts that it names must be there (catalog_prices.c). */
MYR_MUST_USE int catalog_read_book(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                                   struct myr_err *err);
