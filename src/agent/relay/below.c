/*
 * below: agents' connections. Each has a channel while the controller knows of it; without one it
 * waits, and what counts of its words is kept to be said again.
 */
#include "relay/relay.h"

#include <stdlib.h>

#include "disk/files.h"

enum {
    KEPT_MAX = 16 << 10,   /* of hello and schemas; an agent has two */
    HELD_MAX = 64 << 10,   /* bytes of one who waits for the controller */
    PENDING_MAX = 8 << 20, /* that an agent may leave untaken */
    FLOOD = 2000,          /* frames a second */
    PATIENCE_MS = 30000,   /* for one that is not welcomed */
    LEASE_TURNS = 5,       /* seconds between leases of one agent */
    SILENT_BEATS = 3,      /* as the controller counts */
    SILENT_MORE_MS = 250,
};

int64_t relay_now_ms(const struct relay *relay)
{
    (void)relay;
    return boot_clock_ns() / 1000000;
}

/* The payload points into 'bytes', and is valid until they change. */
int frame_next(const struct myr_buf *bytes, size_t *at, struct myr_wire_head *ret,
               struct myr_str *ret_payload, struct myr_err *err)
{
    size_t size = 0;
    struct myr_str left = {bytes->data + *at, bytes->len - *at};
    int rc = left.len ? myr_wire_frame_get(left, ret, ret_payload, &size, err) : 0;
    *at += size;
    MYR_ASSERT(*at <= bytes->len && (rc > 0) == (size > 0));
    return rc;
}

/* What is left is moved to the front, which is a part of one frame at most. */
void frames_read(struct myr_buf *bytes, size_t *at)
{
    MYR_ASSERT(*at <= bytes->len);
    if (*at == bytes->len) {
        myr_buf_done(bytes); /* a thousand idle agents keep no buffers */
    } else if (*at > 0) {
        memmove(bytes->data, bytes->data + *at, bytes->len - *at);
        bytes->len -= *at;
    }
    *at = 0;
}

void relay_say(struct relay *relay, enum myr_wire_type type, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    /* A hello is the first word, and nothing is said between it and the welcome. */
    MYR_ASSERT(relay->up && (relay->welcomed || (type == MYR_WIRE_HELLO && relay->sent == 0)));
    myr_wire_send(&relay->sender, &bytes, type, MYR_WIRE_NO_NODE, 0, ++relay->sent, message);
    myr_io_write(relay->up, (struct myr_str){bytes.data, bytes.len});
}

/* NULL also for a channel of before, whose place another agent has by now. */
struct line *below_find(const struct relay *relay, uint32_t channel)
{
    uint32_t at = channel % MYR_WIRE_CHANNEL_PLACES;
    struct line *line = at < relay->places.count ? relay->places.items[at].line : NULL;
    MYR_ASSERT(!line || (line->relay == relay && line->channel % MYR_WIRE_CHANNEL_PLACES == at));
    return line && line->channel == channel ? line : NULL;
}

/* The line itself is freed in on_closed(), when its stream is over. */
static void end_line(struct line *line, bool at_once)
{
    MYR_ASSERT(line->stream && line->relay->line_count > 0);
    if (!line->over) {
        line->over = true;
        if (at_once) {
            myr_io_abort(line->stream);
        } else {
            myr_io_close(line->stream);
        }
    }
}

void below_close(struct line *line)
{
    end_line(line, false);
}

/* Who it is says its certificate, and nothing that it says itself. */
static void attach(struct line *line)
{
    struct relay *relay = line->relay;
    uint32_t at;
    MYR_ASSERT(line->channel == MYR_WIRE_NO_NODE && relay->welcomed);
    MYR_ASSERT(line->open && !line->silent && !line->welcomed);
    /* Places are used again, the last that became free first, so that the list stays short. */
    if (relay->free_places.count > 0) {
        at = relay->free_places.items[--relay->free_places.count];
    } else {
        at = (uint32_t)relay->places.count;
        myr_vec_push(&relay->places, (struct place){});
    }
    MYR_ASSERT(at < MYR_WIRE_CHANNEL_PLACES && !relay->places.items[at].line);
    relay->places.items[at].line = line;
    /* With the turn in it, a late frame for who had the place before reaches nobody. */
    line->channel = (uint32_t)relay->places.items[at].turn++ * MYR_WIRE_CHANNEL_PLACES + at;
    struct myr_wire_attach message = {
        .channel = line->channel,
        .name = myr_str_from(myr_io_peer(line->stream)),
        .serial = myr_str_from(myr_io_peer_serial(line->stream)),
        .address = myr_str_from(myr_io_address(line->stream)),
    };
    MYR_ASSERT(below_find(relay, line->channel) == line);
    relay_say(relay, MYR_WIRE_ATTACH, &message);
}

/* A controller that is not there needs no word: it forgets all channels with the connection. */
static void detach(struct line *line)
{
    struct relay *relay = line->relay;
    if (line->channel == MYR_WIRE_NO_NODE) {
        MYR_ASSERT(!line->welcomed && !line->silent); /* both are words about a channel */
        return;
    }
    uint32_t at = line->channel % MYR_WIRE_CHANNEL_PLACES;
    MYR_ASSERT(below_find(relay, line->channel) == line);
    relay->places.items[at].line = NULL;
    myr_vec_push(&relay->free_places, at);
    MYR_ASSERT(relay->free_places.count <= relay->places.count);
    if (relay->welcomed) {
        relay_say(relay, MYR_WIRE_DETACH, &(struct myr_wire_detach){line->channel});
    }
    line->channel = MYR_WIRE_NO_NODE;
}

/* Any byte is a sign of life; the controller hears of it only when it was told of a silence. */
static void heard(struct line *line)
{
    line->heard_ms = relay_now_ms(line->relay);
    if (line->silent) {
        MYR_ASSERT(line->welcomed && line->channel != MYR_WIRE_NO_NODE);
        line->silent = false;
        relay_say(line->relay, MYR_WIRE_BACK,
                  &(struct myr_wire_silent){.last_ns = line->heard_ms * 1000000,
                                            .channel = line->channel});
    }
}

/* In whole seconds, which is cheap and exact enough. */
static bool floods(struct line *line)
{
    int64_t now_ms = relay_now_ms(line->relay);
    if (now_ms - line->second_ms >= 1000) {
        line->second_ms = now_ms;
        line->in_second = 0;
    }
    return ++line->in_second > FLOOD;
}

/* What a controller that comes back has to hear first. One that says too much of it comes again. */
static void keep(struct line *line, const struct myr_wire_head *head, struct myr_str payload)
{
    if ((head->type == MYR_WIRE_SCHEMA || head->type == MYR_WIRE_HELLO) &&
        line->kept.len <= KEPT_MAX) {
        myr_wire_frame_put(&line->kept, head, payload);
    }
}

/* While there is no controller: what counts is said again when it has welcomed the agent. */
static void discard(struct line *line)
{
    struct myr_wire_head head;
    struct myr_str payload;
    struct myr_err err = {};
    int rc;
    MYR_ASSERT(line->was_welcomed && line->channel == MYR_WIRE_NO_NODE);
    while ((rc = frame_next(&line->bytes, &line->at, &head, &payload, &err)) > 0) {
        keep(line, &head, payload);
    }
    frames_read(&line->bytes, &line->at);
    if (rc < 0) {
        end_line(line, true);
    }
}

/* Frames of an agent go up under its channel; beats stay here. */
static void take(struct line *line)
{
    struct relay *relay = line->relay;
    MYR_CLEANUP(myr_buf_done) struct myr_buf up = {};
    struct myr_wire_head head;
    struct myr_str payload;
    struct myr_err err = {};
    int rc;
    MYR_ASSERT(relay->welcomed && below_find(relay, line->channel) == line);
    heard(line);
    while ((rc = frame_next(&line->bytes, &line->at, &head, &payload, &err)) > 0) {
        if (floods(line)) {
            rc = myr_err_set(&err, MYR_EOFTEN, "too many messages");
            break;
        }
        /* The relay counts them for the controller: of ten thousand a second it hears none. */
        if (head.type == MYR_WIRE_BEAT && (line->welcomed || line->was_welcomed)) {
            relay->count.beats++;
            continue;
        }
        keep(line, &head, payload);
        head.node = line->channel;
        relay->count.frames_up++;
        myr_wire_frame_put(&up, &head, payload);
    }
    frames_read(&line->bytes, &line->at);
    myr_io_write(relay->up, (struct myr_str){up.len ? up.data : "", up.len});
    if (rc < 0) {
        say("agent %s dropped: %s", myr_io_address(line->stream), err.message);
        end_line(line, true);
    }
}

/* TLS is agreed: now it is known whose certificate it is. */
static void on_open(void *context, struct myr_io_stream *stream)
{
    struct line *line = context;
    MYR_ASSERT(stream == line->stream && !line->open && line->channel == MYR_WIRE_NO_NODE);
    line->open = true;
    if (line->relay->welcomed) {
        attach(line);
    }
}

/* With a channel it goes up; without one it is kept, thrown away or, beyond a limit, refused. */
static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct line *line = context;
    MYR_ASSERT(stream == line->stream && line->open);
    if (line->over) {
        return;
    }
    myr_buf_put(&line->bytes, bytes.data, bytes.len);
    if (line->channel != MYR_WIRE_NO_NODE) {
        take(line);
    } else if (line->was_welcomed) {
        discard(line);
    } else if (line->bytes.len > HELD_MAX) {
        end_line(line, true);
    }
}

/* The controller is told by DETACH, where it knows of the agent. */
static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct line *line = context;
    struct relay *relay = line->relay;
    (void)why;
    MYR_ASSERT(stream == line->stream && relay->line_count > 0);
    detach(line);
    /* Out of the list, whose head is the relay's own. */
    struct line **link = line->before ? &line->before->next : &relay->lines;
    MYR_ASSERT(*link == line && (!line->next || line->next->before == line));
    *link = line->next;
    if (line->next) {
        line->next->before = line->before;
    }
    relay->line_count--;
    MYR_ASSERT((relay->line_count == 0) == (relay->lines == NULL));
    myr_buf_done(&line->bytes);
    myr_buf_done(&line->kept);
    free(line);
}

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    struct relay *relay = context;
    struct line *line = myr_xcalloc(1, sizeof(*line));
    line->relay = relay;
    line->stream = stream;
    line->channel = MYR_WIRE_NO_NODE;
    line->node = MYR_WIRE_NO_NODE;
    /* Who is not welcomed in time is dropped, counted from here on. */
    line->since_ms = line->heard_ms = line->second_ms = relay_now_ms(relay);
    myr_wire_sender_init(&line->sender);
    line->next = relay->lines;
    if (line->next) {
        MYR_ASSERT(!line->next->before);
        line->next->before = line;
    }
    relay->lines = line;
    relay->line_count++;
    if (relay->line_count > relay->count.agents_most) {
        relay->count.agents_most = relay->line_count;
    }
    return line;
}

/* Agents beyond the limit are closed at once, and come again. */
int below_listen(struct relay *relay, const char *address, uint16_t port, struct myr_err *err)
{
    MYR_ASSERT(!relay->listener);
    struct myr_io_service service = {.calls = {on_open, on_data, on_closed},
                                     .accept = on_accept,
                                     .context = relay,
                                     .streams_max = relay->settings->agents_max};
    return myr_io_listen(&relay->loop, address, port, relay->tls_down, &service, &relay->listener,
                         err);
}

/* One whom the last controller knew: it is introduced as it has introduced itself then. */
static void introduce(struct line *line)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf up = {};
    struct myr_wire_head head;
    struct myr_str payload;
    size_t at = 0;
    MYR_ASSERT(line->was_welcomed && line->channel != MYR_WIRE_NO_NODE);
    while (frame_next(&line->kept, &at, &head, &payload, NULL) > 0) {
        head.node = line->channel;
        line->relay->count.frames_up++;
        myr_wire_frame_put(&up, &head, payload);
    }
    myr_io_write(line->relay->up, (struct myr_str){up.len ? up.data : "", up.len});
}

/* Under new channels: those of the connection before mean nothing any more. */
void below_attach_all(struct relay *relay)
{
    MYR_ASSERT(relay->up && relay->welcomed);
    for (struct line *line = relay->lines; line; line = line->next) {
        if (line->open && !line->over && line->channel == MYR_WIRE_NO_NODE) {
            attach(line);
            line->since_ms = relay_now_ms(relay);
            if (line->was_welcomed) {
                introduce(line);
            }
            take(line);
        }
    }
}

/* Their streams stay; only the controller's knowledge of them is gone. */
void below_detach_all(struct relay *relay)
{
    MYR_ASSERT(!relay->up && !relay->welcomed); /* nobody is told of it */
    for (struct line *line = relay->lines; line; line = line->next) {
        if (line->channel == MYR_WIRE_NO_NODE) {
            continue; /* one who has not been told of has lost nothing, and waits on */
        }
        /*
         * Who can be introduced again needs no new handshake; the others come again by themselves.
         */
        bool waits = (line->welcomed || line->was_welcomed) && line->kept.len <= KEPT_MAX;
        detach(line);
        line->was_welcomed = waits;
        line->welcomed = line->silent = false;
        line->since_ms = relay_now_ms(relay);
        if (!waits) {
            end_line(line, false);
        }
    }
}

/* Unchanged but for the number in the head; an agent that takes nothing is dropped. */
void below_pass(struct line *line, const struct myr_wire_head *head, struct myr_str payload)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_head out = *head;
    if (line->over) {
        return;
    }
    /* The agent knows its number in the cluster, not its channel. */
    MYR_ASSERT(line->open && line->channel != MYR_WIRE_NO_NODE);
    out.node = line->node;
    line->relay->count.frames_down++;
    myr_wire_frame_put(&bytes, &out, payload);
    myr_io_write(line->stream, (struct myr_str){bytes.data, bytes.len});
    if (myr_io_pending(line->stream) > PENDING_MAX) {
        say("agent %s takes nothing any more", myr_io_address(line->stream));
        end_line(line, true);
    }
}

/* Said by the relay in the controller's name, so that leases cost it one message for all. */
void below_lease(struct relay *relay)
{
    relay->turn++;
    for (struct line *line = relay->lines; line; line = line->next) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        /* A fifth of the agents each second, so that they are not all written to at once. */
        if (!line->welcomed || line->over || (line->channel + relay->turn) % LEASE_TURNS != 0) {
            continue;
        }
        MYR_ASSERT(line->channel != MYR_WIRE_NO_NODE);
        struct myr_wire_beat lease = {.time_ns = relay_now_ms(relay) * 1000000};
        myr_wire_send(&line->sender, &bytes, MYR_WIRE_LEASE, line->node, line->boot, ++line->leases,
                      &lease);
        myr_io_write(line->stream, (struct myr_str){bytes.data, bytes.len});
        if (myr_io_pending(line->stream) > PENDING_MAX) {
            end_line(line, true);
        }
    }
}

/* Who fell silent is told of once, with the time of the last word. */
void below_second(struct relay *relay)
{
    int64_t now_ms = relay_now_ms(relay);
    /* Three beats and a little, the same as without a relay. */
    int64_t limit_ms = SILENT_BEATS * (int64_t)relay->beat_ms + SILENT_MORE_MS;
    for (struct line *line = relay->lines; line; line = line->next) {
        MYR_ASSERT(!line->silent || line->welcomed); /* of others no silence means anything */
        if (line->over) {
            continue;
        }
        if (!line->welcomed && now_ms - line->since_ms > PATIENCE_MS) {
            end_line(line, true);
        } else if (line->welcomed && !line->silent && now_ms - line->heard_ms > limit_ms) {
            MYR_ASSERT(line->channel != MYR_WIRE_NO_NODE);
            line->silent = true;
            relay_say(relay, MYR_WIRE_SILENT,
                      &(struct myr_wire_silent){.last_ns = line->heard_ms * 1000000,
                                                .channel = line->channel});
        }
    }
}

void below_pause(struct relay *relay, bool pause)
{
    if (relay->paused == pause) {
        return;
    }
    MYR_ASSERT(!pause || relay->up); /* without a controller nobody is held back */
    relay->paused = pause;
    for (struct line *line = relay->lines; line; line = line->next) {
        if (line->open && !line->over) {
            myr_io_pause(line->stream, pause);
        }
    }
}
