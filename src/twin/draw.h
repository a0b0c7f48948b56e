/*
 * draw: random times and chances, in integers.
 *
 * Every draw is a pure function of the seed, of what it is for and of whom it is about: leaving one
 * fault out changes no other draw, which is what makes a failing case small. Logarithms and powers
 * are fixed-point, by squaring and by a table of roots of two; no libm, no floating point.
 */
#pragma once

#include "myriad/base.h"

enum { DRAW_ONE = 1 << 16 }; /* 1.0 */

/* log2 of a whole number, in 1/65536. 'value' > 0. */
int64_t draw_log2(uint64_t value);
/* 2 to the power of 'exponent'/65536, in 1/65536; within 0 and 2^46. */
uint64_t draw_exp2(int64_t exponent);

/* What a draw is for: each its own stream. */
enum draw_use {
    DRAW_JOB = 1,   /* size, work and arrival of a job */
    DRAW_FAULT,     /* where, which class, which rank */
    DRAW_START,     /* how long a node takes to start or stop ranks */
    DRAW_GANG,      /* how long a gang takes to its first step */
    DRAW_TEST,      /* how long a test takes */
    DRAW_REPAIR,    /* how long a repair takes */
    DRAW_MESSAGE,   /* lost, twice, late */
    DRAW_PARTITION, /* where and how long */
    DRAW_CRASH,     /* of the controller: when, and where in an event */
    DRAW_CLOCK,     /* jumps of its clock; drift of the nodes' */
    DRAW_OPERATOR,  /* people who drain */
    DRAW_BOOT,      /* how long a boot takes */
    DRAW_FENCE,     /* whether power goes off */
    DRAW_DETECT,    /* how long until silence is noticed */
    DRAW_HOLD,      /* a scheduler below that wants a node */
    DRAW_WEIGHT,    /* of a tenant, changed */
    DRAW_SYMPTOM,   /* nodes that are told to fail */
    DRAW_CALM,      /* when trouble stops */
    DRAW_REFUSE,    /* a start that a sound node refuses */
    DRAW_AFTER,     /* for whom a job waits */
    DRAW_LEVER,     /* what people change of a job */
    DRAW_WISH,      /* a job that is held at first, or has a date */
    DRAW_ASK,       /* what people ask */
};

void draw_init(struct myr_rng *rng, uint64_t seed, enum draw_use use, uint64_t a, uint64_t b);
/* True in so many of a million cases. */
bool draw_chance(struct myr_rng *rng, uint32_t ppm);
/* Three million years. So far as it can be told from never, no run is long enough to meet it. */
#define DRAW_MEAN_MAX_MS INT64_C(100000000000000000)

/* Waiting time of a Poisson process with this mean, of DRAW_MEAN_MAX_MS at most. */
int64_t draw_exponential_ms(struct myr_rng *rng, int64_t mean_ms);

/* A duration between low and high with a median. */
struct draw_time {
    int64_t low_ms, typical_ms, high_ms;
};

/* Lognormal, with low and high as the fifth and the ninety-fifth of a hundred, cut there. */
int64_t draw_time_ms(struct myr_rng *rng, const struct draw_time *time);
