#include "myriad/sim/workload.h"

#include <stdlib.h>

#include "engine/internal.h"

static uint32_t gpu_of(struct myr_ranks ranks, uint32_t rank)
{
    return ranks.gpus ? ranks.gpus[rank] : rank;
}

static void follow(struct myr_sim *sim, uint32_t task, uint32_t after)
{
    if (after != MYR_NONE) {
        myr_sim_after(sim, task, after);
    }
}

int myr_load_flow(struct myr_sim *sim, struct myr_message message, uint64_t bytes, uint32_t after,
                  uint32_t *ret, struct myr_err *err)
{
    (void)err;
    uint32_t pattern = myr_sim_pattern(sim, &message, 1);
    *ret = myr_sim_transfer(sim, pattern, bytes, 1);
    follow(sim, *ret, after);
    return MYR_OK;
}

/* A round as a pattern, routed on its own: rounds of one collective never overlap. */
static int round_pattern(struct myr_sim *sim, struct myr_ranks ranks,
                         const struct myr_schedule_plan *plan, const struct myr_round *round,
                         uint32_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at)
    struct myr_message *messages = myr_xcalloc(round->pair_count, sizeof(*messages));
    for (uint32_t i = 0; i < round->pair_count; i++) {
        const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
        messages[i] = (struct myr_message){gpu_of(ranks, pair->from), gpu_of(ranks, pair->to)};
    }
    *ret = myr_sim_pattern(sim, messages, round->pair_count);
    if (round->cyclic) {
        myr_sim_pattern_cyclic(sim, *ret);
    }
    return myr_sim_route(sim, err);
}

static void free_trial(struct myr_sim **trial)
{
    myr_sim_free(*trial);
}

/*
 * When the collective would end with this algorithm, alone on a fabric without faults; -1 when it
 * cannot run. Only playing it tells: hashing costs a ring nothing and halving a factor of four.
 */
static myr_ps alone_end(const struct myr_sim *sim, struct myr_ranks ranks,
                        enum myr_collective collective, enum myr_algorithm algorithm,
                        uint32_t local, uint64_t bytes)
{
    struct myr_err err = {0};
    struct myr_sim_result result;
    MYR_CLEANUP(free_trial) struct myr_sim *trial = myr_sim_create(sim->graph, &sim->options);
    uint32_t last = MYR_NONE;
    int rc = myr_load_collective(trial, ranks, collective, algorithm, local, bytes, MYR_NONE, &last,
                                 &err);
    if (rc == MYR_OK) {
        rc = myr_sim_run(trial, NULL, NULL, &result, &err);
    }
    return rc < 0 ? -1 : result.end;
}

/* The quickest algorithm that can run this collective over these ranks; the first of equals. */
static enum myr_algorithm quickest(const struct myr_sim *sim, struct myr_ranks ranks,
                                   enum myr_collective collective, uint32_t local, uint64_t bytes)
{
    enum myr_algorithm best = MYR_ALGORITHM_RING;
    myr_ps best_end = -1;
    if (collective == MYR_ALL_TO_ALL) {
        return MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a <= MYR_ALGORITHM_HIER; a++) {
        enum myr_algorithm algorithm = (enum myr_algorithm)a;
        myr_ps end = algorithm == MYR_ALGORITHM_PAIRWISE
                         ? -1
                         : alone_end(sim, ranks, collective, algorithm, local, bytes);
        if (end >= 0 && (best_end < 0 || end < best_end)) {
            best = algorithm;
            best_end = end;
        }
    }
    return best;
}

int myr_load_collective(struct myr_sim *sim, struct myr_ranks ranks, enum myr_collective collective,
                        enum myr_algorithm algorithm, uint32_t local, uint64_t bytes,
                        uint32_t after, uint32_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_schedule_plan_done) struct myr_schedule_plan plan = {0};
    local = local ? local : 1;
    if (algorithm == MYR_ALGORITHM_AUTO && ranks.count > 1) {
        algorithm = quickest(sim, ranks, collective, local, bytes);
    }
    MYR_TRY(myr_collective_plan(collective, algorithm, ranks.count, local, bytes, &plan, err));
    for (size_t i = 0; i < plan.rounds.count; i++) {
        const struct myr_round *round = &plan.rounds.items[i];
        uint32_t pattern;
        myr_sim_phase(sim, (uint32_t)i);
        MYR_TRY(round_pattern(sim, ranks, &plan, round, &pattern, err));
        *ret = myr_sim_transfer(sim, pattern, round->bytes, round->hops);
        follow(sim, *ret, after); /* a round begins when the one before has ended */
        after = *ret;
    }
    return MYR_OK;
}
