/*
 * relays: connections that carry many agents. A relay was made one by an administrator; it has
 * looked at the certificates of those behind it, and says whose they are. What each of them says is
 * taken as if it had come alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum { FLOOD = 200000 }; /* messages of its own in a second: all come back at once */

/* NULL too for a channel whose place has a new owner: the number holds the turn. */
static struct session *find(const struct carrier *carrier, uint32_t channel)
{
    uint32_t place = channel % MYR_WIRE_CHANNEL_PLACES;
    struct session *session =
        place < carrier->sessions.count ? carrier->sessions.items[place] : NULL;
    MYR_ASSERT(!session || session->via->carrier == carrier);
    return session && session->channel == channel ? session : NULL;
}

/* Cut where it is too long; a name that would be cut was refused before. */
static void put_text(struct myr_str text, char *ret, size_t size)
{
    MYR_ASSERT(ret && size > 0);
    snprintf(ret, size, "%.*s", (int)(text.len < size ? text.len : size - 1), text.data);
}

/* The place is free before the session is, which frees itself. */
static void forget(struct carrier *carrier, struct session *session)
{
    MYR_ASSERT(session->via->carrier == carrier && !session->stream);
    struct session **place = &carrier->sessions.items[session->channel % MYR_WIRE_CHANNEL_PLACES];
    MYR_ASSERT(*place == session);
    *place = NULL;
    MYR_ASSERT(!find(carrier, session->channel)); /* what still comes for it is nobody's */
    session_gone(session);
}

/*
 * The relay has checked the certificate; name and serial are held against the rows with the hello.
 */
static void attach(struct session *relay, const struct myr_wire_attach *attach)
{
    struct carrier *carrier = relay->carrier;
    uint32_t place = attach->channel % MYR_WIRE_CHANNEL_PLACES;
    MYR_ASSERT(!relay->via && !relay->over); /* no relay behind a relay */
    /* Places are given from 0 on: the list is as long as there are agents at most. */
    while (carrier->sessions.count <= place) {
        myr_vec_push(&carrier->sessions, NULL);
    }
    /* A relay of ours does neither: this one is broken, and all behind it come again. */
    if (carrier->sessions.items[place] || attach->name.len >= SERVER_NAME) {
        session_drop(relay, "it gives a channel twice, or to a name that is too long");
        return;
    }
    MYR_ASSERT(place < carrier->sessions.count);
    struct session *session = session_new(relay->server);
    session->via = relay;
    session->channel = attach->channel;
    put_text(attach->name, session->peer, sizeof(session->peer));
    put_text(attach->serial, session->serial, sizeof(session->serial));
    put_text(attach->address, session->address, sizeof(session->address));
    carrier->sessions.items[place] = session;
    MYR_ASSERT(find(carrier, attach->channel) == session);
}

/* The relay counts beats in our stead; here its word becomes the same edge as our own count. */
static void on_silent(struct session *relay, const struct myr_wire_silent *silent, bool back)
{
    struct server *server = relay->server;
    struct session *session = find(relay->carrier, silent->channel);
    /* Of one that was never welcomed no silence means anything. */
    if (!session || session->over || session->node == MYR_NONE) {
        return;
    }
    struct node_row *node = &server->rows.nodes[session->node];
    MYR_ASSERT(node->session == session);
    MYR_ASSERT(session->via == relay);
    session->silent = !back;
    if (back) {
        session_heard(session);
    } else if (!node->told_silent) {
        node->told_silent = desk_post(server, &(struct myr_event){.kind = MYR_EVENT_SILENT,
                                                                  .node = session->node,
                                                                  .boot = node->boot});
    }
}

/* What a relay says for itself. Messages of agents go by it, to their own sessions. */
static void on_message(struct session *relay, const struct myr_wire_message *message)
{
    MYR_ASSERT(relay->carrier && !relay->over);
    const void *body = message->body;
    /* Any word of the relay is a sign of life of all whom it does not call silent. */
    relay->carrier->heard_ms = steady_ms();
    switch (message->head.type) {
    case MYR_WIRE_BEAT:
        return;
    case MYR_WIRE_ATTACH:
        attach(relay, body);
        return;
    case MYR_WIRE_DETACH: {
        const struct myr_wire_detach *detach = body;
        struct session *session = find(relay->carrier, detach->channel);
        if (session) {
            forget(relay->carrier, session);
        }
        return;
    }
    case MYR_WIRE_SILENT:
    case MYR_WIRE_BACK:
        on_silent(relay, body, message->head.type == MYR_WIRE_BACK);
        return;
    case MYR_WIRE_ENROL:
        session_enrol(relay, body);
        return;
    default:
        if (message->known) {
            session_refuse(relay, MYR_WIRE_REFUSED_ORDER, "'%s' is no message of a relay",
                           myr_wire_type_name(message->head.type));
        } /* else of a newer relay, and of no concern here */
    }
}

/* A schema goes before its message: what comes between the two may be another's. */
static int take_own(struct session *relay, struct myr_str frame, struct myr_err *err)
{
    struct myr_wire_message message;
    int rc;
    MYR_ASSERT(relay->carrier && !relay->via);
    myr_wire_feed(&relay->carrier->own, frame);
    while (!relay->over && (rc = myr_wire_next(&relay->carrier->own, &message, err)) != 0) {
        if (rc < 0) {
            return rc;
        }
        relay->server->messages++;
        on_message(relay, &message);
    }
    return 1;
}

/* One frame: its own, or of one whom it carries. 0: there is no whole one. */
static int take_one(struct session *relay, struct myr_err *err)
{
    struct myr_wire_head head;
    struct myr_str frame;
    MYR_ASSERT(relay->carrier && !relay->over);
    int rc = myr_wire_peek(&relay->receiver, &head, &frame, err);
    if (rc <= 0) {
        return rc;
    }
    if (head.node == MYR_WIRE_NO_NODE) {
        /* Only its own frames are read here; those of agents are handed on as they are. */
        rc = take_own(relay, frame, err);
    } else {
        struct session *session = find(relay->carrier, head.node);
        if (session && !session->over) {
            session_take(session, frame);
        } /* else it was told to go, and what it still says counts for nothing */
    }
    myr_wire_skip(&relay->receiver, frame);
    return rc;
}

/*
 * A hello among the bytes may make it a relay's connection: the frames behind it are read as such.
 */
void relay_take(struct session *session, struct myr_str bytes)
{
    struct myr_err err = {};
    int rc = 1;
    MYR_ASSERT(!session->via); /* its frames come by way of its relay's */
    MYR_ASSERT(session->server && session->receiver.layouts);
    if (session->carrier) {
        myr_wire_feed(&session->receiver, bytes);
    } else {
        session_take(session, bytes);
    }
    while (session->carrier && !session->over && rc > 0) {
        rc = take_one(session, &err);
        if (rc < 0 || (rc > 0 && session_floods(session, FLOOD))) {
            session_drop(session, rc < 0 ? err.message : "too many messages");
        }
    }
}

/* The nodes behind it are not told silent here: the count of beats finds those that stay away. */
void relay_gone(struct session *session)
{
    MYR_ASSERT(session->carrier && !session->via && session->node == MYR_NONE);
    struct carrier *carrier = session->carrier;
    MYR_ASSERT(carrier->row < session->server->rows.relays.count);
    struct relay_row *row = &session->server->rows.relays.items[carrier->row];
    uint32_t count = 0;
    for (size_t i = 0; i < carrier->sessions.count; i++) {
        if (carrier->sessions.items[i]) {
            MYR_ASSERT(carrier->sessions.items[i]->via == session);
            session_gone(carrier->sessions.items[i]);
            count++;
        }
    }
    /* It may have come again already, over another connection. */
    row->session = row->session == session ? NULL : row->session;
    log_say("warning", "relay %s is gone, and %s with it until it comes again", row->name,
            MYR_COUNT(count, "agent"));
    myr_wire_receiver_done(&carrier->own);
    myr_vec_done(&carrier->sessions);
    free(carrier);
    session->carrier = NULL;
}
