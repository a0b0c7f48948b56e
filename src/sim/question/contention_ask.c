/*
 * contention_ask: the table for a fabric, written to a file: beside the design, or where --out
 * says.
 */
#include "myriad/sim/question.h"

int myr_contention_ask(struct myr_contention *ret, const char **ret_path, struct myr_arena *arena,
                       const struct myr_contention_question *question, struct myr_err *err)
{
    MYR_CLEANUP(myr_sim_fabric_close) struct myr_sim_fabric fabric = {};
    struct myr_contention table;
    struct myr_graph graph;
    const char *path = question->out;
    /* Before anything is computed: the table would have nowhere to go. */
    if (!path && !question->design) {
        return myr_err_set(err, MYR_EINVAL, "give --out FILE: a --topology has no folder");
    }
    MYR_TRY(myr_sim_fabric_open(&fabric, question->design, question->topology, err));
    MYR_TRY(myr_graph_init(&graph, arena, fabric.design, question->net, err));
    MYR_TRY(myr_contention_compute(&graph, &question->balance, question->progress,
                                   question->progress_context, &table, err));
    path = path ? path : myr_contention_path(arena, question->design);
    MYR_TRY(myr_contention_write(&table, path, err));
    *ret = table;
    *ret_path = path;
    return MYR_OK;
}
