/* link: what is said to an agent, and how its connection ends, whichever way it is connected. */
#include <stdio.h>

#include "link.h"

enum {
    PENDING_MAX = 8 << 20,        /* bytes that a peer may leave untaken */
    RELAY_PENDING_MAX = 64 << 20, /* the same of many */
};

/* Of its own socket by the certificate, else as the relay has vouched for it. */
const char *session_peer(const struct session *session)
{
    MYR_ASSERT(!session->stream || !session->via); /* a socket of its own, or a relay's */
    return session->stream ? myr_io_peer(session->stream) : session->peer;
}

const char *session_serial(const struct session *session)
{
    return session->stream ? myr_io_peer_serial(session->stream) : session->serial;
}

const char *session_address(const struct session *session)
{
    return session->stream ? myr_io_address(session->stream) : session->address;
}

/* What 'from' says goes over the connection of 'line', which is its own or its relay's. */
static void put(struct session *from, struct session *line, enum myr_wire_type type, uint32_t epoch,
                const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    /* On a relay's connection the head's node is the channel; a stranger has no number. */
    uint32_t node = from->via                ? from->channel
                    : from->node == MYR_NONE ? MYR_WIRE_NO_NODE
                                             : from->node;
    MYR_ASSERT(from == line || from->via == line);
    MYR_ASSERT(!line->via); /* a relay is connected by itself */
    MYR_ASSERT(!from->via || line->carrier);
    if (line->over || !line->stream) {
        return;
    }
    myr_wire_send(&from->sender, &bytes, type, node, epoch, ++from->sent, message);
    MYR_ASSERT(bytes.len >= MYR_WIRE_HEAD_BYTES && from->sent > 0);
    myr_io_write(line->stream, (struct myr_str){bytes.data, bytes.len});
    size_t limit = line->carrier ? RELAY_PENDING_MAX : PENDING_MAX;
    if (myr_io_pending(line->stream) > limit) {
        log_say("warning", "%s takes nothing any more", session_address(line));
        line->over = true;
        myr_io_abort(line->stream);
    }
}

void session_say(struct session *session, enum myr_wire_type type, uint32_t epoch,
                 const void *message)
{
    put(session, session->via ? session->via : session, type, epoch, message);
}

/* Deaf at once; gone when the stream, or the relay, says so. */
void session_close(struct session *session, bool at_once)
{
    MYR_ASSERT(!session->via || (session->via->carrier && !session->stream));
    if (session->via) {
        /* The relay ends it, and says so; until then it is only deaf. */
        struct myr_wire_detach detach = {session->channel};
        put(session->via, session->via, MYR_WIRE_DETACH, 0, &detach);
    } else if (session->stream && at_once) {
        myr_io_abort(session->stream);
    } else if (session->stream) {
        myr_io_close(session->stream);
    }
    session->over = true;
}

/* Refusals stand in the audit as well as in the log. */
void session_refuse(struct session *session, enum myr_wire_refusal code, const char *fmt, ...)
{
    MYR_ASSERT(fmt);
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    /* For /metrics. */
    session->server->messages_refused++;
    log_say("warning", "agent %s '%s' refused: %s", session_address(session), session_peer(session),
            text);
    audit(session_peer(session), "connect", text);
    session_say(session, MYR_WIRE_REFUSED, 0,
                &(struct myr_wire_refused){.code = code, .text = myr_str_from(text)});
    session_close(session, false);
    MYR_ASSERT(session->over);
}
