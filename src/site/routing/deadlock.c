#include "myriad/site/deadlock.h"

#include <stdlib.h>

#include "myriad/site/cabling.h"

/*
 * A row of bits for each port by which packets come into a switch: the ports by which they may
 * leave it again. Tables and hashes fill the rows; a cycle is then looked for from channel to
 * channel.
 */

/* Ports of a circle that a message names. */
enum { WORD_BITS = 64, SHOWN = 6 };

static uint32_t port_count(const struct myr_graph *graph, uint32_t device)
{
    return graph->design->first_port[device + 1] - graph->design->first_port[device];
}

/* Rows are as wide as the switch with most ports needs. */
void myr_dependencies_init(struct myr_dependencies *ret, struct myr_arena *arena,
                           const struct myr_graph *graph)
{
    uint32_t most = 1, rows = 0;
    *ret = (struct myr_dependencies){.graph = graph};
    ret->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)graph->switch_count + 1);
    for (uint32_t s = 0; s < graph->switch_count; s++) {
        uint32_t ports = port_count(graph, graph->first_switch + s);
        /* Rows of a switch are in a row, one a port. */
        ret->first[s] = rows;
        rows += ports;
        most = ports > most ? ports : most;
    }
    ret->first[graph->switch_count] = rows;
    ret->words = (most + WORD_BITS - 1) / WORD_BITS;
    ret->rows = MYR_ARENA_NEW(arena, uint64_t, (size_t)rows * ret->words);
}

static bool is_switch(const struct myr_graph *graph, uint32_t device)
{
    return device - graph->first_switch < graph->switch_count;
}

static uint64_t *row_of(const struct myr_dependencies *dependencies, uint32_t at, uint32_t port)
{
    MYR_ASSERT(dependencies->first[at] + port < dependencies->first[at + 1]);
    return &dependencies->rows[(size_t)(dependencies->first[at] + port) * dependencies->words];
}

/* The port by which a channel arrives, as its switch counts them from 0. */
static uint32_t arrival(const struct myr_design *design, uint32_t channel)
{
    uint32_t port = myr_channel_from_port(design, myr_channel_back(channel));
    return port - design->first_port[design->port_device[port]];
}

/* MYR_NONE: nothing is plugged in there. */
static uint32_t channel_of(const struct myr_design *design, uint32_t device, uint32_t index)
{
    uint32_t port = design->first_port[device] + index, link = design->port_link[port];
    return link == MYR_NONE ? MYR_NONE : 2 * link + (design->link_a[link] != port);
}

/* --- forwarding tables */

/* Only where hosts are alive do packets begin. */
static bool has_hosts(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t peer = myr_design_peer(design, p);
        if (peer != MYR_NONE && !is_switch(graph, design->port_device[peer]) &&
            !myr_graph_link_dead(graph, design->port_link[p])) {
            return true;
        }
    }
    return false;
}

/* Follows one destination's entries from a switch, until where another walk has been. */
static void follow(struct myr_dependencies *dependencies, const struct myr_tables *tables,
                   uint32_t column, uint32_t at, uint32_t *seen)
{
    const struct myr_graph *graph = dependencies->graph;
    uint32_t came_by = MYR_NONE;
    for (;;) {
        uint32_t device = graph->first_switch + at;
        uint32_t number = tables->egress[(size_t)at * tables->columns + column];
        /* Tables count as the box does, dependencies in the order of the design. */
        uint32_t port = number == 0 ? MYR_NONE : myr_site_numbered(graph->design, device, number);
        if (port == MYR_NONE) {
            return;
        }
        uint32_t index = port - graph->design->first_port[device];
        uint32_t out = channel_of(graph->design, device, index);
        uint32_t next = out == MYR_NONE ? MYR_NONE : myr_channel_to_device(graph->design, out);
        if (next == MYR_NONE || !is_switch(graph, next)) {
            return; /* a host takes what it gets: nothing waits behind it */
        }
        if (came_by != MYR_NONE) {
            row_of(dependencies, at, came_by)[index / WORD_BITS] |= UINT64_C(1)
                                                                    << index % WORD_BITS;
        }
        if (seen[at] == column + 1) {
            return;
        }
        seen[at] = column + 1;
        /* The row of the next switch is that of the port by which it is reached. */
        came_by = arrival(graph->design, out);
        at = next - graph->first_switch;
    }
}

/* 'seen' has the column's number, so that it need not be cleared for each. */
void myr_dependencies_tables(struct myr_dependencies *dependencies, const struct myr_tables *tables)
{
    const struct myr_graph *graph = dependencies->graph;
    uint32_t count = graph->switch_count;
    MYR_CLEANUP(myr_free_at) uint32_t *seen = myr_xcalloc(count, sizeof(*seen));
    MYR_CLEANUP(myr_free_at) bool *hosts = myr_xcalloc(count, sizeof(*hosts));
    /* Ways to switches begin at hosts only; those to hosts are followed from everywhere. */
    for (uint32_t s = 0; s < count; s++) {
        hosts[s] = has_hosts(graph, graph->first_switch + s);
    }
    for (uint32_t column = 0; column < tables->columns; column++) {
        for (uint32_t s = 0; s < count; s++) {
            if (column < tables->host_count || hosts[s]) {
                follow(dependencies, tables, column, s, seen);
            }
        }
    }
}

/* --- hashes */

/* One channel stands for all between the same two switches. */
static uint32_t bundle_channel(const struct myr_graph *graph, uint32_t from, uint32_t channel)
{
    uint32_t to = myr_channel_to_device(graph->design, channel);
    const struct myr_bundle *bundle = myr_graph_bundle(graph, from, to);
    MYR_ASSERT(bundle);
    return graph->channels[bundle->first];
}

/* The way of all who go to one switch: which ports they came by, and who comes next. */
struct flood {
    struct myr_dependencies *dependencies;
    uint64_t *came;                /* by switch: the ports that some packet came by */
    uint64_t *out;                 /* one row */
    uint32_t *queued;              /* by switch: target + 1 */
    MYR_VEC(uint32_t) now, behind; /* switches by distance from where they started */
};

static void flood_done(struct flood *flood)
{
    free(flood->came);
    free(flood->out);
    free(flood->queued);
    myr_vec_done(&flood->now);
    myr_vec_done(&flood->behind);
}

static uint32_t lowest_bit(uint64_t *word)
{
    uint32_t bit = (uint32_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    return bit;
}

/* Everything that came into the switch may leave by everything that it offers; true: more came. */
static void flood_switch(struct flood *flood, uint32_t at, uint32_t to)
{
    const struct myr_graph *graph = flood->dependencies->graph;
    uint32_t words = flood->dependencies->words, device = graph->first_switch + at;
    uint32_t candidates[MYR_CANDIDATES_MAX];
    uint32_t count = myr_path_candidates(graph, device, to, candidates);
    memset(flood->out, 0, words * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t channel = bundle_channel(graph, device, candidates[i]);
        uint32_t port = myr_channel_from_port(graph->design, channel);
        uint32_t number = port - graph->design->first_port[device];
        uint32_t next = myr_channel_to_device(graph->design, channel) - graph->first_switch;
        uint32_t in = arrival(graph->design, channel);
        uint64_t *came = &flood->came[(size_t)next * words + in / WORD_BITS];
        uint64_t bit = UINT64_C(1) << in % WORD_BITS;
        flood->out[number / WORD_BITS] |= UINT64_C(1) << number % WORD_BITS;
        /* Only what is new brings a switch back into the queue, so that this ends. */
        if (!(*came & bit)) {
            *came |= bit;
            if (!flood->queued[next]) {
                flood->queued[next] = 1;
                myr_vec_push(&flood->behind, next);
            }
        }
    }
    /* Every way in may lead to every way out: the row of each gets all of them. */
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = flood->came[(size_t)at * words + w];
        while (left) {
            uint32_t in = w * WORD_BITS + lowest_bit(&left);
            uint64_t *row = row_of(flood->dependencies, at, in);
            for (uint32_t k = 0; k < words; k++) {
                row[k] |= flood->out[k];
            }
        }
    }
}

/* All hosts send to one switch at once; the waves go on until nothing new arrives. */
static void flood_to(struct flood *flood, uint32_t to, const bool *hosts)
{
    const struct myr_graph *graph = flood->dependencies->graph;
    size_t words = (size_t)graph->switch_count * flood->dependencies->words;
    memset(flood->came, 0, words * sizeof(uint64_t));
    memset(flood->queued, 0, graph->switch_count * sizeof(uint32_t));
    flood->now.count = 0;
    for (uint32_t s = 0; s < graph->switch_count; s++) {
        if (hosts[s] && graph->first_switch + s != to) {
            myr_vec_push(&flood->now, s);
            flood->queued[s] = 1;
        }
    }
    /* Switches come again when something new reaches them. */
    while (flood->now.count > 0) {
        flood->behind.count = 0;
        for (size_t i = 0; i < flood->now.count; i++) {
            uint32_t at = flood->now.items[i];
            flood->queued[at] = 0; /* what comes later brings it back */
            if (graph->first_switch + at != to) {
                flood_switch(flood, at, to);
            }
        }
        flood->now.count = 0;
        for (size_t i = 0; i < flood->behind.count; i++) {
            myr_vec_push(&flood->now, flood->behind.items[i]);
        }
    }
}

/* Everybody to everybody, not only the flows at hand: switches hash whatever comes. */
void myr_dependencies_hashed(struct myr_dependencies *dependencies, const struct myr_routes *routes)
{
    const struct myr_graph *graph = dependencies->graph;
    uint32_t count = graph->switch_count;
    MYR_CLEANUP(flood_done) struct flood flood = {.dependencies = dependencies};
    MYR_CLEANUP(myr_free_at) bool *hosts = myr_xcalloc(count, sizeof(*hosts));
    flood.came = myr_xcalloc((size_t)count * dependencies->words, sizeof(uint64_t));
    flood.out = myr_xcalloc(dependencies->words, sizeof(uint64_t));
    flood.queued = myr_xcalloc(count, sizeof(uint32_t));
    for (uint32_t s = 0; s < count; s++) {
        hosts[s] = has_hosts(graph, graph->first_switch + s);
    }
    for (uint32_t s = 0; s < count; s++) {
        if (hosts[s]) {
            flood_to(&flood, graph->first_switch + s, hosts);
        }
    }
    /*
     * Planned routes may take detours that no switch offers by itself: their steps are added.
     * Parallel links are one in both, as in flood_switch().
     */
    for (size_t r = 0; routes && r < routes->flow.count; r++) {
        /* The first and the last channel are a host's. */
        for (uint32_t i = routes->start.items[r] + 1; i + 2 < routes->start.items[r + 1]; i++) {
            uint32_t in = routes->channels.items[i], out = routes->channels.items[i + 1];
            uint32_t from = graph->design->port_device[myr_channel_from_port(graph->design, in)];
            uint32_t device = myr_channel_to_device(graph->design, in);
            /* As its switch counts it, by the channel that stands for the bundle. */
            uint32_t port =
                myr_channel_from_port(graph->design, bundle_channel(graph, device, out)) -
                graph->design->first_port[device];
            row_of(dependencies, device - graph->first_switch,
                   arrival(graph->design, bundle_channel(graph, from, in)))[port / WORD_BITS] |=
                UINT64_C(1) << port % WORD_BITS;
        }
    }
}

/* --- cycles */

uint64_t myr_dependencies_count(const struct myr_dependencies *dependencies)
{
    size_t words =
        (size_t)dependencies->first[dependencies->graph->switch_count] * dependencies->words;
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++) {
        count += (uint32_t)__builtin_popcountll(dependencies->rows[i]);
    }
    return count;
}

/* Depth first: a channel that is open again on the way down closes a circle. */
enum colour { NEW, OPEN, CLOSED };

struct step {
    uint32_t channel, next; /* next: port of the switch that it leads to */
};

/* The next channel that a packet on this one may ask for; MYR_NONE: no more. */
static uint32_t follower(const struct myr_dependencies *dependencies, struct step *step)
{
    const struct myr_graph *graph = dependencies->graph;
    uint32_t device = myr_channel_to_device(graph->design, step->channel);
    if (!is_switch(graph, device)) {
        return MYR_NONE;
    }
    const uint64_t *row =
        row_of(dependencies, device - graph->first_switch, arrival(graph->design, step->channel));
    /* Goes on where the last call left off. */
    for (; step->next < port_count(graph, device); step->next++) {
        if (row[step->next / WORD_BITS] >> step->next % WORD_BITS & 1) {
            return channel_of(graph->design, device, step->next++);
        }
    }
    return MYR_NONE;
}

typedef MYR_VEC(struct step) steps_vec;

/* The steps from the first that is on this channel are the cycle. */
static struct myr_cycle cycle_from(const struct step *steps, size_t count, uint32_t channel,
                                   struct myr_arena *arena)
{
    size_t first = 0;
    while (steps[first].channel != channel) {
        first++;
        MYR_ASSERT(first < count);
    }
    struct myr_cycle cycle = {.count = (uint32_t)(count - first)};
    cycle.channels = MYR_ARENA_NEW(arena, uint32_t, cycle.count);
    for (uint32_t i = 0; i < cycle.count; i++) {
        cycle.channels[i] = steps[first + i].channel;
    }
    return cycle;
}

/* With a list instead of calls: chains are as long as the fabric has channels. */
struct myr_cycle myr_dependencies_cycle(const struct myr_dependencies *dependencies,
                                        struct myr_arena *arena)
{
    uint32_t channels = dependencies->graph->design->link_count * 2;
    MYR_CLEANUP(myr_free_at) uint8_t *colour = myr_xcalloc(channels, sizeof(*colour));
    MYR_CLEANUP(myr_vec_free_at) steps_vec steps = {};
    for (uint32_t start = 0; start < channels; start++) {
        if (colour[start] != NEW || !myr_graph_has_link(dependencies->graph, start / 2)) {
            continue;
        }
        colour[start] = OPEN;
        myr_vec_push(&steps, ((struct step){start, 0}));
        while (steps.count > 0) {
            struct step *last = &steps.items[steps.count - 1];
            uint32_t next = follower(dependencies, last);
            /* All that it leads to is free of circles. */
            if (next == MYR_NONE) {
                colour[last->channel] = CLOSED;
                steps.count--;
            } else if (colour[next] == OPEN) {
                return cycle_from(steps.items, steps.count, next, arena);
            } else if (colour[next] == NEW) {
                colour[next] = OPEN;
                myr_vec_push(&steps, ((struct step){next, 0}));
            }
        }
    }
    return (struct myr_cycle){};
}

void myr_cycle_put(const struct myr_cycle *cycle, const struct myr_design *design,
                   struct myr_buf *buf)
{
    for (uint32_t i = 0; i < cycle->count && i < SHOWN; i++) {
        uint32_t port = myr_channel_from_port(design, cycle->channels[i]);
        myr_buf_puts(buf, i ? ", " : "");
        myr_design_name(design, design->port_device[port], buf);
        myr_buf_putc(buf, ':');
        myr_design_port_name(design, port, buf);
    }
    myr_buf_puts(buf, cycle->count > SHOWN ? ", ..." : "");
}
