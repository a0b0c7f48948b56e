/*
 * The state of the engine of packets, shared by its parts.
 *
 * One block: a head, then sections, arrays of plain values that name each other by number. 'struct
 * pk' is a view of the block: where its sections begin. Sections grow between two events only
 * (block.c), so that whoever handles one may hold pointers into them.
 */
#pragma once

#include "myriad/base.h"
#include "packet/packet.h"

enum { PK_HOPS_MAX = 6 }; /* switches of a path that telemetry has room for */

/*
 * Events of a port, in the order of one moment: its departures (of those ports alone where somebody
 * waits for them), a look at whether what it brings may flow again, its arrivals.
 */
#define PK_LIFT    UINT32_C(0x40000000)
#define PK_ARRIVAL UINT32_C(0x80000000)
#define PK_PORT    UINT32_C(0x3FFFFFFF)

enum pk_kind { PK_DATA, PK_ACK, PK_PAUSE, PK_RESUME };
enum { PK_MARKED = 1 }; /* flags */

/* What a switch tells of a port, as a packet leaves by it. */
struct pk_report {
    myr_ps at;
    uint32_t sent, queued; /* bytes so far, modulo 2^32; bytes that stay behind it */
};

struct pk_packet {
    myr_ps at;     /* once it is on a wire: at the far end */
    uint32_t next; /* behind it in its queue, on its wire, or free */
    uint32_t flow;
    uint32_t path; /* place of the next channel in the paths */
    uint32_t number;
    union {
        uint32_t in;  /* in a queue: the channel that it came by, where it takes buffer; MYR_NONE */
        uint32_t gap; /* on a wire: how much later the one behind it arrives */
    };
    uint16_t bytes;
    uint8_t kind : 4, flags : 4, hops;
};

struct pk_packet_told {
    struct pk_packet packet;
    struct pk_report reports[PK_HOPS_MAX];
};

/* What every hop needs of a port: one line of the cache. */
struct pk_port {
    myr_ps free; /* when the packet that is leaving has left */
    myr_ps delay;
    uint64_t byte_time; /* in 2^-16 ps */
    uint32_t wire, wire_last;
    uint32_t queue, queue_last;
    uint32_t queued;             /* bytes */
    uint8_t paused, host, eager; /* host: flows begin here; eager: departures are events */
    uint8_t told;                /* its sender was told to pause by the switch it leads to */
    uint64_t sent;               /* bytes */
    uint32_t owner, leads;
};

/* The rest of it. */
struct pk_port_rest {
    uint32_t ready, ready_last; /* flows that may send, in turn */
    myr_ps armed;               /* when its departures' event is; INT64_MAX: none */
    uint32_t kmin, kmax;        /* in bytes */
    uint32_t headroom;          /* what can still come over it once it is told to pause */
    uint32_t unused_too;
    uint64_t bps;
    uint64_t unused[2];
};

struct pk_switch {
    uint64_t used;             /* bytes in its buffer, those that have left unseen included */
    uint64_t shared, capacity; /* without and with headroom */
    uint32_t first_port, port_count;
    uint32_t pausing; /* ports that it has told to pause */
    uint32_t unused;
};

struct pk_dcqcn {
    uint64_t target;
    myr_ps alpha_at, decrease_at, increase_at;
    uint32_t alpha; /* in 2^-30 */
    uint32_t stage;
    uint8_t seen, alpha_marked, decrease_marked, unused[5];
};

struct pk_hpcc {
    uint64_t reference; /* bps */
    uint32_t util;      /* in 2^-20 */
    uint32_t updated;   /* packet from whose acknowledgement on the reference may change again */
    struct pk_report last[PK_HOPS_MAX];
};

struct pk_flow {
    myr_ps avail;        /* by its rate it may send from then on */
    uint64_t rate;       /* bps */
    uint32_t port, turn; /* the flow behind it among those that may send */
    uint32_t packets, sent, acked, received;
    uint32_t path, ways;  /* of the setup: the first of so many, taken in turn */
    uint16_t last_bytes;  /* payload of the last packet */
    uint8_t listed, live; /* listed: among those that may send */
    uint32_t then, tag;   /* then: the flow whose bytes wait for its own */
    uint32_t window;      /* packets on their way, at most */
    uint64_t name;
    union {
        struct pk_dcqcn dcqcn;
        struct pk_hpcc hpcc;
    };
};

/* Events of one bucket, as (time within it, port) in one number. */
struct pk_block {
    uint64_t keys[7];
    uint32_t next, count;
};

/* An event beyond the wheel. */
struct pk_far {
    myr_ps at;
    uint64_t port;
};

enum pk_section {
    PK_PORTS,
    PK_RESTS,
    PK_IN, /* by channel: bytes in the buffer it leads to that came over it */
    PK_SWITCHES,
    PK_SWITCH_PORTS,
    PK_PATHS,
    PK_STARTS, /* by path: its place there, and that of its way back */
    PK_BUCKETS,
    PK_BITS,
    PK_BLOCKS,
    PK_DUE,
    PK_SORTED,
    PK_FARS,
    PK_ENDED,
    PK_QUEUES, /* packets by the kilobytes of queue that they met */
    PK_FLOWS,
    PK_PACKETS,
    PK_SECTIONS,
};

enum { PK_QUEUE_STEPS = 4096 };

struct pk_head {
    uint64_t offset[PK_SECTIONS], capacity[PK_SECTIONS];
    uint64_t block_bytes;
    struct myr_packet_options options;
    uint64_t seed;
    uint32_t port_count, switch_count, path_count;
    uint32_t packet_shift; /* log2 of a packet's size */
    uint32_t data_bytes;   /* header of a data packet and of what it is told */
    uint32_t ack_bytes;
    uint32_t burst; /* packets and events that handling one event may need */
    uint32_t kmin_least;
    myr_ps round_trip; /* the longest, of an unloaded network */

    myr_ps now;
    /* The wheel. */
    myr_ps base; /* of the bucket at hand */
    uint32_t width_bits, bucket_count;
    uint32_t due_next, due_count;
    uint32_t free_block, free_blocks, far_count;
    uint32_t free_packet, free_packets, free_flow;
    uint32_t ended_count, unused;
    uint64_t live_packets, live_flows;
    uint64_t next_report; /* events at which pk_run() returns */
    struct myr_packet_stats stats;
    uint64_t queue_met; /* the largest, in bytes */
};

struct pk {
    struct pk_head *head;
    struct pk_port *ports;
    struct pk_port_rest *rests;
    uint32_t *in;
    struct pk_switch *switches;
    uint32_t *switch_ports;
    uint32_t *paths, *starts;
    uint32_t *buckets;
    uint64_t *bits;
    struct pk_block *blocks;
    uint64_t *due, *sorted;
    struct pk_far *fars;
    uint32_t *ended;
    uint64_t *queues;
    struct pk_flow *flows;
    char *packets;
};

/* The path of the flow's packet of that number, by its number in the setup. */
static inline uint32_t pk_way(const struct pk_flow *flow, uint32_t number)
{
    uint32_t turn = flow->ways > 1 ? (number + (uint32_t)flow->name) % flow->ways : 0;
    return flow->path + turn;
}

static inline struct pk_packet *pk_packet(const struct pk *k, uint32_t id)
{
    return (struct pk_packet *)(k->packets + ((size_t)id << k->head->packet_shift));
}

static inline struct pk_report *pk_reports(struct pk_packet *packet)
{
    return ((struct pk_packet_told *)packet)->reports;
}

/* block.c: room for what one event may need. */
void pk_make_room(struct pk *k);
/* Of these sections alone, which nobody holds pointers into while it is called. */
void pk_grow(struct pk *k, enum pk_section section, uint64_t capacity);

/* Between two events: nobody holds pointers into the block. */
static inline void pk_reserve(struct pk *k)
{
    const struct pk_head *head = k->head;
    uint64_t burst = head->burst;
    if (head->free_packets < burst || head->free_blocks < burst ||
        head->capacity[PK_DUE] - head->due_count < burst ||
        head->capacity[PK_FARS] - head->far_count < burst ||
        head->capacity[PK_ENDED] - head->ended_count < burst) {
        pk_make_room(k);
    }
}

static inline uint32_t pk_take_packet(struct pk *k)
{
    struct pk_head *head = k->head;
    uint32_t id = head->free_packet;
    MYR_ASSERT(head->free_packets > 0); /* pk_reserve() */
    head->free_packet = pk_packet(k, id)->next;
    head->free_packets--;
    head->live_packets++;
    return id;
}

static inline void pk_give_packet(struct pk *k, uint32_t id)
{
    struct pk_head *head = k->head;
    pk_packet(k, id)->next = head->free_packet;
    head->free_packet = id;
    head->free_packets++;
    head->live_packets--;
}

/* wheel.c: an event; the next one up to 'limit', false where there is none. */
void pk_post_far(struct pk *k, myr_ps at, uint32_t port);
void pk_post_due(struct pk *k, uint64_t key);
bool pk_next_bucket(struct pk *k, myr_ps limit);
myr_ps pk_next_at(const struct pk *k);

static inline void pk_post(struct pk *k, myr_ps at, uint32_t port)
{
    struct pk_head *head = k->head;
    myr_ps ahead = at - head->base;
    uint64_t slot = (uint64_t)ahead >> head->width_bits;
    MYR_ASSERT(ahead >= 0);
    if (slot >= head->bucket_count) {
        pk_post_far(k, at, port);
        return;
    }
    uint64_t within = (uint64_t)ahead & ((UINT64_C(1) << head->width_bits) - 1);
    uint64_t key = within << 32 | port;
    if (slot == 0) {
        pk_post_due(k, key);
        return;
    }
    uint32_t bucket = (uint32_t)((uint64_t)at >> head->width_bits) & (head->bucket_count - 1);
    uint32_t block = k->buckets[bucket];
    if (block == 0 || k->blocks[block].count == MYR_ARRAY_COUNT(k->blocks->keys)) {
        uint32_t fresh = head->free_block;
        MYR_ASSERT(head->free_blocks > 0);
        head->free_block = k->blocks[fresh].next;
        head->free_blocks--;
        k->blocks[fresh].next = block;
        k->blocks[fresh].count = 0;
        k->buckets[bucket] = block = fresh;
        k->bits[bucket / 64] |= UINT64_C(1) << bucket % 64;
    }
    k->blocks[block].keys[k->blocks[block].count++] = key;
}

/* port.c: plays the port up to now, this moment's departures included. */
void pk_drain(struct pk *k, uint32_t id, myr_ps now);
/* Behind its queue. */
void pk_enqueue(struct pk *k, uint32_t id, uint32_t packet, myr_ps now);
/* A frame that goes before everything that waits, behind what is leaving. */
void pk_tell(struct pk *k, uint32_t id, enum pk_kind kind, myr_ps now);
/* It may not begin to send; it may again. */
void pk_pause_port(struct pk *k, uint32_t id, bool pause, myr_ps now);
/* Among those that may send, behind them. */
void pk_list_flow(struct pk *k, uint32_t flow, myr_ps now);
bool pk_may_send(const struct pk_flow *flow);

/* buffer.c: bytes that came over a channel are in the buffer that it leads to. */
void pk_admit(struct pk *k, uint32_t channel, uint32_t bytes, myr_ps now);
/* Once little enough is left of them, their sender may go on. */
void pk_lift(struct pk *k, uint32_t channel, myr_ps now);

/* host.c: at the end of its path. */
void pk_deliver(struct pk *k, uint32_t packet, myr_ps now);

/* dcqcn.c, hpcc.c */
void pk_dcqcn_start(struct pk *k, struct pk_flow *flow);
void pk_dcqcn_until(struct pk *k, struct pk_flow *flow, myr_ps now);
void pk_dcqcn_marked(struct pk *k, struct pk_flow *flow, myr_ps now);
void pk_hpcc_start(struct pk *k, struct pk_flow *flow);
void pk_hpcc_told(struct pk *k, struct pk_flow *flow, struct pk_packet *packet);
