/*
 * doc_build: puts a tree of struct myr_doc together from a stream of begin, key, scalar and end,
 * for both readers. It keeps the limits of doc.h, so that no reader can forget one. Private.
 *
 * Children of the open lists and maps wait in one shared stack; closing one moves its children
 * into the arena in one piece. There is no recursion here, and none in the readers.
 */
#pragma once

#include "myriad/text/doc.h"

struct doc_place {
    uint32_t line, column; /* from 1; columns count characters */
};

struct doc_frame {
    struct myr_doc *node;
    size_t first_child; /* in doc_build.children */
    struct myr_str key; /* of the value that comes next, in a map */
    struct doc_place key_place;
    bool has_key;
};

struct doc_build {
    struct myr_arena *arena;
    const char *file;
    uint32_t depth;
    uint32_t node_count;
    const struct myr_doc *root; /* set once the outermost value is complete */
    struct doc_frame frames[MYR_DOC_DEPTH_MAX];
    MYR_VEC(struct myr_doc_entry) children;
};

void doc_build_init(struct doc_build *build, struct myr_arena *arena, const char *file);
void doc_build_done(struct doc_build *build);

/* True when a key, and no value, must come next. */
bool doc_build_wants_key(const struct doc_build *build);
/* True while 'node' is still open: an alias to it would make a loop. */
bool doc_build_is_open(const struct doc_build *build, const struct myr_doc *node);

/* Keys and texts must lie in the arena already. 'ret', where not NULL, gets the new node. */
void doc_build_key(struct doc_build *build, struct doc_place place, struct myr_str key);
MYR_MUST_USE int doc_build_scalar(struct doc_build *build, const struct myr_doc *scalar,
                                  const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int doc_build_open(struct doc_build *build, struct doc_place place,
                                enum myr_doc_kind kind, const struct myr_doc **ret,
                                struct myr_err *err);
MYR_MUST_USE int doc_build_close(struct doc_build *build, struct myr_err *err);
/* A node that is in the tree already, once more; 'place' is where the alias stands. */
MYR_MUST_USE int doc_build_alias(struct doc_build *build, struct doc_place place,
                                 const struct myr_doc *node, struct myr_err *err);

/* Sets "file:line:column: message" without control characters or line breaks. */
MYR_PRINTF(5, 6)
int doc_error_at(struct myr_err *err, const char *file, struct doc_place place, int code,
                 const char *fmt, ...);
MYR_PRINTF(5, 0)
int doc_error_at_args(struct myr_err *err, const char *file, struct doc_place place, int code,
                      const char *fmt, va_list args);

/* What both readers check before they start: size, and that it is UTF-8. */
MYR_MUST_USE int doc_check_text(const char *file, struct myr_str text, struct myr_err *err);

/* Walks over text and keeps count; lines end with LF, CRLF or CR. Only forwards. */
struct doc_cursor {
    struct myr_str text;
    size_t at;
    struct doc_place place;
};

void doc_cursor_init(struct doc_cursor *cursor, struct myr_str text);
struct doc_place doc_cursor_move(struct doc_cursor *cursor, size_t offset);
