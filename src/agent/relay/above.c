/*
 * above: the one connection to the controller, over which frames of all agents travel, each under
 * its channel. Of what passes the relay reads as little as it can: it need not be as new as the
 * ends.
 */
#include <stdio.h>

#include "disk/files.h"
#include "enrol.h"
#include "relay/relay.h"

enum {
    RETRY_MIN_MS = 100,
    RETRY_MAX_MS = 1000,    /* relays are few */
    PATIENCE_MS = 15000,    /* the controller says a word a second */
    PENDING_HIGH = 8 << 20, /* agents are not read beyond this, */
    PENDING_LOW = 1 << 20,  /* and read again below it */
    DRAIN_MS = 20,
    RENEW_SECONDS = 3600,
};

static void connect_now(struct relay *relay);

static void on_retry(uv_timer_t *timer)
{
    MYR_ASSERT(!((struct relay *)timer->data)->ending);
    connect_now(timer->data);
}

/* Soon at first, then doubling up to a second: agents wait for it. */
static void retry_later(struct relay *relay)
{
    /* Doubled each time; the shift is bounded before it could lose bits. */
    MYR_ASSERT(!relay->up && !relay->welcomed); /* one connection at a time */
    uint64_t wait_ms = (uint64_t)RETRY_MIN_MS << (relay->failures < 8 ? relay->failures : 8);
    relay->failures++;
    if (!relay->ending) {
        uv_timer_start(&relay->retry, on_retry, wait_ms < RETRY_MAX_MS ? wait_ms : RETRY_MAX_MS, 0);
    }
}

/* A controller that reads slowly is not written to without end: agents are read more slowly. */
static void on_drain(uv_timer_t *timer)
{
    struct relay *relay = timer->data;
    MYR_ASSERT(!relay->ending && (relay->up || !relay->paused));
    /* Without a connection nothing waits, and agents are read. */
    size_t pending = relay->up ? myr_io_pending(relay->up) : 0;
    if (pending > PENDING_HIGH) {
        below_pause(relay, true);
    } else if (pending < PENDING_LOW) {
        below_pause(relay, false);
    }
}

/* Both sides show the same certificate, upwards and downwards. */
static void take_cert(struct relay *relay, const struct myr_wire_cert *cert)
{
    struct myr_err err = {};
    struct myr_io_tls *up = NULL, *down = NULL;
    const char *folder = relay->settings->folder;
    /* One that was not asked for belongs to no key of ours. */
    if (!relay->asked_renewal) {
        return;
    }
    MYR_ASSERT(relay->up && relay->listener);
    relay->asked_renewal = false;
    if (enrol_take(folder, cert, &err) < 0 || enrol_tls(folder, &up, &err) < 0 ||
        enrol_tls_server(folder, &down, &err) < 0) {
        myr_io_tls_free(up);
        say("new certificate: %s", err.message);
        return;
    }
    /* Connections that stand go on; the next ones show the new one. */
    myr_io_tls_free(relay->tls_up);
    myr_io_tls_free(relay->tls_down);
    MYR_ASSERT(up && down);
    relay->tls_up = up;
    relay->tls_down = down;
    myr_io_listener_show(relay->listener, down);
    say("new certificate");
}

/* The pace of beats is the controller's: silence is counted by it. */
static void take_welcome(struct relay *relay, const struct myr_wire_welcome *welcome)
{
    MYR_ASSERT(relay->up && relay->sent > 0); /* the hello has gone */
    /* Only now frames of agents may go up. */
    relay->welcomed = true;
    /* The next loss begins with a short wait again. */
    relay->failures = 0;
    relay->beat_ms = welcome->beat_ms ? welcome->beat_ms : 1000;
    if (relay->said_down) {
        relay->said_down = false;
        say("connected to %s:%u", relay->host, relay->port);
    }
    /* Agents that came meanwhile, and those whom the last controller knew, are told of at once. */
    below_attach_all(relay);
}

/* What the controller says to the relay itself; types that it does not know pass by. */
static void take_own(struct relay *relay, const struct myr_wire_message *message)
{
    const void *body = message->body;
    MYR_ASSERT(relay->up && message->known);
    switch (message->head.type) {
    case MYR_WIRE_WELCOME:
        take_welcome(relay, body);
        return;
    case MYR_WIRE_LEASE:
        below_lease(relay);
        return;
    case MYR_WIRE_DETACH: {
        struct line *line = below_find(relay, ((const struct myr_wire_detach *)body)->channel);
        if (line) {
            below_close(line);
        }
        return;
    }
    case MYR_WIRE_CERT:
        take_cert(relay, body);
        return;
    case MYR_WIRE_REFUSED: {
        const struct myr_wire_refused *refused = body;
        say("refused by %s:%u: %.*s", relay->host, relay->port,
            (int)(refused->text.len < 200 ? refused->text.len : 200), refused->text.data);
        /* Refused: it is asked again as seldom as may be. */
        relay->failures = 8;
        return;
    }
    default:
        return;
    }
}

/* Of what passes, the welcome alone is read: which node this is, for the heads of its frames. */
static int look(struct relay *relay, struct line *line, const struct myr_wire_head *head,
                struct myr_str payload, struct myr_err *err)
{
    /* The welcome's schema goes before it, and is needed to read it. */
    bool schema =
        head->type == MYR_WIRE_SCHEMA && payload.len > 0 && payload.data[0] == MYR_WIRE_WELCOME;
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_message message;
    MYR_ASSERT(line->channel == head->node && line->relay == relay);
    if (!schema && head->type != MYR_WIRE_WELCOME) {
        return MYR_OK;
    }
    myr_wire_frame_put(&bytes, head, payload);
    myr_wire_feed(&relay->welcomes, (struct myr_str){bytes.data, bytes.len});
    int rc = myr_wire_next(&relay->welcomes, &message, err);
    if (rc > 0) {
        const struct myr_wire_welcome *welcome = (const void *)message.body;
        line->node = welcome->node;
        line->boot = welcome->boot;
        line->welcomed = true;
    }
    return rc < 0 ? rc : MYR_OK;
}

/* The head's node is the channel here; frames without one are for the relay itself. */
static int take_frame(struct relay *relay, const struct myr_wire_head *head, struct myr_str payload,
                      struct myr_err *err)
{
    if (head->node != MYR_WIRE_NO_NODE) {
        struct line *line = below_find(relay, head->node);
        if (line) { /* else it has gone meanwhile: the controller hears of it */
            MYR_TRY(look(relay, line, head, payload, err));
            below_pass(line, head, payload);
        }
        return MYR_OK;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_message message;
    myr_wire_frame_put(&bytes, head, payload);
    myr_wire_feed(&relay->own, (struct myr_str){bytes.data, bytes.len});
    int rc;
    while ((rc = myr_wire_next(&relay->own, &message, err)) > 0) {
        if (message.known) {
            take_own(relay, &message);
        }
    }
    return rc;
}

static void on_open(void *context, struct myr_io_stream *stream)
{
    struct relay *relay = context;
    MYR_ASSERT(stream == relay->up && relay->sent == 0 && !relay->welcomed);
    relay->heard_ms = relay_now_ms(relay);
    relay_say(relay, MYR_WIRE_HELLO,
              &(struct myr_wire_hello){.name = myr_str_from(relay->settings->name),
                                       .version_min = MYR_WIRE_VERSION_MIN});
}

/* Frame by frame: those of agents are not taken apart. */
static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct relay *relay = context;
    struct myr_wire_head head;
    struct myr_str payload;
    struct myr_err err = {};
    int rc;
    MYR_ASSERT(stream == relay->up && relay->sent > 0); /* on_open() has said hello */
    relay->heard_ms = relay_now_ms(relay);
    myr_buf_put(&relay->bytes, bytes.data, bytes.len);
    while ((rc = frame_next(&relay->bytes, &relay->at, &head, &payload, &err)) > 0) {
        rc = take_frame(relay, &head, payload, &err);
        if (rc < 0) {
            break;
        }
    }
    frames_read(&relay->bytes, &relay->at);
    if (rc < 0) {
        say("%s:%u says what is no message: %s", relay->host, relay->port, err.message);
        myr_io_abort(stream);
    }
}

/* What belongs to this connection. Agents stay connected, and are unknown to whoever comes next. */
static void forget(struct relay *relay)
{
    MYR_ASSERT(relay->up && relay->at <= relay->bytes.len);
    relay->up = NULL;
    relay->welcomed = relay->asked_renewal = false;
    myr_wire_receiver_done(&relay->own);
    myr_wire_receiver_done(&relay->welcomes);
    myr_buf_done(&relay->bytes);
    relay->at = 0;
    below_pause(relay, false);
    below_detach_all(relay);
    MYR_ASSERT(relay->free_places.count == relay->places.count); /* nobody has a channel */
}

/* Said once for each loss, however often the connection is tried again. */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct relay *relay = context;
    MYR_ASSERT(stream == relay->up);
    if (!relay->said_down && !relay->ending) {
        say("%s:%u: %s; agents wait, ranks run on", relay->host, relay->port,
            why->code          ? why->message
            : !relay->heard_ms ? "no word from the controller"
                               : "the controller closed the connection");
    }
    relay->said_down = true;
    forget(relay);
    /* Another may lead by now: each of the list in turn. */
    above_choose(relay, (relay->server_at + 1) % (relay->servers.other_count + 1));
    retry_later(relay);
}

void above_choose(struct relay *relay, uint32_t at)
{
    const struct settings *servers = &relay->servers;
    MYR_ASSERT(at <= servers->other_count);
    relay->server_at = at;
    relay->host = at == 0 ? servers->host : servers->others[at - 1].host;
    relay->port = at == 0 ? servers->port : servers->others[at - 1].port;
}

/* Both ends of the wire begin anew: schemas are said again, numbers start at 1. */
static void connect_now(struct relay *relay)
{
    const struct myr_io_calls calls = {on_open, on_data, on_closed};
    struct myr_err err = {};
    MYR_ASSERT(!relay->up && !relay->asked_renewal && !relay->paused);
    MYR_ASSERT(relay->bytes.len == 0 && relay->at == 0); /* nothing of the connection before */
    myr_wire_sender_init(&relay->sender);
    myr_wire_receiver_init(&relay->own);
    myr_wire_receiver_init(&relay->welcomes);
    relay->sent = 0;
    int rc = myr_io_connect(&relay->loop, relay->host, relay->port, relay->tls_up, &calls, relay,
                            &relay->up, &err);
    MYR_ASSERT(rc == MYR_OK); /* what goes wrong is told by on_closed() */
}

void above_start(struct relay *relay)
{
    MYR_ASSERT(relay->host && !relay->up && !relay->ending);
    relay->said_down = true;
    relay->beat_ms = 1000;
    uv_timer_init(&relay->loop, &relay->retry);
    uv_timer_init(&relay->loop, &relay->drain);
    relay->retry.data = relay->drain.data = relay;
    uv_timer_start(&relay->drain, on_drain, DRAIN_MS, DRAIN_MS);
    connect_now(relay);
}

/* As an agent's, over the connection that the old certificate has opened. */
static void renew(struct relay *relay)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    struct myr_err err = {};
    if (relay->asked_renewal || !enrol_is_due(relay->settings->folder)) {
        return;
    }
    if (enrol_ask(relay->settings->folder, relay->settings->name, &csr, &err) < 0) {
        say("%s", err.message);
        return;
    }
    MYR_ASSERT(relay->welcomed);
    relay->asked_renewal = true;
    relay_say(relay, MYR_WIRE_ENROL,
              &(struct myr_wire_enrol){.token = MYR_STR(""), .csr = {csr.data, csr.len}});
}

/* Silence for long ends the connection; a beat says that the relay lives, with all behind it. */
void above_second(struct relay *relay)
{
    MYR_ASSERT(relay->up || !relay->welcomed);
    if (!relay->up) {
        return;
    }
    if (relay->heard_ms && relay_now_ms(relay) - relay->heard_ms > PATIENCE_MS) {
        relay->heard_ms = 0; /* once, and it is said why */
        myr_io_abort(relay->up);
        return;
    }
    if (relay->welcomed) {
        relay_say(relay, MYR_WIRE_BEAT,
                  &(struct myr_wire_beat){.time_ns = relay_now_ms(relay) * 1000000});
        if (relay->seconds++ % RENEW_SECONDS == 5) {
            renew(relay);
        }
    }
}

void above_end(struct relay *relay)
{
    MYR_ASSERT(relay->ending);
    uv_close((uv_handle_t *)&relay->retry, NULL);
    uv_close((uv_handle_t *)&relay->drain, NULL);
    if (relay->up) {
        myr_io_close(relay->up);
    }
}
