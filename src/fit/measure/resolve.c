/* resolve: what a row of measured runs leaves open, and its cost as resolved. */
#include "myriad/fit/runs.h"

#define OPEN_GRID (MYR_RUN_OPEN_TP | MYR_RUN_OPEN_PP | MYR_RUN_OPEN_CP | MYR_RUN_OPEN_EP)

/* The best so far, and what it was judged by. */
struct choice {
    struct myr_layout layout;
    double time_s;          /* by the model */
    double memory_bytes;    /* of the fullest rank */
    double recompute_share; /* between nothing and all */
    bool fits, found;
};

/*
 * Recipes recompute as little as they can: first what is cheap to make again (norms, activation
 * functions), then whole layers, as many as it takes. 'again' is the share of the memory between
 * none and full that has to go.
 */
#define LIGHT_SHARE 0.4
#define VP_MAX      16 /* chunks that an open row is taken to have at most, as in the search */

/* 0 where everything fits as it is, 1 where not even recomputing all of it would do. */
static double recompute_share_of(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    struct myr_layout full = *layout, none = *layout;
    struct myr_fit_memory kept, least;
    none.recompute = MYR_RECOMPUTE_NONE;
    full.recompute = MYR_RECOMPUTE_FULL;
    myr_fit_memory_of(it, &none, &kept);
    myr_fit_memory_of(it, &full, &least);
    if (kept.fits) {
        return 0;
    }
    /* What is over the limit, as a share of what recomputing everything would free. */
    double span = kept.total_bytes - least.total_bytes;
    double share = span > 0 ? (kept.total_bytes - kept.limit_bytes) / span : 1;
    return share < 1 ? share : 1;
}

/*
 * Between nothing and everything recomputed: the cheap parts cost memory traffic alone, whole
 * layers all terms.
 */
static void blend(struct myr_fit_cost *cost, const struct myr_fit_cost *full, double share)
{
    double whole = share > LIGHT_SHARE ? (share - LIGHT_SHARE) / (1 - LIGHT_SHARE) : 0;
    double light = share > LIGHT_SHARE ? 1 : share / LIGHT_SHARE;
    cost->step_s = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        double part = i == MYR_FIT_MEMORY && light > whole ? light : whole;
        cost->terms_s[i] += part * (full->terms_s[i] - cost->terms_s[i]);
        cost->step_s += cost->terms_s[i];
    }
}

/* A share between nothing and all recomputed, as recipes choose it. */
static void cost_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                    double recompute_share, struct myr_fit_cost *ret)
{
    myr_fit_cost_of(it, layout, ret);
    if (recompute_share > 0) {
        struct myr_layout full = *layout;
        struct myr_fit_cost cost;
        full.recompute = MYR_RECOMPUTE_FULL;
        myr_fit_cost_of(it, &full, &cost);
        blend(ret, &cost, recompute_share);
    }
}

void myr_run_cost(const struct myr_run *run, struct myr_fit_cost *ret)
{
    cost_of(&run->it, &run->layout, run->recompute_share, ret);
}

double myr_run_peak_bytes(const struct myr_run *run)
{
    struct myr_layout full = run->layout;
    struct myr_fit_memory kept, least;
    myr_fit_memory_of(&run->it, &run->layout, &kept);
    if (run->recompute_share <= 0) {
        return kept.peak_bytes;
    }
    full.recompute = MYR_RECOMPUTE_FULL;
    myr_fit_memory_of(&run->it, &full, &least);
    MYR_ASSERT(run->recompute_share <= 1);
    return kept.peak_bytes - run->recompute_share * (kept.peak_bytes - least.peak_bytes);
}

/* One layout: those that fit come before those that do not, then the faster one. */
static void consider(const struct myr_run *run, struct myr_layout layout, struct choice *best)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    double recompute_share = 0;
    if (myr_layout_broken(&layout, &run->model, 0) != MYR_LAYOUT_OK) {
        return;
    }
    if (run->open & MYR_RUN_OPEN_RECOMPUTE) {
        layout.recompute = MYR_RECOMPUTE_NONE;
        recompute_share = recompute_share_of(&run->it, &layout);
    }
    struct myr_layout held = layout;
    held.recompute = recompute_share > 0 ? MYR_RECOMPUTE_FULL : layout.recompute;
    myr_fit_memory_of(&run->it, &held, &memory);
    cost_of(&run->it, &layout, recompute_share, &cost);
    /* Where nothing fits, the smallest is the most likely to have run. */
    bool better = !best->found                ? true
                  : memory.fits != best->fits ? memory.fits
                  : memory.fits               ? cost.step_s < best->time_s
                                              : memory.total_bytes < best->memory_bytes;
    if (better) {
        *best = (struct choice){layout,          cost.step_s, memory.total_bytes,
                                recompute_share, memory.fits, true};
    }
}

/* With the layers dealt as usual, and with room left for prediction modules. */
static void consider_zero(const struct myr_run *run, struct myr_layout layout, struct choice *best)
{
    bool open = run->open & MYR_RUN_OPEN_ZERO;
    for (uint32_t zero = open ? 0 : layout.zero; zero <= (open ? 3 : layout.zero); zero++) {
        layout.zero = zero;
        layout.output_counts = false;
        consider(run, layout, best);
        /* Recipes of models with prediction modules leave the last chunk room for them. */
        layout.output_counts = run->model.mtp_count > 0 && layout.pp > 1;
        if (layout.output_counts && layout.schedule != MYR_SCHEDULE_DUALPIPE) {
            consider(run, layout, best);
        }
    }
}

/* Experts whole or cut as the rest, whichever is faster: few tables say it. */
static void consider_etp(const struct myr_run *run, struct myr_layout layout, struct choice *best)
{
    if (run->open & MYR_RUN_OPEN_ETP) {
        layout.etp = 1;
        consider_zero(run, layout, best);
        layout.etp = 0;
    }
    consider_zero(run, layout, best);
}

/* Micro-batch and chunks, where they are open. */
static void consider_batches(const struct myr_run *run, struct myr_layout layout,
                             struct choice *best)
{
    bool open_batch = run->open & MYR_RUN_OPEN_MICRO_BATCH, open_vp = run->open & MYR_RUN_OPEN_VP;
    uint32_t deep = (run->model.layer_count + 2) / layout.pp;
    uint32_t vp_max = open_vp ? (deep < VP_MAX ? deep : VP_MAX) : layout.vp;
    uint32_t batch_max = open_batch ? 64 : layout.micro_batch;
    /* Powers of two: what people choose from, not all there are. */
    for (uint32_t b = open_batch ? 1 : layout.micro_batch; b <= batch_max; b *= 2) {
        layout.micro_batch = b;
        for (uint32_t vp = open_vp ? 1 : layout.vp; vp <= vp_max; vp++) {
            layout.vp = vp;
            if (layout.schedule != MYR_SCHEDULE_DUALPIPE) {
                layout.schedule = vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
            }
            consider_etp(run, layout, best);
        }
        if (!open_batch) {
            break;
        }
    }
}

/* The grid of ranks, where a table says less than the number of GPUs. */
static void consider_grids(const struct myr_run *run, uint32_t domain, struct choice *best)
{
    struct myr_layout layout = run->layout;
    uint32_t open = run->open, layers = run->model.layer_count;
    uint32_t experts = run->model.moe.expert_count ? run->model.moe.expert_count : 1;
    uint32_t tp_max = open & MYR_RUN_OPEN_TP ? domain : layout.tp;
    uint32_t pp_max = open & MYR_RUN_OPEN_PP ? (layers < 64 ? layers : 64) : layout.pp;
    uint32_t cp_max = open & MYR_RUN_OPEN_CP ? 16 : layout.cp;
    uint32_t ep_max = open & MYR_RUN_OPEN_EP ? experts : layout.ep;
    for (uint32_t tp = open & MYR_RUN_OPEN_TP ? 1 : layout.tp; tp <= tp_max; tp *= 2) {
        for (uint32_t pp = open & MYR_RUN_OPEN_PP ? 1 : layout.pp; pp <= pp_max; pp++) {
            for (uint32_t cp = open & MYR_RUN_OPEN_CP ? 1 : layout.cp; cp <= cp_max; cp *= 2) {
                /* A number of replicas that the row gives narrows the open axes. */
                uint64_t replica = (uint64_t)tp * pp * cp;
                if (run->gpus % replica != 0 || (run->dp && run->gpus / replica != run->dp)) {
                    continue;
                }
                layout.tp = tp;
                layout.pp = pp;
                layout.cp = cp;
                layout.dp = (uint32_t)(run->gpus / replica);
                layout.sequence_parallel = tp > 1 && (run->layout.sequence_parallel ||
                                                      run->it.stack->era != MYR_ERA_EAGER);
                for (uint32_t ep = open & MYR_RUN_OPEN_EP ? 1 : layout.ep; ep <= ep_max; ep *= 2) {
                    layout.ep = ep;
                    uint64_t grid = (uint64_t)tp * cp * layout.dp;
                    layout.etp = run->etp ? run->etp : tp > 1 && grid % ((uint64_t)ep * tp) ? 1 : 0;
                    consider_batches(run, layout, best);
                }
            }
        }
    }
}

/* The best legal value of every open axis; a row that has none is refused by the rule it breaks. */
void myr_run_resolve(struct myr_run *run)
{
    struct choice best = {};
    if (run->refused) {
        return;
    }
    if (run->open & OPEN_GRID) {
        uint32_t domain = run->it.domain_gpus ? run->it.domain_gpus : run->it.device->domain_gpus;
        consider_grids(run, domain, &best);
        if (!best.found) { /* some have cut across servers: 16 on servers of 8 */
            consider_grids(run, run->model.head_count, &best);
        }
    } else {
        consider_batches(run, run->layout, &best);
    }
    if (!best.found) {
        run->refused = myr_layout_rule_name(myr_layout_broken(&run->layout, &run->model, 0));
        return;
    }
    run->layout = best.layout;
    run->recompute_share = best.recompute_share;
    run->fits = best.fits;
}
