/*
 * layout_file: a parallel layout in a file of its own, as fit --layout-out writes it, or in words.
 */
#pragma once

#include "myriad/work/layout.h"

#define MYR_LAYOUT_SCHEMA "myriad.layout"
enum { MYR_LAYOUT_VERSION = 1 };

/* What is taken for keys that a layout file does not have; 0: what the layout's rules say. */
struct myr_layout_rest {
    uint64_t gpus; /* as in myr_layout_parse() */
    uint64_t batch, seq;
};

/* The layout file; 'rest' may be NULL. The result is not checked against a model. */
MYR_MUST_USE int myr_layout_file_parse(struct myr_arena *arena, const char *file,
                                       struct myr_str text, const struct myr_layout_rest *rest,
                                       struct myr_layout *ret, struct myr_err *err);
MYR_MUST_USE int myr_layout_file_read(struct myr_arena *arena, const char *path,
                                      const struct myr_layout_rest *rest, struct myr_layout *ret,
                                      struct myr_err *err);
/*
 * The same in two steps, for who asks several questions about one file: standard input can be read
 * once only.
 */
MYR_MUST_USE int myr_layout_file_open(struct myr_arena *arena, const char *path,
                                      const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int myr_layout_file_take(const struct myr_doc *doc, const struct myr_layout_rest *rest,
                                      struct myr_layout *ret, struct myr_err *err);
/* Either of the two: words have a '=' and no '/', a path has not. 'name' is the option's. */
MYR_MUST_USE int myr_layout_given(struct myr_arena *arena, const char *name, const char *text,
                                  uint64_t gpus, struct myr_layout *ret, struct myr_err *err);
