/*
 * kernel: what code asks of the kernel about files, call by call, and what it does when one of the
 * calls is refused. For one source of a test program; include it after cmocka.
 *
 * The calls of the C library are defined here in place of its own. While watched, those that are
 * about a folder of the test's, or about a file that was opened there, are written down; one of
 * them, by its number, fails, is interrupted, or does half of what was asked. A scenario is played
 * again and again, each time with the next call refused, and the text of all that is held against
 * a kept one: a sync that is left out, a file that stays open or lies about, an error that is
 * taken for something else are then seen, whichever line they come from.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "myriad/base.h"

enum { KERNEL_FILES = 256, KERNEL_NAME = 128, KERNEL_CALLS = 512 };

/* What becomes of the call that is not simply carried out. */
enum kernel_way { KERNEL_FAILS, KERNEL_INTERRUPTED, KERNEL_HALF };

static struct {
    bool on;
    char root[64]; /* calls below this folder are watched */
    struct myr_buf told;
    uint32_t calls, refused; /* the number of the call that is refused; 0: none */
    enum kernel_way way;
    const char *only; /* when there are very many: only the last call of this name is refused */
    uint32_t only_at;
    bool happened;
    bool sizes_differ;   /* of keys and certificates: they are left out */
    bool errno_changes;  /* by calls that succeed, too: who wants the one before has to keep it */
    const char *ignored; /* names with this in them are a library's own business */
    /* Calls about names with these in them are not refused: they are alike others that are. */
    const char *spared[4];
    uint32_t follow;           /* calls that are told behind the refused one; 0: all */
    uint8_t can[KERNEL_CALLS]; /* by the number of a call: the ways in which it can be refused, as
                                  bits */
    char names[KERNEL_FILES][KERNEL_NAME]; /* of open files; empty: not watched */
} kernel;

/* What calls that succeed leave in errno, where they do; no call that is watched fails so. */
#define KERNEL_ANY_ERRNO EXFULL

/* Seen by the libraries too. */
#define KERNEL_CALL __attribute__((visibility("default")))

/* A text with the folder's name and this process's number left out: both differ every time. */
static inline void kernel_put(const char *text)
{
    char pid[24];
    int len = snprintf(pid, sizeof(pid), "-%ld", (long)getpid());
    size_t root = strlen(kernel.root);
    while (*text) {
        if (root && strncmp(text, kernel.root, root) == 0) {
            text += root;
            myr_buf_putc(&kernel.told, '~');
        } else if (strncmp(text, pid, (size_t)len) == 0) {
            text += len;
            myr_buf_puts(&kernel.told, "-PID");
        } else {
            myr_buf_putc(&kernel.told, *text++);
        }
    }
}

static inline bool kernel_is_below(const char *path)
{
    return kernel.on && strncmp(path, kernel.root, strlen(kernel.root)) == 0 &&
           !(kernel.ignored && strstr(path, kernel.ignored));
}

static inline bool kernel_is_open(int fd)
{
    return kernel.on && fd >= 0 && fd < KERNEL_FILES && kernel.names[fd][0];
}

/* Writes the call down. True: it is this one that is refused, and errno is set. */
static inline __attribute__((format(printf, 3, 4))) bool
kernel_tell(const char *what, const char *about, const char *fmt, ...)
{
    char more[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(more, sizeof(more), fmt, args);
    va_end(args);
    bool refused = ++kernel.calls == kernel.refused;
    bool moves = strcmp(what, "read") == 0 || strcmp(what, "write") == 0;
    uint8_t can = moves ? 7 : 1;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kernel.spared) && kernel.spared[i]; i++) {
        can = strstr(about, kernel.spared[i]) ? 0 : can;
    }
    if (kernel.refused == 0 && kernel.calls < KERNEL_CALLS) {
        kernel.can[kernel.calls] = can;
    }
    refused = refused && (can >> kernel.way & 1);
    kernel.only_at = kernel.only && !strcmp(what, kernel.only) ? kernel.calls : kernel.only_at;
    static const char *const ways[] = {" FAILS", " INTERRUPTED", " HALF"};
    uint32_t behind = kernel.happened ? kernel.calls - kernel.refused : 0;
    if (kernel.follow && behind == kernel.follow) {
        myr_buf_puts(&kernel.told, "    ...\n");
    }
    if (kernel.refused == 0 || refused ||
        (kernel.happened && (!kernel.follow || behind < kernel.follow))) {
        myr_buf_printf(&kernel.told, "    %s ", what);
        kernel_put(about);
        kernel_put(more);
        myr_buf_printf(&kernel.told, "%s\n", refused ? ways[kernel.way] : "");
    }
    kernel.happened = kernel.happened || refused;
    if (!refused || kernel.way == KERNEL_HALF) {
        return false;
    }
    errno = kernel.way == KERNEL_INTERRUPTED ? EINTR : EIO;
    return true;
}

static inline size_t kernel_half(size_t len)
{
    return kernel.calls == kernel.refused && kernel.way == KERNEL_HALF ? (len + 1) / 2 : len;
}

KERNEL_CALL int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    bool watched = kernel_is_below(path);
    if (watched &&
        kernel_tell("open", path, "%s%s%s%s%s%s%s", flags & O_WRONLY ? " write" : "",
                    flags & O_CREAT ? " create" : "", flags & O_EXCL ? " new" : "",
                    flags & O_TRUNC ? " empty" : "", flags & O_APPEND ? " append" : "",
                    flags & O_CLOEXEC ? "" : " inherited", flags & O_NOFOLLOW ? " no-link" : "")) {
        return -1;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (watched && fd >= 0 && fd < KERNEL_FILES) {
        snprintf(kernel.names[fd], KERNEL_NAME, "%s", path);
    }
    return fd;
}

KERNEL_CALL int close(int fd)
{
    bool refused = kernel_is_open(fd) && kernel_tell("close", kernel.names[fd], "%s", "");
    if (fd >= 0 && fd < KERNEL_FILES) {
        kernel.names[fd][0] = '\0';
    }
    int rc = (int)syscall(SYS_close, fd); /* it is closed all the same, as Linux has it */
    errno = refused ? EIO : rc == 0 && kernel.errno_changes ? KERNEL_ANY_ERRNO : errno;
    return refused ? -1 : rc;
}

KERNEL_CALL ssize_t read(int fd, void *bytes, size_t len)
{
    if (kernel_is_open(fd)) {
        if (kernel_tell("read", kernel.names[fd], "%s", "")) {
            return -1;
        }
        if (!kernel.sizes_differ) {
            len = kernel_half(len < 8 ? len : 16); /* small, so that it takes several */
        }
    }
    return syscall(SYS_read, fd, bytes, len);
}

KERNEL_CALL ssize_t write(int fd, const void *bytes, size_t len)
{
    if (kernel_is_open(fd)) {
        char size[32] = "";
        if (!kernel.sizes_differ) {
            snprintf(size, sizeof(size), " %zu", len);
        }
        if (kernel_tell("write", kernel.names[fd], "%s", size)) {
            return -1;
        }
        len = kernel_half(len);
    }
    return syscall(SYS_write, fd, bytes, len);
}

KERNEL_CALL ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    if (kernel_is_open(fd) &&
        kernel_tell("pwrite", kernel.names[fd], " %zu at %lld", len, (long long)at)) {
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, len, at);
}

KERNEL_CALL ssize_t pread(int fd, void *bytes, size_t len, off_t at)
{
    if (kernel_is_open(fd) &&
        kernel_tell("pread", kernel.names[fd], " %zu at %lld", len, (long long)at)) {
        return -1;
    }
    return syscall(SYS_pread64, fd, bytes, len, at);
}

/* A test's files need not survive a power cut: no disk is waited for. */
KERNEL_CALL int fsync(int fd)
{
    return kernel_is_open(fd) && kernel_tell("fsync", kernel.names[fd], "%s", "") ? -1 : 0;
}

KERNEL_CALL int fdatasync(int fd)
{
    return kernel_is_open(fd) && kernel_tell("fdatasync", kernel.names[fd], "%s", "") ? -1 : 0;
}

KERNEL_CALL int syncfs(int fd)
{
    return kernel_is_open(fd) && kernel_tell("syncfs", kernel.names[fd], "%s", "") ? -1 : 0;
}

KERNEL_CALL int fstat(int fd, struct stat *ret)
{
    bool refused = kernel_is_open(fd) && kernel_tell("fstat", kernel.names[fd], "%s", "");
    return refused ? -1 : (int)syscall(SYS_fstat, fd, ret);
}

KERNEL_CALL int stat(const char *path, struct stat *ret)
{
    bool refused = kernel_is_below(path) && kernel_tell("stat", path, "%s", "");
    return refused ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, 0);
}

KERNEL_CALL int lstat(const char *path, struct stat *ret)
{
    bool refused = kernel_is_below(path) && kernel_tell("lstat", path, "%s", "");
    return refused ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

KERNEL_CALL int rename(const char *from, const char *to)
{
    bool refused = kernel_is_below(from) && kernel_tell("rename", from, " to %s", to);
    return refused ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

KERNEL_CALL int unlink(const char *path)
{
    bool refused = kernel_is_below(path) && kernel_tell("unlink", path, "%s", "");
    int rc = refused ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    errno = rc == 0 && kernel.errno_changes ? KERNEL_ANY_ERRNO : errno;
    return rc;
}

KERNEL_CALL int rmdir(const char *path)
{
    bool refused = kernel_is_below(path) && kernel_tell("rmdir", path, "%s", "");
    return refused ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

KERNEL_CALL int mkdir(const char *path, mode_t mode)
{
    bool refused = kernel_is_below(path) && kernel_tell("mkdir", path, " %03o", mode);
    return refused ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

KERNEL_CALL int chmod(const char *path, mode_t mode)
{
    bool refused = kernel_is_below(path) && kernel_tell("chmod", path, " %03o", mode);
    return refused ? -1 : (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

KERNEL_CALL int fchmod(int fd, mode_t mode)
{
    bool refused = kernel_is_open(fd) && kernel_tell("fchmod", kernel.names[fd], " %03o", mode);
    return refused ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

KERNEL_CALL int access(const char *path, int mode)
{
    bool refused = kernel_is_below(path) && kernel_tell("access", path, " %d", mode);
    return refused ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

KERNEL_CALL int flock(int fd, int operation)
{
    bool refused = kernel_is_open(fd) && kernel_tell("flock", kernel.names[fd], " %d", operation);
    return refused ? -1 : (int)syscall(SYS_flock, fd, operation);
}

KERNEL_CALL ssize_t readlink(const char *path, char *ret, size_t len)
{
    bool refused = kernel_is_below(path) && kernel_tell("readlink", path, "%s", "");
    return refused ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, ret, len);
}

/* --- scenarios */

/* What the scenario was told, where a call was refused before it. */
static inline void kernel_note(const char *what, int rc, const struct myr_err *err)
{
    if (kernel.refused && !kernel.happened) {
        return;
    }
    myr_buf_printf(&kernel.told, "  %s: %s", what, rc < 0 ? myr_err_name(rc) : "done");
    if (rc < 0) {
        myr_buf_puts(&kernel.told, ": ");
        kernel_put(err->message);
    }
    myr_buf_putc(&kernel.told, '\n');
}

/* What lies in a folder, in any depth, a line each; and all of it gone, if wanted. */
static inline void kernel_list(const char *folder, bool gone, struct myr_buf *ret)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[512];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && lstat(path, &st) == 0) {
            myr_buf_printf(ret, "%s %03o", path, st.st_mode & 0777);
            if (S_ISREG(st.st_mode) && !kernel.sizes_differ) {
                myr_buf_printf(ret, " %lld", (long long)st.st_size);
            }
            myr_buf_putc(ret, '\n');
            if (S_ISDIR(st.st_mode)) {
                kernel_list(path, gone, ret);
            }
            if (gone) {
                (void)remove(path);
            }
        }
        free(entries[i]);
    }
    free(count >= 0 ? entries : NULL);
}

/* The lines of one text that are not in the other. */
static inline void kernel_note_lines(const char *what, const struct myr_buf *lines,
                                     const struct myr_buf *others)
{
    for (const char *at = lines->len ? lines->data : ""; *at;) {
        char line[600];
        size_t len = strcspn(at, "\n") + 1;
        snprintf(line, sizeof(line), "\n%.*s", (int)len, at);
        if (!others->len || (strncmp(others->data, at, len) != 0 && !strstr(others->data, line))) {
            myr_buf_printf(&kernel.told, "  %s ", what);
            kernel_put(line + 1);
        }
        at += len;
    }
}

/* What has come into the folder, what is gone from it, and what is still open; then all is gone. */
static inline void kernel_note_left(const struct myr_buf *before)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    kernel_list(kernel.root, true, &now);
    kernel_note_lines("left", &now, before);
    kernel_note_lines("gone", before, &now);
    for (int fd = 0; fd < KERNEL_FILES; fd++) {
        if (kernel.names[fd][0]) {
            myr_buf_puts(&kernel.told, "  still open: ");
            kernel_put(kernel.names[fd]);
            myr_buf_putc(&kernel.told, '\n');
            kernel.names[fd][0] = '\0';
            (void)syscall(SYS_close, fd);
        }
    }
}

/* One round in a folder of its own, with the call of this number refused; 0: none. */
static inline void kernel_round(uint32_t refused, void (*prepare)(void), void (*play)(void))
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    snprintf(kernel.root, sizeof(kernel.root), "/tmp/myr-kernel-XXXXXX");
    assert_non_null(mkdtemp(kernel.root));
    if (prepare) {
        prepare();
        kernel_list(kernel.root, false, &before);
    }
    kernel.refused = refused;
    kernel.calls = kernel.only_at = 0;
    kernel.happened = false;
    kernel.on = true;
    play();
    kernel.on = false;
    kernel_note_left(&before);
    assert_int_equal(rmdir(kernel.root), 0);
    assert_true(kernel.happened || refused == 0); /* the scenario is the same every time */
}

/* As it should be, and with one call refused; where each would be too many. */
static inline void kernel_scenario_only(const char *name, const char *refused,
                                        void (*prepare)(void), void (*play)(void))
{
    mode_t mask = umask(022);
    kernel.way = KERNEL_FAILS;
    kernel.only = refused;
    myr_buf_printf(&kernel.told, "%s\n", name);
    kernel_round(0, prepare, play);
    if (kernel.only_at) {
        myr_buf_printf(&kernel.told, "%s: %s fails\n", name, refused);
        kernel_round(kernel.only_at, prepare, play);
    }
    kernel.only = NULL;
    umask(mask);
}

/* A scenario as it should be, and with each of its calls refused in each way. */
static inline void kernel_scenario(const char *name, void (*prepare)(void), void (*play)(void))
{
    static const char *const ways[] = {"fails", "is interrupted", "does half"};
    mode_t mask = umask(022);
    myr_buf_printf(&kernel.told, "%s\n", name);
    kernel_round(0, prepare, play);
    uint32_t calls = kernel.calls;
    assert_true(calls < KERNEL_CALLS);
    for (uint32_t way = KERNEL_FAILS; way <= KERNEL_HALF; way++) {
        kernel.way = (enum kernel_way)way;
        for (uint32_t call = 1; call <= calls; call++) {
            if (kernel.can[call] >> way & 1) {
                myr_buf_printf(&kernel.told, "%s: call %u %s\n", name, call, ways[way]);
                kernel_round(call, prepare, play);
            }
        }
    }
    umask(mask);
}
