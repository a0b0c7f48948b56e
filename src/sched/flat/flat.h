/*
 * flat: structs with arrays, described by a table, so that copying, storing, comparing and hashing
 * them are one loop each and none of them can forget a field that another one knows.
 *
 * A row covers a run of bytes of its struct; the rows of a type lie side by side and cover it
 * whole (flat_covers() and a test of it), so a field that is added lies in a plain run, or the
 * table has to be told. Plain runs hold no pointers and no padding that is not zero.
 */
#pragma once

#include <stddef.h>

#include "myriad/base.h"

enum flat_kind {
    FLAT_PLAIN,   /* bytes */
    FLAT_VEC,     /* MYR_VEC of items */
    FLAT_ARRAY,   /* pointer to items; 'count' says how many */
    FLAT_GANG,    /* struct myr_gang: a 32-bit count, and a pointer to items */
    FLAT_POINTER, /* to one item, or NULL */
    FLAT_INLINE,  /* items in the struct itself */
    FLAT_SCRATCH, /* no state: what is there stays in a copy, and nothing else sees it */
    FLAT_OWNED,   /* scratch that is freed by itself */
};

struct flat_type;

struct flat_field {
    const char *name;
    enum flat_kind kind;
    uint32_t offset, size;               /* bytes that it covers */
    uint32_t item;                       /* size of an item */
    const struct flat_type *type;        /* of an item; NULL: plain bytes */
    uint64_t (*count)(const void *self); /* of a FLAT_ARRAY: its length, from plain fields */
    void (*release)(void *field);        /* FLAT_OWNED */
};

struct flat_type {
    const char *name;
    uint32_t size, count; /* bytes; fields */
    const struct flat_field *fields;
};

#define FLAT_TYPE(type, fields)                                     \
    {                                                               \
#type, sizeof(struct type), MYR_ARRAY_COUNT(fields), fields \
    }
/* From one field up to, and without, another. */
#define FLAT_RUN(type, from, to)                                                                \
    {                                                                                           \
#from, FLAT_PLAIN, offsetof(struct type, from),                                         \
            (uint32_t)(offsetof(struct type, to) - offsetof(struct type, from)), 0, NULL, NULL, \
            NULL                                                                                \
    }
#define FLAT_TAIL(type, from)                                                                  \
    {                                                                                          \
#from, FLAT_PLAIN, offsetof(struct type, from),                                        \
            (uint32_t)(sizeof(struct type) - offsetof(struct type, from)), 0, NULL, NULL, NULL \
    }
#define FLAT_MEMBER(kind, type, field, item, item_type, count)                               \
    {                                                                                        \
#field, kind, offsetof(struct type, field), sizeof(((struct type *)0)->field), item, \
            item_type, count, NULL                                                           \
    }
#define FLAT_ITEMS(type, field) sizeof(*((struct type *)0)->field)
#define FLAT_VEC_OF(type, field, item_type) \
    FLAT_MEMBER(FLAT_VEC, type, field, sizeof(*((struct type *)0)->field.items), item_type, NULL)
#define FLAT_ARRAY_OF(type, field, count) \
    FLAT_MEMBER(FLAT_ARRAY, type, field, FLAT_ITEMS(type, field), NULL, count)

/* What lies behind its pointers is freed; the struct itself is not. */
void flat_release(const struct flat_type *type, void *self);
/* 'to' is zeroed or a copy made before, whose memory is used again. */
void flat_copy(const struct flat_type *type, void *to, const void *from);
bool flat_equal(const struct flat_type *type, const void *a, const void *b);
uint64_t flat_hash(const struct flat_type *type, const void *self, uint64_t seed);
/* Bytes of the struct and of all that lies behind its pointers, without scratch. */
size_t flat_bytes(const struct flat_type *type, const void *self);

void flat_save(const struct flat_type *type, const void *self, struct myr_buf *ret);
/*
 * Into a zeroed struct. False when the bytes end too early or a length is not what the struct says;
 * what was read by then is released by the caller all the same.
 */
bool flat_load(const struct flat_type *type, void *self, struct myr_str *bytes);

/* Whether the rows cover the type, one after the other. */
bool flat_covers(const struct flat_type *type);
/* A number that changes with names, sizes and places of the fields, also of items. */
uint64_t flat_signature(const struct flat_type *type);
