#include "myriad/sim/engine.h"

#include <stdlib.h>

#include "sim_internal.h"

struct myr_sim_options myr_sim_default(void)
{
    return (struct myr_sim_options){
        .balance = {.policy = MYR_POLICY_ECMP_CRC},
        .link_ps = -1,
        .switch_ps = 600 * MYR_PS_PER_NS,
        .scale_up_ps = 500 * MYR_PS_PER_NS,
    };
}

uint32_t sim_scale_up_out(const struct myr_sim *sim, uint32_t gpu)
{
    return sim->scale_up_base + gpu * 2;
}

uint32_t sim_scale_up_in(const struct myr_sim *sim, uint32_t gpu)
{
    return sim->scale_up_base + gpu * 2 + 1;
}

uint32_t sim_pool(const struct myr_sim *sim, bool pod, uint32_t index, bool down)
{
    return sim->pool_base + (pod ? sim->graph->net->leaf * 2 : 0) + index * 2 + down;
}

static uint64_t link_capacity(const struct myr_sim *sim, uint32_t channel)
{
    uint64_t bps = (uint64_t)myr_channel_gbps(sim->graph->design, channel) * 1000000000;
    uint32_t efficiency = sim->options.efficiency_permille;
    return efficiency ? bps / 1000 * efficiency : bps;
}

static void set_capacity(struct myr_sim *sim, uint32_t channel, uint64_t bps)
{
    sim->channels[channel].capacity = sim->channels[channel].full_capacity = bps;
    sim->channels[channel].first = MYR_NONE;
}

/* All uplinks of a leaf, and of a pod's spines, as one channel each way. */
static void pool_capacities(struct myr_sim *sim)
{
    const struct myr_graph *graph = sim->graph;
    const struct myr_network *net = graph->net;
    if (!graph->clos) {
        return;
    }
    for (uint32_t i = 0; i < net->leaf + (net->tiers == 3 ? net->spine : 0); i++) {
        bool leaf = i < net->leaf;
        uint32_t device = leaf ? net->first_leaf + i : net->first_spine + i - net->leaf;
        uint32_t index = i;
        if (!leaf) {
            struct myr_spot spot = myr_graph_spine_spot(graph, device);
            index = spot.unit * net->pods + spot.pod;
        }
        uint32_t count = net->tiers > 1 ? myr_graph_uplink_count(graph, device) : 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t up = myr_graph_uplink(graph, device, k);
            sim->channels[sim_pool(sim, !leaf, index, false)].capacity += link_capacity(sim, up);
            sim->channels[sim_pool(sim, !leaf, index, true)].capacity += link_capacity(sim, up);
        }
    }
    for (uint32_t c = sim->pool_base; c < sim->channel_count; c++) {
        set_capacity(sim, c, sim->channels[c].capacity);
    }
}

struct myr_sim *myr_sim_create(struct myr_graph *graph, const struct myr_sim_options *options)
{
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    const struct myr_design_head *head = graph->design->head;
    uint32_t fabrics = graph->net->planes * (graph->net->units ? graph->net->units : 1);
    sim->graph = graph;
    sim->options = *options;
    sim->link_channels = graph->design->link_count * 2;
    sim->scale_up_base = sim->link_channels;
    sim->pool_base = sim->scale_up_base + head->gpus * 2;
    sim->channel_count =
        sim->pool_base + graph->net->leaf * 2 + (graph->net->pods + 1) * fabrics * 2;
    sim->channels = myr_xcalloc(sim->channel_count, sizeof(*sim->channels));
    sim->residual = myr_xcalloc(sim->channel_count, sizeof(*sim->residual));
    sim->weight = myr_xcalloc(sim->channel_count, sizeof(*sim->weight));
    for (uint32_t c = 0; c < sim->link_channels; c++) {
        set_capacity(sim, c, link_capacity(sim, c));
    }
    uint64_t scale_up = (uint64_t)(head->scale_up_gbps ? head->scale_up_gbps : 1) * 1000000000;
    for (uint32_t c = sim->scale_up_base; c < sim->pool_base; c++) {
        set_capacity(sim, c, scale_up);
    }
    pool_capacities(sim);
    return sim;
}

void myr_sim_free(struct myr_sim *sim)
{
    if (!sim) {
        return;
    }
    free(sim->channels);
    free(sim->residual);
    free(sim->weight);
    free(sim->node_slow);
    free(sim->edge_start);
    myr_vec_done(&sim->messages);
    myr_vec_done(&sim->uses);
    myr_vec_done(&sim->patterns);
    myr_vec_done(&sim->tasks);
    myr_vec_done(&sim->edges);
    myr_vec_done(&sim->nodes);
    myr_vec_done(&sim->faults);
    myr_vec_done(&sim->seeds);
    myr_vec_done(&sim->set);
    myr_vec_done(&sim->touched);
    myr_heap_done(&sim->events);
    free(sim);
}

uint32_t myr_sim_pattern(struct myr_sim *sim, const struct myr_message *messages, uint32_t count)
{
    struct sim_pattern pattern = {.first_message = (uint32_t)sim->messages.count,
                                  .message_count = count,
                                  .spare_nodes = MYR_NONE};
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&sim->messages, messages[i]);
    }
    myr_vec_push(&sim->patterns, pattern);
    return (uint32_t)sim->patterns.count - 1;
}

int myr_sim_route(struct myr_sim *sim, struct myr_err *err)
{
    uint32_t first = sim->routed_patterns;
    sim->routed_patterns = (uint32_t)sim->patterns.count;
    return first == sim->routed_patterns ? MYR_OK : sim_route_patterns(sim, first, err);
}

myr_ps myr_sim_pattern_latency(const struct myr_sim *sim, uint32_t pattern)
{
    MYR_ASSERT(pattern < sim->routed_patterns);
    return sim->patterns.items[pattern].latency;
}

static uint32_t add_task(struct myr_sim *sim, struct sim_task task)
{
    task.bottleneck = MYR_NONE;
    myr_vec_push(&sim->tasks, task);
    return (uint32_t)sim->tasks.count - 1;
}

uint32_t myr_sim_compute(struct myr_sim *sim, myr_ps duration)
{
    return add_task(sim, (struct sim_task){.kind = SIM_COMPUTE, .duration = duration});
}

uint32_t myr_sim_transfer(struct myr_sim *sim, uint32_t pattern, uint64_t bytes,
                          uint32_t latency_rounds)
{
    return add_task(sim, (struct sim_task){.kind = SIM_TRANSFER,
                                           .pattern = pattern,
                                           .latency_rounds = latency_rounds,
                                           .bits = bytes * 8});
}

void myr_sim_after(struct myr_sim *sim, uint32_t task, uint32_t before)
{
    MYR_ASSERT(task < sim->tasks.count && before < sim->tasks.count);
    struct sim_edge edge = {before, task};
    myr_vec_push(&sim->edges, edge);
}

void myr_sim_fault(struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    myr_vec_push(&sim->faults, *fault);
}

void myr_sim_slow_node(struct myr_sim *sim, uint32_t node, uint32_t permille)
{
    const struct myr_design *design = sim->graph->design;
    uint32_t device = design->head->first_node + node;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        for (uint32_t way = 0; link != MYR_NONE && way < 2; way++) {
            struct sim_channel *channel = &sim->channels[link * 2 + way];
            channel->capacity = channel->full_capacity = channel->full_capacity / 1000 * permille;
        }
    }
}

void sim_push_event(struct myr_sim *sim, myr_ps at, struct sim_event event)
{
    uint64_t version = event.version & SIM_VERSION_MASK;
    myr_heap_push(&sim->events, at, (uint64_t)event.kind << 62 | version << 32 | event.a);
}

myr_ps myr_sim_task_start(const struct myr_sim *sim, uint32_t task)
{
    return sim->tasks.items[task].start;
}

myr_ps myr_sim_task_end(const struct myr_sim *sim, uint32_t task)
{
    return sim->tasks.items[task].end;
}

uint32_t myr_sim_task_bottleneck(const struct myr_sim *sim, uint32_t task)
{
    return sim->tasks.items[task].bottleneck;
}

uint32_t myr_sim_task_count(const struct myr_sim *sim)
{
    return (uint32_t)sim->tasks.count;
}

uint64_t myr_sim_channel_bytes(const struct myr_sim *sim, uint32_t channel)
{
    return sim->channels[channel].bytes;
}
