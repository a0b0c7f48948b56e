#include "room/room.h"

#include <stdlib.h>

/*
 * Which servers belong together, read from the links of the compute network: the servers between
 * the first one of a leaf and the first one of the next leaf that begins elsewhere. That is a rail
 * group, the hosts of a leaf, or of a router. A switch above that reaches only some of the blocks
 * (a pod's spine) is given to one of them; one that reaches all of them stands in the middle.
 */

struct span {
    uint32_t first, last; /* servers, later blocks; first > last: none */
};

/* The span with this one in it. */
static void widen(struct span *span, uint32_t at)
{
    span->first = at < span->first ? at : span->first;
    span->last = at > span->last || span->last == ROOM_NONE ? at : span->last;
}

/* All nodes of a server stand in it: servers are what is placed. */
static uint32_t server_of(const struct plan *plan, uint32_t device)
{
    return (device - plan->design.head->first_node) / plan->server->server.nodes;
}

static bool is_node(const struct plan *plan, uint32_t device)
{
    return plan->design.place[device].kind == MYR_DEVICE_NODE;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The servers below each first switch. */
static void leaf_spans(const struct room *room, const struct myr_network *net, struct span *spans)
{
    const struct myr_design *design = &room->plan->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t a = design->port_device[design->link_a[link]];
        uint32_t b = design->port_device[design->link_b[link]];
        if (b >= net->first_leaf && b - net->first_leaf < net->leaf && is_node(room->plan, a)) {
            widen(&spans[b - net->first_leaf], server_of(room->plan, a));
        }
    }
}

/* Blocks begin where leaves begin. */
static void cut_blocks(struct room *room, const struct span *leaves, uint32_t leaf_count)
{
    uint32_t servers = room->plan->spec->servers;
    uint32_t *starts = MYR_ARENA_NEW(room->arena, uint32_t, (size_t)leaf_count + 1);
    uint32_t count = 1; /* the first block begins at server 0, whatever the leaves say */
    for (uint32_t i = 0; i < leaf_count; i++) {
        if (leaves[i].first != ROOM_NONE) {
            starts[count++] = leaves[i].first;
        }
    }
    /* Leaves of a rail group begin at the same server: each block is kept once. */
    qsort(starts, count, sizeof(*starts), compare_u32);
    room->blocks = MYR_ARENA_NEW(room->arena, struct block, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || starts[i] != starts[i - 1]) {
            room->blocks[room->block_count++].first_server = starts[i];
        }
    }
    for (uint32_t i = 0; i < room->block_count; i++) {
        struct block *block = &room->blocks[i];
        /* Up to where the next block begins; servers on no leaf belong to the one before. */
        uint32_t end = i + 1 < room->block_count ? block[1].first_server : servers;
        block->servers = end - block->first_server;
        MYR_ASSERT(block->servers > 0 && end <= servers);
        /* Until the spines tell: a block is a pod of its own. */
        block->pod = i;
    }
}

/* Blocks lie in the order of their servers, without gaps. */
static uint32_t block_of_server(const struct room *room, uint32_t server)
{
    uint32_t low = 0, high = room->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (room->blocks[middle].first_server <= server) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The blocks that each switch above reaches through the leaves. */
static void upper_spans(const struct room *room, const struct myr_network *net,
                        const uint32_t *leaf_block, struct span *spans)
{
    const struct myr_design *design = &room->plan->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t a = design->port_device[design->link_a[link]];
        uint32_t b = design->port_device[design->link_b[link]];
        if (a >= net->first_leaf && a - net->first_leaf < net->leaf && b >= net->first_spine &&
            b - net->first_spine < net->spine) {
            widen(&spans[b - net->first_spine], leaf_block[a - net->first_leaf]);
        }
    }
}

/* Deals the switches out: 'seat_block' says to which block, ROOM_NONE is above all. */
static void seat_switches(struct room *room, const struct myr_network *net,
                          const uint32_t *seat_block)
{
    uint32_t count = net->leaf + net->spine + net->core;
    room->seats = MYR_ARENA_NEW(room->arena, uint32_t, count);
    room->tops = MYR_ARENA_NEW(room->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        if (seat_block[i] == ROOM_NONE) {
            room->tops[room->top_count++] = net->first_leaf + i;
        } else {
            room->blocks[seat_block[i]].seats++;
        }
    }
    /* Counted first, then filled: each block has its seats in one stretch. */
    for (uint32_t i = 0; i < room->block_count; i++) {
        room->blocks[i].first_seat = room->seat_count;
        room->seat_count += room->blocks[i].seats;
        room->blocks[i].seats = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (seat_block[i] != ROOM_NONE) {
            struct block *block = &room->blocks[seat_block[i]];
            room->seats[block->first_seat + block->seats++] = net->first_leaf + i;
        }
    }
    MYR_ASSERT(room->seat_count + room->top_count == count);
}

/* All empty. */
static struct span *new_spans(struct room *room, uint32_t count)
{
    struct span *spans = MYR_ARENA_NEW(room->arena, struct span, count);
    for (uint32_t i = 0; i < count; i++) {
        spans[i] = (struct span){ROOM_NONE, ROOM_NONE};
    }
    return spans;
}

/* Whether an empty rack takes the servers of any leaf, and the leaf. */
static bool a_rack_holds_block(const struct room *room, uint32_t leaf)
{
    struct load need = room_load(room, leaf), left = room->rack;
    uint32_t most = 0;
    for (uint32_t i = 0; i < room->block_count; i++) {
        most = room->blocks[i].servers > most ? room->blocks[i].servers : most;
    }
    left.watts -= need.watts;
    left.units -= need.units;
    left.grams -= need.grams;
    return room_fits(&left, &room->server) >= most;
}

/* Without a compute network all servers are one block, without switches. */
void room_blocks(struct room *room)
{
    const struct myr_network *net = &room->plan->nets[MYR_NET_COMPUTE].out;
    uint32_t leaves = room->plan->nets[MYR_NET_COMPUTE].present ? net->leaf : 0;
    room->in_middle = leaves && net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
    struct span *below = new_spans(room, leaves);
    if (leaves) {
        leaf_spans(room, net, below);
    }
    cut_blocks(room, below, leaves);
    if (!leaves) {
        return;
    }
    /* One array for leaf, spine and core: they are numbered one behind the other. */
    uint32_t *seat_block =
        MYR_ARENA_NEW(room->arena, uint32_t, (size_t)net->leaf + net->spine + net->core);
    for (uint32_t i = 0; i < net->leaf; i++) {
        /* A leaf without servers (managers alone, or none) goes to the last block. */
        seat_block[i] = below[i].first == ROOM_NONE ? room->block_count - 1
                                                    : block_of_server(room, below[i].first);
    }
    struct span *reach = new_spans(room, net->spine);
    upper_spans(room, net, seat_block, reach);
    uint32_t run = 0; /* spines of one pod follow each other: dealt out over its blocks */
    for (uint32_t i = 0; i < net->spine; i++) {
        bool same = i > 0 && reach[i].first == reach[i - 1].first;
        run = same ? run + 1 : 0;
        /* One that reaches the first and the last block is taken to reach all: it stands in the
         * middle. */
        bool all = reach[i].first == ROOM_NONE ||
                   (reach[i].first == 0 && reach[i].last == room->block_count - 1);
        uint32_t blocks = all ? 1 : reach[i].last - reach[i].first + 1;
        seat_block[net->leaf + i] = all ? ROOM_NONE : reach[i].first + run % blocks;
        /* A pod is named by its first block. */
        for (uint32_t k = 0; !all && k < blocks; k++) {
            room->blocks[reach[i].first + k].pod = reach[i].first;
        }
    }
    for (uint32_t i = 0; i < net->core; i++) {
        seat_block[net->leaf + net->spine + i] = ROOM_NONE;
    }
    seat_switches(room, net, seat_block);
    room->in_racks = room->in_middle && a_rack_holds_block(room, net->first_leaf);
}
