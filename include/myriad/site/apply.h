/*
 * apply: planned paths into a real fabric, and a real fabric's tables back.
 *
 * Two targets make a fabric take the paths that were planned for the flows: forwarding tables for
 * OpenSM's file routing, or a UDP source port for each RoCE connection that steers the switches'
 * hashes. The third question goes the other way: what do the flows load by the tables of a running
 * subnet. The answer is the same for all three: where the flows go now.
 *
 * Nothing is written that could deadlock (deadlock.h). A fabric without tiers whose tables could
 * gets settings for OpenSM's engines instead, which hand out lanes; its paths are theirs.
 */
#pragma once

#include "myriad/site/deadlock.h"
#include "myriad/site/source_port.h"
#include "myriad/site/tables.h"

enum myr_apply_target { MYR_APPLY_OPENSM, MYR_APPLY_ROCE, MYR_APPLY_TARGET_COUNT };

extern const char *const myr_apply_target_names[MYR_APPLY_TARGET_COUNT];

struct myr_apply_question {
    enum myr_apply_target target;
    const char *out; /* the file to write */
    /* The same from the root on, for files that name each other; NULL: as 'out' has it. */
    const char *whole_out;
    const struct myr_catalog *catalog; /* knows what the switches speak; NULL: nobody asks */
    const char *binding;               /* GUIDs of the real devices; NULL: made from the design */
    /* OpenSM: only the per-destination paths, no flow laid over them. */
    bool keep_static;
    /* RoCE: how the switches hash, and CSV files of their seeds and of their next hops' order. */
    enum myr_switch_hash hash;
    uint64_t seed;
    const char *seeds, *order; /* NULL: 'seed' everywhere; the ports' order */
};

struct myr_applied {
    const char *what;          /* "opensm", "roce", "tables" */
    const uint16_t *ports;     /* source ports by flow, or NULL */
    struct myr_routes routes;  /* as they are now */
    uint64_t *load;            /* by channel */
    uint32_t planned, refused; /* flows on their planned path, and not */
    uint32_t unknown;          /* entries of a file that are not of this design */
    const char *engine;        /* OpenSM: "file", or those that choose the paths; else NULL */
    uint64_t dependencies;     /* between channels, on one lane (deadlock.h) */
    struct myr_cycle cycle;    /* of tables that were read */
    bool same_seeds;           /* of all switches: their choices then depend on each other */
    /* Over the channels between switches that carry anything; 1 is line rate. */
    double max_load, mean_load;
    uint32_t loaded;
};

/* What can be said before anything is read. */
MYR_MUST_USE int myr_apply_check(const struct myr_apply_question *question, struct myr_err *err);
/* Plans the flows' paths and writes the file. Release with myr_applied_done() in any case. */
MYR_MUST_USE int myr_apply(struct myr_fabric_case *fabric,
                           const struct myr_apply_question *question, struct myr_applied *ret,
                           struct myr_err *err);
/* The load that the flows put on the links by the tables of a running subnet (dump_lfts). */
MYR_MUST_USE int myr_apply_tables(struct myr_fabric_case *fabric, const char *tables,
                                  const char *binding, struct myr_applied *ret,
                                  struct myr_err *err);
void myr_applied_done(struct myr_applied *applied);
