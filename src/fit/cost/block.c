#include "cost/rates.h"

#define ACCUMULATE_BYTES 6.0 /* a weight's gradient, added to what is kept: read, read, written */
#define TORCH_FFN_SHARE  0.6 /* of what PyTorch reads and writes; caches hold the rest */
#define TORCH_AUTOCAST   110 /* bytes a hidden element more, eager; compiled a quarter of it */
#define SORT_DEEPEP      0.6
#define SORT_HYBRIDEP    0.4
#define DUALPIPE_SEEN    0.1
#define COVER_LAUNCHES   1.1 /* of a layer against one by itself: streams wait for each other */
#define OFFLOAD_SEEN     0.2 /* of activations' way to the host and back; the rest is behind */

/*
 * What padding to tiles and a last wave that is not full leave of the peak. Tiles of several
 * products in one call fill waves together; each is padded for itself.
 */
static double tile_share(const struct fit_work *w, double count, double m, double n)
{
    const struct myr_device *device = w->it->device;
    double best = 0;
    for (uint32_t half = 0; half < 2; half++) {
        double tm = device->tile_m, tn = half ? device->tile_n / 2 : device->tile_n;
        double tiles = count * fit_ceil(m / tm) * fit_ceil(n / tn);
        double waves = fit_ceil(tiles / device->sm_count);
        double share = count * m * n / (waves * device->sm_count * tm * tn) * (half ? 0.95 : 1);
        best = fit_max(best, share);
    }
    return 1 - w->c[FIT_WAVE] * (1 - best);
}

/* 'count' products of one shape. */
static double products_s(const struct fit_work *w, double count, double m, double n, double k,
                         double flops)
{
    /* Filling the pipeline of a product takes a time, not a length. */
    double rate = flops * tile_share(w, count, m, n) * k / (k + w->depth * flops);
    double traffic = 2 * count * (m * n + m * k + n * k) / w->bytes_per_s;
    return fit_max(2 * count * m * n * k / rate, traffic);
}

static double gemm_s(const struct fit_work *w, double m, double n, double k, double flops)
{
    return products_s(w, 1, m, n, k, flops);
}

/* How many products read one input, and where it comes from. */
struct input {
    double products; /* queries, keys and values; gate and other half */
    bool gathered;   /* from all of a tensor group; else it is the rank's own */
};

/*
 * Casts of a linear layer to low precision, forward and backward. A training library casts what is
 * read together once. PyTorch's layers cast each for itself, unless the input is gathered: then it
 * is cast before that, on the rank that has it; with a scale for each row both that and the
 * gradient have to wait for the whole, and the gradient is cast along each of its two sides.
 */
static void casts(const struct fit_work *w, double m, double n, double k, struct input input,
                  struct fit_layer *layer)
{
    double in = m * k, out = m * n;
    if (w->it->stack->era == MYR_ERA_TORCH) {
        bool rows = w->recipe->of[MYR_CAPABILITY_SCALES] == MYR_SCALES_ROWS;
        bool before = input.gathered && w->layout->tp > 1 && !rows;
        in *= before ? 1.0 / w->layout->tp : input.products;
        out *= rows ? 2 : 1;
    }
    layer->forward.terms[MYR_FIT_MEMORY] += in * w->cast_bytes / w->bytes_per_s;
    layer->backward.terms[MYR_FIT_MEMORY] += out * w->cast_bytes / w->bytes_per_s;
}

/* A linear layer of n outputs and k inputs for m tokens: forward, and both products backward. */
static void linear(const struct fit_work *w, double m, double n, double k, struct input input,
                   double *forward, double *backward, struct fit_layer *layer)
{
    bool low = input.products > 0; /* the vocabulary's product stays as it is */
    double flops = low ? w->low_flops : w->flops;
    *forward += gemm_s(w, m, n, k, flops);
    double weights = gemm_s(w, n, k, m, flops) + n * k * ACCUMULATE_BYTES / w->bytes_per_s;
    *backward += gemm_s(w, m, k, n, flops) + weights;
    layer->weight_s += weights;
    if (low && w->cast_bytes > 0) {
        casts(w, m, n, k, input, layer);
    }
}

static void attention_projections(const struct fit_work *w, struct fit_layer *layer)
{
    const struct myr_model *model = w->model;
    double tp = w->layout->tp, h = model->hidden, a = model->head_count, m = w->tokens;
    double *f = &layer->forward.terms[MYR_FIT_GEMM], *b = &layer->backward.terms[MYR_FIT_GEMM];
    double qk = myr_model_qk_dim(model), v = myr_model_v_dim(model);
    struct input one = {1, true}, three = {3, true}, own = {1, false};
    if (myr_model_is_mla(model)) {
        const struct myr_mla *mla = &model->mla;
        if (mla->q_rank) {
            linear(w, m, mla->q_rank, h, one, f, b, layer);
        }
        linear(w, m, a * qk / tp, mla->q_rank ? mla->q_rank : h, one, f, b, layer);
        linear(w, m, mla->kv_rank + mla->rope_dim, h, one, f, b, layer);
        linear(w, m, a * (mla->nope_dim + v) / tp, mla->kv_rank, one, f, b, layer);
    } else {
        double kv = fit_max(model->kv_head_count / tp, 1);
        linear(w, m, a * qk / tp + kv * (qk + v), h, three, f, b, layer);
    }
    linear(w, m, h, a * v / tp, own, f, b, layer);
}

static void attention_scores(const struct fit_work *w, bool full, struct fit_layer *layer)
{
    const struct myr_model *model = w->model;
    const struct myr_layout *layout = w->layout;
    uint32_t seq = myr_layout_seq(layout, model);
    double heads = (double)model->head_count / layout->tp;
    double width = myr_model_qk_dim(model) + myr_model_v_dim(model);
    double b = layout->micro_batch;
    double *fwd = &layer->forward.terms[MYR_FIT_ATTENTION];
    double *bwd = &layer->backward.terms[MYR_FIT_ATTENTION];
    if (w->it->stack->flash && layout->flash_attention) {
        double pairs = (double)myr_model_pairs(model, full, seq) / layout->cp;
        /* Plain parts of a causal sequence are uneven: the last rank's sees all others. */
        bool uneven = w->it->stack->era == MYR_ERA_TORCH && model->causal;
        pairs *= uneven ? 2 - 1.0 / layout->cp : 1;
        /* Heads narrower than 128 leave part of the tensor cores idle; the first blocks of a
         * sequence are half masked. */
        double filled = fit_min(1, 0.54 + 0.46 * width / 2 / 128) * seq / (seq + 250.0);
        double forward = 2 * b * pairs * heads * width / (w->flash_flops * filled);
        *fwd += forward;
        /* Five products instead of two: scores are recomputed. */
        *bwd += 2.5 * forward / w->c[FIT_FLASH_BACKWARD];
        return;
    }
    double square = (double)seq * seq / layout->cp;
    double forward = 2 * b * square * heads * width / (w->flops * w->c[FIT_SCORE_GEMM]);
    double traffic = b * square * heads * w->c[FIT_SCORE_BYTES] / w->bytes_per_s;
    *fwd += forward + traffic;
    *bwd += 2 * forward + 1.5 * traffic;
    if (layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        *bwd += forward + traffic;
    }
}

static void dense_ffn(const struct fit_work *w, double width, struct fit_layer *layer)
{
    double tp = w->layout->tp, h = w->model->hidden, m = w->tokens;
    double *f = &layer->forward.terms[MYR_FIT_GEMM], *b = &layer->backward.terms[MYR_FIT_GEMM];
    double halves = w->model->gated ? 2 : 1;
    linear(w, m, width * halves / tp, h, (struct input){halves, true}, f, b, layer);
    linear(w, m, h, width / tp, (struct input){1, false}, f, b, layer);
    if (w->layout->kernels != MYR_KERNELS_FUSED) {
        /* Reads and writes of each operator, forward and backward: 10 and 16 bytes one by one, 6
         * and 10 where the compiler joins them; half without a gate. */
        bool eager = w->layout->kernels == MYR_KERNELS_EAGER;
        double each =
            m * width * (w->model->gated ? 1 : 0.5) / tp * TORCH_FFN_SHARE / w->bytes_per_s;
        layer->forward.terms[MYR_FIT_MEMORY] += each * (eager ? 10 : 6);
        layer->backward.terms[MYR_FIT_MEMORY] += each * (eager ? 16 : 10);
        return;
    }
    double passes = m * width * (w->model->gated ? 1.5 : 1) / tp * 2 * w->c[FIT_FFN_PASSES] *
                    w->passes / w->bytes_per_s;
    layer->forward.terms[MYR_FIT_MEMORY] += passes;
    layer->backward.terms[MYR_FIT_MEMORY] += passes * w->c[FIT_BACKWARD_PASSES];
    if (w->layout->recompute_parts & MYR_AGAIN(ACTIVATION)) {
        layer->backward.terms[MYR_FIT_MEMORY] += passes / 2;
    }
    if (w->layout->recompute_parts & MYR_AGAIN(FFN)) {
        double again = gemm_s(w, m, width * (w->model->gated ? 2 : 1) / tp, h, w->low_flops);
        layer->backward.terms[MYR_FIT_GEMM] += again;
        layer->backward.terms[MYR_FIT_MEMORY] += passes;
    }
}

/*
 * Biases of experts have no place in grouped products. Each is multiplied by its token's weight and
 * added in fp32, then joined and cast (28 bytes a hidden element); the activation before it clamps,
 * shifts and weighs one operator at a time (34 bytes). A fused kernel reads and writes once.
 */
static double bias_passes(const struct fit_work *w, uint8_t grouped, double h, double f)
{
    return w->c[FIT_EXPERT_BIAS] * (28 * h + (grouped == MYR_GROUPED_FUSED ? 0 : 34 * f)) / 2;
}

/*
 * Passes over a routed token: an all-to-all has it sorted by expert before it is sent and by source
 * when it has come, and both again on the way back. DeepEP sends from where tokens lie, and sorts
 * them once; HybridEP sorts while it sends.
 */
static double sort_passes(const struct fit_work *w)
{
    static const double shares[] = {[MYR_DISPATCH_ALL_TO_ALL] = 1,
                                    [MYR_DISPATCH_DEEPEP] = SORT_DEEPEP,
                                    [MYR_DISPATCH_HYBRIDEP] = SORT_HYBRIDEP,
                                    [MYR_DISPATCH_GATHER] = SORT_DEEPEP};
    return w->c[FIT_PERMUTE] * shares[w->recipe->of[MYR_CAPABILITY_DISPATCHER]];
}

/* Experts of a rank work on what the routers of its group send them: balanced, as trained for. */
static void expert_products(const struct fit_work *w, double arrived, double etp,
                            struct fit_layer *layer)
{
    const struct myr_moe *moe = &w->model->moe;
    uint8_t grouped = w->recipe->of[MYR_CAPABILITY_GROUPED];
    double h = w->model->hidden, f = moe->expert_hidden / etp;
    double experts = (double)moe->expert_count / w->layout->ep, rows = arrived / experts;
    double flops =
        w->low_flops *
        fit_min(w->best, w->c[grouped == MYR_GROUPED_LOOP ? FIT_GROUPED_LOOP : FIT_GROUPED]);
    double matrices = w->model->gated ? 3 : 2, wide = (matrices - 1) * f;
    double inputs =
        products_s(w, experts, rows, h, wide, flops) + products_s(w, experts, rows, f, h, flops);
    /* The gradient of an expert's weights is as deep as it has tokens: few of them are slow. */
    double gradients = products_s(w, experts, wide, h, rows, flops) +
                       products_s(w, experts, h, f, rows, flops) +
                       experts * matrices * h * f * ACCUMULATE_BYTES / w->bytes_per_s;
    layer->forward.terms[MYR_FIT_EXPERTS] +=
        products_s(w, experts, rows, wide, h, flops) + products_s(w, experts, rows, h, f, flops);
    layer->backward.terms[MYR_FIT_EXPERTS] += inputs + gradients;
    layer->weight_s += gradients;
    double fused = grouped == MYR_GROUPED_FUSED ? w->c[FIT_EXPERT_FUSED] : 1;
    double biases = w->model->ffn_bias ? bias_passes(w, grouped, h, f) : 0;
    double moved = arrived *
                   (h * sort_passes(w) + (matrices / 2) * f * w->c[FIT_FFN_PASSES] +
                    w->cast_bytes * (h + f) / 2 + biases) *
                   2 * fused / w->bytes_per_s;
    layer->forward.terms[MYR_FIT_MEMORY] += moved;
    layer->backward.terms[MYR_FIT_MEMORY] += moved * w->c[FIT_BACKWARD_PASSES];
    if (w->layout->recompute_parts & MYR_AGAIN(EXPERT_ACTIVATION)) {
        layer->backward.terms[MYR_FIT_MEMORY] +=
            arrived * (matrices / 2) * f * w->c[FIT_FFN_PASSES] * 2 * fused / w->bytes_per_s;
    }
}

/*
 * What is seen of all-to-alls. Another micro-batch covers them where the recipe says so, the other
 * direction's with DualPipe, which is made for it. What is hidden takes processors from what hides
 * it: as many as libraries are given by default, or by the presets of Megatron-Bridge (HybridEP).
 */
static double seen_share(const struct fit_work *w, uint8_t dispatcher)
{
    static const double processors[] = {[MYR_DISPATCH_ALL_TO_ALL] = 24,
                                        [MYR_DISPATCH_DEEPEP] = 20,
                                        [MYR_DISPATCH_HYBRIDEP] = 32,
                                        [MYR_DISPATCH_GATHER] = 24};
    bool both = w->layout->schedule == MYR_SCHEDULE_DUALPIPE;
    if (!both && !w->recipe->of[MYR_CAPABILITY_EXPERT_OVERLAP]) {
        return w->c[FIT_EXPERT_SEEN];
    }
    double seen = both ? DUALPIPE_SEEN : w->c[FIT_EXPERT_SEEN_OVERLAP];
    double taken = processors[dispatcher] / w->it->device->sm_count;
    return seen + fit_max(0, 1 - seen) * fit_min(1, taken);
}

static void experts(const struct fit_work *w, struct fit_layer *layer)
{
    const struct myr_layout *layout = w->layout;
    const struct myr_moe *moe = &w->model->moe;
    double etp = myr_layout_etp(layout);
    double own = w->tokens / layout->tp * moe->experts_per_token; /* tokens a rank sends */
    uint8_t dispatcher = w->recipe->of[MYR_CAPABILITY_DISPATCHER];
    double seen = seen_share(w, dispatcher);
    bool low = w->it->stack->low_dispatch && layout->precision != MYR_PRECISION_BF16;
    expert_products(w, own * etp, etp, layer);
    double token = w->tokens / layout->tp * w->model->hidden;
    double dispatch =
        fit_dispatch_s(w->it, layout, dispatcher, w->places.ep_near, token * (low ? 1 : 2));
    double combine = fit_dispatch_s(w->it, layout, dispatcher, w->places.ep_near, token * 2);
    double regroup =
        fit_collective_s(w->it, MYR_ALL_GATHER, (uint32_t)etp, fit_near_all((uint32_t)etp),
                         own * etp * w->model->hidden * 2);
    layer->forward.terms[MYR_FIT_EXPERT_COMM] += seen * (dispatch + combine + 2 * regroup);
    layer->backward.terms[MYR_FIT_EXPERT_COMM] += seen * (2 * combine + 2 * regroup);
    if (moe->shared_count) {
        dense_ffn(w, (double)moe->shared_count * moe->shared_hidden, layer);
    }
}

static void tensor_comm(const struct fit_work *w, double blocks, struct fit_layer *layer)
{
    const struct myr_layout *layout = w->layout;
    if (layout->tp == 1) {
        return;
    }
    double bytes = w->tokens * w->model->hidden * 2;
    double once, backward;
    if (layout->sequence_parallel) {
        double gather = fit_collective_s(w->it, MYR_ALL_GATHER, layout->tp, w->places.tp_near,
                                         bytes * fit_gathered_share(w->it, layout->precision));
        double scatter =
            fit_collective_s(w->it, MYR_REDUCE_SCATTER, layout->tp, w->places.tp_near, bytes);
        once = gather + scatter;
        backward = once + gather;
    } else {
        once = fit_collective_s(w->it, MYR_ALL_REDUCE, layout->tp, w->places.tp_near, bytes);
        backward = once;
    }
    double seen = w->recipe->of[MYR_CAPABILITY_TENSOR_OVERLAP] ? w->c[FIT_TENSOR_OVERLAP] : 1;
    layer->forward.terms[MYR_FIT_TENSOR] += seen * blocks * once;
    layer->backward.terms[MYR_FIT_TENSOR] += seen * blocks * backward;
}

static void context_comm(const struct fit_work *w, struct fit_layer *layer)
{
    const struct myr_layout *layout = w->layout;
    const struct myr_model *model = w->model;
    if (layout->cp == 1) {
        return;
    }
    double width = myr_model_qk_dim(model) + myr_model_v_dim(model);
    double heads = fit_max((double)model->kv_head_count / layout->tp, 1);
    double bytes = w->tokens * heads * width * 2 * (layout->cp - 1);
    double once = fit_collective_s(w->it, MYR_SEND_RECEIVE, layout->cp, w->places.cp_near, bytes);
    double seen = w->it->stack->era == MYR_ERA_TORCH ? 1 : w->c[FIT_CONTEXT_SEEN];
    layer->forward.terms[MYR_FIT_CONTEXT] += seen * once;
    layer->backward.terms[MYR_FIT_CONTEXT] += seen * 2 * once;
}

static double sum(struct fit_pass *pass)
{
    pass->total = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        pass->total += pass->terms[i];
    }
    return pass->total;
}

/*
 * What is launched for each expert of a layer: two products with weights of their own to look up
 * and to keep, casts of what they read with scales found before or reordered; a bias in two steps.
 */
static double launches_each(const struct fit_work *w)
{
    static const double casts[] = {
        [MYR_SCALES_CURRENT] = 6, [MYR_SCALES_MX] = 4,      [MYR_SCALES_BLOCKS] = 4,
        [MYR_SCALES_NVFP4] = 4,   [MYR_SCALES_DELAYED] = 2, [MYR_SCALES_ROWS] = 4};
    double cast = w->cast_bytes > 0 ? casts[w->recipe->of[MYR_CAPABILITY_SCALES]] : 0;
    return 4 + cast + (w->model->ffn_bias ? 2 : 0);
}

/* A host that cannot launch kernels fast enough sets the pace, transfers included. */
static void launch_bound(const struct fit_work *w, bool moe, struct fit_layer *layer)
{
    bool eager = w->it->stack->era == MYR_ERA_EAGER;
    /* Libraries that send by domain tell the host what has come, whether tokens drop or not. */
    bool fixed = w->recipe->of[MYR_CAPABILITY_TOKEN_DROP] &&
                 w->recipe->of[MYR_CAPABILITY_DISPATCHER] == MYR_DISPATCH_ALL_TO_ALL;
    double host = w->c[eager ? FIT_LAUNCH_EAGER : FIT_LAUNCH_FUSED] * (w->layout->tp > 1 ? 1.1 : 1);
    if (w->layout->kernels != MYR_KERNELS_FUSED) {
        host = w->c[w->layout->kernels == MYR_KERNELS_EAGER ? FIT_TORCH_HOST
                                                            : FIT_TORCH_HOST_COMPILED];
    }
    host += moe ? w->c[fixed ? FIT_EXPERT_LAUNCH_STATIC : FIT_EXPERT_LAUNCH] : 0;
    host +=
        moe ? w->c[FIT_EXPERT_EACH] * launches_each(w) * w->model->moe.expert_count / w->layout->ep
            : 0;
    host *= 1e-6 * (moe && w->recipe->of[MYR_CAPABILITY_EXPERT_OVERLAP] ? COVER_LAUNCHES : 1);
    switch (w->recipe->of[MYR_CAPABILITY_GRAPHS]) {
    case MYR_GRAPHS_FULL: /* the host launches once an iteration */
        host = 0;
        break;
    case MYR_GRAPHS_LAYER:
        host *= 0.1; /* one launch where there were dozens */
        break;
    case MYR_GRAPHS_PARTS:
        host *= w->c[FIT_LAUNCH_PARTS];
        break;
    case MYR_GRAPHS_ROUTER: /* without attention, which is the larger part */
        host *= 0.6 + 0.4 * w->c[FIT_LAUNCH_PARTS];
        break;
    default:
        break;
    }
    double recomputed = w->layout->recompute == MYR_RECOMPUTE_FULL ? 1 : 0;
    double forward = sum(&layer->forward), backward = sum(&layer->backward);
    layer->forward.terms[MYR_FIT_LAUNCH] = fit_soft_max(forward, host) - forward;
    layer->backward.terms[MYR_FIT_LAUNCH] =
        fit_soft_max(backward, host * (2 + recomputed)) - backward;
    sum(&layer->forward);
    sum(&layer->backward);
}

/* What stands between products and attention: norms, residuals, rotations. */
static void between(const struct fit_work *w, struct fit_layer *layer)
{
    double *forward = &layer->forward.terms[MYR_FIT_MEMORY];
    double *backward = &layer->backward.terms[MYR_FIT_MEMORY];
    double state = w->whole_tokens * w->model->hidden / w->bytes_per_s;
    if (w->layout->kernels != MYR_KERNELS_FUSED) {
        bool eager = w->layout->kernels == MYR_KERNELS_EAGER;
        bool autocast = w->layout->weights == MYR_WEIGHTS_FP32;
        double bytes = w->c[eager ? FIT_TORCH_EAGER : FIT_TORCH_COMPILED] +
                       (autocast ? TORCH_AUTOCAST * (eager ? 1 : 0.25) : 0);
        *forward += state * bytes / 3;
        *backward += state * bytes * 2 / 3;
        return;
    }
    double whole = state * 2 * w->c[FIT_WHOLE_PASSES] * w->passes;
    *forward += whole;
    *backward += whole * w->c[FIT_BACKWARD_PASSES];
    if (w->layout->recompute_parts & MYR_AGAIN(NORM)) {
        *backward += whole / 2;
    }
}

/* Parts of a layer that are made again on their own, beside attention, FFN and experts. */
static void again(const struct fit_work *w, struct fit_layer *layer)
{
    const struct myr_layout *layout = w->layout;
    const struct myr_model *model = w->model;
    if (layout->recompute_parts & MYR_AGAIN(LATENT_UP) && myr_model_is_mla(model)) {
        const struct myr_mla *mla = &model->mla;
        double a = (double)model->head_count / layout->tp;
        double query = a * myr_model_qk_dim(model), key = a * (mla->nope_dim + mla->v_dim);
        layer->backward.terms[MYR_FIT_GEMM] +=
            gemm_s(w, w->tokens, query, mla->q_rank ? mla->q_rank : model->hidden, w->low_flops) +
            gemm_s(w, w->tokens, key, mla->kv_rank, w->low_flops);
    }
    if (layout->kernels != MYR_KERNELS_FUSED && layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        /* torchtitan's policy: every second product, and all between them. */
        layer->backward.terms[MYR_FIT_GEMM] += 0.4 * layer->forward.terms[MYR_FIT_GEMM];
        layer->backward.terms[MYR_FIT_MEMORY] += layer->forward.terms[MYR_FIT_MEMORY];
    }
}

/* What a layer with a window and one without have in common: all but scores. */
static void all_but_scores(const struct fit_work *w, bool moe, struct fit_layer *layer)
{
    *layer = (struct fit_layer){};
    attention_projections(w, layer);
    if (moe) {
        experts(w, layer);
    } else {
        dense_ffn(w, w->model->ffn_hidden, layer);
    }
    between(w, layer);
    again(w, layer);
    tensor_comm(w, moe && !w->model->moe.shared_count ? 1 : 2, layer);
    context_comm(w, layer);
}

static void scores(const struct fit_work *w, bool window, struct fit_layer *layer)
{
    /* Fused kernels of this line mask a window, they do not skip what lies outside. */
    bool full = !window || w->it->stack->era == MYR_ERA_NEMO;
    attention_scores(w, full, layer);
    if (w->layout->recompute_parts & MYR_AGAIN(CORE_ATTENTION) && w->layout->flash_attention) {
        struct fit_layer attention = {};
        attention_scores(w, full, &attention);
        layer->backward.terms[MYR_FIT_ATTENTION] += attention.forward.terms[MYR_FIT_ATTENTION];
    }
}

/* What depends on whether the whole layer is recomputed. */
static void finish_layer(const struct fit_work *w, bool moe, struct fit_layer *layer)
{
    if (w->layout->recompute == MYR_RECOMPUTE_FULL) {
        for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
            layer->backward.terms[i] += layer->forward.terms[i];
        }
    }
    if (w->layout->offload_layers) {
        /* Out while the next layer runs forward, back before this one runs backward. */
        double layers = (double)w->model->layer_count / w->layout->pp;
        double bytes = (double)myr_layer_activation_bytes(w->layout, w->model, moe) *
                       fit_min(1, w->layout->offload_layers / layers);
        double way = OFFLOAD_SEEN * bytes / w->it->device->host_bytes_per_s;
        layer->forward.terms[MYR_FIT_MEMORY] += way;
        layer->backward.terms[MYR_FIT_MEMORY] += way;
    }
    launch_bound(w, moe, layer);
}

/* Traffic of one logit in both passes. */
static double logit_bytes(const struct fit_work *w)
{
    switch (w->layout->kernels) {
    case MYR_KERNELS_EAGER:
        return w->c[FIT_TORCH_LOGIT];
    case MYR_KERNELS_COMPILED:
        return w->c[FIT_TORCH_LOGIT_COMPILED];
    case MYR_KERNELS_FUSED:
        break;
    }
    /* Stacks without a fused loss go over fp32 copies, one operator at a time: counted. */
    return w->it->stack->fused_loss ? w->c[FIT_VOCAB_PASSES] : 46;
}

static void vocabulary(const struct fit_work *w, struct fit_blocks *ret)
{
    double columns = (double)w->model->vocab / w->layout->tp, h = w->model->hidden;
    double forward = 0, backward = 0;
    struct fit_layer head = {};
    linear(w, w->tokens, columns, h, (struct input){0, true}, &forward, &backward, &head);
    double logits = w->tokens * columns * logit_bytes(w) / w->bytes_per_s;
    ret->output = (struct fit_layer){.weight_s = head.weight_s};
    ret->output.forward.terms[MYR_FIT_VOCABULARY] = forward + logits / 2;
    ret->output.backward.terms[MYR_FIT_VOCABULARY] = backward + logits / 2;
    tensor_comm(w, 0.5, &ret->output);
    ret->embedding = (struct fit_layer){};
    double table = w->tokens * h * 2 * 4 / w->bytes_per_s;
    ret->embedding.forward.terms[MYR_FIT_VOCABULARY] = table;
    /* The table's gradient is made whole, and added to the one that is kept. */
    double made = w->layout->kernels == MYR_KERNELS_FUSED ? 12 * columns * h / w->bytes_per_s : 0;
    ret->embedding.backward.terms[MYR_FIT_VOCABULARY] = table + made;
    sum(&ret->output.forward);
    sum(&ret->output.backward);
    sum(&ret->embedding.forward);
    sum(&ret->embedding.backward);
}

/* Of one recipe. */
static void blocks_with(const struct myr_fit_case *it, const struct myr_layout *layout,
                        const struct myr_recipe *recipe, struct fit_blocks *ret)
{
    struct fit_work w = {.it = it, .model = it->model, .layout = layout, .c = it->constants};
    const struct myr_model *model = it->model;
    ret->recipe = *recipe;
    w.recipe = &ret->recipe;
    w.kernel = it->stack->kernel_constant >= 0 ? w.c[it->stack->kernel_constant] : 1;
    w.tokens = (double)layout->micro_batch * myr_layout_seq(layout, model) / layout->cp;
    w.whole_tokens = layout->sequence_parallel ? w.tokens / layout->tp : w.tokens;
    fit_work_rates(&w);
    w.places = fit_places_of(it, layout);
    bool window = model->window_tokens > 0;
    uint32_t moe = myr_model_moe_layers(model, 0, model->layer_count);
    ret->used[FIT_DENSE_FULL] = moe < model->layer_count;
    ret->used[FIT_MOE_FULL] = moe > 0;
    ret->used[FIT_DENSE_WINDOW] = ret->used[FIT_DENSE_FULL] && window;
    ret->used[FIT_MOE_WINDOW] = ret->used[FIT_MOE_FULL] && window;
    struct myr_layout alone = *layout;
    bool some = layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers > 0;
    alone.recompute = some ? MYR_RECOMPUTE_NONE : layout->recompute;
    struct fit_layer shared;
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        bool is_moe = i >= FIT_MOE_FULL, is_window = i == FIT_DENSE_WINDOW || i == FIT_MOE_WINDOW;
        if (!ret->used[i]) {
            continue;
        }
        w.layout = &alone;
        if (!is_window) { /* it comes first, and is used wherever that with a window is */
            all_but_scores(&w, is_moe, &shared);
        }
        ret->layers[i] = shared;
        scores(&w, is_window, &ret->layers[i]);
        if (some) { /* neither is selective: up to here they are the same */
            ret->recomputed[i] = ret->layers[i];
            w.layout = layout;
            finish_layer(&w, is_moe, &ret->recomputed[i]);
            w.layout = &alone;
        }
        finish_layer(&w, is_moe, &ret->layers[i]);
    }
    w.layout = layout;
    vocabulary(&w, ret);
}

/* The time by which recipes are chosen: forward, which is the same whatever is made again. */
static double forward_s(const struct fit_blocks *blocks)
{
    return blocks->used[FIT_MOE_FULL] ? blocks->layers[FIT_MOE_FULL].forward.total
                                      : blocks->layers[FIT_DENSE_FULL].forward.total;
}

void fit_blocks_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                   struct fit_blocks *ret)
{
    struct myr_recipe list[FIT_RECIPES_MAX];
    uint32_t count = fit_recipes_of(it, layout, list);
    blocks_with(it, layout, &list[0], ret);
    for (uint32_t i = 1; i < count; i++) {
        struct fit_blocks other;
        blocks_with(it, layout, &list[i], &other);
        *ret = forward_s(&other) < forward_s(ret) ? other : *ret;
    }
}

/* About kernels alone: no model, no layout but for the precision. */
static struct fit_work bare(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    struct fit_work w = {.it = it, .layout = layout, .c = it->constants};
    w.recipe = myr_fit_recipe(it, layout->precision);
    w.kernel = it->stack->kernel_constant >= 0 ? w.c[it->stack->kernel_constant] : 1;
    fit_work_rates(&w);
    return w;
}

struct fit_rates fit_rates_of(const struct myr_fit_case *it, enum myr_precision precision)
{
    struct myr_layout layout = {.precision = precision};
    struct fit_work w = bare(it, &layout);
    return (struct fit_rates){w.low_flops, w.bytes_per_s};
}

double fit_product_s(const struct myr_fit_case *it, enum myr_precision precision, double count,
                     double m, double n, double k)
{
    struct myr_layout layout = {.precision = precision};
    struct fit_work w = bare(it, &layout);
    double grouped = count > 1 ? w.c[FIT_GROUPED] : 1;
    return products_s(&w, count, m, n, k, w.low_flops * grouped);
}
