/* lengths: how the lengths of the jobs that have ended lie in memory; for lengths.c and copies. */
#pragma once

#include "myriad/base.h"

enum {
    LENGTH_CLASSES = 33,     /* by the logarithm of the GPUs; the last one has all jobs */
    LENGTH_BUCKETS = 4 * 57, /* up to 2^59 seconds */
};

struct lengths {
    uint32_t counts[LENGTH_CLASSES][LENGTH_BUCKETS]; /* jobs that ended, by size and length */
    uint32_t totals[LENGTH_CLASSES];                 /* sums of them */
    uint32_t unused[LENGTH_CLASSES]; /* of older programs' states, as the next one */
    int64_t unused_s[LENGTH_CLASSES];
    uint32_t told[LENGTH_CLASSES]; /* total at which 'cost' was found */
    /* The bucket, plus one, of what an end costs from there on; 0: too few to tell. */
    uint8_t cost[LENGTH_CLASSES][LENGTH_BUCKETS];
};
