/*
 * A naive simulator of packets, for tests: every queue is a list, every departure, flight and timer
 * is looked for among all of them, every moment. It shares no code with the engine but the
 * description of a question, and writes down when each flow got what.
 *
 * A moment: timers, then whatever can begin to leave, channel by channel, then pauses that may be
 * lifted, then what arrives, channel by channel.
 */
#pragma once

#include <stdlib.h>

#include "myriad/base.h"
#include "packet/packet.h"

enum { NAIVE_PORTS = 64, NAIVE_SWITCHES = 6, NAIVE_FLOWS = 24, NAIVE_HOPS = 8 };

enum naive_kind { NAIVE_DATA, NAIVE_ACK, NAIVE_PAUSE, NAIVE_RESUME };

struct naive_packet {
    enum naive_kind kind;
    uint32_t flow, number, bytes, at_hop, told, in;
    bool marked;
    myr_ps arrives;
    struct {
        myr_ps at;
        uint32_t sent, queued;
    } reports[NAIVE_HOPS];
};

struct naive_list {
    MYR_VEC(struct naive_packet) items;
};

struct naive_port {
    struct pk_channel channel;
    myr_ps busy; /* until then */
    bool paused, told;
    struct naive_list urgent, queue, wire;
    uint64_t sent, brought; /* bytes over it; bytes that it brought and that are in the buffer */
    MYR_VEC(uint32_t) turn;
};

struct naive_flow {
    struct pk_message message;
    struct pk_path path;
    myr_ps start, avail;
    uint64_t rate, window;
    uint32_t packets, sent, acked, received, then;
    bool begun, listed;
    /* DCQCN. */
    uint64_t target, alpha, stage;
    myr_ps alpha_at, decrease_at, increase_at;
    bool seen, alpha_mark, decrease_mark;
    /* HPCC. */
    uint64_t reference, util, updated;
    struct {
        myr_ps at;
        uint32_t sent, queued;
    } last[NAIVE_HOPS];
};

struct naive_line {
    myr_ps at;
    uint32_t flow, received, acked;
};

struct naive {
    struct myr_packet_options options;
    uint32_t port_count, switch_count, flow_count;
    uint64_t seed;
    uint64_t used[NAIVE_SWITCHES], room[NAIVE_SWITCHES];
    struct naive_port ports[NAIVE_PORTS];
    struct naive_flow flows[NAIVE_FLOWS];
    myr_ps now, trip;
    uint64_t marks, pauses, hops;
    bool lifts[NAIVE_PORTS]; /* something that this channel brought has left just now */
    MYR_VEC(struct naive_line) lines;
};

static uint64_t naive_header(const struct naive *n)
{
    return n->options.header_bytes +
           (n->options.cc == MYR_CC_HPCC ? n->options.telemetry_bytes : 0);
}

/* Rates divide a byte's time here: questions are drawn so. */
static myr_ps naive_time(const struct naive *n, uint32_t port, uint64_t bytes)
{
    return (myr_ps)(bytes * (UINT64_C(8000000000000) / n->ports[port].channel.bps));
}

static uint64_t naive_of_speed(const struct naive *n, uint32_t port, uint64_t at_100)
{
    return at_100 * (n->ports[port].channel.bps / 1000000) / 100000;
}

static struct naive_packet naive_shift(struct naive_list *list)
{
    struct naive_packet first = list->items.items[0];
    list->items.count--;
    memmove(&list->items.items[0], &list->items.items[1],
            list->items.count * sizeof(struct naive_packet));
    return first;
}

static uint64_t naive_queued(const struct naive_port *port)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < port->queue.items.count; i++) {
        bytes += port->queue.items.items[i].bytes;
    }
    return bytes;
}

static uint64_t naive_allowed(const struct naive *n, uint32_t at)
{
    return n->room[at] > n->used[at] ? (n->room[at] - n->used[at]) >> n->options.pause_shift : 0;
}

static bool naive_may_send(const struct naive *n, const struct naive_flow *flow)
{
    uint64_t flying = (uint64_t)(flow->sent - flow->acked) * n->options.mtu_bytes;
    return flow->sent < flow->packets && (flow->window == 0 || flying < flow->window);
}

static void naive_list_flow(struct naive *n, uint32_t id)
{
    struct naive_flow *flow = &n->flows[id];
    flow->listed = true;
    flow->avail = flow->avail > n->now ? flow->avail : n->now;
    myr_vec_push(&n->ports[flow->path.channels[0]].turn, id);
}

/* By chance between the thresholds of the queue that stays behind. */
static bool naive_marks(const struct naive *n, uint32_t port, const struct naive_packet *packet)
{
    uint64_t queued = naive_queued(&n->ports[port]);
    uint64_t low = naive_of_speed(n, port, n->options.kmin_bytes);
    uint64_t high = naive_of_speed(n, port, n->options.kmax_bytes);
    if (queued <= low || queued > high) {
        return queued > high;
    }
    uint64_t name = myr_hash_u64(n->seed ^ myr_hash_u64(n->flows[packet->flow].message.name));
    uint64_t draw = myr_hash_u64(name + packet->number * 64 + packet->told) >> 32;
    /* As a part of 2^32: below pmax x (queued - low) / (high - low). */
    unsigned __int128 part = (unsigned __int128)n->options.pmax_permille * (queued - low) << 32;
    return (unsigned __int128)draw * (high - low) < part / 1000;
}

/* Begins to leave now. */
static void naive_leave(struct naive *n, uint32_t id, struct naive_packet packet)
{
    struct naive_port *port = &n->ports[id];
    if (port->channel.owner != MYR_NONE && packet.kind == NAIVE_DATA) {
        if (n->options.cc == MYR_CC_HPCC) {
            packet.reports[packet.told].at = n->now;
            packet.reports[packet.told].sent = (uint32_t)port->sent;
            packet.reports[packet.told].queued = (uint32_t)naive_queued(port);
        } else if (naive_marks(n, id, &packet)) {
            n->marks += !packet.marked;
            packet.marked = true;
        }
        packet.told++;
    }
    if (packet.in != MYR_NONE) {
        n->ports[packet.in].brought -= packet.bytes;
        n->used[port->channel.owner] -= packet.bytes;
        n->lifts[packet.in] = n->ports[packet.in].told;
        packet.in = MYR_NONE;
    }
    port->busy = n->now + naive_time(n, id, packet.bytes);
    packet.arrives = port->busy + port->channel.delay;
    port->sent += packet.bytes;
    myr_vec_push(&port->wire.items, packet);
}

/* The next packet of the flow at this place of the turn. */
static void naive_send(struct naive *n, uint32_t id, size_t place)
{
    struct naive_port *port = &n->ports[id];
    uint32_t flow_id = port->turn.items[place];
    struct naive_flow *flow = &n->flows[flow_id];
    uint64_t whole = n->options.mtu_bytes, left = flow->message.bytes - flow->sent * whole;
    struct naive_packet packet = {.kind = NAIVE_DATA,
                                  .flow = flow_id,
                                  .number = flow->sent++,
                                  .in = MYR_NONE,
                                  .bytes =
                                      (uint32_t)((left < whole ? left : whole) + naive_header(n))};
    port->turn.count--;
    memmove(&port->turn.items[place], &port->turn.items[place + 1],
            (port->turn.count - place) * sizeof(uint32_t));
    flow->listed = false;
    flow->avail = n->now + (flow->rate >= port->channel.bps
                                ? naive_time(n, id, packet.bytes)
                                : (myr_ps)(packet.bytes * UINT64_C(8000000000000) / flow->rate));
    if (naive_may_send(n, flow)) {
        naive_list_flow(n, flow_id);
    }
    if (flow->sent == flow->packets && flow->then != MYR_NONE) {
        naive_list_flow(n, flow->then);
    }
    naive_leave(n, id, packet);
}

/* Whatever can begin to leave from the port at this moment. */
static void naive_kick(struct naive *n, uint32_t id)
{
    struct naive_port *port = &n->ports[id];
    if (port->busy > n->now) {
        return;
    }
    if (port->urgent.items.count) {
        naive_leave(n, id, naive_shift(&port->urgent));
    } else if (port->paused) {
        return;
    } else if (port->queue.items.count) {
        naive_leave(n, id, naive_shift(&port->queue));
    } else {
        for (size_t i = 0; i < port->turn.count; i++) {
            if (n->flows[port->turn.items[i]].avail <= n->now) {
                naive_send(n, id, i);
                return;
            }
        }
    }
}

static void naive_frame(struct naive *n, uint32_t id, enum naive_kind kind)
{
    struct naive_packet frame = {.kind = kind, .bytes = 64, .in = MYR_NONE};
    n->pauses += kind == NAIVE_PAUSE;
    myr_vec_push(&n->ports[id].urgent.items, frame);
    naive_kick(n, id);
}

static void naive_lift(struct naive *n)
{
    for (uint32_t c = 0; c < n->port_count; c++) {
        struct naive_port *port = &n->ports[c];
        uint64_t slack = (n->options.mtu_bytes + naive_header(n)) * 3;
        if (n->lifts[c] && port->told &&
            (port->brought == 0 ||
             port->brought + slack <= naive_allowed(n, port->channel.leads))) {
            port->told = false;
            naive_frame(n, c ^ 1, NAIVE_RESUME);
        }
        n->lifts[c] = false;
    }
}

static void naive_note(struct naive *n, uint32_t flow)
{
    struct naive_line line = {n->now, flow, n->flows[flow].received, n->flows[flow].acked};
    myr_vec_push(&n->lines, line);
}
