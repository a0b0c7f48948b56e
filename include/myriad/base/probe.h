/*
 * probe: marks at places that are rarely reached, and how often each was.
 *
 * A rule that nobody broke says little where nobody came. So a place that only a rare meeting of
 * events leads to carries a mark, MYR_PROBE("the last node is lost while the gang starts"); who
 * searches for bugs asks which were never reached, and looks for worlds that reach them.
 *
 * Counts are for whoever watches from outside: nothing may decide by them. Each costs one addition;
 * two threads at one place may lose one of two counts, and never tell none where there was one.
 */
#pragma once

#include <stdint.h>

struct myr_probe {
    const char *file; /* as the compiler was given it */
    const char *what;
    uint64_t count; /* how often it was reached, or 0 */
};

/* The list of marks is a section of its own: whatever is linked together has one list. */
#define MYR_PROBE(text)                                                                           \
    do {                                                                                          \
        static struct myr_probe probe_at = {__FILE__, text, 0};                                   \
        __attribute__((section("myr_probe_list"),                                                 \
                       used)) static struct myr_probe *const probe_listed = &probe_at;            \
        (void)probe_listed;                                                                       \
        __atomic_store_n(&probe_at.count, __atomic_load_n(&probe_at.count, __ATOMIC_RELAXED) + 1, \
                         __ATOMIC_RELAXED);                                                       \
    } while (0)

/* All marks of this program, in no order; returns how many. */
uint32_t myr_probes(struct myr_probe *const **ret);
