/*
 * symptoms: what the GPUs' driver complains about while jobs run.
 *
 * A process of its own waits for it ('myriad-agent watch'), because the driver's library is many
 * times larger than the agent; it writes a line for each, "xid 4 79", and ends with the agent.
 * What is said while the controller is away waits, as far as there is room.
 */
#pragma once

#include "session.h"

#define SYMPTOMS_MAX 64

struct symptom {
    uint32_t gpu, xid;
    uint64_t count;
};

struct symptoms {
    uv_loop_t *loop;
    struct session *session;
    uv_poll_t *watcher; /* its pipe; NULL: none runs */
    int fd;             /* its read end */
    char line[64];
    size_t line_len;
    struct symptom waiting[SYMPTOMS_MAX];
    uint32_t count;
    int64_t retry_ns; /* on the boot clock: no watcher is started before */
};

void symptoms_start(struct symptoms *symptoms);
/* Now and then: starts the watcher again that has ended. */
void symptoms_look(struct symptoms *symptoms);
/* What waits, on a new connection. */
void symptoms_tell(struct symptoms *symptoms);
/* "xid GPU CODE" */
bool symptoms_parse(const char *line, struct symptom *ret);
