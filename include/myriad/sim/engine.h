/*
 * engine: tasks in virtual time on a fabric.
 *
 * A pattern is a set of flows that move in lockstep: all members of a collective's round send the
 * same number of bytes and wait for each other, so they share one rate, that of the slowest. A
 * single flow is a pattern of one. A pattern is routed once by the load-balance policy and may be
 * sent many times.
 *
 * A task computes for a given time, or sends a pattern; it starts when the tasks before it are
 * done. Rates of the transfers under way are max-min fair: no transfer can go faster without
 * slowing one that is no faster. When a transfer starts or ends only those whose rate changes are
 * solved again; 'solved' in the result counts them.
 *
 * Each direction of a link is a channel with a capacity; GPUs have channels of their own into and
 * out of the scale-up domain, which traffic inside a domain uses.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/fabric.h"

typedef int64_t myr_ps; /* picoseconds */

#define MYR_PS_PER_NS INT64_C(1000)
#define MYR_PS_PER_US INT64_C(1000000)
#define MYR_PS_PER_S  INT64_C(1000000000000)

struct myr_sim_options {
    struct myr_balance_options balance;
    myr_ps link_ps;     /* per link; negative: 5 ns a metre of the planned cable */
    myr_ps switch_ps;   /* per switch */
    myr_ps scale_up_ps; /* inside a scale-up domain */
    myr_ps message_ps;  /* in software, each time that a message's latency is waited for */
    uint32_t efficiency_permille; /* of line rate that congestion control reaches; 0: 1000 */
    /*
     * A link that more than one flow wants loses up to this part to congestion control (marks,
     * pauses, unfair shares); how much, each link draws for itself from the seed.
     */
    uint32_t sharing_loss_permille;
    /*
     * Pause frames: what shares a link with a transfer that is held up behind it loses this part of
     * its lead over that one (0: ideal congestion control, 1000: none).
     */
    uint32_t pause_permille;
    myr_ps series_ps;     /* length of the intervals of a time series; 0: none is kept */
    uint32_t queue_pairs; /* each message goes as so many equal parts, hashed apart; 0: 1 */
};

struct myr_sim_options myr_sim_default(void);

struct myr_sim;

struct myr_sim *myr_sim_create(struct myr_graph *graph, const struct myr_sim_options *options);
void myr_sim_free(struct myr_sim *sim);
/* Before anything is routed: ordered paths are kept, for a report. */
void myr_sim_keep_paths(struct myr_sim *sim);

/* An end that is a storage server: this bit, a NIC (beyond the last: from the first on), a number.
 */
#define MYR_MESSAGE_STORAGE UINT32_C(0x80000000)
#define MYR_MESSAGE_SERVERS UINT32_C(0x00FFFFFF) /* bits of the number */
enum { MYR_MESSAGE_NIC_SHIFT = 24, MYR_MESSAGE_NICS_MAX = 128 };

/* The number of the GPU or the storage server, whichever NIC of it is used. */
uint32_t myr_message_number(uint32_t end);

/*
 * Before anything is routed: paths from a file, as myr_report_paths() writes them, in place of
 * those of the policy. 'file' is for messages.
 */
MYR_MUST_USE int myr_sim_given_paths(struct myr_sim *sim, const char *file, struct myr_str text,
                                     struct myr_err *err);

/* A flow between two GPUs. Inside a scale-up domain it stays off the network. */
struct myr_message {
    uint32_t from, to; /* GPUs, or storage servers */
};

/*
 * Adds a pattern; its id is returned. Ranks on the same GPU cost nothing. The latency of a pattern
 * is that of its longest path.
 */
uint32_t myr_sim_pattern(struct myr_sim *sim, const struct myr_message *messages, uint32_t count);
/*
 * A ring, repeated: before it is routed. Nobody waits for all others, only for the one before it,
 * so what a repetition costs is the mean latency of the hops, not the longest: once around the ring
 * a piece has met each hop once.
 */
void myr_sim_pattern_cyclic(struct myr_sim *sim, uint32_t pattern);
/* Patterns added between two calls are routed together: what runs at the same time belongs here. */
MYR_MUST_USE int myr_sim_route(struct myr_sim *sim, struct myr_err *err);
/*
 * Several jobs at once: while routing is deferred myr_sim_route() does nothing; the run routes the
 * patterns of equal phase together, whatever job they belong to. Phases count from 0.
 */
void myr_sim_defer_routing(struct myr_sim *sim);
void myr_sim_phase(struct myr_sim *sim, uint32_t phase);
myr_ps myr_sim_pattern_latency(const struct myr_sim *sim, uint32_t pattern);

/* Tasks; ids count up from 0. 'latency_rounds' charges the pattern's latency so many times. */
uint32_t myr_sim_compute(struct myr_sim *sim, myr_ps duration);
uint32_t myr_sim_transfer(struct myr_sim *sim, uint32_t pattern, uint64_t bytes,
                          uint32_t latency_rounds);
/* 'task' starts after 'before' has ended. */
void myr_sim_after(struct myr_sim *sim, uint32_t task, uint32_t before);
/*
 * The bytes of 'task' move after 'before' has ended; its latency may pass before that. So one
 * sender sends pieces one behind the other, as over a wire.
 */
void myr_sim_follows(struct myr_sim *sim, uint32_t task, uint32_t before);

/*
 * Fair rates of these transfers if all of them moved at once, in bits per second of one flow.
 * Before the run, which it does not change; 0 for those that use no channel.
 */
void myr_sim_fair_rates(struct myr_sim *sim, uint32_t first, uint32_t count, uint64_t *ret_bps);

enum myr_fault_kind { MYR_FAULT_DOWN, MYR_FAULT_DEGRADE, MYR_FAULT_UP };

struct myr_sim_fault {
    myr_ps at;
    enum myr_fault_kind kind;
    uint32_t link;              /* or */
    uint32_t device;            /* every link of it; the other is MYR_NONE */
    uint32_t capacity_permille; /* degrade */
    myr_ps reroute;             /* until paths avoid it: local, remote repair or convergence */
};

void myr_sim_fault(struct myr_sim *sim, const struct myr_sim_fault *fault);
/* A host whose NICs and computing run at a part of their speed. */
void myr_sim_slow_node(struct myr_sim *sim, uint32_t node, uint32_t permille);
uint32_t myr_sim_node_permille(const struct myr_sim *sim, uint32_t node);
uint32_t myr_sim_gpus_per_node(const struct myr_sim *sim);

/* What no run can be shorter than; from the tasks and their paths, not from rates. */
struct myr_sim_bounds {
    bool known;       /* not where paths change because of faults */
    myr_ps alpha;     /* the longest chain of latencies and computing */
    myr_ps chain;     /* the same with the bytes, each alone on its path */
    myr_ps beta;      /* bytes out of the busiest sender, at full rate */
    myr_ps incast;    /* into the busiest receiver */
    myr_ps bisection; /* over the busiest link or bundle of links inside the network */
    myr_ps best;      /* the largest of them */
};

struct myr_sim_result {
    myr_ps end;
    struct myr_sim_bounds bounds;
    uint64_t transfers, flows;
    uint64_t events, solved; /* transfers solved again, over all events */
    uint64_t hash;           /* of all completion times */
    uint32_t blocked;        /* tasks that never ended; 0 when all did */
};

typedef void myr_sim_progress(void *context, uint64_t done, uint64_t total);

/* Runs until nothing is left. MYR_ESTALLED, with the blocked tasks named, when nothing can move. */
MYR_MUST_USE int myr_sim_run(struct myr_sim *sim, myr_sim_progress *progress, void *context,
                             struct myr_sim_result *ret, struct myr_err *err);

/* After a run. */
myr_ps myr_sim_task_start(const struct myr_sim *sim, uint32_t task);
myr_ps myr_sim_task_end(const struct myr_sim *sim, uint32_t task);
/* Channel that held the transfer back when it ended; MYR_NONE for computing. */
uint32_t myr_sim_task_bottleneck(const struct myr_sim *sim, uint32_t task);
uint32_t myr_sim_task_count(const struct myr_sim *sim);
/* Bytes that went over a channel; channels of links only. */
uint64_t myr_sim_channel_bytes(const struct myr_sim *sim, uint32_t channel);
