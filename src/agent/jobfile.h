/*
 * jobfile: what an agent needs of a job file. The rest of it is the server's, who has checked it;
 * here keys that are not known are left alone, so that an older agent serves a newer server.
 */
#pragma once

#include "myriad/base.h"

#define JOBFILE_WORDS_MAX 4096

struct jobfile {
    const char *const *command; /* argv, NULL at the end */
    const char *const *env;     /* "NAME=value", NULL at the end */
    const char *directory, *checkpoint, *prolog, *epilog, *pattern, *image; /* or NULL */
};

/* YAML, or JSON where it begins with '{'. Everything lies in the arena. */
MYR_MUST_USE int jobfile_read(struct myr_arena *arena, struct myr_str text, struct jobfile *ret,
                              struct myr_err *err);
