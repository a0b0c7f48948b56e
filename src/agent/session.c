/*
 * session: the one connection to the controller, made again whenever it ends. Beats say that the
 * node lives; patience notices a controller that is gone without a word.
 */
#include "session.h"

#include <stdio.h>

#include "disk/files.h"

enum {
    RETRY_MIN_MS = 200,
    RETRY_MAX_MS = 5000,
    BEAT_MS = 1000,        /* until the server says */
    PATIENCE_MS = 30000,   /* no word for so long: the connection is dead, though nobody said so */
    PENDING_MAX = 4 << 20, /* a server that reads nothing is not written to for ever */
};

static void connect_now(struct session *session);

/* Half of it fixed, half by the node's name and the try: ten thousand nodes do not come at once. */
static uint64_t retry_ms(struct session *session)
{
    /* Doubled with each failure, up to five seconds. */
    uint64_t most = RETRY_MIN_MS;
    MYR_ASSERT(session->failures > 0); /* the first try is at once */
    for (uint32_t i = 1; i < session->failures && most < RETRY_MAX_MS; i++) {
        most *= 2;
    }
    most = most < RETRY_MAX_MS ? most : RETRY_MAX_MS;
    MYR_ASSERT(most >= RETRY_MIN_MS); /* nobody comes again and again without a pause */
    /* The next number of a linear congruential generator, whose high bits are the good ones. */
    session->jitter = session->jitter * 6364136223846793005ULL + 1442695040888963407ULL;
    return most / 2 + (session->jitter >> 33) % (most / 2 + 1);
}

static void on_retry(uv_timer_t *timer)
{
    MYR_ASSERT(!((struct session *)timer->data)->ending);
    connect_now(timer->data);
}

/* The next try, later each time it fails; not while the session is ending. */
static void retry_later(struct session *session)
{
    MYR_ASSERT(!session->stream && !session->welcomed); /* one connection at a time */
    if (!session->ending) {
        /* Only as far as it counts: the time between tries has long been the longest. */
        session->failures += session->failures < 16;
        MYR_ASSERT(session->failures > 0);
        uv_timer_start(&session->retry, on_retry, retry_ms(session), 0);
    }
}

/* Returns the message's number on this connection, 0 when it was not sent. */
uint64_t session_send(struct session *session, enum myr_wire_type type, uint32_t epoch,
                      const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    if (!session->stream || (!session->welcomed && type != MYR_WIRE_HELLO)) {
        return 0;
    }
    /* What is lost with the connection and matters is said again on the next. */
    if (myr_io_pending(session->stream) > PENDING_MAX) {
        session->given_up = "the server takes nothing any more";
        myr_io_abort(session->stream);
        return 0;
    }
    uint64_t sequence = ++session->sequence;
    MYR_ASSERT(sequence > 1 || type == MYR_WIRE_HELLO); /* which a server takes nothing before */
    myr_wire_send(&session->sender, &bytes, type,
                  session->welcomed ? session->node : MYR_WIRE_NO_NODE, epoch, sequence, message);
    myr_io_write(session->stream, (struct myr_str){bytes.data, bytes.len});
    return sequence;
}

size_t session_pending(const struct session *session)
{
    return session->stream ? myr_io_pending(session->stream) : 0;
}

static void on_beat(uv_timer_t *timer)
{
    struct session *session = timer->data;
    uv_timeval64_t now = {};
    MYR_ASSERT(session->welcomed && session->beat_ms >= 10); /* stopped with the connection */
    (void)uv_gettimeofday(&now);
    struct myr_wire_beat beat = {.time_ns = now.tv_sec * 1000000000LL + now.tv_usec * 1000LL};
    (void)session_send(session, MYR_WIRE_BEAT, session->boot_number, &beat);
}

/* A cable that was pulled sends no end: the connection is given up by silence. */
static void on_patience(uv_timer_t *timer)
{
    struct session *session = timer->data;
    MYR_ASSERT(session->stream && session->receiving); /* stopped with the connection */
    /* By the boot clock: after a sleep of the host the connection is old at once. */
    if (session->stream && boot_clock_ns() - session->heard_ns > PATIENCE_MS * 1000000LL) {
        session->given_up = "no word from the server";
        myr_io_abort(session->stream);
    }
}

/* The hello alone goes before the welcome. */
static void on_open(void *context, struct myr_io_stream *stream)
{
    struct session *session = context;
    struct myr_wire_hello hello = {.name = myr_str_from(session->name),
                                   .version_min = MYR_WIRE_VERSION_MIN,
                                   .boot = session->boot};
    MYR_ASSERT(stream == session->stream && session->sequence == 0 && !session->welcomed);
    session->heard_ns = boot_clock_ns();
    (void)session_send(session, MYR_WIRE_HELLO, 0, &hello);
    uv_timer_start(&session->patience, on_patience, PATIENCE_MS / 4, PATIENCE_MS / 4);
}

/* From here on the node has a number, and the boot one that reports are about. */
static void take_welcome(struct session *session, const struct myr_wire_welcome *welcome)
{
    MYR_ASSERT(session->stream && session->receiving && session->sequence > 0);
    session->welcomed = true;
    session->node = welcome->node;
    session->boot_number = welcome->boot;
    session->failures = 0;
    session->last_error[0] = '\0';
    session->beat_ms = welcome->beat_ms ? welcome->beat_ms : BEAT_MS;
    /* A server that says nonsense must not make a node busy with beating. */
    session->beat_ms = session->beat_ms < 10 ? 10 : session->beat_ms;
    MYR_ASSERT(session->beat_ms >= 10 && session->failures == 0);
    if (session->said_down) {
        session->said_down = false;
        say("connected to %s:%u as node %u", session->host, session->port, session->node);
    }
    /* Before the first beat: what the node has to say goes first. */
    session->calls.welcome(session->context, welcome);
    uv_timer_start(&session->beat, on_beat, 0, session->beat_ms);
}

/* Hello, welcome and refusal are the session's own; the rest is the owner's. */
static void take_message(struct session *session, const struct myr_wire_message *message)
{
    MYR_ASSERT(session->stream && session->receiving);
    const void *body = message->body;
    switch (message->head.type) {
    case MYR_WIRE_HELLO:
        return;
    case MYR_WIRE_WELCOME:
        take_welcome(session, body);
        return;
    case MYR_WIRE_REFUSED: {
        const struct myr_wire_refused *refused = body;
        /* The server closes; the next try comes as after any failure. */
        say("refused by %s:%u: %.*s", session->host, session->port,
            (int)(refused->text.len < 200 ? refused->text.len : 200), refused->text.data);
        session->calls.refused(session->context, refused->code, refused->text);
        return;
    }
    default:
        /* Types of a newer server are passed over, and so is anything before the welcome. */
        if (message->known && session->welcomed) {
            session->calls.message(session->context, message);
        }
    }
}

/* Bytes that are no message end the connection: what follows them could be anything. */
static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct session *session = context;
    struct myr_wire_message message;
    struct myr_err err = {};
    int rc;
    if (stream != session->stream) {
        return;
    }
    MYR_ASSERT(session->receiving && session->sequence > 0); /* on_open() has said hello */
    session->heard_ns = boot_clock_ns();
    myr_wire_feed(&session->receiver, bytes);
    /* A message may end the connection: then the rest of its bytes is nobody's. */
    while (session->stream == stream &&
           (rc = myr_wire_next(&session->receiver, &message, &err)) != 0) {
        if (rc < 0) {
            say("%s:%u says what is no message: %s", session->host, session->port, err.message);
            session->failures += 2; /* not at once again */
            session->given_up = "the connection is given up";
            myr_io_abort(stream);
            return;
        }
        take_message(session, &message);
    }
}

/* Whatever belongs to one connection; name, certificate and count of failures stay. */
static void forget_connection(struct session *session)
{
    MYR_ASSERT(session->stream);
    session->stream = NULL;
    session->given_up = NULL;
    session->welcomed = false;
    uv_timer_stop(&session->beat);
    uv_timer_stop(&session->patience);
    if (session->receiving) {
        myr_wire_receiver_done(&session->receiver);
        session->receiving = false;
    }
    MYR_ASSERT(!session->receiving); /* connect_now() makes another */
}

/* Told to people when the reason changes; the list of servers moves on by one. */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct session *session = context;
    const char *text = why->code           ? why->message
                       : session->given_up ? session->given_up
                                           : "the server closed the connection";
    if (stream != session->stream) {
        return;
    }
    /* The same reason again and again is one line, not one every five seconds. */
    if (strncmp(session->last_error, text, sizeof(session->last_error) - 1) != 0 &&
        !session->ending) {
        snprintf(session->last_error, sizeof(session->last_error), "%.255s", text);
        say("%s:%u: %s; ranks run on, trying again", session->host, session->port, text);
    }
    session->said_down = true;
    forget_connection(session);
    if (session->next) {
        session->next(session);
    }
    retry_later(session);
}

/* Schemas are said anew on every connection: both ends forget them with it. */
static void connect_now(struct session *session)
{
    const struct myr_io_calls calls = {on_open, on_data, on_closed};
    struct myr_err err = {};
    MYR_ASSERT(!session->stream && !session->receiving && !session->given_up);
    myr_wire_sender_init(&session->sender);
    myr_wire_receiver_init(&session->receiver);
    session->receiving = true;
    /* Numbers begin anew with each connection, and so do both ends of the wire. */
    session->sequence = 0;
    int rc = myr_io_connect(session->loop, session->host, session->port, session->tls, &calls,
                            session, &session->stream, &err);
    MYR_ASSERT(rc == MYR_OK); /* what goes wrong is told by on_closed() */
}

/* The first try is at once: only those after a failure are spread out. */
void session_start(struct session *session)
{
    /* Nodes that differ in name or boot wait for different times. */
    MYR_ASSERT(session->loop && session->host && session->name && !session->stream);
    MYR_ASSERT(session->calls.welcome && session->calls.message && session->calls.refused);
    session->jitter = session->boot;
    for (const char *c = session->name; *c; c++) {
        session->jitter = (session->jitter ^ (unsigned char)*c) * 1099511628211ULL;
    }
    session->said_down = true;
    MYR_ASSERT(!session->ending && session->failures == 0);
    uv_timer_init(session->loop, &session->retry);
    uv_timer_init(session->loop, &session->beat);
    uv_timer_init(session->loop, &session->patience);
    session->retry.data = session->beat.data = session->patience.data = session;
    connect_now(session);
}

/* Takes 'tls' over. The connection is made again, so that the new certificate is the one shown. */
void session_renew(struct session *session, struct myr_io_tls *tls)
{
    MYR_ASSERT(!tls || tls != session->tls); /* that one is freed */
    myr_io_tls_free(session->tls);
    session->tls = tls;
    if (session->stream) {
        session->given_up = "the certificate was renewed";
        myr_io_close(session->stream);
    }
}

/* For tests: the agent itself ends with its process. */
void session_end(struct session *session)
{
    MYR_ASSERT(!session->ending); /* its timers are closed once */
    session->ending = true;
    uv_close((uv_handle_t *)&session->retry, NULL);
    uv_close((uv_handle_t *)&session->beat, NULL);
    uv_close((uv_handle_t *)&session->patience, NULL);
    if (session->stream) {
        myr_io_close(session->stream);
    }
}
