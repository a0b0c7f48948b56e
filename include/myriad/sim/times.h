/*
 * times: how long flows took, as a distribution.
 *
 * What is counted are flows: a transfer of a collective moves many of them in lockstep, which all
 * take as long as it does, so it counts as often as it has flows. Computing is no flow. A
 * percentile is the shortest time within which at least that part of the flows has ended
 * (nearest rank): of three flows the 99th percentile is the slowest one.
 */
#pragma once

#include "myriad/sim/engine.h"

struct myr_times_entry {
    myr_ps time;
    uint32_t flows;
};

struct myr_times {
    const struct myr_times_entry *items; /* the shortest first */
    size_t count;
    uint64_t flows;
    double sum_ps; /* over all flows, in the order of the tasks */
};

/* Of the transfers among these tasks, after a run. The entries live in the arena. */
void myr_times_collect(struct myr_times *ret, struct myr_arena *arena, const struct myr_sim *sim,
                       uint32_t first_task, uint32_t task_count);

/* 0 is the shortest, 100 the longest; 0 ps where there are no flows. */
myr_ps myr_times_percentile(const struct myr_times *times, uint32_t percent);
double myr_times_mean_us(const struct myr_times *times);

/* For people, in the unit of its size: "812.000 ns", "1.947 us", "8.121 ms". */
struct myr_time_unit {
    const char *name;
    myr_ps ps;
};

/* The largest unit, from ns to s, that the time has one of. */
struct myr_time_unit myr_times_unit(myr_ps time);
const char *myr_times_text(struct myr_arena *arena, myr_ps time);
