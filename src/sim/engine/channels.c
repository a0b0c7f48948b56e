#include <stdlib.h>
#include <sys/mman.h>

#include "engine/internal.h"

/* Channels beyond the links' own: into and out of scale-up domains, and pools of uplinks. */

/* Two channels a GPU: out of it first, then into it. */
uint32_t sim_scale_up_out(const struct myr_sim *sim, uint32_t gpu)
{
    uint32_t id = sim->scale_up_base + gpu * 2;
    MYR_ASSERT(id >= sim->scale_up_base);
    MYR_ASSERT(id < sim->pool_base); /* no storage server is one */
    return id;
}

uint32_t sim_scale_up_in(const struct myr_sim *sim, uint32_t gpu)
{
    uint32_t id = sim->scale_up_base + gpu * 2 + 1;
    MYR_ASSERT(id > sim->scale_up_base);
    MYR_ASSERT(id < sim->pool_base);
    return id;
}

/* Leaves first, then pods; up before down. */
uint32_t sim_pool(const struct myr_sim *sim, bool pod, uint32_t index, bool down)
{
    uint32_t id = sim->pool_base + (pod ? sim->graph->net->leaf * 2 : 0) + index * 2 + down;
    MYR_ASSERT(id < sim->channel_count);
    return id;
}

/* Of efficiency 0 nothing was said: all of the line rate is payload. */
static uint64_t link_capacity(const struct myr_sim *sim, uint32_t channel)
{
    MYR_ASSERT(channel < sim->link_channels);
    uint64_t bps = (uint64_t)myr_channel_gbps(sim->graph->design, channel) * 1000000000;
    uint32_t efficiency = sim->options.efficiency_permille;
    MYR_ASSERT(efficiency <= 1000);
    return efficiency ? bps / 1000 * efficiency : bps;
}

/* Before anything moves: nobody has to be solved again. */
static void first_capacity(struct myr_sim *sim, uint32_t channel, uint64_t bps)
{
    struct sim_channel *own = &sim->channels[channel];
    MYR_ASSERT(channel < sim->channel_count);
    MYR_ASSERT(sim->now == 0);
    MYR_ASSERT(own->entry_count == 0);
    MYR_ASSERT(own->wanted == 0 && sim->fills[channel].loose_weight == 0);
    own->capacity = own->full_capacity = bps;
    own->counted_capacity = (__int128)bps * SIM_RATE_PER_BPS * 1000;
    sim->fills[channel].room = own->counted_capacity;
}

/* Under way: whoever uses the channel is solved again. */
void sim_set_capacity(struct myr_sim *sim, uint32_t channel, uint64_t bps)
{
    MYR_ASSERT(channel < sim->channel_count);
    sim_touch(sim, channel);
    sim->channels[channel].capacity = bps;
    sim_recapacity(sim, channel);
}

/*
 * From the beginning of a line of the cache: no row is in more of them than it needs. Not zeroed:
 * whoever fills the rows does that with them in the cache. Of a large fabric all rows are gone
 * through at random, and first touched in a run that may be over in some milliseconds: pages as
 * large as the system has them, but for the last part, so that no memory is taken for nothing.
 */
static void *rows_in_lines(size_t count, size_t size)
{
    enum { LINE = 64, LARGE_PAGE = 2 << 20 };
    MYR_ASSERT(size <= LINE * 2);
    MYR_ASSERT(count <= SIZE_MAX / LINE / 4);
    /* Whole lines, and never none; not aligned_alloc(), which wants whole pages as well. */
    size_t bytes = (count * size / LINE + 1) * LINE;
    size_t large = bytes / LARGE_PAGE * LARGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, large ? LARGE_PAGE : LINE, bytes) != 0) {
        memory = NULL;
    }
    if (memory && large) {
        (void)madvise(memory, large, MADV_HUGEPAGE); /* advice: small ones do as well */
    }
    return memory ? memory : myr_xcalloc(count, size);
}

/* Every channel is empty, in no heap, and holds nobody. */
void sim_channels_open(struct myr_sim *sim, uint32_t count)
{
    MYR_ASSERT(!sim->channels);
    MYR_ASSERT(!sim->fills);
    MYR_ASSERT(!sim->bonds);
    MYR_ASSERT(sim->touched.count == 0);
    sim->channel_count = count;
    sim->channels = rows_in_lines(count, sizeof(*sim->channels));
    sim->fills = rows_in_lines(count, sizeof(*sim->fills));
    sim->bonds = myr_xcalloc(count, sizeof(*sim->bonds));
    sim->finish_place = myr_xcalloc(count, sizeof(*sim->finish_place));
    sim->finish_at = myr_xcalloc(count, sizeof(*sim->finish_at));
    for (uint32_t c = 0; c < count; c++) {
        /* No block yet, nobody reserved, and in no heap; a level without anybody held is "none". */
        sim->channels[c] = (struct sim_channel){.first_entry = MYR_NONE};
        sim->fills[c] =
            (struct sim_fill){.place = MYR_NONE, .level = SIM_RATE_NONE, .fastest = SIM_RATE_NONE};
        sim->bonds[c] = (struct sim_bond){.first_tie = MYR_NONE, .least_reserved = SIM_RATE_NONE};
        sim->finish_place[c] = MYR_NONE;
    }
    sim->solve_mark = 1;
    sim->late_task = MYR_NONE;
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

/* Adds the living uplinks of one switch; a fabric of one tier has none. */
static void pool_add(const struct myr_sim *sim, uint32_t device, struct pool *pool)
{
    MYR_ASSERT(device >= sim->graph->first_switch);
    uint32_t count = sim->graph->net->tiers > 1 ? myr_graph_uplink_count(sim->graph, device) : 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t up = myr_graph_uplink(sim->graph, device, k);
        MYR_ASSERT(up < sim->link_channels);
        /* What paths avoid carries nothing, and is not counted. */
        if (myr_graph_link_dead(sim->graph, up / 2)) {
            continue;
        }
        for (uint32_t way = 0; way < 2; way++) {
            uint64_t bps = sim->channels[up ^ way].capacity;
            pool->least[way] = pool->alive && pool->least[way] < bps ? pool->least[way] : bps;
        }
        pool->alive++;
    }
    MYR_ASSERT(pool->alive > 0 || (pool->least[0] == 0 && pool->least[1] == 0));
}

/* 'edge_start' is there once the run has begun; before that nobody uses the channel yet. */
static void pool_set(struct myr_sim *sim, bool pod, uint32_t index, const struct pool *pool)
{
    for (uint32_t way = 0; way < 2; way++) {
        uint32_t id = sim_pool(sim, pod, index, way);
        MYR_ASSERT(id >= sim->pool_base);
        uint64_t least = pool->least[way];
        bool large = pool->alive && least > SIM_CAPACITY_MAX / pool->alive;
        uint64_t bps = large ? SIM_CAPACITY_MAX : least * pool->alive;
        if (sim->edge_start) { /* under way */
            sim_set_capacity(sim, id, bps);
            sim->channels[id].full_capacity = bps;
        } else {
            first_capacity(sim, id, bps);
        }
    }
}

static void refresh_leaf(struct myr_sim *sim, uint32_t leaf)
{
    struct pool pool = {};
    MYR_ASSERT(leaf >= sim->graph->net->first_leaf);
    MYR_ASSERT(leaf - sim->graph->net->first_leaf < sim->graph->net->leaf);
    pool_add(sim, leaf, &pool);
    pool_set(sim, false, leaf - sim->graph->net->first_leaf, &pool);
}

/* Pods are numbered through all units: planes and rails that are not joined. */
static uint32_t pod_of_spine(const struct myr_sim *sim, uint32_t spine)
{
    MYR_ASSERT(spine >= sim->graph->net->first_spine);
    MYR_ASSERT(spine - sim->graph->net->first_spine < sim->graph->net->spine);
    struct myr_spot spot = myr_graph_spine_spot(sim->graph, spine);
    return spot.unit * sim->graph->net->pods + spot.pod;
}

/* One pod, or with MYR_NONE all of them; a pod's pool is made of all its spines. */
static void refresh_pods(struct myr_sim *sim, uint32_t only)
{
    const struct myr_network *net = sim->graph->net;
    uint32_t pods = net->pods * net->planes * (net->units ? net->units : 1);
    MYR_ASSERT(only == MYR_NONE || only < pods);
    MYR_CLEANUP(myr_free_at) struct pool *pools = myr_xcalloc(pods, sizeof(*pools));
    for (uint32_t s = net->first_spine; s < net->first_spine + net->spine; s++) {
        uint32_t pod = pod_of_spine(sim, s);
        MYR_ASSERT(pod < pods);
        if (only == MYR_NONE || pod == only) {
            pool_add(sim, s, &pools[pod]);
        }
    }
    for (uint32_t pod = 0; pod < pods; pod++) {
        if (only == MYR_NONE || pod == only) {
            pool_set(sim, true, pod, &pools[pod]);
        }
    }
}

/* Other topologies have no pools to spray over: theirs stay at zero. */
static void pool_capacities(struct myr_sim *sim)
{
    MYR_ASSERT(!sim->edge_start);
    const struct myr_network *net = sim->graph->net;
    for (uint32_t c = sim->pool_base; c < sim->channel_count; c++) {
        first_capacity(sim, c, 0);
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

/* After a link has failed, come back or slowed down: only the pool that it is part of. */
void sim_refresh_pools(struct myr_sim *sim, uint32_t link)
{
    const struct myr_design *design = sim->graph->design;
    const struct myr_network *net = sim->graph->net;
    MYR_ASSERT(link < sim->link_channels / 2);
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

/* Pools last: they are made of the links' capacities. */
void sim_channels_make(struct myr_sim *sim)
{
    const struct myr_design_head *head = sim->graph->design->head;
    MYR_ASSERT(!sim->channels);
    MYR_ASSERT(sim->channel_count >= sim->pool_base);
    sim_channels_open(sim, sim->channel_count);
    for (uint32_t c = 0; c < sim->link_channels; c++) {
        first_capacity(sim, c, link_capacity(sim, c));
    }
    /* A GPU without a scale-up domain still talks to itself: 1 Gb/s stands for nothing. */
    uint64_t scale_up = (uint64_t)(head->scale_up_gbps ? head->scale_up_gbps : 1) * 1000000000;
    for (uint32_t c = sim->scale_up_base; c < sim->pool_base; c++) {
        first_capacity(sim, c, scale_up);
    }
    pool_capacities(sim);
}
