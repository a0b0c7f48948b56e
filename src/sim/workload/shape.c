/*
 * shape: which rank sends to which, how much and how often, for each algorithm. The full schedule
 * (schedule.c) and the collapsed form (collective.c) are both made from these, so that they agree.
 */
#include "workload/shape.h"

const char *const myr_algorithm_names[MYR_ALGORITHM_COUNT] = {
    "ring", "tree", "halving", "pairwise", "hier", "in-network", "auto"};

/*
 * One for each local rank where the ranks are whole domains and more than one; else a plain ring.
 */
uint32_t shape_channels(const struct myr_collective_shape *shape)
{
    uint32_t local = shape->local;
    return local > 1 && shape->ranks > local && shape->ranks % local == 0 ? local : 1;
}

/*
 * In steps of one piece of N: N - 1 to bring every piece to everybody, and as many to reduce
 * before.
 */
uint32_t shape_ring_steps(enum myr_collective collective, uint32_t ranks)
{
    return (collective == MYR_ALL_REDUCE ? 2 : 1) * (ranks - 1);
}

/*
 * Channel c enters domain j at local rank (c - j) mod L, visits the others in order and leaves from
 * the one before the entry, whose rail is the next domain's entry: NICs of one rail only talk to
 * each other, and every NIC carries one channel.
 */
uint32_t shape_ring_rank(const struct myr_collective_shape *shape, uint32_t channel,
                         uint32_t position)
{
    uint32_t local = shape->local;
    MYR_ASSERT(position < shape->ranks);
    if (shape_channels(shape) == 1) {
        return position;
    }
    /* Places go through the domains one after the other. */
    uint32_t domain = position / local, step = position % local;
    uint32_t entry = (channel + local - domain % local) % local;
    return domain * local + (entry + step) % local;
}

/* log2, rounded up. */
uint32_t shape_depth(uint32_t ranks)
{
    uint32_t depth = 0;
    while ((UINT64_C(1) << depth) < ranks) {
        depth++;
    }
    return depth;
}

/* Two of these, the second shifted by one: who is inside in one is outside in the other (Sanders,
 * Speck, Traeff 2009). */
uint32_t shape_tree_parent(uint32_t i, uint32_t ranks)
{
    uint32_t bit = 1;
    MYR_ASSERT(i < ranks);
    while (bit < ranks && !(i & bit)) {
        bit <<= 1;
    }
    if (bit >= ranks) {
        return ranks;
    }
    /*
     * The lowest bit of a node is its height; the parent is one higher, to the right or the left.
     */
    uint32_t up = (i ^ bit) | bit << 1;
    return up < ranks ? up : i ^ bit;
}

/* Trees of all-gather and reduce-scatter are exchanges too: one tree a rank, played together. */
bool shape_exchanges(const struct myr_collective_shape *shape)
{
    bool parts = shape->collective == MYR_ALL_GATHER || shape->collective == MYR_REDUCE_SCATTER;
    return shape->algorithm == MYR_ALGORITHM_HALVING ||
           (shape->algorithm == MYR_ALGORITHM_TREE && parts);
}

/* An all-reduce scatters and gathers: once down, once up again. */
uint32_t shape_exchange_steps(const struct myr_collective_shape *shape)
{
    uint32_t depth = shape_depth(shape->ranks);
    return shape->collective == MYR_ALL_REDUCE ? 2 * depth : depth;
}

/*
 * As trees: each rank's piece goes down a tree of its own, all of them the same but for where they
 * begin, so that what goes between two ranks in a step goes together (NCCL's PAT; Bruck's with the
 * long ways first). A rank then has the pieces of those a multiple of 2d before it, and sends on
 * what the one at distance d lacks: as many as there are odd multiples of d among the ranks.
 */
static struct shape_exchange tree_exchange(const struct myr_collective_shape *shape, uint32_t step)
{
    uint32_t depth = shape_depth(shape->ranks);
    bool gathering = shape->collective == MYR_ALL_GATHER;
    uint32_t distance = UINT32_C(1) << (gathering ? depth - 1 - step : step);
    uint64_t pieces = ((uint64_t)shape->ranks - 1 - distance) / (2 * (uint64_t)distance) + 1;
    return (struct shape_exchange){distance, shape_part(shape->bytes, pieces, shape->ranks)};
}

/* All ranks do the same in a step, so that one distance and one size say all of it. */
struct shape_exchange shape_exchange_at(const struct myr_collective_shape *shape, uint32_t step)
{
    MYR_ASSERT(step < shape_exchange_steps(shape));
    if (shape->algorithm == MYR_ALGORITHM_TREE) {
        return tree_exchange(shape, step);
    }
    /* Halving begins with the far half and ends beside; doubling goes back the same way. */
    uint32_t depth = shape_depth(shape->ranks), k = step % depth;
    bool gathering = shape->collective == MYR_ALL_GATHER || step >= depth;
    uint32_t distance = gathering ? UINT32_C(1) << k : shape->ranks >> (k + 1);
    return (struct shape_exchange){distance, shape_part(shape->bytes, distance, shape->ranks)};
}

/* Pairs swap in halving; in trees everybody sends one way round the list. */
uint32_t shape_exchange_to(const struct myr_collective_shape *shape, uint32_t rank,
                           uint32_t distance)
{
    bool tree = shape->algorithm == MYR_ALGORITHM_TREE;
    uint32_t to = tree ? (rank + distance) % shape->ranks : rank ^ distance;
    MYR_ASSERT(to < shape->ranks);
    MYR_ASSERT(to != rank);
    return to;
}

uint32_t shape_exchange_from(const struct myr_collective_shape *shape, uint32_t rank,
                             uint32_t distance)
{
    bool tree = shape->algorithm == MYR_ALGORITHM_TREE;
    uint32_t from = tree ? (rank + shape->ranks - distance) % shape->ranks : rank ^ distance;
    MYR_ASSERT(from < shape->ranks);
    return from;
}

/* Switches that reduce take every byte of a domain once, and give the result back. */
struct shape_rail shape_rail_of(const struct myr_collective_shape *shape, uint64_t bytes)
{
    uint32_t domains = shape->ranks / shape->local;
    if (shape->algorithm == MYR_ALGORITHM_IN_NETWORK) {
        /* One send through the switch, with two latencies: up to it and down again. */
        uint64_t all = shape_part(bytes, 1, shape->local);
        bool reduce = shape->collective == MYR_ALL_REDUCE;
        return (struct shape_rail){1, 2, reduce ? all : shape_part(all, domains - 1, domains)};
    }
    return (struct shape_rail){shape_ring_steps(shape->collective, domains), 1,
                               shape_part(bytes, 1, shape->ranks)};
}

/*
 * What a collective does not need is left out: an all-gather has nothing to scatter first, and a
 * single domain has no rails to go over.
 */
struct shape_phases shape_phases_of(const struct myr_collective_shape *shape)
{
    struct shape_phases phases = {.chunks = shape->chunks ? shape->chunks : 1};
    if (shape->local > 1 && shape->collective != MYR_ALL_GATHER) {
        phases.items[phases.count++] = SHAPE_SCATTER;
    }
    if (shape->ranks > shape->local) {
        phases.items[phases.count++] = SHAPE_RAIL;
    }
    if (shape->local > 1 && shape->collective != MYR_REDUCE_SCATTER) {
        phases.items[phases.count++] = SHAPE_GATHER;
    }
    return phases;
}

static int check_broadcast(const struct myr_collective_shape *shape, struct myr_err *err)
{
    bool chain_or_tree =
        shape->algorithm == MYR_ALGORITHM_RING || shape->algorithm == MYR_ALGORITHM_TREE;
    return shape->collective == MYR_BROADCAST && !chain_or_tree
               ? myr_err_set(err, MYR_EINVAL,
                             "broadcast cannot run as '%s'; take ring (a chain) or tree",
                             myr_algorithm_names[shape->algorithm])
               : MYR_OK;
}

/* What cannot be is refused with what could be. */
int shape_check(const struct myr_collective_shape *shape, struct myr_err *err)
{
    const char *name = myr_algorithm_names[shape->algorithm];
    bool all_to_all = shape->collective == MYR_ALL_TO_ALL;
    uint32_t ranks = shape->ranks;
    if (ranks < 2) {
        return myr_err_set(err, MYR_EINVAL, "a collective needs at least 2 ranks, not %u", ranks);
    }
    if (all_to_all != (shape->algorithm == MYR_ALGORITHM_PAIRWISE)) {
        return myr_err_set(err, MYR_EINVAL, "%s cannot run as '%s'; pairwise is for all-to-all",
                           myr_collective_name(shape->collective), name);
    }
    MYR_TRY(check_broadcast(shape, err));
    if (shape->algorithm == MYR_ALGORITHM_PAIRWISE && ranks > MYR_PAIRWISE_RANKS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "all-to-all of %u ranks; at most %d are simulated",
                           ranks, MYR_PAIRWISE_RANKS_MAX);
    }
    if (shape->algorithm == MYR_ALGORITHM_HALVING && (ranks & (ranks - 1))) {
        return myr_err_set(err, MYR_EINVAL, "halving needs a power of two of ranks, not %u", ranks);
    }
    bool phases =
        shape->algorithm == MYR_ALGORITHM_HIER || shape->algorithm == MYR_ALGORITHM_IN_NETWORK;
    if (phases && ranks % shape->local) {
        return myr_err_set(err, MYR_EINVAL, "%s needs whole scale-up domains: %u ranks, %u in one",
                           name, ranks, shape->local);
    }
    return MYR_OK;
}

/*
 * Every byte of a gathered buffer comes into every domain but the one that has it: a buffer less
 * than there are domains, however uneven these are. Reduce-scatter is the same backwards, and an
 * all-reduce without reducing switches is one after the other. An all-to-all goes over NICs between
 * all that share no domain; a broadcast brings everybody the buffer, and the domains without the
 * source have no more NICs for it than the largest.
 */
struct myr_collective_bound myr_collective_least(const struct myr_collective_shape *shape,
                                                 const struct myr_collective_domains *domains)
{
    double ranks = shape->ranks, bytes = (double)shape->bytes, mine = (ranks - 1) / ranks * bytes;
    double all = (domains->count - 1) * bytes;
    bool network = shape->algorithm == MYR_ALGORITHM_IN_NETWORK;
    bool several = domains->count > 1;
    MYR_ASSERT(domains->count > 0);
    MYR_ASSERT(domains->largest > 0);
    MYR_ASSERT(domains->largest <= shape->ranks);
    MYR_ASSERT(domains->pairs <= (uint64_t)shape->ranks * domains->largest);
    switch (shape->collective) {
    case MYR_ALL_REDUCE:
        if (network) {
            return (struct myr_collective_bound){several ? domains->count * bytes : 0, 0, bytes};
        }
        return (struct myr_collective_bound){2 * all, 0, 2 * mine};
    case MYR_ALL_TO_ALL:
        return (struct myr_collective_bound){
            (ranks * ranks - (double)domains->pairs) * bytes / ranks, 0, mine};
    case MYR_BROADCAST:
        return (struct myr_collective_bound){all, several ? bytes / domains->largest : 0, bytes};
    default:
        return (struct myr_collective_bound){all, 0, mine};
    }
}

/* NCCL's: what each rank's link carries of the buffer, at least, for this collective. */
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
