#include "packet/internal.h"

/* The event loop: the head of a wire arrives, and goes on or is there. */

enum { REPORT_EVENTS = 1 << 18 };

/* What handling this packet will touch, once its port is at hand. */
static inline void ask_for_next(const struct pk *k, const struct pk_packet *packet)
{
    uint32_t next = packet->kind < PK_PAUSE ? k->paths[packet->path] : MYR_NONE;
    if (next != MYR_NONE) {
        __builtin_prefetch(&k->ports[next], 1);
    } else if (packet->kind < PK_PAUSE) {
        const char *flow = (const char *)&k->flows[packet->flow];
        __builtin_prefetch(flow, 1);
        __builtin_prefetch(flow + 64, 1);
        __builtin_prefetch(flow + 128, 1);
    }
}

/* The packet that this one will stand behind. */
static inline void ask_for_last(const struct pk *k, const struct pk_packet *packet)
{
    uint32_t next = packet->kind < PK_PAUSE ? k->paths[packet->path] : MYR_NONE;
    if (next != MYR_NONE) {
        const struct pk_port *port = &k->ports[next];
        uint32_t last = port->queue != MYR_NONE ? port->queue_last : port->wire_last;
        if (port->wire != MYR_NONE) {
            __builtin_prefetch(pk_packet(k, last), 1);
        }
    }
}

/*
 * A large fabric is not in the cache: what the events behind this one will touch is asked for now.
 * First their ports, then the packets at the heads of those, then the ports that these go on to,
 * then the packets that they will stand behind.
 */
static inline void look_ahead(const struct pk *k)
{
    enum { PORTS = 20, PACKETS = 14, NEXT = 8, LAST = 4 };
    const struct pk_head *head = k->head;
    uint32_t place = head->due_next, count = head->due_count, packet;
    if (place + PORTS < count) {
        __builtin_prefetch(&k->ports[k->due[place + PORTS] & PK_PORT], 1);
    }
    if (place + PACKETS < count &&
        (packet = k->ports[k->due[place + PACKETS] & PK_PORT].wire) != MYR_NONE) {
        const char *line = (const char *)pk_packet(k, packet);
        __builtin_prefetch(line, 1);
        __builtin_prefetch(line + (head->packet_shift > 6 ? 64 : 0), 1);
    }
    if (place + NEXT < count &&
        (packet = k->ports[k->due[place + NEXT] & PK_PORT].wire) != MYR_NONE) {
        ask_for_next(k, pk_packet(k, packet));
    }
    if (place + LAST < count &&
        (packet = k->ports[k->due[place + LAST] & PK_PORT].wire) != MYR_NONE) {
        ask_for_last(k, pk_packet(k, packet));
    }
}

/* At a switch, towards the next channel of its path. */
static void forward(struct pk *k, const struct pk_port *came, uint32_t by, uint32_t packet_id,
                    uint32_t next, myr_ps now)
{
    struct pk_packet *packet = pk_packet(k, packet_id);
    pk_drain(k, next, now);
    struct pk_port *port = &k->ports[next];
    if (came->leads != MYR_NONE) {
        if (packet->kind == PK_DATA) {
            uint32_t step = port->queued / 1000;
            k->queues[step < PK_QUEUE_STEPS ? step : PK_QUEUE_STEPS - 1]++;
            if (port->queued > k->head->queue_met) {
                k->head->queue_met = port->queued;
            }
        }
        packet->in = by;
        pk_admit(k, by, packet->bytes, now);
    }
    pk_enqueue(k, next, packet_id, now);
}

static void arrive(struct pk *k, uint32_t id, myr_ps now)
{
    struct pk_port *port = &k->ports[id];
    uint32_t packet_id = port->wire;
    struct pk_packet *packet = pk_packet(k, packet_id);
    MYR_ASSERT(packet_id != MYR_NONE && packet->at == now);
    port->wire = packet->next;
    if (port->wire != MYR_NONE) {
        /* The next one is not looked at: it need not be in the cache yet. */
        pk_post(k, now + packet->gap, id | PK_ARRIVAL);
    }
    packet->in = MYR_NONE;
    pk_drain(k, id, now);
    if (packet->kind >= PK_PAUSE) {
        bool pause = packet->kind == PK_PAUSE;
        pk_give_packet(k, packet_id);
        pk_pause_port(k, id ^ 1, pause, now);
        return;
    }
    k->head->stats.hops++;
    uint32_t next = k->paths[packet->path++];
    if (next == MYR_NONE) {
        pk_deliver(k, packet_id, now);
    } else {
        forward(k, port, id, packet_id, next, now);
    }
}

/* Its departures' event, unless a sooner one has taken its place. */
static void wake(struct pk *k, uint32_t id, myr_ps now)
{
    if (k->rests[id].armed == now) {
        k->rests[id].armed = INT64_MAX;
    }
    pk_drain(k, id, now);
}

static void take_event(struct pk *k, uint64_t key)
{
    struct pk_head *head = k->head;
    uint32_t port = (uint32_t)key;
    head->now = head->base + (myr_ps)(key >> 32);
    head->stats.events++;
    if (port & PK_ARRIVAL) {
        arrive(k, port & PK_PORT, head->now);
    } else if (port & PK_LIFT) {
        pk_lift(k, port & PK_PORT, head->now);
    } else {
        wake(k, port, head->now);
    }
}

myr_ps pk_run(struct pk *k, myr_ps limit)
{
    MYR_ASSERT(limit >= k->head->now);
    k->head->next_report = k->head->stats.events + REPORT_EVENTS;
    for (;;) {
        pk_reserve(k);
        struct pk_head *head = k->head;
        if (head->due_next == head->due_count) {
            if (!pk_next_bucket(k, limit)) {
                break;
            }
            continue;
        }
        uint64_t key = k->due[head->due_next];
        if (head->base + (myr_ps)(key >> 32) > limit) {
            break;
        }
        head->due_next++;
        look_ahead(k);
        take_event(k, key);
        if (k->head->ended_count || k->head->stats.events >= k->head->next_report) {
            return k->head->now;
        }
    }
    if (pk_next_at(k) == INT64_MAX) {
        return INT64_MAX;
    }
    k->head->now = limit;
    return limit;
}

bool pk_ended(struct pk *k, uint32_t *ret_tag)
{
    if (k->head->ended_count == 0) {
        return false;
    }
    *ret_tag = k->ended[--k->head->ended_count];
    return true;
}

uint64_t pk_channel_bytes(const struct pk *k, uint32_t channel)
{
    MYR_ASSERT(channel < k->head->port_count);
    return k->ports[channel].sent;
}

/* The least number of kilobytes that so many of a hundred packets met no more than. */
static uint64_t queue_part(const struct pk *k, uint32_t percent)
{
    uint64_t all = 0, seen = 0;
    for (uint32_t i = 0; i < PK_QUEUE_STEPS; i++) {
        all += k->queues[i];
    }
    for (uint32_t i = 0; i < PK_QUEUE_STEPS; i++) {
        seen += k->queues[i];
        if (seen * 100 >= all * percent) {
            return i;
        }
    }
    return 0;
}

struct myr_packet_stats pk_stats(const struct pk *k)
{
    struct myr_packet_stats stats = k->head->stats;
    stats.queue_kb_p50 = queue_part(k, 50);
    stats.queue_kb_p99 = queue_part(k, 99);
    stats.queue_kb_max = k->head->queue_met / 1000;
    return stats;
}
