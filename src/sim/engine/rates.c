#include "engine/internal.h"

/*
 * Incremental max-min rates.
 *
 * Rates are max-min fair exactly when every transfer has a bottleneck: a full channel on which
 * nobody is faster. A change can only take away bottlenecks or overfill channels near it. So: solve
 * a small set of transfers with all others held, then look at the channels touched. Whoever has
 * lost its bottleneck, or is faster than one that is held back there, joins the set, and it is
 * solved again. When nobody joins, everyone has a bottleneck: the rates are those of a full solve.
 */

static struct sim_pattern *pattern_of(struct myr_sim *sim, const struct sim_task *task)
{
    return &sim->patterns.items[task->pattern];
}

/* Entries for one transfer: those of an ended one of the same pattern, or new ones. */
static uint32_t take_nodes(struct myr_sim *sim, struct sim_pattern *pattern)
{
    uint32_t first = pattern->spare_nodes;
    if (first != MYR_NONE) {
        pattern->spare_nodes = sim->nodes.items[first].next;
        return first;
    }
    first = (uint32_t)sim->nodes.count;
    myr_vec_reserve(&sim->nodes, sim->nodes.count + pattern->use_count);
    sim->nodes.count += pattern->use_count;
    return first;
}

void sim_attach(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    struct sim_pattern *pattern = pattern_of(sim, task);
    MYR_ASSERT(task->state == SIM_MOVING);
    if (pattern->use_count == 0) {
        return;
    }
    task->first_node = take_nodes(sim, pattern);
    for (uint32_t i = 0; i < pattern->use_count; i++) {
        const struct sim_use *use = &sim->uses.items[pattern->first_use + i];
        struct sim_channel *channel = &sim->channels[use->channel];
        uint32_t at = task->first_node + i;
        channel->wanted += use->weight;
        sim->nodes.items[at] = (struct sim_node){id, channel->first, MYR_NONE};
        if (channel->first != MYR_NONE) {
            sim->nodes.items[channel->first].previous = at;
        }
        channel->first = at;
    }
}

void sim_detach(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    struct sim_pattern *pattern = pattern_of(sim, task);
    for (uint32_t i = 0; i < pattern->use_count; i++) {
        const struct sim_use *use = &sim->uses.items[pattern->first_use + i];
        struct sim_channel *channel = &sim->channels[use->channel];
        struct sim_node *node = &sim->nodes.items[task->first_node + i];
        MYR_ASSERT(node->task == id && channel->wanted >= use->weight);
        channel->wanted -= use->weight;
        if (node->next != MYR_NONE) {
            sim->nodes.items[node->next].previous = node->previous;
        }
        if (node->previous != MYR_NONE) {
            sim->nodes.items[node->previous].next = node->next;
        } else {
            channel->first = node->next;
        }
    }
    if (pattern->use_count) {
        sim->nodes.items[task->first_node].next = pattern->spare_nodes;
        pattern->spare_nodes = task->first_node;
    }
}

static void join_set(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    if (task->mark != sim->solve_mark && task->state == SIM_MOVING) {
        task->mark = sim->solve_mark;
        myr_vec_push(&sim->set, id);
    }
}

/* What the set may use of a channel: what those outside of it leave. */
static void measure_channel(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    uint64_t taken = 0, weight = 0;
    for (uint32_t n = channel->first; n != MYR_NONE; n = sim->nodes.items[n].next) {
        const struct sim_task *task = &sim->tasks.items[sim->nodes.items[n].task];
        uint64_t each = sim_use_weight(sim, task, n);
        if (task->mark == sim->solve_mark) {
            weight += each;
        } else if (task->rate != SIM_RATE_NONE) {
            taken += (uint64_t)((unsigned __int128)task->rate * each / 1000);
        }
    }
    uint64_t capacity = sim_capacity(sim, id);
    sim->residual[id] = capacity > taken ? capacity - taken : 0;
    sim->weight[id] = weight;
}

/* 128 bits, as wherever rates are multiplied: no pool of links is too large. */
static uint64_t share_of(const struct myr_sim *sim, uint32_t id)
{
    MYR_ASSERT(sim->weight[id] > 0);
    return (uint64_t)((unsigned __int128)sim->residual[id] * 1000 / sim->weight[id]);
}

static void list_channels(struct myr_sim *sim, size_t first_task)
{
    for (size_t i = first_task; i < sim->set.count; i++) {
        const struct sim_task *task = &sim->tasks.items[sim->set.items[i]];
        const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
        for (uint32_t u = 0; u < pattern->use_count; u++) {
            uint32_t id = sim->uses.items[pattern->first_use + u].channel;
            if (sim->channels[id].mark != sim->solve_mark) {
                sim->channels[id].mark = sim->solve_mark;
                myr_vec_push(&sim->touched, id);
            }
        }
    }
}

static void fix_rate(struct myr_sim *sim, uint32_t id, uint64_t rate, uint32_t bottleneck)
{
    struct sim_task *task = &sim->tasks.items[id];
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    task->rate = rate;
    task->bottleneck = bottleneck;
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        const struct sim_use *use = &sim->uses.items[pattern->first_use + u];
        uint64_t part = (uint64_t)((unsigned __int128)rate * use->weight / 1000);
        uint64_t *left = &sim->residual[use->channel];
        MYR_ASSERT(sim->weight[use->channel] >= use->weight);
        *left -= part < *left ? part : *left; /* shares are rounded down: a little may be missing */
        sim->weight[use->channel] -= use->weight;
    }
}

/*
 * Progressive filling of the set: the channel with the smallest share fixes whoever is on it. A
 * share only grows while others are fixed, so the heap may hold old ones; what has grown goes back.
 */
static void fill(struct myr_sim *sim)
{
    MYR_CLEANUP(myr_heap_done) struct myr_heap heap = {0};
    struct myr_heap_item item;
    for (size_t i = 0; i < sim->set.count; i++) {
        sim->tasks.items[sim->set.items[i]].rate = SIM_RATE_NONE;
    }
    for (size_t i = 0; i < sim->touched.count; i++) {
        measure_channel(sim, sim->touched.items[i]);
        if (sim->weight[sim->touched.items[i]]) {
            myr_heap_push(&heap, (int64_t)share_of(sim, sim->touched.items[i]),
                          sim->touched.items[i]);
        }
    }
    size_t unfixed = sim->set.count;
    while (unfixed && myr_heap_pop(&heap, &item)) {
        uint32_t id = (uint32_t)item.value;
        if (sim->weight[id] == 0) {
            continue;
        }
        uint64_t share = share_of(sim, id);
        if ((int64_t)share > item.key) {
            myr_heap_push(&heap, (int64_t)share, id);
            continue;
        }
        for (uint32_t n = sim->channels[id].first; n != MYR_NONE; n = sim->nodes.items[n].next) {
            uint32_t other = sim->nodes.items[n].task;
            const struct sim_task *task = &sim->tasks.items[other];
            if (task->mark == sim->solve_mark && task->rate == SIM_RATE_NONE) {
                fix_rate(sim, other, share, id);
                unfixed--;
            }
        }
    }
    MYR_ASSERT(unfixed == 0); /* every transfer of the set uses a channel */
}

/* Those outside of the set whose rate is no longer right on this channel. */
static void check_channel(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    uint64_t held_at = SIM_RATE_NONE, fastest = 0;
    for (uint32_t n = channel->first; n != MYR_NONE; n = sim->nodes.items[n].next) {
        const struct sim_task *task = &sim->tasks.items[sim->nodes.items[n].task];
        if (task->bottleneck == id && task->mark == sim->solve_mark && task->rate < held_at) {
            held_at = task->rate;
        }
        fastest = task->rate > fastest ? task->rate : fastest;
    }
    bool slack = sim->residual[id] > SIM_SLACK_BPS;
    for (uint32_t n = channel->first; n != MYR_NONE; n = sim->nodes.items[n].next) {
        uint32_t other = sim->nodes.items[n].task;
        const struct sim_task *task = &sim->tasks.items[other];
        if (task->mark == sim->solve_mark) {
            continue;
        }
        bool too_fast = held_at != SIM_RATE_NONE && task->rate > held_at + SIM_SLACK_BPS;
        bool lost = task->bottleneck == id && (slack || fastest > task->rate + SIM_SLACK_BPS);
        if (too_fast || lost) {
            join_set(sim, other);
        }
    }
}

/* Rates of whatever the seeds can affect; the set is what was solved. */
static void solve_rates(struct myr_sim *sim)
{
    sim->solve_mark++;
    sim->set.count = sim->touched.count = 0;
    for (size_t i = 0; i < sim->seeds.count; i++) {
        join_set(sim, sim->seeds.items[i]);
    }
    sim->seeds.count = 0;
    size_t known = 0;
    /* The set only grows, and has at most all transfers under way: this ends. */
    while (sim->set.count > known) {
        for (size_t i = known; i < sim->set.count; i++) {
            sim_update(sim, sim->set.items[i]);
        }
        list_channels(sim, known);
        known = sim->set.count;
        fill(sim);
        for (size_t i = 0; i < sim->touched.count; i++) {
            check_channel(sim, sim->touched.items[i]);
        }
    }
    MYR_SLOW_ASSERT(sim_within_capacity(sim));
}

void sim_solve(struct myr_sim *sim)
{
    solve_rates(sim);
    if (sim->options.pause_permille && sim->graph) {
        sim_pause(sim);
    } else {
        for (size_t i = 0; i < sim->set.count; i++) {
            struct sim_task *task = &sim->tasks.items[sim->set.items[i]];
            task->pace = task->rate;
            sim_push_finish(sim, sim->set.items[i]);
        }
    }
    sim->result.solved += sim->set.count;
}

void myr_sim_fair_rates(struct myr_sim *sim, uint32_t first, uint32_t count, uint64_t *ret_bps)
{
    MYR_ASSERT(first + count <= sim->tasks.count && sim->now == 0);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_task *task = &sim->tasks.items[first + i];
        MYR_ASSERT(task->state == SIM_WAITING);
        if (task->kind == SIM_TRANSFER && pattern_of(sim, task)->use_count) {
            task->state = SIM_MOVING;
            sim_attach(sim, first + i);
            myr_vec_push(&sim->seeds, first + i);
        }
    }
    solve_rates(sim);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_task *task = &sim->tasks.items[first + i];
        ret_bps[i] = task->rate;
        if (task->state == SIM_MOVING) {
            sim_detach(sim, first + i);
        }
        task->state = SIM_WAITING;
        task->rate = 0;
        task->bottleneck = MYR_NONE;
    }
}
