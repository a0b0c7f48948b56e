/*
 * spec_room: the machine room that a spec asks for, or that a file of its own describes.
 *
 * Racks stand on a grid. Columns have letters and run from left to right; rows have numbers and run
 * from bottom to top, so that A14 is a rack. A room says what a rack carries and where kinds of
 * switches belong (zones), never where a single device stands: that is the planner's work.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/model/parts.h"

struct myr_doc;

#define MYR_ROOM_BUILDINGS_MAX 16
#define MYR_ROOM_CHAIN_MAX     4096
#define MYR_ROOM_SIDE_MAX      10000
#define MYR_ROOM_RACKS_MAX     1000000
#define MYR_ROOM_CROSS_MAX     64
#define MYR_ROOM_COLUMN_BYTES  8 /* of a column's letters, with the end */

enum myr_room_place { MYR_ROOM_ALIGNED, MYR_ROOM_SHORTEST };

/* As written, from 1: 10-7 goes down. first 0: not given. */
struct myr_room_range {
    uint32_t first, last;
};

struct myr_spec_building {
    const struct myr_doc *node;
    const char *name;
    uint32_t rows, columns; /* 0: as the room says */
    uint32_t distance_m[MYR_ROOM_BUILDINGS_MAX];
};

/* Something that feeds or cools racks, or what stands behind it. */
struct myr_spec_chain {
    const struct myr_doc *node;
    const char *name;
    double kw;                           /* 0: no limit is known */
    uint32_t parents[2];                 /* positions in the list; UINT32_MAX: none */
    struct myr_room_range rows, columns; /* the racks that hang on it */
    bool serves;                         /* it has racks of its own */
};

struct myr_spec_chains {
    struct myr_spec_chain *items;
    uint32_t count;
};

struct myr_spec_room {
    const struct myr_doc *node; /* NULL: no room */
    uint32_t rows, columns;     /* 0: as large as it must be */
    uint32_t rack_part, place;
    double rack_kw, rack_u, rack_kg; /* 0: the rack part's */
    double server_kw;                /* 0: the server part's */
    double row_pitch_m, column_pitch_m;
    uint32_t aisle_every; /* columns between two aisles; 0: none */
    double aisle_m;
    double drop_m, slack_percent, slack_m;
    double tray_width_mm, tray_height_mm, tray_fill;
    uint32_t cross_rows[MYR_ROOM_CROSS_MAX], cross_count; /* none: a tray crosses at every row */
    double fibre_mm, copper_mm;                           /* diameters */
    uint32_t trunk_cables, panel_ports;                   /* 0: no trunks */
    uint32_t lossless_classes;
    bool managed; /* power and cooling units have management ports */
    struct myr_room_range leaf_rows;
    uint32_t spine_column; /* from 1; 0: the middle */
    struct myr_spec_building buildings[MYR_ROOM_BUILDINGS_MAX];
    uint32_t building_count; /* at least 1 */
    struct myr_spec_chains power, cooling;
};

/* "A", "Z", "AA": the letters of a column, from 1. Returns 'ret'. */
const char *myr_room_column_name(uint32_t column, char ret[MYR_ROOM_COLUMN_BYTES]);
