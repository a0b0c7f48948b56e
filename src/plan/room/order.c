#include <math.h>

#include "room/fill.h"

/*
 * Which racks are filled, and in which order. Blocks take racks one after the other, so the order
 * decides what shape they have: columns for the aligned placement, bands around the centre for the
 * shortest one.
 */

/* Appends the chosen racks of one column between two rows, in one direction. */
static uint32_t take_column(const struct hall *hall, const bool *chosen, uint32_t column,
                            uint32_t first, uint32_t end, bool rising, uint32_t *ret)
{
    uint32_t put = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t row = rising ? i : end - 1 - (i - first);
        /* The highest row of a column has the lowest number. */
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
    /* The side of a square of as many racks as a block has, in mm, against the height of all rows.
     */
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
        /* The centre's row belongs to the upper side. */
        uint32_t rows = side ? middle : hall->rows - middle;
        uint32_t bands = rows ? bands_in(room, hall, rows) : 1;
        for (uint32_t i = bands; i-- > 0;) {
            uint32_t near = rows * i / bands, far = rows * (i + 1) / bands;
            struct band band = side ? (struct band){middle - far, middle - near, false}
                                    : (struct band){middle + near, middle + far, true};
            if (i == 0) {
                inner[side] = side ? band.first : band.end;
            } else {
                /* Every other band goes back, so that the next one begins where the last one ended.
                 */
                bool right = i % 2;
                put += take_band(room, hall, chosen, band, right ? 0 : end, right ? end : 0,
                                 ret + put);
            }
        }
    }
    struct band above = {middle, inner[0], true}, below = {inner[1], middle, false};
    if (middle == 0) { /* no way back below it: straight on, so that no block is torn apart */
        return put + take_band(room, hall, chosen, above, 0, end, ret + put);
    }
    put += take_band(room, hall, chosen, above, centre->column, end, ret + put);
    put += take_band(room, hall, chosen, below, end, 0, ret + put);
    if (centre->column > 0) {
        put += take_band(room, hall, chosen, above, 0, centre->column - 1, ret + put);
    }
    return put;
}

/* The 'count' racks of the hall that are nearest to its centre, in the order of filling. */
void fill_choose_racks(struct room *room, const struct hall *hall, uint32_t count,
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
