/*
 * doc_build: puts a tree of struct myr_doc together from a stream of begin, key, scalar and end,
 * for both readers. It keeps the limits of doc.h, so that no reader can forget one. Private.
 *
 * Children of the open lists and maps wait in one shared stack; closing one moves its children
 * into the arena in one piece. There is no recursion here, and none in the readers.
 */
#pragma once

#include "letter/message.h"
#include "myriad/text/doc.h"

/* A list or map that is open. */
struct doc_frame {
    struct myr_doc *node; /* its count, depth and expanded grow with each child */
    size_t first_child;   /* in doc_build.children */
    struct myr_str key;   /* of the value that comes next, in a map */
    struct text_place key_place;
    bool has_key; /* of a map: the value must come next */
};

struct doc_build {
    struct myr_arena *arena;
    const char *file;
    uint32_t depth; /* of frames in use */
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
void doc_build_key(struct doc_build *build, struct text_place place, struct myr_str key);
MYR_MUST_USE int doc_build_scalar(struct doc_build *build, const struct myr_doc *scalar,
                                  const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int doc_build_open(struct doc_build *build, struct text_place place,
                                enum myr_doc_kind kind, const struct myr_doc **ret,
                                struct myr_err *err);
MYR_MUST_USE int doc_build_close(struct doc_build *build, struct myr_err *err);
/* A node that is in the tree already, once more; 'place' is where the alias stands. */
MYR_MUST_USE int doc_build_alias(struct doc_build *build, struct text_place place,
                                 const struct myr_doc *node, struct myr_err *err);

/* What both readers check before they start: size, and that it is UTF-8. */
MYR_MUST_USE int doc_check_text(const char *file, struct myr_str text, struct myr_err *err);
