#include <stdlib.h>

#include "read/text.h"

/*
 * A trace into the engine. Messages become the first tasks, so that their completion times lie
 * together; computing, collectives and starts follow; then the order between them.
 */

struct loader {
    struct myr_sim *sim;
    const struct myr_trace *trace;
    const uint32_t *gpus; /* by rank; NULL: rank r is GPU r */
    uint32_t local;
    uint32_t *first, *last;    /* tasks of an operation; a collective has one for each round */
    struct myr_u64map flows;   /* from and to, to the pattern */
    struct myr_u64map rounds;  /* collective and split, to the first of its patterns */
    struct myr_u64map waiting; /* start, to the task that ends then */
};

/* The only place that knows which GPU a rank is. */
static struct myr_message message_of(const struct loader *loader, uint32_t from, uint32_t to)
{
    const uint32_t *gpus = loader->gpus;
    MYR_SLOW_ASSERT(from < loader->trace->ranks && to < loader->trace->ranks);
    return gpus ? (struct myr_message){gpus[from], gpus[to]} : (struct myr_message){from, to};
}

/* One pattern for each pair of ranks: its path is the same whenever it is used. */
static uint32_t flow_pattern(struct loader *loader, const struct myr_trace_op *op)
{
    uint64_t key = (uint64_t)op->from << 32 | op->to;
    uint32_t *known = myr_u64map_find(&loader->flows, key);
    if (known) {
        return *known;
    }
    struct myr_message message = message_of(loader, op->from, op->to);
    uint32_t pattern = myr_sim_pattern(loader->sim, &message, 1);
    myr_u64map_add(&loader->flows, key, pattern);
    return pattern;
}

/* The rank that has this number in the group. */
static uint32_t member_of(const struct loader *loader, struct myr_trace_split split, uint32_t i)
{
    MYR_SLOW_ASSERT(split.listed && i < split.size);
    return loader->trace->members.items[split.first_member + i];
}

/* The same of ranks that are listed: whole nodes of them, or none. */
static uint32_t local_members(const struct loader *loader, struct myr_trace_split split)
{
    MYR_ASSERT(loader->local > 0 && split.size > 0); /* no group is empty */
    uint32_t together = loader->local < split.size ? loader->local : split.size;
    for (uint32_t i = 0; i < split.size && split.size % together == 0; i++) {
        uint32_t own = member_of(loader, split, i);
        uint32_t first = member_of(loader, split, i / together * together);
        struct myr_message ends = message_of(loader, own, first);
        if (ends.from / loader->local != ends.to / loader->local) {
            return 1;
        }
    }
    return split.size % together == 0 ? together : 1;
}

/* Neighbours in a group that share a node: as many as the stride leaves room for. */
static uint32_t local_ranks(const struct loader *loader, struct myr_trace_split split)
{
    if (split.listed) {
        return local_members(loader, split);
    }
    MYR_ASSERT(split.stride > 0 && split.size > 0);
    uint32_t together = loader->local / split.stride;
    together = together > split.size ? split.size : together;
    return together > 0 && split.size % together == 0 && loader->local % split.stride == 0
               ? together
               : 1;
}

/* The round's messages in every group. */
static uint32_t round_pattern(struct loader *loader, struct myr_trace_split split,
                              const struct myr_schedule_plan *plan, const struct myr_round *round)
{
    /* Groups of one split repeat every 'block' ranks, and lie side by side inside it. */
    uint32_t block = split.size * split.stride, ranks = loader->trace->ranks;
    uint32_t groups = split.listed ? 1 : ranks / split.size, at = 0;
    MYR_CLEANUP(myr_free_at)
    struct myr_message *messages =
        myr_xcalloc((size_t)round->pair_count * groups, sizeof(*messages));
    for (uint32_t i = 0; split.listed && i < round->pair_count; i++) {
        const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
        messages[at++] = message_of(loader, member_of(loader, split, pair->from),
                                    member_of(loader, split, pair->to));
    }
    for (uint32_t base = 0; !split.listed && base < ranks; base += block) {
        for (uint32_t offset = 0; offset < split.stride; offset++) {
            for (uint32_t i = 0; i < round->pair_count; i++) {
                const struct myr_pair *pair = &plan->pairs.items[round->first_pair + i];
                messages[at++] = message_of(loader, base + offset + pair->from * split.stride,
                                            base + offset + pair->to * split.stride);
            }
        }
    }
    MYR_ASSERT(at == round->pair_count * groups); /* every group has its part */
    uint32_t pattern = myr_sim_pattern(loader->sim, messages, at);
    if (round->cyclic) {
        myr_sim_pattern_cyclic(loader->sim, pattern);
    }
    return pattern;
}

/*
 * Rings, or pairs for an all-to-all. The patterns of a collective over one split are routed once
 * and used again.
 */
static int add_collective(struct loader *loader, uint32_t id, struct myr_err *err)
{
    const struct myr_trace_op *op = &loader->trace->ops.items[id];
    MYR_ASSERT(op->from < loader->trace->splits.count);
    struct myr_trace_split split = loader->trace->splits.items[op->from];
    enum myr_algorithm algorithm =
        op->collective == MYR_ALL_TO_ALL ? MYR_ALGORITHM_PAIRWISE : MYR_ALGORITHM_RING;
    MYR_CLEANUP(myr_schedule_plan_done) struct myr_schedule_plan plan = {};
    struct myr_collective_shape shape = {.collective = (enum myr_collective)op->collective,
                                         .algorithm = algorithm,
                                         .ranks = split.size,
                                         .local = local_ranks(loader, split),
                                         .bytes = op->bytes};
    MYR_TRY(myr_collective_plan(&shape, &plan, err));
    MYR_ASSERT(plan.rounds.count > 0); /* readers make a group of one a task that takes no time */
    /* Not by bytes: patterns have none, and the same ranks send to the same ranks. */
    uint64_t key = (uint64_t)op->collective << 32 | op->from;
    uint32_t *known = myr_u64map_find(&loader->rounds, key);
    uint32_t pattern = known ? *known : MYR_NONE, places = 0;
    for (size_t i = 0; i < plan.rounds.count; i++) {
        struct myr_round round = plan.rounds.items[i];
        bool first = i == 0;
        /* The parts of a ring as one: traces have thousands of collectives. */
        while (i + 1 < plan.rounds.count &&
               plan.rounds.items[i + 1].first_pair == round.first_pair) {
            i++;
            round.bytes += plan.rounds.items[i].bytes;
            round.hops += plan.rounds.items[i].hops;
        }
        /*
         * Patterns of a collective were made one after the other: the first is enough to name them.
         */
        uint32_t own = pattern + places++;
        if (!known) {
            own = round_pattern(loader, split, &plan, &round);
            pattern = first ? own : pattern;
            MYR_TRY(myr_sim_route(loader->sim, err));
        }
        uint32_t task = myr_sim_transfer(loader->sim, own, round.bytes, round.hops);
        if (first) {
            loader->first[id] = task;
        } else {
            myr_sim_after(loader->sim, task, loader->last[id]);
        }
        loader->last[id] = task;
    }
    if (!known) {
        myr_u64map_add(&loader->rounds, key, pattern);
    }
    return MYR_OK;
}

/* All messages first: the answer takes them as one range of tasks. */
static int add_ops(struct loader *loader, struct myr_trace_tasks *ret, struct myr_err *err)
{
    const struct myr_trace *trace = loader->trace;
    struct myr_sim *sim = loader->sim;
    int rc = MYR_OK;
    ret->first_message = myr_sim_task_count(sim);
    ret->message_count = trace->messages;
    for (uint32_t i = 0; i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        if (op->kind == MYR_TRACE_MESSAGE) {
            loader->first[i] = loader->last[i] =
                myr_sim_transfer(sim, flow_pattern(loader, op), op->bytes, op->hops ? op->hops : 1);
        }
    }
    MYR_ASSERT(myr_sim_task_count(sim) - ret->first_message == trace->messages);
    for (uint32_t i = 0; rc == MYR_OK && i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        if (op->kind == MYR_TRACE_COMPUTE) {
            loader->first[i] = loader->last[i] = myr_sim_compute(sim, op->duration);
        } else if (op->kind == MYR_TRACE_COLLECTIVE) {
            rc = add_collective(loader, i, err);
            ret->collectives++;
        }
    }
    return rc;
}

/* A start is computing of that length in front; equal starts share it. */
static void add_start(struct loader *loader, uint32_t id)
{
    myr_ps start = loader->trace->ops.items[id].start;
    if (start == 0) {
        return;
    }
    uint32_t *known = myr_u64map_find(&loader->waiting, (uint64_t)start);
    uint32_t task = known ? *known : myr_sim_compute(loader->sim, start);
    if (!known) {
        myr_u64map_add(&loader->waiting, (uint64_t)start, task);
    }
    myr_sim_after(loader->sim, loader->first[id], task);
}

static void loader_done(struct loader *loader)
{
    myr_u64map_done(&loader->flows);
    myr_u64map_done(&loader->rounds);
    myr_u64map_done(&loader->waiting);
    free(loader->first);
    free(loader->last);
}

/* Messages without end have got a size before this. Tasks first, then starts, then the order. */
int myr_load_trace(struct myr_sim *sim, const struct myr_trace *trace, const uint32_t *gpus,
                   uint32_t local, struct myr_trace_tasks *ret, struct myr_err *err)
{
    MYR_CLEANUP(loader_done)
    struct loader loader = {.sim = sim, .trace = trace, .gpus = gpus, .local = local ? local : 1};
    MYR_ASSERT(trace->endless_line == 0);
    *ret = (struct myr_trace_tasks){};
    loader.first = myr_xcalloc(trace->ops.count, sizeof(*loader.first));
    loader.last = myr_xcalloc(trace->ops.count, sizeof(*loader.last));
    int rc = add_ops(&loader, ret, err);
    for (uint32_t i = 0; rc == MYR_OK && i < trace->ops.count; i++) {
        add_start(&loader, i);
    }
    for (size_t i = 0; rc == MYR_OK && i < trace->edges.count; i++) {
        const struct myr_trace_edge *edge = &trace->edges.items[i];
        MYR_ASSERT(edge->op < trace->ops.count && edge->before < trace->ops.count);
        myr_sim_after(sim, loader.first[edge->op], loader.last[edge->before]);
    }
    return rc;
}
