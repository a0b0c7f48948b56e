/*
 * workload: collectives as tasks of the engine, in full or collapsed, and which algorithm is
 * quickest.
 */
#include "myriad/sim/workload.h"

#include <stdlib.h>

#include "engine/internal.h"

static uint32_t gpu_of(struct myr_ranks ranks, uint32_t rank)
{
    MYR_SLOW_ASSERT(rank < ranks.count);
    return ranks.gpus ? ranks.gpus[rank] : rank;
}

/* MYR_NONE: from the beginning. */
static void follow(struct myr_sim *sim, uint32_t task, uint32_t after)
{
    if (after != MYR_NONE) {
        myr_sim_after(sim, task, after);
    }
}

/* A pattern of its own: single flows share no rate. */
uint32_t myr_load_flow(struct myr_sim *sim, struct myr_message message, uint64_t bytes)
{
    return myr_sim_transfer(sim, myr_sim_pattern(sim, &message, 1), bytes, 1);
}

/* Domains and nodes are blocks of consecutive GPUs. */
static uint32_t block_of(const struct myr_ranks ranks, uint32_t rank, uint32_t size)
{
    MYR_SLOW_ASSERT(size > 0);
    return gpu_of(ranks, rank) / size;
}

/* Whether blocks of 'local' ranks lie in one block of 'size' GPUs each. */
static bool lie_together(struct myr_ranks ranks, uint32_t local, uint32_t size)
{
    for (uint32_t i = 0; i < ranks.count; i++) {
        if (block_of(ranks, i, size) != block_of(ranks, i / local * local, size)) {
            return false;
        }
    }
    return ranks.count % local == 0;
}

uint32_t myr_local_ranks(const struct myr_graph *graph, struct myr_ranks ranks)
{
    const struct myr_design_head *head = graph->design->head;
    /* The domain first, it may span nodes; where ranks do not fill domains, the node. */
    uint32_t sizes[] = {head->scale_up_gpus, head->gpus_per_node};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        uint32_t local = sizes[i] < ranks.count ? sizes[i] : ranks.count;
        if (local > 1 && lie_together(ranks, local, sizes[i])) {
            return local;
        }
    }
    return 1;
}

/* Counted as ranks come: pairs grow from n squared to the next square. */
struct myr_collective_domains myr_rank_domains(const struct myr_graph *graph,
                                               struct myr_ranks ranks)
{
    const struct myr_design_head *head = graph->design->head;
    uint32_t size = head->scale_up_gpus ? head->scale_up_gpus : 1;
    struct myr_collective_domains domains = {};
    MYR_CLEANUP(myr_free_at) uint32_t *there = myr_xcalloc(head->gpus / size + 1, sizeof(*there));
    for (uint32_t i = 0; i < ranks.count; i++) {
        MYR_ASSERT(gpu_of(ranks, i) < head->gpus);
        uint32_t now = ++there[block_of(ranks, i, size)];
        domains.count += now == 1;
        domains.largest = now > domains.largest ? now : domains.largest;
        domains.pairs += 2 * now - 1; /* from n^2 to the next: itself, and twice those before */
    }
    MYR_ASSERT(domains.largest <= size);
    MYR_ASSERT(domains.count <= ranks.count); /* no GPU twice */
    return domains;
}

/* A round as a pattern, routed on its own: rounds over other pairs do not overlap with it. */
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
    MYR_ASSERT(round->first_pair + round->pair_count <= plan->pairs.count);
    *ret = myr_sim_pattern(sim, messages, round->pair_count);
    if (round->cyclic) {
        myr_sim_pattern_cyclic(sim, *ret);
    }
    return myr_sim_route(sim, err);
}

/* The collapsed form; a task a round. */
static int load_rounds(struct myr_sim *sim, struct myr_ranks ranks,
                       const struct myr_collective_shape *shape, uint32_t after, uint32_t *ret,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_schedule_plan_done) struct myr_schedule_plan plan = {};
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) patterns = {};
    MYR_TRY(myr_collective_plan(shape, &plan, err));
    uint32_t first = myr_sim_task_count(sim), phase = 0;
    for (uint32_t i = 0; i < plan.rounds.count; i++) {
        const struct myr_round *round = &plan.rounds.items[i];
        uint32_t pattern = MYR_NONE;
        for (uint32_t k = 0; k < i && pattern == MYR_NONE; k++) { /* few, and the first ones */
            bool same = plan.rounds.items[k].first_pair == round->first_pair;
            pattern = same ? patterns.items[k] : MYR_NONE;
        }
        if (pattern == MYR_NONE) {
            myr_sim_phase(sim, phase++);
            MYR_TRY(round_pattern(sim, ranks, &plan, round, &pattern, err));
        }
        myr_vec_push(&patterns, pattern);
        uint32_t task = myr_sim_transfer(sim, pattern, round->bytes, round->hops);
        MYR_ASSERT(task == first + i);
        /* Rounds that wait for no other wait for what is before the collective. */
        if (round->after[0] == MYR_NONE && round->after[1] == MYR_NONE) {
            follow(sim, task, after);
        }
        for (uint32_t k = 0; k < 2; k++) {
            MYR_ASSERT(round->after[k] == MYR_NONE || round->after[k] < i); /* no circle */
            follow(sim, task, round->after[k] == MYR_NONE ? MYR_NONE : first + round->after[k]);
        }
    }
    MYR_ASSERT(plan.rounds.count > 0);
    MYR_ASSERT(patterns.count == plan.rounds.count);
    *ret = first + (uint32_t)plan.rounds.count - 1; /* all others are before it */
    return MYR_OK;
}

/* One pattern for each pair of ranks and step; those of a step are routed together. */
static int send_patterns(struct myr_sim *sim, struct myr_ranks ranks, const struct myr_sends *sends,
                         uint32_t *patterns, struct myr_err *err)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map known = {};
    uint32_t last = 0;
    MYR_ASSERT(ranks.count < UINT32_C(1) << 24); /* a schedule has at least a send a rank */
    for (size_t i = 0; i < sends->items.count; i++) {
        last = sends->items.items[i].step > last ? sends->items.items[i].step : last;
    }
    for (uint32_t step = 0; step <= last; step++) {
        /* Other jobs' sends of the same step are routed together with these. */
        myr_sim_phase(sim, step);
        for (size_t i = 0; i < sends->items.count; i++) {
            const struct myr_send *send = &sends->items.items[i];
            if (send->step != step) {
                continue;
            }
            /* 24 bits for each rank, the step above them. */
            uint64_t key = ((uint64_t)step << 48) ^ ((uint64_t)send->from << 24) ^ send->to;
            uint32_t *seen = myr_u64map_find(&known, key);
            if (!seen) {
                struct myr_message message = {gpu_of(ranks, send->from), gpu_of(ranks, send->to)};
                patterns[i] = myr_sim_pattern(sim, &message, 1);
                myr_u64map_add(&known, key, patterns[i]);
            } else {
                patterns[i] = *seen;
            }
        }
        MYR_TRY(myr_sim_route(sim, err));
    }
    return MYR_OK;
}

/* The full schedule; a task a send, and one that waits for all that nobody else waits for. */
static int load_sends(struct myr_sim *sim, struct myr_ranks ranks,
                      const struct myr_collective_shape *shape, uint32_t after, uint32_t *ret,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_sends_done) struct myr_sends sends = {};
    MYR_TRY(myr_collective_sends(shape, &sends, err));
    size_t count = sends.items.count;
    MYR_CLEANUP(myr_free_at) uint32_t *patterns = myr_xcalloc(count, sizeof(*patterns));
    MYR_CLEANUP(myr_free_at) uint8_t *awaited = myr_xcalloc(count, 1);
    MYR_TRY(send_patterns(sim, ranks, &sends, patterns, err));
    uint32_t first = myr_sim_task_count(sim);
    for (size_t i = 0; i < count; i++) {
        const struct myr_send *send = &sends.items.items[i];
        uint32_t task = myr_sim_transfer(sim, patterns[i], send->bytes, send->hops);
        for (uint32_t k = 0; k < send->after_count; k++) {
            uint32_t before = sends.after.items[send->first_after + k];
            MYR_ASSERT(before < i);
            /* What somebody waits for is not waited for at the end once more. */
            awaited[before] = 1;
            myr_sim_after(sim, task, first + before);
        }
        if (send->after_count == 0) {
            follow(sim, task, after);
        }
        if (send->follows != MYR_NONE) {
            MYR_ASSERT(send->follows < i);
            awaited[send->follows] = 1;
            myr_sim_follows(sim, task, first + send->follows);
        }
    }
    *ret = myr_sim_compute(sim, 0);
    for (size_t i = 0; i < count; i++) {
        if (!awaited[i]) {
            myr_sim_after(sim, *ret, first + (uint32_t)i);
        }
    }
    return MYR_OK;
}

/*
 * Where nothing is said: the full schedule, unless it has so many sends that playing it takes
 * seconds. Trees and chains in one chunk are no pipelines; their collapsed form is one of very many
 * chunks, which is what libraries come near to.
 */
static bool plays_in_full(const struct myr_collective_shape *shape, enum myr_schedule_form form)
{
    enum { SENDS_MAX = 65536, PAIRS_MAX = 20000 };
    bool tree = shape->algorithm == MYR_ALGORITHM_TREE && shape->collective == MYR_ALL_REDUCE;
    bool pipeline = tree || shape->collective == MYR_BROADCAST;
    uint64_t most = shape->algorithm == MYR_ALGORITHM_PAIRWISE ? PAIRS_MAX : SENDS_MAX;
    if (form != MYR_SCHEDULE_AUTO) {
        return form == MYR_SCHEDULE_FULL;
    }
    if ((pipeline && shape->chunks == 0) || shape->ranks < 2) {
        return false;
    }
    return shape->window > 0 || myr_collective_send_count(shape) <= most;
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
                        const struct myr_collective_shape *shape, enum myr_schedule_form form)
{
    struct myr_err err = {};
    struct myr_sim_result result = {};
    struct myr_collective_load load;
    MYR_CLEANUP(free_trial) struct myr_sim *trial = myr_sim_create(sim->graph, &sim->options);
    /* With the algorithm set: this does not come back here. */
    int rc = myr_load_collective(trial, ranks, shape, form, MYR_NONE, &load, &err);
    if (rc == MYR_OK) {
        rc = myr_sim_run(trial, NULL, NULL, &result, &err);
    }
    return rc < 0 ? -1 : result.end;
}

/* The quickest algorithm that can run this collective over these ranks; the first of equals. */
static enum myr_algorithm quickest(const struct myr_sim *sim, struct myr_ranks ranks,
                                   struct myr_collective_shape shape, enum myr_schedule_form form)
{
    enum myr_algorithm best = MYR_ALGORITHM_RING;
    myr_ps best_end = -1;
    if (shape.collective == MYR_ALL_TO_ALL) {
        return MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a <= MYR_ALGORITHM_HIER; a++) {
        /* Up to HIER: in-network is played only where it is asked for. */
        shape.algorithm = (enum myr_algorithm)a;
        myr_ps end = a == MYR_ALGORITHM_PAIRWISE ? -1 : alone_end(sim, ranks, &shape, form);
        if (end >= 0 && (best_end < 0 || end < best_end)) {
            best = shape.algorithm;
            best_end = end;
        }
    }
    return best;
}

const char *const myr_schedule_names[MYR_SCHEDULE_FORMS] = {"auto", "full", "collapsed"};

/* 'local' of 0 is 1: every rank is then a domain by itself. */
int myr_load_collective(struct myr_sim *sim, struct myr_ranks ranks,
                        const struct myr_collective_shape *given, enum myr_schedule_form form,
                        uint32_t after, struct myr_collective_load *ret, struct myr_err *err)
{
    struct myr_collective_shape shape = *given;
    shape.ranks = ranks.count;
    shape.local = shape.local ? shape.local : 1;
    if (shape.algorithm == MYR_ALGORITHM_AUTO && ranks.count > 1) {
        shape.algorithm = quickest(sim, ranks, shape, form);
    }
    ret->algorithm = shape.algorithm;
    ret->full = plays_in_full(&shape, form);
    return (ret->full ? load_sends : load_rounds)(sim, ranks, &shape, after, &ret->end, err);
}
