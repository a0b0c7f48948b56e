#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/sim/state.h"

/* The event loop: everything that happens at one moment is taken together, then solved once. */

static struct sim_event unpack_event(uint64_t value)
{
    MYR_ASSERT(value >> 62 <= SIM_EVENT_REROUTE);
    return (struct sim_event){.kind = (uint8_t)(value >> 62), .a = (uint32_t)value};
}

/* All that it waited for is done: its time of computing or its latency begins. */
static void start_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    struct sim_event event = {SIM_EVENT_TASK, id};
    MYR_ASSERT(id < sim->tasks.count);
    __int128 wait = task->duration;
    MYR_ASSERT(task->state == SIM_WAITING);
    MYR_ASSERT(task->waits_for == 0);
    if (task->kind == SIM_TRANSFER) {
        wait = (__int128)sim->patterns.items[task->pattern].latency * task->latency_rounds;
    }
    MYR_ASSERT(wait >= 0);
    task->start = sim->now;
    task->state = SIM_LATENCY;
    if (wait >= SIM_TIME_MAX - sim->now) {
        sim->late_task = id; /* the run ends with this */
        return;
    }
    MYR_ASSERT(task->slot == MYR_NONE);
    sim_push_event(sim, sim->now + (myr_ps)wait, event);
}

/* The constant is 2^64 divided by the golden ratio: it spreads small numbers. */
static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
    return myr_hash_u64(hash ^ myr_hash_u64(value + UINT64_C(0x9E3779B97F4A7C15)));
}

/* Whoever waits for it may start at this very moment. */
static void end_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state != SIM_WAITING);
    MYR_ASSERT(task->state != SIM_DONE);
    MYR_ASSERT(sim->result.blocked > 0);
    MYR_ASSERT(sim->now >= task->start);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->waits_for == 0); /* it is off its channels */
    task->state = SIM_DONE;
    task->end = sim->now;
    sim->result.blocked--;
    /* Each task mixes its own number in, so the order of equal times does not matter. */
    sim->result.hash += mix_hash((uint64_t)task->end, id);
    for (uint32_t e = sim->edge_start[id]; e < sim->edge_start[id + 1]; e++) {
        struct sim_edge edge = sim->edges.items[e];
        struct sim_task *next = &sim->tasks.items[edge.task];
        MYR_ASSERT(edge.before == id);
        MYR_ASSERT((edge.moves ? next->moves_after : next->waits_for) > 0);
        if (edge.moves) {
            next->moves_after--;
            if (next->moves_after == 0 && next->state == SIM_READY) {
                /* As an event of this moment: what ends now has left its channels by then. */
                sim_push_event(sim, sim->now, (struct sim_event){SIM_EVENT_TASK, edge.task});
            }
        } else if (--next->waits_for == 0) {
            start_task(sim, edge.task);
        }
    }
}

/* Counts what has moved since it was last counted, on the channels that it moved over. */
static void count_bytes(struct myr_sim *sim, uint32_t slot)
{
    struct sim_slot *own = &sim->slots.items[slot];
    sim_moved left = sim_left(sim, slot);
    MYR_ASSERT(left <= own->counted);
    uint64_t bits = (uint64_t)((own->counted - left) / SIM_MOVED_PER_BIT);
    bits -= left ? bits % 8 : 0; /* whole bytes; the rest is counted next time */
    struct sim_way way = sim->ways.items[slot];
    for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
        const struct sim_hop *hop = &sim->hops.items[i];
        if (i + SIM_AHEAD < way.first_hop + way.hop_count) {
            __builtin_prefetch(&sim->channels[hop[SIM_AHEAD].channel].bytes, 1);
        }
        sim->channels[hop->channel].bytes += /* bits to bytes, and the weight's thousandths */
            (uint64_t)((unsigned __int128)bits * hop->weight / 8000);
    }
    own->counted -= (sim_moved)bits * SIM_MOVED_PER_BIT;
    MYR_ASSERT(own->counted - left < 8 * SIM_MOVED_PER_BIT); /* less than a byte is left out */
}

/* Its holder's level rises when it goes: the next solve must look there. */
static void touch_holder(struct myr_sim *sim, uint32_t slot)
{
    uint32_t holder = sim->ways.items[slot].holder;
    MYR_ASSERT(holder == MYR_NONE || holder < sim->channel_count); /* loose: only in a solve */
    if (holder != MYR_NONE) {
        sim_touch(sim, holder);
    }
}

/* Counted before it is detached: afterwards nothing tells which channels it went over. */
static void end_transfer(struct myr_sim *sim, uint32_t slot)
{
    MYR_ASSERT(slot < sim->slots.count);
    uint32_t id = sim->slots.items[slot].task;
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state == SIM_MOVING);
    MYR_ASSERT(task->slot == slot);
    touch_holder(sim, slot);
    sim->slots.items[slot].target = 0; /* but for a part of a picosecond it has all arrived */
    count_bytes(sim, slot);
    sim_detach(sim, slot);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->bottleneck < sim->channel_count);
    sim->result.transfers++;
    sim->result.flows += sim->patterns.items[task->pattern].message_count;
    end_task(sim, id);
}

/* The latency is over. What has no bytes, or stays on one GPU, is over with it. */
static void task_event(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state == SIM_LATENCY || task->state == SIM_READY);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->waits_for == 0);
    if (task->moves_after) {
        task->state = SIM_READY;
        return;
    }
    bool moves = task->kind == SIM_TRANSFER && task->bits > 0 &&
                 sim->patterns.items[task->pattern].use_count > 0;
    if (!moves) {
        end_task(sim, id);
        return;
    }
    task->state = SIM_MOVING;
    sim_attach(sim, id, (sim_moved)task->bits * SIM_MOVED_PER_BIT);
    MYR_ASSERT(sim->slots.items[task->slot].task == id); /* the two name each other */
}

/* Both ways, as a part of what the link has without faults; zero stops whoever uses it. */
static void change_link(struct myr_sim *sim, uint32_t link, uint32_t permille)
{
    MYR_ASSERT(link * 2 + 1 < sim->link_channels);
    MYR_ASSERT(permille <= 1000);
    for (uint32_t way = 0; way < 2; way++) {
        struct sim_channel *channel = &sim->channels[link * 2 + way];
        sim_set_capacity(sim, link * 2 + way, channel->full_capacity / 1000 * permille);
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
    MYR_ASSERT((fault->link == MYR_NONE) != (fault->device == MYR_NONE));
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
}

/* Whether any of its paths goes over a link that is known to be dead. */
static bool pattern_hit(const struct myr_sim *sim, const struct sim_pattern *pattern)
{
    MYR_ASSERT(pattern->first_use + pattern->use_count <= sim->uses.count);
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
    /* A link that comes back may be better for anybody: then all are routed again. */
    bool whole = sim->options.balance.policy == MYR_POLICY_PLANNED;
    uint8_t *move = myr_xcalloc(sim->patterns.count, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *batch = myr_xcalloc(sim->batch_count + 1, 1);
    for (uint32_t id = 0; id < sim->patterns.count; id++) {
        const struct sim_pattern *pattern = &sim->patterns.items[id];
        MYR_ASSERT(pattern->batch <= sim->batch_count);
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

/* A transfer that is taken off its channels, until its pattern has been routed again. */
struct waiting {
    uint32_t task;
    sim_moved left;
};

struct waiting_list {
    struct waiting *items;
    size_t count, capacity;
};

/* Takes the moving transfers of the marked patterns off their channels. */
static void take_off(struct myr_sim *sim, const uint8_t *move, struct waiting_list *waiting)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        if (task->kind == SIM_TRANSFER && task->state == SIM_MOVING && move[task->pattern]) {
            uint32_t slot = task->slot;
            MYR_ASSERT(slot < sim->slots.count);
            MYR_ASSERT(sim->slots.items[slot].task == t);
            /* In this order: what moved up to now moved over the old channels. */
            touch_holder(sim, slot);
            MYR_ASSERT(sim->touched.count > 0 || sim->ways.items[slot].holder == MYR_NONE);
            struct waiting one = {t, sim_left(sim, slot)};
            count_bytes(sim, slot);
            sim_detach(sim, slot);
            myr_vec_push(waiting, one);
        }
    }
    MYR_ASSERT(waiting->count <= sim->free_slots.count); /* each has given its slot back */
}

/* Together if that works; else one by one, and who has no way left keeps the dead one and waits. */
static int route_batch(struct myr_sim *sim, const uint32_t *ids, uint32_t count,
                       struct myr_err *err)
{
    MYR_ASSERT(count > 0);
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

/* Batch by batch, as they were routed first: what runs at the same time is balanced together. */
static int route_marked(struct myr_sim *sim, const uint8_t *move, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) ids = {};
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

/* The routing has noticed: what is hit changes its way, with what is left of it. */
static int reroute(struct myr_sim *sim, const struct myr_sim_fault *fault, struct myr_err *err)
{
    each_link(sim, fault, true);
    if (sim->options.balance.policy == MYR_POLICY_SPRAY && sim->graph->regular) {
        return MYR_OK; /* the pools have done it */
    }
    MYR_CLEANUP(myr_free_at) uint8_t *move = patterns_to_move(sim, fault);
    MYR_CLEANUP(myr_vec_free_at) struct waiting_list waiting = {};
    take_off(sim, move, &waiting);
    MYR_TRY(route_marked(sim, move, err));
    for (size_t i = 0; i < waiting.count; i++) {
        sim_attach(sim, waiting.items[i].task, waiting.items[i].left);
    }
    return MYR_OK;
}

/* A fault changes capacities at once; paths follow when the routing has noticed. */
static int take_event(struct myr_sim *sim, struct sim_event event, struct myr_err *err)
{
    const struct myr_sim_fault *fault;
    MYR_ASSERT(event.a < (event.kind == SIM_EVENT_TASK ? sim->tasks.count : sim->faults.count));
    switch (event.kind) {
    /* Numbers of faults and tasks share the event's field: its kind says which list it is of. */
    case SIM_EVENT_FAULT:
        fault = &sim->faults.items[event.a];
        each_link(sim, fault, false);
        if (fault->kind != MYR_FAULT_DEGRADE) {
            struct sim_event later = {SIM_EVENT_REROUTE, event.a};
            sim_push_event(sim, sim->now + fault->reroute, later);
        }
        return MYR_OK;
    case SIM_EVENT_REROUTE:
        return reroute(sim, &sim->faults.items[event.a], err);
    default:
        task_event(sim, event.a);
        return MYR_OK;
    }
}

/* Faults first: of equal times they come before tasks. */
static void start_all(struct myr_sim *sim)
{
    MYR_ASSERT(sim->slots.count == sim->free_slots.count);
    MYR_ASSERT(sim->result.transfers == 0);
    sim->result.blocked = (uint32_t)sim->tasks.count;
    for (uint32_t i = 0; i < sim->faults.count; i++) {
        struct sim_event event = {SIM_EVENT_FAULT, i};
        sim_push_event(sim, sim->faults.items[i].at, event);
    }
    MYR_ASSERT(sim->events.count == sim->faults.count);
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].waits_for == 0 && sim->tasks.items[t].state == SIM_WAITING) {
            start_task(sim, t);
        }
    }
}

/* When the next thing happens; SIM_TIME_MAX when nothing does. */
static myr_ps next_time(struct myr_sim *sim)
{
    myr_ps next = sim->events.count ? sim->events.items[0].key : SIM_TIME_MAX;
    myr_ps end = sim_paused(sim) ? sim_pause_next(sim) : sim_finish_next(sim);
    MYR_ASSERT(end >= sim->now);
    MYR_ASSERT(next >= sim->now);
    return end < next ? end : next;
}

/* All those of the channel that have arrived by now. */
static void finish_channel(struct myr_sim *sim, uint32_t id)
{
    MYR_ASSERT(sim->finish_place[id] == 0);
    MYR_ASSERT(sim->finish_at[id] <= sim->now);
    sim_finish_drop(sim, id);
    sim_touch(sim, id);
    sim_change(sim, id); /* it goes back into the heap */
    while (sim->channels[id].held && sim_arrived(sim, sim_first_held(sim, id))) {
        end_transfer(sim, sim_first_held(sim, id));
        sim->result.events++;
    }
    MYR_ASSERT(sim->finish_place[id] == MYR_NONE); /* until the next solve */
}

/* All are looked at: with pauses no channel's clock can tell who arrives first. */
static void finish_paused(struct myr_sim *sim)
{
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        const struct sim_slot *own = &sim->slots.items[slot];
        if (own->task != MYR_NONE && own->target <= SIM_PS_PART_OF(own->pace)) {
            end_transfer(sim, slot);
            sim->result.events++;
        }
    }
}

/* Everything that happens now; what ends may start what begins at once. */
static int take_moment(struct myr_sim *sim, struct myr_err *err)
{
    struct myr_heap_item item;
    if (sim_paused(sim)) {
        finish_paused(sim);
    }
    /* Ends before starts: who begins at this moment finds the channels free. */
    while (sim_finish_next(sim) <= sim->now) {
        finish_channel(sim, sim->finish.items[0]);
    }
    while (sim->events.count && sim->events.items[0].key == sim->now) {
        myr_heap_pop(&sim->events, &item);
        MYR_TRY(take_event(sim, unpack_event(item.value), err));
        sim->result.events++;
    }
    /* All of this moment is taken: what begins at once was an event of it. */
    MYR_ASSERT(sim->events.count == 0 || sim->events.items[0].key > sim->now);
    return MYR_OK;
}

/* Tells a run that is too long from one in which nothing can progress. */
static bool anybody_moves(const struct myr_sim *sim)
{
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE && sim_rate(sim, slot) > 0) {
            return true;
        }
    }
    return false;
}

/* What every channel has carried since the last interval; the one at hand ends now. */
static void take_sample(struct myr_sim *sim)
{
    if (!sim->sampled) {
        sim->sampled = myr_xcalloc(sim->channel_count, sizeof(*sim->sampled));
    }
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE) {
            count_bytes(sim, slot);
        }
    }
    /* Only channels that carried something have a row. */
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        MYR_SLOW_ASSERT(sim->sampled[c] <= sim->channels[c].bytes);
        uint64_t bytes = sim->channels[c].bytes - sim->sampled[c];
        if (bytes) {
            struct sim_sample sample = {sim->ticks, c, bytes};
            myr_vec_push(&sim->samples, sample);
            sim->sampled[c] = sim->channels[c].bytes;
        }
    }
    sim->ticks++;
}

/* The intervals that end before the next thing happens. */
static int sample_until(struct myr_sim *sim, myr_ps next, struct myr_err *err)
{
    enum { TICKS_MAX = 100000, SAMPLES_MAX = 50000000 };
    myr_ps step = sim->options.series_ps;
    while (step && (myr_ps)(sim->ticks + 1) * step <= next) {
        if (sim->ticks == TICKS_MAX || sim->samples.count > SAMPLES_MAX) {
            return myr_err_set(err, MYR_ERANGE,
                               "the time series has more than %d intervals or %d rows; give a "
                               "longer interval",
                               TICKS_MAX, SAMPLES_MAX);
        }
        MYR_ASSERT((myr_ps)(sim->ticks + 1) * step > sim->now);
        /* The clock goes to the end of the interval, which is not after the next event. */
        sim->now = (myr_ps)(sim->ticks + 1) * step;
        if (sim_paused(sim)) {
            sim_pause_advance(sim);
        }
        take_sample(sim);
    }
    return MYR_OK;
}

/* Up to this moment; 'blocked' tells whether anything is left. */
static int run_all(struct myr_sim *sim, myr_ps until, myr_sim_progress *progress, void *context,
                   struct myr_err *err)
{
    uint64_t shown = sim->result.events;
    while (sim->result.blocked) { /* faults after the last task change nothing */
        myr_ps next = next_time(sim);
        if (sim->late_task != MYR_NONE || (next == SIM_TIME_MAX && anybody_moves(sim))) {
            return sim_too_late(sim, err);
        }
        if (next == SIM_TIME_MAX) {
            return sim_stalled(sim, err);
        }
        MYR_ASSERT(next >= sim->now);
        MYR_ASSERT(sim->result.blocked <= sim->tasks.count);
        /*
         * The clock stays at the last event: a run that goes on does so as if it had not stopped.
         */
        if (next > until) {
            return MYR_OK;
        }
        MYR_TRY(sample_until(sim, next, err));
        sim->now = next;
        if (sim_paused(sim)) {
            sim_pause_advance(sim);
        }
        MYR_TRY(take_moment(sim, err));
        if (sim->touched.count) {
            sim_solve(sim);
        }
        MYR_ASSERT(sim->touched.count == 0);
        MYR_ASSERT(sim->changed.count == 0);
        /* Asking the clock costs more than an event: the caller is told now and then. */
        if (progress && sim->result.events - shown >= 256) {
            shown = sim->result.events;
            progress(context, sim->tasks.count - sim->result.blocked, sim->tasks.count);
        }
    }
    return MYR_OK;
}

/* Once: what was stopped and goes on, and what was loaded, has begun already. */
static int begin(struct myr_sim *sim, struct myr_err *err)
{
    if (sim->edge_start) {
        return MYR_OK; /* stopped before, or loaded */
    }
    MYR_ASSERT(sim->now == 0);
    MYR_ASSERT(sim->events.count == 0);
    MYR_TRY(sim_prepare(sim, err));
    sim_bounds(sim);
    sim_solve(sim); /* what was changed before the run, slow nodes, is settled at time 0 */
    start_all(sim);
    MYR_ASSERT(sim->result.blocked ==
               sim->tasks.count); /* nothing is over before the first moment */
    return MYR_OK;
}

/* Everything up to this moment has happened, the moment itself included. */
int myr_sim_run_until(struct myr_sim *sim, myr_ps at, bool *ret_over, struct myr_err *err)
{
    MYR_TRY(begin(sim, err));
    MYR_TRY(run_all(sim, at, NULL, NULL, err));
    *ret_over = sim->result.blocked == 0;
    return MYR_OK;
}

int myr_sim_run(struct myr_sim *sim, myr_sim_progress *progress, void *context,
                struct myr_sim_result *ret, struct myr_err *err)
{
    MYR_TRY(begin(sim, err));
    int rc = run_all(sim, SIM_TIME_MAX, progress, context, err);
    sim->result.end = sim->now;
    if (sim->options.series_ps) {
        take_sample(sim); /* what is left of the last interval */
    }
    *ret = sim->result;
    /* A state is input: what would be a bug of the engine elsewhere is a wrong file here. */
    if (rc >= 0 && sim->resumed && !(sim_conserved(sim) && sim_above_bounds(sim))) {
        return myr_err_set(err, MYR_ECORRUPT,
                           "the state that was loaded is wrong: the run ends before it can");
    }
    MYR_ASSERT(rc < 0 || sim_at_rest(sim));
    MYR_SLOW_ASSERT(rc < 0 || sim_conserved(sim));
    MYR_ASSERT(rc < 0 || sim_above_bounds(sim));
    return rc;
}
