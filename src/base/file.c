/* file: whole-file reads, folders made with their parents, the clock. Writing is in outfile.c. */
#include "myriad/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file_internal.h"

enum { READ_CHUNK_BYTES = 64 * 1024 };

const char *myr_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

/*
 * Reads to the end rather than by the file's size: a pipe has none, and files of /proc say 0. The
 * limit is looked at after each chunk, so that an endless input costs no more than one beyond it.
 */
static int read_all(int fd, const char *path, size_t limit, struct myr_buf *ret,
                    struct myr_err *err)
{
    MYR_ASSERT(fd >= 0 && ret->len == 0); /* the limit is of the file, not of what was there */
    for (;;) {
        myr_buf_reserve(ret, READ_CHUNK_BYTES);
        ssize_t got = read(fd, ret->data + ret->len, READ_CHUNK_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return myr_err_errno(err, "cannot read", path);
        }
        MYR_ASSERT(got <= READ_CHUNK_BYTES);
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
    int rc = read_all(fd, myr_file_name(path), limit, ret, err);
    if (!from_stdin) {
        close(fd);
    }
    return rc;
}

/* False for all but regular files: two pipes or devices are never one file to a caller. */
static bool stat_file(const char *path, struct stat *ret)
{
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, ret) : stat(path, ret);
    return rc == 0 && S_ISREG(ret->st_mode);
}

bool myr_file_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat_file(path, &a) && stat_file(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Folders that are there are passed over; 'made' hears of the others, and may be NULL. */
int file_make_dirs(const char *path, const struct file_made *made, struct myr_err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(part)) {
        return myr_err_set(err, MYR_EINVAL, "'%.100s' is not a usable directory name", path);
    }
    /* From 1: the root of an absolute path is there already. Each part is made before the next. */
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) == 0) {
            if (made) {
                made->tell(made->context, part);
            }
        } else if (errno != EEXIST) {
            return file_make_error(err, "cannot make the directory", part, part);
        }
    }
    /*
     * mkdir says EEXIST of a file too, so that the kind of what is there is looked at in the end.
     */
    struct stat st;
    if (stat(path, &st) < 0) {
        return myr_err_errno(err, "cannot make the directory", path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return myr_err_set(err, MYR_EINVAL, "%s: is a file, a directory is needed", path);
    }
    return MYR_OK;
}

int myr_make_dirs(const char *path, struct myr_err *err)
{
    return file_make_dirs(path, NULL, err);
}

/* Monotonic: durations are measured with it, and a step of the wall clock must not show in them. */
int64_t myr_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
