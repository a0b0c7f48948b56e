#include "myriad/sim/workload.h"

#include <stdlib.h>

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
    struct myr_message *messages = myr_xcalloc(round->pair_count, sizeof(*messages));
    for (uint32_t i = 0; i < round->pair_count; i++) {
        const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
        messages[i] = (struct myr_message){gpu_of(ranks, pair->from), gpu_of(ranks, pair->to)};
    }
    *ret = myr_sim_pattern(sim, messages, round->pair_count);
    if (round->cyclic) {
        myr_sim_pattern_cyclic(sim, *ret);
    }
    free(messages);
    return myr_sim_route(sim, err);
}

/* Rough cost in nanoseconds for choosing: latency of the hops and bytes over one NIC. */
static double rough_cost(const struct myr_schedule_plan *plan, uint32_t ranks, uint32_t local)
{
    enum { HOP_NS = 3000, LOCAL_HOP_NS = 700, NIC_BYTES_PER_NS = 50, LOCAL_BYTES_PER_NS = 400 };
    uint32_t *out = myr_xcalloc(ranks, sizeof(*out));
    double total = 0;
    for (size_t r = 0; r < plan->rounds.count; r++) {
        const struct myr_round *round = &plan->rounds.items[r];
        uint32_t most = 0, most_local = 0;
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t i = 0; i < round->pair_count; i++) {
                const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
                bool inside = pair->from / local == pair->to / local;
                if (inside == (pass == 0)) {
                    uint32_t count = ++out[pair->from];
                    uint32_t *worst = inside ? &most_local : &most;
                    *worst = count > *worst ? count : *worst;
                }
            }
            memset(out, 0, ranks * sizeof(*out));
        }
        double network = (double)round->bytes * most / NIC_BYTES_PER_NS;
        double scale_up = (double)round->bytes * most_local / LOCAL_BYTES_PER_NS;
        total += (double)round->hops * (most ? HOP_NS : LOCAL_HOP_NS) +
                 (network > scale_up ? network : scale_up);
    }
    free(out);
    return total;
}

/* The cheapest algorithm that can run this collective over these ranks. */
static enum myr_algorithm cheapest(enum myr_collective collective, uint32_t ranks, uint32_t local,
                                   uint64_t bytes)
{
    enum myr_algorithm best = MYR_ALGORITHM_RING;
    double best_cost = 0;
    if (collective == MYR_ALL_TO_ALL) {
        return MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a <= MYR_ALGORITHM_HIER; a++) {
        struct myr_schedule_plan plan;
        if (a == MYR_ALGORITHM_PAIRWISE ||
            myr_collective_plan(collective, (enum myr_algorithm)a, ranks, local, bytes, &plan,
                                NULL) < 0) {
            continue;
        }
        double cost = rough_cost(&plan, ranks, local);
        if (a == 0 || cost < best_cost) {
            best = (enum myr_algorithm)a;
            best_cost = cost;
        }
        myr_schedule_plan_done(&plan);
    }
    return best;
}

int myr_load_collective(struct myr_sim *sim, struct myr_ranks ranks, enum myr_collective collective,
                        enum myr_algorithm algorithm, uint32_t local, uint64_t bytes,
                        uint32_t after, uint32_t *ret, struct myr_err *err)
{
    struct myr_schedule_plan plan;
    local = local ? local : 1;
    if (algorithm == MYR_ALGORITHM_AUTO && ranks.count > 1) {
        algorithm = cheapest(collective, ranks.count, local, bytes);
    }
    int r = myr_collective_plan(collective, algorithm, ranks.count, local, bytes, &plan, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; r == MYR_OK && i < plan.rounds.count; i++) {
        const struct myr_round *round = &plan.rounds.items[i];
        uint32_t pattern;
        myr_sim_phase(sim, (uint32_t)i);
        r = round_pattern(sim, ranks, &plan, round, &pattern, err);
        if (r == MYR_OK) {
            *ret = myr_sim_transfer(sim, pattern, round->bytes, round->hops);
            follow(sim, *ret, after);
            after = *ret;
        }
    }
    myr_schedule_plan_done(&plan);
    return r;
}
