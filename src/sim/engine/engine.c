#include "myriad/sim/engine.h"

#include <stdlib.h>

#include "engine/internal.h"

/*
 * Building a simulation: patterns, tasks and faults are only listed here, in the order in which
 * they are asked for; ids are places in these lists. Nothing moves before the run (run.c).
 */

/* Three corrections of the fluid (efficiency, sharing loss, pauses) are off unless asked for. */
struct myr_sim_options myr_sim_default(void)
{
    return (struct myr_sim_options){
        .balance = {.policy = MYR_POLICY_ECMP_CRC},
        /* Negative: by the length of the planned cable. */
        .link_ps = -1,
        .switch_ps = 600 * MYR_PS_PER_NS,
        .scale_up_ps = 500 * MYR_PS_PER_NS,
    };
}

struct myr_sim *myr_sim_create(struct myr_graph *graph, const struct myr_sim_options *options)
{
    MYR_ASSERT(graph->design);
    MYR_ASSERT(graph->net);
    /* Parts of a whole: what is lost is never more than there is. */
    MYR_ASSERT(options->efficiency_permille <= 1000);
    MYR_ASSERT(options->sharing_loss_permille <= 1000);
    MYR_ASSERT(options->pause_permille <= 1000);
    MYR_ASSERT(options->series_ps >= 0);
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    const struct myr_design_head *head = graph->design->head;
    /* Planes, and within each the rails that are not joined, are fabrics of their own. */
    uint32_t fabrics = graph->net->planes * (graph->net->units ? graph->net->units : 1);
    sim->transport = &sim_fluid;
    sim->graph = graph;
    /* A copy: the caller's may be gone before the run. */
    sim->options = *options;
    /* Ids of channels: two a link, then two a GPU, then two a leaf and two a pod of each fabric. */
    sim->link_channels = graph->design->link_count * 2;
    sim->scale_up_base = sim->link_channels;
    sim->pool_base = sim->scale_up_base + head->gpus * 2;
    sim->channel_count =
        sim->pool_base + graph->net->leaf * 2 + (graph->net->pods + 1) * fabrics * 2;
    MYR_ASSERT(sim->scale_up_base <= sim->pool_base);
    MYR_ASSERT(sim->pool_base <= sim->channel_count);
    sim_channels_make(sim);
    return sim;
}

/* NULL, and an engine that is only half built, are fine. */
void myr_sim_free(struct myr_sim *sim)
{
    if (!sim) {
        return;
    }
    if (sim->transport) {
        sim->transport->done(sim);
    }
    free(sim->channels);
    free(sim->fills);
    free(sim->bonds);
    free(sim->finish_place);
    free(sim->finish_at);
    free(sim->node_slow);
    free(sim->edge_start);
    free(sim->backed_up);
    myr_vec_done(&sim->messages);
    myr_vec_done(&sim->uses);
    myr_vec_done(&sim->patterns);
    myr_vec_done(&sim->paths);
    myr_vec_done(&sim->path_channels);
    myr_vec_done(&sim->samples);
    myr_vec_done(&sim->given);
    myr_vec_done(&sim->given_channels);
    myr_u64map_done(&sim->given_rows);
    free(sim->sampled);
    myr_vec_done(&sim->tasks);
    myr_vec_done(&sim->edges);
    myr_vec_done(&sim->faults);
    myr_vec_done(&sim->slots);
    myr_vec_done(&sim->ways);
    myr_vec_done(&sim->free_slots);
    myr_vec_done(&sim->hops);
    myr_vec_done(&sim->hop_places);
    myr_vec_done(&sim->changed);
    myr_vec_done(&sim->overfull);
    myr_vec_done(&sim->held_back);
    myr_vec_done(&sim->short_of);
    myr_vec_done(&sim->entries);
    myr_vec_done(&sim->ties);
    for (uint32_t i = 0; i < SIM_CLASSES; i++) {
        myr_vec_done(&sim->free_hops.blocks[i]);
        myr_vec_done(&sim->free_entries.blocks[i]);
        myr_vec_done(&sim->free_ties.blocks[i]);
    }
    myr_vec_done(&sim->finish);
    myr_vec_done(&sim->touched);
    myr_vec_done(&sim->fill_heap);
    myr_heap_done(&sim->events);
    free(sim);
}

/* Before the first pattern, or the first ones would have none. */
void myr_sim_keep_paths(struct myr_sim *sim)
{
    MYR_ASSERT(sim->patterns.count == 0);
    sim->keep_paths = true;
}

/* Messages are copied; paths are found later, together with those of other patterns. */
uint32_t myr_sim_pattern(struct myr_sim *sim, const struct myr_message *messages, uint32_t count)
{
    struct sim_pattern pattern = {.first_message = (uint32_t)sim->messages.count,
                                  .message_count = count,
                                  .phase = sim->phase};
    MYR_ASSERT(!sim->edge_start); /* what runs is not added to */
    for (uint32_t i = 0; i < count; i++) {
        MYR_SLOW_ASSERT(sim_is_end(sim, messages[i].from));
        MYR_SLOW_ASSERT(sim_is_end(sim, messages[i].to));
        myr_vec_push(&sim->messages, messages[i]);
    }
    MYR_ASSERT(sim->routed_patterns <= sim->patterns.count); /* this one is not yet */
    MYR_ASSERT(sim->messages.count - pattern.first_message == count);
    myr_vec_push(&sim->patterns, pattern);
    return (uint32_t)sim->patterns.count - 1;
}

/* Before it is routed: what a round costs is worked out with the path. */
void myr_sim_pattern_cyclic(struct myr_sim *sim, uint32_t pattern)
{
    MYR_ASSERT(pattern >= sim->routed_patterns);
    MYR_ASSERT(pattern < sim->patterns.count);
    MYR_ASSERT(!sim->edge_start);
    sim->patterns.items[pattern].cyclic = true;
}

void myr_sim_defer_routing(struct myr_sim *sim)
{
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(sim->routed_patterns == 0); /* all of them, or none */
    sim->defer = true;
}

void myr_sim_phase(struct myr_sim *sim, uint32_t phase)
{
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(phase != MYR_NONE); /* which stands for all of them */
    sim->phase = phase;
}

myr_ps myr_sim_pattern_latency(const struct myr_sim *sim, uint32_t pattern)
{
    MYR_ASSERT(pattern < sim->routed_patterns);
    return sim->patterns.items[pattern].latency;
}

/* MYR_NONE / 2: an edge has 31 bits for a task, the last one says of what kind it is. */
static uint32_t add_task(struct myr_sim *sim, struct sim_task task)
{
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(sim->tasks.count < MYR_NONE / 2);
    task.bottleneck = task.slot = MYR_NONE;
    myr_vec_push(&sim->tasks, task);
    return (uint32_t)sim->tasks.count - 1;
}

uint32_t myr_sim_compute(struct myr_sim *sim, myr_ps duration)
{
    MYR_ASSERT(duration >= 0);
    return add_task(sim, (struct sim_task){.kind = SIM_COMPUTE, .duration = duration});
}

uint32_t myr_sim_transfer(struct myr_sim *sim, uint32_t pattern, uint64_t bytes,
                          uint32_t latency_rounds)
{
    MYR_ASSERT(pattern < sim->patterns.count);
    return add_task(sim, (struct sim_task){.kind = SIM_TRANSFER,
                                           .pattern = pattern,
                                           .latency_rounds = latency_rounds,
                                           .bits = bytes * 8});
}

void myr_sim_after(struct myr_sim *sim, uint32_t task, uint32_t before)
{
    MYR_ASSERT(task < sim->tasks.count);
    MYR_ASSERT(before < sim->tasks.count);
    MYR_ASSERT(!sim->edge_start); /* sorted once, when the run starts */
    struct sim_edge edge = {before, task & INT32_MAX, false};
    myr_vec_push(&sim->edges, edge);
}

void myr_sim_follows(struct myr_sim *sim, uint32_t task, uint32_t before)
{
    MYR_ASSERT(task < sim->tasks.count);
    MYR_ASSERT(before < sim->tasks.count);
    MYR_ASSERT(!sim->edge_start);
    struct sim_edge edge = {before, task & INT32_MAX, true};
    myr_vec_push(&sim->edges, edge);
}

void myr_sim_fault(struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    /* A fault names a link or a device, never both. */
    MYR_ASSERT(fault->link == MYR_NONE ? fault->device < sim->graph->design->device_count
                                       : fault->link < sim->link_channels / 2);
    MYR_ASSERT(fault->link == MYR_NONE || fault->device == MYR_NONE);
    MYR_ASSERT(fault->kind <= MYR_FAULT_UP);
    MYR_ASSERT(fault->capacity_permille <= 1000);
    /* Within the clock, also when the routing has noticed. */
    MYR_ASSERT(fault->at >= 0);
    MYR_ASSERT(fault->at < SIM_TIME_MAX);
    MYR_ASSERT(fault->reroute >= 0);
    MYR_ASSERT(fault->reroute < SIM_TIME_MAX - fault->at);
    MYR_ASSERT(!sim->edge_start);
    myr_vec_push(&sim->faults, *fault);
}

/* Before the run. Both ways of each of its links, and its computing (workload/step.c). */
void myr_sim_slow_node(struct myr_sim *sim, uint32_t node, uint32_t permille)
{
    const struct myr_design *design = sim->graph->design;
    uint32_t device = design->head->first_node + node;
    MYR_ASSERT(node < design->head->nodes);
    MYR_ASSERT(permille <= 1000);
    MYR_ASSERT(!sim->edge_start);
    /* Made with the first slow node: most runs have none. */
    if (!sim->node_slow) {
        sim->node_slow = myr_xcalloc(design->head->nodes, sizeof(*sim->node_slow));
    }
    /* Kept as what is missing, so that a zeroed row is a node at full speed. */
    sim->node_slow[node] = 1000 - permille;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        for (uint32_t way = 0; link != MYR_NONE && way < 2; way++) {
            MYR_ASSERT(link < sim->link_channels / 2);
            struct sim_channel *channel = &sim->channels[link * 2 + way];
            uint64_t bps = channel->full_capacity / 1000 * permille;
            sim_set_capacity(sim, link * 2 + way, bps);
            /* Full speed as well: a fault that ends gives back the slow NIC, not a fast one. */
            channel->full_capacity = bps;
        }
    }
}

uint32_t myr_sim_node_permille(const struct myr_sim *sim, uint32_t node)
{
    MYR_ASSERT(node < sim->graph->design->head->nodes);
    MYR_ASSERT(!sim->node_slow || sim->node_slow[node] <= 1000);
    return sim->node_slow ? 1000 - sim->node_slow[node] : 1000;
}

uint32_t myr_sim_gpus_per_node(const struct myr_sim *sim)
{
    return sim->graph->design->head->gpus_per_node;
}

myr_ps myr_sim_task_start(const struct myr_sim *sim, uint32_t task)
{
    MYR_ASSERT(task < sim->tasks.count);
    return sim->tasks.items[task].start;
}

myr_ps myr_sim_task_end(const struct myr_sim *sim, uint32_t task)
{
    MYR_ASSERT(task < sim->tasks.count);
    return sim->tasks.items[task].end;
}

uint32_t myr_sim_task_bottleneck(const struct myr_sim *sim, uint32_t task)
{
    MYR_ASSERT(task < sim->tasks.count);
    return sim->tasks.items[task].bottleneck;
}

uint32_t myr_sim_task_count(const struct myr_sim *sim)
{
    return (uint32_t)sim->tasks.count;
}

uint64_t myr_sim_channel_bytes(const struct myr_sim *sim, uint32_t channel)
{
    MYR_ASSERT(channel < sim->channel_count);
    return sim->channels[channel].bytes;
}
