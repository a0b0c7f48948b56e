/*
 * What the parts of base/file share: folders that can be taken back, and signals that wait.
 */
#pragma once

#include "myriad/base/file.h"

/* Told of every folder that was made, parents first. */
struct file_made {
    void *context;
    void (*tell)(void *context, const char *path);
};

MYR_MUST_USE int file_make_dirs(const char *path, const struct file_made *made,
                                struct myr_err *err);

/* Holds may lie within each other; the outermost lets the signal through. */
void file_hold(struct myr_signal_hold *hold);
void file_release(struct myr_signal_hold *hold);
/* Whether a signal waits that was not blocked, nor ignored, before the hold. */
bool file_interrupted(const struct myr_signal_hold *hold);

/* As myr_outfile_open; 'outer' is the hold of the file set that will give the file its name. */
MYR_MUST_USE int file_open(struct myr_outfile *file, const char *path,
                           const struct myr_signal_hold *outer, struct myr_err *err);
/* Finds what 'path' stands for and opens it, or the temporary file beside it. */
MYR_MUST_USE int file_open_target(struct myr_outfile *file, struct myr_err *err);
/*
 * As myr_err_errno for a name that could not be made: a folder that is not there was mistyped, one
 * that is there and takes no file is the environment's doing.
 */
int file_make_error(struct myr_err *err, const char *what, const char *path, const char *target);
/* Waits a little for room; errno stays. */
void file_wait_writable(int fd);
