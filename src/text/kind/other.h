/*
 * kind_other: files that no reader here takes, and that people give it anyway: what other commands
 * print, archives, pictures, configurations. Each is told by what only it has.
 */
#pragma once

#include "myriad/base.h"

struct kind_other {
    const char *words; /* "a PDF document" */
    const char *hint;  /* what to give instead; NULL: nothing better is known */
};

/*
 * NULL when it is none of them. 'line' is the first that is neither blank nor a remark;
 * 'ret_printed' is true for what is told by words, and so may stand in a log.
 */
const struct kind_other *kind_other_of(struct myr_str text, struct myr_str line, bool *ret_printed);
