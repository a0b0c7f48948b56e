/* model_test: what the tests of this module share. */
#pragma once

#include <stdlib.h>

#include "myriad/model/catalog.h"

/* A catalogue of its own for each test: most of them change it. */
struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_err err;
};

static inline int open_catalog(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    myr_arena_init(&f->arena);
    if (myr_catalog_init(&f->catalog, &f->arena, &f->err) < 0) {
        fail_msg("the built-in catalogue: %s", f->err.message);
    }
    *state = f;
    return 0;
}

static inline int close_catalog(void **state)
{
    struct fixture *f = *state;
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
    free(f);
    return 0;
}

static inline int add_text(struct fixture *f, const char *text)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_yaml(&f->arena, "my.yaml", myr_str_from(text), &doc, &f->err));
    return myr_catalog_add(&f->catalog, doc, &f->err);
}

static inline void assert_added(struct fixture *f, const char *text)
{
    if (add_text(f, text) < 0) {
        fail_msg("%s", f->err.message);
    }
}

static inline uint32_t find_part(const struct fixture *f, const char *name)
{
    uint32_t part = myr_catalog_find(&f->catalog, myr_str_from(name));
    if (part == MYR_PART_NONE) {
        fail_msg("'%s' is not in the catalogue", name);
    }
    return part;
}

static inline const struct myr_part *get_part(const struct fixture *f, const char *name)
{
    return &f->catalog.parts.items[find_part(f, name)];
}
