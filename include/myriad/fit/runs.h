/*
 * runs: measured training runs from a CSV, what the model says of each, and how far it is off.
 *
 * A row names model, hardware, software and layout (docs/fit.md lists the columns). An axis that a
 * row leaves open takes the value that the model finds best among those that fit in memory, and
 * the answer says so. Rows without a time count for coverage only.
 */
#pragma once

#include "myriad/fit/interval.h"
#include "myriad/fit/search.h"

enum {
    MYR_RUN_OPEN_MICRO_BATCH = 1,
    MYR_RUN_OPEN_VP = 2,
    MYR_RUN_OPEN_RECOMPUTE = 4,
    MYR_RUN_OPEN_ETP = 8,
    MYR_RUN_OPEN_TP = 16,
    MYR_RUN_OPEN_PP = 32,
    MYR_RUN_OPEN_CP = 64,
    MYR_RUN_OPEN_EP = 128,
    MYR_RUN_OPEN_ZERO = 256
};

/* What a row says in words that are not known, and what was taken instead. */
enum {
    MYR_RUN_GUESSED_PRECISION = 1,
    MYR_RUN_GUESSED_DEVICE = 2,
    MYR_RUN_GUESSED_OFFLOAD = 4 /* single modules on the host: taken for none */
};

struct myr_run {
    const char *id, *source, *software;
    struct myr_model model;
    struct myr_layout layout; /* open axes as last resolved */
    struct myr_fit_case it;
    struct myr_stated stated; /* what the row says of its recipe */
    struct myr_recipe recipes[MYR_PRECISION_COUNT];
    uint32_t offload_layers; /* as published */
    uint32_t etp;            /* as published; 0: open */
    uint32_t gpus, dp;       /* as published; dp 0: what is left */
    double measured_s;       /* 0: none published */
    double peak_bytes;       /* of memory, as published; 0: not */
    uint32_t open;           /* MYR_RUN_OPEN_* */
    uint32_t guessed;        /* MYR_RUN_GUESSED_* */
    bool stack_exact;        /* the release is known */
    bool fits;               /* in memory, as modelled */
    double recompute_share;  /* of the layers that are made again, where recompute is open */
    const char *refused;     /* why the row cannot be expressed; NULL when it can */
};

struct myr_runs {
    struct myr_run *items;
    uint32_t count;
    bool has_times; /* a column for them; a row may still leave it empty */
};

/* A row that cannot be expressed says why in 'refused'; only the file as a whole is an error. */
MYR_MUST_USE int myr_runs_parse(struct myr_runs *runs, struct myr_arena *arena,
                                const struct myr_profiles *profiles, const char *file,
                                struct myr_str text, struct myr_err *err);
/* The same of a file, which must have a column of times. */
MYR_MUST_USE int myr_runs_read(struct myr_runs *runs, struct myr_arena *arena,
                               const struct myr_profiles *profiles, const char *path,
                               struct myr_err *err);
/* The row as a question: what it states is fixed, and the search answers it. */
struct myr_fit_query myr_run_query(const struct myr_run *run);
/* Chooses the open axes; the constants are those of 'run->it'. */
void myr_run_resolve(struct myr_run *run);
void myr_run_cost(const struct myr_run *run, struct myr_fit_cost *ret);
/* Of memory, as the trainer counts it. */
double myr_run_peak_bytes(const struct myr_run *run);
/* As myr_fit_spread(); 'cost' is the run's. */
struct myr_fit_spread myr_run_spread(const struct myr_run *run, const struct myr_profiles *profiles,
                                     const struct myr_fit_cost *cost);

/* Length of the family's name: the source up to the first hyphen. */
size_t myr_run_family_len(const struct myr_run *run);
