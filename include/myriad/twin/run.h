/*
 * run: a scenario played in virtual time against the real control core.
 *
 * The same scenario and seed give the same run, byte for byte, on any machine; 'hash' is of every
 * event, every effect and the last state.
 */
#pragma once

#include "myriad/twin/scenario.h"

struct myr_twin_options {
    uint64_t seed;
    uint32_t samples;         /* of the cluster's state over time; 0: none */
    enum myr_planted planted; /* tests only */
    bool stop_at_violation;
    uint64_t events_most;     /* 0: no limit */
    struct myr_buf *snapshot; /* the controller's last state, or what it would restart with */
    /* Called now and then with the simulated milliseconds; NULL: never. */
    void (*progress)(void *context, int64_t now_ms, int64_t length_ms);
    void *context;
};

struct myr_twin_sample {
    int64_t now_ms;
    uint32_t busy_gpus; /* that make progress */
    uint32_t held_gpus; /* that belong to a job */
    uint32_t waiting;   /* jobs in the queue */
    uint32_t nodes_out; /* not healthy */
    uint64_t failures;
    double goodput; /* kept work over the GPU time of jobs so far */
};

/* A job that takes long enough for its share of useful time to mean something. */
struct myr_twin_long_job {
    uint32_t job, gpus, failures;
    double hours, ettr;
};

enum { MYR_TWIN_LONG_JOBS = 16, MYR_TWIN_RULES = 32 };

struct myr_twin_result {
    uint64_t seed, events, effects;
    enum myr_planted planted; /* tests only */
    bool stopped;             /* the run was ended at its first violation, as the options said */
    int64_t end_ms;
    uint32_t submitted, done, failed, cancelled, lost, waiting, running;
    double wait_mean_h, wait_p50_h, wait_p99_h;
    double gpu_utilisation; /* GPU time that made progress, kept or not */
    double goodput;         /* ... and kept */
    double idle_gpu_h; /* on healthy nodes that nobody had while a job that fits there waited */
    uint64_t failures; /* that stopped a job */
    uint64_t faults, crashes, partitions, fences, repairs, drains, clock_steps;
    uint64_t holds, weights, levers, questions, symptoms, calms;
    uint64_t drawn[MYR_SCENARIO_LISTS]; /* of each kind, struck or not */
    uint64_t messages, messages_lost, messages_twice, messages_late;
    uint64_t recoveries;
    double recovery_p50_s, recovery_p99_s;
    struct myr_twin_long_job longest[MYR_TWIN_LONG_JOBS];
    uint32_t long_count;
    uint64_t violations;
    struct {
        const char *rule;
        uint64_t count;
    } broken[MYR_TWIN_RULES]; /* those that were, in the order of the rules */
    uint32_t broken_count;
    int64_t first_violation_ms;
    const char *first_rule; /* a word; NULL: none was broken */
    char first_violation[200];
    uint64_t compares; /* of the live state with snapshot and journal */
    uint64_t hash;
    uint64_t jobs_hash; /* of how each job ended: the same however often the controller died */
    MYR_VEC(struct myr_twin_sample) samples;
    MYR_VEC(double) recovery_s; /* sorted */
    MYR_VEC(double) wait_h;     /* sorted */
};

MYR_MUST_USE int myr_twin_run(const struct myr_scenario *scenario,
                              const struct myr_twin_options *options, struct myr_twin_result *ret,
                              struct myr_err *err);
void myr_twin_result_done(struct myr_twin_result *result);
