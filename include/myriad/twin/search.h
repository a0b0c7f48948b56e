/*
 * search: seeds in a row, and then other worlds that reach what was not reached, until an invariant
 * breaks, and then the smallest case that still breaks the same one: the time after it cut off,
 * then kinds of trouble, then jobs and single faults left out for as long as it still breaks; where
 * that leaves much, smaller worlds at other seeds.
 */
#pragma once

#include "myriad/twin/run.h"

struct myr_search_options {
    uint64_t first_seed, seeds;
    uint64_t worlds; /* after them: other worlds, towards marks that were not reached yet */
    /* Spent on making the case small: runs as long as the one that was found, or more short ones.
     */
    uint32_t tries_most;
    enum myr_planted planted; /* tests only */
    void (*progress)(void *context, uint64_t seeds_done);
    void *context;
};

/* A mark (base/probe.h) of this program, with the number of runs that reached it. */
struct myr_search_mark {
    const struct myr_probe *probe;
    uint64_t before, runs;
    bool in_worlds; /* only other worlds reached it */
};

struct myr_search_result {
    uint64_t seeds;  /* that were run, of other worlds too */
    uint64_t worlds; /* ... of those */
    uint64_t events; /* in all of them */
    uint32_t tries;  /* runs that made it small */
    bool found;
    uint64_t found_seed;           /* that broke first; the small case may have another */
    struct myr_twin_result broken; /* the small case's run */
    uint64_t events_before;        /* of the run as it was found */
    uint32_t jobs_left;            /* of the small case */
    MYR_VEC(struct myr_search_mark) marks;
};

/* The scenario is changed into the small case where one was found. */
void myr_search_result_done(struct myr_search_result *result);
/* Tests name a planted fault by number in MYRIAD_TEST_PLANTED; none otherwise. */
MYR_MUST_USE int myr_twin_planted(enum myr_planted *ret, struct myr_err *err);

MYR_MUST_USE int myr_twin_search(struct myr_scenario *scenario,
                                 const struct myr_search_options *options,
                                 struct myr_search_result *ret, struct myr_err *err);
