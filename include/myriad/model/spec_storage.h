/*
 * spec_storage: the storage system that a spec asks for: room, rates, files, checkpoints, nines.
 *
 * Every wish is a number that the planner holds a count of servers against; the largest count wins.
 * What is absent is 0 or NULL and asks for nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct myr_doc;

enum myr_rate_class { MYR_RATE_NONE, MYR_RATE_GOOD, MYR_RATE_BETTER, MYR_RATE_BEST };

/* Slower and larger than the flash in front of it. */
enum myr_storage_tier { MYR_TIER_HYBRID, MYR_TIER_OBJECT, MYR_TIER_COUNT };
extern const char *const myr_tier_names[MYR_TIER_COUNT];

struct myr_spec_tier {
    const struct myr_doc *node; /* NULL: not wanted */
    uint32_t server_part;
    double capacity_tb; /* usable, decimal */
    uint32_t copies, erasure_data, erasure_parity;
};

struct myr_spec_storage {
    const struct myr_doc *node; /* NULL: no storage system */
    uint32_t server_part;
    double capacity_tb; /* usable, decimal */
    uint32_t copies, erasure_data, erasure_parity;
    uint32_t rate_class;
    uint32_t servers; /* given: not computed */

    double read_gbytes, write_gbytes;  /* a second, of all of it */
    double iops, metadata_ops;         /* a second */
    double files, file_kb, scan_hours; /* scan: all of them looked at once */
    const struct myr_doc *model_node;  /* for messages */
    const char *model;                 /* whose checkpoint is written */
    double window_s;                   /* in which it is */
    uint32_t checkpoints;              /* that are kept */
    double availability_percent;       /* 0: no wish */
    double mtbf_hours, repair_hours;   /* of one server */
    uint32_t placement_groups;         /* 0: by the disks */
    struct myr_spec_tier tiers[MYR_TIER_COUNT];
};
