#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/text/amount.h"
#include "packet/packet.h"

/*
 * Packets behind the seam (transport.h): each message of a transfer goes as flows over its paths,
 * and the transfer ends with the last of them. Latency is what the links and queues make of it.
 */

/* The ways of a pattern, in the order of its messages. */
struct ways {
    uint32_t first, count;
};

struct sim_packets {
    struct myr_packet_options options;
    struct pk *k;
    struct ways *ways; /* by pattern: rows of the paths */
    uint32_t *left;    /* by task: flows that are not there yet */
    uint32_t *flows;   /* by task: its single flow, while nobody rides behind it */
    uint32_t *follows; /* by task: whose bytes its own follow; MYR_NONE */
    bool sprayed;      /* the ways of a part are taken in turn, packet by packet */
    uint64_t events;   /* that are in the run's count */
};

void myr_sim_use_packets(struct myr_sim *sim, const struct myr_packet_options *options)
{
    MYR_ASSERT(!sim->packets && sim->routed_patterns == 0);
    sim->packets = myr_xcalloc(1, sizeof(*sim->packets));
    sim->packets->options = *options;
    sim->transport = &sim_packet_transport;
    myr_sim_keep_paths(sim);
}

struct myr_packet_stats myr_sim_packet_stats(const struct myr_sim *sim)
{
    MYR_ASSERT(sim->packets && sim->packets->k);
    return pk_stats(sim->packets->k);
}

/* The switch that a channel leaves or leads to, counted from the network's first; else MYR_NONE. */
static uint32_t switch_of(const struct myr_sim *sim, uint32_t device)
{
    const struct myr_graph *graph = sim->graph;
    uint32_t place = device - graph->first_switch;
    return device >= graph->first_switch && place < graph->switch_count ? place : MYR_NONE;
}

/* As route.c counts the latency of a path. */
static struct pk_channel link_channel(const struct myr_sim *sim, uint32_t id)
{
    const struct myr_design *design = sim->graph->design;
    uint32_t cable = design->link_cable[id / 2];
    myr_ps own = (myr_ps)design->cabletypes[design->cable_type[cable]].length_mm * 5;
    struct pk_channel channel = {
        .bps = sim->channels[id].capacity,
        .delay = sim->options.link_ps < 0 ? own : sim->options.link_ps,
        .owner = switch_of(sim, myr_channel_to_device(design, myr_channel_back(id))),
        .leads = switch_of(sim, myr_channel_to_device(design, id)),
    };
    channel.delay += channel.leads == MYR_NONE ? 0 : sim->options.switch_ps;
    return channel;
}

/* Links first, then into and out of scale-up domains: pools are no channels of packets. */
static struct pk_channel *list_channels(const struct myr_sim *sim)
{
    struct pk_channel *channels = myr_xcalloc(sim->pool_base, sizeof(*channels));
    for (uint32_t c = 0; c < sim->pool_base; c++) {
        bool link = c < sim->link_channels;
        bool out = !link && (c - sim->scale_up_base) % 2 == 0;
        channels[c] = link ? link_channel(sim, c)
                           : (struct pk_channel){.bps = sim->channels[c].capacity,
                                                 .delay = out ? sim->options.scale_up_ps : 0,
                                                 .owner = MYR_NONE,
                                                 .leads = MYR_NONE};
        if (channels[c].bps == 0) {
            channels[c].bps = 1; /* it has no use, or whoever uses it waits for ever */
        }
    }
    return channels;
}

/* Rows without a channel are messages that stay where they are. */
static int list_paths(struct myr_sim *sim, struct pk_path **ret, struct myr_err *err)
{
    struct sim_packets *own = sim->packets;
    struct pk_path *paths = myr_xcalloc(sim->paths.count + 1, sizeof(*paths));
    *ret = paths;
    own->ways = myr_xcalloc(sim->patterns.count + 1, sizeof(*own->ways));
    for (uint32_t p = 0; p < sim->paths.count; p++) {
        const struct sim_path *path = &sim->paths.items[p];
        struct ways *ways = &own->ways[path->pattern];
        ways->first = ways->count ? ways->first : p;
        ways->count = p + 1 - ways->first;
        paths[p] = (struct pk_path){&sim->path_channels.items[path->first], path->count};
        for (uint32_t i = 0; i < path->count; i++) {
            if (paths[p].channels[i] >= sim->pool_base) {
                return myr_err_set(err, MYR_EINVAL,
                                   "--mode packet: the paths lead through pools of links, as the "
                                   "fluid sprays; packets need one link after the other");
            }
        }
    }
    return MYR_OK;
}

static int check_tasks(const struct myr_sim *sim, struct myr_err *err)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].kind == SIM_TRANSFER && sim->tasks.items[t].latency_rounds > 1) {
            int rc = myr_err_set(err, MYR_EINVAL,
                                 "--mode packet plays every send; this schedule stands for "
                                 "several rounds in one");
            myr_err_hint(err, "give schedule=full, or fewer ranks");
            return rc;
        }
    }
    return MYR_OK;
}

static int begin(struct myr_sim *sim, struct myr_err *err)
{
    struct sim_packets *own = sim->packets;
    own->sprayed = sim->options.balance.policy == MYR_POLICY_SPRAY && !sim->given.count;
    if (own->sprayed && own->options.cc == MYR_CC_HPCC) {
        return myr_err_set(err, MYR_EINVAL,
                           "--cc hpcc does not go with --lb spray: it compares what the same "
                           "switches tell one after the other");
    }
    MYR_TRY(check_tasks(sim, err));
    sim_solve(sim); /* capacities that were changed before the run */
    MYR_CLEANUP(myr_free_at) struct pk_path *paths = NULL;
    MYR_TRY(list_paths(sim, &paths, err));
    MYR_CLEANUP(myr_free_at) struct pk_channel *channels = list_channels(sim);
    own->left = myr_xcalloc(sim->tasks.count + 1, sizeof(*own->left));
    own->flows = myr_xcalloc(sim->tasks.count + 1, sizeof(*own->flows));
    own->follows = myr_xcalloc(sim->tasks.count + 1, sizeof(*own->follows));
    for (size_t t = 0; t < sim->tasks.count; t++) {
        own->follows[t] = MYR_NONE;
    }
    for (size_t e = 0; e < sim->edges.count; e++) {
        if (sim->edges.items[e].moves) {
            own->follows[sim->edges.items[e].task] = sim->edges.items[e].before;
        }
    }
    struct pk_setup setup = {.options = &own->options,
                             .channels = channels,
                             .paths = paths,
                             .channel_count = sim->pool_base,
                             .switch_count = sim->graph->switch_count,
                             .path_count = (uint32_t)sim->paths.count,
                             .seed = sim->options.balance.seed};
    return pk_create(&own->k, &setup, err);
}

/* The bytes of one way of a message: shares are thousandths, and add up to all of it. */
static uint64_t share_of(uint64_t bytes, uint32_t before, uint32_t share)
{
    unsigned __int128 all = bytes;
    return (uint64_t)(all * (before + share) / 1000 - all * before / 1000);
}

/* Two ways of one part of a message: packets take them in turn. */
static bool same_start(const struct myr_sim *sim, uint32_t a, uint32_t b)
{
    const struct sim_path *one = &sim->paths.items[a], *two = &sim->paths.items[b];
    return one->message == two->message && one->count && two->count &&
           sim->path_channels.items[one->first] == sim->path_channels.items[two->first];
}

/* All flows of the task; 'after': a single flow's whose bytes its own follow, or MYR_NONE. */
static void send(struct myr_sim *sim, uint32_t id, uint32_t after)
{
    struct sim_packets *own = sim->packets;
    struct sim_task *task = &sim->tasks.items[id];
    struct ways ways = own->ways[task->pattern];
    uint32_t before = 0, message = MYR_NONE;
    task->state = SIM_MOVING;
    own->left[id] = 0;
    own->flows[id] = MYR_NONE;
    for (uint32_t p = ways.first; p < ways.first + ways.count; p++) {
        const struct sim_path *path = &sim->paths.items[p];
        before = path->message == message ? before : 0;
        message = path->message;
        uint32_t row = p, share = path->share;
        while (own->sprayed && p + 1 < ways.first + ways.count && same_start(sim, row, p + 1)) {
            share += sim->paths.items[++p].share;
        }
        uint64_t bytes = share_of(task->bits / 8, before, share);
        before += share;
        if (path->count == 0 || (bytes == 0 && task->bits)) {
            continue;
        }
        struct pk_message one = {.path = row,
                                 .ways = p + 1 - row,
                                 .tag = id,
                                 .bytes = bytes,
                                 .name = (uint64_t)id << 32 | (row - ways.first),
                                 .after = after};
        own->left[id]++;
        own->flows[id] = pk_send(own->k, &one, sim->now);
    }
    if (ways.count != 1) {
        own->flows[id] = MYR_NONE;
    }
}

/* Nothing of it goes anywhere: it ends where it stands. */
static bool stays(const struct myr_sim *sim, const struct sim_task *task)
{
    struct ways ways = sim->packets->ways[task->pattern];
    bool stays = true;
    for (uint32_t p = ways.first; p < ways.first + ways.count; p++) {
        stays &= sim->paths.items[p].count == 0;
    }
    return stays;
}

/* Both are one flow that begins at one port: the port can see to it that they follow. */
static bool chains(const struct myr_sim *sim, const struct sim_task *before,
                   const struct sim_task *behind)
{
    struct ways a = sim->packets->ways[before->pattern], b = sim->packets->ways[behind->pattern];
    if (a.count != 1 || b.count != 1) {
        return false;
    }
    const struct sim_path *first = &sim->paths.items[a.first], *then = &sim->paths.items[b.first];
    return first->count && then->count && behind->bits &&
           sim->path_channels.items[first->first] == sim->path_channels.items[then->first];
}

/* Those whose turn it is and whose bytes only wait for this one's: one of them rides behind. */
static void chain(struct myr_sim *sim, uint32_t id)
{
    uint32_t flow = sim->packets->flows[id];
    for (uint32_t e = sim->edge_start[id]; flow != MYR_NONE && e < sim->edge_start[id + 1]; e++) {
        struct sim_edge edge = sim->edges.items[e];
        const struct sim_task *next = &sim->tasks.items[edge.task];
        uint32_t behind = flow;
        if (edge.moves && next->state == SIM_READY && next->moves_after == 1 &&
            next->kind == SIM_TRANSFER && chains(sim, &sim->tasks.items[id], next)) {
            sim->packets->flows[id] = flow = MYR_NONE;
            send(sim, edge.task, behind);
            chain(sim, edge.task);
        }
    }
}

/* Software time, where there is any, passes before the first packet. */
static void start(struct myr_sim *sim, uint32_t id)
{
    const struct sim_task *task = &sim->tasks.items[id];
    sim_wake_after(sim, id, (__int128)sim->options.message_ps * task->latency_rounds);
}

static void wake(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    if (task->moves_after) {
        task->state = SIM_READY;
        /* Whoever goes before it may be under way already. */
        uint32_t before = sim->packets->follows[id];
        if (before != MYR_NONE && sim->tasks.items[before].state == SIM_MOVING) {
            chain(sim, before);
        }
        return;
    }
    if (stays(sim, task)) {
        sim_end_task(sim, id);
        return;
    }
    send(sim, id, MYR_NONE);
    chain(sim, id);
}

/* As far as the first end, or the run's own next moment; now and then so that it can tell of it. */
static myr_ps next(struct myr_sim *sim, myr_ps limit)
{
    struct sim_packets *own = sim->packets;
    myr_ps at = pk_run(own->k, limit < SIM_TIME_MAX ? limit : SIM_TIME_MAX - 1);
    uint64_t events = pk_stats(own->k).events;
    sim->result.events += events - own->events;
    own->events = events;
    return at < SIM_TIME_MAX ? at : SIM_TIME_MAX;
}

static void ends(struct myr_sim *sim)
{
    struct sim_packets *own = sim->packets;
    uint32_t id;
    while (pk_ended(own->k, &id)) {
        MYR_ASSERT(id < sim->tasks.count && own->left[id] > 0);
        if (--own->left[id] == 0) {
            own->flows[id] = MYR_NONE;
            sim->result.transfers++;
            sim->result.flows += sim->patterns.items[sim->tasks.items[id].pattern].message_count;
            sim_end_task(sim, id);
        }
    }
}

/* Packets need nothing there: they have a time of their own. */
static void nothing(struct myr_sim *sim)
{
    MYR_ASSERT(sim->packets);
}

/* Who waits for whom, where it is a circle; else whoever stands still. */
static int stuck(struct myr_sim *sim, struct myr_err *err)
{
    enum { SHOWN_MAX = 8 };
    uint32_t circle[SHOWN_MAX];
    uint32_t count = pk_circle(sim->packets->k, circle, SHOWN_MAX);
    if (count == 0) {
        return sim_stalled(sim, err);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(&names, "%slink/%08u", i ? ", " : "",
                       myr_design_link_id(sim->graph->design, circle[i] / 2));
    }
    return myr_err_set(err, MYR_ESTALLED,
                       "nothing can progress at %.3f us: pauses wait for each other in a circle: "
                       "%s, and the first again",
                       (double)sim->now / (double)MYR_PS_PER_US, names.data);
}

/* Faults and time series are refused before (question/ask.c). */
static void no_fault(struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    MYR_ASSERT(!sim->packets || !fault);
}

static int no_reroute(struct myr_sim *sim, const struct myr_sim_fault *fault, struct myr_err *err)
{
    MYR_ASSERT(!sim->packets || !fault);
    return myr_err_set(err, MYR_EINVAL, "packets know no faults");
}

/* What went over each link, headers and acknowledgements included. */
static bool finish(struct myr_sim *sim)
{
    const struct sim_packets *own = sim->packets;
    for (uint32_t c = 0; c < sim->pool_base; c++) {
        sim->channels[c].bytes = pk_channel_bytes(own->k, c);
    }
    return pk_conserved(own->k);
}

static void done(struct myr_sim *sim)
{
    struct sim_packets *own = sim->packets;
    if (own) {
        pk_free(own->k);
        free(own->ways);
        free(own->left);
        free(own->flows);
        free(own->follows);
        free(own);
    }
}

const struct sim_transport sim_packet_transport = {
    .begin = begin,
    .start = start,
    .wake = wake,
    .next = next,
    .moved = nothing,
    .ends = ends,
    .settle = nothing,
    .sample = nothing,
    .stuck = stuck,
    .fault = no_fault,
    .reroute = no_reroute,
    .finish = finish,
    .done = done,
};
