/*
 * ask: one connection that asks a server the same thing again and again, and how long each answer
 * took from the first byte sent to the last one received.
 *
 *     bench_ask PORT TOKEN_FILE PATH SECONDS PAUSE_MS
 *
 * HTTP/1.1 on 127.0.0.1 with the connection kept; answers have a Content-Length. Ends with a line
 * of JSON: how many, how many bytes the last had, p50, p99 and the longest in milliseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "myriad/base.h"

enum { HEAD_MAX = 16384, TIMES_MAX = 1 << 20 };

static char body[1 << 20], head[HEAD_MAX + 1];
static double times_ms[TIMES_MAX];

static void fail(const char *what)
{
    fprintf(stderr, "ask: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
    exit(1);
}

static int dial(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
        fail("connecting");
    }
    return fd;
}

/* The bytes of the body, which are thrown away. */
static uint64_t take_answer(int fd)
{
    size_t len = 0;
    char *end = NULL;
    while (!end) {
        ssize_t got = recv(fd, head + len, HEAD_MAX - len, 0);
        if (got <= 0) {
            fail("reading");
        }
        len += (size_t)got;
        head[len] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    const char *field = strcasestr(head, "content-length:");
    uint64_t size = 0;
    errno = 0;
    if (strncmp(head, "HTTP/1.1 200", 12) != 0 || !field) {
        fail("the answer");
    }
    field += strlen("content-length:") + strspn(field + strlen("content-length:"), " ");
    if (!myr_str_to_u64((struct myr_str){field, strspn(field, "0123456789")}, &size)) {
        fail("its length");
    }
    uint64_t have = (uint64_t)(head + len - (end + 4));
    while (have < size) {
        ssize_t got = recv(fd, body, sizeof(body), 0);
        if (got <= 0) {
            fail("reading on");
        }
        have += (uint64_t)got;
    }
    return size;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    struct myr_buf token = {}, request = {};
    struct myr_err err = {};
    uint64_t port, seconds, pause_ms, bytes = 0;
    uint32_t count = 0;
    if (argc != 6 || !myr_str_to_u64(myr_str_from(argv[1]), &port) ||
        !myr_str_to_u64(myr_str_from(argv[4]), &seconds) ||
        !myr_str_to_u64(myr_str_from(argv[5]), &pause_ms) ||
        myr_file_read(argv[2], 4096, &token, &err) < 0) {
        fprintf(stderr, "usage: bench_ask PORT TOKEN_FILE PATH SECONDS PAUSE_MS\n");
        return 2;
    }
    myr_buf_printf(&request,
                   "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %.*s\r\n\r\n",
                   argv[3], (int)strcspn(token.data, "\r\n"), token.data);
    int fd = dial((uint16_t)port);
    int64_t ends_ns = myr_clock_ns() + (int64_t)seconds * 1000000000;
    while (myr_clock_ns() < ends_ns && count < TIMES_MAX) {
        int64_t begun_ns = myr_clock_ns();
        if (send(fd, request.data, request.len, 0) != (ssize_t)request.len) {
            fail("asking");
        }
        bytes = take_answer(fd);
        times_ms[count++] = (double)(myr_clock_ns() - begun_ns) / 1e6;
        struct timespec pause = {(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000};
        nanosleep(&pause, NULL);
    }
    qsort(times_ms, count, sizeof(*times_ms), compare);
    printf("{\"asked\":%u,\"bytes\":%llu,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f}\n", count,
           (unsigned long long)bytes, times_ms[count / 2], times_ms[count * 99ULL / 100],
           times_ms[count - 1]);
    close(fd);
    myr_buf_done(&token);
    myr_buf_done(&request);
    return 0;
}
