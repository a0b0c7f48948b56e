/*
 * cost: closes a step. The pipeline has been played (pipe.c); here come what replicas exchange, the
 * update and the slowest of many, then memory with what a software stack keeps back.
 */
#include "myriad/fit/cost.h"

#include <math.h>

#include "cost/combine.h"

#define CONTEXT_BYTES   2e9  /* of the driver and of the communication library */
#define ALLOCATOR_SHARE 0.03 /* of a device's memory that no tensor can use */
#define RESERVED_SHARE  0.05 /* more that an allocator of PyTorch's holds than it gave out */
/* 19 of 20 measured peaks are at most so much above what was told (docs/fit.md). */
#define PEAK_SPREAD 0.08
/* Some hundred peaks were measured: what none of them shows is still no certainty. */
#define SUREST       0.99
#define UPDATE_BYTES 28 /* a gradient read, weight, master and moments read and written */

static const char *const term_names[] = {
#define FIT_TERM_NAME(name, text) text,
    MYR_FIT_TERMS(FIT_TERM_NAME)
#undef FIT_TERM_NAME
};

const char *myr_fit_term_name(enum myr_fit_term term)
{
    return term_names[term];
}

/*
 * Each chunk's exchange starts when its last micro-batch is through: the last chunk has only its
 * own pass to hide behind, the others also what the pipeline still does of later chunks.
 */
static double uncovered_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                          double exchange_s, double pass_s)
{
    const double *c = it->constants;
    /* The exchange of a chunk is its share of the whole: 1 / vp of it. */
    double part = 1.0 / layout->vp, hide = c[FIT_DATA_HIDE] * pass_s;
    double last = fit_max(0, (exchange_s - hide) * part);
    double rest = fit_max(0, (exchange_s - hide * layout->pp) * (1 - part));
    return fit_max(exchange_s * c[FIT_DATA_FLOOR], last + rest);
}

/* Latencies and bytes of several operations of a kind: 'fixed' times, 'each' bytes a parameter. */
static struct fit_line scaled(struct fit_line line, double fixed, double each)
{
    return (struct fit_line){fixed * line.fixed_s, each * line.each_s};
}

/*
 * Lines over the parameters of a rank, for 'members' ranks that hold the same ones. With 'like' the
 * ring of another ZeRO stage is taken over: only factors differ.
 */
static struct fit_exchange exchange_of(const struct myr_fit_case *it,
                                       const struct myr_layout *layout, uint32_t members,
                                       struct fit_near near_all, const struct fit_exchange *like)
{
    const double *c = it->constants;
    struct myr_numerics numerics = myr_layout_numerics(layout);
    double reduced = numerics.reduce_bytes, gathered = numerics.gather_bytes;
    struct fit_exchange ret = {};
    if (layout->zero == 0) {
        ret.reduce = scaled(fit_collective_line(it, MYR_ALL_REDUCE, members, near_all), 1, reduced);
        return ret;
    }
    /*
     * HSDP: scattered and gathered inside a shard, then summed over its copies, which lie a shard
     * apart.
     */
    uint32_t shard = layout->shard && layout->shard < members ? layout->shard : members;
    struct fit_near near = fit_near_most(near_all, shard), apart = fit_near_over(near_all, near);
    double times = 1, slow = 1;
    if (layout->zero == 3) { /* layer by layer, in every pass */
        bool early = it->stack->era == MYR_ERA_EAGER && shard > it->device->domain_gpus;
        slow = early ? 1 / c[FIT_ZERO3_EARLY] : 1;
        times = slow * fit_max((double)it->model->layer_count / layout->pp, 1);
        apart = fit_near_all(1);
    }
    /* Scattering and gathering are the same way in opposite directions. */
    struct fit_line ring = like ? like->ring : fit_collective_line(it, MYR_ALL_GATHER, shard, near);
    /*
     * ZeRO-3 scatters gradients as narrow as weights are gathered, but for those that PyTorch
     * casts.
     */
    bool wide = layout->zero < 3 || layout->weights == MYR_WEIGHTS_CAST;
    ret.reduce = scaled(ring, times, slow * (wide ? reduced : gathered));
    ret.gather = scaled(ring, times, slow * gathered);
    ret.ring = ring;
    ret.copies =
        scaled(fit_collective_line(it, MYR_ALL_REDUCE, members / shard, apart), 1, reduced / shard);
    return ret;
}

void fit_exchanges_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct fit_places *places, const struct fit_exchanges *like,
                      struct fit_exchanges *ret)
{
    /* Context ranks hold the same weights, so both axes are one group. */
    struct fit_near near = fit_near_times(places->dp_near, places->cp_near);
    ret->dense = exchange_of(it, layout, layout->dp * layout->cp, near, like ? &like->dense : NULL);
    ret->dense.shard = myr_layout_shard(layout);
    if (it->model->moe.expert_count > 0) {
        ret->expert = exchange_of(it, layout, myr_layout_edp(layout), places->edp_near,
                                  like ? &like->expert : NULL);
    }
    ret->expert.shard = myr_layout_expert_shard(layout);
    MYR_ASSERT(ret->dense.shard >= 1 && ret->expert.shard >= 1);
}

/* One kind of weights: what its replicas exchange each step beyond what a pass hides. */
static double data_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                     const struct fit_exchange *exchange, double params,
                     const struct fit_pipe *pipe)
{
    const double *c = it->constants;
    double reduce = fit_line_s(exchange->reduce, params);
    if (layout->zero == 0) {
        double hidden = c[FIT_DATA_HIDE] * pipe->backward_s;
        return it->stack->overlap_data ? fit_max(reduce * c[FIT_DATA_FLOOR], reduce - hidden)
                                       : reduce;
    }
    double gather = fit_line_s(exchange->gather, params);
    double copies = fit_line_s(exchange->copies, params);
    /* No rank of ZeRO-2 keeps whole gradients: they are scattered after every micro-batch. */
    bool each = layout->zero == 2;
    double times = each ? pipe->micro_batches : 1;
    if (!it->stack->overlap_data) {
        return times * reduce + copies + gather;
    }
    double scatter;
    if (each) {
        double hidden = c[FIT_DATA_HIDE] * pipe->backward_s;
        scatter = times * fit_max(reduce * c[FIT_DATA_FLOOR], reduce - hidden) + copies;
    } else {
        scatter = uncovered_s(it, layout, reduce + copies, pipe->backward_s);
    }
    return scatter + uncovered_s(it, layout, gather, pipe->forward_s);
}

/* ZeRO-3 gathers each layer's weights in both passes and scatters its gradients, every time. */
static double zero3_s(const struct myr_fit_case *it, const struct fit_exchanges *exchanges,
                      double dense, double expert, const struct fit_pipe *pipe)
{
    const struct fit_exchange *d = &exchanges->dense, *e = &exchanges->expert;
    double least = it->constants[FIT_ZERO3_FLOOR];
    double gather = fit_line_s(d->gather, dense) + fit_line_s(e->gather, expert);
    double both = gather + fit_line_s(d->reduce, dense) + fit_line_s(e->reduce, expert);
    double copies = fit_line_s(d->copies, dense) + fit_line_s(e->copies, expert);
    double forward = fit_max(least * gather, gather - pipe->forward_s);
    double backward = fit_max(least * both, both - pipe->backward_s);
    return pipe->micro_batches * (forward + backward) + copies;
}

/* Experts and the rest are exchanged one after the other. */
static double data_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct fit_pipe *pipe, const struct fit_exchanges *exchanges)
{
    /* Of the slowest stage, not of the one with most weights (docs/fit.md, "Limits"). */
    const struct myr_rank_params *params = &pipe->params;
    double dense = (double)(params->sharded + params->replicated), expert = (double)params->expert;
    MYR_ASSERT(layout->zero <= 3 && pipe->micro_batches >= 1);
    if (layout->zero == 3) {
        return zero3_s(it, exchanges, dense, expert, pipe);
    }
    double time = data_s(it, layout, &exchanges->dense, dense, pipe);
    return time + (expert > 0 ? data_s(it, layout, &exchanges->expert, expert, pipe) : 0);
}

/*
 * Traffic of one parameter's update. PyTorch reads and writes what it has: the gradient for its
 * norm and its scale, then weight, gradient and moments; autocast casts each weight on the way in
 * and each gradient on the way out.
 */
static double update_bytes(const struct myr_layout *layout)
{
    if (layout->kernels == MYR_KERNELS_FUSED || layout->weights == MYR_WEIGHTS_MASTER) {
        return UPDATE_BYTES;
    }
    return layout->weights == MYR_WEIGHTS_BF16 ? 20 : layout->weights == MYR_WEIGHTS_FP32 ? 52 : 40;
}

/* Memory traffic of the update, and the constant part of every step. */
static double optimiser_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                          const struct fit_exchanges *exchanges,
                          const struct myr_rank_params *params)
{
    static const uint8_t hbm[] = {FIT_HBM_AMPERE, FIT_HBM_HOPPER, FIT_HBM_BLACKWELL};
    const double *c = it->constants;
    /* A rank updates the parameters whose state it holds. */
    double own = (double)(params->sharded + params->replicated) / exchanges->dense.shard +
                 (double)params->expert / exchanges->expert.shard;
    return own * update_bytes(layout) /
               (it->device->memory_bytes_per_s * c[hbm[it->device->generation]]) +
           c[FIT_STEP] * 1e-3;
}

double fit_update_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_pipe *pipe, const struct fit_exchanges *exchanges)
{
    return data_of(it, layout, pipe, exchanges) + optimiser_s(it, layout, exchanges, &pipe->params);
}

/* 0 on one GPU: nobody to wait for. */
double fit_straggler_share(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    double gpus = (double)myr_layout_gpus(layout);
    const double *c = it->constants;
    if (gpus < 2) {
        return 0;
    }
    /* Hosts and networks of a time come with its GPUs. */
    bool early = it->device->generation == MYR_GENERATION_AMPERE;
    /* Counted in servers of eight GPUs, whatever a domain is. */
    double servers = gpus / 8;
    double spread = c[FIT_STRAGGLER];
    bool low = layout->precision == MYR_PRECISION_FP8 && it->stack->shared_scales;
    /* The slowest of N: sigma * sqrt(2 ln N). Who waits each micro-batch averages nothing out. */
    return (low ? c[FIT_SERVERS_SCALES] : 1) *
           (spread * sqrt(2 * 0.6931471805599453 * fit_log2(gpus)) +
            (servers > 1 ? c[early ? FIT_SERVERS_AMPERE : FIT_SERVERS_LATER] * fit_log2(servers)
                         : 0));
}

void fit_close(const struct myr_fit_case *it, const struct myr_layout *layout,
               const struct fit_pipe *pipe, struct myr_fit_cost *ret)
{
    struct fit_places places = fit_places_of(it, layout);
    struct fit_exchanges exchanges = {};
    fit_exchanges_of(it, layout, &places, NULL, &exchanges);
    fit_close_with(it, layout, pipe, &exchanges, fit_straggler_share(it, layout), ret);
}

/* Exchanges and stragglers are handed in: the search has them for thousands of layouts. */
void fit_close_with(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_pipe *pipe, const struct fit_exchanges *exchanges,
                    double straggler_share, struct myr_fit_cost *ret)
{
    /* Stragglers stretch all of it: their term is a share of the sum of the others. */
    memcpy(ret->terms_s, pipe->terms, sizeof(ret->terms_s));
    ret->terms_s[MYR_FIT_DATA] = data_of(it, layout, pipe, exchanges);
    ret->terms_s[MYR_FIT_OPTIMISER] = optimiser_s(it, layout, exchanges, &pipe->params);
    double total = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        total += ret->terms_s[i];
    }
    MYR_ASSERT(total > 0 && straggler_share >= 0);
    ret->terms_s[MYR_FIT_STRAGGLER] = total * straggler_share;
    ret->step_s = total + ret->terms_s[MYR_FIT_STRAGGLER];
}

/* MFU against the peak of the layout's own precision. */
void fit_rates(const struct myr_fit_case *it, const struct myr_layout *layout,
               struct myr_fit_cost *cost)
{
    uint32_t seq = myr_layout_seq(layout, it->model);
    struct myr_flops flops = myr_model_flops(it->model, seq);
    /* Without what is computed again: that is what a model's FLOPs are. */
    double useful = 3 * (double)flops.forward * layout->global_batch;
    double gpus = (double)myr_layout_gpus(layout);
    cost->mfu = useful / (cost->step_s * gpus * myr_device_peak(it->device, layout->precision));
    cost->tokens_per_s_per_gpu = (double)layout->global_batch * seq / (cost->step_s * gpus);
}

/*
 * What a release does of itself, written into the layout so that counting memory needs no release.
 */
void myr_fit_habits(const struct myr_fit_case *it, struct myr_layout *layout)
{
    const struct myr_recipe *recipe = myr_fit_recipe(it, layout->precision);
    bool torch = it->stack->era == MYR_ERA_TORCH;
    layout->flash_attention = it->stack->flash;
    layout->weights = torch ? it->stack->weights : MYR_WEIGHTS_MASTER;
    layout->kernels = !torch                               ? MYR_KERNELS_FUSED
                      : recipe->of[MYR_CAPABILITY_COMPILE] ? MYR_KERNELS_COMPILED
                                                           : MYR_KERNELS_EAGER;
    layout->recompute_parts = recipe->of[MYR_CAPABILITY_PARTS];
    layout->fused_loss = it->stack->fused_loss;
    layout->gradient_bytes = it->stack->low_gradients ? 2 : 0;
    layout->low_kept = it->stack->low_dispatch; /* who sends tokens so keeps them so */
}

struct myr_recipe myr_fit_taken(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    struct myr_recipe list[FIT_RECIPES_MAX];
    if (fit_recipes_of(it, layout, list) > 1) {
        struct fit_blocks blocks;
        fit_blocks_of(it, layout, &blocks);
        return blocks.recipe;
    }
    return list[0];
}

/* One layout from nothing; the search takes the same steps one by one and keeps what is shared. */
void myr_fit_cost_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                     struct myr_fit_cost *ret)
{
    struct fit_blocks blocks;
    struct fit_pipe pipe;
    fit_blocks_of(it, layout, &blocks);
    fit_pipe_of(it, layout, &blocks, &pipe);
    *ret = (struct myr_fit_cost){};
    fit_close(it, layout, &pipe, ret);
    fit_rates(it, layout, ret);
}

/* A trainer that prints what its allocator has reserved: the device has to hold all that. */
static bool prints_reserved(const struct myr_fit_case *it, enum myr_weights weights)
{
    return it->stack->era == MYR_ERA_TORCH && weights == MYR_WEIGHTS_CAST;
}

/* Tensors that the device holds for certain, were they told to the byte. */
static double room_bytes(const struct myr_fit_case *it)
{
    double most = it->device->memory_bytes * (1 - ALLOCATOR_SHARE) - CONTEXT_BYTES;
    double reserved = (it->device->memory_bytes - CONTEXT_BYTES) / (1 + RESERVED_SHARE);
    return prints_reserved(it, it->stack->weights) ? fit_min(most, reserved) : most;
}

double myr_fit_memory_most(const struct myr_fit_case *it, bool sure)
{
    double most = it->device->memory_bytes * (1 - ALLOCATOR_SHARE) - CONTEXT_BYTES;
    return sure ? room_bytes(it) / (1 + PEAK_SPREAD) : most;
}

/*
 * A logistic curve of the logarithm, whose tails are heavier than a normal one's: an even chance
 * where the count fills all the room, 19 of 20 where PEAK_SPREAD more would.
 */
static double fitting_chance(const struct myr_fit_case *it, double counted)
{
    double room = room_bytes(it) / fit_max(counted, 1);
    double odds = room > 0 ? fit_exp(fit_log(room) / fit_log(1 + PEAK_SPREAD) * fit_log(19)) : 0;
    return fit_min(odds / (1 + odds), SUREST);
}

/*
 * Fits or not is asked of what is counted and what is kept back; the peak is what a trainer prints.
 */
void myr_fit_memory_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_fit_memory *ret)
{
    *ret = (struct myr_fit_memory){.limit_bytes = it->device->memory_bytes};
    ret->state = myr_state_fullest(layout, it->model, &ret->stage);
    double counted = (double)ret->state.total_bytes;
    /* Context and buffers of the communication library, and what an allocator cannot use. */
    ret->reserve_bytes = CONTEXT_BYTES + ALLOCATOR_SHARE * it->device->memory_bytes;
    ret->total_bytes = counted + ret->reserve_bytes;
    ret->fits = ret->total_bytes <= ret->limit_bytes;
    ret->sure = counted <= myr_fit_memory_most(it, true);
    ret->probability = fitting_chance(it, counted);
    /* What the trainer prints: allocated at once, or (torchtitan) reserved, with holes between. */
    ret->peak_bytes = counted * (prints_reserved(it, layout->weights) ? 1 + RESERVED_SHARE : 1);
    ret->peak_low_bytes = ret->peak_bytes / (1 + PEAK_SPREAD);
    ret->peak_high_bytes = ret->peak_bytes * (1 + PEAK_SPREAD);
}

/* Bytes a parameter, dense and expert, as ZeRO's stage cuts weights, gradients and state. */
static struct fit_state_each state_each(const struct myr_layout *layout, double gradient_bytes)
{
    struct myr_numerics n = myr_layout_numerics(layout);
    double cut = myr_layout_shard(layout), expert_cut = myr_layout_expert_shard(layout);
    uint32_t zero = layout->zero;
    return (struct fit_state_each){
        n.weight_bytes / (zero >= 3 ? cut : 1) + gradient_bytes / (zero >= 2 ? cut : 1) +
            n.optimiser_bytes / cut,
        n.weight_bytes / (zero >= 3 ? expert_cut : 1) +
            gradient_bytes / (zero >= 2 ? expert_cut : 1) + n.optimiser_bytes / expert_cut};
}

double fit_state_bytes(const struct myr_layout *layout, const struct myr_rank_params *params)
{
    return fit_state_of(state_each(layout, myr_layout_numerics(layout).gradient_bytes), params);
}

/* Gradients of PyTorch's may be gone at the fullest moment. */
struct fit_state_each fit_state_floor(const struct myr_layout *layout)
{
    bool fused = layout->kernels == MYR_KERNELS_FUSED;
    return state_each(layout, fused ? myr_layout_numerics(layout).gradient_bytes : 0);
}

const char *myr_fit_memory_term(const struct myr_fit_memory *memory)
{
    const struct myr_state *s = &memory->state;
    const uint64_t values[] = {s->weight_bytes,     s->gradient_bytes, s->optimiser_bytes,
                               s->activation_bytes, s->output_bytes,   s->working_bytes};
    static const char *const names[] = {"weights",     "gradients", "optimiser",
                                        "activations", "output",    "working"};
    /* The largest term is the one to name where memory does not suffice. */
    uint32_t largest = 0;
    for (uint32_t i = 1; i < MYR_ARRAY_COUNT(values); i++) {
        largest = values[i] > values[largest] ? i : largest;
    }
    return names[largest];
}
