/*
 * keys: reads numbers and flags of a map into a struct by tables, one row a key.
 *
 * The same tables serve our own files, where an unknown key is an error and an empty value too,
 * and other people's, where most keys are none of our business and null means absent.
 */
#pragma once

#include <stddef.h>

#include "myriad/text/doc.h"

/* One key of a whole number and the field that it fills. */
struct key_number {
    const char *key;
    size_t offset; /* of a uint32_t */
    uint32_t min;
    uint32_t max;
    bool required;
};

/* The same for yes and no; flags are never required. */
struct key_flag {
    const char *key;
    size_t offset; /* of a bool */
};

enum key_style { KEYS_OURS, KEYS_FOREIGN };

/* Missing required keys are reported at the map's place, as missing in 'what'. */
MYR_MUST_USE int myr_work_read_numbers(const struct myr_doc *map, const char *what,
                                       enum key_style style, const struct key_number *rows,
                                       size_t count, void *target, struct myr_err *err);
MYR_MUST_USE int myr_work_read_flags(const struct myr_doc *map, enum key_style style,
                                     const struct key_flag *rows, size_t count, void *target,
                                     struct myr_err *err);

/* All that a map of our own files may hold; 'others' are keys that the caller reads itself. */
struct key_table {
    const char *what; /* of the map, for messages */
    const struct key_number *numbers;
    size_t number_count;
    const struct key_flag *flags;
    size_t flag_count;
    const char *const *others;
    size_t other_count;
};

/* Numbers and flags of the table; a key that is not in it is an error that names the nearest. */
MYR_MUST_USE int myr_work_read_map(const struct myr_doc *map, const struct key_table *table,
                                   void *target, struct myr_err *err);

/* The value of a key, NULL when it is absent or (foreign files) null. */
const struct myr_doc *myr_work_key(const struct myr_doc *map, enum key_style style,
                                   const char *key);
