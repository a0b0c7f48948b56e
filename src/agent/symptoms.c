/*
 * symptoms: lines of the watching process become counted symptoms, and wait while nobody hears. The
 * watcher is a process of its own, started again when it has ended; the agent itself never loads
 * the driver's library.
 */
#include "symptoms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "disk/files.h"
#include "launch.h"

#define RETRY_NS (60LL * 1000000000)

/* From our own helper, and bounded all the same. */
bool symptoms_parse(const char *line, struct symptom *ret)
{
    /* The number of the GPU stands between the two blanks. */
    const char *blank = strncmp(line, "xid ", 4) == 0 ? strchr(line + 4, ' ') : NULL;
    uint64_t gpu;
    uint64_t xid;
    if (!blank || !myr_str_to_u64((struct myr_str){line + 4, (size_t)(blank - line - 4)}, &gpu) ||
        !myr_str_to_u64(myr_str_from(blank + 1), &xid) || gpu > 1024 || xid > UINT32_MAX) {
        return false;
    }
    *ret = (struct symptom){.gpu = (uint32_t)gpu, .xid = (uint32_t)xid, .count = 1};
    return true;
}

/* The same one again is counted: a GPU that falls off the bus says so many times a second. */
static void keep(struct symptoms *symptoms, const struct symptom *symptom)
{
    MYR_ASSERT(symptoms->count <= SYMPTOMS_MAX && symptom->count > 0);
    for (uint32_t i = 0; i < symptoms->count; i++) {
        struct symptom *known = &symptoms->waiting[i];
        /* What was not told yet is told once, with how often it came. */
        if (known->gpu == symptom->gpu && known->xid == symptom->xid) {
            known->count++;
            return;
        }
    }
    /* A new one that finds no room is lost; those that are known are counted on. */
    if (symptoms->count < SYMPTOMS_MAX) {
        symptoms->waiting[symptoms->count++] = *symptom;
    }
}

/* What was sent is forgotten: symptoms are not acknowledged. */
void symptoms_tell(struct symptoms *symptoms)
{
    uint32_t kept = 0;
    MYR_ASSERT(symptoms->count <= SYMPTOMS_MAX);
    for (uint32_t i = 0; i < symptoms->count; i++) {
        const struct symptom *symptom = &symptoms->waiting[i];
        char id[32];
        char text[96];
        snprintf(id, sizeof(id), "gpu-xid-%u", symptom->xid);
        snprintf(text, sizeof(text), "the driver reports Xid %u of GPU %u", symptom->xid,
                 symptom->gpu);
        struct myr_wire_symptom out = {.id = myr_str_from(id),
                                       .gpu = symptom->gpu,
                                       .count = symptom->count,
                                       .text = myr_str_from(text)};
        if (session_send(symptoms->session, MYR_WIRE_SYMPTOM, symptoms->session->boot_number,
                         &out) == 0) {
            /* Not sent: it waits for the next connection. */
            symptoms->waiting[kept++] = *symptom;
        }
    }
    symptoms->count = kept;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

/* Tried again after a minute: a driver may be loaded later. */
static void watcher_ended(struct symptoms *symptoms)
{
    MYR_ASSERT(symptoms->watcher && symptoms->fd >= 0);
    uv_poll_stop(symptoms->watcher);
    uv_close((uv_handle_t *)symptoms->watcher, on_closed);
    close(symptoms->fd);
    MYR_ASSERT(symptoms->line_len < sizeof(symptoms->line));
    symptoms->watcher = NULL;
    symptoms->line_len = 0;
    symptoms->retry_ns = boot_clock_ns() + RETRY_NS;
}

/* Lines may come in pieces; what is whole is told at once. */
static void on_lines(uv_poll_t *poll, int status, int events)
{
    struct symptoms *symptoms = poll->data;
    char bytes[512];
    MYR_ASSERT(poll == symptoms->watcher && symptoms->fd >= 0);
    (void)status;
    (void)events;
    ssize_t got = read(symptoms->fd, bytes, sizeof(bytes));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        watcher_ended(symptoms);
        return;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            /* A line that is too long is cut, and refused as a whole when it is read. */
            if (symptoms->line_len + 1 < sizeof(symptoms->line)) {
                symptoms->line[symptoms->line_len++] = bytes[i];
            }
            continue;
        }
        struct symptom symptom;
        MYR_ASSERT(symptoms->line_len < sizeof(symptoms->line));
        symptoms->line[symptoms->line_len] = '\0';
        /* What is full was longer: its beginning may say another number. */
        bool whole = symptoms->line_len + 1 < sizeof(symptoms->line);
        symptoms->line_len = 0;
        if (whole && symptoms_parse(symptoms->line, &symptom)) {
            say("GPU %u: Xid %u", symptom.gpu, symptom.xid);
            keep(symptoms, &symptom);
        }
    }
    symptoms_tell(symptoms);
}

/* A failure is tried again later: a node without a watcher works all the same. */
void symptoms_start(struct symptoms *symptoms)
{
    const char *const argv[] = {"myriad-agent", "watch", NULL};
    struct myr_err err = {};
    /* One at a time: two would tell everything twice. */
    MYR_ASSERT(!symptoms->watcher);
    if (launch_self(argv, &symptoms->fd, &err) < 0) {
        say("%s", err.message);
        symptoms->retry_ns = boot_clock_ns() + RETRY_NS;
        return;
    }
    /* The loop must never wait for what a helper writes. */
    (void)fcntl(symptoms->fd, F_SETFL, O_NONBLOCK);
    uv_poll_t *poll = myr_xcalloc(1, sizeof(*poll));
    poll->data = symptoms;
    if (uv_poll_init(symptoms->loop, poll, symptoms->fd) < 0) {
        close(symptoms->fd);
        free(poll);
        return;
    }
    uv_poll_start(poll, UV_READABLE, on_lines);
    symptoms->watcher = poll;
}

void symptoms_look(struct symptoms *symptoms)
{
    /* Without a loop it was never begun: GPUs that are made up have no driver. */
    if (!symptoms->watcher && symptoms->loop && boot_clock_ns() >= symptoms->retry_ns) {
        symptoms_start(symptoms);
    }
}
