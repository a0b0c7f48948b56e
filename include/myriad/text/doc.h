/*
 * doc: outside structured text as one tree, whether it came as YAML or as JSON.
 *
 * Every node knows its line and column, so that any later complaint can point at it. Scalars stay
 * text until somebody asks for a type; the accessors check type and range and set a complete
 * message ("cluster.yaml:12:5: 'servers' is 'many', a whole number from 1 to 200000 is expected").
 *
 * Hostile input is refused early, by named limits: file size, depth, number of nodes. YAML aliases
 * are resolved by sharing the anchored node, never by copying, and an alias inside its own anchor
 * is an error, so an "alias bomb" costs no more memory than its text; what a walk over the tree
 * may visit is bounded by MYR_DOC_EXPANDED_MAX, checked while reading.
 *
 * All nodes live in the arena given to the reader.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_DOC_BYTES_MAX    (64U << 20)
#define MYR_DOC_DEPTH_MAX    64
#define MYR_DOC_NODES_MAX    4000000
#define MYR_DOC_EXPANDED_MAX 8000000

enum myr_doc_kind { MYR_DOC_NULL, MYR_DOC_SCALAR, MYR_DOC_LIST, MYR_DOC_MAP };

struct myr_doc;

struct myr_doc_entry {
    struct myr_str key;
    uint32_t key_line, key_column;
    const struct myr_doc *value;
};

struct myr_doc {
    enum myr_doc_kind kind;
    bool quoted;           /* a quoted scalar is text even when it looks like a number */
    uint32_t line, column; /* from 1 */
    uint32_t count;        /* entries of a list or map */
    uint32_t depth;        /* 0 for scalars */
    uint64_t expanded;     /* nodes a full walk below this one visits */
    const char *file;      /* for messages */
    struct myr_str text;   /* scalar */
    union {
        const struct myr_doc **items;  /* list */
        struct myr_doc_entry *entries; /* map, in file order */
    };
};

/* 'file' is the name for messages; it must outlive the arena's use. */
MYR_MUST_USE int myr_doc_read_yaml(struct myr_arena *arena, const char *file, struct myr_str text,
                                   const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int myr_doc_read_json(struct myr_arena *arena, const char *file, struct myr_str text,
                                   const struct myr_doc **ret, struct myr_err *err);
/*
 * The same for a large text of which little is wanted, in a fraction of the time: values whose keys
 * 'parts' does not name are passed over, checked for closed quotes and matching brackets alone. A
 * key NULL ends the parts of a map; 'below' NULL is all of a value; the parts of a list are those
 * of each of its items. Every node says that it stands on line 1, its column counts bytes.
 */
struct myr_doc_part {
    const char *key;
    const struct myr_doc_part *below;
};
MYR_MUST_USE int myr_doc_read_json_parts(struct myr_arena *arena, const char *file,
                                         struct myr_str text, const struct myr_doc_part *parts,
                                         const struct myr_doc **ret, struct myr_err *err);
/*
 * A tree as bytes, and back in a twentieth of the time that its text takes: for what the program
 * carries with it (myriad_embed_docs in cmake/embed.cmake), never for what comes from outside.
 * Texts of the tree lie in 'data', which must outlive it.
 */
void myr_doc_pack(const struct myr_doc *node, struct myr_buf *buf);
const struct myr_doc *myr_doc_unpack(struct myr_arena *arena, const char *file, const void *data,
                                     size_t size);
/* What a reader takes (kind.h), and how it calls it: {MYR_KINDS_DOC(SPEC), "a spec"}. */
struct myr_doc_want {
    uint64_t kinds;
    const char *words;
};

/* JSON when the name ends in ".json", YAML otherwise. Another kind of file is named as such. */
MYR_MUST_USE int myr_doc_read_file_of(struct myr_arena *arena, const char *path,
                                      const struct myr_doc_want *want, const struct myr_doc **ret,
                                      struct myr_err *err);
/* The same for any document: for tools and tests. A verb says what it expects. */
MYR_MUST_USE int myr_doc_read_file(struct myr_arena *arena, const char *path,
                                   const struct myr_doc **ret, struct myr_err *err);

/* Sets "file:line:column: message", one line whatever the arguments hold. */
MYR_PRINTF(4, 5)
int myr_doc_error(struct myr_err *err, const struct myr_doc *node, int code, const char *fmt, ...);

/* At most 40 characters of outside text, fit for a message: "..." when cut, '?' for controls. */
#define MYR_EXCERPT_MAX 176
const char *myr_text_excerpt(struct myr_str text, char ret[MYR_EXCERPT_MAX]);
/* The column of a place in its line: characters as an editor counts them, from 1. */
uint32_t myr_text_column(const char *line, const char *at);

/* NULL when absent (or when 'map' is NULL or no map). */
const struct myr_doc *myr_doc_get(const struct myr_doc *map, const char *key);
/* As get, but an absent key is an error at the place of the map; 'what' names the map. */
MYR_MUST_USE int myr_doc_need(const struct myr_doc *map, const char *what, const char *key,
                              const struct myr_doc **ret, struct myr_err *err);

/*
 * The typed accessors. 'what' names the value for messages, usually its key. Numbers are checked
 * against min and max, both included; no digit grouping, no exponent for whole numbers. A node that
 * is NULL is an error too ("'servers' is missing"), but without a place: see myr_doc_need().
 */
MYR_MUST_USE int myr_doc_expect(const struct myr_doc *node, enum myr_doc_kind kind,
                                const char *what, struct myr_err *err);
MYR_MUST_USE int myr_doc_u64(const struct myr_doc *node, const char *what, uint64_t min,
                             uint64_t max, uint64_t *ret, struct myr_err *err);
MYR_MUST_USE int myr_doc_double(const struct myr_doc *node, const char *what, double min,
                                double max, double *ret, struct myr_err *err);
MYR_MUST_USE int myr_doc_bool(const struct myr_doc *node, const char *what, bool *ret,
                              struct myr_err *err);
/* Non-empty text, valid UTF-8 without control characters. */
MYR_MUST_USE int myr_doc_text(const struct myr_doc *node, const char *what, struct myr_str *ret,
                              struct myr_err *err);
/* One of 'names'; gives its index. An unknown word names the nearest ones. */
MYR_MUST_USE int myr_doc_choice(const struct myr_doc *node, const char *what,
                                const char *const *names, size_t count, uint32_t *ret,
                                struct myr_err *err);

/*
 * Every key of 'map' must be among 'keys'; an unknown one names the nearest, or all of them: in the
 * message where they are few, else in the hint. 'what' is where the map stands
 * ("networks.compute"), or NULL at the top.
 */
MYR_MUST_USE int myr_doc_check_keys(const struct myr_doc *map, const char *what,
                                    const char *const *keys, size_t count, struct myr_err *err);

/* The tree as YAML in block style, ending in a line end. */
void myr_doc_write_yaml(const struct myr_doc *node, struct myr_buf *buf);
