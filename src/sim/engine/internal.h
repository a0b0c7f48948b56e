/*
 * The engine's state, shared by its parts: patterns and routes, rates, events.
 *
 * The state of a run is flat arrays of plain values that name each other by index: no pointer is
 * kept in any of them. So a run can be copied, written to a file and taken up again (state.c).
 */
#pragma once

#include "transport.h"

#define SIM_RATE_NONE UINT64_MAX           /* no rate at all; as a limit: none */
#define SIM_LOOSE     UINT32_C(0x80000000) /* with the channel that holds one: being solved */
#define SIM_TIME_MAX  (INT64_MAX / 2)      /* 53 days; sums of two times stay whole */

/*
 * Rates are thousandths of a bit per second, times picoseconds: what moves is counted in units of
 * 1e-15 bit, exactly, so that nothing is lost however often rates change.
 */
#define SIM_RATE_PER_BPS UINT64_C(1000)
/* Of a channel, in bits per second; pools of very many links are taken to have no more. */
#define SIM_CAPACITY_MAX (UINT64_C(1) << 62)
/* Of a level; what would be higher holds nobody, whose own links are far slower. */
#define SIM_LEVEL_MAX     (UINT64_C(1) << 62)
#define SIM_MOVED_PER_BIT UINT64_C(1000000000000000)
/* Levels that differ by less than this part of them count as equal: sim_tolerance(). */
#define SIM_TOLERANCE_BITS 32
/*
 * Levels are rounded down: what is left after less than this part of a picosecond has arrived. No
 * share of small whole numbers or powers of two ends exactly there, to be told apart by the
 * rounding of its rate alone.
 */
#define SIM_PS_PART_OF(rate) ((rate) / 31 * 2)

/* Bits in units of 1e-15. A rate of 64 bits times a time of 63 fits into it. */
typedef unsigned __int128 sim_moved;

/* How much of a channel one unit of a pattern's rate takes, in thousandths. */
struct sim_use {
    uint32_t channel;
    uint32_t weight;
};

/* Flows in lockstep, and what one unit of their common rate takes of each channel. */
struct sim_pattern {
    uint32_t first_message, message_count;
    uint32_t first_use, use_count; /* of a single message in the order of its path */
    uint32_t network_flows;        /* those that leave their scale-up domain */
    uint32_t phase, batch;         /* patterns of one phase are routed together: a batch */
    uint8_t cyclic;                /* 1: latency is the mean over its flows, not the longest */
    uint8_t unused[3];             /* no padding: the same state is the same bytes; as below */
    myr_ps latency;
};

enum sim_task_kind { SIM_COMPUTE, SIM_TRANSFER };
/* Ready: the latency is over, the bytes wait for those of another. */
enum sim_state { SIM_WAITING, SIM_LATENCY, SIM_READY, SIM_MOVING, SIM_DONE };

struct sim_task {
    uint8_t kind, state, unused[2];
    uint32_t pattern, latency_rounds; /* of a transfer */
    uint32_t waits_for;               /* tasks before it that are not done */
    uint32_t moves_after;             /* those before its bytes */
    uint32_t bottleneck;              /* the channel that held it when it ended */
    uint32_t slot;                    /* while it moves */
    uint32_t unused_too;
    uint64_t bits;               /* of each of its flows */
    myr_ps duration, start, end; /* duration: of computing */
};

/*
 * A transfer under way. One that is held by a channel has moved as far as the channel's clock: what
 * is left of it is 'target' less the clock, and a new rate of the channel costs it nothing.
 */
struct sim_slot {
    sim_moved target;  /* by the clock of the channel that holds it; what is left while none does */
    sim_moved counted; /* what was left when its bytes were last counted */
    uint32_t task, unused[3];
    myr_ps updated; /* pause.c: paces are its own, not the channel's */
    uint64_t pace;  /* what it moves at, its rate less what pauses cost */
};

/*
 * What a solve needs of a transfer, apart from the rest: in a full fabric a solve goes through
 * thousands of them, and four stand in a line of the cache.
 */
struct sim_way {
    uint32_t holder; /* its channel, MYR_NONE; SIM_LOOSE with it */
    uint32_t first_hop, hop_count;
    uint32_t held_hop; /* its hop over the channel that holds it */
};

/* One channel of a transfer under way. Where in the channel's list it stands is in hop_places. */
struct sim_hop {
    uint32_t channel, weight;
    uint64_t reserved; /* room.c: of a channel that reserves, the rate that it may have unseen */
};

/* One transfer in the list of a channel. */
struct sim_entry {
    uint32_t slot, hop;
};

struct sim_channel {
    /* What a transfer needs that comes or goes, side by side. */
    uint64_t wanted; /* sum of the weights of those who move over it */
    uint32_t first_entry, entry_count, entry_class;
    uint32_t held;          /* the first so many entries: those that it holds, a heap by target */
    uint32_t changed;       /* mark of the solve that changed its level or whom it holds */
    uint32_t unused;        /* no padding: the same state is the same bytes */
    uint64_t bytes;         /* that have gone over it */
    myr_ps updated;         /* of the clock */
    sim_moved clock;        /* how far those have moved that it holds */
    uint64_t capacity;      /* bits per second */
    uint64_t full_capacity; /* without faults */
    __int128 counted_capacity; /* what of the capacity is in the room, in its units */
};

/* What the solver needs of a channel, together: a solve in a full fabric reads little else. */
struct sim_fill {
    __int128 room;         /* thousandths of rates: capacity less those held elsewhere; room.c */
    uint64_t held_weight;  /* of those that it holds and that keep its level */
    uint64_t loose_weight; /* of those that are being solved, over it */
    uint64_t level;        /* rate of those that it holds; SIM_RATE_NONE: it holds nobody */
    uint32_t place, mark;  /* in the solver's heap; of the solve that has touched it */
    uint64_t key;          /* no more than the level at which it will next be looked at */
    uint64_t fastest;      /* of those held elsewhere none is faster; SIM_RATE_NONE: it reserves */
};

/* ties.c: a channel over which those go that another one holds, and what they weigh on it. */
struct sim_tie {
    uint32_t channel, unused;
    uint64_t weight;
};

/* ties.c: what a change of its level reaches. */
struct sim_bond {
    uint32_t first_tie, tie_count, tie_class;
    uint32_t wide;           /* so many of those that it holds have no ties */
    uint64_t least_reserved; /* no other of them has reserved less anywhere */
};

/* In the solver's heap, with the key beside: most comparisons need nothing else. */
struct sim_fill_place {
    uint64_t key;
    uint32_t channel;
};

/* Sorted by 'before' when the run starts, so that edge_start can find those of a task. */
struct sim_edge {
    uint32_t before;
    uint32_t task : 31;
    uint32_t moves : 1; /* holds up its bytes only, not its latency */
};

/* In the heap as one number, the kind in its two highest bits. */
struct sim_event {
    uint8_t kind;
    uint32_t a; /* a task or a fault */
};

enum sim_event_kind { SIM_EVENT_TASK, SIM_EVENT_FAULT, SIM_EVENT_REROUTE };

/* An ordered way of one message, or of a part of it; kept when somebody wants to see them. */
struct sim_path {
    uint32_t pattern, message, share; /* permille of the message */
    uint32_t first, count;            /* in path_channels */
};

/* A row of a file of paths (given.c). */
struct sim_given {
    uint64_t key; /* phase and pair */
    uint32_t share, first, count;
    myr_ps latency;
};

/* What a channel carried in an interval. */
struct sim_sample {
    uint32_t tick, channel;
    uint64_t bytes;
};

/* Free blocks of a pool of hops or entries, by the power of two of their size. */
enum { SIM_CLASSES = 32 };
struct sim_free {
    MYR_VEC(uint32_t) blocks[SIM_CLASSES];
};

struct myr_sim {
    const struct sim_transport *transport; /* what moves the bytes */
    struct sim_packets *packets;           /* of that kind; else NULL */
    struct myr_graph *graph;
    struct myr_sim_options options;
    uint32_t link_channels, channel_count; /* two a link; all of them */
    uint32_t scale_up_base, pool_base;     /* first ids behind the links' */
    struct sim_channel *channels;
    struct sim_fill *fills; /* by channel */
    struct sim_bond *bonds; /* by channel; with ties and free_ties: not saved */
    uint32_t *node_slow;    /* permille lost, by node; NULL: all at full speed */

    /* The question: what is to be sent, and over which channels. */
    MYR_VEC(struct myr_message) messages;
    MYR_VEC(struct sim_use) uses;
    MYR_VEC(struct sim_pattern) patterns;
    MYR_VEC(struct sim_path) paths;
    MYR_VEC(uint32_t) path_channels;
    MYR_VEC(struct sim_given) given;
    MYR_VEC(uint32_t) given_channels;
    struct myr_u64map given_rows; /* key, to the first of its rows */
    uint32_t routed_patterns, phase, batch_count;
    bool defer, keep_paths;
    bool resumed; /* from a state that was loaded */

    /* Tasks, and who waits for whom. */
    MYR_VEC(struct sim_task) tasks;
    MYR_VEC(struct sim_edge) edges;
    uint32_t *edge_start; /* by task, made when the run starts */
    MYR_VEC(struct myr_sim_fault) faults;

    /* Transfers under way. Slots and blocks that were given back are used again. */
    MYR_VEC(struct sim_slot) slots;
    MYR_VEC(struct sim_way) ways; /* by slot */
    MYR_VEC(uint32_t) free_slots;
    MYR_VEC(struct sim_hop) hops;
    MYR_VEC(uint32_t) hop_places; /* by hop: its place in the channel's list */
    MYR_VEC(struct sim_entry) entries;
    struct sim_free free_hops, free_entries;
    MYR_VEC(struct sim_tie) ties;
    struct sim_free free_ties;

    myr_ps now;               /* the clock; it never goes back */
    struct myr_heap events;   /* ends of latencies and of computing, and faults */
    MYR_VEC(uint32_t) finish; /* channels, a heap by finish_at */
    uint32_t *finish_place;   /* by channel; MYR_NONE: not in the heap */
    myr_ps *finish_at;        /* by channel: before this none of those that it holds ends */

    /* What a solve works with; empty between two solves but for what was touched since. */
    uint32_t solve_mark;
    MYR_VEC(uint32_t) touched; /* channels since the last solve */
    MYR_VEC(uint32_t) changed; /* and those of them that have another level or hold others */
    MYR_VEC(struct sim_fill_place) fill_heap;
    uint32_t loose_slots;        /* that are being solved; 0 after a solve */
    MYR_VEC(uint32_t) overfull;  /* channels on which a rise has made others too fast */
    MYR_VEC(uint32_t) held_back; /* slots that a rise has made faster than another channel allows */
    MYR_VEC(struct sim_entry) short_of; /* and those that need more than is reserved, where */
    bool strict;                        /* this solve takes no short cut any more */
    uint32_t late_task; /* one that would end after the clock's last moment, or MYR_NONE */
    uint32_t ticks;     /* intervals of the time series that are over */
    uint64_t *sampled;  /* by channel: its bytes at the last of them */
    MYR_VEC(struct sim_sample) samples;
    uint64_t *backed_up; /* pause.c: by link channel */
    struct myr_sim_result result;
};

/* channels.c: all capacities, once the numbers of channels are known; ids beyond the links'. */
void sim_channels_make(struct myr_sim *sim);
/* Room for so many, all without capacity; for a test's engine too. */
void sim_channels_open(struct myr_sim *sim, uint32_t count);
/* At any time: whoever it concerns is solved again. */
void sim_set_capacity(struct myr_sim *sim, uint32_t channel, uint64_t bps);
uint32_t sim_scale_up_out(const struct myr_sim *sim, uint32_t gpu);
uint32_t sim_scale_up_in(const struct myr_sim *sim, uint32_t gpu);
uint32_t sim_pool(const struct myr_sim *sim, bool pod, uint32_t index, bool down);

/* Whatever is not routed yet, phase by phase. */
MYR_MUST_USE int sim_route_deferred(struct myr_sim *sim, struct myr_err *err);
/* All uplinks of a leaf or of a pod, after one of their links has changed. */
void sim_refresh_pools(struct myr_sim *sim, uint32_t link);

/* route.c: fills the uses of these patterns, as flows of one moment. */
MYR_MUST_USE int sim_route_patterns(struct myr_sim *sim, const uint32_t *ids, uint32_t count,
                                    struct myr_err *err);

/* given.c: the rows of a message, or NULL. */
const struct sim_given *sim_given_find(const struct myr_sim *sim, uint32_t phase,
                                       struct myr_message message, uint32_t *ret_count);

/* check.c: no channel of the last solve is over its capacity; bytes into and out of switches. */
bool sim_within_capacity(const struct myr_sim *sim);
/* After a run. */
bool sim_at_rest(const struct myr_sim *sim);
bool sim_ties_right(const struct myr_sim *sim);
/* The three heaps: of those that a channel holds, of channels to look at, and of ends. */
bool sim_held_right(const struct myr_sim *sim, uint32_t channel);
bool sim_looks_right(const struct myr_sim *sim);
bool sim_ends_right(const struct myr_sim *sim);
/* A GPU or a storage server of the design; without one, anything. */
bool sim_is_end(const struct myr_sim *sim, uint32_t end);
bool sim_conserved(const struct myr_sim *sim);

/* What a channel can carry now, in bits per second: a shared link loses some. */
static inline uint64_t sim_capacity(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    uint32_t most = sim->options.sharing_loss_permille;
    if (most == 0 || channel->wanted <= 1000 || id >= sim->link_channels) {
        return channel->capacity;
    }
    uint64_t lost = myr_hash_u64(sim->options.balance.seed ^ (uint64_t)id << 32) % (most + 1);
    return channel->capacity - channel->capacity / 1000 * lost;
}

/* A level that changes by less than this is left as it is. */
static inline uint64_t sim_tolerance(uint64_t level)
{
    return (level >> SIM_TOLERANCE_BITS) + 1;
}

/* bound.c: before the run, and after it. */
void sim_bounds(struct myr_sim *sim);
bool sim_above_bounds(const struct myr_sim *sim);

/* blocks.c: the power of two that so many need; of so many hops. */
uint32_t sim_class_of(uint32_t count);
uint32_t sim_hop_class(uint32_t count);
/* A block for so many; 'ret_grow' is how far the pool has to grow, 0 when one was free. */
uint32_t sim_take_block(struct sim_free *free, uint32_t class, size_t used, uint32_t *ret_grow);

/* run.c: the last of its bytes is there; an event of the task so much later. */
void sim_end_task(struct myr_sim *sim, uint32_t id);
void sim_wake_after(struct myr_sim *sim, uint32_t id, __int128 wait);

/* moved.c: what has moved since it was last counted; its holder is solved again. */
void sim_count_bytes(struct myr_sim *sim, uint32_t slot);
void sim_touch_holder(struct myr_sim *sim, uint32_t slot);
/* reroute.c */
void sim_fluid_fault(struct myr_sim *sim, const struct myr_sim_fault *fault);
MYR_MUST_USE int sim_fluid_reroute(struct myr_sim *sim, const struct myr_sim_fault *fault,
                                   struct myr_err *err);

/* flight.c: transfers on and off their channels; 'id' is the task's. */
uint32_t sim_attach(struct myr_sim *sim, uint32_t id, sim_moved left);
void sim_detach(struct myr_sim *sim, uint32_t slot);
/* From whatever holds it, if anything does, to the channel of this hop. */
void sim_hold(struct myr_sim *sim, uint32_t slot, uint32_t hop);
/* The transfer that ends first of those that the channel holds. */
uint32_t sim_first_held(const struct myr_sim *sim, uint32_t channel);

/* start.c: what is not routed yet is, and the tasks know who waits for them. */
MYR_MUST_USE int sim_prepare(struct myr_sim *sim, struct myr_err *err);

/* stall.c: nothing can progress; the run is longer than the clock. Both are refusals. */
MYR_MUST_USE int sim_stalled(const struct myr_sim *sim, struct myr_err *err);
MYR_MUST_USE int sim_too_late(const struct myr_sim *sim, struct myr_err *err);

/* state_check.c: after loading; what of the state cannot be, or NULL. */
const char *sim_state_wrong(const struct myr_sim *sim);

/* Before a channel's room, capacity or list changes: the next solve looks at it. */
static inline void sim_touch(struct myr_sim *sim, uint32_t channel)
{
    struct sim_fill *fill = &sim->fills[channel];
    if (fill->mark != sim->solve_mark) {
        fill->mark = sim->solve_mark;
        myr_vec_push(&sim->touched, channel);
    }
}

/* Its level is another, or whom it holds: the time of its first end is. */
static inline void sim_change(struct myr_sim *sim, uint32_t channel)
{
    if (sim->channels[channel].changed != sim->solve_mark) {
        sim->channels[channel].changed = sim->solve_mark;
        myr_vec_push(&sim->changed, channel);
    }
}

/*
 * What a channel is about to be asked for, so far ahead: a transfer over half of a large fabric
 * waits for little else than memory. Inlined always: gcc drops calls of what does nothing else.
 */
enum { SIM_AHEAD = 24 };
static inline __attribute__((always_inline)) void sim_prefetch(const struct myr_sim *sim,
                                                               uint32_t channel)
{
    __builtin_prefetch(&sim->fills[channel], 1);
    __builtin_prefetch(&sim->channels[channel], 1);
}

/* room.c: whether its room is a lower bound only, what nobody has reserved. */
static inline bool sim_reserves(const struct sim_fill *fill)
{
    return fill->fastest == SIM_RATE_NONE;
}

/*
 * Of the channel 'id': exactly from now on; no longer, if there is enough of it; a rate that is not
 * reserved yet.
 */
void sim_count_room(struct myr_sim *sim, uint32_t id);
void sim_reserve(struct myr_sim *sim, uint32_t id);
MYR_MUST_USE bool sim_reserve_more(struct myr_sim *sim, uint32_t hop, uint64_t rate);

/* ties.c: whether it has none. */
static inline bool sim_wide(const struct sim_way *way)
{
    return way->hop_count > 8;
}

/* One that the channel holds has reserved so much somewhere. */
static inline void sim_bond_reserved(struct myr_sim *sim, uint32_t holder, uint64_t reserved)
{
    struct sim_bond *bond = &sim->bonds[holder];
    bond->least_reserved = reserved < bond->least_reserved ? reserved : bond->least_reserved;
}

/* One that the channel holds goes over another, which does not reserve; no longer. */
void sim_tie(struct myr_sim *sim, uint32_t holder, struct sim_hop hop);
void sim_untie(struct myr_sim *sim, uint32_t holder, struct sim_hop hop);
/* After loading, all of them; whether what is kept of a channel follows from the rest. */
void sim_ties_make(struct myr_sim *sim);
bool sim_bond_right(const struct myr_sim *sim, uint32_t channel);

/* level.c: 'id' is the channel's. */
/* Before its level changes, or somebody joins: its clock then shows this moment. */
void sim_set_clock(struct myr_sim *sim, uint32_t id);
/* Its capacity may have changed. */
void sim_recapacity(struct myr_sim *sim, uint32_t id);
/* Rate of a transfer, in thousandths of a bit per second; what is left of it, now. */
uint64_t sim_rate(const struct myr_sim *sim, uint32_t slot);
sim_moved sim_left(const struct myr_sim *sim, uint32_t slot);
bool sim_paused(const struct myr_sim *sim);

/* rates.c: whatever has been touched, and what that reaches. */
void sim_solve(struct myr_sim *sim);

/* pause.c: after a solve, what victims of pause frames lose; when the next transfer ends. */
void sim_pause(struct myr_sim *sim);
void sim_pause_advance(struct myr_sim *sim);
myr_ps sim_pause_next(const struct myr_sim *sim);

/* progress.c */
void sim_push_event(struct myr_sim *sim, myr_ps at, struct sim_event event);
/* 'id' is the channel's. */
void sim_finish_update(struct myr_sim *sim, uint32_t id);
void sim_finish_drop(struct myr_sim *sim, uint32_t id);
/* When the next transfer ends; the first channel of the heap holds it. */
myr_ps sim_finish_next(struct myr_sim *sim);
myr_ps sim_time_to_move(sim_moved left, uint64_t rate); /* SIM_TIME_MAX: longer than that */
bool sim_arrived(const struct myr_sim *sim, uint32_t slot);
