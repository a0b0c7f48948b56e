#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/read.h"

/* What a trace becomes in the engine: patterns with their messages, tasks, and who waits. */

static void put_engine(struct myr_buf *text, const struct myr_sim *sim)
{
    for (size_t i = 0; i < sim->patterns.count; i++) {
        const struct sim_pattern *pattern = &sim->patterns.items[i];
        myr_buf_printf(text, "  pattern %zu%s:", i, pattern->cyclic ? ", cyclic" : "");
        for (uint32_t m = 0; m < pattern->message_count; m++) {
            struct myr_message message = sim->messages.items[pattern->first_message + m];
            myr_buf_printf(text, " %u>%u", message.from, message.to);
        }
        myr_buf_putc(text, '\n');
    }
    for (size_t i = 0; i < sim->tasks.count; i++) {
        const struct sim_task *task = &sim->tasks.items[i];
        if (task->kind == SIM_COMPUTE) {
            myr_buf_printf(text, "  task %zu: %lld ps", i, (long long)task->duration);
        } else {
            myr_buf_printf(text, "  task %zu: %llu bytes by %u, %u rounds", i,
                           (unsigned long long)(task->bits / 8), task->pattern,
                           task->latency_rounds);
        }
        for (size_t e = 0; e < sim->edges.count; e++) {
            if (sim->edges.items[e].task == i) {
                myr_buf_printf(text, " after %u", sim->edges.items[e].before);
            }
        }
        myr_buf_putc(text, '\n');
    }
}

/* Into an engine of 16 GPUs, so many of them a node. */
static void load(struct myr_buf *text, const char *what, const struct myr_trace *trace,
                 const uint32_t *gpus, uint32_t local)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_sim_fabric fabric;
    struct myr_graph graph;
    struct myr_trace_tasks tasks;
    struct myr_err err = {};
    struct myr_sim_options options = myr_sim_default();
    myr_arena_init(&arena);
    assert_int_equal(myr_sim_fabric_open(&fabric, NULL, "fat-tree:k=4", &err), MYR_OK);
    assert_int_equal(myr_graph_init(&graph, &arena, fabric.design, MYR_NET_COMPUTE, &err), MYR_OK);
    struct myr_sim *sim = myr_sim_create(&graph, &options);
    int rc = myr_load_trace(sim, trace, gpus, local, &tasks, &err);
    myr_buf_printf(text, "%s, %u a node: ", what, local);
    if (rc < 0) {
        myr_buf_printf(text, "%s\n", err.message);
    } else {
        myr_buf_printf(text, "%u messages from task %u, %u collectives\n", tasks.message_count,
                       tasks.first_message, tasks.collectives);
        put_engine(text, sim);
    }
    myr_sim_free(sim);
    myr_sim_fabric_close(&fabric);
}

/* One collective over one split of all ranks. */
static void load_split(struct myr_buf *text, enum myr_collective kind, uint32_t ranks,
                       uint32_t size, uint32_t stride, uint32_t local)
{
    struct myr_trace trace = {.ranks = ranks};
    struct myr_trace_split split = {.size = size, .stride = stride};
    struct myr_trace_op op = {
        .kind = MYR_TRACE_COLLECTIVE, .collective = (uint8_t)kind, .bytes = 4096};
    char what[80];
    myr_vec_push(&trace.splits, split);
    myr_vec_push(&trace.ops, op);
    (void)snprintf(what, sizeof(what), "%s of %u ranks in groups of %u, %u apart",
                   myr_collective_name(kind), ranks, size, stride);
    load(text, what, &trace, NULL, local);
    myr_trace_done(&trace);
}

/* One group of these ranks. */
static void load_list(struct myr_buf *text, const char *what, const uint32_t *ranks, uint32_t count,
                      const uint32_t *gpus, uint32_t local)
{
    struct myr_trace trace = {.ranks = 16};
    struct myr_trace_split split = {.size = count, .listed = true, .first_member = 1};
    struct myr_trace_op op = {
        .kind = MYR_TRACE_COLLECTIVE, .collective = MYR_ALL_GATHER, .bytes = 1000 * count};
    uint32_t nobody = 99; /* members of another group come first */
    myr_vec_push(&trace.members, nobody);
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&trace.members, ranks[i]);
    }
    myr_vec_push(&trace.splits, split);
    myr_vec_push(&trace.ops, op);
    load(text, what, &trace, gpus, local);
    myr_trace_done(&trace);
}

static void groups_become_rounds(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    static const uint32_t order[] = {0, 1, 2, 3, 4, 5, 6, 7}, apart[] = {0, 4, 1, 5};
    static const uint32_t odd[] = {0, 1, 2, 3, 4}, far[] = {3, 4}, near[] = {2, 3};
    static const uint32_t gpus[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    load_split(&text, MYR_ALL_REDUCE, 16, 4, 1, 4);
    load_split(&text, MYR_ALL_REDUCE, 16, 4, 1, 1);
    load_split(&text, MYR_ALL_REDUCE, 16, 4, 4, 4);
    load_split(&text, MYR_ALL_GATHER, 16, 8, 2, 4);
    load_split(&text, MYR_ALL_GATHER, 16, 8, 2, 3);
    load_split(&text, MYR_ALL_GATHER, 12, 3, 1, 2);
    load_split(&text, MYR_ALL_TO_ALL, 8, 4, 1, 4);
    load_split(&text, MYR_ALL_TO_ALL, 8, 4, 2, 8);
    load_split(&text, MYR_REDUCE_SCATTER, 6, 2, 3, 0);
    load_split(&text, MYR_ALL_REDUCE, 4, 1, 1, 4);
    load_list(&text, "eight in their order", order, 8, NULL, 4);
    load_list(&text, "eight in their order", order, 8, NULL, 8);
    load_list(&text, "eight in their order", order, 8, NULL, 16);
    load_list(&text, "eight of other nodes", order, 8, gpus, 4);
    load_list(&text, "four of two nodes in turn", apart, 4, NULL, 2);
    load_list(&text, "four of two nodes in turn", apart, 4, NULL, 4);
    load_list(&text, "the same where the ranks lie so", apart, 4, gpus, 4);
    load_list(&text, "five, which fill no nodes", odd, 5, NULL, 2);
    load_list(&text, "two across the edge of a node", far, 2, NULL, 4);
    load_list(&text, "two at the edge of a node", near, 2, NULL, 4);
    assert_kept("sim-load-groups.txt", &text);
}

static void operations_become_tasks(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    static const struct myr_trace_op ops[] = {
        {.kind = MYR_TRACE_COMPUTE, .from = 2, .duration = 77},
        {.kind = MYR_TRACE_MESSAGE, .from = 0, .to = 5, .bytes = 100, .start = 9},
        {.kind = MYR_TRACE_COLLECTIVE, .collective = MYR_ALL_REDUCE, .bytes = 64},
        {.kind = MYR_TRACE_MESSAGE, .from = 5, .to = 0, .bytes = 200, .hops = 3},
        {.kind = MYR_TRACE_MESSAGE, .from = 0, .to = 5, .bytes = 300, .start = 9},
        {.kind = MYR_TRACE_COLLECTIVE, .collective = MYR_ALL_REDUCE, .bytes = 128, .start = 10},
        {.kind = MYR_TRACE_COLLECTIVE, .collective = MYR_ALL_TO_ALL, .bytes = 64},
        {.kind = MYR_TRACE_COLLECTIVE, .collective = MYR_ALL_REDUCE, .from = 1, .bytes = 64},
        {.kind = MYR_TRACE_COMPUTE, .from = 3, .duration = 0, .start = 10},
    };
    static const struct myr_trace_edge edges[] = {{0, 2}, {2, 3}, {2, 5}, {5, 6}, {1, 8}, {7, 8}};
    static const struct myr_trace_split splits[] = {{.size = 4, .stride = 1},
                                                    {.size = 2, .stride = 4}};
    static const uint32_t gpus[] = {8, 9, 10, 11, 12, 13, 14, 15};
    struct myr_trace trace = {.ranks = 8, .messages = 3};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ops); i++) {
        myr_vec_push(&trace.ops, ops[i]);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(edges); i++) {
        myr_vec_push(&trace.edges, edges[i]);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(splits); i++) {
        myr_vec_push(&trace.splits, splits[i]);
    }
    load(&text, "all kinds", &trace, NULL, 2);
    load(&text, "all kinds on the other half", &trace, gpus, 2);
    myr_trace_done(&trace);
    load(&text, "nothing", &trace, NULL, 2);
    assert_kept("sim-load-tasks.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_become_rounds),
        cmocka_unit_test(operations_become_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
