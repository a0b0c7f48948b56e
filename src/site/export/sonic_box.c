#include "export/sonic_box.h"

#include <string.h>

#include "myriad/base.h"

/* Gb/s, metres, then bytes: size, xon, xoff, xon_offset (pg_profile_lookup.ini of each box). */
static const struct sonic_headroom sn5600_headroom[] = {
    {100, 5, 133120, 19456, 113664, 0},   {200, 5, 150528, 19456, 131072, 0},
    {400, 5, 250880, 19456, 231424, 0},   {800, 5, 304128, 38912, 257024, 0},
    {100, 40, 146432, 19456, 126976, 0},  {200, 40, 177152, 19456, 157696, 0},
    {400, 40, 303104, 19456, 283648, 0},  {800, 40, 410624, 38912, 362496, 0},
    {100, 300, 244736, 19456, 225280, 0}, {200, 300, 374784, 19456, 355328, 0},
    {400, 300, 697344, 19456, 677888, 0}, {800, 300, 1198080, 38912, 1150976, 0},
};

static const struct sonic_headroom z9864f_headroom[] = {
    {100, 5, 18796, 0, 147066, 3556},   {200, 5, 18796, 0, 229362, 3556},
    {400, 5, 18796, 0, 393192, 3556},   {800, 5, 18796, 0, 729488, 3556},
    {100, 40, 18796, 0, 160274, 3556},  {200, 40, 18796, 0, 255778, 3556},
    {400, 40, 18796, 0, 446024, 3556},  {800, 40, 18796, 0, 835406, 3556},
    {100, 300, 18796, 0, 258572, 3556}, {200, 300, 18796, 0, 452374, 3556},
    {400, 300, 18796, 0, 839216, 3556}, {800, 300, 18796, 0, 1621536, 3556},
};

/* Two cores share sixteen lanes, and the panel crosses them. */
static const uint16_t z9864f_lanes[] = {
    1,   17,  33,  49,  65,  81,  97,  113, 129, 145, 161, 177, 193, 209, 233, 249,
    257, 273, 297, 313, 329, 345, 361, 377, 393, 409, 425, 441, 457, 473, 489, 505,
    25,  9,   57,  41,  89,  73,  121, 105, 153, 137, 185, 169, 217, 201, 241, 225,
    281, 265, 305, 289, 337, 321, 369, 353, 401, 385, 433, 417, 465, 449, 497, 481};

/* Headroom is taken off the buffer. */
const struct sonic_box sonic_sn5600 = {
    .platform = "x86_64-nvidia_sn5600-r0",
    .sku = "ACS-SN5600",
    .sku_split = "Mellanox-SN5600-O128",
    .cages = 64,
    .buffer_bytes = 158229504,
    .cell_bytes = 1024, /* as its table counts */
    .headroom = sn5600_headroom,
    .headroom_count = sizeof(sn5600_headroom) / sizeof(sn5600_headroom[0]),
};

/* Headroom has a pool of its own; one SKU for whole and divided cages. */
const struct sonic_box sonic_z9864f = {
    .platform = "x86_64-dell_z9864f-r0",
    .sku = "Dell-Z9864f-O64",
    .sku_split = "Dell-Z9864f-O64",
    .cages = 64,
    .first_lane = z9864f_lanes,
    .buffer_bytes = 162539680,
    .xoff_bytes_max = 66749168,
    .cell_bytes = 254,
    .headroom = z9864f_headroom,
    .headroom_count = sizeof(z9864f_headroom) / sizeof(z9864f_headroom[0]),
};

/* Between two rows of the table, both of which are rounded up themselves. */
static struct sonic_headroom between(const struct sonic_box *box, const struct sonic_headroom *low,
                                     const struct sonic_headroom *high, uint32_t length_m)
{
    struct sonic_headroom row = *high;
    uint64_t span = high->length_m - low->length_m, part = length_m - low->length_m;
    uint64_t more = ((uint64_t)(high->xoff - low->xoff) * part + span - 1) / span;
    uint64_t xoff = low->xoff + more;
    row.length_m = length_m;
    row.xoff = (uint32_t)((xoff + box->cell_bytes - 1) / box->cell_bytes * box->cell_bytes);
    row.xoff = row.xoff < high->xoff ? row.xoff : high->xoff;
    /* Where headroom is a part of the size, both grow alike. */
    row.size = high->size - (high->size == low->size ? 0 : high->xoff - row.xoff);
    return row;
}

struct sonic_headroom sonic_headroom_find(const struct sonic_box *box, uint32_t gbps,
                                          uint32_t length_mm)
{
    uint32_t length_m = (uint32_t)(((uint64_t)length_mm + 999) / 1000);
    const struct sonic_headroom *low = NULL, *high = NULL;
    for (uint32_t i = 0; i < box->headroom_count; i++) {
        const struct sonic_headroom *row = &box->headroom[i];
        if (row->gbps != gbps) {
            continue;
        }
        if (row->length_m >= length_m && (!high || row->length_m < high->length_m)) {
            high = row;
        }
        if (row->length_m <= length_m && (!low || row->length_m > low->length_m)) {
            low = row;
        }
    }
    return !high                 ? (struct sonic_headroom){}
           : !low || low == high ? *high
                                 : between(box, low, high, length_m);
}

void sonic_rows_add(struct sonic_rows *rows, struct sonic_headroom row)
{
    size_t at = 0;
    while (at < rows->count &&
           (rows->items[at].length_m < row.length_m ||
            (rows->items[at].length_m == row.length_m && rows->items[at].gbps < row.gbps))) {
        at++;
    }
    if (at < rows->count && rows->items[at].length_m == row.length_m &&
        rows->items[at].gbps == row.gbps) {
        return;
    }
    myr_vec_push(rows, row);
    memmove(rows->items + at + 1, rows->items + at, (rows->count - 1 - at) * sizeof(row));
    rows->items[at] = row;
}

uint32_t sonic_first_lane(const struct sonic_box *box, uint32_t cage, uint32_t in_cage,
                          uint32_t per_cage)
{
    /* Lanes of a cage are dealt out to its ports in a row. */
    uint32_t first =
        box->first_lane ? box->first_lane[cage - 1] : (cage - 1) * SONIC_LANES_PER_CAGE;
    return first + in_cage * (SONIC_LANES_PER_CAGE / per_cage);
}
