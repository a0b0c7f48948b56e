/*
 * spec_optimise: what a spec leaves open, what it insists on and what it wants most.
 *
 * Choices are lists of values that the compute network and the cooling may take; the space is their
 * product. A choice without a list is decided as in any other plan.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct myr_doc;

#define MYR_CHOICE_VALUES_MAX 32

enum myr_open_choice {
    MYR_CHOICE_SWITCH,
    MYR_CHOICE_TOPOLOGY,
    MYR_CHOICE_TIERS,
    MYR_CHOICE_FILL,
    MYR_CHOICE_OVERSUBSCRIPTION,
    MYR_CHOICE_PLANES,
    MYR_CHOICE_COOLING, /* the last: it needs no other plan */
    MYR_CHOICE_COUNT,
};
extern const char *const myr_choice_names[MYR_CHOICE_COUNT];

/* What a design is measured by. All but the bandwidth are better when smaller. */
enum myr_metric {
    MYR_METRIC_CAPEX,
    MYR_METRIC_COST_OF_YEARS,
    MYR_METRIC_POWER_KW,
    MYR_METRIC_BANDWIDTH,
    MYR_METRIC_BLAST,
    MYR_METRIC_MOVED,
    MYR_METRIC_RACKS,
    MYR_METRIC_HOPS,
    MYR_METRIC_COUNT,
};
extern const char *const myr_metric_names[MYR_METRIC_COUNT];

struct myr_choice_list {
    const struct myr_doc *node;
    double values[MYR_CHOICE_VALUES_MAX]; /* a part, an enum or a number */
    uint32_t count;                       /* 0: left to the planner */
};

struct myr_spec_optimise {
    const struct myr_doc *node; /* NULL: not said */
    uint32_t objective;         /* enum myr_metric */
    struct myr_choice_list choices[MYR_CHOICE_COUNT];
    double limits[MYR_METRIC_COUNT]; /* the most, of the bandwidth the least; below 0: none */
    uint32_t grow_to;                /* servers; 0: growth is not looked at */
};
