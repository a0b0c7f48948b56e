/*
 * outfile: one file written under a temporary name, which takes its own name when it is whole.
 * target.c finds what the name stands for; hold.c keeps signals away meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "file_internal.h"

enum { DRAIN_BYTES = 1024 * 1024 }; /* at most so much between two looks for signals */

int file_open(struct myr_outfile *file, const char *path, const struct myr_signal_hold *outer,
              struct myr_err *err)
{
    *file = (struct myr_outfile){.fd = -1, .path = path, .outer = outer, .kept = outer != NULL};
    if (strcmp(path, "-") == 0) {
        /* A copy, so that closing it leaves standard output open for others. */
        file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        file->open = file->fd >= 0;
        return file->open ? MYR_OK : myr_err_errno(err, "cannot write", "standard output");
    }
    file_hold(&file->hold);
    int rc = file_open_target(file, err);
    MYR_ASSERT((rc == MYR_OK) == (file->fd >= 0));
    file->open = rc == MYR_OK;
    if (!file->temp[0] || rc < 0) {
        file_release(&file->hold); /* nothing to take away */
    }
    return rc;
}

int myr_outfile_open(struct myr_outfile *file, const char *path, struct myr_err *err)
{
    return file_open(file, path, NULL, err);
}

/* So much as the file takes at once; 0 where it is to be asked again, or never again. */
static size_t write_some(struct myr_outfile *file, const char *at, size_t len)
{
    ssize_t put = write(file->fd, at, len < DRAIN_BYTES ? len : DRAIN_BYTES);
    if (put >= 0) {
        return (size_t)put;
    }
    if (errno == EAGAIN) {
        file_wait_writable(file->fd); /* a FIFO that nobody empties: look for signals */
    } else if (errno != EINTR) {
        file->error = errno;
    }
    return 0;
}

void myr_outfile_write(struct myr_outfile *file, const void *data, size_t len)
{
    const char *at = data;
    MYR_ASSERT(file->open && file->fd >= 0);
    /* After the first error nothing is written: commit reports it, row loops need not look. */
    while (len > 0 && file->error == 0) {
        /*
         * Of a file in a set the set's hold: it began first, and the file's finds the signals
         * blocked.
         */
        if (file_interrupted(file->outer ? file->outer : &file->hold)) {
            file->error = EINTR;
        } else {
            size_t put = write_some(file, at, len);
            MYR_ASSERT(put <= len);
            at += put;
            len -= put;
        }
    }
}

/* Below a block nothing is written: small rows gather in the buffer. */
void myr_outfile_drain(struct myr_outfile *file, struct myr_buf *buf)
{
    if (buf->len >= DRAIN_BYTES) {
        myr_outfile_write(file, buf->data, buf->len);
        myr_buf_clear(buf);
    }
}

/* The set syncs its files together, which is far cheaper than one after the other. */
static int finish(struct myr_outfile *file)
{
    bool alone = file->temp[0] && !file->kept;
    if (file->error == 0 && alone && fsync(file->fd) < 0) {
        file->error = errno;
    }
    if (close(file->fd) < 0 && file->error == 0) {
        file->error = errno;
    }
    file->fd = -1;
    /* Only what is whole and on the disk takes the name: after a crash the old file or this one. */
    if (file->error == 0 && alone && rename(file->temp, file->target) < 0) {
        file->error = errno;
    }
    return file->error;
}

int myr_outfile_commit(struct myr_outfile *file, struct myr_err *err)
{
    MYR_ASSERT(file->open && file->fd >= 0);
    if (finish(file) == 0) {
        MYR_ASSERT(file->fd < 0);
        file->open = false;
        file_release(&file->hold);
        return MYR_OK;
    }
    /* The message is made before abandon, whose own calls change errno. */
    errno = file->error;
    int rc = myr_err_errno(err, "cannot write",
                           strcmp(file->path, "-") == 0 ? "standard output" : file->path);
    myr_outfile_abandon(file);
    return rc;
}

void myr_outfile_abandon(struct myr_outfile *file)
{
    if (file->open) {
        if (file->fd >= 0) {
            close(file->fd);
        }
        if (file->temp[0]) {
            unlink(file->temp);
        }
        file->open = false;
        file_release(&file->hold);
    }
}

int myr_file_write(const char *path, const struct myr_buf *buf, struct myr_err *err)
{
    struct myr_outfile file MYR_CLEANUP(myr_outfile_abandon) = {};
    MYR_TRY(myr_outfile_open(&file, path, err));
    myr_outfile_write(&file, buf->data, buf->len);
    return myr_outfile_commit(&file, err);
}
