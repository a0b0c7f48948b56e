/*
 * target: what the name of a file to be written stands for. A link is followed, a device or a FIFO
 * is opened as it is, a regular file gets a temporary one beside it, on the same file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_internal.h"

/* Links as many as Linux follows; 20 ms is how long Ctrl-C waits while nobody reads a FIFO. */
enum { LINKS_MAX = 40, TEMP_NAMES_MAX = 100, WAIT_MS = 20 };

/* "/dev/stdout" and "/dev/fd/5" are open already; to open them again would start at the front. */
static int open_fd_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(folders); i++) {
        size_t len = strlen(folders[i]);
        uint64_t number;
        if (strncmp(path, folders[i], len) == 0 &&
            myr_str_to_u64(myr_str_from(path + len), &number) && number <= INT32_MAX) {
            return (int)number;
        }
    }
    return -1;
}

/* Puts what the link at 'path' says in its place. Returns 0, or an errno. */
static int follow(char *path, size_t room)
{
    char link[4096];
    ssize_t len = readlink(path, link, sizeof(link) - 1);
    if (len <= 0) {
        return len < 0 ? errno : ENOENT;
    }
    link[len] = '\0';
    const char *slash = strrchr(path, '/');
    /* A relative link counts from the folder that it lies in. */
    size_t folder = link[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (folder + (size_t)len >= room) {
        return ENAMETOOLONG;
    }
    memcpy(path + folder, link, (size_t)len + 1);
    return 0;
}

/*
 * Follows links of 'target' in place. Returns 0 or an errno; 'ret' is set only where something is
 * there. A link that leads nowhere is followed too: the file appears where it points.
 */
static int resolve(char *target, size_t room, struct stat *ret, bool *ret_there)
{
    struct stat st;
    for (uint32_t links = 0; links <= LINKS_MAX; links++) {
        if (open_fd_of(target) >= 0) {
            *ret_there = false;
            return 0;
        }
        if (lstat(target, &st) < 0) {
            *ret_there = false; /* a missing folder is found when the file is made */
            return errno == ENOENT ? 0 : errno;
        }
        if (!S_ISLNK(st.st_mode)) {
            *ret = st;
            *ret_there = true;
            return 0;
        }
        int error = follow(target, room);
        if (error) {
            return error;
        }
    }
    return ELOOP;
}

void file_wait_writable(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    int error = errno;
    (void)poll(&entry, 1, WAIT_MS);
    errno = error;
}

/* A FIFO is opened when somebody reads it; until then Ctrl-C is listened to. */
static int open_direct(struct myr_outfile *file)
{
    for (;;) {
        int fd = open(file->target, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0 || (errno != ENXIO && errno != EINTR)) {
            return fd;
        }
        if (file_interrupted(file->outer ? file->outer : &file->hold)) {
            errno = EINTR;
            return -1;
        }
        (void)poll(NULL, 0, WAIT_MS);
    }
}

/* The new file takes the rights of the one that it replaces, and its owner where we may. */
static int inherit(int fd, const struct stat *old)
{
    struct stat made;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &made) < 0) {
        return -1;
    }
    if (made.st_uid != old->st_uid) {
        (void)!fchown(fd, old->st_uid, (gid_t)-1);
    }
    if (made.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) < 0) {
        /* The group that could not be given may have had more rights than everybody. */
        mode = (mode & ~(mode_t)0070) | (mode & 0007) << 3; /* another group gets no more */
    }
    return fchmod(fd, mode);
}

/* Beside the target, so that the rename stays on one file system. -1 with errno. */
static int open_temp(struct myr_outfile *file, const struct stat *old)
{
    /* Who may not write a file may not replace it either. */
    if (old && access(file->target, W_OK) < 0) {
        return -1;
    }
    /* Two names of a set may lead to one file, and a killed run may have left its own. */
    for (uint32_t i = 0; i < TEMP_NAMES_MAX && file->fd < 0; i++) {
        int len = snprintf(file->temp, sizeof(file->temp), i ? "%s.tmp-%ld-%u" : "%s.tmp-%ld",
                           file->target, (long)getpid(), i);
        if ((size_t)len >= sizeof(file->temp)) {
            file->temp[0] = '\0';
            errno = ENAMETOOLONG;
            return -1;
        }
        /*
         * 0600 until inherit() has given it the rights of the old one: a secret is never readable.
         */
        file->fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0644);
        if (file->fd < 0 && errno != EEXIST) {
            return -1;
        }
    }
    if (file->fd >= 0 && old && inherit(file->fd, old) < 0) {
        int error = errno;
        close(file->fd);
        unlink(file->temp);
        errno = error;
        file->fd = -1;
    }
    return file->fd;
}

int file_make_error(struct myr_err *err, const char *what, const char *path, const char *target)
{
    int error = errno, rc = myr_err_errno(err, what, path);
    const char *slash = strrchr(target, '/');
    char folder[4096] = ".";
    struct stat st;
    if (slash && (size_t)(slash - target) + 2 < sizeof(folder)) {
        memcpy(folder, target, (size_t)(slash - target) + 1); /* the rest is zero */
    }
    if (error == ENOENT && stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) {
        rc = myr_err_set(err, MYR_EIO, "%s: %s: %s", path, what, strerror(error));
    }
    return rc;
}

int file_open_target(struct myr_outfile *file, struct myr_err *err)
{
    struct stat st = {};
    bool there = false;
    MYR_ASSERT(file->fd < 0 && !file->temp[0]);
    int len = snprintf(file->target, sizeof(file->target), "%s", file->path);
    if ((size_t)len >= sizeof(file->target)) {
        return myr_err_set(err, MYR_EINVAL, "%.100s...: path is too long", file->path);
    }
    int error = resolve(file->target, sizeof(file->target), &st, &there);
    if (error) {
        errno = error;
        return error == ENAMETOOLONG
                   ? myr_err_set(err, MYR_EINVAL, "%.100s...: path is too long", file->path)
                   : myr_err_errno(err, "cannot write", file->path);
    }
    /* Asked again, of what the links led to: "/dev/stdout" is one to "/proc/self/fd/1". */
    int own = open_fd_of(file->target);
    if (there && (S_ISSOCK(st.st_mode) || S_ISBLK(st.st_mode))) {
        return myr_err_set(err, MYR_EINVAL, "%s: is a %s, a file is needed", file->path,
                           S_ISSOCK(st.st_mode) ? "socket" : "disk");
    }
    if (own >= 0) {
        file->fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
    } else if (there && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))) {
        file->fd = open_direct(file);
    } else {
        file->fd = open_temp(file, there && S_ISREG(st.st_mode) ? &st : NULL);
    }
    if (file->fd < 0 && errno == ENAMETOOLONG) {
        return myr_err_set(err, MYR_EINVAL, "%.100s...: path is too long", file->path);
    }
    return file->fd >= 0 ? MYR_OK : file_make_error(err, "cannot write", file->path, file->target);
}

/* By name: another way to where standard output was redirected to is a file like any other. */
bool myr_file_is_stdout(const char *path)
{
    char target[4096];
    struct stat st;
    bool there;
    int len = snprintf(target, sizeof(target), "%s", path);
    return strcmp(path, "-") == 0 ||
           ((size_t)len < sizeof(target) && resolve(target, sizeof(target), &st, &there) == 0 &&
            open_fd_of(target) == STDOUT_FILENO);
}
