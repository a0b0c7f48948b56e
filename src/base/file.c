#include "myriad/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READ_CHUNK_BYTES = 64 * 1024, DRAIN_BYTES = 1024 * 1024 };

static int read_all(int fd, const char *path, size_t limit, struct myr_buf *ret,
                    struct myr_err *err)
{
    for (;;) {
        myr_buf_reserve(ret, READ_CHUNK_BYTES);
        ssize_t got = read(fd, ret->data + ret->len, READ_CHUNK_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return myr_err_errno(err, "cannot read", path);
        }
        ret->len += (size_t)got;
        ret->data[ret->len] = '\0';
        if (ret->len > limit) {
            return myr_err_set(err, MYR_ERANGE, "%s: larger than %zu bytes, the most allowed here",
                               path, limit);
        }
        if (got == 0) {
            return MYR_OK;
        }
    }
}

int myr_file_read(const char *path, size_t limit, struct myr_buf *ret, struct myr_err *err)
{
    bool from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    myr_buf_clear(ret);
    int r = read_all(fd, path, limit, ret, err);
    if (!from_stdin) {
        close(fd);
    }
    return r;
}

int myr_outfile_open(struct myr_outfile *file, const char *path, struct myr_err *err)
{
    *file = (struct myr_outfile){.fd = -1, .path = path};
    int len = snprintf(file->temp, sizeof(file->temp), "%s.tmp-%ld", path, (long)getpid());
    if (len < 0 || (size_t)len >= sizeof(file->temp)) {
        return myr_err_set(err, MYR_EINVAL, "%.100s...: path is too long", path);
    }
    file->fd = open(file->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file->fd < 0) {
        return myr_err_errno(err, "cannot write", path);
    }
    file->open = true;
    return MYR_OK;
}

void myr_outfile_write(struct myr_outfile *file, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0 && file->error == 0) {
        ssize_t put = write(file->fd, at, len);
        if (put < 0) {
            if (errno == EINTR) {
                continue;
            }
            file->error = errno;
            return;
        }
        at += put;
        len -= (size_t)put;
    }
}

void myr_outfile_drain(struct myr_outfile *file, struct myr_buf *buf)
{
    if (buf->len >= DRAIN_BYTES) {
        myr_outfile_write(file, buf->data, buf->len);
        myr_buf_clear(buf);
    }
}

int myr_outfile_commit(struct myr_outfile *file, struct myr_err *err)
{
    MYR_ASSERT(file->open);
    if (close(file->fd) < 0 && file->error == 0) {
        file->error = errno;
    }
    file->fd = -1;
    if (file->error == 0 && rename(file->temp, file->path) == 0) {
        file->open = false;
        return MYR_OK;
    }
    if (file->error != 0) {
        errno = file->error;
    }
    int r = myr_err_errno(err, "cannot write", file->path);
    myr_outfile_abandon(file);
    return r;
}

void myr_outfile_abandon(struct myr_outfile *file)
{
    if (file->open) {
        if (file->fd >= 0) {
            close(file->fd);
        }
        unlink(file->temp);
        file->open = false;
    }
}

int myr_file_write(const char *path, const struct myr_buf *buf, struct myr_err *err)
{
    struct myr_outfile file = {0};
    int r = myr_outfile_open(&file, path, err);
    if (r == MYR_OK) {
        myr_outfile_write(&file, buf->data, buf->len);
        r = myr_outfile_commit(&file, err);
    }
    return r;
}

int myr_make_dirs(const char *path, struct myr_err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(part)) {
        return myr_err_set(err, MYR_EINVAL, "'%.100s' is not a usable directory name", path);
    }
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST) {
            return myr_err_errno(err, "cannot make the directory", part);
        }
    }
    struct stat st;
    if (stat(path, &st) < 0) {
        return myr_err_errno(err, "cannot make the directory", path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return myr_err_set(err, MYR_EINVAL, "%s: is a file, a directory is needed", path);
    }
    return MYR_OK;
}

int64_t myr_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
