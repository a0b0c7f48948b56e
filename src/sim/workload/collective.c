#include "myriad/sim/collective.h"

#include "workload/shape.h"

/* The collapsed forms: what a group does in lockstep, as few rounds. */

void myr_schedule_plan_done(struct myr_schedule_plan *plan)
{
    myr_vec_done(&plan->pairs);
    myr_vec_done(&plan->rounds);
}

/* After the round before it, unless it is told otherwise. */
static struct myr_round *open_round(struct myr_schedule_plan *plan, uint64_t bytes, uint32_t hops)
{
    uint32_t count = (uint32_t)plan->rounds.count;
    struct myr_round round = {.first_pair = (uint32_t)plan->pairs.count,
                              .bytes = bytes,
                              .hops = hops,
                              .after = {count ? count - 1 : MYR_NONE, MYR_NONE}};
    myr_vec_push(&plan->rounds, round);
    return &plan->rounds.items[count];
}

/* To the round that was opened last. */
static void put_pair(struct myr_schedule_plan *plan, uint32_t from, uint32_t to)
{
    struct myr_pair pair = {from, to};
    MYR_ASSERT(plan->rounds.count > 0);
    myr_vec_push(&plan->pairs, pair);
    plan->rounds.items[plan->rounds.count - 1].pair_count++;
}

/*
 * The last round as several, of equal parts of its steps and bytes: latency and bytes take turns,
 * as they do in the ring itself. With all latency in front others would have the links for
 * themselves until the first byte.
 */
static void spread_ring(struct myr_schedule_plan *plan)
{
    enum { SEGMENTS_MAX = 32 };
    struct myr_round whole = plan->rounds.items[plan->rounds.count - 1];
    uint32_t segments = whole.hops < SEGMENTS_MAX ? whole.hops : SEGMENTS_MAX, hops = 0;
    uint64_t bytes = 0;
    MYR_ASSERT(segments > 0);
    for (uint32_t i = 0; i < segments; i++) {
        struct myr_round part = whole;
        part.hops = (uint32_t)((uint64_t)whole.hops * (i + 1) / segments -
                               (uint64_t)whole.hops * i / segments);
        part.bytes = (uint64_t)((unsigned __int128)whole.bytes * (i + 1) / segments -
                                (unsigned __int128)whole.bytes * i / segments);
        hops += part.hops;
        bytes += part.bytes;
        if (i == 0) {
            plan->rounds.items[plan->rounds.count - 1] = part;
        } else {
            part.after[0] = (uint32_t)plan->rounds.count - 1;
            part.after[1] = MYR_NONE;
            myr_vec_push(&plan->rounds, part);
        }
    }
    MYR_ASSERT(hops == whole.hops);
    MYR_ASSERT(bytes == whole.bytes);
}

/* Every channel's ring at once: each rank sends to the next, as often as the ring has steps. */
static void plan_ring(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    uint32_t ranks = shape->ranks, channels = shape_channels(shape);
    uint32_t steps = shape_ring_steps(shape->collective, ranks);
    open_round(plan, shape_part(shape->bytes, steps, (uint64_t)ranks * channels), steps)->cyclic =
        true;
    for (uint32_t c = 0; c < channels; c++) {
        for (uint32_t i = 0; i < ranks; i++) {
            uint32_t next = i + 1 == ranks ? 0 : i + 1;
            put_pair(plan, shape_ring_rank(shape, c, i), shape_ring_rank(shape, c, next));
        }
    }
    spread_ring(plan);
}

/* A chain: every link of it carries all bytes. */
static void plan_chain(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    /*
     * As in a pipeline of very many chunks: the bytes once, the latency of every link on the way.
     */
    open_round(plan, shape->bytes, shape->ranks - 1)->cyclic = true;
    for (uint32_t i = 0; i + 1 < shape->ranks; i++) {
        put_pair(plan, i, i + 1);
    }
}

/* Each tree carries half of the data: up, then down. */
static void plan_tree(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    uint32_t ranks = shape->ranks;
    for (uint32_t way = 0; way < 2; way++) {
        open_round(plan, shape_part(shape->bytes, 1, 2), shape_depth(ranks));
        for (uint32_t tree = 0; tree < 2; tree++) {
            for (uint32_t i = 0; i < ranks; i++) {
                /* The root has no parent, and sends nothing up. */
                uint32_t parent = shape_tree_parent(i, ranks);
                if (parent == ranks) {
                    continue;
                }
                uint32_t child = (i + tree) % ranks, above = (parent + tree) % ranks;
                put_pair(plan, way == 0 ? child : above, way == 0 ? above : child);
            }
        }
    }
}

/* The source feeds the roots of two trees over all others: nobody sends more than the buffer. */
static void plan_tree_broadcast(struct myr_schedule_plan *plan,
                                const struct myr_collective_shape *shape)
{
    uint32_t others = shape->ranks - 1;
    open_round(plan, shape_part(shape->bytes, 1, 2), shape_depth(others) + 1);
    for (uint32_t tree = 0; tree < 2; tree++) {
        for (uint32_t i = 0; i < others; i++) {
            uint32_t parent = shape_tree_parent(i, others);
            put_pair(plan, parent == others ? 0 : 1 + (parent + tree) % others,
                     1 + (i + tree) % others);
        }
    }
}

/* A round a step: every rank sends to the one at the step's distance. */
static void plan_exchanges(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    for (uint32_t s = 0; s < shape_exchange_steps(shape); s++) {
        struct shape_exchange exchange = shape_exchange_at(shape, s);
        open_round(plan, exchange.bytes, 1);
        for (uint32_t i = 0; i < shape->ranks; i++) {
            put_pair(plan, i, shape_exchange_to(shape, i, exchange.distance));
        }
    }
}

/* All pairs at once and in lockstep: the fullest link is full from the first byte to the last. */
static void plan_pairwise(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    open_round(plan, shape_part(shape->bytes, 1, shape->ranks), 1);
    for (uint32_t shift = 1; shift < shape->ranks; shift++) {
        for (uint32_t i = 0; i < shape->ranks; i++) {
            put_pair(plan, i, (i + shift) % shape->ranks);
        }
    }
}

/*
 * Inside every domain at once, each rank exchanges a piece with every other. A domain is a switch:
 * only what each GPU sends and gets counts, so neighbours stand for all.
 */
static void local_exchange(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape,
                           uint64_t bytes)
{
    uint32_t local = shape->local;
    open_round(plan, shape_part(bytes, 1, local) * (local - 1), 1);
    for (uint32_t i = 0; i < shape->ranks; i++) {
        put_pair(plan, i, i / local * local + (i + 1) % local);
    }
}

/* Rings of equal local ranks, or the same ranks through switches that reduce: over their rails. */
static void rail_rounds(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape,
                        uint64_t bytes)
{
    uint32_t ranks = shape->ranks, local = shape->local;
    struct shape_rail rail = shape_rail_of(shape, bytes);
    open_round(plan, rail.bytes * rail.steps, rail.steps * rail.hops)->cyclic = rail.steps > 1;
    for (uint32_t i = 0; i < ranks; i++) {
        put_pair(plan, i, (i + local) % ranks);
    }
}

/* A round over the pairs of an earlier one, behind the round of the chunk before. */
static uint32_t repeat(struct myr_schedule_plan *plan, uint32_t round, uint64_t bytes)
{
    MYR_ASSERT(round < plan->rounds.count);
    struct myr_round again = plan->rounds.items[round];
    uint32_t id = (uint32_t)plan->rounds.count;
    again.bytes = bytes;
    myr_vec_push(&plan->rounds, again);
    return id;
}

/*
 * Phases of a chunk follow each other; a phase of a chunk follows the same phase of the one before.
 * So with several chunks the domains are busy with one while another is on the network.
 */
static void plan_phases(struct myr_schedule_plan *plan, const struct myr_collective_shape *shape)
{
    struct shape_phases phases = shape_phases_of(shape);
    for (uint32_t c = 0; c < phases.chunks; c++) {
        uint64_t bytes = shape_chunk_bytes(shape->bytes, c, phases.chunks);
        for (uint32_t p = 0; p < phases.count; p++) {
            bool rail = phases.items[p] == SHAPE_RAIL;
            if (c == 0) {
                (rail ? rail_rounds : local_exchange)(plan, shape, bytes);
                continue;
            }
            /* Chunks may differ by a byte: each has its own figures over the same pairs. */
            struct shape_rail one = shape_rail_of(shape, bytes);
            uint64_t moved = rail ? one.bytes * one.steps
                                  : shape_part(bytes, 1, shape->local) * (shape->local - 1);
            uint32_t id = repeat(plan, p, moved);
            MYR_ASSERT(id == c * phases.count + p); /* a round a phase: rings are not spread here */
            /* The phase before of this chunk, and this phase of the chunk before. */
            plan->rounds.items[id].after[0] = p ? id - 1 : MYR_NONE;
            plan->rounds.items[id].after[1] = id - phases.count;
        }
    }
}

/* On failure 'ret' is untouched. */
int myr_collective_plan(const struct myr_collective_shape *given, struct myr_schedule_plan *ret,
                        struct myr_err *err)
{
    struct myr_collective_shape shape = *given;
    shape.local = shape.local ? shape.local : 1;
    MYR_TRY(shape_check(&shape, err));
    *ret = (struct myr_schedule_plan){};
    bool broadcast = shape.collective == MYR_BROADCAST;
    switch (shape.algorithm) {
    case MYR_ALGORITHM_TREE:
        if (shape_exchanges(&shape)) {
            plan_exchanges(ret, &shape);
        } else {
            (broadcast ? plan_tree_broadcast : plan_tree)(ret, &shape);
        }
        break;
    case MYR_ALGORITHM_HALVING:
        plan_exchanges(ret, &shape);
        break;
    case MYR_ALGORITHM_PAIRWISE:
        plan_pairwise(ret, &shape);
        break;
    case MYR_ALGORITHM_HIER:
    case MYR_ALGORITHM_IN_NETWORK:
        plan_phases(ret, &shape);
        break;
    default:
        (broadcast ? plan_chain : plan_ring)(ret, &shape);
        break;
    }
    MYR_ASSERT(ret->rounds.count > 0);
    MYR_ASSERT(ret->pairs.count > 0); /* of two ranks one sends */
    return MYR_OK;
}
