/*
 * times: how long each part of a start, a test or a repair takes, from the recovery data.
 *
 * Shares no arithmetic with goodput: rows are scaled here in integers, and what a recovery takes in
 * all is nowhere added up; it comes out of what nodes and gangs do one after the other.
 */
#pragma once

#include "draw.h"
#include "myriad/fit/failures.h"

enum time_part {
    TIME_DETECT_CRASH, /* until the controller hears of it */
    TIME_DETECT_HANG,  /* the timer that a scenario takes over */
    TIME_DETECT_LOST,  /* until a silent node is noticed */
    TIME_DIAGNOSE,     /* the test of a node in doubt */
    TIME_REPLACE,      /* on a node that is new to the job */
    TIME_PULL,         /* the image of the job */
    TIME_IMPORT,       /* on every node */
    TIME_CONTEXT,      /* of the GPUs */
    TIME_RENDEZVOUS,   /* of the whole gang */
    TIME_COMMS,        /* communicators */
    TIME_STATE,        /* the checkpoint is loaded */
    TIME_LOADER,       /* the first data */
    TIME_FIRST_STEP,
    TIME_TEARDOWN, /* ranks are stopped */
    TIME_CHECK,    /* of a node that has joined */
    TIME_REBOOT,
    TIME_STACK,  /* the GPU stack after a boot */
    TIME_RETURN, /* tests before a repaired node comes back */
    TIME_PART,   /* a part is replaced */
    TIME_PARTS
};

struct times {
    struct time_row {
        struct draw_time at_one; /* at 'at_gpus' where it scales */
        int64_t power;           /* of the number of GPUs, in 1/65536; 0: does not scale so */
        int64_t log2_gpus;       /* log2 of 'at_gpus', in 1/65536 */
        bool by_log;             /* grows with log2 of the GPUs */
    } rows[TIME_PARTS];
    bool drawn; /* else each takes its typical time */
};

MYR_MUST_USE int times_init(struct times *times, const struct myr_recovery *recovery,
                            enum myr_practice practice, bool drawn, struct myr_err *err);
int64_t times_typical_ms(const struct times *times, enum time_part part, uint32_t gpus);
/* Of a part that one node takes alone, whatever gang is on it. */
int64_t times_draw_node_ms(const struct times *times, enum time_part part, struct myr_rng *rng);
int64_t times_draw_ms(const struct times *times, enum time_part part, uint32_t gpus,
                      struct myr_rng *rng);
