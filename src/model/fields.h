/*
 * fields: reads a map of a document into a struct by a table, one row per key.
 *
 * The row gives key, type, place and range, so that catalogue and spec are tables instead of code,
 * and an unknown key is always found. Absent keys leave the struct as it was: defaults are set
 * before, and a user's part overrides single fields of a built-in one.
 */
#pragma once

#include <stddef.h>

#include "myriad/base.h"
#include "myriad/text/doc.h"

/* The type of the place that a row's value goes to, and how it is written. */
enum field_type {
    FIELD_U32,
    FIELD_U64,
    FIELD_DOUBLE,
    FIELD_TEXT, /* const char *, copied into the arena */
    FIELD_BOOL,
    FIELD_CHOICE, /* uint32_t */
    FIELD_SPEEDS, /* struct myr_speeds */
    FIELD_GBPS,   /* uint32_t; "400", "400G", "1.6T" */
    FIELD_TB,     /* double; "3000", "3P", "500T" */
    FIELD_PB,     /* double; "3", "3P" */
    FIELD_COUNT,  /* double; "10000000000", "10G" */
    FIELD_NODE,   /* const struct myr_doc *: read by the caller */
};

/*
 * One key: 'min' and 'max' bound numbers, 'choices' are the words of FIELD_CHOICE in the order of
 * their values; what a type does not use is 0.
 */
struct field {
    const char *key;
    enum field_type type;
    size_t offset;   /* of the place in the table's target */
    double min, max; /* in the unit of the place */
    const char *const *choices;
    uint32_t choice_count;
};

/* One macro for each type, so that a table says only key, place and range. */
#define FIELD_ROW_U32(key, type, member, min, max)                \
    {                                                             \
        key, FIELD_U32, offsetof(type, member), min, max, NULL, 0 \
    }
#define FIELD_ROW_U64(key, type, member, min, max)                \
    {                                                             \
        key, FIELD_U64, offsetof(type, member), min, max, NULL, 0 \
    }
#define FIELD_ROW_DOUBLE(key, type, member, min, max)                \
    {                                                                \
        key, FIELD_DOUBLE, offsetof(type, member), min, max, NULL, 0 \
    }
#define FIELD_ROW_TEXT(key, type, member)                      \
    {                                                          \
        key, FIELD_TEXT, offsetof(type, member), 0, 0, NULL, 0 \
    }
#define FIELD_ROW_BOOL(key, type, member)                      \
    {                                                          \
        key, FIELD_BOOL, offsetof(type, member), 0, 0, NULL, 0 \
    }
#define FIELD_ROW_SPEEDS(key, type, member)                      \
    {                                                            \
        key, FIELD_SPEEDS, offsetof(type, member), 0, 0, NULL, 0 \
    }
#define FIELD_ROW_NODE(key, type, member)                      \
    {                                                          \
        key, FIELD_NODE, offsetof(type, member), 0, 0, NULL, 0 \
    }
#define FIELD_ROW_SCALED(key, kind, type, member, min, max)  \
    {                                                        \
        key, kind, offsetof(type, member), min, max, NULL, 0 \
    }
#define FIELD_ROW_CHOICE(key, type, member, names)                                     \
    {                                                                                  \
        key, FIELD_CHOICE, offsetof(type, member), 0, 0, names, MYR_ARRAY_COUNT(names) \
    }

#define FIELD_TABLES_MAX 3

/* Several tables read one map: one for the struct, one for what the caller reads itself. */
struct field_table {
    const struct field *fields;
    uint32_t count;
    void *target; /* the struct that the offsets of this table are in */
};

/* Text that is neither empty nor longer than any name, title or note needs to be. */
MYR_MUST_USE int field_text(const struct myr_doc *node, const char *key, struct myr_str *ret,
                            struct myr_err *err);

/* One value of a scaled row into its place in 'target'. */
MYR_MUST_USE int field_read_scaled(const struct field *field, const struct myr_doc *node,
                                   void *target, struct myr_err *err);

/* Reads 'map' by all tables together; a key that none has is an error that names the nearest. */
MYR_MUST_USE int fields_read(struct myr_arena *arena, const struct myr_doc *map, const char *what,
                             const struct field_table *tables, uint32_t table_count,
                             struct myr_err *err);

/*
 * Money is counted in whole cents, so that sums do not depend on their order. What has more than
 * two decimals is refused: rounded, a price of 0.333 would be another one. fields_cents(): whether
 * it has at most two.
 */
bool fields_cents(double amount, int64_t *ret);
MYR_MUST_USE int fields_price(const struct myr_doc *node, int64_t *ret, struct myr_err *err);

/*
 * Currencies are compared as they are written, so their form is one: any three capital letters.
 * Of a map: its key 'currency', where it has one.
 */
bool fields_is_currency(struct myr_str text);
MYR_MUST_USE int fields_currency(const struct myr_doc *map, struct myr_err *err);
