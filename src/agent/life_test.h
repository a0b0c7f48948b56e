/*
 * life: an agent's process with a controller beside it, in time that the test makes. For sources
 * that include cmocka.h before; they say what is done, and when (struct action).
 */
#pragma once

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "disk/files.h"
#include "myriad/io.h"
#include "myriad/text/json.h"
#include "myriad/wire.h"
#include "options.h"

#define NS 1000000LL

struct action {
    int64_t at_ms;
    void (*play)(void);
    const char *until; /* a file that is to be there before the clock goes on; or NULL */
};

static char root[] = "/tmp/myr-life-XXXXXX", program[128];
static struct myr_buf story;
static struct settings settings;
static const struct action *next_action;
static int trace_fd = -1;
static int64_t clock_ns = 1000 * 1000 * NS, began_ns;
static bool in_agent, in_desk;
static const char *held_until; /* the clock stands until this file is there */
static uint32_t welcome_pretend = 1;

/* The controller. */
static struct {
    uv_loop_t loop;
    struct myr_io_listener *listener;
    struct myr_io_stream *stream;
    struct myr_wire_receiver receiver;
    struct myr_wire_sender sender;
    uint64_t sequence, last; /* sent; the number of the last message but a beat */
    uint32_t beats;
    bool mute; /* it welcomes nobody */
} desk;

static void __attribute__((format(printf, 1, 2))) trace(const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    dprintf(trace_fd, "  %.3f %s\n", (double)(clock_ns - began_ns) / 1e9, text);
}

/* --- the controller's side */

static void put_field(struct myr_buf *ret, const struct myr_wire_field *field,
                      const unsigned char *body)
{
    const void *at = body + field->offset;
    myr_buf_printf(ret, " %s=", field->name);
    if (field->kind == MYR_WIRE_TEXT && ((const struct myr_str *)at)->len > 400) {
        myr_buf_printf(ret, "%zu bytes", ((const struct myr_str *)at)->len);
    } else if (field->kind == MYR_WIRE_TEXT) {
        myr_json_quote(ret, *(const struct myr_str *)at);
    } else if (field->kind == MYR_WIRE_U32) {
        myr_buf_printf(ret, "%" PRId32, *(const int32_t *)at);
    } else if (field->kind != MYR_WIRE_U32_LIST) {
        myr_buf_printf(ret, "%" PRId64, *(const int64_t *)at);
    }
}

static void tell(enum myr_wire_type type, uint32_t epoch, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    if (desk.stream) {
        myr_wire_send(&desk.sender, &bytes, type, 7, epoch, ++desk.sequence, message);
        myr_io_write(desk.stream, (struct myr_str){bytes.data, bytes.len});
    }
}

/* FNV-1a of the host's boot and the agent's folder, a line each. */
static uint64_t own_boot(void)
{
    char boot[40], text[700];
    uint64_t hash = 0xcbf29ce484222325;
    boot_id(boot);
    snprintf(text, sizeof(text), "%s\n%s", boot, settings.state);
    for (const char *c = text; *c; c++) {
        hash ^= (unsigned char)*c;
        hash *= 0x100000001b3;
    }
    return hash;
}

static void on_message(const struct myr_wire_message *message)
{
    const struct myr_wire_table *table = myr_wire_table_of(message->head.type);
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    if (message->head.type == MYR_WIRE_BEAT) {
        desk.beats++;
        return;
    }
    myr_buf_printf(&line, "hears %s node %d epoch %u:", table->name, (int)message->head.node,
                   message->head.epoch);
    for (uint32_t i = 0; i < table->count; i++) {
        put_field(&line, &table->fields[i], message->body);
    }
    char *boot = strstr(line.data, " boot=");
    if (message->head.type == MYR_WIRE_HELLO && boot &&
        ((const struct myr_wire_hello *)(const void *)message->body)->boot == own_boot()) {
        boot[6] = '\0'; /* it is another on every host */
    }
    if (message->head.type == MYR_WIRE_HELLO) { /* when it comes again is by its boot, too */
        int64_t half_ns = 500 * NS, past_ns = clock_ns - began_ns;
        clock_ns = began_ns + (past_ns + half_ns - 1) / half_ns * half_ns;
    }
    trace("%s", line.data);
    desk.last = message->head.sequence;
    if (message->head.type == MYR_WIRE_HELLO && !desk.mute) {
        struct myr_wire_welcome welcome = {
            .node = 7, .boot = 3, .beat_ms = 1000, .pretend = welcome_pretend};
        tell(MYR_WIRE_WELCOME, 0, &welcome);
    }
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct myr_wire_message message;
    struct myr_err err = {};
    (void)context;
    if (stream == desk.stream) {
        myr_wire_feed(&desk.receiver, bytes);
        while (myr_wire_next(&desk.receiver, &message, &err) > 0) {
            on_message(&message);
        }
    }
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    (void)context;
    (void)stream;
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    (void)context;
    (void)why;
    if (stream == desk.stream) {
        trace("the connection is over after %u beats", desk.beats);
        desk.stream = NULL;
        myr_wire_receiver_done(&desk.receiver);
    }
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    desk.stream = stream;
    desk.sequence = desk.beats = 0;
    myr_wire_sender_init(&desk.sender);
    myr_wire_receiver_init(&desk.receiver);
    return context;
}

static void desk_open(void)
{
    struct myr_err err = {};
    const struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                           .accept = on_accept,
                                           .context = &desk,
                                           .streams_max = 8};
    uv_loop_init(&desk.loop);
    assert_int_equal(
        myr_io_listen(&desk.loop, "127.0.0.1", 0, NULL, &service, &desk.listener, &err), MYR_OK);
    settings.port = myr_io_port(desk.listener);
}

/* --- time */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (!in_agent) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / (1000 * NS), clock_ns % (1000 * NS)};
    return 0;
}

static void nap(void)
{
    (void)syscall(SYS_ppoll, NULL, 0, &(struct timespec){0, NS}, NULL, 8);
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * NS};
    if (in_agent && count == 0) {
        clock_ns += timeout_ms * NS;
        return 0;
    }
    return (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &limit, NULL, 8);
}

/* Who collects has said it all: a child that runs, or sleeps because it waits for its own. */
static bool is_quiet(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)getpid(), (int)getpid());
    if (file_get(path, "children", &text, NULL) < 0) {
        return true;
    }
    for (const char *at = text.data; at && *at;) {
        size_t len = strcspn(at, " \n");
        uint64_t child;
        char state = 'X';
        if (myr_str_to_u64((struct myr_str){at, len}, &child)) {
            (void)process_began((pid_t)child, NULL, &state);
            if (!strchr("SZXT", state)) {
                return false;
            }
        }
        at += len + (at[len] != '\0');
    }
    return true;
}

static int real_wait(int fd, struct epoll_event *events, int most)
{
    return (int)syscall(SYS_epoll_pwait, fd, events, most, 0, NULL, 8);
}

static bool is_held(void)
{
    static uint32_t patience;
    char path[256];
    struct stat status;
    if (!held_until) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/%s", root, held_until);
    if (stat(path, &status) == 0 || ++patience > 20000) {
        held_until = NULL;
    }
    return held_until != NULL;
}

/* Nobody sleeps: whatever both sides and their children have to do is done, then time goes on. */
static int turn(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!in_agent || in_desk || timeout_ms == 0) {
        return real_wait(fd, events, most);
    }
    for (uint32_t calm = 0; calm < 4;) {
        in_desk = true;
        (void)uv_run(&desk.loop, UV_RUN_NOWAIT);
        in_desk = false;
        int got = real_wait(fd, events, most);
        if (got != 0) {
            return got;
        }
        calm = is_quiet() ? calm + 1 : 0;
        nap();
    }
    if (is_held()) {
        return 0;
    }
    int64_t until_ns = clock_ns + (timeout_ms > 0 ? timeout_ms : 1000) * NS;
    if (next_action->play && began_ns + next_action->at_ms * NS <= until_ns) {
        const struct action *action = next_action++;
        clock_ns = began_ns + action->at_ms * NS;
        held_until = action->until;
        action->play();
    } else {
        clock_ns = until_ns;
    }
    return 0;
}

__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *events, int most,
                                                      int timeout_ms)
{
    return turn(fd, events, most, timeout_ms);
}

__attribute__((visibility("default"))) int epoll_pwait(int fd, struct epoll_event *events, int most,
                                                       int timeout_ms, const sigset_t *mask)
{
    (void)mask;
    return turn(fd, events, most, timeout_ms);
}
