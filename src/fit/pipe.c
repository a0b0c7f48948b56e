/* pipe: from the blocks of layers to the stages of a pipeline. */
#include "combine.h"

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

void fit_count_layers(const struct myr_model *model, struct myr_span span,
                      double counts[FIT_KIND_COUNT])
{
    if (model->window_tokens == 0) {
        uint32_t moe = myr_model_moe_layers(model, span.first, span.count);
        counts[FIT_MOE_FULL] += moe;
        counts[FIT_DENSE_FULL] += span.count - moe;
        return;
    }
    for (uint32_t i = span.first; i < span.first + span.count; i++) {
        bool moe = myr_model_layer_is_moe(model, i), full = myr_model_layer_is_full(model, i);
        counts[moe ? (full ? FIT_MOE_FULL : FIT_MOE_WINDOW)
                   : (full ? FIT_DENSE_FULL : FIT_DENSE_WINDOW)] += 1;
    }
}

static void add_layers(const struct myr_model *model, const struct fit_layer *layers,
                       struct myr_span span, struct fit_layer *to)
{
    double counts[FIT_KIND_COUNT] = {0};
    fit_count_layers(model, span, counts);
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        if (counts[i] > 0) {
            add_layer(to, &layers[i], counts[i]);
        }
    }
}

/* Layers of a chunk that are made again where a number of them is given: the first. */
static struct myr_span again_span(const struct myr_layout *layout, struct myr_span span)
{
    bool some = layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers > 0;
    uint32_t most = some ? layout->recompute_layers : 0;
    return (struct myr_span){span.first, most < span.count ? most : span.count};
}

static void add_chunk(const struct myr_model *model, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, uint32_t chunk, struct fit_layer *to)
{
    struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
    struct myr_span again = again_span(layout, span);
    add_layers(model, blocks->again, again, to);
    span.first += again.count;
    span.count -= again.count;
    add_layers(model, blocks->layers, span, to);
}

/* What the first and the last stage have beside layers. */
static void add_ends(const struct myr_model *model, const struct myr_layout *layout,
                     const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *to)
{
    if (stage == 0) {
        add_layer(to, &blocks->embedding, 1);
    }
    if (stage + 1 == layout->pp) {
        add_layer(to, &blocks->output, 1 + model->mtp_count);
        enum fit_kind kind = blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
        if (model->mtp_count > 0) {
            add_layer(to, &blocks->layers[kind], model->mtp_count);
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
        add_chunk(model, layout, blocks, stage + i * layout->pp, ret);
    }
    add_ends(model, layout, blocks, stage, ret);
    MYR_ASSERT(chunks > 0);
}

/* Transfers between stages that a stage waits for, each micro-batch. */
double fit_hop_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                 struct fit_near near)
{
    double bytes = (double)layout->micro_batch * myr_layout_seq(layout, it->model) / layout->cp *
                   it->model->hidden * 2;
    if (layout->pp == 1) {
        return 0;
    }
    bytes /= layout->tp; /* each tensor rank sends its part; the domain puts them together */
    bool eager = it->stack->era == MYR_ERA_EAGER && layout->vp == 1;
    double seen =
        it->constants[eager || layout->vp == 1 ? FIT_PIPELINE_SEEN : FIT_PIPELINE_INTERLEAVED];
    return seen * layout->vp * 2 * fit_collective_s(it, MYR_SEND_RECEIVE, layout->pp, near, bytes);
}

/* Idle share of the first stage's warm-up and drain, against plain 1F1B. */
double fit_bubble_share(const struct myr_layout *layout)
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

double fit_pipe_floor_s(const struct myr_layout *layout, double micro_batches, double worst,
                        double sum, double hop)
{
    double share = fit_bubble_share(layout);
    return micro_batches * worst + (sum - worst) * share +
           hop * (micro_batches + (layout->pp - 1) * share);
}

/* Both passes of a stage as one number; which stage is the slowest needs no more. */
static double span_s(const struct myr_model *model, const struct fit_layer *layers,
                     struct myr_span span)
{
    double counts[FIT_KIND_COUNT] = {0}, time = 0;
    fit_count_layers(model, span, counts);
    for (int i = 0; i < FIT_KIND_COUNT; i++) {
        if (counts[i] > 0) {
            time += counts[i] * (layers[i].forward.total + layers[i].backward.total);
        }
    }
    return time;
}

static double chunk_s(const struct myr_model *model, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, uint32_t chunk)
{
    struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
    struct myr_span again = again_span(layout, span),
                    alone = {span.first + again.count, span.count - again.count};
    double time = again.count ? span_s(model, blocks->again, again) : 0;
    return time + span_s(model, blocks->layers, alone);
}

static double ends_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                     const struct fit_blocks *blocks, uint32_t stage)
{
    struct fit_layer ends = {0};
    add_ends(it->model, layout, blocks, stage, &ends);
    return ends.forward.total + ends.backward.total;
}

static double stage_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, uint32_t stage)
{
    double time = 0;
    for (uint32_t i = 0; i < layout->vp; i++) {
        time += chunk_s(it->model, layout, blocks, stage + i * layout->pp);
    }
    bool outer = stage == 0 || stage + 1 == layout->pp;
    return outer ? time + ends_s(it, layout, blocks, stage) : time;
}

void fit_pipe_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct fit_pipe *ret)
{
    struct fit_places places = fit_places_of(it, layout);
    double m = myr_layout_micro_batches(layout), worst = 0, sum = 0;
    double hop = fit_hop_s(it, layout, places.pp_near);
    double micro = it->constants[FIT_LAUNCH_MICRO] * 1e-3;
    struct fit_layer slowest;
    uint32_t at = 0;
    for (uint32_t i = 0; i < layout->pp; i++) {
        double time = stage_s(it, layout, blocks, i);
        sum += time + micro;
        if (time > worst) {
            worst = time;
            at = i;
        }
    }
    fit_stage_of(it, layout, blocks, at, &slowest);
    worst += micro;
    double share = fit_bubble_share(layout);
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        ret->terms[i] = m * (slowest.forward.terms[i] + slowest.backward.terms[i]);
    }
    ret->terms[MYR_FIT_LAUNCH] += m * micro;
    ret->terms[MYR_FIT_PIPELINE] = hop * (m + (layout->pp - 1) * share);
    ret->terms[MYR_FIT_BUBBLE] = (sum - worst) * share;
    ret->forward_s = slowest.forward.total;
    ret->backward_s = slowest.backward.total;
    ret->micro_batches = m;
    ret->params = myr_rank_params(layout, it->model, at);
}
