/*
 * sonic_box: what SONiC must be told of a box: names, lanes, buffers and the headroom of a lossless
 * class, by speed and length of the cable.
 *
 * Figures are those of the boxes' folders in sonic-buildimage (August 2026): port_config.ini,
 * pg_profile_lookup.ini, buffers_defaults_t1.j2, platform_qos.json. Those tables have three
 * lengths; what a cable holds is linear in its length, and so is the headroom between them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SONIC_LANES_PER_CAGE 8
#define SONIC_LENGTHS        3

struct sonic_headroom {
    uint32_t gbps, length_m;              /* up to this length; gbps 0: none */
    uint32_t size, xon, xoff, xon_offset; /* bytes */
};

struct sonic_box {
    const char *platform;        /* as SONiC names the box */
    const char *sku, *sku_split; /* all cages whole; all cages in two */
    uint32_t cages;
    const uint16_t *first_lane; /* by cage; NULL: 8 a cage from 0 */
    uint64_t buffer_bytes;      /* what the pools share */
    /* Headroom in a pool of its own of at most so much; 0: it is taken off the buffer. */
    uint64_t xoff_bytes_max;
    uint32_t cell_bytes; /* headroom is whole ones */
    const struct sonic_headroom *headroom;
    uint32_t headroom_count;
};

extern const struct sonic_box sonic_sn5600, sonic_z9864f;

struct sonic_rows {
    struct sonic_headroom *items; /* by length, then by speed */
    size_t count, capacity;
};

/* Each speed and length once, whatever port comes first. */
void sonic_rows_add(struct sonic_rows *rows, struct sonic_headroom row);

/* For a cable of this length, in whole metres and never less than the rule of the box says. */
struct sonic_headroom sonic_headroom_find(const struct sonic_box *box, uint32_t gbps,
                                          uint32_t length_mm);
/* The first lane of a port, and how many it has. Cages from 1, ports of a cage from 0. */
uint32_t sonic_first_lane(const struct sonic_box *box, uint32_t cage, uint32_t in_cage,
                          uint32_t per_cage);
