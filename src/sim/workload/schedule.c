#include "workload/shape.h"

/*
 * The full schedules. Every send names the sends that it waits for: what its rank has to have got.
 * Over one channel a rank sends one piece after the other: bytes follow those of the piece before,
 * latencies overlap. Nothing else holds a send up.
 */

void myr_sends_done(struct myr_sends *sends)
{
    myr_vec_done(&sends->items);
    myr_vec_done(&sends->after);
}

/* Opens a send; what it waits for is added behind. Its number. */
static uint32_t put(struct myr_sends *sends, struct myr_send send)
{
    MYR_ASSERT(send.from != send.to);
    send.first_after = (uint32_t)sends->after.count;
    send.follows = MYR_NONE;
    send.hops = send.hops ? send.hops : 1;
    myr_vec_push(&sends->items, send);
    return (uint32_t)sends->items.count - 1;
}

/* The send that was opened last waits for an earlier one; MYR_NONE: for nothing. */
static void wait_for(struct myr_sends *sends, uint32_t before)
{
    if (before != MYR_NONE) {
        MYR_ASSERT(before + 1 < sends->items.count);
        myr_vec_push(&sends->after, before);
        sends->items.items[sends->items.count - 1].after_count++;
    }
}

/* Its bytes move when those of the other have arrived; its latency may be over by then. */
static void follow(struct myr_sends *sends, uint32_t before)
{
    MYR_ASSERT(before == MYR_NONE || before + 1 < sends->items.count);
    sends->items.items[sends->items.count - 1].follows = before;
}

/*
 * In step s a rank passes on what it got in the step before; the sends of a step lie side by side.
 */
static void put_ring(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    uint32_t ranks = shape->ranks, channels = shape_channels(shape);
    uint32_t steps = shape_ring_steps(shape->collective, ranks);
    uint64_t bytes = shape_part(shape->bytes, 1, (uint64_t)ranks * channels);
    for (uint32_t c = 0; c < channels; c++) {
        uint32_t first = (uint32_t)sends->items.count;
        for (uint32_t s = 0; s < steps; s++) {
            for (uint32_t i = 0; i < ranks; i++) {
                put(sends, (struct myr_send){.from = shape_ring_rank(shape, c, i),
                                             .to = shape_ring_rank(shape, c, (i + 1) % ranks),
                                             .bytes = bytes,
                                             .channel = c,
                                             .chunk = s});
                /* The first send of the step before; not used in step 0. */
                uint32_t before = first + (s - 1) * ranks;
                wait_for(sends, s ? before + (i + ranks - 1) % ranks : MYR_NONE);
                follow(sends, s ? before + i : MYR_NONE);
            }
        }
    }
}

/* A chunk goes on when it has come, and when the chunk before it has gone. */
static void put_chain(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    uint32_t chunks = shape->chunks ? shape->chunks : 1, links = shape->ranks - 1;
    for (uint32_t c = 0; c < chunks; c++) {
        for (uint32_t i = 0; i < links; i++) {
            uint32_t own =
                put(sends, (struct myr_send){.from = i,
                                             .to = i + 1,
                                             .bytes = shape_chunk_bytes(shape->bytes, c, chunks),
                                             .chunk = c});
            wait_for(sends, i ? own - 1 : MYR_NONE);
            follow(sends, c ? own - links : MYR_NONE);
        }
    }
}

/* What was got in the steps before the last has been waited for by the send before. */
static void put_exchanges(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    uint32_t ranks = shape->ranks, before = 0;
    for (uint32_t s = 0; s < shape_exchange_steps(shape); s++) {
        struct shape_exchange exchange = shape_exchange_at(shape, s);
        uint32_t first = (uint32_t)sends->items.count;
        for (uint32_t i = 0; i < ranks; i++) {
            put(sends, (struct myr_send){.from = i,
                                         .to = shape_exchange_to(shape, i, exchange.distance),
                                         .bytes = exchange.bytes,
                                         .step = s});
            /* Whom the rank got its last piece from: by the distance of the step before. */
            uint32_t giver = shape_exchange_from(shape, i, before);
            wait_for(sends, s ? first - ranks + giver : MYR_NONE);
            follow(sends, s ? first - ranks + i : MYR_NONE);
        }
        before = exchange.distance;
    }
}

/* With a window a rank's next send waits for the one a window before; without, all go at once. */
static void put_pairwise(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    uint32_t ranks = shape->ranks, window = shape->window;
    for (uint32_t shift = 1; shift < ranks; shift++) {
        for (uint32_t i = 0; i < ranks; i++) {
            uint32_t own =
                put(sends, (struct myr_send){.from = i,
                                             .to = (i + shift) % ranks,
                                             .bytes = shape_part(shape->bytes, 1, ranks),
                                             .channel = window ? (shift - 1) % window : shift - 1});
            wait_for(sends, window && shift > window ? own - window * ranks : MYR_NONE);
        }
    }
}

/* A tree with its edges from the leaves up: every child comes before its parent. */
struct tree {
    uint32_t count;
    /* All by node; nodes are not ranks yet. */
    uint32_t *order, *parent;  /* parent: 'count' of the root */
    uint32_t *child, *sibling; /* the first child, the next child of the same parent; or 'count' */
};

/* By depth, the deepest first: then children come before their parents. */
static void tree_make(struct tree *tree, struct myr_arena *arena, uint32_t count)
{
    uint32_t *depth = MYR_ARENA_NEW(arena, uint32_t, count), deepest = 0, at = 0;
    *tree = (struct tree){.count = count,
                          .order = MYR_ARENA_NEW(arena, uint32_t, count),
                          .parent = MYR_ARENA_NEW(arena, uint32_t, count),
                          .child = MYR_ARENA_NEW(arena, uint32_t, count),
                          .sibling = MYR_ARENA_NEW(arena, uint32_t, count)};
    for (uint32_t i = 0; i < count; i++) {
        tree->child[i] = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        tree->parent[i] = shape_tree_parent(i, count);
        if (tree->parent[i] != count) {
            tree->sibling[i] = tree->child[tree->parent[i]];
            tree->child[tree->parent[i]] = i;
        }
        for (uint32_t up = tree->parent[i]; up != count; up = shape_tree_parent(up, count)) {
            depth[i]++;
        }
        deepest = depth[i] > deepest ? depth[i] : deepest;
    }
    for (uint32_t d = deepest + 1; d-- > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            if (depth[i] == d) {
                tree->order[at++] = i;
            }
        }
    }
    MYR_ASSERT(at == count);
}

/* One of the two trees, chunk by chunk. */
struct tree_run {
    struct myr_sends *sends;
    const struct tree *tree;
    uint32_t which, first_rank; /* ranks of the tree: first_rank + (i + which) % count */
    uint32_t source;            /* a rank that feeds the root, or MYR_NONE */
    uint32_t *up, *down;        /* by node: its last send to the parent, and from it */
};

/* The second tree is the first, shifted by one rank. */
static uint32_t rank_at(const struct tree_run *run, uint32_t node)
{
    return run->first_rank + (node + run->which) % run->tree->count;
}

/* Every node to its parent, when its children have sent. */
static void tree_up(struct tree_run *run, struct myr_send send)
{
    const struct tree *tree = run->tree;
    for (uint32_t k = 0; k + 1 < tree->count; k++) {
        uint32_t node = tree->order[k], last = run->up[node];
        send.from = rank_at(run, node);
        send.to = rank_at(run, tree->parent[node]);
        MYR_ASSERT(tree->parent[node] != tree->count); /* the root is the last of the order */
        run->up[node] = put(run->sends, send);
        follow(run->sends, last);
        for (uint32_t i = tree->child[node]; i != tree->count; i = tree->sibling[i]) {
            wait_for(run->sends, run->up[i]);
        }
    }
}

/* Every node to its children, when it has got the chunk; the root when all have sent it theirs. */
static void tree_down(struct tree_run *run, struct myr_send send)
{
    const struct tree *tree = run->tree;
    for (uint32_t k = tree->count; k-- > 0;) {
        uint32_t node = tree->order[k], above = tree->parent[node], last = run->down[node];
        bool root = above == tree->count;
        if (root && run->source == MYR_NONE) {
            continue;
        }
        send.from = root ? run->source : rank_at(run, above);
        send.to = rank_at(run, node);
        run->down[node] = put(run->sends, send);
        follow(run->sends, last);
        /* A root without a source has what its children have sent it up. */
        bool from_root = !root && tree->parent[above] == tree->count && run->source == MYR_NONE;
        if (!root && !from_root) {
            wait_for(run->sends, run->down[above]);
        }
        for (uint32_t i = from_root ? tree->child[above] : tree->count; i != tree->count;
             i = tree->sibling[i]) {
            wait_for(run->sends, run->up[i]);
        }
    }
}

/*
 * Each tree carries half of the bytes. In a broadcast rank 0 feeds the roots of trees over all
 * others.
 */
static void put_tree(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    bool broadcast = shape->collective == MYR_BROADCAST;
    uint32_t count = broadcast ? shape->ranks - 1 : shape->ranks;
    uint32_t chunks = shape->chunks ? shape->chunks : 1;
    struct tree tree;
    myr_arena_init(&arena);
    tree_make(&tree, &arena, count);
    for (uint32_t which = 0; which < 2; which++) {
        struct tree_run run = {.sends = sends,
                               .tree = &tree,
                               .which = which,
                               .first_rank = broadcast,
                               .source = broadcast ? 0 : MYR_NONE,
                               .up = MYR_ARENA_NEW(&arena, uint32_t, count),
                               .down = MYR_ARENA_NEW(&arena, uint32_t, count)};
        /* MYR_NONE: no chunk has gone yet. */
        memset(run.up, 0xFF, count * sizeof(*run.up));
        memset(run.down, 0xFF, count * sizeof(*run.down));
        for (uint32_t c = 0; c < chunks; c++) {
            uint64_t half = shape_part(shape->bytes, 1, 2);
            struct myr_send send = {
                .bytes = shape_chunk_bytes(half, c, chunks), .channel = which, .chunk = c};
            if (!broadcast) {
                tree_up(&run, send);
            }
            /* Up and down are routed apart; a broadcast only goes down. */
            send.step = !broadcast;
            tree_down(&run, send);
        }
    }
}

/* hier and in-network: what the next phase of a rank waits for. */
enum got { GOT_NOTHING, GOT_RING, GOT_EXCHANGE };

struct phase_run {
    struct myr_sends *sends;
    const struct myr_collective_shape *shape;
    enum got got;       /* by what the rank got its data last */
    uint32_t got_first; /* the first send of the last step, or of the exchange */
    uint32_t *busy[3];  /* by phase and rank: its last send of the chunk before */
    uint32_t phase, chunk;
};

/* The rank 'shift' places on in the same domain, round about. */
static uint32_t local_rank(const struct phase_run *run, uint32_t rank, uint32_t shift)
{
    uint32_t local = run->shape->local, base = rank / local * local;
    return base + (rank - base + shift) % local;
}

/* All that the rank got in the phase before. */
static void wait_for_phase(struct phase_run *run, uint32_t rank)
{
    uint32_t ranks = run->shape->ranks, local = run->shape->local;
    if (run->got == GOT_RING) {
        wait_for(run->sends, run->got_first + (rank + ranks - local) % ranks);
    }
    for (uint32_t shift = 1; run->got == GOT_EXCHANGE && shift < local; shift++) {
        uint32_t from = local_rank(run, rank, local - shift);
        wait_for(run->sends, run->got_first + (shift - 1) * ranks + from);
    }
}

/* Phases are steps and channels of their own: a rank's NIC and its domain work side by side. */
static void put_phase_send(struct phase_run *run, struct myr_send send)
{
    send.step = send.channel = run->phase;
    send.chunk = run->chunk;
    put(run->sends, send);
}

/* Rings of equal local ranks. */
static void phase_rail(struct phase_run *run, struct shape_rail rail)
{
    uint32_t ranks = run->shape->ranks, local = run->shape->local;
    uint32_t first = (uint32_t)run->sends->items.count, *busy = run->busy[run->phase];
    MYR_ASSERT(rail.steps > 0);
    MYR_ASSERT(ranks > local);
    for (uint32_t s = 0; s < rail.steps; s++) {
        for (uint32_t i = 0; i < ranks; i++) {
            uint32_t last = first + (s - 1) * ranks;
            put_phase_send(run, (struct myr_send){.from = i,
                                                  .to = (i + local) % ranks,
                                                  .bytes = rail.bytes,
                                                  .hops = rail.hops});
            if (s == 0) {
                wait_for_phase(run, i);
            } else {
                wait_for(run->sends, last + (i + ranks - local) % ranks);
            }
            follow(run->sends, s ? last + i : busy[i]);
        }
    }
    run->got = GOT_RING;
    run->got_first = first + (rail.steps - 1) * ranks;
    for (uint32_t i = 0; i < ranks; i++) {
        busy[i] = run->got_first + i;
    }
}

/* A piece to every other rank of the domain, all at once: a domain is a switch. */
static void phase_exchange(struct phase_run *run, uint64_t bytes)
{
    uint32_t ranks = run->shape->ranks, local = run->shape->local;
    uint32_t first = (uint32_t)run->sends->items.count, *busy = run->busy[run->phase];
    MYR_ASSERT(local > 1); /* else there is nobody to exchange with */
    for (uint32_t shift = 1; shift < local; shift++) {
        for (uint32_t i = 0; i < ranks; i++) {
            put_phase_send(run, (struct myr_send){.from = i,
                                                  .to = local_rank(run, i, shift),
                                                  .bytes = shape_part(bytes, 1, local)});
            wait_for_phase(run, i);
            follow(run->sends, busy[i]);
        }
    }
    run->got = GOT_EXCHANGE;
    run->got_first = first;
    for (uint32_t i = 0; i < ranks; i++) {
        /* Its last send of the exchange: the one with the largest shift. */
        busy[i] = first + (local - 2) * ranks + i;
    }
}

/* A chunk begins anew: it waits only for the same phases of the chunk before, by 'busy'. */
static void put_phases(struct myr_sends *sends, const struct myr_collective_shape *shape)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct phase_run run = {.sends = sends, .shape = shape};
    struct shape_phases phases = shape_phases_of(shape);
    MYR_ASSERT(phases.count > 0);
    MYR_ASSERT(phases.count <= MYR_ARRAY_COUNT(run.busy));
    myr_arena_init(&arena);
    for (uint32_t p = 0; p < phases.count; p++) {
        run.busy[p] = MYR_ARENA_NEW(&arena, uint32_t, shape->ranks);
        memset(run.busy[p], 0xFF, shape->ranks * sizeof(uint32_t));
    }
    for (run.chunk = 0; run.chunk < phases.chunks; run.chunk++) {
        uint64_t bytes = shape_chunk_bytes(shape->bytes, run.chunk, phases.chunks);
        run.got = GOT_NOTHING;
        for (run.phase = 0; run.phase < phases.count; run.phase++) {
            if (phases.items[run.phase] == SHAPE_RAIL) {
                phase_rail(&run, shape_rail_of(shape, bytes));
            } else {
                phase_exchange(&run, bytes);
            }
        }
    }
}

/* Without making it: whether the full schedule can be afforded is asked before. */
uint64_t myr_collective_send_count(const struct myr_collective_shape *shape)
{
    uint64_t ranks = shape->ranks, local = shape->local ? shape->local : 1;
    uint64_t chunks = shape->chunks ? shape->chunks : 1, steps = 0;
    struct shape_phases phases;
    struct myr_collective_shape own = *shape;
    own.local = (uint32_t)local;
    if (shape_exchanges(shape)) {
        return ranks * shape_exchange_steps(shape);
    }
    switch (shape->algorithm) {
    case MYR_ALGORITHM_TREE:
        return shape->collective == MYR_BROADCAST ? 2 * (ranks - 1) * chunks
                                                  : 4 * (ranks - 1) * chunks;
    case MYR_ALGORITHM_PAIRWISE:
        return ranks * (ranks - 1);
    case MYR_ALGORITHM_HIER:
    case MYR_ALGORITHM_IN_NETWORK:
        phases = shape_phases_of(&own);
        for (uint32_t p = 0; p < phases.count; p++) {
            steps += phases.items[p] == SHAPE_RAIL ? shape_rail_of(&own, 1).steps : local - 1;
        }
        return ranks * steps * chunks;
    default:
        return shape->collective == MYR_BROADCAST
                   ? (ranks - 1) * chunks
                   : ranks * shape_channels(&own) * shape_ring_steps(shape->collective, own.ranks);
    }
}

/* Refused before it is made where it would be too long. */
int myr_collective_sends(const struct myr_collective_shape *given, struct myr_sends *ret,
                         struct myr_err *err)
{
    struct myr_collective_shape shape = *given;
    shape.local = shape.local ? shape.local : 1;
    MYR_TRY(shape_check(&shape, err));
    uint64_t count = myr_collective_send_count(&shape);
    if (count > MYR_SENDS_MAX) {
        return myr_err_set(err, MYR_ERANGE,
                           "the full schedule has %llu sends; at most %u are simulated",
                           (unsigned long long)count, MYR_SENDS_MAX);
    }
    *ret = (struct myr_sends){};
    bool broadcast = shape.collective == MYR_BROADCAST;
    switch (shape.algorithm) {
    case MYR_ALGORITHM_TREE:
        (shape_exchanges(&shape) ? put_exchanges : put_tree)(ret, &shape);
        break;
    case MYR_ALGORITHM_HALVING:
        put_exchanges(ret, &shape);
        break;
    case MYR_ALGORITHM_PAIRWISE:
        put_pairwise(ret, &shape);
        break;
    case MYR_ALGORITHM_HIER:
    case MYR_ALGORITHM_IN_NETWORK:
        put_phases(ret, &shape);
        break;
    default:
        (broadcast ? put_chain : put_ring)(ret, &shape);
        break;
    }
    MYR_ASSERT(ret->items.count == count);
    return MYR_OK;
}
