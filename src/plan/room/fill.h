/* fill: what the steps of filling racks share. Private to the room. */
#pragma once

#include "room/room.h"

/* A rack, and what speaks against it. */
struct choice {
    double cost; /* less is better */
    uint32_t rack;
};

struct filling {
    struct room *room;
    const uint32_t *racks; /* candidates, in the order in which they are filled */
    uint32_t count, at;    /* of them; the first that may still take servers */
    struct choice *order;  /* scratch, by candidate */
    uint32_t *seat_rack;   /* scratch, by seat of the block */
    double *sums;          /* scratch: columns, then rows */
    int64_t *at_mm;        /* scratch: columns, then rows */
    uint32_t *dealt;       /* scratch, by block of a pod */
};

/* By cost, then by rack: for qsort. */
int fill_compare(const void *a, const void *b);
/* The most that any of the devices needs. */
struct load fill_most_of(const struct room *room, const uint32_t *devices, uint32_t count);
/* So many of 'need' leave room for all but 'lost' of the servers that the rack could take. */
uint32_t fill_seats_in(const struct room *room, const struct stand *rack, const struct load *need,
                       uint32_t lost, uint32_t wanted);

/* rank.c: the candidates [at, at + count) of a block, the best for its switches first */
void fill_rank(struct filling *fill, const struct block *block, uint32_t count);
/* The same candidates from the middle out, but the one in the middle last: it is for servers. */
void fill_rank_middle(struct filling *fill, uint32_t count);
/* The row in which leaves begin, from 1. */
uint32_t fill_first_row(const struct room *room, const struct hall *hall);

/* fill.c: one block; 'partial': what does not fit is left over. False: nothing was done. */
bool fill_block(struct filling *fill, struct block *block, bool partial);
/* Gives the spines of a pod, blocks [block, end), to its block that is nearest to the centre. */
void fill_deal_spines(struct filling *fill, uint32_t block, uint32_t end);

/* order.c: the 'count' racks of the hall that are nearest to its centre, in order of filling */
void fill_choose_racks(struct room *room, const struct hall *hall, uint32_t count,
                       const struct choice *nearest, uint32_t *ret);
