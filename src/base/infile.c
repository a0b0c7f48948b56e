/* infile: a file or standard input, read piece by piece where the whole would not fit in memory. */
#include "myriad/base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "myriad/base/file.h"

int myr_infile_open(struct myr_infile *file, const char *path, struct myr_err *err)
{
    bool from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    *file = (struct myr_infile){fd, path};
    return MYR_OK;
}

int myr_infile_read(struct myr_infile *file, size_t most, struct myr_buf *buf, struct myr_err *err)
{
    MYR_ASSERT(file->fd >= 0 && most > 0);
    myr_buf_reserve(buf, most);
    ssize_t got;
    do {
        got = read(file->fd, buf->data + buf->len, most);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return myr_err_errno(err, "cannot read", myr_file_name(file->path));
    }
    MYR_ASSERT((size_t)got <= most);
    buf->len += (size_t)got;
    buf->data[buf->len] = '\0';
    /* 1: there may be more, 0: the end; an error is below 0. */
    return got > 0;
}

void myr_infile_close(struct myr_infile *file)
{
    if (file->fd > STDIN_FILENO) { /* standard input stays: it is not ours */
        close(file->fd);
    }
    file->fd = -1;
}
