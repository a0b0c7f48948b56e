/* The engine's state, shared by its parts: patterns and routes, rates, events. */
#pragma once

#include "myriad/sim/engine.h"

#define SIM_RATE_NONE    UINT64_MAX
#define SIM_VERSION_MASK UINT32_C(0x3FFFFFFF) /* what of a version an event carries */
#define SIM_SLACK_BPS    4096U                /* less than this left over counts as full */

/* How much of a channel one unit of a pattern's rate takes, in thousandths. */
struct sim_use {
    uint32_t channel;
    uint32_t weight;
};

struct sim_pattern {
    uint32_t first_message, message_count;
    uint32_t first_use, use_count;
    uint32_t network_flows;
    uint32_t phase, batch; /* patterns of one phase are routed together: a batch */
    bool cyclic;           /* latency is the mean over its flows, not the longest */
    myr_ps latency;
    uint32_t spare_nodes; /* entries of transfers that ended, for the next one */
};

enum sim_task_kind { SIM_COMPUTE, SIM_TRANSFER };
enum sim_state { SIM_WAITING, SIM_LATENCY, SIM_MOVING, SIM_DONE };

struct sim_task {
    uint8_t kind, state;
    uint32_t pattern, latency_rounds;
    uint32_t waits_for; /* tasks before it that are not done */
    uint32_t bottleneck;
    uint32_t first_node; /* of its entries in the channels' lists */
    uint64_t bits_left, bits;
    uint64_t counted_left; /* bits_left when its bytes were last counted */
    uint64_t rate;         /* bits per second of one flow, its fair share */
    uint64_t pace;         /* what of it pauses leave */
    uint32_t version;      /* of its finish event */
    uint32_t mark;
    myr_ps duration, start, end, updated;
};

/* One entry in the list of transfers over a channel. */
struct sim_node {
    uint32_t task, next, previous;
};

struct sim_channel {
    uint64_t capacity; /* bits per second */
    uint64_t full_capacity;
    uint64_t bytes;
    uint64_t wanted; /* sum of the weights of those who move over it */
    uint32_t first;  /* node, MYR_NONE: nobody */
    uint32_t mark;   /* of the solve that has it in its list */
};

struct sim_edge {
    uint32_t before, task;
};

struct sim_event {
    uint8_t kind;
    uint32_t a, version;
};

enum sim_event_kind { SIM_EVENT_TASK, SIM_EVENT_FAULT, SIM_EVENT_REROUTE };

struct myr_sim {
    struct myr_graph *graph;
    struct myr_sim_options options;
    uint32_t link_channels, channel_count;
    uint32_t scale_up_base, pool_base;
    struct sim_channel *channels;
    uint32_t *node_slow; /* permille lost, by node; NULL: all at full speed */

    MYR_VEC(struct myr_message) messages;
    MYR_VEC(struct sim_use) uses;
    MYR_VEC(struct sim_pattern) patterns;
    uint32_t routed_patterns, phase, batch_count;
    bool defer;

    MYR_VEC(struct sim_task) tasks;
    MYR_VEC(struct sim_edge) edges;
    uint32_t *edge_start; /* by task, made when the run starts */
    MYR_VEC(struct sim_node) nodes;
    MYR_VEC(struct myr_sim_fault) faults;

    myr_ps now;
    struct myr_heap events;
    MYR_VEC(uint32_t) seeds; /* tasks whose rates may change */
    uint32_t solve_mark;
    MYR_VEC(uint32_t) set;     /* tasks being solved */
    MYR_VEC(uint32_t) touched; /* channels being solved */
    uint64_t *residual;
    uint64_t *weight;
    uint64_t *backed_up; /* pause.c: by link channel */
    struct myr_sim_result result;
};

/* channels.c: all capacities, once the numbers of channels are known; ids beyond the links'. */
void sim_channels_make(struct myr_sim *sim);
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

/* check.c: no channel of the last solve is over its capacity; bytes into and out of switches. */
bool sim_within_capacity(const struct myr_sim *sim);
bool sim_conserved(const struct myr_sim *sim);

/* How much of the channel that this entry is for one unit of the transfer's rate takes. */
static inline uint32_t sim_use_weight(const struct myr_sim *sim, const struct sim_task *task,
                                      uint32_t node)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    return sim->uses.items[pattern->first_use + (node - task->first_node)].weight;
}

/* What a channel can carry now: a shared link loses some. */
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

/* pause.c: after a solve, what victims of pause frames lose. */
void sim_pause(struct myr_sim *sim);

/* rates.c: solve takes again whatever the seeds can affect, and pushes new finish events. */
void sim_attach(struct myr_sim *sim, uint32_t id);
void sim_detach(struct myr_sim *sim, uint32_t id);
void sim_solve(struct myr_sim *sim);

/* Brings a transfer's progress up to now. Here because every solve does it for its whole set. */
static inline void sim_update(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    unsigned __int128 moved =
        (unsigned __int128)task->pace * (uint64_t)(sim->now - task->updated) / MYR_PS_PER_S;
    MYR_ASSERT(sim->now >= task->updated);
    task->bits_left -= moved < task->bits_left ? (uint64_t)moved : task->bits_left;
    task->updated = sim->now;
}

/* progress.c */
void sim_push_finish(struct myr_sim *sim, uint32_t id);
void sim_push_event(struct myr_sim *sim, myr_ps at, struct sim_event event);
