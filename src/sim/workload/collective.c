#include "myriad/sim/collective.h"

const char *const myr_algorithm_names[MYR_ALGORITHM_COUNT] = {
    "ring", "tree", "halving", "pairwise", "hier", "in-network", "auto"};

void myr_schedule_plan_done(struct myr_schedule_plan *plan)
{
    myr_vec_done(&plan->pairs);
    myr_vec_done(&plan->rounds);
}

static void open_round(struct myr_schedule_plan *plan, uint64_t bytes, uint32_t hops)
{
    struct myr_round round = {
        .first_pair = (uint32_t)plan->pairs.count, .bytes = bytes, .hops = hops};
    myr_vec_push(&plan->rounds, round);
}

static void open_ring(struct myr_schedule_plan *plan, uint64_t bytes, uint32_t hops)
{
    open_round(plan, bytes, hops);
    plan->rounds.items[plan->rounds.count - 1].cyclic = true;
}

static void put_pair(struct myr_schedule_plan *plan, uint32_t from, uint32_t to)
{
    struct myr_pair pair = {from, to};
    myr_vec_push(&plan->pairs, pair);
    plan->rounds.items[plan->rounds.count - 1].pair_count++;
}

static uint64_t part(uint64_t bytes, uint64_t times, uint64_t of)
{
    return (uint64_t)(((unsigned __int128)bytes * times + of - 1) / of);
}

/* Steps of a ring, in pieces of S/N: all-reduce goes round twice. */
static uint32_t ring_steps(enum myr_collective collective, uint32_t ranks)
{
    return (collective == MYR_ALL_REDUCE ? 2 : 1) * (ranks - 1);
}

/*
 * Channel c enters node j at local rank (c - j) mod L, visits the others in order and leaves from
 * the one before the entry, whose rail is the next node's entry: NICs of one rail only talk to each
 * other, and every NIC carries one channel.
 */
static uint32_t ring_rank(uint32_t channel, uint32_t position, uint32_t local)
{
    uint32_t node = position / local, step = position % local;
    uint32_t entry = (channel + local - node % local) % local;
    return node * local + (entry + step) % local;
}

static void plan_ring(struct myr_schedule_plan *plan, enum myr_collective collective,
                      uint32_t ranks, uint32_t local, uint64_t bytes)
{
    uint32_t channels = local > 1 && ranks > local && ranks % local == 0 ? local : 1;
    uint32_t steps = ring_steps(collective, ranks);
    open_ring(plan, part(bytes, steps, (uint64_t)ranks * channels), steps);
    for (uint32_t c = 0; c < channels; c++) {
        for (uint32_t i = 0; i < ranks; i++) {
            uint32_t next = i + 1 == ranks ? 0 : i + 1;
            if (channels > 1) {
                put_pair(plan, ring_rank(c, i, local), ring_rank(c, next, local));
            } else {
                put_pair(plan, i, next);
            }
        }
    }
}

static uint32_t depth_of(uint32_t ranks)
{
    uint32_t depth = 0;
    while ((UINT64_C(1) << depth) < ranks) {
        depth++;
    }
    return depth;
}

/* In-order binary tree over 0..n-1: the parent of i, or n for the root. */
static uint32_t tree_parent(uint32_t i, uint32_t ranks)
{
    uint32_t bit = 1;
    while (bit < ranks && !(i & bit)) {
        bit <<= 1;
    }
    if (bit >= ranks) {
        return ranks;
    }
    uint32_t up = (i ^ bit) | bit << 1;
    return up < ranks ? up : i ^ bit;
}

/*
 * Two trees, the second shifted by one so that inner nodes of one are leaves of the other
 * (Sanders, Speck, Traeff 2009): each carries half of the data up, then down.
 */
static void plan_tree(struct myr_schedule_plan *plan, enum myr_collective collective,
                      uint32_t ranks, uint64_t bytes)
{
    bool up = collective != MYR_ALL_GATHER && collective != MYR_BROADCAST;
    bool down = collective != MYR_REDUCE_SCATTER;
    for (uint32_t way = 0; way < 2; way++) {
        if (way == 0 ? !up : !down) {
            continue;
        }
        open_round(plan, part(bytes, 1, 2), depth_of(ranks));
        for (uint32_t shift = 0; shift < 2; shift++) {
            for (uint32_t i = 0; i < ranks; i++) {
                uint32_t parent = tree_parent(i, ranks);
                if (parent == ranks) {
                    continue;
                }
                uint32_t child = (i + shift) % ranks, above = (parent + shift) % ranks;
                put_pair(plan, way == 0 ? child : above, way == 0 ? above : child);
            }
        }
    }
}

/* Distances N/2, N/4, ...: each step exchanges half of what the last one did. */
static void plan_halving(struct myr_schedule_plan *plan, enum myr_collective collective,
                         uint32_t ranks, uint64_t bytes)
{
    uint32_t depth = depth_of(ranks);
    uint32_t steps = collective == MYR_ALL_REDUCE ? 2 * depth : depth;
    for (uint32_t s = 0; s < steps; s++) {
        bool gathering = collective == MYR_ALL_GATHER || s >= depth;
        uint32_t k = s % depth;
        uint32_t distance = gathering ? 1U << k : ranks >> (k + 1);
        open_round(plan, part(bytes, distance, ranks), 1);
        for (uint32_t i = 0; i < ranks; i++) {
            put_pair(plan, i, i ^ distance);
        }
    }
}

static void plan_pairwise(struct myr_schedule_plan *plan, uint32_t ranks, uint64_t bytes)
{
    for (uint32_t shift = 1; shift < ranks; shift++) {
        open_round(plan, part(bytes, 1, ranks), 1);
        for (uint32_t i = 0; i < ranks; i++) {
            put_pair(plan, i, (i + shift) % ranks);
        }
    }
}

/* Rings inside every node at once. */
static void local_rings(struct myr_schedule_plan *plan, uint32_t ranks, uint32_t local,
                        uint64_t bytes)
{
    open_ring(plan, part(bytes, local - 1, local), local - 1);
    for (uint32_t i = 0; i < ranks; i++) {
        put_pair(plan, i, i / local * local + (i + 1) % local);
    }
}

/* Rings of equal local ranks: each over its own rail. */
static void rail_rings(struct myr_schedule_plan *plan, enum myr_collective collective,
                       uint32_t ranks, uint32_t local, uint64_t bytes)
{
    uint32_t nodes = ranks / local, steps = ring_steps(collective, nodes);
    open_ring(plan, part(bytes, steps, (uint64_t)nodes * local), steps);
    for (uint32_t i = 0; i < ranks; i++) {
        put_pair(plan, i, (i + local) % ranks);
    }
}

static void plan_hier(struct myr_schedule_plan *plan, enum myr_collective collective,
                      uint32_t ranks, uint32_t local, uint64_t bytes)
{
    if (local > 1 && collective != MYR_ALL_GATHER) {
        local_rings(plan, ranks, local, bytes);
    }
    if (ranks > local) {
        rail_rings(plan, collective, ranks, local, bytes);
    }
    if (local > 1 && collective != MYR_REDUCE_SCATTER) {
        local_rings(plan, ranks, local, bytes);
    }
}

/* The switches add up: every rank sends the buffer once and gets it once. */
static void plan_in_network(struct myr_schedule_plan *plan, uint32_t ranks, uint64_t bytes)
{
    open_round(plan, bytes, 2);
    for (uint32_t i = 0; i < ranks; i++) {
        put_pair(plan, i, (i + 1) % ranks);
    }
}

static int check(enum myr_collective collective, enum myr_algorithm algorithm, uint32_t ranks,
                 uint32_t local, struct myr_err *err)
{
    const char *name = myr_algorithm_names[algorithm];
    bool all_to_all = collective == MYR_ALL_TO_ALL;
    if (ranks < 2) {
        return myr_err_set(err, MYR_EINVAL, "a collective needs at least 2 ranks, not %u", ranks);
    }
    if (all_to_all != (algorithm == MYR_ALGORITHM_PAIRWISE)) {
        return myr_err_set(err, MYR_EINVAL, "%s cannot run as '%s'; pairwise is for all-to-all",
                           myr_collective_name(collective), name);
    }
    if (algorithm == MYR_ALGORITHM_PAIRWISE && ranks > MYR_PAIRWISE_RANKS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "all-to-all of %u ranks; at most %d are simulated",
                           ranks, MYR_PAIRWISE_RANKS_MAX);
    }
    if (algorithm == MYR_ALGORITHM_HALVING && (ranks & (ranks - 1))) {
        return myr_err_set(err, MYR_EINVAL, "halving needs a power of two of ranks, not %u", ranks);
    }
    if (algorithm == MYR_ALGORITHM_HIER && ranks % local) {
        return myr_err_set(err, MYR_EINVAL, "hier needs whole nodes: %u ranks, %u a node", ranks,
                           local);
    }
    return MYR_OK;
}

int myr_collective_plan(enum myr_collective collective, enum myr_algorithm algorithm,
                        uint32_t ranks, uint32_t local, uint64_t bytes,
                        struct myr_schedule_plan *ret, struct myr_err *err)
{
    local = local ? local : 1;
    MYR_TRY(check(collective, algorithm, ranks, local, err));
    *ret = (struct myr_schedule_plan){0};
    switch (algorithm) {
    case MYR_ALGORITHM_TREE:
        plan_tree(ret, collective, ranks, bytes);
        break;
    case MYR_ALGORITHM_HALVING:
        plan_halving(ret, collective, ranks, bytes);
        break;
    case MYR_ALGORITHM_PAIRWISE:
        plan_pairwise(ret, ranks, bytes);
        break;
    case MYR_ALGORITHM_HIER:
        plan_hier(ret, collective, ranks, local, bytes);
        break;
    case MYR_ALGORITHM_IN_NETWORK:
        plan_in_network(ret, ranks, bytes);
        break;
    default:
        plan_ring(ret, collective, ranks, local, bytes);
        break;
    }
    return MYR_OK;
}

double myr_collective_bus_factor(enum myr_collective collective, uint32_t ranks)
{
    double n = ranks;
    switch (collective) {
    case MYR_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case MYR_ALL_GATHER:
    case MYR_REDUCE_SCATTER:
    case MYR_ALL_TO_ALL:
        return (n - 1) / n;
    default:
        return 1;
    }
}
