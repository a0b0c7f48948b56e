/*
 * link: one agent's connection, and how something is said to it.
 */
#pragma once

#include "myriad/wire.h"
#include "server.h"

/* A request that waits for a rank's output. */
struct wait {
    void *whom;
    uint64_t job;
    uint32_t rank;
};

struct session {
    struct server *server;
    struct myr_io_stream *stream;
    struct session *next, *before;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    uint32_t node; /* MYR_NONE: has not said hello, or comes to enrol */
    bool greeted;
    bool unanswered;           /* it has asked for a certificate while nothing could be kept */
    bool over;                 /* refused or dropped: what it still says counts for nothing */
    uint64_t sent, ack, acked; /* messages sent; reports taken; reports acknowledged */
    int64_t since_ms, second_ms;
    uint32_t in_second;
    MYR_VEC(struct wait) waits;
};

/* link.c */
void session_say(struct session *session, enum myr_wire_type type, uint32_t epoch,
                 const void *message);
/* Says why, and ends it. */
MYR_PRINTF(3, 4)
void session_refuse(struct session *session, enum myr_wire_refusal code, const char *fmt, ...);

/* enrol.c: a certificate for one that has none, or a new one. */
void session_enrol(struct session *session, const struct myr_wire_enrol *enrol);

/* orders.c: what the core wants done, said to agents. */
void orders_effect(struct server *server, const struct myr_effect *effect);
bool orders_fetch(struct server *server, uint32_t job, uint32_t rank, uint64_t offset, void *whom);
MYR_MUST_USE int orders_inject(struct server *server, uint32_t node, const char *fault,
                               struct myr_err *err);
