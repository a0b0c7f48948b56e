#include "engine/internal.h"

/*
 * Head-of-line blocking by pause frames (PFC), as a correction of fair rates.
 *
 * On a lossless link a full egress queue of a switch pauses the links that feed it. A pause stops
 * everything on such a link, also what goes elsewhere. How long depends on queues that a fluid does
 * not have; the two ends are known. With ideal congestion control the slow transfers are slow at
 * their source, nobody is paused, and the rates are the fair ones. Without any, what shares a link
 * with a transfer that is held up behind it goes no faster than that one. The option says where
 * between these two ends the fabric is.
 *
 * Victims move slower than their fair rate, and what they leave is not given to others: that is
 * what a pause does. So fair rates stay the basis, and only the pace is changed.
 */

static uint32_t device_behind(const struct myr_sim *sim, uint32_t channel)
{
    return myr_channel_to_device(sim->graph->design, channel);
}

/* Whether the transfer waits at an egress of the switch that the channel leads into. */
static bool held_behind(const struct myr_sim *sim, const struct sim_task *task, uint32_t channel)
{
    uint32_t egress = task->bottleneck;
    return egress < sim->link_channels && egress != channel &&
           device_behind(sim, myr_channel_back(egress)) == device_behind(sim, channel) &&
           sim->channels[egress].wanted > 1000;
}

/* The slowest rate on the channel that backs up into it; SIM_RATE_NONE when none does. */
static uint64_t backed_up(const struct myr_sim *sim, uint32_t id)
{
    uint64_t slowest = SIM_RATE_NONE;
    for (uint32_t n = sim->channels[id].first; n != MYR_NONE; n = sim->nodes.items[n].next) {
        const struct sim_task *task = &sim->tasks.items[sim->nodes.items[n].task];
        if (task->rate < slowest && held_behind(sim, task, id)) {
            slowest = task->rate;
        }
    }
    return slowest;
}

static uint64_t pace_of(const struct myr_sim *sim, const struct sim_task *task)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    uint64_t slowest = task->rate;
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        uint32_t id = sim->uses.items[pattern->first_use + u].channel;
        uint64_t rate = id < sim->link_channels ? sim->backed_up[id] : SIM_RATE_NONE;
        slowest = rate < slowest ? rate : slowest;
    }
    MYR_ASSERT(slowest <= task->rate && sim->options.pause_permille <= 1000);
    unsigned __int128 lost =
        (unsigned __int128)(task->rate - slowest) * sim->options.pause_permille / 1000;
    return task->rate - (uint64_t)lost;
}

static void set_pace(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    uint64_t pace = pace_of(sim, task);
    if (pace != task->pace || task->mark == sim->solve_mark) {
        sim_update(sim, id);
        task->pace = pace;
        sim_push_finish(sim, id);
    }
}

void sim_pause(struct myr_sim *sim)
{
    if (!sim->backed_up) {
        sim->backed_up = myr_xrealloc(NULL, sim->link_channels + 1, sizeof(uint64_t));
        memset(sim->backed_up, 0xFF, (sim->link_channels + 1) * sizeof(uint64_t));
    }
    /* Only on these have rates or bottlenecks changed. All of them before the first pace is set:
     * a pace depends on every channel of its transfer. */
    for (size_t i = 0; i < sim->touched.count; i++) {
        uint32_t id = sim->touched.items[i];
        if (id < sim->link_channels) {
            sim->backed_up[id] = backed_up(sim, id);
        }
    }
    for (size_t i = 0; i < sim->touched.count; i++) {
        uint32_t id = sim->touched.items[i];
        for (uint32_t n = sim->channels[id].first; n != MYR_NONE; n = sim->nodes.items[n].next) {
            set_pace(sim, sim->nodes.items[n].task);
        }
    }
}
