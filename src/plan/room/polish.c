#include "room/room.h"

/*
 * The last of the shortest placement: things change places as long as that makes cables shorter.
 * Servers with servers, switches with switches of their kind, either with a free place, whole racks
 * with whole racks. No limit can be passed: what changes places needs the same, and a free place is
 * asked first. Leaves stay within the rows and columns of their block. Only rooms that are small
 * enough for trying all pairs are polished; in large ones there is little to win.
 */

enum { PASSES_MAX = 12 };

/* Rows and columns between which a block's servers stand. */
struct box {
    uint32_t hall, low_row, high_row, low_column, high_column;
};

struct polish {
    struct room *room;
    struct box *boxes; /* by block */
    const struct myr_design *design;
    uint32_t movable_count, *movable; /* switches of the blocks and above them */
    uint32_t *block_of;               /* of a movable switch; ROOM_NONE above them */
    uint32_t work, work_max;          /* ways that are measured; then it is enough */
};

static uint32_t nodes_of(const struct polish *p)
{
    return p->room->plan->server->server.nodes;
}

/* The ways of all cables of a device, if it stood in 'rack'. */
static int64_t device_ways(struct polish *p, uint32_t device, uint32_t rack)
{
    const struct myr_design *design = p->design;
    int64_t sum = 0;
    for (uint32_t i = design->first_port[device]; i < design->first_port[device + 1]; i++) {
        uint32_t peer = myr_design_peer(design, i);
        uint32_t there =
            peer == MYR_NONE ? MYR_NONE : p->room->device_rack[design->port_device[peer]];
        if (there != MYR_NONE) {
            int64_t way = room_path_mm(p->room, rack, there);
            uint32_t legs = room_legs(design, design->port_link[i]);
            sum += legs > 1 ? way / legs : way; /* to divide takes longer than all the rest */
            p->work++;
        }
    }
    return sum;
}

static int64_t server_ways(struct polish *p, uint32_t server, uint32_t rack)
{
    uint32_t nodes = nodes_of(p), first = p->design->head->first_node + server * nodes;
    int64_t sum = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        sum += device_ways(p, first + i, rack);
    }
    return sum;
}

/* All its nodes move with it. */
static void put_server(struct polish *p, uint32_t server, uint32_t rack)
{
    uint32_t nodes = nodes_of(p), first = p->design->head->first_node + server * nodes;
    p->room->server_rack[server] = rack;
    for (uint32_t i = 0; i < nodes; i++) {
        p->room->device_rack[first + i] = rack;
    }
}

/* Read anew each time: servers move. */
static struct box box_of(const struct polish *p, uint32_t block)
{
    const struct block *b = &p->room->blocks[block];
    /* A block stands in one hall: that of any of its servers. */
    struct box box = {.low_row = UINT32_MAX, .low_column = UINT32_MAX};
    for (uint32_t i = b->first_server; i < b->first_server + b->servers; i++) {
        const struct stand *rack = &p->room->racks[p->room->server_rack[i]];
        box.hall = rack->hall;
        box.low_row = rack->row < box.low_row ? rack->row : box.low_row;
        box.high_row = rack->row > box.high_row ? rack->row : box.high_row;
        box.low_column = rack->column < box.low_column ? rack->column : box.low_column;
        box.high_column = rack->column > box.high_column ? rack->column : box.high_column;
    }
    return box;
}

/* Whether a switch of the block may stand there. */
static bool may_stand(const struct polish *p, uint32_t block, uint32_t rack)
{
    if (block == ROOM_NONE) {
        return true;
    }
    struct box box = p->boxes[block];
    const struct stand *stand = &p->room->racks[rack];
    return stand->hall == box.hall && stand->row >= box.low_row && stand->row <= box.high_row &&
           stand->column >= box.low_column && stand->column <= box.high_column;
}

static uint32_t block_of_server(const struct room *room, uint32_t server)
{
    /* By halving, as blocks lie in order. */
    uint32_t low = 0, high = room->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        low = room->blocks[middle].first_server <= server ? middle : low;
        high = room->blocks[middle].first_server <= server ? high : middle;
    }
    return low;
}

/* Whether the block of a server still has its switches within it, or right beside it. */
static bool holds_switches(const struct polish *p, uint32_t server)
{
    uint32_t block = block_of_server(p->room, server);
    const struct block *b = &p->room->blocks[block];
    struct box box = box_of(p, block);
    for (uint32_t i = 0; i < b->seats; i++) {
        const struct stand *rack =
            &p->room->racks[p->room->device_rack[p->room->seats[b->first_seat + i]]];
        if (rack->row + 1 < box.low_row || rack->row > box.high_row + 1 ||
            rack->column + 1 < box.low_column || rack->column > box.high_column + 1) {
            return false;
        }
    }
    return true;
}

/* ---- servers ---- */

/* Into the first free place that is shorter; 'false' leaves all as it was. */
static bool move_server(struct polish *p, uint32_t server)
{
    struct room *room = p->room;
    uint32_t from = room->server_rack[server];
    int64_t now = server_ways(p, server, from);
    for (uint32_t rack = 0; rack < room->rack_count; rack++) {
        if (rack != from && room->racks[rack].hall == room->racks[from].hall &&
            room_fits(&room->racks[rack].left, &room->server) > 0 &&
            server_ways(p, server, rack) < now) {
            put_server(p, server, rack);
            /* A block must not be drawn away from its switches. */
            if (!holds_switches(p, server)) {
                put_server(p, server, from);
                continue;
            }
            room_take(&room->racks[rack], &room->server, 1);
            room_give(&room->racks[from], &room->server);
            room->racks[rack].servers++;
            room->racks[from].servers--;
            return true;
        }
    }
    return false;
}

/* With servers from 'first' on, of other blocks: within a block all are alike. */
static bool swap_server(struct polish *p, uint32_t server, uint32_t first)
{
    struct room *room = p->room;
    bool better = false;
    int64_t now = server_ways(p, server, room->server_rack[server]);
    for (uint32_t other = first; other < room->plan->spec->servers; other++) {
        uint32_t a = room->server_rack[server], b = room->server_rack[other];
        if (a == b || room->racks[a].hall != room->racks[b].hall) {
            continue;
        }
        int64_t there = server_ways(p, server, b);
        if (there + server_ways(p, other, a) < now + server_ways(p, other, b)) {
            put_server(p, server, b);
            put_server(p, other, a);
            /* Both blocks have to hold what is theirs. */
            bool held = holds_switches(p, server) && holds_switches(p, other);
            if (!held) {
                put_server(p, server, a);
                put_server(p, other, b);
            }
            now = held ? there : now;
            better = better || held;
        }
    }
    return better;
}

/* Block by block; true where anything got shorter. */
static bool polish_servers(struct polish *p)
{
    bool better = false;
    for (uint32_t i = 0; i < p->room->block_count && p->work < p->work_max; i++) {
        const struct block *b = &p->room->blocks[i];
        uint32_t end = b->first_server + b->servers;
        for (uint32_t s = b->first_server; s < end && p->work < p->work_max; s++) {
            better = move_server(p, s) || better;
            /* Pairs within a block would win nothing, earlier blocks were tried from their side. */
            better = swap_server(p, s, end) || better;
        }
    }
    return better;
}

/* ---- switches ---- */

/* Into the best free place of its hall. */
static bool move_switch(struct polish *p, uint32_t index)
{
    struct room *room = p->room;
    uint32_t device = p->movable[index], from = room->device_rack[device];
    struct load need = room_load(room, device);
    int64_t least = device_ways(p, device, from);
    uint32_t best = from;
    /* Unlike a server, a switch takes the best of all free places. */
    for (uint32_t rack = 0; rack < room->rack_count; rack++) {
        if (room->racks[rack].hall == room->racks[from].hall && rack != from &&
            room_fits(&room->racks[rack].left, &need) > 0 &&
            may_stand(p, p->block_of[index], rack)) {
            int64_t ways = device_ways(p, device, rack);
            if (ways < least) {
                least = ways;
                best = rack;
            }
        }
    }
    if (best != from) {
        room_take(&room->racks[best], &need, 1);
        room_give(&room->racks[from], &need);
        room->device_rack[device] = best;
    }
    return best != from;
}

/* Ways of both, cables between them included; what they are when both are moved is seen so. */
static bool swap_switch(struct polish *p, uint32_t one, uint32_t other)
{
    struct room *room = p->room;
    uint32_t a = p->movable[one], b = p->movable[other];
    uint32_t rack_a = room->device_rack[a], rack_b = room->device_rack[b];
    const uint16_t *type = p->design->device_type;
    if (rack_a == rack_b || room->racks[rack_a].hall != room->racks[rack_b].hall ||
        /* The same part needs the same: no rack can be passed by it. */
        strcmp(room_part(room, type[a]), room_part(room, type[b])) != 0 ||
        !may_stand(p, p->block_of[one], rack_b) || !may_stand(p, p->block_of[other], rack_a)) {
        return false;
    }
    /* Cables between both are counted twice, before as after. */
    int64_t now = device_ways(p, a, rack_a) + device_ways(p, b, rack_b);
    room->device_rack[a] = rack_b;
    room->device_rack[b] = rack_a;
    if (device_ways(p, a, rack_b) + device_ways(p, b, rack_a) < now) {
        return true;
    }
    room->device_rack[a] = rack_a;
    room->device_rack[b] = rack_b;
    return false;
}

/* First into free places, then pair by pair. */
static bool polish_switches(struct polish *p)
{
    bool better = false;
    /* Boxes are those of the beginning of the pass: servers do not move meanwhile. */
    for (uint32_t i = 0; i < p->room->block_count; i++) {
        p->boxes[i] = box_of(p, i);
    }
    for (uint32_t i = 0; i < p->movable_count && p->work < p->work_max; i++) {
        better = move_switch(p, i) || better;
    }
    for (uint32_t i = 0; i < p->movable_count; i++) {
        for (uint32_t k = i + 1; k < p->movable_count && p->work < p->work_max; k++) {
            better = swap_switch(p, i, k) || better;
        }
    }
    return better;
}

static void add_movable(struct polish *p, uint32_t device, uint32_t block)
{
    p->block_of[p->movable_count] = block;
    p->movable[p->movable_count++] = device;
}

void room_polish(struct room *room, uint32_t work_max)
{
    struct polish p = {.room = room, .design = &room->plan->design, .work_max = work_max};
    uint32_t servers = room->plan->spec->servers, switches = room->seat_count + room->top_count;
    p.movable = MYR_ARENA_NEW(room->arena, uint32_t, switches);
    p.block_of = MYR_ARENA_NEW(room->arena, uint32_t, switches);
    p.boxes = MYR_ARENA_NEW(room->arena, struct box, room->block_count);
    /* Nodes get their racks here: until now only servers had them. */
    for (uint32_t i = 0; i < servers; i++) {
        put_server(&p, i, room->server_rack[i]);
    }
    for (uint32_t i = 0; i < room->block_count; i++) {
        for (uint32_t k = 0; k < room->blocks[i].seats; k++) {
            uint32_t device = room->seats[room->blocks[i].first_seat + k];
            if (!room->in_racks || p.design->place[device].kind != MYR_DEVICE_LEAF) {
                add_movable(&p, device, room->in_racks ? ROOM_NONE : i);
            }
        }
    }
    for (uint32_t i = 0; i < room->top_count; i++) {
        add_movable(&p, room->tops[i], ROOM_NONE);
    }
    bool better = true;
    /* Until a whole pass changes nothing. */
    for (uint32_t pass = 0; better && pass < PASSES_MAX && p.work < p.work_max; pass++) {
        better = polish_switches(&p);
        /* A server does not leave the rack of its leaf. */
        better = (!room->in_racks && polish_servers(&p)) || better;
    }
}
