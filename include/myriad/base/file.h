/*
 * file: whole-file reads with a limit, writes that appear whole or not at all, the clock.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "myriad/base/str.h"

/* What messages call a file: "stdin" for "-", which is standard input; 'path' itself else. */
const char *myr_file_name(const char *path);

/* Reads a whole file ("-" is standard input). More than 'limit' bytes is an error. */
MYR_MUST_USE int myr_file_read(const char *path, size_t limit, struct myr_buf *ret,
                               struct myr_err *err);

/*
 * Signals that would end the program wait while files with temporary names exist, so that Ctrl-C
 * leaves none behind. One that waits makes the next write fail: what was begun is taken away, and
 * then the signal does what it does. Nothing slow belongs between open and commit but writing.
 */
struct myr_signal_hold {
    sigset_t before, held;
    bool on;
};

/*
 * A file being written: goes to "path.tmp-PID" and takes its name in commit, synced first; in a
 * file set it waits there for the others. "-" is standard output, where nothing can be taken back.
 * 'abandon' (also after commit, and on a zeroed struct) leaves nothing behind.
 *
 * What has the name already keeps its kind: a symbolic link is followed, and the new file appears
 * where it leads; a file keeps its rights, and its owner where we may; a device, a FIFO or an open
 * descriptor ("/dev/stdout") is written at once. Sockets and disks are refused.
 */
struct myr_outfile {
    int fd;
    bool open;
    const char *path;  /* borrowed */
    char target[4096]; /* 'path' with links followed */
    char temp[4096];   /* empty: written directly */
    int error;         /* first errno met; reported by commit */
    bool kept; /* under its temporary name by commit: the file set that it is of renames it */
    struct myr_signal_hold hold;
    const struct myr_signal_hold *outer; /* of the file set; NULL: the file is alone */
};

MYR_MUST_USE int myr_outfile_open(struct myr_outfile *file, const char *path, struct myr_err *err);
void myr_outfile_write(struct myr_outfile *file, const void *data, size_t len);
/* Writes and clears the buffer once it holds more than a block; call it in the row loop. */
void myr_outfile_drain(struct myr_outfile *file, struct myr_buf *buf);
MYR_MUST_USE int myr_outfile_commit(struct myr_outfile *file, struct myr_err *err);
void myr_outfile_abandon(struct myr_outfile *file);

/* A whole file from one buffer, or nothing. */
MYR_MUST_USE int myr_file_write(const char *path, const struct myr_buf *buf, struct myr_err *err);

/*
 * Whether two names lead to one file, by links or by any other way; "-" is standard input. What is
 * not there, and devices and FIFOs, are the same as nothing.
 */
bool myr_file_same(const char *path, const char *other);

/* Whether what is written there would stand between what is printed: "-", "/dev/stdout". */
bool myr_file_is_stdout(const char *path);

/* Makes the directory and its parents. */
MYR_MUST_USE int myr_make_dirs(const char *path, struct myr_err *err);

int64_t myr_clock_ns(void);
