/*
 * scenario: a cluster, its jobs, and what happens to it, as one YAML file.
 *
 * Every figure is a whole number when it gets here: milliseconds, parts of a million. Times and
 * rates of failures come from the recovery data (catalog/recovery.yaml, which goodput reads too).
 *
 * A scenario may leave things out by number: the fifth fault, the third job. Nothing else changes
 * by that, since no draw depends on another; so a failing case can be made small.
 */
#pragma once

#include "myriad/control.h"
#include "myriad/fit/failures.h"

enum {
    MYR_SCENARIO_GROUPS_MAX = 64,
    MYR_SCENARIO_SIZES_MAX = 32,
    MYR_SCENARIO_WINDOWS_MAX = 64,
    MYR_SCENARIO_CLASSES_MAX = MYR_FAILURE_CLASSES_MAX,
};
#define MYR_SCENARIO_JOBS_MAX 1000000U

enum myr_scenario_kind {
    MYR_SCENARIO_JOBS,
    MYR_SCENARIO_FAULTS,
    MYR_SCENARIO_PARTITIONS,
    MYR_SCENARIO_CRASHES,
    MYR_SCENARIO_DRAINS,
    MYR_SCENARIO_CLOCK,
    MYR_SCENARIO_LISTS
};

/* Jobs that are drawn alike. */
struct myr_scenario_jobs {
    uint32_t count;
    uint32_t sizes[MYR_SCENARIO_SIZES_MAX]; /* GPUs */
    uint32_t parts[MYR_SCENARIO_SIZES_MAX]; /* how often each, relative to the others */
    uint32_t size_count;
    int64_t work_ms[3];   /* low, typical, high */
    int64_t arrive_ms[2]; /* between */
    int64_t interval_ms;  /* between checkpoints */
    int64_t stall_ms;     /* of one */
    int64_t limit_s;
    uint32_t restart; /* enum myr_restart */
    uint32_t retries, lease_s, tenant;
    int32_t priority;
    uint32_t service;       /* run until they are cancelled, or the scenario ends */
    uint32_t cancel_ppm;    /* are cancelled by their owner at some time */
    uint32_t after_ppm;     /* wait for the job before them */
    uint32_t fixed;         /* never preempted */
    int64_t late_ms;        /* their directory comes so late, and starts before it fail */
    uint32_t tp, pp;        /* of their parallel layout; the rest is data parallel; 0: none */
    uint32_t within;        /* 0: any; no farther apart than a set of leaves, or a pod */
    uint32_t leaf_max;      /* nodes of one under one set of leaves; 0: any number */
    uint32_t least_percent; /* they also start with so much of their GPUs; 0: with all */
    uint32_t held_ppm;      /* are held by their owner at first, and released later */
    uint32_t date_ppm;      /* are to start in a stated minute, where they have a limit */
};

struct myr_scenario_window {
    uint32_t first, count;
    int64_t at_ms, length_ms, drain_ms;
};

/* A class of faults: how often, how it shows. */
struct myr_scenario_class {
    const char *key;
    uint64_t per_1e12_node_h;
    enum myr_fault shows;
    bool breaks; /* the node may need more than a new process */
};

struct myr_scenario {
    const char *name, *file;
    struct myr_place_shape shape;
    int64_t length_ms;
    enum myr_practice practice;
    struct myr_control_policy policy;
    uint32_t queue_policy; /* enum myr_queue_preset */
    uint32_t tenants;
    int64_t report_ms; /* a job tells of its steps so often */
    int64_t step_ms;

    struct myr_scenario_jobs groups[MYR_SCENARIO_GROUPS_MAX];
    uint32_t group_count;
    uint32_t job_count; /* of all groups */

    struct myr_scenario_class classes[MYR_SCENARIO_CLASSES_MAX];
    uint32_t class_count;
    const char *rate;     /* as it was said; NULL: no faults */
    uint32_t shows;       /* 0: by class */
    bool drawn;           /* times are drawn, not typical */
    uint32_t restart_ppm; /* of the faults that break: a new process is enough */
    uint32_t reboot_ppm;  /* ... a reboot is; the rest need a part */

    struct {
        uint32_t lost_ppm, twice_ppm, late_ppm;
        int64_t late_ms;
    } messages;
    struct {
        int64_t every_ms; /* on average; 0: never */
        uint32_t nodes;   /* neighbours that are cut off together */
        int64_t length_ms;
    } partitions;
    struct {
        int64_t every_ms, length_ms;
        uint64_t every_events; /* of the controller; 0: by time alone */
    } crashes;
    struct {
        int64_t every_ms, step_ms;
        uint32_t drift_permille; /* of the nodes' clocks, fast or slow by up to so much */
    } clock;
    struct {
        int64_t every_ms, length_ms; /* nodes are drained for so long */
        uint32_t nodes;              /* neighbours at a time */
    } drains;
    struct {
        int64_t every_ms, length_ms; /* a scheduler below has a node for so long */
    } holds;
    struct {
        int64_t every_ms; /* a tenant's weight is changed */
    } weights;
    struct {
        int64_t every_ms; /* somebody holds a job, and lets it go, or changes its priority */
    } levers;
    struct {
        int64_t every_ms; /* somebody asks why, when, and what if */
    } questions;
    struct {
        int64_t every_ms; /* nodes that fail, or will, say so themselves */
        uint32_t nodes;   /* of one gang, up to so many together */
    } symptoms;
    struct {
        int64_t every_ms, length_ms; /* all trouble stops for so long, and all is mended */
        uint32_t ends;               /* and once more behind the end, until every job is over */
    } calms;
    uint32_t fence_fails_ppm;
    uint32_t refuse_ppm; /* of the starts on sound nodes fail there */
    struct myr_scenario_window windows[MYR_SCENARIO_WINDOWS_MAX];
    uint32_t window_count;
    uint64_t check_every; /* events between two comparisons of state and journal */

    /* What is left out, by number; sorted. */
    struct myr_scenario_list {
        uint32_t *items;
        size_t count, capacity;
    } left_out[MYR_SCENARIO_LISTS];

    const struct myr_recovery *recovery;
};

MYR_MUST_USE int myr_scenario_parse(struct myr_scenario *scenario, struct myr_arena *arena,
                                    const char *file, struct myr_str text, struct myr_err *err);
MYR_MUST_USE int myr_scenario_read(struct myr_scenario *scenario, struct myr_arena *arena,
                                   const char *path, struct myr_err *err);
void myr_scenario_done(struct myr_scenario *scenario);
/* The scenario as YAML that reads back the same. */
void myr_scenario_write(const struct myr_scenario *scenario, struct myr_buf *buf);
