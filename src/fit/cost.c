#include "myriad/fit/cost.h"

#include <math.h>

#include "combine.h"

static const char *const term_names[] = {
#define FIT_TERM_NAME(name, text) text,
    MYR_FIT_TERMS(FIT_TERM_NAME)
#undef FIT_TERM_NAME
};

const char *myr_fit_term_name(enum myr_fit_term term)
{
    return term_names[term];
}

static void add(struct fit_pass *to, const struct fit_pass *from, double times)
{
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        to->terms[i] += times * from->terms[i];
    }
    to->total += times * from->total;
}

static void add_layer(struct fit_layer *to, const struct fit_layer *from, double times)
{
    add(&to->forward, &from->forward, times);
    add(&to->backward, &from->backward, times);
}

static void add_span(const struct myr_model *model, const struct fit_blocks *blocks,
                     struct myr_span span, struct fit_layer *to)
{
    double counts[FIT_KIND_COUNT] = {0};
    if (model->window_tokens == 0) {
        uint32_t moe = myr_model_moe_layers(model, span.first, span.count);
        counts[FIT_MOE_FULL] = moe;
        counts[FIT_DENSE_FULL] = span.count - moe;
    } else {
        for (uint32_t i = span.first; i < span.first + span.count; i++) {
            bool moe = myr_model_layer_is_moe(model, i), full = myr_model_layer_is_full(model, i);
            counts[moe ? (full ? FIT_MOE_FULL : FIT_MOE_WINDOW)
                       : (full ? FIT_DENSE_FULL : FIT_DENSE_WINDOW)] += 1;
        }
    }
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        if (counts[i] > 0) {
            add_layer(to, &blocks->layers[i], counts[i]);
        }
    }
}

void fit_stage_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                  const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *ret)
{
    const struct myr_model *model = it->model;
    uint32_t chunks = layout->pp * layout->vp;
    *ret = (struct fit_layer){0};
    for (uint32_t i = 0; i < layout->vp; i++) {
        add_span(model, blocks, myr_layout_chunk_layers(layout, model, stage + i * layout->pp),
                 ret);
    }
    if (stage == 0) {
        add_layer(ret, &blocks->embedding, 1);
    }
    if (stage + 1 == layout->pp) {
        add_layer(ret, &blocks->output, 1 + model->mtp_count);
        enum fit_kind kind = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
        add_layer(ret, &blocks->layers[kind], model->mtp_count);
    }
    MYR_ASSERT(chunks > 0);
}

/* Transfers between stages that a stage waits for, each micro-batch. */
static double hop_s(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    double bytes = (double)layout->micro_batch * myr_layout_seq(layout, it->model) / layout->cp *
                   it->model->hidden * 2;
    uint32_t stride = (uint32_t)(myr_layout_gpus(layout) / layout->pp);
    if (layout->pp == 1) {
        return 0;
    }
    bytes /= layout->sequence_parallel ? layout->tp : 1;
    bool eager = it->stack->era == MYR_ERA_EAGER && layout->vp == 1;
    double seen =
        it->constants[eager || layout->vp == 1 ? FIT_PIPELINE_SEEN : FIT_PIPELINE_INTERLEAVED];
    return seen * layout->vp * 2 *
           fit_collective_s(it, MYR_SEND_RECEIVE, layout->pp, stride, bytes);
}

/* Idle share of the first stage's warm-up and drain, against plain 1F1B. */
static double bubble_share(const struct myr_layout *layout)
{
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return 1.0 / layout->vp;
    case MYR_SCHEDULE_ZERO_BUBBLE:
        return 1.0 / 3; /* only the forward part is left: weights' gradients fill the rest */
    case MYR_SCHEDULE_DUALPIPE:
        return 0.25; /* half the stages, and forward and backward cover each other */
    case MYR_SCHEDULE_1F1B:
        break;
    }
    return 1;
}

static double data_s(const struct myr_fit_case *it, const struct myr_layout *layout, double params,
                     uint32_t members, uint32_t stride, const struct fit_layer *stage)
{
    const double *c = it->constants;
    struct myr_numerics numerics = myr_layout_numerics(layout);
    double reduced = params * numerics.reduce_bytes, gathered = params * numerics.gather_bytes;
    if (layout->zero == 0) {
        double all = fit_collective_s(it, MYR_ALL_REDUCE, members, stride, reduced);
        double hidden = c[FIT_DATA_HIDE] * stage->backward.total;
        return it->stack->overlap_data ? fit_max(all * c[FIT_DATA_FLOOR], all - hidden)
                                       : all * c[FIT_DATA_EAGER];
    }
    double scatter = fit_collective_s(it, MYR_REDUCE_SCATTER, members, stride, reduced);
    double gather = fit_collective_s(it, MYR_ALL_GATHER, members, stride, gathered);
    if (!it->stack->overlap_data) {
        return (scatter + gather) * c[FIT_DATA_EAGER];
    }
    double hide = c[FIT_DATA_HIDE] / layout->vp; /* the first and last chunk have no cover */
    return fit_max(scatter * c[FIT_DATA_FLOOR], scatter - hide * stage->backward.total) +
           fit_max(gather * c[FIT_DATA_FLOOR], gather - hide * stage->forward.total);
}

/* ZeRO-3 gathers each layer's weights in both passes and scatters its gradients, every time. */
static double zero3_s(const struct myr_fit_case *it, const struct myr_layout *layout, double params,
                      const struct fit_layer *stage, double micro_batches)
{
    const double *c = it->constants;
    struct myr_numerics numerics = myr_layout_numerics(layout);
    uint32_t members = layout->shard ? layout->shard : layout->dp * layout->cp;
    double layers = fit_max((double)it->model->layer_count / layout->pp, 1);
    double gather = layers * fit_collective_s(it, MYR_ALL_GATHER, members, layout->tp,
                                              params * numerics.gather_bytes / layers);
    double scatter = layers * fit_collective_s(it, MYR_REDUCE_SCATTER, members, layout->tp,
                                               params * numerics.gather_bytes / layers);
    if (it->stack->era == MYR_ERA_EAGER && members > it->device->domain_gpus) {
        gather /= c[FIT_ZERO3_EARLY];
        scatter /= c[FIT_ZERO3_EARLY];
    }
    double hide = c[FIT_ZERO3_HIDE], least = c[FIT_ZERO3_FLOOR];
    double forward = fit_max(least * gather, gather - hide * stage->forward.total);
    double backward =
        fit_max(least * (gather + scatter), gather + scatter - hide * stage->backward.total);
    return micro_batches * (forward + backward);
}

static double data_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct myr_rank_params *params, const struct fit_layer *stage,
                      double micro_batches)
{
    double dense = (double)(params->sharded + params->replicated), expert = (double)params->expert;
    if (layout->zero == 3) {
        return zero3_s(it, layout, dense + expert, stage, micro_batches);
    }
    uint32_t edp = myr_layout_edp(layout);
    double time = data_s(it, layout, dense, layout->dp * layout->cp, layout->tp, stage);
    if (expert > 0) {
        uint32_t stride = myr_layout_etp(layout) * layout->ep;
        time += data_s(it, layout, expert, edp, stride, stage);
    }
    return time;
}

static double optimiser_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                          const struct myr_rank_params *params)
{
    static const uint8_t hbm[] = {FIT_HBM_AMPERE, FIT_HBM_HOPPER, FIT_HBM_BLACKWELL};
    const double *c = it->constants;
    double own = (double)(params->sharded + params->replicated) / myr_layout_shard(layout) +
                 (double)params->expert / myr_layout_expert_shard(layout);
    return own * c[FIT_OPTIMISER_BYTES] /
               (it->device->memory_bytes_per_s * c[hbm[it->device->generation]]) +
           c[FIT_STEP] * 1e-3;
}

static double straggler_share(const struct myr_fit_case *it, double gpus)
{
    const double *c = it->constants;
    if (gpus < 2) {
        return 0;
    }
    bool early = it->stack->era == MYR_ERA_EAGER || it->stack->era == MYR_ERA_FLASH;
    double servers = gpus / 8;
    double spread = c[early ? FIT_STRAGGLER_EAGER : FIT_STRAGGLER_FUSED];
    /* The slowest of N: sigma * sqrt(2 ln N). */
    return spread * sqrt(2 * 0.6931471805599453 * fit_log2(gpus)) +
           (servers > 1 ? c[FIT_SERVERS] * fit_log2(servers) : 0);
}

void fit_combine(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct myr_fit_cost *ret)
{
    double m = myr_layout_micro_batches(layout), worst = 0, sum = 0, hop = hop_s(it, layout);
    struct fit_layer slowest = {0}, stage;
    uint32_t at = 0;
    double micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    for (uint32_t i = 0; i < layout->pp; i++) {
        fit_stage_of(it, layout, blocks, i, &stage);
        double time = stage.forward.total + stage.backward.total;
        sum += time + micro;
        if (time > worst) {
            worst = time;
            slowest = stage;
            at = i;
        }
    }
    worst += micro;
    struct myr_rank_params params = myr_rank_params(layout, it->model, at);
    *ret = (struct myr_fit_cost){0};
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        ret->terms_s[i] = m * (slowest.forward.terms[i] + slowest.backward.terms[i]);
    }
    ret->terms_s[MYR_FIT_LAUNCH] += m * micro;
    double share = bubble_share(layout);
    ret->terms_s[MYR_FIT_PIPELINE] = hop * (m + (layout->pp - 1) * share);
    ret->terms_s[MYR_FIT_BUBBLE] = (sum - worst) * share;
    ret->terms_s[MYR_FIT_DATA] = data_of(it, layout, &params, &slowest, m);
    ret->terms_s[MYR_FIT_OPTIMISER] = optimiser_s(it, layout, &params);
    double total = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        total += ret->terms_s[i];
    }
    ret->terms_s[MYR_FIT_STRAGGLER] = total * straggler_share(it, (double)myr_layout_gpus(layout));
    ret->step_s = total + ret->terms_s[MYR_FIT_STRAGGLER];
}

static double peak_of(const struct myr_device *device, enum myr_precision precision)
{
    switch (precision) {
    case MYR_PRECISION_FP8:
    case MYR_PRECISION_MXFP8:
        return device->fp8_flops;
    case MYR_PRECISION_NVFP4:
        return device->fp4_flops;
    case MYR_PRECISION_FP32:
        return device->bf16_flops / 2;
    case MYR_PRECISION_BF16:
    case MYR_PRECISION_FP16:
        break;
    }
    return device->bf16_flops;
}

void fit_rates(const struct myr_fit_case *it, const struct myr_layout *layout,
               struct myr_fit_cost *cost)
{
    uint32_t seq = myr_layout_seq(layout, it->model);
    struct myr_flops flops = myr_model_flops(it->model, seq);
    double useful = 3 * (double)flops.forward * layout->global_batch;
    double gpus = (double)myr_layout_gpus(layout);
    cost->mfu = useful / (cost->step_s * gpus * peak_of(it->device, layout->precision));
    cost->tokens_per_s_per_gpu = (double)layout->global_batch * seq / (cost->step_s * gpus);
}

void myr_fit_cost_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                     struct myr_fit_cost *ret)
{
    struct fit_blocks blocks;
    fit_blocks_of(it, layout, &blocks);
    fit_combine(it, layout, &blocks, ret);
    fit_rates(it, layout, ret);
}

void myr_fit_memory_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_fit_memory *ret)
{
    *ret = (struct myr_fit_memory){.limit_bytes = it->device->memory_bytes};
    ret->state = myr_state_fullest(layout, it->model, &ret->stage);
    /* Context and buffers of the communication library, and what an allocator cannot use. */
    ret->reserve_bytes = 2e9 + 0.03 * it->device->memory_bytes;
    ret->total_bytes = (double)ret->state.total_bytes + ret->reserve_bytes;
    ret->fits = ret->total_bytes <= ret->limit_bytes;
}

const char *myr_fit_memory_term(const struct myr_fit_memory *memory)
{
    const struct myr_state *s = &memory->state;
    const uint64_t values[] = {s->weight_bytes,     s->gradient_bytes, s->optimiser_bytes,
                               s->activation_bytes, s->output_bytes,   s->working_bytes};
    static const char *const names[] = {"weights",     "gradients", "optimiser",
                                        "activations", "output",    "working"};
    uint32_t largest = 0;
    for (uint32_t i = 1; i < MYR_ARRAY_COUNT(values); i++) {
        largest = values[i] > values[largest] ? i : largest;
    }
    return names[largest];
}
