/* What a test of readers reads into, empty at its beginning. */
#pragma once

#include "myriad/site.h"

struct fixture {
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_err err;
};

static inline void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    myr_cabling_init(&f->cabling, &f->arena);
    myr_import_init(&f->import, &f->cabling);
}

static inline void finish(struct fixture *f)
{
    myr_import_done(&f->import);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}
