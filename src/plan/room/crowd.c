#include <stdlib.h>

#include "room/anneal.h"

/*
 * Who stands where, who has cables to whom, and what all of that costs in every rack. Gathered once
 * from the room and its links, kept up to date while things move, and written back in the end.
 * Memory is by racks times racks and by classes times racks, which is what limits the size of
 * rooms.
 */

/* Larger rooms are not annealed: ways are kept rack by rack, costs class by rack. */
enum { RACKS_MAX = 1024, TABLE_MAX = 1 << 22, BETWEEN_MAX = 512 };

/* ---- gathering ---- */

/* Switches that have to stay with the servers of their block. */
static bool of_block(uint32_t kind)
{
    return kind == MYR_DEVICE_LEAF || kind == MYR_DEVICE_ROUTER;
}

/* Servers first, then all that is not a node and has a rack. */
static void gather_things(struct crowd *crowd)
{
    uint32_t *thing_of = crowd->thing_of;
    struct room *room = crowd->room;
    const struct myr_design *design = &room->plan->design;
    uint32_t servers = room->plan->spec->servers, nodes = room->plan->server->server.nodes;
    /* Servers have the number of their thing: other files rely on that. */
    for (uint32_t i = 0; i < servers; i++) {
        crowd->things[crowd->count++] =
            (struct thing){.need = room->groups[room_group(room, i)],
                           .device = design->head->first_node + i * nodes,
                           .devices = nodes,
                           .rack = room->server_rack[i],
                           .block = ROOM_NONE};
    }
    crowd->movable = servers;
    for (uint32_t i = 0; i < design->device_count; i++) {
        uint32_t kind = design->place[i].kind;
        if (kind != MYR_DEVICE_NODE && room->device_rack[i] != MYR_NONE) {
            crowd->things[crowd->count++] = (struct thing){.need = room_load(room, i),
                                                           .device = i,
                                                           .devices = 1,
                                                           .rack = room->device_rack[i],
                                                           .block = ROOM_NONE,
                                                           .fixed = kind >= MYR_DEVICE_PDU};
            crowd->movable += kind < MYR_DEVICE_PDU; /* strips are the last devices of all */
        }
    }
    /* Devices without a rack are no things. */
    for (uint32_t i = 0; i < design->device_count; i++) {
        thing_of[i] = CROWD_END;
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        for (uint32_t k = 0; k < crowd->things[i].devices; k++) {
            thing_of[crowd->things[i].device + k] = i;
        }
    }
    /* Servers and leaves of a block know it; its spines may stand anywhere. */
    for (uint32_t i = 0; i < room->block_count; i++) {
        const struct block *block = &room->blocks[i];
        for (uint32_t k = 0; k < block->servers; k++) {
            crowd->things[block->first_server + k].block = i;
        }
        for (uint32_t k = 0; k < block->seats; k++) {
            uint32_t device = room->seats[block->first_seat + k], thing = thing_of[device];
            if (thing != CROWD_END && of_block(design->place[device].kind)) {
                crowd->things[thing].block = i;
                crowd->things[thing].leaf = true;
            }
        }
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Shares of a cable are counted in these parts, so that halves and quarters are whole numbers. */
static uint32_t most_legs(const struct myr_design *design)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t legs = room_legs(design, i);
        most = legs > most ? legs : most;
    }
    return most;
}

/* What the link of a port is of a cable, in parts; more in a layer that is pulled together. */
static uint32_t share_of_cable(const struct crowd *crowd, uint32_t port)
{
    const struct room *room = crowd->room;
    const struct myr_design *design = &room->plan->design;
    uint32_t link = design->port_link[port];
    const struct myr_cabletype *type =
        &room->plan->cabletypes.items[design->cable_type[design->link_cable[link]]];
    return crowd->parts / room_legs(design, link) * (1 + room->pull[type->net][type->layer]);
}

struct end {
    uint32_t thing, share;
};

static int compare_ends(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    return x->thing < y->thing ? -1 : x->thing > y->thing;
}

/* The things at the other ends, in order, each once with its share of cables. */
static void gather_peers(struct crowd *crowd)
{
    const uint32_t *thing_of = crowd->thing_of;
    const struct myr_design *design = &crowd->room->plan->design;
    struct myr_arena *arena = crowd->room->arena;
    /* Scratch for the ports of one thing. */
    struct end *ends = MYR_ARENA_NEW(arena, struct end, (size_t)design->port_count + 1);
    uint32_t put = 0;
    crowd->first_peer = MYR_ARENA_NEW(arena, uint32_t, (size_t)crowd->count + 1);
    crowd->peers = MYR_ARENA_NEW(arena, struct peer, (size_t)design->link_count * 2 + 1);
    for (uint32_t i = 0; i < crowd->count; i++) {
        const struct thing *thing = &crowd->things[i];
        uint32_t count = 0;
        crowd->first_peer[i] = put;
        for (uint32_t p = design->first_port[thing->device];
             p < design->first_port[thing->device + thing->devices]; p++) {
            uint32_t peer = myr_design_peer(design, p);
            uint32_t other = peer == MYR_NONE ? CROWD_END : thing_of[design->port_device[peer]];
            if (other != CROWD_END && other != i) {
                ends[count++] = (struct end){other, share_of_cable(crowd, p)};
            }
        }
        qsort(ends, count, sizeof(*ends), compare_ends);
        /* Several cables to one thing become one peer. */
        for (uint32_t k = 0; k < count; k++) {
            if (k == 0 || ends[k].thing != ends[k - 1].thing) {
                crowd->peers[put++] = (struct peer){.thing = ends[k].thing};
            }
            crowd->peers[put - 1].cables += ends[k].share;
        }
    }
    crowd->first_peer[crowd->count] = put;
}

static uint32_t peer_count(const struct crowd *crowd, uint32_t thing)
{
    return crowd->first_peer[thing + 1] - crowd->first_peer[thing];
}

/* Peers are in order, so that equal lists are equal bytes. */
static bool same_peers(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    uint32_t count = peer_count(crowd, one);
    return count == peer_count(crowd, other) &&
           memcmp(crowd->peers + crowd->first_peer[one], crowd->peers + crowd->first_peer[other],
                  count * sizeof(*crowd->peers)) == 0;
}

/* Peers of a thing find each other quickly: things alike share their first peer. */
static void gather_classes(struct crowd *crowd)
{
    struct myr_arena *arena = crowd->room->arena;
    /* Lists of classes by their first peer, linked from the newest to the oldest. */
    uint32_t *newest = MYR_ARENA_NEW(arena, uint32_t, (size_t)crowd->count + 1);
    uint32_t *older = MYR_ARENA_NEW(arena, uint32_t, (size_t)crowd->count + 1);
    memset(newest, 0xff, sizeof(*newest) * (crowd->count + 1));
    for (uint32_t i = 0; i < crowd->count; i++) {
        /* The last list is of those without any peer. */
        uint32_t list =
            peer_count(crowd, i) ? crowd->peers[crowd->first_peer[i]].thing : crowd->count;
        uint32_t found = newest[list];
        while (found != CROWD_END && !same_peers(crowd, found, i)) {
            found = older[found];
        }
        if (found != CROWD_END) {
            crowd->things[i].kind_class = crowd->things[found].kind_class;
        } else {
            crowd->things[i].kind_class = crowd->class_count++;
            older[i] = newest[list];
            newest[list] = i;
        }
    }
}

/*
 * A cable is as long as its longest leg: the mean and half the difference, which is about the way
 * between the ends of the legs. So things that share cables, as the leaves of two planes do, are
 * drawn to each other. Those that are alike are not: they find their places in the end.
 */
static void gather_mates(struct crowd *crowd)
{
    const struct myr_design *design = &crowd->room->plan->design;
    for (uint32_t i = 0; i < crowd->count; i++) {
        crowd->things[i].mate = CROWD_END;
    }
    for (uint32_t link = 0; link + 1 < design->link_count; link++) {
        uint32_t one = crowd->thing_of[design->port_device[design->link_b[link]]];
        uint32_t other = crowd->thing_of[design->port_device[design->link_b[link + 1]]];
        /* Links of a cable follow each other, so that neighbours are enough to look at. */
        if (design->link_cable[link] != design->link_cable[link + 1] || one == CROWD_END ||
            other == CROWD_END ||
            crowd->things[one].kind_class == crowd->things[other].kind_class) {
            continue;
        }
        struct thing *x = &crowd->things[one], *y = &crowd->things[other];
        /* The first that share a cable become mates; a third one stays without. */
        if (x->mate == CROWD_END && y->mate == CROWD_END) {
            x->mate = other;
            y->mate = one;
        }
        x->shared += x->mate == other ? crowd->parts / 2 : 0;
        y->shared += y->mate == one ? crowd->parts / 2 : 0;
    }
}

/* For each thing the classes that it has cables to. A class is named once: all its things have as
 * many cables to this one. */
static void gather_class_peers(struct crowd *crowd)
{
    struct myr_arena *arena = crowd->room->arena;
    uint32_t *seen = MYR_ARENA_NEW(arena, uint32_t, (size_t)crowd->class_count + 1);
    uint32_t put = 0;
    crowd->first_class_peer = MYR_ARENA_NEW(arena, uint32_t, (size_t)crowd->count + 1);
    crowd->class_peers =
        MYR_ARENA_NEW(arena, struct class_peer, (size_t)crowd->first_peer[crowd->count] + 1);
    for (uint32_t i = 0; i < crowd->count; i++) {
        crowd->first_class_peer[i] = put;
        for (uint32_t k = crowd->first_peer[i]; k < crowd->first_peer[i + 1]; k++) {
            uint32_t kind_class = crowd->things[crowd->peers[k].thing].kind_class;
            /* Marked with the number of the thing, so that nothing has to be cleared. */
            if (seen[kind_class] != i + 1) {
                seen[kind_class] = i + 1;
                crowd->class_peers[put++] = (struct class_peer){kind_class, crowd->peers[k].cables};
            }
        }
    }
    crowd->first_class_peer[crowd->count] = put;
}

/* Things of a class have the same peers, so two classes have the same cables for any two things. */
static void gather_between(struct crowd *crowd)
{
    if (crowd->class_count > BETWEEN_MAX) {
        return;
    }
    size_t classes = crowd->class_count;
    crowd->between = MYR_ARENA_NEW(crowd->room->arena, uint32_t, classes * classes);
    /* Written several times with the same number: things of a class are alike. */
    for (uint32_t i = 0; i < crowd->count; i++) {
        for (uint32_t k = crowd->first_class_peer[i]; k < crowd->first_class_peer[i + 1]; k++) {
            const struct class_peer *peer = &crowd->class_peers[k];
            crowd->between[crowd->things[i].kind_class * classes + peer->kind_class] = peer->cables;
        }
    }
}

/* ---- the table ---- */

/* To the line of a class, for every rack: the ways to a thing that stands in 'rack'. */
static void add_ways(struct crowd *crowd, uint32_t kind_class, uint32_t rack, int64_t cables)
{
    int64_t *line = crowd->table + (size_t)kind_class * crowd->racks;
    const int32_t *way = crowd->way + (size_t)rack * crowd->racks;
    for (uint32_t i = 0; i < crowd->racks; i++) {
        line[i] += cables * way[i];
    }
}

/* The same for a thing that moved: one pass instead of two. */
static void shift_ways(struct crowd *crowd, const struct class_peer *peer, uint32_t from,
                       uint32_t to)
{
    int64_t *line = crowd->table + (size_t)peer->kind_class * crowd->racks;
    const int32_t *before = crowd->way + (size_t)from * crowd->racks;
    const int32_t *after = crowd->way + (size_t)to * crowd->racks;
    int64_t cables = peer->cables;
    for (uint32_t i = 0; i < crowd->racks; i++) {
        line[i] += cables * (after[i] - before[i]);
    }
}

/* Ways between all racks, then for each class and rack what a thing of the class would cost there.
 */
static void fill_table(struct crowd *crowd)
{
    struct room *room = crowd->room;
    crowd->way = MYR_ARENA_NEW(room->arena, int32_t, (size_t)crowd->racks * crowd->racks);
    crowd->table = MYR_ARENA_NEW(room->arena, int64_t, (size_t)crowd->class_count * crowd->racks);
    for (uint32_t i = 0; i < crowd->racks; i++) {
        /* Both directions, so that a row of the table is one piece of memory. */
        for (uint32_t k = 0; k < crowd->racks; k++) {
            crowd->way[(size_t)i * crowd->racks + k] = (int32_t)room_path_mm(room, i, k);
        }
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        for (uint32_t k = crowd->first_class_peer[i]; k < crowd->first_class_peer[i + 1]; k++) {
            add_ways(crowd, crowd->class_peers[k].kind_class, crowd->things[i].rack,
                     crowd->class_peers[k].cables);
        }
    }
}

/* Lists of what stands in a rack, linked both ways: leaving takes no search. */
static void enter_list(struct crowd *crowd, uint32_t thing, uint32_t rack)
{
    crowd->before_in[thing] = CROWD_END;
    crowd->next_in[thing] = crowd->first_in[rack];
    if (crowd->first_in[rack] != CROWD_END) {
        crowd->before_in[crowd->first_in[rack]] = thing;
    }
    crowd->first_in[rack] = thing;
    crowd->rack_things[rack]++;
}

/* Who stands where, and how many of each block in every row and column. */
static void fill_racks(struct crowd *crowd)
{
    struct myr_arena *arena = crowd->room->arena;
    crowd->first_in = MYR_ARENA_NEW(arena, uint32_t, crowd->racks);
    crowd->rack_things = MYR_ARENA_NEW(arena, uint32_t, crowd->racks);
    crowd->next_in = MYR_ARENA_NEW(arena, uint32_t, crowd->count);
    crowd->before_in = MYR_ARENA_NEW(arena, uint32_t, crowd->count);
    crowd->lines = crowd->room->rows + crowd->room->columns;
    crowd->block_counts =
        MYR_ARENA_NEW(arena, uint16_t, (size_t)crowd->room->block_count * crowd->lines * 2 + 1);
    memset(crowd->first_in, 0xff, sizeof(*crowd->first_in) * crowd->racks);
    /* What is fixed is in no list: nobody makes it move, and it takes no place. */
    for (uint32_t i = 0; i < crowd->movable; i++) {
        enter_list(crowd, i, crowd->things[i].rack);
        crowd_count(crowd, i, ROOM_NONE, crowd->things[i].rack);
    }
}

/* Peers before classes, classes before the table: each rests on the one before. */
bool crowd_gather(struct crowd *crowd, struct room *room)
{
    const struct myr_design *design = &room->plan->design;
    *crowd = (struct crowd){.room = room, .racks = room->rack_count};
    if (room->rack_count > RACKS_MAX) {
        return false;
    }
    crowd->parts = most_legs(design);
    crowd->thing_of = MYR_ARENA_NEW(room->arena, uint32_t, design->device_count);
    crowd->things = MYR_ARENA_NEW(room->arena, struct thing, design->device_count);
    gather_things(crowd);
    gather_peers(crowd);
    gather_classes(crowd);
    /* Too many things that differ for a table. */
    if ((uint64_t)crowd->class_count * crowd->racks > TABLE_MAX || crowd->count < 2) {
        return false;
    }
    gather_mates(crowd);
    gather_class_peers(crowd);
    gather_between(crowd);
    fill_table(crowd);
    fill_racks(crowd);
    return true;
}

/* ---- moving ---- */

/* The table stays until the thing enters somewhere. */
void crowd_leave(struct crowd *crowd, uint32_t thing)
{
    uint32_t rack = crowd->things[thing].rack;
    uint32_t before = crowd->before_in[thing], next = crowd->next_in[thing];
    if (before == CROWD_END) {
        crowd->first_in[rack] = next;
    } else {
        crowd->next_in[before] = next;
    }
    if (next != CROWD_END) {
        crowd->before_in[next] = before;
    }
    MYR_ASSERT(crowd->rack_things[rack] > 0);
    crowd->rack_things[rack]--;
    room_give(&crowd->room->racks[rack], &crowd->things[thing].need);
}

/* Costs of all classes that have cables to it move along. */
void crowd_enter(struct crowd *crowd, uint32_t thing, uint32_t rack)
{
    uint32_t old = crowd->things[thing].rack;
    for (uint32_t k = crowd->first_class_peer[thing]; k < crowd->first_class_peer[thing + 1]; k++) {
        shift_ways(crowd, &crowd->class_peers[k], old, rack);
    }
    crowd_count(crowd, thing, old, rack);
    room_take(&crowd->room->racks[rack], &crowd->things[thing].need, 1);
    crowd->things[thing].rack = rack;
    enter_list(crowd, thing, rack);
}

/* ---- blocks ---- */

/* Rows first, then columns, all in one line. */
static uint16_t *counts_of(const struct crowd *crowd, uint32_t block, bool leaf)
{
    return crowd->block_counts + ((size_t)block * 2 + leaf) * crowd->lines;
}

/* Only servers and leaves of blocks are counted; all else may stand anywhere. */
void crowd_count(struct crowd *crowd, uint32_t thing, uint32_t from, uint32_t to)
{
    const struct thing *one = &crowd->things[thing];
    if (one->block == ROOM_NONE) {
        return;
    }
    uint16_t *counts = counts_of(crowd, one->block, one->leaf);
    const struct stand *racks = crowd->room->racks;
    /* ROOM_NONE: it comes in for the first time. */
    if (from != ROOM_NONE) {
        counts[racks[from].row]--;
        counts[crowd->room->rows + racks[from].column]--;
    }
    counts[racks[to].row]++;
    counts[crowd->room->rows + racks[to].column]++;
}

/* Lines between a leaf and the servers, less one, summed up over the lines that have leaves. */
static uint32_t lines_outside(const uint16_t *servers, const uint16_t *leaves, uint32_t count)
{
    uint32_t low = 0, high = count, sum = 0;
    while (low < count && !servers[low]) {
        low++;
    }
    /* A block without servers holds its leaves nowhere. */
    if (low == count) {
        return 0;
    }
    while (!servers[high - 1]) {
        high--;
    }
    /* The line right beside the servers is free of charge. */
    for (uint32_t i = 0; i + 1 < low; i++) {
        sum += leaves[i] ? low - 1 - i : 0;
    }
    for (uint32_t i = high + 1; i < count; i++) {
        sum += leaves[i] ? i - high : 0;
    }
    return sum;
}

uint32_t crowd_outside(const struct crowd *crowd, uint32_t thing)
{
    uint32_t block = crowd->things[thing].block, rows = crowd->room->rows;
    if (block == ROOM_NONE) {
        return 0;
    }
    const uint16_t *servers = counts_of(crowd, block, false);
    const uint16_t *leaves = counts_of(crowd, block, true);
    return lines_outside(servers, leaves, rows) +
           lines_outside(servers + rows, leaves + rows, crowd->lines - rows);
}

/* By halving: peers are in order. */
static uint32_t find_cables(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    uint32_t low = crowd->first_peer[one], high = crowd->first_peer[one + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (crowd->peers[middle].thing < other) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < crowd->first_peer[one + 1] && crowd->peers[low].thing == other;
    return found ? crowd->peers[low].cables : 0;
}

/* By class where there is a table of classes, else by looking through the peers. */
uint32_t crowd_cables(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    if (!crowd->between) {
        return find_cables(crowd, one, other);
    }
    const struct thing *things = crowd->things;
    return crowd
        ->between[(size_t)things[one].kind_class * crowd->class_count + things[other].kind_class];
}

/* ---- the end ---- */

struct stood {
    uint32_t kind_class, block, rack, thing;
    int64_t watts, units, grams;
};

/* Those that may stand for each other come together, by rack. */
static int compare_stood(const void *a, const void *b)
{
    const struct stood *x = a, *y = b;
    /* Class, block and need make things alike; racks and numbers put them in order. */
    const int64_t keys[][2] = {{x->kind_class, y->kind_class},
                               {x->block, y->block},
                               {x->watts, y->watts},
                               {x->units, y->units},
                               {x->grams, y->grams},
                               {x->rack, y->rack},
                               {x->thing, y->thing}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/*
 * Things of one class are exchangeable, so the lowest number gets the first rack: a crew finds
 * its way more easily, and no cable is longer for it.
 */
static void put_in_order(struct crowd *crowd, uint32_t *racks)
{
    struct stood *stood = MYR_ARENA_NEW(crowd->room->arena, struct stood, crowd->movable);
    uint32_t *members = MYR_ARENA_NEW(crowd->room->arena, uint32_t, crowd->movable);
    for (uint32_t i = 0; i < crowd->movable; i++) {
        const struct thing *thing = &crowd->things[i];
        stood[i] = (struct stood){thing->kind_class, thing->block,      racks[i],         i,
                                  thing->need.watts, thing->need.units, thing->need.grams};
    }
    qsort(stood, crowd->movable, sizeof(*stood), compare_stood);
    /* Racks in their order, things in the order of their numbers: one for one. */
    for (uint32_t i = 0, end; i < crowd->movable; i = end) {
        for (end = i; end < crowd->movable && crowd_alike(crowd, stood[i].thing, stood[end].thing);
             end++) {
            members[end] = stood[end].thing;
        }
        qsort(members + i, end - i, sizeof(*members), compare_u32);
        for (uint32_t k = i; k < end; k++) {
            racks[members[k]] = stood[k].rack;
        }
    }
}

/* The lists are emptied by it: a crowd is settled once. */
void crowd_settle(struct crowd *crowd, uint32_t *racks)
{
    struct room *room = crowd->room;
    put_in_order(crowd, racks);
    if (crowd->parts > 1) {
        crowd_join_legs(crowd, racks);
    }
    /* Everything leaves first, then enters: on the way no order of moves has to be found. */
    for (uint32_t i = 0; i < crowd->movable; i++) {
        crowd_leave(crowd, i);
    }
    for (uint32_t i = 0; i < room->rack_count; i++) {
        room->racks[i].servers = 0;
    }
    for (uint32_t i = 0; i < crowd->movable; i++) {
        const struct thing *thing = &crowd->things[i];
        room_take(&room->racks[racks[i]], &thing->need, 1);
        if (i < room->plan->spec->servers) {
            room->server_rack[i] = racks[i];
            room->racks[racks[i]].servers++;
        }
        for (uint32_t k = 0; k < thing->devices; k++) {
            room->device_rack[thing->device + k] = racks[i];
        }
    }
}
