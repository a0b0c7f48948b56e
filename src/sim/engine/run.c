#include <stdlib.h>

#include "engine/internal.h"

/* The event loop: everything that happens at one moment is taken together, then solved once. */

static struct sim_event unpack_event(uint64_t value)
{
    return (struct sim_event){.kind = (uint8_t)(value >> 62),
                              .a = (uint32_t)value,
                              .version = (uint32_t)(value >> 32) & SIM_VERSION_MASK};
}

/* Sorted by the task before, by counting: who ends finds those that wait for it side by side. */
static void list_edges(struct myr_sim *sim)
{
    size_t tasks = sim->tasks.count;
    uint32_t *start = myr_xcalloc(tasks + 2, sizeof(*start));
    MYR_CLEANUP(myr_free_at)
    struct sim_edge *sorted = myr_xcalloc(sim->edges.count, sizeof(*sorted));
    for (size_t i = 0; i < sim->edges.count; i++) {
        start[sim->edges.items[i].before + 2]++;
        sim->tasks.items[sim->edges.items[i].task].waits_for++;
    }
    for (size_t i = 2; i < tasks + 2; i++) {
        start[i] += start[i - 1];
    }
    for (size_t i = 0; i < sim->edges.count; i++) {
        sorted[start[sim->edges.items[i].before + 1]++] = sim->edges.items[i];
    }
    if (sim->edges.count) {
        memcpy(sim->edges.items, sorted, sim->edges.count * sizeof(*sorted));
    }
    MYR_ASSERT(!sim->edge_start && start[tasks] == sim->edges.count);
    sim->edge_start = start;
}

static void start_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    struct sim_event event = {SIM_EVENT_TASK, id, ++task->version};
    myr_ps wait = task->duration;
    MYR_ASSERT(task->state == SIM_WAITING && task->waits_for == 0);
    if (task->kind == SIM_TRANSFER) {
        wait = sim->patterns.items[task->pattern].latency * task->latency_rounds;
    }
    task->start = sim->now;
    task->state = SIM_LATENCY;
    sim_push_event(sim, sim->now + wait, event);
}

static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
    return myr_hash_u64(hash ^ myr_hash_u64(value + UINT64_C(0x9E3779B97F4A7C15)));
}

static void end_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state != SIM_WAITING && task->state != SIM_DONE);
    MYR_ASSERT(sim->result.blocked > 0 && sim->now >= task->start);
    task->state = SIM_DONE;
    task->end = sim->now;
    sim->result.blocked--;
    /* Each task mixes its own number in, so the order of equal times does not matter. */
    sim->result.hash += mix_hash((uint64_t)task->end, id);
    for (uint32_t e = sim->edge_start[id]; e < sim->edge_start[id + 1]; e++) {
        uint32_t next = sim->edges.items[e].task;
        MYR_ASSERT(sim->edges.items[e].before == id && sim->tasks.items[next].waits_for > 0);
        if (--sim->tasks.items[next].waits_for == 0) {
            start_task(sim, next);
        }
    }
}

/* Whoever was held back where this transfer went may now go faster. */
static void seed_neighbours(struct myr_sim *sim, const struct sim_task *task)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        uint32_t id = sim->uses.items[pattern->first_use + u].channel;
        for (uint32_t n = sim->channels[id].first; n != MYR_NONE; n = sim->nodes.items[n].next) {
            uint32_t other = sim->nodes.items[n].task;
            /* Pauses also reach those who are held back elsewhere. */
            if (sim->tasks.items[other].bottleneck == id || sim->options.pause_permille) {
                myr_vec_push(&sim->seeds, other);
            }
        }
    }
}

/* Counts what has moved since it was last counted, on the channels that it moved over. */
static void count_bytes(struct myr_sim *sim, struct sim_task *task)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    uint64_t moved = task->counted_left - task->bits_left;
    MYR_ASSERT(task->bits_left <= task->counted_left && task->counted_left <= task->bits);
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        const struct sim_use *use = &sim->uses.items[pattern->first_use + u];
        sim->channels[use->channel].bytes += /* bits to bytes, and the weight's thousandths */
            (uint64_t)((unsigned __int128)moved * use->weight / 8000);
    }
    task->counted_left = task->bits_left;
}

static void end_transfer(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    MYR_ASSERT(task->state == SIM_MOVING && task->bits_left == 0);
    sim_detach(sim, id); /* first: who has ended is nobody's neighbour */
    seed_neighbours(sim, task);
    count_bytes(sim, task);
    sim->result.transfers++;
    sim->result.flows += pattern->message_count;
    end_task(sim, id);
}

static void task_event(struct myr_sim *sim, uint32_t id, uint32_t version)
{
    struct sim_task *task = &sim->tasks.items[id];
    if ((task->version & SIM_VERSION_MASK) != version || task->state == SIM_DONE) {
        return; /* its rate has changed since */
    }
    if (task->state == SIM_MOVING) {
        sim_update(sim, id);
        MYR_ASSERT(task->bits_left == 0);
        end_transfer(sim, id);
        return;
    }
    /* The latency is over. What has no bytes, or stays on one GPU, is over with it. */
    MYR_ASSERT(task->state == SIM_LATENCY);
    bool moves = task->kind == SIM_TRANSFER && task->bits > 0 &&
                 sim->patterns.items[task->pattern].use_count > 0;
    if (!moves) {
        end_task(sim, id);
        return;
    }
    task->state = SIM_MOVING;
    task->bits_left = task->counted_left = task->bits;
    task->rate = task->pace = 0;
    task->updated = sim->now;
    sim_attach(sim, id);
    myr_vec_push(&sim->seeds, id);
}

static void seed_channel(struct myr_sim *sim, uint32_t channel)
{
    for (uint32_t n = sim->channels[channel].first; n != MYR_NONE; n = sim->nodes.items[n].next) {
        myr_vec_push(&sim->seeds, sim->nodes.items[n].task);
    }
}

static void seed_everyone(struct myr_sim *sim)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].state == SIM_MOVING) {
            myr_vec_push(&sim->seeds, t);
        }
    }
}

static void change_link(struct myr_sim *sim, uint32_t link, uint32_t permille)
{
    MYR_ASSERT(link * 2 + 1 < sim->link_channels && permille <= 1000);
    for (uint32_t way = 0; way < 2; way++) {
        struct sim_channel *channel = &sim->channels[link * 2 + way];
        channel->capacity = channel->full_capacity / 1000 * permille;
        seed_channel(sim, link * 2 + way);
    }
}

/*
 * Changes, or marks in the graph, the fault's link or every link of its device. In two steps,
 * because traffic on a dead link stands still until the routing notices, 'reroute' later.
 */
static void each_link(struct myr_sim *sim, const struct myr_sim_fault *fault, bool mark_graph)
{
    const struct myr_design *design = sim->graph->design;
    uint32_t permille = fault->kind == MYR_FAULT_DOWN      ? 0
                        : fault->kind == MYR_FAULT_DEGRADE ? fault->capacity_permille
                                                           : 1000;
    uint32_t first = 0, end = 1;
    if (fault->link == MYR_NONE) {
        first = design->first_port[fault->device];
        end = design->first_port[fault->device + 1];
    }
    for (uint32_t p = first; p < end; p++) {
        uint32_t link = fault->link == MYR_NONE ? design->port_link[p] : fault->link;
        if (link == MYR_NONE) {
            continue;
        }
        if (mark_graph) {
            myr_graph_set_link(sim->graph, link, fault->kind == MYR_FAULT_DOWN);
        } else {
            change_link(sim, link, permille);
        }
        sim_refresh_pools(sim, link);
    }
    if (sim->options.balance.policy == MYR_POLICY_SPRAY) {
        seed_everyone(sim); /* whoever uses a pool that has changed */
    }
}

static bool pattern_hit(const struct myr_sim *sim, const struct sim_pattern *pattern)
{
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        uint32_t channel = sim->uses.items[pattern->first_use + u].channel;
        if (channel < sim->link_channels && myr_graph_link_dead(sim->graph, channel / 2)) {
            return true;
        }
    }
    return false;
}

/* One byte a pattern: whether it must be routed again. Planned paths are planned as a whole. */
static uint8_t *patterns_to_move(const struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    bool whole = sim->options.balance.policy == MYR_POLICY_PLANNED;
    uint8_t *move = myr_xcalloc(sim->patterns.count, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *batch = myr_xcalloc(sim->batch_count + 1, 1);
    for (uint32_t id = 0; id < sim->patterns.count; id++) {
        const struct sim_pattern *pattern = &sim->patterns.items[id];
        if (pattern->network_flows && (fault->kind == MYR_FAULT_UP || pattern_hit(sim, pattern))) {
            move[id] = 1;
            batch[pattern->batch] = 1;
        }
    }
    for (uint32_t id = 0; whole && id < sim->patterns.count; id++) {
        const struct sim_pattern *pattern = &sim->patterns.items[id];
        move[id] = pattern->network_flows && batch[pattern->batch];
    }
    return move;
}

/* Takes the moving transfers of the marked patterns off their channels, or puts them back on. */
static void move_transfers(struct myr_sim *sim, const uint8_t *move, bool attach)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        struct sim_task *task = &sim->tasks.items[t];
        if (task->kind != SIM_TRANSFER || task->state != SIM_MOVING || !move[task->pattern]) {
            continue;
        }
        if (attach) {
            sim_attach(sim, t);
            myr_vec_push(&sim->seeds, t);
        } else {
            /* In this order: what moved up to now moved at the old rate, over the old channels. */
            sim_update(sim, t);
            sim_detach(sim, t);
            count_bytes(sim, task);
            seed_neighbours(sim, task);
        }
    }
}

/* Together if that works; else one by one, and who has no way left keeps the dead one and waits. */
static int route_batch(struct myr_sim *sim, const uint32_t *ids, uint32_t count,
                       struct myr_err *err)
{
    int rc = sim_route_patterns(sim, ids, count, err);
    if (rc != MYR_ESTALLED) {
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        rc = sim_route_patterns(sim, &ids[i], 1, err);
        if (rc < 0 && rc != MYR_ESTALLED) {
            return rc;
        }
    }
    return MYR_OK;
}

static int route_marked(struct myr_sim *sim, const uint8_t *move, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) ids = {0};
    for (uint32_t batch = 0; batch < sim->batch_count; batch++) {
        ids.count = 0;
        for (uint32_t id = 0; id < sim->patterns.count; id++) {
            if (move[id] && sim->patterns.items[id].batch == batch) {
                myr_vec_push(&ids, id);
            }
        }
        if (ids.count) {
            MYR_TRY(route_batch(sim, ids.items, (uint32_t)ids.count, err));
        }
    }
    return MYR_OK;
}

static int reroute(struct myr_sim *sim, const struct myr_sim_fault *fault, struct myr_err *err)
{
    each_link(sim, fault, true);
    if (sim->options.balance.policy == MYR_POLICY_SPRAY && sim->graph->regular) {
        return MYR_OK; /* the pools have done it */
    }
    MYR_CLEANUP(myr_free_at) uint8_t *move = patterns_to_move(sim, fault);
    move_transfers(sim, move, false);
    MYR_TRY(route_marked(sim, move, err));
    move_transfers(sim, move, true);
    return MYR_OK;
}

static int take_event(struct myr_sim *sim, struct sim_event event, struct myr_err *err)
{
    const struct myr_sim_fault *fault;
    switch (event.kind) {
    /* Numbers of faults and tasks share the event's field: its kind says which list it is of. */
    case SIM_EVENT_FAULT:
        fault = &sim->faults.items[event.a];
        each_link(sim, fault, false);
        if (fault->kind != MYR_FAULT_DEGRADE) {
            struct sim_event later = {SIM_EVENT_REROUTE, event.a, 0};
            sim_push_event(sim, sim->now + fault->reroute, later);
        }
        return MYR_OK;
    case SIM_EVENT_REROUTE:
        return reroute(sim, &sim->faults.items[event.a], err);
    default:
        task_event(sim, event.a, event.version);
        return MYR_OK;
    }
}

/* "GPU 3 to GPU 8 at link/00000012": the first flow of a transfer that stands still, and where. */
static void name_blocked(const struct myr_sim *sim, const struct sim_task *task,
                         struct myr_buf *buf)
{
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    if (pattern->message_count) {
        struct myr_message message = sim->messages.items[pattern->first_message];
        uint32_t ends[] = {message.from, message.to};
        for (uint32_t i = 0; i < 2; i++) {
            bool storage = ends[i] & MYR_MESSAGE_STORAGE;
            myr_buf_printf(buf, "%s%s %u", i ? " to " : "", storage ? "storage" : "GPU",
                           ends[i] & ~MYR_MESSAGE_STORAGE);
        }
    }
    if (pattern->message_count > 1) {
        myr_buf_printf(buf, " and %u more flows", pattern->message_count - 1);
    }
    if (task->bottleneck < sim->link_channels) {
        uint32_t link = task->bottleneck / 2;
        /* An engine without a design counts its links itself. */
        link = sim->graph ? myr_design_link_id(sim->graph->design, link) : link;
        myr_buf_printf(buf, " at link/%08u", link);
    }
}

static int stalled(const struct myr_sim *sim, struct myr_err *err)
{
    enum { SHOWN_MAX = 4 };
    uint32_t standing = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {0};
    double now_us = (double)sim->now / (double)MYR_PS_PER_US;
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].state == SIM_MOVING && standing++ < SHOWN_MAX) {
            myr_buf_puts(&names, standing > 1 ? "; " : "");
            name_blocked(sim, &sim->tasks.items[t], &names);
        }
    }
    if (standing == 0) {
        return myr_err_set(err, MYR_ESTALLED,
                           "nothing can progress at %.3f us: %u tasks wait for each other", now_us,
                           sim->result.blocked);
    }
    return myr_err_set(err, MYR_ESTALLED,
                       "nothing can progress at %.3f us: %u transfers stand still and %u tasks "
                       "wait for them: %s%s",
                       now_us, standing, sim->result.blocked - standing, names.data,
                       standing > SHOWN_MAX ? "; ..." : "");
}

static void start_all(struct myr_sim *sim)
{
    list_edges(sim);
    sim->result.blocked = (uint32_t)sim->tasks.count;
    for (uint32_t i = 0; i < sim->faults.count; i++) {
        struct sim_event event = {SIM_EVENT_FAULT, i, 0};
        sim_push_event(sim, sim->faults.items[i].at, event);
    }
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].waits_for == 0 && sim->tasks.items[t].state == SIM_WAITING) {
            start_task(sim, t);
        }
    }
}

int myr_sim_run(struct myr_sim *sim, myr_sim_progress *progress, void *context,
                struct myr_sim_result *ret, struct myr_err *err)
{
    struct myr_heap_item item;
    MYR_ASSERT(sim->now == 0 && sim->events.count == 0); /* a simulation runs once */
    MYR_TRY(sim_route_deferred(sim, err));
    start_all(sim);
    int rc = MYR_OK;
    uint64_t shown = 0;
    bool more = myr_heap_pop(&sim->events, &item);
    while (more && rc == MYR_OK) {
        MYR_ASSERT(item.key >= sim->now);
        sim->now = item.key;
        while (more && item.key == sim->now && rc == MYR_OK) {
            rc = take_event(sim, unpack_event(item.value), err);
            sim->result.events++;
            more = myr_heap_pop(&sim->events, &item);
        }
        if (sim->seeds.count) {
            /* The event in hand may be stale after solving; that is seen when it is taken. */
            sim_solve(sim);
            if (more) {
                myr_heap_push(&sim->events, item.key, item.value);
            }
            more = myr_heap_pop(&sim->events, &item);
        }
        /* Asking the clock costs more than an event: the caller is told now and then. */
        if (progress && sim->result.events - shown >= 256) {
            shown = sim->result.events;
            progress(context, sim->tasks.count - sim->result.blocked, sim->tasks.count);
        }
        if (sim->result.blocked == 0) {
            break; /* faults after the last task change nothing */
        }
    }
    sim->result.end = sim->now;
    if (rc == MYR_OK && sim->result.blocked) {
        rc = stalled(sim, err);
    }
    MYR_SLOW_ASSERT(rc < 0 || sim_conserved(sim));
    *ret = sim->result;
    return rc;
}
