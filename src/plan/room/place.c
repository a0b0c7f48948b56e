#include "room/room.h"

#include <math.h>
#include <stdlib.h>

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

enum { LOST_TRIED_MAX = 8, FLATNESS_COUNT = 3 };

struct choice {
    double cost;
    uint32_t rack;
};

struct filling {
    struct room *room;
    const uint32_t *racks; /* candidates, in the order in which they are filled */
    uint32_t count, at;    /* of them; the first that may still take servers */
    struct choice *order;  /* scratch, by candidate */
    uint32_t *seat_rack;   /* scratch, by seat of the block */
    double *sums;          /* scratch: columns, then rows */
    uint32_t *dealt;       /* scratch, by block of a pod */
};

static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return x->cost != y->cost  ? (x->cost < y->cost ? -1 : 1)
           : x->rack < y->rack ? -1
                               : x->rack > y->rack;
}

static struct load most_of(const struct room *room, const uint32_t *devices, uint32_t count)
{
    struct load most = {0};
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
static uint32_t seats_in(const struct room *room, const struct stand *rack, const struct load *need,
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

/* ---- what a switch costs in a rack ---- */

static uint32_t zone_first_row(const struct room *room, const struct hall *hall)
{
    uint32_t first = room->spec->leaf_rows.first;
    if (!first || first > hall->rows) {
        return hall->rows / 2 + (hall->rows > 1);
    }
    return first;
}

/* Rank of the row among those for leaves; the others come after, the nearest first. */
static double zone_rank(const struct room *room, const struct hall *hall, uint32_t row)
{
    uint32_t first = zone_first_row(room, hall);
    if (!room->spec->leaf_rows.first) {
        return row > first ? row - first : first - row;
    }
    uint32_t last = room->spec->leaf_rows.last;
    last = last > hall->rows ? hall->rows : last;
    uint32_t low = first < last ? first : last, high = first < last ? last : first;
    if (row >= low && row <= high) {
        return first > last ? first - row : row - first;
    }
    uint32_t away = row < low ? low - row : row > high ? row - high : 0;
    return 1e6 + away * 1e3; /* behind every column of the zone's own rows */
}

/* Sum of the distances from each position to all others, each 'weight' times there. */
static void distance_sums(const int64_t *at, const double *weight, uint32_t count, double *ret)
{
    double before = 0, sum = 0, total = 0, ahead = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += weight[i];
        ahead += weight[i] * (double)(at[i] - at[0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)(at[i] - at[0]);
        ret[i] = x * before - sum + (ahead - sum) - x * (total - before);
        before += weight[i];
        sum += weight[i] * x;
    }
}

static void rank_shortest(struct filling *fill, const struct block *block, uint32_t first,
                          uint32_t count)
{
    struct room *room = fill->room;
    const struct hall *hall = &room->halls[room->racks[fill->racks[first]].hall];
    const struct myr_network *net = &room->plan->nets[MYR_NET_COMPUTE].out;
    uint32_t columns = hall->columns, rows = hall->rows;
    double *weight_x = fill->sums, *cost_x = weight_x + columns;
    double *weight_y = cost_x + columns, *cost_y = weight_y + rows;
    int64_t *x = MYR_ARENA_NEW(room->arena, int64_t, columns);
    int64_t *y = MYR_ARENA_NEW(room->arena, int64_t, rows);
    memset(fill->sums, 0, sizeof(double) * 2 * (columns + rows));
    for (uint32_t i = 0; i < columns; i++) {
        x[i] = room->racks[hall->first_rack + i * rows].x_mm;
    }
    for (uint32_t i = 0; i < rows; i++) {
        y[i] = room->racks[hall->first_rack + rows - 1 - i].y_mm;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct stand *rack = &room->racks[fill->racks[first + i]];
        weight_x[rack->column] += 1;
        weight_y[rack->row] += 1;
    }
    distance_sums(x, weight_x, columns, cost_x);
    distance_sums(y, weight_y, rows, cost_y);
    /* The servers are taken to be spread evenly over the racks. */
    double each = (double)block->servers / count * room->plan->nets[MYR_NET_COMPUTE].ports_per_rail;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->racks[first + i];
        const struct stand *rack = &room->racks[id];
        double path = (double)room_path_mm(room, id, hall->centre);
        fill->order[i] = (struct choice){
            each * (cost_x[rack->column] + cost_y[rack->row]) + net->leaf_up * path, id};
    }
}

static void rank_aligned(struct filling *fill, uint32_t first, uint32_t count)
{
    struct room *room = fill->room;
    const struct hall *hall = &room->halls[room->racks[fill->racks[first]].hall];
    uint32_t middle = room->racks[fill->racks[first + (count - 1) / 2]].column;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->racks[first + i];
        const struct stand *rack = &room->racks[id];
        double away = rack->column > middle ? rack->column - middle : middle - rack->column;
        double row = zone_rank(room, hall, rack->row + 1);
        fill->order[i] = (struct choice){row + away * (row < 1e6 ? 1e4 : 1), id};
    }
}

/* ---- one block ---- */

/*
 * Seats the block's switches in the candidates [at, at + count), in racks that lose at most 'lost'
 * servers each, and tells how many servers these racks then hold. 0 when a switch is left over.
 */
static uint32_t try_block(struct filling *fill, const struct block *block, const struct load *need,
                          uint32_t count, uint32_t lost)
{
    struct room *room = fill->room;
    uint32_t seated = 0, held = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->order[i].rack;
        uint32_t seats = seats_in(room, &room->racks[id], need, lost, block->seats - seated);
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

static void rank(struct filling *fill, const struct block *block, uint32_t count)
{
    if (fill->room->spec->place == MYR_ROOM_SHORTEST) {
        rank_shortest(fill, block, fill->at, count);
    } else {
        rank_aligned(fill, fill->at, count);
    }
    qsort(fill->order, count, sizeof(*fill->order), compare_choices);
}

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

static void put_block(struct filling *fill, struct block *block, uint32_t count)
{
    struct room *room = fill->room;
    uint32_t placed = 0, last = fill->at;
    block->first_rack = fill->racks[fill->at];
    block->last_rack = fill->racks[fill->at + count - 1];
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
    room->missing += block->servers - placed;
    bool full = room_fits(&room->racks[fill->racks[last]].left, &room->server) == 0;
    fill->at = last + (full ? 1 : 0);
}

/* A block is not torn apart where the order of filling goes on at the other side of the room. */
static void skip_jump(struct filling *fill, uint32_t count)
{
    const struct myr_spec_room *spec = fill->room->spec;
    double far = 3000 * (spec->column_pitch_m + spec->aisle_m);
    for (uint32_t i = fill->at + 1; i < fill->at + count; i++) {
        int64_t step = fill->room->racks[fill->racks[i]].x_mm -
                       fill->room->racks[fill->racks[i - 1]].x_mm;
        if (fabs((double)step) > far) {
            fill->at = i;
            return;
        }
    }
}

/* 'partial': what does not fit is left over and counted. False: nothing was done. */
static bool place_block(struct filling *fill, struct block *block, bool partial)
{
    struct room *room = fill->room;
    struct load need = most_of(room, room->seats + block->first_seat, block->seats);
    uint32_t count = racks_for_servers(fill, block->servers);
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        skip_jump(fill, count);
        count = racks_for_servers(fill, block->servers);
    }
    uint32_t most = fill->count - fill->at;
    for (count = count ? count : 1; count <= most; count++) {
        rank(fill, block, count);
        for (uint32_t lost = room->lost_least; lost <= room->lost_most; lost++) {
            if (try_block(fill, block, &need, count, lost) >= block->servers) {
                put_block(fill, block, count);
                return true;
            }
        }
    }
    if (!partial || most == 0) {
        return false;
    }
    rank(fill, block, most);
    for (uint32_t lost = room->lost_least; lost <= room->lost_most; lost++) {
        if (try_block(fill, block, &need, most, lost) > 0) {
            put_block(fill, block, most);
            return true;
        }
    }
    return false;
}

/* ---- halls ---- */

static uint32_t pod_end(const struct room *room, uint32_t block)
{
    uint32_t end = block + 1;
    while (end < room->block_count && room->blocks[end].pod == room->blocks[block].pod) {
        end++;
    }
    return end;
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
static void deal_spines(struct filling *fill, uint32_t block, uint32_t end)
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
    uint32_t last = fill->at + ceil_div(servers, room->per_rack) - 1;
    last = last < fill->count ? last : fill->count - 1;
    uint32_t centre = room->halls[room->racks[fill->racks[fill->at]].hall].centre;
    bool nearing = room_path_mm(room, fill->racks[last], centre) <
                   room_path_mm(room, fill->racks[fill->at], centre);
    uint32_t host = nearing ? end - 1 : block;
    uint32_t *dealt = MYR_ARENA_NEW(room->arena, uint32_t, seats);
    uint32_t put = 0, first = room->blocks[block].first_seat;
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
    for (uint32_t i = block; i < end; i++) {
        room->blocks[i].first_seat = first;
        room->blocks[i].seats = fill->dealt[i - block];
        first += room->blocks[i].seats;
    }
}

/* Whole pods only: one that does not fit goes to the next building. Returns the next block. */
static uint32_t fill_hall(struct filling *fill, uint32_t block, bool last)
{
    struct room *room = fill->room;
    struct stand *before = NULL;
    while (block < room->block_count) {
        uint32_t end = pod_end(room, block), at = fill->at;
        if (!last) {
            before = before ? before : MYR_ARENA_NEW(room->arena, struct stand, room->rack_count);
            memcpy(before, room->racks, sizeof(*before) * room->rack_count);
        }
        if (room->spec->place == MYR_ROOM_SHORTEST) {
            deal_spines(fill, block, end);
        }
        for (uint32_t i = block; i < end; i++) {
            if (!place_block(fill, &room->blocks[i], last)) {
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

/* Appends the chosen racks of one column between two rows, in one direction. */
static uint32_t take_column(const struct hall *hall, const bool *chosen, uint32_t column,
                            uint32_t first, uint32_t end, bool rising, uint32_t *ret)
{
    uint32_t put = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t row = rising ? i : end - 1 - (i - first);
        uint32_t at = column * hall->rows + hall->rows - 1 - row;
        if (chosen[at]) {
            ret[put++] = hall->first_rack + at;
        }
    }
    return put;
}

/* A stretch of rows on one side of the centre's row. */
struct band {
    uint32_t first, end;
    bool upper;
};

/*
 * One band, from one column to another. Its part of a column that two blocks share is such that the
 * corner which is nearer to the centre belongs to the block that has its leaves there.
 */
static uint32_t take_band(const struct room *room, const struct hall *hall, const bool *chosen,
                          struct band band, uint32_t from, uint32_t to, uint32_t *ret)
{
    uint32_t middle = room->racks[hall->centre].column, put = 0;
    bool right = from <= to;
    for (uint32_t c = from;; c = right ? c + 1 : c - 1) {
        bool nearing = right ? c < middle : c > middle;
        put += take_column(hall, chosen, c, band.first, band.end, nearing == band.upper, ret + put);
        if (c == to) {
            return put;
        }
    }
}

/* How many bands make blocks about as wide as they are high. */
static uint32_t bands_in(const struct room *room, const struct hall *hall, uint32_t rows)
{
    const struct stand *last = &room->racks[hall->first_rack + hall->racks - 1];
    double pitch_y = room->spec->row_pitch_m * 1000;
    double pitch_x = hall->columns > 1 ? (double)last->x_mm / (hall->columns - 1) : pitch_y;
    double racks = ceil_div(room->blocks[0].servers, room->per_rack);
    double bands = room->banded ? rows * pitch_y / sqrt(racks * pitch_x * pitch_y) + 0.5 : 1;
    return bands < 1 ? 1 : bands > rows ? rows : (uint32_t)bands;
}

/*
 * For the shortest cables. Blocks are compact pieces of bands on either side of the centre's row,
 * so that each has a corner that lies between all of it and the centre: there its leaves stand.
 * The bands far from the centre come first, one to and the next fro. The two at the centre come
 * last: to the right above its row, back below it, above it to the centre again; for the last block
 * may have more uplinks than servers.
 */
static uint32_t take_round(const struct room *room, const struct hall *hall, const bool *chosen,
                           uint32_t *ret)
{
    const struct stand *centre = &room->racks[hall->centre];
    uint32_t put = 0, middle = centre->row, end = hall->columns - 1;
    uint32_t inner[2] = {hall->rows, 0}; /* where the bands at the centre end: above, below */
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t rows = side ? middle : hall->rows - middle;
        uint32_t bands = rows ? bands_in(room, hall, rows) : 1;
        for (uint32_t i = bands; i-- > 0;) {
            uint32_t near = rows * i / bands, far = rows * (i + 1) / bands;
            struct band band = side ? (struct band){middle - far, middle - near, false}
                                    : (struct band){middle + near, middle + far, true};
            if (i == 0) {
                inner[side] = side ? band.first : band.end;
            } else {
                bool right = i % 2;
                put += take_band(room, hall, chosen, band, right ? 0 : end, right ? end : 0,
                                 ret + put);
            }
        }
    }
    struct band above = {middle, inner[0], true}, below = {inner[1], middle, false};
    put += take_band(room, hall, chosen, above, centre->column, end, ret + put);
    put += take_band(room, hall, chosen, below, end, 0, ret + put);
    if (centre->column > 0) {
        put += take_band(room, hall, chosen, above, 0, centre->column - 1, ret + put);
    }
    return put;
}

/* The 'count' racks of the hall that are nearest to its centre, in the order of filling. */
static void choose_racks(struct room *room, const struct hall *hall, uint32_t count,
                         const struct choice *nearest, uint32_t *ret)
{
    bool *chosen = MYR_ARENA_NEW(room->arena, bool, hall->racks);
    uint32_t put = 0;
    for (uint32_t i = 0; i < count; i++) {
        chosen[nearest[i].rack - hall->first_rack] = true;
    }
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        put = take_round(room, hall, chosen, ret);
    }
    for (uint32_t c = 0; room->spec->place == MYR_ROOM_ALIGNED && c < hall->columns; c++) {
        put += take_column(hall, chosen, c, 0, hall->rows, false, ret + put);
    }
    MYR_ASSERT(put == count);
}

static uint32_t servers_left(const struct room *room, uint32_t block)
{
    return block < room->block_count ? room->plan->spec->servers - room->blocks[block].first_server
                                     : 0;
}

static uint32_t place_hall(struct room *room, const struct hall *hall, uint32_t block, bool last)
{
    struct filling fill = {.room = room};
    uint32_t *racks = MYR_ARENA_NEW(room->arena, uint32_t, hall->racks);
    struct choice *nearest = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    struct stand *before = MYR_ARENA_NEW(room->arena, struct stand, hall->racks);
    fill.order = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    fill.seat_rack = MYR_ARENA_NEW(room->arena, uint32_t, (size_t)room->seat_count + 1);
    fill.sums = MYR_ARENA_NEW(room->arena, double, 2 * ((size_t)hall->columns + hall->rows));
    fill.dealt = MYR_ARENA_NEW(room->arena, uint32_t, room->block_count);
    fill.racks = racks;
    for (uint32_t i = 0; i < hall->racks; i++) {
        uint32_t id = hall->first_rack + i;
        nearest[i] = (struct choice){(double)room_path_mm(room, id, hall->centre), id};
        racks[i] = id;
    }
    qsort(nearest, hall->racks, sizeof(*nearest), compare_choices);
    memcpy(before, room->racks + hall->first_rack, sizeof(*before) * hall->racks);
    uint32_t want = room->spec->place == MYR_ROOM_SHORTEST
                        ? ceil_div(servers_left(room, block), room->per_rack)
                        : hall->racks;
    for (;;) {
        want = want < hall->racks ? want : hall->racks;
        choose_racks(room, hall, want, nearest, racks);
        fill.count = want;
        fill.at = 0;
        room->missing = 0;
        uint32_t next = fill_hall(&fill, block, last && want == hall->racks);
        if (next == room->block_count || want == hall->racks) {
            return next;
        }
        memcpy(room->racks + hall->first_rack, before, sizeof(*before) * hall->racks);
        want += want / 64 + 1;
    }
}

/* ---- the switches above ---- */

/* Share of the servers that will stand in the hall, when halls are filled one after the other. */
static void hall_shares(const struct room *room, double *ret)
{
    double left = ceil_div(room->plan->spec->servers, room->per_rack), all = left;
    for (uint32_t i = 0; i < room->hall_count; i++) {
        double here = room->halls[i].racks < left ? room->halls[i].racks : left;
        ret[i] = here / all;
        left -= here;
    }
}

/* Mean distance to points spread evenly over 'width', and to the far ones through the corner. */
static double mean_way(double at, double width, double share)
{
    double here = width > 0 ? (at * at + (width - at) * (width - at)) / (2 * width) : 0;
    return share * here + (1 - share) * at;
}

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
    uint32_t column = room->spec->spine_column ? room->spec->spine_column - 1 : hall->columns / 2;
    column = column < hall->columns ? column : hall->columns - 1;
    uint32_t first = zone_first_row(room, hall) - 1;
    double away = rack->column > column ? rack->column - column - 0.5 : column - rack->column;
    double down = rack->row <= first ? first - rack->row : hall->rows + rack->row - first;
    return away * 1e6 + down;
}

/* Fewest servers lost first: beside a full set of them if that is possible at all. */
static uint32_t place_tops(struct room *room, const struct hall *hall, double share, uint32_t from,
                           uint32_t count)
{
    struct choice *order = MYR_ARENA_NEW(room->arena, struct choice, hall->racks);
    struct load need = most_of(room, room->tops + from, count);
    for (uint32_t i = 0; i < hall->racks; i++) {
        uint32_t id = hall->first_rack + i;
        order[i] = (struct choice){top_cost(room, id, share), id};
    }
    qsort(order, hall->racks, sizeof(*order), compare_choices);
    uint32_t placed = 0;
    for (uint32_t lost = room->lost_least; lost <= room->per_rack && placed < count; lost++) {
        for (uint32_t i = 0; i < hall->racks && placed < count; i++) {
            struct stand *rack = &room->racks[order[i].rack];
            uint32_t seats = seats_in(room, rack, &need, lost, count - placed);
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

static uint32_t place_once(struct room *room)
{
    double shares[MYR_ROOM_BUILDINGS_MAX];
    uint32_t next = 0, block = 0, topped = 0;
    hall_shares(room, shares);
    find_centres(room, shares);
    double share = 0;
    for (uint32_t h = 0; h < room->hall_count; h++) {
        share += shares[h];
        uint32_t end = (uint32_t)(share * room->top_count + 0.5);
        end = h + 1 == room->hall_count || end > room->top_count ? room->top_count : end;
        topped += place_tops(room, &room->halls[h], shares[h], next, end - next);
        next = end;
    }
    if (topped < room->top_count) {
        return 0;
    }
    for (uint32_t h = 0; h < room->hall_count && block < room->block_count; h++) {
        block = place_hall(room, &room->halls[h], block, h + 1 == room->hall_count);
    }
    return block;
}

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
    int64_t give = room->server.watts * (room->per_rack + 1) - room->rack.watts;
    struct load bigger = room->rack;
    bigger.watts += give;
    if (give <= 0 || room->rack.watts - give < room->server.watts * room->per_rack ||
        room_fits(&bigger, &room->server) <= room->per_rack) {
        return false;
    }
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

static int too_small(const struct room *room, uint32_t block, struct myr_err *err)
{
    const struct plan *plan = room->plan;
    uint32_t placed = 0;
    for (uint32_t i = 0; i < plan->spec->servers; i++) {
        placed += room->server_rack[i] != ROOM_NONE;
    }
    uint32_t missing = plan->spec->servers - placed;
    bool switches = missing == 0 || (block == 0 && placed == 0);
    int rc = myr_doc_error(
        err, room->spec->node, MYR_ERANGE,
        "the room is too small: %u racks of %g kW and %lld U hold %u of %u servers%s; %u more "
        "racks or %g kW more are expected",
        room->rack_count, (double)room->rack.watts / 1000, (long long)room->rack.units, placed,
        plan->spec->servers, switches ? " beside their switches" : "",
        ceil_div(missing ? missing : 1, room->per_rack),
        (double)(missing ? missing : 1) * (double)room->server.watts / 1000);
    myr_err_hint(err, "give the room more rows or columns, or its racks more kW");
    return rc;
}

/* The way of all cables between what stands by now. */
static int64_t ways_mm(const struct room *room)
{
    const struct plan *plan = room->plan;
    const struct myr_design *design = &plan->design;
    uint32_t nodes = plan->server->server.nodes;
    int64_t sum = 0;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t ends[] = {design->port_device[design->link_a[i]],
                           design->port_device[design->link_b[i]]};
        for (uint32_t k = 0; k < 2; k++) {
            ends[k] = design->place[ends[k]].kind == MYR_DEVICE_NODE
                          ? room->server_rack[(ends[k] - design->head->first_node) / nodes]
                          : room->device_rack[ends[k]];
        }
        if (ends[0] != MYR_NONE && ends[1] != MYR_NONE) {
            sum += room_path_mm(room, ends[0], ends[1]);
        }
    }
    return sum;
}

/*
 * Switches close together have shorter cables, but take the places of servers. It hangs on the room
 * whether blocks do better as compact pieces or as strips, and whether the upper switches do better
 * around the centre or along its row. All of it is tried, and the best kept.
 */
static void choose_way(struct room *room)
{
    struct {
        int64_t ways;
        uint32_t lost;
        double flatness;
        bool banded;
    } best = {.ways = INT64_MAX};
    for (uint32_t i = 0; i < 2 * FLATNESS_COUNT * (LOST_TRIED_MAX + 1); i++) {
        uint32_t lost = i / 2 / FLATNESS_COUNT;
        if (lost > room->per_rack) {
            break;
        }
        room->lost_least = room->lost_most = lost;
        room->banded = i % 2;
        room->flatness = i / 2 % FLATNESS_COUNT / (double)(FLATNESS_COUNT - 1);
        clear_racks(room);
        if (place_once(room) == room->block_count && room->missing == 0) {
            int64_t ways = ways_mm(room);
            if (ways < best.ways) {
                best.ways = ways;
                best.lost = lost;
                best.flatness = room->flatness;
                best.banded = room->banded;
            }
        }
    }
    room->banded = best.banded;
    room->flatness = best.flatness;
    room->lost_least = best.lost;
    room->lost_most = best.ways < INT64_MAX ? best.lost : room->per_rack;
}

int room_place(struct room *room, struct myr_err *err)
{
    room->lost_least = 0;
    room->lost_most = room->per_rack;
    if (room->spec->place == MYR_ROOM_SHORTEST) {
        choose_way(room);
    }
    clear_racks(room);
    uint32_t block = place_once(room);
    if (block == room->block_count && room->missing > 0 && mix_power(room, room->missing)) {
        clear_racks(room);
        block = place_once(room);
        put_extras(room);
    }
    if (block < room->block_count || room->missing > 0) {
        return too_small(room, block, err);
    }
    return MYR_OK;
}
