/*
 * session: the connection to the controller, made again whenever it ends.
 *
 * Messages are counted from 1 on each connection. Who sends while there is none gets 0, and says
 * it again after the welcome.
 */
#pragma once

#include <uv.h>

#include "myriad/io.h"
#include "myriad/wire.h"

struct session_calls {
    void (*welcome)(void *context, const struct myr_wire_welcome *welcome);
    /* Anything else that was understood, after the welcome. */
    void (*message)(void *context, const struct myr_wire_message *message);
    /* The server refuses us for good: 'text' says why. */
    void (*refused)(void *context, uint32_t code, struct myr_str text);
};

struct session {
    uv_loop_t *loop;
    const char *host, *name;
    uint16_t port;
    void (*next)(struct session *session); /* another host and port, after a failure; or NULL */
    struct myr_io_tls *tls;                /* NULL: plain, to this machine itself alone */
    uint64_t boot;                         /* for hello */
    struct session_calls calls;
    void *context;
    /* The rest is its own. */
    struct myr_io_stream *stream;
    const char *given_up; /* why we end it; NULL: we do not */
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    uv_timer_t retry, beat, patience;
    bool receiving, welcomed, ending; /* 'receiver' is to be freed; it has a number; for good */
    /* As the welcome has told, but for the failures, which are counted since the last one. */
    uint32_t node, boot_number, failures, beat_ms;
    uint64_t sequence, jitter; /* of the last message; of the waits */
    char last_error[256];      /* what was said last, so that it is said once */
    bool said_down;            /* a connection is worth a line */
    int64_t heard_ns;          /* boot clock */
};

void session_start(struct session *session);
/* Its sequence number; 0 when there is no connection. */
uint64_t session_send(struct session *session, enum myr_wire_type type, uint32_t epoch,
                      const void *message);
/* Bytes that wait for the server. */
size_t session_pending(const struct session *session);
/* Connects anew, for a new certificate. 'tls' is the session's from now on. */
void session_renew(struct session *session, struct myr_io_tls *tls);
void session_end(struct session *session);
