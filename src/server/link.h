/*
 * link: one agent's connection, and how something is said to it: over a socket of its own, or
 * through a relay, whose connection carries many.
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

/* What makes a connection that of a relay: those it carries, by the place of their channel. */
struct carrier {
    uint32_t row; /* of the relay */
    int64_t heard_ms;
    struct myr_wire_receiver own;       /* frames of its own alone */
    MYR_VEC(struct session *) sessions; /* NULL: none */
};

struct session {
    struct server *server;
    struct myr_io_stream *stream; /* NULL: through a relay, or nobody hears it (a mute one) */
    struct session *via;          /* the relay's, or NULL */
    uint32_t channel;             /* there */
    bool silent;                  /* so the relay says */
    struct carrier *carrier;      /* it is a relay; or NULL */
    char peer[SERVER_NAME + 8], serial[48], address[64]; /* as a relay vouches for them */
    struct session *next, *before;
    struct myr_wire_sender sender;
    struct myr_wire_receiver receiver;
    uint32_t node; /* MYR_NONE: has not said hello, or comes to enrol */
    bool greeted;
    bool unanswered;             /* it has asked for a certificate while nothing could be kept */
    bool over;                   /* refused or dropped: what it still says counts for nothing */
    uint64_t sent, ack, acked;   /* messages sent; reports taken; reports acknowledged */
    int64_t since_ms, second_ms; /* steady: connected; of in_second */
    uint32_t in_second;          /* messages since 'second_ms' */
    MYR_VEC(struct wait) waits;
};

/* sessions.c: makes its connection that of a relay. */
void session_carry(struct session *session, uint32_t row);

/* link.c */
/* Whose certificate it has shown, and its number; "" when none. */
const char *session_peer(const struct session *session);
const char *session_serial(const struct session *session);
const char *session_address(const struct session *session);
/* It is over. What was said before still goes out, unless 'at_once'. */
void session_close(struct session *session, bool at_once);
void session_say(struct session *session, enum myr_wire_type type, uint32_t epoch,
                 const void *message);
/* Says why, and ends it. */
MYR_PRINTF(3, 4)
void session_refuse(struct session *session, enum myr_wire_refusal code, const char *fmt, ...);

/* sessions.c: bytes that came from it, and one that comes or goes through a relay. */
void session_take(struct session *session, struct myr_str bytes);
struct session *session_new(struct server *server);
void session_gone(struct session *session);
void session_heard(struct session *session);
void sessions_committed(struct server *server);
void sessions_forget(struct server *server, const void *whom);
bool session_floods(struct session *session, uint32_t limit);
/* At once, with a word in the log. */
void session_drop(struct session *session, const char *why);

/* relays.c: bytes of a connection, which may be that of a relay; and the end of one that was. */
void relay_take(struct session *session, struct myr_str bytes);
void relay_gone(struct session *session);

/* enrol.c: a certificate for one that has none, or a new one. */
void session_enrol(struct session *session, const struct myr_wire_enrol *enrol);

/* orders.c: what the core wants done, said to agents. */
void orders_effect(struct server *server, const struct myr_effect *effect);
bool orders_fetch(struct server *server, const struct question *question, void *whom);
MYR_MUST_USE int orders_inject(struct server *server, uint32_t node, const char *fault,
                               struct myr_err *err);
