#include <math.h>
#include <stdlib.h>

#include "room/fill.h"

/*
 * One block: as few racks as hold its servers and its switches. Racks are tried from one number
 * upwards; for each the switches are seated in the racks that suit them best, at the cost of as few
 * servers as possible, and it is counted whether the servers still find places. Nothing is taken
 * from a rack until a number works.
 */

/* So many racks more than needed are tried so that switches stand between their servers. */
enum { TOGETHER_TRIED = 12 };

/* Devices of one type follow each other, so that each type is looked up once. */
struct load fill_most_of(const struct room *room, const uint32_t *devices, uint32_t count)
{
    struct load most = {};
    uint16_t last = UINT16_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t type = room->plan->design.device_type[devices[i]];
        if (type == last) {
            continue;
        }
        struct load load = room_load(room, devices[i]);
        most.watts = load.watts > most.watts ? load.watts : most.watts;
        most.units = load.units > most.units ? load.units : most.units;
        most.grams = load.grams > most.grams ? load.grams : most.grams;
        last = type;
    }
    return most;
}

/* So many of 'need' leave room for all but 'lost' of the servers that the rack could take. */
uint32_t fill_seats_in(const struct room *room, const struct stand *rack, const struct load *need,
                       uint32_t lost, uint32_t wanted)
{
    uint32_t servers = room_fits(&rack->left, &room->server);
    uint32_t keep = servers > lost ? servers - lost : 0;
    struct load left = {rack->left.watts - room->server.watts * keep,
                        rack->left.units - room->server.units * keep,
                        rack->left.grams - room->server.grams * keep};
    uint32_t seats = room_fits(&left, need);
    return seats < wanted ? seats : wanted;
}

/*
 * Seats the block's switches in the candidates [at, at + count), in racks that lose at most 'lost'
 * servers each, and tells how many servers these racks then hold. 0 when a switch is left over.
 */
static uint32_t try_block(struct filling *fill, const struct block *block, const struct load *need,
                          uint32_t count, uint32_t lost)
{
    struct room *room = fill->room;
    /* Best racks first; a rack takes as many switches as leave room for the servers it may not
     * lose. */
    uint32_t seated = 0, held = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->order[i].rack;
        uint32_t seats = fill_seats_in(room, &room->racks[id], need, lost, block->seats - seated);
        struct load left = room->racks[id].left;
        left.watts -= need->watts * seats;
        left.units -= need->units * seats;
        left.grams -= need->grams * seats;
        held += room_fits(&left, &room->server);
        for (uint32_t k = 0; k < seats; k++) {
            fill->seat_rack[seated++] = id;
        }
    }
    return seated == block->seats ? held : 0;
}

/* The fewest racks from here on that hold so many servers, were there no switches; all that are
 * left where even these do not. */
static uint32_t racks_for_servers(const struct filling *fill, uint32_t servers)
{
    uint32_t held = 0, count = 0;
    while (fill->at + count < fill->count && held < servers) {
        held +=
            room_fits(&fill->room->racks[fill->racks[fill->at + count]].left, &fill->room->server);
        count++;
    }
    return count;
}

/* Carries out what try_block() seated last: switches first, then servers in order. */
static void put_block(struct filling *fill, struct block *block, uint32_t count)
{
    struct room *room = fill->room;
    uint32_t placed = 0, last = fill->at;
    block->first_rack = fill->racks[fill->at];
    block->last_rack = fill->racks[fill->at + count - 1];
    /* In the order in which try_block() has seated them. */
    for (uint32_t i = 0; i < block->seats; i++) {
        uint32_t device = room->seats[block->first_seat + i];
        struct load load = room_load(room, device);
        room_take(&room->racks[fill->seat_rack[i]], &load, 1);
        room->device_rack[device] = fill->seat_rack[i];
    }
    for (uint32_t i = fill->at; i < fill->at + count && placed < block->servers; i++) {
        struct stand *rack = &room->racks[fill->racks[i]];
        uint32_t here = room_fits(&rack->left, &room->server);
        here = here < block->servers - placed ? here : block->servers - placed;
        room_take(rack, &room->server, here);
        rack->servers += here;
        for (uint32_t k = 0; k < here; k++) {
            room->server_rack[block->first_server + placed++] = fill->racks[i];
        }
        last = i;
    }
    /* What is left over is counted: mixed power may make a place for it. */
    room->missing += block->servers - placed;
    /* The next block begins in the last rack, if that still takes a server. */
    bool full = room_fits(&room->racks[fill->racks[last]].left, &room->server) == 0;
    fill->at = last + (full ? 1 : 0);
    MYR_ASSERT(fill->at <= fill->count && placed <= block->servers);
}

/* A block is not torn apart where the order of filling goes on at the other side of the room. */
static void skip_jump(struct filling *fill, uint32_t count)
{
    const struct myr_spec_room *spec = fill->room->spec;
    /* Three columns with aisles, in mm. */
    double far = 3000 * (spec->column_pitch_m + spec->aisle_m);
    for (uint32_t i = fill->at + 1; i < fill->at + count; i++) {
        int64_t step =
            fill->room->racks[fill->racks[i]].x_mm - fill->room->racks[fill->racks[i - 1]].x_mm;
        if (fabs((double)step) > far) {
            fill->at = i;
            return;
        }
    }
}

/* Where the servers of the block would stand: rows and columns, or places in the order of racks. */
struct stretch {
    uint32_t low[2], high[2];
};

static void stretch_to(struct stretch *stretch, const uint32_t *at)
{
    for (uint32_t i = 0; i < 2; i++) {
        stretch->low[i] = at[i] < stretch->low[i] ? at[i] : stretch->low[i];
        stretch->high[i] = at[i] > stretch->high[i] ? at[i] : stretch->high[i];
    }
}

/* Aligned placements are judged along the order of racks, others by rows and columns. */
static void place_of(const struct filling *fill, uint32_t id, uint32_t *ret)
{
    const struct room *room = fill->room;
    bool aligned = room->spec->place == MYR_ROOM_ALIGNED;
    ret[0] = aligned ? id : room->racks[id].row;
    ret[1] = aligned ? 0 : room->racks[id].column;
}

/*
 * Whether the switches that were seated last would stand between the servers of their block, or
 * right beside them: those whose racks are full of switches push the servers to one side.
 */
static bool stands_together(const struct filling *fill, const struct block *block,
                            const struct load *need, uint32_t count)
{
    const struct room *room = fill->room;
    struct stretch stretch = {{UINT32_MAX, UINT32_MAX}, {0, 0}};
    uint32_t placed = 0, at[2];
    for (uint32_t i = fill->at; i < fill->at + count && placed < block->servers; i++) {
        struct load left = room->racks[fill->racks[i]].left;
        for (uint32_t k = 0; k < block->seats; k++) {
            bool here = fill->seat_rack[k] == fill->racks[i];
            left.watts -= here ? need->watts : 0;
            left.units -= here ? need->units : 0;
            left.grams -= here ? need->grams : 0;
        }
        /* Racks that hold switches alone do not count to where the servers stand. */
        uint32_t held = room_fits(&left, &room->server);
        if (held) {
            place_of(fill, fill->racks[i], at);
            stretch_to(&stretch, at);
            placed += held;
        }
    }
    for (uint32_t k = 0; k < block->seats; k++) {
        place_of(fill, fill->seat_rack[k], at);
        for (uint32_t i = 0; i < 2; i++) {
            if (at[i] + 1 < stretch.low[i] || at[i] > stretch.high[i] + 1) {
                return false;
            }
        }
    }
    return true;
}

/* Seats and servers in 'count' racks, for the fewest servers lost. */
static bool try_racks(struct filling *fill, struct block *block, const struct load *need,
                      uint32_t count, bool together)
{
    const struct room *room = fill->room;
    for (uint32_t lost = room->lost_least; lost <= room->lost_most; lost++) {
        if (try_block(fill, block, need, count, lost) >= block->servers &&
            (!together || stands_together(fill, block, need, count))) {
            put_block(fill, block, count);
            return true;
        }
    }
    return false;
}

struct offer { /* of the first racks from where the block begins */
    uint32_t racks;
    uint64_t seats, servers;
};

/*
 * Whether so many racks have the seats and places at all, in whatever order they are taken: asked
 * for one rack more each time. A large room that lacks seats would else be sorted for every rack.
 */
static bool offers_enough(const struct filling *fill, const struct block *block,
                          const struct load *need, uint32_t count, struct offer *offer)
{
    const struct room *room = fill->room;
    for (; offer->racks < count; offer->racks++) {
        const struct stand *rack = &room->racks[fill->racks[fill->at + offer->racks]];
        offer->seats += fill_seats_in(room, rack, need, room->lost_most, block->seats);
        offer->servers += room_fits(&rack->left, &room->server);
    }
    return offer->seats >= block->seats && offer->servers >= block->servers;
}

/* All of the block from the next rack on, in as few as possible. False: nothing was done. */
static bool fill_whole(struct filling *fill, struct block *block, const struct load *need)
{
    /* First only placements in which switches and servers stand together, in few racks more; then
     * any that has all of it. */
    uint32_t count = racks_for_servers(fill, block->servers);
    uint32_t most = fill->count - fill->at, first = count ? count : 1;
    for (count = first; count <= most && count < first + TOGETHER_TRIED; count++) {
        fill_rank(fill, block, count);
        if (try_racks(fill, block, need, count, true)) {
            return true;
        }
        /* The best racks for switches may push the servers aside: the middle ones seldom do. */
        fill_rank_middle(fill, count);
        if (try_racks(fill, block, need, count, true)) {
            return true;
        }
    }
    struct offer offer = {};
    for (count = first; count <= most; count++) {
        if (!offers_enough(fill, block, need, count, &offer)) {
            continue;
        }
        fill_rank(fill, block, count);
        if (try_racks(fill, block, need, count, false)) {
            return true;
        }
    }
    return false;
}

/* Whether the rack takes the whole block with these switches. */
static bool takes_whole(const struct room *room, uint32_t rack, const struct block *block,
                        const struct load *need, uint32_t seats)
{
    struct load left = room->racks[rack].left;
    if (seats > 0 && room_fits(&left, need) < seats) {
        return false;
    }
    left.watts -= need->watts * seats;
    left.units -= need->units * seats;
    left.grams -= need->grams * seats;
    return room_fits(&left, &room->server) >= block->servers;
}

/*
 * A leaf in the middle of a rack: its servers all stand in that rack, or their cables would go by
 * the tray. Spines of the pod have the racks before. False: nothing was done.
 */
static bool fill_rack(struct filling *fill, struct block *block, const struct load *need)
{
    struct room *room = fill->room;
    const uint32_t *seats = room->seats + block->first_seat;
    const struct myr_place *place = room->plan->design.place;
    uint32_t leaves = 0, spines = 0, at = fill->at, taken = 0;
    for (uint32_t i = 0; i < block->seats; i++) {
        bool leaf = place[seats[i]].kind == MYR_DEVICE_LEAF;
        leaves += leaf;
        spines += !leaf;
    }
    /* As many spines to a rack as it takes. */
    for (uint32_t i = 0; i < block->seats; i++) {
        if (place[seats[i]].kind == MYR_DEVICE_LEAF) {
            continue;
        }
        while (at < fill->count && room_fits(&room->racks[fill->racks[at]].left, need) <= taken) {
            at++;
            taken = 0;
        }
        if (at == fill->count) {
            return false;
        }
        fill->seat_rack[i] = fill->racks[at];
        taken++;
    }
    /* Their last rack may hold the block too, but nothing is counted out of it yet. */
    at += spines > 0;
    while (at < fill->count && !takes_whole(room, fill->racks[at], block, need, leaves)) {
        at++;
    }
    if (at == fill->count) {
        return false;
    }
    for (uint32_t i = 0; i < block->seats; i++) {
        if (place[seats[i]].kind == MYR_DEVICE_LEAF) {
            fill->seat_rack[i] = fill->racks[at];
        }
    }
    fill->at = at;
    put_block(fill, block, 1);
    return true;
}

/* 'partial': what does not fit is left over and counted. False: nothing was done. */
bool fill_block(struct filling *fill, struct block *block, bool partial)
{
    struct room *room = fill->room;
    struct load need = fill_most_of(room, room->seats + block->first_seat, block->seats);
    uint32_t at = fill->at;
    if (room->in_racks && fill_rack(fill, block, &need)) {
        return true;
    }
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        skip_jump(fill, racks_for_servers(fill, block->servers));
    }
    if (fill_whole(fill, block, &need)) {
        return true;
    }
    if (fill->at != at && partial) { /* torn apart is better than not at all */
        fill->at = at;
        if (fill_whole(fill, block, &need)) {
            return true;
        }
    }
    /* The last building takes what it can: the rest becomes the message of what is missing. */
    uint32_t most = fill->count - fill->at;
    if (!partial || most == 0) {
        return false;
    }
    fill_rank(fill, block, most);
    for (uint32_t lost = room->lost_least; lost <= room->lost_most; lost++) {
        if (try_block(fill, block, &need, most, lost) > 0) {
            put_block(fill, block, most);
            return true;
        }
    }
    return false;
}

/* The block from 'block' on that has the seat. */
static uint32_t owner_of(const struct room *room, uint32_t block, uint32_t seat)
{
    while (seat >= room->blocks[block].first_seat + room->blocks[block].seats) {
        block++;
    }
    return block;
}

/*
 * The spines of a pod stand with the block that is nearest to the centre: there the cables from the
 * others come by. Which that is shows when the pod gets its racks.
 */
void fill_deal_spines(struct filling *fill, uint32_t block, uint32_t end)
{
    struct room *room = fill->room;
    const struct myr_place *place = room->plan->design.place;
    if (fill->at >= fill->count) {
        return;
    }
    uint32_t servers = 0, seats = 0;
    for (uint32_t i = block; i < end; i++) {
        servers += room->blocks[i].servers;
        seats += room->blocks[i].seats;
    }
    /* The pod has no racks yet: about where it will end is enough to see which end is nearer. */
    uint32_t last = fill->at + ceil_div(servers, room->per_rack) - 1;
    last = last < fill->count ? last : fill->count - 1;
    uint32_t centre = room->halls[room->racks[fill->racks[fill->at]].hall].centre;
    /* The end of the pod's racks that is nearer to the centre gets the spines. */
    bool nearing = room_path_mm(room, fill->racks[last], centre) <
                   room_path_mm(room, fill->racks[fill->at], centre);
    uint32_t host = nearing ? end - 1 : block;
    uint32_t *dealt = MYR_ARENA_NEW(room->arena, uint32_t, seats);
    uint32_t put = 0, first = room->blocks[block].first_seat;
    /* Seats are dealt anew among the blocks of the pod; each block's stay in one stretch. */
    for (uint32_t i = block; i < end; i++) {
        uint32_t begin = put;
        for (uint32_t pass = 0; pass < 2; pass++) { /* spines first: they are nearer to the cores */
            for (uint32_t n = 0; n < seats; n++) {
                uint32_t device = room->seats[first + n];
                bool spine = place[device].kind == MYR_DEVICE_SPINE;
                uint32_t owner = spine ? host : owner_of(room, block, first + n);
                if (spine == (pass == 0) && owner == i) {
                    dealt[put++] = device;
                }
            }
        }
        fill->dealt[i - block] = put - begin;
    }
    MYR_ASSERT(put == seats);
    memcpy(room->seats + first, dealt, sizeof(*dealt) * seats);
    /* Seats of the pod stay where they are in the list: only their owners change. */
    for (uint32_t i = block; i < end; i++) {
        room->blocks[i].first_seat = first;
        room->blocks[i].seats = fill->dealt[i - block];
        first += room->blocks[i].seats;
    }
    MYR_ASSERT(first == room->blocks[block].first_seat + seats);
}
