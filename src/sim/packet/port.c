#include "packet/internal.h"

/*
 * Ports: a queue, what is leaving, and a wire. Nothing happens here by itself: a port is played up
 * to a moment when somebody touches it. Between two touches nothing can change what it does, so
 * what it did in the meantime follows from when it is free.
 */

static void arm(struct pk *k, uint32_t id, myr_ps at)
{
    if (at < k->rests[id].armed) {
        k->rests[id].armed = at;
        pk_post(k, at, id);
    }
}

/* Onto the wire, behind what is on it: it arrives after all of that. */
static void put_on_wire(struct pk *k, struct pk_port *port, uint32_t id, uint32_t packet_id)
{
    struct pk_packet *packet = pk_packet(k, packet_id);
    myr_ps time = (myr_ps)((packet->bytes * port->byte_time) >> 16);
    port->free += time;
    port->sent += packet->bytes;
    packet->at = port->free + port->delay;
    packet->next = MYR_NONE;
    packet->in = MYR_NONE;
    MYR_ASSERT(time > 0);
    if (port->wire == MYR_NONE) {
        port->wire = packet_id;
        pk_post(k, packet->at, id | PK_ARRIVAL);
    } else {
        struct pk_packet *before = pk_packet(k, port->wire_last);
        myr_ps gap = packet->at - before->at;
        MYR_ASSERT(gap > 0 && gap <= UINT32_MAX); /* no longer than a packet and a flight */
        before->next = packet_id;
        before->gap = (uint32_t)gap;
    }
    port->wire_last = packet_id;
}

/* A draw that belongs to this packet at this hop, whoever asks when. */
static bool is_marked(const struct pk *k, uint32_t id, const struct pk_packet *packet)
{
    const struct pk_port_rest *rest = &k->rests[id];
    uint32_t queued = k->ports[id].queued;
    if (queued <= rest->kmin) {
        return false;
    }
    if (queued > rest->kmax) {
        return true;
    }
    uint64_t name = k->flows[packet->flow].name;
    uint64_t draw = myr_hash_u64(name + (uint64_t)packet->number * 64 + packet->hops) >> 32;
    /* Probability in 2^-32: pmax at kmax, in proportion below. */
    uint64_t part = (uint64_t)k->head->options.pmax_permille * (queued - rest->kmin);
    return draw * (rest->kmax - rest->kmin) < ((part / 1000) << 32) + ((part % 1000 << 32) / 1000);
}

/* What the packet is told, and marked with, as it leaves a switch. */
static void see_off(struct pk *k, uint32_t id, uint32_t packet_id)
{
    struct pk_packet *packet = pk_packet(k, packet_id);
    const struct pk_port *port = &k->ports[id];
    if (k->head->options.cc == MYR_CC_HPCC) {
        MYR_ASSERT(packet->hops < PK_HOPS_MAX);
        pk_reports(packet)[packet->hops] =
            (struct pk_report){port->free, (uint32_t)port->sent, port->queued};
    } else if (port->queued > k->head->kmin_least && is_marked(k, id, packet)) {
        k->head->stats.marks += !(packet->flags & PK_MARKED);
        packet->flags |= PK_MARKED;
    }
    packet->hops++;
}

/* The packet begins to leave at the port's 'free'; it is in no queue any more. */
static void depart(struct pk *k, uint32_t id, uint32_t packet_id)
{
    struct pk_port *port = &k->ports[id];
    struct pk_packet *packet = pk_packet(k, packet_id);
    myr_ps now = port->free;
    uint32_t in = packet->in, bytes = packet->bytes;
    if (port->owner != MYR_NONE && packet->kind == PK_DATA) {
        see_off(k, id, packet_id);
    }
    put_on_wire(k, port, id, packet_id);
    if (in == MYR_NONE) {
        return;
    }
    struct pk_switch *own = &k->switches[port->owner];
    MYR_ASSERT(k->in[in] >= bytes && own->used >= bytes);
    k->in[in] -= bytes;
    own->used -= bytes;
    if (k->ports[in].told) {
        MYR_ASSERT(now == k->head->now); /* departures are events there */
        pk_post(k, now, in | PK_LIFT);
    }
}

static void depart_first(struct pk *k, struct pk_port *port, uint32_t id)
{
    uint32_t packet = port->queue;
    const struct pk_packet *own = pk_packet(k, packet);
    port->queue = own->next;
    MYR_ASSERT(port->queued >= own->bytes);
    port->queued -= own->bytes;
    depart(k, id, packet);
}

bool pk_may_send(const struct pk_flow *flow)
{
    return flow->sent < flow->packets && flow->sent - flow->acked < flow->window;
}

void pk_list_flow(struct pk *k, uint32_t id, myr_ps now)
{
    struct pk_flow *flow = &k->flows[id];
    struct pk_port_rest *rest = &k->rests[flow->port];
    MYR_ASSERT(!flow->listed);
    flow->listed = 1;
    flow->turn = MYR_NONE;
    flow->avail = flow->avail > now ? flow->avail : now;
    if (rest->ready == MYR_NONE) {
        rest->ready = id;
    } else {
        k->flows[rest->ready_last].turn = id;
    }
    rest->ready_last = id;
}

/* Out of the turn, behind 'before' (MYR_NONE: the first). */
static void unlist(struct pk *k, uint32_t port, uint32_t id, uint32_t before)
{
    struct pk_port_rest *rest = &k->rests[port];
    uint32_t behind = k->flows[id].turn;
    if (before == MYR_NONE) {
        rest->ready = behind;
    } else {
        k->flows[before].turn = behind;
    }
    rest->ready_last = rest->ready_last == id ? before : rest->ready_last;
    k->flows[id].listed = 0;
}

/* The flow's next packet, out of nothing. */
static uint32_t make_packet(struct pk *k, uint32_t id)
{
    struct pk_flow *flow = &k->flows[id];
    const struct pk_head *head = k->head;
    uint32_t packet_id = pk_take_packet(k);
    bool last = flow->sent + 1 == flow->packets;
    uint32_t payload = last ? flow->last_bytes : head->options.mtu_bytes;
    *pk_packet(k, packet_id) =
        (struct pk_packet){.next = MYR_NONE,
                           .flow = id,
                           .path = k->starts[pk_way(flow, flow->sent) * 2] + 1,
                           .number = flow->sent,
                           .in = MYR_NONE,
                           .bytes = (uint16_t)(payload + head->data_bytes),
                           .kind = PK_DATA};
    return packet_id;
}

/* The flow sends one packet at the port's 'free', and takes its turn again. */
static void send_one(struct pk *k, uint32_t port_id, uint32_t id, uint32_t before)
{
    struct pk_port *port = &k->ports[port_id];
    struct pk_flow *flow = &k->flows[id];
    myr_ps now = port->free;
    if (k->head->options.cc <= MYR_CC_DCQCN_CX) {
        pk_dcqcn_until(k, flow, now);
    }
    uint32_t packet = make_packet(k, id);
    uint32_t bytes = pk_packet(k, packet)->bytes;
    flow->sent++;
    unlist(k, port_id, id, before);
    flow->avail = now + (flow->rate >= k->rests[port_id].bps
                             ? (myr_ps)((bytes * port->byte_time) >> 16)
                             : (myr_ps)((uint64_t)bytes * 8 * (uint64_t)MYR_PS_PER_S / flow->rate));
    if (pk_may_send(flow)) {
        pk_list_flow(k, id, flow->avail);
    }
    if (flow->sent == flow->packets && flow->then != MYR_NONE) {
        uint32_t then = flow->then;
        flow->then = MYR_NONE;
        pk_list_flow(k, then, now);
    }
    depart(k, port_id, packet);
}

/* The first of those in turn that may send by then; '*ret_at': when one may, at the earliest. */
static uint32_t first_ready(const struct pk *k, uint32_t port, myr_ps *ret_at, uint32_t *ret_before)
{
    myr_ps free = k->ports[port].free, at = INT64_MAX;
    uint32_t before = MYR_NONE, found = MYR_NONE;
    for (uint32_t id = k->rests[port].ready; id != MYR_NONE; id = k->flows[id].turn) {
        myr_ps avail = k->flows[id].avail > free ? k->flows[id].avail : free;
        if (avail < at) {
            at = avail;
            found = id;
            *ret_before = before;
            if (avail == free) {
                break;
            }
        }
        before = id;
    }
    *ret_at = at;
    return found;
}

/* A port where flows begin: what waits in its queue first, then the flows in turn. */
static void drain_host(struct pk *k, uint32_t id, myr_ps now)
{
    struct pk_port *port = &k->ports[id];
    while (!port->paused) {
        if (port->queue != MYR_NONE) {
            if (port->free > now) {
                return;
            }
            depart_first(k, port, id);
            continue;
        }
        myr_ps at;
        uint32_t before, flow = first_ready(k, id, &at, &before);
        if (flow == MYR_NONE) {
            return;
        }
        if (at > now) {
            /* Whatever is on the wire will see to it; with nothing on it nobody would. */
            if (port->wire == MYR_NONE) {
                arm(k, id, at);
            }
            return;
        }
        port->free = at;
        send_one(k, id, flow, before);
    }
}

void pk_drain(struct pk *k, uint32_t id, myr_ps now)
{
    struct pk_port *port = &k->ports[id];
    if (port->host) {
        drain_host(k, id, now);
        return;
    }
    while (port->queue != MYR_NONE && port->free <= now && !port->paused) {
        depart_first(k, port, id);
    }
    if (port->eager && port->queue != MYR_NONE && !port->paused) {
        arm(k, id, port->free);
    }
}

void pk_enqueue(struct pk *k, uint32_t id, uint32_t packet_id, myr_ps now)
{
    struct pk_port *port = &k->ports[id];
    struct pk_packet *packet = pk_packet(k, packet_id);
    MYR_SLOW_ASSERT(port->queue == MYR_NONE || port->free > now || port->paused);
    packet->next = MYR_NONE;
    if (port->queue == MYR_NONE) {
        port->queue = packet_id;
        port->free = port->free > now ? port->free : now;
    } else {
        pk_packet(k, port->queue_last)->next = packet_id;
    }
    port->queue_last = packet_id;
    port->queued += packet->bytes;
    pk_drain(k, id, now);
}

void pk_tell(struct pk *k, uint32_t id, enum pk_kind kind, myr_ps now)
{
    enum { FRAME_BYTES = 64 };
    pk_drain(k, id, now);
    uint32_t packet_id = pk_take_packet(k);
    struct pk_port *port = &k->ports[id];
    *pk_packet(k, packet_id) = (struct pk_packet){
        .flow = MYR_NONE, .in = MYR_NONE, .bytes = FRAME_BYTES, .kind = kind & 15U};
    port->free = port->free > now ? port->free : now;
    put_on_wire(k, port, id, packet_id);
    k->head->stats.pauses += kind == PK_PAUSE;
}

void pk_pause_port(struct pk *k, uint32_t id, bool pause, myr_ps now)
{
    struct pk_port *port = &k->ports[id];
    pk_drain(k, id, now); /* what begins at this moment has begun */
    port->paused = pause;
    if (!pause) {
        port->free = port->free > now ? port->free : now;
        pk_drain(k, id, now);
    }
}
