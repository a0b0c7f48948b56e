/*
 * Loaded before the C library: ends the process inside of its Nth write or sync of a file, a write
 * half done, as a power cut would. MYRIAD_TEST_DIE says N; sockets and terminals do not count.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long calls;

static int is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int now(int fd)
{
    static long at = -1;
    if (at < 0) {
        const char *text = getenv("MYRIAD_TEST_DIE");
        at = 0;
        for (; text && *text >= '0' && *text <= '9'; text++) {
            at = 10 * at + (*text - '0');
        }
    }
    return at > 0 && is_file(fd) && ++calls == at;
}

static void die(void)
{
    raise(SIGKILL);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *data, size_t size,
                                                        off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    }
    if (now(fd)) {
        real(fd, data, size / 2, offset);
        die();
    }
    return real(fd, data, size, offset);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t size,
                                                      off_t offset)
{
    return pwrite64(fd, data, size, offset);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    static int (*real)(int);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    }
    if (now(fd)) {
        die();
    }
    return real(fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    static int (*real)(int);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    }
    if (now(fd)) {
        die();
    }
    return real(fd);
}
