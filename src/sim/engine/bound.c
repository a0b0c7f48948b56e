#include <stdlib.h>

#include "engine/internal.h"

/*
 * What no run can be shorter than, from the tasks and their paths alone: no rate is looked at. A
 * run below one of these is a bug.
 */

/* Rounded down, as a bound must be. */
static myr_ps bits_time(unsigned __int128 bits, uint64_t bps)
{
    if (bps == 0) {
        return 0; /* a dead channel is another error */
    }
    unsigned __int128 ps = bits * (unsigned __int128)MYR_PS_PER_S / bps;
    return ps < SIM_TIME_MAX ? (myr_ps)ps : SIM_TIME_MAX;
}

/* A sum that stops at the end of time. */
static myr_ps later(myr_ps a, myr_ps b)
{
    MYR_SLOW_ASSERT(a >= 0);
    MYR_SLOW_ASSERT(b >= 0);
    MYR_SLOW_ASSERT(b <= SIM_TIME_MAX);
    return a < SIM_TIME_MAX - b ? a + b : SIM_TIME_MAX;
}

/* How long a bit of each of the pattern's flows takes on the fullest of its channels. */
static myr_ps alone_time(const struct myr_sim *sim, const struct sim_task *task)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    MYR_ASSERT(pattern->first_use + (uint64_t)pattern->use_count <= sim->uses.count);
    myr_ps longest = 0;
    uint64_t weight = 0, bps = 0;
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        const struct sim_use *use = &sim->uses.items[pattern->first_use + u];
        MYR_SLOW_ASSERT(use->channel < sim->channel_count);
        uint64_t capacity = sim->channels[use->channel].full_capacity;
        if (u + SIM_AHEAD < pattern->use_count) {
            __builtin_prefetch(&sim->channels[use[SIM_AHEAD].channel].full_capacity);
        }
        if (use->weight == weight && capacity == bps) {
            continue; /* as the one before: dividing costs more than all the rest */
        }
        weight = use->weight;
        bps = capacity;
        myr_ps time = bits_time((unsigned __int128)task->bits * weight / 1000, bps);
        longest = time > longest ? time : longest;
    }
    return longest;
}

/* By pattern, so that one that is sent many times is looked at once; 'per_bit' may be NULL. */
static void list_alone(const struct myr_sim *sim, myr_ps *alone)
{
    uint32_t known = MYR_NONE;
    uint64_t known_bits = 0;
    myr_ps known_time = 0;
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        if (task->kind != SIM_TRANSFER) {
            continue;
        }
        MYR_ASSERT(task->pattern < sim->patterns.count);
        if (task->pattern != known || task->bits != known_bits) {
            known = task->pattern;
            known_bits = task->bits;
            known_time = alone_time(sim, task);
        }
        alone[t] = known_time;
    }
}

/* The longest chain of tasks that wait for each other: with latencies alone, and with bytes. */
static void chains(const struct myr_sim *sim, struct myr_sim_bounds *ret)
{
    size_t count = sim->tasks.count;
    /*
     * alpha: latencies only; both: with bytes; behind: when the bytes that a task's own follow have
     * gone.
     */
    MYR_CLEANUP(myr_free_at) uint32_t *waits = myr_xcalloc(count, sizeof(*waits));
    MYR_CLEANUP(myr_free_at) uint32_t *ready = myr_xcalloc(count, sizeof(*ready));
    MYR_CLEANUP(myr_free_at) myr_ps *alpha = myr_xcalloc(count, sizeof(*alpha));
    MYR_CLEANUP(myr_free_at) myr_ps *both = myr_xcalloc(count, sizeof(*both));
    MYR_CLEANUP(myr_free_at) myr_ps *behind = myr_xcalloc(count, sizeof(*behind));
    MYR_CLEANUP(myr_free_at) myr_ps *alone = myr_xcalloc(count, sizeof(*alone));
    size_t first = 0, last = 0;
    list_alone(sim, alone);
    for (uint32_t t = 0; t < count; t++) {
        waits[t] = sim->tasks.items[t].waits_for + sim->tasks.items[t].moves_after;
        if (waits[t] == 0) {
            ready[last++] = t;
        }
    }
    while (first < last) {
        uint32_t id = ready[first++];
        const struct sim_task *task = &sim->tasks.items[id];
        /* In 128 bits: a latency times its rounds may be longer than the clock. */
        __int128 wait = task->duration;
        if (task->kind == SIM_TRANSFER) {
            wait = (__int128)sim->patterns.items[task->pattern].latency * task->latency_rounds;
        }
        myr_ps own = wait < SIM_TIME_MAX ? (myr_ps)wait : SIM_TIME_MAX;
        /* In the order of the edges, so that all that a task waits for has its figures already. */
        alpha[id] = later(alpha[id], own);
        both[id] = later(both[id], own);
        both[id] = later(both[id] > behind[id] ? both[id] : behind[id], alone[id]);
        ret->alpha = alpha[id] > ret->alpha ? alpha[id] : ret->alpha;
        ret->chain = both[id] > ret->chain ? both[id] : ret->chain;
        for (uint32_t e = sim->edge_start[id]; e < sim->edge_start[id + 1]; e++) {
            uint32_t next = sim->edges.items[e].task;
            bool moves = sim->edges.items[e].moves; /* bytes come behind bytes, latency overlaps */
            myr_ps *from = moves ? behind : both;
            myr_ps end = both[id];
            alpha[next] = alpha[id] > alpha[next] && !moves ? alpha[id] : alpha[next];
            from[next] = end > from[next] ? end : from[next];
            MYR_SLOW_ASSERT(waits[next] > 0);
            MYR_SLOW_ASSERT(last < count);
            if (--waits[next] == 0) {
                ready[last++] = next;
            }
        }
    }
    MYR_ASSERT(last <= count);
    MYR_ASSERT(ret->alpha <= ret->chain); /* bytes only add to latencies */
}

/* Of the network that is simulated. */
static bool is_switch(const struct myr_sim *sim, uint32_t device)
{
    const struct myr_graph *graph = sim->graph;
    return device >= graph->first_switch && device < graph->first_switch + graph->switch_count;
}

/* Out of a sender, into a receiver, or inside the network. */
static myr_ps *bound_of(const struct myr_sim *sim, uint32_t channel, struct myr_sim_bounds *ret)
{
    MYR_ASSERT(channel < sim->channel_count);
    if (!sim->graph || channel >= sim->pool_base) {
        return &ret->bisection;
    }
    if (channel >= sim->scale_up_base) {
        return (channel - sim->scale_up_base) % 2 ? &ret->incast : &ret->beta;
    }
    const struct myr_design *design = sim->graph->design;
    if (!is_switch(sim, myr_channel_to_device(design, channel))) {
        return &ret->incast;
    }
    return is_switch(sim, myr_channel_to_device(design, myr_channel_back(channel)))
               ? &ret->bisection
               : &ret->beta;
}

/* All bytes that have to go over a channel, at its full rate. */
static void loads(const struct myr_sim *sim, struct myr_sim_bounds *ret)
{
    MYR_CLEANUP(myr_free_at)
    unsigned __int128 *bits = myr_xcalloc(sim->patterns.count, sizeof(*bits));
    MYR_CLEANUP(myr_free_at)
    unsigned __int128 *load = myr_xcalloc(sim->channel_count, sizeof(*load));
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        if (task->kind == SIM_TRANSFER) {
            bits[task->pattern] += task->bits;
        }
    }
    for (uint32_t p = 0; p < sim->patterns.count; p++) {
        const struct sim_pattern *pattern = &sim->patterns.items[p];
        for (uint32_t u = 0; u < pattern->use_count && bits[p]; u++) {
            const struct sim_use *use = &sim->uses.items[pattern->first_use + u];
            if (u + SIM_AHEAD < pattern->use_count) {
                __builtin_prefetch(&load[use[SIM_AHEAD].channel], 1);
            }
            /* Weights are thousandths of a flow's bits; 128 bits hold the sum of all of them. */
            MYR_SLOW_ASSERT(use->channel < sim->channel_count);
            load[use->channel] += bits[p] * use->weight;
        }
    }
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        if (load[c]) {
            myr_ps *bound = bound_of(sim, c, ret);
            myr_ps time = bits_time(load[c] / 1000, sim->channels[c].full_capacity);
            *bound = time > *bound ? time : *bound;
        }
    }
}

/* With faults the paths change on the way, and nothing is said. */
void sim_bounds(struct myr_sim *sim)
{
    struct myr_sim_bounds *bounds = &sim->result.bounds;
    MYR_ASSERT(sim->edge_start);
    *bounds = (struct myr_sim_bounds){.known = sim->faults.count == 0};
    if (!bounds->known) {
        return;
    }
    chains(sim, bounds);
    loads(sim, bounds);
    /* Not alpha: the chain holds it already. */
    myr_ps all[] = {bounds->chain, bounds->beta, bounds->incast, bounds->bisection};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        bounds->best = all[i] > bounds->best ? all[i] : bounds->best;
    }
    MYR_ASSERT(bounds->best >= bounds->alpha);
    MYR_ASSERT(bounds->best <= SIM_TIME_MAX);
}

/* A part in 2^27 for what the solver lets pass, and a nanosecond. */
bool sim_above_bounds(const struct myr_sim *sim)
{
    const struct myr_sim_bounds *bounds = &sim->result.bounds;
    MYR_ASSERT(sim->result.end >= 0 && sim->result.end <= SIM_TIME_MAX);
    return !bounds->known ||
           sim->result.end + (sim->result.end >> 27) + MYR_PS_PER_NS >= bounds->best;
}
