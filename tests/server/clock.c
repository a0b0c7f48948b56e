/*
 * Loaded before the C library: the wall clock is off by as many seconds as the file says that
 * MYRIAD_TEST_CLOCK names; the steady clock is not.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void)
{
    char text[32] = "";
    const char *path = getenv("MYRIAD_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    const char *at = text;
    long sign = got > 0 && *at == '-' ? -1 : 1, value = 0;
    for (at += sign<0; got> 0 && *at >= '0' && *at <= '9'; at++) {
        value = 10 * value + (*at - '0');
    }
    return sign * value;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int rc = real(clock, ret);
    if (rc == 0 && clock == CLOCK_REALTIME) {
        ret->tv_sec += offset_s();
    }
    return rc;
}
