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
    TIME_DETECT_CRASH,
    TIME_DETECT_HANG,
    TIME_DETECT_LOST,
    TIME_DIAGNOSE,
    TIME_REPLACE, /* on a node that is new to the job */
    TIME_PULL,
    TIME_IMPORT, /* on every node */
    TIME_CONTEXT,
    TIME_RENDEZVOUS, /* of the whole gang */
    TIME_COMMS,
    TIME_STATE,
    TIME_LOADER,
    TIME_FIRST_STEP,
    TIME_TEARDOWN,
    TIME_CHECK, /* of a node that has joined */
    TIME_REBOOT,
    TIME_STACK,
    TIME_RETURN, /* tests before a repaired node comes back */
    TIME_PART,   /* a part is replaced */
    TIME_PARTS
};

struct times {
    struct time_row {
        struct draw_time at_one; /* at 'at_gpus' where it scales */
        int64_t power;           /* of the number of GPUs, in 1/65536; 0: does not scale so */
        int64_t log2_gpus;       /* log2 of 'at_gpus', in 1/65536 */
        bool by_log;
    } rows[TIME_PARTS];
    bool drawn;
};

MYR_MUST_USE int times_init(struct times *times, const struct myr_recovery *recovery,
                            enum myr_practice practice, bool drawn, struct myr_err *err);
int64_t times_typical_ms(const struct times *times, enum time_part part, uint32_t gpus);
int64_t times_draw_ms(const struct times *times, enum time_part part, uint32_t gpus,
                      struct myr_rng *rng);
