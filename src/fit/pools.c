#include "myriad/fit/pools.h"

#include "share.h"
#include "space.h"

#define UNITS_MAX 128 /* ways of one pool to take its part */

struct mixer {
    const struct myr_fit_query *query;
    const struct myr_fit_pool *pools;
    uint32_t pool_count;
    struct myr_arena *arena;
    struct myr_fit_pools *answer;
    struct myr_fit_case cases[MYR_FIT_POOLS_MAX];
};

static struct myr_fit_case case_of(const struct mixer *x, uint32_t pool)
{
    struct myr_fit_case it = x->query->it;
    it.device = x->pools[pool].device;
    it.nic_gbps = 0;
    it.domain_gpus = 0;
    it.topology = NULL;
    return it;
}

/* Seconds in which copies of one rank's gradients are averaged from pool to pool. */
static double exchange_s(const struct mixer *x, const struct myr_layout *layout)
{
    struct myr_rank_params params = {0};
    struct myr_numerics numerics = myr_layout_numerics(layout);
    double slowest = 1e30, largest = 0;
    for (uint32_t stage = 0; stage < layout->pp; stage++) {
        params = myr_rank_params(layout, x->query->it.model, stage);
        largest = fit_max(largest, (double)(params.sharded + params.replicated + params.expert));
    }
    double least_shard = 1e30;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        uint32_t ranks = layout->tp * layout->cp * layout->pp;
        double replicas = (double)x->pools[i].gpus / ranks * layout->cp;
        slowest = fit_min(slowest, x->cases[i].device->nic_gbps);
        least_shard = fit_min(least_shard, layout->zero ? replicas : 1);
    }
    double n = x->pool_count, bytes = largest * numerics.reduce_bytes / least_shard;
    double nic = slowest / 8 * 1e9 * x->query->it.constants[FIT_NIC];
    return 2 * (n - 1) / n * bytes / nic + 2 * x->query->it.constants[FIT_NIC_LATENCY] * 1e-6 * n;
}

/* Layouts of one pool with a given cut: micro-batch and recomputation are its own. */
static uint32_t list_paces(const struct mixer *x, uint32_t pool, struct myr_layout layout,
                           struct fit_pace *paces, struct myr_layout *layouts)
{
    const struct myr_fit_case *it = &x->cases[pool];
    uint32_t ranks = layout.tp * layout.cp * layout.pp, count = 0;
    uint32_t most = (it->model->layer_count + layout.pp * layout.vp - 1) / (layout.pp * layout.vp);
    layout.dp = x->pools[pool].gpus / ranks;
    for (uint32_t b = 1; b <= FIT_MICRO_MAX && count < UNITS_MAX; b *= 2) {
        uint32_t step = layout.vp > 1 ? layout.pp : 1;
        layout.micro_batch = b;
        layout.global_batch = b * layout.dp * step;
        for (uint32_t r = 0; r <= most; r++) {
            struct myr_fit_memory memory;
            struct myr_fit_cost one, two;
            layout.recompute = r ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
            layout.recompute_layers = r < most ? r : 0;
            struct myr_layout full = layout;
            full.global_batch = b * layout.dp * layout.pp * step; /* as much in flight as can be */
            if (myr_layout_broken(&layout, it->model, 0) != MYR_LAYOUT_OK) {
                break;
            }
            myr_fit_memory_of(it, &full, &memory);
            if (!memory.fits) {
                continue;
            }
            myr_fit_cost_of(it, &layout, &one);
            struct myr_layout twice = layout;
            twice.global_batch = 2 * layout.global_batch;
            myr_fit_cost_of(it, &twice, &two);
            double unit = (two.step_s - one.step_s) / step;
            layouts[count] = layout;
            paces[count] = (struct fit_pace){.sequences = b * layout.dp,
                                             .step = step,
                                             .base_s = one.step_s - unit * step,
                                             .unit_s = unit,
                                             .tag = count};
            count++;
            break; /* more recomputation only takes longer */
        }
    }
    return count;
}

static void try_batch(struct mixer *x, struct myr_layout layout)
{
    struct myr_fit_mixed *best = &x->answer->batch;
    struct fit_pace paces[MYR_FIT_POOLS_MAX][UNITS_MAX];
    struct myr_layout *layouts[MYR_FIT_POOLS_MAX];
    struct fit_paces lists[MYR_FIT_POOLS_MAX];
    struct fit_dealt dealt[MYR_FIT_POOLS_MAX];
    struct myr_arena own;
    double step_s, rate = 0, exchange = exchange_s(x, &layout);
    myr_arena_init(&own);
    bool possible = true;
    for (uint32_t i = 0; i < x->pool_count && possible; i++) {
        layouts[i] = MYR_ARENA_NEW(&own, struct myr_layout, UNITS_MAX);
        lists[i].items = paces[i];
        lists[i].count = list_paces(x, i, layout, paces[i], layouts[i]);
        double fastest = 0;
        for (uint32_t k = 0; k < lists[i].count; k++) {
            fastest = fit_max(fastest, paces[i][k].sequences / paces[i][k].unit_s);
        }
        rate += fastest;
        possible = lists[i].count > 0;
    }
    /* No dealing beats all pools at full rate. */
    possible = possible && (!best->found || x->query->batch / rate + exchange < best->step_s);
    if (possible && fit_deal_batch(lists, x->pool_count, x->query->batch, &own, dealt, &step_s) &&
        (!best->found || step_s + exchange < best->step_s)) {
        *best = (struct myr_fit_mixed){
            .found = true, .step_s = step_s + exchange, .exchange_s = exchange};
        for (uint32_t i = 0; i < x->pool_count; i++) {
            const struct fit_pace *pace = &paces[i][dealt[i].way];
            struct myr_fit_part *part = &best->parts[i];
            part->layout = layouts[i][dealt[i].way];
            part->batch = dealt[i].units * pace->sequences;
            part->layout.global_batch = part->batch;
            part->step_s = pace->base_s + dealt[i].units * pace->unit_s;
        }
    }
    myr_arena_done(&own);
}

/* Layers */

/* What a stage needs beside layers, what a layer adds: seconds and bytes, on one pool. */
struct rung {
    struct fit_bench first, middle, last;
    double first_bytes, middle_bytes, last_bytes; /* of state beside layers */
    double layer_state_bytes, layer_kept_bytes, room_bytes;
    struct myr_rank_params layer;
};

static double state_of(const struct myr_layout *layout, const struct myr_rank_params *p)
{
    struct myr_numerics n = myr_layout_numerics(layout);
    double all = (double)(p->sharded + p->replicated + p->expert);
    double cut = myr_layout_shard(layout);
    return all * (n.weight_bytes / (layout->zero >= 3 ? cut : 1) +
                  n.gradient_bytes / (layout->zero >= 2 ? cut : 1) + n.optimiser_bytes / cut);
}

static struct myr_rank_params less(struct myr_rank_params a, struct myr_rank_params b)
{
    return (struct myr_rank_params){a.sharded - b.sharded, a.replicated - b.replicated,
                                    a.expert - b.expert};
}

/* Layers alike: the mean of the model's, which for most models is each of them. */
static void climb(const struct mixer *x, uint32_t pool, const struct myr_layout *layout,
                  struct rung *ret)
{
    const struct myr_fit_case *it = &x->cases[pool];
    const struct myr_model *model = it->model;
    struct fit_blocks blocks;
    struct myr_fit_memory memory;
    struct myr_layout one = *layout; /* a stage for each layer */
    double counts[FIT_KIND_COUNT] = {0}, layer = 0;
    fit_blocks_of(it, layout, &blocks);
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, counts);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        double both = blocks.layers[k].forward.total + blocks.layers[k].backward.total;
        layer += counts[k] > 0 ? counts[k] * both / model->layer_count : 0;
    }
    double micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    double outputs = 1 + model->mtp_count;
    double first = blocks.embedding.forward.total + blocks.embedding.backward.total;
    double last = outputs * (blocks.output.forward.total + blocks.output.backward.total);
    ret->first = (struct fit_bench){micro + first, layer, 0};
    ret->middle = (struct fit_bench){micro, layer, 0};
    ret->last = (struct fit_bench){micro + last + model->mtp_count * layer, layer, 0};
    one.pp = model->layer_count;
    uint32_t most = model->layer_count - 1;
    ret->layer = myr_rank_params(&one, model, most / 2);
    struct myr_rank_params ends = less(myr_rank_params(&one, model, 0), ret->layer);
    ret->first_bytes = fit_max(0, state_of(layout, &ends));
    ends = less(myr_rank_params(&one, model, most), ret->layer);
    one.global_batch = layout->global_batch;
    ret->last_bytes =
        state_of(layout, &ends) + (double)myr_state_of(&one, model, most).output_bytes;
    ret->middle_bytes = 0;
    ret->layer_state_bytes = state_of(layout, &ret->layer);
    bool moe = counts[FIT_MOE_FULL] + counts[FIT_MOE_WINDOW] > 0;
    ret->layer_kept_bytes = (double)myr_layer_activation_bytes(layout, model, moe);
    myr_fit_memory_of(it, &one, &memory);
    ret->room_bytes = memory.limit_bytes - memory.reserve_bytes;
}

static struct fit_bench bench_of(const struct rung *rung, uint32_t stage, uint32_t stages,
                                 double micro_batches)
{
    struct fit_bench bench = stage == 0            ? rung->first
                             : stage + 1 == stages ? rung->last
                                                   : rung->middle;
    double beside = stage == 0            ? rung->first_bytes
                    : stage + 1 == stages ? rung->last_bytes
                                          : rung->middle_bytes;
    double flights = fit_min(stages - stage, micro_batches);
    double each = rung->layer_state_bytes + flights * rung->layer_kept_bytes;
    double most = (rung->room_bytes - beside) / each;
    bench.most = most < 1 ? 0 : most > 1e6 ? 1000000 : (uint32_t)most;
    return bench;
}

/* The exchange among replicas and the update, of the pool where they take longest. */
static double close_s(const struct mixer *x, const struct myr_layout *layout,
                      const struct rung *rungs, const struct myr_fit_mixed *mixed)
{
    double worst = 0;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        const struct myr_fit_part *part = &mixed->parts[i];
        uint32_t layers = 0;
        for (uint32_t s = part->first_stage; s < part->first_stage + part->stages; s++) {
            layers = mixed->stage_layers[s] > layers ? mixed->stage_layers[s] : layers;
        }
        struct fit_pipe pipe = {.micro_batches = myr_layout_micro_batches(layout)};
        struct myr_fit_cost cost;
        pipe.params = (struct myr_rank_params){rungs[i].layer.sharded * layers,
                                               rungs[i].layer.replicated * layers,
                                               rungs[i].layer.expert * layers};
        pipe.forward_s = layers * rungs[i].middle.layer_s / 3;
        pipe.backward_s = 2 * pipe.forward_s;
        fit_close(&x->cases[i], layout, &pipe, &cost);
        worst = fit_max(worst, cost.step_s);
    }
    return worst;
}

static void try_order(struct mixer *x, const struct myr_layout *layout, const struct rung *rungs,
                      bool reversed)
{
    struct myr_fit_mixed mixed = {.found = true}, *best = &x->answer->layers;
    struct fit_bench stages[MYR_FIT_STAGES_MAX];
    const struct myr_model *model = x->query->it.model;
    double m = myr_layout_micro_batches(layout), slow_nic = 1e30;
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        uint32_t pool = reversed ? x->pool_count - 1 - i : i;
        struct myr_fit_part *part = &mixed.parts[pool];
        mixed.order[i] = pool;
        part->layout = *layout;
        part->batch = layout->global_batch;
        part->first_stage = at;
        part->stages = x->pools[pool].gpus / (layout->tp * layout->cp * layout->dp);
        for (uint32_t s = 0; s < part->stages; s++, at++) {
            stages[at] = bench_of(&rungs[pool], at, layout->pp, m);
        }
        slow_nic = fit_min(slow_nic, x->cases[pool].device->nic_gbps);
    }
    mixed.stage_count = at;
    double pipe_s, share = fit_bubble_share(layout);
    if (!fit_deal_layers(stages, at, model->layer_count, m, share, mixed.stage_layers, &pipe_s)) {
        return;
    }
    struct myr_fit_case narrow = x->cases[0];
    narrow.nic_gbps = slow_nic;
    double hop = fit_hop_s(&narrow, layout, fit_near_all(1));
    struct myr_layout all = *layout;
    double tail = close_s(x, &all, rungs, &mixed);
    double straggler = fit_straggler_share(&x->cases[0], layout);
    mixed.exchange_s = hop * (m + (layout->pp - 1) * share);
    mixed.step_s = (pipe_s + mixed.exchange_s) * (1 + straggler) + tail;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        mixed.parts[i].step_s = mixed.step_s;
    }
    if (!best->found || mixed.step_s < best->step_s) {
        *best = mixed;
    }
}

/* Both ways along the pipeline, with and without recomputation. */
static void try_layers(struct mixer *x, struct myr_layout layout)
{
    uint32_t own = layout.global_batch / layout.dp;
    struct rung rungs[MYR_FIT_POOLS_MAX];
    for (uint32_t b = 1; b <= FIT_MICRO_MAX && b <= own; b *= 2) {
        if (own % b != 0) {
            continue;
        }
        layout.micro_batch = b;
        for (int again = 0; again <= 1; again++) {
            layout.recompute = again ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
            for (uint32_t i = 0; i < x->pool_count; i++) {
                climb(x, i, &layout, &rungs[i]);
            }
            try_order(x, &layout, rungs, false);
            try_order(x, &layout, rungs, true);
        }
    }
}

/* Cuts */

static bool divides_all(const struct mixer *x, uint32_t ranks)
{
    for (uint32_t i = 0; i < x->pool_count; i++) {
        if (x->pools[i].gpus % ranks != 0) {
            return false;
        }
    }
    return true;
}

static void try_widths(struct mixer *x, struct myr_layout layout)
{
    const struct myr_model *model = x->query->it.model;
    uint32_t all = 0, layers = model->layer_count;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        all += x->pools[i].gpus;
    }
    for (uint32_t pp = 1; pp <= layers && pp <= MYR_FIT_STAGES_MAX; pp++) {
        if (!divides_all(x, layout.tp * layout.cp * pp) || !fit_allowed(x->query->pp, pp)) {
            continue;
        }
        for (uint32_t vp = 1; vp <= (pp > 1 ? FIT_VP_MAX : 1); vp++) {
            if ((vp > 1 && layers % (pp * vp) != 0) || !fit_allowed(x->query->vp, vp)) {
                continue;
            }
            layout.pp = pp;
            layout.vp = vp;
            layout.schedule = vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
            for (uint32_t zero = 0; zero <= 3; zero++) {
                bool usual = zero == 1 || zero == 3; /* the others lie between */
                layout.zero = zero;
                if (x->query->zero < 0 ? usual : x->query->zero == (int)zero) {
                    try_batch(x, layout);
                }
            }
        }
    }
    /* Along the pipeline: stages of a pool are its GPUs over tp * cp * dp. */
    layout.vp = 1;
    layout.schedule = MYR_SCHEDULE_1F1B;
    for (uint32_t dp = 1; dp <= x->query->batch; dp++) {
        uint32_t ranks = layout.tp * layout.cp * dp;
        if (x->query->batch % dp != 0 || !divides_all(x, ranks) || all / ranks > layers ||
            all / ranks > MYR_FIT_STAGES_MAX) {
            continue;
        }
        layout.dp = dp;
        layout.pp = all / ranks;
        layout.global_batch = x->query->batch;
        for (uint32_t zero = 0; zero <= 1; zero++) {
            layout.zero = zero;
            if (myr_layout_broken(&layout, model, 0) != MYR_LAYOUT_EXPERT_GRID) {
                try_layers(x, layout);
            }
        }
    }
}

static void judge(struct mixer *x)
{
    struct myr_fit_pools *a = x->answer;
    double alone = 1e30, rates = 0;
    for (uint32_t i = 0; i < x->pool_count; i++) {
        if (a->alone_found[i]) {
            rates += 1 / a->alone[i].step_s;
            a->fastest = a->alone[i].step_s < alone ? i : a->fastest;
            alone = fit_min(alone, a->alone[i].step_s);
        }
    }
    a->verdict = MYR_FIT_MIX_NONE;
    a->step_s = alone;
    if (a->batch.found && a->batch.step_s < a->step_s) {
        a->verdict = MYR_FIT_MIX_BATCH;
        a->step_s = a->batch.step_s;
    }
    if (a->layers.found && a->layers.step_s < a->step_s) {
        a->verdict = MYR_FIT_MIX_LAYERS;
        a->step_s = a->layers.step_s;
    }
    a->gain = alone < 1e29 ? alone / a->step_s - 1 : 0;
    a->efficiency = rates > 0 ? 1 / a->step_s / rates : 1;
}

int myr_fit_pools_search(const struct myr_fit_query *query, const struct myr_fit_pool *pools,
                         uint32_t pool_count, struct myr_arena *arena, struct myr_fit_pools *ret,
                         struct myr_err *err)
{
    struct mixer x = {query, pools, pool_count, arena, ret, {{0}}};
    struct myr_fit_answer *answer = MYR_ARENA_NEW(arena, struct myr_fit_answer, 1);
    struct myr_layout layout;
    struct fit_space space;
    bool started = false, any = false;
    MYR_ASSERT(pool_count >= 2 && pool_count <= MYR_FIT_POOLS_MAX);
    *ret = (struct myr_fit_pools){0};
    struct myr_fit_query alone = *query;
    alone.top = 1;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < pool_count; i++) {
        x.cases[i] = case_of(&x, i);
        alone.it = x.cases[i];
        alone.gpus = pools[i].gpus;
        least = pools[i].gpus < least ? pools[i].gpus : least;
        ret->alone_found[i] = myr_fit_search(&alone, arena, answer, i == 0 ? err : NULL) == MYR_OK;
        ret->alone[i] = answer->top[0];
        any = any || ret->alone_found[i];
    }
    /* Widths that the smallest pool could have; the others must divide too. */
    alone.gpus = least;
    fit_space_init(&space, arena, &alone, query->precision);
    while (fit_width_next(&space, &layout, &started)) {
        if (divides_all(&x, layout.tp * layout.cp)) {
            try_widths(&x, layout);
        }
    }
    judge(&x);
    if (!any && !ret->batch.found && !ret->layers.found) {
        return MYR_EINFEASIBLE; /* the first pool's error says why */
    }
    return MYR_OK;
}
