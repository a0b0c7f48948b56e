/*
 * relay: what its files share. Each calls only those above it in this list:
 *
 *   below   agents that came
 *   above   the connection to the controller
 *   relay   papers, signals, time
 */
#pragma once

#include <uv.h>

#include "myriad/agent/relay.h"
#include "myriad/io.h"
#include "myriad/wire.h"
#include "options.h"

struct relay;

/* One agent's connection. */
struct line {
    struct relay *relay;
    struct myr_io_stream *stream;
    struct line *next, *before; /* in the relay's list */
    uint32_t channel;           /* MYR_WIRE_NO_NODE: the controller does not know of it yet */
    struct myr_buf bytes;
    size_t at;                     /* read so far */
    struct myr_wire_sender sender; /* of leases alone */
    bool open, welcomed, silent, over;
    /* Its hello and its schemas, said again for it to a controller that comes back. */
    struct myr_buf kept;
    bool was_welcomed;
    uint32_t node, boot;
    uint64_t leases;                       /* sent so far, their sequence */
    int64_t since_ms, heard_ms, second_ms; /* waits since; last byte; of in_second */
    uint32_t in_second;                    /* frames since 'second_ms' */
};

/* A channel's place, and how often it was given. */
struct place {
    struct line *line; /* NULL: free */
    uint16_t turn;
};

struct relay {
    const struct myr_relay *settings;
    uv_loop_t loop;
    struct myr_io_tls *tls_up, *tls_down;
    struct myr_io_listener *listener;
    uv_timer_t second, retry, drain;
    uv_signal_t term, interrupt;
    bool ending;

    /* below */
    struct line *lines;
    uint32_t line_count;
    MYR_VEC(struct place) places;
    MYR_VEC(uint32_t) free_places;
    uint32_t turn; /* of leases */
    bool paused;

    /* above */
    struct settings servers; /* host, port and others: those that may lead */
    uint32_t server_at;      /* in that list */
    const char *host;
    uint16_t port;
    struct myr_io_stream *up;
    bool welcomed;
    struct myr_wire_sender sender;
    struct myr_wire_receiver own, welcomes; /* messages to the relay; to agents, of one type */
    struct myr_buf bytes;
    size_t at;
    uint64_t sent; /* messages of its own on this connection */
    uint32_t beat_ms, failures;
    int64_t heard_ms;
    bool said_down, asked_renewal;
    uint32_t seconds; /* welcomed ones, for the renewal */
    struct myr_relay_report count;
};

int64_t relay_now_ms(const struct relay *relay);

/* below.c */
/* Hands the next whole frame from 'bytes' on; 1, 0 or negative as myr_wire_frame_get(). */
int frame_next(const struct myr_buf *bytes, size_t *at, struct myr_wire_head *ret,
               struct myr_str *ret_payload, struct myr_err *err);
/* What was read makes room. */
void frames_read(struct myr_buf *bytes, size_t *at);
MYR_MUST_USE int below_listen(struct relay *relay, const char *address, uint16_t port,
                              struct myr_err *err);
/* The controller is there: all who wait are told of. */
void below_attach_all(struct relay *relay);
/* It is not: agents wait where they are, or come again, and say again what was not acknowledged. */
void below_detach_all(struct relay *relay);
struct line *below_find(const struct relay *relay, uint32_t channel);
/* A frame for it, and what the controller says to all. */
void below_pass(struct line *line, const struct myr_wire_head *head, struct myr_str payload);
void below_lease(struct relay *relay);
void below_close(struct line *line);
void below_second(struct relay *relay);
/* Reading stops while the controller does not keep up. */
void below_pause(struct relay *relay, bool pause);

/* A message of the relay's own to the controller. */
void relay_say(struct relay *relay, enum myr_wire_type type, const void *message);

/* above.c */
/* The one at 'server_at' is asked from now on. */
void above_choose(struct relay *relay, uint32_t at);
void above_start(struct relay *relay);
void above_second(struct relay *relay);
void above_end(struct relay *relay);
