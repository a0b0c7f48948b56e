#include <math.h>
#include <stdlib.h>

#include "room/fill.h"

/*
 * Servers and the switches of their network. The switches above all blocks are put first, into the
 * middle. Then block after block takes the next racks: as few as hold its servers and its switches,
 * the switches in the racks that suit them best, the servers in order in what is left.
 *
 *   aligned   every rack in its order; leaves in the room's rows for them, in the middle column of
 *             their block; the upper switches in their column, beginning in the leaves' first row
 *   shortest  the racks around the middle; leaves where their cables are shortest. Where a leaf
 *             stands between its servers and the spines, its cables are no longer than straight
 *             ones from the servers to the spines: that is what bound.c measures against.
 */

/* Rooms of so many servers are polished from every start, larger ones from the best. */
enum {
    LOST_TRIED_MAX = 8,
    FLATNESS_COUNT = 3,
    POLISHED_MAX = 512,
    POLISH_START = 2000000, /* ways to measure: for comparing starts, and for one alone */
    POLISH_MOST = 40000000,
};

/* Blocks of a pod follow each other. */
static uint32_t pod_end(const struct room *room, uint32_t block)
{
    uint32_t end = block + 1;
    while (end < room->block_count && room->blocks[end].pod == room->blocks[block].pod) {
        end++;
    }
    return end;
}

/* Whole pods only: one that does not fit goes to the next building. Returns the next block. */
static uint32_t fill_hall(struct filling *fill, uint32_t block, bool last)
{
    struct room *room = fill->room;
    struct stand *before = NULL;
    while (block < room->block_count) {
        uint32_t end = pod_end(room, block), at = fill->at;
        /* Taken back as a whole where a pod does not fit; the last building takes what it can. */
        if (!last) {
            before = before ? before : MYR_ARENA_NEW(room->arena, struct stand, room->rack_count);
            memcpy(before, room->racks, sizeof(*before) * room->rack_count);
        }
        if (room->spec->place == MYR_ROOM_SHORTEST) {
            fill_deal_spines(fill, block, end);
        }
        /* A pod stands in one building as a whole, or in the next. */
        for (uint32_t i = block; i < end; i++) {
            if (!fill_block(fill, &room->blocks[i], last)) {
                if (!last) {
                    memcpy(room->racks, before, sizeof(*before) * room->rack_count);
                    fill->at = at;
                    return block;
                }
                return i;
            }
        }
        block = end;
    }
    return block;
}

/* From this block on. */
static uint32_t servers_left(const struct room *room, uint32_t block)
{
    return block < room->block_count ? room->plan->spec->servers - room->blocks[block].first_server
                                     : 0;
}

/* The shortest placement begins with as few racks around the centre as hold the servers, and takes
 * more of them while a block finds no place. */
static uint32_t place_hall(struct room *room, const struct hall *hall, uint32_t block, bool last)
{
    struct filling fill = {.room = room};
    uint32_t *racks = MYR_ARENA_NEW(room->arena, uint32_t, hall->racks);
    struct choice *nearest = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    struct stand *before = MYR_ARENA_NEW(room->arena, struct stand, hall->racks);
    fill.order = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    fill.seat_rack = MYR_ARENA_NEW(room->arena, uint32_t, room->seat_count);
    fill.sums = MYR_ARENA_NEW(room->arena, double, 2 * ((size_t)hall->columns + hall->rows));
    fill.at_mm = MYR_ARENA_NEW(room->arena, int64_t, (size_t)hall->columns + hall->rows);
    fill.dealt = MYR_ARENA_NEW(room->arena, uint32_t, room->block_count);
    fill.racks = racks;
    /* By distance to the centre: these are the racks that the shortest placement takes. */
    for (uint32_t i = 0; i < hall->racks; i++) {
        uint32_t id = hall->first_rack + i;
        nearest[i] = (struct choice){(double)room_path_mm(room, id, hall->centre), id};
    }
    qsort(nearest, hall->racks, sizeof(*nearest), fill_compare);
    memcpy(before, room->racks + hall->first_rack, sizeof(*before) * hall->racks);
    uint32_t want = room->spec->place == MYR_ROOM_SHORTEST
                        ? ceil_div(servers_left(room, block), room->per_rack)
                        : hall->racks;
    for (;;) {
        want = want < hall->racks ? want : hall->racks;
        fill_choose_racks(room, hall, want, nearest, racks);
        fill.count = want;
        fill.at = 0;
        room->missing = 0;
        /* Only with all racks of the last hall may a part of a block be left over. */
        uint32_t next = fill_hall(&fill, block, last && want == hall->racks);
        if (next == room->block_count || want == hall->racks) {
            return next;
        }
        memcpy(room->racks + hall->first_rack, before, sizeof(*before) * hall->racks);
        /* A step that grows with the room: large ones would else be filled too often. */
        want += want / 64 + 1;
    }
}

/* ---- the switches above ---- */

/*
 * Share of the servers that will stand in each hall, when halls are filled one after the other: a
 * pod that does not fit into what is left goes to the next one as a whole.
 */
static void hall_shares(const struct room *room, double *ret)
{
    uint32_t all = room->plan->spec->servers, hall = 0, here = 0;
    memset(ret, 0, sizeof(*ret) * room->hall_count);
    for (uint32_t block = 0, end; block < room->block_count; block = end) {
        end = pod_end(room, block);
        uint32_t behind = end < room->block_count ? room->blocks[end].first_server : all;
        uint32_t servers = behind - room->blocks[block].first_server;
        /* In racks, as if nothing but servers stood there. */
        while (hall + 1 < room->hall_count &&
               ceil_div(here + servers, room->per_rack) > room->halls[hall].racks) {
            hall++;
            here = 0;
        }
        here += servers;
        ret[hall] += (double)servers / all;
    }
    ret[0] = room->block_count ? ret[0] : 1;
}

/* Mean distance to points spread evenly over 'width', and to the far ones through the corner. */
static double mean_way(double at, double width, double share)
{
    double here = width > 0 ? (at * at + (width - at) * (width - at)) / (2 * width) : 0;
    return share * here + (1 - share) * at;
}

/* Shortest: the mean way to all servers, which are taken to be spread over the hall. Aligned: along
 * the spines' column, then the columns beside it, the right one first. */
static double top_cost(const struct room *room, uint32_t id, double share)
{
    const struct stand *rack = &room->racks[id];
    const struct hall *hall = &room->halls[rack->hall];
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        /* A hall that is not filled is used around its middle alone. */
        const struct stand *far = &room->racks[hall->first_rack + (hall->columns - 1) * hall->rows];
        double middle = (double)far->y_mm / 2 * (share > 0.5 ? (2 * share - 1) / share : 0);
        return mean_way((double)rack->x_mm, (double)far->x_mm, share) +
               mean_way((double)rack->y_mm, (double)far->y_mm, share) +
               room->flatness * fabs((double)rack->y_mm - middle);
    }
    /* The middle column where the spec names none. */
    uint32_t column = room->spec->spine_column ? room->spec->spine_column - 1 : hall->columns / 2;
    column = column < hall->columns ? column : hall->columns - 1;
    uint32_t first = fill_first_row(room, hall) - 1;
    double away = rack->column > column ? rack->column - column - 0.5 : column - rack->column;
    double down = rack->row <= first ? first - rack->row : hall->rows + rack->row - first;
    return away * 1e6 + down;
}

/* Fewest servers lost first: beside a full set of them if that is possible at all. */
static uint32_t place_tops(struct room *room, const struct hall *hall, double share, uint32_t from,
                           uint32_t count)
{
    struct choice *order = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    struct load need = fill_most_of(room, room->tops + from, count);
    for (uint32_t i = 0; i < hall->racks; i++) {
        uint32_t id = hall->first_rack + i;
        order[i] = (struct choice){top_cost(room, id, share), id};
    }
    qsort(order, hall->racks, sizeof(*order), fill_compare);
    uint32_t placed = 0;
    /* More servers are given up only when all racks are asked. */
    for (uint32_t lost = room->lost_least; lost <= room->per_rack && placed < count; lost++) {
        for (uint32_t i = 0; i < hall->racks && placed < count; i++) {
            struct stand *rack = &room->racks[order[i].rack];
            uint32_t seats = fill_seats_in(room, rack, &need, lost, count - placed);
            for (uint32_t k = 0; k < seats; k++) {
                uint32_t device = room->tops[from + placed++];
                struct load load = room_load(room, device);
                room_take(rack, &load, 1);
                room->device_rack[device] = order[i].rack;
            }
        }
    }
    return placed;
}

/* The rack in which a switch above all would stand best. */
static void find_centres(struct room *room, const double *shares)
{
    for (uint32_t h = 0; h < room->hall_count; h++) {
        struct hall *hall = &room->halls[h];
        double least = -1;
        for (uint32_t i = 0; i < hall->racks; i++) {
            double cost = top_cost(room, hall->first_rack + i, shares[h]);
            if (least < 0 || cost < least) {
                least = cost;
                hall->centre = hall->first_rack + i;
            }
        }
    }
}

/*
 * Spread over two halls, half of the switches above have most of their cables from the other hall.
 * In the fullest hall all of them have the fewest; what comes from the others comes by the corner.
 */
static void gather_shares(const struct room *room, double *shares)
{
    uint32_t fullest = 0;
    for (uint32_t h = 1; h < room->hall_count; h++) {
        fullest = shares[h] > shares[fullest] ? h : fullest;
    }
    for (uint32_t h = 0; h < room->hall_count; h++) {
        shares[h] = h == fullest ? shares[h] : 0;
    }
}

/* Tops first, then block by block. Returns the first block without a place; all of them: it went
 * well. */
static uint32_t place_once(struct room *room)
{
    double shares[MYR_ROOM_BUILDINGS_MAX];
    uint32_t next = 0, block = 0, topped = 0;
    hall_shares(room, shares);
    if (room->gathered) {
        gather_shares(room, shares);
    }
    find_centres(room, shares);
    double share = 0;
    for (uint32_t h = 0; h < room->hall_count; h++) {
        share += shares[h];
        /* Tops are dealt out in proportion to the servers; rounding goes to the last hall. */
        uint32_t end = (uint32_t)(share * room->top_count + 0.5);
        end = !room->gathered ? end : share > 0 ? room->top_count : 0;
        end = h + 1 == room->hall_count || end > room->top_count ? room->top_count : end;
        topped += place_tops(room, &room->halls[h], shares[h], next, end - next);
        next = end;
    }
    MYR_ASSERT(next == room->top_count && topped <= next);
    if (topped < room->top_count) {
        return 0;
    }
    for (uint32_t h = 0; h < room->hall_count && block < room->block_count; h++) {
        block = place_hall(room, &room->halls[h], block, h + 1 == room->hall_count);
    }
    return block;
}

/* As before anything stood; mixed pairs keep their changed power. */
static void clear_racks(struct room *room)
{
    for (uint32_t i = 0; i < room->rack_count; i++) {
        struct stand *rack = &room->racks[i];
        rack->left = room->rack;
        rack->left.watts = rack->watts_max;
        rack->servers = 0;
        if (rack->extra) { /* its extra servers come last, in what others leave */
            rack->left.watts = room->rack.watts;
        }
    }
    for (uint32_t i = 0; i < room->plan->spec->servers; i++) {
        room->server_rack[i] = ROOM_NONE;
    }
    for (uint32_t i = 0; i < room->seat_count; i++) {
        room->device_rack[room->seats[i]] = MYR_NONE;
    }
    for (uint32_t i = 0; i < room->top_count; i++) {
        room->device_rack[room->tops[i]] = MYR_NONE;
    }
    room->missing = 0;
    room_reserve(room, false);
}

/* ---- racks of mixed power ---- */

/* Two neighbours without switches, one of which may take a server more if the other gives. */
static bool pair_of(const struct room *room, const bool *busy, uint32_t upper)
{
    const struct stand *a = &room->racks[upper], *b = &room->racks[upper + 1];
    return a->hall == b->hall && a->column == b->column && !a->mixed && !b->mixed && !busy[upper] &&
           !busy[upper + 1];
}

/*
 * (15, 15) kW become (20, 10): the pair draws what it drew, and holds one server more. Pairs are
 * taken from the end of the room, away from switches, until 'wanted' servers have a place.
 */
static bool mix_power(struct room *room, uint32_t wanted)
{
    /* Watts that the larger one lacks for a server more; the other must still carry its own. */
    int64_t give = room->server.watts * (room->per_rack + 1) - room->rack.watts;
    struct load bigger = room->rack;
    bigger.watts += give;
    if (give <= 0 || room->rack.watts - give < room->server.watts * room->per_rack ||
        room_fits(&bigger, &room->server) <= room->per_rack) {
        return false;
    }
    /* Racks with switches keep their power: it was reckoned with when they were seated. */
    bool *busy = MYR_ARENA_NEW(room->arena, bool, room->rack_count);
    for (uint32_t i = 0; i < room->top_count; i++) {
        busy[room->device_rack[room->tops[i]]] = true;
    }
    for (uint32_t i = 0; i < room->seat_count; i++) {
        uint32_t rack = room->device_rack[room->seats[i]];
        if (rack != MYR_NONE) {
            busy[rack] = true;
        }
    }
    uint32_t found = 0;
    /* From the end of the room, where the racks are least likely to have switches. */
    for (uint32_t i = room->rack_count - 1; i-- > 0 && found < wanted;) {
        if (pair_of(room, busy, i)) {
            room->racks[i].mixed = room->racks[i + 1].mixed = true;
            room->racks[i].watts_max = room->rack.watts - give;
            room->racks[i + 1].watts_max = room->rack.watts + give;
            room->racks[i + 1].extra = 1;
            found++;
        }
    }
    room->pairs = found;
    return found == wanted;
}

/* Servers that found no place, into the racks of mixed pairs, in their order. */
static void put_extras(struct room *room)
{
    uint32_t rack = 0;
    for (uint32_t i = 0; i < room->plan->spec->servers; i++) {
        if (room->server_rack[i] != ROOM_NONE) {
            continue;
        }
        while (rack < room->rack_count && !room->racks[rack].extra) {
            rack++;
        }
        if (rack == room->rack_count) {
            return;
        }
        struct stand *stand = &room->racks[rack];
        /* Until now the rack was filled as one of common power. */
        stand->left.watts += stand->watts_max - room->rack.watts;
        stand->extra = 0;
        if (room_fits(&stand->left, &room->server) > 0) {
            room_take(stand, &room->server, 1);
            stand->servers++;
            room->server_rack[i] = rack;
            room->missing--;
        }
    }
}

/* The way of all cables between what stands by now, of several legs their mean. */
static int64_t ways_mm(const struct room *room)
{
    const struct plan *plan = room->plan;
    const struct myr_design *design = &plan->design;
    uint32_t nodes = plan->server->server.nodes;
    int64_t sum = 0;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t ends[] = {design->port_device[design->link_a[i]],
                           design->port_device[design->link_b[i]]};
        /* Nodes have no racks of their own yet: their servers have. */
        for (uint32_t k = 0; k < 2; k++) {
            ends[k] = design->place[ends[k]].kind == MYR_DEVICE_NODE
                          ? room->server_rack[(ends[k] - design->head->first_node) / nodes]
                          : room->device_rack[ends[k]];
        }
        if (ends[0] != MYR_NONE && ends[1] != MYR_NONE) {
            sum += room_path_mm(room, ends[0], ends[1]) / room_legs(design, i);
        }
    }
    return sum;
}

/* Puts a start among the best so far, if it is one of them and none of them is as long. */
static void keep_start(struct room *room, const struct start *start)
{
    uint32_t at = room->start_count;
    while (at > 0 && room->starts[at - 1].ways > start->ways) {
        at--;
    }
    /* As long as another means almost surely the same placement. */
    if (at == ROOM_STARTS || (at > 0 && room->starts[at - 1].ways == start->ways)) {
        return;
    }
    room->start_count += room->start_count < ROOM_STARTS;
    for (uint32_t i = room->start_count - 1; i > at; i--) {
        room->starts[i] = room->starts[i - 1];
    }
    room->starts[at] = *start;
    MYR_ASSERT(at < room->start_count && room->start_count <= ROOM_STARTS);
}

/* A start tries one number of lost servers alone. */
static void set_start(struct room *room, const struct start *start)
{
    room->banded = start->banded;
    room->gathered = start->gathered;
    room->flatness = start->flatness;
    room->lost_least = start->lost;
    room->lost_most = start->lost;
}

/*
 * Switches close together have shorter cables, but take the places of servers. It hangs on the room
 * whether blocks do better as compact pieces or as strips, and whether the upper switches do better
 * around the centre or along its row. All of it is tried, and the best ones kept.
 */
void room_choose_starts(struct room *room)
{
    uint32_t losses = room->per_rack < LOST_TRIED_MAX ? room->per_rack : LOST_TRIED_MAX;
    /* Strips or bands, three flatnesses, and so many servers lost to switches. */
    uint32_t ways_each = 2 * FLATNESS_COUNT * (losses + 1);
    /* Starts are compared as they come out of the polishing, where that does not take too long. */
    bool small = room->plan->spec->servers <= POLISHED_MAX;
    uint32_t first = room->hall_count > 1 ? 0 : ways_each; /* the first half gathers */
    room->start_count = 0;
    for (uint32_t k = first; k < 2 * ways_each; k++) {
        uint32_t i = k % ways_each;
        if (k == ways_each && room->start_count > 0 && !small) {
            break; /* gathered they all found a place, and that is mostly shorter */
        }
        struct start start = {.lost = i / 2 / FLATNESS_COUNT,
                              .banded = i % 2,
                              .gathered = k < ways_each,
                              .flatness = i / 2 % FLATNESS_COUNT / (double)(FLATNESS_COUNT - 1)};
        set_start(room, &start);
        clear_racks(room);
        if (place_once(room) == room->block_count && room->missing == 0) {
            if (small) {
                room_polish(room, POLISH_START);
            }
            start.ways = ways_mm(room);
            keep_start(room, &start);
        }
    }
}

/* Starts were tried before, and succeed again. Without one, anything goes that gives all servers a
 * place, if need be with racks of mixed power. */
int room_place(struct room *room, uint32_t start, struct myr_err *err)
{
    if (start < room->start_count) {
        set_start(room, &room->starts[start]);
    } else {
        /* No start found a place for all: servers may be lost as it comes, rack by rack. */
        set_start(room, &(struct start){});
        room->lost_most = room->per_rack;
    }
    clear_racks(room);
    uint32_t block = place_once(room);
    /* Only where nothing but the last servers lacks a place. */
    if (block == room->block_count && room->missing > 0 && !room->widens &&
        mix_power(room, room->missing)) {
        clear_racks(room);
        block = place_once(room);
        put_extras(room);
    }
    if (block < room->block_count || room->missing > 0) {
        return room_too_small(room, block, err);
    }
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        room_polish(room, POLISH_MOST);
    }
    return MYR_OK;
}
