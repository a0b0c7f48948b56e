#include "myriad/sim/contention.h"

#include <stdlib.h>

#include "myriad/sim/engine.h"

/*
 * How much flows that meet slow each other down, by pattern, by how far a job is spread, and by how
 * full the fabric is. Jobs of equal size are drawn from a seed, routed, and their max-min rates
 * compared with line rate; nothing is run in time. A planner then looks the factor up, instead of
 * simulating every candidate.
 */

const char *const myr_contention_pattern_names[MYR_CONTENTION_PATTERNS] = {"ring", "all-to-all",
                                                                           "permutation"};
const char *const myr_contention_level_names[MYR_CONTENTION_LEVELS] = {"leaf", "pod", "fabric"};

/* A node and where it belongs on the level at hand. */
struct slot {
    uint32_t node, group;
};

/* A sample job: its nodes lie side by side in 'slots', its transfers in the engine's tasks. */
struct job {
    uint32_t first, count; /* slots */
    uint32_t first_task, task_count;
};

struct job_range {
    uint32_t first, count;
};

/* 'sim' is there only while jobs are routed in it. */
struct table_maker {
    struct myr_graph *graph;
    struct myr_sim_options options;
    struct myr_sim *sim;
    struct slot *slots;
    MYR_VEC(struct job) jobs;
    MYR_VEC(struct myr_message) messages;
};

/*
 * Nodes of one group may be in one job: by the leaf of their first GPU, by its pod, or all of them.
 * MYR_NONE is a node without a port on this network.
 */
static uint32_t group_of(const struct myr_graph *graph, uint32_t node,
                         enum myr_contention_level level)
{
    uint32_t port = myr_flow_port(graph, node * graph->design->head->gpus_per_node);
    uint32_t leaf = port == MYR_NONE ? MYR_NONE : myr_graph_host_switch(graph, port);
    if (level == MYR_CONTENTION_LEAF || leaf == MYR_NONE) {
        return leaf;
    }
    /* Only a Clos has pods; elsewhere all nodes are one group. */
    bool pods = level == MYR_CONTENTION_POD && graph->clos;
    return pods ? myr_graph_leaf_spot(graph, leaf).pod : 0;
}

/* Nodes at random inside their groups: a heap gives back equal groups in the order of the draw. */
static void draw_slots(struct table_maker *maker, enum myr_contention_level level,
                       struct myr_rng *rng)
{
    uint32_t nodes = maker->graph->design->head->nodes;
    MYR_CLEANUP(myr_free_at) uint32_t *order = myr_xcalloc(nodes, sizeof(*order));
    MYR_CLEANUP(myr_heap_done) struct myr_heap heap = {};
    struct myr_heap_item item;
    for (uint32_t i = 0; i < nodes; i++) {
        order[i] = i;
    }
    myr_rng_shuffle(rng, order, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        myr_heap_push(&heap, group_of(maker->graph, order[i], level), order[i]);
    }
    for (uint32_t i = 0; myr_heap_pop(&heap, &item); i++) {
        MYR_ASSERT(i < nodes);
        maker->slots[i] = (struct slot){(uint32_t)item.value, (uint32_t)item.key};
    }
}

/* Cuts the groups into jobs, in random order, so that the first ones are a fair sample. */
static void make_jobs(struct table_maker *maker, enum myr_contention_level level)
{
    uint32_t nodes = maker->graph->design->head->nodes;
    struct myr_rng rng;
    /* A stream a level: how one level is drawn does not depend on the others. */
    myr_rng_init(&rng, maker->options.balance.seed, 10 + (uint64_t)level);
    draw_slots(maker, level, &rng);
    maker->jobs.count = 0;
    for (uint32_t i = 0, end; i < nodes; i = end) {
        end = i + 1;
        /*
         * A job is as many nodes of one group as it may have; what is left of a group is a smaller
         * job.
         */
        while (end < nodes && end < i + MYR_CONTENTION_NODES &&
               maker->slots[end].group == maker->slots[i].group) {
            end++;
        }
        /* A node alone has nobody to talk to. */
        if (end - i > 1 && maker->slots[i].group != MYR_NONE) {
            struct job job = {.first = i, .count = end - i};
            myr_vec_push(&maker->jobs, job);
        }
    }
    /* A shuffle, as myr_rng_shuffle() does it for numbers. */
    for (uint32_t i = (uint32_t)maker->jobs.count; i > 1; i--) {
        uint32_t other = myr_rng_below(&rng, i);
        struct job job = maker->jobs.items[i - 1];
        maker->jobs.items[i - 1] = maker->jobs.items[other];
        maker->jobs.items[other] = job;
    }
}

/* Both wrap around: the last node's neighbour is the first. */
static uint32_t gpu_at(const struct table_maker *maker, const struct job *job, uint32_t slot,
                       uint32_t rail)
{
    uint32_t local = maker->graph->design->head->gpus_per_node;
    MYR_SLOW_ASSERT(job->count > 0);
    MYR_SLOW_ASSERT(local > 0);
    return maker->slots[job->first + slot % job->count].node * local + rail % local;
}

/*
 * A job's flows: one a GPU, or one to every other node. The whole all-to-all is looked at and not
 * one of its shifts: nobody waits between them, so what counts is what all of them put on a link.
 * On the other nodes each takes another rail, in turn: all GPUs of all nodes would be as many times
 * more flows as a node has GPUs, for the same load.
 */
static void job_messages(struct table_maker *maker, const struct job *job,
                         enum myr_contention_pattern pattern, struct myr_rng *rng)
{
    uint32_t local = maker->graph->design->head->gpus_per_node, count = job->count * local;
    MYR_CLEANUP(myr_free_at) uint32_t *order = myr_xcalloc(count, sizeof(*order));
    maker->messages.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    myr_rng_shuffle(rng, order, count);
    for (uint32_t i = 0; i < count; i++) {
        /*
         * Every GPU of the job sends, to the same rail of the next node, to all other nodes, or at
         * random.
         */
        uint32_t slot = i / local, rail = i % local;
        struct myr_message message = {gpu_at(maker, job, slot, rail), 0};
        uint32_t others = pattern == MYR_CONTENTION_ALL_TO_ALL ? job->count - 1 : 1;
        for (uint32_t shift = 1; shift <= others; shift++) {
            switch (pattern) {
            case MYR_CONTENTION_RING:
                message.to = gpu_at(maker, job, slot + 1, rail);
                break;
            case MYR_CONTENTION_ALL_TO_ALL:
                message.to = gpu_at(maker, job, slot + shift, rail + shift);
                break;
            default:
                message.to = gpu_at(maker, job, order[i] / local, order[i] % local);
                break;
            }
            myr_vec_push(&maker->messages, message);
        }
    }
}

/* Adds the jobs' transfers; lockstep jobs are one task each, others one a flow. */
static void add_transfers(struct table_maker *maker, enum myr_contention_pattern pattern,
                          struct job_range jobs)
{
    struct myr_rng rng;
    /* By the first job, so that each of the runs alone has luck of its own. */
    myr_rng_init(&rng, maker->options.balance.seed + jobs.first, 20);
    for (uint32_t j = jobs.first; j < jobs.first + jobs.count; j++) {
        MYR_ASSERT(j < maker->jobs.count);
        MYR_ASSERT(maker->jobs.items);
        struct job *job = &maker->jobs.items[j];
        job_messages(maker, job, pattern, &rng);
        uint32_t count = (uint32_t)maker->messages.count;
        uint32_t each = pattern == MYR_CONTENTION_PERMUTATION ? 1 : count;
        job->first_task = myr_sim_task_count(maker->sim);
        for (uint32_t m = 0; m < count; m += each) {
            uint32_t id = myr_sim_pattern(maker->sim, &maker->messages.items[m], each);
            myr_sim_transfer(maker->sim, id, 1, 1); /* a byte: only rates are asked for */
        }
        job->task_count = myr_sim_task_count(maker->sim) - job->first_task;
        MYR_ASSERT(job->task_count > 0); /* two nodes at least, and each of their GPUs sends */
    }
}

/* An engine in which these jobs are routed together. */
static int open_jobs(struct table_maker *maker, enum myr_contention_pattern pattern,
                     struct job_range jobs, struct myr_err *err)
{
    MYR_ASSERT(!maker->sim);
    maker->sim = myr_sim_create(maker->graph, &maker->options);
    add_transfers(maker, pattern, jobs);
    return myr_sim_route(maker->sim, err);
}

/* There may be no engine: policies that look at each other have closed theirs. */
static void close_jobs(struct table_maker *maker)
{
    myr_sim_free(maker->sim);
    maker->sim = NULL;
}

/* These jobs at the same time; what they suffer is added to the cell. */
static void add_slowdowns(struct table_maker *maker, enum myr_contention_pattern pattern,
                          struct job_range jobs, struct myr_contention_cell *cell)
{
    const struct myr_network *net = maker->graph->net;
    double line = (double)net->host_gbps * net->planes * 1e9, sum = 0;
    MYR_ASSERT(maker->jobs.items);
    MYR_ASSERT(jobs.first + jobs.count <= maker->jobs.count);
    const struct job *first = &maker->jobs.items[jobs.first];
    const struct job *last = &maker->jobs.items[jobs.first + jobs.count - 1];
    uint32_t count = last->first_task + last->task_count - first->first_task;
    MYR_CLEANUP(myr_free_at) uint64_t *rates = myr_xcalloc(count, sizeof(*rates));
    myr_sim_fair_rates(maker->sim, first->first_task, count, rates);
    for (uint32_t i = 0; i < count; i++) {
        /* Flows inside a scale-up domain are faster than line rate: nothing holds them back. */
        /* An all-to-all is one task a job: of each GPU, a flow to every other node. */
        bool fans = pattern == MYR_CONTENTION_ALL_TO_ALL;
        double own = (double)rates[i] * (fans ? first[i].count - 1 : 1);
        /* A rate of 0 is a flow that uses no channel: it stays on its GPU. */
        double slow = rates[i] && own < line ? line / own : 1;
        cell->worst = slow > cell->worst ? slow : cell->worst;
        sum += slow;
    }
    cell->mean += count ? sum / count : 1;
}

/*
 * Load 0 is one job alone: the mean of several such runs, as each has its own luck. Policies that
 * look at what else runs are routed for each run; with the others all jobs are routed already.
 */
static int fill_cell(struct table_maker *maker, enum myr_contention_pattern pattern, double load,
                     struct myr_contention_cell *ret, struct myr_err *err)
{
    enum { ALONE_RUNS = 8 };
    uint32_t all = (uint32_t)maker->jobs.count, runs = 1;
    struct job_range jobs = {0, (uint32_t)(load * all)};
    /* Jobs that are routed already are only a range of the engine's tasks. */
    bool routed = maker->sim != NULL;
    if (jobs.count == 0) {
        runs = all < ALONE_RUNS ? all : ALONE_RUNS;
        jobs.count = 1;
    }
    *ret = (struct myr_contention_cell){.worst = 1, .jobs = runs ? jobs.count : 0};
    for (; jobs.first < runs; jobs.first++) {
        MYR_TRY(routed ? MYR_OK : open_jobs(maker, pattern, jobs, err));
        add_slowdowns(maker, pattern, jobs, ret);
        if (!routed) {
            close_jobs(maker);
        }
    }
    ret->mean = runs ? ret->mean / runs : 1;
    return MYR_OK;
}

/*
 * Planned and adaptive paths depend on who else is there; all others are routed once for the row.
 */
static int fill_row(struct table_maker *maker, enum myr_contention_pattern pattern,
                    const double *loads, struct myr_contention_cell *ret, struct myr_err *err)
{
    enum myr_policy policy = maker->options.balance.policy;
    struct job_range all = {0, (uint32_t)maker->jobs.count};
    if (policy != MYR_POLICY_PLANNED && policy != MYR_POLICY_ADAPTIVE) {
        MYR_TRY(open_jobs(maker, pattern, all, err));
    }
    for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
        MYR_TRY(fill_cell(maker, pattern, loads[i], &ret[i], err));
    }
    close_jobs(maker);
    return MYR_OK;
}

/* Also on the way out of a failure, with an engine half filled. */
static void maker_done(struct table_maker *maker)
{
    myr_sim_free(maker->sim);
    free(maker->slots);
    myr_vec_done(&maker->jobs);
    myr_vec_done(&maker->messages);
}

/* Level by level: jobs are drawn once for each, and serve all patterns and loads. */
int myr_contention_compute(struct myr_graph *graph, const struct myr_balance_options *balance,
                           myr_sim_progress *progress, void *context, struct myr_contention *ret,
                           struct myr_err *err)
{
    static const double loads[MYR_CONTENTION_LOADS] = {0, 0.25, 0.5, 1};
    enum { ROWS = MYR_CONTENTION_LEVELS * MYR_CONTENTION_PATTERNS };
    MYR_CLEANUP(maker_done)
    struct table_maker maker = {.graph = graph, .options = myr_sim_default()};
    *ret = (struct myr_contention){.policy = balance->policy,
                                   .seed = balance->seed,
                                   .net = graph->net_id,
                                   .gpus = graph->design->head->gpus,
                                   .links = graph->design->link_count};
    memcpy(ret->loads, loads, sizeof(loads));
    maker.options.balance = *balance;
    maker.slots = myr_xcalloc(graph->design->head->nodes, sizeof(*maker.slots));
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t level = row / MYR_CONTENTION_PATTERNS, p = row % MYR_CONTENTION_PATTERNS;
        if (p == 0) {
            make_jobs(&maker, (enum myr_contention_level)level);
        }
        if (progress) {
            progress(context, row, ROWS);
        }
        MYR_TRY(fill_row(&maker, (enum myr_contention_pattern)p, loads, ret->cells[p][level], err));
    }
    return MYR_OK;
}

/* Straight lines between the loads of the table. */
double myr_contention_lookup(const struct myr_contention *table,
                             enum myr_contention_pattern pattern, enum myr_contention_level level,
                             double load)
{
    const struct myr_contention_cell *cells = table->cells[pattern][level];
    MYR_ASSERT(load >= 0);
    MYR_ASSERT(load <= 1);
    if (load <= table->loads[0]) {
        return cells[0].mean;
    }
    for (uint32_t i = 1; i < MYR_CONTENTION_LOADS; i++) {
        if (load <= table->loads[i]) {
            double part = (load - table->loads[i - 1]) / (table->loads[i] - table->loads[i - 1]);
            return cells[i - 1].mean + part * (cells[i].mean - cells[i - 1].mean);
        }
    }
    return cells[MYR_CONTENTION_LOADS - 1].mean;
}
