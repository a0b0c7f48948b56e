/* lengths: how the lengths of the jobs that have ended lie in memory; for lengths.c and copies. */
#pragma once

#include "myriad/base.h"

enum {
    LENGTH_CLASSES = 33, /* by the logarithm of the GPUs; the last one has all jobs */
    LENGTH_BUCKETS = 4 * 57,
};

struct lengths {
    uint32_t counts[LENGTH_CLASSES][LENGTH_BUCKETS];
    uint32_t totals[LENGTH_CLASSES];
    uint32_t asked[LENGTH_CLASSES]; /* total at which 'end_s' was found */
    int64_t end_s[LENGTH_CLASSES];
    uint32_t told[LENGTH_CLASSES]; /* total at which 'cost' was found */
    /* The bucket, plus one, of what an end costs from there on; 0: too few to tell. */
    uint8_t cost[LENGTH_CLASSES][LENGTH_BUCKETS];
};
