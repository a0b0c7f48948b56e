/*
 * resolve: what a row of measured runs leaves open. A row is a question like any other: the axes
 * that it states are fixed, and the search answers it.
 */
#include "myriad/fit/runs.h"

#include "search/space.h"

/* The axes that the row states; how layers are dealt, ranks ordered and state cut is as usual. */
struct myr_fit_query myr_run_query(const struct myr_run *run)
{
    struct myr_fit_query q = myr_fit_query_default();
    const struct myr_layout *l = &run->layout;
    uint32_t open = run->open;
    q.it = run->it;
    q.base = l;
    q.shard = l->shard;
    q.gpus = run->gpus;
    q.batch = l->global_batch;
    q.seq_tokens = l->seq_tokens;
    q.precision = l->precision;
    q.tp = open & MYR_RUN_OPEN_TP ? 0 : l->tp;
    q.pp = open & MYR_RUN_OPEN_PP ? 0 : l->pp;
    q.cp = open & MYR_RUN_OPEN_CP ? 0 : l->cp;
    q.ep = open & MYR_RUN_OPEN_EP ? 0 : l->ep;
    q.dp = run->dp;
    q.vp = open & MYR_RUN_OPEN_VP ? 0 : l->vp;
    q.micro_batch = open & MYR_RUN_OPEN_MICRO_BATCH ? 0 : l->micro_batch;
    q.etp = open & MYR_RUN_OPEN_ETP ? 0 : run->etp;
    q.zero = open & MYR_RUN_OPEN_ZERO ? -1 : (int)l->zero;
    q.recompute = open & MYR_RUN_OPEN_RECOMPUTE ? -1 : (int)l->recompute;
    q.schedule = l->schedule == MYR_SCHEDULE_DUALPIPE ? (int)l->schedule : MYR_FIT_SCHEDULE_STACK;
    q.sequence_parallel =
        open & MYR_RUN_OPEN_TP ? run->it.stack->era != MYR_ERA_EAGER : l->sequence_parallel;
    q.recompute_layers = l->recompute_layers;
    q.offload_layers = l->offload_layers;
    q.tight = true; /* it ran */
    return q;
}

void myr_run_cost(const struct myr_run *run, struct myr_fit_cost *ret)
{
    myr_fit_cost_of(&run->it, &run->layout, ret);
}

double myr_run_peak_bytes(const struct myr_run *run)
{
    struct myr_fit_memory memory;
    myr_fit_memory_of(&run->it, &run->layout, &memory);
    return memory.peak_bytes;
}

void myr_run_resolve(struct myr_run *run)
{
    if (run->refused) {
        return;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_fit_query query = myr_run_query(run);
    myr_arena_init(&arena);
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    fit_search_quietly(&query, &arena, answer);
    run->fits = answer->top_count > 0;
    if (!run->fits) { /* it ran all the same: memory is not asked, and the answer says so */
        struct myr_device roomy = *query.it.device;
        roomy.memory_bytes = 1e18;
        query.it.device = &roomy;
        fit_search_quietly(&query, &arena, answer);
    }
    if (answer->top_count == 0) {
        run->refused = myr_layout_rule_name(myr_layout_broken(&run->layout, &run->model, 0));
        return;
    }
    const struct myr_layout *l = &answer->top[0].layout;
    double chunk = (double)run->model.layer_count / (l->pp * l->vp);
    run->layout = *l;
    run->recompute_share = l->recompute != MYR_RECOMPUTE_FULL ? 0
                           : l->recompute_layers == 0         ? 1
                                                              : l->recompute_layers / chunk;
}
