/*
 * count: which modules and cables a finished design needs, part by part. Whoever bills a design
 * counts here, so that what is ordered is what is drawn.
 */
#pragma once

#include "myriad/model.h"

/* Different modules, or cables, that one network uses: by layer, end and length. */
enum { TALLY_MAX = 1024 };

/* How many of which part a network uses, in the order in which they were met. */
struct tally_row {
    uint32_t part;  /* string: catalogue id */
    bool at_nic;    /* at the host's end: billed apart from those in switches */
    uint64_t count; /* modules, or cables */
    uint64_t links; /* of cables: pairs of ports that they join */
};

struct tally {
    struct tally_row rows[TALLY_MAX];
    uint32_t count;
};

/* A design whose types may still lie elsewhere. */
struct counted {
    const struct myr_design *design;
    const struct myr_devtype *devtypes;
    const struct myr_cabletype *cabletypes;
    uint32_t cabletype_count;
};

/* One module for every cage in which at least one port carries a link. */
void count_modules(const struct counted *what, uint32_t net, struct tally *ret);
/* Cables and their links; a fibre is ordered by the link, a splitter or one with fixed ends whole.
 */
void count_cables(const struct counted *what, uint32_t net, struct tally *ret);
