/* Which GPUs a job runs on, rank by rank, from its words. */
#pragma once

#include "question/words.h"

/* Keys that say which GPUs a job has; makers put their own behind. */
#define SIM_PLACE_KEYS "seed", "ranks", "first", "place", "disorder"

struct sim_place {
    uint32_t *gpus; /* by rank; in the arena */
    uint32_t count;
    uint64_t seed; /* the words' own, or the one given */
};

/* first=GPU,ranks=N,place=block|random|sorted,disorder=PERCENT,seed=N; else all GPUs in order. */
MYR_MUST_USE int sim_place_choose(struct sim_place *ret, struct myr_arena *arena,
                                  const struct myr_design_head *head, const struct sim_words *words,
                                  uint64_t seed, struct myr_err *err);
