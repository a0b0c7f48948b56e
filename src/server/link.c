#include <stdio.h>

#include "link.h"

enum { PENDING_MAX = 8 << 20 }; /* bytes that a peer may leave untaken */

void session_say(struct session *session, enum myr_wire_type type, uint32_t epoch,
                 const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {0};
    myr_wire_send(&session->sender, &bytes, type,
                  session->node == MYR_NONE ? MYR_WIRE_NO_NODE : session->node, epoch,
                  ++session->sent, message);
    myr_io_write(session->stream, (struct myr_str){bytes.data, bytes.len});
    if (myr_io_pending(session->stream) > PENDING_MAX) {
        log_say("warning", "%s takes nothing any more", myr_io_address(session->stream));
        session->over = true;
        myr_io_abort(session->stream);
    }
}

void session_refuse(struct session *session, enum myr_wire_refusal code, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    session->server->messages_refused++;
    log_say("warning", "agent %s '%s' refused: %s", myr_io_address(session->stream),
            myr_io_peer(session->stream), text);
    audit(myr_io_peer(session->stream), "connect", text);
    session_say(session, MYR_WIRE_REFUSED, 0,
                &(struct myr_wire_refused){.code = code, .text = myr_str_from(text)});
    session->over = true;
    myr_io_close(session->stream);
}
