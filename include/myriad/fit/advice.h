/*
 * advice: what lies around the best layout.
 *
 *   choices      the best step with one axis forced to a neighbouring value, all others free
 *   knobs        the step of a layout on hardware that is a little faster or slower
 *   refused      layouts that would be faster if they fitted, and what of their memory is too much
 */
#pragma once

#include "myriad/fit/search.h"

#define MYR_FIT_CHOICES_MAX 32

struct myr_fit_choice {
    const char *axis; /* "tp" */
    char value[24];   /* "16" */
    bool legal;       /* some layout has it */
    bool foreign;     /* the stack does not run it */
    bool found;       /* and one of those fits */
    struct myr_fit_found best;
};

struct myr_fit_choices {
    struct myr_fit_choice items[MYR_FIT_CHOICES_MAX];
    uint32_t count;
};

/* Axes that the query fixes are left alone. */
void myr_fit_choices(const struct myr_fit_query *query, const struct myr_layout *best,
                     struct myr_arena *arena, struct myr_fit_choices *ret);

#define MYR_FIT_KNOBS(X)    \
    X(PEAK, "peak")         \
    X(MEMORY, "memory")     \
    X(SCALE_UP, "scale-up") \
    X(NIC, "nic")           \
    X(LATENCY, "latency")

enum myr_fit_knob {
#define MYR_FIT_KNOB_ENUM(name, text) MYR_FIT_KNOB_##name,
    MYR_FIT_KNOBS(MYR_FIT_KNOB_ENUM)
#undef MYR_FIT_KNOB_ENUM
        MYR_FIT_KNOB_COUNT
};

const char *myr_fit_knob_name(enum myr_fit_knob knob);
/* The step of the same layout with one number of the hardware times 'factor'. */
double myr_fit_turned_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                        enum myr_fit_knob knob, double factor);

struct myr_fit_refusal {
    struct myr_fit_found found;
    struct myr_fit_memory memory;
};

/* At most 'max' layouts faster than 'step_s', fastest first, none of which fits. */
uint32_t myr_fit_refused(const struct myr_fit_query *query, struct myr_arena *arena, double step_s,
                         struct myr_fit_refusal *ret, uint32_t max);
