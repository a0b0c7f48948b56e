/*
 * infile: a file read piece by piece, for what need not be in memory as a whole.
 *
 * "-" is standard input, as with myr_file_read(). A cleanup attribute may close it; closing twice
 * does no harm.
 */
#pragma once

#include "myriad/base/err.h"
#include "myriad/base/str.h"

struct myr_infile {
    int fd;
    const char *path; /* the caller's */
};

MYR_MUST_USE int myr_infile_open(struct myr_infile *file, const char *path, struct myr_err *err);
/* Appends up to 'most' bytes to 'buf'. 1 when there were any, 0 at the end, negative on error. */
MYR_MUST_USE int myr_infile_read(struct myr_infile *file, size_t most, struct myr_buf *buf,
                                 struct myr_err *err);
void myr_infile_close(struct myr_infile *file);
