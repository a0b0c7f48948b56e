/*
 * packets: what the engine of packets can be told, and what it counts.
 *
 * Buffers and thresholds are those of a switch port at 100 Gb/s; ports of other speeds have them in
 * proportion, as congestion control has its steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum myr_cc {
    MYR_CC_DCQCN, /* as HPCC's authors simulate it: marks at every packet, cuts at most each 4 us */
    MYR_CC_DCQCN_CX, /* the same with what ConnectX NICs are shipped with */
    MYR_CC_HPCC,
    MYR_CC_TIMELY,
    MYR_CC_PFC, /* line rate, and pauses alone */
    MYR_CC_IB,
    MYR_CC_GSE,
    MYR_CC_NSCC,
    MYR_CC_COUNT,
};

extern const char *const myr_cc_names[MYR_CC_COUNT];

struct myr_packet_options {
    enum myr_cc cc;
    uint32_t mtu_bytes;    /* payload of a packet */
    uint32_t header_bytes; /* of a data packet, on the wire */
    uint32_t ack_bytes, telemetry_bytes;
    uint64_t buffer_bytes;           /* of a switch, shared by its ports */
    uint32_t pause_shift;            /* a port may have free buffer >> so much, then it pauses */
    uint64_t kmin_bytes, kmax_bytes; /* queue from which packets are marked, and all are */
    uint32_t pmax_permille;          /* marked just below kmax */
    /* DCQCN. */
    uint32_t gain; /* of alpha, in 1/1024 */
    int64_t alpha_ps, decrease_ps, increase_ps;
    uint32_t fast_steps; /* increases half way to the target */
    uint64_t additive_bps, hyper_bps, min_bps;
    /* HPCC; the window is the longest round trip at line rate. */
    uint32_t target_permille;
};

/* What a control of that kind is tried with (docs/sim.md). */
struct myr_packet_options myr_packet_default(enum myr_cc cc);

struct myr_packet_stats {
    uint64_t packets; /* of data, that arrived */
    uint64_t hops;    /* packets and acknowledgements over a link */
    uint64_t events;
    uint64_t pauses; /* pause frames; those that lift one are not counted */
    uint64_t marks, drops, trims, retransmits;
    uint64_t queue_kb_p50, queue_kb_p99, queue_kb_max; /* that data packets met at switch ports */
};

struct myr_sim;

/* Before anything is routed: this run's bytes move as packets. */
void myr_sim_use_packets(struct myr_sim *sim, const struct myr_packet_options *options);
/* Of such a run, when it is over. */
struct myr_packet_stats myr_sim_packet_stats(const struct myr_sim *sim);
