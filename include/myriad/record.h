/*
 * record: what a thing of ours is, said once.
 *
 * A list file (.rec) has a line a field: kind, name, bounds, and the words of the documents. It is
 * included twice: members.def makes members of a struct of it, rows.def the rows of a table; the
 * compiler refuses a row whose kind is not its member's, or a bound that the member does not hold.
 * Readers of YAML and JSON, the rows of the store, answers, schemas and tables of keys in documents
 * walk over the table; whoever works with the thing has a plain struct.
 *
 *     tenant.rec    U32(weight, 1, 1000000, "in the fair share", .or = 1)
 *     tenant.h      struct tenant {
 *                   #define MYR_FIELDS "tenant.rec"
 *                   #include "myriad/record/members.def"
 *                   };
 *     tenant.c      static const struct myr_row rows[] = {
 *                   #define MYR_FIELDS "tenant.rec"
 *                   #define MYR_OF struct tenant
 *                   #include "myriad/record/rows.def"
 *                   };
 *                   const struct myr_record tenant_record = MYR_RECORD("tenant", struct tenant,
 *                                                                      rows);
 *
 * Nothing here is called while something is decided: tables are for what comes in and goes out.
 * Texts and lists that were read lie in the reader's arena.
 */
#pragma once

#include "myriad/text/doc.h"
#include "myriad/text/json.h"

/* What a member is, and with it how it is read, written and described. */
enum myr_field_kind {
    MYR_FIELD_FLAG, /* bool */
    MYR_FIELD_U32,  /* uint32_t */
    MYR_FIELD_U64,  /* uint64_t */
    MYR_FIELD_I32,  /* int32_t */
    MYR_FIELD_I64,  /* int64_t */
    MYR_FIELD_REAL, /* double */
    MYR_FIELD_SPAN, /* int64_t seconds, written as "90", "30m", "12h" or "2d" */
    MYR_FIELD_NAME, /* char[]: a text that lies in the struct itself */
    MYR_FIELD_TEXT, /* const char *, NULL: none */
    MYR_FIELD_WORD, /* one of a list; an enum, or a uint8_t */
    MYR_FIELD_PART, /* a struct with a record of its own */
    MYR_FIELD_LIST, /* struct myr_items of what 'item' says */
    MYR_FIELD_RAW,  /* struct myr_str: JSON that somebody else has written; only goes out */
    MYR_FIELD_OWN,  /* read by a function of the row; nobody writes it */
    MYR_FIELD_KINDS
};

#define MYR_RECORD_ROWS_MAX 64

struct myr_items {
    const void *at;
    uint32_t count;
};

struct myr_record;

struct myr_row {
    const char *key, *doc;    /* its line in documents */
    const char *unit, *since; /* of a number; the version that brought it; or NULL */
    uint16_t at, size;        /* of the member */
    uint8_t kind, item;       /* item: of a list; MYR_FIELD_PART: 'of' */
    uint8_t digits;           /* of REAL, behind the point */
    bool need;                /* a file without it is refused */
    bool null;                /* a value out of its bounds is shown as null: not known, not yet */
    bool rare;                /* left out of what is written where it is 'or' */
    bool one;                 /* of a list: a single item need not be a list */
    uint32_t item_high;       /* of a list's whole numbers */
    int64_t low, high, or ;   /* bounds, both included; what it is where nothing is said */
    double from, to, or_real; /* the same of REAL */
    const char *or_text;      /* of NAME */
    const char *const *words; /* of WORD, from 0 to 'high' */
    const struct myr_record *of;
    /* OWN; 'shape' is the type that a schema tells of it, and of a text that may be a number. */
    int (*read)(const struct myr_doc *node, const char *what, struct myr_arena *arena, void *ret,
                struct myr_err *err);
    const char *shape;
    uint32_t facts; /* bits that mean something to the record's owner */
};

struct myr_record {
    const char *name, *doc;
    uint32_t size, count;
    const struct myr_row *rows;
};

#define MYR_RECORD(word, type, list, says)                                                   \
    {                                                                                        \
        .name = (word), .doc = (says), .size = sizeof(type), .count = MYR_ARRAY_COUNT(list), \
        .rows = (list)                                                                       \
    }

/* Who reads, and how strictly. */
struct myr_reading {
    struct myr_arena *arena;
    const char *what; /* of the map, in messages; NULL at the top of a file */
    bool lenient;     /* keys that are not known are left alone: a newer program wrote them */
    /*
     * A row of a store, which a program of ours has written: texts may be empty, and are cut to
     * their place; a word that is not known is the default; numbers out of bounds are damage.
     */
    bool stored;
};

/* All members as they are where nothing is said. */
void myr_record_clear(const struct myr_record *record, void *ret);
/* On failure 'ret' is half filled, and of no use. */
MYR_MUST_USE int myr_record_read(const struct myr_record *record, const struct myr_doc *map,
                                 const struct myr_reading *how, void *ret, struct myr_err *err);
/* "90", "90s", "30m", "2h", "1d": seconds. */
MYR_MUST_USE bool myr_duration_parse(struct myr_str text, int64_t *ret_s);

/* Members of the object that is open, in the order of the rows. */
void myr_record_write(const struct myr_record *record, const void *self, struct myr_json *json);

/*
 * "type": "object", "properties": ... into the object that is open, as of JSON Schema 2020-12.
 * 'refs' goes before the name of a record within: "#/components/schemas/"; NULL: it is spelled out.
 * Of what is written all keys are there ('written'); of what is read those that are needed.
 */
void myr_record_schema(const struct myr_record *record, const char *refs, bool written,
                       struct myr_json *json);
/* "| `key` | default | what it is |" a line, for documents. */
void myr_record_table(const struct myr_record *record, struct myr_buf *ret);
