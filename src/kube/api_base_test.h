/*
 * Time and connections of the API server of the tests (api_test.h). The clocks, connect() and the
 * waiting of libuv are defined here in place of the C library's: a connection is one end of a pair
 * of sockets whose other end is read here whenever the loop would wait; where nothing is left to do
 * time goes on to what comes next.
 */
#pragma once

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kube.h"
#include "myriad/kube/schedule.h"

#define FOR_ALL __attribute__((visibility("default")))

enum {
    API_PEERS = 64,
    API_FAULTS = 24,
    API_EVENTS = 256,
    API_OBJECTS = 400,
    API_PIECES = 4096,
};

/* What becomes of a request that is not simply answered; above 0: a status. */
enum api_way {
    API_CLOSES = -1,     /* without an answer */
    API_DOES_IT = -2,    /* and is gone before it says so */
    API_IS_SILENT = -3,  /* for ever */
    API_BABBLES = -4,    /* what is no HTTP */
    API_BREAKS_OFF = -5, /* in the middle of its answer */
    API_IS_GONE = -6,    /* with all connections */
    API_SAYS_TWICE = -7, /* an answer that nobody asked for behind it */
};

struct api_fault {
    const char *method, *path; /* a part of it */
    int way;
    const char *text; /* of a status: its message, or the body itself when it begins with '{' */
    uint32_t times;
};

struct api_event {
    int64_t at_ms;
    void (*happens)(void);
};

struct api_piece {
    int64_t at_ns;
    struct myr_buf bytes;
    bool closes;
    int fd;
};

struct api_peer {
    int fd; /* 0: none */
    uint32_t number;
    struct myr_buf in;
    int follows; /* a kind; -1: none */
    bool deaf;
};

static struct {
    struct myr_buf story;
    int64_t clock_ns, cpu_ns, last_ns; /* last: when the last piece goes out */
    uint32_t connections, version, made, cpu_calls;
    struct api_peer peers[API_PEERS];
    struct api_fault faults[API_FAULTS];
    struct api_event events[API_EVENTS];
    uint32_t event_count, happened;
    struct api_piece pieces[API_PIECES]; /* under way to the scheduler */
    uint32_t piece_count;
    json_t *objects[MYR_KUBE_KINDS][API_OBJECTS], *lease;
    uint32_t counts[MYR_KUBE_KINDS];
    uint32_t page, answer_us; /* objects of a page; between two answers */
    const char *release, *type;
    const char *only; /* requests are told whose path has this in it; NULL: all */
    char heads[4][400], folder[64];
    bool refuses, makes_again, tells_sleep;
} api;

/* --- what is put down */

static inline void api_put(const char *text)
{
    size_t length = strlen(api.folder);
    while (*text) {
        bool here = length && strncmp(text, api.folder, length) == 0;
        myr_buf_putc(&api.story, here ? '~' : *text);
        text += here ? length : 1;
    }
}

/* Behind the milliseconds since the beginning. */
static inline MYR_PRINTF(1, 2) void api_note(const char *fmt, ...)
{
    char text[40000];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    assert_true(length >= 0 && length < (int)sizeof(text));
    int64_t us = api.clock_ns / 1000 - 1000000000;
    myr_buf_printf(&api.story, "%6lld.%03lld ", (long long)(us / 1000), (long long)(us % 1000));
    api_put(text);
    myr_buf_putc(&api.story, '\n');
}

static inline void api_say(void *context, const char *level, const char *text)
{
    (void)context;
    api_note("%s: %s", level, text);
}

/* --- time */

FOR_ALL int clock_gettime(clockid_t which, struct timespec *ret)
{
    int64_t ns = api.clock_ns;
    if (which == CLOCK_REALTIME) {
        ns += 1794819600000000000 - 1000000000000; /* 2026-11-16T09:00:00Z at the beginning */
    } else if (which == CLOCK_THREAD_CPUTIME_ID) {
        api.cpu_ns += 1000000 + ++api.cpu_calls * 7919 % 1000 * 1000; /* other work each time */
        ns = api.cpu_ns;
    }
    *ret = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

/* Milliseconds after the beginning, in the order of their times. */
static inline void api_at(int64_t at_ms, void (*happens)(void))
{
    if (api.happened == api.event_count) {
        api.happened = api.event_count = 0;
    }
    assert_true(api.event_count < API_EVENTS);
    assert_true(!api.event_count || api.events[api.event_count - 1].at_ms <= at_ms);
    api.events[api.event_count++] = (struct api_event){at_ms, happens};
}

static inline int64_t api_event_ns(void)
{
    return api.happened < api.event_count ? 1000000000000 + api.events[api.happened].at_ms * 1000000
                                          : INT64_MAX;
}

/* --- connections */

FOR_ALL int connect(int fd, const struct sockaddr *at, socklen_t size)
{
    int pair[2];
    uint32_t free_at = 0;
    (void)at;
    (void)size;
    if (api.refuses) {
        errno = ECONNREFUSED;
        return -1;
    }
    while (free_at < API_PEERS && api.peers[free_at].fd) {
        free_at++;
    }
    assert_true(free_at < API_PEERS);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    assert_true(dup2(pair[0], fd) == fd);
    close(pair[0]);
    api.peers[free_at] =
        (struct api_peer){.fd = pair[1], .number = ++api.connections, .follows = -1};
    if (!api.only) {
        api_note("#%u begins", api.connections);
    }
    return 0;
}

static inline void api_leave(struct api_peer *peer)
{
    for (uint32_t i = 0; i < api.piece_count; i++) {
        if (api.pieces[i].fd == peer->fd) {
            api.pieces[i].fd = -1;
        }
    }
    close(peer->fd);
    myr_buf_done(&peer->in);
    peer->fd = 0;
}

/* Goes out behind all others, as much later as answers need. */
static inline void api_send(struct api_peer *peer, const char *bytes, size_t size, bool closes)
{
    int64_t now_ns = api.clock_ns > api.last_ns ? api.clock_ns : api.last_ns;
    assert_true(api.piece_count < API_PIECES);
    struct api_piece *piece = &api.pieces[api.piece_count++];
    *piece = (struct api_piece){
        .at_ns = now_ns + (int64_t)api.answer_us * 1000, .fd = peer->fd, .closes = closes};
    myr_buf_put(&piece->bytes, bytes, size);
    api.last_ns = piece->at_ns;
}

static inline void api_answer(struct api_peer *peer, int status, const char *body)
{
    struct myr_buf text = {};
    myr_buf_printf(&text,
                   "HTTP/1.1 %d So\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   status, strlen(body), body);
    api_send(peer, text.data, text.len, false);
    myr_buf_done(&text);
}

static inline void api_answer_json(struct api_peer *peer, int status, json_t *thing)
{
    char *text = json_dumps(thing, JSON_COMPACT);
    api_answer(peer, status, text);
    free(text);
}

static inline void api_refuse(struct api_peer *peer, int status, const char *text)
{
    char body[600];
    snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"message\":\"%s\",\"code\":%d}", text,
             status);
    api_answer(peer, status, text[0] == '{' ? text : body);
}

static inline void api_chunk(struct api_peer *peer, const char *bytes, size_t size)
{
    struct myr_buf text = {};
    myr_buf_printf(&text, "%zx\r\n", size);
    myr_buf_put(&text, bytes, size);
    myr_buf_puts(&text, "\r\n");
    api_send(peer, text.data, text.len, false);
    myr_buf_done(&text);
}

/* Bytes to all that follow a kind; none: their watch ends. */
static inline void api_tell(enum myr_kube_kind kind, const char *bytes, size_t size)
{
    for (uint32_t i = 0; i < API_PEERS; i++) {
        if (api.peers[i].fd && api.peers[i].follows == (int)kind) {
            api_chunk(&api.peers[i], bytes, size);
            api.peers[i].follows = size ? (int)kind : -1;
        }
    }
}
