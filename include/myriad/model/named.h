/*
 * named: files that an input named in turn. Nobody asked for them by name, and the answer depends
 * on them as much as on those that were: it names them too. The texts are whoever's filled it in.
 */
#pragma once

#include <stdint.h>

struct myr_named_file {
    const char *kind, *file, *by; /* "room", where it was found, and the file that names it */
};
#define MYR_NAMED_FILES_MAX 2
struct myr_named_files {
    struct myr_named_file items[MYR_NAMED_FILES_MAX];
    uint32_t count;
};
