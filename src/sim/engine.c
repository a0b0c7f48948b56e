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

/*
 * All uplinks of a leaf, and of a pod's spines, are one channel each way when traffic is sprayed.
 * Spraying is even, so the pool is as fast as its slowest link times their number; links that
 * paths avoid do not count.
 */
struct pool {
    uint32_t alive;
    uint64_t least[2]; /* up, down */
};

static void pool_add(const struct myr_sim *sim, uint32_t device, struct pool *pool)
{
    uint32_t count = sim->graph->net->tiers > 1 ? myr_graph_uplink_count(sim->graph, device) : 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t up = myr_graph_uplink(sim->graph, device, k);
        if (myr_graph_link_dead(sim->graph, up / 2)) {
            continue;
        }
        for (uint32_t way = 0; way < 2; way++) {
            uint64_t bps = sim->channels[up ^ way].capacity;
            pool->least[way] = pool->alive && pool->least[way] < bps ? pool->least[way] : bps;
        }
        pool->alive++;
    }
}

static void pool_set(struct myr_sim *sim, bool pod, uint32_t index, const struct pool *pool)
{
    for (uint32_t way = 0; way < 2; way++) {
        struct sim_channel *channel = &sim->channels[sim_pool(sim, pod, index, way)];
        channel->capacity = channel->full_capacity = pool->least[way] * pool->alive;
    }
}

static void refresh_leaf(struct myr_sim *sim, uint32_t leaf)
{
    struct pool pool = {0};
    pool_add(sim, leaf, &pool);
    pool_set(sim, false, leaf - sim->graph->net->first_leaf, &pool);
}

static uint32_t pod_of_spine(const struct myr_sim *sim, uint32_t spine)
{
    struct myr_spot spot = myr_graph_spine_spot(sim->graph, spine);
    return spot.unit * sim->graph->net->pods + spot.pod;
}

static void refresh_pods(struct myr_sim *sim, uint32_t only)
{
    const struct myr_network *net = sim->graph->net;
    uint32_t pods = net->pods * net->planes * (net->units ? net->units : 1);
    struct pool *pools = myr_xcalloc(pods + 1, sizeof(*pools));
    for (uint32_t s = net->first_spine; s < net->first_spine + net->spine; s++) {
        uint32_t pod = pod_of_spine(sim, s);
        if (only == MYR_NONE || pod == only) {
            pool_add(sim, s, &pools[pod]);
        }
    }
    for (uint32_t pod = 0; pod < pods; pod++) {
        if (only == MYR_NONE || pod == only) {
            pool_set(sim, true, pod, &pools[pod]);
        }
    }
    free(pools);
}

static void pool_capacities(struct myr_sim *sim)
{
    const struct myr_network *net = sim->graph->net;
    for (uint32_t c = sim->pool_base; c < sim->channel_count; c++) {
        set_capacity(sim, c, 0);
    }
    if (!sim->graph->clos) {
        return;
    }
    for (uint32_t leaf = 0; leaf < net->leaf; leaf++) {
        refresh_leaf(sim, net->first_leaf + leaf);
    }
    if (net->tiers == 3) {
        refresh_pods(sim, MYR_NONE);
    }
}

void sim_refresh_pools(struct myr_sim *sim, uint32_t link)
{
    const struct myr_design *design = sim->graph->design;
    const struct myr_network *net = sim->graph->net;
    uint32_t device = design->port_device[design->link_a[link]];
    if (!sim->graph->clos) {
        return;
    }
    if (device >= net->first_leaf && device < net->first_leaf + net->leaf) {
        refresh_leaf(sim, device);
    } else if (net->tiers == 3 && device >= net->first_spine &&
               device < net->first_spine + net->spine) {
        refresh_pods(sim, pod_of_spine(sim, device));
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
    free(sim->backed_up);
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
                                  .phase = sim->phase,
                                  .spare_nodes = MYR_NONE};
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&sim->messages, messages[i]);
    }
    myr_vec_push(&sim->patterns, pattern);
    return (uint32_t)sim->patterns.count - 1;
}

void myr_sim_pattern_cyclic(struct myr_sim *sim, uint32_t pattern)
{
    MYR_ASSERT(pattern >= sim->routed_patterns && pattern < sim->patterns.count);
    sim->patterns.items[pattern].cyclic = true;
}

void myr_sim_defer_routing(struct myr_sim *sim)
{
    sim->defer = true;
}

void myr_sim_phase(struct myr_sim *sim, uint32_t phase)
{
    sim->phase = phase;
}

/* Routes the unrouted patterns of one phase, or of all, as one batch. */
static int route_phase(struct myr_sim *sim, uint32_t phase, struct myr_err *err)
{
    MYR_VEC(uint32_t) ids = {0};
    for (uint32_t id = sim->routed_patterns; id < sim->patterns.count; id++) {
        if (phase == MYR_NONE || sim->patterns.items[id].phase == phase) {
            sim->patterns.items[id].batch = sim->batch_count;
            myr_vec_push(&ids, id);
        }
    }
    int r = sim_route_patterns(sim, ids.items, (uint32_t)ids.count, err);
    sim->batch_count++;
    myr_vec_done(&ids);
    return r;
}

int myr_sim_route(struct myr_sim *sim, struct myr_err *err)
{
    if (sim->defer || sim->routed_patterns == sim->patterns.count) {
        return MYR_OK;
    }
    int r = route_phase(sim, MYR_NONE, err);
    sim->routed_patterns = (uint32_t)sim->patterns.count;
    return r;
}

int sim_route_deferred(struct myr_sim *sim, struct myr_err *err)
{
    uint32_t last = 0;
    int r = MYR_OK;
    if (sim->routed_patterns == sim->patterns.count) {
        return MYR_OK;
    }
    for (uint32_t id = sim->routed_patterns; id < sim->patterns.count; id++) {
        uint32_t phase = sim->patterns.items[id].phase;
        last = phase > last ? phase : last;
    }
    for (uint32_t phase = 0; r == MYR_OK && phase <= last; phase++) {
        r = route_phase(sim, phase, err);
    }
    sim->routed_patterns = (uint32_t)sim->patterns.count;
    return r;
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
    MYR_ASSERT(node < design->head->nodes);
    if (!sim->node_slow) {
        sim->node_slow = myr_xcalloc(design->head->nodes, sizeof(*sim->node_slow));
    }
    sim->node_slow[node] = 1000 - permille;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        for (uint32_t way = 0; link != MYR_NONE && way < 2; way++) {
            struct sim_channel *channel = &sim->channels[link * 2 + way];
            channel->capacity = channel->full_capacity = channel->full_capacity / 1000 * permille;
        }
    }
}

uint32_t myr_sim_node_permille(const struct myr_sim *sim, uint32_t node)
{
    return sim->node_slow ? 1000 - sim->node_slow[node] : 1000;
}

uint32_t myr_sim_gpus_per_node(const struct myr_sim *sim)
{
    return sim->graph->design->head->gpus_per_node;
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
